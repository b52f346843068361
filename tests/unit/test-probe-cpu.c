/* CPU utilization and memory from /proc. */
#include "test-probe-tree.h"

/* A machine of 4 cores. User time never advances, as may happen with tick sampling. */
struct cores {
	struct tree tree;
	double idle_ms[4];
	bool online[4];
	long uptime;
};

static void write_stat(struct cores *c)
{
	char text[1024];
	int n = snprintf(text, sizeof text, "cpu  5 0 5 %ld 0 0 0 0 0 0\n", c->uptime++);

	for (int i = 0; i < 4; i++)
		if (c->online[i])
			n += snprintf(text + n, sizeof text - (size_t)n, "cpu%d 5 0 5 %ld 3 0 0 0 0 0\n", i,
				      (long)(c->idle_ms[i] / 10));
	snprintf(text + n, sizeof text - (size_t)n, "intr 1 2 3\nctxt 1\n");
	tree_file(&c->tree, "/proc/stat", text);
}

/* Advance by ms, in steps of 10; i0 to i3: idle fraction of each core. */
static void run(struct cores *c, int ms, double i0, double i1, double i2, double i3)
{
	const double part[] = {i0, i1, i2, i3};

	for (int done = 0; done < ms; done += 10) {
		for (int i = 0; i < 4; i++)
			c->idle_ms[i] += 10 * part[i];
		write_stat(c);
		tree_tick(&c->tree, 10 * MS);
	}
}

static void begin(struct cores *c)
{
	*c = (struct cores) {.online = {true, true, true, true}, .idle_ms = {5000, 6000, 7000, 8000}};
	tree_begin(&c->tree);
	tree_file(&c->tree, "/sys/devices/system/cpu/present", "0-3\n");
	write_stat(c);
	tree_resolve(&c->tree, "fast cpu");
}

static void test_busy_core_is_100(void **state)
{
	struct cores c;

	(void)state;
	begin(&c);
	run(&c, 100, 0, 1, 0.5, 0);
	assert_missing(&c.tree, "cpu0.util"); /* no complete window */
	assert_missing(&c.tree, "cpu.util");
	double sum = 0;
	for (int i = 0; i < 100; i++) {
		run(&c, 10, 0, 1, 0.5, 0);
		assert_value(&c.tree, "cpu0.util", 100);
		assert_value(&c.tree, "cpu1.util", 0);
		sum += tree_value(&c.tree, "cpu2.util");
	}
	assert_true(fabs(sum / 100 - 50) < 1);
	assert_value(&c.tree, "cpu.util", (100 + 0 + tree_value(&c.tree, "cpu2.util") + 100) / 4);
	assert_int_equal(tree_channel(&c.tree, "cpu3.util")->index, 3);
	assert_int_equal(c.tree.probes->probes[0]->period_ns, 20 * MS);
	tree_end(&c.tree);
}

static void test_offline_is_missing_not_its_neighbour(void **state)
{
	struct cores c;

	(void)state;
	begin(&c);
	c.online[1] = c.online[2] = false;
	run(&c, 300, 1, 0, 0, 0);
	assert_value(&c.tree, "cpu0.util", 0);
	assert_missing(&c.tree, "cpu1.util");
	assert_missing(&c.tree, "cpu2.util");
	assert_value(&c.tree, "cpu3.util", 100);
	assert_value(&c.tree, "cpu.util", 50); /* mean of the online cores */
	tree_end(&c.tree);
}

static void test_hotplug_begins_a_new_window(void **state)
{
	struct cores c;

	(void)state;
	begin(&c);
	run(&c, 300, 1, 0, 1, 1);
	c.online[1] = false;
	run(&c, 50, 1, 0, 1, 1);
	assert_missing(&c.tree, "cpu1.util");
	c.online[1] = true;
	c.idle_ms[1] += 500000; /* an offline core's idle time is counted differently */
	run(&c, 100, 1, 0, 1, 1);
	assert_missing(&c.tree, "cpu1.util");
	run(&c, 20, 1, 0, 1, 1);
	assert_value(&c.tree, "cpu1.util", 100);
	assert_value(&c.tree, "cpu0.util", 0);
	tree_end(&c.tree);
}

static void test_idle_steps(void **state)
{
	struct cores c;

	(void)state;
	begin(&c);
	run(&c, 300, 0, 0, 0, 0);
	c.idle_ms[0] -= 30;   /* backwards: invalid */
	c.idle_ms[3] += 5000; /* more than the elapsed time: also invalid */
	run(&c, 10, 0, 0, 0, 0);
	assert_missing(&c.tree, "cpu3.util");
	assert_value(&c.tree, "cpu1.util", 100);
	run(&c, 120, 0, 0, 0, 0);
	assert_value(&c.tree, "cpu0.util", 100);
	assert_value(&c.tree, "cpu3.util", 100);
	tree_end(&c.tree);
}

/* Write the first line of /proc/stat and wait until it is read again. */
static void wait_for(struct cores *c, int ms, const char *fields)
{
	char text[128];

	snprintf(text, sizeof text, "cpu  %s\ncpu0 5 0 5 100 3 0 0 0\nintr 1\n", fields);
	tree_file(&c->tree, "/proc/stat", text);
	tree_tick(&c->tree, ms * MS);
}

static void test_iowait(void **state)
{
	struct cores c;

	(void)state;
	begin(&c);
	wait_for(&c, 100, "100 0 100 700 100 0 0 0 50 0");
	assert_missing(&c.tree, "cpu.iowait"); /* only one reading */
	wait_for(&c, 100, "150 0 100 800 150 0 0 0 90 0");
	assert_value(&c.tree, "cpu.iowait", 25); /* 50 of 200: guests are not counted twice */
	wait_for(&c, 100, "200 0 100 850 150 0 0 0 90 0");
	assert_value(&c.tree, "cpu.iowait", 25); /* until a second has passed */
	wait_for(&c, 900, "250 0 100 850 250 0 0 0 90 0");
	assert_value(&c.tree, "cpu.iowait", 40); /* 100 of 250, since the value before */
	wait_for(&c, 100, "250 0 100 850 240 0 0 0 90 0");
	assert_missing(&c.tree, "cpu.iowait"); /* backwards */
	wait_for(&c, 100, "250 0 100 950 240 0 0 0 90 0");
	assert_value(&c.tree, "cpu.iowait", 0);
	wait_for(&c, 100, "1 2 3");
	assert_missing(&c.tree, "cpu.iowait");
	wait_for(&c, 100, "300 0 100 900 140 0 0 0 90 0");
	assert_missing(&c.tree, "cpu.iowait"); /* restarts */
	wait_for(&c, 100, "99999999999999999999999 0 0 0 0 0 0 0");
	assert_missing(&c.tree, "cpu.iowait");
	wait_for(&c, 100, "300 0 100 900 140 0 0 0");
	wait_for(&c, 100, "300 0 100 900 140 0 0 0");
	assert_missing(&c.tree, "cpu.iowait"); /* no time elapsed */
	wait_for(&c, 100, "310 0 100 900 150 0 0 0");
	assert_value(&c.tree, "cpu.iowait", 50);
	tree_end(&c.tree);
}

/* A recording begins with cpu.util: no core that is online, nor cpu.iowait, is without a value then. */
static void test_util_comes_last(void **state)
{
	struct cores c;
	int ms = 0;

	(void)state;
	begin(&c);
	c.online[3] = false;
	do {
		run(&c, 10, 1, 0, 1, 1);
		assert_true((ms += 10) < 200);
		if (isnan(tree_value(&c.tree, "cpu0.util")) || isnan(tree_value(&c.tree, "cpu.iowait")))
			assert_missing(&c.tree, "cpu.util");
	} while (isnan(tree_value(&c.tree, "cpu.util")));
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = {"cpu0.util", "cpu1.util", "cpu2.util"};
		assert_false(isnan(tree_value(&c.tree, names[i])));
	}
	assert_missing(&c.tree, "cpu3.util");
	assert_false(isnan(tree_value(&c.tree, "cpu.iowait")));
	c.online[3] = true; /* it has no load yet: what is the mean of all cores? */
	run(&c, 20, 1, 0, 1, 1);
	assert_missing(&c.tree, "cpu.util");
	assert_value(&c.tree, "cpu0.util", 0);
	run(&c, 120, 1, 0, 1, 1);
	assert_value(&c.tree, "cpu3.util", 0);
	assert_value(&c.tree, "cpu.util", 25);
	tree_end(&c.tree);
}

static void test_file_that_nobody_renews(void **state)
{
	struct cores c;

	(void)state;
	begin(&c);
	for (int i = 0; i < 50; i++) {
		tree_tick(&c.tree, 10 * MS);
		assert_missing(&c.tree, "cpu.util");
		assert_missing(&c.tree, "cpu0.util");
	}
	run(&c, 200, 0, 1, 1, 1); /* and comes online */
	assert_value(&c.tree, "cpu0.util", 100);
	tree_end(&c.tree);
}

static void test_slow_reads(void **state)
{
	struct cores c;

	(void)state;
	begin(&c);
	write_stat(&c);
	tree_tick(&c.tree, 1000 * MS);
	c.idle_ms[0] += 250;
	write_stat(&c);
	tree_tick(&c.tree, 1000 * MS); /* one second apart: the mean */
	assert_value(&c.tree, "cpu0.util", 75);
	tree_end(&c.tree);
}

static void test_garbage(void **state)
{
	static const char *const texts[] = {"",
					    "x",
					    "cpu",
					    "cpu ",
					    "cpu  1 2 3",
					    "cpu  1 2 3 4\ncpu",
					    "cpu  1 2 3 4\ncpu0 1 2 3 4 5", /* truncated within a line */
					    "cpu  1 2 3 4\ncpu0 a b c d\nintr 0\n",
					    "cpu  1 2 3 4\ncpu99999999999999999999 1 2 3 4\nintr\n",
					    "cpu  1 2 3 99999999999999999999999999\nintr\n",
					    "cpu  1 2 3 -4\nintr\n",
					    "cpu  1 2\nintr\n"};
	struct cores c;

	(void)state;
	begin(&c);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		run(&c, 200, 0, 0, 0, 0);
		assert_value(&c.tree, "cpu0.util", 100);
		tree_file(&c.tree, "/proc/stat", texts[i]);
		tree_tick(&c.tree, 10 * MS);
		assert_missing(&c.tree, "cpu0.util");
		assert_missing(&c.tree, "cpu.util");
	}
	tree_end(&c.tree);
}

static void test_more_cores_than_at_the_start(void **state)
{
	struct tree t;
	char *text = malloc(128 * 1024);

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/sys/devices/system/cpu/present", "0-255\n");
	tree_file(&t, "/proc/stat", "cpu  1 0 0 1 0\ncpu0 1 0 0 1 0\nintr 0\n");
	tree_resolve(&t, "fast cpu");
	assert_int_equal(t.probes->n_channels, 258);
	for (int k = 0; k < 20; k++) {
		int n = snprintf(text, 128 * 1024, "cpu  1 0 0 %d 0\n", k);
		for (int i = 0; i < 256; i++)
			n += snprintf(text + n, 256, "cpu%d 111111111111 2222 3333 %d 0 0 0 0 0 0\n", i,
				      i % 2 ? k : 0);
		strcpy(text + n, "intr 0\n");
		tree_file(&t, "/proc/stat", text);
		tree_tick(&t, 10 * MS);
	}
	assert_value(&t, "cpu254.util", 100);
	assert_value(&t, "cpu255.util", 0);
	assert_value(&t, "cpu.util", 50);
	tree_end(&t);
	free(text);
}

static void test_without_the_file(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/proc/meminfo", "MemTotal: 10 kB\nMemAvailable: 4 kB\n");
	tree_resolve(&t, "fast cpu\nfast ram");
	assert_non_null(strstr(tree_channel(&t, "cpu.util")->missing, "/proc/stat"));
	assert_value((tree_tick(&t, MS), &t), "ram.used", 6);
	tree_end(&t);
}

static void test_cores_without_a_list(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/sys/devices/system/cpu/present", "0-3,x\n"); /* not a list: the file is used */
	tree_file(&t, "/proc/stat", "cpu  1 0 0 1 0\ncpu0 1 0 0 1 0\ncpu5 1 0 0 1 0\n");
	tree_resolve(&t, "fast cpu");
	assert_int_equal(t.probes->n_channels, 4);
	tree_channel(&t, "cpu5.util");
	tree_end(&t);
}

static void test_memory(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/proc/meminfo",
		  "MemTotal:       64349572 kB\nMemFree:        100 kB\nMemAvailable:   60000000 kB\n"
		  "Buffers: 20 kB\nCached: 700 kB\nShmem: 50 kB\nSReclaimable: 30 kB\nSwapCached: 5 kB\nNvMapMemUsed: 9 kB\nSwapTotal:  1000 kB\nSwapFree:    250 kB\n");
	tree_resolve(&t, "fast ram\nslow swap");
	tree_tick(&t, MS);
	assert_value(&t, "ram.used", 4349572);
	assert_value(&t, "ram.available", 60000000);
	assert_value(&t, "ram.cached", 700);
	assert_value(&t, "swap.used", 750);
	assert_true(tree_channel(&t, "ram.used")->hi == 64349572);
	assert_string_equal(fact_get(t.probes->facts, t.probes->n_facts, "ram_total_kb"), "64349572");
	tree_file(&t, "/proc/meminfo", "MemTotal: 10 kB\n");
	tree_tick(&t, MS);
	assert_missing(&t, "ram.used");
	assert_missing(&t, "ram.available");
	tree_file(&t, "/proc/meminfo", "MemTotal: 10 kB\nMemAvailable: 11 kB\n");
	tree_tick(&t, MS);
	assert_missing(&t, "ram.used");
	tree_end(&t);
	tree_begin(&t); /* a kernel that does not count the whole cache */
	tree_file(&t, "/proc/meminfo", "MemTotal: 10 kB\nMemAvailable: 4 kB\nBuffers: 1 kB\nCached: 2 kB\nShmem: 1 kB\n");
	tree_resolve(&t, "fast ram");
	tree_tick(&t, MS);
	assert_value(&t, "ram.used", 6);
	assert_missing(&t, "ram.cached");
	assert_non_null(strstr(tree_channel(&t, "ram.cached")->missing, "SReclaimable"));
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_busy_core_is_100),
		cmocka_unit_test(test_offline_is_missing_not_its_neighbour),
		cmocka_unit_test(test_hotplug_begins_a_new_window),
		cmocka_unit_test(test_idle_steps),
		cmocka_unit_test(test_iowait),
		cmocka_unit_test(test_util_comes_last),
		cmocka_unit_test(test_file_that_nobody_renews),
		cmocka_unit_test(test_slow_reads),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_more_cores_than_at_the_start),
		cmocka_unit_test(test_without_the_file),
		cmocka_unit_test(test_cores_without_a_list),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
