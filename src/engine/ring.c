/* Implements a queue for one producer and one consumer with two counters that only grow: head is written only
 * by the producer, tail only by the consumer, so an acquire load of the other side's counter and a release
 * store of one's own suffice. They are on separate cache lines, and the producer caches the tail: while there
 * is room it never touches the consumer's line.
 *
 * Times and values are arrays of their own, so that sinks get rows where they lie. */
#include "engine/ring.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_LINE 64

struct ring_missed {
	uint32_t late, lost;
};

struct ring {
	size_t mask, width;
	int64_t *t_ns; /* these three have an item a row, values one a column of each */
	struct ring_missed *missed;
	double *values;

	_Alignas(CACHE_LINE) atomic_size_t head;
	size_t tail_seen;
	uint64_t late, dropped; /* since the last row that fitted */
	atomic_uint_least64_t lost;

	_Alignas(CACHE_LINE) atomic_size_t tail;
};

struct ring *ring_new(size_t width, size_t rows)
{
	size_t capacity = 2, row = sizeof(int64_t) + sizeof(struct ring_missed) + width * sizeof(double);
	struct ring *r;

	while (capacity < rows && capacity < (size_t)1 << 30)
		capacity *= 2;
	if (row > (SIZE_MAX - sizeof(*r) - CACHE_LINE) / capacity)
		return NULL;
	r = aligned_alloc(CACHE_LINE,
			  (sizeof(*r) + capacity * row + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
	if (!r)
		return NULL;
	memset(r, 0, sizeof(*r));
	r->mask = capacity - 1;
	r->width = width;
	r->t_ns = (int64_t *)(void *)(r + 1);
	r->missed = (struct ring_missed *)(void *)(r->t_ns + capacity);
	r->values = (double *)(void *)(r->missed + capacity);
	/* Not zeros: a compiler may turn those into pages that are not allocated yet. */
	memset(r->t_ns, 0xff, capacity * row);
	return r;
}

void ring_free(struct ring *r)
{
	free(r);
}

static uint32_t ring_clip(uint64_t n)
{
	return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

bool ring_push(struct ring *r, int64_t t_ns, uint64_t late, const double *values)
{
	size_t head = atomic_load_explicit(&r->head, memory_order_relaxed), at = head & r->mask;
	double *to = r->values + at * r->width;

	r->late += late;
	if (head - r->tail_seen > r->mask) {
		r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);
		if (head - r->tail_seen > r->mask) {
			r->dropped++;
			atomic_fetch_add_explicit(&r->lost, 1, memory_order_relaxed);
			return false;
		}
	}
	__atomic_store_n(&r->t_ns[at], t_ns, __ATOMIC_RELAXED); /* ring_peek() may be reading */
	for (size_t i = 0; i < r->width; i++) {
		double v = values[i];

		__atomic_store(&to[i], &v, __ATOMIC_RELAXED);
	}
	r->missed[at] = (struct ring_missed) {ring_clip(r->late), ring_clip(r->dropped)};
	r->late = 0;
	r->dropped = 0;
	atomic_store_explicit(&r->head, head + 1, memory_order_release);
	return true;
}

size_t ring_count(const struct ring *r)
{
	return atomic_load_explicit(&r->head, memory_order_acquire) -
	       atomic_load_explicit(&r->tail, memory_order_relaxed);
}

struct ring_row ring_at(const struct ring *r, size_t i)
{
	size_t at = (atomic_load_explicit(&r->tail, memory_order_relaxed) + i) & r->mask;

	return (struct ring_row) {r->t_ns[at], r->missed[at].late, r->missed[at].lost,
				  r->values + at * r->width};
}

void ring_oldest(const struct ring *r, struct rows *out)
{
	size_t at = atomic_load_explicit(&r->tail, memory_order_relaxed) & r->mask, n = ring_count(r);

	out->n = n <= r->mask + 1 - at ? n : r->mask + 1 - at;
	out->width = r->width;
	out->t_ns = r->t_ns + at;
	out->values = r->values + at * r->width;
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
	size_t at = number & r->mask, ahead = ring_pushed(r) - number;
	const double *from = r->values + at * r->width;
	int64_t t_ns;

	if (ahead == 0 || ahead >= r->mask)
		return 0;
	t_ns = __atomic_load_n(&r->t_ns[at], __ATOMIC_RELAXED);
	for (size_t i = 0; i < n; i++)
		__atomic_load(&from[columns[i]], &out[i], __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&r->head, memory_order_relaxed) - number >= r->mask ? 0 : t_ns;
}

uint64_t ring_lost(const struct ring *r)
{
	return atomic_load_explicit(&r->lost, memory_order_relaxed);
}
