/* own: the cost and losses of nvmtop itself, as channels of the probe set that it samples. */
#ifndef NVMTOP_ENGINE_OWN_COST_H
#define NVMTOP_ENGINE_OWN_COST_H

#include "probe/probe.h"

struct own;

/* Returns the probe that engine_own_channels() added to the probe set, or NULL. */
struct own *own_find(const struct probe_set *r);

/* Sets what the next read stores; a cpu_percent of NaN leaves the previous one. Call from one thread only. */
void own_publish(struct own *o, double cpu_percent, uint64_t late, uint64_t late_readings, uint64_t lost);

#endif
