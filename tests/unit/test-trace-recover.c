/* Recovery from every state that a dead recorder can leave, each made by hand:
 * the files of a recording, of an interrupted join, of an interrupted rename. */
#include "test-trace.h"

#include <sys/file.h>
#include <sys/wait.h>

#include "trace/chunk.h"
#include "trace/join.h"
#include "trace/reader.h"

#define FAST 3000

static uint8_t *part, *side, *whole; /* what was left, and what it becomes */
static size_t n_part, n_side, n_whole;
static struct script *script;

/* How long this machine has been up says nothing about a recording that is made up. */
static int64_t up_ns = START_NS + 3600 * NS_PER_S;

void __wrap_clock_anchor(struct clock_anchor *out);
void __wrap_clock_anchor(struct clock_anchor *out)
{
	*out = (struct clock_anchor) {.mono_ns = up_ns, .real_ns = up_ns, .boot_ns = up_ns};
}

static void put_bytes(const char *name, const uint8_t *bytes, size_t n)
{
	FILE *f = fopen(in_folder(name), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static uint8_t *get_bytes(const char *name, size_t *n)
{
	FILE *f = fopen(in_folder(name), "r");
	uint8_t *p = malloc(4 << 20);

	assert_non_null(f);
	*n = fread(p, 1, 4 << 20, f);
	fclose(f);
	return p;
}

static void record(void *name)
{
	struct log_writer *w = log_writer_new(in_folder(name), false, NULL);
	struct sink *sink = log_writer_sink(w);
	size_t at[TIERS] = {0};

	sink->ops->begin(sink, &script->session, NULL);
	script_push(script, sink, at, script->t_ns[TIER_FAST][FAST / 2]);
	sink->ops->mark(sink, &(struct mark) {1, script->t_ns[TIER_FAST][FAST / 2], "half"});
	sink->ops->gap(sink, &(struct gap) {TIER_SLOW, GAP_LATE, START_NS, START_NS + 5, 7});
	for (int i = 0; i < 4; i++) { /* several blocks */
		usleep(300000);
		script_push(script, sink, at, script->t_ns[TIER_FAST][FAST / 2 + (i + 1) * 300]);
	}
	script_push(script, sink, at, INT64_MAX);
	usleep(600000);
}

static int setup(void **state)
{
	char name[] = "a.bin"; /* of a recorder that dies with everything written */
	struct trace_recovery r;
	struct err e;

	if (folder_make(state) < 0)
		return -1;
	script = script_new(91, FAST, 4, 3, 3, true);
	killed_after(record, name);
	part = get_bytes("a.bin.part", &n_part);
	side = get_bytes("a.bin.part.side", &n_side);
	if (trace_recover(in_folder("a.bin"), &r, &e) < 0 || e.code != ERR_NONE)
		return -1;
	whole = get_bytes("a.bin", &n_whole);
	unlink(in_folder("a.bin"));
	return 0;
}

static int teardown(void **state)
{
	script_free(script);
	free(part);
	free(side);
	free(whole);
	return folder_remove(state);
}

static void clean(void)
{
	unlink(in_folder("a.bin"));
	unlink(in_folder("a.bin.part"));
	unlink(in_folder("a.bin.part.side"));
}

/* Recover; what comes out is byte for byte that of an undisturbed join. */
static void becomes_whole(void)
{
	struct trace_recovery r;
	struct err e;
	size_t n;
	int done = trace_recover(in_folder("a.bin"), &r, &e);

	if (done < 0 || e.code != ERR_NONE)
		fail_msg("%s", e.text);
	uint8_t *p = get_bytes("a.bin", &n);
	assert_int_equal(n, n_whole);
	assert_memory_equal(p, whole, n);
	free(p);
	assert_false(there("a.bin.part") || there("a.bin.part.side"));
	assert_int_equal(r.rows[TIER_FAST], FAST);
	assert_int_equal(r.marks, 1);
	assert_int_equal(trace_recover(in_folder("a.bin"), &r, &e), -1);
	assert_non_null(strstr(e.text, "nothing to recover"));
	clean();
}

static size_t with_note(uint8_t *out)
{
	memcpy(out, side, n_side);
	put_u64(out + n_side + CHUNK_HEAD, FAST);
	return n_side + chunk_seal(out + n_side, CHUNK_JOIN, JOIN_SIZE);
}

/* The join had appended any part of what it appends, and counts come last. */
static void test_within_join(void **state)
{
	uint8_t *joined = malloc(n_whole), *noted = malloc(n_side + 64);
	size_t n_noted = with_note(noted), n_rows = HEADER_SIZE + FAST * FAST_SIZE;

	(void)state;
	memcpy(joined, whole, n_whole);
	memset(joined + H_COUNTS, 0, 32);
	put_bytes("a.bin.part", part, n_part);
	put_bytes("a.bin.part.side", noted, n_noted);
	becomes_whole();
	for (size_t n = n_rows; n < n_whole; n += (n_whole - n_rows) / 15 + 1) {
		put_bytes("a.bin.part", joined, n);
		put_bytes("a.bin.part.side", noted, n_noted);
		becomes_whole();
	}
	put_bytes("a.bin.part", joined, n_whole);
	put_bytes("a.bin.part.side", noted, n_noted);
	becomes_whole();
	/* The note itself was cut. */
	put_bytes("a.bin.part", part, n_part);
	put_bytes("a.bin.part.side", noted, n_noted);
	assert_int_equal(truncate(in_folder("a.bin.part.side"), (off_t)n_noted - 5), 0);
	struct trace_recovery r;
	struct err e;
	assert_int_equal(trace_recover(in_folder("a.bin"), &r, &e), 0);
	assert_int_equal(e.code, ERR_DAMAGED);
	assert_int_equal(r.rows[TIER_MEDIUM], FAST / 10);
	clean();
	free(joined);
	free(noted);
}

/* From the complete part to the name. */
static void test_within_rename(void **state)
{
	struct trace_recovery r;
	struct err e;

	(void)state;
	put_bytes("a.bin.part", whole, n_whole);
	put_bytes("a.bin.part.side", side, n_side);
	becomes_whole();
	put_bytes("a.bin.part", whole, n_whole);
	becomes_whole();
	put_bytes("a.bin", whole, n_whole);
	put_bytes("a.bin.part.side", side, n_side);
	becomes_whole();
	put_bytes("a.bin.part", whole, n_whole);
	assert_int_equal(link(in_folder("a.bin.part"), in_folder("a.bin")), 0);
	becomes_whole();
	/* Another file of that name is not ours, whatever it is. */
	put_bytes("a.bin", whole, n_whole - 1);
	put_bytes("a.bin.part", part, n_part);
	put_bytes("a.bin.part.side", side, n_side);
	assert_int_equal(trace_recover(in_folder("a.bin"), &r, &e), -1);
	assert_non_null(strstr(e.text, "already exists"));
	unlink(in_folder("a.bin"));
	becomes_whole();
	/* Leftovers beside what is no complete trace stay. */
	put_bytes("a.bin", whole, n_whole - 1);
	put_bytes("a.bin.part.side", side, n_side);
	assert_int_equal(trace_recover(in_folder("a.bin"), &r, &e), -1);
	assert_true(there("a.bin.part.side"));
	clean();
}

static void test_locked(void **state)
{
	struct trace_recovery r;
	struct err e;
	int fd;

	(void)state;
	put_bytes("a.bin.part", part, n_part);
	put_bytes("a.bin.part.side", side, n_side);
	fd = open(in_folder("a.bin.part"), O_RDWR);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_false(trace_interrupted(in_folder("a.bin")));
	assert_int_equal(trace_recover(in_folder("a.bin"), &r, &e), -1);
	assert_non_null(strstr(e.text, "still being recorded"));
	close(fd);
	assert_true(trace_interrupted(in_folder("a.bin")));
	becomes_whole();
}

/* A run also says what a field has no digits for. */
static bool nearly(double v, double want)
{
	return fabs(v - want) <= fabs(want) * 1e-6;
}

/* Each chunk of the journal lost in turn: every value that is still there is in
 * its own row, and none is one that was never sampled. */
static void test_values_stay(void **state)
{
	uint8_t *broken = malloc(n_side);
	size_t lost = 0;

	(void)state;
	for (size_t at = 0; at + CHUNK_HEAD < n_side; at++) {
		struct chunk c;

		if (get_u32(side + at + 4) != CHUNK_VERSION || !chunk_head_decode(side + at, &c))
			continue;
		for (int head = 0; head < 2; head++) {
			struct trace_recovery r;
			struct err e;
			struct trace *t;

			memcpy(broken, side, n_side);
			broken[at + (head ? 3 : CHUNK_HEAD + c.length / 2)] ^= 0x10;
			put_bytes("a.bin.part", part, n_part);
			put_bytes("a.bin.part.side", broken, n_side);
			assert_int_equal(trace_recover(in_folder("a.bin"), &r, &e), 0);
			assert_int_equal(e.code, ERR_DAMAGED);
			t = trace_open(in_folder("a.bin"), &e);
			assert_non_null(t);
			if (e.code != ERR_NONE)
				fail_msg("%s", e.text);
			lost++;
			for (size_t i = 0; r.described && i < script->session.n_channels; i++) {
				const struct channel *ch = &script->channels[i];
				size_t width = script->session.width[ch->tier], seen = 0;

				for (size_t row = 0; row < script->n[ch->tier]; row += 3) {
					double want = script->values[ch->tier][row * width + ch->column];
					double v =
						row < t->section[ch->tier].rows ? cell_read(t, i, row) : NAN;

					if (same_value(v, want) || nearly(v, want))
						seen++;
					else if (!isnan(v))
						fail_msg("%s, row %zu: %g, not %g", ch->name, row, v, want);
				}
				assert_true(seen > 0);
			}
			trace_close(t);
			clean();
		}
	}
	assert_true(lost > 20);
	free(broken);
}

/* Cut at every so many bytes: no crash, whole rows, the right code. */
static void test_cut(void **state)
{
	struct trace_recovery r;
	struct err e;

	(void)state;
	for (size_t n = 0; n < n_part; n += n < 800 ? 61 : 9973) {
		put_bytes("a.bin.part", part, n);
		put_bytes("a.bin.part.side", side, n_side);
		assert_int_equal(trace_recover(in_folder("a.bin"), &r, &e), 0);
		assert_int_equal(r.rows[TIER_FAST], n < HEADER_SIZE ? 0 : (n - HEADER_SIZE) / FAST_SIZE);
		assert_int_equal(r.rows[TIER_MEDIUM], FAST / 10);
		struct trace *t = trace_open(in_folder("a.bin"), &e);
		assert_non_null(t);
		assert_int_equal(e.code, ERR_NONE);
		trace_close(t);
		clean();
	}
	for (size_t n = 0; n < n_side; n += n_side / 97 + 1) {
		put_bytes("a.bin.part", part, n_part);
		put_bytes("a.bin.part.side", side, n);
		assert_int_equal(trace_recover(in_folder("a.bin"), &r, &e), 0);
		assert_int_equal(r.rows[TIER_FAST], FAST);
		struct trace *t = trace_open(in_folder("a.bin"), &e);
		assert_non_null(t);
		assert_int_equal(e.code, ERR_NONE);
		trace_close(t);
		clean();
	}
}

/* Blocks of the part that never reached the disk: their rows have no values,
 * not even of the GPU, and the next row is still the next. */
static void test_zeroes(void **state)
{
	uint8_t *p = malloc(n_part);
	struct trace_recovery r;
	struct err e;
	struct trace *t;

	(void)state;
	memcpy(p, part, n_part);
	memset(p, 0, HEADER_SIZE);
	memset(p + HEADER_SIZE + 500 * FAST_SIZE, 0, 42 * FAST_SIZE);
	memset(p + HEADER_SIZE + 2990 * FAST_SIZE, 0, 10 * FAST_SIZE);
	for (int again = 0; again < 2; again++) {
		put_bytes("a.bin.part", p, n_part);
		put_bytes("a.bin.part.side", side, n_side);
		assert_int_equal(trace_recover(in_folder("a.bin"), &r, &e), 0);
		assert_int_equal(e.code, ERR_DAMAGED);
		assert_true(r.header);
		assert_int_equal(r.rows[TIER_FAST], 2990);
		assert_int_equal(r.holes[TIER_FAST], 42);
		t = trace_open(in_folder("a.bin"), &e);
		assert_int_equal(e.code, ERR_NONE);
		for (size_t i = 0; i < script->session.n_channels; i++) {
			const struct channel *c = &script->channels[i];
			size_t width = script->session.width[TIER_FAST];

			if (c->tier != TIER_FAST || c->index >= 16)
				continue;
			for (size_t row = 490; row < 550; row++) {
				double want = script->values[TIER_FAST][row * width + c->column];
				double v = cell_read(t, i, row);

				if (row >= 500 && row < 542) {
					/* what runs and columns say is still so */
					if (!isnan(v) && !same_value(v, want))
						fail_msg("%s, row %zu has %g", c->name, row, v);
				} else if (!same_value(v, want)) {
					fail_msg("%s, row %zu: %g, not %g", c->name, row, v, want);
				}
			}
		}
		trace_close(t);
		clean();
	}
	free(p);
}

/* A block of something else, in which two rows happen to have a time that could be one. */
static void test_foreign(void **state)
{
	uint8_t *p = malloc(n_part);
	struct trace_recovery r;
	struct err e;

	(void)state;
	assert_non_null(p);
	for (size_t tail = 0; tail < 2; tail++) {
		size_t from = tail ? FAST - 41 : 1000;

		memcpy(p, part, n_part);
		memset(p + HEADER_SIZE + from * FAST_SIZE, 0xFF, 41 * FAST_SIZE);
		put_f64(p + HEADER_SIZE + (from + 3) * FAST_SIZE, 5e6);
		put_f64(p + HEADER_SIZE + (from + 9) * FAST_SIZE, 9e6);
		put_bytes("a.bin.part", p, n_part);
		put_bytes("a.bin.part.side", side, n_side);
		assert_int_equal(trace_recover(in_folder("a.bin"), &r, &e), 0);
		assert_int_equal(e.code, ERR_DAMAGED);
		assert_int_equal(r.rows[TIER_FAST], tail ? FAST - 41 : FAST);
		assert_int_equal(r.holes[TIER_FAST], tail ? 0 : 41);
		assert_false(r.restarted);
		clean();
	}
	free(p);
}

/* A boot clock that is behind the recording's last row has begun anew since. */
static void test_restarted(void **state)
{
	const int64_t last = script->t_ns[TIER_FAST][FAST - 1];
	struct trace_recovery r;
	struct err e;

	(void)state;
	for (int later = 0; later < 2; later++) {
		up_ns = last + (later ? NS_PER_S : -NS_PER_S);
		put_bytes("a.bin.part", part, n_part);
		put_bytes("a.bin.part.side", side, n_side);
		assert_int_equal(trace_recover(in_folder("a.bin"), &r, &e), 0);
		assert_int_equal(r.restarted, !later);
		clean();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_within_join), cmocka_unit_test(test_within_rename),
		cmocka_unit_test(test_locked),      cmocka_unit_test(test_values_stay),
		cmocka_unit_test(test_cut),         cmocka_unit_test(test_zeroes),
		cmocka_unit_test(test_foreign),     cmocka_unit_test(test_restarted),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
