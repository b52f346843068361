/* hangs: messages about sensors that do not answer. */
#ifndef NVMTOP_RECORD_HANGS_H
#define NVMTOP_RECORD_HANGS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

/* Which hangs were reported; initialize to zero. */
struct hangs_told {
	uint64_t begun, ended; /* bit i: hang i */
};
_Static_assert(ENGINE_HANGS <= 64, "a bit for each");

/* Writes the next unreported message: a sensor does not answer, or answers again. Returns false if there is none. */
bool hangs_news(struct hangs_told *told, struct engine *g, char *out, size_t size);

/* Writes a summary line for the nth sensor that did not answer between two times; returns
 * false if there are no more. */
bool hangs_line(struct engine *g, size_t nth, int64_t from_ns, int64_t to_ns, char *out, size_t size);

#endif
