/* spark: columns of {min, mean, max} to glyphs, for every charset and height. */
#ifndef NVMTOP_UI_SPARK_H
#define NVMTOP_UI_SPARK_H

#include "ui/canvas.h"

/* One column of a chart, in the channel's unit. */
struct spark_column {
	double min, mean, max;
	int n;      /* of parts that the mean is of */
	bool any;   /* false: nothing was measured; nothing is drawn */
	bool notch; /* a short drop that the mean hides: see chart_notches() */
};

/* How a value stands to its limits. */
enum alarm { ALARM_NONE, ALARM_WARN, ALARM_CRIT };

struct spark_look {
	enum charset charset;
	enum hue hue;
	double lo, hi;              /* the scale: lo is the lowest dot, hi the highest */
	double limit;               /* its line is drawn where the chart is blank; NaN: none */
	const unsigned char *level; /* NULL, or an enum alarm for each column: its colour */
};

/* How many columns stand in one cell: 2 in braille, else 1. */
int spark_per_cell(enum charset cs);

/* Which of `levels` levels (1..levels) shows v; 0 only for NaN. */
int spark_level(double v, double lo, double hi, int levels);

/* The shade of a line of a chart or of a cell of a bar: the k-th of n from the foot. */
int spark_shade(int k, int n);

/* cols holds w * spark_per_cell() columns, oldest first. */
void spark_draw(struct canvas *c, int x, int y, int w, int h, const struct spark_look *look,
		const struct spark_column *cols);

#endif
