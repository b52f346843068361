/* The summary of a recording, from a stream whose numbers are known. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/summary.h"
#include "trace/log-writer.h"
#include "model/lateness.h"

#define MS NS_PER_MS

/* What comes behind the tally: everything arrives there, as it was. */
struct next {
	struct sink sink;
	int begun, ended, marks, gaps;
	uint64_t rows;
	const struct rows *last;
	int result;
};

static int next_begin(struct sink *s, const struct session *about, struct err *e)
{
	(void)about;
	(void)e;
	((struct next *)(void *)s)->begun++;
	return 0;
}

static void next_rows(struct sink *s, const struct rows *r)
{
	struct next *n = (struct next *)(void *)s;

	n->rows += r->n;
	n->last = r;
}

static void next_mark(struct sink *s, const struct mark *m)
{
	(void)m;
	((struct next *)(void *)s)->marks++;
}

static void next_gap(struct sink *s, const struct gap *g)
{
	(void)g;
	((struct next *)(void *)s)->gaps++;
}

static int next_end(struct sink *s, struct err *e)
{
	(void)e;
	((struct next *)(void *)s)->ended++;
	return ((struct next *)(void *)s)->result;
}

static const struct sink_ops next_ops = {next_begin, next_rows, next_mark, next_gap, next_end, NULL, NULL};

enum { GPU, POWER, CPU_ZONE, GPU_ZONE, ALERT, COUNT, NEVER, CHANNELS };

static struct channel channels[CHANNELS] = {
	[GPU] = {.name = "gpu.util", .kind = CHANNEL_GPU_UTIL, .tier = TIER_FAST},
	[POWER] = {.name = "power.total", .kind = CHANNEL_POWER_TOTAL, .tier = TIER_MEDIUM},
	[CPU_ZONE] = {.name = "temp.cpu", .label = "cpu", .kind = CHANNEL_TEMPERATURE, .tier = TIER_SLOW},
	[GPU_ZONE] = {.label = "gpu", .kind = CHANNEL_TEMPERATURE, .tier = TIER_SLOW, .column = 1},
	[ALERT] = {.label = "gpu-throttle-alert", .kind = CHANNEL_THROTTLE, .tier = TIER_SLOW, .column = 2},
	[COUNT] = {.label = "oc1", .kind = CHANNEL_THROTTLE_COUNT, .tier = TIER_SLOW, .column = 3},
	[NEVER] = {.label = "cv", .kind = CHANNEL_THROTTLE, .tier = TIER_SLOW, .column = 4},
};

static struct session session_of(size_t n)
{
	struct session s = {.channels = channels,
			    .n_channels = n,
			    .width = {1, 1, 5},
			    .hz = {1000, 100, 10},
			    .start.mono_ns = NS_PER_S};

	return s;
}

static void row(struct sink *s, enum tier tier, size_t width, int64_t ms, const double *values)
{
	int64_t t = NS_PER_S + ms * MS;
	struct rows r = {.tier = tier, .n = 1, .width = width, .t_ns = &t, .values = values};

	s->ops->rows(s, &r);
}

/* 2 s: power rises from 10 to 30 W and is missing for half a second, the alert
 * is on for 300 ms in two parts, the count goes up by 3. */
static void stream(struct sink *s)
{
	static const struct mark m = {.id = 1};
	static const struct gap g = {.missed = 2};

	for (int ms = 0; ms <= 2000; ms++) {
		double gpu = 50, mw = ms >= 1000 && ms < 1500 ? (double)NAN : 10000 + 10.0 * ms;
		double slow[5] = {40, NAN, 0, 7, NAN};

		if (ms != 700 && ms != 701)
			row(s, TIER_FAST, 1, ms, &gpu);
		if (ms % 10 == 0)
			row(s, TIER_MEDIUM, 1, ms, &mw);
		if (ms % 100)
			continue;
		slow[1] = ms == 1100 ? 71.25 : NAN;
		slow[2] = ms == 300 || ms == 400 || ms == 900;
		slow[3] = ms < 600 ? 7 : ms < 800 ? NAN : 10;
		row(s, TIER_SLOW, 5, ms, slow);
	}
	s->ops->mark(s, &m);
	s->ops->gap(s, &g);
}

static void begin(struct tally *t, struct next *n, size_t channels_n)
{
	static struct session about;
	struct err e;

	memset(n, 0, sizeof *n);
	n->sink.ops = &next_ops;
	about = session_of(channels_n);
	tally_init(t, &n->sink);
	assert_int_equal(t->sink.ops->begin(&t->sink, &about, &e), 0);
}

static struct clock_anchor clocks_then, clocks_now;

static char *text_of(struct tally *t)
{
	struct summary s = {.tally = t, .file = "run.bin", .bytes = 1234567, .marks = 1, .lost = 4};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	memcpy(s.rows, t->rows, sizeof s.rows);
	t->end_ns = t->start_ns + 2 * NS_PER_S; /* of a test clock */
	t->cpu_ns = 20 * MS;
	t->ran_ns = 2 * NS_PER_S;
	t->late[TIER_FAST] = 2;
	t->lost[TIER_SLOW] = 1;
	s.before.fast.n[lateness_step(1000)] = 10;
	s.after.fast.n[lateness_step(1000)] = 109;
	s.after.fast.n[lateness_step(5 * MS)] = 1;
	s.before.clocks = clocks_then;
	s.after.clocks = clocks_now;
	snprintf(s.priority, sizeof s.priority, "as a test has it");
	summary_print(&s, out);
	fclose(out);
	return text;
}

static void line(const char *text, const char *expected)
{
	if (!strstr(text, expected))
		print_error("no line \"%s\" in:\n%s", expected, text);
	assert_non_null(strstr(text, expected));
}

static void everything_is_told(void **state)
{
	struct tally t;
	struct next n;
	struct err e;
	char *text;

	(void)state;
	begin(&t, &n, CHANNELS);
	stream(&t.sink);
	n.result = -1; /* what comes behind decides how it ends */
	assert_int_equal(t.sink.ops->end(&t.sink, &e), -1);
	assert_int_equal(n.begun + n.ended + n.marks + n.gaps, 4);
	assert_int_equal(n.rows, 1999 + 201 + 21);

	text = text_of(&t);
	line(text, "nvmtop: recorded 2.0 s in run.bin (1.2 MB)\n");
	line(text, "  samples:    1999 fast, 201 medium, 21 slow; 2 late, 5 lost\n");
	line(text, "99 % within 1 us, all within 5.1 ms; longest interval 3.0 ms\n");
	/* Trapezoids over 0 .. 990 and 1500 .. 2000 ms: 14.8005 and 13.75 J. */
	line(text,
	     "  power:      mean 19.16 W, maximum 30.00 W, energy 28.55 J (measured 74 % of the time)\n");
	line(text, "  hottest:    gpu 71.2 C\n");
	line(text, "  throttling: gpu-throttle-alert for 300.0 ms, oc1 3 times\n");
	line(text, "  marks:      1\n");
	line(text, "  nvmtop:     1.00 % of a core, ");
	line(text, "; as a test has it\n");
	free(text);
	tally_free(&t);
}

/* A PC: there is no total. */
static void power_of_the_gpu_alone(void **state)
{
	static struct channel gpu = {.name = "gpu.power",
				     .kind = CHANNEL_RAIL_POWER,
				     .tier = TIER_SLOW,
				     .source = "NVML: power"};
	const double mw = 20000;
	struct session about = {.channels = &gpu,
				.n_channels = 1,
				.width = {0, 0, 1},
				.hz = {1000, 100, 10},
				.start.mono_ns = NS_PER_S};
	struct next n = {.sink.ops = &next_ops};
	struct tally t;
	struct err e;
	char *text;

	(void)state;
	tally_init(&t, &n.sink);
	assert_int_equal(t.sink.ops->begin(&t.sink, &about, &e), 0);
	for (int ms = 0; ms <= 2000; ms += 100)
		row(&t.sink, TIER_SLOW, 1, ms, &mw);
	text = text_of(&t);
	line(text, "  power:      mean 20.00 W, maximum 20.00 W, energy 40.00 J; of the GPU alone, by NVML\n");
	free(text);
	tally_free(&t);
}

static void what_was_not_measured_says_so(void **state)
{
	struct tally t;
	struct next n;
	char *text;

	(void)state;
	begin(&t, &n, 1);
	stream(&t.sink);
	text = text_of(&t);
	line(text, "  power:      not measured\n");
	line(text, "  hottest:    not measured\n");
	line(text, "  throttling: not measured\n");
	free(text);
	tally_free(&t);
}

static void clocks_that_leap(void **state)
{
	static const struct {
		int64_t mono, boot, real; /* ms later */
		const char *asleep, *set;
	} cases[] = {
		{2000, 2000, 2000, NULL, NULL},
		{2000, 2000, 2050, NULL, NULL}, /* kept right */
		{2000, 9500, 9500, "  suspended: 7.5 s, not counted in the times of the file\n", NULL},
		{2000, 2000, 3602000, NULL, "  clock: was set forward by 1:00:00; the file uses the time"},
		{2000, 4000, 1000, "  suspended: 2.0 s, ", "  clock: was set back by 3.0 s; the file uses"},
	};
	struct tally t;
	struct next n;

	(void)state;
	begin(&t, &n, 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		clocks_then = (struct clock_anchor) {5 * NS_PER_S, 1763000000 * NS_PER_S, 70 * NS_PER_S};
		clocks_now = clocks_then;
		clocks_now.mono_ns += cases[i].mono * MS;
		clocks_now.boot_ns += cases[i].boot * MS;
		clocks_now.real_ns += cases[i].real * MS;
		char *text = text_of(&t);

		if (cases[i].asleep)
			line(text, cases[i].asleep);
		else
			assert_null(strstr(text, "suspended"));
		if (cases[i].set)
			line(text, cases[i].set);
		else
			assert_null(strstr(text, "clock"));
		free(text);
	}
	clocks_now = clocks_then;
	tally_free(&t);
}

/* There, but nothing ever came of them: no 0 W, no 0 degrees. */
static void nothing_was_read(void **state)
{
	const double none[5] = {NAN, NAN, NAN, NAN, NAN};
	struct tally t;
	struct next n;
	char *text;

	(void)state;
	begin(&t, &n, CHANNELS);
	for (int ms = 0; ms <= 2000; ms += 10) {
		row(&t.sink, TIER_MEDIUM, 1, ms, none);
		row(&t.sink, TIER_SLOW, 5, ms, none);
	}
	text = text_of(&t);
	line(text, "  power:      not measured\n");
	line(text, "  hottest:    not measured\n");
	line(text, "  throttling: not measured\n");
	free(text);
	tally_free(&t);
}

/* A log without room for them: the rows that it drops are in no number. */
static void what_is_dropped_does_not_count(void **state)
{
	struct session about = session_of(CHANNELS);
	char dir[] = "/tmp/test-summary.XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/run.nvmt", dir);
	for (int room = 0; room < 2; room++) {
		struct err e;
		struct log_writer *w = log_writer_new(path, true, &e);
		struct tally t;

		assert_non_null(w);
		if (!room)
			log_writer_buffer(w, 1);
		tally_init(&t, log_writer_sink(w));
		tally_of_writer(&t, w);
		assert_int_equal(t.sink.ops->begin(&t.sink, &about, &e), 0);
		stream(&t.sink);
		t.sink.ops->end(&t.sink, &e);
		assert_int_equal(t.rows[TIER_FAST], room ? 1999 : 0);
		assert_int_equal(t.rows[TIER_MEDIUM], room ? 201 : 0);
		assert_int_equal(t.rows[TIER_SLOW], room ? 21 : 0);
		assert_true(room ? integral_get(&t.power.mj) > 0 : isnan(integral_get(&t.power.mj)));
		assert_true(t.ran_ns < 60 * NS_PER_S); /* of this test, and not of its clock */
		tally_free(&t);
		log_writer_free(w);
	}
	unlink(path);
	rmdir(dir);
}

/* Stopped for 0.7 s, by Ctrl-Z for instance: what was used meanwhile is not known. */
static void a_hole_has_no_energy(void **state)
{
	const double mw = 10000;
	struct tally t;
	struct next n;
	char *text;

	(void)state;
	begin(&t, &n, CHANNELS);
	for (int ms = 0; ms <= 2000; ms += 10)
		if (ms <= 1000 || ms >= 1700)
			row(&t.sink, TIER_MEDIUM, 1, ms, &mw);
	text = text_of(&t);
	line(text, "  power:      mean 10.00 W, maximum 10.00 W, energy 13.00 J (measured 65 % of the time)\n");
	free(text);
	tally_free(&t);
}

static void no_throttling_is_none(void **state)
{
	const double cool[5] = {40, 41, 0, 7, 0};
	struct tally t;
	struct next n;
	char *text;

	(void)state;
	begin(&t, &n, CHANNELS);
	for (int ms = 0; ms <= 2000; ms += 100)
		row(&t.sink, TIER_SLOW, 5, ms, cool);
	text = text_of(&t);
	line(text, "  hottest:    gpu 41.0 C\n");
	line(text, "  throttling: none\n");
	free(text);
	tally_free(&t);
}

/* Each lateness falls into a step that ends behind it, by a sixteenth at most from 2 us on. */
static void lateness_has_its_step(void **state)
{
	size_t last = 0;

	(void)state;
	for (int64_t ns = 0; ns < 100 * NS_PER_S; ns += 1 + ns / 50) {
		struct lateness l = {.n = {0}};
		size_t step = lateness_step(ns);
		int64_t end;

		assert_true(step >= last && step < LATENESS_STEPS);
		last = step;
		l.n[step] = 1;
		end = lateness_ns(&l, NULL, 1);
		assert_true(end > ns);
		assert_true(end - ns <= (ns < 2000 ? 125 : ns / 8 + 1));
	}
	assert_true(lateness_step(INT64_MAX) < LATENESS_STEPS);
	assert_int_equal(lateness_step(-5), 0);
}

static void shares_of_lateness(void **state)
{
	struct lateness l = {.n = {0}}, since = {.n = {0}};

	(void)state;
	assert_int_equal(lateness_ns(&l, NULL, 0.5), -1);
	since.n[lateness_step(90 * MS)] = l.n[lateness_step(90 * MS)] = UINT32_MAX; /* before it wraps */
	for (int i = 0; i < 100; i++)
		l.n[lateness_step(i < 50 ? 1000 : i < 99 ? 100000 : 10 * MS)]++;
	assert_true(lateness_ns(&l, &since, 0.5) > 1000 && lateness_ns(&l, &since, 0.5) <= 1250);
	assert_true(lateness_ns(&l, &since, 0.99) > 100000 && lateness_ns(&l, &since, 0.99) < 115000);
	assert_true(lateness_ns(&l, &since, 1) > 10 * MS && lateness_ns(&l, &since, 1) < 12 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_told), cmocka_unit_test(power_of_the_gpu_alone),    cmocka_unit_test(what_was_not_measured_says_so),
		cmocka_unit_test(nothing_was_read),      cmocka_unit_test(what_is_dropped_does_not_count),
		cmocka_unit_test(a_hole_has_no_energy),  cmocka_unit_test(no_throttling_is_none),
		cmocka_unit_test(clocks_that_leap),      cmocka_unit_test(lateness_has_its_step),
		cmocka_unit_test(shares_of_lateness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
