/* log-builder: packs what a stream brings into the chunks of a log. Not thread-safe. */
#ifndef TRACE_LOG_BUILDER_H
#define TRACE_LOG_BUILDER_H

#include "trace/log-decode.h"

/* Called for each chunk. Returns false if there is no room: the rows of DATA become a gap, other chunks are lost. */
typedef bool log_emit(void *to, const struct log_entry *e, const uint8_t *chunk, size_t n);

/* Rows of a tier that are not in a chunk yet. row_queue_add() returns false if out of memory. */
struct row_queue {
	int64_t *t_ns;
	double *values;
	uint8_t *late; /* one tick before the row was skipped; row_queue_add() sets 0 */
	size_t n, room;
};
bool row_queue_add(struct row_queue *q, int64_t t_ns, const double *values, size_t width);
void row_queue_drop(struct row_queue *q, size_t n, size_t width); /* the first n */
void row_queue_free(struct row_queue *q);

struct log_builder;
/* now: rows are from now, so the clocks can be read. session: in the heads. */
struct log_builder *log_builder_new(const struct session *about, bool now, uint32_t session, log_emit *emit, void *to,
				    struct err *e);
void log_builder_free(struct log_builder *b);
/* Rows of each tier must be in order of time, those of different tiers within about a second. */
void log_builder_rows(struct log_builder *b, const struct rows *r);
/* A mark, a gap, a change, or a state: of one that comes again with the same begin, the last is written. */
void log_builder_event(struct log_builder *b, const struct log_event *ev);
/* Names and lanes must be valid until log_builder_end(). */
void log_builder_ranges(struct log_builder *b, const struct range *list, size_t n);
/* The session's channels have new descriptions: begins a generation. */
void log_builder_described(struct log_builder *b);
/* The time of the tier's first row that is in no chunk yet; INT64_MAX: there is none. */
int64_t log_builder_waits(const struct log_builder *b, enum tier t);
/* Packs the chunks that are due by now_ns. */
void log_builder_run(struct log_builder *b, int64_t now_ns);
/* Packs all that is left, and LOD and STAT of all levels. */
void log_builder_end(struct log_builder *b);

#endif
