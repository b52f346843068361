/* watch: a condition over a stream while it comes, for triggers and alerts.
 *
 * Each tier arrives in batches, one after the other. Rows are evaluated in order of time, up to the time that all tiers
 * of the condition have reached; a tier that has stalled is not waited for. Not thread-safe. */
#ifndef NVMTOP_RECORD_WATCH_H
#define NVMTOP_RECORD_WATCH_H

#include "model/condition.h"
#include "trace/log.h"

/* The condition has become true, and holds at t_ns. Returns false to be called again at the next row at which it holds,
 * else it is called again once it was false in between. */
typedef bool watch_taker(void *arg, int64_t t_ns);

struct watch {
	struct condition when; /* bound; without comparisons it never holds */
	watch_taker *take;
	void *arg;

	/* Private: */
	const struct session *about;
	struct condition_eval eval;
	bool armed;
	struct log_bytes unseen[TIERS]; /* rows that are not evaluated yet: time and values */
	int64_t newest_ns[TIERS];	/* of the rows so far; the start of the session without any */
};

void watch_begin(struct watch *w, const struct session *about); /* which is valid until watch_end() */
void watch_rows(struct watch *w, const struct rows *r);
void watch_end(struct watch *w); /* evaluates the rest */
void watch_free(struct watch *w);

#endif
