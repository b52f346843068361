/* view-power: shows the power of each rail, and its distance from the limit.
 *
 * The total is a chart, the rails are a table below. The bars of their currents share one scale
 * with the limit at the same position. All energies are for the interval in the title: the
 * selection, or since the last mark before the playhead, or since the start. */
#include "ui/charts.h"
#include "ui/draw.h"
#include "ui/energy.h"
#include "ui/range-stats.h"
#include "ui/screen.h"

#include "ui/meter.h"
#include "util/intl.h"

#include <math.h>
#include <string.h>

#define TICK 0.8 /* position of the limit on a bar */

/* The interval for energy: the selection, or since the last mark before the playhead, or since
 * the start. */
struct counted {
	int64_t tick; /* when this was computed */
	int64_t from_ns, to_ns;
	bool selected;
	uint64_t mark; /* 0: not since a mark */
	struct power_parts parts;
	struct span span; /* of the total, or of their sum */
};

/* The values of a rail at the playhead. */
struct rail {
	const struct channel *power;
	double mw, mv, ma; /* NaN: not known */
	double share;      /* of its limit; NaN: no limit */
	double limit_ma;
	enum alarm alarm;
};

static const struct counted *counted(struct ui *u, const struct ui_scene *s)
{
	struct counted *k = ui_state(u, &view_power);

	if (!rows_due(u, &k->tick))
		return k;
	k->mark = 0;
	k->selected = select_get(u, &k->from_ns, &k->to_ns);
	if (!k->selected) {
		k->to_ns = u->vp.head_ns;
		k->from_ns = energy_since(u, s, &k->mark);
	}
	power_parts_find(&k->parts, u->about);
	power_span(s->timeline, &k->parts, k->from_ns, k->to_ns, &k->span);
	return k;
}

/* "mean 39.1 W over 4.8 of 9.2 s", or "mean 39.1 W" if too long; the mean covers only the time
 * with samples. */
static void mean_text(char out[64], const struct span *span, int64_t long_ns, int w)
{
	char covered[QUANTITY_TEXT], all[QUANTITY_TEXT];
	double mean = span_joule(span) / ((double)span->covered_ns / 1e9);

	out[0] = 0;
	if (!span->n || span->covered_ns <= 0)
		return;
	quantity_time(all, long_ns, NS_PER_S / 10);
	quantity_clock(covered, span->covered_ns, NS_PER_S / 10);
	if (long_ns - span->covered_ns < NS_PER_S / 10)
		snprintf(out, 64, _("mean %.1f W over %s"), mean, all);
	else /* TRANSLATORS: "over 4.8 of 9.2 s"; the rest of the time has no samples */
		snprintf(out, 64, _("mean %.1f W over %s of %s"), mean, covered, all);
	if (text_width(out) > w)
		snprintf(out, 64, _("mean %.1f W"), mean);
}

static void read_total(struct ui *u, const struct ui_scene *s, struct row *row)
{
	int64_t from = u->extent.first_ns, to = u->vp.head_ns;
	char text[64];
	struct span span;

	span_read(s->timeline, row->channel, from, to, &span);
	energy_text(text, span_joule(&span));
	if (!span.n)
		return;
	rows_note(row, 0, STYLE_DIM, _("%s since start"), text);
	mean_text(text, &span, to - from, u->at.value.x + u->at.value.w - u->at.name.x);
	rows_note(row, 1, STYLE_DIM, "%s", text);
	rows_note(row, 2, STYLE_DIM, "%s", u->about->channels[row->channel].note);
}

static const struct channel *channel_at(const struct session *about, int i)
{
	return i < 0 || about->channels[i].missing[0] ? NULL : &about->channels[i];
}

static double value_at(struct ui *u, const struct ui_scene *s, int i)
{
	return channel_at(u->about, i) ? rows_calm(u, s, i) : NAN;
}

static struct rail rail_read(struct ui *u, const struct ui_scene *s, size_t power)
{
	const struct session *about = u->about;
	const struct channel *ch = &about->channels[power];
	int volt = rows_find(about, CHANNEL_RAIL_VOLTAGE, ch->index);
	int ampere = rows_find(about, CHANNEL_RAIL_CURRENT, ch->index);
	struct rail r = {.power = ch,
			 .mw = value_at(u, s, (int)power),
			 .mv = value_at(u, s, volt),
			 .ma = value_at(u, s, ampere),
			 .limit_ma = NAN};

	if (channel_at(about, ampere)) {
		r.limit_ma = rows_limit(&about->channels[ampere]);
		r.alarm = rows_alarm(&about->channels[ampere], r.ma);
	}
	r.share = r.ma / r.limit_ma;
	return r;
}

static void joule_title(char out[32], const struct counted *k, const char *unit)
{
	if (k->selected)
		snprintf(out, 32, _("%s selected"), unit);
	else if (k->mark) /* TRANSLATORS: "J since mark 2" */
		snprintf(out, 32, _("%s since mark %llu"), unit, (unsigned long long)k->mark);
	else
		snprintf(out, 32, _("%s since start"), unit);
}

static void tell_used(struct ui *u, const struct ui_scene *s, struct row *row)
{
	const struct counted *k = counted(u, s);
	char title[32], joule[QUANTITY_TEXT];
	double j = energy_joule(s, row->channel, k->from_ns, k->to_ns);

	joule_title(title, k, quantity_unit(energy_unit(j)));
	quantity_text(joule, energy_unit(j), j, 7);
	if (!isnan(j))
		rows_note(row, 0, STYLE_DIM, "%s %s", joule, title);
}

/* Extend the scale to a two-digit number above the limit, which stays the same while the voltage
 * varies. Below a quarter of the limit the chart would be flat, so use the automatic scale. */
static void show_limit(struct row *row, double mw)
{
	double step = pow(10, floor(log10(mw)) - 1);

	row->limit = mw;
	if (!(row->summary.max >= mw / 4))
		row->top = NAN;
	else if (!(row->top >= mw && row->top < 1.1 * mw))
		row->top = step * ceil(mw / step);
}

static void read_rail(struct ui *u, const struct ui_scene *s, struct row *row)
{
	struct rail r = rail_read(u, s, row->channel);
	char limit[QUANTITY_TEXT];

	rail_name(row->name, sizeof(row->name), r.power->label, u->at.name.w - (u->at.name.w < 13 ? 0 : 2));
	row->alarm = (unsigned char)r.alarm;
	if (isnan(r.limit_ma)) {
		tell_used(u, s, row);
		return;
	}
	if (r.mv > 0)
		show_limit(row, r.limit_ma * r.mv / 1e3);
	if (isnan(r.share))
		return;
	quantity_text(limit, UNIT_MILLIAMPERE, r.limit_ma, 5);
	rows_note(row, 0, alarm_style(r.alarm, STYLE_DIM), _("%.0f %% of %s A"), fmax(0, 100 * r.share), limit);
}

/* The columns right of the bars, from the right margin; the last is dropped first. */
enum { COLUMN_JOULE, COLUMN_HEADROOM, COLUMN_LIMIT, COLUMN_AMPERE, COLUMN_VOLT, COLUMNS };

struct table {
	int bar_w;        /* bars begin where charts do */
	int end[COLUMNS]; /* 0: not shown */
	int w[COLUMNS];
	char title[COLUMNS][32];
	bool limits; /* a rail has a limit */
	enum unit joule;
};

static bool has_limits(const struct session *about)
{
	for (size_t i = 0; i < about->n_channels; i++)
		if (about->channels[i].kind == CHANNEL_RAIL_CURRENT && rows_limit(&about->channels[i]) > 0)
			return true;
	return false;
}

static struct table plan(struct ui *u, const struct counted *k, const struct rect *at)
{
	static const int least[COLUMNS] = {6, 8, 14, 16, 16}; /* minimum room for the bars */
	const char *titles[COLUMNS] = {"", _("headroom"), _("limit A"), "A", "V"};
	struct table t = {.bar_w = at->x + at->w - u->at.chart.x,
			  .limits = has_limits(u->about),
			  .joule = energy_unit(span_joule(&k->span))};
	int end = at->x + at->w;

	for (int i = 0; i < COLUMNS; i++) {
		if (i == COLUMN_JOULE)
			joule_title(t.title[i], k, quantity_unit(t.joule));
		else
			snprintf(t.title[i], sizeof(t.title[i]), "%s", titles[i]);
		t.w[i] = text_width(t.title[i]) + 2 > 8 ? text_width(t.title[i]) + 2 : 8;
		if (!t.limits && (i == COLUMN_HEADROOM || i == COLUMN_LIMIT))
			continue;
		if (t.bar_w - t.w[i] < least[i])
			break;
		t.end[i] = end;
		end -= t.w[i];
		t.bar_w -= t.w[i];
	}
	return t;
}

static void put(struct canvas *c, const struct table *t, int column, int y, enum style style,
		const char *text)
{
	if (t->end[column])
		canvas_right(c, t->end[column] - t->w[column], y, t->w[column], style, text);
}

static void put_number(struct canvas *c, const struct table *t, int column, int y, enum style style,
		       enum unit unit, double v)
{
	char text[QUANTITY_TEXT];

	quantity_text(text, unit, v, t->w[column] - 1);
	put(c, t, column, y, isnan(v) ? STYLE_DIM : style, text);
}

static int tick_x(const struct ui *u, const struct table *t)
{
	return u->at.chart.x + (int)(TICK * t->bar_w);
}

static void draw_title(struct ui *u, struct canvas *c, const struct table *t, const struct rect *at)
{
	int x = u->at.chart.x, tick = tick_x(u, t);

	canvas_text(c, at->x, at->y, x - 1 - at->x, STYLE_DIM, _("rails"));
	for (int i = 0; i < COLUMNS; i++)
		put(c, t, i, at->y, STYLE_DIM, t->title[i]);
	if (!t->limits) {
		canvas_text(c, x, at->y, t->bar_w, STYLE_DIM, _("share of the total"));
		return;
	}
	canvas_put(c, tick, at->y, STYLE_LIMIT, screen_glyph(u, 0x25BE, 'v'));
	canvas_right(c, x, at->y, tick - 1 - x, STYLE_DIM, _("limit"));
	if (t->bar_w >= 30)
		canvas_text(c, x, at->y, t->bar_w, STYLE_DIM, _("current"));
}

static void draw_total(struct ui *u, struct canvas *c, const struct table *t, int y, double mw)
{
	const struct counted *k = ui_state(u, &view_power);
	char text[64];

	canvas_text(c, u->at.name.x, y, u->at.name.w, STYLE_POWER, k->parts.n > 1 ? _("sum") : _("total"));
	row_number(u, c, ALARM_NONE, mw, UNIT_MILLIWATT, STYLE_STRONG, y);
	mean_text(text, &k->span, k->to_ns - k->from_ns, t->end[0] - t->w[0] - u->at.chart.x);
	if (text_width(text) <= t->end[0] - t->w[0] - u->at.chart.x)
		canvas_text(c, u->at.chart.x, y, text_width(text), STYLE_DIM, text);
	put_number(c, t, COLUMN_JOULE, y, STYLE_STRONG, t->joule, span_joule(&k->span));
}

/* Without a limit, the bar is the share of the total, in grey. */
static void draw_bar(struct ui *u, struct canvas *c, const struct table *t, int y, const struct rail *r,
		     double total)
{
	int x = u->at.chart.x, tick = tick_x(u, t);

	if (isnan(r->limit_ma)) {
		meter_draw(c, u->charset, x, y, t->bar_w - 1, r->mw / total,
			   t->limits ? HUE_OTHER : HUE_POWER, ALARM_NONE);
		return;
	}
	meter_draw(c, u->charset, x, y, t->bar_w - 1, TICK * r->share, HUE_POWER, r->alarm);
	canvas_put(c, tick, y, STYLE_LIMIT, screen_glyph(u, 0x2502, '|'));
}

static void draw_rail(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct table *t, int y,
		      size_t power, int level, double total)
{
	const struct counted *k = ui_state(u, &view_power);
	struct rail r = rail_read(u, s, power);
	int indent = u->at.name.w < 13 ? 0 : 2 * level;
	char name[48], text[QUANTITY_TEXT];
	enum style style = alarm_style(r.alarm, STYLE_TEXT);

	rail_name(name, sizeof(name), r.power->label, u->at.name.w - indent);
	screen_cut(u, c, u->at.name.x + indent, y, u->at.name.w - indent, STYLE_TEXT, name);
	row_number(u, c, r.alarm, r.mw, UNIT_MILLIWATT, STYLE_STRONG, y);
	if (r.power->missing[0]) {
		screen_cut(u, c, u->at.chart.x, y, t->bar_w, STYLE_DIM, r.power->missing);
		return;
	}
	draw_bar(u, c, t, y, &r, total);
	put_number(c, t, COLUMN_VOLT, y, STYLE_DIM, UNIT_MILLIVOLT, r.mv);
	put_number(c, t, COLUMN_AMPERE, y, style, UNIT_MILLIAMPERE, r.ma);
	put_number(c, t, COLUMN_LIMIT, y, STYLE_DIM, UNIT_MILLIAMPERE, r.limit_ma);
	if (!isnan(r.share))
		snprintf(text, sizeof(text), "%.0f %%", 100 * (1 - fmax(0, r.share)));
	put(c, t, COLUMN_HEADROOM, y, isnan(r.share) ? STYLE_DIM : style, isnan(r.share) ? "--" : text);
	put_number(c, t, COLUMN_JOULE, y, STYLE_STRONG, t->joule,
		   energy_joule(s, power, k->from_ns, k->to_ns));
}

/* A rail that is not in the formula of the total is a part of another rail. */
static int level_of(const struct session *about, int total, size_t power)
{
	const char *formula = total < 0 ? "" : about->channels[total].source;

	return total < 0 ? 0 : strchr(formula, '+') && !strstr(formula, about->channels[power].name) ? 2 : 1;
}

/* There is a sum instead of a total. */
static bool sums_up(const struct power_parts *p)
{
	return p->n > 1 && p->add_up;
}

static void draw_rails(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row,
		       const struct rect *at)
{
	const struct session *about = u->about;
	int total = rows_find(about, CHANNEL_POWER_TOTAL, -1), y = at->y + 1;
	struct table t = plan(u, counted(u, s), at);
	const struct power_parts *p = &counted(u, s)->parts;
	bool sum = sums_up(p);
	double mw = sum ? 0 : rows_calm(u, s, total);

	for (size_t i = 0; i < p->n && sum; i++)
		mw += rows_calm(u, s, (int64_t)p->channel[i]);
	draw_title(u, c, &t, at);
	if ((total >= 0 || sum) && y < at->y + at->h)
		draw_total(u, c, &t, y++, mw);
	for (size_t i = 0; i < about->n_channels && y < at->y + at->h; i++)
		if (about->channels[i].kind == CHANNEL_RAIL_POWER)
			draw_rail(u, s, c, &t, y++, i, level_of(about, total, i), mw);
}

static void build(struct row_list *l)
{
	const struct session *about = l->about;
	int total = rows_find(about, CHANNEL_POWER_TOTAL, -1), rails = 0;
	struct power_parts parts;

	((struct counted *)ui_state(l->ui, &view_power))->tick = INT64_MIN;
	for (size_t i = 0; i < about->n_channels; i++)
		rails += about->channels[i].kind == CHANNEL_RAIL_POWER;
	if (total < 0 && !rails) {
		rows_text(l, _("Power"),
			  _("nothing here measures it: no rail of an ina3221 or ina238, no other power "
			    "sensor"));
		return;
	}
	if (total >= 0)
		rows_signal(l, (size_t)total, 7, false)->read = read_total;
	power_parts_find(&parts, about);
	if (rails && (total >= 0 || sums_up(&parts) || has_limits(about)))
		rows_picture(l, draw_rails, 1 + (total >= 0 || sums_up(&parts)) + rails, WEIGHT_REST);
	for (size_t i = 0; i < about->n_channels; i++)
		if (about->channels[i].kind == CHANNEL_RAIL_POWER)
			rows_signal(l, i, total < 0 ? WEIGHT_MAIN : WEIGHT_PART, total >= 0)->read =
				read_rail;
}

const struct view view_power = {
	.name = "power",
	.label = N_("Power"),
	.key = '5',
	.state = sizeof(struct counted),
	.build = build,
};
