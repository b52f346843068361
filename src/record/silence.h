/* silence: sensors that do not answer, in sentences. */
#ifndef NVMTOP_RECORD_SILENCE_H
#define NVMTOP_RECORD_SILENCE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

/* What was reported; zeroed at first. */
struct silence {
	uint64_t begun, ended; /* by number, as bits */
};
_Static_assert(ENGINE_HANGS <= 64, "a bit for each");

/* The next sentence that was not reported yet: a sensor does not answer, or answers again. Times count
 * from since_ns (CLOCK_MONOTONIC). False: there is none. */
bool silence_news(struct silence *told, struct engine *g, int64_t since_ns, char *out, size_t size);

/* The nth that did not answer between two times, as a line of a summary; false: no more. */
bool silence_line(struct engine *g, size_t nth, int64_t from_ns, int64_t to_ns, char *out, size_t size);

#endif
