/* stats: statistics of the samples of signals. */
#ifndef NVMTOP_REPORT_STATS_H
#define NVMTOP_REPORT_STATS_H

#include "model/stats.h"
#include "report/select.h"

#define QUANTILES_EXACT 65536 /* samples */

/* Statistics beside the mean, in the order of JSON and CSV: name, and which quantile it is (0: none).
 * A quantile is the nearest rank; of more than QUANTILES_EXACT samples within 0.025 % of max - min.
 * sd is with n - 1, NaN for one sample. */
#define STATISTICS(X) X(sd, 0) X(min, 0) X(p50, 0.50) X(p95, 0.95) X(p99, 0.99) X(max, 0)
#define STATISTIC_ONE(name, q) +1
enum { N_STATISTICS = 0 STATISTICS(STATISTIC_ONE) };

/* Of one signal over one or more stretches of a trace; doubles are NaN when
 * there is nothing to say. */
struct result {
	uint64_t n, missing;
	double mean; /* of the n samples */
#define STATISTIC_MEMBER(name, q) double name;
	STATISTICS(STATISTIC_MEMBER)
	double first, last; /* the oldest and the newest sample */
	double integral;    /* trapezoid over the true times, unit x seconds; power and counts only */
	double within;      /* of the integral: where readings are random, it is no further off */
	int64_t covered_ns; /* for which it is known */
	int64_t above_ns;   /* of these with a value above 0 */
	double counted;     /* the mean by counters, where the values are differences of such */
	double steps;       /* of a counter: by how much it went up, each time added */
};

/* Statistics of channels over spans, which are in order and apart, into out, one a channel.
 * NULL: out of memory. */
struct stats *stats_begin(struct trace *t, const struct channels *channels, const struct epoch *spans,
			  size_t n, struct result *out);
void stats_end(struct stats *st); /* complete the results, and free it */
void stats_free(struct stats *st);
/* The same with the rows read.  whole (or NULL) is of the same channels and gets them, too: each
 * of its spans is those of several calls, one behind the other.  0, or -1: out of memory. */
int stats_make(struct trace *t, const struct channels *channels, const struct epoch *spans, size_t n,
	       struct stats *whole, struct result *out, void (*tick)(void *to, uint64_t rows), void *to);

/* The mean to print: by counters where the channel has them. */
static inline double mean_of(const struct result *r)
{
	return r->counted == r->counted ? r->counted : r->mean;
}

/* How far an integral may be off, where the moments of reading are random: each reading
 * stands for the time around it, and what it is off by is judged by how far it lies from
 * the line between its neighbours. */
struct spread {
	int64_t period_ns; /* rows that repeat a value in less are no new reading */
	int64_t t[2];
	double v[2];
	unsigned held;
	double variance;
	uint64_t n;
};

/* Values times how long they stood, and how long that was. */
struct share {
	struct sum busy;
	double passed;
};

/* What is gathered of the readings of a channel in the order of time. */
struct flow {
	int64_t hole_ns;
	bool integrates, spreads, rises, counted;
	struct integral sum;
	struct spread spread;
	struct share share;
	double steps, before; /* of a counter */
	int64_t before_ns;
};
void flow_begin(struct flow *f, const struct session *s, const struct channel *c);
bool flow_wanted(const struct flow *f);
void flow_break(struct flow *f); /* before the first row of a span */
/* Rows from hole_ns and one row before the span up to the first one hole_ns behind it. */
void flow_rows(struct flow *f, const struct epoch *ep, const int64_t *at, const double *v, size_t n);
void flow_end(const struct flow *f, struct result *r);

/* Is power read at moments that are random within their period, so that what is faster
 * than that makes noise and no bias? */
bool read_at_random(const struct session *s, const struct channel *c);
/* How often it is read. */
int64_t reading_ns(const struct session *s, const struct channel *c);

/* Of power in mW. */
static inline double joules_of(const struct result *r)
{
	return r->integral / 1e3;
}

/* Over the time for which it is known. */
static inline double watts_of(const struct result *r)
{
	return joules_of(r) / ((double)r->covered_ns / 1e9);
}

/* How many of n values do not exceed the quantile: its rank from 0. */
uint64_t quantile_rank(double q, uint64_t n);

/* About how many rows a pass over the spans reads. */
uint64_t stats_rows(const struct trace *t, const struct channels *channels, const struct epoch *spans,
		    size_t n);

/* Half the width of the interval that covers the mean of n samples with 95 %, of
 * standard deviation sd; NaN for n < 2. */
double confidence(double sd, uint64_t n);

/* Von Neumann's ratio: how likely the squares from each of n values to the next would sum
 * up to so little, beside those around their mean, if the values were independent.  NaN
 * for fewer than five, or where all are equal.  Exact is its variance for a normal
 * distribution; the rest is a beta distribution of that variance. */
double neumann(double turns, double squares, uint64_t n);

/* The same for the difference of two means, without assuming equal spreads; *p: how likely
 * one so large would be if there were none. */
double welch(double sd1, uint64_t n1, double sd2, uint64_t n2, double difference, double *p);

/* The 97.5 % point of Student's t. */
double student_t(double df);

#endif
