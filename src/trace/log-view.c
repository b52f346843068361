/* A log in memory, read by the same functions as one in a file: each look turns the groups, and the rows that are in no
 * chunk yet, into the lists that these functions ask for. */
#include "trace/log-view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log-lod.h"
#include "trace/log-read.h"
#include "util/array.h"
#include "util/intl.h"

struct log_view {
	struct trace *reader; /* whose lists are made of the look */
	struct log *log;
	struct log_look look;
	size_t room; /* of the reader's groups */
	struct log_block open[TIERS][LOOK_OPEN]; /* the rows that are in no chunk */
};

/* --- groups --- */

/* Returns the group of that cell, which is made if there is none; NULL: its rows are gone, or memory is out. */
static struct log_group *group_of(struct log_view *v, int64_t cell)
{
	struct trace *r = v->reader;
	int64_t first = log_span_cell(log_span(cell, 1), 1);
	struct log_group *more;
	size_t at = r->n_groups;

	while (at > 0 && r->groups[at - 1].cell > first)
		at--;
	if (at > 0 && r->groups[at - 1].cell == first)
		return &r->groups[at - 1];
	more = first < v->look.now.rows_from ? NULL : array_grow(r->groups, r->n_groups + 1, &v->room, sizeof(*more));
	if (!more)
		return NULL;
	r->groups = more;
	memmove(more + at + 1, more + at, (r->n_groups++ - at) * sizeof(*more));
	more[at] = (struct log_group) {.cell = first, .at = UINT64_MAX};
	if (at == 0)
		memcpy(more->before, v->look.now.gone, sizeof(more->before));
	return &more[at];
}

/* Adds the rows that are in no chunk to their groups, or takes them out. */
static void count_open(struct log_view *v, bool add)
{
	for (int t = 0; t < TIERS; t++)
		for (unsigned i = 0; i < v->look.now.n_open[t]; i++) {
			const struct look_open *o = &v->look.now.open[t][i];
			struct log_group *g = group_of(v, o->rows->cell);

			if (!g)
				continue;
			g->rows[t] += add ? (uint32_t)o->n : -(uint32_t)o->n;
			log_cell_forget(v->reader, (enum tier)t, o->rows->cell);
		}
}

static void take_chunk(struct log_view *v, const struct log_chunk *c, uint64_t number)
{
	struct log_group *g = c->about.kind == LOG_DATA ? group_of(v, c->about.cell) : NULL;

	if (!g)
		return;
	g->at = number < g->at ? number : g->at;
	g->length = (uint32_t)(number + 1 - g->at);
	for (int t = 0; t < TIERS; t++) {
		g->rows[t] += c->about.rows[t];
		if (c->about.rows[t] > 0)
			log_cell_forget(v->reader, (enum tier)t, c->about.cell);
	}
}

/* Drops the groups whose rows are gone, and counts the rows before the others. */
static void show_groups(struct log_view *v)
{
	struct trace *r = v->reader;
	size_t gone = 0;

	for (; gone < r->n_groups && r->groups[gone].cell < v->look.now.rows_from; gone++)
		log_cache_drop(&r->caches[LOG_LISTS], (uint64_t)r->groups[gone].cell);
	r->n_groups -= gone;
	if (gone > 0)
		memmove(r->groups, r->groups + gone, r->n_groups * sizeof(*r->groups));
	for (int t = 0; t < TIERS; t++) {
		for (size_t i = 1; i < r->n_groups; i++)
			r->groups[i].before[t] = r->groups[i - 1].before[t] + r->groups[i - 1].rows[t];
		r->rows[t] = v->look.now.rows[t];
		if (r->n_groups > 0)
			r->rows[t] = r->groups[r->n_groups - 1].before[t] + r->groups[r->n_groups - 1].rows[t];
	}
}

static struct log_item chunk_item(const struct log_chunk *c)
{
	struct log_item item = {.at = c->serial,
				.stored = c->about.stored,
				.kind = c->about.kind,
				.aux = c->about.aux,
				.cell = c->about.cell,
				.bytes = c->bytes};

	for (int t = 0; t < TIERS && c->about.kind == LOG_DATA; t++)
		item.rows[t] = c->about.rows[t];
	return item;
}

static void view_items(struct trace *r, const struct log_group *g, struct log_items *items)
{
	const struct log_view *v = r->view;
	const struct look_shelf *rows = &v->look.shelf[SHELF_ROWS];

	for (uint64_t i = g->at > rows->first ? g->at : rows->first; i < g->at + g->length; i++) {
		struct log_item item = chunk_item(rows->p[i - rows->first]);

		if (item.kind == LOG_DATA && log_span(item.cell, 1) == log_span(g->cell, 1))
			log_items_add(items, &item);
	}
	for (int t = 0; t < TIERS; t++)
		for (unsigned i = 0; i < v->look.now.n_open[t]; i++) {
			const struct look_open *o = &v->look.now.open[t][i];
			struct log_item item = {.at = (UINT64_C(1) << 60) + items->n, .cell = o->rows->cell, .open = (uint8_t)(i + 1)};

			item.rows[t] = (uint32_t)o->n;
			if (log_span(item.cell, 1) == log_span(g->cell, 1))
				log_items_add(items, &item);
		}
}

/* Returns the first chunk of a shelf that begins at the cell or later; those of spans are in the order of their cells. */
static size_t chunk_from(const struct look_shelf *s, int64_t cell)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->p[mid]->about.cell < cell)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool view_sums(struct trace *r, int level, int64_t cell, enum log_kind kind, int zoom, struct log_item *out)
{
	const struct log_entry e = {.kind = (uint8_t)kind, .aux = (uint8_t)(kind == LOG_STAT ? level : zoom)};
	const struct look_shelf *s = &r->view->look.shelf[log_shelf_of(&e)];

	cell = log_span_cell(log_span(cell, level), level);
	for (size_t i = chunk_from(s, cell); i < s->n && s->p[i]->about.cell == cell; i++)
		if (s->p[i]->about.kind == kind && s->p[i]->about.aux == e.aux) {
			*out = chunk_item(s->p[i]);
			return true;
		}
	return false;
}

/* The look holds them. */
static struct log_block *view_open_rows(struct trace *r, const struct log_item *item, enum tier tier)
{
	struct log_block *b = &r->view->open[tier][item->open - 1];
	const struct look_open *o = &r->view->look.now.open[tier][item->open - 1];

	*b = (struct log_block) {.cell = item->cell, .n = (uint32_t)o->n, .t_ns = o->rows->t_ns, .late = o->rows->late};
	b->values = o->rows->values;
	b->width = o->rows->width;
	return b;
}

/* Columns have the same place in all descriptions of the channels. */
static void show_session(struct log_view *v)
{
	struct trace *r = v->reader;
	const struct session *s = v->look.session;

	if (!s)
		return;
	if (!r->generations) {
		struct log_generation *g = calloc(1, sizeof(*g));

		r->generations = g;
		r->n_generations = g != NULL;
		r->numbers = calloc(s->n_channels + 1, sizeof(*r->numbers));
		r->sources = calloc(s->n_channels + 1, sizeof(*r->sources));
		for (uint32_t i = 0; r->numbers && i < s->n_channels; i++)
			r->numbers[i] = i;
		for (int t = 0; g && t < TIERS; t++) {
			g->number = 1; /* in the heads of all its chunks */
			g->width[t] = (unsigned)s->width[t];
			g->column[t] = calloc(s->width[t] + 1, sizeof(*g->column[t]));
			for (unsigned c = 0; g->column[t] && c < s->width[t]; c++)
				g->column[t][c] = (uint16_t)c;
		}
	}
	for (size_t i = 0; r->sources && i < s->n_channels; i++)
		if (s->channels[i].unit == UNIT_MILLIWATT && !log_energy_source(v->log, i, &r->sources[i]))
			energy_source_of(&r->sources[i], s, i);
	r->session = *s;
	r->channels = (struct channel *)(uintptr_t)s->channels;
}

void log_view_look(struct log_view *v)
{
	struct trace *r = v->reader;
	const struct log_now *now = &v->look.now;
	uint64_t version = v->look.version, end[LOG_SHELVES];
	int64_t first = INT64_MAX;

	r->other_ranges = log_range_store(v->log);
	for (int i = 0; i < LOG_CACHES; i++)
		log_cache_age(&r->caches[i]);
	memcpy(end, now->end, sizeof(end));
	count_open(v, false);
	log_look(v->log, &v->look);
	count_open(v, true);
	if (v->look.version == version)
		return;
	show_session(v);
	for (enum log_shelf s = 0; s < LOG_SHELVES; s++) {
		const struct look_shelf *of = &v->look.shelf[s];

		for (uint64_t i = end[s] > of->first ? end[s] : of->first; i < of->first + of->n; i++) {
			const struct log_chunk *c = of->p[i - of->first];

			if (s == SHELF_NOTES)
				log_events_put(r, c->about.kind, (struct log_in) {c->bytes, c->bytes + c->n, false});
			else if (s == SHELF_ROWS)
				take_chunk(v, c, i);
		}
		if (s != SHELF_NOTES && s != SHELF_RANGES && of->n > 0 && of->p[0]->about.cell < first)
			first = of->p[0]->about.cell;
	}
	show_groups(v);
	r->settled = log_cell(now->last_ns);
	for (int t = 0; t < TIERS; t++)
		if (now->n_open[t] > 0 && now->open[t][0].rows->cell < r->settled)
			r->settled = now->open[t][0].rows->cell;
	r->rows_from_ns = now->rows_from == INT64_MIN ? INT64_MIN : log_cell_ns(now->rows_from);
	r->any = now->any;
	r->first_ns = now->first_ns;
	r->last_ns = now->last_ns;
	if (r->events_new || r->states_open)
		log_events_settle(r);
	if (now->rows_from != INT64_MIN && first != INT64_MAX && log_cell_ns(first) > r->first_ns)
		r->first_ns = log_cell_ns(first);
	r->from_ns = r->any ? r->first_ns : INT64_MAX;
	r->to_ns = r->any ? r->last_ns : INT64_MIN;
}

/* --- what is left of rows --- */

static int view_finest(const struct trace *r, enum tier tier, int64_t t_ns)
{
	for (int level = 1; level <= LOG_LEVELS; level++)
		for (const uint8_t *zoom = log_zooms[level]; *zoom; zoom++) {
			const struct look_shelf *s = &r->view->look.shelf[log_shelf_of(&(struct log_entry) {.kind = LOG_LOD, .aux = *zoom})];
			int64_t cell = log_cell(t_ns);
			size_t i = chunk_from(s, log_span_cell(log_span(cell, level), level));

			/* Where there is none, it is as the next one. */
			if (log_zoom_has(*zoom, r->session.hz[tier]) && i < s->n &&
			    (i > 0 || s->first == 0 || s->p[i]->about.cell <= cell))
				return *zoom;
		}
	return ZOOM_MAX;
}

static const struct log_place view_place = {view_items, view_sums, view_open_rows, view_finest};

struct log_view *log_view_new(struct log *l, struct err *e)
{
	struct log_view *v = calloc(1, sizeof(*v));
	struct trace *r = v ? trace_new(&view_place, &log_timeline_ops) : NULL;

	if (r) {
		v->reader = r;
		v->log = l;
		r->id = LOG_MEMORY_SESSION;
		r->view = v;
		return v;
	}
	free(v);
	err_set(e, ERR_FAILED, _("out of memory for the history"));
	return NULL;
}

void log_view_free(struct log_view *v)
{
	struct trace *r = v ? v->reader : NULL;

	if (!v)
		return;
	r->channels = NULL;
	r->other_ranges = NULL;
	trace_close(r);
	log_look_free(&v->look);
	free(v);
}

struct timeline *log_view_timeline(struct log_view *v)
{
	return &v->reader->timeline;
}

const struct log_look *log_view_state(const struct log_view *v)
{
	return &v->look;
}
