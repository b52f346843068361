/* nvmt1: NVMT version 1, the format of nvmtop 0.1 and of other programs. It is imported into a log to be
 * read, and written from a log. */
#ifndef TRACE_NVMT1_H
#define TRACE_NVMT1_H

#include <sys/types.h>

#include "model/stream.h"
#include "trace/log-builder.h"

struct trace;
struct trace_summary;

typedef bool nvmt1_progress(void *arg, double done); /* returns false to stop */

/* nvmt1-file.c */
bool nvmt1_begins(int fd); /* the file begins with a header of version 1 */
/* Returns the offset of the log after the sync points, or 0 if there is none. */
off_t nvmt1_log(int fd);
/* Whether the file has all rows and sync points that the header counts, and any at all. */
bool nvmt1_complete(int fd);
/* Summarizes the file without reading all its rows. Returns false if it is not a file of version 1. */
bool nvmt1_peek(int fd, struct trace_summary *out);

/* nvmt1-import.c */
struct nvmt1_import {
	log_emit *emit;				   /* receives the chunks of the log; NULL: no log is made */
	nvmt1_progress *progress;		   /* or NULL */
	void (*found)(void *of, const char *text); /* receives each damage; or NULL */
	void *of;				   /* first argument of all three */

	uint64_t rows[TIERS], marks;
	bool lists_gaps; /* every tick without a row is in a gap */
	struct clock_anchor *anchors; /* to be freed by the caller */
	size_t n_anchors;
};
/* Returns 0 with e->code = ERR_DAMAGED if the rows before some damage could be used, and -1 if nothing can be
 * read or progress() stopped the import. */
int nvmt1_import(int fd, const char *shown, struct nvmt1_import *m, struct err *e);

/* nvmt1-write.c. Writes t to path, with its log after the sync points: first to a temporary file beside it,
 * which is synced and renamed. phases_from: a domain ("default": the one without a name) whose outermost ranges
 * begin phases of version 1, or NULL. Returns -1 and sets *e on error, and removes the temporary file. */
int nvmt1_write(struct trace *t, const char *path, bool force, const char *phases_from, nvmt1_progress *progress,
		void *arg, struct err *e);
/* Writes the rows of all tiers to fd, one tier after the other, without a header. If differs is not NULL,
 * compares them with the version 1 file fd instead and sets *differs, which must be 0, to the offset of the
 * first byte that differs. Returns -1 and sets errno on error. */
int nvmt1_rows(struct trace *t, int fd, uint64_t *differs);
/* Completes a recording to a .bin: writes it from its log, and removes the log. Returns -1 and sets *e on
 * error. */
int nvmt1_finish(const char *log, const char *path, bool force, const char *phases_from, nvmt1_progress *progress,
		 void *arg, struct err *e);

#endif
