/* moment: finds extreme values and events in time. */
#ifndef NVMTOP_UI_MOMENT_H
#define NVMTOP_UI_MOMENT_H

#include "model/timeline.h"
#include "ui/viewport.h"

/* The first sample in [from, to) with the channel's maximum (sign 1) or minimum (-1), and its value; false:
 * none. If the history has only columns left, the time is within such a column. */
bool moment_extreme(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, int sign, int64_t *out,
		    double *value);

/* The newest event before t_ns (by -1) or the oldest after it (1): throttling or a notice begins, an
 * over-current count rises, a setting changes, a gap begins. False: none. */
bool moment_event(struct timeline *t, const struct extent *e, int64_t t_ns, int by, int64_t *out);

#endif
