/* One thread collects and calls every sink, so that a sink needs no lock
 * against another call of its own stream; attach and detach are carried out by
 * that thread while the caller waits.  A mark never waits: it goes through a
 * list of its own, because the collecting thread may be inside a slow sink.
 *
 * A thread that hangs in the kernel cannot be ended.  engine_stop() leaves it
 * behind with everything it may still touch (its sampler, ring and the rig);
 * that memory is lost on purpose. */
#include "nvmtop/engine.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "engine/collect.h"
#include "engine/own.h"
#include "engine/watch.h"
#include "nvmtop/intl.h"
#include "sampler/sampler.h"

#define COLLECT_EVERY_NS (25 * NS_PER_MS)
#define COLLECT_MOST_NS  (50 * NS_PER_MS) /* a writer has some time left until the rows are 250 ms old */
#define HOLD_BACK_NS     (40 * NS_PER_MS) /* a mark may come so late and still find its place */
/* Just begun, somebody waits for the first picture, and nobody has set a mark yet. */
#define BEGIN_NS         (80 * NS_PER_MS)
#define BEGIN_EVERY_NS   (4 * NS_PER_MS)
#define JOIN_NS          (NS_PER_S / 2)
#define GRID_AFTER_NS    NS_PER_MS /* the first tick: when the threads are there */

enum phase { PHASE_NEW, PHASE_RUNNING, PHASE_STOPPED };
enum order { ORDER_NONE, ORDER_ATTACH, ORDER_DETACH, ORDER_STOP };

struct engine {
	struct rig *rig;
	double hz[TIERS];
	struct sampler *samplers[TIERS]; /* NULL where the tier has no channel */
	struct collector collector;
	struct session *session; /* what engine_session() shows */
	enum phase phase;        /* the controlling thread's */
	int64_t started_ns;
	int64_t every_ns; /* rows are collected; set before the thread begins */
	pthread_t thread;
	bool hangs[TIERS]; /* left behind: its sampler and the rig are not ours any more */

	pthread_mutex_t lock;      /* for what follows, held for moments */
	pthread_cond_t work, news; /* to the collecting thread, and from it */
	enum order order;
	struct sink *sink; /* the order's */
	struct err *err;
	int result;
	struct pending_mark *marks, **marks_end;
	uint64_t next_id, next_order;
	bool warm;

	struct watch watch; /* the collecting thread's */

	struct own *own; /* the rig's, or NULL */
	atomic_uint_least64_t sinks_lost;

	_Atomic double cpu_percent;
};

/* A session as it is now; what it points to is the rig's. */
static void describe(const struct engine *g, struct session *out)
{
	memset(out, 0, sizeof(*out));
	out->channels = g->rig->channels;
	out->n_channels = g->rig->n_channels;
	out->facts = g->rig->facts;
	out->n_facts = g->rig->n_facts;
	for (int t = 0; t < TIERS; t++) {
		out->width[t] = g->rig->width[t];
		out->hz[t] = g->hz[t];
	}
	clock_anchor(&out->start);
}

static int init_locks(struct engine *g)
{
	pthread_condattr_t monotonic;

	if (pthread_mutex_init(&g->lock, NULL))
		return -1;
	if (pthread_condattr_init(&monotonic))
		goto no_attr;
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	if (pthread_cond_init(&g->work, &monotonic))
		goto no_work;
	if (pthread_cond_init(&g->news, &monotonic))
		goto no_news;
	pthread_condattr_destroy(&monotonic);
	return 0;
no_news:
	pthread_cond_destroy(&g->work);
no_work:
	pthread_condattr_destroy(&monotonic);
no_attr:
	pthread_mutex_destroy(&g->lock);
	return -1;
}

static int init_tiers(struct engine *g, struct err *e)
{
	struct ring *rings[TIERS] = {NULL};
	int64_t period_ns[TIERS] = {0};

	for (enum tier t = 0; t < TIERS; t++) {
		if (!g->rig->width[t])
			continue;
		g->samplers[t] = sampler_new(t, g->hz[t], g->rig, e);
		if (!g->samplers[t])
			return -1;
		rings[t] = sampler_ring(g->samplers[t]);
		period_ns[t] = sampler_period_ns(g->samplers[t]);
	}
	if (collector_init(&g->collector, rings, g->rig->width, period_ns))
		return err_set(e, ERR_FAILED, _("Out of memory for the engine."));
	return 0;
}

struct engine *engine_new(struct rig *rig, const double hz[TIERS], struct err *e)
{
	struct engine *g = NULL;

	for (enum tier t = 0; t < TIERS; t++) {
		if (!(hz[t] >= 0.1 && hz[t] <= 10000)) {
			err_set(e, ERR_USAGE, _("The rate of the %s tier must be 0.1 to 10000 Hz."),
				tier_name(t));
			goto fail;
		}
	}
	g = calloc(1, sizeof(*g));
	if (!g || !(g->session = calloc(1, sizeof(*g->session))) || init_locks(g)) {
		err_set(e, ERR_FAILED, _("Out of memory for the engine."));
		goto fail;
	}
	g->rig = rig;
	g->every_ns = COLLECT_EVERY_NS;
	memcpy(g->hz, hz, sizeof(g->hz));
	g->marks_end = &g->marks;
	g->next_id = 1;
	atomic_init(&g->cpu_percent, (double)NAN);
	atomic_init(&g->sinks_lost, 0);
	g->own = own_find(rig);
	if (init_tiers(g, e)) {
		engine_free(g);
		return NULL;
	}
	return g;
fail:
	if (g)
		free(g->session);
	free(g);
	rig_free(rig);
	return NULL;
}

const struct session *engine_session(const struct engine *g)
{
	describe(g, g->session);
	return g->session;
}

static void publish_own(struct engine *g, double cpu)
{
	uint64_t late = 0, lost = atomic_load_explicit(&g->sinks_lost, memory_order_relaxed);

	for (int t = 0; t < TIERS; t++) {
		struct sampler_counts n;

		if (!g->samplers[t])
			continue;
		sampler_counts(g->samplers[t], &n);
		late += n.late;
		lost += n.lost;
	}
	own_publish(g->own, cpu, late, lost);
}

/* Before the collector takes the rows away. */
static void look(struct engine *g, bool warm, int64_t now_ns)
{
	double cpu = watch_cpu(&g->watch, now_ns);

	if (!isnan(cpu))
		atomic_store_explicit(&g->cpu_percent, cpu, memory_order_relaxed);
	if (g->own)
		publish_own(g, cpu);
	if (warm || !watch_warm(&g->watch, now_ns))
		return;
	pthread_mutex_lock(&g->lock);
	g->warm = true;
	pthread_cond_broadcast(&g->news);
	pthread_mutex_unlock(&g->lock);
}

/* With the lock held: the marks that came in go to the collector. */
static void take_marks(struct engine *g)
{
	if (!g->marks)
		return;
	collector_add_marks(&g->collector, g->marks);
	g->marks = NULL;
	g->marks_end = &g->marks;
}

static int carry_out(struct engine *g, enum order order, struct sink *sink, struct err *e)
{
	struct session about;

	switch (order) {
	case ORDER_ATTACH:
		describe(g, &about);
		return collector_attach(&g->collector, sink, &about, g->next_order, e);
	case ORDER_DETACH:
		collector_drain(&g->collector);
		return collector_detach(&g->collector, sink, e);
	case ORDER_STOP:
		collector_drain(&g->collector);
		collector_detach_all(&g->collector);
		return 0;
	case ORDER_NONE:
		break;
	}
	return 0;
}

/* With the lock held: wait for an order, but not past until_ns. */
static enum order await_order(struct engine *g, int64_t until_ns)
{
	struct timespec until = {.tv_sec = until_ns / NS_PER_S, .tv_nsec = until_ns % NS_PER_S};

	while (g->order == ORDER_NONE && pthread_cond_timedwait(&g->work, &g->lock, &until) != ETIMEDOUT)
		continue;
	return g->order;
}

static void *engine_run(void *arg)
{
	struct engine *g = arg;
	enum order order;

	prctl(PR_SET_NAME, "nvmtop-engine");
	pthread_mutex_lock(&g->lock);
	do {
		bool warm = g->warm, begun;
		struct sink *sink;
		struct err *e;
		int64_t now = clock_now_ns();
		int result;

		begun = now - g->started_ns < BEGIN_NS;
		order = await_order(g, now + (begun ? BEGIN_EVERY_NS : g->every_ns));
		sink = g->sink;
		e = g->err;
		take_marks(g);
		pthread_mutex_unlock(&g->lock);

		now = clock_now_ns();
		look(g, warm, now);
		if (order == ORDER_NONE)
			collector_run(&g->collector, now, begun ? now : now - HOLD_BACK_NS);
		result = carry_out(g, order, sink, e);

		pthread_mutex_lock(&g->lock);
		if (order != ORDER_NONE) {
			g->result = result;
			g->order = ORDER_NONE;
			pthread_cond_broadcast(&g->news);
		}
	} while (order != ORDER_STOP);
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

/* Have the collecting thread do it, and wait; where there is none, do it here. */
static int command(struct engine *g, enum order order, struct sink *sink, struct err *e)
{
	int result;

	pthread_mutex_lock(&g->lock);
	if (g->phase == PHASE_RUNNING) {
		g->sink = sink;
		g->err = e;
		g->order = order;
		pthread_cond_signal(&g->work);
		while (g->order != ORDER_NONE)
			pthread_cond_wait(&g->news, &g->lock);
		result = g->result;
		pthread_mutex_unlock(&g->lock);
		return result;
	}
	take_marks(g);
	pthread_mutex_unlock(&g->lock);
	return carry_out(g, order, sink, e);
}

int engine_attach(struct engine *g, struct sink *s, bool restart_marks, struct err *e)
{
	if (g->phase == PHASE_STOPPED)
		return err_set(e, ERR_FAILED, _("Sampling has ended: nothing can be attached any more."));
	if (command(g, ORDER_ATTACH, s, e))
		return -1;
	if (restart_marks) {
		pthread_mutex_lock(&g->lock);
		g->next_id = 1;
		pthread_mutex_unlock(&g->lock);
	}
	return 0;
}

int engine_detach(struct engine *g, struct sink *s, struct err *e)
{
	return command(g, ORDER_DETACH, s, e);
}

/* Numbers follow the order of arrival.  A mark keeps its own time, however late
 * it comes; none is in the future. */
uint64_t engine_mark(struct engine *g, int64_t t_ns, const char *label)
{
	struct pending_mark *p = calloc(1, sizeof(*p));
	int64_t now = clock_now_ns();
	uint64_t id;

	if (!p)
		return 0;
	p->asked_ns = now;
	p->mark.t_ns = t_ns > now ? now : t_ns;
	if (label)
		text_printable(p->mark.label, sizeof(p->mark.label), label, strlen(label));
	pthread_mutex_lock(&g->lock);
	p->order = g->next_order++;
	id = p->mark.id = g->next_id++;
	*g->marks_end = p;
	g->marks_end = &p->next;
	pthread_mutex_unlock(&g->lock);
	return id;
}

int engine_realtime_refused(void)
{
	return sampler_realtime_refused();
}

int engine_set_nice(struct engine *g, int nice, struct err *e)
{
	for (int t = 0; t < TIERS; t++)
		if (g->samplers[t] && sampler_set_nice(g->samplers[t], nice, e))
			return -1;
	return 0;
}

void engine_unwatched(struct engine *g)
{
	g->every_ns = COLLECT_MOST_NS;
}

void engine_add_lost(struct engine *g, uint64_t rows)
{
	atomic_fetch_add_explicit(&g->sinks_lost, rows, memory_order_relaxed);
}

static atomic_uint tiers_left_behind;

unsigned engine_left_behind(void)
{
	return atomic_load(&tiers_left_behind) + probes_left_behind();
}

static void stop_samplers(struct engine *g)
{
	int64_t until = clock_now_ns() + JOIN_NS;

	for (int t = 0; t < TIERS; t++) {
		if (g->samplers[t])
			sampler_stop(g->samplers[t]);
	}
	for (int t = 0; t < TIERS; t++) {
		if (g->samplers[t])
			g->hangs[t] = !sampler_join(g->samplers[t], until);
		if (g->hangs[t])
			atomic_fetch_add(&tiers_left_behind, 1);
	}
}

static int start_threads(struct engine *g, struct err *e)
{
	sigset_t all, before;
	int failed;

	for (int t = 0; t < TIERS; t++) {
		if (g->samplers[t] && sampler_start(g->samplers[t], g->started_ns + GRID_AFTER_NS, e))
			return -1;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&g->thread, NULL, engine_run, g);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed)
		return err_sys(e, ERR_FAILED, failed, _("Cannot start the collecting thread"));
	return 0;
}

int engine_start(struct engine *g, struct err *e)
{
	if (g->phase != PHASE_NEW)
		return err_set(e, ERR_FAILED, _("The engine can be started only once."));
	g->started_ns = clock_now_ns();
	watch_begin(&g->watch, g->rig, g->samplers, g->started_ns);
	if (start_threads(g, e)) {
		stop_samplers(g);
		g->phase = PHASE_STOPPED;
		carry_out(g, ORDER_STOP, NULL, NULL);
		return -1;
	}
	g->phase = PHASE_RUNNING;
	return 0;
}

bool engine_wait_warm(struct engine *g, int timeout_ms)
{
	int64_t until_ns = clock_now_ns() + timeout_ms * NS_PER_MS;
	struct timespec until = {.tv_sec = until_ns / NS_PER_S, .tv_nsec = until_ns % NS_PER_S};
	bool warm;

	if (g->phase != PHASE_RUNNING)
		return false;
	pthread_mutex_lock(&g->lock);
	while (!g->warm) {
		if (timeout_ms < 0)
			pthread_cond_wait(&g->news, &g->lock);
		else if (pthread_cond_timedwait(&g->news, &g->lock, &until) == ETIMEDOUT)
			break;
	}
	warm = g->warm;
	pthread_mutex_unlock(&g->lock);
	return warm;
}

void engine_stats(const struct engine *g, struct engine_stats *out)
{
	int64_t now = clock_now_ns();

	memset(out, 0, sizeof(*out));
	out->cpu_percent = atomic_load_explicit(&g->cpu_percent, memory_order_relaxed);
	for (int t = 0; t < TIERS; t++) {
		struct sampler_counts n;
		int64_t since;

		if (!g->samplers[t])
			continue;
		sampler_counts(g->samplers[t], &n);
		out->rows[t] = n.rows;
		out->late[t] = n.late;
		out->lost[t] = n.lost;
		out->worst_late_ns[t] = n.worst_late_ns;
		out->realtime |= n.realtime;
		since = n.newest_ns ? n.newest_ns : g->started_ns;
		out->stalled[t] = g->phase == PHASE_RUNNING &&
				  now - since > NS_PER_S + 10 * sampler_period_ns(g->samplers[t]);
	}
}

void engine_lateness(const struct engine *g, enum tier tier, struct lateness *out)
{
	memset(out, 0, sizeof(*out));
	if (g->samplers[tier])
		sampler_lateness(g->samplers[tier], out);
}

void engine_stop(struct engine *g)
{
	if (g->phase == PHASE_STOPPED)
		return;
	if (g->phase == PHASE_RUNNING) {
		stop_samplers(g);
		command(g, ORDER_STOP, NULL, NULL);
		pthread_join(g->thread, NULL);
	} else {
		command(g, ORDER_STOP, NULL, NULL);
	}
	g->phase = PHASE_STOPPED;
}

void engine_free(struct engine *g)
{
	bool left_behind = false;

	if (!g)
		return;
	engine_stop(g);
	for (int t = 0; t < TIERS; t++) {
		left_behind |= g->hangs[t];
		if (!g->hangs[t])
			sampler_free(g->samplers[t]);
	}
	collector_close(&g->collector);
	while (g->marks) {
		struct pending_mark *gone = g->marks;

		g->marks = gone->next;
		free(gone);
	}
	if (!left_behind)
		rig_free(g->rig);
	pthread_cond_destroy(&g->news);
	pthread_cond_destroy(&g->work);
	pthread_mutex_destroy(&g->lock);
	free(g->session);
	free(g);
}
