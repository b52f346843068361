/* remote: a recording that is being made somewhere else, as a live scene. */
#ifndef NVMTOP_APP_REMOTE_CLOCK_H
#define NVMTOP_APP_REMOTE_CLOCK_H

#include "model/history.h"
#include "util/err.h"
#include "ui/ui.h"

struct remote;

/* path: "-" for the stream on standard input; with follow a file that grows. Waits until the session is
 * known, or a signal on the descriptor asks to end. NULL with *e; *complete is set when path is a trace
 * that does not grow and is not damaged. */
struct remote *remote_open(const char *path, const struct history_bound *bound, int signals, bool *complete,
			   struct err *e);
void remote_close(struct remote *r); /* NULL is fine */

/* To be polled for input; -1: nothing to poll. */
int remote_fd(const struct remote *r);
/* How long to wait at most before remote_take(), in ms; -1: until there is input. */
int remote_patience_ms(const struct remote *r);
/* Take what has come, but not for long; true when it ended just now. */
bool remote_take(struct remote *r);
/* How it ended; ERR_NONE while it runs. */
const struct err *remote_verdict(const struct remote *r);

/* Fill in the scene's timeline, clock and names. */
void remote_scene(struct remote *r, struct ui_scene *s);

#endif
