/* Columns as they are made: by the recorder from rows, by the join from the
 * recorder's columns, by the reader from the rows of a trace that has none.
 * All three use the same folds, so that the same rows give the same bytes. */
#include "trace/course.h"

#include <math.h>
#include <stdlib.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef double pair __attribute__((vector_size(16)));
typedef int64_t mask __attribute__((vector_size(16)));

static inline pair pair_at(const double *p)
{
	pair x;

	memcpy(&x, p, sizeof(x));
	return x;
}

static inline void pair_put(double *p, pair x)
{
	memcpy(p, &x, sizeof(x));
}

static inline void add_rows(double *restrict to, const double *restrict from, size_t stride)
{
	for (size_t i = 0; i < stride; i += 2)
		pair_put(to + i, pair_at(to + i) + pair_at(from + i));
}

static void course_clear(struct course *c)
{
	for (size_t i = 0; i < c->width; i++) {
		c->min[i] = (double)INFINITY;
		c->max[i] = (double)-INFINITY;
		c->n[i] = 0;
	}
	c->branches = 0;
	c->open = false;
	c->rows = 0;
}

int course_init(struct course *c, size_t width, int base, int top)
{
	size_t levels = (size_t)(top - base + 1), stride = course_stride(width);

	memset(c, 0, sizeof(*c));
	c->base = base;
	c->top = top;
	c->width = width;
	c->memory = calloc((levels + 3) * stride, sizeof(*c->memory));
	if (!c->memory)
		return -1;
	for (size_t k = 0; k < levels; k++)
		c->sums[k] = c->memory + k * stride;
	c->min = c->memory + levels * stride;
	c->max = c->min + stride;
	c->n = (uint64_t *)(void *)(c->max + stride);
	course_clear(c);
	return 0;
}

void course_free(struct course *c)
{
	free(c->memory);
	c->memory = NULL;
}

/* The branches of `levels` zooms from base up end: each goes into that of the next
 * coarser zoom, or becomes it. */
static void branches_close(struct course *c, int levels)
{
	uint64_t branches = c->branches, bit = 1;

	for (int k = 0; k < levels; k++, bit <<= 1) {
		double *below = c->sums[k];

		if (!(branches & bit))
			continue;
		if (branches & bit << 1) {
			add_rows(c->sums[k + 1], below, course_stride(c->width));
		} else {
			c->sums[k] = c->sums[k + 1];
			c->sums[k + 1] = below;
		}
		branches = (branches | bit << 1) ^ bit;
	}
	c->branches = branches;
}

/* What goes in next belongs to this column. */
static inline void course_at(struct course *c, int64_t column, uint64_t row)
{
	if (c->open && column != c->column) {
		int levels = 64 - __builtin_clzll((uint64_t)(column ^ c->column));

		branches_close(c, levels < c->top - c->base ? levels : c->top - c->base);
	}
	if (!c->open)
		c->row = row;
	c->open = true;
	c->column = column;
}

static inline pair choose(mask m, pair a, pair b)
{
	return (pair)(((mask)a & m) | ((mask)b & ~m));
}

/* x < y ? x : y, also for what is not a number */
static inline pair lower(pair x, pair y)
{
#ifdef __SSE2__
	return (pair)_mm_min_pd((__m128d)x, (__m128d)y);
#else
	return choose(x < y, x, y);
#endif
}

static inline pair higher(pair x, pair y)
{
#ifdef __SSE2__
	return (pair)_mm_max_pd((__m128d)x, (__m128d)y);
#else
	return choose(x > y, x, y);
#endif
}

/* Two channels at a time.  What is missing is -0.0 in the sums, to which the first
 * row of a branch need not be added. */
static inline void row_add(struct course *c, const double *restrict values, bool first)
{
	double *restrict sum = c->sums[0], *restrict min = c->min, *restrict max = c->max;
	uint64_t *restrict n = c->n;
	size_t width = c->width;

	for (size_t i = 0; i < width; i += 2) {
		const pair none = {-0.0, -0.0};
		pair x = i + 1 < width ? pair_at(values + i) : (pair) {values[i], values[i]};
		mask there = x == x, count;
		pair part = choose(there, x, none);

		pair_put(sum + i, first ? part : pair_at(sum + i) + part);
		pair_put(min + i, lower(x, pair_at(min + i)));
		pair_put(max + i, higher(x, pair_at(max + i)));
		memcpy(&count, n + i, sizeof(count));
		count -= there;
		memcpy(n + i, &count, sizeof(count));
	}
}

void course_row(struct course *c, int64_t t_ns, uint64_t row, const double *values)
{
	course_at(c, t_ns >> c->base, row);
	c->rows++;
	if (c->branches & 1)
		row_add(c, values, false);
	else
		row_add(c, values, true);
	c->branches |= 1;
}

struct bounds {
	pair min, max;
	mask n;
};

static inline void bounds_add(struct bounds *b, double *v)
{
	const pair none = {-0.0, -0.0};
	pair x = pair_at(v);
	mask there = x == x;

	b->min = lower(x, b->min);
	b->max = higher(x, b->max);
	b->n -= there;
	pair_put(v, choose(there, x, none));
}

/* Bounds and counts of four channels over n rows; what is missing becomes -0.0. */
static void bounds_of(double *v, size_t n, size_t stride, struct bounds out[2])
{
	const pair inf = {(double)INFINITY, (double)INFINITY};
	struct bounds a = {inf, -inf, {0, 0}}, b = a;

	for (size_t i = 0; i < n; i++, v += stride) {
		bounds_add(&a, v);
		bounds_add(&b, v + 2);
	}
	out[0] = a;
	out[1] = b;
}

/* A whole column of zoom top: rows are added pair by pair where they lie, in any
 * order that has the halves before the whole. */
void course_column(struct course *c, const int64_t *t_ns, size_t n, uint64_t row, double *v)
{
	size_t stride = course_stride(c->width), left = 0;
	uint16_t at[COURSE_ROWS];

	for (size_t k = 0; k < stride; k += 4) {
		struct bounds b[2];

		bounds_of(v + k, n, stride, b);
		for (size_t i = k; i < k + 4 && i < c->width; i++) {
			c->min[i] = b[(i - k) / 2].min[i % 2];
			c->max[i] = b[(i - k) / 2].max[i % 2];
			c->n[i] = (uint64_t)b[(i - k) / 2].n[i % 2];
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (left > 0 && t_ns[at[left - 1]] >> c->base == t_ns[i] >> c->base)
			add_rows(v + at[left - 1] * stride, v + i * stride, stride);
		else
			at[left++] = (uint16_t)i;
	}
	for (int zoom = c->base + 1; left > 1; zoom++) {
		size_t kept = 0;

		for (size_t i = 0; i < left; i++) {
			if (kept > 0 && t_ns[at[kept - 1]] >> zoom == t_ns[at[i]] >> zoom)
				add_rows(v + at[kept - 1] * stride, v + at[i] * stride, stride);
			else
				at[kept++] = at[i];
		}
		left = kept;
	}
	memcpy(c->sums[c->top - c->base], v, c->width * sizeof(*v));
	c->branches = UINT64_C(1) << (c->top - c->base);
	c->open = true;
	c->column = t_ns[n - 1] >> c->base;
	c->row = row;
	c->rows = n;
}

void course_record(struct course *c, int64_t column, uint64_t rows, const uint8_t *record)
{
	course_at(c, column, get_u64(record));
	c->rows += rows;
	for (size_t i = 0; i < c->width && !(c->branches & 1); i++)
		c->sums[0][i] = -0.0;
	c->branches |= 1;
	for (size_t i = 0; i < c->width; i++) {
		struct bin b = lod_bin(record, i);

		if (b.n == 0)
			continue;
		c->sums[0][i] += b.sum;
		c->min[i] = b.min < c->min[i] ? b.min : c->min[i];
		c->max[i] = b.max > c->max[i] ? b.max : c->max[i];
		c->n[i] += b.n;
	}
}

bool course_take(struct course *c, uint8_t *record, int64_t *column)
{
	const double *sum;
	uint8_t *p = record + 8;
	uint64_t most = 0;

	branches_close(c, c->top - c->base);
	sum = c->sums[c->top - c->base];
	put_u64(record, c->row);
	for (size_t i = 0; i < c->width; i++, p += PYRAMID_BIN) {
		bool any = c->n[i] > 0;

		put_f64(p, any ? c->min[i] : 0);
		put_f64(p + 8, any ? c->max[i] : 0);
		put_f64(p + 16, any ? sum[i] : 0);
		put_u32(p + 24, (uint32_t)c->n[i]);
		most = c->n[i] > most ? c->n[i] : most;
	}
	*column = c->column >> (c->top - c->base);
	course_clear(c);
	return most <= UINT32_MAX;
}
