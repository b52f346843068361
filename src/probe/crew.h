/* crew: the threads that make the passes of slow sources, and what a source is to
 * them.  For slow.c alone.
 *
 * Each source has a thread; those that were quick for long share one of theirs. */
#ifndef PROBE_CREW_H
#define PROBE_CREW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "slow.h"

/* A thread. */
struct worker;

struct slow {
	const struct slow_ops *ops;
	void *arg;
	size_t n;
	double share;
	char name[16];
	double cost_ns; /* of a pass, smoothed; of who makes the passes */

	/* Under the crew's lock. */
	struct worker *worker; /* NULL: there is no thread; changes only in the owner's calls */
	struct slow *next;
	bool alone, busy;
	unsigned streak, trial;
	int64_t due_ns;

	atomic_int_least64_t wish_ns, period_ns;
	atomic_int_least64_t begun_ns; /* the pass that is under way; 0: there is none */
	atomic_uint_least64_t wanted;

	_Atomic uint32_t pass; /* 2 for each; odd while one is being stored */
	atomic_int_least64_t t_ns;
	_Atomic double v[SLOW_VALUES];

	atomic_bool started, asked; /* it has a thread; a taker is reading it */
	atomic_int holders;         /* the owner and who makes a pass: the last one frees */
};

/* slow.c */
int64_t slow_pass(struct slow *s, int64_t t_ns); /* make one, begun at t_ns; returns when it ended */
void slow_let_go(struct slow *s);                /* the last of its holders frees it */

/* Give s a thread, which begins with a pass, and set s->started; where none can be had
 * s stays as it was. */
void crew_join(struct slow *s);
/* Nobody begins a pass of s any more.  Waits a moment for one that hangs. */
void crew_leave(struct slow *s);
/* Wait until each source that has a thread was read once, but not past until_ns. */
void crew_settle(int64_t until_ns);
/* On the sampling path: wake the crew when a pass of its leader lasts too long. */
void crew_watch(int64_t now_ns);

#endif
