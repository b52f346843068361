/* ncurses resets the look between any two looks, and sets both colours if one changes. In a screen of
 * short runs that is most of the bytes. So we track the look here and output only what changes between
 * characters.
 *
 * ncurses supports only the colours in terminfo, which rarely says that a terminal has 24-bit colours.
 * So each colour gets one of 256 numbers, and 38;5;N becomes 38;2;R;G;B here. */
#include "term/sgr.h"

#include <stdio.h>
#include <string.h>

#define COLOUR_MOST 24 /* bytes of the longest colour */

enum { INK, BACK, FONT, PARTS };

/* The numbers of a colour, such as "38;5;100"; empty: terminal default. */
struct part {
	const char *p;
	size_t n;
};

struct look {
	struct part part[PARTS];
	unsigned on; /* bits 1 (bold) to 9 */
};

static const struct look plain;

/* The end of the sequence ESC [ numbers m at p, or NULL. */
static const char *look_end(const char *p, const char *end)
{
	if (end - p < 3 || p[0] != '\033' || p[1] != '[')
		return NULL;
	for (p += 2; p < end && ((*p >= '0' && *p <= '9') || *p == ';' || *p == ':'); p++)
		;
	return p < end && *p == 'm' ? p + 1 : NULL;
}

static int number(const char **p, const char *end)
{
	int n = 0;

	for (; *p < end && **p >= '0' && **p <= '9'; (*p)++)
		n = n < 1000 ? 10 * n + (**p - '0') : n;
	return n;
}

/* The rest of a colour after 38 or 48: ";5;N", ";2;R;G;B", or anything after colons. */
static bool skip_colour(const char **p, const char *end)
{
	int more = 1;

	if (*p < end && **p == ':') {
		*p += strcspn(*p, ";m");
		return true;
	}
	for (int i = 0; i <= more; i++) {
		if (*p == end || *(*p)++ != ';')
			return false;
		if (i == 0)
			more = number(p, end) == 2 ? 3 : 1;
		else
			number(p, end);
	}
	return true;
}

/* Apply the numbers of a sequence; false if a number is not supported. */
static bool look_read(struct look *l, const char *p, const char *end)
{
	do {
		const char *from = p;
		int n = number(&p, end), tens = n / 10;

		if (((n == 38 || n == 48) && !skip_colour(&p, end)) || (p < end && *p != ';') ||
		    p - from > COLOUR_MOST)
			return false;
		if (n == 0)
			*l = plain;
		else if (tens == 0)
			l->on |= 1u << n;
		else if (n == 22)
			l->on &= ~(1u << 1 | 1u << 2);
		else if (tens == 2 && n > 22)
			l->on &= ~(1u << n % 10);
		else if (n == 10 || n == 39 || n == 49)
			l->part[n == 10 ? FONT : n == 39 ? INK : BACK] = plain.part[0];
		else if (tens == 1 || tens == 3 || tens == 4 || tens == 9 || (n >= 100 && n < 108))
			l->part[tens == 1                ? FONT
				: tens == 3 || tens == 9 ? INK
							 : BACK] = (struct part) {from, (size_t)(p - from)};
		else
			return false;
	} while (p++ < end);
	return true;
}

static bool same(struct part a, struct part b)
{
	return a.n == b.n && (a.n == 0 || !memcmp(a.p, b.p, a.n));
}

/* Append one number; returns the end. */
static char *put(char *out, bool *first, const char *text, size_t n)
{
	if (!*first)
		*out++ = ';';
	*first = false;
	memcpy(out, text, n);
	return out + n;
}

static char *put_part(char *out, bool *first, struct part part, const int *rgb)
{
	const char *p = part.p + 5, *end = part.p + part.n;
	char text[COLOUR_MOST];
	int n;

	if (rgb && part.n > 5 && !memcmp(part.p + 1, "8;5;", 4) && (n = number(&p, end)) < 256 && p == end &&
	    rgb[n] >= 0)
		return put(out, first, text,
			   (size_t)sprintf(text, "%c8;2;%d;%d;%d", *part.p, rgb[n] >> 16, rgb[n] >> 8 & 255,
					   rgb[n] & 255));
	return put(out, first, part.p, part.n);
}

/* from: NULL if unknown. */
static char *look_write(const struct sgr *s, char *out, const struct look *from, const struct look *to)
{
	unsigned off = from ? from->on & ~to->on : 0;
	bool reset = !from || (off && !s->ends), differs = off, bare = !to->on, first;

	for (int i = 0; i < PARTS; i++) {
		differs |= from && !same(from->part[i], to->part[i]);
		reset |= from && from->part[i].n && !to->part[i].n;
		bare &= !to->part[i].n;
	}
	if (from && !differs && from->on == to->on)
		return out;
	if (reset || bare)
		from = &plain, off = 0, reset = true;
	first = !reset; /* an empty number is 0, a reset */
	*out++ = '\033';
	*out++ = '[';
	if (off & 6)
		out = put(out, &first, "22", 2);
	for (int k = 3; k < 10; k++)
		if (off >> k & 1)
			out = put(out, &first, (char[]) {'2', (char)('0' + k)}, 2);
	for (int k = 1; k < 10; k++)
		if (to->on >> k & 1 && (!(from->on >> k & 1) || (k < 3 && off & 6)))
			out = put(out, &first, (char[]) {(char)('0' + k)}, 1);
	for (int i = 0; i < PARTS; i++)
		if (!same(from->part[i], to->part[i]))
			out = put_part(out, &first, to->part[i], s->rgb);
	*out++ = 'm';
	return out;
}

/* The visible part of a look at p: only the background for a blank, no background for a full block. */
static struct look visible(const struct look *want, const struct look *sent, const char *p, const char *end)
{
	struct look l = *want;

	if (l.on & (1u << 4 | 1u << 7))
		return l;
	if (p < end && *p == ' ')
		l.part[INK] = sent->part[INK];
	else if (end - p >= 3 && !memcmp(p, "\342\226\210", 3))
		l.part[BACK] = sent->part[BACK];
	return l;
}

size_t sgr_bytes(const struct sgr *s, const char *in, size_t n, char *out)
{
	const char *p = in, *end = in + n, *next;
	struct look sent = plain, want = plain, read;
	bool known = s->follows, set = false;
	char *to = out;

	while (p <= end) {
		next = look_end(p, end);
		read = want;
		if (next && look_read(&read, p + 2, next - 1)) {
			want = read;
			set = true;
			p = next;
			continue;
		}
		/* the character set is already right */
		if (s->follows && p < end && *p == '\017') {
			p++;
			continue;
		}
		if (s->follows && end - p >= 3 && !memcmp(p, "\033(B", 3)) {
			p += 3;
			continue;
		}
		if (set) {
			read = known ? visible(&want, &sent, p, end) : want;
			to = look_write(s, to, known ? &sent : NULL, &read);
			sent = read;
			known = true;
			set = !same(sent.part[INK], want.part[INK]) ||
			      !same(sent.part[BACK], want.part[BACK]);
		}
		for (next = next ? next : p + 1; p < next || (p < end && (*p & 0xc0) == 0x80); p++)
			if (p < end)
				*to++ = *p;
	}
	return (size_t)(to - out);
}
