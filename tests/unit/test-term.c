/* Bytes to events without a terminal, and what a style looks like. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvmtop/clock.h"
#include "term/input.h"
#include "term/palette.h"

#define T0 (1000 * NS_PER_S)

static struct input *in;
static int64_t now;

static int open_xterm(void **state)
{
	(void)state;
	in = input_open("xterm-256color", true, 50);
	now = T0;
	return in ? 0 : -1;
}

static int close_it(void **state)
{
	(void)state;
	input_close(in);
	return 0;
}

static void feed(const char *bytes, size_t n)
{
	assert_int_equal(input_feed(in, bytes, n, now), n);
}

static void text(const char *bytes)
{
	feed(bytes, strlen(bytes));
}

static struct event next(void)
{
	return input_event(in);
}

static void is_key(uint32_t key, unsigned mods)
{
	struct event ev = next();

	assert_int_equal(ev.kind, EVENT_KEY);
	assert_int_equal(ev.key, key);
	assert_int_equal(ev.mods, mods);
	assert_int_equal(ev.t_ns, now);
}

static void is_nothing(void)
{
	assert_int_equal(next().kind, EVENT_NONE);
}

static void is_mouse(enum mouse_action action, int button, int x, int y)
{
	struct event ev = next();

	assert_int_equal(ev.kind, EVENT_MOUSE);
	assert_int_equal(ev.action, action);
	assert_int_equal(ev.button, button);
	assert_int_equal(ev.x, x);
	assert_int_equal(ev.y, y);
}

static void keys(void **state)
{
	static const struct {
		const char *bytes;
		uint32_t key;
		unsigned mods;
	} cases[] = {
		{"a", 'a', 0},
		{" ", ' ', 0},
		{"\r", K_ENTER, 0},
		{"\n", K_ENTER, 0},
		{"\t", K_TAB, 0},
		{"\033[Z", K_BACKTAB, 0},
		{"\177", K_BACKSPACE, 0},
		{"\b", K_BACKSPACE, 0},
		{"\003", 'c', MOD_CTRL},
		{"\032", 'z', MOD_CTRL},
		{"\033x", 'x', MOD_ALT},
		{"\033[A", K_UP, 0},
		{"\033OA", K_UP, 0},
		{"\033[1;5C", K_RIGHT, MOD_CTRL},
		{"\033[1;2A", K_UP, MOD_SHIFT},
		{"\033[1~", K_HOME, 0},
		{"\033[4~", K_END, 0},
		{"\033[H", K_HOME, 0},
		{"\033[F", K_END, 0},
		{"\033[5~", K_PGUP, 0},
		{"\033[6~", K_PGDN, 0},
		{"\033[2~", K_INSERT, 0},
		{"\033[3~", K_DELETE, 0},
		{"\033OP", K_F1, 0},
		{"\033[15~", K_F5, 0},
		{"\033[24~", K_F12, 0},
		{"\303\251", 0xe9, 0},
		{"\346\274\242", 0x6f22, 0},
		{"\360\237\230\200", 0x1f600, 0},
		{"\033Ok", '+', 0},
		{"\033Om", '-', 0},
		{"\033OM", K_ENTER, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		now += NS_PER_S;
		text(cases[i].bytes);
		is_key(cases[i].key, cases[i].mods);
		is_nothing();
		assert_int_equal(input_timeout_ms(in), -1);
	}
}

static void not_keys(void **state)
{
	(void)state;
	feed("\0", 1);
	text("\033[25~");   /* F13 */
	text("\033[?1;2c"); /* an answer to a question nobody asked */
	text("\302\205");   /* a C1 control, U+0085 */
	is_nothing();
	text("k");
	is_key('k', 0);
}

static void mouse(void **state)
{
	(void)state;
	text("\033[<0;10;5M");
	is_mouse(MOUSE_PRESS, 1, 9, 4);
	text("\033[<32;11;5M");
	is_mouse(MOUSE_DRAG, 1, 10, 4);
	text("\033[<0;11;5m");
	is_mouse(MOUSE_RELEASE, 1, 10, 4);
	text("\033[<65;300;1M");
	is_mouse(MOUSE_PRESS, 5, 299, 0);
	text("\033[<16;1;1M");
	assert_int_equal(next().mods, MOD_CTRL);
	is_nothing();
}

static void focus(void **state)
{
	struct event ev;

	(void)state;
	text("\033[O\033[I");
	ev = next();
	assert_int_equal(ev.kind, EVENT_FOCUS);
	assert_int_equal(ev.press, 0);
	ev = next();
	assert_int_equal(ev.kind, EVENT_FOCUS);
	assert_int_equal(ev.press, 1);
}

static void paste(void **state)
{
	struct event ev;

	(void)state;
	text("\033[200~q\r\033[201~q");
	ev = next();
	assert_int_equal(ev.key, 'q');
	assert_true(ev.pasted);
	ev = next();
	assert_int_equal(ev.key, K_ENTER);
	assert_true(ev.pasted);
	ev = next();
	assert_int_equal(ev.key, 'q');
	assert_false(ev.pasted);
}

static void paste_without_end(void **state)
{
	struct event ev;

	(void)state;
	text("\033[200~x");
	assert_true(next().pasted);
	is_nothing();
	now += NS_PER_S;
	text("y");
	assert_true(next().pasted);
	is_nothing();
	now += 3 * NS_PER_S;
	text("q");
	ev = next();
	assert_int_equal(ev.key, 'q');
	assert_false(ev.pasted);
}

static void escape_waits(void **state)
{
	(void)state;
	text("\033");
	is_nothing();
	assert_true(input_timeout_ms(in) >= 0);
	assert_int_equal(input_feed(in, NULL, 0, now + 20 * NS_PER_MS), 0);
	is_nothing();
	input_feed(in, NULL, 0, now + 50 * NS_PER_MS);
	is_key(K_ESC, 0); /* stamped when it came, not when it was understood */
	is_nothing();
	assert_int_equal(input_timeout_ms(in), -1);

	text("\033");
	is_nothing();
	now += 30 * NS_PER_MS;
	text("[A");
	is_key(K_UP, 0);
	is_nothing();
}

/* Esc, and then keys that would be a sequence if they came with it. */
static void keys_after_escape(void **state)
{
	(void)state;
	text("\033");
	is_nothing();
	input_feed(in, NULL, 0, now + NS_PER_S);
	is_key(K_ESC, 0);
	is_nothing();
	now += 2 * NS_PER_S;
	text("[?1*k");
	is_key('[', 0);
	is_key('?', 0);
	is_key('1', 0);
	is_key('*', 0);
	is_key('k', 0);
	is_nothing();
}

/* libtermkey would index its table of keys with these bytes. */
/* Can it show a frame at once?  Only a mode that it knows, on or off, is a yes. */
static void answer_about_frames(void **state)
{
	static const char *const no[] = {"\033[?2026;0$y", "\033[?2026;4$y", "\033[?2027;2$y",
					 "\033[2026;2$y",  "\033[?2026;2y",  "\033[?2026;22$y",
					 "\033[?2026;2$z"};

	(void)state;
	for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
		text(no[i]);
		is_nothing();
		assert_false(input_sync(in));
	}
	text("\033[?2026;2$y");
	is_nothing();
	assert_true(input_sync(in));
	text("k");
	is_key('k', 0);
}

static void private_sequences(void **state)
{
	static const char *const each[] = {"\033[?1A",   "\033[>0;1H", "\033[=1F",   "\033[1*H", "\033[ P",
					   "\033[?25$y", "\033[<1A",   "\033[1;2 Z", "\033[/~"};

	(void)state;
	for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
		text(each[i]);
		is_nothing();
		text("k");
		is_key('k', 0);
	}
	/* eight-bit controls outside a character */
	feed("\233*H", 3);
	is_key(0xfffd, 0);
	is_key('*', 0);
	is_key('H', 0);
	/* as the second byte of one */
	text("\303\233");
	is_key(0xdb, 0);
}

static void old_mouse(void **state)
{
	(void)state;
	feed("\033[M \233\033", 6);
	struct event ev = next();
	assert_int_equal(ev.kind, EVENT_MOUSE);
	assert_int_equal(ev.x, 0x9b - 33);
	text("k");
	is_key('k', 0);
}

static void split_anywhere(void **state)
{
	static const char bytes[] = "\033[<0;10;5M\303\251\033[1;5C\033[200~";

	(void)state;
	for (size_t i = 0; i < sizeof bytes - 1; i++) {
		feed(bytes + i, 1);
		struct event ev = next();
		if (i == 9)
			assert_int_equal(ev.kind, EVENT_MOUSE);
		else if (i == 11)
			assert_int_equal(ev.key, 0xe9);
		else if (i == 17)
			assert_int_equal(ev.key, K_RIGHT);
		else
			assert_int_equal(ev.kind, EVENT_NONE);
	}
}

static void long_sequences(void **state)
{
	char many[2000] = "\033[";

	(void)state;
	/* every number of arguments around the sixteen that libtermkey has room for */
	for (int args = 1; args < 40; args++) {
		strcpy(many, "\033[");
		for (int i = 0; i < args; i++)
			strcat(many, i ? ";1" : "1");
		strcat(many, "y");
		text(many);
		is_nothing();
		text("k");
		is_key('k', 0);
	}
	/* more than its buffer holds */
	memset(many + 2, '7', 1500);
	strcpy(many + 1502, "Ak");
	for (size_t done = 0, n = strlen(many); done < n;) {
		done += input_feed(in, many + done, n - done, now);
		if (done < n)
			is_nothing();
	}
	is_key('k', 0);
	is_nothing();
}

static void an_escape_ends_a_cut_sequence(void **state)
{
	(void)state;
	text("\033[1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1\033[B");
	/* whatever becomes of the first, the key behind it arrives */
	for (;;) {
		struct event ev = next();

		assert_int_equal(ev.kind, EVENT_KEY);
		if (ev.key == K_DOWN)
			break;
	}
	is_nothing();
}

static void a_string_without_end(void **state)
{
	char junk[300] = "\033P";
	bool seen = false;

	(void)state;
	memset(junk + 2, 'x', sizeof junk - 3);
	for (size_t done = 0; done < sizeof junk - 1;) {
		done += input_feed(in, junk + done, sizeof junk - 1 - done, now);
		while (next().kind != EVENT_NONE)
			;
	}
	for (int i = 0; i < 3; i++) {
		input_feed(in, NULL, 0, now + NS_PER_S);
		while (next().kind != EVENT_NONE)
			;
	}
	text("k");
	for (struct event ev; (ev = next()).kind != EVENT_NONE;)
		seen = ev.key == 'k';
	assert_true(seen);
}

static void bytes_outside_utf8(void **state)
{
	(void)state;
	text("\377");
	is_key(0xfffd, 0);
	input_close(in);
	in = input_open("vt100", false, 50);
	assert_non_null(in);
	/* the C locale knows no character there */
	setlocale(LC_ALL, "C");
	text("\377k");
	is_key('k', 0);
	setlocale(LC_ALL, "");
}

static void looks(void **state)
{
	static const int colours[] = {0, 8, 16, 256};

	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (int s = 0; s < STYLES; s++) {
			struct look l = palette_look((enum style)s, colours[i]);

			assert_true(l.fg < (colours[i] ? colours[i] : 1));
			assert_true(l.fg >= -1 && l.bg >= -1);
			/* the terminal's own background everywhere but under the chosen row */
			assert_true(l.bg == -1 || s == STYLE_SELECTED);
			if (!colours[i])
				assert_int_equal(l.fg, -1);
		}
	for (int s = STYLE_GPU; s <= STYLE_OTHER; s++)
		for (size_t i = 0; i < 4; i++) {
			struct look band = palette_look((enum style)s, colours[i]);
			struct look mean = palette_look((enum style)(s + 6), colours[i]);

			assert_true(band.fg != mean.fg || band.attributes != mean.attributes);
		}
	/* without colours what alarms still stands out */
	assert_int_not_equal(palette_look(STYLE_ALERT, 0).attributes, palette_look(STYLE_TEXT, 0).attributes);
	assert_int_not_equal(palette_look(STYLE_WARN, 0).attributes, palette_look(STYLE_ALERT, 0).attributes);
	assert_int_not_equal(palette_look(STYLE_SELECTED, 0).attributes,
			     palette_look(STYLE_TEXT, 0).attributes);
}

static void number_of_colours(void **state)
{
	(void)state;
	unsetenv("NO_COLOR");
	assert_int_equal(palette_colours(COLOUR_AUTO, -1), 0);
	assert_int_equal(palette_colours(COLOUR_AUTO, 0), 0);
	assert_int_equal(palette_colours(COLOUR_AUTO, 8), 8);
	assert_int_equal(palette_colours(COLOUR_AUTO, 16), 16);
	assert_int_equal(palette_colours(COLOUR_AUTO, 88), 16);
	assert_int_equal(palette_colours(COLOUR_AUTO, 256), 256);
	assert_int_equal(palette_colours(COLOUR_AUTO, 1 << 24), 8);
	assert_int_equal(palette_colours(COLOUR_8, 256), 8);
	assert_int_equal(palette_colours(COLOUR_16, 256), 16);
	assert_int_equal(palette_colours(COLOUR_256, 8), 8);
	assert_int_equal(palette_colours(COLOUR_NEVER, 256), 0);
	setenv("NO_COLOR", "1", 1);
	assert_int_equal(palette_colours(COLOUR_AUTO, 256), 0);
	assert_int_equal(palette_colours(COLOUR_256, 256), 256);
	setenv("NO_COLOR", "", 1);
	assert_int_equal(palette_colours(COLOUR_AUTO, 256), 256);
	unsetenv("NO_COLOR");
}

#define WITH_INPUT(f) cmocka_unit_test_setup_teardown(f, open_xterm, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_INPUT(keys),
		WITH_INPUT(not_keys),
		WITH_INPUT(mouse),
		WITH_INPUT(focus),
		WITH_INPUT(paste),
		WITH_INPUT(paste_without_end),
		WITH_INPUT(escape_waits),
		WITH_INPUT(keys_after_escape),
		WITH_INPUT(answer_about_frames),
		WITH_INPUT(private_sequences),
		WITH_INPUT(old_mouse),
		WITH_INPUT(split_anywhere),
		WITH_INPUT(long_sequences),
		WITH_INPUT(an_escape_ends_a_cut_sequence),
		WITH_INPUT(a_string_without_end),
		WITH_INPUT(bytes_outside_utf8),
		cmocka_unit_test(looks),
		cmocka_unit_test(number_of_colours),
	};

	setlocale(LC_ALL, "");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
