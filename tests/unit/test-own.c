/* The reported cost and losses of nvmtop itself are correct. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fake-probes.h"
#include "engine/engine.h"

static const double rates[TIERS] = {200, 50, 20};

/* The newest slow row. */
struct last {
	struct sink sink;
	uint64_t rows;
	double values[8];
	size_t width;
};

static int last_begin(struct sink *s, const struct session *about, struct err *e)
{
	(void)e;
	((struct last *)(void *)s)->width = about->width[TIER_SLOW];
	return 0;
}

static void last_rows(struct sink *s, const struct rows *r)
{
	struct last *l = (struct last *)(void *)s;

	if (r->tier != TIER_SLOW)
		return;
	assert_true(r->width <= 8);
	memcpy(l->values, r->values + (r->n - 1) * r->width, r->width * sizeof(double));
	l->rows += r->n;
}

static void last_mark(struct sink *s, const struct mark *m)
{
	(void)s;
	(void)m;
}

static void last_gap(struct sink *s, const struct gap *g)
{
	(void)s;
	(void)g;
}

static int last_end(struct sink *s, struct err *e)
{
	(void)s;
	(void)e;
	return 0;
}

static const struct sink_ops last_ops = {
	.begin = last_begin, .rows = last_rows, .mark = last_mark, .gap = last_gap, .end = last_end};

/* Every 20th fast read takes ten periods. */
static void dawdle(struct fake *f)
{
	if (f->reads % 20 == 19)
		usleep(50000);
}

/* Keep a core busy, so that there is something to measure. */
static void work(struct fake *f)
{
	int64_t until = clock_now_ns() + 2 * NS_PER_MS;

	(void)f;
	while (clock_now_ns() < until)
		continue;
}

static size_t column(const struct probe_set *r, const char *name)
{
	const struct channel *c = probe_set_find(r, name);

	assert_non_null(c);
	assert_int_equal(c->tier, TIER_SLOW);
	return c->column;
}

static void costs_and_losses_are_channels(void **state)
{
	struct last l = {.sink.ops = &last_ops};
	struct probe_set *r = fake_probes();
	size_t cpu, late, readings, lost;
	struct engine_stats n;
	struct engine *g;
	struct err e;

	(void)state;
	fake_add(r, TIER_FAST, CHANNEL_OTHER, 0)->hook = dawdle;
	fake_add(r, TIER_SLOW, CHANNEL_OTHER, 0)->hook = work;
	assert_int_equal(engine_own_channels(r, &e), 0);
	cpu = column(r, "nvmtop.cpu");
	late = column(r, "nvmtop.late");
	readings = column(r, "nvmtop.late_readings");
	lost = column(r, "nvmtop.lost");
	g = engine_new(r, rates, &e);
	assert_non_null(g);
	assert_int_equal(engine_begin(g, &l.sink, &e), 0);
	assert_int_equal(engine_start(g, &e), 0);
	for (int i = 0; i < 100; i++) { /* no value before the first second is over */
		usleep(100000);
		engine_stats(g, &n);
		if (!isnan(n.cpu_percent) && n.late[TIER_FAST] >= 9)
			break;
	}
	engine_add_lost(g, 4);
	engine_add_lost(g, 3);
	engine_stats(g, &n);
	assert_true(n.late[TIER_FAST] >= 9);
	usleep(300000);
	engine_stop(g);
	assert_int_equal(l.width, 5);
	assert_true(l.rows > 0);
	assert_true(l.values[lost] == 7 && l.values[readings] == 0);
	assert_true(l.values[late] >= (double)n.late[TIER_FAST]);
	engine_stats(g, &n);
	assert_true(l.values[late] <= (double)(n.late[0] + n.late[1] + n.late[2]));
	/* 2 ms of work 20 times a second: some percent, even on a busy machine. */
	assert_true(l.values[cpu] > 0.5 && l.values[cpu] < 100);
	engine_free(g);
}

static int nice_of_fast;

static void look_at_nice(struct fake *f)
{
	(void)f;
	nice_of_fast = getpriority(PRIO_PROCESS, 0);
}

static void niceness_is_the_samplers(void **state)
{
	int before = getpriority(PRIO_PROCESS, 0), nice = before < 15 ? before + 3 : 19;
	struct probe_set *r = fake_probes();
	struct engine_stats n;
	struct engine *g;
	struct err e;

	(void)state;
	fake_add(r, TIER_FAST, CHANNEL_OTHER, 0)->hook = look_at_nice;
	g = engine_new(r, rates, &e);
	assert_non_null(g);
	assert_int_equal(engine_set_nice(g, nice, &e), 0);
	assert_int_equal(engine_start(g, &e), 0);
	assert_true(engine_wait_warm(g, -1));
	engine_stats(g, &n);
	assert_false(n.realtime);
	engine_stop(g);
	assert_int_equal(nice_of_fast, nice);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
	engine_free(g);
}

/* Become root again, and let leak checkers trace the process. */
static void become(uid_t uid)
{
	if (geteuid() != uid && seteuid(uid) == 0)
		prctl(PR_SET_DUMPABLE, 1);
}

static void niceness_that_is_not_permitted(void **state)
{
	struct rlimit none = {0, 0};
	struct probe_set *r = fake_probes();
	struct engine *g;
	struct err e = {.code = ERR_NONE};
	uid_t was = geteuid();

	(void)state;
	if (geteuid() == 0 && (setrlimit(RLIMIT_NICE, &none) || seteuid(65534))) {
		print_message("# skipped: there is no other user here; run it as one\n");
		skip();
	}
	fake_add(r, TIER_FAST, CHANNEL_OTHER, 0);
	g = engine_new(r, rates, &e);
	assert_non_null(g);
	if (engine_set_nice(g, -20, &e) == 0) { /* the system permits it */
		engine_free(g);
		become(was);
		print_message("# skipped: any niceness is permitted here; run it with ulimit -e 0\n");
		skip();
	}
	become(was);
	assert_int_equal(e.code, ERR_FAILED);
	assert_non_null(strstr(e.text, "-20"));
	engine_free(g);
}

static void asking_for_realtime_changes_nothing(void **state)
{
	int policy = sched_getscheduler(0);

	(void)state;
	engine_realtime_refused();
	assert_int_equal(sched_getscheduler(0), policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_and_losses_are_channels),
		cmocka_unit_test(niceness_is_the_samplers),
		cmocka_unit_test(asking_for_realtime_changes_nothing),
		cmocka_unit_test(niceness_that_is_not_permitted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
