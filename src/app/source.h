/* source: what the screen shows: a live board; a recording made elsewhere; a saved trace, and a second
 * one to compare. */
#ifndef NVMTOP_APP_SOURCE_H
#define NVMTOP_APP_SOURCE_H

#include "app/app.h"
#include "app/remote-clock.h"
#include "record/silence.h"
#include "record/pretrigger.h"
#include "record/marks.h"

/* Zeroed, but for the first five. */
struct source {
	const struct options *o;
	struct history_bound bound; /* what is to be remembered of what is live */
	int signals;                /* the descriptor: one may end the wait for a stream */
	notify_fn *tell;
	void *to;

	struct live live;    /* engine NULL: nothing is sampled (yet) */
	struct inbox *marks; /* from other programs, while something is sampled */
	struct pretrigger *keep;   /* the last stretch of it, with --keep */
	size_t kept_told;
	struct remote *remote; /* sampled elsewhere, instead of here; or NULL */
	struct trace *trace;   /* shown instead of the live history, or NULL */
	char next[4096];       /* where that which was opened first goes on, or "" */
	struct trace *with;    /* under it, or NULL */
	struct ui_align align;
	char built[160];        /* how far the columns of the trace are made, or "" */
	int64_t trace_look_ns;  /* when next */
	int64_t begun_ns;       /* sampling here */
	struct silence silence; /* reports of sensors that do not answer */
	bool growing;           /* --follow of a trace: opened anew from time to time */
	struct fetch *growth;   /* NULL, or whether it has grown, and what it is then */
	int64_t growth_look_ns; /* not before the next; of growth: when it began */
};

/* Opens what the options ask for. */
int source_open(struct source *s, struct err *e);
void source_close(struct source *s);

/* Show a trace, which it then owns; its damage is reported. Or the live board or stream again; -1:
 * nothing has changed. */
void source_take_trace(struct source *s, struct trace *trace, const struct err *damage);
int source_show_live(struct source *s, struct err *e);

/* Fill in what of the scene comes from here. */
void source_scene(struct source *s, struct ui_scene *scene);

/* Descriptor to poll for input; -1: none. And for how long at most, in ms; -1: forever. */
int source_fd(const struct source *s);
int source_patience_ms(const struct source *s);
/* Take what has arrived and poll pending opens, briefly; true when there is something new to draw.
 * *ended: a stream has just ended. */
bool source_take(struct source *s, bool *ended);

/* Write out the held rows; reports what was written, or that none are held. */
void source_keep_write(struct source *s, int64_t t_ns, const char *label);
/* Until what is being written is written. */
void source_keep_end(struct source *s);

#endif
