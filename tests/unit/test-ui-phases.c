/* Phases: which exist, their statistics, and comparing two of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "ui-bench.h"
#include "ui/phases.h"

static struct fake other;

static void finish(struct bench *b)
{
	int n = 0;

	while (ui_advance(b->ui, &b->scene)) {
		assert_in_range(ui_frame_ms(b->ui, &b->scene), 0, 50); /* it continues soon */
		assert_true(++n < 100000);
	}
	draw(b);
}

static void name_mark(struct fake *f, size_t i, const char *label)
{
	snprintf(f->marks[i].label, sizeof(f->marks[i].label), "%s", label);
}

static void slow_power(struct fake *f)
{
	for (size_t i = 0; i < f->about.n_channels; i++)
		if (f->channels[i].kind == CHANNEL_POWER_TOTAL)
			f->channels[i].tier = TIER_SLOW;
}

/* The first line with that text. */
static const char *line_with(const struct bench *b, const char *text)
{
	for (int y = 0; y < b->canvas.h; y++)
		if (strstr(line(b, y), text))
			return line(b, y);
	fail_msg("\"%s\" is not in\n%s", text, b->text);
	return NULL;
}

/* A line that contains one text followed by the other. */
static void assert_line(const struct bench *b, const char *first, const char *then)
{
	for (int y = 0; y < b->canvas.h; y++) {
		const char *at = strstr(line(b, y), first);

		if (at && strstr(at + strlen(first), then))
			return;
	}
	fail_msg("no line with \"%s\" and then \"%s\" in\n%s", first, then, b->text);
}

static void phases_are_told(void **state)
{
	struct bench b;

	(void)state;
	for (int live = 0; live < 2; live++) {
		start(&b, 120, 40, live, CHARSET_ASCII);
		b.fake.constant = 1;
		b.fake.spike_ns = FAKE_START + 70 * NS_PER_S;
		slow_power(&b.fake);
		name_mark(&b.fake, 0, "infer");
		press(&b, '7', 0);
		finish(&b);
		/* 40 s, 45 s, 15 s of 5 mW */
		assert_line(&b, "  start ", " 40.0 s      0.2 ");
		assert_line(&b, "1 infer ", " 45.0 s      0.2 ");
		assert_shows(&b, " 15.0 s      0.1 ");
		/* The names are in the band, in time order. */
		assert_line(&b, " Phases ", "|1 infer---");
		press(&b, K_DOWN, 0);
		finish(&b);
		assert_shows(&b, "- 1 infer ---");
		assert_line(&b, " GPU         %", "  ~5.0  100.0"); /* 45000 samples */
		assert_shows(&b, " Hottest     C       5.0    5.0    5.0"); /* 450: all of them */
		press(&b, 'x', 0);
		press(&b, K_DOWN, 0);
		press(&b, 'x', 0);
		finish(&b);
		assert_shows(&b, "A 1 infer  |  B 2");
		assert_line(&b, " Length ", "-30.0   -67 %"); /* 15 s against 45 s */
		press(&b, K_UP, 0);
		press(&b, K_ENTER, 0); /* to its charts */
		assert_int_equal(b.ui->view == &view_overview, 1);
		assert_shows(&b, "selected 45.000 s");
		assert_true(viewport_cell(&b.ui->vp, FAKE_START + 40 * NS_PER_S) >= 0);
		assert_true(viewport_cell(&b.ui->vp, FAKE_START + 85 * NS_PER_S - 1) >= 0);
		press(&b, '7', 0);
		assert_shows(&b, "A 1 infer"); /* still chosen */
		press(&b, K_ESC, 0);
		press(&b, K_ESC, 0);
		assert_hides(&b, "A 1 infer");
		stop(&b);
	}
}

/* Another trace may be allocated at the same address. */
static void they_are_of_the_trace_that_is_shown(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 120, 40, false, CHARSET_ASCII);
	b.fake.constant = 1;
	press(&b, '7', 0);
	press(&b, K_DOWN, 0);
	press(&b, 'x', 0);
	finish(&b);
	assert_shows(&b, "- A 1 ---");
	assert_shows(&b, "5.0    5.0    5.0");
	press(&b, '1', 0);
	b.fake.constant = 0;
	ui_reset(b.ui, &b.scene);
	draw(&b);
	press(&b, '7', 0);
	finish(&b);
	assert_hides(&b, "- A 1 ---");
	assert_hides(&b, "5.0    5.0    5.0");
	stop(&b);
}

/* The list and the table of all signals show the same time in every frame. */
static void a_phase_grows_while_it_lasts(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 120, 40, true, CHARSET_ASCII);
	press(&b, '7', 0);
	press(&b, K_DOWN, 0);
	press(&b, K_DOWN, 0);
	finish(&b);
	assert_line(&b, ">    2 ", " 15.0 s ");
	for (int i = 0; i < 40; i++) {
		char mean[32];
		double w;

		b.fake.last_ns += 130 * NS_PER_MS;
		b.scene.now_ns += 130 * NS_PER_MS;
		draw(&b);
		assert_int_equal(sscanf(strstr(line_with(&b, " Power       W"), "W") + 1, "%lf", &w), 1);
		snprintf(mean, sizeof(mean), "  %.1f ", w);
		assert_line(&b, ">    2 ", mean);
	}
	b.fake.last_ns = FAKE_START + 120 * NS_PER_S;
	b.scene.now_ns = b.fake.last_ns;
	draw(&b);
	assert_line(&b, ">    2 ", " 35.0 s ");
	fake_mark(&b.fake, FAKE_START + 110 * NS_PER_S);
	draw(&b);
	assert_line(&b, ">    2 ", " 25.0 s ");
	stop(&b);
}

/* Live, a recording's phases are those in its file. */
static void phases_of_a_recording_end_with_it(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 120, 40, true, CHARSET_ASCII);
	press(&b, '7', 0);
	assert_line(&b, "  start ", " 40.0 s ");
	b.scene.recording = true;
	b.scene.record_since_ns = FAKE_START + 30 * NS_PER_S;
	draw(&b);
	assert_line(&b, "  not recorded ", " 30.0 s ");
	assert_line(&b, "  start ", " 10.0 s ");
	b.scene.recording = false;
	b.scene.record_until_ns = FAKE_START + 90 * NS_PER_S;
	draw(&b);
	finish(&b);
	assert_line(&b, "  start ", " 10.0 s ");
	assert_line(&b, " 2 ", "  5.0 s ");
	b.fake.last_ns += 20 * NS_PER_S;
	b.scene.now_ns += 20 * NS_PER_S;
	draw(&b);
	assert_line(&b, " 2 ", "  5.0 s ");
	assert_line(&b, "  not recorded ", " 30.0 s ");
	stop(&b);
}

static double steps(const struct fake *f, size_t i, int64_t t_ns)
{
	bool late = t_ns >= FAKE_START + 85 * NS_PER_S;

	switch (f->channels[i].kind) {
	case CHANNEL_GPU_UTIL:
		return late ? 60 : 40; /* +50 % */
	case CHANNEL_CPU_UTIL:
		return late ? 10 : 40; /* -75 % */
	case CHANNEL_EMC_UTIL:
		return late ? NAN : 40;
	case CHANNEL_POWER_TOTAL:
		return late ? 44000 : 40000; /* +10 % */
	default:
		return 5;
	}
}

/* The last one, because the gutter has names too. */
static int line_number(const struct bench *b, const char *name)
{
	for (int y = b->canvas.h - 1; y >= 0; y--)
		if (!strncmp(line(b, y), name, strlen(name)))
			return y;
	return -1;
}

static void the_largest_difference_comes_first(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 120, 50, false, CHARSET_ASCII);
	b.fake.value = steps;
	press(&b, '7', 0);
	press(&b, K_DOWN, 0);
	press(&b, 'x', 0);
	press(&b, K_DOWN, 0);
	press(&b, 'x', 0);
	finish(&b);
	assert_line(&b, " CPU  ", "-30.0   -75 %");
	assert_line(&b, " GPU  ", "+20.0   +50 %");
	assert_line(&b, " Power  ", "+4.0   +10 %");
	assert_true(line_number(&b, " CPU  ") < line_number(&b, " GPU  "));
	assert_true(line_number(&b, " GPU  ") < line_number(&b, " Power  "));
	assert_true(line_number(&b, " Power  ") < line_number(&b, " RAM  "));
	/* Without a value in one phase it is last, here below the screen. */
	assert_int_equal(line_number(&b, " EMC  "), -1);
	for (int i = 0; i < 8; i++)
		press(&b, K_PGDN, 0);
	assert_true(line_number(&b, " EMC  ") > line_number(&b, " Fan  "));
	stop(&b);
}

static void the_other_trace_has_phases_too(void **state)
{
	struct ui_align where = {.shift_ns = 0, .text = "aligned somehow"};
	struct bench b;

	(void)state;
	fake_init(&other, 100 * NS_PER_S);
	fake_mark(&other, FAKE_START + 50 * NS_PER_S);
	fake_mark(&other, FAKE_START + 70 * NS_PER_S);
	name_mark(&other, 0, "infer");
	name_mark(&other, 1, "cool");
	start(&b, 120, 40, false, CHARSET_ASCII);
	name_mark(&b.fake, 0, "infer");
	name_mark(&b.fake, 1, "idle");
	b.scene.with = &other.timeline;
	b.scene.with_name = "y.nvmt";
	b.scene.align = &where;
	ui_reset(b.ui, &b.scene);
	press(&b, '7', 0);
	press(&b, K_DOWN, 0);
	finish(&b);
	assert_line(&b, " A ", "|1 infer---");
	assert_line(&b, " B ", "|2 cool---");
	assert_shows(&b, "A 1 infer  |  B 1 infer");
	assert_line(&b, " Length ", "-25.0   -56 %"); /* 20 s against 45 s */
	assert_line(&b, " 2 cool ", "not in A");
	assert_line(&b, " B ", "not in B");
	/* The chosen ones are named by their traces too. */
	press(&b, 'x', 0);
	finish(&b);
	assert_shows(&b, "A 1 infer  |  B 1 infer");
	/* One without a label does not take the place of a labelled one of its number. */
	*other.marks[0].label = '\0';
	name_mark(&other, 1, "infer");
	ui_reset(b.ui, &b.scene);
	finish(&b);
	assert_line(&b, "   1 infer ", " 45.0 s ");
	assert_line(&b, " 1:10.0 ", " 30.0 s ");
	assert_line(&b, " 1   ", "not in A");
	stop(&b);
}

/* A third of the time was not measured: energy is not extrapolated. */
static void what_was_not_measured_is_said(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 120, 40, false, CHARSET_ASCII);
	b.fake.n_marks = 0;
	b.fake.constant = 1;
	b.fake.gaps[0] = (struct gap) {TIER_MEDIUM, GAP_LOST, FAKE_START + 20 * NS_PER_S,
				       FAKE_START + 50 * NS_PER_S, 3000};
	b.fake.n_gaps = 1;
	press(&b, '7', 0);
	finish(&b);
	/* The fake counts one of ten samples in long columns: only the ratio is exact. */
	assert_line(&b, "  start ", "!");
	assert_shows(&b, " not measured ");
	stop(&b);
	/* Without power there is no energy to show. */
	start(&b, 120, 40, false, CHARSET_ASCII);
	for (size_t i = 0; i < b.fake.about.n_channels; i++)
		if (b.fake.channels[i].kind == CHANNEL_POWER_TOTAL)
			b.fake.channels[i].kind = CHANNEL_OTHER;
	press(&b, '7', 0);
	finish(&b);
	assert_line(&b, "  start ", " 40.0 s  ");
	assert_hides(&b, "  J  ");
	assert_hides(&b, "not measured");
	stop(&b);
}

/* What does not fit is omitted whole, never part of a number. */
static void phases_in_narrow_windows(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 120, 40, false, CHARSET_ASCII);
	b.fake.constant = 1;
	slow_power(&b.fake);
	press(&b, '7', 0);
	finish(&b);
	for (int w = 20; w < 100; w++) {
		const char *titles, *row;

		canvas_resize(&b.canvas, w, 24);
		draw(&b);
		titles = strstr(b.text, "length");
		assert_non_null(titles);
		assert_int_equal(titles[6] == '\n' || strncmp(titles + 6, "        J", 9) == 0, 1);
		row = strstr(b.text, " 40.0 s");
		assert_non_null(row);
		if (row[7] != '\n' && strncmp(row + 7, "      0.2", 9) != 0)
			fail_msg("%s", b.text);
		assert_int_equal(row[7] == '\n', titles[6] == '\n');
	}
	stop(&b);
}

static void phases_at_every_size(void **state)
{
	struct bench b;

	(void)state;
	for (int with = 0; with < 2; with++) {
		start(&b, 120, 40, true, CHARSET_BRAILLE);
		fake_init(&other, 50 * NS_PER_S);
		b.scene.with = with ? &other.timeline : NULL;
		press(&b, '7', 0);
		for (int i = 0; i < 3; i++) {
			press(&b, 'x', 0);
			press(&b, K_DOWN, 0);
		}
		for (int w = 1; w < 210; w += 3)
			for (int h = 1; h < 60; h += h < 20 ? 1 : 7) {
				canvas_resize(&b.canvas, w, h);
				draw(&b);
				mouse(&b, MOUSE_PRESS, 1, w / 3, h / 2);
				press(&b, K_PGDN, 0);
			}
		stop(&b);
	}
}

/* Length, energy, power and load of the selection, complete at any width. */
static void a_selection_is_told_at_all_widths(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 120, 40, false, CHARSET_ASCII);
	b.fake.value = steps;
	press(&b, 'V', 0);
	for (int w = 60; w < 220; w += 7) {
		canvas_resize(&b.canvas, w, 24);
		draw(&b);
		assert_line(&b, "selected 15.0", " J   mean 44.0 W   GPU 60.0 %");
	}
	stop(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases_are_told),
		cmocka_unit_test(they_are_of_the_trace_that_is_shown),
		cmocka_unit_test(a_phase_grows_while_it_lasts),
		cmocka_unit_test(phases_of_a_recording_end_with_it),
		cmocka_unit_test(the_largest_difference_comes_first),
		cmocka_unit_test(the_other_trace_has_phases_too),
		cmocka_unit_test(what_was_not_measured_is_said),
		cmocka_unit_test(phases_in_narrow_windows),
		cmocka_unit_test(phases_at_every_size),
		cmocka_unit_test(a_selection_is_told_at_all_widths),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
