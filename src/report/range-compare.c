/* Ranges of several runs: those with the same name and domain, and of threads the first, second and so on with the same
 * names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare.h"
#include "util/intl.h"

void range_sum_add(struct range_sums *l, const struct range_sum *s, const char *title)
{
	struct range_sum *more = l->list;
	char *copy = strdup(title);

	if (!(l->n & (l->n - 1)))
		more = reallocarray(l->list, 2 * l->n + 1, sizeof(*more));
	if (!more || !copy) {
		l->list = more ? more : l->list;
		l->no_memory = true;
		free(copy);
		return;
	}
	l->list = more;
	more[l->n] = *s;
	more[l->n++].title = copy;
}

void range_sums_free(struct range_sums *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->list[i].title);
	free(l->list);
}

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
		const struct range_sum *r = &c->sums[c->all[k].at];
		double n = r->count ? (double)r->count : (double)NAN;

		for (size_t m = 0; m < c->n_metrics; m++) {
			struct run_value *x = &c->values[m * c->n_runs + r->file];

			if (c->metrics[m].what == RANGE_COUNT) {
				x->mean = n;
			} else if (c->metrics[m].what == RANGE_TIME) {
				x->mean = r->seconds / n;
			} else if (same_power(c, r->file)) {
				bool known = !r->energy.why && r->known >= KNOWN_ENOUGH;

				x->why = r->energy.why;
				x->span = !r->energy.why;
				x->known = r->known;
				x->mean = known ? r->energy.joules / n / r->known : (double)NAN;
				x->within = known ? r->energy.within / n : (double)NAN;
			}
		}
	}
}

static void write_notes(FILE *f, const struct comparison *c, const struct range_sums *l)
{
	const char *told = NULL;

	for (size_t i = 0; i < l->n; i++) {
		const char *why = l->list[i].energy.why;

		if (why && why != told)
			fprintf(f, "--: %s\n", _(why));
		told = why ? why : told;
	}
	for (size_t i = 1; i < c->n_runs; i++) {
		char path[1024];

		if (power_adds_up(c->list) && power_adds_up(&c->list[i]) && !same_power(c, i))
			fprintf(f, _("%s: its joules are those of %s, and not compared\n"),
				shown_path(c->list[i].trace, path, sizeof(path)), c->list[i].power_name);
	}
	if (power_adds_up(c->list))
		fprintf(f, _("J and W are those of %s; ranges of a name that overlap count once\n"), c->list->power_name);
}

int compare_ranges(struct record *r, const struct page *o, const struct analysis *list, size_t n,
		   size_t n_first, struct range_sums *l, enum report_format format, struct err *e)
{
	static const struct range_sum none; /* without any, these are ranges all the same */
	struct comparison c = {.list = list,
			       .sums = l->list ? l->list : &none,
			       .n_runs = n,
			       .n_first = n_first,
			       .n_all = l->n};
	bool table = format == REPORT_TABLE || format == REPORT_MARKDOWN;

	c.all = calloc(l->n + 1, sizeof(*c.all));
	c.subjects = calloc(l->n + 1, sizeof(*c.subjects));
	c.metrics = calloc(3, sizeof(*c.metrics));
	c.values = calloc(3 * n, sizeof(*c.values));
	c.ok = c.all && c.subjects && c.metrics && c.values && !l->no_memory;
	if (c.ok) {
		for (size_t i = 0; i < l->n; i++) {
			const struct range_sum *s = &l->list[i];

			c.all[i] = (struct occurrence) {
				s->domain, s->title, 0, s->file, (uint64_t)s->pid << 32 | s->tid, i, i};
		}
		c.metrics[c.n_metrics++].what = RANGE_COUNT;
		c.metrics[c.n_metrics++].what = RANGE_TIME;
		if (power_adds_up(list))
			c.metrics[c.n_metrics++] = (struct metric) {RANGE_ENERGY, &list->total, list->power_name};
		compare_begin(&c);
	}
	if (c.ok && table && l->n == 0) {
		fputs(_("no ranges were recorded in this time\n"), r->f);
	} else if (c.ok && !table) {
		put_comparison(r, &c);
	} else if (c.ok) {
		comparison_tables(o, true, &c);
		write_notes(r->f, &c, l);
	}
	compare_free(&c);
	return c.ok ? 0 : err_set(e, ERR_FAILED, _("out of memory"));
}
