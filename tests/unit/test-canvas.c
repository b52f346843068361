/* The grid: clipping, wide characters, combining marks, invalid bytes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "canvas-text.h"
#include "ui/canvas.h"

static void prints_without_trailing_blanks(void **state)
{
	struct canvas c = {0};

	(void)state;
	assert_int_equal(canvas_resize(&c, 6, 3), 0);
	assert_int_equal(canvas_text(&c, 1, 0, 99, STYLE_TEXT, "ab"), 2);
	canvas_textf(&c, 0, 2, 4, STYLE_DIM, "%d-%s", 7, "xyz");
	assert_canvas(&c, " ab\n\n7-xy\n");
	assert_int_equal(c.cells[12].style, STYLE_DIM);
	canvas_free(&c);
}

static void clips_on_every_side(void **state)
{
	struct canvas c = {0};

	(void)state;
	canvas_resize(&c, 3, 2);
	canvas_text(&c, -1, 0, 99, STYLE_TEXT, "abcdef");
	canvas_text(&c, 2, 1, 99, STYLE_TEXT, "xy");
	canvas_text(&c, 0, 2, 99, STYLE_TEXT, "out");
	canvas_text(&c, 0, -1, 99, STYLE_TEXT, "out");
	canvas_put(&c, 3, 0, STYLE_TEXT, L'!');
	canvas_put(&c, -1, 0, STYLE_TEXT, L'!');
	assert_int_equal(canvas_text(&c, 0, 0, 0, STYLE_TEXT, "no"), 0);
	assert_int_equal(canvas_text(&c, 0, 0, -5, STYLE_TEXT, "no"), 0);
	assert_canvas(&c, "bcd\n  x\n");
	canvas_free(&c);
}

static void never_splits_a_wide_character(void **state)
{
	struct canvas c = {0};

	(void)state;
	canvas_resize(&c, 5, 4);
	assert_int_equal(text_width("日本x"), 5);
	assert_int_equal(canvas_text(&c, 0, 0, 3, STYLE_TEXT, "日本"), 2); /* no room for half of it */
	assert_int_equal(canvas_text(&c, 4, 1, 9, STYLE_TEXT, "日"), 0);   /* nor at the edge */
	canvas_text(&c, 0, 2, 5, STYLE_TEXT, "日本");
	canvas_put(&c, 1, 2, STYLE_TEXT, L'x'); /* overwriting the right half clears the left */
	canvas_put(&c, 2, 2, STYLE_TEXT, L'y');
	canvas_text(&c, 0, 3, 5, STYLE_TEXT, "日本");
	canvas_text(&c, 1, 3, 5, STYLE_TEXT, "語"); /* over two halves */
	assert_canvas(&c, "日\n\n xy\n 語\n");
	assert_int_equal(c.cells[1].ch[0], 0);
	canvas_put(&c, 4, 1, STYLE_TEXT, L'日');
	assert_int_equal(c.cells[9].ch[0], L' ');
	canvas_free(&c);
}

static void keeps_one_combining_mark(void **state)
{
	struct canvas c = {0};

	(void)state;
	canvas_resize(&c, 4, 1);
	assert_int_equal(canvas_text(&c, 0, 0, 4, STYLE_TEXT,
				     "\xCC\x81"
				     "e\xCC\x81\xCC\xA3x"),
			 2);
	assert_canvas(&c, "e\xCC\x81x\n");
	canvas_text(&c, 0, 0, 4, STYLE_TEXT, "o");
	assert_canvas(&c, "ox\n");
	canvas_free(&c);
}

static void shows_what_it_cannot_decode(void **state)
{
	struct canvas c = {0};

	(void)state;
	canvas_resize(&c, 12, 1);
	canvas_text(&c, 0, 0, 12, STYLE_TEXT, "a\x1b[2J\xff\xc3\x7f");
	assert_canvas(&c, "a?[2J???\n");
	assert_int_equal(text_width("\xe6\x97"), 2); /* truncated character */
	canvas_free(&c);
}

static void aligns_right(void **state)
{
	struct canvas c = {0};

	(void)state;
	canvas_resize(&c, 8, 2);
	canvas_right(&c, 1, 0, 6, STYLE_TEXT, "日1");
	canvas_right(&c, 1, 1, 3, STYLE_TEXT, "too long");
	assert_canvas(&c, "    日1\n too\n");
	canvas_free(&c);
}

static void takes_any_size(void **state)
{
	struct canvas c = {0};

	(void)state;
	for (int w = -1; w < 4; w++)
		for (int h = -1; h < 4; h++) {
			assert_int_equal(canvas_resize(&c, w, h), 0);
			canvas_text(&c, 0, 0, 10, STYLE_TEXT, "日本");
			canvas_put(&c, 0, 0, STYLE_TEXT, L'x');
		}
	assert_int_equal(canvas_resize(&c, 1000, 1), 0);
	assert_int_equal(canvas_resize(&c, 1, 1000), 0); /* same number of cells, different shape */
	assert_int_equal(c.h, 1000);
	assert_int_equal(canvas_resize(&c, 0, 0), 0);
	assert_canvas(&c, "");
	canvas_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_without_trailing_blanks),
		cmocka_unit_test(clips_on_every_side),
		cmocka_unit_test(never_splits_a_wide_character),
		cmocka_unit_test(keeps_one_combining_mark),
		cmocka_unit_test(shows_what_it_cannot_decode),
		cmocka_unit_test(aligns_right),
		cmocka_unit_test(takes_any_size),
	};

	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
