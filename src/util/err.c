/* The caller owns the object that gets an error, so that there is no global state and each thread can
 * fail separately. */
#include <langinfo.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/err.h"

static void printable(char *dst, size_t size, const char *src, size_t len, bool translated);

__attribute__((format(printf, 4, 0))) static void sentence(struct err *e, enum err_code code, int num,
							   const char *fmt, va_list ap)
{
	char text[sizeof e->text];

	/* Format a copy: an argument may be the text that is replaced. Arguments, such as file names,
	 * must not reach a terminal unfiltered. */
	vsnprintf(text, sizeof text, fmt, ap);
	printable(e->text, sizeof e->text, text, strlen(text), true);
	e->code = code;
	e->num = num;
}

int err_num(struct err *e, enum err_code code, int num, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	sentence(e, code, num, fmt, ap);
	va_end(ap);
	return -1;
}

int err_sys(struct err *e, enum err_code code, int num, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	sentence(e, code, num, fmt, ap);
	va_end(ap);
	size_t used = strlen(e->text);
	if (used < sizeof e->text)
		snprintf(e->text + used, sizeof e->text - used, ": %s", strerror(num));
	return -1;
}

/* U+2028 .. U+202E and U+2066 .. U+2069 break a line or reverse the text that follows. */
static bool turns_text(const unsigned char *p)
{
	return p[0] == 0xe2 && ((p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae) ||
				(p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

/* Length of the well-formed UTF-8 sequence at p; 0 if it is malformed, overlong, a surrogate or a control
 * character (C0, DEL, C1, line separators, direction). */
static size_t utf8_length(const unsigned char *p, size_t left)
{
	unsigned c = p[0];

	if (c < 0x80)
		return c >= 0x20 && c != 0x7f;
	size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
	if (c < 0xc2 || c > 0xf4 || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((c == 0xc2 && p[1] < 0xa0) || (c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f) ||
	    (c == 0xf0 && p[1] < 0x90) || (c == 0xf4 && p[1] > 0x8f))
		return 0;
	return n == 3 && turns_text(p) ? 0 : n;
}

/* A sentence may be in the locale's 8-bit charset, in which all bytes from 0xa0 on are characters. */
static bool is_other_charset(unsigned char c)
{
	return c >= 0xa0 && strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

static void printable(char *dst, size_t size, const char *src, size_t len, bool translated)
{
	const unsigned char *p = (const unsigned char *)src;
	size_t used = 0;

	if (!size)
		return;
	for (size_t i = 0; i < len;) {
		size_t n = utf8_length(p + i, len - i);
		size_t room = n ? n : 1;
		if (used + room >= size)
			break;
		if (n || (translated && is_other_charset(p[i])))
			memcpy(dst + used, p + i, room);
		else
			dst[used] = '?';
		used += room;
		i += room;
	}
	dst[used] = '\0';
}

void text_printable(char *dst, size_t size, const char *src, size_t len)
{
	printable(dst, size, src, len, false);
}

void text_shortened(char *dst, size_t size, const char *src, size_t len)
{
	static const char more[] = "...";

	text_printable(dst, size, src, len);
	if (len < size || size <= sizeof(more))
		return;
	text_printable(dst, size - strlen(more), src, len);
	strcat(dst, more);
}
