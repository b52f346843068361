/* The chunks of a log without an index. A second of a board takes about 12 kB, so a minute fits
 * into less than a megabyte. */
#include "record/pretrigger-ring.h"

#include <stdlib.h>
#include <string.h>

#define CELL_NS     (INT64_C(1) << LOG_CELL_ZOOM)
#define EVENT_BYTES 4096 /* of marks, gaps and changes per second */

double chunk_ring_bytes(const struct session *about, int64_t span_ns)
{
	double second = EVENT_BYTES, cells = (double)NS_PER_S / (double)CELL_NS;

	for (int t = 0; t < TIERS; t++) {
		second += about->hz[t] * (8 * (double)about->width[t] + 4);
		second += cells * ((double)about->width[t] + 32);
	}
	second += cells * (double)(sizeof(struct ring_chunk) + LOG_HEAD + sizeof(void *));
	return second * ((double)span_ns / (double)NS_PER_S + 1);
}

void chunk_ring_begin(struct chunk_ring *r, int64_t span_ns, size_t limit)
{
	*r = (struct chunk_ring) {.end = &r->first, .span_ns = span_ns, .limit = limit};
}

/* Ranges never displace rows. */
static size_t *bytes_of(struct chunk_ring *r, const struct ring_chunk *c)
{
	return c->entry.kind == LOG_RANGE ? &r->range_bytes : &r->bytes;
}

static void drop_first(struct chunk_ring *r)
{
	struct ring_chunk *c = r->first;

	for (int t = 0; r->read == &r->first && t < TIERS; t++)
		r->skipped[t] += c->entry.rows[t];
	if (r->read == &c->next)
		r->read = &r->first;
	if (r->end == &c->next)
		r->end = &r->first;
	r->first = c->next;
	*bytes_of(r, c) -= sizeof(*c) + c->n;
	r->dropped = true;
	free(c);
}

bool chunk_ring_put(void *ring, const struct log_entry *e, const uint8_t *chunk, size_t n)
{
	struct chunk_ring *r = ring;
	int64_t oldest = log_cell_ns(e->cell + 1) - r->span_ns;
	struct ring_chunk *c;

	if (e->kind != LOG_DATA && e->kind != LOG_MARK && e->kind != LOG_GAP && e->kind != LOG_STATE &&
	    e->kind != LOG_RANGE)
		return true;
	if (e->kind == LOG_RANGE && r->range_bytes + sizeof(*c) + n > CHUNK_RING_RANGES)
		return false;
	c = malloc(sizeof(*c) + n);
	if (!c)
		return false;
	*c = (struct ring_chunk) {.entry = *e, .n = n};
	memcpy(c->bytes, chunk, n);
	*r->end = c;
	r->end = &c->next;
	*bytes_of(r, c) += sizeof(*c) + n;
	while (r->first != c &&
	       (r->bytes > r->limit || log_cell_ns(r->first->entry.cell + 1) <= oldest))
		drop_first(r);
	if (r->bytes + r->range_bytes > r->bytes_most)
		r->bytes_most = r->bytes + r->range_bytes;
	return true;
}

void chunk_ring_seek(struct chunk_ring *r, int64_t cell)
{
	r->read = &r->first;
	while (*r->read && (*r->read)->entry.cell < cell)
		r->read = &(*r->read)->next;
	memset(r->skipped, 0, sizeof(r->skipped));
}

int chunk_ring_read(struct chunk_ring *r, struct log_unpacker *u, struct log_entry *e, struct log_bytes *raw)
{
	const struct ring_chunk *c = *r->read;
	struct log_head h;

	if (!c)
		return 0;
	r->read = &(*r->read)->next;
	*e = c->entry;
	return log_head_get(c->bytes, &h) && log_unpack(u, &h, c->bytes + LOG_HEAD, raw) == LOG_OK ? 1 : -1;
}

void chunk_ring_free(struct chunk_ring *r)
{
	while (r->first)
		drop_first(r);
}
