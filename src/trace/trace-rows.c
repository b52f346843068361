/* Rows and events of an open trace, for statistics and exports. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log-tree.h"
#include "trace/trace-file.h"

const struct session *trace_session(const struct trace *t)
{
	return trace_session(t->log);
}

bool trace_extent(const struct trace *t, int64_t *first_ns, int64_t *last_ns)
{
	return trace_extent(t->log, first_ns, last_ns);
}

uint64_t trace_rows(const struct trace *t, enum tier tier)
{
	return trace_rows(t->log, tier);
}

uint64_t trace_row_from(const struct trace *t, enum tier tier, int64_t t_ns)
{
	return trace_row_from(t->log, tier, t_ns);
}

void trace_row_times(const struct trace *t, enum tier tier, uint64_t first, size_t n, int64_t *out)
{
	trace_row_times(t->log, tier, first, n, out);
}

void trace_row_values(struct trace *t, size_t channel, uint64_t first, size_t n, double *out)
{
	trace_row_values(t->log, channel, first, n, out);
}

size_t trace_read(struct trace *t, enum tier tier, uint64_t row, size_t most, int64_t *t_ns, const size_t *channels,
		  size_t n_channels, double *const *values)
{
	return trace_read(t->log, tier, row, most, t_ns, channels, n_channels, values);
}

void trace_count(struct trace *t, enum tier tier, uint64_t row, size_t n, const size_t *channels,
		 size_t n_channels, struct histogram *const *to)
{
	trace_count(t->log, tier, row, n, channels, n_channels, to);
}

void trace_stat(struct trace *t, size_t channel, int64_t from_ns, int64_t to_ns, struct span_stats *out)
{
	trace_stat(t->log, channel, from_ns, to_ns, out);
}

const struct energy_source *trace_source(struct trace *t, size_t channel)
{
	return trace_source(t->log, channel);
}

const struct mark *trace_marks(const struct trace *t, size_t *n)
{
	return log_reader_marks(t->log, n);
}

const struct gap *trace_gaps(const struct trace *t, size_t *n)
{
	return log_reader_gaps(t->log, n);
}

size_t trace_late(struct trace *t, enum tier tier, uint64_t row, size_t n, struct gap *out)
{
	return trace_late(t->log, tier, row, n, out);
}

void trace_late_ticks(struct trace *t, enum tier tier, uint64_t row, uint64_t end, struct late_ticks *out)
{
	trace_late_ticks(t->log, tier, row, end, out);
}

size_t trace_gap_from(const struct trace *t, int64_t from_ns)
{
	return trace_gap_from(t->log, from_ns);
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
	log_timeline_ops.ranges(trace_timeline(t->log), from_ns, to_ns, least_ns, visit, arg);
}

void trace_show_ranges(struct trace *t, struct ranges *r)
{
	trace_show_ranges(t->log, r);
}

bool trace_ranges_more(struct trace *t)
{
	return log_timeline_ops.ranges_more(trace_timeline(t->log));
}

size_t trace_lanes(struct trace *t, const struct range_lane **out, size_t most)
{
	return log_timeline_ops.lanes(trace_timeline(t->log), out, most);
}

const struct clock_anchor *trace_anchors(const struct trace *t, size_t *n)
{
	const struct clock_anchor *anchors = trace_anchors(t->log, n);

	*n = t->version1 < 0 ? *n : 0;
	return anchors;
}

/* These values are rounded to float when sampled. */
bool trace_is_single(const struct trace *t, size_t channel)
{
	switch (trace_session(t)->channels[channel].kind) {
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

uint64_t trace_epochs(const struct trace *t, struct trace_epoch *out, uint64_t max)
{
	struct trace_epoch now = {.from_ns = trace_session(t)->start.mono_ns};
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
