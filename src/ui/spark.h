/* spark: draws columns of minimum, mean and maximum, for every charset and height. */
#ifndef NVMTOP_UI_SPARK_H
#define NVMTOP_UI_SPARK_H

#include "ui/canvas.h"

/* One column of a chart, in the channel's unit. */
struct spark_column {
	double min, mean, max;
	int n;      /* number of values in the mean */
	bool any;   /* false: no samples, nothing is drawn */
	bool notch; /* a short drop that the mean hides, see chart_notches() */
};

/* A value relative to its limits. */
enum alarm { ALARM_NONE, ALARM_WARN, ALARM_CRIT };

struct spark_look {
	enum charset charset;
	enum hue hue;
	double lo, hi;              /* the scale: the lowest and the highest dot */
	double limit;               /* drawn where the chart is blank; NaN: none */
	const unsigned char *level; /* enum alarm of each column, for its colour; or NULL */
};

/* Columns per cell: 2 in braille, else 1. */
int spark_per_cell(enum charset cs);

/* The level (1..levels) of v; 0 only for NaN. */
int spark_level(double v, double lo, double hi, int levels);

/* The shade of line or cell k of n, from the bottom or the left. */
int spark_shade(int k, int n);

/* cols: w * spark_per_cell() columns, oldest first. */
void spark_draw(struct canvas *c, int x, int y, int w, int h, const struct spark_look *look,
		const struct spark_column *cols);

#endif
