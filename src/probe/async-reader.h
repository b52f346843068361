/* async-reader: makes reads that take too long for the sampling path, or may hang, in another thread.
 *
 * That thread makes a pass every period: it reads a few values, which are then published together. The
 * sampling path takes them without a lock and without waiting. Readers share a thread until one takes long or
 * hangs. */
#ifndef NVMTOP_PROBE_ASYNC_READER_H
#define NVMTOP_PROBE_ASYNC_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOW_VALUES 64

struct async_reader;
struct async_reader_ops {
	/* Makes one pass, started at t_ns (CLOCK_MONOTONIC). It may open, allocate and wait. v is all NaN at
	 * first; bit i of wanted is set after async_reader_want() for value i. */
	void (*read)(void *arg, int64_t t_ns, uint64_t wanted, double *v);
	void (*close)(void *arg); /* frees arg; called once, from either thread */
};

/* Passes are made every period_ns, or so much less often that they take at most this share (0..1] of the
 * time, not counting the first. n is at most SLOW_VALUES. name is the thread's name, of at most 15 bytes.
 * Takes ownership of arg, even on failure, when it returns NULL and sets errno.
 *
 * A thread that hangs may outlive the probe set: arg must own all that it refers to, including the root. */
struct async_reader *async_reader_new(const char *name, const struct async_reader_ops *ops, void *arg,
				      size_t n, int64_t period_ns, double share);

/* Starts a thread for this reader alone, with a pass at once; other readers are started by probe_set_start().
 * If no thread can be created, nothing changes. */
void async_reader_start(struct async_reader *s);

/* If the reader has no thread, makes a pass in the calling thread, unless another taker is making one. So a
 * probe set that is only listed, or driven by a test, has no threads. */
void async_reader_ask(struct async_reader *s, int64_t t_ns);

/* Both take effect with the next pass. */
void async_reader_want(struct async_reader *s, size_t i);
void async_reader_set_period(struct async_reader *s, int64_t period_ns);

/* Call before its thread is started if the values are added up over rows that come every tick_ns. Passes then
 * begin at random moments of their periods, and never early. */
void async_reader_at_random(struct async_reader *s, int64_t tick_ns);

/* Returns the current period in ns. */
int64_t async_reader_period_ns(const struct async_reader *s);

/* What one taker has seen; all 0 at first. */
struct async_reader_seen {
	uint32_t pass;
	bool stale;
	int64_t t_ns; /* when the last pass that it took began */
};

/* Copies the newest pass into v[n] if the taker has not taken it yet. If there was none for long (8 periods,
 * but at least half a second), sets v to NaN, once. Returns false if there is nothing new; v is then
 * unchanged. */
bool async_reader_take(const struct async_reader *s, struct async_reader_seen *seen, int64_t now_ns,
		       double *v);

/* Returns when the current pass began if it has taken more than a second, or if it was abandoned while rows
 * waited for it; else 0. */
int64_t async_reader_hangs(const struct async_reader *s, int64_t now_ns);

/* Stops its thread and waits for it, but not for long: a thread that hangs is detached and frees the reader
 * when it returns. The other readers of the thread stop, too. NULL is fine. */
void async_reader_stop(struct async_reader *s);

#endif
