/* read-timeout: reads with a deadline. */
#ifndef NVMTOP_UTIL_READ_TIMEOUT_H
#define NVMTOP_UTIL_READ_TIMEOUT_H

#include <sys/types.h>

#define TIMED_READ_MAX 4096 /* bytes */

/* pread(), or read() where at is negative, of TIMED_READ_MAX bytes at most.  -1 with ETIME when
 * it has not come within a second, or, once something has hung, within a tenth; the thread
 * that hangs in it is abandoned. */
ssize_t timed_read(int fd, void *buf, size_t size, off_t at);
/* How many were given up. */
unsigned timed_reads_abandoned(void);

#endif
