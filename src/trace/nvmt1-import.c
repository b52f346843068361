/* Imports a file of version 1, which has a section for each tier: merges them into a stream, one cell of a log after the
 * other, so that each is one chunk; and checks times and values. */
#include "trace/nvmt1.h"

#include <math.h>
#include <stdlib.h>

#include "model/missing.h"
#include "util/intl.h"
#include "trace/log.h"
#include "trace/nvmt1-file.h"

#define BATCH	  256
#define LEAP_ROWS 100 /* periods, if that is longer than: */
#define PAUSE_NS  (INT64_C(3600) * NS_PER_S) /* a suspended recorder may pause that long */

/* The section of a tier, of which some rows are in memory. */
struct section {
	uint64_t row, end; /* the first of these, and the end of the section, or of what can be used of it */
	size_t n, at;	   /* their number; which of them is next */
	uint8_t bytes[BATCH * MEDIUM_SIZE];
	int64_t t_ns[BATCH];
	int64_t read_ns, made_ns; /* times of the last row: in the file, in the stream */
};

struct merge {
	struct nvmt1 *f;
	struct nvmt1_import *of;
	struct section sections[TIERS];
	uint64_t sync; /* the next sync point */
	double values[BATCH * NVMT1_CHANNELS];
	struct { /* values out of range: their number, and the first */
		uint64_t n, row;
		size_t channel;
		double v;
	} wrong;
};

/* Reads the next rows of a tier, if those before were used. Each is made at least 1 ns later than the one before
 * it. Returns false if there are none. */
static bool rows_read(struct merge *m, enum tier tier)
{
	struct section *s = &m->sections[tier];
	double leap_ns = fmax((double)PAUSE_NS, 1e9 * LEAP_ROWS / m->f->session.hz[tier]);
	uint64_t at;
	size_t n;

	if (s->at < s->n)
		return true;
	s->row += s->n;
	s->n = s->at = 0;
	n = s->end - s->row < BATCH ? (size_t)(s->end - s->row) : BATCH;
	at = m->f->at[tier] + s->row * row_size[tier];
	if (n > 0 && !nvmt1_read(m->f, s->bytes, n * row_size[tier], at)) {
		nvmt1_damage(m->f, _("row %llu of the %s section cannot be read; the rows before it are shown"),
			     (unsigned long long)s->row, tier_name(tier));
		n = 0;
		s->end = s->row;
	}
	for (; s->n < n; s->n++) {
		size_t skip = s->n * row_size[tier];
		int64_t ns;

		if (!row_time(s->bytes + skip, &ns) || ns < s->read_ns) {
			s->end = s->row + s->n;
			nvmt1_damage(m->f,
				     _("the time of row %llu of the %s section, at offset %llu, is invalid; the rows before "
				       "it are shown"),
				     (unsigned long long)s->end, tier_name(tier), (unsigned long long)(at + skip));
			break;
		}
		if (s->row + s->n > 0 && (double)(ns - s->read_ns) > leap_ns)
			nvmt1_damage(m->f, _("row %llu of the %s section comes %.3f s after the one before it"),
				     (unsigned long long)(s->row + s->n), tier_name(tier), (double)(ns - s->read_ns) / 1e9);
		s->read_ns = ns;
		s->made_ns = ns > s->made_ns ? ns : s->made_ns + 1;
		s->t_ns[s->n] = s->made_ns;
	}
	return s->n > 0;
}

/* Decodes a column of n rows. */
static void column_decode(struct merge *m, const struct cell *c, const uint8_t *rows, uint64_t row, size_t n, double *to,
			  size_t width)
{
	struct value_range range = channel_range(field_about[c->field].kind);
	size_t size = row_size[field_about[c->field].tier];

	for (size_t i = 0; i < n; i++) {
		double v = cell_decode(rows + i * size, c->field, c->slot);

		if (!isnan(v) && !range_holds(range, v)) {
			if (m->wrong.n++ == 0 || row + i < m->wrong.row) {
				m->wrong.row = row + i;
				m->wrong.channel = c->channel;
				m->wrong.v = v;
			}
			v = (double)NAN;
		}
		to[i * width] = v;
	}
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

/* Pushes the rows of a tier before until_ns. */
static void rows_push(struct merge *m, enum tier tier, int64_t until_ns)
{
	const struct nvmt1 *f = m->f;
	struct section *s = &m->sections[tier];
	size_t width = f->session.width[tier], n;

	for (; rows_read(m, tier) && s->t_ns[s->at] < until_ns; s->at += n) {
		for (n = 1; s->at + n < s->n && s->t_ns[s->at + n] < until_ns; n++)
			;
		for (const struct cell *c = f->layout.cells[tier]; c < f->layout.cells[tier] + f->layout.n[tier]; c++)
			column_decode(m, c, s->bytes + s->at * row_size[tier], s->row + s->at, n,
				      m->values + f->channels[c->channel].column, width);
		for (size_t i = 0; i < n; i++)
			compute(&f->computed[tier], tier, m->values + i * width);
		m->of->rows[tier] += n;
		if (m->of->to)
			m->of->to->ops->rows(m->of->to, &(struct rows) {tier, n, width, s->t_ns + s->at, m->values});
	}
}

/* Pushes the marks of the rows that were pushed, or all: the time of a mark is that of its row. */
static void marks_push(struct merge *m, bool all)
{
	struct nvmt1 *f = m->f;
	uint64_t rows = f->rows[TIER_FAST], pushed = m->sections[TIER_FAST].row + m->sections[TIER_FAST].at, row, at;
	uint8_t p[SYNC_SIZE], time[8];
	int64_t ns;

	for (; m->sync < f->rows[TIERS] && rows > 0; m->sync++) {
		at = f->at[TIERS] + m->sync * SYNC_SIZE;
		if (!nvmt1_read(f, p, SYNC_SIZE, at))
			return;
		row = get_u64(p + 8);
		if (!all && row >= pushed)
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

/* Returns false if progress() stopped it. */
static bool push_all(struct merge *m)
{
	double total = 1 + (double)m->f->rows[0] + (double)m->f->rows[1] + (double)m->f->rows[2];

	for (int64_t oldest = 0; oldest < INT64_MAX;) {
		uint64_t done = 0;

		oldest = INT64_MAX;
		for (enum tier t = 0; t < TIERS; t++) {
			struct section *s = &m->sections[t];

			if (rows_read(m, t) && s->t_ns[s->at] < oldest)
				oldest = s->t_ns[s->at];
			done += s->row + s->at;
		}
		if (m->of->progress && !m->of->progress(m->of->of, (double)done / total))
			return false;
		for (enum tier t = 0; t < TIERS && oldest < INT64_MAX; t++)
			rows_push(m, t, log_cell_ns(log_cell(oldest) + 1));
		marks_push(m, oldest == INT64_MAX);
	}
	return true;
}

int nvmt1_import(int fd, const char *shown, struct nvmt1_import *of, struct err *e)
{
	struct nvmt1 *f = nvmt1_open(fd, shown, of->found, of->of, e);
	struct merge *m = f ? calloc(1, sizeof(*m)) : NULL;
	int rc = -1;

	if (f && !m) {
		err_set(e, ERR_FAILED, _("out of memory while reading %s"), shown);
	} else if (f && (!of->to || of->to->ops->begin(of->to, &f->session, e) == 0)) {
		m->f = f;
		m->of = of;
		for (int t = 0; t < TIERS; t++) {
			m->sections[t].end = f->rows[t];
			m->sections[t].made_ns = -1;
		}
		rc = push_all(m) ? 0 : err_set(e, ERR_FAILED, _("interrupted while reading %s"), shown);
		if (m->wrong.n > 0)
			nvmt1_damage(f,
				     P_("%llu out-of-range value is treated as missing: %s is %g in row %llu of the "
					"%s section",
					"%llu out-of-range values are treated as missing: %s is %g in row %llu of "
					"the %s section",
					m->wrong.n),
				     (unsigned long long)m->wrong.n, f->channels[m->wrong.channel].name, m->wrong.v,
				     (unsigned long long)m->wrong.row, tier_name(f->channels[m->wrong.channel].tier));
		if (rc == 0 && of->to)
			rc = of->to->ops->end(of->to, e);
		*e = rc < 0 ? *e : f->damage;
	}
	free(m);
	free(f);
	return rc;
}
