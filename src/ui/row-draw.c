/* row-draw: draws one row of a view: name, value, statistics, chart.
 *
 * All rows of a view share their columns, and the widths depend only on the window, so that
 * numbers change but never move. */
#include "ui/charts.h"
#include "ui/draw.h"
#include "ui/screen.h"

#include "ui/meter.h"

#include "util/intl.h"

#include <math.h>
#include <string.h>

#define TEXT_LINES 6
#define STATS_W    15

/* Do not indent long names of parts if there is little room. */
static int indent_of(const struct ui *u, const struct row *row)
{
	return !row->part || u->at.name.w < 13 ? 0 : u->at.name.w < 15 ? 1 : 2;
}

static void draw_name(struct ui *u, struct canvas *c, const struct row *row, const struct channel *ch, int y)
{
	int x = u->at.name.x, w = u->at.name.w, indent = indent_of(u, row);
	enum style style = row->weight == WEIGHT_REST  ? STYLE_DIM
			   : row->weight < WEIGHT_PART + 1 ? STYLE_TEXT
						       : (enum style)(STYLE_GPU + (int)ch->family);
	char name[sizeof(ch->label)];

	x += indent;
	w -= indent;
	if (row->name[0])
		snprintf(name, sizeof(name), "%.31s", row->name);
	else
		events_name(name, ch);
	x += screen_cut(u, c, x, y, w, style, name) + 1;
	w = u->at.name.x + u->at.name.w - x;
	if (row->tag[0] && text_width(row->tag) <= w)
		canvas_text(c, x, y, w, STYLE_DIM, row->tag);
}

/* Numbers end in the same column and units begin in the same column in all rows. */
void row_number(struct ui *u, struct canvas *c, enum alarm alarm, double v, enum unit unit, enum style style,
		int y)
{
	int unit_w = u->at.value.w >= 9 ? 3 : 1, w = u->at.value.w - unit_w - 1, x = u->at.value.x + w + 1;
	char text[QUANTITY_TEXT];

	style = isnan(v) ? STYLE_DIM : alarm_style(alarm, style);
	quantity_text(text, unit, v, w);
	canvas_right(c, u->at.value.x, y, w, style, text);
	if (isnan(v))
		return;
	x += canvas_text(c, x, y, unit_w > 1 ? unit_w + 1 : 1, STYLE_DIM, unit_w > 1 ? rows_unit(u, unit) : quantity_unit(unit));
	/* Mark a critical value without relying on colour. */
	if (alarm == ALARM_CRIT)
		canvas_put(c, x + (unit_w > 1 ? 1 : 0), y, STYLE_ALERT, L'!');
}

static void draw_value(struct ui *u, struct canvas *c, const struct row *row, const struct channel *ch, int y)
{
	row_number(u, c, row->alarm, ch->missing[0] ? NAN : row->value, quantity_of(ch, row->value),
		   row->weight == WEIGHT_REST ? STYLE_TEXT : STYLE_STRONG, y);
}

/* The column of a text: at the values, or after its own value. */
static int text_x(const struct ui *u, const struct row *row)
{
	return u->at.value.x + (row->unit_shown ? u->at.value.w + (u->at.stats.w ? 2 : 1) : 0);
}

/* "0..100  mean 59", all with the same decimals. */
static void stats_text(char out[64], const struct row *row, const struct channel *ch)
{
	const double v[] = {row->summary.min, row->summary.max, row->summary.mean};
	char text[3][QUANTITY_TEXT], mean[48];

	out[0] = 0;
	if (isnan(row->summary.mean))
		return;
	quantity_alike(text, quantity_of(ch, row->value), v, 3, ch->unit == UNIT_PERCENT ? 3 : 4);
	/* TRANSLATORS: follows "min..max"; the word has at most 4 columns. */
	snprintf(mean, sizeof(mean), _("mean %s"), text[2]);
	snprintf(out, 64, "%.9s..%.9s  %.40s", text[0], text[1], mean);
}

/* The same in columns, under one title for all rows. */
static void draw_stats(struct ui *u, struct canvas *c, const struct row *row, const struct channel *ch, int y)
{
	const double v[] = {row->summary.min, row->summary.max, row->summary.mean};
	char text[3][QUANTITY_TEXT], words[64];
	int x = u->at.stats.x;

	if (!u->at.stats.w || isnan(row->summary.mean))
		return;
	if (u->at.solo) {
		stats_text(words, row, ch);
		canvas_text(c, x, y, u->at.stats.w, STYLE_DIM, words);
		return;
	}
	quantity_alike(text, quantity_of(ch, row->value), v, 3, ch->unit == UNIT_PERCENT ? 3 : 4);
	canvas_right(c, x, y, 4, STYLE_DIM, text[0]);
	canvas_text(c, x + 4, y, 2, STYLE_DIM, "..");
	canvas_text(c, x + 6, y, 4, STYLE_DIM, text[1]);
	canvas_right(c, x + STATS_W - 4, y, 4, STYLE_DIM, text[2]);
}

/* Draw the ends of the scale; returns the right end of the room left on the last line. */
static int draw_scale(struct ui *u, struct canvas *c, const struct row *row, const struct channel *ch, int y,
		      int h)
{
	enum unit unit = quantity_of(ch, row->value);
	char text[QUANTITY_TEXT];

	if (!u->at.scale.w || h < 2)
		return u->at.chart.x - 1;
	quantity_round(text, unit, row->scale.hi);
	/* It would touch a unit of three columns. */
	if (strchr(text, '.') && text_width(text) > 3 && text_width(quantity_unit(unit)) == 3)
		quantity_text(text, unit, row->scale.hi, 3);
	canvas_right(c, u->at.scale.x, y, u->at.scale.w, STYLE_DIM, text);
	quantity_round(text, unit, row->scale.lo);
	canvas_right(c, u->at.scale.x, y + h - 1, u->at.scale.w, STYLE_DIM, text);
	return u->at.scale.x + u->at.scale.w - text_width(text) - 1;
}

/* Draw a bar and statistics below the name, and the notes at the bottom. */
static void draw_gutter(struct ui *u, struct canvas *c, const struct row *row, const struct channel *ch, int y,
			int h)
{
	int x = u->at.name.x + indent_of(u, row), right = draw_scale(u, c, row, ch, y, h);
	int w = u->at.value.x + u->at.value.w - 4 - x, first = 1, n = 0, room;
	char text[64];

	if (!u->at.scale.w)
		return;
	if (h >= 3)
		meter_draw(c, u->charset, x, y + first++, w,
			   (row->value - row->scale.lo) / (row->scale.hi - row->scale.lo), (enum hue)ch->family,
			   (enum alarm)row->alarm);
	room = h - first - (h >= 4); /* one line for the statistics */
	while (n < NOTES_MAX && row->notes[n].text[0] && n < room)
		n++;
	for (int i = 0; i < n; i++) {
		int line = h - n + i;

		screen_cut(u, c, x, y + line, (line == h - 1 ? right : u->at.chart.x - 1) - x,
			   (enum style)row->notes[i].style, row->notes[i].text);
	}
	stats_text(text, row, ch);
	if (h - n > first && text_width(text) <= right - x)
		canvas_text(c, x, y + first, right - x, STYLE_DIM, text);
}

static void draw_heading(struct ui *u, struct canvas *c, const struct row *row, int y)
{
	enum style hue = row->hue;
	int x = u->at.name.x;

	/* Grey does not look like a heading. */
	if (hue == STYLE_OTHER)
		hue = STYLE_TITLE;
	canvas_text(c, x, y, u->at.chart.x - 1 - x, hue, row->name);
	axis_lines(u, c, y, 1);
}

int row_text_lines(const struct ui *u, const struct row *row, int screen_w)
{
	int lines = text_lines(row->text, screen_w - u->at.name.x - text_x(u, row));

	return lines < 1 ? 1 : lines > TEXT_LINES ? TEXT_LINES : lines;
}

/* Draw a name, an optional number, and a text. */
static void draw_text(struct ui *u, struct canvas *c, const struct row *row, int y, int h)
{
	int x = u->at.name.x + indent_of(u, row), right = c->w - u->at.name.x;

	axis_lines(u, c, y, h);
	screen_cut(u, c, x, y, u->at.value.x - 1 - x, row->part ? STYLE_DIM : STYLE_TEXT, row->name);
	if (row->unit_shown)
		row_number(u, c, row->alarm, row->value, row->unit, STYLE_STRONG, y);
	x = text_x(u, row);
	text_draw(u, c, x, y, right - x, h, (enum style)row->text_style, row->text);
}

/* Draw the reason for a missing value in place of the chart, cut to fit. The details of the row
 * show all of it. */
static void draw_missing(struct ui *u, struct canvas *c, const struct row *row, const struct channel *ch,
			 int y)
{
	int x = u->at.stats.w ? u->at.stats.x : u->at.chart.x;

	draw_value(u, c, row, ch, y);
	screen_reason(u, c, x, y, c->w - u->at.name.x - x, STYLE_DIM, ch->missing);
}

/* Mark the selected row by a character as well as by colour. */
static void draw_chosen(struct ui *u, struct canvas *c, int y)
{
	for (int x = u->at.name.x; x < u->at.name.x + u->at.name.w; x++)
		c->cells[(size_t)y * (size_t)c->w + (size_t)x].style = STYLE_SELECTED;
	if (u->at.name.x > 0)
		canvas_put(c, u->at.name.x - 1, y, STYLE_STRONG, L'>');
}

/* Use darker shades of the same hues, except for values over a limit. */
static void quieten(struct canvas *c, const struct rect *at)
{
	for (int y = at->y; y < at->y + at->h && y < c->h; y++)
		for (int x = at->x; x < at->x + at->w; x++) {
			struct cell *p = &c->cells[(size_t)y * (size_t)c->w + (size_t)x];
			int shade = p->style - STYLE_SHADES;

			if (shade >= 0 && shade < 2 * SHADES * HUE_WARN)
				p->style = (unsigned char)(p->style - (shade % SHADES + 1) / 2);
		}
}

/* Draw the same signal of the second trace, B: the difference of the means, value, statistics
 * and chart. */
static void draw_second(struct ui *u, struct canvas *c, const struct row *row, int y, int h)
{
	const struct channel *ch = &u->about->channels[row->channel];
	const struct channel *o = &u->second.about->channels[row->second.channel];
	struct spark_look look = {.charset = u->charset,
				  .level = u->second.level,
				  .lo = row->scale.lo,
				  .hi = row->scale.hi,
				  .limit = NAN,
				  .hue = (enum hue)ch->family};
	int indent = indent_of(u, row) + (u->at.name.w >= 9 ? 2 : 0), w = u->at.name.w - indent - 2;
	struct row b = *row; /* B is dimmer than A */
	double d = 100 * (row->second.summary.mean - row->summary.mean) / fabs(row->summary.mean);
	char text[QUANTITY_TEXT], stats[64];

	canvas_put(c, u->at.name.x + indent, y, STYLE_DIM, L'B');
	b.value = row->second.value;
	b.summary = row->second.summary;
	b.alarm = row->second.alarm;
	b.weight = WEIGHT_REST;
	if (o->missing[0]) {
		axis_second_lines(u, c, y, h);
		draw_missing(u, c, &b, o, y);
		return;
	}
	/* TRANSLATORS: the difference of the means of two traces; 12 columns with the number. */
	snprintf(text, sizeof(text), _("mean %+.*f %%"), fabs(d) < 9.95 ? 1 : 0, d);
	if (text_width(text) > w)
		snprintf(text, sizeof(text), "%+.*f %%", fabs(d) < 9.95 ? 1 : 0, d);
	if (fabs(d) < 9999.5 && text_width(text) <= w)
		canvas_right(c, u->at.name.x + indent + 2, y, w, STYLE_TEXT, text);
	draw_value(u, c, &b, ch, y);
	draw_stats(u, c, &b, ch, y);
	if (h > 1 && u->at.scale.w) {
		stats_text(stats, &b, ch);
		canvas_text(c, u->at.name.x + indent, y + 1, u->at.chart.x - u->at.name.x - indent - 1, STYLE_DIM, stats);
	}
	/* On the whole screen, the numbers are above the chart instead of beside it. */
	if (u->at.solo && h > 1)
		y++, h--;
	spark_draw(c, u->at.chart.x, y, u->at.chart.w, h, &look, u->second.columns);
	quieten(c, &(struct rect) {u->at.chart.x, y, u->at.chart.w, h});
	axis_second_lines(u, c, y, h);
}

/* Missing in this trace but not in the second: scale by the second alone. */
static void read_missing(struct ui *u, struct row *row)
{
	double min = NAN, max = NAN;

	second_read(u, row, &min, &max);
	scale_fit(&row->scale, &u->about->channels[row->channel], min, max);
	row->value = NAN;
}

static void draw_spark(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row,
		       const struct channel *ch, int y, int h)
{
	struct rect at = {u->at.chart.x, y, u->at.chart.w, h};
	struct spark_look look = {.charset = u->charset, .level = u->frame.level, .limit = row->limit};

	look.lo = row->scale.lo;
	look.hi = row->scale.hi;
	look.hue = (enum hue)ch->family;
	/* A one-line chart has no room for notches. */
	if (u->charset == CHARSET_BLOCKS && h > 1 && !row->draw)
		chart_notches(s->timeline, row->channel, &u->frame.axis, row->scale.hi - row->scale.lo,
			      u->frame.columns);
	if (row->draw)
		row->draw(u, s, c, row, &at);
	else
		spark_draw(c, at.x, at.y, at.w, at.h, &look, u->frame.columns);
	axis_lines(u, c, y, h);
}

static void draw_signal(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row, int y,
			int h)
{
	const struct channel *ch = &u->about->channels[row->channel];

	int below = row->second.any ? h / 2 : 0;

	h -= below;
	if (ch->missing[0]) {
		if (below)
			read_missing(u, row);
		draw_name(u, c, row, ch, y);
		axis_lines(u, c, y, h);
		draw_missing(u, c, row, ch, y);
		if (below)
			draw_second(u, c, row, y + h, below);
		return;
	}
	rows_read(u, s, row);
	draw_name(u, c, row, ch, y);
	draw_value(u, c, row, ch, y);
	draw_stats(u, c, row, ch, y);
	draw_gutter(u, c, row, ch, y, h);
	draw_spark(u, s, c, row, ch, y, h);
	if (below)
		draw_second(u, c, row, y + h, below);
}

/* The number of steps on a scale, at least three lines apart. */
static int parts(const struct scale *scale, enum unit unit, int h)
{
	for (int n = (h - 1) / 3 < 12 ? (h - 1) / 3 : 12; n > 1; n--)
		if (quantity_is_step(unit, (scale->hi - scale->lo) / n))
			return n;
	return 1;
}

/* Label the lines of a high chart. */
static void draw_ticks(struct ui *u, struct canvas *c, const struct row *row, const struct channel *ch, int y,
		       int h)
{
	enum unit unit = quantity_of(ch, row->value);
	int n = parts(&row->scale, unit, h), x = u->at.name.x, w = u->at.chart.x - 1 - x;
	char text[QUANTITY_TEXT];

	for (int i = 0; w > 2 && i <= n; i++) {
		int line = y + h - 1 - (int)(((double)(h - 1) * i) / n + 0.5);

		quantity_round(text, unit, row->scale.lo + (row->scale.hi - row->scale.lo) * i / n);
		if (text_width(text) <= w)
			canvas_right(c, x, line, w, STYLE_DIM, text);
	}
}

void row_draw_solo(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row)
{
	const struct channel *ch = &u->about->channels[row->channel];
	int y = u->at.body.y, h = u->at.body.h, x = u->at.stats.x + u->at.stats.w + 3;

	if (ch->missing[0]) {
		draw_name(u, c, row, ch, y);
		text_draw(u, c, u->at.name.x, y + 1, c->w - 2 * u->at.name.x, h - 1, STYLE_DIM, ch->missing);
		return;
	}
	rows_read(u, s, row);
	draw_name(u, c, row, ch, y);
	draw_value(u, c, row, ch, y);
	if (u->at.stats.w)
		draw_stats(u, c, row, ch, y);
	if (u->at.stats.w && ch->note[0] && x + text_width(ch->note) <= c->w - u->at.name.x)
		canvas_text(c, x, y, c->w - x, STYLE_DIM, ch->note);
	y++;
	/* Two charts of equal height, with the numbers of the second between them. */
	h = row->second.any && h > 3 ? (h - 2) / 2 : h - 1;
	draw_ticks(u, c, row, ch, y, h);
	draw_spark(u, s, c, row, ch, y, h);
	if (row->second.any && u->at.body.h > 3)
		draw_second(u, c, row, y + h, h + 1);
}

void row_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row, int y, int h,
	      bool chosen)
{
	struct rect at = {u->at.name.x, y, c->w - 2 * u->at.name.x, h};

	if (row->kind == ROW_PICTURE)
		row->draw(u, s, c, row, &at);
	else if (row->line && h <= 1 + row->second.any)
		row->line(u, s, c, row, &at);
	else if (row->kind == ROW_HEADING)
		draw_heading(u, c, row, y);
	else if (row->kind == ROW_TEXT)
		draw_text(u, c, row, y, h);
	else
		draw_signal(u, s, c, row, y, h);
	if (chosen)
		draw_chosen(u, c, y);
}
