/* Energy of loads faster than the rail readings, with a simulated clock: sums over random times are
 * noisy but unbiased, and each row has the time of its reading. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake-probes.h"
#include "util/clock.h"
#include "probe/jitter.h"
#include "engine/sampler.h"

#define MS   NS_PER_MS
#define US   (NS_PER_MS / 1000)
#define GRID (5 * NS_PER_S)
#define LEAD (2 * MS) /* a reading ends before the tick that uses it */

/* On in the first part of each period. */
struct load {
	int64_t period_ns, on_ns;
};

static double mw_at(const struct load *l, int64_t t_ns)
{
	return t_ns % l->period_ns < l->on_ns ? 50000 : 10000;
}

static double mean_mw(const struct load *l)
{
	return 10000 + 40000 * (double)l->on_ns / (double)l->period_ns;
}

/* Readings of a chip, each taking cost_ns. */
struct chip {
	int64_t slot_ns;
	int64_t period_ns, cost_ns;
	int64_t due_ns;  /* the next reading */
	int64_t read_ns; /* the newest finished one */
	double mw;
};

static void chip_until(struct chip *c, const struct load *l, int64_t now_ns)
{
	while (c->due_ns < now_ns - LEAD - c->cost_ns) {
		c->read_ns = c->due_ns;
		c->mw = mw_at(l, c->due_ns);
		c->due_ns = jitter_next(&c->slot_ns, GRID - LEAD - c->cost_ns, c->period_ns, c->due_ns + c->cost_ns);
	}
}

/* Mean power by the trapezoidal rule over the rows that have it. */
static double measured(const struct load *l, struct chip c, int64_t tick_ns, int seconds)
{
	struct probe_set *r = fake_probes();
	struct fake *f = fake_add(r, TIER_MEDIUM, CHANNEL_OTHER, 0);
	struct err e;
	struct sampler *s;
	int64_t last_ns = 0, seen_ns = 0, from_ns = 0;
	double last_mw = 0, sum = 0;

	f->probe.timed = true;
	s = sampler_new(r, (const double[TIERS]) {1, (double)NS_PER_S / (double)tick_ns, 1}, &e);
	assert_non_null(s);
	sampler_begin(s, GRID);
	c.due_ns = GRID - tick_ns;
	for (int64_t due = GRID; due < GRID + seconds * NS_PER_S; due += tick_ns) {
		struct ring_row row;
		bool fresh;

		chip_until(&c, l, due);
		fresh = c.read_ns != seen_ns;
		f->probe.read_ns = fresh ? c.read_ns : 0;
		f->value = fresh ? c.mw : (double)NAN;
		sampler_tick(s, TIER_MEDIUM, due, due + 20 * US, 0);
		row = ring_at(sampler_ring(s, TIER_MEDIUM), 0);
		assert_true(row.t_ns > last_ns && row.t_ns <= due);
		if (fresh && c.cost_ns < LEAD)
			assert_int_equal(row.t_ns, c.read_ns - c.read_ns % US);
		if (c.period_ns == tick_ns && due > GRID + tick_ns)
			assert_true(fresh && row.t_ns - last_ns < 2 * tick_ns + c.cost_ns);
		seen_ns = c.read_ns;
		if (isnan(row.values[0])) {
			ring_take(sampler_ring(s, TIER_MEDIUM), 1);
			continue;
		}
		if (last_ns)
			sum += (row.values[0] + last_mw) / 2 * (double)(row.t_ns - last_ns);
		else
			from_ns = row.t_ns;
		last_ns = row.t_ns;
		last_mw = row.values[0];
		ring_take(sampler_ring(s, TIER_MEDIUM), 1);
	}
	sampler_free(s);
	probe_set_free(r);
	return sum / (double)(last_ns - from_ns);
}

static const struct load loads[] = {
	{10 * MS, 5 * MS}, {10 * MS, 1 * MS}, {5 * MS, 2 * MS},    {2500 * US, 1250 * US}, {20 * MS, 10 * MS},
	{40 * MS, 4 * MS}, {30 * MS, 9 * MS}, {100 * MS, 35 * MS}, {1000 * MS, 500 * MS},
};

static void nothing_is_in_step(struct chip c, int64_t tick_ns, double most)
{
	for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
		double mw = measured(&loads[i], c, tick_ns, 300), off = mw / mean_mw(&loads[i]) - 1;

		if (fabs(off) >= most)
			fail_msg("%lld us: %g mW, off by %.2f %%", (long long)(loads[i].period_ns / US), mw,
				 100 * off);
	}
}

static void no_bias(void **state)
{
	(void)state;
	nothing_is_in_step((struct chip) {.period_ns = 10 * MS, .cost_ns = 100 * US}, 10 * MS, 0.005);
}

static void nor_where_a_reading_takes_a_while(void **state)
{
	(void)state;
	nothing_is_in_step((struct chip) {.period_ns = 10 * MS, .cost_ns = 500 * US}, 10 * MS, 0.005);
}

/* Each reading is in one of five rows, and the others have none. */
static void nor_where_it_is_read_seldom(void **state)
{
	(void)state;
	nothing_is_in_step((struct chip) {.period_ns = 50 * MS, .cost_ns = 100 * US}, 10 * MS, 0.02);
}

/* Each sixteenth of a tick is used once in 16 ticks, in varying order. */
static void moments_are_spread(void **state)
{
	unsigned first[16] = {0};

	(void)state;
	for (uint64_t block = 0; block < 1600; block++) {
		unsigned seen = 0;

		for (uint64_t i = 0; i < 16; i++) {
			int64_t at = jitter_in(16 * block + i, 1600);

			assert_in_range(at, 0, 1599);
			seen |= 1U << at / 100;
			first[at / 100] += i == 0;
		}
		assert_int_equal(seen, 0xffff);
	}
	for (int i = 0; i < 16; i++)
		assert_in_range(first[i], 60, 140);
	assert_int_equal(jitter_in(7, MS), jitter_in(7, MS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moments_are_spread),
		cmocka_unit_test(no_bias),
		cmocka_unit_test(nor_where_a_reading_takes_a_while),
		cmocka_unit_test(nor_where_it_is_read_seldom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
