/* Reading in another thread: what is published, how readers share a thread, and what happens when a read
 * hangs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "util/clock.h"
#include "probe/reader-thread.h"

#define N 8

/* Outlives the test, because a hanging thread may. */
struct fake {
	atomic_int passes, closed, hang, hanging, thread;
	atomic_int_least64_t begin_ns; /* start of the latest pass */
	int pause_us;
};

static void fake_read(void *arg, int64_t t_ns, double *v)
{
	struct fake *f = arg;
	int pass = atomic_fetch_add(&f->passes, 1) + 1;

	atomic_store(&f->begin_ns, t_ns);
	atomic_store(&f->thread, (int)syscall(SYS_gettid));
	while (atomic_load(&f->hang)) {
		atomic_store(&f->hanging, 1);
		usleep(1000);
	}
	if (f->pause_us)
		usleep((unsigned)f->pause_us);
	for (int i = 0; i < N; i++)
		if (i != 3)
			v[i] = pass;
}

static void fake_close(void *arg)
{
	atomic_store(&((struct fake *)arg)->closed, 1);
}

static const struct async_reader_ops fake_ops = {fake_read, fake_close};

static bool become(atomic_int *value, int least)
{
	for (int i = 0; i < 10000 && atomic_load(value) < least; i++)
		usleep(1000);
	return atomic_load(value) >= least;
}

static void test_in_place(void **state)
{
	static struct fake f;
	const int64_t tick = NS_PER_S;
	double v[N] = {0};
	struct async_reader *s = async_reader_new("test", &fake_ops, &f, N, tick, 1);

	(void)state;
	assert_non_null(s);
	assert_false(async_reader_take(s, tick, 1000, v)); /* no pass yet: not even marked as missing */
	async_reader_ask(s, 1000);
	assert_true(async_reader_take(s, tick, 1000, v));
	assert_true(v[0] == 1 && v[N - 1] == 1 && isnan(v[3]));
	async_reader_ask(s, 3000);
	assert_true(async_reader_take(s, tick, 3000, v));
	assert_true(v[0] == 2);
	async_reader_stop(s);
	assert_int_equal(atomic_load(&f.closed), 1);
	async_reader_stop(NULL);
}

/* A row without a new pass has no value, and is counted. */
static void test_late(void **state)
{
	static struct fake f;
	const int64_t tick = 10 * NS_PER_MS;
	int64_t now = NS_PER_S;
	double v[N] = {0};
	struct async_reader *s = async_reader_new("test", &fake_ops, &f, N, tick, 1);

	(void)state;
	for (int row = 0; row < 100; row++, now += tick) {
		bool read = row % 10 != 9;

		if (read)
			async_reader_ask(s, now);
		assert_true(async_reader_take(s, tick, now, v));
		assert_true(read ? v[0] == row + 1 - row / 10 : isnan(v[0]));
	}
	assert_int_equal(async_reader_late(s), 10);
	/* A pass that was made long ago goes into no row. */
	async_reader_ask(s, now);
	assert_true(async_reader_take(s, tick, now + 10 * tick, v));
	assert_true(isnan(v[0]));
	async_reader_stop(s);
}

/* What is read less often than there are rows stays for its period, and is counted once in each without it. */
static void test_slower_than_rows(void **state)
{
	static struct fake f;
	const int64_t tick = 10 * NS_PER_MS, period = 100 * NS_PER_MS;
	int64_t now = NS_PER_S;
	double v[N] = {0};
	struct async_reader *s = async_reader_new("test", &fake_ops, &f, N, period, 1);

	(void)state;
	for (int row = 0; row < 100; row++, now += tick) {
		if (row % 10 == 0)
			async_reader_ask(s, now);
		assert_true(async_reader_take(s, tick, now, v) == (row % 10 == 0));
		assert_true(v[0] == row / 10 + 1);
	}
	assert_int_equal(async_reader_late(s), 0);
	for (int row = 0; row < 50; row++, now += tick)
		if (async_reader_take(s, tick, now, v))
			assert_true(row >= 2 && isnan(v[0]));
	assert_true(isnan(v[0]));
	assert_in_range(async_reader_late(s), 4, 5);
	async_reader_stop(s);
}

/* A pass for the next row is not taken by the one before it. */
static void test_for_its_row(void **state)
{
	static struct fake f;
	const int64_t tick = 10 * NS_PER_MS;
	double v[N] = {0};
	struct async_reader *s = async_reader_new("test", &fake_ops, &f, N, tick, 1);

	(void)state;
	async_reader_at_random(s, tick);
	s->for_ns = 100 * tick;
	async_reader_ask(s, 100 * tick - NS_PER_MS);
	s->for_ns = 101 * tick;
	async_reader_ask(s, 100 * tick - 1);
	assert_true(async_reader_take(s, tick, 100 * tick + 1000, v));
	assert_true(v[0] == 1 && s->taken_ns == 100 * tick - NS_PER_MS);
	assert_true(async_reader_take(s, tick, 101 * tick + 1000, v));
	assert_true(v[0] == 2 && s->taken_ns == 100 * tick - 1);
	assert_int_equal(async_reader_late(s), 0);
	async_reader_stop(s);
}

/* All values come from one pass, whatever the timing of the two threads. */
static void test_one_pass(void **state)
{
	static struct fake f;
	double v[N], last = 0;
	int taken = 0;
	struct async_reader *s = async_reader_new("test", &fake_ops, &f, N, 1000, 1);

	(void)state;
	async_reader_start(s);
	async_reader_start(s); /* a second start does nothing */
	while (taken < 2000) {
		if (!async_reader_take(s, NS_PER_S, clock_now_ns(), v) || isnan(v[0]))
			continue;
		for (int i = 1; i < N; i++)
			if (i != 3 && v[i] != v[0])
				fail_msg("values of two passes: %g and %g", v[0], v[i]);
		assert_true(v[0] > last);
		last = v[0];
		taken++;
	}
	async_reader_stop(s);
	assert_int_equal(atomic_load(&f.closed), 1);
}

/* Expensive passes run less often to stay within their CPU share. */
static void test_share(void **state)
{
	static struct fake f = {.pause_us = 2000};
	struct async_reader *s = async_reader_new("test", &fake_ops, &f, N, NS_PER_MS, 0.1);

	(void)state;
	assert_true(async_reader_period_ns(s) == NS_PER_MS);
	async_reader_ask(s, 1000);
	assert_true(async_reader_period_ns(s) == NS_PER_MS); /* the first pass opens files */
	async_reader_ask(s, 1500);
	assert_true(async_reader_period_ns(s) >= 20 * NS_PER_MS);
	async_reader_set_period(s, NS_PER_S * 10);
	async_reader_ask(s, 2000);
	assert_true(async_reader_period_ns(s) >= 10 * NS_PER_S);
	async_reader_stop(s);
}

/* Of a source that becomes slow some passes are late, and then no more: how long one takes is noticed at once, but not
 * for one that hung. */
static void test_becomes_slow(void **state)
{
	static struct fake f;
	const int64_t tick = 10 * NS_PER_MS;
	double v[N] = {0};
	int late = 0;
	struct async_reader *s = async_reader_new("test", &fake_ops, &f, N, tick, 0.5);

	(void)state;
	async_reader_at_random(s, tick);
	for (int i = 0; i < 20; i++)
		async_reader_ask(s, clock_now_ns());
	f.pause_us = 100000;
	async_reader_ask(s, clock_now_ns());
	f.pause_us = 0;
	for (int i = 0; i < 10 && async_reader_period_ns(s) > tick; i++)
		async_reader_ask(s, clock_now_ns());
	assert_true(async_reader_period_ns(s) == tick);
	f.pause_us = 40000;
	do {
		async_reader_ask(s, clock_now_ns());
		assert_true(async_reader_take(s, tick, clock_now_ns(), v));
	} while (isnan(v[0]) && ++late < 8);
	assert_true(late < 8);
	assert_true(async_reader_period_ns(s) >= 80 * NS_PER_MS);
	async_reader_stop(s);
}

/* A hanging read blocks nobody and cleans up when it returns. */
static void test_hang(void **state)
{
	static struct fake f = {.hang = 1};
	double v[N];
	struct async_reader *s = async_reader_new("test", &fake_ops, &f, N, NS_PER_MS, 1);

	(void)state;
	async_reader_start(s);
	assert_true(become(&f.passes, 1));
	assert_false(async_reader_take(s, NS_PER_MS, clock_now_ns(), v));
	async_reader_stop(s);
	assert_int_equal(atomic_load(&f.closed), 0);
	atomic_store(&f.hang, 0);
	assert_true(become(&f.closed, 1));
}

#define SHARED 3

static bool share_a_thread(struct fake f[SHARED])
{
	int passes = atomic_load(&f[0].passes);

	for (int i = 0; i < SHARED; i++)
		if (!become(&f[i].passes, passes + 3))
			return false;
	for (int i = 1; i < SHARED; i++)
		if (atomic_load(&f[i].thread) != atomic_load(&f[0].thread))
			return false;
	return true;
}

/* Rescue when needed, as an engine does. */
static bool go_on(struct async_reader *s[SHARED], atomic_int *passes)
{
	int least = atomic_load(passes) + 20;

	for (int i = 0; i < 10000 && atomic_load(passes) < least; i++) {
		int64_t look_ns = INT64_MAX;

		for (int k = 0; k < SHARED; k++)
			assert_false(reader_bus_rescue(s[k], clock_now_ns(), &look_ns));
		usleep(1000);
	}
	return atomic_load(passes) >= least;
}

static void shared_begin(struct fake f[SHARED], struct async_reader *s[SHARED])
{
	static const int64_t period[SHARED] = {NS_PER_MS, NS_PER_MS, 3 * NS_PER_MS};

	for (int i = 0; i < SHARED; i++)
		s[i] = async_reader_new("test", &fake_ops, &f[i], N, period[i], 1);
	assert_non_null(reader_bus_new("test", s, SHARED, false, NULL, 0));
}

/* A read that hangs in a shared thread keeps that thread and blocks no other reader, nor does the next
 * one that hangs; each is read by the new thread when its read returns. */
static void test_shared(void **state)
{
	static struct fake f[SHARED];
	struct async_reader *s[SHARED];
	int thread;

	(void)state;
	shared_begin(f, s);
	assert_true(share_a_thread(f));
	for (int i = 0; i < SHARED - 1; i++) {
		atomic_store(&f[i].hang, 1);
		assert_true(become(&f[i].hanging, 1));
		thread = atomic_load(&f[i].thread);
		for (int k = i + 1; k < SHARED; k++) {
			assert_true(go_on(s, &f[k].passes));
			assert_int_not_equal(atomic_load(&f[k].thread), thread);
		}
	}
	for (int i = 0; i < SHARED - 1; i++)
		atomic_store(&f[i].hang, 0);
	for (int i = 0; i < SHARED; i++)
		assert_true(go_on(s, &f[i].passes));
	assert_true(share_a_thread(f));
	for (int i = 0; i < SHARED; i++)
		async_reader_stop(s[i]);
	for (int i = 0; i < SHARED; i++)
		assert_int_equal(atomic_load(&f[i].closed), 1);
}

/* One reader hangs in the shared thread when all are stopped, before and after another thread took over
 * the rest: what it uses stays until its read returns. */
static void test_shared_stops(void **state)
{
	for (int hung = 0; hung < 2 * SHARED; hung++) {
		static struct fake all[2 * SHARED][SHARED];
		struct fake *f = all[hung], *hangs = &f[hung % SHARED];
		struct async_reader *s[SHARED];

		(void)state;
		shared_begin(f, s);
		assert_true(share_a_thread(f));
		atomic_store(&hangs->hang, 1);
		assert_true(become(&hangs->hanging, 1));
		if (hung >= SHARED)
			assert_true(go_on(s, &f[(hung + 1) % SHARED].passes));
		for (int i = 0; i < SHARED; i++)
			async_reader_stop(s[i]);
		assert_int_equal(atomic_load(&hangs->closed), 0);
		atomic_store(&hangs->hang, 0);
		for (int i = 0; i < SHARED; i++)
			assert_true(become(&f[i].closed, 1));
	}
}

/* Passes move to the grid, here by half a period. Being late by less than that is detected. */
static void test_grid(void **state)
{
	static struct fake f;
	const int64_t period = 200 * NS_PER_MS;
	struct async_reader *s = async_reader_new("test", &fake_ops, &f, N, period, 1);
	bool aligned = false;

	(void)state;
	assert_non_null(s);
	int64_t due = clock_now_ns() + period / 2;
	assert_non_null(reader_bus_new("test", &s, 1, false, NULL, due + LEAD_NS));
	for (int i = 3; i < 10 && !aligned; i++) {
		assert_true(become(&f.passes, i));
		aligned = (atomic_load(&f.begin_ns) - due) % period < period / 2;
	}
	assert_true(aligned);
	async_reader_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_place),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_slower_than_rows),
		cmocka_unit_test(test_for_its_row),
		cmocka_unit_test(test_one_pass),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_becomes_slow),
		cmocka_unit_test(test_hang),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_shared_stops),
		cmocka_unit_test(test_grid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
