/* Draws pictures of the screen from the demo in simulated time, the same on every machine.
 *
 *   shots FOLDER <SCRIPT
 *
 * Each line of the script is one of
 *   screen WxH dark|light   new screen with the overview
 *   demo BOARD NAME         new live board, sampled from now on and recorded to FOLDER/NAME
 *   run SECONDS             sample, and draw four times a second
 *   trace NAME              show a recording; ends that of the current board
 *   with NAME               show another one below it
 *   key KEY...              a character or the name of a key
 *   write NAME              write FOLDER/NAME.svg
 *   frame SECONDS CAPTION   write FOLDER/frame-00.svg, -01, ...; see animate.py
 * or a comment that starts with #. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "engine/engine.h"

#define BEGIN_NS    (1000 * NS_PER_S)
#define EPOCH_NS    (INT64_C(1767261600) * NS_PER_S) /* 2026-01-01 10:00 UTC */
#define FRAME_NS    (250 * NS_PER_MS)                /* how often the engine polls for demo marks */
#define ADVANCE_MAX 10000

int64_t __wrap_clock_now_ns(void);
void __wrap_clock_anchor(struct clock_anchor *out);

static int64_t clock_ns = BEGIN_NS;

int64_t __wrap_clock_now_ns(void)
{
	return clock_ns;
}

void __wrap_clock_anchor(struct clock_anchor *out)
{
	*out = (struct clock_anchor) {clock_ns, EPOCH_NS + clock_ns - BEGIN_NS, clock_ns};
}

struct shots {
	const char *folder;
	struct live live;
	struct log_out *writer;
	struct trace *trace, *second;
	struct ui *ui;
	struct ui_scene scene;
	struct ui_align align;
	struct machine *machine;
	struct canvas canvas;
	enum ground ground;
	int frames;
};

static void die(const char *what)
{
	fprintf(stderr, "shots: %s\n", what);
	exit(1);
}

static void draw(struct shots *s)
{
	struct ui_scene *sc = &s->scene;
	struct clock_anchor now;

	clock_anchor(&now);
	sc->now_ns = now.mono_ns;
	sc->wall_ns = now.real_ns;
	sc->machine = s->machine;
	sc->procs = sc->live ? live_demo_procs(&s->live, clock_ns) : NULL;
	sc->procs_serial = sc->procs ? sc->procs->serial : 0;
	for (int i = 0; i < ADVANCE_MAX && ui_advance(s->ui, sc); i++)
		continue;
	ui_draw(s->ui, sc, &s->canvas);
}

static void screen(struct shots *s, char *how)
{
	struct ui_options o = {.charset = term_charset()};
	struct err e;
	int w, h;
	char ground[8];

	if (sscanf(how, "%dx%d %7s", &w, &h, ground) != 3 || canvas_resize(&s->canvas, w, h) < 0)
		die(how);
	s->ground = strcmp(ground, "light") ? GROUND_DARK : GROUND_LIGHT;
	ui_free(s->ui);
	s->ui = ui_new(&o, &e);
	if (!s->ui)
		die(e.text);
	if (s->scene.timeline)
		ui_reset(s->ui, &s->scene);
}

static void path_of(const struct shots *s, const char *name, char out[512])
{
	snprintf(out, 512, "%s/%s", s->folder, name);
}

static void demo(struct shots *s, const char *board, const char *name)
{
	struct options o = {.board = board, .sysroot = "/", .hz = {1000, 100, 10}};
	struct live *l = &s->live;
	struct board *parsed;
	char path[512];
	struct err e;

	path_of(s, name, path);
	struct probe_set *probes = open_probes(&o, &l->root, &parsed, NULL, 0, &e);
	if (!probes)
		die(e.text);
	board_free(parsed);
	l->engine = engine_new(probes, o.hz, &e);
	l->log = log_new(&(struct log_bound) {.rows_ns = LOG_ROWS_NS}, &e);
	l->view = l->log ? log_view_new(l->log, &e) : NULL;
	s->writer = log_out_new(path, true, &e);
	if (!l->engine || !l->view || !s->writer || log_out_begin(s->writer, l->log, INT64_MIN, INT64_MAX, &e) < 0 ||
	    engine_begin(l->engine, log_sink(l->log), &e) < 0)
		die(e.text);
	s->scene = (struct ui_scene) {.timeline = log_view_timeline(l->view), .live = true, .own_cpu = NAN};
	ui_reset(s->ui, &s->scene);
}

static void end_recording(struct shots *s)
{
	struct err e;

	if (!s->writer)
		return;
	engine_stop(s->live.engine);
	if (log_out_end(s->writer, &e) < 0)
		die(e.text);
	log_out_free(s->writer);
	s->writer = NULL;
	s->scene.timeline = NULL;
	live_close(&s->live);
}

static void run(struct shots *s, double seconds)
{
	int64_t until = clock_ns + llround(seconds * (double)NS_PER_S);

	while (clock_ns < until) {
		if (s->scene.live) {
			clock_ns += FRAME_NS - NS_PER_MS;
			engine_sample_past(s->live.engine, FRAME_NS - NS_PER_MS); /* ends a millisecond from now */
			clock_ns += NS_PER_MS;
		} else {
			clock_ns += FRAME_NS;
		}
		draw(s);
	}
}

static struct trace *open_it(const struct shots *s, const char *name)
{
	char path[512];
	struct err e;

	path_of(s, name, path);
	struct trace *t = trace_open(path, &e);
	if (!t || e.code != ERR_NONE)
		die(e.text);
	return t;
}

static void show_trace(struct shots *s, const char *name)
{
	end_recording(s);
	trace_close(s->trace);
	s->trace = open_it(s, name);
	s->scene = (struct ui_scene) {.timeline = trace_timeline(s->trace),
				      .trace_name = strrchr(trace_path(s->trace), '/') + 1,
				      .own_cpu = NAN};
	ui_reset(s->ui, &s->scene);
}

static void show_with(struct shots *s, const char *name)
{
	struct err e;

	trace_close(s->second);
	s->second = open_it(s, name);
	s->scene.with = trace_timeline(s->second);
	s->scene.with_name = strrchr(trace_path(s->second), '/') + 1;
	if (ui_align(s->scene.timeline, s->scene.with, NULL, &s->align, &e) < 0)
		die(e.text);
	s->scene.align = &s->align;
	ui_reset(s->ui, &s->scene);
}

static void key(struct shots *s, const char *name)
{
	static const struct {
		const char *name;
		uint32_t key;
	} keys[] = {{"Tab", K_TAB},   {"Enter", K_ENTER}, {"Esc", K_ESC},   {"Up", K_UP},   {"Down", K_DOWN},
		    {"Left", K_LEFT}, {"Right", K_RIGHT}, {"Home", K_HOME}, {"End", K_END}, {"Space", ' '}};
	struct event ev = {.kind = EVENT_KEY, .t_ns = clock_ns, .key = (unsigned char)name[0]};

	for (size_t i = 0; name[1] && i < sizeof keys / sizeof *keys; i++)
		if (!strcmp(keys[i].name, name))
			ev.key = keys[i].key;
	if (name[1] && ev.key == (unsigned char)name[0])
		die(name);
	struct request r = ui_event(s->ui, &s->scene, &ev);
	if (r.kind == REQUEST_MARK)
		engine_mark(s->live.engine, r.t_ns, r.label);
	draw(s);
}

static void write_svg(struct shots *s, const char *name)
{
	char path[512];
	FILE *out;

	draw(s);
	path_of(s, name, path);
	out = fopen(path, "w");
	if (out)
		term_svg(&s->canvas, THEME_STANDARD, s->ground, out);
	if (!out || fclose(out) != 0)
		die(strerror(errno));
}

static void carry_out(struct shots *s, const char *verb, char *rest)
{
	char *last = strrchr(rest, ' '), name[80];

	if (!strcmp(verb, "screen")) {
		screen(s, rest);
	} else if (!strcmp(verb, "demo") && last) {
		*last++ = '\0';
		demo(s, rest, last);
	} else if (!strcmp(verb, "run")) {
		run(s, strtod(rest, NULL));
	} else if (!strcmp(verb, "trace")) {
		show_trace(s, rest);
	} else if (!strcmp(verb, "with")) {
		show_with(s, rest);
	} else if (!strcmp(verb, "write")) {
		snprintf(name, sizeof name, "%.60s.svg", rest);
		write_svg(s, name);
	} else if (!strcmp(verb, "frame")) {
		snprintf(name, sizeof name, "frame-%02d.svg", s->frames++);
		write_svg(s, name);
	} else if (!strcmp(verb, "key")) {
		for (char *k = strtok(rest, " "); k; k = strtok(NULL, " "))
			key(s, k);
	} else {
		die(verb);
	}
}

int main(int argc, char **argv)
{
	struct shots s = {.machine = calloc(1, sizeof(struct machine))};
	char line[256];

	setlocale(LC_ALL, "");
	if (argc != 2)
		die("a folder is needed");
	s.folder = argv[1];
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		char *rest = line + strcspn(line, " ");
		if (*rest)
			*rest++ = '\0';
		if (line[0] && line[0] != '#')
			carry_out(&s, line, rest);
	}
	ui_free(s.ui);
	end_recording(&s);
	trace_close(s.trace);
	trace_close(s.second);
	canvas_free(&s.canvas);
	return 0;
}
