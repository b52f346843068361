/* energy: power over time, exactly as far as it was sampled.
 *
 * A span is cut into the largest columns that lie wholly in it, which is a few dozen
 * at most whatever its length.  The mean of all samples then counts for the time that
 * they cover: late ticks are filled in with the mean, holes add nothing. */
#include "screen.h"

#include <math.h>

#define FILLED 0.97 /* of the samples that there should be; fewer is a hole */

double energy_joule(struct ui *u, const struct ui_scene *s, size_t channel, int64_t from_ns, int64_t to_ns)
{
	double hz = u->about->hz[u->about->channels[channel].tier], long_s, covered;
	int base = zoom_base(hz > 0 ? hz : 1);
	struct bin all = {0, 0, 0, 0};

	if (from_ns < 0 || to_ns <= from_ns || !(hz > 0))
		return NAN;
	for (int64_t at = from_ns >> base, end = to_ns >> base; at < end;) {
		int up = 0;
		struct bin bin;

		while (base + up < ZOOM_MAX && !(at & ((INT64_C(2) << up) - 1)) &&
		       at + (INT64_C(2) << up) <= end)
			up++;
		s->timeline->ops->columns(s->timeline, channel, base + up, at >> up, 1, &bin);
		if (bin.n)
			bin_merge(&all, &bin);
		at += INT64_C(1) << up;
	}
	if (!all.n)
		return NAN;
	long_s = (double)(to_ns - from_ns) / 1e9;
	covered = (double)all.n / hz;
	if (covered > FILLED * long_s)
		covered = long_s;
	return all.sum / (double)all.n / 1000 * covered;
}

int64_t energy_mark(struct ui *u, const struct ui_scene *s, uint64_t *id)
{
	int64_t to = u->vp.head_ns + 1, from = u->extent.first_ns, back = INT64_C(1) << 30;
	struct mark m[64];
	size_t n = 0;

	/* Look back further and further; what is found is oldest first. */
	for (int64_t left = to; left > from; back *= 8) {
		int64_t right = left;

		left = right - from > back ? right - back : from;
		n = s->timeline->ops->marks(s->timeline, left, right, m, 64);
		while (n == 64) {
			int64_t after = m[63].t_ns + 1;
			size_t more = s->timeline->ops->marks(s->timeline, after, right, m, 64);

			if (!more)
				break;
			n = more;
		}
		if (n)
			break;
	}
	if (!n)
		return -1;
	*id = m[n - 1].id;
	return m[n - 1].t_ns;
}
