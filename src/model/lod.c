/* Each zoom is a ring of slots, and a slot contains the bins of all channels side by side, so that a row
 * touches one contiguous range of memory per zoom. All channels of a tier share the times, so one tag per
 * slot identifies its column; older contents, and columns that a gap skipped, have another tag. */
#include "model/lod.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct level {
	int64_t newest; /* column number */
	int64_t *tags;  /* per slot: column number + 1 */
	unsigned char *slots;
};

struct lod {
	size_t width, stride;
	int64_t columns; /* per ring */
	int base, levels;
	int64_t period_ns;
	uint64_t rows;
	int64_t first_ns, last_ns;
	int64_t *times; /* of the newest rows; row i is at i % LOD_TIMES */
	double *last_row;
	void *memory;
	size_t size;
	struct level level[ZOOM_MAX - ZOOM_MIN + 1];
};

/* min, max and sum are doubles, n is 32 bits: 28 bytes per bin. A column cannot have more rows than n can
 * count (39 hours at 10 kHz are 1.4e9). */
static size_t stride_of(size_t width)
{
	return (width * (3 * sizeof(double) + sizeof(uint32_t)) + 7) / 8 * 8;
}

size_t lod_column_bytes(size_t width, double hz)
{
	return (size_t)(ZOOM_MAX - zoom_base(hz) + 1) * (sizeof(int64_t) + stride_of(width));
}

size_t lod_fixed_bytes(size_t width)
{
	return LOD_TIMES * sizeof(int64_t) + width * sizeof(double);
}

struct lod *lod_new(size_t width, double hz, size_t columns)
{
	struct lod *p = calloc(1, sizeof(*p));
	unsigned char *at;
	size_t per_level;

	if (!p)
		return NULL;
	p->width = width;
	p->base = zoom_base(hz);
	p->levels = ZOOM_MAX - p->base + 1;
	p->period_ns = llround((double)NS_PER_S / hz);
	p->stride = stride_of(width);
	p->columns = (int64_t)columns;
	per_level = columns * (sizeof(int64_t) + p->stride);
	p->size = (size_t)p->levels * per_level + lod_fixed_bytes(width);
	p->memory = mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			 -1, 0);
	if (p->memory == MAP_FAILED) {
		free(p);
		return NULL;
	}
	/* The coarse zooms touch a few bytes each. */
	madvise(p->memory, p->size, MADV_NOHUGEPAGE);
	at = p->memory;
	for (int l = 0; l < p->levels; l++) {
		p->level[l].slots = at;
		p->level[l].tags = (int64_t *)(void *)(at + columns * p->stride);
		at += per_level;
	}
	p->times = (int64_t *)(void *)at;
	p->last_row = (double *)(void *)(at + LOD_TIMES * sizeof(int64_t));
	return p;
}

void lod_free(struct lod *p)
{
	if (!p)
		return;
	munmap(p->memory, p->size);
	free(p);
}

static unsigned char *slot_at(const struct lod *p, int l, int64_t index)
{
	return p->level[l].slots + (size_t)(index % p->columns) * p->stride;
}

static double *slot_values(unsigned char *slot)
{
	return (double *)(void *)slot;
}

static uint32_t *slot_counts(const struct lod *p, unsigned char *slot)
{
	return (uint32_t *)(void *)(slot + p->width * 3 * sizeof(double));
}

static struct bin load(const struct lod *p, unsigned char *slot, size_t column)
{
	const double *v = slot_values(slot) + 3 * column;

	return (struct bin) {v[0], v[1], v[2], slot_counts(p, slot)[column]};
}

static void store(const struct lod *p, unsigned char *slot, size_t column, const struct bin *b)
{
	double *v = slot_values(slot) + 3 * column;

	v[0] = b->min;
	v[1] = b->max;
	v[2] = b->sum;
	slot_counts(p, slot)[column] = (uint32_t)b->n;
}

/* Starts a new, empty newest column. */
static void open_column(struct lod *p, int l, int64_t index)
{
	p->level[l].newest = index;
	p->level[l].tags[index % p->columns] = index + 1;
	memset(slot_counts(p, slot_at(p, l, index)), 0, p->width * sizeof(uint32_t));
}

/* Merges the newest column of level l, now complete, into its parent. A row changes only its column of the
 * finest zoom, so the newest slot of a coarser zoom lacks the contents of its unfinished child; a query
 * adds them. A column is thus always the merge of its two children, in the same order of additions as in
 * a reader of the same rows, and equal bit for bit. */
static void merge_up(struct lod *p, int l)
{
	unsigned char *child = slot_at(p, l, p->level[l].newest);
	unsigned char *parent = slot_at(p, l + 1, p->level[l + 1].newest);

	for (size_t i = 0; i < p->width; i++) {
		struct bin from = load(p, child, i), into = load(p, parent, i);

		bin_merge(&into, &from);
		store(p, parent, i, &into);
	}
}

static void move_on(struct lod *p, int64_t index)
{
	int changed = 0;

	for (; changed < p->levels && (!p->rows || index >> changed != p->level[changed].newest); changed++) {
		if (p->rows && changed + 1 < p->levels)
			merge_up(p, changed);
	}
	for (int l = 0; l < changed; l++)
		open_column(p, l, index >> l);
}

void lod_push(struct lod *p, int64_t t_ns, const double *values)
{
	int64_t index = t_ns >> p->base;
	unsigned char *slot;

	if (t_ns < 0 || (p->rows && t_ns <= p->last_ns))
		return;
	if (!p->rows || index != p->level[0].newest)
		move_on(p, index);
	slot = slot_at(p, 0, index);
	for (size_t i = 0; i < p->width; i++) {
		struct bin b = load(p, slot, i);

		bin_add(&b, values[i]);
		store(p, slot, i, &b);
	}
	if (!p->rows)
		p->first_ns = t_ns;
	p->last_ns = t_ns;
	p->times[p->rows % LOD_TIMES] = t_ns;
	memcpy(p->last_row, values, p->width * sizeof(double));
	p->rows++;
}

bool lod_extent(const struct lod *p, int64_t *first_ns, int64_t *last_ns)
{
	if (!p->rows)
		return false;
	*first_ns = p->first_ns;
	*last_ns = p->last_ns;
	return true;
}

/* The newest column of a level, including its unfinished children. */
static struct bin growing(const struct lod *p, int level, size_t column)
{
	struct bin b = load(p, slot_at(p, 0, p->level[0].newest), column);

	for (int l = 1; l <= level; l++) {
		struct bin above = load(p, slot_at(p, l, p->level[l].newest), column);

		bin_merge(&above, &b);
		b = above;
	}
	return b;
}

/* Is the column still in the ring of its level, or newer? */
static bool is_held(const struct lod *p, int l, int64_t index)
{
	return index > p->level[l].newest - p->columns;
}

static bool has_rows(const struct lod *p, int l, int64_t index)
{
	return index >= 0 && is_held(p, l, index) && p->level[l].tags[index % p->columns] == index + 1;
}

/* For a column that has left its ring, the finest available one that covers it. */
static struct bin column_at(const struct lod *p, int l, size_t column, int64_t index)
{
	static const struct bin empty;

	if (!p->rows || index < 0)
		return empty;
	while (l + 1 < p->levels && !is_held(p, l, index)) {
		l++;
		index >>= 1;
	}
	if (!has_rows(p, l, index))
		return empty;
	if (index == p->level[l].newest)
		return growing(p, l, column);
	return load(p, slot_at(p, l, index), column);
}

void lod_columns(const struct lod *p, size_t column, int zoom, int64_t first, size_t n, struct bin *out)
{
	int finer = zoom < p->base ? p->base - zoom : 0;
	int level = zoom < p->base ? 0 : zoom > ZOOM_MAX ? p->levels - 1 : zoom - p->base;

	for (size_t i = 0; i < n; i++) {
		int64_t index;

		if (__builtin_add_overflow(first, (int64_t)i, &index))
			index = -1;
		out[i] = column_at(p, level, column, index >> finer);
	}
}

int lod_finest(const struct lod *p, int64_t t_ns)
{
	int l = 0;

	while (p->rows && l + 1 < p->levels && !is_held(p, l, t_ns >> (p->base + l)))
		l++;
	return p->base + l;
}

/* Index of the first row with a stored time at or after t_ns (after t_ns, with or_equal). */
static uint64_t rows_before(const struct lod *p, int64_t t_ns, bool or_equal)
{
	uint64_t lo = p->rows > LOD_TIMES ? p->rows - LOD_TIMES : 0, hi = p->rows;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;
		int64_t at = p->times[mid % LOD_TIMES];

		if (at < t_ns || (or_equal && at == t_ns))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static uint64_t oldest_timed(const struct lod *p)
{
	return p->rows > LOD_TIMES ? p->rows - LOD_TIMES : 0;
}

static double mean(const struct bin *b)
{
	return b->n ? b->sum / (double)b->n : (double)NAN;
}

/* The newest non-empty column that begins at or before t_ns, in the finest zoom that still has one. */
static double value_of_column(const struct lod *p, size_t column, int64_t t_ns, int64_t *at_ns)
{
	for (int l = 0; l < p->levels; l++) {
		int64_t index = t_ns >> (p->base + l);

		for (; index >= 0 && is_held(p, l, index); index--) {
			struct bin b;
			int64_t end_ns = ((index + 1) << (p->base + l)) - 1;

			if (!has_rows(p, l, index))
				continue;
			b = column_at(p, l, column, index);
			*at_ns = end_ns < t_ns ? end_ns : t_ns;
			return mean(&b);
		}
	}
	return (double)NAN;
}

double lod_value(const struct lod *p, size_t column, int64_t t_ns, int64_t *at_ns)
{
	uint64_t before;
	struct bin b;

	*at_ns = t_ns;
	if (!p->rows || t_ns < p->first_ns)
		return (double)NAN;
	if (t_ns >= p->last_ns) {
		*at_ns = p->last_ns;
		return p->last_row[column];
	}
	before = rows_before(p, t_ns, true);
	if (before == oldest_timed(p))
		return value_of_column(p, column, t_ns, at_ns);
	*at_ns = p->times[(before - 1) % LOD_TIMES];
	b = column_at(p, 0, column, *at_ns >> p->base);
	return mean(&b);
}

int64_t lod_step(const struct lod *p, int64_t t_ns, int n)
{
	uint64_t oldest = oldest_timed(p);
	int64_t from_ns = t_ns, by = n;

	if (!p->rows || !n)
		return t_ns;
	if (t_ns >= p->times[oldest % LOD_TIMES]) {
		int64_t row = (int64_t)rows_before(p, t_ns, n > 0) + n - (n > 0);

		if (row >= (int64_t)p->rows)
			return p->last_ns;
		if (row >= (int64_t)oldest)
			return p->times[(uint64_t)row % LOD_TIMES];
		from_ns = p->times[oldest % LOD_TIMES];
		by = row - (int64_t)oldest;
	}
	if (__builtin_mul_overflow(by, p->period_ns, &by) || __builtin_add_overflow(from_ns, by, &from_ns))
		return n < 0 ? p->first_ns : p->last_ns;
	return from_ns < p->first_ns ? p->first_ns : from_ns > p->last_ns ? p->last_ns : from_ns;
}
