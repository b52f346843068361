/* What the log's writer wrote, read back with nothing but log-chunk and log-codec: rows bit
 * for bit, events, bins, statistics and the index; and what happens when the disk or the
 * reader of a pipe is slow, full or gone. */
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
#include "trace/log-lod.h"
#include "trace/log-writer.h"

#define CHANNELS 7
#define START    ((INT64_C(1) << 45) - 30 * NS_PER_S) /* 30 s before the first level 3 ends */

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

/* All rows that were pushed, and all that came back. */
struct column {
	size_t n, room;
	int64_t *t_ns;
	double *values; /* row by row */
};
static struct column pushed[TIERS];

static void column_add(struct column *c, size_t width, int64_t t_ns, const double *v)
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

static void columns_free(struct column *c)
{
	for (int t = 0; t < TIERS; t++) {
		free(c[t].t_ns);
		free(c[t].values);
	}
	memset(c, 0, TIERS * sizeof(*c));
}

static double value_of(enum tier t, size_t column, uint64_t row)
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

/* Rows of `seconds`, as the engine brings them: 33 ms of each tier at a time. */
static void push(struct sink *s, int64_t from_ns, double seconds)
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

static struct file slurp(const char *path)
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

static void expect_near(double a, double b, double scale)
{
	if (!(fabs(a - b) <= 1e-9 * (fabs(scale) + 1e-300)))
		fail_msg("%.17g is not %.17g", a, b);
}

struct seen {
	struct column rows[TIERS];
	size_t kinds[LOG_KINDS];
	struct mark marks[5001];
	struct gap gaps[64];
	struct change changes[8];
	size_t n_marks, n_gaps, n_changes;
	uint64_t next_seq;
	uint8_t reason;
	char next[64];
	struct log_tally tally;
	uint64_t newest;   /* from END to the last INDEX */
	size_t incomplete; /* INDEX chunks without their events */
	size_t events;     /* bytes of them in all others */
};

static void see_data(struct seen *s, const struct log_head *h, struct log_in *in)
{
	struct log_section sec;
	int r;

	while ((r = log_data_next(in, &sec)) > 0) {
		double *v = calloc(sec.n * sec.columns, sizeof(*v)), *column = calloc(sec.n, sizeof(*column));
		int64_t *t_ns = calloc(sec.n, sizeof(*t_ns));
		struct log_walk w;

		assert_true(v && column && t_ns);
		assert_int_equal(sec.columns, about.width[sec.tier]);
		assert_int_equal(log_section_times(&sec, h->cell, t_ns), 0);
		log_walk_begin(&w, &sec);
		for (size_t c = 0; c < sec.columns; c++) {
			assert_true(log_walk_get(&w, column));
			for (size_t i = 0; i < sec.n; i++)
				v[i * sec.columns + c] = column[i];
		}
		for (size_t i = 0; i < sec.n; i++)
			column_add(&s->rows[sec.tier], sec.columns, t_ns[i], v + i * sec.columns);
		free(v);
		free(column);
		free(t_ns);
	}
	assert_int_equal(r, 0);
}

static void see_events(struct seen *s, const struct log_head *h, struct log_in *in)
{
	struct log_in record;

	while (log_get_record(in, &record)) {
		if (h->kind == LOG_MARK)
			assert_true(s->n_marks < 5001 && log_mark_get(&record, &s->marks[s->n_marks++]));
		else if (h->kind == LOG_GAP)
			assert_true(s->n_gaps < 64 && log_gap_get(&record, &s->gaps[s->n_gaps++]));
		else
			assert_true(s->n_changes < 8 && log_change_get(&record, &s->changes[s->n_changes++]));
	}
	assert_false(in->bad);
}

/* A bin of the rows, folded as a timeline does it: base by base, then halves. */
static struct bin bin_of(const struct column *rows, size_t width, size_t c, int zoom, int64_t index, int base)
{
	struct bin b = {.n = 0}, later;
	size_t i = 0, end = rows->n;

	while (i < end) { /* the first row that is not before the bin */
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

static void check_section(const struct log_section *sec, int zoom)
{
	size_t width = about.width[sec->tier];
	int base = zoom_base(about.hz[sec->tier]);
	double part[4][LOG_BINS_MAX];

	assert_int_equal(sec->columns, 4 * width);
	assert_true(base + 4 <= zoom);
	for (size_t c = 0; c < width; c++) {
		for (size_t k = 0; k < 4; k++) {
			struct log_walk w;

			log_walk_begin(&w, sec);
			log_walk_skip(&w, (uint32_t)(k * width + c));
			assert_true(log_walk_get(&w, part[k]));
		}
		for (size_t i = 0; i < sec->n; i++) {
			struct bin b =
				bin_of(&pushed[sec->tier], width, c, zoom, sec->first + (int64_t)i, base);

			assert_true(part[3][i] == (double)b.n);
			assert_true(b.n == 0 || (part[0][i] == b.min && part[1][i] == b.max));
			assert_true(b.n == 0 || !memcmp(&part[2][i], &b.sum, sizeof(b.sum)));
		}
	}
}

static void check_lod(struct log_in *in)
{
	unsigned zoom = log_get_u8(in);
	struct log_section sec;
	int r;

	log_in_take(in, 3);
	while ((r = log_lod_next(in, &sec)) > 0)
		check_section(&sec, (int)zoom);
	assert_int_equal(r, 0);
}

/* All rows of the span at once, added up plainly. */
static void reference(struct log_stat *s, enum tier t, size_t c, int64_t from, int64_t to)
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

static void check_stat(const struct log_head *h, struct log_in *in)
{
	int level = (int)log_get_u8(in);
	unsigned size = (log_get_u8(in), log_get_u16(in));
	uint32_t n = log_get_u32(in);
	uint8_t *records = malloc((size_t)n * size);
	int64_t from = h->cell << LOG_CELL_ZOOM, to = from + (INT64_C(1) << (LOG_CELL_ZOOM + 6 * level));

	assert_true(records && size == LOG_STAT_SIZE && n == CHANNELS - 1);
	assert_int_equal(in->end - in->p, (size_t)n * size);
	log_unshuffle(records, in->p, n, size);
	for (uint32_t i = 0; i < n; i++) {
		struct log_stat s, want;
		const struct channel *c;

		log_stat_get(records + (size_t)i * size, &s);
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

/* Each entry leads to a chunk that is what it says. */
static void check_index(const struct file *f, size_t at, struct log_in *in, struct seen *s)
{
	unsigned level = log_get_u8(in), flags = log_get_u8(in), size = log_get_u16(in);
	uint32_t n = log_get_u32(in), events = log_get_u32(in);
	const uint8_t *p = log_in_take(in, (size_t)n * LOG_ENTRY_SIZE);
	uint8_t *entries = malloc((size_t)n * LOG_ENTRY_SIZE);

	assert_true(entries && p && size == LOG_ENTRY_SIZE && level >= 1 && level <= 3 &&
		    flags <= LOG_INCOMPLETE);
	assert_int_equal(in->end - in->p, events);
	assert_true(events <= LOG_EVENTS_MAX && (flags == 0 || events == 0));
	s->incomplete += flags;
	s->events += events;
	log_unshuffle(entries, p, n, LOG_ENTRY_SIZE);
	for (uint32_t i = 0; i < n; i++) {
		struct log_entry e;
		struct log_head h;

		log_entry_get(entries + (size_t)i * LOG_ENTRY_SIZE, &e);
		assert_true(e.distance > 0 && e.distance <= at);
		assert_true(log_head_get(f->p + at - e.distance, &h));
		assert_true(h.kind == e.kind && h.stored == e.stored && h.cell == e.cell);
	}
	free(entries);
}

/* Every chunk of a file that nothing is wrong with. */
static void read_all(const struct file *f, struct seen *s)
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
		assert_int_equal(h.seq, s->next_seq);
		s->next_seq++;
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
			check_lod(&in);
			break;
		case LOG_STAT:
			check_stat(&h, &in);
			break;
		case LOG_INDEX:
			check_index(f, at, &in, s);
			break;
		case LOG_END:
			s->reason = (uint8_t)log_get_u8(&in);
			s->newest = log_get_u64(&in);
			log_tally_get(&in, &s->tally);
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

/* The same where not all rows that were pushed are in the file, or all channels have values. */
static void read_without_stat(const struct file *f, struct seen *s, bool bins)
{
	struct log_unpacker *u = log_unpacker_new();
	struct log_bytes raw = {.n = 0};
	struct log_head h;

	memset(s, 0, sizeof(*s));
	for (size_t at = 0; at < f->n; at += LOG_HEAD + h.stored) {
		struct log_in in;

		assert_true(f->n - at >= LOG_HEAD && log_head_get(f->p + at, &h));
		assert_int_equal(h.seq, s->next_seq++); /* what was dropped is a gap and no missing chunk */
		assert_int_equal(log_unpack(u, &h, f->p + at + LOG_HEAD, &raw), LOG_OK);
		in = (struct log_in) {raw.p, raw.p + raw.n, false};
		if (h.kind == LOG_DATA)
			see_data(s, &h, &in);
		if (h.kind == LOG_MARK || h.kind == LOG_GAP)
			see_events(s, &h, &in);
		if (h.kind == LOG_LOD && bins)
			check_lod(&in);
		if (h.kind == LOG_INDEX)
			check_index(f, at, &in, s);
	}
	log_bytes_free(&raw);
	log_unpacker_free(u);
}

static void expect_rows(const struct seen *s)
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

/* --- tests --- */

static char folder[64], path[128];

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/nvmtop-log-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/a.nvmt", folder);
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	columns_free(pushed);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static struct log_writer *writer(bool live)
{
	struct err e = {.code = ERR_NONE};
	struct log_writer *w = log_writer_new(path, false, &e);

	assert_non_null(w);
	log_writer_options(w)->live = live;
	return w;
}

static void end(struct log_writer *w)
{
	struct sink *s = log_writer_sink(w);
	struct err e = {.code = ERR_NONE};

	if (s->ops->end(s, &e) < 0)
		fail_msg("%s", e.text);
	log_writer_free(w);
}

/* Over the edge of a level 2 and of a level 3. */
static void round_trip(void **state)
{
	struct log_writer *w = writer(false);
	struct sink *s = log_writer_sink(w);
	static struct seen seen;
	struct file f;

	(void)state;
	assert_int_equal(s->ops->begin(s, &about, NULL), 0);
	push(s, START, 20);
	s->ops->mark(s, &(struct mark) {1, START + 5 * NS_PER_S, "first"});
	s->ops->mark(s, &(struct mark) {2, START + 6 * NS_PER_S, ""});
	s->ops->gap(s, &(struct gap) {TIER_FAST, GAP_LATE, START + 10, START + 20, 3});
	s->ops->change(s, &(struct change) {START + 9, "mode", "15W", "30W"});
	push(s, START + 20 * NS_PER_S, 40);
	end(w);
	f = slurp(path);
	read_all(&f, &seen);
	expect_rows(&seen);
	assert_int_equal(seen.kinds[LOG_META], 8);
	assert_int_equal(seen.kinds[LOG_INDEX], 8 + 2 + 2);
	assert_int_equal(seen.kinds[LOG_STAT], 8 + 2 + 2);
	assert_int_equal(seen.kinds[LOG_LOD], 8 * 2 + 2 * 3 + 2 * 3);
	assert_int_equal(seen.kinds[LOG_END], 1);
	assert_true(seen.n_marks == 2 && seen.n_gaps == 1 && seen.n_changes == 1);
	assert_string_equal(seen.marks[0].label, "first");
	assert_string_equal(seen.changes[0].to, "30W");
	assert_true(seen.tally.rows[TIER_FAST] == 60000 && seen.tally.late[TIER_FAST] == 3 &&
		    seen.tally.marks == 2);
	columns_free(seen.rows);
	free(f.p);
}

/* A tier that comes half a second late has chunks of its own; one that comes after its group
 * was closed is lost, and that is in the file. */
static void late_rows(void **state)
{
	struct log_writer *w = writer(false);
	struct sink *s = log_writer_sink(w);
	int64_t t_ns[2] = {START + 3 * NS_PER_S, START + 26 * NS_PER_S};
	double v[4] = {1, 2, 3, 4};
	static struct seen seen;
	struct file f;

	(void)state;
	assert_int_equal(s->ops->begin(s, &about, NULL), 0);
	for (int64_t i = 0; i < 50; i++) {
		int64_t at = START + i * 500 * NS_PER_MS;
		double fast[3] = {(double)i, 1, 2};

		s->ops->rows(s, &(struct rows) {TIER_FAST, 1, 3, &at, fast});
		column_add(&pushed[TIER_FAST], 3, at, fast);
		if (i > 0) {
			at -= 500 * NS_PER_MS;
			s->ops->rows(s, &(struct rows) {TIER_MEDIUM, 1, 2, &at, v});
			column_add(&pushed[TIER_MEDIUM], 2, at, v);
		}
	}
	s->ops->rows(s, &(struct rows) {TIER_SLOW, 2, 2, t_ns, v});
	column_add(&pushed[TIER_SLOW], 2, t_ns[1], v + 2);
	end(w);
	f = slurp(path);
	read_without_stat(&f, &seen, true);
	expect_rows(&seen);
	assert_int_equal(seen.n_gaps, 1);
	assert_true(seen.gaps[0].tier == TIER_SLOW && seen.gaps[0].cause == GAP_LOST &&
		    seen.gaps[0].missed == 1 && seen.gaps[0].from_ns == t_ns[0] &&
		    seen.gaps[0].to_ns == t_ns[1]);
	columns_free(seen.rows);
	free(f.p);
}

/* Three hours without rows: all spans between are closed, and none of them is there. */
static void long_pause(void **state)
{
	struct log_writer *w = writer(false);
	struct sink *s = log_writer_sink(w);
	static struct seen seen;
	struct file f;

	(void)state;
	assert_int_equal(s->ops->begin(s, &about, NULL), 0);
	push(s, START, 3);
	push(s, START + 10795 * NS_PER_S, 3);
	end(w);
	f = slurp(path);
	read_all(&f, &seen);
	expect_rows(&seen);
	assert_int_equal(seen.kinds[LOG_INDEX], 2 + 2 + 2);
	columns_free(seen.rows);
	free(f.p);
}

/* More marks than an INDEX repeats. */
static void many_marks(void **state)
{
	static struct seen seen;
	struct log_writer *w = writer(false);
	struct sink *s = log_writer_sink(w);
	struct file f;

	(void)state;
	assert_int_equal(s->ops->begin(s, &about, NULL), 0);
	push(s, START, 3);
	for (uint64_t i = 1; i <= 5000; i++)
		s->ops->mark(s, &(struct mark) {i, START + (int64_t)i, "step"});
	push(s, START + 3 * NS_PER_S, 8);
	s->ops->mark(s, &(struct mark) {5001, START, "late"});
	end(w);
	f = slurp(path);
	read_all(&f, &seen);
	expect_rows(&seen);
	assert_int_equal(seen.tally.marks, 5001);
	assert_int_equal(seen.incomplete, 1 + 1 + 1);
	assert_int_equal(seen.events, 1 + 2 + 18 + 4);
	columns_free(seen.rows);
	free(f.p);
}

static void wait_for(struct log_writer *w, bool (*done)(const struct log_writer_stats *), const char *what)
{
	struct log_writer_stats st;

	for (int i = 0; i < 1000; i++) {
		log_writer_stats(w, &st);
		if (done(&st))
			return;
		nanosleep(&(struct timespec) {.tv_nsec = 10000000}, NULL);
	}
	fail_msg("%s", what);
}

static bool has_rows(const struct log_writer_stats *st)
{
	return st->rows[TIER_FAST] == 20;
}

static bool has_failed(const struct log_writer_stats *st)
{
	return st->failed;
}

/* A live cell is written when its time is over, although nothing more comes. */
static void cadence(void **state)
{
	struct log_writer *w = writer(true);
	struct sink *s = log_writer_sink(w);
	struct session now = about;

	(void)state;
	clock_anchor(&now.start);
	assert_int_equal(s->ops->begin(s, &now, NULL), 0);
	for (int64_t i = 0; i < 20; i++)
		s->ops->rows(s,
			     &(struct rows) {TIER_FAST, 1, 3, &(int64_t) {now.start.mono_ns + i * NS_PER_MS},
					     (double[]) {1, 2, 3}});
	wait_for(w, has_rows, "the rows are not written");
	end(w);
}

/* A reader that takes nothing: DATA is dropped and counted, and then there is a gap. */
static void slow_pipe(void **state)
{
	int ends[2];
	struct err e = {.code = ERR_NONE};
	struct log_writer *w;
	struct log_writer_stats st;
	struct sink *s;
	static struct seen seen;
	struct file f;
	uint64_t missed[TIERS] = {0};
	char buf[65536];
	FILE *out;
	ssize_t n;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) > 0);
	w = log_writer_fd(ends[1], &e);
	assert_non_null(w);
	log_writer_options(w)->live = false;
	log_writer_buffer(w, 20000);
	s = log_writer_sink(w);
	assert_int_equal(s->ops->begin(s, &about, NULL), 0);
	push(s, START, 20);
	s->ops->mark(s, &(struct mark) {1, START + 5 * NS_PER_S, "kept"});
	log_writer_stats(w, &st);
	assert_true(st.dropping && st.lost_rows > 1000 && st.queued < 120000);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	for (int i = 0; i < 200; i++) { /* it reads again */
		while ((n = read(ends[0], buf, sizeof(buf))) > 0)
			assert_int_equal(fwrite(buf, 1, (size_t)n, out), n);
		nanosleep(&(struct timespec) {.tv_nsec = 5000000}, NULL);
		log_writer_stats(w, &st);
		if (!st.queued)
			break;
	}
	columns_free(pushed); /* bins of what was lost are not compared */
	push(s, START + 20 * NS_PER_S, 1);
	log_writer_finish(w);
	while (!log_writer_done(w)) {
		while ((n = read(ends[0], buf, sizeof(buf))) > 0)
			assert_int_equal(fwrite(buf, 1, (size_t)n, out), n);
		nanosleep(&(struct timespec) {.tv_nsec = 1000000}, NULL);
	}
	log_writer_stats(w, &st);
	assert_false(st.failed);
	end(w);
	while ((n = read(ends[0], buf, sizeof(buf))) > 0)
		assert_int_equal(fwrite(buf, 1, (size_t)n, out), n);
	fclose(out);
	close(ends[0]);
	f = slurp(path);
	read_without_stat(&f, &seen, false);
	assert_int_equal(seen.n_marks, 1);
	for (size_t i = 0; i < seen.n_gaps; i++)
		missed[seen.gaps[i].tier] += seen.gaps[i].missed;
	assert_int_equal(seen.rows[TIER_FAST].n + missed[TIER_FAST], 21000);
	assert_int_equal(seen.rows[TIER_MEDIUM].n + missed[TIER_MEDIUM], 2100);
	assert_int_equal(seen.rows[TIER_SLOW].n + missed[TIER_SLOW], 210);
	assert_true(missed[TIER_FAST] > 1000);
	columns_free(seen.rows);
	free(f.p);
}

static void reader_gone(void **state)
{
	int ends[2];
	struct err e = {.code = ERR_NONE};
	struct log_writer *w;
	struct log_writer_stats st;
	struct sink *s;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	w = log_writer_fd(ends[1], &e);
	s = log_writer_sink(w);
	log_writer_options(w)->live = false;
	assert_int_equal(s->ops->begin(s, &about, NULL), 0);
	close(ends[0]);
	push(s, START, 1);
	wait_for(w, has_failed, "the pipe has no reader, and that is not noticed");
	push(s, START + NS_PER_S, 1);
	assert_int_equal(s->ops->end(s, &e), -1);
	log_writer_stats(w, &st);
	assert_true(st.reader_gone && st.lost_rows > 0);
	log_writer_free(w);
}

/* At the end nothing waits for a reader that takes nothing. */
static void deaf_reader(void **state)
{
	int ends[2];
	struct err e = {.code = ERR_NONE};
	struct log_writer *w;
	struct sink *s;
	int64_t began;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	w = log_writer_fd(ends[1], &e);
	s = log_writer_sink(w);
	log_writer_options(w)->live = false;
	assert_int_equal(s->ops->begin(s, &about, NULL), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) > 0);
	push(s, START, 15);
	began = clock_now_ns();
	log_writer_finish(w);
	assert_true(clock_now_ns() - began < 2 * NS_PER_S);
	assert_int_equal(s->ops->end(s, &e), -1);
	assert_true(clock_now_ns() - began < 10 * NS_PER_S);
	log_writer_free(w);
	close(ends[0]);
}

/* A disk that gets full in the middle of a chunk: what is in the file is whole. */
static void full_disk(void **state)
{
	struct rlimit was, small = {.rlim_cur = 100000};
	struct log_writer *w = writer(false);
	struct log_writer_stats st;
	struct sink *s = log_writer_sink(w);
	struct err e = {.code = ERR_NONE};
	static struct seen seen;
	struct file f;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small.rlim_max = was.rlim_max;
	assert_int_equal(s->ops->begin(s, &about, NULL), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	push(s, START, 30);
	assert_int_equal(s->ops->end(s, &e), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(e.num, EFBIG);
	log_writer_stats(w, &st);
	assert_true(st.failed && st.lost_rows > 0);
	log_writer_free(w);
	f = slurp(path);
	assert_true(f.n > 50000 && f.n <= 100000 && f.n == st.bytes);
	read_all(&f, &seen);
	assert_true(seen.rows[TIER_FAST].n == st.rows[TIER_FAST] && seen.kinds[LOG_END] == 0);
	columns_free(seen.rows);
	free(f.p);
}

/* A disk that holds every sync while `held`. */
static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answers = PTHREAD_COND_INITIALIZER;
static bool held;
static unsigned syncs;

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	pthread_mutex_lock(&disk);
	syncs++;
	while (held)
		pthread_cond_wait(&answers, &disk);
	pthread_mutex_unlock(&disk);
	return __real_fdatasync(fd);
}

static void disk_hold(bool hold)
{
	pthread_mutex_lock(&disk);
	held = hold;
	pthread_cond_broadcast(&answers);
	pthread_mutex_unlock(&disk);
}

static bool is_syncing(const struct log_writer_stats *st)
{
	unsigned n;

	(void)st;
	pthread_mutex_lock(&disk);
	n = syncs;
	pthread_mutex_unlock(&disk);
	return n > 0;
}

static bool has_second(const struct log_writer_stats *st)
{
	return st->rows[TIER_FAST] >= 1500;
}

/* A disk that does not answer holds up neither rows nor free(). */
static void held_sync(void **state)
{
	struct log_writer *w = writer(false);
	struct sink *s = log_writer_sink(w);
	static struct seen seen;
	struct file f;
	int64_t began;

	(void)state;
	log_writer_sync_every(w, 10 * NS_PER_MS);
	syncs = 0;
	disk_hold(true);
	assert_int_equal(s->ops->begin(s, &about, NULL), 0);
	push(s, START, 1);
	wait_for(w, is_syncing, "nothing is synced");
	push(s, START + NS_PER_S, 1);
	wait_for(w, has_second, "writing waits for a sync");
	began = clock_now_ns();
	log_writer_finish(w);
	assert_false(log_writer_done(w));
	log_writer_free(w);
	assert_true(clock_now_ns() - began < 2 * NS_PER_S);
	disk_hold(false);
	for (int i = 0; i < 500; i++) { /* until all is written */
		f = slurp(path);
		read_all(&f, &seen);
		if (seen.kinds[LOG_END])
			break;
		columns_free(seen.rows);
		free(f.p);
		nanosleep(&(struct timespec) {.tv_nsec = 10000000}, NULL);
	}
	assert_int_equal(seen.kinds[LOG_END], 1);
	expect_rows(&seen);
	columns_free(seen.rows);
	free(f.p);
}

static void names(void **state)
{
	struct log_writer *w = writer(false), *other;
	struct err e = {.code = ERR_NONE};
	char bad[160];

	(void)state;
	assert_null(log_writer_new(path, false, &e)); /* it is there */
	assert_int_equal(e.num, EEXIST);
	assert_null(log_writer_new(path, true, &e)); /* and at work */
	assert_int_equal(e.num, EBUSY);
	assert_null(log_writer_new(folder, true, &e));
	assert_int_equal(e.num, EISDIR);
	assert_null(log_writer_new(folder, false, &e));
	assert_int_equal(e.num, EISDIR);
	snprintf(bad, sizeof(bad), "%s/none/a.nvmt", folder);
	assert_null(log_writer_new(bad, false, &e));
	assert_int_equal(e.num, ENOENT);
	assert_null(log_writer_new("", false, &e));
	log_writer_free(w);
	other = log_writer_new(path, true, &e);
	assert_non_null(other);
	log_writer_free(other);
}

/* A second file goes on where the first one ended. */
static void split(void **state)
{
	struct log_writer *w = writer(false);
	struct sink *s = log_writer_sink(w);
	struct log_options next;
	static struct seen seen;
	struct file f;

	(void)state;
	assert_int_equal(s->ops->begin(s, &about, NULL), 0);
	push(s, START, 3);
	log_writer_reason(w, LOG_SPLIT, "b.nvmt");
	assert_int_equal(s->ops->end(s, NULL), 0);
	log_writer_next(w, &next);
	log_writer_free(w);
	f = slurp(path);
	read_all(&f, &seen);
	expect_rows(&seen);
	assert_int_equal(seen.reason, LOG_SPLIT);
	assert_string_equal(seen.next, "b.nvmt");
	assert_int_equal(next.seq, seen.next_seq);
	assert_true(next.part == 1 && next.session != 0);
	columns_free(seen.rows);
	free(f.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(round_trip, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cadence, set_up, tear_down),
		cmocka_unit_test_setup_teardown(slow_pipe, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reader_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(deaf_reader, set_up, tear_down),
		cmocka_unit_test_setup_teardown(full_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(held_sync, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(split, set_up, tear_down),
		cmocka_unit_test_setup_teardown(long_pause, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_marks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(late_rows, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
