/* A condition over rows as they come.  Each comparison keeps what its newest
 * row said; one whose tier has gone quiet is not true any more. */
#include <math.h>
#include <string.h>

#include "base/terms.h"

#define BRIDGE_MIN_NS (250 * NS_PER_MS)

bool condition_uses(const struct condition *c, enum tier tier)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->terms[i].tier == tier)
			return true;
	return false;
}

int64_t condition_longest_ns(const struct condition *c)
{
	int64_t longest = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->terms[i].hold_ns > longest)
			longest = c->terms[i].hold_ns;
	return longest;
}

static int64_t bridge_of(double hz)
{
	double ns = 10 * (double)NS_PER_S / hz;

	return ns > BRIDGE_MIN_NS ? (int64_t)ns : BRIDGE_MIN_NS;
}

void condition_start(struct condition_eval *v, const struct condition *c, const double hz[TIERS])
{
	memset(v, 0, sizeof(*v));
	v->c = c;
	for (int t = 0; t < TIERS; t++)
		v->bridge_ns[t] = bridge_of(hz[t]);
}

bool term_compare(const struct condition_term *t, double x)
{
	switch (t->op) {
	case OP_ABOVE:
		return x > t->limit;
	case OP_AT_LEAST:
		return x >= t->limit;
	case OP_BELOW:
		return x < t->limit;
	case OP_AT_MOST:
		return x <= t->limit;
	case OP_EQUAL:
		return x == t->limit;
	case OP_DIFFERENT:
		return x != t->limit && !isnan(x);
	}
	return false;
}

void term_note(struct condition_eval *v, size_t i, int64_t t_ns, bool is)
{
	bool interrupted = t_ns - v->term[i].seen_ns > v->bridge_ns[v->c->terms[i].tier];

	if (is && (!v->term[i].is || interrupted))
		v->term[i].since_ns = t_ns;
	v->term[i].is = is;
	v->term[i].seen_ns = t_ns;
}

static bool term_holds(const struct condition_eval *v, size_t i, int64_t t_ns)
{
	const struct condition_term *t = &v->c->terms[i];

	return v->term[i].is && t_ns - v->term[i].seen_ns <= v->bridge_ns[t->tier] &&
	       v->term[i].seen_ns - v->term[i].since_ns >= t->hold_ns;
}

bool terms_hold(const struct condition_eval *v, int64_t t_ns)
{
	bool all = v->c->n > 0;

	for (size_t i = 0; i < v->c->n; i++) {
		if (v->c->terms[i].alternative) {
			if (all)
				return true;
			all = true;
		}
		all = all && term_holds(v, i, t_ns);
	}
	return all;
}

bool condition_row(struct condition_eval *v, enum tier tier, int64_t t_ns, const double *values)
{
	for (size_t i = 0; i < v->c->n; i++)
		if (v->c->terms[i].tier == tier)
			term_note(v, i, t_ns, term_compare(&v->c->terms[i], values[v->c->terms[i].column]));
	return terms_hold(v, t_ns);
}
