/* Compares programs by their runs. A run is one recording, and has one number for each quantity of a phase: repetitions
 * inside of a run share what is particular to it, such as how warm the board was, and do not tell how much runs differ. So
 * two runs have a difference, with the error bounds of the measurement; a verdict on the program takes two or more runs a
 * side. It is Welch's test over the runs. Some of many differences are large by chance, hence Holm's correction over all
 * that are printed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare.h"
#include "util/intl.h"

const struct quantity quantities[] = {
	[DURATION] = {"duration", "s", N_("duration"), {"s", 1}},
	[ENERGY] = {"energy", "J", N_("energy, %s"), {"J", 1}},
	[ITEM_ENERGY] = {"energy_per_item", "J", N_("per item, %s"), {"J", 1}},
	[MEAN] = {"mean", NULL, "%s", {NULL, 1}},
	[RISE] = {"rise", NULL, N_("rise, %s"), {NULL, 1}},
	[THROTTLED] = {"throttled", "s", "%s", {"s", 1}},
	[RANGE_COUNT] = {"count", "", N_("count"), {"", 1}},
	[RANGE_TIME] = {"time_per_range", "s", N_("duration"), {"ms", 1e3}},
	[RANGE_ENERGY] = {"energy_per_range", "J", N_("energy per range, %s"), {"J", 1}},
};

static int by_key(const void *a, const void *b)
{
	const struct occurrence *x = a, *y = b;
	int c = strcmp(x->domain, y->domain);

	c = c ? c : strcmp(x->label, y->label);
	if (c)
		return c;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static bool same_label(const struct occurrence *x, const struct occurrence *y)
{
	return !strcmp(x->domain, y->domain) && !strcmp(x->label, y->label);
}

static int by_order(const void *a, const void *b)
{
	const struct subject *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

static int by_size(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* Computes Holm's correction: p-values in their order, each against its share of 5 %. */
static void compare_test(struct comparison *c)
{
	size_t n = 0;
	float *p = calloc(c->n_subjects * c->n_metrics + 1, sizeof(*p));

	c->ok = p != NULL;
	for (size_t s = 0; c->ok && s < c->n_subjects; s++) {
		subject_load(c, &c->subjects[s]);
		for (size_t m = 0; m < c->n_metrics; m++) {
			struct side a = side_of(c, 0, &c->metrics[m]), b = side_of(c, 1, &c->metrics[m]);
			struct difference d = difference(c, &a, &b);

			if (!isnan(d.p) && d.verdict != NOTHING)
				p[n++] = (float)d.p;
		}
	}
	if (n > 0)
		qsort(p, n, sizeof(*p), by_size);
	c->most = -1;
	for (size_t i = 0; i < n && p[i] <= 0.05 / (double)(n - i); i++)
		c->most = p[i];
	c->tested = n;
	free(p);
}

void compare_begin(struct comparison *c)
{
	qsort(c->all, c->n_all, sizeof(*c->all), by_key);
	for (size_t i = 1; c->ranges && i < c->n_all; i++)
		if (same_label(&c->all[i - 1], &c->all[i]) && c->all[i - 1].run == c->all[i].run)
			c->all[i].id = c->all[i - 1].id + 1;
	if (c->ranges)
		qsort(c->all, c->n_all, sizeof(*c->all), by_key);
	for (size_t i = 0; i < c->n_all; i++)
		if (i > 0 && same_label(&c->all[i - 1], &c->all[i]) && c->all[i - 1].id == c->all[i].id)
			c->subjects[c->n_subjects - 1].n++;
		else
			c->subjects[c->n_subjects++] = (struct subject) {i, 1, c->all[i].order};
	qsort(c->subjects, c->n_subjects, sizeof(*c->subjects), by_order);
	if (!c->ranges && c->n_subjects > 1) {
		c->subjects[c->n_subjects++] = (struct subject) {c->n_all, c->n_runs, 0};
		for (size_t f = 0; f < c->n_runs; f++)
			c->all[c->n_all + f] = (struct occurrence) {"", "", 0, f, 0, 0, SIZE_MAX};
	}
	if (c->n_first > 1 && c->n_runs > c->n_first + 1)
		compare_test(c);
}

static const char *name_of(const struct analysis *a, size_t i)
{
	const struct channel *c = channel_of(a, i);

	return c == &a->total ? a->power_name : c->name;
}

/* The index of the i-th channel that is compared: one of those selected, then the sum of power, if all of it is
 * selected. SIZE_MAX: there are no more. */
static size_t compared(const struct analysis *a, size_t i)
{
	bool sum = i == a->channels.n && a->at[KEY_POWER] == a->n_results;

	for (size_t k = 0; k < a->power.n && sum; k++)
		sum = a->power_at[k] < a->channels.n;
	return i < a->channels.n ? i : sum ? a->n_results : SIZE_MAX;
}

/* Combines channels of the same name in several runs into one metric. Without `all`: duration, energy and power of
 * what the table of phases has; without a total, the energy of each rail. */
static void metrics_add(struct comparison *c, enum what what, bool all)
{
	size_t begin = c->n_metrics;
	bool total = power_adds_up(c->list);

	for (size_t f = 0; f < c->n_runs; f++)
		for (size_t k = 0, i; (i = compared(&c->list[f], k)) != SIZE_MAX; k++) {
			const struct channel *ch = channel_of(&c->list[f], i);
			const char *name = name_of(&c->list[f], i);
			bool power = ch->unit == UNIT_MILLIWATT,
			     energy = what == ENERGY || what == ITEM_ENERGY;
			bool shown = all || (total ? power && !strcmp(name, c->list->power_name) : energy);
			bool has = what == MEAN        ? !channel_counts(ch)
				   : what == RISE      ? ch->unit == UNIT_CELSIUS || channel_counts(ch)
				   : what == THROTTLED ? ch->kind == CHANNEL_THROTTLE
						       : power;
			size_t m = begin;

			while (m < c->n_metrics && strcmp(c->metrics[m].name, name) != 0)
				m++;
			if (shown && has && m == c->n_metrics)
				c->metrics[c->n_metrics++] = (struct metric) {what, ch, name};
		}
}

/* Returns SIZE_MAX if the run has no such signal. */
static size_t compared_named(const struct analysis *a, const char *name)
{
	size_t i;

	for (size_t k = 0; (i = compared(a, k)) != SIZE_MAX; k++)
		if (!strcmp(name_of(a, i), name))
			return i;
	return SIZE_MAX;
}

struct comparison compare_make(const struct analysis *list, size_t n, size_t n_first, bool all)
{
	struct comparison c = {.list = list, .n_runs = n, .n_first = n_first};
	size_t occurrences = n, metrics = 1, cells;

	for (size_t f = 0; f < n; f++) {
		occurrences += list[f].epochs.n;
		metrics += 5 * (list[f].channels.n + 1);
	}
	c.all = calloc(occurrences, sizeof(*c.all));
	c.subjects = calloc(occurrences + 1, sizeof(*c.subjects));
	c.metrics = calloc(metrics, sizeof(*c.metrics));
	if (!c.all || !c.subjects || !c.metrics)
		return c;
	c.metrics[c.n_metrics++].what = DURATION;
	metrics_add(&c, ENERGY, all);
	metrics_add(&c, MEAN, all);
	if (list[0].per > 0)
		metrics_add(&c, ITEM_ENERGY, all);
	if (all) {
		metrics_add(&c, RISE, all);
		metrics_add(&c, THROTTLED, all);
	}
	cells = c.n_metrics * n;
	c.at = calloc(cells, sizeof(*c.at));
	c.values = calloc(cells, sizeof(*c.values));
	c.ok = c.at && c.values;
	for (size_t i = 0; c.ok && i < cells; i++) {
		const struct metric *m = &c.metrics[i / n];

		c.at[i] = m->channel ? compared_named(&list[i % n], m->name) : 0;
	}
	for (size_t f = 0; f < n; f++)
		for (size_t i = 0; i < list[f].epochs.n; i++) {
			const struct epoch *ep = &list[f].epochs.list[i];

			c.all[c.n_all] = (struct occurrence) {
				"", ep->label, *ep->label ? 0 : ep->id, f, 0, c.n_all, i};
			c.n_all++;
		}
	if (c.ok)
		compare_begin(&c);
	return c;
}

void compare_free(struct comparison *c)
{
	free(c->values);
	free(c->at);
	free(c->all);
	free(c->subjects);
	free(c->metrics);
}

bool subject_is_whole(const struct comparison *c, const struct subject *s)
{
	return !c->ranges && c->all[s->first].at == SIZE_MAX;
}

void subject_title(const struct comparison *c, const struct subject *s, bool translated, char *out,
		   size_t size)
{
	const struct occurrence *x = &c->all[s->first];
	const char *domain = translated ? x->domain : "";

	if (c->ranges && x->id > 0)
		snprintf(out, size, "%s #%llu", x->label, (unsigned long long)x->id + 1);
	else if (c->ranges)
		snprintf(out, size, "%s%s%s", domain, *domain ? ": " : "", x->label);
	else if (subject_is_whole(c, s))
		snprintf(out, size, "%s", translated ? _("whole") : "whole");
	else if (*x->label)
		snprintf(out, size, "%s", x->label);
	else
		snprintf(out, size, translated ? _("phase %llu") : "phase %llu", (unsigned long long)x->id);
}

/* Adds the metric in one phase, or in the whole. */
static void value_add(struct run_value *x, const struct analysis *a, const struct part *p,
		      const struct metric *m, size_t i)
{
	double seconds = seconds_of(p), v = seconds, within = NAN, known = 0, span = 0;

	if (m->channel) {
		known_of(a, p, i, &known, &span);
		within = p->results[i].energy.within / p->results[i].energy.known_s; /* in watts */
	}
	switch (m->what) {
	case ENERGY:
		v = full_energy(p, i);
		within *= seconds;
		break;
	case ITEM_ENERGY:
		v = full_energy(p, i) / items_of(a, p);
		within *= seconds / items_of(a, p);
		break;
	case RISE:
		v = rise_of(a, p, i);
		break;
	case THROTTLED:
		v = throttled_of(a, p, i);
		break;
	case MEAN:
		v = m->channel->unit == UNIT_MILLIWATT ? watts_of(&p->results[i]) * 1e3 : mean_of(&p->results[i]);
		within *= 1e3;
		break;
	default:
		break;
	}
	x->known += known;
	x->span += span;
	if (isnan(v))
		return;
	x->n++;
	x->mean += v;
	x->within += within * within;
}

void subject_load(struct comparison *c, const struct subject *s)
{
	if (c->ranges) {
		range_values(c, s);
		return;
	}
	memset(c->values, 0, c->n_metrics * c->n_runs * sizeof(*c->values));
	for (size_t k = s->first; k < s->first + s->n; k++) {
		const struct occurrence *o = &c->all[k];
		const struct analysis *a = &c->list[o->run];
		const struct part *p = o->at == SIZE_MAX ? &a->whole : part_load(a, o->at);

		for (size_t m = 0; m < c->n_metrics; m++) {
			size_t x = m * c->n_runs + o->run;

			if (c->at[x] != SIZE_MAX)
				value_add(&c->values[x], a, p, &c->metrics[m], c->at[x]);
		}
	}
	for (size_t x = 0; x < c->n_metrics * c->n_runs; x++) {
		struct run_value *v = &c->values[x];
		enum what what = c->metrics[x / c->n_runs].what;
		bool unknown = (what == ENERGY || what == ITEM_ENERGY) && v->known < KNOWN_ENOUGH * v->span;

		v->mean = unknown ? NAN : v->mean / (double)v->n;
		v->within = sqrt(v->within) / (double)v->n;
	}
}

struct side side_of(const struct comparison *c, int which, const struct metric *m)
{
	const struct run_value *list = &c->values[(size_t)(m - c->metrics) * c->n_runs];
	size_t from = which ? c->n_first : 0, to = which ? c->n_runs : c->n_first;
	struct side s = {.sd = NAN, .within = NAN, .known = 1};
	double squares = 0, least = 1;

	for (size_t f = from; f < to; f++) {
		const struct run_value *x = &list[f];
		double off = x->mean - s.mean, known = x->span > 0 ? x->known / x->span : 1;

		least = fmin(least, known);
		s.why = x->why ? x->why : s.why;
		/* Of several runs, those in which it is not known are left out. */
		if (isnan(x->mean) || (to - from > 1 && known < KNOWN_ENOUGH))
			continue;
		s.known = fmin(s.known, known);
		s.n++;
		s.mean += off / (double)s.n;
		squares += off * (x->mean - s.mean);
		s.within = to - from == 1 ? x->within : NAN;
	}
	if (s.n > 1)
		s.sd = sqrt(squares / (double)(s.n - 1));
	if (s.n == 0) {
		s.mean = NAN;
		s.known = least;
	}
	return s;
}

struct difference difference(const struct comparison *c, const struct side *a, const struct side *b)
{
	struct difference d = {NOTHING, b->mean - a->mean, NAN, NAN, NAN};

	if (isnan(a->known + b->known) || fmin(a->known, b->known) < KNOWN_ENOUGH) {
		d.verdict = PARTLY;
	} else if (c->n_runs == 2) {
		d.within = hypot(a->within, b->within);
	} else if (a->n > 0 && b->n > 0) {
		d.ci95 = welch(a->sd, a->n, b->sd, b->n, d.by, &d.p);
		d.verdict = isnan(d.p)                 ? FEW
			    : fabs(d.by) + d.ci95 == 0 ? NOTHING /* all runs are alike */
			    : (float)d.p <= c->most    ? DIFFERS
						       : NOISE;
	}
	return d;
}
