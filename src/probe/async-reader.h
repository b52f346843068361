/* async-reader: reads that take too long for the sampling path, or may hang, by another thread.
 *
 * That makes a pass every period: it reads into a few values, which are then published
 * together.  The sampling path takes them without a lock and without waiting.  Readers
 * share a thread until one takes long or hangs. */
#ifndef NVMTOP_PROBE_ASYNC_READER_H
#define NVMTOP_PROBE_ASYNC_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOW_VALUES 64

struct async_reader;
struct async_reader_ops {
	/* One pass, started at t_ns (CLOCK_MONOTONIC). It may open, allocate and wait. v is NaN
	 * everywhere; bit i of wanted is set after async_reader_want() for value i. */
	void (*read)(void *arg, int64_t t_ns, uint64_t wanted, double *v);
	void (*close)(void *arg); /* frees arg; called once, from either thread */
};

/* n <= SLOW_VALUES.  Passes come every period_ns, or so much less often that
 * they take at most this share (0..1] of the time, the first one not counted.
 * name is the thread's, of at most 15 bytes.  Takes arg over, also when it
 * fails: NULL with errno.
 *
 * A thread that hangs may outlive the probe set: what arg holds must be its own, the
 * root, too. */
struct async_reader *async_reader_new(const char *name, const struct async_reader_ops *ops, void *arg,
				      size_t n, int64_t period_ns, double share);

/* Start a thread for this reader alone, with a pass at once; others are started by probe_set_start(). If
 * no thread can be created nothing changes. */
void async_reader_start(struct async_reader *s);

/* Without a thread: make a pass here and now, unless another taker makes one. So a probe set that is
 * only listed, or driven by a test, has no threads. */
void async_reader_ask(struct async_reader *s, int64_t t_ns);

/* From the next pass on. */
void async_reader_want(struct async_reader *s, size_t i);
void async_reader_set_period(struct async_reader *s, int64_t period_ns);

/* Before its thread is started: what is read is added up over rows that come every tick_ns.
 * Its passes begin at random moments of their periods, and never early. */
void async_reader_at_random(struct async_reader *s, int64_t tick_ns);

/* The period that is kept at present. */
int64_t async_reader_period_ns(const struct async_reader *s);

/* What one taker has seen; zeroed at first. */
struct async_reader_seen {
	uint32_t pass;
	bool stale;
	int64_t t_ns; /* when the last pass that it took began */
};

/* Copy the newest pass into v[n] if the taker has not taken it yet. When there was none for long (8
 * periods, but at least half a second), v is all NaN, once. False: nothing new, v is not touched. */
bool async_reader_take(const struct async_reader *s, struct async_reader_seen *seen, int64_t now_ns,
		       double *v);

/* Since when has a pass not come back, if for more than a second; else 0. */
int64_t async_reader_hangs(const struct async_reader *s, int64_t now_ns);

/* Stop its thread and wait for it, but not for long: one that hangs is detached and frees the reader
 * when it returns. No other reader of the thread is read any more. NULL is fine. */
void async_reader_stop(struct async_reader *s);

#endif
