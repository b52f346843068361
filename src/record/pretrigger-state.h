/* pretrigger-state: what pretrigger.c, which holds the last stretch and watches it, shares with
 * pretrigger-write.c, which records it. */
#ifndef NVMTOP_RECORD_PRETRIGGER_STATE_H
#define NVMTOP_RECORD_PRETRIGGER_STATE_H

#include "record/pretrigger-ring.h"
#include "record/pretrigger.h"
#include "trace/log-builder.h"
#include "util/job.h"

/* What is recorded, from_ns .. to_ns. */
struct stretch {
	bool is;
	int64_t from_ns, to_ns;
};

struct pretrigger {
	struct sink sink;
	struct pretrigger_options o;
	struct condition when;
	char path[4096];
	const struct session *about; /* as long as the sink is attached */
	int64_t begin_ns;            /* of the session */
	bool attached, ended, stuck; /* stuck: the job does not end, and frees all of it if it does */
	pretrigger_enough *enough;
	void *enough_arg;

	pthread_mutex_t lock; /* for all that follows */
	pthread_cond_t wake;
	struct chunk_ring ring;
	struct log_builder *builder; /* whose chunks go to the ring */
	struct fact *facts;          /* as they were before the changes */
	struct change *changes;      /* that came with what is held */
	size_t n_changes;
	struct condition_eval eval;
	bool armed;
	struct row_queue unseen[TIERS]; /* by the condition */
	uint64_t taken[TIERS];
	int64_t newest_ns[TIERS];
	struct stretch now, next; /* in the present file; in the one after it */
	int64_t copied_ns;        /* rows up to then are in the present file */
	bool written;             /* some stretch was requested: last_ns is the end of the latest */
	int64_t last_ns;
	bool quit, stop; /* stop: without waiting for the disk */
	uint64_t triggers, marks;
	struct pretrigger_file files[PRETRIGGER_FILES];
	size_t n_files, n_failed;
	struct job job;        /* records them */
	bool started, writing; /* it was once; it runs */
	unsigned number;       /* of the latest file; the job's */
	char current[4096];    /* the file that it writes */
};

/* The newest row of all tiers. */
int64_t pretrigger_newest_ns(const struct pretrigger *k);
/* With the lock: there is a stretch to be recorded. */
void pretrigger_write(struct pretrigger *k);
/* Without it, and quit set: until all of it is, or there is enough of that. */
void pretrigger_wait(struct pretrigger *k);
void pretrigger_destroy(struct pretrigger *k);

#endif
