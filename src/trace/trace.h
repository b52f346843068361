/* trace: recordings, read as a timeline. A log in memory is one, too (log-view.h), without what is about its files. */
#ifndef NVMTOP_TRACE_TRACE_H
#define NVMTOP_TRACE_TRACE_H

#include "model/energy.h"
#include "trace/log-out.h"

/* Opens a recording: a log, or a file of version 1 from any writer. path "-" is standard input, read to its
 * end. Returns NULL and sets *e if nothing can be read. If the file is truncated or damaged, returns the
 * usable part and sets e->code to ERR_DAMAGED, with a message that locates the damage; otherwise e->code is
 * ERR_NONE. Every count, offset and time is checked before use. */
struct trace;
struct trace *trace_open(const char *path, struct err *e);
/* Opens n files of one recording, in any order, as one trace; it fails if they are of several. view: for the screen: a
 * long file of version 1 is read in the background, and the trace grows.
 * progress (may be NULL) is called with 0 .. 1 during long operations; it returns false to stop them. */
typedef bool trace_progress(void *arg, double done);
struct trace *trace_open_files(const char *const *paths, size_t n, bool view, trace_progress *progress, void *arg,
			       struct err *e);
/* Which recording a file is of: a number that only its other files have; 0: none is known, as of version 1. *seq (may be
 * NULL): of its first chunk, which orders these files. */
uint32_t trace_recording(const char *path, uint64_t *seq);
void trace_close(struct trace *t);
struct timeline *trace_timeline(struct trace *t);
/* Of the first and of the last of its files. */
const char *trace_path(const struct trace *t);
const char *trace_last_path(const struct trace *t);
/* The path, and how many other files there are, for a heading or a message; printable. */
const char *trace_name(const struct trace *t);
/* Writes what is notable about how the file was read but is not damage. Returns false if there is nothing. */
bool trace_notice(struct trace *t, char *out, size_t size);

/* What has changed since the trace was opened. Must be called by the thread that uses the trace: rows that
 * were read meanwhile are added here. */
struct trace_state {
	bool building; /* the trace still grows */
	double built;  /* fraction of the file that was read, 0 .. 1 */
	bool news;     /* damage was found since the last call */
	struct err damage;
};
void trace_look(struct trace *t, struct trace_state *out);

struct trace_summary {
	int64_t bytes;
	int64_t duration_ns;
	uint64_t rows[TIERS];
	uint64_t marks;
	int64_t real_ns; /* wall clock at its start; 0: unknown */
	char board[32];
};
void trace_summary(const struct trace *t, struct trace_summary *out);
/* Same without reading all of the file, for lists of files; *e is the damage seen so far, or ERR_NONE. Returns
 * -1 and sets *e if it is not a trace. */
int trace_peek(const char *path, struct trace_summary *out, struct err *e);

/* Returns all *n rows of a tier packed as in version 1 (nvmtop-trace(5)), valid until trace_close(). Returns
 * NULL if there are none, or no memory or disk space to pack them. */
const void *trace_raw(struct trace *t, enum tier tier, uint64_t *n);

/* Phases: the fast rows from one mark to the next.  The first has id 0 and begins with the
 * recording. */
struct trace_epoch {
	uint64_t id;
	uint64_t first, n;	/* fast rows */
	int64_t from_ns, to_ns; /* CLOCK_MONOTONIC of its mark and of the next one */
	char label[64];
};
/* Returns their number, and writes the first `max` to out. */
uint64_t trace_epochs(const struct trace *t, struct trace_epoch *out, uint64_t max);

/* Rows as they were sampled, numbered from 0 in each tier. first + n must not exceed trace_rows(). Several
 * threads may read at once. */
const struct session *trace_session(const struct trace *t);
/* The first and last time of rows, marks, changes and ranges; with ranges it begins at the start of the recording.
 * Returns false if there are none. */
bool trace_extent(const struct trace *t, int64_t *first_ns, int64_t *last_ns);
uint64_t trace_rows(const struct trace *t, enum tier tier);
/* Returns the first row at or after t_ns, or trace_rows() if there is none. */
uint64_t trace_row_from(const struct trace *t, enum tier tier, int64_t t_ns);
/* Reads at most `most` rows of one chunk: their times, increasing, in ns of CLOCK_MONOTONIC, unless t_ns is NULL, and the values of
 * each channel whose entry in `values` is not NULL: in its unit, NaN where missing. Returns their number. */
size_t trace_read(struct trace *t, enum tier tier, uint64_t row, size_t most, int64_t *t_ns, const size_t *channels, size_t n_channels,
		  double *const *values);
/* The same of n rows, of one channel or the times alone. */
static inline void trace_row_times(struct trace *t, enum tier tier, uint64_t row, size_t n, int64_t *out)
{
	for (size_t done = 0; done < n;)
		done += trace_read(t, tier, row + done, n - done, out + done, NULL, 0, NULL);
}

static inline void trace_row_values(struct trace *t, size_t channel, uint64_t row, size_t n, double *out)
{
	for (size_t done = 0; done < n;)
		done += trace_read(t, trace_session(t)->channels[channel].tier, row + done, n - done, NULL, &channel, 1, &(double *) {out + done});
}

/* Statistics of the channel's rows in [from_ns, to_ns). */
void trace_stat(struct trace *t, size_t channel, int64_t from_ns, int64_t to_ns, struct span_stats *out);

/* The readings of a power channel, for energy_between(); valid until the trace grows. NULL: out of memory. */
const struct energy_source *trace_source(struct trace *t, size_t channel);

/* Oldest first; valid until trace_look() or trace_close(). Reasons are why channels had no value (change_is_reason());
 * the changes are without them. */
enum trace_events { EVENTS_MARK, EVENTS_GAP, EVENTS_CHANGE, EVENTS_REASON, EVENTS_STATE, EVENTS_KINDS };
const void *trace_events(const struct trace *t, enum trace_events of, size_t *n);

static inline const struct mark *trace_marks(const struct trace *t, size_t *n)
{
	return trace_events(t, EVENTS_MARK, n);
}

static inline const struct change *trace_changes(const struct trace *t, size_t *n)
{
	return trace_events(t, EVENTS_CHANGE, n);
}

static inline const struct change *trace_reasons(const struct trace *t, size_t *n)
{
	return trace_events(t, EVENTS_REASON, n);
}

static inline const struct gap *trace_gaps(const struct trace *t, size_t *n)
{
	return trace_events(t, EVENTS_GAP, n);
}

/* Ranges that touch [from_ns, to_ns), roughly in order of end; those shorter than least_ns may be missing, with 0
 * none is. Names and lanes are valid until trace_close(); visit() must not call the trace. */
void trace_ranges(struct timeline *t, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit, void *arg);
/* Reads on in them, for a few ms. Returns false once all were read, as the other calls do before they return. */
bool trace_ranges_more(struct timeline *t);
/* The lanes, in order of appearance, at most `most`. Returns the number of all. */
size_t trace_lanes(struct timeline *t, const struct range_lane **out, size_t most);
/* From now on these are the ranges of the trace, which owns them, and not those that were recorded. */
void trace_show_ranges(struct trace *t, struct ranges *r);
/* Returns the first gap that ends at or after from_ns, or n of trace_gaps() if there is none. */
size_t trace_gap_from(const struct trace *t, int64_t from_ns);
/* Simultaneous readings of all clocks, that of the start first; *n is 0 if the file has none. */
const struct clock_anchor *trace_anchors(const struct trace *t, size_t *n);
/* The single ticks that were skipped before rows row .. row + n - 1, at most n; they are not in trace_gaps(). Returns
 * their number. */
size_t trace_late(struct trace *t, enum tier tier, uint64_t row, size_t n, struct gap *out);
/* The same of rows row .. end - 1, counted. */
void trace_late_ticks(struct trace *t, enum tier tier, uint64_t row, uint64_t end, struct late_ticks *out);
/* Whether every tick without a row is in trace_gaps() or trace_late(). */
bool trace_lists_gaps(const struct trace *t);

#endif
