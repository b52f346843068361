/* reader-thread: the threads that make the passes of asynchronous readers. For async-reader.c,
 * guarded-probe.c and probe-set.c only. */
#ifndef NVMTOP_PROBE_READER_THREAD_H
#define NVMTOP_PROBE_READER_THREAD_H

#include <stdatomic.h>
#include <sys/types.h>

#include "probe/async-reader.h"
#include "probe/jitter.h"

struct reader_thread;

struct async_reader {
	const struct async_reader_ops *ops;
	void *arg;
	size_t n;
	double share;
	char name[16];
	bool urgent; /* rows wait for its reads until they are abandoned */

	/* Used by the thread that makes the passes. */
	int64_t due_ns;
	struct moments moments;

	/* Used by the threads that start, replace and stop it; NULL if there is none. */
	struct reader_thread *thread;

	_Atomic double cost_ns; /* of a pass, smoothed */
	atomic_int_least64_t wish_ns, period_ns, grid_ns;
	/* When the current pass began; below 0: it was abandoned; 0: there is none. */
	atomic_int_least64_t begun_ns;
	_Atomic pid_t tid; /* the thread that makes it */
	atomic_uint_least64_t wanted;
	/* With random moments: a row takes only passes that began at least this long before it. */
	atomic_int_least64_t lead_ns;
	atomic_bool started, asked; /* it has a thread; a taker makes a pass */
	atomic_int holders;         /* the owner and the thread: the last one frees it */

	_Atomic uint32_t pass; /* 2 per pass; odd while one is being stored */
	/* Of the newest pass and the one before it: see record_of(). */
	atomic_int_least64_t t_ns[2];
	_Atomic double v[]; /* n of each */
};

/* async-reader.c */
int64_t async_reader_pass(struct async_reader *s, int64_t t_ns, int64_t begin_ns);
void async_reader_publish(struct async_reader *s, int64_t t_ns, const double *v);
void async_reader_release(struct async_reader *s);

/* A pass lasts from the first to the second. The second returns false if it was abandoned: the calling thread
 * has no other reader from then on. */
void async_reader_begin(struct async_reader *s, int64_t begin_ns);
bool async_reader_end(struct async_reader *s, int64_t begin_ns);

/* Starts one thread for n readers, at this niceness (NULL: unchanged). Returns -1 if it cannot be created. */
int reader_thread_start(struct async_reader *const *readers, size_t n, const int *nice);
/* Continues in the calling thread with s, whose pass was abandoned, until s is stopped. */
void reader_thread_continue(struct async_reader *s);
/* Stops the thread and waits for it, but not for long. Its readers are not read any more. */
void reader_thread_stop(struct reader_thread *t);
void reader_thread_release(struct reader_thread *t);

/* Abandons the current pass of s if it delays others: its thread is left to s, and another one continues with
 * the rest. Returns true if it was the thread that makes rows. *look_ns is lowered to when this must be
 * called again. Call from one thread only. */
bool reader_thread_rescue(struct async_reader *s, const int *nice, int64_t now_ns, int64_t *look_ns);

#endif
