/* reserve: disk space that is taken ahead, so that a recording that meets a full
 * disk can still be completed. */
#ifndef NVMTOP_TRACE_RESERVE_H
#define NVMTOP_TRACE_RESERVE_H

#include <sys/types.h>

struct reserve {
	int fd;
	off_t have; /* bytes from the start that have their place */
	off_t step; /* how much is taken at a time, where there is so much */
};

/* See that `need` bytes have a place.  -1 with errno: ENOSPC, EDQUOT, EFBIG.  A
 * file system that cannot promise any says yes, and its writes tell. */
int reserve_take(struct reserve *r, off_t need);

#endif
