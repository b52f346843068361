/* Columns as they are made: by the recorder from rows, by the join from the
 * recorder's columns, by the reader from the rows of a trace that has none.
 * All three use the same folds, so that the same rows give the same bytes. */
#include "trace/course.h"

#include <math.h>
#include <stdlib.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static void course_clear(struct course *c)
{
	size_t all = (size_t)(c->top - c->base + 1) * c->width;

	for (size_t i = 0; i < all; i++)
		c->sums[i] = -0.0;
	for (size_t i = 0; i < c->width; i++) {
		c->min[i] = (double)INFINITY;
		c->max[i] = (double)-INFINITY;
		c->n[i] = 0;
	}
	c->open = false;
	c->rows = 0;
}

int course_init(struct course *c, size_t width, int base, int top)
{
	size_t levels = (size_t)(top - base + 1);

	memset(c, 0, sizeof(*c));
	c->base = base;
	c->top = top;
	c->width = width;
	c->sums = malloc((levels + 3) * width * sizeof(double));
	if (!c->sums)
		return -1;
	c->min = c->sums + levels * width;
	c->max = c->min + width;
	c->n = malloc(width * sizeof(*c->n));
	if (!c->n) {
		course_free(c);
		return -1;
	}
	course_clear(c);
	return 0;
}

void course_free(struct course *c)
{
	free(c->sums);
	free(c->n);
	c->sums = NULL;
	c->n = NULL;
}

/* The sums of `levels` zooms from base up end: each goes into the next coarser. */
static void sums_close(struct course *c, int levels)
{
	double *restrict below = c->sums;

	for (int k = 0; k < levels; k++, below += c->width) {
		double *restrict above = below + c->width;

		for (size_t i = 0; i < c->width; i++) {
			above[i] += below[i];
			below[i] = -0.0;
		}
	}
}

/* What goes in next belongs to this column. */
static inline void course_at(struct course *c, int64_t column, uint64_t row)
{
	if (c->open && column != c->column) {
		int levels = 64 - __builtin_clzll((uint64_t)(column ^ c->column));

		sums_close(c, levels < c->top - c->base ? levels : c->top - c->base);
	}
	if (!c->open)
		c->row = row;
	c->open = true;
	c->column = column;
}

void course_row(struct course *c, int64_t t_ns, uint64_t row, const double *restrict values)
{
	double *restrict sum = c->sums, *restrict min = c->min, *restrict max = c->max;
	uint64_t *restrict n = c->n;
	size_t width = c->width;

	course_at(c, t_ns >> c->base, row);
	c->rows++;
	for (size_t i = 0; i < width; i++) {
		double v = values[i];

		sum[i] += v == v ? v : -0.0;
		min[i] = v < min[i] ? v : min[i];
		max[i] = v > max[i] ? v : max[i];
		n[i] += v == v;
	}
}

typedef double pair __attribute__((vector_size(16)));
typedef int64_t mask __attribute__((vector_size(16)));

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

struct bounds {
	pair min, max;
	mask n;
};

static inline void bounds_add(struct bounds *b, double *v)
{
	const pair none = {-0.0, -0.0};
	pair x;
	mask there;

	memcpy(&x, v, sizeof(x));
	there = x == x;
	b->min = lower(x, b->min);
	b->max = higher(x, b->max);
	b->n -= there;
	x = choose(there, x, none);
	memcpy(v, &x, sizeof(x));
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

static inline void add_rows(double *restrict to, const double *restrict from, size_t stride)
{
	for (size_t i = 0; i < stride; i += 2) {
		pair a, b;

		memcpy(&a, to + i, sizeof(a));
		memcpy(&b, from + i, sizeof(b));
		a += b;
		memcpy(to + i, &a, sizeof(a));
	}
}

/* A whole column of zoom top: rows are added pair by pair where they lie, in any
 * order that has the halves before the whole. */
void course_column(struct course *c, const int64_t *t_ns, size_t n, uint64_t row, double *v)
{
	size_t stride = course_stride(c->width), left = 0;
	double *total = c->sums + (size_t)(c->top - c->base) * c->width;
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
	for (size_t i = 0; i < c->width; i++)
		total[i] = v[i];
	c->open = true;
	c->column = t_ns[n - 1] >> c->base;
	c->row = row;
	c->rows = n;
}

void course_record(struct course *c, int64_t column, uint64_t rows, const uint8_t *record)
{
	course_at(c, column, get_u64(record));
	c->rows += rows;
	for (size_t i = 0; i < c->width; i++) {
		struct bin b = pyramid_bin(record, i);

		if (b.n == 0)
			continue;
		c->sums[i] += b.sum;
		c->min[i] = b.min < c->min[i] ? b.min : c->min[i];
		c->max[i] = b.max > c->max[i] ? b.max : c->max[i];
		c->n[i] += b.n;
	}
}

bool course_take(struct course *c, uint8_t *record, int64_t *column)
{
	const double *sum = c->sums + (size_t)(c->top - c->base) * c->width;
	uint8_t *p = record + 8;
	uint64_t most = 0;

	sums_close(c, c->top - c->base);
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
