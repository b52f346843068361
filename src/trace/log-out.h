/* log-out: writes a log, or a stretch of it, to files or to a pipe. */
#ifndef TRACE_LOG_OUT_H
#define TRACE_LOG_OUT_H

#include <limits.h>

#include "trace/log-memory.h"

/* A time, a size, or whichever comes first; 0: none. */
struct trace_limit {
	int64_t ns;
	uint64_t bytes;
};
static inline bool limit_is_set(const struct trace_limit *l)
{
	return l->ns || l->bytes;
}

/* Limits of a recording and of its files. */
struct trace_limits {
	int64_t sync_ns;           /* 0: 5 s */
	struct trace_limit split;  /* start a new file this often, and before one gets larger */
	uint64_t max_bytes;        /* total size of all files; 0: no limit */
	struct trace_limit retain; /* remove the oldest files that are older, or more, than this */
	const char *dated;         /* not NULL: of this name, in which a digit is any digit */
};
#define TRACE_BYTES_MIN 65536 /* minimum of sizes */

struct log_out_options {
	uint32_t session;	/* 0: random */
	uint8_t uuid[16];	/* zeros: random */
	uint64_t seq;		/* of the first chunk */
	size_t buffer;		/* bytes of chunks that may wait: 32 MB, 1 MB for a pipe */
	int64_t sync_ns;	/* time between syncs; 0: never; default 5 s */
	enum log_reason reason; /* why it ends; default LOG_STOPPED */
};

struct log_out;

/* Creates the file, which must not exist unless force, and locks it. Errors such as a missing folder or
 * a full disk are found before the first sample where possible. Returns NULL and sets *e on error. */
struct log_out *log_out_new(const char *path, bool force, struct err *e);
/* Writes to a pipe, a socket or another open descriptor. Takes over fd, also on error. */
struct log_out *log_out_fd(int fd, struct err *e);
/* The file is created when there is something to write, with the first number that is free. force: it replaces a
 * recording of that name. */
struct log_out *log_out_later(const char *path, bool force, struct err *e);

/* May be changed before begin(); the reason also before the end. */
struct log_out_options *log_out_options(struct log_out *o);
/* Lets the recording continue in further files, when one is long or large enough or after a permanent error:
 * "run.nvmt" is followed by "run.2.nvmt", "run.3.nvmt" and so on, always the next number that is not in use. */
void log_out_limits(struct log_out *o, const struct trace_limits *limits);

/* Starts to copy the log, until it ends: all of it, from_ns INT64_MIN, which may have no stream yet, or the cells in which
 * these times are, to_ns INT64_MAX: up to its end. */
int log_out_begin(struct log_out *o, struct log *log, int64_t from_ns, int64_t to_ns, struct err *e);
/* Moves the end: later, or with `less` to an earlier time, as far as that is not written yet (*to_ns is set). Returns
 * false if it has ended already. */
bool log_out_end_at(struct log_out *o, int64_t *to_ns, bool less);
/* Its end is near: it does not wait any more for a disk that is full. */
void log_out_finish(struct log_out *o);
/* Waits until everything is on disk, at most until until_ns of clock_now_ns(); 0: does not wait. Returns whether it is. */
bool log_out_wait(struct log_out *o, int64_t until_ns);
/* The result so far. Returns -1 and sets *e if data was lost or is not written yet. */
int log_out_result(struct log_out *o, struct err *e);
/* All three, once the log has ended. */
int log_out_end(struct log_out *o, struct err *e);
/* Call instead: stops writing and removes the file. */
void log_out_discard(struct log_out *o);
/* Waits until at most a few chunks are queued. Returns false if writing has failed. */
bool log_out_ready(struct log_out *o);
/* Does not wait for a disk that does not respond: its thread frees o later. Removes a file without chunks. */
void log_out_free(struct log_out *o);

struct log_out_stats {
	uint64_t bytes, queued;   /* written; in memory */
	size_t held;              /* of these, what is being written */
	uint64_t rows[TIERS];     /* written */
	struct log_skipped lost;  /* no room, or failed writes */
	uint64_t lost_rows;       /* of all tiers */
	uint64_t gap_rows;        /* of these, those that are recorded as gaps */
	uint64_t marks;
	int64_t until_ns;         /* rows from then on are dropped; INT64_MAX: none yet */
	uint64_t given_lost;      /* rows that were lost before they came here */
	uint64_t late[TIERS];     /* ticks */
	int64_t longest_ns;               /* maximum between two fast rows */
	size_t files;        /* begun so far */
	uint64_t holes;      /* how often writing was interrupted */
	int64_t hole_ns;     /* total duration of these interruptions */
	bool dropping;       /* there was no room for the last cell */
	bool full;           /* max_bytes was reached: nothing more is accepted */
	bool failed;         /* ended early: err has the reason */
	bool reader_gone;    /* failed because the reader closed the pipe */
	struct err err;      /* the current problem; ERR_NONE: none */
	struct err last;     /* the last problem that lost data; ERR_NONE: none */
	struct err removed, kept; /* the last files that `retain` removed, or could not remove */
	char path[PATH_MAX]; /* the current file, or the last one */
};
static inline uint64_t log_out_lost_events(const struct log_out_stats *s)
{
	return s->lost.marks + s->lost.events + s->lost.ranges;
}
/* Something that was sampled or happened in the time of the recording is in no file. */
static inline bool log_out_lacks(const struct log_out_stats *s)
{
	return s->lost_rows + s->given_lost + log_out_lost_events(s) > 0;
}
/* The following functions are safe from any thread. */
void log_out_stats(struct log_out *o, struct log_out_stats *out);
/* The current name of file i; complete: it has its END. Returns false past the last one. path
 * and complete may be NULL. */
bool log_out_file(struct log_out *o, size_t i, char *path, size_t size, bool *complete);

/* log-file.c: creates a file for appending. *unnamed: if possible without a name, until log_file_link() gives it that
 * one; set to whether it is; may be NULL. Returns its descriptor, or -1 and sets *e. */
int log_file_make(const char *path, bool force, bool *unnamed, struct err *e);
int log_file_link(int fd, const char *path); /* returns 0 or an errno; EEXIST: the name is taken */
/* Returns 0 if a file can probably be created there later, replacing one if force; else -1 and sets *e. */
int log_file_check(const char *path, bool force, struct err *e);
/* Applies `retain` to the recordings of that name, numbered or not, to which nobody records. Sets *removed or *kept
 * to a sentence if it removed some, or could not. */
void log_file_retain(const char *path, const struct trace_limits *l, struct err *removed, struct err *kept);
/* Opens the directory that the file is in. Returns its descriptor, or -1 with errno. */
int log_folder_open(const char *path);
/* Syncs the directory, so that the name is on disk, too. */
void log_file_list(const char *path);
/* Is the name free? With over, that of an existing file is, too. */
bool trace_name_free(const char *path, bool over);
/* The name of file `number`: NAME.nvmt, NAME.2.nvmt, NAME.3.nvmt, ... Returns -1 if it is too long. */
int part_path(const char *path, unsigned number, char *out, size_t size);
/* "run.2.nvmt" is number 2 of "run.nvmt", which is number 1. Stores the first file's path. */
unsigned part_number(const char *path, char *first, size_t size);
/* The first such name that is free, from *number on. Returns false if it is too long. */
bool part_path_free(const char *path, bool over, unsigned *number, char *out, size_t size);

#endif
