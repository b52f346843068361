/* The ring: order, wrap-around, overflow, and two threads. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>

#include "engine/ring.h"

static void rows_come_out_as_they_went_in(void **state)
{
	struct ring *r = ring_new(3, 8);

	(void)state;
	assert_non_null(r);
	assert_int_equal(ring_count(r), 0);
	for (int i = 0; i < 1000; i++) {
		double v[3] = {i, i + 0.25, -i};

		assert_true(ring_push(r, i, (uint64_t)i, v));
		if (i % 5 != 4)
			continue;
		assert_int_equal(ring_count(r), 5);
		for (int k = 0; k < 5; k++) {
			const struct ring_row *row = ring_at(r, (size_t)k);
			int n = i - 4 + k;

			assert_int_equal(row->t_ns, n);
			assert_int_equal(row->late, n);
			assert_int_equal(row->lost, 0);
			assert_true(row->values[0] == n && row->values[1] == n + 0.25 &&
				    row->values[2] == -n);
		}
		ring_take(r, 5);
		assert_int_equal(ring_count(r), 0);
	}
	ring_free(r);
}

static void size_is_rounded_up(void **state)
{
	struct ring *r = ring_new(0, 9);

	(void)state;
	while (ring_push(r, 1, 0, (const double[1]) {0}))
		continue;
	assert_int_equal(ring_count(r), 16);
	ring_free(r);
	ring_free(NULL);
}

static void impossible_size_is_refused(void **state)
{
	(void)state;
	assert_null(ring_new(SIZE_MAX / 64, 1000));
}

/* Full: the newest rows are dropped. The next one that fits has the number of dropped rows and their
 * late ticks. */
static void full_ring_keeps_the_old(void **state)
{
	struct ring *r = ring_new(1, 4);
	double v = 0;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_true(ring_push(r, i, 0, &v));
	assert_false(ring_push(r, 4, 7, &v));
	assert_false(ring_push(r, 5, 2, &v));
	assert_int_equal(ring_lost(r), 2);
	assert_int_equal(ring_count(r), 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(ring_at(r, i)->t_ns, i);
	ring_take(r, 1);
	assert_true(ring_push(r, 6, 1, &v));
	assert_int_equal(ring_at(r, 3)->t_ns, 6);
	assert_int_equal(ring_at(r, 3)->lost, 2);
	assert_int_equal(ring_at(r, 3)->late, 10);
	ring_take(r, 4);
	assert_true(ring_push(r, 7, 0, &v));
	assert_int_equal(ring_at(r, 0)->lost, 0);
	assert_int_equal(ring_at(r, 0)->late, 0);
	assert_int_equal(ring_lost(r), 2);
	ring_free(r);
}

static void huge_late_is_clipped(void **state)
{
	struct ring *r = ring_new(1, 4);
	double v = 0;

	(void)state;
	assert_true(ring_push(r, 1, UINT64_C(1) << 40, &v));
	assert_int_equal(ring_at(r, 0)->late, UINT32_MAX);
	ring_free(r);
}

#define ROWS 200000

static void *produce(void *arg)
{
	struct ring *r = arg;

	for (int64_t i = 1; i <= ROWS; i++) {
		double v[2] = {(double)i, (double)-i};

		ring_push(r, i, 0, v);
		if (i % 64 == 0)
			sched_yield();
	}
	return NULL;
}

static void two_threads(void **state)
{
	struct ring *r = ring_new(2, 64);
	uint64_t got = 0, told_lost = 0, n_left;
	pthread_t thread;
	int64_t before = 0;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, produce, r), 0);
	while (before + (int64_t)(ring_lost(r) - told_lost) < ROWS) {
		size_t n = ring_count(r);

		for (size_t i = 0; i < n; i++) {
			const struct ring_row *row = ring_at(r, i);

			assert_int_equal(row->t_ns, before + 1 + row->lost);
			assert_true(row->values[0] == (double)row->t_ns);
			assert_true(row->values[1] == (double)-row->t_ns);
			before = row->t_ns;
			told_lost += row->lost;
			got++;
		}
		ring_take(r, n);
		if (!n)
			sched_yield();
	}
	pthread_join(thread, NULL);
	n_left = ring_count(r);
	assert_int_equal(got + n_left + ring_lost(r), ROWS);
	ring_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_come_out_as_they_went_in), cmocka_unit_test(size_is_rounded_up),
		cmocka_unit_test(impossible_size_is_refused),    cmocka_unit_test(full_ring_keeps_the_old),
		cmocka_unit_test(huge_late_is_clipped),          cmocka_unit_test(two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
