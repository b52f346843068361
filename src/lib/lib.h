/* lib: shared by the files of the library. */
#ifndef NVMTOP_LIB_LIB_H
#define NVMTOP_LIB_LIB_H

#include <stddef.h>
#include <stdint.h>

#include "lib/shared.h"
#include "util/err.h"
#include "nvmtop/nvmtop.h"

struct trace;

/* Initialises translations, once per process. Called before anything that may report an error. */
void lib_begin(void);

/* The trace of a public handle, which is the same pointer with another type. */
static inline struct trace *trace_in(const nvmtop_trace *t)
{
	return (struct trace *)(uintptr_t)t;
}

/* Copies a text, cut to fit, to out (may be NULL). */
void text_out(char *out, size_t size, const char *text);

/* The directory of the kernel files where a program names none: NVMTOP_SYSROOT, else "/". */
const char *lib_sysroot(void);

/* Fills in the given options, or the defaults; and what they ask of an engine. */
int options_of(nvmtop_options *o, const nvmtop_options *given, struct err *e);
int wish_of(struct wish *w, const nvmtop_options *o, struct err *e);

/* Describes a channel; missing: why it has no value. Returns -1 if the size is unknown. */
int signal_out(nvmtop_signal *out, const struct channel *c, double hz, const char *missing);

/* Copies an error, or success, to out (may be NULL). Returns -1 or 0. */
int lib_error(nvmtop_error *out, const struct err *e);

#endif
