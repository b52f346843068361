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
	const char *power = of->name;
	size_t stem = strlen(power);

	if (!strcmp(suffix, ".energy"))
		stem -= stem > 6 && !strcmp(power + stem - 6, ".power") ? 6 : 0;
	for (size_t i = 0; i < about->n_channels; i++) {
		const struct channel *c = &about->channels[i];

		if (!strncmp(c->name, power, stem) && !strcmp(c->name + stem, suffix) && !c->missing[0] && c->tier == of->tier)
			return i;
	}
	return SIZE_MAX;
}

static void reaches_set(struct energy_source *s)
{
	int64_t longest = s->every_ns > s->window_ns ? s->every_ns : s->window_ns;
	bool late = s->age != SIZE_MAX || s->counts;

	s->hole_ns = COVER_PERIODS * (late && longest > s->tick_ns ? longest : s->tick_ns) + 2 * longest;
	s->hold_ns = late ? s->hole_ns : longest > s->tick_ns ? s->tick_ns + 2 * longest + s->window_ns / 2 : s->window_ns;
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
				     .known = c->window_ns != WINDOW_UNKNOWN || c->period_ns > 0,
				     .assumed = c->window_ns == WINDOW_UNKNOWN,
				     .scale = 1,
				     .least = INFINITY,
				     .most = -INFINITY,
				     .mean = NAN};
	if (c->window_ns == WINDOW_UNKNOWN)
		s->window_ns = c->period_ns > s->tick_ns ? c->period_ns : 0;
	s->every_ns = c->period_ns > s->tick_ns ? c->period_ns : s->window_ns;
	reaches_set(s);
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

int64_t energy_unsure_ns(const struct energy_source *s)
{
	return s->age != SIZE_MAX ? 0 : s->every_ns > s->tick_ns ? s->tick_ns : s->window_ns;
}

size_t energy_take(const struct energy_source *s, struct energy_rows *r, int64_t t_ns, double v, double age_ms,
		  struct power_reading out[2])
{
	int64_t window = s->window_ns, every = s->every_ns,
		end_ns = t_ns - s->age_ns - energy_unsure_ns(s) / 2;
	double watts = v * 1e-3 * s->scale, before = r->v * 1e-3 * s->scale;
	bool follows = r->begun && t_ns - r->row_ns <= COVER_PERIODS * s->tick_ns, same = follows && v == r->v;
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
			out[n++] = (struct power_reading) {end_ns - every, window, before};
		r->last_ns = n > 0 ? t_ns - every : r->last_ns;
		if (same)
			return n;
		r->last_ns = t_ns;
	}
	out[n++] = (struct power_reading) {end_ns, window, watts};
	return n;
}

size_t energy_read(const struct energy_source *s, struct timeline *t, struct energy_rows *r, int64_t *next_ns,
		   int64_t to_ns, struct power_reading *out, size_t most)
{
	const size_t channels[] = {s->counts ? s->counter : s->power, s->age};
	bool ages = !s->counts && s->age != SIZE_MAX;
	int64_t t_ns[BLOCK / 2], column;
	double v[BLOCK / 2], age[BLOCK / 2], *const values[] = {v, age};
	size_t n = 0, m = 0, room = most / 2 < BLOCK / 2 ? most / 2 : BLOCK / 2;

	while (n == 0 && *next_ns < to_ns) {
		m = t->ops->rows(t, s->tier, next_ns, to_ns, channels, ages ? 2 : 1, room,
				 t_ns, values, &column);
		if (m == 0)
			break;
		for (size_t i = 0; i < m; i++) {
			size_t before = n;

			n += energy_take(s, r, t_ns[i], v[i], ages ? age[i] : NAN, out + n);
			for (; column && before < n; before++)
				out[before].window_ns += column;
		}
	}
	return n;
}

void energy_begin(struct energy *e, int64_t from_ns, int64_t to_ns)
{
	*e = (struct energy) {.from_ns = from_ns, .to_ns = to_ns};
	for (int k = 0; k < 2; k++) {
		e->edge[k].least = INFINITY;
		e->edge[k].most = -INFINITY;
	}
}

/* The line from one moment to another, as far as it is inside. */
static void line_add(struct energy *e, int64_t t0, double v0, int64_t t1, double v1, double variance)
{
	int64_t from = t0 > e->from_ns ? t0 : e->from_ns, to = t1 < e->to_ns ? t1 : e->to_ns;
	double all = (double)(t1 - t0), slope = (v1 - v0) / all, part = (double)(to - from);

	if (to <= from)
		return;
	sum_add(&e->joules, (v0 + slope * ((double)(from - t0) + part / 2)) * (part / 1e9));
	e->known_ns += to - from;
	e->noise += variance * part / all;
}

/* Readings reach into a gap, and into what is before the first one and after the last. */
static void gap_add(struct energy *e, const struct energy_source *s, int64_t next_ns, double v, bool ends)
{
	int64_t reach = s->hold_ns;

	if (e->begun && !ends && next_ns - e->last_ns < 2 * reach)
		reach = (next_ns - e->last_ns) / 2;
	if (e->begun)
		line_add(e, e->last_ns, e->last, e->last_ns + reach, e->last, 0);
	if (!ends)
		line_add(e, next_ns - reach, v, next_ns, v, 0);
}

void energy_add(struct energy *e, const struct energy_source *s, const struct power_reading *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t window = list[i].window_ns, middle = list[i].end_ns - window / 2;
		int64_t t = s->counts ? list[i].end_ns : middle, start = s->counts ? t - window : t;
		double v = list[i].watts, step = v - e->last, s_apart = (double)(e->begun ? t - e->last_ns : s->tick_ns) / 1e9;

		if (e->begun && t <= e->last_ns)
			continue;
		if (!e->begun || (s->counts ? start > e->last_ns : t - e->last_ns > s->hole_ns)) {
			gap_add(e, s, start, v, false);
			s_apart = (double)s->tick_ns / 1e9;
			step = 0;
		} else if (!s->counts) {
			line_add(e, e->last_ns, e->last, t, v, (step * step / 12 + fmax(0, -step * e->step)) * s_apart * s_apart);
		}
		if (s->counts)
			line_add(e, start, v, t, v, 0);
		for (int k = 0; k < 2; k++) {
			double off = fabs((double)middle - (double)(k ? e->to_ns : e->from_ns)) / 1e9;

			if (off >= 1.5 * ((double)window / 1e9 + s_apart))
				continue;
			e->edge[k].least = fmin(e->edge[k].least, v);
			e->edge[k].most = fmax(e->edge[k].most, v);
			e->edge[k].apart += s_apart;
			e->edge[k].n++;
		}
		e->begun = true;
		e->step = step;
		e->last = v;
		e->last_ns = t;
	}
}

struct energy_result energy_get(const struct energy *of, const struct energy_source *s)
{
	struct energy e = *of;
	struct energy_result r = {NAN, NAN, 0, NULL};
	double variance;

	gap_add(&e, s, 0, 0, true);
	r.known_s = (double)e.known_ns / 1e9;
	if (e.known_ns == 0) {
		r.why = N_("power was not read in this time");
		return r;
	}
	r.joules = sum_get(&e.joules);
	variance = e.noise;
	for (int k = 0; k < 2; k++) {
		double swing = e.edge[k].most - e.edge[k].least, n = (double)e.edge[k].n;
		double width = (double)s->window_ns / 1e9 + (n > 0 ? e.edge[k].apart / n : (double)s->tick_ns / 1e9);

		if (n < 2 || s->window_ns > s->tick_ns)
			swing = fmax(swing, fmax(s->most - s->least, s->window_ns > s->tick_ns ? s->mean : 0));
		swing = fmax(swing, GAIN * fabs(r.joules / r.known_s));
		variance += swing * width * swing * width / 12;
	}
	r.within = s->known ? 1.96 * sqrt(variance) : NAN;
	return r;
}

struct energy_result energy_between(const struct energy_source *s, struct timeline *t, int64_t from_ns, int64_t to_ns)
{
	int64_t next_ns = from_ns > s->reach_ns ? from_ns - s->reach_ns : 0;
	struct energy_rows rows = {.begun = false};
	struct power_reading list[BLOCK];
	struct energy e;
	size_t n;

	energy_begin(&e, from_ns, to_ns);
	while ((n = energy_read(s, t, &rows, &next_ns, to_ns + s->reach_ns, list, BLOCK)) > 0)
		energy_add(&e, s, list, n);
	return energy_get(&e, s);
}

void energy_join(struct energy_result *r, const struct energy_result *other)
{
	if (isnan(other->joules) || isnan(r->joules)) {
		*r = isnan(other->joules) ? *r : *other;
		return;
	}
	r->joules += other->joules;
	r->known_s += other->known_s;
	r->within = hypot(r->within, other->within);
}

/* A device with a supply of its own, which no other of them is a part of. */
static bool stands_alone(const struct channel *c)
{
	return channel_is_nvml(c) || (strstr(c->source, "/intel-rapl:") && strcmp(c->name, "psys.power") != 0);
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
		p->add_up &= stands_alone(c);
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
	struct energy_result r = {0, 0, INFINITY, NULL};
	double watts = 0;

	for (size_t i = 0; i < n; i++) {
		r.joules += list[i].joules;
		r.within += list[i].within;
		watts += list[i].joules / list[i].known_s;
		r.known_s = fmin(r.known_s, list[i].known_s);
		r.why = list[i].why ? list[i].why : r.why;
	}
	if (n == 1)
		return list[0];
	if (isnan(r.joules) || n == 0)
		return (struct energy_result) {NAN, NAN, 0, r.why};
	if (watts > 0)
		r.known_s = r.joules / watts; /* a part that is known for less of the time counts by its power */
	return r;
}

void energy_meter_described(struct energy_meter *m, const struct session *about)
{
	struct energy_source *s = m->source;

	energy_source_of(&s[BY_POWER], about, s[BY_POWER].power);
	s[BY_COUNTER] = s[BY_POWER];
	s[BY_COUNTER].counts = true;
	reaches_set(&s[BY_COUNTER]);
}

void energy_meter_begin(struct energy_meter *m, const struct session *about, size_t power)
{
	memset(m, 0, sizeof(*m));
	m->source[BY_POWER].power = power;
	energy_meter_described(m, about);
	for (int by = 0; by < METER_SUMS; by++)
		energy_begin(&m->sum[by], INT64_MAX, INT64_MAX);
	energy_begin(&m->scaled, INT64_MAX, INT64_MAX);
}

/* Of the time since the last gap, up to the newest change of the counter. */
static struct energy_result told_since_gap(const struct energy_meter *m)
{
	const struct energy_source *s = &m->source[BY_POWER];
	struct energy scaled = m->scaled;

	scaled.to_ns = m->last_ns;
	for (size_t i = m->n_late > METER_LATE ? m->n_late - METER_LATE : 0; i < m->n_late; i++)
		energy_add(&scaled, s, &m->late[i % METER_LATE], 1);
	return energy_get(&scaled, s);
}

static void rise_add(struct energy_meter *m, const struct power_reading *r)
{
	int64_t start_ns = r->end_ns - r->window_ns;
	bool gap = m->n_counted > 0 && r->window_ns > COVER_PERIODS * m->counted_ns / (int64_t)m->n_counted;

	if (m->n_counted > 0 && (gap || start_ns != m->last_ns)) {
		struct energy_result before = told_since_gap(m);

		m->told += before.known_s > 0 ? before.joules : 0;
		m->told_ns += llround(before.known_s * 1e9);
	}
	if (m->n_counted == 0 || gap || start_ns != m->last_ns) {
		m->scaled.from_ns = gap ? r->end_ns : start_ns;
		m->scaled.known_ns = 0;
		m->scaled.joules = (struct sum) {0, 0};
	}
	m->last_ns = r->end_ns;
	if (gap)
		return;
	m->n_counted++;
	m->counted_ns += r->window_ns;
	m->counted += r->watts * (double)r->window_ns / 1e9;
}

void energy_meter_row(struct energy_meter *m, int64_t t_ns, double mw, double age_ms, double joules)
{
	const double values[METER_SUMS] = {mw, joules};

	for (int by = 0; by < METER_SUMS; by++) {
		m->n[by] = energy_take(&m->source[by], &m->rows[by], t_ns, values[by], age_ms, m->newest[by]);
		energy_add(&m->sum[by], &m->source[by], m->newest[by], m->n[by]);
	}
	for (size_t k = 0; k < m->n[BY_POWER] && m->source->counter != SIZE_MAX; k++) {
		struct power_reading *late = &m->late[m->n_late % METER_LATE];

		if (m->n_late++ >= METER_LATE)
			energy_add(&m->scaled, &m->source[BY_POWER], late, 1);
		*late = m->newest[BY_POWER][k];
	}
	if (m->n[BY_COUNTER] > 0)
		rise_add(m, m->newest[BY_COUNTER]);
}

/* Where a counter changes more often than readings are apart, its rises are the readings; else it scales them. */
struct energy_source energy_meter_source(const struct energy_meter *m)
{
	struct energy_source s = m->source[BY_POWER];
	struct energy_result r;
	int64_t every;

	if (m->n_counted < 2)
		return s;
	every = m->counted_ns / (int64_t)m->n_counted;
	if (!s.known || s.window_ns > every) {
		s = m->source[BY_COUNTER];
		s.window_ns = s.every_ns = every;
		s.known = true;
		reaches_set(&s);
		return s;
	}
	r = told_since_gap(m);
	r.joules = m->told + (r.known_s > 0 ? r.joules : 0);
	if (r.joules > 0 && r.known_s * 1e9 + (double)m->told_ns > 0.9 * (double)m->counted_ns)
		s.scale = m->counted / r.joules;
	return s;
}

void energy_meter_rows(struct energy_meter *m, const struct session *about, const struct rows *r)
{
	const struct energy_source *s = m->source;
	const size_t channels[] = {s->power, s->age, s->counter};

	/* The tiers begin at moments of their own. */
	for (int by = 0; by < METER_SUMS && r->n > 0; by++)
		if (!m->sum[by].begun && r->t_ns[0] < m->sum[by].from_ns)
			m->sum[by].from_ns = r->t_ns[0];
	for (size_t i = 0; r->tier == s->tier && i < r->n; i++) {
		double v[3] = {NAN, NAN, NAN};

		for (int k = 0; k < 3; k++)
			if (channels[k] != SIZE_MAX)
				v[k] = r->values[i * r->width + about->channels[channels[k]].column];
		energy_meter_row(m, r->t_ns[i], v[0], v[1], v[2]);
	}
}

struct energy_result energy_meter_get(const struct energy_meter *m, int64_t to_ns)
{
	struct energy_source s = energy_meter_source(m);
	struct energy sum = m->sum[s.counts];
	struct energy_result r;

	sum.to_ns = to_ns;
	r = energy_get(&sum, &s);
	r.joules *= s.scale;
	return r;
}

void energy_source_extremes(struct energy_source *s, struct timeline *t)
{
	int64_t first_ns, last_ns;
	struct bin bins[2];
	double watts = 0;
	size_t all = 0;

	if (!t->ops->extent(t, &first_ns, &last_ns))
		return;
	t->ops->columns(t, s->power, ZOOM_MAX, first_ns >> ZOOM_MAX, 2, bins);
	for (int i = 0; i < 2; i++)
		if (bins[i].n > 0) {
			s->least = fmin(s->least, bins[i].min / 1e3);
			s->most = fmax(s->most, bins[i].max / 1e3);
			watts += bins[i].sum / 1e3;
			all += bins[i].n;
		}
	s->mean = watts / (double)all;
}

void energy_source_read(struct energy_source *s, struct timeline *t, size_t power)
{
	int64_t first_ns, last_ns, column, t_ns[BLOCK];
	double room[3][BLOCK], *const values[] = {room[0], room[1], room[2]};
	struct energy_meter m;
	size_t n, channels[3] = {power};

	energy_source_of(s, t->ops->session(t), power);
	if (s->counter != SIZE_MAX && t->ops->extent(t, &first_ns, &last_ns)) {
		bool ages = s->age != SIZE_MAX;

		channels[1] = ages ? s->age : s->counter;
		channels[2] = s->counter;
		energy_meter_begin(&m, t->ops->session(t), power);
		while ((n = t->ops->rows(t, s->tier, &first_ns, last_ns + 1, channels, 2 + ages, BLOCK, t_ns, values, &column)) > 0)
			for (size_t i = 0; i < n; i++)
				energy_meter_row(&m, t_ns[i], values[0][i], ages ? values[1][i] : (double)NAN, values[1 + ages][i]);
		*s = energy_meter_source(&m);
	}
	energy_source_extremes(s, t);
}
