/* check: validates a recording. */
#ifndef TRACE_CHECK_H
#define TRACE_CHECK_H

#include "model/stream.h"

struct checked {
	uint64_t chunks, unknown; /* of the log; unknown: of kinds of a newer version */
	uint64_t rows[TIERS], marks;
	uint64_t wrong; /* problems that were reported */
	bool version1;
};
/* Calls found() with a sentence for each problem. progress may be NULL. Returns -1 and sets *e if the file is
 * not a recording or progress() stopped the check. */
int trace_check(const char *path, void (*found)(void *to, const char *text), void *to,
		bool (*progress)(void *arg, double done), void *arg, struct checked *out, struct err *e);

#endif
