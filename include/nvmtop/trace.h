/* trace: NVMT version 1 on disk, written as a stream, read as a timeline.
 * The bytes are specified in nvmtop-trace(5). */
#ifndef NVMTOP_TRACE_H
#define NVMTOP_TRACE_H

#include "nvmtop/timeline.h"

/* Writer.  Checks now that the folder exists and is writable, that path is not
 * a directory, does not exist (unless force), and that there is room, so that a
 * typing error is found before the first sample.  Rows go to PATH.part while
 * recording; end() joins, completes the header, syncs and renames to PATH. */
struct trace_writer;
struct trace_writer *trace_writer_new(const char *path, bool force, struct err *e);
struct sink *trace_writer_sink(struct trace_writer *w);

struct trace_writer_stats {
	uint64_t bytes;		/* written so far, all parts */
	uint64_t rows[TIERS];
	uint64_t marks;
	uint64_t lost_rows;	/* rows the disk was too slow for */
	bool failed;		/* writing ended early: err says why */
	bool reader_gone;	/* of a stream: that is why */
	struct err err;
};
/* Safe from any thread while the stream runs. */
void trace_writer_stats(const struct trace_writer *w, struct trace_writer_stats *out);
const char *trace_writer_path(const struct trace_writer *w);	/* the final name */
/* The same as a stream of chunks to a descriptor, which it takes over (also on
 * error): a pipe, a socket, a file.  Rows wait in a queue of fixed size for a
 * slow reader and become a gap when that is full; end() gives a reader that
 * takes nothing more 2 s.  Its path is "-". */
struct trace_writer *trace_writer_stream(int fd, struct err *e);
void trace_writer_free(struct trace_writer *w);	/* after end(); a stream that never began leaves no file */

/* Recovery of a recording that was interrupted: by a crash, SIGKILL, a power
 * loss, a full disk, or in the middle of its own end.  path is the final name,
 * or that of the part.  Refuses while a recorder is still at it. */
struct trace_recovery {
	char path[4096];	/* the final name */
	bool left_over;		/* the trace was complete, only leftovers were removed */
	uint64_t bytes;
	uint64_t rows[TIERS];
	int64_t last_ns;	/* of the latest row, since the start */
	uint64_t marks;
	uint64_t late[TIERS], lost[TIERS];	/* before it was interrupted */
	/* What is known to be lost: */
	uint64_t unused_bytes;	/* of both files: no whole row or record */
	uint64_t holes[TIERS];	/* rows that are there, but without a value */
	bool header;		/* the header was damaged, and made anew */
	bool described;		/* channels beyond version 1, exact marks and gaps are there */
};
/* Joins, completes the header, syncs and renames; never over a file that is
 * there, and not before the new one is complete, so it can be interrupted and
 * repeated.  0 with e->code ERR_NONE, or ERR_DAMAGED with a sentence about what
 * is lost; -1 when nothing was recovered. */
int trace_recover(const char *path, struct trace_recovery *out, struct err *e);
/* Whether path is not there, but an interrupted recording to it is. */
bool trace_interrupted(const char *path);

/* A recording that is still being made, shown as it grows: its stream from a pipe,
 * a file that such a stream is written to, or the files of a recorder at work. */
struct trace_tail;
struct trace_tail_state {
	bool begun;		/* the sink knows the session */
	struct clock_anchor start;
	int64_t newest_ns;	/* of the latest row, on the recorder's clock; start when there is none */
	uint64_t rows[TIERS], marks;
	uint64_t late[TIERS], lost[TIERS];
	uint64_t damaged;	/* bytes that could not be used */
};

#define TRACE_TAIL_MS 100	/* how often to look at a file that grows */

/* path: "-" for standard input; a stream in a file; the name of a recording that
 * runs, or of its part.  What comes is pushed into the sink by trace_tail_take(),
 * which never waits.  NULL with ERR_FAILED; errno is ENODATA then when path is a
 * complete trace that does not grow. */
struct trace_tail *trace_tail_open(const char *path, struct sink *to, struct err *e);
int trace_tail_fd(const struct trace_tail *t);	/* to poll for input; -1: look every TRACE_TAIL_MS */
/* 1: take more at once.  0: nothing for now.  -1: it has ended, and so has the
 * sink's stream; e->code is ERR_NONE when it ended in good order, ERR_DAMAGED when
 * what came is there but the rest is not, ERR_FAILED when there is nothing. */
int trace_tail_take(struct trace_tail *t, struct err *e);
void trace_tail_state(const struct trace_tail *t, struct trace_tail_state *out);
void trace_tail_close(struct trace_tail *t);	/* ends the sink's stream if it runs; NULL is fine */

/* A stream that is in a file becomes a complete trace beside it: `to`, or with NULL
 * its name with .bin in the place of .nvms or behind it.  As trace_recover(). */
int trace_unpack(const char *path, const char *to, struct trace_recovery *out, struct err *e);
bool trace_is_stream(const char *path);

/* Reader.  path may also be a stream in a file, or "-": a stream on standard
 * input, read to its end.  Returns NULL with *e for what cannot be read at all.  For a file
 * that is cut short or damaged it returns what is readable and sets e->code to
 * ERR_DAMAGED with a sentence that names section and offset; otherwise e->code
 * is ERR_NONE. Every count, offset and size is checked before use. */
struct trace;
struct trace *trace_open(const char *path, struct err *e);
void trace_close(struct trace *t);
struct timeline *trace_timeline(struct trace *t);
const char *trace_path(const struct trace *t);

struct trace_summary {
	int64_t bytes;
	int64_t duration_ns;
	uint64_t rows[TIERS];
	uint64_t marks;
	int64_t real_ns;	/* wall clock at its start, or 0 when the file does not say */
	char board[32];
};
void trace_summary(const struct trace *t, struct trace_summary *out);

/* Only the header, quickly, for a list of files.  0, or -1 when path is no trace. */
int trace_peek(const char *path, struct trace_summary *out, struct err *e);

#endif
