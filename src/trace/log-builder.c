/* Packs the rows of all tiers into one chunk per cell; cells form groups, and each level is closed with its bins and
 * statistics. What belongs to files, META, INDEX and END, is made by whatever copies the chunks. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/states.h"
#include "util/intl.h"
#include "trace/log-builder.h"
#include "trace/log-lod.h"
#include "trace/log-range.h"

#define CELL_NS       (INT64_C(1) << LOG_CELL_ZOOM)
#define LATE_NS       (60 * NS_PER_MS) /* a cell waits for rows of other tiers, by the clock or by the times of other rows */
#define GROUP_LATE    15     /* cells that a group waits for the rows of a tier */
#define SECTION_BYTES 300000 /* maximum per tier and chunk, so that a chunk always fits */
#define EVENTS_BYTES  32768  /* of marks, gaps or changes in one chunk */
#define LATE_MOST     256    /* single late ticks before the rows of one call */
#define STEP_NS       (50 * NS_PER_MS)

/* Of a tier. */
struct waiting {
	int64_t newest_ns;	    /* of the last row received; INT64_MIN: none */
	struct gap hole;	    /* rows lost for lack of room; missed 0: none */
	struct gap late[LATE_MOST]; /* single late ticks, whose rows have not come yet */
	size_t n_late;
	int64_t written_ns; /* of the last row in a chunk */
};

struct log_builder {
	const struct session *about;
	bool clocks;
	struct log_now *now;
	log_emit *emit;
	void *to;
	struct log_packer *packer;
	struct log_fold *fold;
	struct waiting tier[TIERS];
	struct {
		struct log_bytes raw;
		uint32_t n;
	} events[LOG_KINDS]; /* records that wait for the end of their cell */
	struct state_watch *watches;
	struct state_event *states; /* of each of them, waiting as well; count 0: none */
	size_t n_watches;
	int64_t event_ns; /* when the first of them is due; INT64_MAX: none */
	struct range *ranges; /* LOG_RANGES_MAX, waiting as well; NULL: there were none */
	size_t n_ranges;
	uint64_t lost_ranges;
	struct log_bytes raw, chunk;
	struct clock_anchor anchor;
	int64_t newest_cell;
	int64_t group_span;  /* of the newest cell */
	int64_t closed_span; /* rows of this group and earlier ones are too late */
};

static bool tier_used(const struct log_builder *b, enum tier t)
{
	return b->about->width[t] > 0 && b->about->hz[t] > 0;
}

static int64_t period_ns(const struct log_builder *b, enum tier t)
{
	return llround((double)NS_PER_S / b->about->hz[t]);
}

static bool put_chunk(struct log_builder *b, struct log_entry *e, struct log_bytes *raw)
{
	struct log_head h = {.kind = e->kind, .session = LOG_MEMORY_SESSION, .generation = 1, .cell = e->cell};

	log_bytes_reset(&b->chunk);
	if (raw->failed || log_pack(b->packer, &h, raw->p, raw->n, &b->chunk) < 0)
		return false;
	e->stored = h.stored;
	return b->emit(b->to, e, b->chunk.p, b->chunk.n);
}

/* --- events and ranges --- */

static void put_events(struct log_builder *b, enum log_kind kind)
{
	struct log_entry e = {.kind = (uint8_t)kind, .cell = b->newest_cell, .events = (uint16_t)b->events[kind].n};

	if (e.events > 0)
		put_chunk(b, &e, &b->events[kind].raw);
	b->events[kind].n = 0;
	log_bytes_reset(&b->events[kind].raw);
}

/* What waits since the time t_ns is written with the next cell, or by the clock. */
static void due_after(struct log_builder *b, int64_t t_ns)
{
	b->event_ns = t_ns + CELL_NS + LATE_NS < b->event_ns ? t_ns + CELL_NS + LATE_NS : b->event_ns;
}

static void put_note(struct log_builder *b, const struct log_event *ev)
{
	struct log_entry e = {.kind = (uint8_t)ev->kind, .cell = log_cell(ev->t_ns)};

	log_bytes_reset(&b->chunk);
	log_event_put(&b->chunk, ev);
	if (!b->chunk.failed)
		b->emit(b->to, &e, b->chunk.p, b->chunk.n);
}

/* known_ns: when the event was over. */
static void put_record(struct log_builder *b, const struct log_event *ev, int64_t known_ns)
{
	if (ev->kind != LOG_EVENT && (ev->kind != LOG_GAP || gap_is_hole(&ev->u.gap)))
		put_note(b, ev);
	log_event_put(&b->events[ev->kind].raw, ev);
	b->events[ev->kind].n++;
	due_after(b, known_ns);
	if (b->events[ev->kind].raw.n > EVENTS_BYTES)
		put_events(b, ev->kind);
}

static void put_gap(struct log_builder *b, const struct gap *g)
{
	struct log_event ev = {.kind = LOG_GAP, .t_ns = g->from_ns, .u.gap = *g};
	int64_t start_ns = b->about->start.mono_ns;

	if (ev.t_ns < start_ns)
		ev.t_ns = ev.u.gap.from_ns = start_ns;
	if (ev.t_ns < g->to_ns)
		put_record(b, &ev, g->to_ns);
}

static void put_state(struct log_builder *b, struct state_event *s)
{
	if (s->count > 0)
		put_record(b, &(struct log_event) {.kind = LOG_EVENT, .t_ns = s->from_ns, .u.state = *s}, s->to_ns);
	s->count = 0;
}

/* A state is noted as it is at its begin and at its end, and whenever it grows; of what waits, the last is written. */
static void state_add(struct log_builder *b, size_t k, const struct state_event *s, bool above)
{
	struct log_event ev = {.kind = LOG_EVENT, .t_ns = s->from_ns, .u.state = *s};

	ev.u.state.flags |= above ? STATE_OPEN : 0;
	put_note(b, &ev);
	if (b->states[k].from_ns != s->from_ns)
		put_state(b, &b->states[k]);
	b->states[k] = ev.u.state;
	due_after(b, s->to_ns);
}

static void states_take(struct log_builder *b, const struct rows *r)
{
	for (size_t k = 0; k < b->n_watches; k++)
		for (size_t i = 0; b->watches[k].at.tier == r->tier && i < r->n; i++) {
			struct state_watch *w = &b->watches[k];
			struct state_event before = w->now, ended;
			bool above = w->above;

			if (state_watch_take(w, r->t_ns[i], r->values[i * r->width + w->at.column], &ended) && above)
				state_add(b, k, &ended, false); /* at a hole */
			if (w->now.count > 0 && (w->above != above || w->now.from_ns != before.from_ns || w->now.count != before.count))
				state_add(b, k, &w->now, w->above);
		}
}

void log_builder_event(struct log_builder *b, const struct log_event *ev)
{
	struct log_event fit = *ev;
	const struct gap *g = &ev->u.gap;
	struct waiting *w = ev->kind == LOG_GAP ? &b->tier[g->tier] : NULL;

	if (!w) {
		if (ev->t_ns < b->about->start.mono_ns) /* it was set before */
			fit.t_ns = b->about->start.mono_ns;
		*(ev->kind == LOG_MARK ? &fit.u.mark.t_ns : &fit.u.change.t_ns) = fit.t_ns;
		put_record(b, &fit, ev->t_ns);
	} else if (!gap_is_hole(g) && g->to_ns > w->newest_ns && w->n_late < LATE_MOST &&
		   g->to_ns - g->from_ns <= stats_hole_ns(b->about->hz[g->tier])) {
		w->late[w->n_late++] = *g; /* a single late tick is a flag of the row behind it */
	} else {
		put_gap(b, g);
	}
}

static void ranges_flush(struct log_builder *b)
{
	struct log_entry e = {.kind = LOG_RANGE, .cell = b->newest_cell, .events = (uint16_t)b->n_ranges};

	if (b->n_ranges == 0)
		return;
	log_bytes_reset(&b->raw);
	log_ranges_put(&b->raw, b->ranges, b->n_ranges);
	if (!put_chunk(b, &e, &b->raw))
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
		due_after(b, list[i].end_ns);
		if (b->n_ranges == LOG_RANGES_MAX)
			ranges_flush(b);
	}
}

static void put_change(struct log_builder *b, const struct change *c)
{
	log_builder_event(b, &(struct log_event) {.kind = LOG_STATE, .t_ns = c->t_ns, .u.change = *c});
}

/* Says how many ranges were lost since the last time. */
static void ranges_tell(struct log_builder *b)
{
	struct change c = {.t_ns = log_cell_ns(b->newest_cell + 1), .what = CHANGE_RANGES_LOST};

	if (b->lost_ranges == 0)
		return;
	snprintf(c.to, sizeof(c.to), "%llu", (unsigned long long)b->lost_ranges);
	b->lost_ranges = 0;
	put_change(b, &c);
}

/* Writes what waits. */
static void events_flush(struct log_builder *b)
{
	ranges_flush(b);
	for (size_t k = 0; k < b->n_watches; k++)
		put_state(b, &b->states[k]);
	for (enum log_kind kind = LOG_MARK; kind < LOG_KINDS; kind++)
		put_events(b, kind);
	b->event_ns = INT64_MAX;
}

/* Reads the clocks once per group and at the end, and records suspends and clock steps since the last time. */
static void clocks_read(struct log_builder *b)
{
	struct clock_anchor was = b->anchor, now;
	int64_t step, asleep;
	struct change c;

	if (!b->clocks)
		return;
	clock_anchor(&now);
	b->anchor = now;
	step = now.real_ns - now.boot_ns - (was.real_ns - was.boot_ns);
	asleep = now.boot_ns - now.mono_ns - (was.boot_ns - was.mono_ns);
	if (asleep > NS_PER_MS) {
		c = (struct change) {.t_ns = now.mono_ns, .what = CHANGE_SUSPENDED};
		snprintf(c.to, sizeof(c.to), "%.3f s", (double)asleep / (double)NS_PER_S);
		put_change(b, &c);
	}
	if (step > STEP_NS || step < -STEP_NS) {
		c = (struct change) {.t_ns = now.mono_ns, .what = CHANGE_CLOCK};
		snprintf(c.to, sizeof(c.to), "%+.3f s", (double)step / (double)NS_PER_S);
		put_change(b, &c);
	}
}

/* --- rows --- */

void log_rows_free(struct log_rows *r)
{
	if (atomic_fetch_sub(&r->refs, 1) == 1)
		free(r);
}

/* Adds a row to those that wait. Returns false if out of memory. */
static bool row_add(struct log_builder *b, enum tier t, int64_t t_ns, const double *values)
{
	struct look_open *o = b->now->open[t] + b->now->n_open[t];
	size_t width = b->about->width[t], most = SECTION_BYTES / sizeof(double) / (width + 1) + 1, room;
	struct log_rows *r = o > b->now->open[t] ? o[-1].rows : NULL;

	if (!r || r->cell != log_cell(t_ns) || o[-1].n == r->room) {
		room = 8 + (size_t)(b->about->hz[t] * 1.25 * CELL_NS / 1e9);
		room = room < most ? room : most;
		r = malloc(sizeof(*r) + room * ((width + 1) * sizeof(double) + 1));
		if (!r)
			return false;
		*r = (struct log_rows) {.cell = log_cell(t_ns), .width = width, .room = room};
		atomic_init(&r->refs, 1);
		r->t_ns = (int64_t *)(void *)(r + 1);
		r->values = (double *)(void *)(r->t_ns + room);
		r->late = (uint8_t *)(r->values + room * width);
		*o++ = (struct look_open) {r, 0};
		b->now->n_open[t]++;
	}
	r->t_ns[o[-1].n] = t_ns;
	r->late[o[-1].n] = 0;
	memcpy(r->values + o[-1].n++ * width, values, width * sizeof(*values));
	return true;
}

static void row_lost(struct log_builder *b, enum tier t, int64_t t_ns)
{
	struct waiting *w = &b->tier[t];

	if (w->hole.missed++ == 0)
		w->hole = (struct gap) {t, GAP_LOST, w->written_ns == INT64_MIN ? t_ns : w->written_ns, t_ns,
					1};
	w->hole.to_ns = t_ns;
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

/* The earliest cell with waiting rows; INT64_MAX: there is none. */
static int64_t first_cell(const struct log_builder *b)
{
	int64_t cell = INT64_MAX;

	for (int t = 0; t < TIERS; t++)
		if (b->now->n_open[t] > 0 && b->now->open[t][0].rows->cell < cell)
			cell = b->now->open[t][0].rows->cell;
	return cell;
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

/* Writes bins and statistics of the earliest open span of a level. */
static void level_close(struct log_builder *b, int level)
{
	struct log_entry e = {.kind = LOG_LOD};
	int64_t span;

	if (!log_fold_open(b->fold, level, &span))
		return;
	e.cell = log_span_cell(span, level);
	for (const uint8_t *zoom = log_zooms[level]; *zoom; zoom++) {
		e.aux = *zoom;
		log_bytes_reset(&b->raw);
		log_fold_lod(b->fold, level, *zoom, &b->raw);
		if (b->raw.n > 0)
			put_chunk(b, &e, &b->raw);
	}
	e.kind = LOG_STAT;
	e.aux = (uint8_t)level;
	log_bytes_reset(&b->raw);
	log_fold_stat(b->fold, level, &b->raw);
	if (b->raw.n > 0)
		put_chunk(b, &e, &b->raw);
	log_fold_close(b->fold, level);
	if (level == 1)
		b->closed_span = span;
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
	int64_t group = log_span(cell, 1), late = log_span(cell - GROUP_LATE, 1), span;

	while (open_before(b, 1, group)) {
		log_fold_open(b->fold, 1, &span);
		if (span >= late && !all_at(b, log_cell_ns(log_span_cell(span + 1, 1))))
			return;
		level_close(b, 1);
		for (int level = 2; level <= LOG_LEVELS; level++) {
			int64_t next = log_fold_open(b->fold, 1, &span) && span < group ? span : group;

			next = log_span(next, level - 1);
			if (open_before(b, level, next) && !open_before(b, level - 1, next << LOG_SPAN_BITS))
				level_close(b, level);
		}
	}
}

/* Writes one chunk with rows of the cell. If they come after their group, or there is no room, they are lost. */
static void put_data(struct log_builder *b, int64_t cell)
{
	struct log_entry e = {.kind = LOG_DATA, .cell = cell};
	struct late_ticks late[TIERS] = {{0, 0}};
	bool written = log_span(cell, 1) > b->closed_span;

	log_bytes_reset(&b->raw);
	for (enum tier t = 0; t < TIERS; t++) {
		const struct look_open *o = b->now->open[t];
		int64_t step = tier_used(b, t) ? period_ns(b, t) : 0, before_ns = b->tier[t].written_ns;

		if (b->now->n_open[t] == 0 || o->rows->cell != cell)
			continue;
		for (size_t i = 0; i < o->n; before_ns = o->rows->t_ns[i++])
			if (o->rows->late[i])
				late_join(&late[t], &(struct late_ticks) {
							    1, before_ns == INT64_MIN ? 0 : o->rows->t_ns[i] - before_ns});
		e.rows[t] = (uint32_t)o->n;
		e.late[t] = (uint16_t)late[t].n;
		if (written)
			log_data_put(&b->raw, &(struct rows) {t, o->n, o->rows->width, o->rows->t_ns, o->rows->values}, o->rows->late,
				     step < CELL_NS ? step : 0);
	}
	written = written && put_chunk(b, &e, &b->raw);
	for (enum tier t = 0; t < TIERS; t++) {
		struct waiting *w = &b->tier[t];
		struct look_open *o = b->now->open[t];
		struct log_rows *of = o->rows;
		int64_t before_ns = w->written_ns;

		if (e.rows[t] == 0)
			continue;
		if (written) {
			log_fold_rows(b->fold, &(struct rows) {t, o->n, of->width, of->t_ns, of->values});
			log_fold_late(b->fold, t, cell, &late[t]);
			hole_end(b, t, of->t_ns[0]);
			w->written_ns = of->t_ns[o->n - 1];
		}
		/* Without the rows, the late ticks before them are gaps. */
		for (size_t i = 0; !written && i < o->n; before_ns = of->t_ns[i++]) {
			if (of->late[i])
				put_gap(b, &(struct gap) {t, GAP_LATE, before_ns == INT64_MIN ? of->t_ns[i] - 1 : before_ns, of->t_ns[i], 1});
			row_lost(b, t, of->t_ns[i]);
		}
		log_rows_free(of);
		memmove(o, o + 1, --b->now->n_open[t] * sizeof(*o));
	}
}

static void cell_seal(struct log_builder *b, int64_t cell)
{
	int64_t span = log_span(cell, 1);

	levels_close(b, cell);
	b->newest_cell = cell > b->newest_cell ? cell : b->newest_cell;
	if (span > b->group_span) {
		b->group_span = span;
		clocks_read(b);
		ranges_tell(b);
	}
	events_flush(b); /* before the rows of their time, as in a stream */
	while (first_cell(b) == cell)
		put_data(b, cell);
}

/* --- input --- */

/* Is the earliest cell complete by now_ns? */
static bool cell_due(const struct log_builder *b, int64_t now_ns, int64_t *cell)
{
	int64_t end_ns, newest_ns = now_ns;

	*cell = first_cell(b);
	if (*cell == INT64_MAX)
		return false;
	end_ns = log_cell_ns(*cell + 1);
	for (int t = 0; t < TIERS; t++)
		newest_ns = b->tier[t].newest_ns > newest_ns ? b->tier[t].newest_ns : newest_ns;
	return newest_ns >= end_ns + LATE_NS || all_at(b, end_ns);
}

/* Flags the newest waiting row if a tick before it was skipped; until_ns: its time. Those of rows that did not come
 * are gaps. */
static void late_take(struct log_builder *b, enum tier t, int64_t until_ns)
{
	const struct look_open *o = b->now->open[t] + b->now->n_open[t];
	struct waiting *w = &b->tier[t];
	size_t n = 0;

	for (; n < w->n_late && w->late[n].to_ns <= until_ns; n++)
		if (w->late[n].to_ns == until_ns && o > b->now->open[t] && o[-1].rows->t_ns[o[-1].n - 1] == until_ns)
			o[-1].rows->late[o[-1].n - 1] = 1;
		else
			put_gap(b, &w->late[n]);
	w->n_late -= n;
	memmove(w->late, w->late + n, w->n_late * sizeof(*w->late));
}

void log_builder_rows(struct log_builder *b, const struct rows *r)
{
	struct waiting *w = &b->tier[r->tier];
	struct log_now *now = b->now;
	enum tier t = r->tier;
	int64_t cell;

	for (size_t i = 0; i < r->n; i++) {
		int64_t t_ns = r->t_ns[i];

		cell = log_cell(t_ns);
		if (t_ns <= w->newest_ns || t_ns < b->about->start.mono_ns || cell >= LOG_CELL_LIMIT || cell <= -LOG_CELL_LIMIT)
			continue;
		while (now->n_open[t] == LOOK_OPEN)
			cell_seal(b, first_cell(b));
		if (!row_add(b, t, t_ns, r->values + i * r->width)) {
			row_lost(b, t, t_ns);
		} else {
			if (t == TIER_FAST && now->rows[t] > 0 && t_ns - w->newest_ns > now->longest_ns)
				now->longest_ns = t_ns - w->newest_ns;
			now->first_ns = !now->any || t_ns < now->first_ns ? t_ns : now->first_ns;
			now->last_ns = !now->any || t_ns > now->last_ns ? t_ns : now->last_ns;
			now->any = true;
			now->rows[t]++;
		}
		w->newest_ns = t_ns;
		late_take(b, t, t_ns);
	}
	states_take(b, r);
	while (cell_due(b, INT64_MIN, &cell))
		cell_seal(b, cell);
}

void log_builder_run(struct log_builder *b, int64_t now_ns)
{
	int64_t cell;

	while (cell_due(b, now_ns, &cell))
		cell_seal(b, cell);
	if (b->event_ns <= now_ns)
		events_flush(b);
}

void log_builder_end(struct log_builder *b)
{
	int64_t cell, span;

	for (size_t k = 0; k < b->n_watches; k++)
		if (b->watches[k].above)
			state_add(b, k, &b->watches[k].now, true);
	while ((cell = first_cell(b)) != INT64_MAX)
		cell_seal(b, cell);
	for (enum tier t = 0; t < TIERS; t++) {
		hole_end(b, t, b->tier[t].hole.to_ns);
		late_take(b, t, INT64_MAX);
	}
	clocks_read(b);
	ranges_flush(b);
	ranges_tell(b);
	events_flush(b);
	for (int level = 1; level <= LOG_LEVELS; level++)
		while (log_fold_open(b->fold, level, &span))
			level_close(b, level);
}

/* --- construction --- */

struct log_builder *log_builder_new(const struct session *about, bool clocks, struct log_now *now, log_emit *emit, void *to,
				    struct err *e)
{
	struct log_builder *b = calloc(1, sizeof(*b));
	size_t n_watches = 0;
	bool ok = b != NULL;

	if (b) {
		*b = (struct log_builder) {.about = about,
					   .clocks = clocks,
					   .now = now,
					   .emit = emit,
					   .to = to,
					   .packer = log_packer_new(),
					   .fold = log_fold_new(about),
					   .watches = state_watches_new(about, &n_watches),
					   .states = calloc(about->n_channels + 1, sizeof(*b->states)),
					   .event_ns = INT64_MAX,
					   .anchor = about->start,
					   .newest_cell = log_cell(about->start.mono_ns),
					   .group_span = log_span(log_cell(about->start.mono_ns), 1),
					   .closed_span = INT64_MIN};
		b->n_watches = n_watches;
		ok = b->packer && b->fold && b->watches && b->states;
	}
	for (int t = 0; ok && t < TIERS; t++)
		b->tier[t].newest_ns = b->tier[t].written_ns = INT64_MIN;
	if (ok)
		return b;
	log_builder_free(b);
	err_set(e, ERR_FAILED, _("out of memory"));
	return NULL;
}

void log_builder_free(struct log_builder *b)
{
	if (!b)
		return;
	for (int kind = 0; kind < LOG_KINDS; kind++)
		log_bytes_free(&b->events[kind].raw);
	log_bytes_free(&b->raw);
	log_bytes_free(&b->chunk);
	free(b->ranges);
	free(b->watches);
	free(b->states);
	log_fold_free(b->fold);
	log_packer_free(b->packer);
	free(b);
}
