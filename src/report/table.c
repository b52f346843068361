/* Reports as text: 80 columns, or Markdown. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/intl.h"
#include "util/num.h"
#include "report/analysis.h"

#define STATS 7 /* that fit eighty columns */

static size_t cell_width(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xC0) != 0x80;
	return n;
}

static void pad(FILE *o, size_t n)
{
	while (n-- > 0)
		putc(' ', o);
}

static const char *skip_cells(const char *text, size_t n)
{
	for (; n > 0 && *text; n--)
		do
			text++;
		while (((unsigned char)*text & 0xC0) == 0x80);
	return text;
}

static size_t tail_of(size_t room)
{
	return room > 12 ? 8 : room / 2;
}

/* What is too long loses its middle: names differ at both ends. */
static void cut_text(FILE *o, const char *text, size_t width)
{
	size_t w = cell_width(text), tail = tail_of(width);
	const char *end;

	if (w <= width) {
		fputs(text, o);
		return;
	}
	end = skip_cells(text, width - tail - 1);
	fwrite(text, 1, (size_t)(end - text), o);
	putc('~', o);
	fputs(skip_cells(text, w - tail), o);
}

/* Are two names equal after being cut to that width? */
static bool look_same(const char *a, const char *b, size_t room)
{
	size_t tail = tail_of(room), wa = cell_width(a), wb = cell_width(b), head;

	if (wa <= room || wb <= room || !strcmp(a, b))
		return false;
	head = (size_t)(skip_cells(a, room - tail - 1) - a);
	return !strncmp(a, b, head) && !strcmp(skip_cells(a, wa - tail), skip_cells(b, wb - tail));
}

int names_room(const char *const *names, size_t n, int least)
{
	size_t room = (size_t)least;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			while (look_same(names[i], names[j], room))
				room++;
	return (int)room;
}

static void markdown_cell(FILE *o, const char *text)
{
	fputs("| ", o);
	for (; *text; text++) {
		if (strchr("|\\*_`<", *text))
			putc('\\', o);
		putc(*text, o);
	}
	putc(' ', o);
}

static void table_line(FILE *o, bool markdown, const char *const *cells, const int *wide, size_t n)
{
	size_t owed = 0; /* blanks that are only written when something follows */

	for (size_t i = 0; i < n; i++) {
		size_t room = (size_t)(wide[i] < 0 ? -wide[i] : wide[i]), w = cell_width(cells[i]);

		if (markdown) {
			markdown_cell(o, cells[i]);
			continue;
		}
		if (i > 0)
			owed++;
		if (wide[i] > 0 && w < room)
			owed += room - w;
		if (w > 0) {
			pad(o, owed);
			owed = 0;
		}
		if (wide[i] < 0)
			cut_text(o, cells[i], room);
		else
			fputs(cells[i], o);
		if (wide[i] < 0 && w < room)
			owed += room - w;
	}
	fputs(markdown ? "|\n" : "\n", o);
}

void table_row(struct table *t, const char *const *cells)
{
	if (!t->begun)
		table_line(t->f, t->markdown, t->head, t->wide, t->n);
	for (size_t i = 0; !t->begun && t->markdown && i < t->n; i++)
		fputs(t->wide[i] < 0 ? "|---" : "|--:", t->f);
	if (!t->begun && t->markdown)
		fputs("|\n", t->f);
	t->begun = true;
	table_line(t->f, t->markdown, cells, t->wide, t->n);
}

void table_end(const struct table *t)
{
	if (t->begun)
		putc('\n', t->f);
}

/* A sentence or a title on a line of its own. */
static void title(FILE *o, bool markdown, int level, const char *text)
{
	if (markdown)
		for (int i = 0; i < level; i++)
			putc('#', o);
	fprintf(o, "%s%s\n", markdown ? " " : "", text);
	if (markdown)
		putc('\n', o);
}

static double largest(const struct result *r)
{
	return fmax(fabs(r->min), fabs(r->max));
}

static void stat_row(struct table *t, const struct channel *c, const struct result *r)
{
	struct shown u = shown_unit(c, largest(r));
	const double v[STATS] = {mean_of(r), r->sd, r->min, r->p50, r->p95, r->p99, r->max};
	char text[STATS][NUM_TEXT];
	const char *cells[STATS + 2] = {c->name};

	for (int i = 0; i < STATS; i++) {
		shown_text(text[i], v[i] * u.factor, largest(r) * u.factor);
		cells[i + 1] = text[i];
	}
	cells[STATS + 1] = u.unit;
	table_row(t, cells);
}

static void stats_table(FILE *o, const struct analysis *a, const struct part *p, bool markdown, int room)
{
	struct table t = {o,
			  markdown,
			  STATS + 2,
			  {-room, 7, 7, 7, 7, 7, 7, 7, -4},
			  {_("signal"), _("mean"), _("sd"), "min", "p50", "p95", "p99", "max", _("unit")},
			  false};

	for (size_t i = 0; i < a->channels.n; i++)
		if (p->results[i].n > 0 && !channel_counts(channel_of(a, i)))
			stat_row(&t, channel_of(a, i), &p->results[i]);
	table_end(&t);
}

/* Channels without a value, wrapped at 78 columns. */
static void missing_list(FILE *o, const struct analysis *a, const struct part *p)
{
	size_t column = 0;

	for (size_t i = 0; i < a->channels.n; i++) {
		const char *name = channel_of(a, i)->name;

		if (p->results[i].n > 0)
			continue;
		if (column == 0) {
			fputs(_("Without a value:"), o);
			column = cell_width(_("Without a value:"));
		} else if (column + cell_width(name) + 2 > 78) {
			putc('\n', o);
			column = 0;
		}
		putc(' ', o);
		fputs(name, o);
		column += cell_width(name) + 1;
	}
	if (column > 0)
		fputs("\n\n", o);
}

static bool partly_unknown(const struct analysis *a, const struct part *p, size_t i)
{
	return uncovered_of(a, p, i) > (double)cover_ns(a->session, channel_of(a, i)->tier) / 1e9;
}

static void energy_row(struct table *t, const struct analysis *a, const struct part *p, size_t i)
{
	double items = items_of(a, p), energy = energy_of(a, p, i), power = mean_power(a, p, i);
	double within = within_of(a, p, i);
	char text[5][NUM_TEXT];

	shown_text(text[0], energy, energy);
	shown_text(text[1], within, within);
	shown_text(text[2], power, power);
	shown_text(text[3], item_energy(a, p, i), energy / items);
	num_fixed(text[4], uncovered_of(a, p, i), 3);
	table_row(t, (const char *[]) {channel_of(a, i)->name, text[0], isnan(within) ? "" : text[1], text[2],
				       items > 0 ? text[3] : "", partly_unknown(a, p, i) ? text[4] : ""});
}

static void energy_table(FILE *o, const struct analysis *a, const struct part *p, bool markdown, int room)
{
	struct table t = {o,
			  markdown,
			  6,
			  {-room - 1, 11, 9, 9, 13, 11},
			  {_("energy"), "J", "", _("mean W"), items_of(a, p) > 0 ? _("J per item") : "", ""},
			  false};

	for (size_t i = 0; i < a->channels.n; i++) {
		if (isnan(energy_of(a, p, i)))
			continue;
		if (!isnan(within_of(a, p, i)))
			t.head[2] = "+- J";
		if (partly_unknown(a, p, i))
			t.head[5] = _("unknown s");
	}
	for (size_t i = 0; i < a->channels.n; i++)
		if (!isnan(energy_of(a, p, i)))
			energy_row(&t, a, p, i);
	table_end(&t);
}

static void heat_table(FILE *o, const struct analysis *a, const struct part *p, bool markdown, int room)
{
	struct table t = {o,
			  markdown,
			  4,
			  {-room - 1, 12, 10, 14},
			  {_("temperature"), _("first C"), _("last C"), _("rise C")},
			  false};

	for (size_t i = 0; i < a->channels.n; i++) {
		char text[2][NUM_TEXT], rise[SIGNED_TEXT];

		if (isnan(rise_of(a, p, i)) || channel_of(a, i)->unit != UNIT_CELSIUS)
			continue;
		num_fixed(text[0], p->results[i].first, 2);
		num_fixed(text[1], p->results[i].last, 2);
		signed_text(rise, rise_of(a, p, i), 10);
		table_row(&t, (const char *[]) {channel_of(a, i)->name, text[0], text[1], rise});
	}
	table_end(&t);
}

/* Throttling is counted in lines of its own. */
static void counter_table(FILE *o, const struct analysis *a, const struct part *p, bool markdown, int room)
{
	struct table t = {o, markdown, 3, {-room - 1, 12, -4}, {_("counter"), _("rise"), _("unit")}, false};

	for (size_t i = 0; i < a->channels.n; i++) {
		const struct channel *c = channel_of(a, i);
		double rise = rise_of(a, p, i);
		char text[NUM_TEXT];

		if (isnan(rise) || !channel_counts(c) || c->kind == CHANNEL_THROTTLE_COUNT)
			continue;
		if (rise == floor(rise))
			num_fixed(text, rise, 0);
		else
			shown_text(text, rise, rise);
		table_row(&t, (const char *[]) {c->name, text, unit_name(c->unit)});
	}
	table_end(&t);
}

static void throttle_lines(FILE *o, const struct analysis *a, const struct part *p)
{
	bool any = false;

	for (size_t i = 0; i < a->channels.n; i++) {
		const struct channel *c = channel_of(a, i);
		double s = throttled_of(a, p, i);
		char text[NUM_TEXT], share[NUM_TEXT];

		if (!isnan(s)) {
			num_fixed(text, s, 3);
			num_fixed(share, p->duration_ns > 0 ? 100 * s / ((double)p->duration_ns / 1e9) : 0,
				  1);
			fprintf(o, _("%s: throttled for %s s, %s %% of the time\n"), c->name, text, share);
			any = true;
		} else if (c->kind == CHANNEL_THROTTLE_COUNT && p->results[i].n > 0) {
			num_fixed(text, p->results[i].steps, 0);
			fprintf(o, _("%s: %s events\n"), c->name, text);
			any = true;
		}
	}
	if (any)
		putc('\n', o);
}

/* "5.012 s: 5012 fast, 501 medium, 50 slow samples; ..." */
static void ticks_lines(FILE *o, const struct analysis *a, const struct part *p)
{
	static const double ms = 1e-6;
	char from[NUM_TEXT], to[NUM_TEXT], duration[NUM_TEXT];

	num_fixed(from, (double)(p->epoch.from_ns - a->session->start.mono_ns) / 1e9, 3);
	num_fixed(to, (double)(p->epoch.to_ns - a->session->start.mono_ns) / 1e9, 3);
	num_fixed(duration, (double)p->duration_ns / 1e9, 3);
	fprintf(o, _("%s s, from %s to %s; samples: %llu fast, %llu medium, %llu slow\n"), duration, from, to,
		(unsigned long long)p->ticks[TIER_FAST].rows, (unsigned long long)p->ticks[TIER_MEDIUM].rows,
		(unsigned long long)p->ticks[TIER_SLOW].rows);
	for (int t = 0; t < TIERS; t++) {
		const struct ticks *k = &p->ticks[t];
		unsigned long long gaps = k->gaps;
		char longest[NUM_TEXT];

		if (gaps == 0)
			continue;
		num_fixed(longest, (double)k->longest_ns * ms, 1);
		if (a->counted)
			fprintf(o,
				P_("%s: %llu ticks late, %llu lost, in %llu gap of %s ms\n",
				   "%s: %llu ticks late, %llu lost, in %llu gaps, the longest %s ms\n", gaps),
				tier_name((enum tier)t), (unsigned long long)k->late,
				(unsigned long long)k->lost, gaps, longest);
		else
			fprintf(o,
				P_("%s: %llu ticks without a sample, by the times, in %llu gap of %s ms\n",
				   "%s: %llu ticks without a sample, by the times, in %llu gaps, the "
				   "longest %s ms\n",
				   gaps),
				tier_name((enum tier)t), (unsigned long long)k->late, gaps, longest);
	}
	if (items_of(a, p) > 0) {
		double seconds = (double)p->duration_ns / 1e9 / items_of(a, p);
		char items[NUM_TEXT], each[NUM_TEXT], rate[NUM_TEXT];

		num_text(items, items_of(a, p));
		num_fixed(each, seconds * 1e3, 3);
		shown_text(rate, 1 / seconds, 1 / seconds);
		fprintf(o, _("%s items: %s ms per item, %s items per second\n"), items, each, rate);
	}
	putc('\n', o);
}

/* Of all tables alike: they stand below each other. */
static int room_of(const struct analysis *a)
{
	const char **names = calloc(a->channels.n + 1, sizeof(*names));
	int room = 18;

	for (size_t i = 0; names && i < a->channels.n; i++)
		names[i] = channel_of(a, i)->name;
	if (names)
		room = names_room(names, a->channels.n, room);
	free(names);
	return room;
}

static void write_part(FILE *o, const struct analysis *a, const struct part *p, bool markdown, int room)
{
	char text[160];

	part_title(a, p, text, sizeof(text));
	title(o, markdown, 3, text);
	ticks_lines(o, a, p);
	stats_table(o, a, p, markdown, room);
	energy_table(o, a, p, markdown, room);
	heat_table(o, a, p, markdown, room);
	counter_table(o, a, p, markdown, room);
	throttle_lines(o, a, p);
	missing_list(o, a, p);
}

#define CHANGES_SHOWN 100

/* In the time that the report is about. */
static void change_lines(FILE *o, const struct analysis *a, bool markdown)
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
			title(o, markdown, 3, _("changes"));
		change_text(text, &list[i]);
		fprintf(o, "%s%12.3f s  %s\n", markdown ? "    " : "",
			(double)(list[i].t_ns - a->session->start.mono_ns) / 1e9, text);
	}
	if (all > shown)
		fprintf(o, P_("%s... and %llu more\n", "%s... and %llu more\n", all - shown),
			markdown ? "    " : "", (unsigned long long)(all - shown));
	if (shown)
		putc('\n', o);
}

void write_head(FILE *o, const struct analysis *a, bool markdown)
{
	const char *board = fact_get(a->session->facts, a->session->n_facts, "title");
	char path[1024], head[1400], when[40] = "";

	if (!board)
		board = fact_get(a->session->facts, a->session->n_facts, "board");
	if (a->session->start.real_ns) {
		time_t start = (time_t)(a->session->start.real_ns / NS_PER_S);
		struct tm tm;

		if (localtime_r(&start, &tm))
			strftime(when, sizeof(when), ", %Y-%m-%d %H:%M:%S", &tm);
	}
	snprintf(head, sizeof(head), "%s: %s%s", shown_path(a->trace, path, sizeof(path)), board ? board : "", when);
	title(o, markdown, 2, head);
	if (!markdown)
		putc('\n', o);
}

/* The limits of energy from sampled power. */
static void energy_notes(FILE *o, const struct analysis *a)
{
	int64_t slowest = 0;
	bool regular = false;
	char every[NUM_TEXT], twice[NUM_TEXT];

	for (size_t i = 0; i < a->channels.n; i++) {
		const struct channel *c = channel_of(a, i);
		int64_t ns = reading_ns(a->session, c);

		if (isnan(energy_of(a, &a->whole, i)))
			continue;
		regular |= !read_at_random(a->session, c);
		slowest = ns > slowest ? ns : slowest;
	}
	if (!slowest)
		return;
	num_text(every, (double)slowest / 1e6);
	num_text(twice, (double)slowest * 2 / 1e6);
	if (regular)
		fprintf(o,
			_("Power is read every %s ms, in step with a clock: the energy of\n"
			  "loads faster than %s ms may be wrong by any amount.\n"),
			every, twice);
	else
		fprintf(o,
			_("Power is read every %s ms, at random moments: loads faster than %s ms are not\n"
			  "resolved; their energy is within +- J.\n"),
			every, twice);
	putc('\n', o);
}

void write_tables(FILE *o, const struct analysis *a, bool markdown)
{
	int room = room_of(a);

	for (size_t i = 0; i < a->epochs.n; i++)
		write_part(o, a, part_load(a, i), markdown, room);
	if (a->epochs.n > 1)
		write_part(o, a, &a->whole, markdown, room);
	change_lines(o, a, markdown);
	energy_notes(o, a);
}
