/* remote-clock: a recording in progress on another machine, as a live scene. */
#ifndef NVMTOP_APP_REMOTE_CLOCK_H
#define NVMTOP_APP_REMOTE_CLOCK_H

#include "util/err.h"
#include "ui/ui.h"

struct remote;

/* path: "-" for the stream on standard input; or, with --follow, a growing file. Waits until the session
 * is known, or a signal from the descriptor asks to end. Returns NULL with *e on failure; *complete is
 * set if path is an intact trace that is not growing. */
struct remote *remote_open(const char *path, int64_t history_ns, int signals, bool *complete,
			   struct err *e);
void remote_close(struct remote *r); /* NULL is allowed */

/* Descriptor to poll for input; -1: none. */
int remote_fd(const struct remote *r);
/* Maximum time in ms until remote_take() must be called; -1: only on input. */
int remote_patience_ms(const struct remote *r);
/* Processes the available input, but not for long. Returns true when the stream has just ended. */
bool remote_take(struct remote *r);
/* The result at the end; ERR_NONE while it runs. */
const struct err *remote_verdict(const struct remote *r);

/* Fills in the scene's timeline, clock and names. */
void remote_scene(struct remote *r, struct ui_scene *s);

#endif
