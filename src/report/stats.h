/* stats: what a set of samples is like, exactly, however many there are. */
#ifndef REPORT_STATS_H
#define REPORT_STATS_H

#include "report/pick.h"

/* Of one signal over one or more stretches of a trace; doubles are NaN when
 * there is nothing to say. */
struct result {
	uint64_t n, missing;
	double mean, sd; /* of the n samples; sd with n - 1, NaN for one sample */
	double min, max;
	double p50, p95, p99; /* nearest rank: a sample that at least so many do not exceed */
	double first, last;   /* the oldest and the newest sample */
	double integral;      /* trapezoid over the true times, unit x seconds; power and counts only */
	int64_t covered_ns;   /* for which it is known */
	int64_t above_ns;     /* of these with a value above 0 */
	double counted;       /* the mean by counters, where the values are differences of such */
	double steps;         /* by how much it went up, each time added */
};

/* Statistics of `channels` over the spans, which are in order and apart.
 * Results are one a channel.  0, or -1: out of memory. */
int stats_make(struct trace *t, const struct channels *channels, const struct epoch *spans, size_t n,
	       struct result *out, void (*tick)(void *to, uint64_t rows), void *to);

/* The mean to be told: by the counters where there are such. */
static inline double mean_of(const struct result *r)
{
	return r->counted == r->counted ? r->counted : r->mean;
}

/* The part of a result that needs the times of the samples. */
void over_time(struct trace *t, size_t channel, const struct epoch *spans, size_t n, struct result *r);

/* How many rows stats_make() will have told tick() about, if none of them is read twice. */
uint64_t stats_rows(const struct trace *t, const struct channels *channels, const struct epoch *spans,
		    size_t n);

/* Rows up to `row` have been gone through: now and then they may leave memory. */
static inline void rows_passed(const struct trace *t, enum tier tier, uint64_t row, uint64_t *released)
{
	if (row - *released < 262144)
		return;
	trace_rows_done(t, tier, *released, row);
	*released = row;
}

/* Half the width of the interval that covers the mean of n samples with 95 %, of
 * standard deviation sd; NaN for n < 2. */
double confidence(double sd, uint64_t n);

/* The same for the difference of two means, without assuming equal spreads. */
double welch(double sd1, uint64_t n1, double sd2, uint64_t n2);

/* The 97.5 % point of Student's t. */
double student_t(double df);

#endif
