/* Ranges of several runs: those with the same name and domain, and of threads the first, second and so on with the same
 * names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare.h"
#include "util/intl.h"

/* Joules of other power signals are not compared. */
static bool same_power(const struct comparison *c, size_t run)
{
	return power_adds_up(c->list) && power_adds_up(&c->list[run]) && !strcmp(c->list->power_name, c->list[run].power_name);
}

void range_values(struct comparison *c, const struct subject *s)
{
	for (size_t x = 0; x < c->n_metrics * c->n_runs; x++)
		c->values[x] = (struct run_value) {.mean = NAN, .within = NAN};
	for (size_t k = s->first; k < s->first + s->n; k++) {
		size_t run = c->all[k].run;
		const struct group *g = c->ranges[run].list[c->all[k].at];
		const struct energy_result *r = &g->spent[USE_ALL].energy;
		double n = g->count ? (double)g->count : (double)NAN, known = r->known_s * 1e9 / (double)g->spent[USE_ALL].time_ns;

		for (size_t m = 0; m < c->n_metrics; m++) {
			struct run_value *x = &c->values[m * c->n_runs + run];

			if (c->metrics[m].what == RANGE_COUNT)
				x->mean = n;
			else if (c->metrics[m].what == RANGE_TIME)
				x->mean = (double)g->total_ns / 1e9 / n;
			else if (same_power(c, run))
				*x = (struct run_value) {.why = r->why, .span = !r->why, .known = known,
							 .mean = !r->why && known >= KNOWN_ENOUGH ? r->joules / n / known : (double)NAN,
							 .within = !r->why && known >= KNOWN_ENOUGH ? r->within / n : (double)NAN};
		}
	}
}

static void write_notes(FILE *f, const struct comparison *c)
{
	const char *told = NULL;

	for (size_t i = 0; i < c->n_all; i++) {
		const char *why = c->ranges[c->all[i].run].list[c->all[i].at]->spent[USE_ALL].energy.why;

		if (why && why != told)
			fprintf(f, "--: %s\n", _(why));
		told = why ? why : told;
	}
	for (size_t i = 1; i < c->n_runs; i++)
		if (power_adds_up(c->list) && power_adds_up(&c->list[i]) && !same_power(c, i))
			fprintf(f, _("%s: its joules are those of %s, and not compared\n"),
				trace_name(c->list[i].trace), c->list[i].power_name);
	if (power_adds_up(c->list))
		fprintf(f, _("J and W are those of %s; ranges of a name that overlap count once\n"), c->list->power_name);
}

int compare_ranges(struct record *r, const struct page *o, const struct analysis *list, const struct collection *ranges, size_t n,
		   size_t n_first, enum report_format format, struct err *e)
{
	struct comparison c = {.list = list, .ranges = ranges, .n_runs = n, .n_first = n_first};
	bool table = format == REPORT_TABLE || format == REPORT_MARKDOWN;
	char **titles, title[CELL_TEXT];
	size_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += ranges[i].n;
	titles = calloc(all + 1, sizeof(char *));
	c.all = calloc(all + 1, sizeof(*c.all));
	c.subjects = calloc(all + 1, sizeof(*c.subjects));
	c.metrics = calloc(3, sizeof(*c.metrics));
	c.values = calloc(3 * n, sizeof(*c.values));
	c.ok = titles && c.all && c.subjects && c.metrics && c.values;
	for (size_t run = 0; run < n && c.ok; run++)
		for (size_t i = 0; i < ranges[run].n && c.ok; i++, c.n_all++) {
			const struct group *g = ranges[run].list[i];

			collection_name(&ranges[run], g, false, title, sizeof(title));
			titles[c.n_all] = strdup(title);
			c.ok = titles[c.n_all] != NULL;
			c.all[c.n_all] = (struct occurrence) {ranges[run].by == REPORT_BY_RANGE ? g->first : "", titles[c.n_all], 0, run,
							      (uint64_t)g->pid << 32 | g->tid, c.n_all, i};
		}
	if (c.ok) {
		c.metrics[c.n_metrics++].what = RANGE_COUNT;
		c.metrics[c.n_metrics++].what = RANGE_TIME;
		if (power_adds_up(list))
			c.metrics[c.n_metrics++] = (struct metric) {RANGE_ENERGY, &list->total, list->power_name};
		compare_begin(&c);
	}
	if (c.ok && table && c.n_all == 0) {
		fputs(_("no ranges were recorded in this time\n"), r->f);
	} else if (c.ok && !table) {
		put_comparison(r, &c);
	} else if (c.ok) {
		comparison_tables(o, true, &c);
		write_notes(r->f, &c);
	}
	for (size_t i = 0; titles && i < all; i++)
		free(titles[i]);
	free(titles);
	compare_free(&c);
	return c.ok ? 0 : err_set(e, ERR_FAILED, _("out of memory"));
}
