/* canvas: the grid of cells that views draw on.
 *
 * Views set the meaning of a cell and term/ its look, so golden screens need no terminal. Invariant: the
 * right half of a wide character never appears without its left half. */
#include "ui/canvas.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define SIDE_MAX 1000

static void cell_blank(struct cell *p)
{
	p->ch[0] = L' ';
	p->ch[1] = p->ch[2] = 0;
	p->style = STYLE_TEXT;
	p->back = 0;
}

int canvas_resize(struct canvas *c, int w, int h)
{
	struct cell *cells;
	size_t n;

	w = w < 0 ? 0 : w > SIDE_MAX ? SIDE_MAX : w;
	h = h < 0 ? 0 : h > SIDE_MAX ? SIDE_MAX : h;
	n = (size_t)w * (size_t)h;
	if (!c->cells || n != (size_t)c->w * (size_t)c->h) {
		cells = malloc((n ? n : 1) * sizeof(*cells));
		if (!cells)
			return -1;
		free(c->cells);
		c->cells = cells;
	}
	c->w = w;
	c->h = h;
	canvas_clear(c);
	return 0;
}

void canvas_free(struct canvas *c)
{
	free(c->cells);
	c->cells = NULL;
	c->w = c->h = 0;
}

void canvas_clear(struct canvas *c)
{
	size_t n = (size_t)c->w * (size_t)c->h;

	for (size_t i = 0; i < n; i++)
		cell_blank(&c->cells[i]);
}

/* Called before x is overwritten: blanks the other half of a wide character. */
static void cell_evict(struct cell *row, int w, int x)
{
	if (row[x].ch[0] == 0 && x > 0)
		row[x - 1].ch[0] = L' ', row[x - 1].ch[1] = 0;
	if (row[x].ch[0] != 0 && x + 1 < w && row[x + 1].ch[0] == 0)
		row[x + 1].ch[0] = L' ';
}

void canvas_put(struct canvas *c, int x, int y, enum style s, wchar_t ch)
{
	struct cell *row;
	int width;

	if (x < 0 || y < 0 || x >= c->w || y >= c->h)
		return;
	row = c->cells + (size_t)y * (size_t)c->w;
	width = ch ? wcwidth(ch) : -1;
	if (width < 1)
		ch = L'?', width = 1;
	if (width > 1 && x + 1 >= c->w)
		ch = L' ', width = 1;
	cell_evict(row, c->w, x);
	row[x].ch[0] = ch;
	row[x].ch[1] = row[x].ch[2] = 0;
	row[x].style = (unsigned char)s;
	row[x].back = 0;
	if (width > 1) {
		cell_evict(row, c->w, x + 1);
		row[x + 1].ch[0] = row[x + 1].ch[1] = row[x + 1].ch[2] = 0;
		row[x + 1].style = (unsigned char)s;
		row[x + 1].back = 0;
	}
}

void canvas_put_on(struct canvas *c, int x, int y, enum style s, enum style back, wchar_t ch)
{
	canvas_put(c, x, y, s, ch);
	if (x >= 0 && y >= 0 && x < c->w && y < c->h)
		c->cells[(size_t)y * (size_t)c->w + (size_t)x].back = (unsigned char)back;
}

int canvas_text(struct canvas *c, int x, int y, int w, enum style s, const char *text)
{
	mbstate_t state;
	wchar_t ch;
	int width, used = 0, last = -1;

	memset(&state, 0, sizeof(state));
	while (text_next(&text, &state, &ch, &width)) {
		if (width == 0) {
			int at = x + last;

			if (last >= 0 && at >= 0 && at < c->w && y >= 0 && y < c->h) {
				struct cell *p = &c->cells[(size_t)y * (size_t)c->w + (size_t)at];

				if (!p->ch[1])
					p->ch[1] = ch;
			}
			continue;
		}
		if (width > w - used || width > c->w - x - used)
			break;
		canvas_put(c, x + used, y, s, ch);
		last = used;
		used += width;
	}
	return used;
}

int canvas_textf(struct canvas *c, int x, int y, int w, enum style s, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return canvas_text(c, x, y, w, s, text);
}

int canvas_right(struct canvas *c, int x, int y, int w, enum style s, const char *text)
{
	int width = text_width(text);

	if (width < w) {
		x += w - width;
		w = width;
	}
	return canvas_text(c, x, y, w, s, text);
}

bool canvas_is_blank(const struct canvas *c, int x, int y, int w)
{
	for (int i = x < 0 ? 0 : x; i < x + w && i < c->w; i++)
		if (y >= 0 && y < c->h && c->cells[(size_t)y * (size_t)c->w + (size_t)i].ch[0] != L' ')
			return false;
	return true;
}

static bool is_band(int style)
{
	return style >= STYLE_SHADES && (style - STYLE_SHADES) % (2 * SHADES) >= SHADES;
}

/* A cell of a heat strip is two channels; what is not lit is blank. */
static struct cell heat_plain(struct cell c, int tones)
{
	bool upper = c.style >= STYLE_SHADES && (tones == 2 || !is_band(c.style));
	bool lower = c.back >= STYLE_SHADES && (tones == 2 || !is_band(c.back));

	if (upper && lower && tones == 2)
		return c;
	c.ch[0] = upper && lower ? 0x2588 : upper ? 0x2580 : lower ? 0x2584 : L' ';
	c.style = upper ? c.style : c.back;
	c.back = 0;
	return c;
}

struct cell cell_plain(struct cell c, int tones)
{
	bool block = c.ch[0] >= 0x2581 && c.ch[0] <= 0x2588 && c.style >= STYLE_SHADES;

	c.back = c.back == STYLE_TRACK ? 0 : c.back;
	if (c.ch[0] == 0x25A0 && c.style == STYLE_TRACK)
		c.ch[0] = 0xB7;
	else if (c.ch[0] == 0x2580 || (c.ch[0] == 0x2584 && c.style == STYLE_TRACK))
		return heat_plain(c, tones);
	else if (tones == 2)
		return c;
	else if (c.ch[0] == CELL_PAINTED && !tones)
		c.ch[0] = 0x2500;
	else if (is_band(c.back) && tones && (block || c.style == STYLE_MARK || c.style == STYLE_FRAME))
		c.back = 0;
	else if (block && is_band(c.style) && c.back && tones) /* a notch */
		c = (struct cell) {{0x2588}, c.back, 0};
	else if (block && is_band(c.back))
		c.ch[0] = 0x2592;
	else if ((block && !c.back && is_band(c.style)) || (c.ch[0] == 0x25A0 && is_band(c.style)))
		c.ch[0] = 0x2591;
	else if (block && c.style >= STYLE_MEAN(HUE_ALERT, 0) && !tones)
		c.ch[0] = 0x2593;
	return c;
}

static void print_char(wchar_t ch, mbstate_t *state, FILE *out)
{
	char bytes[MB_LEN_MAX];
	size_t n = wcrtomb(bytes, ch, state);

	if (n == (size_t)-1) {
		memset(state, 0, sizeof(*state));
		fputc('?', out);
	} else {
		fwrite(bytes, 1, n, out);
	}
}

void canvas_print(const struct canvas *c, FILE *out)
{
	mbstate_t state;

	memset(&state, 0, sizeof(state));
	for (int y = 0; y < c->h; y++) {
		const struct cell *row = c->cells + (size_t)y * (size_t)c->w;
		int end = c->w;

		while (end > 0 && row[end - 1].ch[0] == L' ' && !row[end - 1].ch[1])
			end--;
		for (int x = 0; x < end; x++) {
			struct cell cell = cell_plain(row[x], 0);

			for (int i = 0; i < 2 && cell.ch[i]; i++)
				print_char(cell.ch[i], &state, out);
		}
		fputc('\n', out);
	}
}
