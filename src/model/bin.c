/* Folds values into bins; shared by the live history and the log. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/timeline.h"

int zoom_base(double hz)
{
	int k = (int)floor(log2((double)NS_PER_S / hz));

	return k < ZOOM_MIN ? ZOOM_MIN : k > ZOOM_MAX ? ZOOM_MAX : k;
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

void bin_add(struct bin *b, double v)
{
	if (!isnan(v))
		bin_merge(b, &(struct bin) {v, v, v, 1});
}

void bins_halve(struct bin *out, const struct bin *in, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct bin later = in[2 * i + 1];

		out[i] = in[2 * i];
		bin_merge(&out[i], &later);
	}
}

double timeline_newest(struct timeline *t, size_t channel, int64_t t_ns, int64_t *at_ns)
{
	const struct session *s = t->ops->session(t);
	const struct channel *c = &s->channels[channel];
	double period = fmax((double)c->period_ns, (double)NS_PER_S / s->hz[c->tier]);
	double v = t->ops->value(t, channel, t_ns, at_ns);
	int64_t at = *at_ns, before;

	while (isnan(v) && !c->missing[0]) {
		before = t->ops->step(t, c->tier, at, -1);
		if (before >= at || (double)(*at_ns - before) > 3 * period)
			break;
		at = before;
		v = t->ops->value(t, channel, at, NULL);
	}
	return v;
}
