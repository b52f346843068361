/* view-help: the keys table, read out. */
#include "screen.h"

#include "nvmtop/intl.h"

#define KEYS_W 12

static int entries(void)
{
	int n = 0;

	while (keys_entry((size_t)n))
		n++;
	return n;
}

static int help_length(const struct ui *u, const struct ui_scene *s)
{
	int n = entries();

	(void)s;
	return u->wide_over ? (n + 1) / 2 : n;
}

static void help_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int n = entries(), lines, x0 = u->at.name.x, half = c->w / 2;
	int y0 = u->at.body.y, h = u->at.body.h;

	u->wide_over = c->w >= 110;
	lines = help_length(u, s);
	if (u->over_scroll > lines - h)
		u->over_scroll = lines > h ? lines - h : 0;
	for (int i = 0; i < n; i++) {
		const struct key_entry *k = keys_entry((size_t)i);
		int column = u->wide_over && i >= lines, line = i - (column ? lines : 0) - u->over_scroll;
		int x = x0 + (column ? half : 0), end = u->wide_over && !column ? half : c->w;

		if (line < 0 || line >= h)
			continue;
		canvas_text(c, x, y0 + line, KEYS_W, STYLE_KEY, k->shown);
		canvas_text(c, x + KEYS_W + 1, y0 + line, end - x - KEYS_W - 2, STYLE_TEXT, _(k->what));
	}
	u->below = lines - u->over_scroll - h;
}

const struct view view_help = {
	.name = "help",
	.when = WHEN_HELP,
	.draw = help_draw,
	.length = help_length,
};
