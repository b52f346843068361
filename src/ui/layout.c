/* layout: divides the window into the parts of the screen.
 *
 * As the window shrinks, the least important parts are dropped first: blank space, statistics, the axis,
 * the header, the keys; names and values never. Widths depend only on the window, never on a value, so
 * nothing jumps. */
#include "ui/layout.h"

#include <stddef.h>

#define STATS_W      15
#define SOLO_STATS_W 24 /* with words */

static int take(int *y, struct rect *r, int w, int h)
{
	*r = (struct rect) {0, *y, w, h};
	*y += h;
	return h;
}

static void split_lines(struct layout *l, const struct layout_wish *wish)
{
	int w = wish->w, h = wish->h, y = 0, bottom = h;

	if (h >= 7)
		take(&y, &l->header, w, 1);
	if (h >= 8)
		take(&y, &l->limit, w, 1);
	if (h >= 9)
		take(&y, &l->axis, w, 1);
	if (wish->second && h >= 12)
		take(&y, &l->second, w, 1);
	if (h >= 6)
		l->bar = (struct rect) {0, --bottom, w, 1};
	if (h >= 14)
		l->tabs = (struct rect) {0, --bottom, w, 1};
	if (wish->replay && h >= 10) {
		bottom -= 2;
		l->strip = (struct rect) {0, bottom, w, 2};
	}
	/* A blank line above the tabs of a high window. */
	if (h >= 50)
		bottom--;
	if (wish->ranges && bottom - y >= wish->ranges + 8)
		take(&y, &l->ranges, w, wish->ranges);
	if (wish->panel && bottom - y >= wish->panel + 6) {
		bottom -= wish->panel;
		l->panel = (struct rect) {0, bottom, w, wish->panel};
	}
	if (wish->events && bottom - y > 7)
		l->events = (struct rect) {0, --bottom, w, 1};
	l->body = (struct rect) {0, y, w, bottom - y};
}

#define SCALE_W 5 /* "1300" and a blank */

static void place(const struct layout *l, struct rect *r, int x, int w)
{
	*r = (struct rect) {x, l->body.y, w, w ? l->body.h : 0};
}

/* The gutter left of a chart has its name and value, with further text in the lines below. */
static void split_gutter(struct layout *l, int w)
{
	int gutter = w >= 160 ? 36 : w >= 100 ? 31 : 24, value = gutter - SCALE_W - 9;

	place(l, &l->name, 1, value - 2);
	place(l, &l->value, value, 9);
	place(l, &l->scale, gutter - SCALE_W + 1, SCALE_W - 1);
	place(l, &l->stats, 0, 0);
	place(l, &l->chart, gutter + 1, w - gutter - 2);
}

static void split_columns(struct layout *l, int w)
{
	int margin = w >= 40 ? 1 : 0;
	int name = w >= 120 ? 18 : w >= 100 ? 15 : w >= 76 ? 13 : w >= 50 ? 11 : w >= 32 ? 8 : 5;
	int value = w >= 32 ? 9 : 7;
	int stats = w >= 76 ? STATS_W : 0;
	int x = margin;

	place(l, &l->name, x, name);
	x += name + 1;
	place(l, &l->value, x, value);
	x += value + (w >= 76 ? 2 : 1);
	place(l, &l->scale, x, 0);
	place(l, &l->stats, x, stats);
	x += stats ? stats + 2 : 0;
	place(l, &l->chart, x, w - x - margin);
}

/* Name, value and statistics are above the chart, the scale is beside it. */
static void split_solo(struct layout *l, int w)
{
	int margin = w >= 40 ? 1 : 0,
	    name = w >= 50   ? 18
		   : w >= 32 ? 10
			     : 6,
	    axis = w >= 76   ? 16
		   : w >= 50 ? 8
		   : w >= 32 ? 6
			     : 0;
	int value = w >= 32 ? 9 : 7, x = margin;

	l->name = (struct rect) {x, l->body.y, name, 1};
	x += name + 1;
	l->value = (struct rect) {x, l->body.y, value, 1};
	x += value + 2;
	if (w - x - margin >= SOLO_STATS_W)
		l->stats = (struct rect) {x, l->body.y, SOLO_STATS_W, 1};
	l->chart = (struct rect) {margin + axis, l->body.y + 1, w - 2 * margin - axis, l->body.h - 1};
	l->solo = true;
}

struct layout layout_screen(const struct layout_wish *wish)
{
	struct layout l = {.small = wish->w < LAYOUT_MIN_W || wish->h < LAYOUT_MIN_H};

	if (l.small)
		return l;
	split_lines(&l, wish);
	if (wish->solo && l.body.h >= 3)
		split_solo(&l, wish->w);
	else if (wish->compact || wish->w < 76)
		split_columns(&l, wish->w);
	else
		split_gutter(&l, wish->w);
	return l;
}

static int most(int weight)
{
	return weight <= WEIGHT_REST ? 1 : weight <= WEIGHT_PART ? 8 : 255;
}

void layout_rows(const unsigned char *weight, int n, int lines, unsigned char *height)
{
	int used = n, sum = 0;

	for (int i = 0; i < n; i++) {
		height[i] = 1;
		sum += most(weight[i]) > 1 ? weight[i] : 0;
	}
	/* Each line goes to the row that is furthest below its share. */
	while (used < lines && sum > 0) {
		int next = -1;

		for (int i = 0; i < n; i++)
			if (height[i] < most(weight[i]) &&
			    (next < 0 || height[i] * weight[next] < height[next] * weight[i]))
				next = i;
		if (next < 0)
			return;
		height[next]++;
		used++;
	}
}
