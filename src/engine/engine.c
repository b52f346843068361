/* The engine: one controlling thread creates, starts and stops it; the engine thread takes the rows from the rings and
 * makes all calls of the consumer, so that a sink needs no lock against other calls for its stream. What another thread
 * wants done in between it asks the engine thread for, and waits. Marks never wait: they have a list of their own,
 * because that thread may be inside a slow sink.
 *
 * A thread that hangs in the kernel cannot be ended: engine_stop() abandons it with everything that it may
 * still touch (its samplers, rings and the probe set), and that memory is leaked on purpose. */
#include "engine/engine.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "engine/changes.h"
#include "engine/collector.h"
#include "engine/own-cost.h"
#include "engine/pacer.h"
#include "util/intl.h"
#include "util/thread.h"

#define COLLECT_EVERY_NS (25 * NS_PER_MS)
#define HOLD_BACK_NS     (40 * NS_PER_MS) /* a mark may arrive this late and still be placed */
/* Where rows are delivered a cell at a time: until the log takes no more rows into it, so that it is packed at once. */
#define CELL_BACK_NS     (61 * NS_PER_MS)
/* At the start rows are not held back: the first frame is wanted soon, and there are no marks yet. */
#define BEGIN_NS         (200 * NS_PER_MS)
#define BEGIN_EVERY_NS   (4 * NS_PER_MS)
#define PAST_PASS_NS     (250 * NS_PER_MS)
#define AFTER_PAST_NS    NS_PER_MS /* before the first tick: the thread must run by then */
#define JOIN_NS          (NS_PER_S / 2)
#define SOURCES_NS       (11 * NS_PER_MS) /* until the first tick: slower ones have no value in it */
#define GRID_AFTER_NS    NS_PER_MS        /* the sampler must run by then */
#define FEEDS            2

/* What a caller of engine_call() waits for. */
struct order {
	engine_fn *fn; /* or NULL */
	void *arg;
	struct err *e;
	int result;
	bool ends, done; /* ends: the stream and the thread end with it */
};

/* The channels as described from some time on; all threads may read them until engine_free(). */
struct description {
	struct description *next;
	struct channel channels[];
};

struct engine {
	struct probe_set *probes;
	double hz[TIERS];
	struct sampler *samplers[TIERS]; /* NULL where the tier has no channel */
	struct pacer *pacer;
	struct session *session; /* returned by engine_session() */
	enum { PHASE_NEW, PHASE_RUNNING, PHASE_STOPPED } phase; /* set by the controlling thread only */
	int64_t started_ns;
	int64_t past_ns; /* how long before the start the rows begin */
	_Atomic int64_t cell_ns; /* rows are delivered by cells of this length; 0: as they come */
	pthread_t thread;
	bool hangs; /* sampling hangs and was abandoned at the end: do not touch samplers and probes any more */
	int wake;   /* an eventfd: there is an order */
	atomic_uint_least64_t outputs_lost;
	_Atomic double cpu_percent;
	const struct channel *_Atomic channels; /* as they are described now */
	struct engine_feed *_Atomic feeds[FEEDS]; /* NULL: none */

	pthread_mutex_t lock; /* protects what follows; held only briefly */
	pthread_cond_t news;  /* an order was carried out, or it is warm */
	struct order *order;  /* or NULL */
	struct pending_mark *marks, **marks_end;
	uint64_t next_id;
	bool warm;
	struct engine_hang hangs_log[ENGINE_HANGS]; /* files that did not answer */
	size_t n_hangs;

	/* Of the engine thread. */
	struct collector collector;
	struct session about; /* of the stream */
	struct changes *changes;
	struct fact *facts; /* the probe set's, kept up to date */
	struct description *descriptions; /* to be freed */
	struct own *own; /* the probe set's, or NULL */
	bool has_row[TIERS], cpu_warm;     /* so far */
	int64_t cpu_since_ns, cpu_used_ns; /* of the process, at the last measurement */
	bool rowless;                      /* the sampler thread hangs, and no new one could be started */
};

/* --- what is found in the rows and beside them --- */

static void engine_describe(const struct engine *g, const struct fact *facts, struct session *out)
{
	memset(out, 0, sizeof(*out));
	out->channels = atomic_load(&g->channels);
	out->n_channels = g->probes->n_channels;
	out->facts = facts;
	out->n_facts = g->probes->n_facts;
	memcpy(out->width, g->probes->width, sizeof(out->width));
	memcpy(out->hz, g->hz, sizeof(out->hz));
	clock_anchor(&out->start);
	if (g->phase == PHASE_NEW) {
		out->start.mono_ns -= g->past_ns;
		out->start.real_ns -= g->past_ns;
	}
}

void engine_change(struct engine *g, const struct change *c)
{
	struct change own = *c;

	if (own.t_ns < g->collector.start_ns)
		own.t_ns = g->collector.start_ns;
	EACH_SINK(g->collector.sinks, change, &own);
}

static void engine_take_change(void *engine, const struct change *c)
{
	struct engine *g = engine;

	if (!c->what[0]) {
		engine_mark(g, c->t_ns, c->to);
		return;
	}
	facts_change(g->facts, g->probes->n_facts, c);
	engine_change(g, c);
}

void engine_ranges(struct engine *g, const struct range *list, size_t n)
{
	int64_t start_ns = g->collector.start_ns;
	struct range some[COLLECT_BATCH];
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (list[i].end_ns >= start_ns) {
			some[kept] = list[i];
			if (some[kept].begin_ns < start_ns)
				some[kept].begin_ns = start_ns;
			kept++;
		}
		if (kept == COLLECT_BATCH || (kept > 0 && i + 1 == n)) {
			EACH_SINK(g->collector.sinks, ranges, some, kept);
			kept = 0;
		}
	}
}

/* Describes the channels anew if the source of some was found. */
static void engine_describe_found(struct engine *g)
{
	struct description *d = NULL;
	struct channel now;
	size_t i, n = 0, size = g->probes->n_channels * sizeof(d->channels[0]);

	while (probe_set_found(g->probes, &i, &now)) {
		if (!d && !(d = malloc(sizeof(*d) + size)))
			return;
		if (!n++)
			memcpy(d->channels, atomic_load(&g->channels), size);
		d->channels[i] = now;
	}
	if (!d)
		return;
	d->next = g->descriptions;
	g->descriptions = d;
	atomic_store(&g->channels, d->channels);
	g->about.channels = d->channels;
	EACH_SINK(g->collector.sinks, described, d->channels);
}

/* Measures the CPU time of the process once a second, and publishes it with what was lost so far. */
static void engine_measure_own(struct engine *g, int64_t now_ns)
{
	int64_t took = now_ns - g->cpu_since_ns, before = g->cpu_used_ns;
	double own[OWN_VALUES] = {[OWN_LOST] = (double)atomic_load_explicit(&g->outputs_lost, memory_order_relaxed)};
	struct sampler_counts n;

	if (took >= NS_PER_S) {
		g->cpu_since_ns = now_ns;
		g->cpu_used_ns = clock_cpu_ns();
		atomic_store_explicit(&g->cpu_percent, 100.0 * (double)(g->cpu_used_ns - before) / (double)took,
				      memory_order_relaxed);
	}
	if (!g->own)
		return;
	own[OWN_CPU] = atomic_load_explicit(&g->cpu_percent, memory_order_relaxed);
	for (int t = 0; t < TIERS; t++) {
		if (!g->samplers[t])
			continue;
		sampler_counts(g->samplers[t], &n);
		own[OWN_LATE] += (double)n.late;
		own[OWN_LOST] += (double)n.lost;
	}
	own[OWN_LATE_READINGS] = (double)probe_set_late(g->probes);
	own_publish(g->own, own);
}

/* A tier is warm once it has a row. A CPU load is a mean over a window and has no value until that is full;
 * some kernels never provide one, so warming up takes a second at most. */
static bool engine_is_warm(struct engine *g, int64_t now_ns)
{
	bool warm = true, cpu = true;

	for (int t = 0; t < TIERS; t++) {
		g->has_row[t] |= g->samplers[t] && ring_count(sampler_ring(g->samplers[t])) > 0;
		warm &= g->has_row[t] || !g->samplers[t];
	}
	for (size_t i = 0; i < g->probes->n_channels && !g->cpu_warm; i++) {
		const struct channel *c = &g->probes->channels[i];

		if (c->kind != CHANNEL_CPU_UTIL || c->missing[0])
			continue;
		struct ring *ring = sampler_ring(g->samplers[c->tier]);
		size_t n = ring_count(ring);

		cpu = n && !isnan(ring_at(ring, n - 1)->values[c->column]);
	}
	g->cpu_warm |= cpu;
	return (warm && g->cpu_warm) || now_ns - g->started_ns >= NS_PER_S;
}

/* Logs the files that do not answer. A hang stays in the log after the read returns: the gap in the trace is found later
 * and needs an explanation. */
static void engine_log_hangs(struct engine *g, int64_t now_ns)
{
	bool still[ENGINE_HANGS] = {false};
	const struct channel *c;
	int64_t since_ns;

	pthread_mutex_lock(&g->lock);
	for (size_t nth = 0, i; (c = probe_set_hanging(g->probes, now_ns, nth, &since_ns)); nth++) {
		for (i = 0; i < g->n_hangs && (g->hangs_log[i].channel != c || g->hangs_log[i].until_ns); i++)
			continue;
		if (i == ENGINE_HANGS)
			continue;
		if (i == g->n_hangs)
			g->hangs_log[g->n_hangs++] = (struct engine_hang) {.channel = c, .since_ns = since_ns};
		still[i] = true;
	}
	for (size_t i = 0; i < g->n_hangs; i++)
		if (!g->hangs_log[i].until_ns && !still[i])
			g->hangs_log[i].until_ns = now_ns;
	pthread_mutex_unlock(&g->lock);
}

/* Passes new marks to the collector. */
static void engine_take_marks(struct engine *g)
{
	pthread_mutex_lock(&g->lock);
	collector_add_marks(&g->collector, g->marks);
	g->marks = NULL;
	g->marks_end = &g->marks;
	pthread_mutex_unlock(&g->lock);
}

int64_t engine_sample_past(struct engine *g, int64_t past_ns)
{
	int64_t due_ns = clock_now_ns() - past_ns, pass_ns = due_ns, next_ns;

	for (int t = 0; t < TIERS; t++)
		if (g->samplers[t])
			sampler_begin(g->samplers[t], due_ns);
	for (; due_ns < clock_now_ns() + AFTER_PAST_NS; due_ns = next_ns) {
		next_ns = INT64_MAX;
		for (int t = 0; t < TIERS; t++) {
			if (!g->samplers[t])
				continue;
			if (sampler_due(g->samplers[t]) <= due_ns)
				sampler_run_past(g->samplers[t]);
			if (sampler_due(g->samplers[t]) < next_ns)
				next_ns = sampler_due(g->samplers[t]);
		}
		if (due_ns < pass_ns)
			continue;
		pass_ns = due_ns + PAST_PASS_NS;
		changes_look(g->changes, due_ns, engine_take_change, g);
		engine_take_marks(g); /* no other thread sets any yet */
		collector_run(&g->collector, due_ns, due_ns);
	}
	return due_ns;
}

/* --- the engine thread --- */

static atomic_uint samplers_left_behind;

unsigned engine_left_behind(void)
{
	return atomic_load(&samplers_left_behind) + probes_left_behind();
}

static int engine_carry_out(struct engine *g, const struct order *o)
{
	const struct timespec moment = {.tv_nsec = NS_PER_MS / 2};
	int64_t until = clock_now_ns() + COLLECT_MARK_WAIT_NS;
	struct engine_feed *f;
	struct session now;
	int result = 0;

	for (int i = 0; i < FEEDS && o->ends; i++)
		if ((f = atomic_load(&g->feeds[i])))
			f->poll(f, true);
	engine_take_marks(g);
	/* The fast row after a mark that was just set comes with the next tick. */
	while (g->phase == PHASE_RUNNING && collector_mark_waits(&g->collector) && clock_now_ns() < until)
		nanosleep(&moment, NULL);
	if (o->ends && g->pacer) {
		g->hangs = !pacer_stop(g->pacer, clock_now_ns() + JOIN_NS);
		samplers_left_behind += g->hangs;
	}
	changes_look_missing(g->changes, engine_take_change, g);
	collector_drain(&g->collector);
	if (o->fn) {
		engine_describe(g, g->facts, &now);
		result = o->fn(o->arg, &now, o->e);
	}
	if (o->ends) {
		EACH_SINK(g->collector.sinks, end, NULL);
		g->collector.sinks = NULL;
	}
	return result;
}

/* Waits for an order until until_ns at the latest, and polls the feeds meanwhile. */
static void engine_await(struct engine *g, int64_t until_ns)
{
	struct pollfd p[2 * FEEDS + 1] = {[2 * FEEDS] = {.fd = g->wake, .events = POLLIN}}, *order = &p[2 * FEEDS];
	int64_t now = clock_now_ns();
	struct engine_feed *f;
	uint64_t orders;

	do {
		int64_t due_ns = until_ns, left;
		struct timespec ts;

		for (int i = 0; i < 2 * FEEDS; i++) {
			f = atomic_load(&g->feeds[i / 2]);
			p[i] = (struct pollfd) {.fd = f && f->due_ns == INT64_MAX ? f->fd[i % 2] : -1, .events = POLLIN};
			due_ns = f && f->due_ns < due_ns ? f->due_ns : due_ns;
		}
		left = due_ns > now ? due_ns - now : 0;
		ts = (struct timespec) {left / NS_PER_S, left % NS_PER_S};
		if (ppoll(p, 2 * FEEDS + 1, &ts, NULL) < 0)
			order->revents = 0;
		now = clock_now_ns();
		for (int i = 0; i < FEEDS; i++)
			if ((f = atomic_load(&g->feeds[i])) && (p[2 * i].revents || p[2 * i + 1].revents || f->due_ns <= now))
				f->due_ns = f->poll(f, false);
	} while (now < until_ns && !order->revents);
	if (order->revents && read(g->wake, &orders, sizeof(orders)) < 0)
		orders = 0; /* it was taken with the one before */
}

/* Rows before that time are delivered now. */
static int64_t engine_before_ns(const struct engine *g, bool begins, int64_t now_ns)
{
	int64_t cell_ns = atomic_load(&g->cell_ns), held = now_ns - (cell_ns ? CELL_BACK_NS : HOLD_BACK_NS);

	if (begins)
		return now_ns;
	return cell_ns ? held - held % cell_ns : held;
}

static void *engine_run(void *arg)
{
	struct engine *g = arg;
	int64_t look_ns = INT64_MAX; /* the latest time for the next look at the reads */
	bool ended = false;

	prctl(PR_SET_NAME, "nvmtop-engine");
	while (!ended) {
		int64_t now = clock_now_ns(), cell_ns = atomic_load(&g->cell_ns), next_ns = now + COLLECT_EVERY_NS;
		bool begins = now - g->started_ns < BEGIN_NS, warm;
		struct order *o;

		if (begins)
			next_ns = now + BEGIN_EVERY_NS;
		else if (cell_ns)
			next_ns = engine_before_ns(g, begins, now) + cell_ns + CELL_BACK_NS;
		engine_await(g, look_ns < next_ns ? look_ns : next_ns);
		now = clock_now_ns();
		pthread_mutex_lock(&g->lock);
		o = g->order;
		pthread_mutex_unlock(&g->lock);
		engine_take_marks(g);

		look_ns = INT64_MAX;
		if (probe_set_rescue(g->probes, now, &look_ns) || g->rowless)
			g->rowless = pacer_replace(g->pacer) < 0;
		engine_log_hangs(g, now);
		/* Before the collector empties the rings. */
		engine_describe_found(g);
		changes_look(g->changes, now, engine_take_change, g);
		engine_measure_own(g, now);
		warm = !g->warm && engine_is_warm(g, now);
		if (o)
			o->result = engine_carry_out(g, o);
		else
			collector_run(&g->collector, now, engine_before_ns(g, begins, now));
		if (!o && !warm)
			continue;
		pthread_mutex_lock(&g->lock);
		g->warm |= warm; /* its rows were delivered */
		if (o) {
			ended = o->ends;
			o->done = true;
			g->order = NULL;
		}
		pthread_cond_broadcast(&g->news);
		pthread_mutex_unlock(&g->lock);
	}
	return NULL;
}

static int engine_give(struct engine *g, struct order *o)
{
	uint64_t one = 1;

	if (g->phase != PHASE_RUNNING)
		return engine_carry_out(g, o);
	pthread_mutex_lock(&g->lock);
	while (g->order)
		pthread_cond_wait(&g->news, &g->lock);
	g->order = o;
	while (write(g->wake, &one, sizeof(one)) < 0 && errno == EINTR)
		continue;
	while (!o->done)
		pthread_cond_wait(&g->news, &g->lock);
	pthread_mutex_unlock(&g->lock);
	return o->result;
}

int engine_call(struct engine *g, engine_fn *fn, void *arg, struct err *e)
{
	return engine_give(g, &(struct order) {.fn = fn, .arg = arg, .e = e});
}

/* --- the controlling thread --- */

static int engine_init(struct engine *g, struct err *e)
{
	struct ring *rings[TIERS] = {NULL};
	int64_t period_ns[TIERS] = {0};
	const struct probe_set *r = g->probes;

	for (enum tier t = 0; t < TIERS; t++) {
		if (!r->width[t])
			continue;
		g->samplers[t] = sampler_new(t, g->hz[t], r, e);
		if (!g->samplers[t])
			return -1;
		rings[t] = sampler_ring(g->samplers[t]);
		period_ns[t] = sampler_period_ns(g->samplers[t]);
	}
	g->pacer = pacer_new(g->samplers, e);
	if (!g->pacer)
		return -1;
	g->changes = changes_new(r, g->samplers);
	g->facts = calloc(r->n_facts + 1, sizeof(*g->facts));
	g->wake = eventfd(0, EFD_CLOEXEC);
	if (!g->changes || !g->facts || collector_init(&g->collector, rings, r->width, period_ns))
		return err_set(e, ERR_FAILED, _("out of memory"));
	if (g->wake < 0)
		return err_sys(e, ERR_FAILED, errno, _("cannot start the engine thread"));
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
	if (!g || !(g->session = calloc(1, sizeof(*g->session))) || thread_cond_init(&g->news)) {
		err_set(e, ERR_FAILED, _("out of memory"));
		goto fail;
	}
	pthread_mutex_init(&g->lock, NULL);
	g->wake = -1;
	g->probes = probes;
	atomic_init(&g->channels, probes->channels);
	memcpy(g->hz, hz, sizeof(g->hz));
	g->marks_end = &g->marks;
	g->next_id = 1;
	atomic_init(&g->cpu_percent, (double)NAN);
	g->own = own_find(probes);
	if (probe_set_guard(probes, hz, e) || engine_init(g, e)) {
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
	engine_describe(g, g->probes->facts, g->session); /* g->facts belongs to the engine thread */
	return g->session;
}

struct engine_begin {
	struct engine *engine;
	struct sink *sinks;
};

static int engine_begin_sinks(void *arg, const struct session *now, struct err *e)
{
	const struct engine_begin *b = arg;
	struct engine *g = b->engine;

	g->about = *now;
	for (struct sink *s = b->sinks; s; s = s->next) {
		if (s->ops->begin(s, &g->about, e) == 0)
			continue;
		for (struct sink *before = b->sinks; before != s; before = before->next)
			before->ops->end(before, NULL);
		return -1;
	}
	changes_again(g->changes);
	collector_begin(&g->collector, b->sinks, now->start.mono_ns, g->phase == PHASE_RUNNING,
			probe_set_find(g->probes, "energy.total"));
	return 0;
}

int engine_begin(struct engine *g, struct sink *s, struct err *e)
{
	return engine_call(g, engine_begin_sinks, &(struct engine_begin) {g, s}, e);
}

void engine_add_feed(struct engine *g, struct engine_feed *f)
{
	struct engine_feed *none = NULL;

	for (int i = 0; i < FEEDS && !atomic_compare_exchange_strong(&g->feeds[i], &none, f); i++)
		none = NULL;
	engine_call(g, NULL, NULL, NULL); /* it waits for this one, too, from now on */
}

void engine_drop_feed(struct engine *g, struct engine_feed *f)
{
	for (int i = 0; i < FEEDS; i++)
		if (atomic_load(&g->feeds[i]) == f)
			atomic_store(&g->feeds[i], NULL);
	engine_call(g, NULL, NULL, NULL); /* it may be inside poll() */
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
	id = p->mark.id = g->next_id++;
	*g->marks_end = p;
	g->marks_end = &p->next;
	pthread_mutex_unlock(&g->lock);
	return id;
}

void engine_begin_again(struct engine *g)
{
	changes_again(g->changes);
	pthread_mutex_lock(&g->lock);
	g->next_id = 1;
	pthread_mutex_unlock(&g->lock);
}

int engine_set_nice(struct engine *g, int nice, struct err *e)
{
	if (pacer_set_nice(g->pacer, nice, e))
		return -1;
	g->probes->has_nice = true;
	g->probes->nice = nice;
	return 0;
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
	atomic_fetch_add_explicit(&g->outputs_lost, rows, memory_order_relaxed);
}

int engine_start(struct engine *g, struct err *e)
{
	int64_t grid_ns, least_ns;
	int failed;

	if (g->phase != PHASE_NEW)
		return err_set(e, ERR_FAILED, _("the engine can be started only once"));
	g->started_ns = clock_now_ns();
	g->cpu_since_ns = g->started_ns;
	g->cpu_used_ns = clock_cpu_ns();
	grid_ns = g->started_ns + SOURCES_NS;
	probe_set_start(g->probes, grid_ns);
	least_ns = clock_now_ns() + GRID_AFTER_NS;
	grid_ns = grid_ns > least_ns ? grid_ns : least_ns;
	if (g->past_ns)
		grid_ns = engine_sample_past(g, g->past_ns);
	if (pacer_start(g->pacer, grid_ns, e) == 0) {
		failed = thread_start(&g->thread, engine_run, g);
		if (!failed) {
			g->phase = PHASE_RUNNING;
			return 0;
		}
		err_sys(e, ERR_FAILED, failed, _("cannot start the engine thread"));
	}
	engine_stop(g);
	return -1;
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

void engine_stats(const struct engine *g, struct engine_stats *out)
{
	int64_t now = clock_now_ns();

	memset(out, 0, sizeof(*out));
	out->cpu_percent = atomic_load_explicit(&g->cpu_percent, memory_order_relaxed);
	if (g->phase == PHASE_RUNNING)
		out->hangs = probe_set_hanging(g->probes, now, 0, &out->hangs_since_ns);
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
	if (g->phase == PHASE_STOPPED)
		return;
	engine_give(g, &(struct order) {.ends = true});
	if (g->phase == PHASE_RUNNING)
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
		probe_set_free(g->probes);
	}
	collector_add_marks(&g->collector, g->marks);
	collector_close(&g->collector);
	while (g->descriptions) {
		struct description *gone = g->descriptions;

		g->descriptions = gone->next;
		free(gone);
	}
	changes_free(g->changes);
	if (g->wake >= 0)
		close(g->wake);
	pthread_cond_destroy(&g->news);
	pthread_mutex_destroy(&g->lock);
	free(g->facts);
	free(g->session);
	free(g);
}
