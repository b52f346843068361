/* Merges the rows of all tiers, marks and gaps into one stream.
 *
 * Rows stay in their ring until they are some hundredths of a second old (before_ns): a mark is stamped when
 * its key is pressed and arrives a little later, and can only be placed before rows that were not delivered
 * yet. A mark is delivered as soon as the next fast row is known not to be older; if the fast tier has
 * stalled, after COLLECT_MARK_WAIT_NS, and at once if there is no fast tier.
 *
 * A batch ends before a row that reports late or lost ticks, so that the gap is delivered between two rows()
 * calls. Even one late tick is a gap: the times of two rows do not show how many ticks lie between them. */
#include "engine/collector.h"

#include <stdlib.h>

void collector_begin(struct collector *c, struct sink *s, int64_t start_ns)
{
	c->sinks = s;
	c->start_ns = start_ns;
	for (int i = 0; i < TIERS; i++)
		c->tiers[i].newest_ns = c->tiers[i].ring && ring_pushed(c->tiers[i].ring) > 0 ? start_ns : 0;
}

void collector_add_marks(struct collector *c, struct pending_mark *chain)
{
	while (chain) {
		struct pending_mark *p = chain, **at = &c->marks;

		chain = p->next;
		if (c->marks && p->mark.t_ns >= c->newest_mark_ns)
			at = c->marks_end;
		while (*at && (*at)->mark.t_ns <= p->mark.t_ns) /* a late mark is inserted in time order */
			at = &(*at)->next;
		p->next = *at;
		*at = p;
		if (p->next)
			continue;
		c->marks_end = &p->next;
		c->newest_mark_ns = p->mark.t_ns;
	}
}

static void collector_mark(struct collector *c)
{
	struct pending_mark *p = c->marks;

	c->gave = true;
	c->marks = p->next;
	if (p->mark.t_ns < c->start_ns)
		p->mark.t_ns = c->start_ns;
	EACH_SINK(c->sinks, mark, &p->mark);
	free(p);
}

static void collector_gap(struct collector *c, enum tier tier, int64_t to_ns, enum gap_cause cause,
			  uint64_t missed)
{
	const struct collector_tier *t = &c->tiers[tier];
	struct gap g = {tier, cause, t->newest_ns, to_ns, missed};
	uint64_t fit = (uint64_t)((to_ns - t->newest_ns) / t->period_ns);

	if (t->newest_ns == c->start_ns && g.missed > fit) /* others were missed before the start */
		g.missed = fit;
	if (t->newest_ns && g.missed > 0) /* else the stream starts here */
		EACH_SINK(c->sinks, gap, &g);
}

/* Delivers the rows present now, not those that arrive meanwhile: with a slow sink this might never
 * return. */
static void collector_tier_run(struct collector *c, enum tier tier, int64_t before_ns)
{
	struct collector_tier *t = &c->tiers[tier];
	struct rows r = {.tier = tier};

	for (size_t left = t->ring ? ring_count(t->ring) : 0; left > 0;
	     left -= r.n, ring_take(t->ring, r.n)) {
		struct ring_row row = ring_at(t->ring, 0);
		size_t most;

		r.n = 1;
		if (!c->sinks || row.t_ns < c->start_ns)
			continue;
		while (tier == TIER_FAST && c->marks && c->marks->mark.t_ns <= row.t_ns)
			collector_mark(c);
		if (row.t_ns >= before_ns)
			break;
		collector_gap(c, tier, row.t_ns, GAP_LATE, row.late);
		collector_gap(c, tier, row.t_ns, GAP_LOST, row.lost);
		ring_oldest(t->ring, &r);
		most = r.n < left ? r.n : left;
		for (r.n = 1; r.n < most && r.n < COLLECT_BATCH; r.n++) {
			row = ring_at(t->ring, r.n);
			if (row.t_ns >= before_ns || row.late || row.lost ||
			    (tier == TIER_FAST && c->marks && c->marks->mark.t_ns <= row.t_ns))
				break;
		}
		t->newest_ns = r.t_ns[r.n - 1];
		c->gave = true;
		EACH_SINK(c->sinks, rows, &r);
	}
}

void collector_run(struct collector *c, int64_t now_ns, int64_t before_ns)
{
	const struct ring *fast = c->tiers[TIER_FAST].ring;

	for (enum tier t = 0; t < TIERS; t++)
		collector_tier_run(c, t, before_ns);
	while (c->sinks && c->marks &&
	       (!fast || (!ring_count(fast) && now_ns - c->marks->asked_ns >= COLLECT_MARK_WAIT_NS)))
		collector_mark(c);
	if (c->gave)
		EACH_SINK(c->sinks, rest);
	c->gave = false;
}

bool collector_mark_waits(const struct collector *c)
{
	const struct ring *fast = c->tiers[TIER_FAST].ring;
	size_t n = fast ? ring_count(fast) : 0;

	return c->sinks && c->marks && fast && (!n || ring_at(fast, n - 1).t_ns < c->newest_mark_ns);
}

void collector_drain(struct collector *c)
{
	for (enum tier t = 0; t < TIERS; t++)
		collector_tier_run(c, t, INT64_MAX);
	while (c->sinks && c->marks)
		collector_mark(c);
}
