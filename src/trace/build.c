/* Threads that make the columns of a trace while somebody looks at it: how many,
 * from which zoom on, and how far they are. */
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "util/thread.h"
#include "trace/builder.h"

#define STRETCH_LEVELS 4 /* made within a stretch */
#define COLUMNS_A_ROW  64 /* at most: most of them are empty */

static void *work_main(void *arg)
{
	setpriority(PRIO_PROCESS, 0, 10); /* of this thread, on Linux */
	builder_work(arg);
	return NULL;
}

static int cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : CPU_COUNT(&set);
}

/* The finest level so that all of them take an eighth of the rows' bytes, by how
 * many rows the columns would have were they spread evenly. */
static int zoom_fit(const struct trace *t, enum tier tier, double most)
{
	int zoom = pyramid_zoom(t->session.hz[tier]);
	double one = (double)pyramid_record(t->session.width[tier]) * 8 / 7;
	double rows = (double)t->section[tier].rows;

	while (zoom < ZOOM_MAX) {
		double columns = (double)((t->last_ns >> zoom) - (t->first_ns >> zoom) + 1);

		if ((columns < rows ? columns : rows) * one <= most && columns <= COLUMNS_A_ROW * rows)
			break;
		zoom++;
	}
	return zoom;
}

static int job_init(struct build *b, enum tier tier, double most, int coarser)
{
	struct job *j = &b->job[tier];
	const struct trace *t = b->t;

	j->tier = tier;
	j->base = zoom_base(t->session.hz[tier]);
	j->zoom = zoom_fit(t, tier, most) + coarser;
	if (j->zoom > ZOOM_MAX)
		j->zoom = ZOOM_MAX;
	atomic_store(&j->disorder_row, UINT64_MAX);
	for (j->levels = 1; j->levels < STRETCH_LEVELS; j->levels++)
		if (j->zoom + j->levels * PYRAMID_STEP > ZOOM_MAX)
			break;
	j->stretch_zoom = j->zoom + (j->levels - 1) * PYRAMID_STEP;
	j->first = t->first_ns >> j->stretch_zoom;
	j->stretches = (size_t)((t->last_ns >> j->stretch_zoom) - j->first) + 1;
	atomic_store(&j->left, j->stretches);
	j->complete = calloc(j->stretches, sizeof(*j->complete));
	b->bytes += t->section[tier].rows * row_size[tier];
	return j->complete ? 0 : -1;
}

static int jobs_init(struct build *b, int coarser)
{
	double all = 0, room = (double)store_room(b->store);

	for (int t = 0; t < TIERS; t++)
		if (b->tiers & 1U << t)
			all += (double)(b->t->section[t].rows * row_size[t]);
	for (int t = 0; t < TIERS; t++) {
		double bytes = (double)(b->t->section[t].rows * row_size[t]), most = bytes / 8 + 65536;

		if (!(b->tiers & 1U << t))
			continue;
		if (store_in_memory(b->store) && most > room * 0.8 * bytes / all)
			most = room * 0.8 * bytes / all;
		if (job_init(b, (enum tier)t, most, coarser) < 0)
			return -1;
	}
	return 0;
}

static struct build *build_new(struct trace *t, unsigned tiers, struct store *store, int coarser)
{
	struct build *b = calloc(1, sizeof(*b));

	if (!b) {
		store_close(store);
		return NULL;
	}
	b->t = t;
	b->store = store;
	b->tiers = tiers;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->ended, NULL);
	if (trace_view(t, &b->map, &b->view) == 0 && jobs_init(b, coarser) == 0)
		return b;
	build_free(b);
	return NULL;
}

struct build *build_start(struct trace *t, unsigned tiers, struct store *store, int workers, int coarser)
{
	struct build *b = build_new(t, tiers, store, coarser);
	int n = workers != 0 ? workers : cores();

	if (!b)
		return NULL;
	if (n == AT_ONCE) {
		atomic_store(&b->busy, 1);
		builder_work(b);
		return b;
	}
	n = n < WORKERS_MOST ? n : WORKERS_MOST;
	atomic_store(&b->busy, n);
	for (int i = 0; i < n; i++) {
		if (thread_start(&b->thread[b->workers], work_main, b) == 0) {
			b->workers++;
			continue;
		}
		if (b->workers == 0 && i == n - 1) {
			build_free(b);
			return NULL;
		}
		atomic_fetch_sub(&b->busy, 1); /* the others do it; one of them is left to end it */
	}
	return b;
}

void build_free(struct build *b)
{
	if (!b)
		return;
	atomic_store(&b->stop, true);
	for (int i = 0; i < b->workers; i++)
		pthread_join(b->thread[i], NULL);
	for (int t = 0; t < TIERS; t++)
		free(b->job[t].complete);
	map_close(&b->map);
	pthread_cond_destroy(&b->ended);
	pthread_mutex_destroy(&b->lock);
	store_close(b->store);
	free(b);
}

struct store *build_release(struct build *b)
{
	struct store *s = b->store;

	b->store = NULL;
	return s;
}

bool build_done(const struct build *b)
{
	return atomic_load(&b->finished);
}

bool build_failed(const struct build *b)
{
	return atomic_load(&b->failed);
}

double build_part(const struct build *b)
{
	double part = (double)atomic_load(&b->done) / (double)(b->bytes ? b->bytes : 1);

	return part < 1 ? part : 1;
}

uint64_t build_disorder(const struct build *b, enum tier tier)
{
	return b->tiers & 1U << tier ? atomic_load(&b->job[tier].disorder_row) : UINT64_MAX;
}

void build_wait(struct build *b)
{
	pthread_mutex_lock(&b->lock);
	while (!atomic_load(&b->finished))
		pthread_cond_wait(&b->ended, &b->lock);
	pthread_mutex_unlock(&b->lock);
}

void build_lock(struct build *b)
{
	pthread_mutex_lock(&b->lock);
}

void build_unlock(struct build *b)
{
	pthread_mutex_unlock(&b->lock);
}

void build_relax(struct build *b)
{
	store_release(b->store);
}

bool build_makes(const struct build *b, enum tier tier)
{
	return b->tiers & 1U << tier;
}

int build_zoom(const struct build *b, enum tier tier)
{
	return b->job[tier].zoom;
}

bool build_covers(const struct build *b, enum tier tier, int64_t from_ns, int64_t to_ns)
{
	const struct job *j = &b->job[tier];
	int64_t from = (from_ns >> j->stretch_zoom) - j->first, to = (to_ns >> j->stretch_zoom) - j->first;

	if (from < 0)
		from = 0;
	if (to >= (int64_t)j->stretches)
		to = (int64_t)j->stretches - 1;
	for (; from <= to; from++)
		if (!atomic_load_explicit(&j->complete[from], memory_order_acquire))
			return false;
	return true;
}
