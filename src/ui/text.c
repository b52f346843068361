/* text: words over several lines.
 *
 * A line ends between words, and in scripts that have no blanks between them beside
 * any wide character, but not before one that ends a sentence or a bracket. */
#include "ui/draw.h"
#include "ui/screen.h"

#include <limits.h>
#include <string.h>
#include <wchar.h>

/* The next character: its bytes and columns; 0: the end. */
static size_t next(const char *text, wchar_t *ch, int *width)
{
	mbstate_t state;
	size_t n;

	memset(&state, 0, sizeof(state));
	n = mbrtowc(ch, text, MB_LEN_MAX, &state);
	if (n == (size_t)-1 || n == (size_t)-2) {
		*ch = L'?';
		n = 1;
	}
	*width = wcwidth(*ch) < 0 ? 1 : wcwidth(*ch);
	return n;
}

static bool ends(wchar_t ch)
{
	static const wchar_t closing[] = {0x3001, 0x3002, 0x300D, 0x300F, 0xFF01, 0xFF09, 0xFF0C,
					  0xFF1A, 0xFF1B, 0xFF1F, 0x30FC, ',',    '.',    ')',
					  ';',    ':',    '?',    '!',    0};

	return wcschr(closing, ch) != NULL;
}

/* How many bytes of a text fit into a line. */
static size_t fitting(const char *text, int w)
{
	size_t at = 0, best = 0, n;
	int used = 0, width, before = 0;
	wchar_t ch;

	for (; (n = next(text + at, &ch, &width)) > 0; at += n) {
		if (at && (ch == L' ' || ((before > 1 || width > 1) && !ends(ch))) && text[at - 1] != ' ')
			best = at;
		if (used + width > w)
			return best ? best : at ? at : n;
		used += width;
		before = width ? width : before;
	}
	return at;
}

int text_lines(const char *text, int w)
{
	int lines = 0;

	for (; *text && w > 0; lines++) {
		text += fitting(text, w);
		text += strspn(text, " ");
	}
	return lines;
}

int text_draw(const struct ui *u, struct canvas *c, int x, int y, int w, int h, enum style style,
	      const char *text)
{
	int line = 0;

	for (; line < h && *text && w > 0; line++) {
		size_t n = fitting(text, w);
		char part[1024];
		int used;

		snprintf(part, sizeof(part), "%.*s", line == h - 1 ? (int)sizeof(part) - 1 : (int)n, text);
		used = screen_cut(u, c, x, y + line, w, style, part);
		if (used < w) /* nothing stands close behind it */
			canvas_put(c, x + used, y + line, style, L' ');
		text += n;
		text += strspn(text, " ");
	}
	return line;
}
