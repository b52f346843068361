/* view-help: explains the charts and lists the keys in groups.
 *
 * It uses as many columns as fit; a group stays in one column if everything still fits, and long
 * texts continue on the next line. */
#include "ui/draw.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <math.h>

#define KEYS_W    11 /* the widest key names */
#define COLUMN_W  54 /* minimum, for two or more columns */
#define COLUMNS   3
#define ITEMS_MAX 112

/* Examples of what charts show, as a chart column or a text, with their meaning. */
static const struct legend {
	const char *text, *ascii; /* ascii NULL: the same */
	enum style style;
	struct spark_column column;
	enum hue hue;
	unsigned char level; /* enum alarm */
	const char *what;
} legends[] = {
	{.column = {.any = true, .min = 40, .mean = 45, .max = 100}, .what = N_("bright: the mean; dim: up to the maximum")},
	{.column = {.any = true, .min = 5, .mean = 100, .max = 100, .notch = true}, .hue = HUE_CPU, .what = N_("a short drop that the mean hides")},
	{.column = {.any = true, .min = 90, .mean = 90, .max = 90}, .level = ALARM_CRIT, .what = N_("red: over its limit; amber: near it")},
	{.text = "\u2508\u2508\u2508\u2508", .ascii = "----", .style = STYLE_LIMIT, .what = N_("the limit of the signal")},
	{.text = "\u2502", .ascii = "|", .style = STYLE_MARK, .what = N_("a sync mark, with its number and label above")},
	{.text = "\u25C6", .ascii = "*", .style = STYLE_TEXT, .what = N_("an event: a setting changed; red: over-current")},
	{.text = "\u2501\u2501\u2501", .ascii = "===", .style = STYLE_ALERT, .what = N_("how long it was throttled; dim: not sampled")},
	{.text = "99.9 !", .style = STYLE_ALERT, .what = N_("a value that passed its limit")},
	{.text = "--", .style = STYLE_DIM, .what = N_("no value; Enter on the row tells why")},
};
#define LEGENDS ((int)(sizeof(legends) / sizeof(legends[0])))

/* A heading, a legend or a key, with its position. */
struct item {
	const struct legend *legend;
	const char *shown, *text; /* shown: the key, or NULL */
	bool head;
	int lines;
	int column, line;
};

static void add(struct item *items, int *n, const struct item *item, int text_w)
{
	int lines = item->head ? 1 : text_lines(item->text, text_w);

	if (*n == ITEMS_MAX)
		return;
	items[*n] = *item;
	items[(*n)++].lines = lines > 0 ? lines : 1;
}

static int make(struct item *items, int text_w)
{
	const struct key_entry *k, *before = NULL;
	int n = 0;

	add(items, &n, &(struct item) {.text = _("Charts"), .head = true}, text_w);
	for (const struct legend *l = legends; l < legends + LEGENDS; l++)
		add(items, &n, &(struct item) {.legend = l, .text = _(l->what)}, text_w);
	for (size_t i = 0; (k = keys_help(i)) != NULL; before = k, i++) {
		if (!before || before->group != k->group)
			add(items, &n, &(struct item) {.text = _(keys_group(k->group)), .head = true}, text_w);
		add(items, &n, &(struct item) {.shown = k->shown, .text = _(k->what)}, text_w);
	}
	return n;
}

/* The lines to keep together from item i: a heading with all its items (whole), or with the first. */
static int together(const struct item *items, int n, int i, bool whole)
{
	int lines = items[i].lines;

	if (!items[i].head)
		return lines;
	for (int k = i + 1; k < n && !items[k].head && (whole || k == i + 1); k++)
		lines += items[k].lines;
	return lines;
}

/* Place the items into columns of this height; false: too few columns. */
static bool flow(struct item *items, int n, int columns, int height, bool whole)
{
	int column = 0, y = 0;

	for (int i = 0; i < n; i++) {
		y += items[i].head && y; /* one blank line above */
		if (y && y + together(items, n, i, whole) > height)
			column++, y = 0;
		items[i].column = column;
		items[i].line = y;
		y += items[i].lines;
		if (y > height)
			return false;
	}
	return column < columns;
}

/* Find the lowest height that fits; returns it. */
static int settle(struct item *items, int n, int columns, int room)
{
	int lines = 0, most, least;

	for (int i = 0; i < n; i++)
		lines += items[i].lines + items[i].head;
	least = lines / columns;
	for (most = least; !flow(items, n, columns, most, true); most++)
		;
	if (most <= room)
		return most;
	for (most = least; !flow(items, n, columns, most, false); most++)
		;
	return most;
}

static void draw_legend(const struct ui *u, struct canvas *c, int x, int y, const struct legend *l)
{
	enum { CELLS = 6 };
	struct spark_look look = {.charset = u->charset, .hue = l->hue, .lo = 0, .hi = 100, .limit = NAN};
	struct spark_column columns[2 * CELLS];
	unsigned char level[2 * CELLS];

	if (l->text) {
		canvas_text(c, x, y, KEYS_W, l->style, u->charset == CHARSET_ASCII && l->ascii ? l->ascii : l->text);
		return;
	}
	for (int i = 0; i < 2 * CELLS; i++) {
		columns[i] = l->column;
		columns[i].notch &= i == CELLS / 2;
		level[i] = l->level;
	}
	look.level = level;
	spark_draw(c, x, y, CELLS, 1, &look, columns);
}

/* Draw a heading with a line up to the next column. */
static void draw_head(const struct ui *u, struct canvas *c, int x, int y, int w, const char *text)
{
	int used = canvas_text(c, x, y, w, STYLE_DIM, text) + 1;

	for (; used < w; used++)
		canvas_put(c, x + used, y, STYLE_BORDER, screen_glyph(u, 0x2500, '-'));
}

static void help_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int x0 = u->at.name.x, y0 = u->at.body.y, h = u->at.body.h, room = c->w - 2 * x0;
	int columns = room / COLUMN_W < 1 ? 1 : room / COLUMN_W > COLUMNS ? COLUMNS : room / COLUMN_W;
	int step = (room + 2) / columns, text_w = step - 2 - KEYS_W - 1, n;
	struct item items[ITEMS_MAX];
	int *lines = ui_state(u, &view_help);

	n = make(items, text_w);
	*lines = settle(items, n, columns, h);
	if (u->over_scroll > *lines - h)
		u->over_scroll = *lines > h ? *lines - h : 0;
	for (int i = 0; i < n; i++) {
		int x = x0 + items[i].column * step, y = items[i].line - u->over_scroll;

		if (y < 0 || y >= h)
			continue;
		if (items[i].head)
			draw_head(u, c, x, y0 + y, step - 2, items[i].text);
		else if (items[i].legend)
			draw_legend(u, c, x, y0 + y, items[i].legend);
		else
			canvas_text(c, x, y0 + y, KEYS_W, STYLE_KEY, items[i].shown);
		if (!items[i].head)
			text_draw(u, c, x + KEYS_W + 1, y0 + y, text_w, h - y, STYLE_TEXT, items[i].text);
	}
	u->frame.below = *lines - u->over_scroll - h;
}

static void help_move(struct ui *u, const struct ui_scene *s, enum move how, int by)
{
	const int *lines = ui_state(u, &view_help);

	view_scroll(&u->over_scroll, view_lines(how, by, u->at.body.h > 1 ? u->at.body.h - 1 : 1), *lines);
}

/* The key that opens this view also closes it, and is not in the key bar. */
static const struct key_entry keys[] = {
	{.group = KEYS_SCREEN, .when = WHEN_COVERED, .keys = {{'?', 0, VIEW_help}}, .handler = act_cover},
	{.handler = NULL},
};

const struct view view_help = {
	.name = "help",
	.keys = keys,
	.covers = true,
	.state = sizeof(int), /* line count as last drawn */
	.draw = help_draw,
	.move = help_move,
};
