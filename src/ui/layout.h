/* layout: computes the rectangles of the screen from its size. */
#ifndef NVMTOP_UI_LAYOUT_H
#define NVMTOP_UI_LAYOUT_H

#include <stdbool.h>

#define LAYOUT_MIN_W 20
#define LAYOUT_MIN_H 5

struct rect {
	int x, y, w, h; /* w or h 0: not shown */
};

struct layout_wish {
	int w, h;
	bool replay; /* with the minimap */
	bool second; /* with a line for the second trace */
	int ranges;  /* lines above the charts */
	bool events; /* with the line of events */
	int panel;   /* lines of the panel at the bottom; 0: none */
	bool compact; /* rows of one line, with statistics beside the value */
	bool solo;   /* one chart over the whole body */
};

struct layout {
	bool solo;  /* as in the wish, if it fits */
	bool small; /* only a message fits */
	struct rect header, limit, second, axis, ranges, body, events, panel, strip, tabs, bar;
	/* Columns, the same for all rows, with y and h of the body; solo: of one chart. */
	struct rect name, value, scale, stats, chart;
};

struct layout layout_screen(const struct layout_wish *wish);

/* A row's share of the lines; other values are allowed. */
enum { WEIGHT_REST = 1, WEIGHT_PART = 3, WEIGHT_MAIN = 6 };

/* Distributes `lines` among n rows by weight. A height is at least 1, and at most 1 up to WEIGHT_REST and
 * 8 up to WEIGHT_PART. */
void layout_rows(const unsigned char *weight, int n, int lines, unsigned char *height);

#endif
