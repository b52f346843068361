/* compare: epochs of several traces that are the same, and what they differ in. */
#ifndef NVMTOP_REPORT_COMPARE_H
#define NVMTOP_REPORT_COMPARE_H

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
	size_t epoch; /* SIZE_MAX: the whole */
};

/* Occurrences first .. first+n-1 are one epoch of all files. */
struct group {
	size_t first, n, order;
};

/* One metric in one file: the mean over its occurrences. */
struct cell {
	uint64_t n;
	double mean, sd;
	double known, span; /* ns: how much of the time it is known for */
	double last, turns; /* the sum of squares from one occurrence to the next */
	double drift;       /* how likely so little would be if they were independent */
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
	size_t *at;         /* where a metric's channel is in a file; SIZE_MAX: nowhere */
	struct cell **kept; /* of each group; NULL: they would be too many */
	struct cell *cells; /* of the group that group_begin() was called for */
	size_t tested;      /* differences with a verdict */
	float most;         /* the largest p that makes one: Holm's correction */
	bool ok;
};

enum verdict { NOTHING, PARTLY, UNKNOWN, NOISE, DIFFERS };

/* Not ok: memory ran out.  groups[n_groups] is the whole of each. */
struct comparison compare_make(const struct analysis *list, size_t n);
void compare_free(struct comparison *c);
/* All differences are gone through for Holm's correction, before the first verdict. */
void compare_test(struct comparison *c);

bool group_is_whole(const struct comparison *c, const struct group *g);
void group_title(const struct comparison *c, const struct group *g, bool translated, char *out, size_t size);
/* Groups to be shown: of one file those that occur repeatedly. */
bool group_shown(const struct comparison *c, const struct group *g);
/* Make the cells of a group, which cell_of() gives from then on. */
void group_begin(struct comparison *c, const struct group *g);
const struct cell *cell_of(const struct comparison *c, size_t file, const struct metric *m);
/* The share of the time for which it is known. */
double coverage_of(const struct cell *x);

struct difference {
	enum verdict verdict;
	double interval; /* half the width, by itself */
	double p;        /* by itself */
	bool drifts;     /* it differs, but one of them drifts */
};
/* How b differs from a. */
struct difference difference(const struct comparison *c, const struct cell *a, const struct cell *b);
/* Do the values of one file drift, so that repetitions are not independent? */
bool drifts(const struct cell *x);

#endif
