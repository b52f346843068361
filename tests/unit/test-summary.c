/* The summary of a recording with known numbers. */
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

#include "stream-to.h"
#include "record/summary.h"
#include "trace/log-out.h"
#include "model/lateness.h"

#define MS NS_PER_MS

enum { GPU, POWER, CPU_ZONE, GPU_ZONE, ALERT, COUNT, NEVER, CHANNELS };

static struct channel channels[CHANNELS] = {
	[GPU] = {.name = "gpu.util", .kind = CHANNEL_GPU_UTIL, .tier = TIER_FAST},
	[POWER] = {.name = "power.total", .kind = CHANNEL_POWER_TOTAL, .tier = TIER_MEDIUM, .unit = UNIT_MILLIWATT},
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

/* 2 s: power rises from 10 to 30 W and is missing for half a second, the alert is on for 300 ms in two
 * parts, the count rises by 3. */
static void stream(struct sink *s)
{
	static const struct mark m = {.id = 1};
	static const struct gap g = {.from_ns = NS_PER_S + 699 * MS, .to_ns = NS_PER_S + 702 * MS, .missed = 2},
				lost = {.cause = GAP_LOST,
					.tier = TIER_SLOW,
					.from_ns = 2 * NS_PER_S,
					.to_ns = 2 * NS_PER_S + 100 * MS,
					.missed = 1};

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
	s->ops->gap(s, &lost);
}

static char folder[] = "/tmp/test-summary.XXXXXX", path[64];
static struct session about;
static struct log_out *writer;
static struct sink *written;

static size_t buffer; /* 0: the usual one */

static struct sink *begin(const struct session *of)
{
	struct err e;

	about = *of;
	writer = log_out_new(path, true, &e);
	assert_non_null(writer);
	if (buffer)
		log_out_options(writer)->buffer = buffer;
	written = stream_begin(writer, &about, false);
	return written;
}

static struct sink *begin_with(size_t channels_n)
{
	struct session s = session_of(channels_n);

	return begin(&s);
}

static struct clock_anchor clocks_then = {.mono_ns = NS_PER_S}, clocks_now = {.mono_ns = 3 * NS_PER_S};

/* Also ends the summary. */
static char *text_of(void)
{
	struct summary s = {.about = &about, .writer = writer, .file = "run.bin"};
	char *text = NULL;
	size_t size;
	struct err e;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	stream_end(writer, written, &e);
	log_out_stats(writer, &s.written);
	s.written.bytes = 1234567;
	s.written.lost_rows += 4;
	s.after.cpu_ns = 20 * MS;
	s.before.stats.lateness.n[lateness_step(1000)] = 10;
	s.after.stats.lateness.n[lateness_step(1000)] = 109;
	s.after.stats.lateness.n[lateness_step(5 * MS)] = 1;
	s.before.clocks = clocks_then;
	s.after.clocks = clocks_now;
	snprintf(s.priority, sizeof s.priority, "as a test has it");
	summary_read(&s);
	summary_print(&s, out);
	summary_free(&s);
	fclose(out);
	log_out_free(writer);
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
	char *text;

	(void)state;
	stream(begin_with(CHANNELS));
	text = text_of();
	line(text, "nvmtop: recorded 2.0 s to run.bin (1.2 MB)\n");
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
}

/* A PC has no total. */
static void power_of_the_gpu_alone(void **state)
{
	static struct channel gpu = {.name = "gpu.power",
				     .label = "GPU",
				     .kind = CHANNEL_RAIL_POWER,
				     .tier = TIER_SLOW,
				     .unit = UNIT_MILLIWATT,
				     .source = "NVML: power"};
	const double mw = 20000;
	struct session of = {.channels = &gpu,
			     .n_channels = 1,
			     .width = {0, 0, 1},
			     .hz = {1000, 100, 10},
			     .start.mono_ns = NS_PER_S};
	struct sink *s = begin(&of);
	char *text;

	(void)state;
	for (int ms = 0; ms <= 2000; ms += 100)
		row(s, TIER_SLOW, 1, ms, &mw);
	text = text_of();
	line(text, "  power:      mean 20.00 W, maximum 20.00 W, energy 40.00 J; GPU alone\n");
	free(text);
}

/* Readings that came too late for their row, as the recording counts them. */
static void late_readings(void **state)
{
	static struct channel late = {.name = "nvmtop.late_readings", .label = "late readings", .kind = CHANNEL_COUNTER, .tier = TIER_SLOW};
	struct session of = {.channels = &late, .n_channels = 1, .width = {0, 0, 1}, .hz = {1000, 100, 10}, .start.mono_ns = NS_PER_S};
	struct sink *s = begin(&of);
	char *text;

	(void)state;
	for (int ms = 0; ms <= 2000; ms += 100)
		row(s, TIER_SLOW, 1, ms, &(double) {ms < 1000 ? 7 : 10});
	text = text_of();
	line(text, " lost; late readings: 3\n");
	free(text);
}

static void what_was_not_measured_says_so(void **state)
{
	char *text;

	(void)state;
	stream(begin_with(1));
	text = text_of();
	line(text, "  power:      not measured\n");
	line(text, "  hottest:    not measured\n");
	line(text, "  throttling: not measured\n");
	free(text);
}

static void clocks_that_leap(void **state)
{
	static const struct {
		int64_t mono, boot, real; /* in ms after the first */
		const char *asleep, *set;
	} cases[] = {
		{2000, 2000, 2000, NULL, NULL},
		{2000, 2000, 2050, NULL, NULL}, /* set correctly */
		{2000, 9500, 9500, "  suspended: 7.5 s, not counted in the times of the file\n", NULL},
		{2000, 2000, 3602000, NULL, "  clock: was set forward by 1:00:00; the file uses the time"},
		{2000, 4000, 1000, "  suspended: 2.0 s, ", "  clock: was set back by 3.0 s; the file uses"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin_with(1);
		clocks_then = (struct clock_anchor) {5 * NS_PER_S, 1763000000 * NS_PER_S, 70 * NS_PER_S};
		clocks_now = clocks_then;
		clocks_now.mono_ns += cases[i].mono * MS;
		clocks_now.boot_ns += cases[i].boot * MS;
		clocks_now.real_ns += cases[i].real * MS;
		char *text = text_of();

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
	clocks_then = (struct clock_anchor) {.mono_ns = NS_PER_S};
	clocks_now = (struct clock_anchor) {.mono_ns = 3 * NS_PER_S};
}

/* The channels exist but were never read: not 0 W, not 0 degrees. */
static void nothing_was_read(void **state)
{
	const double none[5] = {NAN, NAN, NAN, NAN, NAN};
	struct sink *s = begin_with(CHANNELS);
	char *text;

	(void)state;
	for (int ms = 0; ms <= 2000; ms += 10) {
		row(s, TIER_MEDIUM, 1, ms, none);
		row(s, TIER_SLOW, 5, ms, none);
	}
	text = text_of();
	line(text, "  power:      not measured\n");
	line(text, "  hottest:    not measured\n");
	line(text, "  throttling: not measured\n");
	free(text);
}

/* A log without room: each row is written or lost, and those that are dropped are in no sum. */
static void what_is_dropped_does_not_count(void **state)
{
	(void)state;
	for (int room = 0; room < 2; room++) {
		unsigned n[5];
		char *text;

		buffer = room ? 0 : 1;
		stream(begin_with(CHANNELS));
		text = text_of();
		buffer = 0;
		assert_int_equal(sscanf(strstr(text, "samples:"), "samples: %u fast, %u medium, %u slow; %u late, %u lost", &n[0],
					&n[1], &n[2], &n[3], &n[4]),
				 5);
		assert_in_range(n[0] + n[1] + n[2] + n[4], 1999 + 201 + 21 + 4, 1999 + 201 + 21 + 5); /* the gap is lost, or written */
		assert_true(!room || n[0] == 1999);
		assert_int_equal(n[1] == 201, strstr(text, "energy 28.55 J") != NULL);
		free(text);
	}
}

static void what_is_lost_is_told(void **state)
{
	static const struct {
		struct log_skipped lost;
		uint64_t gaps, given;
		const char *text;
	} cases[] = {
		{{.chunks = 9}, 0, 0, ""},
		{{.rows = {1}}, 1, 0, "1 row was lost because it could not be written in time; it is recorded as a gap"},
		{{.rows = {3, 4, 5}}, 2, 8, "20 rows were lost because they could not be written; the files have gaps for 10 of them"},
		{{.marks = 1, .ranges = 2, .events = 3}, 0, 0,
		 "6 events (marks, changes, notices, ranges) were lost because they could not be written"},
		{{.rows = {0, 0, 2}, .events = 1}, 2, 0,
		 "2 rows were lost because they could not be written in time; they are recorded as gaps; 1 event (a mark, change, notice "
		 "or range) was lost because it could not be written"},
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct log_out_stats st = {.lost = cases[i].lost, .gap_rows = cases[i].gaps, .given_lost = cases[i].given};

		st.lost_rows = log_skipped_rows(&st.lost);
		assert_int_equal(lost_text(&st, text, sizeof text), *cases[i].text != '\0');
		assert_string_equal(text, cases[i].text);
	}
}

/* Stopped for 0.7 s, by Ctrl-Z for instance: the energy of that time is unknown. */
static void a_hole_has_no_energy(void **state)
{
	const double mw = 10000;
	struct sink *s = begin_with(CHANNELS);
	char *text;

	(void)state;
	for (int ms = 0; ms <= 2000; ms += 10)
		if (ms <= 1000 || ms >= 1700)
			row(s, TIER_MEDIUM, 1, ms, &mw);
	text = text_of();
	line(text, "  power:      mean 10.00 W, maximum 10.00 W, energy 13.00 J (measured 65 % of the time)\n");
	free(text);
}

static void no_throttling_is_none(void **state)
{
	const double cool[5] = {40, 41, 0, 7, 0};
	struct sink *s = begin_with(CHANNELS);
	char *text;

	(void)state;
	for (int ms = 0; ms <= 2000; ms += 100)
		row(s, TIER_SLOW, 5, ms, cool);
	text = text_of();
	line(text, "  hottest:    gpu 41.0 C\n");
	line(text, "  throttling: none\n");
	free(text);
}

/* Each lateness falls into a step that ends above it, by at most 1/16 from 2 us on. */
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

static int folder_make(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof path, "%s/run.nvmt", folder);
	return 0;
}

static int folder_remove(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_told), cmocka_unit_test(power_of_the_gpu_alone),    cmocka_unit_test(what_was_not_measured_says_so),
		cmocka_unit_test(late_readings),
		cmocka_unit_test(nothing_was_read),      cmocka_unit_test(what_is_dropped_does_not_count),
		cmocka_unit_test(a_hole_has_no_energy),  cmocka_unit_test(no_throttling_is_none),
		cmocka_unit_test(clocks_that_leap),      cmocka_unit_test(lateness_has_its_step),
		cmocka_unit_test(shares_of_lateness),    cmocka_unit_test(what_is_lost_is_told),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
