/* A row is taken whole or not at all: room is found in every lane that it may
 * need before a byte of it is written, so that the columns of the extension
 * and the rows of version 1 never get out of step. */
#include <stdlib.h>

#include "util/intl.h"
#include "trace/again.h"

#define RUNS_ROOM ((size_t)64 * RUN_SIZE) /* version 1 has 61 fields */

int lanes_init(struct lanes *q, struct err *e)
{
	memset(q, 0, sizeof(*q));
	q->tail = &q->head;
	q->pool = malloc(BLOCK_COUNT * sizeof(*q->pool));
	if (!q->pool)
		return err_set(e, ERR_FAILED, _("out of memory"));
	q->n_free = q->n_fresh = BLOCK_COUNT;
	return 0;
}

void lanes_free(struct lanes *q)
{
	layout_free(&q->layout);
	for (int t = 0; t < TIERS; t++) {
		course_free(&q->pyramid[t]);
		image_free(&q->image[t]);
	}
	free(q->runs);
	free(q->pool);
	q->runs = NULL;
	q->pool = NULL;
}

/* The lane that the rows of version 1 of a tier go to. */
static enum lane row_lane(enum tier tier)
{
	return (enum lane)((int)LANE_FAST + (int)tier);
}

static enum lane columns_lane(enum tier tier)
{
	return (enum lane)((int)LANE_COLUMNS + (int)tier);
}

/* Append one record of the chunk `id` to what describes the session. */
static bool about_add(struct lanes *q, uint32_t id, const uint8_t *record, size_t n)
{
	if (q->current[LANE_ABOUT] && q->current[LANE_ABOUT]->id != id)
		lane_seal(q, LANE_ABOUT);
	/* In a stream it is sent again, in chunks that are longer. */
	if (!lane_room(q, LANE_ABOUT, n + (q->stream ? AGAIN_MORE : 0), BLOCK_COUNT / 2))
		return false;
	q->current[LANE_ABOUT]->id = id;
	memcpy(lane_end(q, LANE_ABOUT), record, n);
	q->current[LANE_ABOUT]->used += n;
	return true;
}

static bool stream_open(struct lanes *q)
{
	uint8_t p[WRITER_MAX];

	return about_add(q, CHUNK_STREAM, p, writer_encode(p));
}

static bool about_write(struct lanes *q, const struct session *about)
{
	uint8_t record[CHANNEL_MAX], rates[RATES_SIZE];
	bool fits = (!q->stream || stream_open(q)) &&
		    about_add(q, CHUNK_ANCHOR, record, anchor_encode(record, &about->start));

	for (int t = 0; t < TIERS; t++)
		put_f64(rates + 8 * t, about->hz[t]);
	fits = fits && about_add(q, CHUNK_RATES, rates, sizeof(rates));
	for (size_t i = 0; fits && i < about->n_facts; i++)
		fits = about_add(q, CHUNK_FACTS, record, fact_encode(record, &about->facts[i]));
	for (size_t i = 0; fits && i < about->n_channels; i++)
		fits = about_add(q, CHUNK_CHANNELS, record,
				 channel_encode(record, &about->channels[i], &q->layout.place[i]));
	lane_seal(q, LANE_ABOUT);
	return fits;
}

/* A tier for whose columns there is no room in a block, or no memory, has none. */
static void pyramids_begin(struct lanes *q, const struct session *about)
{
	for (int t = 0; t < TIERS; t++) {
		size_t width = about->width[t];
		int zoom = pyramid_zoom(about->hz[t]);

		q->pyramid[t].width = 0;
		if (width > 0 && width <= PYRAMID_WIDEST && pyramid_record(width) < BLOCK_BYTES / 2 &&
		    course_init(&q->pyramid[t], width, zoom_base(about->hz[t]), zoom) < 0)
			q->pyramid[t].width = 0;
	}
}

int lanes_begin(struct lanes *q, const struct session *about, struct err *e)
{
	if (layout_make(&q->layout, about, e) < 0)
		return -1;
	q->about = about;
	q->runs = calloc(about->n_channels + 1, sizeof(*q->runs));
	if (!q->runs)
		return err_set(e, ERR_FAILED, _("out of memory"));
	for (int t = 0; t < TIERS; t++) {
		if (image_init(&q->image[t], &q->layout, (enum tier)t, about->width[t]) < 0)
			return err_set(e, ERR_FAILED, _("out of memory"));
		q->last_ns[t] = about->start.mono_ns;
		if (q->layout.extra[t] * 8 > BLOCK_BYTES / 2)
			return err_set(e, ERR_FAILED, _("a trace cannot hold %zu channels"),
				       about->n_channels);
	}
	if (!q->stream) /* its reader makes them of the rows */
		pyramids_begin(q, about);
	if (!about_write(q, about) || !lane_room(q, LANE_FAST, HEADER_SIZE, 0))
		return err_set(e, ERR_FAILED, _("a trace cannot hold %zu channels"), about->n_channels);
	if (q->stream) /* it has no header, and none can be completed later */
		return 0;
	header_encode(lane_end(q, LANE_FAST), about, &q->layout);
	q->current[LANE_FAST]->used += HEADER_SIZE;
	lanes_seal(q, false); /* the header reaches the file at once */
	return 0;
}

/* Whoever calls this has made room. */
static void run_close(struct lanes *q, size_t channel)
{
	struct open_run *o = &q->runs[channel];

	if (!o->open)
		return;
	q->current[LANE_RUNS]->used += run_encode(
		lane_end(q, LANE_RUNS), &(struct run) {(uint32_t)channel, o->row, o->count, o->value});
	q->closed++;
	o->open = false;
}

/* All runs are written as far as they have come: the next row begins a new one
 * and the join puts the two together. */
static void runs_close(struct lanes *q)
{
	uint64_t rows = 0;
	uint8_t *p;

	for (size_t i = 0; i < q->about->n_channels; i++)
		run_close(q, i);
	for (int t = 0; t < TIERS; t++)
		rows += q->rows[t];
	if (q->stream || rows == q->covered || !lane_room(q, LANE_COVER, COVER_SIZE, 0))
		return;
	p = lane_end(q, LANE_COVER);
	for (int t = 0; t < TIERS; t++)
		put_u64(p + 8 * t, q->rows[t]);
	put_u64(p + 8 * TIERS, q->closed);
	q->current[LANE_COVER]->used += COVER_SIZE;
	q->covered = rows;
}

/* The newest row is q->image[tier], before that it was one of which `before` was lossy. */
static void runs_note(struct lanes *q, enum tier tier, uint32_t before)
{
	const struct image *m = &q->image[tier];

	for (uint32_t left = before | m->lossy; left; left &= left - 1) {
		const struct cell *c = &q->layout.cells[tier][__builtin_ctz(left)];
		struct open_run *o = &q->runs[c->channel];
		double v = m->values[c->column];

		if (!(m->lossy & left & -left)) {
			run_close(q, c->channel);
		} else if (o->open && same_value(o->value, v)) {
			o->count++;
		} else {
			run_close(q, c->channel);
			*o = (struct open_run) {true, q->rows[tier], 1, v};
		}
	}
}

static void extra_store(struct lanes *q, enum tier tier, struct block *b, const double *values)
{
	uint8_t *row = b->bytes + b->used;

	for (size_t i = q->layout.n_fields[tier]; i < q->layout.n_cells[tier]; i++) {
		const struct cell *c = &q->layout.cells[tier][i];

		put_f64(row + 8 * (size_t)c->place.slot, values[c->column]);
	}
	b->used += 8 * q->layout.extra[tier];
	b->columns.rows++;
}

/* The open column of a tier is complete.  When the disk lags behind there is no
 * room for it, and the join sees that a part is missing. */
static void lod_take(struct lanes *q, enum tier tier)
{
	enum lane lane = (enum lane)((int)LANE_PYRAMID + (int)tier);
	struct course *c = &q->pyramid[tier];
	size_t one = pyramid_record(c->width);
	uint64_t row = c->row, rows = c->rows;
	struct block *b = q->current[lane];
	int64_t column = c->column >> (c->top - c->base);

	if (b && b->pyramid.columns > 0 && column != b->pyramid.first + b->pyramid.columns)
		lane_seal(q, lane);
	if (!lane_room(q, lane, one, 2) || !course_take(c, lane_end(q, lane), &column)) {
		c->width = 0;
		return;
	}
	b = q->current[lane];
	if (b->pyramid.columns == 0)
		b->pyramid = (struct pyramid_head) {tier, c->top, (uint32_t)c->width, 0, column, row, 0};
	b->pyramid.columns++;
	b->pyramid.rows += rows;
	b->used += one;
}

/* By the times that a reader will see. */
static void lod_row(struct lanes *q, enum tier tier, const uint8_t *row, const double *values)
{
	struct course *c = &q->pyramid[tier];
	int64_t ns = 0;

	if (c->width == 0)
		return;
	row_time(row, &ns);
	ns += q->about->start.mono_ns;
	if (course_leaves(c, ns >> c->base))
		lod_take(q, tier);
	if (c->width > 0)
		course_row(c, ns, q->rows[tier], values);
}

/* Rows were lost; there is room again, or it is the end. */
static void hole_close(struct lanes *q, enum tier tier, int64_t to_ns)
{
	struct gap *g = &q->hole[tier];

	if (g->missed == 0 || !lane_room(q, LANE_GAPS, GAP_SIZE, 0))
		return;
	g->to_ns = to_ns;
	q->current[LANE_GAPS]->used += gap_encode(lane_end(q, LANE_GAPS), g);
	g->missed = 0;
}

static void runs_seal(struct lanes *q)
{
	if (!q->runs || !lane_room(q, LANE_RUNS, RUNS_ROOM, BLOCK_SPARE))
		return;
	runs_close(q);
	lane_seal(q, LANE_RUNS);
	lane_seal(q, LANE_COVER);
}

/* A reader of a stream makes rows of what it has, as they come.  So the rows of a
 * tier, what belongs to them and what stands between them are made ready
 * together, rows last, however far the reader lags behind. */
static bool frame_seal(struct lanes *q, enum tier tier)
{
	static const enum lane before[] = {LANE_GAPS, LANE_MARKS, LANE_RUNS};

	if (!lane_room(q, LANE_RUNS, RUNS_ROOM, 0))
		return false;
	for (size_t i = 0; i < q->about->n_channels; i++)
		run_close(q, i);
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		lane_seal(q, before[i]);
	lane_seal(q, columns_lane(tier));
	lane_seal(q, row_lane(tier));
	return true;
}

/* The blocks that rows of a tier are put into. */
struct place_for {
	struct block *row, *extra;
	size_t rows; /* that they have room for */
};

/* A place for at least one row and all that belongs to it; false: there is none. */
static bool rows_place(struct lanes *q, enum tier tier, struct place_for *out)
{
	enum lane lane = row_lane(tier), extra = columns_lane(tier);
	size_t wide = 8 * q->layout.extra[tier], closed = q->layout.n_fields[tier] * RUN_SIZE, left;

	/* What says that a value is missing comes before its row. */
	if (q->stream && (lane_full(q, lane, row_size[tier]) || (wide && lane_full(q, extra, wide)))) {
		if (!frame_seal(q, tier))
			return false;
	} else if (lane_full(q, lane, row_size[tier])) {
		runs_seal(q);
	}
	if (!lane_room(q, lane, row_size[tier], BLOCK_SPARE) ||
	    (wide && !lane_room(q, extra, wide, BLOCK_SPARE)) ||
	    !lane_room(q, LANE_RUNS, RUNS_ROOM, BLOCK_SPARE))
		return false;
	out->row = q->current[lane];
	out->extra = wide ? q->current[extra] : NULL;
	out->rows = lane_left(q, lane) / row_size[tier];
	if (wide && lane_left(q, extra) / wide < out->rows)
		out->rows = lane_left(q, extra) / wide;
	/* Each row may end as many runs as it has fields. */
	left = (lane_left(q, LANE_RUNS) - RUNS_ROOM) / (closed ? closed : 1);
	if (left + 1 < out->rows)
		out->rows = left + 1;
	if (out->row->used == lane_head(q, lane))
		out->row->columns.row = q->rows[tier];
	if (wide && out->extra->used == lane_head(q, extra))
		out->extra->columns =
			(struct columns_head) {tier, (uint32_t)q->layout.extra[tier], q->rows[tier], 0};
	return true;
}

static void row_put(struct lanes *q, enum tier tier, const struct place_for *p, int64_t t_ns,
		    const double *values)
{
	struct image *m = &q->image[tier];
	uint32_t lossy = m->lossy;
	uint8_t *row = p->row->bytes + p->row->used;

	image_set(m, values);
	memcpy(row, m->row, row_size[tier]);
	row_time_put(row, t_ns - q->about->start.mono_ns);
	runs_note(q, tier, lossy);
	lod_row(q, tier, row, values);
	p->row->used += row_size[tier];
	if (p->extra)
		extra_store(q, tier, p->extra, values);
	q->rows[tier]++;
	q->last_ns[tier] = t_ns;
}

static void row_lose(struct lanes *q, enum tier tier, int64_t t_ns)
{
	if (q->hole[tier].missed++ == 0)
		q->hole[tier] = (struct gap) {tier, GAP_LOST, q->last_ns[tier], t_ns, 1};
	q->hole[tier].to_ns = t_ns;
	q->lost++;
}

void lanes_rows(struct lanes *q, const struct rows *r)
{
	struct place_for place;
	size_t i = 0;

	while (i < r->n) {
		if (!rows_place(q, r->tier, &place) || r->t_ns[i] < q->last_ns[r->tier]) {
			row_lose(q, r->tier, r->t_ns[i++]);
			continue;
		}
		hole_close(q, r->tier, r->t_ns[i]);
		for (; place.rows > 0 && i < r->n && r->t_ns[i] >= q->last_ns[r->tier]; place.rows--, i++)
			row_put(q, r->tier, &place, r->t_ns[i], r->values + i * r->width);
	}
}

void lanes_mark(struct lanes *q, const struct mark *m)
{
	if (!lane_room(q, LANE_MARKS, MARK_SIZE + sizeof(m->label), 0)) {
		q->lost_marks++;
		return;
	}
	q->current[LANE_MARKS]->used += mark_encode(lane_end(q, LANE_MARKS), m, q->rows[TIER_FAST]);
	q->marks++;
}

void lanes_gap(struct lanes *q, const struct gap *g)
{
	if (lane_room(q, LANE_GAPS, GAP_SIZE, 1))
		q->current[LANE_GAPS]->used += gap_encode(lane_end(q, LANE_GAPS), g);
}

void lanes_change(struct lanes *q, const struct change *c)
{
	if (lane_room(q, LANE_CHANGES, CHANGE_MAX, 1))
		q->current[LANE_CHANGES]->used += change_encode(lane_end(q, LANE_CHANGES), c);
}

bool lanes_seal(struct lanes *q, bool last)
{
	if (q->runs && lane_room(q, LANE_RUNS, RUNS_ROOM, last ? 0 : BLOCK_SPARE))
		runs_close(q);
	else if (q->runs && q->stream)
		return false;
	for (int t = 0; last && t < TIERS; t++) {
		hole_close(q, (enum tier)t, q->hole[t].to_ns);
		if (q->pyramid[t].width > 0 && q->pyramid[t].open)
			lod_take(q, (enum tier)t);
	}
	/* Rows last: what says that a value in them is missing must be there first,
	 * should this be the moment at which everything ends. */
	for (int i = LANES; i-- > 0;)
		if (last || i < LANE_PYRAMID ||
		    i >= LANE_RUNS) /* columns can wait: they are also made of rows */
			lane_seal(q, (enum lane)i);
	return true;
}
