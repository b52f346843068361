/* range: the ranges of time that programs mark with NVTX. They nest within a lane: one domain of one thread.
 *
 * A store keeps as many as it may; once there are more, it keeps the newest, and of the others those that are long
 * enough to be seen when so many are in view: ranges_least_ns() says how long that is. Any thread may call. */
#ifndef NVMTOP_MODEL_RANGE_H
#define NVMTOP_MODEL_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

struct range_lane {
	uint32_t pid, tid; /* tid 0: the lane of ranges that may end in another thread; they do not nest */
	char process[32], thread[64], domain[64]; /* "": no name; domain "": the default one */
};

/* As options and reports name it. */
static inline const char *range_domain(const char *domain)
{
	return *domain ? domain : "default";
}

enum range_payload { RANGE_NO_PAYLOAD, RANGE_UNSIGNED, RANGE_SIGNED, RANGE_DOUBLE };

#define RANGE_OPEN   1 /* it had not ended at end_ns, when that was written; one without this flag replaces it */
#define RANGE_FOLDED 2 /* it stands for others that begin in it: colour is their number, value their time */
#define RANGE_BEYOND 4 /* it ended after the part of a recording that this is; one without this flag replaces it */
#define RANGE_AGAIN  (RANGE_OPEN | RANGE_BEYOND) /* flags of those that may come again */

struct range {
	int64_t begin_ns, end_ns;
	const char *name; /* of the store */
	const struct range_lane *lane;
	uint32_t colour; /* ARGB; 0: none */
	uint16_t depth;	 /* 0: outermost */
	uint8_t flags;
	uint8_t payload; /* enum range_payload: the type of value */
	uint64_t value;	 /* bits of the number */
	const char *category; /* of the store, NULL: none; its name, or its number if it has no name */
};

#define RANGE_LANES_MAX 65536 /* at most, in a store */

struct ranges;
struct ranges *ranges_new(size_t most, struct err *e);
void ranges_free(struct ranges *r);
/* The store's copy of a name, or of a lane, which has zeros behind its names; valid until ranges_free(). NULL: out of
 * memory, or too many lanes. */
const char *ranges_name(struct ranges *r, const char *text);
const struct range_lane *ranges_lane(struct ranges *r, const struct range_lane *lane);
/* In order of end, within a second. Name and lane are the store's. Returns false if out of memory. */
bool ranges_add(struct ranges *r, const struct range *range);
/* Ranges shorter than that may be missing. */
int64_t ranges_least_ns(struct ranges *r);
/* Does it touch [from_ns, to_ns)? One that ends at from_ns does not, unless it begins there. */
static inline bool range_touches(const struct range *r, int64_t from_ns, int64_t to_ns)
{
	return r->begin_ns < to_ns && (r->end_ns > from_ns || r->begin_ns >= from_ns);
}

/* Calls visit() for those that touch [from_ns, to_ns), in order of their ends, those that may come again last, and
 * then, if least_ns > 0, for what stands for those that are missing (RANGE_FOLDED), until it returns false. It must
 * not call the store. */
typedef bool range_visit(void *arg, const struct range *range);
void ranges_visit(struct ranges *r, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit, void *arg);
/* Whether there are any, and the lanes, in order of appearance; returns their number. */
size_t ranges_lanes(struct ranges *r, const struct range_lane **out, size_t most);

#endif
