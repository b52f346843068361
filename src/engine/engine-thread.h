/* engine-thread: state shared by the collecting thread and the controlling thread. */
#ifndef NVMTOP_ENGINE_ENGINE_THREAD_H
#define NVMTOP_ENGINE_ENGINE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/changes.h"
#include "engine/collector.h"
#include "engine/own-cost.h"
#include "engine/engine.h"
#include "engine/pacer.h"

struct description {
	struct description *next;
	struct channel channels[];
};

enum phase { PHASE_NEW, PHASE_RUNNING, PHASE_STOPPED };
enum order { ORDER_NONE, ORDER_ATTACH, ORDER_DETACH, ORDER_STOP };

struct engine {
	struct probe_set *probes;
	double hz[TIERS];
	struct sampler *samplers[TIERS]; /* NULL where the tier has no channel */
	struct collector collector;
	struct session *session; /* returned by engine_session() */
	enum phase phase;        /* set by the controlling thread only */
	int64_t started_ns;
	int64_t past_ns; /* how long before the start the rows begin */
	_Atomic int64_t cell_ns; /* rows are delivered by cells of this length; 0: as they come */
	pthread_t thread;
	struct pacer *pacer;
	bool hangs; /* sampling hangs and was abandoned: do not touch samplers and probes any more */

	pthread_mutex_t lock;      /* protects what follows; held only briefly */
	pthread_cond_t work, news; /* to the collecting thread and from it */
	enum order order;
	struct sink *sink; /* of the order */
	struct err *err;
	int result;
	struct pending_mark *marks, **marks_end;
	uint64_t next_id, next_order;
	bool restart;       /* of the order: number the new sink's marks from 1 */
	uint64_t id_before; /* next_id before it was restarted */
	bool warm;
	struct engine_hang hangs_log[ENGINE_HANGS]; /* files that did not answer */
	size_t n_hangs;

	uint64_t first_order; /* of the new sink's marks; from here on for the collecting thread only */
	bool has_row[TIERS], cpu_warm;     /* so far */
	int64_t cpu_since_ns, cpu_used_ns; /* of the process, at the last measurement */
	bool rowless;                      /* the sampler thread hangs, and no new one could be started */

	engine_poll *poll; /* or NULL */
	void *poll_from;
	int64_t poll_ns; /* when it is due */

	struct changes *changes;
	struct fact *facts; /* the probe set's, kept up to date */
	/* The channels as they are described now: each time that some are found, a new array, so that all threads may
	 * read them. */
	const struct channel *_Atomic channels;
	struct description *descriptions; /* those arrays, to be freed */

	struct own *own; /* the probe set's, or NULL */
	atomic_uint_least64_t sinks_lost;

	_Atomic double cpu_percent;
};

/* Describes the current session; it points to data of the engine and its probe set. */
void engine_describe(const struct engine *g, struct session *out);

/* Computes and delivers the rows of the past. Returns when the first tick of the present is due. Call before
 * the threads start. */
int64_t engine_sample_past(struct engine *g);

/* The collecting thread; returns after ORDER_STOP. */
void *engine_run(void *engine);

/* Has the collecting thread carry out the order, and waits; if it does not run, does it in this thread. */
int engine_order(struct engine *g, enum order order, struct sink *sink, struct err *e);
/* Carries out the order in this thread, even if the collecting thread exists. */
int engine_carry_out(struct engine *g, enum order order, struct sink *sink, struct err *e);

#endif
