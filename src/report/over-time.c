/* What needs the times of the samples: energy, how long something was throttled,
 * and the means of what is a difference of counters. */
#include <math.h>
#include <string.h>

#include "report/stats.h"

#define BLOCK 256

struct sum {
	double value, rest;
};

static void sum_add(struct sum *s, double v)
{
	double t = s->value + v;

	s->rest += fabs(s->value) >= fabs(v) ? s->value - t + v : v - t + s->value;
	s->value = t;
}

static bool has_integral(const struct channel *c)
{
	return c->unit == UNIT_MILLIWATT || c->kind == CHANNEL_THROTTLE || c->kind == CHANNEL_THROTTLE_COUNT;
}

/* The piece between two neighbouring samples, cut to the span. */
static void piece(struct result *r, struct sum *area, const struct epoch *ep, int64_t t0, double v0,
		  int64_t t1, double v1)
{
	int64_t a = t0 > ep->from_ns ? t0 : ep->from_ns, b = t1 < ep->to_ns ? t1 : ep->to_ns;
	double slope = t1 > t0 ? (v1 - v0) / (double)(t1 - t0) : 0;

	if (t1 > ep->from_ns && t1 <= ep->to_ns && v1 > v0)
		r->steps += v1 - v0;
	if (b <= a)
		return;
	sum_add(area, (v0 + slope * ((double)(a - t0) + (double)(b - t0)) / 2) * ((double)(b - a) / 1e9));
	r->covered_ns += b - a;
	if (v0 > 0)
		r->above_ns += b - a;
}

static void integrate(struct trace *t, size_t channel, const struct epoch *spans, size_t n_spans,
		      struct result *r)
{
	const struct session *s = trace_session(t);
	enum tier tier = s->channels[channel].tier;
	int64_t cover = cover_ns(s, tier), at[BLOCK];
	double v[BLOCK];
	struct sum area = {0};

	r->steps = 0;
	for (size_t k = 0; k < n_spans; k++) {
		const struct epoch *ep = &spans[k];
		uint64_t row = trace_row_from(t, tier, ep->from_ns - cover), rows = trace_rows(t, tier);
		uint64_t released = row;
		int64_t t0 = 0;
		double v0 = NAN;

		while (row < rows && (isnan(v0) || t0 < ep->to_ns)) {
			size_t n = rows - row < BLOCK ? (size_t)(rows - row) : BLOCK, i;

			trace_row_times(t, tier, row, n, at);
			trace_row_values(t, channel, row, n, v);
			for (i = 0; i < n && at[i] <= ep->to_ns + cover; i++) {
				if (isnan(v[i]))
					continue;
				if (!isnan(v0) && at[i] - t0 <= cover)
					piece(r, &area, ep, t0, v0, at[i], v[i]);
				t0 = at[i];
				v0 = v[i];
			}
			if (i < n)
				break;
			row += n;
			rows_passed(t, tier, row, &released);
		}
	}
	r->integral = r->covered_ns > 0 ? area.value + area.rest : NAN;
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
		uint64_t row = trace_row_from(t, tier, spans[k].from_ns), released = row;
		int64_t before = spans[k].from_ns;

		if (row > 0)
			trace_row_times(t, tier, row - 1, 1, &before);
		while (row < rows && before < spans[k].to_ns) {
			size_t n = rows - row < BLOCK ? (size_t)(rows - row) : BLOCK;

			trace_row_times(t, tier, row, n, at);
			trace_row_values(t, channel, row, n, v);
			share_rows(&sh, &spans[k], at, v, n, &before);
			row += n;
			rows_passed(t, tier, row, &released);
		}
	}
	return sh.passed > 0 ? (sh.busy.value + sh.busy.rest) / sh.passed : NAN;
}

void over_time(struct trace *t, size_t channel, const struct epoch *spans, size_t n, struct result *r)
{
	const struct session *s = trace_session(t);
	const struct channel *c = &s->channels[channel];

	if (has_integral(c))
		integrate(t, channel, spans, n, r);
	if (is_counted(s, c))
		r->counted = counted_mean(t, channel, spans, n);
}
