/* pretrigger-state: the last stretch, as what holds it, watches it and records it share it. */
#ifndef NVMTOP_RECORD_PRETRIGGER_STATE_H
#define NVMTOP_RECORD_PRETRIGGER_STATE_H

#include <pthread.h>

#include "record/pretrigger-ring.h"
#include "record/pretrigger.h"
#include "trace/log-builder.h"

/* What is recorded, from_ns .. to_ns. */
struct stretch {
	bool is;
	int64_t from_ns, to_ns;
};

/* Rows of a tier that the condition has not seen. */
struct unseen {
	int64_t *t_ns;
	double *values;
	size_t first, n, room;
};

struct pretrigger {
	struct sink sink;
	struct pretrigger_options o;
	struct condition when;
	char path[4096];
	const struct session *about; /* as long as the sink is attached */
	int64_t begin_ns;            /* of the session */
	bool attached, ended;

	pthread_mutex_t lock; /* for all that follows */
	pthread_cond_t wake;
	struct chunk_ring ring;
	struct log_builder *builder; /* whose chunks go to the ring */
	struct condition_eval eval;
	bool armed;
	struct unseen unseen[TIERS];
	uint64_t taken[TIERS];
	int64_t newest_ns[TIERS];
	struct stretch now, next; /* in the present file; in the one after it */
	int64_t copied_ns;        /* rows up to then are in the present file */
	bool written;             /* some stretch was requested: last_ns is the end of the latest */
	int64_t last_ns;
	bool quit, writing; /* writing: a job does */
	uint64_t triggers, marks;
	struct pretrigger_file *files;
	size_t n_files, n_failed;
	unsigned name, number; /* of the latest complete file and of the present one; the job's */
};

/* With the lock held. */
/* A trigger at that time: adds a mark, and requests a stretch or extends one. */
void pretrigger_note(struct pretrigger *k, int64_t t_ns, const char *label, bool by_condition);
/* Rows for the condition; then those up to the time that all tiers have reached. */
void pretrigger_watch(struct pretrigger *k, const struct rows *r);
void pretrigger_evaluate(struct pretrigger *k, int64_t until_ns);

/* With the lock: there is a stretch to be recorded. */
void pretrigger_write(struct pretrigger *k);

#endif
