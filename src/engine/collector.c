/* Merges the rows of all tiers, marks and gaps into one stream.
 *
 * Rows stay in their ring until they are some hundredths of a second old (before_ns): a mark is stamped when
 * its key is pressed and arrives a little later, and can only be placed before rows that were not delivered
 * yet. A mark is delivered as soon as the next fast row is known not to be older; if the fast tier has
 * stalled, after COLLECT_MARK_WAIT_NS, and at once if there is no fast tier.
 *
 * A batch ends before a row that reports late or lost ticks, so that the gap is delivered between two rows()
 * calls. */
#include "engine/collector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int collector_init(struct collector *c, struct ring *const rings[TIERS], const size_t width[TIERS],
		   const int64_t period_ns[TIERS])
{
	memset(c, 0, sizeof(*c));
	c->marks_end = &c->marks;
	for (int i = 0; i < TIERS; i++) {
		struct collector_tier *t = &c->tiers[i];

		t->ring = rings[i];
		t->width = width[i];
		t->period_ns = period_ns[i];
		if (!t->ring)
			continue;
		t->t_ns = calloc(COLLECT_BATCH, sizeof(*t->t_ns));
		t->values = calloc(COLLECT_BATCH * (width[i] + 1), sizeof(*t->values));
		if (!t->t_ns || !t->values) {
			collector_close(c);
			return -1;
		}
	}
	return 0;
}

void collector_close(struct collector *c)
{
	for (int i = 0; i < TIERS; i++) {
		free(c->tiers[i].t_ns);
		free(c->tiers[i].values);
	}
	while (c->marks) {
		struct pending_mark *gone = c->marks;

		c->marks = gone->next;
		free(gone);
	}
	memset(c, 0, sizeof(*c));
	c->marks_end = &c->marks;
}

void collector_begin(struct collector *c, struct sink *s, int64_t start_ns, bool goes_on, const struct channel *counts)
{
	c->sinks = s;
	c->start_ns = start_ns;
	for (int i = 0; i < TIERS && goes_on; i++)
		c->tiers[i].newest_ns = start_ns;
	c->counts = goes_on ? counts : NULL;
	c->before = NAN;
}

void collector_add_marks(struct collector *c, struct pending_mark *chain)
{
	while (chain) {
		struct pending_mark *p = chain, **at = &c->marks;

		chain = p->next;
		if (!c->marks || p->mark.t_ns >= c->newest_mark_ns) {
			at = c->marks_end;
			c->newest_mark_ns = p->mark.t_ns;
		}
		/* A late mark is inserted in time order. */
		while (*at && (*at)->mark.t_ns <= p->mark.t_ns)
			at = &(*at)->next;
		p->next = *at;
		*at = p;
		if (!p->next)
			c->marks_end = &p->next;
	}
}

static void collector_mark(struct collector *c)
{
	struct pending_mark *p = c->marks;

	c->gave = true;
	c->marks = p->next;
	if (!c->marks)
		c->marks_end = &c->marks;
	if (p->mark.t_ns < c->start_ns)
		p->mark.t_ns = c->start_ns;
	EACH_SINK(c->sinks, mark, &p->mark);
	free(p);
}

/* Even one late tick is a gap: the times of two rows do not show how many ticks lie between them. */
static bool collector_has_gap(const struct ring_row *row)
{
	return row->late || row->lost;
}

static void collector_gap(struct collector *c, enum tier tier, const struct ring_row *row, enum gap_cause cause, uint64_t missed)
{
	const struct collector_tier *t = &c->tiers[tier];
	struct gap g = {tier, cause, t->newest_ns, row->t_ns, missed};
	uint64_t fit = (uint64_t)((g.to_ns - g.from_ns) / t->period_ns);

	if (t->newest_ns == c->start_ns && g.missed > fit) /* others were missed before the start */
		g.missed = fit;
	if (t->newest_ns && g.missed > 0) /* else the stream starts here */
		EACH_SINK(c->sinks, gap, &g);
}

/* Copies the oldest rows that fit one rows() call into the batch. Returns how many. */
static size_t collector_fill(struct collector *c, enum tier tier, size_t there, int64_t before_ns)
{
	struct collector_tier *t = &c->tiers[tier];
	size_t n = 0;

	while (n < there && n < COLLECT_BATCH) {
		const struct ring_row *row = ring_at(t->ring, n);

		if (row->t_ns >= before_ns || (n && collector_has_gap(row)))
			break;
		if (tier == TIER_FAST && c->marks && c->marks->mark.t_ns <= row->t_ns)
			break;
		t->t_ns[n] = row->t_ns;
		memcpy(t->values + n * t->width, row->values, t->width * sizeof(double));
		n++;
	}
	return n;
}

/* Delivers the rows present now, not those that arrive meanwhile: with a slow sink this might never
 * return. */
static void collector_tier_run(struct collector *c, enum tier tier, int64_t before_ns)
{
	struct collector_tier *t = &c->tiers[tier];
	size_t there = t->ring ? ring_count(t->ring) : 0;

	if (!c->sinks && there > 0)
		ring_take(t->ring, there);
	while (c->sinks && there > 0) {
		const struct ring_row *row = ring_at(t->ring, 0);
		struct rows r = {.tier = tier, .width = t->width, .t_ns = t->t_ns, .values = t->values};

		if (row->t_ns < c->start_ns) {
			ring_take(t->ring, 1);
			there--;
			continue;
		}
		while (tier == TIER_FAST && c->marks && c->marks->mark.t_ns <= row->t_ns)
			collector_mark(c);
		if (row->t_ns >= before_ns)
			break;
		if (row->late)
			collector_gap(c, tier, row, GAP_LATE, row->late);
		if (row->lost)
			collector_gap(c, tier, row, GAP_LOST, row->lost);
		r.n = collector_fill(c, tier, there, before_ns);
		for (size_t i = 0; c->counts && c->counts->tier == tier && i < r.n; i++) {
			double *v = &t->values[i * t->width + c->counts->column];

			c->before = isnan(c->before) ? *v : c->before;
			*v = isnan(*v) ? *v : *v - c->before; /* a missing one has its reason */
		}
		ring_take(t->ring, r.n);
		there -= r.n;
		t->newest_ns = t->t_ns[r.n - 1];
		c->gave = true;
		EACH_SINK(c->sinks, rows, &r);
	}
}

void collector_run(struct collector *c, int64_t now_ns, int64_t before_ns)
{
	const struct collector_tier *fast = &c->tiers[TIER_FAST];

	for (enum tier t = 0; t < TIERS; t++)
		collector_tier_run(c, t, before_ns);
	while (c->sinks && c->marks &&
	       (!fast->ring || (!ring_count(fast->ring) && now_ns - c->marks->asked_ns >= COLLECT_MARK_WAIT_NS)))
		collector_mark(c);
	if (c->gave)
		EACH_SINK(c->sinks, rest);
	c->gave = false;
}

bool collector_mark_waits(const struct collector *c)
{
	const struct collector_tier *fast = &c->tiers[TIER_FAST];
	size_t n = fast->ring ? ring_count(fast->ring) : 0;

	return c->sinks && c->marks && fast->ring && (!n || ring_at(fast->ring, n - 1)->t_ns < c->newest_mark_ns);
}

void collector_drain(struct collector *c)
{
	for (enum tier t = 0; t < TIERS; t++)
		collector_tier_run(c, t, INT64_MAX);
	while (c->sinks && c->marks)
		collector_mark(c);
}
