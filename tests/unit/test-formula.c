/* Formulas of simulated signals: every function at its turning points, that evaluation is pure, and that
 * every invalid text is rejected with a message. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/expr.h"

static const double row[] = {10, 250, NAN};

static int column(void *arg, const char *name)
{
	static const char *const names[] = {"gpu.util", "VDD_GPU_SOC.voltage", "Package id 0"};

	(void)arg;
	for (int i = 0; i < 3; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

static double at(const char *text, double t)
{
	struct err e = {0};
	struct formula *w = formula_compile(text, column, NULL, &e);

	if (!w)
		fail_msg("%s: %s", text, e.text);
	double v = formula_value(w, t, row);
	if (!isnan(v))
		assert_true(v == formula_value(w, t, row));
	free(w);
	return v;
}

static void near(const char *text, double t, double expected)
{
	double v = at(text, t);

	if (!(fabs(v - expected) <= 1e-12 * fmax(1, fabs(expected))))
		fail_msg("%s at %g: %.17g, not %.17g", text, t, v, expected);
}

static void missing(const char *text, double t)
{
	double v = at(text, t);

	if (!isnan(v))
		fail_msg("%s at %g: %g, not nan", text, t, v);
}

static void refused(const char *text, int where, const char *what)
{
	struct err e = {0};
	struct formula *w = formula_compile(text, column, NULL, &e);
	char place[24];

	if (w)
		fail_msg("accepted: %s", text);
	assert_int_equal(e.code, ERR_USAGE);
	snprintf(place, sizeof place, "column %d: ", where);
	if (strncmp(e.text, place, strlen(place)) != 0 || !strstr(e.text, what))
		fail_msg("%s: says \"%s\", not \"%s...%s\"", text, e.text, place, what);
}

static void test_numbers(void **state)
{
	(void)state;
	near("12", 0, 12);
	near(" .5 ", 0, 0.5);
	near("1e3", 0, 1000);
	near("1.5e-3", 0, 0.0015);
	near("250us", 0, 250e-6);
	near("33.3ms", 0, 0.0333);
	near("8s", 0, 8);
	near("40k + 7M + 1.3G", 0, 1307040000.0);
	near("20 W + 5mw", 0, 20005);
	near("2 GiB", 0, 2097152);
	missing("nan", 0);
	near("t", 2.5, 2.5);
	near("t", -2.5, -2.5);
}

static void test_operators(void **state)
{
	(void)state;
	near("1 + 2 * 3", 0, 7);
	near("(1+2)*3", 0, 9);
	near("10 - 4 - 3", 0, 3);
	near("48 / 4 / 3", 0, 4);
	near("-2 * -3", 0, 6);
	near("- -2", 0, 2);
	near("2 - -2", 0, 4);
	near("-t - t", 3, -6);
	near("1 < 2", 0, 1);
	near("2 < 2", 0, 0);
	near("2 <= 2", 0, 1);
	near("3 > 2", 0, 1);
	near("2 >= 3", 0, 0);
	near("2 == 2", 0, 1);
	near("2 != 2", 0, 0);
	near("1 + 1 == 2 && 3 > 2", 0, 1);
	near("0 && 0 || 1", 0, 1);
	near("1 || 0 && 0", 0, 1);
	near("2 = 2 and 0 or 3", 0, 1);
	near("1 AND 0 Or 0", 0, 0);
}

static void test_channels(void **state)
{
	(void)state;
	near("gpu.util", 0, 10);
	near("gpu.util * VDD_GPU_SOC.voltage / 1000", 0, 2.5);
	missing("[Package id 0]", 0);
}

static void test_plain_functions(void **state)
{
	(void)state;
	near("floor(-0.5)", 0, -1);
	near("floor(t)", 2.75, 2);
	near("round(2.5, 1)", 0, 3);
	near("round(-2.6, 1)", 0, -3);
	near("round(4963, 8)", 0, 4960);
	near("round(4965, 8)", 0, 4968);
	near("min(3, 1) - min(1, 2)", 0, 0);
	near("max(3, -1)", 0, 3);
	near("max(max(1, t), 2)", 9, 9);
	near("clamp(5, 1, 3) + clamp(0, 1, 3) + clamp(2, 1, 3)", 0, 6);
}

static void test_missing_spreads(void **state)
{
	static const char *const texts[] = {
		"nan + 1",
		"1 * nan",
		"-nan",
		"nan < 1",
		"nan != nan",
		"nan || 1",
		"nan && 0",
		"1 / 0",
		"0 / 0",
		"floor(nan)",
		"round(nan, 1)",
		"round(1, t)",
		"min(1, nan)",
		"min(nan, 1)",
		"max(1, nan)",
		"max(nan, 1)",
		"clamp(nan, 0, 1)",
		"clamp(0, nan, 1)",
		"clamp(0, 0, nan)",
		"hold(t, 0, 1)",
		"track(t, 0, 1)",
		"settle(t, 1, 0, 1)",
		"settle(1, nan, 0, 1)",
		"hold(1, 0, nan)",
		"noise(1, t)",
		"noise(nan, 1)",
		"noise(1e300, 1)",
		"smooth(1, t)",
		"bell(1, t)",
		"spike(1, t, 1, 1)",
		"spike(1, 1, nan, 1)",
		"spike(1, 1, 1, nan)",
		"spike(nan, 1, 1, 1)",
		"1e308 * 10 / 1e308 * 0",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		missing(texts[i], 0);
	near("hold(2, 0, 7, 1, nan)", 0.5, 7);
	missing("hold(2, 0, 7, 1, nan)", 1.5);
}

static void test_time_that_is_none(void **state)
{
	static const char *const texts[] = {"t",
					    "noise(1, 1)",
					    "smooth(1, 1)",
					    "bell(1, 1)",
					    "spike(1, 1, 1, 1)",
					    "hold(1, 0, 5)",
					    "track(1, 0, 5)",
					    "settle(1, 1, 0, 5)"};
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		missing(texts[i], NAN);
		if (i > 0) {
			missing(texts[i], INFINITY);
			missing(texts[i], -INFINITY);
		}
	}
}

static void test_curves(void **state)
{
	(void)state;
	near("hold(10, 2, 5, 6, 7)", 3, 5);
	near("hold(10, 2, 5, 6, 7)", 6, 7);
	near("hold(10, 2, 5, 6, 7)", 1, 7);
	near("hold(10, 0, 5)", 1234, 5);
	near("track(10, 2, 5, 6, 7)", 4, 6);
	near("track(10, 2, 5, 6, 7)", 9, 6);
	near("track(10, 2, 5, 6, 7)", 11, 5 + 2 / 6.0);
	near("track(10, 3, 5)", 1, 5);
	near("track(2 * 5, 1 + 1, -5, 6, 7)", 4, 1);
	near("hold(10, -t, 5, 6, gpu.util)", 7, 10);
	near("hold(10, 2, 5, t + 1, 7)", 3, 5);
	/* Just before the start is the end of the previous period. */
	near("hold(1, 0, 5, 0.5, 6)", -1e-20, 5);
}

static void test_settle(void **state)
{
	(void)state;
	/* One long period: from 20 towards 80 with time constant 3. */
	near("settle(1000, 3, 0, 80, 500, 20)", 3, 80 - 60 * exp(-1));
	near("settle(1000, 3, 0, 80, 500, 20)", 503, 20 + 60 * exp(-1));
	near("settle(10, 2, 0, 42)", 7, 42);
	/* Continuous between segments and periods, even if the target is never reached. */
	for (int k = -2; k <= 3; k++) {
		const char *text = "settle(7, 9, 1, 80, 3, 20, 5.5, 50)";
		static const double joints[] = {1, 3, 5.5, 7};
		for (size_t i = 0; i < 4; i++) {
			double t = 7 * k + joints[i];
			assert_true(fabs(at(text, t - 1e-9) - at(text, t + 1e-9)) < 1e-6);
		}
	}
	/* The same as integrating in small steps. */
	double v = 50;
	for (double t = 0; t < 140; t += 1e-3)
		v += (at("hold(7, 1, 80, 3, 20, 5.5, 50)", t) - v) * (1e-3 / 9);
	assert_true(fabs(v - at("settle(7, 9, 1, 80, 3, 20, 5.5, 50)", 140)) < 0.05);
}

static void test_noise(void **state)
{
	double sum = 0, square = 0;
	struct err e;
	struct formula *noise = formula_compile("noise(7, 1ms)", column, NULL, &e);
	struct formula *bell = formula_compile("bell(7, 1ms)", column, NULL, &e);

	(void)state;
	assert_non_null(noise);
	assert_non_null(bell);
	for (int i = 0; i < 100000; i++) {
		double v = formula_value(noise, (i + 0.5) / 1000, NULL);
		assert_true(v >= 0 && v < 1);
		assert_true(v == formula_value(noise, (i + 0.25) / 1000, NULL));
		sum += v;
	}
	assert_true(fabs(sum / 100000 - 0.5) < 0.005);
	sum = 0;
	for (int i = 0; i < 100000; i++) {
		double v = formula_value(bell, (i + 0.5) / 1000, NULL);
		assert_true(fabs(v) <= 3.47);
		sum += v;
		square += v * v;
	}
	assert_true(fabs(sum / 100000) < 0.02);
	assert_true(fabs(square / 100000 - 1) < 0.02);
	free(noise);
	free(bell);
	assert_true(at("noise(1, 1)", 0.5) != at("noise(2, 1)", 0.5));
	assert_true(at("noise(1, 1)", 0.5) != at("noise(1, 1)", 1.5));
	assert_true(at("noise(-1, 1)", -0.5) >= 0);
	near("smooth(1, 2)", 4, at("noise(1, 2)", 5));
	near("smooth(1, 2)", 5, (at("noise(1, 2)", 5) + at("noise(1, 2)", 7)) / 2);
}

/* The result must be the same on all machines. */
static void test_noise_is_the_same_everywhere(void **state)
{
	(void)state;
	near("noise(1, 1)", 0, 0.771546556331567);
	near("noise(1, 1)", 1, 0.8708467558208047);
	near("noise(12345, 10ms)", 100, 0.020954136473297025);
}

static void test_spike(void **state)
{
	struct err e;
	struct formula *w = formula_compile("spike(3, 100ms, 2ms, 0.5)", column, NULL, &e);
	int high = 0, slots = 0;

	(void)state;
	assert_non_null(w);
	for (int slot = 0; slot < 1000; slot++) {
		int before = high;
		for (int i = 0; i < 1000; i++)
			high += formula_value(w, slot * 0.1 + (i + 0.5) * 1e-4, NULL) != 0;
		assert_true(high == before || abs(high - before - 20) <= 1);
		slots += high != before;
	}
	assert_true(slots > 440 && slots < 560);
	free(w);
	near("spike(3, 1, 5, 1)", 12.5, 1);
	near("spike(3, 1, 0.5, 0)", 12.5, 0);
}

static void test_errors(void **state)
{
	(void)state;
	refused("", 1, "found the end");
	refused("   ", 4, "a number, a signal");
	refused("1 +", 4, "found the end");
	refused("1 2", 3, "an operator or the end, found \"2\"");
	refused("1 + cpu9.util", 5, "the name of a signal");
	refused("[cpu 9]", 1, "the name of a signal");
	refused("sim(1)", 1, "a function such as");
	refused("2 * hold(0, 0, 1)", 10, "a number above 0, found \"0,\"");
	refused("hold(-1, 0, 1)", 6, "a number above 0");
	refused("track(nan, 0, 1)", 7, "a number above 0");
	refused("settle(0, 1, 0, 1)", 8, "a number above 0");
	refused("noise(1, 0)", 10, "a number above 0");
	refused("round(1, 1 - 1)", 10, "a number above 0");
	refused("floor(1, 2)", 8, "an operator or \")\"");
	refused("floor()", 7, "a number, a signal");
	refused("round(1)", 8, "another argument");
	refused("hold(10, 0, 1, 2)", 17, "another argument");
	refused("min(1", 6, "another argument");
	refused("floor(1", 8, "\")\"");
	refused("(1", 3, "\")\"");
	refused("1)", 2, "an operator or the end");
	refused("1 $ 2", 3, "found \"$\"");
	refused("1..2", 1, "expected a number, found");
	refused(".", 1, "expected a number, found");
	refused("1e999", 1, "expected a number, found");
	refused("5x", 2, "a unit");
	refused("5msx", 2, "a unit");
	refused("5MS", 2, "a unit");
	refused("[gpu.util", 10, "\"]\"");
	refused("[]", 1, "a number, a signal");
	refused("1 & 2", 3, "an operator or the end");
	refused("t for 2s", 3, "an operator or the end");
	refused("t(1)", 1, "a function such as");
	refused("1 + \033[31m", 5, "found \"?[31m\"");
	refused("1 + \xff\xfe", 5, "found \"??\"");
}

/* n times a, then middle, then n times b; the caller frees it. */
static char *nest(const char *a, const char *middle, const char *b, size_t n)
{
	char *text = malloc(n * (strlen(a) + strlen(b)) + strlen(middle) + 1), *p = text;

	assert_non_null(text);
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, a);
	p = stpcpy(p, middle);
	*p = '\0';
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, b);
	return text;
}

static void nested(const char *a, const char *middle, const char *b, size_t n, const char *complaint)
{
	char *text = nest(a, middle, b, n);
	struct err e = {0};
	struct formula *w = formula_compile(text, column, NULL, &e);

	if (complaint) {
		assert_null(w);
		if (!strstr(e.text, complaint))
			fail_msg("%zu: %s", n, e.text);
	} else if (!w) {
		fail_msg("%zu: %s", n, e.text);
	} else {
		assert_false(isnan(formula_value(w, 0.5, row)));
	}
	free(w);
	free(text);
}

static void test_limits(void **state)
{
	(void)state;
	nested("(", "1", ")", EXPR_DEPTH - 1, NULL);
	nested("(", "1", ")", EXPR_DEPTH, "too large: at most 32 levels");
	nested("(", "1", ")", 2000, "too large");
	nested("-", "t", "", 4000, "too large");
	nested("-", "t", "", EXPR_DEPTH - 1, NULL);
	nested("floor(", "t", ")", EXPR_DEPTH - 1, NULL);
	nested("floor(", "t", ")", EXPR_DEPTH, "too large");
	nested("", "t", "+t", 383, NULL);
	nested("", "t", "+t", 384, "768 operations and numbers");
	nested("", "1", "+1", 2000, NULL); /* computed at compile time */
	nested("", "1", " ", 100000, NULL);
	nested("1+(", "t", ")", EXPR_DEPTH, "too large");
	nested("hold(1,0,t,0.5,t,0.7,", "t", ")", 31, NULL);
	nested("hold(1,0,t,.1,t,.2,t,.3,t,.4,t,.5,t,.6,t,.7,t,.8,t,.9,t,.95,t,.99,", "t", ")", 31, "too large");
	nested("hold(1000,0,1", "", ",1,1)", 1, NULL);
}

/* Constants of many curves. */
static void test_many_numbers(void **state)
{
	char text[4096];

	(void)state;
	for (int curves = 23; curves <= 24; curves++) {
		int n = sprintf(text, "0");
		for (int i = 0; i < curves; i++) {
			n += sprintf(text + n, " + track(1000");
			for (int k = 0; k < 15; k++)
				n += sprintf(text + n, ", %d, %d", 3 * k, k);
			n += sprintf(text + n, ")");
		}
		nested("", text, "", 1, curves == 23 ? NULL : "768 operations and numbers");
	}
}

/* Random text made of tokens of the language: compiles or is rejected with a position (most useful with
 * sanitizers). */
static void test_soup(void **state)
{
	static const char *const parts[] = {
		"1",        "0",    "t",   "nan",   "(",       ")",      "[",       "]",      ",",
		",",        "+",    "-",   "*",     "/",       "<",      "=",       "!",      "&&",
		"||",       "min(", "and", "hold(", "settle(", "track(", "smooth(", "spike(", "W",
		"gpu.util", "e9",   ".",   "ms",    " ",       "\x80",   "1e308",   "round("};
	uint32_t z = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char text[512];
		size_t n = 0;
		z = z * 1664525 + 1013904223;
		for (unsigned k = z >> 26; k > 0; k--) {
			z = z * 1664525 + 1013904223;
			const char *part = parts[(z >> 16) % (sizeof parts / sizeof *parts)];
			memcpy(text + n, part, strlen(part));
			n += strlen(part);
		}
		text[n] = '\0';
		struct err e = {0};
		struct formula *w = formula_compile(text, column, NULL, &e);
		if (w)
			formula_value(w, i * 0.1 - 100, row);
		else
			assert_int_equal(strncmp(e.text, "column ", 7), 0);
		free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_channels),
		cmocka_unit_test(test_plain_functions),
		cmocka_unit_test(test_missing_spreads),
		cmocka_unit_test(test_time_that_is_none),
		cmocka_unit_test(test_curves),
		cmocka_unit_test(test_settle),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_noise_is_the_same_everywhere),
		cmocka_unit_test(test_spike),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_many_numbers),
		cmocka_unit_test(test_soup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
