/* test-log: a stream of random rows, and a log reader that uses only log-chunk and log-codec and
 * compares rows bit for bit, events, bins, statistics and the index. */
#ifndef TEST_LOG_H
#define TEST_LOG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "random.h"
#include "stream-to.h"
#include "trace/log-decode.h"
#include "trace/log-lod.h"
#include "trace/log-out.h"

#define CHANNELS 7
#define MARKS	 25000 /* more than an INDEX repeats */
#define START    ((INT64_C(1) << 45) - 30 * NS_PER_S) /* 30 s before the first level 3 span ends */

static struct channel channels[CHANNELS] = {
	{.name = "gpu.util", .tier = TIER_FAST, .column = 0, .unit = UNIT_PERCENT, .kind = CHANNEL_GPU_UTIL},
	{.name = "cpu.util", .tier = TIER_FAST, .column = 1, .unit = UNIT_PERCENT, .kind = CHANNEL_CPU_UTIL},
	{.name = "mem.used", .tier = TIER_FAST, .column = 2, .unit = UNIT_KB, .kind = CHANNEL_RAM_USED},
	{.name = "in.power",
	 .tier = TIER_MEDIUM,
	 .column = 0,
	 .unit = UNIT_MILLIWATT,
	 .kind = CHANNEL_RAIL_POWER},
	{.name = "never", .tier = TIER_MEDIUM, .column = 1, .missing = "no permission"},
	{.name = "gpu.temp",
	 .tier = TIER_SLOW,
	 .column = 0,
	 .unit = UNIT_CELSIUS,
	 .kind = CHANNEL_TEMPERATURE},
	{.name = "throttle", .tier = TIER_SLOW, .column = 1, .kind = CHANNEL_THROTTLE_COUNT},
};
static struct fact facts[] = {{"board", "agx_orin"}, {"mode", "15W"}};
static const struct session about = {.channels = channels,
				     .n_channels = CHANNELS,
				     .width = {3, 2, 2},
				     .hz = {1000, 100, 10},
				     .start = {START, INT64_C(1763650000000000000), START},
				     .facts = facts,
				     .n_facts = 2};

/* All rows pushed, and all rows read. */
struct column {
	size_t n, room;
	int64_t *t_ns;
	double *values; /* row by row */
};
static struct column pushed[TIERS];

static inline void column_add(struct column *c, size_t width, int64_t t_ns, const double *v)
{
	if (c->n == c->room) {
		c->room = c->room ? 2 * c->room : 4096;
		c->t_ns = reallocarray(c->t_ns, c->room, sizeof(*c->t_ns));
		c->values = reallocarray(c->values, c->room * width, sizeof(*c->values));
		assert_true(c->t_ns && c->values);
	}
	c->t_ns[c->n] = t_ns;
	memcpy(c->values + c->n++ * width, v, width * sizeof(*v));
}

static inline void columns_free(struct column *c)
{
	for (int t = 0; t < TIERS; t++) {
		free(c[t].t_ns);
		free(c[t].values);
	}
	memset(c, 0, TIERS * sizeof(*c));
}

static inline double value_of(enum tier t, size_t column, uint64_t row)
{
	if (random_below(50) == 0)
		return (double)NAN;
	switch (t * 4 + column) {
	case 0:
		return (double)random_below(1001) / 10;
	case 1:
		return (double)(float)((double)random_below(100000) / 997);
	case 2:
		return (double)(4000000 + random_below(1000));
	case 4:
		return (double)(int64_t)random_below(30000) - 2000;
	case 5:
		return (double)NAN;
	case 8:
		return (double)(float)((double)(40000 + random_below(500)) / 1000);
	default:
		return (double)(row / 7);
	}
}

/* Push rows of `seconds`, as the engine does: 33 ms of each tier at a time. */
static inline void push(struct sink *s, int64_t from_ns, double seconds)
{
	const int64_t period[TIERS] = {NS_PER_MS, 10 * NS_PER_MS, 100 * NS_PER_MS};
	int64_t until = from_ns + (int64_t)(seconds * (double)NS_PER_S);

	for (int64_t now = from_ns; now < until; now += 33 * NS_PER_MS) {
		for (enum tier t = 0; t < TIERS; t++) {
			int64_t t_ns[64];
			double v[64 * 3];
			size_t n = 0, width = about.width[t];

			for (int64_t at = (now + period[t] - 1) / period[t] * period[t];
			     at < now + 33 * NS_PER_MS && at < until; at += period[t]) {
				t_ns[n] = at + (int64_t)random_below(60000);
				for (size_t c = 0; c < width; c++)
					v[n * width + c] = value_of(t, c, (uint64_t)(at / period[t]));
				column_add(&pushed[t], width, t_ns[n], v + n * width);
				n++;
			}
			if (n > 0)
				s->ops->rows(s, &(struct rows) {t, n, width, t_ns, v});
		}
	}
}

/* --- reading --- */

struct file {
	uint8_t *p;
	size_t n;
};

static inline struct file slurp(const char *path)
{
	struct file f = {NULL, 0};
	struct stat st;
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	assert_int_equal(fstat(fileno(in), &st), 0);
	f.p = malloc((size_t)st.st_size + 1);
	assert_non_null(f.p);
	f.n = fread(f.p, 1, (size_t)st.st_size, in);
	assert_int_equal(f.n, st.st_size);
	fclose(in);
	return f;
}

static inline void expect_near(double a, double b, double scale)
{
	if (!(fabs(a - b) <= 1e-9 * (fabs(scale) + 1e-300)))
		fail_msg("%.17g is not %.17g", a, b);
}

struct seen {
	struct column rows[TIERS];
	size_t kinds[LOG_KINDS];
	struct mark marks[MARKS + 1];
	struct gap gaps[64];
	struct change changes[8];
	size_t n_marks, n_gaps, n_changes;
	uint64_t first_seq, next_seq;
	uint64_t late[TIERS]; /* single late ticks */
	uint8_t reason;
	char next[64];
	uint64_t newest;   /* from END to the last INDEX */
	size_t incomplete; /* INDEX chunks without their events */
	size_t events;     /* their bytes in all other chunks */
	size_t index_at;   /* of the last one */
};

static inline void see_data(struct seen *s, const struct log_head *h, struct log_in *in)
{
	struct log_section sec;
	int r;

	while ((r = log_section_next(in, &sec, true)) > 0) {
		double *v = calloc(sec.n * sec.columns, sizeof(*v)), *column = calloc(sec.n, sizeof(*column));
		int64_t *t_ns = calloc(sec.n, sizeof(*t_ns));
		uint8_t *late = calloc(sec.n, 1);
		struct log_array *arrays = calloc(sec.columns + 1, sizeof(*arrays));

		assert_true(v && column && t_ns && late && arrays);
		assert_int_equal(sec.columns, about.width[sec.tier]);
		assert_true(log_section_times(&sec, h->cell, t_ns, late, NULL));
		assert_true(log_section_arrays(&sec, NULL, sec.columns, sec.columns, sec.arrays, arrays));
		for (size_t i = 0; i < sec.n; i++)
			s->late[sec.tier] += late[i];
		for (size_t c = 0; c < sec.columns; c++) {
			log_array_get(&arrays[c], sec.n, column);
			for (size_t i = 0; i < sec.n; i++)
				v[i * sec.columns + c] = column[i];
		}
		for (size_t i = 0; i < sec.n; i++)
			column_add(&s->rows[sec.tier], sec.columns, t_ns[i], v + i * sec.columns);
		free(v);
		free(arrays);
		free(column);
		free(late);
		free(t_ns);
	}
	assert_int_equal(r, 0);
}

static inline void see_events(struct seen *s, const struct log_head *h, struct log_in *in)
{
	struct log_in record;

	while (log_get_record(in, &record)) {
		if (h->kind == LOG_MARK)
			assert_true(s->n_marks < MARKS + 1 && log_fields_get(&record, log_mark_fields, &s->marks[s->n_marks++]));
		else if (h->kind == LOG_GAP)
			assert_true(s->n_gaps < 64 && log_fields_get(&record, log_gap_fields, &s->gaps[s->n_gaps++]));
		else
			assert_true(s->n_changes < 8 && log_fields_get(&record, log_change_fields, &s->changes[s->n_changes++]));
	}
	assert_false(in->bad);
}

/* A bin folded from the rows as a timeline does: per base column, then halves. */
static struct bin bin_of(const struct column *rows, size_t width, size_t c, int zoom, int64_t index, int base)
{
	struct bin b = {.n = 0}, later;
	size_t i = 0, end = rows->n;

	while (i < end) { /* find the first row not before the bin */
		size_t mid = (i + end) / 2;

		if (rows->t_ns[mid] < index << zoom)
			i = mid + 1;
		else
			end = mid;
	}
	if (i == rows->n || rows->t_ns[i] >> zoom != index)
		return b;
	if (zoom > base) {
		b = bin_of(rows, width, c, zoom - 1, 2 * index, base);
		later = bin_of(rows, width, c, zoom - 1, 2 * index + 1, base);
		bin_merge(&b, &later);
		return b;
	}
	for (; i < rows->n && rows->t_ns[i] >> zoom == index; i++)
		bin_add(&b, rows->values[i * width + c]);
	return b;
}

static inline void check_section(const struct log_section *sec, int zoom)
{
	size_t width = about.width[sec->tier];
	int base = zoom_base(about.hz[sec->tier]);
	double part[LOG_PARTS][LOG_BINS_MAX];
	struct log_array arrays[LOG_PARTS * 3];

	assert_int_equal(sec->columns, LOG_PARTS * width);
	assert_true(width <= 3);
	assert_true(log_section_arrays(sec, NULL, (unsigned)width, width, sec->arrays, arrays));
	assert_true(base + 2 <= zoom);
	for (size_t c = 0; c < width; c++) {
		for (size_t k = 0; k < LOG_PARTS; k++)
			log_array_get(&arrays[k * width + c], sec->n, part[k]);
		for (size_t i = 0; i < sec->n; i++) {
			struct bin b =
				bin_of(&pushed[sec->tier], width, c, zoom, sec->first + (int64_t)i, base);

			assert_true(part[3][i] == (double)b.n);
			assert_true(b.n == 0 || (part[0][i] == b.min && part[1][i] == b.max));
			assert_true(b.n == 0 || !memcmp(&part[2][i], &b.sum, sizeof(b.sum)));
		}
	}
}

static inline void check_lod(struct log_in *in)
{
	unsigned zoom = log_get_u8(in);
	struct log_section sec;
	int r;

	log_in_take(in, 3);
	while ((r = log_section_next(in, &sec, false)) > 0)
		check_section(&sec, (int)zoom);
	assert_int_equal(r, 0);
}

/* Plain sum over all rows of the span. */
static inline void reference(struct span_stats *s, enum tier t, size_t c, int64_t from, int64_t to)
{
	const struct column *rows = &pushed[t];
	size_t width = about.width[t];
	double mean;

	memset(s, 0, sizeof(*s));
	for (int pass = 0; pass < 2; pass++) {
		mean = s->n ? s->sum / (double)s->n : 0;
		for (size_t i = 0; i < rows->n; i++) {
			double v = rows->values[i * width + c];
			int64_t dt;

			if (isnan(v) || rows->t_ns[i] < from || rows->t_ns[i] >= to)
				continue;
			if (pass == 1) {
				s->squares += (v - mean) * (v - mean);
				continue;
			}
			dt = rows->t_ns[i] - s->last_ns;
			if (s->n == 0) {
				s->min = s->max = s->first = v;
				s->first_ns = rows->t_ns[i];
			} else {
				s->rise += v > s->last ? v - s->last : 0;
				if (dt <= stats_hole_ns(about.hz[t])) {
					s->integral += (v + s->last) / 2 * (double)dt / 1e9;
					s->known_ns += (uint64_t)dt;
					s->above_ns += s->last > 0 ? (uint64_t)dt : 0;
				}
			}
			s->min = fmin(s->min, v);
			s->max = fmax(s->max, v);
			s->sum += v;
			s->n++;
			s->last = v;
			s->last_ns = rows->t_ns[i];
		}
	}
}

static inline void check_stat(const struct log_head *h, struct log_in *in)
{
	int level = (int)log_get_u8(in);
	unsigned size = (log_get_u8(in), log_get_u16(in));
	uint32_t n = log_get_u32(in);
	struct late_ticks late[LOG_TIERS];
	uint8_t *records = malloc((size_t)n * size);
	int64_t from = h->cell << LOG_CELL_ZOOM, to = from + (INT64_C(1) << (LOG_CELL_ZOOM + 6 * level));

	log_late_get(in, late);
	assert_true(records && size == LOG_STAT_SIZE && n == CHANNELS - 1);
	assert_int_equal(in->end - in->p, (size_t)n * size);
	log_unshuffle(records, in->p, n, size);
	for (uint32_t i = 0; i < n; i++) {
		struct span_stats s, want;
		const struct channel *c;

		log_stat_get(&(struct log_in) {records + i * size, records + (i + 1) * size, false}, &s);
		assert_true(s.channel < CHANNELS);
		c = &channels[s.channel];
		reference(&want, c->tier, c->column, from, to);
		assert_true(s.n == want.n && s.min == want.min && s.max == want.max &&
			    s.first == want.first && s.last == want.last && s.first_ns == want.first_ns &&
			    s.last_ns == want.last_ns && s.known_ns == want.known_ns &&
			    s.above_ns == want.above_ns);
		expect_near(s.sum, want.sum, want.sum);
		expect_near(s.squares, want.squares, want.squares + s.sum * s.sum / (double)s.n * 1e-3);
		expect_near(s.integral, want.integral,
			    fmax(fabs(s.min), fabs(s.max)) * (double)s.known_ns / 1e9);
		expect_near(s.rise, want.rise, want.rise);
	}
	free(records);
}

static inline struct log_head head_at(const struct file *f, size_t at, uint64_t distance)
{
	struct log_head h;

	assert_true(distance > 0 && distance <= at);
	assert_true(log_head_get(f->p + at - distance, &h));
	return h;
}

/* The rows of the group in the chunks that the entry is about, and no chunk of it outside. */
static inline void check_group(const struct file *f, size_t at, const struct log_group_entry *e)
{
	struct log_unpacker *u = log_unpacker_new();
	struct log_bytes raw = {.n = 0};
	uint32_t rows[LOG_TIERS] = {0};
	struct log_head h = head_at(f, at, e->first);

	assert_int_equal(h.cell >> 6, e->cell >> 6);
	for (size_t i = 0; i < f->n; i += LOG_HEAD + h.stored) {
		bool in = i >= at - e->first && i < at - e->first + e->length;
		struct log_section s;

		assert_true(log_head_get(f->p + i, &h));
		if (h.cell >> 6 != e->cell >> 6 || h.kind >= LOG_LOD)
			continue;
		assert_true(in);
		if (h.kind != LOG_DATA)
			continue;
		assert_int_equal(log_unpack(u, &h, f->p + i + LOG_HEAD, &raw), LOG_OK);
		for (struct log_in data = {raw.p, raw.p + raw.n, false}; log_section_next(&data, &s, true) > 0;)
			rows[s.tier] += s.n;
	}
	assert_memory_equal(rows, e->rows, sizeof(rows));
	if (e->sums) {
		h = head_at(f, at, e->sums);
		assert_true((h.kind == LOG_LOD || h.kind == LOG_STAT) && h.cell == e->cell);
	}
	log_bytes_free(&raw);
	log_unpacker_free(u);
}

/* Each entry is about what is there; each INDEX leads to the one before. */
static inline void check_index(const struct file *f, size_t at, struct log_in *in, struct seen *s)
{
	struct log_index_head h;
	uint8_t groups[100 * LOG_GROUP_SIZE], sums[10 * LOG_SUMS_SIZE];

	log_index_head_get(in, &h);
	assert_true(h.size == LOG_GROUP_SIZE && h.flags <= LOG_INCOMPLETE && h.groups <= 100 && h.sums <= 10);
	assert_int_equal(h.begin, at);
	assert_int_equal(h.before, s->index_at ? at - s->index_at : 0);
	s->index_at = at;
	log_unshuffle(groups, log_in_take(in, h.groups * LOG_GROUP_SIZE), h.groups, LOG_GROUP_SIZE);
	log_unshuffle(sums, log_in_take(in, h.sums * LOG_SUMS_SIZE), h.sums, LOG_SUMS_SIZE);
	assert_int_equal(in->end - in->p, h.events);
	assert_true(h.events <= LOG_EVENTS_MAX && (h.flags == 0 || h.events == 0));
	s->incomplete += h.flags;
	s->events += h.events;
	if (h.rest)
		head_at(f, at, h.rest);
	for (uint32_t i = 0; i < h.groups; i++) {
		struct log_group_entry e;

		log_group_entry_get(&(struct log_in) {groups + i * LOG_GROUP_SIZE, groups + sizeof(groups), false}, &e);
		check_group(f, at, &e);
	}
	for (uint32_t i = 0; i < h.sums; i++) {
		struct log_sums_entry e;
		struct log_head to;

		log_sums_entry_get(&(struct log_in) {sums + i * LOG_SUMS_SIZE, sums + sizeof(sums), false}, &e);
		to = head_at(f, at, e.distance);
		assert_true((to.kind == LOG_LOD || to.kind == LOG_STAT) && to.cell == e.cell);
	}
}

static inline void read_chunks(const struct file *f, struct seen *s, bool bins, bool stat)
{
	struct log_unpacker *u = log_unpacker_new();
	struct log_bytes raw = {.n = 0};
	size_t at = 0;

	memset(s, 0, sizeof(*s));
	while (at < f->n) {
		struct log_head h;
		struct log_in in;

		assert_true(f->n - at >= LOG_HEAD && log_head_get(f->p + at, &h));
		assert_true(h.stored <= f->n - at - LOG_HEAD);
		assert_int_equal(log_unpack(u, &h, f->p + at + LOG_HEAD, &raw), LOG_OK);
		assert_true(at > 0 || h.kind == LOG_META);
		if (at == 0)
			s->first_seq = s->next_seq = h.seq;
		assert_int_equal(h.seq, s->next_seq++); /* dropped data is a gap, not a missing chunk */
		s->kinds[h.kind]++;
		in = (struct log_in) {raw.p, raw.p + raw.n, false};
		switch (h.kind) {
		case LOG_DATA:
			see_data(s, &h, &in);
			break;
		case LOG_MARK:
		case LOG_GAP:
		case LOG_STATE:
			see_events(s, &h, &in);
			break;
		case LOG_LOD:
			if (bins)
				check_lod(&in);
			break;
		case LOG_STAT:
			if (stat)
				check_stat(&h, &in);
			break;
		case LOG_INDEX:
			check_index(f, at, &in, s);
			break;
		case LOG_END:
			s->reason = (uint8_t)log_get_u8(&in);
			s->newest = log_get_u64(&in);
			log_get_str(&in, s->next, sizeof(s->next));
			assert_int_equal(at + LOG_HEAD + h.stored, f->n);
			assert_true(log_head_get(f->p + at - s->newest, &h) && h.kind == LOG_INDEX);
			break;
		default:
			break;
		}
		at += LOG_HEAD + h.stored;
		if (s->kinds[LOG_END])
			break;
	}
	log_bytes_free(&raw);
	log_unpacker_free(u);
}

/* Read every chunk of an intact file. */
static inline void read_all(const struct file *f, struct seen *s)
{
	read_chunks(f, s, true, true);
}

/* The same for a file that lacks some rows or has channels without values. */
static inline void read_without_stat(const struct file *f, struct seen *s, bool bins)
{
	read_chunks(f, s, bins, false);
}

static inline void expect_rows(const struct seen *s)
{
	for (int t = 0; t < TIERS; t++) {
		const struct column *a = &pushed[t], *b = &s->rows[t];

		assert_int_equal(a->n, b->n);
		assert_memory_equal(a->t_ns, b->t_ns, a->n * sizeof(*a->t_ns));
		for (size_t i = 0; i < a->n * about.width[t]; i++)
			assert_true((isnan(a->values[i]) && isnan(b->values[i])) ||
				    !memcmp(&a->values[i], &b->values[i], sizeof(double)));
	}
}

/* --- setup --- */

static char folder[64], path[128];

static inline int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/nvmtop-log-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/a.nvmt", folder);
	return 0;
}

static inline int tear_down(void **state)
{
	char command[128];

	(void)state;
	columns_free(pushed);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static inline struct log_out *writer(void)
{
	struct err e = {.code = ERR_NONE};
	struct log_out *w = log_out_new(path, false, &e);

	assert_non_null(w);
	return w;
}

static inline void end(struct log_out *w, struct sink *s)
{
	struct err e = {.code = ERR_NONE};

	if (stream_end(w, s, &e) < 0)
		fail_msg("%s", e.text);
	log_out_free(w);
}

#endif
