/* A log as a timeline: what a screen draws of it, and the joules and durations that are told of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/energy.h"
#include "model/states.h"
#include "trace/log-read.h"

static struct trace *timeline_log(struct timeline *t)
{
	return (struct trace *)t;
}

static const struct session *timeline_session(struct timeline *t)
{
	return &timeline_log(t)->session;
}

static bool timeline_extent(struct timeline *t, int64_t *first_ns, int64_t *last_ns)
{
	return trace_extent(timeline_log(t), first_ns, last_ns);
}

#define COLUMNS 64 /* read at once where the rows are gone */

/* Where the rows are gone, the mean of the newest column that is not empty and begins at or before t_ns. */
static double timeline_value(struct timeline *t, size_t channel, int64_t t_ns, int64_t *at_ns)
{
	struct trace *r = timeline_log(t);
	int64_t row_ns;
	uint64_t row;
	double v;

	if (channel >= r->session.n_channels)
		return NAN;
	if (t_ns < r->rows_from_ns) {
		int zoom = log_finest(t, channel, t_ns), i = COLUMNS - 1;
		int64_t first = (t_ns >> zoom) - i, end_ns;
		struct bin b[COLUMNS];

		log_columns(t, channel, zoom, first, COLUMNS, b);
		while (i > 0 && b[i].n == 0)
			i--;
		end_ns = ((first + i + 1) << zoom) - 1;
		if (at_ns && b[i].n > 0)
			*at_ns = end_ns < t_ns ? end_ns : t_ns;
		return b[i].n > 0 ? b[i].sum / (double)b[i].n : NAN;
	}
	row = t_ns == INT64_MAX ? r->rows[r->channels[channel].tier] : trace_row_from(r, r->channels[channel].tier, t_ns + 1);
	if (row == 0)
		return NAN;
	trace_read(r, r->channels[channel].tier, row - 1, 1, &row_ns, &channel, 1, &(double *) {&v});
	if (at_ns)
		*at_ns = row_ns;
	return v;
}

static int64_t row_ns(struct trace *r, enum tier tier, uint64_t row)
{
	int64_t ns;

	trace_row_times(r, tier, row, 1, &ns);
	return ns;
}

/* Where the rows are gone, they were a period apart. */
static int64_t timeline_step(struct timeline *t, enum tier tier, int64_t t_ns, int n)
{
	struct trace *r = timeline_log(t);
	uint64_t rows = r->rows[tier], row = trace_row_from(r, tier, t_ns + (n > 0 && t_ns < INT64_MAX)), far = (uint64_t)llabs(n);

	if (r->rows_from_ns > INT64_MIN && r->session.hz[tier] > 0) {
		uint64_t first = trace_row_from(r, tier, r->rows_from_ns);
		bool gone = t_ns < r->rows_from_ns;

		if (gone || (n < 0 && row < first + far)) {
			n += gone ? 0 : (int)(row - first);
			t_ns = (gone ? t_ns : row_ns(r, tier, first)) + n * llround((double)NS_PER_S / r->session.hz[tier]);
			return t_ns < r->first_ns ? r->first_ns : t_ns > r->last_ns ? r->last_ns : t_ns;
		}
	}
	if (rows == 0)
		return t_ns;
	row = n > 0 ? row + far - 1 : row > far ? row - far : 0;
	return row_ns(r, tier, row < rows ? row : rows - 1);
}

static size_t timeline_marks(struct timeline *t, int64_t from_ns, int64_t to_ns, struct mark *out, size_t max)
{
	const struct log_events *l = &timeline_log(t)->events[EVENTS_MARK];

	return marks_between(l->p, l->n, from_ns, to_ns, out, max);
}

size_t trace_gap_from(const struct trace *r, int64_t from_ns)
{
	const struct log_events *l = &r->events[EVENTS_GAP];

	return times_from(l->reach, l->n, sizeof(*l->reach), 0, from_ns);
}

static size_t timeline_gaps(struct timeline *t, int64_t from_ns, int64_t to_ns, struct gap *out, size_t max)
{
	const struct log_events *l = &timeline_log(t)->events[EVENTS_GAP];
	const struct gap *g = l->p;
	size_t n = 0;

	for (size_t i = trace_gap_from(timeline_log(t), from_ns); i < l->n && g[i].from_ns < to_ns && n < max; i++)
		if (g[i].to_ns >= from_ns && gap_is_hole(&g[i]))
			out[n++] = g[i];
	return n;
}

static bool timeline_reason(struct timeline *t, const char *name, int64_t t_ns, struct change *out)
{
	const struct log_events *l = &timeline_log(t)->events[EVENTS_REASON];

	return reason_before(l->p, l->n, name, t_ns, out);
}

static size_t timeline_states(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct state_event *out,
			      size_t max)
{
	const struct log_events *l = &timeline_log(t)->events[EVENTS_STATE];

	return states_between(l->p, l->reach, l->n, channel, from_ns, to_ns, out, max);
}

static size_t timeline_changes(struct timeline *t, int64_t from_ns, int64_t to_ns, struct change *out, size_t max)
{
	const struct log_events *l = &timeline_log(t)->events[EVENTS_CHANGE];

	return changes_between(l->p, l->n, from_ns, to_ns, out, max);
}

/* Where the rows are gone, of the bins of one zoom. */
static size_t columns_as_rows(struct timeline *t, int64_t *from_ns, int64_t to_ns, const size_t *channels, size_t n, size_t most,
			      int64_t *t_ns, double *const *values, int64_t *column_ns)
{
	struct trace *r = timeline_log(t);
	int zoom = log_finest(t, channels[0], *from_ns);
	int64_t first = *from_ns >> zoom;
	struct bin b[COLUMNS];
	size_t got = 0;

	*column_ns = INT64_C(1) << zoom;
	to_ns = to_ns < r->last_ns ? to_ns : r->last_ns;
	while (got < most && got < COLUMNS && *from_ns < r->rows_from_ns && log_finest(t, channels[0], *from_ns) == zoom &&
	       (*from_ns | (*column_ns - 1)) < to_ns)
		t_ns[got++] = *from_ns = (*from_ns | (*column_ns - 1)) + 1;
	for (size_t i = 0; i < n; i++) {
		log_columns(t, channels[i], zoom, first, got, b);
		for (size_t k = 0; k < got; k++)
			values[i][k] = b[k].n ? b[k].sum / (double)b[k].n : NAN;
	}
	return got;
}

static size_t timeline_rows(struct timeline *t, enum tier tier, int64_t *from_ns, int64_t to_ns, const size_t *channels, size_t n,
			    size_t most, int64_t *t_ns, double *const *values, int64_t *column_ns)
{
	struct trace *r = timeline_log(t);
	uint64_t row, end;
	size_t got = 0;

	*column_ns = 0;
	if (!r->any)
		return 0;
	*from_ns = *from_ns < r->first_ns ? r->first_ns : *from_ns;
	if (*from_ns < r->rows_from_ns)
		return columns_as_rows(t, from_ns, to_ns, channels, n, most, t_ns, values, column_ns);
	row = trace_row_from(r, tier, *from_ns);
	end = trace_row_from(r, tier, to_ns);
	if (row < end)
		got = trace_read(r, tier, row, end - row < most ? (size_t)(end - row) : most, t_ns, channels, n, values);
	/* What has no more rows is not looked through again. */
	*from_ns = got == end - row ? to_ns : got > 0 ? t_ns[got - 1] + 1 : *from_ns;
	return got;
}

/* --- joules --- */

const struct energy_source *trace_source(struct trace *r, size_t channel)
{
	const struct energy_source *found;

	pthread_mutex_lock(&r->energy_lock);
	if (!r->sources)
		r->sources = calloc(r->session.n_channels, sizeof(*r->sources));
	if (r->sources && r->sources[channel].tick_ns == 0)
		energy_source_read(&r->sources[channel], &r->timeline, channel);
	found = r->sources ? &r->sources[channel] : NULL;
	pthread_mutex_unlock(&r->energy_lock);
	return found;
}

/* What the rows of a group add to the joules of a channel. It is made for all channels that are alike, because each needs the
 * same rows, and kept. */
static bool timeline_energy_part(struct timeline *t, const struct energy_source *s, int64_t from_ns, int64_t to_ns,
				 struct energy_part *out)
{
	struct trace *r = timeline_log(t);
	struct log_cache *cache = &r->caches[LOG_STRIPS];
	int64_t span = log_span(log_cell(from_ns - 1), 1) + 1, begin_ns, end_ns, of_row = INT64_MIN;
	struct energy_part *parts;
	bool whole, found = false;
	struct log_block *b;
	uint64_t row, key;
	size_t n = 0;

	pthread_mutex_lock(&r->lock);
	row = log_rows_before(r, s->tier, log_span_cell(span, 1));
	if (row < r->rows[s->tier])
		of_row = log_span(log_group_of_row(r, s->tier, row), 1);
	span = of_row > span ? of_row : span;
	key = log_span_key(span, SPAN_PARTS, s->tier);
	begin_ns = log_cell_ns(log_span_cell(span, 1));
	end_ns = log_cell_ns(log_span_cell(span + 1, 1));
	whole = of_row > INT64_MIN && end_ns <= to_ns;
	b = whole ? log_cache_find(cache, key) : NULL;
	for (uint32_t i = 0; b && i < b->n && !found; i++) {
		memcpy(out, b->records + i * sizeof(*out), sizeof(*out));
		found = out->power == s->power && out->counts == s->counts && out->window_ns == s->window_ns;
	}
	pthread_mutex_unlock(&r->lock);
	parts = whole && !found ? calloc(r->session.n_channels, sizeof(*parts)) : NULL;
	if (!parts)
		return found;
	for (size_t i = 0; i < r->session.n_channels; i++) {
		const struct channel *c = &r->channels[i];
		const struct energy_source *of = i == s->power ? s : NULL;
		struct energy_source plain;

		if (!of && c->tier == s->tier && c->unit == UNIT_MILLIWATT && !c->missing[0]) {
			energy_source_of(&plain, &r->session, i);
			of = plain.counter == SIZE_MAX ? trace_source(r, i) : NULL; /* else it takes all rows */
		}
		if (!of)
			continue;
		energy_part_read(&parts[n], of, t, begin_ns, end_ns);
		if (of == s)
			*out = parts[n];
		found |= of == s;
		n++;
	}
	pthread_mutex_lock(&r->lock);
	log_cache_drop(cache, key);
	b = log_cache_add(cache, key, 0, 0, n * sizeof(*parts));
	if (b) {
		b->n = (uint32_t)n;
		memcpy(b->records, parts, n * sizeof(*parts));
	}
	pthread_mutex_unlock(&r->lock);
	free(parts);
	return found;
}

/* Stores the reading of a channel next to row, row itself included, in direction step (1 or -1), if it is less
 * than hole_ns away from t_ns. */
static bool reading_near(struct trace *r, size_t channel, uint64_t row, int step, int64_t t_ns, int64_t hole_ns, int64_t *at,
			 double *v)
{
	enum tier tier = r->channels[channel].tier;

	for (; row < r->rows[tier]; row += (uint64_t)(int64_t)step) {
		trace_read(r, tier, row, 1, at, &channel, 1, &v);
		if (*at - t_ns > hole_ns || t_ns - *at > hole_ns)
			return false;
		if (!isnan(*v))
			return true;
	}
	return false;
}

/* Where the rows are gone, how long a state was above 0 is known by its events: of a part of one that flickered, by its
 * share. */
static uint64_t above_by_events(const struct trace *r, size_t channel, int64_t from_ns, int64_t to_ns)
{
	const struct log_events *l = &r->events[EVENTS_STATE];
	const struct state_event *e = l->p;
	double above_ns = 0;

	for (size_t i = times_from(e, l->n, sizeof(*e), offsetof(struct state_event, from_ns), to_ns); i > 0 && l->reach[i - 1] >= from_ns; i--) {
		int64_t from = e[i - 1].from_ns > from_ns ? e[i - 1].from_ns : from_ns, to = e[i - 1].to_ns < to_ns ? e[i - 1].to_ns : to_ns;

		if (e[i - 1].channel == channel && to > from)
			above_ns += (double)e[i - 1].above_ns * (double)(to - from) / (double)(e[i - 1].to_ns - e[i - 1].from_ns);
	}
	return (uint64_t)llround(above_ns);
}

static void timeline_stat(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct span_stats *out)
{
	struct trace *r = timeline_log(t);
	enum tier tier = r->channels[channel].tier;
	int64_t hole_ns = stats_hole_ns(r->session.hz[tier]), after_ns = to_ns;
	struct span_stats before = {.n = 0};
	double after = NAN;
	bool follows;

	trace_stat(r, channel, from_ns, to_ns, out);
	follows = reading_near(r, channel, trace_row_from(r, tier, to_ns), 1, to_ns, hole_ns, &after_ns, &after);
	before.n = reading_near(r, channel, trace_row_from(r, tier, from_ns) - 1, -1, from_ns, hole_ns, &before.last_ns, &before.last);
	if (!before.n && channel_counts(&r->channels[channel])) /* what it rose by in a gap */
		trace_stat(r, channel, INT64_MIN, from_ns, &before);
	if (before.n && out->n)
		span_stats_between(out, before.last_ns, before.last, out->first_ns, out->first, hole_ns, from_ns, to_ns);
	before = out->n ? *out : before;
	if (follows && before.n)
		span_stats_between(out, before.last_ns, before.last, after_ns, after, hole_ns, from_ns, to_ns);
	if (from_ns < r->rows_from_ns)
		out->above_ns = above_by_events(r, channel, from_ns, to_ns);
}

#define ENERGY_ROWS 262144 /* more would delay a frame: of those, what STAT says */

/* Of rows that are gone only their bins are known. */
static bool timeline_energy(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct energy_result *out)
{
	struct trace *r = timeline_log(t);
	enum tier tier = r->channels[channel].tier;
	const struct energy_source *s = r->any ? trace_source(r, channel) : NULL;
	struct span_stats stat;

	if (!s || (r->rows_from_ns > INT64_MIN && from_ns - s->reach_ns < r->rows_from_ns))
		return false;
	if (trace_row_from(r, tier, to_ns) - trace_row_from(r, tier, from_ns) <= ENERGY_ROWS) {
		*out = energy_between(s, t, from_ns, to_ns);
		return true;
	}
	timeline_stat(t, s->counts ? s->counter : channel, from_ns, to_ns, &stat);
	*out = s->counts ? (struct energy_result) {stat.rise, NAN, (double)(stat.last_ns - stat.first_ns) / 1e9, NULL}
			 : (struct energy_result) {stat.integral / 1e3 * s->scale, NAN, (double)stat.known_ns / 1e9, NULL};
	return stat.n > 0;
}

const struct timeline_ops log_timeline_ops = {
	.session = timeline_session,
	.extent = timeline_extent,
	.columns = log_columns,
	.finest = log_finest,
	.value = timeline_value,
	.step = timeline_step,
	.marks = timeline_marks,
	.gaps = timeline_gaps,
	.states = timeline_states,
	.event = log_event_next,
	.changes = timeline_changes,
	.rows = timeline_rows,
	.energy_part = timeline_energy_part,
	.energy = timeline_energy,
	.reason = timeline_reason,
	.ranges = trace_ranges,
	.ranges_more = trace_ranges_more,
	.lanes = trace_lanes,
	.stat = timeline_stat,
};
