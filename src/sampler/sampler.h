/* sampler: the thread of one tier; on time, lock-free, from probes into a ring. */
#ifndef SAMPLER_SAMPLER_H
#define SAMPLER_SAMPLER_H

#include "nvmtop/err.h"
#include "nvmtop/lateness.h"
#include "nvmtop/probe.h"
#include "sampler/ring.h"

struct sampler;

/* For the channels and probes that the rig has in this tier.  Keeps pointers
 * to the rig's probes. */
struct sampler *sampler_new(enum tier tier, double hz, const struct rig *rig, struct err *e);

/* 0 when the kernel grants this process SCHED_FIFO, or the errno of its refusal. */
int sampler_realtime_refused(void);

/* Before sampler_start(): niceness nice instead of SCHED_FIFO.  -1 when it is not permitted. */
int sampler_set_nice(struct sampler *s, int nice, struct err *e);

/* Ticks are due at grid_ns (CLOCK_MONOTONIC), grid_ns + 1 / hz, ... */
int sampler_start(struct sampler *s, int64_t grid_ns, struct err *e);

/* Ask the thread to end, wake it, and do not wait. */
void sampler_stop(struct sampler *s);

/* Wait for the thread until until_ns.  False: it hangs in the kernel; then
 * neither the sampler nor the rig may be freed, ever. */
bool sampler_join(struct sampler *s, int64_t until_ns);
void sampler_free(struct sampler *s); /* never started, or joined; NULL is fine */

struct ring *sampler_ring(struct sampler *s);
int64_t sampler_period_ns(const struct sampler *s);

struct sampler_counts {
	uint64_t rows, late, lost;
	int64_t worst_late_ns;
	int64_t newest_ns; /* time of the newest row; 0: none */
	bool realtime;     /* runs with SCHED_FIFO */
};
void sampler_counts(const struct sampler *s, struct sampler_counts *out); /* from any thread */
void sampler_lateness(const struct sampler *s, struct lateness *out);     /* the same */

/* One tick that was due at due_ns and is begun at now_ns, after `late` skipped
 * ones: read what is due and put one row into the ring.  What the thread does
 * at each tick; tests call it with times of their own. */
void sampler_tick(struct sampler *s, int64_t due_ns, int64_t now_ns, uint64_t late);

#endif
