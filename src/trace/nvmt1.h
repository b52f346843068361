/* nvmt1: files of NVMT version 1, nvmtop-trace(5). */
#ifndef TRACE_NVMT1_H
#define TRACE_NVMT1_H

#include "trace/trace.h"

typedef bool nvmt1_progress(void *arg, double done); /* false: stop */

/* The trace, which is a log, as a file of version 1 with all of the log behind it.  Written to
 * path.tmp, synced and renamed; leaves nothing when it fails or is stopped. */
int nvmt1_write(struct trace *t, const char *path, bool force, nvmt1_progress *progress, void *arg,
		struct err *e);

#endif
