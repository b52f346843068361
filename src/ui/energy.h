/* energy: joules of power channels. */
#ifndef NVMTOP_UI_ENERGY_H
#define NVMTOP_UI_ENERGY_H

#include "ui/ui.h"

/* Joules of a power channel between two moments; NaN: nothing was measured. */
double energy_joule(struct ui *u, const struct ui_scene *s, size_t channel, int64_t from_ns, int64_t to_ns);
/* The time and number of the last mark at or before the playhead; -1: there is none. */
int64_t energy_mark(struct ui *u, const struct ui_scene *s, uint64_t *id);

#endif
