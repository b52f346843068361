/* syncs: the marks of a recording in the order of their times.
 *
 * They are written in the order in which they came, and one that came late lies
 * before rows that were written already. */
#ifndef NVMTOP_TRACE_SYNCS_H
#define NVMTOP_TRACE_SYNCS_H

#include "trace/chunk.h"

struct sync {
	int64_t t_ns;
	uint64_t id, row; /* the first fast row that is not older */
};

struct syncs {
	struct sync *list;
	uint64_t *ids; /* in order: of the first mark in time, of the second, ... */
	size_t n, room;
};

int syncs_add(struct syncs *s, const struct mark *m, uint64_t row); /* -1: out of memory */

/* All are there: find the rows of those that came late in the part, whose first
 * row is at HEADER_SIZE and whose times count from start_ns, and put them in
 * order.  Then list[i] is the mark with the number ids[i]. */
void syncs_settle(struct syncs *s, int part_fd, uint64_t rows, int64_t start_ns);

/* Where this mark stands now; SIZE_MAX: it was never added. */
size_t syncs_find(const struct syncs *s, const struct mark *m);

void syncs_free(struct syncs *s);

#endif
