/* The recording is taken in parts, so that only the ranges and readings of one part and around it are in memory.
 * Ranges become intervals of a group, once as they are and once without the ranges that are nested in them; those of
 * a group that overlap count once. */
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis.h"
#include "report/range-totals.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/intl.h"

#define PART_NS     (600 * NS_PER_S)
#define PART_RANGES (1u << 19)
#define BLOCK       1024
#define LEAST_NS    1000 /* has no more, except in a damaged file */

/* A range, or what is left of it without those nested in it. */
struct piece {
	struct interval at;
	struct group *group;
	const struct range_lane *lane;
	uint16_t depth;
};

struct open {
	const struct piece *piece;
	int64_t cursor_ns; /* end of the last nested one */
};

static int compare(uintmax_t a, uintmax_t b)
{
	return (a > b) - (a < b);
}

size_t range_stem(const char *name)
{
	const char *seq = strstr(name, ", seq = "), *id = strstr(name, ", op_id = ");

	return seq && (!id || seq < id) ? (size_t)(seq - name) : id ? (size_t)(id - name) : strlen(name);
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

/* NULL: out of memory, or too many. */
static struct group *group_of(struct collection *c, const struct range *r)
{
	bool thread = c->by == REPORT_BY_THREAD, full = c->most && c->n >= c->most;
	struct group *g = c->spare ? c->spare : calloc(1, sizeof(*g) + c->n_power * sizeof(g->user[0])), **found;

	c->no_memory |= !g;
	if (!g)
		return NULL;
	c->spare = g;
	g->first = thread ? r->lane->process : r->lane->domain;
	g->name = thread ? r->lane->thread : c->by == REPORT_BY_RANGE ? r->name : "";
	g->length = (int)range_stem(g->name);
	g->pid = thread ? r->lane->pid : 0;
	g->tid = thread ? r->lane->tid : 0;
	g->spent[USE_ALL].hottest = NAN;
	g->colour = r->colour;
	found = full ? tfind(g, &c->tree, by_key) : tsearch(g, &c->tree, by_key);
	c->no_memory |= !found && !full;
	if (!found || *found != g)
		return found ? *found : NULL;
	c->spare = NULL;
	for (size_t i = 0; i < c->n_power * USES; i++)
		range_power_join(&c->power[i / USES], &g->user[i / USES][i % USES]);
	g->before = c->newest;
	c->newest = g;
	c->n++;
	return g;
}

static bool range_take(void *to, const struct range *r)
{
	struct collection *c = to;
	struct piece *p = &c->pieces[c->n_pieces];

	c->work++;
	if (r->flags & RANGE_FOLDED) {
		c->folded += r->begin_ns >= c->from_ns && r->begin_ns < c->to_ns ? r->colour : 0;
		return true;
	}
	c->full = c->n_pieces == c->room;
	if (c->full)
		return false;
	p->at = (struct interval) {r->begin_ns, r->end_ns < c->end_ns ? r->end_ns : c->end_ns};
	p->lane = r->lane;
	p->depth = r->depth;
	p->group = group_of(c, r);
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

/* Appends what the timeline has up to to_ns. */
static void track_read(struct collection *c, struct track *k, size_t channel, int64_t from_ns, int64_t to_ns)
{
	const struct session *s = c->timeline->ops->session(c->timeline);
	int64_t t_ns[BLOCK], column;
	double values[BLOCK], *const v[] = {values};
	size_t n;

	k->n = 0;
	while (channel != SIZE_MAX && !c->no_memory &&
	       (n = c->timeline->ops->rows(c->timeline, s->channels[channel].tier, &from_ns, to_ns, &channel, 1, BLOCK, t_ns, v,
					   &column)) > 0) {
		struct track_row *more = array_grow(k->rows, k->n + n, &k->room, sizeof(*more));

		c->no_memory |= !more;
		if (!more)
			return;
		k->rows = more;
		for (size_t i = 0; i < n; i++, c->work++) {
			const struct track_row *last = k->n > 0 ? &more[k->n - 1] : NULL;
			int64_t past = last ? t_ns[i] - last->t_ns : 0;
			double known = past <= stats_hole_ns(s->hz[s->channels[channel].tier]) ? (double)past / 1e9 : 0;

			if (!isnan(values[i]))
				more[k->n++] = (struct track_row) {t_ns[i], values[i], (last ? last->area : 0) + known * values[i],
								   (last ? last->known : 0) + known};
		}
	}
}

/* A value is that of the time since the row before. */
static struct track_row track_at(const struct track *k, int64_t t_ns)
{
	size_t i = times_from(k->rows, k->n, sizeof(*k->rows), offsetof(struct track_row, t_ns), t_ns);
	struct track_row p;
	double s;

	if (k->n == 0 || i == 0 || i == k->n)
		return k->n == 0 ? (struct track_row) {.v = NAN} : k->rows[i ? i - 1 : 0];
	p = k->rows[i - 1];
	s = (double)(t_ns - p.t_ns) / (double)(k->rows[i].t_ns - p.t_ns) * (k->rows[i].known - p.known);
	p.area += s * k->rows[i].v;
	p.known += s;
	return p;
}

static void own_add(struct collection *c, const struct piece *p, int64_t from_ns, int64_t to_ns)
{
	if (from_ns < to_ns && from_ns < c->to_ns && to_ns > c->from_ns)
		c->own[c->n_own++] = (struct piece) {.at = {from_ns, to_ns}, .group = p->group};
}

/* The next range of the lane begins at next_ns. */
static void range_close(struct collection *c, const struct open *o, int64_t next_ns)
{
	const struct piece *p = o->piece;
	int64_t end = p->at.end_ns, length = end - (p->at.begin_ns > c->begin_ns ? p->at.begin_ns : c->begin_ns),
		to = next_ns - length < end ? next_ns : end + length;
	struct track_row a = track_at(&c->load, end), b = track_at(&c->load, to);

	own_add(c, p, o->cursor_ns, end);
	if (to <= end || end < c->from_ns || end >= c->to_ns)
		return;
	p->group->after += b.area - a.area;
	p->group->after_known += b.known - a.known;
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
	}
}

/* Adds a time in which one of the group is open, and which overlaps no other one. */
static void spent_add(struct spent *s, const struct collection *c, const struct interval *at)
{
	int64_t from = at->begin_ns > c->from_ns ? at->begin_ns : c->from_ns, to = at->end_ns < c->to_ns ? at->end_ns : c->to_ns;
	struct track_row a = track_at(&c->load, from), b = track_at(&c->load, to);
	size_t k = times_from(c->heat.rows, c->heat.n, sizeof(*c->heat.rows), offsetof(struct track_row, t_ns), from + 1);

	if (from > to)
		return;
	s->time_ns += to - from;
	s->load += b.area - a.area;
	s->loaded += b.known - a.known;
	/* The temperature is that of the last row. */
	for (k -= k > 0; k < c->heat.n && c->heat.rows[k].t_ns <= to; k++)
		s->hottest = fmax(s->hottest, c->heat.rows[k].v);
}

/* Adds the unions of the pieces of each group. */
static void pieces_spend(struct collection *c, struct piece *list, size_t n, int use)
{
	struct interval u = {0, 0};

	qsort(list, n, sizeof(*list), by_group);
	for (size_t i = 0; i < n; i++) {
		const struct interval *at = &list[i].at;
		struct group *g = list[i].group;
		int64_t begin = at->begin_ns > c->begin_ns ? at->begin_ns : c->begin_ns,
			from = begin > c->from_ns ? begin : c->from_ns, to = at->end_ns < c->to_ns ? at->end_ns : c->to_ns;

		for (size_t k = 0; k < c->n_power; k++)
			range_power_open(&c->power[k], &g->user[k][use], from, to);
		if (use == USE_ALL) {
			g->count += begin >= c->from_ns && begin < c->to_ns && at->end_ns >= begin;
			g->total_ns += to > from ? to - from : 0;
		}
		if (i > 0 && list[i - 1].group == g && at->begin_ns <= u.end_ns)
			u.end_ns = u.end_ns > at->end_ns ? u.end_ns : at->end_ns;
		else
			u = *at;
		if (i + 1 == n || list[i + 1].group != g || list[i + 1].at.begin_ns > u.end_ns)
			spent_add(&g->spent[use], c, &u);
	}
}

bool collection_add(struct collection *c, int64_t from_ns, int64_t to_ns)
{
	struct timeline *t = c->timeline;

	c->listed = false;
	c->n_pieces = c->work = 0;
	c->from_ns = from_ns;
	c->to_ns = to_ns;
	c->full = false;
	t->ops->ranges(t, from_ns, to_ns, c->live, range_take, c);
	if ((c->full && to_ns - from_ns > LEAST_NS) || c->no_memory)
		return !c->full;
	track_read(c, &c->load, c->gpu, from_ns - NS_PER_S, to_ns + NS_PER_S);
	track_read(c, &c->heat, c->hottest, from_ns - NS_PER_S, to_ns + NS_PER_S);
	pieces_walk(c);
	pieces_spend(c, c->own, c->n_own, USE_OWN);
	pieces_spend(c, c->pieces, c->n_pieces, USE_ALL);
	for (size_t i = 0; i < c->n_power; i++) {
		range_power_part(&c->power[i], t, from_ns, to_ns);
		c->work += c->power[i].work;
		c->no_memory |= c->power[i].no_memory;
	}
	return true;
}

void collection_break(struct collection *c)
{
	for (size_t i = 0; i < c->n_power; i++) {
		c->listed &= c->power[i].n_segments == 0;
		range_power_break(&c->power[i], c->timeline);
	}
}

static void span_take(struct collection *c, int64_t from_ns, int64_t to_ns, report_progress *progress)
{
	int64_t length = PART_NS, start_ns = from_ns;

	c->begin_ns = from_ns;
	c->end_ns = to_ns;
	while (from_ns < to_ns && !c->no_memory) {
		int64_t to = to_ns - from_ns > length ? from_ns + length : to_ns;

		if (!collection_add(c, from_ns, to)) {
			length /= 2;
			continue;
		}
		if (progress)
			progress((double)(to - start_ns) / (double)(to_ns - start_ns));
		from_ns = to;
		length = length < PART_NS / 2 ? 2 * length : PART_NS;
	}
	collection_break(c);
}

static int by_energy(const void *a, const void *b)
{
	const struct group *g = *(struct group *const *)a, *h = *(struct group *const *)b;
	const struct spent *s = &g->spent[USE_ALL], *t = &h->spent[USE_ALL];
	double x = isnan(s->energy.joules) ? -1 : s->energy.joules, y = isnan(t->energy.joules) ? -1 : t->energy.joules;

	if (x != y)
		return x < y ? 1 : -1;
	if (s->time_ns != t->time_ns)
		return s->time_ns < t->time_ns ? 1 : -1;
	return by_key(g, h);
}

static bool room_make(struct collection *c, struct timeline *t, size_t room)
{
	bool power = c->parts.add_up && c->parts.n > 0;

	c->timeline = t;
	c->n_power = power ? c->parts.n : 1;
	c->power = calloc(c->n_power, sizeof(*c->power));
	c->room = room;
	c->pieces = calloc(3 * room, sizeof(*c->pieces));
	c->own = c->pieces ? c->pieces + room : NULL;
	c->open = calloc(UINT16_MAX + 1, sizeof(*c->open));
	c->no_memory = !c->power || !c->pieces || !c->open;
	for (size_t i = 0; i < c->n_power && c->power; i++) {
		c->power[i].source.power = SIZE_MAX;
		if (power)
			energy_source_read(&c->power[i].source, t, c->parts.channel[i]);
	}
	return !c->no_memory;
}

bool collection_begin(struct collection *c, struct timeline *t, size_t room)
{
	c->by = REPORT_BY_RANGE;
	c->gpu = c->hottest = SIZE_MAX;
	power_parts_find(&c->parts, t->ops->session(t));
	return room_make(c, t, room);
}

bool collection_list(struct collection *c)
{
	struct group **list = c->listed ? c->list : reallocarray(c->list, c->n + 1, sizeof(struct group *));
	struct energy_result each[POWER_PARTS];
	size_t n = 0;

	c->list = list ? list : c->list;
	c->no_memory |= !list;
	if (c->no_memory || c->listed)
		return !c->no_memory;
	for (size_t i = 0; i < c->n_power; i++)
		range_power_solve(&c->power[i]);
	for (struct group *g = c->newest; g; g = g->before) {
		list[n++] = g;
		for (int use = 0; use < USES; use++) {
			for (size_t i = 0; i < c->n_power; i++)
				each[i] = g->user[i][use].joules;
			g->spent[use].energy = power_parts_sum(each, c->n_power);
			if (c->parts.n > 1 && !c->parts.add_up)
				g->spent[use].energy.why = N_("no total power: --select names the signal that is meant");
		}
	}
	qsort(list, n, sizeof(struct group *), by_energy);
	c->listed = true;
	return true;
}

void collection_name(const struct collection *c, const struct group *g, bool ids, char *out, size_t size)
{
	if (c->by == REPORT_BY_THREAD && !ids)
		snprintf(out, size, "%s%s%s", g->first, *g->name ? " " : "", g->name);
	else if (c->by == REPORT_BY_THREAD)
		snprintf(out, size, "%s%s%s %u/%u", g->first, *g->name ? " " : "", g->name, g->pid, g->tid);
	else if (c->by == REPORT_BY_DOMAIN)
		snprintf(out, size, "%s", range_domain(g->first));
	else
		snprintf(out, size, "%.*s", g->length, g->name);
}

void collection_title(const struct collection *c, const struct group *g, char *out, size_t size)
{
	const char *domain = c->by == REPORT_BY_RANGE ? g->first : "";
	int n = snprintf(out, size, "%s%s", domain, *domain ? ": " : "");

	collection_name(c, g, true, out + n, size - (size_t)n);
}

/* Frees what a list does not need. */
static void room_free(struct collection *c)
{
	free(c->pieces);
	free(c->open);
	c->pieces = NULL;
	c->open = NULL;
}

int collect(struct collection *c, report_progress *progress, struct err *e)
{
	const struct epochs *eps = &c->about->epochs;

	c->gpu = key_channel(c->about, KEY_GPU);
	c->hottest = key_channel(c->about, KEY_HOTTEST);
	c->parts = c->about->power;
	room_make(c, trace_timeline(c->about->trace), PART_RANGES);
	for (size_t i = 0, last; i < eps->n && !c->no_memory; i = last + 1) {
		last = epochs_chain(eps, i);
		span_take(c, eps->list[i].from_ns, eps->list[last].end_ns, progress);
	}
	collection_list(c);
	room_free(c);
	return c->no_memory ? err_set(e, ERR_FAILED, _("out of memory")) : 0;
}

void collection_free(struct collection *c)
{
	room_free(c);
	tdestroy(c->tree, free);
	free(c->spare);
	free(c->list);
	for (size_t i = 0; i < c->n_power && c->power; i++)
		range_power_free(&c->power[i]);
	free(c->power);
	free(c->load.rows);
	free(c->heat.rows);
}
