/* Comparisons as programs read them, the same in every language: JSON and CSV. */
#include <math.h>
#include <string.h>

#include "report/compare.h"

static const char *verdict_word(enum verdict v)
{
	static const char *const words[] = {"", "partly unknown", "unknown", "within noise", "differs"};

	return words[v]; /* part of formats */
}

static void group_title(const struct comparison *c, const struct group *g, char *out, size_t size)
{
	const struct occurrence *x = &c->all[g->first];

	if (group_is_whole(c, g))
		snprintf(out, size, "whole");
	else if (*x->label)
		snprintf(out, size, "%s", x->label);
	else
		snprintf(out, size, "epoch %llu", (unsigned long long)x->id);
}

static const char *what_word(const struct metric *m)
{
	static const char *const words[] = {
		[DURATION] = "duration",
		[ITEM_TIME] = "time_per_item",
		[ITEM_ENERGY] = "energy_per_item",
		[ENERGY] = "energy",
		[MEAN] = "mean",
		[RISE] = "rise",
		[THROTTLED] = "throttled",
	};

	return words[m->what];
}

static const char *what_unit(const struct metric *m)
{
	if (m->what == MEAN || m->what == RISE)
		return unit_name(m->channel->unit);
	return m->what == ENERGY || m->what == ITEM_ENERGY ? "J" : "s";
}

static void member(FILE *o, const char *name, double v)
{
	fprintf(o, ",\"%s\":", name);
	put_json_num(o, v);
}

static void json_cell(FILE *o, const struct comparison *c, const struct metric *m, size_t file)
{
	const struct cell *first = cell_of(c, 0, m), *x = cell_of(c, file, m);

	fprintf(o, "{\"n\":%llu", (unsigned long long)x->n);
	member(o, "mean", x->n > 0 ? x->mean : NAN);
	member(o, "sd", x->sd);
	member(o, "ci95", confidence(x->sd, x->n));
	member(o, "coverage", coverage_of(x));
	member(o, "drift_p", x->drift);
	if (file > 0) {
		struct difference d = difference(c, first, x);

		member(o, "difference", x->mean - first->mean);
		member(o, "difference_ci95", d.interval);
		member(o, "p", d.p);
		fprintf(o, ",\"verdict\":\"%s\",\"drifts\":%s", verdict_word(d.verdict),
			d.drifts ? "true" : "false");
	}
	putc('}', o);
}

static void json_metric(FILE *o, const struct comparison *c, const struct metric *m, bool *comma)
{
	bool any = false;

	for (size_t f = 0; f < c->n_files; f++)
		any |= cell_of(c, f, m)->n > 0;
	if (!any)
		return;
	fputs(*comma ? ",\n{\"signal\":" : "{\"signal\":", o);
	*comma = true;
	if (m->channel)
		put_json_text(o, m->channel->name);
	else
		fputs("null", o);
	fprintf(o, ",\"quantity\":\"%s\",\"unit\":\"%s\",\"traces\":[", what_word(m), what_unit(m));
	for (size_t f = 0; f < c->n_files; f++) {
		if (f > 0)
			putc(',', o);
		json_cell(o, c, m, f);
	}
	fputs("]}", o);
}

/* The key behind the title: a label may read like a title. */
static void json_key(FILE *o, const struct comparison *c, const struct group *g)
{
	const struct occurrence *x = &c->all[g->first];

	put_json_member(o, "label", x->label);
	if (*x->label || group_is_whole(c, g))
		fputs(",\"number\":null", o);
	else
		fprintf(o, ",\"number\":%llu", (unsigned long long)x->id);
}

void compare_json(FILE *o, const struct analysis *list, size_t n)
{
	struct comparison c = compare_make(list, n);
	bool first = true;

	compare_test(&c);
	putc('[', o);
	for (size_t g = 0; c.ok && g <= c.n_groups; g++) {
		char title[160];
		bool comma = false;

		if (!group_shown(&c, &c.groups[g]))
			continue;
		group_title(&c, &c.groups[g], title, sizeof(title));
		fputs(first ? "{\"epoch\":" : ",\n{\"epoch\":", o);
		first = false;
		put_json_text(o, title);
		json_key(o, &c, &c.groups[g]);
		fputs(",\"quantities\":[", o);
		group_begin(&c, &c.groups[g]);
		for (size_t i = 0; i < c.n_metrics; i++)
			json_metric(o, &c, &c.metrics[i], &comma);
		fputs("]}", o);
	}
	putc(']', o);
	compare_free(&c);
}

static void csv_cell(FILE *o, double v)
{
	putc(',', o);
	put_num(o, v);
}

static void csv_metric(FILE *o, const struct comparison *c, const char *title, const struct metric *m)
{
	const struct cell *first = cell_of(c, 0, m);

	for (size_t f = 0; f < c->n_files; f++) {
		const struct cell *x = cell_of(c, f, m);
		struct difference d = difference(c, first, x);
		char path[4096];

		if (x->n == 0)
			continue;
		put_csv_text(o, shown_path(c->list[f].trace, path, sizeof(path)));
		putc(',', o);
		put_csv_text(o, title);
		putc(',', o);
		put_csv_text(o, m->channel ? m->channel->name : "");
		fprintf(o, ",%s,%s,%llu", what_word(m), what_unit(m), (unsigned long long)x->n);
		csv_cell(o, x->mean);
		csv_cell(o, x->sd);
		csv_cell(o, confidence(x->sd, x->n));
		csv_cell(o, f > 0 ? x->mean - first->mean : NAN);
		csv_cell(o, f > 0 ? d.interval : NAN);
		fprintf(o, ",%s", f > 0 ? verdict_word(d.verdict) : "");
		csv_cell(o, coverage_of(x));
		csv_cell(o, f > 0 ? d.p : NAN);
		csv_cell(o, x->drift);
		fprintf(o, ",%s\n", d.drifts ? "drifts" : "");
	}
}

void compare_csv(FILE *o, const struct analysis *list, size_t n)
{
	struct comparison c = compare_make(list, n);

	fputs("file,epoch,signal,quantity,unit,n,mean,sd,ci95,difference,difference_ci95,verdict,"
	      "coverage,p,drift_p,warning\n",
	      o);
	compare_test(&c);
	for (size_t g = 0; c.ok && g <= c.n_groups; g++) {
		char title[160];

		if (!group_shown(&c, &c.groups[g]))
			continue;
		group_title(&c, &c.groups[g], title, sizeof(title));
		group_begin(&c, &c.groups[g]);
		for (size_t i = 0; i < c.n_metrics; i++)
			csv_metric(o, &c, title, &c.metrics[i]);
	}
	compare_free(&c);
}
