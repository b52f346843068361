/* Rows are folded into bins and statistics as they are packed: once per cell, then from span to span. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/fold.h"
#include "trace/log-lod.h"

const uint8_t log_zooms[LOG_LEVELS + 1][4] = {{0}, {28, 0}, {32, 34, 36, 0}, {38, 40, 42, 0}};

int log_zoom_level(int zoom)
{
	for (int level = 1; level <= LOG_LEVELS; level++)
		for (const uint8_t *z = log_zooms[level]; *z; z++)
			if (*z == zoom)
				return level;
	return 0;
}

bool log_zoom_has(int zoom, double hz)
{
	return hz > 0 && zoom_base(hz) + 2 <= zoom;
}

/* Of the bins in which a span of that level is folded: cells, or the finest of the level. */
static int lod_finest(int level)
{
	return level > 1 ? log_zooms[level][0] : LOG_CELL_ZOOM;
}

/* How many bins of a zoom a span has. */
static size_t lod_count(int level, int zoom)
{
	return (size_t)1 << (LOG_CELL_ZOOM + LOG_SPAN_BITS * level - zoom);
}

/* The contents of a span so far. */
struct lod_span {
	bool open;
	int level, zoom; /* zoom: of its bins; it becomes coarser as LODs are made of them */
	int64_t number;
	struct bin *bins;         /* as many for each channel as there are of the finest zoom */
	struct span_stats *stats; /* one per channel */
	struct late_ticks late[LOG_TIERS];
};

struct log_fold {
	const struct session *about;
	struct lod_span spans[LOG_LEVELS + 1]; /* two groups, a level 2, a level 3 */
	uint32_t *channel[TIERS];	       /* by column */
	struct row_fold rows;
};

static struct bin *span_bins(const struct lod_span *s, size_t channel)
{
	return s->bins + channel * lod_count(s->level, lod_finest(s->level));
}

static void span_clear(struct lod_span *s, size_t channels)
{
	memset(s->bins, 0, channels * lod_count(s->level, lod_finest(s->level)) * sizeof(*s->bins));
	memset(s->stats, 0, channels * sizeof(*s->stats));
	memset(s->late, 0, sizeof(s->late));
	s->zoom = lod_finest(s->level);
	s->open = false;
}

/* Merges halves up to a zoom, in the same order as a timeline does. */
static void span_zoom_out(struct lod_span *s, size_t channels, int zoom)
{
	for (; s->zoom < zoom; s->zoom++)
		for (size_t c = 0; c < channels; c++)
			bins_halve(span_bins(s, c), span_bins(s, c), lod_count(s->level, s->zoom + 1));
}

struct log_fold *log_fold_new(const struct session *about)
{
	struct log_fold *f = calloc(1, sizeof(*f));
	size_t channels = about->n_channels;
	bool ok = f != NULL;

	if (!f)
		return NULL;
	f->about = about;
	for (int i = 0; i <= LOG_LEVELS; i++) {
		struct lod_span *s = &f->spans[i];

		s->level = i > 1 ? i : 1;
		s->zoom = lod_finest(s->level);
		s->bins = calloc(channels * lod_count(s->level, s->zoom) + 1, sizeof(*s->bins));
		s->stats = calloc(channels + 1, sizeof(*s->stats));
		ok &= s->bins && s->stats;
	}
	for (int t = 0; t < TIERS; t++) {
		f->channel[t] = calloc(about->width[t] + 1, sizeof(*f->channel[t]));
		ok &= f->channel[t] != NULL;
	}
	for (size_t i = 0; ok && i < channels; i++)
		f->channel[about->channels[i].tier][about->channels[i].column] = (uint32_t)i;
	if (ok)
		return f;
	log_fold_free(f);
	return NULL;
}

void log_fold_free(struct log_fold *f)
{
	if (!f)
		return;
	for (int i = 0; i <= LOG_LEVELS; i++) {
		free(f->spans[i].bins);
		free(f->spans[i].stats);
	}
	for (int t = 0; t < TIERS; t++)
		free(f->channel[t]);
	fold_free(&f->rows);
	free(f);
}

void log_fold_rows(struct log_fold *f, const struct rows *r)
{
	int64_t cell = log_cell(r->t_ns[0]), hole_ns = stats_hole_ns(f->about->hz[r->tier]);
	struct lod_span *s = &f->spans[log_span(cell, 1) & 1];

	if (!fold_begin(&f->rows, r->t_ns, r->n, f->about->hz[r->tier]))
		return;
	s->open = true;
	s->number = log_span(cell, 1);
	for (size_t c = 0; c < r->width; c++) {
		uint32_t channel = f->channel[r->tier][c];
		struct span_stats stat = fold_stats(&f->rows, r->values + c, r->width);

		stat.channel = channel;
		bin_merge(&span_bins(s, channel)[cell - log_span_cell(s->number, 1)], &(struct bin) {stat.min, stat.max, stat.sum, stat.n});
		span_stats_join(&s->stats[channel], &stat, hole_ns);
	}
}

void log_fold_late(struct log_fold *f, enum tier tier, int64_t cell, const struct late_ticks *late)
{
	late_join(&f->spans[log_span(cell, 1) & 1].late[tier], late);
}

/* The earliest one of that level. */
static struct lod_span *span_of(const struct log_fold *f, int level)
{
	const struct lod_span *a = &f->spans[0], *b = &f->spans[1];

	if (level > 1)
		a = &f->spans[level];
	else if (b->open && (!a->open || b->number < a->number))
		a = b;
	return (struct lod_span *)(uintptr_t)a;
}

bool log_fold_open(const struct log_fold *f, int level, int64_t *span)
{
	const struct lod_span *s = span_of(f, level);

	*span = s->number;
	return s->open;
}

void log_fold_stat(struct log_fold *f, int level, struct log_bytes *raw)
{
	const struct lod_span *s = span_of(f, level);
	struct log_bytes records = {.n = 0};
	size_t n = 0;
	uint8_t *to;

	for (size_t i = 0; i < f->about->n_channels; i++)
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

/* A section from the first to the last bin in which the tier has values. */
static void put_section(const struct log_fold *f, const struct lod_span *s, enum tier tier, struct log_bytes *raw)
{
	size_t bins = lod_count(s->level, s->zoom), first = bins, end = 0, width = f->about->width[tier], kinds;
	double v[LOG_BINS_MAX];
	uint64_t k[LOG_BINS_MAX];

	for (size_t c = 0; c < width; c++)
		for (size_t i = 0; i < bins; i++)
			if (span_bins(s, f->channel[tier][c])[i].n > 0) {
				first = i < first ? i : first;
				end = i >= end ? i + 1 : end;
			}
	if (end == 0)
		return;
	log_put_u8(raw, tier);
	log_put_u8(raw, 0);
	log_put_u16(raw, (unsigned)width);
	log_put_u32(raw, (uint32_t)(end - first));
	log_put_i64(raw, s->number * (int64_t)bins + (int64_t)first);
	kinds = raw->n;
	log_bytes_add(raw, LOG_COLUMN * LOG_PARTS * width);
	for (enum log_part part = 0; part < LOG_PARTS; part++)
		for (size_t c = 0; c < width; c++) {
			const struct bin *b = span_bins(s, f->channel[tier][c]);

			for (size_t i = first; i < end; i++)
				v[i - first] = part == LOG_COUNT     ? (double)b[i].n
					       : b[i].n == 0	     ? (double)NAN
					       : part == LOG_MINIMUM ? b[i].min
					       : part == LOG_MAXIMUM ? b[i].max
								     : b[i].sum;
			log_array_put(raw, kinds, LOG_PARTS * width, part * width + c, v, k, end - first);
		}
}

void log_fold_lod(struct log_fold *f, int level, int zoom, struct log_bytes *raw)
{
	struct lod_span *s = span_of(f, level);
	size_t start = raw->n, head;

	span_zoom_out(s, f->about->n_channels, zoom);
	log_put_u8(raw, (unsigned)zoom);
	log_put_u8(raw, 0);
	log_put_u16(raw, 0);
	head = raw->n;
	for (enum tier t = 0; t < TIERS; t++)
		if (log_zoom_has(zoom, f->about->hz[t]))
			put_section(f, s, t, raw);
	if (raw->n == head)
		raw->n = start;
}

void log_fold_close(struct log_fold *f, int level)
{
	struct lod_span *s = span_of(f, level), *to = level < LOG_LEVELS ? &f->spans[level + 1] : NULL;
	size_t channels = f->about->n_channels;

	if (to) {
		size_t n = lod_count(level, to->zoom), slot = (size_t)(s->number - log_span_cell(log_span(s->number, 1), 1)) * n;

		span_zoom_out(s, channels, to->zoom);
		for (size_t c = 0; c < channels; c++) {
			for (size_t i = 0; i < n; i++)
				bin_merge(&span_bins(to, c)[slot + i], &span_bins(s, c)[i]);
			span_stats_join(&to->stats[c], &s->stats[c], stats_hole_ns(f->about->hz[f->about->channels[c].tier]));
		}
		for (int t = 0; t < LOG_TIERS; t++)
			late_join(&to->late[t], &s->late[t]);
		to->open = true;
		to->number = log_span(s->number, 1);
	}
	span_clear(s, channels);
}
