/* Runs a fuzz target on logs in which fields, records and chunks were changed and then sealed again: checksums, codec
 * and, most of the time, the distances in INDEX and END are right, so that the code behind the checksums is reached.
 *
 *   tests/fuzz/mutate-trace [SEED [RUNS [FILE]]]      also mutate-report, mutate-stream
 *
 * Makes RUNS inputs with SEED, SEED + 1, ..., and prints each seed, so that an input can be made again; FILE gets the
 * last one. make check makes a few; after ./configure --enable-sanitizers, make many: tests/fuzz/mutate-report 1 100000 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "../unit/log-bytes.h"
#include "trace/format.h"

#define SEED 20261127
#ifdef __SANITIZE_ADDRESS__
#define RUNS 500
#else /* which finds crashes and endless loops only */
#define RUNS 150
#endif
#define STUCK  60 /* seconds of the processor that an input may take */
#define CHUNKS 4096
#define FIELDS 16384
#define EDGE   (INT64_C(1) << 62)
#define LEVEL3 (INT64_C(1) << 45) /* length of the longest span */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t most);

/* The target of streams has a mutator of its own, for libFuzzer. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t most)
{
	(void)bytes;
	(void)most;
	return n;
}

static uint64_t state;

static uint64_t dice(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? (state >> 8) % below : 0;
}

static bool one_in(unsigned n)
{
	return dice(n) == 0;
}

/* --- the logs that are changed --- */

/* raw: the payload, with the shuffled parts in order, item by item. */
struct chunk {
	struct log_head head;
	uint8_t *raw;
	size_t n;
	uint64_t at; /* offset in the log that it is from */
	int field;   /* of the head, changed after sealing; -1: none */
	uint64_t value;
};

struct text {
	const char *name;
	struct log_bytes bytes;
	struct chunk chunks[CHUNKS];
	size_t n;
};

enum type { COUNT, TIME, LENGTH, KIND, REAL, DISTANCE, PIECE };

/* A PIECE is a record: it can be left out or repeated. */
struct field {
	size_t at, size;
	enum type type;
};

struct fields {
	struct field list[FIELDS];
	size_t n;
};

static void build_rows(struct sink *to, const struct session *about, int64_t s)
{
	for (int64_t i = 0; i < s * 20; i++)
		for (enum tier t = 0; t < TIERS; t++) {
			int64_t every = (int64_t)(20 / about->hz[t]),
				ns = about->start.mono_ns + 1 + i * NS_PER_S / 20;
			double v[16];

			for (size_t c = 0; c < about->width[t]; c++)
				v[c] = one_in(50) ? (double)NAN
				       : c % 3    ? (double)dice(1000) / 10
						  : sqrt((double)dice(90));
			if (i % every == 0 && !one_in(200))
				to->ops->rows(to, &(struct rows) {t, 1, about->width[t], &ns, v});
		}
}

static void build_events(struct sink *to, struct ranges *names, int64_t start, int64_t s)
{
	const struct range_lane lane = {
		.pid = 7, .tid = 8, .process = "program", .thread = "main", .domain = "domain"};
	struct range r = {.name = ranges_name(names, "step"), .lane = ranges_lane(names, &lane)};

	for (int64_t i = 1; i < 9; i++) {
		int64_t t = start + i * s * NS_PER_S / 10;
		struct mark m = {.id = (uint64_t)i, .t_ns = t, .label = "mark"};
		struct gap g = {(enum tier)(i % TIERS), (enum gap_cause)(i % 3), t, t + NS_PER_S, 20};
		struct change c = {t, "mode", "15W", "30W"};

		snprintf(c.what, sizeof(c.what), "%s", i % 3 ? "mode" : "clock");
		to->ops->mark(to, &m);
		to->ops->gap(to, &g);
		to->ops->change(to, &c);
		r.begin_ns = t;
		r.end_ns = t + NS_PER_S / (i % 4 + 1);
		r.depth = (uint16_t)(i % 2);
		r.payload = (uint8_t)(i % 4);
		r.flags = i == 8 ? RANGE_OPEN : 0;
		r.category = i == 5 ? ranges_name(names, "category") : NULL;
		if (start >= 0) /* the times of ranges are not negative */
			to->ops->ranges(to, &r, 1);
	}
}

/* A log of all kinds of channels, chunks and records. */
static void build(struct text *l, const char *name, int64_t start_ns, int64_t s)
{
	static struct channel channels[CHANNEL_KINDS];
	const struct fact facts[] = {{"board", "test"}, {"mode", "15W"}, {"ram_total_kb", "8000000"}};
	struct session about = {.channels = channels, .facts = facts, .n_facts = 3, .hz = {20, 4, 1}};
	struct ranges *names;
	struct log_made made;
	struct err e;

	about.start = (struct clock_anchor) {start_ns, INT64_C(1767268800) * NS_PER_S, start_ns};
	for (int k = 1; k < CHANNEL_KINDS; k++) {
		struct channel *c = &channels[about.n_channels++];

		*c = (struct channel) {.kind = (enum channel_kind)k,
				       .tier = (enum tier)(k % TIERS),
				       .lo = 0,
				       .hi = 100,
				       .warn = 50,
				       .crit = (double)NAN,
				       .period_ns = NS_PER_MS,
				       .source = "/sys/file"};
		c->unit = k == CHANNEL_RAIL_POWER || k == CHANNEL_POWER_TOTAL ? UNIT_MILLIWATT
									      : (enum unit)(k % UNITS);
		c->family = (enum family)(k % FAMILIES);
		c->column = (uint16_t)about.width[c->tier]++;
		snprintf(c->name, sizeof(c->name), "c.%s", channel_kind_name(c->kind));
		snprintf(c->label, sizeof(c->label), "%s", channel_kind_name(c->kind));
	}
	l->name = name;
	names = ranges_new(SIZE_MAX / sizeof(struct range), &e);
	if (!names)
		exit(99);
	log_make(&made, &about, &(struct log_out_options) {.session = 0x12345678, .uuid = {1}});
	build_events(made.sink, names, start_ns, s);
	build_rows(made.sink, &about, s);
	log_made(&made, true, &l->bytes);
	ranges_free(names);
}

static void load(struct text *l, const char *name)
{
	const char *source = getenv("NVMTOP_SRC");
	uint8_t part[4096];
	char path[4096];
	size_t n;
	FILE *f;

	l->name = name;
	snprintf(path, sizeof(path), "%s/tests/traces/%s", source ? source : ".", name);
	f = fopen(path, "rb");
	while (f && (n = fread(part, 1, sizeof(part), f)) > 0)
		log_bytes_put(&l->bytes, part, n);
	if (f)
		fclose(f);
}

/* --- fields --- */

/* What becomes of the shuffled parts. */
enum way { STAY, UNSHUFFLE, SHUFFLE };

struct walk {
	uint8_t *p;
	size_t at, n;
	struct fields *to;
	enum way way;
};

static uint64_t number_at(const uint8_t *p, size_t size)
{
	uint64_t v = 0;

	memcpy(&v, p, size);
	return v;
}

/* Adds a field and returns its value; 0 beyond the end. */
static uint64_t take(struct walk *w, enum type type, size_t size)
{
	uint64_t v;

	if (w->n - w->at < size || size > 8) {
		w->at = w->n;
		return 0;
	}
	v = number_at(w->p + w->at, size);
	if (w->to && w->to->n < FIELDS)
		w->to->list[w->to->n++] = (struct field) {w->at, size, type};
	w->at += size;
	return v;
}

static void piece(struct walk *w, size_t from)
{
	if (w->to && w->to->n < FIELDS && w->at > from)
		w->to->list[w->to->n++] = (struct field) {from, w->at - from, PIECE};
}

static void skip(struct walk *w, uint64_t n)
{
	w->at = n < w->n - w->at ? w->at + (size_t)n : w->n;
}

static void take_text(struct walk *w)
{
	size_t n = (size_t)take(w, LENGTH, 2);

	if (n > 0 && w->at < w->n)
		take(w, KIND, 1); /* its first character */
	skip(w, n > 0 ? n - 1 : 0);
}

/* The types of fields in a row: c count, C KIND of a byte, t time, l length, s text, r real; the digit before is the size. */
static void take_all(struct walk *w, const char *form)
{
	static const char letters[] = "ctlkrd";

	for (size_t size = 8; *form; form++) {
		if (*form >= '0' && *form <= '9')
			size = (size_t)(*form - '0');
		else if (*form == 's')
			take_text(w);
		else
			take(w, (enum type)(strchr(letters, *form) - letters), size);
	}
}

static void reorder(uint8_t *p, size_t n, size_t each, enum way way)
{
	uint8_t *copy = malloc(n * each);

	if (!copy)
		exit(99);
	memcpy(copy, p, n * each);
	if (way == SHUFFLE)
		log_shuffle(p, copy, n, each);
	else
		log_unshuffle(p, copy, n, each);
	free(copy);
}

/* n items of `each` bytes, and the fields of some. */
static void take_shuffled(struct walk *w, uint64_t n, size_t each, const char *form)
{
	size_t from = w->at, end;

	if (each == 0 || n == 0 || n > (w->n - w->at) / each)
		return;
	end = from + (size_t)n * each;
	if (w->way != STAY)
		reorder(w->p + from, (size_t)n, each, w->way);
	for (size_t i = 0; w->to && i < n; i++) {
		w->at = from + i * each;
		if (n < 64 || i < 16 || i + 16 > n)
			take_all(w, form);
	}
	w->at = end;
}

static void walk_meta(struct walk *w)
{
	static const char *const forms[] = {"",
					    "s",
					    "",
					    "8ttt",
					    "8ttt",
					    "1k1k2c8r",
					    "ss",
					    "4c1k2c2c8rrrrcssssssssss",
					    "8ccccccccccccc",
					    "",
					    "4cs",
					    "1k"};

	while (w->at < w->n) {
		size_t from = w->at, end, tag = (size_t)take(w, KIND, 2), n = (size_t)take(w, LENGTH, 4);

		end = n < w->n - w->at ? w->at + n : w->n;
		if (tag < sizeof(forms) / sizeof(forms[0]))
			take_all(&(struct walk) {w->p, w->at, end, w->to, w->way}, forms[tag]);
		w->at = end;
		piece(w, from);
	}
}

static void walk_arrays(struct walk *w, size_t columns, uint64_t n, size_t kinds)
{
	for (size_t c = 0; c < columns && w->at < w->n; c++) {
		ssize_t size = log_array_size(w->p + w->at, w->n - w->at, w->p[kinds + c], (size_t)n);
		size_t end = size > 0 && (size_t)size < w->n - w->at ? w->at + (size_t)size : w->at;

		if (end - w->at >= 8) {
			take(w, REAL, 8);
			take(w, KIND, 1);
		}
		w->at = end;
		if (size < 0)
			return;
	}
}

static void walk_sections(struct walk *w, bool data)
{
	if (!data)
		take_all(w, "1kk2c");
	while (w->at < w->n) {
		size_t from = w->at, columns, kinds;
		uint64_t n;

		take_all(w, "1kk");
		columns = (size_t)take(w, COUNT, 2) * (data ? 1 : 4);
		n = take(w, COUNT, 4);
		take(w, TIME, 8);
		if (data)
			take(w, COUNT, 4);
		kinds = w->at;
		for (size_t c = 0; c < columns && w->at < w->n; c++)
			take(w, KIND, 1);
		take_shuffled(w, columns, 8, "8c");
		if (n == 0 || n > LOG_ROWS_MAX || w->at >= w->n)
			return;
		if (data)
			take_shuffled(w, n, 4, "4c");
		walk_arrays(w, columns, n, kinds);
		piece(w, from);
	}
}

static void walk_records(struct walk *w, unsigned kind, bool each)
{
	while (w->at < w->n) {
		size_t from = w->at, end, n;

		if (each)
			kind = (unsigned)take(w, KIND, 1);
		n = (size_t)take(w, LENGTH, 2);
		end = n < w->n - w->at ? w->at + n : w->n;
		take_all(&(struct walk) {w->p, w->at, end, w->to, w->way}, kind == LOG_MARK  ? "8cts"
									   : kind == LOG_GAP ? "1kk8ttc"
									   : kind == LOG_EVENT ? "8tt4c1kk8c"
											       : "8tsss");
		w->at = end;
		piece(w, from);
	}
}

static void walk_names(struct walk *w, const char *form)
{
	uint64_t n = take(w, COUNT, 4);

	for (uint64_t i = 0; i < n && w->at < w->n; i++) {
		size_t from = w->at;

		take_all(w, form);
		piece(w, from);
	}
}

static void walk_ranges(struct walk *w)
{
	uint64_t n;

	walk_names(w, "s");
	walk_names(w, "4ccsss");
	n = take(w, COUNT, 4);
	take_shuffled(w, n, 40, "8tt4ccc2c1kk8c");
	if (w->at < w->n)
		walk_names(w, "s");
	while (w->at < w->n)
		take(w, COUNT, 2);
}

static void walk_stats(struct walk *w)
{
	size_t size;
	uint64_t n;

	take_all(w, "1kk");
	size = (size_t)take(w, COUNT, 2);
	n = take(w, COUNT, 4);
	take_all(w, "4cccc8tttt");
	take_shuffled(w, n, size, "4c8crrrrtrtrrccr");
}

static void walk_index(struct walk *w)
{
	size_t size;
	uint64_t groups, sums;

	take_all(w, "1kk");
	size = (size_t)take(w, COUNT, 2);
	groups = take(w, COUNT, 4);
	sums = take(w, COUNT, 4);
	take_all(w, "4l8ddd");
	take_shuffled(w, groups, size, "8ddt4lccccc");
	take_shuffled(w, sums, LOG_SUMS_SIZE, "8dt4c");
	walk_records(w, 0, true);
}

static void walk(struct chunk *c, struct fields *to, enum way way)
{
	struct walk w = {c->raw, 0, c->n, to, way};

	switch (c->head.kind) {
	case LOG_META:
		walk_meta(&w);
		break;
	case LOG_DATA:
		walk_sections(&w, true);
		break;
	case LOG_LOD:
		walk_sections(&w, false);
		break;
	case LOG_RANGE:
		walk_ranges(&w);
		break;
	case LOG_STAT:
		walk_stats(&w);
		break;
	case LOG_INDEX:
		walk_index(&w);
		break;
	case LOG_END:
		take_all(&w, "1k8ds");
		break;
	default:
		walk_records(&w, c->head.kind, false);
		break;
	}
}

static void split(struct text *l)
{
	struct log_unpacker *u = log_unpacker_new();
	struct log_bytes raw = {.n = 0};

	for (size_t at = 0; u && l->n < CHUNKS && l->bytes.n - at >= LOG_HEAD;) {
		struct chunk *c = &l->chunks[l->n];

		if (!log_head_get(l->bytes.p + at, &c->head) ||
		    log_unpack(u, &c->head, l->bytes.p + at + LOG_HEAD, &raw) != LOG_OK)
			break;
		c->at = at;
		c->n = raw.n;
		c->raw = malloc(raw.n + 1);
		if (!c->raw)
			exit(99);
		memcpy(c->raw, raw.p, raw.n);
		walk(c, NULL, UNSHUFFLE);
		at += LOG_HEAD + c->head.stored;
		l->n++;
	}
	log_unpacker_free(u);
	log_bytes_free(&raw);
	if (l->n < 10) {
		printf("Bail out! %s cannot be read\n", l->name);
		exit(99);
	}
}

/* --- changes --- */

static struct chunk work[2 * CHUNKS];
static size_t n_work;
static struct fields fields;

static uint64_t odd_time(uint64_t old)
{
	static const int64_t edges[] = {INT64_MIN, INT64_MAX, EDGE,     -EDGE, EDGE / 2,
					-EDGE / 2, 0,         NS_PER_S, LEVEL3};

	switch (dice(6)) {
	case 0:
	case 1:
	case 2:
		return (uint64_t)edges[dice(sizeof(edges) / sizeof(edges[0]))] + dice(5) - 2;
	case 3:
		return old + dice(1 << 20) - (1 << 19);
	case 4:
		return old + (dice(200) - 100) * (uint64_t)NS_PER_S;
	default:
		return old ^ UINT64_C(1) << dice(64);
	}
}

static uint64_t odd_number(uint64_t old)
{
	static const uint64_t edges[] = {0,     1,       2,         8,          40,         108,
					 255,   256,     4096,      8192,       UINT16_MAX, 65536,
					 65537, 1 << 24, INT32_MAX, UINT32_MAX, UINT64_MAX, INT64_MAX};

	switch (dice(4)) {
	case 0:
		return edges[dice(sizeof(edges) / sizeof(edges[0]))];
	case 1:
		return old + dice(9) - 4;
	case 2:
		return old ^ UINT64_C(1) << dice(64);
	default:
		return dice(300);
	}
}

static uint64_t odd_real(uint64_t old)
{
	static const double edges[] = {
		0,    -0.0, 1,    -1,   1e308, -1e308,      5e-324,           1e-3,
		9e-4, 1e6,  1e18, 2e19, -2e19, (double)NAN, (double)INFINITY, -(double)INFINITY};
	uint64_t v;

	if (one_in(2))
		return odd_number(old);
	memcpy(&v, &edges[dice(sizeof(edges) / sizeof(edges[0]))], 8);
	return v;
}

static uint64_t odd(enum type type, uint64_t old)
{
	switch (type) {
	case TIME:
		return odd_time(old);
	case REAL:
		return odd_real(old);
	case KIND:
		return one_in(2) ? dice(16) : dice(256);
	default:
		return odd_number(old);
	}
}

static void resize(struct chunk *c, const struct field *f, unsigned times)
{
	size_t rest = c->n - f->at - f->size, n = f->at + times * f->size + rest;
	uint8_t *p = malloc(n + 1);

	if (!p)
		exit(99);
	memcpy(p, c->raw, f->at);
	for (unsigned i = 0; i < times; i++)
		memcpy(p + f->at + i * f->size, c->raw + f->at, f->size);
	memcpy(p + f->at + times * f->size, c->raw + f->at + f->size, rest);
	free(c->raw);
	c->raw = p;
	c->n = n;
}

/* Sets the field, at its place in this chunk. */
static void set(struct chunk *c, const struct field *f, uint64_t v)
{
	if (f->at + f->size <= c->n)
		memcpy(c->raw + f->at, &v, f->size);
}

static struct chunk *any_chunk(void)
{
	unsigned kind = one_in(4) ? 0 : LOG_META + (unsigned)dice(LOG_KINDS - 1); /* there are few of some */
	size_t first = (size_t)dice(n_work);

	for (size_t i = 0; i < n_work; i++)
		if (work[(first + i) % n_work].head.kind == kind)
			return &work[(first + i) % n_work];
	return &work[first];
}

/* A field of a chunk, half of the time the same one in all chunks of its kind. */
static void change_field(void)
{
	struct chunk *c = any_chunk();
	const struct field *f;
	uint64_t v = 0;

	fields.n = 0;
	walk(c, &fields, STAY);
	if (fields.n == 0)
		return;
	f = &fields.list[dice(fields.n)];
	if (one_in(3)) /* a certain kind of field, as there are few times */
		for (size_t i = 0; i < fields.n && f->type != TIME; i++)
			f = &fields.list[dice(fields.n)];
	if (f->type == PIECE) {
		resize(c, f, one_in(2) ? 0 : (unsigned)dice(4));
		return;
	}
	memcpy(&v, c->raw + f->at, f->size);
	v = odd(f->type, v);
	set(c, f, v);
	if (one_in(2))
		for (size_t i = 0; i < n_work; i++)
			if (work[i].head.kind == c->head.kind)
				set(&work[i], f, v);
}

static void change_head(void)
{
	static const struct field head[] = {{4, 1, KIND},    {5, 1, KIND},   {6, 1, KIND},   {7, 1, KIND},
					    {8, 4, COUNT},   {12, 4, COUNT}, {16, 8, COUNT}, {24, 4, LENGTH},
					    {28, 4, LENGTH}, {32, 8, TIME}};
	struct chunk *c = any_chunk();
	int64_t cell = c->head.cell;

	c->field = (int)dice(10);
	c->value = odd(head[c->field].type, c->field == 9 ? (uint64_t)cell : dice(1000));
	if (c->field == 9 && one_in(2))
		c->value = (uint64_t)cell + dice(200) - 100;
}

static void change_order(void)
{
	struct chunk *c = any_chunk(), *d = any_chunk(), swap;
	size_t i = (size_t)(c - work);

	switch (dice(4)) {
	case 0:
		free(c->raw);
		memmove(c, c + 1, (--n_work - i) * sizeof(*c));
		break;
	case 1:
		if (n_work == sizeof(work) / sizeof(work[0]))
			break;
		swap = *c;
		swap.raw = malloc(swap.n + 1);
		if (!swap.raw)
			exit(99);
		memcpy(swap.raw, c->raw, swap.n);
		i = (size_t)dice(n_work + 1);
		memmove(work + i + 1, work + i, (n_work++ - i) * sizeof(*c));
		work[i] = swap;
		break;
	case 2: /* all from here on is lost */
		if (i < 3)
			break;
		while (n_work > i)
			free(work[--n_work].raw);
		break;
	default:
		swap = *c;
		*c = *d;
		*d = swap;
		break;
	}
}

/* --- sealing --- */

/* Where a chunk of the original has gone; UINT64_MAX: nowhere. */
static uint64_t moved(const uint64_t *places, uint64_t at)
{
	for (size_t i = 0; i < n_work; i++)
		if (work[i].at == at && places[i] != UINT64_MAX)
			return places[i];
	return UINT64_MAX;
}

/* Corrects a distance in an INDEX or END that will be at `here`. */
static void correct(struct chunk *c, size_t field, uint64_t here, const uint64_t *places)
{
	uint64_t old = field + 8 <= c->n ? number_at(c->raw + field, 8) : 0, to = moved(places, c->at - old);

	if (old == 0 || to == UINT64_MAX)
		return;
	old = here - to;
	memcpy(c->raw + field, &old, 8);
}

static void correct_all(struct chunk *c, uint64_t here, const uint64_t *places)
{
	size_t size = c->n > LOG_INDEX_HEAD ? number_at(c->raw + 2, 2) : 0, at = LOG_INDEX_HEAD;
	uint64_t groups = size >= LOG_GROUP_SIZE ? number_at(c->raw + 4, 4) : 0, sums = size ? number_at(c->raw + 8, 4) : 0;

	if (c->head.kind == LOG_END) {
		correct(c, 1, here, places);
		return;
	}
	for (size_t field = 16; field < LOG_INDEX_HEAD; field += 8)
		correct(c, field, here, places);
	for (; groups > 0 && at + size <= c->n; groups--, at += size) {
		uint64_t first = c->at - number_at(c->raw + at, 8);
		uint64_t to = moved(places, first), end = moved(places, first + number_at(c->raw + at + 24, 4));

		if (to != UINT64_MAX && end != UINT64_MAX && end > to)
			put_u32(c->raw + at + 24, (uint32_t)(end - to));
		correct(c, at, here, places);
		correct(c, at + 8, here, places);
	}
	for (; sums > 0 && at + LOG_SUMS_SIZE <= c->n; sums--, at += LOG_SUMS_SIZE)
		correct(c, at, here, places);
}

static void seal(struct log_packer *packer, struct chunk *c, struct log_bytes *out)
{
	static const uint8_t at[] = {4, 5, 6, 7, 8, 12, 16, 24, 28, 32},
			     size[] = {1, 1, 1, 1, 4, 4, 8, 4, 4, 8};
	size_t start = out->n;

	walk(c, NULL, SHUFFLE);
	if (log_pack(packer, &c->head, c->raw, c->n, out) < 0)
		return;
	if (c->field >= 0) {
		memcpy(out->p + start + at[c->field], &c->value, size[c->field]);
		put_u32(out->p + start + 44, log_crc(out->p + start, 44));
	}
}

static void seal_all(struct log_packer *packer, struct log_bytes *out)
{
	static uint64_t places[2 * CHUNKS];
	bool right = !one_in(8), numbered = !one_in(8);
	uint64_t seq = work[0].head.seq;

	out->n = 0;
	memset(places, 0xFF, sizeof(places));
	for (size_t i = 0; i < n_work; i++) {
		struct chunk *c = &work[i];

		c->head.seq = numbered ? seq++ : c->head.seq;
		places[i] = out->n;
		if (right && (c->head.kind == LOG_INDEX || c->head.kind == LOG_END))
			correct_all(c, out->n, places);
		seal(packer, c, out);
	}
}

static void mutate(const struct text *l, struct log_packer *packer, struct log_bytes *out)
{
	for (n_work = 0; n_work < l->n; n_work++) {
		struct chunk *c = &work[n_work];

		*c = l->chunks[n_work];
		c->field = -1;
		c->raw = malloc(c->n + 1);
		if (!c->raw)
			exit(99);
		memcpy(c->raw, l->chunks[n_work].raw, c->n);
	}
	for (uint64_t k = dice(5) + 1; k > 0 && n_work > 1; k--) {
		uint64_t what = dice(10);

		if (what < 7)
			change_field();
		else if (what == 7)
			change_head();
		else
			change_order();
	}
	seal_all(packer, out);
	while (n_work > 0)
		free(work[--n_work].raw);
}

int main(int argc, char **argv)
{
	static struct text logs[5];
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : SEED;
	uint64_t runs = argc > 2 ? strtoull(argv[2], NULL, 10) : argc > 1 ? 1 : RUNS;
	struct log_packer *packer = log_packer_new();
	struct log_bytes out = {.n = 0};
	FILE *f;

	state = SEED;
	load(&logs[0], "ranges.nvmt");
	build(&logs[1], "a minute", INT64_C(1234567890123), 60);
	build(&logs[2], "ten minutes", INT64_C(1234567890123), 600);
	build(&logs[3], "a late one", EDGE - LEVEL3, 40);
	build(&logs[4], "an early one", LEVEL3 - EDGE, 40);
	for (size_t i = 0; i < 5; i++)
		split(&logs[i]);
	puts("1..1");
	for (uint64_t number = first; number < first + runs; number++) {
		printf("# seed %llu\n", (unsigned long long)number);
		fflush(stdout);
		state = number * UINT64_C(0x9E3779B97F4A7C15) | 1;
		dice(1);
		mutate(&logs[dice(number % 8 ? 2 : 5)], packer, &out);
		if (argc > 3 && (f = fopen(argv[3], "wb"))) {
			fwrite(out.p, 1, out.n, f);
			fclose(f);
		}
		setitimer(ITIMER_PROF, &(struct itimerval) {.it_value.tv_sec = STUCK}, NULL);
		LLVMFuzzerTestOneInput(out.p, out.n);
	}
	printf("ok 1 - %llu inputs\n", (unsigned long long)runs);
	for (size_t i = 0; i < 5; i++) {
		while (logs[i].n > 0)
			free(logs[i].chunks[--logs[i].n].raw);
		log_bytes_free(&logs[i].bytes);
	}
	log_bytes_free(&out);
	log_packer_free(packer);
	return 0;
}
