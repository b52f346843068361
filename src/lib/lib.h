/* lib: what the files of the library share. */
#ifndef LIB_LIB_H
#define LIB_LIB_H

#include "nvmtop/err.h"
#include "nvmtop/nvmtop.h"

/* Once a process, before anything that may have to say something. */
void lib_begin(void);

/* Hand an error out, or that there is none (out may be NULL): 0 or -1. */
int lib_error(nvmtop_error *out, const struct err *e);

#endif
