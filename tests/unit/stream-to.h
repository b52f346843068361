/* stream-to: a stream for an output, which is a log of its own. */
#ifndef TEST_STREAM_TO_H
#define TEST_STREAM_TO_H

#include <stdlib.h>

#include "trace/log-out.h"

/* Begins it; now: its rows are of now. */
static inline struct sink *stream_begin(struct log_out *o, const struct session *about, bool now)
{
	struct err e;
	struct log *log = log_new(&(struct log_bound) {.now = now}, &e);

	if (!log || log_out_begin(o, log, INT64_MIN, INT64_MAX, &e) < 0 || log_sink(log)->ops->begin(log_sink(log), about, &e) < 0)
		abort();
	return log_sink(log);
}

/* Ends it, without waiting. */
static inline void stream_close(struct sink *s)
{
	log_free((struct log *)(void *)s);
}

/* Ends it and waits for the output; returns its result. */
static inline int stream_end(struct log_out *o, struct sink *s, struct err *e)
{
	struct err unread;

	stream_close(s);
	return log_out_end(o, e ? e : &unread);
}

#endif
