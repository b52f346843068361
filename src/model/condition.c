/* Parses conditions and evaluates them over live rows. Parsing needs no board, so that a syntax error is
 * reported before anything is opened. */
#include "model/condition.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/intl.h"
#include "util/num.h"

#define BRIDGE_MIN_NS (250 * NS_PER_MS)

static int take_hold(struct expr_parser *p, struct condition_term *term)
{
	size_t n = strcspn(p->at, p->ends);
	char time[64];

	snprintf(time, sizeof(time), "%.*s", (int)n, p->at);
	if (n >= sizeof(time) || !num_duration_ns(time, &term->hold_ns))
		return expr_expected(p, p->at, _("a time such as 2s or 500ms"));
	expr_take(p, time);
	return 0;
}

static int comparison(struct expr_parser *p)
{
	struct condition *c = p->arg;
	struct condition_term *term = &c->terms[c->n];
	unsigned level;

	if (c->n == CONDITION_TERMS)
		return err_set(p->e, ERR_USAGE, _("the condition has more than %d comparisons"),
			       CONDITION_TERMS);
	if (expr_take_name(p, term->name) < 0)
		return -1;
	term->compare = expr_take_operator(p, LEVEL_COMPARE, LEVEL_COMPARE, &level);
	if (!term->compare && strcasecmp(term->name, "throttled") != 0)
		return expr_expected(p, p->at, _("a comparison: > >= < <= == or !="));
	if (!term->compare)
		term->compare = expr_above;
	else if (expr_take_number(p, &term->limit, &term->unit) < 0)
		return -1;
	if (expr_take(p, "for") && take_hold(p, term) < 0)
		return -1;
	return expr_emit(p, expr_term, 0, (unsigned)c->n++, true);
}

int condition_parse(struct condition *c, const char *text, struct err *e)
{
	struct expr_parser p = {.ends = " \t<>=!&|()[]",
				.operands = _("the name of a signal"),
				.follow = _("\"and\", \"or\", \"for\" or the end"),
				.highest = LEVEL_AND,
				.operand = comparison,
				.arg = c};

	memset(c, 0, sizeof(*c));
	if (strlen(text) >= sizeof(c->text))
		return err_set(e, ERR_USAGE, _("the condition is too long: at most %zu bytes"),
			       sizeof(c->text) - 1);
	text_printable(c->text, sizeof(c->text), text, strlen(text));
	if (expr_parse(&p, text, e) < 0)
		return -1;
	memcpy(c->ops, p.op, p.n * sizeof(c->ops[0]));
	c->n_ops = p.n;
	return 0;
}

bool condition_uses(const struct condition *c, enum tier tier)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->terms[i].tier == tier)
			return true;
	return false;
}

void condition_start(struct condition_eval *v, const struct condition *c, const double hz[TIERS])
{
	memset(v, 0, sizeof(*v));
	v->c = c;
	for (int t = 0; t < TIERS; t++)
		v->bridge_ns[t] = (int64_t)fmax(10 * (double)NS_PER_S / hz[t], (double)BRIDGE_MIN_NS);
}

bool term_compare(const struct condition_term *t, double x)
{
	const double a[] = {x, t->limit};

	return t->compare(NULL, a, NULL) > 0;
}

void condition_note(struct condition_eval *v, size_t i, int64_t t_ns, bool is)
{
	bool interrupted = t_ns - v->term[i].seen_ns > v->bridge_ns[v->c->terms[i].tier];

	if (is && (!v->term[i].is || interrupted))
		v->term[i].since_ns = t_ns;
	v->term[i].is = is;
	v->term[i].seen_ns = t_ns;
}

bool condition_term_holds(void *eval, size_t i)
{
	const struct condition_eval *v = eval;
	const struct condition_term *t = &v->c->terms[i];

	return v->term[i].is && v->now_ns - v->term[i].seen_ns <= v->bridge_ns[t->tier] &&
	       v->term[i].seen_ns - v->term[i].since_ns >= t->hold_ns;
}

bool condition_holds(struct condition_eval *v, int64_t t_ns)
{
	struct expr_inputs in = {.term = condition_term_holds, .arg = v};

	v->now_ns = t_ns;
	return expr_run(v->c->ops, v->c->n_ops, &in) > 0;
}

bool condition_row(struct condition_eval *v, enum tier tier, int64_t t_ns, const double *values)
{
	for (size_t i = 0; i < v->c->n; i++) {
		const struct condition_term *t = &v->c->terms[i];

		if (t->tier != tier)
			continue;
		if (isnan(values[t->column])) {
			v->term[i].missing = values[t->column];
			continue;
		}
		v->term[i].value = values[t->column];
		condition_note(v, i, t_ns, term_compare(t, values[t->column]));
	}
	return condition_holds(v, t_ns);
}
