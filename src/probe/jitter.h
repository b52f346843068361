/* jitter: the moments at which a source is read if its readings are added up. */
#ifndef NVMTOP_PROBE_JITTER_H
#define NVMTOP_PROBE_JITTER_H

#include <stdint.h>

/* Returns how far into slot n of period_ns the moment is: 0 to period_ns - 1. */
int64_t jitter_in(uint64_t n, int64_t period_ns);

/* Returns when a source is read next, once in each slot of period_ns from grid_ns on, after a reading that ended
 * at end_ns. *slot_ns is when the slot begins, of which it gets the next; 0 at first. */
int64_t jitter_next(int64_t *slot_ns, int64_t grid_ns, int64_t period_ns, int64_t end_ns);

#endif
