/* Finds the chunk of a row or a time. The newest INDEX chunks are the roots of trees whose leaves are
 * DATA chunks; chunks behind them are found by a scan of the heads, and so are those that a damaged
 * INDEX lists. Nodes and decoded rows are read on demand and cached. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log-tree.h"

#define WINDOW	  ((size_t)256 << 10)
#define ITEMS	  (4 << 20)  /* without an INDEX: those of some days */
#define SAME_CELL 32	     /* chunks of one cell with rows of one tier */

/* --- scan --- */

struct log_item *log_items_add(struct log_items *items)
{
	if (items->n == items->room) {
		size_t room = items->room ? 2 * items->room : 256;
		struct log_item *p = room <= ITEMS ? reallocarray(items->p, room, sizeof(*p)) : NULL;

		if (!p) {
			items->failed = true;
			return NULL;
		}
		items->p = p;
		items->room = room;
	}
	items->p[items->n] = (struct log_item) {.at = 0};
	return &items->p[items->n++];
}

/* At least n bytes at that offset, or as many as there are up to `to`. Their number: *got. */
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

/* Offset of the next valid head of a session (0: any) in [at, to); `to` when there is none. */
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

/* The level of an INDEX is in its payload. */
static uint8_t index_level(struct log_reader *r, const struct log_item *item)
{
	struct log_head h;
	bool good, quiet = r->quiet;

	r->quiet = true;
	good = log_read_chunk(r, item, &h, &r->raw_index) && r->raw_index.n >= LOG_INDEX_HEAD &&
	       r->raw_index.p[0] >= 1 && r->raw_index.p[0] <= LOG_LEVELS &&
	       item->cell == log_span_cell(log_span(item->cell, r->raw_index.p[0]), r->raw_index.p[0]);
	r->quiet = quiet;
	return good ? r->raw_index.p[0] : 0;
}

/* False: it is of no use. */
static bool item_make(struct log_reader *r, const struct log_head *h, uint64_t at, struct log_item *item)
{
	*item = (struct log_item) {.at = at, .from = r->begin, .stored = h->stored, .kind = h->kind, .cell = h->cell};
	if (h->version != LOG_VERSION || h->kind == 0 || h->kind >= LOG_KINDS) {
		r->newer |= h->flags & LOG_CRITICAL;
		r->damage.unknown += !r->quiet;
		return false;
	}
	if (h->generation > r->newest)
		r->newest = h->generation;
	if (h->kind != LOG_INDEX)
		return true;
	item->aux = index_level(r, item);
	if (item->aux == 0)
		log_note(r, LOG_FAULT_SUM, at, h->seq, h->cell, 0);
	return item->aux > 0;
}

/* Bytes between chunks; missing sequence numbers belong to them. */
static void note_hole(struct log_reader *r, uint64_t at, uint64_t to, uint64_t *seq, uint64_t next, int64_t cell)
{
	uint64_t missing = next > *seq + 1 ? next - *seq - 1 : 0, first = missing ? *seq + 1 : LOG_SEQ_NONE;

	*seq += missing;
	if (!log_note(r, missing ? LOG_FAULT_SEQ : LOG_FAULT_BYTES, at, first, cell, 0))
		return;
	r->damage.bytes += to - at;
	r->damage.chunks += missing ? missing - 1 : 0;
}

/* Bytes behind the last chunk: the rest of one that was being written, or another recording. */
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

void log_scan(struct log_reader *r, uint64_t from, uint64_t to, struct log_items *items)
{
	uint64_t at = from, seq = LOG_SEQ_NONE;
	int64_t cell = log_cell(r->session.start.mono_ns);
	struct log_item item, *add;
	struct log_head h;

	r->window_n = 0;
	while (at < to && !items->failed) {
		if (!head_at(r, at, to, &h)) {
			uint64_t next = find_head(r, r->id, at + 1, to);

			while (next < to && !head_at(r, next, to, &h))
				next = find_head(r, r->id, next + 1, to);
			if (next < to && seq != LOG_SEQ_NONE)
				note_hole(r, at, next, &seq, h.seq, cell);
			if (next >= to && to == r->size)
				note_tail(r, at, cell);
			at = next;
			continue;
		}
		if (seq != LOG_SEQ_NONE && h.seq > seq + 1 && log_note(r, LOG_FAULT_SEQ, at, seq + 1, cell, 0))
			r->damage.chunks += h.seq - seq - 2;
		if (seq != LOG_SEQ_NONE && h.seq <= seq) {
			log_note(r, LOG_FAULT_ORDER, at, h.seq, h.cell, 0);
		} else {
			seq = h.seq;
			cell = h.cell;
			r->last = h;
			if (item_make(r, &h, at, &item) && (add = log_items_add(items)))
				*add = item;
		}
		at += LOG_HEAD + h.stored;
	}
}

/* --- INDEX --- */

static bool in_span(const struct log_item *item, const struct log_item *index)
{
	return item->cell >= index->cell && log_item_end(item) <= log_item_end(index);
}

static int by_place(const void *a, const void *b)
{
	const struct log_item *i = a, *j = b;

	return (i->at > j->at) - (i->at < j->at);
}

/* No more rows than twice what its tier's rate gives in the span of an INDEX. */
static bool rows_fit(const struct log_reader *r, const struct log_item *item)
{
	double span_s = (double)(log_item_end(item) - item->cell) * (double)(INT64_C(1) << LOG_CELL_ZOOM) / 1e9;

	for (int t = 0; t < TIERS; t++)
		if (item->rows[t] > 2 * r->session.hz[t] * span_s + 1000)
			return false;
	return true;
}

/* The entry of an INDEX as an item; false: it cannot be. */
static bool entry_item(struct log_reader *r, const struct log_item *index, const struct log_entry *e,
		       struct log_item *item)
{
	if (e->distance == 0 || e->distance > index->at - r->begin || e->stored > LOG_STORED_MAX ||
	    e->distance < LOG_HEAD + (uint64_t)e->stored || e->cell >= LOG_CELL_LIMIT || e->cell <= -LOG_CELL_LIMIT)
		return false;
	*item = (struct log_item) {.at = index->at - e->distance, .from = index->from, .stored = e->stored,
				   .kind = e->kind, .aux = e->aux, .known = true, .cell = e->cell};
	if (e->kind == LOG_INDEX && (e->aux < 1 || e->aux > LOG_LEVELS ||
				     e->cell != log_span_cell(log_span(e->cell, e->aux), e->aux)))
		return false;
	for (int t = 0; t < TIERS && (e->kind == LOG_DATA || e->kind == LOG_INDEX); t++)
		item->rows[t] = e->rows[t];
	if (e->kind == LOG_DATA)
		return e->rows[0] <= LOG_ROWS_MAX && e->rows[1] <= LOG_ROWS_MAX && e->rows[2] <= LOG_ROWS_MAX;
	return e->kind != LOG_INDEX || rows_fit(r, item);
}

/* The entries of an INDEX lie behind the second INDEX before it, of its level or above. */
static void set_from(struct log_items *items, uint64_t from)
{
	uint64_t last[LOG_LEVELS + 1][2];

	for (int level = 0; level <= LOG_LEVELS; level++)
		last[level][0] = last[level][1] = from;
	for (size_t i = 0; i < items->n; i++) {
		struct log_item *item = &items->p[i];

		if (item->kind != LOG_INDEX)
			continue;
		item->from = last[item->aux][0];
		for (int level = 1; level <= item->aux; level++) {
			last[level][0] = last[level][1];
			last[level][1] = item->at;
		}
	}
}

static bool take_entries(struct log_reader *r, const struct log_item *index, struct log_in *in, uint32_t n,
			 size_t size, struct log_items *own, struct log_items *open)
{
	const uint8_t *p = log_in_take(in, n * size);
	uint8_t *plain = p ? malloc(n * size + 1) : NULL;
	struct log_entry e;
	bool good = plain != NULL;

	if (good)
		log_unshuffle(plain, p, n, size);
	for (uint32_t i = 0; good && i < n; i++) {
		struct log_item item, *to;

		log_entry_get(plain + i * size, &e);
		good = entry_item(r, index, &e, &item);
		to = good ? log_items_add(item.kind == LOG_INDEX && item.aux >= index->aux ? open : own) : NULL;
		if (to)
			*to = item;
	}
	free(plain);
	return good && !own->failed && !open->failed;
}

bool log_item_there(struct log_reader *r, const struct log_item *item)
{
	struct log_head h;
	uint8_t p[LOG_HEAD];

	return log_read_at(r, p, LOG_HEAD, item->at) == LOG_HEAD && log_head_get(p, &h) && h.session == r->id &&
	       h.kind == item->kind && h.cell == item->cell && h.stored == item->stored;
}

bool log_node_read(struct log_reader *r, const struct log_item *index, struct log_items *items,
		   struct log_node *node)
{
	struct log_in in;
	struct log_head h;
	uint32_t n, events;
	size_t size;
	const uint8_t *p;

	if (!log_read_chunk(r, index, &h, &r->raw_index))
		return false;
	in = (struct log_in) {r->raw_index.p, r->raw_index.p + r->raw_index.n, false};
	if (log_get_u8(&in) != index->aux)
		return false;
	node->incomplete = log_get_u8(&in) & LOG_INCOMPLETE;
	size = log_get_u16(&in);
	n = log_get_u32(&in);
	events = log_get_u32(&in);
	if (in.bad || size < LOG_ENTRY_SIZE || n > r->raw_index.n / size ||
	    !take_entries(r, index, &in, n, size, items, &node->open))
		return false;
	p = log_in_take(&in, events);
	node->events = p ? malloc(events + 1) : NULL;
	if (!node->events)
		return false;
	memcpy(node->events, p, events);
	node->n_events = events;
	if (items->n > 1)
		qsort(items->p, items->n, sizeof(*items->p), by_place);
	set_from(items, index->from);
	return items->n == 0 || log_item_there(r, &items->p[0]);
}

/* --- lists --- */

static struct log_item *find_item(struct log_items *items, size_t n, uint64_t at)
{
	struct log_item key = {.at = at};

	return n > 0 ? bsearch(&key, items->p, n, sizeof(*items->p), by_place) : NULL;
}

/* Do the INDEX chunks that it lists exist? Others are found without it. */
static bool has_children(struct log_items *items, size_t n, const struct log_items *own)
{
	for (size_t i = 0; i < own->n; i++) {
		const struct log_item *item =
			own->p[i].kind == LOG_INDEX ? find_item(items, n, own->p[i].at) : &own->p[i];

		if (!item || (own->p[i].kind == LOG_INDEX && item->kind != LOG_INDEX))
			return false;
	}
	return true;
}

static void take_rows(struct log_item *index, const struct log_items *own)
{
	if (index->known)
		return;
	memset(index->rows, 0, sizeof(index->rows));
	for (size_t i = 0; i < own->n; i++)
		for (int t = 0; t < TIERS; t++)
			index->rows[t] += own->p[i].rows[t];
	index->known = true;
}

/* Where a log stands behind another one of its session, a span can have an INDEX in both. */
static void drop_twins(struct log_items *items)
{
	struct log_item *last[LOG_LEVELS + 1] = {NULL};

	for (size_t i = 0; i < items->n; i++) {
		struct log_item *item = &items->p[i], **before;

		if (item->kind != LOG_INDEX || item->known || item->aux > LOG_LEVELS)
			continue;
		before = &last[item->aux];
		if (*before && (*before)->cell == item->cell)
			(*before)->kind = item->kind = 0;
		*before = item;
	}
}

/* What an INDEX lists is not an item by itself. */
static void absorb(struct log_reader *r, struct log_items *items)
{
	for (size_t i = 0; i < items->n; i++) {
		struct log_items own = {.n = 0};
		struct log_node node = {.at = 0};
		struct log_item *index = &items->p[i], *item;

		if (index->kind != LOG_INDEX)
			continue;
		if (log_node_read(r, index, &own, &node) && (index->known || has_children(items, i, &own))) {
			take_rows(index, &own);
			for (size_t k = 0; k < own.n; k++)
				if ((item = find_item(items, i, own.p[k].at)))
					item->kind = 0;
		} else if (!index->known) {
			index->kind = 0;
		}
		free(own.p);
		free(node.open.p);
		free(node.events);
	}
}

/* Rows of a chunk that no INDEX lists. */
static void count_rows(struct log_reader *r, struct log_item *item)
{
	struct log_head h;
	struct log_section s;
	struct log_in in;
	int got = 0;
	uint32_t rows[LOG_TIERS] = {0};
	unsigned seen = 0;

	item->known = true;
	if (!log_read_chunk(r, item, &h, &r->raw)) {
		item->kind = 0;
		return;
	}
	in = (struct log_in) {r->raw.p, r->raw.p + r->raw.n, false};
	while ((got = log_data_next(&in, &s)) > 0) {
		if (seen & 1U << s.tier)
			break;
		seen |= 1U << s.tier;
		rows[s.tier] = s.n;
	}
	if (got != 0 || !log_generation_find(r, h.generation)) {
		log_note(r, got ? LOG_FAULT_CONTENT : LOG_FAULT_CHANNELS, item->at, h.seq, item->cell,
			 (uint64_t)rows[0] + rows[1] + rows[2]);
		item->kind = 0;
		return;
	}
	for (int t = 0; t < TIERS; t++)
		item->rows[t] = rows[t];
}

static int by_cell(const void *a, const void *b)
{
	const struct log_item *i = a, *j = b;

	if (i->cell != j->cell)
		return i->cell < j->cell ? -1 : 1;
	return by_place(a, b);
}

/* Rows of each tier are in the order of cells, and spans do not overlap. */
static void drop_disorder(struct log_reader *r, struct log_items *items)
{
	int64_t last[TIERS], end = INT64_MIN;

	for (int t = 0; t < TIERS; t++)
		last[t] = INT64_MIN;
	for (size_t i = 0; i < items->n; i++) {
		struct log_item *item = &items->p[i];
		uint64_t rows = 0;
		bool bad = false;

		if (item->kind == LOG_INDEX) {
			bad = item->cell < end;
			end = bad ? end : log_item_end(item);
		}
		for (int t = 0; t < TIERS; t++) {
			bad |= item->kind == LOG_DATA && item->rows[t] > 0 && item->cell < last[t];
			rows += item->rows[t];
		}
		if (bad) {
			log_note(r, LOG_FAULT_ORDER, item->at, LOG_SEQ_NONE, item->cell, rows);
			item->kind = 0;
		}
		for (int t = 0; t < TIERS && !bad; t++)
			if (item->kind == LOG_DATA && item->rows[t] > 0)
				last[t] = item->cell;
	}
}

static bool is_data(const struct log_item *i)
{
	return i->kind == LOG_DATA || i->kind == LOG_INDEX;
}

/* What an INDEX should list, and does not. */
static void drop_inside(struct log_reader *r, struct log_list *l)
{
	int64_t end = INT64_MIN;
	size_t kept = 0;

	for (size_t i = 0; i < l->n_data; i++) {
		const struct log_item *item = &l->data[i];

		if (item->kind == LOG_DATA && item->cell < end) {
			log_note(r, LOG_FAULT_ORDER, item->at, LOG_SEQ_NONE, item->cell,
				 (uint64_t)item->rows[0] + item->rows[1] + item->rows[2]);
			continue;
		}
		end = item->kind == LOG_INDEX ? log_item_end(item) : end;
		l->data[kept++] = *item;
	}
	l->n_data = kept;
}

static void list_fill(struct log_reader *r, struct log_list *out, const struct log_items *items)
{
	for (size_t i = 0; i < items->n; i++)
		if (is_data(&items->p[i]))
			out->data[out->n_data++] = items->p[i];
		else if (items->p[i].kind)
			out->others[out->n_others++] = items->p[i];
	if (out->n_data > 1)
		qsort(out->data, out->n_data, sizeof(*out->data), by_cell);
	drop_inside(r, out);
	for (size_t i = 0; i < out->n_data; i++)
		for (int t = 0; t < TIERS; t++) {
			out->data[i].before[t] = out->rows[t];
			out->rows[t] += out->data[i].rows[t];
		}
}

int log_list_make(struct log_reader *r, struct log_items *items, struct log_list *out)
{
	size_t n = 0;

	*out = (struct log_list) {.n_data = 0};
	if (items->n > 1)
		qsort(items->p, items->n, sizeof(*items->p), by_place);
	set_from(items, r->begin);
	drop_twins(items);
	absorb(r, items);
	for (size_t i = 0; i < items->n; i++)
		if (items->p[i].kind == LOG_DATA && !items->p[i].known)
			count_rows(r, &items->p[i]);
	drop_disorder(r, items);
	for (size_t i = 0; i < items->n; i++)
		n += is_data(&items->p[i]);
	out->data = calloc(n + 1, sizeof(*out->data));
	out->others = calloc(items->n - n + 1, sizeof(*out->others));
	if (out->data && out->others)
		list_fill(r, out, items);
	free(items->p);
	if (out->data && out->others)
		return 0;
	log_list_free(out);
	return -1;
}

void log_list_free(struct log_list *l)
{
	free(l->data);
	free(l->others);
	*l = (struct log_list) {.n_data = 0};
}

/* --- nodes --- */

static void node_free(struct log_node *node)
{
	if (!node)
		return;
	log_list_free(&node->list);
	free(node->open.p);
	free(node->events);
	free(node);
}

void log_nodes_free(struct log_reader *r)
{
	for (size_t i = 0; i < LOG_NODES; i++)
		node_free(r->nodes[i]);
}

/* A slot for each level, so that children do not evict their parents. */
static struct log_node **node_slot(struct log_reader *r, const struct log_item *index)
{
	static const struct {
		uint16_t first, n;
	} part[LOG_LEVELS + 1] = {{0, 0}, {0, 704}, {704, 256}, {960, 64}};
	size_t n = part[index->aux].n;

	return &r->nodes[part[index->aux].first + (size_t)log_span(index->cell, index->aux) % n];
}

/* Only what is of the span, and of a level below. */
static void keep_own(struct log_reader *r, const struct log_item *index, struct log_items *items)
{
	size_t kept = 0;

	for (size_t i = 0; i < items->n; i++) {
		const struct log_item *item = &items->p[i];

		if (is_data(item) && (!in_span(item, index) || (item->kind == LOG_INDEX && item->aux >= index->aux) ||
				      (item->kind == LOG_DATA && index->aux > 1 && item->known))) {
			if (item->known)
				log_note(r, LOG_FAULT_CONTENT, item->at, LOG_SEQ_NONE, index->cell, 0);
			continue;
		}
		items->p[kept++] = *item;
	}
	items->n = kept;
}

static struct log_node *node_make(struct log_reader *r, const struct log_item *index)
{
	struct log_node *node = calloc(1, sizeof(*node));
	struct log_items items = {.n = 0};
	int made;

	if (!node)
		return NULL;
	node->at = index->at;
	if (log_node_read(r, index, &items, node)) {
		struct log_list *l = &node->list;

		keep_own(r, index, &items);
		drop_disorder(r, &items);
		l->data = calloc(items.n + 1, sizeof(*l->data));
		l->others = calloc(items.n + 1, sizeof(*l->others));
		made = l->data && l->others ? 0 : -1;
		if (made == 0)
			list_fill(r, l, &items);
		free(items.p);
	} else {
		free(node->events);
		node->events = NULL;
		node->n_events = 0;
		node->incomplete = true; /* events are in the chunks */
		items.n = 0;
		log_scan(r, index->from, index->at, &items);
		keep_own(r, index, &items);
		made = log_list_make(r, &items, &node->list);
	}
	free(node->open.p);
	node->open.p = NULL;
	if (made == 0)
		return node;
	node_free(node);
	return NULL;
}

struct log_node *log_node_get(struct log_reader *r, const struct log_item *index)
{
	struct log_node **slot = node_slot(r, index);

	if (!*slot || (*slot)->at != index->at) {
		node_free(*slot);
		*slot = node_make(r, index);
	}
	return *slot;
}

/* The last item that begins at or before the cell; n_data: none. */
static size_t item_of_cell(const struct log_list *l, int64_t cell)
{
	size_t lo = 0, hi = l->n_data;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->data[mid].cell <= cell)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 ? lo - 1 : l->n_data;
}

bool log_find_index(struct log_reader *r, int level, int64_t cell, struct log_item *out)
{
	const struct log_list *l = &r->top;

	for (;;) {
		size_t i = item_of_cell(l, cell);
		struct log_node *node;

		/* DATA may stand before its group is closed. */
		while (i < l->n_data && l->data[i].kind == LOG_DATA && i > 0 && l == &r->top &&
		       log_span(l->data[i].cell, 1) == log_span(cell, 1))
			i--;
		if (i >= l->n_data || l->data[i].kind != LOG_INDEX || cell >= log_item_end(&l->data[i]) ||
		    l->data[i].aux < level)
			return false;
		*out = l->data[i];
		if (out->aux == level)
			return true;
		node = log_node_get(r, out);
		if (!node)
			return false;
		l = &node->list;
	}
}

uint64_t log_rows_before(struct log_reader *r, enum tier tier, int64_t cell)
{
	const struct log_list *l = &r->top;
	uint64_t rows = 0;

	for (;;) {
		size_t i = item_of_cell(l, cell - 1);
		const struct log_item *item = i < l->n_data ? &l->data[i] : NULL;
		struct log_node *node;

		if (!item)
			return rows;
		rows += item->before[tier];
		if (item->kind == LOG_DATA || cell >= log_item_end(item))
			return rows + item->rows[tier];
		node = log_node_get(r, item);
		if (!node)
			return rows;
		l = &node->list;
	}
}

/* --- decoded rows --- */

static struct log_block **block_slot(struct log_cache *c, uint64_t at)
{
	return &c->slots[at * UINT64_C(0x9E3779B97F4A7C15) >> 32 & (LOG_SLOTS - 1)];
}

struct log_block *log_cache_find(struct log_cache *c, uint64_t at)
{
	struct log_block *b = *block_slot(c, at);

	while (b && b->at != at)
		b = b->same;
	return b;
}

static void cache_drop_oldest(struct log_cache *c)
{
	struct log_block *b = c->oldest, **at = block_slot(c, b->at);

	while (*at != b)
		at = &(*at)->same;
	*at = b->same;
	c->oldest = b->next;
	c->bytes -= b->bytes;
	free(b);
}

struct log_block *log_cache_add(struct log_cache *c, uint64_t at, size_t times, size_t values, size_t records)
{
	size_t bytes = sizeof(struct log_block) + 8 * times + 8 * values + records;
	struct log_block *b = malloc(bytes), **slot;

	if (!b)
		return NULL;
	while (c->oldest && c->bytes + bytes > c->most)
		cache_drop_oldest(c);
	if (!c->oldest)
		c->newest = NULL;
	*b = (struct log_block) {.at = at, .bytes = bytes};
	b->t_ns = (int64_t *)(void *)(b + 1);
	b->values = (double *)(void *)(b->t_ns + times);
	b->records = (uint8_t *)(b->values + values);
	slot = block_slot(c, at);
	b->same = *slot;
	*slot = b;
	if (c->newest)
		c->newest->next = b;
	else
		c->oldest = b;
	c->newest = b;
	c->bytes += bytes;
	return b;
}

void log_caches_free(struct log_reader *r)
{
	for (int i = 0; i < LOG_CACHES; i++)
		while (r->caches[i].oldest)
			cache_drop_oldest(&r->caches[i]);
}

/* Room for rows, and for so many bytes of arrays behind block->arrays. */
static struct log_block *block_add(struct log_reader *r, enum tier tier, uint64_t at, size_t n, size_t bytes)
{
	size_t width = r->session.width[tier];
	struct log_block *b =
		log_cache_add(&r->caches[tier], at, n, n * width, width * sizeof(*b->arrays) + bytes);

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

/* Lost rows: at the beginning of the cell. */
static void block_lose(struct log_reader *r, enum tier tier, int64_t cell, struct log_block *b, int64_t after_ns)
{
	int64_t t = (int64_t)((uint64_t)cell << LOG_CELL_ZOOM);
	int64_t last = t + (INT64_C(1) << LOG_CELL_ZOOM) - 1;

	for (uint32_t i = 0; i < b->n; i++) {
		t = t > after_ns ? t : after_ns < last ? after_ns + 1 : last;
		b->t_ns[i] = after_ns = t;
	}
	for (size_t i = 0; i < (size_t)b->n * r->session.width[tier]; i++)
		b->values[i] = (double)NAN;
	memset(b->arrays, 0, r->session.width[tier] * sizeof(*b->arrays));
}

/* The chunk in the same cell before it that has rows of the tier. */
static size_t same_before(const struct log_list *l, size_t i, enum tier tier)
{
	size_t at = i;

	while (at-- > 0 && l->data[at].kind == LOG_DATA && l->data[at].cell == l->data[i].cell)
		if (l->data[at].rows[tier] > 0)
			return at;
	return i;
}

/* The section of a tier; false: damage, which is noted. */
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

static struct log_block *block_get(struct log_reader *r, const struct log_list *l, size_t i, enum tier tier,
					 int depth)
{
	const struct log_item *item = &l->data[i];
	const struct log_generation *g = NULL;
	const struct log_block *before;
	struct log_cache *cache = &r->caches[tier];
	struct log_block *b = log_cache_find(cache, item->at);
	size_t n = item->rows[tier], width = r->session.width[tier], j = same_before(l, i, tier);
	int64_t after = INT64_MIN;
	struct log_section s;
	struct log_head h;
	bool good;

	if (b)
		return b;
	if (j < i && depth < SAME_CELL) {
		before = block_get(r, l, j, tier, depth + 1);
		if (before)
			after = before->t_ns[before->n - 1];
	}
	good = section_of(r, item, tier, &h, &s) && (j == i || depth < SAME_CELL);
	if (good)
		g = log_generation_find(r, h.generation);
	b = block_add(r, tier, item->at, n, good ? s.size : 0);
	if (!b)
		return NULL;
	b->cell = item->cell;
	if (good && g && log_section_times(&s, item->cell, b->t_ns) == 0 && b->t_ns[0] > after) {
		log_section_arrays(&s, g->column[tier], g->width[tier], width, (uint8_t *)(b->arrays + width),
				   b->arrays);
		return b;
	}
	log_note(r, good && !g ? LOG_FAULT_CHANNELS : LOG_FAULT_CONTENT, item->at, h.seq, item->cell, n);
	block_lose(r, tier, item->cell, b, after);
	return b;
}

/* Rows that an INDEX has counted and that are in none of its chunks. */
static struct log_block *block_lost(struct log_reader *r, const struct log_item *index, enum tier tier,
					  uint64_t have, uint64_t row, uint64_t *first)
{
	uint64_t part = (row - have) / LOG_ROWS_MAX, left = index->rows[tier] - have - part * LOG_ROWS_MAX;
	struct log_cache *cache = &r->caches[tier];
	uint32_t n = left < LOG_ROWS_MAX ? (uint32_t)left : LOG_ROWS_MAX;
	struct log_block *b;

	*first = have + part * LOG_ROWS_MAX;
	log_note(r, LOG_FAULT_CONTENT, index->at, LOG_SEQ_NONE, index->cell, index->rows[tier] - have);
	b = log_cache_find(cache, index->at + part);
	if (b)
		return b;
	b = block_add(r, tier, index->at + part, n, 0);
	if (!b)
		return NULL;
	b->cell = log_item_end(index) - 1;
	block_lose(r, tier, b->cell, b, (int64_t)((uint64_t)(b->cell + 1) << LOG_CELL_ZOOM) - 1);
	return b;
}

/* The item that contains the row, which exists. */
static size_t item_of_row(const struct log_list *l, enum tier tier, uint64_t row)
{
	size_t lo = 0, hi = l->n_data;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->data[mid].before[tier] <= row)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

struct log_block *log_block_of(struct log_reader *r, enum tier tier, uint64_t row, uint64_t *first)
{
	const struct log_list *l = &r->top;
	struct log_block *b;

	if (row - r->spot[tier].first < r->spot[tier].n) {
		b = log_cache_find(&r->caches[tier], r->spot[tier].at);
		*first = r->spot[tier].first;
		if (b)
			return b;
	}
	*first = 0;
	for (;;) {
		size_t i = item_of_row(l, tier, row - *first);
		const struct log_item *item = &l->data[i];
		struct log_node *node;

		*first += item->before[tier];
		if (item->kind == LOG_DATA) {
			b = block_get(r, l, i, tier, 0);
			break;
		}
		node = log_node_get(r, item);
		if (!node)
			return NULL;
		if (row - *first >= node->list.rows[tier]) {
			uint64_t within;

			b = block_lost(r, item, tier, node->list.rows[tier], row - *first, &within);
			*first += within;
			return b;
		}
		l = &node->list;
	}
	if (b) {
		r->spot[tier].first = *first;
		r->spot[tier].n = b->n;
		r->spot[tier].at = b->at;
	}
	return b;
}
