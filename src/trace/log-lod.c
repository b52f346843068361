/* Rows are folded into bins and statistics as they are packed: once per cell, then from span to span. */
/* Vectorise the loops over values at -O2, too. */
#if defined(__OPTIMIZE__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/log-lod.h"

#define SLOTS_1 64  /* cells of a group */
#define SLOTS   128 /* bins of zoom 32 in a level 2 span, of zoom 38 in a level 3 span */
#define SETS    (LOG_LEVELS + 1)
#define ZOOMS   8 /* 28, 30, ... 42 */

const uint8_t log_zooms[LOG_LEVELS + 1][4] = {{0}, {28, 30, 0}, {32, 34, 36, 0}, {38, 40, 42, 0}};

int log_zoom_level(int zoom)
{
	for (int level = 1; level <= LOG_LEVELS; level++)
		for (const uint8_t *z = log_zooms[level]; *z; z++)
			if (*z == zoom)
				return level;
	return 0;
}

/* The contents of a span so far. */
struct set {
	bool open;
	int64_t span;
	unsigned slots;
	struct bin *bins;         /* `slots` per channel: cells of a group, else bins of the level's finest zoom */
	struct span_stats *stats; /* one per channel */
	struct late_ticks late[LOG_TIERS];
};

struct log_fold {
	const struct session *about;
	struct set sets[SETS];    /* two groups, a level 2, a level 3 */
	uint32_t *channel[TIERS]; /* by column */
	struct bin_order order;
	double *column, *weights;
	size_t room;
	uint8_t *like; /* kind of the last array, by zoom, part and channel */
};

bool log_zoom_has(int zoom, double hz)
{
	return hz > 0 && zoom_base(hz) + 2 <= zoom;
}

static int set_init(struct set *s, size_t channels, unsigned slots)
{
	s->slots = slots;
	s->bins = calloc(channels * slots + 1, sizeof(*s->bins));
	s->stats = calloc(channels + 1, sizeof(*s->stats));
	return s->bins && s->stats ? 0 : -1;
}

/* Of the bins of a set. */
static int set_zoom(int level)
{
	return level > 1 ? log_zooms[level][0] : LOG_CELL_ZOOM;
}

enum { MINIMUM, MAXIMUM, SUM, COUNT, PARTS };

static size_t likes(const struct log_fold *f)
{
	return (size_t)ZOOMS * PARTS * f->about->n_channels;
}

struct log_fold *log_fold_new(const struct session *about)
{
	struct log_fold *f = calloc(1, sizeof(*f));
	bool ok = f != NULL;

	if (!f)
		return NULL;
	f->about = about;
	for (int i = 0; i < SETS; i++)
		ok &= set_init(&f->sets[i], about->n_channels, i < 2 ? SLOTS_1 : SLOTS) == 0;
	f->like = malloc(likes(f) + 1);
	ok &= f->like != NULL;
	if (f->like)
		memset(f->like, LOG_OTHER, likes(f));
	for (int t = 0; t < TIERS; t++) {
		f->channel[t] = calloc(about->width[t] + 1, sizeof(*f->channel[t]));
		ok &= f->channel[t] != NULL;
	}
	for (size_t i = 0; ok && i < about->n_channels; i++)
		f->channel[about->channels[i].tier][about->channels[i].column] = (uint32_t)i;
	if (ok)
		return f;
	log_fold_free(f);
	return NULL;
}

static void set_clear(struct set *s, size_t channels)
{
	memset(s->bins, 0, channels * s->slots * sizeof(*s->bins));
	memset(s->stats, 0, channels * sizeof(*s->stats));
	memset(s->late, 0, sizeof(s->late));
	s->open = false;
}

void log_fold_free(struct log_fold *f)
{
	if (!f)
		return;
	for (int i = 0; i < SETS; i++) {
		free(f->sets[i].bins);
		free(f->sets[i].stats);
	}
	for (int t = 0; t < TIERS; t++)
		free(f->channel[t]);
	bin_order_free(&f->order);
	free(f->column);
	free(f->weights);
	free(f->like);
	free(f);
}

static bool reserve(struct log_fold *f, size_t n)
{
	if (n <= f->room)
		return true;
	free(f->column);
	free(f->weights);
	f->column = calloc(n, sizeof(*f->column));
	f->weights = calloc(n, sizeof(*f->weights));
	f->room = f->column && f->weights ? n : 0;
	return f->room > 0;
}

/* Copies a column of the rows. Returns false if a value is missing. */
static bool gather(struct log_fold *f, const struct rows *r, size_t column)
{
	size_t there = 0;

	for (size_t i = 0; i < r->n; i++)
		f->column[i] = r->values[i * r->width + column];
	for (size_t i = 0; i < r->n; i++)
		there += f->column[i] == f->column[i];
	return there == r->n;
}

void log_fold_rows(struct log_fold *f, const struct rows *r)
{
	int64_t cell = log_cell(r->t_ns[0]), cover = stats_hole_ns(f->about->hz[r->tier]);
	struct set *s = &f->sets[log_span(cell, 1) & 1];
	size_t slot = (size_t)cell % SLOTS_1;
	double known = 0;

	if (!reserve(f, r->n) || !bin_order_set(&f->order, r->t_ns, r->n, f->about->hz[r->tier]))
		return;
	s->open = true;
	s->span = log_span(cell, 1);
	for (size_t i = 0; i + 1 < r->n; i++) {
		int64_t dt = r->t_ns[i + 1] - r->t_ns[i];

		f->weights[i] = dt <= cover ? (double)dt : 0;
		known += f->weights[i];
	}
	for (size_t c = 0; c < r->width; c++) {
		uint32_t channel = f->channel[r->tier][c];
		struct span_stats stat = {.channel = channel};
		struct bin bin;

		if (gather(f, r, c))
			span_stats_whole(&stat, r->t_ns, f->column, f->weights, known, r->n);
		else
			span_stats_rows(&stat, r->t_ns, f->column, r->n, cover);
		if (stat.n == 0)
			continue;
		stat.sum = bin_order_sum(&f->order, f->column);
		bin = (struct bin) {stat.min, stat.max, stat.sum, stat.n};
		bin_merge(&s->bins[channel * SLOTS_1 + slot], &bin);
		span_stats_join(&s->stats[channel], &stat, cover);
	}
}

void log_fold_late(struct log_fold *f, enum tier tier, int64_t cell, const struct late_ticks *late)
{
	late_join(&f->sets[log_span(cell, 1) & 1].late[tier], late);
}

static struct set *set_of(const struct log_fold *f, int level)
{
	const struct set *a = &f->sets[0], *b = &f->sets[1];

	if (level > 1)
		a = &f->sets[level];
	else if (b->open && (!a->open || b->span < a->span))
		a = b;
	return (struct set *)(uintptr_t)a;
}

bool log_fold_open(const struct log_fold *f, int level, int64_t *span)
{
	const struct set *s = set_of(f, level);

	*span = s->span;
	return s->open;
}

void log_fold_stat(struct log_fold *f, int level, struct log_bytes *raw)
{
	const struct set *s = set_of(f, level);
	size_t n = 0, channels = f->about->n_channels;
	struct log_bytes records = {.n = 0};
	uint8_t *to;

	for (size_t i = 0; i < channels; i++)
		if (s->stats[i].n > 0) {
			log_stat_put(&records, &s->stats[i]);
			n++;
		}
	raw->failed |= records.failed;
	if (n > 0 && !records.failed) {
		log_put_u8(raw, (unsigned)level);
		log_put_u8(raw, 0);
		log_put_u16(raw, LOG_STAT_SIZE);
		log_put_u32(raw, (uint32_t)n);
		log_late_put(raw, s->late);
		to = log_bytes_add(raw, n * LOG_STAT_SIZE);
		if (to)
			log_shuffle(to, records.p, n, LOG_STAT_SIZE);
	}
	log_bytes_free(&records);
}

/* Bin i of a zoom, merged from halves in the same order as a timeline does. */
static struct bin bin_at(const struct bin *finest, size_t i, int up)
{
	struct bin b, later;

	if (up == 0)
		return finest[i];
	b = bin_at(finest, 2 * i, up - 1);
	later = bin_at(finest, 2 * i + 1, up - 1);
	bin_merge(&b, &later);
	return b;
}

/* The range of bins of the zoom in which the tier has values: first .. first + the result - 1. */
static size_t used(const struct log_fold *f, const struct set *s, enum tier tier, int up, size_t *first)
{
	size_t from = s->slots, to = 0;

	for (size_t c = 0; c < f->about->width[tier]; c++) {
		const struct bin *bins = s->bins + f->channel[tier][c] * s->slots;

		for (size_t i = 0; i < s->slots; i++) {
			if (bins[i].n == 0)
				continue;
			from = i < from ? i : from;
			to = i >= to ? i + 1 : to;
		}
	}
	if (to == 0)
		return 0;
	*first = from >> up;
	return ((to - 1) >> up) - *first + 1;
}

static double part_of(const struct bin *b, int part)
{
	if (part == COUNT)
		return (double)b->n;
	if (b->n == 0)
		return (double)NAN;
	return part == MINIMUM ? b->min : part == MAXIMUM ? b->max : b->sum;
}

static void put_section(const struct log_fold *f, const struct set *s, enum tier tier, int level, int zoom,
			struct log_bytes *raw)
{
	int up = zoom - set_zoom(level);
	size_t first = 0, n = used(f, s, tier, up, &first), width = f->about->width[tier], kinds;
	double v[SLOTS];

	if (n == 0)
		return;
	log_put_u8(raw, tier);
	log_put_u8(raw, 0);
	log_put_u16(raw, (unsigned)width);
	log_put_u32(raw, (uint32_t)n);
	log_put_i64(raw, s->span * (s->slots >> up) + (int64_t)first);
	kinds = raw->n;
	log_bytes_add(raw, PARTS * width);
	for (int part = 0; part < PARTS; part++) {
		for (size_t c = 0; c < width; c++) {
			uint32_t channel = f->channel[tier][c];
			const struct bin *bins = s->bins + channel * s->slots;
			size_t array =
				((size_t)(zoom - 28) / 2 * PARTS + (size_t)part) * f->about->n_channels +
				channel;
			uint8_t kind;

			for (size_t i = 0; i < n; i++) {
				struct bin b = bin_at(bins, first + i, up);

				v[i] = part_of(&b, part);
			}
			kind = log_array_put(raw, v, n, f->like[array]);
			f->like[array] = (kind & LOG_FORM) >= LOG_I8 ? kind : f->like[array];
			if (!raw->failed)
				raw->p[kinds + (size_t)part * width + c] = kind;
		}
	}
}

void log_fold_lod(struct log_fold *f, int level, int zoom, struct log_bytes *raw)
{
	const struct set *s = set_of(f, level);
	size_t start = raw->n, head;

	log_put_u8(raw, (unsigned)zoom);
	log_put_u8(raw, 0);
	log_put_u16(raw, 0);
	head = raw->n;
	for (enum tier t = 0; t < TIERS; t++)
		if (log_zoom_has(zoom, f->about->hz[t]))
			put_section(f, s, t, level, zoom, raw);
	if (raw->n == head)
		raw->n = start;
}

void log_fold_close(struct log_fold *f, int level)
{
	struct set *s = set_of(f, level), *to = level < LOG_LEVELS ? &f->sets[level + 1] : NULL;
	int up = to ? set_zoom(level + 1) - set_zoom(level) : 0;
	size_t n = s->slots >> up, channels = f->about->n_channels;
	size_t slot = (size_t)s->span % (1 << LOG_SPAN_BITS) * n;

	for (size_t c = 0; to && c < channels; c++) {
		int64_t hole_ns = stats_hole_ns(f->about->hz[f->about->channels[c].tier]);

		for (size_t i = 0; i < n; i++) {
			struct bin b = bin_at(s->bins + c * s->slots, i, up);

			bin_merge(&to->bins[c * to->slots + slot + i], &b);
		}
		span_stats_join(&to->stats[c], &s->stats[c], hole_ns);
	}
	for (int t = 0; to && t < LOG_TIERS; t++)
		late_join(&to->late[t], &s->late[t]);
	if (to) {
		to->open = true;
		to->span = log_span(s->span, 1);
	}
	if (level > 1)
		memset(f->like, LOG_OTHER, likes(f));
	set_clear(s, channels);
}
