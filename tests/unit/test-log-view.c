/* The live timeline against a naive model that keeps every row and folds it again. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live-log.h"
#include "random.h"

#define MS NS_PER_MS

#define WIDTH 3
struct model {
	int base;
	size_t n, room;
	int64_t *t;
	double (*v)[WIDTH];
};

static void model_push(struct model *m, int64_t t, const double *v)
{
	if (m->n == m->room) {
		m->room = m->room ? m->room * 2 : 1024;
		m->t = realloc(m->t, m->room * sizeof(*m->t));
		m->v = realloc(m->v, m->room * sizeof(*m->v));
		assert_true(m->t && m->v);
	}
	m->t[m->n] = t;
	memcpy(m->v[m->n++], v, sizeof(*m->v));
}

/* First row at or after t. */
static size_t model_row(const struct model *m, int64_t t)
{
	size_t lo = 0, hi = m->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (m->t[mid] < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct bin model_column(const struct model *m, size_t c, int zoom, int64_t index)
{
	struct bin b = {0}, right;
	size_t from = model_row(m, index * (INT64_C(1) << zoom)),
	       to = model_row(m, (index + 1) * (INT64_C(1) << zoom));

	if (from == to)
		return b;
	if (zoom == m->base) {
		for (; from < to; from++)
			bin_add(&b, m->v[from][c]);
		return b;
	}
	b = model_column(m, c, zoom - 1, 2 * index);
	right = model_column(m, c, zoom - 1, 2 * index + 1);
	bin_merge(&b, &right);
	return b;
}

/* Of rows that are gone, the finest bins that are left are those of zoom 28. */
#define LEFT 28
static int64_t gone_ns = INT64_MIN;

static struct bin model_answer(const struct model *m, size_t c, int zoom, int64_t index)
{
	int at = zoom < m->base ? m->base : zoom;

	index >>= at - zoom;
	if ((index + 1) * (INT64_C(1) << at) <= m->t[0])
		return (struct bin) {0};
	if (at < LEFT && index * (INT64_C(1) << at) < gone_ns) {
		index >>= LEFT - at;
		at = LEFT;
	}
	return model_column(m, c, at, index);
}

static bool same(const struct bin *a, const struct bin *b)
{
	if (a->n != b->n)
		return false;
	return !a->n ||
	       (!memcmp(&a->min, &b->min, 8) && !memcmp(&a->max, &b->max, 8) && !memcmp(&a->sum, &b->sum, 8));
}

static void compare(const struct model *m, struct timeline *t, size_t channel, int zoom, int64_t first,
		    size_t n)
{
	struct bin out[64];

	t->ops->columns(t, channel, zoom, first, n, out);
	for (size_t i = 0; i < n; i++) {
		struct bin want = model_answer(m, channel, zoom, first + (int64_t)i);

		if (!same(&want, &out[i]))
			fail_msg("channel %zu zoom %d column %lld: n %llu, not %llu; sum %a, not %a", channel,
				 zoom, (long long)(first + (int64_t)i), (unsigned long long)out[i].n,
				 (unsigned long long)want.n, out[i].sum, want.sum);
	}
}

/* At every zoom: the newest columns, the oldest, those around the edge of the ring, and some others. */
static void compare_all(const struct model *m, struct timeline *t)
{
	for (int zoom = ZOOM_MIN; zoom <= ZOOM_MAX; zoom++) {
		int64_t oldest = m->t[0] >> zoom, newest = m->t[m->n - 1] >> zoom;
		size_t c = random_below(WIDTH);

		compare(m, t, c, zoom, newest - 20, 24);
		compare(m, t, c, zoom, oldest - 2, 8);
		compare(m, t, c, zoom, oldest + (int64_t)random_below((uint64_t)(newest - oldest) + 1), 16);
	}
}

#define DAYS_NS (4 * 86400 * NS_PER_S)
static int64_t rows_ns = DAYS_NS; /* of the log of make() */
static enum channel_kind kind_of_all; /* of each channel of make() */

static struct live_log *make(double hz, enum tier tier, struct timeline **t, int64_t start)
{
	static struct channel channels[WIDTH];
	struct session about = {.channels = channels, .n_channels = WIDTH, .hz = {1000, 100, 10}};
	struct live_log *h;
	struct err e;

	memset(channels, 0, sizeof(channels));
	about.hz[tier] = hz;
	about.width[tier] = WIDTH;
	about.start.mono_ns = start;
	for (size_t i = 0; i < WIDTH; i++) {
		snprintf(channels[i].name, sizeof(channels[i].name), "c%zu", i);
		channels[i].tier = tier;
		channels[i].kind = kind_of_all;
		channels[i].column = (uint16_t)i;
	}
	h = live_log_bound(&(struct log_bound) {.rows_ns = rows_ns});
	*t = log_view_timeline(h->view);
	assert_int_equal(live_log_sink(h)->ops->begin(live_log_sink(h), &about, &e), 0);
	memset(channels, 0x55, sizeof(channels)); /* must have been copied */
	return h;
}

static void push(struct live_log *h, struct model *m, enum tier tier, int64_t time, const double v[WIDTH])
{
	struct rows r = {.tier = tier, .n = 1, .width = WIDTH, .t_ns = &time, .values = v};

	live_log_sink(h)->ops->rows(live_log_sink(h), &r);
	if (m)
		model_push(m, time, v);
}

/* Steady with jitter, some gaps, some very long ones, some NaN, some constant. */
static void against_model(double hz, enum tier tier, size_t rows, uint64_t long_gap, uint64_t from_seed)
{
	int64_t period = llround(1e9 / hz), t;
	struct timeline *timeline;
	struct model m = {.base = zoom_base(hz)};
	struct live_log *h;
	size_t next_look = 1;

	seed = from_seed;
	t = (int64_t)random_below(UINT64_C(1) << 50);
	h = make(hz, tier, &timeline, t);
	for (size_t i = 0; i < rows; i++) {
		double v[WIDTH] = {(double)random_below(1000) / 7, random_below(3) ? (double)random_below(100) - 50.1 : (double)NAN,
				   i < rows / 2 ? (double)NAN : 1.0 / 3};

		t += random_below(50) ? period / 2 + (int64_t)random_below((uint64_t)period) : 1 + (int64_t)random_below(40) * period;
		if (long_gap && !random_below(rows / 4))
			t += (int64_t)random_below(long_gap);
		push(h, &m, tier, t, v);
		if (i + 1 == next_look) {
			live_log_look(h);
			compare_all(&m, timeline);
			next_look += next_look < 40 ? 1 : 1 + random_below(rows / 6);
		}
	}
	live_log_look(h);
	compare_all(&m, timeline);
	for (int zoom = ZOOM_MIN; zoom <= ZOOM_MAX; zoom++) {
		for (int64_t first = m.t[0] >> zoom; first <= m.t[m.n - 1] >> zoom; first += 192) {
			compare(&m, timeline, 0, zoom, first, 64);
			if (first - (m.t[0] >> zoom) > 3000)
				break;
		}
	}
	free(m.t);
	free(m.v);
	live_log_free(h);
}

static void fast_agrees_with_model(void **state)
{
	(void)state;
	against_model(1000, TIER_FAST, 12000, 0, 1);
}

static void gaps_agree_with_model(void **state)
{
	(void)state;
	against_model(1000, TIER_FAST, 3000, UINT64_C(1) << 33, 2);
	against_model(1000, TIER_FAST, 300, UINT64_C(1) << 46, 3);
	against_model(100, TIER_MEDIUM, 4000, UINT64_C(1) << 40, 4);
}

static void extreme_rates_agree_with_model(void **state)
{
	(void)state;
	against_model(10000, TIER_FAST, 6000, 0, 5);
	against_model(0.1, TIER_SLOW, 4000, 0, 6);
	against_model(3, TIER_SLOW, 4000, UINT64_C(1) << 44, 7);
}

/* Several rows in one base column (jitter makes at most two, but the fold does not rely on it). */
static void crowded_columns_agree_with_model(void **state)
{
	struct timeline *timeline;
	struct model m = {.base = zoom_base(1000)};
	struct live_log *h = make(1000, TIER_FAST, &timeline, 1);

	(void)state;
	seed = 8;
	for (int64_t t = 1; m.n < 5000; t += 1 + (int64_t)random_below(100000)) {
		double v[WIDTH] = {(double)random_below(1000) / 4, (double)random_below(9), -0.0}; /* sums are exact */

		push(h, &m, TIER_FAST, t, v);
	}
	live_log_look(h);
	compare_all(&m, timeline);
	free(m.t);
	free(m.v);
	live_log_free(h);
}

/* One 1 ms sample within an hour is visible at every zoom. */
static void spike_is_seen_at_every_zoom(void **state)
{
	struct timeline *timeline;
	struct live_log *h = make(100, TIER_MEDIUM, &timeline, 1);
	int64_t at = 0;

	(void)state;
	for (int64_t i = 1; i <= 360000; i++) {
		double v[WIDTH] = {i == 100000 ? 99 : 1, 0, 0};

		if (v[0] > 1)
			at = i * 10 * MS;
		push(h, NULL, TIER_MEDIUM, i * 10 * MS, v);
	}
	for (int zoom = ZOOM_MIN; zoom <= ZOOM_MAX; zoom++) {
		struct bin b;

		live_log_look(h)->ops->columns(timeline, 0, zoom, at >> zoom, 1, &b);
		assert_true(b.n > 0);
		assert_true(b.max == 99);
	}
	live_log_free(h);
}

static void one_row(struct live_log *h, enum tier tier, int64_t t_ns, double v)
{
	live_log_sink(h)->ops->rows(live_log_sink(h), &(struct rows) {.tier = tier, .n = 1, .width = 1, .t_ns = &t_ns, .values = &v});
}

/* Rows of a tier that come after the cell was drawn, and after it was sealed because the others went on, are drawn, too. */
static void late_rows_are_drawn(void **state)
{
	static struct channel channels[2] = {{.name = "fast", .tier = TIER_FAST}, {.name = "slow", .tier = TIER_SLOW}};
	struct session about = {.channels = channels, .n_channels = 2, .hz = {1000, 100, 10}, .width = {1, 0, 1}};
	struct live_log *h = live_log_new();
	struct timeline *t = log_view_timeline(h->view);
	struct bin b[2];
	struct err e;

	(void)state;
	assert_int_equal(live_log_sink(h)->ops->begin(live_log_sink(h), &about, &e), 0);
	one_row(h, TIER_SLOW, 2 * MS, 1);
	for (int i = 1; i < 2000; i++) {
		one_row(h, TIER_FAST, i * MS, i);
		if (i % 100 == 0)
			for (int zoom = 23; zoom < 30; zoom++)
				live_log_look(h)->ops->columns(t, 1, zoom, 0, 2, b);
	}
	for (int i = 1; i < 4; i++) {
		one_row(h, TIER_SLOW, 100 * i * MS, 10 * i);
		live_log_look(h);
		for (int zoom = 26; zoom < 30; zoom++) {
			uint64_t n = 0;
			double sum = 0;

			t->ops->columns(t, 1, zoom, 0, 2, b);
			for (int k = 0; k <= i; k++) /* their times: 2, 100, 200, 300 ms */
				n += (k == 0 ? 2 * MS : 100 * k * MS) < INT64_C(2) << zoom;
			for (int k = 0; k <= i; k++)
				sum += (k == 0 ? 2 * MS : 100 * k * MS) < INT64_C(2) << zoom ? k == 0 ? 1 : 10 * k : 0;
			assert_int_equal(b[0].n + b[1].n, n);
			assert_true((b[0].n ? b[0].sum : 0) + (b[1].n ? b[1].sum : 0) == sum);
		}
	}
	live_log_free(h);
}

static void nothing_is_nothing(void **state)
{
	struct timeline *t;
	struct live_log *h = make(1000, TIER_FAST, &t, 1);
	int64_t first = 0, last = 0, at;
	struct bin b[3] = {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}};

	(void)state;
	assert_false(live_log_look(h)->ops->extent(t, &first, &last));
	live_log_look(h)->ops->columns(t, 0, 30, -1, 3, b);
	assert_true(!b[0].n && !b[1].n && !b[2].n);
	assert_true(isnan(live_log_look(h)->ops->value(t, 0, 1000, &at)));
	assert_true(isnan(live_log_look(h)->ops->value(t, 0, 1000, NULL)));
	assert_int_equal(live_log_look(h)->ops->step(t, TIER_FAST, 77, 3), 77);
	assert_int_equal(live_log_look(h)->ops->step(t, TIER_SLOW, 77, 3), 77);
	assert_true(isnan(live_log_look(h)->ops->value(t, WIDTH, 1000, &at)));
	live_log_look(h)->ops->columns(t, WIDTH, 30, 0, 3, b);
	assert_true(!b[0].n && !b[1].n && !b[2].n);
	assert_string_equal(live_log_look(h)->ops->session(t)->channels[2].name, "c2");
	live_log_free(h);
	
}

static void edges_of_time(void **state)
{
	struct timeline *t;
	struct live_log *h = make(1000, TIER_FAST, &t, 1);
	double v[WIDTH] = {5, 6, 7};
	struct bin b[4];
	int64_t first, last;

	(void)state;
	push(h, NULL, TIER_FAST, 1, v);
	live_log_look(h)->ops->columns(t, 0, ZOOM_MAX, 0, 1, b);
	assert_true(b[0].n == 1 && b[0].sum == 5);
	live_log_look(h)->ops->columns(t, 0, ZOOM_MIN, INT64_MAX - 1, 4, b);
	for (int i = 0; i < 4; i++)
		assert_int_equal(b[i].n, 0);
	live_log_look(h)->ops->columns(t, 0, ZOOM_MIN, INT64_MIN, 4, b);
	for (int i = 0; i < 4; i++)
		assert_int_equal(b[i].n, 0);
	/* rows out of order are rejected */
	push(h, NULL, TIER_FAST, 1, v);
	push(h, NULL, TIER_FAST, -5, v);
	live_log_look(h)->ops->columns(t, 0, ZOOM_MAX, 0, 1, b);
	assert_int_equal(b[0].n, 1);
	assert_true(live_log_look(h)->ops->extent(t, &first, &last));
	assert_true(first == 1 && last == 1);
	assert_true(live_log_look(h)->ops->value(t, 0, INT64_MAX, &first) == 5 && first == 1);
	assert_true(isnan(live_log_look(h)->ops->value(t, 0, INT64_MIN, &first)));
	assert_int_equal(live_log_look(h)->ops->step(t, TIER_FAST, INT64_MAX, INT32_MIN), 1);
	assert_int_equal(live_log_look(h)->ops->step(t, TIER_FAST, INT64_MIN, INT32_MAX), 1);
	live_log_free(h);
}

static void values_and_steps(void **state)
{
	struct timeline *t;
	struct live_log *h = make(1000, TIER_FAST, &t, 1);
	int64_t at, start = 1000 * MS;
	const int rows = 100000;

	(void)state;
	for (int i = 0; i < rows; i++) {
		double v[WIDTH] = {i, 7, i == rows - 1 ? (double)NAN : 0};

		push(h, NULL, TIER_FAST, start + i * MS, v);
	}
	at = start + (rows - 1) * MS;
	assert_true(live_log_look(h)->ops->value(t, 0, at + 5, &at) == rows - 1);
	assert_int_equal(at, start + (rows - 1) * MS);
	assert_true(isnan(live_log_look(h)->ops->value(t, 2, at, NULL)));
	assert_true(isnan(live_log_look(h)->ops->value(t, 0, start - 1, NULL)));
	/* recent: one or two rows share the column */
	assert_true(fabs(live_log_look(h)->ops->value(t, 0, at - 99 * MS - 1, &at) - (rows - 101)) <= 1);
	assert_int_equal(at, start + (rows - 101) * MS);
	/* long ago: a mean, close, and not newer than requested */
	for (int i = 0; i < rows - 2000; i += 777) {
		int64_t when = start + i * MS + MS / 3;
		double v = live_log_look(h)->ops->value(t, 0, when, &at);

		assert_true(fabs(v - i) <= 140);
		assert_true(at <= when && at > when - 200 * MS);
		assert_true(live_log_look(h)->ops->value(t, 1, when, NULL) == 7);
	}
	for (int i = 1; i < 30000; i += 1000) {
		at = start + (rows - 1 - i) * MS;
		assert_int_equal(live_log_look(h)->ops->step(t, TIER_FAST, at, 1), at + MS);
		assert_int_equal(live_log_look(h)->ops->step(t, TIER_FAST, at, -1), at - MS);
		assert_int_equal(live_log_look(h)->ops->step(t, TIER_FAST, at + 1, -1), at);
		assert_int_equal(live_log_look(h)->ops->step(t, TIER_FAST, at - 1, 1), at);
		assert_int_equal(live_log_look(h)->ops->step(t, TIER_FAST, at, -1700), at - 1700 * MS);
	}
	assert_int_equal(live_log_look(h)->ops->step(t, TIER_FAST, start, -1), start);
	assert_int_equal(live_log_look(h)->ops->step(t, TIER_FAST, start, 3), start + 3 * MS);
	assert_int_equal(live_log_look(h)->ops->step(t, TIER_FAST, start, 2000000), start + (rows - 1) * MS);
	live_log_free(h);
}

/* A quarter of the rows is there, of the others bins. */
static void columns_are_left(void **state)
{
	struct timeline *t;
	struct model m = {.base = zoom_base(100)};
	int64_t start = 1000 * NS_PER_S, at, first = 0;
	struct span_stats stat;
	struct live_log *h;

	(void)state;
	rows_ns = 50 * NS_PER_S;
	h = make(100, TIER_MEDIUM, &t, start);
	rows_ns = DAYS_NS;
	seed = 12;
	for (int i = 0; i < 20000; i++) {
		double v[WIDTH] = {(double)random_below(1000) / 7, i == 5000 ? 99 : 1, random_below(3) ? (double)NAN : i};

		push(h, &m, TIER_MEDIUM, start + i * 10 * MS, v);
		if (i % 1777 == 0)
			live_log_look(h);
	}
	live_log_look(h);
	gone_ns = log_cell_ns(log_view_state(h->view)->now.rows_from);
	assert_true(gone_ns > start + 130 * NS_PER_S && gone_ns < start + 150 * NS_PER_S);
	compare_all(&m, t);
	for (int zoom = ZOOM_MIN; zoom <= ZOOM_MAX; zoom++) {
		struct bin b;

		t->ops->columns(t, 1, zoom, (start + 50 * NS_PER_S) >> zoom, 1, &b);
		assert_true(b.n > 0 && b.max == 99);
	}
	for (at = start; at < start + 200 * NS_PER_S; at += 77 * MS) {
		bool gone = at < gone_ns;
		int zoom = gone ? LEFT : m.base;
		struct bin b = model_column(&m, 0, zoom, at >> zoom);

		assert_int_equal(t->ops->finest(t, 0, at), zoom);
		if (gone)
			assert_true(t->ops->value(t, 0, at, &first) == b.sum / (double)b.n);
		assert_true(first <= at);
	}
	assert_int_equal(t->ops->step(t, TIER_MEDIUM, start + 5 * NS_PER_S, 7), start + 5 * NS_PER_S + 70 * MS);
	assert_int_equal(t->ops->step(t, TIER_MEDIUM, start + 5 * NS_PER_S, -1000), start);
	assert_int_equal(t->ops->step(t, TIER_MEDIUM, start + 160 * NS_PER_S, -10000), start + 60 * NS_PER_S);
	assert_int_equal(t->ops->step(t, TIER_MEDIUM, start + 160 * NS_PER_S, -100), start + 159 * NS_PER_S);
	/* The statistics of rows that are gone are left, of whole spans of 64 cells. */
	t->ops->stat(t, 1, start, start + 200 * NS_PER_S, &stat);
	assert_int_equal(stat.n, 20000);
	assert_true(stat.max == 99 && stat.sum == 19999 + 99);
	gone_ns = INT64_MIN;
	free(m.t);
	free(m.v);
	live_log_free(h);
}

/* In a gap, the newest row before it counts. */
static void value_reaches_back_over_a_hole(void **state)
{
	struct timeline *t;
	struct live_log *h = make(1000, TIER_FAST, &t, 1);
	double a[WIDTH] = {4, 4, 4}, b[WIDTH] = {9, 9, 9};
	int64_t at;

	(void)state;
	push(h, NULL, TIER_FAST, 10 * MS, a);
	push(h, NULL, TIER_FAST, 500 * MS, b);
	assert_true(live_log_look(h)->ops->value(t, 1, 400 * MS, &at) == 4);
	assert_int_equal(at, 10 * MS);
	for (int64_t i = 0; i < 40000; i++)
		push(h, NULL, TIER_FAST, 100000 * MS + i * MS, b);
	assert_true(live_log_look(h)->ops->value(t, 1, 90000 * MS, &at) == 9);
	assert_true(at <= 90000 * MS && at >= 500 * MS);
	live_log_free(h);
}

/* A late reading leaves its row without a value: what is shown is the one before, for three periods. */
static void newest_reaches_back_over_late_readings(void **state)
{
	struct timeline *t;
	struct live_log *h = make(1000, TIER_FAST, &t, 1);
	const double there[WIDTH] = {4, 4, 4}, late[WIDTH] = {NAN, NAN, 5};
	int64_t at;

	(void)state;
	push(h, NULL, TIER_FAST, 10 * MS, there);
	for (int i = 1; i <= 5; i++) {
		push(h, NULL, TIER_FAST, (10 + i) * MS, late);
		live_log_look(h);
		double v = timeline_newest(t, 1, (10 + i) * MS, &at);
		assert_true(i <= 3 ? v == 4 : isnan(v));
		assert_int_equal(at, (10 + i) * MS);
		assert_true(timeline_newest(t, 2, (10 + i) * MS, &at) == 5);
	}
	assert_true(isnan(timeline_newest(t, 1, 9 * MS, &at)));
	live_log_free(h);
}

static void marks_and_gaps(void **state)
{
	struct timeline *t;
	struct live_log *h = make(1000, TIER_FAST, &t, 1);
	struct sink *s = live_log_sink(h);
	struct mark m = {0}, marks[8];
	struct gap g = {.tier = TIER_FAST, .missed = 3}, gaps[8];

	(void)state;
	for (uint64_t i = 1; i <= 70000; i++) {
		m.id = i;
		m.t_ns = (int64_t)i * 10;
		s->ops->mark(s, &m);
	}
	m.id = 999999; /* late: older than the newest */
	m.t_ns = 699995;
	s->ops->mark(s, &m);
	assert_int_equal(live_log_look(h)->ops->marks(t, 699980, 700000, marks, 8), 3);
	assert_int_equal(marks[0].id, 69998);
	assert_int_equal(marks[1].id, 69999);
	assert_int_equal(marks[2].id, 999999);
	assert_int_equal(live_log_look(h)->ops->marks(t, 699980, 700001, marks, 2), 2);
	assert_int_equal(live_log_look(h)->ops->marks(t, 0, 10, marks, 8), 0);
	assert_int_equal(live_log_look(h)->ops->marks(t, 500000, 500001, marks, 8), 1);
	for (int64_t i = 0; i < 20000; i++) {
		g.from_ns = i * 100 + 10;
		g.to_ns = i * 100 + 60;
		s->ops->gap(s, &g);
	}
	assert_int_equal(live_log_look(h)->ops->gaps(t, 1999900, INT64_MAX, gaps, 8), 1);
	assert_int_equal(gaps[0].from_ns, 1999910);
	assert_int_equal(live_log_look(h)->ops->gaps(t, 1999930, 1999931, gaps, 8), 1);
	assert_int_equal(live_log_look(h)->ops->gaps(t, 1999961, 1999990, gaps, 8), 0);
	assert_int_equal(live_log_look(h)->ops->gaps(t, 1999800, 2000000, gaps, 8), 2);
	assert_true(gaps[0].from_ns < gaps[1].from_ns);
	assert_int_equal(live_log_look(h)->ops->gaps(t, 1999000, 2000000, gaps, 8), 8);
	live_log_free(h);
}

static atomic_bool pushed_all;

static void *pusher(void *arg)
{
	struct live_log *h = arg;

	for (int64_t i = 1; i <= 20000; i++) {
		double v[WIDTH] = {1, 1, 1};

		push(h, NULL, TIER_FAST, i * MS, v);
	}
	atomic_store(&pushed_all, true);
	return NULL;
}

static void looked_at_while_it_grows(void **state)
{
	struct timeline *t;
	struct live_log *h = make(1000, TIER_FAST, &t, 1);
	pthread_t thread;
	uint64_t before = 0;
	struct bin b;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, pusher, h), 0);
	while (!atomic_load(&pushed_all)) {
		live_log_look(h)->ops->columns(t, 1, ZOOM_MAX, 0, 1, &b);
		assert_true(b.n >= before);
		assert_true(!b.n || b.sum == (double)b.n);
		before = b.n;
	}
	pthread_join(thread, NULL);
	live_log_look(h)->ops->columns(t, 1, ZOOM_MAX, 0, 1, &b);
	assert_int_equal(b.n, 20000);
	live_log_free(h);
}

static int64_t above(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns)
{
	struct span_stats s;

	t->ops->stat(t, channel, from_ns, to_ns, &s);
	return (int64_t)s.above_ns;
}

/* A state is asked about every millisecond, by what was read last. */
static void times_above_0(void **state)
{
	enum { READINGS = 400 };
	static int64_t at[READINGS + 1];
	static double read[READINGS + 1];
	static unsigned char is[READINGS * 700];
	int64_t start = 1000000 * MS, t = start;
	struct timeline *timeline;

	(void)state;
	kind_of_all = CHANNEL_THROTTLE;
	struct live_log *h = make(10, TIER_SLOW, &timeline, start);
	kind_of_all = CHANNEL_OTHER;
	seed = 11;
	for (size_t i = 0; i < READINGS; i++) {
		double v[WIDTH] = {0, (double)random_below(3) - 1, (double)NAN};

		at[i] = t;
		read[i] = v[1];
		push(h, NULL, TIER_SLOW, t, v);
		t += (random_below(20) ? 80 + (int64_t)random_below(40) : 501 + (int64_t)random_below(150)) * MS;
	}
	for (size_t i = 0; i + 1 < READINGS; i++) /* 500 ms without a reading are a gap */
		for (int64_t ms = (at[i] - start) / MS; ms < (at[i + 1] - start) / MS; ms++)
			is[ms] = read[i] > 0 && at[i + 1] - at[i] <= 500 * MS;
	for (int i = 0; i < 2000; i++) {
		int64_t last = (at[READINGS - 1] - start) / MS, from = (int64_t)random_below((uint64_t)last), want = 0;
		int64_t to = from + (int64_t)random_below(random_below(2) ? 300 : (uint64_t)last);

		for (int64_t ms = from; ms < to && ms < last; ms++)
			want += is[ms];
		assert_int_equal(above(live_log_look(h), 1, start + from * MS, start + to * MS), want * MS);
		assert_int_equal(above(live_log_look(h), 0, start + from * MS, start + to * MS), 0);
		assert_int_equal(above(live_log_look(h), 2, start + from * MS, start + to * MS), 0);
	}
	live_log_free(h);
}

/* Throttled from 60 to 63.6 s, and for 20 ms of each 40 from 100 to 102 s, which was minutes ago. */
static void states_of_rows_that_are_gone(void **state)
{
	int64_t start = 1000 * NS_PER_S;
	struct state_event e;
	struct timeline *t;
	struct live_log *h;

	(void)state;
	rows_ns = 20 * NS_PER_S;
	kind_of_all = CHANNEL_THROTTLE;
	h = make(100, TIER_MEDIUM, &t, start);
	kind_of_all = CHANNEL_OTHER;
	rows_ns = DAYS_NS;
	for (int i = 0; i < 60000; i++) {
		double v[WIDTH] = {i >= 6000 && i < 6360, i >= 10000 && i < 10200 && i / 2 % 2 == 0, 0};

		push(h, NULL, TIER_MEDIUM, start + i * 10 * MS, v);
		if (i < 10000 || i >= 10200)
			continue;
		/* While it flickers it is one event, which goes on. */
		live_log_look(h);
		assert_int_equal(t->ops->states(t, 1, start + i * 10 * MS, INT64_MAX, &e, 1), i / 2 % 2 == 0 || i % 2 == 0);
		assert_int_equal(t->ops->states(t, 1, start, INT64_MAX, &e, 1), 1);
		assert_int_equal(e.count, (i - 10000) / 4 + 1);
		assert_int_equal(e.above_ns, ((i - 10000) / 4 * 2 + (i % 4 < 2 ? i % 4 : 2)) * 10 * MS);
	}
	live_log_look(h);
	assert_true(t->ops->finest(t, 0, start + 102 * NS_PER_S) > zoom_base(100));
	assert_int_equal(above(t, 0, start + 50 * NS_PER_S, start + 70 * NS_PER_S), 3600 * MS);
	assert_int_equal(above(t, 0, start + 61 * NS_PER_S, start + 62 * NS_PER_S), NS_PER_S);
	assert_int_equal(above(t, 0, start + 63 * NS_PER_S, start + 600 * NS_PER_S), 600 * MS);
	assert_int_equal(above(t, 1, start + 99 * NS_PER_S, start + 103 * NS_PER_S), NS_PER_S);
	assert_true(llabs(above(t, 1, start + 100 * NS_PER_S, start + 101 * NS_PER_S) - 500 * MS) <= 10 * MS);
	assert_int_equal(above(t, 2, start, start + 600 * NS_PER_S), 0);
	live_log_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fast_agrees_with_model),
		cmocka_unit_test(gaps_agree_with_model),
		cmocka_unit_test(extreme_rates_agree_with_model),
		cmocka_unit_test(crowded_columns_agree_with_model),
		cmocka_unit_test(spike_is_seen_at_every_zoom),
		cmocka_unit_test(columns_are_left),
		cmocka_unit_test(late_rows_are_drawn),
		cmocka_unit_test(nothing_is_nothing),
		cmocka_unit_test(edges_of_time),
		cmocka_unit_test(values_and_steps),
		cmocka_unit_test(value_reaches_back_over_a_hole),
		cmocka_unit_test(newest_reaches_back_over_late_readings),
		cmocka_unit_test(marks_and_gaps),
		cmocka_unit_test(times_above_0),
		cmocka_unit_test(states_of_rows_that_are_gone),
		cmocka_unit_test(looked_at_while_it_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
