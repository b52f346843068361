/* log-builder: turns a stream into the chunks of a log. Not thread-safe. */
#ifndef TRACE_LOG_BUILDER_H
#define TRACE_LOG_BUILDER_H

#include "trace/log.h"

/* How long a cell waits for rows of other tiers, by the clock or by the rows that come. */
#define LOG_LATE_NS (60 * NS_PER_MS)

struct log_options {
	uint32_t session;     /* 0: a random number */
	uint8_t uuid[16];     /* zeroes: random */
	uint64_t seq;         /* of the first chunk */
	unsigned part;        /* number of the file in a split recording */
	const char *previous; /* name of the file before, or NULL */
	bool live;            /* rows are of this moment, so clocks can be read */
	bool index;           /* an output that is read from its end; false: a ring */
	uint64_t limit;       /* bytes of this output; 0: none */

	/* Of a writer. */
	size_t buffer;          /* for chunks that wait: 32 MB, 1 MB to a pipe */
	int64_t sync_ns;        /* from one sync to the next; 0: never; 5 s by default */
	enum log_reason reason; /* why it ends; stopped by default */
};

/* A chunk: e->distance is its offset in the output. False: no room; only DATA is then replaced by a gap. */
typedef bool log_emit(void *to, const struct log_entry *e, const uint8_t *chunk, size_t n);

/* Rows of a tier that wait. */
struct row_queue {
	int64_t *t_ns;
	double *values;
	size_t n, room;
};
bool row_queue_add(struct row_queue *q, int64_t t_ns, const double *values, size_t width); /* false: no memory */
void row_queue_drop(struct row_queue *q, size_t n, size_t width); /* the first n */
void row_queue_free(struct row_queue *q);

struct log_builder;
struct log_builder *log_builder_new(const struct session *about, const struct log_options *o, log_emit *emit,
				    void *to, struct err *e);
void log_builder_free(struct log_builder *b);
/* Of each tier in the order of time, and of all tiers within about a second. */
void log_builder_rows(struct log_builder *b, const struct rows *r);
void log_builder_mark(struct log_builder *b, const struct mark *m);
void log_builder_gap(struct log_builder *b, const struct gap *g);
void log_builder_change(struct log_builder *b, const struct change *c);
/* When waiting rows are due; INT64_MAX: none. */
int64_t log_builder_due(const struct log_builder *b);
/* Chunks of what was due by then. */
void log_builder_run(struct log_builder *b, int64_t now_ns);
/* Chunks of all, LOD, STAT and INDEX of all levels, and END. */
void log_builder_end(struct log_builder *b, enum log_reason reason, const char *next);
/* Rows in accepted chunks, and those that were lost. */
const struct log_tally *log_builder_tally(const struct log_builder *b);
/* Of all outputs, but without groups that are not closed: the channels, and the longest time between two
 * fast rows. */
const struct span_stats *log_builder_total(const struct log_builder *b);
int64_t log_builder_longest_ns(const struct log_builder *b);
uint64_t log_builder_bytes(const struct log_builder *b); /* of this output */

/* A split recording.  What is older than cut_ns, a multiple of the length of a cell, is still for
 * this output: as soon as all of it is here, END comes and names the next output, which begins
 * with META.  name: of this one. */
void log_builder_split(struct log_builder *b, int64_t cut_ns, const char *name, const char *next);
/* This output takes nothing more, not even its end: what comes is for the next. */
void log_builder_restart(struct log_builder *b, const char *name);
void log_builder_limit(struct log_builder *b, uint64_t limit); /* as in the options */
/* Before that: a chunk which it did not take after all.  Its rows are lost, its marks, gaps and
 * changes are for the next. */
void log_builder_lost(struct log_builder *b, const struct log_entry *e, const uint8_t *chunk);
bool log_chunk_unpack(const uint8_t *chunk, struct log_bytes *raw); /* its payload; false: no memory */

#endif
