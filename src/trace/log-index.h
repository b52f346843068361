/* log-index: where the chunks of an output are, by span. */
#ifndef TRACE_LOG_INDEX_H
#define TRACE_LOG_INDEX_H

#include "trace/log.h"

struct log_index;
struct log_index *log_index_new(void); /* NULL: out of memory */
void log_index_free(struct log_index *x);
/* A chunk of the output, whose first byte is at e->distance of it; raw: its payload. */
void log_index_add(struct log_index *x, const struct log_entry *e, const uint8_t *raw, size_t n);
/* The payload of an INDEX that begins at `at`, and *e for adding it once its length is known; its
 * entries are then removed. */
void log_index_make(struct log_index *x, int level, int64_t span, uint64_t at, struct log_bytes *raw,
		    struct log_entry *e);
/* Offset of the newest INDEX; false: none. */
bool log_index_newest(const struct log_index *x, uint64_t *at);

#endif
