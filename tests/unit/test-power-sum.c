/* Joules of a PC with two GPUs and a processor, whose power is known in closed form: each of them, and their sum, by
 * the screen, the summary, the report and the library. */
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
#include "model/energy.h"
#include "nvmtop/nvmtop.h"
#include "report/analysis.h"
#include "report/range-totals.h"
#include "report/report.h"
#include "trace/log-out.h"
#include "record/summary.h"
#include "trace/trace.h"
#include "ui/energy.h"
#include "util/clock.h"
#include "live-log.h"

#define START	(100 * NS_PER_S)
#define TICK_NS (10 * NS_PER_MS)
#define ROWS	3000 /* 30 s */
#define COLUMNS 8
#define GAP_FROM 1400 /* 3 s without a row */
#define GAP_TO	 1700

#define POWER(name_, column_, source_, window_)                                                            \
	{.name = name_ ".power", .label = name_, .kind = CHANNEL_RAIL_POWER, .tier = TIER_MEDIUM,          \
	 .column = column_, .unit = UNIT_MILLIWATT, .source = source_, .window_ns = window_,               \
	 .period_ns = window_, .lo = NAN, .hi = NAN, .warn = NAN, .crit = NAN}
#define OTHER(name_, kind_, column_, unit_)                                                                \
	{.name = name_, .kind = kind_, .tier = TIER_MEDIUM, .column = column_, .unit = unit_, .lo = NAN,   \
	 .hi = NAN, .warn = NAN, .crit = NAN}
static struct channel channels[] = {
	POWER("gpu", 0, "NVML: a card", 20 * NS_PER_MS),
	OTHER("gpu.power.age", CHANNEL_OTHER, 1, UNIT_NONE),
	OTHER("gpu.energy", CHANNEL_COUNTER, 2, UNIT_JOULE),
	POWER("gpu1", 3, "NVML: a card", 20 * NS_PER_MS),
	OTHER("gpu1.power.age", CHANNEL_OTHER, 4, UNIT_NONE),
	OTHER("gpu1.energy", CHANNEL_COUNTER, 5, UNIT_JOULE),
	POWER("cpu", 6, "/sys/class/powercap/intel-rapl:0/energy_uj", TICK_NS),
	OTHER("cpu.energy", CHANNEL_COUNTER, 7, UNIT_JOULE)};
#define CHANNELS (sizeof(channels) / sizeof(channels[0]))
static const size_t powers[] = {0, 3, 6};

static struct session session_of(const struct channel *list, size_t n)
{
	return (struct session) {
		.channels = list, .n_channels = n, .width = {0, COLUMNS}, .hz = {1000, 100, 10}, .start.mono_ns = START};
}

/* Joules since the start: a ramp, a level, and steps of 0.5 s. */
static double joules_at(size_t power, double s)
{
	double halves = floor(s / 0.5), rest = s - 0.5 * halves;

	return power == 0   ? 100 * s + 2 * s * s
	       : power == 3 ? 40 * s
			    : 15 * s + 20 * (0.5 * floor(halves / 2) + (fmod(halves, 2) > 0 ? rest : 0));
}

static const int64_t mark_at[] = {START + 5003700000, START + 9500000000, START + 15200000000, START + 20100000000};
#define MARKS (sizeof(mark_at) / sizeof(mark_at[0]))

/* GPUs have samples of 20 ms that come late and are 2 % too low, and a counter that changes every 100 ms; the
 * processor has a counter that changes in each row. */
static void rows_push(struct sink *to, struct log_out *w)
{
	double sampled[2] = {0.02, 0.027};
	size_t m = 0;

	for (int i = 0; i < ROWS; i++) {
		double t = i * 0.01 + 0.003, v[COLUMNS];
		int64_t t_ns = START + llround(t * 1e9);

		for (int k = 0; k < 2; k++) {
			double *g = v + 3 * k, from = sampled[k] - 0.02;
			size_t power = 3 * (size_t)k;

			g[0] = g[1] = NAN;
			g[2] = 7000 + joules_at(power, floor(t * 10) / 10);
			if (sampled[k] + 0.03 > t)
				continue;
			g[0] = 0.98e3 * (joules_at(power, sampled[k]) - joules_at(power, from)) / 0.02;
			g[1] = 1e3 * (t - sampled[k]);
			sampled[k] += 0.02;
		}
		v[6] = 1e3 * (joules_at(6, t) - joules_at(6, t - 0.01)) / 0.01;
		v[7] = joules_at(6, t);
		if (i >= GAP_FROM && i < GAP_TO)
			continue;
		for (; m < MARKS && mark_at[m] < t_ns; m++)
			to->ops->mark(to, &(struct mark) {.id = m + 1, .t_ns = mark_at[m]});
		to->ops->rows(to, &(struct rows) {TIER_MEDIUM, 1, COLUMNS, &t_ns, v});
		if (w)
			log_out_ready(w);
	}
}

static char path[64];
static struct energy_result summed[CHANNELS];

static struct sink *recording_begin(const struct session *s, struct log_out **w)
{
	struct err e;

	strcpy(path, "/tmp/power-sum-XXXXXX");
	close(mkstemp(path));
	*w = log_out_new(path, true, &e);
	assert_non_null(*w);
	return stream_begin(*w, s, false);
}

static struct trace *recording_end(struct log_out *w, struct sink *to)
{
	struct err e;

	assert_int_equal(stream_end(w, to, &e), 0);
	log_out_free(w);
	struct trace *t = trace_open(path, &e);
	assert_non_null(t);
	return t;
}

static struct trace *record(void)
{
	const struct session s = session_of(channels, CHANNELS);
	struct log_out *w;
	struct trace *t;
	struct err e;

	struct sink *to = recording_begin(&s, &w);
	rows_push(to, w);
	assert_int_equal(stream_end(w, to, &e), 0);
	struct summary sum = {.about = &s, .writer = w};
	summary_read(&sum);
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < sum.parts.n; k++)
			if (sum.parts.channel[k] == powers[i])
				summed[i] = sum.energy[k];
	summary_free(&sum);
	log_out_free(w);
	t = trace_open(path, &e);
	assert_non_null(t);
	return t;
}

#define same(a, b) same_at(a, b, __LINE__)
static void same_at(double a, double b, int line)
{
	if (!(fabs(a - b) <= 1e-6 * fabs(b)))
		fail_msg("line %d: %.12g and %.12g", line, a, b);
}

static double drawn(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns)
{
	struct span span;

	span_read(t, channel, from_ns, to_ns, &span);
	return span_joule(&span);
}

/* Each phase, of which the third is partly in the gap; then the whole. */
static void all_say_the_same(void **state)
{
	const struct session s = session_of(channels, CHANNELS);
	const struct selection all = {.tier = -1};
	struct power_parts parts;
	struct reading reading = {.progress = NULL};
	struct analysis a;
	struct live_log *h;
	struct trace *t;
	struct err e;
	nvmtop_error error = {.size = sizeof(error)};
	double within, truth_of_all = 0;

	(void)state;
	t = record();
	h = live_log_new();
	struct sink *to = live_log_sink(h);
	assert_int_equal(to->ops->begin(to, &s, &e), 0);
	rows_push(to, NULL);
	nvmtop_trace *library = nvmtop_open(path, &error);
	assert_non_null(library);
	assert_int_equal(analysis_begin(&a, t, &all, 0, false, &reading, &e), 0);
	assert_int_equal(analyse(&a, &reading, &e), 0);
	power_parts_find(&parts, &s);
	assert_int_equal(parts.n, 3);
	assert_true(parts.add_up);
	assert_string_equal(a.power_name, "gpu.power + gpu1.power + cpu.power");
	for (size_t i = 0; i <= a.epochs.n; i++) {
		const struct part *p = i < a.epochs.n ? part_load(&a, i) : &a.whole;
		int64_t from = p->epoch.from_ns, until = p->epoch.to_ns;
		double from_s = (double)(from - START) / 1e9, to_s = (double)(until - START) / 1e9, sum = 0, bounds = 0;
		struct span span;

		for (size_t k = 0; k < 3; k++) {
			const struct result *r = &p->results[a.power_at[k]];
			struct energy_result file;
			double truth = joules_at(powers[k], to_s) - joules_at(powers[k], from_s), known = r->energy.known_s;

			assert_true(trace_timeline(t)->ops->energy(trace_timeline(t), powers[k], from, until, &file));
			same(file.joules, r->energy.joules);
			same(file.within, r->energy.within);
			same(drawn(trace_timeline(t), powers[k], from, until), r->energy.joules);
			same(drawn(live_log_look(h), powers[k], from, until), r->energy.joules);
			same(nvmtop_energy(library, powers[k], from_s, to_s, &within, NULL), r->energy.joules);
			same(within, r->energy.within);
			if (known > to_s - from_s - 0.02)
				truth_of_all += fabs(r->energy.joules - truth) <= r->energy.within + 1e-3 * truth;
			else
				truth_of_all += 1;
			sum += r->energy.joules;
			bounds += r->energy.within;
		}
		same(key_of(&a, p, KEY_POWER)->energy.joules, sum);
		same(key_of(&a, p, KEY_POWER)->energy.within, bounds);
		same(nvmtop_energy(library, NVMTOP_POWER, from_s, to_s, &within, NULL), sum);
		same(within, bounds);
		power_span(trace_timeline(t), &parts, from, until, &span);
		same(span_joule(&span), sum);
		power_span(live_log_look(h), &parts, from, until, &span);
		same(span_joule(&span), sum);
		if (i == a.epochs.n)
			same(power_parts_sum(summed, 3).joules, sum);
	}
	assert_int_equal((int)truth_of_all, 3 * (a.epochs.n + 1));
	for (size_t k = 0; k < 3; k++) { /* without a mark, of rows that the screen still has; and ahead of the rows, after them */
		static const int64_t ends[][2] = {{22123456789, 28456789012}, {-NS_PER_S, 6 * NS_PER_S}, {29 * NS_PER_S, 40 * NS_PER_S}};
		struct energy_result file, live;

		for (size_t i = 0; i < 3; i++) {
			assert_true(trace_timeline(t)->ops->energy(trace_timeline(t), powers[k], START + ends[i][0], START + ends[i][1], &file));
			if (!live_log_look(h)->ops->energy(live_log_look(h), powers[k], START + ends[i][0], START + ends[i][1], &live))
				continue;
			same(live.joules, file.joules);
			same(live.known_s, file.known_s);
			if (i == 0)
				same(live.within, file.within);
		}
	}
	nvmtop_close(library);
	analysis_free(&a);
	trace_close(t);
	live_log_free(h);
	unlink(path);
}

/* A card without samples: its power is a mean of the last second, so the rises of its counter are the readings. */
static void so_do_the_rises_of_a_counter(void **state)
{
	channels[0].window_ns = channels[0].period_ns = NS_PER_S;
	all_say_the_same(state);
	channels[0].window_ns = channels[0].period_ns = 20 * NS_PER_MS;
}

static bool (*part_of)(struct timeline *t, const struct energy_source *s, int64_t from_ns, int64_t to_ns, struct energy_part *out);
static unsigned parts_used;

static bool part_counted(struct timeline *t, const struct energy_source *s, int64_t from_ns, int64_t to_ns, struct energy_part *out)
{
	bool is_one = part_of(t, s, from_ns, to_ns, out);

	parts_used += is_one && out->least_ns >= from_ns && out->most_ns <= to_ns;
	return is_one;
}

/* What is kept of whole groups makes no difference to what all rows say, of any interval. */
static void parts_are_what_their_rows_say(void **state)
{
	struct trace *t = record();
	struct timeline *tl = trace_timeline(t);
	const struct timeline_ops *ops = tl->ops;
	struct timeline_ops all = *ops, counted = *ops;

	(void)state;
	all.energy_part = NULL;
	part_of = ops->energy_part;
	counted.energy_part = part_counted;
	for (size_t k = 0; k < 3; k++)
		for (int64_t i = 0; i < 300; i++) {
			int64_t from = START + i * 7919 % 3000 * TICK_NS - i * 100003 % TICK_NS, to = from + i * 104729 % 3100 * TICK_NS + 1;
			struct energy_result rows, parts;

			tl->ops = &all;
			rows = energy_between(trace_source(t, powers[k]), tl, from, to);
			tl->ops = &counted;
			parts = energy_between(trace_source(t, powers[k]), tl, from, to);
			assert_true(rows.known_s == parts.known_s && rows.why == parts.why);
			if (rows.why)
				continue;
			assert_true(fabs(parts.joules - rows.joules) <= 1e-12 * rows.joules);
			assert_true(fabs(parts.within - rows.within) <= 1e-9 * rows.within);
		}
	assert_true(parts_used > 300);
	parts_used = 0;
	tl->ops = ops;
	trace_close(t);
	unlink(path);
}

/* Where there are more rows than can be read within a frame: 0 W for 200 s, then 10 W for 200 s with every other row. */
static void long_intervals_have_the_area(void **state)
{
	static const struct channel power = {.name = "a.power", .tier = TIER_FAST, .unit = UNIT_MILLIWATT, .kind = CHANNEL_RAIL_POWER};
	const struct session s = {.channels = &power, .n_channels = 1, .width = {1}, .hz = {1000, 100, 10}, .start.mono_ns = START};
	struct log_out *w;
	struct span span;

	(void)state;
	struct sink *to = recording_begin(&s, &w);
	for (int64_t ms = 0; ms < 400000; ms += ms < 200000 ? 1 : 2) {
		int64_t t_ns = START + ms * NS_PER_MS;
		double mw = ms < 200000 ? 0 : 10000;

		to->ops->rows(to, &(struct rows) {TIER_FAST, 1, 1, &t_ns, &mw});
		log_out_ready(w);
	}
	struct trace *t = recording_end(w, to);
	span_read(trace_timeline(t), 0, START, START + 400 * NS_PER_S, &span);
	assert_true(fabs(span_joule(&span) - 2000) < 0.1);
	span_read(trace_timeline(t), 0, START + 50 * NS_PER_S + 123, START + 390 * NS_PER_S + 4567, &span);
	assert_true(fabs(span_joule(&span) - 1900) < 0.1);
	trace_close(t);
	unlink(path);
}

/* What counts rises in each part of a time by what it rises in between readings that end in it, also across gaps. */
static void counts_rise_once(void **state)
{
	static const struct channel count = {.name = "throttle.oc1", .tier = TIER_SLOW, .kind = CHANNEL_THROTTLE_COUNT};
	const struct session s = {.channels = &count, .n_channels = 1, .width = {0, 0, 1}, .hz = {1000, 100, 10}, .start.mono_ns = START};
	enum { READINGS = 3000 };
	static int64_t at[READINGS];
	static double v[READINGS];
	struct log_out *w;
	int64_t t_ns = START, from, to;

	(void)state;
	struct sink *out = recording_begin(&s, &w);
	for (size_t i = 0; i < READINGS; i++) {
		t_ns += 90 * NS_PER_MS + (int64_t)random_below(20 * NS_PER_MS) + (random_below(20) ? 0 : (int64_t)random_below(30 * NS_PER_S));
		at[i] = t_ns;
		v[i] = random_below(5) ? (double)(i / 3) + (random_below(4) ? 0 : 1) : NAN;
		out->ops->rows(out, &(struct rows) {TIER_SLOW, 1, 1, &t_ns, &v[i]});
		log_out_ready(w);
	}
	struct trace *t = recording_end(w, out);
	for (int k = 0; k < 2000; k++) {
		double rose = 0, before = NAN;
		struct span_stats got;

		from = k % 3 ? START + (int64_t)random_below((uint64_t)(t_ns - START)) : at[random_below(READINGS)];
		to = k % 5 ? from + (int64_t)random_below(20 * NS_PER_S) : at[random_below(READINGS)];
		for (size_t i = 0; i < READINGS; i++) {
			if (isnan(v[i]))
				continue;
			rose += at[i] > from && at[i] <= to && v[i] > before ? v[i] - before : 0;
			before = v[i];
		}
		trace_timeline(t)->ops->stat(trace_timeline(t), 0, from, to, &got);
		assert_true(to <= from || fabs(got.rise - rose) < 1e-9);
	}
	trace_close(t);
	unlink(path);
}

/* The same power by its counter, which says 1 % more, in intervals that are read and in those that are too long for it. */
static void long_intervals_have_their_counter(void **state)
{
	static struct channel list[] = {{.name = "a.power", .tier = TIER_FAST, .unit = UNIT_MILLIWATT, .kind = CHANNEL_RAIL_POWER},
					{.name = "a.energy", .tier = TIER_FAST, .column = 1, .unit = UNIT_JOULE, .kind = CHANNEL_COUNTER}};
	const struct session s = {.channels = list, .n_channels = 2, .width = {2}, .hz = {1000, 100, 10}, .start.mono_ns = START};

	(void)state;
	for (int counts = 0; counts < 2; counts++) {
		struct energy_result r;
		struct log_out *w;

		list[0].window_ns = counts ? NS_PER_S : 0;
		struct sink *to = recording_begin(&s, &w);
		for (int64_t ms = 0; ms < 300000; ms++) {
			int64_t t_ns = START + ms * NS_PER_MS;

			to->ops->rows(to, &(struct rows) {TIER_FAST, 1, 2, &t_ns, (const double[]) {9900, ms % 100 ? NAN : (double)ms / 100}});
			log_out_ready(w);
		}
		struct trace *t = recording_end(w, to);
		for (int64_t to_s = 100; to_s <= 295; to_s += 195) {
			assert_true(trace_timeline(t)->ops->energy(trace_timeline(t), 0, START + 2 * NS_PER_S, START + to_s * NS_PER_S, &r));
			assert_true(fabs(r.joules - 10 * ((double)to_s - 2)) < 1.1 && fabs(r.joules / r.known_s - 10) < 0.01);
		}
		trace_close(t);
		unlink(path);
	}
}

/* A load that is a difference of counters is that of the time since the row before, however late it is: but rows that were lost
 * had values of their own. */
static void lost_rows_have_no_load(void **state)
{
	static const struct channel gpu = {.name = "gpu.util", .tier = TIER_FAST, .unit = UNIT_PERCENT, .kind = CHANNEL_GPU_UTIL, .source = "/gpu/counters"};
	const struct session s = {.channels = &gpu, .n_channels = 1, .width = {1}, .hz = {1000, 100, 10}, .start.mono_ns = START};
	const struct selection all = {.tier = -1};

	(void)state;
	for (int lost = 0; lost < 2; lost++) {
		struct reading reading = {.progress = NULL};
		struct analysis a;
		struct log_out *w;
		struct err e;

		struct sink *to = recording_begin(&s, &w);
		for (int64_t ms = 0; ms <= 3000; ms += ms == 1000 ? 1000 : 1) {
			int64_t t_ns = START + ms * NS_PER_MS;

			if (ms == 2000)
				to->ops->gap(to, &(struct gap) {TIER_FAST, lost ? GAP_LOST : GAP_LATE, t_ns - NS_PER_S, t_ns, 999});
			to->ops->rows(to, &(struct rows) {TIER_FAST, 1, 1, &t_ns, (const double[]) {ms == 2000 ? 80 : 50}});
			log_out_ready(w);
		}
		struct trace *t = recording_end(w, to);
		assert_int_equal(analysis_begin(&a, t, &all, 0, false, &reading, &e), 0);
		assert_int_equal(analyse(&a, &reading, &e), 0);
		assert_true(fabs(a.whole.results[0].counted - (lost ? 50 : 60)) < 1e-6);
		analysis_free(&a);
		trace_close(t);
		unlink(path);
	}
}

/* The same of a chip that holds a mean of ten rows, and of one without a counter. */
static void parts_of_others_too(void **state)
{
	struct channel was[CHANNELS];

	memcpy(was, channels, sizeof(was));
	channels[6].window_ns = channels[6].period_ns = 10 * TICK_NS;
	strcpy(channels[1].name, "x");
	strcpy(channels[7].name, "y");
	parts_are_what_their_rows_say(state);
	channels[0].window_ns = channels[0].period_ns = 0;
	strcpy(channels[2].name, "z");
	parts_are_what_their_rows_say(state);
	memcpy(channels, was, sizeof(was));
}

/* Two ranges of 0.1 s a second: the sum is that of each. */
static void ranges_have_the_sum(void **state)
{
	static const struct range_lane lane = {.pid = 1, .tid = 1, .process = "p", .thread = "t", .domain = ""};
	const struct session s = session_of(channels, CHANNELS);
	double joules[4], within[4];
	struct live_log *h;
	struct err e;

	(void)state;
	h = live_log_new();
	struct sink *to = live_log_sink(h);
	assert_int_equal(to->ops->begin(to, &s, &e), 0);
	rows_push(to, NULL);
	for (int i = 0; i < 50; i++) {
		struct range r = {.begin_ns = START + (8 + i) * NS_PER_S / 2, .name = "step", .lane = &lane};

		r.end_ns = r.begin_ns + NS_PER_S / 10;
		to->ops->ranges(to, &r, 1);
	}
	for (size_t k = 0; k < 4; k++) {
		struct collection c = {.begin_ns = START, .end_ns = START + 30 * NS_PER_S, .most = 10};
		struct timeline *t = live_log_look(h);

		assert_true(collection_begin(&c, t, 1000));
		assert_int_equal(c.n_power, 3);
		if (k < 3) { /* one of them alone */
			c.parts = (struct power_parts) {1, {powers[k]}, true};
			energy_source_read(&c.power[0].source, t, powers[k]);
			c.n_power = 1;
		}
		assert_true(collection_add(&c, START, START + 30 * NS_PER_S));
		collection_break(&c);
		assert_true(collection_list(&c));
		assert_int_equal(c.n, 1);
		joules[k] = c.list[0]->spent[USE_ALL].energy.joules;
		within[k] = c.list[0]->spent[USE_ALL].energy.within;
		assert_true(joules[k] > 0);
		collection_free(&c);
	}
	same(joules[3], joules[0] + joules[1] + joules[2]);
	same(within[3], within[0] + within[1] + within[2]);
	live_log_free(h);
}

static void what_adds_up(void **state)
{
	enum { GPU, GPU1, CPU, BOARD, INPUT, TOTAL, GONE, ALL };
	static const struct channel all[ALL] = {POWER("gpu", 0, "NVML: a card", 0),
						POWER("gpu1", 0, "NVML: a card", 0),
						POWER("cpu", 0, "/sys/class/powercap/intel-rapl:0/energy_uj", 0),
						POWER("psys", 0, "/sys/class/powercap/intel-rapl:1/energy_uj", 0),
						POWER("VDD_IN", 0, "/sys/class/hwmon/hwmon1", 0),
						{.name = "power.total", .kind = CHANNEL_POWER_TOTAL, .unit = UNIT_MILLIWATT},
						{.name = "gone.power", .unit = UNIT_MILLIWATT, .missing = "no"}};
	static const struct {
		int of[4];
		size_t n; /* -1 ends the list */
		bool add_up;
		const char *text;
	} cases[] = {{{-1}, 0, false, ""},
		     {{GONE, -1}, 0, false, ""},
		     {{INPUT, -1}, 1, true, "VDD_IN.power"},
		     {{GPU, GONE, -1}, 1, true, "gpu.power"},
		     {{GPU, TOTAL, INPUT, -1}, 1, true, "power.total"},
		     {{GPU, GPU1, -1}, 2, true, "gpu.power + gpu1.power"},
		     {{GPU, CPU, GONE, -1}, 2, true, "gpu.power + cpu.power"},
		     {{GPU, INPUT, -1}, 2, false, "gpu.power + VDD_IN.power"},
		     {{BOARD, CPU, -1}, 2, false, "psys.power + cpu.power"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct channel list[4];
		struct power_parts parts;
		size_t n = 0;
		char text[100];

		for (; n < 4 && cases[i].of[n] >= 0; n++)
			list[n] = all[cases[i].of[n]];
		const struct session s = session_of(list, n);
		power_parts_find(&parts, &s);
		power_parts_text(&parts, &s, false, text, sizeof(text));
		assert_int_equal(parts.n, cases[i].n);
		assert_int_equal(parts.add_up, cases[i].add_up);
		assert_string_equal(text, cases[i].text);
	}
}

/* Watts and joules add up, and a part that was not read leaves no sum. */
static void a_sum_has_all_of_its_parts(void **state)
{
	const struct energy_result whole = {200, 2, 10, NULL}, half = {50, 1, 5, NULL}, none = {NAN, NAN, 0, "no"};
	struct energy_result r = power_parts_sum((struct energy_result[]) {whole, half}, 2);

	(void)state;
	same(r.joules, 250);
	same(r.within, 3);
	same(r.joules / r.known_s, 30);
	r = power_parts_sum((struct energy_result[]) {whole, none}, 2);
	assert_true(isnan(r.joules) && isnan(r.within));
	assert_string_equal(r.why, "no");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_say_the_same), cmocka_unit_test(so_do_the_rises_of_a_counter), cmocka_unit_test(parts_are_what_their_rows_say), cmocka_unit_test(parts_of_others_too), cmocka_unit_test(long_intervals_have_the_area), cmocka_unit_test(long_intervals_have_their_counter), cmocka_unit_test(counts_rise_once),
					   cmocka_unit_test(lost_rows_have_no_load),
					   cmocka_unit_test(ranges_have_the_sum),
					   cmocka_unit_test(what_adds_up), cmocka_unit_test(a_sum_has_all_of_its_parts)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
