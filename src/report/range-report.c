/* Statistics of ranges by name, thread or domain. The recording is taken in parts, so that only the ranges and
 * rows of one part are in memory. In a part, ranges become intervals of a group, once as they are and once
 * without the ranges that are nested in them; those of a group that overlap count once. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis.h"
#include "report/range-energy.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"

#define PART_NS	    (600 * NS_PER_S)
#define PART_RANGES (1u << 19)
#define LATE	    10 /* percent of GPU load after a range that are worth a note */

const char *const by_names[] = {N_("phase"), N_("range"), N_("thread"), N_("domain"), NULL};

struct group {
	struct group *next; /* in its slot */
	uint64_t count;
	int64_t total_ns, after_ns; /* sums over ranges; after: the time in which the load after a range is looked at */
	double after, after_known;  /* GPU percent times seconds, and these seconds */
	struct spent all, own;	    /* own: without nested ranges */
	struct spent_result in, alone;
	char domain[sizeof(((struct range_lane *)NULL)->domain)], name[];
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
	struct group **slots, **list; /* list: made at the end */
	size_t n_slots, n;
	struct piece *pieces, *own;
	struct interval *union_of;
	struct open *open;
	size_t n_pieces, n_own;
	int64_t from_ns, to_ns; /* of the part */
	bool first, full, no_memory;
	struct curves curves;
};

/* What is different in each call, such as ", seq = 7", does not belong to the name. */
static size_t name_length(const char *name)
{
	const char *seq = strstr(name, ", seq = "), *id = strstr(name, ", op_id = ");
	const char *end = seq && id ? (seq < id ? seq : id) : seq ? seq : id;

	return end ? (size_t)(end - name) : strlen(name);
}

/* FNV-1a */
static uint32_t hash_of(const char *name, size_t n)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619u;
	return h;
}

static void slots_grow(struct collection *c)
{
	size_t n = c->n_slots ? 4 * c->n_slots : 1024;
	struct group **slots = calloc(n, sizeof(*slots));

	c->no_memory |= !slots;
	for (size_t i = 0; slots && i < c->n_slots; i++)
		for (struct group *g = c->slots[i], *next; g; g = next) {
			uint32_t h = hash_of(g->name, strlen(g->name));

			next = g->next;
			g->next = slots[h % n];
			slots[h % n] = g;
		}
	if (!slots)
		return;
	free(c->slots);
	c->slots = slots;
	c->n_slots = n;
}

static struct group *group_named(struct collection *c, const char *domain, const char *name, size_t n)
{
	struct group **slot, *g;

	if (c->n >= c->n_slots)
		slots_grow(c);
	if (c->no_memory)
		return NULL;
	slot = &c->slots[hash_of(name, n) % c->n_slots];
	for (g = *slot; g; g = g->next)
		if (!strncmp(g->name, name, n) && !g->name[n] && !strcmp(g->domain, domain))
			return g;
	g = calloc(1, sizeof(*g) + n + 1);
	c->no_memory |= !g;
	if (!g)
		return NULL;
	memcpy(g->name, name, n);
	strcpy(g->domain, domain);
	g->all.hottest = g->own.hottest = NAN;
	g->next = *slot;
	*slot = g;
	c->n++;
	return g;
}

static struct group *group_of(struct collection *c, const struct range *r)
{
	const struct range_lane *l = r->lane;
	char thread[160];

	if (c->by == REPORT_BY_RANGE)
		return group_named(c, l->domain, r->name, name_length(r->name));
	if (c->by == REPORT_BY_DOMAIN)
		return group_named(c, "", l->domain[0] ? l->domain : "default", l->domain[0] ? strlen(l->domain) : 7);
	snprintf(thread, sizeof(thread), "%s%s%s %u/%u", l->process, l->thread[0] ? " " : "", l->thread, l->pid, l->tid);
	return group_named(c, "", thread, strlen(thread));
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
	c->n_pieces += p->group != NULL;
	return p->group != NULL;
}

static int compare(uintmax_t a, uintmax_t b)
{
	return (a > b) - (a < b);
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
	int64_t end = p->at.end_ns, length = end - p->at.begin_ns, to = next_ns - length < end ? next_ns : end + length;
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
			u[m - 1].end_ns = u[m - 1].end_ns > list[i].at.end_ns ? u[m - 1].end_ns : list[i].at.end_ns;
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

static void span_take(struct collection *c, int64_t from_ns, int64_t to_ns)
{
	int64_t length = PART_NS;

	c->first = true;
	while (from_ns < to_ns && !c->no_memory) {
		int64_t to = to_ns - from_ns > length ? from_ns + length : to_ns;

		/* A microsecond has no more, except from a damaged file. */
		if (!part_take(c, from_ns, to) && length > 1000) {
			length /= 2;
			continue;
		}
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
	return strcmp(g->name, h->name);
}

static void scratch_free(struct collection *c)
{
	free(c->pieces);
	free(c->own);
	free(c->union_of);
	free(c->open);
	curves_free(&c->curves);
}

static int collect(struct collection *c, report_progress *progress, struct err *e)
{
	const struct epochs *eps = &c->about->epochs;
	size_t n = 0;

	curves_begin(&c->curves, c->about->trace, c->about->key[KEY_POWER], c->about->key[KEY_GPU],
		     c->about->key[KEY_HOTTEST]);
	c->pieces = calloc(PART_RANGES + 1, sizeof(*c->pieces));
	c->own = calloc(2 * PART_RANGES, sizeof(*c->own));
	c->union_of = calloc(2 * PART_RANGES, sizeof(*c->union_of));
	c->open = calloc(UINT16_MAX + 1, sizeof(*c->open));
	c->no_memory = !c->pieces || !c->own || !c->union_of || !c->open;
	for (size_t i = 0, first = 0; i < eps->n && !c->no_memory; i++) {
		if (i + 1 < eps->n && eps->list[i + 1].from_ns == eps->list[i].end_ns)
			continue;
		span_take(c, eps->list[first].from_ns, eps->list[i].end_ns);
		first = i + 1;
		if (progress)
			progress((double)first / (double)(eps->n + 1));
	}
	scratch_free(c);
	c->list = calloc(c->n + 1, sizeof(struct group *));
	if (c->no_memory || !c->list)
		return err_set(e, ERR_FAILED, _("out of memory"));
	for (size_t i = 0; i < c->n_slots; i++)
		for (struct group *g = c->slots[i]; g; g = g->next) {
			g->in = spent_get(&g->all, &c->curves);
			g->alone = spent_get(&g->own, &c->curves);
			c->list[n++] = g;
		}
	qsort(c->list, n, sizeof(struct group *), by_energy);
	return 0;
}

static void collection_free(struct collection *c)
{
	for (size_t i = 0; i < c->n_slots; i++)
		for (struct group *g = c->slots[i], *next; g; g = next) {
			next = g->next;
			free(g);
		}
	free(c->slots);
	free(c->list);
}

static double seconds(int64_t ns)
{
	return (double)ns / 1e9;
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

static void cell_name(struct table *t, const struct group *g)
{
	char text[sizeof(t->cell[0])];

	snprintf(text, sizeof(text), "%s%s%s", g->domain, g->domain[0] ? ": " : "", g->name);
	cell_text(t, text);
}

static void write_groups(const struct page *o, const struct collection *c)
{
	struct table t = {.page = o,
			  .n = 9,
			  .wide = {-22, 8, 9, 9, 8, 7, 6, 5, 5},
			  .head = {_(by_names[c->by]), _("count"), _("total s"), _("mean ms"), "J", "+- J", _("mean W"), "GPU %",
				   _("max C")}};

	for (size_t i = 0; i < c->n; i++) {
		const struct group *g = c->list[i];
		char count[32];

		cell_name(&t, g);
		snprintf(count, sizeof(count), "%llu", (unsigned long long)g->count);
		cell_text(&t, count);
		cell_fixed(&t, seconds(g->total_ns), 3);
		cell_shown(&t, seconds(g->total_ns) * 1e3 / (double)g->count, seconds(g->total_ns) * 1e3 / (double)g->count);
		cell_shown(&t, g->in.joules, g->in.joules);
		cell_if(&t, !isnan(g->in.within), g->in.within, g->in.within);
		cell_shown(&t, g->in.watts, g->in.watts);
		cell_shown(&t, g->in.gpu, 10);
		cell_shown(&t, g->all.hottest, 10);
	}
	putc('\n', o->f);
}

static void write_own(const struct page *o, const struct collection *c)
{
	struct table t = {.page = o,
			  .n = 8,
			  .wide = {-22, 9, 8, 7, 6, 5, 9, 8},
			  .head = {_("without nested"), _("own s"), "J", "+- J", _("mean W"), "GPU %", _("after ms"), "GPU %"}};
	bool late = false;

	for (size_t i = 0; i < c->n; i++) {
		const struct group *g = c->list[i];
		double after = seconds(g->after_ns) * 1e3 / (double)g->count;
		char gpu[NUM_TEXT + 2];
		size_t n = shown_text(gpu, after_of(g), 10);

		snprintf(gpu + n, sizeof(gpu) - n, "%s", goes_on(g) ? " >" : "");
		late |= goes_on(g);
		cell_name(&t, g);
		cell_fixed(&t, seconds(g->own.time_ns), 3);
		cell_shown(&t, g->alone.joules, g->alone.joules);
		cell_if(&t, !isnan(g->alone.within), g->alone.within, g->alone.within);
		cell_shown(&t, g->alone.watts, g->alone.watts);
		cell_shown(&t, g->alone.gpu, 10);
		cell_shown(&t, after, after);
		cell_text(&t, gpu);
	}
	putc('\n', o->f);
	if (late)
		fputs(_(">: the GPU goes on after these ranges, and what it uses then is not in their joules\n"), o->f);
}

static void write_notes(FILE *f, const struct collection *c)
{
	const char *told = NULL;
	char every[NUM_TEXT];

	for (size_t i = 0; i < c->n; i++) {
		const char *why = c->list[i]->in.why ? c->list[i]->in.why : c->list[i]->alone.why;

		if (why && why != told)
			fprintf(f, "--: %s\n", _(why));
		told = why ? why : told;
	}
	if (c->curves.power == SIZE_MAX)
		return;
	num_text(every, (double)c->curves.every_ns / 1e6);
	fprintf(f, _("J and W are those of %s, read every %s ms; ranges that overlap count once\n"),
		c->about->session->channels[c->curves.power].name, every);
}

static void put_group(struct record *r, const struct group *g)
{
	double n = (double)g->count;

	PUT(r, {"name", IN_BOTH, TEXT_OF(g->name)}, {"domain", IN_BOTH, TEXT_OF(g->domain)},
	    {"count", IN_BOTH, COUNT_OF(g->count)}, {"total_s", IN_BOTH, TIME_OF(g->total_ns)},
	    {"mean_s", IN_BOTH, NUMBER_OF(g->count ? seconds(g->total_ns) / n : (double)NAN)},
	    {"time_s", IN_BOTH, TIME_OF(g->all.time_ns)}, {"energy_j", IN_BOTH, NUMBER_OF(g->in.joules)},
	    {"energy_within_j", IN_BOTH, NUMBER_OF(g->in.within)}, {"mean_power_w", IN_BOTH, NUMBER_OF(g->in.watts)},
	    {"covered_s", IN_BOTH, NUMBER_OF(g->all.known)}, {"gpu_percent", IN_BOTH, NUMBER_OF(g->in.gpu)},
	    {"hottest_c", IN_BOTH, NUMBER_OF(g->all.hottest)}, {"own_s", IN_BOTH, TIME_OF(g->own.time_ns)},
	    {"own_energy_j", IN_BOTH, NUMBER_OF(g->alone.joules)},
	    {"own_energy_within_j", IN_BOTH, NUMBER_OF(g->alone.within)},
	    {"own_mean_power_w", IN_BOTH, NUMBER_OF(g->alone.watts)},
	    {"own_gpu_percent", IN_BOTH, NUMBER_OF(g->alone.gpu)},
	    {"after_s", IN_BOTH, NUMBER_OF(g->count ? seconds(g->after_ns) / n : (double)NAN)},
	    {"after_gpu_percent", IN_BOTH, NUMBER_OF(after_of(g))},
	    {"reason", CSV_AND(g->in.why), LABEL_OF(g->in.why ? g->in.why : "")},
	    {"own_reason", CSV_AND(g->alone.why), LABEL_OF(g->alone.why ? g->alone.why : "")});
}

/* For JSON and CSV; g is NULL for the head of CSV. */
static void put_row(struct record *r, const struct collection *c, const struct group *g)
{
	static const struct group none = {.count = 0};
	char path[4096];

	if (r->as == AS_JSON)
		json_open(r, NULL, '{');
	PUT(r, {"file", IN_CSV, TEXT_OF(shown_path(c->about->trace, path, sizeof(path)))});
	put_group(r, g ? g : &none);
	if (r->as == AS_JSON)
		json_close(r, "}");
	else
		record_line(r);
}

static void put_trace(struct record *r, const struct collection *c)
{
	const struct session *s = c->about->session;
	char path[4096];

	if (r->as == AS_JSON) {
		record_line(r);
		json_open(r, NULL, '{');
		PUT(r, {"file", IN_JSON, TEXT_OF(shown_path(c->about->trace, path, sizeof(path)))},
		    {"power", IN_JSON, LABEL_OF(c->curves.power == SIZE_MAX ? "" : s->channels[c->curves.power].name)},
		    {"read_every_s", IN_JSON, TIME_OF(c->curves.every_ns)});
		json_open(r, "groups", '[');
	}
	for (size_t i = 0; i < c->n; i++)
		put_row(r, c, c->list[i]);
	if (r->as == AS_JSON)
		json_close(r, "]}");
}

static void write_tables(const struct page *o, const struct collection *c)
{
	write_head(o, c->about);
	if (c->n == 0) {
		fputs(_("no ranges were recorded in this time\n"), o->f);
		return;
	}
	write_groups(o, c);
	write_own(o, c);
	write_notes(o->f, c);
}

static void write_all(FILE *f, const struct collection *list, size_t n, enum report_format format)
{
	struct page page = {f, format == REPORT_MARKDOWN, 0};
	struct record r = {.f = f, .as = format == REPORT_JSON ? AS_JSON : AS_CSV}, head = {.f = f, .as = AS_HEAD};

	if (format == REPORT_JSON) {
		json_open(&r, NULL, '{');
		PUT(&r, {"by", IN_JSON, TEXT_OF(by_names[list[0].by])});
		json_open(&r, "traces", '[');
	} else if (format == REPORT_CSV) {
		put_row(&head, &list[0], NULL);
	}
	for (size_t i = 0; i < n; i++)
		if (format == REPORT_JSON || format == REPORT_CSV)
			put_trace(&r, &list[i]);
		else
			write_tables(&page, &list[i]);
	if (format == REPORT_JSON) {
		json_close(&r, "]}");
		putc('\n', f);
	}
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

int report_ranges(struct trace *const *traces, size_t n, const struct selection *p, enum report_by by,
		  enum report_format format, FILE *f, report_progress *progress, struct err *e)
{
	struct analysis *about = calloc(n, sizeof(*about));
	struct collection *list = calloc(n, sizeof(*list));
	struct reading reading = {.progress = progress};
	int r = about && list ? 0 : err_set(e, ERR_FAILED, _("out of memory"));
	size_t begun = 0;
	int error = 0;

	for (; r == 0 && begun < n; begun++) {
		list[begun] = (struct collection) {.about = &about[begun], .by = by};
		r = analysis_begin(&about[begun], traces[begun], p, 0, true, &reading, e);
		if (r == 0)
			r = power_select(&about[begun], p, e);
		if (r == 0)
			r = collect(&list[begun], progress, e);
	}
	if (r == 0) {
		if (progress)
			progress(1);
		write_all(f, list, n, format);
		fflush(f);
		error = errno;
	}
	for (size_t i = 0; i < begun; i++) {
		collection_free(&list[i]);
		analysis_free(&about[i]);
	}
	free(list);
	free(about);
	errno = error;
	return r;
}
