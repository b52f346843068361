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
			const struct ring_row row = ring_at(r, (size_t)k);
			int n = i - 4 + k;

			assert_int_equal(row.t_ns, n);
			assert_int_equal(row.late, n);
			assert_int_equal(row.lost, 0);
			assert_true(row.values[0] == n && row.values[1] == n + 0.25 &&
				    row.values[2] == -n);
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
		assert_int_equal(ring_at(r, i).t_ns, i);
	ring_take(r, 1);
	assert_true(ring_push(r, 6, 1, &v));
	assert_int_equal(ring_at(r, 3).t_ns, 6);
	assert_int_equal(ring_at(r, 3).lost, 2);
	assert_int_equal(ring_at(r, 3).late, 10);
	ring_take(r, 4);
	assert_true(ring_push(r, 7, 0, &v));
	assert_int_equal(ring_at(r, 0).lost, 0);
	assert_int_equal(ring_at(r, 0).late, 0);
	assert_int_equal(ring_lost(r), 2);
	ring_free(r);
}

static void huge_late_is_clipped(void **state)
{
	struct ring *r = ring_new(1, 4);
	double v = 0;

	(void)state;
	assert_true(ring_push(r, 1, UINT64_C(1) << 40, &v));
	assert_int_equal(ring_at(r, 0).late, UINT32_MAX);
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
			const struct ring_row row = ring_at(r, i);

			assert_int_equal(row.t_ns, before + 1 + row.lost);
			assert_true(row.values[0] == (double)row.t_ns);
			assert_true(row.values[1] == (double)-row.t_ns);
			before = row.t_ns;
			told_lost += row.lost;
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

/* Rows stay to be read after they were released, until the producer comes near them. */
static void rows_can_be_seen_again(void **state)
{
	struct ring *r = ring_new(3, 16);
	double v[2] = {0, 0};
	const uint16_t columns[2] = {2, 0};

	(void)state;
	assert_int_equal(ring_pushed(r), 0);
	assert_int_equal(ring_peek(r, 0, columns, 2, v), 0);
	for (int i = 0; i < 40; i++) {
		assert_true(ring_push(r, 100 + i, 0, (const double[3]) {i, 0, -i}));
		ring_take(r, 1);
	}
	assert_int_equal(ring_pushed(r), 40);
	assert_int_equal(ring_peek(r, 39, columns, 2, v), 139);
	assert_true(v[0] == -39 && v[1] == 39);
	assert_int_equal(ring_peek(r, 30, columns, 0, v), 130);
	assert_int_equal(ring_peek(r, 40, columns, 2, v), 0);
	assert_int_equal(ring_peek(r, 41, columns, 2, v), 0);
	assert_int_equal(ring_peek(r, 20, columns, 2, v), 0);
	assert_int_equal(ring_peek(r, SIZE_MAX, columns, 2, v), 0);
	ring_free(r);
}

/* Another thread that looks while rows are pushed gets whole rows. */
static void rows_seen_are_whole(void **state)
{
	struct ring *r = ring_new(2, 64);
	const uint16_t columns[2] = {0, 1};
	pthread_t thread;
	double v[2];

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, produce, r), 0);
	for (size_t n = 0; n < ROWS; n += 17) {
		size_t pushed = ring_pushed(r), lost = ring_lost(r);
		int64_t t = pushed ? ring_peek(r, pushed - 1, columns, 2, v) : 0;

		if (t)
			assert_true(v[0] == (double)t && v[1] == (double)-t);
		ring_take(r, ring_count(r));
		if (pushed + lost >= ROWS)
			break;
	}
	pthread_join(thread, NULL);
	ring_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_come_out_as_they_went_in), cmocka_unit_test(size_is_rounded_up),
		cmocka_unit_test(impossible_size_is_refused),    cmocka_unit_test(full_ring_keeps_the_old),
		cmocka_unit_test(huge_late_is_clipped),          cmocka_unit_test(two_threads),
		cmocka_unit_test(rows_can_be_seen_again),        cmocka_unit_test(rows_seen_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
