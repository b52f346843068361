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

static void csv_left(struct export *x, int64_t t_ns, const char *row, uint64_t epoch)
{
	put_seconds(x->f, t_ns - x->session->start.mono_ns);
	fprintf(x->f, ",%s,%llu,", row, (unsigned long long)epoch);
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
	csv_left(x, x->session->start.mono_ns, "start", x->epoch);
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

	csv_left(x, r->t_ns, row_name(r->tier), x->epoch);
	for (size_t i = 0; i < x->channels.n; i++) {
		putc_unlocked(',', x->f);
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
	csv_left(x, m->t_ns, "mark", m->id);
	put_csv_text(x->f, m->label);
	csv_right(x);
}

static void csv_gap(struct export *x, const struct gap *g)
{
	csv_left(x, g->from_ns, "gap", x->epoch);
	fprintf(x->f, "%s: %llu %s until ", tier_name(g->tier), (unsigned long long)g->missed,
		causes[g->cause]);
	put_seconds(x->f, since(x, g->to_ns));
	csv_right(x);
}

static void csv_change(struct export *x, const struct change *c)
{
	char text[CHANGE_TEXT];

	change_text(text, c);
	csv_left(x, c->t_ns, "change", x->epoch);
	put_csv_text(x->f, text);
	csv_right(x);
}

const struct form form_csv = {csv_begin, NULL, csv_row, csv_mark, csv_gap, NULL, csv_change};

static void jsonl_channel(FILE *o, const struct channel *c)
{
	put_json_string(o, "{\"name\":", c->name);
	put_json_string(o, ",\"label\":", c->label);
	put_json_string(o, ",\"unit\":", unit_name(c->unit));
	put_json_string(o, ",\"tier\":", tier_name(c->tier));
	put_json_string(o, ",\"source\":", c->source);
	put_json_string(o, ",\"note\":", c->note);
	put_json_string(o, ",\"missing\":", c->missing);
	putc('}', o);
}

static void jsonl_begin(struct export *x)
{
	const struct session *s = x->session;
	FILE *o = x->f;

	fprintf(o,
		"{\"trace\":{\"start\":{\"monotonic_ns\":%llu,\"realtime_ns\":%lld,\"boottime_ns\":%lld},"
		"\"hz\":{",
		(unsigned long long)s->start.mono_ns, (long long)s->start.real_ns,
		(long long)s->start.boot_ns);
	for (int t = 0; t < TIERS; t++) {
		fprintf(o, "%s\"%s\":", t ? "," : "", tier_name((enum tier)t));
		put_json_num(o, s->hz[t]);
	}
	fputs("},\"facts\":{", o);
	for (size_t i = 0; i < s->n_facts; i++) {
		put_json_string(o, i ? "," : "", s->facts[i].key);
		put_json_string(o, ":", s->facts[i].value);
	}
	fputs("},\"signals\":[", o);
	for (size_t i = 0; i < x->channels.n; i++) {
		if (i)
			putc(',', o);
		jsonl_channel(o, &s->channels[x->channels.list[i]]);
	}
	fputs("]}}\n", o);
}

static void jsonl_left(struct export *x, int64_t t_ns, const char *row, uint64_t epoch)
{
	fputs("{\"time_s\":", x->f);
	put_seconds(x->f, since(x, t_ns));
	fprintf(x->f, ",\"row\":\"%s\",\"epoch\":%llu", row, (unsigned long long)epoch);
}

static void jsonl_row(struct export *x, const struct row *r)
{
	double v;

	jsonl_left(x, r->t_ns, row_name(r->tier), x->epoch);
	for (size_t i = 0; i < x->channels.n; i++) {
		if (!row_value(x, r, i, &v))
			continue;
		put_json_string(x->f, ",", x->session->channels[x->channels.list[i]].name);
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
	jsonl_left(x, m->t_ns, "mark", m->id);
	put_json_string(x->f, ",\"label\":", m->label);
	fputs("}\n", x->f);
}

static void jsonl_gap(struct export *x, const struct gap *g)
{
	jsonl_left(x, g->from_ns, "gap", x->epoch);
	fprintf(x->f, ",\"tier\":\"%s\",\"cause\":\"%s\",\"missed\":%llu,\"to_s\":", tier_name(g->tier),
		causes[g->cause], (unsigned long long)g->missed);
	put_seconds(x->f, since(x, g->to_ns));
	fputs("}\n", x->f);
}

static void jsonl_change(struct export *x, const struct change *c)
{
	jsonl_left(x, c->t_ns, "change", x->epoch);
	put_json_member(x->f, "what", c->what);
	put_json_member(x->f, "from", c->from);
	put_json_member(x->f, "to", c->to);
	fputs("}\n", x->f);
}

const struct form form_jsonl = {jsonl_begin, NULL, jsonl_row, jsonl_mark, jsonl_gap, NULL, jsonl_change};
