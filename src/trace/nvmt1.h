/* nvmt1: NVMT version 1, the format of nvmtop 0.1 and of other programs.  It is imported into
 * a log before it is read, and written from a log. */
#ifndef TRACE_NVMT1_H
#define TRACE_NVMT1_H

#include <sys/types.h>

#include "model/stream.h"

struct trace;

typedef bool nvmt1_progress(void *arg, double done); /* false: stop */

/* nvmt1-file.c */
bool nvmt1_begins(int fd); /* the file begins with a header of version 1 */
/* Offset of the log behind the sync points; 0: none. */
off_t nvmt1_log(int fd);
/* Are all rows there that the header counts? */
bool nvmt1_complete(int fd);
/* From the header alone.  False: not a file of version 1. */
struct nvmt1_summary {
	uint64_t rows[TIERS], marks;
	int64_t duration_ns, real_ns; /* real_ns 0: unknown */
	char board[33];
};
bool nvmt1_peek(int fd, struct nvmt1_summary *out);

/* Results of an import other than the stream. */
struct nvmt1_extra {
	void (*found)(void *to, const char *text); /* set by the caller, or NULL: each damage */
	void *to;
	bool lists_gaps; /* every tick without a row is in a gap */
	struct clock_anchor *anchors;
	size_t n_anchors;
};
/* nvmt1-import.c.  Pushes the file to a sink, from begin() to end(), which is not called when it fails.
 * Rows before the first damage are used: then e->code is ERR_DAMAGED, with 0.  -1: nothing can
 * be read, or stopped.  The caller frees extra->anchors. */
int nvmt1_import(int fd, const char *shown, struct sink *to, nvmt1_progress *progress, void *arg,
		 struct nvmt1_extra *extra, struct err *e);

/* nvmt1-write.c.  Writes path from t, with the log of t behind the sync points: first as
 * path.tmp, which is synced and renamed.  -1: nothing is left. */
int nvmt1_write(struct trace *t, const char *path, bool force, nvmt1_progress *progress, void *arg, struct err *e);
/* The rows of all tiers, one after the other, without a header.  -1: errno. */
int nvmt1_pack(struct trace *t, int fd);
/* Are the rows of version 1 in the file those of t?  first: the offset of the first byte that is not. */
int nvmt1_compare(struct trace *t, int fd, bool *differs, uint64_t *first, struct err *e);
/* Ends a recording to a .bin: writes it from its log, which is then removed. */
int nvmt1_finish(const char *log, const char *path, bool force, nvmt1_progress *progress, void *arg, struct err *e);

#endif
