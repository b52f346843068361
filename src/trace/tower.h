/* tower: all levels of a tier's pyramid, in chunks. */
#ifndef NVMTOP_TRACE_TOWER_H
#define NVMTOP_TRACE_TOWER_H

#include "trace/course.h"

struct ledge {
	struct pyramid_head head;
	uint8_t *chunk; /* its records so far, behind room for the heads */
	size_t room;    /* for records, in bytes */
};

/* Takes a whole chunk, sealed; the head is that in its payload. */
typedef int tower_flush(void *to, const struct pyramid_head *h, const uint8_t *chunk, size_t n);

struct tower {
	enum tier tier;
	size_t width;
	int levels, live; /* live: those whose counts fit a record so far */
	struct course course[PYRAMID_LEVELS];
	struct ledge ledge[PYRAMID_LEVELS];
	tower_flush *flush;
	void *to;
	bool failed;
};

/* Levels of zoom `zoom`, zoom + PYRAMID_STEP, ..., at most `levels`.  What goes
 * in are rows (base is the tier's) or records (base is their zoom).  A chunk of the
 * finest level has at most `bytes` of records, of coarser ones less. */
int tower_init(struct tower *w, enum tier tier, size_t width, int base, int zoom, int levels,
	       size_t bytes, tower_flush *flush, void *to);
void tower_free(struct tower *w);
/* In order.  Once a flush was -1 nothing happens any more, and the end is -1.  Row i has its values at values[i * stride], where
 * they are changed; stride is that of course_stride().  Returns how many were taken:
 * rows of a column that may go on are left for the next call, unless they are the
 * last.  n: at most COURSE_ROWS. */
size_t tower_rows(struct tower *w, const int64_t *t_ns, size_t n, bool last, uint64_t row, double *values);
void tower_record(struct tower *w, int64_t column, uint64_t rows, const uint8_t *record);
int tower_end(struct tower *w);

#endif
