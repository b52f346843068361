/* Merges the rows of all tiers, marks and gaps into the stream that each sink gets.
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
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"

struct listener {
	struct sink *sink;
	struct session session; /* valid until end() */
	struct fact *facts;     /* copied when it began */
	uint64_t first_order;
	bool recording;
	size_t cpu;           /* column of the CPU load */
	int64_t cpu_until_ns; /* rows without it are skipped until then; 0: none are; INT64_MAX: no row yet */
	struct listener *next;
};

static void listener_free(struct listener *l)
{
	if (l)
		free(l->facts);
	free(l);
}

int collector_init(struct collector *c, struct ring *const rings[TIERS], const size_t width[TIERS],
		   const int64_t period_ns[TIERS])
{
	memset(c, 0, sizeof(*c));
	atomic_init(&c->row_0, UINT64_MAX);
	c->marks_end = &c->marks;
	for (int i = 0; i < TIERS; i++) {
		struct source *s = &c->sources[i];

		s->ring = rings[i];
		s->width = width[i];
		s->period_ns = period_ns[i];
		if (!s->ring)
			continue;
		s->t_ns = calloc(COLLECT_BATCH, sizeof(*s->t_ns));
		s->values = calloc(COLLECT_BATCH * (width[i] + 1), sizeof(*s->values));
		if (!s->t_ns || !s->values) {
			collector_close(c);
			return -1;
		}
	}
	return 0;
}

void collector_close(struct collector *c)
{
	for (int i = 0; i < TIERS; i++) {
		free(c->sources[i].t_ns);
		free(c->sources[i].values);
	}
	while (c->listeners) {
		struct listener *gone = c->listeners;

		c->listeners = gone->next;
		listener_free(gone);
	}
	while (c->marks) {
		struct pending_mark *gone = c->marks;

		c->marks = gone->next;
		free(gone);
	}
	memset(c, 0, sizeof(*c));
	c->marks_end = &c->marks;
}

/* Readers of NVMT version 1 average over all rows: one row without a CPU load would make the mean NaN. */
static void await_cpu(struct listener *l)
{
	for (size_t i = 0; i < l->session.n_channels; i++) {
		const struct channel *ch = &l->session.channels[i];

		if (ch->kind != CHANNEL_CPU_UTIL || ch->tier != TIER_FAST || ch->missing[0])
			continue;
		l->cpu = ch->column;
		l->cpu_until_ns = INT64_MAX;
	}
}

int collector_attach(struct collector *c, struct sink *s, const struct session *about, uint64_t first_order,
		     bool recording, struct err *e)
{
	struct listener *l = calloc(1, sizeof(*l)), **end = &c->listeners;

	if (!l || !(l->facts = calloc(about->n_facts + 1, sizeof(*l->facts)))) {
		listener_free(l);
		return err_set(e, ERR_FAILED, _("out of memory"));
	}
	if (about->n_facts)
		memcpy(l->facts, about->facts, about->n_facts * sizeof(*l->facts));
	l->sink = s;
	l->session = *about;
	l->session.facts = l->facts;
	l->first_order = first_order;
	l->recording = recording;
	if (recording) {
		await_cpu(l);
		atomic_store(&c->row_0, UINT64_MAX);
	}
	if (s->ops->begin(s, &l->session, e)) {
		listener_free(l);
		return -1;
	}
	while (*end)
		end = &(*end)->next;
	*end = l;
	return 0;
}

int collector_detach(struct collector *c, struct sink *s, struct err *e)
{
	for (struct listener **at = &c->listeners; *at; at = &(*at)->next) {
		struct listener *l = *at;
		int result;

		if (l->sink != s)
			continue;
		*at = l->next;
		result = s->ops->end(s, e);
		listener_free(l);
		return result;
	}
	return err_set(e, ERR_FAILED, _("cannot detach: this sink is not attached"));
}

void collector_detach_all(struct collector *c)
{
	while (c->listeners) {
		struct err unheard;

		collector_detach(c, c->listeners->sink, &unheard);
	}
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

static void send_mark(struct collector *c)
{
	struct pending_mark *p = c->marks;

	c->gave = true;
	c->marks = p->next;
	if (!c->marks)
		c->marks_end = &c->marks;
	for (struct listener *l = c->listeners; l; l = l->next) {
		struct mark m = p->mark;

		if (p->order < l->first_order)
			continue;
		if (m.t_ns < l->session.start.mono_ns)
			m.t_ns = l->session.start.mono_ns;
		if (l->sink->ops->mark)
			l->sink->ops->mark(l->sink, &m);
	}
	free(p);
}

/* Returns how many of the n rows of the batch come before the listener's first row. */
static size_t before_first(struct collector *c, enum tier tier, size_t n, struct listener *l)
{
	const struct source *s = &c->sources[tier];
	size_t skip = 0;

	while (skip < n && s->t_ns[skip] < l->session.start.mono_ns)
		skip++;
	if (tier != TIER_FAST)
		return skip;
	if (skip < n && l->cpu_until_ns == INT64_MAX)
		l->cpu_until_ns = s->t_ns[skip] + COLLECT_CPU_WAIT_NS + 2 * s->period_ns;
	while (skip < n && s->t_ns[skip] + s->period_ns <= l->cpu_until_ns &&
	       isnan(s->values[skip * s->width + l->cpu]))
		skip++;
	if (skip < n) {
		l->cpu_until_ns = 0;
		if (l->recording && atomic_load(&c->row_0) == UINT64_MAX)
			atomic_store(&c->row_0, c->fast_taken + skip);
	}
	return skip;
}

/* Sends the n rows of the batch to each listener, without those that are too old for it. */
static void send_rows(struct collector *c, enum tier tier, size_t n)
{
	const struct source *s = &c->sources[tier];

	c->gave = true;
	for (struct listener *l = c->listeners; l; l = l->next) {
		struct rows r = {.tier = tier, .width = s->width};
		size_t skip = before_first(c, tier, n, l);

		if (skip == n)
			continue;
		r.n = n - skip;
		r.t_ns = s->t_ns + skip;
		r.values = s->values + skip * s->width;
		l->sink->ops->rows(l->sink, &r);
	}
}

static void send_gap(struct collector *c, const struct gap *whole)
{
	for (struct listener *l = c->listeners; l; l = l->next) {
		struct gap g = *whole;

		if (g.to_ns <= l->session.start.mono_ns || (g.tier == TIER_FAST && l->cpu_until_ns))
			continue;
		if (g.from_ns < l->session.start.mono_ns) {
			uint64_t fit;

			g.from_ns = l->session.start.mono_ns;
			fit = (uint64_t)((g.to_ns - g.from_ns) / c->sources[g.tier].period_ns);
			g.missed = g.missed < fit ? g.missed : fit;
			if (!g.missed)
				continue;
		}
		if (l->sink->ops->gap)
			l->sink->ops->gap(l->sink, &g);
	}
}

void collector_change(struct collector *c, const struct change *change)
{
	for (struct listener *l = c->listeners; l; l = l->next) {
		struct change own = *change;

		if (own.t_ns < l->session.start.mono_ns)
			own.t_ns = l->session.start.mono_ns;
		if (l->sink->ops->change)
			l->sink->ops->change(l->sink, &own);
	}
}

/* Sends the ranges that ended after the listener's start; those that began before begin there. */
static void send_ranges(struct listener *l, const struct range *list, size_t n)
{
	struct range some[COLLECT_BATCH];
	int64_t start = l->session.start.mono_ns;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (list[i].end_ns < start)
			continue;
		some[kept] = list[i];
		if (some[kept].begin_ns < start)
			some[kept].begin_ns = start;
		kept++;
	}
	if (kept)
		l->sink->ops->ranges(l->sink, some, kept);
}

void collector_described(struct collector *c, const struct channel *channels)
{
	for (struct listener *l = c->listeners; l; l = l->next) {
		l->session.channels = channels;
		if (l->sink->ops->described)
			l->sink->ops->described(l->sink);
	}
}

void collector_ranges(struct collector *c, const struct range *list, size_t n)
{
	for (struct listener *l = c->listeners; l; l = l->next)
		for (size_t at = 0; l->sink->ops->ranges && at < n; at += COLLECT_BATCH)
			send_ranges(l, list + at, n - at < COLLECT_BATCH ? n - at : COLLECT_BATCH);
}

/* Even one late tick is a gap: the times of two rows do not show how many ticks lie between them. */
static bool has_gap(const struct ring_row *row)
{
	return row->late || row->lost;
}

static void send_gaps(struct collector *c, enum tier tier, const struct ring_row *row)
{
	const struct source *s = &c->sources[tier];
	struct gap g = {.tier = tier, .from_ns = s->newest_ns, .to_ns = row->t_ns};

	if (!s->newest_ns) /* no earlier row: the stream starts here */
		return;
	if (row->late) {
		g.cause = GAP_LATE;
		g.missed = row->late;
		send_gap(c, &g);
	}
	if (row->lost) {
		g.cause = GAP_LOST;
		g.missed = row->lost;
		send_gap(c, &g);
	}
}

/* Copies the oldest rows that fit one rows() call into the batch. Returns how many. */
static size_t fill_batch(struct collector *c, enum tier tier, size_t there, int64_t before_ns)
{
	struct source *s = &c->sources[tier];
	size_t n = 0;

	while (n < there && n < COLLECT_BATCH) {
		const struct ring_row *row = ring_at(s->ring, n);

		if (row->t_ns >= before_ns || (n && has_gap(row)))
			break;
		if (tier == TIER_FAST && c->marks && c->marks->mark.t_ns <= row->t_ns)
			break;
		s->t_ns[n] = row->t_ns;
		memcpy(s->values + n * s->width, row->values, s->width * sizeof(double));
		n++;
	}
	return n;
}

/* Delivers the rows present now, not those that arrive meanwhile: with a slow sink this might never
 * return. */
static void run_tier(struct collector *c, enum tier tier, int64_t before_ns)
{
	struct source *s = &c->sources[tier];
	size_t there = s->ring ? ring_count(s->ring) : 0;

	while (there) {
		const struct ring_row *row = ring_at(s->ring, 0);
		size_t n;

		while (tier == TIER_FAST && c->marks && c->marks->mark.t_ns <= row->t_ns)
			send_mark(c);
		if (row->t_ns >= before_ns)
			break;
		if (has_gap(row))
			send_gaps(c, tier, row);
		n = fill_batch(c, tier, there, before_ns);
		ring_take(s->ring, n);
		there -= n;
		s->newest_ns = s->t_ns[n - 1];
		send_rows(c, tier, n);
		c->fast_taken += tier == TIER_FAST ? n : 0;
	}
}

static void send_rest(struct collector *c)
{
	if (!c->gave)
		return;
	c->gave = false;
	for (struct listener *l = c->listeners; l; l = l->next)
		if (l->sink->ops->rest)
			l->sink->ops->rest(l->sink);
}

void collector_run(struct collector *c, int64_t now_ns, int64_t before_ns)
{
	const struct source *fast = &c->sources[TIER_FAST];

	for (enum tier t = 0; t < TIERS; t++)
		run_tier(c, t, before_ns);
	while (c->marks && (!fast->ring ||
			    (!ring_count(fast->ring) && now_ns - c->marks->asked_ns >= COLLECT_MARK_WAIT_NS)))
		send_mark(c);
	send_rest(c);
}

bool collector_mark_waits(const struct collector *c)
{
	const struct source *fast = &c->sources[TIER_FAST];
	size_t n = fast->ring ? ring_count(fast->ring) : 0;

	return c->marks && fast->ring && (!n || ring_at(fast->ring, n - 1)->t_ns < c->newest_mark_ns);
}

void collector_drain(struct collector *c)
{
	for (enum tier t = 0; t < TIERS; t++)
		run_tier(c, t, INT64_MAX);
	while (c->marks)
		send_mark(c);
}
