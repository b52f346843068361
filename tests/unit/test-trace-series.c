/* A recording in several files: all of them together are the stream, no row is
 * in two of them or in none, and whatever is not in them is counted. */
#include "test-trace.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include "trace/reader.h"
#include "trace/series.h"

#define FAST     4000
#define PATIENCE 400 /* times 25 ms */

static struct sink *begin(struct trace_series *s, const struct script *script)
{
	struct sink *sink = trace_series_sink(s);
	struct err e;

	if (sink->ops->begin(sink, &script->session, &e) < 0)
		fail_msg("%s", e.text);
	return sink;
}

static bool is_part(const struct part *p, unsigned number)
{
	return p && p->number >= number;
}

/* Until the file of that number is open: it is ready, or written already. */
static void wait_part(struct trace_series *s, unsigned number, const char *name)
{
	bool open = false;

	for (int i = 0; i < PATIENCE && !open; i++) {
		pthread_mutex_lock(&s->lock);
		open = is_part(s->ready, number) || is_part(s->current, number);
		pthread_mutex_unlock(&s->lock);
		if (!open)
			usleep(25000);
	}
	assert_true(open && there(name));
}

static void wait_bytes(struct trace_series *s, uint64_t bytes)
{
	struct trace_series_stats stats;

	for (int i = 0; i < PATIENCE; i++) {
		trace_series_stats(s, &stats);
		if (stats.bytes >= bytes || stats.failing)
			return;
		usleep(25000);
	}
	fail_msg("only %llu bytes were written", (unsigned long long)stats.bytes);
}

/* What files may grow to from here on; returns what it was. */
static struct rlimit limit_files(rlim_t bytes)
{
	struct rlimit before, now;

	getrlimit(RLIMIT_FSIZE, &before);
	now = before;
	now.rlim_cur = bytes;
	setrlimit(RLIMIT_FSIZE, &now);
	return before;
}

/* No file can be opened from here on, so that a recording stays interrupted until this
 * is put back; returns what it was. */
static struct rlimit limit_opening(void)
{
	struct rlimit before, now;

	getrlimit(RLIMIT_NOFILE, &before);
	now = before;
	now.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &now);
	return before;
}

/* A few rows at a time, where nothing can be written; returns how far it came. */
static size_t push_until_failing(struct trace_series *s, const struct script *script, struct sink *sink,
				 size_t at[TIERS])
{
	struct trace_series_stats stats;
	size_t pushed = 0;

	for (int i = 0; i < PATIENCE; i++) {
		script_push(script, sink, at, script->t_ns[TIER_FAST][pushed += 3]);
		trace_series_stats(s, &stats);
		if (stats.failing)
			break;
		usleep(25000);
	}
	assert_true(stats.failing);
	return pushed;
}

/* The rows of one file are the next ones of the script; at[] is how far. */
static void check_rows(struct trace *t, const struct script *s, size_t at[TIERS])
{
	for (int tier = 0; tier < TIERS; tier++) {
		size_t width = s->session.width[tier];

		for (uint64_t row = 0; row < t->section[tier].rows; row++, at[tier]++) {
			assert_true(at[tier] < s->n[tier]);
			/* A time in a file is a double of seconds since its start. */
			assert_in_range(row_ns(t, (enum tier)tier, row) - s->t_ns[tier][at[tier]] + 2, 0, 4);
			for (size_t c = 0; c < s->session.n_channels; c++) {
				const struct channel *ch = &s->channels[c];
				double want;

				if ((int)ch->tier != tier)
					continue;
				want = s->values[tier][at[tier] * width + ch->column];
				if (!same_value(cell_read(t, c, row), want))
					fail_msg("%s, row %zu: %g, not %g", ch->name, at[tier],
						 cell_read(t, c, row), want);
			}
		}
	}
}

static struct trace *open_part(const struct trace_series *s, size_t i)
{
	char path[512];
	bool complete;
	struct err e;
	struct trace *t;

	if (!trace_series_part(s, i, path, sizeof(path), &complete))
		return NULL;
	assert_true(complete);
	t = trace_open(path, &e);
	if (!t || e.code != ERR_NONE)
		fail_msg("%s", e.text);
	return t;
}

/* Split by time: the tiers come one after the other, a piece at a time, so at
 * each cut rows of two of them are still older than it. */
static void test_split_by_time(void **state)
{
	const struct trace_limits limits = {.split_ns = NS_PER_S};
	struct script *script = script_new(51, 3600, 4, 3, 3, true);
	struct trace_series *s = trace_series_new(in_folder("t.bin"), false, &limits, NULL);
	struct sink *sink = begin(s, script);
	size_t at[TIERS] = {0}, seen[TIERS] = {0}, files = 0, marks = 0;
	uint64_t late = 0;
	struct err e;
	struct trace *t;
	char name[32];

	(void)state;
	for (int k = 1; k <= 3; k++) {
		int64_t cut = START_NS + k * NS_PER_S;

		snprintf(name, sizeof(name), "t.%d.bin.part", k + 1);
		script_push(script, sink, at, cut - NS_PER_S / 4);
		wait_part(s, (unsigned)k + 1, name);
		sink->ops->mark(sink, &(struct mark) {2 * (uint64_t)k - 1, cut - 1, "before"});
		sink->ops->gap(sink, &(struct gap) {TIER_SLOW, GAP_LATE, cut - 3000, cut + 1000, 8});
		script_push(script, sink, at, cut + NS_PER_S / 20);
		sink->ops->mark(sink, &(struct mark) {2 * (uint64_t)k, cut, "after"});
	}
	script_push(script, sink, at, INT64_MAX);
	assert_int_equal(sink->ops->end(sink, &e), 0);
	assert_int_equal(trace_series_wait(s, &e), 0);
	for (; (t = open_part(s, files)); files++) {
		assert_int_equal(t->session.start.mono_ns, START_NS + (int64_t)files * NS_PER_S);
		assert_true(row_ns(t, TIER_FAST, 0) >= t->session.start.mono_ns);
		for (size_t i = 0; i < t->n_marks; i++)
			assert_int_equal(t->marks[i].id, ++marks);
		assert_int_equal(t->n_marks, files == 0 || files == 3 ? 1 : 2);
		for (size_t i = 0; i < t->n_gaps; i++)
			late += t->gaps[i].missed;
		check_rows(t, script, seen);
		trace_close(t);
	}
	assert_int_equal(files, 4);
	assert_int_equal(marks, 6);
	assert_int_equal(late, 3 * 8);
	for (int i = 0; i < TIERS; i++)
		assert_int_equal(seen[i], script->n[i]);
	trace_series_free(s);
	script_free(script);
}

/* Split by size: no file is larger, none is much smaller. */
static void test_split_by_size(void **state)
{
	const struct trace_limits limits = {.split_bytes = 200000};
	struct script *script = script_new(52, FAST * 2, 4, 3, 3, true);
	struct trace_series *s = trace_series_new(in_folder("s"), false, &limits, NULL);
	struct sink *sink = begin(s, script);
	size_t at[TIERS] = {0}, seen[TIERS] = {0}, files = 0;
	struct err e;
	struct trace *t;

	(void)state;
	/* As fast as the next file can be opened. */
	while (at[TIER_FAST] < script->n[TIER_FAST]) {
		script_push(script, sink, at, script->t_ns[TIER_FAST][at[TIER_FAST]] + 20 * NS_PER_MS);
		usleep(2000);
	}
	script_push(script, sink, at, INT64_MAX);
	sink->ops->end(sink, &e);
	assert_int_equal(trace_series_wait(s, &e), 0);
	for (; (t = open_part(s, files)); files++) {
		struct trace_summary sum;

		trace_summary(t, &sum);
		assert_in_range(sum.bytes, 1, limits.split_bytes);
		check_rows(t, script, seen);
		trace_close(t);
	}
	assert_true(files >= 5);
	assert_true(there("s") && there("s.2") && there("s.3"));
	for (int i = 0; i < TIERS; i++)
		assert_int_equal(seen[i], script->n[i]);
	trace_series_free(s);
	script_free(script);
}

static void test_max_size(void **state)
{
	const struct trace_limits limits = {.max_bytes = 300000, .split_bytes = 120000};
	struct script *script = script_new(53, FAST * 2, 4, 3, 3, false);
	struct trace_series *s = trace_series_new(in_folder("max.bin"), false, &limits, NULL);
	struct sink *sink = begin(s, script);
	size_t at[TIERS] = {0}, seen[TIERS] = {0}, files = 0;
	struct trace_series_stats stats;
	uint64_t bytes = 0;
	struct trace *t;
	struct err e;

	(void)state;
	while (at[TIER_FAST] < script->n[TIER_FAST]) {
		script_push(script, sink, at, script->t_ns[TIER_FAST][at[TIER_FAST]] + 20 * NS_PER_MS);
		usleep(2000);
	}
	trace_series_stats(s, &stats);
	assert_true(stats.full);
	sink->ops->end(sink, &e);
	assert_int_equal(trace_series_wait(s, &e), 0);
	trace_series_stats(s, &stats);
	assert_int_equal(stats.lost_rows, 0);
	for (; (t = open_part(s, files)); files++) {
		struct trace_summary sum;

		trace_summary(t, &sum);
		bytes += (uint64_t)sum.bytes;
		check_rows(t, script, seen);
		trace_close(t);
	}
	assert_in_range(bytes, limits.max_bytes / 2, limits.max_bytes);
	assert_int_equal(bytes, stats.bytes);
	assert_in_range(seen[TIER_FAST], 500, script->n[TIER_FAST] - 1);
	/* All tiers end at the same moment. */
	assert_in_range(script->t_ns[TIER_MEDIUM][seen[TIER_MEDIUM] - 1],
			script->t_ns[TIER_FAST][seen[TIER_FAST] - 1] - 40 * NS_PER_MS,
			script->t_ns[TIER_FAST][seen[TIER_FAST] - 1]);
	trace_series_free(s);
	script_free(script);
}

/* Marks that were set when there was no file stand at the beginning of the next. */
static void check_moved(const struct trace *t)
{
	const struct mark *m;
	size_t n;

	m = trace_marks(t, &n);
	assert_int_equal(n, HELD_MARKS);
	assert_memory_equal(m[0].label, "(-0.", 4);
	assert_memory_equal(m[1].label, "boot (-0.", 9);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(m[i].id, i + 1);
		assert_true(m[i].t_ns - trace_session(t)->start.mono_ns < NS_PER_MS);
	}
}

/* A label that has no room for the time is cut between two characters. */
static void test_moved_label(void **state)
{
	struct mark m = {.t_ns = 0, .label = ""}, at_once = {.t_ns = 5, .label = "x"};

	(void)state;
	for (int i = 0; i < 31; i++)
		strcat(m.label, "\xc3\xa4");
	mark_move(&m, 12345 * NS_PER_MS);
	assert_int_equal(m.t_ns, 12345 * NS_PER_MS);
	assert_int_equal(strlen(m.label), 52 + strlen(" (-12.3 s)"));
	assert_memory_equal(m.label + 50, "\xc3\xa4 (-12.3 s)", 12);
	mark_move(&at_once, NS_PER_MS);
	assert_string_equal(at_once.label, "x");
}

/* No file comes any more: they are counted. */
static void test_marks_without_a_file(void **state)
{
	struct script *script = script_new(57, FAST, 2, 1, 1, false);
	struct trace_series *s = trace_series_new(in_folder("none.bin"), false, NULL, NULL);
	struct rlimit before;
	struct trace_series_stats stats;
	size_t at[TIERS] = {0}, pushed;
	struct sink *sink;
	struct err e;

	(void)state;
	before = limit_files(0);
	sink = begin(s, script);
	pushed = push_until_failing(s, script, sink, at);
	/* Before anything else tells the series of it. */
	sink->ops->mark(sink, &(struct mark) {1, script->t_ns[TIER_FAST][pushed], "lost"});
	sink->ops->end(sink, &e);
	assert_int_equal(trace_series_wait(s, &e), -1);
	setrlimit(RLIMIT_FSIZE, &before);
	trace_series_stats(s, &stats);
	assert_int_equal(stats.marks, 0);
	assert_int_equal(stats.lost_marks, 1);
	assert_null(open_part(s, 0));
	trace_series_free(s);
	script_free(script);
}

static void wait_failing(struct trace_series *s)
{
	struct trace_series_stats stats;

	for (int i = 0; i < PATIENCE; i++) {
		trace_series_stats(s, &stats);
		if (stats.failing)
			return;
		usleep(25000);
	}
	fail_msg("writing does not fail");
}

/* Until some next file is open. */
static void wait_ready(struct trace_series *s)
{
	bool ready = false;

	for (int i = 0; i < PATIENCE && !ready; i++) {
		usleep(25000);
		pthread_mutex_lock(&s->lock);
		ready = s->ready != NULL;
		pthread_mutex_unlock(&s->lock);
	}
	assert_true(ready);
}

static void wait_done(struct trace_series *s, size_t n)
{
	size_t done = 0;

	for (int i = 0; i < PATIENCE && done < n; i++) {
		usleep(25000);
		pthread_mutex_lock(&s->lock);
		done = s->n_done;
		pthread_mutex_unlock(&s->lock);
	}
	assert_int_equal(done, n);
}

static const struct mark *mark_labelled(const struct trace *t, const char *label)
{
	size_t n;
	const struct mark *m = trace_marks(t, &n);

	for (size_t i = 0; i < n; i++)
		if (strncmp(m[i].label, label, strlen(label)) == 0)
			return &m[i];
	fail_msg("no mark \"%s\"", label);
	return NULL;
}

/* Taken before it was known that nothing can be written: it did not reach the file, and
 * is in the next one; also when that could not be written either. */
static void test_mark_in_the_last_block(void **state)
{
	struct script *script = script_new(58, FAST, 4, 3, 3, false);
	struct trace_series *s = trace_series_new(in_folder("b.bin"), false, NULL, NULL);
	struct sink *sink = begin(s, script);
	struct trace_series_stats stats;
	struct rlimit before;
	size_t at[TIERS] = {0};
	const struct mark *m;
	struct trace *t;
	struct err e;

	(void)state;
	sink->ops->mark(sink, &(struct mark) {1, script->t_ns[TIER_FAST][0], "early"});
	script_push(script, sink, at, script->t_ns[TIER_FAST][800]);
	wait_bytes(s, 800 * FAST_SIZE);
	before = limit_files(1);
	sink->ops->mark(sink, &(struct mark) {2, script->t_ns[TIER_FAST][800], "late"});
	script_push(script, sink, at, script->t_ns[TIER_FAST][810]);
	wait_failing(s);
	setrlimit(RLIMIT_FSIZE, &before);
	sink->ops->mark(sink,
			&(struct mark) {3, script->t_ns[TIER_FAST][810], "held"}); /* now the file ends */
	wait_done(s, 1);
	wait_ready(s);
	limit_files(1);
	script_push(script, sink, at, script->t_ns[TIER_FAST][820]);
	wait_failing(s); /* the second file, with both marks in it */
	setrlimit(RLIMIT_FSIZE, &before);
	sink->ops->mark(sink, &(struct mark) {4, script->t_ns[TIER_FAST][820], "held too"});
	wait_ready(s);
	script_push(script, sink, at, INT64_MAX);
	wait_bytes(s, 3000 * FAST_SIZE);
	sink->ops->end(sink, &e);
	assert_int_equal(trace_series_wait(s, &e), -1);
	trace_series_stats(s, &stats);
	assert_int_equal(stats.parts, 2);
	assert_int_equal(stats.marks, 4);
	assert_int_equal(stats.lost_marks, 0);
	assert_int_equal(stats.moved_marks, 3);
	t = open_part(s, 0);
	mark_labelled(t, "early");
	trace_close(t);
	t = open_part(s, 1);
	m = mark_labelled(t, "late");
	assert_int_equal(m->id, 2);
	assert_true(m->t_ns - trace_session(t)->start.mono_ns < NS_PER_MS);
	if (m->label[4]) /* once, however often it waited */
		assert_null(strchr(strchr(m->label, '(') + 1, '('));
	assert_int_equal(mark_labelled(t, "held")->id, 3);
	assert_int_equal(mark_labelled(t, "held too")->id, 4);
	trace_close(t);
	trace_series_free(s);
	script_free(script);
}

/* A file that may not grow any more: it ends, and the next one begins.  Every
 * row is in one of them or counted as lost. */
static void test_limit_and_resume(void **state)
{
	struct script *script = script_new(54, FAST, 4, 3, 3, false);
	struct trace_series *s = trace_series_new(in_folder("l.bin"), false, NULL, NULL);
	struct sink *sink = begin(s, script);
	struct trace_series_stats stats;
	struct rlimit before, files_before;
	size_t at[TIERS] = {0}, files = 0;
	uint64_t rows = 0;
	struct trace *t;
	struct err e;

	(void)state;
	before = limit_files(150000);
	script_push(script, sink, at, script->t_ns[TIER_FAST][800]);
	wait_bytes(s, 800 * FAST_SIZE);
	files_before = limit_opening();
	script_push(script, sink, at, script->t_ns[TIER_FAST][2000]);
	for (int i = 0; i < PATIENCE; i++) {
		trace_series_stats(s, &stats);
		if (stats.failing)
			break;
		usleep(25000);
	}
	setrlimit(RLIMIT_NOFILE, &files_before);
	assert_true(stats.failing);
	assert_non_null(strstr(stats.err.text, "File too large"));
	setrlimit(RLIMIT_FSIZE, &before); /* the first file is completed from the next row on */
	/* The next file may be open as soon as the next row comes. */
	sink->ops->mark(sink, &(struct mark) {1, script->t_ns[TIER_FAST][1800], ""});
	sink->ops->mark(sink, &(struct mark) {2, script->t_ns[TIER_FAST][1800], "boot"});
	for (uint64_t i = 3; i <= HELD_MARKS + 5; i++)
		sink->ops->mark(sink, &(struct mark) {i, script->t_ns[TIER_FAST][1800], "more"});
	script_push(script, sink, at, script->t_ns[TIER_FAST][2100]); /* in no file, or in the next */
	wait_part(s, 2, "l.2.bin.part");
	script_push(script, sink, at, INT64_MAX);
	trace_series_stats(s, &stats);
	assert_false(stats.failing);
	assert_int_equal(stats.holes, 1);
	assert_true(stats.hole_ns > 0);
	assert_int_equal(stats.err.code, ERR_NONE);
	sink->ops->end(sink, &e);
	assert_int_equal(trace_series_wait(s, &e), -1);
	assert_non_null(strstr(e.text, "File too large"));
	assert_non_null(strstr(e.text, "l.bin"));
	trace_series_stats(s, &stats);
	for (; (t = open_part(s, files)); files++) {
		for (int i = 0; i < TIERS; i++)
			rows += t->section[i].rows;
		if (files == 1)
			check_moved(t);
		trace_close(t);
	}
	assert_int_equal(stats.moved_marks, HELD_MARKS);
	assert_int_equal(stats.lost_marks, 5);
	assert_int_equal(files, 2);
	assert_int_equal(stats.parts, 2);
	assert_true(stats.lost_rows >= 100);
	assert_int_equal(rows + stats.lost_rows, FAST + FAST / 10 + FAST / 100);
	trace_series_free(s);
	script_free(script);
}

/* Nothing can be written at all, from the first byte on, and then it can. */
static void test_late_start(void **state)
{
	struct script *script = script_new(55, FAST, 2, 1, 1, false);
	struct trace_series *s = trace_series_new(in_folder("late.bin"), false, NULL, NULL);
	struct rlimit before;
	struct trace_series_stats stats;
	size_t at[TIERS] = {0}, pushed;
	struct sink *sink;
	struct trace *t;
	struct err e;

	(void)state;
	before = limit_files(0);
	sink = begin(s, script);
	pushed = push_until_failing(s, script, sink, at);
	setrlimit(RLIMIT_FSIZE, &before);
	stats.failing = true;
	for (int i = 0; i < PATIENCE && stats.failing; i++) {
		script_push(script, sink, at, script->t_ns[TIER_FAST][pushed += 3]);
		trace_series_stats(s, &stats);
		usleep(25000);
	}
	assert_false(stats.failing);
	script_push(script, sink, at, INT64_MAX);
	sink->ops->end(sink, &e);
	assert_int_equal(trace_series_wait(s, &e), -1);
	/* The name was free again. */
	t = open_part(s, 0);
	assert_true(there("late.bin") && !there("late.2.bin"));
	assert_true(t->section[TIER_FAST].rows > 1000);
	trace_close(t);
	assert_null(open_part(s, 1));
	trace_series_free(s);
	script_free(script);
}

static void put_file(const char *name)
{
	FILE *f = fopen(in_folder(name), "w");

	assert_non_null(f);
	fputs("mine", f);
	fclose(f);
}

/* The next number of which there is nothing. */
static void test_names(void **state)
{
	static const struct {
		const char *path;
		unsigned number;
		const char *want;
	} names[] = {{"run.bin", 1, "run.bin"},
		     {"run.bin", 2, "run.2.bin"},
		     {"a.b/run", 12, "a.b/run.12"},
		     {"/x/.hidden", 3, "/x/.hidden.3"},
		     {"./a.tar.gz", 2, "./a.tar.2.gz"}};
	const struct trace_limits limits = {.split_ns = NS_PER_S};
	struct script *script = script_new(56, 2500, 2, 1, 1, false);
	struct trace_series *s;
	size_t at[TIERS] = {0};
	struct sink *sink;
	char path[512];
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(part_path(names[i].path, names[i].number, path, sizeof(path)), 0);
		assert_string_equal(path, names[i].want);
	}
	put_file("n.bin");
	put_file("n.2.bin");
	put_file("n.3.bin.part");
	assert_null(trace_series_new(in_folder("n.bin"), false, &limits, &e));
	assert_non_null(strstr(e.text, "already exists"));
	s = trace_series_new(in_folder("n.bin"), true, &limits, &e);
	sink = begin(s, script);
	script_push(script, sink, at, START_NS + NS_PER_S / 2);
	wait_part(s, 4, "n.4.bin.part");
	script_push(script, sink, at, INT64_MAX);
	sink->ops->end(sink, &e);
	assert_int_equal(trace_series_wait(s, &e), 0);
	assert_true(trace_series_part(s, 1, path, sizeof(path), NULL));
	assert_non_null(strstr(path, "n.4.bin"));
	assert_true(there("n.2.bin") && there("n.3.bin.part") && !there("n.5.bin.part"));
	trace_series_free(s);
	script_free(script);
}

/* The next file cannot be opened: the recording stays in the one it is in. */
static void test_cannot_split(void **state)
{
	const struct trace_limits limits = {.split_ns = NS_PER_S};
	struct script *script = script_new(57, 2500, 2, 1, 1, false);
	char longest[260], path[500];
	struct trace_series_stats stats;
	size_t at[TIERS] = {0}, seen[TIERS] = {0};
	struct trace_series *s;
	struct sink *sink;
	struct trace *t;
	struct err e;

	(void)state;
	memset(longest, 'x', sizeof(longest)); /* with a number in it, it is too long */
	snprintf(path, sizeof(path), "%s/%.250s.bin", test_folder, longest);
	s = trace_series_new(path, false, &limits, &e);
	while (!s) { /* as long as it can be */
		memmove(strrchr(path, '/') + 1, strrchr(path, '/') + 2, strlen(strrchr(path, '/') + 2) + 1);
		s = trace_series_new(path, false, &limits, &e);
	}
	sink = begin(s, script);
	script_push(script, sink, at, START_NS + NS_PER_S / 2);
	for (int i = 0; i < PATIENCE; i++) {
		trace_series_stats(s, &stats);
		if (stats.err.code != ERR_NONE)
			break;
		usleep(25000);
	}
	assert_false(stats.failing);
	if (!strstr(stats.err.text, "too long"))
		fail_msg("%s", stats.err.text);
	assert_non_null(strstr(stats.err.text, "continues in the previous file"));
	script_push(script, sink, at, INT64_MAX);
	sink->ops->end(sink, &e);
	assert_int_equal(trace_series_wait(s, &e), 0);
	t = open_part(s, 0);
	check_rows(t, script, seen);
	assert_int_equal(seen[TIER_FAST], 2500);
	trace_close(t);
	trace_series_free(s);
	script_free(script);
}

static void test_never_begun(void **state)
{
	struct trace_series *s = trace_series_new(in_folder("never.bin"), false, NULL, NULL);
	struct err e;

	(void)state;
	assert_true(there("never.bin.part"));
	assert_int_equal(trace_series_wait(s, &e), 0);
	assert_false(trace_series_part(s, 0, NULL, 0, NULL));
	trace_series_free(s);
	trace_series_free(NULL);
	assert_false(there("never.bin") || there("never.bin.part"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split_by_time),
		cmocka_unit_test(test_split_by_size),
		cmocka_unit_test(test_max_size),
		cmocka_unit_test(test_limit_and_resume),
		cmocka_unit_test(test_late_start),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_cannot_split),
		cmocka_unit_test(test_never_begun),
		cmocka_unit_test(test_mark_in_the_last_block),
		cmocka_unit_test(test_moved_label),
		cmocka_unit_test(test_marks_without_a_file),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
