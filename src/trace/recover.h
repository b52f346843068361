/* recover: the end of a recording that was interrupted. */
#ifndef TRACE_RECOVER_H
#define TRACE_RECOVER_H

#include "trace/nvmt1.h"
#include "util/err.h"

struct recovery {
	char path[4096]; /* the complete recording */
	bool complete;	 /* it was; nothing was changed */
	uint64_t torn;	 /* bytes that were cut off its end */
};
/* Ends the log in place: cuts off what is no whole chunk and appends END.  A log of a .bin is
 * then converted; force: replacing a .bin that exists.  Refuses a file that is being recorded.  -1: nothing was changed. */
int trace_recover(const char *path, bool force, nvmt1_progress *progress, void *arg, struct recovery *out, struct err *e);

/* Does an unfinished log lie beside that .bin, or where it would be?  The sentence names the command
 * that completes it. */
bool trace_unfinished(const char *path, struct err *e);

#endif
