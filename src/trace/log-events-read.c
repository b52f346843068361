/* The events of files: those in chunks that no INDEX has, what was recorded in files that are missing, and the clocks, of
 * which META has readings. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log-read.h"

#define NOTICED 8 /* groups after a change of the clock in which its META is */

/* Reads the first META of that cell or a later one, in at most so many groups; with step -1 the last one up to its group. */
static bool meta_find(struct trace *r, int64_t cell, int step, size_t groups, struct log_in *in)
{
	size_t g = times_from(r->groups, r->n_groups, sizeof(*r->groups), offsetof(struct log_group, cell),
			      log_span_cell(log_span(cell, 1), 1));
	struct log_head h;

	for (size_t k = 0; k < groups && g < r->n_groups; k++, g += (size_t)step) {
		const struct log_list *l = log_list_of(r, &r->groups[g]);

		for (size_t i = 0; l && i < l->n; i++) {
			const struct log_item *item = &l->items[step > 0 ? i : l->n - 1 - i];

			if (item->kind != LOG_META || (step > 0 && item->cell < cell) || !log_read_chunk(r, item, &h))
				continue;
			*in = (struct log_in) {r->raw.p, r->raw.p + r->raw.n, false};
			return true;
		}
	}
	return false;
}

/* What was recorded in missing files is a gap from the last row before them to the first one after them, unless it is
 * listed as another gap. */
static void gaps_absent(struct trace *r)
{
	size_t listed = r->events[EVENTS_GAP].n;

	for (size_t i = 0; i < r->n_holes; i++)
		for (enum tier t = 0; t < TIERS; t++) {
			uint64_t row = log_rows_before(r, t, r->holes[i]), first;
			struct gap g = {.tier = t, .cause = GAP_ABSENT};
			const struct log_block *b = row > 0 && row < r->rows[t] ? log_block_of(r, t, row - 1, &first) : NULL;
			const struct gap *gaps = r->events[EVENTS_GAP].p;
			int64_t missed;
			double ticks;

			g.from_ns = b ? b->t_ns[row - 1 - first] : 0;
			b = b ? log_block_of(r, t, row, &first) : NULL;
			if (!b)
				continue;
			g.to_ns = b->t_ns[row - first];
			/* A row that is late is in time for its tick, and one that was skipped before it is told with it. */
			ticks = (double)(g.to_ns - g.from_ns) * r->session.hz[t] / NS_PER_S;
			missed = ticks < 2 ? 0 : llround(ticks) - 1 - b->late[row - first];
			for (size_t k = 0; missed > 0 && k < listed; k++)
				if (gaps[k].tier == t && gaps[k].from_ns < g.to_ns && gaps[k].to_ns > g.from_ns)
					missed = gaps[k].missed < (uint64_t)missed ? missed - (int64_t)gaps[k].missed : 0;
			g.missed = missed > 0 ? (uint64_t)missed : 0;
			if (missed > 0)
				log_event_add(r, EVENTS_GAP, &g);
		}
}

/* What was set while missing files were recorded is known from the META that begins the next file: it is a change at the
 * start of that file. Returns false if out of memory. */
static bool changes_absent(struct trace *r)
{
	size_t n = r->session.n_facts;
	struct fact *facts = calloc(n + 1, sizeof(*facts)), fact;
	bool good = facts != NULL;

	for (size_t i = 0; good && i < r->n_holes; i++) {
		struct change c = {.t_ns = 0};
		struct clock_anchor start;
		struct log_in in, record;
		unsigned tag;

		if (!meta_find(r, r->holes[i], 1, 1, &in))
			continue;
		while (log_get_tagged(&in, &tag, &record)) {
			if (tag == LOG_TAG_START && log_anchor_get(&record, &start)) {
				const struct change *list = r->events[EVENTS_CHANGE].p;

				c.t_ns = start.mono_ns;
				if (n > 0)
					memcpy(facts, r->session.facts, n * sizeof(*facts));
				for (size_t k = 0; k < r->events[EVENTS_CHANGE].n && list[k].t_ns < c.t_ns; k++)
					facts_change(facts, n, &list[k]);
			}
			if (tag != LOG_TAG_FACT || c.t_ns == 0 || !log_fact_get(&record, &fact))
				continue;
			for (size_t k = 0; k < n; k++)
				if (!strcmp(facts[k].key, fact.key) && strcmp(facts[k].value, fact.value) != 0) {
					strcpy(c.what, fact.key);
					text_printable(c.from, sizeof(c.from), facts[k].value, strlen(facts[k].value));
					text_printable(c.to, sizeof(c.to), fact.value, strlen(fact.value));
					log_event_add(r, EVENTS_CHANGE, &c);
				}
		}
		log_events_sort(r, EVENTS_CHANGE);
	}
	free(facts);
	return good;
}

/* Their numbers become those of the session's channels; of others nothing is known. */
static void states_of_channels(struct trace *r)
{
	struct state_event *s = r->events[EVENTS_STATE].p;
	size_t n = 0, channel;

	for (size_t i = 0; i < r->events[EVENTS_STATE].n; i++) {
		for (channel = 0; channel < r->session.n_channels && r->numbers[channel] != s[i].channel; channel++)
			;
		s[i].channel = (uint32_t)channel;
		if (channel < r->session.n_channels)
			s[n++] = s[i];
	}
	r->events[EVENTS_STATE].n = n;
}

static int by_anchor(const void *a, const void *b)
{
	const struct clock_anchor *c = a, *d = b;

	return (c->mono_ns > d->mono_ns) - (c->mono_ns < d->mono_ns);
}

/* Adds what the clocks were by such a META, from the group of the cell on. */
static void anchor_add(struct trace *r, int64_t cell, int step, size_t groups)
{
	struct clock_anchor *a = &r->anchors[r->n_anchors];
	struct log_in in, record;
	unsigned tag;

	if (!meta_find(r, log_span_cell(log_span(cell, 1), 1), step, groups, &in))
		return;
	*a = r->session.start;
	while (log_get_tagged(&in, &tag, &record))
		if (tag == LOG_TAG_ANCHOR)
			log_anchor_get(&record, a);
	r->n_anchors++;
}

/* The clocks after each change of them, and at last: a META was written when the change was noticed. */
static void clocks_read(struct trace *r)
{
	const struct log_events *changes = &r->events[EVENTS_CHANGE];
	const struct change *c = changes->p;
	size_t kept = 1;

	r->anchors = calloc(changes->n + 2, sizeof(*r->anchors));
	if (!r->anchors)
		return;
	r->anchors[r->n_anchors++] = r->session.start;
	for (size_t i = 0; i < changes->n; i++)
		if (strcmp(c[i].what, CHANGE_CLOCK) == 0 || strcmp(c[i].what, CHANGE_SUSPENDED) == 0)
			anchor_add(r, log_cell(c[i].t_ns), 1, NOTICED);
	if (r->n_groups > 0)
		anchor_add(r, r->groups[r->n_groups - 1].cell, -1, r->n_groups);
	qsort(r->anchors, r->n_anchors, sizeof(*r->anchors), by_anchor);
	for (size_t i = 1; i < r->n_anchors; i++)
		if (by_anchor(&r->anchors[kept - 1], &r->anchors[i]) != 0)
			r->anchors[kept++] = r->anchors[i];
	r->n_anchors = kept;
}

const struct clock_anchor *trace_anchors(const struct trace *t, size_t *n)
{
	struct trace *r = (struct trace *)(uintptr_t)t;

	pthread_mutex_lock(&r->lock);
	if (!r->anchors && r->version1 < 0)
		clocks_read(r);
	*n = r->n_anchors;
	pthread_mutex_unlock(&r->lock);
	return r->anchors;
}

static void events_of(struct trace *r, const struct log_item *item)
{
	struct log_head h;

	if (log_has_events(item->kind) && log_read_chunk(r, item, &h))
		log_events_put(r, h.kind, (struct log_in) {r->raw.p, r->raw.p + r->raw.n, false});
}

bool log_events_read(struct trace *r)
{
	log_groups_visit(r, LOG_GROUP_EVENTS, events_of);
	states_of_channels(r);
	gaps_absent(r);
	for (enum trace_events of = 0; of < EVENTS_KINDS; of++)
		log_events_sort(r, of);
	if (!changes_absent(r) || r->events_failed)
		return false;
	log_events_settle(r);
	return true;
}
