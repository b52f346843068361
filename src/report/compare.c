/* The same epochs of several traces beside each other.
 *
 * Epochs are the same when they have the same label, or, without one, the same
 * number.  What occurs repeatedly has a spread, and with it the difference of two
 * means has a confidence interval (Welch's, 95 %); what occurs once has none, and
 * no difference is called real or noise then. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare.h"

static int by_key(const void *a, const void *b)
{
	const struct occurrence *x = a, *y = b;
	int c = strcmp(x->label, y->label);

	if (c)
		return c;
	if (!*x->label && x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int by_order(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

static bool same_key(const struct occurrence *x, const struct occurrence *y)
{
	return !strcmp(x->label, y->label) && (*x->label || x->id == y->id);
}

static int groups_make(struct comparison *c)
{
	size_t most = 0;

	for (size_t f = 0; f < c->n_files; f++)
		most += c->list[f].epochs.n + 1;
	c->all = calloc(most, sizeof(*c->all));
	c->groups = calloc(most, sizeof(*c->groups));
	if (!c->all || !c->groups)
		return -1;
	for (size_t f = 0; f < c->n_files; f++)
		for (size_t i = 0; i < c->list[f].epochs.n; i++) {
			const struct part *p = &c->list[f].parts[i];

			c->all[c->n_all] = (struct occurrence) {p->epoch.label, p->epoch.id, f, c->n_all, p};
			c->n_all++;
		}
	qsort(c->all, c->n_all, sizeof(*c->all), by_key);
	for (size_t i = 0; i < c->n_all; i++) {
		struct group *g = c->n_groups > 0 ? &c->groups[c->n_groups - 1] : NULL;

		if (!g || !same_key(&c->all[g->first], &c->all[i]))
			c->groups[c->n_groups++] = (struct group) {i, 1, c->all[i].order};
		else
			g->n++;
	}
	qsort(c->groups, c->n_groups, sizeof(*c->groups), by_order);
	/* The whole of each, as the last one. */
	for (size_t f = 0; f < c->n_files; f++)
		c->all[c->n_all + f] = (struct occurrence) {"", 0, f, 0, &c->list[f].whole};
	c->groups[c->n_groups] = (struct group) {c->n_all, c->n_files, 0};
	return 0;
}

static void metrics_of(struct comparison *c, const struct analysis *a, enum what what)
{
	for (size_t i = 0; i < a->channels.n; i++) {
		const struct channel *ch = channel_of(a, i);
		/* joules since the program began say nothing of an epoch: its energy does */
		bool fits = (what == MEAN && ch->unit != UNIT_JOULE) ||
			    ((what == ENERGY || what == ITEM_ENERGY) && ch->unit == UNIT_MILLIWATT) ||
			    (what == RISE && ch->unit == UNIT_CELSIUS) ||
			    (what == THROTTLED && ch->kind == CHANNEL_THROTTLE);
		bool again = false;

		for (size_t m = 0; fits && !again && m < c->n_metrics; m++)
			again = c->metrics[m].what == what && !strcmp(c->metrics[m].channel->name, ch->name);
		if (fits && !again)
			c->metrics[c->n_metrics++] = (struct metric) {what, ch};
	}
}

static int metrics_make(struct comparison *c)
{
	static const enum what order[] = {ENERGY, ITEM_ENERGY, MEAN, RISE, THROTTLED};
	size_t most = 2;

	for (size_t f = 0; f < c->n_files; f++)
		most += 5 * c->list[f].channels.n;
	c->metrics = calloc(most, sizeof(*c->metrics));
	if (!c->metrics)
		return -1;
	c->metrics[c->n_metrics++].what = DURATION;
	if (c->list[0].per > 0)
		c->metrics[c->n_metrics++].what = ITEM_TIME;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		size_t begin = c->n_metrics;
		struct comparison only = *c;

		if (order[i] == ITEM_ENERGY && c->list[0].per <= 0)
			continue;
		only.metrics += begin; /* names are unique within one kind of metric */
		only.n_metrics = 0;
		for (size_t f = 0; f < c->n_files; f++)
			metrics_of(&only, &c->list[f], order[i]);
		c->n_metrics = begin + only.n_metrics;
	}
	return 0;
}

struct comparison compare_make(const struct analysis *list, size_t n)
{
	struct comparison c = {.list = list, .n_files = n};

	c.ok = groups_make(&c) == 0 && metrics_make(&c) == 0;
	return c;
}

void compare_free(struct comparison *c)
{
	free(c->all);
	free(c->groups);
	free(c->metrics);
}

static size_t find(const struct analysis *a, const char *name)
{
	for (size_t i = 0; i < a->channels.n; i++)
		if (!strcmp(channel_of(a, i)->name, name))
			return i;
	return SIZE_MAX;
}

static double value_of(const struct analysis *a, const struct part *p, const struct metric *m, size_t i)
{
	double seconds = (double)p->duration_ns / 1e9;

	switch (m->what) {
	case DURATION:
		return seconds;
	case ITEM_TIME:
		return seconds / items_of(a, p);
	case ENERGY:
		return energy_of(a, p, i);
	case ITEM_ENERGY:
		return energy_of(a, p, i) / items_of(a, p);
	case RISE:
		return rise_of(a, p, i);
	case THROTTLED:
		return throttled_of(a, p, i);
	default:
		return mean_of(&p->results[i]);
	}
}

struct cell cell_of(const struct comparison *c, const struct group *g, size_t file, const struct metric *m)
{
	const struct analysis *a = &c->list[file];
	size_t i = m->channel ? find(a, m->channel->name) : 0;
	struct cell out = {0, NAN, NAN};
	double mean = 0, m2 = 0;

	for (size_t k = g->first; i != SIZE_MAX && k < g->first + g->n; k++) {
		double v, d;

		if (c->all[k].file != file)
			continue;
		v = value_of(a, c->all[k].part, m, i);
		if (isnan(v))
			continue;
		out.n++;
		d = v - mean;
		mean += d / (double)out.n;
		m2 += d * (v - mean);
	}
	if (out.n > 0)
		out.mean = mean;
	if (out.n > 1)
		out.sd = sqrt(m2 / (double)(out.n - 1));
	return out;
}

enum verdict verdict(const struct cell *a, const struct cell *b, double *interval)
{
	*interval = NAN;
	if (a->n == 0 || b->n == 0)
		return NOTHING;
	*interval = welch(a->sd, a->n, b->sd, b->n);
	if (isnan(*interval))
		return UNKNOWN;
	return fabs(b->mean - a->mean) <= *interval ? NOISE : DIFFERS;
}

bool group_is_whole(const struct comparison *c, const struct group *g)
{
	return g == &c->groups[c->n_groups];
}

bool group_shown(const struct comparison *c, const struct group *g)
{
	return c->n_files > 1 || (!group_is_whole(c, g) && g->n > 1);
}

bool compare_wanted(const struct analysis *list, size_t n)
{
	struct comparison c = compare_make(list, n);
	bool any = false;

	for (size_t g = 0; c.ok && g <= c.n_groups; g++)
		any |= group_shown(&c, &c.groups[g]);
	compare_free(&c);
	return any;
}
