/* mouse: maps clicks, the wheel and dragging to actions. */
#include "ui/charts.h"
#include "ui/screen.h"

#include <stdio.h>

static bool inside(const struct rect *r, int x, int y)
{
	return x >= r->x && x < r->x + r->w && y >= r->y && y < r->y + r->h;
}

/* Selects a row; a second click opens or closes its details. */
static void click_row(struct ui *u, int row)
{
	if (row < 0 || row >= u->n_rows)
		return;
	u->about_chosen ^= row == u->chosen;
	u->chosen = row;
}

/* The time range of a cell. If a mark's line is drawn in it, both ends are the time of the mark. */
static void cell_bounds(struct ui *u, const struct ui_scene *s, int cell, int64_t *from_ns, int64_t *to_ns)
{
	size_t n = 0;

	*from_ns = viewport_cell_ns(&u->vp, cell - 1) + 1;
	*to_ns = viewport_cell_ns(&u->vp, cell) + 1;
	if (u->frame.mark_lines && u->frame.mark_at[cell])
		n = s->timeline->ops->marks(s->timeline, *from_ns, *to_ns, u->frame.marks, MARKS_MAX);
	if (n)
		*from_ns = *to_ns = u->frame.marks[n - 1].t_ns;
}

/* A press moves the playhead; dragging selects a range, which may reach from mark to mark. */
static void click_chart(struct ui *u, const struct ui_scene *s, const struct event *ev, int cell)
{
	int64_t from, to;

	cell_bounds(u, s, cell, &from, &to);
	if (ev->action == MOUSE_PRESS) {
		u->drag.on = true;
		u->drag.from_ns = from;
		u->drag.to_ns = to;
	} else if (u->drag.on && (from != u->drag.from_ns || u->selection.on)) {
		select_set(u, from < u->drag.from_ns ? u->drag.to_ns : u->drag.from_ns,
			   from < u->drag.from_ns ? from : to);
	}
	viewport_jump(&u->vp, &u->extent, s->now_ns, from == to ? to : to - 1);
}

/* Goes to the mark whose number or label is clicked, or whose line is at most a cell away. */
static bool click_mark(struct ui *u, const struct ui_scene *s, int x)
{
	int64_t from_ns = viewport_first(&u->vp) * viewport_column_ns(&u->vp);
	const struct mark *best = NULL;
	size_t n;

	n = s->timeline->ops->marks(s->timeline, from_ns, u->vp.right_ns + 1, u->frame.marks, MARKS_MAX);
	for (size_t i = 0; i < n; i++) {
		int cell = viewport_cell(&u->vp, u->frame.marks[i].t_ns), from = u->at.chart.x + cell;
		int w = snprintf(NULL, 0, "%llu", (unsigned long long)u->frame.marks[i].id);

		if (u->frame.marks[i].label[0])
			w += 1 + text_width(u->frame.marks[i].label);
		if (cell >= 0 && x >= from - 1 && x <= from + w)
			best = &u->frame.marks[i]; /* the later one is drawn on top */
	}
	if (best)
		viewport_jump(&u->vp, &u->extent, s->now_ns, best->t_ns);
	return best != NULL;
}

/* A click on a tab, a key of the bar or the head of a column. */
static bool click_hit(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r)
{
	for (int i = 0; i < u->frame.n_hits; i++) {
		const struct hit *h = &u->frame.hits[i];

		if (ev->y != h->y || ev->x < h->x || ev->x >= h->x + h->w)
			continue;
		r->redraw = true;
		h->handler(u, s, r, h->arg);
		return true;
	}
	return false;
}

static void click_strip(struct ui *u, const struct ui_scene *s, int cell)
{
	double part = u->at.chart.w > 1 ? (double)cell / (u->at.chart.w - 1) : 0;

	viewport_jump(&u->vp, &u->extent, s->now_ns,
		      u->extent.first_ns +
			      (int64_t)((double)(u->extent.last_ns - u->extent.first_ns) * part));
}

/* Returns true if the click had a target. */
static bool click_charts(struct ui *u, const struct ui_scene *s, const struct event *ev)
{
	int cell = ev->x - u->at.chart.x;

	if (cell < 0 && inside(&u->at.body, ev->x, ev->y)) {
		click_row(u, charts_row_at(u, ev->y));
		return true;
	}
	/* No frame was drawn yet. */
	if (cell < 0 || cell >= u->at.chart.w || u->vp.right_ns == INT64_MAX)
		return false;
	if (inside(&u->at.axis, ev->x, ev->y))
		return ev->action == MOUSE_PRESS && click_mark(u, s, ev->x);
	if (inside(&u->at.strip, ev->x, ev->y)) {
		click_strip(u, s, cell);
		return true;
	}
	if (inside(&u->at.ranges, ev->x, ev->y))
		u->ranges.level = u->ranges.top + ev->y - u->at.ranges.y;
	else if (!inside(&u->at.chart, ev->x, ev->y) && !inside(&u->at.events, ev->x, ev->y))
		return false;
	click_chart(u, s, ev, cell);
	return true;
}

static void click(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r)
{
	const struct view *v = views_top(u);

	if (click_hit(u, s, ev, r))
		return;
	if (v->click && (v->panel || inside(&u->at.body, ev->x, ev->y)))
		r->redraw = ev->action == MOUSE_PRESS && v->click(u, s, ev->x, ev->y, r);
	else if (!u->over && !u->view->plain && u->extent.any)
		r->redraw |= click_charts(u, s, ev);
}

/* Zooming keeps the playhead's position on the screen; the wheel first moves it to the pointer, unless the
 * live screen follows now. */
static void zoom_at(struct ui *u, const struct ui_scene *s, int cell, int in)
{
	int64_t from, to;

	if (!u->vp.follow && u->vp.right_ns != INT64_MAX && cell >= 0 && cell < u->at.chart.w) {
		cell_bounds(u, s, cell, &from, &to);
		viewport_jump(&u->vp, &u->extent, s->now_ns, from);
	}
	viewport_zoom(&u->vp, &u->extent, s->now_ns, in);
}

void mouse_event(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r)
{
	bool charts = !u->over && !u->view->plain && ev->x >= u->at.chart.x;

	if (ev->action != MOUSE_DRAG)
		u->drag.on = false;
	if (u->at.small || ev->action == MOUSE_RELEASE)
		return;
	if (ev->button == 4 || ev->button == 5) {
		if (ev->action == MOUSE_PRESS && charts)
			zoom_at(u, s, ev->x - u->at.chart.x, ev->button == 4 ? 1 : -1);
		else if (ev->action == MOUSE_PRESS)
			act_move(u, s, r, ev->button == 4 ? -MOVE_WHEEL : MOVE_WHEEL);
		r->redraw |= ev->action == MOUSE_PRESS;
	} else if (ev->button == 1 && (ev->action == MOUSE_PRESS || charts)) {
		/* Dragging moves the playhead, but must not press keys again. */
		if (ev->action == MOUSE_DRAG && (ev->y == u->at.bar.y || ev->y == u->at.tabs.y))
			return;
		click(u, s, ev, r);
	}
}
