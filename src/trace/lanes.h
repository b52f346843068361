/* lanes: the bounded queue between the stream and the disk, or a pipe.
 *
 * Rows are encoded into one block a lane; full blocks, and all of them several
 * times a second, go to the writer's thread.  Blocks come from a pool that is
 * made before the first row and never grows.  No function here blocks, and none
 * locks: the writer does. */
#ifndef NVMTOP_TRACE_LANES_H
#define NVMTOP_TRACE_LANES_H

#include "trace/chunk.h"
#include "trace/course.h"
#include "trace/image.h"

#define BLOCK_BYTES 32768
#define BLOCK_COUNT 96 /* 3 MB: some 20 s of a disk that stands still */
#define BLOCK_SPARE 6  /* kept for marks and gaps when rows are lost already */

enum lane {
	LANE_FAST, /* goes to the part as it is: header and rows; in a stream a chunk */
	LANE_MEDIUM,
	LANE_SLOW,
	LANE_COLUMNS, /* + tier */
	LANE_PYRAMID = LANE_COLUMNS + TIERS, /* + tier */
	LANE_COVER = LANE_PYRAMID + TIERS,
	LANE_RUNS,
	LANE_MARKS,
	LANE_GAPS,
	LANE_CHANGES,
	LANE_ABOUT,
	LANES
};

struct block {
	struct block *next;
	enum lane lane;
	uint32_t id; /* of the chunk that it becomes */
	struct columns_head columns; /* of rows of version 1 only the first row's number */
	struct pyramid_head pyramid;
	size_t used;
	uint8_t bytes[BLOCK_BYTES];
};

/* A run of cells that version 1 cannot hold, still growing. */
struct open_run {
	bool open;
	uint64_t row, count;
	double value;
};

struct lanes {
	bool stream; /* set before lanes_begin(): all that comes out is chunks in the order of a stream */
	const struct session *about;
	struct layout layout;
	struct image image[TIERS]; /* the newest rows */
	struct block *pool; /* all of them, one allocation */
	struct block *free; /* newest first, so that few are ever touched, */
	size_t n_fresh;     /* and behind them as many that never were: even a link would touch a page */
	size_t n_free;      /* both */
	struct block *head, **tail; /* ready to be written */
	struct block *current[LANES];
	struct open_run *runs; /* one a channel */
	uint64_t closed;       /* runs that were written */
	uint64_t covered;      /* rows of all tiers whose runs were written */
	uint64_t rows[TIERS];  /* taken */
	int64_t last_ns[TIERS];
	struct gap hole[TIERS]; /* missed > 0: rows that found no room */
	uint64_t lost, marks, lost_marks;
	struct course pyramid[TIERS]; /* width 0: none is made */
	uint64_t sealed, pyramids; /* bytes of all blocks that were ever ready, and of those of pyramids */
};

int lanes_init(struct lanes *q, struct err *e);
void lanes_free(struct lanes *q);
/* Header and description of the session; -1 when they do not fit. */
int lanes_begin(struct lanes *q, const struct session *about, struct err *e);
void lanes_rows(struct lanes *q, const struct rows *r);
void lanes_mark(struct lanes *q, const struct mark *m);
void lanes_gap(struct lanes *q, const struct gap *g);
void lanes_change(struct lanes *q, const struct change *c);
/* Make everything ready that is there; at the end also what could still grow.
 * False: nothing was, since in a stream there is not even a block for what must
 * stand before the rows. */
bool lanes_seal(struct lanes *q, bool last);
/* The size of a complete file with everything that was taken, at most. */
uint64_t lanes_most(const struct lanes *q);
/* Take the oldest block that is ready, with its sums filled in; NULL: none. */
struct block *lanes_take(struct lanes *q);
/* Where its bytes to be written are. */
size_t block_finish(struct block *b);
size_t block_most(const struct block *b); /* bytes that this makes of it, at most */
void lanes_give(struct lanes *q, struct block *b);
/* Give the memory of blocks that are in the pool back to the kernel; they stay usable. */
void lanes_release(struct lanes *q);

/* Of blocks, for what fills them.  A lane's block, if it has one, becomes ready. */
void lane_seal(struct lanes *q, enum lane lane);
/* See that `bytes` more fit into the lane, leaving `keep` blocks in the pool. */
bool lane_room(struct lanes *q, enum lane lane, size_t bytes, size_t keep);
bool lane_full(const struct lanes *q, enum lane lane, size_t bytes); /* it has a block, and no room in it */
size_t lane_left(const struct lanes *q, enum lane lane);	      /* bytes that its block has room for */
uint8_t *lane_end(struct lanes *q, enum lane lane);		      /* where the next bytes go */
size_t lane_head(const struct lanes *q, enum lane lane);	      /* bytes before the first record */

#endif
