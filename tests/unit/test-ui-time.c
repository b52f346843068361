/* Moving through time: cursor, selections, searches and loops, live and in replay. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ui-bench.h"
#include "ui/goto.h"
#include "ui/range-stats.h"
#include "ui/screen.h"

static size_t channel_of(const struct bench *b, enum channel_kind kind)
{
	for (size_t i = 0; i < b->fake.about.n_channels; i++)
		if (b->fake.channels[i].kind == kind)
			return i;
	fail_msg("no such channel");
	return 0;
}

/* The number after a name at the start of a line. */
static double number_after(const struct bench *b, const char *name)
{
	const char *p = b->text;
	size_t n = strlen(name);

	for (; p; p = strchr(p, '\n'), p += p != NULL) {
		const char *at = p + strspn(p, " >");

		if (!strncmp(at, name, n) && at[n] == ' ')
			return strtod(at + n, NULL);
	}
	fail_msg("no %s in\n%s", name, b->text);
	return 0;
}

static void finish(struct bench *b)
{
	int n = 0;

	while (ui_advance(b->ui, &b->scene)) {
		assert_in_range(ui_frame_ms(b->ui, &b->scene), 0, 50); /* it continues soon */
		assert_true(++n < 100000);
	}
	draw(b);
}

static void the_cursor_tells_its_moment(void **state)
{
	struct bench b;

	(void)state;
	for (int live = 0; live < 2; live++) {
		size_t gpu;

		start(&b, 120, 40, live, CHARSET_BRAILLE);
		gpu = channel_of(&b, CHANNEL_GPU_UTIL);
		for (int i = 0; i < 60; i++) {
			int64_t before = b.ui->vp.head_ns;
			int64_t first = viewport_first(&b.ui->vp);

			press(&b, i % 20 == 19 ? 'l' : 'h', 0);
			if (i && i % 20 != 19) {
				assert_true(b.ui->vp.head_ns == before - viewport_column_ns(&b.ui->vp));
				assert_true(viewport_first(&b.ui->vp) == first); /* the view does not move */
			}
			assert_true(fabs(number_after(&b, "GPU") -
					 fake_value(&b.fake, gpu, b.ui->vp.head_ns / NS_PER_MS * NS_PER_MS)) <
				    0.06);
			assert_false(b.ui->vp.follow);
		}
		if (live) {
			assert_shows(&b, "PAUSED");
			press(&b, K_END, 0);
			assert_hides(&b, "PAUSED");
			assert_true(b.ui->vp.follow);
		}
		stop(&b);
	}
}

static void a_click_sets_the_cursor_live_too(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 120, 40, true, CHARSET_BRAILLE);
	mouse(&b, MOUSE_PRESS, 1, 100, 10);
	assert_false(b.ui->vp.follow);
	assert_int_equal(viewport_cell(&b.ui->vp, b.ui->vp.head_ns), 100 - b.ui->at.chart.x);
	stop(&b);
}

static void drawing_hangs_on_the_state_alone(void **state)
{
	static const uint32_t keys[] = {K_RIGHT, '+', '+', K_LEFT, 'h',    'v', 'h',
					'[',     '-', ']', '7',    K_DOWN, '1', 'V'};
	struct bench b;

	(void)state;
	start(&b, 120, 40, false, CHARSET_BRAILLE);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		char *once;

		press(&b, keys[i], 0);
		finish(&b);
		once = strdup(b.text);
		draw(&b);
		assert_string_equal(once, b.text);
		free(once);
	}
	stop(&b);
}

static void everything_fits(void **state)
{
	struct bench b;

	(void)state;
	for (int live = 0; live < 2; live++) {
		start(&b, 80, 24, live, CHARSET_BRAILLE);
		for (int i = 0; i < 6; i++)
			press(&b, '+', 0);
		press(&b, '0', 0);
		assert_true(viewport_cell(&b.ui->vp, b.fake.first_ns) >= 0);
		assert_true(viewport_cell(&b.ui->vp, b.fake.last_ns) >= 0);
		assert_int_equal(b.ui->vp.follow, live);
		/* As it grows, too. */
		b.fake.last_ns += 900 * NS_PER_S;
		b.scene.now_ns += 900 * NS_PER_S;
		draw(&b);
		assert_true(viewport_cell(&b.ui->vp, b.fake.first_ns) >= 0);
		/* And in, to a sample per dot. */
		for (int i = 0; i < 40; i++)
			press(&b, '+', 0);
		assert_true((INT64_C(1) << b.ui->vp.zoom) <= NS_PER_MS);
		stop(&b);
	}
}

static void the_past_plays_live_as_well(void **state)
{
	struct bench b;
	int64_t from;

	(void)state;
	start(&b, 120, 40, true, CHARSET_BRAILLE);
	press(&b, ' ', 0);
	assert_shows(&b, "PAUSED");
	press(&b, K_LEFT, 0);
	press(&b, K_LEFT, 0);
	from = b.ui->vp.head_ns;
	press(&b, ' ', 0);
	assert_hides(&b, "PAUSED");
	assert_true(b.ui->vp.playing && !b.ui->vp.follow);
	b.scene.now_ns += 2 * NS_PER_S;
	b.fake.last_ns += 2 * NS_PER_S;
	draw(&b);
	assert_true(b.ui->vp.head_ns == from + 2 * NS_PER_S);
	press(&b, '>', 0);
	assert_shows(&b, "2x");
	for (int i = 0; i < 10; i++)
		press(&b, '>', 0);
	assert_shows(&b, "all");
	/* Faster than real time: it reaches now. */
	b.scene.now_ns += 5 * NS_PER_S;
	b.fake.last_ns += 5 * NS_PER_S;
	draw(&b);
	assert_true(b.ui->vp.follow && !b.ui->vp.playing);
	stop(&b);
}

static void speeds_are_what_they_say(void **state)
{
	static const struct {
		int steps;
		const char *text;
		int64_t passed_ns; /* in one second */
	} speeds[] = {{-3, "1/10x", NS_PER_S / 10},
		      {-2, "1/5x", NS_PER_S / 5},
		      {-1, "1/2x", NS_PER_S / 2},
		      {0, "1x", NS_PER_S},
		      {3, "8x", 8 * NS_PER_S},
		      {6, "64x", 64 * NS_PER_S},
		      {7, "all", 0}};
	struct extent e = {true, FAKE_START, FAKE_START + 1000 * NS_PER_S};

	(void)state;
	for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
		struct viewport v = {.per_cell = 1, .columns = 100};
		char text[SPEED_TEXT];

		viewport_reset(&v, false);
		viewport_jump(&v, &e, 0, e.first_ns);
		for (int k = 0; k < abs(speeds[i].steps); k++)
			viewport_speed(&v, &e, 0, speeds[i].steps < 0 ? -1 : 1);
		viewport_speed_text(text, v.speed);
		assert_string_equal(text, speeds[i].text);
		viewport_space(&v, &e, 0);
		viewport_settle(&v, &e, NS_PER_S);
		if (speeds[i].passed_ns)
			assert_true(llabs(v.head_ns - e.first_ns - speeds[i].passed_ns) < 1000);
		viewport_settle(&v, &e, 3 * NS_PER_S + NS_PER_MS);
		if (!speeds[i].passed_ns)
			assert_true(v.head_ns == e.last_ns && !v.playing);
	}
}

static void a_loop_comes_back(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 120, 40, false, CHARSET_BRAILLE);
	ui_seek(b.ui, &b.scene, 50 * NS_PER_S);
	press(&b, 'L', 0); /* between the marks at 40 s and 85 s */
	assert_true(b.ui->vp.playing && b.ui->vp.loop);
	assert_shows(&b, "looping from 40.0 s to 1:25.0");
	b.scene.now_ns += 30 * NS_PER_S;
	draw(&b);
	assert_true(b.ui->vp.head_ns == FAKE_START + 80 * NS_PER_S);
	b.scene.now_ns += 10 * NS_PER_S;
	draw(&b);
	assert_true(b.ui->vp.head_ns == FAKE_START + 45 * NS_PER_S);
	b.scene.now_ns += 45 * 7 * NS_PER_S;
	draw(&b);
	assert_true(b.ui->vp.head_ns == FAKE_START + 45 * NS_PER_S && b.ui->vp.playing);
	press(&b, 'L', 0);
	assert_false(b.ui->vp.loop);
	b.scene.now_ns += 50 * NS_PER_S;
	draw(&b);
	assert_true(b.ui->vp.head_ns == FAKE_START + 95 * NS_PER_S);
	stop(&b);
}

static void a_selection_has_its_own_statistics(void **state)
{
	struct bench b;
	int64_t from, to;

	(void)state;
	for (int live = 0; live < 2; live++) {
		start(&b, 120, 40, live, CHARSET_BRAILLE);
		b.fake.constant = 1; /* all are 5, also in mW, except one millisecond of the GPU */
		b.fake.spike_ns = FAKE_START + 70 * NS_PER_S;
		press(&b, ' ', 0);
		ui_seek(b.ui, &b.scene, 60 * NS_PER_S);
		press(&b, 'v', 0);
		assert_false(select_get(b.ui, &from, &to));
		assert_shows(&b, "selected");
		ui_seek(b.ui, &b.scene, 80 * NS_PER_S);
		press(&b, 'v', 0);
		assert_true(select_get(b.ui, &from, &to));
		assert_true(from == FAKE_START + 60 * NS_PER_S && to == FAKE_START + 80 * NS_PER_S);
		assert_shows(&b, "selected 20.000 s");
		assert_shows(&b, "0.1 J");    /* 5 mW for 20 s */
		assert_shows(&b, "5..100");   /* includes the spike */
		/* It stays while the cursor moves. */
		ui_seek(b.ui, &b.scene, 90 * NS_PER_S);
		draw(&b);
		assert_shows(&b, "selected 20.000 s");
		/* Statistics cover the selection, although the view shows more: no spike. */
		select_set(b.ui, FAKE_START + 60 * NS_PER_S, FAKE_START + 70 * NS_PER_S);
		draw(&b);
		assert_hides(&b, "5.0..100");
		press(&b, 'V', 0); /* from mark 2 to the end */
		assert_true(select_get(b.ui, &from, &to));
		assert_true(from == FAKE_START + 85 * NS_PER_S && to == b.fake.last_ns);
		press(&b, K_ESC, 0);
		assert_hides(&b, "selected");
		stop(&b);
	}
}

/* Wherever its other end is. */
static void a_selection_leaves_labels_whole(void **state)
{
	const char *at;
	struct bench b;
	int seen = 0;

	(void)state;
	start(&b, 80, 24, false, CHARSET_BRAILLE);
	ui_seek(b.ui, &b.scene, 60 * NS_PER_S);
	for (int i = 0; i < 6; i++)
		press(&b, '+', 0);
	press(&b, 'v', 0);
	for (int i = 0; i < 40; i++) {
		press(&b, 'h', 0);
		at = strstr(line(&b, b.ui->at.axis.y), "▼ 5");
		if (!at)
			continue;
		at += strlen("▼ 5");
		if (strncmp(at + strspn(at, "0123456789."), " s", 2) != 0)
			fail_msg("%s", b.text);
		seen++;
	}
	assert_true(seen > 5);
	stop(&b);
}

static void dragging_selects(void **state)
{
	int64_t from, to;
	struct bench b;

	(void)state;
	start(&b, 120, 40, false, CHARSET_BRAILLE);
	mouse(&b, MOUSE_PRESS, 1, 70, 10);
	assert_hides(&b, "selected");
	mouse(&b, MOUSE_DRAG, 1, 75, 11);
	mouse(&b, MOUSE_DRAG, 1, 90, 12);
	mouse(&b, MOUSE_RELEASE, 1, 90, 12);
	assert_true(select_get(b.ui, &from, &to));
	assert_int_equal(viewport_cell(&b.ui->vp, from), 70 - b.ui->at.chart.x);
	assert_int_equal(viewport_cell(&b.ui->vp, to - 1), 90 - b.ui->at.chart.x);
	assert_shows(&b, "selected");
	/* It is dim outside. */
	for (int x = b.ui->at.chart.x; x < 119; x++)
		if (b.canvas.cells[2 * 120 + x].style == STYLE_MEAN(HUE_GPU, SHADES - 1))
			assert_in_range(x, 70, 90);
	/* Backwards, too. */
	mouse(&b, MOUSE_PRESS, 1, 80, 10);
	mouse(&b, MOUSE_DRAG, 1, 60, 10);
	assert_true(select_get(b.ui, &from, &to));
	assert_int_equal(viewport_cell(&b.ui->vp, from), 60 - b.ui->at.chart.x);
	assert_int_equal(viewport_cell(&b.ui->vp, to - 1), 80 - b.ui->at.chart.x);
	stop(&b);
}

/* New samples arrived but were not drawn. */
static void what_is_not_drawn_is_not_selected(void **state)
{
	struct event ev = {.kind = EVENT_MOUSE, .action = MOUSE_PRESS, .button = 1, .x = 70, .y = 10};
	int64_t first, from, to;
	struct bench b;

	(void)state;
	start(&b, 120, 40, true, CHARSET_BRAILLE);
	first = b.fake.first_ns;
	b.fake.first_ns = b.fake.last_ns + 1;
	ui_reset(b.ui, &b.scene);
	b.fake.first_ns = first;
	ui_event(b.ui, &b.scene, &ev);
	ev.action = MOUSE_DRAG;
	ev.x = 80;
	ui_event(b.ui, &b.scene, &ev);
	assert_false(select_get(b.ui, &from, &to));
	draw(&b);
	assert_hides(&b, "selected");
	stop(&b);
}

/* The last cell before `before` with the line of a mark. */
static int marked(const struct bench *b, int before)
{
	while (--before >= 0 && !b->ui->frame.mark_at[before])
		;
	assert_true(before >= 0);
	return before;
}

static void lines_of_marks_are_clicked(void **state)
{
	struct mark marks[8];
	int64_t from, to;
	struct bench b;

	(void)state;
	for (int live = 0; live < 2; live++) {
		start(&b, 120, 40, live, CHARSET_BRAILLE);
		press(&b, '0', 0);
		int left = b.ui->at.chart.x, second = marked(&b, b.ui->at.chart.w), first = marked(&b, second);
		int y = b.ui->at.chart.y + 3;
		struct timeline *t = b.scene.timeline;
		size_t n = t->ops->marks(t, INT64_MIN, INT64_MAX, marks, 8);

		assert_true(b.ui->frame.mark_lines && n >= 2);
		mouse(&b, MOUSE_PRESS, 1, left + first, y);
		mouse(&b, MOUSE_RELEASE, 1, left + first, y);
		assert_true(b.ui->vp.head_ns == marks[n - 2].t_ns);
		assert_false(select_get(b.ui, &from, &to));
		/* the cell beside it is not a mark */
		mouse(&b, MOUSE_PRESS, 1, left + first + 1, y);
		mouse(&b, MOUSE_RELEASE, 1, left + first + 1, y);
		assert_true(b.ui->vp.head_ns > marks[n - 2].t_ns);
		/* from one to the other, in both directions */
		for (int back = 0; back < 2; back++) {
			mouse(&b, MOUSE_PRESS, 1, left + (back ? second : first), y);
			mouse(&b, MOUSE_DRAG, 1, left + (first + second) / 2, y);
			mouse(&b, MOUSE_DRAG, 1, left + (back ? first : second), y);
			mouse(&b, MOUSE_RELEASE, 1, left + (back ? first : second), y);
			assert_true(select_get(b.ui, &from, &to));
			assert_true(from == marks[n - 2].t_ns && to == marks[n - 1].t_ns);
			press(&b, K_ESC, 0);
		}
		stop(&b);
	}
}

static void search_for(struct bench *b, const char *text)
{
	press(b, '/', 0);
	type(b, text);
	press(b, K_ENTER, 0);
	finish(b);
}

static void conditions_are_found(void **state)
{
	struct bench b;

	(void)state;
	for (int live = 0; live < 2; live++) {
		start(&b, 120, 40, live, CHARSET_BRAILLE);
		b.fake.constant = 1;
		b.fake.spike_ns = FAKE_START + 70 * NS_PER_S;
		press(&b, ' ', 0);
		search_for(&b, "gpu > 95"); /* from the end: wraps to the start */
		assert_true(b.ui->vp.head_ns == b.fake.spike_ns);
		assert_shows(&b, "gpu > 95: from");
		ui_seek(b.ui, &b.scene, 90 * NS_PER_S);
		press(&b, 'N', 0);
		finish(&b);
		assert_true(b.ui->vp.head_ns == b.fake.spike_ns);
		assert_hides(&b, "gone on");
		ui_seek(b.ui, &b.scene, 10 * NS_PER_S);
		press(&b, 'n', 0);
		finish(&b);
		assert_true(b.ui->vp.head_ns == b.fake.spike_ns);
		press(&b, 'n', 0); /* there is only one: wraps again */
		finish(&b);
		assert_true(b.ui->vp.head_ns == b.fake.spike_ns);
		search_for(&b, "gpu > 99.5 for 1s");
		assert_shows(&b, "no match");
		assert_true(b.ui->vp.head_ns == b.fake.spike_ns);
		stop(&b);
	}
}

static void a_wrong_condition_is_mended(void **state)
{
	struct channel gpu;
	struct bench b;

	(void)state;
	start(&b, 120, 40, false, CHARSET_BRAILLE);
	press(&b, 'n', 0);
	assert_shows(&b, "press / to enter a search");
	press(&b, '/', 0);
	assert_shows(&b, "search:");
	type(&b, "gpo > 95");
	press(&b, K_ENTER, 0);
	assert_shows(&b, "search: gpo > 95");
	assert_shows(&b, "gpo");
	press(&b, K_ESC, 0);
	assert_hides(&b, "search:");
	/* Another trace: the condition uses its signals. The CPU never reaches 80. */
	search_for(&b, "gpu > 80");
	gpu = b.fake.channels[0];
	b.fake.channels[0] = b.fake.channels[1];
	b.fake.channels[1] = gpu;
	ui_reset(b.ui, &b.scene);
	draw(&b);
	press(&b, 'N', 0);
	finish(&b);
	assert_shows(&b, "gpu > 80: from");
	stop(&b);
}

/* During a long search, keys still work and Esc ends it. */
static void a_long_search_is_done_in_steps(void **state)
{
	struct bench b;
	int steps = 0;

	(void)state;
	start(&b, 120, 40, false, CHARSET_BRAILLE);
	b.fake.constant = 1;
	press(&b, K_HOME, 0);
	press(&b, '/', 0);
	type(&b, "gpu > 4 and cpu != 5"); /* every column might match, none does */
	press(&b, K_ENTER, 0);
	b.fake.asked = 0;
	while (ui_advance(b.ui, &b.scene) && steps < 5) {
		assert_true(b.fake.asked < 50000);
		b.fake.asked = 0;
		draw(&b);
		steps++;
	}
	if (steps) {
		assert_shows(&b, "searching for");
		press(&b, K_ESC, 0);
		assert_false(ui_advance(b.ui, &b.scene));
		assert_hides(&b, "searching for");
	}
	stop(&b);
}

static void assert_goes(struct bench *b, const char *text, int64_t after_start)
{
	int64_t t = 0;

	if (!goto_parse(text, &b->fake.timeline, &b->ui->extent, FAKE_START + 50 * NS_PER_S, &t))
		fail_msg("\"%s\" was not understood", text);
	if (t != FAKE_START + after_start)
		fail_msg("\"%s\" is at %lld ns", text, (long long)(t - FAKE_START));
}

static void assert_no_place(struct bench *b, const char *text)
{
	int64_t t;

	if (goto_parse(text, &b->fake.timeline, &b->ui->extent, FAKE_START, &t))
		fail_msg("\"%s\" was understood", text);
}

static void the_clock_is_a_place(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 80, 24, false, CHARSET_ASCII);
	/* 1795185000 is 2026-11-20 14:30:00 UTC */
	assert_goes(&b, "14:30:00", 0);
	assert_goes(&b, "14:30:40", 40 * NS_PER_S);
	assert_goes(&b, "14:31:05.25", 65 * NS_PER_S + NS_PER_S / 4);
	assert_goes(&b, "2026-11-20 14:30:07", 7 * NS_PER_S);
	assert_goes(&b, "2026-11-20T14:30:07", 7 * NS_PER_S);
	assert_goes(&b, "1:23", 83 * NS_PER_S);
	assert_goes(&b, "0:01:23", 83 * NS_PER_S); /* no such time of day in it: hours since the start */
	assert_goes(&b, "+10s", 60 * NS_PER_S);
	assert_goes(&b, "-10s", 40 * NS_PER_S);
	assert_goes(&b, "50%", 50 * NS_PER_S);
	assert_goes(&b, "m2", 85 * NS_PER_S);
	assert_no_place(&b, "14:29:00");
	assert_no_place(&b, "14:33:00");
	assert_no_place(&b, "2026-11-19 14:30:07");
	assert_no_place(&b, "2026-13-20 14:30:07");
	assert_no_place(&b, "25:00:00");
	assert_no_place(&b, "14:30:");
	assert_no_place(&b, "14:30:0x");
	assert_no_place(&b, "m3");
	/* Past midnight, on its actual day. */
	b.fake.about.start.real_ns += 34150 * NS_PER_S; /* 23:59:10 */
	assert_goes(&b, "00:00:20", 70 * NS_PER_S);
	assert_goes(&b, "2026-11-21 00:00:20", 70 * NS_PER_S);
	assert_no_place(&b, "2026-11-20 00:00:20");
	/* Without a clock in the trace they are hours. */
	b.fake.about.start.real_ns = 0;
	assert_goes(&b, "0:00:20", 20 * NS_PER_S);
	stop(&b);
}

static void the_same_keys_everywhere(void **state)
{
	static const uint32_t keys[] = {'s', 'S', 'r', 'w'};
	struct bench b;

	(void)state;
	start(&b, 120, 40, false, CHARSET_BRAILLE);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(press(&b, keys[i], 0).kind, REQUEST_NONE);
		assert_shows(&b, "A saved trace stays as it is");
		press(&b, '.', 0);
		assert_hides(&b, "A saved trace stays as it is");
	}
	stop(&b);
	/* Keys that work in one are bound in the other. */
	for (size_t i = 0; keys_entry(NULL, i); i++) {
		unsigned when = keys_entry(NULL, i)->when & WHEN_CHARTS;

		assert_true(!when || when == WHEN_CHARTS);
	}
}

static void quantiles_are_exact_where_they_say_so(void **state)
{
	struct span_scratch *scratch = span_scratch_new();
	static double sorted[20000];
	struct bench b;
	size_t i, n = 0;
	bool exact;
	double q;

	(void)state;
	start(&b, 80, 24, false, CHARSET_ASCII);
	i = channel_of(&b, CHANNEL_CPU_UTIL);
	/* 7.3 s, starting and ending between two samples. */
	for (int64_t t = FAKE_START + 3 * NS_PER_S + NS_PER_MS; t < FAKE_START + 10300 * NS_PER_MS + 1;
	     t += NS_PER_MS)
		sorted[n++] = fake_value(&b.fake, i, t);
	for (size_t k = 1; k < n; k++) /* insertion sort is fast enough for 7300 */
		for (size_t m = k; m && sorted[m - 1] > sorted[m]; m--) {
			double v = sorted[m];

			sorted[m] = sorted[m - 1];
			sorted[m - 1] = v;
		}
	q = span_quantile(&b.fake.timeline, scratch, i, FAKE_START + 3 * NS_PER_S + 500000,
			  FAKE_START + 10300 * NS_PER_MS + 500000, 0.95, &exact);
	assert_true(exact);
	assert_true(q == sorted[(size_t)ceil(0.95 * (double)n) - 1]);
	q = span_quantile(&b.fake.timeline, scratch, i, FAKE_START, FAKE_START + 90 * NS_PER_S, 0.95, &exact);
	assert_false(exact);
	assert_true(q > 12 && q < 60);
	q = span_quantile(&b.fake.timeline, scratch, i, FAKE_START + 5, FAKE_START + 5, 0.95, &exact);
	assert_true(isnan(q));
	free(scratch);
	stop(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cursor_tells_its_moment),
		cmocka_unit_test(a_click_sets_the_cursor_live_too),
		cmocka_unit_test(drawing_hangs_on_the_state_alone),
		cmocka_unit_test(everything_fits),
		cmocka_unit_test(the_past_plays_live_as_well),
		cmocka_unit_test(speeds_are_what_they_say),
		cmocka_unit_test(a_loop_comes_back),
		cmocka_unit_test(a_selection_has_its_own_statistics),
		cmocka_unit_test(a_selection_leaves_labels_whole),
		cmocka_unit_test(dragging_selects),
		cmocka_unit_test(what_is_not_drawn_is_not_selected),
		cmocka_unit_test(lines_of_marks_are_clicked),
		cmocka_unit_test(conditions_are_found),
		cmocka_unit_test(a_wrong_condition_is_mended),
		cmocka_unit_test(a_long_search_is_done_in_steps),
		cmocka_unit_test(the_clock_is_a_place),
		cmocka_unit_test(the_same_keys_everywhere),
		cmocka_unit_test(quantiles_are_exact_where_they_say_so),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
