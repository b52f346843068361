/* range-stats: statistics of a channel between two points in time. */
#ifndef NVMTOP_UI_RANGE_STATS_H
#define NVMTOP_UI_RANGE_STATS_H

#include "model/timeline.h"

struct span {
	double min, mean, max; /* NaN: no sample */
	uint64_t n;
	int64_t covered_ns; /* the time covered by samples */
	double mj;          /* power only: millijoules */
};

/* Read the statistics of [from, to), as precise in time as the columns allow. */
void span_read(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct span *out);

/* The energy in J of a channel in mW; NaN: no samples. Time without samples adds nothing. */
double span_joule(const struct span *s);

struct span_scratch;
struct span_scratch *span_scratch_new(void); /* NULL: out of memory; release with free() */

/* The quantile q (0 .. 1), nearest rank. *exact: all samples were read; otherwise it is an
 * estimate from the minimum, mean and maximum of columns. NaN: no sample. */
double span_quantile(struct timeline *t, struct span_scratch *scratch, size_t channel, int64_t from_ns,
		     int64_t to_ns, double q, bool *exact);

#endif
