/* hold: the newest rows of every tier, and the marks and gaps among them, in
 * memory that is reserved once.  Knows no thread and no lock.
 *
 * Rows lie packed (dense.h) in chunks that begin with a whole row.  There are as
 * many cells for chunks as rows need of which nothing can be packed, so that the
 * stretch is held whatever comes.  A cell that gets free is the next to be used:
 * those that packed rows do not need are never touched, and take no memory. */
#ifndef NVMTOP_TRACE_HOLD_H
#define NVMTOP_TRACE_HOLD_H

#include "trace/dense.h"

#define HOLD_MARKS 4096 /* the oldest is forgotten for one more */
#define HOLD_GAPS  1024
#define HOLD_CHANGES 256

/* Chunk i is at i % cells of the tier's list, from its first row to that of chunk i + 1. */
struct hold_chunk {
	uint64_t row;
	int64_t t_ns; /* of that row */
	uint32_t cell, used;
};

struct hold_tier {
	struct dense last;  /* the newest row */
	size_t room, most;  /* rows that are held at least; bytes that a row may need */
	uint64_t head;      /* rows ever taken */
	uint64_t from, end; /* chunks that are there */
	size_t cell, cells; /* bytes of one; how many */
	uint8_t *bytes;
	struct hold_chunk *chunks;
	uint32_t *free; /* cells that were used and are not: the newest last */
	size_t n_free, touched;
};

struct hold {
	struct hold_tier tiers[TIERS];
	struct mark *marks; /* by time */
	size_t n_marks;
	struct gap *gaps; /* as they came */
	size_t n_gaps;
	struct change *changes; /* by time */
	size_t n_changes;
	void *memory; /* of all but the newest rows */
	size_t size;
};

/* What it may take in all, and would if there are not so many addresses. */
double hold_bytes(const struct session *about, int64_t span_ns);
/* False: out of memory. */
bool hold_init(struct hold *h, const struct session *about, int64_t span_ns);
void hold_free(struct hold *h);
/* How much of it was in use at most so far. */
size_t hold_touched(const struct hold *h);

/* Allocates nothing. */
void hold_row(struct hold *h, enum tier tier, int64_t t_ns, const double *values);
void hold_mark(struct hold *h, const struct mark *m);
void hold_gap(struct hold *h, const struct gap *g);
/* False, and *gone is the oldest, when it is forgotten for this one. */
bool hold_change(struct hold *h, const struct change *c, struct change *gone);

/* The oldest row that is still there, and its time; head and INT64_MAX when there is none. */
uint64_t hold_oldest(const struct hold *h, enum tier tier);
int64_t hold_oldest_ns(const struct hold *h, enum tier tier);

/* Rows are read one after the other, each reader with a cursor of its own. */
struct hold_cursor {
	enum tier tier;
	struct dense row; /* where it stands: time and values */
	bool stands;
	uint64_t at, chunk;
	size_t next; /* in the chunk */
};

bool hold_cursor_init(struct hold_cursor *c, const struct hold *h, enum tier tier); /* false: no memory */
void hold_cursor_free(struct hold_cursor *c);

/* Have it stand at a row; false: that is not there, or not any more.  The next
 * row costs least, any other the unpacking of a part of a chunk. */
bool hold_at(const struct hold *h, struct hold_cursor *c, uint64_t row);
/* The first row there is at or after t_ns; head when there is none. */
uint64_t hold_find(const struct hold *h, struct hold_cursor *c, int64_t t_ns);

#endif
