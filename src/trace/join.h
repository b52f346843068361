/* join: the part and the journal beside it become one complete trace.
 *
 * Works from the two files alone, so that it does the same for a recording that
 * ended well and for what a dead process left behind. */
#ifndef NVMTOP_TRACE_JOIN_H
#define NVMTOP_TRACE_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/channel.h"
#include "util/err.h"
#include "trace/doubt.h"

struct joined {
	uint64_t rows[TIERS];
	int64_t last_ns[TIERS]; /* time of the last row since the start; -1: there is none */
	uint64_t marks;
	uint64_t bytes;
	uint64_t late[TIERS], lost[TIERS]; /* as the gaps say */
	uint64_t holes[TIERS]; /* rows that are there without a value, since the journal is damaged */
	uint64_t broken;       /* bytes of the journal that could not be used */
	uint64_t doubted;      /* values that were dropped, since they may never have been measured */
	int64_t boot_ns;       /* CLOCK_BOOTTIME at the start; 0: the journal does not say */
	bool described;        /* the journal says which channels there are */
};

/* Append to the part what version 1 wants behind the fast rows, then the
 * extension, then complete the header, then sync.  On error the part is as it
 * was.  Memory does not depend on the length of the recording. */
int trace_join(int part_fd, int side_fd, const char *shown, struct joined *out, struct err *e);

/* The same for a part that was repaired: `bad` stretches of fast rows are without a value. */
int trace_join_repaired(int part_fd, int side_fd, const char *shown, const struct stretch *bad, size_t n_bad,
			struct joined *out, struct err *e);

#endif
