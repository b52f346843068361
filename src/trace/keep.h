/* keep: a sink that holds the last stretch in memory and writes it out as a
 * complete trace when it is triggered: by a person, a program or a condition.
 *
 * Holding never stops: files are written by a thread of its own, from what is
 * held, while new rows come in.  A file covers [T - keep, T + after] for a
 * trigger at T.  Every trigger is a mark in its file; marks are counted anew
 * from 1, and keep their labels.
 *
 * One file is written at a time and one more can wait for it.  A trigger inside
 * of a file that waits (for its end, or for the one before it) is a mark there
 * and makes no file of its own.
 *
 * The condition triggers when it begins to hold.  It makes at most one file
 * each `keep`: what triggers sooner after a file shares the next one, which
 * begins where that ended, so that nothing is missed and nothing is twice in
 * files that it made. */
#ifndef NVMTOP_TRACE_KEEP_H
#define NVMTOP_TRACE_KEEP_H

#include "model/condition.h"

struct keep_options {
	int64_t keep_ns;	/* what is held before a trigger; at least KEEP_MIN_NS */
	int64_t after_ns;	/* what is recorded after it */
	const char *path;	/* of the first file; then NAME.2.bin, NAME.3.bin, ...  NULL: name() */
	void (*name)(char *buf, size_t size);	/* a name with the time in it */
	bool force;		/* write over files that are there */
	const struct condition *when;	/* bound, copied; NULL: only keep_trigger() */
};

#define KEEP_MIN_NS (NS_PER_S / 10)

struct keep;

/* Reserves all memory that it may ever need for holding, and checks what can be
 * checked of the path.  Rows are packed: of the memory only what they need is used.
 * Strings of o are copied. */
struct keep *keep_new(const struct keep_options *o, const struct session *about, struct err *e);
struct sink *keep_sink(struct keep *k);	/* end() waits for the file that is being written or waits */
void keep_free(struct keep *k);		/* after end() */

/* Write out what is held at t_ns (not later than now); the label is that of its
 * mark.  Safe from any thread while the stream runs. */
void keep_trigger(struct keep *k, int64_t t_ns, const char *label);

struct keep_file {
	char path[4096];
	int64_t from_ns, to_ns;
	uint64_t rows[TIERS], marks, bytes;
	uint64_t lost_rows;	/* were not held any more when the disk had taken what is before them */
	struct err err;		/* ERR_NONE: complete */
	struct err left;	/* a file beside it could not be removed; or ERR_NONE */
};

#define KEEP_FILES 256	/* what is known of this many, the newest */

struct keep_stats {
	size_t memory;		/* bytes that the holding has needed so far */
	size_t memory_most;	/* that it may need, whatever the values are */
	int64_t held_ns;	/* how much is held now, at most keep */
	uint64_t rows[TIERS];	/* taken so far */
	uint64_t triggers;
	uint64_t marks;		/* of the stream */
	size_t files;		/* finished, complete or not */
	size_t failed;		/* of them */
	bool writing;
	bool waiting;		/* a trigger waits for the end of its stretch */
};
/* These are safe from any thread, also after end().  Files count from 0. */
void keep_stats(struct keep *k, struct keep_stats *out);
bool keep_file(struct keep *k, size_t i, struct keep_file *out);	/* false: not yet, or forgotten */

#endif
