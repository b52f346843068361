/* Writes statistics of ranges by name, thread or domain. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare.h"
#include "util/intl.h"
#include "util/text.h"

#define LATE 10 /* percent of GPU load after a range that are worth a note */

const char *const by_names[] = {N_("phase"), N_("range"), N_("thread"), N_("domain"), NULL};

static double after_of(const struct group *g)
{
	return g->after_known > 0 ? g->after / g->after_known : NAN;
}

static double gpu_of(const struct spent *s)
{
	return s->loaded > 0 ? s->load / s->loaded : NAN;
}

/* Does GPU load go on after the ranges? */
static bool goes_on(const struct group *g)
{
	return after_of(g) >= LATE && after_of(g) >= gpu_of(&g->spent[USE_ALL]) / 2;
}

static const struct column {
	const char *key, *head;
	int table, wide;       /* table 0: only JSON and CSV */
	double scale, largest; /* for the table; largest 0: the value itself */
} columns[] = {
	{"count", N_("count"), 1, 8, 1, 1e9},
	{"total_s", N_("total s"), 1, 9, 1, 0},
	{"mean_s", N_("mean ms"), 1, 9, 1e3, 0},
	{"energy_j", "J", 1, 8, 1, 0},
	{"energy_within_j", "+- J", 1, 7, 1, 0},
	{"mean_power_w", N_("mean W"), 1, 6, 1, 0},
	{"gpu_percent", "GPU %", 1, 5, 1, 10},
	{"hottest_c", N_("max C"), 1, 5, 1, 10},
	{"time_s", "", 0, 0, 1, 0},
	{"covered_s", "", 0, 0, 1, 0},
	{"own_s", N_("own s"), 2, 9, 1, 0},
	{"own_energy_j", "J", 2, 8, 1, 0},
	{"own_energy_within_j", "+- J", 2, 7, 1, 0},
	{"own_mean_power_w", N_("mean W"), 2, 6, 1, 0},
	{"own_gpu_percent", "GPU %", 2, 5, 1, 10},
	{"after_s", N_("after ms"), 2, 8, 1e3, 0},
	{"after_gpu_percent", "GPU %", 2, 5, 1, 10},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void values_of(const struct group *g, double out[COLUMNS])
{
	double n = g->count ? (double)g->count : (double)NAN, s = 1e9,
	       after = g->after_known > 0 ? (double)g->after_ns : (double)NAN;
	const struct spent *all = &g->spent[USE_ALL], *own = &g->spent[USE_OWN];
	const double v[COLUMNS] = {(double)g->count,
				   (double)g->total_ns / s,
				   (double)g->total_ns / s / n,
				   all->energy.joules,
				   all->energy.within,
				   all->energy.joules / all->energy.known_s,
				   gpu_of(all),
				   all->hottest,
				   (double)all->time_ns / s,
				   all->energy.known_s,
				   (double)own->time_ns / s,
				   own->energy.joules,
				   own->energy.within,
				   own->energy.joules / own->energy.known_s,
				   gpu_of(own),
				   after / s / n,
				   after_of(g)};

	memcpy(out, v, sizeof(v));
}

static int room_of(const struct collection *c)
{
	char title[CELL_TEXT];
	int room = 20;

	for (size_t i = 0; i < c->n; i++) {
		collection_title(c, c->list[i], title, sizeof(title));
		room = room_with(room, title);
	}
	return room;
}

static void write_table(const struct page *o, const struct collection *c, int which)
{
	struct table t = {.page = o,
			  .n = 1,
			  .wide = {-o->room},
			  .spare = which == 1 ? 1 << 6 | 1 << 7 | 1 << 8 : 1 << 4 | 1 << 5,
			  .head = {which == 1 ? _(by_names[c->by]) : _("without nested")}};
	double v[COLUMNS];
	char title[CELL_TEXT];

	for (size_t k = 0; k < COLUMNS; k++)
		if (columns[k].table == which) {
			t.head[t.n] = *columns[k].head ? _(columns[k].head) : "";
			t.wide[t.n++] = columns[k].wide;
		}
	if (which == 2) {
		t.head[t.n] = "";
		t.wide[t.n++] = -1;
	}
	for (size_t i = 0; i < c->n; i++) {
		collection_title(c, c->list[i], title, sizeof(title));
		values_of(c->list[i], v);
		cell_text(&t, title);
		for (size_t k = 0; k < COLUMNS; k++)
			if (columns[k].table == which)
				cell_shown(&t, v[k] * columns[k].scale,
					   columns[k].largest > 0 ? columns[k].largest
								  : v[k] * columns[k].scale);
		if (which == 2)
			cell_text(&t, goes_on(c->list[i]) ? ">" : "");
	}
	putc('\n', o->f);
}

static void write_tables(const struct page *o, const struct collection *c)
{
	const char *told = NULL;
	bool late = false;

	write_head(o, c->about);
	if (c->n == 0) {
		fputs(_("no ranges were recorded in this time\n"), o->f);
		return;
	}
	write_table(o, c, 1);
	write_table(o, c, 2);
	for (size_t i = 0; i < c->n; i++) {
		const struct group *g = c->list[i];
		const char *why = g->spent[USE_ALL].energy.why ? g->spent[USE_ALL].energy.why : g->spent[USE_OWN].energy.why;

		late |= goes_on(g);
		if (why && why != told)
			fprintf(o->f, "--: %s\n", _(why));
		told = why ? why : told;
	}
	if (late)
		fputs(_(">: the GPU goes on after these ranges; what it uses then is not in their joules\n"),
		      o->f);
	if (!power_adds_up(c->about))
		return;
	for (size_t i = 0; i < c->n_power; i++)
		write_energy_note(o->f, &c->power[i].source, c->about->session->channels[c->parts.channel[i]].name);
	fprintf(o->f, _("J and W are those of %s; ranges of a name that overlap count once\n"), c->about->power_name);
}

/* For JSON and CSV; of g NULL only the names of the values. */
static void put_row(struct record *r, const struct collection *c, const struct group *g)
{
	static const struct group none = {.first = "", .name = ""};
	char path[4096], title[1200];
	double v[COLUMNS];

	g = g ? g : &none;
	collection_name(c, g, true, title, sizeof(title));
	values_of(g, v);
	if (r->as == AS_JSON)
		json_open(r, NULL, '{');
	PUT(r, {"file", IN_CSV, TEXT_OF(shown_path(c->about->trace, path, sizeof(path)))},
	    {"name", IN_BOTH, TEXT_OF(title)},
	    {"domain", IN_BOTH, TEXT_OF(c->by == REPORT_BY_RANGE ? g->first : "")});
	for (size_t k = 0; k < COLUMNS; k++)
		PUT(r, {columns[k].key, IN_BOTH, NUMBER_OF(v[k])});
	PUT(r, {"reason", IN_BOTH, LABEL_OF(g->spent[USE_ALL].energy.why ? g->spent[USE_ALL].energy.why : "")},
	    {"own_reason", IN_BOTH, LABEL_OF(g->spent[USE_OWN].energy.why ? g->spent[USE_OWN].energy.why : "")});
	if (r->as == AS_JSON)
		json_close(r, "}");
	else
		record_line(r);
}

static void write_trace(struct record *r, const struct page *o, const struct collection *c, enum report_format format)
{
	const struct page page = {o->f, o->markdown, room_of(c), o->columns};
	char path[4096];

	if (format == REPORT_TABLE || format == REPORT_MARKDOWN) {
		write_tables(&page, c);
		return;
	}
	if (format == REPORT_JSON) {
		record_line(r);
		json_open(r, NULL, '{');
		PUT(r, {"file", IN_JSON, TEXT_OF(shown_path(c->about->trace, path, sizeof(path)))},
		    {"power", IN_JSON, LABEL_OF(power_adds_up(c->about) ? c->about->power_name : "")},
		    {"read_every_s", IN_JSON, TIME_OF(c->power->source.every_ns)});
		json_open(r, "groups", '[');
	} else if (r->as == AS_HEAD) {
		put_row(r, c, NULL);
		r->as = AS_CSV;
	}
	for (size_t i = 0; i < c->n; i++)
		put_row(r, c, c->list[i]);
	if (format == REPORT_JSON)
		json_close(r, "]}");
}

/* A selected power signal takes the place of the total. */
static int power_select(struct analysis *a, const struct selection *p, struct err *e)
{
	struct channels l;

	if (!p->select)
		return 0;
	if (channels_find(a->trace, p, &l, e) < 0)
		return -1;
	for (size_t i = l.n; i-- > 0;)
		if (a->session->channels[l.list[i]].unit == UNIT_MILLIWATT)
			power_set(a, &(struct power_parts) {1, {l.list[i]}, true});
	channels_free(&l);
	return 0;
}

/* All is collected before anything is written: an error leaves no half document. Of several traces the tables are those
 * of their comparison. */
int report_ranges(struct trace *const *traces, size_t n, const struct selection *p, enum report_by by,
		  enum report_format format, FILE *f, report_progress *progress, struct err *e)
{
	struct analysis *list = calloc(n, sizeof(*list));
	struct collection *ranges = calloc(n, sizeof(*ranges));
	struct record r = {.f = f, .as = format == REPORT_JSON ? AS_JSON : n > 1 ? AS_CSV : AS_HEAD};
	const struct page page = {f, format == REPORT_MARKDOWN, 0, terminal_width(fileno(f))};
	struct reading reading = {.progress = progress};
	int done = list && ranges ? 0 : err_set(e, ERR_FAILED, _("out of memory")), error = 0;

	for (size_t i = 0; done == 0 && i < n; i++) {
		ranges[i] = (struct collection) {.about = &list[i], .by = (int)by};
		if (analysis_begin(&list[i], traces[i], p, 0, true, &reading, e) < 0 || power_select(&list[i], p, e) < 0 ||
		    collect(&ranges[i], progress, e) < 0)
			done = -1;
	}
	if (done == 0) {
		if (progress)
			progress(1);
		if (format == REPORT_JSON) {
			json_open(&r, NULL, '{');
			json_open(&r, "traces", '[');
		}
		for (size_t i = 0; i < n && (n == 1 || format == REPORT_JSON); i++)
			write_trace(&r, &page, &ranges[i], format);
		if (format == REPORT_JSON)
			json_close(&r, "]");
		if (n > 1)
			done = compare_ranges(&r, &page, list, ranges, n, p->n_first ? p->n_first : n, format, e);
		if (format == REPORT_JSON)
			fputs("}\n", f);
		fflush(f);
		error = errno;
	}
	for (size_t i = 0; list && ranges && i < n; i++) {
		collection_free(&ranges[i]);
		analysis_free(&list[i]);
	}
	free(list);
	free(ranges);
	errno = error;
	return done;
}
