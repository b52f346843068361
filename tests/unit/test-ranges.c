/* Ranges: the store, and a recording of them that is read back. */
#include "test-log.h"

#include "model/range.h"
#include "trace/trace.h"

#define N 40000

static struct range_lane lane = {.pid = 7, .tid = 8, .process = "python3", .thread = "main", .domain = ""};

struct found {
	size_t n, open;
	int64_t length, last_ns;
	char name[32];
};

static bool count(void *arg, const struct range *r)
{
	struct found *f = arg;

	f->n++;
	f->open += r->flags & RANGE_OPEN ? 1 : 0;
	f->length += r->end_ns - r->begin_ns;
	f->last_ns = r->end_ns;
	snprintf(f->name, sizeof(f->name), "%s", r->name);
	assert_string_equal(r->lane->process, "python3");
	return true;
}

static void fill(struct ranges *r, size_t n)
{
	const char *names[] = {ranges_name(r, "step"), ranges_name(r, "step"), ranges_name(r, "copy")};
	const struct range_lane *l = ranges_lane(r, &lane);

	assert_true(names[0] == names[1] && names[0] != names[2] && l == ranges_lane(r, &lane));
	for (size_t i = 0; i < n; i++) {
		int64_t end = START + (int64_t)(i + 1) * NS_PER_MS;

		assert_true(ranges_add(r, &(struct range) {.begin_ns = end - (i % 100 == 99 ? NS_PER_MS : 1000),
							   .end_ns = end,
							   .name = names[i % 3],
							   .lane = l,
							   .depth = 1}));
	}
}

static void parts_of_the_time(void **state)
{
	struct err e;
	struct ranges *r = ranges_new(100000, &e);
	struct found f = {0};

	(void)state;
	fill(r, N);
	ranges_visit(r, START + 10 * NS_PER_S + 1, START + 11 * NS_PER_S, count, &f);
	assert_int_equal(f.n, 1000);
	assert_int_equal(ranges_least_ns(r), 0);
	/* A long one that ended last is found in each part. */
	ranges_add(r, &(struct range) {.begin_ns = START,
				       .end_ns = START + 60 * NS_PER_S,
				       .name = ranges_name(r, "all"),
				       .lane = ranges_lane(r, &lane)});
	f = (struct found) {0};
	ranges_visit(r, START + NS_PER_S + 1000, START + NS_PER_S + 2000, count, &f);
	assert_int_equal(f.n, 1);
	assert_string_equal(f.name, "all");
	ranges_free(r);
}

static void floods_are_thinned(void **state)
{
	struct err e;
	struct ranges *r = ranges_new(10000, &e);
	struct found f = {0};

	(void)state;
	fill(r, N);
	assert_true(ranges_least_ns(r) > 1000);
	ranges_visit(r, INT64_MIN, INT64_MAX, count, &f);
	assert_in_range(f.n, N / 100, 10000);
	ranges_free(r);
}

static void open_ones_are_replaced(void **state)
{
	struct err e;
	struct ranges *r = ranges_new(10000, &e);
	struct range range = {START, START + 5, ranges_name(r, "run"), ranges_lane(r, &lane), .flags = RANGE_OPEN};
	struct found f = {0};

	(void)state;
	ranges_add(r, &range);
	range.end_ns += 5;
	ranges_add(r, &range);
	ranges_visit(r, START, START + 100, count, &f);
	assert_true(f.n == 1 && f.open == 1 && f.last_ns == START + 10);
	range.flags = 0;
	range.end_ns += 5;
	ranges_add(r, &range);
	f = (struct found) {0};
	ranges_visit(r, START, START + 100, count, &f);
	assert_true(f.n == 1 && f.open == 0 && f.last_ns == START + 15);
	ranges_free(r);
}

/* More than the reader's store keeps are found when the part that is looked at is short. */
static void recorded(void **state)
{
	enum { MOST = 1400 * 1000, BATCH = 1000 };
	static struct range list[BATCH];
	struct log_writer *w = writer(false);
	struct sink *s = log_writer_sink(w);
	struct err e;
	struct ranges *r = ranges_new(10000, &e);
	const char *name = ranges_name(r, "aten::mm");
	const struct range_lane *l = ranges_lane(r, &lane);
	struct found f = {0};
	struct trace *t;

	(void)state;
	assert_int_equal(s->ops->begin(s, &about, NULL), 0);
	for (int64_t i = 0; i < MOST; i += BATCH) {
		int64_t from = START + i * 10000;

		push(s, from, BATCH * 1e-5);
		for (int64_t k = 0; k < BATCH; k++)
			list[k] = (struct range) {.begin_ns = from + k * 10000,
						  .end_ns = from + k * 10000 + 5000 + k,
						  .name = name,
						  .lane = l,
						  .depth = 2,
						  .colour = 0xFF00FF00,
						  .payload = RANGE_DOUBLE};
		s->ops->ranges(s, list, BATCH);
	}
	list[0] = (struct range) {START, START + 14 * NS_PER_S, ranges_name(r, "run"), l, .flags = RANGE_OPEN};
	s->ops->ranges(s, list, 1);
	end(w);
	columns_free(pushed);
	ranges_free(r);
	t = trace_open(path, &e);
	assert_non_null(t);
	assert_int_equal(e.code, ERR_NONE);
	trace_ranges(t, INT64_MIN, INT64_MAX, 0, count, &f);
	assert_true(f.n == MOST + 1 && f.open == 1);
	assert_string_equal(f.name, "run");
	f = (struct found) {0};
	trace_ranges(t, START + 7 * NS_PER_S, START + 7 * NS_PER_S + 10000 * 100 - 1, 1, count, &f);
	assert_true(f.n == 101);
	f = (struct found) {0};
	trace_ranges(t, INT64_MIN, INT64_MAX, NS_PER_MS, count, &f);
	assert_int_equal(f.n, 1); /* none of the others is that long */
	assert_int_equal(trace_lanes(t, NULL, 0), 1);
	trace_close(t);
}

static bool once(void *arg, const struct range *r)
{
	struct found *f = arg;

	assert_true(r->end_ns > f->last_ns);
	f->n++;
	f->last_ns = r->end_ns;
	return true;
}

/* A recording that has no INDEX of its last group yet. */
static void cut_short(void **state)
{
	struct log_writer *w = writer(false);
	struct sink *s = log_writer_sink(w);
	struct err e;
	struct ranges *r = ranges_new(10000, &e);
	const char *name = ranges_name(r, "step");
	const struct range_lane *l = ranges_lane(r, &lane);
	struct stat st;

	(void)state;
	assert_int_equal(s->ops->begin(s, &about, NULL), 0);
	for (int64_t i = 0; i < 300; i++) {
		struct range range = {.begin_ns = START + i * 100 * NS_PER_MS,
				      .end_ns = START + (i + 1) * 100 * NS_PER_MS,
				      .name = name,
				      .lane = l};

		push(s, range.begin_ns, 0.1);
		s->ops->ranges(s, &range, 1);
	}
	end(w);
	columns_free(pushed);
	ranges_free(r);
	assert_int_equal(stat(path, &st), 0);
	for (off_t size = st.st_size; size > st.st_size / 2; size -= st.st_size / 50) {
		struct found f = {.last_ns = INT64_MIN};
		struct trace *t;

		assert_int_equal(truncate(path, size), 0);
		t = trace_open(path, &e);
		assert_non_null(t);
		trace_ranges(t, INT64_MIN, INT64_MAX, 0, once, &f);
		assert_in_range(f.n, 100, 300);
		trace_close(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_the_time),
		cmocka_unit_test(floods_are_thinned),
		cmocka_unit_test(open_ones_are_replaced),
		cmocka_unit_test_setup_teardown(recorded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cut_short, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
