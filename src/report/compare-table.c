/* Comparisons as text: for one trace the spread of repeated epochs, for two their difference, for more
 * the difference of each to the first. A table has the quantities of one phase; or one quantity of each phase, or of
 * each range. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "util/num.h"
#include "report/compare.h"

static const char *verdict_text(enum verdict v)
{
	static const char *const texts[] = {"", N_("unknown time"), N_("occurs once"), N_("within noise"),
					    N_("differs"), ""};

	return *texts[v] ? _(texts[v]) : "";
}

static size_t count(const struct comparison *c, const struct group *g, size_t file)
{
	size_t n = 0;

	for (size_t k = g->first; k < g->first + g->n; k++)
		n += c->all[k].file == file;
	return n;
}

static const char *const what_names[] = {
	[DURATION] = N_("duration"),
	[ITEM_TIME] = N_("time per item"),
	[ITEM_ENERGY] = N_("per item, %s"),
	[ENERGY] = N_("energy, %s"),
	[MEAN] = "%s",
	[RISE] = N_("rise, %s"),
	[THROTTLED] = "%s",
	[RANGE_COUNT] = N_("count"),
	[RANGE_TIME] = N_("duration"),
	[RANGE_ENERGY] = N_("energy per range, %s"),
};

/* Replaces "%s" by the name of the channel without using it as a format string. */
static void metric_name(const struct metric *m, char *out, size_t size)
{
	const char *name = what_names[m->what], *at;

	if (strcmp(name, "%s") != 0)
		name = _(name);
	at = m->channel ? strstr(name, "%s") : NULL;
	snprintf(out, size, "%.*s%s%s", (int)(at ? at - name : 0), name, at ? m->channel->name : "",
		 at ? at + 2 : name);
}

#define FILE_NAME 24

/* A table has a row for each metric, or for each group: then m is its metric. */
static size_t rows_of(const struct comparison *c, const struct metric *m)
{
	return m ? c->n_groups + !c->sums : c->n_metrics;
}

/* Returns the metric of a row, whose cells can then be had. */
static const struct metric *row_begin(struct comparison *c, const struct metric *m, size_t i, char name[CELL_TEXT])
{
	if (m) {
		group_begin(c, &c->groups[i]);
		group_title(c, &c->groups[i], true, name, CELL_TEXT);
		return m;
	}
	metric_name(&c->metrics[i], name, CELL_TEXT);
	return &c->metrics[i];
}

/* The same width in all tables, so that they align. */
static int room_of(const struct comparison *c, bool groups)
{
	char name[CELL_TEXT];
	int room = room_with(18, c->n_files == 1 ? _("mean of the repetitions") : "");

	for (size_t i = 0; i < (groups ? c->n_groups : c->n_metrics); i++) {
		if (groups)
			group_title(c, &c->groups[i], true, name, CELL_TEXT);
		else
			metric_name(&c->metrics[i], name, CELL_TEXT);
		room = room_with(room, name);
	}
	return room;
}

static struct shown metric_unit(const struct metric *m, double largest)
{
	switch (m->what) {
	case DURATION:
	case THROTTLED:
		return (struct shown) {"s", 1};
	case ITEM_TIME:
	case RANGE_TIME:
		return (struct shown) {"ms", 1e3};
	case ENERGY:
	case ITEM_ENERGY:
	case RANGE_ENERGY:
		return (struct shown) {"J", 1};
	case RANGE_COUNT:
		return (struct shown) {"", 1};
	default:
		return shown_unit(m->channel, largest);
	}
}

static void cell_plus_minus(struct table *t, double v, double largest, bool drifts)
{
	char text[NUM_TEXT], cell[NUM_TEXT + 4];

	shown_text(text, v, largest);
	snprintf(cell, sizeof(cell), "+-%s%s", text, drifts ? "~" : "");
	cell_text(t, isnan(v) ? "" : cell);
}

/* A number is as large as the largest of its row; a count has no decimals. */
static double shown_size(const struct metric *m, double largest)
{
	return m->what == RANGE_COUNT ? 1e9 : largest;
}

static void cell_within(struct table *t, const struct metric *m, const struct cell *x)
{
	double within = x->within * metric_unit(m, x->mean).factor;

	cell_if(t, !isnan(within), within, within);
}

#define MANY 5 /* file columns per table */

/* Explains the mark used in the table above. */
static void drift_note(FILE *o, bool any)
{
	if (any)
		fputs(_("~: drifts within a run, so that its repetitions are not independent and the "
			"95 percent interval is too narrow\n"),
		      o);
}

/* The spread of the repeated epochs of one file, or of each phase or range over many files. */
static void spread_table(const struct page *o, struct comparison *c, const struct metric *of)
{
	struct table t = {o,
			  c->sums ? 6 : 5,
			  {-o->room, 11, 11, 11, -4, 11},
			  .head = {_("mean of the repetitions"), _("mean"), "95 %", _("sd"), _("unit"),
				   of && of->what == RANGE_ENERGY ? "+-" : ""}};
	bool any = false;

	for (size_t i = 0; i < rows_of(c, of); i++) {
		char name[CELL_TEXT];
		const struct metric *m = row_begin(c, of, i, name);
		const struct cell x = of ? cell_over(c, m) : *cell_of(c, 0, m);
		struct shown u = metric_unit(m, x.mean);
		double mean = x.mean * u.factor, interval = confidence(x.sd, x.n) * u.factor;
		bool drifting = !of && drifts(&x) && !isnan(interval);

		if (x.n == 0)
			continue;
		cell_text(&t, name);
		cell_shown(&t, mean, mean);
		cell_plus_minus(&t, interval, mean, drifting);
		cell_shown(&t, x.sd * u.factor, mean);
		cell_text(&t, u.unit);
		if (c->sums)
			cell_within(&t, m, &x);
		any |= drifting;
	}
	drift_note(o->f, any);
}

static bool pair_row(struct table *t, const struct comparison *c, const struct metric *m, const char *name)
{
	const struct cell *a = cell_of(c, 0, m), *b = cell_of(c, 1, m);
	struct shown u = metric_unit(m, fmax(fabs(a->mean), fabs(b->mean)));
	double size = shown_size(m, fmax(fabs(a->mean), fabs(b->mean)) * u.factor),
	       diff = (b->mean - a->mean) * u.factor;
	struct difference d = difference(c, a, b);
	char percent[SIGNED_TEXT], text[SIGNED_TEXT + 40] = "";
	bool bounds = m->what == RANGE_ENERGY;

	cell_text(t, name);
	cell_text(t, u.unit);
	cell_shown(t, a->mean * u.factor, size);
	if (bounds)
		cell_within(t, m, a);
	cell_shown(t, b->mean * u.factor, size);
	if (bounds) {
		cell_within(t, m, b);
	} else {
		cell_signed(t, diff, size);
		cell_plus_minus(t, d.interval * u.factor, size, false);
	}
	signed_text(percent, 100 * (b->mean - a->mean) / fabs(a->mean), 100);
	if (d.verdict != NOTHING && a->mean != 0 && !isnan(diff))
		snprintf(text, sizeof(text), "%s %%", percent);
	cell_text(t, text);
	snprintf(text, sizeof(text), "%s%s", verdict_text(d.verdict), d.drifts ? " ~" : "");
	if (c->sums && (a->n == 0 || b->n == 0))
		snprintf(text, sizeof(text), _("only in %s"), a->n > 0 ? "A" : "B");
	cell_text(t, text);
	return d.drifts;
}

static void pair_table(const struct page *o, struct comparison *c, const struct metric *of)
{
	struct table t = {o,
			  8,
			  {-o->room, -3, 8, 8, 8, 8, 7, -12},
			  .spare = 1 << 4 | 1 << 5,
			  .head = {"", "", "A", "B", "B - A", c->sums ? "" : "95 %", "", ""}};
	struct table bounds = {o,
			       8,
			       {-o->room, -3, 8, 7, 8, 7, 7, -12},
			       .head = {"", "", "A", "+-", "B", "+-", "", ""}};
	bool any = false;

	for (size_t i = 0; i < rows_of(c, of); i++) {
		char name[CELL_TEXT];
		const struct metric *m = row_begin(c, of, i, name);

		if (cell_of(c, 0, m)->n + cell_of(c, 1, m)->n > 0)
			any |= pair_row(m->what == RANGE_ENERGY ? &bounds : &t, c, m, name);
	}
	drift_note(o->f, any);
}

/* Three or more files: a row of values, of ranges one of their bounds, and below it one of differences to the
 * first. */
static bool many_rows(struct table *t, const struct comparison *c, const struct metric *m,
		      const size_t *files, const char *name)
{
	static const char *const signs[] = {"", " -", " ?", " =", " *", ""};
	const struct cell *first = cell_of(c, 0, m);
	double size = 0;
	struct shown u;
	bool any = false, bounds = false, compared = false, drift = false;

	for (size_t k = 0; k < t->n - 2; k++) {
		const struct cell *x = cell_of(c, files[k], m);

		any |= x->n > 0;
		bounds |= c->sums && !isnan(x->within);
		compared |= k > 0 && difference(c, first, x).verdict != NOTHING;
		size = fmax(size, fabs(x->mean));
	}
	if (!any)
		return false;
	u = metric_unit(m, size);
	size = shown_size(m, size * u.factor);
	cell_text(t, name);
	cell_text(t, u.unit);
	for (size_t k = 0; k < t->n - 2; k++)
		cell_shown(t, cell_of(c, files[k], m)->mean * u.factor, size);
	if (bounds) {
		cell_text(t, "");
		cell_text(t, "+-");
		for (size_t k = 0; k < t->n - 2; k++)
			cell_within(t, m, cell_of(c, files[k], m));
	}
	for (size_t k = 0; compared && k < 3; k++)
		cell_text(t, "");
	for (size_t k = 1; compared && k < t->n - 2; k++) {
		const struct cell *x = cell_of(c, files[k], m);
		struct difference d = difference(c, first, x);
		char by[SIGNED_TEXT], text[SIGNED_TEXT + 4] = "";

		signed_text(by, (x->mean - first->mean) * u.factor, size);
		if (d.verdict != NOTHING)
			snprintf(text, sizeof(text), "%s%s", by, d.drifts ? " ~" : signs[d.verdict]);
		cell_text(t, text);
		drift |= d.drifts;
	}
	return drift;
}

/* "A", "B", ... "Z", "#27" */
static void file_name(char out[FILE_NAME], size_t f)
{
	if (f < 26)
		snprintf(out, FILE_NAME, "%c", (char)('A' + (int)f));
	else
		snprintf(out, FILE_NAME, "#%zu", f + 1);
}

/* Returns true if a value drifts. */
static bool many_table(const struct page *o, struct comparison *c, const struct metric *of)
{
	bool any = false;

	for (size_t from = 1; from < c->n_files; from += MANY - 1) {
		struct table t = {o, 3, {-o->room, -4, 10, 10, 10, 10, 10}, .head = {"", _("unit"), "A"}};
		char letter[MANY][FILE_NAME];
		size_t files[MANY] = {0};

		for (size_t k = 1; k < MANY && from + k - 1 < c->n_files; k++) {
			files[k] = from + k - 1;
			file_name(letter[k], files[k]);
			t.head[t.n++] = letter[k];
		}
		for (size_t i = 0; i < rows_of(c, of); i++) {
			char name[CELL_TEXT];
			const struct metric *m = row_begin(c, of, i, name);

			any |= many_rows(&t, c, m, files, name);
		}
	}
	return any;
}

static void signs_note(FILE *f, bool any)
{
	fputs(_("*: differs from A; =: within noise; ?: occurs once, so the noise is unknown; -: too much "
		"of the\ntime is unknown\n"),
	      f);
	if (any)
		fputs(_("~: differs from A, but drifts within a run, so that its repetitions are not "
			"independent\n"),
		      f);
}

static void files_list(FILE *o, const struct comparison *c)
{
	for (size_t f = 0; f < c->n_files; f++) {
		char path[1024], name[FILE_NAME];

		file_name(name, f);
		fprintf(o, "%s: %s\n", name, shown_path(c->list[f].trace, path, sizeof(path)));
	}
	putc('\n', o);
}

/* Otherwise unknown time could be taken for equality, or for a saving. */
static void tell_unknown(const struct page *o, const struct comparison *c)
{
	bool any = false;

	for (size_t f = 0; f < c->n_files; f++) {
		double worst = 1;
		char text[NUM_TEXT];

		for (size_t m = 0; m < c->n_metrics; m++)
			if (cell_of(c, f, &c->metrics[m])->n > 0)
				worst = fmin(worst, coverage_of(cell_of(c, f, &c->metrics[m])));
		if (worst > 0.9999)
			continue;
		num_fixed(text, floor(worst * 1000) / 10, 1);
		fprintf(o->f, _("%c: some of its signals are known for only %s %% of the time\n"),
			f < 26 ? 'A' + (int)f : '#', text);
		any = true;
	}
	if (any && o->markdown)
		putc('\n', o->f);
}

static void group_table(const struct page *o, struct comparison *c, const struct group *g)
{
	char title[160];
	bool once = c->n_files > 1;

	group_title(c, g, true, title, sizeof(title));
	fprintf(o->f, "%s%s:", o->markdown ? "### " : "", title);
	for (size_t f = 0; f < c->n_files; f++)
		once &= count(c, g, f) == 1;
	if (once)
		fputs(_(" once each"), o->f);
	for (size_t f = 0; f < c->n_files && !once; f++) {
		unsigned long long n = count(c, g, f);
		const char *comma = f > 0 ? "," : "";

		if (c->n_files == 1)
			fprintf(o->f, P_(" %llu time", " %llu times", n), n);
		else if (f < 26)
			fprintf(o->f, P_("%s %c %llu time", "%s %c %llu times", n), comma, 'A' + (int)f, n);
	}
	fputs(o->markdown ? "\n\n" : "\n", o->f);
	tell_unknown(o, c);
	if (c->n_files == 1)
		spread_table(o, c, NULL);
	else if (c->n_files == 2)
		pair_table(o, c, NULL);
	else
		signs_note(o->f, many_table(o, c, NULL));
	putc('\n', o->f);
}

/* Of ranges or of phases. */
static bool quantity_table(const struct page *o, struct comparison *c, const struct metric *m)
{
	const struct page spread = {o->f, o->markdown, room_with(o->room, _("mean of the repetitions")), o->columns};
	const char *mean = m->what == MEAN ? _("mean") : "";
	char name[CELL_TEXT];
	bool any = false;

	metric_name(m, name, sizeof(name));
	fprintf(o->f, "%s%s%s%s:%s", o->markdown ? "### " : "", mean, *mean ? ", " : "", name,
		o->markdown ? "\n\n" : "\n");
	if (c->n_files == 2) {
		pair_table(o, c, m);
	} else {
		spread_table(&spread, c, m);
		putc('\n', o->f);
		any = many_table(o, c, m);
	}
	putc('\n', o->f);
	return any;
}

/* Of phases: duration, energy and power of what the table of phases has; without a total, the energy of each rail. */
static bool answers(const struct comparison *c, const struct metric *m)
{
	size_t power = c->list->key[KEY_POWER];

	if (c->sums || !m->channel)
		return true;
	if (power == SIZE_MAX)
		return m->what == ENERGY || m->what == ITEM_ENERGY;
	return m->what != RISE && m->what != THROTTLED &&
	       !strcmp(m->channel->name, c->list->session->channels[power].name);
}

void comparison_tables(const struct page *o, bool all, struct comparison *c)
{
	const bool by_quantity = c->sums || !all;
	const struct page page = {o->f, o->markdown, room_of(c, by_quantity), o->columns};
	FILE *f = o->f;
	bool any = false;

	if (c->n_files > 1)
		files_list(f, c);
	for (size_t m = 0; by_quantity && m < c->n_metrics; m++)
		if (answers(c, &c->metrics[m]))
			any |= quantity_table(&page, c, &c->metrics[m]);
	if (by_quantity && c->n_files > 2 && (!c->sums || c->metrics[c->n_metrics - 1].what == RANGE_ENERGY))
		signs_note(f, any);
	for (size_t g = 0; !by_quantity && g <= c->n_groups; g++) {
		if (!group_shown(c, &c->groups[g]))
			continue;
		group_begin(c, &c->groups[g]);
		group_table(&page, c, &c->groups[g]);
	}
	if (c->tested > 0)
		fprintf(f,
			P_("differs: after Holm's correction for %zu difference that was tested\n",
			   "differs: after Holm's correction for the %zu differences that were tested\n",
			   c->tested),
			c->tested);
}

void compare_tables(const struct page *o, bool all, const struct analysis *list, size_t n)
{
	struct comparison c = compare_make(list, n);

	compare_test(&c);
	if (c.ok)
		comparison_tables(o, all, &c);
	if (c.ok && !all)
		write_more(o->f);
	compare_free(&c);
}
