/* lateness: histogram of how late the ticks of a tier started. */
#ifndef NVMTOP_MODEL_LATENESS_H
#define NVMTOP_MODEL_LATENESS_H

#include <stddef.h>
#include <stdint.h>

/* Eight steps per doubling, from 1/8 us to minutes: a value is known to 1/16. */
#define LATENESS_STEPS 256

struct lateness {
	uint32_t n[LATENESS_STEPS]; /* ticks per step; may wrap, differences stay correct */
};

size_t lateness_step(int64_t late_ns); /* less than LATENESS_STEPS */

/* Returns the lateness in nanoseconds that `share` (0 .. 1) of the ticks from `since` to `now` did not
 * exceed, rounded up to the end of a step; -1 if there were no ticks. since may be NULL: from the first
 * tick on. */
int64_t lateness_ns(const struct lateness *now, const struct lateness *since, double share);

#endif
