/* log-output: shared by the sink of a recording and its writing thread. */
#ifndef TRACE_LOG_OUTPUT_H
#define TRACE_LOG_OUTPUT_H

#include <pthread.h>

#include "trace/log-writer.h"

enum output { OUT_FILE, OUT_PIPE, OUT_SOCKET, OUT_OTHER };

/* A chunk in the queue. */
struct block {
	struct block *next;
	struct log_entry about;
	unsigned part; /* index of its file: 0, 1, 2, ... */
	size_t n;
	uint8_t bytes[];
};

/* An open file. */
struct part {
	int fd;                /* -1: none */
	unsigned part, number; /* number: the one in its name */
	uint64_t bytes;
	int64_t since_ns;
	char path[PATH_MAX];
};

struct file_done {
	unsigned number;
	bool complete;
};

struct log_writer {
	struct sink sink;
	char path[PATH_MAX], shown[PATH_MAX]; /* as given */
	bool go_on; /* continue in further files */
	enum output output;
	pthread_mutex_t lock;         /* for all following members */
	pthread_cond_t wake, changed; /* wake the thread; wake waiting callers */
	struct log_options options;
	struct trace_limits limits;
	struct log_builder *builder;
	struct block *head, **end;
	bool thread, begun, quit, done, abandoned, discard;
	struct log_writer_stats stats;
	struct file_done *files; /* indexed by part */
	size_t n_files;

	/* For the end of file `part`, whose chunks are being made. */
	const struct session *about;
	struct energy_meter *meters[POWER_PARTS]; /* of the power that a summary tells */
	size_t n_meters;
	unsigned part;
	int64_t newest_ns; /* of all rows */
	int64_t cut_ns;    /* start of that file or, if `cutting`, of the next one */
	int64_t due_ns;    /* when the next one is due to begin */
	int64_t until_ns;  /* end of a recording that is full */
	uint64_t made;     /* total bytes of the previous files, once they are written */
	bool cutting;
	bool want; /* the next file should be opened */

	/* State of the thread. */
	unsigned number;                     /* of the file created last */
	struct part file, next;              /* the current file; one opened in advance */
	struct disk_job *jobs;               /* that are running */
	bool unsynced, listed, found, moved; /* found: its path led to it at least once */
	int64_t look_ns, sync_ns;            /* when to check the path; when to sync */
	int64_t retry_ns;                    /* no retry before this time */
	int64_t write_ns;                    /* since when a write has been in progress; 0: none is */
	int64_t failed_ns;                   /* since when writing fails; 0: it does not */
};

/* Call these with the lock held. */

/* Adds a file of that number. Returns 0 or an errno. */
int writer_part_add(struct log_writer *w, unsigned number);
/* Its name without the folder, in path. */
const char *writer_part_name(const struct log_writer *w, unsigned number, char path[PATH_MAX]);
/* Ends the thread; releases the lock. */
void writer_leave(struct log_writer *w);

/* Removes the first chunk of the queue: it was written, or is lost. */
void queue_taken(struct log_writer *w, bool written);
/* Passes the remaining chunks of that file back to the builder, as far as possible. */
void queue_return(struct log_writer *w, unsigned part);

/* log-disk.c: starts the thread. Returns 0 or an errno. */
int disk_start(struct log_writer *w);

#endif
