/* Where one name is followed by others, what is outside of it is not the mean of the outside. So time is divided by
 * what is open into states, and the power of all of them is fitted at once; what a name costs is the sum over the
 * states in which it is open. A reading takes part once all of its window is known. */
#include "report/range-power.h"

#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/clock.h"
#include "util/intl.h"

#define LEAST	    3  /* readings of a group, and of a state that has a column of its own */
#define LEAST_AFTER 10 /* of what is just after another state */
#define COLUMNS	    (POWER_COLUMNS - 2) /* in a fit, beside those of what is rare and of one group that is */
#define STATES	    (1u << 16)
#define APART	    256	     /* groups that get a fit of their own */
#define LATE	    NS_PER_S /* at most, until a reading with a time of its own has its row */
#define BLOCK	    1024

void range_power_free(struct range_power *p)
{
	tdestroy(p->tree, free);
	free(p->states);
	free(p->segments);
	free(p->events);
	free(p->open);
	power_fit_free(&p->fit);
}

/* Makes room for n more in one of the lists. */
#define MORE(p, list, n)                                                                                                      \
	((p)->list = more(p, (p)->list, (p)->n_##list + (n), &(p)->room_##list, sizeof((p)->list[0])))
static void *more(struct range_power *p, void *list, size_t n, size_t *room, size_t size)
{
	void *q = array_grow(list, n, room, size);

	p->no_memory |= !q;
	return q ? q : list;
}

void range_power_join(struct range_power *p, struct range_user *user)
{
	user->number = (uint32_t)p->n_users++;
	user->before = p->newest;
	p->newest = user;
}

void range_power_open(struct range_power *p, struct range_user *user, int64_t from_ns, int64_t to_ns)
{
	if (from_ns >= to_ns || p->source.power == SIZE_MAX)
		return;
	MORE(p, events, 2);
	if (p->no_memory)
		return;
	p->events[p->n_events++] = (struct range_event) {from_ns, user, 1};
	p->events[p->n_events++] = (struct range_event) {to_ns, user, -1};
}

/* What opens at a time comes before what closes. */
static int by_time(const void *a, const void *b)
{
	const struct range_event *e = a, *f = b;

	return e->t_ns != f->t_ns ? (e->t_ns > f->t_ns) - (e->t_ns < f->t_ns) : f->step - e->step;
}

static int by_key(const void *a, const void *b)
{
	const uint64_t *k = a, *l = b;

	return (*k > *l) - (*k < *l);
}

/* Mixes the bits, so that the sum over a set names it. */
static uint64_t key_of(const struct range_user *u)
{
	uint64_t x = ((uint64_t)u->number + 1) * UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

/* The state of what is open now; after: just after this. There may be too many. NULL: out of memory. */
static struct range_state *state_of(struct range_power *p, uint64_t set, uint64_t after)
{
	const uint64_t key = set ^ (after << 1 | after >> 63);
	struct range_state *const *found = tfind(&key, &p->tree, by_key), *s, *of;

	if (found)
		return *found;
	of = after ? state_of(p, set, 0) : NULL;
	if (p->n_states >= STATES) {
		for (size_t i = 0; i < p->n_open; i++)
			p->open[i]->lost = true;
		return p->states[0];
	}
	s = calloc(1, sizeof(*s) + p->n_open * sizeof(s->uses[0]));
	MORE(p, states, 1);
	if (s)
		s->key = key;
	if (!s || p->no_memory || !tsearch(s, &p->tree, by_key)) {
		p->no_memory = true;
		free(s);
		return NULL;
	}
	s->of = after ? of : s;
	s->number = (uint32_t)p->n_states;
	s->row = power_fit_row(&p->fit, &(struct power_share) {s->number, 1}, 1);
	s->least = INFINITY;
	s->most = -INFINITY;
	for (size_t i = 0; i < p->n_open; i++) {
		s->uses[i] = (struct range_use) {p->open[i]->uses, s};
		p->open[i]->uses = &s->uses[i];
	}
	p->states[p->n_states++] = s;
	p->no_memory |= p->fit.no_memory;
	return s;
}

/* Up to end_ns the set of that key is open. What follows on a range is often not what is elsewhere, such as its own
 * end in the background: as far as a window reaches it is a state of its own. */
static void segment_add(struct range_power *p, int64_t end_ns, uint64_t key)
{
	int64_t at = p->n_segments ? p->segments[p->n_segments - 1].end_ns : p->first_ns;
	int64_t reach = p->source.window_ns + p->source.unsure_ns;

	if (end_ns > at && key != p->key) {
		p->key_before = p->key;
		p->key = key;
		p->key_ns = at;
	}
	while (at < end_ns) {
		bool after = p->source.window_ns > 0 && at < p->key_ns + reach;
		int64_t end = after && p->key_ns + reach < end_ns ? p->key_ns + reach : end_ns;
		struct range_state *state = state_of(p, key, after ? p->key_before : 0);

		MORE(p, segments, 1);
		if (p->no_memory)
			return;
		if (p->n_segments && p->segments[p->n_segments - 1].state == state)
			p->segments[p->n_segments - 1].end_ns = end;
		else
			p->segments[p->n_segments++] = (struct range_segment) {end, state};
		at = end;
	}
}

/* Adds the segments of a part. */
static void part_divide(struct range_power *p, int64_t to_ns)
{
	uint64_t key = 0;

	if (p->n_events > 0)
		qsort(p->events, p->n_events, sizeof(*p->events), by_time);
	for (size_t i = 0; i < p->n_events; i++) {
		const struct range_event *e = &p->events[i];
		struct range_user *u = e->user;

		segment_add(p, e->t_ns, key);
		MORE(p, open, 1);
		if (p->no_memory)
			return;
		if (e->step > 0 && u->open++ == 0) {
			u->times += u->closed_ns != e->t_ns; /* not cut by a part */
			key += key_of(u);
			u->at = p->n_open;
			p->open[p->n_open++] = u;
		} else if (e->step < 0 && --u->open == 0) {
			u->closed_ns = e->t_ns;
			key -= key_of(u);
			p->open[u->at] = p->open[--p->n_open];
			p->open[u->at]->at = u->at;
		}
	}
	segment_add(p, to_ns, 0);
	p->n_events = 0;
}

static size_t segment_at(const struct range_power *p, int64_t t_ns)
{
	return times_from(p->segments, p->n_segments, sizeof(*p->segments), offsetof(struct range_segment, end_ns), t_ns + 1);
}

/* Power is known in this time. */
static void time_add(struct range_power *p, const struct power_line *l)
{
	int64_t from_ns = l->from_ns > p->first_ns ? l->from_ns : p->first_ns;

	for (size_t i = segment_at(p, from_ns); i < p->n_segments && from_ns < l->to_ns; i++) {
		int64_t end = p->segments[i].end_ns < l->to_ns ? p->segments[i].end_ns : l->to_ns;

		p->segments[i].state->time_s += (double)(end - from_ns) / 1e9;
		from_ns = end;
	}
}

/* The part of a window that lies before t_ns. It has the length a, and ended at some time within u before last_ns. */
static double window_before(int64_t t_ns, int64_t last_ns, double a, double u)
{
	double z = (double)(last_ns - t_ns), sum = 0, to[] = {z, z - a, z - u, z - a - u};

	if (z <= 0 || (a <= 0 && u <= 0))
		return z <= 0; /* a reading at an edge is of what was before */
	if (a <= 0 || u <= 0)
		return 1 - fmin(z / (a + u), 1);
	for (int i = 0; i < 4; i++)
		sum += to[i] > 0 ? (i == 0 || i == 3 ? 1 : -1) * to[i] * to[i] / 2 : 0;
	return fmin(fmax(1 - sum / (a * u), 0), 1);
}

/* Adds a reading to what it sees; before: that before it, NULL if there is none. */
static void reading_add(struct range_power *p, const struct power_reading *r, const double *before)
{
	int64_t unsure = p->source.unsure_ns, last = r->end_ns + unsure / 2, first = last - unsure - r->window_ns;
	struct power_share shares[RANGE_STATES];
	double up_to = 0, sooner;
	size_t n = 0, k, i;

	for (k = 0; k < p->n_seen; k++) {
		p->seen[k]->least = fmin(p->seen[k]->least, r->watts);
		p->seen[k]->most = fmax(p->seen[k]->most, r->watts);
	}
	p->n_seen = 0;
	i = first < p->first_ns ? p->n_segments : segment_at(p, first - 1);
	for (; i < p->n_segments && up_to < 1; i++) {
		struct range_state *s = p->segments[i].state;

		sooner = up_to;
		up_to = window_before(p->segments[i].end_ns, last, (double)r->window_ns, (double)unsure);
		if (up_to <= sooner)
			continue;
		for (k = 0; k < n && p->seen[k] != s; k++)
			continue;
		if (k == RANGE_STATES)
			return; /* of a flood */
		if (k == n) {
			p->seen[n] = s;
			shares[n++] = (struct power_share) {s->number, 0};
		}
		shares[k].share += (float)(up_to - sooner);
	}
	if (up_to < 1) /* not all of its window is known */
		return;
	p->n_seen = n;
	for (k = 0; k < n; k++) {
		p->seen[k]->weight += (double)shares[k].share;
		p->seen[k]->least = fmin(p->seen[k]->least, before ? fmin(*before, r->watts) : r->watts);
		p->seen[k]->most = fmax(p->seen[k]->most, before ? fmax(*before, r->watts) : r->watts);
	}
	power_fit_add(&p->fit, n > 1 ? power_fit_row(&p->fit, shares, n) : p->seen[0]->row, r->watts);
	p->no_memory |= p->fit.no_memory;
}

/* Takes the readings of rows up to rows_ns. */
static void readings_take(struct range_power *p, struct timeline *t, int64_t rows_ns)
{
	struct power_reading list[BLOCK];
	struct power_line lines[3];
	size_t n;

	while (!p->no_memory && (n = energy_read(&p->source, t, &p->rows, rows_ns, list, BLOCK)) > 0)
		for (size_t i = 0; i < n; i++, p->work++) {
			const struct power_last before = p->last;

			for (size_t k = power_lines(&p->source, &p->last, &list[i], lines); k-- > 0;)
				time_add(p, &lines[k]);
			reading_add(p, &list[i], before.begun ? &before.watts : NULL);
		}
	p->coarse |= p->rows.coarse;
}

void range_power_part(struct range_power *p, struct timeline *t, int64_t from_ns, int64_t to_ns)
{
	const struct energy_source *s = &p->source;
	size_t gone;

	p->work = 0;
	if (s->power == SIZE_MAX)
		return;
	if (p->n_segments == 0) {
		p->first_ns = p->key_ns = from_ns;
		p->key = p->key_before = 0;
		p->rows = (struct energy_rows) {.next_ns = from_ns - s->reach_ns};
		p->last = (struct power_last) {.begun = false};
		p->n_seen = 0;
	}
	state_of(p, 0, 0);
	part_divide(p, to_ns);
	readings_take(p, t, to_ns);
	gone = segment_at(p, to_ns - LATE - s->hold_ns - 2 * (s->window_ns + s->every_ns + s->tick_ns));
	if (gone == 0 || p->no_memory)
		return;
	p->first_ns = p->segments[gone - 1].end_ns;
	p->n_segments -= gone;
	memmove(p->segments, p->segments + gone, p->n_segments * sizeof(*p->segments));
}

void range_power_break(struct range_power *p, struct timeline *t)
{
	struct power_line end[3];

	if (p->n_segments == 0 || p->no_memory)
		return;
	readings_take(p, t, p->segments[p->n_segments - 1].end_ns + p->source.reach_ns);
	if (power_lines(&p->source, &p->last, NULL, end) > 0)
		time_add(p, end);
	p->n_segments = 0;
}

/* What is just after something is the first that does without a column of its own. */
static int by_rank(const void *a, const void *b)
{
	const struct range_state *s = *(struct range_state *const *)a, *t = *(struct range_state *const *)b;

	return (s->of == s) != (t->of == t) ? (s->of != s) - (t->of != t) : (s->rank < t->rank) - (s->rank > t->rank);
}

/* Of states that share the last column, a user has them apart. */
static struct energy_result joules_of(const struct range_power *p, const struct power_solution *all, struct power_solution *own,
				      uint32_t *column, const struct range_user *u, size_t *apart)
{
	struct energy_result r = {NAN, NAN, 0, NULL};
	double seconds[POWER_COLUMNS] = {0}, weight = 0, least = INFINITY, most = -INFINITY, variance, one, misfit = 0, rest;
	size_t k = all->k;
	bool told;

	for (const struct range_use *use = u->uses; use; use = use->next) {
		const struct range_state *s = use->state;
		const struct power_row *row = &p->fit.rows[s->row];

		seconds[column[s->number]] += s->time_s;
		r.known_s += s->time_s;
		weight += s->weight;
		least = fmin(least, s->least);
		most = fmax(most, s->most);
		/* What is beside the edges may not be what is elsewhere: readings without an edge tell. */
		misfit += row->n > 0 ? s->time_s * (all->watts[column[s->number]] - row->watts / row->n) : 0;
	}
	rest = seconds[k - 1];
	if (r.known_s <= 0)
		r.why = N_("power was not read in this time");
	else if (weight < LEAST)
		r.why = N_("power is read fewer than three times in all of its time");
	if (r.why)
		return r;
	if (rest > 0.01 * r.known_s && *apart < APART) {
		++*apart;
		for (const struct range_use *use = u->uses; use; use = use->next)
			column[use->state->number] += column[use->state->number] + 1 == k;
		power_fit_solve(&p->fit, column, k + 1, own);
		for (const struct range_use *use = u->uses; use; use = use->next)
			column[use->state->number] -= column[use->state->number] == k;
		seconds[k] = rest;
		seconds[k - 1] = 0;
		all = own;
	}
	told = power_solution_joules(all, seconds, &r.joules, &variance);
	/* What one reading more or less would change. */
	one = fmax(most - least, fabs(r.joules / r.known_s)) / weight * r.known_s;
	misfit = rest > 0.01 * r.known_s ? 0 : misfit;
	r.within = p->source.known && !p->coarse ? sqrt(1.96 * 1.96 * variance + one * one + misfit * misfit) : (double)NAN;
	if (!told || r.within > fabs(r.joules)) {
		r.joules = r.within = NAN;
		r.why = N_("its share of the readings of power varies too little");
	} else if (p->source.age != SIZE_MAX) {
		/* How a sample with a time of its own weighs its window is not known, but alike at all edges of a kind: each
		 * may be anywhere in it. */
		r.within = hypot(r.within, 1.96 / sqrt(6) * (most - least) *
						   fmin((double)u->times * (double)p->source.window_ns / 1e9, r.known_s));
	}
	r.joules *= p->source.scale;
	r.within *= p->source.scale;
	return r;
}

void range_power_solve(struct range_power *p)
{
	size_t n = p->n_states, k = 0, apart = 0;
	uint32_t *column = calloc(n + 1, sizeof(*column));
	struct range_state **order = calloc(n + 1, sizeof(struct range_state *));
	struct power_solution *both = malloc(2 * sizeof(*both));

	p->no_memory |= !column || !order || !both;
	for (size_t i = 0; i < n; i++)
		p->states[i]->rank = 0;
	for (size_t i = 0; i < n && !p->no_memory; i++) {
		struct range_state *s = order[i] = p->states[i];

		(s->weight < LEAST_AFTER ? s->of : s)->rank += s->weight;
	}
	if (n > 0 && !p->no_memory) {
		qsort(order, n, sizeof(struct range_state *), by_rank);
		for (size_t i = 0; i < n; i++)
			column[order[i]->number] = k < COLUMNS && order[i]->rank >= LEAST ? (uint32_t)k++ : COLUMNS;
		for (size_t i = 0; i < n; i++) {
			column[i] = column[i] == COLUMNS ? column[p->states[i]->of->number] : column[i];
			column[i] = column[i] == COLUMNS ? (uint32_t)k : column[i]; /* all of these in one */
		}
		power_fit_solve(&p->fit, column, k + 1, &both[0]);
	}
	for (struct range_user *u = p->newest; u; u = u->before)
		if (n == 0 || p->no_memory)
			u->joules = (struct energy_result) {NAN, NAN, 0, N_("no power signal")};
		else if (u->lost)
			u->joules = (struct energy_result) {NAN, NAN, NAN, N_("too many ranges of different names are open at once")};
		else
			u->joules = joules_of(p, &both[0], &both[1], column, u, &apart);
	free(column);
	free(order);
	free(both);
}
