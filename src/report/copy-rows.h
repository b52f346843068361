/* pour: a trace, or a part of it, as a stream into the writer of recordings. */
#ifndef NVMTOP_REPORT_COPY_ROWS_H
#define NVMTOP_REPORT_COPY_ROWS_H

#include "report/select.h"

/* Where the stream goes, and what it has had. */
struct copy {
	char path[PATH_MAX], temporary[PATH_MAX];
	bool force;
	struct log_writer *writer;
	struct sink *sink;
	bool failed;  /* the error is in the writer's statistics */
	bool stopped; /* somebody wants no more of it */
	const struct session *about;
	struct trace *t;
	int64_t shift; /* to be added to the times of t */
	uint64_t marks;
	int64_t last_ns[TIERS]; /* of the rows so far; < 0: none */
	double *values;         /* BLOCK rows of the widest tier */
	uint64_t row[TIERS], end[TIERS];
	uint64_t total, done;
	report_progress *progress;
};

/* The facts of a trace as they were before that time; free() it.  NULL: out of memory. */
struct fact *copy_facts(const struct trace *t, int64_t before_ns);

/* Begin a trace at path; p needs t, and may get shift, total and progress.  -1: nothing
 * was begun. */
int copy_begin(struct copy *p, const char *path, bool force, const struct session *about, struct err *e);
/* All of p->t from from_ns up to end_ns, on its own clock. */
void copy_stretch(struct copy *p, int64_t from_ns, int64_t end_ns);
/* What was begun is ended; a file that is not whole is no trace of anything.  With 0 e->code
 * is ERR_NONE, or e says which file beside it could not be removed. */
int copy_end(struct copy *p, struct err *e);

/* Before anything is pushed into p->sink; false: no more is to be. */
bool copy_ready(struct copy *p);

uint64_t copy_rows_of(const struct trace *t, int64_t from_ns, int64_t end_ns);

#endif
