/* draw: text in one or more lines, and boxes.
 *
 * Lines break between words. In scripts without blanks they break beside any wide character, but not
 * before closing punctuation. */
#include "ui/draw.h"
#include "ui/screen.h"

#include <string.h>
#include <wchar.h>

wchar_t screen_glyph(const struct ui *u, wchar_t fine, wchar_t ascii)
{
	return u->charset == CHARSET_ASCII ? ascii : fine;
}

int screen_cut(const struct ui *u, struct canvas *c, int x, int y, int w, enum style style, const char *text)
{
	int used;

	if (text_width(text) <= w || w < 1)
		return canvas_text(c, x, y, w, style, text);
	used = canvas_text(c, x, y, w - 1, style, text);
	canvas_put(c, x + used, y, style, screen_glyph(u, 0x2026, '~'));
	return used + 1;
}

const char *reason_remedy(const char *reason)
{
	const char *end = strstr(reason, "; ");

	return end ? end + 2 : NULL;
}

int screen_reason(const struct ui *u, struct canvas *c, int x, int y, int w, enum style style, const char *reason)
{
	const char *remedy = text_width(reason) > w ? reason_remedy(reason) : NULL;
	int room = remedy ? w - text_width(remedy) - 2 : 0, used = 0;

	if (!remedy)
		return screen_cut(u, c, x, y, w, style, reason);
	if (room >= 8) {
		used = canvas_text(c, x, y, room - 1, style, reason);
		canvas_put(c, x + used++, y, style, screen_glyph(u, 0x2026, '~'));
		used += canvas_text(c, x + used, y, 2, style, "; ");
	}
	return used + screen_cut(u, c, x + used, y, w - used, style, remedy);
}

int screen_put(struct canvas *c, int x, int y, int right, enum style style, const char *text)
{
	int w = text_width(text);

	if (!*text || x + w > right)
		return x;
	canvas_text(c, x, y, w, style, text);
	return x + w + 3;
}

const char *screen_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

static bool ends(wchar_t ch)
{
	static const wchar_t closing[] = {0x3001, 0x3002, 0x300D, 0x300F, 0xFF01, 0xFF09, 0xFF0C,
					  0xFF1A, 0xFF1B, 0xFF1F, 0x30FC, ',',    '.',    ')',
					  ';',    ':',    '?',    '!',    0};

	return wcschr(closing, ch) != NULL;
}

/* The number of bytes of a text that fit in a line. */
static size_t fitting(const char *text, int w)
{
	size_t at = 0, best = 0;
	int used = 0, width, before = 0;
	const char *next = text;
	mbstate_t state;
	wchar_t ch;

	memset(&state, 0, sizeof(state));
	for (; text_next(&next, &state, &ch, &width); at = (size_t)(next - text)) {
		if (at && (ch == L' ' || ((before > 1 || width > 1) && !ends(ch))) && text[at - 1] != ' ')
			best = at;
		if (used + width > w)
			return best ? best : at ? at : (size_t)(next - text);
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
		if (used < w) /* separate the text from what is behind it */
			canvas_put(c, x + used, y + line, style, L' ');
		text += n;
		text += strspn(text, " ");
	}
	return line;
}

/* 0: the first of n from `from` on; 2: the last; 1: between. */
static int third(int at, int from, int n)
{
	return at == from ? 0 : at == from + n - 1 ? 2 : 1;
}

void box_draw(const struct ui *u, struct canvas *c, const struct rect *r)
{
	static const wchar_t fine[3][3] = {
		{0x256D, 0x2500, 0x256E}, {0x2502, L' ', 0x2502}, {0x2570, 0x2500, 0x256F}};
	static const wchar_t plain[3][3] = {{L'+', L'-', L'+'}, {L'|', L' ', L'|'}, {L'+', L'-', L'+'}};

	for (int y = r->y; y < r->y + r->h; y++)
		for (int x = r->x; x < r->x + r->w; x++) {
			int row = third(y, r->y, r->h), column = third(x, r->x, r->w);

			canvas_put(c, x, y, STYLE_DIM,
				   screen_glyph(u, fine[row][column], plain[row][column]));
		}
}
