/* events: the line of events below the charts. */
#ifndef NVMTOP_UI_EVENTS_H
#define NVMTOP_UI_EVENTS_H

#include "ui/chart.h"

struct ui;
struct ui_scene;
struct canvas;

bool events_wanted(const struct ui *u, const struct ui_scene *s);
void events_draw(struct ui *u, const struct ui_scene *s, struct canvas *c);
/* Sets out[0..axis->n): 1 in the columns with throttling, notices or over-currents of a channel, or (SIZE_MAX) with any but
 * notices; times of the timeline are shifted by shift_ns. Returns how many there were. */
uint64_t events_columns(struct timeline *t, size_t channel, const struct chart_axis *axis, int64_t shift_ns, unsigned char *out);
/* The label of a channel; for throttling the unit that is slowed: "cpu" for "cpu-throttle-alert". */
void events_name(char out[32], const struct channel *ch);
/* Returns true if a gap is long enough to be shown at cell_ns per cell. */
bool events_gap(const struct gap *g, int64_t cell_ns);

#endif
