/* log-output: what the parts of an output share: when a file begins and ends (log-out.c), what is in it (log-copy.c,
 * log-meta.c), and where it is (log-disk.c). Unless stated otherwise, functions want the lock held. */
#ifndef TRACE_LOG_OUTPUT_H
#define TRACE_LOG_OUTPUT_H

#include <pthread.h>

#include "trace/log-decode.h"
#include "trace/log-index.h"
#include "trace/log-out.h"

#define OPEN_STATES 64

/* An open file. */
struct out_file {
	int fd; /* -1: none */
	unsigned number; /* in its name; 0: not chosen yet */
	size_t index;    /* in log_out.files */
	bool unnamed;    /* it gets its name with its first bytes */
	uint64_t bytes;
	int64_t since_ns;
	char path[PATH_MAX];
};

struct log_out {
	char path[PATH_MAX], shown[PATH_MAX]; /* as given */
	bool force; /* the first file may replace another */
	bool go_on; /* continue in further files */
	bool stream; /* to a pipe, a socket or another open descriptor */
	struct log *log; /* NULL: not begun */

	pthread_mutex_t lock; /* for all following members; taken before that of the log */
	pthread_cond_t wake, changed; /* wake the thread; wake waiting callers */
	struct log_queue *queue; /* NULL: before the beginning, and once all is written */
	struct log_out_options options;
	struct trace_limits limits;
	bool running; /* its thread is */
	bool quit, abandoned, discard;
	bool over; /* all of it is written */
	struct log_out_stats stats;
	struct out_written {
		unsigned number;
		bool complete;
	} *files;
	size_t n_files;

	/* What is copied. */
	struct session about;
	struct fact *facts; /* as of the newest chunk in the file; NULL: the stream has not begun */
	struct log_packer *packer;
	struct log_unpacker *unpacker;
	struct log_bytes raw, bytes, events; /* a chunk that is being made; what is copied of it */
	bool all;			     /* of the stream, from its begin */
	uint64_t past;			     /* chunks up to this serial were there before the output */
	int64_t from, to;		     /* cells of the file; to INT64_MAX: not known */
	int64_t end;			     /* of all files; where `to` is before it, the next file begins there */
	int64_t read[TIERS];		     /* the newest cell with rows of each that was read */
	uint64_t serial; /* of the newest chunk that was read */
	uint64_t until;	 /* events up to this serial that are older than the file are in the one before */
	struct {	 /* chunks of which the next file may want something; those from `at` on are read again */
		struct log_chunk **p;
		size_t at, n;
	} kept;
	struct log_skipped skipped; /* and not told in a file yet */
	struct state_event open[OPEN_STATES]; /* throttling and the like that goes on */
	size_t n_open;
	int64_t due_ns; /* when the next file is due to begin */

	/* The file. */
	struct log_index *index;
	struct clock_anchor start; /* nothing in it is older */
	uint8_t boot[16];
	uint64_t seq;
	uint32_t generation;
	bool any_ranges;
	int64_t whole;	     /* LOD and STAT of spans from this cell on are true of this file */
	int64_t newest;	     /* cell with rows; INT64_MIN: no row is in this file */
	int64_t list_before; /* an INDEX of the groups before this cell is due; INT64_MIN: none */
	int64_t meta_span;   /* of the last META */
	int64_t full_span;   /* the level 2 span of the last full one */
	unsigned full_due;   /* so many more are full */
	int64_t tier_cell[TIERS]; /* after the last row of each */

	/* State of the disk. */
	bool names;	 /* files are created with their names, for want of another way */
	struct out_file file;
	struct disk_job *jobs;               /* that are running */
	bool unsynced, listed, found, moved; /* found: its path led to it at least once */
	int64_t look_ns, sync_ns;            /* when to check the path; when to sync */
	int64_t retry_ns;                    /* no next file before this time */
	int64_t write_ns;                    /* since when a write has been in progress; 0: none is */
	int64_t failed_ns;                   /* since when writing fails; 0: it does not */
};

/* The bytes of the files before. */
static inline uint64_t out_made(const struct log_out *o)
{
	return o->stats.bytes - o->file.bytes;
}

/* log-meta.c: makes META in o->raw. A full one describes the log. */
void out_meta_make(struct log_out *o, const struct clock_anchor *now, bool full);
/* Sets session and uuid to random numbers unless given, and boot to the boot id if the rows are of now. */
void out_identify(struct log_out *o);

/* log-copy.c: those that return bool return false if the file has ended early, or the recording has failed. */
/* The next chunk begins a file, and nothing in it is older than that cell. */
void out_file_begin(struct log_out *o, int64_t cell);
bool out_meta(struct log_out *o, int64_t cell);
/* Lists what is in the file, and says where it goes on. */
bool out_file_end(struct log_out *o, enum log_reason reason, const char *next);
/* The channels as they are described now. */
void out_session_take(struct log_out *o);
/* Copies what of the chunk belongs to the file. */
bool out_copy(struct log_out *o, const struct log_chunk *c);
/* Says which rows before that cell never came here, because too much waited. */
bool out_lost_tell(struct log_out *o, int64_t cell);
/* Notes what goes on after the events of that chunk. */
void out_states_note(struct log_out *o, const struct log_chunk *c);

/* log-disk.c */
/* Opens the next file, which gets the next number that is not in use, and replaces none unless `over`. */
int disk_open(struct log_out *o, bool over, struct out_file *out, struct err *e);
/* The same until it is possible, and makes it the current one. Returns false if it is not before the recording ends: it has
 * failed. */
bool disk_next(struct log_out *o);
/* Ends the recording because of an errno: there is no next file. */
void disk_fail(struct log_out *o, int num);
/* Makes it the current one. Returns false if the recording has failed. */
bool disk_use(struct log_out *o, const struct out_file *file);
/* Writes o->bytes, and waits for room if the disk is full. Returns false if the file has ended early, or failed. */
bool disk_write(struct log_out *o);
/* The file is complete: syncs and closes it. */
void disk_close(struct log_out *o);
/* Handles finished syncs and starts the next one; never waits. */
void disk_look(struct log_out *o);
/* Waits for all of it to be on the disk. */
void disk_finish(struct log_out *o);

#endif
