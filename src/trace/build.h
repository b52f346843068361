/* build: the pyramid of a trace that brought none, made of its rows. */
#ifndef NVMTOP_TRACE_BUILD_H
#define NVMTOP_TRACE_BUILD_H

#include "trace/reader.h"
#include "trace/store.h"

struct build;

#define AT_ONCE (-1)

/* Make the columns of the tiers in `tiers` (bits), so many zooms `coarser` than
 * usual, by so many threads (0: one a core).  Until it is done the shelves of
 * these tiers belong to it.  AT_ONCE: it is done when this returns.  The store is
 * owned from then on.  NULL: out of memory, or no thread; the store is closed. */
struct build *build_start(struct trace *t, unsigned tiers, struct store *store, int workers, int coarser);
/* Ends it, finished or not. */
void build_free(struct build *b);

bool build_done(const struct build *b);   /* nothing more will come of it */
bool build_failed(const struct build *b); /* and the columns are not whole */
double build_part(const struct build *b); /* 0 .. 1 */
/* The row of a tier whose time cannot be right; UINT64_MAX: none was found. */
uint64_t build_disorder(const struct build *b, enum tier tier);
void build_wait(struct build *b); /* until it is done */
/* When it is done: what the columns are kept in is the caller's now. */
struct store *build_release(struct build *b);

/* While it is not done: the shelves may be read between these two, where the
 * columns from one time to another are complete. */
void build_relax(struct build *b); /* give back pages of the columns that were looked at */
bool build_makes(const struct build *b, enum tier tier);
void build_lock(struct build *b);
void build_unlock(struct build *b);
bool build_covers(const struct build *b, enum tier tier, int64_t from_ns, int64_t to_ns);
int build_zoom(const struct build *b, enum tier tier); /* of its finest level */

#endif
