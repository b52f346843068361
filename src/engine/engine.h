/* engine: samples a probe set and passes the stream to its consumer.
 *
 *	sampling thread -> a ring for each tier -> engine thread -> a chain of sinks
 *
 * All functions are called from one controlling thread (the main thread), except where any thread is allowed. */
#ifndef NVMTOP_ENGINE_ENGINE_H
#define NVMTOP_ENGINE_ENGINE_H

#include "model/lateness.h"
#include "probe/probe.h"
#include "model/stream.h"

struct engine;

/* Adds the cost and losses of nvmtop itself to the probe set as channels of the slow tier: "nvmtop.cpu" in
 * percent of one core, "nvmtop.late" (ticks skipped so far), "nvmtop.late_readings" (readings that missed their
 * row) and "nvmtop.lost" (rows dropped so far), over all tiers. Call before engine_new(). Returns -1
 * and sets *e if out of memory. */
int engine_own_channels(struct probe_set *probes, struct err *e);

/* Returns 0 if the kernel grants this process SCHED_FIFO for its sampling thread, or the errno of the
 * refusal. Changes nothing. */
int engine_realtime_refused(void);

/* hz: 0.1 to 10000 each. Takes ownership of the probe set, even on error. Returns NULL and sets *e on
 * error. */
struct engine *engine_new(struct probe_set *probes, const double hz[TIERS], struct err *e);
int engine_start(struct engine *g, struct err *e);

/* Call before engine_start(): samples and reads at niceness nice (-20 to 19), without requesting SCHED_FIFO.
 * Returns -1 and sets *e if not permitted. */
int engine_set_nice(struct engine *g, int nice, struct err *e);

/* If no screen or pipe shows the rows, all rows of a cell of 2^zoom ns are delivered together, shortly after its end.
 * 0: as they come. Any thread may call it. */
void engine_unwatched(struct engine *g, int zoom);

/* Call before engine_begin(): a demo's rows begin as long before the start as its board states, with what happened in
 * that time. */
void engine_begin_in_past(struct engine *g);

/* Waits until the engine is warm: every tier has a row, and every core that is online has a load; this takes a
 * second at most. Returns false after timeout_ms (-1: no timeout), or if the engine does not run. */
bool engine_wait_warm(const struct engine *g, int timeout_ms);
/* How long a recording waits for it; values that are missing then come later. */
#define ENGINE_WARM_MS(fast_hz) (350 + (int)(2000 / (fast_hz)))

/* The session as it is now, but with the facts of the start. The engine owns it; the next call overwrites it. */
const struct session *engine_session(struct engine *g);

/* The stream begins: the consumer gets the rows, gaps, marks, changes and ranges from now on, and the marks that were
 * set since engine_new(). If the engine has not started, these are all; else the rows before are dropped, such as
 * those of sources that are not warm, and energy.total is 0 in the first of the others. The consumer is a chain of
 * sinks; of a chain that cannot begin, no sink has begun. Call once. */
int engine_begin(struct engine *g, struct sink *s, struct err *e);

/* Delivers what is older than now and then calls fn(), which may change the chain of sinks behind the first one; the engine
 * thread delivers nothing meanwhile. Any thread may call it, but no sink. Returns what fn() returns. */
typedef int engine_fn(void *arg, const struct session *now, struct err *e);
int engine_call(struct engine *g, engine_fn *fn, void *arg, struct err *e);

/* From any thread, until engine_free(): the number of rows of the tier so far, and values of the row with that number, from
 * 0, some two seconds back. These may be newer than what the consumer got. Returns its time, or 0 if there is none. */
size_t engine_made(const struct engine *g, enum tier tier);
int64_t engine_peek(const struct engine *g, enum tier tier, size_t row, const uint16_t *columns, size_t n, double *out);

/* Sets a sync mark at t_ns (normally clock_now_ns() at the key press). Returns its number (1, 2, 3, ...), or
 * 0 if out of memory. Any thread may call it. */
uint64_t engine_mark(struct engine *g, int64_t t_ns, const char *label);
/* For fn() of engine_call(), where a recording begins behind others: the next mark is 1, and reasons of missing values
 * are reported again. */
void engine_begin_again(struct engine *g);

/* Counts rows that an output could not keep, for "nvmtop.lost". */
void engine_add_lost(struct engine *g, uint64_t rows);

/* Where marks and ranges come from; the first member of that. The engine thread calls poll() with it at the time that it
 * returned last, or INT64_MAX: when the descriptor can be read (-1: none); engine_stop() calls it with `last`
 * before the stream ends. */
struct engine_feed {
	int64_t (*poll)(void *of, bool last);
	int fd;
	int64_t due_ns; /* of the first call */
};
void engine_add_feed(struct engine *g, struct engine_feed *f); /* two at a time */
void engine_drop_feed(struct engine *g, struct engine_feed *f);
/* Only poll() may call these. Ranges that began before the stream begin with it. */
void engine_ranges(struct engine *g, const struct range *list, size_t n);
void engine_change(struct engine *g, const struct change *c);

struct engine_stats {
	uint64_t rows[TIERS];
	uint64_t late[TIERS]; /* ticks skipped because the sampler woke too late */
	uint64_t lost[TIERS]; /* rows dropped because they were not collected in time */
	struct lateness lateness;    /* of the ticks of the fast tier */
	int64_t newest_ns[TIERS];    /* time of the newest row; 0: none */
	bool stalled[TIERS];         /* no row for more than a second and ten periods */
	const struct channel *hangs; /* one whose file does not answer, or NULL */
	int64_t hangs_since_ns;      /* since when */
	double cpu_percent;          /* of one core, the whole process, over the last second; NaN at first, and without own channels */
	bool realtime;               /* SCHED_FIFO was granted */
};
void engine_stats(const struct engine *g, struct engine_stats *out);

/* Gets the nth file (from 0) that did not answer for more than a second, or for so long that rows waited for
 * it. Returns false if there is none; only the first ENGINE_HANGS are kept. */
#define ENGINE_HANGS 64
struct engine_hang {
	const struct channel *channel; /* owned by the engine */
	int64_t since_ns, until_ns;    /* CLOCK_MONOTONIC; until_ns is 0 while it hangs */
};
bool engine_hang(struct engine *g, size_t nth, struct engine_hang *out);

/* Samples the next `past` ns at once, for values that are computed. Call before engine_start(). */
int64_t engine_sample_past(struct engine *g, int64_t past_ns);

/* Delivers all rows and marks, ends the consumer and both threads. Sampling that hangs in the kernel is abandoned
 * after half a second. */
void engine_stop(struct engine *g);
void engine_free(struct engine *g); /* stops first; NULL is fine */
/* Returns the number of threads, of all engines, that hung in the read of a sensor when they were stopped:
 * the kernel does not end the process before those reads return. */
unsigned engine_left_behind(void);

#endif
