/* writer: what the sink of a recording and its threads share. */
#ifndef NVMTOP_TRACE_WRITER_H
#define NVMTOP_TRACE_WRITER_H

#include <pthread.h>

#include "trace/trace.h"
#include "trace/held-marks.h"
#include "trace/lanes.h"
#include "trace/log-writer.h"
#include "trace/output.h"
#include "trace/reserve.h"

/* What the two threads share. */
struct shared {
	pthread_mutex_t lock;
	pthread_cond_t wake, syncer; /* to the writing thread, to the one that syncs */
	pthread_cond_t room;         /* for trace_writer_ready() */
	struct lanes lanes;
	bool quit;
	int64_t rest_ns;   /* when whoever hands over said last that this is to be written; 0: never */
	bool due;          /* and it is not taken over yet */
	int64_t sealed_ns; /* when the last was taken over to be written */
	uint64_t bytes, refused;           /* rows that came after a failure */
	uint64_t refused_marks;            /* and marks */
	uint64_t unwritten_marks;          /* and those that were taken, and did not reach the disk */
	uint64_t returned_marks;           /* of both: what somebody has taken back, */
	struct mark unwritten[HELD_MARKS]; /* and still can */
	size_t n_unwritten;
	struct trace_writer_stats final; /* filled in by the join */
	bool joined, complete, failed, done;
	bool moved; /* its name does not lead to it any more */
	struct err err;
};

struct trace_writer {
	struct sink sink;
	struct stream_out *stream; /* does all of it instead, or NULL */
	struct log_writer *log;    /* the same */
	struct shared *shared;
	struct output output;
	off_t part_end, side_end; /* the writing thread's */
	off_t more;               /* what the join adds to what is in the side file, but for JOIN_MORE */
	struct reserve part_room, side_room;
	int64_t sync_ns;
	pthread_t thread, syncer;
	bool running, ended, discard, whole;
	/* What the syncing thread found: */
	bool listed; /* the disk has the names of both files, too */
	bool named;  /* its file system counts names */
	bool found;  /* its name led to it when it began */
	int result; /* of end() */
	struct err result_err;
};

/* After a failure: a mark that is not in the file and is given back, oldest first; false:
 * there is none, or none yet.  It counts as lost until then. */
bool trace_writer_take_back(struct trace_writer *w, struct mark *m);

/* writer-disk.c: the thread that writes, the one that syncs.  0, or errno and neither runs. */
int writer_threads_start(struct trace_writer *w);

#endif
