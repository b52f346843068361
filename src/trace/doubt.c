/* A zero in doubt becomes missing: a value that was measured and is lost can be
 * borne, one that was never measured cannot.  The same goes for a value at the
 * end of its field's range, which stands for any beyond it. */
#include <stdint.h>
#include <stdlib.h>

#include "trace/doubt.h"

int doubts_add(struct doubts *d, enum tier tier, struct stretch s)
{
	struct stretch *more;
	size_t i;

	if (s.count == 0)
		return 0;
	more = reallocarray(d->tier[tier].list, d->tier[tier].n + 1, sizeof(*more));
	if (!more)
		return -1;
	d->tier[tier].list = more;
	for (i = d->tier[tier].n++; i > 0 && more[i - 1].row > s.row; i--)
		more[i] = more[i - 1];
	more[i] = s;
	return 0;
}

void doubts_runs(struct doubts *d, uint64_t runs)
{
	d->seen += runs;
}

/* Rows from the latest covered one up to `to` are vouched for by nothing. */
static int open_end(struct doubts *d, enum tier tier, uint64_t to)
{
	if (to <= d->covered[tier])
		return 0;
	return doubts_add(d, tier, (struct stretch) {d->covered[tier], to - d->covered[tier]});
}

int doubts_cover(struct doubts *d, const uint8_t *p)
{
	uint64_t runs = get_u64(p + 8 * TIERS);
	bool all = runs - d->runs == d->seen;

	for (int t = 0; t < TIERS; t++) {
		uint64_t rows = get_u64(p + 8 * t);

		if (!all && open_end(d, (enum tier)t, rows) < 0)
			return -1;
		if (rows > d->covered[t])
			d->covered[t] = rows;
	}
	d->any = true;
	d->runs = runs;
	d->seen = 0;
	return 0;
}

int doubts_end(struct doubts *d, const uint64_t rows[TIERS], bool whole)
{
	for (int t = 0; t < TIERS; t++)
		if ((d->any || !whole) && open_end(d, (enum tier)t, rows[t]) < 0)
			return -1;
	return 0;
}

void doubts_free(struct doubts *d)
{
	for (int t = 0; t < TIERS; t++)
		free(d->tier[t].list);
}

bool field_doubtful(enum field f)
{
	return f == FIELD_GPU || f == FIELD_RAM_USED || f == FIELD_RAM_AVAILABLE || f == FIELD_VOLTAGE ||
	       f == FIELD_CURRENT;
}

bool value_doubtful(enum field f, double v)
{
	switch (f) {
	case FIELD_GPU:
		return !(v > 0 && v < UINT16_MAX / 10.0);
	case FIELD_RAM_USED:
	case FIELD_RAM_AVAILABLE:
		return !(v > 0 && v < 0x1p53);
	case FIELD_VOLTAGE:
	case FIELD_CURRENT: /* a negative one is worked out of the power */
		return !(v > 0 && v < INT32_MAX);
	default:
		return false;
	}
}
