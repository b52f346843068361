/* pretrigger-state: shared by pretrigger.c, which keeps the recent chunks and evaluates the condition, and
 * pretrigger-write.c, which records them. */
#ifndef NVMTOP_RECORD_PRETRIGGER_STATE_H
#define NVMTOP_RECORD_PRETRIGGER_STATE_H

#include "record/pretrigger-ring.h"
#include "record/pretrigger.h"
#include "record/watch.h"
#include "util/job.h"

/* The stretch of time in a file, from_ns .. to_ns. */
struct stretch {
	bool is;
	int64_t from_ns, to_ns;
};

struct pretrigger {
	struct sink sink;
	struct pretrigger_options o;
	char path[4096];
	const struct session *about; /* valid while the sink is attached */
	const struct channel *channels; /* its, as they are described now */
	int64_t begin_ns;            /* of the session */
	bool attached, ended, stuck; /* stuck: the job does not end, and frees everything if it ever does */
	pretrigger_enough *enough;
	void *enough_arg;

	pthread_mutex_t lock; /* for all following members */
	pthread_cond_t wake;
	struct chunk_ring ring;
	struct log_builder *builder; /* its chunks go to the ring */
	struct fact *facts;          /* as of before the changes */
	struct change *changes;      /* since the oldest chunk in the ring */
	size_t n_changes;
	struct watch watch;
	uint64_t taken[TIERS];
	struct stretch now, next; /* of the current file; of the one after it */
	int64_t copied_ns;        /* rows up to then are in the current file */
	bool written;             /* a stretch was requested; the latest ends at last_ns */
	int64_t last_ns;
	bool quit, stop; /* stop: do not wait for the disk */
	uint64_t triggers, marks;
	struct pretrigger_file files[PRETRIGGER_FILES];
	size_t n_files, n_failed;
	struct job job;        /* writes the files */
	bool started, writing; /* started at least once; running now */
	unsigned number;       /* of the latest file; used by the job */
	char current[4096];    /* the file being written */
};

/* The time of the newest row of all tiers. */
int64_t pretrigger_newest_ns(const struct pretrigger *k);
/* Starts the job for the requested stretch unless it is running. Call with the lock held. */
void pretrigger_write(struct pretrigger *k);
/* Waits until all stretches are written, or `enough` returns true. Call without the lock, with quit set. */
void pretrigger_wait(struct pretrigger *k);
void pretrigger_destroy(struct pretrigger *k);

#endif
