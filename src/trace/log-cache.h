/* log-cache: what was read of a log, in blocks; the one that was not used for longest goes first. */
#ifndef TRACE_LOG_CACHE_H
#define TRACE_LOG_CACHE_H

#include "trace/log-decode.h"

/* Decoded contents of a chunk: rows or bins of a tier, records of STAT, or the items of a list; or what was computed of
 * the rows of a cell. */
struct log_block {
	struct log_block *same, *older, *newer; /* same: in the same slot */
	uint64_t key;
	uint32_t used; /* when last, as log_cache.now */
	int64_t cell, first; /* first: number of the first bin */
	size_t bytes, bytes_each; /* bytes_each: of records */
	uint32_t n;
	int64_t *t_ns;	/* of rows */
	uint8_t *late;	/* of rows: one tick before it was skipped */
	struct late_ticks late_ticks[LOG_TIERS]; /* of STAT */
	double *values; /* of rows: n for each column of the session, or `width` for each row */
	size_t width;	/* 0: they are by columns */
	uint8_t *records;
	struct log_array *arrays; /* of rows: one per column; p is NULL once it is decoded */
};

#define LOG_SLOTS 4096
struct log_cache {
	struct log_block *slots[LOG_SLOTS], *oldest, *newest;
	size_t bytes, most;
	uint32_t now; /* counted by log_cache_age() */
};

/* A block is valid until the next log_cache_add(). */
struct log_block *log_cache_find(struct log_cache *c, uint64_t key);
/* Returns a block with room for that many times and values, and bytes of records; NULL: out of memory. */
struct log_block *log_cache_add(struct log_cache *c, uint64_t key, size_t times, size_t values, size_t records);
void log_cache_drop(struct log_cache *c, uint64_t key);
void log_cache_clear(struct log_cache *c);
/* For a screen that follows: drops the blocks that were not used in the last 8 calls, as of columns that have left it. */
void log_cache_age(struct log_cache *c);

#endif
