/* A timeline computed by a formula. */
#include "tape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/random.h"

#if defined(__SANITIZE_ADDRESS__)
#define POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISON 1
#endif
#endif
#ifdef POISON
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

#define MOST_COLUMNS 65536                    /* per query */
#define SOUND_NS     ((INT64_C(1) << 62) - 1) /* the reader rejects later times */

static struct tape tapes[TAPES];
static bool taken[TAPES];
static uint64_t asked;

uint64_t tape_asked(void)
{
	return asked;
}

void dice_seed(uint64_t from)
{
	seed = from * UINT64_C(0x9E3779B97F4A7C15) + UINT64_C(88172645463325252);
	seed += !seed;
}

uint64_t dice(uint64_t below)
{
	return random_below(below);
}

uint64_t dice_any(void)
{
	uint64_t n = random_next();

	return n >> dice(64);
}

bool one_in(unsigned n)
{
	return dice(n) == 0;
}

const char *tape_text(void)
{
	static const char *const texts[] = {
		"GPU",
		"cpu4",
		"VDD_GPU_SOC",
		"Power",
		"a",
		"",
		"%s%n%d",
		"....",
		"^^",
		"\346\274\242\345\255\227\346\274\242\345\255\227\346\274\242", /* wide */
		"e\314\201e\314\201\314\201",                                   /* combining */
		"\314\201",
		"thermal-cpufreq-0",
		"thermal-devfreq-17000000.gpu",
		"cpu-throttle-alert",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"one, two; three: four five six seven eight nine ten eleven twelve thirteen fourteen",
		"\360\237\230\200 \360\237\230\200"};

	return texts[dice(sizeof(texts) / sizeof(texts[0]))];
}

/* Copy as much of a text as fits, without splitting a character. */
static void put_text(char *out, size_t size, const char *text)
{
	size_t n = strlen(text);

	if (n >= size)
		for (n = size - 1; n && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
			;
	memcpy(out, text, n);
	out[n] = 0;
}

static double odd_number(void)
{
	static const double numbers[] = {0, -0.0, 1, -1, 99.95, 100, 1e-300, 1e300, -1e300, 1e18, 65536};

	switch (dice(16)) {
	case 0:
		return INFINITY;
	case 1:
		return -INFINITY;
	case 2:
		return NAN;
	default:
		return numbers[dice(sizeof(numbers) / sizeof(numbers[0]))];
	}
}

static double limit(void)
{
	return one_in(2) ? NAN : one_in(4) ? odd_number() : (double)dice(100000);
}

static void make_channel(struct channel *ch, size_t i)
{
	memset(ch, 0, sizeof(*ch));
	if (one_in(8))
		put_text(ch->name, sizeof(ch->name), tape_text());
	else
		snprintf(ch->name, sizeof(ch->name), "c%zu.%s", i, one_in(2) ? "util" : "power");
	put_text(ch->label, sizeof(ch->label), one_in(2) ? ch->name : tape_text());
	ch->kind = (enum channel_kind)dice(CHANNEL_KINDS);
	ch->index = (uint16_t)(one_in(32) ? 65535 : dice(12));
	ch->tier = (enum tier)dice(TIERS);
	ch->unit = (enum unit)dice(UNITS);
	ch->family = (enum family)dice(FAMILIES);
	ch->lo = limit();
	ch->hi = limit();
	ch->warn = limit();
	ch->crit = limit();
	ch->period_ns = one_in(2) ? 0 : (int64_t)dice(3 * NS_PER_S);
	put_text(ch->source, sizeof(ch->source), tape_text());
	put_text(ch->note, sizeof(ch->note), tape_text());
	if (one_in(8))
		put_text(ch->missing, sizeof(ch->missing), tape_text());
}

static void make_facts(struct tape *t)
{
	static const char *const keys[] = {"title", "release", "mode", "board", "notice", "demo", "hostname"};

	t->about.n_facts = dice(8);
	for (size_t i = 0; i < t->about.n_facts; i++) {
		put_text(t->facts[i].key, sizeof(t->facts[i].key), keys[i]);
		put_text(t->facts[i].value, sizeof(t->facts[i].value), tape_text());
	}
}

static void make_session(struct tape *t, bool live)
{
	static const double hz[] = {1000, 100, 10, 1, 0.37, 1e-3, 1e6, 5000};
	size_t n = one_in(8) ? 0 : one_in(16) ? 300 : dice(48);

	t->salt = random_next();
	t->channels = calloc(n + !n, sizeof(*t->channels));
	if (!t->channels)
		abort();
	for (size_t i = 0; i < n; i++)
		make_channel(&t->channels[i], i);
	for (int i = 0; i < TIERS; i++)
		t->about.hz[i] = live || one_in(2) ? hz[i] : hz[dice(sizeof(hz) / sizeof(hz[0]))];
	make_facts(t);
	t->about.channels = t->channels;
	t->about.n_channels = n;
	t->about.facts = t->facts;
	t->about.start.mono_ns = t->first_ns;
	t->about.start.real_ns = one_in(4) ? 0 : one_in(8) ? SOUND_NS : INT64_C(1795185000) * NS_PER_S;
}

/* From no time to more than any recording has. */
static void make_stretch(struct tape *t)
{
	static const int64_t lengths[] = {0,
					  1,
					  NS_PER_MS,
					  NS_PER_S,
					  100 * NS_PER_S,
					  3600 * NS_PER_S,
					  40 * 3600 * NS_PER_S,
					  400 * 86400 * NS_PER_S,
					  SOUND_NS / 2};
	static const int64_t starts[] = {0, 1, NS_PER_S, 1000 * NS_PER_S, SOUND_NS / 2};

	t->any = !one_in(12);
	t->first_ns = starts[one_in(4) ? dice(5) : 3];
	t->last_ns = t->first_ns + lengths[one_in(2) ? 4 : dice(9)];
}

/* A time within it, or a little or far outside. */
static int64_t moment(const struct tape *t)
{
	int64_t length = t->last_ns - t->first_ns;

	if (one_in(32))
		return one_in(2) ? 0 : SOUND_NS;
	if (one_in(16) && t->first_ns >= 2 * NS_PER_S)
		return t->first_ns - (int64_t)dice(2 * NS_PER_S);
	if (one_in(16))
		return t->last_ns + (int64_t)dice(2 * NS_PER_S);
	return one_in(16) ? t->first_ns : t->first_ns + (int64_t)dice((uint64_t)length + 1);
}

/* Copy the list to an exact-size allocation, so that sanitizers detect overreads. */
static void *more(void *list, size_t n, size_t size)
{
	void *anew = malloc(n * size);

	if (!anew)
		abort();
	if (n > 1)
		memcpy(anew, list, (n - 1) * size);
	free(list);
	return anew;
}

void tape_mark(struct tape *t, int64_t t_ns, const char *label)
{
	size_t at = t->n_marks;
	struct mark *m;

	t->marks = more(t->marks, ++t->n_marks, sizeof(*t->marks));
	for (; at && t->marks[at - 1].t_ns > t_ns; at--)
		t->marks[at] = t->marks[at - 1];
	m = &t->marks[at];
	memset(m, 0, sizeof(*m));
	m->t_ns = t_ns;
	m->id = one_in(16) ? dice_any() : t->n_marks;
	put_text(m->label, sizeof(m->label), label);
}

void tape_gap(struct tape *t)
{
	int64_t a = moment(t), b = moment(t);
	size_t at = t->n_gaps;
	struct gap g = {(enum tier)dice(TIERS), one_in(2) ? GAP_LATE : GAP_LOST, a, b, dice(100)};

	if (a > b)
		g.from_ns = b, g.to_ns = a;
	t->gaps = more(t->gaps, ++t->n_gaps, sizeof(*t->gaps));
	for (; at && t->gaps[at - 1].from_ns > g.from_ns; at--)
		t->gaps[at] = t->gaps[at - 1];
	t->gaps[at] = g;
}

static int by_time(const void *a, const void *b)
{
	const struct mark *m = a, *n = b;

	return (m->t_ns > n->t_ns) - (m->t_ns < n->t_ns);
}

/* Sometimes more than fit at once. */
static void make_events(struct tape *t)
{
	size_t n = one_in(24) ? 5000 : one_in(8) ? 700 : dice(20);

	t->marks = calloc(n + !n, sizeof(*t->marks));
	if (!t->marks)
		abort();
	t->n_marks = n;
	for (size_t i = 0; i < n; i++) {
		t->marks[i].t_ns = moment(t);
		if (one_in(3))
			put_text(t->marks[i].label, sizeof(t->marks[i].label), tape_text());
	}
	qsort(t->marks, n, sizeof(*t->marks), by_time);
	for (size_t i = 0; i < n; i++)
		t->marks[i].id = one_in(16) ? dice_any() : i + 1;
	for (n = one_in(8) ? 300 : dice(6); n > 0; n--)
		tape_gap(t);
}

static int by_end(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void add_range(struct tape *t, int64_t end_ns)
{
	static const uint64_t lengths[] = {1, 1000, NS_PER_MS, 100 * NS_PER_MS, 100 * NS_PER_S};
	struct range_lane lane = {.pid = (uint32_t)dice(3), .tid = (uint32_t)dice(3)};
	int64_t length = (int64_t)dice(lengths[dice(5)]);
	char name[300];

	put_text(lane.process, sizeof(lane.process), lane.pid ? "a" : "python3");
	put_text(lane.domain, sizeof(lane.domain), one_in(2) ? "" : tape_text());
	snprintf(name, sizeof(name), one_in(4) ? "%s, seq = %d" : "%s", tape_text(), (int)dice(100));
	ranges_add(t->ranges, &(struct range) {.begin_ns = end_ns > length ? end_ns - length : 0,
					       .end_ns = end_ns,
					       .name = ranges_name(t->ranges, name),
					       .lane = ranges_lane(t->ranges, &lane),
					       .colour = one_in(4) ? (uint32_t)random_next() : 0,
					       .depth = (uint16_t)(one_in(32) ? dice_any() : dice(5)),
					       .flags = one_in(64) ? RANGE_OPEN : 0,
					       .payload = (uint8_t)dice(RANGE_DOUBLE + 1),
					       .value = dice_any(),
					       .category = one_in(8) ? ranges_name(t->ranges, tape_text()) : NULL});
}

static void make_ranges(struct tape *t)
{
	size_t n = one_in(16) ? 20000 : dice(300);
	int64_t *ends = calloc(n + 1, sizeof(*ends));
	struct err e;

	t->ranges = one_in(4) ? NULL : ranges_new(1024, &e);
	if (!ends)
		abort();
	for (size_t i = 0; i < n; i++)
		ends[i] = moment(t);
	qsort(ends, n, sizeof(*ends), by_end);
	for (size_t i = 0; i < n && t->ranges; i++)
		add_range(t, ends[i]);
	free(ends);
}

static bool copy_range(void *to, const struct range *from)
{
	struct range r = *from;

	r.name = ranges_name(to, r.name);
	r.lane = ranges_lane(to, r.lane);
	r.category = r.category ? ranges_name(to, r.category) : NULL;
	return ranges_add(to, &r);
}

static const struct timeline_ops ops;

static struct tape *place(void)
{
	size_t i = dice(TAPES);

	for (size_t k = 0; taken[i]; i = (i + 1) % TAPES)
		if (k++ == TAPES)
			abort();
	taken[i] = true;
	ASAN_UNPOISON_MEMORY_REGION(&tapes[i], sizeof(tapes[i]));
	tapes[i] = (struct tape) {.timeline = {&ops}, .open = true};
	return &tapes[i];
}

struct tape *tape_open(bool live, int64_t now_ns)
{
	struct tape *t = place();

	if (live) {
		t->first_ns = now_ns;
		t->last_ns = now_ns;
		make_session(t, true);
		make_ranges(t);
		return t;
	}
	make_stretch(t);
	make_session(t, false);
	t->odd = one_in(3);
	make_events(t);
	make_ranges(t);
	return t;
}

struct tape *tape_open_grown(const struct tape *old)
{
	struct tape *t = place();
	struct err e;

	*t = *old;
	t->channels = calloc(t->about.n_channels + 1, sizeof(*t->channels));
	t->marks = calloc(t->n_marks + 1, sizeof(*t->marks));
	t->gaps = calloc(t->n_gaps + 1, sizeof(*t->gaps));
	if (!t->channels || !t->marks || !t->gaps)
		abort();
	memcpy(t->channels, old->channels, t->about.n_channels * sizeof(*t->channels));
	if (t->n_marks)
		memcpy(t->marks, old->marks, t->n_marks * sizeof(*t->marks));
	if (t->n_gaps)
		memcpy(t->gaps, old->gaps, t->n_gaps * sizeof(*t->gaps));
	t->ranges = old->ranges ? ranges_new(1024, &e) : NULL;
	if (t->ranges)
		ranges_visit(old->ranges, 0, INT64_MAX, 0, copy_range, t->ranges);
	t->about.channels = t->channels;
	t->about.facts = t->facts;
	t->any = true;
	t->last_ns += t->last_ns < SOUND_NS / 2 ? (int64_t)dice(10 * NS_PER_S) : 0;
	return t;
}

void tape_close(struct tape *t)
{
	if (!t)
		return;
	free(t->channels);
	free(t->marks);
	free(t->gaps);
	ranges_free(t->ranges);
	memset(t, 0xdd, sizeof(*t));
	t->open = false;
	taken[t - tapes] = false;
	ASAN_POISON_MEMORY_REGION(t, sizeof(*t));
}

void tape_grow(struct tape *t, int64_t to_ns)
{
	if (to_ns > t->last_ns) {
		t->any = true;
		t->last_ns = to_ns;
		for (uint64_t n = dice(6); n > 0 && t->ranges; n--)
			add_range(t, to_ns);
	}
	if (one_in(20) && t->first_ns < t->last_ns)
		t->first_ns += (int64_t)dice((uint64_t)(t->last_ns - t->first_ns));
	while (t->n_marks && t->marks[0].t_ns < t->first_ns && one_in(2))
		memmove(t->marks, t->marks + 1, --t->n_marks * sizeof(*t->marks));
}

/* Entry of every query. */
static struct tape *tape_of(struct timeline *timeline, uint64_t n)
{
	struct tape *t = (struct tape *)timeline;

	if (!t->open) {
		fprintf(stderr, "a timeline was asked after it was closed\n");
		abort();
	}
	asked += n + 1;
	if (t->restless && one_in(50)) {
		t->any = true;
		t->last_ns += (int64_t)dice(20 * NS_PER_MS);
		if (one_in(50))
			tape_mark(t, t->last_ns, "");
	}
	return t;
}

static const struct channel *channel_of(const struct tape *t, size_t channel)
{
	if (channel >= t->about.n_channels) {
		fprintf(stderr, "channel %zu of %zu was asked for\n", channel, t->about.n_channels);
		abort();
	}
	return &t->channels[channel];
}

static const struct session *get_session(struct timeline *tl)
{
	return &tape_of(tl, 0)->about;
}

static bool get_extent(struct timeline *tl, int64_t *first_ns, int64_t *last_ns)
{
	struct tape *t = tape_of(tl, 0);

	*first_ns = t->first_ns;
	*last_ns = t->last_ns;
	return t->any;
}

static double period_of(const struct tape *t, enum tier tier)
{
	return 1e9 / t->about.hz[tier];
}

/* The number of the newest row at or before t_ns; -1: none. */
static int64_t row_at(const struct tape *t, enum tier tier, int64_t t_ns)
{
	if (!t->any || t_ns < t->first_ns)
		return -1;
	t_ns = t_ns > t->last_ns ? t->last_ns : t_ns;
	return (int64_t)((double)(t_ns - t->first_ns) / period_of(t, tier));
}

static int64_t row_ns(const struct tape *t, enum tier tier, int64_t row)
{
	double at = (double)row * period_of(t, tier), all = (double)(t->last_ns - t->first_ns);

	return at >= all ? t->last_ns : t->first_ns + (int64_t)at;
}

static double value_of(const struct tape *t, size_t channel, int64_t row)
{
	const struct channel *ch = &t->channels[channel];
	uint64_t x = ((uint64_t)row + 1) * 2654435761u + channel * 40503u + t->salt;

	x ^= x >> 31;
	x *= UINT64_C(0x9E3779B97F4A7C15);
	x ^= x >> 29;
	if (ch->missing[0] || x % 61 == 0)
		return NAN;
	if (t->odd && x % 7 == 0)
		return x % 3 == 0 ? INFINITY : x % 2 ? 1e300 : -1e300;
	switch (ch->unit) {
	case UNIT_PERCENT:
		return (double)(x % 1001) / 10;
	case UNIT_NONE:
		return (double)(x % 2);
	case UNIT_HZ:
		return (double)(x % 4) * 3.06e8;
	default:
		return (double)(x % 2000000) / 17 - 5000;
	}
}

static void fill(const struct tape *t, size_t channel, int64_t from_ns, int64_t to_ns, struct bin *out)
{
	enum tier tier = t->channels[channel].tier;
	int64_t first, last;

	if (!t->any || to_ns <= t->first_ns || from_ns > t->last_ns)
		return;
	first = from_ns <= t->first_ns ? 0 : row_at(t, tier, from_ns - 1) + 1;
	last = row_at(t, tier, to_ns - 1);
	/* With many rows, only the first and last count. */
	if (first <= last)
		bin_add(out, value_of(t, channel, first));
	if (first < last)
		bin_add(out, value_of(t, channel, last));
	if (out->n == 2 && last - first > 1) {
		out->n = (uint64_t)(last - first + 1);
		out->sum *= (double)out->n / 2;
	}
}

static void get_columns(struct timeline *tl, size_t channel, int zoom, int64_t first, size_t n,
			struct bin *out)
{
	struct tape *t = tape_of(tl, n);
	enum tier tier = channel_of(t, channel)->tier;
	int base = zoom_base(t->about.hz[tier]);

	if (zoom < ZOOM_MIN || zoom > ZOOM_MAX || n > MOST_COLUMNS) {
		fprintf(stderr, "%zu columns of zoom %d were asked for\n", n, zoom);
		abort();
	}
	memset(out, 0, n * sizeof(*out));
	for (size_t i = 0; i < n; i++) {
		int64_t at = first + (int64_t)i;
		int z = zoom;

		if (z < base) {
			at >>= base - z;
			z = base;
		}
		if (at >= -(SOUND_NS >> z) && at < SOUND_NS >> z)
			fill(t, channel, at * (INT64_C(1) << z), (at + 1) * (INT64_C(1) << z), &out[i]);
	}
}

static double get_value(struct timeline *tl, size_t channel, int64_t t_ns, int64_t *at_ns)
{
	struct tape *t = tape_of(tl, 1);
	enum tier tier = channel_of(t, channel)->tier;
	int64_t row = row_at(t, tier, t_ns);

	if (row < 0)
		return NAN;
	if (at_ns)
		*at_ns = row_ns(t, tier, row);
	return value_of(t, channel, row);
}

static int64_t get_step(struct timeline *tl, enum tier tier, int64_t t_ns, int n)
{
	struct tape *t = tape_of(tl, 1);
	int64_t row = row_at(t, tier, t_ns);

	if (!t->any)
		return t_ns;
	if (n < 0 && row >= 0 && row_ns(t, tier, row) < t_ns)
		row++;
	row += n;
	return row_ns(t, tier, row < 0 ? 0 : row);
}

static size_t get_marks(struct timeline *tl, int64_t from_ns, int64_t to_ns, struct mark *out, size_t max)
{
	struct tape *t = tape_of(tl, 0);
	size_t n = marks_between(t->marks, t->n_marks, from_ns, to_ns, out, max);

	asked += n;
	return n;
}

static size_t get_gaps(struct timeline *tl, int64_t from_ns, int64_t to_ns, struct gap *out, size_t max)
{
	struct tape *t = tape_of(tl, 0);
	size_t n = 0;

	for (size_t i = 0; i < t->n_gaps && n < max; i++)
		if (t->gaps[i].from_ns < to_ns && t->gaps[i].to_ns >= from_ns)
			out[n++] = t->gaps[i];
	asked += n;
	return n;
}

/* Older data is coarser, as in a history. */
static int get_finest(struct timeline *tl, size_t channel, int64_t t_ns)
{
	struct tape *t = tape_of(tl, 0);
	int base = zoom_base(t->about.hz[channel_of(t, channel)->tier]);
	int64_t age = t->last_ns / NS_PER_S - t_ns / NS_PER_S;

	return t->salt % 2 || age < 60 ? base : base + 5 > ZOOM_MAX ? ZOOM_MAX : base + 5;
}

static void get_ranges(struct timeline *tl, int64_t from_ns, int64_t to_ns, int64_t least_ns, range_visit *visit,
		       void *arg)
{
	struct tape *t = tape_of(tl, 0);

	if (t->ranges)
		ranges_visit(t->ranges, from_ns, to_ns, least_ns, visit, arg);
}

static size_t get_lanes(struct timeline *tl, const struct range_lane **out, size_t most)
{
	struct tape *t = tape_of(tl, 0);

	return t->ranges ? ranges_lanes(t->ranges, out, most) : 0;
}

static size_t get_rows(struct timeline *t, enum tier tier, int64_t *from_ns, int64_t to_ns, const size_t *channels, size_t n,
			size_t most, int64_t *t_ns, double *const *values, int64_t *column_ns)
{
	size_t got = 0;

	*column_ns = 0;
	for (int64_t at; got < most; got++) {
		at = get_step(t, tier, *from_ns - 1, 1);
		if (at < *from_ns || at >= to_ns)
			break;
		for (size_t i = 0; i < n; i++)
			values[i][got] = get_value(t, channels[i], at, NULL);
		t_ns[got] = at;
		*from_ns = at + 1;
	}
	return got;
}

static void get_stat(struct timeline *tl, size_t channel, int64_t from_ns, int64_t to_ns, struct span_stats *out)
{
	struct tape *t = tape_of(tl, 1);

	*out = (struct span_stats) {.rise = value_of(t, channel, 0)};
	if (value_of(t, channel, 0) > 0 && to_ns > from_ns)
		out->above_ns = (uint64_t)(to_ns / 2 - from_ns / 2);
}

static size_t get_states(struct timeline *tl, size_t channel, int64_t from_ns, int64_t to_ns, struct state_event *out,
			 size_t max)
{
	struct tape *t = tape_of(tl, 1);
	size_t got = 0;

	for (size_t i = 0; i < get_session(tl)->n_channels && got < max && to_ns > from_ns; i++)
		if ((channel == SIZE_MAX || i == channel) && get_session(tl)->channels[i].kind == CHANNEL_THROTTLE &&
		    value_of(t, i, 0) > 0)
			out[got++] = (struct state_event) {from_ns / 2,     to_ns / 2,  (uint32_t)i,
							   STATE_THROTTLED, STATE_OPEN, 1,	    to_ns / 2 - from_ns / 2};
	return got;
}

static bool get_event(struct timeline *tl, int64_t from_ns, int64_t to_ns, bool last, int64_t *out)
{
	*out = tape_of(tl, 1) && last ? to_ns - 1 : from_ns;
	return to_ns > from_ns;
}

static const struct timeline_ops ops = {
	.session = get_session,
	.extent = get_extent,
	.columns = get_columns,
	.value = get_value,
	.step = get_step,
	.marks = get_marks,
	.gaps = get_gaps,
	.states = get_states,
	.event = get_event,
	.finest = get_finest,
	.rows = get_rows,
	.ranges = get_ranges,
	.lanes = get_lanes,
	.stat = get_stat,
};
