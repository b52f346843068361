/* clock-row: the row of a clock, with its limit in the chart. */
#ifndef NVMTOP_UI_CLOCK_ROW_H
#define NVMTOP_UI_CLOCK_ROW_H

#include "ui/rows.h"

/* Adds the row of a clock. Notes below its name give its limits, its governor and whether it is held. Its
 * chart is amber at a limit below the hardware's maximum, and red if throttled. */
struct row *clock_row(struct row_list *l, size_t channel, int weight);

#endif
