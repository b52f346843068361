/* log-output: what the sink of a recording and the thread that writes it share. */
#ifndef TRACE_LOG_OUTPUT_H
#define TRACE_LOG_OUTPUT_H

#include <pthread.h>

#include "trace/log-writer.h"

enum output { OUT_FILE, OUT_PIPE, OUT_SOCKET, OUT_OTHER };

/* A chunk that waits. */
struct block {
	struct block *next;
	struct log_entry about;
	unsigned part; /* of which file: 0, 1, 2, ... */
	size_t n;
	uint8_t bytes[];
};

/* A file that is open. */
struct part {
	int fd;                /* -1: it is not */
	unsigned part, number; /* number: in its name */
	uint64_t bytes;
	int64_t since_ns;
	char path[PATH_MAX]; /* of the log */
};

struct file_done {
	unsigned number;
	bool complete, converted;
};

struct log_writer {
	struct sink sink;
	char path[PATH_MAX], shown[PATH_MAX]; /* as it was given */
	bool force;
	bool go_on; /* in further files */
	enum output output;
	pthread_mutex_t lock;         /* for all below */
	pthread_cond_t wake, changed; /* to the thread, to waiting callers */
	struct log_options options;
	struct trace_limits limits;
	struct log_builder *builder;
	struct block *head, **end;
	bool thread, begun, quit, done, abandoned, discard;
	struct log_writer_stats stats;
	struct file_done *files; /* by part */
	size_t n_files;

	/* Where the file ends whose chunks are made now, which is number `part`. */
	const struct session *about;
	unsigned part;
	int64_t newest_ns; /* of all rows */
	int64_t cut_ns;    /* where that file begins, or if `cutting` the next one */
	int64_t due_ns;    /* where the next one is to begin, by time */
	int64_t until_ns;  /* where the recording is full */
	uint64_t made;     /* bytes of the files before, once they are written */
	bool cutting;
	bool want; /* the next file */

	/* What the thread does. */
	unsigned number;                     /* of the file that was made last */
	struct part file, next;              /* the one that is written, and one that is open already */
	struct disk_job *jobs;               /* that run */
	bool unsynced, listed, found, moved; /* found: its name led to it once */
	int64_t look_ns, sync_ns;            /* when the disk is tried next */
	int64_t retry_ns;                    /* nothing is tried before */
	int64_t write_ns;                    /* since when a write goes on; 0: none does */
	int64_t failed_ns;                   /* since when nothing could be written; 0: it can be */
};

/* All with the lock held. */

/* A file of that number was made.  0, or errno. */
int writer_part_add(struct log_writer *w, unsigned number);
/* Its name without the folder, in path. */
const char *writer_part_name(const struct log_writer *w, unsigned number, char path[PATH_MAX]);
/* At the end of the thread; lets go of the lock. */
void writer_leave(struct log_writer *w);

/* The first chunk of the queue was written, or is lost. */
void queue_taken(struct log_writer *w, bool written);
/* What is left for that file goes back to the builder, as far as it can. */
void queue_return(struct log_writer *w, unsigned part);

/* log-disk.c: begin the thread.  0, or errno. */
int disk_start(struct log_writer *w);

#endif
