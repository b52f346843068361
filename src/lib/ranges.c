/* Presents the ranges of a trace one at a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lib.h"
#include "trace/range-order.h"
#include "util/clock.h"
#include "util/intl.h"

_Static_assert((int)NVMTOP_UNSIGNED == (int)RANGE_UNSIGNED && (int)NVMTOP_SIGNED == (int)RANGE_SIGNED &&
		       (int)NVMTOP_DOUBLE == (int)RANGE_DOUBLE,
	       "types of payloads have the same numbers");

struct nvmtop_ranges {
	struct range_order order;
	int64_t start_ns;
};

/* A time since the start; 0 and infinity are the ends of time, for ranges outside of the recording. */
static int64_t time_ns(const nvmtop_ranges *r, double s)
{
	double ns = s * NS_PER_S + (double)r->start_ns;

	if (s <= 0 || ns <= -0x1p63)
		return INT64_MIN;
	return ns >= 0x1p63 ? INT64_MAX : r->start_ns + llround(s * NS_PER_S);
}

nvmtop_ranges *nvmtop_ranges_open(const nvmtop_trace *t, double from_s, double to_s, nvmtop_error *error)
{
	struct err e = {.code = ERR_NONE};
	nvmtop_ranges *r = NULL;

	lib_begin();
	if (!t || isnan(from_s) || isnan(to_s))
		err_set(&e, ERR_USAGE, "%s", _("the trace is NULL, or a time is not a number"));
	else if (!(r = calloc(1, sizeof(*r))))
		err_set(&e, ERR_FAILED, _("out of memory"));
	lib_error(error, &e);
	if (!r)
		return NULL;
	r->start_ns = trace_session(trace_in(t))->start.mono_ns;
	range_order_begin(&r->order, trace_in(t));
	range_order_part(&r->order, time_ns(r, from_s), time_ns(r, to_s));
	return r;
}

int nvmtop_ranges_next(nvmtop_ranges *r, nvmtop_range *out)
{
	const struct range *next;

	if (!r || !out || out->size != NVMTOP_RANGE_SIZE)
		return -1;
	next = range_order_take(&r->order);
	if (!next)
		return r->order.failed ? -1 : 0;
	*out = (nvmtop_range) {.size = NVMTOP_RANGE_SIZE,
			       .begin_s = (double)(next->begin_ns - r->start_ns) / NS_PER_S,
			       .end_s = (double)(next->end_ns - r->start_ns) / NS_PER_S,
			       .name = next->name,
			       .domain = next->lane->domain,
			       .category = next->category ? next->category : "",
			       .process = next->lane->process,
			       .thread = next->lane->thread,
			       .pid = next->lane->pid,
			       .tid = next->lane->tid,
			       .colour = next->colour,
			       .depth = next->depth,
			       .open = (next->flags & RANGE_OPEN) != 0,
			       .payload = next->payload};
	memcpy(&out->value, &next->value, sizeof(out->value));
	return 1;
}

void nvmtop_ranges_close(nvmtop_ranges *r)
{
	if (!r)
		return;
	range_order_end(&r->order);
	free(r);
}
