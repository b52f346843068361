/* trace: recordings that are read as a timeline. */
#ifndef NVMTOP_TRACE_TRACE_H
#define NVMTOP_TRACE_TRACE_H

#include "model/timeline.h"
#include "trace/log-writer.h"

/* An open recording: a log, or a file of version 1 from any writer.  path "-" is standard input,
 * read to its end.  NULL with *e: nothing can be read.  For a file that is truncated or damaged
 * the usable part is returned and e->code is ERR_DAMAGED, with a sentence that says where;
 * otherwise it is ERR_NONE.  Every count, offset and time is checked before use. */
struct trace;
struct trace *trace_open(const char *path, struct err *e);
/* The same with progress 0 .. 1 of what takes long; false stops it. */
typedef bool trace_progress(void *arg, double done);
struct trace *trace_open_progress(const char *path, trace_progress *progress, void *arg, struct err *e);
/* For the screen: a long file of version 1 is read in the background, and the trace grows. */
struct trace *trace_open_view(const char *path, struct err *e);
void trace_close(struct trace *t);
struct timeline *trace_timeline(struct trace *t);
const char *trace_path(const struct trace *t);
/* What else is to be said about how it was read, and is no damage; false: nothing. */
bool trace_notice(const struct trace *t, char *out, size_t size);

/* Changes since the trace was opened. Call it from the thread that uses the trace: rows that were read
 * meanwhile are added here. */
struct trace_state {
	bool building; /* it grows */
	double built;  /* how much of the file was read, 0 .. 1 */
	bool news;     /* damage was found since the last call */
	struct err damage;
};
void trace_look(struct trace *t, struct trace_state *out);
/* Wait until all of it is read. */
void trace_settle(struct trace *t);

struct trace_summary {
	int64_t bytes;
	int64_t duration_ns;
	uint64_t rows[TIERS];
	uint64_t marks;
	int64_t real_ns; /* wall clock at its start; 0: unknown */
	char board[32];
};
void trace_summary(const struct trace *t, struct trace_summary *out);
/* The same without reading all of it, for lists of files.  -1: not a trace. */
int trace_peek(const char *path, struct trace_summary *out, struct err *e);

/* All *n rows of a tier packed as in version 1 (nvmtop-trace(5)), until trace_close().  NULL:
 * none, or no memory or disk to pack them. */
const void *trace_raw(struct trace *t, enum tier tier, uint64_t *n);

/* Phases: the fast rows from one mark to the next.  The first has id 0 and begins with the
 * recording. */
struct trace_epoch {
	uint64_t id;
	uint64_t first, n;	/* fast rows */
	int64_t from_ns, to_ns; /* CLOCK_MONOTONIC of its mark and of the next one */
	char label[64];
};
/* Returns their number; the first max are put into out. */
uint64_t trace_epochs(const struct trace *t, struct trace_epoch *out, uint64_t max);

/* Rows as they were sampled.  Rows of a tier are numbered from 0; first + n must not pass
 * trace_rows().  Several threads may read at once. */
const struct session *trace_session(const struct trace *t);
/* First and last time of all rows; false: no row. */
bool trace_extent(const struct trace *t, int64_t *first_ns, int64_t *last_ns);
uint64_t trace_rows(const struct trace *t, enum tier tier);
/* The first row at or after t_ns; trace_rows(): none. */
uint64_t trace_row_from(const struct trace *t, enum tier tier, int64_t t_ns);
/* CLOCK_MONOTONIC, rising. */
void trace_row_times(const struct trace *t, enum tier tier, uint64_t first, size_t n, int64_t *out);
/* In the channel's unit, NaN where missing; rows of the channel's tier. */
void trace_row_values(struct trace *t, size_t channel, uint64_t first, size_t n, double *out);
/* Rows of one chunk, at most `most` of them: their times, and their values for each channel that has room for
 * them.  Returns how many. */
size_t trace_read(struct trace *t, enum tier tier, uint64_t row, size_t most, int64_t *t_ns, const size_t *channels,
		  size_t n_channels, double *const *values);
/* While it is on, all rows are read once and in order: few of them are kept. */
void trace_pass(struct trace *t, bool on);
/* Counts the values of n of these rows for each channel that has bins, without decoding them where they are
 * all of a chunk. */
void trace_count(struct trace *t, enum tier tier, uint64_t row, size_t n, const size_t *channels,
		 size_t n_channels, struct histogram *const *to);

/* Statistics of the channel's rows in [from_ns, to_ns). */
void trace_stat(struct trace *t, size_t channel, int64_t from_ns, int64_t to_ns, struct span_stats *out);

/* Oldest first; valid until trace_look() or trace_close(). */
const struct mark *trace_marks(const struct trace *t, size_t *n);
const struct change *trace_changes(const struct trace *t, size_t *n);
const struct gap *trace_gaps(const struct trace *t, size_t *n);
/* The first gap that reaches from_ns or beyond; n of trace_gaps(): none. */
size_t trace_gap_from(const struct trace *t, int64_t from_ns);
/* Readings of all clocks at one moment, the start first; none: the file has none. */
const struct clock_anchor *trace_anchors(const struct trace *t, size_t *n);
/* Whether the channel's values are floats. */
bool trace_is_single(const struct trace *t, size_t channel);
/* Whether every tick without a row is in trace_gaps(). */
bool trace_lists_gaps(const struct trace *t);
/* Is t the next file of the split recording `before`? Then ticks between them are in the gaps of both. */
bool trace_continues(const struct trace *before, const struct trace *t);
/* The log behind the trace, to be copied: its descriptor, the offset and length of its chunks. */
int trace_log(const struct trace *t, uint64_t *from, uint64_t *n);

#endif
