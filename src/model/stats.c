/* Integrals of channels: trapezoids between readings, none across a gap.  The summary and the
 * report share them, and so print the same energy. */
#include "model/stats.h"

#include <math.h>

#include "model/channel.h"

void sum_add(struct sum *s, double v)
{
	double t = s->value + v;

	s->rest += fabs(s->value) >= fabs(v) ? s->value - t + v : v - t + s->value;
	s->value = t;
}

int64_t stats_hole_ns(double hz)
{
	return (int64_t)llround(COVER_PERIODS * 1e9 / hz);
}

bool integral_add(struct integral *g, int64_t t_ns, double v, int64_t hole_ns, int64_t from_ns, int64_t to_ns)
{
	int64_t t0 = g->last_ns, from = t0 > from_ns ? t0 : from_ns, to = t_ns < to_ns ? t_ns : to_ns;
	double v0 = g->last, slope;
	bool follows = g->begun && t_ns - t0 <= hole_ns;

	if (isnan(v))
		return follows;
	g->begun = true;
	g->last_ns = t_ns;
	g->last = v;
	if (!follows || to <= from)
		return follows;
	slope = (v - v0) / (double)(t_ns - t0);
	sum_add(&g->area,
		(v0 + slope * ((double)(from - t0) + (double)(to - t0)) / 2) * ((double)(to - from) / 1e9));
	g->covered_ns += to - from;
	if (v0 > 0)
		g->above_ns += to - from;
	return true;
}

double integral_get(const struct integral *g)
{
	return g->covered_ns > 0 ? sum_get(&g->area) : NAN;
}
