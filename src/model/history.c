/* The live timeline: levels of detail for each tier, and marks, gaps and changes. The pushing and the
 * reading thread share one mutex, held for microseconds; the sampler never takes it.
 *
 * The session is copied, so that the data can be read after the end of the stream. */
#include "model/history.h"
#include "model/states.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "model/energy.h"
#include "model/lod.h"
#include "util/clock.h"
#include "util/intl.h"

#define MARKS_MOST   65536
#define GAPS_MOST    16384
#define CHANGES_MOST 4096
#define ABOVE_MOST   4096

/* A power channel, added up as its readings arrive. */
struct power {
	struct energy_meter meter;
	struct power_row {
		int64_t t_ns;
		double values[METER_VALUES];
	} * rows; /* the newest */
	size_t n_rows;
	bool dropped; /* older ones */
};
#define ROWS 2048 /* of each */

/* A throttling or notice, and its last reading. */
struct state {
	size_t channel;
	enum tier tier;
	uint16_t column;
	int64_t hole_ns, last_ns;
	double last;
};
/* A time in which it was above 0 without a break. */
struct above {
	int64_t from_ns, to_ns;
	size_t channel;
};

/* The sums up to a mark, those of each power channel; NaN if the mark came too late. */
struct sum_at {
	double joules, known_s;
};
struct summed_mark {
	struct mark mark;
	struct sum_at sums[][METER_SUMS];
};

/* Items in time order. */
struct list {
	size_t each, time, most; /* item size, offset of its time, maximum number */
	char *p;
	size_t n, room;
};

/* The session as a reader may have it: it does not change, and lives as long as the data. */
struct edition {
	struct edition *before;
	struct session session;
};

/* State of one session. */
struct data {
	struct session session;       /* as it began */
	struct edition *edition;      /* the newest; NULL: session */
	const struct session *source; /* valid until the end of the stream */
	struct lod *tiers[TIERS];
	size_t columns;
	struct list marks, gaps, changes, above, reasons, events;
	struct power *power;
	struct state *states;
	struct state_watch *watches;
	size_t n_power, n_states, n_watches;
};

struct history {
	struct sink sink;
	struct timeline timeline;
	pthread_mutex_t lock;
	struct history_bound bound;
	struct data data;
	struct ranges *ranges; /* NULL until the first ones */
};

#define RANGES_MOST (UINT32_C(1) << 18)

static struct history *of_sink(struct sink *s)
{
	return (struct history *)(void *)s;
}

static struct history *of_timeline(struct timeline *t)
{
	return (struct history *)(void *)((char *)t - offsetof(struct history, timeline));
}

/* A lock on the data, released when the variable goes out of scope. */
#define LOCKED __attribute__((cleanup(unlock)))

static struct data *lock(struct history *h)
{
	pthread_mutex_lock(&h->lock);
	return &h->data;
}

static void unlock(struct data **d)
{
	pthread_mutex_unlock(
		&((struct history *)(void *)((char *)*d - offsetof(struct history, data)))->lock);
}

static void data_free(struct data *d)
{
	for (int t = 0; t < TIERS; t++)
		lod_free(d->tiers[t]);
	while (d->edition) {
		struct edition *e = d->edition;

		d->edition = e->before;
		free((void *)(uintptr_t)e->session.channels);
		free(e);
	}
	free((void *)(uintptr_t)d->session.channels);
	free((void *)(uintptr_t)d->session.facts);
	free(d->marks.p);
	free(d->gaps.p);
	free(d->changes.p);
	for (size_t k = 0; k < d->n_power; k++)
		free(d->power[k].rows);
	free(d->above.p);
	free(d->events.p);
	free(d->watches);
	free(d->reasons.p);
	free(d->power);
	free(d->states);
	memset(d, 0, sizeof(*d));
}

/* Returns a copy of n > 0 items, or NULL if out of memory. */
static void *copy(const void *from, size_t n, size_t each)
{
	void *p = calloc(n, each);

	return p ? memcpy(p, from, n * each) : NULL;
}

static bool copy_session(struct session *to, const struct session *from)
{
	*to = *from;
	to->channels =
		from->n_channels ? copy(from->channels, from->n_channels, sizeof(*to->channels)) : NULL;
	to->facts = from->n_facts ? copy(from->facts, from->n_facts, sizeof(*to->facts)) : NULL;
	return (to->channels || !to->n_channels) && (to->facts || !to->n_facts);
}

#define COLUMNS_LEAST 16
#define COLUMNS_MOST  (1 << 20)

/* The number of columns per ring. */
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

static bool find_sums(struct data *d)
{
	const struct session *about = &d->session;

	d->power = calloc(about->n_channels + 1, sizeof(*d->power));
	d->states = calloc(about->n_channels + 1, sizeof(*d->states));
	for (size_t i = 0; d->power && d->states && i < about->n_channels; i++) {
		const struct channel *c = &about->channels[i];
		int64_t hole = stats_hole_ns(about->hz[c->tier]);

		if (c->column >= about->width[c->tier])
			continue;
		if (c->unit == UNIT_MILLIWATT) {
			struct power *p = &d->power[d->n_power++];

			energy_meter_begin(&p->meter, about, i);
			p->rows = calloc(ROWS, sizeof(*p->rows));
			if (!p->rows)
				return false;
		}
		if (c->kind == CHANNEL_THROTTLE || c->kind == CHANNEL_NOTICE)
			d->states[d->n_states++] = (struct state) {
				.channel = i, .tier = c->tier, .column = c->column, .hole_ns = hole};
	}
	return d->power && d->states;
}

static bool data_begin(struct data *d, const struct session *about, size_t columns)
{
	memset(d, 0, sizeof(*d));
	d->source = about;
	if (!copy_session(&d->session, about) || !find_sums(d))
		return false;
	d->columns = columns;
	d->marks = (struct list) {.each = sizeof(struct summed_mark) + d->n_power * sizeof(struct sum_at[METER_SUMS]),
				  .time = offsetof(struct summed_mark, mark.t_ns),
				  .most = MARKS_MOST};
	d->gaps = (struct list) {
		.each = sizeof(struct gap), .time = offsetof(struct gap, from_ns), .most = GAPS_MOST};
	d->changes = (struct list) {
		.each = sizeof(struct change), .time = offsetof(struct change, t_ns), .most = CHANGES_MOST};
	d->above = (struct list) {
		.each = sizeof(struct above), .time = offsetof(struct above, from_ns), .most = ABOVE_MOST};
	d->events = (struct list) {.each = sizeof(struct state_event),
				   .time = offsetof(struct state_event, from_ns),
				   .most = ABOVE_MOST};
	d->watches = state_watches_new(about, &d->n_watches);
	if (!d->watches)
		return false;
	d->reasons = d->changes;
	for (int t = 0; t < TIERS; t++)
		if (about->width[t] && !(d->tiers[t] = lod_new(about->width[t], about->hz[t], columns)))
			return false;
	return true;
}

static int history_begin(struct sink *s, const struct session *about, struct err *e)
{
	struct history *h = of_sink(s);
	struct data data, before;

	if (!data_begin(&data, about, columns_for(&h->bound, about))) {
		data_free(&data);
		return err_set(e, ERR_FAILED, _("out of memory for the history"));
	}
	pthread_mutex_lock(&h->lock);
	before = h->data;
	h->data = data;
	pthread_mutex_unlock(&h->lock);
	data_free(&before);
	return 0;
}

static struct summed_mark *mark_at(const struct list *marks, size_t i)
{
	return (struct summed_mark *)(void *)(marks->p + i * marks->each);
}

static struct sum_at sum_until(struct energy sum, const struct energy_source *s, const struct power_reading *next, int64_t t_ns)
{
	struct energy_result r;

	sum.to_ns = t_ns;
	if (next)
		energy_add(&sum, s, next);
	r = energy_get(&sum, s);
	return (struct sum_at) {r.known_s > 0 ? r.joules : 0, r.known_s};
}

/* Completes the sums of the marks that the readings of a row have passed; before: the sum without them. */
static void marks_sum(struct data *d, size_t k, int by, struct energy before)
{
	const struct energy_meter *m = &d->power[k].meter;
	const struct energy_source *s = &m->source[by];

	for (size_t j = 0; j < m->n[by]; j++) {
		const struct power_reading *next = &m->newest[by][j];
		int64_t at_ns = next->end_ns - (s->counts ? 0 : next->window_ns / 2);

		for (size_t i = d->marks.n; i-- > 0;) {
			struct summed_mark *mark = mark_at(&d->marks, i);

			if (before.last.begun && mark->mark.t_ns <= before.last.at_ns)
				break;
			if (mark->mark.t_ns <= at_ns)
				mark->sums[k][by] = sum_until(before, s, next, mark->mark.t_ns);
		}
		energy_add(&before, s, next);
	}
}

static void power_rows(struct data *d, size_t k, const struct rows *r)
{
	struct power *p = &d->power[k];

	for (size_t i = 0; i < r->n; i++) {
		const struct energy before[METER_SUMS] = {p->meter.sum[BY_POWER], p->meter.sum[BY_COUNTER]};
		struct power_row *row;

		if (!energy_meter_row(&p->meter, r, i))
			return;
		if (p->n_rows == ROWS) {
			p->dropped = true;
			p->n_rows -= ROWS / 4;
			memmove(p->rows, p->rows + ROWS / 4, p->n_rows * sizeof(*row));
		}
		row = &p->rows[p->n_rows++];
		row->t_ns = r->t_ns[i];
		for (int v = 0; v < METER_VALUES; v++)
			row->values[v] = p->meter.column[v] == SIZE_MAX ? NAN : r->values[i * r->width + p->meter.column[v]];
		for (int by = 0; by < METER_SUMS; by++)
			marks_sum(d, k, by, before[by]);
	}
}

/* Makes room for one more item; at `most` items, or if out of memory, drops the oldest eighth. Returns
 * false if there is no room at all. */
static bool make_room(struct list *l)
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

static int64_t time_at(const struct list *l, size_t i)
{
	int64_t t_ns;

	memcpy(&t_ns, l->p + i * l->each + l->time, sizeof(t_ns));
	return t_ns;
}

/* Inserts an item of that time after all that are not later. Returns NULL if there is no room. */
static void *insert(struct list *l, int64_t t_ns)
{
	size_t at;

	if (!make_room(l))
		return NULL;
	for (at = l->n; at > 0 && time_at(l, at - 1) > t_ns; at--)
		continue;
	memmove(l->p + (at + 1) * l->each, l->p + at * l->each, (l->n - at) * l->each);
	l->n++;
	return l->p + at * l->each;
}

/* Adds a reading of a state: lengthens its last time above 0, or begins another. */
static void state_add(struct data *d, struct state *p, int64_t t_ns, double v)
{
	struct above *last = NULL;

	if (isnan(v))
		return;
	if (p->last_ns && above_between(p->last_ns, p->last, t_ns, p->hole_ns, p->last_ns, t_ns)) {
		for (size_t i = d->above.n; !last && i-- > 0;) {
			struct above *at = (struct above *)(void *)d->above.p + i;
			if (at->channel == p->channel)
				last = at;
		}
		if (!last || last->to_ns != p->last_ns) {
			last = insert(&d->above, p->last_ns);
			if (last)
				*last = (struct above) {p->last_ns, p->last_ns, p->channel};
		}
		if (last)
			last->to_ns = t_ns;
	}
	p->last_ns = t_ns;
	p->last = v;
}

/* Keeps the latest event of a channel, which may not have ended. */
static void event_keep(struct data *d, const struct state_watch *w)
{
	struct state_event e = w->now, *at = NULL;

	e.flags |= w->above ? STATE_OPEN : 0;
	for (size_t i = d->events.n; !at && i-- > 0;) {
		struct state_event *x = (struct state_event *)(void *)d->events.p + i;

		at = x->channel == e.channel ? x : NULL;
	}
	if (!at || at->from_ns != e.from_ns)
		at = insert(&d->events, e.from_ns);
	if (at)
		*at = e;
}

static void history_rows(struct sink *s, const struct rows *r)
{
	LOCKED struct data *d = lock(of_sink(s));

	if (!d->tiers[r->tier] || r->width != d->session.width[r->tier])
		return;
	for (size_t i = 0; i < r->n; i++)
		lod_push(d->tiers[r->tier], r->t_ns[i], r->values + i * r->width);
	for (size_t k = 0; k < d->n_power; k++)
		power_rows(d, k, r);
	for (size_t k = 0; k < d->n_states; k++)
		for (size_t i = 0; d->states[k].tier == r->tier && i < r->n; i++)
			state_add(d, &d->states[k], r->t_ns[i], r->values[i * r->width + d->states[k].column]);
	for (size_t k = 0; k < d->n_watches; k++)
		for (size_t i = 0; d->watches[k].at.tier == r->tier && i < r->n; i++) {
			struct state_watch *w = &d->watches[k];
			struct state_event ended;

			state_watch_take(w, r->t_ns[i], r->values[i * r->width + w->at.column], &ended);
			if (w->now.count > 0)
				event_keep(d, w);
		}
}

static void history_mark(struct sink *s, const struct mark *m)
{
	LOCKED struct data *d = lock(of_sink(s));
	struct summed_mark *new = insert(&d->marks, m->t_ns);

	if (new)
		new->mark = *m;
	for (size_t k = 0; new &&k < d->n_power; k++)
		new->sums[k][BY_POWER] = new->sums[k][BY_COUNTER] = (struct sum_at) {NAN, NAN};
}

static void history_gap(struct sink *s, const struct gap *g)
{
	LOCKED struct data *d = lock(of_sink(s));
	struct gap *new = gap_is_hole(g) ? insert(&d->gaps, g->from_ns) : NULL;

	if (new)
		*new = *g;
}

static void history_change(struct sink *s, const struct change *c)
{
	LOCKED struct data *d = lock(of_sink(s));
	struct change *new = insert(change_is_reason(c) ? &d->reasons : &d->changes, c->t_ns);

	if (new)
		*new = *c;
}

static void history_described(struct sink *s)
{
	LOCKED struct data *d = lock(of_sink(s));
	struct edition *e = calloc(1, sizeof(*e));
	struct channel *channels = copy(d->source->channels, d->source->n_channels, sizeof(*channels));

	if (!e || !channels) {
		free(e);
		free(channels);
		return;
	}
	e->before = d->edition;
	e->session = d->session;
	e->session.channels = channels;
	for (size_t k = 0; k < d->n_power; k++)
		energy_meter_described(&d->power[k].meter, &e->session);
	d->edition = e;
}

static int history_end(struct sink *s, struct err *e)
{
	(void)s;
	(void)e;
	return 0;
}

static const struct session *session_of(struct timeline *t)
{
	LOCKED struct data *d = lock(of_timeline(t));

	return d->edition ? &d->edition->session : &d->session;
}

static bool extent_of(struct timeline *t, int64_t *first_ns, int64_t *last_ns)
{
	LOCKED struct data *d = lock(of_timeline(t));
	bool any = false;

	for (int i = 0; i < TIERS; i++) {
		int64_t first, last;

		if (!d->tiers[i] || !lod_extent(d->tiers[i], &first, &last))
			continue;
		if (!any || first < *first_ns)
			*first_ns = first;
		if (!any || last > *last_ns)
			*last_ns = last;
		any = true;
	}
	return any;
}

/* The levels of detail of the channel's tier; NULL if there are none. */
static const struct lod *lod_of(const struct data *d, size_t channel, size_t *column)
{
	const struct channel *c;

	if (channel >= d->session.n_channels)
		return NULL;
	c = &d->session.channels[channel];
	*column = c->column;
	return c->column < d->session.width[c->tier] ? d->tiers[c->tier] : NULL;
}

static void columns_of(struct timeline *t, size_t channel, int zoom, int64_t first, size_t n, struct bin *out)
{
	LOCKED struct data *d = lock(of_timeline(t));
	size_t column;
	const struct lod *p = lod_of(d, channel, &column);

	if (p)
		lod_columns(p, column, zoom, first, n, out);
	else
		memset(out, 0, n * sizeof(*out));
}

static double value_of(struct timeline *t, size_t channel, int64_t t_ns, int64_t *at_ns)
{
	LOCKED struct data *d = lock(of_timeline(t));
	size_t column;
	const struct lod *p = lod_of(d, channel, &column);
	int64_t at = t_ns;
	double v = p ? lod_value(p, column, t_ns, &at) : NAN;

	if (at_ns)
		*at_ns = at;
	return v;
}

static int64_t step_of(struct timeline *t, enum tier tier, int64_t t_ns, int n)
{
	LOCKED struct data *d = lock(of_timeline(t));

	return d->tiers[tier] ? lod_step(d->tiers[tier], t_ns, n) : t_ns;
}

/* Index of the first item at or after t_ns. */
static size_t first_from(const struct list *l, int64_t t_ns)
{
	return times_from(l->p, l->n, l->each, l->time, t_ns);
}

static size_t marks_of(struct timeline *t, int64_t from_ns, int64_t to_ns, struct mark *out, size_t max)
{
	LOCKED struct data *d = lock(of_timeline(t));
	size_t n = 0;

	for (size_t i = first_from(&d->marks, from_ns); i < d->marks.n && n < max; i++) {
		if (time_at(&d->marks, i) >= to_ns)
			break;
		out[n++] = mark_at(&d->marks, i)->mark;
	}
	return n;
}

static size_t gaps_of(struct timeline *t, int64_t from_ns, int64_t to_ns, struct gap *out, size_t max)
{
	LOCKED struct data *d = lock(of_timeline(t));
	const struct gap *gaps = (const void *)d->gaps.p;
	size_t n = 0;

	for (size_t i = 0; i < d->gaps.n && gaps[i].from_ns < to_ns && n < max; i++)
		if (gaps[i].to_ns > from_ns)
			out[n++] = gaps[i];
	return n;
}

static size_t changes_of(struct timeline *t, int64_t from_ns, int64_t to_ns, struct change *out, size_t max)
{
	LOCKED struct data *d = lock(of_timeline(t));

	return changes_between((const void *)d->changes.p, d->changes.n, from_ns, to_ns, out, max);
}

static size_t states_of(struct timeline *t, int64_t from_ns, int64_t to_ns, struct state_event *out,
			size_t max)
{
	LOCKED struct data *d = lock(of_timeline(t));
	const struct state_event *list = (const void *)d->events.p;
	int64_t *reach = calloc(d->events.n + 1, sizeof(*reach)), latest = INT64_MIN;
	size_t n = 0;

	for (size_t i = 0; reach && i < d->events.n; i++)
		reach[i] = latest = list[i].to_ns > latest ? list[i].to_ns : latest;
	if (reach)
		n = states_between(list, reach, d->events.n, from_ns, to_ns, out, max);
	free(reach);
	return n;
}

static bool reason_of(struct timeline *t, const char *name, int64_t t_ns, struct change *out)
{
	LOCKED struct data *d = lock(of_timeline(t));

	return reason_before((const void *)d->reasons.p, d->reasons.n, name, t_ns, out);
}

static int finest_of(struct timeline *t, size_t channel, int64_t t_ns)
{
	LOCKED struct data *d = lock(of_timeline(t));
	size_t column;
	const struct lod *p = lod_of(d, channel, &column);

	return p ? lod_finest(p, t_ns) : ZOOM_MAX;
}

/* A sum of power channel k up to t_ns; false if unknown. */
static bool sum_to(const struct data *d, size_t k, int by, int64_t t_ns, struct sum_at *out)
{
	const struct energy *sum = &d->power[k].meter.sum[by];
	size_t i = first_from(&d->marks, t_ns);

	*out = sum_until(*sum, &d->power[k].meter.source[by], NULL, t_ns);
	if (!sum->last.begun || t_ns > sum->last.at_ns)
		return true;
	*out = (struct sum_at) {0, 0};
	if (t_ns <= sum->from_ns)
		return true;
	if (i == d->marks.n || time_at(&d->marks, i) != t_ns)
		return false;
	*out = mark_at(&d->marks, i)->sums[k][by];
	return !isnan(out->joules);
}

/* The newest rows of a power channel are there; of what is older, columns. */
static size_t rows_of(struct timeline *t, enum tier tier, int64_t *from_ns, int64_t to_ns, const size_t *channels, size_t n,
		      size_t most, int64_t *t_ns, double *const *values, int64_t *column_ns)
{
	LOCKED struct data *d = lock(of_timeline(t));
	const struct lod *p = d->tiers[tier];
	int64_t first_ns, last_ns, exact_ns = INT64_MAX;
	const struct power *power = d->power;
	size_t got = 0;
	int zoom;

	if (!p || !lod_extent(p, &first_ns, &last_ns))
		return 0;
	while (power < d->power + d->n_power && power->meter.source->power != channels[0] && power->meter.source->counter != channels[0])
		power++;
	if (power < d->power + d->n_power && power->n_rows > 0)
		exact_ns = power->dropped ? power->rows[0].t_ns : first_ns;
	*from_ns = *from_ns < first_ns ? first_ns : *from_ns;
	*column_ns = 0;
	if (*from_ns >= exact_ns) {
		const struct power_row *r = power->rows, *end = r + power->n_rows;
		const struct energy_source *s = power->meter.source;

		r += times_from(r, power->n_rows, sizeof(*r), offsetof(struct power_row, t_ns), *from_ns);
		for (; got < most && r < end && r->t_ns < to_ns; r++, got++) {
			t_ns[got] = r->t_ns;
			for (size_t i = 0; i < n; i++)
				values[i][got] = r->values[channels[i] == s->power ? 0 : channels[i] == s->counter ? 1 : 2];
			*from_ns = r->t_ns + 1;
		}
		return got;
	}
	zoom = lod_finest(p, *from_ns);
	*column_ns = INT64_C(1) << zoom;
	while (got < most && *from_ns < exact_ns && lod_finest(p, *from_ns) == zoom) {
		int64_t end = (*from_ns | (*column_ns - 1)) + 1;
		struct bin bin;

		if (end > to_ns || end > last_ns)
			break;
		t_ns[got] = end;
		for (size_t i = 0; i < n; i++) {
			lod_columns(p, d->session.channels[channels[i]].column, zoom, *from_ns >> zoom, 1, &bin);
			values[i][got] = bin.n ? bin.sum / (double)bin.n : NAN;
		}
		*from_ns = end;
		got++;
	}
	return got;
}

/* Known between marks and up to the newest reading, and as long as there are rows. */
static bool energy_in(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns, struct energy_result *out)
{
	struct energy_source source;
	struct sum_at from, to;
	size_t k = 0;
	bool rows;

	{
		LOCKED struct data *d = lock(of_timeline(t));

		while (k < d->n_power && d->power[k].meter.source->power != channel)
			k++;
		if (k == d->n_power)
			return false;
		source = energy_meter_source(&d->power[k].meter);
		rows = !d->power[k].dropped || d->power[k].rows[0].t_ns < from_ns - source.reach_ns;
		if (sum_to(d, k, source.counts, from_ns, &from) && sum_to(d, k, source.counts, to_ns, &to)) {
			*out = (struct energy_result) {source.scale * (to.joules - from.joules), NAN, to.known_s - from.known_s, NULL};
			return true;
		}
	}
	if (!rows)
		return false;
	*out = energy_between(&source, t, from_ns, to_ns);
	return true;
}

static int64_t above_of(struct timeline *t, size_t channel, int64_t from_ns, int64_t to_ns)
{
	LOCKED struct data *d = lock(of_timeline(t));
	const struct above *above = (const void *)d->above.p;
	int64_t sum = 0;

	for (size_t i = 0; i < d->above.n && above[i].from_ns < to_ns; i++)
		if (above[i].channel == channel)
			sum += above_between(above[i].from_ns, 1, above[i].to_ns, INT64_MAX, from_ns, to_ns);
	return sum;
}

static struct ranges *store_of(struct history *h)
{
	struct ranges *store;

	pthread_mutex_lock(&h->lock);
	store = h->ranges;
	pthread_mutex_unlock(&h->lock);
	return store;
}

/* Another thread may be reading the store. */
static void history_ranges(struct sink *sink, const struct range *list, size_t n)
{
	struct history *h = of_sink(sink);
	struct ranges *store = store_of(h);
	struct err e;

	if (!store && (store = ranges_new(RANGES_MOST, &e)) != NULL) {
		pthread_mutex_lock(&h->lock);
		h->ranges = store;
		pthread_mutex_unlock(&h->lock);
	}
	for (size_t i = 0; store && i < n; i++) {
		struct range r = list[i];

		r.name = ranges_name(store, list[i].name);
		r.category = list[i].category ? ranges_name(store, list[i].category) : NULL;
		r.lane = ranges_lane(store, list[i].lane);
		ranges_add(store, &r);
	}
}

static void ranges_of(struct timeline *t, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit,
		      void *arg)
{
	struct ranges *store = store_of(of_timeline(t));

	if (store)
		ranges_visit(store, from_ns, to_ns, least_ns, visit, arg);
}

static size_t lanes_of(struct timeline *t, const struct range_lane **out, size_t most)
{
	struct ranges *store = store_of(of_timeline(t));

	return store ? ranges_lanes(store, out, most) : 0;
}

static const struct sink_ops sink_ops = {
	.begin = history_begin,
	.rows = history_rows,
	.mark = history_mark,
	.gap = history_gap,
	.end = history_end,
	.change = history_change,
	.ranges = history_ranges,
	.described = history_described,
};

static const struct timeline_ops timeline_ops = {
	.session = session_of,
	.extent = extent_of,
	.columns = columns_of,
	.value = value_of,
	.step = step_of,
	.marks = marks_of,
	.gaps = gaps_of,
	.states = states_of,
	.changes = changes_of,
	.reason = reason_of,
	.finest = finest_of,
	.rows = rows_of,
	.energy = energy_in,
	.ranges = ranges_of,
	.lanes = lanes_of,
	.above = above_of,
};

struct history *history_new(struct err *e)
{
	struct history *h = calloc(1, sizeof(*h));

	if (!h || pthread_mutex_init(&h->lock, NULL)) {
		free(h);
		err_set(e, ERR_FAILED, _("out of memory for the history"));
		return NULL;
	}
	h->sink.ops = &sink_ops;
	h->timeline.ops = &timeline_ops;
	return h;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	data_free(&h->data);
	ranges_free(h->ranges);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

void history_limit(struct history *h, const struct history_bound *b)
{
	h->bound = *b;
}

size_t history_columns(const struct history *h)
{
	return h->data.columns;
}

struct sink *history_sink(struct history *h)
{
	return &h->sink;
}

struct timeline *history_timeline(struct history *h)
{
	return &h->timeline;
}
