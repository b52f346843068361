/* A trace returns what was written, bit for bit. */
#include "test-trace.h"
#include "stream-to.h"
#include "trace/layout.h"

static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof(a)) == 0;
}

static struct trace *record(const struct script *s, const char *name, const struct mark *marks,
			    size_t n_marks, const struct gap *gaps, size_t n_gaps)
{
	struct err e = {.code = ERR_NONE};
	struct log_out *w = log_out_new(in_folder(name), true, &e);
	struct log_out_stats stats;
	size_t at[TIERS] = {0};
	struct sink *sink;
	struct trace *t;

	assert_non_null(w);
	sink = stream_begin(w, &s->session, false);
	for (size_t i = 0; i < n_gaps; i++)
		sink->ops->gap(sink, &gaps[i]);
	for (size_t i = 0; i < n_marks; i++) {
		script_push_paced(s, sink, w, at, marks[i].t_ns);
		sink->ops->mark(sink, &marks[i]);
	}
	script_push_paced(s, sink, w, at, INT64_MAX);
	assert_int_equal(stream_end(w, sink, &e), 0);
	log_out_stats(w, &stats);
	for (int i = 0; i < TIERS; i++)
		assert_int_equal(stats.rows[i], s->n[i]);
	assert_int_equal(stats.lost_rows, 0);
	assert_int_equal(stats.marks, n_marks);
	assert_false(stats.failed);
	log_out_free(w);
	t = trace_open(in_folder(name), &e);
	if (!t || e.code != ERR_NONE)
		fail_msg("%s", e.text);
	return t;
}

static void check_values(const struct script *s, struct timeline *tl)
{
	for (size_t i = 0; i < s->session.n_channels; i++) {
		const struct channel *c = &s->channels[i];

		for (size_t r = 0; r < s->n[c->tier]; r++) {
			int64_t t_ns = s->t_ns[c->tier][r], at = 0;
			double want = s->values[c->tier][r * s->session.width[c->tier] + c->column];
			double got = tl->ops->value(tl, i, t_ns, &at);

			if (!same(want, got) || at != t_ns)
				fail_msg("%s row %zu: wrote %.17g at %lld, read %.17g at %lld", c->name, r,
					 want, (long long)t_ns, got, (long long)at);
		}
	}
}

static void check_session(const struct script *s, const struct session *got)
{
	assert_int_equal(got->n_channels, s->session.n_channels);
	assert_memory_equal(got->width, s->session.width, sizeof(got->width));
	assert_memory_equal(got->hz, s->session.hz, sizeof(got->hz));
	assert_memory_equal(&got->start, &s->session.start, sizeof(got->start));
	for (size_t i = 0; i < got->n_channels; i++) {
		const struct channel *a = &got->channels[i], *b = &s->channels[i];

		assert_string_equal(a->name, b->name);
		assert_string_equal(a->label, b->label);
		assert_string_equal(a->source, b->source);
		assert_string_equal(a->note, b->note);
		assert_string_equal(a->missing, b->missing);
		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->index, b->index);
		assert_int_equal(a->tier, b->tier);
		assert_int_equal(a->column, b->column);
		assert_int_equal(a->unit, b->unit);
		assert_int_equal(a->family, b->family);
		assert_true(same(a->lo, b->lo) && same(a->hi, b->hi));
		assert_true(same(a->warn, b->warn) && same(a->crit, b->crit));
		assert_int_equal(a->period_ns, b->period_ns);
	}
	assert_int_equal(got->n_facts, s->session.n_facts);
	for (size_t i = 0; i < got->n_facts; i++) {
		assert_string_equal(got->facts[i].key, s->facts[i].key);
		assert_string_equal(got->facts[i].value, s->facts[i].value);
	}
}

/* A column by definition, slowly. */
static struct bin column_by_definition(const struct script *s, const struct channel *c, int zoom,
				       int64_t column)
{
	struct bin b = {0}, half;
	const int64_t *t_ns = s->t_ns[c->tier];

	if (!s->n[c->tier] || t_ns[s->n[c->tier] - 1] >> zoom < column || t_ns[0] >> zoom > column)
		return b;
	if (zoom == zoom_base(s->session.hz[c->tier])) {
		size_t lo = 0, hi = s->n[c->tier];

		while (lo < hi) {
			size_t mid = (lo + hi) / 2;

			if (t_ns[mid] >> zoom < column)
				lo = mid + 1;
			else
				hi = mid;
		}
		for (; lo < s->n[c->tier] && t_ns[lo] >> zoom == column; lo++)
			bin_add(&b, s->values[c->tier][lo * s->session.width[c->tier] + c->column]);
		return b;
	}
	b = column_by_definition(s, c, zoom - 1, 2 * column);
	half = column_by_definition(s, c, zoom - 1, 2 * column + 1);
	bin_merge(&b, &half);
	return b;
}

static void check_columns(const struct script *s, struct timeline *tl, size_t channel)
{
	const struct channel *c = &s->channels[channel];
	int64_t from, to;

	assert_true(tl->ops->extent(tl, &from, &to));
	for (int zoom = ZOOM_MIN; zoom <= ZOOM_MAX; zoom++) {
		int base = zoom_base(s->session.hz[c->tier]);
		int64_t first = (from >> zoom) - 3, n = (to >> zoom) + 3 - first + 1;

		if (n > 4000) {
			first += n / 2;
			n = 4000;
		}
		struct bin *bins = calloc((size_t)n, sizeof(*bins));

		tl->ops->columns(tl, channel, zoom, first, (size_t)n, bins);
		for (int64_t i = 0; i < n; i++) {
			int up = zoom < base ? base - zoom : 0;
			struct bin want = column_by_definition(s, c, zoom + up, (first + i) >> up);

			if (bins[i].n != want.n ||
			    (want.n && (!same(bins[i].min, want.min) || !same(bins[i].max, want.max) ||
					fabs(bins[i].sum - want.sum) > 1e-12 * fabs(want.sum))))
				fail_msg("%s zoom %d column %lld: n %llu, not %llu; sum %.17g, not %.17g",
					 c->name, zoom, (long long)(first + i), (unsigned long long)bins[i].n,
					 (unsigned long long)want.n, bins[i].sum, want.sum);
		}
		free(bins);
	}
}

static void round_trip(uint64_t seed, size_t fast, unsigned cores, unsigned rails, unsigned zones, bool wild)
{
	struct script *s = script_new(seed, fast, cores, rails, zones, wild);
	int64_t last = s->t_ns[TIER_FAST][fast - 1];
	struct mark marks[] = {
		{1, START_NS, "before everything"},
		{2, s->t_ns[TIER_FAST][fast / 3], ""},
		{3, s->t_ns[TIER_FAST][fast / 2] + 1, "Phase \xc3\xa4 2"},
		{4, last + 5, "behind everything"},
	};
	struct gap gaps[] = {
		{TIER_MEDIUM, GAP_LATE, START_NS + 10, START_NS + 1000, 3},
		{TIER_FAST, GAP_LOST, START_NS + 500, START_NS + 600, 12345678901},
	};
	struct trace *t = record(s, "round.nvmt", marks, 4, gaps, 2);
	struct timeline *tl = trace_timeline(t);
	struct trace_summary sum, peek;
	struct mark got[8];
	struct gap holes[8];
	struct err e;

	check_session(s, tl->ops->session(tl));
	check_values(s, tl);
	for (size_t i = 0; i < s->session.n_channels; i++)
		check_columns(s, tl, i);
	assert_int_equal(tl->ops->marks(tl, 0, INT64_MAX, got, 8), 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(got[i].id, marks[i].id);
		assert_int_equal(got[i].t_ns, marks[i].t_ns);
		assert_string_equal(got[i].label, marks[i].label);
	}
	assert_int_equal(tl->ops->marks(tl, marks[1].t_ns, marks[2].t_ns, got, 8), 1);
	assert_int_equal(tl->ops->marks(tl, 0, INT64_MAX, got, 2), 2);
	assert_int_equal(tl->ops->gaps(tl, 0, INT64_MAX, holes, 8), 2);
	assert_int_equal(holes[1].missed, gaps[1].missed);
	assert_int_equal(holes[1].cause, GAP_LOST);
	assert_int_equal(holes[0].tier, TIER_MEDIUM);
	assert_int_equal(tl->ops->gaps(tl, START_NS + 700, START_NS + 800, holes, 8), 1);
	assert_int_equal(tl->ops->gaps(tl, START_NS + 2000, INT64_MAX, holes, 8), 0);
	trace_summary(t, &sum);
	assert_int_equal(trace_peek(trace_path(t), &peek, &e), 0);
	assert_int_equal(sum.real_ns, s->session.start.real_ns);
	assert_int_equal(peek.real_ns, sum.real_ns);
	assert_int_equal(peek.duration_ns, sum.duration_ns);
	assert_int_equal(peek.marks, 4);
	assert_int_equal(sum.marks, 4);
	assert_memory_equal(peek.rows, sum.rows, sizeof(sum.rows));
	assert_string_equal(sum.board, "agx_orin");
	assert_string_equal(peek.board, "agx_orin");
	trace_close(t);
	script_free(s);
}

static void test_plain(void **state)
{
	(void)state;
	round_trip(1, 1500, 12, 4, 11, false);
}

static void test_beyond_version_1(void **state)
{
	(void)state;
	round_trip(2, 1200, 20, 10, 18, false);
}

static void test_wild_values(void **state)
{
	(void)state;
	round_trip(3, 1200, 20, 10, 18, true);
}

static void test_nothing_but_a_core(void **state)
{
	(void)state;
	round_trip(4, 1, 1, 0, 0, false);
}

/* A thousand rows per call: blocks fill up. */
static void test_long(void **state)
{
	struct script *s = script_new(5, 30000, 20, 10, 3, true);
	struct trace *t = record(s, "long.nvmt", NULL, 0, NULL, 0);
	struct timeline *tl = trace_timeline(t);

	(void)state;
	check_values(s, tl);
	check_columns(s, tl, 1);
	trace_close(t);
	script_free(s);
}

static void test_no_rows(void **state)
{
	struct script *s = script_new(6, 0, 4, 2, 2, false);
	struct mark m = {1, START_NS + 7, "alone"};
	struct trace *t = record(s, "none.nvmt", &m, 1, NULL, 0);
	struct timeline *tl = trace_timeline(t);
	struct mark got;
	struct bin b[4];
	int64_t from, to;

	(void)state;
	assert_true(tl->ops->extent(tl, &from, &to));
	assert_true(from == m.t_ns && to == m.t_ns);
	assert_true(isnan(tl->ops->value(tl, 0, START_NS, NULL)));
	tl->ops->columns(tl, 0, 28, 0, 4, b);
	assert_int_equal(b[0].n + b[1].n + b[2].n + b[3].n, 0);
	assert_int_equal(tl->ops->marks(tl, 0, INT64_MAX, &got, 1), 1);
	assert_int_equal(got.t_ns, m.t_ns);
	assert_int_equal(tl->ops->step(tl, TIER_FAST, 17, 1), 17);
	trace_close(t);
	script_free(s);
}

static void test_step(void **state)
{
	struct script *s = script_new(7, 100, 1, 0, 0, false);
	struct trace *t = record(s, "step.nvmt", NULL, 0, NULL, 0);
	struct timeline *tl = trace_timeline(t);
	const int64_t *ns = s->t_ns[TIER_FAST];

	(void)state;
	assert_int_equal(tl->ops->step(tl, TIER_FAST, ns[10], 1), ns[11]);
	assert_int_equal(tl->ops->step(tl, TIER_FAST, ns[10], -1), ns[9]);
	assert_int_equal(tl->ops->step(tl, TIER_FAST, ns[10] + 1, 1), ns[11]);
	assert_int_equal(tl->ops->step(tl, TIER_FAST, ns[10] + 1, -1), ns[10]);
	assert_int_equal(tl->ops->step(tl, TIER_FAST, ns[10], 5), ns[15]);
	assert_int_equal(tl->ops->step(tl, TIER_FAST, ns[99], 1), ns[99]);
	assert_int_equal(tl->ops->step(tl, TIER_FAST, INT64_MIN, -3), ns[0]);
	assert_int_equal(tl->ops->step(tl, TIER_FAST, INT64_MAX, 3), ns[99]);
	assert_true(isnan(tl->ops->value(tl, 0, ns[0] - 1, NULL)));
	trace_close(t);
	script_free(s);
}

/* The same columns for any query: far outside, at the ends of int64. */
static void test_columns_anywhere(void **state)
{
	static const int64_t firsts[] = {INT64_MIN, INT64_MIN + 1, -5, 0, INT64_MAX - 2, INT64_MAX};
	struct script *s = script_new(8, 100, 1, 1, 1, false);
	struct trace *t = record(s, "any.nvmt", NULL, 0, NULL, 0);
	struct timeline *tl = trace_timeline(t);
	struct bin b[4];

	(void)state;
	for (int zoom = 0; zoom < 60; zoom++) {
		for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
			tl->ops->columns(tl, 0, zoom, firsts[i], 4, b);
			if (zoom < 40)
				assert_int_equal(b[0].n, 0);
		}
	}
	tl->ops->columns(tl, 9999, 20, 0, 4, b);
	assert_int_equal(b[0].n, 0);
	trace_close(t);
	script_free(s);
}

/* Nanoseconds survive as double seconds for 30 days. */
static void test_time_exact(void **state)
{
	struct script *s = script_new(9, 0, 1, 0, 0, false);
	uint8_t row[FAST_SIZE];
	int64_t day = 86400 * NS_PER_S, got;

	(void)state;
	for (int64_t i = 0; i < 3000000; i++) {
		int64_t after = i < 1000000 ? i : (int64_t)(script_random(s) % (uint64_t)(30 * day));

		if (i >= 2000000)
			after = 30 * day - (i - 2000000) * 7;
		row_time_put(row, after);
		assert_true(row_time(row, &got));
		if (got != after)
			fail_msg("%lld came back as %lld", (long long)after, (long long)got);
	}
	script_free(s);
}

static double current_of(const uint8_t *row)
{
	return cell_decode(row, FIELD_CURRENT, 0);
}

/* A negative current is derived from the power, over a board's whole range. */
static void test_current_exact(void **state)
{
	uint8_t row[MEDIUM_SIZE] = {0};

	(void)state;
	for (int mv = 1; mv <= 60000; mv += mv < 100 ? 1 : 97) {
		for (int ma = -60000; ma<0; ma += ma> - 100 ? 1 : 41) {
			put_u32(row + M_VOLTAGE, (uint32_t)mv);
			put_f32(row + M_POWER,
				(float)channel_round(CHANNEL_RAIL_POWER, (double)mv * ma / 1000));
			if (current_of(row) != ma)
				fail_msg("%d mV, %d mA came back as %g", mv, ma,
					 current_of(row));
		}
	}
	/* as another writer stores it */
	put_u32(row + M_CURRENT, (uint32_t)-5);
	assert_true(current_of(row) == -5);
}

/* Names are truncated between characters; slots follow the core number. */
static void test_header(void **state)
{
	struct script *s = script_new(10, 0, 0, 1, 1, false);
	struct layout l;
	uint8_t h[HEADER_SIZE];

	(void)state;
	for (size_t i = 0; i < s->session.n_channels; i++)
		if (s->channels[i].kind == CHANNEL_RAIL_POWER)
			strcpy(s->channels[i].label, "22 bytes in this name \xc3\xa4");
	script_channel(s, CHANNEL_CORE_UTIL, 4, TIER_FAST, UNIT_PERCENT, "cpu4");
	layout_make(&l, &s->session);
	header_encode(h, &s->session, &l);
	assert_int_equal(h[H_CORES], 5);
	assert_int_equal(h[H_RAILS], 1);
	assert_int_equal(h[H_ZONES], 1);
	assert_int_equal(h[H_EMC], 1);
	assert_string_equal((char *)h + H_RAIL_NAMES, "22 bytes in this name ");
	assert_memory_equal(h, "TMVN\1\0\0\0agx_orin", 17);
	assert_int_equal(get_u32(h + H_HZ), 1000);
	for (size_t i = 0; i < l.n[TIER_FAST]; i++)
		if (l.cells[TIER_FAST][i].field == FIELD_CORE)
			assert_int_equal(l.cells[TIER_FAST][i].slot, 4);
	for (size_t i = 0; i < s->session.n_channels; i++)
		if (s->channels[i].kind == CHANNEL_EMC_UTIL)
			strcpy(s->channels[i].missing, "only root may read it");
	layout_make(&l, &s->session);
	header_encode(h, &s->session, &l);
	assert_int_equal(h[H_EMC], 0);
	script_free(s);
}

/* The sync points used by version 1 readers. */
static void test_sync_points(void **state)
{
	struct script *s = script_new(11, 1000, 2, 1, 1, false);
	struct mark marks[] = {
		{1, START_NS + 1, ""},
		{2, s->t_ns[TIER_FAST][400], "this row is the first"},
		{3, s->t_ns[TIER_FAST][400] + 1, "the next is"},
		{4, s->t_ns[TIER_FAST][999] + 1, ""},
	};
	static const uint64_t rows[] = {0, 400, 401, 1000};
	struct trace *t = record(s, "sync.nvmt", marks, 4, NULL, 0);
	uint8_t sync[4 * SYNC_SIZE];
	int fd;

	(void)state;
	assert_int_equal(nvmt1_write(t, in_folder("sync.out"), true, NULL, NULL, NULL), 0);
	fd = open(in_folder("sync.out"), O_RDONLY);
	assert_int_equal(pread(fd, sync, sizeof(sync),
			       HEADER_SIZE + 1000 * FAST_SIZE + 100 * MEDIUM_SIZE + 10 * SLOW_SIZE),
			 sizeof(sync));
	close(fd);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(get_u64(sync + 16 * i), i + 1);
		assert_int_equal(get_u64(sync + 16 * i + 8), rows[i]);
	}
	trace_close(t);
	script_free(s);
}

/* The mark that ended a recording is in its picture; a distant one does not break that. */
static void test_mark_at_the_end(void **state)
{
	static const int64_t behind_ms[] = {-1, 400, 600};
	int64_t from, to, rows_to = 0;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct script *s = script_new(12, 100, 1, 0, 0, false);
		struct mark m = {1, rows_to + behind_ms[i] * NS_PER_MS, ""};
		struct trace *t = record(s, "end.nvmt", &m, behind_ms[i] >= 0, NULL, 0);
		struct timeline *tl = trace_timeline(t);

		assert_true(tl->ops->extent(tl, &from, &to));
		if (i == 0)
			rows_to = to;
		assert_int_equal(to, i > 0 ? m.t_ns : rows_to);
		trace_close(t);
		script_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),         cmocka_unit_test(test_beyond_version_1),
		cmocka_unit_test(test_wild_values),   cmocka_unit_test(test_nothing_but_a_core),
		cmocka_unit_test(test_long),          cmocka_unit_test(test_no_rows),
		cmocka_unit_test(test_step),          cmocka_unit_test(test_columns_anywhere),
		cmocka_unit_test(test_time_exact),
		cmocka_unit_test(test_current_exact), cmocka_unit_test(test_header),
		cmocka_unit_test(test_sync_points),   cmocka_unit_test(test_mark_at_the_end),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
