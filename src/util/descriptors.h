/* descriptors: how many files this process may have open at a time. */
#ifndef NVMTOP_UTIL_DESCRIPTORS_H
#define NVMTOP_UTIL_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>

/* For a program, at its start: from now on as many as the hard limit allows. */
void descriptors_raise(void);
/* In a child between fork and exec: as many as before that. */
void descriptors_restore(void);

/* While sensors are opened, keep some descriptors free for files that are opened later, such as the next
 * file of a recording. Applies to the whole process until it is called again. */
void descriptors_spare(bool spare);

/* error is why something could not be opened.  Safe on the sampling path. */
void descriptors_note(int error);
/* How often that was for lack of a descriptor, on this thread. */
unsigned descriptors_refused(void);
/* The last time on this thread, for people: what is lacking, and what to do. */
void descriptors_reason(char *buf, size_t size);

#endif
