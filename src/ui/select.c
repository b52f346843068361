/* select: selects a time interval, or a phase, and shows its statistics.
 *
 * One end is where the selection began; the other follows the playhead until it is fixed, so
 * every key that moves through time extends the selection. While there is a selection, the
 * statistics of all rows are for it, and the charts outside are dim. */
#include "ui/draw.h"
#include "ui/energy.h"
#include "ui/goto.h"
#include "ui/header.h"
#include "ui/range-stats.h"
#include "ui/rows.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>
#include <string.h>

bool select_get(const struct ui *u, int64_t *from_ns, int64_t *to_ns)
{
	const struct selection *sel = &u->selection;
	int64_t b = sel->open ? u->vp.head_ns : sel->b_ns;

	*from_ns = sel->a_ns < b ? sel->a_ns : b;
	*to_ns = sel->a_ns < b ? b : sel->a_ns;
	return sel->on && u->extent.any && *from_ns < *to_ns;
}

void select_stats(const struct ui *u, struct timeline *t, size_t channel, int64_t shift_ns, bool provisional,
		  struct selected_stats *kept, struct chart_summary *out)
{
	int64_t from, to;
	struct span span;

	if (!select_get(u, &from, &to))
		return;
	from = from > shift_ns ? from - shift_ns : 0;
	to -= shift_ns;
	if (provisional || kept->from_ns != from || kept->to_ns != to) {
		span_read(t, channel, from, to, &span);
		*kept = (struct selected_stats) {provisional ? 0 : from, provisional ? 0 : to,
						{span.min, span.mean, span.max}};
	}
	*out = kept->summary;
}

void select_set(struct ui *u, int64_t a_ns, int64_t b_ns)
{
	u->selection = (struct selection) {.on = true, .a_ns = a_ns, .b_ns = b_ns};
}

/* The interval between the marks around t_ns, or the ends of the timeline. */
static void select_phase(struct ui *u, const struct ui_scene *s, int64_t t_ns, int64_t *from_ns,
			 int64_t *to_ns)
{
	/* The mark at t_ns itself begins the phase. */
	if (!goto_mark(s->timeline, &u->extent, t_ns + 1, -1, from_ns) || *from_ns < u->extent.first_ns)
		*from_ns = u->extent.first_ns;
	if (!goto_mark(s->timeline, &u->extent, t_ns, 1, to_ns) || *to_ns > u->extent.last_ns)
		*to_ns = u->extent.last_ns;
}

static void let_go(struct ui *u, const struct ui_scene *s)
{
	if (u->vp.follow)
		viewport_jump(&u->vp, &u->extent, s->now_ns, u->vp.head_ns);
}

/* False: there is no time to select. */
static bool settle(struct ui *u, const struct ui_scene *s)
{
	if (!u->extent.any || !s->timeline)
		return false;
	viewport_settle(&u->vp, &u->extent, s->now_ns);
	return true;
}

void act_select(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	struct selection *sel = &u->selection;

	if (!settle(u, s))
		return;
	if (sel->on && sel->open) {
		sel->b_ns = u->vp.head_ns;
		sel->open = false;
		return;
	}
	let_go(u, s);
	*sel = (struct selection) {.on = true, .open = true, .a_ns = u->vp.head_ns, .b_ns = u->vp.head_ns};
}

void act_select_phase(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	int64_t from, to;

	if (!settle(u, s))
		return;
	let_go(u, s);
	select_phase(u, s, u->vp.head_ns, &from, &to);
	select_set(u, from, to);
}

void act_loop(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	struct viewport *v = &u->vp;
	char a[QUANTITY_TEXT], b[QUANTITY_TEXT];
	int64_t from, to;

	if (!settle(u, s))
		return;
	if (v->loop) {
		viewport_loop(v, &u->extent, s->now_ns, 0, 0);
		return;
	}
	if (!select_get(u, &from, &to))
		select_phase(u, s, v->head_ns, &from, &to);
	if (from >= to)
		return;
	if (v->follow || v->head_ns < from || v->head_ns >= to)
		viewport_jump(v, &u->extent, s->now_ns, from);
	viewport_loop(v, &u->extent, s->now_ns, from, to);
	if (!v->playing)
		viewport_space(v, &u->extent, s->now_ns);
	screen_moment(u, s, from, a);
	screen_moment(u, s, to, b);
	screen_say(u, STYLE_TEXT, _("looping from %s to %s   L: stop"), a, b);
}

/* The cells of the selection, clipped; false: not in view. */
static bool cells(const struct ui *u, int *first, int *last)
{
	int64_t from, to, left = viewport_first(&u->vp) * viewport_column_ns(&u->vp);

	if (!select_get(u, &from, &to) || to <= left || from > viewport_cell_ns(&u->vp, u->at.chart.w - 1))
		return false;
	*first = viewport_cell(&u->vp, from);
	*last = viewport_cell(&u->vp, to - 1);
	if (*first < 0)
		*first = 0;
	if (*last < 0)
		*last = u->at.chart.w - 1;
	return true;
}

void select_shade(const struct ui *u, struct canvas *c, int y, int h)
{
	int64_t from, to;
	int first = u->at.chart.w, last = -1;

	if (!select_get(u, &from, &to))
		return;
	cells(u, &first, &last);
	for (int line = y; line < y + h && line < c->h; line++)
		for (int i = 0; i < u->at.chart.w; i++) {
			struct cell *p = &c->cells[(size_t)line * (size_t)c->w + (size_t)(u->at.chart.x + i)];

			if ((i < first || i > last) && p->style >= STYLE_SHADES)
				p->style = STYLE_DIM, p->back = 0;
			else if ((i == first || i == last) && p->ch[0] == L' ')
				p->ch[0] = screen_glyph(u, 0x250A, ':'), p->style = STYLE_FRAME;
		}
}

/* Draw a bracket on the axis, in its blank cells. */
void select_axis(const struct ui *u, struct canvas *c)
{
	wchar_t line = screen_glyph(u, 0x2500, '-');
	int first, last, y = u->at.axis.y;
	const struct cell *row;

	if (!cells(u, &first, &last))
		return;
	row = &c->cells[(size_t)y * (size_t)c->w + (size_t)u->at.chart.x];
	for (int i = first; i <= last; i++) {
		wchar_t ch = i == first  ? screen_glyph(u, 0x251C, '[')
			     : i == last ? screen_glyph(u, 0x2524, ']')
					 : line;
		bool left = i == 0 || row[i - 1].ch[0] == L' ' || row[i - 1].style == STYLE_FRAME;
		bool right = i + 1 >= u->at.chart.w || row[i + 1].ch[0] == L' ';
		/* An end may touch a label but not be inside one. */
		bool end = (i == first || i == last) && (left || right);

		if (row[i].ch[0] == L' ' && ((left && right) || end))
			canvas_put(c, u->at.chart.x + i, y, STYLE_FRAME, ch);
	}
}

/* Show the energy, the time without power samples, and the mean. */
static int tell_power(struct ui *u, const struct ui_scene *s, struct canvas *c, int x, int right, int64_t from,
		      int64_t to)
{
	struct power_parts parts;
	int y = u->at.bar.y;
	char number[QUANTITY_TEXT], text[96];
	struct span span;
	double j;

	power_parts_find(&parts, u->about);
	if (!parts.n || !parts.add_up)
		return x;
	power_span(s->timeline, &parts, from, to, &span);
	j = span_joule(&span);
	quantity_text(number, j >= 99999.5 ? QUANTITY_KJ : UNIT_JOULE, j, 8);
	snprintf(text, sizeof(text), "%s %s", number, j >= 99999.5 ? "kJ" : "J");
	x = screen_put(c, x, y, right, STYLE_STRONG, text);
	if (span.n && to - from - span.covered_ns >= NS_PER_MS) {
		quantity_time(number, to - from - span.covered_ns, NS_PER_MS);
		snprintf(text, sizeof(text), _("%s of it not measured"), number);
		x = screen_put(c, x, y, right, STYLE_WARN, text);
	}
	quantity_text(number, UNIT_MILLIWATT, span.mean, 6);
	snprintf(text, sizeof(text), _("mean %s"), number);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s", quantity_unit(UNIT_MILLIWATT));
	return screen_put(c, x, y, right, STYLE_TEXT, text);
}

static int tell_gpu(struct ui *u, const struct ui_scene *s, struct canvas *c, int x, int right, int64_t from,
		    int64_t to)
{
	int i = rows_find(u->about, CHANNEL_GPU_UTIL, -1);
	char number[QUANTITY_TEXT], text[96];
	struct span span;

	if (i < 0 || u->about->channels[i].missing[0])
		return x;
	span_read(s->timeline, (size_t)i, from, to, &span);
	quantity_text(number, UNIT_PERCENT, span.mean, 5);
	snprintf(text, sizeof(text), "%s %s %%", u->about->channels[i].label, number);
	return screen_put(c, x, u->at.bar.y, right, STYLE_TEXT, text);
}

/* Show the signal of the selected row, unless it is already shown. */
static int tell_chosen(struct ui *u, const struct ui_scene *s, struct canvas *c, int x, int right, int64_t from,
		       int64_t to)
{
	const struct channel *ch = about_can(u) ? &u->about->channels[u->rows[u->chosen].channel] : NULL;
	char text[160], number[3][QUANTITY_TEXT];
	enum unit unit;
	struct span span;

	if (!ch || ch->missing[0] || ch->kind == CHANNEL_POWER_TOTAL || ch->kind == CHANNEL_GPU_UTIL)
		return x;
	span_read(s->timeline, u->rows[u->chosen].channel, from, to, &span);
	unit = quantity_of(ch, span.max);
	quantity_alike(number, unit, (const double[]) {span.mean, span.min, span.max}, 3, 6);
	/* TRANSLATORS: a signal, its mean, its minimum and maximum, and their unit. */
	snprintf(text, sizeof(text), _("%s: mean %s, %s..%s %s"), ch->label, number[0], number[1], number[2],
		 rows_unit(u, unit));
	return screen_put(c, x, u->at.bar.y, right, STYLE_TEXT, text);
}

void select_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int x = u->at.name.x, y = u->at.bar.y, right = c->w - u->at.name.x;
	const char *hint = u->selection.open ? _("v: up to here   Esc clears") : _("Esc clears");
	char text[128], a[QUANTITY_TEXT], b[QUANTITY_TEXT], clock[QUANTITY_TEXT];
	int64_t from, to;

	x = screen_put(c, x, y, right, STYLE_KEY, _("selected"));
	if (!select_get(u, &from, &to)) {
		screen_put(c, x, y, right, STYLE_DIM, _("move the cursor   v: up to there   Esc clears"));
		return;
	}
	quantity_time(clock, to - from, NS_PER_MS);
	x = screen_put(c, x - 2, y, right, STYLE_STRONG, clock);
	x = tell_power(u, s, c, x, right, from, to);
	x = tell_gpu(u, s, c, x, right, from, to);
	x = tell_chosen(u, s, c, x, right, from, to);
	screen_moment(u, s, from, a);
	screen_moment(u, s, to, b);
	snprintf(text, sizeof(text), "%s .. %s", a, b);
	x = screen_put(c, x, y, right, STYLE_DIM, text);
	if (x + text_width(hint) <= right)
		canvas_right(c, x, y, right - x, STYLE_DIM, hint);
}
