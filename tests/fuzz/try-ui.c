/* Drives the screen with random input while its data changes: no key, click, text or size
 * may cause an invalid memory access, a use after free or an endless loop, whatever
 * happens between two frames.
 *
 *   tests/fuzz/try-ui [SEED [RUNS]]
 *
 * Makes RUNS runs with SEED, SEED + 1, ..., and prints each seed to reproduce a run.
 * make check makes a few; after ./configure --enable-sanitizers, make many:
 * tests/fuzz/try-ui 1 100000 */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "stage.h"
#include "ui/view.h"

#define SEED  20261122
#define RUNS  60
#define STEPS 400 /* per run */
#define STUCK 120 /* time limit of a run in seconds */

static void press(struct stage *st, uint32_t key, unsigned mods, bool pasted)
{
	struct event ev = {.kind = EVENT_KEY, .key = key, .mods = mods, .pasted = pasted, .t_ns = st->now_ns};

	stage_give(st, &ev);
}

/* Keys that are bound, with modifiers. */
static void known_key(struct stage *st)
{
	const struct view *v = NULL;
	const struct key_entry *e;
	size_t n = 0, k = 0;

	while (views_at(n))
		n++;
	v = views_at(dice(n));
	if (v->key && one_in(4)) {
		press(st, v->key, 0, false);
		return;
	}
	for (n = 0; keys_entry(v, n);)
		n++;
	e = keys_entry(v, dice(n));
	while (k + 1 < KEYS_MAX && e->keys[k + 1].key)
		k++;
	k = dice(k + 1);
	/* Quit now and then, but not always. */
	if (e->keys[k].arg == REQUEST_QUIT && e->handler == act_request && !one_in(8))
		return;
	for (uint64_t times = one_in(6) ? dice(12) : 1; times > 0; times--)
		press(st, e->keys[k].key, one_in(8) ? (unsigned)dice(8) : e->keys[k].mods, one_in(32));
}

static void any_key(struct stage *st)
{
	static const uint32_t keys[] = {
		0,    1,     8,      9,         10,     13,      27,     32,       127,      0x9b,
		0xe9, 0x301, 0xd800, 0xdfff,    0x6f22, 0x1f600, 0xffff, 0x10ffff, K_INSERT, K_DELETE,
		K_F1, K_F2,  K_F12,  K_BACKTAB, 'y',    'n',     'Y',    '9',      't',      's'};

	press(st, keys[dice(sizeof(keys) / sizeof(keys[0]))], (unsigned)dice(8), one_in(8));
}

/* Click on a tab, a key of the bar, or beside them. */
static void click_foot(struct stage *st)
{
	struct event ev = {.kind = EVENT_MOUSE, .action = MOUSE_PRESS, .button = 1, .t_ns = st->now_ns};

	ev.x = (int)dice((uint64_t)st->w + 1);
	ev.y = st->h > 2 ? st->h - 1 - (int)dice(2) : 0;
	stage_give(st, &ev);
}

/* Type into a prompt if the first character opens one. \001 is a click, \002 a frame. */
static void type(struct stage *st)
{
	/* clang-format off */
	static const char *const texts[] = {
		"g50%\r", "gm3\r", "g-10s\r", "g+99999999999999h\r", "g23:59:59\r",
		"g2026-11-20 00:00:00\r", "gend\r", "g1e300\r", "g\b\b", "gm18446744073709551615\r", "g\r",
		"/gpu > 50\r", "/power > 25 W for 2s\r", "/gpu >= 0\rnNnN", "/throttled\r", "/x = y\r",
		"/\r", "/c1.util > 3 and c2.power < 100\r", "nN", "Slabel\r",
		"Saaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r",
		"S\033", "8froot\rjjjx9", "8txn", "8y", "8", "y", "8jx", "o\r", "8f%s\r\033", "8jxy",
		"8j\002x\0018\002y", "8j\002x\001o\r8\0029", "8jx", "7xjx\r", "7jjjj\r", "vlllv", "VL ",
		"o\r", "ojj\r", "oo", "ps", "pt", "Ojjjjjjjj   KJKJ)))((H", "zz", "HHHH", "JJJJKK",
		"))))))))(((((", "2z\r??", "jjj\r", "+++++++++++++++++", "-----------------", ">>>>>>>>> ",
		"<<<<<<< ", "0", "{{{}}"
	};
	/* clang-format on */
	const char *text = texts[dice(sizeof(texts) / sizeof(texts[0]))];
	bool pasted = one_in(16);

	for (; *text; text++) {
		if (*text == '\001')
			click_foot(st);
		else if (*text == '\002' || one_in(12))
			stage_frame(st);
		if (*text > '\002')
			press(st, *text == '\b' ? K_BACKSPACE : (unsigned char)*text, 0, pasted);
	}
}

static int place(int most)
{
	return one_in(32) ? 5000 : (int)dice((uint64_t)most + 2);
}

/* A press, with or without moves and a release. */
static void mouse(struct stage *st)
{
	static const int buttons[] = {1, 1, 1, 1, 2, 3, 4, 5, 0, 8};
	struct event ev = {.kind = EVENT_MOUSE, .t_ns = st->now_ns};

	ev.button = buttons[dice(10)];
	ev.mods = one_in(8) ? (unsigned)dice(8) : 0;
	ev.x = place(st->w);
	ev.y = one_in(4) ? st->h - 1 - (int)dice(st->h < 4 ? 1 : 4) : place(st->h);
	ev.y = ev.y < 0 ? 0 : ev.y;
	ev.action = one_in(8) ? (enum mouse_action)dice(3) : MOUSE_PRESS;
	stage_give(st, &ev);
	if (one_in(3))
		stage_give(st, &ev);
	ev.action = MOUSE_DRAG;
	for (uint64_t n = one_in(3) ? dice(6) : 0; n > 0; n--) {
		ev.x = place(st->w);
		ev.y = place(st->h);
		stage_give(st, &ev);
		if (one_in(4))
			stage_frame(st);
	}
	ev.action = MOUSE_RELEASE;
	if (!one_in(4))
		stage_give(st, &ev);
}

static void resize(struct stage *st)
{
	static const int sizes[][2] = {{1, 1},    {0, 0},    {20, 5},    {19, 5},   {20, 6},
				       {40, 10},  {80, 24},  {80, 24},   {100, 30}, {120, 40},
				       {200, 60}, {1000, 1}, {1000, 30}, {1, 1000}, {24, 200}};
	struct event ev = {.kind = EVENT_RESIZE, .t_ns = st->now_ns};
	size_t i = dice(sizeof(sizes) / sizeof(sizes[0]));

	st->w = one_in(3) ? (int)dice(150) : sizes[i][0];
	st->h = one_in(3) ? (int)dice(50) : sizes[i][1];
	if (one_in(2))
		stage_give(st, &ev);
}

/* Time passes, with new local or remote samples. */
static void pass_time(struct stage *st)
{
	static const int64_t by[] = {
		0, 1, NS_PER_MS, 40 * NS_PER_MS, 250 * NS_PER_MS, NS_PER_S, 3600 * NS_PER_S};

	st->now_ns += by[dice(one_in(16) ? 7 : 6)];
	if (st->remote && one_in(8) && st->now_ns > NS_PER_S) /* its clock differs from ours */
		st->now_ns -= (int64_t)dice(NS_PER_S);
	if (!st->live || st->ended || one_in(8))
		return;
	if (one_in(2))
		tape_grow(st->live, st->now_ns - (int64_t)dice(50 * NS_PER_MS));
	if (one_in(16))
		tape_mark(st->live, st->live->last_ns, tape_text());
	if (one_in(16))
		tape_gap(st->live);
}

static void change_recording(struct stage *st)
{
	struct ui_scene *s = &st->scene;

	s->record_name = stage_name(st, 3);
	s->record_since_ns = st->now_ns - (int64_t)dice(100 * NS_PER_S);
	s->record_bytes = dice_any();
	s->record_marks = dice_any();
	s->record_lost = one_in(2) ? 0 : dice_any();
	s->record_error = one_in(8) ? stage_name(st, 4) : NULL;
	s->completing = NULL;
	if (st->live && !st->remote && one_in(8))
		s->recording = !s->recording;
}

/* Change the rest of the scene. */
static void change_state(struct stage *st)
{
	struct ui_scene *s = &st->scene;

	s->late = one_in(2) ? 0 : dice_any();
	s->lost = one_in(2) ? 0 : dice_any();
	s->own_cpu = one_in(2) ? NAN : (double)dice(100);
	s->stalled = one_in(8);
	s->hangs = one_in(8) ? "temp.cpu" : NULL;
	if (st->trace || st->remote)
		s->notice = one_in(2) ? stage_name(st, 5) : NULL;
	if (one_in(4))
		stage_say(st, tape_text());
	if (st->remote)
		stage_name(st, 1);
	if (st->remote && one_in(24))
		st->ended = true;
}

/* Like take_growth(), followed by a frame. */
static void grow_trace(struct stage *st)
{
	struct tape *t;

	if (!st->growing || !st->trace)
		return;
	t = one_in(4) ? tape_open(false, 0) : tape_open_grown(st->trace);
	tape_close(st->trace);
	st->trace = t;
	stage_frame(st);
}

static void step(struct stage *st)
{
	switch (dice(26)) {
	case 0:
	case 1:
	case 2:
	case 3:
	case 4:
	case 5:
	case 6:
		known_key(st);
		break;
	case 7:
		any_key(st);
		break;
	case 8:
	case 9:
	case 10:
		type(st);
		break;
	case 11:
	case 12:
	case 13:
		mouse(st);
		break;
	case 14:
		if (one_in(3))
			resize(st);
		break;
	case 15:
	case 16:
	case 17:
		pass_time(st);
		break;
	case 18:
		change_recording(st);
		break;
	case 19:
		change_state(st);
		break;
	case 20:
		grow_trace(st);
		break;
	case 21:
	case 22:
		stage_answer(st);
		break;
	default:
		stage_frame(st);
		break;
	}
}

static void run(uint64_t number)
{
	struct settings kept = SETTINGS_DEFAULT;
	struct stage st;

	stage_step(number, 0);
	dice_seed(number);
	/* Also in a locale without these characters. */
	if (!setlocale(LC_ALL, one_in(8) ? "C" : "C.UTF-8"))
		setlocale(LC_ALL, "C");
	stage_begin(&st, NULL);
	for (int i = 0; i < STEPS; i++) {
		stage_step(number, i);
		step(&st);
		if (!st.quit)
			continue;
		/* Run again with the settings of this run. */
		kept = *ui_settings(st.ui);
		stage_end(&st);
		stage_begin(&st, &kept);
	}
	stage_end(&st);
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : SEED;
	uint64_t runs = argc > 2 ? strtoull(argv[2], NULL, 10) : argc > 1 ? 1 : RUNS;

	puts("1..1");
	for (uint64_t i = 0; i < runs; i++) {
		printf("# seed %llu\n", (unsigned long long)(first + i));
		fflush(stdout);
		alarm(STUCK);
		run(first + i);
	}
	printf("ok 1 - %llu runs of %d steps\n", (unsigned long long)runs, STEPS);
	return 0;
}
