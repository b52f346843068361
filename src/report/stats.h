/* stats: statistics of the samples of signals. */
#ifndef NVMTOP_REPORT_STATS_H
#define NVMTOP_REPORT_STATS_H

#include "model/energy.h"
#include "model/stats.h"
#include "report/select.h"

#define QUANTILES_EXACT 65536 /* samples */

/* Statistics beside the mean, in the order of JSON and CSV: name, and its quantile (0: none). A quantile
 * is the nearest rank; with more than QUANTILES_EXACT samples it is within 0.025 % of max - min. sd uses
 * n - 1 and is NaN for one sample. */
#define STATISTICS(X) X(sd, 0) X(min, 0) X(p50, 0.50) X(p95, 0.95) X(p99, 0.99) X(max, 0)
#define STATISTIC_ONE(name, q) +1
enum { N_STATISTICS = 0 STATISTICS(STATISTIC_ONE) };

/* Statistics of one signal over one or more ranges of a trace; doubles are NaN if undefined. */
struct result {
	uint64_t n, missing;
	double mean; /* of the n samples */
#define STATISTIC_MEMBER(name, q) double name;
	STATISTICS(STATISTIC_MEMBER)
	double first, last; /* the oldest and the newest sample */
	struct energy_result energy; /* of power; of a throttle channel the time over which it is known */
	int64_t above_ns;   /* of a throttle channel, as of timeline_ops.stat() */
	double counted;     /* the mean from counters, if the values are differences of counters */
	double steps;       /* sum of a counter's increases */
};

/* Prepares statistics of channels over spans, which must be sorted and not adjacent; out has one result
 * per channel. Returns NULL if out of memory. */
struct stats *stats_begin(struct trace *t, const struct channels *channels, const struct epoch *spans,
			  size_t n, struct result *out);
void stats_end(struct stats *st); /* completes the results and frees st */
void stats_free(struct stats *st);
/* The same, and reads the rows. whole (or NULL) has the same channels and gets the rows, too: each of its
 * spans consists of the spans of several calls, in order. Returns 0, or -1 if out of memory. */
int stats_make(struct trace *t, const struct channels *channels, const struct epoch *spans, size_t n,
	       struct stats *whole, struct result *out, void (*tick)(void *to, int64_t ns), void *to);

/* The mean to print: from counters if the channel has them. */
static inline double mean_of(const struct result *r)
{
	return r->counted == r->counted ? r->counted : r->mean;
}

/* Mean over the covered time. */
static inline double watts_of(const struct result *r)
{
	return r->energy.joules / r->energy.known_s;
}

/* The zero-based rank of a quantile among n values. */
uint64_t quantile_rank(double q, uint64_t n);

/* Half the width of the 95 % confidence interval of the difference of two means of n1 and n2 values with standard
 * deviations sd1 and sd2, which may differ; *p is the probability of a difference at least this large if the means are
 * equal. NaN for n < 2. */
double welch(double sd1, uint64_t n1, double sd2, uint64_t n2, double difference, double *p);

/* The 97.5 % quantile of Student's t. */
double student_t(double df);

#endif
