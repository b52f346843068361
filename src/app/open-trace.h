/* open-trace: opens traces without blocking the screen. */
#ifndef NVMTOP_APP_OPEN_TRACE_H
#define NVMTOP_APP_OPEN_TRACE_H

#include "app/app.h"
#include "trace/trace.h"

struct fetched {
	struct trace *trace; /* NULL if it failed; err has the reason */
	struct err err;      /* damage of an opened trace, or ERR_NONE */
	char next[4096];     /* the next file of its recording, or "" */
};

struct fetch;
/* Starts to open a trace; returns NULL with *e on failure. The paths of several files must stay valid. waits: reading
 * the first frame may block as well, since nothing else is running. */
struct fetch *fetch_start(const char *const *paths, size_t n, bool waits, struct err *e);
/* The same for the next (by = 1) or previous (-1) file of the recording that t belongs to. */
struct fetch *fetch_beside(const struct trace *t, int by, struct err *e);
/* Waits until the result is known, at most until until_ns of clock_now_ns(). Returns true if it is. */
bool fetch_done(struct fetch *f, int64_t until_ns);
/* Stores the result of a completed fetch and frees f. Returns false if the file does not exist. */
bool fetch_take(struct fetch *f, struct fetched *out);
/* Cancels a fetch in any state and frees it. */
void fetch_leave(struct fetch *f);

/* Closes a trace in the background; NULL is allowed. */
void fetch_close(struct trace *t);

#endif
