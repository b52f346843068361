/* log-lod: rows to bins and statistics of the log's spans. */
#ifndef TRACE_LOG_LOD_H
#define TRACE_LOG_LOD_H

#include "trace/log.h"

/* Has a LOD of that zoom the tier? */
bool log_zoom_has(int zoom, double hz);

/* The zooms of a level, the finest first, with 0 behind the last. */
extern const uint8_t log_zooms[LOG_LEVELS + 1][4];

struct log_fold;
struct log_fold *log_fold_new(const struct session *about); /* kept; NULL: out of memory */
void log_fold_free(struct log_fold *f);
void log_fold_reset(struct log_fold *f); /* as if no row had come, but for the total */
/* Rows of one cell.  Two groups next to each other can be open at a time. */
void log_fold_rows(struct log_fold *f, const struct rows *r);

/* An open span of the level, the earlier one; false: there is none. */
bool log_fold_open(const struct log_fold *f, int level, int64_t *span);
/* Payloads of that span; nothing is appended where there is nothing. */
void log_fold_stat(struct log_fold *f, int level, struct log_bytes *raw);
void log_fold_lod(struct log_fold *f, int level, int zoom, struct log_bytes *raw);
/* It is written: into the span of the next level. */
void log_fold_close(struct log_fold *f, int level);
/* All groups that were closed, also before a reset: one a channel. */
const struct span_stats *log_fold_total(const struct log_fold *f);

#endif
