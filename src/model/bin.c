/* Folding of values into bins, shared by the live history and the log. */
#include <math.h>

#include "model/timeline.h"

int zoom_base(double hz)
{
	int k = (int)floor(log2((double)NS_PER_S / hz));

	return k < ZOOM_MIN ? ZOOM_MIN : k > ZOOM_MAX ? ZOOM_MAX : k;
}

void bin_add(struct bin *b, double v)
{
	if (isnan(v))
		return;
	if (!b->n) {
		b->min = b->max = b->sum = v;
		b->n = 1;
		return;
	}
	if (v < b->min)
		b->min = v;
	if (v > b->max)
		b->max = v;
	b->sum += v;
	b->n++;
}

void bin_merge(struct bin *b, const struct bin *later)
{
	if (!later->n)
		return;
	if (!b->n) {
		*b = *later;
		return;
	}
	if (later->min < b->min)
		b->min = later->min;
	if (later->max > b->max)
		b->max = later->max;
	b->sum += later->sum;
	b->n += later->n;
}
