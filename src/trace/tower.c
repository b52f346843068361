/* Rows, or columns, go in below; chunks of columns of every zoom come out. */
#include "trace/tower.h"

#include <stdlib.h>

#define LEDGE_LEAST  16384
#define HOLE_COLUMNS 8 /* a longer stretch without rows begins a new chunk */

static size_t ledge_room(size_t bytes, size_t width, int level)
{
	size_t most = bytes >> (2 * (level < 3 ? level : 3)), one = pyramid_record(width);

	if (most < LEDGE_LEAST)
		most = LEDGE_LEAST;
	return most < one ? one : most / one * one;
}

int tower_init(struct tower *w, enum tier tier, size_t width, int base, int zoom, int levels, size_t bytes,
	       tower_flush *flush, void *to)
{
	memset(w, 0, sizeof(*w));
	w->tier = tier;
	w->width = width;
	w->flush = flush;
	w->to = to;
	for (; w->levels < levels && zoom <= ZOOM_MAX; w->levels++, base = zoom, zoom += PYRAMID_STEP) {
		struct ledge *l = &w->ledge[w->levels];

		l->head = (struct pyramid_head) {.tier = tier, .zoom = zoom, .width = (uint32_t)width};
		l->room = ledge_room(bytes, width, w->levels);
		l->chunk = malloc(CHUNK_HEAD + PYRAMID_HEAD + l->room + CHUNK_CRC);
		if (!l->chunk || course_init(&w->course[w->levels], width, base, zoom) < 0) {
			free(l->chunk);
			tower_free(w);
			return -1;
		}
	}
	w->live = w->levels;
	return 0;
}

void tower_free(struct tower *w)
{
	for (int k = 0; k < w->levels; k++) {
		course_free(&w->course[k]);
		free(w->ledge[k].chunk);
	}
	w->levels = 0;
}

static void ledge_flush(struct tower *w, struct ledge *l)
{
	size_t n = PYRAMID_HEAD + l->head.columns * pyramid_record(w->width);

	if (l->head.columns == 0 || w->failed)
		return;
	pyramid_head_encode(l->chunk + CHUNK_HEAD, &l->head);
	n = chunk_seal(l->chunk, CHUNK_PYRAMID, n);
	if (w->flush(w->to, &l->head, l->chunk, n) < 0)
		w->failed = true;
	l->head.columns = 0;
	l->head.rows = 0;
}

/* Make the record at the end of a ledge part of it. */
static void ledge_add(struct ledge *l, size_t one, int64_t column, uint64_t row, uint64_t rows)
{
	uint8_t *at = l->chunk + CHUNK_HEAD + PYRAMID_HEAD + l->head.columns * one;

	if (l->head.columns == 0) {
		l->head.first = column;
		l->head.row = row;
	}
	put_u64(at, row);
	l->head.columns++;
	l->head.rows += rows;
}

/* The open column of a level is complete. */
static void level_take(struct tower *w, int level)
{
	struct ledge *l = &w->ledge[level];
	struct course *c = &w->course[level];
	size_t one = pyramid_record(w->width);
	int64_t column = c->column >> (c->top - c->base), hole = 0;
	uint64_t row = c->row, rows = c->rows;
	uint8_t *at;

	if (l->head.columns > 0)
		hole = column - (l->head.first + l->head.columns);
	if (hole > HOLE_COLUMNS || (l->head.columns + (size_t)hole + 1) * one > l->room) {
		ledge_flush(w, l);
		hole = 0;
	}
	for (; hole > 0; hole--) {
		memset(l->chunk + CHUNK_HEAD + PYRAMID_HEAD + l->head.columns * one, 0, one);
		ledge_add(l, one, 0, row, 0);
	}
	at = l->chunk + CHUNK_HEAD + PYRAMID_HEAD + l->head.columns * one;
	if (!course_take(c, at, &column)) {
		w->live = level; /* neither this level nor a coarser one can be stored */
		return;
	}
	ledge_add(l, one, column, row, rows);
	if (level + 1 >= w->live)
		return;
	if (course_leaves(&w->course[level + 1], column))
		level_take(w, level + 1);
	course_record(&w->course[level + 1], column, rows, at);
}

size_t tower_rows(struct tower *w, const int64_t *t_ns, size_t n, bool last, uint64_t row, double *values)
{
	struct course *c = &w->course[0];
	size_t stride = course_stride(w->width), at = 0, end;

	for (; at < n && !w->failed; at = end) {
		int64_t column = t_ns[at] >> c->top;

		for (end = at + 1; end < n && t_ns[end] >> c->top == column; end++)
			;
		if (c->open && column != c->column >> (c->top - c->base))
			level_take(w, 0);
		if (!c->open && (end < n || last)) {
			course_column(c, t_ns + at, end - at, row + at, values + at * stride);
			continue;
		}
		if (!c->open && at > 0)
			return at;
		/* More rows in a column than are looked at together. */
		for (size_t i = at; i < end; i++)
			course_row(c, t_ns[i], row + i, values + i * stride);
	}
	return n;
}

void tower_record(struct tower *w, int64_t column, uint64_t rows, const uint8_t *record)
{
	struct course *c = &w->course[0];

	if (w->failed)
		return;
	if (course_leaves(c, column))
		level_take(w, 0);
	course_record(c, column, rows, record);
}

int tower_end(struct tower *w)
{
	for (int k = 0; k < w->live && !w->failed; k++)
		if (w->course[k].open)
			level_take(w, k);
	for (int k = 0; k < w->live; k++)
		ledge_flush(w, &w->ledge[k]);
	return w->failed ? -1 : 0;
}
