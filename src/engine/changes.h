/* changes: how the machine is set, and which sensors answer, as far as it becomes another
 * than it was. */
#ifndef NVMTOP_ENGINE_CHANGES_H
#define NVMTOP_ENGINE_CHANGES_H

#include "probe/probe.h"
#include "engine/sampler.h"

struct changes;

/* samplers: by tier, NULL where there is none. Returns NULL if out of memory. */
struct changes *changes_new(const struct probe_set *probes, struct sampler *const *samplers);
void changes_free(struct changes *c);

/* Report each change since the last call. Reads the rings: call it before they are emptied. */
void changes_look(struct changes *c, int64_t now_ns, void (*tell)(void *to, const struct change *c),
		  void *to);

#endif
