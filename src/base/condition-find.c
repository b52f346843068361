/* A condition over a timeline.  The extremes of coarse columns say where it
 * cannot hold, so that a day is passed over in a few hundred looks; what is left
 * is walked row by row with the same evaluation that rows get as they come. */
#include <string.h>

#include "base/terms.h"

#define LEAF_ROWS 64
#define MOST      64 /* columns asked for at once */
#define LOOK_COST 8  /* a look at columns, in rows */

/* Can some value of the bin make it true? */
static bool may_hold(const struct condition_term *t, const struct bin *b)
{
	if (!b->n)
		return false;
	if (t->op == OP_EQUAL)
		return b->min <= t->limit && b->max >= t->limit;
	return term_compare(t, b->min) || term_compare(t, b->max);
}

/* Does some value of the bin make it false, for certain? */
static bool breaks(const struct condition_term *t, const struct bin *b)
{
	return b->n && (!term_compare(t, b->min) || !term_compare(t, b->max));
}

/* The zoom, this one or coarser, at which so long a stretch is few columns. */
static int zoom_for(int zoom, int64_t length)
{
	while (zoom < ZOOM_MAX && (length >> zoom) > MOST - 3)
		zoom++;
	return zoom;
}

static size_t look(struct condition_search *s, size_t channel, int zoom, int64_t lo, int64_t hi,
		   struct bin *out)
{
	size_t n = hi - lo < MOST ? (size_t)(hi - lo + 1) : MOST;

	s->timeline->ops->columns(s->timeline, channel, zoom, lo, n, out);
	return n;
}

/* Could the comparison hold at some time in [from, to]?  False is certain. */
static bool term_possible(struct condition_search *s, const struct condition_term *t, int zoom, int64_t from,
			  int64_t to)
{
	int64_t before = from - s->eval.bridge_ns[t->tier]; /* its newest row may be as old as that */
	int z = zoom_for(zoom, to - before);
	struct bin bins[MOST];
	bool any = false;
	size_t n;

	n = look(s, t->channel, z, before >> z, to >> z, bins);
	for (size_t i = 0; i < n && !any; i++)
		any = may_hold(t, &bins[i]);
	if (!any || !t->hold_ns || before <= to - t->hold_ns)
		return any;
	/* Held for so long that every row in between is true. */
	z = zoom_for(zoom, before - (to - t->hold_ns));
	int64_t lo = ((to - t->hold_ns) >> z) + 1, hi = (before >> z) - 1;
	n = lo <= hi ? look(s, t->channel, z, lo, hi, bins) : 0;
	for (size_t i = 0; i < n; i++)
		if (breaks(t, &bins[i]))
			return false;
	return true;
}

static bool possible(struct condition_search *s, int64_t from, int64_t to)
{
	const struct condition *c = s->eval.c;
	bool all = true;

	for (size_t i = 0; i < c->n; i++) {
		if (c->terms[i].alternative) {
			if (all)
				return true;
			all = true;
		}
		all = all && term_possible(s, &c->terms[i], s->zoom, from, to);
	}
	return all;
}

/* The truth of a comparison at a row.  Where the rows themselves are gone, only
 * a mean and extremes are there. */
static bool term_at(struct condition_search *s, const struct condition_term *t, int64_t t_ns)
{
	struct timeline *line = s->timeline;
	int zoom = zoom_base(line->ops->session(line)->hz[t->tier]);
	double v = line->ops->value(line, t->channel, t_ns, NULL);
	struct bin b;

	line->ops->columns(line, t->channel, zoom, t_ns >> zoom, 1, &b);
	if (b.n <= 1 || v == b.min || v == b.max)
		return term_compare(t, v);
	return t->hold_ns ? !breaks(t, &b) : may_hold(t, &b);
}

static void walk_next(struct condition_search *s, enum tier tier, int64_t t_ns)
{
	int64_t next = INT64_MAX;

	if (condition_uses(s->eval.c, tier))
		next = s->timeline->ops->step(s->timeline, tier, t_ns, 1);
	s->next_ns[tier] = next > t_ns ? next : INT64_MAX;
}

static void walk_begin(struct condition_search *s, int64_t from, int64_t end)
{
	const double *hz = s->timeline->ops->session(s->timeline)->hz;

	s->walking = true;
	s->walk_end_ns = end;
	s->found = false;
	/* Going on where the last walk ended: everything is known. */
	if (s->walked_ns == from)
		return;
	condition_start(&s->eval, s->eval.c, hz);
	s->was = false;
	for (int t = 0; t < TIERS; t++)
		walk_next(s, (enum tier)t, from - s->warm_ns - 1);
}

static bool is_wanted(const struct condition_search *s, int64_t t_ns, bool holds)
{
	if (t_ns < s->pos_low_ns || !holds)
		return false;
	if (s->wanted == CONDITION_HOLDS)
		return s->back ? t_ns <= s->from_ns : t_ns >= s->from_ns;
	return !s->was && (s->back ? t_ns < s->from_ns : t_ns > s->from_ns);
}

/* At most *rows rows.  True when the walk is over. */
static bool walk(struct condition_search *s, size_t *rows)
{
	for (; *rows; --*rows) {
		int64_t t_ns = INT64_MAX;
		bool holds;

		for (int t = 0; t < TIERS; t++)
			if (s->next_ns[t] < t_ns)
				t_ns = s->next_ns[t];
		if (t_ns >= s->walk_end_ns) {
			s->walking = false;
			s->walked_ns = s->walk_end_ns;
			return true;
		}
		for (size_t i = 0; i < s->eval.c->n; i++)
			if (s->next_ns[s->eval.c->terms[i].tier] == t_ns)
				term_note(&s->eval, i, t_ns, term_at(s, &s->eval.c->terms[i], t_ns));
		for (int t = 0; t < TIERS; t++)
			if (s->next_ns[t] == t_ns)
				walk_next(s, (enum tier)t, t_ns);
		holds = terms_hold(&s->eval, t_ns);
		if (is_wanted(s, t_ns, holds)) {
			s->found = true;
			s->at_ns = t_ns;
		}
		s->was = holds;
		if (s->found && !s->back) {
			s->walking = false;
			return true;
		}
	}
	return false;
}

void condition_search_begin(struct condition_search *s, const struct condition *c, struct timeline *t,
			    int64_t from_ns, bool back, enum condition_wanted wanted)
{
	const double *hz = t->ops->session(t)->hz;
	int64_t bridge = 0, period = INT64_MAX;

	memset(s, 0, sizeof(*s));
	s->timeline = t;
	s->wanted = wanted;
	s->back = back;
	s->from_ns = from_ns;
	s->walked_ns = INT64_MIN;
	s->eval.c = c;
	s->over = !c->bound || !t->ops->extent(t, &s->first_ns, &s->last_ns);
	if (s->over)
		return;
	condition_start(&s->eval, c, hz);
	for (int i = 0; i < TIERS; i++) {
		if (!condition_uses(c, (enum tier)i))
			continue;
		if (s->eval.bridge_ns[i] > bridge)
			bridge = s->eval.bridge_ns[i];
		if ((int64_t)((double)NS_PER_S / hz[i]) < period)
			period = (int64_t)((double)NS_PER_S / hz[i]);
	}
	s->warm_ns = condition_longest_ns(c) + 2 * bridge;
	if (s->warm_ns < 0 || s->warm_ns > s->last_ns - s->first_ns + 2 * bridge)
		s->warm_ns = s->last_ns - s->first_ns + 2 * bridge;
	s->leaf = ZOOM_MIN;
	while (s->leaf < ZOOM_MAX &&
	       ((INT64_C(1) << s->leaf) < LEAF_ROWS * period || (INT64_C(1) << s->leaf) < s->warm_ns / 8))
		s->leaf++;
	s->zoom = s->leaf;
	if (back) {
		s->pos_ns = from_ns > s->last_ns ? s->last_ns + 1 : from_ns + 1;
		s->over = from_ns < s->first_ns;
	} else {
		s->pos_ns = from_ns < s->first_ns ? s->first_ns : from_ns;
		s->over = from_ns > s->last_ns;
	}
}

/* The next stretch, [*lo, *hi), of the present zoom. */
static void stretch(const struct condition_search *s, int64_t *lo, int64_t *hi)
{
	int64_t i = (s->back ? s->pos_ns - 1 : s->pos_ns) >> s->zoom;

	*lo = i <= s->first_ns >> s->zoom ? s->first_ns : (int64_t)((uint64_t)i << s->zoom);
	*hi = i >= s->last_ns >> s->zoom ? s->last_ns + 1 : (int64_t)((uint64_t)(i + 1) << s->zoom);
	if (s->back)
		*hi = s->pos_ns;
	else
		*lo = s->pos_ns;
}

static void passed(struct condition_search *s, int64_t lo, int64_t hi)
{
	double whole = (double)(s->last_ns - s->first_ns) + 1;

	s->pos_ns = s->back ? lo : hi;
	s->part = (s->back ? (double)(s->last_ns + 1 - lo) : (double)(hi - s->first_ns)) / whole;
	s->over = s->back ? lo <= s->first_ns : hi > s->last_ns;
	if (s->zoom < ZOOM_MAX && (s->pos_ns & ((INT64_C(1) << (s->zoom + 1)) - 1)) == 0)
		s->zoom++;
}

enum condition_found condition_search_go(struct condition_search *s, size_t rows)
{
	int64_t lo, hi;

	while (!s->over) {
		if (!rows)
			return CONDITION_MORE;
		stretch(s, &lo, &hi);
		if (!s->walking) {
			rows -= rows < LOOK_COST ? rows : LOOK_COST;
			if (!possible(s, lo, hi - 1)) {
				passed(s, lo, hi);
				continue;
			}
			if (s->zoom > s->leaf) {
				s->zoom--;
				continue;
			}
			s->pos_low_ns = lo;
			walk_begin(s, lo, hi);
		}
		if (!walk(s, &rows))
			return CONDITION_MORE;
		passed(s, lo, hi);
		if (s->found) {
			s->over = true;
			s->part = 1;
			return CONDITION_FOUND;
		}
	}
	return CONDITION_NOWHERE;
}
