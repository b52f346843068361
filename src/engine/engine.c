/* Controls the engine: one controlling thread creates, starts and stops it.
 *
 * A thread that hangs in the kernel cannot be ended: engine_stop() abandons it with everything that it may
 * still touch (its samplers, rings and the probe set), and that memory is leaked on purpose. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine-thread.h"
#include "util/intl.h"
#include "util/thread.h"

#define JOIN_NS       (NS_PER_S / 2)
#define SOURCES_NS    (11 * NS_PER_MS) /* until the first tick: slower ones have no value in it */
#define GRID_AFTER_NS NS_PER_MS        /* the sampler must run by then */

static int init_locks(struct engine *g)
{
	if (pthread_mutex_init(&g->lock, NULL))
		return -1;
	if (thread_cond_init(&g->work))
		goto no_work;
	if (thread_cond_init(&g->news))
		goto no_news;
	return 0;
no_news:
	pthread_cond_destroy(&g->work);
no_work:
	pthread_mutex_destroy(&g->lock);
	return -1;
}

static int init_tiers(struct engine *g, struct err *e)
{
	struct ring *rings[TIERS] = {NULL};
	int64_t period_ns[TIERS] = {0};

	for (enum tier t = 0; t < TIERS; t++) {
		if (!g->probes->width[t])
			continue;
		g->samplers[t] = sampler_new(t, g->hz[t], g->probes, e);
		if (!g->samplers[t])
			return -1;
		rings[t] = sampler_ring(g->samplers[t]);
		period_ns[t] = sampler_period_ns(g->samplers[t]);
	}
	g->pacer = pacer_new(g->samplers, e);
	if (!g->pacer)
		return -1;
	if (collector_init(&g->collector, rings, g->probes->width, period_ns))
		return err_set(e, ERR_FAILED, _("out of memory"));
	return 0;
}

static int init_changes(struct engine *g, struct err *e)
{
	const struct probe_set *r = g->probes;

	g->changes = changes_new(r, g->samplers);
	g->facts = calloc(r->n_facts + 1, sizeof(*g->facts));
	if (!g->changes || !g->facts)
		return err_set(e, ERR_FAILED, _("out of memory"));
	if (r->n_facts)
		memcpy(g->facts, r->facts, r->n_facts * sizeof(*g->facts));
	return 0;
}

struct engine *engine_new(struct probe_set *probes, const double hz[TIERS], struct err *e)
{
	struct engine *g = NULL;

	for (enum tier t = 0; t < TIERS; t++) {
		if (!(hz[t] >= 0.1 && hz[t] <= 10000)) {
			err_set(e, ERR_USAGE, _("the rate of the %s tier must be 0.1 to 10000 Hz"),
				tier_name(t));
			goto fail;
		}
	}
	g = calloc(1, sizeof(*g));
	if (!g || !(g->session = calloc(1, sizeof(*g->session))) || init_locks(g)) {
		err_set(e, ERR_FAILED, _("out of memory"));
		goto fail;
	}
	g->probes = probes;
	atomic_init(&g->channels, probes->channels);
	memcpy(g->hz, hz, sizeof(g->hz));
	g->marks_end = &g->marks;
	g->next_id = 1;
	g->poll_ns = INT64_MAX;
	atomic_init(&g->cpu_percent, (double)NAN);
	atomic_init(&g->sinks_lost, 0);
	g->own = own_find(probes);
	if (probe_set_guard(probes, hz, e) || init_tiers(g, e) || init_changes(g, e)) {
		engine_free(g);
		return NULL;
	}
	return g;
fail:
	if (g)
		free(g->session);
	free(g);
	probe_set_free(probes);
	return NULL;
}

const struct session *engine_session(const struct engine *g)
{
	engine_describe(g, g->session);
	g->session->facts = g->probes->facts; /* g->facts belongs to the collecting thread */
	return g->session;
}

int engine_attach(struct engine *g, struct sink *s, bool recording, struct err *e)
{
	if (g->phase == PHASE_STOPPED)
		return err_set(e, ERR_FAILED, _("sampling has ended: no sink can be attached"));
	pthread_mutex_lock(&g->lock);
	g->restart = recording;
	pthread_mutex_unlock(&g->lock);
	if (engine_order(g, ORDER_ATTACH, s, e) == 0)
		return 0;
	if (recording) { /* undo the restart of the numbers */
		pthread_mutex_lock(&g->lock);
		g->next_id += g->id_before - 1;
		pthread_mutex_unlock(&g->lock);
	}
	return -1;
}

int engine_detach(struct engine *g, struct sink *s, struct err *e)
{
	return engine_order(g, ORDER_DETACH, s, e);
}

/* Marks are numbered in order of arrival. A mark keeps its time, even if it arrives late; a time in the
 * future becomes now. */
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

int engine_set_nice(struct engine *g, int nice, struct err *e)
{
	if (pacer_set_nice(g->pacer, nice, e))
		return -1;
	g->probes->has_nice = true;
	g->probes->nice = nice;
	return 0;
}

void engine_set_poll(struct engine *g, engine_poll *poll, void *from)
{
	g->poll = poll;
	g->poll_from = from;
	g->poll_ns = 0;
}

void engine_ranges(struct engine *g, const struct range *list, size_t n)
{
	collector_ranges(&g->collector, list, n);
}

void engine_change(struct engine *g, const struct change *c)
{
	collector_change(&g->collector, c);
}

void engine_unwatched(struct engine *g, int zoom)
{
	atomic_store(&g->cell_ns, zoom > 0 ? INT64_C(1) << zoom : 0);
}

void engine_begin_in_past(struct engine *g)
{
	g->past_ns = g->probes->past_ns;
}

void engine_add_lost(struct engine *g, uint64_t rows)
{
	atomic_fetch_add_explicit(&g->sinks_lost, rows, memory_order_relaxed);
}

static atomic_uint samplers_left_behind;

unsigned engine_left_behind(void)
{
	return atomic_load(&samplers_left_behind) + probes_left_behind();
}

static void stop_sampling(struct engine *g)
{
	pacer_stop(g->pacer);
	g->hangs = !pacer_join(g->pacer, clock_now_ns() + JOIN_NS);
	if (g->hangs)
		atomic_fetch_add(&samplers_left_behind, 1);
}

static int start_threads(struct engine *g, struct err *e)
{
	int64_t grid_ns = g->started_ns + SOURCES_NS, least_ns;
	int failed;

	probe_set_start(g->probes, grid_ns);
	least_ns = clock_now_ns() + GRID_AFTER_NS;
	grid_ns = grid_ns > least_ns ? grid_ns : least_ns;
	if (g->past_ns)
		grid_ns = engine_sample_past(g);
	if (pacer_start(g->pacer, grid_ns, e))
		return -1;
	failed = thread_start(&g->thread, engine_run, g);
	if (failed)
		return err_sys(e, ERR_FAILED, failed, _("cannot start the engine thread"));
	return 0;
}

int engine_start(struct engine *g, struct err *e)
{
	if (g->phase != PHASE_NEW)
		return err_set(e, ERR_FAILED, _("the engine can be started only once"));
	g->started_ns = clock_now_ns();
	g->cpu_since_ns = g->started_ns;
	g->cpu_used_ns = clock_cpu_ns();
	if (start_threads(g, e)) {
		stop_sampling(g);
		g->phase = PHASE_STOPPED;
		engine_carry_out(g, ORDER_STOP, NULL, NULL);
		return -1;
	}
	g->phase = PHASE_RUNNING;
	return 0;
}

bool engine_wait_warm(struct engine *g, int timeout_ms)
{
	int64_t until_ns = clock_now_ns() + timeout_ms * NS_PER_MS;
	bool warm;

	if (g->phase != PHASE_RUNNING)
		return false;
	pthread_mutex_lock(&g->lock);
	while (!g->warm) {
		if (timeout_ms < 0)
			pthread_cond_wait(&g->news, &g->lock);
		else if (!thread_wait(&g->news, &g->lock, until_ns))
			break;
	}
	warm = g->warm;
	pthread_mutex_unlock(&g->lock);
	return warm;
}

size_t engine_made(const struct engine *g, enum tier tier)
{
	return g->samplers[tier] ? ring_pushed(sampler_ring(g->samplers[tier])) : 0;
}

int64_t engine_peek(const struct engine *g, enum tier tier, size_t row, const uint16_t *columns, size_t n, double *out)
{
	return g->samplers[tier] ? ring_peek(sampler_ring(g->samplers[tier]), row, columns, n, out) : 0;
}

uint64_t engine_recorded(const struct engine *g)
{
	uint64_t row_0 = atomic_load(&g->collector.row_0);
	struct sampler_counts n;

	if (!g->samplers[TIER_FAST] || row_0 == UINT64_MAX)
		return 0;
	sampler_counts(g->samplers[TIER_FAST], &n);
	return n.rows - row_0;
}

void engine_stats(const struct engine *g, struct engine_stats *out)
{
	int64_t now = clock_now_ns();

	memset(out, 0, sizeof(*out));
	out->cpu_percent = atomic_load_explicit(&g->cpu_percent, memory_order_relaxed);
	if (g->phase == PHASE_RUNNING)
		out->hangs = probe_set_hanging(g->probes, now, 0, &out->hangs_since_ns);
	out->n_late_readings = probe_set_late(g->probes, out->late_readings);
	out->realtime = pacer_is_realtime(g->pacer);
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
		since = n.newest_ns ? n.newest_ns : g->started_ns;
		out->stalled[t] = g->phase == PHASE_RUNNING &&
				  now - since > NS_PER_S + 10 * sampler_period_ns(g->samplers[t]);
	}
}

bool engine_hang(struct engine *g, size_t nth, struct engine_hang *out)
{
	pthread_mutex_lock(&g->lock);
	bool is = nth < g->n_hangs;
	if (is)
		*out = g->hangs_log[nth];
	pthread_mutex_unlock(&g->lock);
	return is;
}

void engine_lateness(const struct engine *g, enum tier tier, struct lateness *out)
{
	memset(out, 0, sizeof(*out));
	if (g->samplers[tier])
		sampler_lateness(g->samplers[tier], out);
}

void engine_stop(struct engine *g)
{
	bool running = g->phase == PHASE_RUNNING;

	if (g->phase == PHASE_STOPPED)
		return;
	if (running)
		stop_sampling(g);
	engine_order(g, ORDER_STOP, NULL, NULL);
	if (running)
		pthread_join(g->thread, NULL);
	g->phase = PHASE_STOPPED;
}

void engine_free(struct engine *g)
{
	if (!g)
		return;
	engine_stop(g);
	if (!g->hangs) {
		pacer_free(g->pacer);
		for (int t = 0; t < TIERS; t++)
			sampler_free(g->samplers[t]);
	}
	collector_close(&g->collector);
	while (g->descriptions) {
		struct description *gone = g->descriptions;

		g->descriptions = gone->next;
		free(gone);
	}
	while (g->marks) {
		struct pending_mark *gone = g->marks;

		g->marks = gone->next;
		free(gone);
	}
	if (!g->hangs)
		probe_set_free(g->probes);
	changes_free(g->changes);
	free(g->facts);
	pthread_cond_destroy(&g->news);
	pthread_cond_destroy(&g->work);
	pthread_mutex_destroy(&g->lock);
	free(g->session);
	free(g);
}
