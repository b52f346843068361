/* Columns of a saved trace: coarse ones are stored when the file is opened,
 * fine ones are folded from the rows when they are asked for. */
#include <stdlib.h>

#include "nvmtop/intl.h"
#include "trace/fold.h"
#include "trace/reader.h"

#define STORED_MAX  16384     /* columns of the finest stored zoom, with few channels */
#define STORED_ALL  (1 << 20) /* of all channels together: 64 MB with the coarser zooms */
#define STORED_ZOOM 24        /* nothing finer is stored */

static int tier_base(const struct trace *t, enum tier tier)
{
	return zoom_base(t->session.hz[tier]); /* which the session's reader has checked */
}

/* The times of a tier's rows; those of a short stretch are kept. */
static void times_read(const struct trace *t, enum tier tier, uint64_t first, size_t n, int64_t *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = row_ns(t, tier, first + i);
}

static const int64_t *times_of(struct trace *t, enum tier tier, uint64_t first, size_t n)
{
	struct times *c = &t->times[tier];

	if (!c->t_ns) {
		c->t_ns = malloc(TIMES_CACHED * sizeof(*c->t_ns));
		if (!c->t_ns)
			return NULL;
		c->n = 0;
	}
	if (first < c->first || first + n > c->first + c->n) {
		uint64_t rows = t->section[tier].rows - first;

		c->first = first;
		c->n = rows < TIMES_CACHED ? (size_t)rows : TIMES_CACHED;
		times_read(t, tier, first, c->n, c->t_ns);
	}
	return c->t_ns + (first - c->first);
}

/* --- opening --- */

void sections_check(struct trace *t)
{
	for (int i = 0; i < TIERS; i++) {
		struct section *s = &t->section[i];
		int64_t before = 0, ns;
		uint64_t row = 0;

		for (; row < s->rows && row_time(row_at(t, (enum tier)i, row), &ns) && ns >= before; row++)
			before = ns;
		if (row == s->rows)
			continue;
		trace_damage(t,
			     _("the time of row %llu of the %s section, at offset %llu, "
			       "cannot be right; "
			       "the rows before it are shown"),
			     (unsigned long long)row, tier_name((enum tier)i),
			     (unsigned long long)(s->at + row * row_size[i]));
		s->rows = row;
	}
}

static void extent_find(struct trace *t)
{
	for (int i = 0; i < TIERS; i++) {
		int64_t first, last;

		if (t->section[i].rows == 0)
			continue;
		first = row_ns(t, (enum tier)i, 0);
		last = row_ns(t, (enum tier)i, t->section[i].rows - 1);
		if (!t->known || first < t->first_ns)
			t->first_ns = first;
		if (!t->known || last > t->last_ns)
			t->last_ns = last;
		t->known = true;
	}
}

static size_t column_count(const struct trace *t, int zoom)
{
	return (size_t)((t->last_ns >> zoom) - (t->first_ns >> zoom)) + 1;
}

static void pyramid_plan(struct trace *t, enum tier tier)
{
	struct pyramid *p = &t->pyramid[tier];
	size_t most = STORED_ALL / (t->session.n_channels + 1);

	if (most > STORED_MAX)
		most = STORED_MAX;
	p->zoom = tier_base(t, tier);
	if (p->zoom < STORED_ZOOM)
		p->zoom = STORED_ZOOM;
	while (p->zoom < ZOOM_MAX && column_count(t, p->zoom) > most)
		p->zoom++;
	p->bins = 0;
	for (int k = p->zoom; k <= ZOOM_MAX; k++) {
		p->at[k] = p->bins;
		p->bins += column_count(t, k);
	}
}

/* The finest stored columns of every channel of a tier, in one pass. */
static int tier_build(struct trace *t, enum tier tier)
{
	uint64_t rows = t->section[tier].rows;
	int64_t first = t->first_ns >> t->pyramid[tier].zoom;
	struct fold *folds = calloc(t->session.n_channels + 1, sizeof(*folds));
	struct plan *p = malloc(sizeof(*p));
	int64_t t_ns[STEP];
	double v[STEP];

	if (p)
		plan_init(p, tier_base(t, tier), t->pyramid[tier].zoom, row_ns(t, tier, 0));
	for (uint64_t at = 0; folds && p && at < rows; at += p->rows) {
		size_t n = rows - at < STEP ? (size_t)(rows - at) : STEP;

		times_read(t, tier, at, n, t_ns);
		plan_make(p, t_ns, n, at + n == rows);
		for (size_t c = 0; c < t->session.n_channels; c++) {
			if (t->channels[c].tier != tier)
				continue;
			cells_read(t, c, at, p->rows, v);
			fold_values(&folds[c], p, v, t->bins[c], first);
		}
	}
	for (size_t c = 0; folds && p && c < t->session.n_channels; c++)
		if (t->channels[c].tier == tier)
			fold_end(&folds[c], p, t->bins[c], first);
	free(p);
	free(folds);
	return folds && p ? 0 : -1;
}

/* From the finest stored zoom up to the coarsest. */
static void channel_build(const struct trace *t, size_t channel)
{
	const struct pyramid *p = &t->pyramid[t->channels[channel].tier];

	for (int k = p->zoom + 1; k <= ZOOM_MAX; k++) {
		const struct bin *below = t->bins[channel] + p->at[k - 1];
		int64_t first = t->first_ns >> k, first_below = t->first_ns >> (k - 1);
		int64_t last_below = t->last_ns >> (k - 1);
		struct bin *b = t->bins[channel] + p->at[k];

		for (int64_t c = first; c <= t->last_ns >> k; c++, b++)
			for (int64_t half = 2 * c; half <= 2 * c + 1; half++)
				if (half >= first_below && half <= last_below)
					bin_merge(b, &below[half - first_below]);
	}
}

int pyramid_build(struct trace *t)
{
	extent_find(t);
	t->bins = calloc(t->session.n_channels + 1, sizeof(*t->bins));
	if (!t->bins)
		return -1;
	if (!t->known)
		return 0;
	for (int i = 0; i < TIERS; i++)
		pyramid_plan(t, (enum tier)i);
	for (size_t c = 0; c < t->session.n_channels; c++) {
		t->bins[c] = calloc(t->pyramid[t->channels[c].tier].bins, sizeof(**t->bins));
		if (!t->bins[c])
			return -1;
	}
	for (int i = 0; i < TIERS; i++)
		if (t->section[i].rows > 0 && tier_build(t, (enum tier)i) < 0)
			return -1;
	for (size_t c = 0; c < t->session.n_channels; c++)
		channel_build(t, c);
	return 0;
}

/* --- asking --- */

/* Columns lo..hi of a zoom that is not stored, from the rows. */
static void columns_fold(struct trace *t, size_t channel, int zoom, int64_t lo, int64_t hi, struct bin *out)
{
	enum tier tier = t->channels[channel].tier;
	uint64_t row = row_find(t, tier, (int64_t)((uint64_t)lo << zoom));
	uint64_t end = row_find(t, tier, (int64_t)((uint64_t)(hi + 1) << zoom));
	struct plan p;
	struct fold f;
	double v[STEP];

	if (row >= end)
		return;
	memset(&f, 0, sizeof(f));
	plan_init(&p, tier_base(t, tier), zoom, row_ns(t, tier, row));
	for (; row < end; row += p.rows) {
		size_t n = end - row < STEP ? (size_t)(end - row) : STEP;
		const int64_t *t_ns = times_of(t, tier, row, n);

		if (!t_ns)
			return;
		plan_make(&p, t_ns, n, row + n == end);
		cells_read(t, channel, row, p.rows, v);
		fold_values(&f, &p, v, out, lo);
	}
	fold_end(&f, &p, out, lo);
}

static void columns_at(struct trace *t, size_t channel, int zoom, int64_t first, size_t n, struct bin *out)
{
	const struct pyramid *p = &t->pyramid[t->channels[channel].tier];
	int64_t lo = t->first_ns >> zoom, hi = t->last_ns >> zoom, last;

	memset(out, 0, n * sizeof(*out));
	if (__builtin_add_overflow(first, (int64_t)n - 1, &last))
		last = INT64_MAX;
	if (lo < first)
		lo = first;
	if (hi > last)
		hi = last;
	if (lo > hi)
		return;
	if (zoom < p->zoom)
		columns_fold(t, channel, zoom, lo, hi, out + (lo - first));
	else
		memcpy(out + (lo - first), t->bins[channel] + p->at[zoom] + (lo - (t->first_ns >> zoom)),
		       (size_t)(hi - lo + 1) * sizeof(*out));
}

void trace_columns(struct trace *t, size_t channel, int zoom, int64_t first, size_t n, struct bin *out)
{
	int base;

	if (n == 0)
		return;
	if (!t->known || channel >= t->session.n_channels || zoom > ZOOM_MAX || zoom < 0) {
		memset(out, 0, n * sizeof(*out));
		return;
	}
	base = tier_base(t, t->channels[channel].tier);
	if (zoom >= base) {
		columns_at(t, channel, zoom, first, n, out);
		return;
	}
	/* Finer than there is: each column is answered with the one that covers it.
   */
	int64_t last, coarse = first >> (base - zoom);

	if (__builtin_add_overflow(first, (int64_t)n - 1, &last))
		last = INT64_MAX;
	columns_at(t, channel, base, coarse, (size_t)((last >> (base - zoom)) - coarse + 1), out);
	for (size_t i = n; i-- > 0;) {
		int64_t c = first;

		if (__builtin_add_overflow(first, (int64_t)i, &c))
			c = INT64_MAX;
		out[i] = out[(c >> (base - zoom)) - coarse];
	}
}
