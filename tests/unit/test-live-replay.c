/* The live screen and its recording agree bit for bit: the same stream goes into a log in memory and a file, and
 * columns of all zooms are compared, while the last rows are in no chunk yet and after the end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream-to.h"
#include "trace/log-view.h"
#include "trace/trace.h"
#include "random.h"

#define CHANNELS 8
#define SECONDS  40
#define PART     400 /* columns */

static const enum channel_kind kinds[CHANNELS] = {
	CHANNEL_GPU_UTIL,   CHANNEL_CPU_UTIL, CHANNEL_OTHER,       CHANNEL_RAM_USED, /* fast */
	CHANNEL_RAIL_POWER, CHANNEL_OTHER,    CHANNEL_TEMPERATURE, CHANNEL_THROTTLE, /* medium, slow */
};
static const enum tier tiers[CHANNELS] = {TIER_FAST,   TIER_FAST,   TIER_FAST, TIER_FAST,
					  TIER_MEDIUM, TIER_MEDIUM, TIER_SLOW, TIER_SLOW};
static struct channel channels[CHANNELS];
static struct session session = {.channels = channels, .n_channels = CHANNELS, .hz = {1000, 100, 10}};
static const int64_t periods[TIERS] = {NS_PER_MS, 10 * NS_PER_MS, 100 * NS_PER_MS};

static void make_channels(void)
{
	for (size_t i = 0; i < CHANNELS; i++) {
		channels[i].kind = kinds[i];
		channels[i].tier = tiers[i];
		channels[i].column = (uint16_t)session.width[tiers[i]]++;
		channels[i].lo = channels[i].hi = (double)NAN;
		snprintf(channels[i].name, sizeof(channels[i].name), "channel%zu", i);
		snprintf(channels[i].label, sizeof(channels[i].label), "c%zu", i);
	}
	clock_anchor(&session.start);
}

static void push_row(struct sink *const sinks[2], enum tier tier, int64_t t_ns)
{
	double values[CHANNELS];
	struct rows r = {.tier = tier, .n = 1, .width = session.width[tier], .t_ns = &t_ns, .values = values};

	for (size_t i = 0; i < CHANNELS; i++) {
		if (tiers[i] == tier)
			values[channels[i].column] =
				!random_below(17) ? (double)NAN
				: kinds[i] == CHANNEL_THROTTLE
					? (double)random_below(2)
					: channel_round(kinds[i], (double)random_below(100000) / 997);
	}
	for (int i = 0; i < 2; i++)
		sinks[i]->ops->rows(sinks[i], &r);
}

/* Jitter, gaps, and some missing values. */
static void push_all(struct sink *const sinks[2], struct log_out *writer)
{
	int64_t next[TIERS], end = session.start.mono_ns + SECONDS * NS_PER_S;
	uint64_t rows = 0;

	for (int t = 0; t < TIERS; t++)
		next[t] = session.start.mono_ns;
	for (; next[TIER_FAST] < end;) {
		for (enum tier t = TIERS; t-- > 0;) {
			if (next[t] > next[TIER_FAST])
				continue;
			push_row(sinks, t, next[t] + (int64_t)random_below((uint64_t)periods[t] / 3));
			next[t] += periods[t] * (random_below(3000) ? 1 : 40);
		}
		/* Not faster than the disk: the writer drops rows rather than wait. */
		if (++rows % 50 == 0)
			assert_true(log_out_ready(writer));
	}
}

static size_t find_channel(const struct session *s, const char *name)
{
	size_t i = 0;

	while (i < s->n_channels && strcmp(s->channels[i].name, name))
		i++;
	assert_true(i < s->n_channels);
	return i;
}

static uint64_t compare_columns(struct timeline *live, struct timeline *saved, size_t c, int zoom, int64_t first)
{
	static struct bin a[PART], b[PART];
	size_t other = find_channel(saved->ops->session(saved), channels[c].name);
	uint64_t samples = 0;

	live->ops->columns(live, c, zoom, first, PART, a);
	saved->ops->columns(saved, other, zoom, first, PART, b);
	for (int i = 0; i < PART; i++) {
		if (a[i].n != b[i].n || (a[i].n && (memcmp(&a[i].min, &b[i].min, 8) || memcmp(&a[i].max, &b[i].max, 8) ||
						    memcmp(&a[i].sum, &b[i].sum, 8))))
			fail_msg("%s, zoom %d, column %lld: live n %llu sum %a, saved n %llu sum %a",
				 channels[c].name, zoom, (long long)first + i, (unsigned long long)a[i].n,
				 a[i].sum, (unsigned long long)b[i].n, b[i].sum);
		samples += a[i].n;
	}
	return samples;
}

/* The newest columns, the oldest, and some between. */
static void compare(struct timeline *live, struct timeline *saved)
{
	int64_t first, last;

	assert_true(live->ops->extent(live, &first, &last));
	for (int zoom = ZOOM_MIN; zoom <= ZOOM_MAX; zoom++)
		for (size_t c = 0; c < CHANNELS; c++) {
			int64_t some = (first >> zoom) + (int64_t)random_below((uint64_t)(last >> zoom) - (uint64_t)(first >> zoom) + 1);

			assert_true(compare_columns(live, saved, c, zoom, (last >> zoom) - PART + 2) > 0 || zoom < 22);
			compare_columns(live, saved, c, zoom, (first >> zoom) - 2);
			compare_columns(live, saved, c, zoom, some - PART / 2);
		}
}

/* Rows, one by one, at random times. */
static void compare_values(struct timeline *live, struct timeline *saved)
{
	for (int i = 0; i < 5000; i++) {
		size_t c = (size_t)random_below(CHANNELS), other = find_channel(saved->ops->session(saved), channels[c].name);
		int64_t t = session.start.mono_ns + (int64_t)random_below((SECONDS + 1) * NS_PER_S), a_ns = 0, b_ns = 0;
		double a = live->ops->value(live, c, t, &a_ns), b = saved->ops->value(saved, other, t, &b_ns);
		int by = (int)random_below(5000) - 2500;

		assert_true(isnan(a) ? isnan(b) : a == b);
		assert_int_equal(a_ns, b_ns);
		assert_int_equal(live->ops->step(live, tiers[c], t, by), saved->ops->step(saved, tiers[c], t, by));
	}
}

/* In spans that begin and end anywhere, also outside. */
static void compare_stat(struct timeline *live, struct timeline *saved)
{
	size_t c = find_channel(&session, "channel7"), other = find_channel(saved->ops->session(saved), "channel7");
	int64_t sum = 0;

	assert_int_equal(channels[c].kind, CHANNEL_THROTTLE);
	for (int i = 0; i < 3000; i++) {
		int64_t from = session.start.mono_ns - NS_PER_S + (int64_t)random_below((SECONDS + 1) * NS_PER_S);
		int64_t to = from + (int64_t)random_below(random_below(2) ? NS_PER_S / 5 : SECONDS * NS_PER_S);
		struct span_stats a, b;

		live->ops->stat(live, c, from, to, &a);
		saved->ops->stat(saved, other, from, to, &b);
		assert_true(a.n == b.n && a.above_ns == b.above_ns && a.known_ns == b.known_ns && a.rise == b.rise);
		sum += (int64_t)a.above_ns;
	}
	assert_true(sum > 0);
}

/* The next event is that of the lists. */
static void compare_events(struct timeline *live, struct timeline *saved)
{
	enum { MOST = 4096 };
	static struct state_event states[MOST];
	static struct change changes[MOST];
	static struct gap gaps[MOST];
	size_t n_states = live->ops->states(live, SIZE_MAX, INT64_MIN, INT64_MAX, states, MOST), found = 0;
	size_t n_changes = live->ops->changes(live, INT64_MIN, INT64_MAX, changes, MOST);
	size_t n_gaps = live->ops->gaps(live, INT64_MIN, INT64_MAX, gaps, MOST);

	assert_true(n_states < MOST && n_changes < MOST && n_gaps < MOST && n_states + n_changes + n_gaps > 0);
	for (int i = 0; i < 2000; i++) {
		int64_t from = session.start.mono_ns + (int64_t)random_below(SECONDS * NS_PER_S), best = 0, a = 0, b = 0;
		int64_t to = from + (int64_t)random_below(random_below(2) ? NS_PER_S : SECONDS * NS_PER_S);
		bool last = random_below(2), any = false;

#define CONSIDER(t_ns)                                                                                                       \
	if ((t_ns) >= from && (t_ns) < to && (!any || (last ? (t_ns) > best : (t_ns) < best))) {                             \
		best = (t_ns);                                                                                               \
		any = true;                                                                                                  \
	}
		for (size_t k = 0; k < n_states; k++)
			if (!(states[k].flags & STATE_BEFORE))
				CONSIDER(states[k].from_ns)
		for (size_t k = 0; k < n_changes; k++)
			CONSIDER(changes[k].t_ns)
		for (size_t k = 0; k < n_gaps; k++)
			if (gaps[k].to_ns - gaps[k].from_ns >= GAP_EVENT_NS)
				CONSIDER(gaps[k].from_ns)
		assert_int_equal(live->ops->event(live, from, to, last, &a), any);
		assert_int_equal(saved->ops->event(saved, from, to, last, &b), any);
		assert_true(!any || (a == best && b == best));
		found += any;
	}
	assert_true(found > 100);
}

static void live_and_replay_are_equal(void **state)
{
	char path[64];
	struct err e = {0};
	struct log *log = log_new(&(struct log_bound) {.rows_ns = LOG_ROWS_NS}, &e);
	struct log_view *view;
	struct timeline *live, *saved;
	struct log_out *writer;
	struct log_out_stats stats;
	struct trace *trace;
	struct sink *sinks[2];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test-live-replay-%ld.nvmt", (long)getpid());
	make_channels();
	assert_non_null(log);
	view = log_view_new(log, &e);
	assert_non_null(view);
	writer = log_out_new(path, true, &e);
	assert_non_null(writer);
	sinks[0] = log_sink(log);
	sinks[1] = stream_begin(writer, &session, false);
	assert_int_equal(sinks[0]->ops->begin(sinks[0], &session, &e), 0);
	push_all(sinks, writer);
	assert_int_equal(stream_end(writer, sinks[1], &e), 0);
	log_out_stats(writer, &stats);
	assert_int_equal(stats.lost_rows, 0);
	log_out_free(writer);

	trace = trace_open(path, &e);
	unlink(path);
	assert_non_null(trace);
	assert_int_equal(e.code, ERR_NONE);
	live = log_view_timeline(view);
	saved = trace_timeline(trace);
	for (int ended = 0; ended < 2; ended++) {
		log_view_look(view);
		assert_int_equal(log_view_state(view)->now.n_open[TIER_FAST] > 0, !ended);
		compare(live, saved);
		compare_values(live, saved);
		compare_stat(live, saved);
		compare_events(live, saved);
		assert_int_equal(sinks[0]->ops->end(sinks[0], &e), 0);
	}
	trace_close(trace);
	log_view_free(view);
	log_free(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(live_and_replay_are_equal)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
