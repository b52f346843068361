/* Queries on the rows of a log: values and times, bins of any zoom, from stored ones where possible, and
 * statistics of any interval. */
#include <math.h>
#include <string.h>

#include "trace/log-lod.h"
#include "trace/log-read.h"

#define COUNT_MAX 9007199254740992.0 /* 2^53 */
#define LATE_ROWS 1024               /* looked at at a time */

/* --- rows --- */

/* If out of memory, rows have the last time of the log and no values. */
size_t trace_read(struct trace *r, enum tier tier, uint64_t row, size_t most, int64_t *t_ns, const size_t *channels, size_t n_channels,
		  double *const *values)
{
	struct log_block *b;
	size_t skip, n;
	uint64_t first;

	pthread_mutex_lock(&r->lock);
	b = log_block_of(r, tier, row, &first);
	skip = b ? (size_t)(row - first) : 0;
	n = b && b->n - skip < most ? b->n - skip : most;
	for (size_t i = 0; t_ns && i < n; i++)
		t_ns[i] = b ? b->t_ns[skip + i] : r->last_ns;
	for (size_t c = 0; c < n_channels; c++) {
		size_t apart = 0;
		const double *v = values[c] && b ? log_block_values(b, r->channels[channels[c]].column, &apart) + skip * apart : NULL;

		for (size_t i = 0; values[c] && i < n; i++)
			values[c][i] = v ? v[i * apart] : (double)NAN;
	}
	pthread_mutex_unlock(&r->lock);
	return n;
}

/* Returns the first of the block's rows at or after t_ns, or b->n if there is none. */
static uint32_t block_from(const struct log_block *b, int64_t t_ns)
{
	return (uint32_t)times_from(b->t_ns, b->n, sizeof(*b->t_ns), 0, t_ns);
}

uint64_t trace_row_from(const struct trace *t, enum tier tier, int64_t t_ns)
{
	struct trace *r = (struct trace *)(uintptr_t)t;
	uint64_t row, first;

	pthread_mutex_lock(&r->lock);
	row = log_rows_before(r, tier, log_cell(t_ns));
	while (row < r->rows[tier]) {
		struct log_block *b = log_block_of(r, tier, row, &first);
		uint32_t at = b ? block_from(b, t_ns) : 0;

		if (!b || at < b->n) {
			row = first + at > row ? first + at : row;
			break;
		}
		row = first + b->n;
	}
	pthread_mutex_unlock(&r->lock);
	return row;
}

/* --- what is stored of spans --- */

/* Keeps the arrays of a LOD as they are: decoded, a view of ten minutes would be several times as large. */
static struct log_block *lod_keep(struct trace *r, const struct log_generation *g, const struct log_section *s, uint64_t key)
{
	enum tier tier = (enum tier)s->tier;
	size_t width = r->session.width[tier], n = LOG_PARTS * width;
	struct log_block *b = log_cache_add(&r->caches[LOG_STRIPS], key, 0, 0, n * sizeof(*b->arrays) + s->size);

	if (!b)
		return NULL;
	b->first = s->first;
	b->arrays = (struct log_array *)(void *)b->records;
	memcpy(b->arrays + n, s->arrays, s->size);
	if (log_section_arrays(s, g->column[tier], g->width[tier], width, (uint8_t *)(b->arrays + n), b->arrays))
		b->n = s->n;
	return b;
}

/* Returns the bins of a tier in the LOD of the cell or, tier SPAN_STAT, the statistics of the level that is in place of the zoom; n = 0
 * if they are unusable, NULL if there are none. */
static const struct log_block *sums_get(struct trace *r, int level, int64_t cell, int zoom, unsigned tier)
{
	struct log_cache *cache = &r->caches[LOG_STRIPS];
	uint64_t key = log_span_key(log_span(cell, level), zoom, tier);
	struct log_block *b = log_cache_find(cache, key);
	const struct log_generation *g;
	struct log_section s;
	struct log_item item;
	struct log_head h;
	struct log_in in;
	size_t size;
	int of;

	if (b || !r->place->sums(r, level, cell, tier == SPAN_STAT ? LOG_STAT : LOG_LOD, zoom, &item))
		return b;
	if (!log_read_chunk(r, &item, &h))
		return log_cache_add(cache, key, 0, 0, 0); /* empty, so that it is not read again */
	in = (struct log_in) {r->raw.p, r->raw.p + r->raw.n, false};
	of = (int)log_get_u16(&in);
	size = log_get_u16(&in);
	if (tier == SPAN_STAT) {
		size_t n = log_get_u32(&in);

		b = log_cache_add(cache, key, 0, 0, n * size);
		if (!b)
			return NULL;
		b->n = (uint32_t)n;
		b->bytes_each = size;
		log_late_get(&in, b->late_ticks);
		log_unshuffle(b->records, in.p, n, size);
		return b;
	}
	g = log_generation_find(r, h.generation);
	if (!g)
		log_note(r, LOG_FAULT_CHANNELS, item.at, h.seq, item.cell, 0);
	/* The other tiers are asked for next. */
	while (g && of == zoom && log_section_next(&in, &s, false) > 0) {
		uint64_t of_tier = log_span_key(log_span(cell, level), zoom, s.tier);

		if (s.tier < TIERS && s.columns > 0 && !log_cache_find(cache, of_tier))
			lod_keep(r, g, &s, of_tier);
	}
	b = log_cache_find(cache, key);
	return b ? b : log_cache_add(cache, key, 0, 0, 0);
}

/* Reads bins first .. first + n - 1 of a LOD. Returns how many of them, from the first on, can be used. */
static size_t lod_bins(const struct log_block *b, size_t width, unsigned column, int64_t first, size_t n, struct bin *out)
{
	double v[LOG_PARTS][LOG_BINS_MAX];
	size_t done;

	for (size_t part = 0; part < LOG_PARTS; part++)
		log_array_get(&b->arrays[part * width + column], b->n, v[part]);
	for (done = 0; done < n; done++) {
		size_t i = (size_t)(first + (int64_t)done - b->first);

		out[done] = (struct bin) {0, 0, 0, 0};
		if (i >= b->n || !(v[LOG_COUNT][i] > 0))
			continue;
		if (!(v[LOG_COUNT][i] < COUNT_MAX) || !(v[LOG_MINIMUM][i] <= v[LOG_MAXIMUM][i]))
			break;
		out[done] = (struct bin) {v[LOG_MINIMUM][i], v[LOG_MAXIMUM][i], v[LOG_SUM][i], (uint64_t)v[LOG_COUNT][i]};
	}
	return done;
}

/* --- columns --- */

enum { STRIP_FINEST = 23 }; /* a bin of a finer zoom has few rows */

/* Adds the rows of a cell that are in bins first .. first + n - 1 of a zoom to those bins: n of column `from`, then, each `apart`
 * further, of the columns after it, as far as `to`. Returns the number of the last bin with rows; 0: of the first one, or none. */
static size_t rows_fold(struct trace *r, enum tier tier, int zoom, int64_t first, size_t n, unsigned from, unsigned to, struct bin *bins,
			size_t apart)
{
	int64_t cell = first >> (LOG_CELL_ZOOM - zoom);
	uint64_t row = log_rows_before(r, tier, cell), end = log_rows_before(r, tier, cell + 1), at;
	struct log_block *b;
	size_t last = 0, each;

	for (; row < end && (b = log_block_of(r, tier, row, &at)) != NULL; row = at + b->n) {
		const int64_t *t_ns = b->t_ns;
		uint32_t lo = block_from(b, (int64_t)((uint64_t)first << zoom)), hi;

		for (; lo < b->n && (t_ns[lo] >> zoom) - first < (int64_t)n; lo = hi) {
			last = (size_t)((t_ns[lo] >> zoom) - first);
			for (hi = lo + 1; hi < b->n && t_ns[hi] >> zoom == t_ns[lo] >> zoom; hi++)
				;
			if (!fold_begin(&r->fold, t_ns + lo, hi - lo, r->session.hz[tier]))
				return last;
			for (unsigned c = from; c < to; c++) {
				const double *v = log_block_values(b, c, &each);
				struct bin bin = fold_bin(&r->fold, v + lo * each, each);

				bin_merge(&bins[(c - from) * apart + last], &bin);
			}
		}
	}
	return last;
}

/* Returns the bins of a zoom, STRIP_FINEST .. LOG_CELL_ZOOM, in a cell: of one channel of the tier after the other.
 * NULL: the cell has no rows, or memory is out. Rows that come later are in the last bin that has some, or behind it: those
 * before it are kept. Who draws a zoom also asks for that two finer, to see short drops: it is made of those, apart from the
 * finest, which take the most room and are seldom asked for. */
static const struct bin *strip_get(struct trace *r, enum tier tier, int zoom, int64_t cell)
{
	struct log_cache *cache = &r->caches[LOG_STRIPS];
	uint64_t key = log_span_key(cell, zoom, tier), row, end, first;
	struct log_block *strip = log_cache_find(cache, key);
	size_t width = r->session.width[tier], n = (size_t)1 << (LOG_CELL_ZOOM - zoom), known = strip ? strip->n : 0;
	double hz = r->session.hz[tier];
	const struct bin *finer = NULL;
	const struct log_item *item;
	struct bin *bins, half[2];

	if (strip && (known == n || strip->first == (int64_t)cache->now))
		return (const struct bin *)(const void *)strip->records;
	row = log_rows_before(r, tier, cell);
	end = log_rows_before(r, tier, cell + 1);
	if (row == end)
		return NULL;
	item = log_item_of_row(r, tier, row, &first);
	/* Several chunks are summed in their order. */
	if (item && item->rows[tier] == end - row && zoom - 2 > STRIP_FINEST && hz > 0 && zoom - 2 >= zoom_base(hz))
		finer = strip_get(r, tier, zoom - 2, cell);
	strip = log_cache_find(cache, key);
	if (!strip && (strip = log_cache_add(cache, key, 0, 0, width * n * sizeof(*bins))) != NULL)
		known = 0;
	if (!strip)
		return NULL;
	bins = (struct bin *)(void *)strip->records;
	for (size_t c = 0; c < width; c++)
		memset(bins + c * n + known, 0, (n - known) * sizeof(*bins));
	if (!finer)
		known += rows_fold(r, tier, zoom, cell * (int64_t)n + (int64_t)known, n - known, 0, (unsigned)width, bins + known, n);
	for (size_t i = 0; finer && i < width * n; i++) {
		bins_halve(half, finer + 4 * i, 2);
		bins_halve(&bins[i], half, 1);
	}
	strip->n = (uint32_t)(cell < r->settled ? n : known);
	strip->first = (int64_t)cache->now;
	return bins;
}

void log_cell_forget(struct trace *r, enum tier tier, int64_t cell)
{
	struct log_cache *cache = &r->caches[LOG_STRIPS];

	log_cache_drop(&r->caches[LOG_LISTS], (uint64_t)log_span_cell(log_span(cell, 1), 1));
	log_cache_drop(cache, log_span_key(log_span(cell, 1), SPAN_PARTS, tier));
	log_cache_drop(cache, log_span_key(cell, SPAN_CELL, tier));
	if (cell >= r->settled)
		return;
	log_cache_clear(&r->caches[LOG_TILES]);
	for (int zoom = STRIP_FINEST; zoom <= LOG_CELL_ZOOM; zoom++)
		log_cache_drop(cache, log_span_key(cell, zoom, tier));
}

enum { JOINED_BITS = 5 }; /* of the number of bins that are joined at a time */

static bool rows_are_none(struct trace *r, enum tier tier, int64_t from, int64_t to)
{
	return log_cell_ns(from) >= r->rows_from_ns && log_rows_before(r, tier, from) == log_rows_before(r, tier, to);
}

/* Bins first .. first + n - 1 of a zoom that has them, a run of one cell or span after the other: of the rows, a strip or a
 * LOD; else the merges of their halves. */
static void bins_get(struct trace *r, const struct channel *c, int zoom, int64_t first, size_t n, struct bin *out)
{
	int up = zoom - LOG_CELL_ZOOM, level = log_zoom_has(zoom, r->session.hz[c->tier]) ? log_zoom_level(zoom) : 0;
	int bits = up <= 0 ? -up : level ? LOG_SPAN_BITS * level - up : JOINED_BITS;

	for (size_t run; n > 0; first += (int64_t)run, out += run, n -= run) {
		int64_t cell = up > 0 ? (int64_t)((uint64_t)first << up) : first >> -up;
		size_t in = (size_t)((uint64_t)first & ((UINT64_C(1) << bits) - 1)), done = 0;
		const struct log_block *lod = level ? sums_get(r, level, cell, zoom, c->tier) : NULL;
		const struct bin *strip = up <= 0 && zoom >= STRIP_FINEST ? strip_get(r, c->tier, zoom, cell) : NULL;
		struct bin halves[2 << JOINED_BITS];

		run = ((size_t)1 << bits) - in < n ? ((size_t)1 << bits) - in : n;
		memset(out, 0, run * sizeof(*out));
		if (strip)
			memcpy(out, strip + ((size_t)c->column << bits) + in, run * sizeof(*out));
		else if (zoom < STRIP_FINEST)
			rows_fold(r, c->tier, zoom, first, run, c->column, c->column + 1U, out, run);
		else if (lod && lod->n > 0)
			done = lod_bins(lod, r->session.width[c->tier], c->column, first, run, out);
		if (up <= 0 || done > 0) {
			run = done ? done : run;
			continue;
		}
		/* A bin that is damaged in a LOD is joined by itself. */
		run = lod && lod->n > 0 ? 1 : run < 1 << JOINED_BITS ? run : 1 << JOINED_BITS;
		/* To look for rows costs more than a few bins. */
		if (up > 2 && rows_are_none(r, c->tier, cell, cell + (int64_t)(run << up)))
			continue;
		bins_get(r, c, zoom - 1, 2 * first, 2 * run, halves);
		bins_halve(out, halves, run);
	}
}

enum { TILE = 32 }; /* bins */

/* Bins first .. first + n - 1 of a zoom that has them. They are kept in tiles, from the first one of a tile on, so that a frame
 * needs those only that are new since the last one. In a tile the bins of a channel follow each other, as they are drawn. */
static void tiles_get(struct trace *r, size_t channel, int zoom, int64_t first, size_t n, struct bin *out)
{
	int up = zoom - LOG_CELL_ZOOM;
	int64_t settled = up > 0 ? r->settled >> up : (int64_t)((uint64_t)r->settled << -up);

	for (size_t run; n > 0; first += (int64_t)run, out += run, n -= run) {
		int64_t begin = (int64_t)((uint64_t)first / TILE * TILE);
		uint64_t key = (uint64_t)begin / TILE << 22 | channel << 6 | (uint64_t)zoom;
		size_t in = (size_t)(first - begin);
		struct log_block *tile = log_cache_find(&r->caches[LOG_TILES], key);
		struct bin *bins;

		run = TILE - in < n ? TILE - in : n;
		tile = tile ? tile : log_cache_add(&r->caches[LOG_TILES], key, 0, 0, TILE * sizeof(*bins));
		if (!tile)
			continue;
		bins = (struct bin *)(void *)tile->records;
		if (tile->n < in + run)
			bins_get(r, &r->channels[channel], zoom, begin + tile->n, in + run - tile->n, bins + tile->n);
		memcpy(out, bins + in, run * sizeof(*bins));
		tile->n = (uint32_t)(tile->n > in + run ? tile->n : in + run);
		if (begin + tile->n > settled)
			tile->n = settled > begin ? (uint32_t)(settled - begin) : 0;
	}
}

int log_finest(struct timeline *t, size_t channel, int64_t t_ns)
{
	const struct trace *r = (const struct trace *)t;
	enum tier tier = r->channels[channel].tier;

	if (t_ns >= r->rows_from_ns || !(r->session.hz[tier] > 0))
		return r->session.hz[tier] > 0 ? zoom_base(r->session.hz[tier]) : ZOOM_MIN;
	return r->place->finest(r, tier, t_ns);
}

void log_columns(struct timeline *t, size_t channel, int zoom, int64_t first, size_t n, struct bin *out)
{
	struct trace *r = (struct trace *)t;
	const struct channel *c = &r->channels[channel];
	int64_t at, end, covered;
	int up;

	memset(out, 0, n * sizeof(*out));
	if (!r->any || channel >= r->session.n_channels || zoom > ZOOM_MAX || zoom < 0)
		return;
	/* Below the base zoom, each column is the base bin that covers it. Where rows are gone, it is the finest that is left. */
	up = log_finest(t, channel, INT64_MAX) - zoom;
	up = up > 0 ? up : 0;
	at = (r->first_ns >> zoom >> up) * (INT64_C(1) << up);
	at = at > first ? at : first;
	covered = ((r->last_ns >> zoom >> up) + 1) * (INT64_C(1) << up);
	end = __builtin_add_overflow(first, (int64_t)n, &end) || end > covered ? covered : end;
	pthread_mutex_lock(&r->lock);
	for (int64_t next = at; at < end; at = next) {
		int by = up;
		struct bin b;

		for (; next < end && (next == at || by == 0 || next >> by == at >> by); next++) {
			int64_t t_ns = (int64_t)((uint64_t)next << zoom);
			int left = t_ns < r->rows_from_ns ? log_finest(t, channel, t_ns) - zoom : up;

			left = left > up ? left : up;
			if (next > at && left != by)
				break;
			by = left;
		}
		if (by == 0) {
			tiles_get(r, channel, zoom, at, (size_t)(next - at), out + (at - first));
			continue;
		}
		bins_get(r, c, zoom + by, at >> by, 1, &b);
		for (int64_t i = at; i < next; i++)
			out[i - first] = b;
	}
	pthread_mutex_unlock(&r->lock);
}

/* --- statistics --- */

#define FEW_ROWS 8 /* are read faster than found */

/* Statistics of the channel's rows of a cell from from_ns up to to_ns. Those of whole cells are kept for all channels of the
 * tier, since others are asked for next. */
static struct span_stats stat_cell(struct trace *r, const struct channel *c, int64_t cell, int64_t from_ns, int64_t to_ns)
{
	uint64_t row = log_rows_before(r, c->tier, cell), end = log_rows_before(r, c->tier, cell + 1), first;
	bool keep = end - row >= FEW_ROWS && from_ns <= log_cell_ns(cell) && to_ns >= log_cell_ns(cell + 1);
	size_t from = keep ? 0 : c->column, n = keep ? r->session.width[c->tier] : 1, apart;
	struct log_cache *cache = &r->caches[LOG_STRIPS];
	uint64_t key = log_span_key(cell, SPAN_CELL, c->tier);
	struct log_block *kept = keep ? log_cache_find(cache, key) : NULL, *b;
	struct span_stats one = {.n = 0}, part, *all = &one;
	double hz = r->session.hz[c->tier];

	if (kept)
		return ((struct span_stats *)(void *)kept->records)[c->column];
	if (keep) {
		kept = log_cache_add(cache, key, 0, 0, n * sizeof(*all));
		if (!kept)
			return one;
		all = memset(kept->records, 0, n * sizeof(*all));
	}
	for (; row < end && (b = log_block_of(r, c->tier, row, &first)) != NULL; row = first + b->n) {
		uint32_t lo = block_from(b, from_ns), hi = block_from(b, to_ns);

		if (lo >= hi || !fold_begin(&r->fold, b->t_ns + lo, hi - lo, hz))
			continue;
		for (size_t i = 0; i < n; i++) {
			const double *v = log_block_values(b, (unsigned)(from + i), &apart);

			part = fold_stats(&r->fold, v + lo * apart, apart);
			span_stats_join(&all[i], &part, stats_hole_ns(hz));
		}
	}
	return all[c->column - from];
}

/* A walk through an interval, from the rows of one cell, or the STAT of the longest span that is within it and has one, to the
 * next. */
struct stat_walk {
	struct trace *r;
	enum tier tier;
	int64_t from_ns, to_ns, cell, next;
	const struct log_block *stat; /* NULL: of the rows of `cell` */
};

/* An interval around all rows has the spans of the first and the last ones. */
static struct stat_walk stat_walk_begin(struct trace *r, enum tier tier, int64_t from_ns, int64_t to_ns)
{
	struct stat_walk w = {r, tier, from_ns, to_ns, 0, 0, NULL};

	if (from_ns <= r->first_ns)
		w.from_ns = log_cell_ns(log_span_cell(log_span(log_cell(r->first_ns), LOG_LEVELS), LOG_LEVELS));
	if (to_ns > r->last_ns)
		w.to_ns = log_cell_ns(log_span_end(log_cell(r->last_ns), LOG_LEVELS));
	w.next = log_cell(w.from_ns);
	return w;
}

static bool stat_walk_next(struct stat_walk *w)
{
	struct trace *r = w->r;
	uint64_t row = log_rows_before(r, w->tier, w->next);
	bool gone = log_cell_ns(w->next) < r->rows_from_ns;
	int64_t from = w->next, at = gone ? from : log_group_of_row(r, w->tier, row);

	/* A span may begin with cells that have no rows; one without any has no STAT. Of rows that are gone there is only that. */
	w->cell = at > from ? at : from;
	w->stat = NULL;
	if (log_cell_ns(w->cell) >= w->to_ns)
		return false;
	for (int level = LOG_LEVELS; level > 0; level--) {
		int64_t first = log_span_cell(log_span(w->cell, level), level);

		w->next = log_span_end(w->cell, (unsigned)level);
		if (first < from || log_cell_ns(first) < w->from_ns || w->next > log_cell(w->to_ns))
			continue;
		w->stat = sums_get(r, level, w->cell, level, SPAN_STAT);
		if (w->stat && w->stat->n > 0)
			return true;
	}
	w->stat = NULL;
	at = gone ? from : log_cell_of_row(r, w->tier, row);
	w->cell = w->cell > at ? w->cell : at;
	w->next = gone ? log_span_end(w->cell, 1) : w->cell + 1;
	return log_cell_ns(w->cell) < w->to_ns;
}

/* Reads the channel's record in a STAT. */
static struct span_stats stat_stored(const struct trace *r, const struct log_block *b, size_t channel)
{
	struct span_stats s = {.n = 0};

	for (uint32_t i = 0; i < b->n; i++) {
		const uint8_t *p = b->records + i * b->bytes_each;
		struct log_in in = {p, p + LOG_STAT_SIZE, false}, number = in;

		if (log_get_u32(&number) == r->numbers[channel])
			log_stat_get(&in, &s);
	}
	return s;
}

void trace_stat(struct trace *r, size_t channel, int64_t from_ns, int64_t to_ns, struct span_stats *out)
{
	const struct channel *c = &r->channels[channel];
	struct stat_walk w;

	*out = (struct span_stats) {.n = 0};
	pthread_mutex_lock(&r->lock);
	w = stat_walk_begin(r, c->tier, from_ns, to_ns);
	while (r->any && w.from_ns < w.to_ns && stat_walk_next(&w)) {
		struct span_stats s = w.stat ? stat_stored(r, w.stat, channel) : stat_cell(r, c, w.cell, w.from_ns, w.to_ns);

		span_stats_join(out, &s, stats_hole_ns(r->session.hz[c->tier]));
	}
	out->channel = r->numbers[channel];
	pthread_mutex_unlock(&r->lock);
}

/* --- late ticks --- */

static size_t late_rows(struct trace *r, enum tier tier, uint64_t row, uint64_t end, struct gap *out)
{
	uint64_t first;
	struct log_block *b = row > 0 ? log_block_of(r, tier, row - 1, &first) : NULL;
	int64_t before_ns = b ? b->t_ns[row - 1 - first] : r->session.start.mono_ns;
	size_t found = 0;

	while (row < end && (b = log_block_of(r, tier, row, &first)))
		for (size_t i = (size_t)(row - first); i < b->n && row < end; before_ns = b->t_ns[i++], row++)
			if (b->late[i])
				out[found++] = (struct gap) {tier, GAP_LATE, before_ns, b->t_ns[i], 1};
	return found;
}

size_t trace_late(struct trace *r, enum tier tier, uint64_t row, size_t n, struct gap *out)
{
	pthread_mutex_lock(&r->lock);
	n = late_rows(r, tier, row, row + n, out);
	pthread_mutex_unlock(&r->lock);
	return n;
}

void trace_late_ticks(struct trace *r, enum tier tier, uint64_t row, uint64_t end,
			   struct late_ticks *out)
{
	int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;
	struct gap late[LATE_ROWS];
	struct stat_walk w;

	*out = (struct late_ticks) {0, 0};
	if (row > 0 && row < end)
		trace_row_times(r, tier, row, 1, &from_ns);
	if (end < r->rows[tier])
		trace_row_times(r, tier, end, 1, &to_ns);
	pthread_mutex_lock(&r->lock);
	w = stat_walk_begin(r, tier, from_ns, to_ns);
	while (row < end && stat_walk_next(&w)) {
		uint64_t at = log_rows_before(r, tier, w.cell), to = log_rows_before(r, tier, w.next);

		if (w.stat)
			late_join(out, &w.stat->late_ticks[tier]);
		at = at > row ? at : row;
		to = to < end ? to : end;
		for (uint64_t part; !w.stat && at < to; at = part) {
			part = to - at < LATE_ROWS ? to : at + LATE_ROWS;
			for (size_t i = 0, n = late_rows(r, tier, at, part, late); i < n; i++)
				late_join(out, &(struct late_ticks) {1, late[i].to_ns - late[i].from_ns});
		}
	}
	pthread_mutex_unlock(&r->lock);
}
