/* Searching for a condition in both real timelines: in a saved trace it finds the same row as a loop
 * over the rows; in a history that no longer has the rows, the column with the spike. */
#include "test-trace.h"
#include "stream-to.h"

#include "model/condition.h"
#include "live-log.h"

#define GPU  1
#define ROWS 40000

static struct err e;

static void saved(void **state)
{
	static const char *const texts[] = {"gpu > 99.5", "gpu > 20 for 3ms", "gpu < 2 and cpu > 90",
					    "GPU == 50", "[zone1] > 99 or gpu < 0.2 and cpu < 50"};
	struct script *s = script_new(21, ROWS, 2, 1, 2, false);
	struct log_out *w = log_out_new(in_folder("s.nvmt"), false, &e);
	size_t at[TIERS] = {0}, hits = 0;
	struct condition_search search;
	struct condition c;
	struct log_out_stats stats;
	struct sink *sink;
	struct trace *t;

	(void)state;
	assert_non_null(w);
	sink = stream_begin(w, &s->session, false);
	script_push_paced(s, sink, w, at, INT64_MAX);
	assert_int_equal(stream_end(w, sink, &e), 0);
	log_out_stats(w, &stats);
	assert_int_equal(stats.lost_rows, 0); /* lost rows could not be found */
	log_out_free(w);
	t = trace_open(in_folder("s.nvmt"), &e);
	assert_non_null(t);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size_t row[TIERS] = {0};
		struct condition_eval v;
		bool was = false;
		int64_t from = 0;

		assert_int_equal(condition_parse(&c, texts[i], &e), 0);
		if (condition_bind(&c, &s->session, &e) < 0)
			fail_msg("%s: %s", texts[i], e.text);
		condition_start(&v, &c, s->session.hz);
		/* Every start, one after the other, and then the one before it. */
		for (int n = 0; n < 40;) {
			int tier = TIERS;
			bool is;

			for (int k = 0; k < TIERS; k++)
				if (condition_uses(&c, (enum tier)k) && row[k] < s->n[k] &&
				    (tier == TIERS || s->t_ns[k][row[k]] < s->t_ns[tier][row[tier]]))
					tier = k;
			if (tier == TIERS)
				break;
			int64_t t_ns = s->t_ns[tier][row[tier]];
			is = condition_row(&v, (enum tier)tier, t_ns,
					   s->values[tier] + row[tier] * s->session.width[tier]);
			row[tier]++;
			if (is && !was) {
				condition_search_begin(&search, &c, trace_timeline(t), from, false);
				assert_int_equal(condition_search_go(&search, SIZE_MAX), CONDITION_FOUND);
				if (search.at_ns != t_ns)
					fail_msg("%s: %lld, not %lld", texts[i], (long long)search.at_ns,
						 (long long)t_ns);
				condition_search_begin(&search, &c, trace_timeline(t), t_ns, true);
				assert_int_equal(condition_search_go(&search, SIZE_MAX),
						 from ? CONDITION_FOUND : CONDITION_NOWHERE);
				assert_true(!from || search.at_ns == from);
				from = t_ns;
				hits++;
				n++;
			}
			was = is;
		}
	}
	assert_true(hits > 50);
	trace_close(t);
	script_free(s);
}

/* 20 minutes at 1 kHz with an early spike: the history has columns for it, but no rows. */
static void gone(void **state)
{
	static struct channel gpu = {.name = "gpu.util",
				     .label = "GPU",
				     .kind = CHANNEL_GPU_UTIL,
				     .tier = TIER_FAST,
				     .unit = UNIT_PERCENT};
	struct session about = {.channels = &gpu, .n_channels = 1, .width = {1}, .hz = {1000, 100, 10}};
	struct live_log *h = live_log_new();
	struct condition_search search;
	struct condition c;
	const int64_t start = 1000 * NS_PER_S;
	const size_t n = 1200000, spike = 30000;

	(void)state;
	about.start.mono_ns = start;
	live_log_sink(h)->ops->begin(live_log_sink(h), &about, &e);
	for (size_t i = 0; i < n; i++) {
		int64_t t_ns = start + (int64_t)i * NS_PER_MS;
		double v = i == spike ? 99 : i > 600000 && i < 620000 ? 60 : 10 + (double)(i % 7);

		live_log_sink(h)->ops->rows(live_log_sink(h), &(struct rows) {TIER_FAST, 1, 1, &t_ns, &v});
	}
	assert_int_equal(condition_parse(&c, "gpu > 95", &e), 0);
	assert_int_equal(condition_bind(&c, &about, &e), 0);
	condition_search_begin(&search, &c, live_log_look(h), 0, false);
	assert_int_equal(condition_search_go(&search, SIZE_MAX), CONDITION_FOUND);
	/* Exact to the column; the finest one kept is 1/2048 of 20 minutes or better. */
	assert_true(llabs(search.at_ns - (start + (int64_t)spike * NS_PER_MS)) < 2 * NS_PER_S);
	/* The mean of a column never was above, but "for" needs all of it. */
	assert_int_equal(condition_parse(&c, "gpu > 95 for 10ms", &e), 0);
	assert_int_equal(condition_bind(&c, &about, &e), 0);
	condition_search_begin(&search, &c, live_log_look(h), 0, false);
	assert_int_equal(condition_search_go(&search, SIZE_MAX), CONDITION_NOWHERE);
	assert_int_equal(condition_parse(&c, "gpu > 50 for 10s", &e), 0);
	assert_int_equal(condition_bind(&c, &about, &e), 0);
	condition_search_begin(&search, &c, live_log_look(h), 0, false);
	assert_int_equal(condition_search_go(&search, SIZE_MAX), CONDITION_FOUND);
	assert_true(llabs(search.at_ns - (start + 610 * NS_PER_S)) < 3 * NS_PER_S);
	live_log_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(saved), cmocka_unit_test(gone)};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
