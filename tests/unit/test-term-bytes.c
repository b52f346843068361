/* What is left out of the bytes to the terminal must change nothing there: both
 * ways are played on a small terminal, and the pictures compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "term/shift.h"
#include "term/trim.h"

static uint32_t seed = 1;

static unsigned roll(unsigned n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

/* A terminal that knows SGR: every character with the numbers that hold for it. */
static void play(const char *bytes, size_t n, char *out, size_t size)
{
	char look[4096] = "";
	size_t used = 0;

	for (size_t i = 0; i < n;) {
		if (bytes[i] == '\033' && bytes[i + 1] == '(') {
			i += 3;
			continue;
		}
		if (bytes[i] == '\033') {
			size_t end = i + 2;

			while (bytes[end] != 'm')
				end++;
			/* Number by number: a reset forgets what was. */
			for (size_t k = i + 2; k <= end;) {
				size_t len = strcspn(bytes + k, ";m");

				if (len == 0 || (len == 1 && bytes[k] == '0')) {
					look[0] = 0;
				} else {
					strncat(look, bytes + k, len);
					strcat(look, ",");
				}
				k += len + 1;
			}
			i = end + 1;
			continue;
		}
		used += (size_t)snprintf(out + used, size - used, "%c{%s}", bytes[i++], look);
	}
	out[used] = 0;
}

static void test_trim_says_the_same(void **state)
{
	static const char *const pieces[] = {
		"\033[m",   "\033[0m",      "\033[0;1m", "\033[39m",        "\033(B",
		"\033[;7m", "\033[38;5;9m", "\033[1m",   "\033[39;49m",     "x",
		"yz",       "\033[0;0;4m",  " ",         "\033[38;5;244;1m"};
	char bytes[1024], before[65536], after[65536];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t n = 0, was;

		for (unsigned i = roll(12); i > 0; i--)
			n += (size_t)snprintf(bytes + n, sizeof(bytes) - n, "%s",
					      pieces[roll(sizeof(pieces) / sizeof(pieces[0]))]);
		/* What comes next, or the last look would not show. */
		n += (size_t)snprintf(bytes + n, sizeof(bytes) - n, "E");
		was = n;
		play(bytes, n, before, sizeof(before));
		n = trim_bytes(bytes, n);
		assert_true(n <= was);
		play(bytes, n, after, sizeof(after));
		assert_string_equal(before, after);
	}
}

static void test_trim_saves(void **state)
{
	char bytes[] = "\033[39m\033(B\033[m\033[0;1m59\033[4;39H\033(B\033[0m\033[38;5;244m9\033[Kx";
	size_t n = trim_bytes(bytes, strlen(bytes));

	(void)state;
	bytes[n] = 0;
	assert_string_equal(bytes, "\033[;1m59\033[4;39H\033[;38;5;244m9\033[Kx");
}

/* Sequences that are cut, or longer than any. */
static void test_trim_odd(void **state)
{
	char cut[] = "ab\033[3", lonely[] = "\033", longest[600];
	size_t n;

	(void)state;
	assert_int_equal(trim_bytes(cut, strlen(cut)), strlen(cut));
	assert_int_equal(trim_bytes(lonely, 1), 1);
	assert_int_equal(trim_bytes(cut, 0), 0);
	strcpy(longest, "\033[1m\033[");
	for (int i = 0; i < 100; i++)
		strcat(longest, "4;1;");
	strcat(longest, "7mZ");
	n = strlen(longest);
	assert_int_equal(trim_bytes(longest, n), n);
	for (int round = 0; round < 20000; round++) {
		char noise[64], copy[64];

		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = "\033[;m(B0123A"[roll(11)];
		memcpy(copy, noise, sizeof(copy));
		assert_true(trim_bytes(copy, sizeof(copy)) <= sizeof(copy));
	}
}

#define W 60

static void row_fill(struct cell *row, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < W; i++)
		row[i] = (struct cell) {.ch = {i < n ? text[i] : L' '}, .style = STYLE_TEXT};
}

/* What the terminal does. */
static void delete_cells(struct cell *row, struct shift s)
{
	for (int i = s.x; i < W; i++)
		row[i] = i + s.k < W ? row[i + s.k] : (struct cell) {.ch = {L' '}, .style = STYLE_TEXT};
}

static int differing(const struct cell *a, const struct cell *b)
{
	int n = 0;

	for (int i = 0; i < W; i++)
		n += a[i].ch[0] != b[i].ch[0] || a[i].style != b[i].style;
	return n;
}

static void test_shift_of_a_chart(void **state)
{
	struct cell was[W], now[W];
	struct shift s;

	(void)state;
	row_fill(was, "GPU 12.5 % abcdefghijklmnopqrstuvwxyz0123456789");
	row_fill(now, "GPU 13.5 % cdefghijklmnopqrstuvwxyz0123456789AB");
	s = shift_find(was, now, W);
	assert_int_equal(s.k, 2);
	delete_cells(was, s);
	/* The number, and the two new cells. */
	assert_int_equal(differing(was, now), 3);
}

static void test_shift_only_when_it_pays(void **state)
{
	struct cell was[W], now[W];

	(void)state;
	row_fill(was, "value 1");
	row_fill(now, "value 2");
	assert_int_equal(shift_find(was, now, W).k, 0);
	row_fill(now, "something quite different, all of it, to the very end");
	assert_int_equal(shift_find(was, now, W).k, 0);
	/* Never through a wide character. */
	row_fill(was, "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnop");
	row_fill(now, "bcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopq");
	assert_int_equal(shift_find(was, now, W).k, 1);
	now[5].ch[0] = 0;
	assert_int_equal(shift_find(was, now, W).k, 0);
}

/* Whatever is found, less is left to draw than there was. */
static void test_shift_of_anything(void **state)
{
	(void)state;
	for (int round = 0; round < 5000; round++) {
		struct cell was[W], now[W];
		int by = (int)roll(20);

		for (int i = 0; i < W; i++)
			was[i] = (struct cell) {.ch = {L'a' + (wchar_t)roll(4)},
						.style = (unsigned char)roll(3)};
		for (int i = 0; i < W; i++)
			now[i] = i + by < W && roll(10) ? was[i + by] : was[roll(W)];
		struct shift s = shift_find(was, now, W);
		int before = differing(was, now);

		if (s.k == 0)
			continue;
		assert_true(s.x >= 0 && s.x + s.k <= W);
		delete_cells(was, s);
		assert_true(differing(was, now) < before);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trim_says_the_same),
		cmocka_unit_test(test_trim_saves),
		cmocka_unit_test(test_trim_odd),
		cmocka_unit_test(test_shift_of_a_chart),
		cmocka_unit_test(test_shift_only_when_it_pays),
		cmocka_unit_test(test_shift_of_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
