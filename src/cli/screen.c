/* Runs the live screen or replays a trace on it, and prints one frame of either. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/settings-file.h"
#include "cli/verb.h"
#include "trace/trace.h"
#include "ui/view.h"
#include "util/clock.h"
#include "util/intl.h"

/* Long enough for every tier to have samples. */
#define LIVE_NS (NS_PER_S)

/* There is no line of the screen for it. */
static void tell_setting(void *c, unsigned line, const char *text)
{
	const char *path = ((struct app_settings *)c)->path;
	char shown[256];

	text_printable(shown, sizeof shown, path, strlen(path));
	fprintf(stderr, "nvmtop: %s:%u: %s\n", shown, line, text);
}

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
	if (app_settings_load(chosen, o, tell_setting, e) == 0) {
		if (chosen->trouble[0])
			fprintf(stderr, "nvmtop: %s\n", chosen->trouble);
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
		ui_draw(ui, scene, &c); /* determines the visible part, and so what must be computed */
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
	struct trace *t = trace_open_files(o->files, o->n_files, false, NULL, NULL, &damage);

	if (!t)
		return complain(&damage);
	struct ui_scene scene = {.timeline = trace_timeline(t), .trace_name = trace_name(t), .own_cpu = NAN};
	struct trace *with = NULL;
	struct ui_align align;
	if (o->with) {
		with = with_aligned(o, t, trace_open(o->with, &e), &align, &e);
		if (!with) {
			trace_close(t);
			return complain(&e);
		}
		if (damage.code == ERR_NONE)
			damage = e;
		scene.with = trace_timeline(with);
		scene.with_name = trace_name(with);
		scene.align = &align;
	}
	scene.now_ns = clock_now_ns();
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

	if (signals_open(&e) < 0 || live_open(&l, o, -1, &e) < 0)
		return complain(&e);
	if (e.code != ERR_NONE)
		complain(&e);
	bool processes = (!o->view || !strcmp(o->view, "overview") || !strcmp(o->view, "processes")) &&
			 (procs = procs_open(l.root, &e));
	if (processes)
		procs_read(procs); /* the CPU load of processes needs two readings */
	engine_wait_warm(l.engine, -1);
	nanosleep(&(struct timespec) {LIVE_NS / NS_PER_S, LIVE_NS % NS_PER_S}, NULL);
	engine_stop(l.engine);
	clock_anchor(&now);
	engine_stats(l.engine, &es);
	struct ui_scene scene = {.timeline = live_look(&l),
				 .live = true,
				 .late = es.late[TIER_FAST],
				 .lost = es.lost[TIER_FAST],
				 .now_ns = now.mono_ns,
				 .wall_ns = now.real_ns,
				 .own_cpu = NAN};
	struct machine machine = {.read = false};

	if (o->view && !strcmp(o->view, "board")) {
		machine_read(&machine, l.root);
		scene.machine = &machine;
	}
	if (processes)
		scene.procs = live_demo_procs(&l, now.mono_ns);
	if (processes && !scene.procs)
		scene.procs = procs_read(procs);
	scene.procs_serial = scene.procs ? scene.procs->serial : 0;
	int status = draw(o, &scene, &e) < 0 ? complain(&e) : 0;
	procs_close(procs);
	live_close(&l);
	return status;
}

static int check_replay(const struct options *o, struct err *e)
{
	const struct option_rule rules[] = {
		{o->has_at && is_stream(o->replay) && !o->print_w,
		 N_("--at needs a complete recording: it cannot be used with a live stream")},
		{o->follow && o->print_w, N_("--follow is only for the screen, not for --print")},
		{o->with && (is_stream(o->with) || is_stream(o->replay) || o->follow),
		 N_("--with compares two saved traces: it cannot be used with a stream or with --follow")},
		{o->align && !o->with, N_("--align needs --with FILE")},
		{o->n_files > 1 && o->follow, N_("--follow is for one FILE")},
	};

	return RULES(rules, e) < 0 ? -1 : check_files(o, e);
}

/* Rejects options that need a FILE to replay. */
static int check_live(const struct options *o, struct err *e)
{
	const struct option_rule rules[] = {
		{o->has_at, N_("--at needs a FILE to replay")},
		{o->follow, N_("--follow needs a FILE to replay")},
		{o->with, N_("--with needs a FILE to compare with: nvmtop replay FILE --with SECOND")},
		{o->align, N_("--align needs --with FILE")},
	};

	return RULES(rules, e);
}

static bool records(const struct options *o)
{
	return o->limits.sync_ns || limit_is_set(&o->limits.split) || o->limits.max_bytes || o->keep_ns ||
	       o->has_nice;
}

static int check_shown(const struct options *o, struct err *e)
{
	const struct option_rule rules[] = {
		{o->config && o->no_config, N_("--config and --no-config exclude each other")},
		{o->picture && !o->print_w, N_("--format text and svg are only for --print")},
		{o->print_w && (o->frames > 0 || (o->has_history && !o->replay)),
		 N_("--frames, --interval and --history are only for the screen, not for --print")},
		{records(o) && (o->replay || o->print_w),
		 N_("--flush, --split, --max-size, --keep and --nice are only for nvmtop record and the live "
		    "screen")},
	};

	return RULES(rules, e) < 0 ? -1 : check_pretrigger(o, e);
}

static int finish_screen(struct options *o, struct err *e)
{
	o->replay = o->n_files ? o->files[0] : NULL;
	if ((o->replay ? check_replay(o, e) : check_live(o, e)) < 0)
		return -1;
	return check_shown(o, e);
}

static int finish_replay(struct options *o, struct err *e)
{
	if (o->n_files == 0)
		return err_set(e, ERR_USAGE, _("nvmtop replay needs a FILE"));
	return finish_screen(o, e);
}

static int run(const struct options *o)
{
	if (!o->print_w)
		return cmd_top(o);
	return o->replay ? print_trace(o) : run_apart(print_live, o);
}

/* Order of enum picture. */
static const char *const pictures[] = {"", "text", "svg", NULL};
#define VIEW_NAME(name) #name,
static const char *const views[] = {VIEWS_NAMED(VIEW_NAME) NULL};
static const struct option_entry own[] = {
	{"view", "NAME", N_("initial view"), TEXT(view), .words = views},
	{"frames", "HZ", N_("frames per second, 0.1 to 60 (default: when something changes)"), NUMBER(frames),
	 .least = 0.1, .most = 60, .wants = N_("a rate from 0.1 to 60 per second")},
	{"interval", "SEC", N_("the same, as seconds between two frames"), .letter = 'd',
	 .take = value_interval},
	{"print", "WxH", N_("print one frame of the screen as text"), .take = value_print},
	{"format", "NAME", N_("for --print: text or svg"), WORD(picture, enum picture, pictures),
	 .wants = N_("text or svg")},
};
static const struct option_group options = {N_("Screen"), OPTIONS(own)};

const struct verb verb_screen = {
	.operands = "[FILE...]",
	.groups = {&options, &group_replay, &group_drawing, &group_settings, &group_history, &group_files,
		   &group_keep, &group_sampling, &group_priority},
	.runs_as = MODE_TOP,
	.takes_signals = true,
	.finish = finish_screen,
	.run = run,
};

const struct verb verb_replay = {
	.name = "replay",
	.also_option = true,
	.operands = "FILE...",
	.summary = N_("show a saved trace (also: nvmtop FILE...); -: a stream, live"),
	.groups = {&options, &group_replay, &group_drawing, &group_settings},
	.also = &group_history,
	.runs_as = MODE_TOP,
	.takes_signals = true,
	.finish = finish_replay,
	.run = run,
};
