/* Ranges are recorded in order of their ends. They are read again for one window of time after the other, which
 * is as long as a bounded number of them allows, and sorted within it. */
#include <stdlib.h>

#include "trace/range-order.h"
#include "util/array.h"
#include "util/clock.h"

#define FEW  4096
#define MANY 65536

void range_order_begin(struct range_order *o, struct trace *t)
{
	*o = (struct range_order) {.trace = t, .done_ns = INT64_MIN, .next_ns = INT64_MIN, .to_ns = INT64_MIN, .window_ns = NS_PER_S};
}

void range_order_end(struct range_order *o)
{
	free(o->list);
}

void range_order_part(struct range_order *o, int64_t from_ns, int64_t to_ns)
{
	o->n = o->at = 0;
	o->next_ns = from_ns > o->done_ns ? from_ns : o->done_ns;
	o->to_ns = to_ns;
}

/* Of those that were read before, none again. */
static bool range_take(void *arg, const struct range *r)
{
	struct range_order *o = arg;
	struct range *more = array_grow(o->list, o->n + 1, &o->room, sizeof(*more));

	o->failed |= !more;
	o->list = more ? more : o->list;
	if (more && r->begin_ns >= o->done_ns)
		more[o->n++] = *r;
	return more != NULL;
}

/* The outer one first. */
static int by_begin(const void *a, const void *b)
{
	const struct range *p = a, *q = b;

	if (p->begin_ns != q->begin_ns)
		return p->begin_ns < q->begin_ns ? -1 : 1;
	if (p->end_ns != q->end_ns)
		return p->end_ns > q->end_ns ? -1 : 1;
	return p->depth - q->depth;
}

const struct range *range_order_peek(struct range_order *o)
{
	while (o->at == o->n && o->next_ns < o->to_ns && !o->failed) {
		int64_t to_ns;

		if (__builtin_add_overflow(o->next_ns, o->window_ns, &to_ns) || to_ns > o->to_ns)
			to_ns = o->to_ns;
		o->n = o->at = 0;
		trace_ranges(trace_timeline(o->trace), o->next_ns, to_ns, 0, range_take, o);
		if (o->n)
			qsort(o->list, o->n, sizeof(*o->list), by_begin);
		if (o->n < FEW && o->window_ns < INT64_MAX / 2)
			o->window_ns *= 2;
		else if (o->n > MANY && o->window_ns > NS_PER_MS)
			o->window_ns /= 2;
		o->done_ns = o->next_ns = to_ns;
	}
	return o->at < o->n ? &o->list[o->at] : NULL;
}

const struct range *range_order_take(struct range_order *o)
{
	const struct range *r = range_order_peek(o);

	o->at += r != NULL;
	return r;
}
