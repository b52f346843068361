/* wave-op: what a compiled wave is made of; private to wave.c and wave-op.c. */
#ifndef NVMTOP_WAVE_OP_H
#define NVMTOP_WAVE_OP_H

#include <stdbool.h>
#include <stddef.h>

#include "wave.h"

#define WAVE_POINTS 32
#define WAVE_ARGS   (2 * WAVE_POINTS + 2)

struct moment {
	double t;
	const double *row;
};

/* The points of a curve; `from` is where settle() stands when it comes to one. */
struct curve {
	double period, tau, shift;
	unsigned n;
	struct {
		double at, value, from;
	} point[WAVE_POINTS];
};

struct op;
/* Gets its arguments at a[0] .. a[op->n - 1]. */
typedef double op_apply(const struct op *op, const double *a, const struct moment *m);

struct op {
	op_apply *apply;
	unsigned n; /* arguments */
	bool constant;
	double number;
	int column;
	struct curve *curve;
};

enum {
	TIMED = 1,      /* depends on the time */
	LIST = 2,       /* takes any number above `least` */
	CURVE = 4,      /* period, points */
	LAG = 8,        /* and a tau behind the period */
	ARGUMENT0 = 16, /* the first argument must be above 0 */
	ARGUMENT1 = 32,
};

/* A function of the language. */
struct function {
	char name[10];
	unsigned char least, most;
	unsigned char flags;
	op_apply *apply;
	double fill[2]; /* arguments least, least + 1 when they are left out */
};

struct infix {
	char name[3];
	unsigned char level; /* 0 binds least */
	op_apply *apply;
};

const struct function *function_find(const char *name, size_t len);
/* The operator that text begins with, or NULL. */
const struct infix *infix_find(const char *text);

op_apply op_number, op_column, op_time, op_negate, op_not;

/* Fill in every point's `from`. */
void curve_settle(struct curve *c);

/* The value of n operations; they must leave exactly one value and need no more
 * than WAVE_STACK. */
double ops_run(const struct op *op, size_t n, const struct moment *m);

#endif
