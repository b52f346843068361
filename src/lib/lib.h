/* lib: what the files of the library share. */
#ifndef NVMTOP_LIB_LIB_H
#define NVMTOP_LIB_LIB_H

#include <stdint.h>

#include "util/err.h"
#include "nvmtop/nvmtop.h"

struct trace;

/* Once a process, before anything that may have to say something. */
void lib_begin(void);

/* The trace behind the handle, whose type only hides it. */
static inline struct trace *trace_in(const nvmtop_trace *t)
{
	return (struct trace *)(uintptr_t)t;
}

/* Copy an error, or success, to out (may be NULL): returns -1 or 0. */
int lib_error(nvmtop_error *out, const struct err *e);

#endif
