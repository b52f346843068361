/* Reports of one trace as text or Markdown: the phases and the whole first, everything on request. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/intl.h"
#include "util/num.h"
#include "util/text.h"
#include "report/analysis.h"

#define STATS 7
#define YEAR_2000_S INT64_C(946684800)
#define CLOCK_MOST_S 4e9 /* of a step of the clock; a century */

/* A sentence or a title on a separate line. */
static void title(const struct page *o, const char *hashes, const char *text)
{
	if (o->markdown)
		fprintf(o->f, "%s %s\n\n", hashes, text);
	else
		fprintf(o->f, "%s\n", text);
}

static double seconds_at(const struct analysis *a, int64_t t_ns)
{
	return (double)(t_ns - a->session->start.mono_ns) / 1e9;
}

/* Adds the row of a channel if the table has one. */
typedef void row_fn(struct table *t, const struct analysis *a, const struct part *p, size_t i);

static void table_of(struct table *t, const struct analysis *a, const struct part *p, row_fn *row)
{
	for (size_t i = 0; i < a->channels.n; i++)
		row(t, a, p, i);
	if (t->rows)
		putc('\n', t->page->f);
}

static void stats_row(struct table *t, const struct analysis *a, const struct part *p, size_t i)
{
	const struct channel *c = channel_of(a, i);
	const struct result *r = &p->results[i];
	double largest = fmax(fabs(r->min), fabs(r->max));
	struct shown u = shown_unit(c, largest);
	const double v[STATS] = {mean_of(r), r->sd, r->min, r->p50, r->p95, r->p99, r->max};

	if (r->n == 0 || channel_counts(c))
		return;
	cell_text(t, c->name);
	for (int k = 0; k < STATS; k++)
		cell_shown(t, v[k] * u.factor, largest * u.factor);
	cell_text(t, u.unit);
}

/* Seconds of a part for which power is not known; those at its edges do not count. */
static double unknown_of(const struct analysis *a, const struct part *p, size_t i)
{
	double unknown = seconds_of(p) - p->results[i].energy.known_s;

	return unknown > (double)stats_hole_ns(a->session->hz[channel_of(a, i)->tier]) / 1e9 ? unknown : 0;
}

static void energy_row(struct table *t, const struct analysis *a, const struct part *p, size_t i)
{
	const struct energy_result *r = &p->results[i].energy;
	double items = items_of(a, p), watts = watts_of(&p->results[i]), unknown = unknown_of(a, p, i);
	char text[NUM_TEXT] = "";

	if (isnan(r->joules))
		return;
	cell_text(t, channel_of(a, i)->name);
	cell_shown(t, r->joules, r->joules);
	cell_shown(t, r->within, r->within);
	cell_shown(t, watts, watts);
	cell_if(t, items > 0, item_energy(a, p, i), r->joules / items);
	if (unknown > 0)
		num_fixed(text, unknown, 3);
	cell_text(t, text);
}

static void energy_table(const struct page *o, const struct analysis *a, const struct part *p)
{
	bool items = items_of(a, p) > 0;
	struct table t = {.page = o,
			  .n = 6,
			  .wide = {-o->room - 1, 11, 9, 9, 13, 11},
			  .head = {_("energy"), "J", "+- J", _("mean W"), items ? _("J per item") : "", ""}};

	for (size_t i = 0; i < a->channels.n; i++)
		if (!isnan(p->results[i].energy.joules) && unknown_of(a, p, i) > 0)
			t.head[5] = _("unknown s");
	table_of(&t, a, p, energy_row);
}

static void heat_row(struct table *t, const struct analysis *a, const struct part *p, size_t i)
{
	double rise = rise_of(a, p, i);

	if (isnan(rise) || channel_of(a, i)->unit != UNIT_CELSIUS)
		return;
	cell_text(t, channel_of(a, i)->name);
	cell_fixed(t, p->results[i].first, 2);
	cell_fixed(t, p->results[i].last, 2);
	cell_signed(t, rise, 10);
}

/* Throttle counts have separate lines. */
static void counter_row(struct table *t, const struct analysis *a, const struct part *p, size_t i)
{
	const struct channel *c = channel_of(a, i);
	double rise = rise_of(a, p, i);

	if (isnan(rise) || !channel_counts(c) || c->kind == CHANNEL_THROTTLE_COUNT)
		return;
	cell_text(t, c->name);
	if (rise == floor(rise))
		cell_fixed(t, rise, 0);
	else
		cell_shown(t, rise, rise);
	cell_text(t, unit_name(c->unit));
}

static void throttle_lines(FILE *f, const struct analysis *a, const struct part *p)
{
	bool any = false;

	for (size_t i = 0; i < a->channels.n; i++) {
		const struct channel *c = channel_of(a, i);
		double s = throttled_of(a, p, i);
		char text[NUM_TEXT], share[NUM_TEXT];

		if (!isnan(s)) {
			num_fixed(text, s, 3);
			num_fixed(share, p->duration_ns > 0 ? 100 * s / seconds_of(p) : 0, 1);
			fprintf(f, _("%s: throttled for %s s, %s %% of the time\n"), c->name, text, share);
			any = true;
		} else if (c->kind == CHANNEL_THROTTLE_COUNT && p->results[i].n > 0) {
			num_fixed(text, p->results[i].steps, 0);
			fprintf(f, _("%s: %s events\n"), c->name, text);
			any = true;
		}
	}
	if (any)
		putc('\n', f);
}

/* "5.012 s: 5012 fast, 501 medium, 50 slow samples; ..." */
static void ticks_lines(FILE *f, const struct analysis *a, const struct part *p)
{
	char from[NUM_TEXT], to[NUM_TEXT], duration[NUM_TEXT];

	num_fixed(from, seconds_at(a, p->epoch.from_ns), 3);
	num_fixed(to, seconds_at(a, p->epoch.to_ns), 3);
	num_fixed(duration, seconds_of(p), 3);
	fprintf(f, _("%s s, from %s to %s; samples: %llu fast, %llu medium, %llu slow\n"), duration, from, to,
		(unsigned long long)p->ticks[TIER_FAST].rows, (unsigned long long)p->ticks[TIER_MEDIUM].rows,
		(unsigned long long)p->ticks[TIER_SLOW].rows);
	for (int t = 0; t < TIERS; t++) {
		const struct ticks *k = &p->ticks[t];
		unsigned long long gaps = k->gaps;
		char longest[NUM_TEXT];

		if (gaps == 0)
			continue;
		num_fixed(longest, (double)k->longest_ns / 1e6, 1);
		if (a->counted)
			fprintf(f,
				P_("%s: %llu ticks late, %llu lost, in %llu gap of %s ms\n",
				   "%s: %llu ticks late, %llu lost, in %llu gaps, the longest %s ms\n", gaps),
				tier_name((enum tier)t), (unsigned long long)k->late,
				(unsigned long long)k->lost, gaps, longest);
		else
			fprintf(f,
				P_("%s: %llu ticks without a sample, by the times, in %llu gap of %s ms\n",
				   "%s: %llu ticks without a sample, by the times, in %llu gaps, the "
				   "longest %s ms\n",
				   gaps),
				tier_name((enum tier)t), (unsigned long long)k->late, gaps, longest);
	}
	if (items_of(a, p) > 0) {
		double seconds = seconds_of(p) / items_of(a, p);
		char items[NUM_TEXT], each[NUM_TEXT], rate[NUM_TEXT];

		num_text(items, items_of(a, p));
		num_fixed(each, seconds * 1e3, 3);
		shown_text(rate, 1 / seconds, 1 / seconds);
		fprintf(f, _("%s items: %s ms per item, %s items per second\n"), items, each, rate);
	}
	putc('\n', f);
}

/* The same width in all tables, so that they align. */
static int room_of(const struct analysis *a)
{
	int room = 18;

	for (size_t i = 0; i < a->channels.n; i++)
		room = room_with(room, channel_of(a, i)->name);
	return room;
}

static void stats_table(const struct page *o, const struct analysis *a, const struct part *p)
{
	struct table t = {
		.page = o,
		.n = STATS + 2,
		.wide = {-o->room, 7, 7, 7, 7, 7, 7, 7, -4},
		.spare = 1 << 2 | 1 << 4 | 1 << 6,
		.head = {_("signal"), _("mean"), _("sd"), "min", "p50", "p95", "p99", "max", _("unit")}};
	char text[160];

	part_title(a, p, text, sizeof(text));
	title(o, "###", text);
	ticks_lines(o->f, a, p);
	table_of(&t, a, p, stats_row);
}

static void write_part(const struct page *o, const struct analysis *a, const struct part *p)
{
	struct table heat = {o,
			     4,
			     {-o->room - 1, 12, 10, 14},
			     .head = {_("temperature"), _("first C"), _("last C"), _("rise C")}};
	struct table counters = {o, 3, {-o->room - 1, 12, -4}, .head = {_("counter"), _("rise"), _("unit")}};

	stats_table(o, a, p);
	energy_table(o, a, p);
	table_of(&heat, a, p, heat_row);
	table_of(&counters, a, p, counter_row);
	throttle_lines(o->f, a, p);
}

#define CHANGES_SHOWN 100

/* Only changes in the reported time. */
static void change_lines(const struct page *o, const struct analysis *a)
{
	const struct epoch *all_of_it = &a->whole.epoch;
	size_t n, shown = 0, all = 0;
	const struct change *list = trace_changes(a->trace, &n);

	for (size_t i = 0; i < n; i++) {
		char text[CHANGE_TEXT];

		if (list[i].t_ns < all_of_it->from_ns || list[i].t_ns > all_of_it->to_ns ||
		    all++ >= CHANGES_SHOWN)
			continue;
		if (!shown++)
			title(o, "###", _("changes"));
		change_text(text, &list[i]);
		fprintf(o->f, "%s%12.3f s  %s\n", o->markdown ? "    " : "", seconds_at(a, list[i].t_ns),
			text);
	}
	if (all > shown)
		fprintf(o->f, P_("%s... and %llu more\n", "%s... and %llu more\n", all - shown),
			o->markdown ? "    " : "", (unsigned long long)(all - shown));
	if (shown)
		putc('\n', o->f);
}

static bool date_text(int64_t real_ns, char *out, size_t size)
{
	time_t t = (time_t)(real_ns / NS_PER_S);
	struct tm tm;

	return localtime_r(&t, &tm) && strftime(out, size, "%Y-%m-%d %H:%M:%S", &tm);
}

/* A board without a battery begins in 1970, and its clock is set when the network is there. */
static void clock_note(const struct page *o, const struct analysis *a)
{
	const int64_t start_ns = a->session->start.real_ns;
	double set_s = 0, changed_s;
	size_t n;
	const struct change *list = trace_changes(a->trace, &n);
	char when[40];

	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].what, CHANGE_CLOCK) && sscanf(list[i].to, "%lf s", &changed_s) == 1)
			set_s += changed_s;
	if (fabs(set_s) >= 1 && fabs(set_s) < CLOCK_MOST_S && start_ns &&
	    date_text(start_ns + (int64_t)(set_s * NS_PER_S), when, sizeof(when)))
		fprintf(o->f, _("The clock was set during the recording: by the new time it began at %s.\n\n"), when);
	else if (start_ns && start_ns < YEAR_2000_S * NS_PER_S)
		fprintf(o->f, "%s\n\n", _("The clock of the machine had not been set: the date is not the real one."));
}

void write_head(const struct page *o, const struct analysis *a)
{
	const char *board = fact_get(a->session->facts, a->session->n_facts, "title");
	char head[1400], when[40] = "";

	if (!board)
		board = fact_get(a->session->facts, a->session->n_facts, "board");
	if (a->session->start.real_ns)
		date_text(a->session->start.real_ns, when, sizeof(when));
	snprintf(head, sizeof(head), "%s: %s%s%s", trace_name(a->trace), board ? board : "",
		 *when ? ", " : "", when);
	title(o, "##", head);
	if (!o->markdown)
		putc('\n', o->f);
	clock_note(o, a);
}

void write_energy_note(FILE *f, const struct energy_source *s, const char *name)
{
	char window[NUM_TEXT], every[NUM_TEXT];

	num_fixed(window, (double)s->window_ns / 1e6, s->window_ns % NS_PER_MS ? 1 : 0);
	num_text(every, (double)s->every_ns / 1e6);
	if (!s->known)
		fprintf(f, _("+- J is unknown: the file does not say over which time %s is averaged\n"), name);
	else if (s->counts)
		fprintf(f, _("%s: the joules are those of its counter, which changes every %s ms\n"), name, window);
	else if (s->window_ns > s->tick_ns)
		fprintf(f, s->assumed ? _("%s averages %s ms, by its board file: that makes +- J wide\n")
				      : _("%s averages %s ms: that makes +- J wide\n"),
			name, window);
	else
		fprintf(f, _("%s is read every %s ms: what is faster does not show, but is in its joules and their bound\n"), name, every);
}

/* Those of one kind have one line. */
static void energy_notes(FILE *f, const struct analysis *a)
{
	const struct energy_source *told = NULL;

	for (size_t i = 0; i < a->channels.n; i++) {
		const struct energy_source *s = isnan(a->whole.results[i].energy.joules) ? NULL : trace_source(a->trace, a->channels.list[i]);

		if (!s || (told && s->known == told->known && s->counts == told->counts && s->window_ns == told->window_ns))
			continue;
		write_energy_note(f, s, channel_of(a, i)->name);
		told = s;
	}
	if (told)
		putc('\n', f);
}

void write_parts(const struct page *o, const struct analysis *a)
{
	const struct page tables = {o->f, o->markdown, room_of(a), o->columns};

	for (size_t i = 0; i < a->epochs.n; i++)
		write_part(&tables, a, part_load(a, i));
	if (a->epochs.n > 1)
		write_part(&tables, a, &a->whole);
	write_unmeasured(&tables, a);
	change_lines(o, a);
	energy_notes(o->f, a);
}

void write_whole(const struct page *o, const struct analysis *a)
{
	const struct page tables = {o->f, o->markdown, room_of(a), o->columns};

	stats_table(&tables, a, &a->whole);
	write_unmeasured(&tables, a);
	write_more(o->f);
}

void write_more(FILE *f)
{
	fputs(_("More: nvmtop report --phase N FILE (all of one phase), or --all\n"), f);
}

static void phase_name(const struct epoch *ep, char *out, size_t size)
{
	snprintf(out, size, "%llu%s%s", (unsigned long long)ep->id, *ep->label ? " " : "", ep->label);
}

/* Adds a line to the table of phases. Returns true if part of its energy is unknown. */
static bool phase_row(struct table *t, const struct analysis *a, const struct part *p)
{
	const struct result *power = key_of(a, p, KEY_POWER), *gpu = key_of(a, p, KEY_GPU),
			    *hottest = key_of(a, p, KEY_HOTTEST);
	double joules = power ? power->energy.joules : NAN, watts = power ? watts_of(power) : NAN;
	bool unknown = !isnan(joules) && unknown_of(a, p, a->at[KEY_POWER]) > 0;
	double items = items_of(a, p), item = power && items > 0 ? item_energy(a, p, a->at[KEY_POWER]) : NAN;
	char name[96];

	phase_name(&p->epoch, name, sizeof(name));
	cell_text(t, p == &a->whole ? _("whole") : name);
	if (items > 0) {
		cell_fixed(t, 1e3 * seconds_of(p) / items, 3);
		cell_shown(t, item, item);
	} else {
		cell_fixed(t, seconds_at(a, p->epoch.from_ns), 3);
		cell_fixed(t, seconds_at(a, p->epoch.to_ns), 3);
	}
	cell_fixed(t, seconds_of(p), 3);
	cell_shown(t, joules, joules);
	cell_shown(t, watts, watts);
	cell_shown(t, gpu ? mean_of(gpu) : NAN, 10);
	cell_shown(t, hottest ? hottest->max : NAN, 10);
	cell_text(t, unknown ? "!" : "");
	return unknown;
}

void write_phases(const struct page *o, const struct analysis *a)
{
	bool items = a->per > 0;
	struct table t = {.page = o,
			  .n = 9,
			  .wide = {-17, 9, 9, 8, 9, 7, 6, 6, -1},
			  .spare = items ? 1 << 6 | 1 << 7 : 1 << 1 | 1 << 2,
			  .head = {_("phase"), items ? _("ms/item") : _("from s"), items ? _("J/item") : _("to s"), _("s"),
				   "J", _("mean W"), "GPU %", _("max C"), ""}};
	bool unknown = false;
	char name[96];

	for (size_t i = 0; i < a->epochs.n; i++) {
		phase_name(&a->epochs.list[i], name, sizeof(name));
		t.wide[0] = -room_with(-t.wide[0], name);
	}
	for (size_t i = 0; i < a->epochs.n; i++)
		unknown |= phase_row(&t, a, part_load(a, i));
	if (a->epochs.n > 1)
		unknown |= phase_row(&t, a, &a->whole);
	if (o->markdown)
		putc('\n', o->f);
	if (unknown)
		fputs(_("!: the power is unknown for part of this time, which adds no joules\n"), o->f);
	if (a->power.n > 1)
		fprintf(o->f, a->power.add_up ? _("J and W are the sum of %s\n")
					      : _("no total: one power signal may be a part of another; --all has the J of each\n"),
			a->power_name);
	else if (a->at[KEY_POWER] != SIZE_MAX && channel_of(a, a->at[KEY_POWER])->kind != CHANNEL_POWER_TOTAL)
		fprintf(o->f, _("J and W are those of %s, the only power signal\n"), a->power_name);
	putc('\n', o->f);
}
