/* The stretch that a trigger requests, and the condition, which is one kind of trigger. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/pretrigger-state.h"

/* And two periods: how far tiers may be apart before one counts as stalled. They arrive one after the
 * other, each with the rows of the last 200 ms. */
#define LAG_NS      (300 * NS_PER_MS)
#define LAG_MOST_NS NS_PER_S /* less than the slack of the ring: rows that were not evaluated yet are held */

static void note_trigger(struct pretrigger *k, int64_t t_ns, const char *label)
{
	struct mark m = {.t_ns = t_ns};
	size_t n = strlen(label);

	/* A label that is too long ends between two characters. */
	if (n >= sizeof(m.label))
		for (n = sizeof(m.label) - 1; n && ((unsigned char)label[n] & 0xc0) == 0x80;)
			n--;
	text_printable(m.label, sizeof(m.label), label, n);
	log_builder_mark(k->builder, &m);
	k->triggers++;
}

/* The stretch from there; never before the stream. */
static void want(struct pretrigger *k, int64_t from_ns, int64_t to_ns)
{
	struct stretch *s = k->now.is ? &k->next : &k->now;

	if (from_ns < k->begin_ns)
		from_ns = k->begin_ns;
	*s = (struct stretch) {true, from_ns, to_ns};
	k->written = true;
	k->last_ns = to_ns;
	pretrigger_write(k);
}

void pretrigger_note(struct pretrigger *k, int64_t t_ns, const char *label, bool by_condition)
{
	struct stretch *s = k->next.is ? &k->next : &k->now;
	int64_t to;

	if (t_ns < k->begin_ns)
		t_ns = k->begin_ns;
	to = t_ns + k->o.after_ns;
	note_trigger(k, t_ns, label);
	if (s->is && t_ns <= s->to_ns) {
		/* One that was postponed because of the previous file is wanted now. */
		if (!by_condition && s == &k->now && to < k->copied_ns)
			to = k->copied_ns;
		if (!by_condition && to < s->to_ns)
			s->to_ns = k->last_ns = to;
	} else if (k->next.is) {
		k->next.to_ns = k->last_ns = to;
	} else if (by_condition && k->written && t_ns < k->last_ns + k->o.keep_ns) {
		want(k, k->last_ns + 1, k->last_ns + k->o.keep_ns + k->o.after_ns);
	} else {
		want(k, t_ns - k->o.keep_ns, to);
	}
}

/* Rows of several tiers come in batches of one: the oldest first, as far as all
 * tiers that matter have come.  One that is stalled is not waited for. */
static int64_t horizon(const struct pretrigger *k)
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

/* Out of memory: the condition does not see the row. */
static void unseen_add(struct unseen *u, int64_t t_ns, const double *values, size_t width)
{
	if (u->first > 0 && u->n == u->room) {
		u->n -= u->first;
		memmove(u->t_ns, u->t_ns + u->first, u->n * sizeof(*u->t_ns));
		memmove(u->values, u->values + u->first * width, u->n * width * sizeof(*values));
		u->first = 0;
	}
	if (u->n == u->room) {
		size_t room = u->room ? 2 * u->room : 1024;
		int64_t *t = reallocarray(u->t_ns, room, sizeof(*t));
		double *v;

		if (t)
			u->t_ns = t;
		v = t ? reallocarray(u->values, room, width * sizeof(*v)) : NULL;
		if (!v)
			return;
		u->values = v;
		u->room = room;
	}
	u->t_ns[u->n] = t_ns;
	memcpy(u->values + u->n++ * width, values, width * sizeof(*values));
}

void pretrigger_watch(struct pretrigger *k, const struct rows *r)
{
	if (!condition_uses(&k->when, r->tier))
		return;
	for (size_t i = 0; i < r->n; i++)
		unseen_add(&k->unseen[r->tier], r->t_ns[i], r->values + i * r->width, r->width);
	pretrigger_evaluate(k, horizon(k));
}

void pretrigger_evaluate(struct pretrigger *k, int64_t until_ns)
{
	for (;;) {
		struct unseen *u = NULL;
		enum tier tier = TIER_FAST;
		int64_t t_ns;
		bool holds;

		for (enum tier t = 0; t < TIERS; t++) {
			struct unseen *o = &k->unseen[t];

			if (o->first < o->n && o->t_ns[o->first] <= until_ns &&
			    (!u || o->t_ns[o->first] < u->t_ns[u->first])) {
				u = o;
				tier = t;
			}
		}
		if (!u)
			return;
		t_ns = u->t_ns[u->first];
		holds = condition_row(&k->eval, tier, t_ns, u->values + u->first++ * k->about->width[tier]);
		if (holds && k->armed)
			pretrigger_note(k, t_ns, k->when.text, true);
		k->armed = !holds;
	}
}
