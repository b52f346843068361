/* slow: reads that take too long for a tier, or may hang, on a thread of their own.
 *
 * The thread makes a pass every period: it reads into a few values, which are
 * then published together.  The sampling path takes them without a lock and
 * without waiting.  Sources whose passes are over in microseconds share a thread
 * for as long as they stay so. */
#ifndef PROBE_SLOW_H
#define PROBE_SLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOW_VALUES 64

struct slow;
struct slow_ops {
	/* One pass, begun at t_ns (CLOCK_MONOTONIC).  It may open, allocate and
	 * wait.  v is NaN everywhere; bit i of wanted is set when somebody asked
	 * for value i with slow_want(). */
	void (*read)(void *arg, int64_t t_ns, uint64_t wanted, double *v);
	void (*close)(void *arg); /* frees arg; called once, from either thread */
};

/* n <= SLOW_VALUES.  Passes come every period_ns, or so much less often that
 * they take at most this share (0..1] of the time, the first one not counted.
 * name is the thread's, of at most 15 bytes.  Takes arg over, also when it
 * fails: NULL with errno.
 *
 * A thread that hangs may outlive the rig: what arg holds must be its own, the
 * root, too. */
struct slow *slow_new(const char *name, const struct slow_ops *ops, void *arg, size_t n, int64_t period_ns,
		      double share);

/* Start its thread, with a pass at once: from a probe's start().  When no thread
 * can be had it stays as it was. */
void slow_start(struct slow *s);

/* While there is no thread: make a pass here and now, unless another taker is at it.
 * So a rig that is only looked at, or driven by a test, has no threads. */
void slow_ask(struct slow *s, int64_t t_ns);

/* From the next pass on. */
void slow_want(struct slow *s, size_t i);
void slow_set_period(struct slow *s, int64_t period_ns);

/* The period that is kept at present. */
int64_t slow_period_ns(const struct slow *s);

/* What one taker has seen; zeroed at first. */
struct slow_seen {
	uint32_t pass;
	bool stale;
};

/* Copy the newest pass into v[n] when the taker has not seen it yet.  When there
 * was none for long (8 periods, but at least half a second), v is all NaN, once.
 * False: nothing to say, v is not touched. */
bool slow_take(const struct slow *s, struct slow_seen *seen, int64_t now_ns, double *v);

/* Has a pass not come back for more than a second? */
bool slow_hangs(const struct slow *s, int64_t now_ns);

/* The thread is told to stop and waited for, for a moment: one that hangs is
 * left alone and cleans up when it comes back.  NULL is fine. */
void slow_stop(struct slow *s);

#endif
