/* Error messages, and sanitizing of text from files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "model/channel.h"
#include "util/err.h"

static void sentences(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(err_set(&e, ERR_USAGE, "no %s", "board"), -1);
	assert_int_equal(e.code, ERR_USAGE);
	assert_string_equal(e.text, "no board");
	err_set(&e, ERR_FAILED, "because: %s", e.text);
	assert_string_equal(e.text, "because: no board");
	err_sys(&e, ERR_FAILED, ENOENT, "cannot read %s", "x");
	assert_string_equal(e.text, "cannot read x: No such file or directory");
	assert_int_equal(err_set(NULL, ERR_FAILED, "nobody listens"), -1);
	assert_int_equal(err_sys(NULL, ERR_FAILED, EIO, "nobody listens"), -1);

	char longest[2 * sizeof e.text];
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	err_sys(&e, ERR_FAILED, EIO, "%s", longest);
	assert_int_equal(strlen(e.text), sizeof e.text - 1);
}

static void printable(const char *in, size_t len, const char *expected)
{
	char out[64];

	text_printable(out, sizeof out, in, len);
	assert_string_equal(out, expected);
}

static void hostile_texts(void **state)
{
	char small[4];

	(void)state;
	printable("VDD_IN", 6, "VDD_IN");
	printable("a\033[2Jb", 6, "a?[2Jb");
	printable("a\0b", 3, "a?b");
	printable("\x7f\t\n", 3, "???");
	printable("caf\xc3\xa9", 5, "caf\xc3\xa9");
	printable("\xc2\x9b", 2, "??");           /* C1 control */
	printable("\xc0\xaf", 2, "??");           /* overlong */
	printable("\xed\xa0\x80", 3, "???");      /* surrogate */
	printable("\xe2\x80\xae" "a", 4, "???a"); /* would reverse the text that follows */
	printable("\xe2\x81\xa6", 3, "???");
	printable("\xe2\x80\xa6", 3, "\xe2\x80\xa6"); /* an ellipsis is valid */
	printable("\xf4\x90\x80\x80", 4, "????"); /* beyond Unicode */
	printable("\xe6\xbc", 2, "??");           /* truncated */
	printable("\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80");
	/* Truncates between characters; always terminates. */
	text_printable(small, sizeof small, "ab\xc3\xa9", 4);
	assert_string_equal(small, "ab");
	text_printable(small, 1, "abc", 3);
	assert_string_equal(small, "");
}

static void shortened(const char *in, const char *expected)
{
	char out[10];

	text_shortened(out, sizeof out, in, strlen(in));
	assert_string_equal(out, expected);
}

static void what_does_not_fit_is_not_hidden(void **state)
{
	char small[4];

	(void)state;
	shortened("", "");
	shortened("a + b + c", "a + b + c");
	shortened("a + b + c2", "a + b ...");
	shortened("caf\xc3\xa9 \x1b+a", "caf\xc3\xa9 ?+a");
	shortened("12345\xc3\xa9" "7890", "12345...");
	text_shortened(small, sizeof small, "abcd", 4);
	assert_string_equal(small, "abc"); /* no room for both */
}

static void names_both_ways(void **state)
{
	(void)state;
	for (int i = 0; i < TIERS; i++)
		assert_int_equal(tier_find(tier_name((enum tier)i)), i);
	for (int i = 0; i < UNITS; i++)
		assert_int_equal(unit_find(unit_name((enum unit)i)), i);
	for (int i = 0; i < FAMILIES; i++)
		assert_int_equal(family_find(family_name((enum family)i)), i);
	for (int i = 0; i < CHANNEL_KINDS; i++)
		assert_int_equal(channel_kind_find(channel_kind_name((enum channel_kind)i)), i);
	assert_int_equal(tier_find("faster"), -1);
	assert_string_equal(unit_name((enum unit)99), "");
}

static void facts(void **state)
{
	const struct fact f[] = {{"board", "x"}, {"title", "y"}};

	(void)state;
	assert_string_equal(fact_get(f, 2, "title"), "y");
	assert_null(fact_get(f, 2, "mode"));
	assert_null(fact_get(NULL, 0, "mode"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentences),
		cmocka_unit_test(hostile_texts),
		cmocka_unit_test(what_does_not_fit_is_not_hidden),
		cmocka_unit_test(names_both_ways),
		cmocka_unit_test(facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
