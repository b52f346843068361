/* actions: what the common keys do; the mouse calls the same.
 *
 * Whatever is done outside this folder (quit, mark, record, open) is only asked
 * for: keys, mouse, a script and a test go one way. */
#include "ui/goto.h"
#include "ui/header.h"
#include "ui/moment.h"
#include "ui/rows.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <string.h>

void act_space(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	viewport_space(&u->vp, &u->extent, s->now_ns);
}

void act_zoom(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	viewport_zoom(&u->vp, &u->extent, s->now_ns, arg);
}

/* arg: eighths of the screen. */
void act_pan(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	int by = u->vp.columns * arg / 8;

	viewport_pan(&u->vp, &u->extent, s->now_ns, by ? by : arg);
}

void act_all(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	viewport_all(&u->vp, &u->extent, s->now_ns);
}

void act_cursor(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	viewport_cursor(&u->vp, &u->extent, s->now_ns, arg);
}

void act_ends(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	if (arg < 0)
		viewport_jump(&u->vp, &u->extent, s->now_ns, u->extent.first_ns);
	else
		viewport_now(&u->vp, &u->extent, s->now_ns);
}

void act_go_mark(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	int64_t t, event;
	bool found;

	viewport_settle(&u->vp, &u->extent, s->now_ns);
	if (!s->timeline || (u->vp.follow && arg > 0))
		return;
	found = goto_mark(s->timeline, &u->extent, u->vp.head_ns, arg, &t);
	if (moment_event(s->timeline, &u->extent, u->vp.head_ns, arg, &event) &&
	    (!found || (arg > 0 ? event < t : event > t))) {
		t = event;
		found = true;
	}
	if (found)
		viewport_jump(&u->vp, &u->extent, s->now_ns, t);
}

/* The row that a person means: the chosen one, or else the first signal. */
static const struct row *meant_row(const struct ui *u)
{
	int i = u->chosen;

	for (int k = 0; i < 0 && k < u->n_rows; k++)
		if (u->rows[k].kind == ROW_SIGNAL)
			i = k;
	return i >= 0 && i < u->n_rows && u->rows[i].kind == ROW_SIGNAL ? &u->rows[i] : NULL;
}

/* In the selection, or in all there is. */
static bool go_extreme(struct ui *u, const struct ui_scene *s, int sign)
{
	const struct row *row = meant_row(u);
	int64_t from, to, t;
	const struct channel *ch;
	char value[QUANTITY_TEXT], at[QUANTITY_TEXT];
	enum unit unit;
	double v;

	if (!row || !s->timeline || !u->extent.any)
		return false;
	ch = &u->about->channels[row->channel];
	if (!select_get(u, &from, &to)) {
		from = u->extent.first_ns;
		to = u->extent.last_ns + 1;
	}
	if (ch->missing[0] || !moment_extreme(s->timeline, row->channel, from, to, sign, &t, &v))
		return false;
	viewport_jump(&u->vp, &u->extent, s->now_ns, t);
	unit = quantity_of(ch, v);
	quantity_text(value, unit, v, 9);
	screen_moment(u, s, t, at);
	/* TRANSLATORS: a signal, its value with its unit, and a time. */
	screen_say(u, STYLE_TEXT, sign > 0 ? _("maximum of %s: %s %s at %s") : _("minimum of %s: %s %s at %s"),
		   row->name[0] ? row->name : ch->label, value, quantity_unit(unit), at);
	return true;
}

void act_extreme(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	if (!go_extreme(u, s, arg))
		screen_say(u, STYLE_DIM, "%s", _("this view has no signal with values"));
}

static bool goto_enter(struct ui *u, const struct ui_scene *s, struct request *r)
{
	int64_t t;

	if (!u->line.text[0] || !s->timeline || !u->extent.any)
		return true;
	viewport_settle(&u->vp, &u->extent, s->now_ns);
	if (!strcmp(u->line.text, "end") || !strcmp(u->line.text, "now")) {
		viewport_now(&u->vp, &u->extent, s->now_ns);
		return true;
	}
	if ((!strcmp(u->line.text, "max") && go_extreme(u, s, 1)) ||
	    (!strcmp(u->line.text, "min") && go_extreme(u, s, -1)))
		return true;
	if (goto_parse(u->line.text, s->timeline, &u->extent, u->vp.head_ns, &t)) {
		viewport_jump(&u->vp, &u->extent, s->now_ns, t);
		return true;
	}
	snprintf(u->line.wrong, sizeof(u->line.wrong), "%s", _("no such place; try"));
	return false;
}

void act_goto(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	static const struct prompt prompt = {.title = N_("go to:"),
					     .room = 32,
					     .examples = "12.5  1:23  +10s  -2m  50%  14:32:05  m3  max  end",
					     .backs_out = true,
					     .enter = goto_enter};

	if (u->extent.any)
		prompt_open(u, &prompt, "", r->t_ns, NULL);
}

void act_step(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	if (!u->extent.any || (u->vp.follow && arg > 0))
		return;
	viewport_settle(&u->vp, &u->extent, s->now_ns);
	viewport_jump(&u->vp, &u->extent, s->now_ns,
		      s->timeline->ops->step(s->timeline, TIER_FAST, u->vp.head_ns, arg));
}

void act_speed(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	viewport_speed(&u->vp, &u->extent, s->now_ns, arg);
}

/* arg: enum request_kind */
void act_request(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	r->kind = (enum request_kind)arg;
}

static bool is_live(struct ui *u, const struct ui_scene *s)
{
	if (!s->live)
		screen_say(u, STYLE_DIM, "%s",
			   s->has_live ? _("A saved trace stays as it is; Esc leads to the live screen.")
				       : _("A saved trace stays as it is."));
	return s->live;
}

/* arg: enum request_kind */
void act_live(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	if (is_live(u, s))
		r->kind = (enum request_kind)arg;
}

void act_part(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	r->kind = REQUEST_PART;
	r->by = arg;
}

/* The mark is for the time of the key, and finds its place when its label is known. */
static bool label_enter(struct ui *u, const struct ui_scene *s, struct request *r)
{
	r->kind = REQUEST_MARK;
	r->t_ns = u->line.t_ns;
	memcpy(r->label, u->line.text, sizeof(r->label));
	return true;
}

void act_label(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	static const struct prompt label = {.title = N_("label of the mark:"),
					    .room = sizeof(r->label),
					    .hint = N_("Enter: set the mark   Esc: no mark"),
					    .enter = label_enter};

	/* With no line to type in, the mark is set without a label. */
	if (is_live(u, s) && !prompt_open(u, &label, "", r->t_ns, NULL))
		r->kind = REQUEST_MARK;
}

/* The selection, or what is in view. */
static void export(struct ui *u, struct request *r)
{
	if (!u->extent.any)
		return;
	r->kind = REQUEST_EXPORT;
	r->zoom = u->vp.zoom;
	if (select_get(u, &r->t_ns, &r->to_ns))
		return;
	r->t_ns = viewport_first(&u->vp) * viewport_column_ns(&u->vp);
	r->to_ns = viewport_cell_ns(&u->vp, u->at.chart.w - 1) + 1;
	if (r->t_ns < u->extent.first_ns)
		r->t_ns = u->extent.first_ns;
	if (r->to_ns > u->extent.last_ns + 1)
		r->to_ns = u->extent.last_ns + 1;
}

/* Any other key: nothing is saved. */
static bool copy_key(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r)
{
	if (ev->pasted || (ev->mods & (MOD_CTRL | MOD_ALT)))
		return false;
	modal_close(u);
	r->svg = ev->key == 's';
	if (r->svg || ev->key == 't')
		r->kind = REQUEST_COPY;
	else if (ev->key == 'c')
		export(u, r);
	return true;
}

static bool copy_draw(struct ui *u, const struct ui_scene *s, struct canvas *c)
{
	int x = u->at.name.x, right = c->w - x;
	int64_t from, to;

	x += canvas_text(c, x, u->at.bar.y, right - x, STYLE_KEY, _("save:")) + 2;
	canvas_text(c, x, u->at.bar.y, right - x, STYLE_KEY_TEXT,
		    select_get(u, &from, &to)
			    ? _("c: the selection as CSV   t: the screen as text   s: as SVG   Esc: no")
			    : _("c: data in view as CSV   t: the screen as text   s: as SVG   Esc: no"));
	return true;
}

void act_copy(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	static const struct modal copy = {copy_key, copy_draw, false};

	modal_open(u, &copy, NULL);
}

void act_open(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	views_cover(u, &view_files);
	r->kind = REQUEST_LIST;
}

void act_setup(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	views_cover(u, &view_setup);
}

void act_help(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	views_cover(u, &view_help);
}

void act_about(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	if (s->record_done) {
		r->kind = REQUEST_OPEN;
		snprintf(r->path, sizeof(r->path), "%s", s->record_done);
	} else if (about_can(u)) {
		u->about_chosen = !u->about_chosen;
	}
}

void act_why(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	if (!u->over && about_can(u))
		act_about(u, s, r, arg);
	else
		views_cover(u, &view_help);
}

void act_escape(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	const struct view *v = views_top(u);

	if (s->opening)
		r->kind = REQUEST_STAY;
	else if (v->escape && v->escape(u))
		return;
	else if (u->over)
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

void act_line(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	views_top(u)->move(u, s, MOVE_LINE, arg);
}

void act_page(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	views_top(u)->move(u, s, MOVE_PAGE, arg);
}

void act_wheel(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	views_top(u)->move(u, s, MOVE_WHEEL, arg);
}

void act_phases_hint(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	screen_say(u, STYLE_DIM, "%s", _("7 shows the phases, of which x chooses some to be compared"));
}
