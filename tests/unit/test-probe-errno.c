/* Errors of the kernel when a unit is powered down, a driver is rebound or a file cannot be sought.
 * Plain directories have none of these, so this program replaces pread() for paths with a given ending. */
#include <errno.h>

#include "fake-pread.h"
#include "test-probe-tree.h"

static char refused[64]; /* the ending, or "" */
static int with;         /* errno */
static int reads;        /* of that file */

ssize_t faked_pread(int fd, void *buf, size_t size, off64_t offset)
{
	char link[64], path[256];

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	path[n > 0 ? n : 0] = '\0';
	size_t len = strlen(path), end = strlen(refused);
	if (end && len >= end && !strcmp(path + len - end, refused)) {
		reads++;
		errno = with;
		return -1;
	}
	return pread_really(fd, buf, size, offset);
}

static void refuse(const char *ending, int error)
{
	strcpy(refused, ending);
	with = error;
	reads = 0;
}

static void begin(struct tree *t)
{
	refuse("", 0);
	tree_begin(t);
	tree_rail(t, 3, 1, "VDD_IN\n", "5000\n", "1000\n");
	tree_file(t, "/sys/class/thermal/thermal_zone1/type", "gpu-thermal\n");
	tree_file(t, "/sys/class/thermal/thermal_zone1/temp", "43000\n");
	tree_file(t, "/some/counter", "7\n");
	tree_resolve(
		t,
		"medium rail VDD_IN hwmon=ina3221/VDD_IN\nmedium total VDD_IN\n"
		"slow temp gpu zone=gpu-thermal\nslow hottest\nslow value some.counter path=/some/counter");
	tree_tick(t, 10 * MS);
	assert_value(t, "VDD_IN.power", 5000);
	assert_value(t, "temp.gpu", 43);
}

static void test_refused_at_one_tick(void **state)
{
	static const int errors[] = {EAGAIN, ENODATA, EIO, ENXIO, EREMOTEIO, ETIMEDOUT};
	struct tree t;

	(void)state;
	begin(&t);
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
		refuse("curr1_input", errors[i]);
		tree_tick(&t, 10 * MS);
		assert_missing(&t, "VDD_IN.voltage");
		assert_missing(&t, "VDD_IN.power");
		assert_missing(&t, "power.total");
		assert_value(&t, "temp.gpu", 43);
		assert_int_equal(reads, 1); /* not retried immediately */
		refuse("thermal_zone1/temp", errors[i]);
		tree_tick(&t, 10 * MS);
		assert_missing(&t, "temp.gpu");
		assert_missing(&t, "temp.hottest");
		assert_value(&t, "VDD_IN.voltage", 5000);
		assert_int_equal(reads, 1);
		refuse("", 0);
		tree_tick(&t, 10 * MS); /* and back at the next tick, with the same descriptors */
		assert_value(&t, "VDD_IN.power", 5000);
		assert_value(&t, "temp.gpu", 43);
	}
	tree_end(&t);
}

static void test_powered_down_at_the_start(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/sys/class/thermal/thermal_zone1/type", "gpu-thermal\n");
	tree_file(&t, "/sys/class/thermal/thermal_zone1/temp", "43000\n");
	refuse("thermal_zone1/temp", EAGAIN);
	tree_resolve(&t, "slow temp gpu zone=gpu-thermal");
	assert_string_equal(tree_channel(&t, "temp.gpu")->missing, "");
	tree_tick(&t, MS);
	assert_reason(&t, "temp.gpu", "no reading now (EAGAIN): probably powered down");
	refuse("", 0);
	tree_tick(&t, MS);
	assert_value(&t, "temp.gpu", 43);
	tree_end(&t);
}

static void test_disabled_channel(void **state)
{
	struct tree t;

	(void)state;
	tree_begin(&t);
	tree_rail(&t, 3, 1, "VDD_IN\n", "5000\n", "1000\n");
	refuse("in1_input", ENODATA);
	tree_resolve(&t, "medium rail VDD_IN");
	assert_string_equal(tree_channel(&t, "VDD_IN.power")->note, "the chip has this channel disabled");
	tree_tick(&t, 10 * MS);
	assert_missing(&t, "VDD_IN.power");
	refuse("", 0); /* enabled again */
	tree_tick(&t, 10 * MS);
	assert_value(&t, "VDD_IN.power", 5000);
	tree_end(&t);
}

static void test_rails_for_root_only(void **state)
{
	static const char dir[] = "/sys/bus/i2c/drivers/ina3221x/6-0040/iio:device0";
	struct tree t;
	char path[128], full[256];

	(void)state;
	if (geteuid() == 0) {
		print_message("# skipped: root reads everything; run it as another user\n");
		return;
	}
	refuse("", 0);
	tree_begin(&t);
	snprintf(path, sizeof path, "%s/rail_name_0", dir);
	tree_file(&t, path, "POM_5V_IN\n");
	tree_path(&t, path, full);
	assert_int_equal(chmod(full, 0), 0);
	tree_resolve(&t, "medium rail POM_5V_IN\nslow wave any.thing = 1");
	assert_non_null(strstr(tree_channel(&t, "POM_5V_IN.power")->missing, "ina3221x (Permission denied)"));
	assert_non_null(strstr(tree_channel(&t, "POM_5V_IN.power")->missing, "sudo"));
	tree_end(&t);
}

static void test_driver_bound_again(void **state)
{
	struct tree t;
	char from[256];

	(void)state;
	begin(&t);
	refuse("hwmon3/in1_input", ENODEV);
	tree_tick(&t, 10 * MS);
	assert_missing(&t, "VDD_IN.voltage");
	tree_path(&t, "/sys/class/hwmon/hwmon3/name", from); /* it returns with another number */
	assert_int_equal(unlink(from), 0);
	tree_tick(&t, 10 * MS); /* searched, but not there yet */
	assert_missing(&t, "VDD_IN.voltage");
	tree_rail(&t, 12, 1, "VDD_IN\n", "5008\n", "1000\n");
	tree_tick(&t, 10 * MS); /* not searched at every tick */
	assert_missing(&t, "VDD_IN.voltage");
	tree_tick(&t, 1000 * MS);
	assert_value(&t, "VDD_IN.voltage", 5008);
	assert_value(&t, "VDD_IN.power", 5008);
	assert_value(&t, "power.total", 5008);

	refuse("thermal_zone1/temp", ENODEV);
	tree_tick(&t, 10 * MS);
	assert_missing(&t, "temp.gpu");
	refuse("", 0);
	tree_path(&t, "/sys/class/thermal/thermal_zone1/type", from);
	assert_int_equal(unlink(from), 0);
	tree_file(&t, "/sys/class/thermal/thermal_zone4/type", "gpu-thermal\n");
	tree_file(&t, "/sys/class/thermal/thermal_zone4/temp", "44000\n");
	tree_tick(&t, 1000 * MS);
	assert_value(&t, "temp.gpu", 44);
	tree_end(&t);
}

/* The same for an IIO device and a cooling device. */
static void test_others_bound_again(void **state)
{
	static const char *const dirs[] = {"/sys/bus/i2c/drivers/ina3221x/6-0040/iio:device0",
					   "/sys/bus/i2c/drivers/ina3221x/6-0040/iio:device5"};
	struct tree t;
	char path[128], full[256];

	(void)state;
	refuse("", 0);
	tree_begin(&t);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/rail_name_1", dirs[i]);
		tree_file(&t, path, i ? "x\n" : "POM_5V_GPU\n");
		snprintf(path, sizeof path, "%s/in_voltage1_input", dirs[i]);
		tree_file(&t, path, "5000\n");
		snprintf(path, sizeof path, "%s/in_current1_input", dirs[i]);
		tree_file(&t, path, i ? "80\n" : "40\n");
	}
	tree_file(&t, "/sys/class/thermal/cooling_device3/type", "gpu-throttle-alert\n");
	tree_file(&t, "/sys/class/thermal/cooling_device3/cur_state", "1\n");
	tree_resolve(&t, "medium rail POM_5V_GPU\nslow throttle");
	tree_tick(&t, 10 * MS);
	assert_value(&t, "POM_5V_GPU.power", 200);
	assert_value(&t, "throttle.gpu-throttle-alert", 1);

	refuse("device0/in_voltage1_input", ENODEV);
	tree_tick(&t, 10 * MS);
	assert_missing(&t, "POM_5V_GPU.power");
	snprintf(path, sizeof path, "%s/rail_name_1", dirs[0]);
	tree_path(&t, path, full);
	assert_int_equal(unlink(full), 0);
	snprintf(path, sizeof path, "%s/rail_name_1", dirs[1]);
	tree_file(&t, path, "POM_5V_GPU\n");
	refuse("device3/cur_state", ENODEV);
	tree_tick(&t, 1000 * MS);
	assert_value(&t, "POM_5V_GPU.power", 400);
	assert_missing(&t, "throttle.gpu-throttle-alert");
	refuse("", 0);
	tree_file(&t, "/sys/class/thermal/cooling_device3/type", "cpu-throttle-alert\n");
	tree_file(&t, "/sys/class/thermal/cooling_device17/type", "gpu-throttle-alert\n");
	tree_file(&t, "/sys/class/thermal/cooling_device17/cur_state", "2\n");
	tree_tick(&t, 1000 * MS);
	assert_value(&t, "throttle.gpu-throttle-alert", 2);
	tree_end(&t);
}

/* The power state of an engine whose driver was bound again. */
static void test_gate_bound_again(void **state)
{
	static const char status[] = "/sys/class/devfreq/nvenc/device/power/runtime_status";
	struct tree t;
	char full[256];

	(void)state;
	refuse("", 0);
	tree_begin(&t);
	tree_file(&t, "/sys/class/devfreq/nvenc/cur_freq", "100\n");
	tree_file(&t, status, "active\n");
	tree_resolve(&t, "slow engine NVENC devfreq=nvenc");
	refuse("runtime_status", ENODEV);
	tree_tick(&t, 10 * MS);
	assert_value(&t, "NVENC.freq", 100);
	refuse("", 0);
	tree_path(&t, status, full);
	assert_int_equal(unlink(full), 0);
	tree_file(&t, status, "suspended\n");
	tree_tick(&t, 10 * MS);
	assert_value(&t, "NVENC.freq", 0);
	tree_end(&t);
}

static void test_files_that_cannot_be_sought(void **state)
{
	struct tree t;

	(void)state;
	begin(&t);
	refuse("some/counter", ESPIPE);
	tree_tick(&t, 10 * MS);
	assert_value(&t, "some.counter", 7); /* reopened */
	tree_file(&t, "/some/counter", "8\n");
	tree_tick(&t, 10 * MS);
	assert_value(&t, "some.counter", 8);
	assert_int_equal(reads, 1); /* and remembered */
	tree_end(&t);
}

/* A debugfs file is kept open if it can be sought. After its driver removed it, the open file returns
 * EIO, even if a new one has the same name. */
static void test_debugfs_of_another_driver(void **state)
{
	static const char path[] = "/sys/kernel/debug/clk/rate";
	struct tree t;
	char full[256];

	(void)state;
	refuse("", 0);
	tree_begin(&t);
	tree_file(&t, path, "100\n");
	tree_resolve(&t, "slow value clk.rate path=/sys/kernel/debug/clk/rate");
	refuse("clk/rate", EIO);
	tree_tick(&t, 10 * MS);
	assert_value(&t, "clk.rate", 100); /* reopened */
	assert_int_equal(reads, 1);
	tree_path(&t, path, full);
	assert_int_equal(unlink(full), 0);
	tree_tick(&t, 10 * MS);
	assert_missing(&t, "clk.rate");
	tree_file(&t, path, "200\n");
	tree_tick(&t, 10 * MS);
	assert_value(&t, "clk.rate", 200);
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused_at_one_tick),
		cmocka_unit_test(test_powered_down_at_the_start),
		cmocka_unit_test(test_disabled_channel),
		cmocka_unit_test(test_rails_for_root_only),
		cmocka_unit_test(test_driver_bound_again),
		cmocka_unit_test(test_others_bound_again),
		cmocka_unit_test(test_gate_bound_again),
		cmocka_unit_test(test_files_that_cannot_be_sought),
		cmocka_unit_test(test_debugfs_of_another_driver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
