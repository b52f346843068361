/* timeline: the interface to a live history or a saved trace.
 *
 * Time is cut into columns on an absolute grid: at zoom k, column i covers [i << k, (i + 1) << k)
 * nanoseconds of CLOCK_MONOTONIC. A drawn column never changes because the chart scrolled, and zooming
 * is one shift. */
#ifndef NVMTOP_MODEL_TIMELINE_H
#define NVMTOP_MODEL_TIMELINE_H

#include "model/stats.h"
#include "model/stream.h"

/* All samples of one channel in one column.  Missing values are not in it. */
struct bin {
	double min, max, sum;	/* undefined when n is 0; mean = sum / n */
	uint64_t n;
};

#define ZOOM_MIN 17		/* 0.13 ms */
#define ZOOM_MAX 47		/* 39 hours */

/* The finest zoom at which a tier has columns: floor(log2(period)), so that a column holds at most two
 * samples. At a finer zoom columns() returns the bin of the finest that covers it. */
int zoom_base(double hz);

/* The fold that both timelines share, so that they agree bit for bit: a column of zoom k is the merge of
 * its two columns of zoom k-1, down to the base, where values are added in time order. */
void bin_add(struct bin *b, double v);			/* NaN is ignored */
void bin_merge(struct bin *b, const struct bin *later);

/* The same fold of rows that come together: the order of its sums, made once for all channels of a
 * tier. All zeroes is a new one. */
struct bin_order {
	uint16_t *to, *from; /* sums[to[i]] += sums[from[i]], one after the other */
	double *sums;
	size_t n, room;
};
/* Of n > 0 rows, 65536 at most, in one column of some zoom. False: out of memory. */
bool bin_order_set(struct bin_order *o, const int64_t *t_ns, size_t n, double hz);
double bin_order_sum(const struct bin_order *o, const double *values);
struct bin bin_order_fold(const struct bin_order *o, const double *values);
void bin_order_free(struct bin_order *o);

/* Of marks in the order of their times those in [from, to), at most max.  Returns how
 * many are in out. */
size_t marks_between(const struct mark *marks, size_t n_marks, int64_t from_ns, int64_t to_ns,
		     struct mark *out, size_t max);

/* Of changes in the order of their times those in [from, to), the newest max. */
size_t changes_between(const struct change *changes, size_t n_changes, int64_t from_ns, int64_t to_ns,
		       struct change *out, size_t max);

struct timeline;
struct timeline_ops {
	const struct session *(*session)(struct timeline *t);
	/* First and last sample time of any tier. False: no samples. */
	bool (*extent)(struct timeline *t, int64_t *first_ns, int64_t *last_ns);
	/* Columns first .. first+n-1 of a channel at a zoom (ZOOM_MIN..ZOOM_MAX); empty bins (n = 0)
	 * where there are no samples. */
	void (*columns)(struct timeline *t, size_t channel, int zoom, int64_t first, size_t n, struct bin *out);
	/* The value of the newest row of the channel's tier at or before t_ns, and
	 * that row's time in *at_ns (may be NULL).  NaN: missing, or no such row. */
	double (*value)(struct timeline *t, size_t channel, int64_t t_ns, int64_t *at_ns);
	/* The time of the n-th row of the tier after (n > 0) or before (n < 0)
	 * t_ns; clamped to the ends.  For stepping. */
	int64_t (*step)(struct timeline *t, enum tier tier, int64_t t_ns, int n);
	/* Marks and gaps that touch [from, to), oldest first, at most max; of gaps those that
	 * are holes. */
	size_t (*marks)(struct timeline *t, int64_t from_ns, int64_t to_ns, struct mark *out, size_t max);
	size_t (*gaps)(struct timeline *t, int64_t from_ns, int64_t to_ns, struct gap *out, size_t max);
	/* The finest zoom at which columns() still has a bin of its own for t_ns. NULL: the base of its
	 * tier. */
	int (*finest)(struct timeline *t, size_t channel, int64_t t_ns);
	/* Changes in [from, to), the newest max of them, oldest first.  NULL: none is known. */
	size_t (*changes)(struct timeline *t, int64_t from_ns, int64_t to_ns, struct change *out, size_t max);
	/* The integral of a power channel over [from, to), from every reading. False: unknown, because
	 * rows were dropped or are too many to read for a frame. NULL: never. */
	bool (*integral)(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct integral *out);
};

/* The first member of an implementation. May be called from one thread while another pushes into it. */
struct timeline {
	const struct timeline_ops *ops;
};

#endif
