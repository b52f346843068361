/* Counters and windows of /metrics, against closed forms: a day of rows at made-up times, with a scrape now and then. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rings.h"
#include "serve/scrape.h"
#include "util/clock.h"

#define START (100 * NS_PER_S)
#define HOUR  3600
#define GONE  (5 * HOUR) /* the rail does not answer for ten minutes from then on */

enum { GPU, CORE, RAIL, COUNTED, COUNTER, NEVER, CHANNELS };
static struct channel channels[CHANNELS] = {
	[GPU] = {.name = "gpu.util", .kind = CHANNEL_GPU_UTIL, .tier = TIER_FAST, .column = 0, .unit = UNIT_PERCENT},
	[CORE] = {.name = "cpu3.util", .kind = CHANNEL_CORE_UTIL, .index = 3, .tier = TIER_FAST, .column = 1, .unit = UNIT_PERCENT},
	[RAIL] = {.name = "VDD.power", .kind = CHANNEL_RAIL_POWER, .tier = TIER_MEDIUM, .column = 0, .unit = UNIT_MILLIWATT},
	[COUNTED] = {.name = "card.power", .kind = CHANNEL_RAIL_POWER, .tier = TIER_MEDIUM, .column = 1, .unit = UNIT_MILLIWATT,
		     .window_ns = NS_PER_S, .period_ns = NS_PER_S},
	[COUNTER] = {.name = "card.energy", .kind = CHANNEL_COUNTER, .tier = TIER_MEDIUM, .column = 2, .unit = UNIT_JOULE},
	[NEVER] = {.name = "temp.cv0", .kind = CHANNEL_TEMPERATURE, .tier = TIER_SLOW, .column = 0, .unit = UNIT_CELSIUS,
		   .missing = "there is \"no\" such file"},
};
static const size_t every_one[CHANNELS] = {GPU, CORE, RAIL, COUNTED, COUNTER, NEVER};
static struct fact facts[] = {{"mode", "MODE_15W"}};
static struct session session = {.channels = channels,
				 .n_channels = CHANNELS,
				 .width = {2, 3, 1},
				 .hz = {10, 10, 10},
				 .start = {.mono_ns = START},
				 .facts = facts,
				 .n_facts = 1};
static int64_t now_ns;

static struct tally *begin(double hz)
{
	struct err e;
	struct tally *t = tally_new(NULL, &e);

	assert_non_null(t);
	for (int i = 0; i < TIERS; i++)
		session.hz[i] = hz;
	assert_int_equal(tally_sink(t)->ops->begin(tally_sink(t), &session, &e), 0);
	now_ns = START;
	memset(rings, 0, sizeof(rings));
	return t;
}

static void finish(struct tally *t)
{
	struct err e;

	tally_sink(t)->ops->end(tally_sink(t), &e);
	tally_free(t);
}

static void push(struct tally *t, enum tier tier, const double *values)
{
	rings_push(t, tier, session.width[tier], now_ns, values);
}

/* Of a sample, such as name{label="value"}; NaN: there is none. */
static double sample(const char *text, const char *what)
{
	size_t n = strlen(what);

	for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
		if (!strncmp(line, what, n) && line[n] == ' ')
			return strtod(line + n, NULL);
	return (double)NAN;
}

static char *scrape(struct tally *t, bool older)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_int_equal(scrape_write(f, t, every_one, CHANNELS, now_ns, older), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

/* The rail has 10 W and 20 W in turn, an hour each; the counter of the card rises by 30 W and begins again at noon. */
static double rail_watts(int64_t s)
{
	return s / HOUR % 2 ? 20 : 10;
}

static double rail_joules(int64_t s)
{
	double whole = (double)(s / (2 * HOUR)) * 30 * HOUR;

	whole += s % (2 * HOUR) < HOUR ? 10.0 * (double)(s % (2 * HOUR)) : 10.0 * HOUR + 20.0 * (double)(s % HOUR);
	if (s > GONE)
		whole -= 20.0 * (double)(s - GONE < 600 ? s - GONE : 600);
	return whole;
}

static void a_day(void **state)
{
	static const char *const counters[] = {
		"nvmtop_rail_joules_total{rail=\"VDD\"}", "nvmtop_rail_joules_total{rail=\"card\"}",
		"nvmtop_gpu_busy_seconds_total{gpu=\"gpu\"}", "nvmtop_cpu_busy_seconds_total{cpu=\"3\"}"};
	struct tally *t = begin(10);
	double before[4] = {0};

	(void)state;
	for (int64_t i = 0; i <= 24 * HOUR * 10; i++) {
		int64_t s = i / 10;
		bool gone = s >= GONE && s < GONE + 600;
		double counted = 3.0 * (double)(i % (12 * HOUR * 10));

		now_ns = START + i * (NS_PER_S / 10);
		push(t, TIER_FAST, (const double[]) {25, (double)(s % 101)});
		push(t, TIER_MEDIUM, (const double[]) {gone ? (double)NAN : rail_watts(s) * 1000, (double)NAN, counted});
		if (i == 0 || i % 7777 != 0)
			continue;
		char *text = scrape(t, false);
		double now[4];
		for (int k = 0; k < 4; k++) {
			now[k] = sample(text, counters[k]);
			if (!(now[k] >= before[k]))
				fail_msg("%s fell from %.9g to %.9g in second %lld", counters[k], before[k], now[k], (long long)s);
			before[k] = now[k];
		}
		/* At an edge between two rows half of a step is on each side; of the counter the last second is open. */
		assert_true(fabs(now[0] - rail_joules(s) - rail_watts(s) * (double)(i % 10) / 10) < 40);
		assert_true(fabs(now[1] - 3.0 * (double)i) < 60);
		assert_true(fabs(now[2] - 0.25 * (double)i / 10) < 1e-6 * (double)i);
		free(text);
	}
	double cores = 0;
	for (int64_t i = 1; i <= 24 * HOUR * 10; i++)
		cores += (double)(i / 10 % 101) / 100 / 10;
	char *text = scrape(t, false);
	assert_true(fabs(sample(text, counters[0]) - (12 * HOUR * 30.0 - 600 * 20)) < 40);
	assert_true(fabs(sample(text, counters[1]) - 24 * HOUR * 30.0) < 60);
	assert_true(fabs(sample(text, counters[3]) - cores) < 1e-3);
	free(text);
	finish(t);
}

/* A single millisecond is seen by everyone who asks within the window, and by nobody later. */
static void a_spike(void **state)
{
	struct tally *t = begin(1000);

	(void)state;
	for (int64_t i = 0; i < 100000; i++) {
		now_ns = START + i * NS_PER_MS;
		push(t, TIER_FAST, (const double[]) {i == 20500 ? 100 : 10, 0});
		if (i % 5000 != 3500)
			continue;
		char *one = scrape(t, false), *other = scrape(t, false);
		bool in15 = i > 21000 && i < 36000, in60 = i > 21000 && i < 81000;

		assert_string_equal(one, other); /* asking changes nothing */
		assert_true(fabs(sample(one, "nvmtop_gpu_busy_ratio_max{gpu=\"gpu\",window=\"15s\"}") - (in15 ? 1 : 0.1)) < 1e-9);
		assert_true(fabs(sample(one, "nvmtop_gpu_busy_ratio_max{gpu=\"gpu\",window=\"60s\"}") - (in60 ? 1 : 0.1)) < 1e-9);
		assert_true(fabs(sample(one, "nvmtop_gpu_busy_ratio_min{gpu=\"gpu\",window=\"15s\"}") - 0.1) < 1e-9);
		if (i > 15000)
			assert_true(fabs(sample(one, "nvmtop_gpu_busy_ratio_mean{gpu=\"gpu\",window=\"15s\"}") -
					 (in15 ? 0.1 + 0.9 / 15000 : 0.1)) < 1e-9);
		free(one);
		free(other);
	}
	finish(t);
}

/* What is not known is absent and has its reason, also when it was known before; settings are those of now. */
static void missing_and_facts(void **state)
{
	struct tally *t = begin(10);
	struct change c = {.what = "mode", .from = "MODE_15W", .to = "MAXN"};
	char *text;

	(void)state;
	text = scrape(t, false);
	assert_true(isnan(sample(text, "nvmtop_rail_joules_total{rail=\"VDD\"}")));
	assert_true(sample(text, "nvmtop_info{version=\"" PACKAGE_VERSION "\",power_mode=\"MODE_15W\"}") == 1);
	free(text);
	for (int i = 0; i < 20; i++, now_ns += NS_PER_S / 10)
		push(t, TIER_MEDIUM, (const double[]) {10000, (double)NAN, 0});
	tally_sink(t)->ops->change(tally_sink(t), &c);
	now_ns += NS_PER_S;
	text = scrape(t, false);
	assert_true(isnan(sample(text, "nvmtop_rail_watts{rail=\"VDD\"}")));
	assert_non_null(strstr(text, "\nnvmtop_missing_info{signal=\"VDD.power\",reason=\"there is no new reading\"} 1\n"));
	assert_non_null(strstr(text, "\nnvmtop_missing_info{signal=\"temp.cv0\",reason=\"there is \\\"no\\\" such file\"} 1\n"));
	assert_true(fabs(sample(text, "nvmtop_rail_joules_total{rail=\"VDD\"}") - 19) < 2);
	assert_true(sample(text, "nvmtop_info{version=\"" PACKAGE_VERSION "\",power_mode=\"MAXN\"}") == 1);
	assert_non_null(strstr(text, "# TYPE nvmtop_rail_joules counter\n"));
	assert_non_null(strstr(text, "\n# EOF\n"));
	free(text);
	text = scrape(t, true);
	assert_non_null(strstr(text, "# TYPE nvmtop_rail_joules_total counter\n"));
	free(text);
	finish(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_day), cmocka_unit_test(a_spike), cmocka_unit_test(missing_and_facts)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
