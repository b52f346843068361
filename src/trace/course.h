/* course: one level of a pyramid: rows, or columns of a finer zoom, to columns. */
#ifndef NVMTOP_TRACE_COURSE_H
#define NVMTOP_TRACE_COURSE_H

#include "trace/pyramid.h"

/* All channels side by side.  Minimum, maximum and count need no tree; the sums
 * go through the binary tree of timeline.h, of which each zoom from base to top has
 * one open branch, or none.  A value that is missing adds -0.0, which changes no sum. */
struct course {
	int base, top; /* zooms: of what goes in, of what comes out */
	size_t width;
	bool open;
	int64_t column;             /* of zoom base: the latest */
	uint64_t row, rows;         /* of the column of zoom top that is open */
	double *sums[ZOOM_MAX + 1]; /* of base + k at k */
	uint64_t branches;          /* bit k: there is one at k; what else stands there is nothing */
	double *min, *max;
	uint64_t *n;
	double *memory; /* of all of them */
};

int course_init(struct course *c, size_t width, int base, int top); /* -1: out of memory */
void course_free(struct course *c);
/* Whether what is at column `column` of zoom base lies in another column than
 * the open one, which then has to be taken first. */
static inline bool course_leaves(const struct course *c, int64_t column)
{
	return c->open && column >> (c->top - c->base) != c->column >> (c->top - c->base);
}
void course_row(struct course *c, int64_t t_ns, uint64_t row, const double *values);
void course_record(struct course *c, int64_t column, uint64_t rows, const uint8_t *record);
/* A whole column of rows of which none is open, faster: at most COURSE_ROWS, row i with
 * its values at values[i * course_stride()], where they are changed. */
#define COURSE_ROWS 512
static inline size_t course_stride(size_t width)
{
	return (width + 3) / 4 * 4;
}
void course_column(struct course *c, const int64_t *t_ns, size_t n, uint64_t row, double *values);
/* The open column as a record; nothing is open then.  Returns its index; false
 * when a count is too large for a record. */
bool course_take(struct course *c, uint8_t *record, int64_t *column);

#endif
