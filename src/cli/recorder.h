/* recorder: a recording without a screen, and the line that it shows of itself. */
#ifndef NVMTOP_CLI_RECORDER_H
#define NVMTOP_CLI_RECORDER_H

#include <sys/types.h>

#include "app/app.h"
#include "app/label-input.h"
#include "record/marks.h"
#include "app/recording.h"
#include "record/silence.h"
#include "app/tty-keys.h"
#include "record/pretrigger.h"
#include "trace/trace.h"

struct recorder {
	const struct options *o;
	struct root *root;
	struct engine *engine;
	struct log_writer *writer; /* one of the two: to files, or to standard output */
	bool to_pipe;              /* to that */
	struct pretrigger *keep;         /* held, and written when triggered */
	size_t kept_told;
	struct trouble trouble;
	uint64_t lost;      /* rows lost, of which the engine knows */
	int signals;
	struct ttykeys keys;
	struct label label;  /* being typed */
	struct marker *marker;
	struct silence silence; /* reports of sensors that do not answer */
	bool no_keys;        /* standard input has ended */
	bool quiet;          /* another process may have the terminal */
	bool progress;       /* one line on standard error, rewritten in place */
	int shown;           /* columns of it on the terminal now */
	int64_t since_ns;    /* when the first sample was due */
	int64_t until_ns;    /* when to stop; INT64_MAX: not by itself */
	bool stop;
	bool asked; /* the command was told to end */

	pid_t child;      /* 0: none, or it has ended */
	int child_status; /* as an exit status */
};

/* What was written so far; of a stream, too. */
void recorder_written(const struct recorder *r, struct log_writer_stats *out);

/* The line is drawn anew, taken away, or makes room for a sentence. */
void recorder_line(struct recorder *r);
void recorder_line_wipe(struct recorder *r);
void recorder_say(struct recorder *r, const char *text);

#endif
