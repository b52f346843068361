/* trace: recordings that are read as a timeline. */
#ifndef NVMTOP_TRACE_TRACE_H
#define NVMTOP_TRACE_TRACE_H

#include "model/timeline.h"
#include "trace/log-writer.h"

/* Recovery of a recording that was interrupted: by a crash, SIGKILL, a power
 * loss, a full disk, or in the middle of its own end.  path is the final name,
 * or that of the part.  Refuses while a recorder is still at it. */
struct trace_recovery {
	char path[4096];	/* the final name */
	bool left_over;		/* the trace was complete, only leftovers were removed */
	uint64_t bytes;
	uint64_t rows[TIERS];
	int64_t last_ns;	/* of the latest row, since the start */
	uint64_t marks;
	uint64_t late[TIERS], lost[TIERS];	/* before it was interrupted */
	/* What is known to be lost: */
	uint64_t unused_bytes;	/* of both files: no whole row or record */
	uint64_t holes[TIERS];	/* rows that are there, but without a value */
	uint64_t doubted;	/* zeroes of which it is lost whether they were measured: missing now */
	bool restarted;		/* the machine has been down since */
	bool header;		/* the header was damaged, and made anew */
	bool described;		/* channels beyond version 1, exact marks and gaps are there */
	struct err left;	/* a file beside it could not be removed; or ERR_NONE */
};
/* Joins, completes the header, syncs and renames; never over a file that is
 * there, and not before the new one is complete, so it can be interrupted and
 * repeated.  0 with e->code ERR_NONE, or ERR_DAMAGED with a sentence about what
 * is lost; -1 when nothing was recovered. */
int trace_recover(const char *path, struct trace_recovery *out, struct err *e);
/* Whether path is not there, but an interrupted recording to it is. */
bool trace_interrupted(const char *path);

/* A recording that is still being made, shown as it grows: its stream from a pipe,
 * a file that such a stream is written to, or the files of a recorder at work. */
struct trace_tail;
struct trace_tail_state {
	bool begun;		/* the sink knows the session */
	bool waits;		/* rows come, but the description is lost: one of its next copies will do */
	struct clock_anchor start;
	int64_t newest_ns;	/* of the latest row, on the recorder's clock; start when there is none */
	uint64_t rows[TIERS], marks;
	uint64_t late[TIERS], lost[TIERS];
	uint64_t missed;	/* rows before the first description that could be used, among the lost ones */
	uint64_t damaged;	/* bytes that could not be used */
};

#define TRACE_TAIL_MS 100	/* how often to look at a file that grows */

/* path: "-" for standard input; a stream in a file; the name of a recording that
 * runs, or of its part.  What comes is pushed into the sink by trace_tail_take(),
 * which never waits.  NULL with ERR_FAILED; errno is ENODATA then when path is a
 * complete trace that does not grow. */
struct trace_tail *trace_tail_open(const char *path, struct sink *to, struct err *e);
int trace_tail_fd(const struct trace_tail *t);	/* to poll for input; -1: look every TRACE_TAIL_MS */
/* 1: take more at once.  0: nothing for now.  -1: it has ended, and so has the
 * sink's stream; e->code is ERR_NONE when it ended in good order, ERR_DAMAGED when
 * what came is there but the rest is not, ERR_FAILED when there is nothing. */
int trace_tail_take(struct trace_tail *t, struct err *e);
void trace_tail_state(const struct trace_tail *t, struct trace_tail_state *out);
void trace_tail_close(struct trace_tail *t);	/* ends the sink's stream if it runs; NULL is fine */

/* A stream that is in a file becomes a complete trace beside it: `to`, or with NULL
 * its name with .bin in the place of .nvms or behind it.  As trace_recover(). */
int trace_unpack(const char *path, const char *to, bool force, struct trace_recovery *out, struct err *e);
bool trace_is_stream(const char *path);

/* Reader.  path may also be a stream in a file, or "-": a stream on standard
 * input, read to its end.  Returns NULL with *e for what cannot be read at all.  For a file
 * that is cut short or damaged it returns what is readable and sets e->code to
 * ERR_DAMAGED with a sentence that names section and offset; otherwise e->code
 * is ERR_NONE. Every count, offset and size is checked before use. */
struct trace;
struct trace *trace_open(const char *path, struct err *e);
/* The same for whoever draws: what of a long trace would have to be read to its end first
 * is looked at meanwhile, and trace_look() tells what was found. */
struct trace *trace_open_view(const char *path, struct err *e);
void trace_close(struct trace *t);
struct timeline *trace_timeline(struct trace *t);
const char *trace_path(const struct trace *t);

/* What has happened to it since it was opened.  To be asked now and then, by the
 * thread that asks everything else: what was found is taken over here. */
struct trace_state {
	bool building;	/* its columns are being made, in the background */
	double built;	/* how much of them, 0 .. 1 */
	bool estimated;	/* columns that were asked for since the last time came from some of their
			 * rows: bounds may be too narrow */
	bool news;	/* damage was found since the last time: damage says what */
	struct err damage;
};
void trace_look(struct trace *t, struct trace_state *out);
/* Wait until nothing is being made any more: columns are exact from then on. */
void trace_settle(struct trace *t);

struct trace_summary {
	int64_t bytes;
	int64_t duration_ns;
	uint64_t rows[TIERS];
	uint64_t marks;
	int64_t real_ns;	/* wall clock at its start, or 0 when the file does not say */
	char board[32];
};
void trace_summary(const struct trace *t, struct trace_summary *out);

/* What only the header of version 1 says. */
struct trace_header {
	char board[33];
	unsigned cores, rails, zones;	/* slots in use */
	bool emc;
	char rail[8][25], zone[16][25];
};
void trace_header(const struct trace *t, struct trace_header *out);

/* The *n usable rows of a tier as they lie in the mapped file, packed; see
 * nvmtop-trace(5). Valid until trace_close(). NULL when there is none. */
const void *trace_raw(const struct trace *t, enum tier tier, uint64_t *n);

/* The fast rows from one sync point to the next.  The first epoch has id 0 and
 * begins with the recording. */
struct trace_epoch {
	uint64_t id;
	uint64_t first, n;		/* fast rows */
	int64_t from_ns, to_ns;		/* CLOCK_MONOTONIC of its mark and of the next one's */
	char label[64];
};
/* How many there are; the first max are put into out. */
uint64_t trace_epochs(const struct trace *t, struct trace_epoch *out, uint64_t max);
/* Rows of an open trace, each value as it was sampled, for whatever counts and
 * writes instead of drawing.  Rows of a tier are numbered from 0; first + n must
 * not pass trace_rows().  Several threads may read at once. */
const struct session *trace_session(const struct trace *t);
/* First and last time of any tier's rows; false: there is no row at all. */
bool trace_extent(const struct trace *t, int64_t *first_ns, int64_t *last_ns);
uint64_t trace_rows(const struct trace *t, enum tier tier);
/* The first row at or after t_ns; trace_rows() when there is none. */
uint64_t trace_row_from(const struct trace *t, enum tier tier, int64_t t_ns);
/* CLOCK_MONOTONIC, never decreasing. */
void trace_row_times(const struct trace *t, enum tier tier, uint64_t first, size_t n, int64_t *out);
/* In the channel's unit, NaN where it is missing; rows of the channel's tier. */
void trace_row_values(struct trace *t, size_t channel, uint64_t first, size_t n, double *out);
/* All marks, gaps and changes, oldest first; they live as long as the trace. */
const struct mark *trace_marks(const struct trace *t, size_t *n);
const struct change *trace_changes(const struct trace *t, size_t *n);
const struct gap *trace_gaps(const struct trace *t, size_t *n);
/* The first gap that reaches to from_ns or beyond; n of trace_gaps(): none does. */
size_t trace_gap_from(const struct trace *t, int64_t from_ns);
/* What the clocks said together, the start first; none in a trace that does not say. */
const struct clock_anchor *trace_anchors(const struct trace *t, size_t *n);
/* Whether the file holds the channel's values as floats. */
bool trace_is_single(const struct trace *t, size_t channel);
/* The times of rows in seconds since the start, as the file has them. */
void trace_row_seconds(const struct trace *t, enum tier tier, uint64_t first, size_t n, double *out);
/* Whether all ticks without a row are in trace_gaps(); a trace of version 1 alone
 * does not say. */
bool trace_lists_gaps(const struct trace *t);
/* Rows first .. end-1 are not needed for now: their pages may leave memory. */
void trace_rows_done(const struct trace *t, enum tier tier, uint64_t first, uint64_t end);

/* Only the header, quickly, for a list of files.  0, or -1 when path is no trace. */
int trace_peek(const char *path, struct trace_summary *out, struct err *e);

/* Hold a file from any writer against the format, section by section in the order
 * of the file; found() gets a sentence with section and offset for each kind of
 * thing that is wrong.  0, or -1 when it cannot be read or is no trace. */
struct trace_checked {
	uint64_t wrong;		/* sentences */
	uint64_t rows[TIERS], marks;
	bool extended;
	uint64_t chunks;
};
int trace_check(const char *path, void (*found)(void *to, const char *text), void *to, struct trace_checked *out,
		struct err *e);

#endif
