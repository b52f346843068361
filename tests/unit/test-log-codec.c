/* Arrays, sections and chunks of the log: encoding is lossless bit for bit, and arbitrary bytes are
 * rejected or decoded without reading past the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "trace/log-decode.h"

#define MUTATIONS 100000

static double random_double(void)
{
	uint64_t bits = random_next() ^ random_next() << 32;
	double v;

	memcpy(&v, &bits, sizeof(v));
	return isnan(v) ? 1 : v;
}

/* A value of one of the columns a board may have, and of some it cannot. */
static double value(unsigned column, size_t i)
{
	double small = (double)random_below(1000);

	switch (column % 16) {
	case 0:
		return small;
	case 1:
		return (double)random_below(60000) - 30000;
	case 2:
		return (double)random_below(4000000000) - 2e9;
	case 3:
		return (double)(int64_t)(random_below(UINT64_C(1) << 40) * (i % 2 ? 1 : -1));
	case 4:
		return (double)(random_below(1000) + (UINT64_C(1) << 40));
	case 5:
		return small / 10;
	case 6:
		return (double)random_below(90000) / 1000 - 20;
	case 7:
		return (double)(float)((double)random_below(90000) / 1000);
	case 8:
		return (double)(float)(small / 7);
	case 9:
		return small / 7;
	case 10:
		return random_double();
	case 11:
		return i % 3 ? 0.0 : -0.0;
	case 12:
		return 42.5;
	case 13:
		return i < 4 ? -0.0 : 7;
	case 14:
		return i % 2 ? (double)INFINITY : -(double)INFINITY;
	default:
		return (double)NAN;
	}
}

static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof(a));
}

/* An array in memory of exactly its size. */
static struct log_array encode(const double *v, size_t n, size_t *size)
{
	struct log_bytes b = {.n = 0};
	double *copy = malloc(n * sizeof(*copy));
	uint64_t *numbers = malloc(n * sizeof(*numbers));
	struct log_array a = {.first = 0};
	uint8_t *p;

	assert_true(copy && numbers);
	memcpy(copy, v, n * sizeof(*v));
	log_bytes_add(&b, LOG_COLUMN);
	log_array_put(&b, 0, 1, 0, copy, numbers, n);
	assert_false(b.failed);
	a.kind = b.p[0];
	memcpy(&a.first, b.p + 1, sizeof(a.first));
	*size = b.n - LOG_COLUMN;
	p = malloc(*size + 1);
	assert_non_null(p);
	memcpy(p + 1, b.p + LOG_COLUMN, *size);
	a.p = p + 1; /* arrays are not aligned */
	log_bytes_free(&b);
	free(copy);
	free(numbers);
	return a;
}

static void drop(struct log_array *a)
{
	free((uint8_t *)(uintptr_t)a->p - 1);
}

static void round_trip(const double *v, size_t n)
{
	double *back = malloc(n * sizeof(*back));
	size_t size;
	struct log_array a = encode(v, n, &size);

	assert_non_null(back);
	assert_int_equal(log_array_size(a.p, size, a.kind, n), size);
	if (size > 0)
		assert_int_equal(log_array_size(a.p, size - 1, a.kind, n), -1);
	log_array_get(&a, n, back);
	for (size_t i = 0; i < n; i++)
		assert_true(same(v[i], back[i]));
	drop(&a);
	free(back);
}

static void arrays(void **state)
{
	static const size_t sizes[] = {1, 2, 3, 7, 8, 9, 64, 134, 1000, 65536};
	static double v[65536];

	(void)state;
	for (unsigned column = 0; column < 16; column++)
		for (unsigned holes = 0; holes < 4; holes++)
			for (unsigned held = 1; held <= 10; held += 9)
				for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
					for (size_t i = 0; i < sizes[s]; i++)
						v[i] = i % held				       ? v[i - 1]
						       : holes && random_below(4) < holes ? (double)NAN
											      : value(column, i);
					round_trip(v, sizes[s]);
				}
}

static uint8_t kind_of(const double *v, size_t n)
{
	size_t size;
	struct log_array a = encode(v, n, &size);

	drop(&a);
	return a.kind;
}

/* The encodings that the format's page promises. */
static void forms(void **state)
{
	double v[64];

	(void)state;
	for (size_t i = 0; i < 64; i++)
		v[i] = (double)(i * i % 50);
	assert_int_equal(kind_of(v, 64), LOG_KIND(LOG_I8, LOG_WHOLE, LOG_ALL));
	v[3] = (double)NAN;
	assert_int_equal(kind_of(v, 64), LOG_KIND(LOG_I8, LOG_WHOLE, LOG_PRESENT));
	v[4] = -0.0;
	assert_int_equal(kind_of(v, 64) >> 3, LOG_KIND(0, LOG_F32, LOG_PRESENT) >> 3);
	v[4] = 0x1p40 + 1;
	assert_int_equal(kind_of(v, 64) >> 3, LOG_KIND(0, LOG_F64, LOG_PRESENT) >> 3);
	for (size_t i = 0; i < 64; i++)
		v[i] = (double)(i * i % 50) / 10;
	assert_int_equal(kind_of(v, 64), LOG_KIND(LOG_I8, LOG_TENTHS, LOG_ALL));
	for (size_t i = 0; i < 64; i++)
		v[i] = (double)(float)((double)(41000 + i * i % 50) / 1000);
	assert_int_equal(kind_of(v, 64), LOG_KIND(LOG_I8, LOG_THOUSANDTHS_F32, LOG_ALL));
	for (size_t i = 0; i < 64; i++)
		v[i] = (double)(i / 4 * 1000);
	assert_int_equal(kind_of(v, 64), LOG_KIND(LOG_I16, LOG_WHOLE, LOG_CHANGED));
	for (size_t i = 0; i < 64; i++)
		v[i] = 0.3;
	assert_int_equal(kind_of(v, 64), LOG_KIND(LOG_CONSTANT, LOG_TENTHS, LOG_ALL));
}

/* Invalid kinds. */
static void bad_kinds(void **state)
{
	uint8_t p[64];

	(void)state;
	memset(p, 0xFF, sizeof(p));
	assert_int_equal(log_array_size(p, 64, LOG_KIND(LOG_NONE, LOG_TENTHS, LOG_ALL), 8), -1);
	assert_int_equal(log_array_size(p, 64, LOG_KIND(LOG_NONE, LOG_WHOLE, LOG_PRESENT), 8), -1);
	assert_int_equal(log_array_size(p, 64, LOG_KIND(LOG_I64 + 1, LOG_WHOLE, LOG_ALL), 8), -1);
	assert_int_equal(log_array_size(p, 64, LOG_KIND(LOG_I8, LOG_F64 + 1, LOG_ALL), 8), -1);
	/* a bit after the last row */
	assert_int_equal(log_array_size(p, 64, LOG_KIND(LOG_I8, LOG_WHOLE, LOG_PRESENT), 9), -1);
	assert_int_equal(log_array_size(p, 64, LOG_KIND(LOG_I8, LOG_WHOLE, LOG_PRESENT), 8), 1 + 7);
	assert_int_equal(log_array_size(p, 64, LOG_KIND(LOG_I8, LOG_WHOLE, LOG_OTHER), 8), -1);
	memset(p, 0, 8);
	/* no value */
	assert_int_equal(log_array_size(p, 64, LOG_KIND(LOG_I8, LOG_WHOLE, LOG_PRESENT), 8), -1);
	p[0] = 6;
	assert_int_equal(log_array_size(p, 64, LOG_KIND(LOG_I8, LOG_WHOLE, LOG_PRESENT), 8), 1 + 1);
	/* no row before the first */
	assert_int_equal(log_array_size(p, 64, LOG_KIND(LOG_I8, LOG_WHOLE, LOG_CHANGED), 8), -1);
	p[0] = 60;
	assert_int_equal(log_array_size(p, 64, LOG_KIND(LOG_I8, LOG_WHOLE, LOG_OTHER), 8), 64);
	p[0] = 61;
	assert_int_equal(log_array_size(p, 64, LOG_KIND(LOG_I8, LOG_WHOLE, LOG_OTHER), 8), -1);
}

#define ROWS  134
#define WIDTH 16
#define CELL  12345
#define STEP  1000000

static void fill(int64_t t_ns[ROWS], double values[ROWS * WIDTH])
{
	for (size_t i = 0; i < ROWS; i++) {
		t_ns[i] = ((int64_t)CELL << LOG_CELL_ZOOM) + (int64_t)(i * STEP + random_below(90000));
		for (unsigned c = 0; c < WIDTH; c++)
			values[i * WIDTH + c] = random_below(9) ? value(c, i) : (double)NAN;
	}
}

/* A chunk with a section, and its raw payload. */
static void chunk_make(struct log_bytes *raw, struct log_bytes *chunk, const int64_t *t_ns,
		       const double *values)
{
	struct rows r = {TIER_MEDIUM, ROWS, WIDTH, t_ns, values};
	struct log_head h = {.kind = LOG_DATA, .session = 77, .generation = 1, .seq = 5, .cell = CELL};
	struct log_packer *k = log_packer_new();
	uint8_t late[ROWS];

	for (size_t i = 0; i < ROWS; i++)
		late[i] = i % 7 == 0;
	log_data_put(raw, &r, late, STEP);
	assert_non_null(k);
	assert_int_equal(log_pack(k, &h, raw->p, raw->n, chunk), 0);
	assert_int_equal(chunk->n, LOG_HEAD + h.stored);
	log_packer_free(k);
}

/* Times in whole units. */
static void chunk_in(int64_t unit_ns)
{
	static double values[ROWS * WIDTH], column[ROWS];
	int64_t t_ns[ROWS], back[ROWS];
	uint8_t late[ROWS];
	struct log_bytes raw = {.n = 0}, bytes = {.n = 0}, out = {.n = 0};
	struct log_unpacker *u = log_unpacker_new();
	struct log_head h;
	struct log_array arrays[WIDTH];
	struct log_section s;
	struct log_in in;

	fill(t_ns, values);
	for (size_t i = 0; i < ROWS; i++)
		t_ns[i] += unit_ns - 1 - (t_ns[i] - 1) % unit_ns;
	chunk_make(&raw, &bytes, t_ns, values);
	assert_true(log_head_get(bytes.p, &h));
	assert_true(h.kind == LOG_DATA && h.session == 77 && h.seq == 5 && h.cell == CELL && h.raw == raw.n);
	assert_int_equal(log_unpack(u, &h, bytes.p + LOG_HEAD, &out), LOG_OK);
	assert_memory_equal(out.p, raw.p, raw.n);
	in = (struct log_in) {out.p, out.p + out.n, false};
	assert_int_equal(log_section_next(&in, &s, true), 1);
	assert_true(s.tier == TIER_MEDIUM && s.n == ROWS && s.columns == WIDTH && s.unit_ns == unit_ns);
	assert_true(log_section_times(&s, CELL, back, late, NULL));
	assert_memory_equal(back, t_ns, sizeof(t_ns));
	for (size_t i = 0; i < ROWS; i++)
		assert_int_equal(late[i], i % 7 == 0);
	assert_false(log_section_times(&s, CELL + 1, back, NULL, NULL));
	assert_true(log_section_arrays(&s, NULL, WIDTH, WIDTH, s.arrays, arrays));
	for (unsigned c = 0; c < WIDTH; c++) {
		log_array_get(&arrays[c], ROWS, column);
		for (size_t i = 0; i < ROWS; i++)
			assert_true(same(column[i], values[i * WIDTH + c]));
	}
	assert_int_equal(log_section_next(&in, &s, true), 0);
	bytes.p[LOG_HEAD + 9] ^= 1;
	assert_int_equal(log_unpack(u, &h, bytes.p + LOG_HEAD, &out), LOG_BAD_SUM);
	log_unpacker_free(u);
	log_bytes_free(&raw);
	log_bytes_free(&bytes);
	log_bytes_free(&out);
}

static void chunk(void **state)
{
	(void)state;
	chunk_in(1);
	chunk_in(NS_PER_US);
}

static void bad_times(void **state)
{
	static double values[ROWS * WIDTH];
	int64_t t_ns[ROWS], back[ROWS];
	struct log_bytes raw = {.n = 0}, bytes = {.n = 0};
	struct log_section s;
	struct log_in in;

	(void)state;
	fill(t_ns, values);
	t_ns[70] = t_ns[69];
	chunk_make(&raw, &bytes, t_ns, values);
	in = (struct log_in) {raw.p, raw.p + raw.n, false};
	assert_int_equal(log_section_next(&in, &s, true), 1);
	assert_false(log_section_times(&s, CELL, back, NULL, NULL));
	log_bytes_free(&raw);
	log_bytes_free(&bytes);
}

static void heads(void **state)
{
	uint8_t p[200] = "Welcome to this board\n\xAB\x4E\x56\x0A";
	struct log_head h = {.kind = LOG_MARK,
			     .version = 1,
			     .session = 9,
			     .stored = LOG_STORED_MAX,
			     .raw = 3},
			back;

	(void)state;
	log_head_put(p + 60, &h);
	assert_int_equal(log_find(p, sizeof(p), 0), 60);
	assert_int_equal(log_find(p, sizeof(p), 9), 60);
	assert_int_equal(log_find(p, sizeof(p), 8), sizeof(p) - LOG_HEAD + 1);
	assert_int_equal(log_find(p, 60 + LOG_HEAD - 1, 9), 60); /* incomplete: not found */
	assert_false(log_find(p, 60 + LOG_HEAD - 1, 9) < 60);
	assert_int_equal(log_find(p, 10, 9), 0);
	assert_true(log_head_get(p + 60, &back));
	assert_int_equal(back.stored, LOG_STORED_MAX);
	h.stored++;
	log_head_put(p + 60, &h);
	assert_false(log_head_get(p + 60, &back));
	h.stored = 1;
	h.raw = LOG_RAW_MAX + 1;
	log_head_put(p + 60, &h);
	assert_false(log_head_get(p + 60, &back));
	h.raw = 1;
	h.cell = LOG_CELL_LIMIT;
	log_head_put(p + 60, &h);
	assert_false(log_head_get(p + 60, &back));
}

/* A frame whose length differs from the head's, and one with an unknown codec. */
static void bad_frames(void **state)
{
	static double values[ROWS * WIDTH];
	int64_t t_ns[ROWS];
	struct log_bytes raw = {.n = 0}, bytes = {.n = 0}, out = {.n = 0};
	struct log_unpacker *u = log_unpacker_new();
	struct log_head h;

	(void)state;
	fill(t_ns, values);
	chunk_make(&raw, &bytes, t_ns, values);
	assert_true(log_head_get(bytes.p, &h));
	h.raw--;
	assert_int_equal(log_unpack(u, &h, bytes.p + LOG_HEAD, &out), LOG_BAD_FRAME);
	h.raw++;
	h.codec = 2;
	assert_int_equal(log_unpack(u, &h, bytes.p + LOG_HEAD, &out), LOG_BAD_CODEC);
	h.codec = LOG_PLAIN;
	assert_int_equal(log_unpack(u, &h, bytes.p + LOG_HEAD, &out), LOG_BAD_FRAME);
	log_unpacker_free(u);
	log_bytes_free(&raw);
	log_bytes_free(&bytes);
	log_bytes_free(&out);
}

/* All that a reader does with a raw DATA payload. Returns the number of valid sections. */
static unsigned decode(const uint8_t *p, size_t n)
{
	static double column[LOG_ROWS_MAX];
	static int64_t t_ns[LOG_ROWS_MAX];
	struct log_in in = {p, p + n, false};
	static struct log_array arrays[LOG_PARTS * LOG_CHANNELS];
	struct log_section s;
	unsigned sections = 0;

	while (log_section_next(&in, &s, true) > 0) {
		sections += log_section_times(&s, CELL, t_ns, NULL, NULL);
		log_section_arrays(&s, NULL, s.columns, s.columns, s.arrays, arrays);
		for (uint32_t c = 0; c < s.columns; c++)
			log_array_get(&arrays[c], s.n, column);
	}
	in = (struct log_in) {p, p + n, false};
	while (log_section_next(&in, &s, false) > 0) {
		log_section_arrays(&s, NULL, s.columns / LOG_PARTS, s.columns / LOG_PARTS, s.arrays, arrays);
		for (uint32_t c = 0; c < s.columns; c++)
			log_array_get(&arrays[c], s.n, column);
	}
	return sections;
}

static size_t mutate(uint8_t *p, size_t n)
{
	for (uint64_t k = random_below(4) + 1; k > 0; k--) {
		size_t at = random_below(4) ? random_below(n) : random_below(n < 60 ? n : 60);

		p[at] = (uint8_t)(random_below(2) ? random_next() : p[at] ^ UINT64_C(1) << random_below(8));
	}
	return random_below(8) ? n : random_below(n);
}

static void hostile_payload(void **state)
{
	static double values[ROWS * WIDTH];
	int64_t t_ns[ROWS];
	struct log_bytes raw = {.n = 0}, bytes = {.n = 0};
	unsigned right = 0, wrong = 0;

	(void)state;
	fill(t_ns, values);
	chunk_make(&raw, &bytes, t_ns, values);
	for (unsigned i = 0; i < MUTATIONS; i++) {
		uint8_t *copy = malloc(raw.n), *exact;
		size_t n;

		assert_non_null(copy);
		memcpy(copy, raw.p, raw.n);
		n = mutate(copy, raw.n);
		exact = realloc(copy, n ? n : 1); /* exact size, so that sanitizers detect overreads */
		assert_non_null(exact);
		if (decode(exact, n) == 1)
			right++;
		else
			wrong++;
		free(exact);
	}
	assert_true(right > MUTATIONS / 100 && wrong > MUTATIONS / 100);
	log_bytes_free(&raw);
	log_bytes_free(&bytes);
}

/* The same with the packed bytes and a valid checksum. */
static void hostile_frame(void **state)
{
	static double values[ROWS * WIDTH];
	int64_t t_ns[ROWS];
	struct log_bytes raw = {.n = 0}, bytes = {.n = 0}, out = {.n = 0};
	struct log_unpacker *u = log_unpacker_new();
	unsigned right = 0, wrong = 0;
	struct log_head h;

	(void)state;
	fill(t_ns, values);
	chunk_make(&raw, &bytes, t_ns, values);
	for (unsigned i = 0; i < MUTATIONS / 10; i++) {
		uint8_t *copy = malloc(bytes.n);

		assert_non_null(copy);
		memcpy(copy, bytes.p, bytes.n);
		assert_true(log_head_get(copy, &h));
		mutate(copy + LOG_HEAD, h.stored);
		h.crc = log_crc(copy + LOG_HEAD, h.stored);
		if (log_unpack(u, &h, copy + LOG_HEAD, &out) == LOG_OK && decode(out.p, out.n) == 1)
			right++;
		else
			wrong++;
		free(copy);
	}
	assert_true(right > 10 && wrong > 10);
	log_unpacker_free(u);
	log_bytes_free(&raw);
	log_bytes_free(&bytes);
	log_bytes_free(&out);
}

static void records(void **state)
{
	const struct mark m = {7, -5, "warm-up"};
	const struct gap g = {TIER_SLOW, GAP_LOST, 3, 9, 2};
	const struct change c = {11, "mode", "", "40W"};
	const struct span_stats st = {3, 4, 1, 2, 6, 0.5, 10, 20, 1.5, 2.5, 9, 8, 7, 6};
	const struct log_index_head ih = {LOG_INCOMPLETE, 0, LOG_GROUP_SIZE, 1, 2, 3, 4, 5, UINT64_C(1) << 40};
	const struct log_group_entry ge = {1234567890123, 4, -64, 5, LOG_GROUP_META, {1, 2, 3, 4}};
	const struct log_sums_entry se = {6, -4096, 2};
	struct log_bytes b = {.n = 0};
	struct log_in in;
	struct mark m2;
	struct gap g2;
	struct change c2;
	struct span_stats st2;
	struct log_index_head ih2;
	struct log_group_entry ge2;
	struct log_sums_entry se2;

	(void)state;
	log_fields_put(&b, log_mark_fields, &m);
	log_fields_put(&b, log_gap_fields, &g);
	log_fields_put(&b, log_change_fields, &c);
	in = (struct log_in) {b.p, b.p + b.n, false};
	assert_true(log_fields_get(&in, log_mark_fields, &m2) && m2.id == 7 && m2.t_ns == -5);
	assert_string_equal(m2.label, m.label);
	assert_true(log_fields_get(&in, log_gap_fields, &g2) && g2.tier == g.tier && g2.cause == g.cause && g2.from_ns == 3 &&
		    g2.to_ns == 9 && g2.missed == 2);
	assert_true(log_fields_get(&in, log_change_fields, &c2) && c2.t_ns == 11);
	assert_string_equal(c2.to, "40W");
	assert_true(in.p == in.end);
	assert_false(log_fields_get(&in, log_mark_fields, &m2));
	b.n = 0;
	log_stat_put(&b, &st);
	assert_int_equal(b.n, LOG_STAT_SIZE);
	assert_true(log_stat_get(&(struct log_in) {b.p, b.p + b.n, false}, &st2));
	assert_memory_equal(&st, &st2, sizeof(st.channel));
	assert_true(st2.n == 4 && st2.first_ns == 10 && st2.last_ns == 20 && st2.last == 2.5 &&
		    st2.integral == 9 && st2.known_ns == 8 && st2.above_ns == 7 && st2.rise == 6 &&
		    st2.squares == 0.5);
	b.n = 0;
	log_index_head_put(&b, &ih);
	assert_int_equal(b.n, LOG_INDEX_HEAD);
	log_group_entry_put(&b, &ge);
	assert_int_equal(b.n, LOG_INDEX_HEAD + LOG_GROUP_SIZE);
	log_sums_entry_put(&b, &se);
	assert_int_equal(b.n, LOG_INDEX_HEAD + LOG_GROUP_SIZE + LOG_SUMS_SIZE);
	in = (struct log_in) {b.p, b.p + b.n, false};
	assert_true(log_index_head_get(&in, &ih2) && ih2.size == LOG_GROUP_SIZE && ih2.rest == ih.rest && ih2.before == 5);
	assert_true(log_group_entry_get(&in, &ge2) && ge2.first == ge.first && ge2.cell == -64 && ge2.rows[3] == 4);
	assert_true(log_sums_entry_get(&in, &se2) && se2.cell == -4096 && se2.level == 2 && in.p == in.end);
	log_bytes_free(&b);
}

/* Each time of each record, at the edge and beyond it. */
static void gate(void **state)
{
	static const struct {
		int64_t t_ns;
		bool good;
	} times[] = {{(INT64_C(1) << 62) - 1, true},	{INT64_C(1) << 62, false},    {1 - (INT64_C(1) << 62), true},
		     {-(INT64_C(1) << 62), false}, {INT64_MAX, false},		  {INT64_MIN, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		for (int field = 0; field < 10; field++) {
			int64_t t = times[i].t_ns;
			struct mark m = {.t_ns = field == 0 ? t : 0};
			struct change c = {.t_ns = field == 1 ? t : 0};
			struct gap g = {.from_ns = field == 2 ? t : -(INT64_C(1) << 61), .to_ns = field == 3 ? t : INT64_C(1) << 61};
			struct clock_anchor a = {field == 4 ? t : 0, field == 5 ? t : 0, field == 6 ? t : 0};
			struct span_stats s = {.first_ns = field == 7 ? t : 0, .last_ns = field == 8 ? t : 0};
			struct log_bytes b = {.n = 0};
			struct log_in in;
			bool all;

			log_fields_put(&b, log_mark_fields, &m);
			log_fields_put(&b, log_change_fields, &c);
			log_fields_put(&b, log_gap_fields, &g);
			log_anchor_put(&b, &a);
			log_stat_put(&b, &s);
			in = (struct log_in) {b.p, b.p + b.n, false};
			all = log_fields_get(&in, log_mark_fields, &m) && log_fields_get(&in, log_change_fields, &c) &&
			      log_fields_get(&in, log_gap_fields, &g) && log_anchor_get(&in, &a) && log_stat_get(&in, &s);
			assert_true(all == (times[i].good || field == 9));
			if (field == 2 || field == 3) {
				struct log_event ev = {.kind = LOG_GAP, .u.gap = {.from_ns = -(INT64_C(1) << 61), .to_ns = INT64_C(1) << 61}};
				struct log_in record;

				*(field == 2 ? &ev.u.gap.from_ns : &ev.u.gap.to_ns) = t;
				b.n = 0;
				log_event_put(&b, &ev);
				in = (struct log_in) {b.p, b.p + b.n, false};
				assert_true(log_get_record(&in, &record));
				assert_true(log_event_get(LOG_GAP, &record, &ev) == (times[i].good && (field == 2) == (t < 0)));
			}
			log_bytes_free(&b);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays),          cmocka_unit_test(forms),
		cmocka_unit_test(bad_kinds),       cmocka_unit_test(chunk),
		cmocka_unit_test(bad_times),       cmocka_unit_test(heads),
		cmocka_unit_test(bad_frames),      cmocka_unit_test(records),
		cmocka_unit_test(hostile_payload), cmocka_unit_test(hostile_frame),
		cmocka_unit_test(gate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
