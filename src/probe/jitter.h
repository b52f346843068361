/* jitter: at which moments a source is read whose readings are added up. */
#ifndef NVMTOP_PROBE_JITTER_H
#define NVMTOP_PROBE_JITTER_H

#include <stdint.h>

/* How far into tick number n of period_ns: 0 .. period_ns-1. */
int64_t jitter_in(uint64_t n, int64_t period_ns);

/* Of one source; zeroed but for tick_ns at first. */
struct moments {
	int64_t tick_ns; /* of the rows that it is read for; 0: its moments are not random */
	int64_t slot_ns, due_ns;
	uint64_t n;
};

/* When it is read next, once every period_ns, after a reading that ended at end_ns: with a
 * period of tick_ns once in each slot of that length from grid_ns on. */
int64_t jitter_next(struct moments *m, int64_t grid_ns, int64_t period_ns, int64_t end_ns);

#endif
