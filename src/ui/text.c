/* text: words over several lines. */
#include "screen.h"

#include <string.h>

/* How many bytes of a text fit into a line; whole words if any does. */
static size_t fitting(const char *text, int w)
{
	char part[256];
	size_t end = 0, best = 0;

	while (text[end] && end + 1 < sizeof(part)) {
		end += strspn(text + end, " ");
		end += strcspn(text + end, " ");
		if (end >= sizeof(part))
			break;
		memcpy(part, text, end);
		part[end] = 0;
		if (text_width(part) > w)
			break;
		best = end;
	}
	return best ? best : strcspn(text, " ") ? strcspn(text, " ") : strlen(text);
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

int text_draw(struct canvas *c, int x, int y, int w, int h, enum style style, const char *text)
{
	int line = 0;

	for (; line < h && *text && w > 0; line++) {
		size_t n = fitting(text, w);
		char part[256];

		snprintf(part, sizeof(part), "%.*s", (int)n, text);
		canvas_text(c, x, y + line, w, style, part);
		text += n;
		text += strspn(text, " ");
	}
	return line;
}
