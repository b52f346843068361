/* timeline: the read interface to a live history or a saved trace.
 *
 * Time is divided into columns on an absolute grid: at zoom k, column i covers [i << k, (i + 1) << k)
 * nanoseconds of CLOCK_MONOTONIC. Scrolling therefore never changes a column that is drawn, and zooming
 * is one shift. */
#ifndef NVMTOP_MODEL_TIMELINE_H
#define NVMTOP_MODEL_TIMELINE_H

#include "model/stats.h"
#include "model/stream.h"

/* All samples of one channel in one column, without missing values. */
struct bin {
	double min, max, sum;	/* undefined when n is 0; mean = sum / n */
	uint64_t n;
};

#define GAP_EVENT_NS (10 * NS_PER_MS) /* shorter gaps are single late ticks */

#define ZOOM_MIN 17		/* 0.13 ms */
#define ZOOM_MAX 47		/* 39 hours */

/* The finest zoom at which a tier has columns: floor(log2(period)), so that a column has at most two
 * samples. At a finer zoom columns() returns the bin of the finest column that covers it. */
int zoom_base(double hz);

/* Both timelines fold values in this order, so that they agree bit for bit: a column of zoom k is the
 * merge of its two columns of zoom k-1, down to the base, where values are added in time order. */
void bin_add(struct bin *b, double v);			/* NaN is ignored */
void bin_merge(struct bin *b, const struct bin *later);

/* n bins of the next zoom, from twice as many; out may be in. */
void bins_halve(struct bin *out, const struct bin *in, size_t n);

/* Copies the marks in [from, to), at most max, from an array sorted by time. Returns their number. */
size_t marks_between(const struct mark *marks, size_t n_marks, int64_t from_ns, int64_t to_ns,
		     struct mark *out, size_t max);

/* Copies the changes in [from, to), the newest max, from an array sorted by time. Returns their number. */
size_t changes_between(const struct change *changes, size_t n_changes, int64_t from_ns, int64_t to_ns,
		       struct change *out, size_t max);
/* timeline_ops.reason() for an array sorted by time. */
bool reason_before(const struct change *reasons, size_t n, const char *name, int64_t t_ns, struct change *out);

struct energy_part;
struct energy_result;
struct energy_source;
struct timeline;
struct timeline_ops {
	const struct session *(*session)(struct timeline *t);
	/* First and last time of a sample; in a trace, of anything. False: there are none. */
	bool (*extent)(struct timeline *t, int64_t *first_ns, int64_t *last_ns);
	/* Fills in columns first .. first+n-1 of a channel at a zoom (ZOOM_MIN..ZOOM_MAX); n is 0 in a
	 * bin without samples. */
	void (*columns)(struct timeline *t, size_t channel, int zoom, int64_t first, size_t n, struct bin *out);
	/* Returns the value of the newest row of the channel's tier at or before t_ns and stores that
	 * row's time in *at_ns (may be NULL). NaN: missing, or no such row. */
	double (*value)(struct timeline *t, size_t channel, int64_t t_ns, int64_t *at_ns);
	/* Returns the time of the n-th row of the tier after (n > 0) or before (n < 0) t_ns, clamped to
	 * the ends. */
	int64_t (*step)(struct timeline *t, enum tier tier, int64_t t_ns, int n);
	/* Marks and gaps that touch [from, to), oldest first, at most max; of the gaps, only those that
	 * gap_is_hole() accepts. */
	size_t (*marks)(struct timeline *t, int64_t from_ns, int64_t to_ns, struct mark *out, size_t max);
	size_t (*gaps)(struct timeline *t, int64_t from_ns, int64_t to_ns, struct gap *out, size_t max);
	/* The finest zoom at which columns() still has a separate bin for t_ns. NULL: the base of the
	 * tier. */
	int (*finest)(struct timeline *t, size_t channel, int64_t t_ns);
	/* Throttlings, notices and over-currents of a channel, or (SIZE_MAX) of all, that touch [from, to), the newest max of
	 * them, oldest first. */
	size_t (*states)(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct state_event *out,
			 size_t max);
	/* Changes in [from, to), the newest max of them, oldest first. NULL: no changes are recorded. */
	size_t (*changes)(struct timeline *t, int64_t from_ns, int64_t to_ns, struct change *out, size_t max);
	/* The begin of the first, or the last, event in [from_ns, to_ns): of a throttling or notice, a rise of a count, a change,
	 * a gap of at least GAP_EVENT_NS. Returns false if there is none. */
	bool (*event)(struct timeline *t, int64_t from_ns, int64_t to_ns, bool last, int64_t *out);
	/* Reads at most `most` rows of the tier in [*from_ns, to_ns), and moves *from_ns behind them, to to_ns behind the
	 * last: their times and the values of n channels. *column_ns: 0, or the rows are gone and each is the mean of a
	 * column of that time, at its end. Returns 0 at the end. NULL: not supported. */
	size_t (*rows)(struct timeline *t, enum tier tier, int64_t *from_ns, int64_t to_ns, const size_t *channels, size_t n,
		       size_t most, int64_t *t_ns, double *const *values, int64_t *column_ns);
	/* Joules of a power channel in [from_ns, to_ns), from every reading; of more than can be read within a frame, the area
	 * below the line between them, without a bound. Returns false if they are unknown because rows were dropped. NULL: not
	 * supported. */
	bool (*energy)(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct energy_result *out);
	/* The last reason at or before t_ns, else the first one, why the channel of that name has no value. Returns false
	 * if none is known. NULL: none are recorded. */
	bool (*reason)(struct timeline *t, const char *name, int64_t t_ns, struct change *out);
	/* Visits the ranges that touch [from_ns, to_ns), roughly in order of end; of those shorter than least_ns
	 * some may be folded (RANGE_FOLDED). NULL: no ranges are recorded. */
	void (*ranges)(struct timeline *t, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit,
		       void *arg);
	/* Reads on in the ranges, for a few ms. Returns false once all were read, before which ranges() and lanes()
	 * would wait. NULL: there is nothing to read. */
	bool (*ranges_more)(struct timeline *t);
	/* Lanes of all ranges, in order of appearance. Returns their number; NULL as above. */
	size_t (*lanes)(struct timeline *t, const struct range_lane **out, size_t most);
	/* Statistics of the readings in [from_ns, to_ns). What those beside it say of it is counted, too: the area, how long a
	 * state was above 0, the time for which that is known, and by how much a count rose. */
	void (*stat)(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct span_stats *out);
	/* What the rows of the first span that begins at or after from_ns add to the joules of a channel. Returns false if none
	 * ends before to_ns. NULL: not supported. */
	bool (*energy_part)(struct timeline *t, const struct energy_source *s, int64_t from_ns, int64_t to_ns, struct energy_part *out);
};

/* Base of every implementation; its first member. One thread may read while another pushes into it. */
struct timeline {
	const struct timeline_ops *ops;
};

/* What a channel shows at t_ns: the value of the newest row or, if it has none, the newest one in the three
 * periods before it (of the tier, or of the channel if that is longer), because a reading may come too late for
 * its row. *at_ns is the time of the newest row, as of value(). */
double timeline_newest(struct timeline *t, size_t channel, int64_t t_ns, int64_t *at_ns);

#endif
