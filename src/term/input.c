/* Bytes to events, by libtermkey in its abstract form: the bytes are read here
 * and pushed into it, so that it neither reads, nor writes, nor changes the
 * terminal's modes, and never waits.
 *
 * What 0.22 (in most distributions) gets wrong is mended before or behind it:
 * - key_mouse from terminfo is taken for the X10 form even where it says SGR
 *   (xterm, alacritty): hidden from it.
 * - Its guess at UTF-8 reads the environment in the wrong order: told.
 * - A CSI with 17 arguments overruns its array, one with a private or an
 *   intermediate byte before a key's final indexes far outside its table, and a
 *   stray 0x9b counts as CSI: cut short on the way in.  Of the private ones
 *   only the mouse's is wanted.
 * - A sequence longer than its buffer would block it: cut short likewise.
 * - Home and End arrive as Find and Select where terminfo says otherwise. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <termkey.h>
#include <unistd.h>
#include <wchar.h>

#include "nvmtop/clock.h"
#include "term/input.h"

#define CSI_SEMICOLONS  15             /* 16 arguments fit in libtermkey's array */
#define CSI_DIGITS      9              /* in one argument */
#define CSI_BYTES       160            /* less than its buffer of 256 */
#define CLEAN_SIZE      256            /* what is pushed into libtermkey at once */
#define FILTER_MOST     5              /* what may come of a single byte */
#define CSI_NOTHING     'y'            /* a final byte that means no key */
#define NOT_A_CHARACTER 0xff           /* in no encoding that is read here: U+FFFD */
#define PASTE_END_NS    (2 * NS_PER_S) /* without a byte: its end was lost */

#define ANSWER_NS NS_PER_S /* an answer that has begun comes to its end */

enum csi { CSI_NO, CSI_ESC, CSI_IN, CSI_CUT };
/* ESC ] was there; it is the answer that was asked for; it may be at its end. */
enum osc { OSC_NO, OSC_IN, OSC_MINE, OSC_END };

struct input {
	TermKey *tk;
	bool utf8;
	int64_t escape_ns;
	int64_t read_ns; /* when the last bytes came */
	bool waiting;    /* libtermkey has the beginning of something */
	bool force;      /* what it has is all there will be */
	bool pasting;
	bool closed;
	enum csi csi;
	int semicolons, digits, length;
	bool sgr;
	char said[12]; /* what stands between CSI and its final byte, as far as there is room */
	size_t n_said;
	bool sync;
	enum osc osc;
	char colour[32]; /* the answer, as far as there is room */
	size_t n_colour, long_osc;
	enum ground ground;
	bool answered;
	int x10, follow; /* bytes still to come: of a mouse report, of a character */
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
	in->utf8 = utf8;
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

/* UTF-8 that libtermkey can take: it looks for C1 controls before it looks for
 * characters, and starts a sequence at a stray 0x9b. */
static int filter_text(struct input *in, unsigned char c)
{
	bool inside = in->follow > 0 && c >= 0x80 && c < 0xc0;

	in->follow = inside ? in->follow - 1 : 0;
	if (c < 0x80 || inside)
		return c;
	if (!in->utf8)
		return c < 0xa0 ? NOT_A_CHARACTER : c;
	if (c < 0xc2 || c > 0xf4)
		return NOT_A_CHARACTER;
	in->follow = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
	return c;
}

static bool csi_goes_on(struct input *in, unsigned char c)
{
	if (c >= '0' && c <= '9')
		in->digits++;
	else
		in->digits = 0;
	in->semicolons += c == ';';
	in->length++;
	if (c == '<' && in->length == 1)
		in->sgr = true;
	else if (c < '0' || c > ';')
		return false;
	return in->semicolons <= CSI_SEMICOLONS && in->digits <= CSI_DIGITS && in->length <= CSI_BYTES;
}

/* The terminal's answers to INPUT_ASKS: it knows the mode, and it is on or off; and
 * to what is behind INPUT_ASKS_GROUND: what it is. */
static void take_answer(struct input *in, unsigned char final)
{
	static const char *const yes[] = {"?2026;1$", "?2026;2$"};

	if (final == 'c' && in->n_said && in->said[0] == '?')
		in->answered = true;
	for (size_t i = 0; final == 'y' && i < sizeof yes / sizeof *yes; i++)
		if (in->n_said == strlen(yes[i]) && !memcmp(in->said, yes[i], in->n_said))
			in->sync = true;
}

/* Something answers that no one types: its rest may be on its way for longer than a
 * key's, and would be taken for keys. */
static bool answering(const struct input *in)
{
	return in->osc == OSC_MINE || in->osc == OSC_END ||
	       ((in->csi == CSI_IN || in->csi == CSI_CUT) && in->n_said && in->said[0] == '?');
}

static int hex(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* "rgb:ffff/ffff/ffff", of one to four digits each; "rgba:" has a fourth. */
static void take_colour(struct input *in)
{
	static const double weight[] = {0.2126, 0.7152, 0.0722};
	const char *p = strchr(in->colour, ':');
	double light = 0;

	if (strncmp(in->colour, "rgb", 3) || !p)
		return;
	for (int i = 0; i < 3; i++) {
		int v = 0, most = 0;

		if (i && *p != '/')
			return;
		for (p++; hex(*p) >= 0 && most < 0xffff; p++) {
			v = v * 16 + hex(*p);
			most = most * 16 + 15;
		}
		if (!most)
			return;
		/* sRGB, nearly: it is a matter of dark or light */
		double part = (double)v / most;
		light += weight[i] * part * part;
	}
	/* where black and white have the same contrast */
	in->ground = light > 0.18 ? GROUND_LIGHT : GROUND_DARK;
}

/* Bytes of ESC ] 11 ; ... up to its end go no further: they are an answer.  Libtermkey
 * has its beginning and gets an end.  True: the byte was taken. */
static bool filter_osc(struct input *in, unsigned char c, char *out, size_t *n)
{
	static const char mine[] = "11;";

	if (in->osc == OSC_IN) {
		in->osc = c == (unsigned char)mine[in->n_said] ? OSC_IN : OSC_NO;
		if (in->osc == OSC_NO)
			return false;
		out[(*n)++] = (char)c;
		if (!mine[++in->n_said])
			in->osc = OSC_MINE;
		in->n_colour = in->long_osc = 0;
		return true;
	}
	if (in->osc == OSC_MINE && c == 27) {
		in->osc = OSC_END;
		return true;
	}
	bool end = in->osc == OSC_END || c == 7 || c == 0x18 || c == 0x1a || ++in->long_osc > 64;

	if (!end) {
		if (in->n_colour + 1 < sizeof in->colour)
			in->colour[in->n_colour++] = (char)c;
		return true;
	}
	bool whole = c == 7 || (in->osc == OSC_END && c == '\\'), again = in->osc == OSC_END && !whole;

	in->osc = OSC_NO;
	in->colour[in->n_colour] = 0;
	if (whole)
		take_colour(in);
	memcpy(out + *n, "\033\\", 2);
	*n += 2;
	if (again) { /* it was cut off by another sequence */
		out[(*n)++] = 27;
		in->csi = CSI_ESC;
	}
	return !again;
}

/* What libtermkey may see in place of this byte: none, one or two; FILTER_MOST when
 * it ends what had been held back. */
static size_t filter(struct input *in, unsigned char c, char *out)
{
	size_t n = 0;

	if (in->osc != OSC_NO && filter_osc(in, c, out, &n))
		return n;
	if (in->csi == CSI_IN || in->csi == CSI_CUT) {
		if (c >= 0x20 && c < 0x40) {
			if (in->n_said < sizeof in->said)
				in->said[in->n_said++] = (char)c;
			if (in->csi == CSI_IN && csi_goes_on(in, c)) {
				out[n++] = (char)c;
				return n;
			}
			in->csi = CSI_CUT;
			return n;
		}
		bool cut = in->csi == CSI_CUT || (in->sgr && c != 'M' && c != 'm');

		in->csi = CSI_NO;
		take_answer(in, c);
		if (c >= 0x40 && c < 0x7f) {
			out[n++] = cut ? CSI_NOTHING : (char)c;
			in->x10 = c == 'M' && in->length == 0 ? 3 : 0;
			return n;
		}
		out[n++] = CSI_NOTHING; /* this byte cannot be in one: it ends there */
	}
	if (in->x10 > 0) { /* three bytes of a mouse report, whatever they are */
		in->x10--;
		out[n++] = (char)c;
		return n;
	}
	if (in->csi == CSI_ESC) {
		in->csi = c == '[' ? CSI_IN : c == 27 ? CSI_ESC : CSI_NO;
		in->osc = c == ']' ? OSC_IN : OSC_NO;
		in->semicolons = in->digits = in->length = 0;
		in->n_said = 0;
		in->sgr = false;
	} else if (c == 27) {
		in->csi = CSI_ESC;
	}
	if (c)
		out[n++] = (char)filter_text(in, c);
	return n;
}

/* How many bytes there is room for, whatever the filter makes of them. */
static size_t takes(const struct input *in)
{
	size_t room = termkey_get_buffer_remaining(in->tk);

	if (room > CLEAN_SIZE)
		room = CLEAN_SIZE;
	return room > FILTER_MOST ? (room - FILTER_MOST) / 2 : 0;
}

static int64_t patience(const struct input *in)
{
	return answering(in) && in->escape_ns < ANSWER_NS ? ANSWER_NS : in->escape_ns;
}

/* Nothing has come for a while. */
static void give_up(struct input *in)
{
	if (in->osc == OSC_MINE || in->osc == OSC_END) {
		in->osc = OSC_NO;
		termkey_push_bytes(in->tk, "\033\\", 2);
	}
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
		in->force = true; /* a full buffer that is no key yet will never be one */
		return 0;
	}
	if (n > room)
		n = room;
	if (in->pasting && t_ns > in->read_ns + PASTE_END_NS)
		in->pasting = false;
	in->read_ns = t_ns;
	for (size_t i = 0; i < n; i++)
		kept += filter(in, (unsigned char)bytes[i], clean + kept);
	if (kept)
		termkey_push_bytes(in->tk, clean, kept);
	return n;
}

bool input_sync(const struct input *in)
{
	return in->sync;
}

bool input_answered(const struct input *in)
{
	return in->answered;
}

enum ground input_ground(const struct input *in)
{
	return in->ground;
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
	/* no more than input_feed takes at once */
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
	switch (sym) {
	case TERMKEY_SYM_BACKSPACE:
	case TERMKEY_SYM_DEL:
		return K_BACKSPACE;
	case TERMKEY_SYM_TAB:
		return K_TAB;
	case TERMKEY_SYM_ENTER:
	case TERMKEY_SYM_KPENTER:
		return K_ENTER;
	case TERMKEY_SYM_ESCAPE:
		return K_ESC;
	case TERMKEY_SYM_SPACE:
		return ' ';
	case TERMKEY_SYM_UP:
		return K_UP;
	case TERMKEY_SYM_DOWN:
		return K_DOWN;
	case TERMKEY_SYM_LEFT:
		return K_LEFT;
	case TERMKEY_SYM_RIGHT:
		return K_RIGHT;
	case TERMKEY_SYM_HOME:
	case TERMKEY_SYM_FIND:
		return K_HOME;
	case TERMKEY_SYM_END:
	case TERMKEY_SYM_SELECT:
		return K_END;
	case TERMKEY_SYM_PAGEUP:
		return K_PGUP;
	case TERMKEY_SYM_PAGEDOWN:
		return K_PGDN;
	case TERMKEY_SYM_INSERT:
		return K_INSERT;
	case TERMKEY_SYM_DELETE:
		return K_DELETE;
	default:
		return K_NONE;
	}
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
		/* a line feed, pasted or typed by a script; a backspace of old */
		ev->key = ev->key == 'j' ? K_ENTER : K_BACKSPACE;
		ev->mods = 0;
	} else if ((ev->mods & MOD_CTRL) && (ev->mods & MOD_ALT) && ev->key >= '@' && ev->key <= '_') {
		return false; /* a C1 control in disguise */
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

/* Focus and paste are sequences that libtermkey leaves to us; their arguments
 * are only there until its next key. */
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
		if (in->force) { /* what was half there is used up: what comes is new */
			in->follow = in->x10 = 0;
			in->csi = CSI_NO;
			in->osc = OSC_NO;
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
