/* recording: a recording made while the screen runs, and its messages. */
#ifndef NVMTOP_APP_RECORDING_H
#define NVMTOP_APP_RECORDING_H

#include "app/app.h"
#include "app/tty-keys.h"
#include "record/summary.h"

/* One line on what is wrong with a recording, or that it continues; "" if there is nothing to report.
 * was: the previous report; both are updated. */
struct trouble {
	uint64_t holes;
	bool said;
};
void recording_trouble(struct trouble *was, const struct log_out_stats *now, char *out, size_t size);
const char *recording_full(void); /* it has ended by itself */
/* The names of its files, after it has ended: "a.nvmt, a.2.nvmt"; of more than most, the first and the last of them: "a.nvmt,
 * a.2.nvmt ..., a.9.nvmt (9 files)", or, most 1, "a.nvmt (9 files)". */
#define MANY_FILES 8
void recording_names(struct log_out *s, size_t most, char *out, size_t size);
/* What was written, in files of these names. */
void recording_summary(struct summary *s, const struct options *o, struct engine *g, struct log_out *w,
		       const char *names);

/* Zeroed, but for the first three. */
struct recording {
	const struct options *o;
	notify_fn *tell;
	void *to;

	struct engine *engine;       /* that is recorded */
	struct log *log;             /* and what it fills */
	struct opening *opening;     /* its files are being made; NULL: they are not */
	struct log_out *writer; /* NULL: nothing is recorded */
	bool ending;                 /* and is not complete yet */
	int64_t since_ns, until_ns;  /* until_ns 0: it has not ended */
	struct summary_moment before, after; /* when it began, when it ended */
	struct log_out_stats written;
	struct trouble trouble;
	/* Why the last failed recording does not exist or is not complete; "": none has failed so far. */
	char failed[sizeof((struct err *)NULL)->text];
	char saved[512]; /* the last one, while a message offers to open it, or "" */
	char *summary; /* of the last one, for after the screen; or NULL */
};

/* Into a file with the time in its name. If its folder does not answer at once it begins when it does. A
 * failure is reported, at once or later. */
void recording_start(struct recording *r, struct engine *g, struct log *log);
/* It has been started and not been ended. */
bool recording_on(const struct recording *r);
/* Stops it, and completes it in the background; recording_watch() reports the result. */
void recording_end(struct recording *r);
/* At the end of the program: waits, and prints on standard error what it waits for if that takes a
 * moment. Does nothing without a recording, like the one before. */
void recording_finish(struct recording *r, int signals);
/* After the end of one: until all of it is on the disk. Prints what it waits for if that takes a moment;
 * false: a signal or `q` has ended the wait. */
bool recording_wait(struct log_out *w, int signals);
/* Begins when the folder has answered; reports that it continues after an interruption; ends it at its
 * maximum size. */
void recording_watch(struct recording *r);
/* How long until that is to be called again, in ms; -1: not before something happens. */
int recording_patience_ms(const struct recording *r);
/* Fill in what of the scene comes from here. */
void recording_scene(struct recording *r, struct ui_scene *s);
void recording_free(struct recording *r);

#endif
