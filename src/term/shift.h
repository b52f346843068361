/* shift: rows whose right part has moved to the left, as charts do. */
#ifndef NVMTOP_TERM_SHIFT_H
#define NVMTOP_TERM_SHIFT_H

#include "ui/canvas.h"

/* From column x on, the row is what it was k cells further right; k is 0 when it
 * is cheaper to draw what differs. */
struct shift {
	int x, k;
};

/* was and now: w cells each. */
struct shift shift_find(const struct cell *was, const struct cell *now, int w);

#endif
