/* canvas: a grid of cells that views draw on; it knows no terminal. */
#ifndef NVMTOP_UI_CANVAS_H
#define NVMTOP_UI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

#include "util/text.h"

/* What a cell means; term/ decides how that looks with the colours it has. */
enum style {
	STYLE_TEXT,
	STYLE_DIM,		/* statistics, axis, what can wait */
	STYLE_STRONG,		/* the present value */
	STYLE_TITLE,
	STYLE_GPU, STYLE_CPU, STYLE_MEMORY, STYLE_POWER, STYLE_HEAT, STYLE_OTHER,	/* chart: minimum..maximum band */
	STYLE_GPU_MEAN, STYLE_CPU_MEAN, STYLE_MEMORY_MEAN, STYLE_POWER_MEAN, STYLE_HEAT_MEAN, STYLE_OTHER_MEAN,
	STYLE_MARK,		/* a sync mark's line and number */
	STYLE_WARN,		/* nears a limit; an estimate; a gap */
	STYLE_ALERT,		/* passed a limit; was lost */
	STYLE_RECORD,		/* the one red dot */
	STYLE_KEY,		/* a key's name in the key bar */
	STYLE_KEY_TEXT,		/* what it does */
	STYLE_SELECTED,		/* the chosen row of a list */
	STYLE_FRAME,		/* the part in view, on the strip */
	STYLES
};

/* How much the output can show. */
enum charset { CHARSET_ASCII, CHARSET_BLOCKS, CHARSET_BRAILLE };

/* A wide character's right half has ch[0] == 0. */
struct cell {
	wchar_t ch[3];		/* base, then at most one combining mark, then 0 */
	unsigned char style;
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
/* Text in the locale's charset from x on, at most w columns wide, clipped to
 * the canvas; never splits a wide character; control and undecodable bytes
 * become '?'.  Returns the columns used. */
int canvas_text(struct canvas *c, int x, int y, int w, enum style s, const char *text);
int canvas_textf(struct canvas *c, int x, int y, int w, enum style s, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
int canvas_right(struct canvas *c, int x, int y, int w, enum style s, const char *text);	/* right-aligned in w */
/* As plain text, one line a row, trailing blanks cut. */
void canvas_print(const struct canvas *c, FILE *out);

#endif
