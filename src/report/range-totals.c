/* The recording is taken in parts, so that only the ranges and rows of one part are in memory. In a part, ranges
 * become intervals of a group, once as they are and once without the ranges that are nested in them; those of a
 * group that overlap count once. */
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis.h"
#include "report/range-totals.h"
#include "util/clock.h"
#include "util/intl.h"

#define PART_NS     (600 * NS_PER_S)
#define PART_RANGES (1u << 19)

/* A range, or what is left of it without those nested in it. */
struct piece {
	struct interval at;
	struct group *group;
	const struct range_lane *lane;
	uint16_t depth;
	bool begins; /* in this part */
};

struct open {
	const struct piece *piece;
	int64_t cursor_ns; /* end of the last nested one */
};

static int compare(uintmax_t a, uintmax_t b)
{
	return (a > b) - (a < b);
}

/* What is different in each call, such as ", seq = 7", does not belong to the name. */
static int name_length(const char *name)
{
	const char *seq = strstr(name, ", seq = "), *id = strstr(name, ", op_id = ");

	return (int)(seq && (!id || seq < id) ? seq - name : id ? id - name : (ptrdiff_t)strlen(name));
}

static int by_key(const void *a, const void *b)
{
	const struct group *g = a, *h = b;
	int order = strcmp(g->first, h->first);

	if (order == 0)
		order = strncmp(g->name, h->name, (size_t)(g->length < h->length ? g->length : h->length));
	if (order == 0)
		order = compare((uintmax_t)g->length, (uintmax_t)h->length);
	if (order == 0)
		order = compare(g->pid, h->pid);
	return order ? order : compare(g->tid, h->tid);
}

/* NULL: out of memory. */
static struct group *group_of(struct collection *c, const struct range *r)
{
	bool thread = c->by == REPORT_BY_THREAD;
	struct group *g = c->spare ? c->spare : calloc(1, sizeof(*g)), **found;

	if (!g)
		return NULL;
	c->spare = g;
	g->first = thread ? r->lane->process : r->lane->domain;
	g->name = thread ? r->lane->thread : c->by == REPORT_BY_RANGE ? r->name : "";
	g->length = name_length(g->name);
	g->pid = thread ? r->lane->pid : 0;
	g->tid = thread ? r->lane->tid : 0;
	g->all.hottest = g->own.hottest = NAN;
	found = tsearch(g, &c->tree, by_key);
	if (!found || *found != g)
		return found ? *found : NULL;
	c->spare = NULL;
	g->before = c->newest;
	c->newest = g;
	c->n++;
	return g;
}

static bool range_take(void *to, const struct range *r)
{
	struct collection *c = to;
	struct piece *p = &c->pieces[c->n_pieces];

	if (r->begin_ns >= c->to_ns || (r->end_ns <= c->from_ns && r->begin_ns < c->from_ns))
		return true;
	c->full = c->n_pieces == PART_RANGES;
	if (c->full)
		return false;
	p->at.begin_ns = r->begin_ns > c->from_ns ? r->begin_ns : c->from_ns;
	p->at.end_ns = r->end_ns < c->to_ns ? r->end_ns : c->to_ns;
	p->lane = r->lane;
	p->depth = r->depth;
	p->begins = c->first || r->begin_ns >= c->from_ns;
	p->group = group_of(c, r);
	c->no_memory |= !p->group;
	c->n_pieces += p->group != NULL;
	return !c->no_memory;
}

static int by_lane(const void *a, const void *b)
{
	const struct piece *p = a, *q = b;
	int order = compare((uintptr_t)p->lane, (uintptr_t)q->lane);

	if (order == 0)
		order = (p->at.begin_ns > q->at.begin_ns) - (p->at.begin_ns < q->at.begin_ns);
	return order ? order : compare(p->depth, q->depth);
}

static int by_group(const void *a, const void *b)
{
	const struct piece *p = a, *q = b;
	int order = compare((uintptr_t)p->group, (uintptr_t)q->group);

	return order ? order : (p->at.begin_ns > q->at.begin_ns) - (p->at.begin_ns < q->at.begin_ns);
}

static void own_add(struct collection *c, const struct piece *p, int64_t from_ns, int64_t to_ns)
{
	if (from_ns < to_ns)
		c->own[c->n_own++] = (struct piece) {.at = {from_ns, to_ns}, .group = p->group};
}

/* The next range of the lane begins at next_ns. */
static void range_close(struct collection *c, const struct open *o, int64_t next_ns)
{
	const struct piece *p = o->piece;
	int64_t end = p->at.end_ns, length = end - p->at.begin_ns,
		to = next_ns - length < end ? next_ns : end + length;
	struct curve_point load;

	own_add(c, p, o->cursor_ns, end);
	if (to <= end)
		return;
	load = curve_between(&c->curves.load, end, to);
	p->group->after += load.area;
	p->group->after_known += load.known;
	p->group->after_ns += to - end;
}

/* Of a lane, ranges that begin are put on a stack, by depth. */
static void pieces_walk(struct collection *c)
{
	size_t n = 0;

	qsort(c->pieces, c->n_pieces, sizeof(*c->pieces), by_lane);
	c->n_own = 0;
	for (size_t i = 0; i <= c->n_pieces; i++) {
		const struct piece *p = i < c->n_pieces ? &c->pieces[i] : NULL;
		bool same = p && i > 0 && p->lane == p[-1].lane;

		while (n > 0 && (!same || c->open[n - 1].piece->depth >= p->depth ||
				 c->open[n - 1].piece->at.end_ns <= p->at.begin_ns))
			range_close(c, &c->open[--n], same ? p->at.begin_ns : c->to_ns);
		if (!p)
			break;
		if (n > 0) {
			own_add(c, c->open[n - 1].piece, c->open[n - 1].cursor_ns, p->at.begin_ns);
			if (c->open[n - 1].cursor_ns < p->at.end_ns)
				c->open[n - 1].cursor_ns = p->at.end_ns;
		}
		c->open[n++] = (struct open) {p, p->at.begin_ns};
		p->group->count += p->begins;
		p->group->total_ns += p->at.end_ns - p->at.begin_ns;
	}
}

/* Adds the unions of the pieces of each group. */
static void pieces_spend(struct collection *c, struct piece *list, size_t n, bool own)
{
	struct interval *u = c->union_of;
	size_t m = 0;

	qsort(list, n, sizeof(*list), by_group);
	for (size_t i = 0; i < n; i++) {
		if (m > 0 && list[i].at.begin_ns <= u[m - 1].end_ns)
			u[m - 1].end_ns =
				u[m - 1].end_ns > list[i].at.end_ns ? u[m - 1].end_ns : list[i].at.end_ns;
		else
			u[m++] = list[i].at;
		if (i + 1 < n && list[i + 1].group == list[i].group)
			continue;
		spent_add(own ? &list[i].group->own : &list[i].group->all, &c->curves, u, m);
		m = 0;
	}
}

/* Returns false if there are too many ranges. */
static bool part_take(struct collection *c, int64_t from_ns, int64_t to_ns)
{
	c->n_pieces = 0;
	c->from_ns = from_ns;
	c->to_ns = to_ns;
	c->full = false;
	trace_ranges(c->about->trace, from_ns, to_ns, 0, range_take, c);
	if (c->full || c->no_memory || c->n_pieces == 0)
		return !c->full;
	curves_read(&c->curves, from_ns, to_ns);
	pieces_walk(c);
	pieces_spend(c, c->pieces, c->n_pieces, false);
	pieces_spend(c, c->own, c->n_own, true);
	c->no_memory |= c->curves.no_memory;
	return true;
}

static void span_take(struct collection *c, int64_t from_ns, int64_t to_ns, report_progress *progress)
{
	int64_t length = PART_NS, start_ns = from_ns;

	c->first = true;
	while (from_ns < to_ns && !c->no_memory) {
		int64_t to = to_ns - from_ns > length ? from_ns + length : to_ns;

		/* A microsecond has no more, except from a damaged file. */
		if (!part_take(c, from_ns, to) && length > 1000) {
			length /= 2;
			continue;
		}
		if (progress)
			progress((double)(to - start_ns) / (double)(to_ns - start_ns));
		from_ns = to;
		c->first = false;
		length = length < PART_NS / 2 ? 2 * length : PART_NS;
	}
}

static int by_energy(const void *a, const void *b)
{
	const struct group *g = *(struct group *const *)a, *h = *(struct group *const *)b;
	double x = isnan(g->in.joules) ? -1 : g->in.joules, y = isnan(h->in.joules) ? -1 : h->in.joules;

	if (x != y)
		return x < y ? 1 : -1;
	if (g->all.time_ns != h->all.time_ns)
		return g->all.time_ns < h->all.time_ns ? 1 : -1;
	return by_key(g, h);
}

int collect(struct collection *c, report_progress *progress, struct err *e)
{
	const struct epochs *eps = &c->about->epochs;
	size_t n = 0;

	curves_begin(&c->curves, c->about->trace, c->about->key[KEY_POWER], c->about->key[KEY_GPU],
		     c->about->key[KEY_HOTTEST]);
	c->pieces = calloc(PART_RANGES, sizeof(*c->pieces));
	c->own = calloc(2 * PART_RANGES, sizeof(*c->own));
	c->union_of = calloc(2 * PART_RANGES, sizeof(*c->union_of));
	c->open = calloc(UINT16_MAX + 1, sizeof(*c->open));
	c->no_memory = !c->pieces || !c->own || !c->union_of || !c->open;
	for (size_t i = 0, last; i < eps->n && !c->no_memory; i = last + 1) {
		last = epochs_chain(eps, i);
		span_take(c, eps->list[i].from_ns, eps->list[last].end_ns, progress);
	}
	c->list = calloc(c->n + 1, sizeof(struct group *));
	if (c->no_memory || !c->list)
		return err_set(e, ERR_FAILED, _("out of memory"));
	for (struct group *g = c->newest; g; g = g->before) {
		g->in = spent_get(&g->all, &c->curves);
		g->alone = spent_get(&g->own, &c->curves);
		c->list[n++] = g;
	}
	qsort(c->list, n, sizeof(struct group *), by_energy);
	return 0;
}

void collection_free(struct collection *c)
{
	tdestroy(c->tree, free);
	free(c->spare);
	free(c->list);
	free(c->pieces);
	free(c->own);
	free(c->union_of);
	free(c->open);
	curves_free(&c->curves);
}
