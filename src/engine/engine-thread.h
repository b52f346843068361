/* engine-thread: state shared by the collecting thread and the thread that controls the engine. */
#ifndef NVMTOP_ENGINE_ENGINE_THREAD_H
#define NVMTOP_ENGINE_ENGINE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/changes.h"
#include "engine/collector.h"
#include "engine/own-cost.h"
#include "engine/engine.h"
#include "engine/pacer.h"

enum phase { PHASE_NEW, PHASE_RUNNING, PHASE_STOPPED };
enum order { ORDER_NONE, ORDER_ATTACH, ORDER_DETACH, ORDER_STOP };

struct engine {
	struct probe_set *probes;
	double hz[TIERS];
	struct sampler *samplers[TIERS]; /* NULL where the tier has no channel */
	struct collector collector;
	struct session *session; /* what engine_session() shows */
	enum phase phase;        /* the controlling thread's */
	int64_t started_ns;
	int64_t cell_ns; /* rows are handed over by the cell; 0: as they come; set before the thread begins */
	pthread_t thread;
	struct pacer *pacer;
	bool hangs; /* it hangs and is abandoned: samplers and probes may not be touched any more */

	pthread_mutex_t lock;      /* for what follows, held for moments */
	pthread_cond_t work, news; /* to the collecting thread, and from it */
	enum order order;
	struct sink *sink; /* the order's */
	struct err *err;
	int result;
	struct pending_mark *marks, **marks_end;
	uint64_t next_id, next_order;
	bool restart;       /* the order's: the marks of the new sink count from 1 */
	uint64_t id_before; /* what would have been the next one's */
	bool warm;
	struct engine_hang hangs_log[ENGINE_HANGS]; /* files that did not answer */
	size_t n_hangs;

	uint64_t first_order; /* of the marks of the new sink; the collecting thread's, as what follows */
	bool has_row[TIERS], cpu_warm;     /* so far */
	int64_t cpu_since_ns, cpu_used_ns; /* of the process, when it was measured last */
	bool rowless;                      /* the sampler thread hangs, and no new one could be started */

	struct changes *changes;
	struct fact *facts; /* the probe set's, as they are now */

	struct own *own; /* the probe set's, or NULL */
	atomic_uint_least64_t sinks_lost;

	_Atomic double cpu_percent;
};

/* A session as it is now; what it points to is the probe set's. */
void engine_describe(const struct engine *g, struct session *out);

/* The thread, until it is ordered to stop. */
void *engine_run(void *engine);

/* Have the collecting thread do it, and wait; without a thread, do it here. */
int engine_order(struct engine *g, enum order order, struct sink *sink, struct err *e);
/* In this thread, even if there is another. */
int engine_carry_out(struct engine *g, enum order order, struct sink *sink, struct err *e);

#endif
