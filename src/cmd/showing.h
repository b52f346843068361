/* showing: another trace comes onto the screen, when its disk has answered. */
#ifndef CMD_SHOWING_H
#define CMD_SHOWING_H

#include "cmd/fetch.h"

/* Zeroed: none is on its way. */
struct showing {
	struct fetch *fetch;
	int by;         /* 0: one that was chosen; else a part of the recording that is shown */
	bool play;      /* it is played on, nobody asked for it */
	char name[160]; /* what is told of it meanwhile */
};

struct top;
/* Open a trace; or the file beside this one in which the recording goes on (by 1) or from
 * which it came (-1); play: the person did not ask for it, it is played on. */
void showing_open(struct top *t, const char *path);
void showing_part(struct top *t, int by, bool play);
/* What is live instead of a trace. */
void showing_live(struct top *t);
/* What is on its way is not wanted any more. */
void showing_stay(struct top *t);
/* It is shown, if it is there and this is a moment for it. */
void showing_watch(struct top *t);
/* How long until it is worth to look again, in ms; -1: nothing is on its way. */
int showing_patience_ms(const struct showing *g);
/* A trace that goes on elsewhere says so, lest its end be taken for the end. */
void showing_tell_next(struct top *t, const char *next);

#endif
