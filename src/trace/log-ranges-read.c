/* Reads ranges: all of them once, a few chunks at a time if a screen waits, into a store that keeps what can be seen on a screen; what is finer is decoded
 * again, in the part of the time that is asked for. */
#include <stdlib.h>

#include "trace/log-range.h"
#include "trace/log-read.h"
#include "util/clock.h"

#define STORE_MOST  (UINT32_C(1) << 20)
#define CHUNKS_MOST 64 /* are decoded for one view */
#define CHUNKS_STEP 16 /* some 5 ms */

struct pass {
	struct trace *r;
	struct log_range_chunk *chunk;
};

static bool keep(void *arg, const struct range *range)
{
	struct pass *p = arg;

	if (!(range->flags & RANGE_AGAIN)) {
		if (range->begin_ns < p->chunk->from_ns)
			p->chunk->from_ns = range->begin_ns;
		if (range->end_ns > p->chunk->to_ns)
			p->chunk->to_ns = range->end_ns;
	}
	ranges_add(p->r->ranges, range);
	return true;
}

/* names: the store of their names. */
static bool chunk_get(struct trace *r, const struct log_item *item, struct ranges *names, range_visit *visit,
		      void *arg)
{
	struct log_head h;
	bool good;

	if (!log_read_chunk(r, item, &h, &r->raw))
		return false;
	good = log_ranges_get(r->raw.p, r->raw.n, names, visit, arg);
	if (!good)
		log_note(r, LOG_FAULT_CONTENT, item->at, h.seq, item->cell, 0);
	return good;
}

static void chunk_read(struct trace *r, const struct log_item *item)
{
	struct log_range_chunk *more = r->range_chunks;
	struct pass pass = {r, NULL};
	struct err e;

	if (!r->ranges)
		r->ranges = ranges_new(STORE_MOST, &e);
	if ((r->n_range_chunks & (r->n_range_chunks - 1)) == 0)
		more = reallocarray(more, 2 * r->n_range_chunks + 1, sizeof(*more));
	if (!r->ranges || !more)
		return;
	r->range_chunks = more;
	pass.chunk = &more[r->n_range_chunks++];
	*pass.chunk = (struct log_range_chunk) {*item, INT64_MAX, INT64_MIN};
	chunk_get(r, item, r->ranges, keep, &pass);
}

/* Reads at most `most` chunks, from range_item of range_group on. */
static void ranges_read(struct trace *r, size_t most)
{
	for (; r->range_group < r->n_groups; r->range_group++, r->range_item = 0) {
		const struct log_group *g = &r->groups[r->range_group];
		const struct log_list *l = g->flags & LOG_GROUP_RANGES ? log_list_of(r, g) : NULL;

		for (; l && r->range_item < l->n; r->range_item++) {
			if (l->items[r->range_item].kind != LOG_RANGE)
				continue;
			if (most-- == 0)
				return;
			chunk_read(r, &l->items[r->range_item]);
		}
	}
	r->ranges_read = true;
}

bool log_ranges_more(struct trace *r)
{
	bool more;

	pthread_mutex_lock(&r->lock);
	if (!r->ranges_read)
		ranges_read(r, CHUNKS_STEP);
	more = !r->ranges_read;
	pthread_mutex_unlock(&r->lock);
	return more;
}

struct ranges *log_ranges_store(struct trace *r)
{
	struct ranges *store;

	pthread_mutex_lock(&r->lock);
	if (!r->ranges_read)
		ranges_read(r, SIZE_MAX);
	store = r->ranges;
	pthread_mutex_unlock(&r->lock);
	return store;
}

/* The first and the last end in a chunk, without those that ended beyond the recording. */
static bool ends(void *arg, const struct range *range)
{
	struct log_range_chunk *c = arg;

	if (range->flags & RANGE_BEYOND)
		return true;
	c->from_ns = range->end_ns < c->from_ns ? range->end_ns : c->from_ns;
	c->to_ns = range->end_ns > c->to_ns ? range->end_ns : c->to_ns;
	return true;
}

static int by_offset(const void *a, const void *b)
{
	const struct log_range_chunk *c = a, *d = b;

	return (c->item.at > d->item.at) - (c->item.at < d->item.at);
}

int64_t log_ranges_end(struct trace *r)
{
	struct err e;
	struct ranges *names = ranges_new(0, &e);
	struct log_range_chunk *last = NULL, *more;
	size_t n = 0;
	int64_t end_ns = INT64_MIN;

	for (size_t g = r->n_groups < 3 ? 0 : r->n_groups - 3; names && g < r->n_groups; g++) {
		const struct log_list *l = r->groups[g].flags & LOG_GROUP_RANGES ? log_list_of(r, &r->groups[g]) : NULL;

		more = l ? reallocarray(last, n + l->n + 1, sizeof(*last)) : NULL;
		last = more ? more : last;
		for (size_t i = 0; more && i < l->n; i++)
			if (l->items[i].kind == LOG_RANGE)
				last[n++] = (struct log_range_chunk) {l->items[i], INT64_MAX, INT64_MIN};
	}
	if (n > 0)
		qsort(last, n, sizeof(*last), by_offset);
	/* They are in order of end, within a second. */
	while (n-- > 0 && (end_ns == INT64_MIN || last[n + 1].from_ns >= end_ns - NS_PER_S)) {
		chunk_get(r, &last[n].item, names, ends, &last[n]);
		end_ns = last[n].to_ns > end_ns ? last[n].to_ns : end_ns;
	}
	free(last);
	ranges_free(names);
	return end_ns;
}

struct view {
	int64_t from_ns, to_ns;
	range_visit *visit;
	void *arg;
	bool off;
};

static bool final(void *arg, const struct range *range)
{
	struct view *v = arg;

	if (!(range->flags & RANGE_AGAIN) && range_touches(range, v->from_ns, v->to_ns))
		v->off = !v->visit(v->arg, range);
	return !v->off;
}

static bool others(void *arg, const struct range *range)
{
	struct view *v = arg;

	if (range->flags & RANGE_AGAIN)
		v->off = !v->visit(v->arg, range);
	return !v->off;
}

static bool touches(const struct log_range_chunk *c, const struct view *v)
{
	return c->from_ns < v->to_ns && c->to_ns >= v->from_ns;
}

void log_ranges_visit(struct trace *r, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit,
		       void *arg)
{
	struct view v = {from_ns, to_ns, visit, arg, false};
	struct ranges *store = log_ranges_store(r);
	size_t n = 0;

	if (!store)
		return;
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->n_range_chunks; i++)
		n += touches(&r->range_chunks[i], &v);
	if (ranges_least_ns(store) <= least_ns || (least_ns > 0 && n > CHUNKS_MOST)) {
		pthread_mutex_unlock(&r->lock);
		ranges_visit(store, from_ns, to_ns, least_ns, visit, arg);
		return;
	}
	for (size_t i = 0; i < r->n_range_chunks && !v.off; i++)
		if (touches(&r->range_chunks[i], &v))
			chunk_get(r, &r->range_chunks[i].item, store, final, &v);
	pthread_mutex_unlock(&r->lock);
	if (!v.off)
		ranges_visit(store, from_ns, to_ns, 0, others, &v);
}
