/* act: from keys to what they mean; mouse.c does the same for the mouse.
 *
 * Whatever is done outside this folder (quit, mark, record, open) is only asked
 * for: keys, mouse, a script and a test go one way. */
#include "ui/screen.h"

#include "util/intl.h"

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

/* What is done outside this folder; false: something else. */
static bool act_outside(struct ui *u, enum action a, int64_t t_ns, struct request *r)
{
	switch (a) {
	case ACT_MARK:
		r->kind = REQUEST_MARK;
		break;
	case ACT_LABEL:
		label_open(u, t_ns, r);
		return true;
	case ACT_RECORD:
		r->kind = REQUEST_RECORD;
		break;
	case ACT_KEEP:
		r->kind = REQUEST_KEEP;
		break;
	case ACT_REPAINT:
		r->kind = REQUEST_REPAINT;
		break;
	case ACT_SUSPEND:
		r->kind = REQUEST_SUSPEND;
		break;
	case ACT_NEXT_PART:
	case ACT_PREV_PART:
		r->kind = REQUEST_PART;
		r->by = a == ACT_NEXT_PART ? 1 : -1;
		break;
	case ACT_QUIT:
		r->kind = REQUEST_QUIT;
		break;
	default:
		return false;
	}
	r->t_ns = t_ns;
	return true;
}

/* What covers the charts, or asks something; false: something else. */
static bool act_over(struct ui *u, enum action a, struct request *r)
{
	switch (a) {
	case ACT_OPEN:
		over_set(u, &view_files);
		r->kind = REQUEST_LIST;
		return true;
	case ACT_GOTO:
	case ACT_SEARCH:
		prompt_open(u, a == ACT_GOTO ? PROMPT_GOTO : PROMPT_SEARCH);
		return true;
	case ACT_ABOUT:
	case ACT_WHY:
		if (!u->over && about_can(u))
			u->about_chosen = !u->about_chosen;
		else if (a == ACT_WHY)
			over_set(u, &view_help);
		return true;
	case ACT_COPY:
		u->copying = u->at.bar.h > 0;
		return true;
	case ACT_SETUP:
		over_set(u, &view_setup);
		return true;
	case ACT_HELP:
		over_set(u, &view_help);
		return true;
	default:
		return false;
	}
}

int act_lines(enum action a, int page)
{
	switch (a) {
	case ACT_UP:
	case ACT_SCROLL_UP:
		return -1;
	case ACT_DOWN:
	case ACT_SCROLL_DOWN:
		return 1;
	case ACT_PAGE_UP:
		return -page;
	case ACT_PAGE_DOWN:
		return page;
	default:
		return 0;
	}
}

static void act_else(struct ui *u, const struct ui_scene *s, enum action a, struct request *r)
{
	int page = u->at.body.h > 1 ? u->at.body.h - 1 : 1;

	switch (a) {
	case ACT_SEARCH_NEXT:
	case ACT_SEARCH_PREV:
		search_next(u, s, a == ACT_SEARCH_PREV);
		break;
	case ACT_ESC:
		escape(u, s, r);
		break;
	case ACT_CHOOSE:
		screen_say(u, STYLE_DIM, "%s",
			   _("7 shows the phases, of which x chooses some to be compared"));
		break;
	default:
		if (act_lines(a, page))
			scroll(u, s, act_lines(a, page));
		break;
	}
}

void act_on(struct ui *u, const struct ui_scene *s, enum action a, int64_t t_ns, struct request *r)
{
	const struct view *v = u->over ? u->over : u->view;

	r->redraw = true;
	if (a == ACT_ESC && s->opening) {
		r->kind = REQUEST_STAY;
		return;
	}
	if ((v->act && v->act(u, s, a, r)) || act_time(u, s, a) || select_act(u, s, a) || second_act(u, a))
		return;
	if (views_turn(u, a)) {
		views_show(u, views_turn(u, a));
		return;
	}
	if (!s->live && (a == ACT_MARK || a == ACT_LABEL || a == ACT_RECORD || a == ACT_KEEP)) {
		screen_say(u, STYLE_WARN, "%s",
			   _("A saved trace stays as it is; Esc leads to the live screen."));
		return;
	}
	if (!act_outside(u, a, t_ns, r) && !act_over(u, a, r))
		act_else(u, s, a, r);
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

/* Was a question in the last picture?  To that the next key or press is the answer; what
 * was in no picture yet is not asked at all. */
static bool take_question(struct ui *u, const struct event *ev)
{
	bool asked = u->procs.asked;

	if (ev->kind != EVENT_KEY && (ev->kind != EVENT_MOUSE || ev->action != MOUSE_PRESS))
		return false;
	u->procs.asking = u->procs.asked = false;
	return asked;
}

struct request ui_event(struct ui *u, const struct ui_scene *s, const struct event *ev)
{
	struct request r = {.kind = REQUEST_NONE};
	bool asked = take_question(u, ev);

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
		mouse_event(u, s, ev, &r);
		break;
	case EVENT_KEY:
		if (asked) {
			processes_answer(u, ev, &r);
			break;
		}
		if (u->copying && copy_key(u, ev, &r))
			break;
		if (processes_key(u, ev, &r) || (u->labelling && label_key(u, ev, &r)))
			break;
		if (u->prompting && prompt_key(u, s, ev))
			r.redraw = true;
		else if (!ev->pasted) {
			u->said[0] = 0;
			act_on(u, s, keys_action(ev, screen_when(u)), ev->t_ns, &r);
		}
		break;
	default:
		break;
	}
	r.redraw |= asked;
	return r;
}
