/* What a trigger asks for, and the condition, which is one of them. */
#include <math.h>
#include <string.h>

#include "trace/keep-state.h"

/* And two periods: what tiers may be apart before one counts as stalled.  They come one after the
 * other, each with what there is of the last 200 ms. */
#define LAG_NS      (300 * NS_PER_MS)
#define LAG_MOST_NS NS_PER_S /* less than the slack of what is held: what was not evaluated yet is there */

static void note_trigger(struct keep *k, int64_t t_ns, const char *label)
{
	struct mark m = {.t_ns = t_ns < k->about->start.mono_ns ? k->about->start.mono_ns : t_ns};
	size_t n = strlen(label);

	/* A label that is too long ends between two characters. */
	if (n >= sizeof(m.label))
		for (n = sizeof(m.label) - 1; n && ((unsigned char)label[n] & 0xc0) == 0x80;)
			n--;
	text_printable(m.label, sizeof(m.label), label, n);
	hold_mark(&k->hold, &m);
	k->triggers++;
}

/* The stretch from there; never before the stream. */
static void want(struct keep *k, int64_t from_ns, int64_t to_ns)
{
	if (from_ns < k->about->start.mono_ns)
		from_ns = k->about->start.mono_ns;
	k->wanted = (struct stretch_wanted) {true, from_ns, to_ns};
	k->written = true;
	k->last_ns = to_ns;
	pthread_cond_signal(&k->wake);
}

/* With the lock. */
void keep_note(struct keep *k, int64_t t_ns, const char *label, bool by_condition)
{
	int64_t to = t_ns + k->o.after_ns;

	note_trigger(k, t_ns, label);
	if (k->wanted.is && t_ns <= k->wanted.to_ns) {
		/* One that was put off, because of a file just before it, is wanted now. */
		if (!by_condition && to < k->wanted.to_ns)
			k->wanted.to_ns = k->last_ns = to;
	} else if (k->wanted.is) {
		k->wanted.to_ns = k->last_ns = to;
	} else if (by_condition && k->written && t_ns < k->last_ns + k->o.keep_ns) {
		want(k, k->last_ns + 1, k->last_ns + k->o.keep_ns + k->o.after_ns);
	} else {
		want(k, t_ns - k->o.keep_ns, to);
	}
}

/* Rows of several tiers come in batches of one: the oldest first, as far as all
 * tiers that matter have come.  One that is stalled is not waited for. */
int64_t keep_horizon(const struct keep *k)
{
	int64_t newest = 0, low = INT64_MAX;

	for (int t = 0; t < TIERS; t++)
		if (condition_uses(&k->when, (enum tier)t) && k->newest_ns[t] > newest)
			newest = k->newest_ns[t];
	for (int t = 0; t < TIERS; t++) {
		double apart = 2 * (double)NS_PER_S / k->about->hz[t] + (double)LAG_NS;
		int64_t least = newest - (int64_t)fmin(apart, (double)LAG_MOST_NS);

		if (!condition_uses(&k->when, (enum tier)t))
			continue;
		if (k->newest_ns[t] > least)
			least = k->newest_ns[t];
		if (least < low)
			low = least;
	}
	return low;
}

void keep_evaluate(struct keep *k, int64_t until)
{
	for (;;) {
		enum tier tier = TIERS;
		int64_t t_ns = 0;
		bool holds;

		for (int t = 0; t < TIERS; t++) {
			struct hold_cursor *c = &k->at[t];

			if (!condition_uses(&k->when, (enum tier)t))
				continue;
			if (k->seen[t] < hold_oldest(&k->hold, (enum tier)t))
				k->seen[t] = hold_oldest(&k->hold, (enum tier)t);
			if (hold_at(&k->hold, c, k->seen[t]) && c->row.t_ns <= until &&
			    (tier == TIERS || c->row.t_ns < t_ns)) {
				tier = (enum tier)t;
				t_ns = c->row.t_ns;
			}
		}
		if (tier == TIERS)
			return;
		holds = condition_row(&k->eval, tier, t_ns, k->at[tier].row.values);
		k->seen[tier]++;
		if (holds && k->armed)
			keep_note(k, t_ns, k->when.text, true);
		k->armed = !holds;
	}
}
