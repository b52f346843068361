/* nonsense: values in the rows of version 1, which have no sums, that cannot be true.
 * They are read as missing (layout.c); here they are counted, each once, however often
 * it is read. */
#ifndef NVMTOP_TRACE_NONSENSE_H
#define NVMTOP_TRACE_NONSENSE_H

#include <stddef.h>
#include <stdint.h>

#include "model/channel.h"

struct trace;
struct nonsense;

struct nonsense *nonsense_new(void); /* NULL: out of memory */
void nonsense_free(struct nonsense *n);
/* There is some among rows first .. first+n-1 of a channel.  By any thread; t may be a view
 * of the trace. */
void nonsense_note(const struct trace *t, size_t channel, uint64_t first, size_t n);
/* What was found since the last time becomes damage of the trace. */
void nonsense_tell(struct trace *t);

#endif
