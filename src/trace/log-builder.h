/* log-builder: turns a stream into the chunks of a log. Not thread-safe. */
#ifndef TRACE_LOG_BUILDER_H
#define TRACE_LOG_BUILDER_H

#include "trace/log.h"

/* How long a cell waits for rows of other tiers, measured by the clock or by the times of other rows. */
#define LOG_LATE_NS (60 * NS_PER_MS)

struct log_options {
	uint32_t session;     /* 0: random */
	uint8_t uuid[16];     /* zeros: random */
	uint64_t seq;         /* of the first chunk */
	unsigned part;        /* number of the file in a split recording */
	const char *previous; /* name of the previous file, or NULL */
	bool live;            /* rows are from now, so the clocks can be read */
	bool index;           /* the output is read from its end; false: it is a ring */

	/* Only for a writer. */
	size_t buffer;          /* bytes of queued chunks: 32 MB, 1 MB for a pipe */
	int64_t sync_ns;        /* time between syncs; 0: never; default 5 s */
	enum log_reason reason; /* why it ends; default LOG_STOPPED */
};

/* Called for each chunk; e->distance is its offset in the output. Returns false if there is no room: the rows
 * of DATA become a gap, other chunks are lost. */
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

/* Of accepted chunks, and what was lost. */
struct log_tally {
	uint64_t rows[TIERS], late[TIERS], lost[TIERS], marks;
};

struct log_builder;
struct log_builder *log_builder_new(const struct session *about, const struct log_options *o, log_emit *emit,
				    void *to, struct err *e);
void log_builder_free(struct log_builder *b);
/* Rows of each tier must be in order of time, those of different tiers within about a second. */
void log_builder_rows(struct log_builder *b, const struct rows *r);
void log_builder_mark(struct log_builder *b, const struct mark *m);
void log_builder_gap(struct log_builder *b, const struct gap *g);
void log_builder_change(struct log_builder *b, const struct change *c);
/* The session's channels have new descriptions: begins a generation. */
void log_builder_described(struct log_builder *b);
/* Names and lanes must be valid until log_builder_end(). */
void log_builder_ranges(struct log_builder *b, const struct range *list, size_t n);
/* The time of the tier's first row that is in no chunk yet; INT64_MAX: there is none. */
int64_t log_builder_waits(const struct log_builder *b, enum tier t);
/* Writes the chunks that are due by now_ns. */
void log_builder_run(struct log_builder *b, int64_t now_ns);
/* Writes all remaining chunks, LOD, STAT and INDEX of all levels, and END. */
void log_builder_end(struct log_builder *b, enum log_reason reason, const char *next);
const struct log_tally *log_builder_tally(const struct log_builder *b);

bool log_chunk_unpack(const uint8_t *chunk, struct log_bytes *raw); /* false: out of memory, or damaged */

#endif
