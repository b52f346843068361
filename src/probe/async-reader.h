/* async-reader: makes reads that take too long for the sampling path, or may hang, in another thread.
 *
 * That thread makes a pass every period: it reads a few values, which are then published together. The
 * sampling path takes them without a lock and without waiting. Readers of one bus share a thread. */
#ifndef NVMTOP_PROBE_ASYNC_READER_H
#define NVMTOP_PROBE_ASYNC_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOW_VALUES 64

struct async_reader;
struct async_reader_ops {
	/* Makes one pass, started at t_ns (CLOCK_MONOTONIC). It may open, allocate and wait. v is all NaN at
	 * first. */
	void (*read)(void *arg, int64_t t_ns, double *v);
	void (*close)(void *arg); /* frees arg; called once, from any thread */
};

/* Passes are made every period_ns, or so much less often that they take at most this share (0..1] of the
 * time, not counting the first. n is at most SLOW_VALUES. name is the thread's name, of at most 15 bytes.
 * Takes ownership of arg, unless it returns NULL because it is out of memory.
 *
 * A thread that hangs may outlive the probe set: arg must own all that it refers to, including the root. */
struct async_reader *async_reader_new(const char *name, const struct async_reader_ops *ops, void *arg,
				      size_t n, int64_t period_ns, double share);

/* Call before its thread is started. Readers of one bus share a thread of that name, which is the reader's at first;
 * with an open file: that of the bus that the file belongs to, if it is known. */
void async_reader_on_bus(struct async_reader *s, const char *name);
struct attr;
void async_reader_on_bus_of(struct async_reader *s, const struct attr *a);

/* Starts a thread for this reader alone, with a pass at once; other readers are started by probe_set_start().
 * If no thread can be created, nothing changes. */
void async_reader_start(struct async_reader *s);

/* If the reader has no thread, makes a pass in the calling thread. So a probe set that is only listed, or driven by a test, has no threads. */
void async_reader_ask(struct async_reader *s, int64_t t_ns);

/* Takes effect with the next pass. */
void async_reader_set_period(struct async_reader *s, int64_t period_ns);

/* Call before its thread is started if the values are added up over rows that come every tick_ns. Passes then
 * begin at random moments of their periods, and never early. */
void async_reader_at_random(struct async_reader *s, int64_t tick_ns);

/* Returns the current period in ns. */
int64_t async_reader_period_ns(const struct async_reader *s);

/* Gets the values for a row of its tier, which has one every tick_ns: those of the newest pass, if it was not taken
 * yet. Call from one thread at a time. Without a new pass, once there was one, v[n] is NaN and true is returned, because no value is put
 * under another time than that of its reading; only values that are read less often than there are rows stay
 * for their period: then false is returned, and v is unchanged. */
bool async_reader_take(struct async_reader *s, int64_t tick_ns, int64_t now_ns, double *v);

/* Returns how many passes came too late for the row that they were made for. */
uint64_t async_reader_late(const struct async_reader *s);

/* Returns when the current pass began if it has taken more than a second, or if rows waited for it; else 0. */
int64_t async_reader_hangs(const struct async_reader *s, int64_t now_ns);

/* Stops its thread and waits for it, but not for long: a thread that hangs is detached and frees the readers of
 * its bus when it returns. The other ones are not read any more, either. NULL is fine. */
void async_reader_stop(struct async_reader *s);

#endif
