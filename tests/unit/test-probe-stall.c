/* A chip whose bus hangs: this program's pread() blocks reads of files below one directory until
 * released. Nothing depends on the speed of the machine: expected events are waited for, and hanging
 * reads hang until released. */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "util/clock.h"
#include "fake-pread.h"
#include "test-probe-tree.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char held[64]; /* part of a path, or "" */
static int waiting;   /* hanging reads */
static int error;     /* the error they finally return; 0: success */

ssize_t faked_pread(int fd, void *buf, size_t size, off64_t offset)
{
	char link[64], path[256];
	int answer = 0;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof path - 1);
	path[n > 0 ? n : 0] = '\0';
	pthread_mutex_lock(&lock);
	while (held[0] && strstr(path, held)) {
		waiting++;
		pthread_cond_broadcast(&changed);
		pthread_cond_wait(&changed, &lock);
		waiting--;
		answer = error;
	}
	pthread_mutex_unlock(&lock);
	if (answer) {
		errno = answer;
		return -1;
	}
	return pread_really(fd, buf, size, offset);
}

static void hold(const char *part, int answer)
{
	pthread_mutex_lock(&lock);
	strcpy(held, part);
	if (answer >= 0)
		error = answer;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void wait_until_it_hangs(void)
{
	pthread_mutex_lock(&lock);
	while (!waiting)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

/* Tick in real time and rescue blocked reads until the channel has the value (NaN: none). */
static void until(struct tree *t, const char *name, double value)
{
	struct timespec pause = {.tv_nsec = 2 * MS};

	for (int i = 0; i < 30000; i++) {
		int64_t look_ns = INT64_MAX;

		probe_set_rescue(t->probes, clock_now_ns(), &look_ns);
		tree_tick(t, clock_now_ns() - t->t_ns);
		double got = tree_value(t, name);
		if (isnan(value) ? isnan(got) : fabs(got - value) < 0.5)
			return;
		nanosleep(&pause, NULL);
	}
	fail_msg("%s never became %g", name, value);
}

static void start(struct tree *t)
{
	static const double hz[TIERS] = {1000, 100, 10};
	struct err e;

	assert_int_equal(probe_set_guard(t->probes, hz, &e), 0);
	probe_set_start(t->probes, 0);
}

static void begin(struct tree *t)
{
	hold("", 0);
	tree_begin(t);
	tree_rail(t, 1, 1, "A\n", "5000\n", "1000\n");
	tree_rail(t, 2, 1, "B\n", "3000\n", "1000\n");
	tree_resolve(t, "medium rail A\nmedium rail B");
	start(t);
	until(t, "A.power", 5000);
	until(t, "B.power", 3000);
}

static void test_a_hung_chip_holds_up_no_other(void **state)
{
	struct tree t;

	(void)state;
	begin(&t);
	hold("hwmon1/", 0);
	wait_until_it_hangs();
	tree_file(&t, "/sys/class/hwmon/hwmon2/in1_input", "3300\n"); /* the other one continues */
	until(&t, "B.power", 3300);
	until(&t, "A.power", NAN); /* a value that is no longer read is soon missing */
	tree_file(&t, "/sys/class/hwmon/hwmon2/in1_input", "3400\n");
	until(&t, "B.power", 3400);
	tree_file(&t, "/sys/class/hwmon/hwmon1/in1_input", "5500\n");
	hold("", 0);
	until(&t, "A.power", 5500);
	hold("hwmon1/", EIO); /* the stall ends with an error, and the next read succeeds */
	wait_until_it_hangs();
	hold("", -1);
	until(&t, "A.power", 5500);
	tree_end(&t);
}

/* It has no value, not that of its detection, until it answers. */
static void test_a_chip_that_hangs_at_once(void **state)
{
	struct tree t;

	(void)state;
	hold("", 0);
	tree_begin(&t);
	tree_rail(&t, 1, 1, "A\n", "5000\n", "1000\n");
	tree_resolve(&t, "medium rail A");
	hold("hwmon1/", 0);
	start(&t);
	wait_until_it_hangs();
	tree_tick(&t, 10 * MS);
	assert_missing(&t, "A.voltage");
	assert_missing(&t, "A.power");
	hold("", 0);
	until(&t, "A.power", 5000);
	tree_end(&t);
}

static void test_the_end_does_not_wait_for_a_hung_chip(void **state)
{
	struct tree t;

	(void)state;
	begin(&t);
	hold("hwmon1/", 0);
	wait_until_it_hangs();
	probe_set_free(t.probes); /* returns, and what the thread uses remains */
	t.probes = NULL;
	hold("", 0);
	tree_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_hung_chip_holds_up_no_other),
		cmocka_unit_test(test_a_chip_that_hangs_at_once),
		cmocka_unit_test(test_the_end_does_not_wait_for_a_hung_chip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
