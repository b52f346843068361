/* A journal that lay on a failing disk, or was cut by a power loss, has places
 * that are no chunk.  Heads have a sum of their own, so behind such a place the
 * next chunk is found by looking at every byte. */
#include "trace/journal.h"
#include "trace/output.h"

/* Size of the whole chunk at p, 0: there is none. */
static size_t chunk_at(const uint8_t *p, size_t n, struct chunk *c)
{
	if (n < CHUNK_HEAD + CHUNK_CRC || !chunk_head_decode(p, c) ||
	    c->length > n - CHUNK_HEAD - CHUNK_CRC ||
	    get_u32(p + CHUNK_HEAD + c->length) != chunk_crc(p + CHUNK_HEAD, (size_t)c->length))
		return 0;
	return CHUNK_HEAD + (size_t)c->length + CHUNK_CRC;
}

/* How far it is to the next place that can be a head. */
static size_t skip(const uint8_t *p, size_t n)
{
	struct chunk c;

	for (size_t i = 1; i + CHUNK_HEAD <= n; i++)
		if (get_u32(p + i + 4) == CHUNK_VERSION && chunk_head_decode(p + i, &c))
			return i;
	return n < CHUNK_HEAD ? n : n - CHUNK_HEAD + 1;
}

int journal_each(struct journal *j, journal_visit *visit, void *to)
{
	off_t at = 0;
	ssize_t n;

	j->whole = 0;
	j->broken = j->torn = 0;
	while (j->fd >= 0 && (n = read_at(j->fd, j->in, sizeof(j->in), at)) != 0) {
		struct chunk c;
		size_t size;

		if (n < 0) {
			j->unreadable = true;
			return -1;
		}
		size = chunk_at(j->in, (size_t)n, &c);
		if (size == 0) {
			at += (off_t)skip(j->in, (size_t)n);
			continue;
		}
		j->broken += (uint64_t)(at - j->whole);
		at += (off_t)size;
		j->whole = at;
		if (c.version == CHUNK_VERSION && visit(to, c.id, j->in + CHUNK_HEAD, (size_t)c.length) < 0)
			return -1;
	}
	j->torn = (uint64_t)(at - j->whole);
	return 0;
}
