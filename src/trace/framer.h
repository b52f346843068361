/* framer: bytes as they come, in pieces of any size, to whole chunks. */
#ifndef NVMTOP_TRACE_FRAMER_H
#define NVMTOP_TRACE_FRAMER_H

#include "trace/journal.h"

struct framer {
	uint64_t broken; /* bytes that are no whole chunk, before the one that is visited */
	bool any;        /* there was a whole chunk */
	size_t have;
	uint8_t in[2 * BLOCK_BYTES];
};

/* Visit each chunk that is whole by now; -1 as soon as a visit is. */
int framer_feed(struct framer *f, const uint8_t *p, size_t n, journal_visit *visit, void *to);
/* Nothing more comes.  How many bytes are left that are no whole chunk. */
size_t framer_end(struct framer *f, journal_visit *visit, void *to);

#endif
