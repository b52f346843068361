/* ring: rows from one sampler thread to the collecting thread, without a lock.
 *
 * All memory is allocated and touched by ring_new(). When it is full the newest rows are dropped and
 * counted, so that the rest stays in order. */
#ifndef NVMTOP_ENGINE_RING_H
#define NVMTOP_ENGINE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_row {
	int64_t t_ns;
	uint32_t late; /* ticks skipped between the row before and this one */
	uint32_t lost; /* rows dropped between the row before and this one */
	double values[];
};

struct ring;

/* At least `rows` rows (rounded up to a power of two) of width values; NULL: out of memory. */
struct ring *ring_new(size_t width, size_t rows);
void ring_free(struct ring *r);
size_t ring_capacity(const struct ring *r);

/* Producer: copy a row in. False: it was full and the row is lost; its counts (late, lost) are added to
 * the next one that fits. */
bool ring_push(struct ring *r, int64_t t_ns, uint64_t late, const double *values);

/* Consumer: the number of rows, the i-th of them (0: the oldest; valid until it is released), and
 * release the n oldest. */
size_t ring_count(struct ring *r);
const struct ring_row *ring_at(const struct ring *r, size_t i);
void ring_take(struct ring *r, size_t n);

uint64_t ring_lost(const struct ring *r); /* rows dropped so far; from any thread */

#endif
