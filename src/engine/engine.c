/* The engine. One thread makes the rows of all tiers (sampler.c) and puts them into a ring for each tier; the engine thread
 * takes them out and passes them, with marks, changes and ranges, to a chain of sinks (collector.c). One controlling thread
 * creates, starts and stops both.
 *
 * The lock `pass` makes the stream one sequence, so that a sink needs no lock against other calls: the engine thread
 * holds it but for its sleep, and who changes the chain of sinks or ends the stream takes it and delivers what is left.
 * Marks never wait for it: they have a list of their own, because a sink may be slow.
 *
 * A thread that hangs in the kernel cannot be ended: engine_stop() abandons it with everything that it may
 * still touch (the sampler, its rings and the probe set), and that memory is leaked on purpose. */
#include "engine/engine.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "engine/changes.h"
#include "engine/collector.h"
#include "engine/own-cost.h"
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

struct engine {
	struct probe_set *probes;
	double hz[TIERS];
	struct sampler *sampler;
	struct own *own;        /* the probe set's, or NULL */
	struct session session; /* returned by engine_session() */
	int64_t started_ns;
	int64_t past_ns;         /* how long before the start the rows begin */
	_Atomic int64_t cell_ns; /* rows are delivered by cells of this length; 0: as they come */
	pthread_t thread;
	int wake;   /* an eventfd: ends the sleep of the engine thread */
	bool hangs; /* sampling hangs and was abandoned at the end: do not touch sampler and probes any more */

	pthread_mutex_t
		pass; /* for what follows; the controlling thread alone changes the phase, and may read it */
	enum { PHASE_STOPPED, PHASE_NEW, PHASE_RUNNING } phase;
	struct collector collector;
	struct session about; /* of the stream */
	struct changes *changes;
	struct fact *facts;               /* the probe set's, kept up to date */
	struct engine_feed *feeds[FEEDS]; /* NULL: none */
	bool rowless;                     /* the sampling thread hangs, and no new one could be started */

	pthread_mutex_t lock; /* for what follows; held only briefly */
	struct pending_mark *marks, **marks_end;
	uint64_t next_id;
	struct engine_hang hangs_log[ENGINE_HANGS]; /* files that did not answer */
	size_t n_hangs;
};

/* --- what is found in the rows and beside them --- */

static void engine_describe(const struct engine *g, const struct fact *facts, struct session *out)
{
	memset(out, 0, sizeof(*out));
	out->channels = probe_set_channels(g->probes);
	out->n_channels = g->probes->n_channels;
	out->facts = facts;
	out->n_facts = g->probes->n_facts;
	memcpy(out->width, g->probes->width, sizeof(out->width));
	memcpy(out->hz, g->hz, sizeof(out->hz));
	clock_anchor(&out->start);
	out->start.mono_ns -= out->start.mono_ns % NS_PER_US; /* as of rows: none is before the start */
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

/* Describes the channels anew if the source of some was found, and reports changes. */
static void engine_look(struct engine *g, int64_t now_ns)
{
	const struct channel *now = probe_set_channels(g->probes);

	if (now != g->about.channels) {
		g->about.channels = now;
		EACH_SINK(g->collector.sinks, described, now);
	}
	changes_look(g->changes, now_ns, engine_take_change, g);
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
			g->hangs_log[g->n_hangs++] =
				(struct engine_hang) {.channel = c, .since_ns = since_ns};
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
	int64_t pass_ns = clock_now_ns() - past_ns, due_ns = pass_ns;

	for (sampler_begin(g->sampler, due_ns); due_ns < clock_now_ns() + AFTER_PAST_NS;
	     due_ns = sampler_due(g->sampler)) {
		sampler_run_past(g->sampler);
		if (due_ns < pass_ns)
			continue;
		pass_ns = due_ns + PAST_PASS_NS;
		engine_look(g, due_ns);
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

/* Leaves threads that hang behind, reports what has changed, and delivers what is old enough. Returns when that is due
 * again. */
static int64_t engine_pass(struct engine *g, int64_t now_ns)
{
	int64_t cell_ns = atomic_load(&g->cell_ns), before_ns, next_ns;

	if (now_ns - g->started_ns < BEGIN_NS) {
		before_ns = now_ns;
		next_ns = now_ns + BEGIN_EVERY_NS;
	} else if (cell_ns) {
		before_ns = now_ns - CELL_BACK_NS;
		before_ns -= before_ns % cell_ns;
		next_ns = before_ns + cell_ns + CELL_BACK_NS;
	} else {
		before_ns = now_ns - HOLD_BACK_NS;
		next_ns = now_ns + COLLECT_EVERY_NS;
	}
	if (probe_set_rescue(g->probes, now_ns, &next_ns) || g->rowless)
		g->rowless = !sampler_replace(g->sampler);
	engine_log_hangs(g, now_ns);
	engine_look(g, now_ns);
	engine_take_marks(g);
	collector_run(&g->collector, now_ns, before_ns);
	return next_ns;
}

static void *engine_run(void *arg)
{
	struct engine *g = arg;
	int64_t next_ns = g->started_ns;

	prctl(PR_SET_NAME, "nvmtop-engine");
	pthread_mutex_lock(&g->pass);
	while (g->phase == PHASE_RUNNING) {
		struct pollfd p[FEEDS + 1] = {[FEEDS] = {.fd = g->wake, .events = POLLIN}};
		int64_t due_ns = next_ns, now_ns = clock_now_ns(), left_ns;
		struct engine_feed *f;
		struct timespec ts;
		uint64_t woken;

		for (int i = 0; i < FEEDS; i++) {
			f = g->feeds[i];
			p[i] = (struct pollfd) {.fd = f && f->due_ns == INT64_MAX ? f->fd : -1,
						.events = POLLIN};
			due_ns = f && f->due_ns < due_ns ? f->due_ns : due_ns;
		}
		left_ns = due_ns > now_ns ? due_ns - now_ns : 0;
		ts = (struct timespec) {left_ns / NS_PER_S, left_ns % NS_PER_S};
		pthread_mutex_unlock(&g->pass);
		if (ppoll(p, FEEDS + 1, &ts, NULL) > 0 && p[FEEDS].revents &&
		    read(g->wake, &woken, sizeof(woken)) < 0)
			p[FEEDS].revents = 0; /* nothing else reads it */
		pthread_mutex_lock(&g->pass);
		now_ns = clock_now_ns();
		for (int i = 0; i < FEEDS && g->phase == PHASE_RUNNING; i++)
			if ((f = g->feeds[i]) && (p[i].revents || f->due_ns <= now_ns))
				f->due_ns = f->poll(f, false);
		if (g->phase == PHASE_RUNNING && now_ns >= next_ns)
			next_ns = engine_pass(g, now_ns);
	}
	pthread_mutex_unlock(&g->pass);
	return NULL;
}

static void engine_wake(struct engine *g)
{
	uint64_t one = 1;

	while (write(g->wake, &one, sizeof(one)) < 0 && errno == EINTR)
		continue;
}

/* Delivers all rows and marks so far. */
static void engine_catch_up(struct engine *g)
{
	const struct timespec moment = {.tv_nsec = NS_PER_MS / 2};
	int64_t now_ns = clock_now_ns(), until_ns = now_ns + COLLECT_MARK_WAIT_NS;

	engine_take_marks(g);
	/* The fast row after a mark that was just set comes with the next tick. */
	while (g->phase == PHASE_RUNNING && collector_mark_waits(&g->collector) && clock_now_ns() < until_ns)
		nanosleep(&moment, NULL);
	engine_look(g, now_ns);
	collector_drain(&g->collector);
}

int engine_call(struct engine *g, engine_fn *fn, void *arg, struct err *e)
{
	struct session now;
	int result;

	pthread_mutex_lock(&g->pass);
	engine_catch_up(g);
	engine_describe(g, g->facts, &now);
	result = fn(arg, &now, e);
	pthread_mutex_unlock(&g->pass);
	return result;
}

int engine_begin(struct engine *g, struct sink *sinks, struct err *e)
{
	int result = 0;

	pthread_mutex_lock(&g->pass);
	if (g->phase == PHASE_RUNNING)
		engine_look(g, clock_now_ns());
	engine_describe(g, g->facts, &g->about);
	/* Before rows of that time are made: the beginning of a sink may take a while. */
	for (size_t i = 0; i < g->probes->n_probes; i++)
		atomic_store(&g->probes->probes[i]->from_ns, g->about.start.mono_ns);
	for (struct sink *s = sinks; s && result == 0; s = s->next) {
		result = s->ops->begin(s, &g->about, e);
		for (struct sink *before = sinks; result < 0 && before != s; before = before->next)
			before->ops->end(before, NULL);
	}
	if (result == 0) {
		changes_again(g->changes);
		collector_begin(&g->collector, sinks, g->about.start.mono_ns);
	}
	pthread_mutex_unlock(&g->pass);
	return result;
}

void engine_add_feed(struct engine *g, struct engine_feed *f)
{
	pthread_mutex_lock(&g->pass);
	for (int i = 0; i < FEEDS; i++)
		if (!g->feeds[i]) {
			g->feeds[i] = f;
			break;
		}
	pthread_mutex_unlock(&g->pass);
	engine_wake(g);
}

void engine_drop_feed(struct engine *g, struct engine_feed *f)
{
	pthread_mutex_lock(&g->pass);
	for (int i = 0; i < FEEDS; i++)
		if (g->feeds[i] == f)
			g->feeds[i] = NULL;
	pthread_mutex_unlock(&g->pass);
}

/* --- the controlling thread --- */

struct engine *engine_new(struct probe_set *probes, const double hz[TIERS], struct err *e)
{
	struct engine *g = calloc(1, sizeof(*g));
	enum tier t = 0;

	if (!g) {
		err_set(e, ERR_FAILED, _("out of memory"));
		probe_set_free(probes);
		return NULL;
	}
	pthread_mutex_init(&g->pass, NULL);
	pthread_mutex_init(&g->lock, NULL);
	g->wake = -1;
	g->probes = probes;
	memcpy(g->hz, hz, sizeof(g->hz));
	g->marks_end = &g->marks;
	g->next_id = 1;
	while (t < TIERS && hz[t] >= 0.1 && hz[t] <= 10000)
		t++;
	if (t < TIERS) {
		err_set(e, ERR_USAGE, _("the rate of the %s tier must be 0.1 to 10000 Hz"), tier_name(t));
		goto failed;
	}
	if (probe_set_guard(probes, hz, e) < 0 || !(g->sampler = sampler_new(probes, hz, e)))
		goto failed;
	for (t = 0; t < TIERS; t++) {
		g->collector.tiers[t].ring = sampler_ring(g->sampler, t);
		g->collector.tiers[t].period_ns = sampler_period_ns(g->sampler, t);
	}
	g->own = own_find(probes);
	if (g->own)
		g->own->sampler = g->sampler;
	g->changes = changes_new(probes, g->sampler);
	g->facts = calloc(probes->n_facts + 1, sizeof(*g->facts));
	if (!g->changes || !g->facts) {
		err_set(e, ERR_FAILED, _("out of memory"));
		goto failed;
	}
	if (probes->n_facts)
		memcpy(g->facts, probes->facts, probes->n_facts * sizeof(*g->facts));
	g->wake = eventfd(0, EFD_CLOEXEC);
	if (g->wake < 0) {
		err_sys(e, ERR_FAILED, errno, _("cannot start the engine thread"));
		goto failed;
	}
	g->phase = PHASE_NEW;
	return g;
failed:
	engine_free(g);
	return NULL;
}

const struct session *engine_session(struct engine *g)
{
	engine_describe(g, g->probes->facts, &g->session); /* g->facts may change */
	return &g->session;
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

/* On Linux niceness is a property of the thread, and 0 means the calling one. */
int engine_set_nice(struct engine *g, int nice, struct err *e)
{
	int now = getpriority(PRIO_PROCESS, 0), refused;

	if (nice < now) { /* lowering it needs a privilege, raising it does not */
		refused = setpriority(PRIO_PROCESS, 0, nice) ? errno : 0;
		if (refused)
			return err_sys(e, ERR_FAILED, refused,
				       _("cannot sample at niceness %d; use sudo, or a niceness from %d to 19"), nice, now);
		setpriority(PRIO_PROCESS, 0, now);
	}
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
	if (g->own)
		atomic_fetch_add(&g->own->lost, rows);
}

int engine_start(struct engine *g, struct err *e)
{
	int64_t grid_ns, least_ns;
	int failed;

	if (g->phase != PHASE_NEW)
		return err_set(e, ERR_FAILED, _("the engine can be started only once"));
	g->started_ns = clock_now_ns() / NS_PER_US * NS_PER_US;
	grid_ns = g->started_ns + SOURCES_NS;
	probe_set_start(g->probes, grid_ns);
	least_ns = clock_now_ns() + GRID_AFTER_NS;
	grid_ns = grid_ns > least_ns ? grid_ns : least_ns;
	if (g->past_ns)
		grid_ns = engine_sample_past(g, g->past_ns);
	sampler_begin(g->sampler, grid_ns);
	if (sampler_start(g->sampler, e) == 0) {
		g->phase = PHASE_RUNNING;
		failed = thread_start(&g->thread, engine_run, g);
		if (!failed)
			return 0;
		g->phase = PHASE_NEW;
		err_sys(e, ERR_FAILED, failed, _("cannot start the engine thread"));
	}
	engine_stop(g);
	return -1;
}

/* A CPU load is a mean over a window and has no value until that is full; some kernels never provide one. */
bool engine_wait_warm(const struct engine *g, int timeout_ms)
{
	const struct timespec moment = {.tv_nsec = NS_PER_MS};
	int64_t now_ns = clock_now_ns(),
		until_ns = timeout_ms < 0 ? INT64_MAX : now_ns + timeout_ms * NS_PER_MS;
	bool warm;

	/* Sleeps a millisecond at a time: nothing tells of a row. */
	while (g->phase == PHASE_RUNNING) {
		warm = true;
		for (enum tier t = 0; t < TIERS; t++)
			warm &= engine_made(g, t) > 0 || !sampler_ring(g->sampler, t);
		for (size_t i = 0; i < g->probes->n_channels && warm; i++) {
			const struct channel *c = &g->probes->channels[i];
			double load = NAN;

			if (c->kind == CHANNEL_CPU_UTIL && !c->missing[0])
				warm = engine_peek(g, c->tier, engine_made(g, c->tier) - 1, &c->column, 1,
						   &load) &&
				       !isnan(load);
		}
		now_ns = clock_now_ns();
		if (warm || now_ns - g->started_ns >= NS_PER_S)
			return true;
		if (now_ns >= until_ns)
			break;
		nanosleep(&moment, NULL);
	}
	return false;
}

size_t engine_made(const struct engine *g, enum tier tier)
{
	const struct ring *ring = sampler_ring(g->sampler, tier);

	return ring ? ring_pushed(ring) : 0;
}

int64_t engine_peek(const struct engine *g, enum tier tier, size_t row, const uint16_t *columns, size_t n,
		    double *out)
{
	const struct ring *ring = sampler_ring(g->sampler, tier);

	return ring ? ring_peek(ring, row, columns, n, out) : 0;
}

void engine_stats(const struct engine *g, struct engine_stats *out)
{
	int64_t now = clock_now_ns();

	memset(out, 0, sizeof(*out));
	sampler_stats(g->sampler, out);
	out->cpu_percent = g->own ? atomic_load(&g->own->cpu) : NAN;
	if (g->phase != PHASE_RUNNING)
		return;
	out->hangs = probe_set_hanging(g->probes, now, 0, &out->hangs_since_ns);
	for (enum tier t = 0; t < TIERS; t++)
		out->stalled[t] = sampler_ring(g->sampler, t) &&
				  now - (out->newest_ns[t] ? out->newest_ns[t] : g->started_ns) >
					  NS_PER_S + 10 * sampler_period_ns(g->sampler, t);
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

void engine_stop(struct engine *g)
{
	bool runs = g->phase == PHASE_RUNNING;

	if (g->phase == PHASE_STOPPED)
		return;
	pthread_mutex_lock(&g->pass);
	for (int i = 0; i < FEEDS; i++)
		if (g->feeds[i])
			g->feeds[i]->poll(g->feeds[i], true);
	engine_catch_up(g);
	g->hangs = !sampler_stop(g->sampler, clock_now_ns() + JOIN_NS);
	samplers_left_behind += g->hangs;
	g->phase = PHASE_STOPPED;
	engine_catch_up(g);
	EACH_SINK(g->collector.sinks, end, NULL);
	g->collector.sinks = NULL;
	pthread_mutex_unlock(&g->pass);
	engine_wake(g);
	if (runs)
		pthread_join(g->thread, NULL);
}

void engine_free(struct engine *g)
{
	struct pending_mark *mark;

	if (!g)
		return;
	engine_stop(g);
	if (!g->hangs) {
		sampler_free(g->sampler);
		probe_set_free(g->probes);
	}
	collector_add_marks(&g->collector, g->marks);
	while ((mark = g->collector.marks)) {
		g->collector.marks = mark->next;
		free(mark);
	}
	free(g->changes);
	if (g->wake >= 0)
		close(g->wake);
	pthread_mutex_destroy(&g->pass);
	pthread_mutex_destroy(&g->lock);
	free(g->facts);
	free(g);
}
