/* compare: epochs of several traces that are the same, and what they differ in. */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include "report/analysis.h"

enum what { DURATION, ITEM_TIME, ITEM_ENERGY, ENERGY, MEAN, RISE, THROTTLED };

struct metric {
	enum what what;
	const struct channel *channel; /* NULL: of the epoch itself */
};

struct occurrence {
	const char *label;
	uint64_t id;
	size_t file, order;
	const struct part *part;
};

/* Occurrences first .. first+n-1 are one epoch of all files. */
struct group {
	size_t first, n, order;
};

struct comparison {
	const struct analysis *list;
	size_t n_files;
	struct occurrence *all;
	size_t n_all;
	struct group *groups;
	size_t n_groups;
	struct metric *metrics;
	size_t n_metrics;
	bool ok;
};

/* One metric in one file: the mean over its occurrences. */
struct cell {
	uint64_t n;
	double mean, sd;
};

enum verdict { NOTHING, UNKNOWN, NOISE, DIFFERS };

/* Not ok: memory ran out.  groups[n_groups] is the whole of each. */
struct comparison compare_make(const struct analysis *list, size_t n);
void compare_free(struct comparison *c);

bool group_is_whole(const struct comparison *c, const struct group *g);
/* Groups to be shown: of one file those that occur repeatedly. */
bool group_shown(const struct comparison *c, const struct group *g);

struct cell cell_of(const struct comparison *c, const struct group *g, size_t file, const struct metric *m);
/* Whether b differs from a, and half the width of the difference's interval. */
enum verdict verdict(const struct cell *a, const struct cell *b, double *interval);

#endif
