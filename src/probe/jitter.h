/* jitter: the moments at which a source is read if its readings are added up. */
#ifndef NVMTOP_PROBE_JITTER_H
#define NVMTOP_PROBE_JITTER_H

#include <stdint.h>

/* Returns how far into tick n of period_ns the moment is: 0 to period_ns - 1. */
int64_t jitter_in(uint64_t n, int64_t period_ns);

/* State of one source; all but tick_ns is 0 at first. */
struct moments {
	int64_t tick_ns; /* period of the rows that use it; 0: its moments are not random */
	int64_t slot_ns, due_ns;
	uint64_t n;
};

/* Returns when it is read next, once every period_ns, after a reading that ended at end_ns. If the period is
 * tick_ns, it is read once in each slot of that length from grid_ns on. */
int64_t jitter_next(struct moments *m, int64_t grid_ns, int64_t period_ns, int64_t end_ns);

#endif
