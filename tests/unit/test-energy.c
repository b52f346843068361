/* Joules of chips whose power is known at each moment: a wave as a closed form, which a chip averages over its
 * conversions and holds, read at random moments. */
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

#include "stream-to.h"
#include "model/energy.h"
#include "model/power-fit.h"
#include "random.h"
#include "report/range-totals.h"
#include "record/summary.h"
#include "trace/trace.h"
#include "util/clock.h"
#include "live-log.h"

#define STEP_NS INT64_C(100000) /* of the known power */
#define STEPS   120000          /* 12 s */
#define TICK_NS (10 * NS_PER_MS)
#define RECORDS 60
#define PHASES  6
#define START   NS_PER_S

static double sum[STEPS + 1]; /* joules before a step */
static int64_t row_ns[2000];
static double row_mw[2000];
static size_t n_rows;

static double uniform(double from, double to)
{
	return from + (to - from) * (double)(random_next() >> 11) * 0x1p-53;
}

enum wave { SQUARE, RANDOM, SINE };

/* Power between 10 and 50 W: `part` of each period_s high. */
static void wave_make(enum wave kind, double period_s, double part)
{
	const double step = STEP_NS / 1e9, turn = 6.283185307 / period_s;
	double phase = uniform(0, period_s), until = 0, v = 10;
	double along = phase, x = cos(turn * phase), y = sin(turn * phase), dx = cos(turn * step), dy = sin(turn * step);
	bool high = uniform(0, 1) < 0.5;

	for (int i = 0; i < STEPS; i++) {
		if (kind == SQUARE) {
			v = along < part * period_s ? 50 : 10;
			along += along + step < period_s ? step : step - period_s;
		} else if (kind == SINE) { /* turned by a step each time */
			double x1 = x * dx - y * dy;

			v = 30 + 20 * y;
			y = x * dy + y * dx;
			x = x1;
		}
		while (kind == RANDOM && i * step >= until) {
			high = !high;
			v = high ? 50 : 10;
			until += 1e-4 - log(uniform(1e-9, 1)) * period_s * (high ? part : 1 - part);
		}
		sum[i + 1] = sum[i] + v * step;
	}
}

/* Joules before a moment, in seconds. */
static double joules_at(double t_s)
{
	double at = fmin(fmax(t_s / (STEP_NS / 1e9), 0), STEPS - 1e-6);
	int i = (int)at;

	return sum[i] + (sum[i + 1] - sum[i]) * (at - i);
}

/* Reads the chip at a random moment of each tick. */
static void rows_make(double averages_s)
{
	double first = averages_s > 0 ? uniform(0, averages_s) : 0;

	n_rows = 0;
	for (int k = 0; k < STEPS * STEP_NS / TICK_NS - 1; k++) {
		double t = k * 0.01 + uniform(0, 0.0095), end = t, length = 1e-4;

		if (averages_s > 0) {
			end = first + floor((t - first) / averages_s) * averages_s;
			length = averages_s;
		} else {
			end = ceil(t / 1e-4) * 1e-4;
		}
		if (end - length < 0)
			continue;
		row_ns[n_rows] = START + llround(t * 1e9);
		row_mw[n_rows++] = 1e3 * (joules_at(end) - joules_at(end - length)) / length;
	}
}

static struct energy_source source_make(double averages_s)
{
	const struct channel c = {.name = "VDD.power", .tier = TIER_MEDIUM, .unit = UNIT_MILLIWATT,
				  .window_ns = llround(averages_s * 1e9)};
	const struct session about = {.channels = &c, .n_channels = 1, .hz = {1000, 100, 10}, .start = {.mono_ns = START}};
	struct energy_source s;
	double all = 0;

	energy_source_of(&s, &about, 0);
	for (size_t i = 0; i < n_rows; i++) {
		s.least = fmin(s.least, row_mw[i] / 1e3);
		s.most = fmax(s.most, row_mw[i] / 1e3);
		all += row_mw[i] / 1e3;
	}
	s.mean = all / (double)n_rows;
	return s;
}

static size_t readings_make(const struct energy_source *s, struct power_reading *out)
{
	struct energy_rows rows = {.begun = false};
	size_t n = 0;

	for (size_t i = 0; i < n_rows; i++)
		n += energy_take(s, &rows, row_ns[i], row_mw[i], NAN, out + n);
	return n;
}

/* The first reading of a recording comes up to a tick after its begin, the last as long before its end. */
static void a_recording_is_known_to_its_edges(void **state)
{
	static const double averages_s[] = {0, 0.0066};
	static struct power_reading list[4000];

	(void)state;
	for (size_t k = 0; k < sizeof averages_s / sizeof *averages_s; k++) {
		n_rows = 0;
		for (int i = 0; i < 300; i++) {
			row_ns[n_rows] = START + i * TICK_NS + TICK_NS - 1;
			row_mw[n_rows++] = 10e3;
		}
		const struct energy_source s = source_make(averages_s[k]);
		struct energy e = {.from_ns = START, .to_ns = START + 301 * TICK_NS - 2};
		size_t n = readings_make(&s, list);

		for (size_t i = 0; i < n; i++)
			energy_add(&e, &s, &list[i]);
		struct energy_result r = energy_get(&e, &s);
		assert_true(fabs(r.joules - 30.1) < 1e-6);
		assert_true(fabs(r.known_s - 3.01) < 1e-6);
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void phases_are_within_their_bounds(void **state)
{
	enum { CHIPS = 4 };
	static const double averages_s[CHIPS] = {0, 0.0066, 0.1056, 0.4224};
	static const struct {
		enum wave wave;
		double period_s, part, most; /* most: the median bound in percent, where the chip does not average */
	} loads[] = {{SQUARE, 0.1, 0.2, 9},	{SQUARE, 1, 0.5, 1.8},  {SQUARE, 0.0333, 0.3, 19}, {SQUARE, 0.01, 0.5, 14},
		     {RANDOM, 0.06, 0.5, 7.5}, {RANDOM, 0.6, 0.4, 2.5}, {SINE, 0.2, 0, 1.8}};
	static struct power_reading list[4000];
	int all = 0, all_good = 0;

	(void)state;
	for (size_t l = 0; l < sizeof(loads) / sizeof(loads[0]); l++) {
		static double bound[CHIPS][RECORDS * PHASES], error[CHIPS][RECORDS * PHASES];
		double said[CHIPS] = {0}, was[CHIPS] = {0};
		int n = 0, good[CHIPS] = {0};

		for (int k = 0; k < RECORDS; k++, n += PHASES) {
			wave_make(loads[l].wave, loads[l].period_s, loads[l].part);
			for (size_t a = 0; a < CHIPS; a++) { /* all of them at the same wave */
				struct energy_source s;
				size_t readings;

				rows_make(averages_s[a]);
				s = source_make(averages_s[a]);
				readings = readings_make(&s, list);
				for (int p = n; p < n + PHASES; p++) {
					double from = uniform(1, 8), to = from + uniform(0.2, 3);
					double truth = joules_at(to) - joules_at(from);
					struct energy e = {.from_ns = START + llround(from * 1e9), .to_ns = START + llround(to * 1e9)};
					struct energy_result r;

					for (size_t i = 0; i < readings; i++)
						energy_add(&e, &s, &list[i]);
					r = energy_get(&e, &s);
					assert_true(fabs(r.known_s - (to - from)) < 1e-6 && r.within > 0);
					good[a] += fabs(r.joules - truth) <= r.within;
					bound[a][p] = 100 * r.within / truth;
					error[a][p] = 100 * fabs(r.joules - truth) / truth;
					said[a] += r.joules;
					was[a] += truth;
				}
			}
		}
		for (size_t a = 0; a < CHIPS; a++) {
			qsort(bound[a], (size_t)n, sizeof(double), by_value);
			qsort(error[a], (size_t)n, sizeof(double), by_value);
			printf("# averages %5.1f ms, load %zu: %3.0f %% within, median error %.2f %%, bound %.2f %%, bias %+.2f %%\n",
			       averages_s[a] * 1e3, l, 100.0 * good[a] / n, error[a][n / 2], bound[a][n / 2], 100 * (said[a] / was[a] - 1));
			assert_true(good[a] >= 0.9 * n);
			assert_true(fabs(said[a] / was[a] - 1) < 0.01);
			assert_true(a > 0 || bound[a][n / 2] < loads[l].most);
			all += n;
			all_good += good[a];
		}
	}
	assert_true(all_good >= 0.95 * all);
}

/* A load that switches between 130 and 745 W every length_s. Returns the intervals of 745 W. */
static size_t bursts_make(double length_s, struct interval *out)
{
	size_t n = 0;

	for (int i = 0; i < STEPS; i++) {
		bool high = (int)floor(i * (STEP_NS / 1e9) / length_s) & 1;

		sum[i + 1] = sum[i] + (high ? 745 : 130) * (STEP_NS / 1e9);
	}
	for (int k = 1; (k + 1) * length_s <= STEPS * (STEP_NS / 1e9); k += 2)
		out[n++] = (struct interval) {START + llround(k * length_s * 1e9), START + llround((k + 1) * length_s * 1e9)};
	return n;
}

/* An NVIDIA GPU: samples of the last 20 ms that come late, 1 % too high, and a counter that changes every 78 to 123 ms. */
static const struct channel gpu[] = {
	{.name = "GPU0.power", .kind = CHANNEL_RAIL_POWER, .tier = TIER_MEDIUM, .unit = UNIT_MILLIWATT, .source = "NVML",
	 .window_ns = 20 * NS_PER_MS},
	{.name = "GPU0.power.age", .tier = TIER_MEDIUM, .column = 1},
	{.name = "GPU0.energy", .kind = CHANNEL_COUNTER, .tier = TIER_MEDIUM, .column = 2, .unit = UNIT_JOULE}};
static const struct session gpu_session = {
	.channels = gpu, .n_channels = 3, .width = {0, 3}, .hz = {1000, 100, 10}, .start.mono_ns = START};

/* Calls back with each row: mW, age in ms, and joules. */
static void gpu_rows(void (*row)(void *to, int64_t t_ns, const double *values), void *to)
{
	double changed = uniform(0, 0.1), next = changed + uniform(0.078, 0.123), sampled = 0.04;

	for (int k = 10; k < STEPS * STEP_NS / TICK_NS; k++) {
		double t = k * 0.01, values[3] = {(double)NAN, (double)NAN, 5000 + joules_at(changed)};

		if (t >= next) {
			changed = next;
			next += uniform(0.078, 0.123);
		}
		values[2] = 5000 + joules_at(changed);
		if (sampled + 0.05 <= t) {
			values[0] = 1.01e3 * (joules_at(sampled) - joules_at(sampled - 0.02)) / 0.02;
			values[1] = 1e3 * (t - sampled);
			sampled += 0.02;
		}
		row(to, START + llround(t * 1e9), values);
	}
}

struct counted {
	struct energy_source source;
	struct energy_rows rows;
	struct power_reading list[4000];
	size_t n;
};

static void count_row(void *to, int64_t t_ns, const double *values)
{
	struct counted *c = to;

	c->n += energy_take(&c->source, &c->rows, t_ns, values[2], (double)NAN, c->list + c->n);
}

static void a_counter_tells_of_bursts(void **state)
{
	static const double lengths[] = {1, 0.2, 0.07}, most[] = {0.02, 0.04, 0.08};
	static struct interval bursts[100];
	static struct counted c;

	(void)state;
	for (int i = 0; i < 3; i++) {
		size_t n = bursts_make(lengths[i], bursts);
		struct power_fit fit = {.no_memory = false};
		static struct power_solution solution;
		const uint32_t columns[] = {0, 1};
		const double seconds[] = {lengths[i] * (double)n, 0};
		struct energy_meter meter;
		double joules, variance, truth = 745 * lengths[i] * (double)n;

		energy_meter_begin(&meter, &gpu_session, 0);
		c = (struct counted) {.source = meter.source[BY_COUNTER]};
		c.source.window_ns = c.source.every_ns = 100 * NS_PER_MS;
		gpu_rows(count_row, &c);
		for (size_t k = 0; k < c.n; k++) {
			const struct power_reading *p = &c.list[k];
			double in = 0;

			for (size_t j = 0; j < n; j++)
				in += fmax(0, fmin((double)bursts[j].end_ns, (double)p->end_ns) -
						     fmax((double)bursts[j].begin_ns, (double)(p->end_ns - p->window_ns)));
			in /= (double)p->window_ns;
			power_fit_add(&fit, power_fit_row(&fit, (struct power_share[]) {{0, (float)in}, {1, (float)(1 - in)}}, 2), p->watts);
		}
		power_fit_solve(&fit, columns, 2, &solution);
		assert_true(power_solution_joules(&solution, seconds, &joules, &variance));
		power_fit_free(&fit);
		printf("# bursts of %.2f s by a counter: %.1f +- %.1f J, true %.1f J\n", lengths[i], joules, 1.96 * sqrt(variance), truth);
		assert_true(fabs(joules / truth - 1) < most[i]);
		assert_true(fabs(joules - truth) < 1.96 * sqrt(variance) + 0.01 * truth);
	}
}

/* What machines do to the rows of a rail: some are late or missing, some values are, or a chip averages over several. */
static const struct fault {
	const char *what;
	double averages_s;
	double lost; /* share of rows, one by one */
	int burst;   /* or so many in a row, about once a second */
	bool values; /* of rows that are there */
} faults[] = {
	{"one row in five", 0, 0.2, 0, false},		{"one value in five", 0, 0.2, 0, true},
	{"one row in two", 0, 0.5, 0, false},		{"four rows in a row", 0, 0, 4, false},
	{"four values in a row", 0, 0, 4, true},	{"one in two, 6.6 ms", 0.0066, 0.5, 0, false},
	{"one in five, 105.6 ms", 0.1056, 0.2, 0, false}, {"four in a row, 105.6 ms", 0.1056, 0, 4, true},
};

static size_t faulty_readings_make(const struct fault *f, struct energy_source *s, struct power_reading *out)
{
	double next = f->burst ? uniform(0, 2) : INFINITY;
	int left = 0;
	size_t n = 0;

	rows_make(f->averages_s);
	*s = source_make(f->averages_s);
	for (size_t i = 0; i < n_rows; i++) {
		double t = (double)(row_ns[i] - START) / 1e9;
		bool lost = uniform(0, 1) < f->lost;

		if (t >= next) {
			left = f->burst;
			next += f->burst * 0.01 + uniform(0, 2);
		}
		lost |= left-- > 0;
		if (f->values || !lost)
			row_mw[n] = lost ? (double)NAN : row_mw[i];
		row_ns[n] = row_ns[i];
		n += f->values || !lost;
	}
	n_rows = n;
	return readings_make(s, out);
}

/* Of sources that are late: samples of a card with gaps of up to 0.4 s, or its counter, which a driver that is loaded again
 * resets. */
static size_t late_readings_make(bool counter, int periods, struct energy_source *s, struct power_reading *out)
{
	double changed = uniform(0, 0.1), next = changed + uniform(0.078, 0.123), sampled = 0.04, lose = uniform(0, 2), base = 0;
	struct energy_meter m;
	int left = 0;
	size_t n = 0;

	energy_meter_begin(&m, &gpu_session, 0);
	for (int k = 10; k < STEPS * STEP_NS / TICK_NS; k++) {
		double t = k * 0.01, v[3] = {(double)NAN, (double)NAN, (double)NAN};
		int64_t t_ns = START + k * TICK_NS;
		bool lost;

		if (t >= lose) {
			left = periods * (counter ? 10 : 2);
			lose += uniform(1, 3);
		}
		lost = left-- > 0;
		if (t >= next) {
			changed = next;
			next += uniform(0.078, 0.123);
		}
		base = lost ? joules_at(changed) : base;
		v[2] = lost ? (double)NAN : joules_at(changed) - base;
		if (sampled + 0.05 <= t) {
			v[0] = lost ? (double)NAN : 1e3 * (joules_at(sampled) - joules_at(sampled - 0.02)) / 0.02;
			v[1] = 1e3 * (t - sampled);
			sampled += 0.02;
		}
		energy_meter_row(&m, &(struct rows) {TIER_MEDIUM, 1, 3, &t_ns, v}, 0);
		for (size_t i = 0; i < m.n[counter]; i++)
			out[n++] = m.newest[counter][i];
	}
	*s = energy_meter_source(&m);
	s->scale = 1;
	if (counter && !s->counts) { /* a card without samples */
		m.source[BY_POWER].known = false;
		*s = energy_meter_source(&m);
	}
	return n;
}

/* Where power is known for all of a phase, its joules are within their bound; where it is not, that is said. */
static void gaps_are_in_the_bound(void **state)
{
	static const struct {
		enum wave wave;
		double period_s, part;
	} loads[] = {{SQUARE, 0.1, 0.2}, {SQUARE, 1, 0.5}, {SQUARE, 0.0333, 0.3}, {RANDOM, 0.06, 0.5}, {RANDOM, 0.6, 0.4}, {SINE, 0.2, 0}};
	static const int lost[] = {1, 2, 4, 8, 32};
	enum { FAULTS = sizeof(faults) / sizeof(faults[0]) + 2 * sizeof(lost) / sizeof(lost[0]) };
	const size_t n_faults = sizeof(faults) / sizeof(faults[0]), n_loads = sizeof(loads) / sizeof(loads[0]);
	static struct power_reading list[4000];
	int all = 0, all_good = 0;

	(void)state;
	for (size_t l = 0; l < n_loads; l++) {
		int n[FAULTS] = {0}, good[FAULTS] = {0}, partly[FAULTS] = {0};

		for (size_t i = 0; i < RECORDS * FAULTS; i++) {
			size_t f = i % FAULTS, readings;
			struct energy_source s;

			if (f == 0) /* each of them has the same wave */
				wave_make(loads[l].wave, loads[l].period_s, loads[l].part);
			readings = f < n_faults ? faulty_readings_make(&faults[f], &s, list)
						: late_readings_make((f - n_faults) % 2, lost[(f - n_faults) / 2], &s, list);
			for (int p = 0; p < PHASES; p++) {
				double from = uniform(1, 8), to = from + uniform(0.2, 3), truth = joules_at(to) - joules_at(from);
				struct energy e = {.from_ns = START + llround(from * 1e9), .to_ns = START + llround(to * 1e9)};
				struct energy_result r;

				for (size_t j = 0; j < readings && list[j].end_ns < e.to_ns + s.reach_ns; j++)
					energy_add(&e, &s, &list[j]);
				r = energy_get(&e, &s);
				assert_true(r.known_s <= to - from + 1e-6);
				/* Its parts come to the same, also where a gap is cut. */
				double cut = uniform(from, to), known_s = 0;
				for (int half = 0; half < 2; half++) {
					struct energy part = {.from_ns = START + llround((half ? cut : from) * 1e9),
							      .to_ns = START + llround((half ? to : cut) * 1e9)};

					for (size_t j = 0; j < readings && list[j].end_ns < part.to_ns + s.reach_ns; j++)
						energy_add(&part, &s, &list[j]);
					known_s += energy_get(&part, &s).known_s;
				}
				assert_true(known_s >= r.known_s - 1e-6 && known_s <= r.known_s + 2 * (TICK_NS / 1e9) + 1e-6);
				partly[f] += r.known_s < to - from - 1e-6;
				n[f] += r.known_s >= to - from - 1e-6;
				good[f] += r.known_s >= to - from - 1e-6 && fabs(r.joules - truth) <= r.within;
			}
		}
		for (size_t f = 0; f < FAULTS; f++) {
			printf("# %s %d, load %zu: %3.0f %% of %d within, %d partly known\n",
			       f < n_faults ? faults[f].what : (f - n_faults) % 2 ? "counter, periods lost:" : "samples lost:",
			       f < n_faults ? 0 : lost[(f - n_faults) / 2], l, 100.0 * good[f] / (n[f] > 0 ? n[f] : 1), n[f], partly[f]);
			assert_true(good[f] >= (n[f] < 60 ? 0.8 : 0.9) * n[f]);
			all += n[f];
			all_good += good[f];
		}
	}
	assert_true(all_good >= 0.95 * all);
}

static void meter_row(void *to, int64_t t_ns, const double *values)
{
	energy_meter_row(to, &(struct rows) {TIER_MEDIUM, 1, 3, &t_ns, values}, 0);
}

static void live_row(void *to, int64_t t_ns, const double *values)
{
	struct sink *s = to;

	s->ops->rows(s, &(struct rows) {TIER_MEDIUM, 1, 3, &t_ns, values});
}

static struct sink *written; /* by the output */

static void log_row(void *to, int64_t t_ns, const double *values)
{
	struct log_out *w = to;

	written->ops->rows(written, &(struct rows) {TIER_MEDIUM, 1, 3, &t_ns, values});
	log_out_ready(w);
}

/* The same by the summary of a recording and by a report on it; a burst of it, too. */
static void samples_add_up_to_their_counter(void **state)
{
	static struct interval bursts[100];
	char path[] = "energy-XXXXXX";
	struct energy_meter meter;
	struct energy_result r, said, drawn, reported, burst;
	struct live_log *live;
	struct log_out *w;
	struct sink *s;
	struct trace *t;
	uint64_t before = seed;
	double truth;
	struct err e;

	(void)state;
	bursts_make(0.2, bursts);
	energy_meter_begin(&meter, &gpu_session, 0);
	gpu_rows(meter_row, &meter);
	r = energy_meter_get(&meter, START + STEPS * STEP_NS);
	close(mkstemp(path));
	w = log_out_new(path, true, &e);
	written = stream_begin(w, &gpu_session, false);
	seed = before;
	gpu_rows(log_row, w);
	assert_int_equal(stream_end(w, written, &e), 0);
	struct summary whole = {.about = &gpu_session, .writer = w};
	summary_read(&whole);
	said = whole.energy[0];
	summary_free(&whole);
	log_out_free(w);
	t = trace_open(path, &e);
	assert_non_null(t);
	reported = energy_between(trace_source(t, 0), trace_timeline(t), START + NS_PER_S / 10, START + STEPS * STEP_NS - TICK_NS);
	live = live_log_new();
	s = live_log_sink(live);
	assert_int_equal(s->ops->begin(s, &gpu_session, &e), 0);
	seed = before;
	gpu_rows(live_row, s);
	assert_true(live_log_look(live)->ops->energy(live_log_look(live), 0, START + NS_PER_S / 10, START + STEPS * STEP_NS - TICK_NS, &drawn));
	live_log_free(live);
	burst = energy_between(trace_source(t, 0), trace_timeline(t), bursts[9].begin_ns, bursts[9].end_ns);
	trace_close(t);
	unlink(path);
	printf("# said %.6f J, reported %.6f J, a burst %.2f +- %.2f J\n", said.joules, reported.joules, burst.joules, burst.within);
	assert_true(fabs(said.joules / reported.joules - 1) < 1e-6);
	assert_true(fabs(drawn.joules / reported.joules - 1) < 1e-6);
	assert_true(fabs(burst.joules - 149) < burst.within);
	truth = joules_at(12) - joules_at(0.1);
	printf("# samples scaled to a counter: %.2f J, true %.2f J, in %.3f s\n", r.joules, truth, r.known_s);
	assert_true(fabs(r.joules / truth - 1) < 0.003);
}

/* What a sample of the window before t_s says: its mean, or what chips make of it that weigh by power, or late. */
enum law { MEAN, BY_WATTS, LATE_HALF, LAWS };
static double sample_of(enum law law, double t_s)
{
	double high = (joules_at(t_s) - joules_at(t_s - 0.02)) / 0.02, part = (high - 130) / (745 - 130);

	if (law == BY_WATTS)
		return (745 * 745 * part + 130 * 130 * (1 - part)) / (745 * part + 130 * (1 - part));
	return law == LATE_HALF ? (joules_at(t_s) - joules_at(t_s - 0.01)) / 0.01 : high;
}

/* Bursts and the rests between them: of samples, the truth is within the bound however they weigh their windows. */
static void ranges_of_samples_are_within_their_bounds(void **state)
{
	static const double lengths[] = {1, 0.2, 0.07}, most[] = {0.02, 0.07, 0.2};
	static const struct range_lane lane = {.pid = 1, .tid = 1, .process = "p", .thread = "t", .domain = ""};
	static struct channel samples[2];
	static struct interval bursts[100];
	const struct session about = {.channels = samples, .n_channels = 2, .width = {0, 2}, .hz = {1000, 100, 10}, .start.mono_ns = START};
	struct err e;

	(void)state;
	memcpy(samples, gpu, sizeof(samples));
	for (int i = 0; i < 3 * LAWS; i++) {
		size_t n = bursts_make(lengths[i % 3], bursts);
		struct live_log *h = live_log_new();
		struct sink *s = live_log_sink(h);
		struct collection c = {.begin_ns = START, .end_ns = START + 12 * NS_PER_S, .most = 10};
		double sampled = 0.04;

		assert_int_equal(s->ops->begin(s, &about, &e), 0);
		for (int k = 10; k < STEPS * STEP_NS / TICK_NS; k++) {
			double v[2] = {(double)NAN, (double)NAN};
			int64_t t_ns = START + k * TICK_NS;

			if (sampled + 0.05 <= k * 0.01) {
				v[0] = 1e3 * sample_of((enum law)(i / 3), sampled);
				v[1] = 1e3 * (k * 0.01 - sampled);
				sampled += 0.0201;
			}
			s->ops->rows(s, &(struct rows) {TIER_MEDIUM, 1, 2, &t_ns, v});
		}
		for (size_t k = 0; k < n; k++) {
			struct range in = {.begin_ns = bursts[k].begin_ns, .end_ns = bursts[k].end_ns, .name = "burst", .lane = &lane}, out = in;

			out.name = "rest";
			out.begin_ns = in.end_ns;
			out.end_ns = 2 * in.end_ns - in.begin_ns;
			s->ops->ranges(s, &in, 1);
			if (k + 1 < n)
				s->ops->ranges(s, &out, 1);
		}
		assert_true(collection_begin(&c, live_log_look(h), 1000));
		for (int k = 0; k < 40; k++) /* as the screen does, part by part */
			assert_true(collection_add(&c, START + k * 3 * NS_PER_S / 10, START + (k + 1) * 3 * NS_PER_S / 10));
		collection_break(&c);
		assert_true(collection_list(&c));
		assert_int_equal(c.n, 2);
		for (size_t k = 0; k < 2; k++) {
			const struct energy_result *r = &c.list[k]->spent[USE_ALL].energy;
			bool burst = !strcmp(c.list[k]->name, "burst");
			double truth = (burst ? 745 : 130) * lengths[i % 3] * (double)(burst ? n : n - 1);

			printf("# %s of %.2f s, law %d: %.1f +- %.1f J, true %.1f J\n", c.list[k]->name, lengths[i % 3], i / 3, r->joules,
			       r->within, truth);
			assert_int_equal(c.list[k]->user[0][USE_ALL].times, burst ? n : n - 1);
			assert_true(fabs(r->joules - truth) <= r->within);
			assert_true(!burst || r->within < most[i % 3] * truth);
		}
		collection_free(&c);
		live_log_free(h);
	}
}

/* A range that goes on after the end of the time that is asked for, which lies between two readings. */
static void a_range_reaches_the_end(void **state)
{
	static const struct channel rail = {.name = "VDD.power", .tier = TIER_MEDIUM, .unit = UNIT_MILLIWATT};
	static const struct range_lane lane = {.pid = 1, .tid = 1, .process = "p", .thread = "t", .domain = ""};
	const struct session about = {.channels = &rail, .n_channels = 1, .width = {0, 1}, .hz = {1000, 100, 10}, .start.mono_ns = START};
	const struct range range = {.begin_ns = START + NS_PER_S, .end_ns = START + 3 * NS_PER_S, .name = "step", .lane = &lane};
	const int64_t to_ns = START + 2 * NS_PER_S + 4700000;
	struct collection c = {.begin_ns = START, .end_ns = to_ns, .most = 10};
	const double mw = 20000;
	struct live_log *h;
	struct sink *s;
	struct err e;

	(void)state;
	h = live_log_new();
	s = live_log_sink(h);
	assert_int_equal(s->ops->begin(s, &about, &e), 0);
	for (int k = 0; k < 400; k++) {
		int64_t t_ns = START + k * TICK_NS;

		s->ops->rows(s, &(struct rows) {TIER_MEDIUM, 1, 1, &t_ns, &mw});
	}
	s->ops->ranges(s, &range, 1);
	assert_true(collection_begin(&c, live_log_look(h), 100));
	assert_true(collection_add(&c, START, to_ns));
	collection_break(&c);
	assert_true(collection_list(&c));
	assert_int_equal(c.n, 1);
	assert_true(fabs(c.list[0]->spent[USE_ALL].energy.joules - 20 * 1.0047) < 1e-9);
	assert_true(fabs(c.list[0]->spent[USE_OWN].energy.known_s - 1.0047) < 1e-9);
	collection_free(&c);
	live_log_free(h);
}

static bool days_extent(struct timeline *t, int64_t *first_ns, int64_t *last_ns)
{
	(void)t;
	*first_ns = START;
	*last_ns = START + 240 * 3600 * NS_PER_S;
	return true;
}

/* One reading in each: 10 W, on the fifth day 50 W. */
static void days_columns(struct timeline *t, size_t channel, int zoom, int64_t first, size_t n, struct bin *out)
{
	(void)t;
	assert_int_equal(channel, 0);
	for (size_t i = 0; i < n; i++) {
		double mw = (((first + (int64_t)i) << zoom) - START) / (96 * 3600 * NS_PER_S) == 1 ? 50e3 : 10e3;

		out[i] = (struct bin) {mw, mw, mw, 1};
	}
}

static const struct session *days_session(struct timeline *t)
{
	static const struct channel rail = {.name = "VDD.power", .tier = TIER_MEDIUM, .unit = UNIT_MILLIWATT};
	static const struct session about = {.channels = &rail, .n_channels = 1, .width = {0, 1}, .hz = {1000, 100, 10}, .start.mono_ns = START};

	(void)t;
	return &about;
}

/* The greatest power of a recording of ten days, in the middle of it, is known. */
static void days_are_read(void **state)
{
	static const struct timeline_ops days = {.session = days_session, .extent = days_extent, .columns = days_columns};
	struct timeline t = {&days};
	struct energy_source s;

	(void)state;
	energy_source_read(&s, &t, 0);
	assert_true(fabs(s.least - 10) < 1e-9 && fabs(s.most - 50) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(phases_are_within_their_bounds),
					   cmocka_unit_test(gaps_are_in_the_bound),
					   cmocka_unit_test(days_are_read),
					   cmocka_unit_test(a_recording_is_known_to_its_edges),
					   cmocka_unit_test(a_counter_tells_of_bursts),
					   cmocka_unit_test(samples_add_up_to_their_counter),
					   cmocka_unit_test(a_range_reaches_the_end),
					   cmocka_unit_test(ranges_of_samples_are_within_their_bounds)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
