/* own: the cost and losses of nvmtop itself, as channels of the probe set that it samples. */
#ifndef NVMTOP_ENGINE_OWN_COST_H
#define NVMTOP_ENGINE_OWN_COST_H

#include "probe/probe.h"

struct own;

/* Returns the probe that engine_own_channels() added to the probe set, or NULL. */
struct own *own_find(const struct probe_set *r);

/* Sets what the next read stores. Call from one thread only. */
enum own_value { OWN_CPU, OWN_LATE, OWN_LATE_READINGS, OWN_LOST, OWN_VALUES };
void own_publish(struct own *o, const double values[OWN_VALUES]);

#endif
