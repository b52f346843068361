/* log-output: what the parts of an output share: what it writes (log-out.c), and where (log-disk.c). */
#ifndef TRACE_LOG_OUTPUT_H
#define TRACE_LOG_OUTPUT_H

#include <pthread.h>

#include "trace/log-index.h"
#include "trace/log-writer.h"

#define OPEN_STATES 64

enum output { OUT_FILE, OUT_PIPE, OUT_SOCKET, OUT_OTHER };

/* An open file. */
struct part {
	int fd; /* -1: none */
	unsigned number; /* in its name; 0: not chosen yet */
	size_t index;    /* in log_writer.files */
	bool unnamed;    /* it gets its name with its first bytes */
	uint64_t bytes;
	int64_t since_ns;
	char path[PATH_MAX];
};

/* References to chunks, from p[first] to p[n - 1]. */
struct chunk_list {
	struct log_chunk **p;
	size_t first, n, room;
};

struct file_done {
	unsigned number;
	bool complete;
};

struct log_writer {
	struct sink sink; /* of its own log, if it has one */
	char path[PATH_MAX], shown[PATH_MAX]; /* as given */
	bool force; /* the first file may replace another */
	bool go_on; /* continue in further files */
	enum output output;
	struct log *log;
	bool copies; /* the log is another's */

	pthread_mutex_t lock; /* for all following members; taken before that of the log */
	pthread_cond_t wake, changed; /* wake the thread; wake waiting callers */
	struct log_queue *queue; /* NULL: before the beginning, and once all is written */
	struct log_options options;
	struct trace_limits limits;
	bool thread, begun, quit, done, abandoned, discard;
	struct log_writer_stats stats;
	struct file_done *files;
	size_t n_files;

	/* What is copied, by the thread. */
	struct session about;
	struct fact *facts; /* as of the newest chunk in the file */
	struct log_packer *packer;
	struct log_bytes raw, bytes; /* of the chunk that is being made */
	struct log_index *index;
	struct log_tally tally;		/* of all files; rows and late are not used */
	struct state_event open[OPEN_STATES]; /* throttling and the like that goes on */
	size_t n_open;
	struct clock_anchor start; /* of this file: nothing in it is older */
	uint8_t boot[16];
	uint64_t seq, at;
	uint64_t made; /* bytes of the files before */
	uint32_t generation;
	char previous[NAME_MAX + 1]; /* the file before */
	bool any_ranges;
	bool begins;      /* META is to be written */
	int64_t from, to; /* cells; to INT64_MAX: not known */
	int64_t whole;    /* LOD and STAT of spans from this cell on are true of this file */
	int64_t newest;   /* cell with rows; INT64_MIN: no row is in this file */
	int64_t list_before; /* an INDEX of the groups before this cell is due; INT64_MIN: none */
	int64_t meta_span;  /* of the last META */
	int64_t full_span;  /* the level 2 span of the last full one */
	unsigned full_due;  /* so many more are full */
	int64_t tier_cell[TIERS]; /* after the last row of each */
	uint64_t serial;    /* of the newest chunk that was read */
	uint64_t past;	    /* chunks up to this serial were there before the output */
	uint64_t until;	    /* events up to this serial that are older than the file are in the one before */
	int64_t due_ns;     /* when the next file is due to begin */
	enum { THEN_NEXT, THEN_LIMIT, THEN_END } then; /* at `to` */
	bool seen[TIERS];   /* rows of this tier from `to` on have come */
	bool over;	    /* all of it is written */
	struct chunk_list later, again; /* chunks of the next file; those of this one that were read before */
	struct {
		uint64_t rows[TIERS];
		bool any;
	} skipped; /* and not told in the file yet */

	/* State of the disk, by the thread. */
	unsigned number;                     /* of the file created last */
	bool names;                          /* files are created with their names, for want of another way */
	struct part file;
	struct disk_job *jobs;               /* that are running */
	bool unsynced, listed, found, moved; /* found: its path led to it at least once */
	int64_t look_ns, sync_ns;            /* when to check the path; when to sync */
	int64_t retry_ns;                    /* no next file before this time */
	int64_t write_ns;                    /* since when a write has been in progress; 0: none is */
	int64_t failed_ns;                   /* since when writing fails; 0: it does not */
};

/* Call all of these with the lock held. log-writer.c: ends the thread; releases the lock. */
void writer_leave(struct log_writer *w);

/* log-out.c: starts the thread, which copies what the log has from w->from on; whole: nothing was before that. Returns 0
 * or an errno. */
int out_start(struct log_writer *w, bool whole);
void chunk_list_free(struct chunk_list *l);

/* log-disk.c */
/* Opens the next file, which gets the next number that is not in use, and replaces none unless `over`. */
int disk_open(struct log_writer *w, bool over, struct part *out, struct err *e);
/* The same until it is possible. Returns false if it is not before the recording ends: it has failed. */
bool disk_need(struct log_writer *w, struct part *out);
/* Makes it the current one. Returns false if the recording has failed. */
bool disk_use(struct log_writer *w, const struct part *file);
/* Writes w->bytes, and waits for room if the disk is full. Returns false if the file has ended early, or failed. */
bool disk_write(struct log_writer *w);
/* The file is complete: syncs and closes it. */
void disk_close(struct log_writer *w);
/* Handles finished syncs and starts the next one; never waits. */
void disk_look(struct log_writer *w);
/* Waits for all of it to be on the disk. */
void disk_finish(struct log_writer *w);

#endif
