/* select: a stretch of time between two moments, or two marks, and what happened in it.
 *
 * One end is where it was begun, the other goes along with the playhead until it is
 * held, so that every key that moves through time selects.  While there is a
 * selection the statistics of all rows are its own; what lies outside is dim. */
#include "ui/draw.h"
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

/* The stretch between the marks before and after a moment, or the ends. */
static void select_phase(struct ui *u, const struct ui_scene *s, int64_t t_ns, int64_t *from_ns,
			 int64_t *to_ns)
{
	/* A mark begins its phase, so the moment of the mark is within. */
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

/* Its cells on the screen, clipped; false: it is not in view. */
static bool cells(const struct ui *u, int *first, int *last)
{
	int64_t from, to, left = viewport_first(&u->vp) * (INT64_C(1) << u->vp.zoom);

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

/* A bracket on the axis, where nothing else stands. */
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
		/* An end may touch a label, but not stand within one. */
		bool end = (i == first || i == last) && (left || right);

		if (row[i].ch[0] == L' ' && ((left && right) || end))
			canvas_put(c, u->at.chart.x + i, y, STYLE_FRAME, ch);
	}
}

/* The channel of which it is told: the chosen row's, or the power of all. */
static int told(const struct ui *u)
{
	if (about_can(u))
		return (int)u->rows[u->chosen].channel;
	return rows_find(u->about, CHANNEL_POWER_TOTAL, -1);
}

static void tell_channel(struct ui *u, const struct ui_scene *s, struct canvas *c, int x, int right,
			 int64_t from, int64_t to)
{
	int i = told(u), y = u->at.bar.y;
	char text[160], number[3][QUANTITY_TEXT];
	const struct channel *ch = i < 0 ? NULL : &u->about->channels[i];
	enum unit unit;
	struct span span;

	if (!ch || ch->missing[0])
		return;
	span_read(s->timeline, (size_t)i, from, to, &span);
	unit = quantity_of(ch, span.max);
	quantity_alike(number, unit, (const double[]) {span.mean, span.min, span.max}, 3, 6);
	if (ch->unit == UNIT_MILLIWATT) {
		double j = span_joule(&span);
		int64_t open = to - from - span.covered_ns;

		quantity_text(text, fabs(j) >= 99999.5 ? QUANTITY_KJ : UNIT_JOULE, j, 8);
		strcat(text, " ");
		strcat(text, quantity_unit(fabs(j) >= 99999.5 ? QUANTITY_KJ : UNIT_JOULE));
		x = screen_put(c, x, y, right, STYLE_STRONG, text);
		if (span.n && open >= NS_PER_MS) {
			char clock[QUANTITY_TEXT];

			quantity_time(clock, open, NS_PER_MS);
			snprintf(text, sizeof(text), _("%s of it not measured"), clock);
			x = screen_put(c, x, y, right, STYLE_WARN, text);
		}
	}
	/* TRANSLATORS: a signal, its mean, its minimum and maximum, and their unit. */
	snprintf(text, sizeof(text), _("%s: mean %s, %s..%s %s"), ch->label, number[0], number[1], number[2],
		 quantity_unit(unit));
	screen_put(c, x, y, right, STYLE_TEXT, text);
}

void select_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int x = u->at.name.x, y = u->at.bar.y, right = c->w - u->at.name.x;
	const char *hint = u->selection.open ? _("v: up to here   Esc: none") : _("Esc: none");
	char text[128], a[QUANTITY_TEXT], b[QUANTITY_TEXT], clock[QUANTITY_TEXT];
	int64_t from, to;

	x = screen_put(c, x, y, right, STYLE_KEY, _("selected"));
	if (!select_get(u, &from, &to)) {
		screen_put(c, x, y, right, STYLE_DIM, _("move the cursor   v: up to there   Esc: none"));
		return;
	}
	quantity_time(clock, to - from, NS_PER_MS);
	x = screen_put(c, x - 2, y, right, STYLE_STRONG, clock);
	if (c->w >= 100) {
		canvas_right(c, x, y, right - x, STYLE_DIM, hint);
		right -= text_width(hint) + 2;
		screen_moment(u, s, from, a);
		screen_moment(u, s, to, b);
		snprintf(text, sizeof(text), "%s .. %s", a, b);
		x = screen_put(c, x, y, right, STYLE_DIM, text);
	}
	tell_channel(u, s, c, x, right, from, to);
}
