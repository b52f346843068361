/* The same epochs of several traces beside each other.
 *
 * Epochs are the same when they have the same label, or, without one, the same
 * number.  What occurs repeatedly has a spread, and with it the difference of two
 * means has a confidence interval (Welch's, 95 %); what occurs once has none, and
 * no difference is called real or noise then. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nvmtop/intl.h"
#include "nvmtop/num.h"
#include "report/analysis.h"

enum what { DURATION, ITEM_TIME, ITEM_ENERGY, ENERGY, MEAN, RISE, THROTTLED };

struct metric {
	enum what what;
	const struct channel *channel; /* NULL: of the epoch itself */
};

struct occurrence {
	const char *label;
	uint64_t id;
	size_t file, order;
	const struct part *part;
};

/* Occurrences first .. first+n-1 are one epoch of all files. */
struct group {
	size_t first, n, order;
};

struct comparison {
	const struct analysis *list;
	size_t n_files;
	struct occurrence *all;
	size_t n_all;
	struct group *groups;
	size_t n_groups;
	struct metric *metrics;
	size_t n_metrics;
	bool ok;
};

/* One metric in one file: the mean over its occurrences. */
struct cell {
	uint64_t n;
	double mean, sd;
};

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
		bool fits = what == MEAN ||
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

static struct comparison compare(const struct analysis *list, size_t n)
{
	struct comparison c = {.list = list, .n_files = n};

	c.ok = groups_make(&c) == 0 && metrics_make(&c) == 0;
	return c;
}

static void compare_free(struct comparison *c)
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

static struct cell cell_of(const struct comparison *c, const struct group *g, size_t file,
			   const struct metric *m)
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

enum verdict { NOTHING, UNKNOWN, NOISE, DIFFERS };

static enum verdict verdict(const struct cell *a, const struct cell *b, double *interval)
{
	*interval = NAN;
	if (a->n == 0 || b->n == 0)
		return NOTHING;
	*interval = welch(a->sd, a->n, b->sd, b->n);
	if (isnan(*interval))
		return UNKNOWN;
	return fabs(b->mean - a->mean) <= *interval ? NOISE : DIFFERS;
}

static const char *verdict_word(enum verdict v)
{
	static const char *const words[] = {"", "unknown", "within noise", "differs"};

	return words[v]; /* part of formats */
}

static const char *verdict_text(enum verdict v)
{
	static const char *const texts[] = {"", N_("occurs once"), N_("within noise"), N_("differs")};

	return *texts[v] ? _(texts[v]) : "";
}

static size_t count(const struct comparison *c, const struct group *g, size_t file)
{
	size_t n = 0;

	for (size_t k = g->first; k < g->first + g->n; k++)
		n += c->all[k].file == file;
	return n;
}

static bool is_whole(const struct comparison *c, const struct group *g)
{
	return g == &c->groups[c->n_groups];
}

/* Groups to be shown: of one file those that occur repeatedly. */
static bool group_shown(const struct comparison *c, const struct group *g)
{
	return c->n_files > 1 || (!is_whole(c, g) && g->n > 1);
}

bool compare_wanted(const struct analysis *list, size_t n)
{
	struct comparison c = compare(list, n);
	bool any = false;

	for (size_t g = 0; c.ok && g <= c.n_groups; g++)
		any |= group_shown(&c, &c.groups[g]);
	compare_free(&c);
	return any;
}

static void group_title(const struct comparison *c, const struct group *g, char *out, size_t size)
{
	const struct occurrence *x = &c->all[g->first];

	if (is_whole(c, g))
		snprintf(out, size, "%s", _("whole"));
	else if (*x->label)
		snprintf(out, size, "%s", x->label);
	else
		snprintf(out, size, _("epoch %llu"), (unsigned long long)x->id);
}

/* --- tables --- */

static const char *const what_names[] = {
	[DURATION] = N_("duration"),
	[ITEM_TIME] = N_("time an item"),
	[ITEM_ENERGY] = N_("an item, %s"),
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
	case RISE:
		return (struct shown) {"C", 1};
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

/* One file: how much its repeated epochs agree. */
static void spread_table(struct out *o, const struct comparison *c, const struct group *g, bool markdown)
{
	static const int wide[] = {-30, 11, 11, 11, -4};
	const char *const head[] = {_("mean of the repetitions"), _("mean"), "95 %", _("sd"), _("unit")};

	table_line(o, markdown, head, wide, 5);
	if (markdown)
		table_rule(o, wide, 5);
	for (size_t i = 0; i < c->n_metrics; i++) {
		const struct metric *m = &c->metrics[i];
		struct cell x = cell_of(c, g, 0, m);
		struct shown u = metric_unit(m, x.mean);
		char name[120], mean[NUM_TEXT], interval[NUM_TEXT + 2], sd[NUM_TEXT];

		if (x.n == 0)
			continue;
		metric_name(m, name, sizeof(name));
		shown_text(mean, x.mean * u.factor, x.mean * u.factor);
		plus_minus(interval, confidence(x.sd, x.n) * u.factor, x.mean * u.factor);
		shown_text(sd, x.sd * u.factor, x.mean * u.factor);
		table_line(o, markdown, (const char *[]) {name, mean, interval, sd, u.unit}, wide, 5);
	}
}

static void pair_line(struct out *o, bool markdown, const char *name, const struct cell *a,
		      const struct cell *b, struct shown u)
{
	static const int wide[] = {-18, -3, 8, 8, 8, 8, 7, -12};
	double size = fmax(fabs(a->mean), fabs(b->mean)) * u.factor, diff = (b->mean - a->mean) * u.factor,
	       interval;
	enum verdict v = verdict(a, b, &interval);
	char text[5][SIGNED_TEXT + 4];

	shown_text(text[0], a->mean * u.factor, size);
	shown_text(text[1], b->mean * u.factor, size);
	signed_text(text[2], diff, size);
	plus_minus(text[3], interval * u.factor, size);
	text[4][0] = '\0';
	if (v != NOTHING && a->mean != 0) {
		size_t n;

		signed_text(text[4], 100 * (b->mean - a->mean) / fabs(a->mean), 100);
		n = strlen(text[4]);
		memcpy(text[4] + n, " %", 3);
	}
	table_line(
		o, markdown,
		(const char *[]) {name, u.unit, text[0], text[1], text[2], text[3], text[4], verdict_text(v)},
		wide, 8);
}

static void pair_table(struct out *o, const struct comparison *c, const struct group *g, bool markdown)
{
	static const int wide[] = {-18, -3, 8, 8, 8, 8, 7, -12};
	const char *const head[] = {"", "", "A", "B", "B - A", "95 %", "", ""};

	table_line(o, markdown, head, wide, 8);
	if (markdown)
		table_rule(o, wide, 8);
	for (size_t i = 0; i < c->n_metrics; i++) {
		struct cell a = cell_of(c, g, 0, &c->metrics[i]), b = cell_of(c, g, 1, &c->metrics[i]);
		char name[120];

		if (a.n + b.n == 0)
			continue;
		metric_name(&c->metrics[i], name, sizeof(name));
		pair_line(o, markdown, name, &a, &b,
			  metric_unit(&c->metrics[i], fmax(fabs(a.mean), fabs(b.mean))));
	}
}

/* Three and more: values, and below each its difference to the first. */
static void many_lines(struct out *o, const struct comparison *c, const struct group *g,
		       const struct metric *m, size_t from, size_t n, bool markdown)
{
	static const int wide[] = {-18, -4, 10, 10, 10, 10, 10};
	char name[120], text[2][MANY][SIGNED_TEXT + 4];
	const char *top[MANY + 2], *below[MANY + 2];
	struct cell first = cell_of(c, g, 0, m);
	double size = fabs(first.mean);
	struct shown u;
	bool any = first.n > 0;

	for (size_t k = 1; k < n; k++) {
		struct cell x = cell_of(c, g, from + k - 1, m);

		any |= x.n > 0;
		size = fmax(size, fabs(x.mean));
	}
	if (!any)
		return;
	u = metric_unit(m, size);
	metric_name(m, name, sizeof(name));
	top[0] = name;
	top[1] = u.unit;
	below[0] = below[1] = "";
	for (size_t k = 0; k < n; k++) {
		struct cell x = k == 0 ? first : cell_of(c, g, from + k - 1, m);
		double interval;
		enum verdict v = k == 0 ? NOTHING : verdict(&first, &x, &interval);

		shown_text(text[0][k], x.mean * u.factor, size * u.factor);
		text[1][k][0] = '\0';
		if (v != NOTHING) {
			size_t used;

			signed_text(text[1][k], (x.mean - first.mean) * u.factor, size * u.factor);
			used = strlen(text[1][k]);
			memcpy(text[1][k] + used, v == DIFFERS ? " *" : v == NOISE ? " =" : " ?", 3);
		}
		top[k + 2] = text[0][k];
		below[k + 2] = text[1][k];
	}
	table_line(o, markdown, top, wide, n + 2);
	table_line(o, markdown, below, wide, n + 2);
}

static void many_table(struct out *o, const struct comparison *c, const struct group *g, bool markdown)
{
	static const int wide[] = {-18, -4, 10, 10, 10, 10, 10};

	for (size_t from = 1; from < c->n_files; from += MANY - 1) {
		size_t n = c->n_files - from < MANY - 1 ? c->n_files - from + 1 : MANY;
		char letter[MANY][8];
		const char *head[MANY + 2] = {"", _("unit"), "A"};

		for (size_t k = 1; k < n; k++) {
			size_t f = from + k - 1;

			if (f < 26)
				snprintf(letter[k], sizeof(letter[k]), "%c", (char)('A' + (int)f));
			else
				snprintf(letter[k], sizeof(letter[k]), "#%u", (unsigned)(f + 1) % 100000);
			head[k + 2] = letter[k];
		}
		table_line(o, markdown, head, wide, n + 2);
		if (markdown)
			table_rule(o, wide, n + 2);
		for (size_t i = 0; i < c->n_metrics; i++)
			many_lines(o, c, g, &c->metrics[i], from, n, markdown);
	}
	out_text(o,
		 _("*: differs from A; =: within noise (95 %); ?: occurs once, so the noise is unknown\n"));
}

static void files_list(struct out *o, const struct comparison *c)
{
	for (size_t f = 0; f < c->n_files; f++) {
		char path[1024];

		text_printable(path, sizeof(path), trace_path(c->list[f].trace),
			       strlen(trace_path(c->list[f].trace)));
		if (f < 26)
			out_format(o, "%c: %s\n", (char)('A' + (int)f), path);
		else
			out_format(o, "#%zu: %s\n", f + 1, path);
	}
	out_char(o, '\n');
}

/* Energy that is not known would look like energy that was saved. */
static void tell_uncovered(struct out *o, const struct comparison *c, const struct group *g)
{
	for (size_t f = 0; f < c->n_files; f++) {
		const struct analysis *a = &c->list[f];
		double worst = 0;
		char text[NUM_TEXT];

		for (size_t k = g->first; k < g->first + g->n; k++)
			for (size_t i = 0; c->all[k].file == f && i < a->channels.n; i++) {
				double cover = (double)cover_ns(a->session, channel_of(a, i)->tier) / 1e9;

				if (!isnan(energy_of(a, c->all[k].part, i)))
					worst = fmax(worst, uncovered_of(a, c->all[k].part, i) - cover > 0
								    ? uncovered_of(a, c->all[k].part, i)
								    : 0);
			}
		if (worst == 0)
			continue;
		num_fixed(text, worst, 3);
		out_format(o, _("%c: for up to %s s of it the power is not known, and not in its energy\n"),
			   f < 26 ? 'A' + (int)f : '#', text);
	}
}

static void group_table(struct out *o, const struct comparison *c, const struct group *g, bool markdown)
{
	char title[160];

	group_title(c, g, title, sizeof(title));
	out_format(o, "%s%s:", markdown ? "### " : "", title);
	for (size_t f = 0; f < c->n_files; f++) {
		unsigned long long n = count(c, g, f);
		const char *comma = f > 0 ? "," : "";

		if (c->n_files == 1)
			out_format(o, P_(" %llu time", " %llu times", n), n);
		else if (f < 26)
			out_format(o, P_("%s %c %llu time", "%s %c %llu times", n), comma, 'A' + (int)f, n);
	}
	out_text(o, markdown ? "\n\n" : "\n");
	tell_uncovered(o, c, g);
	if (c->n_files == 1)
		spread_table(o, c, g, markdown);
	else if (c->n_files == 2)
		pair_table(o, c, g, markdown);
	else
		many_table(o, c, g, markdown);
	out_char(o, '\n');
}

void compare_tables(struct out *o, const struct analysis *list, size_t n, bool markdown)
{
	struct comparison c = compare(list, n);

	if (c.ok && n > 1)
		files_list(o, &c);
	for (size_t g = 0; c.ok && g <= c.n_groups; g++)
		if (group_shown(&c, &c.groups[g]))
			group_table(o, &c, &c.groups[g], markdown);
	compare_free(&c);
}

/* --- JSON and CSV --- */

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

static void member(struct out *o, const char *name, double v)
{
	out_format(o, ",\"%s\":", name);
	out_json_num(o, v);
}

static void json_cell(struct out *o, const struct cell *first, const struct cell *x, bool is_first)
{
	double interval;
	enum verdict v = verdict(first, x, &interval);

	out_format(o, "{\"n\":%llu", (unsigned long long)x->n);
	member(o, "mean", x->mean);
	member(o, "sd", x->sd);
	member(o, "ci95", confidence(x->sd, x->n));
	if (!is_first) {
		member(o, "difference", x->mean - first->mean);
		member(o, "difference_ci95", interval);
		out_format(o, ",\"verdict\":\"%s\"", verdict_word(v));
	}
	out_char(o, '}');
}

static void json_metric(struct out *o, const struct comparison *c, const struct group *g,
			const struct metric *m, bool *comma)
{
	struct cell first = cell_of(c, g, 0, m);
	bool any = false;

	for (size_t f = 0; f < c->n_files; f++)
		any |= cell_of(c, g, f, m).n > 0;
	if (!any)
		return;
	out_text(o, *comma ? ",\n{\"signal\":" : "{\"signal\":");
	*comma = true;
	if (m->channel)
		out_json_text(o, m->channel->name);
	else
		out_text(o, "null");
	out_format(o, ",\"quantity\":\"%s\",\"unit\":\"%s\",\"traces\":[", what_word(m), what_unit(m));
	for (size_t f = 0; f < c->n_files; f++) {
		struct cell x = cell_of(c, g, f, m);

		if (f > 0)
			out_char(o, ',');
		json_cell(o, &first, &x, f == 0);
	}
	out_text(o, "]}");
}

void compare_json(struct out *o, const struct analysis *list, size_t n)
{
	struct comparison c = compare(list, n);
	bool first = true;

	out_char(o, '[');
	for (size_t g = 0; c.ok && g <= c.n_groups; g++) {
		char title[160];
		bool comma = false;

		if (!group_shown(&c, &c.groups[g]))
			continue;
		group_title(&c, &c.groups[g], title, sizeof(title));
		out_text(o, first ? "{\"epoch\":" : ",\n{\"epoch\":");
		first = false;
		out_json_text(o, title);
		out_text(o, ",\"quantities\":[");
		for (size_t i = 0; i < c.n_metrics; i++)
			json_metric(o, &c, &c.groups[g], &c.metrics[i], &comma);
		out_text(o, "]}");
	}
	out_char(o, ']');
	compare_free(&c);
}

static void csv_cell(struct out *o, double v)
{
	out_char(o, ',');
	out_num(o, v);
}

static void csv_metric(struct out *o, const struct comparison *c, const struct group *g, const char *title,
		       const struct metric *m)
{
	struct cell first = cell_of(c, g, 0, m);

	for (size_t f = 0; f < c->n_files; f++) {
		struct cell x = cell_of(c, g, f, m);
		double interval;
		enum verdict v = verdict(&first, &x, &interval);
		char path[4096];

		if (x.n == 0)
			continue;
		text_printable(path, sizeof(path), trace_path(c->list[f].trace),
			       strlen(trace_path(c->list[f].trace)));
		out_csv_text(o, path);
		out_char(o, ',');
		out_csv_text(o, title);
		out_char(o, ',');
		out_csv_text(o, m->channel ? m->channel->name : "");
		out_format(o, ",%s,%s,%llu", what_word(m), what_unit(m), (unsigned long long)x.n);
		csv_cell(o, x.mean);
		csv_cell(o, x.sd);
		csv_cell(o, confidence(x.sd, x.n));
		csv_cell(o, f > 0 ? x.mean - first.mean : NAN);
		csv_cell(o, f > 0 ? interval : NAN);
		out_format(o, ",%s\n", f > 0 ? verdict_word(v) : "");
	}
}

void compare_csv(struct out *o, const struct analysis *list, size_t n)
{
	struct comparison c = compare(list, n);

	out_text(o, "file,epoch,signal,quantity,unit,n,mean,sd,ci95,difference,difference_ci95,verdict\n");
	for (size_t g = 0; c.ok && g <= c.n_groups; g++) {
		char title[160];

		if (!group_shown(&c, &c.groups[g]))
			continue;
		group_title(&c, &c.groups[g], title, sizeof(title));
		for (size_t i = 0; i < c.n_metrics; i++)
			csv_metric(o, &c, &c.groups[g], title, &c.metrics[i]);
	}
	compare_free(&c);
}
