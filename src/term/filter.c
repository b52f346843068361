/* Works around bugs of libtermkey 0.22, the version in most distributions:
 * - A CSI with 17 arguments overruns its array, one with a private or intermediate byte before a key's
 * final byte indexes outside its table, and a stray 0x9b counts as CSI. Such sequences are cut. Private
 * ones pass only for the mouse.
 * - For a final u, and for ~ after a first argument of 27, it reads a character from an argument that
 * may be missing.
 * - A sequence longer than its buffer blocks it; such sequences are cut too.
 * Replies of the terminal are not keys and are removed. */
#include <string.h>

#include "term/filter.h"

#define CSI_SEMICOLONS  15   /* libtermkey has room for 16 arguments */
#define CSI_DIGITS      9    /* per argument */
#define CSI_BYTES       160  /* libtermkey's buffer has 256 */
#define CSI_NOTHING     'y'  /* final byte of no key */
#define OSC_BYTES       64   /* longest reply */
#define NOT_A_CHARACTER 0xff /* invalid in all encodings: U+FFFD */

enum { CAN = 0x18, SUB = 0x1a, ESC = 0x1b };

/* libtermkey looks for C1 controls before it decodes UTF-8, so a stray 0x9b would start a sequence. */
static int filter_text(struct filter *f, unsigned char c)
{
	bool inside = f->follow > 0 && c >= 0x80 && c < 0xc0;

	f->follow = inside ? f->follow - 1 : 0;
	if (c < 0x80 || inside)
		return c;
	if (!f->utf8)
		return c < 0xa0 ? NOT_A_CHARACTER : c;
	if (c < 0xc2 || c > 0xf4)
		return NOT_A_CHARACTER;
	f->follow = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
	return c;
}

static bool csi_goes_on(struct filter *f, unsigned char c)
{
	bool digit = c >= '0' && c <= '9';

	f->digits = digit ? f->digits + 1 : 0;
	if (digit && f->semicolons == 0 && f->digits <= CSI_DIGITS)
		f->first = (f->first < 0 ? 0 : f->first) * 10 + (c - '0');
	f->third |= digit && f->semicolons == 2;
	f->semicolons += c == ';';
	f->length++;
	if (c == '<' && f->length == 1)
		f->sgr = true;
	else if (!digit && c != ';')
		return false;
	return f->semicolons <= CSI_SEMICOLONS && f->digits <= CSI_DIGITS && f->length <= CSI_BYTES;
}

/* True unless libtermkey would read a character from a missing argument. */
static bool csi_has_character(const struct filter *f, unsigned char final)
{
	if (final == 'u')
		return f->first >= 0;
	return final != '~' || (f->first >= 0 && (f->first != 27 || f->third));
}

/* Replies to INPUT_ASKS (mode 2026 set or reset) and to the DA1 query at the end of INPUT_ASKS_GROUND. */
static void take_answer(struct filter *f, unsigned char final)
{
	static const char *const yes[] = {"?2026;1$", "?2026;2$"};

	if (final == 'c' && f->n_said && f->said[0] == '?')
		f->answered = true;
	for (size_t i = 0; final == 'y' && i < sizeof yes / sizeof *yes; i++)
		if (f->n_said == strlen(yes[i]) && !memcmp(f->said, yes[i], f->n_said))
			f->sync = true;
}

static int hex(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* "rgb:ffff/ffff/ffff", one to four hex digits each; "rgba:" has a fourth. */
static void take_colour(struct filter *f)
{
	static const double weight[] = {0.2126, 0.7152, 0.0722};
	const char *p = strchr(f->colour, ':');
	double light = 0;

	if (strncmp(f->colour, "rgb", 3) || !p)
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
		/* square as an approximation of sRGB */
		double part = (double)v / most;
		light += weight[i] * part * part;
	}
	/* equal contrast to black and white */
	f->ground = light > 0.18 ? GROUND_LIGHT : GROUND_DARK;
}

/* After ESC ]: match "11;". False: a different OSC. */
static bool filter_osc_head(struct filter *f, unsigned char c, char *out, size_t *n)
{
	static const char mine[] = "11;";

	if (c != (unsigned char)mine[f->n_said]) {
		f->osc = OSC_NO;
		return false;
	}
	out[(*n)++] = (char)c;
	if (!mine[++f->n_said])
		f->osc = OSC_MINE;
	f->n_colour = f->long_osc = 0;
	return true;
}

/* Keep the rest of ESC ] 11 ; ... from libtermkey, which gets only the start and a terminator. Returns
 * true if the byte was consumed. */
static bool filter_osc(struct filter *f, unsigned char c, char *out, size_t *n)
{
	bool after_esc = f->osc == OSC_END;
	bool whole = c == 7 || (after_esc && c == '\\');

	if (f->osc == OSC_IN)
		return filter_osc_head(f, c, out, n);
	if (!after_esc && c == ESC) {
		f->osc = OSC_END;
		return true;
	}
	if (!after_esc && !whole && c != CAN && c != SUB && ++f->long_osc <= OSC_BYTES) {
		if (f->n_colour + 1 < sizeof f->colour)
			f->colour[f->n_colour++] = (char)c;
		return true;
	}
	f->osc = OSC_NO;
	f->colour[f->n_colour] = 0;
	if (whole)
		take_colour(f);
	memcpy(out + *n, "\033\\", 2);
	*n += 2;
	if (!after_esc || whole)
		return true;
	out[(*n)++] = ESC; /* another sequence interrupted it */
	f->csi = CSI_ESC;
	return false;
}

/* A byte within a CSI sequence. Returns true if it was consumed, false if the sequence ended before it. */
static bool filter_csi(struct filter *f, unsigned char c, char *out, size_t *n)
{
	if (c >= 0x20 && c < 0x40) {
		if (f->n_said < sizeof f->said)
			f->said[f->n_said++] = (char)c;
		if (f->csi == CSI_IN && csi_goes_on(f, c))
			out[(*n)++] = (char)c;
		else
			f->csi = CSI_CUT;
		return true;
	}
	bool cut = f->csi == CSI_CUT || (f->sgr && c != 'M' && c != 'm') || !csi_has_character(f, c);

	f->csi = CSI_NO;
	take_answer(f, c);
	if (c >= 0x40 && c < 0x7f) {
		out[(*n)++] = cut ? CSI_NOTHING : (char)c;
		f->x10 = c == 'M' && f->length == 0 ? 3 : 0;
		return true;
	}
	out[(*n)++] = CSI_NOTHING; /* invalid byte: end the sequence before it */
	return false;
}

/* The byte after ESC. */
static void begin(struct filter *f, unsigned char c)
{
	f->csi = c == '[' ? CSI_IN : c == ESC ? CSI_ESC : CSI_NO;
	f->osc = c == ']' ? OSC_IN : OSC_NO;
	f->semicolons = f->digits = f->length = 0;
	f->first = -1;
	f->third = false;
	f->n_said = 0;
	f->sgr = false;
}

size_t filter_byte(struct filter *f, unsigned char c, char out[FILTER_MOST])
{
	size_t n = 0;

	if (f->osc != OSC_NO && filter_osc(f, c, out, &n))
		return n;
	if ((f->csi == CSI_IN || f->csi == CSI_CUT) && filter_csi(f, c, out, &n))
		return n;
	if (f->x10 > 0) { /* three arbitrary bytes of an X10 mouse report */
		f->x10--;
		out[n++] = (char)c;
		return n;
	}
	if (f->csi == CSI_ESC)
		begin(f, c);
	else if (c == ESC)
		f->csi = CSI_ESC;
	if (c)
		out[n++] = (char)filter_text(f, c);
	return n;
}

bool filter_answering(const struct filter *f)
{
	return f->osc == OSC_MINE || f->osc == OSC_END ||
	       ((f->csi == CSI_IN || f->csi == CSI_CUT) && f->n_said && f->said[0] == '?');
}

size_t filter_end(struct filter *f, char out[FILTER_MOST])
{
	if (f->osc != OSC_MINE && f->osc != OSC_END)
		return 0;
	f->osc = OSC_NO;
	memcpy(out, "\033\\", 2);
	return 2;
}

void filter_forget(struct filter *f)
{
	f->follow = f->x10 = 0;
	f->csi = CSI_NO;
	f->osc = OSC_NO;
}
