/* minimap: the whole recording in two lines, under the columns of the charts. */
#ifndef NVMTOP_UI_MINIMAP_H
#define NVMTOP_UI_MINIMAP_H

#include "ui/chart.h"
#include "ui/quantity.h"

struct ui;
struct ui_scene;
struct canvas;

/* A trace does not change, so this is kept from one picture to the next. */
struct minimap {
	bool kept; /* dots and scale are those of the members that follow */
	int channel, zoom, n;
	int64_t first, last_ns;
	struct scale scale;
	struct spark_column dots[COLUMNS_MAX];
	int64_t throttled_last_ns;
	int throttled_w;
	unsigned char throttled[CELLS_MAX]; /* 1: a cell in which something was throttled */
};

void minimap_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);

#endif
