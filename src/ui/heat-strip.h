/* heat-strip: many signals over time, each half a line or more, coloured by its value. */
#ifndef NVMTOP_UI_HEAT_STRIP_H
#define NVMTOP_UI_HEAT_STRIP_H

#include "ui/rows.h"

#define HEAT_HALF 0x2580 /* the upper half in the character's colour, the lower one in that behind it */

/* How n signals share a strip. A unit is half a line, in ASCII a line. */
struct heat_fit {
	int units; /* of a band */
	int per;   /* signals in a band, which shows the highest of them */
	int bands;
	int lines; /* used, at most those given */
};
struct heat_fit heat_fit(int n, int lines, bool ascii);

/* Draws the strip at the chart's columns, and the values left of it. at: the whole width of the screen. */
void heat_strip_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *at,
		     const size_t *channels, int n);

#endif
