/* patient: reads that are waited for, but not for ever. */
#ifndef BASE_PATIENT_H
#define BASE_PATIENT_H

#include <sys/types.h>

#define PATIENT_MOST 4096 /* bytes */

/* pread(), or read() where at is negative, of PATIENT_MOST bytes at most.  -1 with ETIME when
 * it has not come within a second, or, once something has hung, within a tenth; the thread
 * that hangs in it is left behind. */
ssize_t patient_read(int fd, void *buf, size_t size, off_t at);
/* How many were given up. */
unsigned patient_given_up(void);
/* The thread that made them ends. */
void patient_end(void);

#endif
