/* clock-row: a clock and its limit.
 *
 * The value alone does not show whether a clock is at the hardware's maximum or held below it. The limit
 * changes with the power mode and with heat, so it is drawn as a stepped line. */
#include "ui/clock-row.h"

#include "ui/draw.h"
#include "ui/screen.h"
#include "util/intl.h"

#include <math.h>
#include <string.h>

/* A related channel, such as "gpu.freq_max" for "gpu.freq"; -1: none. */
static int sibling(const struct session *about, size_t clock, const char *suffix)
{
	char name[64];

	snprintf(name, sizeof(name), "%.47s%s", about->channels[clock].name, suffix);
	return rows_named(about, name);
}

/* Returns true if the cooling device lowers this clock: its name has the unit, as in
 * "gpu-throttle-alert". */
static bool throttles(const struct channel *ch, const struct channel *clock)
{
	return ch->kind == CHANNEL_THROTTLE && !ch->missing[0] &&
	       strstr(ch->name, clock->family == FAMILY_GPU ? "gpu" : "cpu");
}

/* The alarm of a clock whose limit (cap) is below its maximum. */
static enum alarm held(double hz, double cap, double most, bool throttled)
{
	if (!(cap < 0.99 * most))
		return ALARM_NONE;
	return throttled ? ALARM_CRIT : hz >= 0.98 * cap ? ALARM_WARN : ALARM_NONE;
}

static void read(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct channel *ch = &u->about->channels[row->channel];
	double min = rows_value(u, s, sibling(u->about, row->channel, "_min"));
	double max = rows_value(u, s, sibling(u->about, row->channel, "_max"));
	bool throttled = false;
	const char *governor;
	char key[64];
	int n = 0;

	for (size_t i = 0; i < u->about->n_channels && !throttled; i++)
		throttled = throttles(&u->about->channels[i], ch) && rows_value(u, s, i) > 0;
	row->alarm = (unsigned char)held(row->value, max, ch->hi, throttled);
	if (row->alarm)
		rows_note(row, n++, row->alarm == ALARM_CRIT ? STYLE_ALERT : STYLE_WARN, _("%.0f of %.0f, held"),
			  row->value / 1e6, ch->hi / 1e6);
	if (!isnan(min) && !isnan(max))
		rows_note(row, n++, STYLE_DIM, _("limits %.0f..%.0f MHz"), min / 1e6, max / 1e6);
	snprintf(key, sizeof(key), "%.*s.governor", (int)strcspn(ch->name, "."), ch->name);
	governor = screen_fact(u, key);
	/* Beside the name if it fits. */
	row->tag[0] = 0;
	if (text_width(row->name[0] ? row->name : ch->label) + 1 + text_width(governor) <= u->at.name.w)
		snprintf(row->tag, sizeof(row->tag), "%s", governor);
	else
		rows_note(row, n, STYLE_DIM, "%.40s", governor);
}

/* Sets the level of each column from the limit and the throttling in that column. */
static void read_levels(struct ui *u, const struct ui_scene *s, const struct channel *ch,
			const struct spark_column *caps)
{
	unsigned char one[COLUMNS_MAX], throttled[COLUMNS_MAX] = {0};

	for (size_t k = 0; k < u->about->n_channels; k++) {
		if (!throttles(&u->about->channels[k], ch))
			continue;
		events_columns(s->timeline, k, &u->frame.axis, 0, one);
		for (int i = 0; i < u->frame.axis.n; i++)
			throttled[i] |= one[i];
	}
	for (int i = 0; i < u->frame.axis.n; i++)
		if (u->frame.columns[i].any && caps[i].any)
			u->frame.level[i] = (unsigned char)held(u->frame.columns[i].max, caps[i].min, ch->hi, throttled[i]);
}

static void draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row, const struct rect *at)
{
	const struct channel *ch = &u->about->channels[row->channel];
	struct spark_look look = {.charset = u->charset,
				  .level = u->frame.level,
				  .lo = row->scale.lo,
				  .hi = row->scale.hi,
				  .limit = NAN,
				  .hue = ch->family == FAMILY_CPU ? HUE_OTHER : (enum hue)ch->family};
	int cap = sibling(u->about, row->channel, "_max"), per = spark_per_cell(u->charset);
	struct spark_column caps[COLUMNS_MAX];
	struct chart_summary sum;

	if (cap >= 0 && !u->about->channels[cap].missing[0]) {
		chart_columns(s->timeline, (size_t)cap, &u->frame.axis, u->frame.bins, caps, &sum);
		read_levels(u, s, ch, caps);
	}
	spark_draw(c, at->x, at->y, at->w, at->h, &look, u->frame.columns);
	for (int i = 0; cap >= 0 && at->h > 1 && i < at->w && i * per < u->frame.axis.n; i++) {
		double hz = caps[i * per].min;
		int y = at->y + at->h - spark_level(hz, look.lo, look.hi, at->h);

		if (caps[i * per].any && hz < 0.99 * ch->hi && canvas_is_blank(c, at->x + i, y, 1))
			canvas_put(c, at->x + i, y, STYLE_LIMIT, screen_glyph(u, 0x2508, '-'));
	}
}

struct row *clock_row(struct row_list *l, size_t channel, int weight)
{
	struct row *row = rows_signal(l, channel, weight, false);

	row->read = read;
	row->draw = draw;
	return row;
}
