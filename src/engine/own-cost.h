/* own: the cost and losses of nvmtop itself, as channels of the probe set that it samples. */
#ifndef NVMTOP_ENGINE_OWN_COST_H
#define NVMTOP_ENGINE_OWN_COST_H

#include <stdatomic.h>

#include "engine/sampler.h"

struct own {
	struct probe probe;
	const struct probe_set *probes;
	const struct sampler *sampler;     /* set before it starts */
	atomic_uint_least64_t lost;        /* rows that outputs could not keep */
	_Atomic double cpu;                /* percent of one core over the last second; NaN at first */
	int64_t cpu_since_ns, cpu_used_ns; /* at the last measurement; since 0: none yet */
};

/* Returns the probe that engine_own_channels() added to the probe set, or NULL. */
struct own *own_find(const struct probe_set *r);

#endif
