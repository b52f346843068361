/* Events and values near limits: throttling on the time axis, alarms, and the position of each kind of
 * row. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>

#define BENCH_VIEW "signals"
#include "ui-bench.h"

static void add_throttles(struct fake *f)
{
	fake_add(f, "cpu-throttle-alert", CHANNEL_THROTTLE, 0, TIER_SLOW, UNIT_NONE, FAMILY_HEAT);
	fake_add(f, "devfreq-17000000.gpu", CHANNEL_THROTTLE, 1, TIER_SLOW, UNIT_NONE, FAMILY_HEAT);
	fake_add(f, "over-current 1", CHANNEL_THROTTLE_COUNT, 0, TIER_SLOW, UNIT_NONE, FAMILY_HEAT);
}

static void again(struct bench *b)
{
	ui_reset(b->ui, &b->scene);
	draw(b);
}

static struct channel *find(struct bench *b, enum channel_kind kind, unsigned index)
{
	for (size_t i = 0; i < b->fake.about.n_channels; i++)
		if (b->fake.channels[i].kind == kind && b->fake.channels[i].index == index)
			return &b->fake.channels[i];
	fail_msg("no channel of kind %d", (int)kind);
	return NULL;
}

/* The line that begins with this text; -1: none. */
static int line_of(const struct bench *b, const char *start)
{
	for (int y = 0; y < b->canvas.h; y++)
		if (!strncmp(line(b, y), start, strlen(start)))
			return y;
	return -1;
}

/* The style of the last character of a text in line y. */
static int style_of(const struct bench *b, int y, const char *text)
{
	const char *at = strstr(line(b, y), text);

	if (!at)
		fail_msg("\"%s\" is not in line %d of\n%s", text, y, b->text);
	/* The text before the charts is ASCII. */
	return b->canvas.cells[y * b->canvas.w + (int)(at - line(b, y)) + (int)strlen(text) - 1].style;
}

static int count_in(const struct bench *b, int y, wchar_t ch)
{
	int n = 0;

	for (int x = 0; x < b->canvas.w; x++)
		n += b->canvas.cells[y * b->canvas.w + x].ch[0] == ch;
	return n;
}

/* Seconds after the start to a column of the charts (the view holds everything). */
static int column_at(struct bench *b, int seconds)
{
	char text[16];
	int y;

	press(b, 'g', 0);
	snprintf(text, sizeof(text), "%d", seconds);
	type(b, text);
	press(b, K_ENTER, 0);
	/* The strip's playhead has another scale; its line is above the charts. */
	for (y = 0; y < b->canvas.h; y++)
		for (int x = 0; x < b->canvas.w; x++)
			if (b->canvas.cells[y * b->canvas.w + x].ch[0] == L'▼')
				return x;
	fail_msg("no playhead in\n%s", b->text);
	return -1;
}

/* The columns from first to last in which line y has ch. */
static void span_of(const struct bench *b, int y, wchar_t ch, int *first, int *last)
{
	*first = *last = -1;
	for (int x = 0; x < b->canvas.w; x++) {
		if (b->canvas.cells[y * b->canvas.w + x].ch[0] != ch)
			continue;
		*first = *first < 0 ? x : *first;
		*last = x;
	}
}

static void throttling_is_a_line_over_its_time(void **state)
{
	struct bench b;
	int y, from, to, rise, first, last;

	(void)state;
	start(&b, 120, 30, false, CHARSET_BLOCKS);
	add_throttles(&b.fake);
	again(&b);
	from = column_at(&b, 30);
	to = column_at(&b, 50);
	rise = column_at(&b, 70);
	column_at(&b, 5);
	y = line_of(&b, " events");
	assert_true(y > 0);
	span_of(&b, y, L'━', &first, &last);
	assert_in_range(first, from - 1, from + 1);
	assert_in_range(last, to - 1, to + 1);
	assert_int_equal(b.canvas.cells[y * 120 + first].style, STYLE_ALERT);
	assert_int_equal(b.canvas.cells[y * 120 + rise].ch[0], L'◆'); /* only where it rose */
	assert_int_equal(b.canvas.cells[y * 120 + rise].style, STYLE_ALERT);
	assert_int_equal(count_in(&b, y, L'◆'), 1);
	assert_shows(&b, "◆ over-current 1");
	/* The text beside it has the duration, also where a part of it is in view. */
	assert_shows(&b, "throttled 10.0 s");
	assert_true(count_in(&b, 27, L'T') > 5); /* also on the strip */
	stop(&b);
}

static void words_of_events_have_room_or_leave(void **state)
{
	struct bench b;

	(void)state;
	for (int w = 40; w < 200; w += 7) {
		start(&b, w, 24, false, CHARSET_ASCII);
		add_throttles(&b.fake);
		fake_add(&b.fake, "thermal-cpufreq-2", CHANNEL_THROTTLE, 0, TIER_SLOW, UNIT_NONE, FAMILY_HEAT);
		fake_add(&b.fake, "", CHANNEL_THROTTLE, 0, TIER_SLOW, UNIT_NONE, FAMILY_HEAT);
		fake_add(&b.fake, "-alert", CHANNEL_THROTTLE, 9, TIER_SLOW, UNIT_NONE, FAMILY_HEAT);
		again(&b);
		assert_true(line_of(&b, w < 50 ? "events" : " events") > 0 || line_of(&b, " events") > 0);
		assert_hides(&b, "throttledt"); /* one word over another */
		stop(&b);
	}
}

static void the_line_is_there_before_it_is_needed(void **state)
{
	struct bench b;
	int y;

	(void)state;
	/* Nothing can throttle: the charts use its line. */
	start(&b, 80, 24, true, CHARSET_BLOCKS);
	assert_int_equal(line_of(&b, " events"), -1);
	/* It can, but has not yet. */
	b.fake.last_ns = FAKE_START + 20 * NS_PER_S;
	b.scene.now_ns = b.fake.last_ns;
	add_throttles(&b.fake);
	again(&b);
	y = line_of(&b, " events");
	assert_true(y > 0);
	assert_int_equal(count_in(&b, y, L'━'), 0);
	b.fake.last_ns = FAKE_START + 35 * NS_PER_S;
	b.scene.now_ns = b.fake.last_ns;
	draw(&b);
	assert_int_equal(line_of(&b, " events"), y);
	assert_true(count_in(&b, y, L'━') > 0);
	assert_shows(&b, "CPU throttled 5.");
	/* Unknown without a value. */
	for (size_t i = 0; i < b.fake.about.n_channels; i++)
		if (b.fake.channels[i].family == FAMILY_HEAT && b.fake.channels[i].unit == UNIT_NONE)
			snprintf(b.fake.channels[i].missing, 8, "gone");
	again(&b);
	assert_int_equal(line_of(&b, " events"), -1);
	stop(&b);
}

static void holes_are_events(void **state)
{
	struct bench b;
	int at, y;

	(void)state;
	start(&b, 100, 24, false, CHARSET_BLOCKS);
	assert_int_equal(line_of(&b, " events"), -1);
	b.fake.gaps[0] = (struct gap) {TIER_FAST, GAP_LOST, FAKE_START + 20 * NS_PER_S,
				       FAKE_START + 21 * NS_PER_S, 1000};
	b.fake.gaps[1] = (struct gap) {TIER_FAST, GAP_LATE, FAKE_START + 60 * NS_PER_S,
				       FAKE_START + 60 * NS_PER_S + 2 * NS_PER_MS, 1};
	b.fake.n_gaps = 2;
	again(&b);
	y = line_of(&b, " events");
	assert_true(y > 0);
	at = column_at(&b, 20);
	column_at(&b, 5);
	assert_int_equal(b.canvas.cells[y * 100 + at].ch[0], L'━');
	assert_shows(&b, "lost 1.000 s");
	assert_hides(&b, "not sampled"); /* one late tick is not shown at low zoom */
	column_at(&b, 60);
	for (int i = 0; i < 12; i++)
		press(&b, '+', 0);
	assert_shows(&b, "not sampled 0.002 s"); /* but at high zoom */
	stop(&b);
}

static void changes_are_events(void **state)
{
	struct bench b;
	const char *zone;
	int at, y;

	(void)state;
	start(&b, 100, 40, true, CHARSET_BRAILLE);
	b.scene.now_ns += NS_PER_S;
	b.fake.last_ns += NS_PER_S;
	zone = find(&b, CHANNEL_TEMPERATURE, 2)->name;
	assert_shows(&b, "MODE_30W");
	assert_int_equal(line_of(&b, " events"), -1);
	/* Live, one after the other. */
	fake_change(&b.fake, b.fake.last_ns - 3 * NS_PER_S, "mode", "MODE_30W", "MODE_50W");
	fake_change(&b.fake, b.fake.last_ns - 3 * NS_PER_S, zone, "52.0 C", "");
	b.scene.now_ns += NS_PER_S;
	draw(&b);
	assert_non_null(strstr(line(&b, 0), "MODE_50W"));
	b.scene.now_ns += NS_PER_S;
	draw(&b);
	y = line_of(&b, " events");
	assert_true(y > 0);
	assert_shows(&b, "mode: MODE_30W -> MODE_50W");
	press(&b, '9', 0);
	assert_shows(&b, "Power mode");
	assert_true(strstr(strstr(b.text, "Power mode"), "MODE_50W") != NULL);
	assert_shows(&b, "stopped answering at ");
	fake_change(&b.fake, b.fake.last_ns, zone, "", "52.0 C");
	b.scene.now_ns += NS_PER_S;
	draw(&b);
	assert_hides(&b, "stopped answering");
	stop(&b);
	/* At the playhead. */
	start(&b, 100, 24, false, CHARSET_BRAILLE);
	fake_change(&b.fake, FAKE_START + 55 * NS_PER_S, "mode", "MODE_30W", "MODE_50W");
	again(&b);
	at = column_at(&b, 55);
	assert_non_null(strstr(line(&b, 0), "MODE_50W"));
	assert_shows(&b, "mode: MODE_30W -> MODE_50W");
	column_at(&b, 53);
	assert_non_null(strstr(line(&b, 0), "MODE_30W"));
	assert_null(strstr(line(&b, 0), "MODE_50W"));
	assert_int_equal(b.canvas.cells[line_of(&b, " events") * 100 + at].ch[0], L'◆');
	column_at(&b, 70);
	assert_non_null(strstr(line(&b, 0), "MODE_50W"));
	stop(&b);
}

static void values_near_limits_stand_out(void **state)
{
	struct bench b;
	struct channel *zone, *current;
	int amber = 0, red = 0;

	(void)state;
	start(&b, 120, 60, false, CHARSET_BRAILLE);
	zone = find(&b, CHANNEL_TEMPERATURE, 1);
	zone->warn = 300;
	current = find(&b, CHANNEL_RAIL_CURRENT, 0);
	current->warn = 10;
	current->crit = 20;
	again(&b);
	assert_non_null(strstr(line(&b, line_of(&b, "   GPU_SOC")), "W !"));
	assert_int_equal(style_of(&b, line_of(&b, "   GPU_SOC"), "W !"), STYLE_ALERT);
	assert_null(strstr(line(&b, line_of(&b, "   CPU_CV")), "W !"));
	/* A value far from its limit looks normal. */
	assert_int_equal(b.canvas.cells[line_of(&b, " Hottest") * 120 + 24].style, STYLE_STRONG);
	/* Near is not exceeded. */
	for (double limit = 20; limit < 100; limit++) {
		int style;
		bool passed;

		zone->warn = limit;
		again(&b);
		style = b.canvas.cells[line_of(&b, " Hottest") * 120 + 24].style;
		passed = strstr(line(&b, line_of(&b, " Hottest")), "C !") != NULL;
		assert_true(passed == (style == STYLE_ALERT));
		amber += style == STYLE_WARN;
		red += style == STYLE_ALERT;
	}
	assert_in_range(amber, 7, 9); /* degrees */
	assert_true(red > 10);
	/* A limit of 0 means none. */
	zone->warn = zone->crit = 0;
	again(&b);
	assert_null(strstr(line(&b, line_of(&b, " Hottest")), "C !"));
	stop(&b);
}

static double throttled_at_the_end(const struct fake *f, size_t channel, int64_t t_ns)
{
	bool late = t_ns > f->last_ns - 10 * NS_PER_S;

	switch (f->channels[channel].kind) {
	case CHANNEL_GPU_FREQ:
		return late ? 1.122e9 : 1.3e9;
	case CHANNEL_FREQ_LIMIT:
		return strstr(f->channels[channel].name, "min") ? 3.06e8 : late ? 1.122e9 : 1.3e9;
	case CHANNEL_THROTTLE:
		return late;
	default:
		return 50;
	}
}

static void a_held_clock_stands_out(void **state)
{
	struct bench b;
	struct channel *ch;
	int y;

	(void)state;
	start(&b, 120, 40, false, CHARSET_BLOCKS);
	for (ch = b.fake.channels; ch->kind != CHANNEL_GPU_FREQ; ch++)
		;
	snprintf(ch->name, sizeof(ch->name), "gpu.freq");
	ch->lo = 0;
	ch->hi = 1.3e9;
	ch = fake_add(&b.fake, "lowest clock", CHANNEL_FREQ_LIMIT, 0, TIER_SLOW, UNIT_HZ, FAMILY_GPU);
	snprintf(ch->name, sizeof(ch->name), "gpu.freq_min");
	ch = fake_add(&b.fake, "highest clock", CHANNEL_FREQ_LIMIT, 0, TIER_SLOW, UNIT_HZ, FAMILY_GPU);
	snprintf(ch->name, sizeof(ch->name), "gpu.freq_max");
	b.fake.value = throttled_at_the_end;
	ui_reset(b.ui, &b.scene);
	press(&b, '2', 0);
	assert_shows(&b, "1122 of 1300, held");
	assert_shows(&b, "limits 306..1122 MHz");
	y = line_of(&b, " Clock");
	assert_int_equal(style_of(&b, y, "1122"), STYLE_WARN);
	ch = fake_add(&b.fake, "gpu", CHANNEL_THROTTLE, 0, TIER_SLOW, UNIT_NONE, FAMILY_HEAT);
	snprintf(ch->name, sizeof(ch->name), "throttle.gpu-throttle-alert");
	again(&b);
	assert_int_equal(style_of(&b, y, "1122"), STYLE_ALERT);
	stop(&b);
}

static void rows_stand_in_sections(void **state)
{
	static const char *const order[] = {" GPU ",        " Power",
					    "   GPU_SOC",   " Hottest",
					    " CPU cores",   "   cpu0",
					    "   Load",      " Clocks",
					    "   GPU clock", " Engines",
					    "   NVDEC ",    "   NVDEC clock",
					    " Heat",        "   cpu ",
					    "   Fan",       " Memory",
					    "   zram",      " Throttling and limits",
					    "   cpu  ",     " Energy, voltages, currents",
					    "   Energy",    "   GPU_SOC",
					    " Sampling",    "   nvmtop.late"};
	struct bench b;
	int y = 0;

	(void)state;
	start(&b, 120, 90, true, CHARSET_BRAILLE);
	fake_add(&b.fake, "nvmtop.late", CHANNEL_COUNTER, 0, TIER_SLOW, UNIT_NONE, FAMILY_OTHER);
	fake_add(&b.fake, "Energy", CHANNEL_OTHER, 0, TIER_SLOW, UNIT_JOULE, FAMILY_POWER);
	add_throttles(&b.fake);
	fake_add(&b.fake, "zram", CHANNEL_OTHER, 0, TIER_SLOW, UNIT_KB, FAMILY_MEMORY);
	fake_add(&b.fake, "Load", CHANNEL_OTHER, 0, TIER_SLOW, UNIT_NONE, FAMILY_CPU);
	fake_add(&b.fake, "NVDEC", CHANNEL_ENGINE_FREQ, 0, TIER_SLOW, UNIT_HZ, FAMILY_OTHER);
	fake_add(&b.fake, "NVDEC", CHANNEL_ENGINE_UTIL, 0, TIER_SLOW, UNIT_PERCENT, FAMILY_OTHER);
	again(&b);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		while (y < 90 && strncmp(line(&b, y), order[i], strlen(order[i])) != 0)
			y++;
		if (y == 90)
			fail_msg("\"%s\" is not in its place in\n%s", order[i], b.text);
	}
	stop(&b);
	/* A foreign trace with only details needs no headings. */
	start(&b, 120, 40, true, CHARSET_BRAILLE);
	b.fake.about.n_channels = 0;
	fake_add(&b.fake, "cpu0", CHANNEL_CORE_UTIL, 0, TIER_FAST, UNIT_PERCENT, FAMILY_CPU);
	again(&b);
	assert_int_equal(line_of(&b, " cpu0"), 3);
	stop(&b);
}

static void a_sleeping_unit_says_so(void **state)
{
	struct bench b;

	(void)state;
	start(&b, 80, 24, false, CHARSET_BRAILLE);
	snprintf(b.fake.channels[0].name, sizeof(b.fake.channels[0].name), "gpu.util");
	snprintf(fake_add(&b.fake, "GPU gated", CHANNEL_GATED, 0, TIER_SLOW, UNIT_NONE, FAMILY_GPU)->name, 48,
		 "gpu.gated");
	again(&b);
	assert_int_equal(line_of(&b, " GPU off"), -1);
	b.fake.gated = 1;
	again(&b);
	assert_int_equal(line_of(&b, " GPU off"), 3);
	stop(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(throttling_is_a_line_over_its_time),
		cmocka_unit_test(words_of_events_have_room_or_leave),
		cmocka_unit_test(the_line_is_there_before_it_is_needed),
		cmocka_unit_test(holes_are_events),
		cmocka_unit_test(changes_are_events),
		cmocka_unit_test(values_near_limits_stand_out),
		cmocka_unit_test(a_held_clock_stands_out),
		cmocka_unit_test(rows_stand_in_sections),
		cmocka_unit_test(a_sleeping_unit_says_so),
	};

	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
