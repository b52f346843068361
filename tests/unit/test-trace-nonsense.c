/* Rows have no checksums: an impossible value is missing, is counted once, and changes nothing else.
 * Strange values seen by the recorder are returned unchanged. */
#include "test-trace.h"
#include "stream-to.h"

#include "trace/check.h"

#define ROWS 400

static uint8_t *bytes;
static size_t size;
static uint64_t rows[TIERS];

static void write_file(const char *path)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

/* A trace of the script; its bytes are in `bytes`. */
static void record(struct script *s, const char *path)
{
	char log[1024];
	size_t at[TIERS] = {0};
	FILE *f;

	snprintf(log, sizeof(log), "%s.log", path);

	struct log_out *w = log_out_new(log, true, NULL);
	struct sink *sink;

	sink = stream_begin(w, &s->session, false);
	script_push(s, sink, at, INT64_MAX);
	assert_int_equal(stream_end(w, sink, NULL), 0);
	script_version1(path, w);
	f = fopen(path, "rb");
	assert_non_null(f);
	free(bytes);
	bytes = malloc(1 << 20);
	size = fread(bytes, 1, 1 << 20, f);
	fclose(f);
	for (int t = 0; t < TIERS; t++)
		rows[t] = get_u64(bytes + H_COUNTS + 8 * t);
}

static uint8_t *row(enum tier t, size_t i)
{
	static const size_t sizes[TIERS] = {FAST_SIZE, MEDIUM_SIZE, SLOW_SIZE};
	uint8_t *p = bytes + HEADER_SIZE;

	for (int k = 0; k < (int)t; k++)
		p += rows[k] * sizes[k];
	return p + i * sizes[t];
}

/* The number of missing values; the others equal those of `same`. */
static size_t missing(struct trace *t, struct trace *same)
{
	const struct session *about = trace_session(t);
	double v[ROWS], w[ROWS];
	size_t n = 0;

	for (size_t i = 0; i < about->n_channels; i++) {
		size_t rows_of = (size_t)trace_rows(t, about->channels[i].tier);

		trace_row_values(t, i, 0, rows_of, v);
		trace_row_values(same, i, 0, rows_of, w);
		for (size_t r = 0; r < rows_of; r++) {
			n += isnan(v[r]);
			assert_true(isnan(v[r]) || v[r] == w[r]);
		}
	}
	return n;
}

static size_t first_valid(const struct script *s, enum channel_kind kind, unsigned index)
{
	for (size_t i = 0; i < s->session.n_channels; i++)
		for (size_t r = 0; s->channels[i].kind == kind && s->channels[i].index == index &&
				   r < s->n[s->channels[i].tier];
		     r++)
			if (!isnan(s->values[s->channels[i].tier][r * s->session.width[s->channels[i].tier] +
								  s->channels[i].column]))
				return r;
	fail_msg("no value");
	return 0;
}

static void test_impossible(void **state)
{
	struct script *s = script_new(3, ROWS, 3, 2, 2, false);
	struct trace_state st;
	struct trace *t, *good;
	struct err e;
	size_t was, now;
	struct bin b[8];

	(void)state;
	record(s, in_folder("a.bin"));
	good = trace_open(in_folder("a.bin"), &e);
	assert_non_null(good);
	was = missing(good, good);
	assert_int_equal(e.code, ERR_NONE);

	put_u16(row(TIER_FAST, first_valid(s, CHANNEL_GPU_UTIL, 0)) + F_GPU, 1001);
	put_f32(row(TIER_FAST, first_valid(s, CHANNEL_CORE_UTIL, 0)) + F_CORES, 1e30F);
	put_f32(row(TIER_FAST, first_valid(s, CHANNEL_CORE_UTIL, 1)) + F_CORES + 4, -2);
	put_f32(row(TIER_FAST, first_valid(s, CHANNEL_CORE_UTIL, 2)) + F_CORES + 8, INFINITY);
	put_f32(row(TIER_FAST, first_valid(s, CHANNEL_CPU_UTIL, 0)) + F_CPU, 100.5F);
	put_f32(row(TIER_FAST, first_valid(s, CHANNEL_EMC_UTIL, 0)) + F_EMC, -7);
	put_u64(row(TIER_FAST, first_valid(s, CHANNEL_RAM_USED, 0)) + F_RAM_USED, (uint64_t)-5);
	put_u64(row(TIER_FAST, first_valid(s, CHANNEL_RAM_AVAILABLE, 0)) + F_RAM_AVAILABLE, UINT64_C(1)
												    << 41);
	put_f32(row(TIER_SLOW, first_valid(s, CHANNEL_TEMPERATURE, 0)) + S_TEMPERATURE, -400);
	write_file(in_folder("bad.bin"));
	t = trace_open(in_folder("bad.bin"), &e);
	assert_non_null(t);
	assert_int_equal(e.code, ERR_DAMAGED);
	assert_non_null(strstr(e.text, ": 9 out-of-range values"));
	now = missing(t, good);
	assert_int_equal(now, was + 9);
	trace_look(t, &st);
	assert_false(st.news);
	/* Nor are they in the columns. */
	for (size_t i = 0; i < trace_session(t)->n_channels; i++) {
		const struct channel *c = &trace_session(t)->channels[i];

		trace_timeline(t)->ops->columns(trace_timeline(t), i, 28, START_NS >> 28, 8, b);
		for (int k = 0; k < 8 && c->unit == UNIT_PERCENT; k++)
			assert_true(b[k].n == 0 || (b[k].min >= 0 && b[k].max <= 100));
	}
	trace_close(t);
	trace_close(good);
	script_free(s);
}

/* Rails: each on its own, and a current derived from an impossible power. */
static void test_rails(void **state)
{
	struct script *s = script_new(5, ROWS, 1, 1, 1, false);
	size_t width = s->session.width[TIER_MEDIUM];
	struct trace_state st;
	struct trace *t;
	struct err e;
	double v[ROWS];
	size_t volt = 0, amp = 0, watt = 0;

	(void)state;
	for (size_t i = 0; i < s->session.n_channels; i++) {
		volt = s->channels[i].kind == CHANNEL_RAIL_VOLTAGE ? i : volt;
		amp = s->channels[i].kind == CHANNEL_RAIL_CURRENT ? i : amp;
		watt = s->channels[i].kind == CHANNEL_RAIL_POWER ? i : watt;
	}
	for (size_t r = 0; r < s->n[TIER_MEDIUM]; r++) {
		double *row_of = s->values[TIER_MEDIUM] + r * width;

		row_of[s->channels[volt].column] = 5000;
		row_of[s->channels[amp].column] = 2000;
		row_of[s->channels[watt].column] = 10000;
	}
	record(s, in_folder("r.bin"));
	put_u32(row(TIER_MEDIUM, 1) + M_VOLTAGE, 0x80001388);
	put_u32(row(TIER_MEDIUM, 2) + M_CURRENT, 0x40000000);
	put_f32(row(TIER_MEDIUM, 3) + M_POWER, -3e20F);
	put_u32(row(TIER_MEDIUM, 3) + M_CURRENT, 0);
	put_u32(row(TIER_MEDIUM, 4) + M_CURRENT, (uint32_t)-3); /* as another writer stores it */
	write_file(in_folder("r.bin"));
	t = trace_open(in_folder("r.bin"), &e);
	assert_non_null(t);
	for (size_t i = 0; i < trace_session(t)->n_channels; i++) {
		enum channel_kind kind = trace_session(t)->channels[i].kind;

		volt = kind == CHANNEL_RAIL_VOLTAGE ? i : volt;
		amp = kind == CHANNEL_RAIL_CURRENT ? i : amp;
		watt = kind == CHANNEL_RAIL_POWER ? i : watt;
	}
	trace_row_values(t, volt, 0, 6, v);
	assert_true(v[0] == 5000 && isnan(v[1]) && v[2] == 5000 && v[3] == 5000);
	trace_row_values(t, amp, 0, 6, v);
	assert_true(v[1] == 2000 && isnan(v[2]) && isnan(v[3]) && v[4] == -3 && v[5] == 2000);
	trace_row_values(t, watt, 0, 6, v);
	assert_true(v[2] == 10000 && isnan(v[3]) && v[4] == 10000);
	trace_look(t, &st);
	assert_non_null(strstr(st.damage.text, ": 4 out-of-range values"));
	trace_close(t);
	script_free(s);
}

/* A file of only impossible values is reported too, and takes no extra memory. */
static void test_many(void **state)
{
	struct script *s = script_new(11, ROWS, 16, 1, 1, false);
	struct trace_state st;
	struct trace *t;
	struct err e;
	double v[ROWS];

	(void)state;
	record(s, in_folder("m.bin"));
	for (size_t r = 0; r < ROWS; r++)
		for (size_t k = 0; k < 16; k++)
			put_f32(row(TIER_FAST, r) + F_CORES + 4 * k, 1e9F);
	write_file(in_folder("m.bin"));
	t = trace_open(in_folder("m.bin"), &e);
	assert_non_null(t);
	for (size_t i = 0; i < trace_session(t)->n_channels; i++)
		if (trace_session(t)->channels[i].kind == CHANNEL_CORE_UTIL) {
			trace_row_values(t, i, 0, ROWS, v);
			for (size_t r = 0; r < ROWS; r++)
				assert_true(isnan(v[r]));
		}
	trace_look(t, &st);
	assert_non_null(strstr(st.damage.text, ": 6400 out-of-range values"));
	trace_close(t);
	script_free(s);
}

/* A check reports them, too. */
static size_t n_found;
static char found_text[4096];

static void found(void *to, const char *text)
{
	(void)to;
	n_found++;
	snprintf(found_text + strlen(found_text), sizeof(found_text) - strlen(found_text), "%s\n", text);
}

static void test_checked(void **state)
{
	struct script *s = script_new(13, ROWS, 1, 1, 1, false);
	struct checked c;
	struct err e;
	size_t before;

	(void)state;
	record(s, in_folder("c.bin"));
	assert_int_equal(trace_check(in_folder("c.bin"), found, NULL, NULL, NULL, &c, &e), 0);
	before = n_found;
	n_found = 0;
	put_u64(row(TIER_FAST, 7) + F_RAM_USED, (uint64_t)-5);
	put_f32(row(TIER_FAST, 8) + F_EMC, 1e5F);
	put_f32(row(TIER_FAST, 9) + F_CPU, 1e30F);
	write_file(in_folder("c.bin"));
	assert_int_equal(trace_check(in_folder("c.bin"), found, NULL, NULL, NULL, &c, &e), 0);
	assert_int_equal(n_found, before + 1);
	assert_non_null(strstr(found_text, "3 out-of-range values are treated as missing: ram.used is"));
	assert_non_null(strstr(found_text, "in row 7 of"));
	script_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_impossible), cmocka_unit_test(test_rails),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_checked),
	};
	int failed = cmocka_run_group_tests(tests, folder_make, folder_remove);

	free(bytes);
	return failed;
}
