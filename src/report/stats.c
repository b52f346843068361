/* Statistics of a span, how long a state lasted and by how much a count rose are joined from those stored in the log for
 * each block. Quantiles, and means of what is counted, need one pass over the rows of all channels; the sums of the whole
 * recording come from the same pass as those of the phases, and its quantiles are joined from theirs. Energy is read on
 * its own, as its readings reach beyond the spans, but in step with the pass: what one has unpacked is there for the other. */
#include "report/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log-lod.h"

#define BLOCK 1024 /* rows per read, if a chunk has so many */
#define STEP  (2 * NS_PER_S) /* how far energy may stay behind the rows */

/* State of a channel during the pass. */
struct column {
	const struct channel *about;
	struct result *result;
	bool counted;	 /* values are differences of counters since the row before */
	int64_t row_ns;	 /* of the row before; INT64_MIN: none in this span */
	struct sum busy; /* of what is counted: percent times ns, */
	double passed;	 /* and these ns */
	double *all; /* up to QUANTILES_EXACT samples */
	size_t n;
	struct histogram bins; /* for any number of samples */
	const struct energy_source *source; /* of power */
	struct energy_walk walk;
};

struct stats {
	struct trace *t;
	struct column *columns;
	const size_t *channels;
	size_t n, n_spans;
	const struct epoch *spans;
	/* The current span. */
	const struct epoch *span;
	uint64_t from[TIERS], end[TIERS];  /* rows in the span */
	uint64_t next[TIERS], last[TIERS]; /* and one on each side */
};

/* True if each value is the difference of counters since the previous reading. Its mean over time is then
 * the difference of the counters over the whole range, even with late ticks. */
static bool is_counted(const struct session *s, const struct channel *c)
{
	const char *by = fact_get(s->facts, s->n_facts, "cpu.source"), *end = strrchr(c->source, '/');

	if (c->kind == CHANNEL_GPU_UTIL)
		return end && !strcmp(end, "/counters");
	return (c->kind == CHANNEL_CPU_UTIL || c->kind == CHANNEL_CORE_UTIL) && by && !strncmp(by, "perf", 4);
}

/* Were there rows of the tier in this time that are lost? */
static bool rows_lost(struct trace *t, enum tier tier, int64_t from_ns, int64_t to_ns)
{
	size_t n, i = trace_gap_from(t, from_ns + 1);
	const struct gap *g = trace_gaps(t, &n);

	while (i < n && (g[i].tier != tier || g[i].cause == GAP_LATE) && g[i].from_ns < to_ns)
		i++;
	return i < n && g[i].from_ns < to_ns;
}

/* Adds rows of what is counted, from the one before the span to the first one after it. After rows that were lost, a value
 * is not that of the time since the row before. */
static void flow_rows(struct trace *t, struct column *c, const struct epoch *ep, const int64_t *at, const double *v, size_t n)
{
	const int64_t hole_ns = stats_hole_ns(trace_session(t)->hz[c->about->tier]);

	for (size_t i = 0; i < n; c->row_ns = at[i++]) {
		int64_t from = c->row_ns > ep->from_ns ? c->row_ns : ep->from_ns, to = at[i] < ep->to_ns ? at[i] : ep->to_ns;

		if (isnan(v[i]) || to <= from || (to - from > hole_ns && rows_lost(t, c->about->tier, from, to)))
			continue;
		sum_add(&c->busy, v[i] * (double)(to - from));
		c->passed += (double)(to - from);
	}
}

uint64_t quantile_rank(double q, uint64_t n)
{
	double rank = ceil(q * (double)n - 1e-9);

	return rank < 1 ? 0 : rank > (double)n ? n - 1 : (uint64_t)rank - 1;
}

static uint64_t rows_of(const struct trace *t, enum tier tier, const struct epoch *ep)
{
	uint64_t row = trace_row_from(t, tier, ep->from_ns), end = trace_row_from(t, tier, ep->end_ns);

	return end > row ? end - row : 0;
}

static void stored(const struct stats *st, size_t channel, struct result *r)
{
	const struct channel *c = &trace_session(st->t)->channels[channel];
	struct timeline *line = trace_timeline(st->t);
	struct span_stats all = {.n = 0}, s;
	uint64_t rows = 0;
	double rise = 0;

	for (size_t i = 0; i < st->n_spans; i++) {
		const struct epoch *ep = &st->spans[i];

		if (c->kind == CHANNEL_THROTTLE || channel_counts(c))
			line->ops->stat(line, channel, ep->from_ns, ep->end_ns, &s);
		else
			trace_stat(st->t, channel, ep->from_ns, ep->end_ns, &s);
		span_stats_join(&all, &s, 0);
		rows += rows_of(st->t, c->tier, ep);
		rise += s.rise;
		if (c->kind != CHANNEL_THROTTLE)
			continue;
		r->energy.known_s += (double)s.known_ns / 1e9;
		r->above_ns += (int64_t)s.above_ns;
	}
	if (channel_counts(c))
		r->steps = rise;
	r->n = all.n;
	r->missing = rows - r->n;
	if (r->n == 0)
		return;
	r->min = all.min;
	r->max = all.max;
	r->first = all.first;
	r->last = all.last;
	r->mean = fmin(fmax(all.sum / (double)r->n, r->min), r->max);
	if (r->n > 1)
		r->sd = sqrt(fmax(all.squares, 0) / (double)(r->n - 1));
}

static int quantiles_begin(struct column *c)
{
	const struct result *r = c->result;

	if (r->n == 0 || !(r->min < r->max) || channel_counts(c->about))
		return 0;
	if (r->n <= QUANTILES_EXACT) {
		c->all = malloc((size_t)r->n * sizeof(*c->all));
		if (!c->all)
			return -1;
	}
	return histogram_init(&c->bins, r->min, r->max);
}

/* Appends samples to those kept. */
static void quantiles_add(struct column *c, const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == v[i] && c->n < c->result->n)
			c->all[c->n++] = v[i];
}

/* Adds the samples of a part to those of the whole. */
static void quantiles_join(struct column *to, const struct column *part)
{
	const struct result *r = part->result;

	if (to->all && part->all)
		quantiles_add(to, part->all, part->n);
	else if (to->all)
		for (uint64_t i = 0; i < r->n; i++)
			quantiles_add(to, &r->min, 1);
	else if (to->bins.bins && part->all)
		histogram_add(&to->bins, part->all, part->n);
	else if (to->bins.bins && part->bins.bins)
		histogram_join(&to->bins, &part->bins);
	else if (to->bins.bins)
		histogram_repeat(&to->bins, r->min, r->n);
}

static int by_value(const void *a, const void *b)
{
	const double *v = a, *w = b;

	return (*v > *w) - (*v < *w);
}

/* Of the kept samples, only those in the bin of the quantile are sorted. */
static double quantile(const struct column *c, double q, uint64_t n)
{
	uint64_t rank = quantile_rank(q, n);
	size_t bin = histogram_find(&c->bins, &rank), m = 0;
	bool equal = true;

	if (!c->all)
		return histogram_value(&c->bins, bin, rank);
	for (size_t i = 0; i < c->n; i++) {
		double v = c->all[i];

		if (histogram_bin(&c->bins, v) != bin)
			continue;
		c->all[i] = c->all[m];
		c->all[m++] = v;
		equal &= v == c->all[0];
	}
	if (!equal)
		qsort(c->all, m, sizeof(*c->all), by_value);
	return c->all[rank];
}

static void quantiles_end(struct column *c)
{
	struct result *r = c->result;
	uint64_t n;

	if (c->all)
		histogram_add(&c->bins, c->all, c->n);
	n = c->bins.bins ? histogram_count(&c->bins) : 0;
#define SET_QUANTILE(name, q) \
	if ((q) > 0) \
		r->name = n > 0 ? quantile(c, q, n) : c->bins.bins || r->n == 0 ? (double)NAN : r->min;
	STATISTICS(SET_QUANTILE)
}

/* The rows of a tier being read. */
struct block {
	uint64_t row;
	size_t n, n_channels;
	size_t *at, *channels; /* columns of the statistics, and their channels */
	double **values;       /* of each column */
	int64_t t_ns[BLOCK];
	double *room;
};

static void energy_step(struct stats *st, int64_t to_ns)
{
	for (size_t i = 0; st && i < st->n; i++)
		if (st->columns[i].source && to_ns < st->span->to_ns)
			energy_walk(&st->columns[i].walk, st->columns[i].source, trace_timeline(st->t), to_ns);
}

/* Adds the joules of the current span, if there is one. */
static void energy_end(const struct stats *st)
{
	for (size_t i = 0; st->span && i < st->n; i++) {
		struct column *c = &st->columns[i];
		struct energy_result *all = &c->result->energy, one = {.known_s = 0};

		if (c->source)
			one = energy_walk(&c->walk, c->source, trace_timeline(st->t), st->span->to_ns);
		if (one.known_s <= 0)
			continue;
		all->joules = all->known_s > 0 ? all->joules + one.joules : one.joules;
		all->within = all->known_s > 0 ? hypot(all->within, one.within) : one.within;
		all->known_s += one.known_s;
	}
}

static void span_begin(struct stats *st, const struct epoch *ep)
{
	energy_end(st);
	st->span = ep;
	for (size_t i = 0; i < st->n; i++) {
		st->columns[i].row_ns = INT64_MIN;
		st->columns[i].walk = (struct energy_walk) {.sum = {.from_ns = ep->from_ns, .to_ns = ep->to_ns}, .part.to_ns = ep->from_ns};
	}
	for (enum tier t = 0; t < TIERS; t++) {
		uint64_t rows = trace_rows(st->t, t);

		st->from[t] = trace_row_from(st->t, t, ep->from_ns);
		st->end[t] = trace_row_from(st->t, t, ep->end_ns);
		st->next[t] = st->from[t] - (st->from[t] > 0);
		st->last[t] = trace_row_from(st->t, t, ep->to_ns) + 1;
		st->last[t] = st->last[t] < rows ? st->last[t] : rows;
	}
}

/* Skips rows that were already added; *n is the number of new rows from the result on. */
static uint64_t rows_new(struct stats *st, enum tier tier, const struct block *b, size_t *n)
{
	uint64_t end = b->row + b->n < st->last[tier] ? b->row + b->n : st->last[tier];
	uint64_t from = b->row > st->next[tier] ? b->row : st->next[tier];

	*n = from < end ? (size_t)(end - from) : 0;
	if (*n > 0)
		st->next[tier] = end;
	return from;
}

static void block_flow(struct stats *st, enum tier tier, const struct block *b)
{
	size_t n, at = (size_t)(rows_new(st, tier, b, &n) - b->row);

	for (size_t i = 0; n > 0 && i < b->n_channels; i++)
		if (st->columns[b->at[i]].counted)
			flow_rows(st->t, &st->columns[b->at[i]], st->span, b->t_ns + at, b->values[i] + at, n);
}

static void block_add(struct stats *st, enum tier tier, const struct block *b)
{
	uint64_t lo = st->from[tier] > b->row ? st->from[tier] : b->row;
	uint64_t hi = st->end[tier] < b->row + b->n ? st->end[tier] : b->row + b->n;

	block_flow(st, tier, b);
	if (lo >= hi)
		return;
	for (size_t i = 0; i < b->n_channels; i++) {
		struct column *c = &st->columns[b->at[i]];

		if (c->all)
			quantiles_add(c, b->values[i] + (lo - b->row), (size_t)(hi - lo));
		else if (c->bins.bins)
			histogram_add(&c->bins, b->values[i] + (lo - b->row), (size_t)(hi - lo));
	}
}

static bool block_read(const struct stats *st, enum tier tier, struct block *b)
{
	uint64_t row = b->row + b->n, left = st->last[tier] > row ? st->last[tier] - row : 0;

	b->row = row;
	b->n = 0;
	if (left > 0 && b->n_channels > 0)
		b->n = trace_read(st->t, tier, row, left < BLOCK ? (size_t)left : BLOCK, b->t_ns, b->channels,
				  b->n_channels, b->values);
	return b->n > 0;
}

/* Tiers advance together in time order, so that each chunk is decoded once. */
static void pass_span(struct stats *part, struct stats *whole, struct block *blocks,
		      void (*tick)(void *to, int64_t ns), void *to)
{
	int64_t done_ns = part->span->from_ns;

	for (enum tier t = 0; t < TIERS; t++) {
		blocks[t].row = part->next[t];
		blocks[t].n = 0;
		block_read(part, t, &blocks[t]);
	}
	for (;;) {
		enum tier first = TIERS;

		for (enum tier t = 0; t < TIERS; t++)
			if (blocks[t].n > 0 && (first == TIERS || blocks[t].t_ns[0] < blocks[first].t_ns[0]))
				first = t;
		if (first == TIERS)
			return;
		block_add(part, first, &blocks[first]);
		if (whole)
			block_flow(whole, first, &blocks[first]);
		if (blocks[first].t_ns[0] > done_ns + STEP) {
			tick(to, blocks[first].t_ns[0] - done_ns);
			done_ns = blocks[first].t_ns[0];
			energy_step(part, done_ns);
			energy_step(whole, done_ns);
		}
		block_read(part, first, &blocks[first]);
	}
}

static int block_init(struct block *b, struct stats *st, enum tier tier)
{
	b->at = calloc(st->n + 1, sizeof(*b->at));
	b->channels = calloc(st->n + 1, sizeof(*b->channels));
	b->values = calloc(st->n + 1, sizeof(double *));
	b->room = malloc((st->n * BLOCK + 1) * sizeof(*b->room));
	if (!b->at || !b->channels || !b->values || !b->room)
		return -1;
	for (size_t i = 0; i < st->n; i++) {
		struct column *c = &st->columns[i];

		if (c->about->tier != tier || !(c->counted || c->all || c->bins.bins))
			continue;
		b->values[b->n_channels] = b->room + b->n_channels * BLOCK;
		b->at[b->n_channels] = i;
		b->channels[b->n_channels++] = st->channels[i];
	}
	return 0;
}

static void block_free(struct block *b)
{
	free(b->at);
	free(b->channels);
	free(b->values);
	free(b->room);
}

static int stats_pass(struct stats *part, struct stats *whole, void (*tick)(void *to, int64_t ns),
		      void *to)
{
	struct block *blocks = calloc(TIERS, sizeof(*blocks));
	int r = blocks ? 0 : -1;

	for (enum tier t = 0; r == 0 && t < TIERS; t++)
		r = block_init(&blocks[t], part, t);
	for (size_t i = 0; r == 0 && i < part->n_spans; i++) {
		const struct epoch *ep = &part->spans[i];

		span_begin(part, ep);
		for (size_t k = 0; whole && k < whole->n_spans; k++)
			if (whole->spans[k].from_ns == ep->from_ns)
				span_begin(whole, &whole->spans[k]);
		pass_span(part, whole, blocks, tick, to);
	}
	for (enum tier t = 0; blocks && t < TIERS; t++)
		block_free(&blocks[t]);
	free(blocks);
	for (size_t i = 0; r == 0 && whole && i < whole->n; i++)
		quantiles_join(&whole->columns[i], &part->columns[i]);
	return r;
}

static int column_begin(struct stats *st, size_t i, struct result *r)
{
	const struct session *s = trace_session(st->t);
	struct column *c = &st->columns[i];
	const double none = (double)NAN;

	*r = (struct result) {.mean = none,
			      .sd = none,
			      .min = none,
			      .max = none,
			      .first = none,
			      .last = none,
			      .energy = {none, none, 0, NULL},
			      .steps = none,
			      .counted = none};
	c->result = r;
	c->about = &s->channels[st->channels[i]];
	c->counted = is_counted(s, c->about);
	if (c->about->unit == UNIT_MILLIWATT && !c->about->missing[0])
		c->source = trace_source(st->t, st->channels[i]);
	stored(st, st->channels[i], r);
	return quantiles_begin(c);
}

struct stats *stats_begin(struct trace *t, const struct channels *channels, const struct epoch *spans,
			  size_t n, struct result *out)
{
	struct stats *st = calloc(1, sizeof(*st));

	if (!st)
		return NULL;
	*st = (struct stats) {
		.t = t, .channels = channels->list, .n = channels->n, .spans = spans, .n_spans = n};
	st->columns = calloc(st->n + 1, sizeof(*st->columns));
	if (!st->columns) {
		free(st);
		return NULL;
	}
	for (size_t i = 0; i < st->n; i++) {
		if (column_begin(st, i, &out[i]) == 0)
			continue;
		stats_free(st);
		return NULL;
	}
	return st;
}

/* The level of a counter depends on when it started, so only its increase is reported. */
static void drop_level(struct result *r)
{
#define DROP_QUANTILE(name, q) \
	if ((q) > 0) \
		r->name = (double)NAN;
	STATISTICS(DROP_QUANTILE)
	r->mean = r->sd = (double)NAN;
}

void stats_end(struct stats *st)
{
	energy_end(st);
	for (size_t i = 0; i < st->n; i++) {
		struct column *c = &st->columns[i];

		quantiles_end(c);
		if (c->passed > 0)
			c->result->counted = sum_get(&c->busy) / c->passed;
		if (channel_counts(c->about))
			drop_level(c->result);
	}
	stats_free(st);
}

void stats_free(struct stats *st)
{
	for (size_t i = 0; st && i < st->n; i++) {
		free(st->columns[i].all);
		histogram_free(&st->columns[i].bins);
	}
	if (st)
		free(st->columns);
	free(st);
}

int stats_make(struct trace *t, const struct channels *channels, const struct epoch *spans, size_t n,
	       struct stats *whole, struct result *out, void (*tick)(void *to, int64_t ns), void *to)
{
	struct stats *st = stats_begin(t, channels, spans, n, out);

	if (st && stats_pass(st, whole, tick, to) == 0) {
		stats_end(st);
		return 0;
	}
	stats_free(st);
	return -1;
}
