/* Formatting numbers: exact, shortest, and locale-independent. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/num.h"
#include "random.h"

/* The number of digits "%.*e" needs to represent v exactly. */
static int digits_needed(double v)
{
	char text[64];
	int n = 0;

	do
		snprintf(text, sizeof(text), "%.*e", n++, v);
	while (strtod(text, NULL) != v);
	return n;
}

static int digits_of(const char *text)
{
	char digits[NUM_TEXT];
	size_t n = 0, first = 0;

	for (const char *p = text; *p && *p != 'e'; p++)
		if (*p >= '0' && *p <= '9')
			digits[n++] = *p;
	while (first < n && digits[first] == '0')
		first++;
	while (n > first && digits[n - 1] == '0')
		n--;
	return (int)(n - first);
}

static void check(double v)
{
	char text[NUM_TEXT];
	size_t n = num_text(text, v);

	assert_int_equal(n, strlen(text));
	assert_true(n < NUM_TEXT);
	if (strtod(text, NULL) != v || digits_of(text) > digits_needed(v)) {
		print_error("%.17g became %s\n", v, text);
		fail();
	}
}

static void texts(void **state)
{
	static const struct {
		double v;
		const char *text;
	} known[] = {{0, "0"},
		     {-0.0, "0"},
		     {1, "1"},
		     {-1.5, "-1.5"},
		     {0.1, "0.1"},
		     {0.3, "0.3"},
		     {0.1 + 0.2, "0.30000000000000004"},
		     {99.9, "99.9"},
		     {123456789, "123456789"},
		     {(double)12.3F, "12.300000190734863"},
		     {5e-324, "5e-324"},
		     {1e22, "1e+22"},
		     {0x1p53, "9.007199254740992e+15"},
		     {1e-7, "1e-07"},
		     {NAN, "nan"},
		     {-INFINITY, "-inf"}};
	char text[NUM_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		num_text(text, known[i].v);
		assert_string_equal(text, known[i].text);
	}
}

static void shortest(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = random_next();
		double any, unit = (double)(bits >> 11) * 0x1p-53;
		float narrow = (float)(unit * 100);

		memcpy(&any, &bits, sizeof(any));
		if (isfinite(any))
			check(any);
		check(unit * 100);
		check(-unit * 1e6);
		check((double)narrow);
		check((double)(bits % 1001) / 10);
		check(ldexp(1, (int)(bits % 120) - 60));
		check(nextafter(ldexp(1, (int)(bits % 120) - 60), 0));
	}
	check(DBL_MAX);
	check(DBL_MIN);
}

/* As float: reads back as the same float, and no shorter text does. */
static void singles(void **state)
{
	char text[NUM_TEXT], other[64];

	(void)state;
	num_text_single(text, (double)17.2F);
	assert_string_equal(text, "17.2");
	num_text_single(text, 17.2);
	assert_string_equal(text, "17.2");
	num_text_single(text, 0.1 + 0.2);
	assert_string_equal(text, "0.30000000000000004");
	for (int i = 0; i < 40000; i++) {
		uint64_t bits = random_next();
		uint32_t low = (uint32_t)bits;
		float v = (float)((double)(bits >> 11) * 0x1p-53 * 1e5);
		int n = 0;

		if (i % 2)
			memcpy(&v, &low, sizeof(v));
		if (!isfinite(v))
			continue;
		num_text_single(text, (double)v);
		do
			snprintf(other, sizeof(other), "%.*e", n++, (double)v);
		while (strtof(other, NULL) != v);
		if (strtof(text, NULL) != v || (fabsf(v) < 0x1p24F && digits_of(text) > n)) {
			print_error("%.9g became %s\n", (double)v, text);
			fail();
		}
	}
}

static void fixed(void **state)
{
	static const struct {
		double v;
		int decimals;
		const char *text;
	} known[] = {{1.005, 1, "1.0"}, {-0.04, 1, "0.0"},     {-0.06, 1, "-0.1"}, {12345.678, 0, "12346"},
		     {2.5, 3, "2.500"}, {1e12, 2, "1.00e+12"}, {NAN, 2, "nan"}};
	char text[NUM_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_int_equal(num_fixed(text, known[i].v, known[i].decimals), strlen(known[i].text));
		assert_string_equal(text, known[i].text);
	}
}

static void seconds(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} known[] = {{0, "0.000000000"},
		     {-1, "-0.000000001"},
		     {1500000000, "1.500000000"},
		     {INT64_MAX, "9223372036.854775807"},
		     {INT64_MIN, "-9223372036.854775808"}};
	char text[NUM_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		num_seconds(text, known[i].ns);
		assert_string_equal(text, known[i].text);
	}
}

/* A locale with a decimal comma, if installed. */
static void locales(void **state)
{
	static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
	char text[NUM_TEXT];
	size_t i = 0;

	(void)state;
	while (i < sizeof(names) / sizeof(names[0]) && !setlocale(LC_NUMERIC, names[i]))
		i++;
	num_text(text, 1.25e-300);
	assert_string_equal(text, "1.25e-300");
	num_text(text, 0.5);
	assert_string_equal(text, "0.5");
	num_fixed(text, -1234.5, 2);
	assert_string_equal(text, "-1234.50");
	setlocale(LC_NUMERIC, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(shortest),
					   cmocka_unit_test(fixed), cmocka_unit_test(seconds),
					   cmocka_unit_test(locales), cmocka_unit_test(singles)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
