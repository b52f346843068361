/* stats: statistics of a channel, the same for summary, report and log. */
#ifndef NVMTOP_MODEL_STATS_H
#define NVMTOP_MODEL_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A compensated sum (Neumaier): its error does not grow with the number of terms. */
struct sum {
	double value, rest;
};
void sum_add(struct sum *s, double v);
static inline double sum_get(const struct sum *s)
{
	return s->value + s->rest;
}

/* Two readings further apart than this are a gap, for a tier of that rate. */
int64_t stats_hole_ns(double hz);

/* Statistics of one channel over a time span. */
struct span_stats {
	uint32_t channel;                /* chosen by the caller */
	uint64_t n;                      /* readings; if 0, nothing else is set */
	double min, max, sum, squares;   /* squares: sum of squared deviations from the mean */
	int64_t first_ns, last_ns;
	double first, last;
	double integral;                 /* by trapezoids between neighbouring values, without gaps */
	uint64_t known_ns, above_ns;     /* above_ns: how long a state was above 0 */
	double rise;                     /* sum of the increases */
};
/* Single ticks of a tier that were skipped because the sampler woke late, and the longest time between the rows around
 * one. */
struct late_ticks {
	uint64_t n;
	int64_t longest_ns;
};
static inline void late_join(struct late_ticks *l, const struct late_ticks *more)
{
	l->n += more->n;
	l->longest_ns = more->longest_ns > l->longest_ns ? more->longest_ns : l->longest_ns;
}

/* Of n > 0 readings. apart_ns[i] is the time from reading i to the next one, or 0 if a gap follows; known_ns is their sum. Uses
 * several sums in parallel so that it can be vectorised. */
void span_stats_rows(struct span_stats *s, const int64_t *t_ns, const double *v, const double *apart_ns, double known_ns, size_t n);
/* Adds what two neighbouring readings, v0 at t0 and v1 at t1, say of [from_ns, to_ns): the area below the line between them, and
 * that a state above 0 lasts from a reading to the next one, if that is not more than hole_ns later; each "throttled for" is a
 * sum of these. A step belongs to where it ends. */
void span_stats_between(struct span_stats *s, int64_t t0, double v0, int64_t t1, double v1, int64_t hole_ns, int64_t from_ns, int64_t to_ns);
/* Appends the statistics of the span that follows. */
void span_stats_join(struct span_stats *s, const struct span_stats *later, int64_t hole_ns);

/* Counts values in bins whose width is a power of two, so that the histograms of spans can be added. */
#define HISTOGRAM_BINS 4096 /* minimum number from min to max */
struct histogram {
	double min, max;
	double scale;       /* bins per unit; exact */
	double first, last; /* value v is in bin v * scale - first, 0 .. last */
	uint64_t *bins;     /* one extra, for missing values */
};
/* For values from min to max, max > min. Returns -1 if out of memory. */
int histogram_init(struct histogram *h, double min, double max);
void histogram_free(struct histogram *h);
void histogram_add(struct histogram *h, const double *v, size_t n); /* NaN is ignored */
void histogram_repeat(struct histogram *h, double v, uint64_t n);
static inline size_t histogram_bin(const struct histogram *h, double v)
{
	double at = v * h->scale - h->first;

	at = at > 0 ? at : 0; /* NaN becomes 0, too */
	return (size_t)(int32_t)(at < h->last ? at : h->last);
}
/* Adds the counts of another histogram of the same bins. */
void histogram_join(struct histogram *h, const struct histogram *part);
uint64_t histogram_count(const struct histogram *h);
/* Finds the value of rank 0 .. count - 1: histogram_find() returns its bin and replaces *rank by the rank
 * in that bin, histogram_value() estimates the value. */
size_t histogram_find(const struct histogram *h, uint64_t *rank);
double histogram_value(const struct histogram *h, size_t bin, uint64_t rank);

#endif
