/* resettle: the side file of a stream whose beginning is damaged or lost, written anew:
 * its description first, though that came later, and rows counted from the first that
 * is there, since a trace of a day without its first hours must not hold hours of
 * nothing. */
#ifndef NVMTOP_TRACE_RESETTLE_H
#define NVMTOP_TRACE_RESETTLE_H

#include "trace/again.h"

struct front {
	uint64_t base[TIERS];    /* rows that are lost before the first one */
	int64_t first_ns[TIERS]; /* the time of that, since the start; -1: none came */
};

/* `side` has the chunks as they came, without descriptions; `spare` is an empty file to
 * work with.  -1: errno. */
int side_resettle(int side, int spare, const struct again_in *about, const struct front *front);

#endif
