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

/* A time that another writer did not have in whole nanoseconds is told as it is in the trace. */
static void row_time(struct export *x, const struct row *r)
{
	int64_t ns = since(x, r->t_ns);

	if (isfinite(r->seconds) && r->seconds != (double)ns / 1e9)
		out_num(&x->out, r->seconds);
	else
		out_seconds(&x->out, ns);
}

static void csv_left(struct export *x, const char *row, uint64_t epoch)
{
	out_char(&x->out, ',');
	out_text(&x->out, row);
	out_char(&x->out, ',');
	out_int(&x->out, epoch);
	out_char(&x->out, ',');
}

static void csv_right(struct export *x)
{
	for (size_t i = 0; i < x->channels.n; i++)
		out_char(&x->out, ',');
	out_char(&x->out, '\n');
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
	out_seconds(&x->out, 0);
	csv_left(x, "start", x->epoch);
	out_format(&x->out, "%s.%09lldZ", day, (long long)(ns % NS_PER_S));
	csv_right(x);
}

static void csv_begin(struct export *x)
{
	out_text(&x->out, "time_s,row,epoch,event");
	for (size_t i = 0; i < x->channels.n; i++) {
		const struct channel *c = &x->session->channels[x->channels.list[i]];
		char name[sizeof(c->name) + 16];

		snprintf(name, sizeof(name), *unit_name(c->unit) ? "%s [%s]" : "%s%s", c->name,
			 unit_name(c->unit));
		out_char(&x->out, ',');
		out_csv_text(&x->out, name);
	}
	out_char(&x->out, '\n');
	csv_start(x);
}

static void csv_row(struct export *x, const struct row *r)
{
	double v;

	row_time(x, r);
	csv_left(x, row_name(r->tier), x->epoch);
	for (size_t i = 0; i < x->channels.n; i++) {
		out_char(&x->out, ',');
		if (!row_value(x, r, i, &v))
			continue;
		if (x->single[i])
			out_single(&x->out, v);
		else
			out_num(&x->out, v);
	}
	out_char(&x->out, '\n');
}

static void csv_mark(struct export *x, const struct mark *m)
{
	out_seconds(&x->out, since(x, m->t_ns));
	csv_left(x, "mark", m->id);
	out_csv_text(&x->out, m->label);
	csv_right(x);
}

static void csv_gap(struct export *x, const struct gap *g)
{
	out_seconds(&x->out, since(x, g->from_ns));
	csv_left(x, "gap", x->epoch);
	out_format(&x->out, "%s: %llu %s until ", tier_name(g->tier), (unsigned long long)g->missed,
		   causes[g->cause]);
	out_seconds(&x->out, since(x, g->to_ns));
	csv_right(x);
}

static void csv_change(struct export *x, const struct change *c)
{
	char text[CHANGE_TEXT];

	change_text(text, c);
	out_seconds(&x->out, since(x, c->t_ns));
	csv_left(x, "change", x->epoch);
	out_csv_text(&x->out, text);
	csv_right(x);
}

const struct form form_csv = {csv_begin, NULL, csv_row, csv_mark, csv_gap, NULL, csv_change};

static void jsonl_channel(struct out *o, const struct channel *c)
{
	out_text(o, "{\"name\":");
	out_json_text(o, c->name);
	out_text(o, ",\"label\":");
	out_json_text(o, c->label);
	out_text(o, ",\"unit\":");
	out_json_text(o, unit_name(c->unit));
	out_text(o, ",\"tier\":");
	out_json_text(o, tier_name(c->tier));
	out_text(o, ",\"source\":");
	out_json_text(o, c->source);
	out_text(o, ",\"note\":");
	out_json_text(o, c->note);
	out_text(o, ",\"missing\":");
	out_json_text(o, c->missing);
	out_char(o, '}');
}

static void jsonl_begin(struct export *x)
{
	const struct session *s = x->session;
	struct out *o = &x->out;

	out_text(o, "{\"trace\":{\"start\":{\"monotonic_ns\":");
	out_int(o, (uint64_t)s->start.mono_ns);
	out_format(o, ",\"realtime_ns\":%lld,\"boottime_ns\":%lld},\"hz\":{", (long long)s->start.real_ns,
		   (long long)s->start.boot_ns);
	for (int t = 0; t < TIERS; t++) {
		out_format(o, "%s\"%s\":", t ? "," : "", tier_name((enum tier)t));
		out_json_num(o, s->hz[t]);
	}
	out_text(o, "},\"facts\":{");
	for (size_t i = 0; i < s->n_facts; i++) {
		if (i)
			out_char(o, ',');
		out_json_text(o, s->facts[i].key);
		out_char(o, ':');
		out_json_text(o, s->facts[i].value);
	}
	out_text(o, "},\"signals\":[");
	for (size_t i = 0; i < x->channels.n; i++) {
		if (i)
			out_char(o, ',');
		jsonl_channel(o, &s->channels[x->channels.list[i]]);
	}
	out_text(o, "]}}\n");
}

static void jsonl_left(struct export *x, int64_t t_ns, const struct row *r, const char *row, uint64_t epoch)
{
	out_text(&x->out, "{\"time_s\":");
	if (r)
		row_time(x, r);
	else
		out_seconds(&x->out, since(x, t_ns));
	out_text(&x->out, ",\"row\":\"");
	out_text(&x->out, row);
	out_text(&x->out, "\",\"epoch\":");
	out_int(&x->out, epoch);
}

static void jsonl_row(struct export *x, const struct row *r)
{
	double v;

	jsonl_left(x, r->t_ns, r, row_name(r->tier), x->epoch);
	for (size_t i = 0; i < x->channels.n; i++) {
		if (!row_value(x, r, i, &v))
			continue;
		out_char(&x->out, ',');
		out_json_text(&x->out, x->session->channels[x->channels.list[i]].name);
		out_char(&x->out, ':');
		if (x->single[i] && isfinite(v))
			out_single(&x->out, v);
		else
			out_json_num(&x->out, v);
	}
	out_text(&x->out, "}\n");
}

static void jsonl_mark(struct export *x, const struct mark *m)
{
	jsonl_left(x, m->t_ns, NULL, "mark", m->id);
	out_text(&x->out, ",\"label\":");
	out_json_text(&x->out, m->label);
	out_text(&x->out, "}\n");
}

static void jsonl_gap(struct export *x, const struct gap *g)
{
	jsonl_left(x, g->from_ns, NULL, "gap", x->epoch);
	out_format(&x->out, ",\"tier\":\"%s\",\"cause\":\"%s\",\"missed\":%llu,\"to_s\":", tier_name(g->tier),
		   causes[g->cause], (unsigned long long)g->missed);
	out_seconds(&x->out, since(x, g->to_ns));
	out_text(&x->out, "}\n");
}

static void jsonl_change(struct export *x, const struct change *c)
{
	jsonl_left(x, c->t_ns, NULL, "change", x->epoch);
	out_json_member(&x->out, "what", c->what);
	out_json_member(&x->out, "from", c->from);
	out_json_member(&x->out, "to", c->to);
	out_text(&x->out, "}\n");
}

const struct form form_jsonl = {jsonl_begin, NULL, jsonl_row, jsonl_mark, jsonl_gap, NULL, jsonl_change};
