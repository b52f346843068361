/* Ranges on the screen: bars above the charts, what is told of one, and their names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>

#include "ui-bench.h"
#include "ui/screen.h"

static struct bench b;

static void show(int w, int h, bool live)
{
	start(&b, w, h, live, CHARSET_ASCII);
	fake_ranges(&b.fake);
	ui_reset(b.ui, &b.scene);
	draw(&b);
}

/* From the axis to the first chart. */
static void lane(char *out, size_t size)
{
	FILE *f = fmemopen(out, size, "w");

	for (int y = 0; y < b.ui->at.ranges.h; y++)
		fprintf(f, "%s\n", line(&b, b.ui->at.ranges.y + y));
	fclose(f);
}

static void at(int ms)
{
	ui_seek(b.ui, &b.scene, ms * NS_PER_MS);
	draw(&b);
}

static void as_deep_as_there_is_room(void **state)
{
	static const struct {
		int h, lines;
	} sizes[] = {{14, 0}, {24, 1}, {36, 2}, {40, 3}, {60, 3}}; /* there are three levels */

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int live = 0; live < 2; live++) {
			show(80, sizes[i].h, live);
			assert_int_equal(b.ui->at.ranges.h, sizes[i].lines);
			stop(&b);
		}
	start(&b, 80, 40, false, CHARSET_ASCII);
	assert_int_equal(b.ui->at.ranges.h, 0);
	assert_hides(&b, "d D");
	stop(&b);
}

static void bars_nest_in_time(void **state)
{
	char text[1024];

	(void)state;
	show(80, 40, false);
	lane(text, sizeof(text));
	assert_string_equal(text, " main                      |step 0----|step 1----|step 2---|step 3----|\n"
				  " default domain             |fo~|bac~  |fo~|bac~ |for~|bac~ |fo~|bac~ |\n"
				  " lane 1 of 3 (t)                              |      ::::::           |\n");
	stop(&b);
}

static void the_range_at_the_cursor_is_told_of(void **state)
{
	(void)state;
	show(80, 40, false);
	at(40000);
	press(&b, K_ENTER, 0);
	assert_shows(&b, "name     step 1");
	assert_shows(&b, "domain   default domain");
	assert_shows(&b, "thread   python3 4711  main 4711");
	assert_shows(&b, "begin    25.0 s");
	assert_shows(&b, "length   18 s");
	assert_shows(&b, "level    1");
	assert_shows(&b, "Power    mean ");
	assert_shows(&b, "GPU      mean ");
	assert_shows(&b, "payload  --");
	press(&b, 'd', 0);
	assert_shows(&b, "name     backward");
	assert_shows(&b, "level    2");
	assert_shows(&b, "payload  41");
	press(&b, K_ESC, 0);
	assert_hides(&b, "backward ");
	press(&b, 'D', 0);
	press(&b, 'D', 0);
	press(&b, K_ENTER, 0);
	assert_shows(&b, "name     step 1");
	stop(&b);
}

static void there_is_no_mean_of_two_readings(void **state)
{
	(void)state;
	show(80, 40, false);
	press(&b, 't', 0); /* nothing but the loader and NCCL */
	press(&b, 't', 0);
	assert_shows(&b, "python3 4721");
	at(20002);
	press(&b, K_ENTER, 0);
	assert_shows(&b, "name     reduce");
	assert_shows(&b, "length   4 ms");
	assert_shows(&b, "Power    --  shorter than three readings");
	assert_shows(&b, "GPU      mean "); /* which is read a thousand times a second */
	stop(&b);
}

static void brackets_stop_at_edges(void **state)
{
	/* The marks are at 40 and 85 s. */
	static const int steps[] = {5000, 23000, 25000, 40000, 43000}, inner[] = {42000, 40000, 34000, 33000, 26000};

	(void)state;
	show(80, 40, false);
	at(0);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		press(&b, ']', 0);
		assert_int_equal(b.ui->vp.head_ns, FAKE_START + steps[i] * NS_PER_MS);
	}
	press(&b, 'd', 0);
	for (size_t i = 0; i < sizeof(inner) / sizeof(inner[0]); i++) {
		press(&b, '[', 0);
		assert_int_equal(b.ui->vp.head_ns, FAKE_START + inner[i] * NS_PER_MS);
	}
	stop(&b);
}

static void find(const char *text)
{
	press(&b, '/', 0);
	type(&b, text);
	press(&b, K_ENTER, 0);
	for (int i = 0; i < 1000 && ui_advance(b.ui, &b.scene); i++)
		;
	draw(&b);
}

static void names_are_found(void **state)
{
	(void)state;
	show(80, 40, false);
	at(0);
	find("BACK");
	assert_int_equal(b.ui->vp.head_ns, FAKE_START + 14 * NS_PER_S);
	assert_int_equal(b.ui->ranges.level, 1);
	press(&b, 'n', 0);
	assert_int_equal(b.ui->vp.head_ns, FAKE_START + 34 * NS_PER_S);
	press(&b, 'N', 0);
	assert_int_equal(b.ui->vp.head_ns, FAKE_START + 14 * NS_PER_S);
	find("reduce");
	assert_int_equal(b.ui->vp.head_ns, FAKE_START + 20 * NS_PER_S);
	assert_shows(&b, "python3 4721");
	find("load");
	press(&b, 'N', 0); /* from 25 s back to 5 s */
	press(&b, 'N', 0); /* and round the end */
	for (int i = 0; i < 1000 && ui_advance(b.ui, &b.scene); i++)
		;
	draw(&b);
	assert_shows(&b, "wrapped to end");
	assert_int_equal(b.ui->vp.head_ns, FAKE_START + 65 * NS_PER_S);
	find("no such");
	assert_shows(&b, "no such: no match");
	find("gpu >> 5"); /* a condition, and wrong */
	assert_shows(&b, "search:");
	stop(&b);
}

static void the_busiest_lane_is_shown(void **state)
{
	(void)state;
	show(80, 40, false);
	assert_shows(&b, " main ");
	press(&b, 't', 0);
	assert_shows(&b, " loader ");
	press(&b, 't', 0);
	assert_shows(&b, "python3 4721");
	press(&b, 't', 0);
	assert_shows(&b, " main ");
	b.fake.n_lanes = 2;
	b.fake.ranges[1].end_ns = b.fake.last_ns; /* the loader is busier now */
	b.fake.n_ranges = 3;
	ui_reset(b.ui, &b.scene);
	draw(&b);
	assert_shows(&b, " loader ");
	press(&b, 't', 0);
	assert_shows(&b, " main ");
	stop(&b);
}

static void a_click_goes_there(void **state)
{
	(void)state;
	show(80, 40, false);
	mouse(&b, MOUSE_PRESS, 1, b.ui->at.chart.x + viewport_cell(&b.ui->vp, FAKE_START + 30 * NS_PER_S), b.ui->at.ranges.y + 1);
	assert_int_equal(b.ui->ranges.level, 1);
	press(&b, K_ENTER, 0);
	assert_shows(&b, "name     forward");
	stop(&b);
}

static void names_with_their_energy(void **state)
{
	(void)state;
	for (int live = 0; live < 2; live++) {
		show(100, 30, live);
		b.fake.constant = 5000; /* mW, everywhere */
		press(&b, 'R', 0);
		for (int i = 0; i < 1000 && ui_advance(b.ui, &b.scene); i++)
			;
		draw(&b);
		assert_shows(&b, "backward");
		assert_shows(&b, "         4      32 s       8 s     160.0     0.050       5.0");
		assert_shows(&b, "       200       4 s     20 ms      20.0     0.050       5.0"); /* aten::mm, whatever its numbers */
		assert_shows(&b, "DALI: load");
		assert_shows(&b, "         1      4 ms      4 ms        --        --        --");
		assert_shows(&b, "R Ranges");
		assert_int_equal(strncmp(line(&b, 2), " Ranges", 7), 0);
		assert_shows(&b, "Enter show the next");
		press(&b, K_ENTER, 0); /* to the next one of the first line */
		assert_true(b.ui->view == &view_overview);
		stop(&b);
	}
}

/* A small screen has no tabs: its title names the view. */
static void the_title_is_that_of_the_view(void **state)
{
	(void)state;
	show(60, 10, false);
	press(&b, '7', 0);
	assert_non_null(strstr(line(&b, 0), "Phases"));
	press(&b, 'R', 0);
	assert_non_null(strstr(line(&b, 0), "Ranges"));
	stop(&b);
}

static int turns(bool back)
{
	int n = 0;

	do
		press(&b, back ? K_BACKTAB : K_TAB, 0);
	while (++n < 20 && b.ui->view != &view_overview && b.ui->view != &view_ranges);
	return b.ui->view == &view_ranges ? n : 0;
}

/* Wherever a person looks for it: the tabs, Tab, the key bar, the help. */
static void the_view_is_found(void **state)
{
	static const int widths[] = {80, 120, 200};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (int live = 0; live < 2; live++) {
			show(widths[i], 24, live);
			assert_shows(&b, widths[i] == 80 ? "R Ran" : "R Ranges");
			assert_shows(&b, "R ranges");
			assert_int_equal(turns(false), 10);
			press(&b, K_TAB, 0);
			assert_int_equal(turns(true), 1);
			press(&b, K_F1, 0);
			for (int page = 0; page < 20 && !strstr(b.text, "NVTX ranges by name"); page++)
				press(&b, K_DOWN, 0);
			assert_shows(&b, "NVTX ranges by name");
			stop(&b);
		}
	/* without ranges it is not in the way, and R tells how there would be some */
	start(&b, 120, 24, false, CHARSET_ASCII);
	assert_hides(&b, "anges");
	assert_int_equal(turns(false), 0);
	press(&b, 'R', 0);
	assert_shows(&b, "R Ranges");
	assert_shows(&b, "nvmtop record --nvtx");
	assert_hides(&b, "show the next");
	stop(&b);
}

/* The same name within itself, and in two threads at once. */
static void energy_is_of_the_union(void **state)
{
	const struct range_lane *l;

	(void)state;
	start(&b, 100, 30, false, CHARSET_ASCII);
	b.fake.constant = 5000;
	l = fake_lane(&b.fake, 1, "a", "");
	fake_range(&b.fake, l, "f", 1, 12000, 14000);
	fake_range(&b.fake, l, "f", 1, 15000, 16000);
	fake_range(&b.fake, fake_lane(&b.fake, 2, "b", ""), "f", 0, 13000, 17000);
	fake_range(&b.fake, l, "f", 0, 10000, 20000);
	ui_reset(b.ui, &b.scene);
	press(&b, 'R', 0);
	for (int i = 0; i < 1000 && ui_advance(b.ui, &b.scene); i++)
		;
	draw(&b);
	assert_shows(&b, "         4      17 s    4.25 s      50.0     0.050       5.0");
	stop(&b);
}

static void what_grows_is_read_again(void **state)
{
	(void)state;
	show(80, 24, true);
	assert_shows(&b, "|step 3---");
	assert_hides(&b, "new");
	b.fake.last_ns += 5 * NS_PER_S;
	b.scene.now_ns = b.fake.last_ns;
	fake_range(&b.fake, &b.fake.lanes[0], "new", 0, 95000, 104500);
	draw(&b);
	assert_shows(&b, "|new");
	stop(&b);
}

static size_t visits;
static char names[8192][8];
static bool differ;

/* One each microsecond. */
static void flood(struct timeline *t, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit, void *arg)
{
	struct fake *f = (struct fake *)t;
	struct range r = {.lane = &f->lanes[0]};

	for (r.end_ns = from_ns; r.end_ns <= to_ns && r.end_ns >= f->first_ns && r.end_ns < f->last_ns; r.end_ns += 1000) {
		r.begin_ns = r.end_ns - 500;
		r.name = differ ? names[r.end_ns / 1000 % 8192] : "flood";
		visits++;
		if (!visit(arg, &r))
			return;
	}
}

static int to_read;

static bool read_on(struct timeline *t)
{
	(void)t;
	return to_read > 0 && --to_read > 0;
}

static void must_be_read(struct timeline *t, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit, void *arg)
{
	assert_int_equal(to_read, 0);
	fake_ops.ranges(t, from_ns, to_ns, least_ns, visit, arg);
}

/* Those of a long recording are read while the screen is shown and keys work; nothing asks for them before. */
static void a_trace_is_shown_before_its_ranges(void **state)
{
	struct timeline_ops ops = fake_ops;
	int pictures;

	(void)state;
	ops.ranges_more = read_on;
	ops.ranges = must_be_read;
	for (int how = 0; how < 3; how++) {
		show(100, 40, false);
		b.fake.timeline.ops = &ops;
		to_read = 20;
		ui_reset(b.ui, &b.scene);
		draw(&b);
		assert_int_equal(b.ui->at.ranges.h, 0);
		assert_int_equal(ui_frame_ms(b.ui, &b.scene), 0);
		press(&b, how == 0 ? '2' : how == 1 ? '/' : 'R', 0);
		type(&b, how == 0 ? "1" : how == 1 ? "step" : "R");
		press(&b, how == 1 ? K_ENTER : K_NONE, 0);
		assert_true(to_read > 0);
		for (pictures = 0; pictures < 40 && ui_advance(b.ui, &b.scene); pictures++)
			draw(&b);
		draw(&b);
		assert_in_range(pictures, 2, 30);
		assert_int_equal(to_read, 0);
		assert_shows(&b, "step");
		assert_int_not_equal(ui_frame_ms(b.ui, &b.scene), 0);
		stop(&b);
	}
}

/* However many there are, a picture takes as long; but the step in which they begin is that of before. */
static void floods_are_read_in_small_steps(void **state)
{
	struct timeline_ops ops = fake_ops;
	bool more = true;
	int longer;

	(void)state;
	ops.ranges = flood;
	for (size_t i = 0; i < 8192; i++)
		snprintf(names[i], sizeof(names[i]), "%zu", i);
	for (int i = 0; i < 4; i++) {
		bool by_name = i & 1;

		differ = i & 2;
		show(80, 40, false);
		b.fake.last_ns = b.fake.first_ns + 2 * NS_PER_S;
		b.fake.timeline.ops = &ops;
		ui_reset(b.ui, &b.scene);
		at(0);
		press(&b, by_name ? 'R' : '/', 0);
		type(&b, by_name ? "R" : "no such");
		press(&b, by_name ? K_NONE : K_ENTER, 0);
		longer = 0;
		for (int k = 0; k < 1000 && more; k++) {
			visits = 0;
			more = ui_advance(b.ui, &b.scene);
			longer += visits > 2 * RANGE_BUDGET;
		}
		assert_false(more);
		assert_in_range(longer, 0, 1);
		stop(&b);
		more = true;
	}
}

/* What was too short to be kept is seen all the same, whatever part of the time is in view. */
static void floods_are_seen(void **state)
{
	const struct range_lane *l;
	struct range *r;

	(void)state;
	start(&b, 80, 40, false, CHARSET_ASCII);
	l = fake_lane(&b.fake, 1, "a", "");
	fake_range(&b.fake, l, "step", 0, 10000, 30000);
	r = fake_range(&b.fake, l, "", 1, 12000, 22000);
	r->flags = RANGE_FOLDED;
	r->colour = 5000000;
	r->value = (uint64_t)(5 * NS_PER_S);
	ui_reset(b.ui, &b.scene);
	draw(&b);
	assert_int_equal(b.ui->at.ranges.h, 2);
	assert_shows(&b, "|step--");
	assert_shows(&b, ":::::");
	for (int i = 0; i < 8; i++)
		press(&b, '+', 0);
	at(15000);
	assert_shows(&b, " ranges, 50 %");
	press(&b, 'd', 0);
	press(&b, ']', 0); /* an edge of the folded part is none of a range */
	assert_int_not_equal(b.ui->vp.head_ns, FAKE_START + 22 * NS_PER_S);
	stop(&b);
}

/* A live screen does not keep the shortest ranges of a flood: how many these are is said. */
static void counts_without_the_shortest_say_so(void **state)
{
	const struct range_lane *l;
	struct range *r;

	(void)state;
	for (int folded = 0; folded < 2; folded++) {
		start(&b, 100, 30, true, CHARSET_ASCII);
		l = fake_lane(&b.fake, 1, "a", "");
		fake_range(&b.fake, l, "step", 0, 1000, 3000);
		if (folded) {
			r = fake_range(&b.fake, l, "", 1, 1200, 2200);
			r->flags = RANGE_FOLDED;
			r->colour = 5000000;
		}
		ui_reset(b.ui, &b.scene);
		views_show(b.ui, &view_ranges);
		for (int i = 0; i < 100; i++)
			ui_advance(b.ui, &b.scene);
		draw(&b);
		assert_shows(&b, "step");
		assert_int_equal(strstr(b.text, " 5000000 ranges of a flood, the shortest and the oldest, are not") != NULL, folded);
		stop(&b);
	}
}

static void no_colour_is_that_of_a_limit(void **state)
{
	(void)state;
	for (uint32_t c = 0; c < 5 * 5 * 5; c++) {
		uint32_t colour = 0xFF000000 | c / 25 * 63 << 16 | c / 5 % 5 * 63 << 8 | c % 5 * 63;
		enum hue hue = range_hue("x", colour);

		assert_true(hue != HUE_ALERT && hue != HUE_WARN);
	}
	assert_int_equal(range_hue("x", 0xFFFF0000), HUE_HEAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_deep_as_there_is_room),
		cmocka_unit_test(bars_nest_in_time),
		cmocka_unit_test(the_range_at_the_cursor_is_told_of),
		cmocka_unit_test(there_is_no_mean_of_two_readings),
		cmocka_unit_test(brackets_stop_at_edges),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(the_busiest_lane_is_shown),
		cmocka_unit_test(a_click_goes_there),
		cmocka_unit_test(names_with_their_energy),
		cmocka_unit_test(the_title_is_that_of_the_view),
		cmocka_unit_test(the_view_is_found),
		cmocka_unit_test(energy_is_of_the_union),
		cmocka_unit_test(what_grows_is_read_again),
		cmocka_unit_test(floods_are_read_in_small_steps),
		cmocka_unit_test(floods_are_seen),
		cmocka_unit_test(a_trace_is_shown_before_its_ranges),
		cmocka_unit_test(counts_without_the_shortest_say_so),
		cmocka_unit_test(no_colour_is_that_of_a_limit),
	};

	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
