/* dispatch: passes an event to the open question or prompt, to a key's handler or to the mouse. */
#include "ui/control.h"
#include "ui/screen.h"

bool modal_open(struct ui *u, const struct modal *m, const struct view *view)
{
	if (!u->at.bar.h || u->modals.n == MODALS_MAX)
		return false;
	u->modals.asked = false;
	u->modals.stack[u->modals.n].modal = m;
	u->modals.stack[u->modals.n++].view = view;
	return true;
}

const struct modal *modal_top(const struct ui *u)
{
	return u->modals.n ? u->modals.stack[u->modals.n - 1].modal : NULL;
}

void modal_close(struct ui *u)
{
	u->modals.n -= u->modals.n > 0;
}

/* A key or press closes an open question. It counts as the answer only if the last frame showed the
 * question. */
static const struct modal *take_question(struct ui *u, const struct event *ev)
{
	const struct modal *m = modal_top(u);

	if (!m || !m->question ||
	    (ev->kind != EVENT_KEY && (ev->kind != EVENT_MOUSE || ev->action != MOUSE_PRESS)))
		return NULL;
	modal_close(u);
	return u->modals.asked ? m : NULL;
}

static void key(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r)
{
	const struct modal *m = modal_top(u);
	const struct key_entry *k;
	int arg;

	if (m && m->key(u, s, ev, r)) {
		r->redraw = true;
		return;
	}
	if (ev->pasted)
		return;
	u->said[0] = 0;
	r->redraw = true;
	if (control_trial_key(u, s, ev, r))
		return;
	k = keys_find(views_top(u), screen_when(u), ev->key, ev->mods, &arg);
	if (k)
		k->handler(u, s, r, arg);
}

struct request ui_event(struct ui *u, const struct ui_scene *s, const struct event *ev)
{
	struct request r = {.kind = REQUEST_NONE, .t_ns = ev->t_ns};
	const struct modal *asked = take_question(u, ev);

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
		if (asked)
			asked->key(u, s, ev, &r);
		else
			key(u, s, ev, &r);
		break;
	default:
		break;
	}
	r.redraw |= asked != NULL;
	return r;
}
