/* Rails, temperatures and derived values. */
#include "util/clock.h"
#include "test-probe-tree.h"

static void test_rails(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_rail(&t, 3, 2, "VDD_SOC\n", "5000\n", "1224\n");
	tree_rail(&t, 11, 2, "VDD_IN\n", "12008\n", "-40\n");
	tree_file(&t, "/sys/class/hwmon/hwmon2/name", "coretemp\n");
	tree_file(&t, "/sys/class/hwmon/hwmon2/in1_label", "VDD_IN\n"); /* not that chip */
	tree_resolve(&t,
		     "medium rail VDD_IN hwmon=ina3221/VDD_IN\nmedium rail VDD_SOC hwmon=ina3221/VDD_SOC\n"
		     "medium rail GONE hwmon=ina3221/GONE\nmedium total VDD_IN VDD_SOC\n");
	tree_tick(&t, 10 * MS);
	assert_value(&t, "VDD_IN.voltage", 12008);
	assert_value(&t, "VDD_IN.current", -40);
	assert_value(&t, "VDD_IN.power", (float)(12008 * -40 / 1000.0));
	assert_value(&t, "power.total", (float)(12008 * -40 / 1000.0) + 6120.0);
	assert_int_equal(tree_channel(&t, "VDD_IN.power")->index, 0);
	assert_int_equal(tree_channel(&t, "VDD_SOC.voltage")->index, 1);
	assert_string_equal(tree_channel(&t, "VDD_SOC.current")->source,
			    "/sys/class/hwmon/hwmon3/curr2_input");
	assert_non_null(strstr(tree_channel(&t, "GONE.power")->missing, "hwmon ina3221/GONE"));
	assert_string_equal(tree_channel(&t, "power.total")->note, "sum of rails");
	tree_file(&t, "/sys/class/hwmon/hwmon3/curr2_input", "12x4\n");
	tree_tick(&t, 10 * MS); /* one of the two: all three, and the total */
	assert_missing(&t, "VDD_SOC.voltage");
	assert_missing(&t, "VDD_SOC.current");
	assert_missing(&t, "VDD_SOC.power");
	assert_missing(&t, "power.total");
	assert_value(&t, "VDD_IN.voltage", 12008);
	tree_end(&t);
}

static void test_rail_that_cannot_be_read(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_rail(&t, 3, 2, "VDD_IN\n", "5000\n", "1224\n");
	tree_unreadable(&t, "/sys/class/hwmon/hwmon3/in2_input");
	tree_resolve(&t, "medium rail VDD_IN hwmon=ina3221/VDD_IN\nmedium total VDD_IN\n");
	tree_tick(&t, 10 * MS);
	assert_missing(&t, "VDD_IN.voltage");
	assert_missing(&t, "VDD_IN.current");
	assert_missing(&t, "power.total");
	assert_string_equal(tree_channel(&t, "power.total")->note, "module input");
	tree_end(&t);
}

static void test_wild_rails(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_rail(&t, 0, 2, "NC\n", "0\n", "0\n");
	tree_rail(&t, 1, 2, "VDD\n", "1000\n", "10\n");
	tree_rail(&t, 2, 2, "VDD\n", "2000\n", "10\n");
	tree_file(&t, "/sys/class/hwmon/hwmon2/in7_label", "sum of shunt voltages\n");
	tree_file(&t, "/sys/class/hwmon/hwmon2/in7_input", "360\n");
	tree_file(&t, "/sys/class/hwmon/hwmon2/curr7_input", "360\n");
	tree_file(&t, "/sys/class/hwmon/hwmon2/in4_input", "280\n"); /* a shunt's voltage has no current */
	tree_file(&t, "/sys/class/hwmon/hwmon9/name", "ina\x1b[2J226\n");
	tree_file(&t, "/sys/class/hwmon/hwmon9/in1_input", "3000\n");
	tree_file(&t, "/sys/class/hwmon/hwmon9/curr1_input", "10\n");
	tree_file(&t, "/sys/class/hwmon/hwmon9/power1_input", "30000000\n");
	tree_file(&t, "/sys/class/hwmon/hwmon9/power2_input", "7000000\n");
	tree_resolve(&t, "medium rail * hwmon=*\nmedium power * hwmon=*");
	tree_tick(&t, 10 * MS);
	assert_int_equal(t.probes->n_channels, 10);
	assert_value(&t, "VDD.voltage", 1000);
	assert_value(&t, "VDD_2.voltage", 2000);
	assert_value(&t, "VDD_2.power", 20);
	assert_value(&t, "ina?[2J226_in1.voltage", 3000);
	assert_value(&t, "ina?[2J226_in1.power", 30000); /* power1 is that rail's, and not listed twice */
	assert_value(&t, "ina?[2J226_power2.power", 7000);
	assert_int_equal(tree_channel(&t, "VDD_2.power")->index, 1);
	tree_end(&t);
}

static void test_zones(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_zone(&t, 0, "CPU-therm\n", "51250\n");
	tree_zone(&t, 4, "gpu-thermal\n", NULL);
	tree_zone(&t, 5, "PMIC-Die\n", "100000\n");
	tree_zone(&t, 12, "tj-thermal\n", "-1500\n");
	tree_file(&t, "/sys/class/hwmon/hwmon7/name", "tmp451\n");
	tree_file(&t, "/sys/class/hwmon/hwmon7/temp2_input", "28812\n");
	tree_resolve(&t, "slow temp cpu zone=cpu-thermal zone=CPU-therm\nslow temp gpu zone=gpu-thermal\n"
			 "slow temp PMIC-Die zone=PMIC-Die\nslow temp tj zone=tj-thermal\n"
			 "slow temp Tdiode zone=Tdiode_tegra hwmon=tmp451/temp2\n"
			 "slow temp no zone=no-thermal hwmon=tmp451/temp9\nslow hottest except=Tdiode");
	tree_tick(&t, 100 * MS);
	assert_value(&t, "temp.cpu", 51.25);
	assert_reason(&t, "temp.gpu", "Is a directory");
	assert_string_equal(tree_channel(&t, "temp.gpu")->missing, ""); /* it may return */
	assert_value(&t, "temp.PMIC-Die", 100);
	assert_value(&t, "temp.tj", -1.5);
	assert_value(&t, "temp.Tdiode", (float)28.812);
	assert_value(&t, "temp.hottest", 51.25);
	assert_int_equal(tree_channel(&t, "temp.Tdiode")->index, 4);
	assert_non_null(strstr(tree_channel(&t, "temp.no")->missing, "thermal zone no-thermal"));
	assert_non_null(strstr(tree_channel(&t, "temp.no")->missing, "hwmon tmp451/temp9"));
	tree_file(&t, "/sys/class/thermal/thermal_zone0/temp", "");
	tree_tick(&t, 100 * MS);
	assert_missing(&t, "temp.cpu");
	assert_value(&t, "temp.hottest", -1.5);
	tree_end(&t);
}

static void test_wild_temperatures(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_zone(&t, 0, "x86-pkg\n", "40000\n");
	for (int i = 0; i < 2; i++) {
		char path[128];
		snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/name", i);
		tree_file(&t, path, "nvme\n");
		snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/temp1_label", i);
		tree_file(&t, path, "Sensor one\n");
		snprintf(path, sizeof path, "/sys/class/hwmon/hwmon%d/temp1_input", i);
		tree_file(&t, path, i ? "32000\n" : "31000\n");
	}
	tree_file(&t, "/sys/class/hwmon/hwmon3/name", "x86_pkg\n"); /* the same zone again */
	tree_file(&t, "/sys/class/hwmon/hwmon3/temp1_input", "40000\n");
	tree_file(&t, "/sys/class/hwmon/hwmon4/fan1_input", "900\n"); /* a chip without a name */
	tree_resolve(&t, "slow temp * zone=* hwmon=*\nslow fan * hwmon=*");
	tree_tick(&t, MS);
	assert_int_equal(t.probes->n_channels, 3);
	assert_value(&t, "temp.x86-pkg", 40);
	assert_value(&t, "temp.nvme.Sensor_one", 31);
	assert_value(&t, "temp.nvme.Sensor_one.2", 32);
	assert_string_equal(tree_channel(&t, "temp.nvme.Sensor_one")->label, "nvme Sensor one");
	tree_end(&t);
}

static void test_values(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/sys/class/devfreq/17000000.gpu/device/of_node/name", "gpu");
	tree_file(&t, "/sys/class/devfreq/17000000.gpu/cur_freq", "306000000\n");
	tree_file(&t, "/sys/devices/system/cpu/cpufreq/policy4/scaling_cur_freq", "729600\n");
	tree_file(&t, "/sys/devices/system/cpu/cpufreq/policy4/related_cpus", "4 5 6 7\n");
	tree_file(&t, "/level", "250\n");
	tree_resolve(&t, "medium value gpu.freq devfreq=ga10b/cur_freq devfreq=gpu/cur_freq period=25ms\n"
			 "medium cpufreq\n"
			 "slow value tank.level path=/nowhere path=/level scale=0.1 unit=% lo=0 hi=100 "
			 "label=\"The tank\"");
	tree_tick(&t, MS);
	assert_value(&t, "gpu.freq", 306e6);
	assert_value(&t, "cpu4.freq", 729.6e6);
	assert_int_equal(tree_channel(&t, "cpu4.freq")->index, 4);
	assert_string_equal(tree_channel(&t, "cpu4.freq")->label, "cpu4-7");
	assert_int_equal(tree_channel(&t, "gpu.freq")->kind, CHANNEL_GPU_FREQ);
	assert_int_equal(t.probes->probes[0]->period_ns, 25 * MS);
	assert_value(&t, "tank.level", 25);
	assert_string_equal(tree_channel(&t, "tank.level")->label, "The tank");
	assert_int_equal(tree_channel(&t, "tank.level")->unit, UNIT_PERCENT);
	assert_true(tree_channel(&t, "tank.level")->hi == 100);
	tree_end(&t);
}

/* The first place that can be read; else the first that is there, which may return. */
static void test_places(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_unreadable(&t, "/broken");
	tree_unreadable(&t, "/too");
	tree_file(&t, "/fine", "5\n");
	tree_file(&t, "/text", "none\n");
	tree_resolve(&t, "slow value a.x path=/nowhere path=/broken path=/fine path=/too\n"
			 "slow value b.x path=/nowhere path=/broken path=/too\n"
			 "slow value c.x path=/text path=/fine\nslow value d.x path=/nowhere\n"
			 "slow value e.x path=/text");
	tree_tick(&t, MS);
	assert_value(&t, "a.x", 5);
	assert_string_equal(tree_channel(&t, "a.x")->source, "/fine");
	assert_string_equal(tree_channel(&t, "b.x")->source, "/broken");
	assert_reason(&t, "b.x", "Is a directory");
	assert_value(&t, "c.x", 5);
	assert_string_equal(tree_channel(&t, "d.x")->missing, "tried /nowhere (not there)");
	assert_reason(&t, "e.x", "not a number: none");
	tree_file(&t, "/text", "7\n");
	tree_tick(&t, MS);
	tree_tick(&t, 1000 * MS);
	assert_value(&t, "e.x", 7);
	tree_end(&t);
}

static void test_links_do_not_lead_out(void **state)
{
	struct tree t;
	struct err e;

	(void)state;
	tree_begin(&t);
	tree_link(&t, "/outside", "/../../../../../../proc/self/stat");
	assert_null(tree_try(&t, "slow value x path=/outside", &e));
	assert_non_null(strstr(e.text, "/outside"));
	tree_end(&t);
}

static void test_waves(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_resolve(&t,
		     "demo\nfast wave gpu.util = hold(100, 0,12.34, 1,nan)\nfast wave twice.it = gpu.util * 2\n"
		     "fast wave ram.used hi=4096 = 1000.4\n"
		     "medium wave A.voltage = 5000\nmedium wave A.current = -100\n"
		     "medium wave A.power = A.voltage * A.current / 1000\nmedium total A\n"
		     "slow wave temp.x = 40 + t\nslow wave temp.y = 39\nslow hottest");
	tree_tick(&t, 5000 * MS); /* time starts here */
	assert_value(&t, "gpu.util", 12.3);
	assert_value(&t, "twice.it", 24.6); /* computed from the channel's rounded value */
	assert_value(&t, "ram.used", 1000);
	assert_value(&t, "A.power", -500);
	assert_value(&t, "power.total", -500);
	assert_value(&t, "temp.hottest", 40);
	tree_tick(&t, 1000 * MS);
	assert_missing(&t, "gpu.util");
	assert_missing(&t, "twice.it");
	assert_value(&t, "temp.hottest", 41);
	assert_string_equal(tree_channel(&t, "gpu.util")->note, "demo");
	assert_string_equal(fact_get(t.probes->facts, t.probes->n_facts, "demo"), "yes");
	assert_string_equal(fact_get(t.probes->facts, t.probes->n_facts, "ram_total_kb"), "4096");
	assert_null(fact_get(t.probes->facts, t.probes->n_facts, "kernel"));
	tree_end(&t);
}

static void test_statements_that_cannot_be(void **state)
{
	static const char *const wrong[][2] = {
		{"fast wave a.x = nothing.there + 1", "b.board:3:"},
		{"fast wave a.x = 1\nfast wave a.x = 2", "b.board:4:"},
		{"slow wave a.x = 1\nfast wave b.x = a.x", "b.board:4:"}, /* another tier */
		{"medium total VDD_IN", "b.board:3:"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct tree t;
		struct err e = {.code = ERR_NONE};
		tree_begin(&t);
		assert_null(tree_try(&t, wrong[i][0], &e));
		if (strncmp(e.text, wrong[i][1], strlen(wrong[i][1])) != 0)
			fail_msg("%s: %s", wrong[i][0], e.text);
		assert_int_equal(e.code, ERR_FAILED);
		tree_end(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rails),
		cmocka_unit_test(test_rail_that_cannot_be_read),
		cmocka_unit_test(test_wild_rails),
		cmocka_unit_test(test_zones),
		cmocka_unit_test(test_wild_temperatures),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_links_do_not_lead_out),
		cmocka_unit_test(test_waves),
		cmocka_unit_test(test_statements_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
