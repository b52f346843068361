/* One frame of the screen as text: for a bug report, a log, a test. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/settings-file.h"
#include "cli/cli.h"
#include "util/clock.h"
#include "model/history.h"
#include "util/intl.h"
#include "trace/trace.h"

/* Long enough that every tier has something to show. */
#define LIVE_NS (NS_PER_S)

static int draw(const struct options *o, struct ui_scene *scene, struct err *e)
{
	struct app_settings *chosen = malloc(sizeof *chosen);
	struct ui_options uo = {.charset = charset_of(o)};
	struct term_options theme = {.theme = THEME_STANDARD};
	struct canvas c = {0};
	int result = -1;

	if (!chosen)
		return err_set(e, ERR_FAILED, _("out of memory"));
	struct ui *ui = NULL;
	if (app_settings_load(chosen, o, NULL, e) == 0) {
		app_settings_options(chosen, o, &uo, &theme);
		ui = ui_new(&uo, e);
	}
	free(chosen);
	if (!ui)
		return -1;
	if (canvas_resize(&c, o->print_w, o->print_h) < 0) {
		err_set(e, ERR_FAILED, _("not enough memory for a screen of %dx%d"), o->print_w, o->print_h);
	} else {
		ui_reset(ui, scene);
		if (o->has_at)
			ui_seek(ui, scene, o->at_ns);
		ui_draw(ui, scene, &c); /* selects what is visible, and so what is computed */
		while (ui_advance(ui, scene))
			;
		ui_draw(ui, scene, &c);
		if (o->picture == PICTURE_SVG)
			term_svg(&c, theme.theme, theme.ground, stdout);
		else
			canvas_print(&c, stdout);
		result = 0;
	}
	canvas_free(&c);
	ui_free(ui);
	return result;
}

static int print_trace(const struct options *o)
{
	struct err e, damage;
	struct trace *t = trace_open_view(o->replay, &damage);

	if (!t)
		return complain(&damage);
	struct ui_scene scene = {.timeline = trace_timeline(t), .trace_name = trace_path(t), .own_cpu = NAN};
	struct trace *with = NULL;
	struct ui_align align;
	if (o->with) {
		with = with_aligned(o, t, trace_open_view(o->with, &e), &align, &e);
		if (!with) {
			trace_close(t);
			return complain(&e);
		}
		if (damage.code == ERR_NONE)
			damage = e;
		trace_settle(with);
		scene.with = trace_timeline(with);
		scene.with_name = trace_path(with);
		scene.align = &align;
	}
	scene.now_ns = clock_now_ns();
	trace_settle(t); /* there is only one frame: make it exact */
	int status = draw(o, &scene, &e) < 0 ? complain(&e) : 0;
	if (!status && damage.code != ERR_NONE)
		status = complain(&damage);
	if (with)
		status = close_read(with, status);
	return close_read(t, status);
}

static int print_live(const struct options *o)
{
	struct live l;
	struct err e;
	struct clock_anchor now;
	struct engine_stats es;
	struct procs *procs = NULL;

	if (signals_open(&e) < 0 || live_open(&l, o, NULL, &e) < 0)
		return complain(&e);
	if (e.code != ERR_NONE)
		complain(&e);
	bool processes = o->view && !strcmp(o->view, "processes") && (procs = procs_open(l.root, &e));
	if (processes)
		procs_read(procs); /* the CPU load of processes takes two readings */
	engine_wait_warm(l.engine, -1);
	nanosleep(&(struct timespec) {LIVE_NS / NS_PER_S, LIVE_NS % NS_PER_S}, NULL);
	engine_detach(l.engine, history_sink(l.history), NULL);
	clock_anchor(&now);
	engine_stats(l.engine, &es);
	struct ui_scene scene = {.timeline = history_timeline(l.history),
				 .live = true,
				 .late = es.late[TIER_FAST],
				 .lost = es.lost[TIER_FAST],
				 .now_ns = now.mono_ns,
				 .wall_ns = now.real_ns,
				 .own_cpu = NAN};
	scene.procs = processes ? procs_read(procs) : NULL;
	scene.procs_serial = scene.procs ? scene.procs->serial : 0;
	int status = draw(o, &scene, &e) < 0 ? complain(&e) : 0;
	procs_close(procs);
	live_close(&l);
	return status;
}

int cmd_print(const struct options *o)
{
	return o->replay ? print_trace(o) : print_live(o);
}
