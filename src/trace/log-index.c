/* Each INDEX lists the chunks since the previous one, by their distance from it. Higher levels list the INDEX
 * chunks of the level below, so that the whole recording can be found from the newest one. */
#include <stdlib.h>
#include <string.h>

#include "trace/log-index.h"

#define LIST_MAX 65536 /* maximum of entries that wait for an INDEX; others are only found by a scan */

struct item {
	struct log_entry entry;
	struct log_bytes events;
};

/* The entries of the next INDEX of a level. */
struct list {
	struct item *items;
	size_t n, room, events;
	bool incomplete;
};

struct log_index {
	struct list lists[LOG_LEVELS + 1]; /* for levels 1, 2, 3; the last has the INDEX chunks of level 3 */
	bool any;
	uint64_t newest;
};

struct log_index *log_index_new(void)
{
	return calloc(1, sizeof(struct log_index));
}

static void list_free(struct list *l)
{
	for (size_t i = 0; i < l->n; i++)
		log_bytes_free(&l->items[i].events);
	free(l->items);
}

void log_index_free(struct log_index *x)
{
	for (int i = 0; x && i <= LOG_LEVELS; i++)
		list_free(&x->lists[i]);
	free(x);
}

static struct list *list_of(struct log_index *x, const struct log_entry *e)
{
	int level = e->kind == LOG_STAT ? e->aux : e->kind == LOG_INDEX ? e->aux + 1 : 1;

	if (e->kind == LOG_LOD)
		level = e->aux < 32 ? 1 : e->aux < 38 ? 2 : 3;
	return &x->lists[level - 1];
}

static struct item *list_add(struct list *l)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		struct item *items = room <= LIST_MAX ? reallocarray(l->items, room, sizeof(*items)) : NULL;

		if (!items)
			return NULL;
		l->items = items;
		l->room = room;
	}
	l->items[l->n] = (struct item) {.entry = {.kind = 0}};
	return &l->items[l->n++];
}

/* The records of a MARK, GAP or STATE with their kind, or the events of an INDEX. Returns false if
 * the latter are incomplete. */
static bool events_of(const struct log_entry *e, const uint8_t *raw, size_t n, struct log_bytes *out)
{
	struct log_in in = {raw, raw + n, false}, record;

	if (e->kind == LOG_INDEX) {
		uint32_t entries = log_get_u32(&(struct log_in) {raw + 4, raw + n, false});
		size_t head = LOG_INDEX_HEAD + (size_t)entries * LOG_ENTRY_SIZE;

		log_bytes_put(out, raw + head, n - head);
		return !(raw[1] & LOG_INCOMPLETE);
	}
	if (!log_has_events(e->kind))
		return true;
	while (log_get_record(&in, &record)) {
		log_put_u8(out, e->kind);
		log_bytes_put(out, record.p - 2, (size_t)(record.end - record.p) + 2);
	}
	return true;
}

void log_index_add(struct log_index *x, const struct log_entry *e, const uint8_t *raw, size_t n)
{
	struct list *l = list_of(x, e);
	struct item *item = list_add(l);

	if (e->kind == LOG_INDEX) {
		x->any = true;
		x->newest = e->distance;
	}
	if (!item)
		return;
	item->entry = *e;
	if (l == &x->lists[LOG_LEVELS])
		return;
	l->incomplete |= !events_of(e, raw, n, &item->events) || item->events.failed;
	l->events += item->events.n;
	if (l->events <= LOG_EVENTS_MAX)
		return;
	l->incomplete = true;
	l->events = 0;
	for (size_t i = 0; i < l->n; i++)
		log_bytes_free(&l->items[i].events);
}

/* Appends an entry of the INDEX at offset `at`. */
static void put_entry(struct log_bytes *out, const struct log_entry *e, uint64_t at)
{
	struct log_entry to = *e;

	to.distance = at - e->distance;
	log_entry_put(out, &to);
}

/* Moves the entries for an INDEX of that level to entries and events. */
static void take(struct list *l, int level, int64_t span, uint64_t at, struct log_bytes *entries,
		 struct log_bytes *events, struct log_entry *sum)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct item *item = &l->items[i];

		if (log_span(item->entry.cell, level) > span) {
			l->items[kept++] = *item;
			continue;
		}
		put_entry(entries, &item->entry, at);
		log_bytes_put(events, item->events.p, item->events.n);
		l->events -= item->events.n;
		log_bytes_free(&item->events);
		for (int t = 0; t < LOG_TIERS; t++)
			sum->rows[t] += item->entry.rows[t];
	}
	l->n = kept;
}

void log_index_make(struct log_index *x, int level, int64_t span, uint64_t at, struct log_bytes *raw,
		    struct log_entry *e)
{
	struct list *l = &x->lists[level - 1];
	struct log_bytes entries = {.n = 0}, events = {.n = 0};
	bool incomplete = l->incomplete;
	uint8_t *to;

	*e = (struct log_entry) {.distance = at, .kind = LOG_INDEX, .aux = (uint8_t)level};
	e->cell = log_span_cell(span, level);
	take(l, level, span, at, &entries, &events, e);
	l->incomplete = incomplete && l->n > 0;
	for (int i = level; i <= LOG_LEVELS; i++)
		for (size_t k = 0; k < x->lists[i].n; k++)
			put_entry(&entries, &x->lists[i].items[k].entry, at);
	raw->failed |= entries.failed || events.failed;
	log_put_u8(raw, (unsigned)level);
	log_put_u8(raw, incomplete ? LOG_INCOMPLETE : 0);
	log_put_u16(raw, LOG_ENTRY_SIZE);
	log_put_u32(raw, (uint32_t)(entries.n / LOG_ENTRY_SIZE));
	log_put_u32(raw, incomplete ? 0 : (uint32_t)events.n);
	to = log_bytes_add(raw, entries.n);
	if (to)
		log_shuffle(to, entries.p, entries.n / LOG_ENTRY_SIZE, LOG_ENTRY_SIZE);
	if (!incomplete)
		log_bytes_put(raw, events.p, events.n);
	log_bytes_free(&entries);
	log_bytes_free(&events);
}

bool log_index_newest(const struct log_index *x, uint64_t *at)
{
	*at = x->newest;
	return x->any;
}
