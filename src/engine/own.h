/* own: what nvmtop itself costs and misses, as channels of the rig it samples. */
#ifndef ENGINE_OWN_H
#define ENGINE_OWN_H

#include "nvmtop/probe.h"

struct own;

/* The one that engine_own_channels() put into the rig, or NULL. */
struct own *own_find(const struct rig *r);

/* What its next read stores.  From one thread; NaN: not known. */
void own_publish(struct own *o, double cpu_percent, uint64_t late, uint64_t lost);

#endif
