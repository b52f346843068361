/* The thread for slow reads: what it publishes, and what happens when it hangs. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "nvmtop/clock.h"
#include "nvmtop/probe.h"
#include "probe/slow.h"

#define N 8

/* Lives longer than a test, as a thread that hangs may. */
struct fake {
	atomic_int passes, closed, hang, hanging, thread;
	atomic_int_least64_t begin_ns; /* of the latest pass */
	atomic_uint_least64_t wanted;
	int pause_us;
};

static void fake_read(void *arg, int64_t t_ns, uint64_t wanted, double *v)
{
	struct fake *f = arg;
	int pass = atomic_fetch_add(&f->passes, 1) + 1;

	atomic_store(&f->begin_ns, t_ns);
	atomic_store(&f->wanted, wanted);
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

static const struct slow_ops fake_ops = {fake_read, fake_close};

/* The clock of a thread that is held up between its look at the clock and its sleep: in
 * this moment a taker finds the leader late. */
static struct {
	atomic_int thread; /* 0: none, or it is done */
	int64_t now_ns;
	struct slow *taken;
} held_up;

int64_t __real_clock_now_ns(void);
int64_t __wrap_clock_now_ns(void);

int64_t __wrap_clock_now_ns(void)
{
	int me = (int)syscall(SYS_gettid);
	struct slow_seen seen = {0};
	double v[N];

	if (!atomic_compare_exchange_strong(&held_up.thread, &me, 0))
		return __real_clock_now_ns();
	slow_take(held_up.taken, &seen, __real_clock_now_ns(), v);
	return held_up.now_ns;
}

static bool become(atomic_int *value, int least)
{
	for (int i = 0; i < 10000 && atomic_load(value) < least; i++)
		usleep(1000);
	return atomic_load(value) >= least;
}

static void test_in_place(void **state)
{
	static struct fake f;
	struct slow_seen seen = {0}, other = {0};
	double v[N] = {0};
	struct slow *s = slow_new("test", &fake_ops, &f, N, NS_PER_S, 1);

	(void)state;
	assert_non_null(s);
	assert_false(slow_take(s, &seen, 1000, v)); /* no pass yet: not even that it is missing */
	slow_ask(s, 1000);
	assert_true(slow_take(s, &seen, 1000, v));
	assert_true(v[0] == 1 && v[N - 1] == 1 && isnan(v[3]));
	assert_false(slow_take(s, &seen, 2000, v)); /* seen */
	assert_true(slow_take(s, &other, 2000, v)); /* by that one only */
	slow_want(s, 5);
	slow_want(s, 63);
	slow_ask(s, 3000);
	assert_true(atomic_load(&f.wanted) == (UINT64_C(1) << 5 | UINT64_C(1) << 63));
	assert_true(slow_take(s, &seen, 3000, v));
	assert_true(v[0] == 2);
	/* Nothing new for 8 periods: missing, said once. */
	assert_false(slow_take(s, &seen, 3000 + 8 * NS_PER_S, v));
	assert_true(slow_take(s, &seen, 3001 + 8 * NS_PER_S, v));
	assert_true(isnan(v[0]));
	assert_false(slow_take(s, &seen, 9 * NS_PER_S, v));
	slow_ask(s, 9 * NS_PER_S);
	assert_true(slow_take(s, &seen, 9 * NS_PER_S, v));
	assert_true(v[0] == 3);
	slow_stop(s);
	assert_int_equal(atomic_load(&f.closed), 1);
	slow_stop(NULL);
}

/* Values of one pass only, however the two threads meet. */
static void test_one_pass(void **state)
{
	static struct fake f;
	struct slow_seen seen = {0};
	double v[N], last = 0;
	int taken = 0;
	struct slow *s = slow_new("test", &fake_ops, &f, N, 1000, 1);

	(void)state;
	slow_start(s);
	slow_start(s); /* once is enough */
	while (taken < 2000) {
		if (!slow_take(s, &seen, clock_now_ns(), v) || isnan(v[0]))
			continue;
		for (int i = 1; i < N; i++)
			if (i != 3 && v[i] != v[0])
				fail_msg("values of two passes: %g and %g", v[0], v[i]);
		assert_true(v[0] > last);
		last = v[0];
		taken++;
	}
	slow_stop(s);
	assert_int_equal(atomic_load(&f.closed), 1);
}

/* Costly passes come less often, so that they keep to their share. */
static void test_share(void **state)
{
	static struct fake f = {.pause_us = 2000};
	struct slow *s = slow_new("test", &fake_ops, &f, N, NS_PER_MS, 0.1);

	(void)state;
	assert_true(slow_period_ns(s) == NS_PER_MS);
	slow_ask(s, 1000);
	assert_true(slow_period_ns(s) == NS_PER_MS); /* the first opens things */
	slow_ask(s, 1500);
	assert_true(slow_period_ns(s) >= 20 * NS_PER_MS);
	slow_set_period(s, NS_PER_S * 10);
	slow_ask(s, 2000);
	assert_true(slow_period_ns(s) >= 10 * NS_PER_S);
	slow_stop(s);
}

/* A read that hangs holds nobody up, and cleans up when it comes back. */
static void test_hang(void **state)
{
	static struct fake f = {.hang = 1};
	struct slow_seen seen = {0};
	double v[N];
	struct slow *s = slow_new("test", &fake_ops, &f, N, NS_PER_MS, 1);

	(void)state;
	slow_start(s);
	assert_true(become(&f.passes, 1));
	assert_false(slow_take(s, &seen, clock_now_ns(), v));
	slow_stop(s);
	assert_int_equal(atomic_load(&f.closed), 0);
	atomic_store(&f.hang, 0);
	assert_true(become(&f.closed, 1));
}

static void test_hang_and_back(void **state)
{
	static struct fake f;
	struct slow_seen seen = {0};
	double v[N] = {0};
	struct slow *s = slow_new("test", &fake_ops, &f, N, NS_PER_MS, 1);

	(void)state;
	slow_start(s);
	assert_true(become(&f.passes, 2));
	atomic_store(&f.hang, 1);
	assert_true(become(&f.hanging, 1));
	while (slow_take(s, &seen, clock_now_ns(), v))
		;
	/* Ten seconds later it still hangs. */
	assert_true(slow_take(s, &seen, clock_now_ns() + 10 * NS_PER_S, v));
	assert_true(isnan(v[0]));
	atomic_store(&f.hang, 0);
	int passes = atomic_load(&f.passes);
	assert_true(become(&f.passes, passes + 2));
	assert_true(slow_take(s, &seen, clock_now_ns(), v));
	assert_true(v[0] >= passes);
	slow_stop(s);
	assert_int_equal(atomic_load(&f.closed), 1);
}

#define CREW 3

static bool share_a_thread(struct fake f[CREW])
{
	int passes = atomic_load(&f[0].passes);

	for (int i = 0; i < CREW; i++)
		if (!become(&f[i].passes, passes + 3))
			return false;
	for (int i = 1; i < CREW; i++)
		if (atomic_load(&f[i].thread) != atomic_load(&f[0].thread))
			return false;
	return true;
}

/* Takers look after who hangs, as ticks do. */
static bool go_on(struct slow *s[CREW], atomic_int *passes)
{
	int least = atomic_load(passes) + 20;

	for (int i = 0; i < 10000 && atomic_load(passes) < least; i++) {
		struct slow_seen seen = {0};
		double v[N];

		for (int k = 0; k < CREW; k++)
			slow_take(s[k], &seen, clock_now_ns(), v);
		usleep(1000);
	}
	return atomic_load(passes) >= least;
}

static void crew_begin(struct fake f[CREW], struct slow *s[CREW])
{
	static const int64_t period[CREW] = {NS_PER_MS, NS_PER_MS, 3 * NS_PER_MS};
	int tries = 0;

	for (int i = 0; i < CREW; i++) {
		s[i] = slow_new("test", &fake_ops, &f[i], N, period[i], 1);
		slow_start(s[i]);
	}
	while (tries < 200 && !share_a_thread(f))
		tries++;
	assert_true(tries < 200);
}

/* Quick sources share a thread; what hangs there holds up no other, nor does the
 * next that hangs; and they come together again. */
static void test_crew(void **state)
{
	static struct fake f[CREW];
	struct slow *s[CREW];
	int tries = 0;

	(void)state;
	crew_begin(f, s);
	for (int i = 0; i < CREW; i++) {
		atomic_store(&f[i].hang, 1);
		assert_true(become(&f[i].hanging, 1));
		for (int k = i + 1; k < CREW; k++)
			assert_true(go_on(s, &f[k].passes));
	}
	for (int i = CREW; i-- > 0;) {
		atomic_store(&f[i].hang, 0);
		assert_true(go_on(s, &f[i].passes));
	}
	while (tries < 200 && !share_a_thread(f))
		tries++;
	assert_true(tries < 200);
	for (int i = 0; i < CREW; i++)
		slow_stop(s[i]);
	for (int i = 0; i < CREW; i++)
		assert_int_equal(atomic_load(&f[i].closed), 1);
}

/* One that hangs in the thread of them all, when they are stopped. */
static void test_crew_stops(void **state)
{
	for (int hung = 0; hung < CREW; hung++) {
		static struct fake all[CREW][CREW];
		struct fake *f = all[hung];
		struct slow *s[CREW];

		(void)state;
		crew_begin(f, s);
		atomic_store(&f[hung].hang, 1);
		assert_true(become(&f[hung].hanging, 1));
		for (int i = 0; i < CREW; i++)
			slow_stop(s[i]);
		for (int i = 0; i < CREW; i++)
			assert_int_equal(atomic_load(&f[i].closed), i != hung);
		atomic_store(&f[hung].hang, 0);
		assert_true(become(&f[hung].closed, 1));
	}
}

/* A source that takes long now and then has a thread of its own. */
static void test_crew_long(void **state)
{
	static struct fake f[CREW] = {{.pause_us = 7000}};
	static const int64_t period[CREW] = {NS_PER_MS, NS_PER_MS, NS_PER_MS};
	struct slow *s[CREW];
	int other;

	(void)state;
	for (int i = 0; i < CREW; i++) {
		s[i] = slow_new("test", &fake_ops, &f[i], N, period[i], 1);
		slow_start(s[i]);
	}
	assert_true(become(&f[1].passes, 200) && become(&f[2].passes, 200));
	other = atomic_load(&f[0].passes);
	assert_true(become(&f[0].passes, other + 2));
	assert_true(atomic_load(&f[0].thread) != atomic_load(&f[1].thread));
	assert_true(atomic_load(&f[0].thread) != atomic_load(&f[2].thread));
	for (int i = 0; i < CREW; i++)
		slow_stop(s[i]);
}

static void nothing(int sig)
{
	(void)sig;
}

/* The one that is to take over is awake, and looks at the clock just before the leader is
 * late: it is not to sleep through the taker's word. */
static void test_crew_woken(void **state)
{
	static struct fake f[2];
	struct slow *s[2];
	/* Ends a sleep: it is not blocked, being a fault, and there is no SA_RESTART. */
	const struct sigaction wakes = {.sa_handler = nothing};
	int own[2], idle, passes, tries = 0;

	(void)state;
	sigaction(SIGTRAP, &wakes, NULL);
	for (int i = 0; i < 2; i++) {
		s[i] = slow_new("test", &fake_ops, &f[i], N, NS_PER_MS, 1);
		slow_start(s[i]);
		assert_true(become(&f[i].passes, 1));
		own[i] = atomic_load(&f[i].thread);
	}
	assert_int_not_equal(own[0], own[1]);
	do {
		passes = atomic_load(&f[1].passes);
		assert_true(become(&f[0].passes, atomic_load(&f[0].passes) + 3) &&
			    become(&f[1].passes, passes + 3));
		assert_true(tries++ < 1000);
	} while (atomic_load(&f[0].thread) != atomic_load(&f[1].thread));
	atomic_store(&f[0].hang, 1);
	assert_true(become(&f[0].hanging, 1));
	idle = atomic_load(&f[0].thread) == own[0] ? own[1] : own[0];
	held_up.now_ns = atomic_load(&f[0].begin_ns);
	held_up.taken = s[1];
	while (__real_clock_now_ns() < held_up.now_ns + 10 * NS_PER_MS)
		usleep(1000);
	passes = atomic_load(&f[1].passes);
	atomic_store(&held_up.thread, idle);
	for (tries = 0; tries < 2000 && atomic_load(&held_up.thread); tries++) {
		syscall(SYS_tgkill, getpid(), idle, SIGTRAP);
		usleep(10000);
	}
	assert_int_equal(atomic_load(&held_up.thread), 0);
	assert_true(become(&f[1].passes, passes + 3));
	atomic_store(&f[0].hang, 0);
	for (int i = 0; i < 2; i++)
		slow_stop(s[i]);
	signal(SIGTRAP, SIG_DFL);
}

/* Passes that begin at any time come to lie on the grid: here half a period later.  One
 * that is late for less than that is enough to tell. */
static void test_grid(void **state)
{
	static struct fake f;
	const int64_t period = 200 * NS_PER_MS;
	struct slow *s = slow_new("test", &fake_ops, &f, N, period, 1);
	bool aligned = false;

	(void)state;
	assert_non_null(s);
	slow_start(s);
	assert_true(become(&f.passes, 1));
	int64_t due = atomic_load(&f.begin_ns) + period / 2;
	probes_align(due + 3 * NS_PER_MS / 2);
	for (int i = 3; i < 10 && !aligned; i++) {
		assert_true(become(&f.passes, i));
		aligned = (atomic_load(&f.begin_ns) - due) % period < period / 2;
	}
	assert_true(aligned);
	slow_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_place),      cmocka_unit_test(test_one_pass),
		cmocka_unit_test(test_share),         cmocka_unit_test(test_hang),
		cmocka_unit_test(test_hang_and_back), cmocka_unit_test(test_crew),
		cmocka_unit_test(test_crew_stops),    cmocka_unit_test(test_crew_long),
		cmocka_unit_test(test_crew_woken),   cmocka_unit_test(test_grid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
