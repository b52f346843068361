/* hangs: messages about sensors that do not answer. */
#ifndef NVMTOP_RECORD_HANGS_H
#define NVMTOP_RECORD_HANGS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

/* What was reported of each hang: 1: that it began, 2: that it ended, too. Initialize to zero. */
struct hangs_told {
	unsigned char of[ENGINE_HANGS];
};

/* Writes the next unreported message: a sensor does not answer, or answers again. Returns false if there is none. */
bool hangs_news(struct hangs_told *told, struct engine *g, char *out, size_t size);

/* Writes a summary line for the nth sensor that did not answer between two times; returns
 * false if there are no more. */
bool hangs_line(struct engine *g, size_t nth, int64_t from_ns, int64_t to_ns, char *out, size_t size);

#endif
