/* Rows are found by their times, so times that cannot be right end a section.
 * Of a trace of many gigabytes not every row is looked at before it is shown:
 * some are, all over the section, and the others when the rows are read. */
#include "nvmtop/intl.h"
#include "trace/reader.h"

#define PROBES 128 /* of a section; each may have to come from the disk */

/* The section ends before this row. */
static void section_cut(struct trace *t, enum tier tier, uint64_t row)
{
	struct section *s = &t->section[tier];

	trace_damage(t,
		     _("the time of row %llu of the %s section, at offset %llu, "
		       "cannot be right; "
		       "the rows before it are shown"),
		     (unsigned long long)row, tier_name(tier),
		     (unsigned long long)(s->at + row * row_size[tier]));
	s->rows = row;
}

/* The first row from `row` on whose time cannot be right. */
static uint64_t first_wrong(const struct trace *t, enum tier tier, uint64_t row, uint64_t end)
{
	int64_t before = 0, ns;

	if (row > 0 && !row_time(row_at(t, tier, row - 1), &before))
		return row - 1;
	for (; row < end && row_time(row_at(t, tier, row), &ns) && ns >= before; row++)
		before = ns;
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
