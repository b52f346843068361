/* GPU, memory controller, engines and unit states. */
#include "fake-pread.h"
#include "util/clock.h"
#include "test-probe-tree.h"

static unsigned clock_reads; /* of the memory controller */

ssize_t faked_pread(int fd, void *buf, size_t size, off64_t offset)
{
	char link[64], path[256];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof path - 1);
	path[n > 0 ? n : 0] = '\0';
	clock_reads += strstr(path, "/emc/rate") != NULL;
	return pread_really(fd, buf, size, offset);
}

#define GPU "/sys/devices/platform/gpu.0"

static void counters(struct tree *t, long long busy, long long total)
{
	char text[64];

	snprintf(text, sizeof text, "%lld %lld\n", busy, total);
	tree_file(t, GPU "/counters", text);
	tree_tick(t, MS);
}

static void gpu_begin(struct tree *t)
{
	tree_begin(t);
	tree_file(t, GPU "/counters", "0 0\n");
	tree_file(t, GPU "/load", "345\n");
	tree_file(t, GPU "/gpu_powered_on", "on\n");
	tree_resolve(t, "fast gpu dir=" GPU);
	assert_string_equal(tree_channel(t, "gpu.util")->source, GPU "/counters");
}

static void test_gpu_counters(void **state)
{
	struct tree t;

	(void)state;
	gpu_begin(&t);
	counters(&t, 1000, 5000);
	assert_missing(&t, "gpu.util"); /* no previous reading */
	counters(&t, 51000, 205000);
	assert_value(&t, "gpu.util", 25);
	counters(&t, 51000, 405000);
	assert_value(&t, "gpu.util", 0);
	counters(&t, 251010, 605000); /* a few more busy than total cycles */
	assert_value(&t, "gpu.util", 100);
	counters(&t, 251010 + 66667, 805000);
	assert_value(&t, "gpu.util", 33.3);   /* tenths */
	counters(&t, 251010 + 66667, 805000); /* the total stands still */
	assert_missing(&t, "gpu.util");
	tree_end(&t);
}

static void test_gpu_wrap_and_reset(void **state)
{
	struct tree t;

	(void)state;
	gpu_begin(&t);
	counters(&t, 0x7fffffff - 20000, 0x7fffffff - 100000);
	counters(&t, 79999, 99999); /* both wrapped: 100000 of 200000 */
	assert_value(&t, "gpu.util", 50);
	counters(&t, 1000, 2000); /* lower again, but no wrap goes that far in 1 ms */
	assert_missing(&t, "gpu.util");
	counters(&t, 1000 + 150000, 2000 + 200000);
	assert_value(&t, "gpu.util", 75);
	counters(&t, 1000 + 900000, 2000 + 400000); /* more busy time than elapsed */
	assert_missing(&t, "gpu.util");
	tree_tick(&t, 30 * NS_PER_S); /* so long ago that it may have wrapped twice */
	assert_missing(&t, "gpu.util");
	tree_end(&t);
}

static void test_gpu_powered_off(void **state)
{
	struct tree t;

	(void)state;
	gpu_begin(&t);
	counters(&t, 1000, 5000);
	counters(&t, 0, 0); /* it is on, so 0 0 is unknown */
	assert_missing(&t, "gpu.util");
	tree_file(&t, GPU "/gpu_powered_on", "off\n");
	counters(&t, 0, 0);
	assert_value(&t, "gpu.util", 0);
	tree_file(&t, GPU "/gpu_powered_on", "0\n");
	counters(&t, 0, 0);
	assert_value(&t, "gpu.util", 0);
	tree_file(&t, GPU "/gpu_powered_on", "1\n");
	counters(&t, 100, 1000);
	assert_missing(&t, "gpu.util");
	counters(&t, 100100, 201000);
	assert_value(&t, "gpu.util", 50);
	tree_end(&t);

	tree_begin(&t);
	tree_file(&t, GPU "/counters", "0 0\n");
	tree_file(&t, GPU "/is_railgated", "yes\n");
	tree_resolve(&t, "fast gpu dir=/nowhere dir=" GPU);
	tree_tick(&t, MS);
	assert_value(&t, "gpu.util", 0);
	tree_file(&t, GPU "/is_railgated", "no\n");
	tree_tick(&t, MS);
	assert_missing(&t, "gpu.util");
	tree_end(&t);
}

static void test_gpu_garbage(void **state)
{
	static const char *const texts[] = {"",       "5\n",    "a b\n",
					    "-1 5\n", "5 -1\n", "99999999999999999999 1\n"};
	struct tree t;

	(void)state;
	gpu_begin(&t);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		counters(&t, 1000, 5000);
		counters(&t, 51000, 205000);
		assert_value(&t, "gpu.util", 25);
		tree_file(&t, GPU "/counters", texts[i]);
		tree_tick(&t, MS);
		assert_missing(&t, "gpu.util");
	}
	tree_end(&t);
}

static void test_gpu_load(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	/* Counters that stand still while the GPU is on are not used. */
	tree_file(&t, "/sys/devices/x/17000000.gpu/counters", "7 9\n");
	tree_file(&t, "/sys/devices/x/17000000.gpu/load", "999\n");
	tree_file(&t, "/sys/devices/x/17000000.gpu/of_node/name", "gpu");
	tree_link(&t, "/sys/class/devfreq/17000000.gpu/device", "../../../devices/x/17000000.gpu");
	tree_resolve(&t, "fast gpu dir=/nowhere devfreq=ga10b devfreq=gpu");
	tree_tick(&t, MS);
	assert_value(&t, "gpu.util", 99.9);
	assert_string_equal(tree_channel(&t, "gpu.util")->note, "moving average of 284 ms");
	assert_int_equal(tree_channel(&t, "gpu.util")->period_ns, 16700000);
	tree_file(&t, "/sys/devices/x/17000000.gpu/load", "1001\n");
	tree_tick(&t, MS);
	assert_missing(&t, "gpu.util");
	tree_file(&t, "/sys/devices/x/17000000.gpu/load", "0\n");
	tree_tick(&t, MS);
	assert_value(&t, "gpu.util", 0);
	tree_end(&t);
}

static void test_gpu_missing(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/proc/stat", "cpu 1 1 1 1\ncpu0 1 1 1 1\n");
	tree_resolve(&t, "fast gpu dir=/a dir=/b devfreq=ga10b hint=\"load nvgpu\"\nfast cpu");
	const char *why = tree_channel(&t, "gpu.util")->missing;
	assert_non_null(strstr(why, "/a/load"));
	assert_non_null(strstr(why, "/b/load"));
	assert_non_null(strstr(why, "devfreq ga10b"));
	assert_non_null(strstr(why, "load nvgpu"));
	tree_tick(&t, MS);
	assert_missing(&t, "gpu.util");
	tree_end(&t);
}

#define EMC "fast emc activity=/sys/kernel/debug/cactmon/mc_all rate=/no/rate rate=/sys/kernel/debug/emc/rate"

static void test_emc(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/sys/kernel/debug/cactmon/mc_all", "127980\n");
	tree_file(&t, "/sys/kernel/debug/emc/rate", "2133000000\n");
	tree_resolve(&t, EMC);
	tree_tick(&t, MS);
	assert_value(&t, "emc.util", (float)6.0); /* both in kHz */
	assert_int_equal(tree_channel(&t, "emc.util")->period_ns, 10 * MS);
	assert_non_null(strstr(tree_channel(&t, "emc.util")->note, "not validated"));
	tree_file(&t, "/sys/kernel/debug/cactmon/mc_all", "2160000\n");
	tree_tick(&t, MS);
	assert_value(&t, "emc.util", 100); /* the two were not read at the same instant */
	tree_file(&t, "/sys/kernel/debug/cactmon/mc_all", "99999999\n");
	tree_tick(&t, MS);
	assert_missing(&t, "emc.util"); /* not a valid percentage */
	tree_file(&t, "/sys/kernel/debug/emc/rate", "0\n");
	tree_tick(&t, MS);
	assert_missing(&t, "emc.util");
	tree_end(&t);

	tree_begin(&t);
	tree_file(&t, "/sys/kernel/debug/cactmon/mc_all", "1000\n");
	tree_file(&t, "/sys/kernel/debug/cactmon/sample_period_usec", "20000\n");
	tree_file(&t, "/sys/kernel/debug/emc/rate", "2133000000\n");
	tree_resolve(&t, EMC);
	assert_int_equal(tree_channel(&t, "emc.util")->period_ns, 20 * MS);
	tree_tick(&t, MS); /* the period must not affect the value */
	assert_value(&t, "emc.util", (float)(1000 / 2133000.0 * 100));
	tree_end(&t);
}

/* The clock is available without the activity, and read once for both. */
static void test_emc_rate(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/sys/kernel/debug/cactmon/mc_all", "127980\n");
	tree_file(&t, "/sys/kernel/debug/emc/rate", "2133000000\n");
	tree_resolve(&t, EMC);
	clock_reads = 0;
	tree_tick(&t, MS);
	assert_int_equal(clock_reads, 1);
	assert_value(&t, "emc.util", (float)6.0);
	assert_value(&t, "emc.rate", 2133e6);
	assert_string_equal(tree_channel(&t, "emc.rate")->source, "/sys/kernel/debug/emc/rate");
	tree_file(&t, "/sys/kernel/debug/cactmon/mc_all", "none\n");
	tree_file(&t, "/sys/kernel/debug/emc/rate", "204000000\n");
	tree_tick(&t, MS);
	assert_missing(&t, "emc.util");
	assert_value(&t, "emc.rate", 204e6);
	tree_file(&t, "/sys/kernel/debug/emc/rate", "none\n");
	tree_tick(&t, MS);
	assert_missing(&t, "emc.rate");
	tree_end(&t);

	tree_begin(&t);
	tree_file(&t, "/sys/kernel/debug/emc/rate", "204000000\n");
	tree_resolve(&t, EMC);
	tree_tick(&t, MS);
	assert_non_null(strstr(tree_channel(&t, "emc.util")->missing, "mc_all"));
	assert_missing(&t, "emc.util");
	assert_value(&t, "emc.rate", 204e6);
	tree_end(&t);

	tree_begin(&t);
	tree_file(&t, "/sys/kernel/debug/cactmon/mc_all", "127980\n");
	tree_file(&t, "/proc/meminfo", "MemTotal: 8000 kB\nMemAvailable: 5000 kB\n");
	tree_resolve(&t, EMC "\nfast ram");
	assert_non_null(strstr(tree_channel(&t, "emc.util")->missing, "emc/rate"));
	assert_non_null(strstr(tree_channel(&t, "emc.rate")->missing, "emc/rate"));
	tree_end(&t);
}

/* What each generation has, and how its result is rated. */
static void test_emc_generations(void **state)
{
	static const struct {
		const char *activity, *rate, *note;
	} all[] = {
		{"/sys/kernel/actmon_avg_activity/mc_all", "/sys/kernel/debug/clk/override.emc/clk_rate", ""},
		{"/sys/kernel/actmon_avg_activity/mc_all", "/sys/kernel/debug/bpmp/debug/clk/emc/rate", ""},
		{"/sys/kernel/debug/bpmp/debug/actmon/mc_all_avg_activity",
		 "/sys/class/devfreq/bwmgr/cur_freq", "not validated: the unit"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tree t;
		char text[400];
		tree_begin(&t);
		tree_file(&t, all[i].activity, "400000\n");
		tree_file(&t, all[i].rate, "1600000000\n");
		snprintf(text, sizeof text, "fast emc activity=/no/such activity=%s rate=%s", all[i].activity,
			 all[i].rate);
		tree_resolve(&t, text);
		tree_tick(&t, MS);
		assert_value(&t, "emc.util", 25);
		const struct channel *c = tree_channel(&t, "emc.util");
		assert_int_equal(strncmp(c->note, all[i].note, strlen(all[i].note) + !all[i].note[0]), 0);
		assert_int_equal(c->window_ns, 10 * MS);
		tree_end(&t);
	}
}

static void sleeps(struct tree *t, const char *ms)
{
	tree_file(t, GPU "/power/runtime_suspended_time", ms);
}

/* Between two distant readings a restart looks like a wrap: the suspended time tells. */
static void test_gpu_slept_between(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, GPU "/counters", "0 0\n");
	tree_file(&t, GPU "/devfreq/17000000.gpu/available_frequencies", "306000000 1300500000\n");
	sleeps(&t, "1000\n");
	tree_resolve(&t, "fast gpu dir=" GPU);
	probe_set_be_gentle(t.probes);
	tree_file(&t, GPU "/counters", "1000000000 2000000000\n");
	tree_tick(&t, 600 * MS);
	tree_file(&t, GPU "/counters", "1060000000 2120000000\n");
	tree_tick(&t, 600 * MS);
	assert_value(&t, "gpu.util", 50);
	tree_file(&t, GPU "/counters", "1100000000 52516352\n"); /* the total wrapped: 80000000 more */
	tree_tick(&t, 600 * MS);
	assert_value(&t, "gpu.util", 50);
	sleeps(&t, "1400\n");
	tree_file(&t, GPU "/counters", "30000000 60000000\n"); /* more cycles? it was suspended */
	tree_tick(&t, 600 * MS);
	assert_missing(&t, "gpu.util");
	tree_file(&t, GPU "/counters", "60000000 120000000\n");
	tree_tick(&t, 600 * MS);
	assert_value(&t, "gpu.util", 50);
	tree_file(&t, GPU "/counters", "90000000 180000000\n"); /* it may have wrapped twice */
	tree_tick(&t, 1700 * MS);
	assert_missing(&t, "gpu.util");
	tree_end(&t);

	/* Without that file, a lower total after so long is ambiguous. */
	tree_begin(&t);
	tree_file(&t, GPU "/counters", "0 0\n");
	tree_resolve(&t, "fast gpu dir=" GPU);
	tree_file(&t, GPU "/counters", "1000000000 2100000000\n");
	tree_tick(&t, 600 * MS);
	tree_file(&t, GPU "/counters", "1020000000 20000000\n");
	tree_tick(&t, 600 * MS);
	assert_missing(&t, "gpu.util");
	tree_end(&t);
}

static void test_gentle(void **state)
{
	struct tree t;

	(void)state;
	gpu_begin(&t);
	assert_int_equal(t.probes->probes[0]->period_ns, 0);
	probe_set_be_gentle(t.probes);
	assert_true(t.probes->probes[0]->period_ns > 500 * MS);
	assert_int_equal(tree_channel(&t, "gpu.util")->period_ns, t.probes->probes[0]->period_ns);
	assert_non_null(strstr(tree_channel(&t, "gpu.util")->note, "sleep"));
	tree_end(&t);
}

/* Counters that could wrap between two reads are not used: the load is. */
static void test_gpu_slow_tier(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, GPU "/counters", "0 0\n");
	tree_file(&t, GPU "/load", "250\n");
	struct err e;
	static const double hz[TIERS] = {0.5, 100, 10};
	static const char text[] = "board b\ntitle B\nfast gpu dir=" GPU "\n";
	struct board *b = board_parse_text("b.board", text, strlen(text), &e);
	t.probes = board_resolve(b, t.root, hz, "because", &e);
	assert_non_null(t.probes);
	board_free(b);
	tree_tick(&t, 2000 * MS);
	assert_value(&t, "gpu.util", 25);
	tree_end(&t);
}

/* The load is read by a thread: its values arrive, and it ends with the probe set. */
static void test_gpu_load_thread(void **state)
{
	static const double hz[TIERS] = {1000, 100, 10};
	struct tree t;
	struct err e;

	(void)state;
	tree_begin(&t);
	tree_file(&t, GPU "/load", "420\n");
	tree_resolve(&t, "fast gpu dir=" GPU);
	assert_int_equal(probe_set_guard(t.probes, hz, &e), 0);
	probe_set_start(t.probes, 0);
	for (int i = 0; i < 5000 && isnan(tree_value(&t, "gpu.util")); i++) {
		usleep(1000);
		tree_tick(&t, 1);
	}
	assert_value(&t, "gpu.util", 42);
	tree_tick(&t, INT64_C(3600000000000) * 1000); /* as if it had hung since then */
	tree_end(&t);
}

static void test_gated(void **state)
{
	static const struct {
		const char *file, *text;
		double gated; /* -1: missing */
	} all[] = {
		{"gpu_powered_on", "1\n", 0},
		{"gpu_powered_on", "0\n", 1},
		{"gpu_powered_on", "on\n", 0},
		{"gpu_powered_on", "off\n", 1},
		{"is_railgated", "yes\n", 1},
		{"is_railgated", "no\n", 0},
		{"power/runtime_status", "suspended\n", 1},
		{"power/runtime_status", "active\n", 0},
		{"power/runtime_status", "resuming\n", 0},
		{"power/runtime_status", "unsupported\n", -1},
		{"power/runtime_status", "", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tree t;
		char path[128];
		tree_begin(&t);
		tree_file(&t, "/proc/meminfo", "MemTotal: 2 kB\nMemAvailable: 1 kB\n");
		snprintf(path, sizeof path, GPU "/%s", all[i].file);
		tree_file(&t, path, all[i].text);
		tree_resolve(&t, "slow gated gpu dir=/no dir=" GPU "\nfast ram");
		assert_int_equal(tree_channel(&t, "gpu.gated")->kind, CHANNEL_GATED);
		tree_tick(&t, MS);
		if (all[i].gated < 0) {
			assert_missing(&t, "gpu.gated");
			assert_true(*tree_channel(&t, "gpu.gated")->missing);
		} else {
			assert_value(&t, "gpu.gated", all[i].gated);
			tree_file(&t, path, "nonsense\n");
			tree_tick(&t, MS);
			assert_missing(&t, "gpu.gated");
		}
		tree_end(&t);
	}
}

#define DEVFREQ "/sys/class/devfreq/17000000.gpu"
#define POLICY  "/sys/devices/system/cpu/cpufreq/policy"

static void test_limits_and_pinned(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, DEVFREQ "/device/of_node/name", "gpu");
	tree_file(&t, DEVFREQ "/min_freq", "306000000\n");
	tree_file(&t, DEVFREQ "/max_freq", "1300500000\n");
	tree_file(&t, DEVFREQ "/governor", "nvhost_podgov\n");
	tree_file(&t, POLICY "0/scaling_min_freq", "2201600\n");
	tree_file(&t, POLICY "0/scaling_max_freq", "2201600\n");
	tree_file(&t, POLICY "4/scaling_min_freq", "729600\n");
	tree_file(&t, POLICY "4/scaling_max_freq", "2201600\n");
	tree_resolve(&t, "slow limits gpu devfreq=ga10b devfreq=gpu\nslow pinned devfreq=gpu");
	tree_tick(&t, MS);
	assert_value(&t, "gpu.freq_min", 306e6);
	assert_value(&t, "gpu.freq_max", 1300.5e6);
	assert_int_equal(tree_channel(&t, "gpu.freq_max")->kind, CHANNEL_FREQ_LIMIT);
	assert_int_equal(tree_channel(&t, "gpu.freq_max")->unit, UNIT_HZ);
	assert_string_equal(fact_get(t.probes->facts, t.probes->n_facts, "gpu.governor"), "nvhost_podgov");
	assert_value(&t, "clocks.pinned", 0);
	tree_file(&t, DEVFREQ "/min_freq", "1300500000\n");
	tree_tick(&t, MS);
	assert_value(&t, "clocks.pinned", 0); /* one cluster still changes its clock */
	tree_file(&t, POLICY "4/scaling_min_freq", "2201600\n");
	tree_tick(&t, MS);
	assert_value(&t, "clocks.pinned", 1);
	tree_unreadable(&t, POLICY "4/scaling_min_freq"); /* offline: unknown */
	tree_tick(&t, MS);
	assert_value(&t, "clocks.pinned", 1);
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gpu_counters),
		cmocka_unit_test(test_gpu_wrap_and_reset),
		cmocka_unit_test(test_gpu_powered_off),
		cmocka_unit_test(test_gpu_garbage),
		cmocka_unit_test(test_gpu_load),
		cmocka_unit_test(test_gpu_missing),
		cmocka_unit_test(test_emc),
		cmocka_unit_test(test_emc_rate),
		cmocka_unit_test(test_emc_generations),
		cmocka_unit_test(test_gpu_slept_between),
		cmocka_unit_test(test_gentle),
		cmocka_unit_test(test_gpu_slow_tier),
		cmocka_unit_test(test_gpu_load_thread),
		cmocka_unit_test(test_gated),
		cmocka_unit_test(test_limits_and_pinned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
