/* pending-open: a trace being opened, to be shown when it is ready. */
#ifndef NVMTOP_APP_PENDING_OPEN_H
#define NVMTOP_APP_PENDING_OPEN_H

#include "app/open-trace.h"

/* All zero: none. */
struct pending_open {
	struct fetch *fetch;
	int by;         /* 0: a chosen trace; -1, 1: previous or next part of the recording */
	bool play;      /* continued by playback */
	char name[160]; /* shown meanwhile */
};

struct top;
/* Open a trace, or the next (by 1) or previous (-1) part of this recording.
 * play: continued by playback. */
void pending_open_start(struct top *t, const char *path);
void pending_open_part(struct top *t, int by, bool play);
/* Return to the live view. */
void pending_open_live(struct top *t);
/* Cancel. */
void pending_open_cancel(struct top *t);
/* Show the trace once it is open. */
void pending_open_watch(struct top *t);
/* Say that the recording continues in another file. */
void pending_open_report_next(struct top *t, const char *next);

#endif
