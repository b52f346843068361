/* view-overview: every signal, one row each, on one axis. */
#include "screen.h"

#include "nvmtop/intl.h"

#include <math.h>
#include <string.h>

static void draw_name(struct ui *u, struct canvas *c, const struct row *row, const struct channel *ch, int y)
{
	int x = u->at.name.x, w = u->at.name.w, indent = 0;
	enum style style = row->rank == RANK_REST ? STYLE_DIM : STYLE_TEXT;
	char name[sizeof(ch->label)];

	/* Names of details are long; where there is little room they keep it. */
	if (row->part)
		indent = row->rank == RANK_PART ? (w >= 9 ? 2 : 0) : w >= 15 ? 2 : w >= 13 ? 1 : 0;
	x += indent;
	w -= indent;
	events_name(name, ch);
	if (text_width(name) > w) {
		canvas_text(c, x, y, w - 1, style, name);
		canvas_put(c, x + w - 1, y, STYLE_DIM, screen_glyph(u, 0x2026, '~'));
		return;
	}
	x += canvas_text(c, x, y, w, style, name) + 1;
	w = u->at.name.x + u->at.name.w - x;
	if (row->tag[0] && text_width(row->tag) <= w)
		canvas_text(c, x, y, w, STYLE_DIM, row->tag);
}

/* The number ends in one column and the unit begins in one, in every row. */
static void draw_value(struct ui *u, struct canvas *c, const struct row *row, const struct channel *ch, int y)
{
	bool none = ch->missing[0] || isnan(row->value);
	int unit_w = u->at.value.w >= 9 ? 3 : 1, w = u->at.value.w - unit_w - 1, x = u->at.value.x + w + 1;
	enum style style = none                       ? STYLE_DIM
			   : row->alarm == ALARM_CRIT ? STYLE_ALERT
			   : row->alarm == ALARM_WARN ? STYLE_WARN
			   : row->rank == RANK_REST   ? STYLE_TEXT
						      : STYLE_STRONG;
	enum unit unit = quantity_of(ch, row->value);
	char text[QUANTITY_TEXT];

	quantity_text(text, unit, none ? NAN : row->value, w);
	canvas_right(c, u->at.value.x, y, w, style, text);
	if (none)
		return;
	x += canvas_text(c, x, y, unit_w, STYLE_DIM, quantity_unit(unit));
	/* Passed a limit, told without colour. */
	if (row->alarm == ALARM_CRIT)
		canvas_put(c, x + (unit_w > 1 ? 1 : 0), y, STYLE_ALERT, L'!');
}

static void draw_stats(struct ui *u, struct canvas *c, const struct row *row, const struct channel *ch, int y)
{
	char min[QUANTITY_TEXT], max[QUANTITY_TEXT], mean[QUANTITY_TEXT];
	int width = ch->unit == UNIT_PERCENT ? 3 : 4; /* percent: whole ones do */
	enum unit unit = quantity_of(ch, row->value);

	if (!u->at.stats.w || isnan(row->summary.mean))
		return;
	quantity_text(min, unit, row->summary.min, width);
	quantity_text(max, unit, row->summary.max, width);
	quantity_text(mean, unit, row->summary.mean, 4);
	canvas_right(c, u->at.stats.x, y, 4, STYLE_DIM, min);
	canvas_text(c, u->at.stats.x + 4, y, 2, STYLE_DIM, "..");
	canvas_text(c, u->at.stats.x + 6, y, 4, STYLE_DIM, max);
	canvas_right(c, u->at.stats.x + 11, y, 4, STYLE_DIM, mean);
}

/* The first clause of what there is to know about the number, as far as it fits whole. */
static void draw_note(struct ui *u, struct canvas *c, const struct channel *ch, int y, int right)
{
	int x = u->at.name.x, n = (int)strcspn(ch->note, ",;:");
	char text[sizeof(ch->note)];

	/* Of a demo everything is made up; the header says so once. */
	if (!n || (*screen_fact(u, "demo") && !strcmp(ch->note, "demo")))
		return;
	snprintf(text, sizeof(text), "%.*s", n, ch->note);
	if (text_width(text) <= right - x)
		canvas_text(c, x, y, right - x, STYLE_DIM, text);
}

/* Where there is a second line: the note, and what the chart's height means. */
static void draw_scale(struct ui *u, struct canvas *c, const struct row *row, const struct channel *ch, int y)
{
	char lo[QUANTITY_TEXT], hi[QUANTITY_TEXT], text[2 * QUANTITY_TEXT + 40];
	enum unit unit = quantity_of(ch, row->value);
	int right = u->at.chart.x - 1;

	if (u->at.stats.w) {
		quantity_round(lo, unit, row->scale.lo);
		quantity_round(hi, unit, row->scale.hi);
		snprintf(text, sizeof(text), "%s %s..%s", _("scale"), lo, hi);
		canvas_right(c, u->at.stats.x, y, u->at.stats.w, STYLE_DIM, text);
		right = u->at.stats.x + u->at.stats.w - text_width(text) - 1;
	}
	draw_note(u, c, ch, y, right);
}

static void draw_heading(struct ui *u, struct canvas *c, const struct row *row, int y)
{
	int x = u->at.name.x;

	canvas_text(c, x, y, u->at.chart.x - 1 - x, row->hue, _(row->heading));
	axis_lines(u, c, y, 1);
}

static void draw_row(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row, int y, int h)
{
	const struct channel *ch = &u->about->channels[row->channel];
	struct spark_look look = {.charset = u->charset};

	if (ch->missing[0]) {
		draw_name(u, c, row, ch, y);
		axis_lines(u, c, y, h);
		draw_value(u, c, row, ch, y);
		canvas_text(c, u->at.stats.w ? u->at.stats.x : u->at.chart.x, y,
			    c->w - (u->at.stats.w ? u->at.stats.x : u->at.chart.x) - u->at.name.x, STYLE_DIM,
			    ch->missing);
		return;
	}
	rows_read(u, s, row);
	draw_name(u, c, row, ch, y);
	draw_value(u, c, row, ch, y);
	draw_stats(u, c, row, ch, y);
	if (h > 1)
		draw_scale(u, c, row, ch, y + 1);
	look.lo = row->scale.lo;
	look.hi = row->scale.hi;
	look.level = u->level;
	look.band = (enum style)(STYLE_GPU + (int)ch->family);
	look.mean = (enum style)(STYLE_GPU_MEAN + (int)ch->family);
	spark_draw(c, u->at.chart.x, y, u->at.chart.w, h, &look, u->columns);
	axis_lines(u, c, y, h);
}

/* Heights, and a scroll position that shows as much as there is room for. */
static void arrange(struct ui *u)
{
	unsigned char rank[512] = {0};
	int lines = u->at.body.h, n = u->n_rows < 512 ? u->n_rows : 512, last, used = 0;

	for (int i = 0; i < n; i++)
		rank[i] = u->rows[i].rank;
	layout_rows(rank, n, lines, u->height);
	for (int i = 0; i < n; i++)
		if (u->rows[i].heading || u->about->channels[u->rows[i].channel].missing[0])
			u->height[i] = 1;
	for (int i = n; i < u->n_rows; i++)
		u->height[i] = 1;
	for (last = u->n_rows; last > 0 && used + u->height[last - 1] <= lines; last--)
		used += u->height[last - 1];
	if (u->scroll > last)
		u->scroll = last;
	if (u->scroll < 0)
		u->scroll = 0;
}

static void overview_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int y = u->at.body.y, end = u->at.body.y + u->at.body.h, i;

	arrange(u);
	for (i = u->scroll; i < u->n_rows && y < end; i++) {
		int h = u->height[i] < end - y ? u->height[i] : end - y;

		/* A heading with nothing below it says nothing. */
		if (u->rows[i].heading && y + 1 == end)
			break;
		if (u->rows[i].heading)
			draw_heading(u, c, &u->rows[i], y);
		else
			draw_row(u, s, c, &u->rows[i], y, h);
		y += h;
	}
	u->below = u->n_rows - i;
	/* The marks go on to the foot of the charts, so that they read as lines. */
	if (y < end)
		axis_lines(u, c, y, 1);
}

static int overview_length(const struct ui *u, const struct ui_scene *s)
{
	(void)s;
	return u->n_rows;
}

const struct view view_overview = {"overview", 0, overview_draw, NULL, overview_length};
