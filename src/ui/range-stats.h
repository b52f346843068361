/* span: what a channel did between two moments. */
#ifndef NVMTOP_UI_RANGE_STATS_H
#define NVMTOP_UI_RANGE_STATS_H

#include "model/timeline.h"

struct span {
	double min, mean, max; /* NaN: there is no sample */
	uint64_t n;
	int64_t covered_ns; /* of the time between, for which there are samples */
	double mj;          /* of power: millijoules */
};

/* The samples of [from, to), as precisely in time as there are columns. */
void span_read(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct span *out);

/* Joules of a channel in mW; NaN: nothing was measured.  Time that is not covered adds nothing. */
double span_joule(const struct span *s);

struct span_scratch;
struct span_scratch *span_scratch_new(void); /* NULL: out of memory; to be freed with free() */

/* The value that a share q (0 .. 1) of the samples does not exceed, nearest rank.
 * *exact says whether every sample was looked at; otherwise it is an estimate from
 * the minimum, mean and maximum of columns.  NaN: there is no sample. */
double span_quantile(struct timeline *t, struct span_scratch *scratch, size_t channel, int64_t from_ns,
		     int64_t to_ns, double q, bool *exact);

#endif
