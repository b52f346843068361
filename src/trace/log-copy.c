/* What an output copies of a log into a file: DATA, RANGE and events, with the times that the file is about, and bins and
 * statistics of which it has all rows. Chunks are copied as they are, with another head; META, INDEX and END are its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log-output.h"

#define FULL_METAS 2 /* at the start */

/* --- chunks --- */

/* Writes o->bytes, a chunk of the file; raw: its payload. */
static bool put_bytes(struct log_out *o, struct log_entry *e, const struct log_bytes *raw)
{
	if (!disk_write(o))
		return false;
	e->distance = o->file.bytes - o->bytes.n;
	e->stored = (uint32_t)(o->bytes.n - LOG_HEAD);
	o->seq++;
	log_index_add(o->index, e, o->generation, raw->p, raw->n);
	return true;
}

/* Writes o->raw as a chunk. */
static bool put_raw(struct log_out *o, struct log_entry *e)
{
	struct log_head h = {.kind = e->kind,
			     .session = o->options.session,
			     .generation = o->generation,
			     .seq = o->seq,
			     .cell = e->cell};

	log_bytes_reset(&o->bytes);
	if (!o->raw.failed && log_pack(o->packer, &h, o->raw.p, o->raw.n, &o->bytes) == 0)
		return put_bytes(o, e, &o->raw);
	return true; /* out of memory: a reader does without it */
}

static bool put_kind(struct log_out *o, enum log_kind kind, int64_t cell)
{
	return put_raw(o, &(struct log_entry) {.kind = (uint8_t)kind, .cell = cell});
}

/* Writes the chunk as it is, as one of this file. */
static bool put_copy(struct log_out *o, const struct log_chunk *c)
{
	struct log_entry e = c->about;
	struct log_head h;

	log_bytes_reset(&o->bytes);
	log_bytes_reset(&o->raw);
	log_bytes_put(&o->bytes, c->bytes, c->n);
	if (o->bytes.failed || !log_head_get(o->bytes.p, &h)) {
		log_skip(&o->skipped, c);
		return true;
	}
	h.session = o->options.session;
	h.generation = c->generation;
	h.seq = o->seq;
	log_head_put(o->bytes.p, &h);
	return put_bytes(o, &e, &o->raw);
}

/* Lists the groups before that cell. */
static bool put_index(struct log_out *o, int64_t before_cell)
{
	struct log_entry e;

	log_bytes_reset(&o->raw);
	log_index_make(o->index, before_cell, o->file.bytes, &o->raw, &e);
	o->list_before = INT64_MIN;
	return put_raw(o, &e);
}

/* --- throttling and the like --- */

/* Unpacks the records of a chunk to o->events, for *in. */
static bool events_of(struct log_out *o, const struct log_chunk *c, struct log_in *in)
{
	struct log_head h;

	if (!log_has_events(c->about.kind) || !log_head_get(c->bytes, &h) ||
	    log_unpack(o->unpacker, &h, c->bytes + LOG_HEAD, &o->events) != LOG_OK)
		return false;
	*in = (struct log_in) {o->events.p, o->events.p + o->events.n, false};
	return true;
}

void out_states_note(struct log_out *o, const struct log_chunk *c)
{
	struct log_in in, record;
	struct log_event ev;

	if (c->about.kind != LOG_EVENT || !events_of(o, c, &in))
		return;
	while (log_get_record(&in, &record)) {
		size_t i = 0;

		if (!log_event_get(LOG_EVENT, &record, &ev))
			continue;
		while (i < o->n_open && o->open[i].channel != ev.u.state.channel)
			i++;
		if (!(ev.u.state.flags & STATE_OPEN) && i < o->n_open)
			o->open[i] = o->open[--o->n_open];
		else if ((ev.u.state.flags & STATE_OPEN) && i < OPEN_STATES)
			o->open[o->n_open > i ? i : o->n_open++] = ev.u.state;
	}
}

/* Cuts off what was before the file. */
static void state_cut(const struct log_out *o, struct state_event *s)
{
	if (s->from_ns >= o->start.mono_ns)
		return;
	s->from_ns = o->start.mono_ns;
	s->flags |= STATE_BEFORE;
}

/* Says what goes on at t_ns, at the beginning of the file or at its end. */
static bool put_states(struct log_out *o, int64_t cell, int64_t t_ns)
{
	log_bytes_reset(&o->raw);
	for (size_t i = 0; i < o->n_open; i++) {
		struct log_event ev = {.kind = LOG_EVENT, .u.state = o->open[i]};

		if (ev.u.state.from_ns >= t_ns)
			continue;
		state_cut(o, &ev.u.state);
		ev.u.state.to_ns = t_ns > ev.u.state.from_ns ? t_ns : ev.u.state.from_ns;
		log_event_put(&o->raw, &ev);
	}
	return o->raw.n == 0 || put_kind(o, LOG_EVENT, cell);
}

/* --- the beginning and the end of a file --- */

void out_session_take(struct log_out *o)
{
	o->about = *log_session(o->log, &o->generation);
	o->about.facts = o->facts;
}

void out_file_begin(struct log_out *o, int64_t cell)
{
	int64_t ns = log_cell_ns(cell);

	o->full_due = FULL_METAS;
	o->from = o->whole = cell;
	o->newest = INT64_MIN;
	o->list_before = INT64_MIN;
	log_index_free(o->index);
	o->index = log_index_new();
	if (ns > o->about.start.mono_ns) {
		struct clock_anchor now = o->about.start;

		if (log_is_now(o->log))
			clock_anchor(&now);
		o->start = (struct clock_anchor) {ns, now.real_ns - (now.mono_ns - ns), now.boot_ns - (now.mono_ns - ns)};
	}
	for (int t = 0; t < TIERS; t++)
		o->tier_cell[t] = o->tier_cell[t] < cell ? cell : o->tier_cell[t];
}

/* In the first two groups of a file or a generation a META is full, since the first may be damaged, and once a level 2
 * span. */
bool out_meta(struct log_out *o, int64_t cell)
{
	struct clock_anchor anchor = o->start;
	bool begins = o->file.bytes == 0;

	if (!begins && log_is_now(o->log))
		clock_anchor(&anchor);
	out_meta_make(o, &anchor, o->full_due > 0 || log_span(cell, 2) != o->full_span);
	if (!put_kind(o, LOG_META, cell))
		return false;
	o->meta_span = log_span(cell, 1);
	o->full_span = log_span(cell, 2);
	o->full_due -= o->full_due > 0;
	return !begins || put_states(o, cell, o->start.mono_ns);
}

bool out_file_end(struct log_out *o, enum log_reason reason, const char *next)
{
	int64_t cell = o->newest == INT64_MIN ? o->from : o->newest;
	uint64_t newest = 0;

	if ((o->to != INT64_MAX && !put_states(o, cell, log_cell_ns(o->to))) || !put_index(o, INT64_MAX))
		return false;
	log_bytes_reset(&o->raw);
	log_put_u8(&o->raw, reason);
	log_put_u64(&o->raw, log_index_newest(o->index, &newest) ? o->file.bytes - newest : 0);
	log_put_str(&o->raw, next);
	if (!put_kind(o, LOG_END, cell))
		return false;
	if (!o->stream)
		o->files[o->file.index].complete = true;
	return true;
}

/* --- copying --- */

/* Fits an event to the file: it may belong to another, or be cut into two. before: it is in the file before, as far as it
 * is from its time. Returns false if nothing of it is here. */
static bool event_fit(const struct log_out *o, struct log_event *ev, bool before)
{
	int64_t start = o->start.mono_ns, to = o->to < INT64_MAX ? log_cell_ns(o->to) : INT64_MAX,
		from = before && log_cell_ns(o->from) > start ? log_cell_ns(o->from) : start;
	struct state_event *s = &ev->u.state;
	struct gap *g = &ev->u.gap, whole = *g;

	switch (ev->kind) {
	case LOG_EVENT:
		if (s->from_ns >= to || s->to_ns < start)
			return false;
		state_cut(o, s);
		if (s->to_ns > to) {
			s->to_ns = to;
			s->flags |= STATE_OPEN;
		}
		return true;
	case LOG_GAP:
		g->from_ns = g->from_ns < from ? from : g->from_ns;
		g->to_ns = g->to_ns > to ? to : g->to_ns;
		if (g->from_ns > g->to_ns || (g->from_ns == g->to_ns && whole.from_ns < whole.to_ns))
			return false;
		if (g->to_ns < whole.to_ns || (g->from_ns > whole.from_ns && before))
			g->missed = (uint64_t)((double)g->missed * (double)(g->to_ns - g->from_ns) /
						       (double)(whole.to_ns - whole.from_ns) +
					       0.5);
		return g->missed > 0;
	default:
		if (ev->t_ns >= to || (ev->t_ns < from && before))
			return false;
		ev->t_ns = ev->t_ns < start ? start : ev->t_ns; /* its file has ended */
		*(ev->kind == LOG_MARK ? &ev->u.mark.t_ns : &ev->u.change.t_ns) = ev->t_ns;
		return true;
	}
}

static bool copy_events(struct log_out *o, const struct log_chunk *c)
{
	struct log_in in, record;
	struct log_event ev;

	out_states_note(o, c);
	if (!events_of(o, c, &in))
		return true;
	log_bytes_reset(&o->raw);
	while (log_get_record(&in, &record))
		if (log_event_get(c->about.kind, &record, &ev) && event_fit(o, &ev, c->serial <= o->until))
			log_event_put(&o->raw, &ev);
	if (o->raw.n > 0 && !put_kind(o, c->about.kind, c->about.cell))
		return false;
	in = (struct log_in) {o->raw.p, o->raw.p + o->raw.n, false};
	while (log_get_record(&in, &record)) {
		if (!log_event_get(c->about.kind, &record, &ev))
			continue;
		if (ev.kind == LOG_STATE)
			facts_change(o->facts, o->about.n_facts, &ev.u.change);
		o->stats.marks += ev.kind == LOG_MARK;
		if (ev.kind == LOG_GAP && ev.u.gap.cause == GAP_LATE)
			o->stats.late[ev.u.gap.tier] += ev.u.gap.missed;
		if (ev.kind == LOG_GAP && ev.u.gap.cause == GAP_LOST)
			o->stats.given_lost += ev.u.gap.missed;
	}
	return true;
}

bool out_lost_tell(struct log_out *o, int64_t cell)
{
	struct log_event ev = {.kind = LOG_GAP};

	if (!o->skipped.chunks)
		return true;
	log_bytes_reset(&o->raw);
	for (enum tier t = 0; t < TIERS; t++) {
		int64_t from = log_cell_ns(o->tier_cell[t]), to = log_cell_ns(cell);

		if (from < o->start.mono_ns)
			from = o->start.mono_ns;
		if (!o->skipped.rows[t])
			continue;
		ev.u.gap = (struct gap) {t, GAP_LOST, from, to > from ? to : from, o->skipped.rows[t]};
		log_event_put(&o->raw, &ev);
	}
	if (o->raw.n > 0 && !put_kind(o, LOG_GAP, cell))
		return false;
	log_bytes_reset(&o->raw);
	for (int i = 0; i < 2; i++) {
		uint64_t n = i ? o->skipped.marks + o->skipped.events : o->skipped.ranges;

		ev = (struct log_event) {.kind = LOG_STATE, .u.change.t_ns = log_cell_ns(cell)};
		strcpy(ev.u.change.what, i ? CHANGE_EVENTS_LOST : CHANGE_RANGES_LOST);
		snprintf(ev.u.change.to, sizeof(ev.u.change.to), "%llu room", (unsigned long long)n);
		if (n > 0)
			log_event_put(&o->raw, &ev);
	}
	if (o->raw.n > 0 && !put_kind(o, LOG_STATE, cell))
		return false;
	if (o->skipped.events > 0)
		o->n_open = 0; /* what went on may have ended meanwhile */
	log_skipped_add(&o->stats.lost, &o->skipped);
	memset(&o->skipped, 0, sizeof(o->skipped));
	o->whole = cell + 1;
	return true;
}

/* Bins and statistics can be computed again, so they leave room for rows, until the end. */
static bool copy_has_room(const struct log_out *o, size_t n)
{
	const struct trace_limits *l = &o->limits;
	uint64_t limit = l->split.bytes;

	if (!o->go_on)
		return true;
	if (l->max_bytes && (!limit || l->max_bytes - out_made(o) < limit))
		limit = l->max_bytes - out_made(o);
	return !limit || o->file.bytes + n + limit / (o->quit ? 32 : 6) <= limit;
}

/* Bins or statistics: if all of their span is here, and no loss waits to be told, which may be in it. After those of
 * level 2 an INDEX is due. */
static bool copy_span(struct log_out *o, const struct log_chunk *c)
{
	const struct log_entry *e = &c->about;
	int level = log_entry_level(e);
	int64_t end = e->cell + log_span_cell(1, level);

	if (o->file.bytes == 0)
		return true;
	if (!o->skipped.chunks && e->cell >= o->whole && end <= o->to && copy_has_room(o, c->n) && !put_copy(o, c))
		return false;
	if (e->kind == LOG_STAT && level == 2 && e->cell < o->to)
		o->list_before = end;
	return true;
}

bool out_copy(struct log_out *o, const struct log_chunk *c)
{
	const struct log_entry *e = &c->about;
	bool is_row = e->kind == LOG_DATA || e->kind == LOG_RANGE;

	if (o->list_before != INT64_MIN && log_of_group(e->kind) && !put_index(o, o->list_before))
		return false;
	if (e->kind == LOG_LOD || e->kind == LOG_STAT)
		return copy_span(o, c);
	if (is_row && e->cell < o->from && c->serial > o->until)
		log_skip(&o->skipped, c);
	if (is_row && (e->cell < o->from || e->cell >= o->to))
		return true;
	if (o->generation != c->generation) {
		out_session_take(o);
		o->generation = c->generation;
		o->meta_span = INT64_MIN;
		o->full_due = FULL_METAS;
	}
	if ((o->file.bytes == 0 || log_span(e->cell, 1) > o->meta_span) && !out_meta(o, e->cell))
		return false;
	if (!is_row)
		return copy_events(o, c);
	o->any_ranges |= e->kind == LOG_RANGE;
	if (e->kind == LOG_RANGE)
		return put_copy(o, c);
	if (!out_lost_tell(o, e->cell) || !put_copy(o, c))
		return false;
	o->newest = e->cell > o->newest ? e->cell : o->newest;
	for (int t = 0; t < TIERS; t++) {
		o->stats.rows[t] += e->rows[t];
		o->stats.late[t] += e->late[t];
		if (e->rows[t] > 0)
			o->tier_cell[t] = e->cell + 1;
	}
	return true;
}
