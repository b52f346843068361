/* journal: the chunks beside a running recording, one after the other, also
 * when some of them are damaged. */
#ifndef NVMTOP_TRACE_JOURNAL_H
#define NVMTOP_TRACE_JOURNAL_H

#include <sys/types.h>

#include "trace/lanes.h"

struct journal {
	int fd;          /* -1: there is none */
	off_t whole;     /* the end of the last whole chunk */
	uint64_t broken; /* bytes that are no whole chunk, before the one that is visited */
	uint64_t torn;   /* bytes behind the last whole chunk */
	bool unreadable; /* the disk did not give it, errno says why */
	uint8_t in[BLOCK_BYTES];
};

typedef int journal_visit(void *to, uint32_t id, uint8_t *p, size_t n);

/* Visit each whole chunk; -1 when a visit was -1, or j->unreadable. */
int journal_each(struct journal *j, journal_visit *visit, void *to);

/* Whether a chunk of that id describes the session; they come before all others. */
static inline bool journal_describes(uint32_t id)
{
	return id == CHUNK_ANCHOR || id == CHUNK_RATES || id == CHUNK_FACTS || id == CHUNK_CHANNELS;
}

#endif
