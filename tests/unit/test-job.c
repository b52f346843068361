/* Jobs never wait for each other, whatever some of them wait for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "util/clock.h"
#include "util/job.h"

#define HANGING  12
#define PATIENCE (60 * NS_PER_S) /* only a test that fails waits so long */

struct work {
	struct job job;
	bool waits;
};

static _Atomic uint32_t returned;
static atomic_uint ran, dropped;

static void run(struct job *j)
{
	if (((struct work *)j)->waits)
		while (!atomic_load(&returned))
			thread_flag_wait(&returned, clock_now_ns() + NS_PER_S);
	atomic_fetch_add(&ran, 1);
}

static void drop(struct job *j)
{
	atomic_fetch_add(&dropped, 1);
	free(j);
}

static struct job *start(bool waits)
{
	struct work *w = calloc(1, sizeof(*w));
	struct err e;

	assert_non_null(w);
	w->waits = waits;
	assert_int_equal(job_start(&w->job, run, drop, &e), 0);
	return &w->job;
}

static void test_hanging_jobs(void **state)
{
	struct job *hang[HANGING], *j;

	(void)state;
	for (int i = 0; i < HANGING; i++)
		hang[i] = start(true);
	/* Nobody has given these up: they count as work that goes on. */
	for (int i = 0; i < 3; i++) {
		j = start(false);
		assert_true(job_done(j, clock_now_ns() + PATIENCE));
		drop(j);
	}
	job_cancel(start(false));
	job_cancel(hang[0]);
	job_cancel(hang[1]);
	assert_false(job_done(hang[2], clock_now_ns()));
	thread_flag_set(&returned);
	for (int i = 2; i < HANGING; i++) {
		assert_true(job_done(hang[i], clock_now_ns() + PATIENCE));
		drop(hang[i]);
	}
	assert_int_equal(jobs_abandoned(clock_now_ns() + PATIENCE), 0);
	for (int64_t until = clock_now_ns() + PATIENCE; atomic_load(&dropped) < HANGING + 4 && clock_now_ns() < until;)
		usleep(1000);
	assert_int_equal(atomic_load(&dropped), HANGING + 4);
	assert_int_equal(atomic_load(&ran), HANGING + 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_hanging_jobs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
