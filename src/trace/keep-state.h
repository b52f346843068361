/* keep-state: the last stretch, as the files that hold it, watch it and write it share it. */
#ifndef NVMTOP_TRACE_KEEP_STATE_H
#define NVMTOP_TRACE_KEEP_STATE_H

#include <pthread.h>

#include "trace/keep.h"
#include "trace/kept.h"

/* What is to be written, from_ns .. to_ns. */
struct stretch_wanted {
	bool is;
	int64_t from_ns, to_ns;
};

struct keep {
	struct sink sink;
	struct keep_options o;
	struct condition when;
	char path[4096];
	const struct session *about;
	pthread_t thread;
	bool running, ended;

	pthread_mutex_t lock; /* for all that follows */
	pthread_cond_t wake;
	struct hold hold;
	struct fact *facts; /* as they were before the first change that is held */
	struct condition_eval eval;
	bool armed;
	uint64_t seen[TIERS];         /* rows that the condition has seen */
	struct hold_cursor at[TIERS]; /* the next one */
	int64_t newest_ns[TIERS];
	struct stretch_wanted wanted;
	bool written; /* some stretch was asked for: last_ns is the end of the latest */
	int64_t last_ns;
	bool quit, writing;
	uint64_t triggers, marks;
	struct keep_file *files;
	size_t n_files, n_failed;
	unsigned name, number; /* of the latest complete file and of the present one; the writing thread's */
};

/* With the lock held. */
/* A trigger at that time: a mark, and a stretch that is wanted or becomes longer. */
void keep_note(struct keep *k, int64_t t_ns, const char *label, bool by_condition);
/* Rows up to that time that the condition has not seen. */
void keep_evaluate(struct keep *k, int64_t until);
int64_t keep_horizon(const struct keep *k); /* up to where that makes sense now */

void *keep_main(void *keep); /* the writing thread */

#endif
