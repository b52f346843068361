/* again: the description of a stream, which is sent again from time to time, so that
 * a damaged beginning, or one that nobody has, costs what comes until then and not
 * everything.
 *
 *   sum(u32, of all parts) part(u16) parts(u16) tally(72: rows, late and lost ticks so far)
 *   id[4] payload
 *
 * of each chunk of the description.  The parts come in one piece, behind all rows that
 * the tally counts and whatever belongs to them, and before anything of later ones.
 * The same description has the same sum, so parts of several copies fit together. */
#ifndef NVMTOP_TRACE_AGAIN_H
#define NVMTOP_TRACE_AGAIN_H

#include "trace/journal.h"

#define AGAIN_TALLY 8 /* its offset in the payload */
#define AGAIN_HEAD  (AGAIN_TALLY + TALLY_SIZE)
#define AGAIN_MORE  (AGAIN_HEAD + 4) /* bytes by which a chunk of the description becomes longer */

/* The chunks as they are sent. */
struct again_out {
	uint8_t *bytes;
	size_t size;
};
/* Of the description that waits to be written.  -1: out of memory. */
int again_make(struct again_out *a, const struct block *first);
void again_tally(struct again_out *a, const uint8_t tally[TALLY_SIZE]);

#define AGAIN_PARTS 512 /* at most: 16 MB */

/* A description as it comes. */
struct again_part {
	uint8_t *p; /* id and payload; owned; NULL: it has not come */
	size_t n;
};
struct again_in {
	uint32_t sum;
	size_t parts, have;
	struct again_part *part;
};
/* The next chunk of the description itself; one too many is left out. -1: out of memory. */
int again_add(struct again_in *a, uint32_t id, const uint8_t *p, size_t n);
/* A chunk of a copy.  1: nothing is missing any more; 0: something is; -1: out of memory. */
int again_take(struct again_in *a, const uint8_t *p, size_t n);
/* Visit each chunk in order; -1 as soon as a visit is. */
int again_each(const struct again_in *a, journal_visit *visit, void *to);
void again_free(struct again_in *a); /* empty again */

#endif
