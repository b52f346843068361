/* The thread of an output copies the chunks of a stream: those from one cell up to another, into as many files as its
 * limits want. Rows, marks and ranges are copied as they are, with seq and checksum of the head made anew; META, INDEX
 * and END are its own. Since nothing else knows where a file ends, a file that ends early is followed by one that
 * begins with the chunk that could not be written. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "trace/log-decode.h"
#include "trace/log-meta.h"
#include "trace/log-output.h"
#include "util/intl.h"
#include "util/thread.h"

#define FULL_METAS 2                /* at the start */
#define LATE_CELLS 15               /* how long a file waits for the rows of a tier */
#define LEAST_LEFT 4096             /* for the chunks that end a file */
#define GROUPS_NS  (60 * NS_PER_S)  /* files at least this long begin with a group */
#define LOOK_NS    (50 * NS_PER_MS) /* how often the disk is looked after */
#define RETRY_NS   NS_PER_S

/* --- lists of chunks --- */

/* Takes a reference of its own. Out of memory, the chunk is lost. */
static void chunk_list_add(struct chunk_list *l, struct log_chunk *c)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		struct log_chunk **p = reallocarray(l->p, room, sizeof(*p));

		if (!p)
			return;
		l->p = p;
		l->room = room;
	}
	atomic_fetch_add(&c->refs, 1);
	l->p[l->n++] = c;
}

/* The first, with its reference; NULL: none. */
static struct log_chunk *chunk_list_take(struct chunk_list *l)
{
	struct log_chunk *c = l->first < l->n ? l->p[l->first++] : NULL;

	if (l->first == l->n)
		l->first = l->n = 0;
	return c;
}

void chunk_list_free(struct chunk_list *l)
{
	struct log_chunk *c;

	while ((c = chunk_list_take(l)))
		log_chunk_free(c);
	free(l->p);
	*l = (struct chunk_list) {.p = NULL};
}

/* --- what was before --- */

/* Notes what goes on after the events of that chunk. */
static void states_note(struct log_writer *w, const struct log_chunk *c)
{
	struct log_bytes raw = {.n = 0};
	struct log_in in, record;
	struct log_event ev;
	size_t i;

	if (c->about.kind != LOG_EVENT || !log_chunk_unpack(c->bytes, &raw))
		return;
	in = (struct log_in) {raw.p, raw.p + raw.n, false};
	while (log_get_record(&in, &record)) {
		if (!log_event_get(LOG_EVENT, &record, &ev))
			continue;
		for (i = 0; i < w->n_open && w->open[i].channel != ev.u.state.channel; i++)
			;
		if (!(ev.u.state.flags & STATE_OPEN) && i < w->n_open)
			w->open[i] = w->open[--w->n_open];
		else if ((ev.u.state.flags & STATE_OPEN) && i < OPEN_STATES)
			w->open[w->n_open > i ? i : w->n_open++] = ev.u.state;
	}
	log_bytes_free(&raw);
}

/* Facts change until the file begins; rows that are not kept any more are lost. */
static void past_take(struct log_writer *w, const struct log_look *k)
{
	const struct look_shelf *notes = &k->shelf[SHELF_NOTES];
	struct log_event ev;

	for (size_t i = 0; i < notes->n; i++) {
		struct log_in in = {notes->p[i]->bytes, notes->p[i]->bytes + notes->p[i]->n, false}, record;

		if (notes->p[i]->about.kind == LOG_STATE && log_get_record(&in, &record) && log_event_get(LOG_STATE, &record, &ev) &&
		    ev.t_ns < log_cell_ns(w->from))
			facts_change(w->facts, w->about.n_facts, &ev.u.change);
	}
	for (int t = 0; t < TIERS && w->from < k->now.rows_from; t++) {
		int64_t to = k->now.rows_from < w->to ? k->now.rows_from : w->to;
		uint64_t n = (uint64_t)((double)log_cell_ns(to - w->from) * w->about.hz[t] / (double)NS_PER_S);

		n = n < k->now.gone[t] ? n : k->now.gone[t];
		w->skipped.rows[t] += n;
		w->stats.lost_rows += n;
		w->skipped.any |= n > 0;
	}
	w->past = k->now.serial;
}

/* --- writing chunks --- */

/* Its rows are not written; the next chunk is preceded by a gap. */
static void chunk_lose(struct log_writer *w, const struct log_chunk *c)
{
	for (int t = 0; t < TIERS; t++) {
		w->skipped.rows[t] += c->about.rows[t];
		w->stats.lost_rows += c->about.rows[t];
	}
	w->skipped.any = true;
}

static bool put_bytes(struct log_writer *w, struct log_entry *e, const uint8_t *raw, size_t n)
{
	if (!disk_write(w))
		return false;
	e->distance = w->at;
	e->stored = (uint32_t)(w->bytes.n - LOG_HEAD);
	w->at += w->bytes.n;
	w->seq++;
	log_index_add(w->index, e, w->generation, raw, n);
	return true;
}

/* Writes w->raw as a chunk. */
static bool put_raw(struct log_writer *w, struct log_entry *e)
{
	struct log_head h = {.kind = e->kind,
			     .session = w->options.session,
			     .generation = w->generation,
			     .seq = w->seq,
			     .cell = e->cell};

	w->bytes.n = 0;
	if (w->raw.failed || log_pack(w->packer, &h, w->raw.p, w->raw.n, &w->bytes) < 0) {
		w->raw.failed = false;
		return true; /* out of memory: a reader does without it */
	}
	return put_bytes(w, e, w->raw.p, w->raw.n);
}

static bool put_kind(struct log_writer *w, enum log_kind kind, int64_t cell)
{
	return put_raw(w, &(struct log_entry) {.kind = (uint8_t)kind, .cell = cell});
}

/* Writes the chunk as it is, as one of this file. */
static bool put_copy(struct log_writer *w, const struct log_chunk *c, const uint8_t *raw, size_t n)
{
	struct log_entry e = c->about;
	struct log_head h;

	w->bytes.n = 0;
	log_bytes_put(&w->bytes, c->bytes, c->n);
	if (w->bytes.failed || !log_head_get(w->bytes.p, &h)) {
		w->bytes.failed = false;
		chunk_lose(w, c);
		return true;
	}
	h.session = w->options.session;
	h.seq = w->seq;
	log_head_put(w->bytes.p, &h);
	return put_bytes(w, &e, raw, n);
}

/* --- the beginning and the end of a file --- */

static void anchor_now(const struct log_writer *w, int64_t ns, struct clock_anchor *out)
{
	struct clock_anchor now = w->about.start;

	if (w->options.live)
		clock_anchor(&now);
	*out = (struct clock_anchor) {ns, now.real_ns - (now.mono_ns - ns), now.boot_ns - (now.mono_ns - ns)};
}

/* Says what goes on at t_ns, at the beginning of the file or at its end. */
static bool put_states(struct log_writer *w, int64_t cell, int64_t t_ns)
{
	w->raw.n = 0;
	for (size_t i = 0; i < w->n_open; i++) {
		struct log_event ev = {.kind = LOG_EVENT, .u.state = w->open[i]};
		struct state_event *s = &ev.u.state;

		if (s->from_ns >= t_ns)
			continue;
		if (s->from_ns < w->start.mono_ns) {
			s->from_ns = w->start.mono_ns;
			s->flags |= STATE_BEFORE;
		}
		s->to_ns = t_ns > s->from_ns ? t_ns : s->from_ns;
		log_event_put(&w->raw, &ev);
	}
	return w->raw.n == 0 || put_kind(w, LOG_EVENT, cell);
}

/* Describes the log: in the first two groups of a file or a generation, since the first may be damaged, and once a level
 * 2 span. Other groups begin with a short META. */
static bool put_meta(struct log_writer *w, int64_t cell)
{
	bool full = w->full_due > 0 || log_span(cell, 2) != w->full_span;
	struct clock_anchor anchor = w->start;

	if (!w->begins && w->options.live)
		clock_anchor(&anchor);
	w->raw.n = 0;
	log_meta_put(&w->raw, &(struct log_meta) {.about = &w->about,
						  .options = &w->options,
						  .boot = w->boot,
						  .start = &w->start,
						  .now = &anchor,
						  .facts = w->facts,
						  .any_ranges = w->any_ranges,
						  .full = full});
	if (!put_kind(w, LOG_META, cell))
		return false;
	w->meta_span = log_span(cell, 1);
	w->full_span = log_span(cell, 2);
	w->full_due -= w->full_due > 0;
	if (!w->begins)
		return true;
	w->begins = false;
	return put_states(w, cell, w->start.mono_ns);
}

/* The next chunk begins a file, and nothing in it is older than that cell. */
static void file_reset(struct log_writer *w, int64_t cell)
{
	w->begins = true;
	w->full_due = FULL_METAS;
	w->from = w->whole = cell;
	w->newest = INT64_MIN;
	w->at = 0;
	w->list_before = INT64_MIN;
	log_index_free(w->index);
	w->index = log_index_new();
	if (log_cell_ns(cell) > w->about.start.mono_ns)
		anchor_now(w, log_cell_ns(cell), &w->start);
	for (int t = 0; t < TIERS; t++)
		w->tier_cell[t] = w->tier_cell[t] < cell ? cell : w->tier_cell[t];
}

/* The first edge of a cell or group at or after t_ns. */
static int64_t edge(int64_t t_ns, bool group)
{
	int bits = LOG_CELL_ZOOM + (group ? LOG_SPAN_BITS : 0);

	return (int64_t)((uint64_t)((t_ns + (INT64_C(1) << bits) - 1) >> bits) << bits);
}

/* Lists the groups before that cell. */
static bool put_index(struct log_writer *w, int64_t before_cell)
{
	struct log_entry e;

	w->raw.n = 0;
	log_index_make(w->index, before_cell, w->at, &w->raw, &e);
	w->list_before = INT64_MIN;
	return put_raw(w, &e);
}

/* Lists what is in the file, and says where it goes on. */
static bool file_end(struct log_writer *w, enum log_reason reason, const char *next)
{
	int64_t cell = w->newest == INT64_MIN ? w->from : w->newest;
	uint64_t newest = 0;

	if (w->to != INT64_MAX && !put_states(w, cell, log_cell_ns(w->to)))
		return false;
	if (!put_index(w, INT64_MAX))
		return false;
	w->raw.n = 0;
	log_put_u8(&w->raw, reason);
	log_put_u64(&w->raw, log_index_newest(w->index, &newest) ? w->at - newest : 0);
	log_put_str(&w->raw, next);
	if (!put_kind(w, LOG_END, cell))
		return false;
	if (w->output == OUT_FILE)
		w->files[w->file.index].complete = true;
	w->made += w->at;
	return true;
}

/* --- limits --- */

/* Upper bound of the bytes still to come for a file that must end: half a second of rows, and the chunks that close
 * it. */
static uint64_t margin(const struct session *about, uint64_t limit)
{
	double bytes = LEAST_LEFT;

	for (int t = 0; t < TIERS; t++)
		bytes += about->hz[t] / 2 * 8 * (double)(about->width[t] + 1);
	return bytes < (double)limit / 6 ? (uint64_t)bytes : limit / 6;
}

/* Ends the file, or the recording, before that chunk if it is long or large enough. */
static void limits_look(struct log_writer *w, const struct log_chunk *c)
{
	const struct trace_limits *l = &w->limits;
	int64_t cell = c->about.cell, due = log_cell(w->due_ns);
	uint64_t bytes = w->at + c->n;

	if (!w->go_on || w->to != INT64_MAX || w->newest == INT64_MIN || cell <= w->newest ||
	    !log_of_group(c->about.kind))
		return;
	if (l->max_bytes && w->made + bytes + margin(&w->about, l->max_bytes) >= l->max_bytes) {
		w->to = cell;
		w->then = THEN_LIMIT;
		w->stats.full = true;
		w->stats.until_ns = log_cell_ns(cell);
	} else if (clock_now_ns() >= w->retry_ns &&
		   ((l->split.bytes && bytes + margin(&w->about, l->split.bytes) >= l->split.bytes) ||
		    (l->split.ns && cell >= due))) {
		w->to = l->split.ns && cell >= due && due > w->newest ? due : cell;
		w->then = THEN_NEXT;
	}
	memset(w->seen, 0, sizeof(w->seen));
}

/* Bins and statistics can be computed again, so they leave room for rows, until the end. */
static bool has_room(const struct log_writer *w, size_t n)
{
	const struct trace_limits *l = &w->limits;
	uint64_t limit = l->split.bytes;

	if (!w->go_on)
		return true;
	if (l->max_bytes && (!limit || l->max_bytes - w->made < limit))
		limit = l->max_bytes - w->made;
	return !limit || w->at + n + limit / (w->quit ? 32 : 6) <= limit;
}

/* Have all rows before the end of the file arrived, or has the wait for them timed out? The clock says so only where no
 * chunk waits (c is NULL): those that a slow disk has held up come late. */
static bool is_over(const struct log_writer *w, const struct log_chunk *c)
{
	bool all = true;

	for (int t = 0; t < TIERS; t++)
		all &= w->seen[t] || w->about.width[t] == 0 || w->about.hz[t] <= 0;
	return all || (c && c->about.kind == LOG_DATA && c->about.cell >= w->to + LATE_CELLS) ||
	       (w->options.live && !c && clock_now_ns() >= log_cell_ns(w->to + LATE_CELLS));
}

/* Makes that file the current one, and the one before it the previous one. */
static void file_follow(struct log_writer *w, const struct part *next, int64_t cell)
{
	char path[PATH_MAX];
	const char *slash;

	part_path(w->path, w->files[w->n_files - 1].number, path, sizeof(path));
	slash = strrchr(path, '/');
	snprintf(w->previous, sizeof(w->previous), "%.*s", NAME_MAX, slash ? slash + 1 : path);
	w->options.previous = w->previous;
	w->options.part++;
	file_reset(w, cell);
	disk_use(w, next);
}

/* Ends the file at `to`, and goes on in the next one, or in this one if there can be none yet. */
static void next_begin(struct log_writer *w)
{
	struct part next;
	struct log_chunk *c;
	const char *slash;
	struct err e;

	while ((c = chunk_list_take(&w->again))) { /* those of `later` came before them */
		chunk_list_add(&w->later, c);
		log_chunk_free(c);
	}
	chunk_list_free(&w->again);
	w->again = w->later;
	w->later = (struct chunk_list) {.p = NULL};
	w->from = w->to;
	w->to = INT64_MAX;
	w->until = w->serial;
	if (disk_open(w, false, &next, &e) < 0) {
		err_set(&w->stats.err, ERR_FAILED, _("%s; the recording continues in the previous file"), e.text);
		w->retry_ns = clock_now_ns() + RETRY_NS;
		return;
	}
	if (!w->failed_ns)
		w->stats.err.code = ERR_NONE;
	slash = strrchr(next.path, '/');
	if (file_end(w, LOG_SPLIT, slash ? slash + 1 : next.path))
		disk_close(w);
	file_follow(w, &next, w->from);
	while (w->limits.split.ns && w->due_ns <= log_cell_ns(w->from))
		w->due_ns = edge(w->due_ns + w->limits.split.ns, w->limits.split.ns >= GROUPS_NS);
}

/* --- copying --- */

/* Fits an event to this file: it may belong to another, or be cut into two. Returns false if nothing of it is here. */
static bool event_fit(const struct log_writer *w, struct log_event *ev, bool before)
{
	int64_t from = log_cell_ns(w->from), to = w->to < INT64_MAX ? log_cell_ns(w->to) : INT64_MAX;
	struct gap *g = &ev->u.gap;
	int64_t begin, end;

	if (from < w->start.mono_ns)
		from = w->start.mono_ns;
	if (ev->kind == LOG_EVENT) {
		struct state_event *s = &ev->u.state;

		if (s->from_ns >= to || s->to_ns < w->start.mono_ns)
			return false;
		if (s->from_ns < w->start.mono_ns) {
			s->from_ns = w->start.mono_ns;
			s->flags |= STATE_BEFORE;
		}
		if (s->to_ns > to) {
			s->to_ns = to;
			s->flags |= STATE_OPEN;
		}
		return true;
	}
	if (ev->kind != LOG_GAP) {
		if (ev->t_ns >= to || (ev->t_ns < from && before))
			return false;
		if (ev->t_ns < w->start.mono_ns)
			ev->t_ns = w->start.mono_ns; /* its file has ended */
		*(ev->kind == LOG_MARK ? &ev->u.mark.t_ns : &ev->u.change.t_ns) = ev->t_ns;
		return true;
	}
	if (!before)
		from = w->start.mono_ns;
	begin = g->from_ns < from ? from : g->from_ns;
	end = g->to_ns > to ? to : g->to_ns;
	if (begin > end || (begin == end && g->from_ns < g->to_ns))
		return false;
	if (end < g->to_ns || (begin > g->from_ns && before))
		g->missed = (uint64_t)((double)g->missed * (double)(end - begin) / (double)(g->to_ns - g->from_ns) +
				       0.5);
	g->from_ns = begin;
	g->to_ns = end;
	return g->missed > 0;
}

/* An event is in the file. */
static void event_count(struct log_writer *w, const struct log_event *ev)
{
	const struct gap *g = &ev->u.gap;

	if (ev->kind == LOG_MARK) {
		w->tally.marks++;
	} else if (ev->kind == LOG_STATE) {
		facts_change(w->facts, w->about.n_facts, &ev->u.change);
		if (!change_is_reason(&ev->u.change) && w->stats.changes++ < LOG_CHANGES)
			w->stats.change[w->stats.changes - 1] = ev->u.change;
	} else if (ev->kind == LOG_GAP && g->cause == GAP_LATE) {
		w->stats.late[g->tier] += g->missed;
	} else if (ev->kind == LOG_GAP && g->cause == GAP_LOST) {
		w->tally.lost[g->tier] += g->missed;
	}
}

static bool copy_events(struct log_writer *w, const struct log_chunk *c)
{
	struct log_bytes raw = {.n = 0};
	struct log_in in, record;
	struct log_event ev;
	bool good = true;

	states_note(w, c);
	if (!log_chunk_unpack(c->bytes, &raw))
		return true;
	w->raw.n = 0;
	in = (struct log_in) {raw.p, raw.p + raw.n, false};
	while (log_get_record(&in, &record))
		if (log_event_get(c->about.kind, &record, &ev) && event_fit(w, &ev, c->serial <= w->until))
			log_event_put(&w->raw, &ev);
	if (w->raw.n > 0)
		good = put_kind(w, c->about.kind, c->about.cell);
	in = (struct log_in) {w->raw.p, w->raw.p + w->raw.n, false};
	while (good && log_get_record(&in, &record))
		if (log_event_get(c->about.kind, &record, &ev))
			event_count(w, &ev);
	log_bytes_free(&raw);
	return good;
}

/* Says which rows never came here, because too much waited. */
static bool lost_tell(struct log_writer *w, int64_t cell)
{
	struct log_event ev = {.kind = LOG_GAP};

	if (!w->skipped.any)
		return true;
	w->raw.n = 0;
	for (enum tier t = 0; t < TIERS; t++) {
		int64_t from = log_cell_ns(w->tier_cell[t]), to = log_cell_ns(cell);

		if (from < w->start.mono_ns)
			from = w->start.mono_ns;
		if (!w->skipped.rows[t])
			continue;
		ev.u.gap = (struct gap) {t, GAP_LOST, from, to > from ? to : from, w->skipped.rows[t]};
		log_event_put(&w->raw, &ev);
	}
	if (w->raw.n > 0 && !put_kind(w, LOG_GAP, cell))
		return false;
	for (int t = 0; t < TIERS; t++) {
		w->stats.gap_rows += w->skipped.rows[t];
		w->tally.lost[t] += w->skipped.rows[t];
	}
	memset(&w->skipped, 0, sizeof(w->skipped));
	w->whole = cell + 1;
	return true;
}

/* Counts the single late ticks before the rows of a chunk: a stream cannot be read again. */
static void late_count(struct log_writer *w, const struct log_chunk *c)
{
	struct log_bytes raw = {.n = 0};
	struct log_section s;
	struct log_in in;

	if (w->output == OUT_FILE || !log_chunk_unpack(c->bytes, &raw))
		return;
	in = (struct log_in) {raw.p, raw.p + raw.n, false};
	while (log_data_next(&in, &s) == 1) {
		const uint8_t *high = s.times + 3 * (size_t)s.n; /* shuffled */

		for (uint32_t i = 0; i < s.n && s.tier < TIERS; i++)
			w->stats.late[s.tier] += (uint64_t)high[i] >> 7;
	}
	log_bytes_free(&raw);
}

static bool copy_data(struct log_writer *w, const struct log_chunk *c)
{
	const struct log_entry *e = &c->about;

	if (!lost_tell(w, e->cell) || !put_copy(w, c, NULL, 0))
		return false;
	late_count(w, c);
	w->newest = e->cell > w->newest ? e->cell : w->newest;
	for (int t = 0; t < TIERS; t++) {
		w->stats.rows[t] += e->rows[t];
		if (e->rows[t] > 0)
			w->tier_cell[t] = e->cell + 1;
	}
	return true;
}

/* Copies bins or statistics if all of their span is here. After those of levels 2 and 3 an INDEX is due. */
static bool copy_span(struct log_writer *w, const struct log_chunk *c)
{
	const struct log_entry *e = &c->about;
	int level = log_entry_level(e);
	int64_t end = e->cell + log_span_cell(1, level);

	if (w->begins)
		return true;
	if (e->cell >= w->whole && (end <= w->to || w->to == INT64_MAX) && has_room(w, c->n) &&
	    !put_copy(w, c, NULL, 0))
		return false;
	if (e->kind == LOG_STAT && level == 2 && e->cell < w->to)
		w->list_before = end;
	return true;
}

/* The channels as they are described now. */
static void session_take(struct log_writer *w)
{
	const struct session *now = log_session(w->log, &w->generation);

	if (now)
		w->about = *now;
	w->about.facts = w->facts;
}

/* Returns false if the file has ended early: the chunk belongs to the next one. */
static bool copy_chunk(struct log_writer *w, const struct log_chunk *c)
{
	const struct log_entry *e = &c->about;
	bool is_row = e->kind == LOG_DATA || e->kind == LOG_RANGE;

	if (w->list_before != INT64_MIN && log_of_group(e->kind) && !put_index(w, w->list_before))
		return false;
	if (e->kind == LOG_LOD || e->kind == LOG_STAT)
		return copy_span(w, c);
	if (is_row && e->cell < w->from && c->serial > w->until)
		chunk_lose(w, c);
	if (is_row && (e->cell < w->from || e->cell >= w->to))
		return true;
	if (w->generation != c->generation) {
		session_take(w);
		w->generation = c->generation;
		w->meta_span = INT64_MIN;
		w->full_due = FULL_METAS;
	}
	if ((w->begins || log_span(e->cell, 1) > w->meta_span) && !put_meta(w, e->cell))
		return false;
	if (e->kind == LOG_DATA)
		return copy_data(w, c);
	if (e->kind != LOG_RANGE)
		return copy_events(w, c);
	w->any_ranges = true;
	return put_copy(w, c, NULL, 0);
}

/* The recording has failed, or the chunk came when it had. */
static void chunk_lost(struct log_writer *w, const struct log_chunk *c)
{
	struct log_bytes raw = {.n = 0};
	struct log_in in, record;

	for (int t = 0; t < TIERS && c->about.cell >= w->from; t++)
		w->stats.lost_rows += c->about.rows[t];
	if (c->about.kind == LOG_MARK && log_chunk_unpack(c->bytes, &raw)) {
		in = (struct log_in) {raw.p, raw.p + raw.n, false};
		while (log_get_record(&in, &record))
			w->stats.lost_marks++;
	}
	log_bytes_free(&raw);
}

static void take_chunk(struct log_writer *w, struct log_chunk *c)
{
	struct part next;

	w->serial = c->serial > w->serial ? c->serial : w->serial;
	limits_look(w, c);
	for (int t = 0; t < TIERS && c->about.cell >= w->to; t++)
		w->seen[t] |= c->about.rows[t] > 0;
	while (!w->stats.failed && !copy_chunk(w, c)) {
		if (w->stats.failed || !disk_need(w, &next))
			break;
		if (w->begins) { /* there is no file before it */
			disk_use(w, &next);
			continue;
		}
		w->made += w->at;
		if (w->again.n == w->again.first)
			w->until = c->serial - 1;
		file_follow(w, &next, c->about.cell - 1 > w->from ? c->about.cell - 1 : w->from);
	}
	if (w->stats.failed)
		chunk_lost(w, c);
	else if (w->to != INT64_MAX && w->then == THEN_NEXT &&
		 (c->about.cell >= w->to || log_has_events(c->about.kind) || c->about.kind == LOG_RANGE))
		chunk_list_add(&w->later, c);
	pthread_cond_broadcast(&w->changed);
}

/* --- the thread --- */

static struct log_chunk *next_chunk(struct log_writer *w, bool *ended)
{
	struct log_chunk *c = chunk_list_take(&w->again);
	struct log_skipped skipped = {.chunks = 0};
	int64_t until = clock_now_ns() + LOOK_NS;

	*ended = false;
	if (c)
		return c;
	pthread_mutex_unlock(&w->lock);
	/* Of what was before, marks can precede the rows of their cell. */
	while ((c = log_queue_take(w->queue, until, &skipped, ended)) && c->serial <= w->past && c->about.cell < w->from - 1) {
		states_note(w, c);
		log_chunk_free(c);
	}
	pthread_mutex_lock(&w->lock);
	for (int t = 0; t < TIERS; t++) {
		w->skipped.rows[t] += skipped.rows[t];
		w->stats.lost_rows += skipped.rows[t];
	}
	w->skipped.any |= skipped.chunks > 0;
	w->stats.lost_marks += skipped.marks;
	return c;
}

/* All of it was copied. A recording without a row has a file, too. */
static void end(struct log_writer *w)
{
	struct part next;

	while (w->begins && !w->stats.failed && !w->discard) {
		if (w->output == OUT_FILE && w->file.fd < 0 && (!disk_need(w, &next) || !disk_use(w, &next)))
			return;
		put_meta(w, w->from);
	}
	if (w->stats.failed || w->discard || (w->output == OUT_FILE && w->file.fd < 0))
		return;
	if (lost_tell(w, w->to < INT64_MAX ? w->to : w->newest == INT64_MIN ? w->from : w->newest + 1))
		file_end(w, w->stats.full ? LOG_LIMIT : w->options.reason, "");
}

static void *out_main(void *arg)
{
	struct log_writer *w = arg;
	struct log_chunk *c;
	bool ended = false;

	prctl(PR_SET_NAME, "nvmtop-disk");
	pthread_mutex_lock(&w->lock);
	while (!w->discard) {
		c = next_chunk(w, &ended);
		disk_look(w);
		if (!c && ended && w->later.n == w->later.first)
			break;
		if (c)
			take_chunk(w, c);
		if (w->to != INT64_MAX && (ended || is_over(w, c))) {
			log_chunk_free(c);
			if (w->then != THEN_NEXT)
				break;
			next_begin(w);
			continue;
		}
		log_chunk_free(c);
	}
	w->over = true;
	end(w);
	disk_finish(w);
	log_queue_free(w->queue);
	w->queue = NULL;
	writer_leave(w);
	return NULL;
}

int out_start(struct log_writer *w, bool whole)
{
	struct log_look look = {.version = 0};
	pthread_t thread;
	struct err e;
	int num;

	w->packer = log_packer_new();
	session_take(w);
	w->facts = calloc(w->about.n_facts + 1, sizeof(*w->facts));
	if (!w->packer || !w->facts)
		return ENOMEM;
	if (w->about.n_facts > 0)
		memcpy(w->facts, log_session(w->log, &w->generation)->facts, w->about.n_facts * sizeof(*w->facts));
	session_take(w);
	if (w->from < log_cell(w->about.start.mono_ns))
		w->from = log_cell(w->about.start.mono_ns);
	log_identify(&w->options, w->boot);
	w->seq = w->options.seq;
	w->start = w->about.start;
	w->newest = INT64_MIN;
	for (int t = 0; t < TIERS; t++)
		w->tier_cell[t] = w->from;
	file_reset(w, w->from);
	if (whole)
		w->whole = INT64_MIN;
	w->queue = log_queue_new(w->log, w->options.buffer, !whole, &e);
	if (!w->queue)
		return ENOMEM;
	if (!whole && log_look(w->log, &look))
		past_take(w, &look);
	log_look_free(&look);
	w->due_ns = edge(w->start.mono_ns + w->limits.split.ns, w->limits.split.ns >= GROUPS_NS);
	w->file.since_ns = w->look_ns = clock_now_ns();
	w->sync_ns = w->file.since_ns + w->options.sync_ns;
	num = thread_start(&thread, out_main, w);
	if (num)
		return num;
	pthread_detach(thread);
	w->thread = true;
	return 0;
}
