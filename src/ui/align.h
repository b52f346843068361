/* align: what the alignment of two traces shares with the screen. */
#ifndef NVMTOP_UI_ALIGN_H
#define NVMTOP_UI_ALIGN_H

#include "model/timeline.h"
#include "ui/viewport.h"

/* What there is of a timeline; times of a file may be anything, those here stay far
 * from overflow. */
void align_extent(struct timeline *t, struct extent *e);

#endif
