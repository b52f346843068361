/* While a job opens the next trace, the current one stays on the screen and keys keep working, however
 * slow the disk is. */
#include "app/loop.h"

#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"

#define ANSWER_NS (100 * NS_PER_MS) /* how long to wait for a fast disk */

static void name_of(char *out, size_t size, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	text_printable(out, size, name, strlen(name));
}

void pending_open_report_next(struct top *t, const char *next)
{
	char name[128], text[256];

	if (!next[0] || t->source.with || t->message[0])
		return;
	name_of(name, sizeof name, next);
	snprintf(text, sizeof text, _("this recording continues in %s   e: open it"), name);
	top_say(t, STYLE_TEXT, text);
}

static void say_no_part(struct top *t, int by)
{
	top_say(t, STYLE_WARN,
		by > 0 ? _("This recording has no next file.") : _("This recording has no previous file."));
}

static void show(struct top *t, const struct fetched *got)
{
	const struct pending_open *g = &t->showing;

	if (g->second)
		source_take_second(&t->source, got->trace, &got->err);
	else
		source_take_trace(&t->source, got->trace, &got->err);
	top_look(t);
	if (g->by) {
		ui_go_on(t->ui, &t->scene, g->by < 0, g->play);
		top_say(t, STYLE_TEXT, trace_name(got->trace));
	} else {
		ui_reset(t->ui, &t->scene);
		if (!g->second)
			pending_open_report_next(t, got->next);
	}
	t->redraw = true;
}

static void arrive(struct top *t)
{
	struct pending_open *g = &t->showing;
	struct fetched got;
	bool found = fetch_take(g->fetch, &got);

	g->fetch = NULL;
	t->redraw = true;
	if (!found) {
		if (!g->play)
			say_no_part(t, g->by);
	} else if (!got.trace) {
		top_say(t, STYLE_ALERT, got.err.text);
	} else {
		show(t, &got);
	}
}

/* Replaces a pending open by f. */
static void begin(struct top *t, struct fetch *f, const struct err *e)
{
	struct pending_open *g = &t->showing;

	pending_open_cancel(t);
	g->fetch = f;
	t->redraw = true;
	if (!f)
		top_say(t, STYLE_ALERT, e->text);
	else if (fetch_done(f, clock_now_ns() + ANSWER_NS))
		arrive(t);
}

void pending_open_start(struct top *t, const char *path, bool second)
{
	struct err e;
	struct fetch *f;

	if (second && !t->source.trace) {
		top_say(t, STYLE_WARN, _("to compare two traces, open the first one before the second"));
		return;
	}
	f = fetch_start(&path, 1, false, &e);
	t->showing.second = second;
	t->showing.by = 0;
	t->showing.play = false;
	name_of(t->showing.name, sizeof t->showing.name, path);
	begin(t, f, &e);
}

void pending_open_part(struct top *t, int by, bool play)
{
	struct fetch *f;
	struct err e;

	if (!t->source.trace || t->source.with) {
		if (!play)
			say_no_part(t, by);
		return;
	}
	f = fetch_beside(t->source.trace, by, &e);
	t->showing.second = false;
	t->showing.by = by;
	t->showing.play = play;
	snprintf(t->showing.name, sizeof t->showing.name, "%s",
		 by > 0 ? _("the next file of this recording") : _("the previous file of this recording"));
	begin(t, f, &e);
}

void pending_open_live(struct top *t)
{
	if (!t->source.trace)
		return;
	if (!source_has_live(&t->source)) {
		top_say(t, STYLE_TEXT, _("q quits, o opens another trace"));
		return;
	}
	pending_open_cancel(t);
	source_show_live(&t->source);
	top_look(t);
	ui_reset(t->ui, &t->scene);
	t->redraw = true;
}

void pending_open_cancel(struct top *t)
{
	if (!t->showing.fetch)
		return;
	fetch_leave(t->showing.fetch);
	t->showing.fetch = NULL;
	t->redraw = true;
}

void pending_open_watch(struct top *t)
{
	if (t->showing.fetch && !ui_is_asking(t->ui) && fetch_done(t->showing.fetch, 0))
		arrive(t);
}
