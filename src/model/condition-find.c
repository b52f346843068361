/* Searches a timeline for a condition. The extremes of coarse columns exclude most of it, so that a day
 * takes a few hundred queries; the rest is evaluated row by row, by the same code as live rows. */
#include "model/condition.h"

#include <math.h>
#include <string.h>

#define LEAF_ROWS 64
#define MOST      64 /* columns per query */
#define LOOK_COST 8  /* cost of a query of columns, in rows */

static int64_t less(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t more(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Can some value of the bin make it true? */
static bool may_hold(const struct condition_term *t, const struct bin *b)
{
	if (!b->n)
		return false;
	return term_compare(t, b->min) || term_compare(t, b->max) ||
	       term_compare(t, fmin(fmax(t->limit, b->min), b->max));
}

/* Is it false for some value of the bin? */
static bool breaks(const struct condition_term *t, const struct bin *b)
{
	return b->n && (!term_compare(t, b->min) || !term_compare(t, b->max));
}

/* The first zoom, from this one up, at which the length fits into one query. */
static int zoom_for(int zoom, int64_t length)
{
	while (zoom < ZOOM_MAX && (length >> zoom) > MOST - 3)
		zoom++;
	return zoom;
}

/* Can comparison i be true at some time in [low_ns, end_ns)? False is certain. */
static bool term_possible(void *arg, size_t i)
{
	struct condition_search *s = arg;
	const struct condition_term *t = &s->eval.c->terms[i];
	const struct timeline_ops *ops = s->timeline->ops;
	int64_t from = s->low_ns, to = s->end_ns - 1;
	int64_t before = from - s->eval.bridge_ns[t->tier]; /* the newest row at `from` may be this old */
	int64_t first, n;
	struct bin bins[MOST];
	bool any = false;
	int zoom = zoom_for(s->zoom, to - before);

	first = before >> zoom;
	n = less((to >> zoom) - first + 1, MOST);
	ops->columns(s->timeline, t->channel, zoom, first, (size_t)n, bins);
	for (int64_t k = 0; k < n && !any; k++)
		any = may_hold(t, &bins[k]);
	if (!any || !t->hold_ns || before <= to - t->hold_ns)
		return any;
	/* With "for", every row in between must have been true. */
	zoom = zoom_for(s->zoom, before - (to - t->hold_ns));
	first = ((to - t->hold_ns) >> zoom) + 1;
	n = less((before >> zoom) - first, MOST);
	if (n > 0)
		ops->columns(s->timeline, t->channel, zoom, first, (size_t)n, bins);
	for (int64_t k = 0; k < n; k++)
		if (breaks(t, &bins[k]))
			return false;
	return true;
}

static bool possible(struct condition_search *s)
{
	return expr_run(s->eval.c->ops, s->eval.c->n_ops,
			&(struct expr_inputs) {.term = term_possible, .arg = s}) > 0;
}

/* The result of a comparison at a row, or -1 if it has no value. If the row itself is no longer available, only a mean and extremes
 * are known. */
static int term_at(struct condition_search *s, const struct condition_term *t, int64_t t_ns)
{
	struct timeline *line = s->timeline;
	int zoom = zoom_base(line->ops->session(line)->hz[t->tier]);
	double v = line->ops->value(line, t->channel, t_ns, NULL);
	struct bin b;

	line->ops->columns(line, t->channel, zoom, t_ns >> zoom, 1, &b);
	if (isnan(v))
		return -1;
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

static void walk_begin(struct condition_search *s)
{
	s->walking = true;
	s->found = false;
	/* Continue where the last walk ended; its state is still valid. */
	if (s->walked_ns == s->low_ns)
		return;
	condition_start(&s->eval, s->eval.c, s->timeline->ops->session(s->timeline)->hz);
	s->was = false;
	for (int t = 0; t < TIERS; t++)
		walk_next(s, (enum tier)t, s->low_ns - s->warm_ns - 1);
}

static bool is_wanted(const struct condition_search *s, int64_t t_ns, bool holds)
{
	return t_ns >= s->low_ns && holds && !s->was && (s->back ? t_ns < s->from_ns : t_ns > s->from_ns);
}

/* Evaluates at most *rows rows. Returns true when the walk is complete. */
static bool walk(struct condition_search *s, size_t *rows)
{
	const struct condition *c = s->eval.c;

	for (; *rows && s->walking; --*rows) {
		int64_t t_ns = s->end_ns;
		bool holds;

		for (int t = 0; t < TIERS; t++)
			if (s->next_ns[t] < t_ns)
				t_ns = s->next_ns[t];
		if (t_ns == s->end_ns) {
			s->walking = false;
			s->walked_ns = s->end_ns;
			break;
		}
		for (size_t i = 0; i < c->n; i++) {
			int is = s->next_ns[c->terms[i].tier] == t_ns ? term_at(s, &c->terms[i], t_ns) : -1;

			if (is >= 0)
				condition_note(&s->eval, i, t_ns, is);
		}
		for (int t = 0; t < TIERS; t++)
			if (s->next_ns[t] == t_ns)
				walk_next(s, (enum tier)t, t_ns);
		holds = condition_holds(&s->eval, t_ns);
		if (is_wanted(s, t_ns, holds)) {
			s->found = true;
			s->at_ns = t_ns;
			s->walking = s->back;
		}
		s->was = holds;
	}
	return !s->walking;
}

void condition_search_begin(struct condition_search *s, const struct condition *c, struct timeline *t,
			    int64_t from_ns, bool back)
{
	int64_t bridge = 0, period = INT64_MAX, hold = 0;
	const double *hz = t->ops->session(t)->hz;

	*s = (struct condition_search) {
		.timeline = t, .back = back, .from_ns = from_ns, .walked_ns = INT64_MIN};
	condition_start(&s->eval, c, hz);
	s->over = !c->bound || !t->ops->extent(t, &s->first_ns, &s->last_ns) ||
		  (back ? from_ns < s->first_ns : from_ns > s->last_ns);
	if (s->over)
		return;
	for (size_t i = 0; i < c->n; i++) {
		enum tier tier = c->terms[i].tier;

		bridge = more(bridge, s->eval.bridge_ns[tier]);
		period = less(period, (int64_t)((double)NS_PER_S / hz[tier]));
		hold = more(hold, c->terms[i].hold_ns);
	}
	s->warm_ns = less(hold, s->last_ns - s->first_ns) + 2 * bridge;
	s->leaf = ZOOM_MIN;
	while (s->leaf < ZOOM_MAX && INT64_C(1) << s->leaf < more(LEAF_ROWS * period, s->warm_ns / 8))
		s->leaf++;
	s->zoom = s->leaf;
	s->pos_ns = back ? less(from_ns, s->last_ns) + 1 : more(from_ns, s->first_ns);
}

/* Selects the next part to search at the current zoom. */
static void next_stretch(struct condition_search *s)
{
	int64_t column = (s->pos_ns - s->back) >> s->zoom;

	s->low_ns = s->back ? more((int64_t)((uint64_t)column << s->zoom), s->first_ns) : s->pos_ns;
	if (s->back)
		s->end_ns = s->pos_ns;
	else if (column < s->last_ns >> s->zoom)
		s->end_ns = (int64_t)((uint64_t)(column + 1) << s->zoom);
	else
		s->end_ns = s->last_ns + 1;
}

static void passed(struct condition_search *s)
{
	int64_t done = s->back ? s->last_ns + 1 - s->low_ns : s->end_ns - s->first_ns;
	int64_t whole = s->last_ns + 1 - s->first_ns;

	s->pos_ns = s->back ? s->low_ns : s->end_ns;
	s->over = s->found || done >= whole;
	s->part = s->found ? 1 : (double)done / (double)whole;
	if (s->zoom < ZOOM_MAX && (s->pos_ns & ((INT64_C(1) << (s->zoom + 1)) - 1)) == 0)
		s->zoom++;
}

enum condition_found condition_search_go(struct condition_search *s, size_t rows)
{
	while (!s->over) {
		if (!rows)
			return CONDITION_MORE;
		if (s->walking) {
			if (walk(s, &rows))
				passed(s);
			if (!s->walking && s->found)
				return CONDITION_FOUND;
			continue;
		}
		next_stretch(s);
		rows -= rows < LOOK_COST ? rows : LOOK_COST;
		if (!possible(s))
			passed(s);
		else if (s->zoom > s->leaf)
			s->zoom--;
		else
			walk_begin(s);
	}
	return CONDITION_NOWHERE;
}
