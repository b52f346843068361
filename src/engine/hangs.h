/* hangs: which files did not answer, since when, and until when. */
#ifndef NVMTOP_ENGINE_HANGS_H
#define NVMTOP_ENGINE_HANGS_H

#include <pthread.h>

#include "engine/engine.h"

struct hangs {
	pthread_mutex_t lock; /* for all of it; one thread writes */
	struct engine_hang all[ENGINE_HANGS];
	size_t n;
};

int hangs_init(struct hangs *h);
void hangs_close(struct hangs *h);

/* Reads that hang now, and those that did. */
void hangs_look(struct hangs *h, const struct probe_set *probes, int64_t now_ns);
bool hangs_get(struct hangs *h, size_t nth, struct engine_hang *out);

#endif
