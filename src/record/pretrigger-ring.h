/* pretrigger-ring: the chunks of the most recent stretch of time, in memory. */
#ifndef NVMTOP_RECORD_PRETRIGGER_RING_H
#define NVMTOP_RECORD_PRETRIGGER_RING_H

#include "trace/log.h"

#define CHUNK_RING_RANGES ((size_t)32 << 20)

struct ring_chunk {
	struct ring_chunk *next;
	struct log_entry entry;
	size_t n;
	uint8_t bytes[];
};

struct chunk_ring {
	struct ring_chunk *first, **end;
	struct ring_chunk **read; /* the link to the next chunk to read; NULL: not reading */
	uint64_t skipped[TIERS];  /* rows dropped before they were read */
	size_t bytes, bytes_most, limit; /* without those of ranges, of which there are at most CHUNK_RING_RANGES */
	size_t range_bytes;
	int64_t span_ns; /* chunks older than this, measured from the newest, are dropped */
	bool dropped;    /* at least one chunk was dropped */
};

/* Upper bound, in bytes, of the chunks for that time, for any values. */
double chunk_ring_bytes(const struct session *about, int64_t span_ns);
void chunk_ring_begin(struct chunk_ring *r, int64_t span_ns, size_t limit);
void chunk_ring_free(struct chunk_ring *r);
/* A log_emit callback; returns false if out of memory, or if there are too many ranges. */
bool chunk_ring_put(void *ring, const struct log_entry *e, const uint8_t *chunk, size_t n);
/* Starts reading at the first chunk of that cell or a later one. */
void chunk_ring_seek(struct chunk_ring *r, int64_t cell);
/* Reads the next chunk and unpacks its payload. Returns 1, 0 if there is no further chunk yet,
 * or -1 if it is unreadable. */
int chunk_ring_read(struct chunk_ring *r, struct log_unpacker *u, struct log_entry *e, struct log_bytes *raw);

#endif
