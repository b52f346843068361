/* recorder: a recording without a screen, and its status line. */
#ifndef NVMTOP_CLI_RECORDER_H
#define NVMTOP_CLI_RECORDER_H

#include <limits.h>
#include <sys/types.h>

#include "app/app.h"
#include "app/label-input.h"
#include "record/marks.h"
#include "record/nvtx.h"
#include "app/recording.h"
#include "record/hangs.h"
#include "app/tty-keys.h"
#include "record/pretrigger.h"
#include "trace/trace.h"

struct recorder {
	const struct options *o;
	struct root *root;
	struct engine *engine;
	struct log *log;	   /* of the stream; NULL with keep */
	struct log_out *writer;    /* of it, to files or standard output; NULL with keep */
	bool to_pipe;              /* the writer writes to standard output */
	struct pretrigger *keep;         /* kept in memory, written when triggered */
	size_t kept_told;
	struct alerts *alerts;           /* or NULL */
	struct trouble trouble;
	struct err removed, kept; /* what was reported of --retain */
	uint64_t lost;      /* lost rows already passed to the engine */
	int signals;
	struct ttykeys keys;
	struct label label;  /* a label being typed */
	struct inbox *marks;
	struct nvtx *nvtx; /* or NULL */
	struct nvtx_news ranges;
	bool other_library; /* gets the ranges of the command */
	struct hangs_told hangs_told; /* which hangs were reported */
	bool no_keys;        /* standard input has ended */
	bool quiet;          /* another process may use the terminal */
	bool progress;       /* one line on standard error, rewritten in place */
	int shown;           /* its width on the terminal now, in columns */
	int64_t since_ns;    /* when the first sample was due */
	int64_t until_ns;    /* when to stop; INT64_MAX: no limit */
	int64_t kill_ns;     /* when --kill is due; INT64_MAX: never */
	bool stop;
	bool asked; /* an end was requested */

	pid_t child;      /* 0: no command, or it has exited */
	int go;           /* to command_release(); -1: it runs, or there is none */
	int child_status; /* as an exit status */
	bool killed;      /* --kill was sent to it */

	char file[PATH_MAX]; /* name of the complete recording, or "" */
	bool parts;	     /* it continues in more files */
	bool bins;	     /* each was also written as FILE.bin */
};

/* Records the command once, or until it is to end; o, signals, kill_ns and go are set. run: number of the run in the file
 * name, 0: none. Returns the exit status. */
int record_run(struct recorder *r, unsigned run);

/* What was received or written so far, with --keep too. */
void recorder_written(const struct recorder *r, struct log_out_stats *out);

/* Redraws the line, erases it, or erases it to print a message. */
void recorder_line(struct recorder *r);
void recorder_line_wipe(struct recorder *r);
void recorder_say(struct recorder *r, const char *text);

#endif
