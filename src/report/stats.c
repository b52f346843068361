/* All channels of a tier block by block, so that each row comes into the cache
 * once a pass; what is short enough is sorted instead. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/thread.h"
#include "report/quantile.h"
#include "report/stats.h"

#define BLOCK   2048
#define SHORT   65536  /* rows that are simply sorted */
#define GROUP   64     /* channels at a time, for the memory of their sieves */
#define THREADS 8

static const double quantiles[QUANTILES] = {0.50, 0.95, 0.99};

/* A mean and the sum of squares around it; parts are put together without loss. */
struct moments {
	uint64_t n;
	double mean, m2;
};

struct work {
	struct trace *t;
	const struct epoch *spans;
	size_t n_spans;
	void (*tick)(void *to, uint64_t rows);
	void *to;
	pthread_mutex_t *lock; /* of tick() */
};

/* The channels that are worked on together: of one tier. */
struct group {
	enum tier tier;
	size_t n;
	size_t channel[GROUP]; /* of the trace */
	struct result *result[GROUP];
	struct moments moments[GROUP];
	struct quantile *sieve; /* one each, of a long stretch */
	bool leads;             /* the first one of its tier */
	size_t kept, missed;    /* in v */
	bool open[GROUP];       /* its quantiles need another pass */
	double v[BLOCK];
};

static void moments_merge(struct moments *m, const struct moments *other)
{
	double d = other->mean - m->mean;
	uint64_t n = m->n + other->n;

	if (other->n == 0)
		return;
	m->m2 += other->m2 + d * d * ((double)m->n * (double)other->n / (double)n);
	m->mean += d * ((double)other->n / (double)n);
	m->n = n;
}

/* Leave out what is missing; how much is left. */
static size_t squeeze(double *v, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		v[kept] = v[i];
		kept += v[i] == v[i];
	}
	return kept;
}

/* One block without missing values: its mean first, then the squares around it.
 * Two sums at a time, so that no addition waits for the one before. */
static void block_moments(struct result *r, struct moments *m, const double *v, size_t n)
{
	double a = 0, b = 0, lo = v[0], hi = v[0], mean, lost;
	struct moments block = {.n = n};
	size_t i;

	for (i = 0; i + 1 < n; i += 2) {
		a += v[i];
		b += v[i + 1];
		lo = v[i] < lo ? v[i] : lo;
		hi = v[i] > hi ? v[i] : hi;
		lo = v[i + 1] < lo ? v[i + 1] : lo;
		hi = v[i + 1] > hi ? v[i + 1] : hi;
	}
	mean = (a + b + (i < n ? v[i] : 0)) / (double)n;
	lo = v[n - 1] < lo ? v[n - 1] : lo;
	hi = v[n - 1] > hi ? v[n - 1] : hi;
	a = b = 0;
	for (i = 0; i < n; i++) {
		double d = v[i] - mean;

		a += d * d;
		b += d;
	}
	lost = b; /* by the first sum */
	block.mean = mean + lost / (double)n;
	block.m2 = a - lost * lost / (double)n;
	if (m->n == 0)
		r->first = v[0];
	r->last = v[n - 1];
	r->min = m->n > 0 && r->min < lo ? r->min : lo;
	r->max = m->n > 0 && r->max > hi ? r->max : hi;
	moments_merge(m, &block);
}

/* Of the groups of a tier only one speaks. */
static void tell(struct work *w, const struct group *g, uint64_t rows)
{
	if (!g->leads)
		return;
	pthread_mutex_lock(w->lock);
	w->tick(w->to, rows);
	pthread_mutex_unlock(w->lock);
}

typedef void visit(struct group *g, size_t i, const double *v, size_t n);

/* Every block of every span, for the channels that want it. */
static void each_block(struct work *w, struct group *g, visit *fn)
{
	for (size_t s = 0; s < w->n_spans; s++) {
		uint64_t row = trace_row_from(w->t, g->tier, w->spans[s].from_ns);
		uint64_t end = trace_row_from(w->t, g->tier, w->spans[s].end_ns);

		while (row < end) {
			size_t n = end - row < BLOCK ? (size_t)(end - row) : BLOCK;

			for (size_t i = 0; i < g->n; i++) {
				if (!g->open[i])
					continue;
				trace_row_values(w->t, g->channel[i], row, n, g->v);
				g->kept = squeeze(g->v, n);
				g->missed = n - g->kept;
				fn(g, i, g->v, g->kept);
			}
			row += n;
			tell(w, g, n);
		}
	}
}

static void first_pass(struct group *g, size_t i, const double *v, size_t n)
{
	g->result[i]->missing += g->missed;
	if (n > 0)
		block_moments(g->result[i], &g->moments[i], v, n);
	quantile_add(&g->sieve[i], v, n);
}

static void next_pass(struct group *g, size_t i, const double *v, size_t n)
{
	quantile_add_again(&g->sieve[i], v, n);
}

static void moments_tell(struct result *r, const struct moments *m)
{
	r->n = m->n;
	if (m->n == 0)
		return;
	r->mean = fmin(fmax(m->mean, r->min), r->max);
	if (m->n > 1)
		r->sd = sqrt(fmax(m->m2, 0) / (double)(m->n - 1));
}

static int long_stretch(struct work *w, struct group *g)
{
	bool again = true, no_memory = false;

	g->sieve = calloc(g->n, sizeof(*g->sieve));
	if (!g->sieve)
		return -1;
	for (size_t i = 0; i < g->n; i++)
		g->open[i] = true;
	each_block(w, g, first_pass);
	for (size_t i = 0; i < g->n; i++)
		moments_tell(g->result[i], &g->moments[i]);
	while (again) {
		again = false;
		for (size_t i = 0; i < g->n; i++) {
			g->open[i] = g->open[i] && quantile_next_pass(&g->sieve[i], quantiles);
			again |= g->open[i];
		}
		if (again)
			each_block(w, g, next_pass);
	}
	for (size_t i = 0; i < g->n; i++) {
		g->result[i]->p50 = g->sieve[i].aim[0].value;
		g->result[i]->p95 = g->sieve[i].aim[1].value;
		g->result[i]->p99 = g->sieve[i].aim[2].value;
		no_memory |= g->sieve[i].no_memory;
		quantile_free(&g->sieve[i]);
	}
	free(g->sieve);
	return no_memory ? -1 : 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* All values of one channel fit into memory: `room` of them, unless somebody has written
 * other times into the file since they were counted. */
static void short_stretch(struct work *w, size_t channel, struct result *r, double *all, size_t room)
{
	enum tier tier = trace_session(w->t)->channels[channel].tier;
	struct moments m = {0};
	size_t n = 0, kept = 0;

	for (size_t s = 0; s < w->n_spans; s++) {
		uint64_t row = trace_row_from(w->t, tier, w->spans[s].from_ns);
		uint64_t end = trace_row_from(w->t, tier, w->spans[s].end_ns);
		size_t rows = end > row ? (size_t)(end - row) : 0;

		if (rows > room - n)
			rows = room - n;
		if (rows > 0)
			trace_row_values(w->t, channel, row, rows, all + n);
		n += rows;
	}
	kept = squeeze(all, n);
	r->missing = n - kept;
	if (kept == 0)
		return;
	block_moments(r, &m, all, kept);
	moments_tell(r, &m);
	qsort(all, kept, sizeof(*all), by_value);
	r->p50 = all[quantile_rank(quantiles[0], kept)];
	r->p95 = all[quantile_rank(quantiles[1], kept)];
	r->p99 = all[quantile_rank(quantiles[2], kept)];
}

static uint64_t tier_rows(const struct trace *t, enum tier tier, const struct epoch *spans, size_t n)
{
	uint64_t rows = 0;

	for (size_t s = 0; s < n; s++)
		rows += trace_row_from(t, tier, spans[s].end_ns) - trace_row_from(t, tier, spans[s].from_ns);
	return rows;
}

/* The level of a counter is how long ago it began: only what it rose by is told. */
static void forget_level(struct result *r)
{
	r->mean = r->sd = r->p50 = r->p95 = r->p99 = NAN;
}

static int group_make(struct work *w, struct group *g)
{
	uint64_t rows = tier_rows(w->t, g->tier, w->spans, w->n_spans);
	double *all;

	if (g->n == 0)
		return 0;
	if (rows > SHORT)
		return long_stretch(w, g);
	all = malloc(((size_t)rows + 1) * sizeof(*all));
	for (size_t i = 0; all && i < g->n; i++)
		short_stretch(w, g->channel[i], g->result[i], all, (size_t)rows);
	free(all);
	tell(w, g, rows);
	return all ? 0 : -1;
}

/* Channels of one tier that one thread works on together; all threads read the rows. */
struct job {
	enum tier tier;
	size_t first, n; /* in the order of the pool */
};

struct pool {
	struct work *work;
	const struct channels *channels;
	struct result *out;
	size_t *order; /* of the channels, by tier */
	struct job *jobs;
	size_t n_jobs, next;
	bool no_memory;
	pthread_mutex_t lock;
};

static void job_run(struct pool *p, const struct job *j, struct group *g)
{
	memset(g->moments, 0, sizeof(g->moments));
	g->tier = j->tier;
	g->n = j->n;
	g->leads = j->first == 0 ||
		   trace_session(p->work->t)->channels[p->channels->list[p->order[j->first - 1]]].tier !=
			   j->tier;
	for (size_t i = 0; i < j->n; i++) {
		size_t c = p->order[j->first + i];

		g->channel[i] = p->channels->list[c];
		g->result[i] = &p->out[c];
		over_time(p->work->t, g->channel[i], p->work->spans, p->work->n_spans, g->result[i]);
	}
	if (group_make(p->work, g) < 0) {
		pthread_mutex_lock(&p->lock);
		p->no_memory = true;
		pthread_mutex_unlock(&p->lock);
	}
	for (size_t i = 0; i < g->n; i++)
		if (channel_counts(&trace_session(p->work->t)->channels[g->channel[i]]))
			forget_level(g->result[i]);
}

static void *pool_worker(void *arg)
{
	struct pool *p = arg;
	struct group *g = calloc(1, sizeof(*g));
	const struct job *j;

	do {
		pthread_mutex_lock(&p->lock);
		p->no_memory |= !g;
		j = g && !p->no_memory && p->next < p->n_jobs ? &p->jobs[p->next++] : NULL;
		pthread_mutex_unlock(&p->lock);
		if (j)
			job_run(p, j, g);
	} while (j);
	free(g);
	return NULL;
}

static size_t threads_wanted(const struct pool *p)
{
	long cores;

	if (tier_rows(p->work->t, TIER_FAST, p->work->spans, p->work->n_spans) <= SHORT)
		return 1;
	cores = sysconf(_SC_NPROCESSORS_ONLN);
	return cores > THREADS ? THREADS : cores < 2 ? 1 : (size_t)cores;
}

static void pool_run(struct pool *p, size_t threads)
{
	pthread_t thread[THREADS];
	size_t n = 0;

	while (n + 1 < threads && thread_start(&thread[n], pool_worker, p) == 0)
		n++;
	pool_worker(p);
	while (n > 0)
		pthread_join(thread[--n], NULL);
}

/* As many jobs as there are threads, twice, so that none waits long for the last. */
static void jobs_make(struct pool *p, size_t threads)
{
	const struct session *s = trace_session(p->work->t);
	size_t n = 0;

	for (int tier = 0; tier < TIERS; tier++) {
		size_t begin = n, most;

		for (size_t i = 0; i < p->channels->n; i++)
			if ((int)s->channels[p->channels->list[i]].tier == tier)
				p->order[n++] = i;
		most = threads > 1 ? (n - begin + 2 * threads - 1) / (2 * threads) : GROUP;
		if (most > GROUP)
			most = GROUP;
		for (size_t first = begin; first < n; first += most)
			p->jobs[p->n_jobs++] =
				(struct job) {(enum tier)tier, first, n - first < most ? n - first : most};
	}
}

int stats_make(struct trace *t, const struct channels *channels, const struct epoch *spans, size_t n,
	       struct result *out, void (*tick)(void *to, uint64_t rows), void *to)
{
	struct pool p = {.channels = channels, .out = out, .lock = PTHREAD_MUTEX_INITIALIZER};
	struct work w = {t, spans, n, tick, to, &p.lock};
	size_t threads;

	p.work = &w;
	for (size_t i = 0; i < channels->n; i++)
		out[i] = (struct result) {.mean = NAN,
					  .sd = NAN,
					  .min = NAN,
					  .max = NAN,
					  .p50 = NAN,
					  .p95 = NAN,
					  .p99 = NAN,
					  .first = NAN,
					  .last = NAN,
					  .integral = NAN,
					  .within = NAN,
					  .steps = NAN,
					  .counted = NAN};
	p.order = calloc(channels->n + 1, sizeof(*p.order));
	p.jobs = calloc(channels->n + 1, sizeof(*p.jobs));
	if (p.order && p.jobs) {
		threads = threads_wanted(&p);
		jobs_make(&p, threads);
		pool_run(&p, threads);
	} else {
		p.no_memory = true;
	}
	free(p.order);
	free(p.jobs);
	pthread_mutex_destroy(&p.lock);
	return p.no_memory ? -1 : 0;
}

uint64_t stats_rows(const struct trace *t, const struct channels *channels, const struct epoch *spans,
		    size_t n)
{
	const struct session *s = trace_session(t);
	bool used[TIERS] = {false};
	uint64_t rows = 0;

	for (size_t i = 0; i < channels->n; i++)
		used[s->channels[channels->list[i]].tier] = true;
	for (int tier = 0; tier < TIERS; tier++)
		rows += used[tier] ? tier_rows(t, (enum tier)tier, spans, n) : 0;
	return rows;
}
