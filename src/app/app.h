/* app: the options, and functions shared by the screen and the verbs. */
#ifndef NVMTOP_APP_APP_H
#define NVMTOP_APP_APP_H

#include "board/board.h"
#include "engine/engine.h"
#include "model/condition.h"
#include "probe/processes.h"
#include "report/report.h"
#include "term/term.h"
#include "trace/log-view.h"
#include "trace/trace.h"
#include "ui/ui.h"
#include "util/text.h"

enum mode {
	MODE_OTHER, /* neither samples nor has a screen */
	MODE_TOP,
	MODE_RECORD,
	MODE_ONCE
};

struct verb;

/* The validated command line. Strings point into argv. */
struct options {
	const struct verb *verb;
	enum mode mode;
	bool help, version; /* only print it */
	const char *board;   /* --board, or "demo" */
	const char *sysroot; /* "/" */
	double hz[TIERS];
	bool gentle;
	bool has_nice;
	int nice; /* niceness of the sampling threads, instead of SCHED_FIFO */

	const char *out; /* FILE or -o FILE; NULL: a name with the time in it; "-": standard output */
	bool force;
	int64_t duration_ns; /* 0: until stopped */
	int64_t delay_ns;
	bool stop_on_eof;
	struct trace_limits limits;
	bool has_history;
	int64_t history_ns; /* how long the rows of the live screen are kept */
	int64_t keep_ns; /* pre-trigger time; 0: no --keep */
	int64_t after_ns;
	const char *trigger; /* a valid condition, or NULL */
	struct alert_option {
		const char *condition, *command; /* valid, and found */
	} on[16];
	size_t n_on;
	int64_t alert_ns;    /* --every: the least time between two alerts of a condition; 0: the default */
	char **command;      /* the arguments after "--", or NULL */
	int kill;            /* signal to the command at the end of the duration; 0: none */
	int ready_fd;        /* gets a newline when the recording has begun; 0: none */
	bool stats;          /* print a report of the recording */
	int repeat, warmup;  /* recorded runs of the command, and runs before them; 0: a single run */
	const char *nvtx;    /* NULL: no NVTX ranges; else domains to record, "": any, "all": without limit */
	enum nvtx_from { NVTX_FROM_COMMAND, NVTX_FROM_ALL } nvtx_from; /* of which programs, with a COMMAND */
	enum env_form { ENV_SH, ENV_SYSTEMD, ENV_DOCKER } env_form;

	const char *label; /* of a mark; NULL: no label */
	bool nvtx_mark;    /* also in the tool of NVTX */
	bool quiet;        /* of a mark: succeeds without a receiver, too; of a recording: only says what is wrong */
	int to;            /* receiver of a mark, a process id; 0: all */

	const char *replay;
	const char *with;  /* a second trace shown below, or NULL */
	const char *align; /* a mark's label, "m3" or "start"; NULL: the first match */
	const char **files; /* input operands, n_files of them; never freed */
	size_t n_files; /* while options are parsed: those so far */
	size_t against; /* of a report: the files from this one on are those of another program; 0: none */
	const char *input;  /* the only operand of cut and check */
	struct selection pick;
	enum report_format format;
	enum report_by by;
	bool has_by;
	const char *nsys; /* an export of Nsight Systems, or NULL */
	bool summary, all; /* of a report: only the table of phases, everything */
	enum picture { PICTURE_NOT_TOLD, PICTURE_TEXT, PICTURE_SVG } picture; /* of --print */
	enum export_form form;
	const char *phases_from; /* an NVTX domain, or NULL */
	double resample_hz; /* 0: tiers as they were sampled */
	double per;         /* items per phase; 0: not given */
	bool json;
	enum once_form { ONCE_TABLE, ONCE_JSON, ONCE_OPENMETRICS } once_form; /* of one reading */
	const char *textfile; /* the file to write it to, as OpenMetrics; or NULL */
	int stream_form;      /* in the order of STREAM_FORMS */
	int64_t every_ns;     /* between two lines of a stream */
	bool in_ms;	      /* --interval is in milliseconds, as of tegrastats */
	unsigned stats_of;    /* a bit for each of STREAM_STATS */
	const char *logfile;  /* the file that a stream is appended to, or NULL */
	const char *listen;   /* ADDRESS:PORT of nvmtop serve, or NULL */
	const char *door;     /* its unix socket, or NULL */
	bool dry_run;	      /* only say what would be done */
	int64_t for_ns;	      /* after that time they are put back; 0: they stay */
	bool has_settle;
	int64_t settle_ns;    /* of a sweep: the longest wait for the temperature of a setting */
	bool paths;
	int print_w, print_h;
	bool follow;
	bool has_at;
	int64_t at_ns;
	const char *view;
	double frames; /* per second; 0: as needed */

	bool ascii;
	bool has_theme;     /* whether term has a theme */
	const char *config; /* --config FILE, or NULL */
	bool no_config;
	struct term_options term;
};

/* Runs the screen, live or in replay; returns the exit status. */
int cmd_top(const struct options *o);

/* Shows a message on the screen as soon as possible. */
typedef void notify_fn(void *to, enum style style, const char *text);

/* Returns the timeout of a poll() that ends at t_ns, in ms. */
int ms_until(int64_t t_ns);

/* Shows a progress line on standard error if that is a terminal: nothing in the first second; done = 1
 * removes the line. Returns false once a signal from the descriptor of progress_watch() asks to end. */
bool progress_show(double done);
bool progress_step(void *unused, double done); /* as progress_show() */
void progress_watch(int signals_fd);

/* As trace_open_files(), with a progress line. */
struct trace *open_trace(const char *const *paths, size_t n, struct err *e);

/* Aligns t (the trace of --with) to the shown trace; t and *e are the results of trace_open_files().
 * Returns t; or NULL if t is NULL or cannot be aligned, and then t is closed. */
struct trace *with_aligned(const struct options *o, struct trace *shown, struct trace *t,
			   struct ui_align *align, struct err *e);
/* Opens the recordings of the command line in order: files of one recording are one trace. *n_first: how many come
 * before --against. A damaged trace is reported and included. Returns NULL if one could not be opened, which was
 * reported. *status is the exit status so far. close_traces() frees the result. */
struct trace **open_traces(const struct options *o, size_t *n, size_t *n_first, int *status);
/* Closes traces and reports damage that was found only while values were read. Returns status, or the
 * exit status of that damage if status is 0. */
int close_traces(struct trace **traces, size_t n, int status);
int close_read(struct trace *t, int status);

/* Opens the board given by the options, or the detected one, below the sysroot. why (may be NULL) gets
 * how it was chosen. The caller closes *root after the probe set. Returns NULL with *e on failure. On
 * success e->code is ERR_NONE, or ERR_DAMAGED with a sentence about what is missing but could be
 * available. */
struct probe_set *open_probes(const struct options *o, struct root **root, struct board **board, char *why,
			      size_t size, struct err *e);

/* Describes how the sampling threads of this process are scheduled, and how to get real-time scheduling
 * if they have none. */
void priority_text(const struct options *o, char *buf, size_t size);
int describe_priority(const struct options *o, struct probe_set *probes,
		      struct err *e); /* sets the fact "priority" */

/* Parses the condition of an option, and resolves its signals unless about is NULL. */
int condition_option(struct condition *c, const char *option, const char *text, const struct session *about, struct err *e);

/* Creates the engine for the options. Takes ownership of the probe set, even on error (NULL). */
struct engine *engine_for(const struct options *o, struct probe_set *probes, struct err *e);

/* Finds the next (by = 1) or previous (-1) file of a split recording. Returns false if it does not exist. */
bool part_beside(const char *path, int by, char *out, size_t size);

/* A running engine, and the log that it fills. */
struct live {
	struct root *root;
	struct board *board;
	struct engine *engine;
	struct log *log;
	struct log_view *view; /* of the main thread */
	struct nvtx *nvtx;     /* ranges of programs, or NULL */
	struct pretrigger *keep; /* of a screen: writes what is in memory; or NULL */
};
/* history_ns: how long rows are kept for a screen; negative: there is none. Returns 0, with *e as from open_probes();
 * or -1. */
int live_open(struct live *l, const struct options *o, int64_t history_ns, struct err *e);
void live_close(struct live *l);
/* The bound of a log that a screen shows. */
struct log_bound history_bound(int64_t history_ns);
/* The newest state of its log. */
struct timeline *live_look(const struct live *l);
/* Is the board a demo? Its processes are made up, too; NULL for another board. */
bool live_is_demo(const struct live *l);
const struct procs_list *live_demo_procs(const struct live *l, int64_t now_ns);

/* Keeps what asks for an end or a mark until signals_open(), or delivers what was kept. */
void signals_hold(bool hold);
/* Blocks the signals that are read from a descriptor; to be called before any thread starts. Returns the
 * descriptor, or -1. */
int signals_open(struct err *e);
/* Returns the next pending signal, or 0. *from_terminal (may be NULL) is set if a key of the terminal
 * caused it, so that the whole job got it. */
int signals_next(int fd, bool *from_terminal);
/* Does the signal ask for an orderly end? */
bool signal_ends(int sig);
/* Restores default signal handling, for a child between fork and exec. */
void signals_default(void);

enum charset charset_of(const struct options *o);

#endif
