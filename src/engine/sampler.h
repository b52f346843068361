/* sampler: one tier; on time, lock-free, from probes into a ring. */
#ifndef NVMTOP_ENGINE_SAMPLER_H
#define NVMTOP_ENGINE_SAMPLER_H

#include "util/err.h"
#include "model/lateness.h"
#include "probe/probe.h"
#include "engine/ring.h"

struct sampler;

/* For the channels and probes that the probe set has in this tier.  Keeps pointers
 * to the probe set's probes. */
struct sampler *sampler_new(enum tier tier, double hz, const struct probe_set *probes, struct err *e);
void sampler_free(struct sampler *s); /* NULL is fine */

/* Ticks are due at grid_ns (CLOCK_MONOTONIC), grid_ns + 1 / hz, ... */
void sampler_begin(struct sampler *s, int64_t grid_ns);
int64_t sampler_due(const struct sampler *s); /* when the next one is */

/* It is now_ns, and a tick is due: make it.  Returns what time it is then; or -1: a read hung,
 * and another thread makes this tier's rows now, see probe_set_rescue(). */
int64_t sampler_run(struct sampler *s, int64_t now_ns);

struct ring *sampler_ring(struct sampler *s);
int64_t sampler_period_ns(const struct sampler *s);

struct sampler_counts {
	uint64_t rows, late, lost;
	int64_t worst_late_ns;
	int64_t newest_ns; /* time of the newest row; 0: none */
};
void sampler_counts(const struct sampler *s, struct sampler_counts *out); /* from any thread */
void sampler_lateness(const struct sampler *s, struct lateness *out);     /* the same */

/* One tick that was due at due_ns and starts at now_ns, after `late` skipped ones: read what is due and
 * put one row into the ring. False: as -1 above. sampler_run() calls it; tests call it with times of
 * their own. */
bool sampler_tick(struct sampler *s, int64_t due_ns, int64_t now_ns, uint64_t late);

#endif
