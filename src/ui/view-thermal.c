/* view-thermal: shows the headroom of each zone, the fans, and the throttling over time.
 *
 * A zone is a line with a bar that ends at its shutdown limit and has a tick at its throttle
 * limit; all bars share one scale. Zones stay in board order; the one with the least headroom is
 * marked. */
#include "ui/charts.h"
#include "ui/draw.h"
#include "ui/events.h"
#include "ui/meter.h"
#include "ui/screen.h"

#include "ui/meter.h"
#include "util/intl.h"

#include <math.h>
#include <string.h>

#define COOL   20.0 /* start of all bars, in degrees */
#define COLUMN 10
#define ZONES_MAX 64

static bool is_zone(const struct channel *ch)
{
	return ch->kind == CHANNEL_TEMPERATURE && !ch->missing[0];
}

/* The readable zone with the least headroom now; -1: none has a limit. */
static int nearest(struct ui *u, const struct ui_scene *s, double *headroom)
{
	int at = -1;

	*headroom = NAN;
	for (size_t i = 0; i < u->about->n_channels; i++) {
		const struct channel *ch = &u->about->channels[i];
		double left = is_zone(ch) ? rows_limit(ch) - rows_value(u, s, i) : NAN;

		if (isnan(left) || left >= *headroom)
			continue;
		*headroom = left;
		at = (int)i;
	}
	return at;
}

static void read_hottest(struct ui *u, const struct ui_scene *s, struct row *row)
{
	double left;
	int at = nearest(u, s, &left);
	const struct channel *ch = at < 0 ? NULL : &u->about->channels[at];

	if (!ch)
		return;
	rows_note(row, 0, alarm_style(row->alarm, STYLE_TEXT),
		  left >= 0 ? _("%s headroom %.1f") : _("%s %.1f over its limit"), ch->label, fabs(left));
	if (ch->crit > 0)
		rows_note(row, 1, STYLE_DIM, _("shutdown at %.1f"), ch->crit);
}

/* The end of all bars: the highest limit of any zone. */
static double common_top(const struct session *about)
{
	double top = NAN;

	for (size_t i = 0; i < about->n_channels; i++)
		if (is_zone(&about->channels[i]))
			top = fmax(top, fmax(about->channels[i].crit > 0 ? about->channels[i].crit : NAN,
					     rows_limit(&about->channels[i])));
	return isnan(top) ? 100 : top;
}

/* The numbers right of the bars, most important first. */
enum { HEADROOM, THROTTLE, SHUTDOWN, HIGHEST, NUMBERS };

static int numbers(const struct rect *at)
{
	return at->w >= 76 ? NUMBERS : at->w >= 50 ? SHUTDOWN : at->w >= 32 ? THROTTLE : 0;
}

/* The order from left to right is throttle, shutdown, headroom, highest. */
static int number_x(const struct rect *at, int n, int which)
{
	static const int places[] = {[THROTTLE] = 0, [SHUTDOWN] = 1, [HEADROOM] = 2, [HIGHEST] = 3};
	int right = n == NUMBERS ? NUMBERS - places[which] : which == THROTTLE ? 2 : 1;

	return at->x + at->w - right * COLUMN;
}

static void draw_titles(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row,
			const struct rect *at)
{
	const char *const titles[] = {_("headroom"), _("throttle"), _("shutdown"), _("highest")};
	int n = numbers(at), bar = u->at.chart.x;

	canvas_text(c, at->x, at->y, bar - at->x, STYLE_HEAT, row->name);
	for (int i = 0; i < n; i++)
		canvas_right(c, number_x(at, n, i), at->y, COLUMN - 1, STYLE_DIM, titles[i]);
	if (n)
		canvas_textf(c, bar, at->y, at->x + at->w - n * COLUMN - bar, STYLE_DIM, "%.0f .. %.1f %s", COOL,
			     common_top(u->about), rows_unit(u, UNIT_CELSIUS));
}

static void draw_number(struct canvas *c, const struct rect *at, int which, enum style style, double v,
			enum unit unit)
{
	int n = numbers(at);
	char text[QUANTITY_TEXT];

	if (which >= n)
		return;
	quantity_text(text, unit, v, 6);
	canvas_right(c, number_x(at, n, which), at->y, COLUMN - 1, style, text);
}

/* Draw the bar: bright up to the value, dim up to the maximum in view, a tick at the throttle
 * limit, blank beyond the shutdown limit. */
static void draw_bar(struct ui *u, struct canvas *c, const struct rect *at, const struct channel *ch, double v,
		     double highest)
{
	double top = common_top(u->about), limit = rows_limit(ch);
	enum alarm alarm = rows_alarm(ch, v);
	enum hue hue = alarm == ALARM_CRIT ? HUE_ALERT : alarm ? HUE_WARN : HUE_HEAT;
	bool ascii = u->charset == CHARSET_ASCII;
	double last = ch->crit > 0 ? ch->crit : top;

	for (int i = 0; i < at->w; i++) {
		double here = COOL + (top - COOL) * i / at->w, next = COOL + (top - COOL) * (i + 1) / at->w;
		double mid = (here + next) / 2;
		int shade = spark_shade(i, at->w);

		if (mid > last)
			break;
		if (limit >= here && limit < next)
			canvas_put(c, at->x + i, at->y, STYLE_TEXT, screen_glyph(u, 0x2502, '|'));
		else if (mid <= v)
			canvas_put(c, at->x + i, at->y, STYLE_MEAN(hue, shade), ascii ? L'#' : 0x25A0);
		else if (mid <= highest)
			canvas_put(c, at->x + i, at->y, STYLE_BAND(HUE_HEAT, shade), ascii ? L':' : 0x25A0);
		else
			canvas_put(c, at->x + i, at->y, STYLE_TRACK, ascii ? L'.' : 0x25A0);
	}
}

static void zone_line(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *at,
		      const struct channel *ch, double v, double highest)
{
	int x = u->at.chart.x, n = numbers(at);
	struct rect bar = {x, at->y, at->x + at->w - n * COLUMN - x - 1, 1};
	enum alarm alarm = rows_alarm(ch, v);
	double left;
	int first = nearest(u, s, &left);
	bool here = first >= 0 && ch == &u->about->channels[first];

	row_number(u, c, ALARM_NONE, v, UNIT_CELSIUS, alarm_style(alarm, STYLE_STRONG), at->y);
	if (isnan(v)) {
		screen_cut(u, c, x, at->y, at->x + at->w - x, STYLE_DIM,
			   _("no value: its unit is probably powered down"));
		return;
	}
	draw_bar(u, c, &bar, ch, v, highest);
	draw_number(c, at, HIGHEST, STYLE_DIM, highest, UNIT_CELSIUS);
	if (isnan(rows_limit(ch))) {
		if (n)
			screen_cut(u, c, bar.x + bar.w + 2, at->y, (n == NUMBERS ? 3 : n) * COLUMN - 2, STYLE_DIM,
				   ch->note[0] && strcmp(ch->note, "demo") != 0 ? ch->note : _("no limit"));
		return;
	}
	draw_number(c, at, THROTTLE, STYLE_DIM, ch->warn > 0 ? ch->warn : NAN, UNIT_CELSIUS);
	draw_number(c, at, SHUTDOWN, STYLE_DIM, ch->crit > 0 ? ch->crit : NAN, UNIT_CELSIUS);
	draw_number(c, at, HEADROOM, alarm_style(alarm, here ? STYLE_STRONG : STYLE_TEXT), rows_limit(ch) - v,
		    UNIT_CELSIUS);
	if (here && n)
		canvas_put(c, number_x(at, n, HEADROOM) + COLUMN - 1, at->y,
			   alarm_style(alarm, STYLE_STRONG), screen_glyph(u, 0x25C2, '<'));
}

static void draw_name(struct ui *u, struct canvas *c, const struct row *row, int y)
{
	char name[sizeof(row->name)];

	events_name(name, &u->about->channels[row->channel]);
	screen_cut(u, c, u->at.name.x + 1, y, u->at.name.w - 1, STYLE_TEXT, name);
}

/* Prepare the line of the second trace below; false: none. */
static bool second_line(struct ui *u, struct canvas *c, const struct row *row, struct rect *at)
{
	if (!row->second.any || at->h < 2)
		return false;
	at->y++;
	canvas_put(c, u->at.name.x + 2, at->y, STYLE_DIM, L'B');
	return true;
}

static void draw_zone(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row,
		      const struct rect *at)
{
	const struct channel *ch = &u->about->channels[row->channel];
	struct rect line = *at;

	rows_read(u, s, row);
	draw_name(u, c, row, line.y);
	zone_line(u, s, c, &line, ch, row->value, row->summary.max);
	if (second_line(u, c, row, &line))
		zone_line(u, s, c, &line, &u->second.about->channels[row->second.channel], row->second.value,
			  row->second.summary.max);
}

static void fan_line(struct ui *u, struct canvas *c, const struct rect *at, const struct channel *ch, double v,
		     double highest, double full)
{
	const char *profile = screen_fact(u, "fan.profile");
	int x = u->at.chart.x, w = at->x + at->w - numbers(at) * COLUMN - x - 1;

	row_number(u, c, ALARM_NONE, v, ch->unit, STYLE_STRONG, at->y);
	meter_draw(c, u->charset, x, at->y, w, v / (ch->hi > 0 ? ch->hi : full), HUE_OTHER, ALARM_NONE);
	if (*profile && ch->unit != UNIT_PERCENT && numbers(at) == NUMBERS)
		screen_cut(u, c, x + w + 2, at->y, 3 * COLUMN - 2, STYLE_DIM, profile);
	draw_number(c, at, HIGHEST, STYLE_DIM, highest, ch->unit);
}

static void draw_fan(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row,
		     const struct rect *at)
{
	struct rect line = *at;

	rows_read(u, s, row);
	draw_name(u, c, row, line.y);
	fan_line(u, c, &line, &u->about->channels[row->channel], row->value, row->summary.max,
		 row->scale.hi);
	if (second_line(u, c, row, &line))
		fan_line(u, c, &line, &u->second.about->channels[row->second.channel], row->second.value,
			 row->second.summary.max, row->scale.hi);
}

/* Draw when a state was active, and for how long in view; for a counter, when and by how much it
 * rose. */
static void strip_line(struct ui *u, struct canvas *c, int y, struct timeline *t, size_t channel, int64_t shift_ns,
		       const struct spark_column *cols, double v)
{
	const struct channel *ch = &t->ops->session(t)->channels[channel];
	int64_t column_ns = chart_column_ns(&u->frame.axis), from = u->frame.axis.first * column_ns - shift_ns;
	bool count = ch->kind == CHANNEL_THROTTLE_COUNT, now = !count && v > 0, any = false, some;
	enum style on = ch->kind == CHANNEL_NOTICE ? STYLE_TEXT : STYLE_MEAN(HUE_ALERT, SHADES - 1);
	unsigned char active[COLUMNS_MAX];
	char text[QUANTITY_TEXT] = "--";
	struct span_stats in;

	t->ops->stat(t, channel, from, from + u->frame.axis.n * column_ns, &in);
	events_columns(t, channel, &u->frame.axis, shift_ns, active);
	for (int i = 0; i < u->frame.axis.n; i++) {
		any |= cols[i].any;
		if (active[i])
			canvas_put(c, u->at.chart.x + i / u->vp.per_cell, y, on,
				   screen_glyph(u, 0x25A0, ch->kind == CHANNEL_NOTICE ? 'n' : 'T'));
		else if (cols[i].any && (i % u->vp.per_cell == 0 || !active[i - 1]))
			canvas_put(c, u->at.chart.x + i / u->vp.per_cell, y, STYLE_TRACK, screen_glyph(u, 0x2500, '-'));
	}
	some = count ? in.rise > 0 : in.above_ns > 0;
	if (count && some)
		snprintf(text, sizeof(text), "+%.0f", in.rise);
	else if (some || now)
		quantity_lasted(text, (int64_t)in.above_ns);
	else if (any)
		snprintf(text, sizeof(text), "%s", _("none"));
	canvas_right(c, u->at.value.x, y, u->at.value.w - 2,
		     now && ch->kind == CHANNEL_THROTTLE ? STYLE_ALERT : some ? STYLE_STRONG : STYLE_DIM, text);
}

static void draw_strip(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row,
		       const struct rect *at)
{
	struct rect line = *at;

	rows_read(u, s, row);
	draw_name(u, c, row, line.y);
	strip_line(u, c, line.y, s->timeline, row->channel, 0, u->frame.columns, row->value);
	axis_lines(u, c, line.y, 1);
	if (!second_line(u, c, row, &line))
		return;
	strip_line(u, c, line.y, u->second.timeline, row->second.channel, u->second.shift_ns, u->second.columns,
		   row->second.value);
	axis_second_lines(u, c, line.y, 1);
}

/* Read the columns of a zone, and their alarms. */
static struct chart_summary read_zone(struct ui *u, const struct ui_scene *s, size_t channel)
{
	struct chart_summary sum;

	chart_columns(s->timeline, channel, &u->frame.axis, u->frame.bins, u->frame.columns, &sum);
	for (int i = 0; i < u->frame.axis.n; i++)
		u->frame.level[i] = u->frame.columns[i].any ? (unsigned char)rows_alarm(&u->about->channels[channel],
									    u->frame.columns[i].max)
						: ALARM_NONE;
	return sum;
}

struct past {
	const struct row *row;
	struct chart_summary sum;
	double left; /* the least headroom in view */
};

/* Find the zones with values in view, in their order; at most `most`, those with the least headroom. */
static int find_past(struct ui *u, const struct ui_scene *s, struct past *past, int most)
{
	int n = 0;

	for (int i = 0; i < u->n_rows && n < ZONES_MAX; i++) {
		double limit = rows_limit(&u->about->channels[u->rows[i].channel]);

		if (u->rows[i].line != draw_zone)
			continue;
		past[n].row = &u->rows[i];
		past[n].sum = read_zone(u, s, u->rows[i].channel);
		past[n].left = isnan(limit) ? INFINITY : limit - past[n].sum.max;
		n += !isnan(past[n].sum.min);
	}
	while (n > most && n > 0) {
		int least = 0;

		for (int k = 1; k < n; k++)
			if (past[k].left >= past[least].left)
				least = k;
		memmove(&past[least], &past[least + 1], (size_t)(--n - least) * sizeof(*past));
	}
	return n;
}

/* Draw the zones over time on one scale; values near or over a limit have the colour of the alarm. */
static void draw_history(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row,
			 const struct rect *at)
{
	struct spark_look look = {.charset = u->charset, .level = u->frame.level, .hue = HUE_HEAT, .lo = NAN,
				  .hi = common_top(u->about), .limit = NAN};
	struct past past[ZONES_MAX];
	int n = find_past(u, s, past, at->h - 1), y = at->y + 1;
	char text[64];

	canvas_text(c, at->x, at->y, u->at.chart.x - 1 - at->x, STYLE_HEAT, row->name);
	axis_lines(u, c, at->y, 1);
	for (int i = 0; i < n; i++)
		look.lo = fmin(look.lo, floor(past[i].sum.min / 10) * 10);
	for (int i = 0; i < n; i++) {
		int h = (at->h - 1) / n + (i < (at->h - 1) % n);

		read_zone(u, s, past[i].row->channel);
		draw_name(u, c, past[i].row, y);
		snprintf(text, sizeof(text), "%.0f..%.0f", past[i].sum.min, past[i].sum.max);
		canvas_right(c, u->at.value.x, y, u->at.value.w - 2, STYLE_DIM, text);
		spark_draw(c, u->at.chart.x, y, u->at.chart.w, h, &look, u->frame.columns);
		axis_lines(u, c, y, h);
		y += h;
	}
}

static bool has_limit(const struct channel *ch)
{
	return !isnan(rows_limit(ch));
}

/* Add zones with a limit first, then those without, then those that cannot be read. */
static int add_zones(struct row_list *l)
{
	bool headed = false;
	int n = 0;

	for (int pass = 0; pass < 3; pass++)
		for (size_t i = 0; i < l->about->n_channels; i++) {
			const struct channel *ch = &l->about->channels[i];
			struct row *row;

			if (ch->kind != CHANNEL_TEMPERATURE ||
			    pass != (ch->missing[0] ? 2 : has_limit(ch) ? 0 : 1))
				continue;
			if (!headed)
				snprintf(rows_picture(l, draw_titles, 1, 0)->name, sizeof(l->rows->name), "%s", _("Zones"));
			headed = true;
			row = rows_signal(l, i, WEIGHT_REST, true);
			row->line = ch->missing[0] ? NULL : draw_zone;
			n += !ch->missing[0];
		}
	return n;
}

static void add_kind(struct row_list *l, enum channel_kind kind, const char *heading, row_drawer *draw, bool *headed)
{
	for (size_t i = 0; i < l->about->n_channels; i++) {
		struct row *row;

		if (l->about->channels[i].kind != kind)
			continue;
		if (!*headed)
			rows_heading(l, heading, STYLE_HEAT);
		*headed = true;
		row = rows_signal(l, i, WEIGHT_REST, true);
		row->line = l->about->channels[i].missing[0] ? NULL : draw;
	}
}

static void build(struct row_list *l)
{
	int hottest = rows_find(l->about, CHANNEL_HOTTEST, -1), zones;
	bool fans = false, throttles = false, notices = false;

	if (hottest >= 0) {
		struct row *row = rows_signal(l, (size_t)hottest, WEIGHT_MAIN, false);

		row->read = read_hottest;
		row->top = ceil(common_top(l->about) / 10) * 10;
		row->least = 4;
	}
	zones = add_zones(l);
	if (rows_find(l->about, CHANNEL_TEMPERATURE, -1) < 0)
		rows_text(l, _("Heat"), _("no temperature is shown here: no thermal zone, no hwmon sensor"));
	add_kind(l, CHANNEL_FAN, _("Cooling"), draw_fan, &fans);
	add_kind(l, CHANNEL_THROTTLE, _("Throttled in view"), draw_strip, &throttles);
	add_kind(l, CHANNEL_THROTTLE_COUNT, _("Throttled in view"), draw_strip, &throttles);
	add_kind(l, CHANNEL_NOTICE, _("Notices"), draw_strip, &notices);
	if (zones > 1)
		snprintf(rows_picture(l, draw_history, 1 + zones, WEIGHT_MAIN)->name, sizeof(l->rows->name), "%s",
			 _("Zones in view"));
}

const struct view view_thermal = {
	.name = "thermal",
	.label = N_("Thermal"),
	.key = '6',
	.build = build,
};
