/* Reports and comparisons as JSON and CSV: exact numbers in the unit of the channel, independent of the
 * language. CSV has all columns in each line, JSON only those that apply to the signal. */
#include <math.h>
#include <string.h>

#include "report/compare.h"

#define STATISTIC_PLACE(name, q) {#name, offsetof(struct result, name)},
static const struct {
	const char *name;
	size_t at;
} stats[] = {STATISTICS(STATISTIC_PLACE)};

static void put_part(struct record *r, const struct analysis *a, const struct part *p)
{
	int64_t start = a->session->start.mono_ns;

	if (p != &a->whole)
		PUT(r, {"phase", IN_BOTH, COUNT_OF(p->epoch.id)});
	else
		PUT(r, {"phase", IN_CSV, TEXT_OF("whole")}, {"phase", IN_JSON, LABEL_OF("")});
	PUT(r, {"label", IN_BOTH, TEXT_OF(p->epoch.label)},
	    {"from_s", IN_BOTH, TIME_OF(p->epoch.from_ns - start)},
	    {"to_s", IN_BOTH, TIME_OF(p->epoch.to_ns - start)},
	    {"duration_s", IN_BOTH, TIME_OF(p->duration_ns)});
}

static void put_statistics(struct record *r, const struct analysis *a, const struct part *p, size_t i)
{
	const struct channel *c = channel_of(a, i);
	const struct result *s = &p->results[i];
	const struct ticks *k = &p->ticks[c->tier];

	PUT(r, {"signal", IN_CSV, TEXT_OF(c->name)}, {"name", IN_JSON, TEXT_OF(c->name)},
	    {"unit", IN_BOTH, TEXT_OF(unit_name(c->unit))}, {"tier", IN_BOTH, TEXT_OF(tier_name(c->tier))},
	    {"samples", IN_BOTH, COUNT_OF(s->n)}, {"missing", IN_BOTH, COUNT_OF(s->missing)},
	    {"late", IN_CSV, COUNT_OF(k->late)}, {"lost", IN_CSV, COUNT_OF(k->lost)},
	    {"gaps", IN_CSV, COUNT_OF(k->gaps)}, {"mean", IN_BOTH, NUMBER_OF(mean_of(s))});
	if (!isnan(s->counted))
		PUT(r, {"mean_of", IN_JSON, TEXT_OF("counters")});
	for (size_t j = 0; j < N_STATISTICS; j++)
		PUT(r, {stats[j].name, IN_BOTH, NUMBER_OF(*(const double *)((const char *)s + stats[j].at))});
}

static void put_signal(struct record *r, const struct analysis *a, const struct part *p, size_t i)
{
	const struct channel *c = channel_of(a, i);
	const struct result *s = &p->results[i];
	bool watts = c->unit == UNIT_MILLIWATT, throttle = c->kind == CHANNEL_THROTTLE;
	bool steps = c->kind == CHANNEL_THROTTLE_COUNT;
	char why[300] = "";
	bool known = s->n == 0 && unmeasured_reason(a, i, why, sizeof(why));
	double items = items_of(a, p) > 0 ? items_of(a, p) : NAN,
	       every = (double)reading_ns(a->session, c) / 1e9;

	put_statistics(r, a, p, i);
	PUT(r, {"energy_j", CSV_AND(watts), NUMBER_OF(energy_of(a, p, i))},
	    {"mean_power_w", CSV_AND(watts), NUMBER_OF(mean_power(a, p, i))},
	    {"covered_s", !isnan(s->integral) * IN_CSV + (watts || throttle) * IN_JSON,
	     TIME_OF(s->covered_ns)},
	    {"covered_s", isnan(s->integral) * IN_CSV, NUMBER_OF(NAN)},
	    {"rise", CSV_AND(c->unit == UNIT_CELSIUS || channel_counts(c)), NUMBER_OF(rise_of(a, p, i))},
	    {"throttled_s", CSV_AND(throttle), NUMBER_OF(throttled_of(a, p, i))},
	    {"events", CSV_AND(steps), NUMBER_OF(steps && s->n > 0 ? s->steps : NAN)},
	    {"items", IN_CSV, NUMBER_OF(items)},
	    {"s_per_item", IN_CSV, NUMBER_OF((double)p->duration_ns / 1e9 / items)},
	    {"energy_per_item_j", CSV_AND(watts && !isnan(items)),
	     NUMBER_OF(isnan(items) ? NAN : item_energy(a, p, i))},
	    {"energy_within_j", CSV_AND(watts), NUMBER_OF(within_of(a, p, i))},
	    {"read_every_s", IN_CSV, NUMBER_OF(watts ? every : NAN)},
	    {"read_every_s", watts * IN_JSON, TIME_OF(reading_ns(a->session, c))},
	    {"reason", known * IN_JSON, TEXT_OF(why)});
}

/* The table by phase. */
static void put_keys(struct record *r, const struct analysis *a, const struct part *p)
{
	const struct result *power = key_of(a, p, KEY_POWER), *gpu = key_of(a, p, KEY_GPU),
			    *hottest = key_of(a, p, KEY_HOTTEST);

	if (power)
		PUT(r, {"power", IN_BOTH, TEXT_OF(a->session->channels[a->key[KEY_POWER]].name)},
		    {"energy_j", IN_BOTH, NUMBER_OF(joules_of(power))},
		    {"energy_within_j", IN_JSON, NUMBER_OF(power->within / 1e3)},
		    {"mean_power_w", IN_BOTH, NUMBER_OF(watts_of(power))},
		    {"covered_s", IN_BOTH, TIME_OF(power->covered_ns)});
	else
		PUT(r, {"power", IN_CSV, TEXT_OF("")}, {"energy_j", IN_CSV, NUMBER_OF(NAN)},
		    {"mean_power_w", IN_CSV, NUMBER_OF(NAN)}, {"covered_s", IN_CSV, NUMBER_OF(NAN)});
	PUT(r, {"gpu_percent", IN_BOTH, NUMBER_OF(gpu ? mean_of(gpu) : NAN)},
	    {"hottest_c", IN_BOTH, NUMBER_OF(hottest ? hottest->max : NAN)});
}

static void json_ticks(struct record *r, const struct part *p)
{
	json_open(r, "ticks", '{');
	for (int t = 0; t < TIERS; t++) {
		const struct ticks *k = &p->ticks[t];

		json_open(r, tier_name((enum tier)t), '{');
		PUT(r, {"samples", IN_JSON, COUNT_OF(k->rows)}, {"late", IN_JSON, COUNT_OF(k->late)},
		    {"lost", IN_JSON, COUNT_OF(k->lost)}, {"gaps", IN_JSON, COUNT_OF(k->gaps)},
		    {"longest_gap_s", IN_JSON, TIME_OF(k->longest_ns)});
		json_close(r, "}");
	}
	json_close(r, "}");
}

static void json_part(struct record *r, const char *name, const struct analysis *a, const struct part *p)
{
	double items = items_of(a, p);

	json_open(r, name, '{');
	put_part(r, a, p);
	json_ticks(r, p);
	if (items > 0)
		PUT(r, {"items", IN_JSON, NUMBER_OF(items)},
		    {"s_per_item", IN_JSON, NUMBER_OF((double)p->duration_ns / 1e9 / items)});
	put_keys(r, a, p);
	if (!a->brief)
		json_open(r, "signals", '[');
	for (size_t i = 0; !a->brief && i < a->channels.n; i++) {
		json_open(r, NULL, '{');
		put_signal(r, a, p, i);
		json_close(r, "}");
	}
	json_close(r, a->brief ? "}" : "]}");
}

static void json_trace(struct record *r, const struct analysis *a)
{
	const struct session *s = a->session;
	char path[4096];
	size_t n;
	const struct change *list = trace_changes(a->trace, &n);

	json_open(r, NULL, '{');
	PUT(r, {"file", IN_JSON, TEXT_OF(shown_path(a->trace, path, sizeof(path)))},
	    {"board", IN_JSON, TEXT_OF(fact_get(s->facts, s->n_facts, "board"))},
	    {"title", IN_JSON, TEXT_OF(fact_get(s->facts, s->n_facts, "title"))},
	    {"start_realtime_ns", s->start.real_ns ? IN_JSON : 0, COUNT_OF(s->start.real_ns)},
	    {"gaps_from", IN_JSON, TEXT_OF(a->counted ? "trace" : "times")});
	json_open(r, "changes", '[');
	for (size_t i = 0; i < n; i++) {
		json_open(r, NULL, '{');
		PUT(r, {"time_s", IN_JSON, TIME_OF(list[i].t_ns - s->start.mono_ns)},
		    {"what", IN_JSON, LABEL_OF(list[i].what)}, {"from", IN_JSON, LABEL_OF(list[i].from)},
		    {"to", IN_JSON, LABEL_OF(list[i].to)});
		json_close(r, "}");
	}
	json_close(r, "]");
	json_open(r, "phases", '[');
	for (size_t i = 0; i < a->epochs.n; i++) {
		record_line(r);
		json_part(r, NULL, a, part_load(a, i));
	}
	json_close(r, "]");
	record_line(r);
	json_part(r, "whole", a, &a->whole);
	json_close(r, "}");
}

/* One line per part, or one per signal. */
static void csv_part(struct record *r, const struct analysis *a, const struct part *p)
{
	char path[4096];

	for (size_t i = 0; i < (a->brief ? 1 : a->channels.n); i++) {
		PUT(r, {"file", IN_CSV, TEXT_OF(shown_path(a->trace, path, sizeof(path)))});
		put_part(r, a, p);
		if (a->brief)
			put_keys(r, a, p);
		else
			put_signal(r, a, p, i);
		record_line(r);
		if (r->as == AS_HEAD)
			return;
	}
}

static const char *what_unit(const struct metric *m)
{
	if (m->what == MEAN || m->what == RISE)
		return unit_name(m->channel->unit);
	if (m->what == RANGE_COUNT)
		return "";
	return m->what == ENERGY || m->what == ITEM_ENERGY || m->what == RANGE_ENERGY ? "J" : "s";
}

static void put_metric(struct record *r, const struct metric *m)
{
	static const char *const words[] = {
		[DURATION] = "duration",
		[ITEM_TIME] = "time_per_item",
		[ITEM_ENERGY] = "energy_per_item",
		[ENERGY] = "energy",
		[MEAN] = "mean",
		[RISE] = "rise",
		[THROTTLED] = "throttled",
		[RANGE_COUNT] = "count",
		[RANGE_TIME] = "time_per_range",
		[RANGE_ENERGY] = "energy_per_range",
	};

	PUT(r, {"signal", IN_BOTH, LABEL_OF(m->channel ? m->channel->name : "")},
	    {"quantity", IN_BOTH, TEXT_OF(words[m->what])}, {"unit", IN_BOTH, TEXT_OF(what_unit(m))});
}

/* A metric in one file, and its difference to the first file. */
static void put_cell(struct record *r, const struct comparison *c, const struct metric *m, size_t file)
{
	static const char *const verdicts[] = {"", "partly unknown", "unknown", "within noise", "differs",
					       ""};
	const struct cell *first = cell_of(c, 0, m), *x = cell_of(c, file, m);
	struct difference d = {NOTHING, NAN, NAN, false};

	if (file > 0)
		d = difference(c, first, x);
	PUT(r, {"n", IN_BOTH, COUNT_OF(x->n)}, {"mean", IN_BOTH, NUMBER_OF(x->n > 0 ? x->mean : NAN)});
	if (c->sums) {
		PUT(r, {"sd", IN_CSV, NUMBER_OF(NAN)}, {"ci95", IN_CSV, NUMBER_OF(NAN)},
		    {"within", IN_BOTH, NUMBER_OF(x->within)},
		    {"difference", CSV_AND(file), NUMBER_OF(file ? x->mean - first->mean : NAN)},
		    {"difference_percent", CSV_AND(file),
		     NUMBER_OF(file ? 100 * (x->mean - first->mean) / fabs(first->mean) : NAN)},
		    {"difference_within", CSV_AND(file), NUMBER_OF(d.interval)},
		    {"verdict", CSV_AND(file), TEXT_OF(verdicts[d.verdict])},
		    {"coverage", IN_BOTH, NUMBER_OF(coverage_of(x))},
		    {"reason", IN_BOTH, LABEL_OF(x->why ? x->why : "")});
		return;
	}
	PUT(r, {"sd", IN_BOTH, NUMBER_OF(x->sd)}, {"ci95", IN_BOTH, NUMBER_OF(confidence(x->sd, x->n))},
	    {"difference", CSV_AND(file), NUMBER_OF(file ? x->mean - first->mean : NAN)},
	    {"difference_ci95", CSV_AND(file), NUMBER_OF(d.interval)},
	    {"verdict", CSV_AND(file), TEXT_OF(verdicts[d.verdict])},
	    {"coverage", IN_BOTH, NUMBER_OF(coverage_of(x))}, {"p", CSV_AND(file), NUMBER_OF(d.p)},
	    {"drift_p", IN_BOTH, NUMBER_OF(x->drift)}, {"warning", IN_CSV, TEXT_OF(d.drifts ? "drifts" : "")},
	    {"drifts", file ? IN_JSON : 0, TRUTH_OF(d.drifts)});
}

/* Of a name over many traces. */
static void put_over(struct record *r, const struct comparison *c, const struct metric *m)
{
	const struct cell x = cell_over(c, m);

	PUT(r, {"n", IN_BOTH, COUNT_OF(x.n)}, {"mean", IN_BOTH, NUMBER_OF(x.mean)},
	    {"sd", IN_BOTH, NUMBER_OF(x.sd)}, {"ci95", IN_BOTH, NUMBER_OF(confidence(x.sd, x.n))},
	    {"within", IN_BOTH, NUMBER_OF(x.within)});
}

static void json_metric(struct record *r, const struct comparison *c, const struct metric *m)
{
	bool any = false;

	for (size_t f = 0; f < c->n_files; f++)
		any |= cell_of(c, f, m)->n > 0;
	if (!any)
		return;
	record_line(r);
	json_open(r, NULL, '{');
	put_metric(r, m);
	json_open(r, "traces", '[');
	for (size_t f = 0; f < c->n_files; f++) {
		json_open(r, NULL, '{');
		put_cell(r, c, m, f);
		json_close(r, "}");
	}
	json_close(r, "]");
	if (c->sums && c->n_files > 2) {
		json_open(r, "all", '{');
		put_over(r, c, m);
		json_close(r, "}");
	}
	json_close(r, "}");
}

static void csv_title(struct record *r, const struct comparison *c, const struct group *g, const char *title,
		      const char *file)
{
	PUT(r, {"file", IN_CSV, TEXT_OF(file)}, {"phase", IN_CSV, TEXT_OF(title)});
	if (c->sums)
		PUT(r, {"domain", IN_CSV, TEXT_OF(c->all[g->first].domain)});
}

static void csv_metric(struct record *r, const struct comparison *c, const struct group *g, const char *title,
		       const struct metric *m)
{
	char path[4096];

	for (size_t f = 0; f < c->n_files; f++) {
		if (cell_of(c, f, m)->n == 0 && !c->sums)
			continue;
		csv_title(r, c, g, title, shown_path(c->list[f].trace, path, sizeof(path)));
		put_metric(r, m);
		put_cell(r, c, m, f);
		record_line(r);
	}
	if (!c->sums || c->n_files < 3)
		return;
	csv_title(r, c, g, title, "");
	put_metric(r, m);
	put_over(r, c, m);
	fputs(",,,,,,", r->f);
	record_line(r);
}

static void json_title(struct record *r, const struct comparison *c, const struct group *g, const char *title)
{
	const struct occurrence *x = &c->all[g->first];
	bool labelled = *x->label || group_is_whole(c, g);

	if (c->sums) {
		PUT(r, {"name", IN_JSON, TEXT_OF(title)}, {"domain", IN_JSON, TEXT_OF(x->domain)});
		return;
	}
	/* The key is needed beside the title, since a label may look like a title. */
	PUT(r, {"phase", IN_JSON, TEXT_OF(title)}, {"label", IN_JSON, LABEL_OF(x->label)},
	    {"number", labelled ? 0 : IN_JSON, COUNT_OF(x->id)},
	    {"number", labelled ? IN_JSON : 0, LABEL_OF("")});
}

static void json_group(struct record *r, const struct comparison *c, const struct group *g, const char *title)
{
	record_line(r);
	json_open(r, NULL, '{');
	json_title(r, c, g, title);
	json_open(r, "quantities", '[');
	for (size_t i = 0; i < c->n_metrics; i++)
		json_metric(r, c, &c->metrics[i]);
	json_close(r, "]}");
}

void put_comparison(struct record *r, struct comparison *c)
{
	bool any = false;
	char title[1200];

	if (r->as == AS_CSV)
		fputs(c->sums ? "file,name,domain,signal,quantity,unit,n,mean,sd,ci95,within,difference,"
				"difference_percent,difference_within,verdict,coverage,reason\n"
			      : "file,phase,signal,quantity,unit,n,mean,sd,ci95,difference,difference_ci95,"
				"verdict,coverage,p,drift_p,warning\n",
		      r->f);
	for (size_t g = 0; c->ok && g < c->n_groups + !c->sums; g++) {
		if (!group_shown(c, &c->groups[g]))
			continue;
		group_begin(c, &c->groups[g]);
		group_title(c, &c->groups[g], false, title, sizeof(title));
		if (r->as == AS_JSON && !any) {
			record_line(r);
			json_open(r, "comparison", '[');
		}
		any = true;
		if (r->as == AS_JSON)
			json_group(r, c, &c->groups[g], title);
		for (size_t i = 0; r->as == AS_CSV && i < c->n_metrics; i++)
			csv_metric(r, c, &c->groups[g], title, &c->metrics[i]);
	}
	if (r->as == AS_JSON && any)
		json_close(r, "]");
}

/* Of epochs. */
static void compare(struct record *r, const struct analysis *list, size_t n)
{
	struct comparison c = compare_make(list, n);

	compare_test(&c);
	put_comparison(r, &c);
	compare_free(&c);
}

void write_json(FILE *f, const struct analysis *list, size_t n)
{
	struct record r = {.f = f, .as = AS_JSON};

	json_open(&r, NULL, '{');
	json_open(&r, "traces", '[');
	for (size_t i = 0; i < n; i++) {
		record_line(&r);
		json_trace(&r, &list[i]);
	}
	json_close(&r, "]");
	if (!list[0].brief)
		compare(&r, list, n);
	fputs("}\n", f);
}

void write_csv(FILE *f, const struct analysis *list, size_t n)
{
	struct record head = {.f = f, .as = AS_HEAD}, r = {.f = f, .as = AS_CSV};

	if (!list[0].brief && n > 1) {
		compare(&r, list, n);
		return;
	}
	csv_part(&head, &list[0], &list[0].whole);
	for (size_t k = 0; k < n; k++) {
		for (size_t i = 0; i < list[k].epochs.n; i++)
			csv_part(&r, &list[k], part_load(&list[k], i));
		csv_part(&r, &list[k], &list[k].whole);
	}
}
