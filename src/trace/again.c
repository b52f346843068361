/* A description is some kilobytes and does not change while a stream lasts: its
 * chunks are kept as they were sent first, and only the tally in them is new. */
#include "trace/again.h"

#include <stdlib.h>

static bool is_part(const struct block *b)
{
	return b->lane == LANE_ABOUT && journal_describes(b->id);
}

int again_make(struct again_out *a, const struct block *first)
{
	uint32_t sum = 0;
	uint16_t parts = 0;
	uint8_t *p;

	a->size = 0;
	for (const struct block *b = first; b; b = b->next)
		if (is_part(b)) {
			a->size += b->used + AGAIN_MORE + CHUNK_CRC;
			parts++;
		}
	a->bytes = p = calloc(1, a->size + 1);
	if (!p)
		return -1;
	for (const struct block *b = first; b; b = b->next) {
		size_t n = b->used - CHUNK_HEAD;

		if (!is_part(b))
			continue;
		put_u32(p + CHUNK_HEAD + AGAIN_HEAD, b->id);
		memcpy(p + CHUNK_HEAD + AGAIN_MORE, b->bytes + CHUNK_HEAD, n);
		sum = chunk_crc_more(sum, p + CHUNK_HEAD + AGAIN_HEAD, n + 4);
		p += chunk_seal(p, CHUNK_AGAIN, n + AGAIN_MORE);
	}
	p = a->bytes;
	for (uint16_t i = 0; i < parts; i++) {
		struct chunk c;

		chunk_head_decode(p, &c);
		put_u32(p + CHUNK_HEAD, sum);
		put_u16(p + CHUNK_HEAD + 4, i);
		put_u16(p + CHUNK_HEAD + 6, parts);
		p += CHUNK_HEAD + c.length + CHUNK_CRC;
	}
	return 0;
}

void again_tally(struct again_out *a, const uint8_t tally[TALLY_SIZE])
{
	struct chunk c;

	for (uint8_t *p = a->bytes; p < a->bytes + a->size; p += CHUNK_HEAD + c.length + CHUNK_CRC) {
		chunk_head_decode(p, &c);
		memcpy(p + CHUNK_HEAD + AGAIN_TALLY, tally, TALLY_SIZE);
		chunk_seal(p, CHUNK_AGAIN, (size_t)c.length);
	}
}

void again_free(struct again_in *a)
{
	for (size_t i = 0; i < a->parts; i++)
		free(a->part[i].p);
	free(a->part);
	*a = (struct again_in) {.parts = 0};
}

static bool put_part(struct again_in *a, size_t i, const uint8_t *p, size_t n)
{
	uint8_t *own = malloc(n);

	if (!own)
		return false;
	memcpy(own, p, n);
	a->part[i] = (struct again_part) {own, n};
	a->have++;
	return true;
}

int again_add(struct again_in *a, uint32_t id, const uint8_t *p, size_t n)
{
	uint8_t part[BLOCK_BYTES];
	struct again_part *more;

	if (a->parts == AGAIN_PARTS || n > sizeof(part) - 4)
		return 0;
	put_u32(part, id);
	memcpy(part + 4, p, n);
	more = reallocarray(a->part, a->parts + 1, sizeof(*more));
	if (!more)
		return -1;
	a->part = more;
	if (!put_part(a, a->parts, part, n + 4))
		return -1;
	a->parts++;
	a->sum = chunk_crc_more(a->sum, part, n + 4);
	return 0;
}

static bool whole(const struct again_in *a)
{
	uint32_t sum = 0;

	if (a->parts == 0 || a->have < a->parts)
		return false;
	for (size_t i = 0; i < a->parts; i++)
		sum = chunk_crc_more(sum, a->part[i].p, a->part[i].n);
	return sum == a->sum;
}

int again_take(struct again_in *a, const uint8_t *p, size_t n)
{
	size_t part, parts;
	uint32_t sum;

	if (n < AGAIN_MORE)
		return 0;
	sum = get_u32(p);
	part = get_u16(p + 4);
	parts = get_u16(p + 6);
	if (part >= parts || parts > AGAIN_PARTS)
		return 0;
	if (a->parts != parts || a->sum != sum || a->have == a->parts) {
		again_free(a);
		a->part = calloc(parts, sizeof(*a->part));
		if (!a->part)
			return -1;
		a->parts = parts;
		a->sum = sum;
	}
	if (!a->part[part].p && !put_part(a, part, p + AGAIN_HEAD, n - AGAIN_HEAD))
		return -1;
	return whole(a);
}

int again_each(const struct again_in *a, journal_visit *visit, void *to)
{
	for (size_t i = 0; i < a->parts; i++)
		if (visit(to, get_u32(a->part[i].p), a->part[i].p + 4, a->part[i].n - 4) < 0)
			return -1;
	return 0;
}
