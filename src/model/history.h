/* history: the timeline of the live session, in bounded memory.
 *
 * Implements a sink and a timeline. For each zoom from its tier's base up, each channel has a ring of the
 * newest columns: at most HISTORY_COLUMNS, or as many as struct history_bound allows. A column that has left
 * its ring is answered from the next coarser zoom that still has it, so that nothing newer than the coarsest
 * ring looks like a gap.
 *
 * value() is exact for the newest row of each tier, and for older times the mean of the finest column
 * available. */
#ifndef NVMTOP_MODEL_HISTORY_H
#define NVMTOP_MODEL_HISTORY_H

#include "model/timeline.h"

#define HISTORY_COLUMNS 2048	/* per ring, by default */
#define HISTORY_BYTES   (32u << 20)	/* of all rings when they are full */

/* User-defined limits; 0: default. */
struct history_bound {
	uint64_t bytes;		/* maximum of all rings, at least 4 MiB */
	int64_t span_ns;	/* keep the columns of zoom 29 (0.54 s) this long, whatever memory it
				 * takes */
};

struct history;

struct history *history_new(struct err *e);
void history_limit(struct history *h, const struct history_bound *b);	/* before begin() */
size_t history_columns(const struct history *h);	/* per ring; 0 before begin() */
void history_free(struct history *h);
struct sink *history_sink(struct history *h);	/* to attach to the engine */
struct timeline *history_timeline(struct history *h);

#endif
