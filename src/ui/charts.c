/* charts: the rows of a view: their heights, scrolling and the selected row.
 *
 * All views of signals share this code and differ in their rows, so the axis, the marks and the keys are
 * the same in all of them. */
#include "ui/charts.h"
#include "ui/header.h"
#include "ui/screen.h"

#include "util/intl.h"


#define RANKED 512

static bool can_choose(const struct row *row)
{
	return row->kind == ROW_SIGNAL;
}

/* The fixed height of a row; 0: the height depends on its weight. */
static int fixed_lines(struct ui *u, const struct ui_scene *s, struct row *row, int screen_w)
{
	if (row->kind == ROW_TEXT) {
		if (row->read && rows_due(u, &row->tick))
			row->read(u, s, row);
		return row_text_lines(u, row, screen_w);
	}
	if (row->kind == ROW_HEADING || (row->kind == ROW_SIGNAL && u->about->channels[row->channel].missing[0]))
		return 1;
	if (row->kind == ROW_PICTURE && row->weight <= WEIGHT_REST) {
		if (row->read)
			row->read(u, s, row);
		return row->least;
	}
	return row->lines;
}

/* Sets the heights of all rows. Rows without a fixed height share the remaining lines. */
static void measure(struct ui *u, const struct ui_scene *s, int screen_w)
{
	unsigned char weight[RANKED], height[RANKED];
	int lines = u->at.body.h, n = 0;

	for (int i = 0; i < u->n_rows; i++) {
		struct row *row = &u->rows[i];
		int fixed = fixed_lines(u, s, row, screen_w);

		u->height[i] = (unsigned char)(fixed ? fixed : 1);
		if (row->later)
			continue;
		if (fixed || n == RANKED)
			lines -= u->height[i];
		else
			weight[n++] = row->weight;
	}
	/* Two traces get the same height, so that their charts are comparable. */
	if (u->second.about)
		lines /= 2;
	layout_rows(weight, n, lines, height);
	for (int i = 0, k = 0; i < u->n_rows; i++) {
		struct row *row = &u->rows[i];

		if (k < n && !row->later && !fixed_lines(u, s, row, screen_w))
			u->height[i] = height[k++] > row->least ? height[k - 1] : row->least;
		if (row->second.any)
			u->height[i] = (unsigned char)(2 * u->height[i]);
	}
}

/* Corrects the scroll position: the selected row is visible and no lines are wasted at the end. */
static void settle(struct ui *u)
{
	int lines = u->at.body.h, last, used = 0;

	if (u->chosen >= u->n_rows)
		u->chosen = -1;
	if (u->bring && u->chosen >= 0) {
		int first = u->chosen;

		for (used = u->height[first]; first > 0 && used + u->height[first - 1] <= lines; first--)
			used += u->height[first - 1];
		if (u->scroll < first)
			u->scroll = first;
		if (u->scroll > u->chosen)
			u->scroll = u->chosen;
		/* Keep the heading above it visible. */
		if (u->scroll > 0 && u->scroll == u->chosen && !can_choose(&u->rows[u->scroll - 1]) &&
		    u->height[u->scroll - 1] + u->height[u->chosen] <= lines)
			u->scroll--;
	}
	u->bring = false;
	for (last = u->n_rows, used = 0; last > 0 && used + u->height[last - 1] <= lines; last--)
		used += u->height[last - 1];
	if (u->scroll > last)
		u->scroll = last;
	if (u->scroll < 0)
		u->scroll = 0;
}

void charts_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int y = u->at.body.y, end = u->at.body.y + u->at.body.h, i;

	measure(u, s, c->w);
	settle(u);
	if (u->at.solo) {
		row_draw_solo(u, s, c, &u->rows[u->chosen]);
		if (u->about_chosen)
			about_draw(u, s, c);
		return;
	}
	for (i = u->scroll; i < u->n_rows && y < end; i++) {
		int h = u->height[i] < end - y ? u->height[i] : end - y;

		/* Omit a heading without a row below it. */
		if (u->rows[i].kind == ROW_HEADING && y + 1 == end)
			break;
		row_draw(u, s, c, &u->rows[i], y, h, i == u->chosen);
		y += h;
	}
	u->frame.below = u->n_rows - i;
	/* Extend the lines of marks below the last chart, down to the line of events if there is one. */
	if (y < end)
		axis_lines(u, c, y, u->at.events.h ? end - y : 1);
	if (u->about_chosen)
		about_draw(u, s, c);
}

int charts_row_at(const struct ui *u, int y)
{
	int at = u->at.body.y;

	for (int i = u->scroll; i < u->n_rows && at < u->at.body.y + u->at.body.h; i++) {
		if (y >= at && y < at + u->height[i])
			return can_choose(&u->rows[i]) ? i : -1;
		at += u->height[i];
	}
	return -1;
}

/* Selects the row `by` signals further; without a selected row, the first visible one. */
static void choose(struct ui *u, int by)
{
	int at = u->chosen, step = by < 0 ? -1 : 1;

	if (at < 0) {
		for (at = u->scroll; at < u->n_rows && !can_choose(&u->rows[at]); at++)
			;
		by = 0;
	}
	for (; by; by -= step) {
		int to = at + step;

		while (to >= 0 && to < u->n_rows && !can_choose(&u->rows[to]))
			to += step;
		if (to < 0 || to >= u->n_rows)
			break;
		at = to;
	}
	/* Above the first signal: show the headings before it. */
	if (by && step < 0)
		u->scroll = 0;
	if (at < u->n_rows) {
		u->chosen = at;
		u->bring = true;
	}
}

void charts_move(struct ui *u, const struct ui_scene *s, enum move how, int by)
{
	int page = u->at.body.h > 1 ? u->at.body.h - 1 : 1;

	if (how == MOVE_LINE || (how == MOVE_PAGE && u->chosen >= 0))
		choose(u, view_lines(how, by, page));
	else
		view_scroll(&u->scroll, view_lines(how, by, page), u->n_rows);
}
