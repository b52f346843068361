/* grid: the absolute times at which a tier's ticks are due. */
#ifndef NVMTOP_ENGINE_GRID_H
#define NVMTOP_ENGINE_GRID_H

#include <stdbool.h>
#include <stdint.h>

/* Tick i is due at start_ns + i * period_ns.  All tiers share start_ns. */
struct grid {
	int64_t start_ns, period_ns;
	int64_t tick; /* the next one */
	bool overran; /* the previous tick started without a sleep */
};

int64_t grid_due(const struct grid *g); /* when the next tick is due */

/* Starts a tick at now_ns: moves to the newest one that is due. Returns how many older ones are skipped. */
uint64_t grid_begin(struct grid *g, int64_t now_ns);

/* Ends the tick at now_ns: moves to the next one. If that is already due it may start at once, but not twice
 * in a row: reads that take longer than the period must not keep a real-time thread from ever sleeping.
 * Returns how many ticks are skipped. */
uint64_t grid_end(struct grid *g, int64_t now_ns);

#endif
