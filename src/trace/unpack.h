/* unpack: a stream, read to its end, becomes a complete trace. */
#ifndef TRACE_UNPACK_H
#define TRACE_UNPACK_H

#include "trace/join.h"
#include "trace/repair.h"

struct unpacked {
	struct joined joined;
	struct repair fixed; /* free fixed.bad */
	uint64_t broken;     /* bytes of the stream that could not be used */
	bool closed;         /* it was ended by its recorder */
};

/* Read `in` (a pipe or a file, from where it is) into the two empty files and join
 * them.  0 with e->code ERR_NONE or ERR_DAMAGED and a sentence about what is
 * missing; -1 with ERR_FAILED when there is nothing. */
int stream_unpack(int in, int part, int side, const char *shown, struct unpacked *out, struct err *e);

/* The same into a file without a name.  Its descriptor; -1 with *e; -2: what is
 * at path is no stream, or cannot be opened. */
int stream_open_trace(const char *path, const char *shown, struct err *e);

#endif
