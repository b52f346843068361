/* Packs the rows of all tiers into one chunk per cell; cells form groups, and each level is closed with its
 * bins, statistics and index. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "trace/format.h"
#include "model/states.h"
#include "trace/log-builder.h"
#include "trace/log-decode.h"
#include "trace/log-index.h"
#include "trace/log-lod.h"
#include "trace/log-meta.h"
#include "trace/log-range.h"

#define CELL_NS       (INT64_C(1) << LOG_CELL_ZOOM)
#define GROUP_LATE    15     /* cells that a group, or an output, waits for the rows of a tier */
#define SECTION_BYTES 300000 /* maximum per tier and chunk, so that a chunk always fits */
#define EVENTS_BYTES  32768  /* of marks, gaps or changes in one chunk */
#define EVENTS_MOST   4096   /* maximum that waits for the end of their cell */
#define LATE_MOST     256    /* single late ticks before the rows of one call */
#define LIKE_GROUPS   4
#define FULL_METAS    2 /* at the start */
#define STEP_NS       (50 * NS_PER_MS)

/* Rows that wait for the end of their cell. */
struct waiting {
	struct row_queue q;
	int64_t newest_ns;  /* of the last row received; INT64_MIN: none */
	struct gap hole;    /* rows lost for lack of room; missed 0: none */
	struct gap late[LATE_MOST]; /* single late ticks, whose rows have not come yet */
	size_t n_late;
	int64_t written_ns; /* of the last row in a chunk */
	uint8_t *like;
};

struct log_builder {
	const struct session *about;
	struct log_options options;
	log_emit *emit;
	void *to;
	struct log_packer *packer;
	struct log_fold *fold;
	struct log_index *index;
	struct fact *facts;
	struct waiting tier[TIERS];
	struct state_watch *states;
	size_t n_states;
	struct log_event *events; /* waiting for the end of their cell */
	size_t n_events, events_room;
	int64_t event_ns; /* when the first of them is due; INT64_MAX: none */
	struct range *ranges; /* LOG_RANGES_MAX, waiting as well; NULL: there were none */
	size_t n_ranges;
	uint64_t lost_ranges;
	struct log_bytes raw, chunk;
	struct log_tally tally;
	struct clock_anchor anchor;
	uint64_t seq, at;
	uint32_t generation;
	int64_t newest_cell, like_span;
	int64_t meta_span;         /* of the last META */
	int64_t full_span;         /* the level 2 span of the last full one */
	unsigned full_due;         /* so many more are full */
	int64_t closed_span;       /* rows of this group and earlier ones are too late */
	struct clock_anchor start; /* of this output: nothing in it is older */
	uint8_t boot[16];
};

static bool tier_used(const struct log_builder *b, enum tier t)
{
	return b->about->width[t] > 0 && b->about->hz[t] > 0;
}

static int64_t period_ns(const struct log_builder *b, enum tier t)
{
	return llround((double)NS_PER_S / b->about->hz[t]);
}

/* --- chunks --- */

/* Writes b->raw as a chunk. */
static bool put_chunk(struct log_builder *b, struct log_entry *e)
{
	struct log_head h = {.kind = e->kind,
			     .session = b->options.session,
			     .generation = b->generation,
			     .seq = b->seq,
			     .cell = e->cell};

	b->chunk.n = 0;
	if (b->raw.failed || log_pack(b->packer, &h, b->raw.p, b->raw.n, &b->chunk) < 0)
		return false;
	e->distance = b->at;
	e->stored = h.stored;
	if (!b->emit(b->to, e, b->chunk.p, b->chunk.n))
		return false;
	b->seq++;
	b->at += b->chunk.n;
	if (b->index)
		log_index_add(b->index, e, b->generation, b->raw.p, b->raw.n);
	return true;
}

static bool put_kind(struct log_builder *b, enum log_kind kind, unsigned aux, int64_t cell)
{
	return put_chunk(b, &(struct log_entry) {.kind = (uint8_t)kind, .aux = (uint8_t)aux, .cell = cell});
}

/* Describes the log: in the first two groups of an output or a generation, since the first may be damaged, and once a
 * level 2 span. Other groups begin with a short META. */
static void put_meta(struct log_builder *b, int64_t cell)
{
	bool full = b->full_due > 0 || log_span(cell, 2) != b->full_span;

	b->raw.n = 0;
	log_meta_put(&b->raw, &(struct log_meta) {.about = b->about,
						  .options = &b->options,
						  .boot = b->boot,
						  .start = &b->start,
						  .now = &b->anchor,
						  .facts = b->facts,
						  .any_ranges = b->ranges != NULL,
						  .full = full});
	put_kind(b, LOG_META, 0, cell);
	b->meta_span = log_span(cell, 1);
	b->full_span = log_span(cell, 2);
	b->full_due -= b->full_due > 0;
}

/* --- marks, gaps, changes --- */

static void ranges_flush(struct log_builder *b)
{
	if (b->n_ranges == 0)
		return;
	b->raw.n = 0;
	log_ranges_put(&b->raw, b->ranges, b->n_ranges);
	if (!put_kind(b, LOG_RANGE, 0, b->newest_cell))
		b->lost_ranges += b->n_ranges;
	b->n_ranges = 0;
}

void log_builder_ranges(struct log_builder *b, const struct range *list, size_t n)
{
	if (!b->ranges)
		b->ranges = calloc(LOG_RANGES_MAX, sizeof(*b->ranges));
	b->lost_ranges += b->ranges ? 0 : n;
	for (size_t i = 0; b->ranges && i < n; i++) {
		b->ranges[b->n_ranges++] = list[i];
		if (list[i].end_ns + CELL_NS + LOG_LATE_NS < b->event_ns)
			b->event_ns = list[i].end_ns + CELL_NS + LOG_LATE_NS;
		if (b->n_ranges == LOG_RANGES_MAX)
			ranges_flush(b);
	}
}

/* Says how many ranges were lost since the last time. */
static void ranges_tell(struct log_builder *b)
{
	struct change c = {.t_ns = log_cell_ns(b->newest_cell + 1), .what = "ranges.lost"};

	if (b->lost_ranges == 0)
		return;
	snprintf(c.to, sizeof(c.to), "%llu", (unsigned long long)b->lost_ranges);
	b->lost_ranges = 0;
	log_builder_change(b, &c);
}

/* Writes the events that wait. */
static void events_flush(struct log_builder *b)
{
	ranges_flush(b);
	for (enum log_kind kind = LOG_MARK; kind < LOG_KINDS; kind++) {
		b->raw.n = 0;
		for (size_t i = 0; i < b->n_events; i++) {
			if (b->events[i].kind != kind)
				continue;
			log_event_put(&b->raw, &b->events[i]);
			if (b->raw.n > EVENTS_BYTES) {
				put_kind(b, kind, 0, b->newest_cell);
				b->raw.n = 0;
			}
		}
		if (b->raw.n > 0)
			put_kind(b, kind, 0, b->newest_cell);
	}
	b->n_events = 0;
	b->event_ns = INT64_MAX;
}

/* Queues an event; known_ns is the time when it was over. Returns false if out of memory. */
static bool event_keep(struct log_builder *b, const struct log_event *ev, int64_t known_ns)
{
	int64_t due_ns = known_ns + CELL_NS + LOG_LATE_NS;

	if (b->n_events == b->events_room) {
		size_t room = b->events_room ? 2 * b->events_room : 16;
		struct log_event *more = reallocarray(b->events, room, sizeof(*more));

		if (!more)
			return false;
		b->events = more;
		b->events_room = room;
	}
	b->events[b->n_events++] = *ev;
	b->event_ns = due_ns < b->event_ns ? due_ns : b->event_ns;
	return true;
}

static bool event_add(struct log_builder *b, const struct log_event *ev, int64_t known_ns)
{
	if (b->n_events >= EVENTS_MOST)
		events_flush(b);
	return event_keep(b, ev, known_ns);
}

void log_builder_mark(struct log_builder *b, const struct mark *m)
{
	struct log_event ev = {.kind = LOG_MARK, .u.mark = *m};

	/* The output it belongs to may have ended: move it to the start of this one. */
	ev.t_ns = ev.u.mark.t_ns = m->t_ns < b->start.mono_ns ? b->start.mono_ns : m->t_ns;
	b->tally.marks += event_add(b, &ev, m->t_ns);
}

static void put_gap(struct log_builder *b, const struct gap *g)
{
	struct log_event ev = {.kind = LOG_GAP, .u.gap = *g};

	ev.u.gap.from_ns = ev.t_ns = g->from_ns < b->start.mono_ns ? b->start.mono_ns : g->from_ns;
	if (ev.t_ns < g->to_ns)
		event_add(b, &ev, g->to_ns);
}

/* A single late tick is a flag of the row behind it. */
void log_builder_gap(struct log_builder *b, const struct gap *g)
{
	struct waiting *w = &b->tier[g->tier];

	if (!gap_is_hole(g) && g->to_ns > w->newest_ns && w->n_late < LATE_MOST &&
	    g->to_ns - g->from_ns <= stats_hole_ns(b->about->hz[g->tier]))
		w->late[w->n_late++] = *g;
	else
		put_gap(b, g);
	*(g->cause == GAP_LATE ? &b->tally.late[g->tier] : &b->tally.lost[g->tier]) += g->missed;
}

void log_builder_change(struct log_builder *b, const struct change *c)
{
	struct log_event ev = {.kind = LOG_STATE, .u.change = *c};

	ev.t_ns = ev.u.change.t_ns = c->t_ns < b->start.mono_ns ? b->start.mono_ns : c->t_ns;
	event_add(b, &ev, c->t_ns);
	facts_change(b->facts, b->about->n_facts, c);
}

/* Reads the clocks once per group and at the end, and records suspends and clock steps since the last time. */
static void clocks_read(struct log_builder *b)
{
	struct clock_anchor was = b->anchor, now;
	int64_t step, asleep;

	if (!b->options.live)
		return;
	clock_anchor(&now);
	b->anchor = now;
	step = now.real_ns - now.boot_ns - (was.real_ns - was.boot_ns);
	asleep = now.boot_ns - now.mono_ns - (was.boot_ns - was.mono_ns);
	if (asleep > NS_PER_MS)
		put_gap(b, &(struct gap) {.cause = LOG_SUSPENDED,
					  .from_ns = was.mono_ns,
					  .to_ns = now.mono_ns,
					  .missed = (uint64_t)asleep});
	if (step > STEP_NS || step < -STEP_NS) {
		struct change c = {.t_ns = now.mono_ns, .what = "clock"};

		snprintf(c.to, sizeof(c.to), "%+.3f s", (double)step / (double)NS_PER_S);
		log_builder_change(b, &c);
	}
}

/* --- rows --- */

bool row_queue_add(struct row_queue *q, int64_t t_ns, const double *values, size_t width)
{
	if (q->n == q->room) {
		size_t room = q->room ? 2 * q->room : 256;
		int64_t *t = reallocarray(q->t_ns, room, sizeof(*t));
		uint8_t *late = realloc(q->late, room);
		double *v;

		if (t)
			q->t_ns = t;
		if (late)
			q->late = late;
		v = t && late ? reallocarray(q->values, room, (width ? width : 1) * sizeof(*v)) : NULL;
		if (!v)
			return false;
		q->values = v;
		q->room = room;
	}
	q->t_ns[q->n] = t_ns;
	q->late[q->n] = 0;
	memcpy(q->values + q->n++ * width, values, width * sizeof(*values));
	return true;
}

void row_queue_drop(struct row_queue *q, size_t n, size_t width)
{
	if (n == 0)
		return;
	q->n -= n;
	memmove(q->t_ns, q->t_ns + n, q->n * sizeof(*q->t_ns));
	memmove(q->late, q->late + n, q->n);
	memmove(q->values, q->values + n * width, q->n * width * sizeof(*q->values));
}

void row_queue_free(struct row_queue *q)
{
	free(q->t_ns);
	free(q->values);
	free(q->late);
}

static void row_lost(struct log_builder *b, enum tier t, int64_t t_ns)
{
	struct waiting *w = &b->tier[t];

	if (w->hole.missed++ == 0)
		w->hole = (struct gap) {t, GAP_LOST, w->written_ns == INT64_MIN ? t_ns : w->written_ns, t_ns,
					1};
	w->hole.to_ns = t_ns;
	b->tally.lost[t]++;
}

/* Ends a gap of lost rows: rows are written again, the first at t_ns. */
static void hole_end(struct log_builder *b, enum tier t, int64_t t_ns)
{
	struct waiting *w = &b->tier[t];

	if (w->hole.missed == 0)
		return;
	w->hole.to_ns = t_ns > w->hole.to_ns ? t_ns : w->hole.to_ns;
	put_gap(b, &w->hole);
	w->hole.missed = 0;
}

/* The earliest cell with waiting rows. Returns false if there is none. */
static bool first_cell(const struct log_builder *b, int64_t *cell)
{
	bool any = false;

	for (int t = 0; t < TIERS; t++) {
		const struct waiting *w = &b->tier[t];

		if (w->q.n > 0 && (!any || log_cell(w->q.t_ns[0]) < *cell)) {
			*cell = log_cell(w->q.t_ns[0]);
			any = true;
		}
	}
	return any;
}

/* Have all tiers advanced so far that no more rows before that time are expected? */
static bool all_at(const struct log_builder *b, int64_t end_ns)
{
	for (enum tier t = 0; t < TIERS; t++) {
		const struct waiting *w = &b->tier[t];

		if (tier_used(b, t) &&
		    (w->newest_ns == INT64_MIN || w->newest_ns + period_ns(b, t) / 2 < end_ns))
			return false;
	}
	return true;
}

static bool any_at(const struct log_builder *b, int64_t end_ns)
{
	for (int t = 0; t < TIERS; t++)
		if (b->tier[t].newest_ns >= end_ns)
			return true;
	return false;
}

/* Writes bins and statistics of the earliest open span of a level. */
static void level_close(struct log_builder *b, int level)
{
	int64_t span, cell;

	if (!log_fold_open(b->fold, level, &span))
		return;
	cell = log_span_cell(span, level);
	for (const uint8_t *zoom = log_zooms[level]; *zoom; zoom++) {
		b->raw.n = 0;
		log_fold_lod(b->fold, level, *zoom, &b->raw);
		if (b->raw.n > 0)
			put_kind(b, LOG_LOD, *zoom, cell);
	}
	b->raw.n = 0;
	log_fold_stat(b->fold, level, &b->raw);
	if (b->raw.n > 0)
		put_kind(b, LOG_STAT, (unsigned)level, cell);
	log_fold_close(b->fold, level);
	if (level == 1)
		b->closed_span = span;
}

/* Writes an INDEX of the groups before that cell. */
static void put_index(struct log_builder *b, int64_t before_cell)
{
	struct log_entry e;

	if (!b->index)
		return;
	b->raw.n = 0;
	log_index_make(b->index, before_cell, b->at, &b->raw, &e);
	put_chunk(b, &e);
}

/* Is a span of that level before `span` still open? */
static bool open_before(const struct log_builder *b, int level, int64_t span)
{
	int64_t open;

	return log_fold_open(b->fold, level, &open) && open < span;
}

/* Closes all spans that end before the cell, once their rows are complete. */
static void levels_close(struct log_builder *b, int64_t cell)
{
	int64_t group = log_span(cell, 1), late = log_span(cell - GROUP_LATE, 1);

	while (open_before(b, 1, group)) {
		int64_t span, listed = INT64_MIN;

		log_fold_open(b->fold, 1, &span);
		if (span >= late && !all_at(b, log_cell_ns(log_span_cell(span + 1, 1))))
			return;
		level_close(b, 1);
		for (int level = 2; level <= LOG_LEVELS; level++) {
			int64_t next = log_fold_open(b->fold, 1, &span) && span < group ? span : group;

			next = log_span(next, level - 1);
			if (!open_before(b, level, next) || open_before(b, level - 1, next << LOG_SPAN_BITS))
				continue;
			if (level == 2 && log_fold_open(b->fold, level, &span))
				listed = log_span_cell(span + 1, level);
			level_close(b, level);
		}
		if (listed != INT64_MIN)
			put_index(b, listed);
	}
}

/* How many waiting rows go into one chunk of that cell. */
static size_t rows_of(const struct log_builder *b, enum tier t, int64_t cell)
{
	const struct waiting *w = &b->tier[t];
	size_t width = b->about->width[t] ? b->about->width[t] : 1,
	       most = SECTION_BYTES / sizeof(double) / width;
	size_t n = 0;

	while (n < w->q.n && n < (most ? most : 1) && log_cell(w->q.t_ns[n]) == cell)
		n++;
	return n;
}

/* Adds the single late ticks before the first n rows of a tier to the statistics of their group. */
static void late_count(struct log_builder *b, enum tier t, size_t n)
{
	const struct waiting *w = &b->tier[t];
	struct late_ticks late = {0, 0};

	for (size_t i = 0; i < n; i++) {
		int64_t before = i > 0 ? w->q.t_ns[i - 1] : w->written_ns;

		if (w->q.late[i])
			late_join(&late,
				  &(struct late_ticks) {1, before == INT64_MIN ? 0 : w->q.t_ns[i] - before});
	}
	log_fold_late(b->fold, t, log_cell(w->q.t_ns[0]), &late);
}

/* Rows are lost: the single late ticks before them become gaps. */
static void late_keep(struct log_builder *b, enum tier t, size_t n, const int64_t *t_ns, const uint8_t *late,
		      int64_t before_ns)
{
	for (size_t i = 0; i < n; before_ns = t_ns[i++])
		if (late[i])
			put_gap(b,
				&(struct gap) {t, GAP_LATE, before_ns == INT64_MIN ? t_ns[i] - 1 : before_ns,
					       t_ns[i], 1});
}

static void rows_taken(struct log_builder *b, const size_t n[TIERS], bool written)
{
	for (enum tier t = 0; t < TIERS; t++) {
		struct waiting *w = &b->tier[t];
		struct rows r = {t, n[t], b->about->width[t], w->q.t_ns, w->q.values};

		if (n[t] == 0)
			continue;
		if (written) {
			log_fold_rows(b->fold, &r);
			late_count(b, t, n[t]);
			hole_end(b, t, w->q.t_ns[0]);
			w->written_ns = w->q.t_ns[n[t] - 1];
		} else {
			late_keep(b, t, n[t], w->q.t_ns, w->q.late, w->written_ns);
		}
		for (size_t i = 0; !written && i < n[t]; i++)
			row_lost(b, t, w->q.t_ns[i]);
		row_queue_drop(&w->q, n[t], b->about->width[t]);
	}
}

static void put_state(struct log_builder *b, const struct state_event *e, unsigned flags)
{
	struct log_event ev = {.kind = LOG_EVENT, .t_ns = e->from_ns, .u.state = *e};

	ev.u.state.flags |= (uint8_t)flags;
	event_add(b, &ev, e->to_ns);
}

/* Looks for events in the waiting rows of the cell. That one goes on is recorded at once, in case the recorder is
 * killed. */
static void states_look(struct log_builder *b, int64_t cell)
{
	struct state_event ended;

	for (size_t k = 0; k < b->n_states; k++) {
		struct state_watch *s = &b->states[k];
		const struct row_queue *q = &b->tier[s->at.tier].q;

		for (size_t i = 0; i < q->n && log_cell(q->t_ns[i]) == cell; i++)
			if (state_watch_take(s, q->t_ns[i],
					     q->values[i * b->about->width[s->at.tier] + s->at.column],
					     &ended))
				put_state(b, &ended, 0);
		if (s->above && !s->told)
			put_state(b, &s->now, STATE_OPEN);
		s->told |= s->above;
	}
}

/* The stream ends: so do its events. */
static void states_end(struct log_builder *b)
{
	for (size_t k = 0; k < b->n_states; k++) {
		struct state_watch *s = &b->states[k];

		if (s->now.count > 0)
			put_state(b, &s->now, s->above ? STATE_OPEN : 0);
	}
}

/* The form of each column is chosen again in every fourth group. */
static void likes_forget(struct log_builder *b, int64_t span)
{
	if (span == b->like_span)
		return;
	b->like_span = span;
	for (int t = 0; t < TIERS; t++)
		memset(b->tier[t].like, LOG_OTHER, b->about->width[t]);
}

/* Writes one chunk with rows of the cell. */
static void put_data(struct log_builder *b, int64_t cell)
{
	struct log_entry e = {.kind = LOG_DATA, .cell = cell};
	size_t n[TIERS];

	likes_forget(b, log_span(cell, 1) / LIKE_GROUPS);
	b->raw.n = 0;
	for (enum tier t = 0; t < TIERS; t++) {
		struct rows r = {t, rows_of(b, t, cell), b->about->width[t], b->tier[t].q.t_ns,
				 b->tier[t].q.values};
		int64_t step = tier_used(b, t) ? period_ns(b, t) : 0;

		n[t] = r.n;
		e.rows[t] = (uint32_t)r.n;
		if (r.n > 0)
			log_data_put(&b->raw, &r, b->tier[t].q.late, step < CELL_NS ? (uint32_t)step : 0,
				     b->tier[t].like);
	}
	rows_taken(b, n, put_chunk(b, &e));
}

static void cell_seal(struct log_builder *b, int64_t cell)
{
	int64_t first;

	levels_close(b, cell);
	b->newest_cell = cell > b->newest_cell ? cell : b->newest_cell;
	if (log_span(cell, 1) <= b->closed_span) {
		size_t n[TIERS];

		for (enum tier t = 0; t < TIERS; t++)
			n[t] = rows_of(b, t, cell);
		rows_taken(b, n, false);
		return;
	}
	if (log_span(cell, 1) > b->meta_span) {
		clocks_read(b);
		ranges_tell(b);
		put_meta(b, cell);
	}
	states_look(b, cell);
	events_flush(b); /* before the rows of their time, as in a stream */
	while (first_cell(b, &first) && first == cell)
		put_data(b, cell);
}

/* Writes everything that is left, and END. */
static void put_end(struct log_builder *b, enum log_reason reason, const char *next)
{
	uint64_t newest = 0;
	int64_t span;

	clocks_read(b);
	ranges_flush(b);
	ranges_tell(b);
	states_end(b);
	events_flush(b);
	for (int level = 1; level <= LOG_LEVELS; level++)
		while (log_fold_open(b->fold, level, &span))
			level_close(b, level);
	put_index(b, INT64_MAX);
	b->raw.n = 0;
	log_put_u8(&b->raw, reason);
	log_put_u64(&b->raw, b->index && log_index_newest(b->index, &newest) ? b->at - newest : 0);
	log_put_str(&b->raw, next ? next : "");
	put_kind(b, LOG_END, 0, b->newest_cell);
}

bool log_chunk_unpack(const uint8_t *chunk, struct log_bytes *raw)
{
	struct log_unpacker *u = log_unpacker_new();
	struct log_head h;
	bool good = u && log_head_get(chunk, &h) && log_unpack(u, &h, chunk + LOG_HEAD, raw) == LOG_OK;

	log_unpacker_free(u);
	return good;
}

/* --- input --- */

/* Is the earliest cell complete by now_ns? */
static bool cell_due(const struct log_builder *b, int64_t now_ns, int64_t *cell)
{
	int64_t end_ns;

	if (!first_cell(b, cell))
		return false;
	end_ns = log_cell_ns(*cell + 1);
	return any_at(b, end_ns + LOG_LATE_NS) || all_at(b, end_ns) || end_ns + LOG_LATE_NS <= now_ns;
}

/* Flags the newest waiting row if a tick before it was skipped; until_ns: its time. Those of rows that did not come
 * are gaps. */
static void late_take(struct log_builder *b, struct waiting *w, int64_t until_ns)
{
	size_t n = 0;

	for (; n < w->n_late && w->late[n].to_ns <= until_ns; n++)
		if (w->late[n].to_ns == until_ns && w->q.n > 0 && w->q.t_ns[w->q.n - 1] == until_ns)
			w->q.late[w->q.n - 1] = 1;
		else
			put_gap(b, &w->late[n]);
	w->n_late -= n;
	memmove(w->late, w->late + n, w->n_late * sizeof(*w->late));
}

void log_builder_rows(struct log_builder *b, const struct rows *r)
{
	struct waiting *w = &b->tier[r->tier];
	int64_t cell;

	for (size_t i = 0; i < r->n; i++) {
		int64_t t_ns = r->t_ns[i];

		cell = log_cell(t_ns);
		if (t_ns > w->newest_ns && t_ns < b->start.mono_ns) {
			row_lost(b, r->tier, t_ns);
		} else if (t_ns <= w->newest_ns || cell >= LOG_CELL_LIMIT || cell <= -LOG_CELL_LIMIT ||
			   !row_queue_add(&w->q, t_ns, r->values + i * r->width, r->width)) {
			b->tally.lost[r->tier]++;
			continue;
		}
		w->newest_ns = t_ns;
		late_take(b, w, t_ns);
	}
	while (cell_due(b, INT64_MIN, &cell))
		cell_seal(b, cell);
}

int64_t log_builder_waits(const struct log_builder *b, enum tier t)
{
	const struct row_queue *q = &b->tier[t].q;

	return q->n > 0 ? q->t_ns[0] : INT64_MAX;
}

void log_builder_run(struct log_builder *b, int64_t now_ns)
{
	int64_t cell;

	while (cell_due(b, now_ns, &cell))
		cell_seal(b, cell);
	if (b->event_ns <= now_ns)
		events_flush(b);
}

void log_builder_end(struct log_builder *b, enum log_reason reason, const char *next)
{
	int64_t cell;

	while (first_cell(b, &cell))
		cell_seal(b, cell);
	for (enum tier t = 0; t < TIERS; t++) {
		hole_end(b, t, b->tier[t].hole.to_ns);
		late_take(b, &b->tier[t], INT64_MAX);
	}
	put_end(b, reason, next);
}

/* --- construction --- */

const struct log_tally *log_builder_tally(const struct log_builder *b)
{
	return &b->tally;
}

void log_builder_described(struct log_builder *b)
{
	b->generation++;
	b->full_due = FULL_METAS;
	put_meta(b, b->newest_cell);
}

static bool builder_alloc(struct log_builder *b)
{
	const struct session *about = b->about;
	bool ok;

	b->packer = log_packer_new();
	b->fold = log_fold_new(about);
	b->index = b->options.index ? log_index_new() : NULL;
	b->facts = calloc(about->n_facts + 1, sizeof(*b->facts));
	b->states = state_watches_new(about, &b->n_states);
	ok = b->packer && b->fold && b->facts && b->states && (b->index || !b->options.index);
	for (int t = 0; t < TIERS; t++) {
		b->tier[t].like = calloc(about->width[t] + 1, 1);
		b->tier[t].newest_ns = b->tier[t].written_ns = INT64_MIN;
		ok &= b->tier[t].like != NULL;
	}
	return ok;
}

struct log_builder *log_builder_new(const struct session *about, const struct log_options *o, log_emit *emit,
				    void *to, struct err *e)
{
	struct log_builder *b = calloc(1, sizeof(*b));

	if (b) {
		*b = (struct log_builder) {.about = about,
					   .options = *o,
					   .emit = emit,
					   .to = to,
					   .seq = o->seq,
					   .generation = 1,
					   .full_due = FULL_METAS,
					   .anchor = about->start,
					   .start = about->start,
					   .event_ns = INT64_MAX,
					   .newest_cell = log_cell(about->start.mono_ns),
					   .like_span = INT64_MIN,
					   .closed_span = INT64_MIN};
		if (builder_alloc(b)) {
			if (about->n_facts > 0)
				memcpy(b->facts, about->facts, about->n_facts * sizeof(*b->facts));
			log_identify(&b->options, b->boot);
			put_meta(b, b->newest_cell);
			return b;
		}
	}
	log_builder_free(b);
	err_set(e, ERR_FAILED, _("out of memory"));
	return NULL;
}

void log_builder_free(struct log_builder *b)
{
	if (!b)
		return;
	for (int t = 0; t < TIERS; t++) {
		row_queue_free(&b->tier[t].q);
		free(b->tier[t].like);
	}
	free(b->events);
	log_bytes_free(&b->raw);
	log_bytes_free(&b->chunk);
	free(b->ranges);
	log_index_free(b->index);
	log_fold_free(b->fold);
	log_packer_free(b->packer);
	free(b->facts);
	free(b->states);
	free(b);
}
