/* marker: marks from the moment on that the process is there.
 *
 * Other programs, nvmtop mark and SIGUSR1 are heard at once; what comes before there is a
 * recording waits for it, with its own time. */
#ifndef NVMTOP_RECORD_MARKER_H
#define NVMTOP_RECORD_MARKER_H

#include "engine/engine.h"
#include "record/marks.h"

struct marker;

/* With SIGUSR1 blocked.  NULL: out of memory; *told: why other programs cannot be heard, or
 * ERR_NONE. */
struct marker *marker_open(struct err *told);

/* As marks are set from elsewhere: marker is a struct marker. */
void marker_take(void *marker, int64_t t_ns, const char *label);

/* What comes from now on is of no recording; what waits is forgotten. */
void marker_drop(struct marker *m);

/* A recording has begun: it gets what waits, and what comes. */
void marker_begin(struct marker *m, struct engine *g);

/* Nothing is heard any more. */
void marker_end(struct marker *m, struct inbox_stats *out);
void marker_free(struct marker *m); /* ends first; NULL is fine */

#endif
