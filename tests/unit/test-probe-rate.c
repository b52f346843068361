/* Rates of counters: what cores did in their time, bytes of disks and of network interfaces. */
#include "test-probe-tree.h"

#include "util/clock.h"

/* Columns of /proc/stat that are given in hundredths of a second: user, nice, system, idle, iowait, irq. */
static void stat_file(const struct tree *t, const int cpu0[6], const int cpu2[6])
{
	char text[512], one[128];
	int all[6];

	for (int i = 0; i < 6; i++)
		all[i] = cpu0[i] + (cpu2 ? cpu2[i] : 0);
	snprintf(text, sizeof text, "cpu  %d %d %d %d %d %d 0 0 0 0\n", all[0], all[1], all[2], all[3], all[4], all[5]);
	for (int k = 0; k < 2; k++) {
		const int *v = k ? cpu2 : cpu0;
		if (v)
			snprintf(one, sizeof one, "cpu%d %d %d %d %d %d %d 0 0 0 0\n", 2 * k, v[0], v[1], v[2], v[3], v[4], v[5]);
		if (v)
			strcat(text, one);
	}
	strcat(text, "intr 1 2 3\n");
	tree_file(t, "/proc/stat", text);
}

static void test_cores(void **state)
{
	int a[6] = {1000, 0, 500, 9000, 7, 0}, b[6] = {50, 0, 0, 100, 0, 0};
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/sys/devices/system/cpu/present", "0,2\n");
	stat_file(&t, a, b);
	tree_resolve(&t, "slow cputime");
	assert_null(probe_set_find(t.probes, "cpu1.user"));
	tree_tick(&t, 100 * MS);
	assert_missing(&t, "cpu0.user"); /* the first reading */
	/* In 100 ms core 0 does 5 user, 2 system, 1 nice, 1 irq and 1 idle; core 2 is idle. */
	for (int i = 0; i < 15; i++) {
		static const int step[6] = {5, 1, 2, 1, 0, 1};
		for (int k = 0; k < 6; k++)
			a[k] += step[k];
		b[3] += 10;
		stat_file(&t, a, b);
		tree_tick(&t, 100 * MS);
		assert_value(&t, "cpu0.user", 50);
		assert_value(&t, "cpu0.nice", 10);
		assert_value(&t, "cpu0.system", 20);
		assert_value(&t, "cpu0.idle", 10);
		assert_value(&t, "cpu2.idle", 100);
		assert_value(&t, "cpu.user", 25);
	}
	assert_int_equal(tree_channel(&t, "cpu2.idle")->index, 2);
	assert_int_equal(tree_channel(&t, "cpu2.idle")->window_ns, NS_PER_S / 10);
	/* Core 2 goes offline, and comes back with less idle time than before. */
	stat_file(&t, a, NULL);
	tree_tick(&t, 100 * MS);
	assert_missing(&t, "cpu2.idle");
	assert_int_equal(missing_why(t.row[TIER_SLOW][tree_channel(&t, "cpu2.idle")->column]), MISSING_OFFLINE);
	b[3] = 20;
	stat_file(&t, a, b);
	tree_tick(&t, 100 * MS);
	assert_missing(&t, "cpu2.idle");
	b[0] += 5;
	b[3] += 5;
	a[0] += 10;
	stat_file(&t, a, b);
	tree_tick(&t, 100 * MS);
	assert_value(&t, "cpu2.idle", 50);
	tree_file(&t, "/proc/stat", "cpu  x\ncpu0 1\n");
	tree_tick(&t, 100 * MS);
	assert_missing(&t, "cpu.user");
	assert_missing(&t, "cpu0.user");
	tree_end(&t);
}

static void test_no_stat(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/proc/loadavg", "1.00 1.00 1.00 1/2 3\n");
	tree_resolve(&t, "slow load\nslow cputime");
	assert_non_null(strstr(tree_channel(&t, "cpu.user")->missing, "/proc/stat"));
	assert_null(probe_set_find(t.probes, "cpu0.user"));
	tree_end(&t);
}

static void disk(const struct tree *t, const char *name, unsigned long long sectors_read, unsigned long long written)
{
	char path[96], text[160];

	snprintf(path, sizeof path, "/sys/block/%s/stat", name);
	snprintf(text, sizeof text, "    4711        3 %8llu     900     77       12 %8llu      800        0      400      1700\n",
		 sectors_read, written);
	tree_file(t, path, text);
}

static void test_disks(void **state)
{
	static const char *const others[] = {"loop0", "ram0", "zram0", "mmcblk0boot0"};
	struct tree t;

	(void)state;
	tree_begin(&t);
	disk(&t, "nvme0n1", 1000, 8);
	tree_file(&t, "/sys/block/nvme0n1/device/model", "X\n");
	for (size_t i = 0; i < 4; i++)
		disk(&t, others[i], 1, 1);
	tree_file(&t, "/sys/block/mmcblk0boot0/device/type", "MMC\n");
	tree_resolve(&t, "slow disk");
	assert_int_equal(t.probes->n_channels, 2);
	assert_string_equal(tree_channel(&t, "disk.nvme0n1.read")->source, "/sys/block/nvme0n1/stat");
	assert_string_equal(unit_name(tree_channel(&t, "disk.nvme0n1.read")->unit), "B/s");
	tree_tick(&t, 100 * MS);
	assert_missing(&t, "disk.nvme0n1.read");
	disk(&t, "nvme0n1", 1000 + 2000, 8);
	tree_tick(&t, 100 * MS);
	assert_value(&t, "disk.nvme0n1.read", 2000 * 512 * 10.0);
	assert_value(&t, "disk.nvme0n1.write", 0);
	tree_tick(&t, 100 * MS);
	assert_value(&t, "disk.nvme0n1.read", 0);
	/* More than a text can count in 32 bits. */
	disk(&t, "nvme0n1", 3000 + (1ULL << 40), 8);
	tree_tick(&t, 100 * MS);
	assert_true(t.row[TIER_SLOW][0] > 1e15);
	tree_file(&t, "/sys/block/nvme0n1/stat", "1 2 three\n");
	tree_tick(&t, 100 * MS);
	assert_missing(&t, "disk.nvme0n1.read");
	/* Another one with fewer sectors comes by its name. */
	disk(&t, "nvme0n1", 50, 0);
	tree_tick(&t, 1100 * MS);
	assert_missing(&t, "disk.nvme0n1.read");
	disk(&t, "nvme0n1", 150, 0);
	tree_tick(&t, 100 * MS);
	assert_value(&t, "disk.nvme0n1.read", 100 * 512 * 10.0);
	tree_end(&t);
}

static void net(const struct tree *t, const char *name, const char *rx, const char *tx, bool device)
{
	char path[96];

	snprintf(path, sizeof path, "/sys/class/net/%s/statistics/rx_bytes", name);
	tree_file(t, path, rx);
	snprintf(path, sizeof path, "/sys/class/net/%s/statistics/tx_bytes", name);
	tree_file(t, path, tx);
	snprintf(path, sizeof path, "/sys/class/net/%s/device/uevent", name);
	if (device)
		tree_file(t, path, "");
}

static void test_nets(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	net(&t, "lo", "5\n", "5\n", false);
	net(&t, "docker0", "5\n", "5\n", false);
	net(&t, "eth0", "1000\n", "500\n", true);
	tree_resolve(&t, "slow net");
	assert_int_equal(t.probes->n_channels, 2);
	tree_tick(&t, 100 * MS);
	net(&t, "eth0", "251000\n", "1500\n", true);
	tree_tick(&t, 100 * MS);
	assert_value(&t, "net.eth0.rx", 2.5e6);
	assert_value(&t, "net.eth0.tx", 1e4);
	tree_tick(&t, 300 * MS);
	assert_value(&t, "net.eth0.rx", 0);
	net(&t, "eth0", "551000\n", "1500\n", true);
	tree_tick(&t, 300 * MS); /* a reading came late: its time is longer */
	assert_value(&t, "net.eth0.rx", 1e6);
	tree_end(&t);

	tree_begin(&t); /* a container */
	net(&t, "lo", "5\n", "5\n", false);
	net(&t, "eth0", "5\n", "5\n", false);
	tree_resolve(&t, "slow net");
	assert_non_null(probe_set_find(t.probes, "net.eth0.rx"));
	assert_null(probe_set_find(t.probes, "net.lo.rx"));
	tree_end(&t);
}

/* What the board file names has a row, and the reason, until it comes. */
static void test_named(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	net(&t, "eth0", "5\n", "5\n", true);
	tree_resolve(&t, "slow net eth0 wwan0\nslow disk sda");
	assert_int_equal(t.probes->n_channels, 6);
	assert_non_null(strstr(tree_channel(&t, "net.wwan0.rx")->missing, "/sys/class/net/wwan0/statistics/rx_bytes"));
	assert_non_null(strstr(tree_channel(&t, "disk.sda.write")->missing, "/sys/block/sda/stat"));
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cores), cmocka_unit_test(test_no_stat), cmocka_unit_test(test_disks),
		cmocka_unit_test(test_nets),  cmocka_unit_test(test_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
