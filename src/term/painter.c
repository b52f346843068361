/* Draws cells with ncurses; the only file that uses it.
 *
 * ncurses only computes the shortest update from one grid of cells to the next. It does not own the
 * terminal: it writes to a memory file from which we take the bytes, it reads nothing, and its signal
 * handlers are removed. */
#include <curses.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "term/kind.h"
#include "term/painter.h"
#include "term/sgr.h"
#include "term/shift.h"

struct painter {
	SCREEN *screen;
	FILE *out; /* ncurses output, in memory */
	struct canvas shown;
	cchar_t *row; /* shown.w cells */
	bool utf8;
	bool deletes; /* the terminal can shift the rest of a row left */
	bool ansi;
	bool repaint;
	bool changes; /* the output updates a previous frame */
	int has;      /* colours of the terminal */
	int colours;  /* how many of them may be used, */
	int inks;     /* and of these by the theme */
	bool count;   /* more colours than ncurses supports: they get numbers, see rgb */
	int rgb[256];
	struct look looks[STYLES];  /* in ncurses colours */
	short pair[STYLES][STYLES]; /* for a style and its background; 0: not created */
	short filled[STYLES];       /* for a full block drawn as a blank; 0: not created */
};

static void count_colours(struct painter *p, const char *term, enum colour_choice choice)
{
	bool rgb;

	p->has = tigetnum("colors");
	rgb = (choice == COLOUR_RGB || kind_truecolor(term)) && (p->has > 256 || kind_counts_colours());
	p->colours = palette_colours(choice == COLOUR_RGB && !rgb ? COLOUR_256 : choice, p->has, rgb);
	if (p->colours && (start_color() != OK || use_default_colors() != OK))
		p->colours = 0;
}

/* Call newterm() and undo the signal handlers it installs. */
static SCREEN *new_screen(const char *term, FILE *out)
{
	static const int touched[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
	struct sigaction was[4];
	SCREEN *screen;

	/* ncurses would allocate the size in the environment. Ask the tty instead, because terminfo has
	 * no size for some terminals, such as linux. */
	use_env(FALSE);
	use_tioctl(TRUE);
	for (int i = 0; i < 4; i++)
		sigaction(touched[i], NULL, &was[i]);
	screen = newterm(term, out, out);
	for (int i = 0; i < 4; i++)
		sigaction(touched[i], &was[i], NULL);
	if (!screen)
		errno = ENOMEM;
	return screen;
}

static FILE *memory_file(void)
{
	int fd = memfd_create("screen", MFD_CLOEXEC);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w+");

	if (!out && fd >= 0)
		close(fd);
	return out;
}

struct painter *painter_open(const char *term, enum colour_choice choice, bool utf8)
{
	struct painter *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->utf8 = utf8;
	p->out = memory_file();
	p->screen = p->out ? new_screen(term, p->out) : NULL;
	if (!p->screen) {
		int num = errno;

		painter_close(p);
		errno = num;
		return NULL;
	}
	nonl();
	noecho();
	typeahead(-1);
	leaveok(stdscr, TRUE);
	scrollok(stdscr, FALSE);
	curs_set(0);
	count_colours(p, term, choice);
	p->deletes = kind_deletes();
	p->ansi = kind_ansi();
	return p;
}

void painter_close(struct painter *p)
{
	if (!p)
		return;
	if (p->screen)
		delscreen(p->screen);
	if (p->out)
		fclose(p->out);
	canvas_free(&p->shown);
	free(p->row);
	free(p);
}

void painter_usual_size(int *w, int *h)
{
	*w = COLS;
	*h = LINES;
}

int painter_resize(struct painter *p, int w, int h)
{
	cchar_t *row = realloc(p->row, (size_t)w * sizeof *row);

	if (!row)
		return -1;
	p->row = row;
	if (canvas_resize(&p->shown, w, h) < 0)
		return -1;
	if (COLS != w || LINES != h)
		resize_term(h, w);
	p->repaint = true;
	return 0;
}

/* Convert a colour to ncurses'. With numbered colours, allocate the next number; no palette uses up all
 * of them. */
static int ink(struct painter *p, int colour)
{
	if (colour < 0 || !p->count)
		return colour;
	for (int i = 16; i < 256; i++) {
		if (p->rgb[i] < 0)
			p->rgb[i] = colour;
		if (p->rgb[i] == colour)
			return i;
	}
	return -1;
}

void painter_looks(struct painter *p, enum theme theme, enum ground ground)
{
	p->inks = theme == THEME_MONO                          ? 0
		  : theme == THEME_TERMINAL && p->colours > 16 ? palette_colours(COLOUR_16, p->has, false)
							       : p->colours;
	p->count = p->inks == PALETTE_RGB && p->has == 256;
	memset(p->rgb, -1, sizeof p->rgb);
	memset(p->pair, 0, sizeof p->pair);
	memset(p->filled, 0, sizeof p->filled);
	for (int s = 0; s < STYLES; s++) {
		struct look l = palette_look(theme, ground, (enum style)s, p->inks);

		p->looks[s] = (struct look) {ink(p, l.fg), ink(p, l.bg), ink(p, l.back), l.attributes};
	}
	p->repaint = true;
}

bool painter_has_colours(const struct painter *p)
{
	return p->colours;
}

void painter_repaint(struct painter *p)
{
	p->repaint = true;
}

static bool same(const struct cell *a, const struct cell *b, int n)
{
	for (int i = 0; i < n; i++)
		if (!cell_same(&a[i], &b[i]))
			return false;
	return true;
}

/* The content of a cell: one character of the cell's width. */
static int glyph(const struct painter *p, const struct cell *c, int room, wchar_t out[3])
{
	int width = 1;

	memset(out, 0, 3 * sizeof *out);
	out[0] = c->ch[0];
	if (!p->utf8) {
		if (out[0] < 32 || out[0] > 126)
			out[0] = L'?';
	} else {
		width = out[0] >= 32 && out[0] < 127 ? 1 : wcwidth(out[0]);
		if (width < 1 || width > room) {
			out[0] = width > room ? L' ' : L'?';
			width = 1;
		} else if (c->ch[1] && wcwidth(c->ch[1]) == 0) {
			out[1] = c->ch[1];
		}
	}
	return width;
}

/* known: 0 until the pair is created. */
static short pair(short *known, int fg, int bg)
{
	int made;

	if (*known == 0 && (fg >= 0 || bg >= 0)) {
		made = alloc_pair(fg, bg);
		*known = (short)(made > 0 && made <= SHRT_MAX ? made : 0);
	}
	return *known;
}

/* A full block of a chart is drawn as a blank in its colour: in many fonts, blocks do not fill the cell, and charts
 * would have stripes. */
static short cell_pair(struct painter *p, int style, int back, wchar_t *ch)
{
	const struct look *l = &p->looks[style];
	int behind = back ? p->looks[back].back : -1;

	if (*ch == 0x2588 && style >= STYLE_SHADES && p->colours >= 256 && l->fg >= 0) {
		*ch = L' ';
		return pair(&p->filled[style], l->fg, l->fg);
	}
	return pair(&p->pair[style][back], l->fg, behind < 0 ? l->bg : behind);
}

static attr_t attributes(unsigned look)
{
	return (look & LOOK_BOLD ? A_BOLD : 0) | (look & LOOK_DIM ? A_DIM : 0) |
	       (look & LOOK_UNDERLINE ? A_UNDERLINE : 0) | (look & LOOK_REVERSE ? A_REVERSE : 0);
}

/* Eight colours are one tone a hue, 16 are two. */
static struct cell fitting(const struct painter *p, struct cell c)
{
	bool seen;

	c.ch[0] = c.ch[0] ? c.ch[0] : L' '; /* half of a missing wide character */
	c.style = c.style < STYLES ? c.style : STYLE_TEXT;
	c.back = c.back < STYLES ? c.back : 0;
	seen = c.ch[0] != CELL_PAINTED || p->looks[c.back].back != p->looks[STYLE_TEXT].bg;
	return p->inks > 16 ? c : cell_plain(c, p->inks / 8 * seen);
}

static void put_row(struct painter *p, int y, const struct cell *cells, int n)
{
	static const struct cell blank = {.ch = {L' '}, .style = STYLE_TEXT};
	int used = 0;

	for (int x = 0; x < p->shown.w;) {
		struct cell c = fitting(p, x < n ? cells[x] : blank);
		wchar_t text[3];
		short colours;

		/* ncurses counts a wide character as one cell here */
		x += glyph(p, &c, p->shown.w - x, text);
		colours = cell_pair(p, c.style, c.back, &text[0]);
		setcchar(&p->row[used++], text, attributes(p->looks[c.style].attributes), colours, NULL);
	}
	mvadd_wchnstr(y, 0, p->row, used);
}

/* Shift the rest of a row left, on the terminal and in ncurses' copy of the screen. ncurses then draws
 * the remaining difference. */
static void move_row(struct painter *p, int y, struct shift s)
{
	char bytes[64] = "";

	kind_append_delete(bytes, sizeof bytes, y, s.x, s.k);
	fputs(bytes, p->out);
	wmove(curscr, y, s.x);
	for (int i = 0; i < s.k; i++)
		wdelch(curscr);
}

/* Shift rows before ncurses draws. ncurses does not notice, because the cursor is restored. */
static void move_rows(struct painter *p, const struct canvas *next)
{
	char begin[64] = "", end[64] = "";
	int cury, curx, moved = 0;

	getyx(curscr, cury, curx);
	kind_append(begin, sizeof begin, "sc");
	kind_append(begin, sizeof begin, "sgr0");
	kind_append(end, sizeof end, "rc");
	for (int y = 0; y < p->shown.h; y++) {
		size_t at = (size_t)y * (size_t)p->shown.w;
		struct shift s = shift_find(&p->shown.cells[at], &next->cells[at], p->shown.w);

		if (s.k == 0)
			continue;
		if (moved++ == 0)
			fputs(begin, p->out);
		move_row(p, y, s);
	}
	if (moved == 0)
		return;
	fputs(end, p->out);
	fflush(p->out);
	wmove(curscr, cury, curx);
}

bool painter_draw(struct painter *p, const struct canvas *next)
{
	int w = p->shown.w, h = p->shown.h, n = next->w < w ? next->w : w;
	bool changed = p->repaint;

	if (!p->repaint && p->deletes && next->w == w && next->h == h)
		move_rows(p, next);
	for (int y = 0; y < h; y++) {
		const struct cell *row = y < next->h ? &next->cells[(size_t)y * (size_t)next->w] : NULL;
		struct cell *was = &p->shown.cells[(size_t)y * (size_t)w];
		int cells = row ? n : 0;

		if (!p->repaint && same(row, was, cells))
			continue;
		changed = true;
		put_row(p, y, row, cells);
		if (cells)
			memcpy(was, row, (size_t)cells * sizeof *was);
	}
	if (!changed)
		return false;
	p->changes = !p->repaint;
	if (p->repaint)
		clearok(curscr, TRUE);
	p->repaint = false;
	wnoutrefresh(stdscr);
	doupdate();
	return true;
}

void painter_end(struct painter *p)
{
	endwin();
	p->changes = false;
}

/* Shorten SGR sequences and replace numbered colours by 24-bit ones. Frees bytes. NULL: out of memory. */
static char *shorten(const struct painter *p, char *bytes, size_t *n)
{
	struct sgr s = {p->count ? p->rgb : NULL, p->changes, p->colours >= 256};
	char *out;

	if (!p->ansi)
		return bytes;
	out = malloc(SGR_GROWS * *n);
	if (out)
		*n = sgr_bytes(&s, bytes, *n, out);
	free(bytes);
	return out;
}

/* Take the output of ncurses. NULL: *n is 0 or out of memory. */
static char *written(struct painter *p, size_t *n)
{
	int fd = fileno(p->out);
	off_t size;
	char *bytes;

	fflush(p->out);
	size = lseek(fd, 0, SEEK_CUR);
	*n = size > 0 ? (size_t)size : 0;
	bytes = *n ? malloc(*n) : NULL;
	if (bytes && pread(fd, bytes, *n, 0) != size) {
		free(bytes);
		bytes = NULL;
	}
	lseek(fd, 0, SEEK_SET);
	if (ftruncate(fd, 0) < 0)
		p->repaint = true;
	return bytes;
}

char *painter_bytes(struct painter *p, size_t *n)
{
	char *bytes = written(p, n);

	if (bytes)
		bytes = shorten(p, bytes, n);
	if (!bytes && *n) {
		p->repaint = true; /* out of memory, bytes are missing */
		*n = 0;
	}
	return bytes;
}
