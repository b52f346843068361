/* Rows are found by their times, so times that cannot be right end a section.
 * Of a trace of many gigabytes not every row is looked at before it is shown:
 * some are, all over the section, and the others when the rows are read. */
#include <math.h>

#include "util/intl.h"
#include "trace/reader.h"

#define PROBES 128 /* of a section; each may have to come from the disk */
#define BATCH  4096
#define LEAP_S 10
#define LEAP   100                        /* periods, if that is longer */
#define PAUSE  (INT64_C(3600) * NS_PER_S) /* that a recorder may have slept */

/* The section ends before this row. */
static void section_cut(struct trace *t, enum tier tier, uint64_t row)
{
	struct section *s = &t->section[tier];

	trace_damage(t,
		     _("the time of row %llu of the %s section, at offset %llu, is invalid; the rows before "
		       "it are shown"),
		     (unsigned long long)row, tier_name(tier),
		     (unsigned long long)(s->at + row * row_size[tier]));
	s->rows = row;
}

static int64_t leap_least(const struct trace *t, enum tier tier)
{
	return (int64_t)(1e9 * fmax(LEAP_S, LEAP / t->session.hz[tier]));
}

bool leap_long(const struct trace *t, enum tier tier, int64_t apart_ns)
{
	return apart_ns > leap_least(t, tier);
}

size_t trace_gap_from(const struct trace *t, int64_t from_ns)
{
	size_t lo = 0, hi = t->n_gaps;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->gap_reach[mid] < from_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* For how much of the time between two the gaps of a tier stand. */
static int64_t gaps_within(const struct trace *t, enum tier tier, int64_t from_ns, int64_t to_ns)
{
	size_t lo = trace_gap_from(t, from_ns);
	int64_t sum = 0;

	for (; lo < t->n_gaps && t->gaps[lo].from_ns < to_ns; lo++) {
		const struct gap *g = &t->gaps[lo];
		int64_t from = g->from_ns > from_ns ? g->from_ns : from_ns;
		int64_t to = g->to_ns < to_ns ? g->to_ns : to_ns;

		if (g->tier == tier && to > from)
			sum += to - from;
	}
	return sum;
}

bool leap_odd(const struct trace *t, const struct leap *l)
{
	int64_t from, to;

	if (l->row == 0 || l->row >= t->section[l->tier].rows)
		return false;
	from = row_ns(t, l->tier, l->row - 1);
	to = row_ns(t, l->tier, l->row);
	if (!leap_long(t, l->tier, to - from))
		return false;
	return t->extended ? gaps_within(t, l->tier, from, to) < (to - from) / 2 : to - from > PAUSE;
}

void leaps_tell(struct trace *t)
{
	for (size_t i = 0; i < t->n_leaps; i++) {
		const struct leap *l = &t->leap[i];

		if (!leap_odd(t, l))
			continue;
		trace_damage(
			t,
			_("row %llu of the %s section comes %.3f s after the one before it, and no gap is listed"),
			(unsigned long long)l->row, tier_name(l->tier),
			(double)(row_ns(t, l->tier, l->row) - row_ns(t, l->tier, l->row - 1)) / 1e9);
		return;
	}
}

/* The first row from `row` on whose time cannot be right. */
static uint64_t first_wrong(struct trace *t, enum tier tier, uint64_t row, uint64_t end)
{
	int64_t before = 0, apart = leap_least(t, tier), ns;

	if (row > 0 && !row_time(row_at(t, tier, row - 1), &before))
		return row - 1;
	for (; row < end && row_time(row_at(t, tier, row), &ns) && ns >= before; row++) {
		if (ns - before > apart && row > 0 && t->n_leaps < LEAPS)
			t->leap[t->n_leaps++] = (struct leap) {tier, row};
		before = ns;
		if (row % BATCH == 0)
			trace_touch(t, BATCH * row_size[tier]);
	}
	return row;
}

void sections_check(struct trace *t)
{
	for (int i = 0; i < TIERS; i++) {
		uint64_t rows = t->section[i].rows, row = first_wrong(t, (enum tier)i, 0, rows);

		if (row < rows)
			section_cut(t, (enum tier)i, row);
	}
}

/* Else the last row decides how long the recording seems to be. */
void sections_ends(struct trace *t)
{
	for (int i = 0; i < TIERS; i++) {
		uint64_t rows = t->section[i].rows, row = rows > 2 ? rows - 2 : 0;

		row = first_wrong(t, (enum tier)i, row, rows);
		section_end(t, (enum tier)i, row);
	}
}

void section_end(struct trace *t, enum tier tier, uint64_t row)
{
	if (row < t->section[tier].rows)
		section_cut(t, tier, row);
}

void sections_probe(struct trace *t, unsigned tiers)
{
	for (int i = 0; i < TIERS; i++) {
		uint64_t rows = tiers & 1U << i ? t->section[i].rows : 0, good = 0;
		int64_t before = 0, ns;

		for (uint64_t k = 0; k < PROBES && rows > 0; k++) {
			uint64_t row = k == PROBES - 1 ? rows - 1 : rows / PROBES * k;

			if (!row_time(row_at(t, (enum tier)i, row), &ns) || ns < before) {
				section_end(t, (enum tier)i, first_wrong(t, (enum tier)i, good, row + 1));
				break;
			}
			before = ns;
			good = row;
		}
	}
}

void extent_find(struct trace *t)
{
	t->known = false;
	for (int i = 0; i < TIERS; i++) {
		int64_t first, last;

		if (t->section[i].rows == 0)
			continue;
		first = row_ns(t, (enum tier)i, 0);
		last = row_ns(t, (enum tier)i, t->section[i].rows - 1);
		if (!t->known || first < t->first_ns)
			t->first_ns = first;
		if (!t->known || last > t->last_ns)
			t->last_ns = last;
		t->known = true;
	}
}
