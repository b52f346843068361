/* go: keys that move to a mark, an event, a typed place in time, or an extreme value. */
#include "ui/goto.h"
#include "ui/moment.h"
#include "ui/rows.h"
#include "ui/screen.h"

#include "util/intl.h"

#include <string.h>

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
	if (ranges_edge(u, s, arg, &event) && (!found || (arg > 0 ? event < t : event > t))) {
		t = event;
		found = true;
	}
	if (found)
		viewport_jump(&u->vp, &u->extent, s->now_ns, t);
}

/* The selected row, or else the first signal. */
static const struct row *meant_row(const struct ui *u)
{
	int i = u->chosen;

	for (int k = 0; i < 0 && k < u->n_rows; k++)
		if (u->rows[k].kind == ROW_SIGNAL)
			i = k;
	return i >= 0 && i < u->n_rows && u->rows[i].kind == ROW_SIGNAL ? &u->rows[i] : NULL;
}

/* Searches the selection, or else the whole timeline. */
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
		   row->name[0] ? row->name : ch->label, value, rows_unit(u, unit), at);
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
