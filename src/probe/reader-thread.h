/* reader-thread: the threads that make the passes of asynchronous readers. For async-reader.c,
 * guarded-probe.c and probe-set.c only. */
#ifndef NVMTOP_PROBE_READER_THREAD_H
#define NVMTOP_PROBE_READER_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "probe/async-reader.h"

/* All that is read on one bus: a pass of one of its readers delays the others. */
struct reader_bus {
	atomic_int holders; /* its readers and the threads in it: the last one frees all of them */
	char name[16];
	bool rows; /* the thread that makes rows makes the passes */
	bool has_nice;
	int nice;
	int64_t grid_ns; /* passes are made shortly before this, plus multiples of their periods; 0: at any time */
	_Atomic uint32_t stop, done;
	/* Of the threads that start, replace and stop the one that reads. */
	pthread_t thread;
	bool running, stopped;
	bool vacant; /* its thread was left in a read, and no other one could be started yet */
	size_t n;
	struct async_reader *readers[];
};

struct async_reader {
	const struct async_reader_ops *ops;
	void *arg;
	size_t n;
	double share;
	char name[16];          /* of what it reads */
	char bus_name[16];      /* of its thread */
	struct reader_bus *bus; /* NULL: there is none yet */

	/* Of the thread that makes the passes. */
	int64_t due_ns;
	int64_t tick_ns, slot_ns; /* tick_ns: its moments are random, for rows of this period; or 0 */
	int64_t for_ns;           /* the row for which the next pass is made; 0: any */
	double took_ns[2];        /* the last two passes */

	_Atomic double cost_ns; /* of a pass, smoothed */
	atomic_int_least64_t wish_ns, period_ns;
	/* When the current pass began; below 0: its thread was left in it; 0: there is none. */
	atomic_int_least64_t begun_ns;
	_Atomic pid_t tid; /* the thread that makes it */
	atomic_uint_least64_t late; /* passes that came too late for their row */

	/* Of the thread that takes them. */
	uint32_t taken;   /* the pass; 0: none yet */
	int64_t taken_ns; /* when it began; 0: there are no values now */
	int64_t late_ns;  /* when the last late one was counted */

	_Atomic uint32_t pass; /* 2 per pass; odd while one is being stored */
	/* Of the newest pass and the one before it, see record_of(): when it began, and the first row that may
	 * take it. */
	atomic_int_least64_t t_ns[2], row_ns[2];
	_Atomic double v[]; /* n of each */
};

/* A pass ends this long before the row that takes it is made, and begins between two ticks of 1 ms: threads
 * that wake at the same moment cost a sixth more, all together. */
#define LEAD_NS (3 * NS_PER_MS / 2)

/* async-reader.c */
void async_reader_free(struct async_reader *s);

/* Makes one pass at t_ns. Returns false if the thread was left in it: it may then use nothing more of the bus,
 * and calls reader_bus_release(). */
bool async_reader_pass(struct async_reader *s, int64_t t_ns);
/* The two ends of a pass. begin() returns false if another thread still hangs in one. */
bool async_reader_begin(struct async_reader *s, int64_t begin_ns);
bool async_reader_end(struct async_reader *s, int64_t begin_ns);

/* How much before it is due a pass is made by a thread that is awake. */
int64_t async_reader_early(const struct async_reader *s);

/* Puts n readers on one bus, and starts its thread if rows is false, at this niceness (NULL: in real time, if
 * that is permitted); rows come at grid_ns. Returns NULL, and no reader is on a bus, if there is no memory or no thread. */
struct reader_bus *reader_bus_new(const char *name, struct async_reader *const *readers, size_t n, bool rows,
				  const int *nice, int64_t grid_ns);
/* Stops the thread and waits for it, but not for long. Its readers are not read any more. */
void reader_bus_stop(struct reader_bus *b);
void reader_bus_release(struct reader_bus *b);

/* If the current pass of s hangs, its thread is left in it, and another one goes on with the rest of the bus.
 * Returns true if it was the thread that makes rows. *look_ns is lowered to when this must be called again.
 * Call from one thread only. */
bool reader_bus_rescue(struct async_reader *s, int64_t now_ns, int64_t *look_ns);

#endif
