/* Parser and evaluator of expressions: precedence climbing that emits operations for a stack machine, and
 * the loop that runs them. */
#include "model/expr.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/intl.h"
#include "util/num.h"

const struct expr_unit expr_units[] = {
	{"us", UNIT_NONE, 1e-6},     {"ms", UNIT_NONE, 1e-3},     {"s", UNIT_NONE, 1},
	{"k", UNIT_NONE, 1e3},       {"M", UNIT_NONE, 1e6},       {"G", UNIT_NONE, 1e9},
	{"%", UNIT_PERCENT, 1},      {"C", UNIT_CELSIUS, 1},      {"\302\260C", UNIT_CELSIUS, 1},
	{"rpm", UNIT_RPM, 1},        {"Hz", UNIT_HZ, 1},          {"kHz", UNIT_HZ, 1e3},
	{"MHz", UNIT_HZ, 1e6},       {"GHz", UNIT_HZ, 1e9},       {"kB", UNIT_KB, 1},
	{"KiB", UNIT_KB, 1},         {"MB", UNIT_KB, 1e6 / 1024}, {"MiB", UNIT_KB, 1024},
	{"GB", UNIT_KB, 1e9 / 1024}, {"GiB", UNIT_KB, 1048576},   {"mV", UNIT_MILLIVOLT, 1},
	{"V", UNIT_MILLIVOLT, 1e3},  {"mA", UNIT_MILLIAMPERE, 1}, {"A", UNIT_MILLIAMPERE, 1e3},
	{"mW", UNIT_MILLIWATT, 1},   {"W", UNIT_MILLIWATT, 1e3},  {"kW", UNIT_MILLIWATT, 1e6},
	{"J", UNIT_JOULE, 1},        {"kJ", UNIT_JOULE, 1e3},     {NULL, UNIT_NONE, 0},
};

EXPR_FUNCTION(extern, expr_term, in->term(in->arg, op->index))
EXPR_FUNCTION(extern, expr_or, EXPR_MISSING2 ? NAN : a[0] != 0 || a[1] != 0)
EXPR_FUNCTION(extern, expr_and, EXPR_MISSING2 ? NAN : a[0] != 0 && a[1] != 0)
EXPR_FUNCTION(extern, expr_above, EXPR_MISSING2 ? NAN : a[0] > a[1])
EXPR_FUNCTION(static, at_least, EXPR_MISSING2 ? NAN : a[0] >= a[1])
EXPR_FUNCTION(static, below, EXPR_MISSING2 ? NAN : a[0] < a[1])
EXPR_FUNCTION(static, at_most, EXPR_MISSING2 ? NAN : a[0] <= a[1])
EXPR_FUNCTION(static, equal, EXPR_MISSING2 ? NAN : a[0] == a[1])
EXPR_FUNCTION(static, different, EXPR_MISSING2 ? NAN : a[0] != a[1])
EXPR_FUNCTION(static, add, a[0] + a[1])
EXPR_FUNCTION(static, subtract, a[0] - a[1])
EXPR_FUNCTION(static, multiply, a[0] * a[1])
EXPR_FUNCTION(static, divide, a[1] != 0 ? a[0] / a[1] : NAN)

static const struct {
	const char *token; /* of two with a common prefix the longer one comes first */
	unsigned level;
	expr_apply *apply;
} operators[] = {
	{"or", LEVEL_OR, expr_or},    {"||", LEVEL_OR, expr_or},        {"and", LEVEL_AND, expr_and},
	{"&&", LEVEL_AND, expr_and},  {">=", LEVEL_COMPARE, at_least},  {"<=", LEVEL_COMPARE, at_most},
	{"==", LEVEL_COMPARE, equal}, {"!=", LEVEL_COMPARE, different}, {">", LEVEL_COMPARE, expr_above},
	{"<", LEVEL_COMPARE, below},  {"=", LEVEL_COMPARE, equal},      {"+", LEVEL_SUM, add},
	{"-", LEVEL_SUM, subtract},   {"*", LEVEL_PRODUCT, multiply},   {"/", LEVEL_PRODUCT, divide},
};

int expr_expected(const struct expr_parser *p, const char *at, const char *what)
{
	char found[96];
	size_t n = strcspn(at, " \t");

	text_printable(found, sizeof(found), at, n < 31 ? n : 31);
	if (!*at)
		return err_set(p->e, ERR_USAGE, _("column %d: expected %s, found the end"),
			       (int)(at - p->text) + 1, what);
	return err_set(p->e, ERR_USAGE, _("column %d: expected %s, found \"%s\""), (int)(at - p->text) + 1,
		       what, found);
}

static void move_to(struct expr_parser *p, const char *at)
{
	p->at = at + strspn(at, " \t");
}

bool expr_take(struct expr_parser *p, const char *token)
{
	size_t n = strlen(token);

	if (strncasecmp(p->at, token, n) != 0 ||
	    (token[0] >= 'a' && strcspn(p->at + n, p->ends) && token[0] <= 'z'))
		return false;
	move_to(p, p->at + n);
	return true;
}

expr_apply *expr_take_operator(struct expr_parser *p, unsigned lowest, unsigned highest, unsigned *level)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		*level = operators[i].level;
		if (*level >= lowest && *level <= highest && expr_take(p, operators[i].token))
			return operators[i].apply;
	}
	return NULL;
}

int expr_take_name(struct expr_parser *p, char name[EXPR_NAME])
{
	bool quoted = *p->at == '[';
	const char *first = p->at + quoted;
	size_t n = strcspn(first, quoted ? "]" : p->ends);

	if (quoted && !first[n])
		return expr_expected(p, first + n, "\"]\"");
	if (!n || n >= EXPR_NAME)
		return expr_expected(p, p->at, p->operands);
	memcpy(name, first, n);
	name[n] = '\0';
	move_to(p, first + n + quoted);
	return 0;
}

int expr_take_number(struct expr_parser *p, double *v, const struct expr_unit **unit)
{
	const char *end = num_begin(p->at, v);
	size_t n;

	if (!end)
		return expr_expected(p, p->at, _("a number"));
	move_to(p, end);
	n = strcspn(p->at, p->ends);
	*unit = NULL;
	for (const struct expr_unit *u = expr_units; u->name; u++) {
		if (strlen(u->name) != n || (u->unit ? strncasecmp : strncmp)(u->name, p->at, n) != 0)
			continue;
		move_to(p, p->at + n);
		*v *= u->factor;
		*unit = u->unit ? u : NULL;
		return 0;
	}
	return n && p->at == end ? expr_expected(p, end, _("a unit (such as %, W, mW, C, MHz or MiB)")) : 0;
}

static int too_large(struct expr_parser *p)
{
	return err_set(p->e, ERR_USAGE, _("column %d: the expression is too large: at most %d levels, and %d operations and numbers"),
		       (int)(p->at - p->text) + 1, EXPR_DEPTH, EXPR_OPS);
}

int expr_emit(struct expr_parser *p, const struct expr_op *op)
{
	if (p->n == EXPR_OPS)
		return too_large(p);
	p->op[p->n++] = *op;
	return 0;
}

int expr_emit_pure(struct expr_parser *p, const struct expr_op *op)
{
	struct expr_op *args;
	unsigned known = 0;

	if (expr_emit(p, op) < 0)
		return -1;
	args = &p->op[p->n - 1 - op->n];
	while (known < op->n && !args[known].apply)
		known++;
	if (known == op->n) {
		*args = (struct expr_op) {.number = expr_run(args, op->n + 1, NULL)};
		p->n -= op->n;
	}
	return 0;
}

int expr_parse_level(struct expr_parser *p, unsigned level)
{
	expr_apply *apply;
	unsigned found;

	if (++p->depth > EXPR_DEPTH)
		return too_large(p);
	if (!expr_take(p, "(")) {
		if (p->operand(p) < 0)
			return -1;
	} else if (expr_parse_level(p, 0) < 0) {
		return -1;
	} else if (!expr_take(p, ")")) {
		return expr_expected(p, p->at, _("an operator or \")\""));
	}
	while ((apply = expr_take_operator(p, level, p->highest, &found)))
		if (expr_parse_level(p, found + 1) < 0 || expr_emit_pure(p, &(struct expr_op) {.apply = apply, .n = 2}) < 0)
			return -1;
	p->depth--;
	return 0;
}

int expr_parse(struct expr_parser *p, const char *text, struct err *e)
{
	p->text = text;
	p->e = e;
	move_to(p, text);
	if (expr_parse_level(p, 0) < 0)
		return -1;
	return *p->at ? expr_expected(p, p->at, p->follow) : 0;
}

double expr_run(const struct expr_op *op, size_t n, const struct expr_inputs *in)
{
	double stack[EXPR_OPS], *top = stack;

	stack[0] = NAN;
	for (; n > 0; n--, op++, top++) {
		top -= op->n;
		*top = op->apply ? op->apply(op, top, in) : op->number;
	}
	return stack[0];
}
