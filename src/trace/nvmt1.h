/* nvmt1: NVMT version 1, the format of other programs. It is imported into a log to be read, and written from a
 * trace. */
#ifndef TRACE_NVMT1_H
#define TRACE_NVMT1_H

#include <sys/types.h>

#include "model/stream.h"

struct trace;
struct trace_summary;

typedef bool nvmt1_progress(void *arg, double done); /* returns false to stop */

/* nvmt1-file.c */
bool nvmt1_begins(int fd); /* the file begins with a header of version 1 */
/* Summarizes the file without reading all its rows. Returns false if it is not a file of version 1. */
bool nvmt1_peek(int fd, struct trace_summary *out);

/* The log that a recording to that file is made in: run.nvmt of run.bin. Returns false if path does not end in .bin, or
 * the name is too long. */
bool nvmt1_log_name(const char *path, char *out, size_t size);

/* nvmt1-import.c */
struct nvmt1_import {
	struct sink *to;			   /* receives the stream; NULL: the file is only checked */
	nvmt1_progress *progress;		   /* or NULL */
	void (*found)(void *of, const char *text); /* receives each damage; or NULL */
	void *of;				   /* first argument of both */

	uint64_t rows[TIERS], marks;
};
/* Returns 0 with e->code = ERR_DAMAGED if the rows before some damage could be used, and -1 if nothing can be
 * read, progress() stopped the import or the sink has failed. */
int nvmt1_import(int fd, const char *shown, struct nvmt1_import *m, struct err *e);

/* nvmt1-write.c. Writes t to path: first to a temporary file beside it, which is synced and renamed. Returns -1
 * and sets *e on error, and removes the temporary file. */
int nvmt1_write(struct trace *t, const char *path, bool force, nvmt1_progress *progress, void *arg, struct err *e);
/* Writes it to fd. Returns 0 or an errno; ECANCELED: progress() stopped it. */
int nvmt1_put(struct trace *t, int fd, nvmt1_progress *progress, void *arg);

#endif
