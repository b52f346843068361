/* own: what nvmtop itself costs and misses, as channels of the probe set it samples. */
#ifndef NVMTOP_ENGINE_OWN_COST_H
#define NVMTOP_ENGINE_OWN_COST_H

#include "probe/probe.h"

struct own;

/* The one that engine_own_channels() put into the probe set, or NULL. */
struct own *own_find(const struct probe_set *r);

/* What its next read stores.  From one thread; NaN: not known. */
void own_publish(struct own *o, double cpu_percent, uint64_t late, uint64_t lost);

#endif
