/* range-totals: count, time, energy and load of ranges by name, thread or domain. */
#ifndef NVMTOP_REPORT_RANGE_TOTALS_H
#define NVMTOP_REPORT_RANGE_TOTALS_H

#include "report/range-energy.h"
#include "report/report.h"

/* The texts belong to the trace. */
struct group {
	struct group *before;
	const char *first, *name; /* domain and range, or process and thread */
	int length;               /* of the name */
	uint32_t pid, tid;
	uint64_t count;
	int64_t total_ns,
		after_ns; /* sums over ranges; after: the time in which the load after a range is looked at */
	double after, after_known; /* GPU percent times seconds, and these seconds */
	struct spent all, own;     /* own: without nested ranges */
	struct spent_result in, alone;
};

struct collection {
	const struct analysis *about;
	enum report_by by;
	void *tree; /* of groups */
	struct group **list, *newest, *spare;
	size_t n;
	struct piece *pieces, *own;
	struct interval *union_of;
	struct open *open;
	size_t n_pieces, n_own;
	int64_t from_ns, to_ns; /* of the part */
	bool first, full, no_memory;
	struct curves curves;
};

/* Set about and by, the rest to zero. The list is sorted by energy. */
int collect(struct collection *c, report_progress *progress, struct err *e);
void collection_free(struct collection *c);

#endif
