/* store: where a pyramid that is made of a trace's rows is kept: in the cache, so
 * that it is there at once the next time, else in a file without a name, else in
 * memory.  A file of the cache holds, as chunks, the identity of its trace, the
 * columns, and where each of these is. */
#ifndef NVMTOP_TRACE_STORE_H
#define NVMTOP_TRACE_STORE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "util/map.h"
#include "trace/shelf.h"

#define STORE_ID 76 /* bytes */

extern uint64_t store_cache_most; /* bytes of all files of the cache; one takes half of it at most */

/* What a trace is known by: file, size, time, and what its beginning and its end
 * say. */
struct store_id {
	uint8_t bytes[STORE_ID];
};
void store_identify(struct store_id *id, const struct stat *st, const uint8_t *map, size_t size);

struct store;

/* In memory; most: bytes, more are refused. */
struct store *store_memory(uint64_t most);
/* In the folder of the cache, under the name that the id gives, or, without an id
 * or without a cache, in a file without a name; NULL when there is no such file either. */
struct store *store_file(const struct store_id *id, uint64_t most);
/* What the cache has of this trace; the pieces go onto the shelves.  NULL: nothing. */
struct store *store_load(const struct store_id *id, struct shelf shelf[TIERS]);

/* Keep a chunk of columns; safe from any thread.  -1: there is no room.  Those of
 * coarse zooms are small and asked for all at once: they wait in memory, as far as
 * there is room, and lie side by side in the file when it is finished. */
int store_put(struct store *s, bool coarse, const uint8_t *chunk, size_t n, const uint8_t **kept, uint64_t *at);
/* Nothing more will come: give the file its name.  Any failure only means that
 * it will not be there the next time. */
void store_finish(struct store *s, struct shelf shelf[TIERS]);
/* What was put is gone, also when it was finished. */
void store_close(struct store *s);
/* It turned out to be damaged: also remove it from the cache. */
void store_discard(struct store *s);
uint64_t store_room(const struct store *s); /* bytes that may be put in all */
bool store_in_memory(const struct store *s);
void store_release(const struct store *s); /* give back the pages that were looked at */
bool store_torn(const struct store *s);

#endif
