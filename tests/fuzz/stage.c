/* Drives the screen in the same order as src/cmd/top.c and requests.c: a scene is filled before each
 * call, a trace is opened before the previous one is closed, and ui_reset() is called then. */
#include "stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORK 40000000 /* limit of columns, values and marks per call; some need millions */

static uint64_t run_seed;
static int steps;

void stage_step(uint64_t run, int step)
{
	run_seed = run;
	steps = step;
}

static void failed(const char *what)
{
	fprintf(stderr, "seed %llu, step %d: %s\n", (unsigned long long)run_seed, steps, what);
	abort();
}

static void expect(bool holds, const char *what)
{
	if (!holds)
		failed(what);
}

void stage_say(struct stage *st, const char *text)
{
	snprintf(st->message, sizeof(st->message), "%s", text);
}

const char *stage_name(struct stage *st, int i)
{
	snprintf(st->text[i], sizeof(st->text[i]), "%s%s", one_in(2) ? "/tmp/" : "", tape_text());
	return st->text[i];
}

/* Like scene_procs(): reads this machine's processes while shown. */
static void look_procs(struct stage *st)
{
	struct ui_scene *s = &st->scene;
	struct procs_list *l = &st->procs;

	s->procs = NULL;
	if (!st->live || st->remote || !ui_wants_procs(st->ui, s) || one_in(32) /* out of memory */)
		return;
	s->procs = l;
	if (!one_in(4))
		return;
	free(l->procs);
	memset(l, 0, sizeof(*l));
	l->n = one_in(4) ? 0 : one_in(16) ? 2000 : dice(40);
	l->procs = calloc(l->n + !l->n, sizeof(*l->procs));
	if (!l->procs)
		abort();
	for (size_t i = 0; i < l->n; i++) {
		struct proc *p = &l->procs[i];

		*p = (struct proc) {.pid = (int)(i * 3 + dice(3) + 1),
				    .parent = (int)dice(60),
				    .start = dice(3),
				    .state = 'S',
				    .self = i == 3,
				    .kernel = one_in(4),
				    .age_s = one_in(4) ? NAN : (double)dice_any(),
				    .gpu = one_in(4),
				    .cpu = one_in(8) ? NAN : (double)dice(1000) / 7,
				    .rss_kb = (double)(dice_any()),
				    .gpu_kb = one_in(2) ? NAN : (double)(dice_any()),
				    .threads = (long)dice(100000)};
		snprintf(p->name, sizeof(p->name), "%.20s", one_in(4) ? tape_text() : "[kworker/0:1]");
		snprintf(p->command, sizeof(p->command), "%s", one_in(4) ? "" : tape_text());
		snprintf(p->user, sizeof(p->user), "%s", one_in(2) ? "root" : "4294967294");
	}
	if (one_in(2))
		snprintf(l->gpu_missing, sizeof(l->gpu_missing), "%s", tape_text());
	s->procs_serial++;
}

/* Like top_look(). */
static void look(struct stage *st)
{
	struct ui_scene *s = &st->scene;

	s->now_ns = st->now_ns;
	s->wall_ns = one_in(16) ? 0 : INT64_C(1795185000) * NS_PER_S + st->now_ns;
	s->files = st->files;
	s->n_files = st->n_files - st->unread;
	s->files_at = st->unread ? st->text[6] : NULL;
	s->opening = st->opening ? st->text[7] : NULL;
	s->live = !st->trace && !st->ended;
	s->trace_name = st->trace ? st->text[0] : st->remote ? st->text[1] : NULL;
	s->remote = st->remote && !st->trace ? st->text[1] : NULL;
	s->with = st->with ? &st->with->timeline : NULL;
	s->with_name = st->with ? st->text[2] : NULL;
	s->align = &st->align;
	s->timeline = st->trace ? &st->trace->timeline : &st->live->timeline;
	s->message = st->message[0] ? st->message : NULL;
	look_procs(st);
}

static void end_call(struct stage *st, const char *what)
{
	if (tape_asked() - st->work > WORK) {
		fprintf(stderr, "%llu asked for\n", (unsigned long long)(tape_asked() - st->work));
		failed(what);
	}
	st->work = tape_asked();
}

/* Wide characters have both halves, and no cell has a control character. */
static void check_cells(const struct canvas *c)
{
	for (int y = 0; y < c->h; y++) {
		const struct cell *row = c->cells + (size_t)y * (size_t)c->w;

		for (int x = 0; x < c->w; x++) {
			wchar_t ch = row[x].ch[0];
			bool wide = wcwidth(ch) > 1;

			expect(row[x].style < STYLES, "a cell of no style");
			expect(row[x].ch[2] == 0, "a cell of three characters");
			expect(ch == 0 || (ch >= L' ' && (ch < 0x7f || ch > 0x9f)), "a control character");
			expect(ch != 0 || (x && wcwidth(row[x - 1].ch[0]) > 1), "half a wide character");
			expect(!wide || (x + 1 < c->w && row[x + 1].ch[0] == 0), "a wide character cut");
		}
	}
}

static void check_same(const struct canvas *a, const struct canvas *b)
{
	for (int i = 0; i < a->w * a->h; i++) {
		const struct cell *p = &a->cells[i], *q = &b->cells[i];

		if (p->ch[0] == q->ch[0] && p->ch[1] == q->ch[1] && p->style == q->style)
			continue;
		canvas_print(a, stderr);
		canvas_print(b, stderr);
		fprintf(stderr, "they differ in column %d of line %d\n", i % a->w, i / a->w);
		failed("one scene is drawn in two ways");
	}
}

/* The last line starts with its text. */
static bool shows_question(const struct canvas *c)
{
	static const wchar_t text[] = L"Kill";
	int x = 0, i = 0;

	for (x = 0; x + 4 <= c->w && c->h > 1; x++) {
		for (i = 0; i < 4 && c->cells[(c->h - 1) * c->w + x + i].ch[0] == text[i]; i++)
			;
		if (i == 4)
			return true;
	}
	return false;
}

static void rest(struct stage *st, bool restless)
{
	if (st->live)
		st->live->restless = restless && !st->ended;
}

/* Draw again, as requests.c does for a copy: the result is the same. */
static void draw_again(struct stage *st)
{
	struct canvas c = {0};

	expect(canvas_resize(&c, st->canvas.w, st->canvas.h) == 0, "out of memory");
	rest(st, false);
	ui_draw(st->ui, &st->scene, &st->canvas);
	ui_draw(st->ui, &st->scene, &c);
	end_call(st, "drawing takes too much");
	check_same(&st->canvas, &c);
	canvas_free(&c);
}

static void show_part(struct stage *st, int by, bool play);

/* Like draw(), and what run() does after it. */
void stage_frame(struct stage *st)
{
	if ((st->w != st->canvas.w || st->h != st->canvas.h) && canvas_resize(&st->canvas, st->w, st->h) < 0)
		failed("out of memory");
	rest(st, one_in(2));
	look(st);
	ui_advance(st->ui, &st->scene);
	end_call(st, "a step takes too much");
	ui_draw(st->ui, &st->scene, &st->canvas);
	end_call(st, "a picture takes too much");
	check_cells(&st->canvas);
	if (one_in(3))
		draw_again(st);
	st->question = shows_question(&st->canvas);
	expect(ui_frame_ms(st->ui, &st->scene) >= -1, "a time to wait that is none");
	if (ui_played_out(st->ui))
		show_part(st, 1, true);
}

static void reset(struct stage *st)
{
	look(st);
	ui_reset(st->ui, &st->scene);
	end_call(st, "a new scene takes too much");
}

/* Like source_show_trace(): opens the new one before the old one is closed. */
static void show_trace(struct stage *st)
{
	struct tape *t = tape_open(false, 0);

	st->growing &= !st->trace;
	tape_close(st->with);
	tape_close(st->trace);
	st->with = NULL;
	st->trace = t;
	st->scene.notice = NULL;
	stage_name(st, 0);
}

static void show_live(struct stage *st)
{
	if (!st->live)
		st->live = tape_open(true, st->now_ns);
	tape_close(st->with);
	tape_close(st->trace);
	st->with = st->trace = NULL;
	st->growing = false;
	st->scene.notice = NULL;
}

static void show_part(struct stage *st, int by, bool play)
{
	if (!st->trace || st->with || one_in(3)) {
		if (!play)
			stage_say(st, "This recording has no next file.");
		return;
	}
	show_trace(st);
	look(st);
	ui_go_on(st->ui, &st->scene, by < 0, play);
	end_call(st, "a new part takes too much");
	stage_say(st, tape_text());
}

static void scan_files(struct stage *st)
{
	free(st->files);
	st->scene.files_serial++;
	st->n_files = one_in(4) ? 0 : one_in(8) ? 1000 : dice(60);
	st->files = calloc(st->n_files + !st->n_files, sizeof(*st->files));
	if (!st->files)
		abort();
	for (size_t i = 0; i < st->n_files; i++) {
		struct ui_file *f = &st->files[i];

		memset(f->path, 'x', sizeof(f->path) - 1);
		f->path[dice(sizeof(f->path))] = 0;
		snprintf(f->name, sizeof(f->name), "%s", tape_text());
		f->readable = !one_in(8);
	}
	st->unread = one_in(2) ? dice(st->n_files + 1) : 0;
}

static void open_file(struct stage *st)
{
	st->opening = false;
	if (one_in(4)) {
		stage_say(st, "This is no trace.");
		return;
	}
	show_trace(st);
	reset(st);
}

/* Like files_take(): inserts files anywhere in the list. */
static void find_file(struct stage *st)
{
	size_t n = st->n_files - st->unread;
	struct ui_file one = st->files[n];

	memmove(st->files + 1, st->files, n * sizeof(one));
	st->files[0] = one;
	st->unread--;
	st->scene.files_serial++;
}

/* Like look_after_source() and related calls of run(), before the next frame. */
void stage_answer(struct stage *st)
{
	bool news = st->unread > 0;

	if (st->unread && one_in(8))
		stage_name(st, 6);
	else if (st->unread)
		find_file(st);
	if (st->opening && !ui_is_asking(st->ui)) {
		news = true;
		open_file(st);
	}
	if (news)
		stage_frame(st);
}

static void check_settings(const struct settings *s)
{
	expect((int)s->theme < THEMES && (int)s->ground < GROUNDS, "a setting of no meaning");
	expect(s->n_charts <= SETTINGS_CHARTS, "too many settings");
	expect(memchr(s->view, 0, sizeof(s->view)) != NULL, "the name of a view without end");
	for (size_t i = 0; i < s->n_charts; i++) {
		const struct chart_setting *c = &s->charts[i];

		expect(c->lines <= CHART_LINES_MAX, "a row too high");
		expect(memchr(c->view, 0, sizeof(c->view)) && memchr(c->name, 0, sizeof(c->name)) &&
			       memchr(c->after, 0, sizeof(c->after)),
		       "the name of a row without end");
	}
}

/* Like top_carry_out(). */
static void carry_out(struct stage *st, const struct request *r)
{
	bool there = st->live && !st->remote;

	switch (r->kind) {
	case REQUEST_QUIT:
		st->quit = true;
		break;
	case REQUEST_MARK:
		expect(memchr(r->label, 0, sizeof(r->label)) != NULL, "a label without end");
		if (there)
			tape_mark(st->live, r->t_ns, r->label);
		break;
	case REQUEST_RECORD:
		st->scene.recording = there && !st->scene.recording;
		st->scene.completing = there && !st->scene.recording && one_in(2) ? st->text[3] : NULL;
		break;
	case REQUEST_LIST:
		if (!st->unread)
			scan_files(st);
		break;
	case REQUEST_OPEN:
		expect(memchr(r->path, 0, sizeof(r->path)) != NULL, "a path without end");
		if (one_in(2)) {
			open_file(st);
			break;
		}
		st->opening = true;
		stage_name(st, 7);
		break;
	case REQUEST_STAY:
		expect(st->opening, "what is not opened is not to be opened");
		st->opening = false;
		break;
	case REQUEST_PART:
		st->opening = false;
		expect(r->by == 1 || r->by == -1, "a part that is none");
		show_part(st, r->by, false);
		break;
	case REQUEST_LIVE:
		if (st->trace) {
			st->opening = false;
			show_live(st);
			reset(st);
		}
		break;
	case REQUEST_KILL:
		expect(st->scene.live && r->pid > 0, "a process of no machine is to end");
		expect(st->question, "a process is to end, and nobody was asked");
		stage_say(st, "process 1 was sent SIGTERM");
		break;
	case REQUEST_SETTINGS:
		check_settings(ui_settings(st->ui));
		break;
	case REQUEST_COPY:
		if (st->canvas.cells)
			look(st), draw_again(st);
		break;
	default:
		break;
	}
}

void stage_give(struct stage *st, const struct event *ev)
{
	struct request r;

	if (ev->kind == EVENT_KEY || (ev->kind == EVENT_MOUSE && ev->action == MOUSE_PRESS))
		st->message[0] = 0;
	rest(st, one_in(2));
	look(st);
	r = ui_event(st->ui, &st->scene, ev);
	end_call(st, "an event takes too much");
	expect(!ev->pasted || r.kind == REQUEST_NONE, "what was pasted asks for something");
	carry_out(st, &r);
	/* Any key or click answers the question. */
	st->question &= ev->kind != EVENT_KEY && (ev->kind != EVENT_MOUSE || ev->action != MOUSE_PRESS);
}

static void begin_ui(struct stage *st, const struct settings *kept)
{
	size_t n = 0, view;
	struct ui_options o = {.charset = (enum charset)dice(2),
			       .settings = kept,
			       .frame_ms = one_in(2) ? 0 : 1 + (int)dice(1000)};
	struct err e;

	while (ui_view_name(n))
		n++;
	view = dice(n + 1);
	o.view = ui_view_name(view);
	st->ui = ui_new(&o, &e);
	expect(st->ui != NULL, "no screen");
}

/* Like start(): live, one trace or two; local or remote. */
void stage_begin(struct stage *st, const struct settings *kept)
{
	struct err e;

	memset(st, 0, sizeof(*st));
	st->w = 80;
	st->h = 24;
	st->now_ns = 1000 * NS_PER_S;
	st->scene.own_cpu = NAN;
	st->work = tape_asked();
	for (int i = 0; i < 8; i++)
		stage_name(st, i);
	begin_ui(st, kept);
	if (one_in(2)) {
		st->remote = one_in(3);
		st->live = tape_open(true, st->now_ns);
	} else {
		st->growing = one_in(3);
		st->trace = tape_open(false, 0);
		if (!st->growing && one_in(2)) {
			st->with = one_in(2) ? tape_open_grown(st->trace) : tape_open(false, 0);
			ui_align(&st->trace->timeline, &st->with->timeline, one_in(2) ? NULL : "start",
				 &st->align, &e);
			st->work = tape_asked();
		}
	}
	look(st);
	ui_reset(st->ui, &st->scene);
	if (st->trace && one_in(4))
		ui_seek(st->ui, &st->scene, (int64_t)dice_any());
	end_call(st, "the beginning takes too much");
	stage_frame(st);
}

void stage_end(struct stage *st)
{
	ui_free(st->ui);
	tape_close(st->with);
	tape_close(st->trace);
	tape_close(st->live);
	canvas_free(&st->canvas);
	free(st->files);
	free(st->procs.procs);
}
