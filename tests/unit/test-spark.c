/* Columns to glyphs, and timelines to columns. */
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
#include "ui/meter.h"
#include "ui/spark.h"
#include "ui-fake.h"

static struct spark_look percent(enum charset cs)
{
	return (struct spark_look) {.charset = cs, .hue = HUE_GPU, .lo = 0, .hi = 100, .limit = NAN};
}

static void assert_spark(enum charset cs, int w, int h, const struct spark_column *cols, const char *expected)
{
	struct spark_look look = percent(cs);
	struct canvas c = {0};

	canvas_resize(&c, w, h);
	spark_draw(&c, 0, 0, w, h, &look, cols);
	assert_canvas(&c, expected);
	canvas_free(&c);
}

static void assert_cell(const struct canvas *c, int x, int y, wchar_t ch, enum style style, enum style back)
{
	const struct cell *p = &c->cells[y * c->w + x];

	assert_int_equal(p->ch[0], ch);
	assert_int_equal(p->style, style);
	assert_int_equal(p->back, back);
}

#define BAND(low, mid, high)                                                                                 \
	{                                                                                                    \
		.min = (low), .mean = (mid), .max = (high), .n = 1, .any = true                              \
	}
#define FLAT(v) BAND(v, v, v)
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

static void shades_brighten_to_the_top(void **state)
{
	(void)state;
	for (int n = 1; n <= 100; n++)
		for (int k = 0; k < n; k++) {
			assert_in_range(spark_shade(k, n), 0, SHADES - 1);
			assert_true(!k || spark_shade(k, n) >= spark_shade(k - 1, n));
		}
	assert_true(spark_shade(0, SHADES) == 0 && spark_shade(SHADES - 1, SHADES) == SHADES - 1);
}

static void braille_is_golden(void **state)
{
	static const struct spark_column ramp[] = {FLAT(0), FLAT(33), FLAT(67), FLAT(100)};
	static const struct spark_column holes[] = {NOTHING, FLAT(0), FLAT(100), NOTHING, NOTHING, NOTHING};
	/* A jump from a low level, a drop from a high one. */
	static const struct spark_column odd[] = {BAND(0, 1, 100), BAND(0, 99, 100)};

	(void)state;
	assert_spark(CHARSET_BRAILLE, 2, 1, ramp, "⣠⣾\n");
	assert_spark(CHARSET_BRAILLE, 3, 1, holes, "⢀⡇\n");
	assert_spark(CHARSET_BRAILLE, 1, 1, odd, "⣉\n");
	assert_spark(CHARSET_BRAILLE, 2, 2, ramp, " ⣰\n⣰⣿\n");
	assert_spark(CHARSET_BRAILLE, 1, 2, odd, "⢲\n⣸\n");
}

static void blocks_are_golden(void **state)
{
	static const struct spark_column cols[] = {FLAT(0), FLAT(50), NOTHING, FLAT(100), BAND(0, 2, 100)};

	(void)state;
	assert_spark(CHARSET_BLOCKS, 5, 1, cols, "▁▅ █▒\n");
	assert_spark(CHARSET_BLOCKS, 5, 2, cols, "   ▇░\n▁█ █▒\n");
}

static void ascii_is_golden(void **state)
{
	static const struct spark_column cols[] = {
		FLAT(0),  FLAT(15),  FLAT(29), FLAT(43),        FLAT(57),         FLAT(72),
		FLAT(86), FLAT(100), NOTHING,  BAND(0, 1, 100), BAND(0, 50, 100), BAND(0, 99, 100)};

	(void)state;
	assert_spark(CHARSET_ASCII, 12, 1, cols, "_.-=+*%# ^|v\n");
	assert_spark(CHARSET_ASCII, 12, 2, cols, "    ==## :=#\n==###### =##\n");
}

/* Three lines, 23 levels: a mean of 12 fills the first line and four eighths of the second. */
static void a_cell_holds_mean_and_band(void **state)
{
	struct spark_column col = BAND(0, 50, 100);
	struct spark_look look = percent(CHARSET_BLOCKS);
	struct canvas c = {0};

	(void)state;
	canvas_resize(&c, 1, 3);
	spark_draw(&c, 0, 0, 1, 3, &look, &col);
	assert_cell(&c, 0, 2, 0x2588, STYLE_MEAN(HUE_GPU, spark_shade(0, 3)), 0);
	assert_cell(&c, 0, 1, 0x2584, STYLE_MEAN(HUE_GPU, spark_shade(1, 3)),
		    STYLE_BAND(HUE_GPU, spark_shade(1, 3)));
	assert_cell(&c, 0, 0, 0x2587, STYLE_BAND(HUE_GPU, spark_shade(2, 3)), 0);
	/* A band that ends in the cell of the mean is rounded up to the cell; one of an eighth is
	 * omitted. */
	col.max = 60;
	canvas_clear(&c);
	spark_draw(&c, 0, 0, 1, 3, &look, &col);
	assert_cell(&c, 0, 1, 0x2584, STYLE_MEAN(HUE_GPU, spark_shade(1, 3)),
		    STYLE_BAND(HUE_GPU, spark_shade(1, 3)));
	assert_cell(&c, 0, 0, L' ', STYLE_TEXT, 0);
	col.max = 53;
	canvas_clear(&c);
	spark_draw(&c, 0, 0, 1, 3, &look, &col);
	assert_cell(&c, 0, 1, 0x2584, STYLE_MEAN(HUE_GPU, spark_shade(1, 3)), 0);
	canvas_free(&c);
}

static void a_notch_is_a_dark_eighth_at_the_minimum(void **state)
{
	struct spark_column col = BAND(40, 90, 100);
	struct spark_look look = percent(CHARSET_BLOCKS);
	struct canvas c = {0};

	(void)state;
	canvas_resize(&c, 1, 3);
	for (int notch = 0; notch < 2; notch++) {
		col.notch = notch;
		canvas_clear(&c);
		spark_draw(&c, 0, 0, 1, 3, &look, &col);
		assert_cell(&c, 0, 2, 0x2588, STYLE_MEAN(HUE_GPU, spark_shade(0, 3)), 0);
		if (notch)
			assert_cell(&c, 0, 1, 0x2581, STYLE_BAND(HUE_GPU, spark_shade(1, 3)),
				    STYLE_MEAN(HUE_GPU, spark_shade(1, 3)));
		else
			assert_cell(&c, 0, 1, 0x2588, STYLE_MEAN(HUE_GPU, spark_shade(1, 3)), 0);
	}
	canvas_free(&c);
}

static void a_limit_is_dotted_where_the_chart_is_blank(void **state)
{
	static const struct spark_column cols[] = {FLAT(10), NOTHING, FLAT(10), NOTHING, FLAT(95), NOTHING};
	struct canvas c = {0};

	(void)state;
	for (int cs = 0; cs < 3; cs++) {
		struct spark_look look = percent((enum charset)cs);
		int per = spark_per_cell(look.charset);

		look.limit = 90;
		canvas_resize(&c, 6 / per, 3);
		spark_draw(&c, 0, 0, 6 / per, 3, &look, cols);
		for (int x = 0; x < 6 / per; x++) {
			const struct cell *p = &c.cells[x];

			if (x * per == 4)
				assert_true(p->style >= STYLE_SHADES);
			else
				assert_cell(&c, x, 0, cs == CHARSET_ASCII ? L'-' : 0x2508, STYLE_LIMIT, 0);
		}
		/* Not outside the scale, and not over the only line. */
		for (int outside = 0; outside < 3; outside++) {
			look.limit = outside == 0 ? 101 : outside == 1 ? -1 : 90;
			canvas_clear(&c);
			spark_draw(&c, 0, 0, 6 / per, outside == 2 ? 1 : 3, &look, cols);
			for (int i = 0; i < c.w * c.h; i++)
				assert_int_not_equal(c.cells[i].style, STYLE_LIMIT);
		}
	}
	canvas_free(&c);
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
				struct spark_look look = {.charset = (enum charset)cs,
							  .lo = odd[a % 7],
							  .hi = odd[a / 7 % 7],
							  .limit = odd[a / 49]};
				struct spark_column cols[4] = {BAND(odd[a % 7], odd[a / 7 % 7], odd[a / 49]),
							       NOTHING, FLAT(5), BAND(1, 2, 3)};

				cols[0].notch = a % 2;
				spark_draw(&c, 0, 0, 2, h, &look, cols);
			}
	canvas_free(&c);
}

static void a_passed_limit_colours_its_columns_alone(void **state)
{
	static const struct spark_column cols[] = {FLAT(90), FLAT(90), FLAT(90),
						   FLAT(90), FLAT(90), FLAT(90)};
	static const unsigned char level[] = {ALARM_NONE, ALARM_NONE, ALARM_NONE,
					      ALARM_WARN, ALARM_CRIT, ALARM_WARN};
	static const enum hue of_level[] = {HUE_GPU, HUE_WARN, HUE_ALERT};
	struct canvas c = {0};

	(void)state;
	canvas_resize(&c, 6, 3);
	for (int cs = 0; cs < 3; cs++)
		for (int h = 1; h <= 3; h++) {
			struct spark_look look = percent((enum charset)cs);
			int per = spark_per_cell(look.charset);

			look.level = level;
			canvas_clear(&c);
			spark_draw(&c, 0, 0, 6 / per, h, &look, cols);
			for (int i = 0; i < 6 / per * h; i++) {
				int x = i % (6 / per), y = i / (6 / per);
				/* With two columns per cell, the worse one counts. */
				enum hue hue = of_level[per == 1 ? level[x] : x];

				assert_int_equal(c.cells[y * 6 + x].style,
						 STYLE_MEAN(hue, spark_shade(h - 1 - y, h)));
			}
		}
	canvas_free(&c);
}

static void bars_are_as_long_as_their_part(void **state)
{
	static const struct {
		double part;
		int full;
	} bars[] = {{0, 0},    {-1, 0},  {NAN, 0}, {-INFINITY, 0}, {0.001, 0},
		    {0.02, 1}, {0.5, 5}, {1, 10},  {INFINITY, 10}};
	struct canvas c = {0};

	(void)state;
	canvas_resize(&c, 12, 1);
	for (size_t i = 0; i < sizeof(bars) / sizeof(bars[0]); i++)
		for (int alarm = ALARM_NONE; alarm <= ALARM_CRIT; alarm++) {
			enum hue hue = alarm == ALARM_CRIT ? HUE_ALERT : alarm ? HUE_WARN : HUE_POWER;

			canvas_clear(&c);
			meter_draw(&c, CHARSET_BLOCKS, 1, 0, 10, bars[i].part, HUE_POWER, (enum alarm)alarm);
			for (int x = 0; x < 10; x++)
				assert_cell(&c, x + 1, 0, 0x25A0,
					    x < bars[i].full ? STYLE_MEAN(hue, spark_shade(x, 10))
							     : STYLE_TRACK,
					    0);
			assert_cell(&c, 0, 0, L' ', STYLE_TEXT, 0);
			assert_cell(&c, 11, 0, L' ', STYLE_TEXT, 0);
		}
	canvas_clear(&c);
	meter_draw(&c, CHARSET_ASCII, 0, 0, 10, 0.3, HUE_CPU, ALARM_NONE);
	assert_canvas(&c, "###.......\n");
	canvas_clear(&c);
	meter_draw(&c, CHARSET_ASCII, 0, 0, -3, 0.3, HUE_CPU, ALARM_NONE);
	assert_canvas(&c, "\n");
	canvas_free(&c);
}

/* ---- from a timeline ---- */

#define N 64

static struct chart_axis axis_at(struct fake *f, int zoom, int merge, int64_t first)
{
	return (struct chart_axis) {
		.zoom = zoom, .merge = merge, .first = first, .n = N, .gaps = f->gaps, .n_gaps = f->n_gaps};
}

static void fetch_merged(struct fake *f, size_t channel, int zoom, int merge, int64_t first,
			 struct spark_column out[N], struct chart_summary *sum)
{
	struct chart_axis axis = axis_at(f, zoom, merge, first);
	struct bin *bins = calloc(CHART_BINS(N), sizeof(*bins));

	chart_columns(&f->timeline, channel, &axis, bins, out, sum);
	free(bins);
}

static void fetch(struct fake *f, size_t channel, int zoom, int64_t first, struct spark_column out[N],
		  struct chart_summary *sum)
{
	fetch_merged(f, channel, zoom, 1, first, out, sum);
}

static size_t find(const struct fake *f, enum channel_kind kind)
{
	size_t i = 0;

	while (f->channels[i].kind != kind)
		i++;
	return i;
}

static bool unlike(const struct cell *a, const struct cell *b)
{
	return a->ch[0] != b->ch[0] || a->style != b->style || a->back != b->back;
}

static void one_sample_shows_at_every_zoom(void **state)
{
	static struct fake f;

	(void)state;
	fake_init(&f, 20 * NS_PER_S);
	f.constant = 1;
	f.spike_ns = FAKE_START + 7 * NS_PER_S + 123 * NS_PER_MS;
	for (int zoom = ZOOM_MIN; zoom <= ZOOM_MAX; zoom++)
		for (int merge = 1; merge <= MERGE_MAX; merge += 3) {
			struct spark_column cols[N], quiet[N];
			struct chart_summary sum;

			fetch_merged(&f, 0, zoom, merge, (f.spike_ns >> zoom) / merge - 20, cols, &sum);
			assert_true(sum.max == 100);
			assert_true(cols[20].any && cols[20].max == 100);
			memcpy(quiet, cols, sizeof(cols));
			quiet[20].max = quiet[20].mean = 5;
			for (int look = 0; look < 3 * 3; look++) {
				struct spark_look l = percent((enum charset)(look % 3));
				int w = N / spark_per_cell(l.charset), h = 1 + 2 * (look / 3);
				struct canvas with = {0}, without = {0};

				canvas_resize(&with, w, h);
				canvas_resize(&without, w, h);
				spark_draw(&with, 0, 0, w, h, &l, cols);
				spark_draw(&without, 0, 0, w, h, &l, quiet);
				for (int x = 0; x < w; x++) {
					bool differs = false;

					for (int y = 0; y < h; y++)
						differs |= unlike(&with.cells[y * w + x],
								  &without.cells[y * w + x]);
					assert_int_equal(differs, x == 20 * w / N);
				}
				canvas_free(&with);
				canvas_free(&without);
			}
		}
}

/* Columns of the timeline, merged in the simplest way. */
static void columns_are_merged(void **state)
{
	static struct fake f;
	struct spark_column one[MERGE_MAX * N], cols[N];
	struct chart_summary sum, fine;

	(void)state;
	fake_init(&f, 40 * NS_PER_S);
	f.gaps[0] = (struct gap) {TIER_FAST, GAP_LOST, FAKE_START + 10 * NS_PER_S, FAKE_START + 20 * NS_PER_S,
				  10000};
	f.n_gaps = 1;
	for (int merge = 1; merge <= MERGE_MAX; merge++)
		for (int zoom = 20; zoom < 31; zoom++) {
			int64_t first = (FAKE_START + 9 * NS_PER_S) / ((int64_t)merge << zoom);
			double min = INFINITY, max = -INFINITY;

			for (int k = 0; k < merge; k++)
				fetch(&f, 1, zoom, first * merge + k * N, one + k * N, &fine);
			fetch_merged(&f, 1, zoom, merge, first, cols, &sum);
			for (int i = 0; i < N; i++) {
				struct spark_column all = NOTHING;
				double parts = 0;

				for (int k = 0; k < merge; k++) {
					const struct spark_column *part = &one[i * merge + k];

					if (!part->any)
						continue;
					all.min = all.any && all.min < part->min ? all.min : part->min;
					all.max = all.any && all.max > part->max ? all.max : part->max;
					all.mean += part->mean;
					all.any = true;
					parts++;
				}
				assert_int_equal(cols[i].any, all.any);
				if (!all.any)
					continue;
				assert_true(cols[i].min == all.min && cols[i].max == all.max);
				assert_true(fabs(cols[i].mean - all.mean / parts) < 1e-9);
				min = all.min < min ? all.min : min;
				max = all.max > max ? all.max : max;
			}
			if (min < max)
				assert_true(sum.min == min && sum.max == max && sum.mean > min &&
					    sum.mean < max);
		}
}

/* 90, except for some milliseconds from spike_ns on. */
static double drops(const struct fake *f, size_t channel, int64_t t_ns)
{
	(void)channel;
	return t_ns >= f->spike_ns && t_ns < f->spike_ns + (int64_t)f->gated * NS_PER_MS ? 2 : 90;
}

static void notches_are_short_drops(void **state)
{
	static struct fake f;

	(void)state;
	fake_init(&f, 20 * NS_PER_S);
	f.value = drops;
	for (int merge = 4; merge <= MERGE_MAX; merge++) {
		int64_t part = INT64_C(1) << 25, column = part * merge, ms = column / NS_PER_MS;
		const struct {
			int64_t ms;
			double range;
			bool notch;
		} cases[] = {{0, 100, false},      {1, 100, true},       {1, 400, false},
			     {ms / 4, 100, false}, {ms / 2, 100, false}, {12, 100, merge > 4}};
		struct chart_axis axis = axis_at(&f, 25, merge, f.first_ns / column + 20);

		/* Within a quarter of a part, so that 12 ms extend into the next. */
		f.spike_ns = ((axis.first + 20) * column + part / 3) / NS_PER_MS * NS_PER_MS;
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct spark_column cols[N];
			struct chart_summary sum;

			f.gated = (double)cases[i].ms;
			fetch_merged(&f, 0, axis.zoom, merge, axis.first, cols, &sum);
			chart_notches(&f.timeline, 0, &axis, cases[i].range, cols);
			for (int k = 0; k < N; k++)
				if (cols[k].notch != (k == 20 && cases[i].notch))
					fail_msg("%d ms in a column of %d", (int)cases[i].ms, (int)ms);
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
	/* After the last one it is held for two periods. */
	fetch(&f, slow, 22, ((f.last_ns >> 26) + 1) * 16, cols, &sum);
	assert_true(cols[0].any && cols[31].any);
	assert_false(cols[32].any || cols[N - 1].any);
	assert_true(isnan(sum.mean)); /* held values are not counted */
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
	/* Three fast ticks: less than two periods is held, unless the recorder reports a gap. */
	f.gaps[0] = (struct gap) {TIER_FAST, GAP_LATE, from, from + 3 * NS_PER_MS, 3};
	first = (from >> 17) - 20;
	f.n_gaps = 1;
	fetch(&f, 0, 17, first, cols, &sum);
	for (int i = 0; i < N; i++)
		holes += !cols[i].any;
	assert_in_range(holes, 12, 28);
	/* A gap of another tier does not matter. */
	fetch(&f, find(&f, CHANNEL_HOTTEST), 17, first, cols, &sum);
	for (int i = 0; i < N; i++)
		assert_true(cols[i].any);
	/* Seconds without a row are empty even without a reported gap. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_are_round),
		cmocka_unit_test(shades_brighten_to_the_top),
		cmocka_unit_test(braille_is_golden),
		cmocka_unit_test(blocks_are_golden),
		cmocka_unit_test(ascii_is_golden),
		cmocka_unit_test(a_cell_holds_mean_and_band),
		cmocka_unit_test(a_notch_is_a_dark_eighth_at_the_minimum),
		cmocka_unit_test(a_limit_is_dotted_where_the_chart_is_blank),
		cmocka_unit_test(survives_any_column),
		cmocka_unit_test(a_passed_limit_colours_its_columns_alone),
		cmocka_unit_test(bars_are_as_long_as_their_part),
		cmocka_unit_test(one_sample_shows_at_every_zoom),
		cmocka_unit_test(columns_are_merged),
		cmocka_unit_test(notches_are_short_drops),
		cmocka_unit_test(a_slow_tier_is_held_between_samples),
		cmocka_unit_test(a_gap_is_not_bridged),
		cmocka_unit_test(columns_do_not_shimmer),
	};

	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
