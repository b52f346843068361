/* naming: names with the time in them, for what is recorded without one. */
#ifndef NVMTOP_RECORD_NAMING_H
#define NVMTOP_RECORD_NAMING_H

#include <stddef.h>

#include "trace/trace.h"

/* nvmtop-YYYYmmdd-HHMMSS, local time.  size: at least 40. */
void name_now(char *buf, size_t size);
/* The same with .nvmt; if that exists, nvmtop-YYYYmmdd-HHMMSS.2.nvmt and so on. size: at least 64. */
void trace_name_now(char *buf, size_t size);

/* A recording under such a name, which is unique even if several begin at once. NULL with the sentence. */
struct log_writer *record_now(const struct trace_limits *limits, struct err *e);

#endif
