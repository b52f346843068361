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

/* The columns from one time to the other, both included, at a zoom at which they are few. Returns their number. */
static size_t look(const struct condition_search *s, const struct condition_term *t, int64_t from_ns, int64_t to_ns,
		   struct bin bins[MOST])
{
	int zoom = s->zoom;
	size_t n;

	while (zoom < ZOOM_MAX && (to_ns - from_ns) >> zoom > MOST - 3)
		zoom++;
	n = (size_t)less((to_ns >> zoom) - (from_ns >> zoom) + 1, MOST);
	s->timeline->ops->columns(s->timeline, t->channel, zoom, from_ns >> zoom, n, bins);
	return n;
}

/* Can comparison i be true at some time in [low_ns, end_ns)? False is certain. */
static bool term_possible(void *arg, size_t i)
{
	struct condition_search *s = arg;
	const struct condition_term *t = &s->eval.c->terms[i];
	int64_t to_ns = s->end_ns - 1, before_ns = s->low_ns - s->eval.bridge_ns[t->tier]; /* the newest row then may be this old */
	struct bin bins[MOST];
	size_t n = look(s, t, before_ns, to_ns, bins), k = 0;

	while (k < n && !may_hold(t, &bins[k]))
		k++;
	if (k == n || !t->hold_ns || before_ns <= to_ns - t->hold_ns)
		return k < n;
	/* With "for", every row in between must have been true. */
	n = look(s, t, to_ns - t->hold_ns, before_ns, bins);
	for (k = 1; k + 1 < n; k++)
		if (breaks(t, &bins[k]))
			return false;
	return true;
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

/* Evaluates the next row before end_ns. Returns false if there is none. */
static bool walk(struct condition_search *s)
{
	const struct condition *c = s->eval.c;
	int64_t t_ns = s->end_ns;
	bool holds;

	for (int t = 0; t < TIERS; t++)
		t_ns = less(t_ns, s->next_ns[t]);
	if (t_ns == s->end_ns) {
		s->walked_ns = s->end_ns;
		return false;
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
	if (t_ns >= s->low_ns && holds && !s->was && (s->back ? t_ns < s->from_ns : t_ns > s->from_ns)) {
		s->found = true;
		s->at_ns = t_ns;
	}
	s->was = holds;
	return true;
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

/* Takes the part next to what is done, as long as a column of the zoom. Returns false if the condition holds nowhere in it. */
static bool part_possible(struct condition_search *s)
{
	const struct condition *c = s->eval.c;
	int64_t column = (s->pos_ns - s->back) >> s->zoom;

	s->low_ns = s->back ? more((int64_t)((uint64_t)column << s->zoom), s->first_ns) : s->pos_ns;
	s->end_ns = s->back ? s->pos_ns
		    : column < s->last_ns >> s->zoom ? (int64_t)((uint64_t)(column + 1) << s->zoom)
						     : s->last_ns + 1;
	return expr_run(c->ops, c->n_ops, &(struct expr_inputs) {.term = term_possible, .arg = s}) > 0;
}

enum condition_found condition_search_go(struct condition_search *s, size_t rows)
{
	int64_t done;

	while (!s->over) {
		if (!rows)
			return CONDITION_MORE;
		if (!s->walking) {
			rows -= rows < LOOK_COST ? rows : LOOK_COST;
			s->walking = part_possible(s);
			if (s->walking && s->zoom > s->leaf) {
				s->walking = false;
				s->zoom--;
				continue;
			}
			/* Where the last walk ended, its state is still valid. */
			if (s->walking && s->walked_ns != s->low_ns) {
				condition_start(&s->eval, s->eval.c, s->timeline->ops->session(s->timeline)->hz);
				s->was = false;
				for (int t = 0; t < TIERS; t++)
					walk_next(s, (enum tier)t, s->low_ns - s->warm_ns - 1);
			}
		}
		for (; s->walking && rows > 0; rows--)
			s->walking = walk(s) && (s->back || !s->found);
		if (s->walking)
			continue;
		done = s->back ? s->last_ns + 1 - s->low_ns : s->end_ns - s->first_ns;
		s->pos_ns = s->back ? s->low_ns : s->end_ns;
		s->over = s->found || done > s->last_ns - s->first_ns;
		s->part = s->found ? 1 : (double)done / (double)(s->last_ns + 1 - s->first_ns);
		if (s->zoom < ZOOM_MAX && (s->pos_ns & ((INT64_C(1) << (s->zoom + 1)) - 1)) == 0)
			s->zoom++;
	}
	return s->found ? CONDITION_FOUND : CONDITION_NOWHERE;
}
