/* Comparisons as text. Of one side: a line a subject, with mean and spread over the runs. Of two sides: the difference in
 * percent; of two runs with the bounds of the measurement, of more with the spread of the runs and a verdict. */
#include <math.h>
#include <string.h>

#include "report/compare.h"
#include "util/intl.h"
#include "util/num.h"

/* Replaces "%s" by the name of the channel without using it as a format string. */
static void metric_name(const struct metric *m, char *out, size_t size)
{
	const char *name = quantities[m->what].name, *at;

	if (strcmp(name, "%s") != 0)
		name = _(name);
	at = m->channel ? strstr(name, "%s") : NULL;
	snprintf(out, size, "%.*s%s%s", (int)(at ? at - name : 0), name, at ? m->name : "",
		 at ? at + 2 : name);
}

static struct shown metric_unit(const struct metric *m, double largest)
{
	return quantities[m->what].shown.unit ? quantities[m->what].shown : shown_unit(m->channel, largest);
}

/* A number is as large as the largest of its row; a count has no decimals. */
static double metric_size(const struct metric *m, double largest)
{
	return m->what == RANGE_COUNT ? 1e9 : largest;
}

/* Of an error or a spread two digits, and not more than one beyond those of what it is the error of. Returns "" for NaN. */
static const char *error_text(char out[NUM_TEXT], double v, double size)
{
	shown_text(out, v, fmax(100 * v, fabs(size) / 10));
	return isnan(v) ? "" : out;
}

static void cell_percent(struct table *t, const char *sign, const char *text)
{
	char cell[NUM_TEXT + 16];

	snprintf(cell, sizeof(cell), "%s%s %%", sign, text);
	cell_text(t, *text ? cell : "");
}

static void pair_row(struct table *t, const struct comparison *c, const struct metric *m, const char *name)
{
	static const char *const texts[] = {"", "", N_("too few runs"), N_("within noise"), N_("differs")};
	const struct side a = side_of(c, 0, m), b = side_of(c, 1, m);
	const struct difference d = difference(c, &a, &b);
	const struct shown u = metric_unit(m, fmax(fabs(a.mean), fabs(b.mean)));
	const double size = metric_size(m, fmax(fabs(a.mean), fabs(b.mean)) * u.factor);
	const double percent = a.mean != 0 ? 100 / fabs(a.mean) : (double)NAN;
	const bool runs = c->n_runs > 2, in_a = a.n > 0 || a.why, in_b = b.n > 0 || b.why;
	char text[CELL_TEXT], number[SIGNED_TEXT];

	if (!in_a && !in_b && d.verdict != PARTLY)
		return;
	cell_text(t, name);
	cell_text(t, u.unit);
	cell_shown(t, a.mean * u.factor, size);
	cell_text(t, error_text(number, (runs ? a.sd : a.within) * u.factor, size));
	cell_shown(t, b.mean * u.factor, size);
	cell_text(t, error_text(number, (runs ? b.sd : b.within) * u.factor, size));
	signed_text(number, d.by * percent, 100);
	cell_percent(t, "", number);
	cell_percent(t, "+-", error_text(number, (runs ? d.ci95 : d.within) * percent, 10));
	if (d.verdict == PARTLY) {
		num_fixed(number, floor(fmin(a.known, b.known) * 1000) / 10, 1);
		snprintf(text, sizeof(text), _("%s %% known"), number);
	} else if (in_a != in_b) {
		snprintf(text, sizeof(text), _("only in %s"), in_a ? "A" : "B");
	} else {
		snprintf(text, sizeof(text), "%s", *texts[d.verdict] ? _(texts[d.verdict]) : "");
	}
	if (a.n > 0 && b.n > 0 && (a.n < c->n_first || b.n < c->n_runs - c->n_first))
		snprintf(text + strlen(text), sizeof(text) - strlen(text), _(" (%zu and %zu runs)"), a.n,
			 b.n);
	cell_text(t, text);
}

#define LONG_NAME 25 /* beside longer ones 80 columns have no room for the bound of a difference */

static struct table pair_table(const struct page *o, const struct comparison *c)
{
	const bool runs = c->n_runs > 2;

	return (struct table) {o,
			       9,
			       {-o->room, -3, 8, 7, 8, 7, 8, 8, -12},
			       .spare = 1 << 3 | 1 << 5 | (o->room > LONG_NAME ? 1 << 7 : 0),
			       .head = {"", "", "A", runs ? _("sd") : "+-", "B", runs ? _("sd") : "+-",
					"B - A", runs ? "95 %" : "+-", ""}};
}

void spread_text(char out[CELL_TEXT], const struct metric *m, const struct side *s, struct shown u, size_t n)
{
	const double size = metric_size(m, s->mean * u.factor);
	char mean[NUM_TEXT], sd[NUM_TEXT];
	const char *spread = error_text(sd, s->sd * u.factor, size);

	shown_text(mean, s->mean * u.factor, size);
	snprintf(out, CELL_TEXT, "%s%s%s", mean, *spread ? " +- " : "", spread);
	if (s->n > 0 && s->n < n)
		snprintf(out + strlen(out), CELL_TEXT - strlen(out), " (%zu)", s->n);
}

static void table_end(const struct page *o, bool unknown)
{
	if (unknown)
		/* xgettext:no-c-format */
		fputs(_("--: known for less than 99 % of the time in each of the runs\n"), o->f);
	putc('\n', o->f);
}

#define ABREAST 4 /* metrics in a table that has a line a subject */

/* One side, a line a subject. */
static void lines_table(const struct page *o, struct comparison *c, size_t from)
{
	const size_t n = c->n_metrics - from < ABREAST ? c->n_metrics - from : ABREAST;
	struct table t = {o,
			  n + 2,
			  {-o->room},
			  .spare = n == ABREAST ? 1 << 3 : 0,
			  .head = {c->ranges ? _("name") : _("phase")}};
	char heads[ABREAST][CELL_TEXT], text[CELL_TEXT];
	bool unknown = false;

	for (size_t k = 0; k < n; k++) {
		const struct metric *m = &c->metrics[from + k];
		bool total = m->channel && power_adds_up(c->list);

		if (m->what == RANGE_COUNT)
			snprintf(heads[k], CELL_TEXT, "%s", _("count"));
		else
			snprintf(heads[k], CELL_TEXT,
				 m->what == ITEM_ENERGY ? _("%s per item")
				 : c->ranges              ? _("%s per range")
							: "%s",
				 metric_unit(m, 1).unit);
		if (m->channel && !total)
			snprintf(heads[k] + strlen(heads[k]), CELL_TEXT - strlen(heads[k]), ", %s",
				 m->name);
		t.head[k + 1] = heads[k];
		t.wide[k + 1] = room_with(16, heads[k]);
	}
	t.head[n + 1] = "n";
	t.wide[n + 1] = 3;
	/* The first time only for the widths. */
	for (size_t i = 0; i < 2 * c->n_subjects; i++) {
		const struct subject *subject = &c->subjects[i % c->n_subjects];
		const bool printed = i >= c->n_subjects;
		struct side list[ABREAST];
		size_t most = 0;

		subject_load(c, subject);
		subject_title(c, subject, true, text, sizeof(text));
		if (printed)
			cell_text(&t, text);
		for (size_t k = 0; k < n; k++) {
			list[k] = side_of(c, 0, &c->metrics[from + k]);
			most = list[k].n > most ? list[k].n : most;
			unknown |= list[k].n == 0 && list[k].known < KNOWN_ENOUGH;
		}
		for (size_t k = 0; k < n; k++) {
			const struct metric *m = &c->metrics[from + k];

			spread_text(text, m, &list[k], metric_unit(m, 1), most);
			t.wide[k + 1] = room_with(t.wide[k + 1], text);
			if (printed)
				cell_text(&t, text);
		}
		snprintf(text, sizeof(text), "%zu", most);
		if (printed)
			cell_text(&t, text);
	}
	table_end(o, unknown);
}

static void title_write(const struct page *o, const char *text)
{
	fprintf(o->f, "%s%s:%s", o->markdown ? "### " : "", text, o->markdown ? "\n\n" : "\n");
}

/* All metrics of one subject. */
static void subject_table(const struct page *o, struct comparison *c, const struct subject *s)
{
	struct table pair = pair_table(o, c),
		     one = {o, 4, {-o->room, -4, 20, 3}, .head = {"", _("unit"), _("mean +- sd"), "n"}};
	char text[CELL_TEXT];
	bool unknown = false;

	subject_load(c, s);
	subject_title(c, s, true, text, sizeof(text));
	title_write(o, text);
	for (size_t i = 0; i < c->n_metrics; i++) {
		const struct metric *m = &c->metrics[i];
		const struct side a = side_of(c, 0, m);
		const struct shown u = metric_unit(m, fabs(a.mean));

		metric_name(m, text, sizeof(text));
		if (c->n_first < c->n_runs) {
			pair_row(&pair, c, m, text);
		} else if (a.n > 0 || a.known < KNOWN_ENOUGH) {
			cell_text(&one, text);
			cell_text(&one, u.unit);
			spread_text(text, m, &a, u, a.n);
			cell_text(&one, text);
			snprintf(text, sizeof(text), "%zu", a.n);
			cell_text(&one, text);
			unknown |= a.n == 0;
		}
	}
	table_end(o, unknown);
}

/* One metric of all subjects. */
static void metric_table(const struct page *o, struct comparison *c, const struct metric *m)
{
	struct table t = pair_table(o, c);
	char text[CELL_TEXT], name[CELL_TEXT];

	metric_name(m, name, sizeof(name));
	snprintf(text, sizeof(text), m->what == MEAN ? _("mean, %s") : "%s", name);
	title_write(o, text);
	for (size_t i = 0; i < c->n_subjects; i++) {
		subject_load(c, &c->subjects[i]);
		subject_title(c, &c->subjects[i], true, text, sizeof(text));
		pair_row(&t, c, m, text);
	}
	putc('\n', o->f);
}

static void runs_list(FILE *f, const struct comparison *c)
{
	const bool sides = c->n_first < c->n_runs;

	if (!sides)
		fprintf(f, _("%zu runs, as mean +- sd:\n"), c->n_runs);
	for (size_t i = 0; i < c->n_runs; i++)
		fprintf(f, "%s %s\n",
			i == 0 && sides   ? "A:"
			: i == c->n_first ? "B:"
					  : "  ",
			trace_name(c->list[i].trace));
	putc('\n', f);
}

void comparison_tables(const struct page *o, bool by_metric, struct comparison *c)
{
	struct page page = {o->f, o->markdown, 18, o->columns};
	const bool sides = c->n_first < c->n_runs;
	char text[CELL_TEXT];

	for (size_t i = 0; i < (by_metric ? c->n_subjects : c->n_metrics); i++) {
		if (by_metric)
			subject_title(c, &c->subjects[i], true, text, sizeof(text));
		else
			metric_name(&c->metrics[i], text, sizeof(text));
		page.room = room_with(page.room, text); /* the same width in all tables, so that they align */
	}
	runs_list(o->f, c);
	for (size_t m = 0; by_metric && sides && m < c->n_metrics; m++)
		metric_table(&page, c, &c->metrics[m]);
	for (size_t m = 0; by_metric && !sides && m < c->n_metrics; m += ABREAST)
		lines_table(&page, c, m);
	for (size_t s = 0; !by_metric && s < c->n_subjects; s++)
		subject_table(&page, c, &c->subjects[s]);
	if (c->n_runs == 2 && sides)
		fputs(_("B - A is the difference of these two runs, +- its error bound. Whether the\n"
			"programs differ is seen in more runs: nvmtop report A1 A2 --against B1 B2\n"),
		      o->f);
	else if (c->tested > 0)
		fprintf(o->f,
			P_("differs: more than runs differ by chance, at 5 %% (Welch's test over the runs)\n",
			   "differs: more than runs differ by chance, at 5 %% for all %zu quantities\n"
			   "together (Welch's test over the runs, Holm's correction)\n",
			   c->tested),
			c->tested);
	else if (sides && (c->n_first < 2 || c->n_runs - c->n_first < 2))
		fputs(_("Whether the programs differ is seen in two or more runs of each.\n"), o->f);
}

void compare_tables(const struct page *o, bool all, const struct analysis *list, size_t n, size_t n_first)
{
	struct comparison c = compare_make(list, n, n_first, all);

	if (c.ok)
		comparison_tables(o, !all, &c);
	if (c.ok && !all)
		write_more(o->f);
	compare_free(&c);
}
