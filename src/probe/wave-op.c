/* The functions and operators of waves, and the loop that applies them.
 *
 * Each takes its arguments from the top of a stack of values and leaves one
 * value there: that makes operators, functions, numbers and channels one thing,
 * and the whole language is the two tables at the end. */
#include "wave-op.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

double op_number(const struct op *op, const double *a, const struct moment *m)
{
	(void)a, (void)m;
	return op->number;
}

double op_column(const struct op *op, const double *a, const struct moment *m)
{
	(void)a;
	return m->row[op->column];
}

double op_time(const struct op *op, const double *a, const struct moment *m)
{
	(void)op, (void)a;
	return m->t;
}

double op_negate(const struct op *op, const double *a, const struct moment *m)
{
	(void)op, (void)m;
	return -a[0];
}

double op_not(const struct op *op, const double *a, const struct moment *m)
{
	(void)op, (void)m;
	return isnan(a[0]) ? NAN : a[0] == 0;
}

/* Functions of their arguments alone. */
#define PLAIN(name, value)                                                                                   \
	static double name(const struct op *op, const double *a, const struct moment *m)                     \
	{                                                                                                    \
		(void)op, (void)m;                                                                           \
		return value;                                                                                \
	}
#define UNKNOWN1 isnan(a[0])
#define UNKNOWN2 (isnan(a[0]) || isnan(a[1]))
PLAIN(op_add, a[0] + a[1])
PLAIN(op_subtract, a[0] - a[1])
PLAIN(op_multiply, a[0] * a[1])
PLAIN(op_divide, a[1] != 0 ? a[0] / a[1] : NAN)
PLAIN(op_less, UNKNOWN2 ? NAN : a[0] < a[1])
PLAIN(op_at_most, UNKNOWN2 ? NAN : a[0] <= a[1])
PLAIN(op_more, UNKNOWN2 ? NAN : a[0] > a[1])
PLAIN(op_at_least, UNKNOWN2 ? NAN : a[0] >= a[1])
PLAIN(op_equal, UNKNOWN2 ? NAN : a[0] == a[1])
PLAIN(op_differ, UNKNOWN2 ? NAN : a[0] != a[1])
PLAIN(op_and, UNKNOWN2 ? NAN : a[0] != 0 && a[1] != 0)
PLAIN(op_or, UNKNOWN2 ? NAN : a[0] != 0 || a[1] != 0)
PLAIN(op_abs, fabs(a[0]))
PLAIN(op_floor, floor(a[0]))
PLAIN(op_sqrt, a[0] >= 0 ? sqrt(a[0]) : NAN)
PLAIN(op_exp, exp(a[0]))
PLAIN(op_round, a[1] > 0 ? floor(a[0] / a[1] + 0.5) * a[1] : NAN)
PLAIN(op_clamp, UNKNOWN2 || isnan(a[2]) ? NAN : a[0] < a[1] ? a[1] : a[0] > a[2] ? a[2] : a[0])
PLAIN(op_mix, a[0] + (a[1] - a[0]) * a[2])
PLAIN(op_if, UNKNOWN1 ? NAN : a[0] != 0 ? a[1] : a[2])
PLAIN(op_between, UNKNOWN2 || isnan(a[2]) ? NAN : a[0] >= a[1] && a[0] < a[2])
PLAIN(op_known, !UNKNOWN1)

static double op_mod(const struct op *op, const double *a, const struct moment *m)
{
	(void)op, (void)m;
	if (!(a[1] > 0))
		return NAN;
	double rest = fmod(a[0], a[1]);
	return rest < 0 ? (rest + a[1] < a[1] ? rest + a[1] : 0) : rest;
}

static double op_min(const struct op *op, const double *a, const struct moment *m)
{
	double least = a[0];

	(void)m;
	for (unsigned i = 1; i < op->n; i++)
		if (isnan(a[i]) || a[i] < least)
			least = a[i];
	return least;
}

static double op_max(const struct op *op, const double *a, const struct moment *m)
{
	double most = a[0];

	(void)m;
	for (unsigned i = 1; i < op->n; i++)
		if (isnan(a[i]) || a[i] > most)
			most = a[i];
	return most;
}

/* How far into its period: 0 <= phase < 1. */
static double phase(double t, double period, double shift)
{
	if (!(period > 0))
		return NAN;
	double x = (t - shift) / period;
	x -= floor(x);
	return x < 1 ? x : isnan(x) ? x : 0;
}

#define WAVE(name, value)                                                                                    \
	static double name(const struct op *op, const double *a, const struct moment *m)                     \
	{                                                                                                    \
		(void)op;                                                                                    \
		double x = phase(m->t, a[0], a[op->n - 1]);                                                  \
		return isnan(x) ? x : value;                                                                 \
	}
WAVE(op_sin, sin(x * 6.283185307179586477))
WAVE(op_saw, x)
WAVE(op_tri, x < 0.5 ? 2 * x : 2 - 2 * x)
WAVE(op_square, isnan(a[1]) ? NAN : x < a[1])
WAVE(op_pulse, isnan(a[1]) ? NAN : a[0] * x < a[1])
WAVE(op_cycle, a[0] * x)

static double op_step(const struct op *op, const double *a, const struct moment *m)
{
	double x = phase(m->t, a[0], 0) * (op->n - 1);

	return isnan(x) ? x : a[1 + (unsigned)x];
}

/* The point that rules at x seconds into the period, and the time since it. */
static unsigned point_at(const struct curve *c, double t, double *since)
{
	double x = phase(t, c->period, c->shift) * c->period;
	unsigned i = c->n;

	while (i > 0 && !(c->point[i - 1].at <= x))
		i--;
	if (i > 0) {
		*since = x - c->point[i - 1].at;
		return i - 1;
	}
	*since = x + c->period - c->point[c->n - 1].at;
	return c->n - 1;
}

/* From point i to the next one; a single point is a whole period from itself. */
static double length(const struct curve *c, unsigned i)
{
	if (i + 1 < c->n)
		return c->point[i + 1].at - c->point[i].at;
	return c->point[0].at + c->period - c->point[i].at;
}

static double op_hold(const struct op *op, const double *a, const struct moment *m)
{
	double since;

	(void)a;
	unsigned i = point_at(op->curve, m->t, &since);
	return isnan(since) ? NAN : op->curve->point[i].value;
}

static double op_track(const struct op *op, const double *a, const struct moment *m)
{
	const struct curve *c = op->curve;
	double since;

	(void)a;
	unsigned i = point_at(c, m->t, &since);
	double v = c->point[i].value, next = c->point[(i + 1) % c->n].value;
	return v + (next - v) * (since / length(c, i));
}

static double op_settle(const struct op *op, const double *a, const struct moment *m)
{
	const struct curve *c = op->curve;
	double since;

	(void)a;
	unsigned i = point_at(c, m->t, &since);
	return c->point[i].value + (c->point[i].from - c->point[i].value) * exp(-since / c->tau);
}

/* Where settle() begins each period so that it ends there too: one period is
 * linear in its beginning, so a run from 0 tells. */
void curve_settle(struct curve *c)
{
	double v = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < c->n; i++) {
			c->point[i].from = v;
			v = c->point[i].value + (v - c->point[i].value) * exp(-length(c, i) / c->tau);
		}
		v /= -expm1(-c->period / c->tau);
	}
}

/* 0 <= hash < 1 of the seed and the number of the interval (splitmix64). */
static double hash(uint64_t seed, int64_t i)
{
	uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)i * UINT64_C(0xd1b54a32d192ed03);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return (double)(z >> 11) * 0x1p-53;
}

/* Which interval t is in and how far, and the seed; false when that is no number. */
static bool interval(const double *a, double t, uint64_t *seed, int64_t *i, double *part)
{
	double x = a[1] > 0 ? t / a[1] : NAN;

	if (!(fabs(x) < 0x1p52) || !(fabs(a[0]) < 0x1p52))
		return false;
	*seed = (uint64_t)(int64_t)floor(a[0]) << 3;
	*i = (int64_t)floor(x);
	*part = x - floor(x);
	return true;
}

static double op_noise(const struct op *op, const double *a, const struct moment *m)
{
	uint64_t seed;
	int64_t i;
	double part;

	(void)op;
	return interval(a, m->t, &seed, &i, &part) ? hash(seed, i) : NAN;
}

static double op_smooth(const struct op *op, const double *a, const struct moment *m)
{
	uint64_t seed;
	int64_t i;
	double part;

	(void)op;
	if (!interval(a, m->t, &seed, &i, &part))
		return NAN;
	double from = hash(seed, i), to = hash(seed, i + 1);
	return from + (to - from) * (part * part * (3 - 2 * part));
}

static double op_bell(const struct op *op, const double *a, const struct moment *m)
{
	uint64_t seed;
	int64_t i;
	double part, sum = -2;

	(void)op;
	if (!interval(a, m->t, &seed, &i, &part))
		return NAN;
	for (unsigned k = 1; k <= 4; k++)
		sum += hash(seed + k, i);
	return sum * 1.7320508075688772;
}

static double op_spike(const struct op *op, const double *a, const struct moment *m)
{
	uint64_t seed;
	int64_t i;
	double part;

	(void)op;
	if (!interval(a, m->t, &seed, &i, &part) || isnan(a[2]) || isnan(a[3]))
		return NAN;
	if (hash(seed + 5, i) >= a[3])
		return 0;
	double since = part * a[1] - hash(seed + 6, i) * fmax(a[1] - a[2], 0);
	return since >= 0 && since < a[2];
}

static const struct function functions[] = {
	{"abs", 1, 1, 0, op_abs, {0}},
	{"floor", 1, 1, 0, op_floor, {0}},
	{"sqrt", 1, 1, 0, op_sqrt, {0}},
	{"exp", 1, 1, 0, op_exp, {0}},
	{"round", 1, 2, ARGUMENT1, op_round, {1}},
	{"mod", 2, 2, ARGUMENT1, op_mod, {0}},
	{"min", 1, WAVE_ARGS, LIST, op_min, {0}},
	{"max", 1, WAVE_ARGS, LIST, op_max, {0}},
	{"clamp", 3, 3, 0, op_clamp, {0}},
	{"mix", 3, 3, 0, op_mix, {0}},
	{"if", 3, 3, 0, op_if, {0}},
	{"between", 3, 3, 0, op_between, {0}},
	{"known", 1, 1, 0, op_known, {0}},
	{"sin", 1, 2, TIMED | ARGUMENT0, op_sin, {0}},
	{"saw", 1, 2, TIMED | ARGUMENT0, op_saw, {0}},
	{"tri", 1, 2, TIMED | ARGUMENT0, op_tri, {0}},
	{"square", 1, 3, TIMED | ARGUMENT0, op_square, {0.5, 0}},
	{"pulse", 2, 3, TIMED | ARGUMENT0, op_pulse, {0}},
	{"cycle", 1, 2, TIMED | ARGUMENT0, op_cycle, {0}},
	{"step", 2, WAVE_ARGS, TIMED | LIST | ARGUMENT0, op_step, {0}},
	{"rise", 3, 4, TIMED | LAG, op_settle, {0}},
	{"hold", 3, 2 * WAVE_POINTS + 1, TIMED | CURVE | LIST, op_hold, {0}},
	{"track", 3, 2 * WAVE_POINTS + 1, TIMED | CURVE | LIST, op_track, {0}},
	{"settle", 4, 2 * WAVE_POINTS + 2, TIMED | CURVE | LAG | LIST, op_settle, {0}},
	{"noise", 2, 2, TIMED | ARGUMENT1, op_noise, {0}},
	{"smooth", 2, 2, TIMED | ARGUMENT1, op_smooth, {0}},
	{"bell", 2, 2, TIMED | ARGUMENT1, op_bell, {0}},
	{"spike", 3, 4, TIMED | ARGUMENT1, op_spike, {1}},
};

static const struct infix infixes[] = {
	/* the longer of two that begin alike comes first */
	{"||", 0, op_or},    {"&&", 1, op_and},     {"<=", 2, op_at_most}, {">=", 2, op_at_least},
	{"==", 2, op_equal}, {"!=", 2, op_differ},  {"<", 2, op_less},     {">", 2, op_more},
	{"+", 3, op_add},    {"-", 3, op_subtract}, {"*", 4, op_multiply}, {"/", 4, op_divide},
};

const struct function *function_find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strlen(functions[i].name) == len && memcmp(functions[i].name, name, len) == 0)
			return &functions[i];
	return NULL;
}

const struct infix *infix_find(const char *text)
{
	for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++)
		if (strncmp(text, infixes[i].name, strlen(infixes[i].name)) == 0)
			return &infixes[i];
	return NULL;
}

double ops_run(const struct op *op, size_t n, const struct moment *m)
{
	double stack[WAVE_STACK], *top = stack;

	stack[0] = NAN;
	for (; n > 0; n--, op++) {
		double *a = top - op->n;
		*a = op->apply(op, a, m);
		top = a + 1;
	}
	return stack[0];
}
