/* The fold and the marks shared by history and trace, and rounding to the precision of a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "model/fold.h"
#include "util/clock.h"

static void missing_is_not_counted(void **state)
{
	struct bin b = {.n = 0}, later = {.n = 0};

	(void)state;
	bin_add(&b, NAN);
	assert_int_equal(b.n, 0);
	bin_add(&b, 5);
	bin_add(&b, NAN);
	bin_add(&b, -3);
	assert_int_equal(b.n, 2);
	assert_true(b.min == -3 && b.max == 5 && b.sum == 2);
	bin_merge(&b, &later);
	assert_int_equal(b.n, 2);
	bin_merge(&later, &b);
	assert_true(later.min == -3 && later.max == 5 && later.sum == 2);
}

static void bases(void **state)
{
	(void)state;
	assert_int_equal(zoom_base(1000), 19);
	assert_int_equal(zoom_base(100), 23);
	assert_int_equal(zoom_base(10), 26);
	assert_int_equal(zoom_base(1e12), ZOOM_MIN);
	assert_int_equal(zoom_base(1e-9), ZOOM_MAX);
	for (double hz = 0.1; hz < 10000; hz *= 1.37) {
		double column = ldexp(1, zoom_base(hz)), period = 1e9 / hz;
		assert_true(zoom_base(hz) == ZOOM_MIN || (column <= period && 2 * column > period));
	}
}

static void rounding_is_idempotent(void **state)
{
	(void)state;
	for (int k = 0; k < CHANNEL_KINDS; k++) {
		assert_true(isnan(channel_round((enum channel_kind)k, NAN)));
		for (double v = -50; v < 150; v += 0.377) {
			double once = channel_round((enum channel_kind)k, v);
			double again = channel_round((enum channel_kind)k, once);
			assert_true(again == once || (isnan(again) && isnan(once)));
		}
	}
	assert_true(channel_round(CHANNEL_GPU_UTIL, 97.34) == 97.3);
	assert_true(isnan(channel_round(CHANNEL_GPU_UTIL, 101)));
	assert_true(isnan(channel_round(CHANNEL_GPU_FREQ, -1)));
	assert_true(isnan(channel_round(CHANNEL_TEMPERATURE, -200)));
	assert_true(isnan(channel_round(CHANNEL_RAIL_VOLTAGE, 9.3e18)));
	assert_true(channel_round(CHANNEL_RAIL_CURRENT, -20.4) == -20);
	assert_true(channel_round(CHANNEL_TEMPERATURE, 47.1) == (double)47.1f);
}

/* The column of a zoom, by the definition of the fold. */
static struct bin column(const int64_t *t, const double *v, size_t n, int zoom, int base)
{
	struct bin b = {.n = 0}, later;
	size_t half = 0;

	for (size_t i = 0; zoom <= base && i < n; i++)
		bin_add(&b, v[i]);
	if (zoom <= base || n == 0)
		return b;
	while (half < n && t[half] >> (zoom - 1) == t[0] >> (zoom - 1))
		half++;
	b = column(t, v, half, zoom - 1, base);
	later = column(t + half, v + half, n - half, zoom - 1, base);
	bin_merge(&b, &later);
	return b;
}

/* Rows in any order give bit-identical sums. */
static void order_of_sums(void **state)
{
	struct row_fold fold = {.n = 0};
	int64_t t[400];
	double v[400];

	(void)state;
	srand(1);
	for (int round = 0; round < 2000; round++) {
		static const double rates[] = {1, 10, 100, 1000, 10000};
		double hz = rates[rand() % 5];
		int zoom = zoom_base(hz) + rand() % 8;
		int64_t at = (rand() % 65536 - 32768) * (INT64_C(1) << zoom), first = at;
		size_t n = 0;

		while (n < 400 && at >> zoom == first >> zoom) {
			t[n] = at;
			v[n++] = rand() % 5 ? rand() * 1e-3 : NAN;
			at += 1 + (int64_t)(1.7 * NS_PER_S / hz * rand() / RAND_MAX);
		}
		struct bin is, want = column(t, v, n, zoom, zoom_base(hz));

		assert_true(fold_begin(&fold, t, n, hz));
		is = fold_bin(&fold, v, 1);
		assert_int_equal(is.n, want.n);
		if (want.n > 0) {
			assert_true(is.min == want.min && is.max == want.max && is.sum == want.sum);
			assert_true(fold_stats(&fold, v, 1).sum == want.sum);
		}
	}
	fold_free(&fold);
}

/* Several marks may have the same time. An interval includes its begin but not its end. */
static void marks_of_a_stretch(void **state)
{
	static const int64_t times[] = {10, 20, 20, 20, 30, 50};
	struct mark marks[6], out[6];

	(void)state;
	for (size_t i = 0; i < 6; i++)
		marks[i] = (struct mark) {.t_ns = times[i], .id = i + 1};
	for (int64_t from = 0; from < 60; from += 5)
		for (int64_t to = from; to < 70; to += 5)
			for (size_t max = 0; max <= 6; max++) {
				size_t n = marks_between(marks, 6, from, to, out, max), k = 0;

				for (size_t i = 0; i < 6; i++)
					if (times[i] >= from && times[i] < to && k < max)
						assert_int_equal(out[k++].id, i + 1);
				assert_int_equal(n, k);
			}
	assert_int_equal(marks_between(NULL, 0, 0, INT64_MAX, out, 6), 0);
}

/* A log may have a tier without a rate. */
static void tiers_without_a_rate(void **state)
{
	(void)state;
	assert_int_equal(stats_hole_ns(0), 0);
	assert_int_equal(stats_hole_ns(1000), 5 * NS_PER_S / 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(missing_is_not_counted), cmocka_unit_test(bases),
					   cmocka_unit_test(rounding_is_idempotent), cmocka_unit_test(order_of_sums),
					   cmocka_unit_test(marks_of_a_stretch),
					   cmocka_unit_test(tiers_without_a_rate)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
