/* fetch: a trace that is opened while the screen goes on. */
#ifndef NVMTOP_APP_OPEN_TRACE_H
#define NVMTOP_APP_OPEN_TRACE_H

#include "app/app.h"
#include "trace/trace.h"

struct fetched {
	struct trace *trace; /* NULL: err says why */
	struct err err;      /* of a trace that was opened: its damage, or ERR_NONE */
	char next[4096];     /* the file in which its recording goes on, or "" */
};

struct fetch;
/* Start to open a trace; NULL with the sentence. waits: the first picture may wait for the disk as well,
 * since nothing else goes on. */
struct fetch *fetch_start(const char *path, bool waits, struct err *e);
/* The same of the file that is a part of the recording that t is one of, too: the next one
 * (by 1) or the one before (-1).  Of t itself (0), which is still being copied: anew, if it has another
 * size by now. */
struct fetch *fetch_beside(const struct trace *t, int by, struct err *e);
/* Is it known what came of it?  Waits for that until until_ns of clock_now_ns(). */
bool fetch_done(struct fetch *f, int64_t until_ns);
/* The result of one that is done. False: there is no such file, or it has not grown. */
bool fetch_take(struct fetch *f, struct fetched *out);
/* Discards it at any time. */
void fetch_leave(struct fetch *f);

/* Close a trace without waiting for its disk; NULL is fine. */
void fetch_close(struct trace *t);

#endif
