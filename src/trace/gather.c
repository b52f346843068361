/* The extension out of the journal: what comes there in many small chunks (a
 * fraction of a second each) leaves in few large ones. */
#include <errno.h>
#include <math.h>

#include "util/intl.h"
#include "trace/joint.h"
#include "trace/output.h"

static int collect_flush(struct join *j, struct collector *c)
{
	if (c->used == 0)
		return 0;
	if (c->id == CHUNK_COLUMNS)
		columns_encode(c->bytes + CHUNK_HEAD, &c->columns);
	j->chunks++;
	size_t n = chunk_seal(c->bytes, c->id, c->used);
	c->used = 0;
	return join_write(j, c->bytes, n);
}

static int collect_add(struct join *j, struct collector *c, uint32_t id, const uint8_t *p, size_t n)
{
	if ((c->used + n > COLLECT_SIZE || c->id != id) && collect_flush(j, c) < 0)
		return -1;
	c->id = id;
	memcpy(c->bytes + CHUNK_HEAD + c->used, p, n);
	c->used += n;
	return 0;
}

static int collect_columns(struct join *j, const uint8_t *p, size_t n)
{
	struct columns_head h;
	struct collector *c;

	if (!columns_decode(p, n, &h) || h.row >= j->rows[h.tier])
		return 0;
	if (h.rows > j->rows[h.tier] - h.row) {
		/* It reached the disk, and the rows did not. */
		h.rows = j->rows[h.tier] - h.row;
		n = COLUMNS_HEAD + (size_t)h.rows * h.columns * 8;
	}
	c = &j->collect[COLLECT_COLUMNS + h.tier];
	if (c->used > 0 &&
	    (c->columns.columns != h.columns || c->columns.row + c->columns.rows != h.row ||
	     c->used + n > COLLECT_SIZE) &&
	    collect_flush(j, c) < 0)
		return -1;
	if (c->used == 0) {
		c->columns = h;
		return collect_add(j, c, CHUNK_COLUMNS, p, n);
	}
	c->columns.rows += h.rows;
	return collect_add(j, c, CHUNK_COLUMNS, p + COLUMNS_HEAD, n - COLUMNS_HEAD);
}

static int run_flush(struct join *j, size_t channel)
{
	struct open_run *o = &j->runs[channel];
	uint8_t record[RUN_SIZE];

	if (!o->open)
		return 0;
	o->open = false;
	run_encode(record, &(struct run) {(uint32_t)channel, o->row, o->count, o->value});
	return collect_add(j, &j->collect[COLLECT_RUNS], CHUNK_RUNS, record, RUN_SIZE);
}

static int run_add(struct join *j, const struct run *r)
{
	struct open_run *o = &j->runs[r->channel];

	if (o->open && o->row + o->count == r->row && same_value(o->value, r->value)) {
		o->count += r->count;
		return 0;
	}
	if (run_flush(j, r->channel) < 0)
		return -1;
	*o = (struct open_run) {true, r->row, r->count, r->value};
	return 0;
}

/* Rows of a stretch, as they are in the part, to runs of a channel that is missing
 * there. */
static int doubt_stretch(struct join *j, size_t channel, uint64_t row, uint64_t end)
{
	enum field f = (enum field)j->fields[channel];
	size_t size = row_size[j->tiers[channel]];
	uint8_t rows[64 * MEDIUM_SIZE], last[FAST_SIZE];
	bool load = f == FIELD_GPU, known = false;

	/* The row before tells a load that was measured from one that is repeated. */
	if (load && row > 0)
		known = read_at(j->part, last, FAST_SIZE,
				j->at[TIER_FAST] + (off_t)((row - 1) * FAST_SIZE)) == FAST_SIZE;
	while (row < end) {
		uint64_t n = end - row < 64 ? end - row : 64;

		if (read_at(j->part, rows, (size_t)n * size,
			    j->at[j->tiers[channel]] + (off_t)(row * size)) != (ssize_t)(n * size))
			return err_sys(j->err, ERR_FAILED, errno, _("cannot read %s.part"), j->shown);
		for (uint64_t i = 0; i < n; i++, row++) {
			double v = cell_decode(rows + i * size, f, j->slots[channel]);
			bool again = load && (!known || get_u32(last + F_CPU) == ROW_EMPTY ||
					      get_u16(last + F_GPU) == get_u16(rows + i * size + F_GPU));

			if (load)
				memcpy(last, rows + i * size, FAST_SIZE);
			known = true;
			if (isnan(v) || (!again && !value_doubtful(f, v)))
				continue;
			if (run_add(j, &(struct run) {(uint32_t)channel, row, 1, NAN}) < 0)
				return -1;
			j->doubted++;
		}
	}
	return 0;
}

/* What is in doubt of a channel before a row from which on it is not. */
static int doubts_settle(struct join *j, size_t channel, uint64_t before, uint64_t from)
{
	enum tier t = (enum tier)j->tiers[channel];
	uint64_t *settled = &j->settled[channel];

	for (size_t i = 0; i < j->doubts.tier[t].n && field_doubtful((enum field)j->fields[channel]); i++) {
		const struct stretch *s = &j->doubts.tier[t].list[i];
		uint64_t row = s->row > *settled ? s->row : *settled;
		uint64_t end = s->row + s->count < before ? s->row + s->count : before;

		if (row >= end)
			continue;
		if (doubt_stretch(j, channel, row, end) < 0)
			return -1;
		*settled = end;
	}
	if (from > *settled)
		*settled = from;
	return 0;
}

static int collect_runs(struct join *j, const uint8_t *p, size_t n)
{
	struct run r;

	for (; n >= RUN_SIZE; p += RUN_SIZE, n -= RUN_SIZE) {
		uint64_t rows;

		run_decode(p, &r);
		rows = r.channel < j->n_runs ? j->rows[j->tiers[r.channel]] : 0;
		if (r.row >= rows)
			continue;
		if (r.count > rows - r.row)
			r.count = rows - r.row;
		if (doubts_settle(j, r.channel, r.row, r.row + r.count) < 0 || run_add(j, &r) < 0)
			return -1;
	}
	return 0;
}

static int collect_marks(struct join *j, const uint8_t *p, size_t n)
{
	uint8_t record[MARK_SIZE + sizeof(((struct mark *)NULL)->label)];
	struct mark m;
	uint64_t row;
	size_t at;

	for (size_t used; n > 0; p += used, n -= used) {
		used = mark_decode(p, n, &m, &row);
		if (used == 0)
			break;
		at = syncs_find(&j->syncs, &m);
		if (at == SIZE_MAX)
			continue;
		m.id = j->syncs.ids[at];
		if (collect_add(j, &j->collect[COLLECT_MARKS], CHUNK_MARKS, record,
				mark_encode(record, &m, j->syncs.list[at].row)) < 0)
			return -1;
	}
	return 0;
}

/* The columns of the journal, in levels: they are dropped where anything of the
 * recording is missing, since a reader can make them of the rows as well. */
static int collect_pyramid(struct join *j, const uint8_t *p, size_t n)
{
	struct pyramid_head h;
	struct tower *w;
	size_t one;

	if (!pyramid_head_decode(p, n, &h))
		return 0;
	w = &j->summit[h.tier].tower;
	one = pyramid_record(h.width);
	p += PYRAMID_HEAD;
	for (uint32_t i = 0; i < h.columns && w->live > 0; i++, p += one) {
		uint64_t row = get_u64(p), next = i + 1 < h.columns ? get_u64(p + one) : h.row + h.rows;

		if (next > row)
			tower_record(w, h.first + i, next - row, p);
	}
	return w->failed ? -1 : 0;
}

static int write_pyramid(void *to, const struct pyramid_head *h, const uint8_t *chunk, size_t n)
{
	struct join *j = to;

	(void)h;
	j->chunks++;
	return join_write(j, chunk, n);
}

#define PYRAMID_ROWS 8192 /* of fewer it is not worth its bytes */

/* The finest level so that all of them take an eighth of what the rows take. */
static int summit_zoom(const struct join *j, const struct summit *s)
{
	size_t row = row_size[s->head.tier] + 8 * j->extra[s->head.tier];
	double room = (double)s->head.rows * (double)row / 8, least = 7.0 / 8;
	int zoom = s->head.zoom;

	room = room * least / (double)pyramid_record(s->head.width);
	while (zoom < ZOOM_MAX && (double)(s->head.columns >> (zoom - s->head.zoom)) > room)
		zoom++;
	return zoom;
}

static int summits_begin(struct join *j)
{
	for (int t = 0; t < TIERS; t++) {
		struct summit *s = &j->summit[t];
		int zoom = s->head.zoom;
		int64_t first, last;

		if (s->broken || s->head.rows < PYRAMID_ROWS || s->head.rows != j->rows[t] ||
		    j->journal.broken > 0 || j->journal.torn > 0 || j->n_bad > 0)
			continue;
		first = s->head.first << zoom;
		last = (s->head.first + s->head.columns) << zoom;
		zoom = summit_zoom(j, s);
		if (tower_init(&s->tower, s->head.tier, s->head.width, s->head.zoom, zoom,
			       pyramid_levels(zoom, first, last), LEDGE_SIZE, write_pyramid, j) < 0)
			return join_no_memory(j);
	}
	return 0;
}

static int visit_extension(void *to, uint32_t id, uint8_t *p, size_t n)
{
	struct join *j = to;

	switch (id) {
	case CHUNK_MEDIUM:
	case CHUNK_SLOW:
	case CHUNK_JOIN:
	case CHUNK_COVER:
		return 0;
	case CHUNK_COLUMNS:
		return collect_columns(j, p, n);
	case CHUNK_PYRAMID:
		return collect_pyramid(j, p, n);
	case CHUNK_RUNS:
		return collect_runs(j, p, n);
	case CHUNK_MARKS:
		return collect_marks(j, p, n);
	case CHUNK_GAPS:
		return collect_add(j, &j->collect[COLLECT_GAPS], id, p, n);
	default:
		return collect_add(j, &j->collect[COLLECT_ABOUT], id, p, n);
	}
}

int gather_chunk(struct join *j, uint32_t id, const uint8_t *p, size_t n)
{
	struct collector *c = &j->collect[COLLECT_ABOUT];

	return collect_add(j, c, id, p, n) < 0 || collect_flush(j, c) < 0 ? -1 : 0;
}

int gather(struct join *j)
{
	if (summits_begin(j) < 0 || join_each(j, visit_extension) < 0)
		return -1;
	for (size_t i = 0; i < j->n_runs; i++)
		if (doubts_settle(j, i, j->rows[j->tiers[i]], 0) < 0 || run_flush(j, i) < 0)
			return -1;
	for (int i = 0; i < COLLECTS; i++)
		if (collect_flush(j, &j->collect[i]) < 0)
			return -1;
	for (int t = 0; t < TIERS; t++)
		if (tower_end(&j->summit[t].tower) < 0)
			return -1;
	return 0;
}
