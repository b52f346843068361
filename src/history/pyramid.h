/* pyramid: the newest columns of one tier's channels, at every zoom.
 *
 * For each zoom from zoom_base(hz) to ZOOM_MAX so many of the newest
 * columns.  Memory is taken as it is touched. */
#ifndef HISTORY_PYRAMID_H
#define HISTORY_PYRAMID_H

#include "nvmtop/history.h"

#define PYRAMID_TIMES 32768 /* rows whose exact times are kept, for stepping */

struct pyramid;

struct pyramid *pyramid_new(size_t width, double hz, size_t columns); /* NULL: out of memory */
/* Bytes for a column of each zoom; and for what does not depend on how many there are. */
size_t pyramid_column_bytes(size_t width, double hz);
size_t pyramid_fixed_bytes(size_t width);
void pyramid_free(struct pyramid *p);

/* One row.  Times that are negative or not increasing are ignored. */
void pyramid_push(struct pyramid *p, int64_t t_ns, const double *values);

bool pyramid_extent(const struct pyramid *p, int64_t *first_ns, int64_t *last_ns); /* false: no row yet */

/* As in struct timeline_ops, for one column of the rows. */
void pyramid_columns(const struct pyramid *p, size_t column, int zoom, int64_t first, size_t n,
		     struct bin *out);
int pyramid_finest(const struct pyramid *p, int64_t t_ns);
double pyramid_value(const struct pyramid *p, size_t column, int64_t t_ns, int64_t *at_ns);

/* Exact for the newest PYRAMID_TIMES rows, by the tier's period before them. */
int64_t pyramid_step(const struct pyramid *p, int64_t t_ns, int n);

#endif
