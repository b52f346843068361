/* A thread that wakes for a read of a microsecond costs more than the read.  So
 * each source has a thread, but those that were quick for long are a crew: one of
 * their threads, the leader, makes the passes of them all, and the others sleep
 * without an end.  A taker that sees a pass of the leader last too long wakes
 * them: the leader then keeps the source that it hangs in, the sources change
 * threads accordingly, and another leads.  So what hangs holds up the others for
 * LONG_NS and a tick, once, and is alone until it has been quick for long again. */
#include "crew.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "nvmtop/clock.h"
#include "nvmtop/probe.h"
#include "nvmtop/thread.h"

#define STOP_NS    (300 * NS_PER_MS) /* for the first that hangs, */
#define THEN_NS    (20 * NS_PER_MS)  /* and for each after it */
#define QUICK_NS   (NS_PER_MS / 5)   /* such passes lead into the crew, */
#define LONG_NS    (5 * NS_PER_MS)   /* and one such pass out of it */
#define TRIAL      32                /* quick passes in a row; twice as many after each that was long */
#define TRIAL_MOST 4096
/* A pass is over before the row is made that takes it, and begins between two ticks of
 * 1 ms: threads that wake at the same moment cost a sixth more, all together. */
#define LEAD_NS    (3 * NS_PER_MS / 2)
#define LOOK_NS    (NS_PER_MS / 10)
#define EARLY      4 /* who is awake makes a pass by this part of its period early */

/* A thread; what is in it is under the crew's lock. */
struct worker {
	struct slow *owns;  /* NULL: it is to end */
	struct slow *reads; /* at the moment */
	int64_t begin_ns;
	pthread_t thread;
	_Atomic uint32_t done;
	atomic_int holders; /* the thread and who stops it: the last one frees */
};

static struct {
	pthread_mutex_t lock; /* never taken on a sampling path */
	struct slow *members; /* all that have a thread */
	struct worker *leader;
	_Atomic uint32_t turn;      /* changes when a thread has to look again */
	atomic_int_least64_t since; /* a pass of the leader began; 0: there is none */
	int64_t grid_ns;            /* passes are due so many of their periods from here */
	bool has_nice;
	int nice;
} crew = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_uint left_behind; /* threads that did not end when they were to */

static void futex_wait(const _Atomic uint32_t *word, uint32_t value, int64_t until_ns)
{
	struct timespec at = {.tv_sec = until_ns / NS_PER_S, .tv_nsec = until_ns % NS_PER_S};

	syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, until_ns == INT64_MAX ? NULL : &at, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

static void futex_wake(const _Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX);
}

static void worker_let_go(struct worker *w)
{
	if (atomic_fetch_sub(&w->holders, 1) == 1)
		free(w);
}

static void look_again(void)
{
	atomic_fetch_add_explicit(&crew.turn, 1, memory_order_release);
	futex_wake(&crew.turn);
}

/* What follows: with the lock held. */

/* The leader hangs: it keeps what it hangs in, and its own source gets the thread
 * of that. */
static void take_over(struct worker *w)
{
	struct worker *l = crew.leader, *other;
	struct slow *hung = l ? l->reads : NULL;

	if (hung) {
		hung->alone = true;
		hung->streak = 0;
		other = hung->worker;
		if (l->owns && other && other != l) {
			other->owns = l->owns;
			other->owns->worker = other;
			l->owns = hung;
			hung->worker = l;
		}
	}
	crew.leader = w;
	look_again();
}

static bool leads(struct worker *w, int64_t now_ns)
{
	const struct worker *l = crew.leader;

	if (!l || !l->owns || l->owns->alone || (l != w && l->reads && now_ns - l->begin_ns > LONG_NS))
		take_over(w);
	return crew.leader == w && w->owns && !w->owns->alone;
}

/* What w has to read now, or NULL and when there may be something. */
static struct slow *next_of(struct worker *w, int64_t now_ns, int64_t *until_ns)
{
	struct slow *own = w->owns, *first = NULL;

	*until_ns = INT64_MAX;
	if (own->alone) {
		if (own->busy)
			return NULL;
		*until_ns = own->due_ns;
		return own->due_ns <= now_ns ? own : NULL;
	}
	if (!leads(w, now_ns))
		return NULL;
	for (struct slow *s = crew.members; s; s = s->next) {
		if (s->alone || s->busy)
			continue;
		if (!first || s->due_ns < first->due_ns)
			first = s;
	}
	if (!first)
		return NULL;
	*until_ns = first->due_ns;
	return first->due_ns - (w->begin_ns ? slow_period_ns(first) / EARLY : 0) <= now_ns ? first : NULL;
}

static void judge(struct worker *w, struct slow *s, int64_t took_ns)
{
	if (s->alone) {
		s->streak = took_ns < QUICK_NS ? s->streak + 1 : 0;
		if (s->streak >= s->trial && s->worker == w) {
			s->alone = false;
			look_again();
		}
	} else if (took_ns > LONG_NS) {
		s->alone = true;
		s->streak = 0;
		s->trial = s->trial < TRIAL_MOST ? 2 * s->trial : TRIAL_MOST;
		look_again();
	}
	if (crew.leader == w && (!w->owns || w->owns->alone)) {
		crew.leader = NULL;
		look_again();
	}
}

/* When the pass after one that ended at end_ns is due: on the grid, unless it takes so
 * long that its period is another one than was wished for. */
static int64_t next_step(const struct slow *s, int64_t end_ns)
{
	int64_t period = slow_period_ns(s), due = s->due_ns + period, off;

	if (period == atomic_load_explicit(&s->wish_ns, memory_order_relaxed)) {
		off = (due - crew.grid_ns) % period;
		off += off < 0 ? period : 0;
		due += off > period / 2 ? period - off : -off;
	}
	if (due < end_ns)
		due += ((end_ns - due) / period + 1) * period;
	return due;
}

/* Gives the lock away for the time of the pass. */
static void make_pass(struct worker *w, struct slow *s, int64_t now_ns)
{
	bool led = !s->alone;
	int64_t end;

	s->busy = true;
	w->reads = s;
	w->begin_ns = now_ns;
	atomic_fetch_add(&s->holders, 1);
	if (led)
		atomic_store_explicit(&crew.since, now_ns, memory_order_relaxed);
	pthread_mutex_unlock(&crew.lock);
	end = slow_pass(s, now_ns);
	pthread_mutex_lock(&crew.lock);
	if (led && crew.leader == w)
		atomic_store_explicit(&crew.since, 0, memory_order_relaxed);
	w->reads = NULL;
	s->busy = false;
	s->due_ns = next_step(s, end);
	judge(w, s, end - now_ns);
	if (s->worker != w && s->alone)
		look_again(); /* its own thread waited for the end of this */
	if (s->worker) {
		atomic_fetch_sub(&s->holders, 1);
		return;
	}
	pthread_mutex_unlock(&crew.lock); /* to close it may take long */
	slow_let_go(s);
	pthread_mutex_lock(&crew.lock);
}

static void *worker_run(void *arg)
{
	struct worker *w = arg;

	pthread_mutex_lock(&crew.lock);
	if (w->owns)
		prctl(PR_SET_NAME, w->owns->name);
	if (crew.has_nice)
		setpriority(PRIO_PROCESS, 0, crew.nice); /* a thread's, in Linux */
	while (w->owns) {
		/* Before the clock: a taker that finds the leader late now is then not missed. */
		uint32_t turn = atomic_load_explicit(&crew.turn, memory_order_acquire);
		int64_t now = clock_now_ns(), until;
		struct slow *s = next_of(w, now, &until);

		if (s) {
			make_pass(w, s, now);
			continue;
		}
		w->begin_ns = 0;
		pthread_mutex_unlock(&crew.lock);
		futex_wait(&crew.turn, turn, until);
		pthread_mutex_lock(&crew.lock);
	}
	if (crew.leader == w)
		crew.leader = NULL;
	look_again();
	pthread_mutex_unlock(&crew.lock);
	atomic_store_explicit(&w->done, 1, memory_order_release);
	futex_wake(&w->done);
	worker_let_go(w);
	return NULL;
}

/* The clock is the taker's: who is woken looks at the time itself. */
void crew_watch(int64_t now_ns)
{
	int64_t since = atomic_load_explicit(&crew.since, memory_order_relaxed);

	if (since && now_ns - since > LONG_NS &&
	    atomic_compare_exchange_strong_explicit(&crew.since, &since, 0, memory_order_relaxed,
						    memory_order_relaxed))
		look_again();
}

void crew_join(struct slow *s)
{
	struct worker *w = calloc(1, sizeof *w);
	bool started;

	if (!w)
		return;
	w->owns = s;
	atomic_init(&w->holders, 2);
	s->alone = true;
	s->trial = TRIAL;
	s->due_ns = clock_now_ns();
	pthread_mutex_lock(&crew.lock);
	started = thread_start(&w->thread, worker_run, w) == 0;
	if (started) {
		s->worker = w;
		s->next = crew.members;
		crew.members = s;
		atomic_store(&s->started, true); /* before its thread can have the lock */
	}
	pthread_mutex_unlock(&crew.lock);
	if (!started)
		free(w);
}

static bool all_read(void)
{
	bool all = true;

	pthread_mutex_lock(&crew.lock);
	for (const struct slow *s = crew.members; s; s = s->next)
		all &= atomic_load_explicit(&s->pass, memory_order_relaxed) > 1;
	pthread_mutex_unlock(&crew.lock);
	return all;
}

void probes_align(int64_t grid_ns)
{
	pthread_mutex_lock(&crew.lock);
	crew.grid_ns = grid_ns - LEAD_NS;
	pthread_mutex_unlock(&crew.lock);
}

void crew_settle(int64_t until_ns)
{
	const struct timespec moment = {.tv_nsec = LOOK_NS};

	while (!all_read() && clock_now_ns() < until_ns)
		nanosleep(&moment, NULL);
}

/* Nobody begins a pass of it any more.  Returns its thread, which is to end. */
static struct worker *take_out(struct slow *s)
{
	struct slow **at = &crew.members;
	struct worker *w;

	pthread_mutex_lock(&crew.lock);
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	w = s->worker;
	w->owns = NULL;
	s->worker = NULL;
	look_again();
	pthread_mutex_unlock(&crew.lock);
	return w;
}

void probes_set_nice(int nice)
{
	pthread_mutex_lock(&crew.lock);
	crew.has_nice = true;
	crew.nice = nice;
	pthread_mutex_unlock(&crew.lock);
}

unsigned probes_left_behind(void)
{
	return atomic_load(&left_behind);
}

void crew_leave(struct slow *s)
{
	struct worker *w = take_out(s);
	int64_t until = clock_now_ns() + (atomic_load(&left_behind) ? THEN_NS : STOP_NS);

	while (!atomic_load_explicit(&w->done, memory_order_acquire) && clock_now_ns() < until)
		futex_wait(&w->done, 0, until);
	if (atomic_load_explicit(&w->done, memory_order_acquire)) {
		pthread_join(w->thread, NULL);
	} else {
		pthread_detach(w->thread);
		atomic_fetch_add(&left_behind, 1);
	}
	worker_let_go(w);
}
