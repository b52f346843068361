/* The sampler: when ticks are due, what is read at them, the content of rows, and termination. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>

#include "fake-probes.h"
#include "util/clock.h"
#include "engine/sampler.h"

#define MS NS_PER_MS

static void grid_counts_what_it_skips(void **state)
{
	struct grid g = {.start_ns = 1000, .period_ns = 100};

	(void)state;
	assert_int_equal(grid_due(&g), 1000);
	assert_int_equal(grid_begin(&g, 1000), 0);
	assert_int_equal(grid_end(&g, 1020), 0);
	assert_int_equal(grid_due(&g), 1100);
	assert_int_equal(grid_begin(&g, 1199), 0); /* late, but within its own period */
	assert_int_equal(grid_end(&g, 1199), 0);
	assert_int_equal(grid_due(&g), 1200);
	assert_int_equal(grid_begin(&g, 1500), 3); /* 1200, 1300, 1400 are missed */
	assert_int_equal(grid_due(&g), 1500);
	assert_int_equal(grid_end(&g, 1510), 0);
	assert_int_equal(grid_due(&g), 1600);
}

/* Reads longer than the period: every other tick must sleep. */
static void grid_never_keeps_a_thread_awake(void **state)
{
	struct grid g = {.start_ns = 0, .period_ns = 100};
	int64_t now = 0;
	uint64_t ticks = 0, skipped = 0;
	int awake = 0, slept = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		if (now < grid_due(&g)) {
			now = grid_due(&g);
			awake = 0;
			slept++;
		} else {
			awake++;
		}
		assert_true(awake <= 2);
		skipped += grid_begin(&g, now);
		assert_true(grid_due(&g) <= now && now < grid_due(&g) + 100);
		ticks++;
		now += 130;
		skipped += grid_end(&g, now);
	}
	assert_true(slept >= 33);
	assert_int_equal(ticks + skipped, g.tick);
}

static struct sampler *make(struct probe_set *r, double hz)
{
	struct err e;
	struct sampler *s = sampler_new(r, (const double[TIERS]) {hz, hz, hz}, &e);

	assert_non_null(s);
	return s;
}

static struct ring *fast(struct sampler *s)
{
	return sampler_ring(s, TIER_FAST);
}

static struct ring_row newest(struct sampler *s)
{
	size_t n = ring_count(fast(s));

	assert_true(n > 0);
	return ring_at(fast(s), n - 1);
}

/* A probe with its own period is read when it has elapsed, and its value held in between. */
static void values_are_held_until_due(void **state)
{
	struct probe_set *r = fake_probes();
	struct fake *each = fake_add(r, TIER_FAST, CHANNEL_OTHER, 0);
	struct fake *fifth = fake_add(r, TIER_FAST, CHANNEL_OTHER, 5 * MS);
	struct fake *other = fake_add(r, TIER_SLOW, CHANNEL_OTHER, 0);
	struct sampler *s = make(r, 1000);

	(void)state;
	for (int i = 0; i < 100; i++) {
		each->value = i;
		fifth->value = 1000 + i;
		sampler_tick(s, TIER_FAST, i * MS, i * MS + 7999, 0);
		assert_int_equal(newest(s).t_ns, i * MS + 7000); /* whole microseconds */
		assert_true(newest(s).values[0] == i);
		assert_true(newest(s).values[1] == 1000 + i / 5 * 5);
		assert_int_equal(each->last_read_ns, i * MS + 7999);
	}
	assert_int_equal(each->reads, 100);
	assert_int_equal(fifth->reads, 20);
	assert_int_equal(other->reads, 0);
	sampler_free(s);
	probe_set_free(r);
}

/* A period that is not a multiple of the tick keeps its mean rate. */
static void odd_period_does_not_drift(void **state)
{
	struct probe_set *r = fake_probes();
	struct fake *f = fake_add(r, TIER_FAST, CHANNEL_OTHER, 16666667);
	struct sampler *s = make(r, 1000);

	(void)state;
	for (int i = 0; i < 3000; i++)
		sampler_tick(s, TIER_FAST, i * MS, i * MS, 0);
	assert_int_equal(f->reads, 180);
	sampler_free(s);
	probe_set_free(r);
}

/* After missed ticks a probe is read only once. */
static void no_burst_after_a_gap(void **state)
{
	struct probe_set *r = fake_probes();
	struct fake *f = fake_add(r, TIER_FAST, CHANNEL_OTHER, 5 * MS);
	struct sampler *s = make(r, 1000);
	struct engine_stats n;

	(void)state;
	sampler_tick(s, TIER_FAST, 0, 0, 0);
	sampler_tick(s, TIER_FAST, 102 * MS, 102 * MS + 5, 101);
	assert_int_equal(newest(s).late, 101);
	assert_int_equal(f->reads, 2);
	for (int i = 103; i < 105; i++)
		sampler_tick(s, TIER_FAST, i * MS, i * MS, 0);
	assert_int_equal(f->reads, 2);
	sampler_tick(s, TIER_FAST, 105 * MS, 105 * MS, 0);
	assert_int_equal(f->reads, 3);
	sampler_stats(s, &n);
	assert_int_equal(n.rows[TIER_FAST], 5);
	assert_int_equal(n.late[TIER_FAST], 101);
	assert_int_equal(n.newest_ns[TIER_FAST], 105 * MS);
	sampler_free(s);
	probe_set_free(r);
}

/* Derived values are computed after their inputs, in any order of probes, at ticks that read something. */
static void derived_come_last(void **state)
{
	struct probe_set *r = fake_probes();
	struct fake *twice = fake_add(r, TIER_FAST, CHANNEL_OTHER, 0);
	struct fake *base = fake_add(r, TIER_FAST, CHANNEL_OTHER, 2 * MS);
	struct sampler *s;

	(void)state;
	twice->probe.derived = true;
	twice->from_column = base->column;
	s = make(r, 1000);
	for (int i = 0; i < 10; i++) {
		base->value = i;
		sampler_tick(s, TIER_FAST, i * MS, i * MS, 0);
		assert_true(newest(s).values[base->column] == i / 2 * 2);
		assert_true(newest(s).values[twice->column] == i / 2 * 4);
	}
	assert_int_equal(twice->reads, 5);
	sampler_free(s);
	probe_set_free(r);
}

/* The stream has values as precise as a trace; the probes keep theirs. */
static void rows_are_rounded_and_probes_are_not(void **state)
{
	struct probe_set *r = fake_probes();
	struct fake *gpu = fake_add(r, TIER_FAST, CHANNEL_GPU_UTIL, 0);
	struct fake *twice = fake_add(r, TIER_FAST, CHANNEL_OTHER, 0);
	struct fake *never = fake_add(r, TIER_FAST, CHANNEL_TEMPERATURE, 0);
	struct sampler *s;

	(void)state;
	twice->probe.derived = true;
	twice->from_column = gpu->column;
	gpu->value = 12.345;
	never->value = NAN;
	s = make(r, 1000);
	sampler_tick(s, TIER_FAST, 0, 1, 0);
	assert_true(newest(s).values[0] == channel_round(CHANNEL_GPU_UTIL, 12.345));
	assert_true(newest(s).values[0] != 12.345);
	assert_true(newest(s).values[1] == 2 * 12.345);
	assert_true(isnan(newest(s).values[2]));
	sampler_free(s);
	probe_set_free(r);
}

static void times_always_increase(void **state)
{
	struct probe_set *r = fake_probes();
	struct sampler *s;

	(void)state;
	fake_add(r, TIER_FAST, CHANNEL_OTHER, 0);
	s = make(r, 1000);
	sampler_tick(s, TIER_FAST, 0, 5000, 0);
	sampler_tick(s, TIER_FAST, 0, 5000, 0);
	sampler_tick(s, TIER_FAST, 0, 4000, 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(ring_at(fast(s), i).t_ns, 5000 + 1000 * i);
	sampler_free(s);
	probe_set_free(r);
}

static void full_ring_counts_lost_rows(void **state)
{
	struct probe_set *r = fake_probes();
	struct sampler *s;
	struct engine_stats n;
	size_t ticks = 0;

	(void)state;
	fake_add(r, TIER_FAST, CHANNEL_OTHER, 0);
	s = make(r, 0.1);
	for (n.lost[TIER_FAST] = 0; n.lost[TIER_FAST] < 3; ticks++) {
		sampler_tick(s, TIER_FAST, (int64_t)ticks, (int64_t)ticks + 1, 0);
		sampler_stats(s, &n);
	}
	assert_int_equal(ring_count(fast(s)), ticks - 3);
	assert_int_equal(n.rows[TIER_FAST], ticks - 3);
	sampler_free(s);
	probe_set_free(r);
}

static void start(struct sampler *s, int64_t grid_ns)
{
	struct err e;

	sampler_begin(s, grid_ns);
	assert_int_equal(sampler_start(s, &e), 0);
}

static void wait_for_rows(struct sampler *s, enum tier tier, size_t rows)
{
	while (ring_count(sampler_ring(s, tier)) < rows)
		sched_yield();
}

/* Each row lies in the period of the tick that the counts give. */
static void assert_on_grid(struct sampler *s, enum tier tier, int64_t grid)
{
	int64_t tick = -1, period = sampler_period_ns(s, tier);
	size_t rows = ring_count(sampler_ring(s, tier));
	struct engine_stats n;
	uint64_t late = 0;

	for (size_t i = 0; i < rows; i++) {
		const struct ring_row row = ring_at(sampler_ring(s, tier), i);

		tick += 1 + (int64_t)row.late;
		late += row.late;
		assert_in_range(row.t_ns, grid + tick * period, grid + (tick + 1) * period - 1);
	}
	sampler_stats(s, &n);
	assert_int_equal(n.rows[tier], rows);
	assert_int_equal(n.late[tier], late);
	assert_int_equal(n.lost[tier], 0);
}

static void thread_keeps_the_grid(void **state)
{
	struct probe_set *r = fake_probes();
	struct sampler *s;
	int64_t grid = clock_now_ns() + MS;

	(void)state;
	fake_add(r, TIER_FAST, CHANNEL_OTHER, 0);
	s = make(r, 2000);
	start(s, grid);
	wait_for_rows(s, TIER_FAST, 300);
	assert_true(sampler_stop(s, INT64_MAX));
	assert_on_grid(s, TIER_FAST, grid);
	sampler_free(s);
	probe_set_free(r);
}

/* Even if their periods have no common factor and the slower tier runs faster. */
static void tiers_keep_grids_of_their_own(void **state)
{
	static const double rates[][TIERS] = {{1000, 1, 300}, {130, 1, 700}};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct probe_set *r = fake_probes();
		int64_t grid = clock_now_ns() + MS;
		struct sampler *s;
		struct err e;

		fake_add(r, TIER_FAST, CHANNEL_OTHER, 0);
		fake_add(r, TIER_SLOW, CHANNEL_OTHER, 0);
		s = sampler_new(r, rates[i], &e);
		assert_non_null(s);
		assert_null(sampler_ring(s, TIER_MEDIUM));
		start(s, grid);
		wait_for_rows(s, TIER_FAST, 60);
		wait_for_rows(s, TIER_SLOW, 60);
		assert_true(sampler_stop(s, INT64_MAX));
		assert_on_grid(s, TIER_FAST, grid);
		assert_on_grid(s, TIER_SLOW, grid);
		sampler_free(s);
		probe_set_free(r);
	}
}

static sigset_t mask_seen;
static char name_seen[16];

static void look_around(struct fake *f)
{
	(void)f;
	pthread_sigmask(SIG_SETMASK, NULL, &mask_seen);
	prctl(PR_GET_NAME, name_seen);
}

static void thread_takes_no_signal_but_its_own_faults(void **state)
{
	struct probe_set *r = fake_probes();
	struct sampler *s;

	(void)state;
	fake_add(r, TIER_FAST, CHANNEL_OTHER, 0)->hook = look_around;
	s = make(r, 1000);
	start(s, clock_now_ns());
	wait_for_rows(s, TIER_FAST, 1);
	assert_true(sampler_stop(s, INT64_MAX));
	assert_true(sigismember(&mask_seen, SIGINT) && sigismember(&mask_seen, SIGTERM));
	assert_true(sigismember(&mask_seen, SIGUSR1) && sigismember(&mask_seen, SIGWINCH));
	assert_false(sigismember(&mask_seen, SIGSEGV) || sigismember(&mask_seen, SIGBUS));
	assert_false(sigismember(&mask_seen, SIGABRT) || sigismember(&mask_seen, SIGFPE));
	assert_string_equal(name_seen, "nvmtop-sampler");
	sampler_free(s);
	probe_set_free(r);
}

/* The next tick is ten seconds away; the join would give up after eight. */
static void stop_ends_a_long_sleep(void **state)
{
	struct probe_set *r = fake_probes();
	struct sampler *s;

	(void)state;
	fake_add(r, TIER_FAST, CHANNEL_OTHER, 0);
	s = make(r, 0.1);
	start(s, clock_now_ns());
	wait_for_rows(s, TIER_FAST, 1);
	assert_true(sampler_stop(s, clock_now_ns() + 8 * NS_PER_S));
	assert_int_equal(ring_count(fast(s)), 1);
	sampler_free(s);
	probe_set_free(r);
}

static sem_t entered, leave;

static void hang(struct fake *f)
{
	(void)f;
	sem_post(&entered);
	while (sem_wait(&leave))
		continue;
}

static void hanging_probe_does_not_hold_the_join(void **state)
{
	struct probe_set *r = fake_probes();
	struct sampler *s;

	(void)state;
	sem_init(&entered, 0, 0);
	sem_init(&leave, 0, 0);
	fake_add(r, TIER_FAST, CHANNEL_OTHER, 0)->hook = hang;
	s = make(r, 1000);
	start(s, clock_now_ns());
	while (sem_wait(&entered))
		continue;
	assert_false(sampler_stop(s, clock_now_ns() + MS));
	sem_post(&leave);
	assert_true(sampler_stop(s, INT64_MAX));
	sampler_free(s);
	probe_set_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grid_counts_what_it_skips),
		cmocka_unit_test(grid_never_keeps_a_thread_awake),
		cmocka_unit_test(values_are_held_until_due),
		cmocka_unit_test(odd_period_does_not_drift),
		cmocka_unit_test(no_burst_after_a_gap),
		cmocka_unit_test(derived_come_last),
		cmocka_unit_test(rows_are_rounded_and_probes_are_not),
		cmocka_unit_test(times_always_increase),
		cmocka_unit_test(full_ring_counts_lost_rows),
		cmocka_unit_test(thread_keeps_the_grid),
		cmocka_unit_test(tiers_keep_grids_of_their_own),
		cmocka_unit_test(thread_takes_no_signal_but_its_own_faults),
		cmocka_unit_test(stop_ends_a_long_sleep),
		cmocka_unit_test(hanging_probe_does_not_hold_the_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
