/* span: sums over any stretch of time, from columns.
 *
 * A stretch is cut into columns of the finest zoom at its two ends and of coarser
 * ones in between, 32 to one: a few hundred columns at most, whatever its length.
 * The live history forgets the fine columns of what is long ago; there the ends are
 * as precise as what it still has.
 *
 * A column of the finest zoom holds two samples at most, its minimum and its
 * maximum: so few columns that they can all be looked at give exact quantiles. */
#include "span.h"

#include <math.h>
#include <stdlib.h>

#define FAN      32   /* columns of a zoom to one of the next that is used */
#define FAN_BITS 5
#define FILLED   0.97 /* of the samples that there should be; fewer is a hole */
#define LOOKED   16384 /* columns that a quantile looks at, at most */

static double tier_hz(struct timeline *t, size_t channel)
{
	const struct session *about = t->ops->session(t);
	double hz = about->hz[about->channels[channel].tier];

	return hz > 0 ? hz : 1;
}

static int finest(struct timeline *t, size_t channel, int64_t t_ns)
{
	int base = zoom_base(tier_hz(t, channel));
	int zoom = t->ops->finest ? t->ops->finest(t, channel, t_ns) : base;

	return zoom < base ? base : zoom;
}

/* Merge columns lo .. hi-1 of a zoom; of a coarser one where that is all there is. */
static void add(struct timeline *t, size_t channel, int zoom, int64_t lo, int64_t hi, struct bin *all)
{
	struct bin bins[2 * FAN];
	int have;

	if (lo >= hi)
		return;
	have = finest(t, channel, lo * (INT64_C(1) << zoom));
	if (have > zoom) {
		int64_t half = INT64_C(1) << (have - zoom - 1);

		lo = (lo + half) >> (have - zoom);
		hi = (hi + half) >> (have - zoom);
		zoom = have;
	}
	while (lo < hi) {
		size_t n = hi - lo < 2 * FAN ? (size_t)(hi - lo) : 2 * FAN;

		t->ops->columns(t, channel, zoom, lo, n, bins);
		for (size_t i = 0; i < n; i++)
			if (bins[i].n)
				bin_merge(all, &bins[i]);
		lo += (int64_t)n;
	}
}

void span_read(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct span *out)
{
	double hz = tier_hz(t, channel), covered;
	int zoom = zoom_base(hz);
	int64_t lo = from_ns >> zoom, hi = to_ns >> zoom;
	struct bin all = {0, 0, 0, 0};

	*out = (struct span) {NAN, NAN, NAN, 0, 0};
	if (from_ns < 0 || to_ns <= from_ns)
		return;
	if (lo == hi)
		hi++; /* shorter than a column: that one */
	while (hi - lo > 2 * FAN && zoom + FAN_BITS <= ZOOM_MAX) {
		int64_t up = (lo + FAN - 1) >> FAN_BITS, down = hi >> FAN_BITS;

		add(t, channel, zoom, lo, up << FAN_BITS, &all);
		add(t, channel, zoom, down << FAN_BITS, hi, &all);
		lo = up;
		hi = down;
		zoom += FAN_BITS;
	}
	add(t, channel, zoom, lo, hi, &all);
	if (!all.n)
		return;
	covered = (double)all.n / hz * 1e9;
	if (covered > FILLED * (double)(to_ns - from_ns))
		covered = (double)(to_ns - from_ns);
	*out = (struct span) {all.min, all.sum / (double)all.n, all.max, all.n, (int64_t)covered};
}

double span_joule(const struct span *s)
{
	return s->n ? s->mean / 1000 * ((double)s->covered_ns / 1e9) : NAN;
}

/* --- quantiles --- */

struct piece {
	double v;
	uint64_t n;
};

struct span_scratch {
	struct bin bins[256];
	struct piece pieces[3 * LOOKED];
};

struct span_scratch *span_scratch_new(void)
{
	return malloc(sizeof(struct span_scratch));
}

static size_t split(const struct bin *b, struct piece *out, bool *exact)
{
	size_t n = 0;

	if (!b->n)
		return 0;
	out[n++] = (struct piece) {b->min, 1};
	if (b->n > 1)
		out[n++] = (struct piece) {b->max, 1};
	if (b->n > 2) {
		out[n++] = (struct piece) {(b->sum - b->min - b->max) / (double)(b->n - 2), b->n - 2};
		*exact = false;
	}
	return n;
}

static void swap(struct piece *a, struct piece *b)
{
	struct piece c = *a;

	*a = *b;
	*b = c;
}

/* The value of the sample of this rank (1 is the smallest); reorders. */
static double select_rank(struct piece *p, size_t n, uint64_t rank)
{
	while (n > 1) {
		double pivot = p[n / 2].v;
		size_t less = 0, more = n;
		uint64_t below = 0, same = 0;

		/* Three heaps: below the pivot, at it, above it. */
		for (size_t i = 0; i < more;) {
			if (p[i].v < pivot) {
				below += p[i].n;
				swap(&p[i++], &p[less++]);
			} else if (p[i].v > pivot) {
				swap(&p[i], &p[--more]);
			} else {
				same += p[i++].n;
			}
		}
		if (rank <= below) {
			n = less;
		} else if (rank <= below + same) {
			return pivot;
		} else {
			rank -= below + same;
			p += more;
			n -= more;
		}
	}
	return n ? p[0].v : NAN;
}

double span_quantile(struct timeline *t, struct span_scratch *scratch, size_t channel, int64_t from_ns,
		     int64_t to_ns, double q, bool *exact)
{
	int base = zoom_base(tier_hz(t, channel)), zoom;
	size_t n = 0;
	uint64_t all = 0, rank;
	int64_t lo, hi;

	*exact = true;
	if (from_ns < 0 || to_ns <= from_ns)
		return NAN;
	zoom = finest(t, channel, from_ns);
	while (zoom < ZOOM_MAX && (to_ns >> zoom) - (from_ns >> zoom) >= LOOKED)
		zoom++;
	if (zoom > base)
		*exact = false;
	lo = from_ns >> zoom;
	hi = to_ns >> zoom;
	if (hi == lo)
		hi++;
	while (lo < hi) {
		size_t some = hi - lo < 256 ? (size_t)(hi - lo) : 256;

		t->ops->columns(t, channel, zoom, lo, some, scratch->bins);
		for (size_t i = 0; i < some && n + 3 <= 3 * LOOKED; i++) {
			n += split(&scratch->bins[i], scratch->pieces + n, exact);
			all += scratch->bins[i].n;
		}
		lo += (int64_t)some;
	}
	if (!all)
		return NAN;
	rank = (uint64_t)ceil(q * (double)all);
	return select_rank(scratch->pieces, n, rank ? rank : 1);
}
