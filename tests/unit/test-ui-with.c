/* Two traces, one below the other: how they are aligned, the line below a row, and that its values
 * belong to the cursor's time. */
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
#include "ui/range-stats.h"
#include "ui/screen.h"

static struct fake other; /* B */
static struct ui_align where;

static void label(struct fake *f, int64_t after_s, const char *text)
{
	fake_mark(f, f->first_ns + after_s * NS_PER_S);
	snprintf(f->marks[f->n_marks - 1].label, sizeof(f->marks[0].label), "%s", text);
}

/* --- where they meet --- */

static int64_t met(struct fake *a, struct fake *b, const char *how, const char *text)
{
	struct ui_align align;
	struct err e;

	assert_int_equal(ui_align(&a->timeline, &b->timeline, how, &align, &e), 0);
	assert_string_equal(align.text, text);
	return align.shift_ns / NS_PER_S;
}

static void refused(struct fake *a, struct fake *b, const char *how, const char *says)
{
	struct ui_align align;
	struct err e;

	assert_int_equal(ui_align(&a->timeline, &b->timeline, how, &align, &e), -1);
	assert_int_equal(e.code, ERR_FAILED);
	if (!strstr(e.text, says))
		fail_msg("no \"%s\" in: %s", says, e.text);
}

static void they_meet_at_a_mark(void **state)
{
	struct fake a, b;

	(void)state;
	fake_init(&a, 60 * NS_PER_S);
	fake_init(&b, 60 * NS_PER_S);
	assert_int_equal(met(&a, &b, NULL, "aligned at the start: no mark in common"), 0);
	fake_mark(&a, FAKE_START + 9 * NS_PER_S);
	assert_int_equal(met(&a, &b, NULL, "aligned at the start: no mark in common"), 0);
	label(&b, 2, "warm-up");
	/* The same mark number is better than nothing. */
	assert_int_equal(met(&a, &b, NULL, "aligned at mark 1"), 7);
	label(&a, 20, "load");
	label(&a, 21, "late");
	label(&b, 5, "late");
	label(&b, 50, "load");
	label(&b, 55, "load");
	/* The first of A's labels that B has, aligned with its first occurrence there. */
	assert_int_equal(met(&a, &b, NULL, "aligned at the mark \"load\""), -30);
	assert_int_equal(met(&a, &b, "late", "aligned at the mark \"late\""), 16);
	assert_int_equal(met(&a, &b, "m3", "aligned at mark 3"), 21 - 50);
	assert_int_equal(met(&a, &b, "M1", "aligned at mark 1"), 7);
	assert_int_equal(met(&a, &b, "start", "aligned at the start"), 0);
	refused(&a, &b, "m4", "only the trace beside");
	refused(&b, &a, "m4", "only the replayed");
	refused(&a, &b, "m5x", "neither");
	refused(&a, &b, "m0", "neither");
	refused(&a, &b, "", "neither");
	refused(&a, &b, "warm-up", "only the trace beside");
	refused(&a, &b, "\x1b[31m", "--align ?[31m: neither");
	/* A mark may have this name. */
	label(&a, 30, "start");
	label(&b, 56, "start");
	label(&a, 31, "m1");
	label(&b, 31, "m1");
	assert_int_equal(met(&a, &b, "start", "aligned at the mark \"start\""), -26);
	assert_int_equal(met(&a, &b, "m1", "aligned at the mark \"m1\""), 0);
}

static void unnamed_marks_agree_by_number(void **state)
{
	struct fake a, b;

	(void)state;
	fake_init(&a, 60 * NS_PER_S);
	fake_init(&b, 60 * NS_PER_S);
	for (int i = 0; i < 3; i++) {
		fake_mark(&a, FAKE_START + (10 + i) * NS_PER_S);
		fake_mark(&b, FAKE_START + (20 + 2 * i) * NS_PER_S);
	}
	assert_int_equal(met(&a, &b, NULL, "aligned at mark 1"), -10);
	assert_int_equal(met(&a, &b, "m3", "aligned at mark 3"), 12 - 24);
	/* Their starts differ. */
	b.first_ns += 5 * NS_PER_S;
	assert_int_equal(met(&a, &b, "start", "aligned at the start"), -5);
	/* One of them is empty. */
	b.last_ns = b.first_ns - 1;
	assert_int_equal(met(&a, &b, "m3", ""), 0);
}

/* --- what stands there --- */

static void under(struct bench *b, int w, int h, enum charset cs, int64_t shift_ns)
{
	start(b, w, h, false, cs);
	where = (struct ui_align) {.shift_ns = shift_ns, .text = "aligned somehow"};
	b->scene.with = &other.timeline;
	b->scene.with_name = "/traces/y.nvmt";
	b->scene.align = &where;
	ui_reset(b->ui, &b->scene);
	draw(b);
}

/* The line below the row with that name. */
static const char *below(const struct bench *b, const char *name)
{
	for (int y = 0; y + 1 < b->canvas.h; y++) {
		const char *text = line(b, y);

		text += strspn(text, " ");
		if (!strncmp(text, name, strlen(name)) && text[strlen(name)] == ' ')
			return line(b, y + 1);
	}
	fail_msg("no row %s in\n%s", name, b->text);
	return NULL;
}

static size_t channel_of(const struct fake *f, enum channel_kind kind)
{
	size_t i = 0;

	while (f->channels[i].kind != kind)
		i++;
	return i;
}

/* "   B   mean +12 %   45.6 %" */
static void assert_value(struct bench *b, const char *name, double value, double within)
{
	double d, v = NAN;
	const char *text = below(b, name);

	if (sscanf(text, " B mean %lf %% %lf", &d, &v) != 2 || fabs(v - value) > within)
		fail_msg("expected %.2f, got: %s", value, text);
}

static void seek(struct bench *b, double s)
{
	ui_seek(b->ui, &b->scene, (int64_t)(s * 1e9));
	draw(b);
}

static void values_are_of_the_same_moment(void **state)
{
	const int64_t shifts[] = {0, 7 * NS_PER_S, -13 * NS_PER_S, 123456789};
	size_t gpu, power, heat;
	struct bench b;

	(void)state;
	fake_init(&other, 100 * NS_PER_S);
	gpu = channel_of(&other, CHANNEL_GPU_UTIL);
	power = channel_of(&other, CHANNEL_POWER_TOTAL);
	heat = channel_of(&other, CHANNEL_HOTTEST);
	for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
		under(&b, 120, 40, CHARSET_BRAILLE, shifts[i]);
		assert_shows(&b, "A x.nvmt");
		assert_shows(&b, " B  y.nvmt   aligned somehow");
		for (double s = 20; s < 80; s += 27.3) {
			int64_t at = FAKE_START + (int64_t)(s * 1e9);
			double v;

			seek(&b, s);
			v = fake_read(&other.timeline, gpu, at - shifts[i], NULL);
			assert_value(&b, "GPU", v, 0.051);
			v = fake_read(&other.timeline, power, at - shifts[i], NULL);
			assert_value(&b, "Power", v / 1000, 0.051);
			v = fake_read(&other.timeline, heat, at - shifts[i], NULL);
			assert_value(&b, "Hottest", v, 0.051);
		}
		stop(&b);
	}
}

/* The limit of the hottest zone colours B in the first picture as in the next one. */
static void colours_are_those_of_the_limit(void **state)
{
	struct cell *first;
	struct bench b;
	size_t n;

	(void)state;
	fake_init(&other, 100 * NS_PER_S);
	under(&b, 120, 40, CHARSET_BRAILLE, 0);
	for (size_t i = 0; i < b.fake.about.n_channels; i++)
		if (b.fake.channels[i].kind == CHANNEL_TEMPERATURE)
			b.fake.channels[i].warn = 1;
	ui_reset(b.ui, &b.scene);
	draw(&b);
	n = (size_t)(b.canvas.w * b.canvas.h);
	first = malloc(n * sizeof(*first));
	assert_non_null(first);
	memcpy(first, b.canvas.cells, n * sizeof(*first));
	draw(&b);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(first[i].style, b.canvas.cells[i].style);
	free(first);
	stop(&b);
}

/* The one spike in B's chart is at its time on A's clock. */
static void columns_are_of_the_same_moment(void **state)
{
	struct bench b;

	(void)state;
	for (int zoom = 0; zoom < 14; zoom += 4) {
		int64_t shift = -INT64_C(8765432109), spike;
		int found = -1, last = -1, head = -1, y = 0;

		fake_init(&other, 100 * NS_PER_S);
		other.constant = 1;
		other.spike_ns = FAKE_START + 65 * NS_PER_S;
		spike = other.spike_ns + shift;
		under(&b, 120, 40, CHARSET_BLOCKS, shift);
		b.fake.constant = 1;
		seek(&b, (double)(spike - FAKE_START) / 1e9);
		for (int i = 0; i < zoom; i++)
			press(&b, '+', 0);
		while (b.canvas.cells[y * 120 + 3].ch[0] != L'B' || b.canvas.cells[y * 120 + 1].ch[0] == L'B')
			y++;
		for (int x = 40; x < 120; x++) {
			if (b.canvas.cells[y * 120 + x].ch[0] == 0x2588 || b.canvas.cells[y * 120 + x].back)
				found = found < 0 ? x : found, last = x;
			if (b.canvas.cells[2 * 120 + x].ch[0] == 0x25BC)
				head = x;
			/* A has no value there. */
			assert_true(b.canvas.cells[(y - 1) * 120 + x].ch[0] != 0x2588);
		}
		/* At zooms finer than the samples, one is held for up to two of its own columns. */
		if (found < 0 || head < 0 || found < head - 1 || found > head + 1 ||
		    last > found + (zoom > 8 ? 4 : 0))
			fail_msg("zoom %d: spike at %d..%d, cursor at %d\n%s", zoom, found, last, head,
				 b.text);
		stop(&b);
	}
}

static void statistics_are_of_the_selection(void **state)
{
	int64_t shift = 7 * NS_PER_S;
	struct bench b;
	char mean[32];
	struct span span, a;

	(void)state;
	fake_init(&other, 100 * NS_PER_S);
	other.exact = true;
	under(&b, 120, 40, CHARSET_BRAILLE, shift);
	seek(&b, 20);
	press(&b, 'v', 0);
	seek(&b, 24);
	span_read(&other.timeline, 0, FAKE_START + 20 * NS_PER_S - shift, FAKE_START + 24 * NS_PER_S - shift,
		  &span);
	assert_true(span.n > 100);
	snprintf(mean, sizeof(mean), " %.0f ", span.mean);
	if (!strstr(below(&b, "GPU"), mean))
		fail_msg("no mean %s in: %s", mean, below(&b, "GPU"));
	/* And its difference from A. */
	span_read(&b.fake.timeline, 0, FAKE_START + 20 * NS_PER_S, FAKE_START + 24 * NS_PER_S, &a);
	snprintf(mean, sizeof(mean), " mean %+.*f %%", fabs(span.mean / a.mean - 1) < 0.0995 ? 1 : 0,
		 100 * (span.mean / a.mean - 1));
	if (!strstr(below(&b, "GPU"), mean))
		fail_msg("no difference %s in: %s", mean, below(&b, "GPU"));
	stop(&b);
}

static void what_takes_longer_is_seen_to_its_end(void **state)
{
	struct bench b;

	(void)state;
	fake_init(&other, 150 * NS_PER_S);
	under(&b, 120, 40, CHARSET_ASCII, -10 * NS_PER_S);
	/* One starts where both have data. */
	assert_shows(&b, "1:40.0 / 2:20.0");
	assert_true(strstr(below(&b, "GPU"), " -- ") == NULL);
	press(&b, K_END, 0);
	assert_shows(&b, "2:20.0 / 2:20.0");
	assert_true(strstr(line(&b, 5), "--") != NULL || strstr(line(&b, 4), "--") != NULL);
	assert_true(strstr(below(&b, "GPU"), "%") != NULL);
	stop(&b);
	/* The part before A is mentioned, not drawn. */
	under(&b, 120, 40, CHARSET_ASCII, -75 * NS_PER_S);
	assert_shows(&b, "begins 1:15.0 before A");
	assert_shows(&b, "1:15.0 / 1:40.0");
	stop(&b);
	/* A few milliseconds are not mentioned. */
	under(&b, 120, 40, CHARSET_ASCII, -40 * NS_PER_MS);
	assert_hides(&b, "before A");
	stop(&b);
	/* Before B began it has no data. */
	under(&b, 120, 40, CHARSET_ASCII, 30 * NS_PER_S);
	seek(&b, 5);
	assert_true(strstr(below(&b, "GPU"), "--") != NULL);
	stop(&b);
}

static void signals_are_matched_by_name_or_kind(void **state)
{
	struct bench b;
	size_t i;

	(void)state;
	fake_init(&other, 100 * NS_PER_S);
	under(&b, 120, 60, CHARSET_ASCII, 0);
	assert_hides(&b, "only in");
	stop(&b);
	/* Another board: the total and a rail have other names, and one signal has another unit. */
	snprintf(other.channels[channel_of(&other, CHANNEL_POWER_TOTAL)].name, 48, "module.power");
	i = channel_of(&other, CHANNEL_RAIL_POWER);
	snprintf(other.channels[i].name, 48, "VDD_IN.power");
	other.channels[channel_of(&other, CHANNEL_FAN)].unit = UNIT_PERCENT;
	i = channel_of(&other, CHANNEL_EMC_UTIL);
	snprintf(other.channels[i].missing, sizeof(other.channels[i].missing), "only root may");
	under(&b, 120, 60, CHARSET_ASCII, 0);
	assert_shows(&b, "only in A: 3, only in B: 2 (see Board)");
	assert_true(strstr(below(&b, "Power"), " B ") != NULL);
	assert_true(strstr(below(&b, "GPU_SOC"), " B ") == NULL);
	assert_true(strstr(below(&b, "EMC"), "only root may") != NULL);
	snprintf(b.fake.channels[0].missing, sizeof(b.fake.channels[0].missing), "asleep");
	draw(&b);
	assert_shows(&b, "asleep");
	assert_true(strstr(below(&b, "GPU"), "%") != NULL);
	press(&b, '9', 0);
	assert_shows(&b, "Only in B");
	assert_shows(&b, "VDD_IN.power");
	stop(&b);
}

static void it_can_be_moved(void **state)
{
	struct bench b;
	int64_t at;
	double v;

	(void)state;
	fake_init(&other, 100 * NS_PER_S);
	under(&b, 120, 40, CHARSET_BRAILLE, 0);
	seek(&b, 41.3);
	at = FAKE_START + INT64_C(41300000000);
	press(&b, '}', 0);
	press(&b, '}', 0);
	press(&b, '}', 0);
	assert_shows(&b, "moved by +");
	at -= 3 * viewport_column_ns(&b.ui->vp);
	v = fake_read(&other.timeline, 0, at, NULL);
	assert_value(&b, "GPU", v, 0.051);
	for (int i = 0; i < 4; i++)
		press(&b, '{', 0);
	assert_shows(&b, "moved by -");
	stop(&b);
	start(&b, 120, 40, false, CHARSET_BRAILLE);
	press(&b, '}', 0);
	assert_shows(&b, "--with FILE");
	stop(&b);
}

/* Only checks that nothing breaks. */
static void any_size_and_any_time(void **state)
{
	const int64_t far = INT64_C(1) << 61;
	const int64_t shifts[] = {0, 500 * NS_PER_S, -500 * NS_PER_S, far, -far, 1};
	const char keys[] = "+}{-v]}[0,.9}415LV";
	struct bench b;

	(void)state;
	fake_init(&other, 3 * NS_PER_S);
	for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++)
		for (int w = 1; w < 210; w = w * 2 + 7)
			for (int h = 1; h < 70; h = h * 2 + 3) {
				under(&b, w, h, (enum charset)((w + h) % 3), shifts[i]);
				stop(&b);
			}
	for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
		under(&b, 90, 30, CHARSET_BRAILLE, shifts[i]);
		type(&b, keys);
		stop(&b);
	}
	/* A trace without samples. */
	other.last_ns = other.first_ns - 1;
	under(&b, 100, 30, CHARSET_BRAILLE, 0);
	assert_shows(&b, "B  y.nvmt   This trace has no samples");
	type(&b, keys);
	stop(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_meet_at_a_mark),
		cmocka_unit_test(unnamed_marks_agree_by_number),
		cmocka_unit_test(values_are_of_the_same_moment),
		cmocka_unit_test(colours_are_those_of_the_limit),
		cmocka_unit_test(columns_are_of_the_same_moment),
		cmocka_unit_test(statistics_are_of_the_selection),
		cmocka_unit_test(what_takes_longer_is_seen_to_its_end),
		cmocka_unit_test(signals_are_matched_by_name_or_kind),
		cmocka_unit_test(it_can_be_moved),
		cmocka_unit_test(any_size_and_any_time),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
