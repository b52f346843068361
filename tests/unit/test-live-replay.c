/* The live screen and its recording agree bit for bit: the same stream goes into a history and a trace,
 * and all columns of all zooms the history still holds are compared. */
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

#include "model/history.h"
#include "trace/trace.h"
#include "random.h"

#define CHANNELS 8
#define SECONDS  40

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
static void push_all(struct sink *const sinks[2], struct log_writer *writer)
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
			assert_true(log_writer_ready(writer));
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

static uint64_t compare_channel(struct timeline *live, struct timeline *saved, size_t c, int zoom)
{
	size_t other = find_channel(saved->ops->session(saved), channels[c].name);
	int base = zoom_base(session.hz[tiers[c]]), held = zoom < base ? base : zoom;
	int64_t first, last, from;
	uint64_t samples = 0;

	assert_true(live->ops->extent(live, &first, &last));
	from = (last >> held) - HISTORY_COLUMNS + 300; /* tiers end at different times */
	from = from < first >> held ? first >> zoom : from * (INT64_C(1) << (held - zoom));
	for (int64_t i = from; i <= last >> zoom && i < from + 3 * HISTORY_COLUMNS; i++) {
		struct bin a, b;

		live->ops->columns(live, c, zoom, i, 1, &a);
		saved->ops->columns(saved, other, zoom, i, 1, &b);
		if (a.n != b.n || (a.n && (memcmp(&a.min, &b.min, 8) || memcmp(&a.max, &b.max, 8) ||
					   memcmp(&a.sum, &b.sum, 8))))
			fail_msg("%s, zoom %d, column %lld: live n %llu sum %a, saved n %llu sum %a",
				 channels[c].name, zoom, (long long)i, (unsigned long long)a.n, a.sum,
				 (unsigned long long)b.n, b.sum);
		samples += a.n;
	}
	return samples;
}

/* In spans that begin and end anywhere, also outside. */
static void compare_above(struct timeline *live, struct timeline *saved)
{
	size_t c = find_channel(&session, "channel7"), other = find_channel(saved->ops->session(saved), "channel7");
	int64_t sum = 0;

	assert_int_equal(channels[c].kind, CHANNEL_THROTTLE);
	for (int i = 0; i < 3000; i++) {
		int64_t from = session.start.mono_ns - NS_PER_S + (int64_t)random_below((SECONDS + 1) * NS_PER_S);
		int64_t to = from + (int64_t)random_below(random_below(2) ? NS_PER_S / 5 : SECONDS * NS_PER_S);
		int64_t is = live->ops->above(live, c, from, to);

		assert_int_equal(is, saved->ops->above(saved, other, from, to));
		sum += is;
	}
	assert_true(sum > 0);
}

static void live_and_replay_are_equal(void **state)
{
	char path[64];
	struct err e = {0};
	struct history *history = history_new(&e);
	struct log_writer *writer;
	struct log_writer_stats stats;
	struct trace *trace;
	struct sink *sinks[2];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test-live-replay-%ld.nvmt", (long)getpid());
	make_channels();
	assert_non_null(history);
	writer = log_writer_new(path, true, &e);
	assert_non_null(writer);
	sinks[0] = history_sink(history);
	sinks[1] = log_writer_sink(writer);
	for (int i = 0; i < 2; i++)
		assert_int_equal(sinks[i]->ops->begin(sinks[i], &session, &e), 0);
	push_all(sinks, writer);
	for (int i = 0; i < 2; i++)
		assert_int_equal(sinks[i]->ops->end(sinks[i], &e), 0);
	log_writer_stats(writer, &stats);
	assert_int_equal(stats.lost_rows, 0);
	log_writer_free(writer);

	trace = trace_open(path, &e);
	unlink(path);
	assert_non_null(trace);
	assert_int_equal(e.code, ERR_NONE);
	for (int zoom = ZOOM_MIN; zoom <= ZOOM_MAX; zoom++) {
		for (size_t c = 0; c < CHANNELS; c++)
			assert_true(compare_channel(history_timeline(history), trace_timeline(trace), c,
						    zoom) > 0);
	}
	compare_above(history_timeline(history), trace_timeline(trace));
	trace_close(trace);
	history_free(history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(live_and_replay_are_equal)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
