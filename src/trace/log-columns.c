/* Queries on the rows of a log: values and times, bins of any zoom, from stored ones where possible, and
 * statistics of any interval. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/energy.h"
#include "trace/log-lod.h"
#include "trace/log-read.h"

#define COUNT_MAX 9007199254740992.0 /* 2^53 */
#define LATE_ROWS 1024               /* looked at at a time */

/* --- rows --- */

/* Reads at most n rows of one chunk and returns their number. If out of memory, they have the last time of
 * the log and no values. */
static size_t rows_get(struct trace *r, enum tier tier, uint64_t row, size_t n, int64_t *t_ns,
		       const size_t *channels, size_t n_channels, double *const *values)
{
	uint64_t first;
	struct log_block *b = log_block_of(r, tier, row, &first);
	size_t skip = b ? (size_t)(row - first) : 0;

	n = b && b->n - skip < n ? b->n - skip : n;
	for (size_t i = 0; t_ns && i < n; i++)
		t_ns[i] = b ? b->t_ns[skip + i] : r->last_ns;
	for (size_t c = 0; c < n_channels; c++) {
		if (values[c] && b)
			memcpy(values[c], log_block_values(b, r->channels[channels[c]].column) + skip,
			       n * sizeof(**values));
		for (size_t i = 0; values[c] && !b && i < n; i++)
			values[c][i] = (double)NAN;
	}
	return n;
}

void trace_row_times(const struct trace *t, enum tier tier, uint64_t first, size_t n, int64_t *out)
{
	struct trace *r = (struct trace *)(uintptr_t)t;

	pthread_mutex_lock(&r->lock);
	for (size_t done = 0; done < n;)
		done += rows_get(r, tier, first + done, n - done, out + done, NULL, 0, NULL);
	pthread_mutex_unlock(&r->lock);
}

void trace_row_values(struct trace *r, size_t channel, uint64_t first, size_t n, double *out)
{
	enum tier tier = r->channels[channel].tier;

	pthread_mutex_lock(&r->lock);
	for (size_t done = 0; done < n;)
		done += rows_get(r, tier, first + done, n - done, NULL, &channel, 1, &(double *) {out + done});
	pthread_mutex_unlock(&r->lock);
}

size_t trace_read(struct trace *r, enum tier tier, uint64_t row, size_t most, int64_t *t_ns,
		       const size_t *channels, size_t n_channels, double *const *values)
{
	size_t n;

	pthread_mutex_lock(&r->lock);
	n = rows_get(r, tier, row, most, t_ns, channels, n_channels, values);
	pthread_mutex_unlock(&r->lock);
	return n;
}

void trace_count(struct trace *r, enum tier tier, uint64_t row, size_t n, const size_t *channels,
		      size_t n_channels, struct histogram *const *to)
{
	pthread_mutex_lock(&r->lock);
	while (n > 0) {
		uint64_t first;
		struct log_block *b = log_block_of(r, tier, row, &first);
		size_t skip = b ? (size_t)(row - first) : 0, part = b && b->n - skip < n ? b->n - skip : n;

		for (size_t c = 0; b && c < n_channels; c++) {
			unsigned column = r->channels[channels[c]].column;
			const struct log_array *a = &b->arrays[column];

			if (to[c] && (part < b->n || !a->p || !log_array_count(a->p, a->kind, b->n, to[c])))
				histogram_add(to[c], log_block_values(b, column) + skip, part);
		}
		row += part;
		n -= part;
	}
	pthread_mutex_unlock(&r->lock);
}

/* Returns the first of the block's rows at or after t_ns, or b->n if there is none. */
static uint32_t block_from(const struct log_block *b, int64_t t_ns)
{
	return (uint32_t)times_from(b->t_ns, b->n, sizeof(*b->t_ns), 0, t_ns);
}

uint64_t trace_row_from(const struct trace *t, enum tier tier, int64_t t_ns)
{
	struct trace *r = (struct trace *)(uintptr_t)t;
	uint64_t rows = r->rows[tier], row, first;

	pthread_mutex_lock(&r->lock);
	row = log_rows_before(r, tier, log_cell(t_ns));
	while (row < rows) {
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

/* --- columns --- */

enum { STRIP_FINEST = 23 };	 /* a bin of a finer zoom has few rows */

enum { PARTS = 4 };

/* Keeps the arrays of a section as they are: decoded, a view of ten minutes would be several times as large. */
static struct log_block *lod_keep(struct trace *r, const struct log_generation *g, const struct log_section *s, uint64_t key)
{
	enum tier tier = (enum tier)s->tier;
	size_t width = r->session.width[tier], columns = s->columns / PARTS;
	struct log_block *b = log_cache_add(&r->caches[LOG_STRIPS], key, 0, 0, PARTS * width * sizeof(*b->arrays) + s->size);
	struct log_walk w;
	uint8_t *bytes;
	bool known = s->n <= LOG_BINS_MAX;

	if (!b)
		return NULL;
	b->first = s->first;
	b->arrays = (struct log_array *)(void *)b->records;
	bytes = (uint8_t *)(b->arrays + PARTS * width);
	memset(b->arrays, 0, PARTS * width * sizeof(*b->arrays));
	memcpy(bytes, s->arrays, s->size);
	log_walk_begin(&w, s);
	for (size_t c = 0; c < s->columns; c++, log_walk_skip(&w, 1)) {
		size_t part = c / columns, of = c % columns;
		unsigned to = of < g->width[tier] ? g->column[tier][of] : NO_COLUMN;

		if (to == NO_COLUMN)
			continue;
		b->arrays[part * width + to] = (struct log_array) {bytes + (w.p - s->arrays), s->kinds[c]};
		known &= !(s->kinds[c] & LOG_OTHER);
	}
	b->n = known ? s->n : 0;
	return b;
}

/* Returns the bins of a tier in the LOD of the cell; n = 0 if they are unusable, NULL if there is none. */
static const struct log_block *lod_get(struct trace *r, int level, int zoom, enum tier tier, int64_t cell)
{
	uint64_t key = log_span_key(log_span(cell, level), zoom, tier);
	const struct log_block *b = log_cache_find(&r->caches[LOG_STRIPS], key);
	struct log_item lod;
	const struct log_generation *g;
	struct log_section s;
	struct log_head h;
	struct log_in in;

	if (b || !r->place->sums(r, level, cell, LOG_LOD, zoom, &lod))
		return b;
	if (log_read_chunk(r, &lod, &h, &r->raw)) {
		in = (struct log_in) {r->raw.p, r->raw.p + r->raw.n, false};
		g = log_generation_find(r, h.generation);
		if (!g)
			log_note(r, LOG_FAULT_CHANNELS, lod.at, h.seq, lod.cell, 0);
		if (g && (int)log_get_u8(&in) == zoom && log_in_take(&in, 3))
			while (log_lod_next(&in, &s) > 0)
				if (s.tier == tier && s.columns > 0)
					return lod_keep(r, g, &s, key);
	}
	return log_cache_add(&r->caches[LOG_STRIPS], key, 0, 0, 0); /* empty, so that it is not read again */
}

/* Reads bins first .. first + n - 1 of a LOD. Returns how many of them, from the first on, can be used. */
static size_t lod_bins(struct trace *r, const struct log_block *b, size_t width, unsigned column, int64_t first, size_t n,
		       struct bin *out)
{
	double(*v)[LOG_BINS_MAX] = r->lod.values;
	size_t done;

	for (size_t part = 0; part < PARTS && (r->lod.key != b->key || r->lod.column != column); part++) {
		const struct log_array *a = &b->arrays[part * width + column];

		if (a->p)
			log_array_get(a->p, a->kind, b->n, v[part]);
		for (uint32_t k = 0; !a->p && k < b->n; k++)
			v[part][k] = (double)NAN;
	}
	r->lod.key = b->key;
	r->lod.column = column;
	for (done = 0; done < n; done++) {
		size_t i = (size_t)(first + (int64_t)done - b->first);

		out[done] = (struct bin) {0, 0, 0, 0};
		if (i >= b->n || !(v[3][i] > 0))
			continue;
		if (!(v[3][i] < COUNT_MAX) || !(v[0][i] <= v[1][i]))
			break;
		out[done] = (struct bin) {v[0][i], v[1][i], v[2][i], (uint64_t)v[3][i]};
	}
	return done;
}

/* Adds the rows of a block that are in bins first .. first + n - 1 of a zoom to those bins: n of column `from`, then of the
 * columns after it, as far as `to`. */
static void block_fold(struct trace *r, enum tier tier, int zoom, struct log_block *block, int64_t first, size_t n,
		       unsigned from, unsigned to, struct bin *bins)
{
	const int64_t *t_ns = block->t_ns;
	uint32_t lo = block_from(block, (int64_t)((uint64_t)first << zoom)), hi;

	for (; lo < block->n && (t_ns[lo] >> zoom) - first < (int64_t)n; lo = hi) {
		size_t at = (size_t)((t_ns[lo] >> zoom) - first);

		for (hi = lo + 1; hi < block->n && t_ns[hi] >> zoom == t_ns[lo] >> zoom; hi++)
			;
		if (!bin_order_set(&r->order, t_ns + lo, hi - lo, r->session.hz[tier]))
			return;
		for (unsigned c = from; c < to; c++) {
			struct bin b = bin_order_fold(&r->order, log_block_values(block, c) + lo);

			bin_merge(&bins[(c - from) * n + at], &b);
		}
	}
}

/* The same n bins, where all are of one block, as the merges of those two zooms finer. */
static void strip_join(struct bin *bins, const struct bin *finer, size_t n)
{
	for (size_t i = 0; i < n; i++, finer += 4) {
		struct bin later = finer[2];

		bins[i] = finer[0];
		bin_merge(&bins[i], &finer[1]);
		bin_merge(&later, &finer[3]);
		bin_merge(&bins[i], &later);
	}
}

static struct bin *strip_new(struct trace *r, enum tier tier, int zoom, int64_t cell)
{
	size_t bytes = (r->session.width[tier] << (LOG_CELL_ZOOM - zoom)) * sizeof(struct bin);
	struct log_block *b = log_cache_add(&r->caches[LOG_STRIPS], log_span_key(cell, zoom, tier), 0, 0, bytes);

	return b ? memset(b->records, 0, bytes) : NULL;
}

/* Returns the bins of a zoom, STRIP_FINEST .. LOG_CELL_ZOOM, in a cell: of one channel of the tier after the other.
 * NULL: the cell has no rows, or memory is out. Who draws a zoom also asks for that two finer, to see short drops: both
 * are made of one pass, apart from the finest, which take the most room and are seldom asked for. */
static const struct bin *strip_get(struct trace *r, enum tier tier, int zoom, int64_t cell)
{
	struct log_cache *cache = &r->caches[LOG_STRIPS];
	struct log_block *strip = log_cache_find(cache, log_span_key(cell, zoom, tier)), *block;
	struct bin *bins, *finer = NULL;
	unsigned width = (unsigned)r->session.width[tier];
	size_t n = (size_t)1 << (LOG_CELL_ZOOM - zoom);
	double hz = r->session.hz[tier];
	uint64_t row, end, first;

	if (strip)
		return (const struct bin *)(const void *)strip->records;
	row = log_rows_before(r, tier, cell);
	end = log_rows_before(r, tier, cell + 1);
	if (row == end)
		return NULL;
	if (zoom - 2 > STRIP_FINEST && hz > 0 && zoom - 2 >= zoom_base(hz) && !log_cache_find(cache, log_span_key(cell, zoom - 2, tier)))
		finer = strip_new(r, tier, zoom - 2, cell);
	bins = strip_new(r, tier, zoom, cell);
	for (uint64_t at = row; bins && at < end; at = first + block->n) {
		block = log_block_of(r, tier, at, &first);
		if (!block)
			break;
		if (finer)
			block_fold(r, tier, zoom - 2, block, cell * (int64_t)(4 * n), 4 * n, 0, width, finer);
		if (finer && first == row && first + block->n == end)
			strip_join(bins, finer, width * n);
		else
			block_fold(r, tier, zoom, block, cell * (int64_t)n, n, 0, width, bins);
	}
	return bins;
}

void log_strips_drop(struct trace *r, enum tier tier, int64_t cell)
{
	const uint64_t keys[] = {log_span_key(cell, SPAN_CELL, tier), log_span_key(log_span(cell, 1), SPAN_PARTS, tier)};
	struct log_block *b;

	for (int i = 0; i < 2; i++)
		if ((b = log_cache_find(&r->caches[LOG_STRIPS], keys[i])))
			log_cache_drop(&r->caches[LOG_STRIPS], b);
	for (int zoom = STRIP_FINEST; zoom <= LOG_CELL_ZOOM; zoom++)
		if ((b = log_cache_find(&r->caches[LOG_STRIPS], log_span_key(cell, zoom, tier))))
			log_cache_drop(&r->caches[LOG_STRIPS], b);
}

#define JOINED 32 /* bins at a time */

static bool rows_are_none(struct trace *r, enum tier tier, int64_t from, int64_t to)
{
	return log_cell_ns(from) >= r->rows_from_ns && log_rows_before(r, tier, from) == log_rows_before(r, tier, to);
}

/* Bins first .. first + n - 1 of a zoom that has them, a run of one cell or span after the other: of the rows, a strip or a
 * LOD; else the merges of their halves. */
static void bins_get(struct trace *r, const struct channel *c, int zoom, int64_t first, size_t n, struct bin *out)
{
	int up = zoom - LOG_CELL_ZOOM, level = log_zoom_has(zoom, r->session.hz[c->tier]) ? log_zoom_level(zoom) : 0;
	/* The bins of a cell, of a span with a LOD, or that are joined at a time. */
	int bits = up <= 0 ? -up : level ? LOG_SPAN_BITS * level - up : 0;

	for (size_t run; n > 0; first += (int64_t)run, out += run, n -= run) {
		int64_t cell = up > 0 ? (int64_t)((uint64_t)first << up) : first >> -up;
		size_t in = (size_t)((uint64_t)first & ((UINT64_C(1) << bits) - 1));
		struct bin halves[2 * JOINED];

		run = up <= 0 || level ? ((size_t)1 << bits) - in : JOINED;
		run = run < n ? run : n;
		if (zoom < STRIP_FINEST) {
			uint64_t row = log_rows_before(r, c->tier, cell), end = log_rows_before(r, c->tier, cell + 1), at;
			struct log_block *b;

			memset(out, 0, run * sizeof(*out));
			for (; row < end && (b = log_block_of(r, c->tier, row, &at)); row = at + b->n)
				block_fold(r, c->tier, zoom, b, first, run, c->column, c->column + 1U, out);
			continue;
		}
		if (up <= 0) {
			const struct bin *strip = strip_get(r, c->tier, zoom, cell);

			if (strip)
				memcpy(out, strip + ((size_t)c->column << bits) + in, run * sizeof(*out));
			else
				memset(out, 0, run * sizeof(*out));
			continue;
		}
		if (level) {
			const struct log_block *lod = lod_get(r, level, zoom, c->tier, cell);
			size_t done = lod && lod->n > 0 ? lod_bins(r, lod, r->session.width[c->tier], c->column, first, run, out) : 0;

			if (done > 0) {
				run = done;
				continue;
			}
			run = lod && lod->n > 0 ? 1 : run;
		}
		run = run < JOINED ? run : JOINED;
		/* To look for rows costs more than a few bins. */
		if (up > 2 && rows_are_none(r, c->tier, cell, cell + (int64_t)(run << up))) {
			memset(out, 0, run * sizeof(*out));
			continue;
		}
		bins_get(r, c, zoom - 1, 2 * first, 2 * run, halves);
		for (size_t i = 0; i < run; i++) {
			out[i] = halves[2 * i];
			bin_merge(&out[i], &halves[2 * i + 1]);
		}
	}
}

int log_finest(const struct trace *r, enum tier tier, int64_t t_ns)
{
	if (t_ns >= r->rows_from_ns || !(r->session.hz[tier] > 0))
		return r->session.hz[tier] > 0 ? zoom_base(r->session.hz[tier]) : ZOOM_MIN;
	return r->place->finest(r, tier, t_ns);
}

/* How much coarser than zoom + up the bins are that are left of that column. */
static int coarser(const struct trace *r, enum tier tier, int zoom, int up, int64_t column)
{
	int64_t t_ns = (int64_t)((uint64_t)(column >> up) << (zoom + up));
	int left = t_ns < r->rows_from_ns ? log_finest(r, tier, t_ns) - zoom - up : 0;

	return left > 0 ? left : 0;
}

void trace_columns(struct trace *r, size_t channel, int zoom, int64_t first, size_t n, struct bin *out)
{
	const struct channel *c = &r->channels[channel];
	int64_t at, end, covered;
	int up = 0;

	memset(out, 0, n * sizeof(*out));
	if (!r->any || channel >= r->session.n_channels || zoom > ZOOM_MAX || zoom < 0)
		return;
	/* Below the base zoom, each column is the base bin that covers it. */
	up = log_finest(r, c->tier, INT64_MAX) - zoom;
	up = up > 0 ? up : 0;
	at = (r->first_ns >> zoom >> up) * (INT64_C(1) << up);
	at = at > first ? at : first;
	covered = ((r->last_ns >> zoom >> up) + 1) * (INT64_C(1) << up);
	end = __builtin_add_overflow(first, (int64_t)n, &end) || end > covered ? covered : end;
	pthread_mutex_lock(&r->lock);
	for (int64_t next; at < end; at = next) {
		int left = coarser(r, c->tier, zoom, up, at), by = up + left;
		struct bin b;

		for (next = at + 1; next < end && (by == 0 || next >> by == at >> by) && coarser(r, c->tier, zoom, up, next) == left; next++)
			;
		if (by == 0) {
			bins_get(r, c, zoom, at, (size_t)(next - at), out + (at - first));
			continue;
		}
		bins_get(r, c, zoom + by, at >> by, 1, &b);
		for (int64_t i = at; i < next; i++)
			out[i - first] = b;
	}
	pthread_mutex_unlock(&r->lock);
}

/* --- statistics --- */

/* Returns the records of the STAT of a level for the cell; n = 0 if they are unusable, NULL if there is none. */
static const struct log_block *stat_get(struct trace *r, int level, int64_t cell)
{
	struct log_cache *cache = &r->caches[LOG_STRIPS];
	uint64_t key = log_span_key(log_span(cell, level), level, SPAN_STAT);
	struct log_block *b = log_cache_find(cache, key);
	struct log_item item;
	const uint8_t *p = NULL;
	size_t size = 0;
	uint32_t n = 0;
	struct late_ticks late[LOG_TIERS];
	struct log_head h;

	if (b || !r->place->sums(r, level, cell, LOG_STAT, 0, &item))
		return b;
	if (log_read_chunk(r, &item, &h, &r->raw)) {
		struct log_in in = {r->raw.p, r->raw.p + r->raw.n, false};

		log_get_u16(&in);
		size = log_get_u16(&in);
		n = log_get_u32(&in);
		log_late_get(&in, late);
		p = log_in_take(&in, n * size);
	}
	b = log_cache_add(cache, key, 0, 0, p ? n * size : 0);
	if (b && p) {
		b->n = n;
		b->bytes_each = size;
		memcpy(b->late_ticks, late, sizeof(late));
		log_unshuffle(b->records, p, n, size);
	}
	return b;
}

/* Reads the channel's record in a STAT chunk. Returns false if there is no such chunk. */
static bool stat_stored(struct trace *r, int level, int64_t cell, size_t channel, struct span_stats *out)
{
	const struct log_block *b = stat_get(r, level, cell);

	if (!b || b->n == 0)
		return false;
	*out = (struct span_stats) {.n = 0};
	for (uint32_t i = 0; i < b->n; i++) {
		const uint8_t *p = b->records + i * b->bytes_each;
		struct log_in in = {p, p + LOG_STAT_SIZE, false}, number = in;

		if (log_get_u32(&number) != r->numbers[channel])
			continue;
		log_stat_get(&in, out);
	}
	return true;
}

/* Reads the statistics of the longest span that begins with that cell, ends at or before `end` and has a
 * STAT. */
static bool stat_span(struct trace *r, size_t channel, int64_t cell, int64_t end, struct span_stats *s,
		      int64_t *next)
{
	for (int level = LOG_LEVELS; level > 0; level--) {
		*next = log_span_end(cell, (unsigned)level);
		if (log_span_cell(log_span(cell, level), level) == cell && *next <= end &&
		    stat_stored(r, level, cell, channel, s))
			return true;
	}
	return false;
}

#define FEW_ROWS 8 /* are read faster than found */

/* Statistics of the channel's rows of a cell from from_ns up to to_ns. Those of whole cells are kept for all channels of the
 * tier, since others are asked for next. */
static struct span_stats stat_cell(struct trace *r, const struct channel *c, int64_t cell, int64_t from_ns, int64_t to_ns)
{
	uint64_t row = log_rows_before(r, c->tier, cell), end = log_rows_before(r, c->tier, cell + 1), first;
	bool keep = end - row >= FEW_ROWS && from_ns <= log_cell_ns(cell) && to_ns >= log_cell_ns(cell + 1);
	size_t from = keep ? 0 : c->column, n = keep ? r->session.width[c->tier] : 1;
	struct log_cache *cache = &r->caches[LOG_STRIPS];
	struct log_block *kept = keep ? log_cache_find(cache, log_span_key(cell, SPAN_CELL, c->tier)) : NULL;
	int64_t cover = stats_hole_ns(r->session.hz[c->tier]);
	struct span_stats one = {.n = 0}, part, *all = &one;

	if (kept)
		return ((struct span_stats *)(void *)kept->records)[c->column];
	if (keep) {
		kept = log_cache_add(cache, log_span_key(cell, SPAN_CELL, c->tier), 0, 0, n * sizeof(*all));
		if (!kept)
			return one;
		all = memset(kept->records, 0, n * sizeof(*all));
	}
	while (row < end) {
		struct log_block *b = log_block_of(r, c->tier, row, &first);
		uint32_t lo, hi;

		if (!b)
			break;
		lo = block_from(b, from_ns);
		hi = block_from(b, to_ns);
		for (size_t i = 0; lo < hi && i < n; i++) {
			span_stats_rows(&part, b->t_ns + lo, log_block_values(b, (unsigned)(from + i)) + lo, hi - lo, cover);
			span_stats_join(&all[i], &part, cover);
		}
		row = first + b->n;
	}
	return all[c->column - from];
}

void trace_stat(struct trace *r, size_t channel, int64_t from_ns, int64_t to_ns, struct span_stats *out)
{
	const struct channel *c = &r->channels[channel];
	int64_t cover = stats_hole_ns(r->session.hz[c->tier]), cell, next = 0;
	struct span_stats s;
	uint64_t row;

	*out = (struct span_stats) {.n = 0};
	pthread_mutex_lock(&r->lock);
	from_ns = r->any && from_ns > r->first_ns ? from_ns : r->first_ns;
	to_ns = to_ns <= r->last_ns ? to_ns : r->last_ns + 1;
	for (cell = log_cell(from_ns); r->any && from_ns < to_ns; cell = next) {
		int64_t at;

		row = log_rows_before(r, c->tier, cell);
		if (row >= r->rows[c->tier])
			break;
		/* Spans without rows have no STAT. */
		at = log_cell_of_row(r, c->tier, row);
		if (log_span(at, 1) > log_span(cell, 1))
			cell = log_span_cell(log_span(at, 1), 1);
		if (log_cell_ns(cell) >= to_ns)
			break;
		if (log_cell_ns(cell) < from_ns || !stat_span(r, channel, cell, log_cell(to_ns), &s, &next)) {
			cell = cell > at ? cell : at;
			next = cell + 1;
			s = stat_cell(r, c, cell, from_ns, to_ns);
		}
		span_stats_join(out, &s, cover);
	}
	out->channel = r->numbers[channel];
	pthread_mutex_unlock(&r->lock);
}

/* --- late ticks --- */

size_t trace_late(struct trace *r, enum tier tier, uint64_t row, size_t n, struct gap *out)
{
	int64_t before_ns = r->session.start.mono_ns;
	uint64_t end = row + n, first;
	struct log_block *b;
	size_t found = 0;

	pthread_mutex_lock(&r->lock);
	if (row > 0)
		rows_get(r, tier, row - 1, 1, &before_ns, NULL, 0, NULL);
	while (row < end && (b = log_block_of(r, tier, row, &first)))
		for (size_t i = (size_t)(row - first); i < b->n && row < end; before_ns = b->t_ns[i++], row++)
			if (b->late[i])
				out[found++] = (struct gap) {tier, GAP_LATE, before_ns, b->t_ns[i], 1};
	pthread_mutex_unlock(&r->lock);
	return found;
}

void trace_late_ticks(struct trace *r, enum tier tier, uint64_t row, uint64_t end,
			   struct late_ticks *out)
{
	struct gap late[LATE_ROWS];

	*out = (struct late_ticks) {0, 0};
	while (row < end) {
		uint64_t to = end - row < LATE_ROWS ? end : row + LATE_ROWS;
		int64_t t_ns, cell, next = 0;
		const struct log_block *stat = NULL;

		/* Of the longest span that begins with this row and ends before `end`, or else of some rows. */
		trace_row_times(r, tier, row, 1, &t_ns);
		cell = log_span_cell(log_span(log_cell(t_ns), 1), 1);
		pthread_mutex_lock(&r->lock);
		for (int level = LOG_LEVELS; level > 0 && !stat; level--) {
			int64_t from = log_span_cell(log_span(cell, level), level);

			next = log_span_end(cell, (unsigned)level);
			if (log_rows_before(r, tier, from) == row && log_rows_before(r, tier, next) <= end)
				stat = stat_get(r, level, cell);
		}
		if (stat && stat->n > 0) {
			late_join(out, &stat->late_ticks[tier]);
			to = log_rows_before(r, tier, next);
		} else {
			next = (int64_t)log_rows_before(r, tier, log_span_end(cell, 1));
			to = (uint64_t)next > row && (uint64_t)next < to ? (uint64_t)next : to;
		}
		pthread_mutex_unlock(&r->lock);
		for (size_t i = 0, n = stat ? 0 : trace_late(r, tier, row, (size_t)(to - row), late);
		     i < n; i++)
			late_join(out, &(struct late_ticks) {1, late[i].to_ns - late[i].from_ns});
		row = to;
	}
}
