/* What completing a recording takes of memory: the same, however long it was.
 * Our own functions stand before those that allocate, and count what is held. */
#include <malloc.h>
#include <stdatomic.h>

#include "test-trace.h"

#define MOST  (1000 << 10) /* to complete a recording of any length */
#define PIECE 3000         /* fast rows of the script */

static atomic_long held, peak;

static void *count(void *p)
{
	long now = p ? atomic_fetch_add(&held, (long)malloc_usable_size(p)) + (long)malloc_usable_size(p) : 0;
	long most = atomic_load(&peak);

	while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
		;
	return p;
}

static void forget(void *p)
{
	if (p)
		atomic_fetch_sub(&held, (long)malloc_usable_size(p));
}

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
	return count(__real_malloc(n));
}

void *__real_calloc(size_t n, size_t each);
void *__wrap_calloc(size_t n, size_t each);
void *__wrap_calloc(size_t n, size_t each)
{
	return count(__real_calloc(n, each));
}

void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n)
{
	forget(p);
	return count(__real_realloc(p, n));
}

void *__real_reallocarray(void *p, size_t n, size_t each);
void *__wrap_reallocarray(void *p, size_t n, size_t each);
void *__wrap_reallocarray(void *p, size_t n, size_t each)
{
	forget(p);
	return count(__real_reallocarray(p, n, each));
}

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p)
{
	forget(p);
	__real_free(p);
}

/* The rows of the script once more, `shift` later. */
static void push_later(const struct script *s, struct sink *sink, enum tier tier, int64_t shift)
{
	size_t width = s->session.width[tier];
	int64_t t_ns[100];

	for (size_t at = 0, n; at < s->n[tier]; at += n) {
		n = s->n[tier] - at < 100 ? s->n[tier] - at : 100;
		for (size_t i = 0; i < n; i++)
			t_ns[i] = s->t_ns[tier][at + i] + shift;
		sink->ops->rows(sink, &(struct rows) {tier, n, width, t_ns, s->values[tier] + at * width});
	}
}

/* Most that was held at once, beyond what was held before, while it was completed. */
static long complete(const struct script *s, const char *name, int pieces)
{
	const int64_t span = INT64_C(1400000) * PIECE; /* no row of the script takes longer */
	struct trace_writer_stats stats;
	struct err e = {.code = ERR_NONE};
	struct trace_writer *w = trace_writer_new(in_folder(name), false, &e);
	struct sink *sink = trace_writer_sink(w);
	long before;

	assert_int_equal(sink->ops->begin(sink, &s->session, &e), 0);
	for (int i = 0; i < pieces; i++) {
		for (int t = 0; t < TIERS; t++)
			push_later(s, sink, (enum tier)t, span * i);
		assert_true(trace_writer_ready(w));
	}
	before = atomic_load(&held);
	atomic_store(&peak, before);
	assert_int_equal(sink->ops->end(sink, &e), 0);
	before = atomic_load(&peak) - before;
	trace_writer_stats(w, &stats);
	assert_true(stats.complete);
	assert_int_equal(stats.lost_rows, 0);
	assert_int_equal(stats.rows[TIER_FAST], (uint64_t)pieces * PIECE);
	trace_writer_free(w);
	return before;
}

static void test_join(void **state)
{
	struct script *s = script_new(4711, PIECE, 12, 8, 9, false);
	long few = complete(s, "short.bin", 10), many = complete(s, "long.bin", 100);

	(void)state;
	print_message("%ld bytes for 30000 fast rows, %ld for 300000\n", few, many);
	assert_true(few > 200 << 10); /* it is counted at all */
	assert_true(many < MOST);
	assert_true(many - few < 160 << 10); /* a coarser level of columns or two */
	script_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_join)};

	return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
