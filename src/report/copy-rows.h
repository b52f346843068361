/* copy-rows: copies all or part of a trace to a recording writer. */
#ifndef NVMTOP_REPORT_COPY_ROWS_H
#define NVMTOP_REPORT_COPY_ROWS_H

#include "report/select.h"

/* The destination, and what was copied so far. */
struct copy {
	char path[PATH_MAX], temporary[PATH_MAX];
	bool force;
	struct log *log;
	struct log_out *writer; /* of it; NULL: only the sink */
	struct sink *sink;
	bool failed;  /* the error is in the writer's statistics */
	bool reasons; /* why values were missing before the copied part was copied */
	bool stopped; /* cancelled by the progress callback */
	struct trace *t;
	double *values;         /* BLOCK rows of the widest tier */
	uint64_t row[TIERS], end[TIERS];
	uint64_t total, done;
	report_progress *progress;
};

/* Returns the facts of a trace as they were before that time, to be released with free(); NULL if out of
 * memory. */
struct fact *copy_facts(const struct trace *t, int64_t before_ns);

/* The same into another sink: p begins with zeros; the caller begins the sink's stream, ends it, and frees p->values.
 * Returns -1 if out of memory. */
int copy_init(struct copy *p, struct sink *to, const struct session *about);

/* Starts a trace at path. Afterwards the caller sets p->t, and optionally total and progress.
 * Returns -1 if nothing was started. */
int copy_begin(struct copy *p, const char *path, bool force, const struct session *about, struct err *e);
/* Copies all of p->t from from_ns up to end_ns, in times of t. */
void copy_stretch(struct copy *p, int64_t from_ns, int64_t end_ns);
/* Ends what copy_begin() started; an incomplete file is removed. Returns 0, with e->code ERR_NONE or a
 * sentence about another file that could not be removed; or -1. */
int copy_end(struct copy *p, struct err *e);

uint64_t copy_rows_of(const struct trace *t, int64_t from_ns, int64_t end_ns);

#endif
