/* pretrigger: writes the most recent seconds of a log in memory to a file when triggered by a key, a program or a
 * condition.
 *
 * A file covers [T - keep, T + after] for a trigger at T, and the rest of the cells in which these times are. It is an
 * ordinary recording that starts with the chunks in memory and continues as they are made, with the same rules for a
 * disk that is slow or full. Every trigger is a mark in its file.
 *
 * At most two files are written at a time. A trigger within one of them becomes a mark there and starts no other.
 *
 * The condition triggers when it becomes true, and starts at most one file per `keep`. If it triggers sooner
 * after a file, the next file begins where the previous one ended, so nothing is lost or recorded twice. */
#ifndef NVMTOP_RECORD_PRETRIGGER_H
#define NVMTOP_RECORD_PRETRIGGER_H

#include "model/condition.h"
#include "trace/log-out.h"

struct pretrigger_options {
	int64_t keep_ns;  /* time kept before a trigger; at least PRETRIGGER_MIN_NS */
	int64_t after_ns; /* time recorded after it */
	const char *path; /* of the first file; then NAME.2.nvmt, NAME.3.nvmt, ... NULL: named by the time */
	bool force;                           /* the first file may replace another */
	const struct condition *when;         /* bound; copied. NULL: only pretrigger_trigger() */
	struct log *log; /* that has the seconds; NULL: pretrigger_log(), which the caller fills */
	void (*mark)(void *arg, int64_t t_ns, const char *label); /* sets a mark in the stream; from any thread. NULL: none */
	void *mark_arg;
};

#define PRETRIGGER_MIN_NS (NS_PER_S / 10)

struct pretrigger;

/* Checks memory and path as far as possible in advance. Strings of o are copied. Returns
 * NULL and sets *e on error. */
struct pretrigger *pretrigger_new(const struct pretrigger_options *o, const struct session *about,
				  struct err *e);
struct log *pretrigger_log(struct pretrigger *k); /* valid until pretrigger_free() */
/* For the condition. */
struct sink *pretrigger_sink(struct pretrigger *k);
/* Ends the files, after which there are no others. wait (may be NULL: none is waited for) returns once a file is on the
 * disk, or false when that is not to be waited for any more. Call it after the end of the sink, and of its own log. */
typedef bool pretrigger_wait(void *arg, struct log_out *w);
void pretrigger_end(struct pretrigger *k, pretrigger_wait *wait, void *arg);
void pretrigger_free(struct pretrigger *k);

/* Writes the buffer as of time t_ns (not later than now) to a file, with a mark of that label. Safe from any
 * thread while the stream runs. */
void pretrigger_trigger(struct pretrigger *k, int64_t t_ns, const char *label);

struct pretrigger_file {
	char path[4096];
	int64_t from_ns, to_ns;
	struct log_out_stats written;
	struct err err; /* ERR_NONE: complete, but for what was lost */
};

#define PRETRIGGER_FILES 256 /* information is kept for this many, the newest */

struct pretrigger_stats {
	size_t memory;	     /* size of the buffer in bytes */
	size_t memory_most;  /* its upper bound, for any values */
	int64_t held_ns;     /* duration in memory now, at most keep */
	uint64_t triggers;
	size_t files;	     /* finished, complete or not */
	size_t failed;	     /* of these, those that are not complete, or lack something */
	bool writing;
	struct log_out_stats written; /* of the file that is being written, but rows and marks of the stream so far */
};
/* Safe from any thread, also after end(). Files are numbered from 0. */
void pretrigger_stats(struct pretrigger *k, struct pretrigger_stats *out);
bool pretrigger_file(struct pretrigger *k, size_t i,
		     struct pretrigger_file *out); /* false: not yet, or no longer kept */

#endif
