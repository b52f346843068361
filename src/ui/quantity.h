/* quantity: numbers as people read them, and scales that end on round ones. */
#ifndef NVMTOP_UI_QUANTITY_H
#define NVMTOP_UI_QUANTITY_H

#include "model/channel.h"

/* Long enough for every text of this header. */
#define QUANTITY_TEXT 32

/* Units of the screen alone, beyond those of channels. */
#define QUANTITY_MIB   ((enum unit)UNITS)       /* of kB */
#define QUANTITY_KJ    ((enum unit)(UNITS + 1)) /* of J */
#define QUANTITY_UNITS (UNITS + 2)

/* What a channel's values are shown in, now that it is at v: that of the channel,
 * unless its numbers would all be 0.0 or have no room. */
enum unit quantity_of(const struct channel *ch, double v);

/* The unit that the screen uses: "%", "MHz", "GiB", "W", "C", ... */
const char *quantity_unit(enum unit u);

/* v (in the channel's unit) as a number without unit, at most `width` columns
 * wide: a decimal is dropped before the width is passed.  "--" for NaN. */
void quantity_text(char out[QUANTITY_TEXT], enum unit u, double v, int width);

/* Several of one signal that stand side by side, each at most `width` columns wide and
 * all with the same decimals, so that a mean never looks larger than the maximum
 * beside it.  Counts that are whole stay without. */
void quantity_alike(char (*out)[QUANTITY_TEXT], enum unit u, const double *v, int n, int width);

/* The same for a round number, such as the end of a scale: no decimals that are 0. */
void quantity_round(char out[QUANTITY_TEXT], enum unit u, double v);

/* Is it one by which people count: 1, 2 or 5 (or 25) and zeros, in the unit that is shown? */
bool quantity_is_step(enum unit u, double step);

/* Bytes: "812 kB", "81 MB", "1.2 GB". */
void quantity_bytes(char out[QUANTITY_TEXT], uint64_t bytes);

/* A time span: "12.345", "1:23.4", "2:01:07"; precise to step_ns, 0: whole seconds. */
void quantity_clock(char out[QUANTITY_TEXT], int64_t ns, int64_t step_ns);

/* The same with its unit where the colons do not say it: "12.345 s", "1:23.4". */
void quantity_time(char out[QUANTITY_TEXT], int64_t ns, int64_t step_ns);

/* The range that a chart shows. */
struct scale {
	double lo, hi;
	bool set;
};

/* Fit the scale of a channel to what is in view, min..max (NaN: nothing is).
 * A natural range stays as it is.  Otherwise it grows at once to the next round
 * number and shrinks only when less than half is used, so it does not flutter. */
void scale_fit(struct scale *s, const struct channel *ch, double min, double max);

#endif
