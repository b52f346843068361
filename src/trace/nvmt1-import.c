/* Imports a file of version 1, which has a section for each tier: merges them by time into a stream, and
 * checks times and values. */
#include "trace/nvmt1.h"

#include <math.h>
#include <stdlib.h>

#include "model/missing.h"
#include "util/intl.h"
#include "trace/nvmt1-file.h"

#define BATCH	  256
#define WINDOW_NS (100 * NS_PER_MS) /* by which a tier may be ahead of the others */
#define LEAP_ROWS 100 /* periods, if that is longer */
#define PAUSE_NS  (INT64_C(3600) * NS_PER_S) /* a suspended recorder may pause that long */

/* The next rows of a tier. */
struct cursor {
	uint64_t row, end;
	uint8_t *bytes; /* of rows in .. in + n - 1 */
	uint64_t in;
	size_t n;
	int64_t before_ns, pushed_ns; /* times of the previous row: in the file, in the log */
};

/* The number and the first of a channel's out-of-range values. */
struct channel_state {
	uint64_t n, row;
	double v;
};

struct import {
	struct nvmt1 *f;
	struct nvmt1_import *of;
	struct cursor at[TIERS];
	uint64_t sync; /* the next sync point */
	double *values;
	struct channel_state channels[NVMT1_CHANNELS];
};

static void cut(struct import *m, enum tier tier)
{
	struct cursor *c = &m->at[tier];

	nvmt1_damage(m->f,
		     _("the time of row %llu of the %s section, at offset %llu, is invalid; the rows before "
		       "it are shown"),
		     (unsigned long long)c->row, tier_name(tier),
		     (unsigned long long)(m->f->at[tier] + c->row * row_size[tier]));
	c->end = c->row;
}

/* Returns the bytes of a row, or NULL if the section ends before it. */
static const uint8_t *row_at(struct import *m, enum tier tier, uint64_t row)
{
	struct cursor *c = &m->at[tier];

	if (row >= c->end)
		return NULL;
	if (row < c->in || row >= c->in + c->n) {
		c->in = row;
		c->n = c->end - row < BATCH ? (size_t)(c->end - row) : BATCH;
		if (!nvmt1_read(m->f, c->bytes, c->n * row_size[tier], m->f->at[tier] + row * row_size[tier])) {
			nvmt1_damage(m->f, _("row %llu of the %s section cannot be read; the rows before it are shown"),
				     (unsigned long long)row, tier_name(tier));
			c->n = 0;
			c->end = row;
			return NULL;
		}
	}
	return c->bytes + (size_t)(row - c->in) * row_size[tier];
}

/* Returns the time of the next row since the start, or INT64_MAX if there is none. */
static int64_t next_ns(struct import *m, enum tier tier)
{
	struct cursor *c = &m->at[tier];
	const uint8_t *row = row_at(m, tier, c->row);
	int64_t ns;

	if (!row)
		return INT64_MAX;
	if (row_time(row, &ns) && ns >= c->before_ns)
		return ns;
	cut(m, tier);
	return INT64_MAX;
}

/* A long interval without rows is damage. */
static void check_leap(struct import *m, enum tier tier, int64_t apart_ns)
{
	if (apart_ns > PAUSE_NS && apart_ns > (int64_t)(1e9 * LEAP_ROWS / m->f->session.hz[tier]))
		nvmt1_damage(m->f, _("row %llu of the %s section comes %.3f s after the one before it"),
			     (unsigned long long)m->at[tier].row, tier_name(tier), (double)apart_ns / 1e9);
}

/* Takes the times of rows before until_ns and returns their number. Each is made at least 1 ns later than the one
 * before it. */
static size_t take_times(struct import *m, enum tier tier, int64_t until_ns, int64_t *t_ns)
{
	struct cursor *c = &m->at[tier];
	size_t n = 0;
	int64_t ns;

	while (n < BATCH && (n == 0 || c->row < c->in + c->n) && (ns = next_ns(m, tier)) < until_ns) {
		if (c->row > 0)
			check_leap(m, tier, ns - c->before_ns);
		c->before_ns = ns;
		c->pushed_ns = ns > c->pushed_ns ? ns : c->pushed_ns + 1;
		t_ns[n++] = c->pushed_ns;
		c->row++;
	}
	return n;
}

static double checked(struct import *m, size_t channel, uint64_t row, double v)
{
	struct channel_state *p = &m->channels[channel];

	if (cell_holds((enum field)m->f->places[channel].field, v))
		return v;
	if (p->n++ == 0) {
		p->row = row;
		p->v = v;
	}
	return (double)NAN;
}

/* Computes the total of the rails, or the hottest zone, as a recorder does. */
static void compute(const struct nvmt1_computed *c, enum tier tier, double *row)
{
	double part, v = tier == TIER_MEDIUM ? 0 : (double)NAN;

	for (size_t i = 0; i < c->n; i++) {
		part = row[c->from[i]];
		if (tier == TIER_MEDIUM)
			v += part; /* NaN if one is */
		else if (!(part <= v) && !isnan(part))
			v = part;
	}
	if (c->n > 0)
		row[c->column] = isnan(v) ? missing_value(MISSING_PART, c->from[0])
					  : channel_round(tier == TIER_MEDIUM ? CHANNEL_POWER_TOTAL : CHANNEL_HOTTEST, v);
}

static void push_rows(struct import *m, enum tier tier, int64_t until_ns)
{
	const struct nvmt1 *f = m->f;
	const struct session *s = &f->session;
	size_t width = s->width[tier], n;
	int64_t t_ns[BATCH];

	while ((n = take_times(m, tier, until_ns, t_ns)) > 0) {
		uint64_t first = m->at[tier].row - n;
		const uint8_t *rows = row_at(m, tier, first);

		for (size_t c = 0; c < s->n_channels; c++) {
			const struct nvmt1_place *place = &f->places[c];

			for (size_t i = 0; s->channels[c].tier == tier && place->field != FIELD_NONE && i < n; i++)
				m->values[i * width + s->channels[c].column] =
					checked(m, c, first + i,
						cell_decode(rows + i * row_size[tier], (enum field)place->field,
							    place->slot));
		}
		for (size_t i = 0; i < n; i++)
			compute(&f->computed[tier], tier, m->values + i * width);
		m->of->rows[tier] += n;
		if (m->of->to)
			m->of->to->ops->rows(m->of->to, &(struct rows) {tier, n, width, t_ns, m->values});
	}
}

/* Pushes the marks of the rows that were pushed, or all: the time of a mark is that of its row. */
static void push_marks(struct import *m, bool all)
{
	struct nvmt1 *f = m->f;
	uint64_t rows = f->rows[TIER_FAST], row, at;
	uint8_t p[SYNC_SIZE], time[8];
	int64_t ns;

	for (; m->sync < f->rows[TIERS] && rows > 0; m->sync++) {
		at = f->at[TIERS] + m->sync * SYNC_SIZE;
		if (!nvmt1_read(f, p, SYNC_SIZE, at))
			return;
		row = get_u64(p + 8);
		if (!all && row >= m->at[TIER_FAST].row)
			return;
		if (row > rows)
			nvmt1_damage(f, _("sync point %llu, at offset %llu, is behind the last fast row"),
				     (unsigned long long)m->sync, (unsigned long long)at);
		if (row > rows ||
		    !nvmt1_read(f, time, 8, HEADER_SIZE + (row < rows ? row : rows - 1) * FAST_SIZE) ||
		    !row_time(time, &ns))
			continue;
		m->of->marks++;
		if (m->of->to)
			m->of->to->ops->mark(m->of->to, &(struct mark) {.id = get_u64(p), .t_ns = ns});
	}
}

static bool push_all(struct import *m)
{
	const struct nvmt1 *f = m->f;
	double total = 1 + (double)f->rows[0] + (double)f->rows[1] + (double)f->rows[2];

	for (;;) {
		int64_t oldest = INT64_MAX;
		uint64_t done = 0;

		for (int t = 0; t < TIERS; t++) {
			int64_t ns = next_ns(m, (enum tier)t);

			oldest = ns < oldest ? ns : oldest;
			done += m->at[t].row;
		}
		if (oldest == INT64_MAX)
			break;
		if (m->of->progress && !m->of->progress(m->of->of, (double)done / total))
			return false;
		for (int t = 0; t < TIERS; t++)
			push_rows(m, (enum tier)t, oldest + WINDOW_NS);
		push_marks(m, false);
	}
	push_marks(m, true);
	return true;
}

/* Reports values out of range: one message per channel to a check, a single one to a reader. */
static void report_out_of_range(struct import *m)
{
	struct nvmt1 *f = m->f;
	const struct channel_state *first = NULL;
	bool each = m->of->found;
	uint64_t all = 0;

	for (size_t c = 0; c < f->session.n_channels; c++) {
		const struct channel_state *p = &m->channels[c];

		all += p->n;
		if (p->n > 0 && (!first || p->row < first->row))
			first = p;
	}
	for (size_t c = 0; all > 0 && c < f->session.n_channels; c++) {
		const struct channel_state *p = &m->channels[c];
		const struct channel *channel = &f->session.channels[c];
		unsigned long long n = each ? p->n : all;

		if (each ? p->n > 0 : p == first)
			nvmt1_damage(f,
				     P_("%llu out-of-range value is treated as missing: %s is %g in row %llu of the "
					"%s section",
					"%llu out-of-range values are treated as missing: %s is %g in row %llu of "
					"the %s section",
					n),
				     n, channel->name, p->v, (unsigned long long)p->row, tier_name(channel->tier));
	}
}

/* Returns -1 and sets *e on error. */
static int start(struct import *m, struct err *e)
{
	const struct session *s = &m->f->session;
	size_t widest = 1;
	bool ok = true;

	for (int t = 0; t < TIERS; t++) {
		m->at[t].end = m->f->rows[t];
		m->at[t].pushed_ns = -1;
		m->at[t].bytes = malloc(BATCH * row_size[t]);
		ok = ok && m->at[t].bytes;
		widest = s->width[t] > widest ? s->width[t] : widest;
	}
	m->values = malloc(widest * BATCH * sizeof(*m->values));
	if (!ok || !m->values)
		return err_set(e, ERR_FAILED, _("out of memory while reading %s"), m->f->shown);
	return m->of->to ? m->of->to->ops->begin(m->of->to, s, e) : 0;
}

int nvmt1_import(int fd, const char *shown, struct nvmt1_import *of, struct err *e)
{
	struct import m = {.of = of};
	int rc;

	m.f = nvmt1_open(fd, shown, of->found, of->of, e);
	if (!m.f)
		return -1;
	rc = start(&m, e);
	if (rc == 0) {
		if (!push_all(&m))
			rc = err_set(e, ERR_FAILED, _("interrupted while reading %s"), shown);
		report_out_of_range(&m);
		*e = rc < 0 ? *e : m.f->damage;
	}
	for (int t = 0; t < TIERS; t++)
		free(m.at[t].bytes);
	free(m.values);
	nvmt1_close(m.f);
	return rc;
}
