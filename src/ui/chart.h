/* chart: from a timeline to the columns of one channel. */
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

/* One axis for everything on the screen. */
struct chart_axis {
	int zoom, merge;        /* a column is `merge` columns of the timeline at this zoom */
	int64_t first;          /* absolute column */
	int n;                  /* columns */
	const struct gap *gaps; /* those in view, oldest first */
	size_t n_gaps;
};

/* What a channel did in the part in view; NaN while nothing is there. */
struct chart_summary {
	double min, mean, max;
};

/* How many bins chart_columns() may need for n columns. */
#define CHART_BINS(n) (MERGE_MAX * (n) + 8)

static inline int64_t chart_column_ns(const struct chart_axis *a)
{
	return (int64_t)a->merge << a->zoom;
}

/* Fill out[0..axis->n).  A tier that is slower than the columns are fine is held
 * from one sample to the next, for two periods at most and not over a gap.
 * bins: room for CHART_BINS(axis->n). */
void chart_columns(struct timeline *t, size_t channel, const struct chart_axis *axis, struct bin *bins,
		   struct spark_column *out, struct chart_summary *sum);

/* Set notch in the columns whose minimum lies more than a quarter of the scale (range: hi - lo)
 * below the maximum for at most a tenth of the column's time. */
void chart_notches(struct timeline *t, size_t channel, const struct chart_axis *axis, double range,
		   struct spark_column *columns);

#endif
