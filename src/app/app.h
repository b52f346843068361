/* app: the options, and what the screen and the verbs share. */
#ifndef NVMTOP_APP_APP_H
#define NVMTOP_APP_APP_H

#include "board/board.h"
#include "engine/engine.h"
#include "model/history.h"
#include "report/report.h"
#include "term/term.h"
#include "trace/trace.h"
#include "ui/ui.h"
#include "util/text.h"

enum mode {
	MODE_OTHER, /* neither samples nor shows */
	MODE_TOP,
	MODE_RECORD,
	MODE_ONCE
};

struct verb;

/* The command line, checked.  Strings point into argv. */
struct options {
	const struct verb *verb;
	enum mode mode;
	bool help, version; /* only show them */
	const char *board;   /* --board, or "demo" */
	const char *sysroot; /* "/" */
	double hz[TIERS];
	bool gentle;
	bool has_nice;
	int nice; /* niceness of the sampling threads, instead of SCHED_FIFO */

	const char *out; /* FILE or -o FILE; NULL: a name with the time in it; "-": a stream */
	bool force;
	int64_t duration_ns; /* 0: until stopped */
	int64_t delay_ns;
	bool stop_on_eof;
	struct trace_limits limits;
	bool has_history;
	struct history_bound history;
	int64_t keep_ns; /* 0: no ring mode */
	int64_t after_ns;
	const char *trigger; /* a condition that can be parsed, or NULL */
	char **command;      /* what stands behind "--", or NULL */

	const char *label; /* of a mark; NULL: none */
	long to;           /* 0: to all */

	const char *replay;
	const char *with;  /* NULL, or a second trace under it */
	const char *align; /* a mark's label, "m3" or "start"; NULL: where they first agree */
	const char **files; /* operands that are read, n_files of them; never freed */
	size_t n_files;
	const char *input;  /* the only one of cut, check and recover */
	struct selection pick;
	enum report_format format;
	bool summary;
	enum picture { PICTURE_NOT_TOLD, PICTURE_TEXT, PICTURE_SVG } picture; /* of --print */
	enum export_form form;
	double resample_hz; /* 0: tiers as they are */
	double per;         /* 0: no items */
	bool json;
	bool paths;
	int print_w, print_h;
	bool follow;
	bool has_at;
	int64_t at_ns;
	const char *view;
	double frames; /* a second; 0: as they are needed */

	bool ascii;
	bool has_theme;     /* of term */
	const char *config; /* --config FILE, or NULL */
	bool no_config;
	struct term_options term;
};

/* The screen, live or replaying; returns the exit status. */
int cmd_top(const struct options *o);

/* A message for the screen, to be shown as soon as possible. */
typedef void notify_fn(void *to, enum style style, const char *text);

/* A progress line on standard error, if that is a terminal: nothing in the first second; at 1 the line is
 * removed.  False after a signal to end from the descriptor of progress_watch(). */
bool progress_show(double done);
bool progress_step(void *unused, double done); /* the same */
void progress_watch(int signals_fd);

/* trace_open(), with a progress line. */
struct trace *open_trace(const char *path, struct err *e);

/* t, for --with FILE, aligned to the trace that is shown; it and *e are as trace_open_view() left them.
 * NULL: it was closed, or was NULL. */
struct trace *with_aligned(const struct options *o, struct trace *shown, struct trace *t,
			   struct ui_align *align, struct err *e);
/* The traces that the command line names, in its order; a damaged one is reported and included. If *n is
 * less than o->n_files the last one could not be opened, which was reported. *status is the exit status
 * so far; close_traces() frees them. */
struct trace **open_traces(const struct options *o, size_t *n, int *status);
/* Close what was read: damage that was not found before its values were read is complained
 * about.  Returns the exit status, which was status. */
int close_traces(struct trace **traces, size_t n, int status);
int close_read(struct trace *t, int status);

/* The board that the options name, or the detected one, resolved below the sysroot. why (may be NULL)
 * gets how it was chosen. Close *root after the probe set. On success e->code is ERR_NONE, or
 * ERR_DAMAGED and says what is missing and could be there. */
struct probe_set *open_probes(const struct options *o, struct root **root, struct board **board, char *why,
			      size_t size, struct err *e);

/* How the sampling threads of this process are scheduled, and what to do when
 * that is not in real time. */
void priority_text(const struct options *o, char *buf, size_t size);
int describe_priority(const struct options *o, struct probe_set *probes,
		      struct err *e); /* as the fact "priority" */

/* The engine for the options. Takes ownership of the probe set, also on error (NULL). */
struct engine *engine_for(const struct options *o, struct probe_set *probes, struct err *e);

/* The next file of a split recording (by 1), or the previous one (-1). False: there is none. */
bool part_beside(const char *path, const struct trace_summary *here, int by, char *out, size_t size);

/* An engine that samples, with a history attached. */
struct live {
	struct root *root;
	struct engine *engine;
	struct history *history;
};
/* bound: what to remember; NULL: nothing. 0: e as from open_probes(). */
int live_open(struct live *l, const struct options *o, const struct history_bound *bound, struct err *e);
void live_close(struct live *l);

/* Block the signals that the program reads through a descriptor, before any
 * thread starts; the descriptor, or -1. */
int signals_open(struct err *e);
/* The next pending signal, or 0; whether a key of the terminal made it, and so
 * sent it to the whole job (from_terminal may be NULL). */
int signals_next(int fd, bool *from_terminal);
/* Does the signal ask the program to end in good order? */
bool signal_ends(int sig);
/* In a child between fork and exec: as if nvmtop had never touched them. */
void signals_default(void);

enum charset charset_of(const struct options *o);

#endif
