/* The rows of a trace as a timeline. */
#include <math.h>
#include <string.h>

#include "trace/trace-file.h"

#define BEHIND_NS (NS_PER_S / 2) /* while the values of the last row are still the present ones */

static struct trace *trace_of(struct timeline *tl)
{
	return (struct trace *)tl;
}

static const struct session *get_session(struct timeline *tl)
{
	return &trace_of(tl)->session;
}

/* A mark that ends a recording comes after its last row, and belongs to it. */
static int64_t end_of(const struct trace *t)
{
	const struct mark *last = t->n_marks ? &t->marks[t->n_marks - 1] : NULL;

	return last && last->t_ns > t->last_ns && last->t_ns - t->last_ns < BEHIND_NS ? last->t_ns : t->last_ns;
}

static bool get_extent(struct timeline *tl, int64_t *first_ns, int64_t *last_ns)
{
	struct trace *t = trace_of(tl);

	*first_ns = t->first_ns;
	*last_ns = end_of(t);
	return t->known;
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
	row = t_ns == INT64_MAX ? t->rows[tier] : trace_row_from(t, tier, t_ns + 1);
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
	uint64_t rows = t->rows[tier], row = trace_row_from(t, tier, t_ns), far;

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
	struct trace *t = trace_of(tl);

	return marks_between(t->marks, t->n_marks, from_ns, to_ns, out, max);
}

static size_t get_gaps(struct timeline *tl, int64_t from_ns, int64_t to_ns, struct gap *out, size_t max)
{
	struct trace *t = trace_of(tl);
	size_t lo = trace_gap_from(t, from_ns), n = 0;

	for (; lo < t->n_gaps && t->gaps[lo].from_ns < to_ns && n < max; lo++)
		if (t->gaps[lo].to_ns >= from_ns && gap_is_hole(&t->gaps[lo]))
			out[n++] = t->gaps[lo];
	return n;
}

static size_t get_changes(struct timeline *tl, int64_t from_ns, int64_t to_ns, struct change *out, size_t max)
{
	struct trace *t = trace_of(tl);

	return changes_between(t->changes, t->n_changes, from_ns, to_ns, out, max);
}

#define INTEGRAL_ROWS 262144 /* that a frame may wait for */

static bool get_integral(struct timeline *tl, size_t channel, int64_t from_ns, int64_t to_ns, struct integral *out)
{
	struct trace *t = trace_of(tl);
	const struct session *s = trace_session(t);
	enum tier tier = s->channels[channel].tier;
	int64_t hole = stats_hole_ns(s->hz[tier]), at[256];
	uint64_t row = trace_row_from(t, tier, from_ns - hole), end = trace_row_from(t, tier, to_ns + hole + 1);
	double v[256];

	if (end - row > INTEGRAL_ROWS)
		return false;
	*out = (struct integral) {.begun = false};
	for (size_t n; row < end; row += n) {
		n = end - row < 256 ? (size_t)(end - row) : 256;
		trace_row_times(t, tier, row, n, at);
		trace_row_values(t, channel, row, n, v);
		for (size_t i = 0; i < n; i++)
			integral_add(out, at[i], v[i], hole, from_ns, to_ns);
	}
	return true;
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
	.integral = get_integral,
};
