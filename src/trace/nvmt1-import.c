/* Imports a file of version 1, which has a section for each tier: merges them by time into a stream, and
 * checks times and values. */
#include "trace/nvmt1.h"

#include <math.h>
#include <stdlib.h>

#include "util/intl.h"
#include "trace/nvmt1-file.h"

#define BATCH	  256
#define WINDOW_NS (100 * NS_PER_MS) /* by which a tier may be ahead of the others */
#define LEAP_S	  10
#define LEAP_ROWS 100			   /* periods, if that is longer */
#define PAUSE_NS  (INT64_C(3600) * NS_PER_S) /* a suspended recorder may pause that long */

/* The next rows of a tier. */
struct cursor {
	uint64_t row, end;
	uint8_t *bytes; /* of rows in .. in + n - 1 */
	uint64_t in;
	size_t n;
	int64_t before_ns, pushed_ns; /* times of the previous row: in the file, in the log */
	size_t chunk;		      /* index of the next chunk of columns */
	const struct columns *loaded;
	uint8_t *payload; /* of loaded; NULL: damaged */
};

/* The next run of a channel, and the number and the first of its out-of-range values. */
struct channel_state {
	size_t run;
	uint64_t n, row;
	double v;
};

struct import {
	struct nvmt1 *f;
	struct nvmt1_import *of;
	struct log_builder *builder; /* or NULL */
	struct cursor at[TIERS];
	double *values;
	struct channel_state *channels;
	int64_t newest_ns;
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

/* Returns how many ns of an interval the gaps of a tier cover. */
static int64_t gaps_within(const struct nvmt1 *f, enum tier tier, int64_t from_ns, int64_t to_ns)
{
	int64_t sum = 0;

	for (size_t i = 0; i < f->gaps.n; i++) {
		const struct gap *g = (const struct gap *)f->gaps.p + i;
		int64_t from = g->from_ns > from_ns ? g->from_ns : from_ns;
		int64_t to = g->to_ns < to_ns ? g->to_ns : to_ns;

		if (g->tier == tier && to > from)
			sum += to - from;
	}
	return sum;
}

/* A long interval without rows and without a gap is damage. */
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

/* Returns the chunk of further channels that contains the row, or the next one; NULL if there is none. */
static const struct columns *chunk_from(struct import *m, enum tier tier, uint64_t row)
{
	const struct columns *k = m->f->columns.p;
	struct cursor *c = &m->at[tier];

	while (c->chunk < m->f->columns.n && (k[c->chunk].tier != tier || k[c->chunk].row + k[c->chunk].rows <= row))
		c->chunk++;
	return c->chunk < m->f->columns.n ? &k[c->chunk] : NULL;
}

/* Returns the values of a chunk, or NULL if it is damaged. */
static const uint8_t *load_chunk(struct import *m, enum tier tier, const struct columns *k)
{
	struct cursor *c = &m->at[tier];
	size_t n = 24 + (size_t)(k->rows * k->columns * 8);

	if (c->loaded != k) {
		c->loaded = k;
		free(c->payload);
		c->payload = malloc(n + 4);
		if (!c->payload || !nvmt1_read(m->f, c->payload, n + 4, k->at) ||
		    get_u32(c->payload + n) != log_crc(c->payload, n)) {
			nvmt1_damage(m->f, _("chunk %s of the extension, at offset %llu, has a wrong checksum"), "COLS",
				     (unsigned long long)k->at - 20);
			free(c->payload);
			c->payload = NULL;
		}
	}
	return c->payload ? c->payload + 24 : NULL;
}

/* Takes the times of rows before until_ns, all in the same chunk of further channels or in none, and returns
 * their number. Each is made at least 1 ns later than the one before it. */
static size_t take_times(struct import *m, enum tier tier, int64_t until_ns, int64_t *t_ns)
{
	struct cursor *c = &m->at[tier];
	const struct columns *k = chunk_from(m, tier, c->row);
	uint64_t end = !k ? UINT64_MAX : c->row < k->row ? k->row : k->row + k->rows;
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
	const struct columns *k = chunk_from(m, tier, first);
	const uint8_t *p = k && k->row <= first && slot < k->columns ? load_chunk(m, tier, k) : NULL;

	for (size_t i = 0; i < n; i++)
		out[i * stride] = p ? get_f64(p + 8 * ((first + i - k->row) * k->columns + slot)) : (double)NAN;
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

static void read_channel(struct import *m, enum tier tier, size_t channel, uint64_t first, size_t n, double *out,
			 size_t stride)
{
	const struct nvmt1 *f = m->f;
	const struct place *place = &f->places[channel];
	const uint8_t *rows = row_at(m, tier, first);
	const struct run *runs = f->runs.p;
	size_t *run = &m->channels[channel].run;

	if (place->field == FIELD_EXTRA)
		read_extra(m, tier, place->slot, first, n, out, stride);
	for (size_t i = 0; i < n; i++) {
		uint64_t row = first + i;
		bool in_run;

		while (*run < f->runs.n && runs[*run].channel == channel && runs[*run].row + runs[*run].count <= row)
			++*run;
		in_run = *run < f->runs.n && runs[*run].channel == channel && runs[*run].row <= row;
		if (in_run)
			out[i * stride] = runs[*run].value;
		else if (place->field != FIELD_EXTRA)
			out[i * stride] = checked(m, channel, row,
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
				read_channel(m, tier, c, first, n, m->values + s->channels[c].column, width);
		m->of->rows[tier] += n;
		m->newest_ns = t_ns[n - 1] > m->newest_ns ? t_ns[n - 1] : m->newest_ns;
		if (m->builder)
			log_builder_rows(m->builder, &(struct rows) {tier, n, width, t_ns, m->values});
	}
}

/* Pushes the marks before that time. */
static void push_marks(struct import *m, int64_t until_ns)
{
	const struct mark *marks = m->f->marks.p;

	for (; m->of->marks < m->f->marks.n && marks[m->of->marks].t_ns < until_ns; m->of->marks++)
		if (m->builder)
			log_builder_mark(m->builder, &marks[m->of->marks]);
}

static bool push_all(struct import *m)
{
	const struct nvmt1 *f = m->f;
	double total = 1 + (double)f->rows[0] + (double)f->rows[1] + (double)f->rows[2];

	for (size_t i = 0; i < f->changes.n && m->builder; i++)
		log_builder_change(m->builder, (const struct change *)f->changes.p + i);
	for (size_t i = 0; i < f->gaps.n && m->builder; i++)
		log_builder_gap(m->builder, (const struct gap *)f->gaps.p + i);
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
		push_marks(m, f->session.start.mono_ns + oldest + WINDOW_NS);
		if (m->builder)
			log_builder_run(m->builder, m->newest_ns);
	}
	push_marks(m, INT64_MAX);
	if (m->builder)
		log_builder_end(m->builder, LOG_STOPPED, NULL);
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
	const struct log_options options = {.index = true};
	const struct session *s = &m->f->session;
	const struct run *runs = m->f->runs.p;
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
	m->channels = calloc(s->n_channels + 1, sizeof(*m->channels));
	if (!ok || !m->values || !m->channels)
		return err_set(e, ERR_FAILED, _("out of memory while reading %s"), m->f->shown);
	for (size_t i = m->f->runs.n; i-- > 0;)
		m->channels[runs[i].channel].run = i;
	m->builder = m->of->emit ? log_builder_new(s, &options, m->of->emit, m->of->of, e) : NULL;
	return m->of->emit && !m->builder ? -1 : 0;
}

int nvmt1_import(int fd, const char *shown, struct nvmt1_import *of, struct err *e)
{
	struct import m = {.of = of};
	int rc;

	m.f = nvmt1_open(fd, shown, of, e);
	if (!m.f)
		return -1;
	rc = start(&m, e);
	if (rc == 0) {
		if (!push_all(&m))
			rc = err_set(e, ERR_FAILED, _("interrupted while reading %s"), shown);
		report_out_of_range(&m);
	}
	if (rc == 0) {
		of->lists_gaps = m.f->extended;
		of->anchors = m.f->anchors.p;
		of->n_anchors = m.f->extended ? m.f->anchors.n : 0;
		m.f->anchors.p = NULL;
		*e = m.f->damage;
	}
	for (int t = 0; t < TIERS; t++) {
		free(m.at[t].bytes);
		free(m.at[t].payload);
	}
	log_builder_free(m.builder);
	free(m.values);
	free(m.channels);
	nvmt1_close(m.f);
	return rc;
}
