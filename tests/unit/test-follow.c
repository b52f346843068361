/* Following a log through a pipe or in a growing file: whole, in pieces, damaged, joined late, converted
 * by a terminal, with other bytes around it. Rows come out unchanged and in order; missing ones are
 * counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random.h"
#include "log-bytes.h"
#include "stream-to.h"
#include "trace/follow.h"
#include "trace/log-out.h"

#define SECONDS 20
#define START	(INT64_C(5) << 33) /* of a group */
#define CHUNKS	4096

static struct channel channels[] = {{.name = "gpu.util", .tier = TIER_FAST, .kind = CHANNEL_GPU_UTIL},
				    {.name = "cpu.util", .tier = TIER_FAST, .column = 1, .kind = CHANNEL_CPU_UTIL},
				    {.name = "gpu.temp", .tier = TIER_SLOW, .kind = CHANNEL_TEMPERATURE}};
static const struct session about = {
	.channels = channels, .n_channels = 3, .width = {2, 0, 1}, .hz = {1000, 100, 10}, .start = {START, 99, START}};

struct text {
	uint8_t *p;
	size_t n;
	size_t at[CHUNKS];
	struct log_entry entry[CHUNKS];
	size_t chunks;
};

static double value_at(int64_t t_ns, size_t column)
{
	return (double)((t_ns / 1000000 * 7 + (int64_t)column) % 100) / 10;
}

static const struct range_lane lane = {.pid = 1, .tid = 2, .process = "python3"};

/* A row every ms and every 100 ms, a mark and a range every second, a gap. */
static struct text write_log(uint32_t session)
{
	struct text t = {.n = 0};
	struct log_bytes bytes = {.n = 0}, raw = {.n = 0};
	struct log_unpacker *u = log_unpacker_new();
	struct log_made made;
	struct log_head h;
	struct sink *to;

	log_make(&made, &about, &(struct log_out_options) {.session = session});
	to = made.sink;
	for (int64_t ms = 0; ms < SECONDS * 1000; ms++) {
		int64_t ns = START + ms * NS_PER_MS;
		double v[2] = {value_at(ns, 0), value_at(ns, 1)};

		if (ms % 1000 == 500)
			to->ops->mark(to, &(struct mark) {.id = (uint64_t)(ms / 1000 + 1), .t_ns = ns - 5});
		if (ms % 1000 == 500)
			to->ops->ranges(to, &(struct range) {ns - NS_PER_MS, ns, "step", &lane, .depth = 1}, 1);
		if (ms == 7000)
			to->ops->gap(to, &(struct gap) {TIER_FAST, GAP_LATE, ns - 900000, ns - 1, 3});
		to->ops->rows(to, &(struct rows) {TIER_FAST, 1, 2, &ns, v});
		if (ms % 100 == 0)
			to->ops->rows(to, &(struct rows) {TIER_SLOW, 1, 1, &ns, v});
	}
	log_made(&made, true, &bytes);
	t.p = bytes.p;
	t.n = bytes.n;
	for (size_t at = 0; at < t.n; at += LOG_HEAD + h.stored, t.chunks++) {
		struct log_section s;

		assert_true(t.chunks < CHUNKS && log_head_get(t.p + at, &h));
		t.at[t.chunks] = at;
		t.entry[t.chunks] = (struct log_entry) {.kind = h.kind, .cell = h.cell};
		assert_int_equal(log_unpack(u, &h, t.p + at + LOG_HEAD, &raw), LOG_OK);
		for (struct log_in in = {raw.p, raw.p + raw.n, false}; h.kind == LOG_DATA && log_section_next(&in, &s, true) > 0;)
			t.entry[t.chunks].rows[s.tier] = s.n;
	}
	log_unpacker_free(u);
	log_bytes_free(&raw);
	return t;
}

/* --- the sink --- */

struct taker {
	struct sink sink;
	int begun, ended;
	uint64_t rows[TIERS], marks, gaps, ranges;
	int64_t last_ns[TIERS];
};

static int begin(struct sink *s, const struct session *got, struct err *e)
{
	struct taker *t = (struct taker *)s;

	(void)e;
	t->begun++;
	assert_int_equal(got->n_channels, 3);
	assert_string_equal(got->channels[2].name, "gpu.temp");
	assert_int_equal(got->start.mono_ns, START);
	for (int i = 0; i < TIERS; i++)
		t->last_ns[i] = INT64_MIN;
	return 0;
}

static void rows(struct sink *s, const struct rows *r)
{
	struct taker *t = (struct taker *)s;

	assert_true(r->n > 0 && r->width == about.width[r->tier]);
	for (size_t i = 0; i < r->n; i++) {
		assert_true(r->t_ns[i] > t->last_ns[r->tier]);
		t->last_ns[r->tier] = r->t_ns[i];
		for (size_t c = 0; c < r->width; c++)
			assert_true(r->values[i * r->width + c] == value_at(r->t_ns[i], c));
	}
	t->rows[r->tier] += r->n;
}

static void mark(struct sink *s, const struct mark *m)
{
	struct taker *t = (struct taker *)s;

	t->marks++;
	/* After the rows before it, unless they are missing, and before the later ones. */
	assert_true(t->last_ns[TIER_FAST] < m->t_ns);
}

static void gap(struct sink *s, const struct gap *g)
{
	((struct taker *)s)->gaps++;
	assert_int_equal(g->missed, 3);
}

static void ranges(struct sink *s, const struct range *list, size_t n)
{
	struct taker *t = (struct taker *)s;

	for (size_t i = 0; i < n; i++) {
		assert_string_equal(list[i].name, "step");
		assert_string_equal(list[i].lane->process, "python3");
		assert_true(list[i].depth == 1 && list[i].end_ns - list[i].begin_ns == NS_PER_MS);
	}
	t->ranges += n;
}

static int end(struct sink *s, struct err *e)
{
	(void)e;
	((struct taker *)s)->ended++;
	return 0;
}

static const struct sink_ops ops = {.begin = begin, .rows = rows, .mark = mark, .gap = gap, .end = end, .ranges = ranges};

/* --- a pipe --- */

/* Send all bytes through a pipe, piece at a time. */
static enum err_code through(const uint8_t *p, size_t n, size_t piece, struct taker *t, struct follow_state *st,
			     struct err *e)
{
	char path[64];
	struct follow *f;
	int fd[2], r = 0;

	*t = (struct taker) {.sink = {.ops = &ops}};
	assert_int_equal(pipe(fd), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[0]);
	f = follow_open(path, &t->sink, e);
	assert_non_null(f);
	assert_true(follow_fd(f) >= 0);
	close(fd[0]);
	for (size_t at = 0; at < n && r >= 0; at += piece) {
		size_t part = n - at < piece ? n - at : piece;

		assert_int_equal(write(fd[1], p + at, part), (ssize_t)part);
		while ((r = follow_take(f, e)) > 0)
			;
	}
	close(fd[1]);
	while (r >= 0)
		r = follow_take(f, e);
	*st = *follow_state(f);
	follow_close(f);
	assert_int_equal(t->begun, t->ended);
	return e->code;
}

static void test_whole(void **state)
{
	static const size_t pieces[] = {65536, 4096, 333};
	struct text log = write_log(7);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct follow_state st;
		struct taker t;
		struct err e;

		assert_int_equal(through(log.p, log.n, pieces[i], &t, &st, &e), ERR_NONE);
		assert_int_equal(t.rows[TIER_FAST], SECONDS * 1000);
		assert_int_equal(t.rows[TIER_SLOW], SECONDS * 10);
		assert_int_equal(t.marks, SECONDS);
		assert_int_equal(t.ranges, SECONDS);
		assert_int_equal(t.gaps, 1);
		assert_int_equal(st.late[TIER_FAST], 3);
		assert_int_equal(t.last_ns[TIER_FAST], START + (SECONDS * 1000 - 1) * NS_PER_MS);
	}
	free(log.p);
}

/* Fast rows in chunk i. */
static uint64_t fast_rows(const struct text *log, size_t i)
{
	return log->entry[i].kind == LOG_DATA ? log->entry[i].rows[TIER_FAST] : 0;
}

static size_t some_data(const struct text *log)
{
	size_t i;

	do
		i = 2 + random_below(log->chunks - 3);
	while (fast_rows(log, i) == 0);
	return i;
}

/* Missing bytes: a whole chunk, part of one, part of a head. */
static void test_missing(void **state)
{
	struct text log = write_log(7);
	uint8_t *bad = malloc(log.n);

	(void)state;
	assert_non_null(bad);
	for (int round = 0; round < 60; round++) {
		size_t i = some_data(&log), at = log.at[i], n = log.at[i + 1] - at;
		struct follow_state st;
		struct taker t;
		struct err e;

		if (round % 3 == 1) {
			at += LOG_HEAD + 5;
			n = n - LOG_HEAD - 5 < 50 ? n - LOG_HEAD - 5 : 50; /* no part of the next chunk */
		} else if (round % 3 == 2) {
			at += 10;
			n = 3;
		}
		memcpy(bad, log.p, at);
		memcpy(bad + at, log.p + at + n, log.n - at - n);
		assert_int_equal(through(bad, log.n - n, 65536, &t, &st, &e), ERR_DAMAGED);
		assert_int_equal(t.rows[TIER_FAST], SECONDS * 1000 - fast_rows(&log, i));
		assert_int_equal(t.marks, SECONDS);
		assert_non_null(strstr(e.text, "1 of its chunks"));
	}
	free(bad);
	free(log.p);
}

static void test_flips(void **state)
{
	struct text log = write_log(7);
	uint8_t *bad = malloc(log.n);

	(void)state;
	assert_non_null(bad);
	for (int round = 0; round < 200; round++) {
		size_t at = random_below(log.n);
		struct follow_state st;
		struct taker t;
		struct err e;

		memcpy(bad, log.p, log.n);
		bad[at] ^= (uint8_t)(1U << random_below(8));
		through(bad, log.n, 65536, &t, &st, &e);
		assert_int_equal(e.code, ERR_DAMAGED);
		assert_true(t.rows[TIER_FAST] + 9000 >= SECONDS * 1000); /* at most the first group */
	}
	free(bad);
	free(log.p);
}

static void test_cut(void **state)
{
	struct text log = write_log(7);

	(void)state;
	for (int round = 0; round < 100; round++) {
		size_t n = random_below(log.n - 1), i = 0;
		struct follow_state st;
		struct taker t;
		struct err e;
		uint64_t whole = 0;

		while (i + 1 < log.chunks && log.at[i + 1] <= n)
			whole += fast_rows(&log, i++);
		through(log.p, n, 65536, &t, &st, &e);
		assert_int_equal(e.code, i > 0 ? ERR_DAMAGED : ERR_FAILED);
		assert_int_equal(t.rows[TIER_FAST], whole);
	}
	free(log.p);
}

/* Change kind (field 0), version or codec of the first such chunk in the second half. */
static void change_head(const struct text *log, unsigned kind, size_t field, uint8_t value)
{
	size_t at = 0;
	struct log_head h;

	for (; log_head_get(log->p + at, &h) && (at < log->n / 2 || h.kind != kind);
	     at += LOG_HEAD + h.stored)
		;
	*(uint8_t *[]) {&h.kind, &h.version, &h.codec}[field] = value;
	log_head_put(log->p + at, &h);
}

/* Chunks of a later version. */
static void test_newer(void **state)
{
	static const struct {
		unsigned kind;
		size_t field;
		enum err_code code;
		const char *text;
	} cases[] = {{LOG_LOD, 0, ERR_NONE, "does not know: 1 of its chunks were skipped"},
		     {LOG_STAT, 1, ERR_NONE, "does not know: 1 of its chunks were skipped"},
		     {LOG_DATA, 1, ERR_DAMAGED, "1 of its chunks cannot be used"},
		     {LOG_DATA, 2, ERR_DAMAGED, "1 of its chunks cannot be used"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct text log = write_log(7);
		struct follow_state st;
		struct taker t;
		struct err e;

		change_head(&log, cases[i].kind, cases[i].field, 99);
		assert_int_equal(through(log.p, log.n, 65536, &t, &st, &e), cases[i].code);
		assert_non_null(strstr(e.text, cases[i].text));
		assert_int_equal(t.rows[TIER_FAST] < SECONDS * 1000, cases[i].code != ERR_NONE);
		free(log.p);
	}
}

/* The reader starts in the middle of a chunk: META repeats with the next group. */
static void test_late(void **state)
{
	struct text log = write_log(7);
	struct follow_state st;
	struct taker t;
	struct err e;

	(void)state;
	assert_int_equal(through(log.p + 5000, log.n - 5000, 65536, &t, &st, &e), ERR_DAMAGED);
	assert_true(t.rows[TIER_FAST] > 10000 && t.rows[TIER_FAST] < SECONDS * 1000);
	assert_non_null(strstr(e.text, "the beginning of the stream is lost"));
	free(log.p);
}

/* A terminal turns each line feed into two bytes; text conversion turns two into one. */
static void test_terminal(void **state)
{
	struct text log = write_log(7);
	uint8_t *bad = malloc(2 * log.n);
	struct follow_state st;
	struct taker t;
	struct err e;
	size_t n = 0;

	(void)state;
	assert_non_null(bad);
	for (size_t i = 0; i < log.n; i++) {
		if (log.p[i] == '\n')
			bad[n++] = '\r';
		bad[n++] = log.p[i];
	}
	assert_int_equal(through(bad, n, 65536, &t, &st, &e), ERR_FAILED);
	assert_non_null(strstr(e.text, "ssh -T"));
	free(bad);
	free(log.p);
}

static void test_around(void **state)
{
	static const char login[] = "Welcome\n\nLast login: \xABNV\n today\n";
	struct text log = write_log(7), other = write_log(8);
	uint8_t *all = malloc(sizeof(login) + log.n + other.n);
	struct follow_state st;
	struct taker t;
	struct err e;

	(void)state;
	assert_non_null(all);
	memcpy(all, login, sizeof(login));
	memcpy(all + sizeof(login), log.p, log.n);
	memcpy(all + sizeof(login) + log.n, other.p, other.n);
	assert_int_equal(through(all, sizeof(login) + log.n, 65536, &t, &st, &e), ERR_NONE);
	assert_int_equal(t.rows[TIER_FAST], SECONDS * 1000);
	assert_int_equal(through(all, sizeof(login) + log.n + other.n, 65536, &t, &st, &e), ERR_DAMAGED);
	assert_int_equal(t.rows[TIER_FAST], SECONDS * 1000);
	assert_non_null(strstr(e.text, "only the first"));
	free(all);
	free(log.p);
	free(other.p);
}

static void test_foreign(void **state)
{
	uint8_t *noise = malloc(200000);
	struct follow_state st;
	struct taker t;
	struct err e;

	(void)state;
	assert_non_null(noise);
	for (size_t i = 0; i < 200000; i++)
		noise[i] = (uint8_t)random_below(256);
	assert_int_equal(through(noise, 200000, 4096, &t, &st, &e), ERR_FAILED);
	assert_int_equal(through(noise, 0, 4096, &t, &st, &e), ERR_FAILED);
	assert_non_null(strstr(e.text, "the recorder did not start"));
	free(noise);
}

/* --- files --- */

static int make(const char *path, const uint8_t *p, size_t n)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n), (ssize_t)n);
	return fd;
}

/* Data written later is read later; END ends it. */
static void test_grows(void **state)
{
	struct text log = write_log(7);
	char path[] = "/tmp/test-follow-XXXXXX", name[64];
	struct taker t = {.sink = {.ops = &ops}};
	struct follow *f;
	struct err e;
	int fd, r;

	(void)state;
	assert_non_null(mkdtemp(path));
	snprintf(name, sizeof(name), "%s/a.nvmt", path);
	fd = make(name, log.p, log.n / 2);
	f = follow_open(name, &t.sink, &e);
	assert_non_null(f);
	assert_int_equal(follow_fd(f), -1);
	while ((r = follow_take(f, &e)) > 0)
		;
	assert_int_equal(r, 0);
	assert_true(t.rows[TIER_FAST] > 5000 && t.rows[TIER_FAST] < 15000);
	assert_int_equal(write(fd, log.p + log.n / 2, log.n - log.n / 2), (ssize_t)(log.n - log.n / 2));
	while ((r = follow_take(f, &e)) > 0)
		;
	assert_int_equal(r, -1);
	assert_int_equal(e.code, ERR_NONE);
	assert_int_equal(t.rows[TIER_FAST], SECONDS * 1000);
	follow_close(f);
	/* Complete: there is nothing to follow. */
	assert_null(follow_open(name, &t.sink, &e));
	close(fd);
	unlink(name);
	rmdir(path);
	free(log.p);
}

/* A split recording continues in the file named by END, if it exists. */
static void test_next(void **state)
{
	char path[] = "/tmp/test-follow-XXXXXX", name[64], next[64], later[64];
	struct taker t = {.sink = {.ops = &ops}};
	struct log_out *w;
	struct follow *f;
	struct sink *s;
	struct err e;
	int r;

	(void)state;
	assert_non_null(mkdtemp(path));
	snprintf(name, sizeof(name), "%s/a.nvmt", path);
	snprintf(next, sizeof(next), "%s/a.2.nvmt", path);
	snprintf(later, sizeof(later), "%s/later", path);
	w = log_out_new(name, false, &e);
	assert_non_null(w);
	log_out_limits(w, &(struct trace_limits) {.split.ns = SECONDS * NS_PER_S / 2});
	s = stream_begin(w, &about, false);
	for (int64_t ms = 0; ms < SECONDS * 1000; ms++) {
		int64_t ns = START + ms * NS_PER_MS;
		double v[2] = {value_at(ns, 0), value_at(ns, 1)};

		if (ms % 1000 == 500)
			s->ops->mark(s, &(struct mark) {.id = (uint64_t)(ms / 1000 + 1), .t_ns = ns - 5});
		s->ops->rows(s, &(struct rows) {TIER_FAST, 1, 2, &ns, v});
		if (ms % 100 == 0)
			s->ops->rows(s, &(struct rows) {TIER_SLOW, 1, 1, &ns, v});
	}
	assert_int_equal(stream_end(w, s, &e), 0);
	log_out_free(w);
	assert_int_equal(rename(next, later), 0);
	f = follow_open(name, &t.sink, &e);
	assert_non_null(f);
	while ((r = follow_take(f, &e)) > 0)
		;
	assert_int_equal(r, 0);
	assert_true(t.rows[TIER_FAST] > 0 && t.rows[TIER_FAST] < SECONDS * 1000);
	assert_int_equal(rename(later, next), 0);
	while ((r = follow_take(f, &e)) > 0)
		;
	assert_int_equal(r, -1);
	assert_int_equal(e.code, ERR_NONE);
	assert_int_equal(t.begun, 1);
	assert_int_equal(t.rows[TIER_FAST], SECONDS * 1000);
	assert_int_equal(t.marks, SECONDS);
	follow_close(f);
	unlink(name);
	unlink(next);
	rmdir(path);
}

/* The recorder dies: its lock is free and no more data comes. */
static void test_abandoned(void **state)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct text log = write_log(7);
	char name[] = "/tmp/test-follow-XXXXXX";
	struct taker t = {.sink = {.ops = &ops}};
	struct follow *f;
	struct err e;
	int fd = mkstemp(name), r;

	(void)state;
	assert_int_equal(write(fd, log.p, log.n / 2), (ssize_t)(log.n / 2));
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &l), 0);
	f = follow_open(name, &t.sink, &e);
	assert_non_null(f);
	while ((r = follow_take(f, &e)) > 0)
		;
	assert_int_equal(r, 0);
	close(fd);
	while ((r = follow_take(f, &e)) >= 0)
		usleep(50000);
	assert_int_equal(e.code, ERR_DAMAGED);
	assert_non_null(strstr(e.text, "truncated"));
	follow_close(f);
	unlink(name);
	free(log.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),    cmocka_unit_test(test_missing),
		cmocka_unit_test(test_flips),    cmocka_unit_test(test_cut),
		cmocka_unit_test(test_newer),    cmocka_unit_test(test_late),
		cmocka_unit_test(test_terminal), cmocka_unit_test(test_around),
		cmocka_unit_test(test_foreign),  cmocka_unit_test(test_grows),
		cmocka_unit_test(test_next),     cmocka_unit_test(test_abandoned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
