/* Reads ranges: all of them once, a few chunks at a time if a screen waits, into a store that keeps what can be seen on a screen;
 * what is finer is decoded again, in the part of the time that is asked for. */
#include "trace/log-range.h"
#include "trace/log-read.h"
#include "util/array.h"
#include "util/clock.h"

#define STORE_MOST  (UINT32_C(1) << 20)
#define CHUNKS_MOST 64 /* are decoded for one view */
#define CHUNKS_STEP 16 /* some 5 ms */
#define END_GROUPS  3  /* in which the latest end is looked for */

/* names: the store of their names. */
static void chunk_get(struct trace *r, const struct log_item *item, struct ranges *names, range_visit *visit, void *arg)
{
	struct log_head h;

	if (log_read_chunk(r, item, &h) && !log_ranges_get(r->raw.p, r->raw.n, names, visit, arg))
		log_note(r, LOG_FAULT_CONTENT, item->at, h.seq, item->cell, 0);
}

static bool range_keep(void *arg, const struct range *range)
{
	struct trace *r = arg;
	struct log_range_chunk *c = &r->range_chunks[r->n_range_chunks - 1];

	if (!(range->flags & RANGE_AGAIN)) {
		c->from_ns = range->begin_ns < c->from_ns ? range->begin_ns : c->from_ns;
		c->to_ns = range->end_ns > c->to_ns ? range->end_ns : c->to_ns;
	}
	ranges_add(r->ranges, range);
	return true;
}

/* Reads at most `most` chunks, from range_item of range_group on. */
static void ranges_read(struct trace *r, size_t most)
{
	struct log_range_chunk *c;
	struct err e;

	for (; r->range_group < r->n_groups; r->range_group++, r->range_item = 0) {
		const struct log_group *g = &r->groups[r->range_group];
		const struct log_list *l = g->flags & LOG_GROUP_RANGES ? log_list_of(r, g) : NULL;

		for (; l && r->range_item < l->n; r->range_item++) {
			if (l->items[r->range_item].kind != LOG_RANGE)
				continue;
			if (most-- == 0)
				return;
			if (!r->ranges)
				r->ranges = ranges_new(STORE_MOST, &e);
			c = r->ranges ? array_add(&r->range_chunks, &r->n_range_chunks, sizeof(*c)) : NULL;
			if (!c)
				continue;
			*c = (struct log_range_chunk) {l->items[r->range_item], INT64_MAX, INT64_MIN};
			chunk_get(r, &c->item, r->ranges, range_keep, r);
		}
	}
	r->ranges_read = true;
}

/* The store, once all ranges were read or others are shown; NULL: there are none. */
static struct ranges *ranges_store(struct trace *r)
{
	struct ranges *store = r->other_ranges;

	pthread_mutex_lock(&r->lock);
	if (!store && !r->ranges_read)
		ranges_read(r, SIZE_MAX);
	store = store ? store : r->ranges;
	pthread_mutex_unlock(&r->lock);
	return store;
}

bool trace_ranges_more(struct timeline *t)
{
	struct trace *r = (struct trace *)t;
	bool more;

	pthread_mutex_lock(&r->lock);
	if (!r->other_ranges && !r->ranges_read)
		ranges_read(r, CHUNKS_STEP);
	more = !r->other_ranges && !r->ranges_read;
	pthread_mutex_unlock(&r->lock);
	return more;
}

size_t trace_lanes(struct timeline *t, const struct range_lane **out, size_t most)
{
	struct ranges *store = ranges_store((struct trace *)t);

	return store ? ranges_lanes(store, out, most) : 0;
}

void trace_show_ranges(struct trace *r, struct ranges *other)
{
	ranges_free(r->other_ranges);
	r->other_ranges = other;
}

/* Of those that ended within the recording. */
static bool range_end(void *arg, const struct range *range)
{
	int64_t *end_ns = arg;

	if (!(range->flags & RANGE_BEYOND) && range->end_ns > *end_ns)
		*end_ns = range->end_ns;
	return true;
}

int64_t log_ranges_end(struct trace *r)
{
	struct err e;
	struct ranges *names = ranges_new(0, &e);
	int64_t end_ns = INT64_MIN, latest_ns;
	bool done = false;

	for (size_t g = r->n_groups; names && !done && g > 0 && g + END_GROUPS > r->n_groups; g--) {
		const struct log_list *l = r->groups[g - 1].flags & LOG_GROUP_RANGES ? log_list_of(r, &r->groups[g - 1]) : NULL;

		for (size_t i = l ? l->n : 0; !done && i > 0; i--) {
			if (l->items[i - 1].kind != LOG_RANGE)
				continue;
			latest_ns = INT64_MIN;
			chunk_get(r, &l->items[i - 1], names, range_end, &latest_ns);
			end_ns = latest_ns > end_ns ? latest_ns : end_ns;
			/* They are in order of end, within a second. */
			done = latest_ns > INT64_MIN && latest_ns < end_ns - NS_PER_S;
		}
	}
	ranges_free(names);
	return end_ns;
}

/* again: those that may come again, which only the store knows as they are at last. */
struct ranges_view {
	int64_t from_ns, to_ns;
	range_visit *visit;
	void *arg;
	bool again, off;
};

static bool range_view(void *arg, const struct range *range)
{
	struct ranges_view *v = arg;

	if (v->again == ((range->flags & RANGE_AGAIN) != 0) && range_touches(range, v->from_ns, v->to_ns))
		v->off = !v->visit(v->arg, range);
	return !v->off;
}

void trace_ranges(struct timeline *t, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit, void *arg)
{
	struct trace *r = (struct trace *)t;
	struct ranges_view v = {from_ns, to_ns, visit, arg, false, false};
	struct ranges *store = ranges_store(r);
	bool coarse;
	size_t n = 0;

	if (!store)
		return;
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->n_range_chunks; i++)
		n += r->range_chunks[i].from_ns < to_ns && r->range_chunks[i].to_ns >= from_ns;
	coarse = r->other_ranges || ranges_least_ns(store) <= least_ns || (least_ns > 0 && n > CHUNKS_MOST);
	for (size_t i = 0; !coarse && !v.off && i < r->n_range_chunks; i++)
		if (r->range_chunks[i].from_ns < to_ns && r->range_chunks[i].to_ns >= from_ns)
			chunk_get(r, &r->range_chunks[i].item, store, range_view, &v);
	pthread_mutex_unlock(&r->lock);
	v.again = true;
	if (coarse)
		ranges_visit(store, from_ns, to_ns, least_ns, visit, arg);
	else if (!v.off)
		ranges_visit(store, from_ns, to_ns, 0, range_view, &v);
}
