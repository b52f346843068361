/* descriptors: the limit of open files of this process. */
#ifndef NVMTOP_UTIL_DESCRIPTORS_H
#define NVMTOP_UTIL_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Raises the soft limit to the hard limit. Called once at program start. */
void descriptors_raise(void);
/* Restores the previous limit of a child; 0: of this process, between fork and exec. */
void descriptors_restore(pid_t pid);

/* While sensors are opened, keeps some descriptors free for files that are opened later, such as the next
 * file of a recording. Applies to the whole process until it is called again. */
void descriptors_spare(bool spare);

/* Counts an errno of a failed open if it is EMFILE or ENFILE. Safe on the sampling path. */
void descriptors_note(int error);
/* Number of such failures on this thread. */
unsigned descriptors_refused(void);
/* A sentence about the last one on this thread: which limit was reached, and what to do. */
void descriptors_reason(char *buf, size_t size);

#endif
