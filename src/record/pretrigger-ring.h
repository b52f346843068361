/* pretrigger-ring: the chunks of the last stretch, in memory. */
#ifndef NVMTOP_RECORD_PRETRIGGER_RING_H
#define NVMTOP_RECORD_PRETRIGGER_RING_H

#include "trace/log.h"

struct ring_chunk {
	struct log_entry entry;
	uint64_t before[TIERS]; /* rows in all chunks before it */
	size_t n;
	uint8_t bytes[];
};

/* Chunks have the numbers first .. end - 1. */
struct chunk_ring {
	struct ring_chunk **chunks;
	size_t room; /* a power of two */
	uint64_t first, end;
	size_t bytes, bytes_most, limit;
	int64_t span_ns; /* older than that, seen from the newest chunk, they go */
	uint64_t rows[TIERS];
	struct fact *facts; /* as they were before the first chunk */
	size_t n_facts;
};

/* Upper bound of the chunks for that time, for any values. */
double chunk_ring_bytes(const struct session *about, int64_t span_ns);
int chunk_ring_begin(struct chunk_ring *r, const struct session *about,
		     int64_t span_ns); /* -1: out of memory */
void chunk_ring_free(struct chunk_ring *r);
/* A log_emit; false: out of memory. */
bool chunk_ring_put(void *ring, const struct log_entry *e, const uint8_t *chunk, size_t n);
const struct ring_chunk *chunk_ring_at(const struct chunk_ring *r, uint64_t number); /* NULL: not held */
/* A copy in *out, which grows as needed; 0, or -1: out of memory. */
int chunk_ring_copy(const struct chunk_ring *r, uint64_t number, struct ring_chunk **out);
/* The first chunk with rows at or after that time, or end. */
uint64_t chunk_ring_find(const struct chunk_ring *r, int64_t t_ns);
/* The facts as they were at that time; facts: r->n_facts. */
void chunk_ring_facts(const struct chunk_ring *r, int64_t t_ns, struct fact *facts);

/* What a chunk holds goes to the sink; -1: it cannot be read. */
struct ring_reader {
	struct log_unpacker *unpacker;
	struct log_bytes raw;
	int64_t *t_ns;
	double *values, *column;
	size_t room;
};
int chunk_ring_read(struct ring_reader *d, const struct ring_chunk *c, struct sink *to);
void ring_reader_free(struct ring_reader *d);

#endif
