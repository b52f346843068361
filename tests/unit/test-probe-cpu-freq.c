/* Core clocks, limits and governors; load average. */
#include "test-probe-tree.h"

#define CPU "/sys/devices/system/cpu"

static void policy(const struct tree *t, int n, const char *cores, long cur, long min, long max)
{
	const struct {
		const char *file;
		long khz;
	} files[] = {{"scaling_cur_freq", cur}, {"scaling_min_freq", min}, {"scaling_max_freq", max}};
	char path[96], text[32];

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, CPU "/cpufreq/policy%d/%s", n, files[i].file);
		snprintf(text, sizeof text, "%ld\n", files[i].khz);
		if (files[i].khz >= 0)
			tree_file(t, path, text);
	}
	snprintf(path, sizeof path, CPU "/cpufreq/policy%d/related_cpus", n);
	tree_file(t, path, cores);
	snprintf(path, sizeof path, CPU "/cpufreq/policy%d/scaling_governor", n);
	tree_file(t, path, "schedutil\n");
}

static const char *fact(const struct tree *t, const char *key)
{
	return fact_get(t->probes->facts, t->probes->n_facts, key);
}

static void test_clusters(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, CPU "/present", "0-7\n");
	tree_file(&t, CPU "/online", "0-7\n");
	policy(&t, 0, "0 1 2 3\n", 729600, 115200, 2201600);
	policy(&t, 4, "4 5 6 7\n", 2201600, 729600, 2201600);
	tree_file(&t, CPU "/cpufreq/policy4/scaling_governor", "performance\n");
	tree_file(&t, CPU "/cpufreq/policy0/cpuinfo_cur_freq", "1\n"); /* queries the firmware: never read */
	tree_resolve(&t, "medium cpufreq");
	tree_tick(&t, MS);
	assert_int_equal(t.probes->n_channels, 6);
	assert_value(&t, "cpu0.freq", 729600e3);
	assert_value(&t, "cpu4.freq", 2201600e3);
	assert_value(&t, "cpu0.freq_min", 115200e3);
	assert_value(&t, "cpu4.freq_max", 2201600e3);
	assert_string_equal(tree_channel(&t, "cpu4.freq")->label, "cpu4-7");
	assert_string_equal(tree_channel(&t, "cpu4.freq_max")->label, "cpu4-7 max");
	assert_int_equal(tree_channel(&t, "cpu4.freq_max")->kind, CHANNEL_FREQ_LIMIT);
	assert_int_equal(tree_channel(&t, "cpu4.freq_max")->unit, UNIT_HZ);
	assert_int_equal(tree_channel(&t, "cpu4.freq_max")->period_ns, 1000 * MS);
	assert_int_equal(tree_channel(&t, "cpu4.freq")->index, 4);
	assert_string_equal(fact(&t, "cpu0.governor"), "schedutil");
	assert_string_equal(fact(&t, "cpu4.governor"), "performance");
	policy(&t, 0, "0 1 2 3\n", 115200, 115200, 1500000); /* another power mode */
	tree_tick(&t, MS);
	assert_value(&t, "cpu0.freq", 115200e3);
	assert_value(&t, "cpu0.freq_max", 1500000e3);
	tree_end(&t);
}

static void test_no_limits_no_governor(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, CPU "/cpufreq/policy0/scaling_cur_freq", "1000\n");
	tree_file(&t, CPU "/cpufreq/policyX/scaling_cur_freq", "1000\n");
	tree_file(&t, CPU "/cpufreq/policy99999999999/scaling_cur_freq", "1000\n");
	tree_file(&t, CPU "/cpufreq/boost", "1\n");
	tree_resolve(&t, "medium cpufreq");
	assert_int_equal(t.probes->n_channels, 1);
	assert_string_equal(tree_channel(&t, "cpu0.freq")->label, "cpu0");
	assert_null(fact(&t, "cpu0.governor"));
	tree_end(&t);
}

/* A policy without a clock is reported; its limits are available. */
static void test_no_clock(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	policy(&t, 0, "0 1\n", -1, 100, 200);
	tree_resolve(&t, "medium cpufreq");
	tree_tick(&t, MS);
	assert_non_null(strstr(tree_channel(&t, "cpu0.freq")->missing, "scaling_cur_freq"));
	assert_value(&t, "cpu0.freq_min", 100e3);
	tree_end(&t);
}

/* Half of the cores are offline at start and come online later. */
static void test_offline_group_comes_to_life(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, CPU "/present", "0-7\n");
	tree_file(&t, CPU "/online", "0-3\n");
	policy(&t, 0, "0 1 2 3\n", 729600, 115200, 2201600);
	tree_resolve(&t, "medium cpufreq");
	tree_tick(&t, MS);
	assert_missing(&t, "cpu4.freq");
	assert_string_equal(tree_channel(&t, "cpu4.freq")->missing, "");
	assert_string_equal(tree_channel(&t, "cpu4.freq")->label, "cpu4-7");
	tree_file(&t, CPU "/cpu4/cpufreq/scaling_cur_freq", "900000\n");
	tree_tick(&t, 1100 * MS);
	assert_value(&t, "cpu4.freq", 900000e3);
	tree_end(&t);
}

static void test_offline_within_a_group(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, CPU "/present", "0-5\n");
	tree_file(&t, CPU "/online", "0,3-5\n"); /* cores 1 and 2 have their own policy */
	policy(&t, 0, "0 3 4 5\n", 345600, 345600, 2035200);
	tree_resolve(&t, "medium cpufreq");
	assert_string_equal(tree_channel(&t, "cpu0.freq")->label, "cpu0,3-5");
	assert_string_equal(tree_channel(&t, "cpu1.freq")->label, "cpu1-2");
	assert_string_equal(tree_channel(&t, "cpu1.freq")->note, "offline when nvmtop started; every 20 ms");
	tree_end(&t);
}

/* Disappears with the last core of the group and returns as another file. */
static void test_goes_and_comes_back(void **state)
{
	struct tree t;
	char path[256];

	(void)state;
	tree_begin(&t);
	policy(&t, 0, "0 1\n", 1000, 100, 2000);
	tree_resolve(&t, "medium cpufreq");
	tree_tick(&t, MS);
	assert_value(&t, "cpu0.freq", 1e6);
	tree_file(&t, CPU "/cpufreq/policy0/scaling_cur_freq", ""); /* its old value is invalid */
	tree_tick(&t, MS);
	assert_missing(&t, "cpu0.freq");
	snprintf(path, sizeof path, "%s%s", t.dir, CPU "/cpufreq/policy0/scaling_cur_freq");
	assert_int_equal(unlink(path), 0);
	tree_tick(&t, 1100 * MS);
	assert_missing(&t, "cpu0.freq");
	policy(&t, 0, "0 1\n", 3000, 100, 2000);
	tree_tick(&t, 1100 * MS);
	assert_value(&t, "cpu0.freq", 3e6);
	tree_file(&t, CPU "/cpufreq/policy0/scaling_cur_freq", "0\n"); /* means unknown */
	tree_tick(&t, MS);
	assert_missing(&t, "cpu0.freq");
	tree_end(&t);
}

static void test_load(void **state)
{
	static const char *const bad[] = {
		"", "x", "1", "1.", "1.5", "1.55", "-1.50 1.00 1.00 1/2 3\n", "1.-5 ", "1. 5 ", "1.5 0 "};
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/proc/loadavg", "12.07 3.00 2.00 1/345 6789\n");
	tree_resolve(&t, "slow load");
	tree_tick(&t, MS);
	assert_value(&t, "load.1", 12.07);
	assert_value(&t, "load.5", 3);
	assert_value(&t, "load.15", 2);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		tree_file(&t, "/proc/loadavg", bad[i]);
		tree_tick(&t, MS);
		assert_missing(&t, "load.1");
		assert_missing(&t, "load.15");
	}
	tree_file(&t, "/proc/loadavg", "1.50 x 2.00 1/2 3\n"); /* the values before it are valid */
	tree_tick(&t, MS);
	assert_value(&t, "load.1", 1.5);
	assert_missing(&t, "load.5");
	assert_missing(&t, "load.15");
	tree_end(&t);
}

static void test_pressure(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\n"
					   "full avg10=0.00 avg60=0.00 avg300=0.00 total=900000\n");
	tree_resolve(&t, "slow pressure");
	assert_non_null(strstr(tree_channel(&t, "memory.pressure")->missing, "/proc/pressure/memory"));
	tree_tick(&t, MS);
	assert_missing(&t, "io.pressure"); /* no time has passed since it was opened */
	tree_file(&t, "/proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=26000\n");
	tree_tick(&t, 100 * MS);
	assert_value(&t, "io.pressure", 25); /* 25 ms of 100 ms */
	tree_tick(&t, 100 * MS);
	assert_value(&t, "io.pressure", 12.5);
	for (int i = 0; i < 9; i++)
		tree_tick(&t, 100 * MS);
	assert_value(&t, "io.pressure", 0); /* more than a second ago */
	tree_file(&t, "/proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=500\n");
	tree_tick(&t, 100 * MS);
	assert_missing(&t, "io.pressure"); /* backwards */
	tree_tick(&t, 100 * MS);
	assert_value(&t, "io.pressure", 0);
	tree_file(&t, "/proc/pressure/io", "some avg10=0.00\n");
	tree_tick(&t, 100 * MS);
	assert_missing(&t, "io.pressure");
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clusters),
		cmocka_unit_test(test_no_limits_no_governor),
		cmocka_unit_test(test_no_clock),
		cmocka_unit_test(test_offline_group_comes_to_life),
		cmocka_unit_test(test_offline_within_a_group),
		cmocka_unit_test(test_goes_and_comes_back),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_pressure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
