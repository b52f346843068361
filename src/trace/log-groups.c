/* Finds the groups of a log and their chunks. The newest INDEX leads to those before it; what none of them lists is
 * found by a scan of the heads. Where a chain of INDEX chunks ends and bytes come before, as when several files were
 * concatenated, the newest INDEX of those bytes leads on. */
#include <stdlib.h>
#include <string.h>

#include "trace/log-lod.h"
#include "trace/log-tree.h"

#define HOLES	4096	    /* files that begin after a missing one */
#define ITEMS	(4 << 20)	    /* chunks, enough for some days without an INDEX */
#define BACK	(UINT64_C(64) << 10) /* bytes at the end first searched for an INDEX, */
#define FURTHER (UINT64_C(1) << 20)  /* and then at a time */

/* --- scan --- */

void log_items_add(struct log_items *items, const struct log_item *item)
{
	if (items->n == items->room) {
		size_t room = items->room ? 2 * items->room : 64;
		struct log_item *p = room <= ITEMS ? reallocarray(items->p, room, sizeof(*p)) : NULL;

		if (!p) {
			items->failed = true;
			return;
		}
		items->p = p;
		items->room = room;
	}
	items->p[items->n++] = *item;
}

static bool head_at(struct trace *r, uint64_t at, struct log_head *h)
{
	const uint8_t *p = r->source->get(r->source, at, LOG_HEAD);

	return p && log_head_get(p, h);
}

/* Notes the bytes after the last chunk: an unfinished chunk, or another recording. */
static void note_tail(struct trace *r, uint64_t at, int64_t cell)
{
	uint64_t other = log_source_find(r->source, 0, at, r->size);
	struct log_head h;

	while (head_at(r, other, &h) && h.session == r->id)
		other = log_source_find(r->source, 0, other + 1, r->size);
	r->tail.torn = r->size - at;
	r->tail.other = other + LOG_HEAD <= r->size ? r->size - other : 0;
	if (r->tail.other && log_note(r, LOG_FAULT_OTHER, at, LOG_SEQ_NONE, cell, 0))
		r->damage.bytes += r->tail.other;
}

void log_note_hole(struct trace *r, uint64_t bytes, uint64_t at, uint64_t seq, uint64_t next, int64_t cell)
{
	uint64_t missing = next > seq + 1 ? next - seq - 1 : 0;

	if ((missing == 0 && bytes == 0) || !log_note(r, missing ? LOG_FAULT_SEQ : LOG_FAULT_BYTES, at - bytes,
						      missing ? seq + 1 : LOG_SEQ_NONE, cell, 0))
		return;
	r->damage.bytes += bytes;
	r->damage.chunks += missing ? missing - 1 : 0;
}

int64_t log_part_at(struct trace *r, uint64_t at)
{
	struct log_in in, record;
	struct log_item meta;
	struct log_head h;
	unsigned tag;

	if (!head_at(r, at, &h) || h.session != r->id || h.kind != LOG_META)
		return -1;
	meta = (struct log_item) {.at = at, .stored = h.stored, .kind = LOG_META, .cell = h.cell};
	if (!log_read_chunk(r, &meta, &h, &r->raw_index))
		return -1;
	in = (struct log_in) {r->raw_index.p, r->raw_index.p + r->raw_index.n, false};
	while (log_get_tagged(&in, &tag, &record))
		if (tag == LOG_TAG_PART && record.end - record.p >= 4)
			return log_get_u32(&record);
	return -1;
}

/* Whether another file than that at *file begins with the chunk at that position. Chunks that are missing before it are
 * in no file, which is noted. */
static bool file_begins(struct trace *r, uint64_t *file, uint64_t at, const struct log_head *h, uint64_t seq)
{
	int64_t part = h->kind == LOG_META ? log_part_at(r, *file) : -1, next = part >= 0 ? log_part_at(r, at) : -1, *more;
	bool known = r->quiet || next <= part || h->seq <= seq + 1;

	for (size_t i = 0; i < r->n_holes; i++)
		known |= r->holes[i] == h->cell;
	more = known || r->n_holes == HOLES ? NULL : reallocarray(r->holes, r->n_holes + 1, sizeof(*more));
	if (more) {
		r->holes = more;
		more[r->n_holes++] = h->cell;
		r->absent += (uint64_t)(next - part - 1);
	}
	if (next > part)
		*file = at;
	return next > part;
}

void log_scan(struct trace *r, uint64_t from, uint64_t to, uint64_t file, struct log_items *items)
{
	uint64_t seq = LOG_SEQ_NONE, before = LOG_SEQ_NONE, at;
	bool ended = false;
	int64_t cell = log_cell(r->session.start.mono_ns);
	size_t known = items->n;
	struct log_chunks c;
	struct log_head h;

	log_chunks_begin(&c, r->source, r->id, from, to);
	while (!items->failed && log_chunks_next(&c, &h, &at)) {
		if (c.cut) {
			items->n -= items->n > known && items->p[items->n - 1].at + LOG_HEAD + items->p[items->n - 1].stored > at;
			seq = before;
		}
		if (seq != LOG_SEQ_NONE && (!(ended || c.skipped || c.cut || h.seq > seq + 1) || !file_begins(r, &file, at, &h, seq)))
			log_note_hole(r, c.skipped, at, seq, h.seq, cell);
		if (seq != LOG_SEQ_NONE && h.seq <= seq) {
			log_note(r, LOG_FAULT_ORDER, at, h.seq, h.cell, 0);
			continue;
		}
		before = seq;
		seq = h.seq;
		ended = h.kind == LOG_END;
		cell = h.cell;
		if (h.version != LOG_VERSION || h.kind == 0 || h.kind >= LOG_KINDS) {
			r->newer |= h.flags & LOG_CRITICAL;
			log_note_newer(r, &h, at, 0);
			continue;
		}
		if (h.generation > r->newest)
			r->newest = h.generation;
		log_items_add(items, &(struct log_item) {.at = at, .stored = h.stored, .kind = h.kind, .cell = h.cell});
	}
	if (to == r->size && c.end < to)
		note_tail(r, c.end, cell);
	if (to < r->size && seq != LOG_SEQ_NONE && head_at(r, to, &h) && h.session == r->id && h.seq > seq + 1)
		file_begins(r, &file, to, &h, seq);
}

/* --- INDEX --- */

/* Positions instead of distances. */
struct groups_index {
	uint64_t at;
	uint64_t first; /* lowest position of a chunk of its groups */
	uint64_t begin, before, rest; /* before: 0 if it is the first one */
	size_t n_groups, n_sums; /* that were known before */
};

/* Whether there are at most twice the rows, plus 1000, that the rates of the tiers yield in a group. */
static bool rows_fit(const struct trace *r, const uint32_t rows[TIERS])
{
	double span_s = (double)(INT64_C(1) << (LOG_CELL_ZOOM + LOG_SPAN_BITS)) / 1e9;

	for (int t = 0; t < TIERS; t++)
		if (rows[t] > 2 * r->session.hz[t] * span_s + 1000)
			return false;
	return true;
}

static bool cell_good(int64_t cell, int level)
{
	return cell < LOG_CELL_LIMIT && cell > -LOG_CELL_LIMIT && cell == log_span_cell(log_span(cell, level), level);
}

static bool take_group(struct trace *r, struct groups_index *x, struct log_in in, bool events_known)
{
	struct log_group_entry e;
	struct log_group g;

	log_group_entry_get(&in, &e);
	g = (struct log_group) {.cell = e.cell, .at = x->at - e.first, .length = e.length, .flags = (uint8_t)e.flags};
	if (events_known)
		g.flags &= (uint8_t)~LOG_GROUP_EVENTS;
	g.sums = e.sums ? x->at - e.sums : 0;
	memcpy(g.rows, e.rows, sizeof(g.rows));
	if (e.first == 0 || e.first > x->at - x->begin || e.length > e.first || e.sums >= e.first ||
	    !rows_fit(r, g.rows) || !cell_good(e.cell, 1) ||
	    (r->n_groups > x->n_groups && r->groups[r->n_groups - 1].cell >= e.cell))
		return false;
	x->first = g.at < x->first ? g.at : x->first;
	r->groups[r->n_groups++] = g;
	return true;
}

static bool take_sums(struct trace *r, const struct groups_index *x, struct log_in in)
{
	struct log_sums_entry e;

	log_sums_entry_get(&in, &e);
	if (e.distance == 0 || e.distance > x->at - x->begin || e.level < 2 || e.level > LOG_LEVELS ||
	    !cell_good(e.cell, (int)e.level))
		return false;
	r->sums[r->n_sums++] = (struct log_sums) {x->at - e.distance, x->begin, e.cell, (int)e.level};
	return true;
}

/* Returns n entries, which are shuffled, in order; to be freed. */
static uint8_t *plain(struct log_in *in, size_t n, size_t size)
{
	const uint8_t *p = log_in_take(in, n * size);
	uint8_t *to = p ? malloc(n * size + 1) : NULL;

	if (to)
		log_unshuffle(to, p, n, size);
	return to;
}

static bool take_entries(struct trace *r, struct groups_index *x, const struct log_index_head *h, struct log_in *in)
{
	uint8_t *groups = plain(in, h->groups, h->size), *sums = plain(in, h->sums, LOG_SUMS_SIZE), *p;
	struct log_group *g = reallocarray(r->groups, r->n_groups + h->groups + 1, sizeof(*g));
	struct log_sums *s = reallocarray(r->sums, r->n_sums + h->sums + 1, sizeof(*s));
	bool good = groups && sums && g && s;

	r->groups = g ? g : r->groups;
	r->sums = s ? s : r->sums;
	for (uint32_t i = 0; good && i < h->groups; i++) {
		p = groups + (size_t)i * h->size;
		good = take_group(r, x, (struct log_in) {p, p + h->size, false}, !(h->flags & LOG_INCOMPLETE));
	}
	for (uint32_t i = 0; good && i < h->sums; i++) {
		p = sums + (size_t)i * LOG_SUMS_SIZE;
		good = take_sums(r, x, (struct log_in) {p, p + LOG_SUMS_SIZE, false});
	}
	free(groups);
	free(sums);
	return good;
}

/* Takes what the INDEX at that position says. Returns false if it is not there, or cannot be used. */
static bool take_index(struct trace *r, uint64_t at, struct groups_index *x)
{
	struct log_index_head h;
	struct log_head head;
	struct log_item item;
	struct log_in in;
	bool good;

	if (at < r->begin || !head_at(r, at, &head) || head.session != r->id || head.kind != LOG_INDEX ||
	    head.stored > r->size - at - LOG_HEAD)
		return false;
	item = (struct log_item) {.at = at, .stored = head.stored, .kind = LOG_INDEX, .cell = head.cell};
	if (!log_read_chunk(r, &item, &head, &r->raw_index))
		return false;
	in = (struct log_in) {r->raw_index.p, r->raw_index.p + r->raw_index.n, false};
	log_index_head_get(&in, &h);
	if (in.bad || h.size < LOG_GROUP_SIZE || h.groups > r->raw_index.n / h.size ||
	    h.sums > r->raw_index.n / LOG_SUMS_SIZE || h.begin > at - r->begin || h.before > h.begin || h.rest > h.begin)
		return false;
	*x = (struct groups_index) {at, at, at - h.begin, at - h.before, at - h.rest, r->n_groups, r->n_sums};
	if (h.before == 0)
		x->before = 0;
	if (h.rest == 0)
		x->rest = at + LOG_HEAD + head.stored;
	good = take_entries(r, x, &h, &in);
	/* If bytes are lost before it, its distances are wrong. */
	if (good && h.groups > 0)
		good = head_at(r, x->first, &head) && head.session == r->id;
	if (good) {
		log_events_put(r, LOG_INDEX, in);
	} else {
		r->n_groups = x->n_groups;
		r->n_sums = x->n_sums;
	}
	return good;
}

/* Takes the newest INDEX before `to` that can be used. */
static bool take_newest(struct trace *r, uint64_t to, struct groups_index *x)
{
	uint64_t found[64];
	size_t n = 0;

	for (uint64_t step = BACK, from; to > r->begin; to = from, step = FURTHER) {
		uint64_t end = r->size - to < LOG_HEAD ? r->size : to + LOG_HEAD - 1;
		const uint8_t *p;

		from = to - r->begin > step ? to - step : r->begin;
		p = r->source->get(r->source, from, (size_t)(end - from));
		for (size_t at = 0, left = (size_t)(end - from), skip; p && left >= LOG_HEAD; at++, left--) {
			skip = log_find(p + at, left, r->id);
			at += skip;
			left -= skip;
			if (left >= LOG_HEAD && p[at + 4] == LOG_INDEX)
				found[n++ % 64] = from + at;
		}
		for (size_t i = n; i-- > 0 && i + 64 >= n;)
			if (take_index(r, found[i % 64], x))
				return true;
		n = 0;
	}
	return false;
}

/* --- lists --- */

static int by_cell(const void *a, const void *b)
{
	const struct log_item *i = a, *j = b;

	if (i->cell != j->cell)
		return i->cell < j->cell ? -1 : 1;
	return (i->at > j->at) - (i->at < j->at);
}

/* Makes a list of sorted items in `to` or, if that is NULL, in new memory. */
static struct log_list *list_make(struct log_list *to, const struct log_item *p, size_t n)
{
	struct log_list *l = to ? to : malloc(sizeof(*l) + n * sizeof(*p));

	if (!l)
		return NULL;
	*l = (struct log_list) {.n = n, .last_ns = {INT64_MIN, INT64_MIN, INT64_MIN}};
	if (n > 0)
		memcpy(l->items, p, n * sizeof(*p));
	return l;
}

bool log_rows_count(struct trace *r, const struct log_list *l, struct log_item *item)
{
	enum log_fault fault = LOG_FAULT_NONE;
	uint64_t rows = 0;
	struct log_head h;

	if (!log_read_chunk(r, item, &h, &r->raw))
		return false;
	if (!log_generation_find(r, h.generation))
		fault = LOG_FAULT_CHANNELS;
	for (int t = 0; t < TIERS; t++) {
		item->rows[t] = r->data.sections[t].n;
		rows += item->rows[t];
		if (item->rows[t] > 0 && r->data.sections[t].first <= l->last_ns[t])
			fault = LOG_FAULT_ORDER;
		else if (l->listed && l->rows[t] + item->rows[t] > l->due[t])
			fault = LOG_FAULT_CONTENT;
	}
	if (fault)
		log_note(r, fault, item->at, h.seq, item->cell, rows);
	return !fault;
}

/* What an INDEX counts and no chunk has is at the end, without values. */
static void rows_miss(struct trace *r, const struct log_list *l, struct log_item *item)
{
	uint64_t missing = 0;

	for (int t = 0; t < TIERS; t++) {
		item->rows[t] = (uint32_t)(l->due[t] - l->rows[t]);
		missing += item->rows[t];
	}
	if (missing > 0 && r->damage.first == LOG_FAULT_NONE)
		log_note(r, LOG_FAULT_SEQ, l->items[0].at, LOG_SEQ_NONE, item->cell, missing);
	else if (!r->quiet)
		r->damage.rows += missing;
}

static void list_count(struct trace *r, struct log_list *l, size_t to)
{
	for (; l->counted < to; l->counted++) {
		struct log_item *item = &l->items[l->counted];

		memcpy(item->before, l->rows, sizeof(item->before));
		if (item->kind == LOG_DATA && !item->bytes && !log_rows_count(r, l, item)) {
			item->kind = 0;
			memset(item->rows, 0, sizeof(item->rows));
		}
		if (l->listed && l->counted + 1 == l->n)
			rows_miss(r, l, item);
		for (int t = 0; t < TIERS; t++) {
			l->rows[t] += item->rows[t];
			if (item->kind && !item->bytes && item->rows[t] > 0)
				l->last_ns[t] = r->data.end_ns[t];
		}
	}
}

/* Adds the chunks of a group to items. */
static void group_items(struct trace *r, const struct log_group *g, struct log_items *items)
{
	size_t kept = items->n;

	if (!g->list)
		log_scan(r, g->at, g->at + g->length, g->at, items);
	for (size_t i = 0; g->list && i < g->list->n; i++)
		log_items_add(items, &g->list->items[i]);
	for (size_t i = kept; i < items->n; i++)
		if (log_of_group(items->p[i].kind) && log_span(items->p[i].cell, 1) == log_span(g->cell, 1))
			items->p[kept++] = items->p[i];
	items->n = kept;
}

struct log_list *log_list_of(struct trace *r, const struct log_group *g)
{
	uint64_t key = r->view ? (uint64_t)g->cell : g->at;
	struct log_block *b = g->list ? NULL : log_cache_find(&r->caches[LOG_LISTS], key);
	struct log_items items = {.n = 0};
	struct log_list *l = NULL;

	if (g->list)
		return g->list;
	if (b)
		return (struct log_list *)(void *)b->records;
	if (r->view)
		log_view_items(r->view, g, &items);
	else
		group_items(r, g, &items);
	if (items.n > 1)
		qsort(items.p, items.n, sizeof(*items.p), by_cell);
	log_items_add(&items, &(struct log_item) {.at = UINT64_MAX, .cell = items.n ? items.p[items.n - 1].cell : g->cell});
	if (!items.failed)
		b = log_cache_add(&r->caches[LOG_LISTS], key, 0, 0, sizeof(*l) + items.n * sizeof(*items.p));
	if (b) {
		l = list_make((struct log_list *)(void *)b->records, items.p, items.n);
		l->listed = !r->view;
		memcpy(l->due, g->rows, sizeof(l->due));
	}
	free(items.p);
	return l;
}

/* --- groups --- */

static int by_group(const void *a, const void *b)
{
	const struct log_group *g = a, *h = b;

	if (g->cell != h->cell)
		return g->cell < h->cell ? -1 : 1;
	return (g->at > h->at) - (g->at < h->at);
}

/* Takes the chunks in [from, to), apart from those before `at` and that cell: an INDEX lists them. */
static void take_scanned(struct trace *r, uint64_t from, uint64_t to, uint64_t file, uint64_t at, int64_t cell,
			 struct log_items *loose)
{
	struct log_items items = {.n = 0};

	log_scan(r, from, to, file, &items);
	for (size_t i = 0; i < items.n; i++) {
		const struct log_item *item = &items.p[i];

		if (item->kind == LOG_END && i + 1 == items.n && to == r->size)
			r->end = *item;
		if (item->kind == LOG_META)
			log_meta_new(r, item);
		if (item->kind != LOG_INDEX && item->kind != LOG_END && (item->at > at || item->cell >= cell))
			log_items_add(loose, item);
	}
	loose->failed |= items.failed;
	free(items.p);
}

/* Makes a group of n chunks of one span. */
static bool make_group(struct trace *r, struct log_item *items, size_t n)
{
	struct log_group g = {.cell = log_span_cell(log_span(items[0].cell, 1), 1), .at = UINT64_MAX};
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		bool sums = !log_of_group(items[i].kind);

		if (sums && (g.sums == 0 || items[i].at < g.sums))
			g.sums = items[i].at;
		if (sums)
			continue;
		g.at = items[i].at < g.at ? items[i].at : g.at;
		g.flags |= items[i].kind == LOG_RANGE ? LOG_GROUP_RANGES : 0;
		g.flags |= log_has_events(items[i].kind) ? LOG_GROUP_EVENTS : 0;
		items[kept++] = items[i];
	}
	/* They are of a part of the group if rows follow them, as where files were concatenated. */
	for (size_t i = 0; i < kept; i++)
		g.sums = items[i].kind == LOG_DATA && items[i].at > g.sums ? 0 : g.sums;
	g.list = kept ? list_make(NULL, items, kept) : NULL;
	if (g.list)
		r->groups[r->n_groups++] = g;
	return g.list || kept == 0;
}

static bool make_groups(struct trace *r, struct log_items *loose)
{
	struct log_group *more;
	size_t n = 0;
	bool good = true;

	if (loose->n > 1)
		qsort(loose->p, loose->n, sizeof(*loose->p), by_cell);
	for (size_t i = 0; i < loose->n; i++)
		n += i == 0 || log_span(loose->p[i].cell, 1) != log_span(loose->p[i - 1].cell, 1);
	more = reallocarray(r->groups, r->n_groups + n + 1, sizeof(*more));
	r->groups = more ? more : r->groups;
	for (size_t i = 0, end = 0; good && more && i < loose->n; i = end) {
		while (end < loose->n && log_span(loose->p[end].cell, 1) == log_span(loose->p[i].cell, 1))
			end++;
		good = make_group(r, loose->p + i, end - i);
	}
	return good && more;
}

/* Makes one group of two of the same span, as there are where files were concatenated. */
static bool join(struct trace *r, struct log_group *to, const struct log_group *from)
{
	struct log_items items = {.n = 0};
	struct log_list *l;

	group_items(r, to, &items);
	group_items(r, from, &items);
	if (items.n > 1)
		qsort(items.p, items.n, sizeof(*items.p), by_cell);
	l = items.failed ? NULL : list_make(NULL, items.p, items.n);
	free(items.p);
	if (!l)
		return false;
	free(to->list);
	free(from->list);
	to->list = l;
	to->flags |= from->flags;
	to->sums = 0;
	return true;
}

static bool count_groups(struct trace *r)
{
	size_t kept = 0;
	bool good = true;

	if (r->n_groups > 1)
		qsort(r->groups, r->n_groups, sizeof(*r->groups), by_group);
	for (size_t i = 0; i < r->n_groups; i++)
		if (kept > 0 && r->groups[kept - 1].cell == r->groups[i].cell)
			good &= join(r, &r->groups[kept - 1], &r->groups[i]);
		else
			r->groups[kept++] = r->groups[i];
	r->n_groups = kept;
	for (size_t i = 0; i < kept; i++) {
		struct log_group *g = &r->groups[i];

		if (g->list)
			list_count(r, g->list, g->list->n);
		for (int t = 0; t < TIERS; t++) {
			if (g->list)
				g->rows[t] = (uint32_t)g->list->rows[t];
			g->before[t] = r->rows[t];
			r->rows[t] += g->rows[t];
		}
	}
	return good;
}

/* The number of groups that begin before the cell. */
static size_t groups_before(const struct trace *r, int64_t cell)
{
	return times_from(r->groups, r->n_groups, sizeof(*r->groups), offsetof(struct log_group, cell), cell);
}

static int by_span(const void *a, const void *b)
{
	const struct log_sums *s = a, *t = b;

	if (s->level != t->level)
		return s->level - t->level;
	return (s->cell > t->cell) - (s->cell < t->cell);
}

/* Drops LOD and STAT of a part of their span, as where files were concatenated. */
static void drop_partial(struct trace *r)
{
	size_t kept = 0;

	if (r->n_sums > 1)
		qsort(r->sums, r->n_sums, sizeof(*r->sums), by_span);
	for (size_t i = 0; i < r->n_sums; i++) {
		const struct log_sums *s = &r->sums[i];
		bool whole = (i == 0 || by_span(s - 1, s) != 0) && (i + 1 == r->n_sums || by_span(s, s + 1) != 0);

		for (size_t g = groups_before(r, s->cell); g < r->n_groups && r->groups[g].cell < log_span_end(s->cell, (unsigned)s->level); g++)
			whole &= r->groups[g].at >= s->begin && r->groups[g].at < s->at;
		if (whole)
			r->sums[kept++] = *s;
	}
	r->n_sums = kept;
}

int log_groups_read(struct trace *r)
{
	struct log_items loose = {.n = 0};
	uint64_t known = r->size, before = r->size; /* what is from there on; the next INDEX is before that */
	struct groups_index x = {.before = 0};
	bool good;

	while (known > r->begin) {
		bool found = (x.before && take_index(r, x.before, &x)) || take_newest(r, before, &x);
		bool lists = found && r->n_groups > x.n_groups;
		/* From the INDEX itself, as it is the last chunk before a file that begins behind it. */
		uint64_t from = !found ? r->begin : x.rest < x.at ? x.rest : x.at;

		if (from < known)
			take_scanned(r, from, known, found ? x.begin : from, lists ? x.at : 0,
				     lists ? log_span_end(r->groups[r->n_groups - 1].cell, 1) : INT64_MIN, &loose);
		if (!found)
			break;
		known = x.first < known ? x.first : known;
		before = x.before ? x.at : x.first;
	}
	good = !loose.failed && make_groups(r, &loose) && count_groups(r);
	drop_partial(r);
	free(loose.p);
	return good ? 0 : -1;
}

void log_groups_free(struct trace *r)
{
	for (size_t i = 0; i < r->n_groups; i++)
		free(r->groups[i].list);
	free(r->groups);
	free(r->sums);
}

/* --- what is asked for --- */

const struct log_group *log_group_of(const struct trace *r, int64_t cell)
{
	size_t i = groups_before(r, cell + 1);

	return i > 0 && log_span(r->groups[i - 1].cell, 1) == log_span(cell, 1) ? &r->groups[i - 1] : NULL;
}

uint64_t log_rows_before(struct trace *r, enum tier tier, int64_t cell)
{
	size_t i = groups_before(r, cell);
	const struct log_group *g = i > 0 ? &r->groups[i - 1] : NULL;
	struct log_list *l;

	if (!g)
		return r->n_groups > 0 ? r->groups[0].before[tier] : r->rows[tier];
	if (cell >= log_span_end(g->cell, 1))
		return g->before[tier] + g->rows[tier];
	l = log_list_of(r, g);
	if (!l)
		return g->before[tier];
	i = times_from(l->items, l->n, sizeof(*l->items), offsetof(struct log_item, cell), cell);
	list_count(r, l, i);
	return g->before[tier] + (i < l->counted ? l->items[i].before[tier] : l->rows[tier]);
}

const struct log_item *log_item_of_row(struct trace *r, enum tier tier, uint64_t row, uint64_t *first)
{
	size_t lo = 0, hi = r->n_groups;
	const struct log_group *g;
	struct log_list *l;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		*(r->groups[mid].before[tier] <= row ? &lo : &hi) = mid;
	}
	g = &r->groups[lo];
	l = lo < r->n_groups && row >= g->before[tier] ? log_list_of(r, g) : NULL;
	if (!l)
		return NULL;
	row -= g->before[tier];
	while (l->counted < l->n && l->rows[tier] <= row)
		list_count(r, l, l->counted + 1);
	for (lo = 0, hi = l->counted; hi - lo > 1;) {
		size_t mid = lo + (hi - lo) / 2;

		*(l->items[mid].before[tier] <= row ? &lo : &hi) = mid;
	}
	*first = g->before[tier] + l->items[lo].before[tier];
	return row - l->items[lo].before[tier] < l->items[lo].rows[tier] ? &l->items[lo] : NULL;
}

int64_t log_cell_of_row(struct trace *r, enum tier tier, uint64_t row)
{
	uint64_t first;
	const struct log_item *item = log_item_of_row(r, tier, row, &first);

	return item ? item->cell : LOG_CELL_LIMIT;
}

/* The place of LOD and STAT of the span of that level; 0: there are none. */
static uint64_t sums_at(const struct trace *r, int level, int64_t cell)
{
	const struct log_group *g = level == 1 ? log_group_of(r, cell) : NULL;
	struct log_sums key = {.level = level, .cell = log_span_cell(log_span(cell, level), level)}, *s;

	if (level == 1)
		return g ? g->sums : 0;
	s = r->n_sums > 0 ? bsearch(&key, r->sums, r->n_sums, sizeof(key), by_span) : NULL;
	return s ? s->at : 0;
}

/* Which of the LODs of a level has that zoom; -1: it is not there. Writers leave out the zooms that no tier has. */
static int lod_number(const struct trace *r, int level, int zoom)
{
	int number = 0;

	for (const uint8_t *z = log_zooms[level]; *z; z++) {
		bool any = false;

		for (int t = 0; t < TIERS; t++)
			any |= r->session.width[t] > 0 && log_zoom_has(*z, r->session.hz[t]);
		if (*z == zoom)
			return any ? number : -1;
		number += any;
	}
	return -1;
}

bool log_sums_of(struct trace *r, int level, int64_t cell, enum log_kind kind, int zoom, struct log_item *out)
{
	enum { MOST = 4 };
	uint64_t at = sums_at(r, level, cell);
	struct log_block *b = at ? log_cache_find(&r->caches[LOG_LISTS], ~at) : NULL;
	int number = kind == LOG_LOD ? lod_number(r, level, zoom) : 0;
	struct log_item *items;
	struct log_chunks c;
	struct log_head h;

	if (r->view)
		return log_view_sums(r->view, level, cell, kind, zoom, out);
	if (at == 0 || number < 0)
		return false;
	if (!b) {
		b = log_cache_add(&r->caches[LOG_LISTS], ~at, 0, 0, MOST * sizeof(*items));
		if (!b)
			return false;
		items = (struct log_item *)(void *)b->records;
		log_chunks_begin(&c, r->source, r->id, at, r->size);
		while (b->n < MOST && log_chunks_next(&c, &h, &at) && c.skipped == 0 && (h.kind == LOG_LOD || h.kind == LOG_STAT) &&
		       h.cell == log_span_cell(log_span(cell, level), level))
			items[b->n++] = (struct log_item) {.at = at, .stored = h.stored, .kind = h.kind, .cell = h.cell};
	}
	items = (struct log_item *)(void *)b->records;
	for (uint32_t i = 0; i < b->n; i++)
		if (items[i].kind == kind && number-- == 0) {
			*out = items[i];
			return true;
		}
	return false;
}
