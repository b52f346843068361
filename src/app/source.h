/* source: what the screen looks at: a board, live; a recording that is made elsewhere;
 * a saved trace, and another one under it. */
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
	struct silence silence; /* what was told of sensors that do not answer */
	bool growing;           /* --follow of a trace: opened anew from time to time */
	struct fetch *growth;   /* NULL, or whether it has grown, and what it is then */
	int64_t growth_look_ns; /* when next, not before; of growth: when it was begun */
};

/* What the options ask for. */
int source_open(struct source *s, struct err *e);
void source_close(struct source *s);

/* Show a trace, which becomes its own, instead of what is shown; what is wrong with it is
 * told.  Or what is live again; -1: as it was. */
void source_take_trace(struct source *s, struct trace *trace, const struct err *damage);
int source_show_live(struct source *s, struct err *e);

/* Fill in what of the scene comes from here. */
void source_scene(struct source *s, struct ui_scene *scene);

/* To be polled for input; -1: nothing to poll.  And how long at most, in ms; -1: for ever. */
int source_fd(const struct source *s);
int source_patience_ms(const struct source *s);
/* Take what has come and look after what is open, but not for long; true when there is
 * something new to see.  *ended: a stream came to its end just now. */
bool source_take(struct source *s, bool *ended);

/* Write out what is held; that nothing is, or what was written, is told. */
void source_keep_write(struct source *s, int64_t t_ns, const char *label);
/* Until what is being written is written. */
void source_keep_end(struct source *s);

#endif
