/* The engine: the guaranteed order of the stream, with random rows and marks, first single-threaded and
 * then with its threads. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>
#include <fcntl.h>

#include "engine/collector.h"
#include "fake-probes.h"
#include "engine/engine.h"
#include "random.h"

#define MS NS_PER_MS

/* A sink that checks the guarantees at every call and records what it got. */
struct recorder {
	struct sink sink;
	int begun, ended;
	bool refuse;
	int64_t start_ns;
	size_t width[TIERS];
	uint64_t rows[TIERS], marks, gaps, missed[2], calls;
	int64_t newest_ns[TIERS];
	struct mark last_mark;
	uint64_t first_id;
	int64_t first_gap_ns;
	bool gap_open[TIERS]; /* a gap was reported and no row since */
	int64_t gap_to_ns[TIERS];
	size_t hangs[TIERS]; /* not 0: the unread column */
	bool may_be_late;    /* marks may follow newer rows */
	void (*at_rows)(struct recorder *r);
	struct engine *marks_it; /* begin() sets a mark there */
	uint64_t rests;
	uint64_t rows_at_rest;
};

static int rec_begin(struct sink *s, const struct session *about, struct err *e)
{
	struct recorder *r = (struct recorder *)(void *)s;

	if (r->marks_it)
		engine_mark(r->marks_it, clock_now_ns(), "meanwhile");
	if (r->refuse)
		return err_set(e, ERR_FAILED, "refused");
	r->begun++;
	r->start_ns = about->start.mono_ns;
	memcpy(r->width, about->width, sizeof(r->width));
	return 0;
}

static void rec_rows(struct sink *s, const struct rows *rows)
{
	struct recorder *r = (struct recorder *)(void *)s;

	r->calls++;
	assert_true(r->begun == 1 && !r->ended);
	assert_in_range(rows->n, 1, 512);
	assert_int_equal(rows->width, r->width[rows->tier]);
	for (size_t i = 0; i < rows->n; i++) {
		assert_true(rows->t_ns[i] >= r->start_ns);
		assert_true(rows->t_ns[i] > r->newest_ns[rows->tier]);
		if (rows->tier == TIER_FAST && r->marks)
			assert_true(rows->t_ns[i] >= r->last_mark.t_ns);
		if (r->gap_open[rows->tier])
			assert_int_equal(rows->t_ns[i], r->gap_to_ns[rows->tier]);
		r->gap_open[rows->tier] = false;
		r->newest_ns[rows->tier] = rows->t_ns[i];
		r->rows[rows->tier]++;
		for (size_t k = 0; k < rows->width; k++)
			assert_true(r->hangs[rows->tier] && r->hangs[rows->tier] == k
					    ? isnan(rows->values[i * rows->width + k])
					    : rows->values[i * rows->width + k] == (double)k);
	}
	if (r->at_rows)
		r->at_rows(r);
}

static void rec_mark(struct sink *s, const struct mark *m)
{
	struct recorder *r = (struct recorder *)(void *)s;

	r->calls++;
	assert_true(r->begun == 1 && !r->ended);
	assert_true(m->t_ns >= r->start_ns);
	if (!r->may_be_late)
		assert_true(r->newest_ns[TIER_FAST] < m->t_ns);
	if (r->marks) {
		assert_int_equal(m->id, r->last_mark.id + 1);
		assert_true(m->t_ns >= r->last_mark.t_ns);
	} else {
		r->first_id = m->id;
	}
	r->marks++;
	r->last_mark = *m;
}

static void rec_gap(struct sink *s, const struct gap *g)
{
	struct recorder *r = (struct recorder *)(void *)s;

	r->calls++;
	assert_true(r->begun == 1 && !r->ended);
	assert_true(g->from_ns >= r->start_ns && g->from_ns >= r->newest_ns[g->tier]);
	assert_true(g->to_ns > g->from_ns);
	assert_true(g->missed > 0);
	r->gap_open[g->tier] = true;
	r->gap_to_ns[g->tier] = g->to_ns;
	r->first_gap_ns = r->gaps++ ? r->first_gap_ns : g->from_ns;
	r->missed[g->cause] += g->missed;
}

static int rec_end(struct sink *s, struct err *e)
{
	struct recorder *r = (struct recorder *)(void *)s;

	(void)e;
	assert_true(r->begun == 1 && !r->ended);
	r->ended++;
	return 0;
}

static void rec_rest(struct sink *s)
{
	struct recorder *r = (struct recorder *)(void *)s;

	assert_true(r->begun == 1 && !r->ended);
	r->rests++;
	r->rows_at_rest = r->rows[TIER_FAST] + r->rows[TIER_MEDIUM] + r->rows[TIER_SLOW];
}

static const struct sink_ops rec_ops = {
	.begin = rec_begin, .rows = rec_rows, .mark = rec_mark, .gap = rec_gap, .end = rec_end, .rest = rec_rest};

/* The collector alone; the test fills the rings */

static const double values[4] = {0, 1, 2, 3};

struct bench {
	struct ring *rings[TIERS];
	struct collector c;
	int64_t now, next_ns[TIERS];
	uint64_t id;
	struct recorder r;
	uint64_t pushed[TIERS], marked;
};

static const size_t widths[TIERS] = {4, 2, 1};
static const int64_t periods[TIERS] = {MS, 10 * MS, 100 * MS};

static void bench_open(struct bench *b, bool fast)
{
	memset(b, 0, sizeof(*b));
	b->now = 5000 * MS;
	b->id = 1;
	for (int t = 0; t < TIERS; t++) {
		b->rings[t] = t == TIER_FAST && !fast ? NULL : ring_new(widths[t], 512);
		b->next_ns[t] = b->now;
		b->c.tiers[t] = (struct collector_tier) {.ring = b->rings[t], .period_ns = periods[t]};
	}
}

static void bench_begin(struct bench *b)
{
	b->r.sink.ops = &rec_ops;
	b->r.begun = 1;
	b->r.start_ns = b->now;
	memcpy(b->r.width, widths, sizeof(widths));
	collector_begin(&b->c, &b->r.sink, b->now);
}

static void bench_close(struct bench *b)
{
	for (int t = 0; t < TIERS; t++)
		ring_free(b->rings[t]);
}

static void bench_mark(struct bench *b, int64_t t_ns)
{
	struct pending_mark *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->mark.id = b->id++;
	p->mark.t_ns = t_ns;
	p->asked_ns = b->now;
	collector_add_marks(&b->c, p);
	b->marked++;
}

/* Run the samplers until now. */
static void bench_sample(struct bench *b, bool hiccups)
{
	for (int t = 0; t < TIERS; t++) {
		while (b->rings[t] && b->next_ns[t] <= b->now) {
			uint64_t late = hiccups && !random_below(30) ? 1 + random_below(5) : 0;

			b->next_ns[t] += (int64_t)late * periods[t];
			if (b->next_ns[t] > b->now)
				break;
			b->pushed[t] += ring_push(b->rings[t], b->next_ns[t] + (int64_t)random_below(MS / 2),
						  late, values);
			b->next_ns[t] += periods[t];
		}
	}
}

static void order_holds_at_random(void **state)
{
	static struct bench b;
	int64_t last_mark = 0;

	(void)state;
	seed = 11;
	bench_open(&b, true);
	for (int step = 0; step < 30000; step++) {
		b.now += (int64_t)random_below(random_below(100) ? 8 * MS : 700 * MS);
		bench_sample(&b, true);
		if (step == 500) { /* what is sampled before belongs to no stream */
			b.now += MS;
			last_mark = b.now;
			bench_begin(&b);
			memset(b.pushed, 0, sizeof(b.pushed));
			for (int t = 0; t < TIERS; t++)
				b.next_ns[t] = b.now;
		}
		for (uint64_t n = step < 500 ? 0 : random_below(3); n; n--) {
			/* a mark arrives up to 40 ms after its key press */
			int64_t t = b.now - (int64_t)random_below(40 * MS);

			if (t < last_mark)
				t = last_mark;
			last_mark = t;
			if (random_below(2))
				bench_mark(&b, t);
		}
		if (random_below(4))
			collector_run(&b.c, b.now, b.now - 40 * MS);
	}
	collector_drain(&b.c);
	for (int t = 0; t < TIERS; t++) {
		assert_int_equal(b.r.rows[t], b.pushed[t]);
		assert_true(b.r.rows[t] > 100);
	}
	assert_int_equal(b.r.marks, b.marked);
	assert_true(b.marked > 1000);
	assert_true(b.r.gaps > 1000);
	assert_true(b.r.missed[GAP_LOST] > 0); /* the pauses of 700 ms */
	bench_close(&b);
}

static void lost_rows_are_told(void **state)
{
	static struct bench b;

	(void)state;
	bench_open(&b, true);
	bench_begin(&b);
	for (int64_t i = 0; i < 600; i++)
		ring_push(b.rings[TIER_FAST], b.now + i * MS, 0, values);
	collector_drain(&b.c);
	assert_int_equal(b.r.rows[TIER_FAST], 512);
	assert_int_equal(b.r.gaps, 0);
	ring_push(b.rings[TIER_FAST], b.now + 600 * MS, 0, values);
	collector_drain(&b.c);
	assert_int_equal(b.r.rows[TIER_FAST], 513);
	assert_int_equal(b.r.gaps, 1);
	assert_int_equal(b.r.missed[GAP_LOST], 88);
	bench_close(&b);
}

/* All ticks are counted; a gap before the start of a stream is truncated. */
static void gaps_are_told_from_one(void **state)
{
	static struct bench b;

	(void)state;
	bench_open(&b, true);
	bench_begin(&b);
	ring_push(b.rings[TIER_FAST], b.now + 1 * MS, 7, values); /* nothing before it */
	ring_push(b.rings[TIER_FAST], b.now + 3 * MS, 1, values);
	collector_drain(&b.c);
	assert_int_equal(b.r.gaps, 1);
	assert_int_equal(b.r.missed[GAP_LATE], 1);
	bench_close(&b);

	bench_open(&b, true);
	ring_push(b.rings[TIER_FAST], b.now, 0, values);
	collector_drain(&b.c);
	b.now += 10 * MS;
	bench_begin(&b);
	ring_push(b.rings[TIER_FAST], b.now + 10 * MS, 16, values);
	collector_drain(&b.c);
	assert_int_equal(b.r.rows[TIER_FAST], 1);
	assert_int_equal(b.r.missed[GAP_LATE], 10);
	assert_int_equal(b.r.gaps, 1);
	bench_close(&b);
}

static void marks_do_not_wait_for_ever(void **state)
{
	static struct bench b;

	(void)state;
	for (int fast = 0; fast <= 1; fast++) {
		bench_open(&b, fast);
		bench_begin(&b);
		bench_sample(&b, false);
		b.now += 60 * MS;
		bench_mark(&b, b.now);
		collector_run(&b.c, b.now, b.now - 40 * MS);
		assert_int_equal(b.r.marks, !fast); /* nothing to wait for without a fast tier */
		assert_int_equal(b.r.rows[TIER_FAST], fast);
		b.now += 99 * MS;
		collector_run(&b.c, b.now, b.now - 40 * MS);
		assert_int_equal(b.r.marks, !fast);
		b.now += 1 * MS;
		collector_run(&b.c, b.now, b.now - 40 * MS);
		assert_int_equal(b.r.marks, 1);
		bench_close(&b);
	}
}

/* rest() follows all data, and is only called if there was any. */
static void a_rest_is_told(void **state)
{
	static struct bench b;

	(void)state;
	bench_open(&b, true);
	bench_begin(&b);
	collector_run(&b.c, b.now, b.now - 40 * MS);
	assert_int_equal(b.r.rests, 0);
	for (uint64_t i = 1; i <= 3; i++) {
		b.now += 300 * MS; /* more than one batch */
		bench_sample(&b, false);
		collector_run(&b.c, b.now, b.now - 40 * MS);
		assert_int_equal(b.r.rests, i);
		assert_true(b.r.rows_at_rest > i * 256);
		assert_int_equal(b.r.rows_at_rest,
				 b.r.rows[TIER_FAST] + b.r.rows[TIER_MEDIUM] + b.r.rows[TIER_SLOW]);
		collector_run(&b.c, b.now, b.now - 40 * MS);
		assert_int_equal(b.r.rests, i);
	}
	bench_mark(&b, b.now - 40 * MS);
	collector_run(&b.c, b.now, b.now - 40 * MS);
	assert_int_equal(b.r.marks, 1);
	assert_int_equal(b.r.rests, 4);
	bench_close(&b);
}

struct late {
	struct sink sink;
	int64_t t_ns[8];
	uint64_t id[8];
	size_t n, rows;
};

static void late_rows(struct sink *s, const struct rows *r)
{
	if (r->tier == TIER_FAST)
		((struct late *)s)->rows += r->n;
}

static void late_mark(struct sink *s, const struct mark *m)
{
	struct late *l = (struct late *)s;

	assert_true(l->n < 8);
	l->t_ns[l->n] = m->t_ns;
	l->id[l->n++] = m->id;
}

/* A mark later than the held-back rows is sent at once, with its own time; of waiting ones, the older
 * goes first. */
static void late_marks_keep_their_time(void **state)
{
	static const struct sink_ops ops = {.rows = late_rows, .mark = late_mark};
	static struct bench b;
	struct late l = {.sink.ops = &ops};
	int64_t t;

	(void)state;
	bench_open(&b, true);
	t = b.now;
	collector_begin(&b.c, &l.sink, t);
	for (int64_t i = 0; i < 100; i++)
		ring_push(b.rings[TIER_FAST], t + i * MS, 0, values);
	b.now = t + 100 * MS;
	collector_run(&b.c, b.now, t + 60 * MS);
	assert_int_equal(l.rows, 60);
	bench_mark(&b, t + 80 * MS);
	bench_mark(&b, t + 20 * MS);
	bench_mark(&b, t + 70 * MS);
	bench_mark(&b, t + 90 * MS);
	collector_run(&b.c, b.now, t + 60 * MS);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.t_ns[0], t + 20 * MS);
	assert_int_equal(l.id[0], 2);
	collector_run(&b.c, b.now, t + 85 * MS);
	assert_int_equal(l.n, 3);
	assert_int_equal(l.id[1], 3);
	assert_int_equal(l.id[2], 1);
	collector_drain(&b.c);
	assert_int_equal(l.n, 4);
	assert_int_equal(l.t_ns[3], t + 90 * MS);
	assert_int_equal(l.rows, 100);
	bench_close(&b);
}

/* A row known not to be older releases the mark before the row itself is due. */
static void mark_goes_before_the_row_that_follows(void **state)
{
	static struct bench b;
	int64_t t;

	(void)state;
	bench_open(&b, true);
	bench_begin(&b);
	t = b.now;
	for (int64_t i = 0; i < 50; i++)
		ring_push(b.rings[TIER_FAST], t + i * MS, 0, values);
	b.now = t + 50 * MS;
	bench_mark(&b, t + 20 * MS);
	collector_run(&b.c, b.now, t + 20 * MS);
	assert_int_equal(b.r.rows[TIER_FAST], 20);
	assert_int_equal(b.r.marks, 1);
	bench_mark(&b, t + 20 * MS + 1);
	collector_run(&b.c, b.now, t + 20 * MS);
	assert_int_equal(b.r.marks, 1);
	collector_run(&b.c, b.now, b.now);
	assert_int_equal(b.r.marks, 2);
	assert_int_equal(b.r.rows[TIER_FAST], 50);
	bench_close(&b);
}

/* Marks wait for the stream to begin, and none is older than its start. */
static void marks_wait_for_the_stream(void **state)
{
	static struct bench b;

	(void)state;
	bench_open(&b, true);
	bench_mark(&b, b.now);
	b.now += 5 * MS;
	bench_sample(&b, false);
	collector_run(&b.c, b.now, b.now);
	collector_drain(&b.c);
	b.now += 5 * MS;
	bench_begin(&b);
	bench_mark(&b, b.now + 1 * MS);
	collector_drain(&b.c);
	assert_int_equal(b.r.rows[TIER_FAST], 0);
	assert_int_equal(b.r.marks, 2);
	assert_int_equal(b.r.first_id, 1);
	assert_int_equal(b.r.last_mark.t_ns, b.now + 1 * MS);
	bench_close(&b);
}

/* With threads */

static struct probe_set *live_rig(void)
{
	struct probe_set *r = fake_probes();

	for (int t = 0; t < TIERS; t++) {
		for (size_t i = 0; i < widths[t]; i++)
			fake_add(r, (enum tier)t, CHANNEL_OTHER, 0)->value = (double)i;
	}
	return r;
}

static const double rates[TIERS] = {2000, 500, 50};

static struct engine *live(struct probe_set *r)
{
	struct err e;
	struct engine *g = engine_new(r, rates, &e);

	assert_non_null(g);
	return g;
}

static void wait_rows(struct engine *g, uint64_t more)
{
	struct engine_stats now, then;

	engine_stats(g, &then);
	do {
		usleep(1000);
		engine_stats(g, &now);
	} while (now.rows[TIER_FAST] < then.rows[TIER_FAST] + more);
}

static void prepare(struct recorder *r)
{
	memset(r, 0, sizeof(*r));
	r->sink.ops = &rec_ops;
	r->may_be_late = true; /* this test thread may be delayed for longer than the engine waits */
}

static void begin(struct engine *g, struct recorder *r)
{
	struct err e;

	prepare(r);
	assert_int_equal(engine_begin(g, &r->sink, &e), 0);
	assert_int_equal(r->begun, 1);
}

static struct recorder all, some;

/* `some` comes and goes behind `all`. */
static int join(void *again, const struct session *now, struct err *e)
{
	int failed = some.sink.ops->begin(&some.sink, now, e);

	all.sink.next = &some.sink;
	some.start_ns = 0; /* a row that is being made may be older */
	if (again) {
		engine_begin_again(again);
		all.marks = 0;
	}
	return failed;
}

static int depart(void *arg, const struct session *now, struct err *e)
{
	(void)arg;
	(void)now;
	all.sink.next = NULL;
	return some.sink.ops->end(&some.sink, e);
}

static void streams_come_and_go(void **state)
{
	struct engine *g = live(live_rig());
	struct engine_stats n;
	struct err e;
	uint64_t id = 0, since = 0;

	(void)state;
	seed = 5;
	begin(g, &all);
	assert_int_equal(engine_start(g, &e), 0);
	assert_int_equal(engine_start(g, &e), -1);
	assert_true(engine_wait_warm(g, -1));
	for (int i = 0; i < 12; i++) {
		prepare(&some);
		assert_int_equal(engine_call(g, join, NULL, &e), 0);
		since = id;
		for (uint64_t k = random_below(6); k; k--) {
			wait_rows(g, 1 + random_below(40));
			assert_int_equal(engine_mark(g, clock_now_ns(), "here"), ++id);
		}
		wait_rows(g, 20);
		assert_int_equal(engine_call(g, depart, NULL, &e), 0);
		assert_int_equal(some.ended, 1);
		assert_true(some.rows[TIER_FAST] >= 19);
		assert_int_equal(some.marks, id - since);
		if (some.marks)
			assert_string_equal(some.last_mark.label, "here");
	}
	prepare(&some);
	assert_int_equal(engine_call(g, join, g, &e), 0);
	assert_int_equal(engine_mark(g, clock_now_ns(), NULL), 1);
	engine_stop(g);
	engine_stats(g, &n);
	assert_int_equal(all.ended, 1);
	assert_int_equal(all.marks, 1);
	assert_int_equal(some.ended, 1);
	assert_int_equal(some.first_id, 1);
	for (int t = 0; t < TIERS; t++) {
		assert_int_equal(all.rows[t], n.rows[t]);
		assert_true(all.missed[GAP_LATE] <= n.late[0] + n.late[1] + n.late[2]);
	}
	engine_stop(g);
	engine_free(g);
}

#define CELL_ZOOM 27

struct pieces {
	struct sink sink;
	int64_t newest, given; /* in cells: time of the newest row, and its value after the last pieces */
	atomic_uint cells, split;
};

static int pieces_begin(struct sink *s, const struct session *about, struct err *e)
{
	(void)s;
	(void)about;
	(void)e;
	return 0;
}

static void pieces_rows(struct sink *s, const struct rows *r)
{
	struct pieces *p = (struct pieces *)(void *)s;

	for (size_t i = 0; r->tier == TIER_FAST && i < r->n; i++) {
		int64_t cell = r->t_ns[i] >> CELL_ZOOM;

		p->split += cell == p->given;
		p->cells += cell != p->newest;
		p->given = cell == p->given ? 0 : p->given;
		p->newest = cell;
	}
}

static void pieces_gap(struct sink *s, const struct gap *g)
{
	(void)s;
	(void)g;
}

static void pieces_rest(struct sink *s)
{
	struct pieces *p = (struct pieces *)(void *)s;

	p->given = p->newest;
}

static int pieces_end(struct sink *s, struct err *e)
{
	(void)s;
	(void)e;
	return 0;
}

/* Without a viewer, rows come in whole cells, except for a row delayed by a busy machine. */
static void unwatched_rows_come_by_the_cell(void **state)
{
	static const struct sink_ops ops = {
		.begin = pieces_begin, .rows = pieces_rows, .gap = pieces_gap, .end = pieces_end, .rest = pieces_rest};
	struct engine *g = live(live_rig());
	struct pieces p = {.sink.ops = &ops};
	struct err e;

	(void)state;
	engine_unwatched(g, CELL_ZOOM);
	assert_int_equal(engine_start(g, &e), 0);
	usleep(300000); /* the first ones come at once */
	assert_int_equal(engine_begin(g, &p.sink, &e), 0);
	while (p.cells < 12)
		usleep(10000);
	assert_true(p.split < p.cells / 2);
	engine_free(g);
}

/* Another thread may set a mark while a stream begins. Of a chain that cannot begin, no sink has begun. */
static void marks_while_it_begins(void **state)
{
	struct engine *g = live(live_rig());
	struct recorder r, second;
	struct err e;

	(void)state;
	assert_int_equal(engine_start(g, &e), 0);
	assert_int_equal(engine_mark(g, clock_now_ns(), NULL), 1);
	prepare(&r);
	prepare(&second);
	r.marks_it = g;
	r.sink.next = &second.sink;
	second.refuse = true;
	assert_int_equal(engine_begin(g, &r.sink, &e), -1);
	assert_string_equal(e.text, "refused");
	assert_int_equal(r.ended, 1);
	assert_int_equal(engine_mark(g, clock_now_ns() + 1000 * NS_PER_S, "x\033[2J"), 3);
	prepare(&r);
	r.marks_it = g;
	r.sink.next = &second.sink;
	second.refuse = false;
	assert_int_equal(engine_begin(g, &r.sink, &e), 0);
	assert_int_equal(engine_mark(g, clock_now_ns(), NULL), 5);
	engine_stop(g);
	assert_int_equal(r.marks, 5);
	assert_int_equal(r.first_id, 1);
	assert_true(r.last_mark.t_ns <= clock_now_ns());
	assert_null(strchr(r.last_mark.label, '\033'));
	assert_int_equal(second.marks, 5);
	assert_int_equal(second.ended, 1);
	engine_free(g);
}

struct feed {
	struct engine_feed feed;
	int fd;
	atomic_int read, due, last;
};

static int64_t feed_poll(void *feed, bool last)
{
	struct feed *f = feed;
	char c;

	if (last)
		f->last++;
	else if (f->fd >= 0 && read(f->fd, &c, 1) == 1)
		f->read++;
	else
		f->due++;
	return f->fd >= 0 ? INT64_MAX : clock_now_ns() + MS;
}

/* A feed is polled when its time has come, or when there is something to read, and once before the end. */
static void feeds_are_polled(void **state)
{
	struct engine *g = live(live_rig());
	struct feed timed = {.feed = {.poll = feed_poll, .fd = -1}, .fd = -1}, reads = timed, gone = timed;
	struct recorder r;
	struct err e;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	reads.feed.fd = reads.fd = ends[0];
	begin(g, &r);
	engine_add_feed(g, &timed.feed);
	assert_int_equal(engine_start(g, &e), 0);
	engine_add_feed(g, &gone.feed);
	while (gone.due < 3)
		usleep(1000);
	engine_drop_feed(g, &gone.feed);
	engine_add_feed(g, &reads.feed);
	for (int i = 1; i <= 5; i++) {
		assert_int_equal(write(ends[1], "x", 1), 1);
		while (reads.read < i)
			usleep(1000);
	}
	while (timed.due < 20)
		usleep(1000);
	assert_true(reads.due <= 1); /* when it was added */
	engine_stop(g);
	assert_int_equal(timed.last, 1);
	assert_int_equal(reads.last, 1);
	assert_int_equal(gone.last, 0);
	engine_free(g);
	close(ends[0]);
	close(ends[1]);
}

static void session_is_the_rigs(void **state)
{
	struct probe_set *r = live_rig();
	struct engine *g;
	const struct session *s;
	int64_t before = clock_now_ns();

	(void)state;
	assert_int_equal(probe_set_add_fact(r, "board", "fake"), 0);
	g = live(r);
	s = engine_session(g);
	assert_int_equal(s->n_channels, 7);
	assert_int_equal(s->width[TIER_FAST], 4);
	assert_true(s->hz[TIER_MEDIUM] == 500);
	assert_true(s->start.mono_ns >= before && s->start.mono_ns <= clock_now_ns());
	assert_string_equal(s->facts[0].value, "fake");
	engine_free(g);
	engine_free(NULL);
}

static sem_t entered, leave;

static void hold_up(struct recorder *r)
{
	r->at_rows = NULL;
	sem_post(&entered);
	while (sem_wait(&leave))
		continue;
}

/* A hanging sink: sampling continues, and no row is missing afterwards. */
static void slow_sink_stalls_no_sampler(void **state)
{
	struct engine *g = live(live_rig());
	struct recorder r = {.sink.ops = &rec_ops, .at_rows = hold_up, .may_be_late = true};
	struct engine_stats n;
	struct err e;

	(void)state;
	sem_init(&entered, 0, 0);
	sem_init(&leave, 0, 0);
	assert_int_equal(engine_begin(g, &r.sink, &e), 0);
	assert_int_equal(engine_start(g, &e), 0);
	while (sem_wait(&entered))
		continue;
	wait_rows(g, 1000);
	assert_int_equal(engine_mark(g, clock_now_ns(), NULL), 1); /* does not wait either */
	sem_post(&leave);
	engine_stop(g);
	engine_stats(g, &n);
	assert_int_equal(n.lost[TIER_FAST], 0);
	assert_int_equal(r.rows[TIER_FAST], n.rows[TIER_FAST]);
	assert_int_equal(r.marks, 1);
	engine_free(g);
}

static atomic_bool go_on;

static void not_yet(struct fake *f)
{
	f->value = atomic_load(&go_on) ? 0 : (double)NAN;
}

/* A CPU value without a complete window is waited for; one that can never appear is not. */
static void warm_waits_for_the_cpu(void **state)
{
	const double slow[TIERS] = {1000, 0.1, 0.1};
	struct probe_set *r = fake_probes();
	struct engine *g;
	struct err e;
	int64_t before;

	(void)state;
	fake_add(r, TIER_FAST, CHANNEL_CORE_UTIL, 0)->hook = not_yet;
	fake_add(r, TIER_FAST, CHANNEL_CPU_UTIL, 0)->hook = not_yet;
	fake_add(r, TIER_SLOW, CHANNEL_TEMPERATURE, 0);
	g = engine_new(r, slow, &e);
	assert_non_null(g);
	assert_false(engine_wait_warm(g, -1)); /* not started */
	before = clock_now_ns();
	assert_int_equal(engine_start(g, &e), 0);
	assert_true(!engine_wait_warm(g, 200) || clock_now_ns() - before >= NS_PER_S);
	atomic_store(&go_on, true);
	assert_true(engine_wait_warm(g, -1));
	engine_free(g);

	r = fake_probes();
	fake_add(r, TIER_FAST, CHANNEL_CPU_UTIL, 0)->value = NAN;
	snprintf(r->channels[0].missing, sizeof(r->channels[0].missing), "no such file");
	fake_add(r, TIER_SLOW, CHANNEL_TEMPERATURE, 0)->value = NAN;
	g = engine_new(r, slow, &e);
	assert_non_null(g);
	assert_int_equal(engine_start(g, &e), 0);
	assert_true(engine_wait_warm(g, -1));
	engine_free(g);

	g = engine_new(fake_probes(), slow, &e); /* no channels */
	assert_non_null(g);
	assert_int_equal(engine_start(g, &e), 0);
	assert_true(engine_wait_warm(g, -1));
	assert_int_equal(engine_mark(g, clock_now_ns(), ""), 1);
	engine_free(g);
}

/* Waits at most one second. */
static void warm_gives_up_on_what_never_comes(void **state)
{
	struct probe_set *r = fake_probes();
	struct engine *g;
	struct err e;

	(void)state;
	fake_add(r, TIER_FAST, CHANNEL_CPU_UTIL, 0)->value = NAN;
	g = live(r);
	assert_int_equal(engine_start(g, &e), 0);
	assert_true(engine_wait_warm(g, -1));
	engine_free(g);
}

static void rates_out_of_range_are_refused(void **state)
{
	static const double bad[][TIERS] = {
		{0, 1, 1}, {1, 10001, 1}, {1, 1, -1}, {1, 1, NAN}, {INFINITY, 1, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err e;

		assert_null(engine_new(live_rig(), bad[i], &e));
		assert_int_equal(e.code, ERR_USAGE);
	}
}

static sem_t never;
static struct probe_set *lost_rig; /* leaked on purpose; kept reachable here */

static void hang(struct fake *f)
{
	(void)f;
	sem_post(&entered);
	while (sem_wait(&never))
		continue;
}

static void wait_until_it_hangs(void)
{
	while (sem_wait(&entered))
		continue;
}

/* Reads of slower files hang: rows of all tiers continue without those values, and stopping does not
 * wait. */
static void hanging_read_holds_nothing_up(void **state)
{
	unsigned left_behind = engine_left_behind();
	struct probe_set *probes = live_rig();
	struct engine_stats n;
	struct recorder r;
	struct engine *g;
	struct fake *f;
	struct err e;

	(void)state;
	sem_init(&entered, 0, 0);
	sem_init(&never, 0, 0);
	f = fake_add(probes, TIER_SLOW, CHANNEL_OTHER, 0);
	f->hook = hang;
	f->probe.column = (uint16_t)f->column;
	f->probe.width = 1;
	g = live(probes);
	begin(g, &r);
	r.hangs[TIER_SLOW] = f->column;
	assert_int_equal(engine_start(g, &e), 0);
	wait_until_it_hangs();
	do {
		usleep(1000);
		engine_stats(g, &n);
	} while (n.rows[TIER_SLOW] < 3 || n.rows[TIER_FAST] < 50);
	engine_stop(g);
	assert_int_equal(r.ended, 1);
	engine_stats(g, &n);
	assert_int_equal(r.rows[TIER_FAST], n.rows[TIER_FAST]);
	assert_int_equal(r.rows[TIER_SLOW], n.rows[TIER_SLOW]);
	engine_free(g);
	assert_int_equal(engine_left_behind(), left_behind + 1);
	sem_post(&never); /* the abandoned thread cleans up */
}

/* The sampling thread itself hangs in the kernel: stop returns, the data so far is complete, all sinks
 * have ended. */
static void hanging_sampler_is_left_behind(void **state)
{
	unsigned left_behind = engine_left_behind();
	struct recorder r;
	struct engine *g;
	struct err e;

	(void)state;
	sem_init(&entered, 0, 0);
	sem_init(&never, 0, 0);
	lost_rig = live_rig();
	fake_add(lost_rig, TIER_FAST, CHANNEL_OTHER, 0)->hook = hang;
	g = live(lost_rig);
	begin(g, &r);
	assert_int_equal(engine_start(g, &e), 0);
	wait_until_it_hangs();
	engine_stop(g);
	assert_int_equal(r.ended, 1);
	assert_int_equal(r.rows[TIER_FAST], 0);
	engine_free(g);
	assert_int_equal(engine_left_behind(), left_behind + 1);
}

/* Set a mark when the probe is first read. */
static bool mark_once(struct probe *p, struct change *out)
{
	struct fake *f = (struct fake *)(void *)p;

	if (!f->reads || f->from_column)
		return false;
	f->from_column = 1;
	*out = (struct change) {.t_ns = f->last_read_ns, .to = "past"};
	return true;
}

static void a_past_is_sampled(void **state)
{
	struct probe_set *probes = live_rig();
	struct recorder r;
	int64_t now_ns;
	struct engine *g;
	struct err e;

	(void)state;
	probes->past_ns = 3 * NS_PER_S;
	probes->probes[0]->changed = mark_once;
	g = live(probes);
	engine_begin_in_past(g);
	begin(g, &r);
	now_ns = clock_now_ns();
	assert_true(r.start_ns <= now_ns - 3 * NS_PER_S);
	assert_int_equal(engine_start(g, &e), 0);
	assert_true((double)r.rows[TIER_FAST] > 2.9 * rates[TIER_FAST]);
	assert_true((double)r.rows[TIER_SLOW] >= 2 * rates[TIER_SLOW]);
	assert_int_equal(r.marks, 1);
	assert_string_equal(r.last_mark.label, "past");
	assert_true(r.last_mark.t_ns < now_ns - 2 * NS_PER_S);
	assert_true(r.gaps == 0 || r.first_gap_ns > now_ns - 200 * NS_PER_MS); /* the present has begun, and may be late */
	engine_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_holds_at_random),
		cmocka_unit_test(lost_rows_are_told),
		cmocka_unit_test(gaps_are_told_from_one),
		cmocka_unit_test(marks_do_not_wait_for_ever),
		cmocka_unit_test(a_rest_is_told),
		cmocka_unit_test(mark_goes_before_the_row_that_follows),
		cmocka_unit_test(late_marks_keep_their_time),
		cmocka_unit_test(marks_wait_for_the_stream),
		cmocka_unit_test(streams_come_and_go),
		cmocka_unit_test(unwatched_rows_come_by_the_cell),
		cmocka_unit_test(marks_while_it_begins),
		cmocka_unit_test(feeds_are_polled),
		cmocka_unit_test(session_is_the_rigs),
		cmocka_unit_test(slow_sink_stalls_no_sampler),
		cmocka_unit_test(warm_waits_for_the_cpu),
		cmocka_unit_test(warm_gives_up_on_what_never_comes),
		cmocka_unit_test(rates_out_of_range_are_refused),
		cmocka_unit_test(hanging_read_holds_nothing_up),
		cmocka_unit_test(hanging_sampler_is_left_behind),
		cmocka_unit_test(a_past_is_sampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
