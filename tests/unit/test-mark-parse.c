/* Parsing one datagram: valid marks, their times, and what is rejected. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "nvmtop/mark.h"
#include "record/marks.h"

#define SENT (INT64_C(5000) * NS_PER_S + 250)
#define NOW  (SENT + 30 * NS_PER_MS)

static int64_t t_ns;
static char label[MARK_LABEL];

static bool parse_bytes(const char *text, size_t len)
{
	/* a buffer of the exact size, so that sanitizers detect overreads */
	char *copy = malloc(len ? len : 1);
	bool ok;

	assert_non_null(copy);
	memcpy(copy, text, len);
	ok = mark_parse(copy, len, SENT, NOW, &t_ns, label);
	free(copy);
	return ok;
}

static bool parse(const char *text)
{
	return parse_bytes(text, strlen(text));
}

static void taken(const char *text, int64_t at, const char *name)
{
	if (!parse(text))
		fail_msg("refused: %s", text);
	assert_int_equal(t_ns, at);
	assert_string_equal(label, name);
}

static void test_taken(void **state)
{
	(void)state;
	taken("nvmtop-mark 1 4999.000000001", 4999 * NS_PER_S + 1, "");
	taken("nvmtop-mark 1 4999.000000001 a", 4999 * NS_PER_S + 1, "a");
	taken("nvmtop-mark 1 4999.5 two words", 4999 * NS_PER_S + NS_PER_S / 2, "two words");
	taken("nvmtop-mark 1 4999", 4999 * NS_PER_S, "");
	taken("nvmtop-mark 1 4999.1234567899999 ns and no more", 4999 * NS_PER_S + 123456789,
	      "ns and no more");
	taken("nvmtop-mark 1 0", SENT, "");
	taken("nvmtop-mark 1 0 echo\n", SENT, "echo");
	taken("nvmtop-mark 1 0.0 now", SENT, "now");
	taken("nvmtop-mark 1 0 ", SENT, "");
	taken("nvmtop-mark 1 0 \033[31mred\n\n", SENT, "?[31mred?");
	taken("nvmtop-mark 1 0 h\xc3\xa9", SENT, "h\xc3\xa9");
	taken("nvmtop-mark 1 0 h\xc3", SENT, "h?");
	taken("nvmtop-mark 1 4995.000000250 the oldest", SENT - 5 * NS_PER_S, "the oldest");
	/* rounded up by less than a millisecond: now, never in the future */
	taken("nvmtop-mark 1 5000.030900000", NOW, "");
}

static void test_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"\n",
		"nvmtop-mark",
		"nvmtop-mark 1 ",
		"nvmtop-mark 1 \n",
		"nvmtop-mark 1 x",
		"nvmtop-mark 1 -1",
		"nvmtop-mark 1 +1",
		"nvmtop-mark 1  0",
		"nvmtop-mark 1 0x10",
		"nvmtop-mark 1 0,5",
		"nvmtop-mark 1 0.",
		"nvmtop-mark 1 0. label",
		"nvmtop-mark 1 .5",
		"nvmtop-mark 1 nan",
		"nvmtop-mark 2 0",
		"nvmtop-mark 10 0",
		"Nvmtop-mark 1 0",
		"nvmtop-mark 1\t0",
		"nvmtop-mark 1 0\tlabel",
		" nvmtop-mark 1 0",
		"nvmtop-mark 1 4995.000000249 too old",
		"nvmtop-mark 1 1",
		"nvmtop-mark 1 5000.032 the future",
		"nvmtop-mark 1 9999999999",
		"nvmtop-mark 1 99999999999999999999999999",
	};
	char big[1024];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (parse(wrong[i]))
			fail_msg("taken: %s", wrong[i]);
	memset(big, 'x', sizeof(big));
	memcpy(big, "nvmtop-mark 1 0 ", 16);
	assert_true(parse_bytes(big, 512));
	assert_int_equal(strlen(label), 63);
	assert_false(parse_bytes(big, 513));
	/* labels are truncated between characters */
	for (size_t i = 16; i < 512; i += 2)
		memcpy(big + i, "\xc3\xa9", 2);
	assert_true(parse_bytes(big, 512));
	assert_int_equal(strlen(label), 62);
	/* NUL does not end a label */
	assert_true(parse_bytes("nvmtop-mark 1 0 a\0b", 19));
	assert_string_equal(label, "a?b");
	assert_false(parse_bytes("nvmtop-mark 1 0\0", 16));
}

/* The receiver reads what the client writes. */
static void test_round_trip(void **state)
{
	struct timespec at = {4999, 7};
	char text[256], longest[400];
	size_t n;

	(void)state;
	n = nvmtop_mark_text(text, sizeof(text), &at, "a label");
	assert_true(parse_bytes(text, n));
	assert_int_equal(t_ns, 4999 * NS_PER_S + 7);
	assert_string_equal(label, "a label");
	n = nvmtop_mark_text(text, sizeof(text), &at, NULL);
	assert_true(parse_bytes(text, n));
	assert_string_equal(label, "");
	memset(longest, 'y', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	n = nvmtop_mark_text(text, sizeof(text), &at, longest);
	assert_true(n < sizeof(text));
	assert_true(parse_bytes(text, n));
	assert_int_equal(strlen(label), 63);
}

/* Random bytes, and small changes to a valid datagram. */
static void test_any_bytes(void **state)
{
	static const char good[] = "nvmtop-mark 1 4999.123456789 label";
	uint64_t seed = 88172645463325252u;
	char text[600];

	(void)state;
	for (int i = 0; i < 200000; i++) {
		size_t n = sizeof(good) - 1;

		memcpy(text, good, n);
		for (int k = 0; k < 3; k++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
			text[seed % n] = (char)(seed >> 32);
		}
		n -= (seed >> 40) % 20;
		if (!parse_bytes(text, n))
			continue;
		assert_true(t_ns >= SENT - 5 * NS_PER_S && t_ns <= NOW);
		assert_true(strlen(label) < MARK_LABEL);
		for (const char *p = label; *p; p++)
			assert_true((unsigned char)*p >= ' ' && *p != 127);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
