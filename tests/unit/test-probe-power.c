/* Rails of any driver, totals and energy, limits, fans, and causes of throttling. */
#include "util/clock.h"
#include "test-probe-tree.h"

#define IIO "/sys/bus/i2c/drivers/ina3221x/6-0040/iio:device0"

/* A Nano: one chip, three rails. */
static void nano(struct tree *t)
{
	static const char *const names[] = {"POM_5V_IN\n", "POM_5V_GPU\n", "POM_5V_CPU\n"};
	char path[128];

	tree_file(t, "/sys/bus/i2c/drivers/ina3221x/uevent", "");
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, IIO "/rail_name_%d", i);
		tree_file(t, path, names[i]);
		snprintf(path, sizeof path, IIO "/in_voltage%d_input", i);
		tree_file(t, path, "5000\n");
		snprintf(path, sizeof path, IIO "/in_current%d_input", i);
		tree_file(t, path, i ? "-8\n" : "400\n");
		snprintf(path, sizeof path, IIO "/in_power%d_input", i);
		tree_file(t, path, i ? "-40\n" : "2001\n");
	}
	tree_file(t, IIO "/warn_current_limit_0", "3000 ma\n");
	tree_file(t, IIO "/crit_current_limit_0", "7784 ma\n");
	tree_file(t, IIO "/crit_current_limit_1", "none\n");
}

static void test_iio(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	nano(&t);
	tree_resolve(&t, "medium rail POM_5V_IN\nmedium rail POM_5V_GPU iio=ina3221x/POM_5V_GPU\n"
			 "medium rail POM_5V_FAN\nmedium total POM_5V_IN");
	tree_tick(&t, 10 * MS);
	assert_value(&t, "POM_5V_IN.voltage", 5000);
	assert_value(&t, "POM_5V_IN.current", 400);
	assert_value(&t, "POM_5V_IN.power", 2001); /* the driver's value, not the product */
	assert_value(&t, "POM_5V_GPU.current", -8);
	assert_value(&t, "POM_5V_GPU.power", -40);
	const struct channel *current = tree_channel(&t, "POM_5V_IN.current");
	assert_true(current->warn == 3000 && current->crit == 7784);
	assert_string_equal(current->source, IIO "/in_current0_input");
	assert_true(current->window_ns == WINDOW_UNKNOWN);
	assert_string_equal(current->note, "unknown whether the chip averages");
	assert_true(tree_channel(&t, "power.total")->window_ns == WINDOW_UNKNOWN);
	assert_true(isnan(tree_channel(&t, "POM_5V_GPU.current")->crit));
	assert_true(isnan(tree_channel(&t, "POM_5V_IN.power")->warn));
	/* The message names where it was searched. */
	assert_non_null(strstr(tree_channel(&t, "POM_5V_FAN.power")->missing, "hwmon ina*/POM_5V_FAN"));
	assert_non_null(strstr(tree_channel(&t, "POM_5V_FAN.power")->missing, "IIO ina3221x/POM_5V_FAN"));
	tree_end(&t);

	tree_begin(&t); /* older kernels use another directory name; everything there is */
	tree_file(&t, "/sys/bus/i2c/drivers/ina3221x/0-0041/iio_device/rail_name_2", "VDD_IN\n");
	tree_file(&t, "/sys/bus/i2c/drivers/ina3221x/0-0041/iio_device/in_voltage2_input", "19000\n");
	tree_file(&t, "/sys/bus/i2c/drivers/ina3221x/0-0041/iio_device/in_current2_input", "100\n");
	tree_file(&t, "/sys/bus/i2c/drivers/ina3221x/0-0041/iio_device/rail_name_1", "NC\n");
	nano(&t);
	tree_file(&t, IIO "/running_mode", "1\n");
	tree_file(&t, "/sys/bus/i2c/drivers/ina3221x/0-0041/iio_device/running_mode", "0\n");
	tree_resolve(&t, "medium rail * iio=*");
	tree_tick(&t, 10 * MS);
	assert_value(&t, "VDD_IN.power", 1900);
	assert_value(&t, "POM_5V_CPU.power", -40);
	assert_int_equal(t.probes->n_channels, 3 + 9);
	assert_int_equal(tree_channel(&t, "VDD_IN.power")->window_ns, 0); /* a conversion in each read */
	assert_int_equal(tree_channel(&t, "POM_5V_CPU.power")->window_ns, 422400 * MS / 1000);
	assert_string_equal(tree_channel(&t, "POM_5V_CPU.power")->note, "mean of 64 conversions in 422 ms");
	tree_end(&t);
}

/* The same statement finds the rail of any driver. */
static void test_one_statement_for_all_drivers(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_hwmon(&t, 4, "name", "ina238\n");
	tree_hwmon(&t, 4, "label", "VIN\n");
	tree_hwmon(&t, 4, "power1_input", "20986000\n");
	tree_hwmon(&t, 7, "name", "ina219\n");
	tree_hwmon(&t, 7, "in1_label", "CVB\n");
	tree_hwmon(&t, 7, "in0_input", "1\n");
	tree_hwmon(&t, 7, "in1_input", "12000\n");
	tree_hwmon(&t, 7, "curr1_input", "1000\n");
	tree_hwmon(&t, 7, "power1_input", "12500000\n");
	tree_hwmon(&t, 9, "name", "ina3221\n");
	tree_hwmon(&t, 9, "in2_label", "VDD_GPU\n");
	tree_hwmon(&t, 9, "in2_input", "19600\n");
	tree_hwmon(&t, 9, "curr2_input", "-20\n");
	tree_hwmon(&t, 10, "name", "inadvertent\n");
	tree_hwmon(&t, 11, "name", "slow\n");
	tree_hwmon(&t, 11, "label", "SLOW\n");
	tree_hwmon(&t, 11, "power1_input", "5000000\n");
	tree_hwmon(&t, 11, "update_interval", "250\n");
	tree_hwmon(&t, 12, "name", "mean\n");
	tree_hwmon(&t, 12, "power1_average", "6000000\n");
	tree_hwmon(&t, 12, "power1_average_interval", "1000\n");
	tree_hwmon(&t, 13, "name", "unsaid\n");
	tree_hwmon(&t, 13, "power1_average", "7000000\n");
	tree_resolve(&t, "medium power SLOW hwmon=slow/power1\nmedium power * hwmon=*\nmedium rail VIN\nmedium rail CVB\nmedium rail VDD_GPU");
	tree_tick(&t, 10 * MS);
	assert_value(&t, "VIN.power", 20986);
	assert_non_null(strstr(tree_channel(&t, "VIN.voltage")->missing, "hwmon4/in1_input (not there)"));
	assert_missing(&t, "VIN.current");
	assert_value(&t, "CVB.voltage", 12000);
	assert_value(&t, "CVB.power", 12500);
	assert_value(&t, "VDD_GPU.power", -392);
	assert_int_equal(tree_channel(&t, "VIN.power")->window_ns, 0);
	assert_int_equal(tree_channel(&t, "SLOW.power")->window_ns, 250 * MS);
	assert_int_equal(tree_channel(&t, "mean_power1.power")->window_ns, 1000 * MS);
	assert_int_equal(tree_channel(&t, "unsaid_power1.power")->window_ns, WINDOW_UNKNOWN);
	tree_end(&t);
}

static void test_what_a_chip_says_of_itself(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	for (int i = 1; i <= 2; i++) {
		tree_hwmon(&t, i, "name", "ina3221\n");
		tree_hwmon(&t, i, "in1_label", i == 1 ? "A\n" : "B\n");
		tree_hwmon(&t, i, "in1_input", "5000\n");
		tree_hwmon(&t, i, "curr1_input", "500\n");
		tree_hwmon(&t, i, "curr1_max", i == 1 ? "7784\n" : "32760\n");
		tree_hwmon(&t, i, "curr1_crit", i == 1 ? "9000\n" : "32760\n");
		tree_hwmon(&t, i, "shunt1_resistor", "5000\n");
		tree_hwmon(&t, i, "update_interval", i == 1 ? "7\n" : "106\n"); /* with its samples */
		tree_hwmon(&t, i, "samples", i == 1 ? "1\n" : "16\n");
	}
	tree_hwmon(&t, 2, "in2_label", "OFF\n");
	tree_unreadable(&t, "/sys/class/hwmon/hwmon2/in2_input");
	tree_hwmon(&t, 2, "curr2_input", "0\n");
	tree_rail(&t, 3, 1, "L4T\n", "5000\n", "1000\n"); /* without its samples */
	tree_hwmon(&t, 3, "update_interval", "7\n");
	tree_hwmon(&t, 3, "samples", "16\n");
	tree_rail(&t, 4, 1, "OTHER\n", "5000\n", "1000\n");
	tree_resolve(&t, "medium rail A\nmedium rail B\nmedium rail OFF\nmedium rail L4T\n"
			 "medium rail OTHER period=500ms");
	assert_true(tree_channel(&t, "A.current")->warn == 7784 &&
		    tree_channel(&t, "A.current")->crit == 9000);
	/* Full scale at this shunt, which is the value if no limit was set. */
	assert_true(isnan(tree_channel(&t, "B.current")->warn) && isnan(tree_channel(&t, "B.current")->crit));
	assert_int_equal(tree_channel(&t, "A.power")->period_ns, 0); /* 7 ms are less than a tick */
	assert_string_equal(tree_channel(&t, "A.power")->note, "");
	assert_int_equal(tree_channel(&t, "A.power")->window_ns, 6600 * MS / 1000);
	assert_int_equal(tree_channel(&t, "B.power")->period_ns, 105600 * MS / 1000);
	assert_int_equal(tree_channel(&t, "B.power")->window_ns, 105600 * MS / 1000);
	assert_int_equal(tree_channel(&t, "L4T.power")->window_ns, 105600 * MS / 1000);
	assert_int_equal(tree_channel(&t, "OTHER.power")->window_ns, 500 * MS);
	assert_string_equal(tree_channel(&t, "B.power")->note, "mean of 16 conversions in 106 ms");
	tree_tick(&t, 10 * MS);
	assert_value(&t, "B.power", 2500);
	assert_reason(&t, "OFF.voltage", "Is a directory");
	assert_reason(&t, "OFF.power", "OFF.voltage is missing");
	tree_end(&t);
}

#define WAVES "medium wave VIN.power = 20000\nmedium wave A.power = 3000\nmedium wave B.power = 4000\n"

static void test_totals(void **state)
{
	static const char *const wrong[] = {"medium wave A.power = 1\nmedium total or A",
					    "medium wave A.power = 1\nmedium total A or",
					    "medium wave A.power = 1\nmedium total A or or A",
					    "medium wave A.power = 1\nmedium total B or A"};
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_hwmon(&t, 4, "name", "ina238\n");
	tree_hwmon(&t, 4, "label", "VIN\n");
	tree_hwmon(&t, 4, "power1_input", "20986000\n");
	tree_resolve(&t, WAVES "medium rail NO\nmedium total NO or VIN or A B carrier=VIN");
	tree_tick(&t, 10 * MS);
	assert_value(&t, "power.total", 20000);
	assert_string_equal(tree_channel(&t, "power.total")->note, "carrier input");
	assert_string_equal(tree_channel(&t, "power.total")->source, "VIN.power");
	tree_end(&t);

	tree_begin(&t);
	tree_resolve(&t, WAVES "medium rail NO\nmedium total NO or A B or VIN carrier=NO");
	tree_tick(&t, 10 * MS);
	assert_value(&t, "power.total", 7000);
	assert_string_equal(tree_channel(&t, "power.total")->note, "sum of rails, without the carrier board");
	tree_end(&t);

	tree_begin(&t); /* none is complete: the first one's reason is shown */
	tree_resolve(&t, WAVES "medium rail NO\nmedium rail NONE\nmedium total NO or A NONE");
	assert_string_equal(tree_channel(&t, "power.total")->missing, "NO is missing");
	assert_string_equal(tree_channel(&t, "energy.total")->missing, "NO is missing");
	tree_end(&t);

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct err e;
		tree_begin(&t);
		assert_null(tree_try(&t, wrong[i], &e));
		assert_non_null(strstr(e.text, "b.board:4:"));
		tree_end(&t);
	}
}

static void test_energy(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_resolve(&t, "slow wave A.power = 1000 * t + hold(100, 0,0, 2,nan, 3,0)\nslow total A");
	assert_int_equal(tree_channel(&t, "energy.total")->unit, UNIT_JOULE);
	tree_tick(&t, 100 * MS); /* t = 0 */
	assert_value(&t, "energy.total", 0);
	tree_tick(&t, 400 * MS); /* trapezoids over the actual times: exact for a straight line */
	tree_tick(&t, 500 * MS);
	assert_value(&t, "energy.total", 0.9 * 0.9 / 2);
	tree_tick(&t, 500 * MS);
	tree_tick(&t, 500 * MS);
	assert_value(&t, "energy.total", 1.9 * 1.9 / 2);
	tree_tick(&t, 600 * MS); /* t = 2.5: a gap, detected as such */
	assert_missing(&t, "energy.total");
	tree_tick(&t, 600 * MS); /* after it: the old sum, plus nothing for the gap */
	assert_value(&t, "energy.total", 1.9 * 1.9 / 2);
	tree_tick(&t, 400 * MS);
	assert_value(&t, "energy.total", 1.9 * 1.9 / 2 + 0.4 * (3.1 + 3.5) / 2);
	tree_tick(&t, 600 * MS); /* more than five ticks without a value: also a gap */
	assert_value(&t, "energy.total", 1.9 * 1.9 / 2 + 0.4 * (3.1 + 3.5) / 2);
	tree_end(&t);
}

static void trip(struct tree *t, int n, int point, const char *type, const char *temp)
{
	char path[128];

	snprintf(path, sizeof path, "/sys/class/thermal/thermal_zone%d/trip_point_%d_type", n, point);
	tree_file(t, path, type);
	snprintf(path, sizeof path, "/sys/class/thermal/thermal_zone%d/trip_point_%d_temp", n, point);
	tree_file(t, path, temp);
}

/* Bind a cooling device to a trip point. */
static void bound(const struct tree *t, int zone, int n, const char *type, const char *trip)
{
	char path[128];

	snprintf(path, sizeof path, "/sys/class/thermal/thermal_zone%d/cdev%d/type", zone, n);
	tree_file(t, path, type);
	snprintf(path, sizeof path, "/sys/class/thermal/thermal_zone%d/cdev%d_trip_point", zone, n);
	tree_file(t, path, trip);
}

static void test_limits_of_temperatures(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_zone(&t, 0, "cpu-thermal\n", "50000\n");
	trip(&t, 0, 0, "active\n", "45000\n"); /* a fan's */
	trip(&t, 0, 1, "critical\n", "104500\n");
	trip(&t, 0, 2, "passive\n", "99000\n");
	trip(&t, 0, 3, "hot\n", "103000\n");
	trip(&t, 0, 4, "passive\n", "70000\n"); /* only a notification */
	trip(&t, 0, 5, "passive\n", "60000\n"); /* has no effect */
	bound(&t, 0, 0, "pwm-fan\n", "5\n");
	bound(&t, 0, 1, "hot-surface-alert\n", "4\n");
	bound(&t, 0, 3, "thermal-cpufreq-0\n", "2\n");
	bound(&t, 0, 4, "thermal-cpufreq-1\n", "-1\n");
	tree_zone(&t, 1, "soc-thermal\n", "51000\n");
	trip(&t, 1, 0, "passive\n", "99000\n");
	trip(&t, 1, 1, "critical\n", "-274000\n"); /* disabled */
	bound(&t, 1, 0, "cpu-throttle-alert\n", "0\n");
	tree_zone(&t, 2, "PMIC-Die\n", "100000\n");
	tree_zone(&t, 3, "thermal-fan-est\n", "90000\n");
	trip(&t, 3, 0, "passive\n", "10000\n");
	tree_hwmon(&t, 3, "name", "nvme\n");
	tree_hwmon(&t, 3, "temp1_input", "31000\n");
	tree_hwmon(&t, 3, "temp1_max", "81850\n");
	tree_hwmon(&t, 3, "temp1_crit", "84850\n");
	tree_resolve(&t, "slow temp cpu zone=cpu-thermal\nslow temp soc zone=soc-thermal\n"
			 "slow temp PMIC-Die zone=PMIC-Die\nslow temp est zone=thermal-fan-est\n"
			 "slow hottest\nslow temp nvme hwmon=nvme/temp1");
	tree_tick(&t, 100 * MS);
	const struct channel *c = tree_channel(&t, "temp.cpu");
	assert_true(c->warn == 99 && c->crit == 104.5);
	c = tree_channel(&t, "temp.soc");
	assert_true(c->warn == 99 && isnan(c->crit));
	c = tree_channel(&t, "temp.nvme");
	assert_true(c->warn == 81.85 && c->crit == 84.85);
	c = tree_channel(&t,
			 "temp.hottest"); /* of the relevant ones: the warnings are equal, the rest is not */
	assert_true(c->warn == 99 && isnan(c->crit));
	assert_value(&t, "temp.hottest", 51);
	assert_string_equal(tree_channel(&t, "temp.est")->note, "an estimate for the fan, not measured");
	assert_true(isnan(tree_channel(&t, "temp.est")->warn));
	c = tree_channel(&t, "temp.PMIC-Die");
	assert_string_equal(c->note, "a constant, not measured");
	assert_true(isnan(c->warn) && isnan(c->crit));
	tree_end(&t);
}

static void test_fans(void **state)
{
	static const char board[] = "slow pwm pwm hwmon=pwmfan/pwm1 hwmon=tegra_pwmfan/cur_pwm "
				    "path=/sys/devices/pwm-fan/cur_pwm\n"
				    "slow fan rpm hwmon=pwm_tach/rpm hwmon=tegra_pwmfan/rpm_measured "
				    "path=/sys/devices/pwm-fan/rpm_measured";
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_hwmon(&t, 1, "name", "pwmfan\n");
	tree_hwmon(&t, 1, "pwm1", "51\n");
	tree_hwmon(&t, 2, "name", "pwm_tach\n");
	tree_hwmon(&t, 2, "rpm", "0\n");
	tree_resolve(&t, board);
	tree_tick(&t, 100 * MS);
	assert_value(&t, "fan.pwm", 20);
	assert_value(&t, "fan.rpm", 0);
	const struct channel *c = tree_channel(&t, "fan.pwm");
	assert_true(c->unit == UNIT_PERCENT && c->lo == 0 && c->hi == 100 && c->kind == CHANNEL_FAN);
	assert_int_equal(tree_channel(&t, "fan.rpm")->unit, UNIT_RPM);
	tree_end(&t);

	tree_begin(&t); /* L4T 32 */
	tree_file(&t, "/sys/devices/pwm-fan/cur_pwm", "255\n");
	tree_file(&t, "/sys/devices/pwm-fan/rpm_measured", "4321\n");
	tree_resolve(&t, board);
	tree_tick(&t, 100 * MS);
	assert_value(&t, "fan.pwm", 100);
	assert_value(&t, "fan.rpm", 4321);
	tree_end(&t);

	tree_begin(&t);
	tree_hwmon(&t, 5, "name", "nct6775\n");
	tree_hwmon(&t, 5, "pwm2", "255\n");
	tree_resolve(&t, "slow pwm * hwmon=*");
	tree_tick(&t, 100 * MS);
	assert_value(&t, "fan.nct6775.pwm2", 100);
	tree_end(&t);
}

static void cooling(struct tree *t, int n, const char *type, const char *state)
{
	char path[128];

	snprintf(path, sizeof path, "/sys/class/thermal/cooling_device%d/type", n);
	tree_file(t, path, type);
	snprintf(path, sizeof path, "/sys/class/thermal/cooling_device%d/cur_state", n);
	tree_file(t, path, state);
	snprintf(path, sizeof path, "/sys/class/thermal/cooling_device%d/max_state", n);
	tree_file(t, path, "10\n");
}

static void test_throttling(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	cooling(&t, 0, "cpu-throttle-alert\n", "1\n");
	cooling(&t, 2, "pwm-fan\n", "2\n");
	cooling(&t, 3, "hot-surface-alert\n", "0\n");
	cooling(&t, 4, "Processor\n", "3\n");
	cooling(&t, 10, "devfreq-17000000.gpu\n", "4\n");
	cooling(&t, 11, "cpufreq-cpu0\n", "0\n");
	cooling(&t, 12, "gpu-balanced\n", "0\n");
	cooling(&t, 13, "gpu-balanced\n", "5\n");
	tree_hwmon(&t, 6, "name", "soctherm_oc\n");
	tree_hwmon(&t, 6, "oc1_event_cnt", "0\n");
	tree_hwmon(&t, 6, "oc3_event_cnt", "17\n");
	tree_hwmon(&t, 6, "oc3_throt_en", "1\n");
	tree_resolve(&t, "slow throttle");
	tree_tick(&t, 100 * MS);
	assert_int_equal(t.probes->n_channels, 8);
	assert_value(&t, "throttle.cpu-throttle-alert", 1);
	assert_value(&t, "notice.hot-surface-alert", 0);
	assert_int_equal(tree_channel(&t, "notice.hot-surface-alert")->kind, CHANNEL_NOTICE);
	assert_value(&t, "throttle.devfreq-17000000.gpu", 4);
	assert_value(&t, "throttle.cpufreq-cpu0", 0);
	assert_value(&t, "throttle.gpu-balanced", 0);
	assert_value(&t, "throttle.gpu-balanced.2", 5);
	assert_value(&t, "throttle.oc3", 17);
	const struct channel *c = tree_channel(&t, "throttle.devfreq-17000000.gpu");
	assert_true(c->kind == CHANNEL_THROTTLE && c->lo == 0 && c->hi == 10);
	assert_string_equal(c->label, "devfreq-17000000.gpu");
	c = tree_channel(&t, "throttle.oc3");
	assert_true(c->kind == CHANNEL_THROTTLE_COUNT && c->period_ns == 1000 * MS);
	assert_string_equal(c->label, "over-current 3");
	assert_int_equal(t.probes->probes[7]->period_ns, 1000 * MS);
	cooling(&t, 0, "cpu-throttle-alert\n", "0\n");
	tree_tick(&t, 100 * MS);
	assert_value(&t, "throttle.cpu-throttle-alert", 0);
	tree_end(&t);

	tree_begin(&t);
	cooling(&t, 0, "Processor\n", "0\n");
	tree_resolve(&t, "slow throttle\nslow wave any.thing = 1");
	assert_non_null(strstr(tree_channel(&t, "throttle")->missing, "not there"));
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_iio),
		cmocka_unit_test(test_one_statement_for_all_drivers),
		cmocka_unit_test(test_what_a_chip_says_of_itself),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_energy),
		cmocka_unit_test(test_limits_of_temperatures),
		cmocka_unit_test(test_fans),
		cmocka_unit_test(test_throttling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
