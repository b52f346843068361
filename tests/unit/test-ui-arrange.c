/* Rows hidden, moved, resized and shown alone, by keys and in the setup screen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <wchar.h>

#define BENCH_VIEW "signals"
#include "ui-bench.h"

/* The line of the row whose name starts with this, or -1. */
static int line_of(const struct bench *b, const char *name)
{
	int line = 0;

	for (const char *p = b->text; p && *p; line++) {
		const char *at = p + strspn(p, " >");

		if (!strncmp(at, name, strlen(name)) && (at[strlen(name)] == ' ' || at[strlen(name)] == '\n'))
			return line;
		p = strchr(p, '\n');
		p += p != NULL;
	}
	return -1;
}

static void choose(struct bench *b, int nth)
{
	for (int i = 0; i < nth; i++)
		press(b, K_DOWN, 0);
}

/* Restart with the same board and settings. */
static void restart(struct bench *b, const struct settings *s)
{
	struct ui_options o = {.charset = CHARSET_ASCII, .settings = s, .view = BENCH_VIEW};

	ui_free(b->ui);
	b->ui = ui_new(&o, NULL);
	ui_reset(b->ui, &b->scene);
	draw(b);
}

struct size {
	int w, h;
};

/* A test on a live ASCII screen of this size. */
#define ON(test, w, h) cmocka_unit_test_prestate_setup_teardown(test, begin, end, (&(struct size) {w, h}))

static int begin(void **state)
{
	const struct size *size = *state;
	struct bench *b = malloc(sizeof(*b));

	assert_non_null(b);
	start(b, size->w, size->h, true, CHARSET_ASCII);
	*state = b;
	return 0;
}

static int end(void **state)
{
	stop(*state);
	free(*state);
	return 0;
}

static void hidden(void **state)
{
	struct settings kept;
	struct bench *b = *state;

	assert_true(line_of(b, "EMC") > 0);
	/* Without a chosen row, keys such as z apply to the first one. */
	assert_int_equal(press(b, 'H', 0).kind, REQUEST_SETTINGS);
	assert_non_null(strstr(b->text, "GPU is hidden"));
	restart(b, NULL);
	assert_int_equal(press(b, ')', 0).kind, REQUEST_SETTINGS);
	assert_int_equal(ui_settings(b->ui)->n_charts, 1);
	assert_string_equal(ui_settings(b->ui)->charts[0].name, b->fake.channels[0].name);
	restart(b, NULL);
	choose(b, 3);
	assert_int_equal(press(b, 'H', 0).kind, REQUEST_SETTINGS);
	assert_non_null(strstr(b->text, "EMC is hidden"));
	press(b, 'Y', 0);
	assert_int_equal(line_of(b, "EMC"), -1);
	assert_true(line_of(b, "RAM") > 0);
	kept = *ui_settings(b->ui);
	assert_int_equal(kept.n_charts, 1);
	assert_string_equal(kept.charts[0].view, "signals");
	restart(b, &kept);
	assert_int_equal(line_of(b, "EMC"), -1);
	/* only in this view */
	press(b, '4', 0);
	assert_true(line_of(b, "EMC") > 0);
}

static void moved(void **state)
{
	struct settings kept;
	struct bench *b = *state;

	int gpu = line_of(b, "GPU"), cpu = line_of(b, "CPU");

	assert_true(gpu < cpu);
	choose(b, 1);
	assert_int_equal(press(b, 'J', 0).kind, REQUEST_SETTINGS);
	assert_true(line_of(b, "GPU") > line_of(b, "CPU"));
	/* the moved row is still chosen */
	press(b, K_DOWN, MOD_SHIFT);
	assert_true(line_of(b, "GPU") > line_of(b, "EMC"));
	kept = *ui_settings(b->ui);
	assert_int_equal(kept.n_charts, 1);
	assert_true(kept.charts[0].moved);
	restart(b, &kept);
	assert_true(line_of(b, "GPU") > line_of(b, "EMC"));
	/* and back: no settings are left to save */
	choose(b, 3);
	press(b, 'K', 0);
	press(b, K_UP, MOD_SHIFT);
	assert_int_equal(line_of(b, "GPU"), gpu);
	assert_int_equal(line_of(b, "CPU"), cpu);
	assert_int_equal(ui_settings(b->ui)->n_charts, 0);
	press(b, 'K', 0); /* at the end */
	assert_int_equal(line_of(b, "GPU"), gpu);
}

/* After any moves, the saved settings give the same order. */
static void any_order_comes_back(void **state)
{
	static const char *const names[] = {"GPU", "CPU", "EMC", "RAM", "Power"};
	struct settings kept;
	uint32_t seed = 3;
	struct bench *b = *state;

	for (int i = 0; i < 300; i++) {
		static const uint32_t keys[] = {K_DOWN, K_UP, 'K', 'J', 'K', 'J', K_PGDN, K_PGUP, 'H'};

		seed = seed * 1664525u + 1013904223u;
		unsigned roll = (seed >> 8) % 64;
		press(b, keys[roll < 9 ? roll : 2 + roll % 6], 0);
		if (i % 50 != 49)
			continue;
		/* to the top, for the comparison */
		press(b, K_ESC, 0);
		press(b, K_ESC, 0);
		kept = *ui_settings(b->ui);
		restart(b, &kept);
		int was[5];
		for (int k = 0; k < 5; k++)
			was[k] = line_of(b, names[k]);
		restart(b, &kept);
		for (int k = 0; k < 5; k++)
			assert_int_equal(line_of(b, names[k]), was[k]);
		assert_true(memcmp(&kept, ui_settings(b->ui), sizeof(kept)) == 0);
	}
}

/* Rails move with their total. */
static void parts_move_along(void **state)
{
	struct bench *b = *state;
	int power, rail;

	power = line_of(b, "Power");
	for (rail = 0; b->text && rail < 40; rail++) {
		press(b, K_DOWN, 0);
		if (b->canvas.cells[(size_t)power * 100].ch[0] == L'>')
			break;
	}
	assert_true(rail < 40);
	press(b, 'K', 0);
	assert_true(line_of(b, "Power") < power);
	/* the row above is now below all of them */
	assert_true(line_of(b, "RAM") > line_of(b, "Power") + 1);
}

static void higher(void **state)
{
	struct bench *b = *state;
	int gap;

	gap = line_of(b, "EMC") - line_of(b, "CPU");
	choose(b, 2);
	for (int i = 0; i < 3; i++)
		press(b, ')', 0);
	assert_int_equal(line_of(b, "EMC") - line_of(b, "CPU"), gap + 3);
	press(b, '(', 0);
	assert_int_equal(line_of(b, "EMC") - line_of(b, "CPU"), gap + 2);
	for (int i = 0; i < 60; i++)
		press(b, ')', 0);
	assert_true(ui_settings(b->ui)->charts[0].lines <= CHART_LINES_MAX);
	for (int i = 0; i < 60; i++)
		press(b, '(', 0);
	assert_int_equal(ui_settings(b->ui)->charts[0].lines, 1);
}

static void alone(void **state)
{
	struct bench *b = *state;

	choose(b, 1);
	press(b, 'z', 0);
	assert_true(line_of(b, "GPU") > 0);
	assert_int_equal(line_of(b, "CPU"), -1);
	/* a scale of round numbers beside it */
	for (int v = 0; v <= 100; v += 20) {
		char text[16];

		snprintf(text, sizeof(text), "%d", v);
		assert_true(line_of(b, text) > 0);
	}
	press(b, K_DOWN, 0);
	assert_true(line_of(b, "CPU") > 0);
	assert_int_equal(line_of(b, "GPU"), -1);
	press(b, K_ESC, 0);
	assert_true(line_of(b, "GPU") > 0);
	/* without a chosen row: the first; at any size */
	for (int w = 1; w < 120; w += 7)
		for (int h = 1; h < 40; h += 3) {
			canvas_resize(&b->canvas, w, h);
			press(b, 'z', 0);
		}
}

static void set_up(void **state)
{
	struct settings s;
	struct bench *b = *state;

	press(b, K_F2, 0);
	assert_non_null(strstr(b->text, "Settings"));
	assert_int_equal(press(b, K_RIGHT, 0).kind, REQUEST_SETTINGS);
	assert_int_equal(ui_settings(b->ui)->theme, THEME_CONTRAST);
	assert_non_null(strstr(b->text, "high contrast"));
	press(b, K_LEFT, 0);
	press(b, K_LEFT, 0);
	assert_int_equal(ui_settings(b->ui)->theme, THEME_MONO);
	press(b, K_DOWN, 0);
	press(b, ' ', 0);
	assert_int_equal(ui_settings(b->ui)->ground, GROUND_DARK);
	press(b, K_DOWN, 0);
	press(b, ' ', 0);
	assert_true(ui_settings(b->ui)->braille);
	press(b, K_DOWN, 0);
	press(b, K_ENTER, 0);
	assert_false(ui_settings(b->ui)->mouse);
	press(b, K_DOWN, 0);
	press(b, K_RIGHT, 0);
	assert_string_equal(ui_settings(b->ui)->view, "gpu");
	press(b, K_LEFT, 0);
	assert_string_equal(ui_settings(b->ui)->view, "");
	press(b, K_DOWN, 0);
	press(b, K_RIGHT, 0);
	assert_true(ui_settings(b->ui)->frames > 0);
	press(b, K_DOWN, 0);
	press(b, K_RIGHT, 0);
	assert_true(ui_settings(b->ui)->history_ns != HISTORY_NS);
	/* the rows: hidden and back, higher, moved */
	press(b, K_DOWN, 0);
	press(b, 'H', 0);
	assert_non_null(strstr(b->text, "[ ] GPU"));
	press(b, ' ', 0);
	assert_null(strstr(b->text, "[ ] GPU"));
	press(b, K_RIGHT, 0);
	press(b, K_RIGHT, 0);
	assert_non_null(strstr(b->text, "2 lines"));
	press(b, 'J', 0);
	press(b, 'H', 0); /* still the GPU's */
	assert_non_null(strstr(b->text, "[ ] GPU"));
	s = *ui_settings(b->ui);
	assert_true(s.n_charts >= 1);
	/* and the last line resets everything */
	for (int i = 0; i < 100; i++)
		press(b, K_DOWN, 0);
	press(b, K_ENTER, 0);
	assert_int_equal(ui_settings(b->ui)->n_charts, 0);
	press(b, K_ESC, 0);
	assert_null(strstr(b->text, "Settings"));
	assert_true(line_of(b, "GPU") < line_of(b, "CPU"));
}

/* Position of a single digit on the axis line; -1: none. */
static int digit_at(const struct bench *b, wchar_t digit)
{
	for (int y = 0; y < 4; y++)
		for (int x = 40; x < b->canvas.w; x++) {
			const struct cell *c = &b->canvas.cells[(size_t)y * (size_t)b->canvas.w + (size_t)x];

			if (c->ch[0] == digit && c->style == STYLE_MARK)
				return y * 1000 + x;
		}
	return -1;
}

static void marks_are_clicked(void **state)
{
	struct bench b;

	(void)state;
	for (int live = 0; live < 2; live++) {
		start(&b, 120, 30, live, CHARSET_ASCII);
		press(&b, '0', 0);
		int at[2] = {digit_at(&b, L'1'), digit_at(&b, L'2')};

		for (int i = 0; i < 2; i++) {
			static const char *const t[] = {"40", "1:25"};

			assert_true(at[i] >= 0);
			mouse(&b, MOUSE_PRESS, 1, at[i] % 1000, at[i] / 1000);
			mouse(&b, MOUSE_RELEASE, 1, at[i] % 1000, at[i] / 1000);
			/* on the mark: the previous one is different */
			assert_int_equal(digit_at(&b, L'1'), at[0]);
			assert_shows(&b, live ? "PAUSED" : t[i]);
		}
		/* a click beside them does nothing */
		struct request r = mouse(&b, MOUSE_PRESS, 1, at[0] % 1000 - 6, at[0] / 1000);
		assert_false(r.redraw);
		stop(&b);
	}
}

/* The wheel in the setup screen, and clicks on its lines. */
static void set_up_with_the_mouse(void **state)
{
	struct bench *b = *state;
	int y = 0;

	press(b, K_F2, 0);
	for (; y < 30 && !strstr(line(b, y), "Colours"); y++)
		;
	mouse(b, MOUSE_PRESS, 1, 80, y);
	assert_int_equal(ui_settings(b->ui)->theme, THEME_CONTRAST); /* it was chosen already */
	mouse(b, MOUSE_PRESS, 1, 80, y + 3);
	assert_true(ui_settings(b->ui)->mouse); /* first chosen, */
	mouse(b, MOUSE_PRESS, 1, 80, y + 3);
	assert_false(ui_settings(b->ui)->mouse); /* then changed */
	for (y = 0; y < 30 && !strstr(line(b, y), "[x] EMC"); y++)
		;
	mouse(b, MOUSE_PRESS, 1, 80, y);
	assert_shows(b, "[ ] EMC");
	mouse(b, MOUSE_PRESS, 5, 80, y);
	mouse(b, MOUSE_PRESS, 4, 80, y);
	mouse(b, MOUSE_PRESS, 1, 80, y);
	assert_shows(b, "[x] EMC");
}

static void copied(void **state)
{
	struct request r;
	struct bench *b = *state;

	assert_int_equal(press(b, 'p', 0).kind, REQUEST_NONE);
	assert_shows(b, "save:");
	r = press(b, 's', 0); /* not a mark */
	assert_int_equal(r.kind, REQUEST_COPY);
	assert_true(r.svg);
	assert_hides(b, "save:");
	press(b, 'p', 0);
	r = press(b, 't', 0);
	assert_int_equal(r.kind, REQUEST_COPY);
	assert_false(r.svg);
	press(b, 'p', 0);
	assert_int_equal(press(b, 'q', 0).kind, REQUEST_NONE); /* any other key: no */
	assert_int_equal(press(b, 's', 0).kind, REQUEST_MARK);
}

/* Labels of any width, including none, combining marks, right-to-left text, invalid bytes: every cell is
 * complete, and what follows keeps its position. */
static void labels_of_any_width(void **state)
{
	static const char *const labels[] = {
		"\346\270\251\345\272\246\344\274\240\346\204\237\345\231\250",
		"\343\203\241\343\203\242\343\203\252\343\203\274\345\270\257\345\237\237\345\271\205",
		"e\314\201e\314\201e\314\201\314\201\314\201",
		"\314\201x",
		"\327\251\327\234\327\225\327\235",
		"\360\237\221\251\342\200\215\360\237\232\200",
		"\346\270",
		"\377\376\033[31m",
		"a\342\200\256b\342\200\213c",
		"\357\274\241\357\274\242\357\274\243\357\274\244\357\274\245",
	};
	struct bench b;

	(void)state;
	for (int w = 20; w <= 130; w += 11) {
		start(&b, w, 24, w & 1, CHARSET_BRAILLE);
		press(&b, '0', 0);
		int unit = 3 * w; /* of the first row */
		while (unit < 24 * w && b.canvas.cells[unit].ch[0] != L'%')
			unit++;
		assert_true(unit < 24 * w);
		for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
			struct channel *ch = &b.fake.channels[0];

			snprintf(ch->label, sizeof(ch->label), "%s", labels[i]);
			ui_reset(b.ui, &b.scene);
			draw(&b);
			for (int y = 0; y < 24; y++)
				for (int x = 0; x < w; x++) {
					const struct cell *c = &b.canvas.cells[(size_t)(y * w + x)];
					int width = c->ch[0] ? wcwidth(c->ch[0]) : 0;

					assert_true(c->ch[0] == 0 || width == 1 || width == 2);
					assert_true((width == 2) == (x + 1 < w && c[1].ch[0] == 0));
					assert_true(x > 0 || c->ch[0]);
					assert_true(c->ch[1] == 0 || wcwidth(c->ch[1]) == 0);
				}
			assert_true(b.canvas.cells[unit].ch[0] == L'%');
		}
		/* also in the setup screen and alone */
		press(&b, K_F2, 0);
		press(&b, K_ESC, 0);
		press(&b, 'z', 0);
		stop(&b);
	}
}

/* Settings from elsewhere or another version do no harm. */
static void strange_settings(void **state)
{
	struct settings s = SETTINGS_DEFAULT;
	struct bench *b = *state;

	s.n_charts = 6;
	strcpy(s.charts[0].view, "signals");
	strcpy(s.charts[0].name, "no.such");
	s.charts[0].hidden = s.charts[0].moved = true;
	strcpy(s.charts[1].view, "nowhere");
	strcpy(s.charts[1].name, "gpu.util");
	s.charts[1].hidden = true;
	strcpy(s.charts[2].view, "signals");
	strcpy(s.charts[2].name, "gpu.util");
	s.charts[2].moved = true;
	strcpy(s.charts[2].after, "no.such.thing");
	strcpy(s.charts[3].view, "signals");
	strcpy(s.charts[3].name, "^gpu.util");
	s.charts[3].moved = true;
	strcpy(s.charts[4].view, "signals");
	strcpy(s.charts[4].name, "^");
	s.charts[4].hidden = true;
	strcpy(s.charts[5].view, "signals");
	strcpy(s.charts[5].name, "emc.util");
	s.charts[5].lines = 255;
	restart(b, &s);
	assert_true(line_of(b, "GPU") > 0);
	for (int i = 0; i < 30; i++) {
		press(b, K_DOWN, 0);
		press(b, i % 3 ? 'K' : 'H', 0);
	}
	/* all hidden: the rest of the screen remains */
	for (int i = 0; i < 200; i++) {
		press(b, K_UP, 0);
		press(b, 'H', 0);
		press(b, 'J', 0);
		press(b, 'z', 0);
	}
	assert_non_null(b->text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(hidden, 100, 40),
		ON(moved, 100, 40),
		ON(any_order_comes_back, 100, 60),
		ON(parts_move_along, 100, 60),
		ON(higher, 100, 30),
		ON(alone, 100, 30),
		ON(set_up, 100, 40),
		cmocka_unit_test(marks_are_clicked),
		ON(set_up_with_the_mouse, 110, 30),
		ON(copied, 80, 24),
		cmocka_unit_test(labels_of_any_width),
		ON(strange_settings, 100, 40),
	};

	setlocale(LC_ALL, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
