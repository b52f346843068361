/* The reason of a missing value is in the value, and is that of the place where it was lost. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/missing.h"
#include "model/timeline.h"

static const struct channel all[] = {
	{.name = "A.voltage", .label = "A", .kind = CHANNEL_RAIL_VOLTAGE, .tier = TIER_MEDIUM, .column = 0},
	{.name = "A.power", .label = "A", .kind = CHANNEL_RAIL_POWER, .tier = TIER_MEDIUM, .column = 1},
	{.name = "b", .label = "B", .tier = TIER_SLOW, .column = 1, .source = "/sys/b"},
};

static void tells(double v, const char *want)
{
	char text[MISSING_REASON];

	assert_true(isnan(v));
	missing_reason(text, v, &all[1], all, 3);
	assert_string_equal(text, want);
}

static void reasons(void **state)
{
	(void)state;
	tells((double)NAN, "");
	tells(missing_value(MISSING_ERROR, ENODATA), strerror(ENODATA));
	tells(missing_said(MISSING_TEXT, "<unknown>\n", 10), "not a number: <unknown>");
	tells(missing_said(MISSING_RANGE, "-273150", 7), "out of range: -273150");
	tells(missing_value(MISSING_PART, 0), "A.voltage is missing");
	tells(missing_value(MISSING_PART, 1), "A is missing");
	tells(missing_value(MISSING_OFFLINE, 12), "core 12 is offline");
	tells(channel_round(CHANNEL_TEMPERATURE, 5e6), "out of range");
	tells(channel_round(CHANNEL_TEMPERATURE, missing_value(MISSING_SECOND, 0)), "needs a second reading");
}

/* However many texts a file says, those of before keep theirs, and none becomes another. */
static void many_texts(void **state)
{
	double first = missing_said(MISSING_TEXT, "first", 5);

	(void)state;
	for (int i = 0; i < 500; i++) {
		char text[16], want[32];
		char got[MISSING_REASON];
		int n = snprintf(text, sizeof(text), "text %d", i);

		missing_reason(got, missing_said(MISSING_TEXT, text, (size_t)n), &all[2], all, 3);
		snprintf(want, sizeof(want), "not a number: %s", text);
		assert_true(!strcmp(got, want) || !strcmp(got, "not a number"));
	}
	tells(first, "not a number: first");
}

static void as_changes(void **state)
{
	const struct change list[] = {{.t_ns = 10, .what = "b", .to = "-- one"},
				      {.t_ns = 20, .what = "a", .to = "-- other"},
				      {.t_ns = 30, .what = "b", .to = "-- two"}};
	struct change c = {.what = "mode", .from = "15W", .to = "40W"};
	char text[CHANGE_TEXT];

	(void)state;
	assert_false(change_is_reason(&c));
	assert_true(change_is_reason(&list[0]));
	change_text(text, &list[0]);
	assert_string_equal(text, "b: -- one");
	assert_true(reason_before(list, 3, "b", 29, &c));
	assert_string_equal(c.to, "-- one");
	assert_true(reason_before(list, 3, "b", 30, &c));
	assert_string_equal(c.to, "-- two");
	assert_true(reason_before(list, 3, "b", 5, &c)); /* before the first, the first */
	assert_string_equal(c.to, "-- one");
	assert_false(reason_before(list, 3, "c", 30, &c));
	missing_at(text, sizeof(text), &all[2], "gone");
	assert_string_equal(text, "/sys/b: gone");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons),
		cmocka_unit_test(many_texts),
		cmocka_unit_test(as_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
