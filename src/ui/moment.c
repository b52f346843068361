/* moment: finds a value or an event without reading every sample.
 *
 * A range of time is split into the largest columns that fit. If a column matches, so does at least one of
 * its halves, so the sample is found by bisection. */
#include "ui/moment.h"

#include <math.h>

/* A search for a value of at least, or at most, `limit`. */
struct wanted {
	double limit;
	bool most; /* at most limit */
};

static bool matches(const struct wanted *w, const struct bin *b)
{
	return b->n && (w->most ? b->min <= w->limit : b->max >= w->limit);
}

static bool matches_at(struct timeline *t, size_t channel, const struct wanted *w, int64_t t_ns)
{
	double v = t->ops->value(t, channel, t_ns, NULL);

	return w->most ? v <= w->limit : v >= w->limit;
}

/* The zoom of the largest column that begins at `at` and does not go past `end`. */
static int largest(int64_t at, int64_t end)
{
	int zoom = ZOOM_MIN;

	while (zoom < ZOOM_MAX && at % (INT64_C(2) << zoom) == 0 && end - at >= INT64_C(2) << zoom)
		zoom++;
	return zoom;
}

static struct bin column(struct timeline *t, size_t channel, int zoom, int64_t at)
{
	struct bin b;

	t->ops->columns(t, channel, zoom, at, 1, &b);
	return b;
}

/* Extends [from, to) to whole columns of the finest zoom. */
static void round_out(int64_t *from_ns, int64_t *to_ns)
{
	const int64_t finest = INT64_C(1) << ZOOM_MIN;

	*from_ns -= *from_ns % finest;
	*to_ns += (finest - *to_ns % finest) % finest;
}

/* Finds the first matching sample in [from, to). */
static bool find(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, const struct wanted *w, int64_t *out)
{
	int64_t i;
	int zoom;

	for (round_out(&from_ns, &to_ns); from_ns < to_ns; from_ns += INT64_C(1) << zoom) {
		struct bin b;

		zoom = largest(from_ns, to_ns);
		i = from_ns >> zoom;
		b = column(t, channel, zoom, i);
		if (!matches(w, &b))
			continue;
		while (zoom > ZOOM_MIN) {
			zoom--;
			i *= 2;
			b = column(t, channel, zoom, i);
			i += !matches(w, &b);
		}
		t->ops->value(t, channel, (i + 1) * (INT64_C(1) << zoom) - 1, out);
		/* If columns are finer than the samples, the next sample may be the matching one. */
		if (!matches_at(t, channel, w, *out)) {
			int64_t later = t->ops->step(t, t->ops->session(t)->channels[channel].tier, *out, 1);

			if (matches_at(t, channel, w, later))
				*out = later;
		}
		return true;
	}
	return false;
}

bool moment_extreme(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, int sign, int64_t *out,
		    double *value)
{
	struct wanted w = {.limit = sign < 0 ? INFINITY : -INFINITY, .most = sign < 0};
	int64_t at = from_ns, end = to_ns;
	bool any = false;
	int zoom;

	for (round_out(&at, &end); at < end; at += INT64_C(1) << zoom) {
		struct bin b;

		zoom = largest(at, end);
		b = column(t, channel, zoom, at >> zoom);
		if (b.n)
			any = true, w.limit = w.most ? fmin(w.limit, b.min) : fmax(w.limit, b.max);
	}
	*value = w.limit;
	return any && find(t, channel, from_ns, to_ns, &w, out);
}

bool moment_event(struct timeline *t, const struct extent *e, int64_t t_ns, int by, int64_t *out)
{
	return e->any && t->ops->event(t, by > 0 ? t_ns + 1 : e->first_ns, by > 0 ? e->last_ns + 1 : t_ns, by < 0, out);
}
