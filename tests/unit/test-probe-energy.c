/* Energy counters of hwmon and RAPL, in trees whose files follow a closed form over time. */
#include <sys/prctl.h>

#include "test-probe-tree.h"

#define CAP "/sys/class/powercap/intel-rapl:"

static void put_uj(const struct tree *t, const char *path, int64_t uj)
{
	char text[32];

	snprintf(text, sizeof text, "%lld\n", (long long)uj);
	tree_file(t, path, text);
}

static void zone(const struct tree *t, const char *number, const char *name, int64_t range)
{
	char path[96], text[64];

	snprintf(path, sizeof path, CAP "%s/name", number);
	snprintf(text, sizeof text, "%s\n", name);
	tree_file(t, path, text);
	snprintf(path, sizeof path, CAP "%s/max_energy_range_uj", number);
	put_uj(t, path, range);
	snprintf(path, sizeof path, CAP "%s/energy_uj", number);
	put_uj(t, path, 0);
}

/* 40 W for 5 s, then 15 W, in a counter that starts again after 65.5 J. */
static int64_t joules_uj(int64_t ms)
{
	return ms < 5000 ? 40000 * ms : 200000000 + 15000 * (ms - 5000);
}

static void test_rapl(void **state)
{
	const int64_t range = 65532610;
	double first = NAN, integral = 0, to = 0;
	struct tree t;

	(void)state;
	tree_begin(&t);
	zone(&t, "0", "package-0", range);
	zone(&t, "0:0", "core", range);
	zone(&t, "0:1", "dram", range);
	zone(&t, "1", "package-1", range);
	zone(&t, "1:1", "dram", range);
	tree_resolve(&t, "medium energy");
	assert_int_equal(tree_channel(&t, "cpu.energy")->unit, UNIT_JOULE);
	assert_int_equal(tree_channel(&t, "cpu.energy")->kind, CHANNEL_COUNTER);
	assert_int_equal(tree_channel(&t, "cpu.power")->kind, CHANNEL_RAIL_POWER);
	assert_int_equal(tree_channel(&t, "cpu.power")->window_ns, 10 * MS);
	assert_string_equal(tree_channel(&t, "cpu.energy")->source, CAP "0/energy_uj");
	assert_non_null(tree_channel(&t, "package-1.energy"));
	assert_non_null(tree_channel(&t, "package-1.power"));
	assert_non_null(tree_channel(&t, "core.energy"));
	assert_non_null(tree_channel(&t, "dram.energy"));
	assert_non_null(tree_channel(&t, "dram-1.energy"));
	assert_null(probe_set_find(t.probes, "core.power"));
	for (int64_t ms = 0; ms < 10000; ms += 10) {
		put_uj(&t, CAP "0/energy_uj", (60000000 + joules_uj(ms)) % range);
		tree_tick(&t, 10 * MS);
		double mw = tree_value(&t, "cpu.power"), j = tree_value(&t, "cpu.energy");
		if (ms < 20)
			continue;
		assert_true(fabs(mw - (ms <= 5000 ? 40000 : 15000)) < 0.1);
		if (isnan(first)) {
			first = j;
			continue;
		}
		integral += mw / 1000 * 0.01;
		to = j;
	}
	double rise = (double)(joules_uj(9990) - joules_uj(20)) / 1e6;
	assert_true(fabs(to - first - rise) < 1e-6);
	assert_true(fabs(integral - rise) < 1e-3);
	/* What does not change is no reading, and what cannot be read is missing, and not lost. */
	assert_missing(&t, "dram.energy");
	tree_tick(&t, 10 * MS);
	assert_missing(&t, "cpu.energy");
	assert_missing(&t, "cpu.power");
	tree_file(&t, CAP "0/energy_uj", "?\n");
	tree_tick(&t, 10 * MS);
	put_uj(&t, CAP "0/energy_uj", (60000000 + joules_uj(10500)) % range);
	tree_tick(&t, 480 * MS);
	assert_true(fabs(tree_value(&t, "cpu.energy") - first -
			 (double)(joules_uj(10500) - joules_uj(20)) / 1e6) < 1e-6);
	assert_missing(&t, "cpu.power"); /* a mean of 0.5 s is not one of 10 ms */
	tree_end(&t);
}

static void test_root_only(void **state)
{
	char path[300];
	struct tree t;

	(void)state;
	tree_begin(&t);
	zone(&t, "0", "package-0", 1000000);
	zone(&t, "0:0", "core", 1000000); /* a tree of which nothing can be read is refused */
	tree_path(&t, CAP "0/energy_uj", path);
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(chmod(t.dir, 0755), 0);
	if (geteuid() == 0 && seteuid(65534)) {
		print_message("# skipped: there is no other user here; run it as one\n");
		tree_end(&t);
		skip();
	}
	tree_resolve(&t, "medium energy");
	if (getuid() == 0 && seteuid(0) == 0)
		prctl(PR_SET_DUMPABLE, 1); /* leak checkers trace the process */
	for (int i = 0; i < 2; i++) {
		const char *why = tree_channel(&t, i ? "cpu.power" : "cpu.energy")->missing;
		assert_non_null(strstr(why, "readable by root only"));
		assert_non_null(strstr(why, "run nvmtop with sudo"));
	}
	tree_end(&t);
}

/* 40 W, in a counter that a suspend resets, which takes no time of the recording, and one that goes on in it. */
static void test_suspend(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	zone(&t, "0", "package-0", 262143328850);
	zone(&t, "1", "package-1", 262143328850);
	tree_resolve(&t, "medium energy");
	for (int64_t ms = 0; ms < 2000; ms += 10) {
		bool slept = ms >= 1000;

		put_uj(&t, CAP "0/energy_uj", slept ? 40000 * (ms - 1000) + 777 : 50000000 + 40000 * ms);
		put_uj(&t, CAP "1/energy_uj", 50000000 + 40000 * ms + (slept ? 1800000000 : 0));
		tree_tick(&t, 10 * MS);
		for (int i = 0; i < 2; i++) {
			double j = tree_value(&t, i ? "package-1.energy" : "cpu.energy"),
			       mw = tree_value(&t, i ? "package-1.power" : "cpu.power");

			if (ms == 1000)
				assert_true(j == 0 && isnan(mw));
			else if (ms > 1010)
				assert_true(fabs(j - 40e-3 * (double)(ms - 1000)) < 1e-6);
			if (ms > 20 && (ms < 1000 || ms > 1010))
				assert_true(fabs(mw - 40000) < 0.1);
		}
	}
	tree_end(&t);
}

/* A counter of a chip, which its driver renews every 50 ms, and that is reset. */
static void test_hwmon(void **state)
{
	double before = NAN;
	int changes = 0;
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_hwmon(&t, 2, "name", "ltc2947\n");
	tree_hwmon(&t, 2, "energy1_label", "VDD 1.8\n");
	tree_hwmon(&t, 2, "energy1_input", "500\n");
	tree_hwmon(&t, 2, "energy2_input", "77\n");
	tree_resolve(&t, "medium energy");
	assert_non_null(tree_channel(&t, "ltc2947_energy2.energy"));
	assert_null(probe_set_find(t.probes, "ltc2947_VDD_1_8.power"));
	for (int64_t ms = 0; ms < 2000; ms += 10) {
		char text[32];
		snprintf(text, sizeof text, "%lld\n",
			 (long long)(ms < 1000 ? 10000000 + ms / 50 * 250 : ms / 50 * 250));
		tree_hwmon(&t, 2, "energy1_input", text);
		tree_tick(&t, 10 * MS);
		double j = tree_value(&t, "ltc2947_VDD_1_8.energy");
		if (isnan(j))
			continue;
		assert_int_equal(ms % 50, 0);
		if (ms % 1000 == 0)
			assert_true(j == 0);
		else
			assert_true(isnan(before) || fabs(j - before - 250e-6) < 1e-9);
		before = j;
		changes++;
	}
	assert_int_equal(changes, 40); /* from the first reading on, and from the reset */
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rapl),
		cmocka_unit_test(test_root_only),
		cmocka_unit_test(test_hwmon),
		cmocka_unit_test(test_suspend),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
