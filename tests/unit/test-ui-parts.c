/* Layout, viewport, numbers, times, the key table. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "ui/goto.h"
#include "ui/ui.h"
#include "ui/view.h"
#include "ui/layout.h"
#include "ui/quantity.h"
#include "ui/viewport.h"
#include "ui-fake.h"

/* ---- layout ---- */

static bool apart(const struct rect *a, const struct rect *b)
{
	return !a->w || !a->h || !b->w || !b->h || a->x + a->w <= b->x || b->x + b->w <= a->x ||
	       a->y + a->h <= b->y || b->y + b->h <= a->y;
}

static void assert_apart(const struct layout *l, int w, int h)
{
	const struct rect *const all[] = {&l->header, &l->limit, &l->second, &l->axis, &l->events,
					  &l->panel,  &l->strip, &l->tabs,   &l->bar,  &l->name,
					  &l->value,  &l->scale, &l->stats,  &l->chart};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct rect *r = all[i];

		assert_true(r->w >= 0 && r->h >= 0);
		assert_true(!r->w || !r->h ||
			    (r->x >= 0 && r->y >= 0 && r->x + r->w <= w && r->y + r->h <= h));
		for (size_t k = 0; k < i; k++)
			assert_true(apart(r, all[k]));
	}
}

static void nothing_overlaps_at_any_size(void **state)
{
	(void)state;
	for (int w = 0; w <= 300; w++)
		for (int h = 0; h <= 100; h++)
			for (int flags = 0; flags < 32; flags++) {
				struct layout_wish wish = {.w = w,
							   .h = h,
							   .replay = flags & 1,
							   .second = flags & 2,
							   .events = flags & 4,
							   .compact = flags & 8,
							   .solo = flags & 16,
							   .panel = h % 12};
				struct layout l = layout_screen(&wish);

				assert_int_equal(l.small, w < LAYOUT_MIN_W || h < LAYOUT_MIN_H);
				assert_apart(&l, w, h);
				if (l.small)
					continue;
				assert_true(l.body.h >= 4 && l.chart.w >= 4);
				assert_true(l.name.w >= 5 && l.value.w >= 7);
			}
}

/* Beside a chart are its name, value and scale, or its name, value and statistics; a scale has room for
 * four digits. */
static void the_gutter_is_left_of_the_charts(void **state)
{
	(void)state;
	for (int w = LAYOUT_MIN_W; w <= 300; w++)
		for (int compact = 0; compact < 2; compact++) {
			struct layout_wish wish = {.w = w, .h = 40, .compact = compact};
			struct layout l = layout_screen(&wish);

			assert_int_equal(l.scale.w, !compact && w >= 76 ? 4 : 0);
			assert_int_equal(l.stats.w, compact && w >= 76 ? 15 : 0);
			assert_true(l.name.x + l.name.w < l.value.x && l.value.x + l.value.w < l.chart.x);
			assert_true(!l.scale.w || l.scale.x + l.scale.w < l.chart.x);
			/* The full width is used. */
			assert_int_equal(l.chart.x + l.chart.w, w - (w >= 40));
		}
}

static void the_overview_fits_80x24(void **state)
{
	struct layout_wish wish = {.w = 80, .h = 24, .events = true, .panel = 4};
	struct layout l = layout_screen(&wish);

	(void)state;
	assert_true(l.header.h && l.limit.h && l.axis.h && l.bar.h && l.tabs.h && l.events.h && l.scale.w);
	assert_int_equal(l.panel.h, 4);
	assert_true(l.body.h >= 5 * 2); /* five charts of two lines */
	wish.replay = true;
	l = layout_screen(&wish);
	assert_true(l.strip.h == 2 && l.panel.h == 4 && l.events.h && l.body.h >= 5 * 2);
}

/* The limit line stays even when the time has no room. */
static void lines_leave_in_their_order(void **state)
{
	(void)state;
	for (int h = LAYOUT_MIN_H; h <= 100; h++)
		for (int flags = 0; flags < 4; flags++) {
			struct layout_wish wish = {.w = 80,
						   .h = h,
						   .replay = flags & 1,
						   .second = flags & 2,
						   .events = true,
						   .panel = 4};
			struct layout l = layout_screen(&wish);

			assert_true(!l.limit.h || l.header.h);
			assert_true(!l.axis.h || l.limit.h);
			assert_true(!l.tabs.h || l.axis.h);
			assert_true(!l.events.h || l.body.h >= 7);
			assert_true(!l.panel.h || l.body.h >= 5);
			assert_true(l.panel.h || l.body.h < 4 + 6 + l.events.h + 1);
		}
}

static void rows_share_lines_by_weight(void **state)
{
	unsigned char weight[40], height[40];

	(void)state;
	for (int lines = 1; lines < 200; lines++)
		for (int n = 0; n < 40; n++) {
			int total = 0, most = 0;

			for (int i = 0; i < n; i++) {
				weight[i] = (unsigned char)(i < 3   ? WEIGHT_MAIN + 1 - i
							    : i < 7 ? WEIGHT_PART
								    : WEIGHT_REST);
				most += i < 3 ? lines : i < 7 ? 8 : 1;
			}
			layout_rows(weight, n, lines, height);
			for (int i = 0; i < n; i++) {
				assert_true(height[i] >= 1);
				if (i)
					assert_true(height[i] <= height[i - 1]);
				if (weight[i] == WEIGHT_REST)
					assert_int_equal(height[i], 1);
				if (weight[i] == WEIGHT_PART)
					assert_in_range(height[i], 1, 8);
				total += height[i];
			}
			/* All lines are used, as far as possible. */
			if (lines >= n && n > 0 && most >= lines)
				assert_int_equal(total, lines);
			/* Without constraints, within a line of the share. */
			if (n == 3)
				for (int i = 0; i < n && lines >= 18; i++)
					assert_true(abs(height[i] * 18 - lines * weight[i]) <= 18);
		}
}

/* ---- viewport ---- */

static const struct extent minute = {true, FAKE_START, FAKE_START + 60 * NS_PER_S};

static void assert_sane(const struct viewport *v, const struct extent *e)
{
	int64_t first = viewport_first(v);

	assert_in_range(v->zoom, ZOOM_MIN, ZOOM_MAX);
	assert_in_range(v->merge, v->per_cell, 7);
	assert_int_equal(v->merge % v->per_cell, 0);
	if (!e->any)
		return;
	assert_true(v->head_ns >= e->first_ns && v->head_ns <= e->last_ns);
	assert_true(v->right_ns >= v->head_ns && v->right_ns <= e->last_ns);
	assert_true(viewport_cell(v, v->head_ns) >= 0); /* the playhead is visible */
	assert_int_equal((first + v->columns) % v->per_cell, 0);
}

/* The number of columns within the extent. */
static int filled(const struct viewport *v, const struct extent *e)
{
	return (int)(viewport_column(v, e->last_ns) - viewport_column(v, e->first_ns) + 1);
}

static void a_trace_fills_the_width(void **state)
{
	(void)state;
	for (int per_cell = 1; per_cell <= 2; per_cell++)
		for (int columns = 20 * per_cell; columns < 600; columns += 7 * per_cell)
			for (int64_t length = NS_PER_S / 10; length < 200000 * NS_PER_S;
			     length += length / 7) {
				struct extent e = {true, FAKE_START, FAKE_START + length};
				struct viewport v = {.columns = columns, .per_cell = per_cell};

				viewport_reset(&v, false);
				viewport_settle(&v, &e, 0);
				assert_sane(&v, &e);
				assert_true(v.head_ns == e.last_ns && !v.playing);
				assert_true(viewport_cell(&v, e.first_ns) >= 0);
				/* With even numbers, as braille needs, 4 is followed by 6. A column
				 * boundary takes one at each end. */
				if (v.zoom > ZOOM_MIN &&
				    (filled(&v, &e) + 2) * 10 < columns * (per_cell == 1 ? 8 : 6.5))
					fail_msg("%d of %d columns for %lld ms", filled(&v, &e), columns,
						 (long long)(length / NS_PER_MS));
			}
}

static void live_begins_with_ten_seconds(void **state)
{
	(void)state;
	for (int per_cell = 1; per_cell <= 2; per_cell++)
		for (int columns = 20 * per_cell; columns < 600; columns += 13 * per_cell) {
			struct viewport v = {.columns = columns, .per_cell = per_cell};
			int64_t before = 0;

			viewport_reset(&v, true);
			for (int64_t length = 0; length < 200 * NS_PER_S; length += NS_PER_S / 4) {
				struct extent e = {true, FAKE_START, FAKE_START + length};
				int64_t span;

				viewport_settle(&v, &e, e.last_ns);
				assert_sane(&v, &e);
				span = columns * viewport_column_ns(&v);
				assert_true(span >= before); /* never oscillates */
				assert_true(span >= 10 * NS_PER_S &&
					    span >= (length < 60 * NS_PER_S ? length : 60 * NS_PER_S));
				if (length >= 10 * NS_PER_S && length <= 60 * NS_PER_S)
					assert_true((double)length >=
						    (double)span * (per_cell == 1 ? 0.75 : 0.6));
				before = span;
			}
		}
}

static void anything_keeps_the_playhead_in_view(void **state)
{
	struct extent e = minute;
	uint64_t x = 88172645463325252u;

	(void)state;
	for (int run = 0; run < 40; run++) {
		struct viewport v = {.per_cell = 1 + run % 2, .columns = 4 + run * 2};
		int64_t now = minute.last_ns;

		viewport_reset(&v, run % 4 < 2);
		e = minute;
		for (int i = 0; i < 1000; i++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			now += (int64_t)(x % 50) * NS_PER_MS;
			if (v.live)
				e.last_ns = now;
			switch (x / 64 % 12) {
			case 0:
				viewport_zoom(&v, &e, now, x & 1 ? 1 : -1);
				break;
			case 1:
				viewport_pan(&v, &e, now, (int)(x % 200) - 100);
				break;
			case 2:
				viewport_jump(&v, &e, now, e.first_ns + (int64_t)(x % 70) * NS_PER_S);
				break;
			case 3:
				viewport_space(&v, &e, now);
				break;
			case 4:
				viewport_speed(&v, &e, now, x & 1 ? 1 : -1);
				break;
			case 5:
				viewport_now(&v, &e, now);
				break;
			case 6:
				v.columns = v.per_cell * (int)(1 + x % 300);
				break;
			case 7:
				viewport_cursor(&v, &e, now, (int)(x % 41) - 20);
				break;
			case 8:
				viewport_all(&v, &e, now);
				break;
			case 9:
				viewport_show(&v, &e, now, e.first_ns + (int64_t)(x % 70) * NS_PER_S,
					      e.first_ns + (int64_t)(x % 90) * NS_PER_S);
				break;
			case 10:
				viewport_loop(&v, &e, now, e.first_ns + (int64_t)(x % 70) * NS_PER_S,
					      e.first_ns + (int64_t)(x % 90) * NS_PER_S);
				break;
			default:
				break;
			}
			viewport_settle(&v, &e, now);
			assert_sane(&v, &e);
			assert_true(!v.follow || !v.playing);
		}
	}
}

static void panning_and_zooming_come_back(void **state)
{
	struct viewport v = {.per_cell = 2, .columns = 100};
	int64_t head, ns[40];

	(void)state;
	viewport_reset(&v, false);
	viewport_jump(&v, &minute, 0, FAKE_START + 30 * NS_PER_S);
	for (int i = 0; i < 5; i++)
		viewport_zoom(&v, &minute, 0, 1);
	head = v.head_ns;
	viewport_pan(&v, &minute, 0, -12);
	assert_true(v.head_ns == head - 12 * viewport_column_ns(&v));
	viewport_pan(&v, &minute, 0, 12);
	assert_true(v.head_ns == head);
	for (int i = 0; i < 5; i++)
		viewport_zoom(&v, &minute, 0, -1);
	assert_true(v.fit && v.head_ns == head);
	viewport_zoom(&v, &minute, 0, -1);
	assert_true(v.fit);
	/* Each step halves the view, down to columns shorter than a sample, and doubles it again. */
	viewport_zoom(&v, &minute, 0, 1);
	for (int i = 0; i < 40; i++) {
		ns[i] = viewport_column_ns(&v);
		viewport_zoom(&v, &minute, 0, 1);
		assert_true(viewport_column_ns(&v) == ns[i] / 2 || v.merge == v.per_cell);
	}
	assert_true(viewport_column_ns(&v) < NS_PER_MS);
	for (int i = 40; i-- > 0 && viewport_column_ns(&v) < ns[0];) {
		head = viewport_column_ns(&v);
		viewport_zoom(&v, &minute, 0, -1);
		assert_true(viewport_column_ns(&v) == 2 * head);
	}
	assert_true(viewport_column_ns(&v) == ns[0]);
}

static void playing_is_at_the_speed_it_says(void **state)
{
	struct viewport v = {.per_cell = 1, .columns = 100};

	(void)state;
	viewport_reset(&v, false);
	viewport_space(&v, &minute, 0); /* at the end: from the start */
	assert_true(v.playing && v.head_ns == minute.first_ns);
	viewport_settle(&v, &minute, 2 * NS_PER_S);
	assert_true(v.head_ns == minute.first_ns + 2 * NS_PER_S);
	viewport_speed(&v, &minute, 2 * NS_PER_S, 2);
	viewport_settle(&v, &minute, 3 * NS_PER_S);
	assert_true(v.head_ns == minute.first_ns + 6 * NS_PER_S);
	viewport_settle(&v, &minute, 1000 * NS_PER_S);
	assert_true(!v.playing && v.head_ns == minute.last_ns);
	for (int i = 0; i < 20; i++)
		viewport_speed(&v, &minute, 0, 1);
	assert_int_equal(v.speed, SPEED_ALL);
	for (int i = 0; i < 20; i++)
		viewport_speed(&v, &minute, 0, -1);
	assert_int_equal(v.speed, SPEED_SLOWEST);
}

static void a_paused_view_stands_still(void **state)
{
	struct viewport v = {.per_cell = 2, .columns = 100};
	struct extent e = minute;
	int64_t first;

	(void)state;
	viewport_reset(&v, true);
	viewport_space(&v, &e, e.last_ns);
	assert_false(v.follow);
	first = viewport_first(&v);
	e.last_ns += 10 * NS_PER_S;
	viewport_settle(&v, &e, e.last_ns);
	assert_true(viewport_first(&v) == first && v.head_ns == minute.last_ns);
	viewport_pan(&v, &e, e.last_ns, 100000); /* past the end: it is now again */
	assert_true(v.follow && v.head_ns == e.last_ns);
	/* The same with little data: it does not widen, and blank parts stay blank. */
	for (int way = 0; way < 3; way++) {
		viewport_reset(&v, true);
		e.last_ns = e.first_ns + 21 * NS_PER_S;
		viewport_settle(&v, &e, e.last_ns);
		if (way == 0)
			viewport_space(&v, &e, e.last_ns);
		else if (way == 1)
			viewport_cursor(&v, &e, e.last_ns, -3);
		else
			viewport_jump(&v, &e, e.last_ns, e.last_ns - NS_PER_S);
		first = viewport_first(&v);
		for (int i = 0; i < 50; i++) {
			e.last_ns += NS_PER_S;
			viewport_settle(&v, &e, e.last_ns);
			assert_true(viewport_first(&v) == first);
		}
	}
	viewport_now(&v, &e, e.last_ns);
	/* No data for seconds: the gap shows. */
	viewport_settle(&v, &e, e.last_ns + 5 * NS_PER_S);
	assert_true(v.right_ns > e.last_ns + 4 * NS_PER_S);
}

/* ---- numbers ---- */

static void assert_quantity(enum unit u, double v, int width, const char *expected)
{
	char text[QUANTITY_TEXT];

	quantity_text(text, u, v, width);
	assert_string_equal(text, expected);
}

static void numbers_fit(void **state)
{
	static const double odd[] = {0,    -0.0,  1,      99.95,    1e6,       -1e6,
				     1e15, 1e300, -1e300, INFINITY, -INFINITY, NAN};

	(void)state;
	assert_quantity(UNIT_PERCENT, 97.34, 5, "97.3");
	assert_quantity(UNIT_PERCENT, 100, 5, "100.0");
	assert_quantity(UNIT_PERCENT, 100, 4, "100");
	assert_quantity(UNIT_PERCENT, -0.001, 5, "0.0");
	assert_quantity(UNIT_MILLIAMPERE, -22, 5, "-0.02");
	assert_quantity(UNIT_MILLIAMPERE, -22, 4, "0.0");
	assert_quantity(UNIT_MILLIWATT, 17240, 5, "17.2");
	assert_quantity(UNIT_KB, 22439526, 5, "21.4");
	assert_quantity(UNIT_HZ, 1300500000, 5, "1300");
	assert_quantity(UNIT_MILLIVOLT, 19944, 5, "19.94");
	assert_quantity(UNIT_CELSIUS, NAN, 5, "--");
	assert_quantity(UNIT_NONE, 42, 5, "42");
	for (int u = 0; u < QUANTITY_UNITS; u++)
		for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
			for (int w = 3; w < 8; w++) {
				char text[QUANTITY_TEXT];

				quantity_text(text, (enum unit)u, odd[i], w);
				assert_in_range(strlen(text), 1, w);
			}
}

static void numbers_side_by_side_have_the_same_decimals(void **state)
{
	char text[3][QUANTITY_TEXT];

	(void)state;
	quantity_alike(text, UNIT_PERCENT, (const double[]) {9.8, 10.12, 10.08}, 3, 3);
	assert_string_equal(text[0], "10");
	assert_string_equal(text[1], "10");
	assert_string_equal(text[2], "10");
	quantity_alike(text, UNIT_PERCENT, (const double[]) {0.04, 9.94, 1.26}, 3, 3);
	assert_string_equal(text[0], "0.0");
	assert_string_equal(text[1], "9.9");
	assert_string_equal(text[2], "1.3");
	/* The mean of integers is rarely an integer. */
	quantity_alike(text, UNIT_NONE, (const double[]) {0, 1, 0.25}, 3, 4);
	assert_string_equal(text[0], "0");
	assert_string_equal(text[1], "1");
	assert_string_equal(text[2], "0.2");
	quantity_alike(text, UNIT_MILLIWATT, (const double[]) {NAN, 250000, 1234}, 3, 4);
	assert_string_equal(text[0], "--");
	assert_string_equal(text[1], "250");
	assert_string_equal(text[2], "1");
}

static void units_fit_the_signal(void **state)
{
	struct channel ch = {.kind = CHANNEL_OTHER, .unit = UNIT_KB, .hi = NAN};
	char text[QUANTITY_TEXT];

	(void)state;
	/* 4 MiB is not 0.0 GiB; RAM is in GiB even if its size is unknown. */
	assert_int_equal(quantity_of(&ch, 4096), QUANTITY_MIB);
	quantity_text(text, QUANTITY_MIB, 4096, 5);
	assert_string_equal(text, "4.0");
	assert_string_equal(quantity_unit(QUANTITY_MIB), "MiB");
	ch.hi = 8e6;
	assert_int_equal(quantity_of(&ch, 4096), UNIT_KB);
	ch.hi = NAN;
	ch.kind = CHANNEL_RAM_USED;
	assert_int_equal(quantity_of(&ch, 4096), UNIT_KB);
	/* A counter that only grows runs out of room. */
	ch = (struct channel) {.kind = CHANNEL_OTHER, .unit = UNIT_JOULE, .hi = NAN};
	assert_int_equal(quantity_of(&ch, 99999.4), UNIT_JOULE);
	assert_int_equal(quantity_of(&ch, 99999.6), QUANTITY_KJ);
	quantity_text(text, QUANTITY_KJ, 123456, 5);
	assert_string_equal(text, "123.5");
	assert_string_equal(quantity_unit(QUANTITY_KJ), "kJ");
	assert_int_equal(quantity_of(&ch, NAN), UNIT_JOULE);
}

static void times_and_sizes_read_well(void **state)
{
	char text[QUANTITY_TEXT];

	(void)state;
	quantity_clock(text, 12345 * NS_PER_MS, NS_PER_MS);
	assert_string_equal(text, "12.345");
	quantity_clock(text, 83400 * NS_PER_MS, NS_PER_S / 10);
	assert_string_equal(text, "1:23.4");
	quantity_clock(text, 7267 * NS_PER_S, 0);
	assert_string_equal(text, "2:01:07");
	quantity_clock(text, -2100 * NS_PER_MS, NS_PER_S / 10);
	assert_string_equal(text, "-2.1");
	quantity_time(text, -2100 * NS_PER_MS, NS_PER_S / 10);
	assert_string_equal(text, "-2.1 s");
	quantity_time(text, -80 * NS_PER_S, NS_PER_S / 10);
	assert_string_equal(text, "-1:20.0");
	quantity_time(text, INT64_MIN, 1);
	assert_true(strlen(text) < QUANTITY_TEXT);
	quantity_clock(text, INT64_MIN, 1);
	quantity_clock(text, INT64_MAX, 1);
	assert_true(strlen(text) < QUANTITY_TEXT);
	quantity_bytes(text, 0);
	assert_string_equal(text, "0 kB");
	quantity_bytes(text, 81400000);
	assert_string_equal(text, "81 MB");
	quantity_bytes(text, 1234567890);
	assert_string_equal(text, "1.2 GB");
	quantity_bytes(text, UINT64_MAX);
	assert_true(strlen(text) < 12);
}

static void scales_end_on_round_numbers_and_do_not_flutter(void **state)
{
	struct channel power = {.unit = UNIT_MILLIWATT, .lo = NAN, .hi = NAN};
	struct channel heat = {.unit = UNIT_CELSIUS, .lo = NAN, .hi = NAN};
	struct channel ram = {.unit = UNIT_KB, .lo = 0, .hi = 1000};
	struct scale s = {0, 0, false};

	(void)state;
	scale_fit(&s, &power, 3000, 32100);
	assert_true(s.lo == 0 && s.hi == 40000);
	scale_fit(&s, &power, 3000, 27000);
	assert_true(s.hi == 40000); /* more than half is used: it stays */
	scale_fit(&s, &power, NAN, NAN);
	assert_true(s.hi == 40000);
	scale_fit(&s, &power, 3000, 11000);
	assert_true(s.hi == 20000);
	scale_fit(&s, &power, -7000, 41000);
	assert_true(s.lo == -8000 && s.hi == 50000);
	s = (struct scale) {0, 0, false};
	scale_fit(&s, &heat, 44, 57);
	assert_true(s.lo == 20 && s.hi == 60);
	scale_fit(&s, &heat, 44, 61);
	assert_true(s.hi == 80);
	scale_fit(&s, &heat, 44, 58);
	assert_true(s.hi == 80);
	scale_fit(&s, &heat, -15, 58);
	assert_true(s.lo == -40);
	s = (struct scale) {0, 0, false};
	scale_fit(&s, &ram, 1, 5000);
	assert_true(s.lo == 0 && s.hi == 1000);
	scale_fit(&s, &power, -INFINITY, INFINITY);
	assert_true(s.lo < s.hi);
}

/* ---- places ---- */

static void places_have_many_names(void **state)
{
	static struct fake f;
	struct extent e;
	int64_t t, head = FAKE_START + 20 * NS_PER_S;
	static const struct {
		const char *text;
		int64_t ms; /* -1: rejected */
	} cases[] = {{"12.5", 12500},  {"1:23", 83000}, {"2m", 120000}, {"50%", 50000},  {"0%", 0},
		     {"100%", 100000}, {"m2", 31000},   {"M1", 30000},  {"m9", -1},      {"m", -1},
		     {"m-1", -1},      {"end", 100000}, {"start", 0},   {"+10s", 30000}, {"-5", 15000},
		     {"101%", -1},     {"nan%", -1},    {"%", -1},      {"", -1},        {"x", -1},
		     {"+", -1},        {"--5", -1},     {"+-5", -1}};

	(void)state;
	fake_init(&f, 100 * NS_PER_S);
	for (int i = 0; i < 40; i++)
		fake_mark(&f, FAKE_START + (30 + i) * NS_PER_S);
	e = (struct extent) {true, f.first_ns, f.last_ns};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool ok = goto_parse(cases[i].text, &f.timeline, &e, head, &t);

		if (!strcmp(cases[i].text, "m9"))
			assert_true(ok); /* forty marks: m9 is one of them */
		else if (ok != (cases[i].ms >= 0) || (ok && t != FAKE_START + cases[i].ms * NS_PER_MS))
			fail_msg("\"%s\" gives %d, %lld ms", cases[i].text, ok,
				 (long long)(t - FAKE_START) / NS_PER_MS);
	}
	/* Beyond one block of marks. */
	assert_true(goto_parse("m40", &f.timeline, &e, head, &t) && t == FAKE_START + 69 * NS_PER_S);
	assert_false(goto_parse("m41", &f.timeline, &e, head, &t));
	assert_true(goto_mark(&f.timeline, &e, FAKE_START + 69 * NS_PER_S, -1, &t) &&
		    t == FAKE_START + 68 * NS_PER_S);
	assert_true(goto_mark(&f.timeline, &e, FAKE_START + 35 * NS_PER_S, 1, &t) &&
		    t == FAKE_START + 36 * NS_PER_S);
	assert_false(goto_mark(&f.timeline, &e, FAKE_START + 30 * NS_PER_S, -1, &t));
	assert_false(goto_mark(&f.timeline, &e, FAKE_START + 69 * NS_PER_S, 1, &t));
	/* Many at one instant must not loop for ever. */
	for (int i = 0; i < 40; i++)
		f.marks[i].t_ns = head;
	assert_false(goto_parse("m99", &f.timeline, &e, head, &t));
}

/* ---- keys ---- */

/* A view's own key that replaces the common one. */
static bool stands_for(const struct view *v, uint32_t key)
{
	static const struct {
		const char *view;
		const char *keys;
	} meant[] = {{"phases", "x\r"}, {"ranges", "\r"}, {"processes", "/xNt\r"}, {"board", "\r"}, {"help", "?"}};

	for (size_t i = 0; i < sizeof(meant) / sizeof(meant[0]); i++)
		if (v->name && !strcmp(v->name, meant[i].view) && key < 0x80 && strchr(meant[i].keys, (int)key))
			return true;
	return false;
}

static bool is_own(const struct view *v, const struct key_entry *k)
{
	for (const struct key_entry *own = v->keys; own && own->handler; own++)
		if (own == k)
			return true;
	return false;
}

static void one_meaning(const struct view *v, unsigned when, const struct key_entry *a, const struct key_entry *b)
{
	for (int k = 0; k < KEYS_MAX && a->keys[k].key && (a->when & b->when & when); k++)
		for (int l = 0; l < KEYS_MAX && b->keys[l].key; l++)
			if ((a != b || k < l) && a->keys[k].key == b->keys[l].key &&
			    a->keys[k].mods == b->keys[l].mods &&
			    (a->handler != b->handler || a->keys[k].arg != b->keys[l].arg) && /* shown by the view */
			    (is_own(v, a) == is_own(v, b) || !stands_for(v, a->keys[k].key)))
				fail_msg("%s: two meanings of key %x", v->label ? v->label : v->name,
					 (unsigned)a->keys[k].key);
}

static void every_key_has_one_meaning(void **state)
{
	const struct key_entry *a, *b;
	const struct view *v;

	(void)state;
	for (size_t n = 0; (v = views_at(n)) != NULL; n++)
		for (size_t i = 0; (a = keys_entry(v, i)) != NULL; i++) {
			assert_true(a->when && a->keys[0].key && a->handler && (unsigned)a->group < KEYS_GROUPS);
			assert_true(!a->shown == !a->what && (a->shown ? *a->shown && *a->what : true));
			assert_true(!a->bar_key == !(a->bar || a->bar_now));
			for (size_t j = i; (b = keys_entry(v, j)) != NULL; j++)
				one_meaning(v, v->covers ? WHEN_COVERED : WHEN_CHARTS, a, b);
			for (int k = 0; k < KEYS_MAX; k++)
				for (size_t t = 0; a->keys[k].key && !a->keys[k].mods && views_at(t); t++)
					assert_true(views_at(t)->key != a->keys[k].key || (a->handler == act_view && a->keys[k].arg == (int)t));
		}
}

static key_handler *meaning(const struct view *v, unsigned when, uint32_t key, unsigned mods, int want)
{
	int arg = -2;
	const struct key_entry *k = keys_find(v, when, key, mods, &arg);

	assert_int_equal(arg, want);
	return k ? k->handler : NULL;
}

static void modifiers_matter_where_they_must(void **state)
{
	const struct view *v = views_at(0);

	(void)state;
	assert_true(meaning(v, WHEN_NOW, 's', 0, REQUEST_MARK) == act_live);
	assert_true(meaning(v, WHEN_REPLAY, 's', 0, REQUEST_MARK) == act_live); /* and says why not */
	assert_null(meaning(&view_files, WHEN_COVERED, 's', 0, -2));
	assert_null(meaning(v, WHEN_NOW, 's', MOD_ALT, -2));
	assert_true(meaning(v, WHEN_NOW, '+', MOD_SHIFT, 1) == act_zoom);
	assert_true(meaning(&view_help, WHEN_COVERED, 'C', MOD_CTRL, REQUEST_QUIT) == act_request);
	assert_true(meaning(v, WHEN_REPLAY, K_LEFT, MOD_SHIFT, -8) == act_pan);
	assert_true(meaning(v, WHEN_REPLAY, '2', 0, 1) == act_view);
	assert_null(meaning(v, WHEN_REPLAY, K_NONE, 0, -2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_overlaps_at_any_size),
		cmocka_unit_test(the_gutter_is_left_of_the_charts),
		cmocka_unit_test(the_overview_fits_80x24),
		cmocka_unit_test(lines_leave_in_their_order),
		cmocka_unit_test(rows_share_lines_by_weight),
		cmocka_unit_test(a_trace_fills_the_width),
		cmocka_unit_test(live_begins_with_ten_seconds),
		cmocka_unit_test(anything_keeps_the_playhead_in_view),
		cmocka_unit_test(panning_and_zooming_come_back),
		cmocka_unit_test(playing_is_at_the_speed_it_says),
		cmocka_unit_test(a_paused_view_stands_still),
		cmocka_unit_test(numbers_fit),
		cmocka_unit_test(numbers_side_by_side_have_the_same_decimals),
		cmocka_unit_test(units_fit_the_signal),
		cmocka_unit_test(times_and_sizes_read_well),
		cmocka_unit_test(scales_end_on_round_numbers_and_do_not_flutter),
		cmocka_unit_test(places_have_many_names),
		cmocka_unit_test(every_key_has_one_meaning),
		cmocka_unit_test(modifiers_matter_where_they_must),
	};

	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
