/* watch: what the collecting thread keeps an eye on: is it warm, what does it cost. */
#ifndef ENGINE_WATCH_H
#define ENGINE_WATCH_H

#include "nvmtop/probe.h"
#include "sampler/sampler.h"

struct watch {
	const struct rig *rig;
	struct sampler *const *samplers; /* by tier; NULL where there is none */
	int64_t since_ns;
	bool has_row[TIERS], cpu_warm;
	int64_t cpu_since_ns, cpu_used_ns;
};

void watch_begin(struct watch *w, const struct rig *rig, struct sampler *const *samplers, int64_t now_ns);

/* Has every tier a row, and each CPU figure its window behind it?  Looks at
 * what is in the rings: call it before they are emptied. */
bool watch_warm(struct watch *w, int64_t now_ns);

/* Percent of one core that the process used, once a second; NaN in between. */
double watch_cpu(struct watch *w, int64_t now_ns);

#endif
