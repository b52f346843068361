/* Stored columns may have right sums and yet be of other rows: by a writer that is wrong,
 * or because rows were changed behind its back.  They are made anew here, by the folds
 * that made them, and held against those in the file.  Each time is looked at on the way.
 *
 * It costs as much as making them, so that nobody who looks waits for it. */
#include "trace/audit.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "util/thread.h"
#include "trace/tower.h"

#define LEDGE_BYTES 262144
#define SAME        1e-9 /* of what a sum is made of: another order of adding is not wrong */

struct audit {
	pthread_t thread;
	struct trace view;
	struct map map; /* of its own: it is read from end to end */
	unsigned tiers;
	struct audited found[TIERS];
	atomic_bool stop, done;
	bool started;
};

/* What one pass over the rows is held against. */
struct held {
	const struct shelf *shelf;
	struct audited *out;
	uint64_t full[PYRAMID_LEVELS]; /* records with a value that the rows have */
};

static const struct level *level_at(const struct shelf *s, int zoom, int *number)
{
	for (int k = 0; k < s->levels; k++)
		if (s->level[k].zoom == zoom) {
			*number = k;
			return &s->level[k];
		}
	return NULL;
}

static void wrong(struct audited *out, const struct piece *p, int zoom, int64_t column)
{
	if (out->wrong++ > 0)
		return;
	out->at = p ? p->at : 0;
	out->zoom = zoom;
	out->column = column;
}

static bool full(const uint8_t *record, size_t width)
{
	for (size_t i = 0; i < width; i++)
		if (get_u32(record + 8 + i * PYRAMID_BIN + 24) > 0)
			return true;
	return false;
}

static bool same_bin(const struct bin *a, const struct bin *b)
{
	double most = fmax(fabs(a->min), fabs(a->max)) * (double)a->n;

	if (a->n != b->n)
		return false;
	return a->n == 0 || (same_value(a->min, b->min) && same_value(a->max, b->max) &&
			     (same_value(a->sum, b->sum) || fabs(a->sum - b->sum) <= SAME * most));
}

static bool same_record(const uint8_t *a, const uint8_t *b, size_t width)
{
	if (memcmp(a, b, pyramid_record(width)) == 0)
		return true;
	if (get_u64(a) != get_u64(b))
		return false;
	for (size_t i = 0; i < width; i++) {
		struct bin x = lod_bin(a, i), y = lod_bin(b, i);

		if (!same_bin(&x, &y))
			return false;
	}
	return true;
}

static int hold_chunk(void *to, const struct pyramid_head *h, const uint8_t *chunk, size_t n)
{
	struct held *d = to;
	size_t one = pyramid_record(h->width);
	const uint8_t *made = chunk + CHUNK_HEAD + PYRAMID_HEAD;
	const struct piece *p = NULL;
	const struct level *l;
	int number;

	(void)n;
	l = level_at(d->shelf, h->zoom, &number);
	for (uint32_t i = 0; l && i < h->columns; i++, made += one) {
		int64_t column = h->first + i;

		if (!full(made, h->width))
			continue;
		d->full[number]++;
		if (!p || column - p->head.first >= p->head.columns)
			p = level_piece(l, column);
		if (!p ||
		    !same_record(made, p->payload + PYRAMID_HEAD + (size_t)(column - p->head.first) * one,
				 h->width))
			wrong(d->out, p, h->zoom, column);
	}
	return 0;
}

/* Records with values where there are no rows. */
static void count_others(const struct trace *t, struct held *d, const struct level *l, uint64_t expected)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct pyramid_head *h = &l->piece[i].head;
		const uint8_t *record = l->piece[i].payload + PYRAMID_HEAD;

		for (uint32_t k = 0; k < h->columns; k++, record += pyramid_record(h->width))
			if (full(record, h->width) && expected-- == 0) {
				wrong(d->out, &l->piece[i], l->zoom, h->first + k);
				return;
			}
		trace_touch((struct trace *)(uintptr_t)t, h->columns * pyramid_record(h->width));
	}
}

/* The times of n rows; how many of them can be right. */
static size_t times_take(const struct trace *t, enum tier tier, uint64_t row, size_t n, int64_t *before,
			 int64_t *out, uint64_t *leap)
{
	for (size_t i = 0; i < n; i++) {
		int64_t ns;

		if (!row_time(row_at(t, tier, row + i), &ns) || t->session.start.mono_ns + ns < *before)
			return i;
		if (*leap == 0 && row + i > 0 &&
		    leap_long(t, tier, t->session.start.mono_ns + ns - *before) &&
		    leap_odd(t, &(struct leap) {tier, row + i}))
			*leap = row + i;
		out[i] = *before = t->session.start.mono_ns + ns;
	}
	return n;
}

/* All rows into a tower of `levels` levels from zoom on. */
static void levels_hold(struct trace *t, enum tier tier, int zoom, int levels, const atomic_bool *stop,
			struct held *d, double *values)
{
	size_t width = t->session.width[tier], n, taken;
	uint64_t rows = t->section[tier].rows;
	int64_t t_ns[COURSE_ROWS];
	struct tower w;

	if (tower_init(&w, tier, width, zoom_base(t->session.hz[tier]), zoom, levels, LEDGE_BYTES, hold_chunk,
		       d) < 0) {
		d->out->failed = true;
		return;
	}
	for (uint64_t row = 0; row < rows && !(stop && atomic_load(stop)); row += taken) {
		int64_t before = row > 0 ? row_ns(t, tier, row - 1) : 0;

		n = rows - row < COURSE_ROWS ? (size_t)(rows - row) : COURSE_ROWS;
		taken = times_take(t, tier, row, n, &before, t_ns, &d->out->leap);
		if (taken < n) {
			d->out->row = row + taken;
			break;
		}
		rows_decode(t, tier, row, n, values, course_stride(width));
		taken = tower_rows(&w, t_ns, n, row + n == rows, row, values);
		trace_touch(t, taken * (row_size[tier] + 8 * width));
	}
	if (d->out->row == UINT64_MAX && tower_end(&w) < 0)
		d->out->failed = true;
	tower_free(&w);
}

void audit_tier(struct trace *t, enum tier tier, const atomic_bool *stop, struct audited *out)
{
	const struct shelf *s = &t->shelf[tier];
	struct held d = {.shelf = s, .out = out};
	double *values = calloc(COURSE_ROWS * course_stride(t->session.width[tier]), sizeof(*values));
	int k = 0, run;

	*out = (struct audited) {.row = UINT64_MAX, .failed = !values};
	for (; values && k < s->levels && out->row == UINT64_MAX; k += run) {
		for (run = 1; k + run < s->levels; run++)
			if (s->level[k + run].zoom != s->level[k].zoom + run * PYRAMID_STEP)
				break;
		levels_hold(t, tier, s->level[k].zoom, run, stop, &d, values);
	}
	free(values);
	if (stop && atomic_load(stop))
		return;
	for (k = 0; k < s->levels && out->row == UINT64_MAX && !out->failed && out->wrong == 0; k++)
		count_others(t, &d, &s->level[k], d.full[k]);
}

static void *audit_main(void *arg)
{
	struct audit *a = arg;

	setpriority(PRIO_PROCESS, 0, 10); /* of this thread, on Linux */
	for (int i = 0; i < TIERS; i++)
		if (a->tiers & 1U << i && !atomic_load(&a->stop))
			audit_tier(&a->view, (enum tier)i, &a->stop, &a->found[i]);
	atomic_store(&a->done, true);
	return NULL;
}

struct audit *audit_start(const struct trace *t, unsigned tiers)
{
	struct audit *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->tiers = tiers;
	if (trace_view(t, &a->map, &a->view) < 0) {
		free(a);
		return NULL;
	}
	a->started = thread_start(&a->thread, audit_main, a) == 0;
	if (a->started)
		return a;
	audit_free(a);
	return NULL;
}

bool audit_done(const struct audit *a)
{
	return atomic_load(&a->done);
}

void audit_wait(struct audit *a)
{
	if (a->started)
		pthread_join(a->thread, NULL);
	a->started = false;
}

bool audit_result(const struct audit *a, enum tier tier, struct audited *out)
{
	*out = a->found[tier];
	return a->tiers & 1U << tier && !a->found[tier].failed && map_torn(&a->map) == a->map.size;
}

void audit_free(struct audit *a)
{
	if (!a)
		return;
	atomic_store(&a->stop, true);
	audit_wait(a);
	map_close(&a->map);
	free(a);
}
