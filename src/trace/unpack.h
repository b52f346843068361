/* unpack: a stream, read to its end, becomes a complete trace. */
#ifndef NVMTOP_TRACE_UNPACK_H
#define NVMTOP_TRACE_UNPACK_H

#include "trace/join.h"
#include "trace/repair.h"

#define FOREIGN 65536 /* bytes without a chunk: this is something else */

/* A stream at path, from its beginning, or standard input for "-".  -1: it is none, or
 * cannot be opened. */
int stream_fd(const char *path);
/* Into a file without a name.  Its descriptor; -1 with *e; -2: what is at path is no
 * stream, or cannot be opened. */
int stream_open_trace(const char *path, const char *shown, struct err *e);

#endif
