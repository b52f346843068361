/* stream-in: chunks back to the calls of a stream.
 *
 * Knows nothing about where the chunks come from: a pipe, a file that grows, the
 * files of a recording that is running. */
#ifndef NVMTOP_TRACE_STREAM_IN_H
#define NVMTOP_TRACE_STREAM_IN_H

#include "trace/trace.h"
#include "trace/chunk.h"

struct stream_in;

struct stream_in *stream_in_new(struct sink *to, struct err *e);
void stream_in_free(struct stream_in *s);

/* One chunk whose sums are right.  -1 with *e when nothing can be shown: out of memory, no
 * whole description, or the sink's begin() failed. */
int stream_in_chunk(struct stream_in *s, uint32_t id, const uint8_t *p, size_t n, struct err *e);
/* Something is known to be missing before the next chunk. */
void stream_in_damage(struct stream_in *s);
/* Fast rows as they lie in a part, the first of them being number `first`. */
int stream_in_fast(struct stream_in *s, uint64_t first, const uint8_t *p, size_t n, struct err *e);
/* Nothing more comes: hand over what still waited, and end the sink. */
void stream_in_finish(struct stream_in *s);

bool stream_in_begun(const struct stream_in *s);     /* the sink has the session */
bool stream_in_late(const struct stream_in *s);      /* there were rows, and no description is whole yet */
bool stream_in_other(const struct stream_in *s);     /* another stream has begun behind it */
bool stream_in_only_fast(const struct stream_in *s); /* no channel is in another tier */
bool stream_in_closed(const struct stream_in *s);    /* the last chunk was there */
void stream_in_state(const struct stream_in *s, struct trace_tail_state *out);

#endif
