/* A canvas as bytes: colours before and behind a character, for each type of terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "term/kind.h"
#include "term/painter.h"

#define W 120
#define H 40

static struct canvas canvas;

static void put(int x, int y, enum style s, enum style back, wchar_t ch)
{
	canvas.cells[y * W + x] = (struct cell) {{ch}, (unsigned char)s, (unsigned char)back};
}

/* Five charts, one above the other, from time t on: the mean, and the band around its top. */
static void charts(int t)
{
	canvas_clear(&canvas);
	for (int hue = HUE_GPU; hue <= HUE_HEAT; hue++)
		for (int x = 30; x < W; x++) {
			double wave =
				0.5 + 0.3 * sin((x + t) * (0.07 + 0.03 * hue)) + 0.1 * sin((x + t) * 1.7);
			int mean = (int)(wave * 56), most = mean + 6;

			for (int line = 0; line < 7; line++) {
				int y = 7 * hue + 6 - line, base = 8 * line;
				enum style m = STYLE_MEAN(hue, line), b = STYLE_BAND(hue, line);

				if (mean >= base + 8)
					put(x, y, m, 0, 0x2588);
				else if (mean > base)
					put(x, y, m, b, (wchar_t)(0x2580 + mean - base));
				else if (most > base)
					put(x, y, b, 0,
					    (wchar_t)(0x2580 + (most > base + 8 ? 8 : most - base)));
			}
		}
}

static struct painter *open_as(const char *term, enum colour_choice choice, enum theme theme)
{
	struct painter *p = painter_open(term, choice, true);

	assert_non_null(p);
	assert_int_equal(canvas_resize(&canvas, W, H), 0);
	assert_int_equal(painter_resize(p, W, H), 0);
	painter_looks(p, theme, GROUND_DARK);
	return p;
}

/* The bytes of a frame as a string. */
static char *frame(struct painter *p)
{
	size_t n;
	char *bytes;

	painter_draw(p, &canvas);
	bytes = painter_bytes(p, &n);
	bytes = realloc(bytes, n + 1);
	assert_non_null(bytes);
	bytes[n] = 0;
	return bytes;
}

static void shows(struct painter *p, const char *text, bool yes)
{
	char *bytes = frame(p);

	if (!strstr(bytes, text) == yes)
		fail_msg("\"%s\" is %s \"%s\"", text + 1, yes ? "not in" : "in", bytes);
	free(bytes);
}

static void a_colour_behind(void **state)
{
	static const struct {
		const char *term;
		enum colour_choice choice;
		const char *bytes;
	} kinds[] = {
		{"xterm-256color", COLOUR_RGB, "\033[38;2;39;144;79;48;2;25;70;45m\342\226\204"},
		{"xterm-256color", COLOUR_256, "\033[38;5;28;48;5;22m\342\226\204"},
		{"xterm-256color", COLOUR_16, "\033[92;42m\342\226\204"},
		{"xterm", COLOUR_AUTO, "\033[1;32;40m\342\226\204"}, /* one tone a hue: the mean alone */
		{"vt100", COLOUR_AUTO, "\033[1m\342\226\222"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct painter *p = open_as(kinds[i].term, kinds[i].choice, THEME_STANDARD);

		free(frame(p));
		put(5, 5, STYLE_MEAN(HUE_GPU, 0), STYLE_BAND(HUE_GPU, 0), 0x2584);
		shows(p, kinds[i].bytes, true);
		/* a changed background redraws the cell */
		put(5, 5, STYLE_MEAN(HUE_GPU, 0), STYLE_BAND(HUE_ALERT, 7), 0x2584);
		shows(p, "\342\226\204", kinds[i].choice != COLOUR_AUTO);
		painter_close(p);
	}
}

static void the_ground_is_painted(void **state)
{
	struct painter *p = open_as("xterm-256color", COLOUR_RGB, THEME_STANDARD);

	(void)state;
	shows(p, "48;2;16;17;21m", true);
	painter_looks(p, THEME_TERMINAL, GROUND_DARK);
	put(5, 5, STYLE_MEAN(HUE_GPU, 0), 0, 'x');
	shows(p, "48;", false);
	painter_close(p);
}

/* Not shades of black, as which their numbers look on terminals with 24 bits. */
static void the_terminals_own_colours(void **state)
{
	static const struct {
		const char *term, *bytes;
	} kinds[] = {{"xterm-256color", "\033[92;42m\342\226\204"}, {"xterm-direct", "\033[1;32"}}; /* it has eight */

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct err e;
		const char *found = kind_find(kinds[i].term, STDOUT_FILENO, &e);
		struct painter *p;
		char *bytes;

		if (!found || strcmp(found, kinds[i].term) != 0) /* is not installed everywhere */
			continue;
		p = open_as(kinds[i].term, COLOUR_RGB, THEME_TERMINAL);
		charts(0);
		put(5, 5, STYLE_MEAN(HUE_GPU, 0), STYLE_BAND(HUE_GPU, 0), 0x2584);
		bytes = frame(p);
		assert_non_null(strstr(bytes, kinds[i].bytes));
		for (const char *more = "38;\00048;\00038:\00048:\000"; *more; more += 4)
			assert_null(strstr(bytes, more));
		free(bytes);
		/* and back */
		painter_looks(p, THEME_STANDARD, GROUND_DARK);
		shows(p, "48", true);
		painter_close(p);
	}
}

/* What is empty has another character, and where a hue has one tone or none, what is only a maximum, too. */
static void few_colours(void **state)
{
	static const struct {
		struct cell cell;
		wchar_t sixteen, eight, none;
	} cells[] = {
		{{{0x25A0}, STYLE_TRACK, 0}, 0xB7, 0xB7, 0xB7},
		{{{0x25A0}, STYLE_MEAN(HUE_CPU, 3), 0}, 0x25A0, 0x25A0, 0x25A0},
		{{{0x25A0}, STYLE_BAND(HUE_CPU, 3), 0}, 0x25A0, 0x2591, 0x2591},
		{{{0x2588}, STYLE_MEAN(HUE_CPU, 3), 0}, 0x2588, 0x2588, 0x2588},
		{{{0x2585}, STYLE_BAND(HUE_CPU, 3), 0}, 0x2585, 0x2591, 0x2591},
		{{{0x2585}, STYLE_MEAN(HUE_CPU, 3), STYLE_BAND(HUE_CPU, 3)}, 0x2585, 0x2585, 0x2592},
		{{{0x2588}, STYLE_MEAN(HUE_ALERT, 3), 0}, 0x2588, 0x2588, 0x2593},
		{{{0x2581}, STYLE_BAND(HUE_CPU, 3), STYLE_MEAN(HUE_CPU, 3)}, 0x2581, 0x2588, 0x2581}, /* a notch */
		/* a heat strip: idle, low, busy */
		{{{0x2580}, STYLE_TRACK, STYLE_TRACK}, ' ', ' ', ' '},
		{{{0x2580}, STYLE_BAND(HUE_CPU, 0), STYLE_TRACK}, 0x2580, ' ', ' '},
		{{{0x2580}, STYLE_MEAN(HUE_CPU, 0), STYLE_BAND(HUE_CPU, 4)}, 0x2580, 0x2580, 0x2580},
		{{{0x2580}, STYLE_TRACK, STYLE_MEAN(HUE_CPU, 0)}, 0x2584, 0x2584, 0x2584},
		{{{0x2580}, STYLE_MEAN(HUE_CPU, 0), STYLE_MEAN(HUE_CPU, 7)}, 0x2580, 0x2588, 0x2588},
		{{{0x2584}, STYLE_TRACK, 0}, ' ', ' ', ' '},
		/* the bars of ranges; a grey one is black with eight colours */
		{{{CELL_PAINTED}, STYLE_TEXT, STYLE_BAND(HUE_CPU, 1)}, CELL_PAINTED, CELL_PAINTED, 0x2500},
		{{{CELL_PAINTED}, STYLE_TEXT, STYLE_BAND(HUE_OTHER, 1)}, CELL_PAINTED, 0x2500, 0x2500},
	};
	static const struct {
		const char *term;
		enum colour_choice choice;
		enum theme theme;
	} kinds[] = {{"xterm-256color", COLOUR_16, THEME_STANDARD},
		     {"xterm", COLOUR_AUTO, THEME_STANDARD},
		     {"linux", COLOUR_AUTO, THEME_TERMINAL},
		     {"xterm-256color", COLOUR_AUTO, THEME_MONO},
		     {"vt100", COLOUR_AUTO, THEME_STANDARD}};

	(void)state;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		struct painter *p = open_as(kinds[k].term, kinds[k].choice, kinds[k].theme);
		char want[MB_LEN_MAX + 1];

		canvas_clear(&canvas);
		free(frame(p));
		for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
			wchar_t ch = k == 0 ? cells[i].sixteen : k < 3 ? cells[i].eight : cells[i].none;

			put(5, 5, STYLE_TEXT, 0, '-');
			free(frame(p));
			canvas.cells[5 * W + 5] = cells[i].cell;
			snprintf(want, sizeof want, "%lc", (wint_t)ch);
			shows(p, ch == ' ' ? "\342" : want, ch != ' '); /* a blank may be an erased line */
		}
		painter_close(p);
	}
}

/* Limits the bytes for shades; both bounds are a third above the current need. */
static void few_bytes(void **state)
{
	struct painter *p = open_as("xterm-256color", COLOUR_RGB, THEME_STANDARD);
	char *bytes;
	size_t moves = 0;

	(void)state;
	charts(0);
	bytes = frame(p);
	print_message("five charts: %zu bytes\n", strlen(bytes));
	assert_true(strlen(bytes) < 26000);
	free(bytes);
	for (int t = 1; t <= 10; t++) {
		charts(t);
		bytes = frame(p);
		moves += strlen(bytes);
		free(bytes);
	}
	print_message("a column more of five charts: %zu bytes\n", moves / 10);
	assert_true(moves / 10 < 2400);
	painter_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_colour_behind),
		cmocka_unit_test(the_ground_is_painted),
		cmocka_unit_test(the_terminals_own_colours),
		cmocka_unit_test(few_colours),
		cmocka_unit_test(few_bytes),
	};
	int failed;

	unsetenv("NO_COLOR");
	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	canvas_free(&canvas);
	return failed;
}
