/* A row is not always a reading: a chip that averages holds a mean until it has the next one. So a row is one if the
 * value has changed, or if it has stayed for two windows, the end of the first of them: then the reading before a
 * change ends a window before it, wherever reading began. */
#include "model/energy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/intl.h"

#define LATE  NS_PER_S /* at most, until a reading with a time of its own has its row */
#define BLOCK 1024
#define GAIN  0.01 /* a chip knows no power better */

/* In the same rows. */
static size_t companion(const struct session *about, const struct channel *of, const char *suffix)
{
	size_t stem = strlen(of->name);

	if (!strcmp(suffix, ".energy") && stem > 6 && !strcmp(of->name + stem - 6, ".power"))
		stem -= 6;
	for (size_t i = 0; i < about->n_channels; i++) {
		const struct channel *c = &about->channels[i];

		if (!strncmp(c->name, of->name, stem) && !strcmp(c->name + stem, suffix) && !c->missing[0] && c->tier == of->tier)
			return i;
	}
	return SIZE_MAX;
}

/* Sets what follows from its windows, and from whether its rises are read. */
static void source_set(struct energy_source *s)
{
	int64_t longest = s->every_ns > s->tick_ns && s->every_ns > s->window_ns ? s->every_ns : s->window_ns;
	bool late = s->age != SIZE_MAX || s->counts;

	s->unsure_ns = s->age != SIZE_MAX ? 0 : s->every_ns > s->tick_ns ? s->tick_ns : s->window_ns;
	s->hole_ns = COVER_PERIODS * (late && longest > s->tick_ns ? longest : s->tick_ns) + 2 * longest;
	s->hold_ns = late ? 2 * (longest + s->tick_ns) : longest > s->tick_ns ? s->tick_ns + 2 * longest + s->window_ns / 2 : s->window_ns;
	s->edge_ns = 2 * s->tick_ns + (late ? s->hold_ns : (s->unsure_ns + s->window_ns) / 2 + s->age_ns);
	s->reach_ns = s->hole_ns + 3 * (longest + s->tick_ns) + s->age_ns + (late ? LATE : 0);
}

void energy_source_of(struct energy_source *s, const struct session *about, size_t power)
{
	const struct channel *c = &about->channels[power];

	*s = (struct energy_source) {.power = power,
				     .age = companion(about, c, ".age"),
				     .counter = companion(about, c, ".energy"),
				     .tier = c->tier,
				     .tick_ns = llround(about->hz[c->tier] > 0 ? 1e9 / about->hz[c->tier] : 1e9),
				     .window_ns = c->window_ns,
				     .age_ns = c->age_ns,
				     .begin_ns = about->start.mono_ns,
				     .known = c->window_ns != WINDOW_UNKNOWN || c->period_ns > 0,
				     .assumed = c->window_ns == WINDOW_UNKNOWN,
				     .scale = 1,
				     .least = INFINITY,
				     .most = -INFINITY,
				     .mean = NAN};
	if (s->assumed)
		s->window_ns = c->period_ns > s->tick_ns ? c->period_ns : 0;
	s->every_ns = c->period_ns > s->tick_ns ? c->period_ns : s->window_ns > s->tick_ns ? s->window_ns : s->tick_ns;
	source_set(s);
}

/* What a counter rose by between two changes. */
static size_t rise(const struct energy_source *s, struct energy_rows *r, int64_t t_ns, double joules,
		   struct power_reading *out)
{
	int64_t since_ns = r->last_ns;
	double rose = joules - r->v;
	bool is_one = r->begun && r->changed && rose > 0;

	if (r->begun && rose <= 0 && rose >= 0)
		return 0;
	r->changed = r->begun && rose > 0;
	r->begun = true;
	r->last_ns = t_ns;
	r->v = joules;
	*out = (struct power_reading) {t_ns - s->age_ns - s->tick_ns / 2, t_ns - since_ns, rose / ((double)(t_ns - since_ns) / 1e9)};
	return is_one;
}

size_t energy_take(const struct energy_source *s, struct energy_rows *r, int64_t t_ns, double v, double age_ms,
		   struct power_reading out[2])
{
	int64_t every = s->every_ns, end_ns = t_ns - s->age_ns - s->unsure_ns / 2;
	bool follows = r->begun && t_ns - r->row_ns <= COVER_PERIODS * s->tick_ns, same = follows && v == r->v;
	double before = r->v;
	size_t n = 0;

	if (isnan(v) || (r->begun && t_ns <= r->row_ns))
		return 0;
	if (s->counts)
		return rise(s, r, t_ns, v, out);
	r->row_ns = t_ns;
	r->v = v;
	r->begun = true;
	if (s->age != SIZE_MAX) {
		end_ns -= isnan(age_ms) ? 0 : llround(age_ms * 1e6);
		if (r->changed && end_ns <= r->last_ns)
			return 0;
		r->changed = true;
		r->last_ns = end_ns;
	} else if (every > s->tick_ns) {
		if (follows && t_ns - r->last_ns > every && (!same || t_ns - r->last_ns >= 2 * every))
			out[n++] = (struct power_reading) {end_ns - every, s->window_ns, before * 1e-3};
		r->last_ns = n > 0 ? t_ns - every : r->last_ns;
		if (same)
			return n;
		r->last_ns = t_ns;
	}
	out[n++] = (struct power_reading) {end_ns, s->window_ns, v * 1e-3};
	return n;
}

size_t energy_read(const struct energy_source *s, struct timeline *t, struct energy_rows *r, int64_t to_ns,
		   struct power_reading *out, size_t most)
{
	const size_t channels[] = {s->counts ? s->counter : s->power, s->age};
	bool ages = !s->counts && s->age != SIZE_MAX;
	int64_t t_ns[BLOCK / 2], column;
	double v[BLOCK / 2], age[BLOCK / 2], *const values[] = {v, age};
	size_t n = 0, m = 1, room = most / 2 < BLOCK / 2 ? most / 2 : BLOCK / 2;

	while (n == 0 && m > 0 && r->next_ns < to_ns) {
		m = t->ops->rows(t, s->tier, &r->next_ns, to_ns, channels, 1 + ages, room, t_ns, values, &column);
		r->coarse |= m > 0 && column > 0;
		for (size_t i = 0; i < m; i++)
			for (size_t k = energy_take(s, r, t_ns[i], v[i], ages ? age[i] : NAN, out + n); k > 0; k--)
				out[n++].window_ns += column;
	}
	return n;
}

size_t power_lines(const struct energy_source *s, struct power_last *last, const struct power_reading *r,
		   struct power_line out[3])
{
	int64_t since = last->at_ns, reach = s->hold_ns, hole, at, start;
	double before = last->watts;
	size_t n = 0;

	if (!r) {
		out[0] = (struct power_line) {since, since + reach, before, before};
		return last->begun;
	}
	at = r->end_ns - (s->counts ? 0 : r->window_ns / 2);
	start = at - (s->counts ? r->window_ns : 0);
	hole = s->counts ? 0 : r->window_ns > s->hole_ns ? r->window_ns : s->hole_ns; /* the means of columns follow each other */
	if (last->begun && at <= since)
		return 0;
	if (!last->begun || start - since > hole) {
		if (last->begun && start - since < 2 * reach)
			reach = (start - since) / 2;
		if (last->begun)
			out[n++] = (struct power_line) {since, since + reach, before, before};
		if (!last->begun && start > s->begin_ns && start - s->begin_ns <= s->edge_ns)
			reach = start - s->begin_ns;
		out[n++] = (struct power_line) {start - reach, start, r->watts, r->watts};
	} else if (!s->counts) {
		out[n++] = (struct power_line) {since, at, before, r->watts};
	}
	if (s->counts)
		out[n++] = (struct power_line) {start, at, r->watts, r->watts};
	*last = (struct power_last) {true, at, r->watts};
	return n;
}

/* Adds a line as far as it is inside. unread: between readings, or beyond one (2), that should have been closer. */
static void line_add(struct energy *e, const struct power_line *l, double variance, int unread)
{
	int64_t from = l->from_ns > e->from_ns ? l->from_ns : e->from_ns, to = l->to_ns < e->to_ns ? l->to_ns : e->to_ns;
	double all = (double)(l->to_ns - l->from_ns), slope = (l->to - l->from) / all, part = (double)(to - from);

	if (to <= from)
		return;
	sum_add(&e->sum.joules, (l->from + slope * ((double)(from - l->from_ns) + part / 2)) * (part / 1e9));
	e->sum.known_ns += to - from;
	e->sum.noise += variance * part / all;
	e->sum.hidden_s += unread * (part / 1e9) * (all / 1e9);
}

void energy_add(struct energy *e, const struct energy_source *s, const struct power_reading *r)
{
	const struct power_last before = e->at.last;
	struct power_line lines[3];
	size_t n = power_lines(s, &e->at.last, r, lines);
	bool joined = before.begun && n == 1; /* there is no gap */
	double v = r->watts, step = joined ? v - before.watts : 0, s_apart = (double)(joined ? e->at.last.at_ns - before.at_ns : s->tick_ns) / 1e9;

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		int unread = s->counts && i + 1 == n ? 0 : !joined ? 2 : lines[i].to_ns - lines[i].from_ns > 3 * s->every_ns;

		line_add(e, &lines[i], s->counts ? 0 : (step * step / 12 + fmax(0, -step * e->at.step)) * s_apart * s_apart, unread);
	}
	for (int k = 0; k < 2; k++) {
		double off = fabs((double)(r->end_ns - r->window_ns / 2) - (double)(k ? e->to_ns : e->from_ns)) / 1e9;

		if (off >= 1.5 * ((double)r->window_ns / 1e9 + s_apart))
			continue;
		e->edge[k].least = e->edge[k].n ? fmin(e->edge[k].least, v) : v;
		e->edge[k].most = e->edge[k].n ? fmax(e->edge[k].most, v) : v;
		e->edge[k].apart += s_apart;
		e->edge[k].n++;
	}
	e->at.step = step;
}

struct energy_result energy_get(const struct energy *of, const struct energy_source *s)
{
	struct energy e = *of;
	struct energy_result r = {NAN, NAN, 0, NULL};
	struct power_line end[3];
	double variance, swing;

	if (power_lines(s, &e.at.last, NULL, end) > 0) {
		if (end[0].to_ns < e.to_ns && e.to_ns - end[0].from_ns <= s->edge_ns)
			end[0].to_ns = e.to_ns;
		line_add(&e, end, 0, 2);
	}
	r.known_s = (double)e.sum.known_ns / 1e9;
	if (e.sum.known_ns == 0) {
		r.why = N_("power was not read in this time");
		return r;
	}
	r.joules = sum_get(&e.sum.joules);
	/* A step of the recording's range at any moment between two readings, or between the last one and what is next. */
	swing = fmax(s->most - s->least, 0);
	variance = e.sum.noise + swing * swing * e.sum.hidden_s / 12;
	for (int k = 0; k < 2; k++) {
		double n = (double)e.edge[k].n;
		double width = (double)s->window_ns / 1e9 + (n > 0 ? e.edge[k].apart / n : (double)s->tick_ns / 1e9);

		swing = e.edge[k].most - e.edge[k].least;
		if (n < 2 || s->window_ns > s->tick_ns)
			swing = fmax(swing, fmax(s->most - s->least, s->window_ns > s->tick_ns ? s->mean : 0));
		swing = fmax(swing, GAIN * fabs(r.joules / r.known_s));
		variance += swing * width * swing * width / 12;
	}
	r.joules *= s->scale;
	r.within = s->known && !e.at.rows.coarse ? 1.96 * sqrt(variance) * s->scale : NAN;
	return r;
}

/* Reads on and adds the readings of the rows before to_ns. p: a part, which learns how far they matter. */
static void energy_read_to(struct energy *e, const struct energy_source *s, struct timeline *t, int64_t to_ns, struct energy_part *p)
{
	struct power_reading list[BLOCK];
	size_t n;

	while ((n = energy_read(s, t, &e->at.rows, to_ns, list, BLOCK)) > 0)
		for (size_t i = 0; i < n; i++) {
			int64_t before_ns = e->at.last.begun ? e->at.last.at_ns : list[i].end_ns - s->hold_ns - s->edge_ns, around;

			energy_add(e, s, &list[i]);
			if (!p)
				continue;
			around = e->at.last.at_ns - before_ns > s->tick_ns ? e->at.last.at_ns - before_ns : s->tick_ns;
			around = 2 * (around + list[i].window_ns) + s->hold_ns;
			p->least_ns = list[i].end_ns - around < p->least_ns ? list[i].end_ns - around : p->least_ns;
			p->most_ns = list[i].end_ns + around > p->most_ns ? list[i].end_ns + around : p->most_ns;
		}
}

static bool energy_state_same(const struct energy_state *a, const struct energy_state *b)
{
	return a->rows.row_ns == b->rows.row_ns && a->rows.last_ns == b->rows.last_ns && a->rows.begun == b->rows.begun &&
	       a->rows.changed == b->rows.changed && !memcmp(&a->rows.v, &b->rows.v, sizeof(a->rows.v)) &&
	       a->last.begun == b->last.begun && a->last.at_ns == b->last.at_ns &&
	       !memcmp(&a->last.watts, &b->last.watts, sizeof(a->last.watts)) && !memcmp(&a->step, &b->step, sizeof(a->step));
}

void energy_part_read(struct energy_part *p, const struct energy_source *s, struct timeline *t, int64_t from_ns, int64_t to_ns)
{
	struct energy e = {.from_ns = INT64_MIN / 4, .to_ns = INT64_MAX / 4};

	*p = (struct energy_part) {s->power, s->window_ns, s->counts, from_ns, to_ns, .least_ns = from_ns, .most_ns = to_ns};
	e.at.rows.next_ns = from_ns > s->reach_ns ? from_ns - s->reach_ns : 0;
	energy_read_to(&e, s, t, from_ns, NULL);
	p->before = e.at;
	e.sum = (struct energy_sum) {.known_ns = 0};
	energy_read_to(&e, s, t, to_ns, p);
	p->after = e.at;
	p->sum = e.sum;
}

struct energy_result energy_walk(struct energy_walk *w, const struct energy_source *s, struct timeline *t, int64_t to_ns)
{
	const struct energy_part *p = &w->part;
	struct energy *e = &w->sum;

	if (e->at.rows.next_ns == 0)
		e->at.rows.next_ns = e->from_ns > s->reach_ns ? e->from_ns - s->reach_ns : 0;
	while (t->ops->energy_part && t->ops->energy_part(t, s, p->to_ns, to_ns, &w->part)) {
		if (p->least_ns < e->from_ns || p->most_ns > e->to_ns)
			continue;
		energy_read_to(e, s, t, p->from_ns, NULL);
		if (!energy_state_same(&p->before, &e->at))
			continue;
		e->at = p->after;
		sum_add(&e->sum.joules, p->sum.joules.value);
		e->sum.joules.rest += p->sum.joules.rest;
		e->sum.known_ns += p->sum.known_ns;
		e->sum.noise += p->sum.noise;
		e->sum.hidden_s += p->sum.hidden_s;
	}
	if (to_ns >= e->to_ns)
		energy_read_to(e, s, t, to_ns + s->reach_ns, NULL);
	return energy_get(e, s);
}

struct energy_result energy_between(const struct energy_source *s, struct timeline *t, int64_t from_ns, int64_t to_ns)
{
	struct energy_walk w = {.sum = {.from_ns = from_ns, .to_ns = to_ns}, .part.to_ns = from_ns};

	return energy_walk(&w, s, t, to_ns);
}

void power_parts_find(struct power_parts *p, const struct session *about)
{
	size_t all = 0;

	*p = (struct power_parts) {.add_up = true};
	for (size_t i = 0; i < about->n_channels; i++) {
		const struct channel *c = &about->channels[i];

		if (c->unit != UNIT_MILLIWATT || c->missing[0])
			continue;
		if (c->kind == CHANNEL_POWER_TOTAL) {
			*p = (struct power_parts) {1, {i}, true};
			return;
		}
		/* A device with a supply of its own, which no other of them is a part of. */
		p->add_up &= channel_is_nvml(c) || (strstr(c->source, "/intel-rapl:") && strcmp(c->name, "psys.power") != 0);
		if (all++ < POWER_PARTS)
			p->channel[p->n++] = i;
	}
	p->add_up = all == 1 || (p->add_up && p->n == all && all > 0);
}

void power_parts_text(const struct power_parts *p, const struct session *about, bool labels, char *out, size_t size)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < p->n && at < size; i++) {
		const struct channel *c = &about->channels[p->channel[i]];

		at += (size_t)snprintf(out + at, size - at, "%s%s", i ? " + " : "", labels ? c->label : c->name);
	}
}

struct energy_result power_parts_sum(const struct energy_result *list, size_t n)
{
	struct energy_result r = n ? list[0] : (struct energy_result) {NAN, NAN, 0, NULL};

	for (size_t i = 1; i < n; i++) {
		double watts = r.joules / r.known_s + list[i].joules / list[i].known_s;

		r.joules += list[i].joules;
		r.within += list[i].within;
		/* A part that is known for less of the time counts by its power. */
		r.known_s = watts > 0 ? r.joules / watts : isnan(r.joules) ? 0 : fmin(r.known_s, list[i].known_s);
		r.why = list[i].why ? list[i].why : r.why;
	}
	return r;
}

void energy_meter_described(struct energy_meter *m, const struct session *about)
{
	struct energy_source *s = m->source;
	size_t channels[METER_VALUES];

	energy_source_of(&s[BY_POWER], about, s[BY_POWER].power);
	s[BY_COUNTER] = s[BY_POWER];
	s[BY_COUNTER].counts = true;
	source_set(&s[BY_COUNTER]);
	memcpy(channels, (size_t[]) {s->power, s->counter, s->age}, sizeof(channels));
	for (int k = 0; k < METER_VALUES; k++)
		m->column[k] = channels[k] == SIZE_MAX ? SIZE_MAX : about->channels[channels[k]].column;
}

void energy_meter_begin(struct energy_meter *m, const struct session *about, size_t power)
{
	const struct energy none = {.from_ns = INT64_MAX, .to_ns = INT64_MAX};

	*m = (struct energy_meter) {
		.source[BY_POWER].power = power, .sum = {none, none}, .run = none, .least = INFINITY, .most = -INFINITY};
	energy_meter_described(m, about);
}

/* What the readings say of the time up to the newest change of the counter. */
static struct energy_result told(const struct energy_meter *m)
{
	const struct energy_source *s = &m->source[BY_POWER];
	struct energy run = m->run;
	struct energy_result r;

	run.to_ns = m->last_ns;
	for (size_t i = m->n_read > METER_LATE ? m->n_read - METER_LATE : 0; i < m->n_read; i++)
		energy_add(&run, s, &m->late[i % METER_LATE]);
	r = energy_get(&run, s);
	return (struct energy_result) {m->told.joules + (r.known_s > 0 ? r.joules : 0), NAN, m->told.known_s + r.known_s, NULL};
}

static void rise_add(struct energy_meter *m, const struct power_reading *r)
{
	int64_t start_ns = r->end_ns - r->window_ns;
	bool gap = m->n_counted > 0 && r->window_ns > COVER_PERIODS * m->counted_ns / (int64_t)m->n_counted;

	if (m->n_counted == 0 || gap || start_ns != m->last_ns) {
		m->told = told(m);
		m->run.from_ns = gap ? r->end_ns : start_ns;
		m->run.sum = (struct energy_sum) {.known_ns = 0};
	}
	m->last_ns = r->end_ns;
	if (gap)
		return;
	m->n_counted++;
	m->counted_ns += r->window_ns;
	m->counted += r->watts * (double)r->window_ns / 1e9;
}

bool energy_meter_row(struct energy_meter *m, const struct rows *r, size_t i)
{
	double v[METER_VALUES];

	/* The tiers begin at moments of their own. */
	for (int by = 0; by < METER_SUMS; by++)
		if (!m->sum[by].at.last.begun && r->t_ns[i] < m->sum[by].from_ns)
			m->sum[by].from_ns = r->t_ns[i];
	if (r->tier != m->source->tier)
		return false;
	for (int k = 0; k < METER_VALUES; k++)
		v[k] = m->column[k] == SIZE_MAX ? NAN : r->values[i * r->width + m->column[k]];
	for (int by = 0; by < METER_SUMS; by++) {
		m->n[by] = energy_take(&m->source[by], &m->sum[by].at.rows, r->t_ns[i], v[by], v[2], m->newest[by]);
		for (size_t k = 0; k < m->n[by]; k++)
			energy_add(&m->sum[by], &m->source[by], &m->newest[by][k]);
	}
	for (size_t k = 0; k < m->n[BY_POWER]; k++) {
		struct power_reading *late = &m->late[m->n_read % METER_LATE];

		if (m->n_read++ >= METER_LATE && m->source->counter != SIZE_MAX)
			energy_add(&m->run, m->source, late);
		*late = m->newest[BY_POWER][k];
		m->least = fmin(m->least, late->watts);
		m->most = fmax(m->most, late->watts);
		m->watts += late->watts;
	}
	if (m->n[BY_COUNTER] > 0)
		rise_add(m, m->newest[BY_COUNTER]);
	return true;
}

/* Where a counter changes more often than readings are apart, its rises are the readings; else it scales them. */
struct energy_source energy_meter_source(const struct energy_meter *m)
{
	struct energy_source s = m->source[BY_POWER];
	int64_t every = m->n_counted > 1 ? m->counted_ns / (int64_t)m->n_counted : 0;
	struct energy_result r;

	s.least = m->least;
	s.most = m->most;
	s.mean = m->watts / (double)m->n_read;
	if (every > 0 && (!s.known || s.window_ns > every)) {
		s.window_ns = s.every_ns = every;
		s.known = s.counts = true;
		source_set(&s);
	} else if (every > 0) {
		r = told(m);
		if (r.joules > 0 && r.known_s * 1e9 > 0.9 * (double)m->counted_ns)
			s.scale = m->counted / r.joules;
	}
	return s;
}

struct energy_result energy_meter_get(const struct energy_meter *m, int64_t to_ns)
{
	struct energy_source s = energy_meter_source(m);
	struct energy sum = m->sum[s.counts];

	sum.to_ns = to_ns;
	return energy_get(&sum, &s);
}

void energy_source_read(struct energy_source *s, struct timeline *t, size_t power)
{
	int64_t first_ns, last_ns, column, t_ns[BLOCK];
	double room[METER_VALUES][BLOCK], *const values[] = {room[0], room[1], room[2]}, row[METER_VALUES];
	struct bin sum = {.n = 0}, bin;
	struct energy_meter m;
	size_t n;

	energy_meter_begin(&m, t->ops->session(t), power);
	*s = m.source[BY_POWER];
	if (!t->ops->extent(t, &first_ns, &last_ns))
		return;
	if (s->counter != SIZE_MAX) {
		const size_t channels[] = {power, s->counter, s->age}, all = s->age == SIZE_MAX ? 2 : METER_VALUES;

		memcpy(m.column, (size_t[]) {0, 1, all > 2 ? 2 : SIZE_MAX}, sizeof(m.column));
		while ((n = t->ops->rows(t, s->tier, &first_ns, last_ns + 1, channels, all, BLOCK, t_ns, values, &column)) > 0)
			for (size_t i = 0; i < n; i++) {
				for (size_t k = 0; k < all; k++)
					row[k] = values[k][i];
				energy_meter_row(&m, &(struct rows) {s->tier, 1, METER_VALUES, &t_ns[i], row}, 0);
			}
		*s = energy_meter_source(&m);
		return;
	}
	for (int64_t i = first_ns >> ZOOM_MAX; i <= last_ns >> ZOOM_MAX; i++) {
		t->ops->columns(t, power, ZOOM_MAX, i, 1, &bin);
		bin_merge(&sum, &bin);
	}
	if (sum.n == 0)
		return;
	s->least = sum.min / 1e3;
	s->most = sum.max / 1e3;
	s->mean = sum.sum / 1e3 / (double)sum.n;
}
