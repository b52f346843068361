/* log-memory: the log of a stream in memory, as the chunks that a file of it would have.
 *
 * One thread appends, through the sink; any thread looks. A chunk never changes; a look holds references to those that
 * it has, and the last reference frees one. META, INDEX and END are not kept: whatever copies the log into a file makes
 * its own. */
#ifndef TRACE_LOG_MEMORY_H
#define TRACE_LOG_MEMORY_H

#include <stdatomic.h>

#include "model/energy.h"
#include "trace/log.h"

#define LOG_MEMORY_SESSION 1 /* in the heads of its chunks */

/* How much is kept. What is older than the rows has bins and statistics. */
struct log_bound {
	int64_t rows_ns; /* 0: only the groups that are open, and what a queue holds */
	uint64_t bytes;	 /* of rows; 0: as many as they need */
	bool now;	 /* the rows are of now: cells are sealed, and suspends noticed, by the clocks */
};
#define LOG_ROWS_NS	 (600 * NS_PER_S) /* the default */
#define LOG_ROWS_BYTES	 (UINT64_C(24) << 20)
#define LOG_RANGES_BYTES (UINT64_C(16) << 20) /* of chunks; the screen has 8 MB of its own */

struct log_chunk {
	atomic_uint refs;
	uint32_t generation;	/* of the channels: the number of the edition that describes them */
	uint64_t serial;	/* 1, 2, 3, ... in the order of a file; never used again; 0: a note */
	struct log_entry about; /* kind, zoom or level, cell, rows; its distance is the serial */
	uint32_t n;		/* bytes */
	uint8_t bytes[];	/* head and payload; session and seq of the head are of no file; of a note: its record */
};
void log_chunk_free(struct log_chunk *c); /* drops a reference; NULL is fine */

/* The chunks that are kept equally long are on a shelf, numbered from 0 in the order of their arrival. Notes are marks,
 * gaps, changes and events at once, each by itself, before they are in a chunk. */
enum log_shelf {
	SHELF_RANGES,
	SHELF_ROWS,   /* DATA, MARK, GAP, STATE, EVENT */
	SHELF_FINE,   /* LOD and STAT of level 1 */
	SHELF_MIDDLE, /* STAT of level 2, and its finest LOD */
	SHELF_COARSE, /* its other LOD */
	SHELF_DAY,    /* level 3 */
	SHELF_NOTES,
	LOG_SHELVES
};
enum log_shelf log_shelf_of(const struct log_entry *e); /* of a chunk */

/* Rows of one tier in one cell, for one section of a chunk. Those before n do not change. */
struct log_rows {
	atomic_uint refs;
	int64_t cell;
	size_t width, room;
	int64_t *t_ns;
	double *values; /* row by row */
	uint8_t *late;	/* of the builder: one tick before the row was skipped */
};

struct look_open { /* rows that are in no chunk yet */
	struct log_rows *rows;
	size_t n;
};
#define LOOK_OPEN 32 /* of a tier */

struct log;

/* What is known of a log without its chunks. */
struct log_now {
	uint64_t kept[LOG_SHELVES], end[LOG_SHELVES]; /* numbers of the chunks */
	uint64_t bytes[LOG_SHELVES];		      /* of these */
	uint64_t packed;			      /* of all chunks so far, without notes */
	struct look_open open[TIERS][LOOK_OPEN];      /* by time */
	unsigned n_open[TIERS];
	uint64_t rows[TIERS];	   /* in chunks and open, since the beginning of the stream */
	uint64_t marks;		   /* since then */
	uint64_t gone[TIERS];	   /* of the rows, in chunks that are not kept any more, */
	int64_t rows_from;	   /* which are of groups before this cell; INT64_MIN: there are none */
	int64_t ranges_from;	   /* cell of the first RANGE chunk that is kept, and of those before it: */
	uint64_t ranges_gone;	   /* ranges for which there was no room */
	bool any;
	int64_t first_ns, last_ns; /* of all rows since then */
	int64_t longest_ns;	   /* between two fast rows */
	int64_t rows_ns, ranges_ns; /* how far they go back if there is no room for what the bound says; else 0 */
	uint64_t serial;	   /* of the newest chunk; 0: none */
};

/* One state of a log, and the chunks that were kept then. */
struct log_look {
	uint64_t version; /* counts the changes of the log */
	struct log_now now;
	struct look_shelf {
		struct log_chunk **p;
		size_t n, room;
		uint64_t first; /* number of the first */
	} shelf[LOG_SHELVES];
	const struct session *session; /* as it is described now; valid until log_free(); NULL: not begun */
	uint32_t generation;	       /* of that description */
	bool ended;
};

struct log *log_new(const struct log_bound *bound, struct err *e);
void log_free(struct log *l); /* ends it, and drops a reference; a queue has one of its own */
bool log_is_now(const struct log *l);  /* as its bound says */
/* The session as it is described now, and the number of that edition; valid until log_free(). NULL: not begun. */
const struct session *log_session(struct log *l, uint32_t *generation);
struct sink *log_sink(struct log *l);
/* Seals what is due by the clock: for the appending thread, where rows are of now. */
void log_run(struct log *l, int64_t now_ns);

/* Brings the look up to date; zero it before the first. Returns false if out of memory: it is of an earlier state. */
bool log_look(struct log *l, struct log_look *look);
void log_look_free(struct log_look *look);
/* The store of all ranges, NULL: there were none yet; valid until log_free(). */
struct ranges *log_range_store(struct log *l);
/* How the rows of a power channel become readings, as known by now. Returns false if that is not known yet. */
bool log_energy_source(struct log *l, size_t channel, struct energy_source *out);

/* What is known without a look. */
struct log_known {
	bool any;		   /* there are rows */
	int64_t first_ns, last_ns; /* of those that are kept */
	int64_t longest_ns;	   /* between two fast rows */
	uint64_t rows[TIERS], marks; /* since the beginning of the stream */
	uint64_t bytes;		   /* of chunks that are kept */
	unsigned held_most;	   /* chunks that were handled while the lock was held once */
};
struct log_known log_known(struct log *l);

/* The chunks for one output, in the order of a file; another thread takes them. Once they are more than `most` bytes, the
 * oldest are skipped, half of them: one long gap is better than many short ones. */
struct log_queue;
struct log_skipped {
	uint64_t rows[TIERS], chunks, marks, ranges;
	uint64_t events; /* gaps, changes and state events */
};
static inline uint64_t log_skipped_rows(const struct log_skipped *s)
{
	return s->rows[TIER_FAST] + s->rows[TIER_MEDIUM] + s->rows[TIER_SLOW];
}
void log_skip(struct log_skipped *to, const struct log_chunk *c); /* counts it */
void log_skipped_add(struct log_skipped *to, const struct log_skipped *more);
/* The chunks that come from now on; past: before them those that are kept, which do not count for `most`. */
struct log_queue *log_queue_new(struct log *l, size_t most, bool past, struct err *e);
void log_queue_free(struct log_queue *q);
/* Waits until there is a chunk, the log has ended, or it is until_ns of clock_now_ns(). */
void log_queue_wait(struct log_queue *q, int64_t until_ns);
/* Takes the next chunk, with its reference; NULL: there is none yet, or none any more (*ended). Adds to *skipped what was
 * lost before that chunk since the last call. */
struct log_chunk *log_queue_take(struct log_queue *q, struct log_skipped *skipped, bool *ended);
/* Returns the bytes that wait, and adds to *skipped what was lost since the last log_queue_take(). */
size_t log_queue_look(struct log_queue *q, struct log_skipped *skipped);

#endif
