/* Rows and events of an open trace, for statistics and exports, and the same as a timeline. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace-file.h"

const struct session *trace_session(const struct trace *t)
{
	return &t->session;
}

bool trace_extent(const struct trace *t, int64_t *first_ns, int64_t *last_ns)
{
	return log_reader_extent(t->log, first_ns, last_ns);
}

uint64_t trace_rows(const struct trace *t, enum tier tier)
{
	return log_reader_rows(t->log, tier);
}

uint64_t trace_row_from(const struct trace *t, enum tier tier, int64_t t_ns)
{
	return log_reader_row_from(t->log, tier, t_ns);
}

void trace_row_times(const struct trace *t, enum tier tier, uint64_t first, size_t n, int64_t *out)
{
	log_reader_times(t->log, tier, first, n, out);
}

void trace_row_values(struct trace *t, size_t channel, uint64_t first, size_t n, double *out)
{
	log_reader_values(t->log, channel, first, n, out);
}

size_t trace_read(struct trace *t, enum tier tier, uint64_t row, size_t most, int64_t *t_ns, const size_t *channels,
		  size_t n_channels, double *const *values)
{
	return log_reader_read(t->log, tier, row, most, t_ns, channels, n_channels, values);
}

void trace_pass(struct trace *t, bool on)
{
	log_reader_pass(t->log, on);
}

void trace_count(struct trace *t, enum tier tier, uint64_t row, size_t n, const size_t *channels,
		 size_t n_channels, struct histogram *const *to)
{
	log_reader_count(t->log, tier, row, n, channels, n_channels, to);
}

void trace_stat(struct trace *t, size_t channel, int64_t from_ns, int64_t to_ns, struct span_stats *out)
{
	log_reader_stat(t->log, channel, from_ns, to_ns, out);
}

const struct energy_source *trace_source(struct trace *t, size_t channel)
{
	int64_t first_ns, last_ns = 0;
	const struct energy_source *found;

	trace_extent(t, &first_ns, &last_ns);
	pthread_mutex_lock(&t->raw_lock);
	if (!t->sources || t->sources_until_ns != last_ns) {
		free(t->sources);
		t->sources = calloc(t->session.n_channels, sizeof(*t->sources));
		t->sources_until_ns = last_ns;
	}
	if (t->sources && t->sources[channel].tick_ns == 0)
		energy_source_read(&t->sources[channel], &t->timeline, channel);
	found = t->sources ? &t->sources[channel] : NULL;
	pthread_mutex_unlock(&t->raw_lock);
	return found;
}

const struct mark *trace_marks(const struct trace *t, size_t *n)
{
	return log_reader_marks(t->log, n);
}

const struct gap *trace_gaps(const struct trace *t, size_t *n)
{
	return log_reader_gaps(t->log, n);
}

size_t trace_gap_from(const struct trace *t, int64_t from_ns)
{
	size_t n;

	trace_gaps(t, &n);
	return times_from(t->gap_reach, n, sizeof(*t->gap_reach), 0, from_ns);
}

const struct change *trace_changes(const struct trace *t, size_t *n)
{
	return log_reader_changes(t->log, n);
}

const struct change *trace_reasons(const struct trace *t, size_t *n)
{
	return log_reader_reasons(t->log, n);
}

void trace_ranges(struct trace *t, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit, void *arg)
{
	if (t->ranges)
		ranges_visit(t->ranges, from_ns, to_ns, least_ns, visit, arg);
	else
		log_reader_ranges(t->log, from_ns, to_ns, least_ns, visit, arg);
}

void trace_show_ranges(struct trace *t, struct ranges *r)
{
	ranges_free(t->ranges);
	t->ranges = r;
}

bool trace_ranges_more(struct trace *t)
{
	return !t->ranges && log_reader_ranges_more(t->log);
}

size_t trace_lanes(struct trace *t, const struct range_lane **out, size_t most)
{
	struct ranges *store = t->ranges ? t->ranges : log_reader_range_store(t->log);

	return store ? ranges_lanes(store, out, most) : 0;
}

const struct clock_anchor *trace_anchors(const struct trace *t, size_t *n)
{
	if (!t->imported)
		return log_reader_anchors(t->log, n);
	*n = t->n_anchors;
	return t->anchors;
}

/* These values are rounded to float when sampled. */
bool trace_is_single(const struct trace *t, size_t channel)
{
	switch (t->channels[channel].kind) {
	case CHANNEL_CPU_UTIL:
	case CHANNEL_CORE_UTIL:
	case CHANNEL_EMC_UTIL:
	case CHANNEL_RAIL_POWER:
	case CHANNEL_TEMPERATURE:
		return true;
	default:
		return false;
	}
}

bool trace_lists_gaps(const struct trace *t)
{
	return t->lists_gaps;
}

bool trace_continues(const struct trace *before, const struct trace *t)
{
	struct log_head a, b;
	struct log_tail x, y;

	log_reader_last(before->log, &a);
	log_reader_last(t->log, &b);
	log_reader_tail(before->log, &x);
	log_reader_tail(t->log, &y);
	return a.session == b.session && x.ended && x.reason == LOG_SPLIT &&
	       memcmp(x.tally.rows, y.before.rows, sizeof(x.tally.rows)) == 0;
}

int trace_log(const struct trace *t, uint64_t *from, uint64_t *n)
{
	return log_reader_file(t->log, from, n);
}

uint64_t trace_epochs(const struct trace *t, struct trace_epoch *out, uint64_t max)
{
	struct trace_epoch now = {.from_ns = t->session.start.mono_ns};
	int64_t first_ns, last_ns;
	size_t n;
	const struct mark *marks = trace_marks(t, &n);

	trace_extent(t, &first_ns, &last_ns);
	for (size_t i = 0; i <= n && i < max; i++) {
		const struct mark *m = i < n ? &marks[i] : NULL;
		uint64_t row = m ? trace_row_from(t, TIER_FAST, m->t_ns) : trace_rows(t, TIER_FAST);

		now.n = row - now.first;
		now.to_ns = m ? m->t_ns : last_ns > now.from_ns ? last_ns : now.from_ns;
		out[i] = now;
		if (!m)
			break;
		now = (struct trace_epoch) {.id = m->id, .first = row, .from_ns = m->t_ns};
		snprintf(now.label, sizeof(now.label), "%s", m->label);
	}
	return n + 1;
}

/* --- timeline --- */

static struct trace *trace_of(struct timeline *tl)
{
	return (struct trace *)tl;
}

static const struct session *get_session(struct timeline *tl)
{
	return &trace_of(tl)->session;
}

static bool get_extent(struct timeline *tl, int64_t *first_ns, int64_t *last_ns)
{
	return trace_extent(trace_of(tl), first_ns, last_ns);
}

static void get_columns(struct timeline *tl, size_t channel, int zoom, int64_t first, size_t n,
			struct bin *out)
{
	struct trace *t = trace_of(tl);

	if (channel < t->session.n_channels)
		log_reader_columns(t->log, channel, zoom, first, n, out);
	else
		memset(out, 0, n * sizeof(*out));
}

static double get_value(struct timeline *tl, size_t channel, int64_t t_ns, int64_t *at_ns)
{
	struct trace *t = trace_of(tl);
	enum tier tier;
	uint64_t row;
	double v;

	if (channel >= t->session.n_channels)
		return NAN;
	tier = t->channels[channel].tier;
	row = t_ns == INT64_MAX ? trace_rows(t, tier) : trace_row_from(t, tier, t_ns + 1);
	if (row == 0)
		return NAN;
	if (at_ns)
		trace_row_times(t, tier, row - 1, 1, at_ns);
	trace_row_values(t, channel, row - 1, 1, &v);
	return v;
}

static int64_t row_ns(const struct trace *t, enum tier tier, uint64_t row)
{
	int64_t ns;

	trace_row_times(t, tier, row, 1, &ns);
	return ns;
}

static int64_t get_step(struct timeline *tl, enum tier tier, int64_t t_ns, int n)
{
	struct trace *t = trace_of(tl);
	uint64_t rows = trace_rows(t, tier), row = trace_row_from(t, tier, t_ns), far;

	if (rows == 0)
		return t_ns;
	if (n > 0) {
		if (row < rows && row_ns(t, tier, row) == t_ns)
			row = trace_row_from(t, tier, t_ns + 1);
		far = row + (unsigned)n - 1;
		return row_ns(t, tier, far < rows ? far : rows - 1);
	}
	far = (uint64_t) - (int64_t)n;
	row = row > far ? row - far : 0;
	return row_ns(t, tier, row < rows ? row : rows - 1);
}

static size_t get_marks(struct timeline *tl, int64_t from_ns, int64_t to_ns, struct mark *out, size_t max)
{
	size_t n;
	const struct mark *marks = trace_marks(trace_of(tl), &n);

	return marks_between(marks, n, from_ns, to_ns, out, max);
}

static size_t get_gaps(struct timeline *tl, int64_t from_ns, int64_t to_ns, struct gap *out, size_t max)
{
	size_t all, n = 0;
	const struct gap *gaps = trace_gaps(trace_of(tl), &all);

	for (size_t i = trace_gap_from(trace_of(tl), from_ns); i < all && gaps[i].from_ns < to_ns && n < max; i++)
		if (gaps[i].to_ns >= from_ns && gap_is_hole(&gaps[i]))
			out[n++] = gaps[i];
	return n;
}

static bool get_reason(struct timeline *tl, const char *name, int64_t t_ns, struct change *out)
{
	size_t n;
	const struct change *reasons = trace_reasons(trace_of(tl), &n);

	return reason_before(reasons, n, name, t_ns, out);
}

static size_t get_changes(struct timeline *tl, int64_t from_ns, int64_t to_ns, struct change *out, size_t max)
{
	size_t n;
	const struct change *changes = trace_changes(trace_of(tl), &n);

	return changes_between(changes, n, from_ns, to_ns, out, max);
}

static size_t get_rows(struct timeline *tl, enum tier tier, int64_t *from_ns, int64_t to_ns, const size_t *channels, size_t n,
		       size_t most, int64_t *t_ns, double *const *values, int64_t *column_ns)
{
	struct trace *t = trace_of(tl);
	uint64_t row = trace_row_from(t, tier, *from_ns), end = trace_row_from(t, tier, to_ns);
	size_t got = 0;

	*column_ns = 0;
	if (row < end)
		got = trace_read(t, tier, row, end - row < most ? (size_t)(end - row) : most, t_ns, channels, n, values);
	*from_ns = got > 0 ? t_ns[got - 1] + 1 : *from_ns;
	return got;
}

static bool get_energy(struct timeline *tl, size_t channel, int64_t from_ns, int64_t to_ns, struct energy_result *out)
{
	struct trace *t = trace_of(tl);
	enum tier tier = t->session.channels[channel].tier;
	const struct energy_source *s;

	if (trace_row_from(t, tier, to_ns) - trace_row_from(t, tier, from_ns) > ENERGY_ROWS || !(s = trace_source(t, channel)))
		return false;
	*out = energy_between(s, tl, from_ns, to_ns);
	return true;
}

/* Stores the reading of a channel next to row, row itself included, in direction step (1 or -1), if it is less
 * than hole_ns away from t_ns. */
static bool reading_near(struct trace *t, size_t channel, uint64_t row, int step, int64_t t_ns, int64_t hole_ns,
			 int64_t *at, double *v)
{
	enum tier tier = trace_session(t)->channels[channel].tier;

	for (; row < trace_rows(t, tier); row += (uint64_t)(int64_t)step) {
		trace_row_times(t, tier, row, 1, at);
		if (*at - t_ns > hole_ns || t_ns - *at > hole_ns)
			return false;
		trace_row_values(t, channel, row, 1, v);
		if (!isnan(*v))
			return true;
	}
	return false;
}

static int64_t get_above(struct timeline *tl, size_t channel, int64_t from_ns, int64_t to_ns)
{
	struct trace *t = trace_of(tl);
	const struct session *s = trace_session(t);
	enum tier tier = s->channels[channel].tier;
	int64_t hole = stats_hole_ns(s->hz[tier]), before_ns, after_ns;
	bool before, after;
	double before_v, after_v;
	struct span_stats in;

	trace_stat(t, channel, from_ns, to_ns, &in);
	before = reading_near(t, channel, trace_row_from(t, tier, from_ns) - 1, -1, from_ns, hole, &before_ns,
			      &before_v);
	after = reading_near(t, channel, trace_row_from(t, tier, to_ns), 1, to_ns, hole, &after_ns, &after_v);
	if (!in.n)
		return before && after ? above_between(before_ns, before_v, after_ns, hole, from_ns, to_ns) : 0;
	return (int64_t)in.above_ns +
	       (before ? above_between(before_ns, before_v, in.first_ns, hole, from_ns, to_ns) : 0) +
	       (after ? above_between(in.last_ns, in.last, after_ns, hole, from_ns, to_ns) : 0);
}

static void get_ranges(struct timeline *tl, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit,
		       void *arg)
{
	trace_ranges(trace_of(tl), from_ns, to_ns, least_ns, visit, arg);
}

static bool get_ranges_more(struct timeline *tl)
{
	return trace_ranges_more(trace_of(tl));
}

static size_t get_lanes(struct timeline *tl, const struct range_lane **out, size_t most)
{
	return trace_lanes(trace_of(tl), out, most);
}

const struct timeline_ops trace_ops = {
	.session = get_session,
	.extent = get_extent,
	.columns = get_columns,
	.value = get_value,
	.step = get_step,
	.marks = get_marks,
	.gaps = get_gaps,
	.changes = get_changes,
	.rows = get_rows,
	.energy = get_energy,
	.reason = get_reason,
	.ranges = get_ranges,
	.ranges_more = get_ranges_more,
	.lanes = get_lanes,
	.above = get_above,
};
