/* What rows come to, against closed forms: rows are made here, and are in a ring as those of an engine. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "live/live.h"
#include "model/energy.h"
#include "model/missing.h"
#include "random.h"
#include "rings.h"
#include "util/clock.h"

#define START (100 * NS_PER_S)

enum { LOAD, RAIL, TEMP, COUNTED, COUNTER, NEVER, CHANNELS };
static struct channel channels[CHANNELS] = {
	[LOAD] = {.name = "load", .tier = TIER_FAST, .column = 0, .unit = UNIT_PERCENT, .source = "/proc/load"},
	[RAIL] = {.name = "VDD.power", .tier = TIER_MEDIUM, .column = 0, .unit = UNIT_MILLIWATT},
	[TEMP] = {.name = "temp", .tier = TIER_SLOW, .column = 0, .unit = UNIT_CELSIUS, .period_ns = NS_PER_S},
	[COUNTED] = {.name = "gpu.power", .tier = TIER_MEDIUM, .column = 1, .unit = UNIT_MILLIWATT, .window_ns = NS_PER_S,
		     .period_ns = NS_PER_S},
	[COUNTER] = {.name = "gpu.energy", .tier = TIER_MEDIUM, .column = 2, .unit = UNIT_JOULE, .kind = CHANNEL_COUNTER},
	[NEVER] = {.name = "never", .tier = TIER_SLOW, .column = 1, .missing = "there is no such file"},
};
static struct session session = {.channels = channels,
				 .n_channels = CHANNELS,
				 .width = {1, 3, 2},
				 .hz = {1000, 100, 10},
				 .start = {.mono_ns = START}};
static int64_t now_ns;

static void push(struct tally *t, enum tier tier, int64_t t_ns, const double *values)
{
	rings_push(t, tier, session.width[tier], t_ns, values);
}

/* A load of i % 100 in millisecond i, 10 W, a GPU of 40 W of which its own power says nothing yet. */
static void run(struct tally *t, int64_t ms)
{
	for (int64_t until = now_ns + ms * NS_PER_MS; now_ns < until; now_ns += NS_PER_MS) {
		int64_t i = (now_ns - START) / NS_PER_MS;

		push(t, TIER_FAST, now_ns, (const double[]) {(double)(i % 100)});
		if (i % 10 == 0)
			push(t, TIER_MEDIUM, now_ns, (const double[]) {10000, NAN, (double)(i / 100) * 4});
		if (i % 100 == 0)
			push(t, TIER_SLOW, now_ns, (const double[]) {i % 1000 == 0 ? 50 : NAN, NAN});
	}
}

static struct tally *make(void)
{
	struct err e;
	struct tally *t = tally_new(NULL, &e);

	assert_non_null(t);
	now_ns = START;
	memset(rings, 0, sizeof(rings));
	return t;
}

static struct tally *begin(void)
{
	struct tally *t = make();
	struct err e;

	assert_int_equal(tally_sink(t)->ops->begin(tally_sink(t), &session, &e), 0);
	return t;
}

static void finish(struct tally *t)
{
	struct err e;

	tally_sink(t)->ops->end(tally_sink(t), &e);
	tally_free(t);
}

static void newest_and_why_not(void **state)
{
	struct tally *t = make();
	struct tally_value v;
	char why[300];
	size_t n;

	(void)state;
	assert_null(tally_channels(t, &n));
	assert_int_equal(n, 0);
	assert_true(isnan(tally_newest(t, 0, now_ns).value));
	tally_free(t);
	t = begin();
	assert_ptr_equal(tally_channels(t, &n), channels);
	assert_int_equal(n, CHANNELS);
	assert_true(tally_newest(t, LOAD, now_ns).t_ns == 0);
	run(t, 43);
	v = tally_newest(t, LOAD, now_ns);
	assert_true(v.value == 42 && v.t_ns == now_ns - NS_PER_MS && !v.old);
	/* One lost row is no missing value, three periods and 50 ms are. */
	push(t, TIER_FAST, now_ns, (const double[]) {NAN});
	v = tally_newest(t, LOAD, now_ns);
	assert_true(v.value == 42);
	push(t, TIER_FAST, now_ns += 60 * NS_PER_MS, (const double[]) {missing_value(MISSING_ERROR, 5)});
	v = tally_newest(t, LOAD, now_ns);
	assert_true(isnan(v.value) && !v.old && v.t_ns == now_ns);
	tally_reason(t, LOAD, v, why, sizeof(why));
	assert_non_null(strstr(why, "/proc/load: "));
	assert_non_null(strstr(why, "nput/output error"));
	v = tally_newest(t, LOAD, now_ns + NS_PER_S);
	assert_true(isnan(v.value) && v.old);
	tally_reason(t, LOAD, v, why, sizeof(why));
	assert_non_null(strstr(why, "no new reading"));
	/* A source of one second may be three old. */
	assert_true(tally_newest(t, TEMP, START + 2900 * NS_PER_MS).value == 50);
	assert_true(isnan(tally_newest(t, TEMP, START + 3100 * NS_PER_MS).value));
	v = tally_newest(t, NEVER, now_ns);
	assert_true(isnan(v.value) && v.t_ns == 0);
	tally_reason(t, NEVER, v, why, sizeof(why));
	assert_string_equal(why, "there is no such file");
	assert_true(isnan(tally_newest(t, CHANNELS, now_ns).value));
	finish(t);
}

/* Whole seconds, every value of each. */
static void last_seconds(void **state)
{
	struct tally *t = begin();
	struct bin b;

	(void)state;
	assert_int_equal(tally_last(t, LOAD, 15).n, 0);
	run(t, 300);
	assert_int_equal(tally_last(t, LOAD, 15).n, 300); /* there is no whole one yet */
	run(t, 2200);
	assert_int_equal(tally_last(t, LOAD, 15).n, 2000);
	run(t, 20000);
	push(t, TIER_FAST, now_ns, (const double[]) {1000});
	now_ns += NS_PER_MS;
	run(t, 1000);
	b = tally_last(t, LOAD, 15);
	assert_int_equal(b.n, 15000);
	assert_true(b.max == 1000 && b.min == 0);
	b = tally_last(t, RAIL, 15);
	assert_true(b.n == 1499 && b.sum == 1499 * 10000.0); /* one tick had no row of it */
	run(t, 100000);
	b = tally_last(t, LOAD, 60);
	assert_true(b.n == 60000 && b.max == 99 && b.sum == 60000 * 49.5);
	b = tally_last(t, TEMP, 15);
	assert_true(b.n == 15 && b.sum == 15 * 50);
	assert_int_equal(tally_last(t, CHANNELS, 15).n, 0);
	finish(t);
}

/* Joules are power times time, or what the counter says; asked at any time they never fall. */
static void joules_rise(void **state)
{
	struct tally *t = begin();
	double rail = 0, gpu = 0;

	(void)state;
	assert_true(isnan(tally_joules(t, RAIL)) && isnan(tally_joules(t, LOAD)) && isnan(tally_joules(t, CHANNELS)));
	for (int i = 0; i < 1000; i++) {
		run(t, i % 7 ? 13 : 140);
		assert_true(!(tally_joules(t, RAIL) < rail) && !(tally_joules(t, COUNTED) < gpu));
		rail = fmax(rail, tally_joules(t, RAIL));
		gpu = fmax(gpu, tally_joules(t, COUNTED));
	}
	double seconds = (double)(now_ns - START) / 1e9;
	assert_true(fabs(rail - 10 * seconds) < 0.2);
	assert_true(fabs(gpu - 40 * seconds) < 40 * 0.3);
	finish(t);
}

/* Windows of any length on constant power, ended before and after their rows came. */
static void windows(void **state)
{
	struct tally *t = begin();
	struct tally_energy out[CHANNELS];
	double seconds;
	bool complete;
	struct err e;

	(void)state;
	run(t, 1000);
	for (int64_t n = 1; n < 200; n++) {
		int64_t from = now_ns;

		assert_int_equal(tally_window_begin(t, 1, n, from, &e), 0);
		run(t, n * 7 % 400);
		assert_int_equal(tally_window_end(t, n, now_ns), TALLY_ENDED);
		assert_int_equal(tally_window_end(t, n, now_ns), TALLY_HAD_ENDED);
		if (n % 2)
			run(t, 30);
		assert_int_equal(tally_window_get(t, n, out, CHANNELS, &seconds, &complete), 2);
		assert_int_equal(out[0].channel, RAIL);
		assert_true(fabs(seconds - (double)(n * 7 % 400) / 1000) < 1e-9);
		assert_true(fabs(out[0].energy.joules - 10 * seconds) < 1e-9 || (seconds <= 0 && isnan(out[0].energy.joules)));
		assert_true(fabs(out[0].energy.known_s - seconds) < 1e-9);
		assert_true(n % 2 ? out[0].guessed_s == 0 : out[0].guessed_s <= seconds);
		if (n >= 100)
			assert_true(tally_window_forget(t, 0, n));
	}
	assert_int_equal(tally_window_end(t, 12345, now_ns), TALLY_UNKNOWN);
	assert_int_equal(tally_window_get(t, 12345, out, CHANNELS, &seconds, &complete), SIZE_MAX);
	/* Power is a mean of a second there and was never read: the joules are the counter's. */
	assert_int_equal(tally_window_get(t, 90, out, CHANNELS, &seconds, &complete), 2);
	assert_int_equal(out[1].channel, COUNTED);
	assert_true(fabs(out[1].energy.joules - 40 * seconds) <= out[1].energy.within && out[1].energy.within < 40 * seconds + 10);
	/* Long after it the first is the same. */
	assert_int_equal(tally_window_get(t, 50, out, CHANNELS, &seconds, &complete), 2);
	assert_true(fabs(out[0].energy.joules - 3.5) < 1e-9);
	assert_true(tally_window_forget(t, 1, 0));
	assert_false(tally_window_forget(t, 1, 0));
	finish(t);
}

/* 10 and 50 W by turns of 0.37 s; a moment of the recording, in s. */
static double watts_at(double s)
{
	return fmod(s, 0.74) < 0.37 ? 10 : 50;
}

static double joules_before(double s)
{
	double whole = floor(s / 0.74), rest = s - whole * 0.74;

	return whole * 0.37 * 60 + (rest < 0.37 ? 10 * rest : 3.7 + 50 * (rest - 0.37));
}

/* Windows that overlap at random, of rows of which some are lost: a window that is asked for has the truth within its bound, and in
 * the end what all readings say, however they came. */
static void windows_overlap(void **state)
{
	enum { WINDOWS = 400, READINGS = 4000 };
	static struct {
		int64_t from_ns, to_ns;
		bool begun, ended;
	} w[WINDOWS];
	static struct power_reading list[READINGS];
	struct tally *t = begin();
	struct energy_source s;
	struct energy_rows rows = {.begun = false};
	struct tally_energy out[CHANNELS];
	double seconds;
	size_t n = 0, good = 0, asked = 0;
	int64_t t_ns = START;
	bool complete;
	struct err e;

	(void)state;
	energy_source_of(&s, &session, RAIL);
	for (int i = 0; i < WINDOWS; i++) {
		w[i].from_ns = START + (int64_t)random_below(25 * NS_PER_S);
		w[i].to_ns = w[i].from_ns + (int64_t)random_below(3 * NS_PER_S);
	}
	for (int64_t k = 0; k < 3000; k++) {
		t_ns = START + k * 10 * NS_PER_MS + (int64_t)random_below(9500000);
		for (int i = 0; i < WINDOWS; i++) {
			if (!w[i].begun && w[i].from_ns < t_ns) {
				w[i].begun = true;
				assert_int_equal(tally_window_begin(t, 1, i + 1, w[i].from_ns, &e), 0);
			}
			if (w[i].begun && !w[i].ended && w[i].to_ns < t_ns) {
				double from_s = (double)(w[i].from_ns - START) / 1e9, to_s = (double)(w[i].to_ns - START) / 1e9;

				w[i].ended = true;
				assert_int_equal(tally_window_end(t, i + 1, w[i].to_ns), TALLY_ENDED);
				tally_window_get(t, i + 1, out, CHANNELS, &seconds, &complete);
				if (out[0].energy.known_s < seconds - 1e-6)
					continue;
				asked++;
				good += fabs(out[0].energy.joules - joules_before(to_s) + joules_before(from_s)) <= out[0].energy.within;
			}
		}
		if (random_below(8) == 0)
			continue;
		double mw = 1e3 * watts_at((double)(t_ns - START) / 1e9);
		push(t, TIER_MEDIUM, t_ns, (const double[]) {mw, NAN, NAN});
		n += energy_take(&s, &rows, t_ns, mw, NAN, list + n);
	}
	assert_true(asked > WINDOWS / 2 && good >= asked * 9 / 10);
	for (int i = 0; i < WINDOWS; i++) {
		struct energy all = {.from_ns = w[i].from_ns, .to_ns = w[i].to_ns};

		for (size_t k = 0; k < n; k++)
			energy_add(&all, &s, &list[k]);
		assert_int_equal(tally_window_get(t, i + 1, out, CHANNELS, &seconds, &complete), 2);
		assert_true(complete && out[0].guessed_s == 0);
		assert_true(fabs(out[0].energy.joules - energy_get(&all, &s).joules) < 1e-9);
		assert_true(fabs(out[0].energy.known_s - energy_get(&all, &s).known_s) < 1e-9);
	}
	finish(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(newest_and_why_not),   cmocka_unit_test(last_seconds),
		cmocka_unit_test(joules_rise),        cmocka_unit_test(windows),
		cmocka_unit_test(windows_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
