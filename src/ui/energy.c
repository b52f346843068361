/* energy: power over time, exactly as far as it was sampled.
 *
 * The mean of all samples counts for the time that they cover: late ticks are filled
 * in with the mean, holes add nothing. */
#include "ui/energy.h"

#include "ui/range-stats.h"
#include "ui/screen.h"

double energy_joule(struct ui *u, const struct ui_scene *s, size_t channel, int64_t from_ns, int64_t to_ns)
{
	struct span span;

	(void)u;
	span_read(s->timeline, channel, from_ns, to_ns, &span);
	return span_joule(&span);
}

int64_t energy_mark(struct ui *u, const struct ui_scene *s, uint64_t *id)
{
	int64_t to = u->vp.head_ns + 1, from = u->extent.first_ns, back = INT64_C(1) << 30;
	struct mark m[64];
	size_t n = 0;

	/* Look back further and further; what is found is oldest first. */
	for (int64_t left = to; left > from; back = back < INT64_MAX / 8 ? 8 * back : back) {
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
