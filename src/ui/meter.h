/* meter: a value as a horizontal bar. */
#ifndef NVMTOP_UI_METER_H
#define NVMTOP_UI_METER_H

#include "ui/canvas.h"
#include "ui/spark.h"

/* Draws a bar of w cells, filled to `part` (0..1; NaN: empty). The hue brightens towards the end; an alarm
 * replaces it. */
void meter_draw(struct canvas *c, enum charset charset, int x, int y, int w, double part, enum hue hue,
		enum alarm alarm);

#endif
