/* A condition of several tiers is true or false at a moment, so their rows have to be merged again before they are
 * evaluated. */
#include "record/watch.h"

#include <math.h>
#include <string.h>

/* Plus two periods: how far tiers may be apart before one counts as stalled. Tiers arrive one after the
 * other, each with the rows of the last 200 ms. */
#define LAG_NS      (300 * NS_PER_MS)
#define LAG_MOST_NS NS_PER_S /* less than the slack of the look-back buffer: unevaluated rows are still in it */

void watch_begin(struct watch *w, const struct session *about)
{
	w->about = about;
	w->armed = true;
	for (int t = 0; t < TIERS; t++)
		w->newest_ns[t] = about->start.mono_ns;
	condition_start(&w->eval, &w->when, about->hz);
}

/* Up to when rows can be evaluated. */
static int64_t watch_horizon(const struct watch *w)
{
	int64_t newest = 0, low = INT64_MAX;

	for (int t = 0; t < TIERS; t++)
		if (condition_uses(&w->when, (enum tier)t) && w->newest_ns[t] > newest)
			newest = w->newest_ns[t];
	for (int t = 0; t < TIERS; t++) {
		double apart = 2 * (double)NS_PER_S / w->about->hz[t] + (double)LAG_NS;
		int64_t least = newest - (int64_t)fmin(apart, (double)LAG_MOST_NS);

		if (!condition_uses(&w->when, (enum tier)t))
			continue;
		if (w->newest_ns[t] > least)
			least = w->newest_ns[t];
		if (least < low)
			low = least;
	}
	return low;
}

struct unseen {
	int64_t t_ns;
	double values[];
};

static size_t unseen_size(const struct watch *w, enum tier t)
{
	return sizeof(struct unseen) + w->about->width[t] * sizeof(double);
}

static void watch_evaluate(struct watch *w, int64_t until_ns)
{
	size_t at[TIERS] = {0};

	for (;;) {
		const struct unseen *next = NULL;
		enum tier tier = 0;
		bool holds;

		for (enum tier t = 0; t < TIERS; t++) {
			const struct unseen *u;

			if (at[t] == w->unseen[t].n)
				continue;
			u = (const void *)(w->unseen[t].p + at[t]);
			if (u->t_ns <= until_ns && (!next || u->t_ns < next->t_ns)) {
				next = u;
				tier = t;
			}
		}
		if (!next)
			break;
		at[tier] += unseen_size(w, tier);
		holds = condition_row(&w->eval, tier, next->t_ns, next->values);
		w->armed = !holds || (w->armed && !w->take(w->arg, next->t_ns));
	}
	for (enum tier t = 0; t < TIERS; t++) {
		w->unseen[t].n -= at[t];
		if (at[t] > 0)
			memmove(w->unseen[t].p, w->unseen[t].p + at[t], w->unseen[t].n);
	}
}

/* If out of memory, the condition does not see the remaining rows. */
void watch_rows(struct watch *w, const struct rows *r)
{
	struct log_bytes *to = &w->unseen[r->tier];
	struct unseen *u;

	w->newest_ns[r->tier] = r->t_ns[r->n - 1];
	if (!condition_uses(&w->when, r->tier))
		return;
	for (size_t i = 0; i < r->n && (u = (void *)log_bytes_add(to, unseen_size(w, r->tier))) != NULL; i++) {
		u->t_ns = r->t_ns[i];
		memcpy(u->values, r->values + i * r->width, r->width * sizeof(*u->values));
	}
	to->failed = false;
	watch_evaluate(w, watch_horizon(w));
}

void watch_end(struct watch *w)
{
	watch_evaluate(w, INT64_MAX);
}

void watch_free(struct watch *w)
{
	for (int t = 0; t < TIERS; t++)
		log_bytes_free(&w->unseen[t]);
}
