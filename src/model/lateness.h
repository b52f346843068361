/* lateness: how late the ticks of a tier started. */
#ifndef NVMTOP_MODEL_LATENESS_H
#define NVMTOP_MODEL_LATENESS_H

#include <stddef.h>
#include <stdint.h>

/* Eight steps to a doubling, from an eighth of a microsecond to some minutes:
 * each is known to a sixteenth. */
#define LATENESS_STEPS 256

struct lateness {
	uint32_t n[LATENESS_STEPS]; /* ticks in each step; may wrap, differences hold */
};

size_t lateness_step(int64_t late_ns); /* below LATENESS_STEPS */

/* The lateness that `share` (0 .. 1) of the ticks between the two did not exceed, in nanoseconds,
 * rounded up to the end of a step; -1: there were none. since may be NULL: from the first tick on. */
int64_t lateness_ns(const struct lateness *now, const struct lateness *since, double share);

#endif
