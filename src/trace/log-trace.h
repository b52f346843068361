/* log-trace: a log behind the interface of trace.h. */
#ifndef TRACE_LOG_TRACE_H
#define TRACE_LOG_TRACE_H

#include "trace/reader.h"
#include "trace/log-reader.h"

/* The file as a log: a descriptor; -1: it is none, or cannot be opened. */
int log_trace_fd(const char *path);
/* Takes fd over.  -1: with *e. */
int log_trace_load(struct trace *t, int fd, struct err *e);
/* Damage that was found since. */
void log_trace_look(struct trace *t);
void log_trace_header(const struct trace *t, struct trace_header *out);
bool log_trace_is_single(const struct channel *c);
int log_trace_peek(int fd, const char *shown, struct trace_summary *out, struct err *e);

#endif
