/* nvtx: receives the NVTX ranges and marks of programs that libnvmtop-nvtx.so is loaded into; nvtx-ring.h has the
 * layout of their files. */
#ifndef NVMTOP_RECORD_NVTX_H
#define NVMTOP_RECORD_NVTX_H

#include "engine/engine.h"

/* What receives them: an engine's functions, or those of a test. Names and lanes are valid until nvtx_free(). */
struct nvtx_ops {
	void (*ranges)(struct engine *to, const struct range *list, size_t n);
	uint64_t (*mark)(struct engine *to, int64_t t_ns, const char *label);
	void (*change)(struct engine *to, const struct change *c);
};

struct nvtx;
/* Gets the folder of the files; *asked: it is $NVMTOP_NVTX_DIR. Returns -1 and sets *e if that cannot be it. */
int nvtx_folder(char *out, size_t size, int *asked, struct err *e);
/* yields: lets the folder go when another nvmtop wants it. since: leaves out programs that
 * started before this process; 0: none. phases_from: a domain ("default": the one without a name) with a mark where each of
 * its outermost ranges begins; or NULL. Returns NULL and sets *e if out of memory. */
struct nvtx *nvtx_new(const struct nvtx_ops *ops, struct engine *to, bool yields, int since, const char *phases_from,
		      struct err *e);
/* Becomes the recorder of the folder, which is created. A live screen that has it lets it go within a second.
 * Returns -1 and sets *e if there is none that is private to this user, or if another nvmtop records. */
int nvtx_take(struct nvtx *n, struct err *e);
/* Reads what was written since the last call; takes the folder as soon as it can be had. last: a receiver ends, open ranges
 * are passed on. Returns when to call again. */
int64_t nvtx_poll(void *nvtx, bool last);
void nvtx_free(struct nvtx *n); /* n may be NULL */

/* Has the engine call nvtx_poll() and pass on what comes. Call before engine_start(), and nvtx_free() after
 * engine_free(). yields: as for a live screen; others have the folder from now on. Returns NULL and sets *e if out of
 * memory, or as nvtx_take(). */
struct nvtx *nvtx_attach(struct engine *g, bool yields, int since, const char *phases_from, struct err *e);
/* What came until the end of a recording. */
struct nvtx_news {
	bool any, phases; /* ranges, and those that begin a phase */
	size_t left_out;     /* programs */
};
/* What is missing, or that nothing came. Returns false if there is nothing to say. Call after engine_stop(). */
bool nvtx_news(const struct nvtx *n, struct nvtx_news *about, char *out, size_t size);

#endif
