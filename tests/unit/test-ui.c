/* The whole screen: requests of keys, positions, any event at any size. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define BENCH_VIEW "signals"
#include "ui-bench.h"

static void keys_become_requests(void **state)
{
	struct bench b;
	struct request r;

	(void)state;
	start(&b, 80, 24, true, CHARSET_BRAILLE);
	r = press(&b, 's', 0);
	assert_int_equal(r.kind, REQUEST_MARK);
	assert_true(r.t_ns == 4711 && r.redraw); /* time of the key press */
	assert_int_equal(press(&b, 'r', 0).kind, REQUEST_RECORD);
	assert_int_equal(press(&b, 'z', MOD_CTRL).kind, REQUEST_SUSPEND);
	assert_int_equal(press(&b, 'l', MOD_CTRL).kind, REQUEST_REPAINT);
	assert_int_equal(press(&b, 'c', MOD_CTRL).kind, REQUEST_QUIT);
	assert_int_equal(press(&b, 'q', 0).kind, REQUEST_QUIT);
	assert_int_equal(press(&b, K_ESC, 0).kind, REQUEST_NONE);
	assert_int_equal(press(&b, 'A', 0).kind, REQUEST_NONE);
	assert_int_equal(press(&b, K_F1, 0).kind, REQUEST_NONE);
	assert_shows(&b, "set a sync mark");
	assert_int_equal(press(&b, 'q', 0).kind, REQUEST_QUIT); /* from everywhere */
	assert_int_equal(press(&b, 's', 0).kind, REQUEST_NONE);
	assert_int_equal(press(&b, K_ESC, 0).kind, REQUEST_NONE);
	assert_hides(&b, "set a sync mark");
	stop(&b);
	start(&b, 80, 24, false, CHARSET_BRAILLE);
	assert_int_equal(press(&b, 's', 0).kind, REQUEST_NONE);
	assert_int_equal(press(&b, K_ESC, 0).kind, REQUEST_LIVE);
	stop(&b);
}

static void a_closed_terminal_quits(void **state)
{
	struct bench b;
	struct event ev = {.kind = EVENT_CLOSED};

	(void)state;
	start(&b, 80, 24, true, CHARSET_BRAILLE);
	assert_int_equal(ui_event(b.ui, &b.scene, &ev).kind, REQUEST_QUIT);
	ev = (struct event) {.kind = EVENT_KEY, .key = 'q', .pasted = 1};
	assert_int_equal(ui_event(b.ui, &b.scene, &ev).kind, REQUEST_NONE); /* text, never a command */
	ev = (struct event) {.kind = EVENT_RESIZE};
	assert_true(ui_event(b.ui, &b.scene, &ev).redraw);
	stop(&b);
}

static void a_trace_is_chosen_from_the_list(void **state)
{
	struct ui_file files[3];
	struct bench b;
	struct request r;

	(void)state;
	memset(files, 0, sizeof(files));
	for (int i = 0; i < 3; i++) {
		snprintf(files[i].path, sizeof(files[i].path), "/traces/%d.nvmt", i);
		snprintf(files[i].name, sizeof(files[i].name), "%d.nvmt", i);
		files[i].readable = i != 1;
	}
	start(&b, 80, 24, true, CHARSET_BRAILLE);
	assert_int_equal(press(&b, 'o', 0).kind, REQUEST_LIST);
	assert_shows(&b, "no saved traces");
	b.scene.files = files;
	b.scene.n_files = 3;
	draw(&b);
	assert_shows(&b, "> 0.nvmt");
	press(&b, K_DOWN, 0);
	assert_shows(&b, "> 1.nvmt");
	assert_int_equal(press(&b, K_ENTER, 0).kind, REQUEST_NONE); /* unreadable */
	press(&b, K_PGDN, 0);
	r = press(&b, K_ENTER, 0);
	assert_int_equal(r.kind, REQUEST_OPEN);
	assert_string_equal(r.path, "/traces/2.nvmt");
	r = mouse(&b, MOUSE_PRESS, 1, 5, 5);
	assert_int_equal(r.kind, REQUEST_NONE);
	assert_int_equal(mouse(&b, MOUSE_PRESS, 1, 5, 5).kind, REQUEST_OPEN);
	/* It was opened: the list closes. */
	b.scene.live = false;
	ui_reset(b.ui, &b.scene);
	draw(&b);
	assert_hides(&b, "0.nvmt");
	assert_shows(&b, "paused");
	stop(&b);
}

static void signals_are_as_designed(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 80, 24, true, CHARSET_BRAILLE);
	assert_string_equal(
		line(&b, 0),
		" nvmtop  Jetson AGX Orin · MODE_30W · L4T 36.4.3                       14:31:40");
	assert_memory_equal(line(&b, 3), " GPU            98.9 %  ", 24);
	assert_memory_equal(line(&b, 6), " RAM            18.6 GiB  18.0..", 32);
	assert_memory_equal(line(&b, 8), "  GPU_SOC       11.8 W  ", 24);
	assert_shows(&b, "VDDQ_VDD2_1…");
	assert_shows(&b, "Hottest gpu");
	assert_shows(&b, "now\n");
	assert_shows(&b, "s mark  r record  Space pause");
	assert_shows(&b, " more (PgDn)");
	/* Every row with data has the mark's line in the same column. */
	for (int y = 3, mark = 0; y < 22; y++) {
		int at = -1;

		for (int x = 45; x < 80; x++)
			if (b.canvas.cells[y * 80 + x].ch[0] == L'│')
				at = x;
		mark = mark ? mark : at;
		assert_int_equal(at, mark);
		assert_int_equal(b.canvas.cells[y * 80 + at].style, STYLE_MARK);
		assert_int_equal(b.canvas.cells[2 * 80 + at].ch[0], L'2');
	}
	stop(&b);
}

static void small_windows_keep_what_matters(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 20, 5, true, CHARSET_ASCII);
	assert_string_equal(b.text, "GPU    98.9 % |||v||\n"
				    "CPU    41.1 % +=-=|+\n"
				    "EMC    57.1 % %+=*|*\n"
				    "RAM    18.6 G =-==|-\n"
				    "Power  29.0 W %*|v|*\n");
	stop(&b);
	start(&b, 19, 5, true, CHARSET_ASCII);
	assert_string_equal(b.text, "\n\nneeds 20x5\n\n\n");
	stop(&b);
	start(&b, 5, 1, true, CHARSET_ASCII);
	assert_string_equal(b.text, "20x5\n");
	stop(&b);
}

static void what_is_missing_says_why(void **state)
{
	struct bench b;
	size_t emc = 0, gpu = 0;

	(void)state;
	start(&b, 120, 40, true, CHARSET_BRAILLE);
	while (b.fake.channels[emc].kind != CHANNEL_EMC_UTIL)
		emc++;
	while (b.fake.channels[gpu].kind != CHANNEL_GPU_UTIL)
		gpu++;
	snprintf(b.fake.channels[emc].missing, sizeof(b.fake.channels[emc].missing), "only root may read it");
	fake_fact(&b.fake, "demo", "yes");
	draw(&b);
	assert_shows(&b, "EMC                   --      only root may read it");
	assert_shows(&b, "nvmtop  DEMO");
	b.scene.hangs = "temp.cpu";
	b.scene.hangs_ns = INT64_C(2500000000);
	draw(&b);
	assert_shows(&b, "temp.cpu has not answered for 2.5 s: its driver hangs.");
	b.scene.stalled = true;
	draw(&b);
	assert_shows(&b, "Sampling hangs: a sensor does not answer.");
	b.scene.record_error = "x.nvmt: no space left";
	draw(&b);
	assert_shows(&b, "x.nvmt: no space left");
	assert_int_equal(b.canvas.cells[121].style, STYLE_BANNER_STRONG);
	stop(&b);
}

static void recording_and_messages_are_shown(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 120, 24, true, CHARSET_BRAILLE);
	b.scene.recording = true;
	b.scene.record_name = "/home/me/run.nvmt";
	b.scene.record_since_ns = b.scene.now_ns - 751 * NS_PER_S;
	b.scene.record_bytes = 81400000;
	b.scene.record_marks = 1;
	draw(&b);
	assert_shows(&b, "● REC run.nvmt 12:31   81 MB  1 mark ");
	/* The name does not move as the numbers grow. */
	b.scene.record_since_ns = b.scene.now_ns - 9 * NS_PER_S;
	b.scene.record_bytes = 999000;
	draw(&b);
	assert_shows(&b, "● REC run.nvmt 00:09  999 kB  1 mark ");
	b.scene.record_since_ns = b.scene.now_ns - 3723 * NS_PER_S;
	draw(&b);
	assert_shows(&b, "● REC run.nvmt 1:02:03  999 kB  1 mark ");
	assert_shows(&b, "r stop rec");
	b.scene.lost = 1;
	draw(&b);
	assert_shows(&b, "1 row lost");
	b.scene.record_lost = 12;
	draw(&b);
	assert_shows(&b, "12 rows could not be written");
	b.scene.message = "saved as run.nvmt";
	b.scene.message_style = STYLE_WARN;
	draw(&b);
	assert_string_equal(line(&b, -1), " saved as run.nvmt");
	for (int w = 20; w < 120; w++) { /* what does not fit is omitted whole */
		canvas_resize(&b.canvas, w, 24);
		draw(&b);
		assert_true(w < 25 || strstr(b.text, "● REC"));
	}
	stop(&b);
}

static void pausing_freezes_everything(void **state)
{
	struct canvas before = {0};
	struct bench b;

	(void)state;
	start(&b, 80, 24, true, CHARSET_BRAILLE);
	assert_int_equal(ui_frame_ms(b.ui, &b.scene), 250);
	press(&b, ' ', 0);
	assert_shows(&b, "PAUSED");
	assert_int_equal(ui_frame_ms(b.ui, &b.scene), -1);
	canvas_resize(&before, 80, 24);
	memcpy(before.cells, b.canvas.cells, sizeof(*before.cells) * 80 * 24);
	b.fake.last_ns += 7 * NS_PER_S;
	b.scene.now_ns += 7 * NS_PER_S;
	b.scene.wall_ns += 7 * NS_PER_S;
	draw(&b);
	/* Everything except its age, and the incomplete column. */
	for (int y = 0; y < 24; y++)
		for (int x = 0; x < 78; x++)
			if (y != 2 && (x < 25 || x > 41))
				assert_int_equal(before.cells[y * 80 + x].ch[0],
						 b.canvas.cells[y * 80 + x].ch[0]);
	assert_shows(&b, "PAUSED -7.0 s");
	canvas_free(&before);
	press(&b, K_ESC, 0);
	assert_hides(&b, "PAUSED");
	press(&b, K_LEFT, 0);
	assert_shows(&b, "PAUSED");
	press(&b, K_END, 0);
	assert_hides(&b, "PAUSED");
	stop(&b);
}

static void frames_come_as_often_as_something_changes(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 80, 24, true, CHARSET_BRAILLE);
	for (int i = 0; i < 20; i++)
		press(&b, '+', 0);
	assert_int_equal(ui_frame_ms(b.ui, &b.scene), 100);
	press(&b, '?', 0);
	assert_int_equal(ui_frame_ms(b.ui, &b.scene), 1000);
	stop(&b);
	start(&b, 80, 24, false, CHARSET_BRAILLE);
	assert_int_equal(ui_frame_ms(b.ui, &b.scene), -1);
	press(&b, ' ', 0);
	assert_in_range(ui_frame_ms(b.ui, &b.scene), 30, 50);
	stop(&b);
}

static void values_can_be_read(void **state)
{
	struct bench b;
	char *before;

	(void)state;
	start(&b, 80, 24, true, CHARSET_BRAILLE);
	b.scene.now_ns = b.fake.last_ns = FAKE_START + 100 * NS_PER_S;
	draw(&b);
	before = strdup(line(&b, 4));
	b.scene.now_ns = b.fake.last_ns += 100 * NS_PER_MS;
	draw(&b);
	assert_memory_equal(line(&b, 4), before, 41);
	b.scene.now_ns = b.fake.last_ns += 200 * NS_PER_MS;
	draw(&b);
	assert_true(memcmp(line(&b, 4), before, 41) != 0);
	free(before);
	stop(&b);
}

static void drawn_cells_do_not_shimmer(void **state)
{
	struct bench b;
	struct canvas before = {0};
	int shifted = 0;

	(void)state;
	for (int cs = 0; cs < 3; cs++) {
		int per = cs == CHARSET_BRAILLE ? 2 : 1;

		start(&b, 120, 12, true, (enum charset)cs);
		b.fake.n_marks = 0;
		canvas_resize(&before, 120, 12);
		press(&b, '-', 0); /* to columns of a power of two */
		b.fake.last_ns = b.scene.now_ns = ((b.fake.last_ns >> 30) + 2) / 2 * 2 * (INT64_C(1) << 30);
		draw(&b);
		memcpy(before.cells, b.canvas.cells, sizeof(*before.cells) * 120 * 12);
		b.fake.last_ns = b.scene.now_ns += (INT64_C(1) << 30) * per;
		draw(&b);
		/* The newest cell was incomplete; all others have moved by one. */
		for (int y = 3; y < 10; y++)
			for (int x = 60; x < 117; x++) {
				const struct cell *a = &before.cells[y * 120 + x + 1];
				const struct cell *p = &b.canvas.cells[y * 120 + x];

				assert_int_equal(a->ch[0], p->ch[0]);
				assert_int_equal(a->style, p->style);
				shifted += p->ch[0] != L' ';
			}
		stop(&b);
	}
	assert_true(shifted > 1000);
	canvas_free(&before);
}

static void places_are_reached(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 120, 30, false, CHARSET_BRAILLE);
	assert_shows(&b, "1:40.0 / 1:40.0");
	assert_shows(&b, "▼");
	press(&b, '[', 0);
	assert_shows(&b, "1:25");
	assert_null(strstr(line(&b, 2), "▼")); /* the mark's number is there */
	press(&b, '[', 0);
	assert_shows(&b, "40");
	press(&b, '[', 0); /* none before it */
	assert_memory_equal(line(&b, -3), " 40", 3);
	press(&b, 'g', 0);
	type(&b, "12x");
	assert_shows(&b, "go to: 12x");
	assert_int_equal(press(&b, 'q', 0).kind, REQUEST_NONE); /* text in a prompt */
	press(&b, K_ENTER, 0);
	assert_shows(&b, "no such place; try  12.5  1:23  +10s  -2m  50%  14:32:05  m3  max  end");
	press(&b, K_BACKSPACE, 0);
	press(&b, K_BACKSPACE, 0);
	type(&b, ".5");
	press(&b, K_ENTER, 0);
	assert_memory_equal(line(&b, -3), " 12.5", 5);
	press(&b, 'g', 0);
	press(&b, K_ESC, 0);
	assert_hides(&b, "go to:");
	press(&b, '.', 0);
	for (int i = 0; i < 30; i++)
		press(&b, '+', 0);
	assert_memory_equal(line(&b, -3), " 12.501", 7);
	press(&b, ',', 0);
	press(&b, ',', 0);
	assert_memory_equal(line(&b, -3), " 12.499", 7);
	press(&b, K_HOME, 0);
	assert_memory_equal(line(&b, -3), " 0.0", 4);
	ui_seek(b.ui, &b.scene, 33 * NS_PER_S);
	draw(&b);
	assert_memory_equal(line(&b, -3), " 33.0", 5);
	ui_seek(b.ui, &b.scene, INT64_MAX);
	ui_seek(b.ui, &b.scene, INT64_MIN);
	draw(&b);
	assert_memory_equal(line(&b, -3), " 0.0", 4);
	stop(&b);
}

/* With less room there are fewer examples, each complete. */
static void examples_of_places(void **state)
{
	static const char hint[] = "  12.5  1:23  +10s  -2m  50%  14:32:05  m3  max  end";

	(void)state;
	for (int w = 40; w < 100; w++) {
		struct bench b;
		const char *shown;
		size_t n;

		start(&b, w, 24, false, CHARSET_ASCII);
		press(&b, 'g', 0);
		type(&b, "12x");
		press(&b, K_ENTER, 0);
		shown = strstr(line(&b, -1), "no such place; try");
		assert_non_null(shown);
		shown += strlen("no such place; try");
		n = strlen(shown);
		while (n && shown[n - 1] == ' ')
			n--;
		assert_memory_equal(shown, hint, n);
		assert_true(hint[n] == ' ' || !hint[n]);
		/* no more are omitted than necessary: they start at 32, and the longest takes ten */
		assert_true(!hint[n] || 32 + (int)n + 10 > w - 1);
		stop(&b);
	}
}

static void the_mouse_acts(void **state)
{
	struct bench b;
	const char *at;

	(void)state;
	start(&b, 120, 30, true, CHARSET_ASCII);
	at = strstr(line(&b, -1), "? keys");
	assert_non_null(at);
	mouse(&b, MOUSE_PRESS, 1, (int)strcspn(line(&b, -1), "?"), 29);
	assert_shows(&b, "bright: the mean");
	press(&b, K_ESC, 0);
	assert_int_equal(mouse(&b, MOUSE_PRESS, 1, 1, 29).kind, REQUEST_MARK);
	assert_int_equal(mouse(&b, MOUSE_DRAG, 1, 1, 29).kind, REQUEST_NONE);
	assert_int_equal(mouse(&b, MOUSE_RELEASE, 1, 1, 29).kind, REQUEST_NONE);
	for (int i = 0; i < 3; i++)
		mouse(&b, MOUSE_PRESS, 4, 100, 10);
	assert_shows(&b, "-4 s");
	mouse(&b, MOUSE_PRESS, 5, 3, 10); /* over the names it scrolls */
	assert_hides(&b, " GPU      ");
	stop(&b);
	start(&b, 120, 30, false, CHARSET_ASCII);
	mouse(&b, MOUSE_PRESS, 1, 85, 26); /* on the strip */
	assert_hides(&b, "1:40.0 / ");
	stop(&b);
}

static void views_have_names(void **state)
{
	struct ui_options o = {.charset = CHARSET_ASCII, .view = "nonsense"};
	struct err e = {.code = ERR_NONE};
	const char *group, *keys, *what, *before = NULL;
	int groups = 0;
	size_t n = 0;

	(void)state;
	assert_null(ui_new(&o, &e));
	assert_int_equal(e.code, ERR_USAGE);
	assert_non_null(strstr(e.text, "nonsense"));
	for (; ui_view_name(n); n++) {
		struct ui *u;

		o.view = ui_view_name(n);
		u = ui_new(&o, &e);
		assert_non_null(u);
		ui_free(u);
	}
	assert_true(n >= 8);
	for (n = 0; ui_key(n, &group, &keys, &what); n++) {
		assert_true(*group && *keys && *what);
		groups += !before || strcmp(before, group);
		before = group;
	}
	assert_int_equal(groups, 7); /* each in one piece */
	assert_true(n > 20);
	assert_false(ui_key(n + 1000, &group, &keys, &what));
}

static bool no_extent(struct timeline *t, int64_t *first_ns, int64_t *last_ns)
{
	(void)t;
	*first_ns = *last_ns = 0;
	return false;
}

static const struct session *no_session(struct timeline *t)
{
	(void)t;
	return NULL;
}

static void nothing_there_is_no_crash(void **state)
{
	struct timeline_ops ops = fake_ops;
	static const uint32_t keys[] = {'+',    '-', ' ',     'g',   '1',    K_ENTER, K_LEFT, K_RIGHT,
					'[',    ']', ',',     '.',   K_HOME, K_END,   '<',    '>',
					K_DOWN, 'o', K_ENTER, K_ESC, '?',    K_DOWN};
	struct bench b;

	(void)state;
	for (int what = 0; what < 6; what++) {
		start(&b, 80, 24, what & 1, CHARSET_BRAILLE);
		ops.extent = no_extent;
		ops.session = what / 2 == 1 ? no_session : fake_session;
		b.fake.timeline.ops = &ops;
		if (what / 2 == 2)
			b.scene.timeline = NULL;
		ui_reset(b.ui, &b.scene);
		ui_seek(b.ui, &b.scene, 5);
		draw(&b);
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			press(&b, keys[i], 0);
		stop(&b);
	}
}

static void hostile_times_are_no_crash(void **state)
{
	static const int64_t times[][2] = {{INT64_MIN, INT64_MAX}, {0, INT64_MAX}, {INT64_MAX, INT64_MAX},
					   {INT64_MIN, INT64_MIN}, {0, 0},         {5, -5}};
	static const uint32_t keys[] = {'-', '-',   '+', K_LEFT, K_RIGHT, K_HOME, ' ',
					'>', K_END, '[', ']',    ',',     '.'};
	struct bench b;

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		for (int live = 0; live < 2; live++) {
			start(&b, 60, 16, live, CHARSET_BRAILLE);
			b.fake.constant = 1;
			b.fake.about.n_channels = 0; /* the fake itself would count for ever */
			b.fake.first_ns = times[i][0];
			b.fake.last_ns = times[i][1];
			ui_reset(b.ui, &b.scene);
			draw(&b);
			for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
				press(&b, keys[k], 0);
			stop(&b);
		}
}

static void every_size_can_be_drawn(void **state)
{
	struct bench b;

	(void)state;
	for (int what = 0; what < 4; what++) {
		start(&b, 80, 24, what & 1, what & 2 ? CHARSET_BRAILLE : CHARSET_ASCII);
		b.fake.about.n_channels = 20;
		fake_add(&b.fake, "cpu-throttle-alert", CHANNEL_THROTTLE, 0, TIER_SLOW, UNIT_NONE,
			 FAMILY_HEAT);
		fake_add(&b.fake, "oc1", CHANNEL_THROTTLE_COUNT, 0, TIER_SLOW, UNIT_NONE, FAMILY_HEAT);
		ui_reset(b.ui, &b.scene);
		for (int w = 0; w <= 230; w += w < 30 ? 1 : 23)
			for (int h = 0; h <= 70; h += h < 14 ? 1 : 11) {
				canvas_resize(&b.canvas, w, h);
				draw(&b);
			}
		stop(&b);
	}
}

static void any_event_at_any_size(void **state)
{
	static const uint32_t keys[] = {
		's',  'r', ' ', 'o', '+', '-',         K_LEFT,   K_RIGHT, K_HOME, K_END,     '[',   ']',
		'g',  ',', '.', '<', '>', K_UP,        K_DOWN,   K_PGUP,  K_PGDN, K_ENTER,   K_ESC, '?',
		K_F1, K_F2, 'z', 'H', 'K', 'J', '(', ')', '4', '1', '%', 'm', 'e', K_BACKSPACE, K_DELETE, 0x1F600, 0,      0xFFFFFFFF};
	struct ui_file files[2];
	uint64_t x = 1234567;
	struct bench b;

	(void)state;
	memset(files, 0, sizeof(files));
	files[0].readable = true;
	for (int run = 0; run < 6; run++) {
		start(&b, 80, 24, run & 1, (enum charset)(run % 3));
		b.fake.about.n_channels = 12 + (size_t)run;
		fake_add(&b.fake, "cpu-throttle-alert", CHANNEL_THROTTLE, 0, TIER_SLOW, UNIT_NONE,
			 FAMILY_HEAT);
		fake_add(&b.fake, "oc1", CHANNEL_THROTTLE_COUNT, 0, TIER_SLOW, UNIT_NONE, FAMILY_HEAT);
		ui_reset(b.ui, &b.scene);
		b.scene.files = files;
		b.scene.n_files = 2;
		for (int i = 0; i < 400; i++) {
			struct event ev = {0};
			struct request r;

			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			ev.kind = (enum event_kind)(x % 8 < 5    ? EVENT_KEY
						    : x % 8 == 5 ? EVENT_MOUSE
								 : x / 8 % 7);
			ev.key = keys[x / 64 % (sizeof(keys) / sizeof(keys[0]))];
			ev.mods = x / 4096 % 8 == 0 ? (unsigned)(x / 32768 % 8) : 0;
			ev.pasted = x / 8192 % 16 == 0;
			ev.action = (enum mouse_action)(x / 16384 % 3);
			ev.button = (int)(x / 65536 % 7);
			ev.x = (int)(x / 131072 % 300) - 20;
			ev.y = (int)(x / 262144 % 90) - 5;
			if (x % 97 == 0)
				canvas_resize(&b.canvas, (int)(x / 97 % 220), (int)(x / 1009 % 70));
			b.scene.now_ns += 50 * NS_PER_MS;
			if (b.scene.live)
				b.fake.last_ns = b.scene.now_ns;
			r = ui_event(b.ui, &b.scene, &ev);
			assert_in_range(r.kind, REQUEST_NONE, REQUEST_REPAINT);
			if (r.kind == REQUEST_MARK && b.fake.n_marks < 40)
				fake_mark(&b.fake, b.scene.now_ns);
			if (r.kind == REQUEST_LIVE || r.kind == REQUEST_OPEN) {
				b.scene.live = r.kind == REQUEST_LIVE;
				ui_reset(b.ui, &b.scene);
			}
			ui_draw(b.ui, &b.scene, &b.canvas);
			assert_in_range(ui_frame_ms(b.ui, &b.scene) + 1, 0, 1001);
		}
		stop(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_become_requests),
		cmocka_unit_test(a_closed_terminal_quits),
		cmocka_unit_test(a_trace_is_chosen_from_the_list),
		cmocka_unit_test(signals_are_as_designed),
		cmocka_unit_test(small_windows_keep_what_matters),
		cmocka_unit_test(what_is_missing_says_why),
		cmocka_unit_test(recording_and_messages_are_shown),
		cmocka_unit_test(pausing_freezes_everything),
		cmocka_unit_test(frames_come_as_often_as_something_changes),
		cmocka_unit_test(values_can_be_read),
		cmocka_unit_test(drawn_cells_do_not_shimmer),
		cmocka_unit_test(places_are_reached),
		cmocka_unit_test(examples_of_places),
		cmocka_unit_test(the_mouse_acts),
		cmocka_unit_test(views_have_names),
		cmocka_unit_test(nothing_there_is_no_crash),
		cmocka_unit_test(hostile_times_are_no_crash),
		cmocka_unit_test(every_size_can_be_drawn),
		cmocka_unit_test(any_event_at_any_size),
	};

	setenv("TZ", "UTC0", 1);
	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
