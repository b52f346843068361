/* layout: what stays and what leaves as the window shrinks.
 *
 * In the order of what a person can do without: the space between, statistics,
 * the axis, the header, the keys; names and values never.  All widths depend on
 * the window alone and never on a number, so nothing jumps. */
#include "ui/layout.h"

#include <stddef.h>

#define STATS_W      15
#define SOLO_STATS_W 24 /* in words */

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
	if (wish->alarm && h >= 10)
		take(&y, &l->alarm, w, 1);
	if (wish->second && h >= 12)
		take(&y, &l->second, w, 1);
	if (h >= 9)
		take(&y, &l->axis, w, 1);
	if (h >= 6)
		l->bar = (struct rect) {0, --bottom, w, 1};
	if (h >= 20)
		l->tabs = (struct rect) {0, --bottom, w, 1};
	if (wish->replay && h >= 9) {
		bottom -= 2;
		l->strip = (struct rect) {0, bottom, w, 2};
	}
	/* Air, where there is plenty. */
	if (h >= 30)
		bottom--;
	if (wish->events && bottom - y > 10)
		l->events = (struct rect) {0, --bottom, w, 1};
	l->body = (struct rect) {0, y, w, bottom - y};
}

/* A table stands in the place of the statistics where there is no room for both, so
 * that the charts begin where they do without it. */
static void split_columns(struct layout *l, int w, int table)
{
	int margin = w >= 40 ? 1 : 0;
	int name = w >= 120 ? 18 : w >= 100 ? 15 : w >= 76 ? 13 : w >= 50 ? 11 : w >= 32 ? 8 : 5;
	int value = w >= 32 ? 9 : 7;
	int stats = w >= (table ? 140 : 76) ? STATS_W : 0;
	int x = margin;

	if (w - name - value - table < 24)
		table = 0;
	if (table && w >= 76 && table < STATS_W)
		table = STATS_W;
	l->name = (struct rect) {x, l->body.y, name, l->body.h};
	x += name + 1;
	l->value = (struct rect) {x, l->body.y, value, l->body.h};
	x += value + (w >= 76 ? 2 : 1);
	l->table = (struct rect) {x, l->body.y, table, table ? l->body.h : 0};
	/* One column more than that takes it from the blank ones behind it. */
	x += table ? table + (w >= 76 && table != STATS_W + 1 ? 2 : 1) : 0;
	l->stats = (struct rect) {x, l->body.y, stats, stats ? l->body.h : 0};
	x += stats ? stats + 2 : 0;
	l->chart = (struct rect) {x, l->body.y, w - x - margin, l->body.h};
}

/* Name, numbers and all stand above the chart, and the scale beside it. */
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
	else
		split_columns(&l, wish->w, wish->table);
	return l;
}

/* What a row of a rank wants when the window has this many lines. */
static int wanted(int rank, int lines)
{
	if (rank == RANK_MAIN)
		return lines >= 70 ? 4 : lines >= 46 ? 3 : lines >= 32 ? 2 : 1;
	if (rank == RANK_PART)
		return lines >= 46 ? 2 : 1;
	return 1;
}

/* Heights of all of a rank grow together, to `most` lines at the most. */
static int grow(const unsigned char *rank, int n, int lines, unsigned char *height, int which, int most,
		int *used)
{
	int rows = 0, each = 0;

	for (int i = 0; i < n; i++)
		if (rank[i] == which)
			rows++, each = height[i];
	if (!rows)
		return most;
	for (; each < most && *used + rows <= lines; each++)
		*used += rows;
	for (int i = 0; i < n; i++)
		if (rank[i] == which)
			height[i] = (unsigned char)each;
	return each;
}

void layout_rows(const unsigned char *rank, int n, int lines, unsigned char *height)
{
	/* First something for everyone, then what is left. */
	static const int most[][3] = {{4, 2, 1}, {5, 3, 1}, {6, 4, 2}, {8, 5, 3}, {12, 9, 3}};
	int used = 0;

	for (int i = 0; i < n; i++) {
		height[i] = (unsigned char)wanted(rank[i], lines);
		used += height[i];
	}
	/* All there is to show fits: share out the rest, never more to what matters less. */
	for (size_t round = 0; round < sizeof(most) / sizeof(most[0]); round++) {
		int limit = most[round][RANK_MAIN];

		for (int r = RANK_MAIN; r <= RANK_REST; r++) {
			if (limit > most[round][r])
				limit = most[round][r];
			limit = grow(rank, n, lines, height, r, limit, &used);
		}
	}
}
