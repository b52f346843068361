/* history: the timeline of what is being sampled now, in bounded memory.
 *
 * A sink and a timeline.  Each channel has, for each zoom from its tier's base
 * up, a ring of the newest columns: HISTORY_COLUMNS, or as many as there is room for.  What has left the ring of
 * a zoom is answered from the next coarser one that still has it, so nothing
 * younger than the coarsest ring ever looks like a gap.
 *
 * value(): exact for the newest row of each tier; for older times the mean of
 * the finest column that is still held. */
#ifndef NVMTOP_MODEL_HISTORY_H
#define NVMTOP_MODEL_HISTORY_H

#include "model/timeline.h"

#define HISTORY_COLUMNS 2048	/* of a ring, unless another size is chosen */
#define HISTORY_BYTES   (32u << 20)	/* of all rings, when all of them are full */

/* How much to keep; 0: the default. */
struct history_bound {
	uint64_t bytes;		/* of all rings at most, 4 MiB or more */
	int64_t span_ns;	/* so long back the columns of zoom 29 (0.54 s), in any memory */
};

struct history;

struct history *history_new(struct err *e);
void history_limit(struct history *h, const struct history_bound *b);	/* before begin() */
size_t history_columns(const struct history *h);	/* of a ring; 0 before begin() */
void history_free(struct history *h);
struct sink *history_sink(struct history *h);	/* attach this to the engine */
struct timeline *history_timeline(struct history *h);

#endif
