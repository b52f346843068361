/* sampler: the thread that makes the rows of all tiers, each tick when it is due. */
#ifndef NVMTOP_ENGINE_SAMPLER_H
#define NVMTOP_ENGINE_SAMPLER_H

#include "engine/engine.h"
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

/* Samples the tiers in which the probe set has channels; keeps pointers to it and its probes. Returns NULL and sets *e if out
 * of memory. */
struct sampler *sampler_new(const struct probe_set *probes, const double hz[TIERS], struct err *e);
void sampler_free(struct sampler *s); /* only if never started, or stopped; NULL is fine */

/* Ticks of a tier are due at grid_ns (CLOCK_MONOTONIC), grid_ns + 1 / hz, ... */
void sampler_begin(struct sampler *s, int64_t grid_ns);
int64_t sampler_due(const struct sampler *s); /* when the next tick is */

/* Starts the thread after sampler_begin(). Returns -1 and sets *e if no thread can be started. */
int sampler_start(struct sampler *s, struct err *e);

/* Starts another thread in place of one that hangs in an abandoned read; when that read returns, the old
 * thread makes no more ticks. Returns false if no thread can be started. */
bool sampler_replace(struct sampler *s);

/* Wakes the thread and waits for its end until until_ns. Returns false if it hangs in the kernel; then neither the
 * sampler nor the probe set may ever be freed. */
bool sampler_stop(struct sampler *s, int64_t until_ns);

/* Without a thread: runs the ticks that are due next as if it were that time, for values that are computed. */
void sampler_run_past(struct sampler *s);

struct ring *sampler_ring(const struct sampler *s, enum tier tier); /* NULL: the tier is not sampled */
int64_t sampler_period_ns(const struct sampler *s, enum tier tier);

/* From any thread. Sets what is counted in ticks, and whether the thread runs in real time. */
void sampler_stats(const struct sampler *s, struct engine_stats *out);

/* Runs one tick that was due at due_ns and starts at now_ns, after `late` skipped ones: reads what is due and puts one
 * row into the ring. Returns false if a read hung and another thread makes the rows now; see probe_set_rescue(). Called
 * by the thread, and by tests with chosen times. */
bool sampler_tick(struct sampler *s, enum tier tier, int64_t due_ns, int64_t now_ns, uint64_t late);

#endif
