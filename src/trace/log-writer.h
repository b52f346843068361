/* log-writer: the sink that records a log to files or to a pipe. */
#ifndef TRACE_LOG_WRITER_H
#define TRACE_LOG_WRITER_H

#include <limits.h>

#include "trace/log-builder.h"
#include "trace/nvmt1.h"

/* What a recording may take up, and how often it goes on in a further file. */
struct trace_limits {
	int64_t sync_ns;      /* 0: 5 s */
	int64_t split_ns;     /* a new file that often; 0: never */
	uint64_t split_bytes; /* a new file before one gets larger; 0: never */
	uint64_t max_bytes;   /* of all files together; 0: no limit */
};
#define TRACE_BYTES_MIN 65536 /* of split_bytes and max_bytes */

struct log_writer;

/* Creates the file, which must not exist unless force, and locks it. Errors are found before the first
 * sample where possible: a folder that does not exist, a disk that is full. A name that ends in .bin is
 * that of the file of version 1 which the recording becomes at its end (trace/nvmt1.h); the log is
 * NAME.bin.nvmt. */
struct log_writer *log_writer_new(const char *path, bool force, struct err *e);
/* To a pipe, a socket or what else is open; takes fd over, also on error. */
struct log_writer *log_writer_fd(int fd, struct err *e);
struct sink *log_writer_sink(struct log_writer *w);

/* Before begin(); the reason also before end(). */
struct log_options *log_writer_options(struct log_writer *w);
/* The recording continues in further files, when one is long or large enough and after a permanent
 * error: "run.nvmt" in "run.2.nvmt", "run.3.nvmt" and so on, always the next number that is not taken.
 * Its end() does not wait for the disk. */
void log_writer_limits(struct log_writer *w, const struct trace_limits *limits);

/* Begin to end without waiting: end() will not wait either once it is done. */
void log_writer_finish(struct log_writer *w);
/* Is all of it on the disk?  Waits for that until until_ns of clock_now_ns(). */
bool log_writer_wait(struct log_writer *w, int64_t until_ns);
bool log_writer_done(struct log_writer *w);
/* What came of it, as of now: -1 with a sentence when something is lost, or not written yet. */
int log_writer_result(struct log_writer *w, struct err *e);
/* In the place of end(): nothing of it is left. */
void log_writer_discard(struct log_writer *w);
/* Waits until there is room for more than a few chunks. False: writing has failed. */
bool log_writer_ready(struct log_writer *w);
/* Does not wait for a disk that does not answer: its thread frees it then. A file without any chunk is
 * removed. */
void log_writer_free(struct log_writer *w);

#define LOG_CHANGES 4

struct log_writer_stats {
	uint64_t bytes, queued;   /* written; in memory */
	uint64_t rows[TIERS];     /* written */
	uint64_t lost_rows;       /* without room, too late, or failed */
	uint64_t marks, lost_marks;
	uint64_t late[TIERS], given_lost; /* ticks in gaps that came with the stream */
	int64_t longest_ns;               /* between two fast rows */
	uint64_t changes;
	struct change change[LOG_CHANGES]; /* the first of them */
	size_t files;        /* that have begun */
	uint64_t holes;      /* how often nothing could be written for a while */
	int64_t hole_ns;     /* how long, together */
	bool dropping;       /* there was no room for the last cell */
	bool full;           /* max_bytes are reached: nothing more is taken */
	bool failed;         /* it has ended: err has the reason */
	bool reader_gone;    /* of a pipe: that is why */
	struct err err;      /* what is wrong just now; ERR_NONE: nothing is */
	struct err last;     /* what went wrong last, with a loss; ERR_NONE: nothing did */
	char path[PATH_MAX]; /* the file that is written, or was last */
};
/* The readings of a channel in all chunks, after end(). */
const struct span_stats *log_writer_total(const struct log_writer *w, size_t channel);
/* All of these from any thread. */
void log_writer_stats(struct log_writer *w, struct log_writer_stats *out);
int64_t log_writer_until_ns(struct log_writer *w); /* rows from then on are too many; INT64_MAX: none yet */
/* File i as it is called now; complete: it has its END.  False behind the last one.  path and
 * complete may be NULL. */
bool log_writer_file(struct log_writer *w, size_t i, char *path, size_t size, bool *complete);
/* After end(), when all is on the disk: files whose names end in .bin become files of version 1.  -1: the
 * rest stays a log, and the sentence names it with the command that goes on. */
int log_writer_convert(struct log_writer *w, nvmt1_progress *progress, void *arg, struct err *e);

/* log-file.c: a descriptor for appending, or -1. */
int log_file_make(const char *path, bool force, struct err *e);
/* Could a file be created there later, replacing one if force? */
int log_file_check(const char *path, bool force, struct err *e);
/* Syncs the directory, so that the name is on the disk, too. */
void log_file_list(const char *path);
/* The log of the recording of that name: the same, or with .nvmt behind .bin.  -1: it is too long. */
int log_file_name(const char *path, char *out, size_t size);
/* The file of version 1 that the log of that name becomes; false: it stays what it is. */
bool log_file_final(const char *log, char *out, size_t size);
/* Is the name free, and that of its log? over: a complete file counts as free. */
bool trace_name_free(const char *path, bool over);
/* The file of that number: NAME.nvmt, NAME.2.nvmt, NAME.3.nvmt, ...  -1: it is too long. */
int part_path(const char *path, unsigned number, char *out, size_t size);
/* The first of these whose name is free, from *number on; false: it is too long. */
bool part_path_free(const char *path, bool over, unsigned *number, char *out, size_t size);

#endif
