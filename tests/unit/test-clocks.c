/* What is recorded of a machine that was suspended and of a wall clock that was set: the clocks are made up. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live-log.h"
#include "trace/log-out.h"
#include "trace/trace.h"
#include "util/clock.h"

#define START (1000 * NS_PER_S)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct clock_anchor now = {START, INT64_C(1763650000) * NS_PER_S, START};

void __wrap_clock_anchor(struct clock_anchor *out);
void __wrap_clock_anchor(struct clock_anchor *out)
{
	pthread_mutex_lock(&lock);
	*out = now;
	pthread_mutex_unlock(&lock);
}

/* Time goes on, row by row; before that the machine is suspended, and its clock set. */
static void go_on(struct sink *s, double seconds, int64_t asleep_ns, int64_t set_ns)
{
	pthread_mutex_lock(&lock);
	now.boot_ns += asleep_ns;
	now.real_ns += asleep_ns + set_ns;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < (int)(seconds * 100); i++) {
		double v = 1;

		s->ops->rows(s, &(struct rows) {TIER_FAST, 1, 1, &(int64_t) {now.mono_ns}, &v});
		pthread_mutex_lock(&lock);
		now.mono_ns += 10 * NS_PER_MS;
		now.boot_ns += 10 * NS_PER_MS;
		now.real_ns += 10 * NS_PER_MS;
		pthread_mutex_unlock(&lock);
	}
}

/* Exactly these changes, noticed within a group of cells, and no gap. */
static void expect(struct timeline *t, const char *first, const char *second)
{
	struct change c[8];
	struct gap g[8];
	char text[CHANGE_TEXT];

	assert_int_equal(t->ops->changes(t, 0, INT64_MAX, c, 8), (first != NULL) + (second != NULL));
	assert_int_equal(t->ops->gaps(t, 0, INT64_MAX, g, 8), 0);
	for (int i = 0; i < 2; i++) {
		int64_t at_ns = START + (i ? 30 : 15) * NS_PER_S;

		if (!(i ? second : first))
			continue;
		change_text(text, &c[i]);
		assert_string_equal(text, i ? second : first);
		assert_true(c[i].t_ns >= at_ns && c[i].t_ns < at_ns + 9 * NS_PER_S);
	}
}

static void suspended_and_set(void **state)
{
	static struct channel channel = {.name = "gpu.util", .tier = TIER_FAST};
	const struct session about = {.channels = &channel, .n_channels = 1, .width = {1}, .hz = {100}, .start = now};
	struct live_log *l = live_log_bound(&(struct log_bound) {.rows_ns = LOG_ROWS_NS, .now = true});
	char folder[] = "/tmp/test-clocks.XXXXXX", path[64];
	const struct clock_anchor *anchors;
	struct sink *s = live_log_sink(l);
	struct log_out *out;
	struct trace *t;
	struct err e;
	size_t n;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a.nvmt", folder);
	out = log_out_new(path, false, &e);
	assert_true(out && log_out_begin(out, l->log, INT64_MIN, INT64_MAX, &e) == 0);
	assert_int_equal(s->ops->begin(s, &about, &e), 0);

	go_on(s, 15, 0, 0);
	expect(live_log_look(l), NULL, NULL);
	go_on(s, 15, 3600 * NS_PER_S, 0);
	expect(live_log_look(l), "suspended: 3600.000 s", NULL);
	go_on(s, 15, 0, -90500 * NS_PER_MS);
	expect(live_log_look(l), "suspended: 3600.000 s", "clock: -90.500 s");

	s->ops->end(s, &e);
	assert_int_equal(log_out_end(out, &e), 0);
	log_out_free(out);
	live_log_free(l);
	t = trace_open(path, &e);
	assert_non_null(t);
	expect(trace_timeline(t), "suspended: 3600.000 s", "clock: -90.500 s");
	anchors = trace_anchors(t, &n);
	assert_int_equal(anchors[n - 1].boot_ns - anchors[n - 1].mono_ns, 3600 * NS_PER_S);
	assert_int_equal(anchors[n - 1].real_ns - anchors[0].real_ns - (anchors[n - 1].boot_ns - anchors[0].boot_ns), -90500 * NS_PER_MS);
	trace_close(t);
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(suspended_and_set)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
