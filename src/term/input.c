/* Converts bytes to events with libtermkey. The bytes are read here and pushed into it, so libtermkey
 * never reads, writes, waits or changes the terminal modes.
 *
 * Bugs of libtermkey 0.22 are worked around in filter.c and here:
 * - It takes terminfo's key_mouse for the X10 form even if it is SGR (xterm, alacritty), so we hide the
 * capability.
 * - It reads the locale variables in the wrong order, so we set the UTF-8 flag.
 * - It reports Home and End as Find and Select where terminfo says so. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <termkey.h>
#include <unistd.h>
#include <wchar.h>

#include "util/clock.h"
#include "term/filter.h"
#include "term/input.h"

#define CLEAN_SIZE   256            /* most bytes pushed into libtermkey at once */
#define PASTE_END_NS (2 * NS_PER_S) /* after this long without a byte the end is taken as lost */
#define ANSWER_NS    NS_PER_S       /* time limit for the rest of a reply */

struct input {
	TermKey *tk;
	bool utf8;
	int64_t escape_ns;
	int64_t read_ns; /* time of the last read */
	bool waiting;    /* libtermkey has an incomplete sequence */
	bool force;      /* do not wait for more bytes */
	bool pasting;
	bool closed;
	struct filter filter;
};

static const char *mend_terminfo(const char *name, const char *value, void *unused)
{
	(void)unused;
	return value && !strcmp(name, "key_mouse") && strcmp(value, "\033[M") ? NULL : value;
}

struct input *input_open(const char *term, bool utf8, int escape_ms)
{
	int flags = TERMKEY_FLAG_NOSTART | TERMKEY_FLAG_NOTERMIOS | TERMKEY_FLAG_CTRLC |
		    TERMKEY_FLAG_CONVERTKP | (utf8 ? TERMKEY_FLAG_UTF8 : TERMKEY_FLAG_RAW);
	struct input *in = calloc(1, sizeof *in);

	if (!in)
		return NULL;
	in->utf8 = in->filter.utf8 = utf8;
	in->escape_ns = escape_ms * NS_PER_MS;
	in->tk = termkey_new_abstract(term, flags);
	if (in->tk) {
		termkey_hook_terminfo_getstr(in->tk, mend_terminfo, NULL);
		termkey_set_canonflags(in->tk, TERMKEY_CANON_DELBS);
		if (termkey_start(in->tk))
			return in;
	}
	int num = errno;
	input_close(in);
	errno = num ? num : ENOMEM;
	return NULL;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	if (in->tk)
		termkey_destroy(in->tk);
	free(in);
}

/* How many bytes fit, for the filter's worst case. */
static size_t takes(const struct input *in)
{
	size_t room = termkey_get_buffer_remaining(in->tk);

	if (room > CLEAN_SIZE)
		room = CLEAN_SIZE;
	return room > FILTER_MOST ? (room - FILTER_MOST) / 2 : 0;
}

static int64_t patience(const struct input *in)
{
	return filter_answering(&in->filter) && in->escape_ns < ANSWER_NS ? ANSWER_NS : in->escape_ns;
}

/* Handle timeouts. */
static void give_up(struct input *in)
{
	char end[FILTER_MOST];
	size_t n = filter_end(&in->filter, end);

	if (n)
		termkey_push_bytes(in->tk, end, n);
	in->force = true;
}

size_t input_feed(struct input *in, const char *bytes, size_t n, int64_t t_ns)
{
	char clean[CLEAN_SIZE];
	size_t room = takes(in), kept = 0;

	if (n == 0) {
		if (in->waiting && t_ns >= in->read_ns + patience(in))
			give_up(in);
		return 0;
	}
	if (room == 0) {
		in->force = true; /* a full buffer without a key would never become one */
		return 0;
	}
	if (n > room)
		n = room;
	if (in->pasting && t_ns > in->read_ns + PASTE_END_NS)
		in->pasting = false;
	in->read_ns = t_ns;
	for (size_t i = 0; i < n; i++)
		kept += filter_byte(&in->filter, (unsigned char)bytes[i], clean + kept);
	if (kept)
		termkey_push_bytes(in->tk, clean, kept);
	return n;
}

bool input_sync(const struct input *in)
{
	return in->filter.sync;
}

bool input_answered(const struct input *in)
{
	return in->filter.answered;
}

enum ground input_ground(const struct input *in)
{
	return in->filter.ground;
}

void input_read(struct input *in, int fd)
{
	char bytes[128];
	size_t room = takes(in);
	int64_t now = clock_now_ns();

	if (room == 0) {
		in->force = true;
		return;
	}
	/* at most what input_feed() takes at once */
	ssize_t n = read(fd, bytes, room < sizeof bytes ? room : sizeof bytes);
	if (n > 0)
		input_feed(in, bytes, (size_t)n, now);
	else if (n < 0 && (errno == EAGAIN || errno == EINTR))
		input_feed(in, NULL, 0, now);
	else
		in->closed = true;
}

int input_timeout_ms(const struct input *in)
{
	if (!in->waiting)
		return -1;
	int64_t left = in->read_ns + patience(in) - clock_now_ns();
	if (left <= 0)
		return 0;
	return left / NS_PER_MS >= INT_MAX ? INT_MAX : (int)((left + NS_PER_MS - 1) / NS_PER_MS);
}

static unsigned modifiers(int m)
{
	return (m & TERMKEY_KEYMOD_SHIFT ? MOD_SHIFT : 0u) | (m & TERMKEY_KEYMOD_ALT ? MOD_ALT : 0u) |
	       (m & TERMKEY_KEYMOD_CTRL ? MOD_CTRL : 0u);
}

static uint32_t key_of_symbol(TermKeySym sym)
{
	static const uint32_t keys[TERMKEY_N_SYMS] = {
		[TERMKEY_SYM_BACKSPACE] = K_BACKSPACE,
		[TERMKEY_SYM_DEL] = K_BACKSPACE,
		[TERMKEY_SYM_TAB] = K_TAB,
		[TERMKEY_SYM_ENTER] = K_ENTER,
		[TERMKEY_SYM_KPENTER] = K_ENTER,
		[TERMKEY_SYM_ESCAPE] = K_ESC,
		[TERMKEY_SYM_SPACE] = ' ',
		[TERMKEY_SYM_UP] = K_UP,
		[TERMKEY_SYM_DOWN] = K_DOWN,
		[TERMKEY_SYM_LEFT] = K_LEFT,
		[TERMKEY_SYM_RIGHT] = K_RIGHT,
		[TERMKEY_SYM_HOME] = K_HOME,
		[TERMKEY_SYM_FIND] = K_HOME,
		[TERMKEY_SYM_END] = K_END,
		[TERMKEY_SYM_SELECT] = K_END,
		[TERMKEY_SYM_PAGEUP] = K_PGUP,
		[TERMKEY_SYM_PAGEDOWN] = K_PGDN,
		[TERMKEY_SYM_INSERT] = K_INSERT,
		[TERMKEY_SYM_DELETE] = K_DELETE,
	};

	return sym > 0 && sym < TERMKEY_N_SYMS ? keys[sym] : (uint32_t)K_NONE;
}

static uint32_t key_of_character(const struct input *in, long c)
{
	if (!in->utf8 && c >= 0x80 && c <= 0xff) {
		wint_t wide = btowc((int)c);

		c = wide == WEOF ? 0 : (long)wide;
	}
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c > 0x10ffff ? (uint32_t)K_NONE : (uint32_t)c;
}

static bool translate_key(struct input *in, const TermKeyKey *k, struct event *ev)
{
	ev->kind = EVENT_KEY;
	ev->mods = modifiers(k->modifiers);
	ev->pasted = in->pasting;
	if (k->type == TERMKEY_TYPE_FUNCTION)
		ev->key = k->code.number >= 1 && k->code.number <= 12 ? K_F1 + (uint32_t)k->code.number - 1
								      : K_NONE;
	else if (k->type == TERMKEY_TYPE_KEYSYM)
		ev->key = key_of_symbol(k->code.sym);
	else
		ev->key = key_of_character(in, k->code.codepoint);
	if (ev->key == K_TAB && ev->mods & MOD_SHIFT) {
		ev->key = K_BACKTAB;
		ev->mods &= ~(unsigned)MOD_SHIFT;
	} else if (ev->mods == MOD_CTRL && (ev->key == 'j' || ev->key == 'h')) {
		/* a pasted line feed; backspace as ^H */
		ev->key = ev->key == 'j' ? K_ENTER : K_BACKSPACE;
		ev->mods = 0;
	} else if ((ev->mods & MOD_CTRL) && (ev->mods & MOD_ALT) && ev->key >= '@' && ev->key <= '_') {
		return false; /* a C1 control */
	}
	return ev->key != K_NONE;
}

static bool translate_mouse(struct input *in, const TermKeyKey *k, struct event *ev)
{
	TermKeyMouseEvent what;
	int button, line, col;

	if (termkey_interpret_mouse(in->tk, k, &what, &button, &line, &col) != TERMKEY_RES_KEY)
		return false;
	switch (what) {
	case TERMKEY_MOUSE_PRESS:
		ev->action = MOUSE_PRESS;
		break;
	case TERMKEY_MOUSE_DRAG:
		ev->action = MOUSE_DRAG;
		break;
	case TERMKEY_MOUSE_RELEASE:
		ev->action = MOUSE_RELEASE;
		break;
	default:
		return false;
	}
	ev->kind = EVENT_MOUSE;
	ev->mods = modifiers(k->modifiers);
	ev->button = button;
	ev->x = col > 0 ? col - 1 : 0;
	ev->y = line > 0 ? line - 1 : 0;
	return true;
}

/* Focus and paste reports, which libtermkey does not interpret. The arguments are valid only until its
 * next key. */
static bool translate_csi(struct input *in, const TermKeyKey *k, struct event *ev)
{
	long args[16];
	size_t n = 16;
	unsigned long final;

	if (termkey_interpret_csi(in->tk, k, args, &n, &final) != TERMKEY_RES_KEY)
		return false;
	if (final == '~' && n == 1 && (args[0] == 200 || args[0] == 201))
		in->pasting = args[0] == 200;
	if ((final != 'I' && final != 'O') || n > 1)
		return false;
	ev->kind = EVENT_FOCUS;
	ev->press = final == 'I';
	return true;
}

static bool translate(struct input *in, const TermKeyKey *k, struct event *ev)
{
	switch (k->type) {
	case TERMKEY_TYPE_UNICODE:
	case TERMKEY_TYPE_FUNCTION:
	case TERMKEY_TYPE_KEYSYM:
		return translate_key(in, k, ev);
	case TERMKEY_TYPE_MOUSE:
		return translate_mouse(in, k, ev);
	case TERMKEY_TYPE_UNKNOWN_CSI:
		return translate_csi(in, k, ev);
	default:
		return false;
	}
}

struct event input_event(struct input *in)
{
	for (;;) {
		struct event ev = {.kind = EVENT_NONE, .t_ns = in->read_ns};
		TermKeyKey k;
		TermKeyResult r = in->force ? termkey_getkey_force(in->tk, &k) : termkey_getkey(in->tk, &k);

		if (r == TERMKEY_RES_KEY) {
			if (translate(in, &k, &ev))
				return ev;
			continue;
		}
		in->waiting = r == TERMKEY_RES_AGAIN;
		if (in->force) { /* the incomplete sequence was consumed */
			filter_forget(&in->filter);
		}
		in->force = false;
		if (in->closed) {
			in->closed = false;
			ev.kind = EVENT_CLOSED;
			ev.t_ns = clock_now_ns();
		}
		return ev;
	}
}
