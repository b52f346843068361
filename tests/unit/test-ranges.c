/* Ranges: the store, and a recording of them that is read back. */
#include "test-log.h"

#include "model/range.h"
#include "report/report.h"
#include "trace/log-read.h"
#include "trace/trace.h"

#define N 40000

static struct range_lane lane = {.pid = 7, .tid = 8, .process = "python3", .thread = "main", .domain = ""};

struct found {
	size_t n, open, folded;
	int64_t length, last_ns;
	char name[32];
};

static bool count(void *arg, const struct range *r)
{
	struct found *f = arg;

	assert_string_equal(r->lane->process, "python3");
	if (r->flags & RANGE_FOLDED) {
		f->folded += r->colour;
		f->length += (int64_t)r->value;
		return true;
	}
	f->n++;
	f->open += r->flags & RANGE_OPEN ? 1 : 0;
	f->length += r->end_ns - r->begin_ns;
	f->last_ns = r->end_ns;
	snprintf(f->name, sizeof(f->name), "%s", r->name);
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
	ranges_visit(r, START + 10 * NS_PER_S + 1, START + 11 * NS_PER_S, 0, count, &f);
	assert_int_equal(f.n, 1000);
	assert_int_equal(ranges_least_ns(r), 0);
	/* A long one that ended last is found in each part. */
	ranges_add(r, &(struct range) {.begin_ns = START,
				       .end_ns = START + 60 * NS_PER_S,
				       .name = ranges_name(r, "all"),
				       .lane = ranges_lane(r, &lane)});
	f = (struct found) {0};
	ranges_visit(r, START + NS_PER_S + 1000, START + NS_PER_S + 2000, 0, count, &f);
	assert_int_equal(f.n, 1);
	assert_string_equal(f.name, "all");
	ranges_free(r);
}

/* However many there are, each name is there once, and stays where it is. */
static void many_names(void **state)
{
	enum { NAMES = 50000 };
	static const char *name[NAMES];
	struct err e;
	struct ranges *r = ranges_new(1, &e);
	char text[32];

	(void)state;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < NAMES; i++) {
			snprintf(text, sizeof(text), "iteration %zu", i);
			if (pass == 0)
				name[i] = ranges_name(r, text);
			assert_string_equal(name[i], text);
			assert_ptr_equal(ranges_name(r, text), name[i]);
		}
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
	ranges_visit(r, INT64_MIN, INT64_MAX, 0, count, &f);
	assert_in_range(f.n, N / 100, 10000);
	assert_int_equal(f.folded, 0);
	/* None is lost: what is missing is counted, where it was. */
	f = (struct found) {0};
	ranges_visit(r, INT64_MIN, INT64_MAX, 1, count, &f);
	assert_int_equal(f.n + f.folded, N);
	assert_int_equal(f.length, N / 100 * NS_PER_MS + (N - N / 100) * 1000);
	f = (struct found) {0};
	ranges_visit(r, START + 10 * NS_PER_S, START + 20 * NS_PER_S, 1, count, &f);
	assert_in_range(f.n + f.folded, 9900, 10100);
	ranges_free(r);
}

/* Of a steady loop the newest are always all there, and each of the others is counted, once. */
static void the_newest_stay(void **state)
{
	enum { MOST = 1 << 18, NEWEST = 100000 };
	struct err e;
	struct ranges *r = ranges_new(MOST, &e);
	const char *name = ranges_name(r, "step");
	const struct range_lane *l = ranges_lane(r, &lane);

	(void)state;
	for (int64_t i = 0; i < 1000000; i++) {
		struct found f = {0};

		assert_true(ranges_add(r, &(struct range) {.begin_ns = START + i * 1000,
							   .end_ns = START + i * 1000 + 600,
							   .name = name,
							   .lane = l}));
		if (i < NEWEST || i % 37777)
			continue;
		ranges_visit(r, START + (i - NEWEST + 1) * 1000, INT64_MAX, 0, count, &f);
		assert_int_equal(f.n, NEWEST);
		assert_int_equal(f.length, NEWEST * 600);
		assert_int_equal(f.last_ns, START + i * 1000 + 600);
		f = (struct found) {0};
		ranges_visit(r, INT64_MIN, INT64_MAX, 1, count, &f);
		assert_in_range(f.n, NEWEST, MOST);
		assert_int_equal(f.n + f.folded, i + 1);
		assert_int_equal(f.length, (i + 1) * 600);
	}
	ranges_free(r);
}

struct kept {
	int64_t first_ns;
	size_t brief, slow;
};

static bool sort_out(void *arg, const struct range *r)
{
	struct kept *k = arg;
	bool slow = r->end_ns - r->begin_ns > 100000;

	k->slow += slow;
	k->brief += !slow;
	if (!slow && r->begin_ns < k->first_ns)
		k->first_ns = r->begin_ns;
	return true;
}

/* Of those before the newest the short ones go first, and of these the oldest. */
static void older_ones_go_by_length(void **state)
{
	enum { MOST = 10000, LONG_EVERY = 4 };
	struct err e;
	struct ranges *r = ranges_new(MOST, &e);
	const char *name = ranges_name(r, "step");
	const struct range_lane *l = ranges_lane(r, &lane);
	struct kept k = {.first_ns = INT64_MAX};
	size_t brief = 0;

	(void)state;
	for (int64_t i = 0; i < 3 * MOST / 2; i++)
		ranges_add(r, &(struct range) {.begin_ns = START + i * NS_PER_MS,
					       .end_ns = START + i * NS_PER_MS + (i % LONG_EVERY ? 1000 : 500000),
					       .name = name,
					       .lane = l});
	ranges_visit(r, INT64_MIN, INT64_MAX, 0, sort_out, &k);
	assert_int_equal(k.slow, (3 * MOST / 2 + LONG_EVERY - 1) / LONG_EVERY);
	/* None of the short ones that are left is older than one that is not. */
	for (int64_t i = (k.first_ns - START) / NS_PER_MS; i < 3 * MOST / 2; i++)
		brief += i % LONG_EVERY != 0;
	assert_int_equal(k.brief, brief);
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
	ranges_visit(r, START, START + 100, 0, count, &f);
	assert_true(f.n == 1 && f.open == 1 && f.last_ns == START + 10);
	range.flags = 0;
	range.end_ns += 5;
	ranges_add(r, &range);
	f = (struct found) {0};
	ranges_visit(r, START, START + 100, 0, count, &f);
	assert_true(f.n == 1 && f.open == 0 && f.last_ns == START + 15);
	ranges_free(r);
}

/* So many that are open at a time that each would be looked for among all, twice. */
static void many_are_open(void **state)
{
	enum { MOST = 200000 };
	struct err e;
	struct ranges *r = ranges_new(10000, &e);
	struct range range = {.lane = ranges_lane(r, &lane), .name = ranges_name(r, "run")};
	struct found f;

	(void)state;
	for (int pass = 0; pass < 3; pass++) {
		for (int i = 0; i < MOST; i++) {
			range.begin_ns = START + i / 10;
			range.depth = (uint16_t)(i % 10);
			range.end_ns = START + NS_PER_S * (pass + 1);
			range.flags = pass < 2 || i >= 10 ? RANGE_OPEN : 0;
			assert_true(ranges_add(r, &range));
		}
		f = (struct found) {0};
		ranges_visit(r, START, INT64_MAX, 0, count, &f);
		assert_true(f.n == MOST && f.open == MOST - (pass == 2 ? 10 : 0));
	}
	ranges_free(r);
}

static void many_lanes(void **state)
{
	enum { MOST = 50000 };
	struct err e;
	struct ranges *r = ranges_new(10000, &e);
	static const struct range_lane *got[MOST], *all[MOST];

	(void)state;
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < MOST; i++) {
			struct range_lane l = {.pid = i / 500, .tid = i / 500, .process = "worker"};
			const struct range_lane *p;

			snprintf(l.domain, sizeof(l.domain), "%u", i % 500);
			p = ranges_lane(r, &l);
			assert_true(p && (pass == 0 || p == got[i]));
			got[i] = p;
		}
	assert_int_equal(ranges_lanes(r, all, MOST), MOST);
	assert_memory_equal(got, all, sizeof(all));
	ranges_free(r);
}

/* More than the reader's store keeps are found when the part that is looked at is short. */
static void recorded(void **state)
{
	enum { MOST = 1400 * 1000, BATCH = 1000 };
	static struct range list[BATCH];
	struct log_out *w = writer();
	struct sink *s;
	struct err e;
	struct ranges *r = ranges_new(10000, &e);
	const char *name = ranges_name(r, "aten::mm");
	const struct range_lane *l = ranges_lane(r, &lane);
	struct found f = {0};
	struct trace *t;

	(void)state;
	s = stream_begin(w, &about, false);
	for (int64_t i = 0; i < MOST; i += BATCH) {
		int64_t from = START + i * 10000;

		push(s, from, (int)BATCH * 1e-5);
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
	end(w, s);
	columns_free(pushed);
	ranges_free(r);
	t = trace_open(path, &e);
	assert_non_null(t);
	assert_int_equal(e.code, ERR_NONE);
	trace_ranges(trace_timeline(t), INT64_MIN, INT64_MAX, 0, count, &f);
	assert_true(f.n == MOST + 1 && f.open == 1);
	assert_string_equal(f.name, "run");
	f = (struct found) {0};
	trace_ranges(trace_timeline(t), START + 7 * NS_PER_S, START + 7 * NS_PER_S + 10000 * 100 - 1, 1, count, &f);
	assert_true(f.n == 101);
	f = (struct found) {0};
	trace_ranges(trace_timeline(t), INT64_MIN, INT64_MAX, NS_PER_MS, count, &f);
	assert_int_equal(f.n + f.folded, MOST + 1);
	assert_in_range(f.folded, 1, MOST);
	assert_int_equal(trace_lanes(trace_timeline(t), NULL, 0), 1);
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
	struct log_out *w = writer();
	struct sink *s;
	struct err e;
	struct ranges *r = ranges_new(10000, &e);
	const char *name = ranges_name(r, "step");
	const struct range_lane *l = ranges_lane(r, &lane);
	struct stat st;

	(void)state;
	s = stream_begin(w, &about, false);
	for (int64_t i = 0; i < 300; i++) {
		struct range range = {.begin_ns = START + i * 100 * NS_PER_MS,
				      .end_ns = START + (i + 1) * 100 * NS_PER_MS,
				      .name = name,
				      .lane = l};

		push(s, range.begin_ns, 0.1);
		s->ops->ranges(s, &range, 1);
	}
	end(w, s);
	columns_free(pushed);
	ranges_free(r);
	assert_int_equal(stat(path, &st), 0);
	for (off_t size = st.st_size; size > st.st_size / 2; size -= st.st_size / 50) {
		struct found f = {.last_ns = INT64_MIN};
		struct trace *t;

		assert_int_equal(truncate(path, size), 0);
		t = trace_open(path, &e);
		assert_non_null(t);
		trace_ranges(trace_timeline(t), INT64_MIN, INT64_MAX, 0, once, &f);
		assert_in_range(f.n, 100, 300);
		trace_close(t);
	}
}

/* Records 40 s: first_s without ranges, then one every 100 ms. Returns their number. */
static size_t record_late(double first_s)
{
	struct log_out *w = writer();
	struct sink *s;
	struct err e;
	struct ranges *r = ranges_new(10000, &e);
	struct range range = {.name = ranges_name(r, "step"), .lane = ranges_lane(r, &lane)};
	size_t n = 0;

	s = stream_begin(w, &about, false);
	for (int64_t i = 0; i < 400; i++) {
		range.begin_ns = START + i * 100 * NS_PER_MS;
		range.end_ns = range.begin_ns + 100 * NS_PER_MS;
		push(s, range.begin_ns, 0.1);
		if ((double)i / 10 < first_s)
			continue;
		s->ops->ranges(s, &range, 1);
		n++;
	}
	end(w, s);
	columns_free(pushed);
	ranges_free(r);
	return n;
}

/* Damages a head in the second group, whose chunks opening does not list. */
static void damage_group(void)
{
	struct file f = slurp(path);
	struct log_head h;
	int groups = 0;
	size_t flipped = 0;
	FILE *out = fopen(path, "w");

	for (size_t at = 0; at < f.n; at += LOG_HEAD + h.stored) {
		assert_true(log_head_get(f.p + at, &h));
		if (h.kind == LOG_META && ++groups == 2)
			flipped = at + LOG_HEAD + h.stored;
	}
	f.p[flipped] ^= 1;
	assert_true(groups > 4 && out);
	assert_int_equal(fwrite(f.p, 1, f.n, out), f.n);
	assert_int_equal(fclose(out), 0);
	free(f.p);
}

/* INDEX says which groups have ranges: the chunks of others are not looked for. */
static void denied(void **state)
{
	const double first_s[] = {0, 4, 12, 25, 39.8, 40};

	(void)state;
	for (size_t i = 0; i < sizeof(first_s) / sizeof(first_s[0]); i++) {
		size_t n = record_late(first_s[i]);
		struct found f = {0};
		struct log_damage damage;
		struct trace *r;
		struct err e;
		int fd;

		if (n == 0)
			damage_group();
		fd = open(path, O_RDONLY | O_CLOEXEC);
		r = trace_open_logs(&fd, 1, path, &e);
		assert_non_null(r);
		trace_ranges(trace_timeline(r), INT64_MIN, INT64_MAX, 0, count, &f);
		assert_int_equal(f.n, n);
		assert_true((trace_lanes(trace_timeline(r), NULL, 0) > 0) == (n > 0));
		trace_damage(r, &damage);
		assert_int_equal(damage.chunks, 0);
		trace_close(r);
		unlink(path);
	}
}

static struct trace *opened(const char *name)
{
	struct err e;
	struct trace *t = trace_open(name, &e);

	if (!t)
		fail_msg("%s", e.text);
	return t;
}

static size_t ranges_in(const char *name)
{
	struct trace *t = opened(name);
	struct found f = {0};

	trace_ranges(trace_timeline(t), INT64_MIN, INT64_MAX, 0, count, &f);
	trace_close(t);
	return f.n;
}

/* The part before the ranges, the one that has them, and that after a crash. */
static void parts(void **state)
{
	static char name[2][sizeof(path) + 20];
	const struct selection part[] = {{.has_to = true, .to_ns = 24 * NS_PER_S},
					 {.has_from = true, .from_ns = 24 * NS_PER_S}};
	size_t n = record_late(26), left;
	struct trace *t = opened(path);
	struct stat st;
	struct err e;

	(void)state;
	for (int i = 0; i < 2; i++)
		snprintf(name[i], sizeof(name[i]), "%s.%d.nvmt", path, i);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(trace_cut(t, &part[i], name[i], false, NULL, &e), 0);
		assert_int_equal(ranges_in(name[i]), i ? n : 0);
	}
	trace_close(t);
	assert_int_equal(stat(name[1], &st), 0);
	for (int i = 1; i < 8; i++) {
		assert_int_equal(truncate(name[1], st.st_size * (8 - i) / 8), 0);
		left = ranges_in(name[1]);
		assert_true(left < n && (left > 0 || i > 2));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_the_time),
		cmocka_unit_test(many_names),
		cmocka_unit_test(floods_are_thinned),
		cmocka_unit_test(the_newest_stay),
		cmocka_unit_test(older_ones_go_by_length),
		cmocka_unit_test(open_ones_are_replaced),
		cmocka_unit_test(many_are_open),
		cmocka_unit_test(many_lanes),
		cmocka_unit_test_setup_teardown(recorded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cut_short, set_up, tear_down),
		cmocka_unit_test_setup_teardown(denied, set_up, tear_down),
		cmocka_unit_test_setup_teardown(parts, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
