/* CSV and JSON lines.  One table holds all tiers, so that their order in time is
 * kept and one file is one recording: a row has cells for its own tier's signals
 * and leaves the others empty. */
#include <math.h>
#include <time.h>

#include "util/clock.h"
#include "util/intl.h"
#include "report/export.h"

static const char *const causes[] = {[GAP_LATE] = "late", [GAP_LOST] = "lost"};

static int64_t since(const struct export *x, int64_t t_ns)
{
	return t_ns - x->session->start.mono_ns;
}

static const char *row_name(int tier)
{
	return tier == RESAMPLED ? "mean" : tier_name((enum tier)tier);
}

/* A time of another writer that is not in whole nanoseconds is printed as it is stored. */
static void row_time(struct export *x, const struct row *r)
{
	int64_t ns = since(x, r->t_ns);

	if (isfinite(r->seconds) && r->seconds != (double)ns / 1e9)
		put_num(x->f, r->seconds);
	else
		put_seconds(x->f, ns);
}

static void csv_left(struct export *x, const char *row, uint64_t epoch)
{
	putc(',', x->f);
	fputs(row, x->f);
	putc(',', x->f);
	fprintf(x->f, "%llu", (unsigned long long)epoch);
	putc(',', x->f);
}

static void csv_right(struct export *x)
{
	for (size_t i = 0; i < x->channels.n; i++)
		putc(',', x->f);
	putc('\n', x->f);
}

/* A row like others, since most readers know no comments. */
static void csv_start(struct export *x)
{
	int64_t ns = x->session->start.real_ns;
	time_t whole = (time_t)(ns / NS_PER_S);
	char day[32];
	struct tm tm;

	if (ns <= 0 || !gmtime_r(&whole, &tm) || strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		return;
	put_seconds(x->f, 0);
	csv_left(x, "start", x->epoch);
	fprintf(x->f, "%s.%09lldZ", day, (long long)(ns % NS_PER_S));
	csv_right(x);
}

static void csv_begin(struct export *x)
{
	fputs("time_s,row,epoch,event", x->f);
	for (size_t i = 0; i < x->channels.n; i++) {
		const struct channel *c = &x->session->channels[x->channels.list[i]];
		char name[sizeof(c->name) + 16];

		snprintf(name, sizeof(name), *unit_name(c->unit) ? "%s [%s]" : "%s%s", c->name,
			 unit_name(c->unit));
		putc(',', x->f);
		put_csv_text(x->f, name);
	}
	putc('\n', x->f);
	csv_start(x);
}

static void csv_row(struct export *x, const struct row *r)
{
	double v;

	row_time(x, r);
	csv_left(x, row_name(r->tier), x->epoch);
	for (size_t i = 0; i < x->channels.n; i++) {
		putc(',', x->f);
		if (!row_value(x, r, i, &v))
			continue;
		if (x->single[i])
			put_single(x->f, v);
		else
			put_num(x->f, v);
	}
	putc('\n', x->f);
}

static void csv_mark(struct export *x, const struct mark *m)
{
	put_seconds(x->f, since(x, m->t_ns));
	csv_left(x, "mark", m->id);
	put_csv_text(x->f, m->label);
	csv_right(x);
}

static void csv_gap(struct export *x, const struct gap *g)
{
	put_seconds(x->f, since(x, g->from_ns));
	csv_left(x, "gap", x->epoch);
	fprintf(x->f, "%s: %llu %s until ", tier_name(g->tier), (unsigned long long)g->missed,
		causes[g->cause]);
	put_seconds(x->f, since(x, g->to_ns));
	csv_right(x);
}

static void csv_change(struct export *x, const struct change *c)
{
	char text[CHANGE_TEXT];

	change_text(text, c);
	put_seconds(x->f, since(x, c->t_ns));
	csv_left(x, "change", x->epoch);
	put_csv_text(x->f, text);
	csv_right(x);
}

const struct form form_csv = {csv_begin, NULL, csv_row, csv_mark, csv_gap, NULL, csv_change};

static void jsonl_channel(FILE *o, const struct channel *c)
{
	fputs("{\"name\":", o);
	put_json_text(o, c->name);
	fputs(",\"label\":", o);
	put_json_text(o, c->label);
	fputs(",\"unit\":", o);
	put_json_text(o, unit_name(c->unit));
	fputs(",\"tier\":", o);
	put_json_text(o, tier_name(c->tier));
	fputs(",\"source\":", o);
	put_json_text(o, c->source);
	fputs(",\"note\":", o);
	put_json_text(o, c->note);
	fputs(",\"missing\":", o);
	put_json_text(o, c->missing);
	putc('}', o);
}

static void jsonl_begin(struct export *x)
{
	const struct session *s = x->session;
	FILE *o = x->f;

	fputs("{\"trace\":{\"start\":{\"monotonic_ns\":", o);
	fprintf(o, "%llu", (unsigned long long)(uint64_t)s->start.mono_ns);
	fprintf(o, ",\"realtime_ns\":%lld,\"boottime_ns\":%lld},\"hz\":{", (long long)s->start.real_ns,
		(long long)s->start.boot_ns);
	for (int t = 0; t < TIERS; t++) {
		fprintf(o, "%s\"%s\":", t ? "," : "", tier_name((enum tier)t));
		put_json_num(o, s->hz[t]);
	}
	fputs("},\"facts\":{", o);
	for (size_t i = 0; i < s->n_facts; i++) {
		if (i)
			putc(',', o);
		put_json_text(o, s->facts[i].key);
		putc(':', o);
		put_json_text(o, s->facts[i].value);
	}
	fputs("},\"signals\":[", o);
	for (size_t i = 0; i < x->channels.n; i++) {
		if (i)
			putc(',', o);
		jsonl_channel(o, &s->channels[x->channels.list[i]]);
	}
	fputs("]}}\n", o);
}

static void jsonl_left(struct export *x, int64_t t_ns, const struct row *r, const char *row, uint64_t epoch)
{
	fputs("{\"time_s\":", x->f);
	if (r)
		row_time(x, r);
	else
		put_seconds(x->f, since(x, t_ns));
	fputs(",\"row\":\"", x->f);
	fputs(row, x->f);
	fputs("\",\"epoch\":", x->f);
	fprintf(x->f, "%llu", (unsigned long long)epoch);
}

static void jsonl_row(struct export *x, const struct row *r)
{
	double v;

	jsonl_left(x, r->t_ns, r, row_name(r->tier), x->epoch);
	for (size_t i = 0; i < x->channels.n; i++) {
		if (!row_value(x, r, i, &v))
			continue;
		putc(',', x->f);
		put_json_text(x->f, x->session->channels[x->channels.list[i]].name);
		putc(':', x->f);
		if (x->single[i] && isfinite(v))
			put_single(x->f, v);
		else
			put_json_num(x->f, v);
	}
	fputs("}\n", x->f);
}

static void jsonl_mark(struct export *x, const struct mark *m)
{
	jsonl_left(x, m->t_ns, NULL, "mark", m->id);
	fputs(",\"label\":", x->f);
	put_json_text(x->f, m->label);
	fputs("}\n", x->f);
}

static void jsonl_gap(struct export *x, const struct gap *g)
{
	jsonl_left(x, g->from_ns, NULL, "gap", x->epoch);
	fprintf(x->f, ",\"tier\":\"%s\",\"cause\":\"%s\",\"missed\":%llu,\"to_s\":", tier_name(g->tier),
		causes[g->cause], (unsigned long long)g->missed);
	put_seconds(x->f, since(x, g->to_ns));
	fputs("}\n", x->f);
}

static void jsonl_change(struct export *x, const struct change *c)
{
	jsonl_left(x, c->t_ns, NULL, "change", x->epoch);
	put_json_member(x->f, "what", c->what);
	put_json_member(x->f, "from", c->from);
	put_json_member(x->f, "to", c->to);
	fputs("}\n", x->f);
}

const struct form form_jsonl = {jsonl_begin, NULL, jsonl_row, jsonl_mark, jsonl_gap, NULL, jsonl_change};
