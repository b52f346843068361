/* A chunk is never larger than a block, so one that says it is is damaged, and
 * what follows is looked through byte by byte for the next head. */
#include "trace/framer.h"

/* The chunk at p: its size; 0: it is none; SIZE_MAX: more bytes must come. */
static size_t chunk_here(const uint8_t *p, size_t n, struct chunk *c)
{
	size_t size;

	if (n < CHUNK_HEAD)
		return SIZE_MAX;
	if (!chunk_head_decode(p, c) || c->length > BLOCK_BYTES - CHUNK_HEAD - CHUNK_CRC)
		return 0;
	size = CHUNK_HEAD + (size_t)c->length + CHUNK_CRC;
	if (size > n)
		return SIZE_MAX;
	return get_u32(p + size - CHUNK_CRC) == chunk_crc(p + CHUNK_HEAD, (size_t)c->length) ? size : 0;
}

/* All chunks that are there; with `last` also what a chunk that is cut hides. */
static int take(struct framer *f, bool last, journal_visit *visit, void *to)
{
	size_t at = 0;
	int r = 0;

	while (r == 0 && at < f->have) {
		struct chunk c;
		size_t size = chunk_here(f->in + at, f->have - at, &c);

		if (size == SIZE_MAX && !last)
			break;
		if (size == 0 || size == SIZE_MAX) {
			at++;
			f->broken++;
			continue;
		}
		f->any = true;
		if (c.version == CHUNK_VERSION)
			r = visit(to, c.id, f->in + at + CHUNK_HEAD, (size_t)c.length);
		at += size;
	}
	f->have -= at;
	memmove(f->in, f->in + at, f->have);
	return r;
}

int framer_feed(struct framer *f, const uint8_t *p, size_t n, journal_visit *visit, void *to)
{
	while (n > 0) {
		size_t part = sizeof(f->in) - f->have;

		if (part > n)
			part = n;
		memcpy(f->in + f->have, p, part);
		f->have += part;
		p += part;
		n -= part;
		if (take(f, false, visit, to) < 0)
			return -1;
	}
	return 0;
}

size_t framer_end(struct framer *f, journal_visit *visit, void *to)
{
	uint64_t before = f->broken;

	take(f, true, visit, to);
	return (size_t)(f->broken - before);
}
