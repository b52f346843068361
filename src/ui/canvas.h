/* canvas: a grid of cells that views draw on; it knows no terminal. */
#ifndef NVMTOP_UI_CANVAS_H
#define NVMTOP_UI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

#include "util/text.h"

/* The colours of charts: the families of channels, and what stands out in any of them. */
enum hue { HUE_GPU, HUE_CPU, HUE_MEMORY, HUE_POWER, HUE_HEAT, HUE_OTHER, HUE_WARN, HUE_ALERT, HUES };

#define SHADES 8 /* of a hue, from the foot of a chart to its top */

/* What a cell means; term/ decides how that looks with the colours of the terminal. */
enum style {
	STYLE_TEXT,
	STYLE_DIM,		/* statistics, axis, labels */
	STYLE_STRONG,		/* the present value */
	STYLE_TITLE,
	STYLE_GPU, STYLE_CPU, STYLE_MEMORY, STYLE_POWER, STYLE_HEAT, STYLE_OTHER,	/* a family's name */
	STYLE_MARK,		/* a sync mark's line and number */
	STYLE_WARN,		/* nears a limit; an estimate; a gap */
	STYLE_ALERT,		/* passed a limit; was lost */
	STYLE_RECORD,		/* the dot of a recording */
	STYLE_KEY,		/* a key's name in the key bar */
	STYLE_KEY_TEXT,		/* what it does */
	STYLE_SELECTED,		/* the selected row of a list */
	STYLE_FRAME,		/* the part in view, on the strip */
	STYLE_BORDER,		/* the line around a panel */
	STYLE_TRACK,		/* the empty part of a bar */
	STYLE_LIMIT,		/* a limit's line in a chart */
	STYLE_TAB,		/* the tab of the view that is shown */
	STYLE_BANNER, STYLE_BANNER_STRONG,	/* the line that says what is wrong; painted */
	STYLE_SHADES,		/* the first of those of charts and bars */
	STYLES = STYLE_SHADES + 2 * HUES * SHADES
};

/* Colours of charts: bright for the mean, dim for the band up to the maximum; shade: 0..SHADES - 1. */
#define STYLE_MEAN(hue, shade) ((enum style)(STYLE_SHADES + 2 * SHADES * (int)(hue) + (shade)))
#define STYLE_BAND(hue, shade) ((enum style)(STYLE_SHADES + 2 * SHADES * (int)(hue) + SHADES + (shade)))

/* How much the output can show. */
enum charset { CHARSET_ASCII, CHARSET_BLOCKS, CHARSET_BRAILLE };

/* A blank that is nothing but the colour behind it. */
#define CELL_PAINTED 0xA0

/* A wide character's right half has ch[0] == 0. */
struct cell {
	wchar_t ch[3];		/* base, then at most one combining mark, then 0 */
	unsigned char style;
	unsigned char back;	/* 0: the ground; else the style whose colour lies behind the character */
};

struct canvas {
	int w, h;
	struct cell *cells;	/* h * w, row by row */
};

int canvas_resize(struct canvas *c, int w, int h);	/* 0..1000 each; cleared; -1: out of memory */
void canvas_free(struct canvas *c);
void canvas_clear(struct canvas *c);
/* One cell; outside the canvas is ignored. */
void canvas_put(struct canvas *c, int x, int y, enum style s, wchar_t ch);
/* The same, on the colour of another style. */
void canvas_put_on(struct canvas *c, int x, int y, enum style s, enum style back, wchar_t ch);
/* Text in the locale's charset from x on, at most w columns wide, clipped to
 * the canvas; never splits a wide character; control and undecodable bytes
 * become '?'.  Returns the columns used. */
int canvas_text(struct canvas *c, int x, int y, int w, enum style s, const char *text);
int canvas_textf(struct canvas *c, int x, int y, int w, enum style s, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
int canvas_right(struct canvas *c, int x, int y, int w, enum style s, const char *text);	/* right-aligned in w */
/* The character that says without colours what the cell says with them: a band is a lighter shade
 * than a mean, the empty part of a bar is dots. */
wchar_t cell_plain(const struct cell *p);
/* Whether cells x..x+w-1 are blank; those outside the canvas are. */
bool canvas_is_blank(const struct canvas *c, int x, int y, int w);
/* As plain text, one line a row, trailing blanks cut. */
void canvas_print(const struct canvas *c, FILE *out);

#endif
