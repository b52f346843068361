/* compare: the phases, or the names of ranges, of several runs side by side. */
#ifndef NVMTOP_REPORT_COMPARE_H
#define NVMTOP_REPORT_COMPARE_H

#include "report/analysis.h"
#include "report/range-totals.h"

enum what {
	DURATION,
	ENERGY,
	ITEM_ENERGY,
	MEAN,
	RISE,
	THROTTLED,
	RANGE_COUNT,
	RANGE_TIME,
	RANGE_ENERGY
};

/* Each of these in files and tables. Without a unit it has that of the channel. */
extern const struct quantity {
	const char *key, *unit; /* in a file */
	const char *name;	/* in a table; %s: that of the channel */
	struct shown shown;
} quantities[];

struct metric {
	enum what what;
	const struct channel *channel; /* NULL: a property of the phase or the ranges */
	const char *name;	       /* of the channel, or of those of a sum */
};

/* Those with the same domain, label and id are the same. */
struct occurrence {
	const char *domain, *label;
	uint64_t id; /* of a phase without a label its number; of ranges which of the threads with that label */
	size_t run;
	uint64_t thread; /* of ranges by thread its ids */
	size_t order;
	size_t at; /* the phase, SIZE_MAX: the whole; of ranges, which of the run's list */
};

/* What is compared: occurrences first .. first+n-1, which are the same. */
struct subject {
	size_t first, n, order;
};

/* A metric of a subject in one run: the mean over its occurrences. */
struct run_value {
	uint64_t n;
	double mean, within; /* within: the error bound; NaN: none */
	double known, span;  /* ns: covered time, whole time */
	const char *why;     /* no joules, a message id */
};

struct comparison {
	const struct analysis *list;  /* n_runs */
	const struct collection *ranges; /* n_runs; NULL: phases are compared */
	size_t n_runs, n_first;       /* the runs from n_first on are those of the second side */
	struct occurrence *all;
	size_t n_all;
	struct subject *subjects;
	size_t n_subjects; /* to be shown; the last one of phases is the whole, if there are several */
	struct metric *metrics;
	size_t n_metrics;
	size_t *at;           /* index of a metric's channel in a run; SIZE_MAX: missing */
	struct run_value *values; /* of the loaded subject */
	size_t tested;        /* number of differences with a verdict */
	float most;           /* largest p that is significant after Holm's correction */
	bool ok;              /* false: out of memory */
};

/* Of phases; all: every quantity, else their time and energy. */
struct comparison compare_make(const struct analysis *list, size_t n, size_t n_first, bool all);
/* Sorts the occurrences, makes subjects of them in their order, and computes Holm's correction over all of their
 * metrics. */
void compare_begin(struct comparison *c);
void compare_free(struct comparison *c);

/* translated: for a table, of a range with its domain. */
void subject_title(const struct comparison *c, const struct subject *s, bool translated, char *out, size_t size);
bool subject_is_whole(const struct comparison *c, const struct subject *s);
/* Computes the values of a subject, of which side_of() then tells. */
void subject_load(struct comparison *c, const struct subject *s);
void range_values(struct comparison *c, const struct subject *s); /* the same, of ranges */
/* Compares ranges by name, and writes that. Returns -1 if out of memory. */
int compare_ranges(struct record *r, const struct page *o, const struct analysis *list, const struct collection *ranges, size_t n,
		   size_t n_first, enum report_format format, struct err *e);

/* A metric over the runs of a side (0 or 1) that have it. */
struct side {
	size_t n;
	double mean, sd, within; /* within: of a single run */
	double known;            /* the least covered share of the time in the n runs; n = 0: in all */
	const char *why;
};
/* "2.001 +- 0.012"; with the number of runs that have the metric, if others have n. */
void spread_text(char out[CELL_TEXT], const struct metric *m, const struct side *s, struct shown u, size_t n);
struct side side_of(const struct comparison *c, int which, const struct metric *m);

/* NOTHING: all runs are alike, or there is one a side, of which nothing is said about the program. */
enum verdict { NOTHING, PARTLY, FEW, NOISE, DIFFERS };
struct difference {
	enum verdict verdict;
	double by;
	double within; /* of one run a side: the error bound */
	double ci95;   /* of several: half the width of the interval, without correction */
	double p;      /* without correction */
};
/* The difference of b from a. */
struct difference difference(const struct comparison *c, const struct side *a, const struct side *b);

/* The outputs. by_metric: a table for each metric, of all subjects, else the other way round. */
void comparison_tables(const struct page *o, bool by_metric, struct comparison *c);
void put_comparison(struct record *r, struct comparison *c);

#endif
