/* hold: the newest rows of every tier, and the marks and gaps among them, in
 * memory that is taken once.  Knows no thread and no lock. */
#ifndef TRACE_HOLD_H
#define TRACE_HOLD_H

#include "nvmtop/stream.h"

#define HOLD_MARKS 4096 /* the oldest is forgotten for one more */
#define HOLD_GAPS  1024

struct hold_tier {
	size_t width, room;
	uint64_t head; /* rows ever taken; row i is at i % room while head - i <= room */
	int64_t *t_ns;
	double *values;
};

struct hold {
	struct hold_tier tiers[TIERS];
	struct mark *marks; /* by time */
	size_t n_marks;
	struct gap *gaps; /* as they came */
	size_t n_gaps;
};

double hold_bytes(const struct session *about, int64_t span_ns);
/* False: out of memory.  All of it is touched here, not when rows come. */
bool hold_init(struct hold *h, const struct session *about, int64_t span_ns);
void hold_free(struct hold *h);

void hold_row(struct hold *h, enum tier tier, int64_t t_ns, const double *values);
void hold_mark(struct hold *h, const struct mark *m);
void hold_gap(struct hold *h, const struct gap *g);

/* The oldest row that is still there; head when there is none. */
uint64_t hold_oldest(const struct hold *h, enum tier tier);
int64_t hold_time(const struct hold *h, enum tier tier, uint64_t row); /* which is there */
const double *hold_values(const struct hold *h, enum tier tier, uint64_t row);
/* The first row there is at or after t_ns; head when there is none. */
uint64_t hold_find(const struct hold *h, enum tier tier, int64_t t_ns);

#endif
