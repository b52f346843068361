/* Logs that are written, truncated, damaged, joined and forged: intact data is read bit for bit, only
 * damaged data is missing, and arbitrary bytes do no harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log-bytes.h"
#include "random.h"
#include "trace/format.h"
#include "trace/log-read.h"

#define SESSION	  UINT32_C(0x12345678)
#define START	  INT64_C(1234567890123)
#define CHUNKS	  65536
#define MUTATIONS 300

/* --- a recording in memory --- */

struct series {
	size_t n, width;
	int64_t *t;
	double *v; /* row by row */
};

struct recording {
	struct session about;
	struct series rows[TIERS];
	struct channel channels[16];
	struct log_bytes bytes;
	size_t chunk[CHUNKS], n_chunks;
};

/* Finds the chunks. */
static void find_chunks(struct recording *r)
{
	struct log_head h;

	for (size_t at = 0; at < r->bytes.n && r->n_chunks < CHUNKS; at += LOG_HEAD + h.stored) {
		assert_true(log_head_get(r->bytes.p + at, &h));
		r->chunk[r->n_chunks++] = at;
	}
}

static void describe(struct recording *r, const double hz[TIERS], const size_t width[TIERS])
{
	static const struct fact facts[] = {{"board", "test"}, {"mode", "15W"}};
	size_t n = 0;

	r->about = (struct session) {.channels = r->channels, .facts = facts, .n_facts = 2};
	r->about.start = (struct clock_anchor) {START, 5000, 6000};
	for (enum tier t = 0; t < TIERS; t++) {
		r->about.hz[t] = hz[t];
		r->about.width[t] = r->rows[t].width = width[t];
		for (size_t c = 0; c < width[t]; c++, n++) {
			r->channels[n] = (struct channel) {.tier = t, .column = (uint16_t)c, .kind = CHANNEL_GPU_UTIL,
							   .unit = UNIT_PERCENT, .lo = (double)NAN};
			snprintf(r->channels[n].name, sizeof(r->channels[n].name), "c%zu.%zu", (size_t)t, c);
		}
	}
	r->about.n_channels = n;
}

static void make_rows(struct recording *r, enum tier tier, int64_t start, double s)
{
	struct series *to = &r->rows[tier];
	double hz = r->about.hz[tier];
	int64_t period = hz > 0 ? (int64_t)((double)NS_PER_S / hz) : 1, t = start + period / 2;

	to->n = (size_t)(s * hz);
	to->t = calloc(to->n + 1, sizeof(*to->t));
	to->v = calloc((to->n + 1) * to->width, sizeof(*to->v));
	assert_true(to->t && to->v);
	for (size_t i = 0; i < to->n; i++, t += period) {
		if (random_below(500) == 0)
			t += 3 * period;
		to->t[i] = t + (int64_t)random_below((uint64_t)period / 4);
		for (size_t c = 0; c < to->width; c++) {
			double v = (double)random_below(1000) / (c % 2 ? 7 : 10);

			to->v[i * to->width + c] = random_below(50) == 0 ? (double)NAN : v;
		}
	}
}

/* In pieces, as an engine pushes them. */
static void write_rows(struct recording *r, struct sink *to, int64_t piece)
{
	size_t at[TIERS] = {0};
	bool more = true;

	for (int64_t until = START; more; until += piece) {
		more = false;
		for (enum tier t = 0; t < TIERS; t++) {
			struct series *s = &r->rows[t];
			size_t n = at[t];

			while (n < s->n && s->t[n] < until)
				n++;
			if (n > at[t])
				to->ops->rows(to, &(struct rows) {t, n - at[t], s->width, s->t + at[t],
								  s->v + at[t] * s->width});
			at[t] = n;
			more |= n < s->n;
		}
	}
}

static void write_log(struct recording *r, const struct log_out_options *o, bool end)
{
	struct log_made made;
	struct sink *to;

	log_make(&made, &r->about, o);
	log_out_options(made.out)->reason = LOG_LIMIT;
	to = made.sink;
	for (unsigned i = 0; i < 3; i++) {
		struct mark m = {.id = 3 - i, .t_ns = START + (3 - i) * NS_PER_S};
		struct gap g = {TIER_FAST, GAP_LATE, START + i * NS_PER_S, START + i * NS_PER_S + 9000, 3};
		struct change c = {.t_ns = START + i, .what = "mode", .from = "15W", .to = "30W"};

		snprintf(m.label, sizeof(m.label), "m%u", 3 - i);
		to->ops->mark(to, &m);
		to->ops->gap(to, &g);
		to->ops->change(to, &c);
	}
	write_rows(r, to, 33 * NS_PER_MS);
	log_made(&made, end, &r->bytes);
	find_chunks(r);
}

static struct recording *record(double s, bool end, uint32_t session)
{
	static const double hz[TIERS] = {1000, 100, 10};
	static const size_t width[TIERS] = {3, 2, 2};
	struct recording *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	describe(r, hz, width);
	for (enum tier t = 0; t < TIERS; t++)
		make_rows(r, t, START, s);
	write_log(r, &(struct log_out_options) {.session = session, .uuid = {1}}, end);
	return r;
}

static void drop(struct recording *r)
{
	for (int t = 0; t < TIERS; t++) {
		free(r->rows[t].t);
		free(r->rows[t].v);
	}
	log_bytes_free(&r->bytes);
	free(r);
}

static struct trace *open_bytes(const uint8_t *p, size_t n)
{
	int fd = memfd_create("log", MFD_CLOEXEC);
	struct err e = {.code = ERR_NONE};

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n), n);
	return trace_open_logs(&fd, 1, "test", &e);
}

static struct log_head head_of(const struct recording *r, size_t i)
{
	struct log_head h;

	assert_true(log_head_get(r->bytes.p + r->chunk[i], &h));
	return h;
}

/* --- expected results --- */

static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof(a));
}

static size_t channel_of(const struct recording *r, enum tier tier, size_t column)
{
	for (size_t i = 0; i < r->about.n_channels; i++)
		if (r->channels[i].tier == tier && r->channels[i].column == column)
			return i;
	fail();
	return 0;
}

/* All rows of each tier from `from` up to `to`, except cells lost .. lost + n - 1. */
static void check_rows(struct trace *l, const struct recording *r, const size_t to[TIERS], int64_t lost,
		       int64_t n_lost)
{
	for (enum tier t = 0; t < TIERS; t++) {
		const struct series *s = &r->rows[t];
		size_t n = (size_t)trace_rows(l, t), at = 0;
		int64_t *times = calloc(n + 1, sizeof(*times));
		double *v = calloc(n + 1, sizeof(*v));

		assert_true(times && v);
		trace_row_times(l, t, 0, n, times);
		for (size_t i = 1; i < n; i++)
			if (times[i] < times[i - 1])
				fail();
		for (size_t c = 0; c < s->width; c++) {
			at = 0;
			trace_row_values(l, channel_of(r, t, c), 0, n, v);
			for (size_t i = 0; i < to[t]; i++) {
				if (log_cell(s->t[i]) >= lost && log_cell(s->t[i]) < lost + n_lost)
					continue;
				for (; at < n && times[at] < s->t[i]; at++)
					if (!isnan(v[at]) && log_cell(times[at]) != lost)
						fail();
				if (at >= n || times[at] != s->t[i] || !same(v[at], s->v[i * s->width + c]))
					fail();
				at++;
			}
		}
		free(times);
		free(v);
	}
}

static void all_rows(const struct recording *r, size_t to[TIERS])
{
	for (int t = 0; t < TIERS; t++)
		to[t] = r->rows[t].n;
}

/* The first row from t on, of lo .. hi - 1; else hi. */
static size_t first_of(const struct series *s, size_t lo, size_t hi, int64_t t)
{
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->t[mid] < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static size_t first_at(const struct series *s, int64_t t)
{
	return first_of(s, 0, s->n, t);
}

/* By definition: halves, down to the base or a cell. lo .. hi - 1: its rows. */
static struct bin bin_of_rows(const struct series *s, size_t c, int zoom, int64_t at, int base, size_t lo, size_t hi)
{
	struct bin b = {0, 0, 0, 0}, later;
	size_t mid;

	if (lo == hi)
		return b;
	if (zoom <= base || zoom <= ZOOM_MIN) {
		for (; lo < hi; lo++)
			bin_add(&b, s->v[lo * s->width + c]);
		return b;
	}
	mid = first_of(s, lo, hi, (int64_t)((uint64_t)(2 * at + 1) << (zoom - 1)));
	b = bin_of_rows(s, c, zoom - 1, 2 * at, base, lo, mid);
	later = bin_of_rows(s, c, zoom - 1, 2 * at + 1, base, mid, hi);
	bin_merge(&b, &later);
	return b;
}

static struct bin bin_by_rows(const struct series *s, size_t c, int zoom, int64_t at, int base)
{
	size_t lo = first_at(s, (int64_t)((uint64_t)at << zoom));

	return bin_of_rows(s, c, zoom, at, base, lo, first_of(s, lo, s->n, (int64_t)((uint64_t)(at + 1) << zoom)));
}

/* At every zoom, some 64 columns of a channel of each tier. */
static void check_columns(struct trace *l, const struct recording *r)
{
	for (enum tier t = 0; t < TIERS; t++) {
		const struct series *s = &r->rows[t];
		int base = s->n ? zoom_base(r->about.hz[t]) : ZOOM_MIN;

		for (int zoom = ZOOM_MIN; s->n && zoom <= ZOOM_MAX; zoom++) {
			int64_t from = (s->t[0] >> zoom) - 1, to = (s->t[s->n - 1] >> zoom) + 1;
			int64_t first = from + (int64_t)random_below((uint64_t)(to - from + 1));
			size_t n = to - first + 1 < 64 ? (size_t)(to - first + 1) : 64;
			int up = base > zoom ? base - zoom : 0;
			struct bin b[64];

			size_t c = random_below(s->width);

			log_columns(trace_timeline(l), channel_of(r, t, c), zoom, first, n, b);
			for (size_t i = 0; i < n; i++) {
				struct bin want = bin_by_rows(s, c, zoom + up, (first + (int64_t)i) >> up, base < 27 ? base : 27);

				assert_int_equal(b[i].n, want.n);
				if (want.n)
					assert_true(b[i].min == want.min && b[i].max == want.max && same(b[i].sum, want.sum));
			}
		}
	}
}

/* Same where the rows from `whole` to `n` came in chunks of 7 + at % 11 rows, or up to the end of a cell. */
static struct bin bin_by_chunks(const struct recording *r, size_t whole, size_t n, size_t c, int zoom, int64_t at)
{
	const struct series *s = &r->rows[0];
	struct bin b = {0, 0, 0, 0}, part;

	if (zoom > LOG_CELL_ZOOM) {
		b = bin_by_chunks(r, whole, n, c, zoom - 1, 2 * at);
		part = bin_by_chunks(r, whole, n, c, zoom - 1, 2 * at + 1);
		bin_merge(&b, &part);
		return b;
	}
	b = bin_by_rows(&(struct series) {whole, s->width, s->t, s->v}, c, zoom, at, zoom_base(1000));
	for (size_t i = whole, k; i < n; i += k) {
		for (k = 1; k < 7 + i % 11 && i + k < n && log_cell(s->t[i + k]) == log_cell(s->t[i]); k++)
			;
		part = bin_by_rows(&(struct series) {k, s->width, s->t + i, s->v + i * s->width}, c, zoom, at, zoom_base(1000));
		bin_merge(&b, &part);
	}
	return b;
}

static void near(double a, double b, double scale)
{
	assert_true(fabs(a - b) <= 1e-9 * scale + 1e-12);
}

static void check_stat(struct trace *l, const struct recording *r, int64_t from, int64_t to)
{
	for (enum tier t = 0; t < TIERS; t++) {
		const struct series *s = &r->rows[t];
		int64_t cover = r->about.hz[t] > 0 ? llround(5e9 / r->about.hz[t]) : 0, before_ns = 0;
		size_t c = s->width ? random_below(s->width) : 0;
		struct span_stats got, want = {.n = 0};
		double size = 0, before = 0;

		if (s->width == 0)
			continue;
		trace_stat(l, channel_of(r, t, c), from, to, &got);
		for (size_t i = first_at(s, from); i < first_at(s, to); i++) {
			double v = s->v[i * s->width + c];

			if (isnan(v))
				continue;
			if (want.n++ == 0) {
				want.min = want.max = want.first = v;
				want.first_ns = s->t[i];
			} else {
				want.rise += v > before ? v - before : 0;
				if (s->t[i] - before_ns <= cover) {
					want.known_ns += (uint64_t)(s->t[i] - before_ns);
					want.above_ns += before > 0 ? (uint64_t)(s->t[i] - before_ns) : 0;
					want.integral += (v + before) / 2 * (double)(s->t[i] - before_ns) / 1e9;
				}
			}
			want.min = fmin(want.min, v);
			want.max = fmax(want.max, v);
			want.sum += v;
			want.last_ns = before_ns = s->t[i];
			want.last = before = v;
			size += fabs(v);
		}
		assert_int_equal(got.n, want.n);
		if (want.n == 0)
			continue;
		assert_true(got.min == want.min && got.max == want.max && got.first == want.first);
		assert_true(got.last == want.last && got.first_ns == want.first_ns && got.last_ns == want.last_ns);
		assert_true(got.known_ns == want.known_ns && got.above_ns == want.above_ns);
		near(got.sum, want.sum, size);
		near(got.integral, want.integral, want.integral);
		near(got.rise, want.rise, want.rise);
	}
}

static void check_stats(struct trace *l, const struct recording *r)
{
	int64_t first, last;

	assert_true(trace_extent(l, &first, &last));
	check_stat(l, r, INT64_MIN / 2, INT64_MAX / 2);
	for (int i = 0; i < 20; i++) {
		int64_t from = first + (int64_t)random_below((uint64_t)(last - first));

		check_stat(l, r, from, from + (int64_t)random_below((uint64_t)(last - from) + 2));
	}
}

static void no_damage(struct trace *l)
{
	struct log_damage d;
	char text[512];

	trace_damage(l, &d);
	assert_int_equal(d.first, LOG_FAULT_NONE);
	assert_int_equal(d.chunks + d.bytes + d.unknown, 0);
	assert_false(trace_damage_text(l, text, sizeof(text)));
}

static void check_all(struct trace *l, const struct recording *r)
{
	size_t to[TIERS];

	assert_non_null(l);
	all_rows(r, to);
	for (enum tier t = 0; t < TIERS; t++)
		assert_int_equal(trace_rows(l, t), to[t]);
	check_rows(l, r, to, 0, 0);
	check_columns(l, r);
	check_stats(l, r);
}

static void check_events(struct trace *l)
{
	size_t n;
	const struct mark *m = trace_marks(l, &n);
	const struct gap *g;
	const struct change *c;

	assert_int_equal(n, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(m[i].id == i + 1 && m[i].t_ns == START + (int64_t)(i + 1) * NS_PER_S && m[i].label[0] == 'm');
	g = trace_gaps(l, &n);
	assert_int_equal(n, 3);
	assert_true(g[1].from_ns == START + NS_PER_S && g[1].to_ns == g[1].from_ns + 9000 && g[1].missed == 3);
	c = trace_changes(l, &n);
	assert_int_equal(n, 3);
	assert_true(c[2].t_ns == START + 2 && strcmp(c[2].to, "30W") == 0);
}

static void whole(void **state)
{
	struct recording *r = record(40, true, SESSION);
	struct trace *l = open_bytes(r->bytes.p, r->bytes.n);
	const struct session *s;
	struct log_tail tail;

	(void)state;
	check_all(l, r);
	for (int i = 0; i < 8; i++)
		check_columns(l, r);
	check_events(l);
	s = trace_session(l);
	assert_int_equal(s->n_channels, 7);
	assert_string_equal(s->channels[3].name, "c1.0");
	assert_string_equal(fact_get(s->facts, s->n_facts, "mode"), "15W");
	assert_true(s->start.mono_ns == START && s->start.boot_ns == 6000 && s->hz[1] == 100);
	for (int i = 0; i < 1000; i++) {
		enum tier t = (enum tier)random_below(TIERS);
		int64_t at = START - 99 + (int64_t)random_below(41 * (uint64_t)NS_PER_S);

		assert_int_equal(trace_row_from(l, t, at), first_at(&r->rows[t], at));
	}
	assert_int_equal(trace_row_from(l, TIER_FAST, INT64_MIN), 0);
	assert_int_equal(trace_row_from(l, TIER_FAST, INT64_MAX), r->rows[0].n);
	tail = l->tail;
	assert_true(tail.ended && tail.reason == LOG_LIMIT && tail.torn == 0);
	assert_string_equal(tail.next, "");
	no_damage(l);
	trace_close(l);
	drop(r);
}

/* Long enough for spans of all levels, at a low rate; no end. */
static void levels(void **state)
{
	static const double hz[TIERS] = {2, 0.5, 0};
	static const size_t width[TIERS] = {2, 1, 0};
	struct recording *r = calloc(1, sizeof(*r));
	struct trace *l;

	(void)state;
	assert_non_null(r);
	describe(r, hz, width);
	for (enum tier t = 0; t < TIERS; t++)
		make_rows(r, t, START, 80000);
	write_log(r, &(struct log_out_options) {.session = SESSION}, false);
	log_bytes_put(&r->bytes, "torn", 4);
	l = open_bytes(r->bytes.p, r->bytes.n);
	assert_non_null(l);
	/* data waiting in memory is not in the file */
	for (enum tier t = 0; t < TIERS; t++) {
		assert_true(r->rows[t].n - trace_rows(l, t) < 5);
		r->rows[t].n = (size_t)trace_rows(l, t);
	}
	check_all(l, r);
	check_events(l);
	no_damage(l);
	trace_close(l);
	drop(r);
}

/* Single late ticks are no gaps, and counted wherever a part begins and ends. */
static void late_ticks(void **state)
{
	static const double hz[TIERS] = {50, 10, 0};
	static const size_t width[TIERS] = {1, 1, 0};
	struct recording *r = calloc(1, sizeof(*r));
	struct log_made made;
	struct trace *l;
	uint8_t *late[TIERS] = {0};
	uint64_t all = 0;
	size_t n;

	(void)state;
	assert_non_null(r);
	describe(r, hz, width);
	log_make(&made, &r->about, &(struct log_out_options) {.session = SESSION});
	for (enum tier t = 0; t < 2; t++) {
		make_rows(r, t, START, 1200);
		late[t] = calloc(r->rows[t].n, 1);
		assert_non_null(late[t]);
	}
	/* In the order of time: each tier has pauses of its own. */
	for (size_t at[2] = {0}; at[0] < r->rows[0].n || at[1] < r->rows[1].n;) {
		const struct series *fast = &r->rows[0], *medium = &r->rows[1];
		enum tier t = at[1] == medium->n || (at[0] < fast->n && fast->t[at[0]] <= medium->t[at[1]]) ? 0 : 1;
		struct series *s = &r->rows[t];
		size_t k = at[t]++;

		late[t][k] = k > 0 && random_below(20) == 0 && s->t[k] - s->t[k - 1] < (t ? 4 : 1) * 90 * NS_PER_MS;
		if (late[t][k])
			made.sink->ops->gap(made.sink, &(struct gap) {t, GAP_LATE, s->t[k - 1], s->t[k], 1});
		all += late[t][k] && t == 0;
		made.sink->ops->rows(made.sink, &(struct rows) {t, 1, 1, &s->t[k], &s->v[k]});
	}
	log_made(&made, true, &r->bytes);
	l = open_bytes(r->bytes.p, r->bytes.n);
	assert_non_null(l);
	trace_gaps(l, &n);
	assert_int_equal(n, 0);
	for (int i = 0; i < 300; i++) {
		enum tier t = (enum tier)(i % 2);
		struct series *s = &r->rows[t];
		size_t from = i < 2 ? 0 : (size_t)random_below(s->n),
		       to = i < 2 ? s->n : from + (size_t)random_below(s->n - from + 1);
		struct late_ticks want = {0, 0}, got;
		struct gap gaps[100];

		for (size_t k = from; k < to; k++)
			if (late[t][k])
				late_join(&want, &(struct late_ticks) {1, s->t[k] - s->t[k - 1]});
		trace_late_ticks(l, t, from, to, &got);
		assert_int_equal(got.n, want.n);
		assert_int_equal(got.longest_ns, want.longest_ns);
		assert_true(i > 0 || got.n == all);
		to = to - from > 100 ? from + 100 : to;
		n = trace_late(l, t, from, to - from, gaps);
		for (size_t k = from, at = 0; k < to; k++)
			if (late[t][k])
				assert_true(at < n && gaps[at].from_ns == s->t[k - 1] &&
					    gaps[at++].to_ns == s->t[k]);
	}
	no_damage(l);
	trace_close(l);
	free(late[0]);
	free(late[1]);
	drop(r);
}

/* Groups begin with a META of a few bytes; the description is repeated in the second group and once a level 2 span. */
static void metas(void **state)
{
	static const double hz[TIERS] = {10, 0, 0};
	static const size_t width[TIERS] = {1, 0, 0};
	struct recording *r = calloc(1, sizeof(*r));
	struct trace *l;
	size_t full = 0, all = 0;

	(void)state;
	assert_non_null(r);
	describe(r, hz, width);
	make_rows(r, TIER_FAST, START, 1200);
	write_log(r, &(struct log_out_options) {.session = SESSION}, true);
	for (size_t i = 0; i < r->n_chunks; i++) {
		struct log_head h = head_of(r, i);

		full += h.kind == LOG_META && h.raw > 100;
		all += h.kind == LOG_META;
		assert_true(h.kind != LOG_META || h.raw > 100 || h.stored < 50);
	}
	assert_in_range(full, 2 + 2, 2 + 3);
	assert_in_range(all, 1200 / 8.6, 1200 / 8.6 + 4);
	/* Without the first two, what follows the third can be read. */
	for (size_t i = 0, seen = 0; seen < 2; i++) {
		seen += head_of(r, i).kind == LOG_META;
		r->bytes.p[r->chunk[i] + LOG_HEAD + 20] ^= head_of(r, i).kind == LOG_META;
	}
	l = open_bytes(r->bytes.p, r->bytes.n);
	assert_non_null(l);
	assert_int_equal(trace_session(l)->n_channels, 1);
	assert_int_equal(trace_rows(l, TIER_FAST), r->rows[0].n);
	trace_close(l);
	drop(r);
}

/* A log of another version is named as such. */
static void versions(void **state)
{
	struct recording *r = record(1, true, SESSION);
	struct log_head h = head_of(r, 0);
	char name[] = "/tmp/nvmtop-version-XXXXXX";
	int fd = mkstemp(name);
	struct err e;

	(void)state;
	h.version = 1;
	log_head_put(r->bytes.p, &h);
	r->bytes.p[5] = 1;
	assert_true(fd >= 0 && write(fd, r->bytes.p, r->bytes.n) == (ssize_t)r->bytes.n);
	unlink(name);
	assert_null(trace_open_logs(&fd, 1, "old.nvmt", &e));
	assert_string_equal(e.text, "old.nvmt was written by another version of nvmtop: its format has "
				    "version 1, this one reads 3");
	drop(r);
}

/* Bins of an open group, of a cell that came in several chunks: each of them is folded, then they are joined in their
 * order. */
static void parts(void **state)
{
	struct recording *r = record(12, false, SESSION);
	struct log_packer *k = log_packer_new();
	size_t to[TIERS], rows = r->rows[0].n;
	struct trace *l;

	(void)state;
	l = open_bytes(r->bytes.p, r->bytes.n);
	for (int t = 0; t < TIERS; t++)
		r->rows[t].n = (size_t)trace_rows(l, t);
	check_all(l, r);
	trace_close(l);
	memcpy(to, (size_t[]) {r->rows[0].n, r->rows[1].n, r->rows[2].n}, sizeof(to));
	for (size_t at = to[0], n; at < rows; at += n) {
		int64_t cell = log_cell(r->rows[0].t[at]);
		struct log_head h = {.kind = LOG_DATA, .session = SESSION, .generation = 1, .seq = r->n_chunks + at, .cell = cell};
		struct log_bytes raw = {.n = 0}, chunk = {.n = 0};
		struct series s = {0, 3, r->rows[0].t + at, r->rows[0].v + 3 * at};

		for (n = 1; n < 7 + at % 11 && at + n < rows && log_cell(r->rows[0].t[at + n]) == cell; n++)
			;
		log_data_put(&raw, &(struct rows) {TIER_FAST, n, 3, s.t, s.v}, (uint8_t[32]) {0}, 1);
		assert_int_equal(log_pack(k, &h, raw.p, raw.n, &chunk), 0);
		log_bytes_put(&r->bytes, chunk.p, chunk.n);
		log_bytes_free(&raw);
		log_bytes_free(&chunk);
	}
	l = open_bytes(r->bytes.p, r->bytes.n);
	assert_non_null(l);
	assert_int_equal(trace_rows(l, TIER_FAST), rows);
	for (int zoom = 19; zoom <= 34; zoom++)
		for (size_t c = 0; c < 3; c++)
			for (int64_t i = r->rows[0].t[0] >> zoom; i <= r->rows[0].t[rows - 1] >> zoom; i++) {
				struct bin want = bin_by_chunks(r, to[0], rows, c, zoom, i), b;

				log_columns(trace_timeline(l), channel_of(r, TIER_FAST, c), zoom, i, 1, &b);
				assert_int_equal(b.n, want.n);
				assert_true(b.n == 0 || (b.min == want.min && b.max == want.max && same(b.sum, want.sum)));
			}
	trace_close(l);
	log_packer_free(k);
	drop(r);
}

/* --- truncated and damaged --- */

static void rows_until(const struct recording *r, size_t chunks, size_t rows[TIERS])
{
	struct log_unpacker *u = log_unpacker_new();
	struct log_bytes raw = {.n = 0};

	assert_non_null(u);
	for (int t = 0; t < TIERS; t++)
		rows[t] = 0;
	for (size_t i = 0; i < chunks; i++) {
		struct log_head h = head_of(r, i);
		struct log_section s;
		struct log_in in;

		if (h.kind != LOG_DATA)
			continue;
		assert_int_equal(log_unpack(u, &h, r->bytes.p + r->chunk[i] + LOG_HEAD, &raw), LOG_OK);
		in = (struct log_in) {raw.p, raw.p + raw.n, false};
		while (log_section_next(&in, &s, true) > 0)
			rows[s.tier] += s.n;
	}
	log_bytes_free(&raw);
	log_unpacker_free(u);
}

/* From n down: every byte of a head and of both ends of a payload, and some between these. */
static size_t torn_at(const struct recording *r, size_t n)
{
	size_t i = r->n_chunks - 1, from, to;

	while (r->chunk[i] > n)
		i--;
	from = r->chunk[i] + LOG_HEAD + 8;
	to = r->chunk[i] + LOG_HEAD + head_of(r, i).stored;
	return n <= from || n + 8 >= to ? n : n - (size_t)random_below(n - from < 60 ? n - from : 60);
}

/* Within each of the last chunks, and at some bytes before. */
static void torn(void **state)
{
	struct recording *r = record(12, true, SESSION);
	size_t chunks = r->n_chunks, rows[TIERS];

	(void)state;
	rows_until(r, chunks, rows);
	for (size_t n = r->bytes.n; n-- > r->chunk[r->n_chunks - 12] || n > r->chunk[30];) {
		struct trace *l;
		struct log_tail tail;

		if (n < r->chunk[r->n_chunks - 12])
			n -= random_below(6000);
		else
			n = torn_at(r, n);
		if (n < r->chunk[chunks - 1] + LOG_HEAD + head_of(r, chunks - 1).stored) {
			while (chunks > 0 && n < r->chunk[chunks - 1] + LOG_HEAD + head_of(r, chunks - 1).stored)
				chunks--;
			rows_until(r, chunks, rows);
		}
		l = open_bytes(r->bytes.p, n);
		assert_non_null(l);
		for (enum tier t = 0; t < TIERS; t++)
			assert_int_equal(trace_rows(l, t), rows[t]);
		if (n % 50 == 0)
			check_rows(l, r, rows, 0, 0);
		no_damage(l);
		tail = l->tail;
		assert_false(tail.ended);
		assert_int_equal(tail.torn, n - (r->chunk[chunks - 1] + LOG_HEAD + head_of(r, chunks - 1).stored));
		trace_close(l);
	}
	drop(r);
}

/* The bins of a lost cell are empty, those of the others whole; a stored bin has its rows. */
static void check_columns_without(struct trace *l, const struct recording *r, int64_t lost)
{
	for (int zoom = 23; zoom <= 29; zoom++) {
		int64_t first = (log_cell_ns(lost) >> zoom) - 20;
		int shift = zoom < LOG_CELL_ZOOM ? LOG_CELL_ZOOM - zoom : 0;
		struct bin b[64];

		log_columns(trace_timeline(l), channel_of(r, TIER_FAST, 1), zoom, first, 64, b);
		for (int64_t i = 0; i < 64; i++) {
			struct bin want = bin_by_rows(&r->rows[0], 1, zoom, first + i, zoom_base(1000));

			if (zoom <= LOG_CELL_ZOOM && (first + i) >> shift == lost)
				assert_int_equal(b[i].n, 0);
			else if (zoom <= LOG_CELL_ZOOM || b[i].n == want.n)
				assert_true(b[i].n == want.n && (b[i].n == 0 || (b[i].min == want.min && b[i].max == want.max &&
										same(b[i].sum, want.sum))));
			else
				assert_true(b[i].n < want.n && log_cell_ns(lost) >> zoom == first + i);
		}
	}
}

static void check_flipped(const struct recording *r, size_t chunk, struct trace *l, bool in_head)
{
	struct log_head h = head_of(r, chunk);
	struct log_damage d;
	struct log_tail tail;
	size_t to[TIERS];
	char text[512];

	all_rows(r, to);
	assert_non_null(l);
	check_rows(l, r, to, h.kind == LOG_DATA ? h.cell : 0, h.kind == LOG_DATA ? 1 : 0);
	if (h.kind != LOG_DATA) {
		check_columns(l, r);
		check_stats(l, r);
	}
	if (h.kind == LOG_DATA)
		check_columns_without(l, r, h.cell);
	trace_damage(l, &d);
	tail = l->tail;
	if (h.kind == LOG_END) {
		assert_false(tail.ended);
	} else {
		assert_true(tail.ended);
		assert_true(d.chunks <= 1);
	}
	if (h.kind == LOG_DATA) {
		assert_int_equal(d.chunks, 1);
		/* with a lost head only what precedes it is known */
		assert_true(llabs((d.t_ns >> LOG_CELL_ZOOM) - h.cell) <= in_head);
		assert_true(d.seq == h.seq || (in_head && d.seq == UINT64_MAX));
		assert_true(trace_damage_text(l, text, sizeof(text)));
	}
	if (h.kind != LOG_MARK && h.kind != LOG_GAP && h.kind != LOG_STATE)
		check_events(l);
}

/* Only that chunk is lost; damage outside rows costs no rows. */
static void flipped(void **state)
{
	struct recording *r = record(12, true, SESSION);

	(void)state;
	for (size_t chunk = 0; chunk < r->n_chunks; chunk++) {
		bool in_head = chunk % 2;
		struct log_head h = head_of(r, chunk);
		size_t at = r->chunk[chunk] + (in_head ? random_below(LOG_HEAD) : LOG_HEAD + random_below(h.stored));
		uint8_t bit = (uint8_t)(1U << random_below(8));
		struct trace *l;

		r->bytes.p[at] ^= bit;
		l = open_bytes(r->bytes.p, r->bytes.n);
		r->bytes.p[at] ^= bit;
		check_flipped(r, chunk, l, in_head);
		trace_close(l);
	}
	drop(r);
}

static void insert(struct log_bytes *out, const struct recording *r, size_t at, const void *p, size_t n)
{
	out->n = 0;
	log_bytes_put(out, r->bytes.p, at);
	log_bytes_put(out, p, n);
	log_bytes_put(out, r->bytes.p + at, r->bytes.n - at);
}

/* Leading text, another recording after it, foreign chunks within it, missing bytes. */
static void strange(void **state)
{
	struct recording *r = record(20, true, SESSION), *other = record(12, true, SESSION + 1);
	struct log_bytes b = {.n = 0};
	struct trace *l;
	struct log_damage d;
	size_t to[TIERS];

	(void)state;
	all_rows(r, to);
	insert(&b, r, 0, "Last login: today\r\n\xAB\x4E", 22);
	l = open_bytes(b.p, b.n);
	check_all(l, r);
	check_events(l);
	no_damage(l);
	trace_close(l);

	insert(&b, r, r->bytes.n, other->bytes.p, other->bytes.n);
	l = open_bytes(b.p, b.n);
	check_all(l, r);
	trace_close(l);

	for (size_t i = 1; i < r->n_chunks; i += 7) {
		insert(&b, r, r->chunk[i], other->bytes.p, other->chunk[5]);
		l = open_bytes(b.p, b.n);
		check_all(l, r);
		trace_damage(l, &d);
		assert_int_equal(d.chunks, 0);
		trace_close(l);
	}
	/* a whole chunk of rows is missing */
	for (size_t i = 2; i < r->n_chunks; i += 5) {
		struct log_head h = head_of(r, i);

		if (h.kind != LOG_DATA)
			continue;
		b.n = 0;
		log_bytes_put(&b, r->bytes.p, r->chunk[i]);
		log_bytes_put(&b, r->bytes.p + r->chunk[i + 1], r->bytes.n - r->chunk[i + 1]);
		l = open_bytes(b.p, b.n);
		assert_non_null(l);
		check_rows(l, r, to, h.cell, 1);
		trace_close(l);
	}
	log_bytes_free(&b);
	drop(r);
	drop(other);
}

/* Chunks of later versions. */
static void unknown(void **state)
{
	struct recording *r = record(5, false, SESSION);
	struct log_head h = {.kind = 77, .session = SESSION, .generation = 1, .seq = 100000};
	struct log_packer *k = log_packer_new();
	struct log_bytes b = {.n = 0}, chunk = {.n = 0};
	struct trace *l;
	struct log_damage d;
	size_t to[TIERS], i = 3;

	(void)state;
	rows_until(r, r->n_chunks, to);
	assert_int_equal(log_pack(k, &h, (const uint8_t *)"hello", 5, &chunk), 0);
	insert(&b, r, r->bytes.n, chunk.p, chunk.n);
	l = open_bytes(b.p, b.n);
	check_rows(l, r, to, 0, 0);
	trace_damage(l, &d);
	assert_int_equal(d.unknown, 1);
	trace_close(l);

	h.flags = LOG_CRITICAL;
	log_head_put(chunk.p, &h);
	insert(&b, r, r->bytes.n, chunk.p, chunk.n);
	assert_null(open_bytes(b.p, b.n));

	while (head_of(r, i).kind != LOG_DATA)
		i++;
	h = head_of(r, i);
	h.codec = 9;
	log_head_put(r->bytes.p + r->chunk[i], &h);
	l = open_bytes(r->bytes.p, r->bytes.n);
	assert_non_null(l);
	check_rows(l, r, to, h.cell, 1);
	trace_damage(l, &d);
	assert_true(d.chunks == 1 && d.first == LOG_FAULT_CODEC && d.seq == h.seq);
	trace_close(l);
	log_bytes_free(&b);
	log_bytes_free(&chunk);
	log_packer_free(k);
	drop(r);
}

/* Rows of the wrong cell, out of order, or older than the rows before. */
static void disorder(void **state)
{
	struct recording *r = record(5, false, SESSION);
	struct log_packer *k = log_packer_new();
	size_t to[TIERS];

	(void)state;
	rows_until(r, r->n_chunks, to);
	for (int i = 0; i < 4; i++) {
		int64_t last = r->rows[0].t[to[0] - 1], cell = log_cell(last) + 3;
		int64_t from = (int64_t)((uint64_t)cell << LOG_CELL_ZOOM), t[3] = {from + 5, from + 6, from + 7};
		double v[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
		struct log_head h = {.kind = LOG_DATA, .session = SESSION, .generation = 1, .seq = r->n_chunks, .cell = cell};
		struct log_bytes raw = {.n = 0}, b = {.n = 0}, chunk = {.n = 0};
		struct trace *l;
		struct log_damage d;

		if (i == 0)
			t[1] = from + 5;
		if (i == 1)
			t[2] = from + (INT64_C(1) << LOG_CELL_ZOOM);
		if (i == 2)
			h.cell = cell - 1;
		if (i == 3) {
			h.cell = log_cell(last) - 2;
			for (int x = 0; x < 3; x++)
				t[x] -= INT64_C(5) << LOG_CELL_ZOOM;
		}
		log_data_put(&raw, &(struct rows) {TIER_FAST, 3, 3, t, v}, (uint8_t[3]) {0}, 1);
		assert_int_equal(log_pack(k, &h, raw.p, raw.n, &chunk), 0);
		insert(&b, r, r->bytes.n, chunk.p, chunk.n);
		l = open_bytes(b.p, b.n);
		assert_non_null(l);
		check_rows(l, r, to, h.cell, i == 3 ? 0 : 1);
		trace_damage(l, &d);
		assert_int_equal(d.chunks, 1);
		assert_int_equal(d.first, i == 3 ? LOG_FAULT_ORDER : LOG_FAULT_CONTENT);
		trace_close(l);
		log_bytes_free(&raw);
		log_bytes_free(&b);
		log_bytes_free(&chunk);
	}
	log_packer_free(k);
	drop(r);
}

/* Channels that appear during the recording: their earlier values are missing. */
static void generations(void **state)
{
	static const size_t wider[TIERS] = {3, 2, 3};
	struct recording *a = record(12, false, SESSION), *b = calloc(1, sizeof(*b));
	struct trace *l;
	size_t to[TIERS], column;
	double v[1];

	(void)state;
	assert_non_null(b);
	rows_until(a, a->n_chunks, to);
	describe(b, a->about.hz, wider);
	for (enum tier t = 0; t < TIERS; t++)
		make_rows(b, t, START + 20 * NS_PER_S, 12);
	b->about.start = a->about.start;
	write_log(b, &(struct log_out_options) {.session = SESSION, .seq = a->n_chunks}, true);
	for (size_t i = 0; i < b->n_chunks; i++) {
		struct log_head h = head_of(b, i);

		h.generation = 2;
		log_head_put(b->bytes.p + b->chunk[i], &h);
	}
	log_bytes_put(&a->bytes, b->bytes.p, b->bytes.n);
	l = open_bytes(a->bytes.p, a->bytes.n);
	assert_non_null(l);
	assert_int_equal(trace_session(l)->n_channels, 8);
	column = 7;
	assert_string_equal(trace_session(l)->channels[column].name, "c2.2");
	assert_int_equal(trace_session(l)->channels[column].column, 2);
	assert_int_equal(trace_rows(l, TIER_SLOW), to[2] + b->rows[2].n);
	trace_row_values(l, column, 0, 1, v);
	assert_true(isnan(v[0]));
	trace_row_values(l, column, to[2], 1, v);
	assert_true(same(v[0], b->rows[2].v[2]));
	no_damage(l);
	trace_close(l);
	drop(a);
	drop(b);
}

/* --- the chain of INDEX chunks --- */

/* Slow rows from start on, for s seconds: an INDEX each 9 minutes. */
static struct recording *slow(int64_t start, double s)
{
	static const double hz[TIERS] = {2, 0.5, 0};
	static const size_t width[TIERS] = {2, 1, 0};
	struct recording *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	describe(r, hz, width);
	r->about.start.mono_ns = start;
	for (enum tier t = 0; t < TIERS; t++)
		make_rows(r, t, start, s);
	return r;
}

/* Any INDEX is damaged, or lost: nothing else is. */
static void broken_chain(void **state)
{
	struct recording *r = slow(START, 4000);
	struct log_bytes b = {.n = 0};
	size_t n_index = 0;

	(void)state;
	write_log(r, &(struct log_out_options) {.session = SESSION}, true);
	for (size_t i = 0; i < r->n_chunks; i++) {
		struct log_head h = head_of(r, i);

		if (h.kind != LOG_INDEX)
			continue;
		n_index++;
		for (int how = 0; how < 3; how++) {
			size_t end = r->chunk[i] + LOG_HEAD + h.stored;
			struct trace *l;
			struct log_damage d;

			b.n = 0;
			log_bytes_put(&b, r->bytes.p, r->bytes.n);
			if (how == 0)
				b.p[r->chunk[i] + LOG_HEAD + random_below(h.stored)] ^= 1;
			else if (how == 1)
				b.p[r->chunk[i] + random_below(LOG_HEAD)] ^= 1;
			else
				memmove(b.p + r->chunk[i], b.p + end, (b.n -= LOG_HEAD + h.stored) - r->chunk[i]);
			l = open_bytes(b.p, b.n);
			check_all(l, r);
			check_events(l);
			trace_damage(l, &d);
			assert_true(d.chunks <= 1 && d.rows == 0);
			trace_close(l);
		}
	}
	assert_int_equal(n_index, 8);
	log_bytes_free(&b);
	drop(r);
}

/* The rows of r before `cut` or from there on. They remain r's. */
static struct recording *part_of(const struct recording *r, int64_t cut, bool after)
{
	struct recording *part = calloc(1, sizeof(*part));
	double hz[TIERS];
	size_t width[TIERS];

	assert_non_null(part);
	memcpy(hz, r->about.hz, sizeof(hz));
	memcpy(width, r->about.width, sizeof(width));
	describe(part, hz, width);
	part->about.start.mono_ns = after ? cut : START;
	for (enum tier t = 0; t < TIERS; t++) {
		const struct series *s = &r->rows[t];
		size_t n = first_at(s, cut);

		part->rows[t] = (struct series) {after ? s->n - n : n, s->width, s->t + (after ? n : 0), s->v + (after ? n * s->width : 0)};
	}
	return part;
}

/* All rows of the tier in b, and no others, follow `first` others. */
static void rows_after(struct trace *l, const struct recording *b, enum tier t, size_t first)
{
	const struct series *s = &b->rows[t];
	int64_t *times = calloc(s->n + 1, sizeof(*times));
	double *v = calloc(s->n + 1, sizeof(*v));

	assert_true(times && v);
	assert_int_equal(trace_rows(l, t), first + s->n);
	trace_row_times(l, t, first, s->n, times);
	assert_memory_equal(times, s->t, s->n * sizeof(*times));
	for (size_t c = 0; c < s->width; c++) {
		trace_row_values(l, channel_of(b, t, c), first, s->n, v);
		for (size_t i = 0; i < s->n; i++)
			assert_true(same(v[i], s->v[i * s->width + c]));
	}
	free(times);
	free(v);
}

/* One behind the other: cut at the edge of a group, or of a cell; the first one whole, without END, or within a chunk. */
static void behind(void **state)
{
	(void)state;
	for (int how = 0; how < 6; how++) {
		struct recording *r = slow(START, 3000), *a, *b;
		int64_t cut = (log_cell(START + 1500 * NS_PER_S) | 63) + (how % 2 ? 20 : 1);
		struct log_bytes bytes = {.n = 0};
		size_t torn = how < 4 ? 0 : 70, to[TIERS];
		struct trace *l;
		struct log_damage d;

		a = part_of(r, log_cell_ns(cut), false);
		b = part_of(r, log_cell_ns(cut), true);
		write_log(a, &(struct log_out_options) {.session = SESSION}, how < 2);
		write_log(b, &(struct log_out_options) {.session = SESSION, .seq = a->n_chunks}, true);
		log_bytes_put(&bytes, a->bytes.p, a->bytes.n - torn);
		log_bytes_put(&bytes, b->bytes.p, b->bytes.n);
		l = open_bytes(bytes.p, bytes.n);
		assert_non_null(l);
		trace_damage(l, &d);
		if (how < 2) {
			check_all(l, r);
			no_damage(l);
		} else { /* without the rows that were not written yet, or are in the chunk that was cut */
			rows_until(a, a->n_chunks - (torn > 0), to);
			check_rows(l, a, to, 0, 0);
			for (enum tier t = 0; t < TIERS; t++)
				rows_after(l, b, t, to[t]);
		}
		trace_close(l);
		log_bytes_free(&bytes);
		log_bytes_free(&a->bytes);
		log_bytes_free(&b->bytes);
		free(a);
		free(b);
		drop(r);
	}
}

/* --- arbitrary bytes --- */

static void ask_all(struct trace *l)
{
	int64_t first, last, t[300];
	struct bin bins[20];
	struct span_stats stat;
	double v[300];

	trace_extent(l, &first, &last);
	for (size_t c = 0; c < trace_session(l)->n_channels && c < 8; c++) {
		enum tier tier = trace_session(l)->channels[c].tier;
		uint64_t rows = trace_rows(l, tier);

		for (uint64_t row = 0; row < rows; row += rows / 3 + 1) {
			size_t n = rows - row < 300 ? (size_t)(rows - row) : 300;

			trace_row_values(l, c, row, n, v);
			trace_row_times(l, tier, row, n, t);
			for (size_t i = 1; i < n; i++)
				assert_true(t[i] >= t[i - 1]);
			assert_true(trace_row_from(l, tier, t[0]) <= rows);
		}
		for (int zoom = ZOOM_MIN; zoom <= ZOOM_MAX; zoom += 2)
			log_columns(trace_timeline(l), c, zoom, last >> zoom, 20, bins);
		trace_stat(l, c, first, last, &stat);
	}
}

/* Claim slow rows in every INDEX. */
static bool claim_rows(struct log_packer *k, struct log_unpacker *u, uint8_t *p, struct log_bytes *raw,
		       struct log_bytes *chunk)
{
	uint8_t groups[100 * LOG_GROUP_SIZE];
	struct log_index_head index;
	struct log_head h;

	if (!log_head_get(p, &h) || h.kind != LOG_INDEX || log_unpack(u, &h, p + LOG_HEAD, raw) != LOG_OK)
		return false;
	log_index_head_get(&(struct log_in) {raw->p, raw->p + raw->n, false}, &index);
	assert_true(index.groups > 0 && index.groups <= 100);
	log_unshuffle(groups, raw->p + LOG_INDEX_HEAD, index.groups, LOG_GROUP_SIZE);
	for (size_t i = 0; i < index.groups; i++)
		put_u32(groups + i * LOG_GROUP_SIZE + 32 + 4 * TIER_SLOW, UINT32_MAX);
	log_shuffle(raw->p + LOG_INDEX_HEAD, groups, index.groups, LOG_GROUP_SIZE);
	chunk->n = 0;
	assert_int_equal(log_pack(k, &h, raw->p, raw->n, chunk), 0);
	assert_true(chunk->n <= LOG_HEAD + h.stored + 8);
	if (chunk->n > LOG_HEAD + h.stored)
		return false;
	memcpy(p, chunk->p, chunk->n);
	return true;
}

static void claims(void **state)
{
	struct recording *r = record(30, true, SESSION);
	struct log_packer *k = log_packer_new();
	struct log_unpacker *u = log_unpacker_new();
	struct log_bytes raw = {.n = 0}, chunk = {.n = 0};
	size_t changed = 0;
	struct trace *l;

	(void)state;
	assert_true(k && u);
	for (size_t i = 0; i < r->n_chunks; i++)
		changed += claim_rows(k, u, r->bytes.p + r->chunk[i], &raw, &chunk);
	assert_true(changed > 0);
	l = open_bytes(r->bytes.p, r->bytes.n);
	assert_non_null(l);
	assert_true(trace_rows(l, TIER_SLOW) <= 2 * r->rows[TIER_SLOW].n + 3000);
	trace_close(l);
	log_bytes_free(&raw);
	log_bytes_free(&chunk);
	log_packer_free(k);
	log_unpacker_free(u);
	drop(r);
}

/* A changed payload with a valid checksum, in place if it fits. */
static void repack(struct log_packer *k, struct log_unpacker *u, uint8_t *p, struct log_bytes *raw,
		   struct log_bytes *chunk)
{
	static const uint64_t odd[] = {0, 1, UINT64_MAX, INT64_MAX, UINT32_MAX, 1 << 16, 1 << 20, UINT64_C(1) << 40};
	struct log_head h, was;

	if (!log_head_get(p, &h) || log_unpack(u, &h, p + LOG_HEAD, raw) != LOG_OK || raw->n < 8)
		return;
	was = h;
	for (uint64_t n = 1 + random_below(4); n > 0; n--) {
		size_t at = random_below(2) ? random_below(raw->n - 7) : random_below(raw->n - 7 < 64 ? raw->n - 7 : 64);

		if (random_below(2))
			put_u64(raw->p + at, odd[random_below(sizeof(odd) / sizeof(*odd))]);
		else
			raw->p[at] = (uint8_t)random_next();
	}
	if (random_below(8) == 0)
		h.cell += (int64_t)random_below(200) - 100;
	chunk->n = 0;
	if (log_pack(k, &h, raw->p, raw->n, chunk) < 0 || chunk->n > LOG_HEAD + was.stored)
		return; /* does not fit */
	memcpy(p, chunk->p, chunk->n);
}

static void hostile(void **state)
{
	struct recording *r = record(18, true, SESSION);
	struct log_packer *k = log_packer_new();
	struct log_unpacker *u = log_unpacker_new();
	struct log_bytes raw = {.n = 0}, chunk = {.n = 0};
	uint8_t *p = malloc(r->bytes.n);
	size_t opened = 0;

	(void)state;
	assert_true(p && k && u);
	for (int i = 0; i < MUTATIONS; i++) {
		struct trace *l;

		memcpy(p, r->bytes.p, r->bytes.n);
		for (uint64_t n = 1 + random_below(3); n > 0; n--) {
			size_t c = random_below(2) ? random_below(r->n_chunks) : r->n_chunks - 1 - random_below(20);

			repack(k, u, p + r->chunk[c], &raw, &chunk);
		}
		l = open_bytes(p, r->bytes.n - (random_below(4) ? 0 : random_below(r->bytes.n / 2)));
		if (!l)
			continue;
		opened++;
		ask_all(l);
		trace_close(l);
	}
	assert_true(opened > MUTATIONS / 2);
	free(p);
	log_bytes_free(&raw);
	log_bytes_free(&chunk);
	log_packer_free(k);
	log_unpacker_free(u);
	drop(r);
}

/* Not a log at all. */
static void nothing(void **state)
{
	uint8_t p[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(p); i++)
		p[i] = (uint8_t)random_next();
	assert_null(open_bytes(p, 0));
	assert_null(open_bytes(p, sizeof(p)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),        cmocka_unit_test(levels),     cmocka_unit_test(parts),
		cmocka_unit_test(torn),         cmocka_unit_test(late_ticks), cmocka_unit_test(metas),
		cmocka_unit_test(versions),     cmocka_unit_test(flipped),    cmocka_unit_test(strange),
		cmocka_unit_test(unknown),      cmocka_unit_test(disorder),   cmocka_unit_test(generations),
		cmocka_unit_test(claims),       cmocka_unit_test(hostile),    cmocka_unit_test(nothing),
		cmocka_unit_test(broken_chain), cmocka_unit_test(behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
