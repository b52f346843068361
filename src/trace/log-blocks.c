/* The decoded rows of chunks, in a cache. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log-read.h"

#define LOST    4096		 /* rows that no chunk has, in a block */
#define NOWHERE (UINT64_C(1) << 60) /* their positions */

/* Allocates a block of n rows, with `bytes` more bytes after block->arrays. */
static struct log_block *block_add(struct trace *r, enum tier tier, uint64_t at, size_t n, size_t bytes)
{
	size_t width = r->session.width[tier];
	struct log_block *b =
		log_cache_add(&r->caches[tier == TIER_FAST ? LOG_FAST_ROWS : LOG_ROWS], at * 4 + tier, n, n * width,
			      width * sizeof(*b->arrays) + bytes + n);

	if (!b)
		return NULL;
	b->n = (uint32_t)n;
	b->arrays = (struct log_array *)(void *)b->records;
	b->late = b->records + width * sizeof(*b->arrays) + bytes;
	return b;
}

const double *log_block_values(struct log_block *b, unsigned column, size_t *apart)
{
	struct log_array *a = b->width == 0 ? &b->arrays[column] : NULL;
	double *v = b->values + (a ? (size_t)column * b->n : column);

	*apart = a ? 1 : b->width;
	if (a && a->p)
		log_array_get(a, b->n, v);
	if (a)
		a->p = NULL;
	return v;
}

/* Fills a block with lost rows: at the end of the cell, without values. */
static void block_lose(struct trace *r, enum tier tier, struct log_block *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		b->t_ns[i] = log_cell_ns(b->cell + 1) - 1;
	for (size_t i = 0; i < (size_t)b->n * r->session.width[tier]; i++)
		b->values[i] = (double)NAN;
	memset(b->arrays, 0, r->session.width[tier] * sizeof(*b->arrays));
	memset(b->late, 0, b->n);
}

struct log_block *log_block_read(struct trace *r, const struct log_item *item, enum tier tier)
{
	size_t n = item->rows[tier], width = r->session.width[tier];
	const struct log_generation *g = NULL;
	struct log_section *s = &r->data.sections[tier];
	struct log_head h;
	struct log_block *b;

	if (item->kind && log_read_chunk(r, item, &h) && s->n == n)
		g = log_generation_find(r, h.generation);
	b = block_add(r, tier, item->at, n, g ? s->size : 0);
	if (!b)
		return NULL;
	b->cell = item->cell;
	if (!g || !log_section_times(s, item->cell, b->t_ns, b->late, NULL)) {
		block_lose(r, tier, b);
		return b;
	}
	memcpy(b->arrays + width, s->arrays, s->size);
	if (!log_section_arrays(s, g->column[tier], g->width[tier], width, (uint8_t *)(b->arrays + width), b->arrays))
		log_note(r, LOG_FAULT_COLUMN, item->at, h.seq, item->cell, 0);
	return b;
}

struct log_block *log_block_of(struct trace *r, enum tier tier, uint64_t row, uint64_t *first)
{
	const struct log_item *found = log_item_of_row(r, tier, row, first);
	struct log_item item = found ? *found : (struct log_item) {.at = 0};
	struct log_block *b;

	if (!found)
		return NULL;
	if (item.open)
		return r->place->open_rows(r, &item, tier);
	if (!item.kind) { /* some of the rows that no chunk has */
		uint32_t skip = (uint32_t)(row - *first) / LOST * LOST;

		*first += skip;
		item.rows[tier] = item.rows[tier] - skip < LOST ? item.rows[tier] - skip : LOST;
		item.at = NOWHERE + *first;
	}
	b = log_cache_find(&r->caches[tier == TIER_FAST ? LOG_FAST_ROWS : LOG_ROWS], item.at * 4 + tier);
	return b ? b : log_block_read(r, &item, tier);
}
