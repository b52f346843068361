/* Finds the groups of a log and their chunks. The newest INDEX leads to those before it; what none of them lists is
 * found by a scan of the heads. Where a chain of INDEX chunks ends and bytes come before, as when several files were
 * concatenated, the newest INDEX of those bytes leads on. */
#include <stdlib.h>
#include <string.h>

#include "trace/log-lod.h"
#include "trace/log-read.h"
#include "util/array.h"

#define BACK	(UINT64_C(64) << 10) /* bytes at the end first searched for an INDEX, */
#define FURTHER (UINT64_C(1) << 20)  /* and then at a time */
#define SUMS_MOST 4		     /* LOD and STAT of a span */

/* --- INDEX --- */

/* Positions instead of distances. */
struct groups_index {
	uint64_t at;
	uint64_t first; /* lowest position of a chunk of its groups */
	uint64_t begin, before, rest; /* before: 0 if it is the first one */
	size_t n_groups, n_sums; /* that were known before */
	bool events; /* it has them */
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

static bool take_group(struct trace *r, struct groups_index *x, struct log_in in)
{
	struct log_group_entry e;
	struct log_group *g;

	log_group_entry_get(&in, &e);
	if (e.first == 0 || e.first > x->at - x->begin || e.length > e.first || e.sums >= e.first || !rows_fit(r, e.rows) ||
	    !cell_good(e.cell, 1) || (r->n_groups > x->n_groups && r->groups[r->n_groups - 1].cell >= e.cell))
		return false;
	g = array_add(&r->groups, &r->n_groups, sizeof(*g));
	if (!g)
		return false;
	*g = (struct log_group) {.cell = e.cell, .at = x->at - e.first, .length = e.length, .flags = (uint8_t)e.flags};
	g->flags &= (uint8_t) ~(x->events ? LOG_GROUP_EVENTS : 0);
	g->sums = e.sums ? x->at - e.sums : 0;
	memcpy(g->rows, e.rows, sizeof(g->rows));
	x->first = g->at < x->first ? g->at : x->first;
	return true;
}

static bool take_sums(struct trace *r, struct groups_index *x, struct log_in in)
{
	struct log_sums_entry e;
	struct log_sums *s;

	log_sums_entry_get(&in, &e);
	if (e.distance == 0 || e.distance > x->at - x->begin || e.level < 2 || e.level > LOG_LEVELS ||
	    !cell_good(e.cell, (int)e.level))
		return false;
	s = array_add(&r->sums, &r->n_sums, sizeof(*s));
	if (s)
		*s = (struct log_sums) {x->at - e.distance, x->begin, e.cell, (int)e.level};
	return s;
}

/* Takes n entries, which are shuffled. */
static bool take_entries(struct trace *r, struct groups_index *x, struct log_in *in, size_t n, size_t size,
			 bool (*take)(struct trace *r, struct groups_index *x, struct log_in in))
{
	const uint8_t *p = log_in_take(in, n * size);
	uint8_t *plain = p ? malloc(n * size + 1) : NULL;
	bool good = plain;

	if (plain)
		log_unshuffle(plain, p, n, size);
	for (size_t i = 0; good && i < n; i++)
		good = take(r, x, (struct log_in) {plain + i * size, plain + (i + 1) * size, false});
	free(plain);
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

	if (at < r->begin || !log_head_at(r, at, &head) || head.kind != LOG_INDEX ||
	    head.stored > r->size - at - LOG_HEAD)
		return false;
	item = (struct log_item) {.at = at, .stored = head.stored, .kind = LOG_INDEX, .cell = head.cell};
	if (!log_read_chunk(r, &item, &head))
		return false;
	in = (struct log_in) {r->raw.p, r->raw.p + r->raw.n, false};
	log_index_head_get(&in, &h);
	if (in.bad || h.size < LOG_GROUP_SIZE || h.groups > r->raw.n / h.size ||
	    h.sums > r->raw.n / LOG_SUMS_SIZE || h.begin > at - r->begin || h.before > h.begin || h.rest > h.begin)
		return false;
	*x = (struct groups_index) {.at = at, .first = at, .begin = at - h.begin, .n_groups = r->n_groups, .n_sums = r->n_sums};
	x->before = h.before ? at - h.before : 0;
	x->rest = h.rest ? at - h.rest : at + LOG_HEAD + head.stored;
	x->events = !(h.flags & LOG_INCOMPLETE);
	/* If bytes are lost before it, its distances are wrong. */
	good = take_entries(r, x, &in, h.groups, h.size, take_group) &&
	       take_entries(r, x, &in, h.sums, LOG_SUMS_SIZE, take_sums) && (h.groups == 0 || log_head_at(r, x->first, &head));
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
		size_t size, at = 0;
		const uint8_t *p;

		from = to - r->begin > step ? to - step : r->begin;
		size = (size_t)((r->size - to < LOG_HEAD ? r->size : to + LOG_HEAD - 1) - from);
		p = r->source->get(r->source, from, size);
		for (; p && (at += log_find(p + at, size - at, r->id)) + LOG_HEAD <= size; at++)
			if (p[at + 4] == LOG_INDEX)
				found[n++ % 64] = from + at;
		for (size_t i = n; i-- > 0 && i + 64 >= n;)
			if (take_index(r, found[i % 64], x))
				return true;
		n = 0;
	}
	return false;
}

/* --- lists --- */

static void groups_sort(void *list, size_t n, size_t each, int (*order)(const void *a, const void *b))
{
	if (n > 1)
		qsort(list, n, each, order);
}

static int by_cell(const void *a, const void *b)
{
	const struct log_item *i = a, *j = b;

	if (i->cell != j->cell)
		return i->cell < j->cell ? -1 : 1;
	return (i->at > j->at) - (i->at < j->at);
}

static struct log_list *list_fill(struct log_list *l, const struct log_item *p, size_t n)
{
	*l = (struct log_list) {.n = n, .last_ns = {INT64_MIN, INT64_MIN, INT64_MIN}};
	memcpy(l->items, p, n * sizeof(*p));
	return l;
}

bool log_rows_count(struct trace *r, const struct log_list *l, struct log_item *item)
{
	enum log_fault fault = LOG_FAULT_NONE;
	uint64_t rows = 0;
	struct log_head h;

	if (!log_read_chunk(r, item, &h))
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
	else
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

/* Adds the chunks of a group that an INDEX lists. */
static void group_items(struct trace *r, const struct log_group *g, struct log_items *items)
{
	size_t kept = items->n;

	log_scan(r, g->at, g->at + g->length, g->at, items);
	for (size_t i = kept; i < items->n; i++)
		if (log_of_group(items->p[i].kind) && log_span(items->p[i].cell, 1) == log_span(g->cell, 1))
			items->p[kept++] = items->p[i];
	items->n = kept;
}

struct log_list *log_list_of(struct trace *r, const struct log_group *g)
{
	struct log_block *b = g->list ? NULL : log_cache_find(&r->caches[LOG_LISTS], (uint64_t)g->cell);
	struct log_items items = {.n = 0};
	struct log_list *l = g->list;

	if (g->list || b)
		return g->list ? g->list : (struct log_list *)(void *)b->records;
	r->place->items(r, g, &items);
	groups_sort(items.p, items.n, sizeof(*items.p), by_cell);
	log_items_add(&items, &(struct log_item) {.at = UINT64_MAX, .cell = items.n ? items.p[items.n - 1].cell : g->cell});
	if (!items.failed)
		b = log_cache_add(&r->caches[LOG_LISTS], (uint64_t)g->cell, 0, 0, sizeof(*l) + items.n * sizeof(*items.p));
	if (b) {
		l = list_fill((struct log_list *)(void *)b->records, items.p, items.n);
		l->listed = r->source != NULL;
		memcpy(l->due, g->rows, sizeof(l->due));
	}
	free(items.p);
	return l;
}

/* --- groups --- */

static int by_group(const void *a, const void *b)
{
	const struct log_group *g = a, *h = b;

	return (g->cell > h->cell) - (g->cell < h->cell);
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
	struct log_group g = {.cell = log_span_cell(log_span(items[0].cell, 1), 1), .at = UINT64_MAX}, *to;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (!log_of_group(items[i].kind)) {
			g.sums = g.sums == 0 || items[i].at < g.sums ? items[i].at : g.sums;
			continue;
		}
		g.at = items[i].at < g.at ? items[i].at : g.at;
		g.flags |= items[i].kind == LOG_RANGE ? LOG_GROUP_RANGES : 0;
		g.flags |= items[i].kind == LOG_META ? LOG_GROUP_META : 0;
		g.flags |= log_has_events(items[i].kind) ? LOG_GROUP_EVENTS : 0;
		items[kept++] = items[i];
	}
	/* They are of a part of the group if rows follow them, as where files were concatenated. */
	for (size_t i = 0; i < kept; i++)
		g.sums = items[i].kind == LOG_DATA && items[i].at > g.sums ? 0 : g.sums;
	if (kept == 0)
		return true;
	g.list = malloc(sizeof(*g.list) + kept * sizeof(*items));
	to = g.list ? array_add(&r->groups, &r->n_groups, sizeof(*to)) : NULL;
	if (!to) {
		free(g.list);
		return false;
	}
	list_fill(g.list, items, kept);
	*to = g;
	return true;
}

/* Makes the groups of chunks that no INDEX lists. Where one lists others of the same span, as of files that were
 * concatenated, all of these are one group. */
static bool make_groups(struct trace *r, struct log_items *loose)
{
	size_t kept = 0, scanned = loose->n;
	int64_t before = INT64_MIN;
	bool good;

	groups_sort(r->groups, r->n_groups, sizeof(*r->groups), by_group);
	groups_sort(loose->p, scanned, sizeof(*loose->p), by_cell);
	for (size_t i = 0; i < r->n_groups; i++) {
		struct log_group g = r->groups[i];
		bool alone = g.cell != before && (i + 1 == r->n_groups || r->groups[i + 1].cell != g.cell);
		size_t k = times_from(loose->p, scanned, sizeof(*loose->p), offsetof(struct log_item, cell), g.cell);

		for (; alone && k < scanned && log_span(loose->p[k].cell, 1) == log_span(g.cell, 1); k++)
			alone = !log_of_group(loose->p[k].kind);
		before = g.cell;
		if (alone)
			r->groups[kept++] = g;
		else
			group_items(r, &g, loose);
	}
	r->n_groups = kept;
	groups_sort(loose->p, loose->n, sizeof(*loose->p), by_cell);
	good = !loose->failed;
	for (size_t i = 0, end = 0; good && i < loose->n; i = end) {
		while (end < loose->n && log_span(loose->p[end].cell, 1) == log_span(loose->p[i].cell, 1))
			end++;
		good = make_group(r, loose->p + i, end - i);
	}
	return good;
}

/* Counts the rows before each. */
static void count_groups(struct trace *r)
{
	groups_sort(r->groups, r->n_groups, sizeof(*r->groups), by_group);
	for (struct log_group *g = r->groups; g < r->groups + r->n_groups; g++) {
		if (g->list)
			list_count(r, g->list, g->list->n);
		for (int t = 0; t < TIERS; t++) {
			if (g->list)
				g->rows[t] = (uint32_t)g->list->rows[t];
			g->before[t] = r->rows[t];
			r->rows[t] += g->rows[t];
		}
	}
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

	groups_sort(r->sums, r->n_sums, sizeof(*r->sums), by_span);
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
	good = make_groups(r, &loose);
	count_groups(r);
	drop_partial(r);
	free(loose.p);
	return good ? 0 : -1;
}

/* --- what is asked for --- */

void log_groups_visit(struct trace *r, unsigned flag, void (*visit)(struct trace *r, const struct log_item *item))
{
	for (size_t g = 0; g < r->n_groups; g++) {
		const struct log_list *l = r->groups[g].flags & flag ? log_list_of(r, &r->groups[g]) : NULL;

		for (size_t i = 0; l && i < l->n; i++)
			visit(r, &l->items[i]);
	}
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

static const struct log_group *group_of_row(const struct trace *r, enum tier tier, uint64_t row)
{
	size_t i = times_from(r->groups, r->n_groups, sizeof(*r->groups),
			      offsetof(struct log_group, before) + tier * sizeof(uint64_t), (int64_t)row + 1);

	return i > 0 ? &r->groups[i - 1] : NULL;
}

int64_t log_group_of_row(const struct trace *r, enum tier tier, uint64_t row)
{
	const struct log_group *g = row < r->rows[tier] ? group_of_row(r, tier, row) : NULL;

	return g ? g->cell : LOG_CELL_LIMIT;
}

const struct log_item *log_item_of_row(struct trace *r, enum tier tier, uint64_t row, uint64_t *first)
{
	size_t of_tier = tier * sizeof(uint64_t), i;
	const struct log_group *g = group_of_row(r, tier, row);
	struct log_list *l = g ? log_list_of(r, g) : NULL;

	if (!l)
		return NULL;
	row -= g->before[tier];
	while (l->counted < l->n && l->rows[tier] <= row)
		list_count(r, l, l->counted + 1);
	i = times_from(l->items, l->counted, sizeof(*l->items), offsetof(struct log_item, before) + of_tier, (int64_t)row + 1) - 1;
	*first = g->before[tier] + l->items[i].before[tier];
	return row - l->items[i].before[tier] < l->items[i].rows[tier] ? &l->items[i] : NULL;
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
	struct log_sums key = {.level = level, .cell = log_span_cell(log_span(cell, level), level)}, *s;
	size_t i = groups_before(r, cell + 1);

	if (level == 1)
		return i > 0 && r->groups[i - 1].cell == key.cell ? r->groups[i - 1].sums : 0;
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

static bool sums_of(struct trace *r, int level, int64_t cell, enum log_kind kind, int zoom, struct log_item *out)
{
	int number = kind == LOG_LOD ? lod_number(r, level, zoom) : 0;
	uint64_t at = number < 0 ? 0 : sums_at(r, level, cell);
	struct log_chunks c;
	struct log_head h;

	if (at == 0)
		return false;
	log_chunks_begin(&c, r->source, r->id, at, r->size);
	for (int i = 0; i < SUMS_MOST && log_chunks_next(&c, &h, &at) && c.skipped == 0 && !log_of_group(h.kind) &&
			h.cell == log_span_cell(log_span(cell, level), level);
	     i++)
		if (h.kind == kind && number-- == 0) {
			*out = (struct log_item) {.at = at, .stored = h.stored, .kind = h.kind, .cell = h.cell};
			return true;
		}
	return false;
}

const struct log_place log_files_place = {.items = group_items, .sums = sums_of};
