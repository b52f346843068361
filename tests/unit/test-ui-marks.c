/* Marks on the screen: S and its label prompt, labels on the axis and at the playhead. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>

#include "ui-bench.h"

static struct bench b;

static void test_label_is_asked_for(void **state)
{
	struct request r;

	(void)state;
	start(&b, 120, 40, true, CHARSET_BRAILLE);
	r = press(&b, 'S', 0);
	assert_int_equal(r.kind, REQUEST_NONE);
	assert_shows(&b, "label of the mark:");
	type(&b, "qsr 1");
	assert_shows(&b, "label of the mark: qsr 1");
	/* the time is that of S, whenever Enter comes */
	struct event enter = {.kind = EVENT_KEY, .key = K_ENTER, .t_ns = 999999};
	r = ui_event(b.ui, &b.scene, &enter);
	assert_int_equal(r.kind, REQUEST_MARK);
	assert_int_equal(r.t_ns, 4711);
	assert_string_equal(r.label, "qsr 1");
	draw(&b);
	assert_hides(&b, "label of the mark:");
	/* the next prompt is empty */
	press(&b, 'S', 0);
	r = press(&b, K_ENTER, 0);
	assert_int_equal(r.kind, REQUEST_MARK);
	assert_string_equal(r.label, "");
	stop(&b);
}

static void test_label_can_be_changed_and_left(void **state)
{
	struct request r;

	(void)state;
	start(&b, 120, 40, true, CHARSET_BRAILLE);
	press(&b, 'S', 0);
	press(&b, 'a', 0);
	press(&b, 0xe9, 0);
	press(&b, 0x1f600, 0);
	press(&b, K_BACKSPACE, 0);
	press(&b, 0x4e16, 0);
	press(&b, 1, 0);
	press(&b, 0x85, 0);
	press(&b, K_UP, 0);
	press(&b, K_F5, 0);
	r = press(&b, K_ENTER, 0);
	assert_string_equal(r.label, "a\xc3\xa9\xe4\xb8\x96");
	press(&b, 'S', 0);
	press(&b, K_BACKSPACE, 0);
	assert_shows(&b, "label of the mark:");
	r = press(&b, K_ESC, 0);
	assert_int_equal(r.kind, REQUEST_NONE);
	assert_hides(&b, "label of the mark:");
	/* quitting is always possible */
	press(&b, 'S', 0);
	r = press(&b, 'c', MOD_CTRL);
	assert_int_equal(r.kind, REQUEST_QUIT);
	stop(&b);
}

static void test_label_has_an_end(void **state)
{
	struct request r;

	(void)state;
	start(&b, 60, 16, true, CHARSET_ASCII);
	press(&b, 'S', 0);
	for (int i = 0; i < 200; i++)
		press(&b, i % 2 ? 0xe9 : 'x', 0);
	r = press(&b, K_ENTER, 0);
	assert_true(strlen(r.label) <= 63 && strlen(r.label) >= 62);
	stop(&b);
}

static void test_paste_is_text(void **state)
{
	struct event ev = {.kind = EVENT_KEY, .key = K_ENTER, .pasted = 1};

	(void)state;
	start(&b, 120, 40, true, CHARSET_BRAILLE);
	press(&b, 'S', 0);
	assert_int_equal(ui_event(b.ui, &b.scene, &ev).kind, REQUEST_NONE);
	ev.key = K_ESC;
	assert_int_equal(ui_event(b.ui, &b.scene, &ev).kind, REQUEST_NONE);
	ev.key = 'q';
	assert_int_equal(ui_event(b.ui, &b.scene, &ev).kind, REQUEST_NONE);
	assert_string_equal(press(&b, K_ENTER, 0).label, "q");
	stop(&b);
}

static void test_no_marks_in_a_replay(void **state)
{
	(void)state;
	start(&b, 120, 40, false, CHARSET_BRAILLE);
	assert_int_equal(press(&b, 'S', 0).kind, REQUEST_NONE);
	assert_hides(&b, "label of the mark:");
	stop(&b);
}

static void label(size_t i, const char *text)
{
	snprintf(b.fake.marks[i].label, sizeof(b.fake.marks[i].label), "%s", text);
}

static void test_labels_on_the_axis(void **state)
{
	(void)state;
	start(&b, 160, 40, false, CHARSET_BRAILLE);
	label(0, "warm up");
	label(1, "a label that goes on and on and on");
	draw(&b);
	assert_shows(&b, "1 warm up ");
	assert_hides(&b, "on and on");
	/* two so close that there is no room for the first */
	fake_mark(&b.fake, FAKE_START + 41 * NS_PER_S);
	draw(&b);
	assert_hides(&b, "1 warm up");
	stop(&b);
	start(&b, 160, 40, true, CHARSET_ASCII);
	label(1, "a label that goes on and on and on");
	draw(&b);
	assert_shows(&b, "now");
	stop(&b);
}

static void test_label_at_the_playhead(void **state)
{
	(void)state;
	start(&b, 60, 16, false, CHARSET_ASCII);
	label(0, "warm up");
	label(1, "step");
	/* the axis is too narrow for it, the line on the left is not */
	press(&b, '[', 0);
	assert_non_null(strstr(b.text, "2 step"));
	press(&b, '[', 0);
	assert_non_null(strstr(b.text, "1 warm up"));
	stop(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_label_is_asked_for),
		cmocka_unit_test(test_label_can_be_changed_and_left),
		cmocka_unit_test(test_label_has_an_end),
		cmocka_unit_test(test_paste_is_text),
		cmocka_unit_test(test_no_marks_in_a_replay),
		cmocka_unit_test(test_labels_on_the_axis),
		cmocka_unit_test(test_label_at_the_playhead),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
