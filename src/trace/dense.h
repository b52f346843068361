/* dense: rows of a tier one after the other in few bytes, and back bit for bit,
 * NaNs with what is in them.  In memory only: no file has it.
 *
 *   row      time [changed value...]
 *   time     by how much the step since the row before differs from the step before
 *            that, zigzag, in units of 7 bits, the first of 6 and whether any value changed
 *   changed  a bit a column, then for each that is set a byte (the lengths) and
 *            what is left of old XOR new without the zero bytes at both ends */
#ifndef NVMTOP_TRACE_DENSE_H
#define NVMTOP_TRACE_DENSE_H

#include <stdint.h>

#include "model/stream.h"

/* The row that was put or got last. */
struct dense {
	size_t width;
	int64_t t_ns;
	uint64_t step_ns;
	double *values; /* owned */
};

bool dense_init(struct dense *d, size_t width); /* false: no memory */
void dense_free(struct dense *d);

/* Bytes of a row at most, and for both calls below the room that must be at p. */
size_t dense_most(size_t width);

/* Nothing is known of the rows before; the next one is of t_ns. */
void dense_start(struct dense *d, int64_t t_ns);

/* Both return what is behind the row. */
uint8_t *dense_put(struct dense *d, uint8_t *p, int64_t t_ns, const double *values);
const uint8_t *dense_get(struct dense *d, const uint8_t *p);

#endif
