/* recover: completes a recording that was interrupted. */
#ifndef TRACE_RECOVER_H
#define TRACE_RECOVER_H

#include "trace/nvmt1.h"
#include "util/err.h"

struct recovery {
	char path[4096]; /* the complete recording */
	bool complete;	 /* it was complete; nothing was changed */
	uint64_t torn;	 /* bytes that were cut off its end */
};
/* Completes the log in place: cuts off an incomplete chunk at its end and appends END. The log of a .bin is
 * then converted; force: replace an existing .bin. Refuses a file that is being recorded. Returns -1 and sets
 * *e on error. */
int trace_recover(const char *path, bool force, nvmt1_progress *progress, void *arg, struct recovery *out, struct err *e);

/* Whether an unfinished log of that .bin exists. If so, *e names the command that completes it. */
bool trace_unfinished(const char *path, struct err *e);

#endif
