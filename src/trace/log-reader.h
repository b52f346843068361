/* log-reader: random access to a log. Any thread may call. */
#ifndef TRACE_LOG_READER_H
#define TRACE_LOG_READER_H

#include "trace/log.h"

struct energy_source;
struct trace;

/* Finds the first chunk of any session in the first 64 KiB of the file. Returns false if there is none. */
bool log_first(int fd, struct log_head *out);
bool log_begins(int fd);

/* Says that a log is of that version of the format, which cannot be read. Returns false. */
bool log_other_version(unsigned version, const char *shown, struct err *e);

/* Takes over fd, also on error. The log begins at offset `from` or later. shown: the name for messages.
 * Returns NULL and sets *e if nothing can be read. Damage is not an error. */
struct trace *trace_open_log(int fd, uint64_t from, const char *shown, struct err *e);
/* The same of n files of one recording, which are read as if they were one, in this order. */
struct trace *trace_open_logs(const int *fds, size_t n, uint64_t from, const char *shown, struct err *e);
void trace_close(struct trace *r);

/* The same log has grown: takes over what the other reader has found, which is closed. The session stays; marks and other
 * events are new. No other thread may use it meanwhile. */
void trace_renew(struct trace *r, struct trace *newer);
/* It is a timeline. */
struct timeline *trace_timeline(struct trace *r);
/* From now on these are its ranges, which it owns, and not those that were recorded. */
void trace_show_ranges(struct trace *r, struct ranges *other);
/* The readings of a power channel, for energy_between(); valid until trace_renew(). NULL: out of memory. */
const struct energy_source *trace_source(struct trace *r, size_t channel);
/* Returns the first gap that ends at or after from_ns, or their number if there is none. */
size_t trace_gap_from(const struct trace *r, int64_t from_ns);

/* Valid until trace_close(). A channel has the same column of the session in all generations of
 * chunks. */
const struct session *trace_session(const struct trace *r);
const struct mark *log_reader_marks(const struct trace *r, size_t *n);
const struct gap *log_reader_gaps(const struct trace *r, size_t *n);
const struct change *log_reader_changes(const struct trace *r, size_t *n);
const struct change *log_reader_reasons(const struct trace *r, size_t *n);
/* The anchors of the start, of each clock change and suspend, and the newest. */
const struct clock_anchor *trace_anchors(const struct trace *r, size_t *n);
/* How many files are missing between those that are there. */
uint64_t trace_absent(const struct trace *r);
/* Whether files were truncated since; *size: bytes that are left. */
bool trace_truncated(const struct trace *r, uint64_t *size);

/* How the log ends. */
struct log_tail {
	bool ended; /* false: the recorder wrote no END */
	enum log_reason reason;
	char next[256];		/* the next file of a split recording; may be empty */
	uint64_t torn;		/* bytes after the last chunk */
	uint64_t other;		/* of these, from the first chunk of another recording on */
};
void trace_tail(const struct trace *r, struct log_tail *out);

/* The damage found so far. */
enum log_fault {
	LOG_FAULT_NONE,
	LOG_FAULT_BYTES,   /* bytes that belong to no chunk */
	LOG_FAULT_OTHER,   /* another recording at the end */
	LOG_FAULT_SEQ,     /* missing chunks */
	LOG_FAULT_SUM,     /* wrong checksum, or the codec cannot decode it */
	LOG_FAULT_CODEC,   /* unknown codec */
	LOG_FAULT_VERSION, /* DATA of an unknown version */
	LOG_FAULT_COLUMN,  /* columns of an unknown form */
	LOG_FAULT_CONTENT, /* invalid times, counts or lengths */
	LOG_FAULT_ORDER,   /* older than the chunk before it */
	LOG_FAULT_CHANNELS /* no META of its generation */
};
struct log_damage {
	uint64_t chunks; /* missing or damaged */
	uint64_t rows;	 /* in them, as far as known */
	uint64_t bytes;	 /* between chunks */
	uint64_t unknown; /* other chunks of an unknown kind or version; not damage */
	enum log_fault first;
	uint64_t seq;	 /* of the first */
	int64_t t_ns;	 /* its approximate time, CLOCK_MONOTONIC */
};
void trace_damage(struct trace *r, struct log_damage *out);
/* Writes a sentence about the damage. Returns false if there is none. */
bool trace_damage_text(struct trace *r, char *out, size_t size);

/* Rows are numbered from 0 in each tier. Those of a damaged chunk have times at the beginning of its cell and
 * no values. */
uint64_t trace_rows(const struct trace *r, enum tier tier);
/* Same as trace_extent(). */
bool trace_extent(const struct trace *r, int64_t *first_ns, int64_t *last_ns);
uint64_t trace_row_from(struct trace *r, enum tier tier, int64_t t_ns);
void trace_row_times(struct trace *r, enum tier tier, uint64_t first, size_t n, int64_t *out);
void trace_row_values(struct trace *r, size_t channel, uint64_t first, size_t n, double *out);
/* Same as trace_read(). */
size_t trace_read(struct trace *r, enum tier tier, uint64_t row, size_t most, int64_t *t_ns,
		       const size_t *channels, size_t n_channels, double *const *values);
/* Same as trace_count(). */
void trace_count(struct trace *r, enum tier tier, uint64_t row, size_t n, const size_t *channels,
		      size_t n_channels, struct histogram *const *to);

/* Same as trace_late() and trace_late_ticks(). */
size_t trace_late(struct trace *r, enum tier tier, uint64_t row, size_t n, struct gap *out);
void trace_late_ticks(struct trace *r, enum tier tier, uint64_t row, uint64_t end,
			   struct late_ticks *out);

/* Bins first .. first + n - 1 of any zoom. */
void trace_columns(struct trace *r, size_t channel, int zoom, int64_t first, size_t n, struct bin *out);
/* Ranges that touch [from_ns, to_ns); those shorter than least_ns may be missing. */
void log_ranges_visit(struct trace *r, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit,
		       void *arg);
/* The store of their names and lanes; NULL: there are no ranges. */
struct ranges *log_ranges_store(struct trace *r);
/* Reads some. Returns false once all were read. */
bool log_ranges_more(struct trace *r);
/* Statistics of the channel's rows in [from_ns, to_ns). */
void trace_stat(struct trace *r, size_t channel, int64_t from_ns, int64_t to_ns, struct span_stats *out);

#endif
