/* Joules of ranges: of logs whose power is known at each moment, the error and its bound. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "random.h"
#include "stream-to.h"
#include "report/range-totals.h"
#include "report/report.h"
#include "util/clock.h"
#include "live-log.h"

#define LOGS 150
#define STEP_NS 100000 /* of the known power */
#define STEPS   400000 /* 40 s */
#define TICK_NS (10 * NS_PER_MS)
#define LATE_NS (2 * NS_PER_S) /* of the live screen */
#define START   NS_PER_S

static double watts[STEPS], sum[STEPS + 1]; /* sum: joules before a step */
static bool inside[STEPS];
static char path[] = "/tmp/nvmtop-range-XXXXXX";

static double uniform(double from, double to)
{
	return from + (to - from) * (double)(random_next() >> 11) * 0x1p-53;
}

static double log_uniform(double from, double to)
{
	return from * pow(to / from, uniform(0, 1));
}

/* What others draw: a drift, and a load that comes and goes. */
static void background(void)
{
	double base = uniform(3, 15), drift = uniform(0, 3), period = log_uniform(2, 100),
	       size = uniform(0, 6), often = log_uniform(1e-3, 1);
	bool on = false;

	for (int i = 0; i < STEPS; i++) {
		if (uniform(0, 1) < STEP_NS / 1e9 / often)
			on = !on;
		watts[i] = base + drift * sin(i * (STEP_NS / 1e9) * 6.28 / period) + (on ? size : 0);
	}
	memset(inside, 0, sizeof(inside));
}

static void ranges_push(struct sink *s, struct ranges *store, const struct range *list, size_t n)
{
	(void)store;
	for (size_t i = 0; i < n; i += 1000)
		s->ops->ranges(s, list + i, n - i < 1000 ? n - i : 1000);
}

enum shape { ANY, PERIODIC, NEIGHBOUR, LATE, SPIKES, SHAPES };

static void draw(int from, int to, double level, double slope)
{
	for (int i = from > 0 ? from : 0; i < to && i < STEPS; i++)
		watts[i] += level * (1 + slope * ((double)(i - from) / (to - from) - 0.5));
}

/* Instances of one name on one or two threads, most of which draw more than is drawn around them. Returns their
 * number. */
static size_t instances(struct range *out, enum shape shape, const char *name,
			const struct range_lane *const *lanes)
{
	double length = log_uniform(10, 20000), pause = length * log_uniform(0.1, 10),
	       extra = uniform(-2, 15); /* in steps */
	double vary = shape == PERIODIC ? 0 : 0.5, spread = uniform(0, 1), slope = uniform(-1, 1),
	       after = uniform(-2, 15);
	double late = shape == LATE ? log_uniform(1, 200) : 0;
	bool threads = shape == ANY && random_below(4) == 0, still = random_below(5) == 0;
	size_t n = 0;

	if (shape == PERIODIC && random_below(2)) /* in step with the readings */
		pause = (ceil((length + pause) / 100) * 100) - length;
	for (int k = 0; k < (threads ? 2 : 1); k++)
		for (double t = uniform(0, 10000); t < STEPS - 10000;) {
			double m = length * uniform(1 - vary, 1 + vary),
			       gap = pause * uniform(1 - vary, 1 + vary);
			int from = (int)t, to = (int)fmin(fmax(t + m, from + 1), STEPS),
			    next = (int)fmin(to + gap, STEPS);
			double level = still ? 0 : extra * (1 + spread * uniform(-1, 1));

			if (shape == SPIKES)
				draw(from, from + (to - from + 3) / 4, 2 * level, 0);
			else if (!inside[from] && !inside[to - 1])
				draw(from + (int)late, to + (int)late, level, slope);
			if (shape == NEIGHBOUR)
				draw(to, (to + next) / 2, after, 0);
			memset(inside + from, true, (size_t)(to - from));
			out[n++] = (struct range) {.begin_ns = START + (int64_t)from * STEP_NS,
						   .end_ns = START + (int64_t)to * STEP_NS,
						   .name = name,
						   .lane = lanes[k]};
			t = t + m + gap > t + 1 ? t + m + gap : t + 1;
		}
	return n;
}

static int by_end(const void *a, const void *b)
{
	const struct range *p = a, *q = b;

	return (p->end_ns > q->end_ns) - (p->end_ns < q->end_ns);
}

/* Mean of the power in a time, in steps. */
static double mean_of(double from, double to)
{
	int a = (int)fmax(from, 0), b = (int)fmin(to, STEPS);

	return b > a ? (sum[b] - sum[a]) / (b - a) : watts[a < STEPS ? a : STEPS - 1];
}

/* Ranges by name as the screen adds them up. */
struct screen {
	struct collection all;
	int64_t at_ns;
};

static void screen_begin(struct screen *s, struct timeline *t)
{
	*s = (struct screen) {.all = {.begin_ns = START, .end_ns = INT64_MAX},
			      .at_ns = START};
	assert_true(collection_begin(&s->all, t, 100000));
}

static void screen_go_on(struct screen *s, int64_t to_ns)
{
	for (; s->at_ns < to_ns; s->at_ns = s->all.to_ns)
		assert_true(
			collection_add(&s->all, s->at_ns,
				       to_ns - s->at_ns > NS_PER_S / 16 ? s->at_ns + NS_PER_S / 16 : to_ns));
}

/* Returns the joules and their bound, up to the last row. */
static struct energy_result screen_end(struct screen *s)
{
	struct energy_result r;

	s->all.end_ns = START + (int64_t)STEPS * STEP_NS + 1;
	screen_go_on(s, s->all.end_ns);
	collection_break(&s->all);
	assert_true(collection_list(&s->all));
	assert_int_equal(s->all.n, 1);
	r = s->all.list[0]->spent[USE_ALL].energy;
	collection_free(&s->all);
	return r;
}

/* What the recorder tells of ranges with the row at t_ns; those that go on, once a second. Returns how many have
 * ended. */
static size_t tell(struct sink *s, const struct range *list, size_t n, size_t told, int64_t t_ns)
{
	for (; told < n && list[told].end_ns <= t_ns; told++)
		s->ops->ranges(s, &list[told], 1);
	for (size_t i = told; i < n && t_ns % NS_PER_S < TICK_NS; i++)
		if (list[i].begin_ns <= t_ns) {
			struct range open = list[i];

			open.end_ns = t_ns;
			open.flags = RANGE_OPEN;
			s->ops->ranges(s, &open, 1);
		}
	return told;
}

/* A chip that averages reads the power, and a recorder reads the chip, for a log and a live screen. */
static void write_log(int64_t averaging_ns, const struct range *list, size_t n,
		      struct ranges *store, struct live_log *h, struct energy_result *live)
{
	struct channel c = {.kind = CHANNEL_POWER_TOTAL,
			    .tier = TIER_MEDIUM,
			    .name = "power.total",
			    .unit = UNIT_MILLIWATT,
			    .window_ns = averaging_ns};
	struct fact facts[] = {{"board", "test"}};
	struct session about = {.channels = &c,
				.n_channels = 1,
				.width = {0, 1},
				.hz = {1000, 100, 10},
				.facts = facts,
				.n_facts = 1,
				.start = {START, 0, START}};
	double phase = uniform(0, 1), window = (double)averaging_ns / STEP_NS;
	struct err e;
	struct log_out *w = log_out_new(path, true, &e);
	struct sink *s, *seen = live_log_sink(h);
	struct screen screen;
	size_t told = 0;

	for (int i = 0; i < STEPS; i++)
		sum[i + 1] = sum[i] + watts[i];
	s = stream_begin(w, &about, false);
	assert_int_equal(seen->ops->begin(seen, &about, &e), 0);
	screen_begin(&screen, live_log_look(h));
	for (int64_t t = TICK_NS; t < (int64_t)STEPS * STEP_NS; t += TICK_NS) {
		int64_t read_ns = t - (int64_t)uniform(0, TICK_NS); /* at a random moment of the tick */
		double at = (double)read_ns / STEP_NS;
		double done = (floor(at / window + phase) - phase) * window,
		       mw = 1e3 * mean_of(done - window, done);
		int64_t t_ns = START + read_ns;

		s->ops->rows(s, &(struct rows) {TIER_MEDIUM, 1, 1, &t_ns, &mw});
		seen->ops->rows(seen, &(struct rows) {TIER_MEDIUM, 1, 1, &t_ns, &mw});
		told = tell(seen, list, n, told, t_ns);
		live_log_look(h);
		screen_go_on(&screen, t_ns - LATE_NS);
		log_out_ready(w);
	}
	ranges_push(s, store, list, n);
	seen->ops->ranges(seen, list + told, n - told);
	live_log_look(h);
	*live = screen_end(&screen);
	assert_int_equal(stream_end(w, s, &e), 0);
	log_out_free(w);
}

/* Joules and their bound in the report, and of a replay; NaN: none. */
static double reported(double *within, struct energy_result *replay)
{
	struct err e;
	struct trace *t = trace_open(path, &e);
	const struct selection all = {.tier = -1};
	char *text = NULL, *at;
	double joules = NAN;
	size_t size;
	struct screen screen;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(t);
	assert_int_equal(report_ranges(&t, 1, &all, REPORT_BY_RANGE, REPORT_JSON, f, NULL, &e), 0);
	fclose(f);
	at = strstr(text, "\"energy_j\":");
	assert_non_null(at);
	sscanf(at + 11, "%lf", &joules);
	at = strstr(text, "\"energy_within_j\":");
	assert_non_null(at);
	sscanf(at + 18, "%lf", within);
	free(text);
	screen_begin(&screen, trace_timeline(t));
	*replay = screen_end(&screen);
	trace_close(t);
	return joules;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void assert_equal(double a, double b, double part)
{
	if (isnan(a) != isnan(b) || fabs(a - b) > part * fabs(b))
		fail_msg("%.9g, and not %.9g", a, b);
}

static void known_integral(void **state)
{
	static struct range list[2 * STEPS];
	const struct range_lane a = {.pid = 1, .tid = 1}, b = {.pid = 1, .tid = 2};
	struct err e;
	struct ranges *store = ranges_new(10000, &e);
	const struct range_lane *lanes[] = {ranges_lane(store, &a), ranges_lane(store, &b)};
	const char *name = ranges_name(store, "step");
	int logs = getenv("LOGS") ? atoi(getenv("LOGS")) : LOGS;
	double *errors = calloc((size_t)logs, sizeof(double)), *bounds = calloc((size_t)logs, sizeof(double));
	int n = 0, good = 0, good_late = 0, fine = 0, good_fine = 0;

	(void)state;
	while (n < logs) {
		int64_t averaging_ns = (int64_t)log_uniform(1e6, 400e6);
		double truth = 0, joules, within = NAN;
		enum shape shape = (enum shape)random_below(SHAPES);
		struct energy_result live, replay, late;
		struct live_log *history;
		struct screen screen;
		size_t m;

		background();
		m = instances(list, shape, name, lanes);
		qsort(list, m, sizeof(*list), by_end);
		history = live_log_bound(&(struct log_bound) {.rows_ns = (int64_t)STEPS / 2 * STEP_NS});
		write_log(averaging_ns, list, m, store, history, &live);
		screen_begin(&screen, live_log_look(history));
		late = screen_end(&screen);
		live_log_free(history);
		for (int i = 0; i < STEPS; i++)
			truth += inside[i] ? watts[i] * (STEP_NS / 1e9) : 0;
		joules = reported(&within, &replay);
		assert_equal(replay.joules, joules, 1e-9);
		assert_equal(live.joules, joules, 1e-9);
		if (isnan(joules))
			continue;
		assert_equal(replay.within, within, 0.01);
		assert_equal(live.within, within, 0.01);
		assert_true(isnan(late.within)); /* of half of its rows only the means of columns are left */
		good_late += fabs(late.joules - truth) <= fmax(truth / 4, within);
		errors[n] = fabs(joules - truth);
		bounds[n] = within;
		good += errors[n] <= within;
		/* A chip that tells the ranges from what is around them, and a load that follows them. */
		fine += averaging_ns <= TICK_NS && shape != LATE;
		good_fine += averaging_ns <= TICK_NS && shape != LATE && errors[n] <= within;
		if (getenv("LOGS"))
			printf("# %s %d A %.0f ms n %zu truth %.3f error %.4f bound %.4f\n",
			       errors[n] <= within ? "ok" : "BAD", shape, (double)averaging_ns / 1e6,
			       m, truth, joules - truth, within);
		n++;
	}
	qsort(errors, (size_t)n, sizeof(double), by_value);
	qsort(bounds, (size_t)n, sizeof(double), by_value);
	printf("# %d of %d within the bound, %d near it without half of the rows; medians: error %.3f J, bound %.3f J\n", good, n,
	       good_late, errors[n / 2], bounds[n / 2]);
	assert_true(good_fine >= 0.95 * fine);
	assert_true(good >= 0.8 * n);
	assert_true(good_late >= 0.7 * n);
	assert_true(errors[n / 2] >= bounds[n / 2] / 10);
	ranges_free(store);
	free(errors);
	free(bounds);
}

static int set_up(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(known_integral, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
