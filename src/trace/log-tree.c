/* Finds the chunk of a row or a time. The newest INDEX leads to the INDEX chunks of all groups, whose lists
 * are read on demand; later chunks are found by scanning the heads. If the INDEX chunks do not cover the
 * whole log, all heads are scanned. Lists and decoded rows are cached. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log-tree.h"

#define WINDOW	  ((size_t)256 << 10)
#define HOLES	  4096 /* maximum of missing files that are noted */
#define ITEMS	  (4 << 20)		/* enough for some days without an INDEX */
#define TAIL	  (UINT64_C(256) << 10) /* bytes at the end first searched for an INDEX */
#define TAIL_MOST (UINT64_C(64) << 20)	/* and at most */

/* --- scan --- */

static bool items_add(struct log_items *items, const struct log_item *item)
{
	if (items->n == items->room) {
		size_t room = items->room ? 2 * items->room : 64;
		struct log_item *p = room <= ITEMS ? reallocarray(items->p, room, sizeof(*p)) : NULL;

		if (!p) {
			items->failed = true;
			return false;
		}
		items->p = p;
		items->room = room;
	}
	items->p[items->n++] = *item;
	return true;
}

/* Returns at least n bytes at that offset, or fewer at `to` or the end of the file; *got is their number. */
static const uint8_t *window(struct log_reader *r, uint64_t at, size_t n, uint64_t to, size_t *got)
{
	if (!r->window)
		r->window = malloc(WINDOW);
	*got = 0;
	if (!r->window)
		return NULL;
	if (at < r->window_at || at + n > r->window_at + r->window_n) {
		ssize_t read = log_read_at(r, r->window, WINDOW, at);

		r->window_at = at;
		r->window_n = read > 0 ? (size_t)read : 0;
	}
	*got = r->window_n - (size_t)(at - r->window_at);
	if (*got > to - at)
		*got = (size_t)(to - at);
	return r->window + (at - r->window_at);
}

/* Returns the offset of the next valid head of a session (0: any) in [at, to), or `to` if there is none. */
static uint64_t find_head(struct log_reader *r, uint32_t session, uint64_t at, uint64_t to)
{
	while (at + LOG_HEAD <= to) {
		size_t n, found;
		const uint8_t *p = window(r, at, 2 * LOG_HEAD, to, &n);

		if (!p || n < LOG_HEAD)
			break;
		found = log_find(p, n, session);
		if (found + LOG_HEAD <= n)
			return at + found;
		at += n - LOG_HEAD + 1;
	}
	return to;
}

static bool head_at(struct log_reader *r, uint64_t at, uint64_t to, struct log_head *h)
{
	size_t n;
	const uint8_t *p = at + LOG_HEAD <= to ? window(r, at, LOG_HEAD, to, &n) : NULL;

	return p && n >= LOG_HEAD && log_head_get(p, h) && h->session == r->id && h->stored <= to - at - LOG_HEAD;
}

/* Notes bytes between chunks, or chunks whose numbers are missing. */
static void note_hole(struct log_reader *r, uint64_t from, uint64_t to, uint64_t seq, uint64_t next, int64_t cell)
{
	uint64_t missing = next > seq + 1 ? next - seq - 1 : 0;

	if ((missing == 0 && from == to) || !log_note(r, missing ? LOG_FAULT_SEQ : LOG_FAULT_BYTES, from,
						      missing ? seq + 1 : LOG_SEQ_NONE, cell, 0))
		return;
	r->damage.bytes += to - from;
	r->damage.chunks += missing ? missing - 1 : 0;
}

/* Notes the bytes after the last chunk: an unfinished chunk, or another recording. */
static void note_tail(struct log_reader *r, uint64_t at, int64_t cell)
{
	uint64_t other = find_head(r, 0, at, r->size);
	struct log_head h;
	uint8_t p[LOG_HEAD];

	while (other < r->size && log_read_at(r, p, LOG_HEAD, other) == LOG_HEAD && log_head_get(p, &h) &&
	       h.session == r->id)
		other = find_head(r, 0, other + 1, r->size);
	r->tail.torn = r->size - at;
	r->tail.other = other < r->size ? r->size - other : 0;
	if (r->tail.other && log_note(r, LOG_FAULT_OTHER, at, LOG_SEQ_NONE, cell, 0))
		r->damage.bytes += r->tail.other;
}

/* The number of the file of a split recording that a META is in; -1: it does not say. */
static int64_t part_of(struct log_reader *r, uint64_t at, const struct log_head *h)
{
	const struct log_item meta = {.at = at, .stored = h->stored, .kind = LOG_META, .cell = h->cell};
	struct log_in in, record;
	struct log_head read;
	unsigned tag;

	if (!log_read_chunk(r, &meta, &read, &r->raw_index))
		return -1;
	in = (struct log_in) {r->raw_index.p, r->raw_index.p + r->raw_index.n, false};
	while (log_get_tagged(&in, &tag, &record))
		if (tag == LOG_TAG_PART && record.end - record.p >= 4)
			return log_get_u32(&record);
	return -1;
}

/* Notes that a file begins in that cell, and that what was recorded before it is in no file. n: how many files are
 * missing. */
static void note_absent(struct log_reader *r, int64_t cell, int64_t n)
{
	int64_t *more = r->quiet || r->n_holes == HOLES ? NULL : reallocarray(r->holes, r->n_holes + 1, sizeof(*more));

	if (!more)
		return;
	r->absent += (uint64_t)n;
	r->holes = more;
	more[r->n_holes++] = cell;
}

static void scanned(struct log_reader *r, const struct log_head *h, uint64_t at, struct log_items *items)
{
	if (h->version != LOG_VERSION || h->kind == 0 || h->kind >= LOG_KINDS) {
		r->newer |= h->flags & LOG_CRITICAL;
		log_note_newer(r, h, at, 0);
		return;
	}
	if (h->generation > r->newest)
		r->newest = h->generation;
	items_add(items, &(struct log_item) {.at = at, .stored = h->stored, .kind = h->kind, .cell = h->cell});
}

void log_scan(struct log_reader *r, uint64_t from, uint64_t to, struct log_items *items)
{
	uint64_t at = from, last = from, seq = LOG_SEQ_NONE, before = LOG_SEQ_NONE;
	int64_t cell = log_cell(r->session.start.mono_ns), part = -1, next;
	struct log_head h = {.kind = 0};

	r->window_n = 0;
	for (; at < to && !items->failed; at += LOG_HEAD + h.stored) {
		uint64_t begin = at;
		bool ended = h.kind == LOG_END;

		/* Where no chunk follows, the one before may have been cut off, and another file begins in it. */
		if (!head_at(r, at, to, &h))
			for (at = find_head(r, r->id, last + 1, to); at < to && !head_at(r, at, to, &h);)
				at = find_head(r, r->id, at + 1, to);
		if (at < begin) {
			items->n -= items->n > 0 && items->p[items->n - 1].at == last;
			begin = last;
			seq = before;
		}
		last = at;
		if (at >= to) {
			if (to == r->size)
				note_tail(r, begin, cell);
			return;
		}
		next = -1;
		if (h.kind == LOG_META && (part < 0 || ended || begin < at || h.seq > seq + 1))
			next = part_of(r, at, &h);
		/* A file may lack what was to follow in it: the next one says what was lost in between. */
		if (part >= 0 && next > part && h.seq > seq + 1)
			note_absent(r, h.cell, next - part - 1);
		else if (seq != LOG_SEQ_NONE && (part < 0 || next <= part))
			note_hole(r, begin, at, seq, h.seq, cell);
		part = next >= 0 ? next : part;
		if (seq != LOG_SEQ_NONE && h.seq <= seq) {
			log_note(r, LOG_FAULT_ORDER, at, h.seq, h.cell, 0);
			continue;
		}
		before = seq;
		seq = h.seq;
		cell = h.cell;
		if (to == r->size)
			r->last = h;
		scanned(r, &h, at, items);
	}
}

/* --- INDEX --- */

static int by_place(const void *a, const void *b)
{
	const struct log_item *i = a, *j = b;

	return (i->at > j->at) - (i->at < j->at);
}

static int by_cell(const void *a, const void *b)
{
	const struct log_item *i = a, *j = b;

	return i->cell != j->cell ? (i->cell < j->cell ? -1 : 1) : by_place(a, b);
}

static void sort(struct log_items *items, int (*order)(const void *, const void *))
{
	if (items->n > 1)
		qsort(items->p, items->n, sizeof(*items->p), order);
}

/* Whether an INDEX counts at most twice the rows, plus 1000, that the rates of the tiers yield in its
 * span. */
static bool rows_fit(const struct log_reader *r, const struct log_entry *e)
{
	double span_s = (double)(INT64_C(1) << (LOG_CELL_ZOOM + LOG_SPAN_BITS * e->aux)) / 1e9;

	for (int t = 0; t < TIERS; t++)
		if (e->rows[t] > 2 * r->session.hz[t] * span_s + 1000)
			return false;
	return true;
}

/* Converts an entry of an INDEX to an item. Returns false if it is invalid. */
static bool entry_item(const struct log_reader *r, const struct log_item *index, unsigned level,
		       const struct log_entry *e, struct log_item *item)
{
	bool is_index = e->kind == LOG_INDEX, listed = e->kind == LOG_DATA || (is_index && e->aux < level);

	if (e->distance == 0 || e->distance > index->at - r->begin || e->stored > LOG_STORED_MAX ||
	    e->distance < LOG_HEAD + (uint64_t)e->stored || e->cell >= LOG_CELL_LIMIT || e->cell <= -LOG_CELL_LIMIT ||
	    (listed && log_span(e->cell, (int)level) != log_span(index->cell, (int)level)))
		return false;
	*item = (struct log_item) {
		.at = index->at - e->distance, .stored = e->stored, .kind = e->kind, .aux = e->aux, .cell = e->cell};
	for (int t = 0; t < TIERS && (e->kind == LOG_DATA || is_index); t++)
		item->rows[t] = e->rows[t];
	if (e->kind == LOG_DATA)
		return level == 1 && e->rows[0] <= LOG_ROWS_MAX && e->rows[1] <= LOG_ROWS_MAX &&
		       e->rows[2] <= LOG_ROWS_MAX;
	return !is_index || (e->aux >= 1 && e->aux <= LOG_LEVELS && e->aux + 1U >= level && rows_fit(r, e) &&
			     e->cell == log_span_cell(log_span(e->cell, e->aux), e->aux));
}

static bool take_entries(struct log_reader *r, const struct log_item *index, struct log_in *in, uint32_t n,
			 size_t size, struct log_listing *l)
{
	const uint8_t *p = log_in_take(in, n * size);
	uint8_t *plain = p ? malloc(n * size + 1) : NULL;
	bool good = plain != NULL;

	if (good)
		log_unshuffle(plain, p, n, size);
	for (uint32_t i = 0; good && i < n; i++) {
		struct log_entry e;
		struct log_item item;

		log_entry_get(&(struct log_in) {plain + i * size, plain + (i + 1) * size, false}, &e);
		good = entry_item(r, index, l->level, &e, &item) &&
		       items_add(item.kind == LOG_INDEX && item.aux >= l->level ? &l->open : &l->own, &item);
	}
	free(plain);
	return good;
}

/* Counts the rows of a list, which is sorted by cell. Returns false if the rows of a tier are not in the
 * order of the file, or spans overlap. */
static bool count_list(struct log_items *items, uint64_t rows[TIERS])
{
	uint64_t last[TIERS] = {0};
	int64_t end = INT64_MIN;
	bool good = true;

	memset(rows, 0, TIERS * sizeof(*rows));
	for (size_t i = 0; i < items->n; i++) {
		struct log_item *item = &items->p[i];

		good &= item->kind != LOG_INDEX || item->cell >= end;
		end = item->kind == LOG_INDEX ? log_span_end(item->cell, item->aux) : end;
		for (int t = 0; t < TIERS; t++) {
			good &= item->rows[t] == 0 || item->at > last[t];
			last[t] = item->rows[t] ? item->at : last[t];
			item->before[t] = rows[t];
			rows[t] += item->rows[t];
		}
	}
	return good;
}

bool log_item_there(struct log_reader *r, const struct log_item *item)
{
	struct log_head h;
	uint8_t p[LOG_HEAD];

	return log_read_at(r, p, LOG_HEAD, item->at) == LOG_HEAD && log_head_get(p, &h) && h.session == r->id &&
	       h.kind == item->kind && h.cell == item->cell && h.stored == item->stored;
}

bool log_listing_read(struct log_reader *r, const struct log_item *index, struct log_listing *l)
{
	const struct log_item *first = NULL;
	struct log_in in;
	struct log_head h;
	uint64_t rows[TIERS];
	uint32_t n, events;
	size_t size;
	const uint8_t *p;

	*l = (struct log_listing) {.level = 0};
	if (!log_read_chunk(r, index, &h, &r->raw_index))
		return false;
	in = (struct log_in) {r->raw_index.p, r->raw_index.p + r->raw_index.n, false};
	l->level = log_get_u8(&in);
	l->incomplete = log_get_u8(&in) & LOG_INCOMPLETE;
	size = log_get_u16(&in);
	n = log_get_u32(&in);
	events = log_get_u32(&in);
	if (in.bad || l->level < 1 || l->level > LOG_LEVELS || (index->aux && l->level != index->aux) ||
	    index->cell != log_span_cell(log_span(index->cell, (int)l->level), (int)l->level) ||
	    size < LOG_ENTRY_SIZE || n > r->raw_index.n / size || !take_entries(r, index, &in, n, size, l))
		return false;
	p = log_in_take(&in, events);
	l->events = (struct log_in) {p, p ? p + events : p, false};
	sort(&l->own, by_cell);
	sort(&l->open, by_cell);
	if (!p || !count_list(&l->own, rows))
		return false;
	for (int t = 0; t < TIERS; t++)
		l->rows[t] = rows[t] < UINT32_MAX ? (uint32_t)rows[t] : UINT32_MAX;
	for (size_t i = 0; i < l->own.n; i++)
		first = !first || l->own.p[i].at < first->at ? &l->own.p[i] : first;
	l->first = first ? first->at : index->at;
	return !first || log_item_there(r, first);
}

void log_listing_free(struct log_listing *l)
{
	free(l->own.p);
	free(l->open.p);
}

/* --- all chunks --- */

static struct log_item *find_item(const struct log_items *items, uint64_t at)
{
	return items->n > 0 ? bsearch(&(struct log_item) {.at = at}, items->p, items->n, sizeof(*items->p), by_place)
			    : NULL;
}

/* Takes the event records in an INDEX, or the chunks with them if it is incomplete. wanted: no INDEX above
 * has them. Returns whether INDEX chunks below must be read for more. */
static bool take_events(struct log_reader *r, const struct log_item *index, const struct log_listing *l, bool wanted)
{
	if (wanted && !l->incomplete)
		log_events_put(r, index, l->events, LOG_SEQ_NONE);
	for (size_t i = 0; wanted && l->incomplete && i < l->own.n; i++)
		if (log_has_events(l->own.p[i].kind))
			items_add(&r->marked, &l->own.p[i]);
	return wanted && l->incomplete;
}

/* Takes an INDEX and those below it. The lists of groups are read only if their events are needed. */
static bool take_tree(struct log_reader *r, const struct log_item *index, bool events)
{
	const struct log_items *to = &r->levels[index->aux];
	struct log_listing l = {.level = 0};
	bool good = to->n == 0 || to->p[to->n - 1].cell < index->cell;

	if (good && (index->aux > 1 || events)) {
		good = log_listing_read(r, index, &l);
		events = good && take_events(r, index, &l, events);
	}
	for (size_t i = 0; good && i < l.own.n; i++)
		good = l.own.p[i].kind != LOG_INDEX || take_tree(r, &l.own.p[i], events);
	log_listing_free(&l);
	return good && items_add(&r->levels[index->aux], index);
}

/* Takes all INDEX chunks before that of a group in the tail. Returns false if they do not lead back to the
 * beginning of the log, as when two logs were concatenated. */
static bool take_open(struct log_reader *r, struct log_listing *l)
{
	const struct log_items *groups = &r->levels[1];
	struct log_listing oldest = {.first = l->first};
	bool good = true;

	for (size_t i = 0; good && i < l->open.n; i++) {
		const struct log_item *item = &l->open.p[i];

		if (item->at < l->first) /* later ones are scanned */
			good = log_item_there(r, item) && take_tree(r, item, true) && items_add(&r->roots, item);
	}
	if (good && groups->n > 0)
		good = log_listing_read(r, &groups->p[0], &oldest);
	good &= oldest.first <= r->begin;
	log_listing_free(&oldest);
	return good;
}

/* Finds the newest INDEX of level 1 and takes all that it leads to. Returns the offset at which its group
 * begins, or that of the log if this fails. */
static uint64_t take_tail(struct log_reader *r)
{
	struct log_items heads = {.n = 0};
	bool found = false, good = false;
	uint64_t at = r->size, from = r->begin;

	r->quiet = true; /* the scan that follows reports it */
	for (uint64_t n = TAIL; !found && n <= TAIL_MOST && at > r->begin; n *= 2) {
		at = r->size - r->begin > n ? r->size - n : r->begin;
		heads.n = 0;
		log_scan(r, at, r->size, &heads);
		for (size_t i = heads.n; i-- > 0 && !found;) {
			struct log_listing l = {.level = 0};

			found = heads.p[i].kind == LOG_INDEX && log_listing_read(r, &heads.p[i], &l) &&
				l.level == 1 && l.own.n > 0;
			good = found && take_open(r, &l);
			from = good ? l.first : r->begin;
			log_listing_free(&l);
		}
	}
	r->quiet = false;
	free(heads.p);
	if (!good)
		log_tree_free(r);
	return from;
}

/* Reads the level of each INDEX. Where two logs of one session were concatenated, a group may have an INDEX
 * in both: neither is used. */
static void drop_twins(struct log_reader *r, struct log_items *items)
{
	struct log_item *before = NULL;

	for (size_t i = 0; i < items->n; i++) {
		struct log_item *item = &items->p[i];
		struct log_listing l;

		if (item->kind != LOG_INDEX)
			continue;
		if (log_listing_read(r, item, &l)) {
			item->aux = (uint8_t)l.level;
			memcpy(item->rows, l.rows, sizeof(item->rows));
		} else {
			item->kind = 0;
		}
		if (item->aux == 1 && before && before->cell == item->cell)
			before->kind = item->kind = 0;
		before = item->aux == 1 ? item : before;
		log_listing_free(&l);
	}
}

/* Takes the INDEX chunks that were scanned. Chunks that they list are no longer items. */
static void take_scanned(struct log_reader *r, struct log_items *items)
{
	drop_twins(r, items);
	sort(&r->roots, by_place);
	for (size_t i = 0; i < items->n; i++) {
		struct log_item *index = &items->p[i], *item;
		struct log_listing l;

		if (index->kind != LOG_INDEX)
			continue;
		if (log_listing_read(r, index, &l)) {
			take_events(r, index, &l, l.level == 1);
			items_add(&r->levels[l.level], index);
		}
		for (size_t k = 0; k < l.own.n; k++) {
			if ((item = find_item(items, l.own.p[k].at)))
				item->kind = 0;
			if ((item = find_item(&r->roots, l.own.p[k].at)))
				item->kind = 0;
		}
		log_listing_free(&l);
	}
}

/* Counts the rows of a chunk that no INDEX lists. Returns false if they are unusable. */
static bool count_rows(struct log_reader *r, struct log_item *item)
{
	struct log_head h;
	struct log_section s;
	struct log_in in;
	int got = 0;
	unsigned seen = 0;

	if (!log_read_chunk(r, item, &h, &r->raw))
		return false;
	in = (struct log_in) {r->raw.p, r->raw.p + r->raw.n, false};
	while ((got = log_data_next(&in, &s)) > 0 && !(seen & 1U << s.tier)) {
		seen |= 1U << s.tier;
		if (s.tier < TIERS)
			item->rows[s.tier] = s.n;
	}
	if (got == 0 && log_generation_find(r, h.generation))
		return true;
	log_note(r, got ? LOG_FAULT_CONTENT : LOG_FAULT_CHANNELS, item->at, h.seq, item->cell,
		 (uint64_t)item->rows[0] + item->rows[1] + item->rows[2]);
	return false;
}

static void note_order(struct log_reader *r, const struct log_item *item)
{
	log_note(r, LOG_FAULT_ORDER, item->at, LOG_SEQ_NONE, item->cell,
		 (uint64_t)item->rows[0] + item->rows[1] + item->rows[2]);
}

/* Takes the scanned chunks that no INDEX lists, by cell. of: NULL, or only those in the span of this INDEX.
 * DATA is not used if its tier's cells are out of order or it is in the span of another INDEX. */
static void take_loose(struct log_reader *r, struct log_items *items, const struct log_item *of, struct log_items *to)
{
	int64_t last[TIERS] = {INT64_MIN, INT64_MIN, INT64_MIN};

	for (size_t i = 0; i < items->n; i++) {
		struct log_item *item = &items->p[i];
		bool bad = !of && log_index_of(r, 1, item->cell);

		if (of && (item->kind == LOG_INDEX || log_span(item->cell, 1) != log_span(of->cell, 1)))
			continue;
		if (item->kind == LOG_DATA) {
			if (!count_rows(r, item))
				continue;
			for (int t = 0; t < TIERS; t++)
				bad |= item->rows[t] > 0 && item->cell < last[t];
			if (bad) {
				note_order(r, item);
				continue;
			}
			for (int t = 0; t < TIERS; t++)
				last[t] = item->rows[t] > 0 ? item->cell : last[t];
		}
		if (item->kind)
			items_add(item->kind == LOG_INDEX ? &r->roots : to, item);
	}
	sort(to, by_cell);
}

/* Makes groups of the chunks that no INDEX lists. */
static void make_groups(struct log_reader *r)
{
	struct log_items *groups = &r->levels[1];
	struct log_item *group = NULL;

	for (size_t i = 0; i < r->loose.n; i++) {
		struct log_item *item = &r->loose.p[i];
		int64_t cell = log_span_cell(log_span(item->cell, 1), 1);

		if (group && group->cell != cell)
			group = NULL;
		if (!group && item->kind == LOG_DATA &&
		    items_add(groups, &(struct log_item) {.aux = 1, .cell = cell}))
			group = &groups->p[groups->n - 1];
		for (int t = 0; group && t < TIERS; t++) {
			item->before[t] = group->rows[t];
			group->rows[t] += item->rows[t];
		}
	}
	sort(groups, by_cell);
	count_list(groups, r->rows);
}

static void drop_overlaps(struct log_reader *r, struct log_items *level)
{
	size_t kept = 0;

	sort(level, by_cell);
	for (size_t i = 0; i < level->n; i++)
		if (kept > 0 && level->p[kept - 1].cell == level->p[i].cell)
			note_order(r, &level->p[i]);
		else
			level->p[kept++] = level->p[i];
	level->n = kept;
}

/* Drops each INDEX that does not count all rows in its span, because its LOD and STAT are useless. */
static void drop_partial(struct log_reader *r, struct log_items *level)
{
	size_t kept = 0;

	sort(level, by_cell);
	for (size_t i = 0; i < level->n; i++) {
		const struct log_item *item = &level->p[i];
		int64_t end = log_span_end(item->cell, item->aux);
		bool all = true;

		for (enum tier t = 0; t < TIERS; t++)
			all &= log_rows_before(r, t, end) - log_rows_before(r, t, item->cell) == item->rows[t];
		if (all)
			level->p[kept++] = *item;
	}
	level->n = kept;
}

int log_tree_read(struct log_reader *r)
{
	struct log_items items = {.n = 0};
	uint64_t from = take_tail(r);
	bool failed;

	log_scan(r, from, r->size, &items);
	for (size_t i = 0; i < items.n; i++)
		if (items.p[i].kind == LOG_META)
			log_meta_new(r, &items.p[i]);
	take_scanned(r, &items);
	drop_overlaps(r, &r->levels[1]);
	take_loose(r, &items, NULL, &r->loose);
	make_groups(r);
	for (int level = 2; level <= LOG_LEVELS; level++)
		drop_partial(r, &r->levels[level]);
	failed = items.failed || r->loose.failed || r->marked.failed || r->events.failed;
	for (int level = 1; level <= LOG_LEVELS; level++)
		failed |= r->levels[level].failed;
	free(items.p);
	return failed ? -1 : 0;
}

/* --- lists --- */

/* Returns how many of the items have a lower cell. */
static size_t items_before(const struct log_item *items, size_t n, int64_t cell)
{
	return times_from(items, n, sizeof(*items), offsetof(struct log_item, cell), cell);
}

const struct log_item *log_index_of(const struct log_reader *r, int level, int64_t cell)
{
	const struct log_items *all = &r->levels[level];
	size_t i = items_before(all->p, all->n, cell + 1);

	return i > 0 && log_span(all->p[i - 1].cell, level) == log_span(cell, level) ? &all->p[i - 1] : NULL;
}

/* Adds the rows that the INDEX of a group counts but no chunk has: at the end of the span, without values. */
static void add_lost(struct log_reader *r, const struct log_item *index, struct log_items *items)
{
	struct log_item lost = {.at = index->at, .cell = log_span_end(index->cell, 1) - 1};
	uint64_t rows[TIERS], missing[TIERS], sum = 0;

	count_list(items, rows);
	for (int t = 0; t < TIERS; t++) {
		missing[t] = rows[t] < index->rows[t] ? index->rows[t] - rows[t] : 0;
		sum += missing[t];
	}
	if (sum > 0)
		log_note(r, LOG_FAULT_CONTENT, index->at, LOG_SEQ_NONE, index->cell, sum);
	while (sum > 0) {
		lost.at += UINT64_C(1) << 44; /* beyond the end of any file */
		sum = 0;
		for (int t = 0; t < TIERS; t++) {
			lost.rows[t] = missing[t] < LOG_ROWS_MAX ? (uint32_t)missing[t] : LOG_ROWS_MAX;
			missing[t] -= lost.rows[t];
			sum += missing[t];
		}
		items_add(items, &lost);
	}
	sort(items, by_cell);
	count_list(items, rows);
}

static struct log_block *read_list(struct log_reader *r, const struct log_item *index)
{
	const struct log_items *groups = &r->levels[1];
	struct log_items found = {.n = 0};
	struct log_listing l;
	struct log_block *b;

	if (!log_listing_read(r, index, &l)) {
		size_t i = index->aux == 1 ? (size_t)(index - groups->p) : 0;
		uint64_t from = i >= 2 ? groups->p[i - 2].at : r->begin; /* 0: a group without an INDEX */

		l.own.n = 0;
		if (index->aux == 1)
			log_scan(r, from > r->begin && from < index->at ? from : r->begin, index->at, &found);
		take_loose(r, &found, index, &l.own);
		free(found.p);
	}
	for (size_t i = 0; i < l.own.n; i++)
		if (l.own.p[i].kind >= LOG_KINDS)
			log_note_newer(r, &(struct log_head) {.kind = l.own.p[i].kind}, l.own.p[i].at, 0);
	if (index->aux == 1)
		add_lost(r, index, &l.own);
	b = log_cache_add(&r->caches[LOG_LISTS], index->at, 0, 0, l.own.n * sizeof(*l.own.p));
	if (b && l.own.n > 0)
		memcpy(b->records, l.own.p, l.own.n * sizeof(*l.own.p));
	if (b)
		b->n = (uint32_t)l.own.n;
	log_listing_free(&l);
	return b;
}

const struct log_item *log_list_of(struct log_reader *r, const struct log_item *index, size_t *n)
{
	const struct log_block *b;

	if (r->view)
		return log_view_list(r->view, index, n);
	if (index->kind != LOG_INDEX) {
		size_t first = items_before(r->loose.p, r->loose.n, index->cell);

		*n = items_before(r->loose.p, r->loose.n, log_span_end(index->cell, 1)) - first;
		return r->loose.p + first;
	}
	b = log_cache_find(&r->caches[LOG_LISTS], index->at);
	if (!b)
		b = read_list(r, index);
	*n = b ? b->n : 0;
	return b ? (const struct log_item *)(const void *)b->records : NULL;
}

uint64_t log_rows_before(struct log_reader *r, enum tier tier, int64_t cell)
{
	const struct log_items *groups = &r->levels[1];
	size_t g = items_before(groups->p, groups->n, cell), n, i;
	const struct log_item *group = g > 0 ? &groups->p[g - 1] : NULL, *items;
	uint64_t rows;

	if (!group)
		return 0;
	if (cell >= log_span_end(group->cell, 1))
		return group->before[tier] + group->rows[tier];
	items = log_list_of(r, group, &n);
	i = items_before(items, n, cell);
	rows = i > 0 ? items[i - 1].before[tier] + items[i - 1].rows[tier] : 0;
	return group->before[tier] + (rows < group->rows[tier] ? rows : group->rows[tier]);
}

/* --- decoded rows --- */

void log_tree_free(struct log_reader *r)
{
	for (int level = 0; level <= LOG_LEVELS; level++)
		free(r->levels[level].p);
	free(r->roots.p);
	free(r->loose.p);
	free(r->marked.p);
	log_bytes_free(&r->events);
	memset(r->levels, 0, sizeof(r->levels));
	r->roots = r->loose = r->marked = (struct log_items) {.n = 0};
	for (int i = 0; i < LOG_CACHES; i++)
		log_cache_clear(&r->caches[i]);
}

/* Allocates a block of n rows, with `bytes` more bytes after block->arrays. */
static struct log_block *block_add(struct log_reader *r, enum tier tier, uint64_t at, size_t n, size_t bytes)
{
	size_t width = r->session.width[tier];
	struct log_block *b =
		log_cache_add(&r->caches[tier == TIER_FAST ? LOG_FAST_ROWS : LOG_ROWS], at * 4 + tier, n, n * width, width * sizeof(*b->arrays) + bytes);

	if (!b)
		return NULL;
	b->n = (uint32_t)n;
	b->arrays = (struct log_array *)(void *)b->records;
	return b;
}

const double *log_block_values(struct log_block *b, unsigned column)
{
	struct log_array *a = &b->arrays[column];
	double *v = b->values + (size_t)column * b->n;

	if (a->p)
		log_array_get(a->p, a->kind, b->n, v);
	a->p = NULL;
	return v;
}

/* Fills a block with lost rows: times at the beginning of the cell, no values. */
static void block_lose(struct log_reader *r, enum tier tier, struct log_block *b, int64_t after_ns)
{
	int64_t t = log_cell_ns(b->cell);
	int64_t last = t + (INT64_C(1) << LOG_CELL_ZOOM) - 1;

	for (uint32_t i = 0; i < b->n; i++) {
		t = t > after_ns ? t : after_ns < last ? after_ns + 1 : last;
		b->t_ns[i] = after_ns = t;
	}
	for (size_t i = 0; i < (size_t)b->n * r->session.width[tier]; i++)
		b->values[i] = (double)NAN;
	memset(b->arrays, 0, r->session.width[tier] * sizeof(*b->arrays));
}

/* Finds the section of a tier. Returns false if the chunk is damaged. */
static bool section_of(struct log_reader *r, const struct log_item *item, enum tier tier, struct log_head *h,
		       struct log_section *out)
{
	struct log_section s;
	struct log_in in;
	bool again = r->raw_of.stored > 0 && r->raw_at == item->at && r->sections_at == item->at;
	int got = 1;

	if (!log_read_chunk(r, item, h, &r->raw))
		return false;
	if (!again) {
		in = (struct log_in) {r->raw.p, r->raw.p + r->raw.n, false};
		memset(r->sections, 0, sizeof(r->sections));
		while ((got = log_data_next(&in, &s)) > 0)
			if (s.tier < TIERS && r->sections[s.tier].n == 0)
				r->sections[s.tier] = s;
		r->sections_at = got == 0 ? item->at : UINT64_MAX;
	}
	*out = r->sections[tier];
	return r->sections_at == item->at && out->n > 0 && out->n == item->rows[tier];
}

static struct log_block *block_read(struct log_reader *r, const struct log_item *item, enum tier tier,
				    int64_t after)
{
	size_t n = item->rows[tier], width = r->session.width[tier];
	const struct log_generation *g = NULL;
	struct log_section s;
	struct log_head h;
	struct log_block *b;
	bool good = item->kind && section_of(r, item, tier, &h, &s);

	if (good)
		g = log_generation_find(r, h.generation);
	b = block_add(r, tier, item->at, n, good ? s.size : 0);
	if (!b)
		return NULL;
	b->cell = item->cell;
	if (g && log_section_times(&s, item->cell, b->t_ns) == 0 && b->t_ns[0] > after) {
		if (!log_section_arrays(&s, g->column[tier], g->width[tier], width,
					(uint8_t *)(b->arrays + width), b->arrays))
			log_note(r, LOG_FAULT_COLUMN, item->at, h.seq, item->cell, 0);
		return b;
	}
	if (item->kind)
		log_note(r, good && !g ? LOG_FAULT_CHANNELS : LOG_FAULT_CONTENT, item->at, h.seq, item->cell, n);
	block_lose(r, tier, b, after);
	return b;
}

/* Returns the rows of a chunk, or NULL if out of memory. Those before it in the same cell are read first,
 * because its times are valid only if they are later. */
static struct log_block *block_get(struct log_reader *r, const struct log_item *items, size_t i, enum tier tier)
{
	struct log_block *b = log_cache_find(&r->caches[tier == TIER_FAST ? LOG_FAST_ROWS : LOG_ROWS], items[i].at * 4 + tier);
	int64_t after = INT64_MIN;
	size_t j = i;

	if (b)
		return b;
	if (items[i].open)
		return log_view_block(r->view, &items[i], tier);
	for (size_t k = i; !b && k-- > 0 && items[k].cell == items[i].cell;)
		if (items[k].rows[tier] > 0) {
			b = log_cache_find(&r->caches[tier == TIER_FAST ? LOG_FAST_ROWS : LOG_ROWS], items[k].at * 4 + tier);
			after = b ? b->t_ns[b->n - 1] : after;
			j = b ? j : k;
		}
	for (b = NULL; j <= i; j++) {
		if (items[j].rows[tier] == 0)
			continue;
		b = block_read(r, &items[j], tier, after);
		if (!b)
			return NULL;
		after = b->t_ns[b->n - 1];
	}
	return b;
}

/* Returns the last item that begins at or before that row. */
static size_t item_of_row(const struct log_item *items, size_t n, enum tier tier, uint64_t row)
{
	size_t lo = 0, hi = n;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (items[mid].before[tier] <= row)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

int64_t log_cell_of_row(struct log_reader *r, enum tier tier, uint64_t row)
{
	const struct log_items *groups = &r->levels[1];
	const struct log_item *group = &groups->p[item_of_row(groups->p, groups->n, tier, row)], *items;
	size_t n;

	items = log_list_of(r, group, &n);
	return n > 0 ? items[item_of_row(items, n, tier, row - group->before[tier])].cell : group->cell;
}

struct log_block *log_block_of(struct log_reader *r, enum tier tier, uint64_t row, uint64_t *first)
{
	const struct log_items *groups = &r->levels[1];
	const struct log_item *group = &groups->p[item_of_row(groups->p, groups->n, tier, row)], *items;
	size_t n, i;

	items = log_list_of(r, group, &n);
	i = item_of_row(items, n, tier, row - group->before[tier]);
	if (n == 0 || row - group->before[tier] - items[i].before[tier] >= items[i].rows[tier])
		return NULL;
	*first = group->before[tier] + items[i].before[tier];
	return block_get(r, items, i, tier);
}
