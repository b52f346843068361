/* watch: what the collecting thread keeps an eye on: is it warm, what does it cost. */
#ifndef NVMTOP_ENGINE_WARM_UP_H
#define NVMTOP_ENGINE_WARM_UP_H

#include "probe/probe.h"
#include "engine/sampler.h"

struct warm_up {
	const struct probe_set *probes;
	struct sampler *const *samplers; /* by tier; NULL where there is none */
	int64_t since_ns;
	bool has_row[TIERS], cpu_warm;
	int64_t cpu_since_ns, cpu_used_ns;
};

void warm_up_begin(struct warm_up *w, const struct probe_set *probes, struct sampler *const *samplers,
		   int64_t now_ns);

/* Has every tier a row, and does each CPU figure cover its window? Reads the rings: call it before they
 * are emptied. */
bool warm_up_done(struct warm_up *w, int64_t now_ns);

/* Percent of one core that the process used, once a second; NaN in between. */
double warm_up_cpu(struct warm_up *w, int64_t now_ns);

#endif
