/* Runs the collecting thread. It calls every sink, so a sink needs no lock against other calls for its
 * stream; attach and detach are orders to it, and the caller waits until they are carried out. Marks never
 * wait: they have a separate list, because the thread may be inside a slow sink. */
#include "engine/engine-thread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

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

void engine_describe(const struct engine *g, struct session *out)
{
	memset(out, 0, sizeof(*out));
	out->channels = atomic_load(&g->channels);
	out->n_channels = g->probes->n_channels;
	out->facts = g->facts;
	out->n_facts = g->probes->n_facts;
	for (int t = 0; t < TIERS; t++) {
		out->width[t] = g->probes->width[t];
		out->hz[t] = g->hz[t];
	}
	clock_anchor(&out->start);
	if (g->phase == PHASE_NEW) {
		out->start.mono_ns -= g->past_ns;
		out->start.real_ns -= g->past_ns;
	}
}

/* Returns the CPU time of the process in percent of one core, once a second; NaN in between. */
static double measure_cpu(struct engine *g, int64_t now_ns)
{
	int64_t took = now_ns - g->cpu_since_ns, before = g->cpu_used_ns;

	if (took < NS_PER_S)
		return (double)NAN;
	g->cpu_since_ns = now_ns;
	g->cpu_used_ns = clock_cpu_ns();
	return 100.0 * (double)(g->cpu_used_ns - before) / (double)took;
}

static void publish_own(struct engine *g, double cpu)
{
	uint64_t late = 0, late_readings = 0, lost = atomic_load_explicit(&g->sinks_lost, memory_order_relaxed);
	struct late_readings of[LATE_GROUPS];

	for (int t = 0; t < TIERS; t++) {
		struct sampler_counts n;

		if (!g->samplers[t])
			continue;
		sampler_counts(g->samplers[t], &n);
		late += n.late;
		lost += n.lost;
	}
	for (size_t n = probe_set_late(g->probes, of); n--;)
		late_readings += of[n].n;
	own_publish(g->own, cpu, late, late_readings, lost);
}

/* Returns true if the newest row of its tier has cpu.util, or if it is missing. */
static bool cpu_is_warm(const struct engine *g)
{
	for (size_t i = 0; i < g->probes->n_channels; i++) {
		const struct channel *c = &g->probes->channels[i];

		if (c->kind != CHANNEL_CPU_UTIL || c->missing[0])
			continue;
		struct ring *ring = sampler_ring(g->samplers[c->tier]);
		size_t n = ring_count(ring);
		return n && !isnan(ring_at(ring, n - 1)->values[c->column]);
	}
	return true;
}

/* A tier is warm once it has a row. A CPU load is a mean over a window and has no value until that is full;
 * some kernels never provide one, so warming up takes a second at most. */
static bool is_warm_now(struct engine *g, int64_t now_ns)
{
	bool rows = true;

	for (int t = 0; t < TIERS; t++) {
		if (!g->samplers[t])
			continue;
		g->has_row[t] |= ring_count(sampler_ring(g->samplers[t])) > 0;
		rows &= g->has_row[t];
	}
	g->cpu_warm |= cpu_is_warm(g);
	return (rows && g->cpu_warm) || now_ns - g->started_ns >= NS_PER_S;
}

static void take_change(void *engine, const struct change *c)
{
	struct engine *g = engine;

	if (!c->what[0]) {
		engine_mark(g, c->t_ns, c->to);
		return;
	}
	facts_change(g->facts, g->probes->n_facts, c);
	collector_change(&g->collector, c);
}

/* Describes the channels anew if the source of some was found. */
static void describe_found(struct engine *g)
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
	collector_described(&g->collector, d->channels);
}

/* Call before the collector empties the rings. Returns true if the engine is warm now but was not before. */
static bool look(struct engine *g, bool warm, int64_t now_ns)
{
	double cpu = measure_cpu(g, now_ns);

	describe_found(g);
	changes_look(g->changes, now_ns, take_change, g);
	if (!isnan(cpu))
		atomic_store_explicit(&g->cpu_percent, cpu, memory_order_relaxed);
	if (g->own)
		publish_own(g, cpu);
	return !warm && is_warm_now(g, now_ns);
}

/* Passes new marks to the collector. Call with the lock held. */
static void take_marks(struct engine *g)
{
	if (!g->marks)
		return;
	collector_add_marks(&g->collector, g->marks);
	g->marks = NULL;
	g->marks_end = &g->marks;
}

int64_t engine_sample_past(struct engine *g)
{
	int64_t due_ns = clock_now_ns() - g->past_ns, pass_ns = due_ns, next_ns;

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
		changes_look(g->changes, due_ns, take_change, g);
		take_marks(g); /* no other thread sets any yet */
		collector_run(&g->collector, due_ns, due_ns);
	}
	return due_ns;
}

/* Call after take_marks(), with the lock still held. If an attach is pending, later marks belong to the new
 * sink, even those set while it begins, and are numbered for it: so no number is used twice. */
static void divide_marks(struct engine *g, enum order order)
{
	if (order != ORDER_ATTACH)
		return;
	g->first_order = g->next_order;
	g->id_before = g->next_id;
	if (g->restart)
		g->next_id = 1;
}

/* Waits for the fast row after a mark that was just set; it comes with the next tick. */
static void await_row(struct engine *g)
{
	const struct timespec moment = {.tv_nsec = NS_PER_MS / 2};
	int64_t until = clock_now_ns() + COLLECT_MARK_WAIT_NS;

	while (g->phase == PHASE_RUNNING && collector_mark_waits(&g->collector) && clock_now_ns() < until)
		nanosleep(&moment, NULL);
}

int engine_carry_out(struct engine *g, enum order order, struct sink *sink, struct err *e)
{
	struct session about;

	switch (order) {
	case ORDER_ATTACH:
		changes_again(g->changes);
		engine_describe(g, &about);
		return collector_attach(&g->collector, sink, &about, g->first_order, g->restart, e);
	case ORDER_DETACH:
		await_row(g);
		changes_missing(g->changes, take_change, g);
		collector_drain(&g->collector);
		return collector_detach(&g->collector, sink, e);
	case ORDER_STOP:
		changes_missing(g->changes, take_change, g);
		collector_drain(&g->collector);
		collector_detach_all(&g->collector);
		return 0;
	case ORDER_NONE:
		break;
	}
	return 0;
}

/* Call with the lock held, which is released meanwhile. */
static void poll_run(struct engine *g, bool last)
{
	pthread_mutex_unlock(&g->lock);
	g->poll_ns = g->poll(g->poll_from, last);
	pthread_mutex_lock(&g->lock);
}

/* Waits for an order until until_ns at the latest, and polls meanwhile. Call with the lock held. */
static enum order await_order(struct engine *g, int64_t until_ns)
{
	int64_t due_ns;

	do {
		due_ns = g->poll_ns < until_ns ? g->poll_ns : until_ns;
		while (g->order == ORDER_NONE && thread_wait(&g->work, &g->lock, due_ns))
			continue;
		if (g->order == ORDER_NONE && due_ns == g->poll_ns)
			poll_run(g, false);
	} while (g->order == ORDER_NONE && clock_now_ns() < until_ns);
	if (g->poll && (g->order == ORDER_DETACH || g->order == ORDER_STOP))
		poll_run(g, true);
	return g->order;
}

/* Returns the channel's entry that is still open, or a new one; NULL if the log is full. */
static struct engine_hang *hang_of(struct engine *g, const struct channel *c, int64_t since_ns)
{
	for (size_t i = 0; i < g->n_hangs; i++)
		if (g->hangs_log[i].channel == c && !g->hangs_log[i].until_ns)
			return &g->hangs_log[i];
	if (g->n_hangs == ENGINE_HANGS)
		return NULL;
	g->hangs_log[g->n_hangs] = (struct engine_hang) {.channel = c, .since_ns = since_ns};
	return &g->hangs_log[g->n_hangs++];
}

/* A hang stays in the log after the read returns: the gap in the trace is found later and needs an
 * explanation. */
static void log_hangs(struct engine *g, int64_t now_ns)
{
	const struct channel *c;
	bool still[ENGINE_HANGS] = {false};
	int64_t since;

	pthread_mutex_lock(&g->lock);
	for (size_t i = 0; (c = probe_set_hanging(g->probes, now_ns, i, &since)); i++) {
		struct engine_hang *a = hang_of(g, c, since);

		if (a)
			still[a - g->hangs_log] = true;
	}
	for (size_t i = 0; i < g->n_hangs; i++)
		if (!g->hangs_log[i].until_ns && !still[i])
			g->hangs_log[i].until_ns = now_ns;
	pthread_mutex_unlock(&g->lock);
}

/* Abandons threads that hang in a read. Returns the latest time for the next check. */
static int64_t look_after_reads(struct engine *g, int64_t now_ns)
{
	int64_t look_ns = INT64_MAX;

	if (probe_set_rescue(g->probes, now_ns, &look_ns) || g->rowless)
		g->rowless = pacer_replace(g->pacer) < 0;
	log_hangs(g, now_ns);
	return look_ns;
}

/* Rows before that time are delivered now. */
static int64_t before_ns(const struct engine *g, bool begun, int64_t now_ns)
{
	int64_t cell_ns = atomic_load(&g->cell_ns), held = now_ns - (cell_ns ? CELL_BACK_NS : HOLD_BACK_NS);

	if (begun)
		return now_ns;
	return cell_ns ? held - held % cell_ns : held;
}

/* The time of the next delivery. */
static int64_t next_ns(const struct engine *g, bool begun, int64_t now_ns)
{
	int64_t cell_ns = atomic_load(&g->cell_ns);

	if (begun)
		return now_ns + BEGIN_EVERY_NS;
	if (!cell_ns)
		return now_ns + COLLECT_EVERY_NS;
	return before_ns(g, begun, now_ns) + cell_ns + CELL_BACK_NS;
}

void *engine_run(void *arg)
{
	struct engine *g = arg;
	int64_t look_ns = INT64_MAX;
	enum order order;

	prctl(PR_SET_NAME, "nvmtop-engine");
	pthread_mutex_lock(&g->lock);
	do {
		bool warm = g->warm, begun, is_warm;
		struct sink *sink;
		struct err *e;
		int64_t now = clock_now_ns(), until;
		int result;

		begun = now - g->started_ns < BEGIN_NS;
		until = next_ns(g, begun, now);
		order = await_order(g, look_ns < until ? look_ns : until);
		sink = g->sink;
		e = g->err;
		take_marks(g);
		divide_marks(g, order);
		pthread_mutex_unlock(&g->lock);

		now = clock_now_ns();
		look_ns = look_after_reads(g, now);
		is_warm = look(g, warm, now);
		if (order == ORDER_NONE)
			collector_run(&g->collector, now, before_ns(g, begun, now));
		result = engine_carry_out(g, order, sink, e);

		pthread_mutex_lock(&g->lock);
		if (is_warm && order == ORDER_NONE) { /* its rows were delivered */
			g->warm = true;
			pthread_cond_broadcast(&g->news);
		}
		if (order != ORDER_NONE) {
			g->result = result;
			g->order = ORDER_NONE;
			pthread_cond_broadcast(&g->news);
		}
	} while (order != ORDER_STOP);
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

int engine_order(struct engine *g, enum order order, struct sink *sink, struct err *e)
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
	divide_marks(g, order);
	pthread_mutex_unlock(&g->lock);
	return engine_carry_out(g, order, sink, e);
}
