/* The events of a log, each kind in the order of time. Those of files are sorted once all were found, those of a log in
 * memory are put in their place as they come: what was on the screen and what its file shows are in the same order. */
#include <stdlib.h>
#include <string.h>

#include "trace/log-read.h"

#define EVENTS_MOST (1 << 20) /* of a kind, in files */

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int by_mark(const void *a, const void *b)
{
	const struct mark *m = a, *n = b;

	return ORDER(m->t_ns, n->t_ns) ?: ORDER(m->id, n->id);
}

static int by_gap(const void *a, const void *b)
{
	const struct gap *g = a, *h = b;

	return ORDER(g->from_ns, h->from_ns) ?: ORDER(g->to_ns, h->to_ns) ?: ORDER(g->tier, h->tier) ?: ORDER(g->cause, h->cause) ?:
		ORDER(g->missed, h->missed);
}

static int by_change(const void *a, const void *b)
{
	const struct change *c = a, *d = b;

	return ORDER(c->t_ns, d->t_ns) ?: strcmp(c->what, d->what) ?: strcmp(c->from, d->from) ?: strcmp(c->to, d->to);
}

/* The last of those that begin together is what is known of them at the end. */
static int by_state(const void *a, const void *b)
{
	const struct state_event *e = a, *f = b;

	return ORDER(e->from_ns, f->from_ns) ?: ORDER(e->channel, f->channel) ?:
		ORDER(f->flags & STATE_OPEN, e->flags & STATE_OPEN) ?: ORDER(e->to_ns, f->to_ns);
}

static const struct event_kind {
	size_t each, begin, end; /* where the begin and the end of one are; end 0: it has none */
	size_t most;		 /* in memory */
	int (*order)(const void *a, const void *b);
} event_kinds[EVENTS_KINDS] = {
	[EVENTS_MARK] = {sizeof(struct mark), offsetof(struct mark, t_ns), 0, 65536, by_mark},
	[EVENTS_GAP] = {sizeof(struct gap), offsetof(struct gap, from_ns), offsetof(struct gap, to_ns), 16384, by_gap},
	[EVENTS_CHANGE] = {sizeof(struct change), offsetof(struct change, t_ns), 0, 4096, by_change},
	[EVENTS_REASON] = {sizeof(struct change), offsetof(struct change, t_ns), 0, 4096, by_change},
	[EVENTS_STATE] = {sizeof(struct state_event), offsetof(struct state_event, from_ns), offsetof(struct state_event, to_ns), 4096,
			  by_state},
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
	const struct state_event *state = &ev.u.state;

	while (in.p < in.end) {
		if (each)
			kind = log_get_u8(&in);
		if (!log_get_record(&in, &record))
			break;
		if (!log_event_get(kind, &record, &ev))
			continue;
		if (kind == LOG_MARK)
			log_event_add(r, EVENTS_MARK, &ev.u);
		else if (kind == LOG_GAP && (ev.u.gap.cause <= GAP_LOST || ev.u.gap.cause == GAP_ABSENT))
			log_event_add(r, EVENTS_GAP, &ev.u);
		else if (kind == LOG_STATE)
			log_event_add(r, change_is_reason(&ev.u.change) ? EVENTS_REASON : EVENTS_CHANGE, &ev.u);
		else if (kind == LOG_EVENT && state->kind < STATE_KINDS && state->above_ns >= 0 &&
			 state->above_ns <= state->to_ns - state->from_ns && (!r->view || state->channel < LOG_CHANNELS))
			state_add(r, state);
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

bool log_event_next(struct timeline *t, int64_t from_ns, int64_t to_ns, bool last, int64_t *out)
{
	static const enum trace_events of[] = {EVENTS_STATE, EVENTS_CHANGE, EVENTS_GAP};
	bool found = false;

	for (size_t k = 0; k < sizeof(of) / sizeof(*of); k++) {
		const struct log_events *l = &((struct trace *)t)->events[of[k]];
		const struct event_kind *kind = &event_kinds[of[k]];
		size_t i = times_from(l->p, l->n, kind->each, kind->begin, last ? to_ns : from_ns);

		for (; last ? i > 0 : i < l->n; i = last ? i - 1 : i + 1) {
			const char *event = (const char *)l->p + (last ? i - 1 : i) * kind->each;
			const struct state_event *s = of[k] == EVENTS_STATE ? (const void *)event : NULL;
			const struct gap *g = of[k] == EVENTS_GAP ? (const void *)event : NULL;
			int64_t begin_ns;

			memcpy(&begin_ns, event + kind->begin, sizeof(begin_ns));
			if (last ? begin_ns < from_ns : begin_ns >= to_ns)
				break;
			if ((s && s->flags & STATE_BEFORE) || (g && (!gap_is_hole(g) || g->to_ns - g->from_ns < GAP_EVENT_NS)))
				continue;
			if (!found || (last ? begin_ns > *out : begin_ns < *out))
				*out = begin_ns;
			found = true;
			break;
		}
	}
	return found;
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
