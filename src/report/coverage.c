/* Counts the ticks of each tier without a row, and the time that they cover. */
#include <math.h>

#include "report/analysis.h"

static bool inside(const struct epoch *ep, int64_t t_ns)
{
	return t_ns >= ep->from_ns && t_ns < ep->end_ns;
}

static void gap_add(struct ticks *k, bool lost, uint64_t missed, int64_t ns)
{
	*(lost ? &k->lost : &k->late) += missed;
	k->gaps++;
	if (ns > k->longest_ns)
		k->longest_ns = ns;
}

/* Adds the time between two rows if it is too long to count as covered. */
static void hole_add(struct ticks *k, const struct epoch *ep, int64_t cover, int64_t from, int64_t to)
{
	int64_t a = from > ep->from_ns ? from : ep->from_ns, b = to < ep->to_ns ? to : ep->to_ns;

	if (to - from > cover && b > a)
		k->hole_ns += b - a;
}

/* If the trace does not record gaps, they are derived from the distance of rows. Rows of a slower tier
 * may be from random points of their ticks, and then up to two periods apart. */
static void gaps_by_times(const struct analysis *a, struct part *p, enum tier tier)
{
	const struct epoch *ep = &p->epoch;
	double period = 1e9 / a->session->hz[tier];
	int64_t t[1024], before = 0, cover = stats_hole_ns(a->session->hz[tier]);
	uint64_t row = trace_row_from(a->trace, tier, ep->from_ns);
	uint64_t end = trace_row_from(a->trace, tier, ep->end_ns);
	bool any = false;

	row -= row > 0;
	end += end < trace_rows(a->trace, tier);
	while (row < end) {
		size_t n = end - row < 1024 ? (size_t)(end - row) : 1024;

		trace_row_times(a->trace, tier, row, n, t);
		for (size_t i = 0; i < n; i++) {
			int64_t apart = any ? t[i] - before : 0;

			if ((double)apart > (tier == TIER_FAST ? 1.5 : 2.5) * period && inside(ep, before) &&
			    inside(ep, t[i]))
				gap_add(&p->ticks[tier], false, (uint64_t)llround((double)apart / period) - 1,
					apart);
			if (any)
				hole_add(&p->ticks[tier], ep, cover, before, t[i]);
			before = t[i];
			any = true;
		}
		row += n;
	}
}

/* A gap from the start of the recording to the first row belongs to the first epoch. */
static void gaps_listed(const struct analysis *a, struct part *p)
{
	size_t n;
	const struct gap *gaps = trace_gaps(a->trace, &n);
	int64_t first = INT64_MIN, last;

	trace_extent(a->trace, &first, &last);
	for (size_t i = trace_gap_from(a->trace, p->epoch.from_ns);
	     i < n && gaps[i].from_ns < p->epoch.end_ns; i++) {
		const struct gap *g = &gaps[i];
		struct ticks *k = &p->ticks[g->tier];

		if (inside(&p->epoch, g->from_ns > first ? g->from_ns : first))
			gap_add(k, g->cause != GAP_LATE, g->missed, g->to_ns - g->from_ns);
		hole_add(k, &p->epoch, stats_hole_ns(a->session->hz[g->tier]), g->from_ns, g->to_ns);
	}
}

/* The part of the epoch between the first and the last row of a tier; the rest is the start or the end of
 * the recording. */
static int64_t span_of(struct trace *t, enum tier tier, const struct epoch *ep)
{
	uint64_t rows = trace_rows(t, tier);
	int64_t first, last;

	if (rows == 0)
		return 0;
	trace_row_times(t, tier, 0, 1, &first);
	trace_row_times(t, tier, rows - 1, 1, &last);
	first = first > ep->from_ns ? first : ep->from_ns;
	last = last < ep->to_ns ? last : ep->to_ns;
	return last > first ? last - first : 0;
}

void ticks_count(const struct analysis *a, struct part *p)
{
	for (int t = 0; t < TIERS; t++) {
		uint64_t row = trace_row_from(a->trace, (enum tier)t, p->epoch.from_ns);
		uint64_t end = trace_row_from(a->trace, (enum tier)t, p->epoch.end_ns);

		p->ticks[t] = (struct ticks) {.rows = end > row ? end - row : 0,
					      .span_ns = span_of(a->trace, (enum tier)t, &p->epoch)};
		if (!a->counted)
			gaps_by_times(a, p, (enum tier)t);
	}
	if (a->counted)
		gaps_listed(a, p);
	for (enum tier t = 0; a->counted && t < TIERS; t++) {
		uint64_t rows = trace_rows(a->trace, t), row = trace_row_from(a->trace, t, p->epoch.from_ns);
		uint64_t end = trace_row_from(a->trace, t, p->epoch.end_ns);
		struct ticks *k = &p->ticks[t];
		struct late_ticks late;

		/* A tick belongs to the epoch of the row before it. */
		trace_late_ticks(a->trace, t, row + (row > 0), end + (end < rows), &late);
		k->late += late.n;
		k->gaps += late.n;
		k->longest_ns = late.longest_ns > k->longest_ns ? late.longest_ns : k->longest_ns;
	}
}

void ticks_sum(struct part *whole, const struct part *p)
{
	for (int t = 0; t < TIERS; t++) {
		struct ticks *w = &whole->ticks[t];
		const struct ticks *k = &p->ticks[t];

		w->rows += k->rows;
		w->late += k->late;
		w->lost += k->lost;
		w->gaps += k->gaps;
		w->span_ns += k->span_ns;
		w->hole_ns += k->hole_ns;
		if (k->longest_ns > w->longest_ns)
			w->longest_ns = k->longest_ns;
	}
}
