/* expr: the language of conditions ("gpu > 95 and power > 20 W") and of simulated
 * signals ("round(40 + 5 * smooth(1, 2s), 0.1)"): its words, operators and functions.
 *
 *   operators    from what binds least:  or ||   and &&   < <= > >= == = !=   + -   * /   -x
 *                and and or in any case; ( ) around what binds more
 *   numbers      12  .5  1e3, with us ms s k M G (powers of 1000) or a unit: % C rpm Hz kHz MHz GHz kB MB
 *                GB KiB MiB GiB V mV A mA W mW kW J kJ (in any case; kB is 1024 bytes, as in meminfo).  The value is in the channel's unit.
 *   names        gpu.util   [Package id 0]
 *
 * A formula is an expression whose operands are
 *
 *   numbers, names of channels in the same row, nan (a missing value), t (seconds since the start)
 *   floor(x)  min(x, y)  max(x, y)  clamp(x, low, high)
 *   round(x, step)                           to the nearest multiple of step
 *   hold(period, t0, a, t1, b, ...)          a from t0, b from t1, ...; before t0 what the last one leaves
 *   track(period, t0, a, t1, b, ...)         straight lines through the points, the last one to the first
 *   settle(period, tau, t0, a, t1, b, ...)   hold() behind a lag: nears a by exp(-time/tau), and each
 *                                            period begins where the one before it ended
 *   noise(seed, hold)                        0 .. 1, evenly, a new value every hold seconds
 *   smooth(seed, hold)                       the same values with a smooth curve between them
 *   bell(seed, hold)                         mean 0, standard deviation 1, within +-3.47
 *   spike(seed, slot, width, chance)         1 for width seconds at a random place in a share of chance
 *                                            of the slots of slot seconds, else 0
 *
 * It is a pure function of time and row: noise is a hash of its seed, a whole
 * number, and of the interval.  The same text gives the same values on every
 * machine (to the last bit of an exponential).  Comparisons, and, or give 1 or 0;
 * nan in gives nan out, and so do x / 0 and a period, hold, slot or step that is
 * not above 0, which is an error where it is constant.
 *
 * A condition has comparisons as its operands: see condition.h. */
#ifndef NVMTOP_MODEL_EXPR_H
#define NVMTOP_MODEL_EXPR_H

#include "model/channel.h"
#include "util/err.h"

#define EXPR_DEPTH   32	/* nested brackets, calls and signs */
#define EXPR_OPS     256
#define EXPR_NUMBERS 512
#define EXPR_NAME    64	/* bytes, with the 0 */

enum { LEVEL_OR, LEVEL_AND, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_SIGN };

/* What operands are read from; only what the operands of the expression need. */
struct expr_inputs {
	double t;
	const double *row;
	bool (*term)(void *arg, size_t i);	/* comparison i of a condition */
	void *arg;
};

/* An operation on n values: those at args, or else the topmost of the stack. */
struct expr_op {
	double (*apply)(const struct expr_op *op, const double *a, const struct expr_inputs *in);
	const double *args;
	unsigned n, index;	/* index: of the column or comparison */
};
typedef double expr_apply(const struct expr_op *op, const double *a, const struct expr_inputs *in);

/* A function in one line, and the parameters of any. */
#define EXPR_PARAMETERS                                                                                      \
	__attribute__((unused)) const struct expr_op *op, __attribute__((unused)) const double *a,           \
		__attribute__((unused)) const struct expr_inputs *in
#define EXPR_FUNCTION(linkage, name, value)                                                                        \
	linkage double name(EXPR_PARAMETERS)                                                                 \
	{                                                                                                    \
		return value;                                                                                \
	}
#define EXPR_MISSING2 (isnan(a[0]) || isnan(a[1]))

expr_apply expr_number, expr_term, expr_above, expr_and, expr_or;

/* Reverse Polish; leaves one value.  NaN without operations. */
double expr_run(const struct expr_op *op, size_t n, const struct expr_inputs *in);

struct expr_unit {
	const char *name;
	enum unit unit;	/* UNIT_NONE: it only multiplies */
	double factor;
};
extern const struct expr_unit expr_units[];	/* ends with a NULL name */

/* A text being compiled to operations. Set the first members. Consuming a token also skips the blanks
 * behind it; on failure *e has the column (bytes, from 1), what was expected there and what was found. */
struct expr_parser {
	const char *ends;			/* what ends a name, a unit or a word */
	const char *operands, *follow;		/* what a message calls an operand, and what is behind the last */
	unsigned highest;			/* level of operators between operands */
	int (*operand)(struct expr_parser *p);
	int (*column)(void *arg, const char *name);
	void *arg;

	struct err *e;
	const char *text, *at;
	unsigned depth;
	size_t n, n_numbers;
	struct expr_op op[EXPR_OPS];
	double number[EXPR_NUMBERS];
};

int expr_parse(struct expr_parser *p, const char *text, struct err *e);	/* all of the text */
int expr_parse_level(struct expr_parser *p, unsigned level);	/* as far as operators of a level bind */
int expr_expected(const struct expr_parser *p, const char *at, const char *what);	/* -1 */
bool expr_take(struct expr_parser *p, const char *token);	/* a sign, or a whole word in any case */
int expr_take_name(struct expr_parser *p, char name[EXPR_NAME]);
/* In the unit of channels; *unit is NULL without one. */
int expr_take_number(struct expr_parser *p, double *v, const struct expr_unit **unit);
expr_apply *expr_take_operator(struct expr_parser *p, unsigned lowest, unsigned highest, unsigned *level);
/* What is constant is computed at once, unless it is timed. */
int expr_emit(struct expr_parser *p, expr_apply *apply, unsigned n, unsigned index, bool timed);
int expr_emit_number(struct expr_parser *p, double v);

/* A formula; free() it.  column(arg, name) is where in the row a channel is, -1: none. */
struct formula;
struct formula *formula_compile(const char *text, int (*column)(void *arg, const char *name), void *arg,
				struct err *e);
/* At t_s seconds after the start.  Allocates nothing. */
double formula_value(const struct formula *f, double t_s, const double *row);

#endif
