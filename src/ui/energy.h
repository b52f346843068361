/* energy: energy of power channels in joules. */
#ifndef NVMTOP_UI_ENERGY_H
#define NVMTOP_UI_ENERGY_H

#include "model/energy.h"
#include "ui/quantity.h"
#include "ui/range-stats.h"
#include "ui/ui.h"

/* Energy of a power channel between two times; NaN: no samples. */
double energy_joule(const struct ui_scene *s, size_t channel, int64_t from_ns, int64_t to_ns);
/* The total power of the session, or the sum of its parts: of a sum only mean, covered time and energy. */
void power_span(struct timeline *t, const struct power_parts *p, int64_t from_ns, int64_t to_ns, struct span *out);
/* The time and number of the last mark at or before the playhead; without one the start, and 0. */
int64_t energy_since(struct ui *u, const struct ui_scene *s, uint64_t *id);
enum unit energy_unit(double joule); /* kJ from 100 kJ on */
void energy_text(char out[QUANTITY_TEXT], double joule); /* with its unit */
/* A rail's label; if wider than w columns, without its prefix: "GPU_SOC" for "VDD_GPU_SOC". */
void rail_name(char *out, size_t size, const char *label, int w);

#endif
