/* stats: what a channel's readings amount to, the same for a summary, a report and a log. */
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

/* Between two readings further apart than this nothing is known, in a tier of that rate. */
int64_t stats_hole_ns(double hz);

/* Trapezoids between neighbouring readings, in the channel's unit times seconds. */
struct integral {
	struct sum area;
	int64_t covered_ns; /* over which it is known */
	int64_t above_ns;   /* of these after a reading above 0 */
	bool begun;         /* there is a reading before: */
	int64_t last_ns;
	double last;
};
/* The next reading, cut to [from_ns, to_ns); NaN is no reading.  False: it is the first one, or
 * the one before is too far away. */
bool integral_add(struct integral *g, int64_t t_ns, double v, int64_t hole_ns, int64_t from_ns, int64_t to_ns);
/* The next reading does not follow the one before. */
static inline void integral_break(struct integral *g)
{
	g->begun = false;
}
double integral_get(const struct integral *g); /* NaN: nothing is known */

/* One channel over one span of time. */
struct span_stats {
	uint32_t channel;                /* a number of the caller's */
	uint64_t n;                      /* readings; 0: nothing else is set */
	double min, max, sum, squares;   /* squares: of the distances from the mean */
	int64_t first_ns, last_ns;
	double first, last;
	double integral;                 /* as struct integral, where it is known */
	uint64_t known_ns, above_ns;
	double rise;                     /* sum of the steps up */
};
/* Of n readings, NaN where one is missing. */
void span_stats_rows(struct span_stats *s, const int64_t *t_ns, const double *v, size_t n, int64_t hole_ns);
/* The same where none is missing, n > 0.  weights[i] is the time in ns from reading i to the next one, or
 * 0 behind which nothing is known; known is their sum.  Several sums side by side, to be vectorised. */
void span_stats_whole(struct span_stats *s, const int64_t *t_ns, const double *v, const double *weights,
		      double known, size_t n);
/* Appends those of the span that follows. */
void span_stats_join(struct span_stats *s, const struct span_stats *later, int64_t hole_ns);

/* Values counted in bins whose width is a power of two: those of spans add up to those of all. */
#define HISTOGRAM_BINS 4096 /* at least, from min to max */
struct histogram {
	double min, max;
	double scale;       /* bins a unit; exact */
	double first, last; /* values times scale are in bins 0 .. last behind first */
	uint64_t *bins;     /* one more, for what is missing */
};
/* For values from min to max, which is more.  -1: out of memory. */
int histogram_init(struct histogram *h, double min, double max);
void histogram_free(struct histogram *h);
void histogram_add(struct histogram *h, const double *v, size_t n); /* NaN is no value */
/* (first + k) * unit for each of n k. */
void histogram_add_whole(struct histogram *h, const int32_t *k, size_t n, double first, double unit);
void histogram_repeat(struct histogram *h, double v, uint64_t n);
static inline size_t histogram_bin(const struct histogram *h, double v)
{
	double at = v * h->scale - h->first;

	at = at > 0 ? at : 0; /* so is what is no number */
	return (size_t)(int32_t)(at < h->last ? at : h->last);
}
/* Adds those of a part of the values. */
void histogram_join(struct histogram *h, const struct histogram *part);
uint64_t histogram_count(const struct histogram *h);
/* The bin of the value of that rank, of 0 .. count - 1, which becomes its rank in the bin; and about that
 * value. */
size_t histogram_find(const struct histogram *h, uint64_t *rank);
double histogram_value(const struct histogram *h, size_t bin, uint64_t rank);

#endif
