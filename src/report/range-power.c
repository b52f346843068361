/* Where one name is followed by others, what is outside of it is not the mean of the outside. So time is divided by
 * what is open into states, and the power of all of them is fitted at once; what a name costs is the sum over the
 * states in which it is open. A reading takes part once all of its window is known. */
#include "report/range-power.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/clock.h"
#include "util/intl.h"

#define LEAST	    3		/* readings of a group, and of a state that has a column of its own */
#define LEAST_AFTER 10		/* of what is just after another state */
#define COLUMNS	    64		/* in a fit */
#define STATES	    (1u << 16)
#define APART	    256		/* groups that get a fit of their own */
#define LATE	    NS_PER_S	/* at most, until a reading with a time of its own has its row */
#define BLOCK	    1024

void range_power_free(struct range_power *p)
{
	free(p->readings);
	free(p->segments);
	free(p->events);
	free(p->open);
	free(p->uses);
	free(p->table);
	power_fit_free(&p->fit);
}

/* Makes room for n more. */
static void *more(struct range_power *p, void *list, size_t have, size_t n, size_t *room, size_t size)
{
	void *q = array_grow(list, have + n, room, size);

	p->no_memory |= !q;
	return q ? q : list;
}

void range_power_join(struct range_power *p, struct range_user *user)
{
	user->number = (uint32_t)p->n_users++;
	user->before = p->newest;
	p->newest = user;
}

void range_power_open(struct range_power *p, struct range_user *user, int use, int64_t from_ns, int64_t to_ns)
{
	if (from_ns >= to_ns || p->source.power == SIZE_MAX)
		return;
	p->events = more(p, p->events, p->n_events, 2, &p->room_events, sizeof(*p->events));
	if (p->no_memory)
		return;
	p->events[p->n_events++] = (struct range_event) {from_ns, user, (int8_t)use, 1};
	p->events[p->n_events++] = (struct range_event) {to_ns, user, (int8_t)use, -1};
}

/* What opens at a time comes before what closes. */
static int by_time(const void *a, const void *b)
{
	const struct range_event *e = a, *f = b;

	return e->t_ns != f->t_ns ? (e->t_ns > f->t_ns) - (e->t_ns < f->t_ns) : f->step - e->step;
}

/* Mixes the bits, so that the sum over a set names it. */
static uint64_t key_of(const struct range_user *u, int use)
{
	uint64_t x = ((uint64_t)u->number * USES + (unsigned)use + 1) * UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

static void table_grow(struct range_power *p)
{
	size_t room = p->room_table ? 2 * p->room_table : 64;
	uint32_t *table = calloc(room, sizeof(*table));

	p->no_memory |= !table;
	if (!table)
		return;
	for (size_t i = 0; i < p->fit.n_states; i++) {
		size_t at = p->fit.states[i].key & (room - 1);

		while (table[at])
			at = (at + 1) & (room - 1);
		table[at] = (uint32_t)i + 1;
	}
	free(p->table);
	p->table = table;
	p->room_table = room;
}

/* The state of what is open now; after: just after this. There may be too many. */
static uint32_t state_of(struct range_power *p, uint64_t set, uint64_t after)
{
	uint64_t key = set ^ (after << 1 | after >> 63);
	uint32_t of = after ? state_of(p, set, 0) : (uint32_t)p->fit.n_states;
	size_t at;
	struct power_state *s;

	if (2 * p->fit.n_states >= p->room_table)
		table_grow(p);
	if (p->no_memory)
		return 0;
	for (at = key & (p->room_table - 1); p->table[at]; at = (at + 1) & (p->room_table - 1))
		if (p->fit.states[p->table[at] - 1].key == key)
			return p->table[at] - 1;
	if (p->fit.n_states >= STATES) {
		for (size_t i = 0; i < p->n_open; i++)
			p->open[i]->lost = true;
		return 0;
	}
	p->uses = more(p, p->uses, p->n_uses, USES * p->n_open, &p->room_uses, sizeof(*p->uses));
	p->table[at] = power_fit_state(&p->fit) + 1;
	p->no_memory |= p->fit.no_memory;
	if (p->no_memory)
		return 0;
	s = &p->fit.states[p->table[at] - 1];
	s->key = key;
	s->of = after ? of : p->table[at] - 1;
	s->first = p->n_uses;
	for (size_t i = 0; i < p->n_open; i++)
		for (int use = 0; use < USES; use++)
			if (p->open[i]->open[use])
				p->uses[p->n_uses++] = (struct range_use) {p->open[i], use};
	s->n_uses = p->n_uses - s->first;
	return p->table[at] - 1;
}

/* Up to end_ns the set of that key is open. What follows on a range is often not what is elsewhere, such as its own
 * end in the background: as far as a window reaches it is a state of its own. */
static void segment_add(struct range_power *p, int64_t end_ns, uint64_t key)
{
	int64_t at = p->n_segments ? p->segments[p->n_segments - 1].end_ns : p->first_ns;
	int64_t reach = p->source.window_ns + energy_unsure_ns(&p->source);

	if (end_ns <= at)
		return;
	if (key != p->key) {
		p->key_before = p->key;
		p->key = key;
		p->key_ns = at;
	}
	while (at < end_ns && !p->no_memory) {
		bool after = p->source.window_ns > 0 && at < p->key_ns + reach;
		int64_t end = after && p->key_ns + reach < end_ns ? p->key_ns + reach : end_ns;
		uint32_t state = state_of(p, key, after ? p->key_before : 0);

		p->segments = more(p, p->segments, p->n_segments, 1, &p->room_segments, sizeof(*p->segments));
		if (p->n_segments && p->segments[p->n_segments - 1].state == state)
			p->segments[p->n_segments - 1].end_ns = end;
		else if (!p->no_memory)
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
	p->n_open = 0;
	for (size_t i = 0; i < p->n_events && !p->no_memory; i++) {
		const struct range_event *e = &p->events[i];
		struct range_user *u = e->user;
		uint32_t was = u->open[e->use];

		segment_add(p, e->t_ns, key);
		if (e->step > 0 && !u->open[USE_ALL] && !u->open[USE_OWN]) {
			p->open = more(p, p->open, p->n_open, 1, &p->room_open, sizeof(struct range_user *));
			if (p->no_memory)
				break;
			p->open[p->n_open++] = u;
		}
		u->open[e->use] += (uint32_t)e->step;
		u->times[e->use] += was == 0 && u->closed_ns[e->use] != e->t_ns; /* not cut by a part */
		u->closed_ns[e->use] = u->open[e->use] == 0 ? e->t_ns : u->closed_ns[e->use];
		key += was == 0 ? key_of(u, e->use) : u->open[e->use] == 0 ? -key_of(u, e->use) : 0;
		for (size_t k = p->n_open; e->step < 0 && !u->open[USE_ALL] && !u->open[USE_OWN] && k-- > 0;)
			if (p->open[k] == u) {
				p->open[k] = p->open[--p->n_open];
				break;
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
static void time_add(struct range_power *p, int64_t from_ns, int64_t to_ns)
{
	from_ns = from_ns > p->first_ns ? from_ns : p->first_ns;
	for (size_t i = segment_at(p, from_ns); i < p->n_segments && from_ns < to_ns; i++) {
		int64_t end = p->segments[i].end_ns < to_ns ? p->segments[i].end_ns : to_ns;

		p->fit.states[p->segments[i].state].time_s += (double)(end - from_ns) / 1e9;
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

static void reading_add(struct range_power *p, const struct power_reading *r, int64_t unsure, double least, double most)
{
	int64_t last = r->end_ns + unsure / 2, first = last - unsure - r->window_ns;
	struct power_share shares[COLUMNS];
	size_t n = 0, k;
	double up_to = 0;

	if (first < p->first_ns)
		return;
	for (size_t i = segment_at(p, first - 1); i < p->n_segments && up_to < 1; i++) {
		double before = up_to;

		up_to = window_before(p->segments[i].end_ns, last, (double)r->window_ns, (double)unsure);
		if (up_to <= before)
			continue;
		for (k = 0; k < n && shares[k].state != p->segments[i].state; k++)
			continue;
		if (k == COLUMNS)
			return; /* of a flood */
		if (k == n)
			shares[n++] = (struct power_share) {p->segments[i].state, 0};
		shares[k].share += (float)(up_to - before);
	}
	power_fit_add(&p->fit, r->watts, least, most, shares, n);
	p->no_memory |= p->fit.no_memory;
}

static int64_t middle_of(const struct power_reading *r)
{
	return r->end_ns - r->window_ns / 2;
}

/* Reads rows up to rows_ns; takes the readings whose windows ended before to_ns. */
static void readings_take(struct range_power *p, struct timeline *t, int64_t rows_ns, int64_t to_ns)
{
	const struct energy_source *s = &p->source;
	int64_t unsure = energy_unsure_ns(s);
	size_t n = 1, gone;

	while (n > 0 && !p->no_memory) {
		p->readings = more(p, p->readings, p->n_readings, BLOCK, &p->room_readings, sizeof(*p->readings));
		if (p->no_memory)
			return;
		n = energy_read(s, t, &p->rows, &p->next_ns, rows_ns, p->readings + p->n_readings, BLOCK);
		p->n_readings += n;
		p->work += n;
	}
	for (; p->done < p->n_readings && p->readings[p->done].end_ns + unsure / 2 < to_ns; p->done++) {
		const struct power_reading *r = &p->readings[p->done], *before = p->done ? r - 1 : NULL,
					   *after = p->done + 1 < p->n_readings ? r + 1 : NULL;
		double least = r->watts, most = r->watts;
		int64_t at = middle_of(r), since = before ? middle_of(before) : INT64_MIN;

		for (int k = 0; k < 2; k++) {
			const struct power_reading *beside = k ? after : before;

			least = beside ? fmin(least, beside->watts) : least;
			most = beside ? fmax(most, beside->watts) : most;
		}
		reading_add(p, r, unsure, least, most);
		if (before && at - since > s->hole_ns) {
			time_add(p, since, since + s->hold_ns);
			since = INT64_MIN;
		}
		time_add(p, since == INT64_MIN ? at - s->hold_ns : since, at);
	}
	gone = p->done ? p->done - 1 : 0;
	p->done -= gone;
	p->n_readings -= gone;
	if (gone > 0)
		memmove(p->readings, p->readings + gone, p->n_readings * sizeof(*p->readings));
}

void range_power_part(struct range_power *p, struct timeline *t, int64_t from_ns, int64_t to_ns)
{
	const struct energy_source *s = &p->source;
	int64_t reach = s->hold_ns + 2 * (s->window_ns + s->every_ns + s->tick_ns), keep;
	size_t gone;

	p->work = 0;
	if (s->power == SIZE_MAX)
		return;
	if (p->n_segments == 0) {
		p->first_ns = p->key_ns = from_ns;
		p->key = p->key_before = 0;
		p->next_ns = from_ns - s->reach_ns;
		p->rows = (struct energy_rows) {.begun = false};
		p->n_readings = p->done = 0;
	}
	if (p->fit.n_states == 0)
		state_of(p, 0, 0);
	part_divide(p, to_ns);
	readings_take(p, t, to_ns, to_ns);
	keep = (p->done && middle_of(&p->readings[p->done - 1]) > to_ns - LATE ? middle_of(&p->readings[p->done - 1]) : to_ns - LATE) -
	       reach;
	gone = segment_at(p, keep);
	if (gone == 0 || p->no_memory)
		return;
	p->first_ns = p->segments[gone - 1].end_ns;
	p->n_segments -= gone;
	memmove(p->segments, p->segments + gone, p->n_segments * sizeof(*p->segments));
}

void range_power_break(struct range_power *p, struct timeline *t)
{
	int64_t end = p->n_segments ? p->segments[p->n_segments - 1].end_ns : 0;

	if (p->source.power == SIZE_MAX || !end || p->no_memory)
		return;
	readings_take(p, t, end + p->source.reach_ns, end);
	if (p->done)
		time_add(p, middle_of(&p->readings[p->done - 1]), middle_of(&p->readings[p->done - 1]) + p->source.hold_ns);
	p->n_segments = 0;
}

struct ranked {
	double weight;
	uint32_t state;
	bool after;
};

/* What is just after something is the first that does without a column of its own. */
static int by_weight(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return x->after != y->after ? x->after - y->after : (x->weight < y->weight) - (x->weight > y->weight);
}

/* One group: the time in which it is open, so many times, by columns. Of states that share the last column, it has them
 * apart. */
static struct energy_result joules_of(const struct range_power *p, struct power_solution *all, uint32_t *column,
				      const uint32_t *list, size_t n, uint64_t times, double *seconds, size_t *apart)
{
	struct energy_result r = {NAN, NAN, 0, NULL};
	double weight = 0, rest = 0, least = INFINITY, most = -INFINITY, variance = 0, one, misfit = 0;
	size_t k = all->k;
	bool told;

	memset(seconds, 0, (k + 1) * sizeof(*seconds));
	for (size_t i = 0; i < n; i++) {
		const struct power_state *s = &p->fit.states[list[i]];

		seconds[column[list[i]]] += s->time_s;
		r.known_s += s->time_s;
		rest += column[list[i]] + 1 == k ? s->time_s : 0;
		weight += s->weight;
		least = fmin(least, s->least);
		most = fmax(most, s->most);
	}
	if (r.known_s <= 0)
		r.why = N_("power was not read in this time");
	else if (weight < LEAST)
		r.why = N_("power is read fewer than three times in all of its time");
	if (r.why)
		return r;
	if (rest > 0.01 * r.known_s && *apart < APART) {
		struct power_solution own;

		++*apart;
		for (size_t i = 0; i < n; i++)
			column[list[i]] += column[list[i]] + 1 == k;
		told = power_fit_solve(&p->fit, column, k + 1, &own);
		seconds[k] = rest;
		seconds[k - 1] = 0;
		told = told && power_solution_joules(&own, seconds, &r.joules, &variance);
		power_solution_free(&own);
		for (size_t i = 0; i < n; i++)
			column[list[i]] -= column[list[i]] == k;
	} else {
		told = power_solution_joules(all, seconds, &r.joules, &variance);
	}
	/* What is beside the edges may not be what is elsewhere: readings without an edge tell. */
	for (size_t i = 0; i < n && rest <= 0.01 * r.known_s; i++) {
		const struct power_state *s = &p->fit.states[list[i]];

		misfit += s->n > 0 ? s->time_s * (all->watts[column[list[i]]] - s->y / s->n) : 0;
	}
	/* What one reading more or less would change. */
	one = fmax(most - least, fabs(r.joules / r.known_s)) / weight * r.known_s;
	r.within = p->source.known ? sqrt(1.96 * 1.96 * variance + one * one + misfit * misfit) : (double)NAN;
	if (!told || r.within > fabs(r.joules)) {
		r.joules = r.within = NAN;
		r.why = N_("its share of the readings of power varies too little");
	} else if (p->source.age != SIZE_MAX) {
		/* How a sample with a time of its own weighs its window is not known, but alike at all edges of a kind: each
		 * may be anywhere in it. */
		r.within = hypot(r.within, 1.96 / sqrt(6) * (most - least) *
						   fmin((double)times * (double)p->source.window_ns / 1e9, r.known_s));
	}
	return r;
}

void range_power_solve(struct range_power *p)
{
	size_t n = p->fit.n_states, k = 0, apart = 0;
	uint32_t *column = calloc(n + 1, sizeof(*column)), *list = calloc(p->n_uses + 1, sizeof(*list));
	struct ranked *order = calloc(n + 1, sizeof(*order));
	size_t *end = calloc(USES * p->n_users + 2, sizeof(*end));
	double *seconds = calloc(COLUMNS + 2, sizeof(*seconds));
	struct power_solution all = {.k = 0};

	for (struct range_user *u = p->newest; u; u = u->before)
		for (int use = 0; use < USES; use++)
			u->joules[use] = (struct energy_result) {NAN, NAN, 0, N_("no power signal")};
	if (p->source.power == SIZE_MAX || !column || !list || !order || !end || !seconds)
		goto end;
	for (size_t i = 0; i < n; i++) {
		const struct power_state *s = &p->fit.states[i];

		order[i].state = (uint32_t)i;
		order[i].after = p->fit.states[i].of != i;
		order[s->weight < LEAST_AFTER ? s->of : i].weight += s->weight;
	}
	qsort(order, n, sizeof(*order), by_weight);
	for (size_t i = 0; i < n; i++)
		column[order[i].state] = k < COLUMNS && order[i].weight >= LEAST ? (uint32_t)k++ : COLUMNS;
	for (size_t i = 0; i < n; i++) {
		column[i] = column[i] == COLUMNS ? column[p->fit.states[i].of] : column[i];
		column[i] = column[i] == COLUMNS ? (uint32_t)k : column[i]; /* all of these in one */
	}
	if (!power_fit_solve(&p->fit, column, k + 1, &all))
		goto end;
	/* The states of each use of each user. */
	for (size_t i = 0; i < p->n_uses; i++)
		end[p->uses[i].user->number * USES + (unsigned)p->uses[i].use + 2]++;
	for (size_t i = 2; i < USES * p->n_users + 2; i++)
		end[i] += end[i - 1];
	for (size_t i = 0; i < n; i++)
		for (size_t j = p->fit.states[i].first; j < p->fit.states[i].first + p->fit.states[i].n_uses; j++)
			list[end[p->uses[j].user->number * USES + (unsigned)p->uses[j].use + 1]++] = (uint32_t)i;
	for (struct range_user *u = p->newest; u; u = u->before)
		for (unsigned use = 0; use < USES; use++) {
			size_t at = u->number * USES + use;

			u->joules[use] = joules_of(p, &all, column, list + end[at], end[at + 1] - end[at], u->times[use], seconds, &apart);
			if (u->lost)
				u->joules[use] = (struct energy_result) {NAN, NAN, NAN, N_("too many ranges of different names are open at once")};
		}
end:
	power_solution_free(&all);
	free(column);
	free(list);
	free(order);
	free(end);
	free(seconds);
}
