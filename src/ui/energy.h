/* energy: energy of power channels in joules. */
#ifndef NVMTOP_UI_ENERGY_H
#define NVMTOP_UI_ENERGY_H

#include "ui/quantity.h"
#include "ui/ui.h"

/* Energy of a power channel between two times; NaN: no samples. */
double energy_joule(const struct ui_scene *s, size_t channel, int64_t from_ns, int64_t to_ns);
/* The time and number of the last mark at or before the playhead; without one the start, and 0. */
int64_t energy_since(struct ui *u, const struct ui_scene *s, uint64_t *id);
enum unit energy_unit(double joule); /* kJ from 100 kJ on */
void energy_text(char out[QUANTITY_TEXT], double joule); /* with its unit */
/* A rail's label; if wider than w columns, without its prefix: "GPU_SOC" for "VDD_GPU_SOC". */
void rail_name(char *out, size_t size, const char *label, int w);

#endif
