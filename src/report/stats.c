/* Statistics of a span are joined from those that the log stores for its blocks.  Quantiles and
 * what needs each reading come from one pass over the rows of all channels, in windows of time,
 * each a cell of the log, so that each chunk is decoded once. */
#include "report/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK	  2048
#define BINS	  4096

/* A channel while rows go by. */
struct column {
	size_t channel; /* of the trace */
	struct result *result;
	struct flow flow;
	bool flows;
	double *all; /* up to QUANTILES_EXACT samples */
	uint64_t n;  /* in all, or in bins */
	uint64_t *bins;
	double scale;
};

struct work {
	struct trace *t;
	struct column *columns;
	size_t n;
	uint64_t row[TIERS]; /* the next one to pass */
	void (*tick)(void *to, uint64_t rows);
	void *to;
};

uint64_t quantile_rank(double q, uint64_t n)
{
	double rank = ceil(q * (double)n - 1e-9);

	return rank < 1 ? 0 : rank > (double)n ? n - 1 : (uint64_t)rank - 1;
}

/* --- what the log has added up --- */

static void join(struct result *r, double *squares, double *sum, const struct log_stat *s)
{
	double apart;

	if (s->n == 0)
		return;
	if (r->n == 0) {
		r->min = s->min;
		r->max = s->max;
		r->first = s->first;
	} else {
		apart = s->sum / (double)s->n - *sum / (double)r->n;
		*squares += apart * apart * ((double)r->n * (double)s->n / (double)(r->n + s->n));
		r->min = s->min < r->min ? s->min : r->min;
		r->max = s->max > r->max ? s->max : r->max;
	}
	*squares += s->squares;
	*sum += s->sum;
	r->n += s->n;
	r->last = s->last;
}

static uint64_t rows_of(const struct trace *t, enum tier tier, const struct epoch *ep)
{
	uint64_t row = trace_row_from(t, tier, ep->from_ns), end = trace_row_from(t, tier, ep->end_ns);

	return end > row ? end - row : 0;
}

static void stored(struct work *w, struct column *c, const struct epoch *spans, size_t n)
{
	enum tier tier = trace_session(w->t)->channels[c->channel].tier;
	struct result *r = c->result;
	double squares = 0, sum = 0;
	uint64_t rows = 0;

	for (size_t i = 0; i < n; i++) {
		struct log_stat s;

		trace_stat(w->t, c->channel, spans[i].from_ns, spans[i].end_ns, &s);
		join(r, &squares, &sum, &s);
		rows += rows_of(w->t, tier, &spans[i]);
	}
	r->missing = rows - r->n;
	if (r->n > 0)
		r->mean = fmin(fmax(sum / (double)r->n, r->min), r->max);
	if (r->n > 1)
		r->sd = sqrt(fmax(squares, 0) / (double)(r->n - 1));
}

/* --- quantiles --- */

static int quantiles_begin(struct column *c)
{
	const struct result *r = c->result;

	if (r->n == 0 || !(r->min < r->max))
		return 0;
	if (r->n <= QUANTILES_EXACT) {
		c->all = malloc((size_t)r->n * sizeof(*c->all));
		return c->all ? 0 : -1;
	}
	c->scale = BINS / (r->max - r->min);
	c->bins = calloc(BINS, sizeof(*c->bins));
	return c->bins ? 0 : -1;
}

static void quantiles_add(struct column *c, const double *v, size_t n)
{
	const struct result *r = c->result;

	for (size_t i = 0; c->all && i < n; i++)
		if (v[i] == v[i] && c->n < r->n)
			c->all[c->n++] = v[i];
	for (size_t i = 0; c->bins && i < n; i++) {
		double at = (v[i] - r->min) * c->scale;

		if (!(at >= 0)) /* NaN too */
			continue;
		c->bins[at < BINS ? (size_t)at : BINS - 1]++;
		c->n++;
	}
}

/* Put the value of that rank in its place, smaller ones before it, larger ones behind it. */
static double select_rank(double *v, size_t n, size_t rank)
{
	size_t lo = 0, hi = n - 1;

	while (lo < hi) {
		double pivot = v[lo + (hi - lo) / 2];
		size_t i = lo, j = hi;

		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j) {
				double swap = v[i];

				v[i++] = v[j];
				v[j] = swap;
				if (j-- == 0)
					break;
			}
		}
		if (j + 1 <= rank && rank < i)
			break;
		if (rank <= j && j < n)
			hi = j;
		else
			lo = i;
	}
	return v[rank];
}

static double quantile(const struct column *c, double q)
{
	const struct result *r = c->result;
	uint64_t rank = c->n > 0 ? quantile_rank(q, c->n) : 0;
	size_t i = 0;

	if (c->all)
		return c->n > 0 ? select_rank(c->all, (size_t)c->n, (size_t)rank) : (double)NAN;
	if (!c->bins)
		return r->n > 0 ? r->min : (double)NAN; /* all are equal */
	while (i < BINS - 1 && rank >= c->bins[i])
		rank -= c->bins[i++];
	return fmin(r->max, r->min + ((double)i + ((double)rank + 0.5) / (double)c->bins[i]) / c->scale);
}

static void quantiles_end(struct column *c)
{
	c->result->p50 = quantile(c, 0.50);
	c->result->p95 = quantile(c, 0.95);
	c->result->p99 = quantile(c, 0.99);
	free(c->all);
	free(c->bins);
}

/* --- the pass --- */

/* The rows of the span among n rows from `row` on. */
static void within_span(uint64_t row, size_t n, uint64_t from, uint64_t end, size_t *lo, size_t *hi)
{
	*lo = from > row ? (size_t)(from - row < n ? from - row : n) : 0;
	*hi = end > row ? (size_t)(end - row < n ? end - row : n) : 0;
	if (*hi < *lo)
		*hi = *lo;
}

/* Rows of a tier before `until`; from and end: of the span. */
static void pass_rows(struct work *w, enum tier tier, const struct epoch *ep, uint64_t until, uint64_t from,
		      uint64_t end)
{
	const struct session *s = trace_session(w->t);
	int64_t at[BLOCK];
	double v[BLOCK];
	size_t lo, hi;

	while (w->row[tier] < until) {
		uint64_t row = w->row[tier];
		size_t n = until - row < BLOCK ? (size_t)(until - row) : BLOCK;

		trace_row_times(w->t, tier, row, n, at);
		within_span(row, n, from, end, &lo, &hi);
		for (size_t i = 0; i < w->n; i++) {
			struct column *c = &w->columns[i];

			if (s->channels[c->channel].tier != tier || (!c->flows && !c->all && !c->bins))
				continue;
			trace_row_values(w->t, c->channel, row, n, v);
			if (c->flows)
				flow_rows(&c->flow, ep, at, v, n);
			quantiles_add(c, v + lo, hi - lo);
		}
		w->row[tier] += n;
		w->tick(w->to, hi - lo);
	}
}

/* The end of the cell with the next row; INT64_MIN: no row is left. */
static int64_t next_cell(const struct work *w, const uint64_t last[TIERS])
{
	int64_t first = INT64_MAX, t_ns;

	for (enum tier t = 0; t < TIERS; t++) {
		if (w->row[t] >= last[t])
			continue;
		trace_row_times(w->t, t, w->row[t], 1, &t_ns);
		first = t_ns < first ? t_ns : first;
	}
	if (first == INT64_MAX)
		return INT64_MIN;
	return log_cell(first) + 1 < LOG_CELL_LIMIT ? (log_cell(first) + 1) << LOG_CELL_ZOOM : INT64_MAX;
}

static void pass_span(struct work *w, const struct epoch *ep)
{
	uint64_t first[TIERS], from[TIERS], end[TIERS], last[TIERS];
	int64_t at;

	for (size_t i = 0; i < w->n; i++)
		flow_break(&w->columns[i].flow);
	for (enum tier t = 0; t < TIERS; t++) {
		int64_t hole = cover_ns(trace_session(w->t), t);

		from[t] = trace_row_from(w->t, t, ep->from_ns);
		end[t] = trace_row_from(w->t, t, ep->end_ns);
		first[t] = trace_row_from(w->t, t, ep->from_ns - hole);
		first[t] = first[t] < from[t] || from[t] == 0 ? first[t] : from[t] - 1;
		last[t] = trace_row_from(w->t, t, ep->to_ns + hole + 1) + 1;
		last[t] = last[t] < trace_rows(w->t, t) ? last[t] : trace_rows(w->t, t);
		w->row[t] = first[t];
	}
	while ((at = next_cell(w, last)) > INT64_MIN) {
		for (enum tier t = 0; t < TIERS; t++) {
			uint64_t until = at > ep->to_ns ? last[t] : trace_row_from(w->t, t, at);

			pass_rows(w, t, ep, until < last[t] ? until : last[t], from[t], end[t]);
		}
	}
}

/* The level of a counter depends on when it began: only its rise is reported. */
static void drop_level(struct result *r)
{
	r->mean = r->sd = r->p50 = r->p95 = r->p99 = (double)NAN;
}

int stats_make(struct trace *t, const struct channels *channels, const struct epoch *spans, size_t n,
	       struct result *out, void (*tick)(void *to, uint64_t rows), void *to)
{
	struct work w = {.t = t, .n = channels->n, .tick = tick, .to = to};
	const struct session *s = trace_session(t);
	const double none = (double)NAN;
	bool pass = false, no_memory;

	w.columns = calloc(channels->n + 1, sizeof(*w.columns));
	no_memory = !w.columns;
	for (size_t i = 0; i < channels->n && w.columns; i++) {
		struct column *c = &w.columns[i];

		out[i] = (struct result) {.mean = none,
					  .sd = none,
					  .min = none,
					  .max = none,
					  .first = none,
					  .last = none,
					  .integral = none,
					  .within = none,
					  .steps = none,
					  .counted = none};
		c->channel = channels->list[i];
		c->result = &out[i];
		flow_begin(&c->flow, s, &s->channels[c->channel]);
		c->flows = flow_wanted(&c->flow);
		stored(&w, c, spans, n);
		no_memory |= quantiles_begin(c) < 0;
		pass |= c->flows || c->all || c->bins;
	}
	for (size_t i = 0; i < n && pass && !no_memory; i++)
		pass_span(&w, &spans[i]);
	for (size_t i = 0; i < channels->n && w.columns; i++) {
		quantiles_end(&w.columns[i]);
		flow_end(&w.columns[i].flow, &out[i]);
		if (channel_counts(&s->channels[w.columns[i].channel]))
			drop_level(&out[i]);
	}
	free(w.columns);
	return no_memory ? -1 : 0;
}

uint64_t stats_rows(const struct trace *t, const struct channels *channels, const struct epoch *spans, size_t n)
{
	const struct session *s = trace_session(t);
	bool used[TIERS] = {false};
	uint64_t rows = 0;

	for (size_t i = 0; i < channels->n; i++)
		used[s->channels[channels->list[i]].tier] = true;
	for (enum tier tier = 0; tier < TIERS; tier++)
		for (size_t i = 0; used[tier] && i < n; i++)
			rows += rows_of(t, tier, &spans[i]);
	return rows;
}
