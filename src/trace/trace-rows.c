/* Rows and events of an open trace, for programs that count and write instead of drawing. */
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
	*first_ns = t->first_ns;
	*last_ns = t->last_ns;
	return t->known;
}

uint64_t trace_rows(const struct trace *t, enum tier tier)
{
	return t->rows[tier];
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

const struct mark *trace_marks(const struct trace *t, size_t *n)
{
	*n = t->n_marks;
	return t->marks;
}

const struct gap *trace_gaps(const struct trace *t, size_t *n)
{
	*n = t->n_gaps;
	return t->gaps;
}

size_t trace_gap_from(const struct trace *t, int64_t from_ns)
{
	size_t lo = 0, hi = t->n_gaps;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->gap_reach[mid] < from_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct change *trace_changes(const struct trace *t, size_t *n)
{
	*n = t->n_changes;
	return t->changes;
}

const struct clock_anchor *trace_anchors(const struct trace *t, size_t *n)
{
	*n = t->n_anchors;
	return t->anchors;
}

/* Values that are rounded to floats when they are sampled. */
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

#define MAX_CORES 16
#define MAX_RAILS 8
#define MAX_ZONES 16

static void name_slot(char names[][25], unsigned most, unsigned *used, const struct channel *c)
{
	if (c->index >= most)
		return;
	snprintf(names[c->index], 25, "%.24s", c->kernel[0] ? c->kernel : c->label);
	*used = c->index >= *used ? c->index + 1U : *used;
}

void trace_header(const struct trace *t, struct trace_header *out)
{
	const char *board = fact_get(t->session.facts, t->session.n_facts, "board");

	memset(out, 0, sizeof(*out));
	if (board)
		text_printable(out->board, sizeof(out->board), board, strlen(board));
	for (size_t i = 0; i < t->session.n_channels; i++) {
		const struct channel *c = &t->channels[i];

		if (c->kind == CHANNEL_CORE_UTIL && c->index < MAX_CORES && c->index >= out->cores)
			out->cores = c->index + 1U;
		out->emc |= c->kind == CHANNEL_EMC_UTIL && !c->missing[0];
		if (c->kind == CHANNEL_RAIL_POWER)
			name_slot(out->rail, MAX_RAILS, &out->rails, c);
		if (c->kind == CHANNEL_TEMPERATURE)
			name_slot(out->zone, MAX_ZONES, &out->zones, c);
	}
}

static int64_t epoch_end(const struct trace *t, int64_t from_ns)
{
	return t->last_ns > from_ns ? t->last_ns : from_ns;
}

uint64_t trace_epochs(const struct trace *t, struct trace_epoch *out, uint64_t max)
{
	struct trace_epoch now = {.from_ns = t->session.start.mono_ns};

	for (size_t i = 0; i <= t->n_marks; i++) {
		const struct mark *m = i < t->n_marks ? &t->marks[i] : NULL;
		uint64_t row = m ? trace_row_from(t, TIER_FAST, m->t_ns) : t->rows[TIER_FAST];

		if (i < max) {
			now.n = row - now.first;
			now.to_ns = m ? m->t_ns : epoch_end(t, now.from_ns);
			out[i] = now;
		}
		if (!m)
			break;
		now = (struct trace_epoch) {.id = m->id, .first = row, .from_ns = m->t_ns};
		snprintf(now.label, sizeof(now.label), "%s", m->label);
	}
	return t->n_marks + 1;
}
