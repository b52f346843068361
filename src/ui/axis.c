/* axis: the time axis of all charts.
 *
 * On the live screen, times count backwards from the right edge, so the labels do not move. In a trace
 * they count from the start, as in the `g` prompt. Marks are lines through all charts; if they would
 * cover more than a quarter of the cells, only their ticks on the axis are drawn. */
#include "ui/charts.h"
#include "ui/draw.h"
#include "ui/heat-strip.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <string.h>

#define LABEL_CELLS 12 /* minimum distance between labels */
#define NAME_CELLS  20 /* maximum width of a mark's label */
#define NAME_LEAST  4  /* minimum width of a truncated label */
#define NOW_CELLS   9  /* "now" or a clock at the right end */

void axis_prepare(struct ui *u, const struct ui_scene *s)
{
	struct viewport *v = &u->vp;
	int64_t from, to;
	int cells = 0;

	u->frame.axis.zoom = v->zoom;
	u->frame.axis.merge = v->merge;
	u->frame.axis.first = viewport_first(v);
	u->frame.axis.n = v->columns;
	u->frame.axis.gaps = u->frame.gaps;
	from = u->frame.axis.first * viewport_column_ns(v);
	to = (u->frame.axis.first + u->frame.axis.n) * viewport_column_ns(v);
	u->frame.axis.n_gaps = s->timeline->ops->gaps(s->timeline, from, to, u->frame.gaps, GAPS_MAX);
	u->frame.n_marks = s->timeline->ops->marks(s->timeline, from, to, u->frame.marks, MARKS_MAX);
	memset(u->frame.mark_at, 0, sizeof(u->frame.mark_at));
	for (size_t i = 0; i < u->frame.n_marks; i++) {
		int cell = viewport_cell(v, u->frame.marks[i].t_ns);

		if (cell >= 0 && !u->frame.mark_at[cell])
			u->frame.mark_at[cell] = 1, cells++;
	}
	u->frame.mark_lines = cells * 4 <= u->at.chart.w;
}

static int64_t round_step(int64_t at_least)
{
	static const int64_t long_steps[] = {1,     2,     5,     10,    20,     30,     60,
					     120,   300,   600,   1200,  1800,   3600,   7200,
					     10800, 21600, 43200, 86400, 172800, 432000, 864000};
	int64_t step = 1000;

	for (; step < NS_PER_S; step *= 10)
		for (int64_t k = 1; k <= 5; k = k == 1 ? 2 : k + 3)
			if (step * k >= at_least)
				return step * k;
	for (size_t i = 0; i < sizeof(long_steps) / sizeof(long_steps[0]); i++)
		if (long_steps[i] * NS_PER_S >= at_least)
			return long_steps[i] * NS_PER_S;
	return long_steps[sizeof(long_steps) / sizeof(long_steps[0]) - 1] * NS_PER_S;
}

/* "-40 s", "-1:20", "-200 ms", "-50 us". */
static void label_text(char out[QUANTITY_TEXT], int64_t ns, int64_t step)
{
	int64_t abs = ns < 0 ? -ns : ns;

	if (step < NS_PER_MS && abs < NS_PER_MS)
		snprintf(out, QUANTITY_TEXT, "%lld us", (long long)(ns / 1000));
	else if (step < NS_PER_S && abs < NS_PER_S && step >= NS_PER_MS)
		snprintf(out, QUANTITY_TEXT, "%lld ms", (long long)(ns / NS_PER_MS));
	else if (step < NS_PER_S && abs < NS_PER_S)
		snprintf(out, QUANTITY_TEXT, "%.*f ms",
			 step < 10000    ? 3
			 : step < 100000 ? 2
					 : 1,
			 (double)ns / 1e6);
	else
		quantity_time(out, ns, step < NS_PER_S ? step : 0);
}

static void put_label(struct ui *u, struct canvas *c, int cell, const char *text, enum style style)
{
	int w = text_width(text), x = u->at.chart.x + cell - w + 1;

	if (x < u->at.chart.x || cell >= u->at.chart.w ||
	    !canvas_is_blank(c, x - 1, u->at.axis.y, w + 2))
		return;
	canvas_text(c, x, u->at.axis.y, w, style, text);
}

/* Draws a mark's label, truncated so that it does not touch other text. */
static void draw_name(struct ui *u, struct canvas *c, int x, const char *label)
{
	int w = text_width(label), y = u->at.axis.y, room = 0;
	int right = u->at.chart.x + u->at.chart.w - NOW_CELLS;

	if (w > NAME_CELLS)
		w = NAME_CELLS;
	while (room <= w && x + room <= right &&
	       c->cells[(size_t)y * (size_t)c->w + (size_t)(x + room)].ch[0] == L' ')
		room++;
	room--; /* one blank after it */
	if (room < w && room < NAME_LEAST)
		return;
	if (room >= w && w == text_width(label)) {
		canvas_text(c, x, y, w, STYLE_MARK, label);
		return;
	}
	w = room < w ? room : w;
	x += canvas_text(c, x, y, w - 1, STYLE_MARK, label);
	while (x > 0 && c->cells[(size_t)y * (size_t)c->w + (size_t)(x - 1)].ch[0] == L' ')
		x--; /* no blank before the ellipsis */
	canvas_put(c, x, y, STYLE_MARK, screen_glyph(u, 0x2026, '~'));
}

static void draw_marks(struct ui *u, struct canvas *c)
{
	/* Newest first: of two overlapping numbers the older one is omitted. */
	for (size_t i = u->frame.n_marks; i-- > 0;) {
		int cell = viewport_cell(&u->vp, u->frame.marks[i].t_ns), x, w;
		char text[32];

		if (cell < 0)
			continue;
		w = snprintf(text, sizeof(text), "%llu", (unsigned long long)u->frame.marks[i].id);
		x = u->at.chart.x + cell;
		if (x + w > u->at.chart.x + u->at.chart.w)
			x = u->at.chart.x + u->at.chart.w - w;
		if (canvas_is_blank(c, x - 1, u->at.axis.y, w + 2)) {
			canvas_text(c, x, u->at.axis.y, w, STYLE_MARK, text);
			draw_name(u, c, x + w + 1, u->frame.marks[i].label);
		} else if (!u->frame.mark_lines)
			canvas_put(c, u->at.chart.x + cell, u->at.axis.y, STYLE_MARK,
				   screen_glyph(u, 0x2575, '\''));
	}
}

static void draw_times(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	struct viewport *v = &u->vp;
	int64_t cell_ns = v->per_cell * viewport_column_ns(v), step = round_step(LABEL_CELLS * cell_ns);
	int64_t origin = s->live ? viewport_cell_ns(v, u->at.chart.w - 1) : u->extent.first_ns;
	int64_t right = viewport_cell_ns(v, u->at.chart.w - 1) - origin;
	int64_t left = right - (int64_t)u->at.chart.w * cell_ns;
	char text[QUANTITY_TEXT];

	if (s->live && v->follow) {
		put_label(u, c, u->at.chart.w - 1, _("now"), STYLE_DIM);
	} else if (s->live) {
		screen_clock(text, screen_wall(u, v->right_ns));
		put_label(u, c, u->at.chart.w - 1, text, STYLE_DIM);
	}
	for (int64_t at = right / step * step; at > left; at -= step) {
		int64_t cells = (right - at) / cell_ns;

		if ((s->live && at == 0) || at < (s->live ? left : 0))
			continue;
		label_text(text, at, step);
		put_label(u, c, u->at.chart.w - 1 - (int)cells, text, STYLE_DIM);
	}
}

/* The mark at the playhead; NULL: none. */
static const struct mark *mark_here(const struct ui *u)
{
	int head = viewport_cell(&u->vp, u->vp.head_ns);

	for (size_t i = u->frame.n_marks; i-- > 0;)
		if (head >= 0 && viewport_cell(&u->vp, u->frame.marks[i].t_ns) == head)
			return &u->frame.marks[i];
	return NULL;
}

/* In the column of names: the mark at the playhead, the time behind now, or the number of lost rows. */
static void draw_state(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int x = u->at.name.x, y = u->at.axis.y,
	    right = u->at.solo ? u->at.chart.x - 1 : u->at.value.x + u->at.value.w;
	char text[64], behind[QUANTITY_TEXT];
	int64_t step;

	const struct mark *m = s->live && u->vp.follow ? NULL : mark_here(u);

	if (m && m->label[0] && !s->live) {
		x += canvas_textf(c, x, y, right - x, STYLE_MARK, "%llu %s", (unsigned long long)m->id,
				  m->label);
	} else if (s->live && !u->vp.follow) {
		if (u->vp.playing) {
			char speed[SPEED_TEXT];

			viewport_speed_text(speed, u->vp.speed);
			canvas_put(c, x, y, STYLE_STRONG, screen_glyph(u, 0x25B6, '>'));
			x += 2;
			x += canvas_text(c, x, y, right - x, STYLE_STRONG, speed) + 1;
		} else {
			x += canvas_text(c, x, y, right - x, STYLE_WARN, _("PAUSED")) + 1;
		}
		step = 4 * viewport_column_ns(&u->vp);
		quantity_time(behind, u->vp.head_ns - u->extent.last_ns,
			      step < NS_PER_S / 10 ? step : NS_PER_S / 10);
		if (x + text_width(behind) <= right)
			canvas_text(c, x, y, right - x, STYLE_DIM, behind);
	} else if (s->live && s->lost) {
		snprintf(text, sizeof(text), P_("%llu row lost", "%llu rows lost", s->lost),
			 (unsigned long long)s->lost);
		canvas_text(c, x, y, right - x, STYLE_ALERT, text);
	}
	if (u->at.stats.w && !u->at.solo)
		canvas_text(c, u->at.stats.x, y, u->at.stats.w, u->selection.on ? STYLE_STRONG : STYLE_DIM,
			    _(" min..max  mean"));
}

/* Draws the playhead, unless a mark's number is there. Away from the end its time is drawn beside it, on
 * the side that has room. */
static void draw_head(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int cell = u->vp.follow ? -1 : viewport_cell(&u->vp, u->vp.head_ns), x = u->at.chart.x + cell;
	int y = u->at.axis.y, left = u->at.chart.x, right = left + u->at.chart.w, w;
	char at[QUANTITY_TEXT];

	if (cell < 0 || u->vp.head_ns >= u->extent.last_ns)
		cell = s->live ? -1 : cell;
	if (cell < 0 || c->cells[(size_t)y * (size_t)c->w + (size_t)x].ch[0] != L' ')
		return;
	if (u->vp.head_ns < u->extent.last_ns) {
		screen_moment(u, s, u->vp.head_ns, at);
		w = text_width(at);
		if (x + 2 + w <= right && canvas_is_blank(c, x + 2 - 1, y, w + 2))
			canvas_text(c, x + 2, y, w, STYLE_STRONG, at);
		else if (x - 1 - w >= left && canvas_is_blank(c, x - 1 - w - 1, y, w + 2))
			canvas_text(c, x - 1 - w, y, w, STYLE_STRONG, at);
	}
	canvas_put(c, x, y, STYLE_STRONG, screen_glyph(u, 0x25BC, 'V'));
}

void axis_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	if (!u->at.axis.h)
		return;
	draw_marks(u, c);
	draw_head(u, s, c);
	draw_times(u, s, c);
	draw_state(u, s, c);
	select_axis(u, c);
}

/* Draws one cell of a vertical line. A solid cell keeps its colour as the background; a partly filled
 * cell is not drawn over, so that the chart keeps its outline. */
static void line_cell(struct ui *u, struct canvas *c, int x, int y, enum style style, wchar_t glyph)
{
	struct cell *p = &c->cells[(size_t)y * (size_t)c->w + (size_t)x];

	if (p->ch[0] == 0x2588 || p->ch[0] == HEAT_HALF)
		canvas_put_on(c, x, y, style, (enum style)p->style, glyph);
	else if (p->ch[0] == L' ' || p->style == STYLE_LIMIT ||
		 (u->charset != CHARSET_BLOCKS && p->style >= STYLE_SHADES))
		canvas_put(c, x, y, style, glyph);
}

static void draw_lines(struct ui *u, struct canvas *c, int y, int h, const unsigned char *mark_at,
		       wchar_t glyph)
{
	int head = u->vp.follow ? -1 : viewport_cell(&u->vp, u->vp.head_ns);
	int newest = viewport_cell(&u->vp, u->vp.right_ns);

	select_shade(u, c, y, h);
	for (int line = y; line < y + h && line < c->h; line++) {
		for (int cell = 0; u->frame.mark_lines && cell < u->at.chart.w; cell++)
			if (mark_at[cell])
				line_cell(u, c, u->at.chart.x + cell, line, STYLE_MARK, glyph);
		if (head >= 0 && head < newest)
			line_cell(u, c, u->at.chart.x + head, line, STYLE_FRAME, screen_glyph(u, 0x250A, ':'));
	}
}

void axis_lines(struct ui *u, struct canvas *c, int y, int h)
{
	draw_lines(u, c, y, h, u->frame.mark_at, screen_glyph(u, 0x2502, '|'));
}

void axis_second_lines(struct ui *u, struct canvas *c, int y, int h)
{
	draw_lines(u, c, y, h, u->second.mark_at, screen_glyph(u, 0x254E, '|'));
}
