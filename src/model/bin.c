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

bool bin_order_set(struct bin_order *o, const int64_t *t_ns, size_t n, double hz)
{
	size_t left = n, steps = 0;
	uint16_t *at;

	if (n > o->room) {
		bin_order_free(o);
		o->to = calloc(n, sizeof(*o->to));
		o->from = calloc(n, sizeof(*o->from));
		o->sums = calloc(n, sizeof(*o->sums));
		if (!o->to || !o->from || !o->sums)
			return false;
		o->room = n;
	}
	o->n = n;
	at = (uint16_t *)(void *)o->sums;
	for (size_t i = 0; i < n; i++)
		at[i] = (uint16_t)i;
	for (int zoom = zoom_base(hz); left > 1 && zoom <= ZOOM_MAX; zoom++) {
		size_t kept = 0;

		for (size_t i = 0; i < left; i++) {
			if (kept == 0 || t_ns[at[kept - 1]] >> zoom != t_ns[at[i]] >> zoom) {
				at[kept++] = at[i];
				continue;
			}
			o->to[steps] = at[kept - 1];
			o->from[steps++] = at[i];
		}
		left = kept;
	}
	return true;
}

double bin_order_sum(const struct bin_order *o, const double *values)
{
	for (size_t i = 0; i < o->n; i++)
		o->sums[i] = isnan(values[i]) ? -0.0 : values[i]; /* x + -0.0 is x */
	for (size_t i = 0; i + 1 < o->n; i++)
		o->sums[o->to[i]] += o->sums[o->from[i]];
	return o->sums[0];
}

struct bin bin_order_fold(const struct bin_order *o, const double *values)
{
	struct bin b = {.n = 0};

	for (size_t i = 0; i < o->n; i++) {
		double v = values[i];

		if (isnan(v))
			continue;
		b.min = b.n == 0 || v < b.min ? v : b.min;
		b.max = b.n == 0 || v > b.max ? v : b.max;
		b.n++;
	}
	if (b.n > 0)
		b.sum = bin_order_sum(o, values);
	return b;
}

void bin_order_free(struct bin_order *o)
{
	free(o->to);
	free(o->from);
	free(o->sums);
	*o = (struct bin_order) {.n = 0};
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
