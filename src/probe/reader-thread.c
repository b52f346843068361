/* Makes the passes of readers, in one thread for each bus: reads of one i2c bus wait for each other anyway,
 * and those of another one do not. Waking a thread costs more than a read of a microsecond, so all that answered
 * at once when it was opened shares one.
 *
 * A read that hangs keeps its thread, and another one goes on with the rest of the bus; when the read returns,
 * the old thread ends, and the source is read again by the new one. Both exchange one number, begun_ns, so that
 * only one of them goes on. The sampler's own reads are a bus, too, whose thread is the sampler's. */
#include "probe/reader-thread.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "probe/jitter.h"
#include "probe/probe.h"
#include "util/clock.h"
#include "util/thread.h"

#define PRIORITY  1                 /* below the sampler's */
#define STOP_NS   (300 * NS_PER_MS) /* wait this long for the first thread that hangs */
#define THEN_NS   (20 * NS_PER_MS)  /* and this long for each one after it */
#define STUCK_NS  (100 * NS_PER_MS)
#define DOUBT_NS  (10 * NS_PER_MS) /* a pass that takes this long is checked */
#define AGAIN_NS  (20 * NS_PER_MS) /* and again after this, if its thread only waits for a core */
#define RETURN_NS (50 * NS_PER_MS) /* how often it is checked whether a read that hung has returned */
/* A thread that is awake makes a pass early by up to a quarter of its period, or by all of a short one: so
 * the files of a tier are read together with its rails, whose moments are random. */
#define EARLY     4
#define EARLY_NS  (10 * NS_PER_MS)

static atomic_uint left_behind; /* threads that did not end when stopped */

unsigned probes_left_behind(void)
{
	return atomic_load(&left_behind);
}

void reader_bus_release(struct reader_bus *b)
{
	if (atomic_fetch_sub(&b->holders, 1) != 1)
		return;
	for (size_t i = 0; i < b->n; i++)
		async_reader_free(b->readers[i]);
	free(b);
}

int64_t async_reader_early(const struct async_reader *s)
{
	int64_t period = async_reader_period_ns(s), least = period < EARLY_NS ? period : EARLY_NS;

	if (s->tick_ns)
		return 0;
	return period / EARLY > least ? period / EARLY : least;
}

/* Plans the pass after one that ended at end_ns: at a random moment, or on the grid, unless passes take so long
 * that the period is longer than requested. */
static void plan(struct async_reader *s, int64_t grid_ns, int64_t end_ns)
{
	int64_t period = async_reader_period_ns(s), off;
	int64_t lead =
		LEAD_NS + (s->tick_ns ? (int64_t)atomic_load_explicit(&s->cost_ns, memory_order_relaxed) : 0);

	if (s->tick_ns) { /* it must end in time for the row */
		s->due_ns = jitter_next(&s->slot_ns, grid_ns - lead, period, end_ns);
		s->for_ns = period == s->tick_ns ? s->slot_ns + period + lead : 0;
		return;
	}
	s->due_ns += period;
	if (grid_ns && period == atomic_load_explicit(&s->wish_ns, memory_order_relaxed)) {
		off = (s->due_ns - (grid_ns - lead)) % period;
		off += off < 0 ? period : 0;
		s->due_ns += off > period / 2 ? period - off : -off;
	}
	if (s->due_ns < end_ns)
		s->due_ns += ((end_ns - s->due_ns) / period + 1) * period;
}

static bool is_set(const _Atomic uint32_t *flag)
{
	return atomic_load_explicit(flag, memory_order_acquire);
}

/* Returns when the next pass is due. */
static int64_t next_due(const struct reader_bus *b, int64_t now_ns)
{
	int64_t due = INT64_MAX;

	for (size_t i = 0; i < b->n; i++) {
		bool hangs = atomic_load_explicit(&b->readers[i]->begun_ns, memory_order_acquire);
		int64_t its = hangs ? now_ns + RETURN_NS : b->readers[i]->due_ns;

		due = its < due ? its : due;
	}
	return due;
}

static void *bus_run(void *arg)
{
	const struct sched_param realtime = {.sched_priority = PRIORITY};
	struct reader_bus *b = arg;

	prctl(PR_SET_NAME, b->name);
	if (b->has_nice)
		setpriority(PRIO_PROCESS, 0, b->nice); /* that of the thread, on Linux */
	else if (b->readers[0]->n) /* a driver's library may start threads, which do not inherit this */
		sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &realtime);
	while (!is_set(&b->stop)) {
		int64_t now = clock_now_ns(), due = next_due(b, now);

		if (due > now) {
			thread_flag_wait(&b->stop, due);
			continue;
		}
		for (size_t i = 0; i < b->n && !is_set(&b->stop); i++) {
			struct async_reader *s = b->readers[i];

			if (atomic_load_explicit(&s->begun_ns, memory_order_acquire) ||
			    s->due_ns - async_reader_early(s) > now)
				continue;
			if (!async_reader_pass(s, now)) {
				reader_bus_release(b);
				return NULL;
			}
			now = clock_now_ns();
			plan(s, b->grid_ns, now);
		}
	}
	thread_flag_set(&b->done);
	reader_bus_release(b);
	return NULL;
}

static int64_t rank_of(const struct async_reader *s)
{
	return s->tick_ns ? 0 : async_reader_period_ns(s);
}

struct reader_bus *reader_bus_new(const char *name, struct async_reader *const *readers, size_t n, bool rows,
				  const int *nice, int64_t grid_ns)
{
	struct reader_bus *b = calloc(1, sizeof *b + n * sizeof b->readers[0]);

	if (!b)
		return NULL;
	strncpy(b->name, name, sizeof b->name - 1);
	b->rows = rows;
	b->has_nice = nice;
	b->nice = nice ? *nice : 0;
	b->grid_ns = grid_ns;
	b->n = n;
	/* Those with random moments come first, then those with a short period: they do not wait for many files. */
	for (size_t i = 0; i < n; i++) {
		size_t at = i;
		for (; at && rank_of(b->readers[at - 1]) > rank_of(readers[i]); at--)
			b->readers[at] = b->readers[at - 1];
		b->readers[at] = readers[i];
		readers[i]->due_ns = clock_now_ns();
	}
	atomic_init(&b->holders, (int)n + !rows);
	b->running = !rows;
	if (b->running && thread_start(&b->thread, bus_run, b)) {
		free(b);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		readers[i]->bus = b;
	return b;
}

void reader_bus_stop(struct reader_bus *b)
{
	int64_t until = clock_now_ns() + (atomic_load(&left_behind) ? THEN_NS : STOP_NS);

	if (b->stopped)
		return;
	b->stopped = true;
	thread_flag_set(&b->stop);
	while (b->running && !is_set(&b->done) && clock_now_ns() < until)
		thread_flag_wait(&b->done, until);
	if (b->running && is_set(&b->done)) {
		pthread_join(b->thread, NULL);
	} else if (b->running) {
		pthread_detach(b->thread);
		atomic_fetch_add(&left_behind, 1);
	}
	for (size_t i = 0; i < b->n; i++)
		if (atomic_load(&b->readers[i]->begun_ns) < 0)
			atomic_fetch_add(&left_behind, 1);
	if (b->vacant)
		reader_bus_release(b); /* for the thread that was not started */
}

bool reader_bus_rescue(struct async_reader *s, int64_t now_ns, int64_t *look_ns)
{
	struct reader_bus *b = s->bus;
	int_least64_t begun = atomic_load_explicit(&s->begun_ns, memory_order_acquire);
	int64_t look = begun + STUCK_NS;

	if (!b || b->stopped)
		return false;
	if (begun > 0 && now_ns - begun >= DOUBT_NS) {
		/* On a busy machine the thread may not hang, but wait for a core. */
		bool hangs =
			look <= now_ns && thread_sleeps(atomic_load_explicit(&s->tid, memory_order_relaxed));

		look = look > now_ns ? look : now_ns + AGAIN_NS;
		*look_ns = !hangs && look < *look_ns ? look : *look_ns;
		if (hangs) {
			atomic_fetch_add(&b->holders, 1);
			if (!atomic_compare_exchange_strong(&s->begun_ns, &begun, -begun)) {
				reader_bus_release(b);
				return false;
			}
			if (b->rows)
				return true;
			pthread_detach(b->thread);
			b->vacant = true;
		}
	}
	if (b->vacant) {
		b->vacant = thread_start(&b->thread, bus_run, b) != 0;
		b->running = !b->vacant;
	}
	return false;
}
