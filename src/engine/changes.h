/* changes: reports changed settings, and sensors that died or came back. */
#ifndef NVMTOP_ENGINE_CHANGES_H
#define NVMTOP_ENGINE_CHANGES_H

#include "probe/probe.h"
#include "engine/sampler.h"

typedef void change_fn(void *to, const struct change *c);

struct changes;

/* samplers[] is indexed by tier, NULL for tiers that are not sampled. Returns NULL if out of memory. */
struct changes *changes_new(const struct probe_set *probes, struct sampler *const *samplers);
void changes_free(struct changes *c);

/* Reports each change since the last call. Reads the rings: call it before they are emptied. */
void changes_look(struct changes *c, int64_t now_ns, change_fn *tell, void *to);
/* The part that is to be called before a sink ends: reports the reasons of missing values in the rows since the last
 * call. */
void changes_look_missing(struct changes *c, change_fn *tell, void *to);
/* Reports reasons again that were reported: a sink begins. */
void changes_again(struct changes *c);

#endif
