/* energy: energy from power samples, and its text.
 *
 * Energy is the mean of the samples times the time they cover: late ticks count with the mean, gaps add
 * nothing. */
#include "ui/energy.h"

#include "ui/range-stats.h"
#include "ui/screen.h"

#include <math.h>
#include <string.h>

enum unit energy_unit(double joule)
{
	return fabs(joule) >= 99999.5 ? QUANTITY_KJ : UNIT_JOULE;
}

void energy_text(char out[QUANTITY_TEXT], double joule)
{
	enum unit unit = energy_unit(joule);
	char text[QUANTITY_TEXT];

	quantity_text(text, unit, joule, 7);
	snprintf(out, QUANTITY_TEXT, "%.20s %.4s", text, isnan(joule) ? "" : quantity_unit(unit));
}

void rail_name(char *out, size_t size, const char *label, int w)
{
	static const char *const starts[] = {"VDD_", "VDDQ_", "VIN_SYS_", "VIN_", "POM_5V_", "POM_"};

	for (size_t i = 0; text_width(label) > w && i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(label, starts[i], strlen(starts[i])) && strlen(label) > strlen(starts[i]) + 1) {
			label += strlen(starts[i]);
			break;
		}
	snprintf(out, size, "%s", label);
}

double energy_joule(const struct ui_scene *s, size_t channel, int64_t from_ns, int64_t to_ns)
{
	struct span span;

	span_read(s->timeline, channel, from_ns, to_ns, &span);
	return span_joule(&span);
}

int64_t energy_mark(struct ui *u, const struct ui_scene *s, uint64_t *id)
{
	int64_t to = u->vp.head_ns + 1, from = u->extent.first_ns, back = INT64_C(1) << 30;
	struct mark m[64];
	size_t n = 0;

	/* Search back in growing steps. Marks are returned oldest first. */
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
