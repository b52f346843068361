/* Compares the same epochs of several traces: those with the same label, or without a label the same
 * number. Repeated epochs have a spread, so that the difference of two means has a confidence interval
 * (Welch, 95 %); without repetition there is none, and a difference is not called real or noise. */
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "report/compare.h"

static int by_key(const void *a, const void *b)
{
	const struct occurrence *x = a, *y = b;
	int c = strcmp(x->domain, y->domain);

	c = c ? c : strcmp(x->label, y->label);
	if (c)
		return c;
	if (x->id != y->id)
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
	return !strcmp(x->domain, y->domain) && !strcmp(x->label, y->label) && x->id == y->id;
}

void groups_match(struct comparison *c)
{
	qsort(c->all, c->n_all, sizeof(*c->all), by_key);
	for (size_t i = 0; i < c->n_all; i++) {
		struct group *g = c->n_groups > 0 ? &c->groups[c->n_groups - 1] : NULL;

		if (!g || !same_key(&c->all[g->first], &c->all[i]))
			c->groups[c->n_groups++] = (struct group) {i, 1, c->all[i].order};
		else
			g->n++;
	}
	qsort(c->groups, c->n_groups, sizeof(*c->groups), by_order);
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
			const struct epoch *ep = &c->list[f].epochs.list[i];

			c->all[c->n_all] = (struct occurrence) {"", ep->label, *ep->label ? 0 : ep->id,
								f,  c->n_all,  i};
			c->n_all++;
		}
	groups_match(c);
	/* Append a group for the whole of each file. */
	for (size_t f = 0; f < c->n_files; f++)
		c->all[c->n_all + f] = (struct occurrence) {"", "", 0, f, 0, SIZE_MAX};
	c->groups[c->n_groups] = (struct group) {c->n_all, c->n_files, 0};
	return 0;
}

static bool has_metric(const struct channel *c, enum what what)
{
	switch (what) {
	case MEAN:
		return !channel_counts(c);
	case RISE:
		return c->unit == UNIT_CELSIUS || channel_counts(c);
	case THROTTLED:
		return c->kind == CHANNEL_THROTTLE;
	default:
		return c->unit == UNIT_MILLIWATT;
	}
}

/* Combines channels of the same name in several files into one metric. */
static void metrics_add(struct comparison *c, enum what what)
{
	size_t begin = c->n_metrics;

	for (size_t f = 0; f < c->n_files; f++)
		for (size_t i = 0; i < c->list[f].channels.n; i++) {
			const struct channel *ch = channel_of(&c->list[f], i);
			size_t m = begin;

			if (!has_metric(ch, what))
				continue;
			while (m < c->n_metrics && strcmp(c->metrics[m].channel->name, ch->name) != 0)
				m++;
			if (m == c->n_metrics)
				c->metrics[c->n_metrics++] = (struct metric) {what, ch};
		}
}

static int metrics_make(struct comparison *c)
{
	bool items = c->list[0].per > 0;
	size_t most = 2;

	for (size_t f = 0; f < c->n_files; f++)
		most += 5 * c->list[f].channels.n;
	c->metrics = calloc(most, sizeof(*c->metrics));
	if (!c->metrics)
		return -1;
	c->metrics[c->n_metrics++].what = DURATION;
	if (items)
		c->metrics[c->n_metrics++].what = ITEM_TIME;
	metrics_add(c, ENERGY);
	if (items)
		metrics_add(c, ITEM_ENERGY);
	metrics_add(c, MEAN);
	metrics_add(c, RISE);
	metrics_add(c, THROTTLED);
	return 0;
}

static size_t find(const struct analysis *a, const char *name)
{
	for (size_t i = 0; i < a->channels.n; i++)
		if (!strcmp(channel_of(a, i)->name, name))
			return i;
	return SIZE_MAX;
}

#define KEPT (32u << 20) /* bytes of cells; with more groups, each cell is computed twice */

static int cells_make(struct comparison *c)
{
	size_t each = c->n_metrics * c->n_files;

	c->at = calloc(each + 1, sizeof(*c->at));
	c->cells = calloc(each + 1, sizeof(*c->cells));
	if (!c->at || !c->cells)
		return -1;
	for (size_t i = 0; i < each; i++) {
		const struct channel *ch = c->metrics[i / c->n_files].channel;

		c->at[i] = ch ? find(&c->list[i % c->n_files], ch->name) : 0;
	}
	if (c->n_groups + 1 <= KEPT / ((each + 1) * sizeof(*c->cells)))
		c->kept = calloc(c->n_groups + 1, sizeof(*c->kept));
	return 0;
}

struct comparison compare_make(const struct analysis *list, size_t n)
{
	struct comparison c = {.list = list, .n_files = n};

	c.ok = groups_make(&c) == 0 && metrics_make(&c) == 0 && cells_make(&c) == 0;
	return c;
}

void compare_free(struct comparison *c)
{
	for (size_t g = 0; c->kept && g <= c->n_groups; g++)
		free(c->kept[g]);
	free(c->kept);
	free(c->cells);
	free(c->at);
	free(c->all);
	free(c->groups);
	free(c->metrics);
}

bool group_is_whole(const struct comparison *c, const struct group *g)
{
	return g == &c->groups[c->n_groups];
}

void group_title(const struct comparison *c, const struct group *g, bool translated, char *out, size_t size)
{
	const struct occurrence *x = &c->all[g->first];
	const char *domain = translated ? x->domain : "";

	if (c->sums && x->id > 0)
		snprintf(out, size, "%s #%llu", x->label, (unsigned long long)x->id + 1);
	else if (c->sums)
		snprintf(out, size, "%s%s%s", domain, *domain ? ": " : "", x->label);
	else if (group_is_whole(c, g))
		snprintf(out, size, "%s", translated ? _("whole") : "whole");
	else if (*x->label)
		snprintf(out, size, "%s", x->label);
	else
		snprintf(out, size, translated ? _("phase %llu") : "phase %llu", (unsigned long long)x->id);
}

bool group_shown(const struct comparison *c, const struct group *g)
{
	return c->n_files > 1 || (!group_is_whole(c, g) && g->n > 1);
}
