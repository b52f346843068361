/* Bytes to events, without a terminal. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "term/input.h"

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
	text("\033[?1;2c"); /* an unsolicited reply */
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
	is_key(K_ESC, 0); /* time of arrival, not of decoding */
	is_nothing();
	assert_int_equal(input_timeout_ms(in), -1);

	text("\033");
	is_nothing();
	now += 30 * NS_PER_MS;
	text("[A");
	is_key(K_UP, 0);
	is_nothing();
}

/* Esc, followed by keys that would form a sequence if they came with it. */
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

/* Synchronized output: only a known mode, set or reset, counts as support. */
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

/* And the key after each of them arrives. */
static void none_is_a_key(const char *const *each, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		text(each[i]);
		is_nothing();
		text("k");
		is_key('k', 0);
	}
}

/* libtermkey would take uninitialized stack for the character. */
static void characters_that_are_not_there(void **state)
{
	static const char *const each[] = {"\033[u",   "\033[;5u",   "\033[~",      "\033[;5~",
					   "\033[27~", "\033[27;5~", "\033[27;5;~", "\033[027;;~"};

	(void)state;
	none_is_a_key(each, sizeof each / sizeof *each);
	text("\033[107u");
	is_key('k', 0);
	text("\033[27;1;107~");
	is_key('k', 0);
	text("\033[107:75;1u"); /* unsolicited */
	is_nothing();
}

/* libtermkey would index its key table with these bytes. */
static void private_sequences(void **state)
{
	static const char *const each[] = {"\033[?1A",   "\033[>0;1H", "\033[=1F",   "\033[1*H", "\033[ P",
					   "\033[?25$y", "\033[<1A",   "\033[1;2 Z", "\033[/~"};

	(void)state;
	none_is_a_key(each, sizeof each / sizeof *each);
	/* eight-bit controls outside a character */
	feed("\233*H", 3);
	is_key(0xfffd, 0);
	is_key('*', 0);
	is_key('H', 0);
	/* as the second byte of a character */
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
	/* argument counts around libtermkey's limit of sixteen */
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
	/* whatever happens to the first, the next key arrives */
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
	/* invalid in the C locale */
	setlocale(LC_ALL, "C");
	text("\377k");
	is_key('k', 0);
	setlocale(LC_ALL, "");
}

/* The terminal's background replies never arrive as keys. */
static void background(void **state)
{
	static const struct {
		const char *bytes;
		enum ground ground;
	} cases[] = {
		{"\033]11;rgb:0000/0000/0000\033\\", GROUND_DARK},
		{"\033]11;rgb:ffff/ffff/ffff\033\\", GROUND_LIGHT},
		{"\033]11;rgb:2828/2c2c/3434\007", GROUND_DARK},
		{"\033]11;rgb:fd/f6/e3\007", GROUND_LIGHT},
		{"\033]11;rgba:f/f/f/8\033\\", GROUND_LIGHT},
		{"\033]11;rgba:1212/1212/1212/ffff\033\\", GROUND_DARK},
	};
	static const char *const nonsense[] = {
		"\033]11;\033\\",
		"\033]11;rgb:\033\\",
		"\033]11;rgb:f/f\033\\",
		"\033]11;rgb:fffff/0/0\007",
		"\033]11;#ffffff\033\\",
		"\033]11;rgb:ff/ff/f\030",
		"\033]11;aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\033\\",
	};

	(void)state;
	assert_int_equal(input_ground(in), GROUND_AUTO);
	for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
		text(nonsense[i]);
		is_nothing();
		assert_int_equal(input_ground(in), GROUND_AUTO);
		text("k");
		is_key('k', 0);
	}
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		text(cases[i].bytes);
		is_nothing();
		assert_int_equal(input_ground(in), cases[i].ground);
		text("k");
		is_key('k', 0);
	}
	assert_false(input_answered(in));
	text("\033[?62;22c");
	is_nothing();
	assert_true(input_answered(in));
}

/* Byte by byte, a tenth of a second apart: no key results. */
static void slow_answers(void **state)
{
	static const char bytes[] = "\033]11;rgb:ffff/ffff/ffff\033\\\033[?62;1;4c";

	(void)state;
	feed(bytes, 5); /* this much comes in one piece, as a key does */
	for (size_t i = 5; i < sizeof bytes - 1; i++) {
		/* ESC with its next byte: alone it is a key */
		size_t n = bytes[i] == 27 ? (bytes[i + 1] == '[' ? 3 : 2) : 1;

		is_nothing();
		now += NS_PER_S / 10;
		input_feed(in, NULL, 0, now);
		is_nothing();
		feed(bytes + i, n);
		i += n - 1;
	}
	is_nothing();
	assert_int_equal(input_ground(in), GROUND_LIGHT);
	assert_true(input_answered(in));
	/* and an unterminated one delays nothing for long */
	text("\033]11;rgb:ff");
	is_nothing();
	now += 2 * NS_PER_S;
	input_feed(in, NULL, 0, now);
	is_nothing();
	text("k");
	is_key('k', 0);
	/* interrupted by a key */
	text("\033]11;rgb:ff\033[A");
	is_key(K_UP, 0);
}

static void alt_bracket(void **state)
{
	(void)state;
	text("\033]");
	is_nothing();
	now += NS_PER_S;
	input_feed(in, NULL, 0, now);
	assert_int_equal(next().key, ']');
	is_nothing();
	text("k");
	is_key('k', 0);
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
		WITH_INPUT(characters_that_are_not_there),
		WITH_INPUT(private_sequences),
		WITH_INPUT(old_mouse),
		WITH_INPUT(split_anywhere),
		WITH_INPUT(long_sequences),
		WITH_INPUT(an_escape_ends_a_cut_sequence),
		WITH_INPUT(a_string_without_end),
		WITH_INPUT(bytes_outside_utf8),
		WITH_INPUT(background),
		WITH_INPUT(slow_answers),
		WITH_INPUT(alt_bracket),
	};

	setlocale(LC_ALL, "");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
