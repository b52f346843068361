/* log-index: what the INDEX chunks of an output say. */
#ifndef TRACE_LOG_INDEX_H
#define TRACE_LOG_INDEX_H

#include "trace/log.h"

struct log_index;
struct log_index *log_index_new(void); /* NULL: out of memory */
void log_index_free(struct log_index *x);
/* Adds a chunk whose first byte is at offset e->distance of the output; raw: its payload. */
void log_index_add(struct log_index *x, const struct log_entry *e, uint32_t generation, const uint8_t *raw, size_t n);
/* Makes the payload of an INDEX at offset `at` of the groups before that cell, and the entry *e to add it with once its
 * length is known. They are in no later one. */
void log_index_make(struct log_index *x, int64_t before_cell, uint64_t at, struct log_bytes *raw, struct log_entry *e);
/* Offset of the newest INDEX. Returns false if there is none. */
bool log_index_newest(const struct log_index *x, uint64_t *at);

#endif
