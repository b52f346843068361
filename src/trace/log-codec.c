/* Encodes arrays of doubles into bytes that compress well, without loss.
 *
 * The decoder trusts no input: log_array_size() checks everything that log_array_get() relies on. */
/* Vectorise the loops over values at -O2, too. */
#if defined(__OPTIMIZE__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <math.h>
#include <stdlib.h>

#include "trace/format.h"
#include "trace/log.h"

#define WHOLE_MAX 1099511627776.0 /* 2^40 */
#define STRETCH   256              /* numbers at a time, so that each plane is a run of bytes */

static inline uint64_t bits_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

static inline uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ -(v >> 63);
}

static inline uint64_t unzigzag(uint64_t z)
{
	return z >> 1 ^ -(z & 1);
}

/* --- values and the numbers that stand for them --- */

static const double scales[] = {1, 10, 1000, 1000}; /* of the numbers before LOG_F32 */

static inline double value_of(uint64_t k, unsigned number)
{
	uint32_t bits = (uint32_t)k;
	double v;
	float f;

	if (number < LOG_F32) {
		v = (double)(int64_t)k / scales[number];
		return number == LOG_THOUSANDTHS_F32 ? (double)(float)v : v;
	}
	memcpy(&f, &bits, sizeof(f));
	memcpy(&v, &k, sizeof(v));
	v = number == LOG_F32 ? (double)f : v;
	return isnan(v) ? (double)NAN : v; /* without a reason */
}

/* Returns false if no number of that kind stands for exactly that value. */
static inline bool number_of(double v, unsigned number, uint64_t *k)
{
	double x = number < LOG_F32 ? v * scales[number] : 0;
	float f = (float)v;
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	if (!(fabs(x) < WHOLE_MAX))
		return false;
	*k = number == LOG_F64	 ? bits_of(v)
	     : number == LOG_F32 ? bits
				 : (uint64_t)(int64_t)(x + (x < 0 ? -0.5 : 0.5));
	return bits_of(value_of(*k, number)) == bits_of(v);
}

/* Sets the numbers of the first kind that stands for all values, and returns it. */
static unsigned numbers_of(const double *v, size_t n, uint64_t *k)
{
	for (unsigned number = LOG_WHOLE;; number++) {
		size_t i = 0;

		while (i < n && number_of(v[i], number, &k[i]))
			i++;
		if (i == n)
			return number;
	}
}

/* --- arrays --- */

/* Loads n numbers of up to 4 bytes from planes of `stride` bytes. */
static inline void get_planes(const uint8_t *p, size_t stride, size_t n, unsigned size, uint32_t *x)
{
	for (size_t i = 0; i < n; i++)
		x[i] = p[i];
	for (size_t i = 0; size > 1 && i < n; i++)
		x[i] |= (uint32_t)p[stride + i] << 8;
	for (size_t i = 0; size > 2 && i < n; i++)
		x[i] |= (uint32_t)p[2 * stride + i] << 16 | (uint32_t)p[3 * stride + i] << 24;
}

/* Same for numbers of 4 or 8 bytes. */
static void get_wide(const uint8_t *p, size_t stride, size_t n, unsigned size, uint64_t *x)
{
	uint32_t part[STRETCH];

	get_planes(p, stride, n, 4, part);
	for (size_t i = 0; i < n; i++)
		x[i] = part[i];
	if (size == 4)
		return;
	get_planes(p + 4 * stride, stride, n, 4, part);
	for (size_t i = 0; i < n; i++)
		x[i] |= (uint64_t)part[i] << 32;
}

/* Appends a bit for each row, 1: its value is stored, and moves these values to the front. Returns their
 * number. */
static size_t put_rows(struct log_bytes *b, double *v, size_t n, unsigned rows)
{
	uint8_t *p = log_bytes_add(b, (n + 7) / 8);
	double before = 0;
	size_t m = 0;

	if (p)
		memset(p, 0, (n + 7) / 8);
	for (size_t i = 0; p && i < n; i++) {
		double now = v[i];

		if (rows == LOG_PRESENT ? !isnan(now) : i == 0 || bits_of(now) != bits_of(before)) {
			p[i / 8] = (uint8_t)(p[i / 8] | 1 << i % 8);
			v[m++] = now;
		}
		before = now;
	}
	return m;
}

void log_array_put(struct log_bytes *b, size_t kinds, size_t columns, size_t c, double *v, uint64_t *k,
		   size_t n)
{
	size_t there = 0, changes = 0, m = n;
	unsigned width = LOG_NONE, number = LOG_WHOLE, rows = LOG_ALL, size = 0;
	uint64_t widest = 0;
	uint8_t *p;

	k[0] = 0;
	for (size_t i = 0; i < n; i++)
		there += v[i] == v[i];
	for (size_t i = 1; i < n; i++)
		changes += bits_of(v[i]) != bits_of(v[i - 1]);
	if (there == 0 || (there == n && changes == 0))
		m = there > 0;
	else if (there < n)
		rows = LOG_PRESENT;
	else if (changes < n / 2)
		rows = LOG_CHANGED;
	if (rows != LOG_ALL)
		m = put_rows(b, v, n, rows);
	if (m > 0) {
		width = LOG_CONSTANT;
		number = numbers_of(v, m, k);
		for (size_t i = m - 1; i > 0; i--)
			widest |= k[i] = zigzag(k[i] - k[i - 1]);
	}
	for (; size < 8 && widest >> 8 * size; width++)
		size = size ? 2 * size : 1;
	p = log_bytes_add(b, m > 0 ? (m - 1) * size : 0);
	for (unsigned plane = 0; p && plane < size; plane++)
		for (size_t i = 1; i < m; i++)
			*p++ = (uint8_t)(k[i] >> 8 * plane);
	if (b->failed)
		return;
	b->p[kinds + c] = LOG_KIND(width, number, rows);
	for (unsigned plane = 0; plane < 8; plane++)
		b->p[kinds + (1 + plane) * columns + c] = (uint8_t)(k[0] >> 8 * plane);
}

static size_t ones(const uint8_t *bits, size_t n)
{
	size_t m = 0, i = 0, end = (n + 7) / 8;

	for (; end - i >= 8; i += 8)
		m += (size_t)__builtin_popcountll(get_u64(bits + i));
	for (; i < end; i++)
		m += (size_t)__builtin_popcount(bits[i]);
	return m;
}

ssize_t log_array_size(const uint8_t *p, size_t left, uint8_t kind, size_t n)
{
	unsigned width = kind & 7, rows = kind >> 6;
	size_t bits = rows == LOG_ALL ? 0 : (n + 7) / 8, m = n, size;

	if (rows == LOG_OTHER)
		return left >= 4 && get_u32(p) <= left - 4 ? 4 + (ssize_t)get_u32(p) : -1;
	if (width == LOG_NONE)
		return kind == LOG_NONE ? 0 : -1;
	if (width > LOG_I64 || (kind >> 3 & 7) > LOG_F64 || bits > left)
		return -1;
	if (bits > 0 && n % 8 && p[n / 8] >> n % 8)
		return -1;
	if (bits > 0)
		m = ones(p, n);
	if (m == 0 || (rows == LOG_CHANGED && !(p[0] & 1)))
		return -1;
	size = bits + (width == LOG_CONSTANT ? 0 : (m - 1) << (width - LOG_I8));
	return size > left ? -1 : (ssize_t)size;
}

/* Differences of 8 or 16 bits are added up relative to the first number: even 65 536 of them stay within 32
 * bits. Everything but the sum is vectorised. */
static void get_numbers(const uint8_t *p, unsigned width, unsigned number, uint64_t k, size_t m, double *out)
{
	uint64_t wide[STRETCH], first = k;
	uint32_t z[STRETCH], sum = 0;

	out[0] = value_of(k, number);
	for (size_t i = 1; width == LOG_CONSTANT && i < m; i++)
		out[i] = out[0];
	for (size_t done = 1, n; width > LOG_CONSTANT && done < m; done += n) {
		const uint8_t *planes = p + done - 1;

		n = m - done < STRETCH ? m - done : STRETCH;
		if (width > LOG_I16) {
			get_wide(planes, m - 1, n, width == LOG_I32 ? 4 : 8, wide);
			for (size_t i = 0; i < n; i++)
				wide[i] = k += unzigzag(wide[i]);
		} else {
			get_planes(planes, m - 1, n, width == LOG_I16 ? 2 : 1, z);
			for (size_t i = 0; i < n; i++)
				z[i] = z[i] >> 1 ^ -(z[i] & 1);
			for (size_t i = 0; i < n; i++)
				z[i] = sum += z[i];
			for (size_t i = 0; i < n; i++)
				wide[i] = first + (uint64_t)(int32_t)z[i];
		}
		for (size_t i = 0; i < n; i++)
			out[done + i] = value_of(wide[i], number);
	}
}

/* Moves the first m values to the rows that they are of. */
static void spread(const uint8_t *bits, size_t n, size_t m, bool hold, double *out)
{
	for (size_t i = n; i-- > 0;) {
		bool there = bits[i / 8] >> i % 8 & 1;

		out[i] = there || hold ? out[m - 1] : (double)NAN;
		m -= there;
	}
}

void log_array_get(const struct log_array *a, size_t n, double *out)
{
	unsigned width = a->kind & 7, rows = a->kind >> 6;
	const uint8_t *p = a->p;
	size_t m = n;

	if (rows == LOG_OTHER || width == LOG_NONE) {
		for (size_t i = 0; i < n; i++)
			out[i] = (double)NAN;
		return;
	}
	if (rows != LOG_ALL) {
		m = ones(p, n);
		p += (n + 7) / 8;
	}
	get_numbers(p, width, a->kind >> 3 & 7, a->first, m, out);
	if (rows != LOG_ALL)
		spread(a->p, n, m, rows == LOG_CHANGED, out);
}

/* --- sections --- */

int log_section_next(struct log_in *in, struct log_section *s, bool data)
{
	unsigned unit;
	ssize_t size;

	if (in->bad)
		return -1;
	if (in->p >= in->end)
		return 0;
	s->tier = (uint8_t)log_get_u8(in);
	unit = log_get_u8(in);
	s->unit_ns = unit ? NS_PER_US : 1;
	s->columns = log_get_u16(in);
	s->n = log_get_u32(in);
	s->first = log_get_i64(in);
	s->step = data ? log_get_u32(in) : 0;
	if (in->bad || s->tier >= LOG_TIERS || (data && unit > 1) || s->columns > LOG_CHANNELS || s->n == 0 ||
	    s->n > (data ? LOG_ROWS_MAX : LOG_BINS_MAX))
		return -1;
	s->columns *= data ? 1 : LOG_PARTS;
	s->kinds = log_in_take(in, s->columns);
	s->firsts = log_in_take(in, 8 * (size_t)s->columns);
	s->times = data ? log_in_take(in, 4 * (size_t)s->n) : NULL;
	s->arrays = in->p;
	for (uint32_t i = 0; !in->bad && i < s->columns; i++, in->p += size) {
		size = log_array_size(in->p, (size_t)(in->end - in->p), s->kinds[i], s->n);
		if (size < 0)
			return -1;
	}
	s->size = (size_t)(in->p - s->arrays);
	return in->bad ? -1 : 1;
}

bool log_section_times(const struct log_section *s, int64_t cell, int64_t *t_ns, uint8_t *late, int64_t *last_ns)
{
	uint32_t z[STRETCH];
	bool rise = log_time_good(s->first) && log_cell(s->first) == cell;
	int64_t t[STRETCH], before = rise ? s->first - 1 : 0;

	for (size_t done = 0; rise && done < s->n; done += STRETCH) {
		size_t n = s->n - done < STRETCH ? s->n - done : STRETCH;

		get_planes(s->times + done, s->n, n, 4, z);
		for (size_t i = 0; late && i < n; i++)
			late[done + i] = (z[i] & LOG_LATE) != 0;
		for (size_t i = 0; i < n; i++)
			t[i] = s->first + s->unit_ns * ((int64_t)((done + i) * s->step) +
							(int32_t)((z[i] & ~LOG_LATE) >> 1 ^ -(z[i] & 1)));
		rise &= done > 0 || t[0] == s->first;
		for (size_t i = 0; i < n; before = t[i++])
			rise &= t[i] > before;
		if (t_ns)
			memcpy(t_ns + done, t, n * sizeof(*t));
	}
	if (last_ns)
		*last_ns = before;
	return rise && log_cell(before) == cell;
}

/* How many ns a unit of the times is: their precision. */
static int64_t unit_of(const struct rows *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->t_ns[i] % NS_PER_US)
			return 1;
	return NS_PER_US;
}

void log_data_put(struct log_bytes *b, const struct rows *r, const uint8_t *late, int64_t period_ns)
{
	uint64_t *room = malloc(2 * r->n * sizeof(*room));
	double *column = (double *)(void *)room;
	int64_t unit_ns = unit_of(r), step = (period_ns + unit_ns / 2) / unit_ns;
	size_t kinds;
	uint8_t *p;

	if (!room) {
		b->failed = true;
		return;
	}
	/* The period, unless it deviates too far from the times of the rows; then their mean distance. */
	if (r->n == 1)
		step = 0;
	else if (step * (int64_t)(r->n - 1) > (INT64_C(1) << (LOG_CELL_ZOOM + 1)) / unit_ns)
		step = (r->t_ns[r->n - 1] - r->t_ns[0]) / unit_ns / (int64_t)(r->n - 1);
	log_put_u8(b, r->tier);
	log_put_u8(b, unit_ns > 1);
	log_put_u16(b, (unsigned)r->width);
	log_put_u32(b, (uint32_t)r->n);
	log_put_i64(b, r->t_ns[0]);
	log_put_u32(b, (uint32_t)step);
	kinds = b->n;
	log_bytes_add(b, LOG_COLUMN * r->width);
	p = log_bytes_add(b, 4 * r->n);
	for (size_t i = 0; p && i < r->n; i++) {
		int64_t off = (r->t_ns[i] - r->t_ns[0]) / unit_ns - (int64_t)i * step;
		uint64_t residual = zigzag((uint64_t)off) | (late[i] ? LOG_LATE : 0);

		for (size_t k = 0; k < 4; k++)
			p[k * r->n + i] = (uint8_t)(residual >> 8 * k);
	}
	for (size_t c = 0; c < r->width; c++) {
		for (size_t i = 0; i < r->n; i++)
			column[i] = r->values[i * r->width + c];
		log_array_put(b, kinds, r->width, c, column, room + r->n, r->n);
	}
	free(room);
}
