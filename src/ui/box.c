/* box: an empty box with a line round it, over what is there. */
#include "ui/draw.h"
#include "ui/screen.h"

/* The first, one between or the last of n from `from` on. */
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
