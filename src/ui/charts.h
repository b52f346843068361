/* charts: draws the rows of a view under one time axis. */
#ifndef NVMTOP_UI_CHARTS_H
#define NVMTOP_UI_CHARTS_H

#include "ui/rows.h"

void charts_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);
void charts_move(struct ui *u, const struct ui_scene *s, enum move how, int by);
/* The row at line y of the screen, or -1. */
int charts_row_at(const struct ui *u, int y);

/* row-draw.c: one row. */
void row_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row, int y, int h,
	      bool chosen);
/* A value and its unit, in the same columns in all rows. */
void row_number(struct ui *u, struct canvas *c, enum alarm alarm, double v, enum unit unit, enum style style,
		int y);
/* A row over the whole body. */
void row_draw_solo(struct ui *u, const struct ui_scene *s, struct canvas *c, struct row *row);
int row_text_lines(const struct ui *u, const struct row *row, int screen_w);

/* axis.c: the time axis and the lines of marks. */
void axis_prepare(struct ui *u, const struct ui_scene *s);
void axis_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);
void axis_lines(struct ui *u, struct canvas *c, int y, int h);
void axis_second_lines(struct ui *u, struct canvas *c, int y, int h); /* marks of the second trace */

#endif
