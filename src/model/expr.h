/* expr: the words, operators and functions of expressions, which are used by conditions ("gpu > 95 and
 * power > 20 W") and formulas ("round(40 + 5 * smooth(1, 2s), 0.1)").
 *
 *   operators    by increasing precedence:  or ||   and &&   < <= > >= == = !=   + -   * /   -x
 *                "and" and "or" in any case; ( ) for grouping
 *   numbers      12  .5  1e3, with us ms s k M G (powers of 1000) or a unit: % C rpm Hz kHz MHz GHz kB MB
 *                GB KiB MiB GiB V mV A mA W mW kW J kJ (in any case; kB is 1024 bytes, as in meminfo).
 *                The value is converted to the channel's unit.
 *   names        gpu.util   [Package id 0]
 *
 * A formula is an expression whose operands are
 *
 *   numbers, names of channels in the same row, nan (a missing value), t (seconds since the start)
 *   floor(x)  min(x, y)  max(x, y)  clamp(x, low, high)
 *   round(x, step)                           to the nearest multiple of step
 *   hold(period, t0, a, t1, b, ...)          a from t0, b from t1, ...; the last value before t0
 *   track(period, t0, a, t1, b, ...)         linear between the points, and from the last to the first
 *   settle(period, tau, t0, a, t1, b, ...)   hold() with a first-order lag: approaches a by exp(-time/tau);
 *                                            continuous from one period to the next
 *   noise(seed, hold)                        uniform 0 .. 1, a new value every hold seconds
 *   smooth(seed, hold)                       the same values with a smooth curve between them
 *   bell(seed, hold)                         mean 0, standard deviation 1, within +-3.47
 *   spike(seed, slot, width, chance)         time is divided into slots of `slot` seconds; with probability
 *                                            chance, 1 for width seconds at a random place in one, else 0
 *
 * A formula is a pure function of time and row: noise is a hash of its seed (an integer) and the
 * interval. The same text gives the same values on every machine (except for the last bit of an
 * exponential). Comparisons, "and" and "or" give 1 or 0. The result is nan if an operand is nan, after a
 * division by zero, and for a period, hold, slot or step that is not above 0; the latter is an error if
 * it is constant.
 *
 * The operands of a condition are comparisons: see condition.h. */
#ifndef NVMTOP_MODEL_EXPR_H
#define NVMTOP_MODEL_EXPR_H

#include "model/channel.h"
#include "util/err.h"

#define EXPR_DEPTH 32	/* nested brackets, calls and signs */
#define EXPR_OPS   768	/* operations, and numbers that are not known before */
#define EXPR_NAME  64	/* bytes, with the NUL */

enum { LEVEL_OR, LEVEL_AND, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_SIGN };

/* Input of the operands; only those that the expression uses must be set. */
struct expr_inputs {
	double t;
	const double *row;
	bool (*term)(void *arg, size_t i);	/* result of comparison i of a condition */
	void *arg;
};

/* An operation on the n values on top of the stack, which a[] are; NULL: the number is put there. */
struct expr_op {
	double (*apply)(const struct expr_op *op, const double *a, const struct expr_inputs *in);
	double number;
	unsigned n, index;	/* index of the column or comparison */
};
typedef double expr_apply(const struct expr_op *op, const double *a, const struct expr_inputs *in);

/* Defines a one-line function; the parameters are the same for all. */
#define EXPR_PARAMETERS                                                                                      \
	__attribute__((unused)) const struct expr_op *op, __attribute__((unused)) const double *a,           \
		__attribute__((unused)) const struct expr_inputs *in
#define EXPR_FUNCTION(linkage, name, value)                                                                        \
	linkage double name(EXPR_PARAMETERS)                                                                 \
	{                                                                                                    \
		return value;                                                                                \
	}
#define EXPR_MISSING2 (isnan(a[0]) || isnan(a[1]))

expr_apply expr_term, expr_above, expr_and, expr_or;

/* Runs operations in reverse Polish order and returns the one value left; NaN if n is 0. */
double expr_run(const struct expr_op *op, size_t n, const struct expr_inputs *in);

struct expr_unit {
	const char *name;
	enum unit unit;	/* UNIT_NONE: only a multiplier */
	double factor;
};
extern const struct expr_unit expr_units[];	/* ends with a NULL name */

/* State of the compiler from text to operations; the caller sets the first members. Consuming a token
 * also skips the blanks after it. On failure *e has the column (bytes, from 1), what was expected and
 * what was found. */
struct expr_parser {
	const char *ends;			/* characters that end a name, a unit or a word */
	const char *operands, *follow;		/* for messages: what an operand is, and what may follow
						 * the last one */
	unsigned highest;			/* highest operator level between operands */
	int (*operand)(struct expr_parser *p);
	int (*column)(void *arg, const char *name);
	void *arg;

	struct err *e;
	const char *text, *at;
	unsigned depth;
	size_t n;
	struct expr_op op[EXPR_OPS];
};

int expr_parse(struct expr_parser *p, const char *text, struct err *e);	/* compiles the whole text */
int expr_parse_level(struct expr_parser *p, unsigned level);	/* as far as operators of a level bind */
int expr_expected(const struct expr_parser *p, const char *at, const char *what);	/* sets *e and
											 * returns -1 */
bool expr_take(struct expr_parser *p, const char *token);	/* an operator, or a whole word in any
								 * case */
int expr_take_name(struct expr_parser *p, char name[EXPR_NAME]);
/* *v is in the channel's unit; *unit is NULL if none was given. */
int expr_take_number(struct expr_parser *p, double *v, const struct expr_unit **unit);
expr_apply *expr_take_operator(struct expr_parser *p, unsigned lowest, unsigned highest, unsigned *level);
int expr_emit(struct expr_parser *p, const struct expr_op *op);
/* The same of one that depends on its arguments only: of numbers, it is computed now. */
int expr_emit_pure(struct expr_parser *p, const struct expr_op *op);

/* A formula; release it with free(). column(arg, name) returns the index in the row, or -1 if not found. */
struct formula;
struct formula *formula_compile(const char *text, int (*column)(void *arg, const char *name), void *arg,
				struct err *e);
/* The value t_s seconds after the start. Does not allocate. */
double formula_value(const struct formula *f, double t_s, const double *row);

#endif
