/* kept: one stretch of what is held, into one file. */
#ifndef NVMTOP_TRACE_KEPT_H
#define NVMTOP_TRACE_KEPT_H

#include <pthread.h>

#include "trace/keep.h"
#include "trace/hold.h"

/* What the writing needs of a keep.  The lock is held while 64 rows are unpacked. */
struct kept {
	const struct session *about;
	const struct fact *facts; /* as they were before the first change that is held */
	struct hold *hold;
	pthread_mutex_t *lock;
	bool force;
};

/* A name for the next file, into out->path: path, or path with the first number
 * from *number on that is free; over: or that has a trace already.  False with
 * out->err: there is none. */
bool kept_name(struct keep_file *out, const char *path, unsigned *number, bool over);

/* Write out->from_ns .. out->to_ns, both included, to out->path; fills in the
 * rest.  Rows that are overwritten meanwhile become a gap in the file.  False: nothing
 * was written, since somebody else has taken that name. */
bool kept_write(const struct kept *k, struct keep_file *out);

#endif
