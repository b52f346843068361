/* A file of version 1 has a section for each tier: an import merges them by time into a stream. Times
 * and values are checked on the way. */
#include "trace/nvmt1.h"

#include <math.h>
#include <stdlib.h>

#include "util/intl.h"
#include "trace/log.h"
#include "trace/nvmt1-file.h"

#define BATCH	  256
#define WINDOW_NS (100 * NS_PER_MS) /* by which a tier may be ahead of the others */
#define LEAP_S	  10
#define LEAP_ROWS 100			   /* periods, if that is longer */
#define PAUSE_NS  (INT64_C(3600) * NS_PER_S) /* a recorder may have slept */

/* The next rows of a tier. */
struct cursor {
	uint64_t row, end;
	uint8_t *bytes; /* of rows in .. in + n - 1 */
	uint64_t in;
	size_t n;
	int64_t before_ns, pushed_ns; /* of the row before, in the file and in the stream */
	size_t chunk;		      /* of the extension's columns */
	bool loaded;
	uint8_t *payload; /* its values; NULL: damaged */
};

/* Values of a channel that are out of range; the first of them. */
struct nonsense {
	uint64_t n, row;
	double v;
};

struct import {
	struct nvmt1 *f;
	struct sink *to;
	struct cursor at[TIERS];
	double *values;
	struct nonsense *nonsense; /* one a channel */
};

static void cut(struct import *m, enum tier tier)
{
	struct cursor *c = &m->at[tier];

	nvmt1_damage(m->f,
		     _("the time of row %llu of the %s section, at offset %llu, is invalid; the rows before "
		       "it are shown"),
		     (unsigned long long)c->row, tier_name(tier),
		     (unsigned long long)(m->f->section[tier].at + c->row * row_size[tier]));
	c->end = c->row;
}

/* The bytes of a row; NULL: the section ends before it. */
static const uint8_t *row_at(struct import *m, enum tier tier, uint64_t row)
{
	struct cursor *c = &m->at[tier];

	if (row >= c->end)
		return NULL;
	if (row < c->in || row >= c->in + c->n) {
		c->in = row;
		c->n = c->end - row < BATCH ? (size_t)(c->end - row) : BATCH;
		if (!nvmt1_read(m->f, c->bytes, c->n * row_size[tier], m->f->section[tier].at + row * row_size[tier])) {
			nvmt1_damage(m->f, _("row %llu of the %s section cannot be read; the rows before it are shown"),
				     (unsigned long long)row, tier_name(tier));
			c->n = 0;
			c->end = row;
			return NULL;
		}
	}
	return c->bytes + (size_t)(row - c->in) * row_size[tier];
}

/* How much of a stretch the gaps of a tier cover. */
static int64_t gaps_within(const struct nvmt1 *f, enum tier tier, int64_t from_ns, int64_t to_ns)
{
	int64_t sum = 0;

	for (size_t i = 0; i < f->n_gaps; i++) {
		const struct gap *g = &f->gaps[i];
		int64_t from = g->from_ns > from_ns ? g->from_ns : from_ns;
		int64_t to = g->to_ns < to_ns ? g->to_ns : to_ns;

		if (g->tier == tier && to > from)
			sum += to - from;
	}
	return sum;
}

/* A long stretch without rows and without a gap is damage. */
static void check_leap(struct import *m, enum tier tier, int64_t before_ns, int64_t t_ns)
{
	struct nvmt1 *f = m->f;
	int64_t apart = t_ns - before_ns, start = f->session.start.mono_ns;

	if (apart <= (int64_t)(1e9 * fmax(LEAP_S, LEAP_ROWS / f->session.hz[tier])))
		return;
	if (f->extended ? gaps_within(f, tier, start + before_ns, start + t_ns) < apart / 2 : apart > PAUSE_NS)
		nvmt1_damage(
			f, _("row %llu of the %s section comes %.3f s after the one before it, and no gap is listed"),
			(unsigned long long)m->at[tier].row, tier_name(tier), (double)apart / 1e9);
}

/* The time of the next row since the start; INT64_MAX: none. */
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

/* The chunk of further channels that holds the row; NULL: none that is usable. */
static const struct columns *find_columns(struct import *m, enum tier tier, uint64_t row)
{
	struct nvmt1 *f = m->f;
	struct cursor *c = &m->at[tier];
	const struct columns *k;
	size_t n;

	while (c->chunk < f->n_columns[tier] &&
	       f->columns[tier][c->chunk].row + f->columns[tier][c->chunk].rows <= row) {
		c->chunk++;
		c->loaded = false;
	}
	if (c->chunk >= f->n_columns[tier] || f->columns[tier][c->chunk].row > row)
		return NULL;
	k = &f->columns[tier][c->chunk];
	if (c->loaded)
		return c->payload ? k : NULL;
	free(c->payload);
	n = 24 + (size_t)(k->rows * k->columns * 8);
	c->payload = malloc(n + 4);
	c->loaded = true;
	if (c->payload && nvmt1_read(f, c->payload, n + 4, k->at) && get_u32(c->payload + n) == log_crc(c->payload, n))
		return k;
	nvmt1_damage(f, _("chunk %s of the extension, at offset %llu, has a wrong checksum"), "COLS",
		     (unsigned long long)k->at - 20);
	free(c->payload);
	c->payload = NULL;
	return NULL;
}

/* Rows of one batch are in one chunk of further channels. */
static uint64_t batch_end(const struct import *m, enum tier tier)
{
	const struct nvmt1 *f = m->f;
	uint64_t row = m->at[tier].row;

	for (size_t i = m->at[tier].chunk; i < f->n_columns[tier]; i++) {
		if (row < f->columns[tier][i].row)
			return f->columns[tier][i].row;
		if (row < f->columns[tier][i].row + f->columns[tier][i].rows)
			return f->columns[tier][i].row + f->columns[tier][i].rows;
	}
	return UINT64_MAX;
}

/* Times of rows before until_ns; equal ones are made to rise by 1 ns. */
static size_t take_times(struct import *m, enum tier tier, int64_t until_ns, int64_t *t_ns)
{
	struct cursor *c = &m->at[tier];
	uint64_t end = batch_end(m, tier);
	size_t n = 0;
	int64_t ns;

	while (n < BATCH && c->row < end && (n == 0 || c->row < c->in + c->n) && (ns = next_ns(m, tier)) < until_ns) {
		if (c->row > 0)
			check_leap(m, tier, c->before_ns, ns);
		c->before_ns = ns;
		c->pushed_ns = ns > c->pushed_ns ? ns : c->pushed_ns + 1;
		t_ns[n++] = m->f->session.start.mono_ns + c->pushed_ns;
		c->row++;
	}
	return n;
}

static void read_extra(struct import *m, enum tier tier, unsigned slot, uint64_t first, size_t n, double *out,
		       size_t stride)
{
	const struct columns *k = find_columns(m, tier, first);

	for (size_t i = 0; i < n; i++)
		out[i * stride] =
			k && slot < k->columns
				? get_f64(m->at[tier].payload + 24 + 8 * ((first + i - k->row) * k->columns + slot))
				: (double)NAN;
}

static const struct run *find_run(const struct nvmt1 *f, size_t channel, uint64_t row)
{
	size_t lo = f->first_run[channel], hi = f->first_run[channel + 1], end = hi;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->runs[mid].row + f->runs[mid].count <= row)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < end && f->runs[lo].row <= row ? &f->runs[lo] : NULL;
}

static bool has_runs(const struct nvmt1 *f, size_t channel)
{
	return f->first_run && f->first_run[channel] < f->first_run[channel + 1];
}

static double checked(struct import *m, size_t channel, uint64_t row, double v)
{
	struct nonsense *n = &m->nonsense[channel];

	if (cell_holds((enum field)m->f->places[channel].field, v))
		return v;
	if (n->n++ == 0) {
		n->row = row;
		n->v = v;
	}
	return (double)NAN;
}

static void read_channel(struct import *m, size_t channel, uint64_t first, size_t n, double *out, size_t stride)
{
	struct nvmt1 *f = m->f;
	const struct place *place = &f->places[channel];
	enum tier tier = f->channels[channel].tier;
	const uint8_t *rows = row_at(m, tier, first);
	bool runs = has_runs(f, channel);

	if (place->field == FIELD_EXTRA)
		read_extra(m, tier, place->slot, first, n, out, stride);
	for (size_t i = 0; i < n; i++) {
		const struct run *r = runs ? find_run(f, channel, first + i) : NULL;

		if (r)
			out[i * stride] = r->value;
		else if (place->field != FIELD_EXTRA)
			out[i * stride] = checked(m, channel, first + i,
						  cell_decode(rows + i * row_size[tier], (enum field)place->field,
							      place->slot));
	}
}

static void push_rows(struct import *m, enum tier tier, int64_t until_ns)
{
	const struct session *s = &m->f->session;
	size_t width = s->width[tier], n;
	int64_t t_ns[BATCH];

	while ((n = take_times(m, tier, until_ns, t_ns)) > 0) {
		uint64_t first = m->at[tier].row - n;

		for (size_t c = 0; c < s->n_channels; c++)
			if (s->channels[c].tier == tier)
				read_channel(m, c, first, n, m->values + s->channels[c].column, width);
		m->to->ops->rows(m->to, &(struct rows) {tier, n, width, t_ns, m->values});
	}
}

static int by_mark(const void *a, const void *b)
{
	const struct mark *m = a, *n = b;

	if (m->t_ns != n->t_ns)
		return m->t_ns < n->t_ns ? -1 : 1;
	return (m->id > n->id) - (m->id < n->id);
}

static bool push_all(struct import *m, nvmt1_progress *progress, void *arg)
{
	const struct nvmt1 *f = m->f;
	uint64_t total = 1, done;
	size_t mark = 0;
	int64_t ns, oldest;

	for (int t = 0; t < TIERS; t++)
		total += f->section[t].rows;
	for (size_t i = 0; i < f->n_changes && m->to->ops->change; i++)
		m->to->ops->change(m->to, &f->changes[i]);
	for (size_t i = 0; i < f->n_gaps; i++)
		m->to->ops->gap(m->to, &f->gaps[i]);
	for (;;) {
		oldest = INT64_MAX;
		done = 0;
		for (int t = 0; t < TIERS; t++) {
			ns = next_ns(m, (enum tier)t);
			oldest = ns < oldest ? ns : oldest;
			done += m->at[t].row;
		}
		if (oldest == INT64_MAX)
			break;
		if (progress && !progress(arg, (double)done / (double)total))
			return false;
		for (int t = 0; t < TIERS; t++)
			push_rows(m, (enum tier)t, oldest + WINDOW_NS);
		for (; mark < f->n_marks && f->marks[mark].t_ns < f->session.start.mono_ns + oldest + WINDOW_NS; mark++)
			m->to->ops->mark(m->to, &f->marks[mark]);
		if (m->to->ops->rest)
			m->to->ops->rest(m->to);
	}
	for (; mark < f->n_marks; mark++)
		m->to->ops->mark(m->to, &f->marks[mark]);
	return true;
}

/* A check gets a sentence for each channel, a reader one for all. */
static void report_nonsense(struct import *m)
{
	struct nvmt1 *f = m->f;
	const struct nonsense *first = NULL;
	uint64_t n = 0;

	for (size_t c = 0; c < f->session.n_channels; c++) {
		const struct nonsense *o = &m->nonsense[c];

		n += o->n;
		if (o->n > 0 && (!first || o->row < first->row))
			first = o;
	}
	for (size_t c = 0; n > 0 && c < f->session.n_channels; c++) {
		const struct nonsense *o = &m->nonsense[c];
		const char *name = f->channels[c].name, *tier = tier_name(f->channels[c].tier);

		if (f->found ? o->n > 0 : o == first)
			nvmt1_damage(f,
				     P_("%llu out-of-range value is treated as missing: %s is %g in row %llu of the "
					"%s section",
					"%llu out-of-range values are treated as missing: %s is %g in row %llu of "
					"the %s section",
					f->found ? o->n : n),
				     (unsigned long long)(f->found ? o->n : n), name, o->v, (unsigned long long)o->row,
				     tier);
	}
}

static bool start(struct import *m)
{
	size_t widest = 1;

	for (int t = 0; t < TIERS; t++) {
		m->at[t].end = m->f->section[t].rows;
		m->at[t].pushed_ns = -1;
		m->at[t].bytes = malloc(BATCH * row_size[t]);
		if (!m->at[t].bytes)
			return false;
		widest = m->f->session.width[t] > widest ? m->f->session.width[t] : widest;
	}
	m->values = malloc(widest * BATCH * sizeof(*m->values));
	m->nonsense = calloc(m->f->session.n_channels + 1, sizeof(*m->nonsense));
	return m->values && m->nonsense;
}

int nvmt1_import(int fd, const char *shown, struct sink *to, nvmt1_progress *progress, void *arg,
		 struct nvmt1_extra *extra, struct err *e)
{
	struct import m = {.to = to};
	int rc = -1;

	m.f = nvmt1_open(fd, shown, extra ? extra->found : NULL, extra ? extra->to : NULL, e);
	if (!m.f)
		return -1;
	if (m.f->n_marks > 1)
		qsort(m.f->marks, m.f->n_marks, sizeof(*m.f->marks), by_mark);
	if (!start(&m)) {
		err_set(e, ERR_FAILED, _("out of memory while reading %s"), shown);
	} else if (to->ops->begin(to, &m.f->session, e) == 0) {
		if (push_all(&m, progress, arg))
			rc = to->ops->end(to, e);
		else
			err_set(e, ERR_FAILED, _("interrupted while reading %s"), shown);
		report_nonsense(&m);
	}
	if (rc == 0 && extra) {
		extra->lists_gaps = m.f->extended;
		extra->anchors = m.f->anchors;
		extra->n_anchors = m.f->extended ? m.f->n_anchors : 0;
		m.f->anchors = NULL;
	}
	if (rc == 0)
		*e = m.f->damage;
	for (int t = 0; t < TIERS; t++) {
		free(m.at[t].bytes);
		free(m.at[t].payload);
	}
	free(m.values);
	free(m.nonsense);
	nvmt1_close(m.f);
	return rc;
}
