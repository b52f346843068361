/* descriptors: the limit of open files of this process. */
#ifndef NVMTOP_UTIL_DESCRIPTORS_H
#define NVMTOP_UTIL_DESCRIPTORS_H

#include <stdbool.h>
#include <sys/types.h>

#include "util/err.h"

/* Raises the soft limit to the hard limit. Called once at program start. */
void descriptors_raise(void);
/* Restores the previous limit of a child; 0: of this process, between fork and exec. */
void descriptors_restore(pid_t pid);

/* Keeps the errno of a failed open if it is EMFILE or ENFILE. Safe on the sampling path. */
void descriptors_note(int error);
/* Was there such an open on this thread since the last call? Then *e has which limit was reached, and what to do. */
bool descriptors_lacked(struct err *e);

#endif
