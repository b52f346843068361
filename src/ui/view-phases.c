/* view-phases: the phases between the marks, and what each of them took.
 *
 * Above, a line a phase; below, all signals of the phases that were chosen, side by
 * side and held against the first of them, or of the one that the line is on. */
#include "ui/phases.h"

#include "util/intl.h"

#include <string.h>

static void phases_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	struct phases *e = phases_look(u);

	if (!e || !u->at.body.h)
		return;
	phases_list(u, s, e);
	if (!e->n)
		return;
	phases_sheets(e, s);
	phases_list_draw(u, s, c, e);
	phases_sides_draw(u, s, c, e);
	u->frame.more = phases_busy(e);
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
static void go(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	const struct phases *e = phases_shown(u);
	const struct phase *p;

	if (!e)
		return;
	p = &e->phases[e->at];
	views_show(u, &view_overview);
	viewport_show(&u->vp, &u->extent, s->now_ns, p->from_ns, p->to_ns);
	select_set(u, p->from_ns, p->to_ns);
}

static void choose_key(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	struct phases *e = phases_shown(u);

	if (e)
		choose(u, e);
}

static void phases_move(struct ui *u, const struct ui_scene *s, enum move how, int by)
{
	int page = u->at.body.h / 2 > 1 ? u->at.body.h / 2 : 1;
	struct phases *e = phases_shown(u);

	if (!e)
		return;
	if (how == MOVE_PAGE)
		e->scroll = e->scroll + by * page > 0 ? e->scroll + by * page : 0;
	else if (by < 0 ? e->at > 0 : e->at + 1 < e->n)
		e->at += (size_t)by;
}

static bool phases_escape(struct ui *u)
{
	struct phases *e = phases_shown(u);

	if (!e || !e->n_chosen || u->search.going || u->selection.on)
		return false;
	e->n_chosen = 0;
	return true;
}

/* Once to see a phase, once more to choose it. */
static bool phases_click(struct ui *u, const struct ui_scene *s, int x, int y, struct request *r)
{
	struct phases *e = phases_shown(u);
	int line = y - u->at.body.y;

	if (!e || line < 0 || line >= phases_list_lines(u, e))
		return false;
	if (e->at == e->top + (size_t)line)
		choose(u, e);
	e->at = e->top + (size_t)line;
	return true;
}

static const struct key_entry keys[] = {
	{KEYS_STRETCH, WHEN_CHARTS, {{'x', 0, 0}},
	 choose_key, "x", N_("compare this phase (view 7); again: stop"), "x", N_("compare"), NULL, 0},
	{.group = KEYS_STRETCH, .when = WHEN_CHARTS, .keys = {{K_ENTER, 0, 0}}, .handler = go},
	{.handler = NULL},
};

const struct view view_phases = {
	.name = "phases",
	.renamed = "epochs",
	.label = N_("Phases"),
	.key = '7',
	.keys = keys,
	.plain = true,
	.every_ms = 250, /* the last phase goes on, wherever the cursor is */
	.state = sizeof(struct phases),
	.reset = phases_free,
	.free = phases_free,
	.tick = phases_tick,
	.draw = phases_draw,
	.move = phases_move,
	.click = phases_click,
	.escape = phases_escape,
};
