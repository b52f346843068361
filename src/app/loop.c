/* The main loop: waits for keys, signals, jobs and the next frame. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "app/pretrigger.h"
#include "app/loop.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/job.h"

#define MESSAGE_NS (10 * NS_PER_S)

void top_say(void *to, enum style style, const char *text)
{
	struct top *t = to;

	snprintf(t->message, sizeof t->message, "%s", text);
	t->scene.message = t->message[0] ? t->message : NULL;
	t->scene.message_style = style;
	t->message_until_ns = text[0] && style == STYLE_TEXT ? clock_now_ns() + MESSAGE_NS : 0;
	t->redraw = true;
}

/* Processes are read only while a view shows them. */
static void scene_procs(struct top *t)
{
	struct ui_scene *s = &t->scene;
	const struct root *root = t->source.live.root;
	bool wanted = root && !t->source.remote && ui_wants_procs(t->ui, s);
	struct err e;

	s->procs_kept = live_is_demo(&t->source.live)  ? _("the processes of the demo are simulated: none can be ended")
			: root && root_is_live(root) ? NULL
						     : _("these processes run on another machine: none can be ended");
	s->procs = wanted ? live_demo_procs(&t->source.live, s->now_ns) : NULL;
	if (s->procs) {
		s->procs_serial = s->procs->serial;
		return;
	}
	if (wanted && !t->procs && !(t->procs = procs_open(t->source.live.root, &e)))
		return;
	if (!wanted)
		return;
	s->procs = procs_poll(t->procs);
	s->procs_serial = s->procs->serial;
}

static void scene_machine(struct top *t)
{
	struct ui_scene *s = &t->scene;
	bool wanted = t->source.live.root && !t->source.remote && (ui_wants_machine(t->ui, s) || s->trial.name[0]);

	s->control = NULL;
	s->control_kept = live_is_demo(&t->source.live) ? _("the demo sets nothing") : NULL;
	s->machine = wanted ? machine_reader_poll(&t->machine, &t->source.live, s->now_ns, &s->control) : NULL;
}

void top_look(struct top *t)
{
	struct ui_scene *s = &t->scene;
	struct clock_anchor now;

	clock_anchor(&now);
	s->now_ns = now.mono_ns;
	s->wall_ns = now.real_ns;
	s->files_folder = t->files.folder;
	s->files = t->files.list;
	s->n_files = t->files.n;
	s->files_serial = t->files.serial;
	s->files_at = t->files.scan ? t->files.at : NULL;
	s->opening = t->showing.fetch ? t->showing.name : NULL;
	recording_scene(&t->recording, s);
	source_scene(&t->source, s);
	trial_scene(t->trial, s);
	scene_procs(t);
	scene_machine(t);
}

static void watch_settings(struct top *t)
{
	struct err e;

	if (app_settings_failed(t->chosen, &e))
		top_say(t, STYLE_WARN, e.text);
}

static void take_request_signal(struct top *t, struct request r)
{
	r.t_ns = clock_now_ns();
	if (source_samples(&t->source))
		top_carry_out(t, &r);
	t->redraw = true;
}

static void take_signals(struct top *t)
{
	int sig;

	while ((sig = signals_next(t->signals, NULL))) {
		switch (sig) {
		case SIGUSR1:
		case SIGUSR2:
			take_request_signal(t, sig == SIGUSR1 ? (struct request) {.kind = REQUEST_MARK}
							      : (struct request) {.kind = REQUEST_KEEP,
										  .label = "SIGUSR2"});
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
			top_say(t, STYLE_TEXT, "");
		top_look(t);
		struct request r = ui_event(t->ui, &t->scene, &ev);
		/* It is opened by the key after the message, or never. */
		if (ev.kind == EVENT_KEY)
			t->recording.saved[0] = '\0';
		top_carry_out(t, &r);
	}
}

static void draw(struct top *t)
{
	int w, h;

	term_size(t->term, &w, &h);
	if ((w != t->canvas.w || h != t->canvas.h) && canvas_resize(&t->canvas, w, h) < 0)
		return;
	top_look(t);
	ui_advance(t->ui, &t->scene);
	ui_draw(t->ui, &t->scene, &t->canvas);
	if (term_draw(t->term, &t->canvas) < 0)
		t->quit = true;
	t->drawn_ns = clock_now_ns();
	t->redraw = false;
}

/* Milliseconds until the next frame is due; -1: no frame. */
static int frame_ms(const struct top *t)
{
	int frame = ui_frame_ms(t->ui, &t->scene);
	int64_t gone = (clock_now_ns() - t->drawn_ns) / NS_PER_MS;

	if (frame < 0)
		return -1;
	return gone >= frame ? 0 : frame - (int)gone;
}

int ms_until(int64_t t_ns)
{
	int64_t left = t_ns - clock_now_ns();

	return left > 0 ? (int)(left / NS_PER_MS) + 1 : 0;
}

/* Timeout of poll() in ms, the smallest of all; -1: no timeout. */
static int patience(const struct top *t)
{
	const int all[] = {term_timeout_ms(t->term),
			   source_patience_ms(&t->source),
			   recording_patience_ms(&t->recording),
			   files_patience_ms(&t->files),
			   app_settings_patience_ms(t->chosen),
			   t->message_until_ns ? ms_until(t->message_until_ns) : -1,
			   t->repaint_ns ? 100 : -1,
			   frame_ms(t)};
	int ms = -1;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i] >= 0 && (ms < 0 || all[i] < ms))
			ms = all[i];
	return ms;
}

static void look_after_source(struct top *t)
{
	bool ended;

	t->redraw |= source_take(&t->source, &ended);
	t->quit |= t->source.failed.code != ERR_NONE;
	for (size_t i = 0; i < t->n_held && !t->source.starting; i++)
		top_carry_out(t, &t->held[i]);
	if (!t->source.starting)
		t->n_held = 0;
	/* A recorder that feeds the pipe prints its summary to the same terminal. */
	if (ended)
		t->repaint_ns = clock_now_ns() + NS_PER_S / 2;
	if (t->repaint_ns && clock_now_ns() >= t->repaint_ns) {
		t->repaint_ns = 0;
		term_repaint(t->term);
		t->redraw = true;
	}
}

static void watch_message(struct top *t)
{
	if (!t->message_until_ns || clock_now_ns() < t->message_until_ns)
		return;
	top_say(t, STYLE_TEXT, "");
	t->recording.saved[0] = '\0';
}

static void run(struct top *t)
{
	draw(t);
	while (!t->quit) {
		struct pollfd p[4] = {{.fd = term_fd(t->term), .events = POLLIN},
				      {.fd = t->signals, .events = POLLIN},
				      {.fd = source_fd(&t->source), .events = POLLIN},
				      {.fd = jobs_fd(), .events = POLLIN}};
		if (poll(p, 4, patience(t)) < 0 && errno != EINTR)
			break;
		if (p[1].revents)
			take_signals(t);
		if (p[3].revents)
			jobs_fd_clear();
		/* Needed even without input: an ESC key may be due. */
		take_events(t);
		look_after_source(t);
		recording_watch(&t->recording);
		watch_settings(t);
		trial_watch(t);
		watch_message(t);
		t->redraw |= files_take(&t->files, 0);
		pending_open_watch(t);
		if (!t->quit && (t->redraw || frame_ms(t) == 0))
			draw(t);
		if (ui_played_out(t->ui))
			pending_open_part(t, 1, true);
	}
}

enum charset charset_of(const struct options *o)
{
	return o->ascii ? CHARSET_ASCII : term_charset();
}

static int start(struct top *t, struct err *e)
{
	struct ui_options uo = {.charset = charset_of(t->o)};
	struct term_options how = t->o->term;

#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1); /* what one thread has freed another can use */
#endif
	t->chosen = malloc(sizeof *t->chosen);
	if (!t->chosen)
		return err_set(e, ERR_FAILED, _("out of memory"));
	if (app_settings_load(t->chosen, t->o, NULL, e) < 0)
		return -1;
	app_settings_options(t->chosen, t->o, &uo, &how);
	/* Before this call only SIGQUIT ends the program at once. */
	t->signals = signals_open(e);
	if (t->signals < 0)
		return -1;
	t->ui = ui_new(&uo, e);
	if (!t->ui)
		return -1;
	t->source = (struct source) {
		.o = t->o,
		.history_ns = t->chosen->begun.history_ns,
		.signals = t->signals,
		.tell = top_say,
		.to = t};
	if (t->o->replay && source_open(&t->source, e) < 0)
		return -1;
	/* An ssh that feeds the pipe reads the same terminal. */
	how.shared = t->o->replay && !strcmp(t->o->replay, "-");
	t->term = term_open(&how, e);
	/* The terminal's files come before those of the board, which may be as many as the limit allows. */
	if (!t->term || (!t->o->replay && source_open(&t->source, e) < 0))
		return -1;
	top_look(t);
	ui_reset(t->ui, &t->scene);
	if (t->o->has_at)
		ui_seek(t->ui, &t->scene, t->o->at_ns);
	if (!t->message[0])
		top_say(t, STYLE_TEXT, term_notice(t->term));
	if (t->chosen->trouble[0])
		top_say(t, STYLE_WARN, t->chosen->trouble);
	pending_open_report_next(t, t->source.next);
	return 0;
}

int cmd_top(const struct options *o)
{
	struct top t = {.o = o, .recording = {.o = o, .tell = top_say, .to = &t}};
	int status = 0;
	struct err e;

	if (start(&t, &e) < 0) {
		term_close(t.term);
		status = complain(&e);
	} else {
		run(&t);
		pending_open_cancel(&t);
		recording_end(&t.recording);
		term_close(t.term); /* before waiting for the disk */
		recording_finish(&t.recording, t.signals);
		source_keep_end(&t.source);
		if (t.source.live.keep)
			status = keeping_ended(o, t.source.live.keep);
		if (t.recording.summary)
			fputs(t.recording.summary, stderr);
		if (t.recording.failed[0]) {
			fprintf(stderr, "nvmtop: %s\n", t.recording.failed);
			status = ERR_FAILED;
		}
		if (app_settings_end(t.chosen, &e) < 0)
			fprintf(stderr, "nvmtop: %s\n", e.text);
	}
	if (!status && t.source.failed.code != ERR_NONE)
		status = complain(&t.source.failed);
	if (!status && t.source.remote && remote_verdict(t.source.remote)->text[0])
		status = complain(remote_verdict(t.source.remote));
	procs_close(t.procs);
	machine_reader_free(t.machine);
	trial_free(t.trial);
	source_close(&t.source);
	recording_free(&t.recording);
	files_free(&t.files);
	canvas_free(&t.canvas);
	ui_free(t.ui);
	free(t.chosen);
	return status;
}
