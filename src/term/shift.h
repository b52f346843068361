/* shift: detects rows whose right part moved left, as in charts. */
#ifndef NVMTOP_TERM_SHIFT_H
#define NVMTOP_TERM_SHIFT_H

#include "ui/canvas.h"

static inline bool cell_same(const struct cell *a, const struct cell *b)
{
	return a->ch[0] == b->ch[0] && a->ch[1] == b->ch[1] && a->style == b->style && a->back == b->back;
}

/* From column x on, the row equals the old one k cells further right. k is 0 if plain drawing is
 * cheaper. */
struct shift {
	int x, k;
};

/* was, now: w cells each. */
struct shift shift_find(const struct cell *was, const struct cell *now, int w);

#endif
