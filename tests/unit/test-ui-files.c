/* The list of saved traces while it loads, and the screen while one is opened. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "ui-bench.h"

#define FILES 40

/* The list after n were found; new ones are inserted at the front. */
static void find(struct bench *b, struct ui_file files[FILES], size_t n)
{
	memset(files, 0, FILES * sizeof(*files));
	for (size_t i = 0; i < n; i++) {
		snprintf(files[i].path, sizeof(files[i].path), "./%zu.nvmt", n - i);
		snprintf(files[i].name, sizeof(files[i].name), "%zu.nvmt", n - i);
		files[i].readable = true;
	}
	b->scene.files = files;
	b->scene.n_files = n;
	b->scene.files_serial++;
}

static void a_list_grows_while_it_is_read(void **state)
{
	static const int sizes[][2] = {{80, 24}, {120, 40}, {40, 8}, {20, 5}};
	struct ui_file files[FILES];
	struct bench b;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		start(&b, sizes[i][0], sizes[i][1], true, CHARSET_BRAILLE);
		b.scene.files_at = "";
		press(&b, 'o', 0);
		assert_shows(&b, "Reading this folder");
		assert_hides(&b, "no saved");
		find(&b, files, 1);
		b.scene.files_at = "far.nvmt";
		draw(&b);
		if (sizes[i][0] >= 80)
			assert_shows(&b, "Reading this folder: far.nvmt");
		assert_shows(&b, "> 1.nvmt");
		/* No choice yet: the newest is selected. */
		find(&b, files, 2);
		draw(&b);
		assert_shows(&b, "> 2.nvmt");
		press(&b, K_DOWN, 0);
		assert_shows(&b, "> 1.nvmt");
		/* A chosen file stays chosen, wherever it moves. */
		for (size_t n = 3; n <= FILES; n++) {
			find(&b, files, n);
			draw(&b);
			assert_shows(&b, "> 1.nvmt");
			assert_shows(&b, "Reading");
		}
		assert_string_equal(press(&b, K_ENTER, 0).path, "./1.nvmt");
		b.scene.files_at = NULL;
		draw(&b);
		assert_hides(&b, "Reading");
		assert_shows(&b, "> 1.nvmt");
		stop(&b);
	}
}

/* The line for files still to come is not a file. */
static void the_last_line_is_not_clicked(void **state)
{
	struct ui_file files[FILES];
	struct bench b;
	int last = -1;

	(void)state;
	start(&b, 80, 24, true, CHARSET_ASCII);
	press(&b, 'o', 0);
	b.scene.files_at = "far.nvmt";
	find(&b, files, FILES);
	draw(&b);
	for (int y = 0; y < 24 && last < 0; y++)
		last = strstr(line(&b, y), "Reading this folder") ? y : -1;
	assert_true(last > 0);
	assert_int_equal(mouse(&b, MOUSE_PRESS, 1, 5, last).kind, REQUEST_NONE);
	assert_shows(&b, "> 40.nvmt");
	assert_int_equal(mouse(&b, MOUSE_PRESS, 1, 5, last - 1).kind, REQUEST_NONE);
	assert_hides(&b, "> 40.nvmt");
	stop(&b);
}

static void opening_is_told_and_taken_back(void **state)
{
	static const int sizes[][2] = {{80, 24}, {120, 40}, {60, 9}, {60, 6}};
	struct bench b;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		start(&b, sizes[i][0], sizes[i][1], true, CHARSET_BRAILLE);
		b.scene.opening = "far.nvmt";
		draw(&b);
		assert_shows(&b, "Opening far.nvmt.   Esc: stay here");
		/* Also when the error line shows something else. */
		b.scene.record_error = "No space";
		draw(&b);
		assert_shows(&b, "Opening far.nvmt.   Esc: stay here");
		b.scene.record_error = NULL;
		/* Every other key works as usual. */
		assert_int_equal(press(&b, 's', 0).kind, REQUEST_MARK);
		assert_int_equal(press(&b, 'r', 0).kind, REQUEST_RECORD);
		assert_int_equal(press(&b, 'q', 0).kind, REQUEST_QUIT);
		press(&b, '2', 0);
		/* Esc cancels opening before anything else. */
		press(&b, 'o', 0);
		if (sizes[i][1] >= 24)
			assert_shows(&b, "Esc stay here");
		assert_int_equal(press(&b, K_ESC, 0).kind, REQUEST_STAY);
		assert_shows(&b, "no saved traces");
		b.scene.opening = NULL;
		assert_int_equal(press(&b, K_ESC, 0).kind, REQUEST_NONE);
		assert_hides(&b, "no saved traces");
		assert_hides(&b, "Opening");
		stop(&b);
	}
}

/* Another timeline discards the text being typed: it is shown afterwards. */
static void who_types_is_not_disturbed(void **state)
{
	static const char asking[] = {'g', '/', 'S', 'p'};
	struct bench b;

	(void)state;
	start(&b, 80, 24, true, CHARSET_ASCII);
	for (size_t i = 0; i < sizeof(asking); i++) {
		assert_false(ui_is_asking(b.ui));
		press(&b, (unsigned char)asking[i], 0);
		assert_true(ui_is_asking(b.ui));
		press(&b, K_ESC, 0);
	}
	/* A text whose prompt is gone is not entered. */
	press(&b, '8', 0);
	press(&b, 'f', 0);
	assert_true(ui_is_asking(b.ui));
	mouse(&b, MOUSE_PRESS, 1, 3, 22);
	assert_shows(&b, "Overview");
	assert_false(ui_is_asking(b.ui));
	stop(&b);
}

/* Listing a directory, filtering by name, and opening a second trace beside the first. */
static void folders_a_filter_and_a_second(void **state)
{
	struct ui_file files[FILES];
	struct request r;
	struct bench b;

	(void)state;
	start(&b, 120, 40, false, CHARSET_BLOCKS);
	press(&b, 'o', 0);
	find(&b, files, 12);
	files[3].damaged = true;
	files[11] = (struct ui_file) {.path = "/x/..", .name = "..", .folder = true};
	b.scene.files_folder = "/x/rec";
	draw(&b);
	assert_shows(&b, "/x/rec");
	assert_shows(&b, "damaged");
	assert_shows(&b, "../");
	type(&b, "/1");
	assert_shows(&b, "12.nvmt");
	assert_hides(&b, "8.nvmt");
	press(&b, K_ENTER, 0);
	press(&b, K_DOWN, 0);
	r = press(&b, 'b', 0);
	assert_int_equal(r.kind, REQUEST_OPEN);
	assert_true(r.second);
	assert_string_equal(r.path, "./11.nvmt");
	press(&b, K_ESC, 0);
	assert_shows(&b, "8.nvmt");
	r = press(&b, K_BACKSPACE, 0);
	assert_int_equal(r.kind, REQUEST_LIST);
	assert_string_equal(r.path, "/x/..");
	stop(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_grows_while_it_is_read),
		cmocka_unit_test(folders_a_filter_and_a_second),
		cmocka_unit_test(the_last_line_is_not_clicked),
		cmocka_unit_test(opening_is_told_and_taken_back),
		cmocka_unit_test(who_types_is_not_disturbed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
