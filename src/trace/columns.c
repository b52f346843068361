/* Columns of a saved trace: coarse ones are stored, fine ones are folded from
 * the rows when they are asked for.  While the stored ones of a long trace are
 * still being made, a column that is not there yet is estimated from a few of its
 * rows: nobody who looks waits. */
#include <stdlib.h>

#include "trace/build.h"
#include "trace/log-reader.h"
#include "trace/fold.h"

#define ROWS_MOST    (1 << 20) /* that one question may read; more are estimated */
#define SAMPLE_ROWS  32        /* of an estimate: so many rows in one place */
#define SAMPLE_SPOTS 2
#define FRAME_NS     (60 * NS_PER_MS) /* a slow disk has answered some: the others are for the next frame */

static int tier_base(const struct trace *t, enum tier tier)
{
	return zoom_base(t->session.hz[tier]); /* which the session's reader has checked */
}

/* The times of a tier's rows; those of a short stretch are kept. */
static const int64_t *times_of(struct trace *t, enum tier tier, uint64_t first, size_t n)
{
	struct times *c = &t->times[tier];

	if (!c->t_ns) {
		c->t_ns = malloc(TIMES_CACHED * sizeof(*c->t_ns));
		if (!c->t_ns)
			return NULL;
		c->n = 0;
	}
	if (first < c->first || first + n > c->first + c->n) {
		uint64_t rows = t->section[tier].rows - first;

		c->first = first;
		c->n = rows < TIMES_CACHED ? (size_t)rows : TIMES_CACHED;
		for (size_t i = 0; i < c->n; i++)
			c->t_ns[i] = row_ns(t, tier, first + i);
		trace_touch(t, c->n * row_size[tier]);
	}
	return c->t_ns + (first - c->first);
}

/* A time that cannot be right, in a file of which not every row was looked at
 * yet, must not lead outside of what is asked for. */
static int64_t clamp_times(const int64_t *in, size_t n, int64_t before, int64_t end_ns, int64_t *out)
{
	for (size_t i = 0; i < n; i++) {
		int64_t ns = in[i] < before ? before : in[i] >= end_ns ? end_ns - 1 : in[i];

		out[i] = before = ns;
	}
	return before;
}

/* Columns lo .. of a zoom, from rows row .. end-1, which lie in them. */
static void rows_fold(struct trace *t, size_t channel, int zoom, int64_t lo, int64_t hi, uint64_t row,
		      uint64_t end, struct bin *out)
{
	enum tier tier = t->channels[channel].tier;
	int64_t before = lo * (INT64_C(1) << zoom), end_ns = (int64_t)((uint64_t)(hi + 1) << zoom);
	int64_t t_ns[STEP];
	struct plan p;
	struct fold f;
	double v[STEP];

	if (row >= end)
		return;
	if (end - row > AROUND)
		map_want(&t->file, t->section[tier].at + row * row_size[tier], (end - row) * row_size[tier]);
	memset(&f, 0, sizeof(f));
	for (uint64_t at = row; at < end; at += p.rows) {
		size_t n = end - at < STEP ? (size_t)(end - at) : STEP;
		const int64_t *times = times_of(t, tier, at, n);

		if (!times)
			return;
		clamp_times(times, n, before, end_ns, t_ns);
		if (at == row)
			plan_init(&p, tier_base(t, tier), zoom, t_ns[0]);
		plan_make(&p, t_ns, n, at + n == end);
		cells_read(t, channel, at, p.rows, v);
		fold_values(&f, &p, v, out, lo);
		before = t_ns[p.rows - 1];
		trace_touch(t, p.rows * row_size[tier]);
	}
	fold_end(&f, &p, out, lo);
}

/* A column out of some of its rows: bounds that are not wide enough, a mean that
 * is nearly right. */
static struct bin estimate(struct trace *t, size_t channel, uint64_t row, uint64_t end)
{
	struct bin b = {0, 0, 0, 0};
	double v[SAMPLE_ROWS * SAMPLE_SPOTS];
	size_t n;

	for (int k = 0; k < SAMPLE_SPOTS; k++) {
		uint64_t at = row + (end - row) / SAMPLE_SPOTS * (uint64_t)k;

		n = SAMPLE_ROWS;
		if (end - row <= SAMPLE_ROWS * SAMPLE_SPOTS) {
			at = row;
			n = (size_t)(end - row);
		}
		cells_read(t, channel, at, n, v);
		for (size_t i = 0; i < n; i++)
			bin_add(&b, v[i]);
		if (at == row && n == end - row)
			break;
	}
	return b;
}

/* The rows at which columns begin, and those that are looked at, are the same for
 * all channels of a tier. */
static uint64_t edge_row(struct trace *t, enum tier tier, int zoom, int64_t column)
{
	struct edges *e = &t->edges[tier];
	size_t slot = (size_t)column % EDGES;

	if (e->zoom != zoom) {
		memset(e->column, 0xFF, sizeof(e->column));
		e->zoom = zoom;
	}
	if (e->column[slot] != column) {
		trace_touch(t, (3 + SAMPLE_SPOTS) * AROUND);
		e->row[slot] = row_find(t, tier, column * (INT64_C(1) << zoom));
		e->column[slot] = column;
	}
	return e->row[slot];
}

static struct bin column_estimate(struct trace *t, size_t channel, int zoom, int64_t column)
{
	enum tier tier = t->channels[channel].tier;
	uint64_t row, end;

	t->estimated = true;
	if (t->asked_ns && clock_now_ns() - t->asked_ns > FRAME_NS)
		return (struct bin) {0, 0, 0, 0};
	row = edge_row(t, tier, zoom, column);
	end = edge_row(t, tier, zoom, column + 1);
	return row < end ? estimate(t, channel, row, end) : (struct bin) {0, 0, 0, 0};
}

/* Columns lo..hi that are stored, or will be. */
static void columns_stored(struct trace *t, size_t channel, int zoom, int64_t lo, int64_t hi, struct bin *out)
{
	enum tier tier = t->channels[channel].tier;
	unsigned column = t->channels[channel].column;
	bool making = t->build && build_makes(t->build, tier);

	if (making)
		build_lock(t->build);
	for (int64_t c = lo; c <= hi; c++) {
		int64_t from = c * (INT64_C(1) << zoom);

		if (t->shelf[tier].levels > 0 &&
		    (!making || build_covers(t->build, tier, from, from + (INT64_C(1) << zoom) - 1)))
			out[c - lo] = shelf_bin(&t->shelf[tier], column, zoom, c, t->first_ns, t->last_ns);
		else
			out[c - lo].n = UINT64_MAX;
	}
	trace_touch(t, t->shelf[tier].touched);
	t->shelf[tier].touched = 0;
	if (making)
		build_unlock(t->build);
	for (int64_t c = lo; c <= hi; c++)
		if (out[c - lo].n == UINT64_MAX)
			out[c - lo] = column_estimate(t, channel, zoom, c);
}

/* The finest zoom that is stored of a tier, or will be. */
static int stored_zoom(const struct trace *t, enum tier tier)
{
	if (t->build && build_makes(t->build, tier))
		return build_zoom(t->build, tier);
	return t->shelf[tier].levels > 0 ? t->shelf[tier].level[0].zoom : ZOOM_MAX + 1;
}

static void columns_at(struct trace *t, size_t channel, int zoom, int64_t first, size_t n, struct bin *out)
{
	enum tier tier = t->channels[channel].tier;
	int64_t lo = t->first_ns >> zoom, hi = t->last_ns >> zoom, last;
	bool making = t->build && build_makes(t->build, tier);

	memset(out, 0, n * sizeof(*out));
	if (__builtin_add_overflow(first, (int64_t)n - 1, &last))
		last = INT64_MAX;
	if (lo < first)
		lo = first;
	if (hi > last)
		hi = last;
	if (lo > hi || t->section[tier].rows == 0)
		return;
	out += lo - first;
	if (zoom < stored_zoom(t, tier) || making) {
		uint64_t row = row_find(t, tier, lo * (INT64_C(1) << zoom));
		uint64_t end = row_find(t, tier, (int64_t)((uint64_t)(hi + 1) << zoom));

		trace_touch(t, 8 * AROUND);

		if (end - row <= (making && zoom >= stored_zoom(t, tier) ? ROWS_MOST / 16 : ROWS_MOST)) {
			rows_fold(t, channel, zoom, lo, hi, row, end, out);
			return;
		}
	}
	if (zoom >= stored_zoom(t, tier)) {
		columns_stored(t, channel, zoom, lo, hi, out);
		return;
	}
	for (int64_t c = lo; c <= hi; c++)
		out[c - lo] = column_estimate(t, channel, zoom, c);
}

/* A file that became shorter meanwhile, or cannot be read there, has given
 * zeroes: they must not be shown. */
static bool spoilt(const struct trace *t)
{
	return map_torn(&t->file) < t->size || map_left(&t->file) < t->size;
}

static void columns_sure(struct trace *t, size_t channel, int zoom, int64_t first, size_t n, struct bin *out)
{
	for (int tries = 0; tries < 3; tries++) {
		columns_at(t, channel, zoom, first, n, out);
		if (!spoilt(t) && !t->shelf[t->channels[channel].tier].bad)
			return;
		shelves_look(t);
	}
	memset(out, 0, n * sizeof(*out));
}

void trace_columns(struct trace *t, size_t channel, int zoom, int64_t first, size_t n, struct bin *out)
{
	int base;

	if (n == 0)
		return;
	if (!t->known || channel >= t->session.n_channels || zoom > ZOOM_MAX || zoom < 0) {
		memset(out, 0, n * sizeof(*out));
		return;
	}
	if (t->log) {
		log_reader_columns(t->log, channel, zoom, first, n, out);
		return;
	}
	shelves_fill(t);
	base = tier_base(t, t->channels[channel].tier);
	if (zoom >= base) {
		columns_sure(t, channel, zoom, first, n, out);
		return;
	}
	/* Finer than there is: each column is answered with the one that covers it. */
	int64_t last, coarse = first >> (base - zoom);

	if (__builtin_add_overflow(first, (int64_t)n - 1, &last))
		last = INT64_MAX;
	columns_sure(t, channel, base, coarse, (size_t)((last >> (base - zoom)) - coarse + 1), out);
	for (size_t i = n; i-- > 0;) {
		int64_t c = first;

		if (__builtin_add_overflow(first, (int64_t)i, &c))
			c = INT64_MAX;
		out[i] = out[(c >> (base - zoom)) - coarse];
	}
}
