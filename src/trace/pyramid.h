/* pyramid: columns of all channels of a tier, the way they are stored; see PYRM
 * in nvmtop-trace(5).
 *
 * A chunk has columns of one zoom that follow each other.  A column is a record:
 * the number of the first row at or after its beginning, then minimum, maximum,
 * sum and count of each channel, in the order of the sampler's row. */
#ifndef TRACE_PYRAMID_H
#define TRACE_PYRAMID_H

#include "nvmtop/timeline.h"
#include "trace/chunk.h"

#define PYRAMID_HEAD   48
#define PYRAMID_BIN    28 /* f64 minimum, maximum, sum; u32 count */
#define PYRAMID_WIDEST 512 /* channels; a tier with more has no pyramid */
#define PYRAMID_STEP   3  /* zooms from one stored level to the next */
#define PYRAMID_FEW    64 /* a level of so few columns is the last */
#define PYRAMID_LEVELS ((ZOOM_MAX - ZOOM_MIN) / PYRAMID_STEP + 1)

struct pyramid_head {
	enum tier tier;
	int zoom;
	uint32_t width;   /* channels */
	uint32_t columns; /* records */
	int64_t first;    /* column */
	uint64_t row;     /* the first row of the first column */
	uint64_t rows;    /* in these columns */
};

size_t pyramid_head_encode(uint8_t *p, const struct pyramid_head *h);
/* Checks that the records fill the payload of `length` bytes exactly. */
bool pyramid_head_decode(const uint8_t *p, uint64_t length, struct pyramid_head *h);

static inline size_t pyramid_record(size_t width)
{
	return 8 + width * PYRAMID_BIN;
}

/* One bin of a record; its sum is undefined where its count is 0. */
static inline struct bin pyramid_bin(const uint8_t *record, size_t column)
{
	const uint8_t *p = record + 8 + column * PYRAMID_BIN;

	return (struct bin) {get_f64(p), get_f64(p + 8), get_f64(p + 16), get_u32(p + 24)};
}

/* The finest zoom that is stored of a tier: some hundred rows a column. */
int pyramid_zoom(double hz);

/* --- one level: rows, or columns of a finer zoom, to columns --- */

/* All channels side by side.  Minimum, maximum and count need no tree; the sums
 * go through the binary tree of timeline.h, whose open branches are `sums`.  A
 * value that is missing adds -0.0, which changes no sum. */
struct course {
	int base, top; /* zooms: of what goes in, of what comes out */
	size_t width;
	bool open;
	int64_t column;     /* of zoom base: the latest */
	uint64_t row, rows; /* of the column of zoom top that is open */
	double *sums;       /* [top - base + 1][width] */
	double *min, *max;
	uint64_t *n;
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
/* The open column as a record; nothing is open then.  Returns its index; false
 * when a count is too large for a record. */
bool course_take(struct course *c, uint8_t *record, int64_t *column);

/* --- all levels of a tier, in chunks --- */

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
/* In order.  Once a flush was -1 nothing happens any more, and the end is -1. */
void tower_row(struct tower *w, int64_t t_ns, uint64_t row, const double *values);
/* The same of many, and faster.  Row i has its values at values[i * stride], where
 * they are changed; stride is that of tower_stride().  Returns how many were taken:
 * rows of a column that may go on are left for the next call, unless they are the
 * last.  n: at most TOWER_ROWS. */
#define TOWER_ROWS 512
size_t tower_rows(struct tower *w, const int64_t *t_ns, size_t n, bool last, uint64_t row, double *values);
static inline size_t tower_stride(size_t width)
{
	return (width + 3) / 4 * 4;
}
void tower_record(struct tower *w, int64_t column, uint64_t rows, const uint8_t *record);
int tower_end(struct tower *w);

/* How many levels are of use for columns between two times. */
int pyramid_levels(int zoom, int64_t first_ns, int64_t last_ns);

#endif
