/* naming: the files of a recording: named by the current time if it has no name, a pair if its name ends in .bin. */
#ifndef NVMTOP_RECORD_NAMING_H
#define NVMTOP_RECORD_NAMING_H

#include <limits.h>
#include <stddef.h>

#include "trace/nvmt1.h"
#include "trace/trace.h"

/* Writes nvmtop-YYYYmmdd-HHMMSS in local time. size must be at least 40. */
void name_now(char *buf, size_t size);

/* Creates a recording with such a name and .nvmt; if that file exists, nvmtop-YYYYmmdd-HHMMSS.2.nvmt and so on, even if
 * several start at once. Returns NULL and sets *e on error. */
struct log_out *record_now(const struct trace_limits *limits, struct err *e);

/* Creates the file of a recording to path, which is path itself or, for run.bin, run.nvmt: run.bin is made of it at
 * the end, and must not exist either, unless force. Returns NULL and sets *e on error. */
struct log_out *record_to(const char *path, bool force, struct err *e);
/* The name of that file. Returns -1 and sets *e if path is one that cannot be made at the end. */
int record_log(const char *path, bool force, char log[PATH_MAX], struct err *e);
/* Makes the file of version 1 of the log. Returns -1 and sets *e, which says what makes it later. */
int bin_make(const char *log, const char *bin, bool force, nvmt1_progress *progress, void *arg, struct err *e);
/* The same for all files of a recording to run.bin, when everything is on the disk. */
int record_bins(struct log_out *w, bool force, nvmt1_progress *progress, void *arg, struct err *e);

/* Expands %p (process ID of the command; 0: there is none), %h (host), %q{NAME} (environment) and %% in a file
 * name; with run > 0 also puts -RUN before its suffix. Returns -1 and sets *e on error. */
int name_expand(const char *pattern, long pid, unsigned run, char *out, size_t size, struct err *e);

#endif
