/* energy: energy from power samples, and its text.
 *
 * Energy is the mean of the samples times the time they cover: late ticks count with the mean, gaps add
 * nothing. */
#include "ui/energy.h"

#include "ui/goto.h"
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

void power_span(struct timeline *t, const struct power_parts *p, int64_t from_ns, int64_t to_ns, struct span *out)
{
	struct energy_result each[POWER_PARTS], sum;
	struct span one = {NAN, NAN, NAN, 0, 0, NAN};

	for (size_t i = 0; i < p->n && p->add_up; i++) {
		span_read(t, p->channel[i], from_ns, to_ns, &one);
		each[i] = (struct energy_result) {span_joule(&one), NAN, (double)one.covered_ns / 1e9, NULL};
	}
	*out = one;
	if (p->n < 2 || !p->add_up)
		return;
	sum = power_parts_sum(each, p->n);
	*out = (struct span) {NAN, 1e3 * sum.joules / sum.known_s, NAN, !isnan(sum.joules), llround(sum.known_s * 1e9), 1e3 * sum.joules};
}

int64_t energy_since(struct ui *u, const struct ui_scene *s, uint64_t *id)
{
	struct mark m = {.t_ns = u->extent.first_ns, .id = 0};

	goto_newest(s->timeline, u->extent.first_ns, u->vp.head_ns + 1, &m);
	*id = m.id;
	return m.t_ns;
}
