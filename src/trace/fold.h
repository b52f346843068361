/* fold: rows of one channel to columns, the way timeline.h defines them. */
#ifndef NVMTOP_TRACE_FOLD_H
#define NVMTOP_TRACE_FOLD_H

#include "model/timeline.h"

#define STEP 1024 /* rows at a time */

/* Folds one channel's values into columns of zoom `top`. */
struct fold {
	struct bin level[ZOOM_MAX + 1];
};

/* How to fold a stretch of rows: the same for every channel of a tier, since it
 * follows from their times alone.
 *
 * Usually the rows reach up to the end of a column of zoom `mid`.  Then the
 * columns below it are made pair by pair, in any order that has the halves
 * before the whole, which is several times faster than row by row. */
struct plan {
	int base, mid, top;
	bool row_by_row; /* too many rows in one column of zoom mid */
	int64_t column;  /* of the base zoom, of the row before */
	size_t rows;
	uint16_t leader[STEP]; /* the first row of the same base column */
	struct {
		uint16_t to, from;
	} merge[STEP];
	size_t n_merges;
	/* What is then left, or each row: to be added after closing levels. */
	size_t n_left;
	uint16_t left[STEP];
	int64_t before[STEP]; /* the column of zoom top that was open until then */
	unsigned char close[STEP];
};

/* Columns of zoom `top`, for rows from first_ns on. */
void plan_init(struct plan *p, int base, int top, int64_t first_ns);
/* Plan for the next rows, the first p->rows of n (1 .. STEP); last: there are
 * no more. */
void plan_make(struct plan *p, const int64_t *t_ns, size_t n, bool last);
/* Fold the values of the planned rows; f begins as zeroes.  Columns that are
 * complete go to out, whose first one is column `first`. */
void fold_values(struct fold *f, const struct plan *p, const double *v, struct bin *out, int64_t first);
/* The column that is still open goes there, too. */
void fold_end(struct fold *f, const struct plan *p, struct bin *out, int64_t first);

#endif
