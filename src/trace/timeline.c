/* The rows of a trace as a timeline: whoever looks knows no bytes. */
#include <math.h>
#include <stdlib.h>

#include "trace/reader.h"

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

	shelves_look(t);
	t->asked_ns = clock_now_ns();
	*first_ns = t->first_ns;
	*last_ns = end_of(t);
	return t->known;
}

static void get_columns(struct timeline *tl, size_t channel, int zoom, int64_t first, size_t n,
			struct bin *out)
{
	trace_columns(trace_of(tl), channel, zoom, first, n, out);
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
	row = t_ns == INT64_MAX ? t->section[tier].rows : row_find(t, tier, t_ns + 1);
	if (row == 0)
		return NAN;
	if (at_ns)
		*at_ns = row_ns(t, tier, row - 1);
	v = cell_read(t, channel, row - 1);
	if (t->log)
		return v;
	trace_touch(t, 4 * AROUND);
	return map_left(&t->file) < t->size || map_torn(&t->file) < t->size ? (double)NAN : v;
}

static int64_t get_step(struct timeline *tl, enum tier tier, int64_t t_ns, int n)
{
	struct trace *t = trace_of(tl);
	uint64_t rows = t->section[tier].rows, row = row_find(t, tier, t_ns), far;

	if (rows == 0)
		return t_ns;
	if (n > 0) {
		if (row < rows && row_ns(t, tier, row) == t_ns)
			row = row_find(t, tier, t_ns + 1);
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

static int by_mark_time(const void *a, const void *b)
{
	const struct mark *m = a, *n = b;

	if (m->t_ns != n->t_ns)
		return m->t_ns < n->t_ns ? -1 : 1;
	return (m->id > n->id) - (m->id < n->id);
}

static int by_gap_time(const void *a, const void *b)
{
	const struct gap *g = a, *h = b;

	return (g->from_ns > h->from_ns) - (g->from_ns < h->from_ns);
}

struct dated {
	int64_t t_ns;
	size_t at;
};

static int by_place(const void *a, const void *b)
{
	const struct dated *p = a, *q = b;

	if (p->t_ns != q->t_ns)
		return p->t_ns < q->t_ns ? -1 : 1;
	return (p->at > q->at) - (p->at < q->at);
}

/* Of two at one time the one that was told first comes first. */
static int changes_sort(struct trace *t)
{
	struct dated *places = calloc(t->n_changes + 1, sizeof(*places));
	struct change *list = calloc(t->n_changes + 1, sizeof(*list));
	bool ok = places && list;

	for (size_t i = 0; ok && i < t->n_changes; i++)
		places[i] = (struct dated) {t->changes[i].t_ns, i};
	if (ok && t->n_changes > 1)
		qsort(places, t->n_changes, sizeof(*places), by_place);
	for (size_t i = 0; ok && i < t->n_changes; i++)
		list[i] = t->changes[places[i].at];
	free(places);
	if (!ok) {
		free(list);
		return -1;
	}
	free(t->changes);
	t->changes = list;
	return 0;
}

int events_sort(struct trace *t)
{
	if (t->n_marks > 1)
		qsort(t->marks, t->n_marks, sizeof(*t->marks), by_mark_time);
	if (t->n_gaps > 1)
		qsort(t->gaps, t->n_gaps, sizeof(*t->gaps), by_gap_time);
	t->gap_reach = calloc(t->n_gaps + 1, sizeof(*t->gap_reach));
	if (!t->gap_reach || changes_sort(t) < 0)
		return -1;
	for (size_t i = 0; i < t->n_gaps; i++) {
		int64_t before = i > 0 ? t->gap_reach[i - 1] : INT64_MIN;

		t->gap_reach[i] = t->gaps[i].to_ns > before ? t->gaps[i].to_ns : before;
	}
	return 0;
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
