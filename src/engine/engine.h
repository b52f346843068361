/* engine: samples a probe set and pushes the stream to every attached sink.
 *
 * Owns one thread that samples and one that collects.  Every function may be called
 * from any one controlling thread (the main thread), engine_mark() from any;
 * sinks are called from the collecting thread only. */
#ifndef NVMTOP_ENGINE_ENGINE_H
#define NVMTOP_ENGINE_ENGINE_H

#include "model/lateness.h"
#include "probe/probe.h"
#include "model/stream.h"

struct engine;

/* Adds what nvmtop itself costs and misses to the probe set, as channels of the slow
 * tier: "nvmtop.cpu" in percent of one core, "nvmtop.late" (ticks skipped) and
 * "nvmtop.lost" (rows dropped) so far, over all tiers.  Before engine_new(). */
int engine_own_channels(struct probe_set *probes, struct err *e);

/* How the kernel would schedule the sampling thread of this process: 0 when it
 * grants SCHED_FIFO, or the errno with which it refuses.  Changes nothing. */
int engine_realtime_refused(void);

/* hz: 0.1 .. 10000 each.  Takes the probe set over, also on error (NULL). */
struct engine *engine_new(struct probe_set *probes, const double hz[TIERS], struct err *e);
int engine_start(struct engine *g, struct err *e);

/* Before engine_start(): sample and read at niceness nice (-20 .. 19) and do not request SCHED_FIFO. -1
 * if not permitted. */
int engine_set_nice(struct engine *g, int nice, struct err *e);

/* Before engine_start(): no screen or pipe shows what comes, so rows are handed over only
 * shortly after each cell of 2^zoom ns, all rows of the cell together. */
void engine_unwatched(struct engine *g, int zoom);

/* Warm: every tier has a row, and each CPU figure covers its full window. Waits at most timeout_ms (-1:
 * forever); true when warm. */
bool engine_wait_warm(struct engine *g, int timeout_ms);

/* The session as a sink attached now would get it in begin(). */
const struct session *engine_session(const struct engine *g);

/* Attach a sink: begin() is called at once (its error is returned), and rows,
 * marks and gaps from now on follow.  Of a recording the next mark is 1, and its first
 * fast row is the first that has a load of the CPU, at most 150 ms from now. */
int engine_attach(struct engine *g, struct sink *s, bool recording, struct err *e);

/* Fast rows that were sampled for the latest recording so far, also those that it was not
 * handed yet.  From any thread. */
uint64_t engine_recorded(const struct engine *g);

/* Detach it after everything older than now was handed over: end() is called
 * and its result returned. */
int engine_detach(struct engine *g, struct sink *s, struct err *e);

/* Drop a sync mark at t_ns (normally clock_now_ns() at the key press); returns
 * its id: 1, 2, 3, ... */
uint64_t engine_mark(struct engine *g, int64_t t_ns, const char *label);

/* Count rows that a sink could not keep, for "nvmtop.lost". */
void engine_add_lost(struct engine *g, uint64_t rows);

struct engine_stats {
	uint64_t rows[TIERS];
	uint64_t late[TIERS]; /* ticks skipped because the sampler woke too late */
	uint64_t lost[TIERS]; /* rows dropped because they were not collected in time */
	int64_t worst_late_ns[TIERS];
	bool stalled[TIERS];         /* no row for more than a second and ten periods */
	const struct channel *hangs; /* NULL, or one whose file does not answer, */
	int64_t hangs_since_ns;      /* and since when */
	double cpu_percent;          /* of one core, the whole process, over the last second; NaN at first */
	bool realtime;               /* SCHED_FIFO was granted */
};
void engine_stats(const struct engine *g, struct engine_stats *out);

/* The nth file, from 0, that did not answer for more than a second, or for so long that rows waited for
 * it. False: no more, or more than ENGINE_HANGS. */
#define ENGINE_HANGS 64
struct engine_hang {
	const struct channel *channel; /* the engine's */
	int64_t since_ns, until_ns;    /* CLOCK_MONOTONIC; until 0: it does not answer yet */
};
bool engine_hang(struct engine *g, size_t nth, struct engine_hang *out);

/* How late the ticks of a tier were so far; all 0 where it is not sampled. */
void engine_lateness(const struct engine *g, enum tier tier, struct lateness *out);

/* Ends every attached sink and the threads. Does not wait for the next tick; sampling that hangs in the
 * kernel is abandoned after half a second. */
void engine_stop(struct engine *g);
void engine_free(struct engine *g); /* stops first; NULL is fine */
/* Threads of all engines that hung in the read of a sensor when they were to end: the kernel ends the
 * process only after those reads return. */
unsigned engine_left_behind(void);

#endif
