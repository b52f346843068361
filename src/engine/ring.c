/* Implements a queue for one producer and one consumer with two counters that only grow: head is written only
 * by the producer, tail only by the consumer, so an acquire load of the other side's counter and a release
 * store of one's own suffice. They are on separate cache lines, and the producer caches the tail: while there
 * is room it never touches the consumer's line. */
#include "engine/ring.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_LINE 64

struct ring {
	size_t mask, width, stride;
	unsigned char *rows;

	_Alignas(CACHE_LINE) atomic_size_t head;
	size_t tail_seen;
	uint64_t late, dropped; /* since the last row that fitted */
	atomic_uint_least64_t lost;

	_Alignas(CACHE_LINE) atomic_size_t tail;
};

struct ring *ring_new(size_t width, size_t rows)
{
	struct ring *r = aligned_alloc(CACHE_LINE, sizeof(*r));
	size_t capacity = 2;

	if (!r)
		return NULL;
	memset(r, 0, sizeof(*r));
	while (capacity < rows && capacity < (size_t)1 << 30)
		capacity *= 2;
	r->mask = capacity - 1;
	r->width = width;
	r->stride = sizeof(struct ring_row) + width * sizeof(double);
	if (r->stride > (SIZE_MAX - CACHE_LINE) / capacity)
		goto fail;
	r->rows =
		aligned_alloc(CACHE_LINE, (capacity * r->stride + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
	if (!r->rows)
		goto fail;
	/* Not zeros: a compiler may turn those into pages that are not allocated yet. */
	memset(r->rows, 0xff, capacity * r->stride);
	return r;
fail:
	free(r);
	return NULL;
}

void ring_free(struct ring *r)
{
	if (!r)
		return;
	free(r->rows);
	free(r);
}

static struct ring_row *ring_row_at(const struct ring *r, size_t position)
{
	return (struct ring_row *)(void *)(r->rows + (position & r->mask) * r->stride);
}

static uint32_t ring_clip(uint64_t n)
{
	return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

bool ring_push(struct ring *r, int64_t t_ns, uint64_t late, const double *values)
{
	size_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	struct ring_row *row;

	r->late += late;
	if (head - r->tail_seen > r->mask) {
		r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
		if (head - r->tail_seen > r->mask) {
			r->dropped++;
			atomic_fetch_add_explicit(&r->lost, 1, memory_order_relaxed);
			return false;
		}
	}
	row = ring_row_at(r, head);
	__atomic_store_n(&row->t_ns, t_ns, __ATOMIC_RELAXED); /* ring_peek() may be reading */
	row->late = ring_clip(r->late);
	row->lost = ring_clip(r->dropped);
	for (size_t i = 0; i < r->width; i++) {
		double v = values[i];

		__atomic_store(&row->values[i], &v, __ATOMIC_RELAXED);
	}
	r->late = 0;
	r->dropped = 0;
	atomic_store_explicit(&r->head, head + 1, memory_order_release);
	return true;
}

size_t ring_count(struct ring *r)
{
	return atomic_load_explicit(&r->head, memory_order_acquire) -
	       atomic_load_explicit(&r->tail, memory_order_relaxed);
}

const struct ring_row *ring_at(const struct ring *r, size_t i)
{
	return ring_row_at(r, atomic_load_explicit(&r->tail, memory_order_relaxed) + i);
}

void ring_take(struct ring *r, size_t n)
{
	size_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	atomic_store_explicit(&r->tail, tail + n, memory_order_release);
}

size_t ring_pushed(const struct ring *r)
{
	return atomic_load_explicit(&r->head, memory_order_acquire);
}

/* As of a sequence lock: what was read counts if the producer has not come near it meanwhile. */
int64_t ring_peek(const struct ring *r, size_t number, const uint16_t *columns, size_t n, double *out)
{
	const struct ring_row *row = ring_row_at(r, number);
	size_t ahead = ring_pushed(r) - number;
	int64_t t_ns;

	if (ahead == 0 || ahead >= r->mask)
		return 0;
	t_ns = __atomic_load_n(&row->t_ns, __ATOMIC_RELAXED);
	for (size_t i = 0; i < n; i++)
		__atomic_load(&row->values[columns[i]], &out[i], __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&r->head, memory_order_relaxed) - number >= r->mask ? 0 : t_ns;
}

uint64_t ring_lost(const struct ring *r)
{
	return atomic_load_explicit(&r->lost, memory_order_relaxed);
}
