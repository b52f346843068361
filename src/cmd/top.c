/* The screen, live or replaying.  One loop waits for keys, signals and the next
 * frame; what a key asks for comes back from the ui as a request and is done
 * here, so that a key, the mouse and a signal go one way. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/chosen.h"
#include "cmd/cmd.h"
#include "cmd/copy.h"
#include "cmd/files.h"
#include "cmd/keeping.h"
#include "cmd/remote.h"
#include "cmd/saver.h"
#include "cmd/summary.h"
#include "nvmtop/clock.h"
#include "nvmtop/history.h"
#include "nvmtop/intl.h"
#include "nvmtop/marks.h"
#include "nvmtop/trace.h"

#define TEXT_MAX sizeof(((struct err *)0)->text)

struct top {
	const struct options *o;
	struct chosen *chosen;
	struct saver *saver; /* once something was changed */
	bool may_not_keep; /* told that what is changed lasts for this time only */
	struct live live;            /* engine NULL: nothing is sampled (yet) */
	struct inbox *marks;         /* from other programs, while something is sampled */
	struct remote *remote;       /* sampled elsewhere, instead of here; or NULL */
	bool growing;                /* --follow of a trace: opened anew from time to time */
	int64_t look_ns;             /* when next, not before */
	int64_t repaint_ns;          /* somebody else may have written to the terminal; 0: no */
	struct trace *trace;         /* shown instead of the live history, or NULL */
	struct trace *with;          /* under it, or NULL */
	struct ui_align align;
	struct trace_series *series; /* while recording */
	struct keep *keep;           /* the last stretch, with --keep */
	size_t kept_told;
	struct tally tally; /* in front of it */
	int64_t record_since_ns;
	struct summary_moment before; /* when it began */
	struct trace_series_stats written;
	struct trouble trouble;
	char failed[TEXT_MAX]; /* why the last recording failed, or "" */
	char *summary;         /* of the last one, to tell when the screen has gone; or NULL */

	struct term *term;
	struct ui *ui;
	struct canvas canvas;
	struct ui_scene scene;
	struct files files;
	struct procs *procs; /* while somebody has looked at them */
	struct procs_list procs_list;
	char message[TEXT_MAX];
	int signals;
	int64_t drawn_ns;
	char built[160]; /* how far the columns of the trace are made, or "" */
	int64_t trace_look_ns;
	bool redraw, quit;
};

#define BUILT_NS (NS_PER_S / 5) /* while they are made; else the file is looked at once a second */

static void say(struct top *t, enum style style, const char *text)
{
	snprintf(t->message, sizeof t->message, "%s", text);
	t->scene.message = t->message[0] ? t->message : NULL;
	t->scene.message_style = style;
	t->redraw = true;
}

/* The processes of this machine are read only while they are looked at. */
static void scene_procs(struct top *t)
{
	struct ui_scene *s = &t->scene;
	bool wanted = t->live.root && !t->remote && ui_wants_procs(t->ui, s);
	struct err e;

	s->procs = NULL;
	if (wanted && !t->procs && !(t->procs = procs_open(t->live.root, &e)))
		return;
	if (t->procs)
		procs_want(t->procs, wanted);
	if (wanted && procs_get(t->procs, &t->procs_list, &s->procs_serial) == 0)
		s->procs = &t->procs_list;
}

/* Asked for by a person who was asked back. */
static void end_process(struct top *t, const struct request *r)
{
	char text[96];
	struct err e;

	if (!t->live.root || !root_is_live(t->live.root)) {
		say(t, STYLE_WARN, _("these processes are not of this machine: none was ended"));
	} else if (procs_signal(r->pid, r->start, r->sig, &e) < 0) {
		say(t, STYLE_ALERT, e.text);
	} else {
		snprintf(text, sizeof text, r->sig == SIGKILL ? _("process %d was sent SIGKILL")
							      : _("process %d was sent SIGTERM"), r->pid);
		say(t, STYLE_TEXT, text);
	}
}

/* Everything of the scene that changes with time. */
static void scene_update(struct top *t)
{
	struct ui_scene *s = &t->scene;
	struct clock_anchor now;
	struct engine_stats es;

	clock_anchor(&now);
	s->now_ns = now.mono_ns;
	s->wall_ns = now.real_ns;
	s->live = !t->trace;
	s->trace_name = t->trace ? trace_path(t->trace) : NULL;
	s->remote = s->notice = NULL;
	s->with = t->with ? trace_timeline(t->with) : NULL;
	s->with_name = t->with ? trace_path(t->with) : NULL;
	s->align = &t->align;
	if (t->trace) {
		s->timeline = trace_timeline(t->trace);
		s->notice = t->built[0] ? t->built : NULL;
	} else if (t->remote)
		remote_scene(t->remote, s);
	else
		s->timeline = history_timeline(t->live.history);
	scene_procs(t);
	s->files = t->files.list;
	s->n_files = t->files.n;
	s->own_cpu = NAN;
	s->stalled = NULL;
	s->recording = t->series != NULL;
	s->record_error = NULL;
	if (t->series) {
		uint64_t lost = t->written.lost_rows;
		trace_series_stats(t->series, &t->written);
		engine_add_lost(t->live.engine, t->written.lost_rows - lost);
		s->record_name = t->written.path;
		s->record_since_ns = t->record_since_ns;
		s->record_bytes = t->written.bytes;
		s->record_marks = t->written.marks;
		s->record_lost = t->written.lost_rows;
		s->record_error = t->written.err.code != ERR_NONE ? t->written.err.text : NULL;
	}
	if (!t->live.engine)
		return;
	engine_stats(t->live.engine, &es);
	s->late = es.late[TIER_FAST];
	s->lost = es.lost[TIER_FAST];
	s->own_cpu = es.cpu_percent;
	for (int tier = 0; tier < TIERS; tier++)
		if (es.stalled[tier])
			s->stalled = tier_name((enum tier)tier);
}

static void record_start(struct top *t)
{
	char name[64];
	struct err e;

	trace_name_now(name, sizeof name);
	memset(&t->written, 0, sizeof t->written);
	t->trouble = (struct trouble) {.holes = 0};
	summary_moment(&t->before, t->live.engine);
	t->series = trace_series_new(name, false, &t->o->limits, &e);
	if (t->series) {
		tally_init(&t->tally, trace_series_sink(t->series));
		tally_of_series(&t->tally, t->series);
	}
	if (t->series && engine_attach(t->live.engine, &t->tally.sink, true, &e) == 0) {
		t->record_since_ns = clock_now_ns();
		return;
	}
	trace_series_free(t->series);
	t->series = NULL;
	tally_free(&t->tally);
	say(t, STYLE_ALERT, e.text);
}

/* A line for the screen, and all of it for when the screen has gone. */
static void record_tell(struct top *t)
{
	struct summary s = {.tally = &t->tally, .before = t->before};
	char elapsed[32], size[32], more[160], names[4096], name[512], text[TEXT_MAX];
	size_t unused;
	FILE *out;

	trace_series_stats(t->series, &t->written);
	recording_names(t->series, names, sizeof names);
	recording_name(t->series, name, sizeof name);
	summary_moment(&s.after, t->live.engine);
	s.file = names;
	s.holes = t->written.holes;
	s.hole_ns = t->written.hole_ns;
	s.bytes = t->written.bytes;
	memcpy(s.rows, t->written.rows, sizeof s.rows);
	s.marks = t->written.marks;
	s.lost = t->written.lost_rows;
	priority_text(t->o, s.priority, sizeof s.priority);
	text_elapsed(elapsed, sizeof elapsed, t->tally.end_ns - t->tally.start_ns);
	text_bytes(size, sizeof size, s.bytes);
	summary_line(&s, more, sizeof more);
	snprintf(text, sizeof text,
		 t->written.full
			 ? P_("--max-size is reached: saved %.400s: %s, %s, %llu mark; %s",
			      "--max-size is reached: saved %.400s: %s, %s, %llu marks; %s", s.marks)
			 : P_("saved %.400s: %s, %s, %llu mark; %s", "saved %.400s: %s, %s, %llu marks; %s", s.marks),
		 name, elapsed, size, (unsigned long long)s.marks, more);
	say(t, STYLE_TEXT, text);
	free(t->summary);
	t->summary = NULL;
	out = open_memstream(&t->summary, &unused);
	if (!out)
		return;
	if (t->written.full)
		fprintf(out, "nvmtop: %s\n", recording_full());
	summary_print(&s, out);
	fclose(out);
}

static void record_stop(struct top *t)
{
	struct err e;

	if (!t->series)
		return;
	t->failed[0] = '\0';
	free(t->summary);
	t->summary = NULL;
	engine_detach(t->live.engine, &t->tally.sink, &e);
	int saved = trace_series_wait(t->series, &e);
	if (trace_series_part(t->series, 0, NULL, 0, NULL))
		record_tell(t);
	if (saved < 0) {
		memcpy(t->failed, e.text, sizeof t->failed);
		say(t, STYLE_ALERT, t->failed);
	}
	tally_free(&t->tally);
	trace_series_free(t->series);
	t->series = NULL;
}

/* A recording that goes on after an interruption, or has reached its size. */
static void watch_recording(struct top *t)
{
	char text[TEXT_MAX];

	if (!t->series)
		return;
	trace_series_stats(t->series, &t->written);
	recording_trouble(&t->trouble, &t->written, text, sizeof text);
	if (t->written.full)
		record_stop(t);
	else if (text[0] && t->written.err.code == ERR_NONE) /* the header shows what is wrong */
		say(t, STYLE_WARN, text);
}

static int keep_start(struct top *t, struct err *e)
{
	char text[TEXT_MAX];

	t->keep = keeping_new(t->o, t->live.engine, e);
	if (!t->keep || engine_attach(t->live.engine, keep_sink(t->keep), false, e) < 0)
		return -1;
	keeping_begun(t->o, t->keep, text, sizeof text);
	say(t, STYLE_TEXT, text);
	return 0;
}

static void keep_write(struct top *t, int64_t t_ns, const char *label)
{
	if (!t->keep) {
		say(t, STYLE_WARN, keeping_nothing());
		return;
	}
	keep_trigger(t->keep, t_ns, label);
	say(t, STYLE_TEXT, _("writing what was held"));
}

static void watch_keep(struct top *t)
{
	char text[TEXT_MAX];
	bool failed;

	while (t->keep && keeping_news(t->keep, &t->kept_told, text, sizeof text, &failed))
		say(t, failed ? STYLE_ALERT : STYLE_TEXT, text);
}

/* Until what is being written is written. */
static void keep_stop(struct top *t)
{
	struct err e;

	if (t->keep && t->live.engine)
		engine_detach(t->live.engine, keep_sink(t->keep), &e);
}

static void take_mark(void *to, int64_t t_ns, const char *label)
{
	engine_mark(to, t_ns, label);
}

static struct history_bound remembered(const struct top *t)
{
	return (struct history_bound) {.bytes = t->chosen->begun.history_bytes,
				       .span_ns = t->chosen->begun.history_ns};
}

/* Sampling begins, and with it marks can come from anywhere. */
static int begin_live(struct top *t, struct err *e)
{
	struct history_bound bound = remembered(t);
	struct err no_marks;

	if (live_open(&t->live, t->o, &bound, e) < 0)
		return -1;
	if (t->o->keep_ns && keep_start(t, e) < 0) {
		live_close(&t->live);
		keep_free(t->keep);
		t->keep = NULL;
		return -1;
	}
	t->marks = inbox_open(take_mark, t->live.engine, &no_marks);
	if (!t->marks)
		say(t, STYLE_WARN, no_marks.text);
	return 0;
}

/* Another trace is shown, or none: nothing lies under it. */
static void drop_with(struct top *t)
{
	trace_close(t->with);
	t->with = NULL;
}

static void show_live(struct top *t)
{
	struct err e;

	if (!t->remote && !t->live.engine && begin_live(t, &e) < 0) {
		say(t, STYLE_ALERT, e.text);
		return;
	}
	drop_with(t);
	trace_close(t->trace);
	t->trace = NULL;
	t->growing = false;
	scene_update(t);
	ui_reset(t->ui, &t->scene);
	t->redraw = true;
}

static int show_trace(struct top *t, const char *path, struct err *e)
{
	struct trace *trace = open_trace(path, e);

	if (!trace)
		return -1;
	t->growing &= !t->trace; /* another one is opened */
	drop_with(t);
	trace_close(t->trace);
	t->trace = trace;
	t->built[0] = '\0';
	t->trace_look_ns = 0;
	if (t->ui) {
		scene_update(t);
		ui_reset(t->ui, &t->scene);
	}
	if (e->code != ERR_NONE)
		say(t, STYLE_WARN, e->text);
	t->redraw = true;
	return 0;
}

static int show_with(struct top *t, struct err *e)
{
	t->with = with_open(t->o, t->trace, &t->align, e);
	if (t->with && e->code != ERR_NONE)
		say(t, STYLE_WARN, e->text);
	return t->with ? 0 : -1;
}

/* Marks and recordings are made where something is sampled. */
static void say_elsewhere(struct top *t)
{
	if (t->remote && !t->trace)
		say(t, STYLE_WARN,
		    _("This screen only shows: mark with nvmtop --mark there, record with tee here."));
}

/* What is recorded elsewhere, or is still being copied. */
static int follow(struct top *t, struct err *e)
{
	struct history_bound bound = remembered(t);
	bool complete;

	t->remote = remote_open(t->o->replay, &bound, t->signals, &complete, e);
	if (t->remote)
		return 0;
	if (!complete)
		return -1;
	t->growing = true;
	return show_trace(t, t->o->replay, e);
}

static void take_remote(struct top *t)
{
	if (!remote_take(t->remote))
		return;
	if (!t->trace)
		t->redraw = true;
	/* A recorder at the other end of the pipe tells its summary to the same terminal. */
	t->repaint_ns = clock_now_ns() + NS_PER_S / 2;
}

/* A trace that is being copied: anew when it has grown, a tenth of the time at most. */
static void take_growth(struct top *t)
{
	struct trace_summary was;
	struct trace *trace;
	struct stat st;
	int64_t now = clock_now_ns();
	struct err e;

	if (now < t->look_ns)
		return;
	t->look_ns = now + NS_PER_S;
	trace_summary(t->trace, &was);
	if (stat(trace_path(t->trace), &st) < 0 || st.st_size == was.bytes)
		return;
	trace = trace_open(trace_path(t->trace), &e);
	if (!trace)
		return;
	trace_close(t->trace);
	t->trace = trace;
	t->redraw = true;
	t->look_ns = now + NS_PER_S + 10 * (clock_now_ns() - now);
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

static void carry_out(struct top *t, const struct request *r)
{
	struct err e;

	t->redraw |= r->redraw;
	switch (r->kind) {
	case REQUEST_NONE:
		break;
	case REQUEST_QUIT:
		t->quit = true;
		break;
	case REQUEST_MARK:
		if (t->live.engine)
			engine_mark(t->live.engine, r->t_ns, r->label);
		else
			say_elsewhere(t);
		break;
	case REQUEST_RECORD:
		if (t->series)
			record_stop(t);
		else if (t->live.engine)
			record_start(t);
		else
			say_elsewhere(t);
		break;
	case REQUEST_KEEP:
		if (t->live.engine)
			keep_write(t, r->t_ns, "w");
		else
			say_elsewhere(t);
		break;
	case REQUEST_LIST:
		files_scan(&t->files, ".");
		t->redraw = true;
		break;
	case REQUEST_OPEN:
		if (show_trace(t, r->path, &e) < 0)
			say(t, STYLE_ALERT, e.text);
		break;
	case REQUEST_LIVE:
		if (t->trace)
			show_live(t);
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
			if (t->live.engine)
				engine_mark(t->live.engine, clock_now_ns(), "");
			t->redraw = true;
			break;
		case SIGUSR2:
			keep_write(t, clock_now_ns(), "SIGUSR2");
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

/* Both together: what is news of one is news. */
static void look_with(struct top *t, struct trace_state *st)
{
	struct trace_state b;

	trace_look(t->with, &b);
	st->built = b.building && (!st->building || b.built < st->built) ? b.built : st->built;
	st->building |= b.building;
	if (b.news && (!st->news || st->damage.code == ERR_NONE))
		st->damage = b.damage;
	st->news |= b.news;
}

/* What became of the trace meanwhile: more of its columns, or less of the file. */
static void watch_trace(struct top *t)
{
	char text[sizeof t->built] = "";
	struct trace_state st;

	if (!t->trace || clock_now_ns() < t->trace_look_ns)
		return;
	trace_look(t->trace, &st);
	if (t->with)
		look_with(t, &st);
	t->trace_look_ns = clock_now_ns() + (st.building ? BUILT_NS : NS_PER_S);
	if (st.building)
		/* TRANSLATORS: columns of the chart; they are estimated from some of their samples. */
		snprintf(text, sizeof text,
			 _("Provisional: the trace is being read, %d %%. Until then minima and maxima are "
			   "estimates."),
			 (int)(st.built * 100));
	if (st.news && st.damage.code != ERR_NONE)
		say(t, STYLE_WARN, st.damage.text);
	t->redraw |= st.news || strcmp(text, t->built) != 0;
	strcpy(t->built, text);
}

/* How long to wait, in ms; -1: until something happens. */
static int patience(const struct top *t)
{
	int frame = ui_frame_ms(t->ui, &t->scene);
	int input = term_timeout_ms(t->term);

	if (frame >= 0) {
		int64_t gone = (clock_now_ns() - t->drawn_ns) / NS_PER_MS;
		frame = gone >= frame ? 0 : frame - (int)gone;
	}
	if (t->remote)
		input = sooner(input, remote_patience_ms(t->remote));
	if (t->growing || t->repaint_ns)
		input = sooner(input, t->growing ? (int)(NS_PER_S / NS_PER_MS) : 100);
	if (t->trace)
		input = sooner(input, !t->trace_look_ns
					      ? 0
					      : (int)((t->built[0] ? BUILT_NS : NS_PER_S) / NS_PER_MS));
	return sooner(input, frame);
}

static void run(struct top *t)
{
	draw(t);
	while (!t->quit) {
		struct pollfd p[3] = {{.fd = term_fd(t->term), .events = POLLIN},
				      {.fd = t->signals, .events = POLLIN},
				      {.fd = t->remote ? remote_fd(t->remote) : -1, .events = POLLIN}};
		if (poll(p, 3, patience(t)) < 0 && errno != EINTR)
			break;
		if (t->remote)
			take_remote(t);
		if (t->growing)
			take_growth(t);
		if (p[1].revents)
			take_signals(t);
		/* Also without input: an ESC may have waited long enough. */
		take_events(t);
		watch_recording(t);
		watch_keep(t);
		watch_trace(t);
		watch_saver(t);
		if (t->repaint_ns && clock_now_ns() >= t->repaint_ns) {
			t->repaint_ns = 0;
			term_repaint(t->term);
			t->redraw = true;
		}
		int frame = ui_frame_ms(t->ui, &t->scene);
		bool due = frame >= 0 && clock_now_ns() - t->drawn_ns >= frame * NS_PER_MS;
		if (!t->quit && (t->redraw || due))
			draw(t);
	}
}

static int source_open(struct top *t, struct err *e)
{
	if (!t->o->replay)
		return begin_live(t, e);
	if (t->o->follow || !strcmp(t->o->replay, "-"))
		return follow(t, e);
	if (show_trace(t, t->o->replay, e) < 0)
		return -1;
	return t->o->with ? show_with(t, e) : 0;
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
	if (source_open(t, e) < 0)
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
	return 0;
}

int cmd_top(const struct options *o)
{
	struct top t = {.o = o};
	int status = 0;
	struct err e;

	if (start(&t, &e) < 0) {
		status = complain(&e);
	} else {
		run(&t);
		record_stop(&t);
		keep_stop(&t);
		term_close(t.term);
		if (t.keep)
			keeping_summary(o, t.keep, stderr);
		if (t.summary)
			fputs(t.summary, stderr);
		if (t.failed[0])
			fprintf(stderr, "nvmtop: %s\n", t.failed);
		if (saver_end(t.saver, &e) < 0)
			fprintf(stderr, "nvmtop: %s\n", e.text);
	}
	if (!status && t.remote && remote_verdict(t.remote)->code != ERR_NONE)
		status = complain(remote_verdict(t.remote));
	remote_close(t.remote);
	inbox_close(t.marks);
	trace_close(t.with);
	trace_close(t.trace);
	procs_close(t.procs);
	free(t.procs_list.procs);
	live_close(&t.live);
	keep_free(t.keep);
	files_free(&t.files);
	canvas_free(&t.canvas);
	ui_free(t.ui);
	free(t.summary);
	free(t.chosen);
	return status;
}
