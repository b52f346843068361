/* Sorts rows into intervals by their own times, so that a line is the same from a live board, from a stream and from its
 * file. Rows of one tier may come some time before those of another, so that several intervals are open; one is
 * complete when the stream rests at a later time. */
#include "serve/interval.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/energy.h"
#include "model/missing.h"
#include "util/intl.h"

struct slot {
	struct slot *next;
	int64_t number;
	struct interval_sum sums[];
};

struct intervals {
	struct sink sink;
	int64_t every_ns;
	bool partial, joules;
	int (*begin)(void *arg, const struct session *about, struct err *e);
	interval_take *take;
	void *arg;

	const struct session *about;
	size_t n;
	size_t *channel_at[TIERS]; /* by column of a row */
	struct fact *facts;
	char (*reasons)[sizeof(((struct change *)NULL)->to)];
	struct energy_meter **meters; /* NULL: no power channel */
	struct slot *open, *spare;
	struct slot *held;    /* what take() had no room for, from held_ns on */
	int64_t held_ns;      /* 0: nothing is held */
	struct slot *all;
	int64_t next;	      /* number of the first interval that was not taken */
	int64_t last_ns[TIERS], newest_ns;
	uint64_t skipped;
};

static struct intervals *of_sink(struct sink *s)
{
	return (struct intervals *)s;
}

static void slot_clear(const struct intervals *v, struct slot *s)
{
	for (size_t i = 0; i < v->n; i++)
		s->sums[i] = (struct interval_sum) {.last = (double)NAN, .joules = (double)NAN};
}

static struct slot *slot_new(const struct intervals *v)
{
	struct slot *s = malloc(sizeof(*s) + v->n * sizeof(*s->sums));

	if (s)
		slot_clear(v, s);
	return s;
}

static void slot_add(const struct intervals *v, struct slot *s, const struct slot *later)
{
	for (size_t i = 0; i < v->n; i++) {
		bin_merge(&s->sums[i].bin, &later->sums[i].bin);
		s->sums[i].busy_s += later->sums[i].busy_s;
		if (!isnan(later->sums[i].last))
			s->sums[i].last = later->sums[i].last;
		s->sums[i].joules = fmax(s->sums[i].joules, later->sums[i].joules);
	}
}

/* The open interval with that number; NULL if out of memory: its row is then not in any. */
static struct slot *slot_of(struct intervals *v, int64_t number)
{
	struct slot **at = &v->open, *s;

	if (number < v->next)
		number = v->next;
	while (*at && (*at)->number < number)
		at = &(*at)->next;
	if (*at && (*at)->number == number)
		return *at;
	s = v->spare ? v->spare : slot_new(v);
	if (!s)
		return NULL;
	if (s == v->spare) {
		v->spare = s->next;
		slot_clear(v, s);
	}
	s->number = number;
	s->next = *at;
	return *at = s;
}

static int intervals_begin(struct sink *sink, const struct session *about, struct err *e)
{
	struct intervals *v = of_sink(sink);
	bool whole = true;

	v->about = about;
	v->n = about->n_channels;
	v->newest_ns = about->start.mono_ns;
	v->facts = calloc(about->n_facts + 1, sizeof(*v->facts));
	v->reasons = calloc(v->n + 1, sizeof(*v->reasons));
	v->meters = calloc(v->n + 1, sizeof(struct energy_meter *));
	v->held = slot_new(v);
	v->all = slot_new(v);
	for (int t = 0; t < TIERS; t++)
		whole &= (v->channel_at[t] = calloc(about->width[t] + 1, sizeof(size_t))) != NULL;
	if (!whole || !v->facts || !v->reasons || !v->meters || !v->held || !v->all)
		return err_set(e, ERR_FAILED, "%s", _("out of memory"));
	if (about->n_facts)
		memcpy(v->facts, about->facts, about->n_facts * sizeof(*v->facts));
	for (size_t i = 0; i < v->n; i++) {
		const struct channel *c = &about->channels[i];

		if (c->column < about->width[c->tier])
			v->channel_at[c->tier][c->column] = i;
		if (!v->joules || c->unit != UNIT_MILLIWATT)
			continue;
		v->meters[i] = calloc(1, sizeof(struct energy_meter));
		if (!v->meters[i])
			return err_set(e, ERR_FAILED, "%s", _("out of memory"));
		energy_meter_begin(v->meters[i], about, i);
	}
	return v->begin ? v->begin(v->arg, about, e) : 0;
}

/* Joules are those at the end of an interval, of its rows and those before. */
static void rows_measure(struct intervals *v, const struct rows *r)
{
	for (size_t from = 0, to = 0; from < r->n; from = to) {
		int64_t number = (r->t_ns[from] - v->about->start.mono_ns) / v->every_ns;
		struct slot *s = slot_of(v, number);

		while (to < r->n && (r->t_ns[to] - v->about->start.mono_ns) / v->every_ns == number)
			to++;
		for (size_t i = 0; i < v->n; i++) {
			struct energy_result e;

			if (!v->meters[i])
				continue;
			for (size_t k = from; k < to; k++)
				energy_meter_row(v->meters[i], r, k);
			e = energy_meter_get(v->meters[i], r->t_ns[to - 1]);
			if (s && e.known_s > 0)
				s->sums[i].joules = fmax(0, e.joules);
		}
	}
}

static void intervals_rows(struct sink *sink, const struct rows *r)
{
	struct intervals *v = of_sink(sink);
	int64_t start_ns = v->about->start.mono_ns, hole_ns = stats_hole_ns(v->about->hz[r->tier]), last_ns;
	struct slot *s = NULL;

	for (size_t i = 0; i < r->n; i++) {
		int64_t number = (r->t_ns[i] - start_ns) / v->every_ns;

		if (!s || s->number != number)
			s = slot_of(v, number);
		last_ns = v->last_ns[r->tier];
		v->last_ns[r->tier] = r->t_ns[i];
		for (size_t k = 0; s && k < r->width; k++) {
			size_t channel = v->channel_at[r->tier][k];
			double value = r->values[i * r->width + k];

			if (isnan(value))
				continue;
			bin_add(&s->sums[channel].bin, value);
			s->sums[channel].last = value;
			if (last_ns && r->t_ns[i] - last_ns <= hole_ns)
				s->sums[channel].busy_s += value / 100 * (double)(r->t_ns[i] - last_ns) / 1e9;
		}
	}
	if (v->joules)
		rows_measure(v, r);
	if (r->n && r->t_ns[r->n - 1] > v->newest_ns)
		v->newest_ns = r->t_ns[r->n - 1];
}

/* Passes the first open interval on. */
static void first_take(struct intervals *v, int64_t to_ns)
{
	struct session about = *v->about;
	struct slot *s = v->open;
	struct interval i = {v, &about, v->about->start.mono_ns + s->number * v->every_ns, to_ns, s->sums, v->all->sums};

	about.facts = v->facts;
	v->open = s->next;
	v->next = s->number + 1;
	slot_add(v, v->all, s);
	if (v->held_ns) {
		slot_add(v, v->held, s);
		i.sums = v->held->sums;
		i.from_ns = v->held_ns;
	}
	if (v->take(v->arg, &i)) {
		slot_clear(v, v->held);
		v->held_ns = 0;
	} else {
		v->skipped++;
		if (!v->held_ns)
			slot_add(v, v->held, s);
		v->held_ns = i.from_ns;
	}
	s->next = v->spare;
	v->spare = s;
}

static int64_t end_of(const struct intervals *v, const struct slot *s)
{
	return v->about->start.mono_ns + (s->number + 1) * v->every_ns;
}

static void intervals_rest(struct sink *sink)
{
	struct intervals *v = of_sink(sink);

	while (v->open && end_of(v, v->open) <= v->newest_ns)
		first_take(v, end_of(v, v->open));
}

static int intervals_end(struct sink *sink, struct err *e)
{
	struct intervals *v = of_sink(sink);

	(void)e;
	intervals_rest(sink);
	if (v->partial && v->open && (end_of(v, v->open) - v->newest_ns) / 9 <= v->every_ns / 10)
		first_take(v, v->newest_ns);
	return 0;
}

static void intervals_change(struct sink *sink, const struct change *c)
{
	struct intervals *v = of_sink(sink);
	size_t i;

	if (!change_is_reason(c)) {
		facts_change(v->facts, v->about->n_facts, c);
		return;
	}
	i = channel_find(v->about->channels, v->n, c->what);
	if (i < v->n)
		snprintf(v->reasons[i], sizeof(v->reasons[i]), "%s", c->to);
}

/* A channel that had no source has one now, and perhaps a counter. */
static void intervals_described(struct sink *sink, const struct channel *channels)
{
	struct intervals *v = of_sink(sink);

	(void)channels;
	for (size_t i = 0; i < v->n; i++)
		if (v->meters[i])
			energy_meter_described(v->meters[i], v->about);
}

static const struct sink_ops intervals_ops = {
	.begin = intervals_begin,
	.rows = intervals_rows,
	.end = intervals_end,
	.rest = intervals_rest,
	.change = intervals_change,
	.described = intervals_described,
};

struct intervals *intervals_new(int64_t every_ns, bool partial, bool joules,
				int (*begin)(void *arg, const struct session *about, struct err *e), interval_take *take,
				void *arg, struct err *e)
{
	struct intervals *v = calloc(1, sizeof(*v));

	if (!v) {
		err_set(e, ERR_FAILED, "%s", _("out of memory"));
		return NULL;
	}
	v->sink.ops = &intervals_ops;
	v->every_ns = every_ns;
	v->partial = partial;
	v->joules = joules;
	v->begin = begin;
	v->take = take;
	v->arg = arg;
	return v;
}

struct sink *intervals_sink(struct intervals *v)
{
	return &v->sink;
}

uint64_t intervals_skipped(const struct intervals *v)
{
	return v->skipped;
}

static void slots_free(struct slot *s)
{
	while (s) {
		struct slot *next = s->next;

		free(s);
		s = next;
	}
}

void intervals_free(struct intervals *v)
{
	if (!v)
		return;
	slots_free(v->open);
	slots_free(v->spare);
	free(v->held);
	free(v->all);
	for (size_t i = 0; v->meters && i < v->n; i++)
		free(v->meters[i]);
	for (int t = 0; t < TIERS; t++)
		free(v->channel_at[t]);
	free(v->meters);
	free(v->reasons);
	free(v->facts);
	free(v);
}

void interval_reason(const struct interval *i, size_t channel, char *out, size_t size)
{
	const struct channel *c = &i->about->channels[channel];

	if (c->missing[0] || i->of->reasons[channel][0])
		missing_at(out, size, c, i->of->reasons[channel]);
	else
		snprintf(out, size, "%s", _("no reading in this time"));
}
