/* chart: computes the columns of one channel from a timeline.
 *
 * A 10 Hz signal at 1 ms per column has a sample in every hundredth column. Empty columns in between
 * would look like missing samples, so the last value is held for up to two periods, but not over a gap.
 *
 * The timeline is read once per row, no finer than the base zoom of the tier, so the look-back costs
 * only a few bins at any zoom. */
#include "ui/chart.h"

#include <math.h>

#define HOLD_MAX 4

static bool in_gap(const struct chart_axis *axis, enum tier tier, int64_t from_ns, int64_t to_ns)
{
	for (size_t i = 0; i < axis->n_gaps; i++) {
		const struct gap *g = &axis->gaps[i];

		if (g->tier == tier && g->from_ns < to_ns && g->to_ns > from_ns)
			return true;
	}
	return false;
}

static void summarise(struct chart_summary *sum, const struct bin *bins, size_t n)
{
	struct bin all = {0, 0, 0, 0};

	for (size_t i = 0; i < n; i++)
		if (bins[i].n)
			bin_merge(&all, &bins[i]);
	sum->min = all.n ? all.min : NAN;
	sum->max = all.n ? all.max : NAN;
	sum->mean = all.n ? all.sum / (double)all.n : NAN;
}

/* Merges a part into the column; before: number of parts already merged. */
static void merge(struct spark_column *out, const struct spark_column *part, int before)
{
	if (!before || !out->any) {
		*out = *part;
		out->n = part->any;
		return;
	}
	if (!part->any)
		return;
	out->min = part->min < out->min ? part->min : out->min;
	out->max = part->max > out->max ? part->max : out->max;
	out->mean += (part->mean - out->mean) / ++out->n;
}

void chart_columns(struct timeline *t, size_t channel, const struct chart_axis *axis, struct bin *bins,
		   struct spark_column *out, struct chart_summary *sum)
{
	const struct session *about = t->ops->session(t);
	enum tier tier = about->channels[channel].tier;
	double hz = about->hz[tier] > 0 ? about->hz[tier] : 1;
	int base = zoom_base(hz), zoom, shift, n = axis->n * axis->merge;
	int64_t first, last, hold, back, from = axis->first * axis->merge;
	struct spark_column now = {.any = false};
	int64_t since = 0; /* columns since the last sample */

	zoom = axis->zoom > base ? axis->zoom : base;
	if (zoom > ZOOM_MAX)
		zoom = ZOOM_MAX;
	shift = zoom > axis->zoom ? zoom - axis->zoom : 0;
	hold = (int64_t)(2e9 / hz) >> zoom;
	if (hold > HOLD_MAX)
		hold = HOLD_MAX;
	first = from >> shift;
	last = (from + n - 1) >> shift;
	back = hold;
	t->ops->columns(t, channel, zoom, first - back, (size_t)(last - first + 1 + back), bins);
	summarise(sum, bins + back, (size_t)(last - first + 1));

	for (int64_t i = -back, done = 0; i <= last - first; i++) {
		const struct bin *b = &bins[i + back];

		if (b->n) {
			now = (struct spark_column) {b->min, b->sum / (double)b->n, b->max, 1, true, false};
			since = 0;
		} else if (now.any) {
			int64_t at = (first + i) * (INT64_C(1) << zoom);

			if (since == 0)
				now.min = now.max = now.mean;
			if (++since > hold || in_gap(axis, tier, at, at + (INT64_C(1) << zoom)))
				now.any = false;
		}
		/* The drawn columns that this column of the timeline covers. */
		for (; i >= 0 && done < n && (from + done) >> shift == first + i; done++)
			merge(&out[done / axis->merge], &now, (int)(done % axis->merge));
	}
}

#define PARTS_ZOOM 2  /* each column of the timeline is split into 4 parts */
#define ROWS_ZOOM  27 /* columns up to this zoom are made of rows; a view of coarser ones is of too many */
#define AT_ONCE    16 /* columns */

/* Returns true if some parts of a column, but at most a tenth, reach below half its mean. */
static bool is_notch(const struct bin *parts, int n_parts, double mean)
{
	int low = 0, n = 0;

	for (int i = 0; i < n_parts; i++) {
		n += parts[i].n > 0;
		low += parts[i].n > 0 && parts[i].min < mean / 2;
	}
	return low && 10 * low <= n;
}

void chart_notches(struct timeline *t, size_t channel, const struct chart_axis *axis, double range,
		   struct spark_column *columns)
{
	const struct session *about = t->ops->session(t);
	int zoom = axis->zoom - PARTS_ZOOM, each = axis->merge << PARTS_ZOOM;
	struct bin parts[AT_ONCE * (MERGE_MAX << PARTS_ZOOM)];

	if (zoom < zoom_base(about->hz[about->channels[channel].tier]) || (zoom <= ROWS_ZOOM && axis->zoom > ROWS_ZOOM))
		return;
	for (int from = 0, n; from < axis->n; from += n) {
		for (n = 0; n < AT_ONCE && from + n < axis->n && columns[from + n].any &&
			    columns[from + n].max - columns[from + n].min > range / 4;)
			n++;
		if (n > 0)
			t->ops->columns(t, channel, zoom, (axis->first + from) * each, (size_t)(n * each), parts);
		for (int i = 0; i < n; i++)
			columns[from + i].notch = is_notch(&parts[i * each], each, columns[from + i].mean);
		n += n == 0;
	}
}
