/* canvas: a grid of cells that views draw on, independent of the terminal. */
#ifndef NVMTOP_UI_CANVAS_H
#define NVMTOP_UI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

#include "util/text.h"

/* Chart colours: one per family of channels, and two for warnings in any family. */
enum hue { HUE_GPU, HUE_CPU, HUE_MEMORY, HUE_POWER, HUE_HEAT, HUE_OTHER, HUE_WARN, HUE_ALERT, HUES };

#define SHADES 8 /* per hue, from the bottom of a chart to its top */

/* What a cell means; term/ maps it to the colours of the terminal. */
enum style {
	STYLE_TEXT,
	STYLE_DIM,		/* statistics, axis, labels */
	STYLE_STRONG,		/* the current value */
	STYLE_TITLE,
	STYLE_GPU, STYLE_CPU, STYLE_MEMORY, STYLE_POWER, STYLE_HEAT, STYLE_OTHER,	/* a family's name */
	STYLE_MARK,		/* a sync mark's line and number */
	STYLE_WARN,		/* near a limit; an estimate; a gap */
	STYLE_ALERT,		/* past a limit; lost data */
	STYLE_RECORD,		/* the dot of a recording */
	STYLE_KEY,		/* a key's name in the key bar */
	STYLE_KEY_TEXT,		/* the key's action */
	STYLE_SELECTED,		/* the selected row of a list */
	STYLE_FRAME,		/* the viewport on the minimap */
	STYLE_BORDER,		/* the border of a panel */
	STYLE_TRACK,		/* the empty part of a bar */
	STYLE_LIMIT,		/* a limit's line in a chart */
	STYLE_TAB,		/* the tab of the current view */
	STYLE_BANNER, STYLE_BANNER_STRONG,	/* an alarm, on a coloured background */
	STYLE_SHADES,		/* the first colour of charts and bars */
	STYLES = STYLE_SHADES + 2 * HUES * SHADES
};

/* Chart colours: bright for the mean, dim for the band up to the maximum; shade: 0..SHADES - 1. */
#define STYLE_MEAN(hue, shade) ((enum style)(STYLE_SHADES + 2 * SHADES * (int)(hue) + (shade)))
#define STYLE_BAND(hue, shade) ((enum style)(STYLE_SHADES + 2 * SHADES * (int)(hue) + SHADES + (shade)))

/* The characters that the output can show. */
enum charset { CHARSET_ASCII, CHARSET_BLOCKS, CHARSET_BRAILLE };

/* A blank in the colour behind it. */
#define CELL_PAINTED 0xA0

/* The right half of a wide character has ch[0] == 0. */
struct cell {
	wchar_t ch[3];		/* base, then at most one combining mark, then 0 */
	unsigned char style;
	unsigned char back;	/* the style whose colour is the background; 0: the default background */
};

struct canvas {
	int w, h;
	struct cell *cells;	/* h * w, row by row */
};

int canvas_resize(struct canvas *c, int w, int h);	/* 0..1000 each; cleared; -1: out of memory */
void canvas_free(struct canvas *c);
void canvas_clear(struct canvas *c);
/* Sets one cell; ignored outside the canvas. */
void canvas_put(struct canvas *c, int x, int y, enum style s, wchar_t ch);
/* The same, with the colour of style `back` as the background. */
void canvas_put_on(struct canvas *c, int x, int y, enum style s, enum style back, wchar_t ch);
/* Draws text in the locale's charset at x, clipped to w columns and to the canvas. Never splits a wide
 * character; control and undecodable bytes become '?'. Returns the columns used. */
int canvas_text(struct canvas *c, int x, int y, int w, enum style s, const char *text);
int canvas_textf(struct canvas *c, int x, int y, int w, enum style s, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
int canvas_right(struct canvas *c, int x, int y, int w, enum style s, const char *text);	/* right-aligned in w */
/* The cell for an output that has no colours, or one or two tones a hue: the empty part of a bar is dots, an idle part
 * of a heat strip is blank, and with less than two tones a band is a lighter shade than a mean. */
struct cell cell_plain(struct cell c, int tones);
/* Returns true if cells x..x+w-1 are blank; cells outside the canvas are. */
bool canvas_is_blank(const struct canvas *c, int x, int y, int w);
/* Writes plain text, one line per row, without trailing blanks. */
void canvas_print(const struct canvas *c, FILE *out);

#endif
