/* range-stats: statistics of any time span, computed from columns.
 *
 * A span is split into columns of the finest zoom at its ends and coarser ones in between, by a
 * factor of 32: a few hundred columns for any length. The live history drops fine columns of
 * older data; the ends are then as precise as the remaining columns.
 *
 * A column of the finest zoom holds at most two samples, its minimum and its maximum, so
 * quantiles are exact if all columns can be read. */
#include "model/energy.h"
#include "ui/range-stats.h"

#include <math.h>
#include <stdlib.h>

#define FAN      32 /* columns per column of the next zoom in use */
#define FAN_BITS 5
#define BRIDGE   10 /* in sampling periods */
#define EDGE     2
#define LOOKED   16384 /* maximum number of columns that a quantile reads */

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

/* Merge columns lo .. hi-1 of a zoom, or of a coarser one if this zoom is gone. */
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

/* Add the rows of [from, to) one by one; the range is at most one column. */
static void add_rows(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct bin *all)
{
	enum tier tier = t->ops->session(t)->channels[channel].tier;
	int64_t at;

	if (from_ns >= to_ns)
		return;
	at = t->ops->step(t, tier, from_ns - 1, 1);
	for (int i = 0; i < 4 && at >= from_ns && at < to_ns; i++) {
		int64_t next = t->ops->step(t, tier, at, 1);

		bin_add(all, t->ops->value(t, channel, at, NULL));
		if (next <= at)
			break;
		at = next;
	}
}

/* Find the columns at the base zoom that lie fully inside, and add the remaining rows to *edges.
 * If the base zoom is gone, use the columns at the ends as a whole. */
static bool whole_columns(struct timeline *t, size_t channel, int base, int64_t from_ns, int64_t to_ns,
			  int64_t *lo, int64_t *hi, struct bin *edges)
{
	int64_t column = INT64_C(1) << base;

	*edges = (struct bin) {0, 0, 0, 0};
	*lo = from_ns >> base;
	*hi = to_ns >> base;
	if (finest(t, channel, from_ns) > base) {
		*hi += *lo == *hi; /* shorter than a column: use that column */
		return false;
	}
	*lo = (from_ns + column - 1) >> base;
	if (*lo > *hi) {
		add_rows(t, channel, from_ns, to_ns, edges);
		*hi = *lo;
		return true;
	}
	add_rows(t, channel, from_ns, *lo * column, edges);
	add_rows(t, channel, *hi * column, to_ns, edges);
	return true;
}

/* The number of late ticks in gaps short enough to bridge. A longer gap is a hole. */
static double bridged(struct timeline *t, enum tier tier, double hz, int64_t from_ns, int64_t to_ns)
{
	struct gap gaps[32];
	double missed = 0;

	for (int rounds = 0; rounds < 32; rounds++) {
		size_t n = t->ops->gaps(t, from_ns, to_ns, gaps, 32);

		for (size_t i = 0; i < n; i++)
			if (gaps[i].tier == tier && gaps[i].from_ns >= from_ns &&
			    (double)(gaps[i].to_ns - gaps[i].from_ns) * hz <= BRIDGE * 1e9)
				missed += (double)gaps[i].missed;
		if (n < 32 || gaps[n - 1].to_ns <= from_ns)
			break;
		from_ns = gaps[n - 1].from_ns + 1;
	}
	return missed;
}

/* The full span, if only its ends are not covered because they lie between two samples. */
static int64_t ends_between(int64_t covered_ns, int64_t all_ns, double hz)
{
	return (double)covered_ns > (double)all_ns - EDGE / hz * 1e9 ? all_ns : covered_ns;
}

void span_read(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct span *out)
{
	double hz = tier_hz(t, channel), covered;
	int zoom = zoom_base(hz);
	struct energy_result exact;
	int64_t lo, hi;
	struct bin all;

	*out = (struct span) {NAN, NAN, NAN, 0, 0, NAN};
	if (from_ns < 0 || to_ns <= from_ns)
		return;
	whole_columns(t, channel, zoom, from_ns, to_ns, &lo, &hi, &all);
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
	covered = (double)all.n + bridged(t, t->ops->session(t)->channels[channel].tier, hz, from_ns, to_ns);
	covered = (double)ends_between((int64_t)(covered / hz * 1e9), to_ns - from_ns, hz);
	*out = (struct span) {all.min, all.sum / (double)all.n, all.max,
			      all.n,   (int64_t)covered,        all.sum / (double)all.n * covered / 1e9};
	if (t->ops->session(t)->channels[channel].unit == UNIT_MILLIWATT && t->ops->energy &&
	    t->ops->energy(t, channel, from_ns, to_ns, &exact)) {
		out->mj = exact.joules * 1e3;
		out->covered_ns = ends_between(llround(exact.known_s * 1e9), to_ns - from_ns, hz);
	}
}

double span_joule(const struct span *s)
{
	return s->n ? s->mj / 1000 : NAN;
}

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

/* The value of the sample with this rank (1 is the smallest); reorders the samples. */
static double select_rank(struct piece *p, size_t n, uint64_t rank)
{
	while (n > 1) {
		double pivot = p[n / 2].v;
		size_t less = 0, more = n;
		uint64_t below = 0, same = 0;

		/* Three-way partition: below, equal to and above the pivot. */
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
	struct bin edges;
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
	hi = (to_ns >> zoom) + (to_ns >> zoom == lo);
	if (zoom == base && whole_columns(t, channel, base, from_ns, to_ns, &lo, &hi, &edges)) {
		n = split(&edges, scratch->pieces, exact);
		all = edges.n;
	}
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
