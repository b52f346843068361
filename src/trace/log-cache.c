/* Keeps blocks up to a number of bytes. A screen draws the same minute again and again, and a walk through a log reads
 * the same chunk for each of its channels: both find what they used last. A block that was used is only marked, which is
 * most of what a frame does here, and gets a second turn when it would go. */
#include "trace/log-cache.h"

#include <stdlib.h>

static struct log_block **cache_slot(struct log_cache *c, uint64_t key)
{
	return &c->slots[key * UINT64_C(0x9E3779B97F4A7C15) >> 32 & (LOG_SLOTS - 1)];
}

static void cache_unlink(struct log_cache *c, struct log_block *b)
{
	*(b->older ? &b->older->newer : &c->oldest) = b->newer;
	*(b->newer ? &b->newer->older : &c->newest) = b->older;
}

static void cache_link(struct log_cache *c, struct log_block *b)
{
	b->older = c->newest;
	b->newer = NULL;
	*(c->newest ? &c->newest->newer : &c->oldest) = b;
	c->newest = b;
}

struct log_block *log_cache_find(struct log_cache *c, uint64_t key)
{
	struct log_block *b;

	if (c->newest && c->newest->key == key) /* neighbouring bins are of one block */
		return c->newest;
	b = *cache_slot(c, key);
	while (b && b->key != key)
		b = b->same;
	if (b)
		b->used = true;
	return b;
}

void log_cache_drop(struct log_cache *c, struct log_block *b)
{
	struct log_block **at = cache_slot(c, b->key);

	while (*at != b)
		at = &(*at)->same;
	*at = b->same;
	cache_unlink(c, b);
	c->bytes -= b->bytes;
	free(b);
}

void log_cache_clear(struct log_cache *c)
{
	while (c->oldest)
		log_cache_drop(c, c->oldest);
}

struct log_block *log_cache_add(struct log_cache *c, uint64_t key, size_t times, size_t values, size_t records)
{
	size_t bytes = sizeof(struct log_block) + 8 * times + 8 * values + records;
	struct log_block *b = malloc(bytes), **slot = cache_slot(c, key);

	if (!b)
		return NULL;
	while (c->oldest && c->bytes + bytes > c->most) {
		struct log_block *oldest = c->oldest;

		if (!oldest->used) {
			log_cache_drop(c, oldest);
			continue;
		}
		oldest->used = false;
		cache_unlink(c, oldest);
		cache_link(c, oldest);
	}
	*b = (struct log_block) {.key = key, .bytes = bytes, .same = *slot, .used = true};
	b->t_ns = (int64_t *)(void *)(b + 1);
	b->values = (double *)(void *)(b->t_ns + times);
	b->records = (uint8_t *)(b->values + values);
	*slot = b;
	cache_link(c, b);
	c->bytes += bytes;
	return b;
}
