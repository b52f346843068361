/* condition: "gpu > 95 for 2s", evaluated over live rows or over a timeline.
 *
 *   condition    comparisons with and, or, ( ): see expr.h
 *   comparison   SIGNAL OP NUMBER[UNIT] [for TIME]  |  throttled [for TIME]
 *   SIGNAL       a channel's name (VDD_IN.power), its label, or one of gpu, cpu, cpu4 (any N), emc, ram,
 *                power, hottest; in brackets if it has blanks: [Package id 0]
 *   TIME         2s 500ms 1m30s 90
 *
 * Names, units and words are not case-sensitive. If several channels share a label, the unit selects one.
 * A unit is required where a tenfold error would otherwise be easy (power, voltage, current, frequency,
 * memory).
 *
 * `throttled` is true if any throttle channel is above 0. `throttled OP NUMBER` is true if any of them
 * matches (> >= !=) or all of them do (< <= ==).
 *
 * Comparisons with a missing value are false, including !=. A comparison with "for" becomes true when it
 * has been true without interruption for that time, measured by row times; a distance between rows of
 * more than 10 periods of the tier, and more than 250 ms, is an interruption. */
#ifndef NVMTOP_MODEL_CONDITION_H
#define NVMTOP_MODEL_CONDITION_H

#include "model/expr.h"
#include "model/timeline.h"

#define CONDITION_TEXT  256	/* bytes, with the NUL */
#define CONDITION_TERMS 32	/* comparisons; each throttle channel counts */

struct condition_term {
	char name[EXPR_NAME];	/* as written */
	expr_apply *compare;
	double limit;
	const struct expr_unit *unit;	/* as written, or NULL */
	int64_t hold_ns;
	size_t channel;		/* these three are set by condition_bind() */
	enum tier tier;
	size_t column;
};

/* Plain data: owns nothing, may be copied. */
struct condition {
	char text[CONDITION_TEXT];	/* as written, printable */
	struct condition_term terms[CONDITION_TERMS];
	struct expr_op ops[2 * CONDITION_TERMS];	/* applied to the results of the terms */
	size_t n, n_ops;
	bool bare;	/* set before condition_bind(): a number needs no unit, and is in W, V, A, MHz or GiB */
	bool bound;
};

/* Returns 0, or -1 with ERR_USAGE; *e has the column, the text found there and what was expected. */
int condition_parse(struct condition *c, const char *text, struct err *e);

/* Resolves signal names to channels. Returns 0, or -1 with ERR_USAGE: unknown or ambiguous signal, a unit
 * that does not fit the channel, or a channel without values; c is then not bound. */
int condition_bind(struct condition *c, const struct session *about, struct err *e);

bool condition_uses(const struct condition *c, enum tier tier);
bool term_compare(const struct condition_term *t, double x);	/* false for NaN */

/* Evaluation over live rows. */
struct condition_eval {
	const struct condition *c;	/* bound; must outlive this */
	int64_t bridge_ns[TIERS], now_ns;
	struct {
		bool is;
		int64_t since_ns, seen_ns;
		double value, missing;	/* the newest value, and the newest NaN: only of condition_row() */
	} term[CONDITION_TERMS];
};

void condition_start(struct condition_eval *v, const struct condition *c, const double hz[TIERS]);
/* Adds a row and returns whether the condition is true at t_ns. Rows of all tiers that the condition uses
 * must come in time order. Does not allocate or lock. */
bool condition_row(struct condition_eval *v, enum tier tier, int64_t t_ns, const double *values);
/* The same in two steps: the result of comparison i at t_ns, then the whole condition. */
void condition_note(struct condition_eval *v, size_t i, int64_t t_ns, bool is);
bool condition_holds(struct condition_eval *v, int64_t t_ns);
/* Comparison i of a struct condition_eval then: by its newest row, and false once its tier has stalled. */
bool condition_term_holds(void *eval, size_t i);

/* Finds the first time, `from` excluded, at which it becomes true. A long search runs in steps. Times are those of rows. Where a history has only columns left, a
 * comparison counts as true if some value of the column may match, or with "for" if all of them do. */
struct condition_search {
	int64_t at_ns;		/* the result */
	double part;		/* progress, 0 .. 1 */

	/* Private: */
	struct condition_eval eval;
	struct timeline *timeline;
	bool back, over;
	int64_t from_ns, pos_ns;	/* everything before pos (after it, if back) is done */
	int64_t first_ns, last_ns;	/* extent of the timeline at the start of the search */
	int64_t warm_ns;		/* how far the result at a row depends on earlier rows */
	int zoom, leaf;			/* zoom searched now, and the zoom whose columns are evaluated row
					 * by row */
	bool walking, was, found;
	int64_t low_ns, end_ns;		/* the part being searched: [low_ns, end_ns) */
	int64_t walked_ns, next_ns[TIERS];
};

/* back: search towards the past. c must be bound to the session of t; both must outlive the search. */
void condition_search_begin(struct condition_search *s, const struct condition *c, struct timeline *t,
			    int64_t from_ns, bool back);
enum condition_found { CONDITION_NOWHERE, CONDITION_FOUND, CONDITION_MORE };
/* Searches about `rows` rows (a few million per second). CONDITION_MORE: call it again. */
enum condition_found condition_search_go(struct condition_search *s, size_t rows);

#endif
