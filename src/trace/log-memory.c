/* The log of a stream in memory. The appending thread packs rows outside the lock, and then, with it, adds what is
 * finished in one step, and drops what is too old or too much: a look never sees half of a step, and waits for
 * numbers to be copied only. What a step drops is freed after it, once no queue needs it. */
#include "trace/log-memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log-builder.h"
#include "util/array.h"
#include "util/intl.h"
#include "util/thread.h"

#define STEP	     64 /* chunks that are handled under the lock at once */
#define NOTES_BYTES  (9 << 19)
#define NOTES_LEAST  (64 << 10)		 /* where no past is kept */
#define RANGES_MOST  (UINT32_C(1) << 17) /* in the store, 8 MB */
#define HOUR_NS	     (3600 * NS_PER_S)

/* How long each shelf is kept, and in how many bytes; 0: as for the rows. */
static const struct keep {
	int64_t ns;
	size_t bytes;
	int level; /* of the spans of its chunks */
} keeps[LOG_SHELVES] = {
	[SHELF_RANGES] = {0, LOG_RANGES_BYTES, 1},
	[SHELF_ROWS] = {0, 0, 1},
	[SHELF_FINE] = {HOUR_NS, 11 << 20, 1},
	[SHELF_MIDDLE] = {6 * HOUR_NS, 3 << 20, 2},
	[SHELF_COARSE] = {24 * HOUR_NS, 3 << 19, 2},
	[SHELF_DAY] = {24 * HOUR_NS, 1 << 19, 3},
	[SHELF_NOTES] = {INT64_MAX / 4, NOTES_BYTES, 1},
};

/* Chunk i is at i % room, which is a power of 2. Those before log_now.kept are there for queues. */
struct shelf {
	struct log_chunk **p;
	uint64_t room, first, end;
	bool short_of; /* something younger than it should be was dropped */
};

/* The session as a look may have it. */
struct edition {
	struct edition *before;
	struct session session;
	struct channel channels[];
};

struct log {
	struct sink sink;
	atomic_uint refs;
	struct log_bound bound;

	/* Of the appending thread. */
	struct log_builder *builder;
	struct session about; /* of the builder */
	struct fact *facts;   /* of all editions */
	struct log_now own;  /* as `now` will be */
	int64_t closed_span; /* groups up to this one get no more rows */
	struct energy_meter *meters; /* of the channels with power */
	size_t n_meters;
	bool metered; /* `sources` are not up to date */

	pthread_mutex_t lock; /* for what follows */
	struct log_now now;
	struct shelf shelf[LOG_SHELVES]; /* only the appending thread changes them, and uses what is not in `now` */
	struct edition *edition;
	uint32_t generation;
	uint64_t version;
	bool ended;
	struct ranges *ranges;
	struct energy_source *sources; /* of the meters; power SIZE_MAX: not known yet */
	struct log_queue *queues;
	unsigned held, held_most;

	pthread_cond_t news; /* for queues */
};

struct log_queue {
	struct log *log;
	struct log_queue *next;
	uint64_t at[SHELF_NOTES]; /* the next chunk of each shelf */
	size_t bytes, most;	  /* of those from there on */
	struct log_skipped skipped;
	bool full; /* chunks are to be skipped */
};

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

/* --- references --- */

void log_chunk_free(struct log_chunk *c)
{
	if (c && atomic_fetch_sub(&c->refs, 1) == 1)
		free(c);
}

/* The open rows are in one more place. */
static void open_share(const struct log_now *now)
{
	for (int t = 0; t < TIERS; t++)
		for (unsigned i = 0; i < now->n_open[t]; i++)
			atomic_fetch_add(&now->open[t][i].rows->refs, 1);
}

static void open_free(const struct log_now *now)
{
	for (int t = 0; t < TIERS; t++)
		for (unsigned i = 0; i < now->n_open[t]; i++)
			log_rows_free(now->open[t][i].rows);
}

/* --- shelves --- */

static struct log_chunk **shelf_at(const struct shelf *v, uint64_t number)
{
	return &v->p[number & (v->room - 1)];
}

enum log_shelf log_shelf_of(const struct log_entry *e)
{
	if (e->kind == LOG_RANGE)
		return SHELF_RANGES;
	if (e->kind != LOG_LOD && e->kind != LOG_STAT)
		return SHELF_ROWS;
	if (log_entry_level(e) == 2)
		return e->kind == LOG_LOD && e->aux > 32 ? SHELF_COARSE : SHELF_MIDDLE;
	return log_entry_level(e) == 1 ? SHELF_FINE : SHELF_DAY;
}

static size_t chunk_bytes(const struct log_chunk *c)
{
	return sizeof(*c) + c->n;
}

/* Adds a chunk that nobody sees yet. Returns NULL if out of memory. */
static struct log_chunk *shelf_add(struct log *l, enum log_shelf s, const struct log_entry *e, const uint8_t *bytes, size_t n)
{
	struct shelf *v = &l->shelf[s], bigger = *v;
	struct log_chunk *c = malloc(sizeof(*c) + n);

	if (c && v->end - v->first == v->room) {
		bigger.room = v->room ? 2 * v->room : 64;
		bigger.p = calloc(bigger.room, sizeof(struct log_chunk *));
		for (uint64_t i = v->first; bigger.p && i < v->end; i++)
			*shelf_at(&bigger, i) = *shelf_at(v, i);
	}
	if (!c || !bigger.p) {
		free(c);
		return NULL;
	}
	if (bigger.p != v->p) {
		struct log_chunk **old = v->p;

		lock(l);
		*v = bigger;
		pthread_mutex_unlock(&l->lock);
		free(old);
	}
	*c = (struct log_chunk) {.generation = l->generation, .about = *e, .n = (uint32_t)n};
	atomic_init(&c->refs, 1);
	memcpy(c->bytes, bytes, n);
	*shelf_at(v, v->end++) = c;
	l->own.bytes[s] += chunk_bytes(c);
	return c;
}

/* What is too old, and the oldest of what is too much, is not kept any more; of rows, whole groups that get no more. */
static void shelf_retain(struct log *l, enum log_shelf s)
{
	const struct keep *k = &keeps[s];
	struct shelf *v = &l->shelf[s];
	struct log_now *own = &l->own;
	int64_t ns = k->ns && (l->bound.rows_ns || s == SHELF_NOTES) ? k->ns : l->bound.rows_ns, newest_span = log_span(log_cell(own->last_ns), 1);
	uint64_t most = k->bytes ? k->bytes : l->bound.bytes ? l->bound.bytes : UINT64_MAX;

	if (s == SHELF_NOTES && !l->bound.rows_ns)
		most = NOTES_LEAST;
	for (; own->kept[s] < v->end; own->kept[s]++) {
		const struct log_chunk *c = *shelf_at(v, own->kept[s]);
		int64_t span = log_span(c->about.cell, k->level), end = log_span_cell(span + 1, k->level);
		bool old = log_cell_ns(end) + ns < own->last_ns || (s == SHELF_ROWS && end <= own->rows_from);

		if ((!old && own->bytes[s] <= most) || (s == SHELF_ROWS && span > l->closed_span && span + 2 > newest_span))
			break;
		v->short_of |= !old;
		own->bytes[s] -= chunk_bytes(c);
		if (s == SHELF_RANGES) {
			own->ranges_from = c->about.cell + 1;
			own->ranges_gone += old ? 0 : c->about.events;
		}
		if (s != SHELF_ROWS)
			continue;
		own->rows_from = end > own->rows_from ? end : own->rows_from;
		for (int t = 0; t < TIERS; t++)
			own->gone[t] += c->about.rows[t];
	}
	own->end[s] = v->end;
}

/* How far a shelf goes back, if it is not as far as it should; else 0. */
static int64_t shelf_shortened(const struct log *l, enum log_shelf s)
{
	const struct shelf *v = &l->shelf[s];
	int64_t ns;

	if (!v->short_of || l->own.kept[s] == v->end)
		return 0;
	ns = l->own.last_ns - log_cell_ns((*shelf_at(v, l->own.kept[s]))->about.cell);
	return ns < l->bound.rows_ns ? ns : 0;
}

/* --- queues --- */

/* Returns the oldest chunk, and its shelf; NULL: there is none. */
static struct log_chunk *queue_oldest(const struct log_queue *q, int *shelf)
{
	const struct log *l = q->log;
	struct log_chunk *c = NULL;

	for (int s = 0; s < SHELF_NOTES; s++)
		if (q->at[s] < l->now.end[s] && (!c || (*shelf_at(&l->shelf[s], q->at[s]))->serial < c->serial)) {
			c = *shelf_at(&l->shelf[s], q->at[s]);
			*shelf = s;
		}
	return c;
}

static struct log_chunk *queue_next(struct log_queue *q)
{
	int shelf;
	struct log_chunk *c = queue_oldest(q, &shelf);

	if (c) {
		q->at[shelf]++;
		q->bytes -= chunk_bytes(c);
	}
	return c;
}

void log_skipped_add(struct log_skipped *to, const struct log_skipped *more)
{
	for (int t = 0; t < TIERS; t++)
		to->rows[t] += more->rows[t];
	to->chunks += more->chunks;
	to->marks += more->marks;
	to->ranges += more->ranges;
	to->events += more->events;
}

void log_skip(struct log_skipped *to, const struct log_chunk *c)
{
	for (int t = 0; t < TIERS; t++)
		to->rows[t] += c->about.rows[t];
	to->chunks++;
	*(c->about.kind == LOG_MARK ? &to->marks : c->about.kind == LOG_RANGE ? &to->ranges : &to->events) += c->about.events;
}

/* Skips the oldest chunks of queues with too much, some at a time. */
static void queues_skip(struct log *l)
{
	bool more = true;

	while (more) {
		lock(l);
		more = false;
		for (struct log_queue *q = l->queues; q; q = q->next) {
			unsigned n = 0;

			for (; n < STEP && q->full; n++) {
				const struct log_chunk *c = q->bytes > q->most / 2 ? queue_next(q) : NULL;

				q->full = c != NULL;
				if (!c)
					break;
				log_skip(&q->skipped, c);
			}
			held(l, n);
			more |= q->full;
		}
		pthread_mutex_unlock(&l->lock);
	}
}

/* --- a step of the appending thread --- */

/* Shows all that was packed and all rows that wait. */
static void publish(struct log *l)
{
	uint64_t first[LOG_SHELVES];
	struct log_now old;
	bool full = false;

	for (enum log_shelf s = 0; s < LOG_SHELVES; s++)
		shelf_retain(l, s);
	l->own.rows_ns = shelf_shortened(l, SHELF_ROWS);
	l->own.ranges_ns = shelf_shortened(l, SHELF_RANGES);
	memcpy(first, l->own.kept, sizeof(first));
	open_share(&l->own);
	lock(l);
	old = l->now;
	l->now = l->own;
	l->version++;
	for (size_t k = 0; l->metered && k < l->n_meters; k++)
		l->sources[k] = energy_meter_source(&l->meters[k]);
	l->metered = false;
	for (struct log_queue *q = l->queues; q; q = q->next) {
		q->bytes += l->now.packed - old.packed;
		q->full |= q->bytes > q->most;
		full |= q->full;
		for (int s = 0; s < SHELF_NOTES; s++)
			first[s] = q->at[s] < first[s] ? q->at[s] : first[s];
	}
	pthread_mutex_unlock(&l->lock);
	if (l->now.serial != old.serial) /* no queue waits for rows that are in no chunk */
		pthread_cond_broadcast(&l->news);
	if (full)
		queues_skip(l);
	for (int s = 0; s < LOG_SHELVES; s++)
		for (struct shelf *v = &l->shelf[s]; v->first < first[s]; v->first++)
			log_chunk_free(*shelf_at(v, v->first));
	open_free(&old);
}

static bool chunk_emit(void *to, const struct log_entry *e, const uint8_t *bytes, size_t n)
{
	struct log *l = to;
	struct log_chunk *c = shelf_add(l, e->stored ? log_shelf_of(e) : SHELF_NOTES, e, bytes, n);

	if (!c || !e->stored)
		return c;
	c->serial = c->about.distance = ++l->own.serial;
	l->own.packed += chunk_bytes(c);
	if (e->kind == LOG_STAT && e->aux == 1 && log_span(e->cell, 1) > l->closed_span)
		l->closed_span = log_span(e->cell, 1);
	return true;
}

static struct log *log_of(struct sink *s)
{
	return (struct log *)(void *)s;
}

bool log_energy_source(struct log *l, size_t channel, struct energy_source *out)
{
	bool found = false;

	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < l->n_meters && !found; i++)
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
	for (size_t k = 0; l->sources && k < l->n_meters; k++)
		l->sources[k].power = SIZE_MAX;
	return l->meters && l->sources;
}

static void take_rows(struct sink *s, const struct rows *r)
{
	struct log *l = log_of(s);

	if (!l->builder || r->width != l->about.width[r->tier])
		return;
	log_builder_rows(l->builder, r);
	for (size_t k = 0; k < l->n_meters; k++)
		for (size_t i = 0; i < r->n && energy_meter_row(&l->meters[k], r, i); i++)
			l->metered = true;
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
	if (l->own.serial != l->now.serial)
		publish(l);
}

static void take_event(struct sink *s, const struct log_event *ev)
{
	struct log *l = log_of(s);

	if (!l->builder)
		return;
	log_builder_event(l->builder, ev);
	publish(l);
}

static void take_mark(struct sink *s, const struct mark *m)
{
	log_of(s)->own.marks++;
	take_event(s, &(struct log_event) {.kind = LOG_MARK, .t_ns = m->t_ns, .u.mark = *m});
}

static void take_gap(struct sink *s, const struct gap *g)
{
	take_event(s, &(struct log_event) {.kind = LOG_GAP, .t_ns = g->from_ns, .u.gap = *g});
}

static void take_change(struct sink *s, const struct change *c)
{
	take_event(s, &(struct log_event) {.kind = LOG_STATE, .t_ns = c->t_ns, .u.change = *c});
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
	publish(l);
}

/* Adds an edition of the session with these channels. */
static bool edition_add(struct log *l, const struct channel *channels)
{
	size_t bytes = l->about.n_channels * sizeof(*channels);
	struct edition *e = malloc(sizeof(*e) + bytes);

	if (!e)
		return false;
	if (bytes > 0)
		memcpy(e->channels, channels, bytes);
	l->about.channels = e->channels;
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
}

static int begin(struct sink *s, const struct session *about, struct err *e)
{
	struct log *l = log_of(s);
	size_t bytes = about->n_facts * sizeof(*about->facts);

	if (l->edition)
		return err_set(e, ERR_FAILED, _("a log has only one stream"));
	l->about = *about;
	l->about.facts = l->facts = malloc(bytes + 1);
	if (l->facts && bytes > 0)
		memcpy(l->facts, about->facts, bytes);
	if (l->facts && edition_add(l, about->channels) && meters_begin(l))
		l->builder = log_builder_new(&l->about, l->bound.now, &l->own, chunk_emit, l, e);
	return l->builder ? 0 : err_set(e, ERR_FAILED, _("out of memory for the history"));
}

static int end(struct sink *s, struct err *e)
{
	struct log *l = log_of(s);

	(void)e;
	if (l->ended)
		return 0;
	if (l->builder) {
		log_builder_end(l->builder);
		publish(l);
		log_builder_free(l->builder);
		l->builder = NULL;
	}
	lock(l);
	l->ended = true;
	l->version++;
	pthread_mutex_unlock(&l->lock);
	pthread_cond_broadcast(&l->news);
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

/* Drops what is not kept any more, and makes room. Returns false if out of memory. */
static bool look_forget(struct look_shelf *to, uint64_t kept, uint64_t end)
{
	size_t gone = kept - to->first < to->n ? (size_t)(kept - to->first) : to->n;
	struct log_chunk **p = array_grow(to->p, (size_t)(end - kept) + STEP, &to->room, sizeof(struct log_chunk *));

	if (!p)
		return false;
	for (size_t i = 0; i < gone; i++)
		log_chunk_free(p[i]);
	to->p = p;
	to->n -= gone;
	memmove(p, p + gone, to->n * sizeof(struct log_chunk *));
	to->first = kept;
	return true;
}

bool log_look(struct log *l, struct log_look *k)
{
	struct log_now old = k->now, next;
	bool all = false;

	for (next = old; !all;) {
		for (enum log_shelf s = 0; s < LOG_SHELVES; s++)
			if (!look_forget(&k->shelf[s], next.kept[s], next.end[s]))
				return false;
		lock(l);
		if (k->version == l->version && k->version > 0) {
			pthread_mutex_unlock(&l->lock);
			return true;
		}
		next = l->now;
		all = true;
		for (enum log_shelf s = 0; s < LOG_SHELVES; s++) {
			struct look_shelf *to = &k->shelf[s];
			unsigned n = 0;

			for (; to->first == next.kept[s] && to->first + to->n < next.end[s] && to->n < to->room && n < STEP; n++) {
				struct log_chunk *c = *shelf_at(&l->shelf[s], to->first + to->n);

				atomic_fetch_add(&c->refs, 1);
				to->p[to->n++] = c;
			}
			held(l, n);
			all &= to->first == next.kept[s] && to->first + to->n == next.end[s];
		}
		if (all) {
			k->now = next;
			open_share(&k->now);
			k->session = l->edition ? &l->edition->session : NULL;
			k->generation = l->generation;
			k->ended = l->ended;
			k->version = l->version;
		}
		pthread_mutex_unlock(&l->lock);
	}
	open_free(&old);
	return true;
}

void log_look_free(struct log_look *k)
{
	for (enum log_shelf s = 0; s < LOG_SHELVES; s++) {
		for (size_t i = 0; i < k->shelf[s].n; i++)
			log_chunk_free(k->shelf[s].p[i]);
		free(k->shelf[s].p);
	}
	open_free(&k->now);
	*k = (struct log_look) {.version = 0};
}

/* --- queues, for other threads --- */

struct log_queue *log_queue_new(struct log *l, size_t most, bool past, struct err *e)
{
	struct log_queue *q = calloc(1, sizeof(*q));

	if (!q) {
		err_set(e, ERR_FAILED, _("out of memory"));
		return NULL;
	}
	q->log = l;
	atomic_fetch_add(&l->refs, 1);
	lock(l);
	memcpy(q->at, past ? l->now.kept : l->now.end, sizeof(q->at));
	for (int s = 0; past && s < SHELF_NOTES; s++)
		q->bytes += l->now.bytes[s];
	q->most = most < SIZE_MAX - q->bytes ? most + q->bytes : SIZE_MAX;
	q->next = l->queues;
	l->queues = q;
	pthread_mutex_unlock(&l->lock);
	return q;
}

static void log_drop(struct log *l);

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
	log_drop(q->log);
	free(q);
}

void log_queue_wait(struct log_queue *q, int64_t until_ns)
{
	int shelf;

	pthread_mutex_lock(&q->log->lock);
	while (!queue_oldest(q, &shelf) && !q->log->ended && thread_wait(&q->log->news, &q->log->lock, until_ns))
		continue;
	pthread_mutex_unlock(&q->log->lock);
}

struct log_chunk *log_queue_take(struct log_queue *q, struct log_skipped *skipped, bool *ended)
{
	struct log_chunk *c;

	pthread_mutex_lock(&q->log->lock);
	c = queue_next(q);
	if (c)
		atomic_fetch_add(&c->refs, 1);
	log_skipped_add(skipped, &q->skipped);
	q->skipped = (struct log_skipped) {.chunks = 0};
	*ended = !c && q->log->ended;
	pthread_mutex_unlock(&q->log->lock);
	return c;
}

size_t log_queue_look(struct log_queue *q, struct log_skipped *skipped)
{
	size_t n;

	pthread_mutex_lock(&q->log->lock);
	log_skipped_add(skipped, &q->skipped);
	n = q->bytes;
	pthread_mutex_unlock(&q->log->lock);
	return n;
}

/* --- construction --- */

struct log *log_new(const struct log_bound *bound, struct err *e)
{
	struct log *l = calloc(1, sizeof(*l));

	if (!l || pthread_cond_init(&l->news, NULL) != 0) {
		free(l);
		err_set(e, ERR_FAILED, _("out of memory for the history"));
		return NULL;
	}
	pthread_mutex_init(&l->lock, NULL);
	atomic_init(&l->refs, 1);
	l->sink.ops = &ops;
	l->bound = *bound;
	l->closed_span = l->own.rows_from = l->now.rows_from = INT64_MIN;
	return l;
}

/* Drops a reference. */
static void log_drop(struct log *l)
{
	if (atomic_fetch_sub(&l->refs, 1) > 1)
		return;
	log_builder_free(l->builder);
	for (int s = 0; s < LOG_SHELVES; s++) {
		for (struct shelf *v = &l->shelf[s]; v->first < v->end; v->first++)
			log_chunk_free(*shelf_at(v, v->first));
		free(l->shelf[s].p);
	}
	open_free(&l->own);
	open_free(&l->now);
	while (l->edition) {
		struct edition *gone = l->edition;

		l->edition = gone->before;
		free(gone);
	}
	free(l->facts);
	ranges_free(l->ranges);
	free(l->meters);
	free(l->sources);
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->news);
	free(l);
}

void log_free(struct log *l)
{
	if (!l)
		return;
	end(&l->sink, NULL);
	log_drop(l);
}

bool log_is_now(const struct log *l)
{
	return l->bound.now;
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

struct log_known log_known(struct log *l)
{
	struct log_known k = {.bytes = 0};

	pthread_mutex_lock(&l->lock);
	k.any = l->now.any;
	k.last_ns = l->now.last_ns;
	k.first_ns = l->now.first_ns;
	if (l->now.rows_from != INT64_MIN && log_cell_ns(l->now.rows_from) > k.first_ns)
		k.first_ns = log_cell_ns(l->now.rows_from);
	k.longest_ns = l->now.longest_ns;
	memcpy(k.rows, l->now.rows, sizeof(k.rows));
	k.marks = l->now.marks;
	for (int s = 0; s < LOG_SHELVES; s++)
		k.bytes += l->now.bytes[s];
	k.held_most = l->held_most;
	pthread_mutex_unlock(&l->lock);
	return k;
}
