/* view-epochs: the phases between the marks, and what each of them took.
 *
 * Above, a line a phase; below, all signals of the phases that were chosen, side by
 * side and held against the first of them, or of the one that the line is on. */
#include "ui/phases.h"

#include "util/intl.h"

#include <string.h>

static void epochs_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	struct phases *e = phases_look(u);

	if (!u->extent.any)
		canvas_text(c, u->at.name.x, u->at.body.y, c->w - u->at.name.x, STYLE_DIM,
			    s->live ? _("Waiting for the first samples.")
				    : _("This trace has no samples."));
	if (!e || !u->at.body.h || !u->extent.any)
		return;
	phases_list(u, s, e);
	if (!e->n)
		return;
	phases_sheets(e, s);
	phases_list_draw(u, s, c, e);
	phases_sides_draw(u, s, c, e);
	if (e->more)
		screen_say(u, STYLE_WARN, _("only the first %d phases are listed"), PHASES_MAX);
}

static void choose(struct ui *u, struct phases *e)
{
	uint64_t id = e->phases[e->at].id;
	size_t place;

	if (phases_chosen(e, id, &place)) {
		memmove(&e->chosen[place], &e->chosen[place + 1],
			(e->n_chosen - place - 1) * sizeof(e->chosen[0]));
		e->n_chosen--;
		return;
	}
	if (e->n_chosen == CHOSEN_MAX) {
		screen_say(u, STYLE_WARN, _("at most %d at once"), CHOSEN_MAX);
		return;
	}
	e->chosen[e->n_chosen++] = id;
}

/* To the charts of the phase. */
static void go(struct ui *u, const struct ui_scene *s, const struct phases *e)
{
	const struct phase *p = &e->phases[e->at];

	views_show(u, &view_overview);
	viewport_show(&u->vp, &u->extent, s->now_ns, p->from_ns, p->to_ns);
	select_set(u, p->from_ns, p->to_ns);
}

static bool epochs_act(struct ui *u, const struct ui_scene *s, enum action a, struct request *r)
{
	struct phases *e = u->phases;
	int page = u->at.body.h / 2 > 1 ? u->at.body.h / 2 : 1;

	(void)r;
	if (!e || e->about != u->about || !e->n)
		return false;
	switch (a) {
	case ACT_UP:
	case ACT_SCROLL_UP:
		e->at -= e->at > 0;
		return true;
	case ACT_DOWN:
	case ACT_SCROLL_DOWN:
		e->at += e->at + 1 < e->n;
		return true;
	case ACT_PAGE_UP:
		e->scroll = e->scroll > page ? e->scroll - page : 0;
		return true;
	case ACT_PAGE_DOWN:
		e->scroll += page;
		return true;
	case ACT_CHOOSE:
		choose(u, e);
		return true;
	case ACT_ABOUT:
		go(u, s, e);
		return true;
	case ACT_ESC:
		if (!e->n_chosen || u->search.going || u->selection.on)
			return false;
		e->n_chosen = 0;
		return true;
	default:
		return false;
	}
}

/* Once to see a phase, once more to choose it. */
static bool epochs_click(struct ui *u, const struct ui_scene *s, int x, int y, struct request *r)
{
	struct phases *e = u->phases;
	int line = y - u->at.body.y;

	(void)s;
	(void)x;
	(void)r;
	if (!e || !e->n || e->about != u->about || line < 0 || line >= phases_list_lines(u, e))
		return false;
	if (e->at == e->top + (size_t)line)
		choose(u, e);
	e->at = e->top + (size_t)line;
	return true;
}

static int epochs_length(const struct ui *u, const struct ui_scene *s)
{
	(void)s;
	return u->phases ? (int)u->phases->n : 0;
}

const struct view view_epochs = {
	.name = "phases",
	.label = N_("Phases"),
	.key = '7',
	.plain = true,
	.draw = epochs_draw,
	.act = epochs_act,
	.length = epochs_length,
	.click = epochs_click,
};
