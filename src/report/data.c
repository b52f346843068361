/* JSON and CSV: every number exact and in the unit of its channel. */
#include <math.h>
#include <string.h>

#include "report/analysis.h"

static void member(FILE *o, const char *name, double v)
{
	fprintf(o, ",\"%s\":", name);
	put_json_num(o, v);
}

static void text_member(FILE *o, const char *name, const char *text)
{
	fprintf(o, ",\"%s\":", name);
	put_json_text(o, text ? text : "");
}

static void seconds_member(FILE *o, const char *name, int64_t ns)
{
	fprintf(o, ",\"%s\":", name);
	put_seconds(o, ns);
}

#define STATISTIC_PLACE(name, q) {#name, offsetof(struct result, name)},
static const struct {
	const char *name;
	size_t at;
} stats[] = {STATISTICS(STATISTIC_PLACE)};

static void json_ticks(FILE *o, const struct part *p)
{
	fputs(",\"ticks\":{", o);
	for (int t = 0; t < TIERS; t++) {
		const struct ticks *k = &p->ticks[t];

		fprintf(o, "%s\"%s\":{\"samples\":%llu,\"late\":%llu,\"lost\":%llu,\"gaps\":%llu",
			t ? "," : "", tier_name((enum tier)t), (unsigned long long)k->rows,
			(unsigned long long)k->late, (unsigned long long)k->lost,
			(unsigned long long)k->gaps);
		seconds_member(o, "longest_gap_s", k->longest_ns);
		putc('}', o);
	}
	putc('}', o);
}

static void json_signal(FILE *o, const struct analysis *a, const struct part *p, size_t i)
{
	const struct channel *c = channel_of(a, i);
	const struct result *r = &p->results[i];

	put_json_string(o, "{\"name\":", c->name);
	text_member(o, "unit", unit_name(c->unit));
	text_member(o, "tier", tier_name(c->tier));
	fprintf(o, ",\"samples\":%llu,\"missing\":%llu", (unsigned long long)r->n,
		(unsigned long long)r->missing);
	member(o, "mean", mean_of(r));
	if (!isnan(r->counted))
		text_member(o, "mean_of", "counters");
	for (size_t k = 0; k < N_STATISTICS; k++)
		member(o, stats[k].name, *(const double *)((const char *)r + stats[k].at));
	if (c->unit == UNIT_MILLIWATT) {
		member(o, "energy_j", energy_of(a, p, i));
		member(o, "energy_within_j", within_of(a, p, i));
		seconds_member(o, "read_every_s", reading_ns(a->session, c));
		member(o, "mean_power_w", mean_power(a, p, i));
		seconds_member(o, "covered_s", r->covered_ns);
		if (items_of(a, p) > 0)
			member(o, "energy_per_item_j", item_energy(a, p, i));
	}
	if (c->unit == UNIT_CELSIUS || channel_counts(c))
		member(o, "rise", rise_of(a, p, i));
	if (c->kind == CHANNEL_THROTTLE) {
		member(o, "throttled_s", throttled_of(a, p, i));
		seconds_member(o, "covered_s", r->covered_ns);
	}
	if (c->kind == CHANNEL_THROTTLE_COUNT)
		member(o, "events", r->n > 0 ? r->steps : NAN);
	if (r->n == 0 && c->missing[0])
		text_member(o, "reason", c->missing);
	putc('}', o);
}

static void json_keys(FILE *o, const struct analysis *a, const struct part *p)
{
	const struct result *power = key_of(a, p, KEY_POWER), *gpu = key_of(a, p, KEY_GPU),
			    *hottest = key_of(a, p, KEY_HOTTEST);

	if (power) {
		text_member(o, "power", a->session->channels[a->key[KEY_POWER]].name);
		member(o, "energy_j", joules_of(power));
		member(o, "energy_within_j", power->within / 1e3);
		member(o, "mean_power_w", watts_of(power));
		seconds_member(o, "covered_s", power->covered_ns);
	}
	member(o, "gpu_percent", gpu ? mean_of(gpu) : NAN);
	member(o, "hottest_c", hottest ? hottest->max : NAN);
}

static void json_part(FILE *o, const struct analysis *a, const struct part *p)
{
	int64_t start = a->session->start.mono_ns;

	if (p == &a->whole)
		fputs("{\"epoch\":null", o);
	else
		fprintf(o, "{\"epoch\":%llu", (unsigned long long)p->epoch.id);
	text_member(o, "label", p->epoch.label);
	seconds_member(o, "from_s", p->epoch.from_ns - start);
	seconds_member(o, "to_s", p->epoch.to_ns - start);
	seconds_member(o, "duration_s", p->duration_ns);
	json_ticks(o, p);
	if (items_of(a, p) > 0) {
		member(o, "items", items_of(a, p));
		member(o, "s_per_item", (double)p->duration_ns / 1e9 / items_of(a, p));
	}
	json_keys(o, a, p);
	if (a->brief) {
		putc('}', o);
		return;
	}
	fputs(",\"signals\":[", o);
	for (size_t i = 0; i < a->channels.n; i++) {
		if (i > 0)
			putc(',', o);
		json_signal(o, a, p, i);
	}
	fputs("]}", o);
}

static void json_changes(FILE *o, const struct analysis *a)
{
	size_t n;
	const struct change *list = trace_changes(a->trace, &n);

	fputs(",\"changes\":[", o);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",{\"time_s\":" : "{\"time_s\":", o);
		put_seconds(o, list[i].t_ns - a->session->start.mono_ns);
		put_json_member(o, "what", list[i].what);
		put_json_member(o, "from", list[i].from);
		put_json_member(o, "to", list[i].to);
		putc('}', o);
	}
	putc(']', o);
}

static void json_trace(FILE *o, const struct analysis *a)
{
	const struct session *s = a->session;
	char path[4096];

	put_json_string(o, "{\"file\":", shown_path(a->trace, path, sizeof(path)));
	text_member(o, "board", fact_get(s->facts, s->n_facts, "board"));
	text_member(o, "title", fact_get(s->facts, s->n_facts, "title"));
	if (s->start.real_ns)
		fprintf(o, ",\"start_realtime_ns\":%lld", (long long)s->start.real_ns);
	text_member(o, "gaps_from", a->counted ? "trace" : "times");
	json_changes(o, a);
	fputs(",\"epochs\":[", o);
	for (size_t i = 0; i < a->epochs.n; i++) {
		if (i > 0)
			fputs(",\n", o);
		json_part(o, a, part_load(a, i));
	}
	fputs("],\n\"whole\":", o);
	json_part(o, a, &a->whole);
	putc('}', o);
}

void write_json(FILE *o, const struct analysis *list, size_t n)
{
	fputs("{\"traces\":[", o);
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			fputs(",\n", o);
		json_trace(o, &list[i]);
	}
	putc(']', o);
	if (!list[0].brief && compare_wanted(list, n)) {
		fputs(",\n\"comparison\":", o);
		compare_json(o, list, n);
	}
	fputs("}\n", o);
}

static void cell(FILE *o, double v)
{
	putc(',', o);
	put_num(o, v);
}

/* The leading columns: file and phase. */
static void csv_phase(FILE *o, const struct analysis *a, const struct part *p)
{
	int64_t start = a->session->start.mono_ns;
	char path[4096];

	put_csv_text(o, shown_path(a->trace, path, sizeof(path)));
	putc(',', o);
	if (p == &a->whole)
		fputs("whole", o);
	else
		fprintf(o, "%llu", (unsigned long long)p->epoch.id);
	putc(',', o);
	put_csv_text(o, p->epoch.label);
	putc(',', o);
	put_seconds(o, p->epoch.from_ns - start);
	putc(',', o);
	put_seconds(o, p->epoch.to_ns - start);
	putc(',', o);
	put_seconds(o, p->duration_ns);
}

/* The table by phase. */
static void csv_keys(FILE *o, const struct analysis *a, const struct part *p)
{
	const struct result *power = key_of(a, p, KEY_POWER), *gpu = key_of(a, p, KEY_GPU),
			    *hottest = key_of(a, p, KEY_HOTTEST);

	csv_phase(o, a, p);
	putc(',', o);
	put_csv_text(o, power ? a->session->channels[a->key[KEY_POWER]].name : "");
	cell(o, power ? joules_of(power) : NAN);
	cell(o, power ? watts_of(power) : NAN);
	putc(',', o);
	if (power)
		put_seconds(o, power->covered_ns);
	cell(o, gpu ? mean_of(gpu) : NAN);
	cell(o, hottest ? hottest->max : NAN);
	putc('\n', o);
}

void write_csv_phases(FILE *o, const struct analysis *list, size_t n)
{
	fputs("file,epoch,label,from_s,to_s,duration_s,power,energy_j,mean_power_w,covered_s,"
	      "gpu_percent,hottest_c\n",
	      o);
	for (size_t f = 0; f < n; f++) {
		for (size_t i = 0; i < list[f].epochs.n; i++)
			csv_keys(o, &list[f], part_load(&list[f], i));
		csv_keys(o, &list[f], &list[f].whole);
	}
}

static void csv_signal(FILE *o, const struct analysis *a, const struct part *p, size_t i)
{
	const struct channel *c = channel_of(a, i);
	const struct result *r = &p->results[i];
	const struct ticks *k = &p->ticks[c->tier];

	csv_phase(o, a, p);
	putc(',', o);
	put_csv_text(o, c->name);
	fprintf(o, ",%s,%s", unit_name(c->unit), tier_name(c->tier));
	fprintf(o, ",%llu,%llu,%llu,%llu,%llu", (unsigned long long)r->n, (unsigned long long)r->missing,
		(unsigned long long)k->late, (unsigned long long)k->lost, (unsigned long long)k->gaps);
	cell(o, mean_of(r));
	for (size_t s = 0; s < N_STATISTICS; s++)
		cell(o, *(const double *)((const char *)r + stats[s].at));
	cell(o, energy_of(a, p, i));
	cell(o, c->unit == UNIT_MILLIWATT ? mean_power(a, p, i) : NAN);
	putc(',', o);
	if (!isnan(r->integral))
		put_seconds(o, r->covered_ns);
	cell(o, rise_of(a, p, i));
	cell(o, throttled_of(a, p, i));
	cell(o, c->kind == CHANNEL_THROTTLE_COUNT && r->n > 0 ? r->steps : NAN);
	cell(o, items_of(a, p) > 0 ? items_of(a, p) : NAN);
	cell(o, items_of(a, p) > 0 ? (double)p->duration_ns / 1e9 / items_of(a, p) : NAN);
	cell(o, items_of(a, p) > 0 ? item_energy(a, p, i) : NAN);
	cell(o, within_of(a, p, i));
	cell(o, c->unit == UNIT_MILLIWATT ? (double)reading_ns(a->session, c) / 1e9 : NAN);
	putc('\n', o);
}

static void csv_part(FILE *o, const struct analysis *a, const struct part *p)
{
	for (size_t i = 0; i < a->channels.n; i++)
		csv_signal(o, a, p, i);
}

#define STATISTIC_HEAD(name, q) #name ","
void write_csv(FILE *o, const struct analysis *list, size_t n)
{
	fputs("file,epoch,label,from_s,to_s,duration_s,signal,unit,tier,samples,missing,late,lost,gaps,"
	      "mean," STATISTICS(STATISTIC_HEAD) "energy_j,mean_power_w,covered_s,rise,throttled_s,events,items,s_per_"
	      "item,"
	      "energy_per_item_j,energy_within_j,read_every_s\n",
	      o);
	for (size_t f = 0; f < n; f++) {
		for (size_t i = 0; i < list[f].epochs.n; i++)
			csv_part(o, &list[f], part_load(&list[f], i));
		csv_part(o, &list[f], &list[f].whole);
	}
}
