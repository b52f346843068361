/* The events of a log, each kind in the order of time. Those of files are sorted once all were found, those of a log in
 * memory are put in their place as they come: what was on the screen and what its file shows are in the same order. */
#include <stdlib.h>
#include <string.h>

#include "trace/log-read.h"

#define EVENTS_MOST (1 << 20) /* of a kind, in files */

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

void log_event_add(struct trace *r, enum trace_events of, const void *event)
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
		log_event_add(r, EVENTS_STATE, e);
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
			log_event_add(r, EVENTS_MARK, &ev.u.mark);
		else if (kind == LOG_GAP && ev.u.gap.cause <= GAP_ABSENT)
			log_event_add(r, EVENTS_GAP, &ev.u.gap);
		else if (kind == LOG_STATE)
			log_event_add(r, change_is_reason(&ev.u.change) ? EVENTS_REASON : EVENTS_CHANGE, &ev.u.change);
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

void log_events_sort(struct trace *r, enum trace_events of)
{
	const struct event_kind *kind = &event_kinds[of];
	struct log_events *l = &r->events[of];
	char *p = l->p;
	size_t kept = l->n > 0;

	if (l->n > 1)
		qsort(p, l->n, kind->each, kind->order);
	for (size_t i = 1; i < l->n; i++)
		if (kind->order(p + (kept - 1) * kind->each, p + i * kind->each) != 0)
			memmove(p + kept++ * kind->each, p + i * kind->each, kind->each);
	l->n = kept;
}
