/* ring: passes the rows of a tier from the sampling thread to the engine thread without a lock.
 *
 * All memory is allocated and touched by ring_new(). When the ring is full the newest rows are dropped and
 * counted, so that the rest stays in order. */
#ifndef NVMTOP_ENGINE_RING_H
#define NVMTOP_ENGINE_RING_H

#include "model/stream.h"

struct ring_row {
	int64_t t_ns;
	uint32_t late; /* ticks skipped since the previous row */
	uint32_t lost; /* rows dropped since the previous row */
	const double *values;
};

struct ring;

/* Has room for at least `rows` rows (rounded up to a power of two) of width values. Returns NULL if out of
 * memory. */
struct ring *ring_new(size_t width, size_t rows);
void ring_free(struct ring *r);

/* Producer: copies a row in. Returns false if the ring is full: the row is lost, and its counts (late, lost)
 * are added to the next one that fits. */
bool ring_push(struct ring *r, int64_t t_ns, uint64_t late, const double *values);

/* Consumer: ring_count() returns the number of rows, ring_at() the i-th of them (0: the oldest; its values are valid
 * until it is released), and ring_take() releases the n oldest. ring_oldest() sets n, width, t_ns and values of *out to
 * the oldest rows that lie behind one another. */
size_t ring_count(const struct ring *r);
struct ring_row ring_at(const struct ring *r, size_t i);
void ring_oldest(const struct ring *r, struct rows *out);
void ring_take(struct ring *r, size_t n);

/* From any thread: the number of rows pushed so far, and values of the row with that number, counted from 0, whether it was
 * released or not. Returns its time, or 0 if it is not there yet or was overwritten. */
size_t ring_pushed(const struct ring *r);
int64_t ring_peek(const struct ring *r, size_t number, const uint16_t *columns, size_t n, double *out);

uint64_t ring_lost(const struct ring *r); /* rows dropped so far; from any thread */

#endif
