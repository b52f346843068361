/* condition: "gpu > 95 for 2s", over rows as they come or over a timeline.
 *
 *   condition    comparisons with and, or, ( ): see expr.h
 *   comparison   SIGNAL OP NUMBER[UNIT] [for TIME]  |  throttled [for TIME]
 *   SIGNAL       a channel's name (VDD_IN.power), its label, or one of gpu, cpu, cpu4 (any N), emc, ram,
 *                power, hottest; [Package id 0] where there are blanks in it
 *   TIME         2s 500ms 1m30s 90
 *
 * Names, units and words in any case.  A label that several channels have is
 * told apart by the unit.  A number needs its unit where a tenfold error would
 * otherwise be easy (power, voltage, current, frequency, memory).
 *
 * `throttled` is throttle > 0 of any part.  `throttled OP NUMBER` is any of them
 * for > >= !=, all of them for < <= ==.
 *
 * A missing value is never true, also not for != .  "for" is held without
 * interruption from the first true row to this one, over their own times; rows
 * that are further apart than 10 periods of the tier, at least 250 ms, interrupt it. */
#ifndef NVMTOP_MODEL_CONDITION_H
#define NVMTOP_MODEL_CONDITION_H

#include "model/expr.h"
#include "model/timeline.h"

#define CONDITION_TEXT  256	/* bytes, with the 0 */
#define CONDITION_TERMS 32	/* comparisons; each throttle channel counts */

struct condition_term {
	char name[EXPR_NAME];	/* as it was written */
	expr_apply *compare;
	double limit;
	const struct expr_unit *unit;	/* as written, or NULL */
	int64_t hold_ns;
	size_t channel;		/* these three once it is bound */
	enum tier tier;
	size_t column;
};

/* Plain data: owns nothing, may be copied. */
struct condition {
	char text[CONDITION_TEXT];	/* as it was written, printable */
	struct condition_term terms[CONDITION_TERMS];
	struct expr_op ops[2 * CONDITION_TERMS];	/* on what the terms give */
	size_t n, n_ops;
	bool bound;
};

/* 0, or -1 with ERR_USAGE and a sentence with the column, the text found there and what was expected. */
int condition_parse(struct condition *c, const char *text, struct err *e);

/* Find the channels; on error (ERR_USAGE: no such signal, several, a unit that
 * is not the channel's, a channel that has no value here) c is not bound. */
int condition_bind(struct condition *c, const struct session *about, struct err *e);

bool condition_uses(const struct condition *c, enum tier tier);
bool term_compare(const struct condition_term *t, double x);	/* NaN: false */

/* Over rows as they come. */
struct condition_eval {
	const struct condition *c;	/* bound; lives as long as this */
	int64_t bridge_ns[TIERS], now_ns;
	struct {
		bool is;
		int64_t since_ns, seen_ns;
	} term[CONDITION_TERMS];
};

void condition_start(struct condition_eval *v, const struct condition *c, const double hz[TIERS]);
/* Take a row; rows of all tiers that the condition uses in time order.  Whether
 * it holds at t_ns.  Allocates and locks nothing. */
bool condition_row(struct condition_eval *v, enum tier tier, int64_t t_ns, const double *values);
/* The same in two steps: what the row at t_ns is for comparison i; whether all holds. */
void condition_note(struct condition_eval *v, size_t i, int64_t t_ns, bool is);
bool condition_holds(struct condition_eval *v, int64_t t_ns);

enum condition_wanted {
	CONDITION_HOLDS,	/* the first moment, `from` included, at which it holds */
	CONDITION_BEGINS,	/* the first moment, `from` left out, at which it begins to hold */
};
/* A search that may take long goes on in steps.  Times are those of rows.  What
 * a history has only as columns holds where it may have held: some value of the
 * column does, and all of them for a "for". */
struct condition_search {
	int64_t at_ns;		/* the answer */
	double part;		/* how much is done, 0 .. 1 */

	/* Its own: */
	struct condition_eval eval;
	struct timeline *timeline;
	enum condition_wanted wanted;
	bool back, over;
	int64_t from_ns, pos_ns;	/* what is before pos (behind it, going back) is done */
	int64_t first_ns, last_ns;	/* of the timeline, when it began */
	int64_t warm_ns;		/* how long before a row its truth depends on */
	int zoom, leaf;			/* columns searched now, and those that are evaluated row by row */
	bool walking, was, found;
	int64_t low_ns, end_ns;		/* the range being searched, without end_ns */
	int64_t walked_ns, next_ns[TIERS];
};

/* back: towards the past.  c is bound to this timeline's session, both live as
 * long as the search. */
void condition_search_begin(struct condition_search *s, const struct condition *c, struct timeline *t,
			    int64_t from_ns, bool back, enum condition_wanted wanted);
enum condition_found { CONDITION_NOWHERE, CONDITION_FOUND, CONDITION_MORE };
/* Search some `rows` rows at most (a few million a second); returns whether to call again. */
enum condition_found condition_search_go(struct condition_search *s, size_t rows);

#endif
