/* log-reader: random access to a log. Any thread may call. */
#ifndef TRACE_LOG_READER_H
#define TRACE_LOG_READER_H

#include "trace/log.h"

struct log_reader;

/* Whether a chunk begins in the first bytes of the file; another session's is one, too. */
bool log_begins(int fd);

/* Takes fd over, also on error.  The log begins at offset `from`, or later.  shown: the name for messages.  NULL with *e: nothing can be
 * read.  What is damaged is no error. */
struct log_reader *log_reader_open(int fd, uint64_t from, const char *shown, struct err *e);
void log_reader_close(struct log_reader *r);

/* Valid as long as the reader. A channel has its column of the session in all generations of chunks. */
const struct session *log_reader_session(const struct log_reader *r);
const struct mark *log_reader_marks(const struct log_reader *r, size_t *n);
const struct gap *log_reader_gaps(const struct log_reader *r, size_t *n);
const struct change *log_reader_changes(const struct log_reader *r, size_t *n);
/* The start, those where a clock was set or the machine was suspended, and the newest. */
const struct clock_anchor *log_reader_anchors(const struct log_reader *r, size_t *n);
/* Its descriptor, and where its chunks are. */
int log_reader_file(const struct log_reader *r, uint64_t *from, uint64_t *n);
#define LOG_SUSPENDED ((enum gap_cause)2) /* of a gap in the file */

/* How it ends. */
struct log_tail {
	bool ended; /* else the recorder did not end it */
	enum log_reason reason;
	struct log_tally before; /* of the first META: what is in earlier files */
	struct log_tally tally;  /* of END, or of the newest META */
	char next[256];		/* the file in which it goes on; "" */
	uint64_t torn;		/* bytes behind the last chunk */
	uint64_t other;		/* of these, from the first chunk of another recording on */
};
/* The head of the last chunk. */
void log_reader_last(const struct log_reader *r, struct log_head *out);
void log_reader_tail(const struct log_reader *r, struct log_tail *out);

/* What was found to be damaged so far. */
enum log_fault {
	LOG_FAULT_NONE,
	LOG_FAULT_BYTES,   /* no chunk */
	LOG_FAULT_OTHER,   /* another recording at the end */
	LOG_FAULT_SEQ,     /* missing chunks */
	LOG_FAULT_SUM,     /* checksum, or what the codec cannot undo */
	LOG_FAULT_CODEC,   /* a codec that is not known */
	LOG_FAULT_VERSION, /* DATA of a version that is not known */
	LOG_FAULT_COLUMN,  /* columns of a form that is not known */
	LOG_FAULT_CONTENT, /* times, counts or lengths that cannot be */
	LOG_FAULT_ORDER,   /* older than what is before it */
	LOG_FAULT_CHANNELS /* no META of its generation */
};
struct log_damage {
	uint64_t chunks; /* missing or damaged */
	uint64_t rows;	 /* in them, as far as is known */
	uint64_t bytes;	 /* between chunks */
	uint64_t unknown; /* other chunks of a kind or version that is not known; not damage */
	enum log_fault first;
	uint64_t seq;	 /* of the first */
	int64_t t_ns;	 /* about when, on CLOCK_MONOTONIC */
};
void log_reader_damage(struct log_reader *r, struct log_damage *out);
/* The sentence about the damage; false: none. */
bool log_damage_text(struct log_reader *r, char *out, size_t size);

/* Rows, numbered from 0 in each tier.  Those of a chunk that turns out to be damaged are at the
 * beginning of its cell, without values. */
uint64_t log_reader_rows(const struct log_reader *r, enum tier tier);
bool log_reader_extent(const struct log_reader *r, int64_t *first_ns, int64_t *last_ns);
uint64_t log_reader_row_from(struct log_reader *r, enum tier tier, int64_t t_ns);
void log_reader_times(struct log_reader *r, enum tier tier, uint64_t first, size_t n, int64_t *out);
void log_reader_values(struct log_reader *r, size_t channel, uint64_t first, size_t n, double *out);
/* As trace_read(). */
size_t log_reader_read(struct log_reader *r, enum tier tier, uint64_t row, size_t most, int64_t *t_ns,
		       const size_t *channels, size_t n_channels, double *const *values);
/* As trace_count(). */
void log_reader_count(struct log_reader *r, enum tier tier, uint64_t row, size_t n, const size_t *channels,
		      size_t n_channels, struct histogram *const *to);
/* As trace_pass(). */
void log_reader_pass(struct log_reader *r, bool on);

/* Columns first .. first + n - 1 of any zoom. */
void log_reader_columns(struct log_reader *r, size_t channel, int zoom, int64_t first, size_t n, struct bin *out);
/* Statistics of the channel's rows in [from_ns, to_ns). */
void log_reader_stat(struct log_reader *r, size_t channel, int64_t from_ns, int64_t to_ns, struct span_stats *out);

#endif
