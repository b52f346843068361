/* Columns to glyphs, and from a timeline to columns. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "canvas-text.h"
#include "ui/canvas.h"
#include "ui/chart.h"
#include "ui/spark.h"
#include "ui-fake.h"

static struct spark_look look_of(enum charset cs)
{
	return (struct spark_look) {.charset = cs, .hue = HUE_GPU, .lo = 0, .hi = 100, .limit = NAN};
}

static void assert_spark(enum charset cs, int w, int h, const struct spark_column *cols, const char *expected)
{
	struct spark_look look = look_of(cs);
	struct canvas c = {0};

	canvas_resize(&c, w, h);
	spark_draw(&c, 0, 0, w, h, &look, cols);
	assert_canvas(&c, expected);
	canvas_free(&c);
}

#define COLUMN(low, middle, high)                                                                            \
	{                                                                                                    \
		.min = low, .mean = middle, .max = high, .any = true                                         \
	}
#define FLAT(v) COLUMN(v, v, v)
#define NOTHING                                                                                              \
	{                                                                                                    \
		.any = false                                                                                 \
	}

static void levels_are_round(void **state)
{
	(void)state;
	assert_int_equal(spark_level(NAN, 0, 100, 4), 0);
	assert_int_equal(spark_level(0, 0, 100, 4), 1); /* a measured zero is a dot */
	assert_int_equal(spark_level(-5, 0, 100, 4), 1);
	assert_int_equal(spark_level(100, 0, 100, 4), 4);
	assert_int_equal(spark_level(1e300, 0, 100, 4), 4);
	assert_int_equal(spark_level(INFINITY, 0, 100, 8), 8);
	assert_int_equal(spark_level(-INFINITY, 0, 100, 8), 1);
	assert_int_equal(spark_level(50, 50, 50, 4), 1); /* a scale without height */
	assert_int_equal(spark_level(34, 0, 100, 4), 2);
}

static void braille_is_golden(void **state)
{
	static const struct spark_column ramp[] = {FLAT(0), FLAT(33), FLAT(67), FLAT(100)};
	static const struct spark_column holes[] = {NOTHING, FLAT(0), FLAT(100), NOTHING, NOTHING, NOTHING};
	/* A leap out of a low level, a drop out of a high one. */
	static const struct spark_column odd[] = {COLUMN(0, 1, 100), COLUMN(0, 99, 100)};

	(void)state;
	assert_spark(CHARSET_BRAILLE, 2, 1, ramp, "⣠⣾\n");
	assert_spark(CHARSET_BRAILLE, 3, 1, holes, "⢀⡇\n");
	assert_spark(CHARSET_BRAILLE, 1, 1, odd, "⣉\n");
	assert_spark(CHARSET_BRAILLE, 2, 2, ramp, " ⣰\n⣰⣿\n");
	assert_spark(CHARSET_BRAILLE, 1, 2, odd, "⢲\n⣸\n");
}

static void blocks_are_golden(void **state)
{
	static const struct spark_column cols[] = {FLAT(0), FLAT(50), NOTHING, FLAT(100), COLUMN(0, 2, 100)};

	(void)state;
	assert_spark(CHARSET_BLOCKS, 5, 1, cols, "▁▅ █▒\n");
	assert_spark(CHARSET_BLOCKS, 5, 2, cols, "   ▇░\n▁█ █▒\n");
}

static void ascii_is_golden(void **state)
{
	static const struct spark_column cols[] = {
		FLAT(0),  FLAT(15),  FLAT(29), FLAT(43),          FLAT(57),           FLAT(72),
		FLAT(86), FLAT(100), NOTHING,  COLUMN(0, 1, 100), COLUMN(0, 50, 100), COLUMN(0, 99, 100)};

	(void)state;
	assert_spark(CHARSET_ASCII, 12, 1, cols, "_.-=+*%# ^|v\n");
	assert_spark(CHARSET_ASCII, 12, 2, cols, "    ==## :=#\n==###### =##\n");
}

static void assert_cell(const struct canvas *c, int i, wchar_t ch, enum style style, enum style back)
{
	assert_int_equal(c->cells[i].ch[0], ch);
	assert_int_equal(c->cells[i].style, style);
	assert_int_equal(c->cells[i].back, back);
}

/* The mean ends in the lower cell, the band in the upper one. */
static void mean_and_band_share_a_cell(void **state)
{
	struct spark_look look = look_of(CHARSET_BLOCKS);
	struct spark_column col = COLUMN(0, 20, 100);
	enum style low = STYLE_MEAN(HUE_GPU, spark_shade(0, 2)), band = STYLE_BAND(HUE_GPU, spark_shade(0, 2));
	struct canvas c = {0};

	(void)state;
	assert_true(spark_shade(0, 2) < spark_shade(1, 2));
	canvas_resize(&c, 1, 2);
	spark_draw(&c, 0, 0, 1, 2, &look, &col);
	assert_cell(&c, 0, 0x2587, STYLE_BAND(HUE_GPU, spark_shade(1, 2)), 0);
	assert_cell(&c, 1, 0x2584, low, band);
	/* A steady one has no band. */
	col = (struct spark_column) FLAT(20);
	canvas_clear(&c);
	spark_draw(&c, 0, 0, 1, 2, &look, &col);
	assert_cell(&c, 0, L' ', STYLE_TEXT, 0);
	assert_cell(&c, 1, 0x2584, low, 0);
	/* A notch is a dark eighth at the minimum. */
	col = (struct spark_column) COLUMN(2, 98, 100);
	col.notch = true;
	canvas_clear(&c);
	spark_draw(&c, 0, 0, 1, 2, &look, &col);
	assert_cell(&c, 1, 0x2581, band, low);
	look.charset = CHARSET_BRAILLE;
	canvas_clear(&c);
	spark_draw(&c, 0, 0, 1, 2, &look, (struct spark_column[]) {COLUMN(0, 10, 100), COLUMN(0, 10, 100)});
	assert_int_equal(c.cells[0].style, STYLE_BAND(HUE_GPU, SHADES - 1));
	assert_int_equal(c.cells[1].style, low);
	canvas_free(&c);
}

static void a_limit_is_a_line_where_the_chart_is_blank(void **state)
{
	static const struct spark_column cols[] = {FLAT(100), FLAT(10), NOTHING};
	struct spark_look look = look_of(CHARSET_BLOCKS);

	(void)state;
	look.limit = 90;
	for (int ascii = 0; ascii < 2; ascii++) {
		struct canvas c = {0};

		look.charset = ascii ? CHARSET_ASCII : CHARSET_BLOCKS;
		canvas_resize(&c, 3, 3);
		spark_draw(&c, 0, 0, 3, 3, &look, cols);
		assert_canvas(&c, ascii ? "#--\n#\n##\n" : "▇┈┈\n█\n█▃\n");
		assert_int_equal(c.cells[1].style, STYLE_LIMIT);
		canvas_free(&c);
	}
}

static void survives_any_column(void **state)
{
	static const double odd[] = {NAN, INFINITY, -INFINITY, 0, 1e308, -1e308, 50};
	struct canvas c = {0};

	(void)state;
	canvas_resize(&c, 2, 3);
	for (size_t a = 0; a < 7 * 7 * 7; a++)
		for (int cs = 0; cs < 3; cs++)
			for (int h = 1; h < 4; h++) {
				struct spark_look look = look_of((enum charset)cs);
				struct spark_column cols[4] = {
					COLUMN(odd[a % 7], odd[a / 7 % 7], odd[a / 49]),
					NOTHING,
					FLAT(5),
					COLUMN(1, 2, 3)};

				look.lo = odd[a % 7];
				look.hi = odd[a / 7 % 7];
				look.limit = odd[a / 49];
				spark_draw(&c, 0, 0, 2, h, &look, cols);
			}
	canvas_free(&c);
}

static void a_passed_limit_colours_its_cell_alone(void **state)
{
	static const struct spark_column cols[] = {FLAT(90), FLAT(90), FLAT(90),
						   FLAT(90), FLAT(90), FLAT(90)};
	static const unsigned char level[] = {ALARM_NONE, ALARM_NONE, ALARM_NONE,
					      ALARM_WARN, ALARM_CRIT, ALARM_WARN};
	struct spark_look look = look_of(CHARSET_BRAILLE);
	struct canvas c = {0};

	(void)state;
	look.level = level;
	canvas_resize(&c, 6, 2);
	spark_draw(&c, 0, 0, 3, 2, &look, cols);
	for (int y = 0; y < 2; y++) {
		int shade = spark_shade(1 - y, 2);

		assert_int_equal(c.cells[y * 6].style, STYLE_MEAN(HUE_GPU, shade));
		assert_int_equal(c.cells[y * 6 + 1].style, STYLE_MEAN(HUE_WARN, shade));
		assert_int_equal(c.cells[y * 6 + 2].style, STYLE_MEAN(HUE_ALERT, shade));
	}
	canvas_clear(&c);
	look.charset = CHARSET_ASCII;
	spark_draw(&c, 0, 0, 6, 1, &look, cols);
	assert_int_equal(c.cells[2].style, STYLE_MEAN(HUE_GPU, spark_shade(0, 1)));
	assert_int_equal(c.cells[3].style, STYLE_MEAN(HUE_WARN, spark_shade(0, 1)));
	assert_int_equal(c.cells[4].style, STYLE_MEAN(HUE_ALERT, spark_shade(0, 1)));
	canvas_free(&c);
}

/* ---- from a timeline ---- */

#define N 64

static void fetch(struct fake *f, size_t channel, int zoom, int64_t first, struct spark_column out[N],
		  struct chart_summary *sum)
{
	struct chart_axis axis = {zoom, 1, first, N, f->gaps, f->n_gaps};
	struct bin *bins = calloc(CHART_BINS(N), sizeof(*bins));

	chart_columns(&f->timeline, channel, &axis, bins, out, sum);
	free(bins);
}

static size_t find(const struct fake *f, enum channel_kind kind)
{
	size_t i = 0;

	while (f->channels[i].kind != kind)
		i++;
	return i;
}

static void one_sample_shows_at_every_zoom(void **state)
{
	static struct fake f;

	(void)state;
	fake_init(&f, 20 * NS_PER_S);
	f.constant = 1;
	f.spike_ns = FAKE_START + 7 * NS_PER_S + 123 * NS_PER_MS;
	for (int zoom = ZOOM_MIN; zoom <= ZOOM_MAX; zoom++) {
		for (int cs = 0; cs < 3; cs++) {
			int per = spark_per_cell((enum charset)cs), cell = -1;
			struct spark_look look = look_of((enum charset)cs);
			struct spark_column cols[N];
			struct chart_summary sum;
			struct canvas with = {0}, without = {0};
			int64_t first = (f.spike_ns >> zoom) - 20;

			fetch(&f, 0, zoom, first, cols, &sum);
			assert_true(sum.max == 100);
			assert_true(cols[20].any && cols[20].max == 100);
			canvas_resize(&with, N / per, 1);
			canvas_resize(&without, N / per, 1);
			spark_draw(&with, 0, 0, N / per, 1, &look, cols);
			cols[20].max = cols[20].mean = 5;
			spark_draw(&without, 0, 0, N / per, 1, &look, cols);
			for (int x = 0; x < N / per; x++)
				if (with.cells[x].ch[0] != without.cells[x].ch[0] ||
				    with.cells[x].back != without.cells[x].back)
					cell = x;
			assert_int_equal(cell, 20 / per);
			canvas_free(&with);
			canvas_free(&without);
		}
	}
}

static void a_slow_tier_is_held_between_samples(void **state)
{
	static struct fake f;
	struct spark_column cols[N];
	struct chart_summary sum;
	size_t slow;

	(void)state;
	fake_init(&f, 20 * NS_PER_S);
	f.constant = 1;
	slow = find(&f, CHANNEL_HOTTEST);
	for (int zoom = ZOOM_MIN; zoom < 30; zoom++) {
		fetch(&f, slow, zoom, (FAKE_START + 10 * NS_PER_S) >> zoom, cols, &sum);
		for (int i = 0; i < N && zoom < 28; i++)
			assert_true(cols[i].any && cols[i].min == 5 && cols[i].max == 5);
	}
	/* Before the first sample there is nothing to hold. */
	fetch(&f, slow, 20, (FAKE_START >> 20) - N, cols, &sum);
	for (int i = 0; i < N - 1; i++)
		assert_false(cols[i].any && ((FAKE_START >> 20) - N + i) >> 6 < FAKE_START >> 26);
	/* After the last one it is held for two periods and no longer. */
	fetch(&f, slow, 22, ((f.last_ns >> 26) + 1) * 16, cols, &sum);
	assert_true(cols[0].any && cols[31].any);
	assert_false(cols[32].any || cols[N - 1].any);
	assert_true(isnan(sum.mean)); /* what is held is not counted */
}

static void a_gap_is_not_bridged(void **state)
{
	static struct fake f;
	struct spark_column cols[N];
	struct chart_summary sum;
	int64_t from = FAKE_START + 10 * NS_PER_S, first;
	int holes = 0;

	(void)state;
	fake_init(&f, 20 * NS_PER_S);
	f.constant = 1;
	/* Three fast ticks: shorter than two periods is held, but not if the recorder says it is a gap. */
	f.gaps[0] = (struct gap) {TIER_FAST, GAP_LATE, from, from + 3 * NS_PER_MS, 3};
	first = (from >> 17) - 20;
	f.n_gaps = 1;
	fetch(&f, 0, 17, first, cols, &sum);
	for (int i = 0; i < N; i++)
		holes += !cols[i].any;
	assert_in_range(holes, 12, 28);
	/* The gap of another tier does not concern this one. */
	fetch(&f, find(&f, CHANNEL_HOTTEST), 17, first, cols, &sum);
	for (int i = 0; i < N; i++)
		assert_true(cols[i].any);
	/* Seconds without a row are empty even where nobody told of a gap. */
	f.gaps[0].to_ns = from + NS_PER_S;
	fetch(&f, 0, 24, (from >> 24) + 2, cols, &sum);
	assert_false(cols[0].any);
	assert_false(cols[50].any);
	assert_true(cols[60].any);
}

static void columns_do_not_shimmer(void **state)
{
	static struct fake f;
	size_t channels[3];

	(void)state;
	fake_init(&f, 40 * NS_PER_S);
	channels[0] = 0;
	channels[1] = find(&f, CHANNEL_RAIL_POWER);
	channels[2] = find(&f, CHANNEL_HOTTEST);
	for (int zoom = ZOOM_MIN; zoom < 31; zoom++)
		for (int k = 0; k < 3; k++) {
			struct spark_column before[N], after[N];
			struct chart_summary sum;
			int64_t first = (FAKE_START + 15 * NS_PER_S) >> zoom;

			fetch(&f, channels[k], zoom, first, before, &sum);
			fetch(&f, channels[k], zoom, first + 1, after, &sum);
			for (int i = 1; i < N; i++) {
				assert_int_equal(before[i].any, after[i - 1].any);
				if (before[i].any) {
					assert_true(before[i].min == after[i - 1].min);
					assert_true(before[i].max == after[i - 1].max);
					assert_true(before[i].mean == after[i - 1].mean);
				}
			}
		}
}

/* A column of several columns of the timeline has what all of them have. */
static void columns_merge(void **state)
{
	static struct fake f;
	struct spark_column fine[N], coarse[N];
	struct bin *bins = calloc(CHART_BINS(N), sizeof(*bins));
	struct chart_summary sum;

	(void)state;
	fake_init(&f, 40 * NS_PER_S);
	for (int merge = 1; merge <= MERGE_MAX; merge++) {
		int64_t first = ((FAKE_START + 15 * NS_PER_S) >> 24) / merge;
		struct chart_axis axis = {24, merge, first, N / merge, NULL, 0};

		chart_columns(&f.timeline, 0, &axis, bins, coarse, &sum);
		fetch(&f, 0, 24, first * merge, fine, &sum);
		for (int i = 0; i < N / merge; i++) {
			double min = INFINITY, max = -INFINITY, mean = 0;

			for (int k = i * merge; k < (i + 1) * merge; k++) {
				assert_true(fine[k].any);
				min = fmin(min, fine[k].min);
				max = fmax(max, fine[k].max);
				mean += fine[k].mean / merge;
			}
			assert_true(coarse[i].any && coarse[i].min == min && coarse[i].max == max);
			assert_true(fabs(coarse[i].mean - mean) < 1e-9);
		}
	}
	free(bins);
}

/* 95 with one drop of a millisecond is a notch; half of the time is none. */
static void a_notch_is_short(void **state)
{
	static struct fake f;
	struct chart_axis axis = {27, 4, 0, 8, NULL, 0};
	struct bin *bins = calloc(CHART_BINS(N), sizeof(*bins));
	struct spark_column cols[N];
	struct chart_summary sum;
	int notches = 0;

	(void)state;
	fake_init(&f, 20 * NS_PER_S);
	f.constant = 1;
	f.spike_ns = FAKE_START + 7 * NS_PER_S + 123 * NS_PER_MS;
	axis.first = (f.spike_ns >> 29) - 4;
	chart_columns(&f.timeline, 0, &axis, bins, cols, &sum);
	/* The fake's spike leaps up from a low level: no notch, however wide the swing. */
	chart_notches(&f.timeline, 0, &axis, 100, cols);
	for (int i = 0; i < 8; i++)
		notches += cols[i].notch;
	assert_int_equal(notches, 0);
	f.inverted = true;
	chart_columns(&f.timeline, 0, &axis, bins, cols, &sum);
	chart_notches(&f.timeline, 0, &axis, 100, cols);
	for (int i = 0; i < 8; i++)
		notches += cols[i].notch;
	assert_int_equal(notches, 1);
	assert_true(cols[4].notch);
	/* A swing that is small on the scale is none. */
	chart_columns(&f.timeline, 0, &axis, bins, cols, &sum);
	chart_notches(&f.timeline, 0, &axis, 1000, cols);
	assert_false(cols[4].notch);
	free(bins);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_are_round),
		cmocka_unit_test(braille_is_golden),
		cmocka_unit_test(blocks_are_golden),
		cmocka_unit_test(ascii_is_golden),
		cmocka_unit_test(mean_and_band_share_a_cell),
		cmocka_unit_test(a_limit_is_a_line_where_the_chart_is_blank),
		cmocka_unit_test(a_notch_is_short),
		cmocka_unit_test(columns_merge),
		cmocka_unit_test(survives_any_column),
		cmocka_unit_test(a_passed_limit_colours_its_cell_alone),
		cmocka_unit_test(one_sample_shows_at_every_zoom),
		cmocka_unit_test(a_slow_tier_is_held_between_samples),
		cmocka_unit_test(a_gap_is_not_bridged),
		cmocka_unit_test(columns_do_not_shimmer),
	};

	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
