/* Queries on the rows of a log: values and times, bins of any zoom, from stored ones where possible, and
 * statistics of any interval. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log-lod.h"
#include "trace/log-tree.h"

#define COUNT_MAX 9007199254740992.0 /* 2^53 */

/* --- rows --- */

/* Reads at most n rows of one chunk and returns their number. If out of memory, they have the last time of
 * the log and no values. */
static size_t rows_get(struct log_reader *r, enum tier tier, uint64_t row, size_t n, int64_t *t_ns,
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

void log_reader_times(struct log_reader *r, enum tier tier, uint64_t first, size_t n, int64_t *out)
{
	pthread_mutex_lock(&r->lock);
	for (size_t done = 0; done < n;)
		done += rows_get(r, tier, first + done, n - done, out + done, NULL, 0, NULL);
	pthread_mutex_unlock(&r->lock);
}

void log_reader_values(struct log_reader *r, size_t channel, uint64_t first, size_t n, double *out)
{
	enum tier tier = r->channels[channel].tier;

	pthread_mutex_lock(&r->lock);
	for (size_t done = 0; done < n;)
		done += rows_get(r, tier, first + done, n - done, NULL, &channel, 1, &(double *) {out + done});
	pthread_mutex_unlock(&r->lock);
}

size_t log_reader_read(struct log_reader *r, enum tier tier, uint64_t row, size_t most, int64_t *t_ns,
		       const size_t *channels, size_t n_channels, double *const *values)
{
	size_t n;

	pthread_mutex_lock(&r->lock);
	n = rows_get(r, tier, row, most, t_ns, channels, n_channels, values);
	pthread_mutex_unlock(&r->lock);
	return n;
}

void log_reader_count(struct log_reader *r, enum tier tier, uint64_t row, size_t n, const size_t *channels,
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

uint64_t log_reader_row_from(struct log_reader *r, enum tier tier, int64_t t_ns)
{
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

/* Returns the level whose spans have bins of that zoom, or 0. */
static int zoom_level(int zoom)
{
	for (int level = 1; level <= LOG_LEVELS; level++)
		for (const uint8_t *z = log_zooms[level]; *z; z++)
			if (*z == zoom)
				return level;
	return 0;
}

/* Whether all bins of the section are in the span of the LOD. */
static bool bins_fit(const struct log_section *s, const struct log_item *lod, int zoom, int level)
{
	int bits = LOG_CELL_ZOOM + LOG_SPAN_BITS * level - zoom;
	int64_t first = (int64_t)((uint64_t)log_span(lod->cell, level) << bits);

	return s->first >= first && (uint64_t)s->first - (uint64_t)first + s->n <= UINT64_C(1) << bits;
}

enum { PARTS = 4 };

static struct log_block *bins_decode(struct log_reader *r, const struct log_generation *g,
				     const struct log_section *s, uint64_t key)
{
	enum tier tier = (enum tier)s->tier;
	size_t width = r->session.width[tier], columns = s->columns / PARTS;
	struct log_block *b = log_cache_add(&r->caches[LOG_LODS], key, 0, PARTS * width * s->n, 0);
	struct log_walk w;
	bool known = true;

	if (!b)
		return NULL;
	b->first = s->first;
	for (size_t i = 0; i < PARTS * width * s->n; i++)
		b->values[i] = (double)NAN;
	log_walk_begin(&w, s);
	for (size_t c = 0; c < s->columns; c++) {
		size_t part = c / columns, of = c % columns;
		unsigned to = of < g->width[tier] ? g->column[tier][of] : NO_COLUMN;

		if (to != NO_COLUMN)
			known &= log_walk_get(&w, b->values + (part * width + to) * s->n);
		else
			log_walk_skip(&w, 1);
	}
	b->n = known ? s->n : 0;
	return b;
}

/* Returns the bins of a tier in a LOD chunk, n = 0 if they are unusable, or NULL if out of memory. */
static const struct log_block *bins_get(struct log_reader *r, const struct log_item *lod, int zoom, int level,
					enum tier tier)
{
	uint64_t key = lod->at * 4 + tier;
	const struct log_block *b = log_cache_find(&r->caches[LOG_LODS], key);
	const struct log_generation *g;
	struct log_section s;
	struct log_head h;
	struct log_in in;

	if (b)
		return b;
	if (!log_read_chunk(r, lod, &h, &r->raw))
		return log_cache_add(&r->caches[LOG_LODS], key, 0, 0, 0);
	in = (struct log_in) {r->raw.p, r->raw.p + r->raw.n, false};
	g = log_generation_find(r, h.generation);
	if ((int)log_get_u8(&in) == zoom && g && log_in_take(&in, 3))
		while (log_lod_next(&in, &s) > 0)
			if (s.tier == tier && s.columns > 0 && bins_fit(&s, lod, zoom, level))
				return bins_decode(r, g, &s, key);
	if (in.bad || !g)
		log_note(r, g ? LOG_FAULT_CONTENT : LOG_FAULT_CHANNELS, lod->at, h.seq, lod->cell, 0);
	return log_cache_add(&r->caches[LOG_LODS], key, 0, 0, 0); /* empty, so that it is not read again */
}

static bool bin_of(const struct log_block *b, size_t width, unsigned column, int64_t at, struct bin *out)
{
	size_t i = (size_t)(at - b->first), plane = width * b->n, c = column * (size_t)b->n;
	double count;

	*out = (struct bin) {0, 0, 0, 0};
	if (at < b->first || i >= b->n)
		return true;
	count = b->values[3 * plane + c + i];
	if (!(count > 0))
		return true;
	*out = (struct bin) {b->values[c + i], b->values[plane + c + i], b->values[2 * plane + c + i], 0};
	if (!(count < COUNT_MAX) || !(out->min <= out->max))
		return false;
	out->n = (uint64_t)count;
	return true;
}

/* Returns the LOD of a zoom or the STAT of that level for the cell; NULL if there is none. */
static const struct log_item *summary_of(struct log_reader *r, int level, int64_t cell, enum log_kind kind, int aux)
{
	const struct log_item *index = log_index_of(r, level, cell), *list;
	size_t n;

	if (!index || index->kind != LOG_INDEX)
		return NULL;
	list = log_list_of(r, index, &n);
	for (size_t i = 0; i < n; i++)
		if (list[i].kind == kind && list[i].aux == aux && list[i].cell == index->cell)
			return &list[i];
	return NULL;
}

/* Reads a bin from its LOD. Returns false if no LOD has it. */
static bool bin_stored(struct log_reader *r, const struct channel *c, int zoom, int64_t at, struct bin *out)
{
	int level = zoom_level(zoom);
	int64_t cell = (int64_t)((uint64_t)at << (zoom - LOG_CELL_ZOOM));
	const struct log_item *lod;
	const struct log_block *b;

	if (!level || !log_zoom_has(zoom, r->session.hz[c->tier]))
		return false;
	lod = summary_of(r, level, cell, LOG_LOD, zoom);
	b = lod ? bins_get(r, lod, zoom, level, c->tier) : NULL;
	return b && b->n > 0 && bin_of(b, r->session.width[c->tier], c->column, at, out);
}

/* Computes a bin, which is at most one cell long, from its rows. */
static struct bin bin_rows(struct log_reader *r, const struct channel *c, int zoom, int64_t at)
{
	int64_t cell = at >> (LOG_CELL_ZOOM - zoom);
	int64_t from = (int64_t)((uint64_t)at << zoom), last = from + (INT64_C(1) << zoom) - 1;
	uint64_t row = log_rows_before(r, c->tier, cell), first;
	struct bin sum = {0, 0, 0, 0}, b;

	while (row < r->rows[c->tier]) {
		struct log_block *block = log_block_of(r, c->tier, row, &first);
		uint32_t lo, hi;

		if (!block || block->cell != cell)
			break;
		lo = block_from(block, from);
		hi = last == INT64_MAX ? block->n : block_from(block, last + 1);
		if (hi > lo && bin_order_set(&r->order, block->t_ns + lo, hi - lo, r->session.hz[c->tier])) {
			b = bin_order_fold(&r->order, log_block_values(block, c->column) + lo);
			bin_merge(&sum, &b);
		}
		row = first + block->n;
	}
	return sum;
}

static struct bin bin_any(struct log_reader *r, const struct channel *c, int zoom, int64_t at)
{
	int64_t cell = zoom > LOG_CELL_ZOOM ? (int64_t)((uint64_t)at << (zoom - LOG_CELL_ZOOM)) : 0;
	struct bin b = {0, 0, 0, 0}, later;

	if (zoom <= LOG_CELL_ZOOM)
		return bin_rows(r, c, zoom, at);
	if (!(r->view && log_view_gone(r->view, cell)) &&
	    log_rows_before(r, c->tier, cell) ==
		    log_rows_before(r, c->tier, cell + (INT64_C(1) << (zoom - LOG_CELL_ZOOM))))
		return b;
	if (bin_stored(r, c, zoom, at, &b))
		return b;
	b = bin_any(r, c, zoom - 1, 2 * at);
	later = bin_any(r, c, zoom - 1, 2 * at + 1);
	bin_merge(&b, &later);
	return b;
}

void log_reader_columns(struct log_reader *r, size_t channel, int zoom, int64_t first, size_t n, struct bin *out)
{
	const struct channel *c = &r->channels[channel];
	int base = r->session.hz[c->tier] > 0 ? zoom_base(r->session.hz[c->tier]) : ZOOM_MIN, up;
	int64_t lo, hi, before = INT64_MIN;

	memset(out, 0, n * sizeof(*out));
	if (!r->any || zoom > ZOOM_MAX || zoom < 0)
		return;
	/* Below the base zoom, each column is the base bin that covers it. */
	up = zoom < base ? base - zoom : 0;
	lo = r->first_ns >> zoom >> up;
	hi = r->last_ns >> zoom >> up;
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < n; i++) {
		int64_t at = first;
		int left;

		if (__builtin_add_overflow(first, (int64_t)i, &at) || (at >>= up) > hi)
			break;
		if (at < lo)
			continue;
		left = r->view ? log_view_finest(r->view, c->tier, (int64_t)((uint64_t)at << (zoom + up))) - zoom - up : 0;
		left = left > 0 ? left : 0;
		at >>= left;
		out[i] = (up || left) && i > 0 && at == before ? out[i - 1] : bin_any(r, c, zoom + up + left, at);
		before = at;
	}
	pthread_mutex_unlock(&r->lock);
}

/* --- statistics --- */

/* Reads the channel's record in a STAT chunk. Returns false if there is no such chunk. */
static bool stat_stored(struct log_reader *r, int level, int64_t cell, size_t channel, struct span_stats *out)
{
	const struct log_item *item = summary_of(r, level, cell, LOG_STAT, level);
	struct log_cache *cache = &r->caches[LOG_LODS];
	struct log_block *b;
	struct log_head h;

	if (!item)
		return false;
	b = log_cache_find(cache, item->at * 4 + 3);
	if (!b && log_read_chunk(r, item, &h, &r->raw)) {
		struct log_in in = {r->raw.p, r->raw.p + r->raw.n, false};
		bool good = log_get_u8(&in) == (unsigned)level && log_in_take(&in, 1);
		size_t size = log_get_u16(&in);
		uint32_t n = log_get_u32(&in);
		const uint8_t *p = good && !in.bad && size >= LOG_STAT_SIZE && n <= LOG_CHANNELS
					   ? log_in_take(&in, n * size)
					   : NULL;
		uint8_t *plain = p ? malloc(n * size + 1) : NULL;

		b = plain ? log_cache_add(cache, item->at * 4 + 3, 0, 0, n * LOG_STAT_SIZE) : NULL;
		if (b) {
			b->n = n;
			log_unshuffle(plain, p, n, size);
			for (uint32_t i = 0; i < n; i++)
				memcpy(b->records + i * LOG_STAT_SIZE, plain + i * size, LOG_STAT_SIZE);
		} else if (!p) {
			log_note(r, LOG_FAULT_CONTENT, item->at, h.seq, item->cell, 0);
		}
		free(plain);
	}
	if (!b)
		return false;
	*out = (struct span_stats) {.n = 0};
	for (uint32_t i = 0; i < b->n; i++) {
		struct log_in in = {b->records + i * LOG_STAT_SIZE, b->records + (i + 1) * LOG_STAT_SIZE, false};
		struct log_in number = in;

		if (log_get_u32(&number) != r->numbers[channel])
			continue;
		if (!log_stat_get(&in, out) || log_span(log_cell(out->first_ns), level) != log_span(cell, level) ||
		    log_span(log_cell(out->last_ns), level) != log_span(cell, level)) {
			log_note(r, LOG_FAULT_CONTENT, item->at, LOG_SEQ_NONE, item->cell, 0);
			return false;
		}
	}
	return true;
}

/* Joins the statistics of rows row .. end - 1 to *to. */
static void stat_rows(struct log_reader *r, const struct channel *c, uint64_t row, uint64_t end, int64_t cover,
		      struct span_stats *to)
{
	while (row < end) {
		struct span_stats s;
		uint64_t first;
		struct log_block *b = log_block_of(r, c->tier, row, &first);
		size_t skip = b ? (size_t)(row - first) : 0, n;

		if (!b)
			return;
		n = b->n - skip < end - row ? b->n - skip : (size_t)(end - row);
		span_stats_rows(&s, b->t_ns + skip, log_block_values(b, c->column) + skip, n, cover);
		span_stats_join(to, &s, cover);
		row += n;
	}
}

/* Reads the statistics of the longest span that begins with that cell, ends at or before `end` and has a
 * STAT. */
static bool stat_span(struct log_reader *r, size_t channel, int64_t cell, int64_t end, struct span_stats *s,
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

void log_reader_stat(struct log_reader *r, size_t channel, int64_t from_ns, int64_t to_ns, struct span_stats *out)
{
	const struct channel *c = &r->channels[channel];
	int64_t cover = stats_hole_ns(r->session.hz[c->tier]), next = 0;
	uint64_t row = log_reader_row_from(r, c->tier, from_ns), end = log_reader_row_from(r, c->tier, to_ns);
	int64_t cell = log_cell(from_ns - 1) + 1, last = log_cell(to_ns);

	*out = (struct span_stats) {.channel = r->numbers[channel]};
	pthread_mutex_lock(&r->lock);
	while (row < end) {
		struct span_stats s;
		uint64_t to, first;
		struct log_block *b = log_block_of(r, c->tier, row, &first);

		/* Skip spans without rows: they have no STAT. */
		if (b && row == first && log_span(b->cell, 1) > log_span(cell, 1))
			cell = log_span_cell(log_span(b->cell, 1), 1);
		if (log_rows_before(r, c->tier, cell) == row && stat_span(r, channel, cell, last, &s, &next)) {
			span_stats_join(out, &s, cover);
			cell = next;
			row = log_rows_before(r, c->tier, cell);
			continue;
		}
		if (log_rows_before(r, c->tier, cell) <= row)
			cell = log_span_cell(log_span(cell, 1) + 1, 1);
		to = log_rows_before(r, c->tier, cell);
		to = to < end ? to : end;
		stat_rows(r, c, row, to, cover, out);
		row = to;
	}
	pthread_mutex_unlock(&r->lock);
}
