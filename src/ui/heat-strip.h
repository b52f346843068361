/* heat-strip: many signals over time, each in half a line or more, coloured by value. */
#ifndef NVMTOP_UI_HEAT_STRIP_H
#define NVMTOP_UI_HEAT_STRIP_H

#include "ui/rows.h"

#define HEAT_HALF 0x2580 /* upper half block; the lower half shows the background colour */

/* How n signals share a strip. A unit is half a line; in ASCII, a line. */
struct heat_fit {
	int units; /* per band */
	int per;   /* signals per band, which shows the highest of them */
	int bands;
	int lines; /* used */
};
struct heat_fit heat_fit(int n, int lines, bool ascii);

/* Draws the strip in the columns of the chart, and the values left of it. at: over the full screen width. */
void heat_strip_draw(struct ui *u, const struct ui_scene *s, struct canvas *c, const struct rect *at,
		     const size_t *channels, int n);

#endif
