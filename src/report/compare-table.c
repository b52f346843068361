/* Comparisons as people read them: of one trace how much repeated epochs agree, of
 * two their difference, of more the difference of each to the first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/intl.h"
#include "util/num.h"
#include "report/compare.h"

static const char *verdict_text(enum verdict v)
{
	static const char *const texts[] = {"", N_("unknown time"), N_("occurs once"), N_("within noise"),
					    N_("differs")};

	return *texts[v] ? _(texts[v]) : "";
}

static size_t count(const struct comparison *c, const struct group *g, size_t file)
{
	size_t n = 0;

	for (size_t k = g->first; k < g->first + g->n; k++)
		n += c->all[k].file == file;
	return n;
}

static void group_title(const struct comparison *c, const struct group *g, char *out, size_t size)
{
	const struct occurrence *x = &c->all[g->first];

	if (group_is_whole(c, g))
		snprintf(out, size, "%s", _("whole"));
	else if (*x->label)
		snprintf(out, size, "%s", x->label);
	else
		snprintf(out, size, _("phase %llu"), (unsigned long long)x->id);
}

static const char *const what_names[] = {
	[DURATION] = N_("duration"),
	[ITEM_TIME] = N_("time per item"),
	[ITEM_ENERGY] = N_("per item, %s"),
	[ENERGY] = N_("energy, %s"),
	[MEAN] = "%s",
	[RISE] = N_("rise, %s"),
	[THROTTLED] = "%s",
};

static void metric_name(const struct metric *m, char *out, size_t size)
{
	const char *name = what_names[m->what];

	if (strcmp(name, "%s") != 0)
		name = _(name);
	if (!m->channel) {
		snprintf(out, size, "%s", name);
		return;
	}
	/* The name at the place of "%s", without handing a text to printf. */
	const char *at = strstr(name, "%s");
	snprintf(out, size, "%.*s%s%s", at ? (int)(at - name) : 0, name, m->channel->name, at ? at + 2 : "");
}

#define NAME      120
#define FILE_NAME 24

/* The same in all tables: they stand below each other. */
static int room_of(const struct comparison *c, int least)
{
	char(*text)[NAME] = calloc(c->n_metrics + 1, sizeof(*text));
	const char **names = calloc(c->n_metrics + 1, sizeof(*names));

	for (size_t i = 0; text && names && i < c->n_metrics; i++) {
		metric_name(&c->metrics[i], text[i], NAME);
		names[i] = text[i];
	}
	if (text && names)
		least = names_room(names, c->n_metrics, least);
	free(text);
	free(names);
	return least;
}

static struct shown metric_unit(const struct metric *m, double largest)
{
	switch (m->what) {
	case DURATION:
	case THROTTLED:
		return (struct shown) {"s", 1};
	case ITEM_TIME:
		return (struct shown) {"ms", 1e3};
	case ENERGY:
	case ITEM_ENERGY:
		return (struct shown) {"J", 1};
	default:
		return shown_unit(m->channel, largest);
	}
}

static void plus_minus(char *out, double v, double largest)
{
	if (isnan(v)) {
		out[0] = '\0';
		return;
	}
	strcpy(out, "+-");
	shown_text(out + 2, v, largest);
}

#define MANY 5 /* columns of files at a time */

/* What was marked so above. */
static void drift_note(FILE *o, bool any)
{
	if (any)
		fputs(_("~: drifts within a run, so that its repetitions are not independent and the "
			"95 percent interval is too narrow\n"),
		      o);
}

/* One file: how much its repeated epochs agree. */
static void spread_table(FILE *o, const struct comparison *c, bool markdown, int room)
{
	struct table t = {o,
			  markdown,
			  5,
			  {-room, 11, 11, 11, -4},
			  {_("mean of the repetitions"), _("mean"), "95 %", _("sd"), _("unit")},
			  false};
	bool any = false;

	for (size_t i = 0; i < c->n_metrics; i++) {
		const struct metric *m = &c->metrics[i];
		const struct cell *x = cell_of(c, 0, m);
		struct shown u = metric_unit(m, x->mean);
		char name[NAME], mean[NUM_TEXT], interval[NUM_TEXT + 4], sd[NUM_TEXT];

		if (x->n == 0)
			continue;
		metric_name(m, name, sizeof(name));
		shown_text(mean, x->mean * u.factor, x->mean * u.factor);
		plus_minus(interval, confidence(x->sd, x->n) * u.factor, x->mean * u.factor);
		if (drifts(x) && interval[0])
			strcat(interval, "~");
		any |= drifts(x) && interval[0];
		shown_text(sd, x->sd * u.factor, x->mean * u.factor);
		table_row(&t, (const char *[]) {name, mean, interval, sd, u.unit});
	}
	drift_note(o, any);
}

static bool pair_row(struct table *t, const struct comparison *c, const struct metric *m)
{
	const struct cell *a = cell_of(c, 0, m), *b = cell_of(c, 1, m);
	struct shown u = metric_unit(m, fmax(fabs(a->mean), fabs(b->mean)));
	double size = fmax(fabs(a->mean), fabs(b->mean)) * u.factor, diff = (b->mean - a->mean) * u.factor;
	struct difference d = difference(c, a, b);
	char name[NAME], text[5][SIGNED_TEXT + 4], said[80];

	metric_name(m, name, sizeof(name));
	shown_text(text[0], a->mean * u.factor, size);
	shown_text(text[1], b->mean * u.factor, size);
	signed_text(text[2], diff, size);
	plus_minus(text[3], d.interval * u.factor, size);
	text[4][0] = '\0';
	if (d.verdict != NOTHING && a->mean != 0 && !isnan(diff)) {
		signed_text(text[4], 100 * (b->mean - a->mean) / fabs(a->mean), 100);
		strcat(text[4], " %");
	}
	snprintf(said, sizeof(said), "%s%s", verdict_text(d.verdict), d.drifts ? " ~" : "");
	table_row(t, (const char *[]) {name, u.unit, text[0], text[1], text[2], text[3], text[4], said});
	return d.drifts;
}

static void pair_table(FILE *o, const struct comparison *c, bool markdown, int room)
{
	struct table t = {o,
			  markdown,
			  8,
			  {-room, -3, 8, 8, 8, 8, 7, -12},
			  {"", "", "A", "B", "B - A", "95 %", "", ""},
			  false};
	bool any = false;

	for (size_t i = 0; i < c->n_metrics; i++)
		if (cell_of(c, 0, &c->metrics[i])->n + cell_of(c, 1, &c->metrics[i])->n > 0)
			any |= pair_row(&t, c, &c->metrics[i]);
	drift_note(o, any);
}

/* Three and more: values, and below each its difference to the first. */
static bool many_rows(struct table *t, const struct comparison *c, const struct metric *m, size_t from)
{
	size_t n = t->n - 2;
	char name[NAME], text[2][MANY][SIGNED_TEXT + 4];
	const char *top[MANY + 2], *below[MANY + 2];
	const struct cell *first = cell_of(c, 0, m);
	double size = fabs(first->mean);
	struct shown u;
	bool any = first->n > 0, drift = false;

	for (size_t k = 1; k < n; k++) {
		const struct cell *x = cell_of(c, from + k - 1, m);

		any |= x->n > 0;
		size = fmax(size, fabs(x->mean));
	}
	if (!any)
		return false;
	u = metric_unit(m, size);
	metric_name(m, name, sizeof(name));
	top[0] = name;
	top[1] = u.unit;
	below[0] = below[1] = "";
	for (size_t k = 0; k < n; k++) {
		const struct cell *x = k == 0 ? first : cell_of(c, from + k - 1, m);
		struct difference d = difference(c, first, x);

		shown_text(text[0][k], x->mean * u.factor, size * u.factor);
		text[1][k][0] = '\0';
		if (k > 0 && d.verdict != NOTHING) {
			static const char *const signs[] = {"", " -", " ?", " =", " *"};

			signed_text(text[1][k], (x->mean - first->mean) * u.factor, size * u.factor);
			strcat(text[1][k], d.drifts ? " ~" : signs[d.verdict]);
			drift |= d.drifts;
		}
		top[k + 2] = text[0][k];
		below[k + 2] = text[1][k];
	}
	table_row(t, top);
	table_row(t, below);
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

static void many_table(FILE *o, const struct comparison *c, bool markdown, int room)
{
	bool any = false;

	for (size_t from = 1; from < c->n_files; from += MANY - 1) {
		size_t n = c->n_files - from < MANY - 1 ? c->n_files - from + 1 : MANY;
		struct table t = {
			o, markdown, n + 2, {-room, -4, 10, 10, 10, 10, 10}, {"", _("unit"), "A"}, false};
		char letter[MANY][FILE_NAME];

		for (size_t k = 1; k < n; k++) {
			file_name(letter[k], from + k - 1);
			t.head[k + 2] = letter[k];
		}
		for (size_t i = 0; i < c->n_metrics; i++)
			any |= many_rows(&t, c, &c->metrics[i], from);
	}
	fputs(_("*: differs from A; =: within noise; ?: occurs once, so the noise is unknown; -: too much "
		"of the\ntime is unknown\n"),
	      o);
	if (any)
		fputs(_("~: differs from A, but drifts within a run, so that its repetitions are not "
			"independent\n"),
		      o);
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

/* Unknown time would otherwise read as no difference, or as a saving. */
static void tell_unknown(FILE *o, const struct comparison *c, bool markdown)
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
		fprintf(o, _("%c: some of its signals are known for %s %% of the time only\n"),
			f < 26 ? 'A' + (int)f : '#', text);
		any = true;
	}
	if (any && markdown)
		putc('\n', o);
}

static void group_table(FILE *o, const struct comparison *c, const struct group *g, bool markdown, int room)
{
	char title[160];

	group_title(c, g, title, sizeof(title));
	fprintf(o, "%s%s:", markdown ? "### " : "", title);
	for (size_t f = 0; f < c->n_files; f++) {
		unsigned long long n = count(c, g, f);
		const char *comma = f > 0 ? "," : "";

		if (c->n_files == 1)
			fprintf(o, P_(" %llu time", " %llu times", n), n);
		else if (f < 26)
			fprintf(o, P_("%s %c %llu time", "%s %c %llu times", n), comma, 'A' + (int)f, n);
	}
	fputs(markdown ? "\n\n" : "\n", o);
	tell_unknown(o, c, markdown);
	if (c->n_files == 1)
		spread_table(o, c, markdown, room);
	else if (c->n_files == 2)
		pair_table(o, c, markdown, room);
	else
		many_table(o, c, markdown, room);
	putc('\n', o);
}

void compare_tables(FILE *o, const struct analysis *list, size_t n, bool markdown)
{
	struct comparison c = compare_make(list, n);
	int room = c.ok ? room_of(&c, n == 1 ? 30 : 18) : 0;

	compare_test(&c);
	if (c.ok && n > 1)
		files_list(o, &c);
	for (size_t g = 0; c.ok && g <= c.n_groups; g++) {
		if (!group_shown(&c, &c.groups[g]))
			continue;
		group_begin(&c, &c.groups[g]);
		group_table(o, &c, &c.groups[g], markdown, room);
	}
	if (c.tested > 0)
		fprintf(o,
			P_("differs: after Holm's correction for %zu difference that was tested\n",
			   "differs: after Holm's correction for the %zu differences that were tested\n",
			   c.tested),
			c.tested);
	compare_free(&c);
}
