/* chart: computes the columns of one channel from a timeline. */
#ifndef NVMTOP_UI_CHART_H
#define NVMTOP_UI_CHART_H

#include "model/timeline.h"
#include "ui/spark.h"

#define CELLS_MAX   1000
#define COLUMNS_MAX (2 * CELLS_MAX)
#define MERGE_MAX   7
#define MARKS_MAX   512
#define GAPS_MAX    256
#define CHANGES_MAX 256

/* The time axis, the same for everything on the screen. */
struct chart_axis {
	int zoom, merge;        /* a column is `merge` columns of the timeline at this zoom */
	int64_t first;          /* absolute column */
	int n;                  /* columns */
	const struct gap *gaps; /* those in view, oldest first */
	size_t n_gaps;
};

/* Statistics of a channel over the viewport; NaN without samples. */
struct chart_summary {
	double min, mean, max;
};

/* Number of bins that chart_columns() needs for n columns. */
#define CHART_BINS(n) (MERGE_MAX * (n) + 8)

static inline int64_t chart_column_ns(const struct chart_axis *a)
{
	return (int64_t)a->merge << a->zoom;
}

/* Fills out[0..axis->n). If a column is shorter than the sampling period, the last sample is held for at
 * most two periods, but not over a gap. bins: room for CHART_BINS(axis->n). */
void chart_columns(struct timeline *t, size_t channel, const struct chart_axis *axis, struct bin *bins,
		   struct spark_column *out, struct chart_summary *sum);

/* Sets notch in columns that vary by more than a quarter of the scale (range: hi - lo) and are below half
 * their mean for at most a tenth of their time. */
void chart_notches(struct timeline *t, size_t channel, const struct chart_axis *axis, double range,
		   struct spark_column *columns);

#endif
