/* pretrigger: a sink that holds the last stretch in memory and records it to a file when it is
 * triggered: by a key, a program or a condition.
 *
 * A file covers [T - keep, T + after] for a trigger at T. It is an ordinary recording, which is written
 * as it comes, beginning with the rows held. Holding continues meanwhile, whatever the disk does. Every
 * trigger is a mark in its file; marks are numbered from 1 again, and keep their labels.
 *
 * One file is written at a time and one more can wait for it. A trigger inside of either is a mark there
 * and makes no file of its own.
 *
 * The condition triggers when it becomes true. It makes at most one file each `keep`: a trigger sooner
 * after a file is in the next one, which begins where that ended, so that nothing is missed and nothing
 * is in two of them. */
#ifndef NVMTOP_RECORD_PRETRIGGER_H
#define NVMTOP_RECORD_PRETRIGGER_H

#include "model/condition.h"

struct pretrigger_options {
	int64_t keep_ns;  /* what is held before a trigger; at least PRETRIGGER_MIN_NS */
	int64_t after_ns; /* what is recorded after it */
	const char *path; /* of the first file; then NAME.2.nvmt, NAME.3.nvmt, ...  NULL: the time */
	bool force;                           /* overwrite existing files */
	const struct condition *when;         /* bound, copied; NULL: only pretrigger_trigger() */
};

/* Polled at the end: what is not on the disk yet is not waited for any more. */
typedef bool pretrigger_enough(void *arg);

#define PRETRIGGER_MIN_NS (NS_PER_S / 10)

struct pretrigger;

/* Checks what can be checked of the memory and of the path.  Strings of o are copied. */
struct pretrigger *pretrigger_new(const struct pretrigger_options *o, const struct session *about,
				  struct err *e);
struct sink *pretrigger_sink(struct pretrigger *k); /* end() waits for the files */
void pretrigger_end_when(struct pretrigger *k, pretrigger_enough *enough, void *arg);
void pretrigger_free(struct pretrigger *k);         /* after end() */

/* Write out what is held at t_ns (not later than now); the label is that of its
 * mark.  Safe from any thread while the stream runs. */
void pretrigger_trigger(struct pretrigger *k, int64_t t_ns, const char *label);

struct pretrigger_file {
	char path[4096];
	int64_t from_ns, to_ns;
	uint64_t rows[TIERS], marks, bytes;
	uint64_t lost_rows; /* no longer held when the disk had taken the rows before them */
	struct err err;     /* ERR_NONE: complete */
};

#define PRETRIGGER_FILES 256 /* what is known of this many, the newest */

struct pretrigger_stats {
	size_t memory;        /* bytes that the holding has needed so far */
	size_t memory_most;   /* its upper bound, for any values */
	int64_t held_ns;      /* how much is held now, at most keep */
	uint64_t rows[TIERS]; /* taken so far */
	uint64_t triggers;
	uint64_t marks; /* of the stream */
	size_t files;   /* finished, complete or not */
	size_t failed;  /* of them */
	bool writing;
};
/* These are safe from any thread, also after end().  Files count from 0. */
void pretrigger_stats(struct pretrigger *k, struct pretrigger_stats *out);
bool pretrigger_file(struct pretrigger *k, size_t i,
		     struct pretrigger_file *out); /* false: not yet, or too long ago */

#endif
