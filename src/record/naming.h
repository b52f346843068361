/* naming: file names made of the current time, for recordings without a name. */
#ifndef NVMTOP_RECORD_NAMING_H
#define NVMTOP_RECORD_NAMING_H

#include <stddef.h>

#include "trace/trace.h"

/* Writes nvmtop-YYYYmmdd-HHMMSS in local time. size must be at least 40. */
void name_now(char *buf, size_t size);
/* Same with .nvmt appended; if that file exists, nvmtop-YYYYmmdd-HHMMSS.2.nvmt and so on.
 * size must be at least 64. */
void trace_name_now(char *buf, size_t size);

/* Creates a recording with such a name, unique even if several start at once. Returns
 * NULL and sets *e on error. */
struct log_writer *record_now(const struct trace_limits *limits, struct err *e);

/* Expands %p (process ID of the command; 0: there is none), %h (host), %q{NAME} (environment) and %% in a file
 * name; with run > 0 also puts -RUN before its suffix. Returns -1 and sets *e on error. */
int name_expand(const char *pattern, long pid, unsigned run, char *out, size_t size, struct err *e);

#endif
