/* The log in memory: at each moment its chunks and its open rows are all rows so far, once; what is old goes by its
 * age or number; a look from another thread sees one state, and waits for little. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random.h"
#include "trace/log-builder.h"
#include "trace/log-decode.h"
#include "trace/log-memory.h"
#include "trace/log-out.h"
#include "trace/trace.h"

#define CHANNELS 6
#define START	 (100 * NS_PER_S)
#define HELD_MOST 512 /* of some 20 ns each: far below 50 us */

static struct channel channels[CHANNELS];
static struct session session = {.channels = channels, .n_channels = CHANNELS};

static void make_session(double fast, double medium, double slow)
{
	session.hz[TIER_FAST] = fast;
	session.hz[TIER_MEDIUM] = medium;
	session.hz[TIER_SLOW] = slow;
	session.start = (struct clock_anchor) {START, 0, 0};
	memset(session.width, 0, sizeof(session.width));
	for (size_t i = 0; i < CHANNELS; i++) {
		struct channel *c = &channels[i];

		*c = (struct channel) {.tier = (enum tier)(i % TIERS), .lo = NAN, .hi = NAN, .warn = NAN, .crit = NAN};
		c->column = (uint16_t)session.width[c->tier]++;
		snprintf(c->name, sizeof(c->name), "c%zu", i);
	}
}

/* Row i of a tier, with a little jitter. */
static int64_t time_of(enum tier t, uint64_t i)
{
	double period = (double)NS_PER_S / session.hz[t];

	return START + (int64_t)((double)i * period + (double)(i * 7919 % 97) / 97 * period / 3);
}

static double value_of(enum tier t, uint64_t i, size_t column)
{
	return (double)((i * 31 + column * 17 + t) % 1009);
}

static void push(struct log *l, enum tier t, uint64_t first, size_t n)
{
	int64_t t_ns[64];
	double values[64 * CHANNELS];
	size_t width = session.width[t];

	assert_true(n <= 64);
	for (size_t i = 0; i < n; i++) {
		t_ns[i] = time_of(t, first + i);
		for (size_t c = 0; c < width; c++)
			values[i * width + c] = value_of(t, first + i, c);
	}
	log_sink(l)->ops->rows(log_sink(l), &(struct rows) {t, n, width, t_ns, values});
}

static void push_some(struct log *l, uint64_t next[TIERS], int64_t until_ns)
{
	for (enum tier t = 0; t < TIERS; t++)
		while (time_of(t, next[t]) < until_ns) {
			size_t n = 0;

			while (n < 64 && time_of(t, next[t] + n) < until_ns)
				n++;
			push(l, t, next[t], n);
			next[t] += n;
		}
}

/* Pushes all rows before that time, of all tiers at once. */
static void push_until(struct log *l, uint64_t next[TIERS], int64_t until_ns)
{
	int64_t step_ns = session.hz[TIER_FAST] < 200 ? NS_PER_S / 2 : NS_PER_S / 10;

	for (int64_t t = time_of(TIER_FAST, next[TIER_FAST]); t < until_ns; t += step_ns)
		push_some(l, next, t);
	push_some(l, next, until_ns);
}

static struct log *make(const struct log_bound *bound)
{
	struct err e;
	struct log *l = log_new(bound, &e);

	assert_non_null(l);
	assert_int_equal(log_sink(l)->ops->begin(log_sink(l), &session, &e), 0);
	return l;
}

/* The rows of a chunk follow row *at of their tier. */
static void expect_chunk(const struct log_chunk *c, uint64_t at[TIERS])
{
	static struct log_unpacker *u;
	static struct log_bytes raw;
	struct log_head h;
	struct log_section s;
	struct log_in in;
	static int64_t t_ns[LOG_ROWS_MAX];
	static double values[LOG_ROWS_MAX];
	static struct log_array arrays[LOG_CHANNELS];

	if (!u)
		u = log_unpacker_new();
	assert_true(log_head_get(c->bytes, &h));
	assert_int_equal(h.kind, c->about.kind);
	assert_int_equal(log_unpack(u, &h, c->bytes + LOG_HEAD, &raw), LOG_OK);
	if (h.kind != LOG_DATA)
		return;
	in = (struct log_in) {raw.p, raw.p + raw.n, false};
	while (log_section_next(&in, &s, true) > 0) {
		enum tier t = (enum tier)s.tier;
		size_t width = session.width[t];

		assert_true(log_section_times(&s, h.cell, t_ns, NULL, NULL));
		assert_true(log_section_arrays(&s, NULL, s.columns, s.columns, s.arrays, arrays));
		assert_int_equal(s.n, c->about.rows[t]);
		for (size_t k = 0; k < width; k++) {
			log_array_get(&arrays[k], s.n, values);
			for (size_t i = 0; i < s.n; i++)
				assert_true(values[i] == value_of(t, at[t] + i, k));
		}
		for (size_t i = 0; i < s.n; i++, at[t]++)
			assert_int_equal(t_ns[i], time_of(t, at[t]));
	}
}

/* The look has all rows from its first one on up to `next`. */
static void expect_rows(const struct log_look *k, const uint64_t next[TIERS])
{
	const struct look_shelf *rows = &k->shelf[SHELF_ROWS];
	uint64_t at[TIERS];

	memcpy(at, k->now.gone, sizeof(at));
	for (size_t i = 0; i < rows->n; i++)
		expect_chunk(rows->p[i], at);
	for (enum tier t = 0; t < TIERS; t++) {
		for (unsigned i = 0; i < k->now.n_open[t]; i++) {
			const struct look_open *o = &k->now.open[t][i];

			for (size_t j = 0; j < o->n; j++, at[t]++) {
				assert_int_equal(o->rows->t_ns[j], time_of(t, at[t]));
				assert_true(o->rows->values[j * o->rows->width] == value_of(t, at[t], 0));
			}
		}
		assert_int_equal(at[t], next[t]);
		assert_int_equal(k->now.rows[t], next[t]);
	}
}

/* Statistics of groups. */
static size_t stats_in(const struct log_look *k)
{
	const struct look_shelf *fine = &k->shelf[SHELF_FINE];
	size_t n = 0;

	for (size_t i = 0; i < fine->n; i++)
		n += fine->p[i]->about.kind == LOG_STAT;
	return n;
}

static size_t chunks_in(const struct log_look *k)
{
	size_t n = 0;

	for (int s = 0; s < LOG_SHELVES; s++)
		n += k->shelf[s].n;
	return n;
}

static void each_row_is_there_once(void **state)
{
	struct log *l;
	struct log_look k = {.version = 0}, fresh;
	uint64_t next[TIERS] = {0};
	struct err e;

	(void)state;
	make_session(1000, 100, 10);
	l = make(&(struct log_bound) {.rows_ns = LOG_ROWS_NS});
	for (int64_t t = START; t < START + 30 * NS_PER_S; t += 1 + (int64_t)random_below(80 * NS_PER_MS)) {
		push_some(l, next, t);
		if (random_below(3))
			continue;
		assert_true(log_look(l, &k));
		expect_rows(&k, next);
	}
	fresh = (struct log_look) {.version = 0};
	assert_true(log_look(l, &fresh));
	expect_rows(&fresh, next);
	assert_int_equal(log_sink(l)->ops->end(log_sink(l), &e), 0);
	assert_true(log_look(l, &k));
	expect_rows(&k, next);
	assert_true(k.ended);
	assert_int_equal(stats_in(&k), log_span(log_cell(k.now.last_ns), 1) - log_span(log_cell(START), 1) + 1);
	log_look_free(&fresh);
	log_look_free(&k);
	log_free(l);
}

/* A stream that is joined has rows of before: they are not of this log, and not lost. */
static void rows_before_the_start_are_of_no_log(void **state)
{
	const int64_t t_ns[] = {START - NS_PER_MS, START + NS_PER_MS, START + 2 * NS_PER_MS};
	const double values[3 * CHANNELS] = {0};
	struct log_skipped skipped = {.chunks = 0};
	struct log_queue *q;
	struct log_chunk *c;
	bool ended = false;
	struct err e;
	struct log *l;

	(void)state;
	make_session(1000, 100, 10);
	l = make(&(struct log_bound) {.rows_ns = NS_PER_S, .bytes = LOG_ROWS_BYTES});
	q = log_queue_new(l, 1 << 20, false, &e);
	assert_non_null(q);
	for (enum tier t = 0; t < TIERS; t++)
		log_sink(l)->ops->rows(log_sink(l), &(struct rows) {t, 3, session.width[t], t_ns, values});
	assert_int_equal(log_known(l).rows[TIER_MEDIUM], 2);
	assert_int_equal(log_sink(l)->ops->end(log_sink(l), &e), 0);
	while ((c = log_queue_take(q, &skipped, &ended)) || !ended) {
		assert_true(!c || c->about.kind != LOG_GAP);
		log_chunk_free(c);
	}
	log_queue_free(q);
	log_free(l);
}

/* What an older look has stays. */
static void old_rows_go(void **state)
{
	struct log *l;
	struct log_look k = {.version = 0}, old = {.version = 0};
	uint64_t next[TIERS] = {0}, then[TIERS];
	int64_t t = START;

	(void)state;
	make_session(100, 10, 1);
	l = make(&(struct log_bound) {.rows_ns = 60 * NS_PER_S});
	for (; t < START + 50 * NS_PER_S; t += NS_PER_S)
		push_until(l, next, t);
	assert_true(log_look(l, &old));
	memcpy(then, next, sizeof(then));
	for (; t < START + 200 * NS_PER_S; t += NS_PER_S) {
		push_until(l, next, t);
		assert_true(log_look(l, &k));
		expect_rows(&k, next);
	}
	expect_rows(&old, then);
	assert_true(stats_in(&k) >= 200 / 9); /* their bins are there */
	assert_true(k.now.last_ns - log_cell_ns(k.now.rows_from) > 58 * NS_PER_S);
	assert_true(k.now.last_ns - log_cell_ns(k.now.rows_from + 64) < 62 * NS_PER_S);
	for (size_t i = 0; i < k.shelf[SHELF_ROWS].n; i++)
		assert_true(k.shelf[SHELF_ROWS].p[i]->about.cell >= k.now.rows_from);
	assert_int_equal(k.now.rows_ns, 0);
	log_look_free(&old);
	log_look_free(&k);
	log_free(l);
}

static void too_many_rows_go(void **state)
{
	struct log *l;
	struct log_look k = {.version = 0};
	uint64_t next[TIERS] = {0};

	(void)state;
	make_session(1000, 100, 10);
	l = make(&(struct log_bound) {.rows_ns = LOG_ROWS_NS, .bytes = 100000});
	push_until(l, next, START + 100 * NS_PER_S);
	assert_true(log_look(l, &k));
	expect_rows(&k, next);
	assert_true(log_known(l).bytes < 100000 + 200000);
	assert_true(k.now.rows_ns > 5 * NS_PER_S && k.now.rows_ns < 90 * NS_PER_S);
	log_look_free(&k);
	log_free(l);
}

/* A board with more noise than fits: the time shrinks, and it is said. */
static void two_hundred_channels_have_less_time(void **state)
{
	enum { FAST = 60, MEDIUM = 80, SLOW = 60, SECONDS = 660 };
	static struct channel many[FAST + MEDIUM + SLOW];
	static int64_t t_ns[100];
	static double values[100 * FAST];
	static const size_t widths[TIERS] = {FAST, MEDIUM, SLOW};
	static const int rows[TIERS] = {100, 10, 1}; /* in a tenth of a second */
	struct session about = {.channels = many, .n_channels = FAST + MEDIUM + SLOW, .hz = {1000, 100, 10}, .start = {START, 0, 0}};
	struct log_look k = {.version = 0};
	struct err e;
	struct log *l = log_new(&(struct log_bound) {.rows_ns = LOG_ROWS_NS, .bytes = LOG_ROWS_BYTES}, &e);
	size_t n = 0;

	(void)state;
	for (int t = 0; t < TIERS; t++)
		for (size_t c = 0; c < widths[t]; c++) {
			many[n] = (struct channel) {.tier = (enum tier)t, .column = (uint16_t)c};
			snprintf(many[n].name, sizeof(many[n].name), "c%zu", n);
			about.width[t] = c + 1;
			n++;
		}
	assert_non_null(l);
	assert_int_equal(log_sink(l)->ops->begin(log_sink(l), &about, &e), 0);
	for (int i = 0; i < SECONDS * 10; i++)
		for (enum tier t = 0; t < TIERS; t++) {
			for (int r = 0; r < rows[t]; r++) {
				t_ns[r] = START + i * NS_PER_S / 10 + r * (NS_PER_S / 10 / rows[t]);
				for (size_t c = 0; c < widths[t]; c++)
					values[(size_t)r * widths[t] + c] = (double)random_below(c % 4 ? 200 : 20);
			}
			log_sink(l)->ops->rows(log_sink(l), &(struct rows) {t, (size_t)rows[t], widths[t], t_ns, values});
		}
	assert_true(log_look(l, &k));
	assert_true(k.now.rows_ns > 60 * NS_PER_S && k.now.rows_ns < 590 * NS_PER_S);
	assert_true(log_known(l).bytes < LOG_ROWS_BYTES + (12 << 20));
	print_message("# %.0f s of rows in %.1f MB\n", (double)k.now.rows_ns / 1e9, (double)log_known(l).bytes / 1e6);
	assert_true(log_known(l).held_most <= HELD_MOST);
	log_look_free(&k);
	log_free(l);
}

/* A file of all of the log says how many ranges it lacks. */
static void expect_told(struct log *l, uint64_t lost)
{
	const char *path = "test-log-memory.nvmt";
	struct change changes[4];
	struct trace *t;
	struct err e;
	struct log_out *o = log_out_new(path, true, &e);
	uint64_t told = 0;
	size_t n;

	assert_non_null(o);
	assert_int_equal(log_out_begin(o, l, START, INT64_MAX, &e), 0);
	assert_int_equal(log_out_end(o, &e), 0);
	log_out_free(o);
	t = trace_open(path, &e);
	unlink(path);
	assert_non_null(t);
	n = trace_timeline(t)->ops->changes(trace_timeline(t), INT64_MIN, INT64_MAX, changes, 4);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(changes[i].what, "ranges.lost"))
			told += strtoull(changes[i].to, NULL, 10);
	assert_int_equal(told, lost);
	trace_close(t);
}

/* Ranges have bytes of their own: the oldest go, and it is said; rows stay. */
static void a_flood_of_ranges_stays_within_its_bytes(void **state)
{
	static const struct range_lane lane = {.pid = 1, .tid = 1, .process = "p", .thread = "t", .domain = ""};
	static struct range list[8000];
	struct log *l;
	struct log_look k = {.version = 0};
	uint64_t next[TIERS] = {0}, kept = 0;
	struct err e;

	(void)state;
	make_session(1000, 100, 10);
	l = make(&(struct log_bound) {.rows_ns = LOG_ROWS_NS, .bytes = LOG_ROWS_BYTES});
	for (int i = 1; i <= 20 * 50; i++) { /* 400 000 a second */
		int64_t to = START + i * NS_PER_S / 50;

		for (size_t j = 0; j < 8000; j++)
			list[j] = (struct range) {.begin_ns = to - NS_PER_S / 50 + (int64_t)j * 2500,
						  .end_ns = to - NS_PER_S / 50 + (int64_t)j * 2500 + (int64_t)random_below(2000),
						  .name = "kernel", .lane = &lane, .value = random_below(UINT64_MAX)};
		log_sink(l)->ops->ranges(log_sink(l), list, 8000);
		push_until(l, next, to);
	}
	assert_int_equal(log_sink(l)->ops->end(log_sink(l), &e), 0);
	assert_true(log_look(l, &k));
	expect_rows(&k, next);
	assert_true(k.now.ranges_ns > 0 && k.now.ranges_ns < 20 * NS_PER_S);
	assert_true(log_known(l).bytes < LOG_RANGES_BYTES + (2 << 20));
	assert_int_equal(k.now.rows_ns, 0);
	assert_int_equal(k.now.rows[TIER_FAST], next[TIER_FAST]);
	for (size_t i = 0; i < k.shelf[SHELF_RANGES].n; i++)
		kept += k.shelf[SHELF_RANGES].p[i]->about.events;
	assert_true(kept > 0 && kept < 20 * 400000);
	expect_told(l, 20 * 400000 - kept);
	log_look_free(&k);
	log_free(l);
}

/* With rows of a day and two, each quantity of memory is what it was after one. */
static void two_days_are_as_large_as_one(void **state)
{
	struct log *l;
	struct log_look k = {.version = 0}, fresh = {.version = 0};
	uint64_t next[TIERS] = {0}, day = 0;
	size_t chunks = 0;

	(void)state;
	make_session(4, 2, 1);
	l = make(&(struct log_bound) {.rows_ns = LOG_ROWS_NS, .bytes = LOG_ROWS_BYTES});
	for (int64_t h = 1; h <= 50; h++) {
		push_until(l, next, START + h * 3600 * NS_PER_S);
		assert_true(log_look(l, &k));
		if (h == 26) {
			day = log_known(l).bytes;
			chunks = chunks_in(&k);
		}
	}
	expect_rows(&k, next);
	assert_true(log_known(l).bytes < day + day / 50);
	assert_true(chunks_in(&k) <= chunks + 64);
	assert_in_range(stats_in(&k) * 859, 359000, 363000); /* of an hour */
	assert_in_range(k.now.last_ns - log_cell_ns(k.shelf[SHELF_DAY].p[0]->about.cell), 24 * 3600 * NS_PER_S, 44 * 3600 * NS_PER_S);
	assert_true(log_look(l, &fresh));
	expect_rows(&fresh, next);
	for (int s = 0; s < LOG_SHELVES; s++) {
		assert_int_equal(fresh.shelf[s].n, k.shelf[s].n);
		for (size_t i = 0; i < k.shelf[s].n; i++)
			assert_ptr_equal(fresh.shelf[s].p[i], k.shelf[s].p[i]);
	}
	assert_true(log_known(l).held_most <= HELD_MOST);
	log_look_free(&fresh);
	log_look_free(&k);
	log_free(l);
}

static void notes_are_there_at_once(void **state)
{
	struct log *l;
	struct log_look k = {.version = 0};
	struct look_shelf *notes = &k.shelf[SHELF_NOTES];
	size_t n[LOG_KINDS] = {0};
	struct sink *s;

	(void)state;
	make_session(1000, 100, 10);
	l = make(&(struct log_bound) {.rows_ns = LOG_ROWS_NS});
	s = log_sink(l);
	for (uint64_t i = 0; i < 40000; i++) {
		s->ops->mark(s, &(struct mark) {i + 1, START + (int64_t)i * NS_PER_MS, "a label"});
		if (i % 1000 == 0) {
			s->ops->gap(s, &(struct gap) {TIER_FAST, GAP_LATE, START, START + NS_PER_S, 1000});
			s->ops->gap(s, &(struct gap) {TIER_FAST, GAP_LATE, START, START + NS_PER_MS, 1});
			s->ops->change(s, &(struct change) {START, "mode", "a", "b"});
		}
		if (random_below(5000) == 0)
			assert_true(log_look(l, &k));
	}
	assert_true(log_look(l, &k));
	for (size_t i = 0; i < notes->n; i++) {
		struct log_in in = {notes->p[i]->bytes, notes->p[i]->bytes + notes->p[i]->n, false}, record;
		struct log_event ev;

		assert_true(log_get_record(&in, &record) && in.p == in.end && log_event_get(notes->p[i]->about.kind, &record, &ev));
		n[ev.kind]++;
	}
	assert_int_equal(n[LOG_MARK], 40000);
	assert_int_equal(n[LOG_GAP], 40);
	assert_int_equal(n[LOG_STATE], 40);
	assert_true(log_known(l).held_most <= HELD_MOST);
	log_look_free(&k);
	log_free(l);
}

/* A queue has what is kept and what follows, or only that, without a hole. */
static void a_queue_has_all_chunks(void **state)
{
	struct log *l;
	struct log_look k = {.version = 0};
	struct log_skipped skipped = {.chunks = 0};
	struct log_chunk *c;
	uint64_t next[TIERS] = {0}, at[TIERS] = {0}, serial = 0, lost, got = 0;
	struct log_queue *all, *later, *small;
	bool ended = false;
	struct err e;

	(void)state;
	make_session(1000, 100, 10);
	l = make(&(struct log_bound) {.rows_ns = LOG_ROWS_NS});
	push_until(l, next, START + 20 * NS_PER_S);
	all = log_queue_new(l, 5 << 20, true, &e);
	later = log_queue_new(l, SIZE_MAX, false, &e);
	small = log_queue_new(l, 5000, false, &e);
	assert_true(all && later && small && log_look(l, &k));
	push_until(l, next, START + 40 * NS_PER_S);
	assert_int_equal(log_sink(l)->ops->end(log_sink(l), &e), 0);
	while ((c = log_queue_take(all, &skipped, &ended))) {
		assert_int_equal(skipped.chunks, 0);
		assert_int_equal(c->serial, ++serial);
		expect_chunk(c, at);
		log_chunk_free(c);
	}
	assert_true(ended);
	for (int t = 0; t < TIERS; t++)
		assert_int_equal(at[t], next[t]);
	for (serial = k.now.serial; (c = log_queue_take(later, &skipped, &ended)); log_chunk_free(c))
		assert_int_equal(c->serial, ++serial);
	log_queue_look(small, &skipped);
	lost = skipped.rows[TIER_FAST];
	for (skipped = (struct log_skipped) {.chunks = 0}; (c = log_queue_take(small, &skipped, &ended)); log_chunk_free(c))
		got += c->about.rows[TIER_FAST];
	assert_int_equal(skipped.rows[TIER_FAST], lost);
	assert_true(lost > 0 && lost + got > 19900 && lost + got <= 20200);
	log_queue_free(small);
	log_queue_free(later);
	log_queue_free(all);
	log_look_free(&k);
	log_free(l);
}

/* What a queue waits for is there, however old; without one it goes. */
static void a_queue_keeps_what_the_log_does_not(void **state)
{
	struct log_skipped skipped = {.chunks = 0};
	struct log_queue *q;
	uint64_t next[TIERS] = {0}, at[TIERS] = {0};
	struct log_chunk *c;
	struct err e;
	struct log *l;
	bool ended;

	(void)state;
	make_session(1000, 100, 10);
	l = make(&(struct log_bound) {.rows_ns = 0});
	q = log_queue_new(l, SIZE_MAX, true, &e);
	push_until(l, next, START + 100 * NS_PER_S);
	assert_true(log_known(l).bytes < log_queue_look(q, &skipped) / 3);
	assert_int_equal(log_sink(l)->ops->end(log_sink(l), &e), 0);
	for (; (c = log_queue_take(q, &skipped, &ended)); log_chunk_free(c))
		expect_chunk(c, at);
	assert_memory_equal(at, next, sizeof(at));
	assert_int_equal(log_queue_look(q, &skipped), 0);
	assert_int_equal(skipped.chunks, 0);
	log_queue_free(q);
	log_free(l);
}

/* Ends what another thread takes, with chunks that come at once before the end. */
static void *ender(void *arg)
{
	struct log *l = arg;
	uint64_t next[TIERS] = {0};

	push_until(l, next, START + NS_PER_S / 2);
	log_sink(l)->ops->end(log_sink(l), NULL);
	return NULL;
}

/* No wait that runs out makes the end come before the last chunks. */
static void a_queue_ends_after_the_last_chunk(void **state)
{
	(void)state;
	make_session(1000, 100, 10);
	for (int i = 0; i < 60; i++) {
		struct log *l = make(&(struct log_bound) {.rows_ns = LOG_ROWS_NS});
		struct log_skipped skipped = {.chunks = 0};
		uint64_t rows = 0;
		struct log_chunk *c;
		struct err e;
		struct log_queue *q = log_queue_new(l, SIZE_MAX / 4, false, &e);
		bool ended = false;
		pthread_t thread;

		assert_non_null(q);
		assert_int_equal(pthread_create(&thread, NULL, ender, l), 0);
		while (!ended) {
			log_queue_wait(q, 0);
			for (; (c = log_queue_take(q, &skipped, &ended)); log_chunk_free(c))
				rows += c->about.rows[TIER_FAST];
		}
		pthread_join(thread, NULL);
		assert_int_equal(rows, 500);
		log_queue_free(q);
		log_free(l);
	}
}

static void *looker(void *arg)
{
	struct log *l = arg;
	struct log_look k = {.version = 0};

	while (!k.ended) {
		assert_true(log_look(l, &k));
		expect_rows(&k, k.now.rows);
	}
	log_look_free(&k);
	return NULL;
}

static void looked_at_while_it_grows(void **state)
{
	struct log *l;
	uint64_t next[TIERS] = {0};
	pthread_t thread;
	struct err e;

	(void)state;
	make_session(1000, 100, 10);
	l = make(&(struct log_bound) {.rows_ns = 3 * NS_PER_S});
	assert_int_equal(pthread_create(&thread, NULL, looker, l), 0);
	for (int64_t t = START; t < START + 60 * NS_PER_S; t += 25 * NS_PER_MS)
		push_until(l, next, t);
	log_sink(l)->ops->end(log_sink(l), &e);
	pthread_join(thread, NULL);
	log_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row_is_there_once),
		cmocka_unit_test(rows_before_the_start_are_of_no_log),
		cmocka_unit_test(old_rows_go),
		cmocka_unit_test(too_many_rows_go),
		cmocka_unit_test(two_hundred_channels_have_less_time),
		cmocka_unit_test(a_flood_of_ranges_stays_within_its_bytes),
		cmocka_unit_test(two_days_are_as_large_as_one),
		cmocka_unit_test(notes_are_there_at_once),
		cmocka_unit_test(a_queue_has_all_chunks),
		cmocka_unit_test(a_queue_keeps_what_the_log_does_not),
		cmocka_unit_test(a_queue_ends_after_the_last_chunk),
		cmocka_unit_test(looked_at_while_it_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
