/* stats: the integral of a channel over time, the same for a summary and a report. */
#ifndef NVMTOP_MODEL_STATS_H
#define NVMTOP_MODEL_STATS_H

#include <stdbool.h>
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

#endif
