/* meter: a bar for a current value.
 *
 * The empty part is drawn too, so that a bar shows its scale without a number. */
#include "ui/meter.h"

#include <math.h>

#define SQUARE 0x25A0

void meter_draw(struct canvas *c, enum charset charset, int x, int y, int w, double part, enum hue hue,
		enum alarm alarm)
{
	int full = isnan(part) || part <= 0 ? 0 : part >= 1 ? w : (int)lround(part * w);

	/* A small value is visible too. */
	if (!full && part > 0.005)
		full = 1;
	if (alarm)
		hue = alarm == ALARM_CRIT ? HUE_ALERT : HUE_WARN;
	for (int i = 0; i < w; i++) {
		bool on = i < full;

		canvas_put(c, x + i, y, on ? STYLE_MEAN(hue, spark_shade(i, w)) : STYLE_TRACK,
			   charset == CHARSET_ASCII ? (on ? L'#' : L'.') : (wchar_t)SQUARE);
	}
}
