/* doubt: rows of which a damaged journal no longer says whether their zeroes
 * were measured.
 *
 * Some fields of version 1 have no bits for "missing": there it is said by a run
 * beside a zero, or, of the GPU's load, beside the value of the row before.  After all runs of the rows so far the journal has a COVR chunk
 * with the numbers of those rows and of the runs; what no such chunk vouches for
 * is in doubt. */
#ifndef NVMTOP_TRACE_DOUBT_H
#define NVMTOP_TRACE_DOUBT_H

#include "trace/chunk.h"

struct stretch {
	uint64_t row, count;
};

struct doubts {
	struct {
		struct stretch *list; /* in order */
		size_t n;
	} tier[TIERS];
	bool any; /* there was a COVR chunk */
	uint64_t covered[TIERS], runs; /* by the latest one */
	uint64_t seen;                 /* runs since */
};

/* The chunks of a journal in their order.  -1: out of memory. */
void doubts_runs(struct doubts *d, uint64_t runs);
int doubts_cover(struct doubts *d, const uint8_t *p);
/* At the end, when so many rows are there: what was covered by nothing.  When the
 * journal is whole and has no such chunk, nothing is in doubt. */
int doubts_end(struct doubts *d, const uint64_t rows[TIERS], bool whole);
/* Another stretch, anywhere. */
int doubts_add(struct doubts *d, enum tier tier, struct stretch s);
void doubts_free(struct doubts *d);

/* Whether a field may be in a doubtful row what it reads as, and yet missing. */
bool field_doubtful(enum field f);
bool value_doubtful(enum field f, double v);

#endif
