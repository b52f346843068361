/* Rings of rows.  An index counts rows since the beginning and never wraps, so
 * that whoever reads slowly can tell that a row has gone. */
#include "trace/hold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM_SPARE 256  /* rows; what one call of the stream may bring */
#define CELL_BYTES 8192 /* of rows in which something changes some hundred */
#define CELL_ROWS  8    /* and at least as many of which nothing can be packed */
#define CELL_PAGE  4096
#define CELLS_OVER 2 /* the chunk that is filled, and the one whose first rows are too old */

struct plan {
	size_t most, cell;
	double room, cells;
};

/* What a tier needs; all 0: nothing. */
static struct plan plan(const struct session *about, enum tier tier, int64_t span_ns)
{
	struct plan p = {0};

	if (!about->width[tier])
		return p;
	p.most = dense_most(about->width[tier]);
	p.cell = CELL_BYTES;
	if (p.cell < CELL_ROWS * p.most)
		p.cell = (CELL_ROWS * p.most + CELL_PAGE - 1) / CELL_PAGE * CELL_PAGE;
	p.room = floor((double)span_ns / (double)NS_PER_S * about->hz[tier]) + ROOM_SPARE;
	p.cells = ceil(p.room / (double)(p.cell / p.most)) + CELLS_OVER;
	return p;
}

/* To whole pages, so that what is never used shares none with what is. */
static double pages(double bytes)
{
	return ceil(bytes / CELL_PAGE) * CELL_PAGE;
}

static double notes_bytes(void)
{
	return pages(HOLD_MARKS * sizeof(struct mark)) + pages(HOLD_GAPS * sizeof(struct gap)) +
	       pages(HOLD_CHANGES * sizeof(struct change));
}

static double tier_bytes(const struct plan *p)
{
	return p->cells * (double)p->cell + pages(p->cells * sizeof(struct hold_chunk)) +
	       pages(p->cells * sizeof(uint32_t));
}

double hold_bytes(const struct session *about, int64_t span_ns)
{
	double bytes = notes_bytes();

	for (int t = 0; t < TIERS; t++) {
		struct plan p = plan(about, (enum tier)t, span_ns);

		bytes += tier_bytes(&p);
	}
	return bytes;
}

/* There are numbers for the bytes, and for the cells: none is smaller than CELL_BYTES. */
static bool countable(double bytes)
{
	return bytes < (double)SIZE_MAX / 2 && bytes / CELL_BYTES < (double)UINT32_MAX;
}

/* The next bytes of the memory. */
static void *carve(uint8_t **at, double bytes)
{
	void *p = *at;

	*at += (size_t)pages(bytes);
	return p;
}

static bool tier_init(struct hold_tier *r, const struct session *about, enum tier tier, int64_t span_ns,
		      uint8_t **at)
{
	struct plan p = plan(about, tier, span_ns);

	if (!about->width[tier])
		return true;
	r->most = p.most;
	r->cell = p.cell;
	r->room = (size_t)p.room;
	r->cells = (size_t)p.cells;
	r->bytes = carve(at, p.cells * (double)p.cell);
	r->chunks = carve(at, p.cells * sizeof(*r->chunks));
	r->free = carve(at, p.cells * sizeof(*r->free));
	return dense_init(&r->last, about->width[tier]);
}

bool hold_init(struct hold *h, const struct session *about, int64_t span_ns)
{
	double bytes = hold_bytes(about, span_ns);
	bool ok = true;
	uint8_t *at;

	memset(h, 0, sizeof(*h));
	if (!countable(bytes))
		return false;
	h->size = (size_t)bytes;
	at = mmap(NULL, h->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return false;
	/* Else one row may take two megabytes. */
	madvise(at, h->size, MADV_NOHUGEPAGE);
	h->memory = at;
	h->marks = carve(&at, HOLD_MARKS * sizeof(*h->marks));
	h->gaps = carve(&at, HOLD_GAPS * sizeof(*h->gaps));
	h->changes = carve(&at, HOLD_CHANGES * sizeof(*h->changes));
	for (int t = 0; t < TIERS; t++)
		ok = tier_init(&h->tiers[t], about, (enum tier)t, span_ns, &at) && ok;
	if (!ok)
		hold_free(h);
	return ok;
}

void hold_free(struct hold *h)
{
	for (int t = 0; t < TIERS; t++)
		dense_free(&h->tiers[t].last);
	if (h->memory)
		munmap(h->memory, h->size);
	memset(h, 0, sizeof(*h));
}

size_t hold_touched(const struct hold *h)
{
	size_t bytes = h->n_marks * sizeof(*h->marks) + h->n_gaps * sizeof(*h->gaps) +
		       h->n_changes * sizeof(*h->changes);

	for (int t = 0; t < TIERS; t++) {
		const struct hold_tier *r = &h->tiers[t];
		size_t chunks = r->end < r->cells ? (size_t)r->end : r->cells;

		bytes += r->touched * r->cell + chunks * sizeof(*r->chunks);
	}
	return bytes;
}

static struct hold_chunk *chunk(const struct hold_tier *r, uint64_t i)
{
	return &r->chunks[i % r->cells];
}

static uint8_t *chunk_bytes(const struct hold_tier *r, uint64_t i)
{
	return r->bytes + chunk(r, i)->cell * r->cell;
}

static void drop_oldest(struct hold_tier *r)
{
	r->free[r->n_free++] = chunk(r, r->from)->cell;
	r->from++;
}

static void chunk_begin(struct hold_tier *r, int64_t t_ns)
{
	while (r->end - r->from > 1 && r->head - chunk(r, r->from + 1)->row >= r->room)
		drop_oldest(r);
	if (!r->n_free && r->touched == r->cells)
		drop_oldest(r); /* there are too many cells for that */
	*chunk(r, r->end) = (struct hold_chunk) {
		.row = r->head,
		.t_ns = t_ns,
		.cell = r->n_free ? r->free[--r->n_free] : (uint32_t)r->touched++,
	};
	r->end++;
	dense_start(&r->last, t_ns);
}

void hold_row(struct hold *h, enum tier tier, int64_t t_ns, const double *values)
{
	struct hold_tier *r = &h->tiers[tier];
	struct hold_chunk *c;
	uint8_t *bytes;

	if (r->end == r->from || chunk(r, r->end - 1)->used + r->most > r->cell)
		chunk_begin(r, t_ns);
	c = chunk(r, r->end - 1);
	bytes = chunk_bytes(r, r->end - 1);
	c->used = (uint32_t)(dense_put(&r->last, bytes + c->used, t_ns, values) - bytes);
	r->head++;
}

void hold_mark(struct hold *h, const struct mark *m)
{
	size_t at;

	if (h->n_marks == HOLD_MARKS) {
		h->n_marks--;
		memmove(h->marks, h->marks + 1, h->n_marks * sizeof(*h->marks));
	}
	for (at = h->n_marks++; at && h->marks[at - 1].t_ns > m->t_ns; at--)
		h->marks[at] = h->marks[at - 1];
	h->marks[at] = *m;
}

void hold_gap(struct hold *h, const struct gap *g)
{
	if (h->n_gaps == HOLD_GAPS) {
		h->n_gaps--;
		memmove(h->gaps, h->gaps + 1, h->n_gaps * sizeof(*h->gaps));
	}
	h->gaps[h->n_gaps++] = *g;
}

bool hold_change(struct hold *h, const struct change *c, struct change *gone)
{
	bool room = h->n_changes < HOLD_CHANGES;
	size_t at;

	if (!room) {
		*gone = h->changes[0];
		h->n_changes--;
		memmove(h->changes, h->changes + 1, h->n_changes * sizeof(*h->changes));
	}
	for (at = h->n_changes++; at && h->changes[at - 1].t_ns > c->t_ns; at--)
		h->changes[at] = h->changes[at - 1];
	h->changes[at] = *c;
	return room;
}

uint64_t hold_oldest(const struct hold *h, enum tier tier)
{
	const struct hold_tier *r = &h->tiers[tier];

	return r->end > r->from ? chunk(r, r->from)->row : r->head;
}

int64_t hold_oldest_ns(const struct hold *h, enum tier tier)
{
	const struct hold_tier *r = &h->tiers[tier];

	return r->end > r->from ? chunk(r, r->from)->t_ns : INT64_MAX;
}

bool hold_cursor_init(struct hold_cursor *c, const struct hold *h, enum tier tier)
{
	memset(c, 0, sizeof(*c));
	c->tier = tier;
	return dense_init(&c->row, h->tiers[tier].last.width);
}

void hold_cursor_free(struct hold_cursor *c)
{
	dense_free(&c->row);
}

/* The last chunk that begins at a row or a time that is not later; the first one when none does. */
static uint64_t chunk_find(const struct hold_tier *r, uint64_t row, int64_t t_ns)
{
	uint64_t lo = r->from + 1, hi = r->end;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (chunk(r, mid)->row <= row && chunk(r, mid)->t_ns <= t_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - 1;
}

/* To the row behind the one where it stands, which is there. */
static void advance(const struct hold_tier *r, struct hold_cursor *c)
{
	const uint8_t *bytes;

	c->at++;
	if (c->chunk + 1 < r->end && c->at == chunk(r, c->chunk + 1)->row) {
		c->chunk++;
		c->next = 0;
	}
	if (c->next == 0)
		dense_start(&c->row, chunk(r, c->chunk)->t_ns);
	bytes = chunk_bytes(r, c->chunk);
	c->next = (size_t)(dense_get(&c->row, bytes + c->next) - bytes);
}

/* To the first row of a chunk. */
static void stand(const struct hold_tier *r, struct hold_cursor *c, uint64_t i)
{
	c->stands = true;
	c->chunk = i;
	c->next = 0;
	c->at = chunk(r, i)->row - 1; /* the first of all: one before it, modulo 2^64 */
	advance(r, c);
}

bool hold_at(const struct hold *h, struct hold_cursor *c, uint64_t row)
{
	const struct hold_tier *r = &h->tiers[c->tier];
	uint64_t in;

	if (row < hold_oldest(h, c->tier) || row >= r->head)
		return false;
	in = c->stands && c->chunk >= r->from && c->at <= row ? c->chunk : UINT64_MAX;
	/* A chunk further on is not reached by unpacking what is before it. */
	if (in == UINT64_MAX || (in + 2 < r->end && row >= chunk(r, in + 2)->row))
		stand(r, c, chunk_find(r, row, INT64_MAX));
	while (c->at < row)
		advance(r, c);
	return true;
}

uint64_t hold_find(const struct hold *h, struct hold_cursor *c, int64_t t_ns)
{
	const struct hold_tier *r = &h->tiers[c->tier];

	if (r->end == r->from)
		return r->head;
	stand(r, c, chunk_find(r, UINT64_MAX, t_ns));
	while (c->row.t_ns < t_ns) {
		if (c->at + 1 == r->head)
			return r->head;
		advance(r, c);
	}
	return c->at;
}
