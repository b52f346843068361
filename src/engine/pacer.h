/* pacer: the thread that makes the ticks of all tiers, each when it is due. */
#ifndef NVMTOP_ENGINE_PACER_H
#define NVMTOP_ENGINE_PACER_H

#include "engine/sampler.h"

struct pacer;

/* 0 when the kernel grants this process SCHED_FIFO, or the errno of its refusal. */
int pacer_realtime_refused(void);

/* For these tiers, NULL where there is none; they still belong to the caller. NULL with the error. */
struct pacer *pacer_new(struct sampler *const samplers[TIERS], struct err *e);

/* Before pacer_start(): niceness nice instead of SCHED_FIFO.  -1 when it is not permitted. */
int pacer_set_nice(struct pacer *p, int nice, struct err *e);

/* The first tick of each tier is due at grid_ns (CLOCK_MONOTONIC). */
int pacer_start(struct pacer *p, int64_t grid_ns, struct err *e);

/* Its thread hangs in a read that was left to it, and ends when it is back: have another go
 * on, where the kernel gives one.  While the pacer runs, from one thread. */
int pacer_replace(struct pacer *p);

/* Ask the thread to end and wake it, without waiting. */
void pacer_stop(struct pacer *p);

/* Wait for the thread until until_ns.  False: it hangs in the kernel; then
 * neither the pacer nor its samplers nor the probe set may be freed, ever. */
bool pacer_join(struct pacer *p, int64_t until_ns);
void pacer_free(struct pacer *p); /* never started, or joined; NULL is fine */

bool pacer_is_realtime(const struct pacer *p); /* runs with SCHED_FIFO; from any thread */

#endif
