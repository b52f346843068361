/* The events of a log, each kind in the order of time. Those of files are sorted once all were found, those of a log in
 * memory are put in their place as they come: what was on the screen and what its file shows are in the same order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log-tree.h"

#define EVENTS_MOST (1 << 20) /* of a kind, in files */
#define NOTICED	    8 /* groups after a change of the clock in which its META is */

static int by_mark(const void *a, const void *b)
{
	const struct mark *m = a, *n = b;

	if (m->t_ns != n->t_ns)
		return m->t_ns < n->t_ns ? -1 : 1;
	return (m->id > n->id) - (m->id < n->id);
}

static int by_gap(const void *a, const void *b)
{
	const struct gap *g = a, *h = b;

	if (g->from_ns != h->from_ns)
		return g->from_ns < h->from_ns ? -1 : 1;
	if (g->to_ns != h->to_ns)
		return g->to_ns < h->to_ns ? -1 : 1;
	if (g->tier != h->tier)
		return g->tier < h->tier ? -1 : 1;
	return g->cause != h->cause ? (int)g->cause - (int)h->cause : (g->missed > h->missed) - (g->missed < h->missed);
}

static int by_change(const void *a, const void *b)
{
	const struct change *c = a, *d = b;
	int order;

	if (c->t_ns != d->t_ns)
		return c->t_ns < d->t_ns ? -1 : 1;
	order = strcmp(c->what, d->what);
	order = order ? order : strcmp(c->from, d->from);
	return order ? order : strcmp(c->to, d->to);
}

/* The last of those that begin together is what is known of them at the end. */
static int by_state(const void *a, const void *b)
{
	const struct state_event *e = a, *f = b;

	if (e->from_ns != f->from_ns)
		return e->from_ns < f->from_ns ? -1 : 1;
	if (e->channel != f->channel)
		return e->channel < f->channel ? -1 : 1;
	if ((e->flags ^ f->flags) & STATE_OPEN)
		return e->flags & STATE_OPEN ? -1 : 1;
	return (e->to_ns > f->to_ns) - (e->to_ns < f->to_ns);
}

static const struct event_kind {
	size_t each, end; /* end: where the end of one is; 0: it has none */
	size_t most;	  /* in memory */
	int (*order)(const void *a, const void *b);
} event_kinds[EVENTS_KINDS] = {
	[EVENTS_MARK] = {sizeof(struct mark), 0, 65536, by_mark},
	[EVENTS_GAP] = {sizeof(struct gap), offsetof(struct gap, to_ns), 16384, by_gap},
	[EVENTS_CHANGE] = {sizeof(struct change), 0, 4096, by_change},
	[EVENTS_REASON] = {sizeof(struct change), 0, 4096, by_change},
	[EVENTS_STATE] = {sizeof(struct state_event), offsetof(struct state_event, to_ns), 4096, by_state},
};

/* At the most, or if memory is out, a log in memory drops the oldest eighth. */
static void event_add(struct trace *r, enum trace_events of, const void *event)
{
	const struct event_kind *kind = &event_kinds[of];
	struct log_events *l = &r->events[of];
	size_t room = l->room ? 2 * l->room : 64, each = kind->each, drop = (l->n + 7) / 8, at;
	char *p;

	if (l->n == l->room && l->room < (r->view ? kind->most : EVENTS_MOST)) {
		void *more = reallocarray(l->p, room, each);
		int64_t *reach = reallocarray(l->reach, room, sizeof(*reach));

		l->p = more ? more : l->p;
		l->reach = reach ? reach : l->reach;
		l->room = more && reach ? room : l->room;
		r->events_failed |= l->n == l->room;
	}
	p = l->p;
	if (l->n == l->room && r->view && l->n > 0) {
		l->n -= drop;
		memmove(p, p + drop * each, l->n * each);
	}
	if (l->n == l->room)
		return;
	for (at = l->n++; r->view && at > 0 && kind->order(p + (at - 1) * each, event) > 0; at--)
		memcpy(p + at * each, p + (at - 1) * each, each);
	memcpy(p + at * each, event, each);
	r->events_new = true;
}

static bool state_good(const struct state_event *e)
{
	return e->kind < STATE_KINDS && e->from_ns <= e->to_ns && e->above_ns >= 0 && e->above_ns <= e->to_ns - e->from_ns;
}

/* In memory the newest of what is told of an event counts: one that had ended may go on. */
static void state_add(struct trace *r, const struct state_event *e)
{
	struct state_event *s = r->events[EVENTS_STATE].p;
	size_t i = r->view ? r->events[EVENTS_STATE].n : 0;

	while (i > 0 && s[i - 1].from_ns >= e->from_ns && (s[i - 1].from_ns > e->from_ns || s[i - 1].channel != e->channel))
		i--;
	if (i > 0 && s[i - 1].from_ns == e->from_ns) {
		s[i - 1] = *e;
		r->events_new = true;
	} else {
		event_add(r, EVENTS_STATE, e);
	}
}

void log_events_put(struct trace *r, unsigned kind, struct log_in in)
{
	bool each = kind == LOG_INDEX;
	struct log_in record;
	struct log_event ev;

	while (in.p < in.end) {
		if (each)
			kind = log_get_u8(&in);
		if (!log_get_record(&in, &record))
			break;
		if (!log_event_get(kind, &record, &ev))
			continue;
		if (kind == LOG_MARK)
			event_add(r, EVENTS_MARK, &ev.u.mark);
		else if (kind == LOG_GAP && ev.u.gap.cause <= GAP_ABSENT)
			event_add(r, EVENTS_GAP, &ev.u.gap);
		else if (kind == LOG_STATE)
			event_add(r, change_is_reason(&ev.u.change) ? EVENTS_REASON : EVENTS_CHANGE, &ev.u.change);
		else if (kind == LOG_EVENT && state_good(&ev.u.state) && (!r->view || ev.u.state.channel < LOG_CHANNELS))
			state_add(r, &ev.u.state);
	}
}

/* What goes on is recorded as open, and again at its end. One that is open lasts until the next of its channel, or the
 * last row. */
void log_events_settle(struct trace *r)
{
	struct log_events *l = &r->events[EVENTS_STATE];
	struct state_event *s = l->p;
	int64_t next[LOG_CHANNELS];
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		if (n > 0 && s[n - 1].from_ns == s[i].from_ns && s[n - 1].channel == s[i].channel)
			s[n - 1] = s[i];
		else
			s[n++] = s[i];
	l->n = n;
	r->states_open = false;
	for (size_t i = 0; i < LOG_CHANNELS; i++)
		next[i] = r->tail.ended ? INT64_MIN : r->last_ns;
	for (size_t i = n; i-- > 0; next[s[i].channel] = s[i].from_ns) {
		r->states_open |= s[i].flags & STATE_OPEN;
		if (s[i].flags & STATE_OPEN && next[s[i].channel] > s[i].to_ns) {
			s[i].above_ns += next[s[i].channel] - s[i].to_ns;
			s[i].to_ns = next[s[i].channel];
		}
	}
	/* The latest ends, for those who look for what is not over at a time. */
	for (int k = 0; k < EVENTS_KINDS; k++) {
		int64_t latest_ns = INT64_MIN, end_ns;

		for (size_t i = 0; event_kinds[k].end && i < r->events[k].n; i++) {
			memcpy(&end_ns, (char *)r->events[k].p + i * event_kinds[k].each + event_kinds[k].end, sizeof(end_ns));
			r->events[k].reach[i] = latest_ns = end_ns > latest_ns ? end_ns : latest_ns;
		}
	}
	r->events_new = false;
}

const void *trace_events(const struct trace *r, enum trace_events of, size_t *n)
{
	*n = r->events[of].n;
	return r->events[of].p;
}

void log_events_free(struct trace *r)
{
	for (int i = 0; i < EVENTS_KINDS; i++) {
		free(r->events[i].p);
		free(r->events[i].reach);
	}
	free(r->anchors);
}

/* --- of files --- */

/* Sorts the events and removes duplicates. */
static void events_sort(struct log_events *l, const struct event_kind *kind)
{
	char *p = l->p;
	size_t kept = l->n > 0;

	if (l->n > 1)
		qsort(p, l->n, kind->each, kind->order);
	for (size_t i = 1; i < l->n; i++)
		if (kind->order(p + (kept - 1) * kind->each, p + i * kind->each) != 0)
			memmove(p + kept++ * kind->each, p + i * kind->each, kind->each);
	l->n = kept;
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
				event_add(r, EVENTS_GAP, &g);
		}
}

/* What was set while missing files were recorded is known from the META that begins the next file: it is a change at the
 * start of that file. Returns false if out of memory. */
static bool changes_absent(struct trace *r)
{
	size_t n = r->session.n_facts;
	struct fact *facts = calloc(n + 1, sizeof(*facts)), fact;

	if (!facts)
		return false;
	for (size_t i = 0; i < r->n_holes; i++) {
		const struct log_group *g = log_group_of(r, r->holes[i]);
		const struct log_list *l = g ? log_list_of(r, g) : NULL;
		const struct log_item *meta = NULL;
		struct change c = {.t_ns = 0};
		struct clock_anchor start;
		struct log_in in, record;
		struct log_head h;
		unsigned tag;

		for (size_t k = 0; l && k < l->n; k++)
			if (l->items[k].kind == LOG_META && l->items[k].cell == r->holes[i])
				meta = &l->items[k];
		if (!meta || !log_read_chunk(r, meta, &h, &r->raw_index))
			continue;
		in = (struct log_in) {r->raw_index.p, r->raw_index.p + r->raw_index.n, false};
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
					event_add(r, EVENTS_CHANGE, &c);
				}
		}
		events_sort(&r->events[EVENTS_CHANGE], &event_kinds[EVENTS_CHANGE]);
	}
	free(facts);
	return true;
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

/* Reads the anchor of a META. */
static bool anchor_get(struct trace *r, const struct log_item *meta, struct clock_anchor *a)
{
	struct log_in in, record;
	struct log_head h;
	unsigned tag;

	if (!log_read_chunk(r, meta, &h, &r->raw_index))
		return false;
	in = (struct log_in) {r->raw_index.p, r->raw_index.p + r->raw_index.n, false};
	while (log_get_tagged(&in, &tag, &record))
		if (tag == LOG_TAG_ANCHOR)
			log_anchor_get(&record, a);
	return true;
}

/* Adds the anchor from the first META in or after the group of t_ns: that META was written when the change or
 * suspend was noticed. */
static void anchor_at(struct trace *r, int64_t t_ns)
{
	struct clock_anchor a = r->session.start;
	size_t g = times_from(r->groups, r->n_groups, sizeof(*r->groups), offsetof(struct log_group, cell),
			      log_span_cell(log_span(log_cell(t_ns), 1), 1));

	for (size_t end = g + NOTICED; g < r->n_groups && g < end; g++) {
		const struct log_list *l = log_list_of(r, &r->groups[g]);

		for (size_t i = 0; l && i < l->n; i++)
			if (l->items[i].kind == LOG_META && anchor_get(r, &l->items[i], &a)) {
				r->anchors[r->n_anchors++] = a;
				return;
			}
	}
}

/* That of the newest META. */
static void anchor_newest(struct trace *r)
{
	struct clock_anchor a = r->session.start;
	const struct log_item *last = NULL;

	for (size_t g = r->n_groups; !last && g-- > 0;) {
		const struct log_list *l = log_list_of(r, &r->groups[g]);

		for (size_t i = 0; l && i < l->n; i++)
			if (l->items[i].kind == LOG_META && (!last || l->items[i].at > last->at))
				last = &l->items[i];
	}
	if (last && anchor_get(r, last, &a))
		r->anchors[r->n_anchors++] = a;
}

static int by_anchor(const void *a, const void *b)
{
	const struct clock_anchor *c = a, *d = b;

	return (c->mono_ns > d->mono_ns) - (c->mono_ns < d->mono_ns);
}

/* The clocks after each change of them. A suspend is listed as a gap for them only: CLOCK_MONOTONIC stops meanwhile, so
 * that no row is missing. */
static bool clocks_read(struct trace *r)
{
	const struct log_events *changes = &r->events[EVENTS_CHANGE];
	struct log_events *gaps = &r->events[EVENTS_GAP], anchors = {.n = 0};
	const struct change *c = changes->p;
	struct gap *g = gaps->p;
	size_t kept = 0;

	r->anchors = calloc(changes->n + gaps->n + 2, sizeof(*r->anchors));
	if (!r->anchors)
		return false;
	r->anchors[r->n_anchors++] = r->session.start;
	for (size_t i = 0; i < changes->n; i++)
		if (strcmp(c[i].what, "clock") == 0)
			anchor_at(r, c[i].t_ns);
	for (size_t i = 0; i < gaps->n; i++)
		if (g[i].cause == LOG_SUSPENDED)
			anchor_at(r, g[i].to_ns);
		else
			g[kept++] = g[i];
	gaps->n = kept;
	anchor_newest(r);
	anchors = (struct log_events) {.p = r->anchors, .n = r->n_anchors};
	events_sort(&anchors, &(struct event_kind) {.each = sizeof(*r->anchors), .order = by_anchor});
	r->n_anchors = anchors.n;
	return true;
}

bool log_events_read(struct trace *r)
{
	struct log_head h;

	for (size_t g = 0; g < r->n_groups; g++) {
		const struct log_list *l = r->groups[g].flags & LOG_GROUP_EVENTS ? log_list_of(r, &r->groups[g]) : NULL;

		for (size_t i = 0; l && i < l->n; i++)
			if (log_has_events(l->items[i].kind) && log_read_chunk(r, &l->items[i], &h, &r->raw))
				log_events_put(r, h.kind, (struct log_in) {r->raw.p, r->raw.p + r->raw.n, false});
	}
	states_of_channels(r);
	gaps_absent(r);
	for (int i = 0; i < EVENTS_KINDS; i++)
		events_sort(&r->events[i], &event_kinds[i]);
	if (!changes_absent(r) || r->events_failed || !clocks_read(r))
		return false;
	log_events_settle(r);
	return true;
}
