/* nvmt1: NVMT version 1, the format of nvmtop 0.1 and of other programs.  It is imported into
 * a log before it is read, and written from a log. */
#ifndef TRACE_NVMT1_H
#define TRACE_NVMT1_H

#include <sys/types.h>

#include "model/stream.h"
#include "trace/log-builder.h"

struct trace;
struct trace_summary;

typedef bool nvmt1_progress(void *arg, double done); /* false: stop */

/* nvmt1-file.c */
bool nvmt1_begins(int fd); /* the file begins with a header of version 1 */
/* Offset of the log behind the sync points; 0: none. */
off_t nvmt1_log(int fd);
/* Are all rows there that the header counts? */
bool nvmt1_complete(int fd);
/* From the header alone.  False: not a file of version 1. */
bool nvmt1_peek(int fd, struct trace_summary *out);

/* nvmt1-import.c */
struct nvmt1_import {
	log_emit *emit;				   /* gets the chunks of its log; NULL: it is only read */
	nvmt1_progress *progress;		   /* or NULL */
	void (*found)(void *of, const char *text); /* gets each damage; or NULL */
	void *of;				   /* for all three */

	uint64_t rows[TIERS], marks;
	bool lists_gaps; /* every tick without a row is in a gap */
	struct clock_anchor *anchors; /* to be freed by the caller */
	size_t n_anchors;
};
/* Rows before the first damage are used: then e->code is ERR_DAMAGED, with 0.  -1: nothing can
 * be read, or stopped. */
int nvmt1_import(int fd, const char *shown, struct nvmt1_import *m, struct err *e);

/* nvmt1-write.c.  Writes path from t, with the log of t behind the sync points: first as
 * path.tmp, which is synced and renamed.  -1: nothing is left. */
int nvmt1_write(struct trace *t, const char *path, bool force, nvmt1_progress *progress, void *arg, struct err *e);
/* The rows of all tiers, one after the other, without a header; differs: instead compares them with
 * those of that file of version 1, and sets it to the offset of the first byte that is not the same
 * (0: none).  -1: errno. */
int nvmt1_rows(struct trace *t, int fd, uint64_t *differs);
/* Ends a recording to a .bin: writes it from its log, which is then removed. */
int nvmt1_finish(const char *log, const char *path, bool force, nvmt1_progress *progress, void *arg, struct err *e);

#endif
