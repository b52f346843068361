/* Screen, summary and report show the same energy for the same time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "random.h"
#include "stream-to.h"
#include "trace/log-out.h"
#include "report/stats.h"
#include "record/summary.h"
#include "trace/trace.h"
#include "ui/range-stats.h"
#include "util/clock.h"
#include "live-log.h"

#define START_NS INT64_C(5123456789012)
#define ROWS     60000 /* ten minutes at 100 Hz */
#define MARKS    5

static struct channel channels[2];
static const struct fact facts[] = {{.key = "board", .value = "test"}};
static int64_t at[ROWS], mark_at[MARKS];
static double mw[2 * ROWS];

/* Jittering ticks, a rail that is sometimes missing, late ticks and a gap of 3 s. */
static void make_rows(void)
{
	int64_t t = START_NS;

	for (int i = 0; i < ROWS; i++) {
		t += 10000000 + (int64_t)random_below(2000000) - 1000000;
		if (i % 1000 == 700)
			t += 25000000;
		if (i == 31000)
			t += 3000000000;
		at[i] = t;
		for (int k = 0; k < 2; k++)
			mw[2 * i + k] = i % 97 == 5 + k ? NAN : 3000 + (double)random_below(27000);
	}
	for (int m = 0; m < MARKS; m++)
		mark_at[m] = at[ROWS / (MARKS + 1) * (m + 1)] + 1234567;
}

static struct session about(void)
{
	struct session s = {.channels = channels, .n_channels = 2, .facts = facts, .n_facts = 1};

	for (int k = 0; k < 2; k++) {
		channels[k] = (struct channel) {.kind = k ? CHANNEL_RAIL_POWER : CHANNEL_POWER_TOTAL,
						.tier = TIER_MEDIUM,
						.column = (uint16_t)k,
						.unit = UNIT_MILLIWATT,
						.lo = NAN,
						.hi = NAN,
						.warn = NAN,
						.crit = NAN};
		snprintf(channels[k].name, sizeof(channels[k].name), "power.%s", k ? "VDD" : "total");
	}
	s.start.mono_ns = START_NS;
	for (int t = 0; t < TIERS; t++)
		s.hz[t] = t == TIER_MEDIUM ? 100 : 1000;
	s.width[TIER_MEDIUM] = 2;
	return s;
}

static void push(struct sink *sink, struct log_out *w)
{
	struct session s = about();
	struct err e;
	int m = 0;

	if (w)
		sink = stream_begin(w, &s, false);
	else
		assert_int_equal(sink->ops->begin(sink, &s, &e), 0);
	for (int i = 0; i < ROWS; i += 10) {
		struct rows r = {
			.tier = TIER_MEDIUM, .width = 2, .n = 10, .t_ns = at + i, .values = mw + 2 * i};

		for (; m < MARKS && mark_at[m] < at[i + 9]; m++) {
			struct mark mark = {.id = (uint64_t)m + 1, .t_ns = mark_at[m]};

			sink->ops->mark(sink, &mark);
		}
		sink->ops->rows(sink, &r);
		if (w)
			log_out_ready(w);
	}
	assert_int_equal(w ? stream_end(w, sink, &e) : sink->ops->end(sink, &e), 0);
}

static void same(double a, double b)
{
	if (!(fabs(a - b) <= 1e-9 * fabs(b)))
		fail_msg("%.12g J and %.12g J", a, b);
}

static void no_tick(void *to, int64_t ns)
{
	(void)to;
	(void)ns;
}

static double reported(struct trace *t, size_t channel, int64_t from_ns, int64_t to_ns)
{
	struct epoch phase = {.from_ns = from_ns, .to_ns = to_ns, .end_ns = to_ns};
	const struct channels one = {&channel, 1};
	struct result r;

	assert_int_equal(stats_make(t, &one, &phase, 1, NULL, &r, no_tick, NULL), 0);
	return r.energy.joules;
}

static double drawn(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns)
{
	struct span span;

	span_read(t, channel, from_ns, to_ns, &span);
	return span_joule(&span);
}

static void screen_summary_and_report_agree(void **state)
{
	char path[] = "joules-XXXXXX";
	struct live_log *h;
	struct trace *t;
	struct err e;

	(void)state;
	make_rows();
	close(mkstemp(path));
	struct log_out *w = log_out_new(path, true, &e);
	assert_non_null(w);
	push(NULL, w);
	struct session of = about();
	struct summary sum = {.about = &of, .writer = w};
	summary_read(&sum);
	double recorded = sum.energy[0].joules;
	summary_free(&sum);
	log_out_free(w);
	h = live_log_new();
	push(live_log_sink(h), NULL);
	t = trace_open(path, &e);
	assert_non_null(t);
	double whole = reported(t, 0, at[0], at[ROWS - 1] + 1);
	same(recorded, whole);
	same(drawn(live_log_look(h), 0, at[0], at[ROWS - 1] + 1), whole);
	for (size_t k = 0; k < 2; k++)
		for (int m = 0; m + 1 < MARKS; m++) {
			double joules = reported(t, k, mark_at[m], mark_at[m + 1]);

			assert_true(joules > 100);
			same(drawn(live_log_look(h), k, mark_at[m], mark_at[m + 1]), joules);
			same(drawn(trace_timeline(t), k, mark_at[m], mark_at[m + 1]), joules);
		}
	trace_close(t);
	live_log_free(h);
	unlink(path);
}

/* A mark that arrives after later readings has no sum of its own, which the rows have, as long as they are there. */
static void a_late_mark_is_found_in_the_rows(void **state)
{
	struct session s = about();
	struct energy_result out;
	struct live_log *h;
	struct err e;

	(void)state;
	make_rows();
	h = live_log_new();
	struct sink *sink = live_log_sink(h);
	assert_int_equal(sink->ops->begin(sink, &s, &e), 0);
	struct rows r = {.tier = TIER_MEDIUM, .width = 2, .n = 1000, .t_ns = at, .values = mw};
	sink->ops->rows(sink, &r);
	struct mark late = {.id = 1, .t_ns = at[500] + 1}, next = {.id = 2, .t_ns = at[999] + 1};
	sink->ops->mark(sink, &late);
	sink->ops->mark(sink, &next);
	r = (struct rows) {
		.tier = TIER_MEDIUM, .width = 2, .n = 1000, .t_ns = at + 1000, .values = mw + 2000};
	sink->ops->rows(sink, &r);
	struct timeline *t = live_log_look(h);
	assert_true(t->ops->energy(t, 0, late.t_ns, next.t_ns, &out));
	same(drawn(t, 0, late.t_ns, next.t_ns), out.joules);
	assert_true(t->ops->energy(t, 0, START_NS, next.t_ns, &out));
	assert_true(drawn(t, 0, late.t_ns, next.t_ns) > 10);
	live_log_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(screen_summary_and_report_agree),
					   cmocka_unit_test(a_late_mark_is_found_in_the_rows)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
