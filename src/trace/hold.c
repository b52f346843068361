/* Rings of rows.  An index counts rows since the beginning and never wraps, so
 * that whoever reads slowly can tell that a row has gone. */
#include <stdlib.h>
#include <string.h>

#include "trace/hold.h"

#define ROOM_SPARE 256 /* rows; what one call of the stream may bring */

static double rows_in(const struct session *about, enum tier tier, int64_t span_ns)
{
	return about->width[tier] ? (double)span_ns / (double)NS_PER_S * about->hz[tier] + ROOM_SPARE : 0;
}

double hold_bytes(const struct session *about, int64_t span_ns)
{
	double bytes = HOLD_MARKS * sizeof(struct mark) + HOLD_GAPS * sizeof(struct gap);

	for (int t = 0; t < TIERS; t++)
		bytes += rows_in(about, (enum tier)t, span_ns) *
			 (double)(sizeof(int64_t) + about->width[t] * sizeof(double));
	return bytes;
}

/* Memory that is there, not only promised. */
static void *take(size_t n, size_t each)
{
	void *p = reallocarray(NULL, n, each);

	if (p)
		memset(p, 0xff, n * each);
	return p;
}

bool hold_init(struct hold *h, const struct session *about, int64_t span_ns)
{
	bool ok;

	memset(h, 0, sizeof(*h));
	h->marks = take(HOLD_MARKS, sizeof(*h->marks));
	h->gaps = take(HOLD_GAPS, sizeof(*h->gaps));
	ok = h->marks && h->gaps;
	for (int t = 0; t < TIERS && ok; t++) {
		struct hold_tier *r = &h->tiers[t];

		r->width = about->width[t];
		r->room = (size_t)rows_in(about, (enum tier)t, span_ns);
		if (!r->room)
			continue;
		r->t_ns = take(r->room, sizeof(*r->t_ns));
		r->values = take(r->room, r->width * sizeof(*r->values));
		ok = r->t_ns && r->values;
	}
	if (!ok)
		hold_free(h);
	return ok;
}

void hold_free(struct hold *h)
{
	for (int t = 0; t < TIERS; t++) {
		free(h->tiers[t].t_ns);
		free(h->tiers[t].values);
	}
	free(h->marks);
	free(h->gaps);
	memset(h, 0, sizeof(*h));
}

void hold_row(struct hold *h, enum tier tier, int64_t t_ns, const double *values)
{
	struct hold_tier *r = &h->tiers[tier];
	size_t at = (size_t)(r->head % r->room);

	r->t_ns[at] = t_ns;
	memcpy(r->values + at * r->width, values, r->width * sizeof(*values));
	r->head++;
}

void hold_mark(struct hold *h, const struct mark *m)
{
	size_t at;

	if (h->n_marks == HOLD_MARKS) {
		h->n_marks--;
		memmove(h->marks, h->marks + 1, h->n_marks * sizeof(*h->marks));
	}
	for (at = h->n_marks++; at && h->marks[at - 1].t_ns > m->t_ns; at--)
		h->marks[at] = h->marks[at - 1];
	h->marks[at] = *m;
}

void hold_gap(struct hold *h, const struct gap *g)
{
	if (h->n_gaps == HOLD_GAPS) {
		h->n_gaps--;
		memmove(h->gaps, h->gaps + 1, h->n_gaps * sizeof(*h->gaps));
	}
	h->gaps[h->n_gaps++] = *g;
}

uint64_t hold_oldest(const struct hold *h, enum tier tier)
{
	const struct hold_tier *r = &h->tiers[tier];

	return r->head > r->room ? r->head - r->room : 0;
}

int64_t hold_time(const struct hold *h, enum tier tier, uint64_t row)
{
	return h->tiers[tier].t_ns[row % h->tiers[tier].room];
}

const double *hold_values(const struct hold *h, enum tier tier, uint64_t row)
{
	const struct hold_tier *r = &h->tiers[tier];

	return r->values + (size_t)(row % r->room) * r->width;
}

uint64_t hold_find(const struct hold *h, enum tier tier, int64_t t_ns)
{
	uint64_t lo = hold_oldest(h, tier), hi = h->tiers[tier].head;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (hold_time(h, tier, mid) < t_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
