/* layout: sizes to rectangles, and nothing else. */
#ifndef NVMTOP_UI_LAYOUT_H
#define NVMTOP_UI_LAYOUT_H

#include <stdbool.h>

#define LAYOUT_MIN_W 20
#define LAYOUT_MIN_H 5

struct rect {
	int x, y, w, h; /* w or h 0: it is not shown */
};

struct layout_wish {
	int w, h;
	bool replay; /* wants the strip */
	bool second; /* wants one for the trace beside */
	int ranges;  /* lines above the charts */
	bool events; /* wants the line below the charts */
	int panel;   /* lines of the panel at the foot; 0: none */
	bool compact; /* rows of one line, with their statistics beside them */
	bool solo;   /* one chart over all of it */
};

struct layout {
	bool solo;  /* as it was wished for */
	bool small; /* nothing fits but one line that says so */
	struct rect header, limit, second, axis, ranges, body, events, panel, strip, tabs, bar;
	/* Columns, the same for every row; their y and h are the body's. */
	struct rect name, value, scale, stats, chart;
};

struct layout layout_screen(const struct layout_wish *wish);

/* A row's share of the lines; any other number will do as well. */
enum { WEIGHT_REST = 1, WEIGHT_PART = 3, WEIGHT_MAIN = 6 };

/* Share out `lines` among n rows by their weights: every height is at least 1, those of
 * WEIGHT_REST are at most 1, and those up to WEIGHT_PART at most 8. */
void layout_rows(const unsigned char *weight, int n, int lines, unsigned char *height);

#endif
