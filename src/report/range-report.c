/* Statistics of ranges by name, thread or domain. The recording is taken in parts, so that only the ranges and
 * rows of one part are in memory. In a part, ranges become intervals of a group, once as they are and once
 * without the ranges that are nested in them; those of a group that overlap count once. */
#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis.h"
#include "report/range-energy.h"
#include "util/clock.h"
#include "util/intl.h"

#define PART_NS     (600 * NS_PER_S)
#define PART_RANGES (1u << 19)
#define LATE        10 /* percent of GPU load after a range that are worth a note */

const char *const by_names[] = {N_("phase"), N_("range"), N_("thread"), N_("domain"), NULL};

/* The texts belong to the trace. */
struct group {
	struct group *before;
	const char *first, *name; /* domain and range, or process and thread */
	int length;               /* of the name */
	uint32_t pid, tid;
	uint64_t count;
	int64_t total_ns,
		after_ns; /* sums over ranges; after: the time in which the load after a range is looked at */
	double after, after_known; /* GPU percent times seconds, and these seconds */
	struct spent all, own;     /* own: without nested ranges */
	struct spent_result in, alone;
};

/* A range, or what is left of it without those nested in it. */
struct piece {
	struct interval at;
	struct group *group;
	const struct range_lane *lane;
	uint16_t depth;
	bool begins; /* in this part */
};

struct open {
	const struct piece *piece;
	int64_t cursor_ns; /* end of the last nested one */
};

struct collection {
	const struct analysis *about;
	enum report_by by;
	void *tree; /* of groups */
	struct group **list, *newest, *spare;
	size_t n;
	struct piece *pieces, *own;
	struct interval *union_of;
	struct open *open;
	size_t n_pieces, n_own;
	int64_t from_ns, to_ns; /* of the part */
	bool first, full, no_memory;
	struct curves curves;
};

static int compare(uintmax_t a, uintmax_t b)
{
	return (a > b) - (a < b);
}

/* What is different in each call, such as ", seq = 7", does not belong to the name. */
static int name_length(const char *name)
{
	const char *seq = strstr(name, ", seq = "), *id = strstr(name, ", op_id = ");

	return (int)(seq && (!id || seq < id) ? seq - name : id ? id - name : (ptrdiff_t)strlen(name));
}

static int by_key(const void *a, const void *b)
{
	const struct group *g = a, *h = b;
	int order = strcmp(g->first, h->first);

	if (order == 0)
		order = strncmp(g->name, h->name, (size_t)(g->length < h->length ? g->length : h->length));
	if (order == 0)
		order = compare((uintmax_t)g->length, (uintmax_t)h->length);
	if (order == 0)
		order = compare(g->pid, h->pid);
	return order ? order : compare(g->tid, h->tid);
}

/* NULL: out of memory. */
static struct group *group_of(struct collection *c, const struct range *r)
{
	bool thread = c->by == REPORT_BY_THREAD;
	struct group *g = c->spare ? c->spare : calloc(1, sizeof(*g)), **found;

	if (!g)
		return NULL;
	c->spare = g;
	g->first = thread ? r->lane->process : r->lane->domain;
	g->name = thread ? r->lane->thread : c->by == REPORT_BY_RANGE ? r->name : "";
	g->length = name_length(g->name);
	g->pid = thread ? r->lane->pid : 0;
	g->tid = thread ? r->lane->tid : 0;
	g->all.hottest = g->own.hottest = NAN;
	found = tsearch(g, &c->tree, by_key);
	if (!found || *found != g)
		return found ? *found : NULL;
	c->spare = NULL;
	g->before = c->newest;
	c->newest = g;
	c->n++;
	return g;
}

static bool range_take(void *to, const struct range *r)
{
	struct collection *c = to;
	struct piece *p = &c->pieces[c->n_pieces];

	if (r->begin_ns >= c->to_ns || (r->end_ns <= c->from_ns && r->begin_ns < c->from_ns))
		return true;
	c->full = c->n_pieces == PART_RANGES;
	if (c->full)
		return false;
	p->at.begin_ns = r->begin_ns > c->from_ns ? r->begin_ns : c->from_ns;
	p->at.end_ns = r->end_ns < c->to_ns ? r->end_ns : c->to_ns;
	p->lane = r->lane;
	p->depth = r->depth;
	p->begins = c->first || r->begin_ns >= c->from_ns;
	p->group = group_of(c, r);
	c->no_memory |= !p->group;
	c->n_pieces += p->group != NULL;
	return !c->no_memory;
}

static int by_lane(const void *a, const void *b)
{
	const struct piece *p = a, *q = b;
	int order = compare((uintptr_t)p->lane, (uintptr_t)q->lane);

	if (order == 0)
		order = (p->at.begin_ns > q->at.begin_ns) - (p->at.begin_ns < q->at.begin_ns);
	return order ? order : compare(p->depth, q->depth);
}

static int by_group(const void *a, const void *b)
{
	const struct piece *p = a, *q = b;
	int order = compare((uintptr_t)p->group, (uintptr_t)q->group);

	return order ? order : (p->at.begin_ns > q->at.begin_ns) - (p->at.begin_ns < q->at.begin_ns);
}

static void own_add(struct collection *c, const struct piece *p, int64_t from_ns, int64_t to_ns)
{
	if (from_ns < to_ns)
		c->own[c->n_own++] = (struct piece) {.at = {from_ns, to_ns}, .group = p->group};
}

/* The next range of the lane begins at next_ns. */
static void range_close(struct collection *c, const struct open *o, int64_t next_ns)
{
	const struct piece *p = o->piece;
	int64_t end = p->at.end_ns, length = end - p->at.begin_ns,
		to = next_ns - length < end ? next_ns : end + length;
	struct curve_point load;

	own_add(c, p, o->cursor_ns, end);
	if (to <= end)
		return;
	load = curve_between(&c->curves.load, end, to);
	p->group->after += load.area;
	p->group->after_known += load.known;
	p->group->after_ns += to - end;
}

/* Of a lane, ranges that begin are put on a stack, by depth. */
static void pieces_walk(struct collection *c)
{
	size_t n = 0;

	qsort(c->pieces, c->n_pieces, sizeof(*c->pieces), by_lane);
	c->n_own = 0;
	for (size_t i = 0; i <= c->n_pieces; i++) {
		const struct piece *p = i < c->n_pieces ? &c->pieces[i] : NULL;
		bool same = p && i > 0 && p->lane == p[-1].lane;

		while (n > 0 && (!same || c->open[n - 1].piece->depth >= p->depth ||
				 c->open[n - 1].piece->at.end_ns <= p->at.begin_ns))
			range_close(c, &c->open[--n], same ? p->at.begin_ns : c->to_ns);
		if (!p)
			break;
		if (n > 0) {
			own_add(c, c->open[n - 1].piece, c->open[n - 1].cursor_ns, p->at.begin_ns);
			if (c->open[n - 1].cursor_ns < p->at.end_ns)
				c->open[n - 1].cursor_ns = p->at.end_ns;
		}
		c->open[n++] = (struct open) {p, p->at.begin_ns};
		p->group->count += p->begins;
		p->group->total_ns += p->at.end_ns - p->at.begin_ns;
	}
}

/* Adds the unions of the pieces of each group. */
static void pieces_spend(struct collection *c, struct piece *list, size_t n, bool own)
{
	struct interval *u = c->union_of;
	size_t m = 0;

	qsort(list, n, sizeof(*list), by_group);
	for (size_t i = 0; i < n; i++) {
		if (m > 0 && list[i].at.begin_ns <= u[m - 1].end_ns)
			u[m - 1].end_ns =
				u[m - 1].end_ns > list[i].at.end_ns ? u[m - 1].end_ns : list[i].at.end_ns;
		else
			u[m++] = list[i].at;
		if (i + 1 < n && list[i + 1].group == list[i].group)
			continue;
		spent_add(own ? &list[i].group->own : &list[i].group->all, &c->curves, u, m);
		m = 0;
	}
}

/* Returns false if there are too many ranges. */
static bool part_take(struct collection *c, int64_t from_ns, int64_t to_ns)
{
	c->n_pieces = 0;
	c->from_ns = from_ns;
	c->to_ns = to_ns;
	c->full = false;
	trace_ranges(c->about->trace, from_ns, to_ns, 0, range_take, c);
	if (c->full || c->no_memory || c->n_pieces == 0)
		return !c->full;
	curves_read(&c->curves, from_ns, to_ns);
	pieces_walk(c);
	pieces_spend(c, c->pieces, c->n_pieces, false);
	pieces_spend(c, c->own, c->n_own, true);
	c->no_memory |= c->curves.no_memory;
	return true;
}

static void span_take(struct collection *c, int64_t from_ns, int64_t to_ns, report_progress *progress)
{
	int64_t length = PART_NS, start_ns = from_ns;

	c->first = true;
	while (from_ns < to_ns && !c->no_memory) {
		int64_t to = to_ns - from_ns > length ? from_ns + length : to_ns;

		/* A microsecond has no more, except from a damaged file. */
		if (!part_take(c, from_ns, to) && length > 1000) {
			length /= 2;
			continue;
		}
		if (progress)
			progress((double)(to - start_ns) / (double)(to_ns - start_ns));
		from_ns = to;
		c->first = false;
		length = length < PART_NS / 2 ? 2 * length : PART_NS;
	}
}

static int by_energy(const void *a, const void *b)
{
	const struct group *g = *(struct group *const *)a, *h = *(struct group *const *)b;
	double x = isnan(g->in.joules) ? -1 : g->in.joules, y = isnan(h->in.joules) ? -1 : h->in.joules;

	if (x != y)
		return x < y ? 1 : -1;
	if (g->all.time_ns != h->all.time_ns)
		return g->all.time_ns < h->all.time_ns ? 1 : -1;
	return by_key(g, h);
}

static int collect(struct collection *c, report_progress *progress, struct err *e)
{
	const struct epochs *eps = &c->about->epochs;
	size_t n = 0;

	curves_begin(&c->curves, c->about->trace, c->about->key[KEY_POWER], c->about->key[KEY_GPU],
		     c->about->key[KEY_HOTTEST]);
	c->pieces = calloc(PART_RANGES, sizeof(*c->pieces));
	c->own = calloc(2 * PART_RANGES, sizeof(*c->own));
	c->union_of = calloc(2 * PART_RANGES, sizeof(*c->union_of));
	c->open = calloc(UINT16_MAX + 1, sizeof(*c->open));
	c->no_memory = !c->pieces || !c->own || !c->union_of || !c->open;
	for (size_t i = 0, last; i < eps->n && !c->no_memory; i = last + 1) {
		last = epochs_chain(eps, i);
		span_take(c, eps->list[i].from_ns, eps->list[last].end_ns, progress);
	}
	c->list = calloc(c->n + 1, sizeof(struct group *));
	if (c->no_memory || !c->list)
		return err_set(e, ERR_FAILED, _("out of memory"));
	for (struct group *g = c->newest; g; g = g->before) {
		g->in = spent_get(&g->all, &c->curves);
		g->alone = spent_get(&g->own, &c->curves);
		c->list[n++] = g;
	}
	qsort(c->list, n, sizeof(struct group *), by_energy);
	return 0;
}

static void collection_free(struct collection *c)
{
	tdestroy(c->tree, free);
	free(c->spare);
	free(c->list);
	free(c->pieces);
	free(c->own);
	free(c->union_of);
	free(c->open);
	curves_free(&c->curves);
}

static double after_of(const struct group *g)
{
	return g->after_known > 0 ? g->after / g->after_known : NAN;
}

/* Does GPU load go on after the ranges? */
static bool goes_on(const struct group *g)
{
	return after_of(g) >= LATE && after_of(g) >= g->in.gpu / 2;
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
	const double v[COLUMNS] = {(double)g->count,
				   (double)g->total_ns / s,
				   (double)g->total_ns / s / n,
				   g->in.joules,
				   g->in.within,
				   g->in.watts,
				   g->in.gpu,
				   g->all.hottest,
				   (double)g->all.time_ns / s,
				   g->all.known,
				   (double)g->own.time_ns / s,
				   g->alone.joules,
				   g->alone.within,
				   g->alone.watts,
				   g->alone.gpu,
				   after / s / n,
				   after_of(g)};

	memcpy(out, v, sizeof(v));
}

static void title_of(const struct collection *c, const struct group *g, bool ids, char *out, size_t size)
{
	if (c->by == REPORT_BY_THREAD && !ids)
		snprintf(out, size, "%s%s%s", g->first, *g->name ? " " : "", g->name);
	else if (c->by == REPORT_BY_THREAD)
		snprintf(out, size, "%s%s%s %u/%u", g->first, *g->name ? " " : "", g->name, g->pid, g->tid);
	else if (c->by == REPORT_BY_DOMAIN)
		snprintf(out, size, "%s", *g->first ? g->first : "default");
	else
		snprintf(out, size, "%.*s", g->length, g->name);
}

/* With the domain of a range. */
static void full_title(const struct collection *c, const struct group *g, char *out, size_t size)
{
	const char *domain = c->by == REPORT_BY_RANGE ? g->first : "";
	int n = snprintf(out, size, "%s%s", domain, *domain ? ": " : "");

	title_of(c, g, true, out + n, size - (size_t)n);
}

static int room_of(const struct collection *c)
{
	char title[sizeof(((struct table *)NULL)->cell[0])];
	int room = 0;

	for (size_t i = 0; i < c->n; i++) {
		full_title(c, c->list[i], title, sizeof(title));
		room = room_with(room, title);
	}
	return room;
}

static void write_table(const struct page *o, const struct collection *c, int which)
{
	struct table t = {.page = o,
			  .n = 1,
			  .wide = {-o->room},
			  .head = {which == 1 ? _(by_names[c->by]) : _("without nested")}};
	double v[COLUMNS];
	char title[sizeof(t.cell[0])];

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
		full_title(c, c->list[i], title, sizeof(title));
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
		const char *why = g->in.why ? g->in.why : g->alone.why;

		late |= goes_on(g);
		if (why && why != told)
			fprintf(o->f, "--: %s\n", _(why));
		told = why ? why : told;
	}
	if (late)
		fputs(_(">: the GPU goes on after these ranges; what it uses then is not in their joules\n"),
		      o->f);
	if (c->curves.power != SIZE_MAX)
		fprintf(o->f, _("J and W are those of %s; ranges of a name that overlap count once\n"),
			c->about->session->channels[c->curves.power].name);
}

/* For JSON and CSV; of g NULL only the names of the values. */
static void put_row(struct record *r, const struct collection *c, const struct group *g)
{
	static const struct group none = {.first = "", .name = ""};
	char path[4096], title[1200];
	double v[COLUMNS];

	g = g ? g : &none;
	title_of(c, g, true, title, sizeof(title));
	values_of(g, v);
	if (r->as == AS_JSON)
		json_open(r, NULL, '{');
	PUT(r, {"file", IN_CSV, TEXT_OF(shown_path(c->about->trace, path, sizeof(path)))},
	    {"name", IN_BOTH, TEXT_OF(title)},
	    {"domain", IN_BOTH, TEXT_OF(c->by == REPORT_BY_RANGE ? g->first : "")});
	for (size_t k = 0; k < COLUMNS; k++)
		PUT(r, {columns[k].key, IN_BOTH, NUMBER_OF(v[k])});
	PUT(r, {"reason", IN_BOTH, LABEL_OF(g->in.why ? g->in.why : "")},
	    {"own_reason", IN_BOTH, LABEL_OF(g->alone.why ? g->alone.why : "")});
	if (r->as == AS_JSON)
		json_close(r, "}");
	else
		record_line(r);
}

static void write_trace(struct record *r, const struct collection *c, enum report_format format)
{
	const struct page page = {r->f, format == REPORT_MARKDOWN, room_of(c)};
	char path[4096];

	if (format == REPORT_TABLE || format == REPORT_MARKDOWN) {
		write_tables(&page, c);
		return;
	}
	if (format == REPORT_JSON) {
		record_line(r);
		json_open(r, NULL, '{');
		PUT(r, {"file", IN_JSON, TEXT_OF(shown_path(c->about->trace, path, sizeof(path)))},
		    {"power", IN_JSON,
		     LABEL_OF(c->curves.power == SIZE_MAX
				      ? ""
				      : c->about->session->channels[c->curves.power].name)},
		    {"read_every_s", IN_JSON, TIME_OF(c->curves.every_ns)});
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
			a->key[KEY_POWER] = l.list[i];
	channels_free(&l);
	return 0;
}

static void sums_add(struct range_sums *l, const struct collection *c, size_t file)
{
	char title[1200];

	for (size_t i = 0; i < c->n && !l->no_memory; i++) {
		const struct group *g = c->list[i];
		struct range_sum s = {.domain = c->by == REPORT_BY_RANGE ? g->first : "",
				      .pid = g->pid,
				      .tid = g->tid,
				      .file = file,
				      .count = g->count,
				      .seconds = (double)g->total_ns / 1e9,
				      .joules = g->in.joules,
				      .within = g->in.within,
				      .known = g->all.known * 1e9 / (double)g->all.time_ns,
				      .why = g->in.why};

		title_of(c, g, false, title, sizeof(title));
		range_sum_add(l, &s, title);
	}
}

/* Of several traces the tables are those of their comparison. */
static int write_one(struct record *r, struct analysis *about, struct range_sums *sums, size_t file,
		     enum report_by by, enum report_format format, report_progress *progress, struct err *e)
{
	struct collection c = {.about = about, .by = by};
	int done = collect(&c, progress, e);

	if (done == 0 && sums)
		sums_add(sums, &c, file);
	if (done == 0 && (!sums || format == REPORT_JSON))
		write_trace(r, &c, format);
	collection_free(&c);
	return done;
}

static int write_ranges(struct record *r, struct analysis *list, struct trace *const *traces, size_t n,
			const struct selection *p, enum report_by by, enum report_format format,
			report_progress *progress, struct err *e)
{
	struct reading reading = {.progress = progress};
	struct range_sums sums = {.n = 0};
	size_t begun = 0;
	int done = 0;

	if (format == REPORT_JSON) {
		json_open(r, NULL, '{');
		json_open(r, "traces", '[');
	}
	for (; done == 0 && begun < n; begun++)
		if (analysis_begin(&list[begun], traces[begun], p, 0, true, &reading, e) < 0 ||
		    power_select(&list[begun], p, e) < 0 ||
		    write_one(r, &list[begun], n > 1 ? &sums : NULL, begun, by, format, progress, e) < 0)
			done = -1;
	if (format == REPORT_JSON)
		json_close(r, "]");
	else if (n > 1)
		r->as = AS_CSV;
	if (done == 0 && n > 1)
		done = compare_ranges(r, list, n, &sums, format, e);
	if (format == REPORT_JSON)
		fputs("}\n", r->f);
	for (size_t i = 0; i < begun; i++)
		analysis_free(&list[i]);
	range_sums_free(&sums);
	return done;
}

int report_ranges(struct trace *const *traces, size_t n, const struct selection *p, enum report_by by,
		  enum report_format format, FILE *f, report_progress *progress, struct err *e)
{
	char *text = NULL;
	size_t size = 0;
	FILE *all = open_memstream(&text, &size); /* an error leaves no half document */
	struct analysis *list = calloc(n, sizeof(*list));
	struct record r = {.f = all, .as = format == REPORT_JSON ? AS_JSON : AS_HEAD};
	int done = all && list ? 0 : err_set(e, ERR_FAILED, _("out of memory")), error;

	if (done == 0)
		done = write_ranges(&r, list, traces, n, p, by, format, progress, e);
	if (all && fclose(all) != 0 && done == 0)
		done = err_set(e, ERR_FAILED, _("out of memory"));
	if (progress)
		progress(1);
	if (done == 0) {
		fwrite(text, 1, size, f);
		fflush(f);
	}
	error = errno;
	free(list);
	free(text);
	errno = error;
	return done;
}
