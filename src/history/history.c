/* The live timeline: a pyramid for each tier, and the marks and gaps as they
 * came.  One mutex stands between the thread that pushes and the one that
 * looks; both hold it for microseconds, and the samplers never touch it.
 *
 * The session is copied, so that what was seen can still be looked at when the
 * stream has ended. */
#include "nvmtop/history.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "history/pyramid.h"
#include "nvmtop/intl.h"

#define MARKS_MOST 65536
#define GAPS_MOST  16384

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
	struct pyramid *tiers[TIERS];
	struct history_bound bound;
	size_t columns;
	struct mark *marks;
	size_t n_marks, room_marks;
	struct gap *gaps;
	size_t n_gaps, room_gaps;
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
			each += pyramid_column_bytes(about->width[t], about->hz[t]);
			fixed += pyramid_fixed_bytes(about->width[t]);
		}
	n = b->span_ns ? (uint64_t)(b->span_ns >> 29) + 1 : each && room > fixed ? (room - fixed) / each : 0;
	if (!b->bytes && !b->span_ns && n > HISTORY_COLUMNS)
		n = HISTORY_COLUMNS;
	return n < COLUMNS_LEAST ? COLUMNS_LEAST : n > COLUMNS_MOST ? COLUMNS_MOST : (size_t)n;
}

static int history_begin(struct sink *s, const struct session *about, struct err *e)
{
	struct history *h = of_sink(s);
	struct pyramid *tiers[TIERS] = {NULL};
	struct session session = {0};
	bool ok = copy_session(&session, about);
	size_t columns = columns_for(&h->bound, about);

	for (int t = 0; ok && t < TIERS; t++) {
		if (about->width[t])
			ok = (tiers[t] = pyramid_new(about->width[t], about->hz[t], columns));
	}
	if (!ok) {
		for (int t = 0; t < TIERS; t++)
			pyramid_free(tiers[t]);
		free_session(&session);
		return err_set(e, ERR_FAILED, _("Out of memory for the history of the signals."));
	}
	pthread_mutex_lock(&h->lock);
	free_session(&h->session);
	h->session = session;
	for (int t = 0; t < TIERS; t++) {
		pyramid_free(h->tiers[t]);
		h->tiers[t] = tiers[t];
	}
	h->columns = columns;
	h->n_marks = 0;
	h->n_gaps = 0;
	pthread_mutex_unlock(&h->lock);
	return 0;
}

static void history_rows(struct sink *s, const struct rows *r)
{
	struct history *h = of_sink(s);

	pthread_mutex_lock(&h->lock);
	if (h->tiers[r->tier] && r->width == h->session.width[r->tier]) {
		for (size_t i = 0; i < r->n; i++)
			pyramid_push(h->tiers[r->tier], r->t_ns[i], r->values + i * r->width);
	}
	pthread_mutex_unlock(&h->lock);
}

/* Room for one more behind the n there are.  At `most`, or when there is no
 * memory for more, the oldest eighth is forgotten.  NULL: no room at all. */
static void *make_room(void *array, size_t *n, size_t *room, size_t each, size_t most)
{
	void *bigger = NULL;
	size_t forget;

	if (*n < *room)
		return array;
	if (*room < most) {
		size_t wanted = *room ? *room * 2 : 64;

		bigger = reallocarray(array, wanted, each);
		if (bigger) {
			*room = wanted;
			return bigger;
		}
	}
	forget = (*n + 7) / 8;
	if (forget)
		memmove(array, (char *)array + forget * each, (*n - forget) * each);
	*n -= forget;
	return *room ? array : NULL;
}

static void history_mark(struct sink *s, const struct mark *m)
{
	struct history *h = of_sink(s);
	struct mark *marks;
	size_t at;

	pthread_mutex_lock(&h->lock);
	marks = make_room(h->marks, &h->n_marks, &h->room_marks, sizeof(*marks), MARKS_MOST);
	if (marks) {
		h->marks = marks;
		for (at = h->n_marks++; at && marks[at - 1].t_ns > m->t_ns; at--)
			marks[at] = marks[at - 1];
		marks[at] = *m;
	}
	pthread_mutex_unlock(&h->lock);
}

static void history_gap(struct sink *s, const struct gap *g)
{
	struct history *h = of_sink(s);
	struct gap *gaps;
	size_t at;

	pthread_mutex_lock(&h->lock);
	gaps = make_room(h->gaps, &h->n_gaps, &h->room_gaps, sizeof(*gaps), GAPS_MOST);
	if (gaps) {
		h->gaps = gaps;
		for (at = h->n_gaps++; at && gaps[at - 1].from_ns > g->from_ns; at--)
			gaps[at] = gaps[at - 1];
		gaps[at] = *g;
	}
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

		if (!h->tiers[i] || !pyramid_extent(h->tiers[i], &first, &last))
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

/* With the lock held: the channel's pyramid; NULL where there is none. */
static const struct pyramid *pyramid_of(const struct history *h, size_t channel, size_t *column)
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
	const struct pyramid *p;
	size_t column;

	pthread_mutex_lock(&h->lock);
	p = pyramid_of(h, channel, &column);
	if (p)
		pyramid_columns(p, column, zoom, first, n, out);
	else
		memset(out, 0, n * sizeof(*out));
	pthread_mutex_unlock(&h->lock);
}

static double value_of(struct timeline *t, size_t channel, int64_t t_ns, int64_t *at_ns)
{
	struct history *h = of_timeline(t);
	int64_t at = t_ns;
	double v = NAN;
	const struct pyramid *p;
	size_t column;

	pthread_mutex_lock(&h->lock);
	p = pyramid_of(h, channel, &column);
	if (p)
		v = pyramid_value(p, column, t_ns, &at);
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
		t_ns = pyramid_step(h->tiers[tier], t_ns, n);
	pthread_mutex_unlock(&h->lock);
	return t_ns;
}

static size_t marks_of(struct timeline *t, int64_t from_ns, int64_t to_ns, struct mark *out, size_t max)
{
	struct history *h = of_timeline(t);
	size_t n;

	pthread_mutex_lock(&h->lock);
	n = marks_between(h->marks, h->n_marks, from_ns, to_ns, out, max);
	pthread_mutex_unlock(&h->lock);
	return n;
}

static size_t gaps_of(struct timeline *t, int64_t from_ns, int64_t to_ns, struct gap *out, size_t max)
{
	struct history *h = of_timeline(t);
	size_t n = 0;

	pthread_mutex_lock(&h->lock);
	for (size_t i = 0; i < h->n_gaps && h->gaps[i].from_ns < to_ns && n < max; i++) {
		if (h->gaps[i].to_ns > from_ns)
			out[n++] = h->gaps[i];
	}
	pthread_mutex_unlock(&h->lock);
	return n;
}

static int finest_of(struct timeline *t, size_t channel, int64_t t_ns)
{
	struct history *h = of_timeline(t);
	const struct pyramid *p;
	size_t column;
	int zoom;

	pthread_mutex_lock(&h->lock);
	p = pyramid_of(h, channel, &column);
	zoom = p ? pyramid_finest(p, t_ns) : ZOOM_MAX;
	pthread_mutex_unlock(&h->lock);
	return zoom;
}

static const struct sink_ops sink_ops = {
	.begin = history_begin,
	.rows = history_rows,
	.mark = history_mark,
	.gap = history_gap,
	.end = history_end,
};

static const struct timeline_ops timeline_ops = {
	.session = session_of,
	.extent = extent_of,
	.columns = columns_of,
	.value = value_of,
	.step = step_of,
	.marks = marks_of,
	.gaps = gaps_of,
	.finest = finest_of,
};

struct history *history_new(struct err *e)
{
	struct history *h = calloc(1, sizeof(*h));

	if (!h || pthread_mutex_init(&h->lock, NULL)) {
		free(h);
		err_set(e, ERR_FAILED, _("Out of memory for the history of the signals."));
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
		pyramid_free(h->tiers[t]);
	free_session(&h->session);
	free(h->marks);
	free(h->gaps);
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
