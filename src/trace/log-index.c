/* Each INDEX lists the groups since the one before, and leads to that one, so that a whole recording is found from its
 * end: a day by some 160 reads. A list of all groups at the end alone was tried: what is open is then found only by
 * reading everything. */
#include <stdlib.h>
#include <string.h>

#include "trace/log-index.h"
#include "util/array.h"

#define GROUPS_MAX 65536 /* that wait for an INDEX; others are only found by a scan */

/* Offsets instead of distances. */
struct index_group {
	struct log_group_entry entry;
	struct log_bytes events;
};

struct log_index {
	struct index_group *groups; /* not listed yet, by cell */
	size_t n;
	struct log_sums_entry *sums;
	size_t n_sums;
	size_t events; /* their bytes */
	bool incomplete;
	uint32_t generation;
	bool any;
	uint64_t newest;
};

struct log_index *log_index_new(void)
{
	return calloc(1, sizeof(struct log_index));
}

void log_index_free(struct log_index *x)
{
	for (size_t i = 0; x && i < x->n; i++)
		log_bytes_free(&x->groups[i].events);
	if (x) {
		free(x->groups);
		free(x->sums);
	}
	free(x);
}

/* Returns the group of the cell. add: makes it if it is new. */
static struct index_group *group_of(struct log_index *x, int64_t cell, bool add)
{
	size_t at = x->n;

	cell = log_span_cell(log_span(cell, 1), 1);
	while (at > 0 && x->groups[at - 1].entry.cell >= cell)
		at--;
	if (at < x->n && x->groups[at].entry.cell == cell)
		return &x->groups[at];
	if (!add || x->n == GROUPS_MAX || !array_add(&x->groups, &x->n, sizeof(*x->groups)))
		return NULL;
	memmove(x->groups + at + 1, x->groups + at, (x->n - 1 - at) * sizeof(*x->groups));
	x->groups[at] = (struct index_group) {.entry = {.first = UINT64_MAX, .cell = cell}};
	return &x->groups[at];
}

/* A LOD or STAT: the first of its span tells where the others are. */
static void sums_add(struct log_index *x, const struct log_entry *e)
{
	uint32_t level = (uint32_t)log_entry_level(e);
	struct index_group *g = level == 1 ? group_of(x, e->cell, false) : NULL;
	struct log_sums_entry *s;

	if (g && g->entry.sums == 0)
		g->entry.sums = e->distance;
	if (level == 1 || (x->n_sums > 0 && x->sums[x->n_sums - 1].level == level && x->sums[x->n_sums - 1].cell == e->cell))
		return;
	s = array_add(&x->sums, &x->n_sums, sizeof(*s));
	if (s)
		*s = (struct log_sums_entry) {e->distance, e->cell, level};
}

static void events_drop(struct log_index *x)
{
	x->incomplete = true;
	x->events = 0;
	for (size_t i = 0; i < x->n; i++)
		log_bytes_free(&x->groups[i].events);
}

static void events_add(struct log_index *x, struct index_group *g, const struct log_entry *e, const uint8_t *raw, size_t n)
{
	struct log_in in = {raw, raw + n, false}, record;
	size_t before = g->events.n;

	g->entry.flags |= LOG_GROUP_EVENTS;
	while (!x->incomplete && log_get_record(&in, &record)) {
		log_put_u8(&g->events, e->kind);
		log_bytes_put(&g->events, record.p - 2, (size_t)(record.end - record.p) + 2);
	}
	x->events += g->events.n - before;
	if (g->events.failed || x->events > LOG_EVENTS_MAX)
		events_drop(x);
}

void log_index_add(struct log_index *x, const struct log_entry *e, uint32_t generation, const uint8_t *raw, size_t n)
{
	struct index_group *g;
	uint64_t end = e->distance + LOG_HEAD + e->stored;

	if (e->kind == LOG_INDEX) {
		x->any = true;
		x->newest = e->distance;
	}
	if (e->kind == LOG_LOD || e->kind == LOG_STAT)
		sums_add(x, e);
	if (!log_of_group(e->kind))
		return;
	g = group_of(x, e->cell, true);
	if (!g)
		return;
	if (g->entry.first == UINT64_MAX)
		g->entry.first = e->distance;
	g->entry.length = end - g->entry.first < UINT32_MAX ? (uint32_t)(end - g->entry.first) : UINT32_MAX;
	for (int t = 0; t < LOG_TIERS; t++)
		g->entry.rows[t] += e->rows[t];
	if (e->kind == LOG_RANGE)
		g->entry.flags |= LOG_GROUP_RANGES;
	if (e->kind == LOG_META && generation != x->generation) {
		g->entry.flags |= LOG_GROUP_META;
		x->generation = generation;
	}
	if (log_has_events(e->kind))
		events_add(x, g, e, raw, n);
}

static void put_shuffled(struct log_bytes *raw, const struct log_bytes *entries, size_t n, size_t size)
{
	uint8_t *to = log_bytes_add(raw, entries->n);

	raw->failed |= entries->failed;
	if (to && n > 0)
		log_shuffle(to, entries->p, n, size);
}

void log_index_make(struct log_index *x, int64_t before_cell, uint64_t at, struct log_bytes *raw, struct log_entry *e)
{
	struct log_bytes groups = {.n = 0}, sums = {.n = 0}, events = {.n = 0};
	struct log_index_head h = {.flags = x->incomplete ? LOG_INCOMPLETE : 0,
				   .size = LOG_GROUP_SIZE,
				   .sums = (uint32_t)x->n_sums,
				   .begin = at,
				   .before = x->any ? at - x->newest : 0};
	size_t n = 0;

	*e = (struct log_entry) {.distance = at, .kind = LOG_INDEX};
	for (; n < x->n && x->groups[n].entry.cell < before_cell; n++) {
		struct log_group_entry g = x->groups[n].entry;

		e->cell = n == 0 ? g.cell : e->cell;
		g.first = at - g.first;
		g.sums = g.sums ? at - g.sums : 0;
		log_group_entry_put(&groups, &g);
		log_bytes_put(&events, x->groups[n].events.p, x->groups[n].events.n);
		x->events -= x->groups[n].events.n;
		log_bytes_free(&x->groups[n].events);
	}
	for (size_t i = n; i < x->n; i++)
		if (at - x->groups[i].entry.first > h.rest)
			h.rest = at - x->groups[i].entry.first;
	for (size_t i = 0; i < x->n_sums; i++) {
		x->sums[i].distance = at - x->sums[i].distance;
		log_sums_entry_put(&sums, &x->sums[i]);
	}
	x->n -= n;
	memmove(x->groups, x->groups + n, x->n * sizeof(*x->groups));
	x->n_sums = 0;
	h.groups = (uint32_t)n;
	h.events = x->incomplete ? 0 : (uint32_t)events.n;
	x->incomplete &= x->n > 0;
	log_index_head_put(raw, &h);
	put_shuffled(raw, &groups, n, LOG_GROUP_SIZE);
	put_shuffled(raw, &sums, h.sums, LOG_SUMS_SIZE);
	log_bytes_put(raw, events.p, h.events);
	raw->failed |= events.failed;
	log_bytes_free(&groups);
	log_bytes_free(&sums);
	log_bytes_free(&events);
}

bool log_index_newest(const struct log_index *x, uint64_t *at)
{
	*at = x->newest;
	return x->any;
}
