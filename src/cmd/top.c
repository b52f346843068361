/* The screen, live or replaying.  One loop waits for keys, signals and the next
 * frame; what a key asks for comes back from the ui as a request and is done
 * here, so that a key, the mouse and a signal go one way. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/chosen.h"
#include "cmd/cmd.h"
#include "cmd/copy.h"
#include "cmd/files.h"
#include "cmd/keeping.h"
#include "cmd/recording.h"
#include "cmd/saver.h"
#include "cmd/source.h"
#include "nvmtop/clock.h"
#include "nvmtop/intl.h"

struct top {
	const struct options *o;
	struct chosen *chosen;
	struct saver *saver; /* once something was changed */
	bool may_not_keep;   /* told that what is changed lasts for this time only */
	struct source source;
	struct recording recording;

	struct term *term;
	struct ui *ui;
	struct canvas canvas;
	struct ui_scene scene;
	struct files files;
	struct procs *procs; /* while somebody has looked at them */
	struct procs_list procs_list;
	char message[sizeof((struct err *)NULL)->text];
	int signals;
	int64_t drawn_ns;
	int64_t repaint_ns; /* somebody else may have written to the terminal; 0: no */
	bool redraw, quit;
};

static void say(void *to, enum style style, const char *text)
{
	struct top *t = to;

	snprintf(t->message, sizeof t->message, "%s", text);
	t->scene.message = t->message[0] ? t->message : NULL;
	t->scene.message_style = style;
	t->redraw = true;
}

/* The processes of this machine are read only while they are looked at. */
static void scene_procs(struct top *t)
{
	struct ui_scene *s = &t->scene;
	bool wanted = t->source.live.root && !t->source.remote && ui_wants_procs(t->ui, s);
	struct err e;

	s->procs = NULL;
	if (wanted && !t->procs && !(t->procs = procs_open(t->source.live.root, &e)))
		return;
	if (t->procs)
		procs_want(t->procs, wanted);
	if (wanted && procs_get(t->procs, &t->procs_list, &s->procs_serial) == 0)
		s->procs = &t->procs_list;
}

/* Everything of the scene that changes with time. */
static void scene_update(struct top *t)
{
	struct ui_scene *s = &t->scene;
	struct clock_anchor now;

	clock_anchor(&now);
	s->now_ns = now.mono_ns;
	s->wall_ns = now.real_ns;
	s->files = t->files.list;
	s->n_files = t->files.n;
	recording_scene(&t->recording, s);
	source_scene(&t->source, s);
	scene_procs(t);
}

/* Asked for by a person who was asked back. */
static void end_process(struct top *t, const struct request *r)
{
	char text[96];
	struct err e;

	if (!t->source.live.root || !root_is_live(t->source.live.root)) {
		say(t, STYLE_WARN, _("these processes are not of this machine: none was ended"));
	} else if (procs_signal(r->pid, r->start, r->sig, &e) < 0) {
		say(t, STYLE_ALERT, e.text);
	} else {
		snprintf(text, sizeof text,
			 r->sig == SIGKILL ? _("process %d was sent SIGKILL")
					   : _("process %d was sent SIGTERM"),
			 r->pid);
		say(t, STYLE_TEXT, text);
	}
}

/* Marks and recordings are made where something is sampled. */
static void say_elsewhere(struct top *t)
{
	if (t->source.remote && !t->source.trace)
		say(t, STYLE_WARN,
		    _("This screen only shows: mark with nvmtop --mark there, record with tee here."));
}

/* Another trace; path NULL: what is live. */
static void show(struct top *t, const char *path)
{
	struct err e;
	int failed = path ? source_show_trace(&t->source, path, &e) : source_show_live(&t->source, &e);

	if (failed < 0) {
		say(t, STYLE_ALERT, e.text);
		return;
	}
	scene_update(t);
	ui_reset(t->ui, &t->scene);
	t->redraw = true;
}

/* The file beside this one in which the recording goes on or from which it came. */
static void show_part(struct top *t, int by, bool play)
{
	char path[PATH_MAX], text[160];
	struct err e;

	if (!t->source.trace || t->source.with || !part_beside(t->source.trace, by, path, sizeof path)) {
		if (!play)
			say(t, STYLE_WARN, by > 0 ? _("This recording does not go on in another file.")
						  : _("No file before this one belongs to this recording."));
		return;
	}
	if (source_show_trace(&t->source, path, &e) < 0) {
		say(t, STYLE_ALERT, e.text);
		return;
	}
	scene_update(t);
	ui_go_on(t->ui, &t->scene, by < 0, play);
	text_printable(text, sizeof text, path, strlen(path));
	say(t, STYLE_TEXT, text);
}

/* One that goes on elsewhere says so, lest its end be taken for the end. */
static void tell_part(struct top *t)
{
	char path[PATH_MAX], name[128], text[256];
	const char *slash;

	if (!t->source.trace || t->source.with || t->message[0] ||
	    !part_beside(t->source.trace, 1, path, sizeof path))
		return;
	slash = strrchr(path, '/');
	text_printable(name, sizeof name, slash ? slash + 1 : path, strlen(slash ? slash + 1 : path));
	snprintf(text, sizeof text, _("this recording goes on in %s   e: there"), name);
	say(t, STYLE_TEXT, text);
}

/* Drawn anew: without the question that was just answered. */
static void copy_screen(struct top *t, bool svg)
{
	const struct settings *s = ui_settings(t->ui);
	enum ground ground = s->ground != GROUND_AUTO ? s->ground : term_ground(t->term);
	struct canvas c = {0};
	char name[64], text[128];
	struct err e;

	if (canvas_resize(&c, t->canvas.w, t->canvas.h) < 0)
		return;
	scene_update(t);
	ui_draw(t->ui, &t->scene, &c);
	if (copy_file(&c, svg, s->theme, ground, name, &e) < 0) {
		say(t, STYLE_ALERT, e.text);
	} else {
		snprintf(text, sizeof text, _("saved %s"), name);
		say(t, STYLE_TEXT, text);
	}
	canvas_free(&c);
}

/* What was changed on the screen: at once here, and soon in the file. */
static void settings_changed(struct top *t)
{
	const struct settings *now = ui_settings(t->ui);
	struct err e;

	term_theme(t->term, now->theme, now->ground);
	term_mouse(t->term, !now->mouse);
	if (t->chosen->path[0] && !t->may_not_keep && conf_may_save(t->chosen->path, &e) < 0) {
		t->may_not_keep = true;
		say(t, STYLE_WARN, e.text);
	}
	if (t->chosen->path[0] && !t->saver)
		t->saver = saver_new(t->chosen);
	if (t->saver)
		saver_want(t->saver, now);
	t->redraw = true;
}

/* Where it cannot be written at all was told at once. */
static void watch_saver(struct top *t)
{
	struct err e;

	if (!t->saver || t->may_not_keep || !saver_failed(t->saver, &e))
		return;
	t->may_not_keep = true;
	say(t, STYLE_WARN, e.text);
}

static void toggle_recording(struct top *t)
{
	if (t->recording.ending)
		say(t, STYLE_WARN, _("The recording before is still being completed: a new one can begin after that."));
	else if (recording_on(&t->recording))
		recording_end(&t->recording);
	else
		recording_start(&t->recording, t->source.live.engine);
}

/* What only where something is sampled can be done. */
static void carry_out_there(struct top *t, const struct request *r)
{
	if (!t->source.live.engine)
		say_elsewhere(t);
	else if (r->kind == REQUEST_MARK)
		engine_mark(t->source.live.engine, r->t_ns, r->label);
	else if (r->kind == REQUEST_KEEP)
		source_keep_write(&t->source, r->t_ns, "w");
	else
		toggle_recording(t);
}

static void carry_out(struct top *t, const struct request *r)
{
	t->redraw |= r->redraw;
	switch (r->kind) {
	case REQUEST_NONE:
		break;
	case REQUEST_QUIT:
		t->quit = true;
		break;
	case REQUEST_MARK:
	case REQUEST_RECORD:
	case REQUEST_KEEP:
		carry_out_there(t, r);
		break;
	case REQUEST_LIST:
		files_scan(&t->files, ".");
		t->redraw = true;
		break;
	case REQUEST_OPEN:
		show(t, r->path);
		tell_part(t);
		break;
	case REQUEST_PART:
		show_part(t, r->by, false);
		break;
	case REQUEST_LIVE:
		if (t->source.trace)
			show(t, NULL);
		break;
	case REQUEST_KILL:
		end_process(t, r);
		break;
	case REQUEST_SUSPEND:
		term_suspend(t->term);
		t->redraw = true;
		break;
	case REQUEST_COPY:
		copy_screen(t, r->svg);
		break;
	case REQUEST_SETTINGS:
		settings_changed(t);
		break;
	case REQUEST_REPAINT:
		term_repaint(t->term);
		t->redraw = true;
		break;
	}
}

static void take_signals(struct top *t)
{
	int sig;

	while ((sig = signals_next(t->signals, NULL))) {
		switch (sig) {
		case SIGUSR1:
			if (t->source.live.engine)
				engine_mark(t->source.live.engine, clock_now_ns(), "");
			t->redraw = true;
			break;
		case SIGUSR2:
			source_keep_write(&t->source, clock_now_ns(), "SIGUSR2");
			t->redraw = true;
			break;
		case SIGTSTP:
			term_suspend(t->term);
			t->redraw = true;
			break;
		case SIGWINCH:
		case SIGCONT:
			if (sig == SIGCONT)
				term_repaint(t->term);
			term_resized(t->term);
			t->redraw = true;
			break;
		default:
			t->quit |= signal_ends(sig);
			break;
		}
	}
}

static void take_events(struct top *t)
{
	struct event ev;

	term_read(t->term);
	while (!t->quit && (ev = term_event(t->term)).kind != EVENT_NONE) {
		if (ev.kind == EVENT_CLOSED) {
			t->quit = true;
			break;
		}
		if (ev.kind == EVENT_KEY || (ev.kind == EVENT_MOUSE && ev.action == MOUSE_PRESS))
			say(t, STYLE_TEXT, "");
		scene_update(t);
		struct request r = ui_event(t->ui, &t->scene, &ev);
		carry_out(t, &r);
	}
}

static void draw(struct top *t)
{
	int w, h;

	term_size(t->term, &w, &h);
	if ((w != t->canvas.w || h != t->canvas.h) && canvas_resize(&t->canvas, w, h) < 0)
		return;
	scene_update(t);
	ui_advance(t->ui, &t->scene);
	ui_draw(t->ui, &t->scene, &t->canvas);
	if (term_draw(t->term, &t->canvas) < 0)
		t->quit = true;
	t->drawn_ns = clock_now_ns();
	t->redraw = false;
}

/* Of two times to wait, -1 being for ever. */
static int sooner(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* How long until the next frame is due, in ms; -1: it is not, until something happens. */
static int frame_ms(const struct top *t)
{
	int frame = ui_frame_ms(t->ui, &t->scene);
	int64_t gone = (clock_now_ns() - t->drawn_ns) / NS_PER_MS;

	if (frame < 0)
		return -1;
	return gone >= frame ? 0 : frame - (int)gone;
}

/* How long to wait, in ms; -1: until something happens. */
static int patience(const struct top *t)
{
	int input = sooner(term_timeout_ms(t->term), source_patience_ms(&t->source));

	input = sooner(input, recording_patience_ms(&t->recording));

	return sooner(sooner(input, t->repaint_ns ? 100 : -1), frame_ms(t));
}

static void look_after_source(struct top *t)
{
	bool ended;

	t->redraw |= source_take(&t->source, &ended);
	/* A recorder at the other end of the pipe tells its summary to the same terminal. */
	if (ended)
		t->repaint_ns = clock_now_ns() + NS_PER_S / 2;
	if (t->repaint_ns && clock_now_ns() >= t->repaint_ns) {
		t->repaint_ns = 0;
		term_repaint(t->term);
		t->redraw = true;
	}
}

static void run(struct top *t)
{
	draw(t);
	while (!t->quit) {
		struct pollfd p[3] = {{.fd = term_fd(t->term), .events = POLLIN},
				      {.fd = t->signals, .events = POLLIN},
				      {.fd = source_fd(&t->source), .events = POLLIN}};
		if (poll(p, 3, patience(t)) < 0 && errno != EINTR)
			break;
		if (p[1].revents)
			take_signals(t);
		/* Also without input: an ESC may have waited long enough. */
		take_events(t);
		look_after_source(t);
		recording_watch(&t->recording);
		watch_saver(t);
		if (!t->quit && (t->redraw || frame_ms(t) == 0))
			draw(t);
		if (ui_played_out(t->ui))
			show_part(t, 1, true);
	}
}

static int start(struct top *t, struct err *e)
{
	struct ui_options uo = {.charset = charset_of(t->o)};
	struct term_options how = t->o->term;

	t->chosen = malloc(sizeof *t->chosen);
	if (!t->chosen)
		return err_set(e, ERR_FAILED, _("out of memory"));
	if (chosen_load(t->chosen, t->o, e) < 0)
		return -1;
	chosen_options(t->chosen, t->o, &uo, &how);
	/* While a signal still ends the program. */
	if (t->o->replay && offer_recovery(t->o->replay, e) < 0)
		return -1;
	if (t->o->with && offer_recovery(t->o->with, e) < 0)
		return -1;
	t->signals = signals_open(e);
	if (t->signals < 0)
		return -1;
	t->ui = ui_new(&uo, e);
	if (!t->ui)
		return -1;
	t->source = (struct source) {
		.o = t->o,
		.bound = {.bytes = t->chosen->begun.history_bytes, .span_ns = t->chosen->begun.history_ns},
		.signals = t->signals,
		.tell = say,
		.to = t};
	if (source_open(&t->source, e) < 0)
		return -1;
	/* ssh at the other end of the pipe reads the terminal as its standard input. */
	how.shared = t->o->replay && !strcmp(t->o->replay, "-");
	t->term = term_open(&how, e);
	if (!t->term)
		return -1;
	scene_update(t);
	ui_reset(t->ui, &t->scene);
	if (t->o->has_at)
		ui_seek(t->ui, &t->scene, t->o->at_ns);
	if (t->chosen->trouble[0])
		say(t, STYLE_WARN, t->chosen->trouble);
	tell_part(t);
	return 0;
}

int cmd_top(const struct options *o)
{
	struct top t = {.o = o, .recording = {.o = o, .tell = say, .to = &t}};
	int status = 0;
	struct err e;

	if (start(&t, &e) < 0) {
		status = complain(&e);
	} else {
		run(&t);
		recording_end(&t.recording);
		term_close(t.term); /* what follows may take as long as the disk does */
		recording_finish(&t.recording);
		source_keep_end(&t.source);
		if (t.source.keep)
			keeping_summary(o, t.source.keep, stderr);
		if (t.recording.summary)
			fputs(t.recording.summary, stderr);
		if (t.recording.failed[0])
			fprintf(stderr, "nvmtop: %s\n", t.recording.failed);
		if (saver_end(t.saver, &e) < 0)
			fprintf(stderr, "nvmtop: %s\n", e.text);
	}
	if (!status && t.source.remote && remote_verdict(t.source.remote)->code != ERR_NONE)
		status = complain(remote_verdict(t.source.remote));
	procs_close(t.procs);
	free(t.procs_list.procs);
	source_close(&t.source);
	recording_free(&t.recording);
	files_free(&t.files);
	canvas_free(&t.canvas);
	ui_free(t.ui);
	free(t.chosen);
	return status;
}
