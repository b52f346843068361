/* A log in memory, read by the same functions as one in a file: each look turns the groups, and the rows that are in no
 * chunk yet, into the lists that these functions ask for. */
#include "trace/log-view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log-lod.h"
#include "trace/log-tree.h"
#include "util/intl.h"

#define VIEW_CLOSED 0x80 /* in the flags of a group: it gets no more chunks */
#define CHANGING    8	 /* the last groups, which are shown anew */

struct log_view {
	struct trace *reader; /* whose lists are made of the look */
	struct log *log;
	struct log_look look;
	size_t room;	/* of the reader's groups */
	uint64_t first; /* number of the first of them */
	uint64_t from;	/* number of the first one whose rows are there */
	struct log_block *open[TIERS][LOOK_OPEN]; /* the rows that are in no chunk, made when they are asked for */
};

static void take_notes(void *arg, const struct log_in *notes)
{
	log_events_put(((struct log_view *)arg)->reader, LOG_INDEX, *notes);
}

/* --- groups --- */

/* What has changed in the groups: the first ones are gone or have lost their rows, the last ones grow. */
static bool show_groups(struct log_view *v)
{
	const struct look_level *look = &v->look.level[1];
	struct trace *r = v->reader;
	size_t n = r->n_groups, kept = n > CHANGING ? n - CHANGING : 0, gone = 0, room = v->room ? v->room : 128;
	struct log_group *more;

	/* Their lists are made when they are asked for. */
	for (size_t i = kept; i < n; i++)
		if (!(r->groups[i].flags & VIEW_CLOSED)) {
			free(r->groups[i].list);
			r->groups[i].list = NULL;
		}
	if (look->first > v->first)
		gone = look->first - v->first < n ? (size_t)(look->first - v->first) : n;
	for (; v->from < look->from[LOOK_ROWS]; v->from++)
		if (v->from >= v->first && v->from - v->first < n) {
			free(r->groups[v->from - v->first].list);
			r->groups[v->from - v->first].list = NULL;
		}
	for (size_t i = 0; i < gone; i++)
		free(r->groups[i].list);
	if (gone > 0)
		memmove(r->groups, r->groups + gone, (n - gone) * sizeof(*r->groups));
	kept -= gone < kept ? gone : kept;
	n -= gone;
	v->first = look->first;
	r->n_groups = n;
	while (room < look->n + 2) /* two of cells without a chunk */
		room *= 2;
	more = room > v->room ? reallocarray(r->groups, room, sizeof(*more)) : r->groups;
	if (!more)
		return false;
	r->groups = more;
	v->room = room;
	for (size_t i = kept; i < look->n; i++) {
		const struct look_group *g = &look->p[i];
		struct log_group *to = &r->groups[i];

		*to = (struct log_group) {.cell = g->cell, .flags = g->closed ? VIEW_CLOSED : 0, .list = i < n ? to->list : NULL};
		for (int t = 0; t < TIERS; t++) {
			to->rows[t] = (uint32_t)g->rows[t];
			to->before[t] = g->before[t];
		}
	}
	for (size_t i = look->n; i < n; i++)
		free(r->groups[i].list);
	r->n_groups = look->n;
	return true;
}

/* Counts the rows that are in no chunk to their groups, which may have none yet. */
static void show_open(struct log_view *v)
{
	struct trace *r = v->reader;
	size_t least = r->n_groups > CHANGING ? r->n_groups - CHANGING : 0;

	for (int t = 0; t < TIERS; t++)
		for (unsigned i = 0; i < v->look.n_open[t]; i++) {
			int64_t cell = log_span_cell(log_span(v->look.open[t][i].rows->cell, 1), 1);
			size_t at = r->n_groups;

			while (at > least && r->groups[at - 1].cell > cell)
				at--;
			if ((at == 0 || r->groups[at - 1].cell < cell) && at == r->n_groups && r->n_groups < v->room)
				r->groups[r->n_groups++] = (struct log_group) {.cell = cell};
			else
				at--;
			if (at < r->n_groups && r->groups[at].cell == cell)
				r->groups[at].rows[t] += (uint32_t)v->look.open[t][i].n;
		}
	for (int t = 0; t < TIERS; t++)
		for (size_t i = least; i < r->n_groups; i++) {
			if (i > 0)
				r->groups[i].before[t] = r->groups[i - 1].before[t] + r->groups[i - 1].rows[t];
			r->rows[t] = r->groups[i].before[t] + r->groups[i].rows[t];
		}
}

static int by_cell(const void *a, const void *b)
{
	const struct log_item *i = a, *j = b;

	return i->cell != j->cell ? (i->cell < j->cell ? -1 : 1) : (i->at > j->at) - (i->at < j->at);
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

struct log_list *log_view_list(struct log_view *v, const struct log_group *of)
{
	const struct look_level *look = &v->look.level[1];
	size_t at = (size_t)(of - v->reader->groups);
	const struct look_part *part = at < look->n ? &look->p[at].part[LOOK_ROWS] : NULL;
	const struct log_chunk *c = part && part->list ? part->list->first : NULL;
	size_t most = (c ? part->n : 0) + (size_t)TIERS * LOOK_OPEN;
	struct log_list *l = calloc(1, sizeof(*l) + most * sizeof(*l->items));

	if (!l)
		return NULL;
	for (uint32_t i = 0; c && i < part->n; i++, c = i < part->n ? c->next : NULL)
		l->items[l->n++] = chunk_item(c);
	for (int t = 0; t < TIERS; t++)
		for (unsigned i = 0; i < v->look.n_open[t]; i++)
			if (log_span(v->look.open[t][i].rows->cell, 1) == log_span(of->cell, 1)) {
				struct log_item *item = &l->items[l->n];

				*item = (struct log_item) {.at = (UINT64_C(1) << 60) + l->n++,
							   .cell = v->look.open[t][i].rows->cell,
							   .open = (uint8_t)(i + 1)};
				item->rows[t] = (uint32_t)v->look.open[t][i].n;
			}
	if (l->n > 1)
		qsort(l->items, l->n, sizeof(*l->items), by_cell);
	for (; l->counted < l->n; l->counted++)
		for (int t = 0; t < TIERS; t++) {
			l->items[l->counted].before[t] = l->rows[t];
			l->rows[t] += l->items[l->counted].rows[t];
		}
	v->reader->groups[at].list = l;
	return l;
}

bool log_view_sums(const struct log_view *v, int level, int64_t cell, enum log_kind kind, int zoom, struct log_item *out)
{
	const struct look_level *look = &v->look.level[level];
	size_t at = times_from(look->p, look->n, sizeof(*look->p), offsetof(struct look_group, cell), cell + 1);

	if (at == 0 || log_span(look->p[at - 1].cell, level) != log_span(cell, level))
		return false;
	for (int part = level == 1 ? LOOK_SUMS : LOOK_ROWS; part < LOOK_PARTS; part++) {
		const struct look_part *p = &look->p[at - 1].part[part];
		const struct log_chunk *c = p->list ? p->list->first : NULL;

		for (uint32_t i = 0; c && i < p->n; i++, c = i < p->n ? c->next : NULL)
			if (c->about.kind == kind && (kind == LOG_STAT || c->about.aux == zoom)) {
				*out = chunk_item(c);
				return true;
			}
	}
	return false;
}

struct log_block *log_view_block(struct log_view *v, const struct log_item *item, enum tier tier)
{
	struct log_block **at = &v->open[tier][item->open - 1];
	const struct look_open *o = &v->look.open[tier][item->open - 1];
	size_t n = o->n, width = o->rows->width;
	struct log_block *b = *at;

	if (b)
		return b;
	b = malloc(sizeof(*b) + n * sizeof(int64_t) + width * n * sizeof(double) + width * sizeof(*b->arrays));
	if (!b)
		return NULL;
	*b = (struct log_block) {.cell = item->cell, .n = (uint32_t)n};
	b->t_ns = (int64_t *)(void *)(b + 1);
	b->values = (double *)(void *)(b->t_ns + n);
	b->arrays = (struct log_array *)(void *)(b->values + width * n);
	memcpy(b->t_ns, o->rows->t_ns, n * sizeof(*b->t_ns));
	for (size_t c = 0; c < width; c++) {
		b->arrays[c] = (struct log_array) {NULL, LOG_NONE};
		for (size_t i = 0; i < n; i++)
			b->values[c * n + i] = o->rows->values[i * width + c];
	}
	return *at = b;
}


static void forget_open(struct log_view *v)
{
	for (int t = 0; t < TIERS; t++)
		for (unsigned i = 0; i < LOOK_OPEN; i++) {
			free(v->open[t][i]);
			v->open[t][i] = NULL;
		}
}

/* Columns have the same place in all descriptions of the channels. */
static void show_session(struct log_view *v)
{
	struct trace *r = v->reader;
	const struct session *s = v->look.session;

	while (s && r->n_generations < v->look.generation) {
		struct log_generation *more = reallocarray(r->generations, r->n_generations + 1, sizeof(*more));

		if (!more)
			return;
		r->generations = more;
		more += r->n_generations;
		*more = (struct log_generation) {.number = (uint32_t)r->n_generations + 1};
		for (int t = 0; t < TIERS; t++) {
			more->width[t] = (unsigned)s->width[t];
			more->column[t] = calloc(s->width[t] + 1, sizeof(*more->column[t]));
			for (unsigned c = 0; more->column[t] && c < s->width[t]; c++)
				more->column[t][c] = (uint16_t)c;
		}
		r->n_generations++;
	}
	if (s && !r->numbers) {
		r->numbers = calloc(s->n_channels + 1, sizeof(*r->numbers));
		for (uint32_t i = 0; r->numbers && i < s->n_channels; i++)
			r->numbers[i] = i;
	}
	if (s && !r->sources)
		r->sources = calloc(s->n_channels + 1, sizeof(*r->sources));
	for (size_t i = 0; s && r->sources && i < s->n_channels; i++)
		if (s->channels[i].unit == UNIT_MILLIWATT && !log_energy_source(v->log, i, &r->sources[i]))
			energy_source_of(&r->sources[i], s, i);
	if (s) {
		r->session = *s;
		r->channels = (struct channel *)(uintptr_t)s->channels;
	}
}

static int64_t first_with_rows_ns(const struct look_level *look)
{
	uint64_t from = look->from[LOOK_ROWS];

	if (from == 0)
		return INT64_MIN;
	return from - look->first < look->n ? log_cell_ns(look->p[from - look->first].cell) : INT64_MAX;
}

/* What was computed of the cells that are open is not valid any more; nor of those that were, or got a late chunk. */
static void drop_strips(struct log_view *v, uint64_t serial)
{
	const struct look_level *look = &v->look.level[1];

	for (enum tier t = 0; t < TIERS; t++)
		for (unsigned i = 0; i < v->look.n_open[t]; i++)
			log_strips_drop(v->reader, t, v->look.open[t][i].rows->cell);
	for (size_t i = look->n > CHANGING ? look->n - CHANGING : 0; i < look->n; i++) {
		const struct look_part *part = &look->p[i].part[LOOK_ROWS];
		const struct log_chunk *c = part->list && part->newest > serial ? part->list->first : NULL;

		for (uint32_t k = 0; c && k < part->n; k++, c = k < part->n ? c->next : NULL)
			for (enum tier t = 0; c->serial > serial && t < TIERS; t++)
				if (c->about.kind == LOG_DATA && c->about.rows[t] > 0)
					log_strips_drop(v->reader, t, c->about.cell);
	}
}

void log_view_look(struct log_view *v)
{
	struct trace *r = v->reader;
	uint64_t version = v->look.version, serial = v->look.serial;

	r->other_ranges = log_range_store(v->log);
	log_look(v->log, &v->look, take_notes, v);
	if (v->look.version == version)
		return;
	if (version > 0)
		drop_strips(v, serial);
	forget_open(v);
	show_session(v);
	if (show_groups(v))
		show_open(v);
	r->rows_from_ns = first_with_rows_ns(&v->look.level[1]);
	r->any = v->look.any && r->n_groups > 0;
	r->first_ns = v->look.first_ns;
	r->last_ns = v->look.last_ns;
	if (r->events_new || r->states_open)
		log_events_settle(r);
	if (v->first > 0 && r->any && log_cell_ns(r->groups[0].cell) > r->first_ns)
		r->first_ns = log_cell_ns(r->groups[0].cell);
	r->from_ns = r->any ? r->first_ns : INT64_MAX;
	r->to_ns = r->any ? r->last_ns : INT64_MIN;
}

/* --- what is left of rows --- */

/* The finest zoom of those that a group has. */
static int finest_in(const struct log_view *v, int level, int64_t cell, double hz)
{
	const struct look_level *look = &v->look.level[level];
	size_t at = times_from(look->p, look->n, sizeof(*look->p), offsetof(struct look_group, cell), cell + 1);

	/* Where none is, as the next one. */
	if (at > 0 && log_span(look->p[at - 1].cell, level) == log_span(cell, level))
		at--;
	if (at == look->n)
		return 0;
	for (const uint8_t *zoom = log_zooms[level]; *zoom; zoom++) {
		int part = level == 1 || (level == 2 && *zoom > 32) ? LOOK_SUMS : LOOK_ROWS;

		if (log_zoom_has(*zoom, hz) && look->p[at].part[part].list)
			return *zoom;
	}
	return 0;
}

int log_view_finest(const struct log_view *v, enum tier tier, int64_t t_ns)
{
	int zoom = 0;

	for (int level = 1; level <= LOG_LEVELS && !zoom; level++)
		zoom = finest_in(v, level, log_cell(t_ns), v->reader->session.hz[tier]);
	return zoom ? zoom : ZOOM_MAX;
}

struct log_view *log_view_new(struct log *l, struct err *e)
{
	struct log_view *v = calloc(1, sizeof(*v));
	struct trace *r = v ? trace_alloc() : NULL;

	if (r) {
		v->reader = r;
		v->log = l;
		r->id = LOG_MEMORY_SESSION;
		r->view = v;
		r->from_ns = INT64_MAX;
		r->to_ns = INT64_MIN;
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
	forget_open(v);
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
