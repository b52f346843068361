/* The log of a stream in memory. The appending thread packs rows outside the lock, and then, with it, adds what is
 * finished in one step, and drops what is too old or too much: a look never sees half of a step, and waits for
 * pointers to be moved only. What a step drops is freed after it. */
#include "trace/log-memory.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "model/states.h"
#include "trace/log-builder.h"
#include "trace/log-decode.h"
#include "util/intl.h"
#include "util/thread.h"

#define STEP	     64 /* groups or blocks that are handled under the lock at once */
#define NOTES	     512 /* blocks, 8 MB */
#define NOTES_LEAST  4	 /* where no past is kept */
#define RANGES_MOST  (UINT32_C(1) << 18) /* in the store */
#define RANGES_BYTES (64 << 10) /* of a group of chunks with ranges */
#define CHANGING     4 /* the newest groups of a level, which may get more */
#define HOUR_NS	     (3600 * NS_PER_S)

/* How long each part is kept, and in how many bytes; 0: as for the rows. */
static const struct keep {
	int64_t ns;
	size_t bytes;
} keeps[LOG_LEVELS + 1][LOOK_PARTS] = {
	[LOOK_RANGES] = {{0, LOG_RANGES_BYTES}},
	[1] = {{0, 0}, {HOUR_NS, 11 << 20}},
	[2] = {{6 * HOUR_NS, 3 << 20}, {24 * HOUR_NS, 3 << 19}},
	[3] = {{24 * HOUR_NS, 1 << 19}},
};

/* Groups by number, from 0; group i is at i % most. */
struct level {
	struct look_group *ring;
	uint64_t most, first, end;
	uint64_t from[LOOK_PARTS]; /* groups before it have lost the part */
	uint64_t bytes[LOOK_PARTS];
	bool short_of[LOOK_PARTS]; /* something younger than it should be was dropped */
};

/* The session as a look may have it. */
struct edition {
	struct edition *before;
	struct session session;
};

struct log {
	struct sink sink;
	atomic_uint refs;
	struct log_bound bound;

	/* Of the appending thread. */
	struct log_builder *builder;
	struct session about; /* of the builder */
	struct log_chunk *pending, **pending_end; /* not added yet */
	uint64_t serials;
	int64_t newest_ns[TIERS];
	struct look_open own[TIERS][LOOK_OPEN];
	unsigned n_own[TIERS];
	struct so_far {
		bool any;
		int64_t first_ns, last_ns;
		uint64_t rows[TIERS];
		int64_t longest_ns; /* between two fast rows */
	} own_far;
	struct state_watch *watches;
	size_t n_watches;
	struct energy_meter *meters; /* of the channels with power */
	size_t n_meters;
	struct energy_source *own_sources;
	bool metered; /* these are not up to date */

	pthread_mutex_t lock; /* for what follows */
	struct level level[LOG_LEVELS + 1];
	struct look_open open[TIERS][LOOK_OPEN];
	unsigned n_open[TIERS];
	struct edition *edition;
	uint32_t generation;
	uint64_t version, serial;
	struct so_far far; /* of all rows */
	bool ended;
	struct log_notes *notes[NOTES]; /* by number, from 0 */
	uint64_t notes_first, notes_end;
	struct ranges *ranges;
	struct energy_source *sources; /* of the meters */
	bool sourced;
	struct log_queue *queues;
	unsigned held, held_most;
};

/* --- references --- */

void log_chunk_free(struct log_chunk *c)
{
	if (c && atomic_fetch_sub(&c->refs, 1) == 1)
		free(c);
}

static void chunks_free(struct look_chunks *l)
{
	if (!l || atomic_fetch_sub(&l->refs, 1) > 1)
		return;
	while (l->first) {
		struct log_chunk *c = l->first;

		l->first = c->next;
		log_chunk_free(c);
	}
	free(l);
}

static void rows_free(struct log_rows *r)
{
	if (!r || atomic_fetch_sub(&r->refs, 1) > 1)
		return;
	free(r->t_ns);
	free(r->values);
	free(r);
}

static void notes_free(struct log_notes *b)
{
	if (b && atomic_fetch_sub(&b->refs, 1) == 1)
		free(b);
}

/* --- groups, with the lock held --- */

static struct look_group *group_at(struct level *v, uint64_t number)
{
	return &v->ring[number % v->most];
}

static int64_t group_end_ns(const struct look_group *g, int level)
{
	return log_cell_ns(log_span_cell(log_span(g->cell, level ? level : 1) + 1, level ? level : 1));
}

/* What a step has dropped, to be freed after it. */
struct dropped {
	struct look_chunks *lists[2 * STEP];
	size_t n;
};

static void part_drop(struct level *v, enum look_part_of part, struct dropped *out)
{
	struct look_part *p = &group_at(v, v->from[part]++)->part[part];

	v->bytes[part] -= p->bytes;
	if (p->list)
		out->lists[out->n++] = p->list;
	*p = (struct look_part) {.gone = p->n > 0};
}

/* Drops what is too old, and the oldest of what is too much, but nothing of a group that still grows. */
static void retain(struct log *l, struct dropped *out)
{
	for (int i = 0; i <= LOG_LEVELS; i++) {
		struct level *v = &l->level[i];

		for (enum look_part_of part = 0; part < (i == 1 || i == 2 ? 2 : 1); part++) {
			const struct keep *k = &keeps[i][part];
			bool as_rows = k->ns == 0;
			int64_t ns = as_rows ? l->bound.rows_ns : l->bound.rows_ns ? k->ns : 0;
			uint64_t most = k->bytes ? k->bytes : l->bound.bytes ? l->bound.bytes : UINT64_MAX;

			while (v->from[part] < v->end && out->n < STEP) {
				const struct look_group *g = group_at(v, v->from[part]);
				bool old = group_end_ns(g, i) + ns < l->far.last_ns;

				if (!(old || v->bytes[part] > most) || (!g->closed && v->from[part] + 2 >= v->end))
					break;
				v->short_of[part] |= !old;
				part_drop(v, part, out);
			}
		}
		while (v->first < v->from[0] && (i == 0 || i == 3 || v->first < v->from[1]) &&
		       (i != 1 || v->end - v->first == v->most - 1 || !l->bound.rows_ns ||
			group_end_ns(group_at(v, v->first), 1) + 24 * HOUR_NS < l->far.last_ns))
			v->first++;
	}
}

/* Returns the group of that cell, which is made if it would be the newest one; NULL: it is too old. */
static struct look_group *group_of(struct log *l, int level, int64_t cell)
{
	struct level *v = &l->level[level];
	int64_t first = log_span_cell(log_span(cell, level), level);
	struct look_group *g, *last;

	for (uint64_t i = v->end; i-- > v->first && v->end - i <= CHANGING;)
		if (group_at(v, i)->cell == first)
			return group_at(v, i);
	last = v->end > v->first ? group_at(v, v->end - 1) : NULL;
	if ((last && last->cell > first) || v->end - v->first == v->most)
		return NULL;
	g = group_at(v, v->end++);
	*g = (struct look_group) {.cell = first};
	for (int t = 0; t < TIERS && last; t++)
		g->before[t] = last->before[t] + last->rows[t];
	return g;
}

static struct look_group *range_group(struct log *l, int64_t cell)
{
	struct level *v = &l->level[LOOK_RANGES];
	struct look_group *g = v->end > v->first ? group_at(v, v->end - 1) : NULL;

	if (g && g->part[0].bytes < RANGES_BYTES && log_span(g->cell, 1) == log_span(cell, 1))
		return g;
	if (g)
		g->closed = true;
	if (v->end - v->first == v->most)
		return NULL;
	g = group_at(v, v->end++);
	*g = (struct look_group) {.cell = cell};
	return g;
}

/* Puts a chunk into its group, made if need be; list: an empty one for that, taken if it is used. */
static bool chunk_place(struct log *l, struct log_chunk *c, struct look_chunks **list)
{
	const struct log_entry *e = &c->about;
	enum look_part_of part = LOOK_ROWS;
	int level = 1;
	struct look_group *g;
	struct look_part *p;

	if (e->kind == LOG_RANGE)
		level = LOOK_RANGES;
	else if (e->kind == LOG_LOD || e->kind == LOG_STAT)
		level = log_entry_level(e);
	if ((e->kind == LOG_LOD || e->kind == LOG_STAT) && level == 1)
		part = LOOK_SUMS;
	if (e->kind == LOG_LOD && level == 2 && e->aux > 32)
		part = LOOK_SUMS;
	g = level == LOOK_RANGES ? range_group(l, e->cell) : group_of(l, level, e->cell);
	p = g ? &g->part[part] : NULL;
	if (!p || p->gone || (!p->list && !*list))
		return false;
	if (!p->list) {
		p->list = *list;
		*list = NULL;
	}
	*p->list->end = c;
	p->list->end = &c->next;
	p->n++;
	p->newest = c->serial;
	p->bytes += (uint32_t)(sizeof(*c) + c->n);
	l->level[level].bytes[part] += sizeof(*c) + c->n;
	if (level > 1 || e->kind == LOG_STAT)
		g->closed = true;
	if (level == 1 && part == LOOK_ROWS) {
		struct level *v = &l->level[1];
		bool later = false;

		for (uint64_t i = v->end > CHANGING ? v->end - CHANGING : 0; i < v->end; i++) {
			struct look_group *of = group_at(v, i);

			for (int t = 0; t < TIERS; t++) {
				of->before[t] += later ? e->rows[t] : 0;
				of->rows[t] += of == g ? e->rows[t] : 0;
			}
			later |= of == g;
		}
	}
	return true;
}

/* --- queues --- */

struct queue_item {
	struct queue_item *next;
	struct log_chunk *chunk;
};

struct log_queue {
	struct log *log;
	struct log_queue *next;
	pthread_cond_t news;
	struct queue_item *head, **end;
	size_t bytes, most;
	struct log_skipped skipped;
	bool woken;
};

static struct log_chunk *queue_pop(struct log_queue *q)
{
	struct queue_item *i = q->head;
	struct log_chunk *c = i->chunk;

	q->head = i->next;
	if (!q->head)
		q->end = &q->head;
	q->bytes -= c->n;
	free(i);
	return c;
}

static uint64_t marks_in(const struct log_chunk *c)
{
	struct log_bytes raw = {.n = 0};
	struct log_in in, record;
	uint64_t n = 0;

	if (c->about.kind == LOG_MARK && log_chunk_unpack(c->bytes, &raw)) {
		in = (struct log_in) {raw.p, raw.p + raw.n, false};
		while (log_get_record(&in, &record))
			n++;
	}
	log_bytes_free(&raw);
	return n;
}

static void skip(struct log_skipped *s, const struct log_chunk *c)
{
	int64_t from = log_cell_ns(c->about.cell), to = log_cell_ns(c->about.cell + 1);

	if (!s->chunks++ || from < s->from_ns)
		s->from_ns = from;
	if (s->chunks == 1 || to > s->to_ns)
		s->to_ns = to;
	for (int t = 0; t < TIERS; t++)
		s->rows[t] += c->about.rows[t];
	s->marks += marks_in(c);
}

static void queue_push(struct log_queue *q, struct log_chunk *c)
{
	struct queue_item *i = c->n <= q->most ? malloc(sizeof(*i)) : NULL;
	bool full = q->bytes + c->n > q->most;

	while (q->head && full && q->bytes + c->n > q->most / 2) {
		struct log_chunk *old = queue_pop(q);

		skip(&q->skipped, old);
		log_chunk_free(old);
	}
	if (!i) {
		skip(&q->skipped, c);
		return;
	}
	atomic_fetch_add(&c->refs, 1);
	*i = (struct queue_item) {NULL, c};
	*q->end = i;
	q->end = &i->next;
	q->bytes += c->n;
	pthread_cond_signal(&q->news);
}

/* --- a step of the appending thread --- */

static void held(struct log *l, unsigned n)
{
	l->held += n;
	l->held_most = l->held > l->held_most ? l->held : l->held_most;
}

static void lock(struct log *l)
{
	pthread_mutex_lock(&l->lock);
	l->held = 0;
}

/* The rows of sealed cells are in chunks now. */
static void own_seal(struct log *l, enum tier t)
{
	int64_t waits_ns = log_builder_waits(l->builder, t);
	unsigned kept = 0;

	for (unsigned i = 0; i < l->n_own[t]; i++)
		if (l->own[t][i].rows->t_ns[l->own[t][i].n - 1] < waits_ns)
			rows_free(l->own[t][i].rows);
		else
			l->own[t][kept++] = l->own[t][i];
	l->n_own[t] = kept;
}

/* Shows all that was packed and all rows that wait. */
static void publish(struct log *l)
{
	struct log_chunk *c = l->pending;
	struct dropped dropped = {.n = 0};
	struct look_open old[TIERS][LOOK_OPEN];
	unsigned n_old[TIERS];
	struct look_chunks *spare = NULL;

	for (enum tier t = 0; t < TIERS; t++) {
		own_seal(l, t);
		for (unsigned i = 0; i < l->n_own[t]; i++)
			atomic_fetch_add(&l->own[t][i].rows->refs, 1);
	}
	for (size_t k = 0; l->metered && k < l->n_meters; k++)
		l->own_sources[k] = energy_meter_source(&l->meters[k]);
	lock(l);
	while (c) {
		struct log_chunk *next = c->next;

		if (!spare && (spare = calloc(1, sizeof(*spare)))) {
			atomic_init(&spare->refs, 1);
			spare->end = &spare->first;
		}
		c->next = NULL;
		for (struct log_queue *q = l->queues; q; q = q->next)
			queue_push(q, c);
		l->serial = c->serial;
		if (!chunk_place(l, c, &spare))
			log_chunk_free(c);
		c = next;
		held(l, 1);
	}
	memcpy(old, l->open, sizeof(old));
	memcpy(n_old, l->n_open, sizeof(n_old));
	memcpy(l->open, l->own, sizeof(l->open));
	memcpy(l->n_open, l->n_own, sizeof(l->n_open));
	l->far = l->own_far;
	if (l->metered) {
		memcpy(l->sources, l->own_sources, l->n_meters * sizeof(*l->sources));
		l->sourced = true;
		l->metered = false;
	}
	retain(l, &dropped);
	held(l, (unsigned)dropped.n);
	l->version++;
	pthread_mutex_unlock(&l->lock);
	l->pending = NULL;
	l->pending_end = &l->pending;
	for (size_t i = 0; i < dropped.n; i++)
		chunks_free(dropped.lists[i]);
	for (int t = 0; t < TIERS; t++)
		for (unsigned i = 0; i < n_old[t]; i++)
			rows_free(old[t][i].rows);
	free(spare);
}

static bool chunk_emit(void *to, const struct log_entry *e, const uint8_t *bytes, size_t n)
{
	struct log *l = to;
	struct log_chunk *c;

	if (e->kind == LOG_META || e->kind == LOG_INDEX || e->kind == LOG_END)
		return true;
	c = malloc(sizeof(*c) + n);
	if (!c)
		return false;
	*c = (struct log_chunk) {.serial = ++l->serials, .generation = l->generation, .about = *e, .n = n};
	c->about.distance = c->serial;
	atomic_init(&c->refs, 1);
	memcpy(c->bytes, bytes, n);
	*l->pending_end = c;
	l->pending_end = &c->next;
	return true;
}

/* Returns the rows of that cell with room for one more; NULL: out of memory, or too many cells are open. */
static struct look_open *own_open(struct log *l, enum tier t, int64_t cell)
{
	struct look_open *o = l->n_own[t] ? &l->own[t][l->n_own[t] - 1] : NULL;
	size_t width = l->about.width[t];
	struct log_rows *r;

	if (o && o->rows->cell == cell && o->n < o->rows->room)
		return o;
	r = l->n_own[t] < LOOK_OPEN ? calloc(1, sizeof(*r)) : NULL;
	if (!r)
		return NULL;
	atomic_init(&r->refs, 1);
	r->cell = cell;
	r->width = width;
	r->room = 8 + (size_t)(l->about.hz[t] * 1.25 * (1 << LOG_CELL_ZOOM) / 1e9);
	r->t_ns = calloc(r->room, sizeof(*r->t_ns));
	r->values = calloc(r->room, (width ? width : 1) * sizeof(*r->values));
	if (!r->t_ns || !r->values) {
		rows_free(r);
		return NULL;
	}
	o = &l->own[t][l->n_own[t]++];
	*o = (struct look_open) {.rows = r};
	return o;
}

static struct log *log_of(struct sink *s)
{
	return (struct log *)(void *)s;
}

bool log_energy_source(struct log *l, size_t channel, struct energy_source *out)
{
	bool found = false;

	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; l->sourced && i < l->n_meters && !found; i++)
		if (l->sources[i].power == channel) {
			*out = l->sources[i];
			found = true;
		}
	pthread_mutex_unlock(&l->lock);
	return found;
}

static bool meters_begin(struct log *l)
{
	const struct session *s = &l->about;

	l->meters = calloc(s->n_channels + 1, sizeof(*l->meters));
	for (size_t i = 0; l->meters && i < s->n_channels; i++)
		if (s->channels[i].unit == UNIT_MILLIWATT && s->channels[i].column < s->width[s->channels[i].tier])
			energy_meter_begin(&l->meters[l->n_meters++], s, i);
	l->sources = calloc(l->n_meters + 1, sizeof(*l->sources));
	l->own_sources = calloc(l->n_meters + 1, sizeof(*l->own_sources));
	return l->meters && l->sources && l->own_sources;
}

static void note_add(struct log *l, const struct log_event *ev)
{
	struct log_bytes record = {.n = 0};
	struct log_notes *b, *more = NULL, *gone = NULL;

	log_put_u8(&record, ev->kind);
	log_event_put(&record, ev);
	b = l->notes_end > l->notes_first ? l->notes[(l->notes_end - 1) % NOTES] : NULL;
	if (!b || b->n + record.n > sizeof(b->bytes)) {
		more = malloc(sizeof(*more));
		b = more;
		if (more) {
			atomic_init(&more->refs, 1);
			more->n = 0;
		}
	}
	if (b && !record.failed) {
		memcpy(b->bytes + b->n, record.p, record.n);
		lock(l);
		if (more && l->notes_end - l->notes_first == (l->bound.rows_ns ? NOTES : NOTES_LEAST))
			gone = l->notes[l->notes_first++ % NOTES];
		if (more)
			l->notes[l->notes_end++ % NOTES] = more;
		b->n += record.n;
		l->version++;
		pthread_mutex_unlock(&l->lock);
	}
	notes_free(gone);
	log_bytes_free(&record);
}

/* Notes the begin and the end of each event, as it is then. */
static void states_take(struct log *l, const struct rows *r)
{
	for (size_t k = 0; k < l->n_watches; k++)
		for (size_t i = 0; l->watches[k].at.tier == r->tier && i < r->n; i++) {
			struct state_watch *w = &l->watches[k];
			struct state_event before = w->now, ended;
			bool above = w->above;

			state_watch_take(w, r->t_ns[i], r->values[i * r->width + w->at.column], &ended);
			if (w->now.count > 0 && (w->above != above || w->now.from_ns != before.from_ns || w->now.count != before.count)) {
				struct log_event ev = {.kind = LOG_EVENT, .t_ns = w->now.from_ns, .u.state = w->now};

				ev.u.state.flags |= w->above ? STATE_OPEN : 0;
				note_add(l, &ev);
			}
		}
}

static void take_rows(struct sink *s, const struct rows *r)
{
	struct log *l = log_of(s);
	struct so_far *far = &l->own_far;
	enum tier t = r->tier;

	if (!l->builder || r->width != l->about.width[t])
		return;
	log_builder_rows(l->builder, r);
	for (size_t i = 0; i < r->n; i++) {
		int64_t t_ns = r->t_ns[i];
		struct look_open *o;

		if (t_ns <= l->newest_ns[t] || t_ns < l->about.start.mono_ns || !log_time_good(t_ns))
			continue; /* nor does the builder take it */
		if (t == TIER_FAST && far->rows[t] > 0 && t_ns - l->newest_ns[t] > far->longest_ns)
			far->longest_ns = t_ns - l->newest_ns[t];
		l->newest_ns[t] = t_ns;
		far->first_ns = !far->any || t_ns < far->first_ns ? t_ns : far->first_ns;
		far->last_ns = !far->any || t_ns > far->last_ns ? t_ns : far->last_ns;
		far->any = true;
		far->rows[t]++;
		o = own_open(l, t, log_cell(t_ns));
		if (!o)
			continue;
		o->rows->t_ns[o->n] = t_ns;
		memcpy(o->rows->values + o->n++ * r->width, r->values + i * r->width, r->width * sizeof(double));
	}
	for (size_t k = 0; k < l->n_meters; k++)
		for (size_t i = 0; i < r->n && energy_meter_row(&l->meters[k], r, i); i++)
			l->metered = true;
	states_take(l, r);
	publish(l);
}

static void take_rest(struct sink *s)
{
	struct log *l = log_of(s);

	if (l->bound.now)
		log_run(l, clock_now_ns());
}

void log_run(struct log *l, int64_t now_ns)
{
	if (!l->builder)
		return;
	log_builder_run(l->builder, now_ns);
	if (l->pending)
		publish(l);
}

static void take_mark(struct sink *s, const struct mark *m)
{
	struct log *l = log_of(s);

	if (!l->builder)
		return;
	note_add(l, &(struct log_event) {.kind = LOG_MARK, .t_ns = m->t_ns, .u.mark = *m});
	log_builder_mark(l->builder, m);
}

static void take_gap(struct sink *s, const struct gap *g)
{
	struct log *l = log_of(s);

	if (!l->builder)
		return;
	if (gap_is_hole(g))
		note_add(l, &(struct log_event) {.kind = LOG_GAP, .t_ns = g->from_ns, .u.gap = *g});
	log_builder_gap(l->builder, g);
}

static void take_change(struct sink *s, const struct change *c)
{
	struct log *l = log_of(s);

	if (!l->builder)
		return;
	note_add(l, &(struct log_event) {.kind = LOG_STATE, .t_ns = c->t_ns, .u.change = *c});
	log_builder_change(l->builder, c);
}

struct ranges *log_range_store(struct log *l)
{
	struct ranges *store;

	pthread_mutex_lock(&l->lock);
	store = l->ranges;
	pthread_mutex_unlock(&l->lock);
	return store;
}

/* Any thread may read the store meanwhile. */
static void take_ranges(struct sink *s, const struct range *list, size_t n)
{
	struct log *l = log_of(s);
	struct ranges *store = log_range_store(l);
	struct err e;

	if (!l->builder)
		return;
	if (!store && l->bound.rows_ns > 0 && (store = ranges_new(RANGES_MOST, &e)) != NULL) {
		pthread_mutex_lock(&l->lock);
		l->ranges = store;
		pthread_mutex_unlock(&l->lock);
	}
	for (size_t i = 0; store && i < n; i++) {
		struct range r = list[i];

		r.name = ranges_name(store, list[i].name);
		r.category = list[i].category ? ranges_name(store, list[i].category) : NULL;
		r.lane = ranges_lane(store, list[i].lane);
		ranges_add(store, &r);
	}
	log_builder_ranges(l->builder, list, n);
	if (l->pending)
		publish(l);
}

/* Adds an edition of the session with these channels. */
static bool edition_add(struct log *l, const struct channel *channels)
{
	struct edition *e = calloc(1, sizeof(*e));
	size_t n = l->about.n_channels;
	struct channel *own = calloc(n + 1, sizeof(*own));

	if (!e || !own) {
		free(e);
		free(own);
		return false;
	}
	if (n > 0)
		memcpy(own, channels, n * sizeof(*own));
	l->about.channels = own;
	e->session = l->about;
	lock(l);
	e->before = l->edition;
	l->edition = e;
	l->generation++;
	l->version++;
	pthread_mutex_unlock(&l->lock);
	return true;
}

static void take_description(struct sink *s, const struct channel *channels)
{
	struct log *l = log_of(s);

	if (!l->builder || !edition_add(l, channels))
		return;
	for (size_t k = 0; k < l->n_meters; k++)
		energy_meter_described(&l->meters[k], &l->about);
	log_builder_described(l->builder);
}

static int begin(struct sink *s, const struct session *about, struct err *e)
{
	struct log *l = log_of(s);
	struct log_options o = {.session = LOG_MEMORY_SESSION, .live = l->bound.now};
	struct fact *facts = calloc(about->n_facts + 1, sizeof(*facts));

	if (l->builder) {
		free(facts);
		return err_set(e, ERR_FAILED, _("a log has only one stream"));
	}
	if (facts && about->n_facts > 0)
		memcpy(facts, about->facts, about->n_facts * sizeof(*facts));
	l->about = *about;
	l->about.facts = facts;
	if (facts && edition_add(l, about->channels) && meters_begin(l) && (l->watches = state_watches_new(&l->about, &l->n_watches)) != NULL)
		l->builder = log_builder_new(&l->about, &o, chunk_emit, l, e);
	if (!l->builder) {
		if (!l->edition)
			free(facts);
		return err_set(e, ERR_FAILED, _("out of memory for the history"));
	}
	return 0;
}

static int end(struct sink *s, struct err *e)
{
	struct log *l = log_of(s);

	(void)e;
	if (!l->builder || l->ended)
		return 0;
	log_builder_end(l->builder, LOG_STOPPED, NULL);
	publish(l);
	lock(l);
	l->ended = true;
	for (struct log_queue *q = l->queues; q; q = q->next)
		pthread_cond_signal(&q->news);
	pthread_mutex_unlock(&l->lock);
	log_builder_free(l->builder);
	l->builder = NULL;
	return 0;
}

static const struct sink_ops ops = {
	.begin = begin,
	.rows = take_rows,
	.mark = take_mark,
	.gap = take_gap,
	.end = end,
	.rest = take_rest,
	.change = take_change,
	.ranges = take_ranges,
	.described = take_description,
};

/* --- looks --- */

/* Room for more groups. Returns false if out of memory. */
static bool reserve(struct look_level *v, uint64_t n)
{
	struct look_group *p;
	size_t room = v->room ? v->room : 2 * STEP;

	while (room < n)
		room *= 2;
	if (room == v->room)
		return true;
	p = reallocarray(v->p, room, sizeof(*p));
	if (!p)
		return false;
	v->p = p;
	v->room = room;
	return true;
}

/* What the log has dropped is dropped here; as a log, only some at a time. */
static void level_forget(struct look_level *v, uint64_t first, const uint64_t from[LOOK_PARTS])
{
	size_t gone;

	for (int part = 0; part < LOOK_PARTS; part++) {
		for (uint64_t i = v->from[part] > v->first ? v->from[part] : v->first; i < from[part] && i - v->first < v->n; i++) {
			struct look_part *p = &v->p[i - v->first].part[part];

			chunks_free(p->list);
			*p = (struct look_part) {.gone = p->n > 0 || p->gone};
		}
		v->from[part] = from[part];
	}
	gone = first - v->first < v->n ? (size_t)(first - v->first) : v->n;
	for (size_t i = 0; i < gone; i++)
		for (int part = 0; part < LOOK_PARTS; part++)
			chunks_free(v->p[i].part[part].list);
	v->n -= gone;
	if (gone > 0)
		memmove(v->p, v->p + gone, v->n * sizeof(*v->p));
	v->first = first;
}

/* Copies a group, with the lock held; the copy of an earlier look keeps its references. */
static void group_copy(struct look_group *to, const struct look_group *from, bool is_new)
{
	for (int part = 0; part < LOOK_PARTS; part++)
		if (from->part[part].list && (is_new || !to->part[part].list))
			atomic_fetch_add(&from->part[part].list->refs, 1);
	*to = *from;
}

/* Copies what is new or may have changed, at most STEP groups. Returns false if there are more, or no room. */
static bool level_copy(struct log *l, struct level *from, struct look_level *v)
{
	uint64_t end = v->first + v->n, at = v->n > CHANGING ? end - CHANGING : v->first;
	unsigned left = STEP;

	for (; at < from->end && left > 0 && at - v->first < v->room; at++, left--) {
		group_copy(&v->p[at - v->first], group_at(from, at), at >= end);
		v->n += at >= end;
	}
	held(l, STEP - left);
	return at == from->end;
}

static bool same_numbers(const struct level *from, const struct look_level *v)
{
	return from->first == v->first && memcmp(from->from, v->from, sizeof(v->from)) == 0;
}

/* The rest of a look, once all groups are in it. */
static void rest_copy(struct log *l, struct log_look *k)
{
	memcpy(k->open, l->open, sizeof(k->open));
	memcpy(k->n_open, l->n_open, sizeof(k->n_open));
	for (int t = 0; t < TIERS; t++) {
		for (unsigned i = 0; i < k->n_open[t]; i++)
			atomic_fetch_add(&k->open[t][i].rows->refs, 1);
		held(l, k->n_open[t]);
	}
	memcpy(k->rows, l->far.rows, sizeof(k->rows));
	k->any = l->far.any;
	k->first_ns = l->far.first_ns;
	k->last_ns = l->far.last_ns;
	k->serial = l->serial;
	k->session = l->edition ? &l->edition->session : NULL;
	k->generation = l->generation;
	k->ended = l->ended;
	k->version = l->version;
}

/* How far a part goes back, if it is not as far as it should. */
static int64_t shortened(struct log *l, int level)
{
	struct level *v = &l->level[level];
	int64_t ns;

	if (!v->short_of[0] || v->from[0] == v->end)
		return 0;
	ns = l->far.last_ns - log_cell_ns(group_at(v, v->from[0])->cell);
	return ns < l->bound.rows_ns ? ns : 0;
}

/* Takes the blocks with notes that the look does not have, at most STEP. Returns their number. */
static size_t notes_copy(struct log *l, struct log_look *k, struct log_notes *blocks[STEP], size_t sizes[STEP])
{
	size_t n = 0;

	if (k->note < l->notes_first) {
		k->note = l->notes_first;
		k->note_at = 0;
	}
	for (uint64_t i = k->note; i < l->notes_end && n < STEP; i++, n++) {
		blocks[n] = l->notes[i % NOTES];
		sizes[n] = blocks[n]->n;
		atomic_fetch_add(&blocks[n]->refs, 1);
	}
	held(l, (unsigned)n);
	return n;
}

bool log_look(struct log *l, struct log_look *k, log_note_visit *visit, void *arg)
{
	struct look_open old[TIERS][LOOK_OPEN];
	unsigned n_old[TIERS];
	bool all = false, ok = true;

	memcpy(old, k->open, sizeof(old));
	memcpy(n_old, k->n_open, sizeof(n_old));
	while (ok && !all) {
		uint64_t first[LOG_LEVELS + 1], from[LOG_LEVELS + 1][LOOK_PARTS], end[LOG_LEVELS + 1];
		struct log_notes *blocks[STEP];
		size_t sizes[STEP], n = 0;

		lock(l);
		all = true;
		if (k->version == l->version && k->version > 0) {
			pthread_mutex_unlock(&l->lock);
			return true;
		}
		for (int i = 0; i <= LOG_LEVELS; i++) {
			struct level *v = &l->level[i];

			first[i] = v->first;
			end[i] = v->end;
			memcpy(from[i], v->from, sizeof(from[i]));
			all &= same_numbers(v, &k->level[i]) && level_copy(l, v, &k->level[i]);
		}
		if (visit)
			n = notes_copy(l, k, blocks, sizes);
		all &= n < STEP;
		if (all) {
			rest_copy(l, k);
			k->rows_ns = shortened(l, 1);
			k->ranges_ns = shortened(l, LOOK_RANGES);
		}
		pthread_mutex_unlock(&l->lock);
		for (size_t i = 0; i < n; i++) {
			size_t at = i == 0 ? k->note_at : 0;
			uint8_t *p = blocks[i]->bytes;

			if (sizes[i] > at)
				visit(arg, &(struct log_in) {p + at, p + sizes[i], false});
			notes_free(blocks[i]);
		}
		if (n > 0) {
			k->note += n - 1;
			k->note_at = sizes[n - 1];
		}
		for (int i = 0; i <= LOG_LEVELS && !all; i++) {
			level_forget(&k->level[i], first[i], from[i]);
			ok &= reserve(&k->level[i], end[i] - first[i] + 2);
		}
	}
	for (int t = 0; t < TIERS && all; t++)
		for (unsigned i = 0; i < n_old[t]; i++)
			rows_free(old[t][i].rows);
	return all;
}

void log_look_free(struct log_look *k)
{
	for (int i = 0; i <= LOG_LEVELS; i++) {
		for (size_t j = 0; j < k->level[i].n; j++)
			for (int part = 0; part < LOOK_PARTS; part++)
				chunks_free(k->level[i].p[j].part[part].list);
		free(k->level[i].p);
	}
	for (int t = 0; t < TIERS; t++)
		for (unsigned i = 0; i < k->n_open[t]; i++)
			rows_free(k->open[t][i].rows);
	*k = (struct log_look) {.version = 0};
}

/* --- queues, for other threads --- */

struct log_queue *log_queue_new(struct log *l, size_t most, struct log_look *look, struct err *e)
{
	struct log_queue *q = calloc(1, sizeof(*q));
	bool ok = false;

	if (q && thread_cond_init(&q->news) == 0) {
		q->log = l;
		q->most = most;
		q->end = &q->head;
		/* What comes between the look and the queue is in another look. */
		do {
			ok = !look || log_look(l, look, NULL, NULL);
			lock(l);
			if (ok && (!look || look->version == l->version)) {
				q->next = l->queues;
				l->queues = q;
				atomic_fetch_add(&l->refs, 1);
				pthread_mutex_unlock(&l->lock);
				return q;
			}
			pthread_mutex_unlock(&l->lock);
		} while (ok);
		pthread_cond_destroy(&q->news);
	}
	free(q);
	err_set(e, ERR_FAILED, _("out of memory"));
	return NULL;
}

void log_queue_free(struct log_queue *q)
{
	struct log_queue **at;

	if (!q)
		return;
	pthread_mutex_lock(&q->log->lock);
	for (at = &q->log->queues; *at != q; at = &(*at)->next)
		continue;
	*at = q->next;
	pthread_mutex_unlock(&q->log->lock);
	while (q->head)
		log_chunk_free(queue_pop(q));
	pthread_cond_destroy(&q->news);
	log_free(q->log);
	free(q);
}

struct log_chunk *log_queue_take(struct log_queue *q, int64_t until_ns, struct log_skipped *skipped, bool *ended)
{
	struct log_chunk *c = NULL;

	pthread_mutex_lock(&q->log->lock);
	while (!q->head && !q->log->ended && !q->woken && thread_wait(&q->news, &q->log->lock, until_ns))
		continue;
	q->woken = false;
	*skipped = q->skipped;
	q->skipped = (struct log_skipped) {.chunks = 0};
	if (q->head)
		c = queue_pop(q);
	*ended = !c && q->log->ended;
	pthread_mutex_unlock(&q->log->lock);
	return c;
}

void log_queue_skipped(struct log_queue *q, struct log_skipped *out)
{
	pthread_mutex_lock(&q->log->lock);
	*out = q->skipped;
	pthread_mutex_unlock(&q->log->lock);
}

size_t log_queue_bytes(struct log_queue *q)
{
	size_t n;

	pthread_mutex_lock(&q->log->lock);
	n = q->bytes;
	pthread_mutex_unlock(&q->log->lock);
	return n;
}

void log_queue_wake(struct log_queue *q)
{
	pthread_mutex_lock(&q->log->lock);
	q->woken = true;
	pthread_cond_signal(&q->news);
	pthread_mutex_unlock(&q->log->lock);
}

/* --- construction --- */

struct log *log_new(const struct log_bound *bound, struct err *e)
{
	struct log *l = calloc(1, sizeof(*l));
	int64_t longest = bound->rows_ns > 24 * HOUR_NS ? bound->rows_ns : bound->rows_ns ? 24 * HOUR_NS : 0;
	bool ok = l && pthread_mutex_init(&l->lock, NULL) == 0;

	if (!ok) {
		free(l);
		err_set(e, ERR_FAILED, _("out of memory for the history"));
		return NULL;
	}
	atomic_init(&l->refs, 1);
	l->sink.ops = &ops;
	l->bound = *bound;
	l->pending_end = &l->pending;
	for (int i = 0; i <= LOG_LEVELS; i++) {
		struct level *v = &l->level[i];

		v->most = i == LOOK_RANGES ? 4 * LOG_RANGES_BYTES / RANGES_BYTES
					   : (uint64_t)(longest >> (LOG_CELL_ZOOM + LOG_SPAN_BITS * i)) + 16;
		v->ring = calloc(v->most, sizeof(*v->ring));
		ok &= v->ring != NULL;
	}
	for (int t = 0; t < TIERS; t++)
		l->newest_ns[t] = INT64_MIN;
	if (ok)
		return l;
	log_free(l);
	err_set(e, ERR_FAILED, _("out of memory for the history"));
	return NULL;
}

void log_free(struct log *l)
{
	if (!l || atomic_fetch_sub(&l->refs, 1) > 1)
		return;
	log_builder_free(l->builder);
	while (l->pending) {
		struct log_chunk *c = l->pending;

		l->pending = c->next;
		log_chunk_free(c);
	}
	for (int i = 0; i <= LOG_LEVELS; i++) {
		for (uint64_t g = l->level[i].first; g < l->level[i].end; g++)
			for (int part = 0; part < LOOK_PARTS; part++)
				chunks_free(group_at(&l->level[i], g)->part[part].list);
		free(l->level[i].ring);
	}
	for (int t = 0; t < TIERS; t++) {
		for (unsigned i = 0; i < l->n_own[t]; i++)
			rows_free(l->own[t][i].rows);
		for (unsigned i = 0; i < l->n_open[t]; i++)
			rows_free(l->open[t][i].rows);
	}
	if (l->edition)
		free((void *)(uintptr_t)l->edition->session.facts);
	while (l->edition) {
		struct edition *gone = l->edition;

		l->edition = gone->before;
		free((void *)(uintptr_t)gone->session.channels);
		free(gone);
	}
	while (l->notes_first < l->notes_end)
		notes_free(l->notes[l->notes_first++ % NOTES]);
	ranges_free(l->ranges);
	free(l->meters);
	free(l->watches);
	free(l->sources);
	free(l->own_sources);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

struct sink *log_sink(struct log *l)
{
	return &l->sink;
}

const struct session *log_session(struct log *l, uint32_t *generation)
{
	const struct session *s;

	pthread_mutex_lock(&l->lock);
	s = l->edition ? &l->edition->session : NULL;
	*generation = l->generation;
	pthread_mutex_unlock(&l->lock);
	return s;
}

int64_t log_longest_ns(struct log *l)
{
	int64_t ns;

	pthread_mutex_lock(&l->lock);
	ns = l->far.longest_ns;
	pthread_mutex_unlock(&l->lock);
	return ns;
}

unsigned log_held_most(struct log *l)
{
	unsigned n;

	pthread_mutex_lock(&l->lock);
	n = l->held_most;
	pthread_mutex_unlock(&l->lock);
	return n;
}

bool log_kept(struct log *l, int64_t *from_ns, int64_t *to_ns)
{
	struct level *v = &l->level[1];
	bool any;

	pthread_mutex_lock(&l->lock);
	any = l->far.any;
	*from_ns = l->far.first_ns;
	*to_ns = l->far.last_ns;
	if (v->from[LOOK_ROWS] < v->end) {
		int64_t first_ns = log_cell_ns(group_at(v, v->from[LOOK_ROWS])->cell);

		*from_ns = first_ns > *from_ns ? first_ns : *from_ns;
	}
	pthread_mutex_unlock(&l->lock);
	return any;
}

uint64_t log_bytes_kept(struct log *l)
{
	uint64_t n = 0;

	pthread_mutex_lock(&l->lock);
	for (int i = 0; i <= LOG_LEVELS; i++)
		n += l->level[i].bytes[0] + l->level[i].bytes[1];
	pthread_mutex_unlock(&l->lock);
	return n;
}
