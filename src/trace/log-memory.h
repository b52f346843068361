/* log-memory: the log of a stream in memory, as the chunks that a file of it would have.
 *
 * One thread appends, through the sink; any thread looks. A chunk never changes; a look holds references to those of
 * its groups, and the last reference frees them. META, INDEX and END are not kept: whatever copies the log into a
 * file makes its own. */
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
#define LOG_RANGES_BYTES (UINT64_C(24) << 20)

struct log_chunk {
	atomic_uint refs;
	uint64_t serial;	/* 1, 2, 3, ... in the order of a file; never used again */
	uint32_t generation;	/* of the channels: the number of the edition that describes them */
	struct log_entry about; /* kind, zoom or level, cell, rows; its distance is the serial */
	struct log_chunk *next; /* in its group */
	size_t n;
	uint8_t bytes[]; /* head and payload; session and seq of the head are of no file */
};
void log_chunk_free(struct log_chunk *c); /* drops a reference; NULL is fine */

/* The chunks of a group that are kept equally long, oldest first. */
struct look_chunks {
	atomic_uint refs;
	struct log_chunk *first, **end;
};

/* The levels of a log in memory. At level 0 a group is some chunks with ranges in the order of their arrival; at
 * level 1, 64 cells; at levels 2 and 3, 64 groups of the level below. */
#define LOOK_RANGES 0

/* At level 1, DATA, MARK, GAP and STATE, or LOD and STAT; at level 2, LOD of its finest zoom and STAT, or the other
 * LOD; at levels 0 and 3 all chunks are in the first part. */
enum look_part_of { LOOK_ROWS, LOOK_SUMS, LOOK_PARTS };

struct look_group {
	int64_t cell; /* the first */
	bool closed;  /* no more rows will come */
	uint64_t before[TIERS]; /* rows in the groups before it */
	uint64_t rows[TIERS];
	struct look_part {
		struct look_chunks *list; /* NULL: there are none, or they are not kept any more */
		uint32_t n, bytes;	 /* at the time of the look; more may follow in the list */
		bool gone;		 /* dropped because of their age or number */
		uint64_t newest;	 /* serial of the last one */
	} part[LOOK_PARTS];
};

/* The rows of one tier in one cell. Those before n do not change. */
struct log_rows {
	atomic_uint refs;
	int64_t cell;
	size_t width, room;
	int64_t *t_ns;
	double *values; /* row by row */
};

struct look_open { /* rows that are in no chunk yet */
	struct log_rows *rows;
	size_t n;
};
#define LOOK_OPEN 32 /* of a tier */

/* Marks, gaps and changes in the order of arrival, as in a chunk: kind, length, record. */
struct log_notes {
	atomic_uint refs;
	size_t n;
	uint8_t bytes[16384];
};

struct log;

/* One state of a log. */
struct log_look {
	uint64_t version; /* counts the changes of the log */
	struct look_level {
		struct look_group *p; /* by cell */
		size_t n, room;
		uint64_t first;		  /* number of the first group; groups are numbered from 0 */
		uint64_t from[LOOK_PARTS]; /* groups before these numbers have lost the part */
	} level[LOG_LEVELS + 1];
	struct look_open open[TIERS][LOOK_OPEN]; /* by time */
	unsigned n_open[TIERS];
	uint64_t rows[TIERS]; /* in chunks and open, since the beginning of the stream */
	bool any;
	int64_t first_ns, last_ns;     /* of all rows since then */
	uint64_t serial;	       /* of the newest chunk; 0: none */
	const struct session *session; /* as it is described now; valid until log_free(); NULL: not begun */
	uint32_t generation;	       /* of that description */
	bool ended;
	int64_t rows_ns, ranges_ns; /* how far they go back if there is no room for what the bound says; else 0 */
	uint64_t note;		    /* block, from 0, and offset up to which the notes were read */
	size_t note_at;
};

struct log *log_new(const struct log_bound *bound, struct err *e);
void log_free(struct log *l); /* ends it, and drops a reference; a queue has one of its own */
bool log_is_now(const struct log *l);  /* as its bound says */
/* The session as it is described now, and the number of that edition; valid until log_free(). NULL: not begun. */
const struct session *log_session(struct log *l, uint32_t *generation);
/* The longest time between two fast rows. */
int64_t log_longest_ns(struct log *l);
struct sink *log_sink(struct log *l);
/* Seals what is due by the clock: for the appending thread, where rows are of now. */
void log_run(struct log *l, int64_t now_ns);

/* Brings the look up to date; zero it before the first. visit() (may be NULL) gets the notes that came since. Returns
 * false if out of memory: the look is of an earlier state. */
typedef void log_note_visit(void *arg, const struct log_in *notes);
bool log_look(struct log *l, struct log_look *look, log_note_visit *visit, void *arg);
void log_look_free(struct log_look *look);
/* The most groups, chunks and blocks that were handled while the lock was held once. */
unsigned log_held_most(struct log *l);
/* The store of all ranges, NULL: there were none yet; valid until log_free(). */
struct ranges *log_range_store(struct log *l);
/* How the rows of a power channel become readings, as known by now. Returns false if that is not known yet. */
bool log_energy_source(struct log *l, size_t channel, struct energy_source *out);
/* The first and the last time of rows that are kept. Returns false if there are none. */
bool log_kept(struct log *l, int64_t *from_ns, int64_t *to_ns);
/* Bytes of chunks that are kept. */
uint64_t log_bytes_kept(struct log *l);

/* The chunks that come from now on, for one output; another thread takes them. Once they are more than `most` bytes, the
 * oldest are skipped, half of them: one long gap is better than many short ones. */
struct log_queue;
struct log_skipped {
	uint64_t rows[TIERS], chunks, marks;
	int64_t from_ns, to_ns; /* of their cells */
};
/* Also brings the look up to date, in the same moment: what it has is not in the queue, and nothing is between. */
struct log_queue *log_queue_new(struct log *l, size_t most, struct log_look *look, struct err *e);
void log_queue_free(struct log_queue *q);
/* Takes the next chunk, with its reference; NULL: there is none until until_ns of clock_now_ns(), or ever (*ended).
 * *skipped: what was lost before that chunk since the last call. */
struct log_chunk *log_queue_take(struct log_queue *q, int64_t until_ns, struct log_skipped *skipped, bool *ended);
size_t log_queue_bytes(struct log_queue *q);
void log_queue_skipped(struct log_queue *q, struct log_skipped *out); /* since the last call of log_queue_take() */

#endif
