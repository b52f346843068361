/* log-lod: folds rows into bins and statistics of the spans of a log. */
#ifndef TRACE_LOG_LOD_H
#define TRACE_LOG_LOD_H

#include "trace/log.h"

/* Does a LOD of that zoom include a tier of that rate? */
bool log_zoom_has(int zoom, double hz);

/* The zooms of a level, the finest first; 0 ends the list. */
extern const uint8_t log_zooms[LOG_LEVELS + 1][4];
int log_zoom_level(int zoom); /* the level whose spans have LODs of that zoom; 0: none */

struct log_fold;
struct log_fold *log_fold_new(const struct session *about); /* keeps about; NULL if out of memory */
void log_fold_free(struct log_fold *f);
/* Adds rows of one cell. At most two groups can be open at a time, which must be adjacent. */
void log_fold_rows(struct log_fold *f, const struct rows *r);

/* Adds single late ticks of a tier before rows of that cell. */
void log_fold_late(struct log_fold *f, enum tier tier, int64_t cell, const struct late_ticks *late);

/* The earliest open span of the level. Returns false if there is none. */
bool log_fold_open(const struct log_fold *f, int level, int64_t *span);
/* Append the payload for that span; append nothing if it has no values. */
void log_fold_stat(struct log_fold *f, int level, struct log_bytes *raw);
void log_fold_lod(struct log_fold *f, int level, int zoom, struct log_bytes *raw);
/* The span was written: merges it into the span of the next level. */
void log_fold_close(struct log_fold *f, int level);

#endif
