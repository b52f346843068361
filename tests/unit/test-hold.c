/* Packed rows come out as they went in, bit for bit; the stretch is held whatever
 * the values are, in memory that was reserved before; and what can be packed
 * takes little of that.  Our own functions stand before those that allocate. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "random.h"
#include "trace/hold.h"

static long allocations;

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
	allocations++;
	return __real_malloc(n);
}

void *__real_calloc(size_t n, size_t each);
void *__wrap_calloc(size_t n, size_t each);
void *__wrap_calloc(size_t n, size_t each)
{
	allocations++;
	return __real_calloc(n, each);
}

void *__real_reallocarray(void *p, size_t n, size_t each);
void *__wrap_reallocarray(void *p, size_t n, size_t each);
void *__wrap_reallocarray(void *p, size_t n, size_t each)
{
	allocations++;
	return __real_reallocarray(p, n, each);
}

void *__real_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at);
void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at);
void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
	allocations++;
	return __real_mmap(p, n, prot, flags, fd, at);
}

static double of_bits(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static double special(void)
{
	static const double values[] = {0,     -0.0, 1,     -1,       0.1,       -0.1,   99.9,
					100,   1e11, 1e12,  -1e12,    1e300,     1e-310, 0x1p53,
					45.25, 45.3, -45.3, INFINITY, -INFINITY, NAN};

	switch (random_below(4)) {
	case 0:
		return values[random_below(sizeof(values) / sizeof(values[0]))];
	case 1: /* a NaN with something in it, also one that signals */
		return of_bits((UINT64_C(0x7ff) << 52 | (random_next() >> 12)) ^ random_below(2) << 63);
	case 2:
		return of_bits(random_next());
	default:
		return (double)random_below(1001) / 10;
	}
}

/* A value like those of sources, or none of them; mostly the one before. */
static double next_value(double before, unsigned wild)
{
	if (random_below(100) >= wild)
		return before;
	switch (random_below(5)) {
	case 0:
		return round((before + ((double)random_below(80) - 40) / 10) * 10) / 10;
	case 1:
		return (float)((double)random_below(100000) / 999);
	case 2:
		return (double)random_below(UINT64_C(1) << random_below(54));
	case 3:
		return before + (double)random_below(200) - 100;
	default:
		return special();
	}
}

static void assert_bits(const double *got, const double *want, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memcmp(&got[i], &want[i], sizeof(*got)) != 0)
			fail_msg("column %zu: %a, not %a", i, got[i], want[i]);
}

/* Steps between rows: as they are, and any at all. */
static int64_t next_time(int64_t t_ns)
{
	switch (random_below(20)) {
	case 0:
		return t_ns + 1;
	case 1:
		return t_ns + (int64_t)random_below(UINT64_C(1) << random_below(58));
	default:
		return t_ns + 1000000 + (int64_t)random_below(20000) - 10000;
	}
}

#define ROWS 3000

static void rows_and_back(size_t width, unsigned wild)
{
	size_t most = dense_most(width), used = 0;
	uint8_t *bytes = malloc(ROWS * most);
	double *values = calloc(ROWS * width, sizeof(*values));
	int64_t *t_ns = calloc(ROWS, sizeof(*t_ns));
	struct dense d;

	assert_true(dense_init(&d, width));
	dense_start(&d, 5123456789012);
	for (size_t r = 0; r < ROWS; r++) {
		double *row = values + r * width;
		uint8_t *end;

		t_ns[r] = r ? next_time(t_ns[r - 1]) : 5123456789012;
		for (size_t c = 0; c < width; c++)
			row[c] = wild > 100 ? of_bits(random_next())
					    : next_value(r ? row[(ptrdiff_t)c - (ptrdiff_t)width] : 0, wild);
		end = dense_put(&d, bytes + used, t_ns[r], row);
		assert_true(end > bytes + used && end <= bytes + used + most);
		used = (size_t)(end - bytes);
	}
	dense_start(&d, 5123456789012);
	size_t at = 0;
	for (size_t r = 0; r < ROWS; r++) {
		at = (size_t)(dense_get(&d, bytes + at) - bytes);
		assert_true(d.t_ns == t_ns[r]);
		assert_bits(d.values, values + r * width, width);
	}
	assert_int_equal(at, used);
	dense_free(&d);
	free(bytes);
	free(values);
	free(t_ns);
}

static void bit_for_bit(void **state)
{
	static const size_t widths[] = {1, 2, 7, 8, 9, 17, 64, 65};

	(void)state;
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		for (unsigned wild = 0; wild <= 200; wild += wild < 10 ? 5 : 95)
			rows_and_back(widths[i], wild);
}

/* Times as far apart as there are. */
static void times(void **state)
{
	static const int64_t t_ns[] = {0, 1, INT64_MAX / 2, INT64_MAX - 1, INT64_MAX};
	const size_t n = sizeof(t_ns) / sizeof(t_ns[0]);
	uint8_t bytes[256], *p = bytes;
	const uint8_t *q = bytes;
	double value = 1;
	struct dense d;

	(void)state;
	assert_true(dense_init(&d, 1));
	dense_start(&d, t_ns[0]);
	for (size_t i = 0; i < n; i++)
		p = dense_put(&d, p, t_ns[i], &value);
	dense_start(&d, t_ns[0]);
	for (size_t i = 0; i < n; i++) {
		q = dense_get(&d, q);
		assert_true(d.t_ns == t_ns[i] && d.values[0] == value);
	}
	assert_ptr_equal(p, q);
	dense_free(&d);
}

/* What nothing changed in takes what its time takes, a tenth more or less one byte. */
static void few_bytes(void **state)
{
	double values[20] = {[3] = 45.3};
	uint8_t bytes[1024], *p;
	struct dense d;

	(void)state;
	assert_true(dense_init(&d, 20));
	dense_start(&d, 0);
	p = dense_put(&d, dense_put(&d, bytes, 0, values), 1000000, values);
	assert_ptr_equal(dense_put(&d, p, 2000000, values), p + 1);
	values[3] = 45.1;
	assert_ptr_equal(dense_put(&d, p, 3000000, values), p + 1 + 3 + 1);
	values[3] = 48.2;
	assert_ptr_equal(dense_put(&d, p, 4000000, values), p + 1 + 3 + 1);
	values[3] = 48.2000001; /* is no tenth */
	assert_true(dense_put(&d, p, 5000000, values) > p + 1 + 3 + 1);
	dense_free(&d);
}

static const struct session session = {.width = {18, 40, 0}, .hz = {1000, 100, 10}};

/* Row number i, always the same: of noise, or such as a board's. */
static void make_row(enum tier tier, uint64_t i, bool noise, int64_t *t_ns, double *values)
{
	uint64_t x = i * 2 + tier + 1;

	*t_ns = 7000000000 + (int64_t)i * (tier == TIER_FAST ? 1000000 : 10000000);
	for (size_t c = 0; c < session.width[tier]; c++) {
		x = (x + 1) * UINT64_C(6364136223846793005);
		x ^= x >> 29;
		if (noise)
			values[c] = of_bits(x);
		else
			values[c] = (float)(i / 20 % 97) / 3 + (float)c;
	}
	if (noise)
		*t_ns += (int64_t)(x % 900000);
}

static void check_row(const struct hold *h, struct hold_cursor *c, uint64_t i, bool noise)
{
	double want[64];
	int64_t t_ns;

	assert_true(hold_at(h, c, i));
	make_row(c->tier, i, noise, &t_ns, want);
	assert_true(c->row.t_ns == t_ns);
	assert_bits(c->row.values, want, session.width[c->tier]);
}

/* All that must be there, forwards and at random; what is not there is not found. */
static void check_held(const struct hold *h, enum tier tier, uint64_t head, uint64_t least, bool noise)
{
	uint64_t oldest = hold_oldest(h, tier), find;
	struct hold_cursor c;
	double values[64];
	int64_t t_ns;

	assert_true(hold_cursor_init(&c, h, tier));
	assert_true(oldest + least <= head);
	assert_false(oldest > 0 && hold_at(h, &c, oldest - 1));
	assert_false(hold_at(h, &c, head));
	for (uint64_t i = oldest; i < head; i++)
		check_row(h, &c, i, noise);
	for (int n = 0; n < 500; n++) {
		check_row(h, &c, oldest + random_below(head - oldest), noise);
		find = oldest + random_below(head - oldest);
		make_row(tier, find, noise, &t_ns, values);
		assert_true(hold_find(h, &c, t_ns) == find);
		assert_true(hold_find(h, &c, t_ns - 1) == find);
		assert_true(hold_find(h, &c, t_ns + 1) == find + 1);
	}
	assert_true(hold_find(h, &c, INT64_MIN) == oldest);
	assert_true(hold_find(h, &c, INT64_MAX) == head);
	make_row(tier, oldest, noise, &t_ns, values);
	assert_true(hold_oldest_ns(h, tier) == t_ns);
	hold_cursor_free(&c);
}

/* Bytes of it that are really there. */
static size_t resident(const struct hold *h)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (h->size + page - 1) / page;
	unsigned char *there = malloc(n);
	size_t count = 0;

	assert_int_equal(mincore(h->memory, h->size, there), 0);
	for (size_t i = 0; i < n; i++)
		count += there[i] & 1;
	free(there);
	return count * page;
}

/* Three times as much as it holds; returns what it took. */
static size_t hold_much(int64_t span_ns, bool noise)
{
	const size_t few = 16 * (size_t)sysconf(_SC_PAGESIZE); /* lists, and a cell that is begun */
	uint64_t rows = (uint64_t)(span_ns / 1000000) * 3, medium = 0;
	double values[64];
	struct hold h;
	long before;
	size_t took;

	assert_true(hold_init(&h, &session, span_ns));
	assert_true(h.size == (size_t)hold_bytes(&session, span_ns));
	assert_int_equal(hold_oldest(&h, TIER_FAST), 0);
	assert_true(resident(&h) <= few);
	before = allocations;
	for (uint64_t i = 0; i < rows; i++) {
		int64_t t_ns;

		if (i % 10 == 0) {
			make_row(TIER_MEDIUM, medium++, noise, &t_ns, values);
			hold_row(&h, TIER_MEDIUM, t_ns, values);
		}
		make_row(TIER_FAST, i, noise, &t_ns, values);
		hold_row(&h, TIER_FAST, t_ns, values);
	}
	assert_int_equal(allocations, before);
	took = hold_touched(&h);
	assert_true(took <= h.size);
	assert_true(resident(&h) <= took + few);
	check_held(&h, TIER_FAST, rows, (uint64_t)(span_ns / 1000000), noise);
	check_held(&h, TIER_MEDIUM, medium, (uint64_t)(span_ns / 10000000), noise);
	/* Once it is full, as much as before. */
	for (uint64_t i = rows; i < 2 * rows; i++) {
		int64_t t_ns;

		make_row(TIER_FAST, i, noise, &t_ns, values);
		hold_row(&h, TIER_FAST, t_ns, values);
	}
	assert_true(hold_touched(&h) <= took + 2 * h.tiers[TIER_FAST].cell);
	hold_free(&h);
	return took;
}

static void whatever_comes(void **state)
{
	const int64_t span = 20 * NS_PER_S;
	double raw = 20 * (1000 * 19 + 100 * 41) * sizeof(double);
	size_t noise = hold_much(span, true), board = hold_much(span, false);

	(void)state;
	print_message("plain rows %.0f bytes, held noise %zu, such as a board's %zu\n", raw, noise, board);
	assert_true((double)noise >= raw);       /* nothing of it can be packed, and all of it is there */
	assert_true((double)noise <= raw * 1.3); /* and no more than the marks of what changed cost */
	assert_true((double)board <= raw / 8);
}

/* What a cursor stood on has gone, and its cell has other rows now. */
static void left_behind(void **state)
{
	struct hold_cursor c;
	uint64_t head = 0, oldest;
	double values[64];
	struct hold h;

	(void)state;
	assert_true(hold_init(&h, &session, NS_PER_S));
	assert_true(hold_cursor_init(&c, &h, TIER_FAST));
	for (int n = 0; n < 300; n++) {
		int64_t t_ns;

		oldest = hold_oldest(&h, TIER_FAST);
		if (head > 0)
			check_row(&h, &c, oldest + random_below(head - oldest > 20 ? 20 : head - oldest),
				  true);
		do {
			make_row(TIER_FAST, head++, true, &t_ns, values);
			hold_row(&h, TIER_FAST, t_ns, values);
		} while (n > 5 && oldest == hold_oldest(&h, TIER_FAST));
		check_row(&h, &c, hold_oldest(&h, TIER_FAST), true);
	}
	hold_cursor_free(&c);
	hold_free(&h);
}

/* One row alone, and rows so wide that few fit a cell. */
static void wide(void **state)
{
	const struct session about = {.width = {4096, 0, 1}, .hz = {10, 0, 1}};
	double *values = calloc(4096, sizeof(*values));
	struct hold_cursor c;
	struct hold h;

	(void)state;
	assert_true(hold_init(&h, &about, NS_PER_S));
	assert_true(hold_cursor_init(&c, &h, TIER_FAST));
	assert_false(hold_at(&h, &c, 0));
	assert_true(hold_find(&h, &c, 0) == 0);
	assert_true(hold_oldest_ns(&h, TIER_FAST) == INT64_MAX);
	for (uint64_t r = 0; r < 2000; r++) {
		for (size_t i = 0; i < 4096; i++)
			values[i] = of_bits(random_next());
		hold_row(&h, TIER_FAST, (int64_t)r * 100000000, values);
		assert_true(hold_at(&h, &c, r));
		assert_bits(c.row.values, values, 4096);
		assert_true(r - hold_oldest(&h, TIER_FAST) + 1 >= (r < 266 ? r + 1 : 266));
	}
	hold_cursor_free(&c);
	hold_free(&h);
	free(values);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bit_for_bit),    cmocka_unit_test(times),       cmocka_unit_test(few_bytes),
		cmocka_unit_test(whatever_comes), cmocka_unit_test(left_behind), cmocka_unit_test(wide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
