/* What needs the times of the samples: energy, how long something was throttled,
 * and the means of what is a difference of counters. */
#include <math.h>
#include <string.h>

#include "model/stats.h"
#include "report/stats.h"

#define BLOCK 256

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

static void spread_take(struct spread *s, const struct epoch *ep, int64_t t2, double v2)
{
	int64_t t0 = s->t[0], t1 = s->t[1], from, to;
	double a, off, weight;

	if (s->held > 0 && t2 - s->t[s->held - 1] < s->period_ns && v2 == s->v[s->held - 1])
		return;
	if (s->held < 2) {
		s->t[s->held] = t2;
		s->v[s->held++] = v2;
		return;
	}
	from = t0 > ep->from_ns ? t0 : ep->from_ns;
	to = t2 < ep->to_ns ? t2 : ep->to_ns;
	if (to > from) {
		a = (double)(t1 - t0) / (double)(t2 - t0);
		off = s->v[1] - s->v[0] * (1 - a) - v2 * a;
		weight = (double)(to - from) / 2e9;
		s->variance += weight * weight * off * off / (1 + a * a + (1 - a) * (1 - a));
		s->n++;
	}
	s->t[0] = t1;
	s->v[0] = s->v[1];
	s->t[1] = t2;
	s->v[1] = v2;
}

/* Neighbours share readings: there is half as much to judge by.  A third more than Student's
 * t, because loads with rare peaks are further off than their readings tell. */
static double spread_within(const struct spread *s)
{
	return s->n > 0 ? student_t(fmax(1, (double)s->n / 2)) * 4 / 3 * sqrt(s->variance) : NAN;
}

bool read_at_random(const struct session *s, const struct channel *c)
{
	const char *moments = fact_get(s->facts, s->n_facts, FACT_MOMENTS);

	return moments && c->unit == UNIT_MILLIWATT && !channel_is_nvml(c);
}

int64_t reading_ns(const struct session *s, const struct channel *c)
{
	int64_t tick = llround(1e9 / s->hz[c->tier]);

	return c->period_ns > tick ? c->period_ns : tick;
}

static bool has_integral(const struct channel *c)
{
	return c->unit == UNIT_MILLIWATT || c->kind == CHANNEL_THROTTLE;
}

static void integrate(struct trace *t, size_t channel, const struct epoch *spans, size_t n_spans,
		      struct result *r)
{
	const struct session *s = trace_session(t);
	enum tier tier = s->channels[channel].tier;
	int64_t hole = cover_ns(s, tier), at[BLOCK];
	struct spread spread = {.period_ns = reading_ns(s, &s->channels[channel])};
	struct integral sum = {.begun = false};
	double v[BLOCK];

	for (size_t k = 0; k < n_spans; k++) {
		const struct epoch *ep = &spans[k];
		uint64_t row = trace_row_from(t, tier, ep->from_ns - hole), rows = trace_rows(t, tier);

		spread.held = 0;
		integral_break(&sum);
		while (row < rows && (!sum.begun || sum.last_ns < ep->to_ns)) {
			size_t n = rows - row < BLOCK ? (size_t)(rows - row) : BLOCK, i;

			trace_row_times(t, tier, row, n, at);
			trace_row_values(t, channel, row, n, v);
			for (i = 0; i < n && at[i] <= ep->to_ns + hole; i++) {
				if (isnan(v[i]))
					continue;
				if (!integral_add(&sum, at[i], v[i], hole, ep->from_ns, ep->to_ns))
					spread.held = 0;
				spread_take(&spread, ep, at[i], v[i]);
			}
			if (i < n)
				break;
			row += n;
		}
	}
	r->integral = integral_get(&sum);
	r->covered_ns += sum.covered_ns;
	r->above_ns += sum.above_ns;
	if (read_at_random(s, &s->channels[channel]))
		r->within = spread_within(&spread);
}

/* What a counter went up by while nothing was sampled counts, too, where the next
 * sample is; what it fell by is a new beginning. */
static double steps_up(struct trace *t, size_t channel, const struct epoch *spans, size_t n_spans)
{
	enum tier tier = trace_session(t)->channels[channel].tier;
	uint64_t rows = trace_rows(t, tier);
	int64_t at[BLOCK];
	double v[BLOCK], steps = 0;

	for (size_t k = 0; k < n_spans; k++) {
		uint64_t row = trace_row_from(t, tier, spans[k].from_ns);
		double before = NAN;
		bool past = false;

		row -= row > 0;
		while (row < rows && !past) {
			size_t n = rows - row < BLOCK ? (size_t)(rows - row) : BLOCK;

			trace_row_times(t, tier, row, n, at);
			trace_row_values(t, channel, row, n, v);
			for (size_t i = 0; i < n && !past; i++) {
				past = at[i] > spans[k].to_ns;
				if (past || isnan(v[i]))
					continue;
				if (at[i] > spans[k].from_ns && v[i] > before)
					steps += v[i] - before;
				before = v[i];
			}
			row += n;
		}
	}
	return steps;
}

/* Is each value the difference of counters since the reading before?  Then its mean
 * over the time is the difference of the counters over the whole stretch, also
 * where ticks were late. */
static bool is_counted(const struct session *s, const struct channel *c)
{
	const char *by = fact_get(s->facts, s->n_facts, "cpu.source"), *end = strrchr(c->source, '/');

	if (c->kind == CHANNEL_GPU_UTIL)
		return end && !strcmp(end, "/counters");
	return (c->kind == CHANNEL_CPU_UTIL || c->kind == CHANNEL_CORE_UTIL) && by && !strncmp(by, "perf", 4);
}

/* Values times how long they stood, and how long that was. */
struct share {
	struct sum busy;
	double passed;
};

/* Each of n rows stands for the time since the one before, which is *before at first;
 * cut to the span. */
static void share_rows(struct share *sh, const struct epoch *span, const int64_t *at, const double *v,
		       size_t n, int64_t *before)
{
	for (size_t i = 0; i < n && *before < span->to_ns; *before = at[i++]) {
		int64_t from = *before > span->from_ns ? *before : span->from_ns;
		int64_t to = at[i] < span->to_ns ? at[i] : span->to_ns;

		if (isnan(v[i]) || to <= from)
			continue;
		sum_add(&sh->busy, v[i] * (double)(to - from));
		sh->passed += (double)(to - from);
	}
}

static double counted_mean(struct trace *t, size_t channel, const struct epoch *spans, size_t n_spans)
{
	enum tier tier = trace_session(t)->channels[channel].tier;
	uint64_t rows = trace_rows(t, tier);
	struct share sh = {.passed = 0};
	int64_t at[BLOCK];
	double v[BLOCK];

	for (size_t k = 0; k < n_spans; k++) {
		uint64_t row = trace_row_from(t, tier, spans[k].from_ns);
		int64_t before = spans[k].from_ns;

		if (row > 0)
			trace_row_times(t, tier, row - 1, 1, &before);
		while (row < rows && before < spans[k].to_ns) {
			size_t n = rows - row < BLOCK ? (size_t)(rows - row) : BLOCK;

			trace_row_times(t, tier, row, n, at);
			trace_row_values(t, channel, row, n, v);
			share_rows(&sh, &spans[k], at, v, n, &before);
			row += n;
		}
	}
	return sh.passed > 0 ? sum_get(&sh.busy) / sh.passed : NAN;
}

void over_time(struct trace *t, size_t channel, const struct epoch *spans, size_t n, struct result *r)
{
	const struct session *s = trace_session(t);
	const struct channel *c = &s->channels[channel];

	if (has_integral(c))
		integrate(t, channel, spans, n, r);
	if (channel_counts(c))
		r->steps = steps_up(t, channel, spans, n);
	if (is_counted(s, c))
		r->counted = counted_mean(t, channel, spans, n);
}
