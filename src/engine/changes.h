/* changes: reports changed settings, and sensors that died or came back. */
#ifndef NVMTOP_ENGINE_CHANGES_H
#define NVMTOP_ENGINE_CHANGES_H

#include "probe/probe.h"
#include "engine/sampler.h"

struct changes;

/* samplers[] is indexed by tier, NULL for tiers that are not sampled. Returns NULL if out of memory. */
struct changes *changes_new(const struct probe_set *probes, struct sampler *const *samplers);
void changes_free(struct changes *c);

/* Reports the reasons of missing values in the rows since the last call; part of changes_look(), and to be called before a
 * sink ends. */
void changes_missing(struct changes *c, void (*tell)(void *to, const struct change *c), void *to);
/* Reports reasons again that were reported: a sink was attached. */
void changes_again(struct changes *c);

/* Reports each change since the last call to tell(). Reads the rings: call it before they are emptied. */
void changes_look(struct changes *c, int64_t now_ns, void (*tell)(void *to, const struct change *c),
		  void *to);

#endif
