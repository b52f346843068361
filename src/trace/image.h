/* image: the newest row of a tier as version 1 has it, and what of it that cannot hold. */
#ifndef NVMTOP_TRACE_IMAGE_H
#define NVMTOP_TRACE_IMAGE_H

#include "trace/layout.h"

struct image {
	const struct layout *layout; /* borrowed */
	enum tier tier;
	size_t width;
	bool any;
	double *values;           /* of the row, as the stream has them; owned */
	uint8_t row[MEDIUM_SIZE]; /* row_size[tier] of them; the time is the caller's */
	uint32_t lossy;           /* its cells, as bits, of which a reader makes something else */
};

/* Zeroed at first.  -1: out of memory. */
int image_init(struct image *m, const struct layout *l, enum tier tier, size_t width);
void image_free(struct image *m);
/* Make it that of the next row. */
void image_set(struct image *m, const double *values);

#endif
