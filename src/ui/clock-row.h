/* clock-row: the chart of a clock, with the limit that is set for it. */
#ifndef NVMTOP_UI_CLOCK_ROW_H
#define NVMTOP_UI_CLOCK_ROW_H

#include "ui/rows.h"

/* Adds the row of a clock: below its name whether it is held, its limits and its governor; in its chart amber
 * where it is at a limit below its highest clock, and red where it is throttled. */
struct row *clock_row(struct row_list *l, size_t channel, int weight);

#endif
