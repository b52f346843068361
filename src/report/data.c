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
	bool steps = c->kind == CHANNEL_THROTTLE_COUNT, covered = !isnan(s->energy.joules) || (throttle && s->energy.known_s > 0);
	char why[300] = "";
	bool known = s->n == 0 && unmeasured_reason(a, i, why, sizeof(why));
	const struct energy_source *source = watts ? trace_source(a->trace, a->channels.list[i]) : NULL;
	int64_t every_ns = source ? source->every_ns : 0;
	double items = items_of(a, p) > 0 ? items_of(a, p) : NAN;

	put_statistics(r, a, p, i);
	PUT(r, {"energy_j", CSV_AND(watts), NUMBER_OF(s->energy.joules)},
	    {"mean_power_w", CSV_AND(watts), NUMBER_OF(watts_of(s))},
	    {"covered_s", covered * IN_CSV + (watts || throttle) * IN_JSON,
	     TIME_OF(llround(s->energy.known_s * 1e9))},
	    {"covered_s", !covered * IN_CSV, NUMBER_OF(NAN)},
	    {"rise", CSV_AND(c->unit == UNIT_CELSIUS || channel_counts(c)), NUMBER_OF(rise_of(a, p, i))},
	    {"throttled_s", CSV_AND(throttle), NUMBER_OF(throttled_of(a, p, i))},
	    {"events", CSV_AND(steps), NUMBER_OF(steps && s->n > 0 ? s->steps : NAN)},
	    {"items", IN_CSV, NUMBER_OF(items)},
	    {"s_per_item", IN_CSV, NUMBER_OF(seconds_of(p) / items)},
	    {"energy_per_item_j", CSV_AND(watts && !isnan(items)),
	     NUMBER_OF(isnan(items) ? NAN : item_energy(a, p, i))},
	    {"energy_within_j", CSV_AND(watts), NUMBER_OF(s->energy.within)},
	    {"read_every_s", IN_CSV, NUMBER_OF(watts ? (double)every_ns / 1e9 : NAN)},
	    {"read_every_s", watts * IN_JSON, TIME_OF(every_ns)},
	    {"reason", known * IN_JSON, TEXT_OF(why)});
}

/* The table by phase. */
static void put_keys(struct record *r, const struct analysis *a, const struct part *p)
{
	const struct result *power = key_of(a, p, KEY_POWER), *gpu = key_of(a, p, KEY_GPU),
			    *hottest = key_of(a, p, KEY_HOTTEST);

	PUT(r, {"power", CSV_AND(power), TEXT_OF(power ? a->power_name : "")},
	    {"energy_j", CSV_AND(power), NUMBER_OF(power ? power->energy.joules : NAN)},
	    {"energy_within_j", power ? IN_JSON : 0, NUMBER_OF(power ? power->energy.within : NAN)},
	    {"mean_power_w", CSV_AND(power), NUMBER_OF(power ? watts_of(power) : NAN)},
	    {"covered_s", power ? IN_BOTH : 0, TIME_OF(power ? llround(power->energy.known_s * 1e9) : 0)},
	    {"covered_s", power ? 0 : IN_CSV, NUMBER_OF(NAN)}, {"gpu_percent", IN_BOTH, NUMBER_OF(gpu ? mean_of(gpu) : NAN)},
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
		    {"s_per_item", IN_JSON, NUMBER_OF(seconds_of(p) / items)});
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

static void put_metric(struct record *r, const struct metric *m)
{
	const struct quantity *q = &quantities[m->what];

	PUT(r, {"signal", IN_BOTH, LABEL_OF(m->channel ? m->name : "")}, {"quantity", IN_BOTH, TEXT_OF(q->key)},
	    {"unit", IN_BOTH, TEXT_OF(q->unit ? q->unit : unit_name(m->channel->unit))});
}

/* A metric over the runs of a side; CSV: the names begin with that of the side, if there are two. */
static void put_side(struct record *r, const struct comparison *c, int which, const struct side *s)
{
	static const char *const names[][5] = {{"n", "mean", "sd", "within", "coverage"},
					       {"a_n", "a_mean", "a_sd", "a_within", "a_coverage"},
					       {"b_n", "b_mean", "b_sd", "b_within", "b_coverage"}};
	const char *const *name = names[r->as == AS_JSON || c->n_first == c->n_runs ? 0 : which + 1];

	PUT(r, {name[0], IN_BOTH, COUNT_OF(s->n)}, {name[1], IN_BOTH, NUMBER_OF(s->mean)},
	    {name[2], IN_BOTH, NUMBER_OF(s->sd)}, {name[3], IN_BOTH, NUMBER_OF(s->within)},
	    {name[4], IN_BOTH, NUMBER_OF(s->known)}, {"reason", IN_JSON, LABEL_OF(s->why ? s->why : "")});
}

static void put_difference(struct record *r, const struct difference *d, const struct side *a)
{
	static const char *const verdicts[] = {"", "partly unknown", "too few runs", "within noise", "differs"};

	PUT(r, {"difference", IN_BOTH, NUMBER_OF(d->by)},
	    {"difference_percent", IN_BOTH, NUMBER_OF(a->mean != 0 ? 100 * d->by / fabs(a->mean) : (double)NAN)},
	    {"difference_within", IN_BOTH, NUMBER_OF(d->within)}, {"difference_ci95", IN_BOTH, NUMBER_OF(d->ci95)},
	    {"p", IN_BOTH, NUMBER_OF(d->p)}, {"verdict", IN_BOTH, LABEL_OF(verdicts[d->verdict])});
}

static void json_metric(struct record *r, const struct comparison *c, const struct metric *m)
{
	const int n_sides = 1 + (c->n_first < c->n_runs);
	const struct side sides[] = {side_of(c, 0, m), side_of(c, 1, m)};

	if (sides[0].n + (n_sides > 1 ? sides[1].n : 0) == 0 && !sides[0].why && !sides[1].why)
		return;
	record_line(r);
	json_open(r, NULL, '{');
	put_metric(r, m);
	json_open(r, "sides", '[');
	for (int k = 0; k < n_sides; k++) {
		json_open(r, NULL, '{');
		put_side(r, c, k, &sides[k]);
		json_open(r, "runs", '[');
		for (size_t f = k ? c->n_first : 0; f < (k ? c->n_runs : c->n_first); f++)
			PUT(r, {NULL, IN_JSON, NUMBER_OF(c->values[(size_t)(m - c->metrics) * c->n_runs + f].mean)});
		json_close(r, "]}");
	}
	json_close(r, "]");
	if (n_sides > 1) {
		const struct difference d = difference(c, &sides[0], &sides[1]);

		put_difference(r, &d, &sides[0]);
	}
	json_close(r, "}");
}

static void csv_metric(struct record *r, const struct comparison *c, const struct subject *s, const char *title,
		       const struct metric *m)
{
	const struct side a = side_of(c, 0, m), b = side_of(c, 1, m);
	const struct difference d = difference(c, &a, &b);

	if (c->ranges)
		PUT(r, {"name", IN_CSV, TEXT_OF(title)}, {"domain", IN_CSV, TEXT_OF(c->all[s->first].domain)});
	else
		PUT(r, {"phase", IN_CSV, TEXT_OF(title)});
	put_metric(r, m);
	put_side(r, c, 0, &a);
	if (c->n_first < c->n_runs) {
		put_side(r, c, 1, &b);
		put_difference(r, &d, &a);
	}
	PUT(r, {"reason", IN_CSV, LABEL_OF(a.why ? a.why : b.why ? b.why : "")});
	record_line(r);
}

static void json_subject(struct record *r, const struct comparison *c, const struct subject *s, const char *title)
{
	const struct occurrence *x = &c->all[s->first];
	bool labelled = *x->label || subject_is_whole(c, s);

	record_line(r);
	json_open(r, NULL, '{');
	if (c->ranges)
		PUT(r, {"name", IN_JSON, TEXT_OF(title)}, {"domain", IN_JSON, TEXT_OF(x->domain)});
	else /* the key is needed beside the title, since a label may look like a title */
		PUT(r, {"phase", IN_JSON, TEXT_OF(title)}, {"label", IN_JSON, LABEL_OF(x->label)},
		    {"number", labelled ? 0 : IN_JSON, COUNT_OF(x->id)}, {"number", labelled ? IN_JSON : 0, LABEL_OF("")});
	json_open(r, "quantities", '[');
	for (size_t i = 0; i < c->n_metrics; i++)
		json_metric(r, c, &c->metrics[i]);
	json_close(r, "]}");
}

void put_comparison(struct record *r, struct comparison *c)
{
	char title[CELL_TEXT];

	if (!c->ok || (r->as == AS_JSON && c->n_subjects == 0))
		return;
	if (r->as == AS_JSON) {
		PUT(r, {"first_side", IN_JSON, COUNT_OF(c->n_first)});
		record_line(r);
		json_open(r, "comparison", '[');
	} else {
		r->as = AS_HEAD;
		csv_metric(r, c, &(struct subject) {0, 1, 0}, "", c->metrics);
		r->as = AS_CSV;
	}
	for (size_t s = 0; s < c->n_subjects; s++) {
		subject_load(c, &c->subjects[s]);
		subject_title(c, &c->subjects[s], false, title, sizeof(title));
		if (r->as == AS_JSON)
			json_subject(r, c, &c->subjects[s], title);
		for (size_t i = 0; r->as == AS_CSV && i < c->n_metrics; i++)
			csv_metric(r, c, &c->subjects[s], title, &c->metrics[i]);
	}
	if (r->as == AS_JSON)
		json_close(r, "]");
}

/* Of phases. */
static void compare(struct record *r, const struct analysis *list, size_t n, size_t n_first)
{
	struct comparison c = compare_make(list, n, n_first, true);

	put_comparison(r, &c);
	compare_free(&c);
}

void write_json(FILE *f, const struct analysis *list, size_t n, size_t n_first)
{
	struct record r = {.f = f, .as = AS_JSON};

	json_open(&r, NULL, '{');
	json_open(&r, "traces", '[');
	for (size_t i = 0; i < n; i++) {
		record_line(&r);
		json_trace(&r, &list[i]);
	}
	json_close(&r, "]");
	if (!list[0].brief && n > 1)
		compare(&r, list, n, n_first);
	fputs("}\n", f);
}

void write_csv(FILE *f, const struct analysis *list, size_t n, size_t n_first)
{
	struct record head = {.f = f, .as = AS_HEAD}, r = {.f = f, .as = AS_CSV};

	if (!list[0].brief && n > 1) {
		compare(&r, list, n, n_first);
		return;
	}
	csv_part(&head, &list[0], &list[0].whole);
	for (size_t k = 0; k < n; k++) {
		for (size_t i = 0; i < list[k].epochs.n; i++)
			csv_part(&r, &list[k], part_load(&list[k], i));
		csv_part(&r, &list[k], &list[k].whole);
	}
}
