/* Changes of the machine's configuration appear once and in order in every kind of recording, and each
 * file starts with the facts at its beginning. */
#include "test-trace.h"
#include "stream-to.h"

#include "trace/follow.h"
#include "record/pretrigger.h"
#include "report/report.h"

static struct err e;

static struct change change_at(int64_t t_ns, const char *what, const char *from, const char *to)
{
	struct change c = {.t_ns = t_ns};

	snprintf(c.what, sizeof(c.what), "%s", what);
	snprintf(c.from, sizeof(c.from), "%s", from);
	snprintf(c.to, sizeof(c.to), "%s", to);
	return c;
}

/* Rows of 3.6 s; the mode changes at 0.5 s and 2.5 s, a sensor fails at 1.5 s. Each change is reported a
 * second late. */
static void feed(const struct script *s, struct sink *sink, int64_t late_ns)
{
	const int64_t start = s->session.start.mono_ns;
	const struct change list[] = {
		change_at(start + NS_PER_S / 2, "mode", "15W", "30W"),
		change_at(start + 3 * NS_PER_S / 2, "zone0.temperature0", "50.5 C", ""),
		change_at(start + 5 * NS_PER_S / 2, "mode", "30W", "MAXN"),
	};
	size_t at[TIERS] = {0};

	for (size_t i = 0; i < 3; i++) {
		script_push(s, sink, at, list[i].t_ns + late_ns);
		sink->ops->change(sink, &list[i]);
	}
	script_push(s, sink, at, INT64_MAX);
}

static struct script *script_with_mode(size_t fast)
{
	struct script *s = script_new(7, fast, 2, 1, 1, false);

	s->facts[1] = (struct fact) {"mode", "15W"};
	return s;
}

static struct trace *open_sound(const char *path)
{
	struct trace *t = trace_open(path, &e);

	if (!t || e.code != ERR_NONE)
		fail_msg("%s: %s", path, e.text);
	return t;
}

static const char *mode_of(const struct trace *t)
{
	const struct session *s = trace_session(t);

	return fact_get(s->facts, s->n_facts, "mode");
}

static void assert_change(const struct trace *t, size_t i, int64_t after_ns, const char *text)
{
	size_t n;
	const struct change *c = trace_changes(t, &n);
	char is[CHANGE_TEXT];

	assert_true(i < n);
	change_text(is, &c[i]);
	assert_string_equal(is, text);
	assert_int_equal(c[i].t_ns - trace_session(t)->start.mono_ns, after_ns);
}

/* A part that starts at 30 W, with one change half a second after that time. */
static void assert_part_of(const char *name, const char *text, int64_t from_ns)
{
	struct trace *t = open_sound(in_folder(name));
	size_t n;

	assert_string_equal(mode_of(t), "30W");
	trace_changes(t, &n);
	assert_int_equal(n, 1);
	assert_change(t, 0, from_ns + NS_PER_S / 2 - trace_session(t)->start.mono_ns, text);
	trace_close(t);
}

static void assert_part(const char *name, const char *text)
{
	struct trace *t = open_sound(in_folder(name));
	int64_t start_ns = trace_session(t)->start.mono_ns;

	trace_close(t);
	assert_part_of(name, text, start_ns);
}

static void assert_all(const char *path)
{
	struct trace *t = open_sound(path);
	struct timeline *tl = trace_timeline(t);
	struct change some[2];
	size_t n;

	trace_changes(t, &n);
	assert_int_equal(n, 3);
	assert_change(t, 0, NS_PER_S / 2, "mode: 15W -> 30W");
	assert_change(t, 1, 3 * NS_PER_S / 2, "zone0.temperature0: 50.5 C -> --");
	assert_change(t, 2, 5 * NS_PER_S / 2, "mode: 30W -> MAXN");
	assert_string_equal(mode_of(t), "15W");
	/* The newest one that fits. */
	assert_int_equal(tl->ops->changes(tl, 0, START_NS + 2 * NS_PER_S, some, 1), 1);
	assert_string_equal(some[0].what, "zone0.temperature0");
	trace_close(t);
}

static void test_file(void **state)
{
	struct script *s = script_with_mode(3600);
	struct log_out *w = log_out_new(in_folder("a.nvmt"), true, &e);
	struct sink *sink;

	(void)state;
	sink = stream_begin(w, &s->session, false);
	feed(s, sink, NS_PER_S);
	assert_int_equal(stream_end(w, sink, &e), 0);
	log_out_free(w);
	assert_all(in_folder("a.nvmt"));
	script_free(s);
}

static void record_and_hang(void *arg)
{
	const struct script *s = arg;
	struct log_out *w = log_out_new(in_folder("k.nvmt"), true, &e);
	struct sink *sink;
	struct log_out_stats stats = {.bytes = 0};

	sink = stream_begin(w, &s->session, false);
	feed(s, sink, NS_PER_S);
	/* Everything is on its way to the disk within a quarter of a second. */
	for (int still = 0; still < 4; still++) {
		uint64_t bytes = stats.bytes;

		usleep(250000);
		log_out_stats(w, &stats);
		if (stats.bytes != bytes)
			still = 0;
	}
}

static void test_killed(void **state)
{
	struct script *s = script_with_mode(3600);

	(void)state;
	killed_after(record_and_hang, s);
	assert_all(in_folder("k.nvmt"));
	script_free(s);
}

static void test_stream(void **state)
{
	struct script *s = script_with_mode(3600);
	int fd = open(in_folder("s.nvmt"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct log_out *w = log_out_fd(fd, &e);
	struct sink *sink;

	(void)state;
	sink = stream_begin(w, &s->session, false);
	feed(s, sink, NS_PER_S);
	assert_int_equal(stream_end(w, sink, &e), 0);
	log_out_free(w);
	assert_all(in_folder("s.nvmt"));
	script_free(s);
}

/* --- exports of a stream while it is written --- */

struct taker {
	struct sink sink;
	size_t n;
	struct change list[4];
};

static int take_begin(struct sink *s, const struct session *about, struct err *err)
{
	(void)s;
	(void)about;
	(void)err;
	return 0;
}

static void take_rows(struct sink *s, const struct rows *r)
{
	(void)s;
	(void)r;
}

static void take_mark(struct sink *s, const struct mark *m)
{
	(void)s;
	(void)m;
}

static void take_gap(struct sink *s, const struct gap *g)
{
	(void)s;
	(void)g;
}

static int take_end(struct sink *s, struct err *err)
{
	(void)s;
	(void)err;
	return 0;
}

static void take_change(struct sink *s, const struct change *c)
{
	struct taker *t = (struct taker *)s;

	if (t->n < 4)
		t->list[t->n++] = *c;
}

static void test_followed(void **state)
{
	static const struct sink_ops ops = {.begin = take_begin,
					    .rows = take_rows,
					    .mark = take_mark,
					    .gap = take_gap,
					    .end = take_end,
					    .change = take_change};
	struct taker taker = {.sink.ops = &ops};
	int in = open(in_folder("s.nvmt"), O_RDONLY);
	struct follow *follow;

	(void)state;
	assert_true(in >= 0 && dup2(in, STDIN_FILENO) == STDIN_FILENO);
	close(in);
	follow = follow_open("-", &taker.sink, &e);
	assert_non_null(follow);
	for (int i = 0; i < 1000 && taker.n < 3; i++)
		if (follow_take(follow, &e) < 0)
			break;
	follow_close(follow);
	assert_int_equal(taker.n, 3);
	assert_string_equal(taker.list[2].to, "MAXN");
	assert_int_equal(taker.list[0].t_ns, START_NS + NS_PER_S / 2);
}

/* Files of a series: each has the changes of its own time and the facts at its beginning. */
static void test_split(void **state)
{
	const struct trace_limits limits = {.split.ns = 2 * NS_PER_S};
	struct script *s = script_with_mode(3600);
	struct log_out *series = log_out_new(in_folder("p.nvmt"), true, &e);
	struct sink *sink;
	struct log_out_stats stats = {.files = 0};
	size_t at[TIERS] = {0}, n;
	struct change c;
	char path[512];
	struct trace *t;

	(void)state;
	log_out_limits(series, &limits);
	sink = stream_begin(series, &s->session, false);
	script_push(s, sink, at, START_NS + NS_PER_S);
	c = change_at(START_NS + NS_PER_S / 2, "mode", "15W", "30W");
	sink->ops->change(sink, &c);
	/* The next file is opened in the background, in unknown time. */
	for (int i = 0; i < 400 && stats.files < 2; i++) {
		script_push(s, sink, at, START_NS + 2 * NS_PER_S + (i + 1) * NS_PER_S / 1000);
		log_out_stats(series, &stats);
		usleep(5000);
	}
	c = change_at(START_NS + 3 * NS_PER_S, "mode", "30W", "MAXN");
	sink->ops->change(sink, &c);
	script_push(s, sink, at, INT64_MAX);
	assert_int_equal(stream_end(series, sink, &e), 0);
	assert_true(log_out_wait(series, INT64_MAX));
	assert_int_equal(log_out_result(series, &e), 0);
	assert_true(log_out_file(series, 0, path, sizeof(path), NULL));
	t = open_sound(path);
	assert_string_equal(mode_of(t), "15W");
	trace_changes(t, &n);
	assert_int_equal(n, 1);
	trace_close(t);
	assert_true(log_out_file(series, 1, path, sizeof(path), NULL));
	t = open_sound(path);
	assert_string_equal(mode_of(t), "30W");
	trace_changes(t, &n);
	assert_int_equal(n, 1);
	assert_string_equal(trace_changes(t, &n)->to, "MAXN");
	trace_close(t);
	log_out_free(series);
	script_free(s);
}

static bool wait_file(void *arg, struct log_out *w)
{
	(void)arg;
	return log_out_wait(w, INT64_MAX);
}

static void test_kept(void **state)
{
	struct script *s = script_with_mode(3600);
	struct pretrigger_options o = {.keep_ns = NS_PER_S, .after_ns = NS_PER_S / 10, .path = in_folder("r.nvmt"), .force = true};
	int64_t off = clock_now_ns() - START_NS;
	struct pretrigger *k;
	struct sink *kept;

	(void)state;
	s->session.start.mono_ns += off;
	for (int i = 0; i < TIERS; i++)
		for (size_t r = 0; r < s->n[i]; r++)
			s->t_ns[i][r] += off;
	k = pretrigger_new(&o, &s->session, &e);
	assert_non_null(k);
	kept = log_sink(pretrigger_log(k));
	assert_int_equal(pretrigger_sink(k)->ops->begin(pretrigger_sink(k), &s->session, &e), 0);
	assert_int_equal(kept->ops->begin(kept, &s->session, &e), 0);
	feed(s, kept, 0);
	pretrigger_trigger(k, s->session.start.mono_ns + 3 * NS_PER_S, "here");
	kept->ops->end(kept, NULL);
	pretrigger_end(k, wait_file, NULL);
	pretrigger_free(k);
	assert_part_of("r.nvmt", "mode: 30W -> MAXN", s->session.start.mono_ns + 2 * NS_PER_S);
	script_free(s);
}

/* The part from 1 s on. */
static void test_cut(void **state)
{
	const struct selection p = {.tier = -1, .has_from = true, .from_ns = NS_PER_S, .has_to = true, .to_ns = 2 * NS_PER_S};
	struct trace *t = open_sound(in_folder("a.nvmt"));

	(void)state;
	assert_int_equal(trace_cut(t, &p, in_folder("c.nvmt"), true, NULL, &e), 0);
	trace_close(t);
	assert_part("c.nvmt", "zone0.temperature0: 50.5 C -> --");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),	 cmocka_unit_test(test_killed), cmocka_unit_test(test_stream),
		cmocka_unit_test(test_followed), cmocka_unit_test(test_split),	   cmocka_unit_test(test_kept),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
