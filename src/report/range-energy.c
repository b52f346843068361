/* The energy of a set of intervals is the integral between their edges. Readings are means over a window that
 * contains edges, so that power leaks out of the intervals: how much is computed by reading the intervals
 * themselves (1 inside, 0 outside) in the same way. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/range-energy.h"
#include "report/stats.h"
#include "util/clock.h"
#include "util/intl.h"

#define LEAST   3   /* readings */
#define OF_EDGE 0.3 /* ticks by which the random moment of a reading moves an edge, standard deviation */
#define BLOCK   1024

void curves_begin(struct curves *c, struct trace *t, size_t power, size_t gpu, size_t hottest)
{
	const struct session *s = trace_session(t);
	const struct channel *p = power == SIZE_MAX ? NULL : &s->channels[power];

	*c = (struct curves) {.trace = t, .power = power, .gpu = gpu, .hottest = hottest, .load.steps = true};
	if (!p)
		return;
	c->tick_ns = llround(1e9 / s->hz[p->tier]);
	c->every_ns = reading_ns(s, p);
	c->noisy = c->every_ns == c->tick_ns;
	/* The chip's mean ends up to a tick before it is seen, and that is up to another one before the row. Of a
	 * chip that averages over less than a tick, the time is unknown: its mean and its age take half a tick each. */
	c->window_ns = (c->noisy ? 0 : c->every_ns) + c->tick_ns + (read_at_random(s, p) ? c->tick_ns : 0);
}

static void curve_free(struct curve *c)
{
	free(c->t_ns);
	free(c->p);
}

void curves_free(struct curves *c)
{
	curve_free(&c->watts);
	curve_free(&c->load);
	curve_free(&c->heat);
	curve_free(&c->inside);
	curve_free(&c->covered);
}

static void curve_add(struct curves *of, struct curve *c, int64_t t_ns, double v, bool joined)
{
	struct curve_point p = {.v = v};

	if (c->n == c->room) {
		size_t room = c->room ? 2 * c->room : BLOCK;
		int64_t *t = reallocarray(c->t_ns, room, sizeof(*t));
		struct curve_point *list = t ? reallocarray(c->p, room, sizeof(*list)) : NULL;

		c->t_ns = t ? t : c->t_ns;
		c->p = list ? list : c->p;
		of->no_memory |= !list;
		if (!list)
			return;
		c->room = room;
	}
	if (c->n > 0) {
		const struct curve_point *last = &c->p[c->n - 1];
		double s = joined ? (double)(t_ns - c->t_ns[c->n - 1]) / 1e9 : 0;

		p.area = last->area + s * (c->steps ? v : (v + last->v) / 2);
		p.known = last->known + s;
	}
	c->t_ns[c->n] = t_ns;
	c->p[c->n++] = p;
}

/* The first point at or after t_ns. */
static size_t curve_from(const struct curve *c, int64_t t_ns)
{
	return times_from(c->t_ns, c->n, sizeof(*c->t_ns), 0, t_ns);
}

static struct curve_point curve_at(const struct curve *c, int64_t t_ns)
{
	size_t i = curve_from(c, t_ns);
	struct curve_point p, q;
	double part, s;

	if (c->n == 0)
		return (struct curve_point) {.v = NAN};
	if (i == 0 || i == c->n)
		return c->p[i ? i - 1 : 0];
	p = c->p[i - 1];
	q = c->p[i];
	part = (double)(t_ns - c->t_ns[i - 1]) / (double)(c->t_ns[i] - c->t_ns[i - 1]);
	s = part * (q.known - p.known);
	p.area += s * (c->steps ? q.v : p.v + (q.v - p.v) * part / 2);
	p.known += s;
	p.noise += part * (q.noise - p.noise);
	return p;
}

struct curve_point curve_between(const struct curve *c, int64_t from_ns, int64_t to_ns)
{
	struct curve_point p = curve_at(c, from_ns), q = curve_at(c, to_ns);

	return (struct curve_point) {NAN, q.area - p.area, q.known - p.known, q.noise - p.noise};
}

/* Reads a channel. every_ns: equal values within this time are one reading. */
static void curve_read(struct curves *of, struct curve *c, size_t channel, int64_t from_ns, int64_t to_ns,
		       int64_t every_ns, double factor, int64_t shift_ns)
{
	const struct session *s = trace_session(of->trace);
	enum tier tier = channel == SIZE_MAX ? TIER_FAST : s->channels[channel].tier;
	int64_t t_ns[BLOCK], hole_ns = cover_ns(s, tier), before_ns = INT64_MIN;
	double v[BLOCK], *values[1] = {v};
	uint64_t row, end;
	size_t n;
	bool joined = true;

	c->n = 0;
	if (channel == SIZE_MAX)
		return;
	end = trace_row_from(of->trace, tier, to_ns);
	for (row = trace_row_from(of->trace, tier, from_ns); row < end; row += n) {
		n = trace_read(of->trace, tier, row, end - row < BLOCK ? (size_t)(end - row) : BLOCK, t_ns,
			       &channel, 1, values);
		if (n == 0)
			break;
		for (size_t i = 0; i < n; i++) {
			if (isnan(v[i]))
				continue;
			joined &= before_ns == INT64_MIN || t_ns[i] - before_ns <= hole_ns;
			before_ns = t_ns[i];
			if (c->n > 0 && t_ns[i] - shift_ns - c->t_ns[c->n - 1] < every_ns &&
			    c->p[c->n - 1].v == v[i] * factor)
				continue;
			curve_add(of, c, t_ns[i] - shift_ns, v[i] * factor, joined);
			joined = true;
		}
	}
}

/* The variance of each reading, from its distance to the line between its neighbours. */
static void curve_noise(struct curve *c)
{
	double sum = 0;

	for (size_t i = 1; i < c->n; i++) {
		struct curve_point *p = &c->p[i];

		if (i + 1 < c->n && p[1].known > p->known && p->known > p[-1].known) {
			double s = (p[1].known - p[-1].known) / 2, a = (p->known - p[-1].known) / s / 2,
			       off = p->v - p[-1].v * (1 - a) - p[1].v * a;

			sum += s * s * off * off / (1 + a * a + (1 - a) * (1 - a));
		}
		p->noise = sum;
	}
}

/* Readings that far from an edge are inside or outside for sure, and there are some. */
static int64_t reach_ns(const struct curves *c)
{
	return c->window_ns / 2 + 2 * c->every_ns;
}

void curves_read(struct curves *c, int64_t from_ns, int64_t to_ns)
{
	int64_t more = 2 * reach_ns(c) + NS_PER_S, half = c->window_ns / 2;

	curve_read(c, &c->watts, c->power, from_ns - more, to_ns + more,
		   c->noisy ? 0 : c->every_ns - c->tick_ns / 2, 1e-3, half);
	curve_read(c, &c->load, c->gpu, from_ns - more, to_ns + more, 0, 1, 0);
	curve_read(c, &c->heat, c->hottest, from_ns - more, to_ns + more, 0, 1, 0);
	if (c->noisy)
		curve_noise(&c->watts);
}

/* The readings around an edge of an interval of that length, those before `next` excepted. Returns the first one after them. */
static size_t edge_add(struct spent *s, struct curves *c, int64_t edge_ns, double most_s, size_t next)
{
	const struct curve *p = &c->watts;
	int64_t reach = reach_ns(c), half = c->window_ns / 2;
	double least = INFINITY, most = -INFINITY;
	double unsure = OF_EDGE * (double)c->tick_ns / 1e9 + (double)(c->window_ns + c->every_ns) / 8e9;
	size_t i = curve_from(p, edge_ns - reach);

	for (; i < p->n && p->t_ns[i] <= edge_ns + reach; i++) {
		double v = p->p[i].v, share;

		least = fmin(least, v);
		most = fmax(most, v);
		if (i < next)
			continue;
		share = curve_between(&c->inside, p->t_ns[i] - half, p->t_ns[i] + half).known * 5e8 /
			(double)half;
		curve_add(c, &c->covered, p->t_ns[i], share, true);
		s->around.n++;
		s->around.c += share;
		s->around.v += v;
		s->around.cc += share * share;
		s->around.cv += share * v;
		s->around.vv += v * v;
	}
	s->edges++;
	if (most >= least) {
		unsure = fmin(unsure, most_s) * (most - least);
		s->misplaced += unsure * unsure;
		s->widest = fmax(s->widest, most - least);
	}
	return i > next ? i : next;
}

static void edges_add(struct spent *s, struct curves *c, const struct interval *list, size_t n)
{
	size_t next = 0;

	c->covered.n = c->inside.n = 0;
	for (size_t i = 0; i < n; i++) {
		curve_add(c, &c->inside, list[i].begin_ns, 1, false);
		curve_add(c, &c->inside, list[i].end_ns, 1, true);
	}
	for (size_t i = 0; i < n; i++) {
		double length = (double)(list[i].end_ns - list[i].begin_ns) / 1e9;

		next = edge_add(s, c, list[i].begin_ns, length, next);
		next = edge_add(s, c, list[i].end_ns, length, next);
	}
	for (size_t i = 0; i < n; i++) {
		struct curve_point in = curve_between(&c->covered, list[i].begin_ns, list[i].end_ns);

		s->leak += in.known - in.area;
	}
}

/* The temperature is that of the last row. */
static size_t heat_from(const struct curve *c, int64_t t_ns)
{
	size_t i = curve_from(c, t_ns + 1);

	return i > 0 ? i - 1 : 0;
}

void spent_add(struct spent *s, struct curves *c, const struct interval *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t from = list[i].begin_ns, to = list[i].end_ns;
		struct curve_point p = curve_between(&c->watts, from, to),
				   q = curve_between(&c->load, from, to);

		s->time_ns += to - from;
		s->joules += p.area;
		s->known += p.known;
		s->noise += p.noise;
		s->load += q.area;
		s->loaded += q.known;
		for (size_t k = heat_from(&c->heat, from); k < c->heat.n && c->heat.t_ns[k] <= to; k++)
			s->hottest = fmax(s->hottest, c->heat.p[k].v);
	}
	if (c->watts.n > 0)
		edges_add(s, c, list, n);
}

static double within(const struct spent *s, const struct curves *c)
{
	double n = s->around.n, tick = (double)c->tick_ns / 1e9;
	double cc = s->around.cc - s->around.c * s->around.c / n,
	       cv = s->around.cv - s->around.c * s->around.v / n,
	       vv = s->around.vv - s->around.v * s->around.v / n;
	/* What leaks, and what is lost because the time of a mean is unsure; no more than all of it. */
	double late = tick / (c->noisy ? 2 : 4) * (double)s->edges / 2;
	double lost = fmin(fabs(s->leak) + late, s->known), step = 0, unsure = s->widest;

	if (n > 3 && cc > 1e-6 * n) {
		step = cv / cc;
		unsure = sqrt(fmax(vv - step * cv, 0) / (n - 2) / cc);
	}
	return fabs(step) * lost + 2.5 * sqrt(unsure * lost * unsure * lost + s->misplaced + s->noise);
}

struct spent_result spent_get(const struct spent *s, const struct curves *c)
{
	struct spent_result r = {NAN, NAN, NAN, s->loaded > 0 ? s->load / s->loaded : NAN, NULL};

	if (c->power == SIZE_MAX)
		r.why = N_("no power signal");
	else if (s->known * 1e9 < LEAST * (double)c->every_ns)
		r.why = N_("power is read fewer than three times in all of its time");
	if (r.why)
		return r;
	r.within = within(s, c);
	r.joules = s->joules;
	r.watts = s->joules / s->known;
	return r;
}
