/* audit: whether the columns that a trace brought along are those of its rows. */
#ifndef NVMTOP_TRACE_AUDIT_H
#define NVMTOP_TRACE_AUDIT_H

#include "trace/reader.h"

/* Of one tier. */
struct audited {
	uint64_t row;   /* whose time cannot be right; UINT64_MAX: there is none */
	uint64_t leap;  /* the first that is odd; 0: there is none */
	uint64_t wrong; /* records that are not those of their rows */
	/* the first of them */
	uint64_t at; /* offset of its chunk */
	int zoom;
	int64_t column;
	bool failed; /* out of memory: nothing is known */
};

/* Reads all rows of the tier.  stop: somebody does not want to know any more; or NULL. */
void audit_tier(struct trace *t, enum tier tier, const atomic_bool *stop, struct audited *out);

/* The same on a thread, for the tiers in `tiers` (bits); their shelves must stay as they
 * are.  NULL: out of memory, or no thread. */
struct audit;
struct audit *audit_start(const struct trace *t, unsigned tiers);
bool audit_done(const struct audit *a);
void audit_wait(struct audit *a);
/* When it is done; false: nobody has looked at that tier. */
bool audit_result(const struct audit *a, enum tier tier, struct audited *out);
void audit_free(struct audit *a); /* ends it, finished or not; NULL is fine */

#endif
