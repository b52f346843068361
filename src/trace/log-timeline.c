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

static void timeline_columns(struct timeline *t, size_t channel, int zoom, int64_t first, size_t n, struct bin *out)
{
	trace_columns(timeline_log(t), channel, zoom, first, n, out);
}

static int timeline_finest(struct timeline *t, size_t channel, int64_t t_ns)
{
	struct trace *r = timeline_log(t);

	return log_finest(r, r->channels[channel].tier, t_ns);
}

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
		int zoom = timeline_finest(t, channel, t_ns);

		for (int64_t at = t_ns >> zoom; at >= r->first_ns >> zoom && (t_ns >> zoom) - at < 64; at--) {
			int64_t end_ns = ((at + 1) << zoom) - 1;
			struct bin b;

			trace_columns(r, channel, zoom, at, 1, &b);
			if (b.n == 0)
				continue;
			if (at_ns)
				*at_ns = end_ns < t_ns ? end_ns : t_ns;
			return b.sum / (double)b.n;
		}
		return NAN;
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
	uint64_t rows = r->rows[tier], row = trace_row_from(r, tier, t_ns), far;

	if (r->rows_from_ns > INT64_MIN && r->session.hz[tier] > 0) {
		uint64_t first = trace_row_from(r, tier, r->rows_from_ns);
		bool gone = t_ns < r->rows_from_ns;

		if (gone || (n < 0 && row < first + (uint64_t)-(int64_t)n)) {
			n += gone ? 0 : (int)(row - first);
			t_ns = (gone ? t_ns : row_ns(r, tier, first)) + n * llround((double)NS_PER_S / r->session.hz[tier]);
			return t_ns < r->first_ns ? r->first_ns : t_ns > r->last_ns ? r->last_ns : t_ns;
		}
	}
	if (rows == 0)
		return t_ns;
	if (n > 0) {
		if (row < rows && row_ns(r, tier, row) == t_ns)
			row = trace_row_from(r, tier, t_ns + 1);
		far = row + (unsigned)n - 1;
		return row_ns(r, tier, far < rows ? far : rows - 1);
	}
	far = (uint64_t) - (int64_t)n;
	row = row > far ? row - far : 0;
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

static bool timeline_event(struct timeline *t, int64_t from_ns, int64_t to_ns, bool last, int64_t *out)
{
	static const struct {
		enum trace_events of;
		size_t each, begin;
	} kinds[] = {{EVENTS_STATE, sizeof(struct state_event), offsetof(struct state_event, from_ns)},
		     {EVENTS_CHANGE, sizeof(struct change), offsetof(struct change, t_ns)},
		     {EVENTS_GAP, sizeof(struct gap), offsetof(struct gap, from_ns)}};
	bool found = false;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		const struct log_events *l = &timeline_log(t)->events[kinds[k].of];
		size_t i = times_from(l->p, l->n, kinds[k].each, kinds[k].begin, last ? to_ns : from_ns);

		for (; last ? i > 0 : i < l->n; i = last ? i - 1 : i + 1) {
			const char *event = (const char *)l->p + (last ? i - 1 : i) * kinds[k].each;
			const struct state_event *s = kinds[k].of == EVENTS_STATE ? (const void *)event : NULL;
			const struct gap *g = kinds[k].of == EVENTS_GAP ? (const void *)event : NULL;
			int64_t begin_ns;

			memcpy(&begin_ns, event + kinds[k].begin, sizeof(begin_ns));
			if (last ? begin_ns < from_ns : begin_ns >= to_ns)
				break;
			if ((s && s->flags & STATE_BEFORE) || (g && (!gap_is_hole(g) || g->to_ns - g->from_ns < GAP_EVENT_NS)))
				continue;
			if (!found || (last ? begin_ns > *out : begin_ns < *out))
				*out = begin_ns;
			found = true;
			break;
		}
	}
	return found;
}

/* Where the rows are gone, of the bins of one zoom. */
static size_t columns_as_rows(struct trace *r, enum tier tier, int64_t *from_ns, int64_t to_ns, const size_t *channels, size_t n,
			      size_t most, int64_t *t_ns, double *const *values, int64_t *column_ns)
{
	int zoom = log_finest(r, tier, *from_ns);
	size_t got = 0;

	*column_ns = INT64_C(1) << zoom;
	while (got < most && *from_ns < r->rows_from_ns && log_finest(r, tier, *from_ns) == zoom) {
		int64_t end_ns = (*from_ns | (*column_ns - 1)) + 1;
		struct bin b;

		if (end_ns > to_ns || end_ns > r->last_ns)
			break;
		t_ns[got] = end_ns;
		for (size_t i = 0; i < n; i++) {
			trace_columns(r, channels[i], zoom, *from_ns >> zoom, 1, &b);
			values[i][got] = b.n ? b.sum / (double)b.n : NAN;
		}
		*from_ns = end_ns;
		got++;
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
		return columns_as_rows(r, tier, from_ns, to_ns, channels, n, most, t_ns, values, column_ns);
	row = trace_row_from(r, tier, *from_ns);
	end = trace_row_from(r, tier, to_ns);
	if (row < end)
		got = trace_read(r, tier, row, end - row < most ? (size_t)(end - row) : most, t_ns, channels, n, values);
	*from_ns = got > 0 ? t_ns[got - 1] + 1 : *from_ns;
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
		of_row = log_span(log_cell_of_row(r, s->tier, row), 1);
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
	b = log_cache_find(cache, key);
	if (b)
		log_cache_drop(cache, b);
	b = log_cache_add(cache, key, 0, 0, n * sizeof(*parts));
	if (b) {
		b->n = (uint32_t)n;
		memcpy(b->records, parts, n * sizeof(*parts));
	}
	pthread_mutex_unlock(&r->lock);
	free(parts);
	return found;
}

#define ENERGY_ROWS 262144 /* more would delay a frame: of those, what STAT says */

/* Of rows that are gone only their bins are known. */
static bool timeline_energy(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct energy_result *out)
{
	struct trace *r = timeline_log(t);
	enum tier tier = r->channels[channel].tier;
	const struct energy_source *s;
	struct span_stats stat;

	if (!r->any || (r->rows_from_ns > INT64_MIN && from_ns - r->sources[channel].reach_ns < r->rows_from_ns))
		return false;
	if (trace_row_from(r, tier, to_ns) - trace_row_from(r, tier, from_ns) > ENERGY_ROWS) {
		trace_stat(r, channel, from_ns, to_ns, &stat);
		*out = (struct energy_result) {stat.integral / 1e3, NAN, (double)stat.known_ns / 1e9, NULL};
		return stat.n > 0;
	}
	s = trace_source(r, channel);
	if (s)
		*out = energy_between(s, t, from_ns, to_ns);
	return s != NULL;
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
static uint64_t above_by_events(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns)
{
	struct state_event page[64];
	double above_ns = 0;
	size_t n;

	do {
		n = timeline_states(t, channel, from_ns, to_ns, page, 64);
		for (size_t i = 0; i < n; i++) {
			const struct state_event *e = &page[i];
			int64_t from = e->from_ns > from_ns ? e->from_ns : from_ns, to = e->to_ns < to_ns ? e->to_ns : to_ns;

			if (to > from)
				above_ns += (double)e->above_ns * (double)(to - from) / (double)(e->to_ns - e->from_ns);
		}
		to_ns = n ? page[0].from_ns : to_ns;
	} while (n == 64 && to_ns > from_ns);
	return (uint64_t)llround(above_ns);
}

static void timeline_stat(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct span_stats *out)
{
	struct trace *r = timeline_log(t);
	enum tier tier = r->channels[channel].tier;
	int64_t hole = stats_hole_ns(r->session.hz[tier]), before_ns, after_ns = 0, next_ns;
	double before, after;
	bool follows;

	trace_stat(r, channel, from_ns, to_ns, out);
	follows = reading_near(r, channel, trace_row_from(r, tier, to_ns), 1, to_ns, hole, &after_ns, &after);
	next_ns = out->n ? out->first_ns : after_ns;
	/* A step at an edge belongs to the interval before it. */
	if (reading_near(r, channel, trace_row_from(r, tier, from_ns) - 1, -1, from_ns, hole, &before_ns, &before) &&
	    (out->n || follows)) {
		double next = out->n ? out->first : after;

		out->above_ns += (uint64_t)above_between(before_ns, before, next_ns, hole, from_ns, to_ns);
		out->known_ns += (uint64_t)above_between(before_ns, 1, next_ns, hole, from_ns, to_ns);
		out->rise += next_ns > from_ns && next_ns <= to_ns && next > before ? next - before : 0;
	}
	if (out->n && follows) {
		out->above_ns += (uint64_t)above_between(out->last_ns, out->last, after_ns, hole, from_ns, to_ns);
		out->known_ns += (uint64_t)above_between(out->last_ns, 1, after_ns, hole, from_ns, to_ns);
		out->rise += after_ns == to_ns && after > out->last ? after - out->last : 0;
	}
	if (from_ns < r->rows_from_ns)
		out->above_ns = above_by_events(t, channel, from_ns, to_ns);
}

/* --- ranges: others may be shown in their place --- */

void trace_show_ranges(struct trace *r, struct ranges *other)
{
	ranges_free(r->other_ranges);
	r->other_ranges = other;
}

void trace_ranges(struct trace *r, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit, void *arg)
{
	if (r->other_ranges)
		ranges_visit(r->other_ranges, from_ns, to_ns, least_ns, visit, arg);
	else
		log_ranges_visit(r, from_ns, to_ns, least_ns, visit, arg);
}

bool trace_ranges_more(struct trace *r)
{
	return !r->other_ranges && log_ranges_more(r);
}

size_t trace_lanes(struct trace *r, const struct range_lane **out, size_t most)
{
	struct ranges *store = r->other_ranges ? r->other_ranges : log_ranges_store(r);

	return store ? ranges_lanes(store, out, most) : 0;
}

static void timeline_ranges(struct timeline *t, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit, void *arg)
{
	trace_ranges(timeline_log(t), from_ns, to_ns, least_ns, visit, arg);
}

static bool timeline_ranges_more(struct timeline *t)
{
	return trace_ranges_more(timeline_log(t));
}

static size_t timeline_lanes(struct timeline *t, const struct range_lane **out, size_t most)
{
	return trace_lanes(timeline_log(t), out, most);
}

const struct timeline_ops log_timeline_ops = {
	.session = timeline_session,
	.extent = timeline_extent,
	.columns = timeline_columns,
	.finest = timeline_finest,
	.value = timeline_value,
	.step = timeline_step,
	.marks = timeline_marks,
	.gaps = timeline_gaps,
	.states = timeline_states,
	.event = timeline_event,
	.changes = timeline_changes,
	.rows = timeline_rows,
	.energy_part = timeline_energy_part,
	.energy = timeline_energy,
	.reason = timeline_reason,
	.ranges = timeline_ranges,
	.ranges_more = timeline_ranges_more,
	.lanes = timeline_lanes,
	.stat = timeline_stat,
};
