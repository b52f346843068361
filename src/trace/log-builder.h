/* log-builder: packs what a stream brings into the chunks of a log. Not thread-safe. */
#ifndef TRACE_LOG_BUILDER_H
#define TRACE_LOG_BUILDER_H

#include "trace/log-decode.h"
#include "trace/log-memory.h"

/* Called for each chunk, and at once for each event, as a note: its record, e->stored 0. Returns false if there is no room:
 * the rows of DATA become a gap, other chunks are lost. */
typedef bool log_emit(void *to, const struct log_entry *e, const uint8_t *bytes, size_t n);

struct log_builder;
/* Rows that wait for the end of their cell, and what is known of all rows, are in *now. If `clocks`, rows are from now, so that
 * the clocks can be read. */
struct log_builder *log_builder_new(const struct session *about, bool clocks, struct log_now *now, log_emit *emit, void *to,
				    struct err *e);
void log_builder_free(struct log_builder *b);
void log_rows_free(struct log_rows *r); /* drops a reference */
/* Rows of each tier must be in order of time, those of different tiers within about a second. */
void log_builder_rows(struct log_builder *b, const struct rows *r);
/* A mark, a gap or a change. */
void log_builder_event(struct log_builder *b, const struct log_event *ev);
/* Names and lanes must be valid until log_builder_end(). */
void log_builder_ranges(struct log_builder *b, const struct range *list, size_t n);
/* Packs the chunks that are due by now_ns. */
void log_builder_run(struct log_builder *b, int64_t now_ns);
/* Packs all that is left, and LOD and STAT of all levels. */
void log_builder_end(struct log_builder *b);

#endif
