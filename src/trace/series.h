/* series: a recording in several files, as its sources share it: series.c is the
 * stream's side and never waits for a disk, cuts.c says where one file ends and the next
 * begins, parts.c is the thread that opens and ends files. */
#ifndef NVMTOP_TRACE_SERIES_H
#define NVMTOP_TRACE_SERIES_H

#include <limits.h>
#include <pthread.h>

#include "trace/trace.h"
#include "trace/held-marks.h"
#include "trace/names.h"
#include "trace/writer.h"

/* One file of it. */
struct part {
	struct part *next; /* in the list of those that end */
	struct trace_writer *writer;
	struct session about; /* begins with this file's own clocks */
	unsigned number;
};

struct done {
	unsigned number;
	bool complete;
};

struct trace_series {
	struct sink sink;
	char path[PATH_MAX];
	bool force;
	struct trace_limits limits;
	struct session about; /* of the stream, with the two that follow */
	struct channel *channels;
	struct fact *facts;
	pthread_t keeper;
	bool running;

	pthread_mutex_t lock; /* for all that follows */
	pthread_cond_t wake;  /* to the keeper */
	struct part *current; /* NULL: nothing can be written */
	struct part *old;     /* the one before: takes what is older than cut_ns */
	struct part *ready;   /* the next one, open and not begun */
	struct part *ending;
	int64_t cut_ns; /* where the current part begins */
	int64_t due_ns; /* where the next one is to begin, by time */
	int64_t end_ns; /* where the recording is full */
	int64_t newest_ns[TIERS];
	bool want; /* a part that is ready */
	int64_t retry_ns;
	bool quit, done_all; /* nothing more comes; and the keeper is done with it */
	unsigned number; /* of the latest part that holds something */
	char shown[PATH_MAX]; /* the file that is written, or was last */

	/* What has come of it so far; `gone` are the parts that have ended. */
	struct trace_series_stats gone;
	struct held_marks held; /* while nothing can be written */
	bool failing;          /* nothing is written */
	int64_t failed_ns;     /* since when */
	struct err err, last;
	struct done *done; /* by number */
	size_t n_done;
};

struct part *part_open(struct trace_series *s, unsigned number, struct err *e);
/* With the lock held: it ends, while the keeper looks after it. */
void part_end(struct trace_series *s, struct part *p);
/* The same: marks that it could not write wait for the next one. */
void part_take_back(struct trace_series *s, const struct part *p);
void part_account(struct trace_series_stats *sum, const struct part *p);
void *series_keep(void *series);

/* With the lock held. */
/* The file becomes the one that is written, from cut_ns on. */
int part_begin(struct trace_series *s, struct part *p, int64_t cut_ns, struct err *e);
/* Before rows up to until_ns are handed over: is the file to end? */
void series_look(struct trace_series *s, int64_t until_ns);
/* Does the file that is written still take something? */
void series_look_current(struct trace_series *s, struct trace_writer_stats *w);
int64_t series_newest(const struct trace_series *s); /* of all tiers */
/* No row of the file before the present one can come any more. */
void series_old_end(struct trace_series *s);
/* What is said of a file that takes nothing any more. */
void series_say_failed(struct err *e, const struct err *why);

#endif
