/* Most values of a row are those of the row before: sources renew them more
 * seldom than they are read.  What changes keeps its high bytes, and has zeros
 * in the low ones, since it was a float or a whole number before it was a double. */
#include "trace/dense.h"

#include <stdlib.h>
#include <string.h>

#include "trace/format.h"

#define TIME_MOST  10 /* 6 bits and nine times 7 */
#define VALUE_MOST 9

#define CHANGED 1 /* in the first byte of a time */
#define MORE    0x80

/* The first byte of a value: how many zero bytes are left out at its low end and how
 * many less one are there, 3 bits each; or a difference of tenths, zigzag, 6 bits. */
#define TENTHS      0x40
#define TENTHS_MASK 0x3f
#define TENTHS_LESS 1e12 /* than that a value is, times ten still a whole number of a double */
#define WORTH       3    /* bytes that are more than it costs to find out */

bool dense_init(struct dense *d, size_t width)
{
	*d = (struct dense) {.width = width, .values = calloc(width + 1, sizeof(*d->values))};
	return d->values != NULL;
}

void dense_free(struct dense *d)
{
	free(d->values);
	d->values = NULL;
}

static size_t bitmap(size_t width)
{
	return (width + 7) / 8;
}

size_t dense_most(size_t width)
{
	return TIME_MOST + bitmap(width) + VALUE_MOST * width;
}

void dense_start(struct dense *d, int64_t t_ns)
{
	d->t_ns = t_ns;
	d->step_ns = 0;
	memset(d->values, 0, d->width * sizeof(*d->values));
}

static uint64_t bits_of(const double *v)
{
	uint64_t bits;

	memcpy(&bits, v, sizeof(bits));
	return bits;
}

static uint8_t *time_put(struct dense *d, uint8_t *p, int64_t t_ns)
{
	uint64_t step = (uint64_t)t_ns - (uint64_t)d->t_ns, more = step - d->step_ns;
	uint64_t left = more << 1 ^ (more >> 63 ? UINT64_MAX : 0);

	d->t_ns = t_ns;
	d->step_ns = step;
	*p = (uint8_t)((left & 0x3f) << 1);
	for (left >>= 6; left; left >>= 7) {
		*p++ |= MORE;
		*p = left & 0x7f;
	}
	return p + 1;
}

static const uint8_t *time_get(struct dense *d, const uint8_t *p)
{
	uint64_t left = *p >> 1 & 0x3f;

	for (unsigned shift = 6; *p & MORE; shift += 7)
		left |= (uint64_t)(*++p & 0x7f) << shift;
	d->step_ns += left >> 1 ^ (left & 1 ? UINT64_MAX : 0);
	d->t_ns = (int64_t)((uint64_t)d->t_ns + d->step_ns);
	return p + 1;
}

/* A load in tenths of a percent has no zeros in its low bytes. */
static bool in_tenths(double v)
{
	return v > -TENTHS_LESS && v < TENTHS_LESS; /* not so a NaN */
}

/* There is one of it: putting and getting round alike, whatever a compiler makes of that. */
static __attribute__((noinline)) int64_t tenths(double v)
{
	return (int64_t)(v * 10 + (v < 0 ? -0.5 : 0.5));
}

static double of_tenths(int64_t n)
{
	return (double)n / 10;
}

/* The byte for a value that is a little more or less in tenths; 0: it is not. */
static uint8_t tenths_put(double from, double to)
{
	int64_t n, more;
	double back;

	if (!in_tenths(from) || !in_tenths(to))
		return 0;
	n = tenths(to);
	more = n - tenths(from);
	if (more > TENTHS_MASK / 2 || more < -(TENTHS_MASK / 2))
		return 0;
	back = of_tenths(n);
	if (bits_of(&back) != bits_of(&to)) /* so -0.0 */
		return 0;
	return (uint8_t)(TENTHS | (more < 0 ? -2 * more - 1 : 2 * more));
}

static double tenths_get(uint8_t byte, double from)
{
	int64_t more = byte & TENTHS_MASK;

	return of_tenths(tenths(from) + (more & 1 ? -(more + 1) / 2 : more / 2));
}

/* Of a value that is not the same: eight bytes are written, as many as matter count. */
static uint8_t *change_put(uint8_t *p, const double *from, const double *to)
{
	uint64_t change = bits_of(from) ^ bits_of(to);
	unsigned low = (unsigned)__builtin_ctzll(change) / 8, high = (unsigned)__builtin_clzll(change) / 8;

	if (8 - low - high > WORTH) {
		*p = tenths_put(*from, *to);
		if (*p)
			return p + 1;
	}
	*p = (uint8_t)(low << 3 | (7 - low - high));
	put_u64(p + 1, change >> 8 * low);
	return p + 1 + (8 - low - high);
}

static const uint8_t *change_get(const uint8_t *p, double *value)
{
	unsigned low = *p >> 3, most = *p & 7;
	uint64_t change, bits;

	if (*p & TENTHS) {
		*value = tenths_get(*p, *value);
		return p + 1;
	}
	change = get_u64(p + 1) & UINT64_MAX >> 8 * (7 - most);
	bits = bits_of(value) ^ change << 8 * low;
	memcpy(value, &bits, sizeof(bits));
	return p + 2 + most;
}

uint8_t *dense_put(struct dense *d, uint8_t *p, int64_t t_ns, const double *values)
{
	uint8_t *first = p, *changed = time_put(d, p, t_ns);

	if (memcmp(d->values, values, d->width * sizeof(*values)) == 0)
		return changed;
	*first |= CHANGED;
	memset(changed, 0, bitmap(d->width));
	p = changed + bitmap(d->width);
	for (size_t i = 0; i < d->width; i++) {
		if (bits_of(&d->values[i]) == bits_of(&values[i]))
			continue;
		changed[i / 8] |= (uint8_t)(1 << i % 8);
		p = change_put(p, &d->values[i], &values[i]);
	}
	memcpy(d->values, values, d->width * sizeof(*values));
	return p;
}

const uint8_t *dense_get(struct dense *d, const uint8_t *p)
{
	bool any = *p & CHANGED;
	const uint8_t *changed = time_get(d, p);

	if (!any)
		return changed;
	p = changed + bitmap(d->width);
	for (size_t i = 0; i < d->width; i++) {
		if (!changed[i / 8])
			i |= 7; /* none of these eight */
		else if (changed[i / 8] & 1 << i % 8)
			p = change_get(p, &d->values[i]);
	}
	return p;
}
