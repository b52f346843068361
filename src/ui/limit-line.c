/* limit-line: the second line of every view, which says what limits the machine.
 *
 * It becomes a coloured banner if a limit of the hardware is passed or a recording loses data. It is
 * always shown, so nothing moves when it changes. */
#include "ui/screen.h"

#include "ui/draw.h"
#include "ui/header.h"
#include "ui/rows.h"

#include "ui/limit.h"
#include "util/intl.h"

#include <string.h>

/* Removes degree signs and turns middle dots into hyphens. */
static void to_ascii(char *text)
{
	for (const char *from = text; *from; from++) {
		if (!strncmp(from, "\302\260", 2))
			from++;
		else if (!strncmp(from, "\302\267", 2))
			*text++ = '-', from++;
		else
			*text++ = *from;
	}
	*text = 0;
}

/* Fills the line with the colour of a banner. */
static void paint(const struct ui *u, struct canvas *c)
{
	for (int x = 0; x < c->w; x++)
		canvas_put(c, x, u->at.limit.y, STYLE_BANNER, L' ');
}

/* Draws the view that explains the limit at the right: "6 Thermal". Returns the new right end. */
static int draw_way(struct ui *u, struct canvas *c, const char *name, enum style style, int right)
{
	size_t i = name ? views_named(name) : N_VIEWS;
	const struct view *v = views_at(i);
	char text[64];
	int w;

	if (!v || v == u->view)
		return right;
	snprintf(text, sizeof(text), "%c %.48s", (char)v->key, _(v->label));
	w = text_width(text);
	canvas_text(c, right - w - 2, u->at.limit.y, w, style, text);
	canvas_put(c, right - 1, u->at.limit.y, style, screen_glyph(u, 0x203A, '>'));
	hit_add(u, right - w - 2, u->at.limit.y, w + 2, act_view, (int)i);
	return right - w - 5;
}

static void draw_limit(struct ui *u, struct canvas *c)
{
	const struct limit *l = &u->limit;
	enum style strong = l->alarm ? STYLE_BANNER_STRONG : STYLE_STRONG, quiet = l->alarm ? STYLE_BANNER : STYLE_DIM;
	int x = u->at.name.x, y = u->at.limit.y, right = c->w - u->at.name.x;
	const char *text;

	if (l->alarm)
		paint(u, c);
	/* TRANSLATORS: then "GPU", "heat", "power", "none": what keeps the machine from going faster. */
	x += canvas_text(c, x, y, right - x, strong, _("limit: "));
	x += canvas_text(c, x, y, right - x, strong, l->what) + 2;
	if (c->w >= 76)
		right = draw_way(u, c, l->view, quiet, right);
	if (l->alarm) {
		canvas_put(c, x, y, STYLE_BANNER, screen_glyph(u, 0x25B2, '!'));
		x += 2;
	}
	text = text_width(l->text) <= right - x ? l->text : l->short_text;
	screen_cut(u, c, x, y, right - x, quiet, text);
}

void limit_line_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	enum style style;
	const char *alarm = header_alarm(u, s, &style);

	if (!u->at.limit.h)
		return;
	if (*alarm) {
		if (style == STYLE_ALERT)
			paint(u, c);
		screen_cut(u, c, u->at.name.x, u->at.limit.y, c->w - 2 * u->at.name.x,
			   style == STYLE_ALERT ? STYLE_BANNER_STRONG : style, alarm);
		return;
	}
	if (!u->extent.any)
		return;
	if (rows_due(u, &u->limit_tick)) {
		limit_find(s->timeline, u->vp.head_ns, &u->limit);
		if (u->charset == CHARSET_ASCII) {
			to_ascii(u->limit.text);
			to_ascii(u->limit.short_text);
		}
	}
	draw_limit(u, c);
}
