/* No file crashes the reader, and all damage is reported. */
#include "test-trace.h"
#include "trace/log.h"

#include <sys/mman.h>

static uint8_t *good;
static size_t good_size;
static int memory = -1;

/* A file of version 1: 60 fast and 6 medium rows, and a mark. */
static int load(void)
{
	const char *source = getenv("NVMTOP_SRC");
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/traces/damage.bin", source ? source : ".");
	f = fopen(path, "rb");
	good = malloc(1 << 20);
	if (!f || !good)
		return -1;
	good_size = fread(good, 1, 1 << 20, f);
	fclose(f);
	return good_size == HEADER_SIZE + 60 * FAST_SIZE + 6 * MEDIUM_SIZE + SYNC_SIZE ? 0 : -1;
}

static int setup(void **state)
{
	if (folder_make(state) < 0 || load() < 0)
		return -1;
	memory = memfd_create("trace", MFD_CLOEXEC);
	return memory < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	close(memory);
	free(good);
	return folder_remove(state);
}

/* Everything a view may query. */
static void look_at(struct trace *t)
{
	struct timeline *tl = trace_timeline(t);
	const struct session *s = tl->ops->session(tl);
	struct trace_summary sum;
	struct bin bins[64];
	struct mark marks[4];
	struct gap gaps[4];
	int64_t from = 0, to = 0;
	bool known = tl->ops->extent(tl, &from, &to);

	assert_true(from <= to);
	trace_summary(t, &sum);
	tl->ops->marks(tl, INT64_MIN, INT64_MAX, marks, 4);
	tl->ops->gaps(tl, INT64_MIN, INT64_MAX, gaps, 4);
	for (int i = 0; i < TIERS; i++)
		tl->ops->step(tl, (enum tier)i, from, 3);
	for (size_t i = 0; i < s->n_channels && i < 80; i++) {
		assert_non_null(memchr(s->channels[i].name, 0, sizeof(s->channels[i].name)));
		tl->ops->value(tl, i, from + (to - from) / 2, NULL);
		for (int zoom = 18; zoom <= ZOOM_MAX; zoom += 4) {
			uint64_t n = 0;

			tl->ops->columns(tl, i, zoom, from >> zoom, 64, bins);
			for (int k = 0; k < 64; k++)
				n += bins[k].n;
			assert_true(known || n == 0);
		}
	}
}

/* Open these bytes and query what is there; returns the code. */
static enum err_code open_bytes(const uint8_t *p, size_t n, char *text)
{
	struct err e = {.code = ERR_NONE};
	struct trace_summary sum;
	struct trace *t;
	char path[64];

	assert_int_equal(ftruncate(memory, (off_t)n), 0);
	assert_int_equal(pwrite(memory, p, n, 0), n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	trace_peek(path, &sum, &e);
	e = (struct err) {.code = ERR_NONE};
	t = trace_open(path, &e);
	if (t) {
		assert_true(e.code == ERR_NONE || e.code == ERR_DAMAGED);
		look_at(t);
		trace_close(t);
	} else {
		assert_int_equal(e.code, ERR_FAILED);
	}
	assert_true((e.code == ERR_NONE) == (e.text[0] == '\0'));
	if (text)
		strcpy(text, e.text);
	return e.code;
}

static void test_whole(void **state)
{
	(void)state;
	assert_int_equal(open_bytes(good, good_size, NULL), ERR_NONE);
}

static void test_cut_anywhere(void **state)
{
	(void)state;
	for (size_t n = 0; n < good_size; n += n < HEADER_SIZE + 200 ? 1 : 31) {
		enum err_code want = n < HEADER_SIZE ? ERR_FAILED : ERR_DAMAGED;
		enum err_code got = open_bytes(good, n, NULL);

		if (got != want)
			fail_msg("cut at %zu: code %d, not %d", n, got, want);
	}
}

static void test_rows_before_the_cut_are_there(void **state)
{
	char path[64];
	struct err e;
	struct trace *t;
	struct trace_summary sum;

	(void)state;
	assert_int_equal(open_bytes(good, HEADER_SIZE + 17 * FAST_SIZE + 50, NULL), ERR_DAMAGED);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	t = trace_open(path, &e);
	trace_summary(t, &sum);
	assert_int_equal(sum.rows[TIER_FAST], 17);
	assert_int_equal(sum.rows[TIER_MEDIUM], 0);
	assert_non_null(strstr(e.text, "fast"));
	assert_non_null(strstr(e.text, "2444"));
	trace_close(t);
}

static void test_flipped_bytes(void **state)
{
	static const uint8_t flips[] = {0x01, 0x80, 0xFF};

	(void)state;
	for (size_t at = 0; at < good_size; at += at < 64 ? 1 : 29) {
		for (size_t i = 0; i < sizeof(flips); i++) {
			enum err_code got;

			good[at] ^= flips[i];
			got = open_bytes(good, good_size, NULL);
			good[at] ^= flips[i];
			if (at < H_BOARD && got != ERR_FAILED)
				fail_msg("byte %zu of the header: code %d", at, got);
		}
	}
}

/* Several random bytes at once. */
static void test_noise(void **state)
{
	uint8_t *p = malloc(good_size);
	struct script dice = {.seed = 99};

	(void)state;
	for (int i = 0; i < 300; i++) {
		memcpy(p, good, good_size);
		for (unsigned k = script_random(&dice) % 8 + 1; k > 0; k--)
			p[script_random(&dice) % good_size] = (uint8_t)script_random(&dice);
		open_bytes(p, good_size, NULL);
	}
	free(p);
}

/* Wrong counts in the header. */
static void test_counts(void **state)
{
	uint8_t *p = malloc(good_size);

	(void)state;
	memcpy(p, good, good_size);
	put_u64(p + H_COUNTS, UINT64_MAX);
	assert_int_equal(open_bytes(p, good_size, NULL), ERR_DAMAGED);
	for (int i = 0; i < 4; i++)
		for (unsigned bit = 0; bit < 64; bit++) {
			memcpy(p, good, good_size);
			put_u64(p + H_COUNTS + 8 * i, UINT64_C(1) << bit);
			open_bytes(p, good_size, NULL);
			open_bytes(p, good_size - 100, NULL);
		}
	free(p);
}

/* A killed process leaves no counts. */
static void test_interrupted(void **state)
{
	uint8_t *p = malloc(good_size);
	char text[1024];

	(void)state;
	memcpy(p, good, good_size);
	memset(p + H_COUNTS, 0, 32);
	assert_int_equal(open_bytes(p, HEADER_SIZE + 20 * FAST_SIZE + 3, text), ERR_DAMAGED);
	assert_non_null(strstr(text, "20 rows"));
	assert_int_equal(open_bytes(p, HEADER_SIZE, NULL), ERR_NONE); /* an empty trace */
	free(p);
}

static void test_times(void **state)
{
	static const double bad[] = {-1, 1e12, 0};
	uint8_t *p = malloc(good_size);
	char text[1024];

	(void)state;
	for (int i = 0; i < 5; i++) {
		memcpy(p, good, good_size);
		put_f64(p + HEADER_SIZE + 40 * FAST_SIZE, i < 3    ? bad[i]
							  : i == 3 ? (double)NAN
								   : (double)INFINITY);
		assert_int_equal(open_bytes(p, good_size, text), ERR_DAMAGED);
		assert_non_null(strstr(text, "row 40 of the fast section, at offset 4648"));
	}
	free(p);
}

static void expect_failure(const char *path, const char *word)
{
	struct err e = {.code = ERR_NONE};
	struct trace_summary sum;

	assert_null(trace_open(path, &e));
	assert_int_equal(e.code, ERR_FAILED);
	if (!strstr(e.text, word))
		fail_msg("'%s' is not in: %s", word, e.text);
	assert_int_equal(trace_peek(path, &sum, NULL), -1);
	assert_null(trace_open(path, NULL));
}

static void test_no_trace_at_all(void **state)
{
	uint8_t p[2 * HEADER_SIZE];
	char text[1024];

	(void)state;
	expect_failure(in_folder("nothing"), "No such file");
	expect_failure(test_folder, "folder");
	expect_failure("/dev/null", "regular file");
	assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
	expect_failure(in_folder("fifo"), "regular file");
	assert_int_equal(open_bytes(good, 0, text), ERR_FAILED);
	assert_non_null(strstr(text, "empty"));
	memset(p, 'x', sizeof(p));
	assert_int_equal(open_bytes(p, sizeof(p), text), ERR_FAILED);
	assert_non_null(strstr(text, "not a trace"));
	assert_int_equal(open_bytes(p, 3, text), ERR_FAILED);
	assert_int_equal(open_bytes(good, HEADER_SIZE - 1, text), ERR_FAILED);
	assert_non_null(strstr(text, "header"));
	memcpy(p, good, HEADER_SIZE);
	p[H_VERSION] = 2;
	assert_int_equal(open_bytes(p, HEADER_SIZE, text), ERR_FAILED);
	assert_non_null(strstr(text, "version 2"));
}

/* Names are taken unchanged, and made unique. */
static void test_foreign(void **state)
{
	uint8_t *p = calloc(1, good_size + 9);
	char path[64], text[1024];
	struct err e = {.code = ERR_NONE};
	struct trace *t;
	struct timeline *tl;
	const struct session *s;
	size_t found = 0;

	(void)state;
	memcpy(p, good, good_size);
	put_u16(p + HEADER_SIZE + F_GPU, UINT16_MAX);
	strcpy((char *)p + H_BOARD, "other");
	memset(p + H_RAIL_NAMES, 0, MAX_RAILS * NAME_SIZE);
	strcpy((char *)p + H_RAIL_NAMES, "VDD_IN");
	strcpy((char *)p + H_RAIL_NAMES + NAME_SIZE, "VDD_IN");
	memset(p + H_ZONE_NAMES, '\x1b', NAME_SIZE); /* not even terminated */
	assert_int_equal(open_bytes(p, good_size, text), ERR_DAMAGED);
	assert_non_null(strstr(text, "out-of-range"));
	assert_int_equal(open_bytes(p, good_size + 9, text), ERR_DAMAGED); /* bytes of another program */
	assert_non_null(strstr(text, "out-of-range"));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	t = trace_open(path, &e);
	tl = trace_timeline(t);
	s = tl->ops->session(tl);
	assert_int_equal(s->start.mono_ns, 0);
	assert_int_equal(s->start.real_ns, 0);
	for (size_t i = 0; i < s->n_channels; i++) {
		const char *name = s->channels[i].name;

		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(name, s->channels[k].name);
		for (const char *c = name; *c; c++)
			assert_true(*c >= ' ');
		found += !strcmp(name, "VDD_IN.power") || !strcmp(name, "VDD_IN#1.current") ||
			 !strcmp(name, "power.total") || !strcmp(name, "rail2.voltage") ||
			 !strcmp(name, "cpu2.util") || !strcmp(name, "gpu.util") ||
			 !strcmp(name, "emc.util") || !strcmp(name, "ram.available") ||
			 !strcmp(name, "temp.zone1");
	}
	assert_int_equal(found, 9);
	trace_close(t);
	free(p);
}

static struct trace *open_saved(const char *name)
{
	const char *source = getenv("NVMTOP_SRC");
	struct err e = {.code = ERR_NONE};
	char path[4096];
	struct trace *t;

	if (!source)
		fail_msg("NVMTOP_SRC does not say where the sources are");
	snprintf(path, sizeof(path), "%s/tests/traces/%s", source, name);
	t = trace_open(path, &e);
	if (!t || e.code != ERR_NONE)
		fail_msg("%s: %s", path, e.text);
	return t;
}

static double saved_value(struct trace *t, const char *name, int64_t t_ns)
{
	struct timeline *tl = trace_timeline(t);
	const struct session *s = tl->ops->session(tl);

	for (size_t i = 0; i < s->n_channels; i++)
		if (!strcmp(s->channels[i].name, name))
			return tl->ops->value(tl, i, t_ns, NULL);
	fail_msg("there is no channel %s", name);
	return NAN;
}

/* A file written by another program, with known waveforms. */
static void test_saved_version_1(void **state)
{
	struct trace *t = open_saved("version-1.bin");
	struct timeline *tl = trace_timeline(t);
	struct mark marks[4];

	(void)state;
	assert_true(saved_value(t, "gpu.util", 101 * NS_PER_MS) == 70.0);
	assert_true(saved_value(t, "cpu3.util", 101 * NS_PER_MS) == (100 + 30) % 101);
	assert_true(saved_value(t, "ram.used", 101 * NS_PER_MS) == 1000100);
	assert_int_equal(tl->ops->marks(tl, 0, INT64_MAX, marks, 4), 2);
	assert_int_equal(marks[0].t_ns, 41 * NS_PER_MS); /* fast row 40 */
	trace_close(t);
}

/* A log of another writer. */
static void test_saved_small(void **state)
{
	struct trace *t = open_saved("small.nvmt");
	struct timeline *tl = trace_timeline(t);
	int64_t start = INT64_C(5000000000000);
	struct mark m;

	(void)state;
	assert_true(isnan(saved_value(t, "gpu.util", start + 4 * NS_PER_MS)));
	assert_true(saved_value(t, "gpu.util", start + 5 * NS_PER_MS) == 40.0);
	assert_true(saved_value(t, "cpu0.util", start + 6 * NS_PER_MS) == 17.5);
	assert_true(saved_value(t, "VDD_IN.current", start + 20 * NS_PER_MS) == -3);
	assert_true(saved_value(t, "gpu.freq", start + 20 * NS_PER_MS) == 918e6);
	assert_true(isnan(saved_value(t, "temp.cpu-thermal", start + 200 * NS_PER_MS)));
	assert_int_equal(tl->ops->marks(tl, 0, INT64_MAX, &m, 1), 1);
	assert_int_equal(m.t_ns, start + 101 * NS_PER_MS - 300000);
	assert_string_equal(m.label, "inference");
	trace_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_rows_before_the_cut_are_there),
		cmocka_unit_test(test_flipped_bytes),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_no_trace_at_all),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_saved_version_1),
		cmocka_unit_test(test_saved_small),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
