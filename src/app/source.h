/* source: the source of the screen: the local board; a recording made elsewhere; a saved trace, and a
 * second one to compare. */
#ifndef NVMTOP_APP_SOURCE_H
#define NVMTOP_APP_SOURCE_H

#include "app/app.h"
#include "app/recording.h"
#include "app/remote-clock.h"
#include "record/hangs.h"
#include "record/pretrigger.h"
#include "record/marks.h"

/* The caller sets the first five members and zeroes the rest. */
struct source {
	const struct options *o;
	int64_t history_ns; /* how long the rows of the live screen are kept */
	int signals;                /* descriptor; a signal may end the wait for a stream */
	notify_fn *tell;
	void *to;

	struct starting *starting; /* the board is being opened; NULL: it is not */
	struct err failed;         /* why the board could not be opened */
	struct live live;    /* engine NULL: not sampling (yet) */
	struct inbox *marks; /* from other programs, while sampling */
	size_t kept_told;
	struct trouble keep_trouble; /* with the file that is being written */
	struct remote *remote; /* a recording made elsewhere, shown instead of live; or NULL */
	struct trace *trace;   /* shown instead of what is live, or NULL */
	char next[4096];       /* next file of the recording of the first trace, or "" */
	struct trace *with;    /* second trace, or NULL */
	struct ui_align align;
	char built[160];        /* progress of building the columns of the trace, or "" */
	int64_t trace_look_ns;  /* when to poll it next */
	int64_t begun_ns;       /* when sampling started */
	struct hangs_told hangs_told; /* reports of sensors that do not answer */
};

/* Opens the source that the options ask for: a saved trace at once, the local board in the background until
 * source_take() gets it or sets s->failed. Returns 0, or -1 with *e. */
int source_open(struct source *s, struct err *e);
void source_close(struct source *s);

/* Show a trace, which the source then owns, and report its damage; or return to the live board or stream,
 * if source_has_live(). */
void source_take_trace(struct source *s, struct trace *trace, const struct err *damage);
void source_show_live(struct source *s);
/* Shows a second trace, which the source then owns, under the first; NULL: none. */
void source_take_second(struct source *s, struct trace *with, const struct err *damage);
bool source_has_live(const struct source *s);

/* Fills in the part of the scene that comes from the source. */
void source_scene(struct source *s, struct ui_scene *scene);

/* Does it sample the local board, or is about to? */
bool source_samples(const struct source *s);

/* Descriptor to poll for input, -1: none; and the timeout in ms, -1: none. */
int source_fd(const struct source *s);
int source_patience_ms(const struct source *s);
/* Processes input and polls pending opens, briefly. Returns true if the screen must be redrawn. *ended is
 * set if a stream has just ended. */
bool source_take(struct source *s, bool *ended);

/* Writes the pre-trigger buffer to a file; reports the result, or that there is no buffer. */
void source_keep_write(struct source *s, int64_t t_ns, const char *label);
/* Waits until the buffer is written. */
void source_keep_end(struct source *s);

#endif
