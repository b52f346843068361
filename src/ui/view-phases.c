/* view-phases: the phases between the marks, with their statistics.
 *
 * At the top, the phases on the time axis; then one line for each; at the bottom, all signals of
 * the phase under the cursor, or of the chosen phases side by side. */
#include "ui/charts.h"
#include "ui/phases.h"

#include "util/intl.h"

#include <string.h>

static void phases_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
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
	phases_sheets(u, s, e);
	/* The band already shows the labels of the marks. */
	u->frame.n_marks = 0;
	axis_draw(u, s, c);
	phases_band_draw(u, s, c, e);
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

/* Open the charts of the phase. */
static void go(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	const struct phases *e = phases_shown(u);
	const struct phase *p;
	int64_t from, to, shift;
	int trace;

	if (!e)
		return;
	p = &e->phases[e->at];
	trace = !p->at[0].to_ns;
	shift = trace ? u->second.shift_ns : 0;
	from = p->at[trace].from_ns + shift;
	to = p->at[trace].to_ns + shift;
	views_show(u, &view_overview);
	viewport_show(&u->vp, &u->extent, s->now_ns, from, to);
	select_set(u, from, to);
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

/* The first click moves the cursor to a phase, the second chooses it. */
static bool phases_click(struct ui *u, const struct ui_scene *s, int x, int y, struct request *r)
{
	struct phases *e = phases_shown(u);
	int first, lines, line;

	if (!e)
		return false;
	phases_list_place(u, e, &first, &lines);
	if (y < first)
		return false;
	line = (y - first) / (u->second.about ? 2 : 1);
	if (line >= lines)
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
	.label = N_("Phases"),
	.key = '7',
	.keys = keys,
	.plain = true,
	.every_ms = 250, /* the last phase grows, wherever the cursor is */
	.state = sizeof(struct phases),
	.reset = phases_free,
	.free = phases_free,
	.tick = phases_tick,
	.draw = phases_draw,
	.move = phases_move,
	.click = phases_click,
	.escape = phases_escape,
};
