/* compare: matching epochs of several traces, and their differences. */
#ifndef NVMTOP_REPORT_COMPARE_H
#define NVMTOP_REPORT_COMPARE_H

#include "report/analysis.h"

enum what { DURATION, ITEM_TIME, ITEM_ENERGY, ENERGY, MEAN, RISE, THROTTLED };

struct metric {
	enum what what;
	const struct channel *channel; /* NULL: a property of the epoch */
};

struct occurrence {
	const char *label;
	uint64_t id;
	size_t file, order;
	size_t epoch; /* SIZE_MAX: the whole */
};

/* Occurrences first .. first+n-1 are the same epoch. */
struct group {
	size_t first, n, order;
};

/* One metric in one file: the mean over its occurrences. */
struct cell {
	uint64_t n;
	double mean, sd;
	double known, span; /* ns: covered time, whole time */
	double last, turns; /* the last value; the sum of squared differences between successive
			     * occurrences */
	double drift;       /* probability of so small a sum if occurrences were independent */
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
	size_t *at;         /* index of a metric's channel in a file; SIZE_MAX: missing */
	struct cell **kept; /* per group; NULL: too many to keep */
	struct cell *cells; /* of the group passed to group_begin() */
	size_t tested;      /* number of differences with a verdict */
	float most;         /* largest p that is significant after Holm's correction */
	bool ok;
};

enum verdict { NOTHING, PARTLY, UNKNOWN, NOISE, DIFFERS };

/* Matches the epochs of n traces. ok is false if out of memory. groups[n_groups] is the whole of each
 * trace. */
struct comparison compare_make(const struct analysis *list, size_t n);
void compare_free(struct comparison *c);
/* Computes Holm's correction from all differences. Required before the first verdict. */
void compare_test(struct comparison *c);

bool group_is_whole(const struct comparison *c, const struct group *g);
void group_title(const struct comparison *c, const struct group *g, bool translated, char *out, size_t size);
/* Is the group shown? With one file, only repeated epochs are. */
bool group_shown(const struct comparison *c, const struct group *g);
/* Computes the cells of a group, which cell_of() then returns. */
void group_begin(struct comparison *c, const struct group *g);
const struct cell *cell_of(const struct comparison *c, size_t file, const struct metric *m);
/* The covered share of the time. */
double coverage_of(const struct cell *x);

struct difference {
	enum verdict verdict;
	double interval; /* half the width, without correction */
	double p;        /* without correction */
	bool drifts;     /* it differs, but the values of a or b drift */
};
/* The difference of b from a. */
struct difference difference(const struct comparison *c, const struct cell *a, const struct cell *b);
/* Do the values of one file drift, so that repetitions are not independent? */
bool drifts(const struct cell *x);

#endif
