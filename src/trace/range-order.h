/* range-order: the ranges of a trace in order of their begin. */
#ifndef TRACE_RANGE_ORDER_H
#define TRACE_RANGE_ORDER_H

#include "trace/trace.h"

struct range_order {
	struct trace *trace;
	int64_t done_ns, next_ns, to_ns; /* ranges that begin before done_ns were read; wanted are those from next_ns up to to_ns */
	int64_t window_ns;
	struct range *list; /* those that begin in the last window */
	size_t n, room, at;
	bool failed; /* out of memory: ranges are missing */
};

void range_order_begin(struct range_order *o, struct trace *t);
/* Next come the ranges that touch [from_ns, to_ns) and begin after those of the parts before. */
void range_order_part(struct range_order *o, int64_t from_ns, int64_t to_ns);
/* Returns the next one, which is valid until it is taken; NULL at the end of the part. */
const struct range *range_order_peek(struct range_order *o);
const struct range *range_order_take(struct range_order *o);
void range_order_end(struct range_order *o);

#endif
