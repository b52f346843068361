/* meter: a value as a horizontal bar. */
#ifndef NVMTOP_UI_METER_H
#define NVMTOP_UI_METER_H

#include "ui/canvas.h"
#include "ui/spark.h"

/* A bar over w cells of which `part` (0..1; NaN: an empty bar) is filled; the hue brightens towards
 * its end, unless the alarm gives it another. */
void meter_draw(struct canvas *c, enum charset charset, int x, int y, int w, double part, enum hue hue,
		enum alarm alarm);

#endif
