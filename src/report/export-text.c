/* CSV and JSON lines. One table has the rows of all tiers in time order, so that one file is one
 * recording; a row fills only the cells of its tier's signals. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "util/clock.h"
#include "util/intl.h"
#include "report/export.h"

const char *const gap_causes[] = {[GAP_LATE] = "late", [GAP_LOST] = "lost", [GAP_ABSENT] = "absent"};

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
	put_seconds(x->f, since(x, t_ns));
	fprintf(x->f, ",%s,%llu,", row, (unsigned long long)epoch);
}

/* What a range has besides its begin and name; in CSV the columns after those of the signals, which only a
 * recording with ranges has. */
static void put_range(struct export *x, struct record *to, const struct range *r)
{
	char colour[16] = "";
	double v;

	if (r->colour)
		snprintf(colour, sizeof(colour), "#%06x", (unsigned)(r->colour & 0xFFFFFF));
	PUT(to, {"end_s", IN_BOTH, TIME_OF(since(x, r->end_ns))}, {"domain", IN_BOTH, TEXT_OF(r->lane->domain)},
	    {"category", IN_BOTH, TEXT_OF(r->category ? r->category : "")},
	    {"process", IN_BOTH, TEXT_OF(r->lane->process)}, {"pid", IN_BOTH, COUNT_OF(r->lane->pid)},
	    {"thread", IN_BOTH, TEXT_OF(r->lane->thread)}, {"tid", IN_BOTH, COUNT_OF(r->lane->tid)},
	    {"depth", IN_BOTH, COUNT_OF(r->depth)}, {"colour", IN_BOTH, LABEL_OF(colour)},
	    {"open", IN_BOTH, TRUTH_OF(r->flags & RANGE_OPEN)});
	record_key(to, "payload");
	memcpy(&v, &r->value, sizeof(v));
	if (to->as == AS_HEAD)
		return;
	if (r->payload == RANGE_UNSIGNED)
		fprintf(x->f, "%llu", (unsigned long long)r->value);
	else if (r->payload == RANGE_SIGNED)
		fprintf(x->f, "%lld", (long long)r->value);
	else if (to->as == AS_JSON)
		put_json_num(x->f, r->payload ? v : NAN);
	else if (r->payload)
		put_num(x->f, v);
}

static void csv_end(struct export *x)
{
	fputs(x->has_ranges ? ",,,,,,,,,,,\n" : "\n", x->f);
}

static void csv_right(struct export *x)
{
	for (size_t i = 0; i < x->channels.n; i++)
		putc(',', x->f);
	csv_end(x);
}

/* A normal row, since most readers do not support comments. */
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
	fputs("time_s,row,phase,event", x->f);
	for (size_t i = 0; i < x->channels.n; i++) {
		const struct channel *c = &x->session->channels[x->channels.list[i]];
		char name[sizeof(c->name) + 16];

		snprintf(name, sizeof(name), *unit_name(c->unit) ? "%s [%s]" : "%s%s", c->name,
			 unit_name(c->unit));
		putc(',', x->f);
		put_csv_text(x->f, name);
	}
	if (x->has_ranges)
		put_range(x, &(struct record) {.f = x->f, .as = AS_HEAD, .comma = true},
			  &(struct range) {.lane = &(struct range_lane) {.pid = 0}});
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
		if (x->places[i].single)
			put_single(x->f, v);
		else
			put_num(x->f, v);
	}
	csv_end(x);
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
		gap_causes[g->cause]);
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

static void csv_range(struct export *x, const struct range *r)
{
	csv_left(x, r->begin_ns, "range", x->epoch);
	put_csv_text(x->f, r->name);
	for (size_t i = 0; i < x->channels.n; i++)
		putc(',', x->f);
	put_range(x, &(struct record) {.f = x->f, .as = AS_CSV, .comma = true}, r);
	putc('\n', x->f);
}

const struct form form_csv = {csv_begin, NULL, csv_row, csv_mark, csv_gap, NULL, csv_change, csv_range};

static void jsonl_begin(struct export *x)
{
	const struct session *s = x->session;
	struct record r = {.f = x->f};

	json_open(&r, NULL, '{');
	json_open(&r, "trace", '{');
	json_open(&r, "start", '{');
	PUT(&r, {"monotonic_ns", IN_JSON, COUNT_OF(s->start.mono_ns)},
	    {"realtime_ns", IN_JSON, COUNT_OF(s->start.real_ns)},
	    {"boottime_ns", IN_JSON, COUNT_OF(s->start.boot_ns)});
	json_close(&r, "}");
	json_open(&r, "hz", '{');
	for (int t = 0; t < TIERS; t++)
		PUT(&r, {tier_name((enum tier)t), IN_JSON, NUMBER_OF(s->hz[t])});
	json_close(&r, "}");
	json_open(&r, "facts", '{');
	for (size_t i = 0; i < s->n_facts; i++)
		PUT(&r, {s->facts[i].key, IN_JSON, TEXT_OF(s->facts[i].value)});
	json_close(&r, "}");
	json_open(&r, "signals", '[');
	for (size_t i = 0; i < x->channels.n; i++) {
		const struct channel *c = &s->channels[x->channels.list[i]];

		json_open(&r, NULL, '{');
		PUT(&r, {"name", IN_JSON, TEXT_OF(c->name)}, {"label", IN_JSON, TEXT_OF(c->label)},
		    {"unit", IN_JSON, TEXT_OF(unit_name(c->unit))},
		    {"tier", IN_JSON, TEXT_OF(tier_name(c->tier))}, {"source", IN_JSON, TEXT_OF(c->source)},
		    {"note", IN_JSON, TEXT_OF(c->note)}, {"missing", IN_JSON, TEXT_OF(c->missing)});
		json_close(&r, "}");
	}
	json_close(&r, "]}}");
	putc('\n', x->f);
}

static struct record jsonl_left(struct export *x, int64_t t_ns, const char *row, uint64_t epoch)
{
	struct record r = {.f = x->f};

	json_open(&r, NULL, '{');
	PUT(&r, {"time_s", IN_JSON, TIME_OF(since(x, t_ns))}, {"row", IN_JSON, TEXT_OF(row)},
	    {"phase", IN_JSON, COUNT_OF(epoch)});
	return r;
}

static void jsonl_row(struct export *x, const struct row *row)
{
	struct record r = jsonl_left(x, row->t_ns, row_name(row->tier), x->epoch);
	double v;

	for (size_t i = 0; i < x->channels.n; i++) {
		if (!row_value(x, row, i, &v))
			continue;
		record_key(&r, x->session->channels[x->channels.list[i]].name);
		if (x->places[i].single && isfinite(v))
			put_single(x->f, v);
		else
			put_json_num(x->f, v);
	}
	json_close(&r, "}");
	putc('\n', x->f);
}

static void jsonl_mark(struct export *x, const struct mark *m)
{
	struct record r = jsonl_left(x, m->t_ns, "mark", m->id);

	PUT(&r, {"label", IN_JSON, TEXT_OF(m->label)});
	json_close(&r, "}");
	putc('\n', x->f);
}

static void jsonl_gap(struct export *x, const struct gap *g)
{
	struct record r = jsonl_left(x, g->from_ns, "gap", x->epoch);

	PUT(&r, {"tier", IN_JSON, TEXT_OF(tier_name(g->tier))}, {"cause", IN_JSON, TEXT_OF(gap_causes[g->cause])},
	    {"missed", IN_JSON, COUNT_OF(g->missed)}, {"to_s", IN_JSON, TIME_OF(since(x, g->to_ns))});
	json_close(&r, "}");
	putc('\n', x->f);
}

static void jsonl_change(struct export *x, const struct change *c)
{
	struct record r = jsonl_left(x, c->t_ns, "change", x->epoch);

	PUT(&r, {"what", IN_JSON, LABEL_OF(c->what)}, {"from", IN_JSON, LABEL_OF(c->from)},
	    {"to", IN_JSON, LABEL_OF(c->to)});
	json_close(&r, "}");
	putc('\n', x->f);
}

static void jsonl_range(struct export *x, const struct range *range)
{
	struct record r = jsonl_left(x, range->begin_ns, "range", x->epoch);

	PUT(&r, {"name", IN_JSON, TEXT_OF(range->name)});
	put_range(x, &r, range);
	json_close(&r, "}");
	putc('\n', x->f);
}

const struct form form_jsonl = {jsonl_begin, NULL, jsonl_row, jsonl_mark, jsonl_gap, NULL, jsonl_change, jsonl_range};
