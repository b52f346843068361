/* Exact values row by row, for what counts and writes instead of drawing. */
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/log-trace.h"

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
	return t->section[tier].rows;
}

uint64_t trace_row_from(const struct trace *t, enum tier tier, int64_t t_ns)
{
	return row_find(t, tier, t_ns);
}

/* Of a long trace nobody has looked at every time before. */
void trace_row_times(const struct trace *t, enum tier tier, uint64_t first, size_t n, int64_t *out)
{
	int64_t before;

	if (t->log) {
		log_reader_times(t->log, tier, first, n, out);
		return;
	}
	before = first > 0 && n > 0 ? row_ns(t, tier, first - 1) : INT64_MIN;
	for (size_t i = 0; i < n; i++) {
		int64_t ns = row_ns(t, tier, first + i);

		out[i] = before = ns > before ? ns : before;
	}
}

/* What a file that became shorter meanwhile no longer has reads as zeroes: it is
 * missing. */
void trace_row_values(struct trace *t, size_t channel, uint64_t first, size_t n, double *out)
{
	enum tier tier = t->channels[channel].tier;
	size_t left, torn, end;

	cells_read(t, channel, first, n, out);
	if (t->log)
		return;
	left = map_left(&t->file);
	torn = map_torn(&t->file);
	end = left < torn ? left : torn;
	if (end >= t->size)
		return;
	for (size_t i = 0; i < n; i++)
		if (t->sources[channel].place.field == FIELD_EXTRA ||
		    t->section[tier].at + (size_t)(first + i + 1) * row_size[tier] > end)
			out[i] = (double)NAN;
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

const struct clock_anchor *trace_anchors(const struct trace *t, size_t *n)
{
	*n = t->extended ? t->n_anchors : 0;
	return t->anchors;
}

bool trace_is_single(const struct trace *t, size_t channel)
{
	if (t->log)
		return log_trace_is_single(&t->channels[channel]);
	switch (t->sources[channel].place.field) {
	case FIELD_CORE:
	case FIELD_CPU:
	case FIELD_EMC:
	case FIELD_POWER:
	case FIELD_TEMPERATURE:
		return true;
	default:
		return false;
	}
}

void trace_row_seconds(const struct trace *t, enum tier tier, uint64_t first, size_t n, double *out)
{
	for (size_t i = 0; i < n && t->log; i++)
		out[i] = (double)(row_ns(t, tier, first + i) - t->session.start.mono_ns) / (double)NS_PER_S;
	for (size_t i = 0; i < n && !t->log; i++)
		out[i] = get_f64(row_at(t, tier, first + i));
}

const struct change *trace_changes(const struct trace *t, size_t *n)
{
	*n = t->n_changes;
	return t->changes;
}

void trace_rows_done(const struct trace *t, enum tier tier, uint64_t first, uint64_t end)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t from = t->section[tier].at + (size_t)first * row_size[tier];
	size_t to = t->section[tier].at + (size_t)end * row_size[tier];

	if (t->log)
		return;
	from = (from + page - 1) / page * page;
	to = to / page * page;
	if (to > from)
		madvise((void *)(uintptr_t)(t->map + from), to - from, MADV_DONTNEED);
}

bool trace_lists_gaps(const struct trace *t)
{
	return t->extended;
}
