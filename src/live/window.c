/* Energy windows. A window is fed with readings when no later end can be near them any more; when it is asked for, the
 * rest is added to a copy, with readings of rows that sinks did not get yet. So begin and end only note a time, and any
 * number of windows may overlap. */
#include <math.h>
#include <stdlib.h>

#include "live/tally.h"
#include "util/intl.h"

#define ROWS_MOST 4096 /* rows that sinks did not get yet */

static const struct power_reading *reading(const struct track *k, size_t n)
{
	return &k->ring[n & (k->room - 1)];
}

static void part_add(struct window_part *a, const struct energy_source *s, const struct power_reading *r)
{
	int64_t middle_ns = r->end_ns - r->window_ns / 2;

	energy_add(&a->e, s, r);
	a->readings += middle_ns >= a->e.from_ns && middle_ns < a->e.to_ns;
}

/* Adds the readings before limit_ns. */
static void part_feed(struct window_part *a, const struct energy_source *s, const struct track *k, int64_t limit_ns)
{
	if (k->n - a->next > k->room)
		a->next = k->n - k->room;
	for (; a->next < k->n && reading(k, a->next)->end_ns < limit_ns; a->next++)
		part_add(a, s, reading(k, a->next));
}

/* Before this time readings are final: an end that is noted now is later, and its edge does not reach there. */
static int64_t settled_ns(const struct tally *t, const struct power *p, int track)
{
	const struct energy_source *s = &p->meter.source[track];

	return t->row_ns[s->tier] - 2 * s->reach_ns;
}

void windows_feed(struct tally *t)
{
	for (struct window *w = t->windows; w; w = w->next)
		for (size_t i = 0; i < t->n_powers * TRACKS; i++) {
			const struct power *p = &t->powers[i / TRACKS];
			const struct energy_source *s = &p->meter.source[i % TRACKS];

			if (w->to_ns == INT64_MAX)
				part_feed(&w->parts[i], s, &p->tracks[i % TRACKS], settled_ns(t, p, i % TRACKS));
			else
				part_feed(&w->parts[i], s, &p->tracks[i % TRACKS], w->to_ns + s->reach_ns);
		}
}

void window_drop(struct tally *t, struct window **at)
{
	struct window *gone = *at;

	*at = gone->next;
	t->n_windows--;
	free(gone);
}

int tally_window_begin(struct tally *t, int64_t owner, int64_t number, int64_t t_ns, struct err *e)
{
	struct window *w = NULL;

	pthread_mutex_lock(&t->lock);
	if (t->n_windows < TALLY_WINDOWS)
		w = calloc(1, sizeof(*w) + t->n_powers * TRACKS * sizeof(w->parts[0]));
	if (w) {
		*w = (struct window) {t->windows, owner, number, t_ns, INT64_MAX};
		for (size_t i = 0; i < t->n_powers * TRACKS; i++) {
			const struct track *k = &t->powers[i / TRACKS].tracks[i % TRACKS];
			const struct energy_source *s = &t->powers[i / TRACKS].meter.source[i % TRACKS];
			size_t from = k->n;

			while (from > 0 && k->n - from < k->room && reading(k, from - 1)->end_ns >= t_ns - s->reach_ns)
				from--;
			w->parts[i] = (struct window_part) {{.from_ns = t_ns, .to_ns = INT64_MAX}, from, 0};
		}
		t->windows = w;
		t->n_windows++;
	}
	pthread_mutex_unlock(&t->lock);
	return w ? 0 : err_set(e, ERR_USAGE, _("more than %d windows are open: forget those that are not needed"), TALLY_WINDOWS);
}

static struct window **find(struct tally *t, int64_t number)
{
	struct window **at = &t->windows;

	while (*at && (*at)->number != number)
		at = &(*at)->next;
	return at;
}

enum tally_end tally_window_end(struct tally *t, int64_t number, int64_t t_ns)
{
	enum tally_end result = TALLY_UNKNOWN;
	struct window *w;

	pthread_mutex_lock(&t->lock);
	w = *find(t, number);
	if (w) {
		result = w->to_ns == INT64_MAX ? TALLY_ENDED : TALLY_HAD_ENDED;
		if (t_ns < w->from_ns)
			t_ns = w->from_ns;
		/* This thread may have had to wait for so long that readings around its end were taken. */
		for (size_t i = 0; i < t->n_powers * TRACKS; i++) {
			const struct power *p = &t->powers[i / TRACKS];

			if (settled_ns(t, p, i % TRACKS) + p->meter.source[i % TRACKS].reach_ns > t_ns)
				t_ns = clock_now_ns();
		}
		if (result == TALLY_ENDED)
			w->to_ns = t_ns;
		for (size_t i = 0; result == TALLY_ENDED && i < t->n_powers * TRACKS; i++)
			w->parts[i].e.to_ns = t_ns;
	}
	pthread_mutex_unlock(&t->lock);
	return result;
}

bool tally_window_forget(struct tally *t, int64_t owner, int64_t number)
{
	bool found = false;

	pthread_mutex_lock(&t->lock);
	for (struct window **at = &t->windows; *at;)
		if (number == 0 ? (*at)->owner == owner : (*at)->number == number) {
			window_drop(t, at);
			found = true;
		} else {
			at = &(*at)->next;
		}
	pthread_mutex_unlock(&t->lock);
	return found;
}

/* Adds the readings of rows that sinks did not get yet. */
static void add_fresh(const struct tally *t, const struct power *p, int track, struct window_part *a)
{
	const struct energy_source *s = &p->meter.source[track];
	const struct channel *all = t->about->channels;
	enum tier tier = s->tier;
	uint16_t columns[2] = {all[track == BY_POWER ? s->power : s->counter].column};
	size_t made = engine_made(t->engine, tier), row = made, n = 1;
	struct energy_rows rows = p->meter.sum[track].at.rows;
	struct power_reading list[2];
	double v[2] = {NAN, NAN};

	if (track == BY_POWER && s->age != SIZE_MAX)
		columns[n++] = all[s->age].column;
	while (row > 0 && made - row < ROWS_MOST && engine_peek(t->engine, tier, row - 1, columns, 0, v) > t->row_ns[tier])
		row--;
	for (; row < made; row++) {
		int64_t t_ns = engine_peek(t->engine, tier, row, columns, n, v);
		size_t got = t_ns > 0 ? energy_take(s, &rows, t_ns, v[0], v[1], list) : 0;

		for (size_t i = 0; i < got; i++)
			part_add(a, s, &list[i]);
	}
}

/* What is after the last reading is taken to be as that was: the bound has how far power ever was from it. Returns the
 * seconds. */
static double guess(struct energy *e, const struct energy_source *s)
{
	int64_t last_ns = e->at.last.at_ns, since_ns = last_ns > e->from_ns ? last_ns : e->from_ns;

	if (!e->at.last.begun || last_ns >= e->to_ns || e->to_ns - last_ns > s->hole_ns)
		return 0;
	energy_add(e, s, &(struct power_reading) {e->to_ns, s->counts ? e->to_ns - last_ns : 0, e->at.last.watts});
	return (double)(e->to_ns - since_ns) / 1e9;
}

static struct tally_energy power_energy(const struct tally *t, const struct power *p, const struct window *w, int64_t to_ns,
					bool *complete)
{
	struct energy_source s = energy_meter_source(&p->meter);
	int track = s.counts ? BY_COUNTER : BY_POWER;
	struct window_part a = w->parts[(size_t)(p - t->powers) * TRACKS + (size_t)track];
	struct tally_energy r = {.channel = p->channel};

	a.e.to_ns = to_ns;
	part_feed(&a, &p->meter.source[track], &p->tracks[track], INT64_MAX);
	if (t->about)
		add_fresh(t, p, track, &a);
	/* A source that is silent for longer is not waited for. */
	if (a.e.at.last.begun && a.e.at.last.at_ns < to_ns && clock_now_ns() - a.e.at.last.at_ns <= s.reach_ns)
		*complete = false;
	r.guessed_s = guess(&a.e, &s);
	r.readings = a.readings;
	r.energy = energy_get(&a.e, &s);
	if (r.guessed_s > 0)
		r.energy.within += s.scale * r.guessed_s * fmax(s.most - a.e.at.last.watts, a.e.at.last.watts - s.least);
	return r;
}

size_t tally_window_get(struct tally *t, int64_t number, struct tally_energy *out, size_t most, double *seconds,
			bool *complete)
{
	size_t n = SIZE_MAX;
	struct window *w;

	*complete = true;
	pthread_mutex_lock(&t->lock);
	w = *find(t, number);
	if (w) {
		int64_t to_ns = w->to_ns < INT64_MAX ? w->to_ns : clock_now_ns();

		n = t->n_powers;
		*seconds = (double)(to_ns - w->from_ns) / 1e9;
		for (size_t k = 0; k < n && k < most; k++)
			out[k] = power_energy(t, &t->powers[k], w, to_ns, complete);
		*complete |= w->to_ns == INT64_MAX;
	}
	pthread_mutex_unlock(&t->lock);
	return n;
}
