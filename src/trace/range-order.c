/* Ranges are recorded in order of their ends. They are read again for one window of time after the other, which
 * is as long as a bounded number of them allows, and sorted within it. */
#include <stdlib.h>

#include "trace/range-order.h"
#include "util/clock.h"

#define FEW  4096
#define MANY 65536

void range_order_begin(struct range_order *o, struct trace *t)
{
	*o = (struct range_order) {.trace = t, .done_ns = INT64_MIN, .to_ns = INT64_MIN, .window_ns = NS_PER_S};
}

void range_order_end(struct range_order *o)
{
	free(o->list);
}

static bool keep(void *arg, const struct range *r)
{
	struct range_order *o = arg;
	size_t room = o->room ? 2 * o->room : FEW;
	struct range *more = o->n < o->room ? o->list : reallocarray(o->list, room, sizeof(*more));

	if (!more) {
		o->failed = true;
		return false;
	}
	o->room = o->n < o->room ? o->room : room;
	o->list = more;
	if (r->begin_ns >= o->done_ns)
		o->list[o->n++] = *r;
	return true;
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

/* Reads those that touch a window from from_ns on and are not done. */
static void window(struct range_order *o, int64_t from_ns)
{
	int64_t to_ns;

	if (__builtin_add_overflow(from_ns, o->window_ns, &to_ns) || to_ns > o->to_ns)
		to_ns = o->to_ns;
	o->n = o->at = 0;
	trace_ranges(o->trace, from_ns, to_ns, 0, keep, o);
	if (o->n)
		qsort(o->list, o->n, sizeof(*o->list), by_begin);
	if (o->n < FEW && o->window_ns < INT64_MAX / 2)
		o->window_ns *= 2;
	else if (o->n > MANY && o->window_ns > NS_PER_MS)
		o->window_ns /= 2;
	o->done_ns = to_ns;
}

void range_order_part(struct range_order *o, int64_t from_ns, int64_t to_ns)
{
	o->n = o->at = 0;
	o->to_ns = to_ns;
	if (from_ns < o->done_ns)
		from_ns = o->done_ns;
	if (from_ns < to_ns)
		window(o, from_ns);
}

const struct range *range_order_peek(struct range_order *o)
{
	while (o->at == o->n && o->done_ns < o->to_ns && !o->failed)
		window(o, o->done_ns);
	return o->at < o->n ? &o->list[o->at] : NULL;
}

const struct range *range_order_take(struct range_order *o)
{
	const struct range *r = range_order_peek(o);

	o->at += r != NULL;
	return r;
}
