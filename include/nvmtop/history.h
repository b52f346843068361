/* history: the timeline of what is being sampled now, in bounded memory.
 *
 * A sink and a timeline.  Each channel has, for each zoom from its tier's base
 * up, a ring of the newest HISTORY_COLUMNS columns.  What has left the ring of
 * a zoom is answered from the next coarser one that still has it, so nothing
 * younger than the coarsest ring ever looks like a gap.
 *
 * value(): exact for the newest row of each tier; for older times the mean of
 * the finest column that is still held. */
#ifndef NVMTOP_HISTORY_H
#define NVMTOP_HISTORY_H

#include "nvmtop/timeline.h"

#define HISTORY_COLUMNS 2048

struct history;

struct history *history_new(struct err *e);
void history_free(struct history *h);
struct sink *history_sink(struct history *h);	/* attach this to the engine */
struct timeline *history_timeline(struct history *h);

#endif
