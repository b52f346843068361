/* Synthetic context switch records: what kernels write, in which order, and what they omit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

/* The rings are private to this file. */
#include "probe/cpu-perf.c"

#define PAGE 4096
#define US   INT64_C(1000)
#define MS   INT64_C(1000000)

enum { IN, OUT };

struct fake {
	struct by_perf *b;
	struct ring *r;
	struct cpu_stat stat;
	int64_t read_ns, idle_ns; /* of the last read */
};

static void begin(struct fake *f)
{
	memset(f, 0, sizeof *f);
	f->b = calloc(1, sizeof *f->b);
	assert_non_null(f->b);
	f->b->page_size = f->b->ring_size = PAGE;
	f->r = &f->b->ring[0];
	f->r->fd = -1;
	f->r->page = aligned_alloc(PAGE, (size_t)2 * PAGE);
	assert_non_null(f->r->page);
	memset(f->r->page, 0, (size_t)2 * PAGE);
	f->stat.tick_ns = 10e6;
	f->stat.idle[0] = -1;
	f->r->state = IDLE;
	f->read_ns = 0;
}

static void end(struct fake *f)
{
	free(f->r->page);
	free(f->b);
}

static void put(struct fake *f, const void *bytes, size_t size)
{
	const unsigned char *from = bytes;
	unsigned char *ring = (unsigned char *)f->r->page + PAGE;

	for (size_t i = 0; i < size; i++)
		ring[(f->r->page->data_head + i) % PAGE] = from[i];
	f->r->page->data_head += size;
	assert_true(f->r->page->data_head - f->r->page->data_tail <= PAGE);
}

static void put_switch(struct fake *f, int way, int other, int64_t when)
{
	struct {
		struct perf_event_header h;
		int32_t pid, tid;
		int64_t when;
	} r = {{PERF_RECORD_SWITCH_CPU_WIDE, way == OUT ? PERF_RECORD_MISC_SWITCH_OUT : 0, 24},
	       other,
	       other,
	       when};

	put(f, &r, sizeof r);
}

static double get(struct fake *f, int64_t t_ns)
{
	int64_t idle = ring_read(f->b, f->r, &f->stat, t_ns, 0), was = f->idle_ns;
	double v = 100 * (1 - (double)(idle - was) / (double)(t_ns - f->read_ns));

	f->read_ns = t_ns;
	f->idle_ns = idle;
	assert_true(idle < 0 || was < 0 || (v >= 0 && v <= 100));
	return idle < 0 || was < 0 ? (double)NAN : v;
}

#define assert_near(got, want)                                                                               \
	do {                                                                                                 \
		double got_ = (got);                                                                         \
		if (!(fabs(got_ - (want)) < 1e-6))                                                           \
			fail_msg("line %d: %g, not %g", __LINE__, got_, (double)(want));                     \
	} while (0)

/* Idle -> 7 -> 8 -> idle, with and without records of the idle task itself. */
static void test_both_kinds_of_kernel(void **state)
{
	(void)state;
	for (int swapper = 0; swapper < 2; swapper++) {
		struct fake f;
		begin(&f);
		assert_near(get(&f, 1 * MS), 0);
		if (swapper)
			put_switch(&f, OUT, 7, 1100 * US);
		put_switch(&f, IN, 0, 1100 * US);
		put_switch(&f, OUT, 8, 1200 * US);
		put_switch(&f, IN, 7, 1200 * US);
		put_switch(&f, OUT, 0, 1350 * US);
		if (swapper)
			put_switch(&f, IN, 8, 1350 * US);
		assert_near(get(&f, 2 * MS), 25);
		assert_near(get(&f, 3 * MS), 0);
		put_switch(&f, IN, 0, 3 * MS);
		assert_near(get(&f, 4 * MS), 100);
		assert_near(get(&f, 5 * MS), 100); /* no record at all */
		end(&f);
	}
}

/* An exited process has number -1, which is not the idle task. */
static void test_process_that_is_gone(void **state)
{
	struct fake f;

	(void)state;
	begin(&f);
	put_switch(&f, IN, 0, 0);
	put_switch(&f, OUT, 9, 500 * US);
	put_switch(&f, IN, -1, 500 * US);
	assert_near(get(&f, 1 * MS), 100);
	put_switch(&f, OUT, -1, 1500 * US);
	assert_near(get(&f, 2 * MS), 100);
	end(&f);
}

static void test_later_records_wait(void **state)
{
	struct fake f;

	(void)state;
	begin(&f);
	put_switch(&f, IN, 0, 500 * US);
	put_switch(&f, OUT, 0, 1250 * US); /* written after the tick began */
	assert_near(get(&f, 1 * MS), 50);
	assert_int_equal(f.r->page->data_head - f.r->page->data_tail, 24);
	assert_near(get(&f, 2 * MS), 25);
	/* A late record counts from the tick on. */
	put_switch(&f, IN, 0, 1999 * US);
	assert_near(get(&f, 3 * MS), 100);
	end(&f);
}

static void test_around_the_end_of_the_ring(void **state)
{
	struct fake f;

	(void)state;
	begin(&f);
	for (int i = 1; i < 2000; i++) { /* 24 does not divide 4096 */
		put_switch(&f, IN, 0, i * MS - 750 * US);
		put_switch(&f, OUT, 0, i * MS - 250 * US);
		assert_near(get(&f, i * MS), 50);
	}
	end(&f);
}

static void test_loss_is_not_known(void **state)
{
	struct {
		struct perf_event_header h;
		uint64_t id, lost;
		int64_t when;
	} lost = {{PERF_RECORD_LOST, 0, 32}, 1, 12, 0};
	struct fake f;

	(void)state;
	begin(&f);
	put_switch(&f, IN, 0, 100 * US);
	put(&f, &lost, sizeof lost);
	assert_true(isnan(get(&f, 1 * MS)));
	put_switch(&f, OUT, 0, 1500 * US);
	assert_true(isnan(get(&f, 2 * MS))); /* known from its middle on */
	assert_true(isnan(get(&f, 3 * MS)));
	assert_near(get(&f, 4 * MS), 0);
	end(&f);
}

static void test_damaged_ring(void **state)
{
	static const uint16_t sizes[] = {0, 4, 7, 12, 25, 4096, 65535};

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct perf_event_header h = {PERF_RECORD_SWITCH_CPU_WIDE, 0, sizes[i]};
		struct fake f;
		begin(&f);
		put(&f, &h, sizeof h);
		put_switch(&f, IN, 0, 1);
		assert_true(isnan(get(&f, 1 * MS)));
		assert_int_equal(f.r->page->data_head, f.r->page->data_tail);
		end(&f);
	}
}

static void test_other_records(void **state)
{
	struct {
		struct perf_event_header h;
		uint64_t more[3];
	} other = {{PERF_RECORD_THROTTLE, 0, 32}, {0, 0, 0}};
	struct perf_event_header bare = {PERF_RECORD_SWITCH_CPU_WIDE, 0, 8};
	struct fake f;

	(void)state;
	begin(&f);
	put(&f, &other, sizeof other);
	put(&f, &bare, sizeof bare);
	put_switch(&f, IN, 0, 500 * US);
	assert_near(get(&f, 1 * MS), 50);
	end(&f);
}

/* No switch since the start: /proc/stat tells whether it is idle or busy. */
static void test_settles_by_idle_time(void **state)
{
	(void)state;
	for (int idle = 0; idle < 2; idle++) {
		struct fake f;
		begin(&f);
		ring_unknown(f.r, 1);
		f.r->at_ns = 1;
		for (int i = 1; i <= 40; i++) {
			f.stat.t_ns = i * MS;
			f.stat.fresh = i % 10 == 0;
			f.stat.idle[0] = 5000 + (idle ? i / 10 : i / 30);
			assert_true(isnan(get(&f, i * MS)));
		}
		f.stat.fresh = false;
		assert_true(isnan(get(&f, 41 * MS)));
		assert_near(get(&f, 42 * MS), idle ? 0 : 100);
		end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_kinds_of_kernel),
		cmocka_unit_test(test_process_that_is_gone),
		cmocka_unit_test(test_later_records_wait),
		cmocka_unit_test(test_around_the_end_of_the_ring),
		cmocka_unit_test(test_loss_is_not_known),
		cmocka_unit_test(test_damaged_ring),
		cmocka_unit_test(test_other_records),
		cmocka_unit_test(test_settles_by_idle_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
