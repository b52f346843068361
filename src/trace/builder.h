/* builder: what the threads that build a pyramid share. */
#ifndef NVMTOP_TRACE_BUILDER_H
#define NVMTOP_TRACE_BUILDER_H

#include <pthread.h>
#include <stdatomic.h>

#include "trace/build.h"

#define WORKERS_MOST 16

struct job {
	enum tier tier;
	int base, zoom, levels; /* levels: within a stretch */
	int stretch_zoom;
	int64_t first; /* stretch */
	size_t stretches;
	atomic_size_t next, left; /* to begin, to complete */
	atomic_uchar *complete;   /* one a stretch */
	atomic_bool disorder;
	atomic_ullong disorder_row;
};

struct build {
	struct trace *t;   /* of which only the shelves are touched, with the lock */
	struct trace view; /* as it was at the beginning, by the map below */
	struct store *store;
	struct map map; /* of its own: it is read from end to end */
	struct job job[TIERS];
	unsigned tiers;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	pthread_t thread[WORKERS_MOST];
	int workers;
	uint64_t bytes; /* of all rows */
	atomic_ullong done;
	atomic_bool stop, failed;
	atomic_int busy;
	atomic_bool finished;
};

/* What one thread does, until nothing is left to begin; the last one finishes. */
void builder_work(struct build *b);

#endif
