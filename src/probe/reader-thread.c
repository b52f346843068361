/* Makes the passes of all readers of a probe set in one thread, because waking a thread costs more than a
 * read of a microsecond: with one thread for each chip, the EMC and the load of the GPU, the recorder used a
 * sixth more. A pass that hangs, or is always slow, delays the others: its thread is abandoned, and a new one
 * continues with the rest.
 *
 * The reading thread and the one that abandons its pass exchange one number, begun_ns, so that only one of
 * them continues. The list of a thread does not change once it runs: a thread whose pass was abandoned does
 * not use it again. */
#include "probe/reader-thread.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "probe/probe.h"
#include "util/clock.h"
#include "util/thread.h"

#define STOP_NS  (300 * NS_PER_MS) /* wait this long for the first thread that hangs */
#define THEN_NS  (20 * NS_PER_MS)  /* and this long for each one after it */
#define STUCK_NS (100 * NS_PER_MS)
#define DOUBT_NS (10 * NS_PER_MS) /* a pass that takes this long is checked */
#define AGAIN_NS (20 * NS_PER_MS) /* and again after this, if its thread only waits for a core */
/* Readers whose passes always take this long get a separate thread: those at random moments, and others. */
#define QUICK_NS (NS_PER_MS / 5)
#define LONG_NS  NS_PER_MS
/* A pass ends before the row that takes it is made, and begins between two ticks of 1 ms: threads that wake
 * at the same moment cost a sixth more, all together. */
#define LEAD_NS  (3 * NS_PER_MS / 2)
/* A thread that is awake makes a pass early by up to a quarter of its period, or by all of a short one: so
 * the files of a tier are read together with its rails, whose moments are random. */
#define EARLY    4
#define EARLY_NS (10 * NS_PER_MS)

struct reader_thread {
	pthread_t thread;
	bool has_nice;
	int nice;
	/* Used only by the threads that start and stop it. */
	bool joinable, stopped;
	bool alone; /* it has only one reader, or is left to one */
	_Atomic uint32_t go, stop, done;
	atomic_int holders; /* the thread, its readers and its creator: the last one frees it */
	size_t n;
	struct async_reader *readers[];
};

static atomic_uint left_behind; /* threads that did not end when stopped */

unsigned probes_left_behind(void)
{
	return atomic_load(&left_behind);
}

void reader_thread_release(struct reader_thread *t)
{
	if (atomic_fetch_sub(&t->holders, 1) == 1)
		free(t);
}

static int64_t early(const struct async_reader *s)
{
	int64_t period = async_reader_period_ns(s), least = period < EARLY_NS ? period : EARLY_NS;

	if (s->moments.tick_ns)
		return 0;
	return period / EARLY > least ? period / EARLY : least;
}

/* Returns when the pass after one that ended at end_ns is due: on the grid, unless passes take so long that
 * the period is longer than requested. */
static int64_t next_due(struct async_reader *s, int64_t end_ns)
{
	int64_t period = async_reader_period_ns(s), due = s->due_ns + period, off;
	int64_t grid = atomic_load_explicit(&s->grid_ns, memory_order_relaxed) - LEAD_NS;
	int64_t cost = (int64_t)atomic_load_explicit(&s->cost_ns, memory_order_relaxed);

	if (s->moments.tick_ns) { /* it must end in time for the row */
		atomic_store_explicit(&s->lead_ns, LEAD_NS + cost, memory_order_relaxed);
		return jitter_next(&s->moments, grid - cost, period, end_ns);
	}
	if (period == atomic_load_explicit(&s->wish_ns, memory_order_relaxed)) {
		off = (due - grid) % period;
		off += off < 0 ? period : 0;
		due += off > period / 2 ? period - off : -off;
	}
	if (due < end_ns)
		due += ((end_ns - due) / period + 1) * period;
	return due;
}

static int64_t first_due(struct async_reader *const *all, size_t n)
{
	int64_t due = INT64_MAX;

	for (size_t i = 0; i < n; i++)
		due = all[i]->due_ns < due ? all[i]->due_ns : due;
	return due;
}

static bool is_set(const _Atomic uint32_t *flag)
{
	return atomic_load_explicit(flag, memory_order_acquire);
}

/* Makes the passes that are due, or nearly so, at *now. Returns the reader whose pass was abandoned, or
 * NULL. */
static struct async_reader *make_passes(const struct reader_thread *t, struct async_reader *const *all,
					size_t n, int64_t *now)
{
	for (size_t i = 0; i < n && !is_set(&t->stop); i++) {
		struct async_reader *s = all[i];
		int64_t end;

		if (s->due_ns - early(s) > *now)
			continue;
		end = async_reader_pass(s, *now, *now);
		*now = llabs(end);
		s->due_ns = next_due(s, *now);
		if (end < 0)
			return s;
	}
	return NULL;
}

static void read_until_stopped(struct reader_thread *t)
{
	struct async_reader *only, *left, *const *all = t->readers;
	size_t n = t->n;
	int64_t now = clock_now_ns();

	while (!is_set(&t->stop)) {
		int64_t due = first_due(all, n);

		if (due > now) {
			thread_flag_wait(&t->stop, due);
			now = clock_now_ns();
		} else if ((left = make_passes(t, all, n, &now))) {
			prctl(PR_SET_NAME, left->name);
			only = left;
			all = &only;
			n = 1;
		}
	}
	while (n)
		async_reader_release(all[--n]);
}

/* An abandoned thread that made rows runs this, too, and still has the priority and name for that. */
static void *reader_thread_run(void *arg)
{
	const struct sched_param plain = {.sched_priority = 0};
	struct reader_thread *t = arg;

	while (!is_set(&t->go))
		thread_flag_wait(&t->go, INT64_MAX);
	pthread_setschedparam(pthread_self(), SCHED_OTHER, &plain);
	prctl(PR_SET_NAME, t->n == 1 ? t->readers[0]->name : "nvmtop-files");
	if (t->has_nice)
		setpriority(PRIO_PROCESS, 0, t->nice); /* that of the thread, on Linux */
	read_until_stopped(t);
	thread_flag_set(&t->done);
	reader_thread_release(t);
	return NULL;
}

void reader_thread_continue(struct async_reader *s)
{
	reader_thread_run(s->thread);
}

/* Creates a thread that waits for go; if begins is false, the thread that makes rows will take that role.
 * Returns NULL if out of memory, or if the thread cannot be created. */
static struct reader_thread *thread_new(size_t room, const int *nice, bool begins)
{
	struct reader_thread *t = calloc(1, sizeof *t + room * sizeof t->readers[0]);

	if (!t)
		return NULL;
	atomic_init(&t->holders, 2);
	t->has_nice = nice;
	t->nice = nice ? *nice : 0;
	t->joinable = begins;
	if (begins && thread_start(&t->thread, reader_thread_run, t)) {
		free(t);
		return NULL;
	}
	return t;
}

/* A thread has a reference to each of its readers, and a reader one to its thread. */
static void thread_add(struct reader_thread *t, struct async_reader *s)
{
	if (s->thread)
		reader_thread_release(s->thread);
	else
		atomic_fetch_add(&s->holders, 1);
	atomic_fetch_add(&t->holders, 1);
	t->readers[t->n++] = s;
	s->thread = t;
}

static void thread_go(struct reader_thread *t)
{
	t->alone = t->n == 1;
	thread_flag_set(&t->go);
	reader_thread_release(t);
}

int reader_thread_start(struct async_reader *const *readers, size_t n, const int *nice)
{
	struct reader_thread *t = thread_new(n, nice, true);
	int64_t now = clock_now_ns();

	if (!t)
		return -1;
	for (size_t i = 0; i < n; i++) {
		readers[i]->due_ns = now;
		thread_add(t, readers[i]);
		atomic_store(&readers[i]->started, true);
	}
	thread_go(t);
	return 0;
}

static bool give_up(struct async_reader *s, int64_t begun_ns)
{
	int_least64_t begun = begun_ns;

	return begun_ns > 0 && atomic_compare_exchange_strong(&s->begun_ns, &begun, -begun_ns);
}

/* Abandons a thread that does not stop: it keeps the reader that it hangs in, and no other. */
static void leave_behind(struct reader_thread *t)
{
	if (t->joinable)
		pthread_detach(t->thread);
	atomic_fetch_add(&left_behind, 1);
	for (size_t i = 0; i < t->n && !t->alone; i++) {
		t->alone = give_up(t->readers[i], atomic_load(&t->readers[i]->begun_ns));
		for (size_t k = 0; k < t->n && t->alone; k++)
			if (k != i)
				async_reader_release(t->readers[k]);
	}
}

void reader_thread_stop(struct reader_thread *t)
{
	int64_t until = clock_now_ns() + (atomic_load(&left_behind) ? THEN_NS : STOP_NS);

	if (t->stopped)
		return;
	t->stopped = true;
	thread_flag_set(&t->stop);
	while (!is_set(&t->done) && clock_now_ns() < until)
		thread_flag_wait(&t->done, until);
	if (!is_set(&t->done))
		leave_behind(t);
	else if (t->joinable)
		pthread_join(t->thread, NULL);
}

/* Abandons the thread that makes rows, which continues with s alone when its read returns. */
static bool leave_rows(struct async_reader *s, int64_t begun_ns, const int *nice)
{
	struct reader_thread *t = thread_new(1, nice, false);
	double none[SLOW_VALUES];

	if (!t)
		return false;
	for (size_t i = 0; i < s->n; i++)
		none[i] = NAN;
	async_reader_publish(s, begun_ns, none);
	thread_add(t, s);
	if (!give_up(s, begun_ns)) {
		s->thread = NULL;
		atomic_fetch_sub(&s->holders, 1);
		free(t);
		return false;
	}
	atomic_store(&s->started, true);
	thread_go(t);
	return true;
}

/* Abandons the thread of s, which continues with s alone when its read returns; another thread continues with
 * the others. */
static void leave(struct async_reader *s, int64_t begun_ns, const int *nice)
{
	struct reader_thread *t = s->thread, *other = thread_new(t->n, nice, true);

	if (!other)
		return;
	if (give_up(s, begun_ns)) {
		t->alone = true;
		for (size_t i = 0; i < t->n; i++)
			if (t->readers[i] != s)
				thread_add(other, t->readers[i]);
	} else {
		thread_flag_set(&other->stop);
		pthread_detach(other->thread);
	}
	thread_go(other);
}

/* Returns when the current pass began, if others should not wait for it any longer; else 0. */
static int64_t holds_up_since(const struct async_reader *s, int64_t now_ns, int64_t *look_ns)
{
	int64_t begun = atomic_load_explicit(&s->begun_ns, memory_order_acquire);
	int64_t look = begun + STUCK_NS;
	double cost = atomic_load_explicit(&s->cost_ns, memory_order_relaxed);

	if (begun > 0 && cost > (s->moments.tick_ns ? QUICK_NS : LONG_NS))
		return begun;
	if (begun <= 0 || now_ns - begun < DOUBT_NS)
		return 0;
	if (look <= now_ns) {
		/* On a busy machine the thread may not hang, but wait for a core. */
		if (thread_sleeps(atomic_load_explicit(&s->tid, memory_order_relaxed)))
			return begun;
		look = now_ns + AGAIN_NS;
	}
	if (look < *look_ns)
		*look_ns = look;
	return 0;
}

bool reader_thread_rescue(struct async_reader *s, const int *nice, int64_t now_ns, int64_t *look_ns)
{
	int64_t begun;

	if (s->thread ? s->thread->alone : !s->urgent)
		return false;
	begun = holds_up_since(s, now_ns, look_ns);
	if (begun && !s->thread)
		return leave_rows(s, begun, nice);
	if (begun)
		leave(s, begun, nice);
	return false;
}
