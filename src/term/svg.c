/* Writes a screen as SVG, in the colours of the terminal.
 *
 * Fonts draw braille and block characters differently or lack them, so they are drawn as shapes. Text
 * gets an explicit width. The result looks the same in every viewer. */
#include <stdbool.h>

#include "term/term.h"
#include "term/palette.h"

#define CELL_W 9
#define CELL_H 18
#define MARGIN 9

struct svg {
	const struct canvas *c;
	enum theme theme;
	enum ground ground;
	FILE *out;
};

static const struct cell *cell(const struct svg *s, int x, int y)
{
	return &s->c->cells[(size_t)y * (size_t)s->c->w + (size_t)x];
}

/* The terminal's default colours: text on ground. */
static struct look look_of(const struct svg *s, const struct cell *c)
{
	struct look l = palette_look(s->theme, s->ground, (enum style)c->style, PALETTE_RGB), text = l;
	int back = c->back ? palette_look(s->theme, s->ground, (enum style)c->back, PALETTE_RGB).back : -1;

	if (l.fg < 0)
		text = palette_look(THEME_STANDARD, s->ground, STYLE_TEXT, PALETTE_RGB);
	l.fg = text.fg;
	l.bg = back >= 0 ? back : text.bg;
	if (l.attributes & LOOK_REVERSE) {
		l.fg = text.bg;
		l.bg = text.fg;
	}
	return l;
}

static unsigned ground(const struct svg *s)
{
	static const struct cell blank = {.style = STYLE_TEXT};

	return (unsigned)look_of(s, &blank).bg;
}

static void put_character(const struct svg *s, wchar_t ch)
{
	unsigned long c = (unsigned long)ch;

	if (c == '&')
		fputs("&amp;", s->out);
	else if (c == '<')
		fputs("&lt;", s->out);
	else if (c == '>')
		fputs("&gt;", s->out);
	else if (c >= ' ' && c < 0x7f)
		fputc((int)c, s->out);
	else if (c < ' ' || (c >= 0x7f && c < 0xa0) || (c >= 0xd800 && c < 0xe000) ||
		 (c & 0xfffe) == 0xfffe || c > 0x10ffff)
		fputc('?', s->out); /* not valid in XML */
	else
		fprintf(s->out, "&#x%lx;", c);
}

static void box(const struct svg *s, double x, double y, double w, double h)
{
	/* In tenths, by hand: printf depends on the locale. */
	int v[4] = {(int)(x * 10 + 0.5), (int)(y * 10 + 0.5), (int)(w * 10 + 0.5), (int)(h * 10 + 0.5)};

	fprintf(s->out, "M%d.%d %d.%dh%d.%dv%d.%dh-%d.%dz", v[0] / 10, v[0] % 10, v[1] / 10, v[1] % 10,
		v[2] / 10, v[2] % 10, v[3] / 10, v[3] % 10, v[2] / 10, v[2] % 10);
}

/* Lines from the centre of a cell to its sides; corners are square. */
static unsigned sides(wchar_t ch)
{
	enum { UP = 1, RIGHT = 2, DOWN = 4, LEFT = 8 };
	static const struct {
		wchar_t ch;
		unsigned sides;
	} lines[] = {{0x2500, LEFT | RIGHT},
		     {0x2501, LEFT | RIGHT},
		     {0x2502, UP | DOWN},
		     {0x250a, UP | DOWN},
		     {0x250c, RIGHT | DOWN},
		     {0x2510, LEFT | DOWN},
		     {0x2514, UP | RIGHT},
		     {0x2518, UP | LEFT},
		     {0x251c, UP | DOWN | RIGHT},
		     {0x2524, UP | DOWN | LEFT},
		     {0x252c, LEFT | RIGHT | DOWN},
		     {0x2534, LEFT | RIGHT | UP},
		     {0x253c, UP | DOWN | LEFT | RIGHT},
		     {0x256d, RIGHT | DOWN},
		     {0x256e, LEFT | DOWN},
		     {0x256f, UP | LEFT},
		     {0x2570, UP | RIGHT},
		     {0x2575, UP},
		     {0x2577, DOWN}};

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (lines[i].ch == ch)
			return lines[i].sides;
	return 0;
}

/* Scaled to the cell width; equal neighbours are merged. */
static bool is_wide(wchar_t ch)
{
	return (ch >= 0x2580 && ch <= 0x2588) || ch == 0x2500 || ch == 0x2501;
}

static bool is_shape(wchar_t ch)
{
	return (ch > 0x2800 && ch < 0x2900) || (ch >= 0x2580 && ch <= 0x2590) || ch == 0x2508 ||
	       ch == 0x25a0 || sides(ch);
}

/* w: width in cells. */
static void put_shape(const struct svg *s, wchar_t ch, double x, double y, double w)
{
	static const unsigned char column[] = {0, 0, 0, 1, 1, 1, 0, 1}, line[] = {0, 1, 2, 0, 1, 2, 3, 3};
	unsigned side = sides(ch);

	if (ch > 0x2800 && ch < 0x2900) {
		for (int i = 0; i < 8; i++)
			if ((unsigned)ch >> i & 1)
				box(s, x + 1 + 4.4 * column[i], y + 1 + 4.4 * line[i], 2.6, 2.8);
	} else if (ch == 0x2580) {
		box(s, x, y, w, CELL_H / 2.0);
	} else if (ch >= 0x2581 && ch <= 0x2588) {
		double h = CELL_H * (double)(ch - 0x2580) / 8;

		box(s, x, y + CELL_H - h, w, h);
	} else if (ch >= 0x2589 && ch <= 0x258f) {
		box(s, x, y, CELL_W * (double)(0x2590 - ch) / 8, CELL_H);
	} else if (ch == 0x2590) {
		box(s, x + CELL_W / 2.0, y, CELL_W / 2.0, CELL_H);
	} else if (ch == 0x25a0) {
		box(s, x + 0.5, y + 5, CELL_W - 1, CELL_W - 1);
	} else if (ch == 0x250a) {
		for (int i = 0; i < 4; i++)
			box(s, x + 4, y + 4.5 * i + 1, 1, 2.5);
	} else if (ch == 0x2508) {
		for (int i = 0; i < 4; i++)
			box(s, x + 2.25 * i + 0.5, y + CELL_H / 2.0 - 0.5, 1.2, 1);
	} else if (ch == 0x2500 || ch == 0x2501) {
		double h = ch == 0x2500 ? 1 : 3;

		box(s, x, y + (CELL_H - h) / 2, w, h);
	} else {
		if (side & 1)
			box(s, x + 4, y, 1, CELL_H / 2.0 + 0.5);
		if (side & 4)
			box(s, x + 4, y + CELL_H / 2.0 - 0.5, 1, CELL_H / 2.0 + 0.5);
		if (side & 2)
			box(s, x + 4, y + CELL_H / 2.0 - 0.5, CELL_W - 4, 1);
		if (side & 8)
			box(s, x, y + CELL_H / 2.0 - 0.5, 5, 1);
	}
}

static void draw_grounds(const struct svg *s)
{
	unsigned own = ground(s);

	for (int y = 0; y < s->c->h; y++)
		for (int x = 0, from = 0; x < s->c->w; from = x) {
			unsigned bg = (unsigned)look_of(s, cell(s, x, y)).bg;

			while (x < s->c->w && (unsigned)look_of(s, cell(s, x, y)).bg == bg)
				x++;
			if (bg != own)
				fprintf(s->out,
					"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
					"fill=\"#%06x\"/>\n",
					MARGIN + from * CELL_W, MARGIN + y * CELL_H, (x - from) * CELL_W,
					CELL_H, bg);
		}
}

/* All shapes of one style in a row become one path. */
static void draw_shapes(const struct svg *s, int y)
{
	for (int style = 0; style < STYLES; style++) {
		bool any = false;

		for (int x = 0; x < s->c->w; x++) {
			const struct cell *p = cell(s, x, y);
			int n = 1;

			if (p->style != style || !is_shape(p->ch[0]))
				continue;
			if (!any)
				fprintf(s->out, "<path fill=\"#%06x\" d=\"", (unsigned)look_of(s, p).fg);
			any = true;
			while (is_wide(p->ch[0]) && x + n < s->c->w && p[n].style == style &&
			       p[n].ch[0] == p->ch[0])
				n++;
			put_shape(s, p->ch[0], MARGIN + x * CELL_W, MARGIN + y * CELL_H, n * CELL_W);
			x += n - 1;
		}
		if (any)
			fputs("\"/>\n", s->out);
	}
}

static bool is_text(const struct cell *p)
{
	return p->ch[0] != L' ' && !is_shape(p->ch[0]) && p->ch[0] != 0x2800;
}

/* Text of one style, including gaps of up to two blanks. */
static int run_end(const struct svg *s, int x, int y)
{
	int style = cell(s, x, y)->style, end = x;

	for (; x < s->c->w && cell(s, x, y)->style == style; x++) {
		const struct cell *p = cell(s, x, y);

		if (p->ch[0] == 0 || is_text(p))
			end = x + 1;
		else if (p->ch[0] != L' ' || x > end)
			break;
	}
	return end;
}

static void draw_text(const struct svg *s, int y)
{
	for (int x = 0; x < s->c->w; x++) {
		struct look l = look_of(s, cell(s, x, y));
		int end;

		if (cell(s, x, y)->ch[0] == 0 || !is_text(cell(s, x, y)))
			continue;
		end = run_end(s, x, y);
		fprintf(s->out,
			"<text x=\"%d\" y=\"%d\" textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\" "
			"fill=\"#%06x\"%s%s>",
			MARGIN + x * CELL_W, MARGIN + y * CELL_H + 14, (end - x) * CELL_W, (unsigned)l.fg,
			l.attributes & LOOK_BOLD ? " font-weight=\"bold\"" : "",
			l.attributes & LOOK_UNDERLINE ? " text-decoration=\"underline\"" : "");
		for (; x < end; x++)
			for (int i = 0; i < 2 && cell(s, x, y)->ch[i]; i++)
				put_character(s, cell(s, x, y)->ch[i]);
		x--;
		fputs("</text>\n", s->out);
	}
}

void term_svg(const struct canvas *c, enum theme theme, enum ground on, FILE *out)
{
	/* A picture has no 16-colour palette of its own. */
	struct svg s = {c, theme == THEME_TERMINAL ? THEME_STANDARD : theme, on, out};
	int w = c->w * CELL_W + 2 * MARGIN, h = c->h * CELL_H + 2 * MARGIN;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
		"font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"14.95\" "
		"shape-rendering=\"crispEdges\" xml:space=\"preserve\">\n"
		"<rect width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n",
		w, h, w, h, w, h, ground(&s));
	draw_grounds(&s);
	for (int y = 0; y < c->h; y++) {
		draw_shapes(&s, y);
		draw_text(&s, y);
	}
	fputs("</svg>\n", out);
}
