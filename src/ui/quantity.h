/* quantity: values as text, and scales that end on round numbers. */
#ifndef NVMTOP_UI_QUANTITY_H
#define NVMTOP_UI_QUANTITY_H

#include "model/channel.h"

/* large enough for every text in this header */
#define QUANTITY_TEXT 32

/* Units used only on the screen, in addition to those of channels. */
#define QUANTITY_MIB   ((enum unit)UNITS)       /* of kB */
#define QUANTITY_KJ    ((enum unit)(UNITS + 1)) /* of J */
#define QUANTITY_UNITS (UNITS + 2)

/* The display unit of a channel at value v: the unit of the channel, unless its numbers would
 * all be 0.0 or too wide. */
enum unit quantity_of(const struct channel *ch, double v);

/* The unit as shown on the screen: "%", "MHz", "GiB", "W", "C", ... */
const char *quantity_unit(enum unit u);

/* Format v (in the channel's unit) without unit in at most `width` columns, with fewer decimals
 * if needed. "--" for NaN. */
void quantity_text(char out[QUANTITY_TEXT], enum unit u, double v, int width);

/* Format several values of one signal with the same decimals, each in at most `width` columns,
 * so that a mean never looks larger than the maximum next to it. Integer counts have no
 * decimals. */
void quantity_alike(char (*out)[QUANTITY_TEXT], enum unit u, const double *v, int n, int width);

/* As quantity_text(), for round numbers such as scale ends: drop trailing zero decimals. */
void quantity_round(char out[QUANTITY_TEXT], enum unit u, double v);

/* Whether step is 1, 2, 5 or 25 times a power of ten in the displayed unit. */
bool quantity_is_step(enum unit u, double step);

/* Bytes: "812 kB", "81 MB", "1.2 GB". */
void quantity_bytes(char out[QUANTITY_TEXT], uint64_t bytes);

/* A duration: "12.345", "1:23.4", "2:01:07"; precise to step_ns, 0: whole seconds. */
void quantity_clock(char out[QUANTITY_TEXT], int64_t ns, int64_t step_ns);

/* As quantity_clock(), with the unit if there is no colon: "12.345 s", "1:23.4". */
void quantity_time(char out[QUANTITY_TEXT], int64_t ns, int64_t step_ns);
/* How long a state lasted, to the nearest tenth of a second below a minute, and millisecond below that: "0.020 s", "3.6 s",
 * "1:23". */
void quantity_lasted(char out[QUANTITY_TEXT], int64_t ns);

/* The range of a chart. */
struct scale {
	double lo, hi;
	bool set;
};

/* Fit the scale of a channel to the values in view, min..max (NaN: none). A natural range stays
 * as it is. Any other scale grows at once to the next round number and shrinks only when less
 * than half is used, so that it does not flicker. */
void scale_fit(struct scale *s, const struct channel *ch, double min, double max);

#endif
