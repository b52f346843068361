/* align: the extent of a trace, for aligning two traces. */
#ifndef NVMTOP_UI_ALIGN_H
#define NVMTOP_UI_ALIGN_H

#include "model/timeline.h"
#include "ui/viewport.h"

/* Sets the extent of a timeline, clamped to [0, 2^61] ns: a file may contain any time, and sums must not
 * overflow. */
void align_extent(struct timeline *t, struct extent *e);

#endif
