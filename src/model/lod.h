/* lod: the newest columns of one tier's channels, at every zoom from zoom_base(hz) to ZOOM_MAX. Memory is
 * committed only when touched. */
#ifndef NVMTOP_MODEL_LOD_H
#define NVMTOP_MODEL_LOD_H

#include "model/history.h"

#define LOD_TIMES 32768 /* rows whose exact times are kept, for stepping */

struct lod;

struct lod *lod_new(size_t width, double hz, size_t columns); /* NULL if out of memory */
/* Bytes for one column of every zoom, and bytes independent of the number of columns. */
size_t lod_column_bytes(size_t width, double hz);
size_t lod_fixed_bytes(size_t width);
void lod_free(struct lod *p);

/* Adds a row. A row whose time is negative or not increasing is ignored. */
void lod_push(struct lod *p, int64_t t_ns, const double *values);

bool lod_extent(const struct lod *p, int64_t *first_ns, int64_t *last_ns); /* false: no rows yet */

/* As in struct timeline_ops; column is the index in the tier's rows. */
void lod_columns(const struct lod *p, size_t column, int zoom, int64_t first, size_t n, struct bin *out);
int lod_finest(const struct lod *p, int64_t t_ns);
double lod_value(const struct lod *p, size_t column, int64_t t_ns, int64_t *at_ns);

/* Exact for the newest LOD_TIMES rows; for older ones it assumes the tier's period. */
int64_t lod_step(const struct lod *p, int64_t t_ns, int n);

#endif
