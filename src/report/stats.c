/* All channels of a tier block by block, so that each row comes into the cache
 * once a pass; what is short enough is sorted instead. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/sieve.h"
#include "report/stats.h"

#define BLOCK   2048
#define SHORT   65536  /* rows that are simply sorted */
#define GROUP   64     /* channels at a time, for the memory of their sieves */
#define RELEASE 262144 /* rows */

static const double quantiles[QUANTILES] = {0.50, 0.95, 0.99};

/* A mean and the sum of squares around it; parts are put together without loss. */
struct moments {
	uint64_t n;
	double mean, m2;
};

struct work {
	struct trace *t;
	const struct epoch *spans;
	size_t n_spans;
	void (*tick)(void *to, uint64_t rows);
	void *to;
};

/* The channels that are worked on together: of one tier. */
struct group {
	enum tier tier;
	size_t n;
	size_t channel[GROUP]; /* of the trace */
	struct result *result[GROUP];
	struct moments moments[GROUP];
	struct sieve sieve[GROUP];
	bool open[GROUP]; /* its quantiles need another pass */
	double v[BLOCK];
};

static void moments_merge(struct moments *m, const struct moments *other)
{
	double d = other->mean - m->mean;
	uint64_t n = m->n + other->n;

	if (other->n == 0)
		return;
	m->m2 += other->m2 + d * d * ((double)m->n * (double)other->n / (double)n);
	m->mean += d * ((double)other->n / (double)n);
	m->n = n;
}

/* One block: its mean first, then the squares around it. */
static void block_moments(struct result *r, struct moments *m, const double *v, size_t n)
{
	struct moments b = {0};
	double sum = 0, squares = 0, rest = 0;

	for (size_t i = 0; i < n; i++) {
		if (v[i] != v[i])
			continue;
		sum += v[i];
		b.n++;
		if (!(v[i] >= r->min))
			r->min = v[i];
		if (!(v[i] <= r->max))
			r->max = v[i];
		if (isnan(r->first))
			r->first = v[i];
		r->last = v[i];
	}
	r->missing += n - b.n;
	if (b.n == 0)
		return;
	b.mean = sum / (double)b.n;
	for (size_t i = 0; i < n; i++)
		if (v[i] == v[i]) {
			squares += (v[i] - b.mean) * (v[i] - b.mean);
			rest += v[i] - b.mean;
		}
	b.mean += rest / (double)b.n; /* what the sum has lost */
	b.m2 = squares - rest * rest / (double)b.n;
	moments_merge(m, &b);
}

typedef void visit(struct group *g, size_t i, const double *v, size_t n);

/* Every block of every span, for the channels that want it. */
static void each_block(struct work *w, struct group *g, visit *fn)
{
	for (size_t s = 0; s < w->n_spans; s++) {
		uint64_t row = trace_row_from(w->t, g->tier, w->spans[s].from_ns);
		uint64_t end = trace_row_from(w->t, g->tier, w->spans[s].end_ns), released = row;

		while (row < end) {
			size_t n = end - row < BLOCK ? (size_t)(end - row) : BLOCK;

			for (size_t i = 0; i < g->n; i++) {
				if (!g->open[i])
					continue;
				trace_row_values(w->t, g->channel[i], row, n, g->v);
				fn(g, i, g->v, n);
			}
			row += n;
			if (row - released >= RELEASE) {
				trace_rows_done(w->t, g->tier, released, row);
				w->tick(w->to, row - released);
				released = row;
			}
		}
		w->tick(w->to, row > released ? row - released : 0);
	}
}

static void first_pass(struct group *g, size_t i, const double *v, size_t n)
{
	block_moments(g->result[i], &g->moments[i], v, n);
	sieve_add(&g->sieve[i], v, n);
}

static void next_pass(struct group *g, size_t i, const double *v, size_t n)
{
	sieve_again(&g->sieve[i], v, n);
}

static void moments_tell(struct result *r, const struct moments *m)
{
	r->n = m->n;
	if (m->n == 0)
		return;
	r->mean = fmin(fmax(m->mean, r->min), r->max);
	if (m->n > 1)
		r->sd = sqrt(fmax(m->m2, 0) / (double)(m->n - 1));
}

static int long_stretch(struct work *w, struct group *g)
{
	bool again = true, no_memory = false;

	for (size_t i = 0; i < g->n; i++)
		g->open[i] = true;
	each_block(w, g, first_pass);
	for (size_t i = 0; i < g->n; i++)
		moments_tell(g->result[i], &g->moments[i]);
	while (again) {
		again = false;
		for (size_t i = 0; i < g->n; i++) {
			g->open[i] = g->open[i] && sieve_settle(&g->sieve[i], quantiles);
			again |= g->open[i];
		}
		if (again)
			each_block(w, g, next_pass);
	}
	for (size_t i = 0; i < g->n; i++) {
		g->result[i]->p50 = g->sieve[i].aim[0].value;
		g->result[i]->p95 = g->sieve[i].aim[1].value;
		g->result[i]->p99 = g->sieve[i].aim[2].value;
		no_memory |= g->sieve[i].no_memory;
		sieve_free(&g->sieve[i]);
	}
	return no_memory ? -1 : 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* All values of one channel fit into memory. */
static void short_stretch(struct work *w, size_t channel, struct result *r, double *all)
{
	enum tier tier = trace_session(w->t)->channels[channel].tier;
	struct moments m = {0};
	size_t n = 0, kept = 0;

	for (size_t s = 0; s < w->n_spans; s++) {
		uint64_t row = trace_row_from(w->t, tier, w->spans[s].from_ns);
		size_t rows = (size_t)(trace_row_from(w->t, tier, w->spans[s].end_ns) - row);

		if (rows > 0)
			trace_row_values(w->t, channel, row, rows, all + n);
		n += rows;
	}
	block_moments(r, &m, all, n);
	moments_tell(r, &m);
	for (size_t i = 0; i < n; i++)
		if (all[i] == all[i])
			all[kept++] = all[i];
	if (kept == 0)
		return;
	qsort(all, kept, sizeof(*all), by_value);
	r->p50 = all[quantile_rank(quantiles[0], kept)];
	r->p95 = all[quantile_rank(quantiles[1], kept)];
	r->p99 = all[quantile_rank(quantiles[2], kept)];
}

static uint64_t tier_rows(const struct trace *t, enum tier tier, const struct epoch *spans, size_t n)
{
	uint64_t rows = 0;

	for (size_t s = 0; s < n; s++)
		rows += trace_row_from(t, tier, spans[s].end_ns) - trace_row_from(t, tier, spans[s].from_ns);
	return rows;
}

/* --- over time: energy, time above zero, steps --- */

struct sum {
	double value, rest;
};

static void sum_add(struct sum *s, double v)
{
	double t = s->value + v;

	s->rest += fabs(s->value) >= fabs(v) ? s->value - t + v : v - t + s->value;
	s->value = t;
}

static bool over_time(const struct channel *c)
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

static void integrate(struct work *w, size_t channel, struct result *r)
{
	const struct session *s = trace_session(w->t);
	enum tier tier = s->channels[channel].tier;
	int64_t cover = cover_ns(s, tier), t[256];
	double v[256];
	struct sum area = {0};

	r->steps = 0;
	for (size_t k = 0; k < w->n_spans; k++) {
		const struct epoch *ep = &w->spans[k];
		uint64_t row = trace_row_from(w->t, tier, ep->from_ns - cover), rows = trace_rows(w->t, tier);
		int64_t t0 = 0;
		double v0 = NAN;

		while (row < rows && (isnan(v0) || t0 < ep->to_ns)) {
			size_t n = rows - row < 256 ? (size_t)(rows - row) : 256, i;

			trace_row_times(w->t, tier, row, n, t);
			trace_row_values(w->t, channel, row, n, v);
			for (i = 0; i < n && t[i] <= ep->to_ns + cover; i++) {
				if (isnan(v[i]))
					continue;
				if (!isnan(v0) && t[i] - t0 <= cover)
					piece(r, &area, ep, t0, v0, t[i], v[i]);
				t0 = t[i];
				v0 = v[i];
			}
			if (i < n)
				break;
			row += n;
		}
	}
	r->integral = r->covered_ns > 0 ? area.value + area.rest : NAN;
}

/* --- */

static int group_make(struct work *w, struct group *g)
{
	uint64_t rows = tier_rows(w->t, g->tier, w->spans, w->n_spans);
	double *all;

	if (g->n == 0)
		return 0;
	if (rows > SHORT)
		return long_stretch(w, g);
	all = malloc(((size_t)rows + 1) * sizeof(*all));
	for (size_t i = 0; all && i < g->n; i++)
		short_stretch(w, g->channel[i], g->result[i], all);
	free(all);
	w->tick(w->to, rows);
	return all ? 0 : -1;
}

static void group_clear(struct group *g)
{
	g->n = 0;
	memset(g->moments, 0, sizeof(g->moments));
}

int stats_make(struct trace *t, const struct channels *channels, const struct epoch *spans, size_t n,
	       struct result *out, void (*tick)(void *to, uint64_t rows), void *to)
{
	const struct session *s = trace_session(t);
	struct work w = {t, spans, n, tick, to};
	struct group *g = calloc(1, sizeof(*g));
	int r = g ? 0 : -1;

	for (size_t i = 0; i < channels->n; i++)
		out[i] = (struct result) {.mean = NAN,
					  .sd = NAN,
					  .min = NAN,
					  .max = NAN,
					  .p50 = NAN,
					  .p95 = NAN,
					  .p99 = NAN,
					  .first = NAN,
					  .last = NAN,
					  .integral = NAN,
					  .steps = NAN};
	for (int tier = 0; r == 0 && tier < TIERS; tier++) {
		g->tier = (enum tier)tier;
		for (size_t i = 0; r == 0 && i < channels->n; i++) {
			const struct channel *c = &s->channels[channels->list[i]];

			if ((int)c->tier != tier)
				continue;
			g->channel[g->n] = channels->list[i];
			g->result[g->n++] = &out[i];
			if (over_time(c))
				integrate(&w, channels->list[i], &out[i]);
			if (g->n == GROUP) {
				r = group_make(&w, g);
				group_clear(g);
			}
		}
		if (r == 0)
			r = group_make(&w, g);
		if (g)
			group_clear(g);
	}
	free(g);
	return r;
}

uint64_t stats_rows(const struct trace *t, const struct channels *channels, const struct epoch *spans,
		    size_t n)
{
	const struct session *s = trace_session(t);
	size_t wide[TIERS] = {0};
	uint64_t rows = 0;

	for (size_t i = 0; i < channels->n; i++)
		wide[s->channels[channels->list[i]].tier]++;
	for (int tier = 0; tier < TIERS; tier++)
		rows += (wide[tier] + GROUP - 1) / GROUP * tier_rows(t, (enum tier)tier, spans, n);
	return rows;
}
