/* Results that need sample times: throttled time, increases of counters, and means of differences of counters. */
#include <math.h>
#include <string.h>

#include "model/stats.h"
#include "report/stats.h"

/* True if each value is the difference of counters since the previous reading. Its mean over time is then
 * the difference of the counters over the whole range, even with late ticks. */
static bool is_counted(const struct session *s, const struct channel *c)
{
	const char *by = fact_get(s->facts, s->n_facts, "cpu.source"), *end = strrchr(c->source, '/');

	if (c->kind == CHANNEL_GPU_UTIL)
		return end && !strcmp(end, "/counters");
	return (c->kind == CHANNEL_CPU_UTIL || c->kind == CHANNEL_CORE_UTIL) && by && !strncmp(by, "perf", 4);
}

/* Each of n rows covers the time since the previous one, *before for the first; clipped to the span. */
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

void flow_begin(struct flow *f, const struct session *s, const struct channel *c)
{
	*f = (struct flow) {.hole_ns = cover_ns(s, c->tier),
			    .integrates = c->kind == CHANNEL_THROTTLE,
			    .rises = channel_counts(c),
			    .counted = is_counted(s, c),
			    .held_ns = INT64_MIN};
}

bool flow_wanted(const struct flow *f)
{
	return f->integrates || f->rises || f->counted;
}

void flow_break(struct flow *f)
{
	f->before = (double)NAN;
	f->before_ns = INT64_MIN;
	f->held_ns = INT64_MIN;
}

static void flow_integrate(struct flow *f, const struct epoch *ep, int64_t t_ns, double v)
{
	if (t_ns > ep->to_ns + f->hole_ns || f->held_ns >= ep->to_ns)
		return;
	if (f->held_ns != INT64_MIN) {
		f->covered_ns += above_between(f->held_ns, 1, t_ns, f->hole_ns, ep->from_ns, ep->to_ns);
		f->above_ns += above_between(f->held_ns, f->held, t_ns, f->hole_ns, ep->from_ns, ep->to_ns);
	}
	f->held_ns = t_ns;
	f->held = v;
}

void flow_rows(struct flow *f, const struct epoch *ep, const int64_t *at, const double *v, size_t n)
{
	for (size_t i = 0; f->integrates && i < n; i++)
		if (!isnan(v[i]))
			flow_integrate(f, ep, at[i], v[i]);
	for (size_t i = 0; f->rises && i < n && at[i] <= ep->to_ns; i++) {
		if (isnan(v[i]))
			continue;
		if (at[i] > ep->from_ns && v[i] > f->before)
			f->steps += v[i] - f->before;
		f->before = v[i];
	}
	if (f->counted)
		share_rows(&f->share, ep, at, v, n, &f->before_ns);
}

void flow_end(const struct flow *f, struct result *r)
{
	if (f->integrates) {
		r->covered_ns = f->covered_ns;
		r->above_ns = f->above_ns;
	}
	if (f->rises)
		r->steps = f->steps;
	if (f->counted && f->share.passed > 0)
		r->counted = sum_get(&f->share.busy) / f->share.passed;
}
