/* showing: another trace comes onto the screen, when its disk has answered. */
#ifndef NVMTOP_APP_PENDING_OPEN_H
#define NVMTOP_APP_PENDING_OPEN_H

#include "app/open-trace.h"

/* Zeroed: none is on its way. */
struct pending_open {
	struct fetch *fetch;
	int by;         /* 0: one that was chosen; else a part of the recording that is shown */
	bool play;      /* it is played on, nobody asked for it */
	char name[160]; /* what is told of it meanwhile */
};

struct top;
/* Open a trace; or the file beside this one in which the recording goes on (by 1) or from
 * which it came (-1); play: the person did not ask for it, it is played on. */
void pending_open_start(struct top *t, const char *path);
void pending_open_part(struct top *t, int by, bool play);
/* What is live instead of a trace. */
void pending_open_live(struct top *t);
/* What is on its way is not wanted any more. */
void pending_open_cancel(struct top *t);
/* It is shown, if it is there and this is a moment for it. */
void pending_open_watch(struct top *t);
/* A trace that goes on elsewhere says so, lest its end be taken for the end. */
void pending_open_report_next(struct top *t, const char *next);

#endif
