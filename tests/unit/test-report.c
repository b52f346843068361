/* Statistics compared with sorting and summing, and Student's t with tables. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "stream-to.h"
#include "report/stats.h"
#include "random.h"

#define MANY 200000

static double unit_random(void)
{
	return (double)(random_next() >> 11) * 0x1p-53;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void no_tick(void *to, int64_t ns)
{
	(void)to;
	(void)ns;
}

/* A log of n rows with these values. */
static struct trace *trace_of(const char *path, const double *v, size_t n)
{
	static const struct channel c = {.kind = CHANNEL_OTHER, .tier = TIER_FAST, .name = "x"};
	struct session about = {.channels = &c, .n_channels = 1, .width = {1}, .hz = {1000, 100, 10}};
	struct err e;
	struct log_out *w = log_out_new(path, true, &e);
	struct sink *sink;
	struct trace *t;

	sink = stream_begin(w, &about, false);
	for (size_t i = 0; i < n; i++) {
		int64_t t_ns = (int64_t)(i + 1) * 1000000;

		sink->ops->rows(sink, &(struct rows) {TIER_FAST, 1, 1, &t_ns, &v[i]});
		log_out_ready(w);
	}
	assert_int_equal(stream_end(w, sink, &e), 0);
	log_out_free(w);
	t = trace_open(path, &e);
	assert_non_null(t);
	return t;
}

static void near(double got, double want, double off)
{
	if (!(fabs(got - want) <= off))
		fail_msg("%.17g, not %.17g", got, want);
}

/* All rows but the first and last hundred, by plain sorting and summing. */
static void compare(const char *path, double *v, size_t n, bool exact)
{
	struct trace *t = trace_of(path, v, n);
	size_t list[1] = {0}, kept = 0;
	const struct channels channels = {list, 1};
	struct epoch span = {.from_ns = 101 * 1000000, .to_ns = (int64_t)(n - 99) * 1000000};
	struct result r;
	double sum = 0, squares = 0, range;

	span.end_ns = span.to_ns;
	assert_int_equal(stats_make(t, &channels, &span, 1, NULL, &r, no_tick, NULL), 0);
	trace_close(t);
	for (size_t i = 100; i < n - 100; i++)
		if (!isnan(v[i]))
			sum += v[kept++] = v[i];
	assert_int_equal(r.n, kept);
	assert_int_equal(r.missing, n - 200 - kept);
	for (size_t i = 0; i < kept; i++)
		squares += (v[i] - sum / (double)kept) * (v[i] - sum / (double)kept);
	near(r.mean, sum / (double)kept, 1e-9 * fabs(sum / (double)kept));
	near(r.sd, sqrt(squares / (double)(kept - 1)), 1e-9 * r.sd);
	assert_true(r.first == v[0] && r.last == v[kept - 1]);
	qsort(v, kept, sizeof(*v), by_value);
	assert_true(r.min == v[0] && r.max == v[kept - 1]);
	range = exact ? 0 : 1e-3 * (r.max - r.min);
	near(r.p50, v[quantile_rank(0.5, kept)], range);
	near(r.p95, v[quantile_rank(0.95, kept)], range);
	near(r.p99, v[quantile_rank(0.99, kept)], range);
}

static void statistics(void **state)
{
	char path[] = "/tmp/nvmtop-stats-XXXXXX";
	double *v = malloc(MANY * sizeof(*v));
	int fd = mkstemp(path);

	(void)state;
	assert_non_null(v);
	close(fd);
	for (int exact = 0; exact < 2; exact++) {
		size_t n = exact ? 20000 : MANY;

		for (size_t i = 0; i < n; i++)
			v[i] = (float)(unit_random() * 100);
		compare(path, v, n, exact);
		for (size_t i = 0; i < n; i++) /* few distinct ones, and missing ones */
			v[i] = i % 5 == 4 ? (double)NAN : floor(unit_random() * 20) - 10;
		compare(path, v, n, exact);
		for (size_t i = 0; i < n; i++) /* rare peaks */
			v[i] = unit_random() < 0.002 ? 1e6 + unit_random() : unit_random();
		compare(path, v, n, exact);
		for (size_t i = 0; i < n; i++)
			v[i] = -5;
		compare(path, v, n, true);
	}
	unlink(path);
	free(v);
}

/* Phases of many, few, equal and single values, whose quantiles match those of all. */
static void phases(void **state)
{
	static const size_t ends[] = {100000, 150000, 150001, 199000, MANY};
	char path[] = "/tmp/nvmtop-stats-XXXXXX";
	double *v = malloc(MANY * sizeof(*v));
	size_t list[1] = {0}, from = 0;
	const struct channels channels = {list, 1};
	struct epoch span = {.from_ns = 1000000, .to_ns = (int64_t)(MANY + 1) * 1000000};
	struct result all, r;
	struct stats *whole;
	struct trace *t;
	int fd = mkstemp(path);

	(void)state;
	assert_non_null(v);
	close(fd);
	for (size_t i = 0; i < MANY; i++)
		v[i] = i < 100000   ? floor(unit_random() * 1000) / 10
		       : i < 150000 ? unit_random() * 3e4 - 2e4
		       : i < 199000 ? 77.7
				    : (double)(float)unit_random() * 5000;
	t = trace_of(path, v, MANY);
	span.end_ns = span.to_ns;
	whole = stats_begin(t, &channels, &span, 1, &all);
	assert_non_null(whole);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); from = ends[i++]) {
		struct epoch part = {.from_ns = (int64_t)(from + 1) * 1000000,
				     .to_ns = (int64_t)(ends[i] + 1) * 1000000};

		part.end_ns = part.to_ns;
		assert_int_equal(stats_make(t, &channels, &part, 1, whole, &r, no_tick, NULL), 0);
		assert_int_equal(r.n, ends[i] - from);
	}
	stats_end(whole);
	trace_close(t);
	qsort(v, MANY, sizeof(*v), by_value);
	near(all.p50, v[quantile_rank(0.5, MANY)], 2.5e-4 * (all.max - all.min));
	near(all.p95, v[quantile_rank(0.95, MANY)], 2.5e-4 * (all.max - all.min));
	near(all.p99, v[quantile_rank(0.99, MANY)], 2.5e-4 * (all.max - all.min));
	unlink(path);
	free(v);
}

static void ranks(void **state)
{
	(void)state;
	assert_true(quantile_rank(0.5, 1) == 0);
	assert_true(quantile_rank(0.5, 2) == 0);
	assert_true(quantile_rank(0.5, 3) == 1);
	assert_true(quantile_rank(0.95, 100) == 94);
	assert_true(quantile_rank(0.99, 100) == 98);
	assert_true(quantile_rank(0.99, 101) == 99);
	assert_true(quantile_rank(0.99, 10) == 9);
}

static void student(void **state)
{
	static const struct {
		double df, t;
	} table[] = {{1, 12.706205}, {2, 4.302653},  {3, 3.182446},   {4, 2.776445},    {5, 2.570582},
		     {9, 2.262157},  {29, 2.045230}, {100, 1.983972}, {1000, 1.962339}, {1e9, 1.959964}};

	double p;

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_true(fabs(student_t(table[i].df) - table[i].t) < 1e-6);
	assert_true(student_t(2.5) < student_t(2) && student_t(2.5) > student_t(3));
	assert_true(isnan(welch(1, 1, 1, 5, 1, &p)) && isnan(p));
	assert_true(welch(0, 3, 0, 3, 0, &p) == 0 && p == 1);
	assert_true(welch(0, 3, 0, 3, 1, &p) == 0 && p == 0);
	/* Equal variances and counts: n1 + n2 - 2 degrees of freedom. */
	assert_true(fabs(welch(3, 5, 3, 5, 2.306004 * 3 * sqrt(2.0 / 5), &p) - 2.306004 * 3 * sqrt(2.0 / 5)) < 1e-5);
	assert_true(fabs(p - 0.05) < 1e-6);
}

/* A version 1 trace with this many fast rows that have only times. */
static void write_trace(const char *path, uint64_t rows)
{
	static const uint32_t head[] = {0x4E564D54, 1}, hz[] = {1000, 100, 10};
	uint8_t header[728] = {0}, row[98] = {0};
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	memcpy(header, head, sizeof(head));
	strcpy((char *)header + 8, "test");
	memcpy(header + 44, hz, sizeof(hz));
	memcpy(header + 56, &rows, sizeof(rows));
	fwrite(header, sizeof(header), 1, f);
	for (uint64_t i = 0; i < rows; i++) {
		double t = (double)i / 1000;

		memcpy(row, &t, sizeof(t));
		fwrite(row, sizeof(row), 1, f);
	}
	assert_int_equal(fclose(f), 0);
}

static bool stop(double done)
{
	return done < 0.4;
}

static bool is_there(const char *folder, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return access(path, F_OK) == 0;
}

/* A stopped report leaves only what existed before. */
static void stopped(void **state)
{
	char folder[] = "/tmp/nvmtop-report-XXXXXX", from[64], to[64];
	const struct selection pick = {.tier = -1, .has_from = true, .from_ns = 1000000000};
	struct trace *t;
	struct err e;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(from, sizeof(from), "%s/long.nvmt", folder);
	snprintf(to, sizeof(to), "%s/new.nvmt", folder);
	write_trace(from, 200000);
	t = trace_open(from, &e);
	assert_non_null(t);
	assert_int_equal(trace_cut(t, &pick, to, false, stop, &e), -1);
	assert_int_equal(e.code, ERR_FAILED);
	assert_false(is_there(folder, "new.nvmt") || is_there(folder, "new.nvmt.log.tmp"));
	f = fopen(to, "w");
	assert_non_null(f);
	assert_int_equal(export_write(t, &pick, EXPORT_csv, 0, false, f, stop, &e), -1);
	fclose(f);
	assert_int_equal(truncate(to, 0), 0); /* what is no recording is never replaced */
	assert_int_equal(trace_cut(t, &pick, to, true, stop, &e), -1);
	assert_true(is_there(folder, "new.nvmt")); /* the existing one */
	assert_false(is_there(folder, "new.nvmt.log.tmp"));
	assert_int_equal(trace_cut(t, &pick, to, true, NULL, &e), 0);
	trace_close(t);
	unlink(from);
	unlink(to);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(statistics), cmocka_unit_test(phases),
					   cmocka_unit_test(ranks),
					   cmocka_unit_test(student), cmocka_unit_test(stopped)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
