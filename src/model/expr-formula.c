/* Operands of formulas that conditions do not have: numbers, columns, time and functions. The arguments
 * of a function are a[0] .. a[op->n - 1]. */
#include "model/expr.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"

struct formula {
	size_t n;
	struct expr_op op[];
};

EXPR_FUNCTION(static, value_of_column, in->row[op->index])
EXPR_FUNCTION(static, value_of_time, in->t)
EXPR_FUNCTION(static, negated, -a[0])
EXPR_FUNCTION(static, floor_of, floor(a[0]))
EXPR_FUNCTION(static, rounded, a[1] > 0 ? floor(a[0] / a[1] + 0.5) * a[1] : NAN)
EXPR_FUNCTION(static, least, EXPR_MISSING2 ? NAN : fmin(a[0], a[1]))
EXPR_FUNCTION(static, most, EXPR_MISSING2 ? NAN : fmax(a[0], a[1]))
EXPR_FUNCTION(static, clamped, isnan(a[0] + a[1] + a[2]) ? NAN : fmin(fmax(a[0], a[1]), a[2]))

/* Seconds since the start of the period: 0 <= x < period. */
static double into(double t, double period)
{
	double x = t / period;

	x -= floor(x);
	return period > 0 && !isnan(x) ? (x < 1 ? x : 0) * period : NAN;
}

/* Returns the index of the last point (time, value) of a curve at or before a time, and the time since
 * it. */
static unsigned point_at(const double *points, unsigned n, double period, double t, double *since)
{
	double x = into(t, period);
	unsigned i = n;

	while (i > 0 && !(points[2 * i - 2] <= x))
		i--;
	*since = i ? x - points[2 * i - 2] : x + period - points[2 * n - 2];
	return (i ? i : n) - 1;
}

/* Time from point i to the next one; with a single point, the whole period. */
static double length(const double *points, unsigned n, double period, unsigned i)
{
	return (i + 1 < n ? points[2 * i + 2] : points[0] + period) - points[2 * i];
}

static double hold(EXPR_PARAMETERS)
{
	double since;
	unsigned i = point_at(a + 1, op->n / 2, a[0], in->t, &since);

	return isnan(since) ? NAN : a[2 * i + 2];
}

static double track(EXPR_PARAMETERS)
{
	double since;
	unsigned n = op->n / 2, i = point_at(a + 1, n, a[0], in->t, &since);
	double v = a[2 * i + 2], next = a[2 * ((i + 1) % n) + 2];

	return v + (next - v) * (since / length(a + 1, n, a[0], i));
}

/* The end of a period is linear in its initial value: the first pass finds the initial value of the
 * steady state, the second one evaluates with it. */
static double settle(EXPR_PARAMETERS)
{
	double since, tau = a[1], v = 0, from = 0;
	unsigned n = op->n / 2 - 1, now = point_at(a + 2, n, a[0], in->t, &since);

	for (int pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < n; i++) {
			from = i == now ? v : from;
			v = a[2 * i + 3] + (v - a[2 * i + 3]) * exp(-length(a + 2, n, a[0], i) / tau);
		}
		v /= -expm1(-a[0] / tau);
	}
	return a[2 * now + 3] + (from - a[2 * now + 3]) * exp(-since / tau);
}

/* A hash (splitmix64), 0 <= hash < 1, of the seed a[0] and the number of the interval of a[1] seconds,
 * `later` intervals after that of t; k selects one of several independent values. */
static double hash(const double *a, double t, unsigned k, int later)
{
	double x = a[1] > 0 ? floor(t / a[1]) : NAN;

	if (!(fabs(x) < 0x1p52) || !(fabs(a[0]) < 0x1p52))
		return NAN;
	uint64_t seed = ((uint64_t)(int64_t)floor(a[0]) << 3) + k;
	uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15) +
		     (uint64_t)((int64_t)x + later) * UINT64_C(0xd1b54a32d192ed03);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return (double)(z >> 11) * 0x1p-53;
}

EXPR_FUNCTION(static, noise, hash(a, in->t, 0, 0))

/* The elapsed fraction of the interval. */
EXPR_FUNCTION(static, part, in->t / a[1] - floor(in->t / a[1]))

static double smooth(EXPR_PARAMETERS)
{
	double x = part(op, a, in), from = hash(a, in->t, 0, 0), to = hash(a, in->t, 0, 1);

	return from + (to - from) * (x * x * (3 - 2 * x));
}

static double bell(EXPR_PARAMETERS)
{
	double sum = -2;

	for (unsigned k = 1; k <= 4; k++)
		sum += hash(a, in->t, k, 0);
	return sum * 1.7320508075688772;
}

static double spike(EXPR_PARAMETERS)
{
	double since = part(op, a, in) * a[1] - hash(a, in->t, 6, 0) * fmax(a[1] - a[2], 0);

	if (isnan(since + a[2] + a[3]))
		return NAN;
	return hash(a, in->t, 5, 0) < a[3] && since >= 0 && since < a[2];
}

static const struct function {
	const char *name;
	expr_apply *apply;
	unsigned least, most, step; /* number of arguments: minimum, maximum, increment */
	unsigned positive;          /* this argument (from 1; 0: none) must be above 0 */
	bool timed;
} functions[] = {
	{"floor", floor_of, 1, 1, 1, 0, false},    {"round", rounded, 2, 2, 1, 2, false},
	{"min", least, 2, 2, 1, 0, false},         {"max", most, 2, 2, 1, 0, false},
	{"clamp", clamped, 3, 3, 1, 0, false},     {"hold", hold, 3, EXPR_OPS, 2, 1, true},
	{"track", track, 3, EXPR_OPS, 2, 1, true}, {"settle", settle, 4, EXPR_OPS, 2, 1, true},
	{"noise", noise, 2, 2, 1, 2, true},        {"smooth", smooth, 2, 2, 1, 2, true},
	{"bell", bell, 2, 2, 1, 2, true},          {"spike", spike, 4, 4, 1, 2, true},
};

/* Parses the arguments, after the opening bracket. */
static int call(struct expr_parser *p, const struct function *f)
{
	unsigned n = 0;

	do {
		const char *at = p->at;
		if (expr_parse_level(p, 0) < 0)
			return -1;
		const struct expr_op *last = &p->op[p->n - 1];
		if (++n == f->positive && !last->apply && !(last->number > 0))
			return expr_expected(p, at, _("a number above 0"));
	} while (n < f->most && expr_take(p, ","));
	if (n < f->least || (n - f->least) % f->step)
		return expr_expected(p, p->at, _("\",\" and another argument"));
	if (!expr_take(p, ")"))
		return expr_expected(p, p->at, _("an operator or \")\""));
	return (f->timed ? expr_emit : expr_emit_pure)(p, &(struct expr_op) {.apply = f->apply, .n = n});
}

static int named(struct expr_parser *p)
{
	const char *at = p->at;
	char name[EXPR_NAME];
	int column;

	if (expr_take_name(p, name) < 0)
		return -1;
	if (expr_take(p, "(")) {
		for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
			if (strcmp(functions[i].name, name) == 0)
				return call(p, &functions[i]);
		return expr_expected(p, at, _("a function such as hold, track, smooth or max"));
	}
	if (strcmp(name, "t") == 0)
		return expr_emit(p, &(struct expr_op) {.apply = value_of_time});
	if (strcmp(name, "nan") == 0)
		return expr_emit(p, &(struct expr_op) {.number = NAN});
	column = p->column(p->arg, name);
	if (column < 0)
		return expr_expected(p, at, _("the name of a signal that this tier has above this line"));
	return expr_emit(p, &(struct expr_op) {.apply = value_of_column, .index = (unsigned)column});
}

static int operand(struct expr_parser *p)
{
	struct expr_op number = {.n = 0};
	const struct expr_unit *unit;

	if (expr_take(p, "-"))
		return expr_parse_level(p, LEVEL_SIGN) < 0 ? -1 : expr_emit_pure(p, &(struct expr_op) {.apply = negated, .n = 1});
	if (!strspn(p->at, "0123456789."))
		return named(p);
	return expr_take_number(p, &number.number, &unit) < 0 ? -1 : expr_emit(p, &number);
}

struct formula *formula_compile(const char *text, int (*column)(void *arg, const char *name), void *arg,
				struct err *e)
{
	struct expr_parser p = {.ends = " \t<>=!&|()[],+-*/",
				.operands = _("a number, a signal, a function or \"(\""),
				.follow = _("an operator or the end"),
				.highest = LEVEL_PRODUCT,
				.operand = operand,
				.column = column,
				.arg = arg};
	struct formula *f;

	if (expr_parse(&p, text, e) < 0)
		return NULL;
	f = malloc(sizeof(*f) + p.n * sizeof(f->op[0]));
	if (!f) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	f->n = p.n;
	memcpy(f->op, p.op, p.n * sizeof(f->op[0]));
	return f;
}

double formula_value(const struct formula *f, double t_s, const double *row)
{
	return expr_run(f->op, f->n, &(struct expr_inputs) {.t = t_s, .row = row});
}
