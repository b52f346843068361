/* log-writer: the sink that writes a log to a file or to a pipe. */
#ifndef TRACE_LOG_WRITER_H
#define TRACE_LOG_WRITER_H

#include "trace/log-builder.h"

struct log_writer;

/* Makes the file, which must not exist unless force, and locks it.  What can be found out
 * before the first sample is: a folder that is not there, a disk that is full. */
struct log_writer *log_writer_new(const char *path, bool force, struct err *e);
/* To a pipe, a socket or what else is open; takes fd over, also on error. */
struct log_writer *log_writer_fd(int fd, struct err *e);
struct sink *log_writer_sink(struct log_writer *w);
const char *log_writer_path(const struct log_writer *w); /* "-" */

/* Before begin(). */
struct log_options *log_writer_options(struct log_writer *w);
void log_writer_sync_every(struct log_writer *w,
			   int64_t ns); /* after the sync before; 0: never; 5 s by default */
void log_writer_buffer(struct log_writer *w, size_t bytes); /* for chunks that wait; 32 MB, 1 MB to a pipe */

/* Why it ends, and in which file it goes on (NULL: in none); stopped by default. */
void log_writer_reason(struct log_writer *w, enum log_reason reason, const char *next);
/* Begin to end without waiting: end() will not wait either once it is done. */
void log_writer_finish(struct log_writer *w);
bool log_writer_done(struct log_writer *w);
/* How the next file of a split recording goes on.  After finish() or end(). */
void log_writer_next(struct log_writer *w, struct log_options *o);
/* Waits until there is room for more than a few chunks.  False: writing has failed. */
bool log_writer_ready(struct log_writer *w);
/* Does not wait for a disk that does not answer: the threads free it then. */
void log_writer_free(struct log_writer *w);

struct log_writer_stats {
	uint64_t bytes, queued;   /* written; in memory */
	uint64_t kind[LOG_KINDS]; /* bytes written of each kind of chunk */
	uint64_t rows[TIERS];     /* written */
	uint64_t lost_rows;       /* without room, too late, or failed */
	uint64_t marks;
	bool dropping; /* there was no room for the last cell */
	bool failed, reader_gone;
	bool removed; /* it has no name any more */
	struct err err;
};
void log_writer_stats(struct log_writer *w, struct log_writer_stats *out);

/* log-file.c: a descriptor for appending, or -1. */
int log_file_make(const char *path, bool force, struct err *e);
/* So that the disk has its name, too. */
void log_file_list(const char *path);

#endif
