/* stream-out: a recording as one sequence of chunks, to a pipe that may be slow,
 * stand still, or lose its reader. */
#ifndef NVMTOP_TRACE_STREAM_OUT_H
#define NVMTOP_TRACE_STREAM_OUT_H

#include "trace/trace.h"

struct stream_out;

/* Takes the descriptor over, also on error (NULL). */
struct stream_out *stream_out_new(int fd, struct err *e);
void stream_out_free(struct stream_out *o); /* ends it first */
struct sink *stream_out_sink(struct stream_out *o);
void stream_out_stats(struct stream_out *o, struct trace_writer_stats *out);

#endif
