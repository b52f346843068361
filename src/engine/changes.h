/* changes: reports changed settings, and sensors that died or came back. */
#ifndef NVMTOP_ENGINE_CHANGES_H
#define NVMTOP_ENGINE_CHANGES_H

#include "engine/sampler.h"

typedef void change_fn(void *to, const struct change *c);

struct changes;

/* The caller frees it with free(). Returns NULL if out of memory. */
struct changes *changes_new(const struct probe_set *probes, const struct sampler *sampler);

/* Reports what has changed since the last call. Reads the rings: call it before rows are released. */
void changes_look(struct changes *c, int64_t now_ns, change_fn *tell, void *to);
/* Reports reasons again that were reported: a sink begins. */
void changes_again(struct changes *c);

#endif
