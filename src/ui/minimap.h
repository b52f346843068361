/* minimap: the whole recording in two lines below the charts. */
#ifndef NVMTOP_UI_MINIMAP_H
#define NVMTOP_UI_MINIMAP_H

#include "ui/chart.h"
#include "ui/quantity.h"

struct ui;
struct ui_scene;
struct canvas;

/* Kept between frames, as a trace does not change. */
struct minimap {
	bool kept; /* dots and scale are valid for the members that follow */
	int channel, zoom, n;
	int64_t first, last_ns;
	struct scale scale;
	struct spark_column dots[COLUMNS_MAX];
	int64_t throttled_last_ns;
	int throttled_w;
	unsigned char throttled[CELLS_MAX]; /* 1: something was throttled in the cell */
};

void minimap_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

#endif
