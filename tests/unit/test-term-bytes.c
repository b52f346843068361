/* Shortening the terminal output must not change the result: a small terminal emulator plays both
 * versions, and the screens are compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "term/sgr.h"
#include "term/shift.h"

static uint32_t seed = 1;

static unsigned roll(unsigned n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

/* An SGR terminal: outputs every character with its current look. rgb: the colour of each number. */
static void play(const char *bytes, size_t n, const int rgb[256], char *out, size_t size)
{
	int colour[2] = {-1, -1}, used = 0;
	unsigned on = 0;

	for (size_t i = 0; i < n;) {
		int v[64], k = 0;

		if (bytes[i] == '\033' && bytes[i + 1] == '(') {
			i += 3;
			continue;
		}
		if (bytes[i] != '\033') {
			bool blank = bytes[i] == ' ' && !(on & (1u << 4 | 1u << 7));

			used += snprintf(out + used, size - (size_t)used, "%c{%x,%x,%x}", bytes[i++], on,
					 blank ? 0 : (unsigned)colour[0], (unsigned)colour[1]);
			continue;
		}
		for (i += 2;; i++) {
			v[k] = 0;
			while (bytes[i] >= '0' && bytes[i] <= '9')
				v[k] = 10 * v[k] + bytes[i++] - '0';
			k++;
			if (bytes[i] == 'm')
				break;
		}
		i++;
		for (int a = 0; a < k; a++) {
			int which = v[a] >= 40;

			if (v[a] == 0) {
				on = 0;
				colour[0] = colour[1] = -1;
			} else if (v[a] < 10) {
				on |= 1u << v[a];
			} else if (v[a] == 22) {
				on &= ~6u;
			} else if (v[a] < 30) {
				on &= ~(1u << (v[a] - 20));
			} else if (v[a] % 10 == 9) {
				colour[which] = -1;
			} else if (v[a] % 10 < 8) {
				colour[which] = v[a] % 10;
			} else if (v[a + 1] == 5) {
				colour[which] = rgb[v[a + 2]] < 0 ? v[a + 2] : 1 << 24 | rgb[v[a + 2]];
				a += 2;
			} else {
				colour[which] = 1 << 24 | v[a + 2] << 16 | v[a + 3] << 8 | v[a + 4];
				a += 4;
			}
		}
	}
	out[used] = 0;
}

static int rgb[256];

static void test_looks_stay_the_same(void **state)
{
	static const char *const pieces[] = {"\033[m",
					     "\033[0m",
					     "\033[0;1m",
					     "\033[39m",
					     "\033(B",
					     "\033[;7m",
					     "\033[38;5;9m",
					     "\033[1m",
					     "\033[39;49m",
					     "x",
					     "yz",
					     "\033[0;0;4m",
					     " ",
					     "\033[38;5;244;1m",
					     "\033[48;5;244m",
					     "\033[48;5;20;38;5;21m",
					     "\033[22m",
					     "\033[24m",
					     "\033[2;48;2;1;2;3m",
					     "\033[27;31m",
					     "\033[42;1;7m"};
	char bytes[1024], after[SGR_GROWS * 1024], before[65536], shown[65536];

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct sgr s = {rgb, round & 1, round & 2};
		size_t n = 0, now;

		if (!s.follows)
			n += (size_t)snprintf(bytes, sizeof(bytes), "\033[m");
		for (unsigned i = roll(12); i > 0; i--)
			n += (size_t)snprintf(bytes + n, sizeof(bytes) - n, "%s",
					      pieces[roll(sizeof(pieces) / sizeof(pieces[0]))]);
		/* Another character, or the last look would not show. */
		n += (size_t)snprintf(bytes + n, sizeof(bytes) - n, "E");
		play(bytes, n, rgb, before, sizeof(before));
		now = sgr_bytes(&s, bytes, n, after);
		play(after, now, rgb, shown, sizeof(shown));
		assert_string_equal(before, shown);
	}
}

static void becomes(bool ends, const char *in, const char *out)
{
	struct sgr s = {rgb, true, ends};
	char got[SGR_GROWS * 600 + 1];
	size_t n = sgr_bytes(&s, in, strlen(in), got);

	assert_true(n <= SGR_GROWS * strlen(in));
	got[n] = 0;
	assert_string_equal(got, out);
}

static void test_only_what_differs(void **state)
{
	char longest[600];

	(void)state;
	becomes(false, "\033[39m\033(B\033[m\033[0;1m59\033[4;39H\033(B\033[0m\033[38;5;244m9\033[Kx",
		"\033[1m59\033[4;39H\033[;38;5;244m9\033[Kx");
	/* single colours, and sequences that turn nothing else off */
	becomes(false, "\033[38;5;20;48;5;30ma\033[38;5;21;48;5;30mb\033[38;5;21;48;5;31mc",
		"\033[38;5;20;48;5;30ma\033[38;5;21mb\033[48;5;31mc");
	becomes(true, "\033[1;2;38;5;20ma\033[m\017\033[2m\033[38;5;20mb\033[m",
		"\033[1;2;38;5;20ma\033[22;2mb\033[m");
	becomes(false, "\033[1;38;5;20ma\033[m\033[38;5;20mb\033[m", "\033[1;38;5;20ma\033[;38;5;20mb\033[m");
	becomes(true, "\033[31mx\033[m\033[91;101mx\033[11my", "\033[31mx\033[91;101mx\033[11my");
	/* only the visible part of blanks and full blocks */
	becomes(true, "\033[31;42ma\033[32;43m \033[31;42mb", "\033[31;42ma\033[43m \033[42mb");
	becomes(true, "\033[31;42m.\033[32;43m\342\226\210\033[32;42m.", "\033[31;42m.\033[32m\342\226\210.");
	becomes(true, "\033[31m.\033[7;32m ", "\033[31m.\033[7;32m ");
	/* truncated, unknown, and too long */
	becomes(true, "ab\033[3", "ab\033[3");
	becomes(true, "\033", "\033");
	becomes(true, "", "");
	becomes(true, "\033[1m\033[53mx", "\033[1m\033[53mx");
	becomes(true, "\033[38:2::1:2:3m\033[38:2::1:2:3mx", "\033[38:2::1:2:3mx");
	strcpy(longest, "\033[1m\033[");
	for (int i = 0; i < 100; i++)
		strcat(longest, "4;1;");
	strcat(longest, "7mZ");
	becomes(true, longest, "\033[1;4;7mZ");
	for (int round = 0; round < 20000; round++) {
		struct sgr s = {rgb, round & 1, round & 2};
		char noise[64], out[SGR_GROWS * 64];

		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = "\033[;m(B0123485:A"[roll(15)];
		assert_true(sgr_bytes(&s, noise, sizeof(noise), out) <= sizeof(out));
	}
}

static void test_true_colours(void **state)
{
	(void)state;
	rgb[16] = 0x0102ff;
	rgb[100] = 0xffffff;
	becomes(true, "a38;5;16m", "a38;5;16m");
	becomes(true, "\033[38;5;16mx", "\033[38;2;1;2;255mx");
	becomes(true, "\033[;1;38;5;100;48;5;16mx", "\033[1;38;2;255;255;255;48;2;1;2;255mx");
	becomes(true, "\033[48;5;17mx", "\033[48;5;17mx");
	becomes(true, "\033[38;5;1600mx\033[38;5;160000my", "\033[38;5;1600mx\033[38;5;160000my");
	becomes(true, "\033[38;5;16", "\033[38;5;16");
	becomes(true, "\033[38;5m\033[", "\033[38;5m\033[");
	becomes(true, "\033[3;4H\033[16;16H", "\033[3;4H\033[16;16H");
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

/* Every shift found reduces what is left to draw. */
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
		cmocka_unit_test(test_looks_stay_the_same),
		cmocka_unit_test(test_only_what_differs),
		cmocka_unit_test(test_true_colours),
		cmocka_unit_test(test_shift_of_a_chart),
		cmocka_unit_test(test_shift_only_when_it_pays),
		cmocka_unit_test(test_shift_of_anything),
	};

	memset(rgb, -1, sizeof(rgb));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
