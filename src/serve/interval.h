/* interval: what the rows of a stream come to in each interval of time, for those who pass values on to other programs. */
#ifndef NVMTOP_SERVE_INTERVAL_H
#define NVMTOP_SERVE_INTERVAL_H

#include <math.h>

#include "model/stream.h"
#include "model/timeline.h"

/* Of one channel. */
struct interval_sum {
	struct bin bin;
	double last;   /* the newest value; NaN: there was none */
	double busy_s; /* of a load in percent: seconds at 100 % that come to the same */
	double joules; /* of a power channel, since the beginning; of all intervals it never falls. NaN: none */
};
static inline double interval_mean(const struct interval_sum *s)
{
	return s->bin.n ? s->bin.sum / (double)s->bin.n : (double)NAN;
}

struct intervals;
struct interval {
	struct intervals *of;
	const struct session *about; /* with the facts of this time */
	int64_t from_ns, to_ns;
	const struct interval_sum *sums; /* of this interval, a sum a channel */
	const struct interval_sum *all;	 /* of all intervals up to this one */
};
/* Why there is no value in it; one sentence. */
void interval_reason(const struct interval *i, size_t channel, char *out, size_t size);

/* Takes an interval, in the thread of the sink. False: it has no room; what came is then part of the next interval. */
typedef bool interval_take(void *arg, const struct interval *i);

/* An interval without any row is left out. partial: the last one, which is
 * shorter, is taken, too, if it is at least a tenth. begin (may be
 * NULL) is called with the session, and may refuse it. Returns NULL and sets *e if out of memory. */
struct intervals *intervals_new(int64_t every_ns, bool partial, bool joules,
				int (*begin)(void *arg, const struct session *about, struct err *e), interval_take *take,
				void *arg, struct err *e);
struct sink *intervals_sink(struct intervals *v);
uint64_t intervals_skipped(const struct intervals *v); /* by take() */
void intervals_free(struct intervals *v);	       /* after end(), or if it never began; NULL is fine */

#endif
