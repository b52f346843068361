/* The energy of a set of intervals is the integral between their edges. Readings are means over a window that
 * contains edges, so that power leaks out of the intervals: how much is computed by reading the intervals
 * themselves (1 inside, 0 outside) in the same way. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/range-energy.h"
#include "report/stats.h"
#include "trace/trace.h"
#include "util/clock.h"
#include "util/intl.h"

#define LEAST     3   /* readings */
#define OF_EDGE   0.3 /* ticks by which the random moment of a reading moves an edge, standard deviation */
#define BLOCK     1024
#define ROWS_MOST 50000 /* around a part; with more, a screen does without */

/* A reading around an interval. */
struct seen {
	int64_t t_ns;
	double v;
	double share; /* of its window, inside */
	double hat;   /* seconds inside that it stands for: 1 at its time, falling to 0 at those beside it */
	bool near;    /* an edge */
};

static int64_t window_ns(const struct curves *c)
{
	return c->window_ns + c->column_ns;
}

static int64_t every_ns(const struct curves *c)
{
	return c->every_ns > c->column_ns ? c->every_ns : c->column_ns;
}

/* Readings that far from an edge are inside or outside for sure, and there are some. */
static int64_t reach_ns(const struct curves *c)
{
	return window_ns(c) / 2 + 2 * every_ns(c);
}

int64_t curves_margin(const struct curves *c)
{
	return 2 * reach_ns(c) + NS_PER_S;
}

void curves_begin(struct curves *c, struct timeline *timeline, struct trace *trace, size_t power, size_t gpu,
		  size_t hottest)
{
	const struct session *s = timeline->ops->session(timeline);
	const struct channel *p = power == SIZE_MAX ? NULL : &s->channels[power];

	*c = (struct curves) {.timeline = timeline,
			      .trace = trace,
			      .power = power,
			      .gpu = gpu,
			      .hottest = hottest,
			      .load.steps = true};
	c->watts.next_ns = c->load.next_ns = c->heat.next_ns = INT64_MIN;
	if (!p)
		return;
	c->tick_ns = llround(1e9 / s->hz[p->tier]);
	c->every_ns = reading_ns(s, p);
	c->noisy = c->every_ns == c->tick_ns;
	/* The chip's mean ends up to a tick before it is seen, and that is up to another one before the row. Of a
	 * chip that averages over less than a tick, the time is unknown: its mean and its age take half a tick each. */
	c->window_ns = (c->noisy ? 0 : c->every_ns) + c->tick_ns + (read_at_random(s, p) ? c->tick_ns : 0);
	if (!trace && (double)curves_margin(c) > ROWS_MOST * (double)c->tick_ns)
		c->power = SIZE_MAX;
}

void curves_free(struct curves *c)
{
	free(c->watts.p);
	free(c->load.p);
	free(c->heat.p);
}

/* The variance of the last reading, from its distance to the line between its neighbours. Returns the sum. */
static double noise_add(struct curve *c, const struct curve_point *next)
{
	struct curve_point *p = &c->p[c->n - 1];

	if (c->n > 1 && next->known > p->known && p->known > p[-1].known) {
		double s = (next->known - p[-1].known) / 2, a = (p->known - p[-1].known) / s / 2,
		       off = p->v - p[-1].v * (1 - a) - next->v * a;

		p->noise += s * s * off * off / (1 + a * a + (1 - a) * (1 - a));
	}
	return p->noise;
}

static void curve_add(struct curves *of, struct curve *c, int64_t t_ns, double v, bool joined)
{
	struct curve_point p = {.t_ns = t_ns, .v = v}, *more = c->p;

	if (c->n == c->room) {
		more = reallocarray(c->p, 2 * c->room + BLOCK, sizeof(*more));
		of->no_memory |= !more;
		if (!more)
			return;
		c->p = more;
		c->room = 2 * c->room + BLOCK;
	}
	if (c->n > 0) {
		const struct curve_point *last = &c->p[c->n - 1];
		double s = joined ? (double)(t_ns - last->t_ns) / 1e9 : 0;

		p.area = last->area + s * (c->steps ? v : (v + last->v) / 2);
		p.known = last->known + s;
		if (of->noisy && c == &of->watts)
			p.noise = noise_add(c, &p);
	}
	c->p[c->n++] = p;
}

/* The first point at or after t_ns. */
static size_t curve_from(const struct curve *c, int64_t t_ns)
{
	return times_from(c->p, c->n, sizeof(*c->p), offsetof(struct curve_point, t_ns), t_ns);
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
	part = (double)(t_ns - p.t_ns) / (double)(q.t_ns - p.t_ns);
	s = part * (q.known - p.known);
	p.area += s * (c->steps ? q.v : p.v + (q.v - p.v) * part / 2);
	p.known += s;
	p.noise += part * (q.noise - p.noise);
	return p;
}

struct curve_point curve_between(const struct curve *c, int64_t from_ns, int64_t to_ns)
{
	struct curve_point p = curve_at(c, from_ns), q = curve_at(c, to_ns);

	return (struct curve_point) {
		.area = q.area - p.area, .known = q.known - p.known, .noise = q.noise - p.noise};
}

/* Where the history has no rows any more, there is one mean for a column of its finest zoom. */
static int64_t column_ns(struct timeline *t, size_t channel, int64_t t_ns)
{
	const struct session *s = t->ops->session(t);
	int zoom = t->ops->finest ? t->ops->finest(t, channel, t_ns) : 0;

	return zoom > zoom_base(s->hz[s->channels[channel].tier]) ? INT64_C(1) << zoom : 0;
}

/* Reads at most BLOCK rows from *from_ns on, and moves that behind them. */
static size_t rows_read(const struct curves *c, size_t channel, int64_t *from_ns, int64_t to_ns,
			int64_t *t_ns, double *v)
{
	struct timeline *t = c->timeline;
	enum tier tier = t->ops->session(t)->channels[channel].tier;
	size_t n = 0;

	if (c->trace) {
		uint64_t row = trace_row_from(c->trace, tier, *from_ns),
			 end = trace_row_from(c->trace, tier, to_ns);

		if (row < end)
			n = trace_read(c->trace, tier, row, end - row < BLOCK ? (size_t)(end - row) : BLOCK,
				       t_ns, &channel, 1, &v);
		*from_ns = n > 0 ? t_ns[n - 1] + 1 : *from_ns;
		return n;
	}
	while (n < BLOCK && *from_ns < to_ns) {
		int64_t column = column_ns(t, channel, *from_ns), at = INT64_MIN,
			end = (column ? *from_ns | (column - 1) : t->ops->step(t, tier, *from_ns - 1, 1)) + 1;

		if (end > to_ns || end <= *from_ns)
			break;
		v[n] = t->ops->value(t, channel, end - 1, &at);
		if (column && at < end - column)
			v[n] = NAN;
		t_ns[n++] = end - (column ? column / 2 : 1);
		*from_ns = end;
	}
	return n;
}

/* Forgets what is before from_ns, and reads on up to to_ns. every_ns: equal values within this time are one
 * reading. */
static void curve_read(struct curves *of, struct curve *c, size_t channel, int64_t from_ns, int64_t to_ns,
		       int64_t every_ns, double factor, int64_t shift_ns)
{
	const struct session *s = of->timeline->ops->session(of->timeline);
	int64_t t_ns[BLOCK], hole_ns;
	double v[BLOCK];
	size_t n = curve_from(c, from_ns - shift_ns);
	bool joined = true;

	if (channel == SIZE_MAX)
		return;
	if (from_ns > c->next_ns) {
		c->n = 0;
		c->next_ns = from_ns > 0 ? from_ns : 0;
		c->before_ns = INT64_MIN;
	} else if (n > c->n / 2) {
		n--;
		c->n -= n;
		memmove(c->p, c->p + n, c->n * sizeof(*c->p));
	}
	hole_ns = cover_ns(s, s->channels[channel].tier) + of->column_ns;
	while (c->next_ns < to_ns && (n = rows_read(of, channel, &c->next_ns, to_ns, t_ns, v)) > 0)
		for (size_t i = 0; i < n; i++, of->rows++) {
			if (isnan(v[i]) || t_ns[i] <= c->before_ns)
				continue;
			joined &= c->before_ns == INT64_MIN || t_ns[i] - c->before_ns <= hole_ns;
			c->before_ns = t_ns[i];
			if (c->n > 0 && t_ns[i] - shift_ns - c->p[c->n - 1].t_ns < every_ns &&
			    c->p[c->n - 1].v == v[i] * factor)
				continue;
			curve_add(of, c, t_ns[i] - shift_ns, v[i] * factor, joined);
			joined = true;
		}
}

void curves_read(struct curves *c, int64_t from_ns, int64_t to_ns)
{
	int64_t more;

	c->column_ns = c->power == SIZE_MAX || c->trace ? 0 : column_ns(c->timeline, c->power, from_ns);
	more = curves_margin(c);
	c->rows = 0;
	curve_read(c, &c->watts, c->power, from_ns - more, to_ns + more,
		   c->noisy ? 0 : c->every_ns - c->tick_ns / 2, 1e-3, c->window_ns / 2);
	curve_read(c, &c->load, c->gpu, from_ns - more, to_ns + more, 0, 1, 0);
	curve_read(c, &c->heat, c->hottest, from_ns - more, to_ns + more, 0, 1, 0);
}

/* No interval that follows lies around it. */
static void seen_leave(struct spent *s, const struct seen *r)
{
	s->leak += r->hat * (1 - r->share);
	if (!r->near)
		return;
	s->around.n++;
	s->around.c += r->share;
	s->around.v += r->v;
	s->around.cc += r->share * r->share;
	s->around.cv += r->share * r->v;
	s->around.vv += r->v * r->v;
}

static void seen_forget(struct spent *s, int64_t before_ns)
{
	size_t n = 0;

	while (n < s->n_seen && s->seen[n].t_ns < before_ns)
		seen_leave(s, &s->seen[n++]);
	s->n_seen -= n;
	if (n > 0 && s->n_seen > 0)
		memmove(s->seen, s->seen + n, s->n_seen * sizeof(*s->seen));
}

/* Of a reading, from *at on; NULL: out of memory. */
static struct seen *seen_find(struct spent *s, struct curves *c, const struct curve_point *p, size_t *at)
{
	while (*at < s->n_seen && s->seen[*at].t_ns < p->t_ns)
		(*at)++;
	if (*at == s->room) {
		struct seen *more = reallocarray(s->seen, 2 * s->room + 8, sizeof(*more));

		c->no_memory |= !more;
		if (!more)
			return NULL;
		s->seen = more;
		s->room = 2 * s->room + 8;
	}
	if (*at == s->n_seen)
		s->seen[s->n_seen++] = (struct seen) {.t_ns = p->t_ns, .v = p->v};
	return &s->seen[*at];
}

/* Seconds of [from_ns, to_ns] between foot and top, weighted from 0 to 1. */
static double ramp(int64_t foot_ns, int64_t top_ns, int64_t from_ns, int64_t to_ns)
{
	int64_t lo = foot_ns < top_ns ? foot_ns : top_ns, hi = foot_ns < top_ns ? top_ns : foot_ns;
	double a, b;

	from_ns = from_ns > lo ? from_ns : lo;
	to_ns = to_ns < hi ? to_ns : hi;
	if (to_ns <= from_ns)
		return 0;
	a = (double)(from_ns - foot_ns);
	b = (double)(to_ns - foot_ns);
	return fabs(b * b - a * a) / (double)(hi - lo) / 2e9;
}

/* An edge may be elsewhere, by at most the length of its interval. */
static void misplace(struct spent *s, const struct curves *c, double variation, int64_t length_ns)
{
	double unsure = OF_EDGE * (double)c->tick_ns / 1e9 + (double)(window_ns(c) + every_ns(c)) / 8e9;

	s->misplaced += pow(fmin(unsure, (double)length_ns / 1e9) * variation, 2);
}

/* The part [from_ns, to_ns] of an interval. */
static void edges_add(struct spent *s, struct curves *c, const struct interval *of, bool begins, bool ends,
		      int64_t from_ns, int64_t to_ns)
{
	const int64_t edge[] = {of->begin_ns, of->end_ns};
	const bool here[] = {begins, ends};
	double least[] = {INFINITY, INFINITY}, most[] = {-INFINITY, -INFINITY}, varies[2];
	int64_t reach = reach_ns(c), window = window_ns(c);
	const struct curve_point *p = c->watts.p, *end = p + c->watts.n;
	size_t at = 0;

	seen_forget(s, from_ns - reach);
	for (p += curve_from(&c->watts, from_ns - reach); p < end && p->t_ns <= to_ns + reach; p++) {
		int64_t lo = p->t_ns - window / 2, hi = lo + window;
		struct seen *r;

		if (p->t_ns > from_ns + reach && p->t_ns < to_ns - reach) {
			/* Between them all is inside. */
			p = c->watts.p + curve_from(&c->watts, to_ns - reach) - 1;
			continue;
		}
		r = seen_find(s, c, p, &at);
		if (!r)
			return;
		lo = lo > from_ns ? lo : from_ns;
		hi = hi < to_ns ? hi : to_ns;
		r->share += hi > lo ? (double)(hi - lo) / (double)window : 0;
		r->hat += p > c->watts.p ? ramp(p[-1].t_ns, p->t_ns, from_ns, to_ns) : 0;
		r->hat += p + 1 < end ? ramp(p[1].t_ns, p->t_ns, from_ns, to_ns) : 0;
		for (int k = 0; k < 2; k++)
			if (here[k] && llabs(p->t_ns - edge[k]) <= reach) {
				r->near = true;
				least[k] = fmin(least[k], p->v);
				most[k] = fmax(most[k], p->v);
			}
	}
	for (int k = 0; k < 2; k++) {
		varies[k] = fmax(most[k] - least[k], 0);
		s->widest = fmax(s->widest, varies[k]);
		s->edges += here[k];
	}
	if (begins) {
		s->begin_ns = of->begin_ns;
		s->begin_varies = varies[0];
	}
	if (ends) {
		misplace(s, c, s->begin_varies, of->end_ns - s->begin_ns);
		misplace(s, c, varies[1], of->end_ns - s->begin_ns);
		s->begin_varies = 0;
	}
}

/* The temperature is that of the last row. */
static size_t heat_from(const struct curve *c, int64_t t_ns)
{
	size_t i = curve_from(c, t_ns + 1);

	return i > 0 ? i - 1 : 0;
}

void spent_free(struct spent *s)
{
	free(s->seen);
	s->seen = NULL;
	s->room = 0;
}

void spent_add(struct spent *s, struct curves *c, const struct interval *list, size_t n, int64_t from_ns,
	       int64_t to_ns)
{
	for (size_t i = 0; i < n; i++) {
		bool begins = list[i].begin_ns >= from_ns, ends = list[i].end_ns <= to_ns;
		int64_t from = begins ? list[i].begin_ns : from_ns, to = ends ? list[i].end_ns : to_ns;
		struct curve_point p = curve_between(&c->watts, from, to),
				   q = curve_between(&c->load, from, to);

		s->time_ns += to - from;
		s->joules += p.area;
		s->known += p.known;
		s->noise += p.noise;
		s->readings += p.known * 1e9 / (double)every_ns(c);
		s->load += q.area;
		s->loaded += q.known;
		for (size_t k = heat_from(&c->heat, from); k < c->heat.n && c->heat.p[k].t_ns <= to; k++)
			s->hottest = fmax(s->hottest, c->heat.p[k].v);
		if (c->watts.n > 0)
			edges_add(s, c, &list[i], begins, ends, from, to);
	}
	seen_forget(s, to_ns - reach_ns(c));
	if (s->n_seen == 0)
		spent_free(s);
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

struct spent_result spent_get(const struct spent *of, const struct curves *c)
{
	struct spent s = *of;
	struct spent_result r = {NAN, NAN, NAN, s.loaded > 0 ? s.load / s.loaded : NAN, NULL};

	if (c->power == SIZE_MAX)
		r.why = N_("no power signal");
	else if (s.readings < LEAST * (1 - 1e-9))
		r.why = N_("power is read fewer than three times in all of its time");
	if (r.why)
		return r;
	for (size_t i = 0; i < s.n_seen; i++)
		seen_leave(&s, &s.seen[i]);
	misplace(&s, c, s.begin_varies, INT64_MAX);
	r.within = within(&s, c);
	r.joules = s.joules;
	r.watts = s.joules / s.known;
	return r;
}
