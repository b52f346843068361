/* view-thermal: how warm each place is and how far from being slowed down for it,
 * what cools, what is slowed down already, and what the kernel tells beside that. */
#include "ui/charts.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>

static double distance(const struct channel *ch, double v)
{
	return (ch->warn > 0 ? ch->warn : ch->crit > 0 ? ch->crit : NAN) - v;
}

static void read_zone(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct channel *ch = &u->about->channels[row->channel];

	(void)s;
	rows_note(row, 0, STYLE_DIM, _("%.1f to throttle"), distance(ch, row->value));
}

/* The least that is left in any zone: not always in the hottest. */
static void read_hottest(struct ui *u, const struct ui_scene *s, struct row *row)
{
	double left = NAN;

	for (size_t i = 0; i < u->about->n_channels; i++) {
		const struct channel *ch = &u->about->channels[i];

		if (ch->kind == CHANNEL_TEMPERATURE && !ch->missing[0])
			left = fmin(left, distance(ch, rows_value(u, s, i, 0)));
	}
	if (!isnan(left))
		rows_note(row, 0, STYLE_DIM, _("%.1f to throttle"), left);
}

/* One scale for all zones, so that they can be compared, and up to where it begins to
 * matter, so that the charts show how far that is. */
static double common_top(const struct session *about)
{
	double top = NAN;

	for (size_t i = 0; i < about->n_channels; i++)
		if (about->channels[i].kind == CHANNEL_TEMPERATURE && about->channels[i].warn > 0)
			top = fmax(top, about->channels[i].warn);
	return ceil(top / 10) * 10;
}

static void add_all(struct row_list *l, enum channel_kind kind, const char *heading, enum style hue,
		    bool *headed)
{
	for (size_t i = 0; i < l->about->n_channels; i++) {
		struct row *row;

		if (l->about->channels[i].kind != kind)
			continue;
		if (!*headed && heading)
			rows_heading(l, heading, hue);
		*headed = true;
		row = rows_signal(l, i, kind == CHANNEL_TEMPERATURE ? WEIGHT_PART : WEIGHT_REST, true);
		if (kind != CHANNEL_TEMPERATURE)
			continue;
		row->read = read_zone;
		row->top = common_top(l->about);
	}
}

static void build(struct row_list *l)
{
	int hottest = rows_find(l->about, CHANNEL_HOTTEST, -1);
	bool zones = false, fans = false, limits = false, notices = false;

	if (hottest >= 0) {
		struct row *row = rows_signal(l, (size_t)hottest, WEIGHT_MAIN, false);

		row->read = read_hottest;
		row->top = common_top(l->about);
	}
	add_all(l, CHANNEL_TEMPERATURE, NULL, STYLE_HEAT, &zones);
	if (!zones)
		snprintf(rows_text(l, _("Heat"), NULL)->text, sizeof(l->rows->text), "%s",
			 _("no temperature is shown here: no thermal zone, no hwmon sensor"));
	add_all(l, CHANNEL_FAN, _("Cooling"), STYLE_OTHER, &fans);
	add_all(l, CHANNEL_THROTTLE, _("Throttling"), STYLE_HEAT, &limits);
	add_all(l, CHANNEL_THROTTLE_COUNT, _("Throttling"), STYLE_HEAT, &limits);
	add_all(l, CHANNEL_NOTICE, _("Notices"), STYLE_HEAT, &notices);
}

const struct view view_thermal = {
	.name = "thermal",
	.label = N_("Thermal"),
	.key = '6',
	.build = build,
	.draw = charts_draw,
	.move = charts_move,
};
