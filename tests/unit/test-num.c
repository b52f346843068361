/* Parsing numbers: exact limits, and nothing else accepted as a number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "util/num.h"

static const char *i64(const char *s, int64_t *v)
{
	return num_i64(s, s + strlen(s), v);
}

static void integers(void **state)
{
	int64_t v;
	const char *s;

	(void)state;
	s = "  42 rest";
	assert_ptr_equal(i64(s, &v), s + 4);
	assert_int_equal(v, 42);
	assert_non_null(i64("-7\n", &v));
	assert_int_equal(v, -7);
	assert_non_null(i64("9223372036854775807", &v));
	assert_true(v == INT64_MAX);
	assert_non_null(i64("-9223372036854775808", &v));
	assert_true(v == INT64_MIN);
	assert_null(i64("9223372036854775808", &v));
	assert_null(i64("-9223372036854775809", &v));
	assert_null(i64("99999999999999999999999", &v));
	assert_null(i64("", &v));
	assert_null(i64("-", &v));
	assert_null(i64("x1", &v));
	assert_null(i64("- 1", &v));
	/* Never reads past the end. */
	s = "123456";
	assert_ptr_equal(num_i64(s, s + 3, &v), s + 3);
	assert_int_equal(v, 123);
	assert_null(num_i64(s, s, &v));
}

static void decimals(void **state)
{
	static const struct {
		const char *text;
		double v;
	} good[] = {{"0", 0},      {"1000", 1000}, {"0.1", 0.1}, {"-2.5", -2.5},
		    {"1e3", 1000}, {"+4", 4},      {".5", .5}};
	static const char *const bad[] = {"",     "-",  ".",  "1,5", "nan", "inf",  "1e999",
					  "0x10", "1 ", " 1", "1e",  "--1", "1.2.3"};
	double v;

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_true(num_double(good[i].text, &v));
		assert_true(v == good[i].v);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(num_double(bad[i], &v));
}

static void durations(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {{"0", 0},
		    {"90", 90000000000},
		    {"1.5", 1500000000},
		    {"250ms", 250000000},
		    {"10us", 10000},
		    {"2m", 120000000000},
		    {"2min", 120000000000},
		    {"1h30m", 5400000000000},
		    {"7d", 604800000000000},
		    {"1d2h", 93600000000000},
		    {"1m30.5s", 90500000000},
		    {"02:03", 123000000000},
		    {"01:02:03.5", 3723500000000}};
	static const char *const bad[] = {"",     "s",    "-1",  "1:60", "1:2:3:4",    "1:",   "5x",
					  "1s2s", "1s1m", "1e3", "1 s",  "4611686019", "1::2", "nan"};
	int64_t v;

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_true(num_duration_ns(good[i].text, &v));
		assert_true(v == good[i].ns);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(num_duration_ns(bad[i], &v));
}

static void bytes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {{"0", 0},
		    {"65536", 65536},
		    {"500k", 500000},
		    {"500K", 500000},
		    {"1.5M", 1500000},
		    {"2G", 2000000000},
		    {"1T", 1000000000000},
		    {"64KiB", 65536},
		    {"1Mi", 1048576},
		    {"12B", 12},
		    {"3GB", 3000000000}};
	static const char *const bad[] = {"",   "k",   "-1", "1 k", "1m",   "1kk",  "1i",
					  "1Bk", "1e9", "nan", "5x", "9999999T", "1k1"};
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_true(num_bytes(good[i].text, &v));
		assert_true(v == good[i].bytes);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(num_bytes(bad[i], &v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(integers), cmocka_unit_test(decimals),
					   cmocka_unit_test(durations), cmocka_unit_test(bytes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
