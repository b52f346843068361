/* The live timeline: levels of detail for each tier, and marks, gaps and changes.
 * One mutex is held by the thread that pushes and the one that reads, for
 * microseconds; the sampler never takes it.
 *
 * The session is copied, so that the data can still be read after the end of the
 * stream. */
#include "model/history.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "model/lod.h"
#include "util/intl.h"

#define MARKS_MOST   65536
#define GAPS_MOST    16384
#define CHANGES_MOST 4096

/* A power channel, summed as its readings arrive. */
struct power {
	size_t channel;
	enum tier tier;
	uint16_t column;
	int64_t hole_ns, first_ns;
	struct integral sum;
	size_t open; /* marks from here on are later than the newest reading */
};

/* The sums up to a mark, one a power channel; NaN: the mark came too late. */
struct sum_at {
	double area, covered_ns;
};

/* In the order of time. */
struct list {
	void *p;
	size_t n, room;
};

struct history_end {
	union {
		struct sink sink;
		struct timeline timeline;
	};
	struct history *history;
};

struct history {
	struct history_end sink, timeline;
	pthread_mutex_t lock;
	struct session session;
	struct lod *tiers[TIERS];
	struct history_bound bound;
	size_t columns;
	struct list marks, gaps, changes;
	struct power *power;
	size_t n_power;
	struct sum_at *sums; /* of marks[i] from i * n_power on */
	size_t room_sums;
};

static struct history *of_sink(struct sink *s)
{
	return ((struct history_end *)(void *)s)->history;
}

static struct history *of_timeline(struct timeline *t)
{
	return ((struct history_end *)(void *)t)->history;
}

/* Copies; n may be 0.  False: out of memory. */
static bool copy(const void *from, size_t n, size_t each, void **out)
{
	*out = calloc(n + 1, each);
	if (!*out)
		return false;
	if (n)
		memcpy(*out, from, n * each);
	return true;
}

static void free_session(struct session *s)
{
	free((void *)(uintptr_t)s->channels);
	free((void *)(uintptr_t)s->facts);
	memset(s, 0, sizeof(*s));
}

static bool copy_session(struct session *to, const struct session *from)
{
	void *channels = NULL, *facts = NULL;

	if (!copy(from->channels, from->n_channels, sizeof(*from->channels), &channels) ||
	    !copy(from->facts, from->n_facts, sizeof(*from->facts), &facts)) {
		free(channels);
		return false;
	}
	*to = *from;
	to->channels = channels;
	to->facts = facts;
	return true;
}

#define COLUMNS_LEAST 16
#define COLUMNS_MOST  (1 << 20)

/* How many columns a ring has. */
static size_t columns_for(const struct history_bound *b, const struct session *about)
{
	uint64_t room = b->bytes ? b->bytes : HISTORY_BYTES, each = 0, fixed = 0, n;

	for (int t = 0; t < TIERS; t++)
		if (about->width[t]) {
			each += lod_column_bytes(about->width[t], about->hz[t]);
			fixed += lod_fixed_bytes(about->width[t]);
		}
	n = b->span_ns ? (uint64_t)(b->span_ns >> 29) + 1 : each && room > fixed ? (room - fixed) / each : 0;
	if (!b->bytes && !b->span_ns && n > HISTORY_COLUMNS)
		n = HISTORY_COLUMNS;
	return n < COLUMNS_LEAST ? COLUMNS_LEAST : n > COLUMNS_MOST ? COLUMNS_MOST : (size_t)n;
}

/* NULL: out of memory. */
static struct power *find_power(const struct session *about, size_t *n)
{
	struct power *all = calloc(about->n_channels + 1, sizeof(*all));

	*n = 0;
	for (size_t i = 0; all && i < about->n_channels; i++) {
		const struct channel *c = &about->channels[i];

		if (c->unit == UNIT_MILLIWATT && !c->missing[0] && c->column < about->width[c->tier])
			all[(*n)++] = (struct power) {.channel = i,
						      .tier = c->tier,
						      .column = c->column,
						      .hole_ns = stats_hole_ns(about->hz[c->tier])};
	}
	return all;
}

static int history_begin(struct sink *s, const struct session *about, struct err *e)
{
	struct history *h = of_sink(s);
	struct lod *tiers[TIERS] = {NULL};
	struct session session = {0};
	bool ok = copy_session(&session, about);
	size_t columns = columns_for(&h->bound, about), n_power;
	struct power *power = find_power(about, &n_power);

	ok = ok && power;
	for (int t = 0; ok && t < TIERS; t++) {
		if (about->width[t])
			ok = (tiers[t] = lod_new(about->width[t], about->hz[t], columns));
	}
	if (!ok) {
		for (int t = 0; t < TIERS; t++)
			lod_free(tiers[t]);
		free_session(&session);
		free(power);
		return err_set(e, ERR_FAILED, _("out of memory for the history"));
	}
	pthread_mutex_lock(&h->lock);
	free_session(&h->session);
	h->session = session;
	for (int t = 0; t < TIERS; t++) {
		lod_free(h->tiers[t]);
		h->tiers[t] = tiers[t];
	}
	h->columns = columns;
	free(h->power);
	free(h->sums);
	h->power = power;
	h->n_power = n_power;
	h->sums = NULL;
	h->room_sums = 0;
	h->marks.n = 0;
	h->gaps.n = 0;
	h->changes.n = 0;
	pthread_mutex_unlock(&h->lock);
	return 0;
}

/* The reading also ends the sums of the marks that came since the one before. */
static void power_add(struct history *h, size_t i, int64_t t_ns, double mw)
{
	struct power *p = &h->power[i];
	const struct mark *marks = h->marks.p;

	if (isnan(mw))
		return;
	for (; p->open < h->marks.n && marks[p->open].t_ns <= t_ns; p->open++) {
		struct integral to_mark = p->sum;

		integral_add(&to_mark, t_ns, mw, p->hole_ns, INT64_MIN, marks[p->open].t_ns);
		if (h->sums)
			h->sums[p->open * h->n_power + i] =
				(struct sum_at) {sum_get(&to_mark.area), (double)to_mark.covered_ns};
	}
	if (!p->sum.begun)
		p->first_ns = t_ns;
	integral_add(&p->sum, t_ns, mw, p->hole_ns, INT64_MIN, INT64_MAX);
}

static void power_rows(struct history *h, const struct rows *r)
{
	for (size_t k = 0; k < h->n_power; k++)
		for (size_t i = 0; h->power[k].tier == r->tier && i < r->n; i++)
			power_add(h, k, r->t_ns[i], r->values[i * r->width + h->power[k].column]);
}

static void history_rows(struct sink *s, const struct rows *r)
{
	struct history *h = of_sink(s);

	pthread_mutex_lock(&h->lock);
	if (h->tiers[r->tier] && r->width == h->session.width[r->tier]) {
		for (size_t i = 0; i < r->n; i++)
			lod_push(h->tiers[r->tier], r->t_ns[i], r->values + i * r->width);
		power_rows(h, r);
	}
	pthread_mutex_unlock(&h->lock);
}

/* Room for one more.  At `most`, or without memory for more, the oldest eighth is dropped.
 * False: no room at all. */
static bool make_room(struct list *l, size_t each, size_t most)
{
	size_t wanted = l->room ? l->room * 2 : 64, drop = (l->n + 7) / 8;
	void *bigger;

	if (l->n < l->room)
		return true;
	bigger = l->room < most ? reallocarray(l->p, wanted, each) : NULL;
	if (bigger) {
		l->p = bigger;
		l->room = wanted;
		return true;
	}
	if (drop)
		memmove(l->p, (char *)l->p + drop * each, (l->n - drop) * each);
	l->n -= drop;
	return l->room > 0;
}

/* Behind all that are not later.  Returns where; SIZE_MAX: no room.  time: where an item has its time. */
static size_t insert(struct list *l, const void *item, size_t each, size_t time, size_t most)
{
	const char *key = (const char *)item + time;
	int64_t t_ns, before;
	size_t at;

	if (!make_room(l, each, most))
		return SIZE_MAX;
	memcpy(&t_ns, key, sizeof(t_ns));
	for (at = l->n; at > 0; at--) {
		memcpy(&before, (char *)l->p + (at - 1) * each + time, sizeof(before));
		if (before <= t_ns)
			break;
	}
	memmove((char *)l->p + (at + 1) * each, (char *)l->p + at * each, (l->n - at) * each);
	memcpy((char *)l->p + at * each, item, each);
	l->n++;
	return at;
}

/* The sums of marks at .. n-1 make room for those of one more, which are not known yet. */
static void sums_insert(struct history *h, size_t at)
{
	size_t w = h->n_power;

	if (h->room_sums < h->marks.room && w) {
		struct sum_at *bigger = reallocarray(h->sums, h->marks.room, w * sizeof(*bigger));

		if (!bigger) {
			free(h->sums);
			h->sums = NULL;
			h->room_sums = 0;
			return;
		}
		if (!h->room_sums)
			for (size_t i = 0; i < h->marks.n * w; i++)
				bigger[i] = (struct sum_at) {NAN, NAN};
		h->sums = bigger;
		h->room_sums = h->marks.room;
	}
	if (!h->sums)
		return;
	memmove(h->sums + (at + 1) * w, h->sums + at * w, (h->marks.n - 1 - at) * w * sizeof(*h->sums));
	for (size_t k = 0; k < w; k++)
		h->sums[at * w + k] = (struct sum_at) {NAN, NAN};
}

/* The first `gone` marks were dropped; the newest one has no sums yet. */
static void sums_drop(struct history *h, size_t gone)
{
	if (h->sums && gone)
		memmove(h->sums, h->sums + gone * h->n_power,
			(h->marks.n - 1) * h->n_power * sizeof(*h->sums));
	for (size_t k = 0; k < h->n_power; k++)
		h->power[k].open -= gone < h->power[k].open ? gone : h->power[k].open;
}

static void history_mark(struct sink *s, const struct mark *m)
{
	struct history *h = of_sink(s);
	size_t at, before;

	pthread_mutex_lock(&h->lock);
	before = h->marks.n;
	at = insert(&h->marks, m, sizeof(*m), offsetof(struct mark, t_ns), MARKS_MOST);
	if (at < SIZE_MAX) {
		sums_drop(h, before + 1 - h->marks.n);
		sums_insert(h, at);
		for (size_t k = 0; k < h->n_power; k++)
			h->power[k].open += at < h->power[k].open ||
					    (h->power[k].sum.begun && m->t_ns <= h->power[k].sum.last_ns);
	}
	pthread_mutex_unlock(&h->lock);
}

static void history_gap(struct sink *s, const struct gap *g)
{
	struct history *h = of_sink(s);

	pthread_mutex_lock(&h->lock);
	if (gap_is_hole(g))
		insert(&h->gaps, g, sizeof(*g), offsetof(struct gap, from_ns), GAPS_MOST);
	pthread_mutex_unlock(&h->lock);
}

static void history_change(struct sink *s, const struct change *c)
{
	struct history *h = of_sink(s);

	pthread_mutex_lock(&h->lock);
	insert(&h->changes, c, sizeof(*c), offsetof(struct change, t_ns), CHANGES_MOST);
	pthread_mutex_unlock(&h->lock);
}

static int history_end(struct sink *s, struct err *e)
{
	(void)s;
	(void)e;
	return 0;
}

static const struct session *session_of(struct timeline *t)
{
	return &of_timeline(t)->session;
}

static bool extent_of(struct timeline *t, int64_t *first_ns, int64_t *last_ns)
{
	struct history *h = of_timeline(t);
	bool any = false;

	pthread_mutex_lock(&h->lock);
	for (int i = 0; i < TIERS; i++) {
		int64_t first, last;

		if (!h->tiers[i] || !lod_extent(h->tiers[i], &first, &last))
			continue;
		if (!any || first < *first_ns)
			*first_ns = first;
		if (!any || last > *last_ns)
			*last_ns = last;
		any = true;
	}
	pthread_mutex_unlock(&h->lock);
	return any;
}

/* With the lock held: the levels of the channel's tier; NULL: none. */
static const struct lod *lod_of(const struct history *h, size_t channel, size_t *column)
{
	const struct channel *c;

	if (channel >= h->session.n_channels)
		return NULL;
	c = &h->session.channels[channel];
	*column = c->column;
	return c->column < h->session.width[c->tier] ? h->tiers[c->tier] : NULL;
}

static void columns_of(struct timeline *t, size_t channel, int zoom, int64_t first, size_t n, struct bin *out)
{
	struct history *h = of_timeline(t);
	const struct lod *p;
	size_t column;

	pthread_mutex_lock(&h->lock);
	p = lod_of(h, channel, &column);
	if (p)
		lod_columns(p, column, zoom, first, n, out);
	else
		memset(out, 0, n * sizeof(*out));
	pthread_mutex_unlock(&h->lock);
}

static double value_of(struct timeline *t, size_t channel, int64_t t_ns, int64_t *at_ns)
{
	struct history *h = of_timeline(t);
	int64_t at = t_ns;
	double v = NAN;
	const struct lod *p;
	size_t column;

	pthread_mutex_lock(&h->lock);
	p = lod_of(h, channel, &column);
	if (p)
		v = lod_value(p, column, t_ns, &at);
	pthread_mutex_unlock(&h->lock);
	if (at_ns)
		*at_ns = at;
	return v;
}

static int64_t step_of(struct timeline *t, enum tier tier, int64_t t_ns, int n)
{
	struct history *h = of_timeline(t);

	pthread_mutex_lock(&h->lock);
	if (h->tiers[tier])
		t_ns = lod_step(h->tiers[tier], t_ns, n);
	pthread_mutex_unlock(&h->lock);
	return t_ns;
}

static size_t marks_of(struct timeline *t, int64_t from_ns, int64_t to_ns, struct mark *out, size_t max)
{
	struct history *h = of_timeline(t);
	size_t n;

	pthread_mutex_lock(&h->lock);
	n = marks_between(h->marks.p, h->marks.n, from_ns, to_ns, out, max);
	pthread_mutex_unlock(&h->lock);
	return n;
}

static size_t gaps_of(struct timeline *t, int64_t from_ns, int64_t to_ns, struct gap *out, size_t max)
{
	struct history *h = of_timeline(t);
	const struct gap *gaps;
	size_t n = 0;

	pthread_mutex_lock(&h->lock);
	gaps = h->gaps.p;
	for (size_t i = 0; i < h->gaps.n && gaps[i].from_ns < to_ns && n < max; i++)
		if (gaps[i].to_ns > from_ns)
			out[n++] = gaps[i];
	pthread_mutex_unlock(&h->lock);
	return n;
}

static size_t changes_of(struct timeline *t, int64_t from_ns, int64_t to_ns, struct change *out, size_t max)
{
	struct history *h = of_timeline(t);
	size_t n;

	pthread_mutex_lock(&h->lock);
	n = changes_between(h->changes.p, h->changes.n, from_ns, to_ns, out, max);
	pthread_mutex_unlock(&h->lock);
	return n;
}

static int finest_of(struct timeline *t, size_t channel, int64_t t_ns)
{
	struct history *h = of_timeline(t);
	const struct lod *p;
	size_t column;
	int zoom;

	pthread_mutex_lock(&h->lock);
	p = lod_of(h, channel, &column);
	zoom = p ? lod_finest(p, t_ns) : ZOOM_MAX;
	pthread_mutex_unlock(&h->lock);
	return zoom;
}

/* With the lock held: the sum of power k up to t_ns; false: it is not known. */
static bool sum_to(const struct history *h, size_t k, int64_t t_ns, struct sum_at *out)
{
	const struct power *p = &h->power[k];
	const struct mark *marks = h->marks.p;
	size_t lo = 0, hi = h->marks.n;

	*out = (struct sum_at) {sum_get(&p->sum.area), (double)p->sum.covered_ns};
	if (!p->sum.begun || t_ns > p->sum.last_ns)
		return true;
	if (t_ns <= p->first_ns) {
		*out = (struct sum_at) {0, 0};
		return true;
	}
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (marks[mid].t_ns < t_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!h->sums || lo == h->marks.n || marks[lo].t_ns != t_ns)
		return false;
	*out = h->sums[lo * h->n_power + k];
	return !isnan(out->area);
}

/* From mark to mark, and to the newest reading. */
static bool integral_of(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns,
			struct integral *out)
{
	struct history *h = of_timeline(t);
	struct sum_at from, to;
	bool known = false;

	pthread_mutex_lock(&h->lock);
	for (size_t k = 0; k < h->n_power; k++)
		if (h->power[k].channel == channel)
			known = sum_to(h, k, from_ns, &from) && sum_to(h, k, to_ns, &to);
	pthread_mutex_unlock(&h->lock);
	if (known)
		*out = (struct integral) {.area = {to.area - from.area, 0},
					  .covered_ns = (int64_t)(to.covered_ns - from.covered_ns)};
	return known;
}

static const struct sink_ops sink_ops = {
	.begin = history_begin,
	.rows = history_rows,
	.mark = history_mark,
	.gap = history_gap,
	.end = history_end,
	.change = history_change,
};

static const struct timeline_ops timeline_ops = {
	.session = session_of,
	.extent = extent_of,
	.columns = columns_of,
	.value = value_of,
	.step = step_of,
	.marks = marks_of,
	.gaps = gaps_of,
	.changes = changes_of,
	.finest = finest_of,
	.integral = integral_of,
};

struct history *history_new(struct err *e)
{
	struct history *h = calloc(1, sizeof(*h));

	if (!h || pthread_mutex_init(&h->lock, NULL)) {
		free(h);
		err_set(e, ERR_FAILED, _("out of memory for the history"));
		return NULL;
	}
	h->sink.sink.ops = &sink_ops;
	h->sink.history = h;
	h->timeline.timeline.ops = &timeline_ops;
	h->timeline.history = h;
	return h;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	for (int t = 0; t < TIERS; t++)
		lod_free(h->tiers[t]);
	free_session(&h->session);
	free(h->marks.p);
	free(h->power);
	free(h->sums);
	free(h->gaps.p);
	free(h->changes.p);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

void history_limit(struct history *h, const struct history_bound *b)
{
	h->bound = *b;
}

size_t history_columns(const struct history *h)
{
	return h->columns;
}

struct sink *history_sink(struct history *h)
{
	return &h->sink.sink;
}

struct timeline *history_timeline(struct history *h)
{
	return &h->timeline.timeline;
}
