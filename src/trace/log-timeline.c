/* A log as a timeline: what a screen draws of it, and the joules and durations that are told of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/energy.h"
#include "model/states.h"
#include "trace/log-tree.h"

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

static double timeline_value(struct timeline *t, size_t channel, int64_t t_ns, int64_t *at_ns)
{
	struct trace *r = timeline_log(t);
	int64_t row_ns;
	uint64_t row;
	double v;

	if (channel >= r->session.n_channels)
		return NAN;
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

static int64_t timeline_step(struct timeline *t, enum tier tier, int64_t t_ns, int n)
{
	struct trace *r = timeline_log(t);
	uint64_t rows = r->rows[tier], row = trace_row_from(r, tier, t_ns), far;

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
	return marks_between(timeline_log(t)->marks, timeline_log(t)->n_marks, from_ns, to_ns, out, max);
}

size_t trace_gap_from(const struct trace *r, int64_t from_ns)
{
	return times_from(r->gap_reach, r->n_gaps, sizeof(*r->gap_reach), 0, from_ns);
}

static size_t timeline_gaps(struct timeline *t, int64_t from_ns, int64_t to_ns, struct gap *out, size_t max)
{
	const struct trace *r = timeline_log(t);
	size_t n = 0;

	for (size_t i = trace_gap_from(r, from_ns); i < r->n_gaps && r->gaps[i].from_ns < to_ns && n < max; i++)
		if (r->gaps[i].to_ns >= from_ns && gap_is_hole(&r->gaps[i]))
			out[n++] = r->gaps[i];
	return n;
}

static bool timeline_reason(struct timeline *t, const char *name, int64_t t_ns, struct change *out)
{
	const struct trace *r = timeline_log(t);

	return reason_before(r->changes + r->n_changes, r->n_reasons, name, t_ns, out);
}

static size_t timeline_states(struct timeline *t, int64_t from_ns, int64_t to_ns, struct state_event *out, size_t max)
{
	const struct trace *r = timeline_log(t);

	return states_between(r->states, r->state_reach, r->n_states, from_ns, to_ns, out, max);
}

static size_t timeline_changes(struct timeline *t, int64_t from_ns, int64_t to_ns, struct change *out, size_t max)
{
	return changes_between(timeline_log(t)->changes, timeline_log(t)->n_changes, from_ns, to_ns, out, max);
}

static size_t timeline_rows(struct timeline *t, enum tier tier, int64_t *from_ns, int64_t to_ns, const size_t *channels, size_t n,
			    size_t most, int64_t *t_ns, double *const *values, int64_t *column_ns)
{
	struct trace *r = timeline_log(t);
	uint64_t row = trace_row_from(r, tier, *from_ns), end = trace_row_from(r, tier, to_ns);
	size_t got = 0;

	*column_ns = 0;
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

/* The parts of a group are made together for all channels that are alike, because each needs its rows. */
static bool timeline_energy_part(struct timeline *t, const struct energy_source *s, int64_t from_ns, int64_t to_ns,
				 struct energy_part *out)
{
	struct trace *r = timeline_log(t);
	int64_t span = log_span(log_cell(from_ns - 1), 1) + 1, cell, begin_ns, end_ns;
	struct energy_part *parts = NULL;
	size_t n = 0;
	bool found;

	if (!log_energy_span_from(r, s->tier, &span))
		return false;
	cell = log_span_cell(span, 1);
	begin_ns = log_cell_ns(cell);
	end_ns = log_cell_ns(log_span_end(cell, 1));
	if (end_ns > to_ns)
		return false;
	if (log_energy_part(r, span, s, out))
		return true;
	parts = calloc(r->session.n_channels, sizeof(*parts));
	for (size_t i = 0; parts && i < r->session.n_channels; i++) {
		const struct channel *c = &r->channels[i];
		const struct energy_source *of = i == s->power ? s : NULL;
		struct energy_source plain;

		if (!of && c->tier == s->tier && c->unit == UNIT_MILLIWATT && !c->missing[0]) {
			energy_source_of(&plain, &r->session, i);
			of = plain.counter == SIZE_MAX ? trace_source(r, i) : NULL; /* else it takes all rows */
		}
		if (of)
			energy_part_read(&parts[n++], of, t, begin_ns, end_ns);
	}
	found = parts && log_energy_parts_keep(r, span, s->tier, parts, n);
	free(parts);
	return found && log_energy_part(r, span, s, out);
}

#define ENERGY_ROWS 262144 /* more would delay a frame: of those, what STAT says */

static bool timeline_energy(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct energy_result *out)
{
	struct trace *r = timeline_log(t);
	enum tier tier = r->channels[channel].tier;
	const struct energy_source *s;
	struct span_stats stat;

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

static int64_t timeline_above(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns)
{
	struct trace *r = timeline_log(t);
	enum tier tier = r->channels[channel].tier;
	int64_t hole = stats_hole_ns(r->session.hz[tier]), before_ns, after_ns;
	bool before, after;
	double before_v, after_v;
	struct span_stats in;

	trace_stat(r, channel, from_ns, to_ns, &in);
	before = reading_near(r, channel, trace_row_from(r, tier, from_ns) - 1, -1, from_ns, hole, &before_ns, &before_v);
	after = reading_near(r, channel, trace_row_from(r, tier, to_ns), 1, to_ns, hole, &after_ns, &after_v);
	if (!in.n)
		return before && after ? above_between(before_ns, before_v, after_ns, hole, from_ns, to_ns) : 0;
	return (int64_t)in.above_ns + (before ? above_between(before_ns, before_v, in.first_ns, hole, from_ns, to_ns) : 0) +
	       (after ? above_between(in.last_ns, in.last, after_ns, hole, from_ns, to_ns) : 0);
}

/* --- ranges: others may be shown in their place --- */

static void timeline_ranges(struct timeline *t, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit, void *arg)
{
	struct trace *r = timeline_log(t);

	if (r->other_ranges)
		ranges_visit(r->other_ranges, from_ns, to_ns, least_ns, visit, arg);
	else
		log_ranges_visit(r, from_ns, to_ns, least_ns, visit, arg);
}

static bool timeline_ranges_more(struct timeline *t)
{
	return !timeline_log(t)->other_ranges && log_ranges_more(timeline_log(t));
}

static size_t timeline_lanes(struct timeline *t, const struct range_lane **out, size_t most)
{
	struct trace *r = timeline_log(t);
	struct ranges *store = r->other_ranges ? r->other_ranges : log_ranges_store(r);

	return store ? ranges_lanes(store, out, most) : 0;
}

const struct timeline_ops log_timeline_ops = {
	.session = timeline_session,
	.extent = timeline_extent,
	.columns = timeline_columns,
	.value = timeline_value,
	.step = timeline_step,
	.marks = timeline_marks,
	.gaps = timeline_gaps,
	.states = timeline_states,
	.changes = timeline_changes,
	.rows = timeline_rows,
	.energy_part = timeline_energy_part,
	.energy = timeline_energy,
	.reason = timeline_reason,
	.ranges = timeline_ranges,
	.ranges_more = timeline_ranges_more,
	.lanes = timeline_lanes,
	.above = timeline_above,
};
