/* A stream whose description is damaged or lost: its copies, further on, make up for
 * it.  Read from its end all of the rows that are there are used; as it comes, those
 * from the next copy on. */
#include "test-stream.h"

#include <signal.h>

#include "trace/chunk.h"

/* A recording that lasts long enough for a copy in the middle; another is at the end. */
static struct script *make(const char *path, uint64_t seed, size_t rows, unsigned cores)
{
	struct script *s = script_new(seed, rows, cores, cores == 16 ? 8 : 1, cores == 16 ? 32 : 1, false);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t at[TIERS] = {0};
	struct log_writer *w;
	struct err e;

	/* With that many cores each channel has a long story. */
	for (size_t i = 0; cores == 16 && i < s->session.n_channels; i++) {
		memset(s->channels[i].note, 'n', sizeof(s->channels[i].note) - 1);
		memset(s->channels[i].source, 's', sizeof(s->channels[i].source) - 1);
		memset(s->channels[i].missing, 'm', sizeof(s->channels[i].missing) - 1);
	}
	w = log_writer_fd(fd, &e);
	assert_non_null(w);
	assert_int_equal(log_writer_sink(w)->ops->begin(log_writer_sink(w), &s->session, &e), 0);
	script_push(s, log_writer_sink(w), at, s->t_ns[TIER_FAST][rows / 3]);
	log_writer_sink(w)->ops->mark(log_writer_sink(w),
					&(struct mark) {1, s->t_ns[TIER_FAST][rows / 3], "early"});
	usleep(1400000);
	script_push(s, log_writer_sink(w), at, INT64_MAX);
	assert_int_equal(log_writer_sink(w)->ops->end(log_writer_sink(w), &e), 0);
	log_writer_free(w);
	return s;
}

/* Made once: what is recorded takes its time. */
static void shared(struct script **s, size_t *size, uint8_t **own)
{
	static struct script *script;
	static uint8_t *bytes;
	static size_t n;

	if (!bytes) {
		script = make(in_folder("a.nvms"), 7, 1500, 3);
		bytes = load(in_folder("a.nvms"), &n);
	}
	*s = script;
	*size = n;
	*own = malloc(n);
	assert_non_null(*own);
	memcpy(*own, bytes, n);
	store(in_folder("a.nvms"), bytes, n);
}

/* A chunk of that kind, from `at` on; its size. */
static size_t find(const uint8_t *p, size_t n, size_t at, uint32_t id, size_t *size)
{
	struct chunk c;

	for (; at + CHUNK_HEAD < n; at += *size) {
		assert_true(chunk_head_decode(p + at, &c));
		*size = CHUNK_HEAD + (size_t)c.length + CHUNK_CRC;
		if (c.id == id || (id == 0 && c.id != CHUNK_STREAM &&
				   !(c.id == CHUNK_ANCHOR || c.id == CHUNK_RATES || c.id == CHUNK_FACTS ||
				     c.id == CHUNK_CHANNELS)))
			return at;
	}
	return n;
}

/* Fast rows whose copies are behind them all. */
static uint64_t rows_at(const uint8_t *again)
{
	return get_u64(again + CHUNK_HEAD + 8);
}

/* Every row came or is known to be missing. */
static void all_accounted(const struct checker *c)
{
	uint64_t rows = 0, all = 0;

	for (int t = 0; t < TIERS; t++) {
		rows += c->rows[t];
		all += c->rows[t] ? c->script->n[t] : 0;
	}
	assert_int_equal(rows + c->skipped, all);
}

/* Into the sink, as it comes. */
static int take(const char *path, struct checker *c, const struct script *s, struct trace_tail_state *st,
		struct err *e)
{
	struct trace_tail *t = trace_tail_open(path, checker_init(c, s), e);

	assert_non_null(t);
	c->exact = false;
	while (trace_tail_take(t, e) > 0)
		;
	trace_tail_state(t, st);
	trace_tail_close(t);
	assert_int_equal(c->wrong, 0);
	return e->code;
}

static void test_copies(void **state)
{
	struct script *s;
	struct trace_tail_state st;
	struct checker c;
	struct trace *t;
	struct err e;
	size_t n, at, size = 0, copies = 0;
	uint8_t *p;
	uint64_t rows = 0;

	(void)state;
	shared(&s, &n, &p);
	for (at = 0; (at = find(p, n, at, CHUNK_AGAIN, &size)) < n; at += size)
		if (get_u16(p + at + CHUNK_HEAD + 4) == 0) {
			rows = rows_at(p + at);
			copies++;
		}
	assert_true(copies >= 2);
	assert_int_equal(rows, 1500);
	/* Whoever has the beginning sees nothing of them. */
	assert_int_equal(take(in_folder("a.nvms"), &c, s, &st, &e), ERR_NONE);
	assert_int_equal(c.begins, 1);
	assert_int_equal(c.ends, 1);
	assert_int_equal(c.rows[TIER_FAST], 1500);
	assert_int_equal(c.skipped, 0);
	assert_int_equal(st.damaged + st.missed, 0);
	t = trace_open(in_folder("a.nvms"), &e);
	assert_non_null(t);
	assert_int_equal(e.code, ERR_NONE);
	assert_int_equal(trace_rows(t, TIER_FAST), 1500);
	trace_close(t);
	free(p);
}

/* Any byte of the description: nothing but some zeroes in doubt is lost of what is kept,
 * and up to the first copy of what is shown as it comes. */
static void test_every_byte(void **state)
{
	struct script *s = make(in_folder("a.nvms"), 5, 240, 1);
	size_t n, size = 0, end, again;
	uint8_t *p = load(in_folder("a.nvms"), &n);
	struct trace_tail_state st;
	struct checker c;
	struct err e;

	(void)state;
	end = find(p, n, 0, 0, &size);
	again = find(p, n, 0, CHUNK_AGAIN, &size);
	assert_true(end > 1000 && again < n);
	for (size_t at = 0; at < end; at++) {
		struct trace *t;

		p[at] ^= (uint8_t)(1 << at % 8);
		store(in_folder("flip.nvms"), p, n);
		p[at] ^= (uint8_t)(1 << at % 8);
		t = trace_open(in_folder("flip.nvms"), &e);
		assert_non_null(t);
		assert_int_equal(e.code, ERR_DAMAGED);
		for (int i = 0; i < TIERS; i++)
			assert_int_equal(trace_rows(t, (enum tier)i), s->n[i]);
		assert_int_equal(trace_session(t)->n_facts, s->session.n_facts);
		assert_true(unpacked_is_true(s, t) <= 240);
		trace_close(t);
		assert_int_equal(take(in_folder("flip.nvms"), &c, s, &st, &e), ERR_DAMAGED);
		assert_int_equal(c.begins, 1);
		assert_int_equal(c.marks, 1);
		assert_true(c.rows[TIER_FAST] >= 240 - rows_at(p + again));
		all_accounted(&c);
		if (st.missed > 0)
			assert_true(c.missed >= st.missed);
	}
	free(p);
	script_free(s);
}

/* Of a kept stream without its beginning. */
static void check_cut(const struct script *s, const uint8_t *p, size_t n, size_t cut)
{
	struct trace_recovery rec;
	struct trace_tail_state st;
	struct checker c;
	struct trace *t;
	struct err e;
	size_t at = cut, size = 0;
	uint64_t first = s->n[TIER_FAST];
	struct chunk k;

	/* The first whole chunk of fast rows. */
	while (at + CHUNK_HEAD < n && !(chunk_head_decode(p + at, &k) && k.version == CHUNK_VERSION))
		at++;
	at = find(p, n, at, CHUNK_FAST, &size);
	if (at < n)
		first = get_u64(p + at + size - CHUNK_CRC - 8);
	store(in_folder("cut.nvms"), p + cut, n - cut);
	assert_true(trace_is_stream(in_folder("cut.nvms")) || first == s->n[TIER_FAST]);
	t = trace_open(in_folder("cut.nvms"), &e);
	if (first < s->n[TIER_FAST]) {
		assert_non_null(t);
		assert_int_equal(e.code, ERR_DAMAGED);
		assert_int_equal(trace_rows(t, TIER_FAST), s->n[TIER_FAST] - first);
		unpacked_is_true(s, t);
	}
	trace_close(t);
	unlink(in_folder("cut.bin"));
	if (first < s->n[TIER_FAST]) {
		assert_int_equal(trace_unpack(in_folder("cut.nvms"), NULL, false, &rec, &e), 0);
		assert_int_equal(e.code, ERR_DAMAGED);
		assert_true(rec.lost[TIER_FAST] == first);
		assert_true(rec.described);
	}
	take(in_folder("cut.nvms"), &c, s, &st, &e);
	assert_true(c.begins <= 1 && c.ends == c.begins);
	if (c.begun && c.rows[TIER_FAST] > 0) {
		all_accounted(&c);
		assert_int_equal(c.missed, st.missed);
	}
}

static void test_cut_front(void **state)
{
	struct script *s;
	size_t n, size = 0, again;
	uint8_t *p;
	struct trace_tail_state st;
	struct checker c;
	struct chunk k;
	struct err e;

	(void)state;
	shared(&s, &n, &p);
	/* Between any two chunks, also where nothing is torn. */
	for (size_t at = 0; at + CHUNK_HEAD < n; at += CHUNK_HEAD + (size_t)k.length + CHUNK_CRC) {
		assert_true(chunk_head_decode(p + at, &k));
		if (at > 0)
			check_cut(s, p, n, at);
	}
	for (int i = 0; i < 120; i++)
		check_cut(s, p, n, 1 + script_random(s) % (n - 1));
	/* From the first copy on nothing is lost as it comes. */
	again = find(p, n, 0, CHUNK_AGAIN, &size);
	store(in_folder("cut.nvms"), p + again - 1, n - again + 1);
	assert_int_equal(take(in_folder("cut.nvms"), &c, s, &st, &e), ERR_DAMAGED);
	assert_int_equal(c.rows[TIER_FAST], 1500 - rows_at(p + again));
	assert_true(c.rows[TIER_FAST] > 800);
	assert_int_equal(st.late[TIER_FAST], 0);
	free(p);
}

/* A part of each copy: together they are one. */
static void test_parts(void **state)
{
	struct script *s;
	size_t n, size = 0, at, copy = 0;
	uint8_t *p;
	struct trace *t;
	struct err e;

	(void)state;
	shared(&s, &n, &p);
	p[2] ^= 4; /* and nothing of the description itself */
	at = find(p, n, CHUNK_HEAD + get_u16(p + 8) + CHUNK_CRC, CHUNK_ANCHOR, &size);
	p[at + CHUNK_HEAD] ^= 1;
	for (at += size; (at = find(p, n, at, CHUNK_AGAIN, &size)) < n; at += size) {
		unsigned part = get_u16(p + at + CHUNK_HEAD + 4);

		copy += part == 0;
		if (part % 2 == copy % 2)
			p[at + CHUNK_HEAD + 100 % size] ^= 1;
	}
	store(in_folder("parts.nvms"), p, n);
	t = trace_open(in_folder("parts.nvms"), &e);
	assert_non_null(t);
	assert_int_equal(e.code, ERR_DAMAGED);
	assert_int_equal(trace_rows(t, TIER_FAST), 1500);
	unpacked_is_true(s, t);
	trace_close(t);
	free(p);
}

/* More channels than one chunk holds: any of its chunks may be lost, and more than one. */
static void test_long_description(void **state)
{
	struct script *s = make(in_folder("long.nvms"), 23, 300, 16);
	size_t n, size = 0, chunks = 0, at;
	uint8_t *p = load(in_folder("long.nvms"), &n);
	struct trace *t;
	struct err e;

	(void)state;
	for (at = 0; (at = find(p, n, at, CHUNK_CHANNELS, &size)) < n; at += size)
		chunks++;
	assert_true(chunks >= 2);
	for (size_t lost = 0; lost <= chunks; lost++) {
		uint8_t *q = malloc(n);
		size_t i = 0;

		assert_non_null(q);
		memcpy(q, p, n);
		for (at = 0; (at = find(p, n, at, CHUNK_CHANNELS, &size)) < n; at += size)
			if (i++ == lost || lost == chunks)
				q[at + CHUNK_HEAD + 9] ^= 1;
		store(in_folder("lost.nvms"), q, n);
		t = trace_open(in_folder("lost.nvms"), &e);
		assert_non_null(t);
		assert_int_equal(e.code, ERR_DAMAGED);
		assert_int_equal(trace_session(t)->n_channels, s->session.n_channels);
		assert_int_equal(trace_rows(t, TIER_FAST), 300);
		unpacked_is_true(s, t);
		trace_close(t);
		free(q);
	}
	free(p);
	script_free(s);
}

/* A second stream behind it, whose first chunk is damaged: its rows are not mixed in. */
static void test_another(void **state)
{
	struct script *a = make(in_folder("a.nvms"), 13, 400, 2), *b = make(in_folder("b.nvms"), 17, 1200, 3);
	size_t n, m;
	uint8_t *p = load(in_folder("a.nvms"), &n), *q = load(in_folder("b.nvms"), &m);
	struct trace_tail_state st;
	struct checker c;
	struct trace *t;
	struct err e;

	(void)state;
	q[0] ^= 1;
	p = realloc(p, n + m);
	assert_non_null(p);
	memcpy(p + n, q, m);
	store(in_folder("two.nvms"), p + 5, n + m - 5);
	t = trace_open(in_folder("two.nvms"), &e);
	assert_non_null(t);
	assert_int_equal(e.code, ERR_DAMAGED);
	unpacked_is_true(a, t);
	assert_int_equal(trace_rows(t, TIER_FAST), 400);
	trace_close(t);
	assert_int_equal(take(in_folder("two.nvms"), &c, a, &st, &e), ERR_DAMAGED);
	free(p);
	free(q);
	script_free(a);
	script_free(b);
}

/* A stream of before, without copies: what does not touch the channels costs nothing
 * but itself. */
static void test_without_copies(void **state)
{
	struct script *s;
	size_t n, size = 0, at, to = 0;
	uint8_t *p;
	struct trace *t;
	struct err e;

	(void)state;
	shared(&s, &n, &p);
	for (at = 0; at < n; at += size) {
		struct chunk c;

		assert_true(chunk_head_decode(p + at, &c));
		size = CHUNK_HEAD + (size_t)c.length + CHUNK_CRC;
		if (c.id == CHUNK_AGAIN)
			continue;
		memmove(p + to, p + at, size);
		to += size;
	}
	n = to;
	for (int i = 0; i < 4; i++) {
		static const uint32_t ids[] = {CHUNK_STREAM, CHUNK_FACTS, CHUNK_CHANNELS, CHUNK_ANCHOR};

		at = find(p, n, 0, ids[i], &size);
		p[at + CHUNK_HEAD + 3] ^= 1;
		store(in_folder("old.nvms"), p, n);
		p[at + CHUNK_HEAD + 3] ^= 1;
		t = trace_open(in_folder("old.nvms"), &e);
		assert_int_equal(t != NULL, i < 2);
		assert_int_equal(e.code, i < 2 ? ERR_DAMAGED : ERR_FAILED);
		if (t) {
			assert_int_equal(trace_rows(t, TIER_FAST), 1500);
			unpacked_is_true(s, t);
		}
		trace_close(t);
	}
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies),         cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_cut_front),      cmocka_unit_test(test_parts),
		cmocka_unit_test(test_another),        cmocka_unit_test(test_long_description),
		cmocka_unit_test(test_without_copies),
	};

	signal(SIGPIPE, SIG_IGN);
	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 1); /* thousands of files are completed */
	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
