/* A recording as a stream: what goes in comes out bit for bit, whatever pieces it
 * comes in; a reader that stands still costs rows and never the caller; damage is
 * noticed and what is whole is used. */
#include "test-stream.h"

#include <poll.h>
#include <signal.h>
#include <time.h>

#define ROWS 6000

/* --- making streams --- */

static void push_all(const struct script *s, struct log_writer *w)
{
	size_t at[TIERS] = {0};
	struct sink *sink = log_writer_sink(w);
	int64_t end = s->t_ns[TIER_FAST][s->n[TIER_FAST] - 1] + 1, third = (end - START_NS) / 3;

	script_push(s, sink, at, START_NS + third);
	sink->ops->mark(sink, &(struct mark) {1, START_NS + third, "first"});
	sink->ops->gap(sink, &(struct gap) {TIER_FAST, GAP_LATE, START_NS + third, START_NS + third + 1, 3});
	script_push(s, sink, at, START_NS + 2 * third);
	sink->ops->mark(sink, &(struct mark) {2, START_NS + 2 * third, ""});
	script_push(s, sink, at, INT64_MAX);
}

static void stream_make(const struct script *s, const char *path)
{
	struct err e;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct log_writer *w = log_writer_fd(fd, &e);
	struct log_writer_stats stats;

	assert_non_null(w);
	assert_int_equal(log_writer_sink(w)->ops->begin(log_writer_sink(w), &s->session, &e), 0);
	push_all(s, w);
	assert_int_equal(log_writer_sink(w)->ops->end(log_writer_sink(w), &e), 0);
	log_writer_stats(w, &stats);
	assert_int_equal(stats.lost_rows, 0);
	assert_int_equal(stats.rows[TIER_FAST], s->n[TIER_FAST]);
	log_writer_free(w);
}

/* Take a file that grows until it ends, or nothing more comes. */
static int tail_all(struct trace_tail *t, struct err *e)
{
	int r;

	while ((r = trace_tail_take(t, e)) > 0)
		;
	return r;
}

static void everything_came(const struct checker *c)
{
	const struct script *s = c->script;

	assert_int_equal(c->wrong, 0);
	assert_int_equal(c->skipped, 0);
	for (int t = 0; t < TIERS; t++)
		assert_int_equal(c->rows[t], s->n[t]);
	assert_int_equal(c->marks, 2);
	assert_string_equal(c->mark[0].label, "first");
	assert_true(c->mark_after_ns[0] < c->mark[0].t_ns && c->mark_after_ns[1] < c->mark[1].t_ns);
	assert_int_equal(c->gaps, 1);
	assert_int_equal(c->ends, 1);
}

/* --- tests --- */

static void test_file(void **state)
{
	(void)state;
	for (int wild = 0; wild < 2; wild++) {
		struct script *s = script_new(7 + (uint64_t)wild, ROWS, 14, 5, 9, wild);
		struct trace_tail_state st;
		struct trace_tail *t;
		struct checker c;
		struct err e;

		stream_make(s, in_folder("a.nvms"));
		assert_true(trace_is_stream(in_folder("a.nvms")));
		t = trace_tail_open(in_folder("a.nvms"), checker_init(&c, s), &e);
		assert_non_null(t);
		assert_int_equal(trace_tail_fd(t), -1);
		assert_int_equal(tail_all(t, &e), -1);
		assert_int_equal(e.code, ERR_NONE);
		everything_came(&c);
		trace_tail_state(t, &st);
		assert_int_equal(st.rows[TIER_FAST], ROWS);
		assert_int_equal(st.late[TIER_FAST], 3);
		assert_int_equal(st.damaged, 0);
		trace_tail_close(t);
		assert_int_equal(c.ends, 1);
		script_free(s);
	}
}

/* Through a pipe, in pieces of any size. */
static void test_pieces(void **state)
{
	struct script *s = script_new(11, ROWS, 3, 2, 3, true);
	const char *fifo = in_folder("fifo");
	struct trace_tail *t;
	struct checker c;
	struct err e;
	size_t n;
	uint8_t *p;
	int out, r = 0;

	(void)state;
	stream_make(s, in_folder("a.nvms"));
	p = load(in_folder("a.nvms"), &n);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	t = trace_tail_open(fifo, checker_init(&c, s), &e);
	assert_non_null(t);
	assert_true(trace_tail_fd(t) >= 0);
	out = open(fifo, O_WRONLY | O_CLOEXEC);
	assert_true(out >= 0);
	assert_int_equal(trace_tail_take(t, &e), 0);
	for (size_t at = 0; at < n;) {
		size_t piece = 1 + script_random(s) % (at < 3000 ? 7 : 9000);

		piece = piece < n - at ? piece : n - at;
		assert_int_equal(write(out, p + at, piece), (ssize_t)piece);
		at += piece;
		while ((r = trace_tail_take(t, &e)) > 0)
			;
		assert_int_equal(r, 0);
	}
	close(out);
	assert_int_equal(tail_all(t, &e), -1);
	assert_int_equal(e.code, ERR_NONE);
	everything_came(&c);
	trace_tail_close(t);
	unlink(fifo);
	free(p);
	script_free(s);
}

/* Cut anywhere: what is whole comes, and it is said that the end is missing. */
static void test_cut(void **state)
{
	struct script *s = script_new(13, 2000, 4, 3, 4, true);
	size_t n;
	uint8_t *p;

	(void)state;
	stream_make(s, in_folder("a.nvms"));
	p = load(in_folder("a.nvms"), &n);
	for (int i = 0; i < 60; i++) {
		size_t cut = i == 0 ? n - 1 : script_random(s) % n;
		int null, keep = dup(STDIN_FILENO);
		struct trace_tail *t;
		struct checker c;
		struct err e;

		store(in_folder("cut.nvms"), p, cut);
		null = open(in_folder("cut.nvms"), O_RDONLY | O_CLOEXEC);
		dup2(null, STDIN_FILENO);
		t = trace_tail_open("-", checker_init(&c, s), &e);
		assert_non_null(t);
		assert_int_equal(tail_all(t, &e), -1);
		assert_int_equal(e.code, c.begun ? ERR_DAMAGED : ERR_FAILED);
		assert_int_equal(c.wrong, 0);
		assert_int_equal(c.ends, c.begun);
		trace_tail_close(t);
		dup2(keep, STDIN_FILENO);
		close(keep);
		close(null);
	}
	free(p);
	script_free(s);
}

/* Bytes that are changed cost values, and never make up others. */
static void test_flip(void **state)
{
	struct script *s = script_new(17, 3000, 4, 3, 4, false);
	size_t n;
	uint8_t *p;

	(void)state;
	stream_make(s, in_folder("a.nvms"));
	p = load(in_folder("a.nvms"), &n);
	for (int i = 0; i < 80; i++) {
		struct trace_recovery rec;
		struct trace_tail *t;
		struct checker c;
		struct trace *tr;
		struct err e;
		uint8_t was[8];
		size_t at = script_random(s) % (n - 8), missing = 0;

		memcpy(was, p + at, 8);
		for (int k = 0; k < 8; k++)
			p[at + (size_t)k] ^= (uint8_t)(script_random(s) >> 3);
		store(in_folder("flip.nvms"), p, n);
		memcpy(p + at, was, 8);
		t = trace_tail_open(in_folder("flip.nvms"), checker_init(&c, s), &e);
		c.exact = false;
		if (t) {
			tail_all(t, &e);
			trace_tail_close(t);
		}
		assert_int_equal(c.wrong, 0);
		tr = trace_open(in_folder("flip.nvms"), &e);
		if (tr)
			missing += unpacked_is_true(s, tr);
		trace_close(tr);
		assert_true(missing < 1200); /* some blocks of rows, not all of them */
		unlink(in_folder("flip.bin"));
		if (trace_unpack(in_folder("flip.nvms"), NULL, false, &rec, &e) == 0)
			assert_true(e.code == ERR_DAMAGED || e.code == ERR_NONE);
	}
	unlink(in_folder("flip.bin"));
	free(p);
	script_free(s);
}

/* The trace that a stream becomes has the same values as the one that is recorded. */
static void test_unpack(void **state)
{
	struct script *s = script_new(19, ROWS, 14, 5, 9, true);
	struct trace_recovery rec;
	struct timeline *tl;
	struct trace *t;
	struct err e;

	(void)state;
	stream_make(s, in_folder("u.nvms"));
	assert_int_equal(trace_unpack(in_folder("u.nvms"), NULL, false, &rec, &e), 0);
	assert_int_equal(e.code, ERR_NONE);
	assert_string_equal(rec.path, in_folder("u.bin"));
	assert_int_equal(rec.rows[TIER_FAST], ROWS);
	assert_int_equal(rec.marks, 2);
	assert_int_equal(rec.late[TIER_FAST], 3);
	assert_int_equal(trace_unpack(in_folder("u.nvms"), NULL, false, &rec, &e), -1);
	for (int kept = 0; kept < 2; kept++) {
		t = trace_open(in_folder(kept ? "u.nvms" : "u.bin"), &e);
		assert_non_null(t);
		assert_int_equal(e.code, ERR_NONE);
		tl = trace_timeline(t);
		for (size_t i = 0; i < s->session.n_channels; i++) {
			const struct channel *c = &s->channels[i];

			for (size_t r = 0; r < s->n[c->tier]; r += 1 + r % 5) {
				int64_t at;
				double v = tl->ops->value(tl, i, s->t_ns[c->tier][r], &at);

				assert_true(at == s->t_ns[c->tier][r]);
				assert_true(same(
					v, s->values[c->tier][r * s->session.width[c->tier] + c->column]));
			}
		}
		trace_close(t);
	}
	script_free(s);
}

/* A recorder into a pipe that nobody reads yet, begun. */
static struct log_writer *pipe_writer(const struct script *s, int fd[2])
{
	struct log_writer *w;
	struct err e;

	assert_int_equal(pipe(fd), 0);
	w = log_writer_fd(fd[1], &e);
	assert_non_null(w);
	assert_int_equal(log_writer_sink(w)->ops->begin(log_writer_sink(w), &s->session, &e), 0);
	return w;
}

/* A reader that takes nothing: nobody waits, memory does not grow, and when it
 * goes on there is a gap and the later rows come. */
static void test_stopped_reader(void **state)
{
	struct script *s = script_new(23, 60000, 14, 5, 9, true);
	size_t at[TIERS] = {0};
	struct log_writer_stats stats;
	struct log_writer *w;
	struct trace_tail *t;
	struct checker c;
	struct err e;
	int fd[2], keep = dup(STDIN_FILENO), r;

	(void)state;
	w = pipe_writer(s, fd);
	/* Far more than queue and pipe hold; each of these returns although nobody reads. */
	script_push(s, log_writer_sink(w), at, s->t_ns[TIER_FAST][50000]);
	log_writer_stats(w, &stats);
	assert_true(stats.lost_rows > 1000);
	assert_true(stats.rows[TIER_FAST] > 1000);
	assert_false(stats.failed);
	dup2(fd[0], STDIN_FILENO);
	close(fd[0]);
	t = trace_tail_open("-", checker_init(&c, s), &e);
	assert_non_null(t);
	for (int i = 0; i < 1500 && c.rows[TIER_FAST] < stats.rows[TIER_FAST]; i++) {
		assert_true(trace_tail_take(t, &e) >= 0);
		poll(&(struct pollfd) {.fd = trace_tail_fd(t), .events = POLLIN}, 1, 10);
	}
	script_push(s, log_writer_sink(w), at, s->t_ns[TIER_FAST][50100]);
	for (int i = 0; i < 1500 && c.last_ns[TIER_FAST] < s->t_ns[TIER_FAST][50099]; i++) {
		assert_true(trace_tail_take(t, &e) >= 0);
		poll(&(struct pollfd) {.fd = trace_tail_fd(t), .events = POLLIN}, 1, 10);
	}
	assert_true(c.last_ns[TIER_FAST] == s->t_ns[TIER_FAST][50099]);
	assert_int_equal(c.wrong, 0);
	assert_true(c.gaps >= 1);
	assert_int_equal(log_writer_sink(w)->ops->end(log_writer_sink(w), &e), 0);
	while ((r = trace_tail_take(t, &e)) >= 0)
		poll(&(struct pollfd) {.fd = trace_tail_fd(t), .events = POLLIN}, 1, 10);
	assert_int_equal(e.code, ERR_NONE);
	log_writer_stats(w, &stats);
	assert_int_equal(c.missed, stats.lost_rows);
	assert_int_equal(c.rows[TIER_FAST], stats.rows[TIER_FAST]);
	assert_int_equal(c.skipped, stats.lost_rows);
	trace_tail_close(t);
	log_writer_free(w);
	dup2(keep, STDIN_FILENO);
	close(keep);
	script_free(s);
}

/* At the end nobody waits for ever for a reader that takes nothing more. */
static void test_deaf_reader(void **state)
{
	struct script *s = script_new(29, 20000, 14, 5, 9, false);
	size_t at[TIERS] = {0};
	struct log_writer *w;
	struct err e;
	int fd[2];

	(void)state;
	w = pipe_writer(s, fd);
	script_push(s, log_writer_sink(w), at, INT64_MAX);
	assert_int_equal(log_writer_sink(w)->ops->end(log_writer_sink(w), &e), -1);
	assert_int_equal(e.code, ERR_FAILED);
	log_writer_free(w);
	close(fd[0]);
	script_free(s);
}

static void test_gone_reader(void **state)
{
	struct script *s = script_new(31, 1000, 2, 1, 1, false);
	size_t at[TIERS] = {0};
	struct log_writer_stats stats;
	struct log_writer *w;
	struct err e;
	int fd[2];

	(void)state;
	w = pipe_writer(s, fd);
	close(fd[0]);
	script_push(s, log_writer_sink(w), at, INT64_MAX);
	for (int i = 0; i < 1000; i++) {
		log_writer_stats(w, &stats);
		if (stats.failed)
			break;
		usleep(10000);
	}
	assert_true(stats.failed);
	assert_true(stats.reader_gone);
	assert_int_equal(log_writer_sink(w)->ops->end(log_writer_sink(w), &e), -1);
	log_writer_free(w);
	script_free(s);
}

/* Up to a fast row, the tiers side by side as a recorder has them, and never far
 * ahead of the disk. */
static void push_together(const struct script *s, struct log_writer *w, size_t at[TIERS], size_t row)
{
	while (at[TIER_FAST] < row) {
		size_t to = at[TIER_FAST] + 50;

		assert_true(log_writer_ready(w));
		script_push(s, log_writer_sink(w), at,
			    to < s->n[TIER_FAST] ? s->t_ns[TIER_FAST][to] : INT64_MAX);
	}
}

/* The files of a recorder at work, from the beginning and to its end. */
static void test_files(void **state)
{
	struct script *s = script_new(37, 30000, 14, 5, 9, true);
	size_t at[TIERS] = {0};
	struct log_writer *w;
	struct trace_tail *t;
	struct checker c;
	struct err e;

	(void)state;
	w = log_writer_new(in_folder("live.bin"), false, &e);
	assert_non_null(w);
	assert_int_equal(log_writer_sink(w)->ops->begin(log_writer_sink(w), &s->session, &e), 0);
	push_together(s, w, at, 15000);
	t = trace_tail_open(in_folder("live.bin"), checker_init(&c, s), &e);
	assert_non_null(t);
	for (int i = 0; i < 1500 && c.last_ns[TIER_FAST] < s->t_ns[TIER_FAST][14999]; i++) {
		assert_true(trace_tail_take(t, &e) >= 0);
		usleep(2000);
	}
	assert_true(c.last_ns[TIER_FAST] == s->t_ns[TIER_FAST][14999]);
	push_together(s, w, at, 30000);
	assert_true(tail_all(t, &e) >= 0);
	assert_int_equal(log_writer_sink(w)->ops->end(log_writer_sink(w), &e), 0);
	log_writer_free(w);
	assert_int_equal(tail_all(t, &e), -1);
	assert_int_equal(e.code, ERR_NONE);
	assert_int_equal(c.wrong, 0);
	assert_int_equal(c.skipped, 0);
	for (int i = 0; i < TIERS; i++)
		assert_int_equal(c.rows[i], s->n[i]);
	trace_tail_close(t);
	assert_null(trace_tail_open(in_folder("live.bin"), checker_init(&c, s), &e));
	assert_int_equal(errno, ENODATA);
	unlink(in_folder("live.bin"));
	script_free(s);
}

static void test_foreign(void **state)
{
	uint8_t noise[200000];
	struct script *s = script_new(41, 500, 2, 1, 1, false);
	struct trace_tail *t;
	struct checker c;
	struct err e;
	size_t n;
	uint8_t *p;

	(void)state;
	/* What a remote shell says before it begins is passed over. */
	stream_make(s, in_folder("a.nvms"));
	p = load(in_folder("a.nvms"), &n);
	store(in_folder("motd.nvms"), (const uint8_t *)"Welcome to Ubuntu\n", 18);
	int fd = open(in_folder("motd.nvms"), O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write(fd, p, n), (ssize_t)n);
	close(fd);
	t = trace_tail_open(in_folder("motd.nvms"), checker_init(&c, s), &e);
	assert_non_null(t);
	assert_int_equal(tail_all(t, &e), -1);
	assert_int_equal(c.wrong, 0);
	assert_int_equal(c.rows[TIER_FAST], 500);
	trace_tail_close(t);
	/* Something else altogether. */
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)script_random(s);
	store(in_folder("noise"), noise, sizeof(noise));
	t = trace_tail_open(in_folder("noise"), checker_init(&c, s), &e);
	assert_non_null(t);
	assert_int_equal(tail_all(t, &e), -1);
	assert_int_equal(e.code, ERR_FAILED);
	assert_false(c.begun);
	trace_tail_close(t);
	free(p);
	script_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),        cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_cut),         cmocka_unit_test(test_flip),
		cmocka_unit_test(test_unpack),      cmocka_unit_test(test_stopped_reader),
		cmocka_unit_test(test_deaf_reader), cmocka_unit_test(test_gone_reader),
		cmocka_unit_test(test_files),       cmocka_unit_test(test_foreign),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
