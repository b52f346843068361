/* repair: a part that nobody completed is made sound in place, so that the join
 * can take it for what a recorder would have left. */
#ifndef NVMTOP_TRACE_REPAIR_H
#define NVMTOP_TRACE_REPAIR_H

#include <stddef.h>
#include <stdint.h>

#include "trace/join.h"

struct repair {
	bool header;         /* it was not as it must be */
	uint64_t rows;       /* fast rows without a value, since theirs cannot be right */
	uint64_t cut;        /* bytes at the end of the part that are no whole row */
	struct stretch *bad; /* where those rows are; owned */
	size_t n_bad;
};

/* Repeatable: what was repaired before is found again.  side_fd may be -1. */
int part_repair(int part_fd, int side_fd, const char *shown, struct repair *out, struct err *e);

#endif
