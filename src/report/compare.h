/* compare: matching epochs, or names of ranges, of several traces, and their differences. */
#ifndef NVMTOP_REPORT_COMPARE_H
#define NVMTOP_REPORT_COMPARE_H

#include "report/analysis.h"

enum what {
	DURATION,
	ITEM_TIME,
	ITEM_ENERGY,
	ENERGY,
	MEAN,
	RISE,
	THROTTLED,
	RANGE_COUNT,
	RANGE_TIME,
	RANGE_ENERGY
};

struct metric {
	enum what what;
	const struct channel *channel; /* NULL: a property of the epoch or the ranges */
};

/* Those with the same domain, label and id are the same. */
struct occurrence {
	const char *domain, *label;
	uint64_t id;
	size_t file, order;
	size_t epoch; /* SIZE_MAX: the whole; of ranges, which of the sums */
};

/* Occurrences first .. first+n-1 are the same. */
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
	double within;      /* of ranges: the error bound of the mean; NaN: none */
	const char *why;    /* of ranges: no joules, a message id; NULL: there are some */
};

struct comparison {
	const struct analysis *list;
	const struct range_sum *sums; /* NULL: epochs are compared */
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

/* EXACT: a difference without noise or bound. */
enum verdict { NOTHING, PARTLY, UNKNOWN, NOISE, DIFFERS, EXACT };

/* Matches the epochs of n traces. ok is false if out of memory. groups[n_groups] is the whole of each
 * trace. */
struct comparison compare_make(const struct analysis *list, size_t n);
/* Sorts the occurrences, and makes groups of them in their order. */
void groups_match(struct comparison *c);
void compare_free(struct comparison *c);
/* Computes Holm's correction from all differences. Required before the first verdict. */
void compare_test(struct comparison *c);

bool group_is_whole(const struct comparison *c, const struct group *g);
/* translated: for a table, of a range with its domain. */
void group_title(const struct comparison *c, const struct group *g, bool translated, char *out, size_t size);
/* Is the group shown? With one file, only repeated epochs are. */
bool group_shown(const struct comparison *c, const struct group *g);
/* Computes the cells of a group, which cell_of() then returns. */
void group_begin(struct comparison *c, const struct group *g);
void range_cells(struct comparison *c, const struct group *g); /* the same, of ranges */
/* The mean over all files of the means in each, and their spread. */
struct cell cell_over(const struct comparison *c, const struct metric *m);
const struct cell *cell_of(const struct comparison *c, size_t file, const struct metric *m);
/* The covered share of the time. */
double coverage_of(const struct cell *x);

struct difference {
	enum verdict verdict;
	double interval; /* half the width, without correction; of ranges: the sum of both bounds */
	double p;        /* without correction */
	bool drifts;     /* it differs, but the values of a or b drift */
};
/* The difference of b from a. */
struct difference difference(const struct comparison *c, const struct cell *a, const struct cell *b);
/* Do the values of one file drift, so that repetitions are not independent? */
bool drifts(const struct cell *x);

/* The outputs. all: of phases every quantity; else their time and energy. */
void comparison_tables(const struct page *o, bool all, struct comparison *c);
void put_comparison(struct record *r, struct comparison *c);

#endif
