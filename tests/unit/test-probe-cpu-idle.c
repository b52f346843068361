/* CPU utilization from cpuidle's counters, which only advance when a core leaves its idle state, and the
 * choice of a source. */
#include "test-probe-tree.h"

/* A machine of 2 cores with alternating busy and idle times. */
struct cores {
	struct tree tree;
	int64_t us;                                     /* since the beginning */
	int64_t idle_us[2], counted_us[2], since_us[2]; /* actual; seen by cpuidle; begin of the idle time */
	bool idle[2];
	bool offline; /* core 1 */
	int64_t stat_step;
};

static void write_idle(const struct cores *c, int core)
{
	char path[96], text[32];

	for (int state = 0; state < 2; state++) {
		snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/time", core,
			 state);
		snprintf(text, sizeof text, "%lld\n",
			 (long long)(state ? c->counted_us[core] - c->counted_us[core] / 3
					   : c->counted_us[core] / 3));
		tree_file(&c->tree, path, text);
	}
}

static void write_stat(const struct cores *c)
{
	char text[512];
	int n = snprintf(text, sizeof text, "cpu  5 0 5 %lld 0\n", (long long)c->us / 1000);

	for (int i = 0; i < (c->offline ? 1 : 2); i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "cpu%d 5 0 5 %lld 0\n", i,
			      (long long)((c->idle_us[i] + 3700 * i) / 10000 + c->stat_step));
	snprintf(text + n, sizeof text - (size_t)n, "intr 1\n");
	tree_file(&c->tree, "/proc/stat", text);
}

static void set_idle(struct cores *c, int core, bool idle)
{
	if (c->idle[core] && !idle)
		c->counted_us[core] += c->us - c->since_us[core];
	if (!c->idle[core] && idle)
		c->since_us[core] = c->us;
	c->idle[core] = idle;
}

/* Each core is busy at the beginning of its period and idle for the rest. step_us: the time step. seen()
 * is called after each tick. */
static void run(struct cores *c, int64_t ms, const int64_t period_us[2], const double busy[2],
		void (*seen)(struct cores *, void *), void *arg)
{
	const int64_t step_us = 250;

	for (int64_t end = c->us + ms * 1000; c->us < end;) {
		for (int i = 0; i < 2; i++) {
			set_idle(c, i,
				 (double)(c->us % period_us[i]) >= busy[i] * (double)period_us[i] - 1e-9);
			c->idle_us[i] += c->idle[i] ? step_us : 0;
		}
		c->us += step_us;
		if (c->us % 10000)
			continue;
		for (int i = 0; i < (c->offline ? 1 : 2); i++)
			write_idle(c, i);
		write_stat(c);
		tree_tick(&c->tree, 10 * MS);
		if (seen)
			seen(c, arg);
	}
}

static void begin(struct cores *c, const char *statement)
{
	*c = (struct cores) {.idle_us = {123456, 7654321}, .counted_us = {99999, 7000000}};
	tree_begin(&c->tree);
	tree_file(&c->tree, "/sys/devices/system/cpu/present", "0-1\n");
	tree_file(&c->tree, "/sys/devices/system/cpu/online", "0-1\n");
	write_idle(c, 0);
	write_idle(c, 1);
	write_stat(c);
	tree_resolve(&c->tree, statement);
}

struct sum {
	double sum[2], low[2], high[2];
	int n[2];
};

static void add_up(struct cores *c, void *arg)
{
	static const char *const names[] = {"cpu0.util", "cpu1.util"};
	struct sum *s = arg;

	for (int i = 0; i < 2; i++) {
		double v = tree_value(&c->tree, names[i]);
		if (isnan(v))
			continue;
		s->low[i] = s->n[i] ? fmin(s->low[i], v) : v;
		s->high[i] = s->n[i] ? fmax(s->high[i], v) : v;
		s->sum[i] += v;
		s->n[i]++;
	}
}

static void test_means(void **state)
{
	static const int64_t periods[] = {4000, 50000, 7000, 100000, 33000, 1000};
	static const double parts[] = {0, 0.25, 0.5, 0.75, 1};

	(void)state;
	for (size_t p = 0; p < sizeof periods / sizeof *periods; p++)
		for (size_t b = 0; b < sizeof parts / sizeof *parts; b++) {
			const int64_t period[2] = {periods[p], periods[p]};
			const double busy[2] = {parts[b], 1 - parts[b]};
			struct sum s = {.n = {0, 0}};
			struct cores c;
			begin(&c, "fast cpu source=cpuidle");
			run(&c, 200, period, busy, NULL, NULL);
			run(&c, 3000, period, busy, add_up, &s);
			for (int i = 0; i < 2; i++) {
				assert_int_equal(s.n[i], 300);
				if (fabs(s.sum[i] / 300 - 100 * busy[i]) > 1)
					fail_msg("period %lld us, busy %g: mean %g", (long long)periods[p],
						 busy[i], s.sum[i] / 300);
			}
			tree_end(&c.tree);
		}
}

/* To cpuidle, always idle and always busy look the same. */
static void test_no_gain(void **state)
{
	const int64_t period[2] = {1000000000, 1000000000};
	const double busy[2] = {0, 1};
	struct sum s = {.n = {0, 0}};
	struct cores c;

	(void)state;
	begin(&c, "fast cpu source=cpuidle");
	run(&c, 40, period, busy, NULL, NULL);
	assert_missing(&c.tree, "cpu0.util"); /* no complete window */
	run(&c, 60, period, busy, NULL, NULL);
	run(&c, 2000, period, busy, add_up, &s);
	assert_true(s.high[0] < 1e-6);
	assert_true(s.low[1] > 100 - 1e-6);
	assert_value(&c.tree, "cpu.util", 50);
	tree_end(&c.tree);
}

/* A counter that never advanced is reported and not used. */
static void test_never_counted(void **state)
{
	struct cores c;

	(void)state;
	c = (struct cores) {.idle_us = {123456, 7654321}};
	tree_begin(&c.tree);
	tree_file(&c.tree, "/sys/devices/system/cpu/present", "0-1\n");
	tree_file(&c.tree, "/sys/devices/system/cpu/online", "0-1\n");
	write_idle(&c, 0);
	write_idle(&c, 1);
	write_stat(&c);
	tree_resolve(&c.tree, "fast cpu");
	assert_string_equal(tree_channel(&c.tree, "cpu.util")->source, "/proc/stat");
	tree_end(&c.tree);
}

/* A long idle time ends: its gain is not counted twice. */
static void test_gain_of_a_long_stretch(void **state)
{
	const int64_t period[2] = {4000000, 4000000};
	const double busy[2] = {0.25, 0.5};
	struct sum s = {.n = {0, 0}};
	struct cores c;

	(void)state;
	begin(&c, "fast cpu source=cpuidle");
	run(&c, 4000, period, busy, NULL, NULL); /* 1 s busy, 3 s idle */
	run(&c, 60, period, busy, NULL, NULL);
	assert_value(&c.tree, "cpu0.util", 100);
	assert_value(&c.tree, "cpu1.util", 100);
	run(&c, 3940, period, busy, NULL, NULL);
	run(&c, 8000, period, busy, add_up, &s);
	assert_true(fabs(s.sum[0] / s.n[0] - 25) < 1);
	assert_true(fabs(s.sum[1] / s.n[1] - 50) < 1);
	tree_end(&c.tree);
}

static void test_offline_and_back(void **state)
{
	const int64_t period[2] = {4000, 4000};
	const double busy[2] = {0.5, 0.75};
	struct cores c;
	char path[256];

	(void)state;
	begin(&c, "fast cpu source=cpuidle");
	run(&c, 400, period, busy, NULL, NULL);
	assert_true(fabs(tree_value(&c.tree, "cpu1.util") - 75) < 10);
	c.offline = true;
	tree_file(&c.tree, "/sys/devices/system/cpu/online", "0\n");
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu1/cpuidle/state%d/time", c.tree.dir,
			 i);
		assert_int_equal(unlink(path), 0);
	}
	run(&c, 3000, period, busy, NULL, NULL);
	assert_missing(&c.tree, "cpu1.util");
	assert_true(fabs(tree_value(&c.tree, "cpu0.util") - 50) < 10);
	assert_value(&c.tree, "cpu.util", tree_value(&c.tree, "cpu0.util"));
	c.offline = false;
	c.counted_us[1] = 17; /* restarts from 0 */
	c.stat_step = -5;
	c.idle_us[1] += 100000000;
	tree_file(&c.tree, "/sys/devices/system/cpu/online", "0-1\n");
	run(&c, 2000, period, busy, NULL, NULL);
	assert_true(fabs(tree_value(&c.tree, "cpu1.util") - 75) < 10);
	tree_end(&c.tree);
}

static void test_counter_steps(void **state)
{
	const int64_t period[2] = {4000, 4000};
	const double busy[2] = {0.5, 0.5};
	struct cores c;

	(void)state;
	begin(&c, "fast cpu source=cpuidle");
	run(&c, 400, period, busy, NULL, NULL);
	c.counted_us[0] += 500000000; /* forward by more than the elapsed time */
	c.counted_us[1] -= 50000;     /* back */
	run(&c, 10, period, busy, NULL, NULL);
	assert_missing(&c.tree, "cpu0.util");
	assert_missing(&c.tree, "cpu1.util");
	run(&c, 200, period, busy, NULL, NULL);
	assert_true(fabs(tree_value(&c.tree, "cpu0.util") - 50) < 10);
	assert_true(fabs(tree_value(&c.tree, "cpu1.util") - 50) < 10);
	tree_end(&c.tree);
}

static void test_garbage(void **state)
{
	static const char *const texts[] = {"", "x\n", "-5\n", "99999999999999999999\n",
					    "9223372036854775807\n"};
	const int64_t period[2] = {4000, 4000};
	const double busy[2] = {0.5, 0.5};
	struct cores c;

	(void)state;
	begin(&c, "fast cpu source=cpuidle");
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		run(&c, 2000, period, busy, NULL, NULL);
		assert_true(fabs(tree_value(&c.tree, "cpu0.util") - 50) < 10);
		tree_file(&c.tree, "/sys/devices/system/cpu/cpu0/cpuidle/state1/time", texts[i]);
		tree_tick(&c.tree, 10 * MS);
		assert_missing(&c.tree, "cpu0.util");
		assert_false(isnan(tree_value(&c.tree, "cpu1.util")));
		c.us += 10000;
	}
	tree_end(&c.tree);
}

/* A copied tree: nothing changes, so nothing is known. */
static void test_still_files(void **state)
{
	struct cores c;

	(void)state;
	begin(&c, "fast cpu");
	for (int i = 0; i < 1000; i++) {
		tree_tick(&c.tree, 10 * MS);
		assert_missing(&c.tree, "cpu0.util");
		assert_missing(&c.tree, "cpu.util");
	}
	tree_end(&c.tree);
}

static void test_choice(void **state)
{
	struct cores c;
	struct err e;

	(void)state;
	begin(&c, "fast cpu");
	assert_string_equal(fact_get(c.tree.probes->facts, c.tree.probes->n_facts, "cpu.source"),
			    "cpuidle; perf: not of this machine");
	assert_string_equal(tree_channel(&c.tree, "cpu1.util")->source,
			    "/sys/devices/system/cpu/cpu1/cpuidle/state*/time");
	assert_string_equal(tree_channel(&c.tree, "cpu1.util")->note, "cpuidle: mean of the last 50 ms");
	assert_string_equal(tree_channel(&c.tree, "cpu.util")->note,
			    "cpuidle: mean of the last 50 ms, of all online cores");
	assert_int_equal(tree_channel(&c.tree, "cpu.util")->window_ns, 50 * MS);
	assert_int_equal(tree_channel(&c.tree, "cpu1.util")->window_ns, 50 * MS);
	assert_int_equal(tree_channel(&c.tree, "cpu1.util")->age_ns, 0);
	tree_end(&c.tree);

	begin(&c, "slow cpu"); /* a window is at least one tick */
	assert_string_equal(tree_channel(&c.tree, "cpu0.util")->note, "cpuidle: mean of the last 100 ms");
	assert_int_equal(tree_channel(&c.tree, "cpu0.util")->window_ns, 100 * MS);
	tree_end(&c.tree);

	begin(&c, "fast cpu source=stat");
	assert_string_equal(fact_get(c.tree.probes->facts, c.tree.probes->n_facts, "cpu.source"), "stat");
	assert_string_equal(tree_channel(&c.tree, "cpu1.util")->note, "stat: mean of the last 100 ms");
	tree_end(&c.tree);

	begin(&c, "fast cpu source=stat");
	probe_set_free(c.tree.probes);
	tree_file(&c.tree, "/proc/meminfo", "MemTotal: 10 kB\nMemAvailable: 4 kB\n");
	tree_resolve(&c.tree, "fast cpu source=perf\nfast ram");
	assert_string_equal(tree_channel(&c.tree, "cpu.util")->missing,
			    "source=perf; perf: not of this machine");
	probe_set_free(c.tree.probes);
	c.tree.probes = NULL;
	assert_null(tree_try(&c.tree, "fast cpu source=magic", &e));
	assert_non_null(strstr(e.text, "source="));
	tree_end(&c.tree);
}

/* One core has no idle states: sources are not mixed. */
static void test_not_for_all_cores(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/sys/devices/system/cpu/present", "0-1\n");
	tree_file(&t, "/sys/devices/system/cpu/cpu0/cpuidle/state0/time", "1\n");
	tree_file(&t, "/proc/stat", "cpu  5 0 5 3 0\ncpu0 5 0 5 3 0\ncpu1 5 0 5 3 0\nintr 1\n");
	tree_resolve(&t, "fast cpu");
	assert_string_equal(fact_get(t.probes->facts, t.probes->n_facts, "cpu.source"),
			    "stat; perf: not of this machine; cpuidle: not there");
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_means),
		cmocka_unit_test(test_no_gain),
		cmocka_unit_test(test_never_counted),
		cmocka_unit_test(test_gain_of_a_long_stretch),
		cmocka_unit_test(test_offline_and_back),
		cmocka_unit_test(test_counter_steps),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_still_files),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_not_for_all_cores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
