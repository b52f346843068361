/* A log in memory, read by the same functions as one in a file: each look turns the groups, and the rows that are in no
 * chunk yet, into the lists that these functions ask for. */
#include "trace/log-view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log-lod.h"
#include "trace/log-tree.h"
#include "util/array.h"
#include "util/intl.h"

#define MARKS_MOST   65536
#define GAPS_MOST    16384
#define CHANGES_MOST 4096

/* Events in the order of time. */
struct view_events {
	size_t each, time, most; /* size, offset of the time, and number at most */
	char *p;
	size_t n, room;
};

struct log_view {
	struct trace *reader; /* whose lists are made of the look */
	struct timeline_ops ops;
	struct log *log;
	struct log_look look;
	size_t room; /* of the reader's groups */
	int64_t rows_from_ns; /* where it begins; INT64_MIN: no rows are gone */
	struct view_events marks, gaps, changes, reasons, states;
	bool changed; /* one of the last two */
	struct log_block *open[TIERS][LOOK_OPEN]; /* the rows that are in no chunk, made when they are asked for */
};

/* --- events --- */

static int64_t event_ns(const struct view_events *l, size_t i)
{
	int64_t t_ns;

	memcpy(&t_ns, l->p + i * l->each + l->time, sizeof(t_ns));
	return t_ns;
}

/* Makes room for one more; at the most, or if memory is out, the oldest eighth goes. Returns false if there is none. */
static bool events_room(struct view_events *l)
{
	size_t wanted = l->room ? l->room * 2 : 64, drop = (l->n + 7) / 8;
	void *bigger;

	if (l->n < l->room)
		return true;
	bigger = l->room < l->most ? reallocarray(l->p, wanted, l->each) : NULL;
	if (bigger) {
		l->p = bigger;
		l->room = wanted;
		return true;
	}
	l->n -= drop;
	if (drop)
		memmove(l->p, l->p + drop * l->each, l->n * l->each);
	return l->room > 0;
}

/* Puts an event behind all that are not later. */
static void event_insert(struct view_events *l, int64_t t_ns, const void *event)
{
	size_t at;

	if (!events_room(l))
		return;
	for (at = l->n; at > 0 && event_ns(l, at - 1) > t_ns; at--)
		continue;
	memmove(l->p + (at + 1) * l->each, l->p + at * l->each, (l->n++ - at) * l->each);
	memcpy(l->p + at * l->each, event, l->each);
}

/* What goes on is told again at its end. */
static void state_take(struct log_view *v, const struct state_event *e)
{
	struct state_event *list = (struct state_event *)(void *)v->states.p;

	for (size_t i = v->states.n; i-- > 0;)
		if (list[i].channel == e->channel) {
			if (list[i].from_ns != e->from_ns)
				break;
			list[i] = *e;
			return;
		}
	event_insert(&v->states, e->from_ns, e);
}

static void take_note(struct log_view *v, const struct log_chunk *c)
{
	struct log_in in = {c->bytes, c->bytes + c->n, false}, record;
	struct log_event ev;

	if (!log_get_record(&in, &record) || !log_event_get(c->about.kind, &record, &ev))
		return;
	if (ev.kind == LOG_MARK) {
		event_insert(&v->marks, ev.t_ns, &ev.u.mark);
	} else if (ev.kind == LOG_GAP) {
		event_insert(&v->gaps, ev.t_ns, &ev.u.gap);
	} else if (ev.kind == LOG_EVENT) {
		state_take(v, &ev.u.state);
	} else {
		event_insert(change_is_reason(&ev.u.change) ? &v->reasons : &v->changes, ev.t_ns, &ev.u.change);
		v->changed = true;
	}
}

/* Gives the reader the events; it wants the reasons behind the changes. */
static void show_events(struct log_view *v)
{
	struct trace *r = v->reader;
	int64_t *state_reach, latest_ns = INT64_MIN;
	size_t n = v->changes.n + v->reasons.n;
	struct change *changes = v->changed ? reallocarray(r->changes, n, sizeof(*changes)) : NULL;
	int64_t *reach = v->gaps.n != r->n_gaps || !r->gap_reach ? calloc(v->gaps.n + 1, sizeof(*reach)) : NULL;

	r->marks = (struct mark *)(void *)v->marks.p;
	r->n_marks = v->marks.n;
	r->states = (struct state_event *)(void *)v->states.p;
	r->n_states = v->states.n;
	state_reach = reallocarray(r->state_reach, r->n_states + 1, sizeof(*state_reach));
	r->state_reach = state_reach ? state_reach : r->state_reach;
	for (size_t i = 0; state_reach && i < r->n_states; i++) {
		if (r->states[i].flags & STATE_OPEN)
			r->states[i].to_ns = v->look.now.last_ns;
		latest_ns = r->states[i].to_ns > latest_ns ? r->states[i].to_ns : latest_ns;
		state_reach[i] = latest_ns;
	}
	if (changes) {
		r->changes = changes;
		if (v->changes.n > 0)
			memcpy(changes, v->changes.p, v->changes.n * sizeof(*changes));
		if (v->reasons.n > 0)
			memcpy(changes + v->changes.n, v->reasons.p, v->reasons.n * sizeof(*changes));
		r->n_changes = v->changes.n;
		r->n_reasons = v->reasons.n;
		v->changed = false;
	}
	if (reach) {
		int64_t latest = INT64_MIN;

		r->gaps = (struct gap *)(void *)v->gaps.p;
		r->n_gaps = v->gaps.n;
		for (size_t i = 0; i < r->n_gaps; i++)
			reach[i] = latest = r->gaps[i].to_ns > latest ? r->gaps[i].to_ns : latest;
		free(r->gap_reach);
		r->gap_reach = reach;
	}
}

/* --- groups --- */

/* The rows of a group are other ones: what is kept of it is not valid any more. */
static void group_forget(struct log_view *v, const struct log_group *g)
{
	struct log_cache *lists = &v->reader->caches[LOG_LISTS];
	struct log_block *b = log_cache_find(lists, (uint64_t)g->cell);

	if (b)
		log_cache_drop(lists, b);
}

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
			group_forget(v, g);
			log_strips_drop(v->reader, (enum tier)t, o->rows->cell);
		}
}

static void take_chunk(struct log_view *v, const struct log_chunk *c, uint64_t number)
{
	struct log_group *g = c->about.kind == LOG_DATA ? group_of(v, c->about.cell) : NULL;

	if (!g)
		return;
	g->at = number < g->at ? number : g->at;
	g->length = (uint32_t)(number + 1 - g->at);
	group_forget(v, g);
	for (int t = 0; t < TIERS; t++) {
		g->rows[t] += c->about.rows[t];
		if (c->about.rows[t] > 0)
			log_strips_drop(v->reader, (enum tier)t, c->about.cell);
	}
}

/* Drops the groups whose rows are gone, and counts the rows before the others. */
static void show_groups(struct log_view *v)
{
	struct trace *r = v->reader;
	size_t gone = 0;

	for (; gone < r->n_groups && r->groups[gone].cell < v->look.now.rows_from; gone++)
		group_forget(v, &r->groups[gone]);
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

void log_view_items(const struct log_view *v, const struct log_group *g, struct log_items *items)
{
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

bool log_view_sums(const struct log_view *v, int level, int64_t cell, enum log_kind kind, int zoom, struct log_item *out)
{
	const struct log_entry e = {.kind = (uint8_t)kind, .aux = (uint8_t)(kind == LOG_STAT ? level : zoom)};
	const struct look_shelf *s = &v->look.shelf[log_shelf_of(&e)];

	cell = log_span_cell(log_span(cell, level), level);
	for (size_t i = chunk_from(s, cell); i < s->n && s->p[i]->about.cell == cell; i++)
		if (s->p[i]->about.kind == kind && s->p[i]->about.aux == e.aux) {
			*out = chunk_item(s->p[i]);
			return true;
		}
	return false;
}

struct log_block *log_view_block(struct log_view *v, const struct log_item *item, enum tier tier)
{
	struct log_block **at = &v->open[tier][item->open - 1];
	const struct look_open *o = &v->look.now.open[tier][item->open - 1];
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

void log_view_look(struct log_view *v)
{
	struct trace *r = v->reader;
	const struct log_now *now = &v->look.now;
	uint64_t version = v->look.version, end[LOG_SHELVES];
	int64_t first = INT64_MAX;

	memcpy(end, now->end, sizeof(end));
	for (int i = 0; i < LOG_CACHES; i++)
		log_cache_age(&r->caches[i]);
	count_open(v, false);
	log_look(v->log, &v->look);
	count_open(v, true);
	if (v->look.version == version)
		return;
	forget_open(v);
	show_session(v);
	for (enum log_shelf s = 0; s < LOG_SHELVES; s++) {
		const struct look_shelf *of = &v->look.shelf[s];

		for (uint64_t i = end[s] > of->first ? end[s] : of->first; i < of->first + of->n; i++)
			if (s == SHELF_NOTES)
				take_note(v, of->p[i - of->first]);
			else if (s == SHELF_ROWS)
				take_chunk(v, of->p[i - of->first], i);
		if (s != SHELF_NOTES && s != SHELF_RANGES && of->n > 0 && of->p[0]->about.cell < first)
			first = of->p[0]->about.cell;
	}
	show_events(v);
	show_groups(v);
	v->rows_from_ns = now->rows_from == INT64_MIN ? INT64_MIN : log_cell_ns(now->rows_from);
	r->any = now->any;
	r->first_ns = now->first_ns;
	r->last_ns = now->last_ns;
	if (now->rows_from != INT64_MIN && first != INT64_MAX && log_cell_ns(first) > r->first_ns)
		r->first_ns = log_cell_ns(first);
	r->from_ns = r->any ? r->first_ns : INT64_MAX;
	r->to_ns = r->any ? r->last_ns : INT64_MIN;
}

/* --- what is left of rows --- */

bool log_view_gone(const struct log_view *v, int64_t cell)
{
	return log_cell_ns(cell) < v->rows_from_ns;
}

/* The finest zoom of a level that is kept from the cell on. */
static int finest_in(const struct log_view *v, int level, int64_t cell, double hz)
{
	for (const uint8_t *zoom = log_zooms[level]; *zoom; zoom++) {
		const struct look_shelf *s = &v->look.shelf[log_shelf_of(&(struct log_entry) {.kind = LOG_LOD, .aux = *zoom})];
		size_t i = chunk_from(s, log_span_cell(log_span(cell, level), level));

		/* Where there is none, it is as the next one. */
		if (log_zoom_has(*zoom, hz) && i < s->n && (i > 0 || s->first == 0 || s->p[i]->about.cell <= cell))
			return *zoom;
	}
	return 0;
}

static int view_finest(const struct log_view *v, enum tier tier, int64_t t_ns)
{
	double hz = v->reader->session.hz[tier];
	int zoom = 0;

	if (t_ns >= v->rows_from_ns || !(hz > 0))
		return hz > 0 ? zoom_base(hz) : ZOOM_MIN;
	for (int level = 1; level <= LOG_LEVELS && !zoom; level++)
		zoom = finest_in(v, level, log_cell(t_ns), hz);
	return zoom ? zoom : ZOOM_MAX;
}

int log_view_coarser(const struct log_view *v, enum tier tier, int64_t t_ns, int zoom)
{
	int left = t_ns < v->rows_from_ns ? view_finest(v, tier, t_ns) - zoom : 0;

	return left > 0 ? left : 0;
}

/* --- timeline --- */

static struct log_view *view_of(struct timeline *t)
{
	return ((struct trace *)(void *)t)->view;
}

static const struct session *get_session(struct timeline *t)
{
	return &view_of(t)->reader->session;
}

static int get_finest(struct timeline *t, size_t channel, int64_t t_ns)
{
	struct log_view *v = view_of(t);

	return view_finest(v, v->reader->channels[channel].tier, t_ns);
}

/* Where the rows are gone, the mean of the newest column that is not empty and begins at or before t_ns. */
static double get_value(struct timeline *t, size_t channel, int64_t t_ns, int64_t *at_ns)
{
	struct log_view *v = view_of(t);
	int zoom;

	if (channel >= v->reader->session.n_channels || t_ns >= v->rows_from_ns)
		return log_timeline_ops.value(t, channel, t_ns, at_ns);
	zoom = view_finest(v, v->reader->channels[channel].tier, t_ns);
	for (int64_t at = t_ns >> zoom; at >= v->reader->first_ns >> zoom && (t_ns >> zoom) - at < 64; at--) {
		int64_t end_ns = ((at + 1) << zoom) - 1;
		struct bin b;

		trace_columns(v->reader, channel, zoom, at, 1, &b);
		if (b.n == 0)
			continue;
		if (at_ns)
			*at_ns = end_ns < t_ns ? end_ns : t_ns;
		return b.sum / (double)b.n;
	}
	return (double)NAN;
}

/* Where the rows are gone, they were a period apart. */
static int64_t get_step(struct timeline *t, enum tier tier, int64_t t_ns, int n)
{
	struct log_view *v = view_of(t);
	struct trace *r = v->reader;
	int64_t from_ns = v->rows_from_ns, by;

	if (from_ns > INT64_MIN && r->session.hz[tier] > 0) {
		uint64_t first = trace_row_from(r, tier, from_ns), row = trace_row_from(r, tier, t_ns);

		if (t_ns < from_ns || (n < 0 && row < first + (uint64_t)-(int64_t)n)) {
			if (t_ns >= from_ns) {
				n += (int)(row - first);
				trace_row_times(r, tier, first, 1, &t_ns);
			}
			by = n * llround((double)NS_PER_S / r->session.hz[tier]);
			t_ns += by;
			return t_ns < r->first_ns ? r->first_ns : t_ns > r->last_ns ? r->last_ns : t_ns;
		}
	}
	return log_timeline_ops.step(t, tier, t_ns, n);
}

static size_t get_rows(struct timeline *t, enum tier tier, int64_t *from_ns, int64_t to_ns, const size_t *channels, size_t n,
		       size_t most, int64_t *t_ns, double *const *values, int64_t *column_ns)
{
	struct log_view *v = view_of(t);
	struct trace *r = v->reader;
	int64_t exact_ns = v->rows_from_ns;
	size_t got = 0;
	int zoom;

	*column_ns = 0;
	if (!r->any)
		return 0;
	*from_ns = *from_ns < r->first_ns ? r->first_ns : *from_ns;
	if (*from_ns >= exact_ns)
		return log_timeline_ops.rows(t, tier, from_ns, to_ns, channels, n, most, t_ns, values, column_ns);
	zoom = view_finest(v, tier, *from_ns);
	*column_ns = INT64_C(1) << zoom;
	while (got < most && *from_ns < exact_ns && view_finest(v, tier, *from_ns) == zoom) {
		int64_t end_ns = (*from_ns | (*column_ns - 1)) + 1;
		struct bin b;

		if (end_ns > to_ns || end_ns > r->last_ns)
			break;
		t_ns[got] = end_ns;
		for (size_t i = 0; i < n; i++) {
			trace_columns(r, channels[i], zoom, *from_ns >> zoom, 1, &b);
			values[i][got] = b.n ? b.sum / (double)b.n : (double)NAN;
		}
		*from_ns = end_ns;
		got++;
	}
	return got;
}

/* Of rows that are gone only their bins are known. */
static bool get_energy(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct energy_result *out)
{
	struct log_view *v = view_of(t);
	const struct energy_source *s = &v->reader->sources[channel];

	return v->reader->any && from_ns - s->reach_ns >= v->rows_from_ns && log_timeline_ops.energy(t, channel, from_ns, to_ns, out);
}

static void get_ranges(struct timeline *t, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit, void *arg)
{
	struct ranges *store = log_range_store(view_of(t)->log);

	if (store)
		ranges_visit(store, from_ns, to_ns, least_ns, visit, arg);
}

static size_t get_lanes(struct timeline *t, const struct range_lane **out, size_t most)
{
	struct ranges *store = log_range_store(view_of(t)->log);

	return store ? ranges_lanes(store, out, most) : 0;
}

struct log_view *log_view_new(struct log *l, struct err *e)
{
	struct log_view *v = calloc(1, sizeof(*v));
	struct trace *r = v ? trace_alloc() : NULL;

	if (r) {
		v->reader = r;
		v->log = l;
		v->marks = (struct view_events) {
			.each = sizeof(struct mark), .time = offsetof(struct mark, t_ns), .most = MARKS_MOST};
		v->gaps = (struct view_events) {
			.each = sizeof(struct gap), .time = offsetof(struct gap, from_ns), .most = GAPS_MOST};
		v->changes = (struct view_events) {
			.each = sizeof(struct change), .time = offsetof(struct change, t_ns), .most = CHANGES_MOST};
		v->reasons = v->changes;
		v->states = (struct view_events) {
			.each = sizeof(struct state_event), .time = offsetof(struct state_event, from_ns), .most = CHANGES_MOST};
		r->id = LOG_MEMORY_SESSION;
		r->view = v;
		v->rows_from_ns = INT64_MIN;
		r->from_ns = INT64_MAX;
		r->to_ns = INT64_MIN;
		v->ops = log_timeline_ops;
		v->ops.session = get_session;
		v->ops.finest = get_finest;
		v->ops.value = get_value;
		v->ops.step = get_step;
		v->ops.rows = get_rows;
		v->ops.energy = get_energy;
		v->ops.ranges = get_ranges;
		v->ops.lanes = get_lanes;
		v->ops.ranges_more = NULL;
		r->timeline.ops = &v->ops;
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
	r->marks = NULL;
	r->gaps = NULL;
	r->states = NULL;
	r->channels = NULL;
	trace_close(r);
	free(v->marks.p);
	free(v->gaps.p);
	free(v->changes.p);
	free(v->reasons.p);
	free(v->states.p);
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
