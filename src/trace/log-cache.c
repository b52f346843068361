/* Keeps blocks up to a number of bytes. A screen draws the same minute again and again, and a walk through a log reads
 * the same chunk for each of its channels: both find what they used last. */
#include "trace/log-cache.h"

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#define FRAMES 8
#define LARGE  ((size_t)1 << 20) /* bytes at once, as of another view or zoom: back to the kernel */

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

static struct log_block *cache_get(struct log_cache *c, uint64_t key)
{
	struct log_block *b = *cache_slot(c, key);

	while (b && b->key != key)
		b = b->same;
	return b;
}

struct log_block *log_cache_find(struct log_cache *c, uint64_t key)
{
	bool newest = c->newest && c->newest->key == key; /* neighbouring bins are of one block */
	struct log_block *b = newest ? c->newest : cache_get(c, key);

	if (b && !newest && (c->now == 0 || b->used != c->now)) { /* once a frame is enough */
		cache_unlink(c, b);
		cache_link(c, b);
	}
	if (b)
		b->used = c->now;
	return b;
}

static void cache_free(struct log_cache *c, struct log_block *b)
{
	struct log_block **at = cache_slot(c, b->key);

	while (*at != b)
		at = &(*at)->same;
	*at = b->same;
	cache_unlink(c, b);
	c->bytes -= b->bytes;
	free(b);
}

void log_cache_drop(struct log_cache *c, uint64_t key)
{
	struct log_block *b = cache_get(c, key);

	if (b)
		cache_free(c, b);
}

void log_cache_clear(struct log_cache *c)
{
	while (c->oldest)
		cache_free(c, c->oldest);
}

void log_cache_age(struct log_cache *c)
{
	size_t bytes = c->bytes;

	c->now++;
	while (c->oldest && c->now - c->oldest->used > FRAMES)
		cache_free(c, c->oldest);
#ifdef __GLIBC__
	if (bytes - c->bytes > LARGE)
		malloc_trim(0);
#endif
}

struct log_block *log_cache_add(struct log_cache *c, uint64_t key, size_t times, size_t values, size_t records)
{
	size_t bytes = sizeof(struct log_block) + 8 * times + 8 * values + records;
	struct log_block *b = malloc(bytes), **slot = cache_slot(c, key);

	if (!b)
		return NULL;
	while (c->oldest && c->bytes + bytes > c->most)
		cache_free(c, c->oldest);
	*b = (struct log_block) {.key = key, .used = c->now, .bytes = bytes, .same = *slot};
	b->t_ns = (int64_t *)(void *)(b + 1);
	b->values = (double *)(void *)(b->t_ns + times);
	b->records = (uint8_t *)(b->values + values);
	*slot = b;
	cache_link(c, b);
	c->bytes += bytes;
	return b;
}
