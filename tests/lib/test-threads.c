/* A thread that cannot be had, each in its turn: a recording that does not begin
 * says so and leaves no file. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "util/clock.h"
#include "nvmtop/nvmtop.h"
#include "trace/trace.h"

#define MOST 32

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static unsigned left; /* creations until one fails; 0: none does */

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	if (left && --left == 0)
		return EAGAIN;
	return __real_pthread_create(t, attr, run, arg);
}

static char folder[] = "/tmp/nvmtop-threads-XXXXXX";
static char path[64];

static int files(void)
{
	DIR *d = opendir(folder);
	int n = 0;

	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void test_start(void **state)
{
	nvmtop_options o = NVMTOP_OPTIONS_INIT;
	nvmtop_recorder *r = NULL;
	unsigned refused = 0;
	nvmtop_error e = NVMTOP_ERROR_INIT;

	(void)state;
	o.board = "demo";
	for (unsigned n = 1; n < MOST; n++) {
		left = n;
		r = nvmtop_start(path, &o, &e);
		if (r && left == 0)
			nvmtop_free(r); /* it does without */
		if (r)
			remove(path);
		if (r && left)
			break; /* that many are not begun */
		if (r)
			continue;
		refused++;
		assert_int_not_equal(e.code, 0);
		assert_true(e.text[0]);
		assert_int_equal(files(), 0);
	}
	assert_non_null(r);
	assert_true(refused >= 3); /* who samples, who collects, who writes */
	left = 0;
	nvmtop_free(r);
	remove(path);
	assert_int_equal(files(), 0);
}

static void test_series(void **state)
{
	struct session about = {.hz = {1000, 100, 10}};
	unsigned refused = 0;
	struct err e;

	(void)state;
	clock_anchor(&about.start);
	for (unsigned n = 1;; n++) {
		struct log_out *s = log_out_new(path, false, &e);
		struct log *log = log_new(&(struct log_bound) {.now = true}, &e);

		assert_true(s && log);
		left = n;
		if (log_out_begin(s, log, INT64_MIN, INT64_MAX, &e) == 0) {
			left = 0;
			assert_int_equal(log_sink(log)->ops->begin(log_sink(log), &about, &e), 0);
			log_free(log);
			assert_int_equal(log_out_end(s, &e), 0);
			log_out_free(s);
			break;
		}
		log_free(log);
		refused++;
		assert_true(e.text[0]);
		log_out_free(s);
		assert_int_equal(files(), 0);
	}
	assert_int_equal(refused, 1); /* who writes */
	assert_int_equal(files(), 1);
	remove(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_series),
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof path, "%s/run.nvmt", folder);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
