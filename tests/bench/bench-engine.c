/* Measures the cost of the history and the engine, to compare two versions on one machine.
 * Not a test.
 *
 *   bench-engine [SECONDS]
 *
 * First pushes an hour of a 12-core board into a history as fast as possible (17 fast, 20
 * medium and 12 slow channels at 1000, 100 and 10 Hz): time per row, and memory. Then
 * measures the query for a screen of columns. With SECONDS, also runs a live engine with
 * probes that read nothing, which leaves its own cost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"
#include "../unit/live-log.h"

#define HOUR_S   3600
#define CHANNELS 49

static const size_t width[TIERS] = {17, 20, 12};
static const double hz[TIERS] = {1000, 100, 10};

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static long resident_kb(void)
{
	long size = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f) {
		if (fscanf(f, "%ld %ld", &size, &resident) != 2)
			resident = 0;
		fclose(f);
	}
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void fill_channels(struct channel *c)
{
	for (int t = 0; t < TIERS; t++) {
		for (size_t i = 0; i < width[t]; i++, c++) {
			c->tier = (enum tier)t;
			c->column = (uint16_t)i;
			snprintf(c->name, sizeof(c->name), "%s%zu", tier_name((enum tier)t), i);
		}
	}
}

static void push(struct live_log *h, enum tier tier, int64_t t, int64_t *spent, uint64_t *rows)
{
	double values[20];
	int64_t before;
	struct rows r = {.tier = tier, .n = 1, .width = width[tier], .t_ns = &t, .values = values};

	for (size_t i = 0; i < width[tier]; i++)
		values[i] = (double)((t >> 20) % 100) + (double)i;
	before = clock_now_ns();
	live_log_sink(h)->ops->rows(live_log_sink(h), &r);
	spent[tier] += clock_now_ns() - before;
	rows[tier]++;
}

static void ask(struct timeline *t, int zoom)
{
	static struct bin out[400];
	int64_t first = 0, last = 0, before;
	uint64_t seen = 0;

	t->ops->extent(t, &first, &last);
	before = clock_now_ns();
	for (size_t c = 0; c < 40; c++) {
		t->ops->columns(t, c, zoom, (last >> zoom) - 399, 400, out);
		seen += out[0].n;
	}
	printf("  400 columns x 40 channels at zoom %d: %.0f us (%llu)\n", zoom,
	       (double)(clock_now_ns() - before) / 1e3, (unsigned long long)seen);
}

static void history_cost(void)
{
	static struct channel channels[CHANNELS];
	struct session about = {.channels = channels, .n_channels = CHANNELS};
	int64_t spent[TIERS] = {0}, clock_cost;
	uint64_t rows[TIERS] = {0};
	struct err e;
	struct live_log *h = live_log_new();
	long before_kb = resident_kb();

	if (!h)
		exit(1);
	fill_channels(channels);
	memcpy(about.width, width, sizeof(width));
	memcpy(about.hz, hz, sizeof(hz));
	if (live_log_sink(h)->ops->begin(live_log_sink(h), &about, &e))
		exit(1);
	clock_cost = clock_now_ns();
	for (int i = 0; i < 1000; i++)
		clock_now_ns();
	clock_cost = (clock_now_ns() - clock_cost) / 1000;
	for (int64_t ms = 1; ms <= HOUR_S * INT64_C(1000); ms++) {
		push(h, TIER_FAST, ms * NS_PER_MS, spent, rows);
		if (ms % 10 == 0)
			push(h, TIER_MEDIUM, ms * NS_PER_MS, spent, rows);
		if (ms % 100 == 0)
			push(h, TIER_SLOW, ms * NS_PER_MS, spent, rows);
	}
	printf("history, one hour:\n");
	for (int t = 0; t < TIERS; t++)
		printf("  %s row of %zu: %lld ns\n", tier_name((enum tier)t), width[t],
		       (long long)(spent[t] / (int64_t)rows[t] - clock_cost));
	printf("  memory: %ld kB\n", resident_kb() - before_kb);
	for (int zoom = ZOOM_MIN; zoom <= 35; zoom += 6)
		ask(live_log_look(h), zoom);
	live_log_free(h);
}

static void nothing(struct probe *p, int64_t t_ns, double *row)
{
	(void)p;
	row[0] = (double)t_ns;
}

static void no_close(struct probe *p)
{
	(void)p;
}

static void engine_cost(int seconds)
{
	static const struct probe_ops ops = {nothing, no_close};
	static struct probe probes[TIERS];
	struct probe_set *r = calloc(1, sizeof(*r));
	struct channel channels[CHANNELS] = {0};
	struct engine *g;
	struct live_log *h;
	struct engine_stats n;
	struct err e;
	int64_t used;

	if (!r)
		exit(1);
	fill_channels(channels);
	for (size_t i = 0; i < CHANNELS; i++) {
		if (!probe_set_add_channel(r, &channels[i]))
			exit(1);
	}
	for (int t = 0; t < TIERS; t++) {
		probes[t].ops = &ops;
		probes[t].tier = (enum tier)t;
		if (probe_set_add_probe(r, &probes[t]))
			exit(1);
	}
	g = engine_new(r, hz, &e);
	h = live_log_new();
	if (!g || !h || engine_begin(g, live_log_sink(h), &e) || engine_start(g, &e)) {
		fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
	used = cpu_ns();
	sleep((unsigned)seconds);
	used = cpu_ns() - used;
	engine_stats(g, &n);
	printf("engine, %d s: %.2f %% of a core%s\n", seconds, (double)used / (double)seconds / 1e7,
	       n.realtime ? " (SCHED_FIFO)" : "");
	for (int t = 0; t < TIERS; t++)
		printf("  %s: %llu rows, %llu late, %llu lost\n", tier_name((enum tier)t), (unsigned long long)n.rows[t],
		       (unsigned long long)n.late[t], (unsigned long long)n.lost[t]);
	printf("  worst of fast: %.0f us\n", (double)lateness_ns(&n.lateness, NULL, 1) / 1e3);
	used = clock_now_ns();
	engine_stop(g);
	printf("  stop: %.1f ms\n", (double)(clock_now_ns() - used) / 1e6);
	engine_free(g);
	live_log_free(h);
}

int main(int argc, char **argv)
{
	history_cost();
	if (argc > 1)
		engine_cost(atoi(argv[1]));
	return 0;
}
