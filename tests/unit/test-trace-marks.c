/* Marks that reach the writer late appear in the trace at their own time, before the next row, numbered
 * in time order. */
#include "test-trace.h"
#include "stream-to.h"

#include <endian.h>

#define ROWS 400

static struct mark marks_in[4];

/* Rows with marks after the 100th, 200th and 300th, at the given times. */
static void record(const char *name, struct script *s, const int64_t *times, const size_t *after, size_t n)
{
	struct log_out *w = log_out_new(in_folder(name), false, NULL);
	struct sink *sink;
	size_t at[TIERS] = {0};
	struct err e;

	sink = stream_begin(w, &s->session, false);
	for (size_t i = 0; i < n; i++) {
		script_push(s, sink, at, s->t_ns[TIER_FAST][after[i]]);
		marks_in[i] = (struct mark) {.id = 7 + i, .t_ns = times[i]};
		snprintf(marks_in[i].label, sizeof(marks_in[i].label), "number %zu", i);
		sink->ops->mark(sink, &marks_in[i]);
	}
	script_push(s, sink, at, INT64_MAX);
	assert_int_equal(stream_end(w, sink, &e), 0);
	log_out_free(w);
}

/* The sync points as a version 1 reader finds them. */
static void read_syncs(const char *name, uint64_t out[][2], size_t n)
{
	FILE *f = fopen(in_folder(name), "rb");
	uint64_t counts[4];
	long at;

	assert_non_null(f);
	assert_int_equal(fseek(f, 56, SEEK_SET), 0);
	assert_int_equal(fread(counts, 8, 4, f), 4);
	assert_int_equal(le64toh(counts[3]), n);
	at = 728 + (long)(le64toh(counts[0]) * 98 + le64toh(counts[1]) * 104 + le64toh(counts[2]) * 72);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	assert_int_equal(fread(out, 16, n, f), n);
	for (size_t i = 0; i < n; i++)
		out[i][0] = le64toh(out[i][0]), out[i][1] = le64toh(out[i][1]);
	fclose(f);
}

static void check(const char *name, const struct script *s, const size_t *order, size_t n)
{
	uint64_t syncs[4][2];
	struct mark got[8];
	struct err e;
	struct trace *t = trace_open(in_folder(name), &e);

	assert_non_null(t);
	assert_int_equal(e.code, ERR_NONE);
	assert_int_equal(nvmt1_write(t, in_folder("syncs"), true, NULL, NULL, &e), 0);
	read_syncs("syncs", syncs, n);
	assert_int_equal(trace_timeline(t)->ops->marks(trace_timeline(t), 0, INT64_MAX, got, 8), n);
	for (size_t i = 0; i < n; i++) {
		const struct mark *m = &marks_in[order[i]];
		uint64_t row = 0;

		while (row < ROWS && s->t_ns[TIER_FAST][row] < m->t_ns)
			row++;
		assert_int_equal(syncs[i][0], 7 + i);
		assert_int_equal(syncs[i][1], row);
		assert_int_equal(got[i].id, m->id);
		assert_int_equal(got[i].t_ns, m->t_ns);
		assert_string_equal(got[i].label, m->label);
	}
	trace_close(t);
}

static void test_in_time(void **state)
{
	struct script *s = script_new(3, ROWS, 4, 2, 2, false);
	const size_t after[] = {100, 200, 300}, order[] = {0, 1, 2};
	const int64_t *t = s->t_ns[TIER_FAST];

	(void)state;
	record("time.nvmt", s, (const int64_t[]) {t[99] + 1, t[200], t[299] + 5}, after, 3);
	check("time.nvmt", s, order, 3);
	script_free(s);
}

static void test_late(void **state)
{
	struct script *s = script_new(4, ROWS, 4, 2, 2, false);
	const size_t after[] = {100, 200, 300, 350}, order[] = {3, 1, 0, 2};
	const int64_t *t = s->t_ns[TIER_FAST];

	(void)state;
	/* the second is older than the first, the fourth older than any row */
	record("late.nvmt", s, (const int64_t[]) {t[99] + 1, t[50], t[120] + 3, START_NS}, after, 4);
	check("late.nvmt", s, order, 4);
	script_free(s);
}

static void test_one_instant(void **state)
{
	struct script *s = script_new(5, ROWS, 4, 2, 2, false);
	const size_t after[] = {100, 200, 300}, order[] = {0, 1, 2};
	const int64_t *t = s->t_ns[TIER_FAST];

	(void)state;
	record("same.nvmt", s, (const int64_t[]) {t[60], t[60], t[60]}, after, 3);
	check("same.nvmt", s, order, 3);
	script_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_time),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_one_instant),
	};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
