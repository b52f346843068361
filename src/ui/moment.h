/* moment: where something is in time: a greatest value, the next event. */
#ifndef NVMTOP_UI_MOMENT_H
#define NVMTOP_UI_MOMENT_H

#include "model/timeline.h"
#include "ui/viewport.h"

/* The first sample in [from, to) with the channel's maximum there (sign 1) or minimum (-1), and its value;
 * false: none.  Where a history has only columns left, it is within such a column. */
bool moment_extreme(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, int sign, int64_t *out,
		    double *value);

/* The newest event before t_ns (by -1) or the oldest after it (1): a throttle or a notice begins, a count
 * of over-current rises, a setting changes, samples are missing.  False: none. */
bool moment_event(struct timeline *t, const struct extent *e, int64_t t_ns, int by, int64_t *out);

#endif
