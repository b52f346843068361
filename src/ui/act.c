/* act: from events to what they mean.
 *
 * Whatever is done outside this folder (quit, mark, record, open) is only asked
 * for: keys, mouse, a script and a test go one way. */
#include "screen.h"

#include "nvmtop/intl.h"

#include <string.h>

static void over_set(struct ui *u, const struct view *over)
{
	u->over = u->over == over ? NULL : over;
	u->over_scroll = 0;
}

static void go_mark(struct ui *u, const struct ui_scene *s, int n)
{
	int64_t t;

	viewport_settle(&u->vp, &u->extent, s->now_ns);
	if (u->vp.follow && n > 0)
		return;
	if (s->timeline && goto_mark(s->timeline, &u->extent, u->vp.head_ns, n, &t))
		viewport_jump(&u->vp, &u->extent, s->now_ns, t);
}

static void step(struct ui *u, const struct ui_scene *s, int n)
{
	if (!u->extent.any || (u->vp.follow && n > 0))
		return;
	viewport_settle(&u->vp, &u->extent, s->now_ns);
	viewport_jump(&u->vp, &u->extent, s->now_ns,
		      s->timeline->ops->step(s->timeline, TIER_FAST, u->vp.head_ns, n));
}

static void scroll(struct ui *u, const struct ui_scene *s, int by)
{
	const struct view *v = u->over ? u->over : u->view;
	int *at = u->over ? &u->over_scroll : &u->scroll, most = v->length(u, s) - 1;

	*at += by;
	if (*at > most)
		*at = most;
	if (*at < 0)
		*at = 0;
}

static void escape(struct ui *u, const struct ui_scene *s, struct request *r)
{
	if (u->over)
		u->over = NULL;
	else if (u->search.going)
		u->search.going = false;
	else if (u->selection.on)
		u->selection.on = false;
	else if (u->about_chosen)
		u->about_chosen = false;
	else if (u->solo)
		u->solo = false;
	else if (u->chosen >= 0)
		u->chosen = -1;
	else if (!s->live)
		r->kind = REQUEST_LIVE;
	else if (!u->vp.follow)
		viewport_now(&u->vp, &u->extent, s->now_ns);
}

/* What moves through time; false: something else. */
static bool act_time(struct ui *u, const struct ui_scene *s, enum action a)
{
	struct viewport *v = &u->vp;
	const struct extent *e = &u->extent;
	int part = v->columns >= 8 ? v->columns / 8 : 1;

	switch (a) {
	case ACT_SPACE:
		viewport_space(v, e, s->now_ns);
		return true;
	case ACT_ZOOM_IN:
	case ACT_ZOOM_OUT:
		viewport_zoom(v, e, s->now_ns, a == ACT_ZOOM_IN ? 1 : -1);
		return true;
	case ACT_BACK:
	case ACT_FORWARD:
		viewport_pan(v, e, s->now_ns, a == ACT_BACK ? -part : part);
		return true;
	case ACT_ALL:
		viewport_all(v, e, s->now_ns);
		return true;
	case ACT_CURSOR_BACK:
	case ACT_CURSOR_FORWARD:
		viewport_cursor(v, e, s->now_ns, a == ACT_CURSOR_BACK ? -1 : 1);
		return true;
	case ACT_SCREEN_BACK:
	case ACT_SCREEN_FORWARD:
		viewport_pan(v, e, s->now_ns, a == ACT_SCREEN_BACK ? -v->columns : v->columns);
		return true;
	case ACT_START:
		viewport_jump(v, e, s->now_ns, e->first_ns);
		return true;
	case ACT_END:
		viewport_now(v, e, s->now_ns);
		return true;
	case ACT_PREV_MARK:
	case ACT_NEXT_MARK:
		go_mark(u, s, a == ACT_PREV_MARK ? -1 : 1);
		return true;
	case ACT_STEP_BACK:
	case ACT_STEP:
		step(u, s, a == ACT_STEP_BACK ? -1 : 1);
		return true;
	case ACT_SLOWER:
	case ACT_FASTER:
		viewport_speed(v, e, s->now_ns, a == ACT_SLOWER ? -1 : 1);
		return true;
	default:
		return false;
	}
}

static void act(struct ui *u, const struct ui_scene *s, enum action a, int64_t t_ns, struct request *r)
{
	const struct view *v = u->over ? u->over : u->view;
	int page = u->at.body.h > 1 ? u->at.body.h - 1 : 1;

	r->redraw = true;
	if ((v->act && v->act(u, s, a, r)) || act_time(u, s, a) || select_act(u, s, a) ||
	    second_act(u, a))
		return;
	if (views_turn(u, a)) {
		views_show(u, views_turn(u, a));
		return;
	}
	if (!s->live && (a == ACT_MARK || a == ACT_LABEL || a == ACT_RECORD || a == ACT_KEEP)) {
		screen_say(u, STYLE_WARN, "%s",
			   _("A saved trace stays as it is; Esc goes back to where marks and recordings are made."));
		return;
	}
	switch (a) {
	case ACT_MARK:
		r->kind = REQUEST_MARK;
		r->t_ns = t_ns;
		break;
	case ACT_LABEL:
		label_open(u, t_ns, r);
		break;
	case ACT_RECORD:
		r->kind = REQUEST_RECORD;
		r->t_ns = t_ns;
		break;
	case ACT_KEEP:
		r->kind = REQUEST_KEEP;
		r->t_ns = t_ns;
		break;
	case ACT_OPEN:
		over_set(u, &view_files);
		r->kind = REQUEST_LIST;
		break;
	case ACT_GOTO:
	case ACT_SEARCH:
		prompt_open(u, a == ACT_GOTO ? PROMPT_GOTO : PROMPT_SEARCH);
		break;
	case ACT_SEARCH_NEXT:
	case ACT_SEARCH_PREV:
		search_next(u, s, a == ACT_SEARCH_PREV);
		break;
	case ACT_UP:
	case ACT_DOWN:
	case ACT_SCROLL_UP:
	case ACT_SCROLL_DOWN:
		scroll(u, s, a == ACT_UP || a == ACT_SCROLL_UP ? -1 : 1);
		break;
	case ACT_PAGE_UP:
	case ACT_PAGE_DOWN:
		scroll(u, s, a == ACT_PAGE_UP ? -page : page);
		break;
	case ACT_ESC:
		escape(u, s, r);
		break;
	case ACT_ABOUT:
	case ACT_WHY:
		if (!u->over && about_can(u))
			u->about_chosen = !u->about_chosen;
		else if (a == ACT_WHY)
			over_set(u, &view_help);
		break;
	case ACT_CHOOSE:
		screen_say(u, STYLE_DIM, "%s", _("7 shows the phases, of which x chooses some to be compared"));
		break;
	case ACT_COPY:
		u->copying = u->at.bar.h > 0;
		break;
	case ACT_SETUP:
		over_set(u, &view_setup);
		break;
	case ACT_HELP:
		over_set(u, &view_help);
		break;
	case ACT_REPAINT:
		r->kind = REQUEST_REPAINT;
		break;
	case ACT_SUSPEND:
		r->kind = REQUEST_SUSPEND;
		break;
	case ACT_QUIT:
		r->kind = REQUEST_QUIT;
		break;
	default:
		break;
	}
}

/* Any other key: no copy. */
static bool copy_key(struct ui *u, const struct event *ev, struct request *r)
{
	bool text = ev->key == 't', svg = ev->key == 's';

	if (ev->pasted || (ev->mods & (MOD_CTRL | MOD_ALT)))
		return false;
	u->copying = false;
	r->redraw = true;
	if (text || svg) {
		r->kind = REQUEST_COPY;
		r->svg = svg;
	}
	return true;
}

static bool inside(const struct rect *r, int x, int y)
{
	return x >= r->x && x < r->x + r->w && y >= r->y && y < r->y + r->h;
}

/* Once to choose a row, once more to be told about it. */
static void click_row(struct ui *u, int row)
{
	if (row < 0 || row >= u->n_rows)
		return;
	u->about_chosen = row == u->chosen ? !u->about_chosen : u->about_chosen;
	u->chosen = row;
}

/* A press puts the cursor there, dragging selects from there on. */
static void click_chart(struct ui *u, const struct ui_scene *s, const struct event *ev, int cell)
{
	int64_t begin = viewport_cell_ns(&u->vp, cell - 1) + 1, end = viewport_cell_ns(&u->vp, cell);

	if (ev->action == MOUSE_PRESS) {
		u->dragging = true;
		u->drag_ns = begin;
	} else if (u->dragging && (begin != u->drag_ns || u->selection.on)) {
		int64_t pressed = u->drag_ns + (((int64_t)u->vp.per_cell << u->vp.zoom));

		select_set(u, begin < u->drag_ns ? pressed : u->drag_ns, begin < u->drag_ns ? begin : end + 1);
	}
	viewport_jump(&u->vp, &u->extent, s->now_ns, end);
}

/* On the axis: to the mark whose number or label is there, or whose line is a cell away. */
static bool click_mark(struct ui *u, const struct ui_scene *s, int x)
{
	int64_t from_ns = viewport_first(&u->vp) * (INT64_C(1) << u->vp.zoom);
	const struct mark *best = NULL;
	size_t n;

	n = s->timeline->ops->marks(s->timeline, from_ns, u->vp.right_ns + 1, u->marks, MARKS_MAX);
	for (size_t i = 0; i < n; i++) {
		int cell = viewport_cell(&u->vp, u->marks[i].t_ns), from = u->at.chart.x + cell;
		int w = snprintf(NULL, 0, "%llu", (unsigned long long)u->marks[i].id);

		if (u->marks[i].label[0])
			w += 1 + text_width(u->marks[i].label);
		if (cell >= 0 && x >= from - 1 && x <= from + w)
			best = &u->marks[i]; /* the later one stands in front */
	}
	if (best)
		viewport_jump(&u->vp, &u->extent, s->now_ns, best->t_ns);
	return best != NULL;
}

static void click(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r)
{
	int cell = ev->x - u->at.chart.x;

	for (int i = 0; i < u->n_hits; i++)
		if (ev->y == u->hits[i].y && ev->x >= u->hits[i].x && ev->x < u->hits[i].x + u->hits[i].w) {
			act(u, s, u->hits[i].action, ev->t_ns, r);
			return;
		}
	if (setup_click(u, s, ev, u->screen_w, r))
		return;
	if (u->over == &view_files && inside(&u->at.body, ev->x, ev->y)) {
		int at = u->over_scroll + ev->y - u->at.body.y;

		if (at < (int)s->n_files) {
			bool again = at == u->file_at;

			u->file_at = at;
			r->redraw = true;
			if (again)
				act(u, s, ACT_ENTER, ev->t_ns, r);
		}
		return;
	}
	if (!u->over && u->view->click && inside(&u->at.body, ev->x, ev->y)) {
		r->redraw = ev->action == MOUSE_PRESS && u->view->click(u, s, ev->x, ev->y);
		return;
	}
	if (processes_click(u, s, ev)) {
		r->redraw = true;
		return;
	}
	if (u->view->plain && !u->over)
		return;
	if (!u->over && u->extent.any && cell < 0 && inside(&u->at.body, ev->x, ev->y)) {
		click_row(u, charts_row_at(u, ev->y));
		r->redraw = true;
		return;
	}
	if (u->over || !u->extent.any || cell < 0 || cell >= u->at.chart.w)
		return;
	if (inside(&u->at.axis, ev->x, ev->y)) {
		r->redraw = ev->action == MOUSE_PRESS && click_mark(u, s, ev->x);
		return;
	}
	if (inside(&u->at.strip, ev->x, ev->y)) {
		double part = u->at.chart.w > 1 ? (double)cell / (u->at.chart.w - 1) : 0;

		viewport_jump(&u->vp, &u->extent, s->now_ns,
			      u->extent.first_ns +
				      (int64_t)((double)(u->extent.last_ns - u->extent.first_ns) * part));
		r->redraw = true;
	} else if (inside(&u->at.chart, ev->x, ev->y) || inside(&u->at.events, ev->x, ev->y)) {
		click_chart(u, s, ev, cell);
		r->redraw = true;
	}
}

static void mouse(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r)
{
	bool charts = !u->over && !u->view->plain && ev->x >= u->at.chart.x;

	if (ev->action != MOUSE_DRAG)
		u->dragging = false;
	if (u->at.small || ev->action == MOUSE_RELEASE)
		return;
	if (ev->button == 4 || ev->button == 5) {
		enum action a = charts ? (ev->button == 4 ? ACT_ZOOM_IN : ACT_ZOOM_OUT)
				       : (ev->button == 4 ? ACT_SCROLL_UP : ACT_SCROLL_DOWN);

		if (ev->action == MOUSE_PRESS)
			act(u, s, a, ev->t_ns, r);
	} else if (ev->button == 1 && (ev->action == MOUSE_PRESS || charts)) {
		/* Dragging moves the playhead along; it must not press keys again. */
		if (ev->action == MOUSE_DRAG && (ev->y == u->at.bar.y || ev->y == u->at.tabs.y))
			return;
		click(u, s, ev, r);
	}
}

struct request ui_event(struct ui *u, const struct ui_scene *s, const struct event *ev)
{
	struct request r = {.kind = REQUEST_NONE};

	screen_look(u, s);
	switch (ev->kind) {
	case EVENT_RESIZE:
		r.redraw = true;
		break;
	case EVENT_CLOSED:
		r.kind = REQUEST_QUIT;
		break;
	case EVENT_MOUSE:
		if (ev->action == MOUSE_PRESS)
			u->said[0] = 0;
		mouse(u, s, ev, &r);
		break;
	case EVENT_KEY:
		if (u->copying && copy_key(u, ev, &r))
			break;
		if (processes_key(u, ev, &r) || (u->labelling && label_key(u, ev, &r)))
			break;
		if (u->prompting && prompt_key(u, s, ev))
			r.redraw = true;
		else if (!ev->pasted) {
			u->said[0] = 0;
			act(u, s, keys_action(ev, screen_when(u)), ev->t_ns, &r);
		}
		break;
	default:
		break;
	}
	return r;
}
