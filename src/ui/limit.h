/* limit: what keeps the machine from going faster. */
#ifndef NVMTOP_UI_LIMIT_H
#define NVMTOP_UI_LIMIT_H

#include "model/timeline.h"

/* In order of precedence: of several limits the last one is named. */
enum limit_kind {
	LIMIT_UNKNOWN, /* neither GPU nor CPU nor EMC is read */
	LIMIT_NONE,
	LIMIT_MEMORY,
	LIMIT_IO,
	LIMIT_CORE,
	LIMIT_GPU,
	LIMIT_EMC,
	LIMIT_POWER,
	LIMIT_HEAT,
};

/* Texts are UTF-8, translated, and may contain the middle dot and the degree sign. */
struct limit {
	enum limit_kind kind;
	bool alarm;          /* heat or power */
	char what[32];       /* "heat", "power", "EMC", "GPU", "cpu7", "CPU", "io", "memory", "none" */
	char text[192];      /* "97 % busy over the last second · clock 1122 of 1300 MHz" */
	char short_text[96]; /* the same in 52 columns */
	const char *view;    /* the view with the signals behind it: "thermal", "power", "memory", "gpu",
			      * "cpu", "board"; NULL if there is none */
};

/* Finds the limit in the second that ends at at_ns; earlier samples are read for hysteresis and duration.
 * A few dozen calls of columns(): fast enough for every frame. */
void limit_find(struct timeline *t, int64_t at_ns, struct limit *out);

#endif
