/* What limits the machine: ten synthetic traces, each with one verdict. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ui/limit.h"
#include "ui-fake.h"

#define MOMENT_NS (10 * NS_PER_S) /* the limit begins this long before the end */

/* Every channel has one value, and another one from some time on. */
struct made {
	struct fake fake;
	double before[FAKE_CHANNELS], after[FAKE_CHANNELS];
	int64_t from_ns[FAKE_CHANNELS];
	int64_t breaks_ns; /* how long before the end with_breaks() begins */
	struct limit limit;
};

static double made_value(const struct fake *f, size_t i, int64_t t_ns)
{
	const struct made *m = (const struct made *)f;

	return t_ns < m->from_ns[i] ? m->before[i] : m->after[i];
}

static size_t find(const struct made *m, enum channel_kind kind, unsigned index)
{
	for (size_t i = 0; i < m->fake.about.n_channels; i++)
		if (m->fake.channels[i].kind == kind && m->fake.channels[i].index == index)
			return i;
	fail_msg("no channel of kind %d", (int)kind);
	return 0;
}

static struct channel *channel(struct made *m, enum channel_kind kind, unsigned index)
{
	return &m->fake.channels[find(m, kind, index)];
}

/* Set the value from ago_ns before the end on. */
static void put_since(struct made *m, size_t i, double v, int64_t ago_ns)
{
	m->after[i] = v;
	m->from_ns[i] = m->fake.last_ns - ago_ns;
}

static void put(struct made *m, enum channel_kind kind, unsigned index, double v)
{
	put_since(m, find(m, kind, index), v, MOMENT_NS);
}

static size_t put_named(struct made *m, const char *name, enum channel_kind kind, enum unit unit, double v)
{
	size_t i = m->fake.about.n_channels;

	m->before[i] = 0;
	snprintf(fake_add(&m->fake, name, kind, 0, TIER_SLOW, unit, FAMILY_OTHER)->name, 48, "%s", name);
	put_since(m, i, v, MOMENT_NS);
	return i;
}

/* An idle board: 2 % everywhere, 40 degrees. */
static void begin(struct made *m)
{
	memset(m, 0, sizeof(*m));
	m->breaks_ns = 42 * NS_PER_S;
	fake_init(&m->fake, 600 * NS_PER_S);
	m->fake.value = made_value;
	fake_add(&m->fake, "RAM available", CHANNEL_RAM_AVAILABLE, 0, TIER_FAST, UNIT_KB, FAMILY_MEMORY);
	for (size_t i = 0; i < FAKE_CHANNELS; i++) {
		const struct channel *ch = &m->fake.channels[i];

		m->before[i] = m->after[i] = ch->unit == UNIT_CELSIUS ? 40 : ch->unit == UNIT_HZ ? 306e6 : 2;
		if (ch->kind == CHANNEL_RAM_AVAILABLE)
			m->before[i] = m->after[i] = 40 * 1048576;
	}
	snprintf(channel(m, CHANNEL_GPU_FREQ, 0)->name, 48, "gpu.freq");
	channel(m, CHANNEL_GPU_FREQ, 0)->hi = 1300.5e6;
	for (unsigned i = 0; i < 7; i++)
		channel(m, CHANNEL_TEMPERATURE, i)->warn = 99;
	channel(m, CHANNEL_RAIL_CURRENT, 0)->warn = 1600;
}

static void judge(struct made *m)
{
	limit_find(&m->fake.timeline, m->fake.last_ns, &m->limit);
}

#define assert_limit(m, kind_, what_, text_)                                                                 \
	do {                                                                                                 \
		judge(m);                                                                                    \
		assert_string_equal((m)->limit.what, what_);                                                 \
		assert_string_equal((m)->limit.text, text_);                                                 \
		assert_int_equal((m)->limit.kind, kind_);                                                    \
		assert_int_equal((m)->limit.alarm, kind_ >= LIMIT_POWER);                                    \
	} while (0)

static void test_idle(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	assert_limit(&m, LIMIT_NONE, "none", "GPU 2 % · CPU 2 % · EMC 2 %");
	assert_null(m.limit.view);
	snprintf(channel(&m, CHANNEL_EMC_UTIL, 0)->missing, 200, "permission denied");
	put(&m, CHANNEL_GPU_UTIL, 0, NAN);
	assert_limit(&m, LIMIT_NONE, "none", "GPU not read · CPU 2 % · EMC not read");
	put(&m, CHANNEL_CPU_UTIL, 0, NAN);
	assert_limit(&m, LIMIT_UNKNOWN, "unknown", "neither GPU nor CPU nor EMC can be read");
	assert_string_equal(m.limit.view, "board");
}

/* A surface too hot to touch: a notice does not slow anything down. */
static void test_notice(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	put_named(&m, "notice.hot-surface-alert", CHANNEL_NOTICE, UNIT_NONE, 1);
	assert_limit(&m, LIMIT_NONE, "none", "GPU 2 % · CPU 2 % · EMC 2 %");
}

static void test_throttled(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	size_t device = put_named(&m, "throttle.gpu-throttle-alert", CHANNEL_THROTTLE, UNIT_NONE, 1);

	snprintf(m.fake.channels[device].label, 32, "gpu-throttle-alert");
	put_since(&m, device, 1, 3600 * INT64_C(1000000));
	put(&m, CHANNEL_GPU_UTIL, 0, 97);
	put(&m, CHANNEL_TEMPERATURE, 1, 99.3);
	put(&m, CHANNEL_TEMPERATURE, 0, 40);
	channel(&m, CHANNEL_TEMPERATURE, 0)->warn = 0; /* none */
	put(&m, CHANNEL_GPU_FREQ, 0, 1122e6);
	assert_limit(&m, LIMIT_HEAT, "heat",
		     "GPU throttled 3.6 s: gpu 99.3 °C, limit 99.0 · clock 1122 of 1300 MHz");
	assert_string_equal(m.limit.view, "thermal");
	put_named(&m, "gpu.freq_max", CHANNEL_FREQ_LIMIT, UNIT_HZ, 1122e6);
	assert_limit(&m, LIMIT_HEAT, "heat",
		     "GPU throttled 3.6 s: gpu 99.3 °C, limit 99.0 · clock held at 1122 of 1300 MHz");
	assert_string_equal(m.limit.short_text, "throttled 3.6 s: 99.3 °C, limit 99.0 · 1122 MHz");
	/* the playhead is before it */
	limit_find(&m.fake.timeline, m.fake.last_ns - 5 * NS_PER_S, &m.limit);
	assert_int_equal(m.limit.kind, LIMIT_HEAT);
	assert_non_null(strstr(m.limit.text, "too hot for 5.0 s: gpu 99.3 °C, limit 99.0"));
	limit_find(&m.fake.timeline, m.fake.last_ns - 15 * NS_PER_S, &m.limit);
	assert_string_equal(m.limit.what, "none");
}

/* How long it lasted, from before interruptions below one second, but without them; of those the search is limited. */
static double with_breaks(const struct fake *f, size_t i, int64_t t_ns)
{
	const struct made *m = (const struct made *)f;
	int64_t ago_ns = f->last_ns - t_ns;

	if (f->channels[i].kind != CHANNEL_THROTTLE)
		return made_value(f, i, t_ns);
	return ago_ns <= m->breaks_ns && ago_ns / (200 * INT64_C(1000000)) % 10 < 7;
}

static void test_duration(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	size_t device = put_named(&m, "throttle.cpufreq-0", CHANNEL_THROTTLE, UNIT_NONE, 2);

	snprintf(m.fake.channels[device].label, 32, "cpufreq-0");
	channel(&m, CHANNEL_TEMPERATURE, 0)->warn = NAN;
	put_since(&m, device, 2, 83 * NS_PER_S);
	judge(&m);
	assert_memory_equal(m.limit.text, "cpu0 throttled 1:23: ", 21);
	put_since(&m, device, 2, 400 * NS_PER_S);
	judge(&m);
	assert_memory_equal(m.limit.text, "cpu0 throttled 6:40: ", 21);
	m.fake.value = with_breaks;
	judge(&m);
	assert_memory_equal(m.limit.text, "cpu0 throttled 29.4 s", 21); /* without the breaks */
	m.breaks_ns = 600 * NS_PER_S;
	judge(&m);
	assert_memory_equal(m.limit.text, "cpu0 throttled >5:5", 19); /* of 256 of them */
	m.fake.value = made_value;
	put_since(&m, device, 2, 400 * NS_PER_S);
	limit_find(&m.fake.timeline, m.fake.last_ns - 395 * NS_PER_S, &m.limit);
	assert_memory_equal(m.limit.text, "cpu0 throttled 5.0 s", 20);
	/* throttled since the recording began */
	put_since(&m, device, 2, 600 * NS_PER_S);
	limit_find(&m.fake.timeline, m.fake.first_ns + 2 * NS_PER_S, &m.limit);
	assert_memory_equal(m.limit.text, "cpu0 throttled 2.0 s", 20);
}

static void test_power(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	put(&m, CHANNEL_POWER_TOTAL, 0, 41000);
	put(&m, CHANNEL_RAIL_CURRENT, 0, 1500);
	judge(&m);
	assert_int_equal(m.limit.kind, LIMIT_NONE);
	channel(&m, CHANNEL_RAIL_CURRENT, 0)->crit = 1600; /* a warning limit does not count */
	channel(&m, CHANNEL_RAIL_CURRENT, 0)->warn = 1400;
	put(&m, CHANNEL_RAIL_CURRENT, 0, 1620);
	put(&m, CHANNEL_GPU_UTIL, 0, 99);
	assert_limit(&m, LIMIT_POWER, "power",
		     "at the current limit for 10.0 s: GPU_SOC 1.62 A, limit 1.60 · 41.0 W · clock 306 of 1300 MHz");
	assert_string_equal(m.limit.view, "power");
	put(&m, CHANNEL_RAIL_CURRENT, 0, 1500);
	size_t count = put_named(&m, "over-current 1", CHANNEL_THROTTLE_COUNT, UNIT_NONE, 7);

	m.before[count] = 5;
	put_since(&m, count, 7, 3 * NS_PER_S);
	judge(&m);
	assert_int_equal(m.limit.kind, LIMIT_GPU); /* too long ago */
	put_since(&m, count, 7, NS_PER_S);
	assert_limit(&m, LIMIT_POWER, "power",
		     "over-current 1: 2 events in 2 s · 41.0 W · clock 306 of 1300 MHz");
	m.before[count] = NAN; /* not read before */
	judge(&m);
	assert_int_equal(m.limit.kind, LIMIT_GPU);
}

static void test_loads(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	put(&m, CHANNEL_CORE_UTIL, 7, 99);
	put(&m, CHANNEL_CPU_UTIL, 0, 10);
	assert_limit(&m, LIMIT_CORE, "cpu7",
		     "99 % busy over the last second · mean of all cores 10 % · clock 306 MHz");
	assert_string_equal(m.limit.view, "cpu");
	assert_string_equal(m.limit.short_text, "99 % busy over the last second");
	put(&m, CHANNEL_CPU_UTIL, 0, 98);
	assert_limit(&m, LIMIT_CORE, "CPU", "98 % busy over the last second · clock 306 MHz");
	put(&m, CHANNEL_GPU_UTIL, 0, 97);
	put(&m, CHANNEL_GPU_FREQ, 0, 1122e6);
	assert_limit(&m, LIMIT_GPU, "GPU", "97 % busy over the last second · clock 1122 of 1300 MHz");
	assert_string_equal(m.limit.view, "gpu");
	put(&m, CHANNEL_EMC_UTIL, 0, 93);
	assert_limit(&m, LIMIT_EMC, "EMC", "93 % busy over the last second");
	assert_string_equal(m.limit.view, "memory");
}

/* A load above the threshold keeps its name slightly below it for three seconds. */
static void test_slack(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	size_t gpu = find(&m, CHANNEL_GPU_UTIL, 0);

	m.before[gpu] = 97;
	put_since(&m, gpu, 92, 2 * NS_PER_S);
	assert_limit(&m, LIMIT_GPU, "GPU", "92 % busy over the last second · clock 306 of 1300 MHz");
	put_since(&m, gpu, 92, 5 * NS_PER_S);
	judge(&m);
	assert_int_equal(m.limit.kind, LIMIT_NONE);
	put_since(&m, gpu, 88, 2 * NS_PER_S);
	judge(&m);
	assert_int_equal(m.limit.kind, LIMIT_NONE);
	/* one busy millisecond is no limit */
	m.before[gpu] = 2;
	put_since(&m, gpu, 100, INT64_C(1000000));
	judge(&m);
	assert_int_equal(m.limit.kind, LIMIT_NONE);
}

static void test_io(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	size_t wait = put_named(&m, "cpu.iowait", CHANNEL_OTHER, UNIT_PERCENT, 3);

	judge(&m);
	assert_int_equal(m.limit.kind, LIMIT_NONE); /* a third of a core */
	put_since(&m, wait, 8, MOMENT_NS);
	assert_limit(&m, LIMIT_IO, "io", "I/O wait 8 % of all cores");
	size_t stall = put_named(&m, "io.pressure", CHANNEL_OTHER, UNIT_PERCENT, 70);

	assert_limit(&m, LIMIT_IO, "io", "some task waited for I/O 70 % of the last second · I/O wait 8 % of all cores");
	put_since(&m, wait, NAN, MOMENT_NS);
	assert_limit(&m, LIMIT_IO, "io", "some task waited for I/O 70 % of the last second");
	put_since(&m, stall, 20, MOMENT_NS);
	judge(&m);
	assert_int_equal(m.limit.kind, LIMIT_NONE);
}

static void test_memory(void **state)
{
	struct made m;

	(void)state;
	begin(&m);
	put(&m, CHANNEL_RAM_AVAILABLE, 0, 1.5 * 1048576);
	assert_limit(&m, LIMIT_MEMORY, "memory", "1.5 of 61.4 GiB available");
	assert_string_equal(m.limit.view, "memory");
	put(&m, CHANNEL_RAM_AVAILABLE, 0, 20 * 1048576);
	size_t swap = put_named(&m, "swap.used", CHANNEL_OTHER, UNIT_KB, 2);

	judge(&m);
	assert_int_equal(m.limit.kind, LIMIT_NONE);
	put_since(&m, swap, 2 + 80 * 1024, INT64_C(500000000));
	assert_limit(&m, LIMIT_MEMORY, "memory", "swap grew by 80.0 MiB in the last second");
	put_since(&m, swap, 2, MOMENT_NS);
	put_named(&m, "memory.pressure", CHANNEL_OTHER, UNIT_PERCENT, 23);
	assert_limit(&m, LIMIT_MEMORY, "memory", "some task waited for memory 23 % of the last second");
	put_named(&m, "io.pressure", CHANNEL_OTHER, UNIT_PERCENT, 70);
	judge(&m);
	assert_int_equal(m.limit.kind, LIMIT_IO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle),      cmocka_unit_test(test_notice),
		cmocka_unit_test(test_throttled), cmocka_unit_test(test_duration),
		cmocka_unit_test(test_power),     cmocka_unit_test(test_loads),
		cmocka_unit_test(test_slack),     cmocka_unit_test(test_io),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
