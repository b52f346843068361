/* Engines, and memory other than RAM in use. */
#include "test-probe-tree.h"

#define NVENC "/sys/class/devfreq/154c0000.nvenc"
#define USAGE "/sys/kernel/debug/tegra-host1x/actmon/nvenc/module0/usage"
#define RATE  "/sys/kernel/debug/bpmp/debug/clk/nvenc/rate"

static void nvenc(struct tree *t, const char *hz, const char *status, const char *permille)
{
	tree_file(t, NVENC "/device/of_node/name", "nvenc");
	tree_file(t, NVENC "/cur_freq", hz);
	tree_file(t, NVENC "/device/power/runtime_status", status);
	tree_file(t, USAGE, permille);
}

static void test_engine(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	nvenc(&t, "192000000\n", "active\n", "371\n");
	tree_resolve(&t, "slow engine NVENC optional devfreq=nvenc load=" USAGE);
	tree_tick(&t, MS);
	assert_value(&t, "NVENC.freq", 192e6);
	assert_value(&t, "NVENC.util", 37.1);
	assert_int_equal(tree_channel(&t, "NVENC.freq")->kind, CHANNEL_ENGINE_FREQ);
	assert_int_equal(tree_channel(&t, "NVENC.util")->kind, CHANNEL_ENGINE_UTIL);
	assert_int_equal(tree_channel(&t, "NVENC.util")->unit, UNIT_PERCENT);
	assert_string_equal(tree_channel(&t, "NVENC.util")->label, "NVENC");
	assert_string_equal(tree_channel(&t, "NVENC.util")->note, "");
	/* Without power both files keep their last value; the engine is known to be off. */
	nvenc(&t, "192000000\n", "suspended\n", "371\n");
	tree_tick(&t, MS);
	assert_value(&t, "NVENC.freq", 0);
	assert_value(&t, "NVENC.util", 0);
	nvenc(&t, "998400000\n", "active\n", "1001\n");
	tree_tick(&t, MS);
	assert_value(&t, "NVENC.freq", 998.4e6);
	assert_missing(&t, "NVENC.util");
	nvenc(&t, "18446744073709551615\n", "active\n", "0\n"); /* the clock tree's "no limit" */
	tree_tick(&t, MS);
	assert_missing(&t, "NVENC.freq");
	assert_value(&t, "NVENC.util", 0);
	tree_end(&t);
}

/* Powered off when opened: its counter is not read. */
static void test_engine_off_at_start(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	nvenc(&t, "0\n", "suspended\n", "nonsense\n");
	tree_resolve(&t, "slow engine NVENC devfreq=nvenc load=" USAGE);
	assert_string_equal(tree_channel(&t, "NVENC.util")->missing, "");
	tree_tick(&t, MS);
	assert_value(&t, "NVENC.util", 0);
	nvenc(&t, "192000000\n", "active\n", "500\n");
	tree_tick(&t, MS);
	assert_value(&t, "NVENC.util", 50);
	tree_end(&t);
}

static void test_engine_clock_tree(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, RATE, "1164800000\n");
	tree_file(&t, USAGE, "100\n");
	tree_resolve(&t, "slow engine NVENC devfreq=nvenc path=/no/rate path=" RATE " load=" USAGE);
	tree_tick(&t, MS);
	assert_value(&t, "NVENC.freq", 1164.8e6);
	/* Power state unknown: the counter is not read. */
	assert_missing(&t, "NVENC.util");
	assert_non_null(strstr(tree_channel(&t, "NVENC.util")->missing, "power"));
	tree_end(&t);
}

static void test_engine_that_is_not_there(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/proc/meminfo", "MemTotal: 2 kB\nMemAvailable: 1 kB\n");
	tree_file(&t, USAGE, "100\n");
	tree_resolve(&t, "fast ram\n"
			 "slow engine NVENC optional devfreq=nvenc path=" RATE " load=" USAGE "\n"
			 "slow engine NVDEC devfreq=nvdec hint=\"is the module nvdec loaded?\"\n"
			 "slow engine VIC optional load=/sys/kernel/debug/vic/actmon_avg_norm");
	assert_null(probe_set_find(t.probes, "NVENC.freq"));
	assert_null(probe_set_find(t.probes, "NVENC.util"));
	assert_null(probe_set_find(t.probes, "VIC.util"));
	assert_non_null(
		strstr(tree_channel(&t, "NVDEC.freq")->missing, "devfreq nvdec/cur_freq (not there)"));
	assert_non_null(strstr(tree_channel(&t, "NVDEC.freq")->missing, "is the module nvdec loaded?"));
	assert_null(probe_set_find(t.probes, "NVDEC.util"));
	tree_end(&t);
}

static void test_engine_index_and_unvalidated_load(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	nvenc(&t, "192000000\n", "active\n", "371\n");
	tree_file(&t, "/sys/devices/x/15340000.vic/load", "12\n");
	tree_resolve(&t, "slow engine NVENC devfreq=nvenc load=" USAGE "\n"
			 "slow engine VIC load=/sys/devices/x/15340000.vic/load");
	tree_tick(&t, MS);
	assert_value(&t, "VIC.util", 1.2);
	assert_non_null(strstr(tree_channel(&t, "VIC.util")->note, "not validated"));
	assert_int_equal(tree_channel(&t, "NVENC.freq")->index, 0);
	assert_int_equal(tree_channel(&t, "NVENC.util")->index, 0);
	assert_int_equal(tree_channel(&t, "VIC.util")->index, 1);
	tree_end(&t);
}

static void test_wrong_statements(void **state)
{
	static const char *const all[] = {
		"slow engine NVENC",
		"slow engine NVENC perhaps devfreq=nvenc",
		"slow engine NVENC optional more devfreq=nvenc",
		"slow engine NVENC load=usage",
		"slow gated gpu",
		"slow limits gpu",
		"slow nvmap sometimes",
		"slow zram all",
	};

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tree t;
		struct err e;
		tree_begin(&t);
		assert_null(tree_try(&t, all[i], &e));
		assert_non_null(strstr(e.text, "b.board:3: "));
		tree_end(&t);
	}
}

static void test_zram(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/sys/block/zram0/mm_stat", " 4096000  1024000  1228800  0  2048000  12  0  0\n");
	tree_file(&t, "/sys/block/zram1/mm_stat", "1024 100 4096 0 4096 0 0 0\n");
	tree_file(&t, "/sys/block/zram1/disksize", "1048576\n");
	tree_file(&t, "/sys/block/zram2/size", "0\n"); /* an old kernel, without mm_stat */
	tree_file(&t, "/sys/block/zram3/disksize", "0\n");
	tree_file(&t, "/sys/block/zram3/mm_stat", "nonsense\n");
	tree_file(&t, "/sys/block/nvme0n1/size", "100\n");
	tree_resolve(&t, "slow zram");
	tree_tick(&t, MS);
	assert_value(&t, "zram.stored", 4001);
	assert_value(&t, "zram.used", 1204);
	tree_file(&t, "/sys/block/zram1/mm_stat", "1024 100\n");
	tree_tick(&t, MS);
	assert_missing(&t, "zram.stored"); /* a partial sum is invalid */
	assert_missing(&t, "zram.used");
	tree_end(&t);
}

static void test_nvmap(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/proc/meminfo",
		  "MemTotal: 2000 kB\nMemAvailable: 1000 kB\nNvMapMemFree:       0 kB\n"
		  "NvMapMemUsed:     412 kB\n");
	tree_resolve(&t, "slow nvmap");
	tree_tick(&t, MS);
	assert_value(&t, "nvmap.used", 412);
	tree_end(&t);

	tree_begin(&t);
	tree_file(&t, "/proc/meminfo", "MemTotal: 2000 kB\nMemAvailable: 1000 kB\n");
	tree_resolve(&t, "fast ram\nslow nvmap optional\nslow zram\nslow freeblock");
	assert_null(probe_set_find(t.probes, "nvmap.used"));
	assert_int_equal(t.probes->n_channels, 3);
	tree_end(&t);

	tree_begin(&t);
	tree_file(&t, "/proc/meminfo", "MemTotal: 2000 kB\nMemAvailable: 1000 kB\n");
	tree_resolve(&t, "fast ram\nslow nvmap");
	assert_non_null(strstr(tree_channel(&t, "nvmap.used")->missing, "NvMapMemUsed (not there)"));
	tree_end(&t);
}

static void test_largest_block(void **state)
{
	struct tree t;
	double page_kb = (double)sysconf(_SC_PAGESIZE) / 1024;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/proc/buddyinfo",
		  "Node 0, zone      DMA      1      2      0      0\n"
		  "Node 0, zone   Normal    512     34      7      1      0      0\n");
	tree_resolve(&t, "slow freeblock");
	tree_tick(&t, MS);
	assert_value(&t, "ram.largest_block", 8 * page_kb);
	tree_file(&t, "/proc/buddyinfo", "Node 0, zone   Normal    0     0      0\n");
	tree_tick(&t, MS);
	assert_value(&t, "ram.largest_block", 0);
	tree_file(&t, "/proc/buddyinfo", "nonsense\n");
	tree_tick(&t, MS);
	assert_missing(&t, "ram.largest_block");
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_engine),
		cmocka_unit_test(test_engine_off_at_start),
		cmocka_unit_test(test_engine_clock_tree),
		cmocka_unit_test(test_engine_that_is_not_there),
		cmocka_unit_test(test_engine_index_and_unvalidated_load),
		cmocka_unit_test(test_wrong_statements),
		cmocka_unit_test(test_zram),
		cmocka_unit_test(test_nvmap),
		cmocka_unit_test(test_largest_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
