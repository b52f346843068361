/* frame: the state of one frame, and what the mouse refers to in it. */
#ifndef NVMTOP_UI_FRAME_H
#define NVMTOP_UI_FRAME_H

#include "ui/chart.h"
#include "ui/keys.h"
#include "ui/viewport.h"

/* A clickable area of one line. */
struct hit {
	int x, y, w;
	key_handler *handler;
	int arg;
};
#define HITS_MAX 40

/* State of the last frame. */
struct frame {
	int w, h;     /* of the screen */
	int64_t tick; /* changes when values are to be read again */
	int below;    /* rows that do not fit */
	bool more;    /* the view has work for ui_advance() */
	bool trial;   /* it asks whether a change is kept */
	char alarm[192];
	struct hit hits[HITS_MAX];
	int n_hits;
	struct chart_axis axis;
	struct gap gaps[GAPS_MAX];
	struct mark marks[MARKS_MAX];
	size_t n_marks;
	bool mark_lines;                  /* marks are few enough to draw through the charts */
	unsigned char mark_at[CELLS_MAX]; /* 1: a mark's line */
	/* Of the last row read: */
	struct bin bins[CHART_BINS(COLUMNS_MAX)];
	struct spark_column columns[COLUMNS_MAX];
	unsigned char level[COLUMNS_MAX]; /* enum alarm, of columns */
};

void hit_add(struct ui *u, int x, int y, int w, key_handler *handler, int arg);

/* Dragging in the charts: the bounds of the cell in which it began. */
struct drag {
	bool on;
	int64_t from_ns, to_ns;
};

void mouse_event(struct ui *u, const struct ui_scene *s, const struct event *ev, struct request *r);

#endif
