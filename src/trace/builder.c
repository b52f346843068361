/* The rows are cut into stretches of time that begin with a column of the
 * coarsest level a stretch has, so that whoever works on one needs nothing of
 * any other.  Levels that are coarser still are made at the end, of the
 * columns that are there then.
 *
 * Nobody has looked at the times before.  Where a stretch begins is found by
 * bisection, which gives some answer whatever the times are; each row is then
 * looked at, and a row that does not lie in its stretch, or not behind the one
 * before it, says that the times are out of order. */
#include <stdlib.h>

#include "trace/builder.h"
#include "trace/tower.h"

#define LEDGE_BYTES 262144
#define BATCH       128 /* rows between two looks at whether to go on */

/* What one thread works with. */
struct hand {
	struct build *b;
	struct trace view;
	double *values;
};

static int keep_chunk(void *to, const struct pyramid_head *h, const uint8_t *chunk, size_t n)
{
	struct build *b = to;
	struct piece p = {.head = *h, .checked = true};
	bool coarse = h->zoom >= b->job[h->tier].zoom + 2 * PYRAMID_STEP;
	int r;

	if (store_put(b->store, coarse, chunk, n, &p.payload, &p.at) < 0)
		return -1;
	p.payload += CHUNK_HEAD;
	pthread_mutex_lock(&b->lock);
	r = shelf_put(&b->t->shelf[h->tier], &p);
	pthread_mutex_unlock(&b->lock);
	return r;
}

/* The times of n rows; false: one cannot be right. */
static bool times_take(const struct trace *t, enum tier tier, uint64_t row, size_t n, int64_t before,
		       int64_t to_ns, int64_t *out)
{
	for (size_t i = 0; i < n; i++) {
		int64_t ns;

		if (!row_time(row_at(t, tier, row + i), &ns))
			return false;
		ns += t->session.start.mono_ns;
		if (ns < before || ns >= to_ns)
			return false;
		out[i] = before = ns;
	}
	return true;
}

static bool rows_fold(struct hand *h, struct job *j, struct tower *w, uint64_t row, uint64_t end,
		      int64_t from_ns, int64_t to_ns)
{
	size_t stride = course_stride(w->width), n, taken;
	int64_t t_ns[COURSE_ROWS];

	for (; row < end && !atomic_load(&h->b->stop); row += taken) {
		n = end - row < COURSE_ROWS ? (size_t)(end - row) : COURSE_ROWS;
		if (!times_take(&h->view, j->tier, row, n, from_ns, to_ns, t_ns))
			return false;
		rows_decode(&h->view, j->tier, row, n, h->values, stride);
		taken = tower_rows(w, t_ns, n, row + n == end, row, h->values);
		from_ns = t_ns[taken - 1];
		atomic_fetch_add(&h->b->done, taken * row_size[j->tier]);
		trace_touch(&h->view, taken * (row_size[j->tier] + 8 * h->view.session.width[j->tier]));
	}
	return true;
}

static void stretch_make(struct hand *h, struct job *j, size_t i)
{
	struct build *b = h->b;
	int64_t from = (j->first + (int64_t)i) << j->stretch_zoom;
	int64_t to = (j->first + (int64_t)i + 1) << j->stretch_zoom;
	uint64_t row = i == 0 ? 0 : row_find(&h->view, j->tier, from);
	uint64_t end =
		i + 1 == j->stretches ? h->view.section[j->tier].rows : row_find(&h->view, j->tier, to);
	struct tower w;

	if (row > end) {
		atomic_store(&j->disorder, true);
	} else if (row < end) {
		if (tower_init(&w, j->tier, h->view.session.width[j->tier], j->base, j->zoom, j->levels,
			       LEDGE_BYTES, keep_chunk, b) < 0) {
			atomic_store(&b->failed, true);
			return;
		}
		if (!rows_fold(h, j, &w, row, end, from, to))
			atomic_store(&j->disorder, true);
		if (tower_end(&w) < 0)
			atomic_store(&b->failed, true);
		tower_free(&w);
	}
	if (map_torn(&b->map) < b->map.size)
		atomic_store(&b->failed, true); /* zeroes that nobody wrote */
	atomic_store(&j->complete[i], 1);
}

/* The levels above those of a stretch, of the columns of the coarsest. */
static void top_make(struct build *b, struct job *j)
{
	struct shelf *s = &b->t->shelf[j->tier];
	int zoom = j->zoom + (j->levels - 1) * PYRAMID_STEP;
	int more = pyramid_levels(zoom, b->view.first_ns, b->view.last_ns) - 1;
	struct level *l = NULL;
	struct tower w;

	for (int k = 0; k < s->levels; k++)
		if (s->level[k].zoom == zoom)
			l = &s->level[k];
	if (more <= 0 || !l || zoom + PYRAMID_STEP > ZOOM_MAX)
		return;
	if (tower_init(&w, j->tier, b->view.session.width[j->tier], zoom, zoom + PYRAMID_STEP, more,
		       LEDGE_BYTES, keep_chunk, b) < 0) {
		atomic_store(&b->failed, true);
		return;
	}
	/* The shelf moves its levels when a new one comes: the pieces stay. */
	struct piece *piece = l->piece;
	size_t n = l->n;

	for (size_t i = 0; i < n; i++) {
		const struct pyramid_head *h = &piece[i].head;
		const uint8_t *p = piece[i].payload + PYRAMID_HEAD;
		size_t one = pyramid_record(h->width);

		for (uint32_t k = 0; k < h->columns; k++, p += one) {
			uint64_t row = get_u64(p),
				 next = k + 1 < h->columns ? get_u64(p + one) : h->row + h->rows;

			if (next > row)
				tower_record(&w, h->first + k, next - row, p);
		}
	}
	if (tower_end(&w) < 0)
		atomic_store(&b->failed, true);
	tower_free(&w);
}

static bool wanted(const struct build *b, const struct job *j)
{
	return (b->tiers & 1U << j->tier) && !atomic_load(&b->stop) && !atomic_load(&b->failed) &&
	       !atomic_load(&j->disorder);
}

static void job_work(struct hand *h, struct job *j)
{
	struct build *b = h->b;
	size_t i;

	while (wanted(b, j) && (i = atomic_fetch_add(&j->next, 1)) < j->stretches) {
		stretch_make(h, j, i);
		if (atomic_fetch_sub(&j->left, 1) == 1 && wanted(b, j))
			top_make(b, j); /* the others are done with this tier */
	}
}

/* The first row that cannot be right, now that it is known that there is one. */
static void disorder_find(struct hand *h, struct job *j)
{
	uint64_t row = 0;
	int64_t before = 0, ns;

	for (; row < h->view.section[j->tier].rows && !atomic_load(&h->b->stop); row++) {
		if (!row_time(row_at(&h->view, j->tier, row), &ns) || ns < before)
			break;
		before = ns;
		if (row % BATCH == 0)
			trace_touch(&h->view, BATCH * row_size[j->tier]);
	}
	atomic_store(&j->disorder_row, row);
	atomic_store(&h->b->failed, true);
}

void builder_work(struct build *b)
{
	struct hand h = {.b = b, .view = b->view};
	size_t widest = 1;

	for (int t = 0; t < TIERS; t++)
		if (h.view.session.width[t] > widest)
			widest = h.view.session.width[t];
	h.values = calloc(COURSE_ROWS * course_stride(widest), sizeof(*h.values));
	if (!h.values)
		atomic_store(&b->failed, true);
	for (int t = 0; t < TIERS; t++)
		job_work(&h, &b->job[t]);
	free(h.values); /* the others may still be at it */
	if (atomic_fetch_sub(&b->busy, 1) != 1)
		return;
	for (int t = 0; t < TIERS; t++) {
		if (atomic_load(&b->job[t].disorder))
			disorder_find(&h, &b->job[t]);
		if (b->tiers & 1U << t && atomic_load(&b->job[t].left) > 0)
			atomic_store(&b->failed, true);
	}
	if (!atomic_load(&b->failed) && !atomic_load(&b->stop))
		store_finish(b->store, b->t->shelf);
	pthread_mutex_lock(&b->lock);
	atomic_store(&b->finished, true);
	pthread_cond_broadcast(&b->ended);
	pthread_mutex_unlock(&b->lock);
}
