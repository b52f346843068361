/* view-thermal: how warm each place is and how far from being slowed down for it,
 * what cools, what is slowed down already, and what the kernel tells beside that. */
#include "ui/charts.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>

enum { SLOWS, STOPS, LEFT };
static const struct table_column table[] = {
	/* TRANSLATORS: the temperature from which on it is slowed down; at most 4 columns */
	[SLOWS] = {N_("slow"), 4, 60},
	/* TRANSLATORS: the temperature at which it switches off; at most 5 columns */
	[STOPS] = {N_("stop"), 5, 76},
	/* TRANSLATORS: how many degrees are left until the first of them; at most 4 columns */
	[LEFT] = {N_("left"), 4, 50},
	{NULL, 0, 0},
};

static void show_limits(struct ui *u, struct row *row, double warn, double crit, double left)
{
	if (warn > 0)
		rows_cell(u, row, SLOWS, UNIT_CELSIUS, warn, STYLE_DIM);
	if (crit > 0)
		rows_cell(u, row, STOPS, UNIT_CELSIUS, crit, STYLE_DIM);
	if (warn > 0 || crit > 0)
		rows_cell(u, row, LEFT, UNIT_CELSIUS, left,
			  row->alarm == ALARM_CRIT   ? STYLE_ALERT
			  : row->alarm == ALARM_WARN ? STYLE_WARN
						     : STYLE_TEXT);
}

static double distance(const struct channel *ch, double v)
{
	return (ch->warn > 0 ? ch->warn : ch->crit > 0 ? ch->crit : NAN) - v;
}

static void read_zone(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct channel *ch = &u->about->channels[row->channel];

	show_limits(u, row, ch->warn, ch->crit, distance(ch, row->value));
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
		rows_cell(u, row, LEFT, UNIT_CELSIUS, left, row->alarm ? STYLE_WARN : STYLE_TEXT);
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
		row = rows_signal(l, i, kind == CHANNEL_TEMPERATURE ? RANK_PART : RANK_REST, true);
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
		struct row *row = rows_signal(l, (size_t)hottest, RANK_MAIN, false);

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
	.table = table,
	.draw = charts_draw,
	.move = charts_move,
};
