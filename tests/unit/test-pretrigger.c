/* Look-back recording: a file holds exactly the rows, marks and gaps of its range, and triggers act as
 * described in src/record/pretrigger.h. */
#include "test-trace.h"

#include <signal.h>
#include <sys/resource.h>

#include "record/pretrigger.h"

#define S NS_PER_S

static struct err e;

/* A script whose first row is now, so that no range is overdue. */
static struct script *script_now(uint64_t seed, size_t fast)
{
	struct script *s = script_new(seed, fast, 4, 2, 3, true);
	int64_t off = clock_now_ns() - START_NS;

	s->session.start.mono_ns += off;
	for (int t = 0; t < TIERS; t++)
		for (size_t r = 0; r < s->n[t]; r++)
			s->t_ns[t][r] += off;
	return s;
}

/* Marks of triggers come with the next rows, as from an engine. */
static struct mark waiting[64];
static size_t n_waiting;
static uint64_t n_marks;

static void take_mark(void *arg, int64_t t_ns, const char *label)
{
	(void)arg;
	assert_true(n_waiting < 64);
	waiting[n_waiting] = (struct mark) {.t_ns = t_ns};
	snprintf(waiting[n_waiting++].label, sizeof(waiting->label), "%s", label);
}

static void send_marks(struct sink *sink)
{
	for (size_t i = 0; i < n_waiting; i++) {
		waiting[i].id = ++n_marks;
		sink->ops->mark(sink, &waiting[i]);
	}
	n_waiting = 0;
}

/* Push in time order, as an engine does. */
static void push(const struct script *s, struct sink *sink, size_t at[TIERS], int64_t until)
{
	send_marks(sink);
	while (at[TIER_FAST] + 50 < s->n[TIER_FAST] && s->t_ns[TIER_FAST][at[TIER_FAST] + 50] < until) {
		script_push(s, sink, at, s->t_ns[TIER_FAST][at[TIER_FAST] + 50]);
		send_marks(sink);
	}
	script_push(s, sink, at, until);
	send_marks(sink);
}

static int64_t after_start(const struct script *s, double seconds)
{
	return s->session.start.mono_ns + (int64_t)(seconds * (double)S);
}

/* The log, and what sees its stream, as an engine has them. */
static struct both {
	struct sink sink, *log, *watch;
	struct pretrigger *k;
} both;

static int both_begin(struct sink *s, const struct session *about, struct err *err)
{
	(void)s;
	return both.log->ops->begin(both.log, about, err) < 0 ? -1 : both.watch->ops->begin(both.watch, about, err);
}

static void both_rows(struct sink *s, const struct rows *r)
{
	(void)s;
	both.log->ops->rows(both.log, r);
	both.watch->ops->rows(both.watch, r);
}

static void both_mark(struct sink *s, const struct mark *m)
{
	(void)s;
	both.log->ops->mark(both.log, m);
}

static void both_gap(struct sink *s, const struct gap *g)
{
	(void)s;
	both.log->ops->gap(both.log, g);
}

static bool wait_file(void *arg, struct log_out *w)
{
	(void)arg;
	return log_out_wait(w, INT64_MAX);
}

static int both_end(struct sink *s, struct err *err)
{
	(void)s;
	both.watch->ops->end(both.watch, err);
	both.log->ops->end(both.log, err);
	pretrigger_end(both.k, wait_file, NULL);
	return 0;
}

static struct sink *sink_of(struct pretrigger *k)
{
	static const struct sink_ops ops = {
		.begin = both_begin, .rows = both_rows, .mark = both_mark, .gap = both_gap, .end = both_end};

	both = (struct both) {.sink.ops = &ops, .log = log_sink(pretrigger_log(k)), .watch = pretrigger_sink(k), .k = k};
	return &both.sink;
}

static void wait_files(struct pretrigger *k, size_t n)
{
	struct pretrigger_stats st;

	for (int i = 0; i < 6000; i++) {
		pretrigger_stats(k, &st);
		if (st.files >= n && !st.writing)
			return;
		usleep(5000);
	}
	fail_msg("%zu files after 30 s, not %zu", st.files, n);
}

static struct pretrigger *begin(const struct script *s, const char *name, double keep_s, double after_s,
			  const struct condition *when)
{
	struct pretrigger_options o = {.keep_ns = (int64_t)(keep_s * (double)S),
				 .after_ns = (int64_t)(after_s * (double)S),
				 .path = in_folder(name),
				 .when = when,
				 .mark = take_mark};
	struct pretrigger *k = pretrigger_new(&o, &s->session, &e);

	if (!k)
		fail_msg("%s", e.text);
	assert_int_equal(sink_of(k)->ops->begin(sink_of(k), &s->session, &e), 0);
	return k;
}

/* The first row at or after t. */
static size_t lower(const struct script *s, int tier, int64_t t_ns)
{
	size_t r = 0;

	while (r < s->n[tier] && s->t_ns[tier][r] < t_ns)
		r++;
	return r;
}

/* The cell that contains t, its first time or that of the next one. */
static int64_t cell_ns(int64_t t_ns, int next)
{
	return ((t_ns >> 27) + next) << 27;
}

/* The file has exactly the script's rows from from_ns, where a cell begins, to to_ns inclusive. */
static void assert_rows(const struct script *s, const struct pretrigger_file *f, int64_t from_ns, int64_t to_ns)
{
	struct trace *t = trace_open(f->path, &e);
	struct timeline *line;
	struct trace_summary sum;

	if (!t || e.code != ERR_NONE)
		fail_msg("%s: %s", f->path, e.text);
	line = trace_timeline(t);
	trace_summary(t, &sum);
	for (int tier = 0; tier < TIERS; tier++) {
		size_t first = lower(s, tier, from_ns), end = lower(s, tier, to_ns + 1);
		int64_t off = s->session.start.mono_ns - line->ops->session(line)->start.mono_ns, at = 0;

		if (sum.rows[tier] != end - first)
			fail_msg("%s, tier %d: %llu rows, not %zu; %llu lost", f->path, tier,
				 (unsigned long long)sum.rows[tier], end - first, (unsigned long long)f->written.lost_rows);
		assert_int_equal(f->written.rows[tier], end - first);
		for (size_t r = first; r < end; r++) {
			int64_t t_ns = s->t_ns[tier][r];

			/* Uses only the clock of the recording. */
			assert_int_equal(off,
					 s->session.start.mono_ns > from_ns ? 0 : s->session.start.mono_ns - from_ns);
			for (size_t c = 0; c < s->session.n_channels; c++) {
				const struct channel *ch = &s->channels[c];
				double want = s->values[tier][r * s->session.width[tier] + ch->column], got;

				if ((int)ch->tier != tier)
					continue;
				got = line->ops->value(line, c, t_ns, &at);
				assert_true(at == t_ns);
				if (memcmp(&got, &want, sizeof(got)) != 0 && !(isnan(got) && isnan(want)))
					fail_msg("%s, row %zu: %.17g, not %.17g", ch->name, r, got, want);
			}
		}
	}
	trace_close(t);
}

/* All cells from that of from_ns to that of to_ns. */
static void assert_stretch(const struct script *s, const struct pretrigger_file *f, int64_t from_ns, int64_t to_ns)
{
	assert_rows(s, f, cell_ns(from_ns, 0), cell_ns(to_ns, 1) - 1);
}

static void file_of(struct pretrigger *k, size_t i, struct pretrigger_file *f)
{
	assert_true(pretrigger_file(k, i, f));
	if (f->err.code != ERR_NONE)
		fail_msg("%s: %s", f->path, f->err.text);
}

static size_t marks_of(const struct pretrigger_file *f, struct mark *out, size_t max)
{
	struct trace *t = trace_open(f->path, &e);
	size_t n;

	assert_non_null(t);
	n = trace_timeline(t)->ops->marks(trace_timeline(t), 0, INT64_MAX, out, max);
	trace_close(t);
	return n;
}

static void exact(void **state)
{
	struct script *s = script_now(11, 20000);
	struct pretrigger *k = begin(s, "exact.nvmt", 4, 1.5, NULL);
	struct sink *sink = sink_of(k);
	size_t at[TIERS] = {0};
	struct pretrigger_file f;
	struct mark m[8];
	struct gap g = {TIER_FAST, GAP_LATE, after_start(s, 10.1), after_start(s, 10.2), 99};
	int64_t first = after_start(s, 12);

	(void)state;
	push(s, sink, at, after_start(s, 5));
	sink->ops->mark(sink, &(struct mark) {1, after_start(s, 5), "too early"});
	push(s, sink, at, after_start(s, 9.3));
	sink->ops->mark(sink, &(struct mark) {2, after_start(s, 9.3), "inside"});
	n_marks = 2;
	push(s, sink, at, after_start(s, 10.2));
	g.from_ns = s->t_ns[TIER_FAST][at[TIER_FAST] - 1];
	g.to_ns = s->t_ns[TIER_FAST][at[TIER_FAST]];
	g.missed = 99;
	sink->ops->gap(sink, &g);
	push(s, sink, at, first);
	pretrigger_trigger(k, first, "by hand");
	push(s, sink, at, after_start(s, 13.2));
	pretrigger_trigger(k, after_start(s, 13.2), "again, inside");
	push(s, sink, at, after_start(s, 14));
	wait_files(k, 1);
	file_of(k, 0, &f);
	assert_string_equal(f.path, in_folder("exact.nvmt"));
	assert_true(f.from_ns == first - 4 * S && f.to_ns == first + 3 * S / 2);
	assert_stretch(s, &f, f.from_ns, f.to_ns);
	assert_int_equal(marks_of(&f, m, 8), 3);
	assert_string_equal(m[0].label, "inside");
	assert_string_equal(m[1].label, "by hand");
	assert_string_equal(m[2].label, "again, inside");
	assert_int_equal(m[0].id, 2); /* marks keep their numbers */
	assert_int_equal(m[2].id, 4);
	assert_true(m[1].t_ns == first);
	struct trace *t = trace_open(f.path, &e);
	struct gap got[4];
	assert_int_equal(trace_timeline(t)->ops->gaps(trace_timeline(t), 0, INT64_MAX, got, 4), 1);
	assert_true(got[0].from_ns == g.from_ns && got[0].to_ns == g.to_ns && got[0].missed == 99);
	trace_close(t);
	/* Buffering continued: another file, with the end of the stream in it. */
	push(s, sink, at, after_start(s, 19));
	pretrigger_trigger(k, after_start(s, 18.9), "");
	send_marks(sink);
	assert_int_equal(sink->ops->end(sink, &e), 0);
	wait_files(k, 2);
	file_of(k, 1, &f);
	assert_string_equal(f.path, in_folder("exact.2.nvmt"));
	assert_rows(s, &f, cell_ns(after_start(s, 14.9), 0), after_start(s, 19) - 1);
	pretrigger_free(k);
	script_free(s);
}

/* The fast and a slower tier together; the trigger is where a plain loop finds it. */
static void by_condition(void **state)
{
	struct script *s = script_now(12, 30000);
	size_t gpu = 1, at[TIERS] = {0}, files = 0;
	size_t width = s->session.width[TIER_FAST];
	struct condition c;
	struct pretrigger_file f;
	struct mark m[8];

	(void)state;
	/* GPU is low, and high for a while at 6, 7, 20 and, too briefly, at 15 s. */
	for (size_t r = 0; r < s->n[TIER_FAST]; r++) {
		double t = (double)(s->t_ns[TIER_FAST][r] - s->session.start.mono_ns) / 1e9;
		bool high =
			(t > 6 && t < 6.7) || (t > 7 && t < 8) || (t > 20 && t < 25) || (t > 15 && t < 15.4);

		s->values[TIER_FAST][r * width + s->channels[gpu].column] = high ? 99 : 10;
	}
	assert_int_equal(condition_parse(&c, "gpu > 95 for 500ms", &e), 0);
	assert_int_equal(condition_bind(&c, &s->session, &e), 0);
	struct pretrigger *k = begin(s, "cond.nvmt", 5, 0, &c);
	for (int tenth = 1; tenth <= 290; tenth++) {
		struct pretrigger_stats st;

		push(s, sink_of(k), at, after_start(s, tenth / 10.0));
		pretrigger_stats(k, &st);
		/* Wait until the file is written. */
		if (tenth == 70 || tenth == 130 || tenth == 220) {
			files++;
			wait_files(k, files);
		}
	}
	struct pretrigger_stats st;
	pretrigger_stats(k, &st);
	/* 6.5; 7.5, delayed until 11.5; 20.5. Not 15. */
	assert_int_equal(st.triggers, 3);
	assert_int_equal(st.files, 3);
	assert_int_equal(st.failed, 0);
	const double when[3] = {6.5, 11.5, 20.5}, from[3] = {1.5, 6.5, 15.5};
	for (size_t i = 0; i < 3; i++) {
		file_of(k, i, &f);
		assert_true(llabs(f.to_ns - after_start(s, when[i])) < 5 * NS_PER_MS);
		assert_true(llabs(f.from_ns - after_start(s, from[i])) < (INT64_C(1) << 27));
		assert_stretch(s, &f, f.from_ns, f.to_ns);
		assert_int_equal(marks_of(&f, m, 8), 1);
		assert_string_equal(m[0].label, "gpu > 95 for 500ms");
	}
	/* Exact to the row: the first 500 ms after the first high one. */
	size_t high = 0, now;
	while (s->values[TIER_FAST][high * width + s->channels[gpu].column] < 95)
		high++;
	for (now = high; s->t_ns[TIER_FAST][now] - s->t_ns[TIER_FAST][high] < S / 2;)
		now++;
	file_of(k, 0, &f);
	assert_true(f.to_ns == s->t_ns[TIER_FAST][now]);
	/* The second starts where the first ended: nothing repeated or lost. */
	struct pretrigger_file g;
	file_of(k, 1, &g);
	assert_true(cell_ns(g.from_ns, 0) == cell_ns(f.to_ns, 1));
	assert_int_equal(sink_of(k)->ops->end(sink_of(k), &e), 0);
	pretrigger_free(k);
	script_free(s);
}

/* Tiers arrive one after the other, in pieces; the condition sees them in reading order. */
static void two_tiers(void **state)
{
	struct script *s = script_now(17, 20000);
	size_t at[TIERS] = {0}, row[TIERS] = {0}, edges = 0;
	struct condition_eval v;
	struct condition c;
	struct pretrigger_stats st;
	bool was = false;

	(void)state;
	assert_int_equal(condition_parse(&c, "gpu > 50 and [zone1] > 50 or zone2 > 90 for 100ms", &e), 0);
	if (condition_bind(&c, &s->session, &e) < 0)
		fail_msg("%s", e.text);
	condition_start(&v, &c, s->session.hz);
	for (;;) {
		bool fast = row[TIER_FAST] < s->n[TIER_FAST], slow = row[TIER_SLOW] < s->n[TIER_SLOW], is;
		enum tier t = TIER_FAST;

		if (!fast && !slow)
			break;
		if (!fast ||
		    (slow && s->t_ns[TIER_SLOW][row[TIER_SLOW]] < s->t_ns[TIER_FAST][row[TIER_FAST]]))
			t = TIER_SLOW;
		is = condition_row(&v, t, s->t_ns[t][row[t]], s->values[t] + row[t] * s->session.width[t]);
		row[t]++;
		edges += is && !was;
		was = is;
	}
	struct pretrigger *k = begin(s, "two.nvmt", 1, 0, &c);
	for (int i = 1; i < 300; i++)
		push(s, sink_of(k), at, after_start(s, i * 0.07));
	push(s, sink_of(k), at, INT64_MAX);
	assert_int_equal(sink_of(k)->ops->end(sink_of(k), &e), 0);
	pretrigger_stats(k, &st);
	assert_true(edges > 500);
	assert_int_equal(st.triggers, edges);
	pretrigger_free(k);
	script_free(s);
}

/* A manual trigger ends the delay. */
static void put_off(void **state)
{
	struct script *s = script_now(13, 12000);
	struct condition c;
	size_t at[TIERS] = {0}, width = s->session.width[TIER_FAST];
	struct pretrigger_file f;

	(void)state;
	for (size_t r = 0; r < s->n[TIER_FAST]; r++) {
		double t = (double)(s->t_ns[TIER_FAST][r] - s->session.start.mono_ns) / 1e9;

		s->values[TIER_FAST][r * width + s->channels[1].column] = (t > 4 && t < 5) || t > 6 ? 99 : 10;
	}
	assert_int_equal(condition_parse(&c, "gpu > 95", &e), 0);
	assert_int_equal(condition_bind(&c, &s->session, &e), 0);
	struct pretrigger *k = begin(s, "off.nvmt", 8, 0, &c);
	push(s, sink_of(k), at, after_start(s, 5));
	wait_files(k, 1);
	push(s, sink_of(k), at, after_start(s, 7));
	pretrigger_trigger(k, after_start(s, 6.9), "now");
	push(s, sink_of(k), at, after_start(s, 8));
	wait_files(k, 2);
	file_of(k, 1, &f);
	assert_true(f.to_ns >= after_start(s, 6.9) && f.to_ns < after_start(s, 7)); /* the rest of a cell */
	assert_stretch(s, &f, f.from_ns, f.to_ns);
	assert_int_equal(f.written.marks, 2);
	/* A range never starts before the stream. */
	file_of(k, 0, &f);
	assert_true(f.from_ns == s->session.start.mono_ns);
	pretrigger_free(k);
	script_free(s);
}

/* The stream ends before a row newer than the trigger arrives, and long before the time after it is
 * over. */
static void at_the_end(void **state)
{
	for (int after = 0; after <= 60; after += 60) {
		struct script *s = script_now(19, 4000);
		struct pretrigger *k = begin(s, after ? "end.nvmt" : "end0.nvmt", 1, after, NULL);
		size_t at[TIERS] = {0};
		struct pretrigger_file f;
		struct mark m[2];

		push(s, sink_of(k), at, after_start(s, 3));
		pretrigger_trigger(k, after_start(s, 3.02), "last");
		send_marks(sink_of(k));
		assert_int_equal(sink_of(k)->ops->end(sink_of(k), &e), 0);
		file_of(k, 0, &f);
		assert_true(f.to_ns == after_start(s, 3.02));
		assert_rows(s, &f, cell_ns(after_start(s, 2.02), 0), after_start(s, 3) - 1);
		assert_int_equal(marks_of(&f, m, 2), 1);
		assert_string_equal(m[0].label, "last");
		pretrigger_free(k);
		script_free(s);
	}
	(void)state;
}

/* Rows the ring lost before they were written are reported as missing. */
static void overrun(void **state)
{
	struct script *s = script_now(14, 40000);
	struct pretrigger *k = begin(s, "over.nvmt", 2, 0, NULL);
	struct sink *sink = sink_of(k);
	size_t at[TIERS] = {0}, expected;
	struct pretrigger_file f;
	struct trace *t;
	struct gap g[8];

	(void)state;
	push(s, sink, at, after_start(s, 30));
	/* Triggered much too late: none of the 2 s are left (2 s, an eighth, 3 s and the rest of a group are kept). */
	pretrigger_trigger(k, after_start(s, 5), "late");
	push(s, sink, at, after_start(s, 31));
	wait_files(k, 1);
	file_of(k, 0, &f);
	expected = lower(s, TIER_FAST, cell_ns(f.to_ns, 1)) - lower(s, TIER_FAST, cell_ns(f.from_ns, 0));
	assert_true(f.written.lost_rows > 0);
	assert_true(f.written.rows[TIER_FAST] < expected);
	t = trace_open(f.path, &e);
	assert_non_null(t);
	size_t n = trace_timeline(t)->ops->gaps(trace_timeline(t), 0, INT64_MAX, g, 8);
	bool said = false;
	for (size_t i = 0; i < n; i++)
		said |= g[i].tier == TIER_FAST && g[i].cause == GAP_LOST &&
			llabs((long long)(g[i].missed + f.written.rows[TIER_FAST]) - (long long)expected) < 60;
	assert_true(said);
	trace_close(t);
	pretrigger_free(k);
	script_free(s);
}

/* Incompressible data: the whole range is there while more arrives, within the announced memory. */
static void noise(void **state)
{
	struct script *s = script_now(18, 15000);
	size_t at[TIERS] = {0}, raw = 0, row;
	struct pretrigger_stats before, after;
	struct trace_epoch epochs[3];
	struct pretrigger_file f;
	struct gap g = {TIER_FAST, GAP_LATE, 0, 0, 17}, got[4];

	(void)state;
	for (size_t c = 0; c < s->session.n_channels; c++)
		s->channels[c].kind = CHANNEL_OTHER;
	for (int t = 0; t < TIERS; t++) {
		raw += (size_t)(3 * s->session.hz[t]) * (s->session.width[t] + 1) * sizeof(double);
		for (size_t i = 0; i < s->n[t] * s->session.width[t]; i++) {
			uint64_t bits = script_random(s);

			memcpy(&s->values[t][i], &bits, sizeof(bits));
		}
	}
	struct pretrigger *k = begin(s, "noise.nvmt", 3, 0, NULL);
	struct sink *sink = sink_of(k);
	pretrigger_stats(k, &before);
	push(s, sink, at, after_start(s, 10));
	row = at[TIER_FAST];
	g.from_ns = s->t_ns[TIER_FAST][row - 1];
	g.to_ns = s->t_ns[TIER_FAST][row];
	sink->ops->gap(sink, &g);
	sink->ops->mark(sink, &(struct mark) {1, s->t_ns[TIER_FAST][row], "on a row"});
	push(s, sink, at, after_start(s, 11.6));
	pretrigger_trigger(k, after_start(s, 11.5), "noise");
	push(s, sink, at, after_start(s, 14));
	wait_files(k, 1);
	file_of(k, 0, &f);
	assert_int_equal(f.written.lost_rows, 0);
	assert_stretch(s, &f, after_start(s, 8.5), after_start(s, 11.5));
	struct trace *t = trace_open(f.path, &e);
	assert_int_equal(trace_timeline(t)->ops->gaps(trace_timeline(t), 0, INT64_MAX, got, 4), 1);
	assert_true(got[0].from_ns == g.from_ns && got[0].to_ns == g.to_ns && got[0].missed == 17);
	assert_int_equal(trace_epochs(t, epochs, 3), 3);
	assert_string_equal(epochs[1].label, "on a row");
	assert_int_equal(epochs[1].first, row - lower(s, TIER_FAST, cell_ns(f.from_ns, 0)));
	trace_close(t);
	pretrigger_stats(k, &after);
	assert_int_equal(after.memory_most, before.memory_most);
	assert_int_equal(after.written.marks, 2);
	assert_true(after.memory > raw && after.memory <= after.memory_most);
	pretrigger_free(k);
	script_free(s);
}

/* File names: existing files are never overwritten. */
static void names(void **state)
{
	struct script *s = script_now(15, 4000);
	size_t at[TIERS] = {0};
	struct pretrigger_file f;

	(void)state;
	fclose(fopen(in_folder("n.a.2.nvmt"), "w"));
	fclose(fopen(in_folder("n.a.3.nvmt"), "w"));
	struct pretrigger *k = begin(s, "n.a.nvmt", 1, 0, NULL);
	for (unsigned i = 0; i < 3; i++) {
		push(s, sink_of(k), at, after_start(s, 1 + i));
		pretrigger_trigger(k, after_start(s, 0.8 + i), "");
		push(s, sink_of(k), at, after_start(s, 1.5 + i));
		wait_files(k, i + 1);
		file_of(k, i, &f);
		assert_string_equal(f.path, in_folder(i == 0 ? "n.a.nvmt" : i == 1 ? "n.a.4.nvmt" : "n.a.5.nvmt"));
	}
	pretrigger_free(k);
	struct pretrigger_options o = {.keep_ns = S, .path = in_folder("n.a.nvmt")};
	assert_null(pretrigger_new(&o, &s->session, &e));
	assert_non_null(strstr(e.text, "already exists"));
	o.path = in_folder("none/n.nvmt");
	assert_null(pretrigger_new(&o, &s->session, &e));
	o = (struct pretrigger_options) {.keep_ns = INT64_C(1) << 61, .path = in_folder("big.nvmt")};
	assert_null(pretrigger_new(&o, &s->session, &e));
	assert_non_null(strstr(e.text, "memory"));
	o.keep_ns = S / 20;
	assert_null(pretrigger_new(&o, &s->session, &e));
	assert_false(there("big.nvmt"));
	script_free(s);
}

/* A write error is reported, and buffering continues. */
static void full_disk(void **state)
{
	struct rlimit was, small;
	struct script *s = script_now(16, 20000);
	struct pretrigger *k = begin(s, "full.nvmt", 5, 0, NULL);
	size_t at[TIERS] = {0};
	struct pretrigger_stats st;
	struct pretrigger_file f;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	push(s, sink_of(k), at, after_start(s, 6));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small = was;
	small.rlim_cur = 100000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	pretrigger_trigger(k, after_start(s, 5.5), "full");
	wait_files(k, 1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_true(pretrigger_file(k, 0, &f));
	assert_int_equal(f.err.code, ERR_FAILED);
	assert_true(f.err.text[0]);
	push(s, sink_of(k), at, after_start(s, 12));
	pretrigger_trigger(k, after_start(s, 11.5), "room again");
	wait_files(k, 2);
	file_of(k, 1, &f);
	assert_stretch(s, &f, f.from_ns, f.to_ns);
	pretrigger_stats(k, &st);
	assert_int_equal(st.failed, 1);
	pretrigger_free(k);
	script_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact),   cmocka_unit_test(by_condition), cmocka_unit_test(two_tiers),
		cmocka_unit_test(put_off), cmocka_unit_test(overrun),      cmocka_unit_test(at_the_end),
		cmocka_unit_test(noise),   cmocka_unit_test(names),        cmocka_unit_test(full_disk),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
