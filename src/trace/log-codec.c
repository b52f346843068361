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
#define NAN_32    UINT32_C(0x7FC00000)
#define NAN_64    UINT64_C(0x7FF8000000000000)

static inline uint64_t bits_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

static inline double of_bits(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static inline uint32_t bits_32(double v)
{
	float f = (float)v;
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return isnan(v) ? NAN_32 : bits;
}

static inline double of_bits_32(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return isnan(f) ? of_bits(NAN_64) : (double)f;
}

static inline uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

static inline uint64_t unzigzag(uint64_t z)
{
	return z >> 1 ^ -(z & 1);
}

/* --- whole numbers --- */

static const double scales[] = {1, 10, 1000, 1000}; /* those of the last one are rounded to f32 */

static inline double scaled(double k, unsigned scale)
{
	double v = scale == 0 ? k : k / scales[scale];

	return scale < 3 ? v : (double)(float)v;
}

/* Returns false if no whole number is exactly that value at that scale. */
static inline bool whole(double v, unsigned scale, int64_t *k)
{
	double x = v * scales[scale];

	if (!(fabs(x) < WHOLE_MAX))
		return false;
	*k = (int64_t)(x + (x < 0 ? -0.5 : 0.5));
	return bits_of(scaled((double)*k, scale)) == bits_of(v);
}

static inline void put_plane(uint8_t *p, size_t n, size_t i, uint64_t x, unsigned size)
{
	for (unsigned k = 0; k < size; k++)
		p[k * n + i] = (uint8_t)(x >> 8 * k);
}

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

static void put_bitmap(struct log_bytes *b, const double *v, size_t n)
{
	uint8_t *p = log_bytes_add(b, (n + 7) / 8);

	if (!p)
		return;
	memset(p, 0, (n + 7) / 8);
	for (size_t i = 0; i < n; i++)
		if (!isnan(v[i]))
			p[i / 8] = (uint8_t)(p[i / 8] | 1 << i % 8);
}

/* Encodes the m of n values that are present. Returns 0 if they are not whole at
 * that scale, else the kind. */
static uint8_t put_whole(struct log_bytes *b, const double *v, size_t n, size_t m, unsigned scale)
{
	unsigned form = LOG_I8, kind;
	uint64_t widest = 0;
	int64_t first = 0, before = 0, k = 0;
	size_t at = 0;
	uint8_t *p;

	for (size_t i = 0; i < n; i++) {
		if (isnan(v[i]))
			continue;
		if (!whole(v[i], scale, &k))
			return 0;
		if (at++ == 0)
			first = before = k;
		widest |= zigzag(k - before);
		before = k;
	}
	while (form < LOG_I64 && widest >> (8 << (form - LOG_I8)))
		form++;
	kind = form | scale << LOG_SCALE_BIT;
	if (m < n) {
		kind |= LOG_BITMAP;
		put_bitmap(b, v, n);
	}
	log_put_i64(b, first);
	p = log_bytes_add(b, (m - 1) << (form - LOG_I8));
	at = 0;
	for (size_t i = 0; p && i < n; i++) {
		if (isnan(v[i]))
			continue;
		whole(v[i], scale, &k);
		if (at > 0)
			put_plane(p, m - 1, at - 1, zigzag(k - before), 1U << (form - LOG_I8));
		before = k;
		at++;
	}
	return (uint8_t)kind;
}

static uint8_t put_floats(struct log_bytes *b, const double *v, size_t n, bool single, uint8_t xor)
{
	unsigned size = single ? 4 : 8;
	uint8_t *p = log_bytes_add(b, n * size);
	uint64_t x[STRETCH + 1];

	x[0] = 0;
	for (size_t first = 0; p && first < n; first += STRETCH) {
		size_t m = n - first < STRETCH ? n - first : STRETCH;

		for (size_t i = 0; single && i < m; i++)
			x[i + 1] = bits_32(v[first + i]);
		for (size_t i = 0; !single && i < m; i++)
			x[i + 1] = isnan(v[first + i]) ? NAN_64 : bits_of(v[first + i]);
		for (unsigned k = 0; k < size; k++)
			for (size_t i = 0; i < m; i++)
				p[k * n + first + i] = (uint8_t)((x[i + 1] ^ (xor? x[i] : 0)) >> 8 * k);
		x[0] = x[m];
	}
	return (uint8_t)((single ? LOG_F32 : LOG_F64) | xor);
}

/* Estimates the entropy of n bytes in planes of m bytes, in bits; equal bytes within a plane cost least. */
static double cost(const uint8_t *p, size_t n, size_t m)
{
	uint32_t count[256] = {0};
	double bits = 0;

	for (size_t done = 0; done < n; done += m, p += m) {
		size_t left = n - done < m ? n - done : m;
		uint64_t squares = 0; /* of the counts */

		for (size_t i = 0; i < left; i++)
			squares += 2 * count[p[i]]++ + 1;
		for (size_t i = 0; i < left; i++)
			count[p[i]] = 0;
		bits += (double)left * log2((double)left * (double)left / (double)squares);
	}
	return bits;
}

/* The payload of a NaN does not matter here: it is lost as f64, too. */
static bool is_single(const double *v, size_t n)
{
	uint64_t wrong = 0;

	for (size_t i = 0; i < n; i++)
		wrong |= bits_of((double)(float)v[i]) ^ bits_of(v[i]);
	return !wrong;
}

/* Tries each form and returns the kind that costs least. there: values that are not NaN. */
static uint8_t put_best(struct log_bytes *b, const double *v, size_t n, size_t there)
{
	size_t start = b->n;
	bool single = is_single(v, n);
	uint8_t best = 0, kind;
	double least = (double)INFINITY, bits;

	for (unsigned way = 0; way < 6 && !b->failed; way++) {
		bool floats = way >= 4;

		kind = floats ? put_floats(b, v, n, single, way == 5 ? LOG_XOR : 0)
			      : put_whole(b, v, n, there, way);
		if (!kind)
			continue;
		bits = b->failed ? 0 : cost(b->p + start, b->n - start, floats ? n : there);
		b->n = start;
		if (bits < least) {
			least = bits;
			best = kind;
		}
		if (!floats) /* use the first scale that fits */
			way = 3;
	}
	return best;
}

uint8_t log_array_put(struct log_bytes *b, const double *v, size_t n, uint8_t *like)
{
	size_t there = 0, first = 0, i;
	uint8_t kind = 0;

	for (i = 0; i < n; i++)
		there += v[i] == v[i];
	if (there == 0)
		return LOG_NONE;
	while (isnan(v[first]))
		first++;
	for (i = first; i < n && (bits_of(v[i]) == bits_of(v[first]) || isnan(v[i])); i++)
		continue;
	if (i == n) {
		if (there < n)
			put_bitmap(b, v, n);
		log_put_f64(b, v[first]);
		return there < n ? LOG_CONSTANT | LOG_BITMAP : LOG_CONSTANT;
	}
	if (*like & LOG_OTHER || (*like & LOG_FORM) < LOG_I8)
		*like = put_best(b, v, n, there);
	if ((*like & LOG_FORM) <= LOG_I64)
		kind = put_whole(b, v, n, there, (*like & LOG_SCALE) >> LOG_SCALE_BIT);
	*like = kind ? kind : put_floats(b, v, n, is_single(v, n), *like & LOG_XOR);
	return *like;
}

static size_t ones(const uint8_t *bitmap, size_t n)
{
	size_t m = 0;

	for (size_t i = 0; i < (n + 7) / 8; i++)
		m += (size_t)__builtin_popcount(bitmap[i]);
	return m;
}

ssize_t log_array_size(const uint8_t *p, size_t left, uint8_t kind, size_t n)
{
	unsigned form = kind & LOG_FORM, more = kind & ~LOG_FORM & 0xFF;
	size_t bitmap = 0, there = n, size;

	if (kind & LOG_OTHER)
		return left >= 4 && get_u32(p) <= left - 4 ? 4 + (ssize_t)get_u32(p) : -1;
	if (form == LOG_NONE)
		return more ? -1 : 0;
	if (form >= LOG_F32) {
		size = n * (form == LOG_F32 ? 4 : 8);
		return more & ~(unsigned)LOG_XOR || size > left ? -1 : (ssize_t)size;
	}
	if (more & LOG_XOR || (form == LOG_CONSTANT && more & LOG_SCALE))
		return -1;
	if (more & LOG_BITMAP) {
		bitmap = (n + 7) / 8;
		if (bitmap > left || (n % 8 && p[n / 8] >> n % 8))
			return -1;
		there = ones(p, n);
	}
	if (there == 0)
		return -1;
	size = bitmap + 8 + (form == LOG_CONSTANT ? 0 : (there - 1) << (form - LOG_I8));
	return size > left ? -1 : (ssize_t)size;
}

/* Differences of 8 or 16 bits are added up relative to the first value: even 65 536 of them stay within 32 bits. Everything but
 * the sum is vectorised. */
static void get_whole(const uint8_t *p, unsigned form, unsigned scale, size_t m, double *out)
{
	uint64_t k = get_u64(p), wide[STRETCH];
	uint32_t z[STRETCH], sum = 0;

	out[0] = (double)(int64_t)k;
	for (size_t done = 1, n; done < m; done += n) {
		const uint8_t *planes = p + 8 + done - 1;

		n = m - done < STRETCH ? m - done : STRETCH;
		if (form > LOG_I16) {
			get_wide(planes, m - 1, n, form == LOG_I32 ? 4 : 8, wide);
			for (size_t i = 0; i < n; i++)
				out[done + i] = (double)(int64_t)(k += unzigzag(wide[i]));
			continue;
		}
		get_planes(planes, m - 1, n, form == LOG_I16 ? 2 : 1, z);
		for (size_t i = 0; i < n; i++)
			z[i] = z[i] >> 1 ^ -(z[i] & 1);
		for (size_t i = 0; i < n; i++)
			z[i] = sum += z[i];
		for (size_t i = 0; i < n; i++)
			out[done + i] = out[0] + (int32_t)z[i];
	}
	for (size_t i = 0; scale > 0 && i < m; i++)
		out[i] /= scales[scale];
	for (size_t i = 0; scale == 3 && i < m; i++)
		out[i] = (double)(float)out[i];
}

static void get_floats(const uint8_t *p, size_t n, bool single, bool xor, double *out)
{
	uint64_t x[STRETCH], before = 0;

	for (size_t first = 0; first < n; first += STRETCH) {
		size_t m = n - first < STRETCH ? n - first : STRETCH;

		get_wide(p + first, n, m, single ? 4 : 8, x);
		for (size_t i = 0; xor && i < m; i++)
			before = x[i] ^= before;
		for (size_t i = 0; single && i < m; i++)
			out[first + i] = of_bits_32((uint32_t)x[i]);
		for (size_t i = 0; !single && i < m; i++)
			out[first + i] = isnan(of_bits(x[i])) ? of_bits(NAN_64) : of_bits(x[i]);
	}
}

/* Moves the first m values to the rows that have one. */
static void spread(const uint8_t *bitmap, size_t n, size_t m, double *out)
{
	for (size_t i = n; i-- > 0;)
		out[i] = bitmap[i / 8] >> i % 8 & 1 ? out[--m] : (double)NAN;
}

void log_array_get(const uint8_t *p, uint8_t kind, size_t n, double *out)
{
	unsigned form = kind & LOG_FORM;
	const uint8_t *bitmap = p;
	size_t m = n;

	if (kind & LOG_OTHER || form == LOG_NONE) {
		for (size_t i = 0; i < n; i++)
			out[i] = (double)NAN;
		return;
	}
	if (kind & LOG_BITMAP) {
		m = ones(p, n);
		p += (n + 7) / 8;
	}
	if (form >= LOG_F32)
		get_floats(p, n, form == LOG_F32, kind & LOG_XOR, out);
	else if (form == LOG_CONSTANT)
		for (size_t i = 0; i < m; i++)
			out[i] = get_f64(p);
	else
		get_whole(p, form, (kind & LOG_SCALE) >> LOG_SCALE_BIT, m, out);
	if (kind & LOG_BITMAP)
		spread(bitmap, n, m, out);
}

/* --- sections --- */

int log_section_next(struct log_in *in, struct log_section *s, bool data)
{
	ssize_t size;

	if (in->bad)
		return -1;
	if (in->p >= in->end)
		return 0;
	s->tier = (uint8_t)log_get_u8(in);
	log_get_u8(in);
	s->columns = log_get_u16(in);
	s->n = log_get_u32(in);
	s->first = log_get_i64(in);
	s->step = data ? log_get_u32(in) : 0;
	if (in->bad || s->tier >= LOG_TIERS || s->columns > LOG_CHANNELS || s->n == 0 ||
	    s->n > (data ? LOG_ROWS_MAX : LOG_BINS_MAX))
		return -1;
	s->columns *= data ? 1 : LOG_PARTS;
	s->kinds = log_in_take(in, s->columns);
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
			t[i] = s->first + (int64_t)((done + i) * s->step) +
			       (int32_t)((z[i] & ~LOG_LATE) >> 1 ^ -(z[i] & 1));
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

void log_data_put(struct log_bytes *b, const struct rows *r, const uint8_t *late, uint32_t step, uint8_t *like)
{
	double *column = malloc(r->n * sizeof(*column));
	int64_t span = r->t_ns[r->n - 1] - r->t_ns[0];
	size_t kinds;
	uint8_t *p;

	if (!column) {
		b->failed = true;
		return;
	}
	/* The period, unless it deviates too far from the times of the rows; then their mean distance. */
	if (r->n == 1)
		step = 0;
	else if ((uint64_t)step * (r->n - 1) > UINT64_C(1) << (LOG_CELL_ZOOM + 1))
		step = (uint32_t)(span / (int64_t)(r->n - 1));
	log_put_u8(b, r->tier);
	log_put_u8(b, 0);
	log_put_u16(b, (unsigned)r->width);
	log_put_u32(b, (uint32_t)r->n);
	log_put_i64(b, r->t_ns[0]);
	log_put_u32(b, step);
	kinds = b->n;
	log_bytes_add(b, r->width);
	p = log_bytes_add(b, 4 * r->n);
	for (size_t i = 0; p && i < r->n; i++)
		put_plane(p, r->n, i, zigzag(r->t_ns[i] - r->t_ns[0] - (int64_t)(i * step)) | (late[i] ? LOG_LATE : 0), 4);
	for (size_t c = 0; c < r->width; c++) {
		uint8_t kind;

		for (size_t i = 0; i < r->n; i++)
			column[i] = r->values[i * r->width + c];
		kind = log_array_put(b, column, r->n, &like[c]);
		if (!b->failed)
			b->p[kinds + c] = kind;
	}
	free(column);
}
