/* sampler: samples one tier, from probes into a ring, without a lock. */
#ifndef NVMTOP_ENGINE_SAMPLER_H
#define NVMTOP_ENGINE_SAMPLER_H

#include "util/err.h"
#include "model/lateness.h"
#include "probe/probe.h"
#include "engine/ring.h"

/* The absolute times at which the ticks of a tier are due. Missed ticks are skipped and counted: catching up would
 * record a burst of rows at one instant as if the rate were steady. Tick i is due at start_ns + i * period_ns; all tiers
 * share start_ns. */
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

struct sampler;

/* Samples the channels and probes that the probe set has in this tier; keeps pointers to those probes.
 * Returns NULL and sets *e if out of memory. */
struct sampler *sampler_new(enum tier tier, double hz, const struct probe_set *probes, struct err *e);
void sampler_free(struct sampler *s); /* NULL is fine */

/* Ticks are due at grid_ns (CLOCK_MONOTONIC), grid_ns + 1 / hz, ... */
void sampler_begin(struct sampler *s, int64_t grid_ns);
int64_t sampler_due(const struct sampler *s); /* when the next tick is */

/* Runs the tick that is due; now_ns is the current time. Returns the time afterwards, or -1 if a read hung
 * and another thread makes the rows now; see probe_set_rescue(). */
int64_t sampler_run(struct sampler *s, int64_t now_ns);

/* Runs the tick that is due as if it were that time, for values that are computed. */
void sampler_run_past(struct sampler *s);

struct ring *sampler_ring(struct sampler *s);
int64_t sampler_period_ns(const struct sampler *s);

struct sampler_counts {
	uint64_t rows, late, lost;
	int64_t worst_late_ns;
	int64_t newest_ns; /* time of the newest row; 0: none */
};
void sampler_counts(const struct sampler *s, struct sampler_counts *out); /* from any thread */
void sampler_lateness(const struct sampler *s, struct lateness *out);     /* the same */

/* Runs one tick that was due at due_ns and starts at now_ns, after `late` skipped ones: reads what is due and
 * puts one row into the ring. Returns false where sampler_run() returns -1. Called by sampler_run(), and by
 * tests with chosen times. */
bool sampler_tick(struct sampler *s, int64_t due_ns, int64_t now_ns, uint64_t late);

#endif
