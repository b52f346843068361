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
	bool alarm;  /* wants the line below the header */
	bool events; /* wants the line below the charts */
	int table;   /* columns of a table between value and statistics; 0: none */
	bool solo;   /* one chart over all of it */
};

struct layout {
	bool solo;  /* as it was wished for */
	bool small; /* nothing fits but one line that says so */
	struct rect header, alarm, second, axis, body, events, strip, tabs, bar;
	/* Columns, the same for every row; their y and h are the body's. */
	struct rect name, value, table, stats, chart;
};

struct layout layout_screen(const struct layout_wish *wish);

/* What a row is worth when there are lines to give away. */
enum row_rank { RANK_MAIN, RANK_PART, RANK_REST };

/* Share out `lines` among n rows: every height is at least 1; the ones that
 * matter grow first, and nothing grows while a summary row would be pushed out. */
void layout_rows(const unsigned char *rank, int n, int lines, unsigned char *height);

#endif
