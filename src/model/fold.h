/* fold: makes bins and statistics of rows. What is the same for all channels of a tier is computed once for the rows. */
#ifndef NVMTOP_MODEL_FOLD_H
#define NVMTOP_MODEL_FOLD_H

#include "model/timeline.h"

/* Begins with zeros. */
struct row_fold {
	const int64_t *t_ns;
	size_t n, room;
	int64_t hole_ns;
	double known_ns;     /* the sum of apart_ns; below 0: not computed yet */
	double *sums;	     /* also the memory of what follows */
	double *apart_ns;    /* from each row to the next one, 0: a gap follows */
	double *there;	     /* the readings of a channel, */
	int64_t *there_ns;   /* and their times */
	uint16_t *to, *from; /* sums[to[i]] += sums[from[i]], in this order */
};
/* 1 .. 65536 rows, whose times are used until the next call. Returns false if out of memory. */
bool fold_begin(struct row_fold *f, const int64_t *t_ns, size_t n, double hz);
/* Of the values of a channel in these rows, each `apart` behind the one before; they must be in one column of some zoom, and
 * may be NaN. */
struct bin fold_bin(const struct row_fold *f, const double *v, size_t apart);
/* Their sum is that of the bin. */
struct span_stats fold_stats(struct row_fold *f, const double *v, size_t apart);
void fold_free(struct row_fold *f);

#endif
