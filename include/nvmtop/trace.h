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
	struct err err;
};
/* Safe from any thread while the stream runs. */
void trace_writer_stats(const struct trace_writer *w, struct trace_writer_stats *out);
const char *trace_writer_path(const struct trace_writer *w);	/* the final name */
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

/* Reader.  Returns NULL with *e for what cannot be read at all.  For a file
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
