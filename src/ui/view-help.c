/* view-help: the keys table, read out, in groups with a heading each.
 *
 * Columns as many as there is room for; a group stays in one of them where that
 * lets everything be seen, and what is too long for a line goes on in the next. */
#include "ui/draw.h"
#include "ui/screen.h"

#include "util/intl.h"

#define KEYS_W    11 /* the widest names */
#define COLUMN_W  54 /* at least, for two of them and more */
#define COLUMNS   3
#define ITEMS_MAX 96

/* A heading, or what a key does; and where it stands. */
struct item {
	const struct key_entry *key; /* of a heading: the first of its group */
	bool head;
	int lines;
	int column, line;
};

static int make(struct item *items, int text_w)
{
	const struct key_entry *k, *before = NULL;
	int n = 0;

	for (size_t i = 0; (k = keys_help(i)) != NULL && n + 2 <= ITEMS_MAX; i++) {
		int lines = text_lines(_(k->what), text_w);

		if (!before || before->group != k->group)
			items[n++] = (struct item) {.key = k, .head = true, .lines = 1};
		items[n++] = (struct item) {.key = k, .lines = lines > 0 ? lines : 1};
		before = k;
	}
	return n;
}

/* Lines from this item on that stay together: a heading and what it is above. */
static int together(const struct item *items, int n, int i, bool whole)
{
	int lines = items[i].lines;

	if (!items[i].head)
		return lines;
	for (int k = i + 1; k < n && !items[k].head && (whole || k == i + 1); k++)
		lines += items[k].lines;
	return lines;
}

/* Into columns of that height; false: they are too few. */
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

/* As low as it can be; returns the height. */
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
		if (items[i].head) {
			canvas_text(c, x, y0 + y, step - 2, STYLE_DIM, _(keys_group(items[i].key->group)));
			continue;
		}
		canvas_text(c, x, y0 + y, KEYS_W, STYLE_KEY, items[i].key->shown);
		text_draw(u, c, x + KEYS_W + 1, y0 + y, text_w, h - y, STYLE_TEXT, _(items[i].key->what));
	}
	u->frame.below = *lines - u->over_scroll - h;
}

static void help_move(struct ui *u, const struct ui_scene *s, enum move how, int by)
{
	const int *lines = ui_state(u, &view_help);

	view_scroll(&u->over_scroll, view_lines(how, by, u->at.body.h > 1 ? u->at.body.h - 1 : 1), *lines);
}

/* The key that leads here leads back, and is not in the key bar. */
static const struct key_entry keys[] = {
	{.group = KEYS_SCREEN, .when = WHEN_COVERED, .keys = {{'?', 0, VIEW_help}}, .handler = act_cover},
	{.handler = NULL},
};

const struct view view_help = {
	.name = "help",
	.keys = keys,
	.covers = true,
	.state = sizeof(int), /* lines, as last drawn */
	.draw = help_draw,
	.move = help_move,
};
