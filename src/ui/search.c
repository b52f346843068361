/* search: finds where a condition begins to hold, before or after the playhead.
 *
 * A long trace is searched in steps between frames, so that keys still work. At one end the
 * search wraps around, once. */
#include "ui/screen.h"

#include "util/intl.h"

#include <string.h>

#define STEP_ROWS 4096 /* rows per step: a millisecond or two */

/* A number without unit is in the unit shown on the screen. */
static bool parse(struct condition *c, const char *text, const struct session *about, struct err *e)
{
	if (!about || condition_parse(c, text, e) < 0)
		return false;
	c->bare = true;
	return condition_bind(c, about, e) == 0;
}

/* Bind the text again: a bound condition depends on the channels and units of its session. */
static bool bind(struct ui *u, struct err *e)
{
	struct search *f = &u->search;

	if (!f->bound)
		f->bound = parse(&f->c, f->text, u->about, e);
	return f->bound;
}

static void start(struct ui *u, const struct ui_scene *s, int64_t from_ns)
{
	struct search *f = &u->search;

	f->at_ns = from_ns;
	if (f->names)
		f->run.part = 0;
	else
		condition_search_begin(&f->run, &f->c, s->timeline, from_ns, f->back);
	f->going = true;
}

void act_search_next(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	struct search *f = &u->search;
	struct err e;

	f->going = false;
	if (!u->extent.any || !s->timeline)
		return;
	if (!f->text[0]) {
		screen_say(u, STYLE_DIM, "%s", _("press / to enter a search"));
		return;
	}
	if (!f->names && !bind(u, &e)) {
		screen_say(u, STYLE_WARN, "%s", u->about ? e.text : "");
		return;
	}
	viewport_settle(&u->vp, &u->extent, s->now_ns);
	f->back = arg < 0;
	f->again = false;
	start(u, s, u->vp.head_ns);
	search_go(u, s);
}

/* Empty text: repeat the last search. */
static bool search_enter(struct ui *u, const struct ui_scene *s, struct request *r)
{
	const char *text = u->line.text[0] ? u->line.text : u->search.text;
	struct condition c;
	struct err e = {.text = ""};
	bool names;

	if (!text[0] || !s->timeline || !u->extent.any)
		return true;
	/* What is no condition is the name of a range, or a part of it. */
	names = !parse(&c, text, u->about, &e);
	if (names && (!u->ranges.n_lanes || strpbrk(text, "<>="))) {
		snprintf(u->line.wrong, sizeof(u->line.wrong), "%.255s", e.text);
		return false;
	}
	memmove(u->search.text, text, strlen(text) + 1);
	u->search.c = c;
	u->search.names = names;
	u->search.bound = !names;
	act_search_next(u, s, r, 1);
	return true;
}

void act_search(struct ui *u, const struct ui_scene *s, struct request *r, int arg)
{
	static const struct prompt prompt = {
		.title = N_("search:"),
		.room = CONDITION_TEXT,
		.examples = "gpu > 95   power > 25 for 2s   hottest >= 85   throttled",
		.backs_out = true,
		.enter = search_enter};

	if (u->extent.any)
		prompt_open(u, &prompt, "", r->t_ns, NULL);
}

static void arrive(struct ui *u, const struct ui_scene *s)
{
	struct search *f = &u->search;
	char at[QUANTITY_TEXT];

	f->going = false;
	viewport_jump(&u->vp, &u->extent, s->now_ns, f->run.at_ns);
	screen_moment(u, s, f->run.at_ns, at);
	/* TRANSLATORS: a condition such as gpu > 95, and a time. */
	screen_say(u, STYLE_TEXT,
		   !f->again ? _("%.160s: from %s   n, N: next, previous")
		   : f->back ? _("%.160s: from %s on (wrapped to end)")
			     : _("%.160s: from %s on (wrapped to start)"),
		   f->text, at);
}

void search_go(struct ui *u, const struct ui_scene *s)
{
	struct search *f = &u->search;

	if (!f->going)
		return;
	switch (f->names ? ranges_search(u, s) : (int)condition_search_go(&f->run, STEP_ROWS)) {
	case CONDITION_MORE:
		return;
	case CONDITION_FOUND:
		arrive(u, s);
		return;
	case CONDITION_NOWHERE:
		break;
	}
	if (!f->again) {
		f->again = true;
		start(u, s, f->back ? u->extent.last_ns + 1 : u->extent.first_ns - 1);
		return;
	}
	f->going = false;
	screen_say(u, STYLE_WARN,
		   !s->live && s->notice ? _("%.160s: no match in what has been read so far")
					 : _("%.160s: no match"),
		   f->text);
}

void search_forget(struct ui *u)
{
	u->search.bound = u->search.going = false;
}

void search_draw(const struct ui *u, struct canvas *c)
{
	int x = u->at.name.x, y = u->at.bar.y, right = c->w - u->at.name.x;
	const struct search *f = &u->search;

	x += canvas_textf(c, x, y, right - x, STYLE_TEXT, _("searching for %.160s: %d %%"), f->text,
			  (int)(100 * f->run.part));
	x += 3;
	canvas_text(c, x, y, right - x, STYLE_DIM, _("Esc stops"));
}
