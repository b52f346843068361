/* stream-state: what has come of a stream and waits, as the files that take it in
 * share it. */
#ifndef NVMTOP_TRACE_STREAM_STATE_H
#define NVMTOP_TRACE_STREAM_STATE_H

#include "trace/again.h"
#include "trace/stream-in.h"

#define BATCH     64
#define TIME_MOST (INT64_C(1) << 61)

/* Bytes that come at one end and leave at the other. */
struct fifo {
	uint8_t *p;
	size_t at, end, room;
};

struct lane_in {
	struct fifo rows; /* of version 1, from number `next` on */
	struct fifo cols; /* rows of f64, from number `cols_next` on */
	uint64_t next, cols_next;
	uint64_t missed; /* rows before the first one that can be used */
	struct run *runs; /* in the order in which they came */
	size_t n_runs, room_runs;
	int64_t last_ns;
	size_t *channels; /* of this tier; owned */
	size_t n_channels;
	size_t extra; /* columns beyond version 1 */
	struct gap *gaps;
	size_t n_gaps;
	bool suspect;                  /* a run that belongs to the next rows may be missing */
	uint64_t blank_from, blank_to; /* rows of which only runs and columns are sure */
	double *values;                /* BATCH rows */
};

struct stream_in {
	struct sink *to;
	struct session about;
	struct channel *channels;
	struct place *places;
	struct fact *facts;
	bool spoiled, anchor, rates, begun, closed;
	bool late; /* rows come and the description is not whole: one of the next copies will be */
	int64_t late_ns; /* time of the first of those rows; -1: there was none */
	uint32_t sum; /* of the description, as its copies have it */
	bool other;   /* a copy was of another one */
	struct again_in again;
	struct lane_in tier[TIERS];
	struct {
		struct mark mark;
		uint64_t row;
	} * marks;
	size_t n_marks;
	struct trace_tail_state state;
};

int stream_no_memory(struct err *e);

/* The description: chunks of it, and the sink's begin() when it is whole. */
int stream_describe(struct stream_in *s, uint32_t id, const uint8_t *p, size_t n, struct err *e);
int stream_begin(struct stream_in *s, struct err *e);
/* A chunk of a copy of it.  The first that is whole begins a stream that has not begun. */
int stream_again(struct stream_in *s, const uint8_t *p, size_t n, struct err *e);
/* Something else while there is none: at first it may begin, later it is lost.  -1 also when
 * it is time to give up. */
int stream_not_yet(struct stream_in *s, uint32_t id, const uint8_t *p, size_t n, struct err *e);

/* Rows first .. first+n-1, in the bytes at p, and columns beyond version 1. */
int stream_take_rows(struct stream_in *s, enum tier t, uint64_t first, const uint8_t *p, size_t n,
		     struct err *e);
int stream_take_columns(struct stream_in *s, const uint8_t *p, size_t n, struct err *e);
/* Hand over the rows of which everything is there, and those before number
 * `upto` of which some is missing and will not come. */
void stream_deliver(struct stream_in *s, enum tier t, uint64_t upto);
/* The gaps that lie before a row of that time. */
void stream_send_gaps(struct stream_in *s, struct lane_in *l, int64_t before_ns);
/* The marks that come before fast row number `before`. */
void stream_send_marks(struct stream_in *s, uint64_t before);

#endif
