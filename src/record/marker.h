/* marker: marks from the start of the process on.
 *
 * Marks of other programs, of nvmtop mark and SIGUSR1 are accepted at once; those before the recording
 * begins wait for it, and keep their own time. */
#ifndef NVMTOP_RECORD_MARKER_H
#define NVMTOP_RECORD_MARKER_H

#include "engine/engine.h"
#include "record/marks.h"

struct marker;

/* With SIGUSR1 blocked. NULL: out of memory; *told: why marks of other programs cannot be received, or
 * ERR_NONE. */
struct marker *marker_open(struct err *told);

/* As marks are set from elsewhere: marker is a struct marker. */
void marker_take(void *marker, int64_t t_ns, const char *label);

/* Discard waiting and future marks. */
void marker_drop(struct marker *m);

/* A recording has begun: pass waiting and future marks to it. */
void marker_begin(struct marker *m, struct engine *g);

/* No more marks are accepted. */
void marker_end(struct marker *m, struct inbox_stats *out);
void marker_free(struct marker *m); /* ends first; NULL is fine */

#endif
