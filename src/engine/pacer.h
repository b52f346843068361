/* pacer: the thread that runs the ticks of all tiers, each when it is due. */
#ifndef NVMTOP_ENGINE_PACER_H
#define NVMTOP_ENGINE_PACER_H

#include "engine/sampler.h"

struct pacer;

/* samplers[] are borrowed, NULL for tiers that are not sampled. Returns NULL and sets *e if out of memory. */
struct pacer *pacer_new(struct sampler *const samplers[TIERS], struct err *e);

/* Call before pacer_start(): uses niceness nice instead of SCHED_FIFO. Returns -1 and sets *e if not
 * permitted. */
int pacer_set_nice(struct pacer *p, int nice, struct err *e);

/* Starts the thread; the first tick of each tier is due at grid_ns (CLOCK_MONOTONIC). Returns -1 and sets *e
 * if no thread can be started. */
int pacer_start(struct pacer *p, int64_t grid_ns, struct err *e);

/* Starts another thread in place of one that hangs in an abandoned read; when that read returns, the old
 * thread makes no more ticks. Returns -1 if no thread can be started. */
int pacer_replace(struct pacer *p);

/* Wakes the thread and waits for its end until until_ns. Returns false if it hangs in the kernel; then neither the
 * pacer nor its samplers nor the probe set may ever be freed. */
bool pacer_stop(struct pacer *p, int64_t until_ns);
void pacer_free(struct pacer *p); /* only if never started, or stopped; NULL is fine */

bool pacer_is_realtime(const struct pacer *p); /* runs with SCHED_FIFO; from any thread */

#endif
