/* Values go through a sequence lock: the writer makes the number odd, stores,
 * and makes it even; a taker that saw it change looks again.  So a taker gets
 * values of one pass and never waits, and the writer never knows of takers.
 *
 * A thread that wakes for a read of a microsecond costs more than the read.  So
 * each source has a thread, but those that were quick for long are a crew: one of
 * their threads, the leader, makes the passes of them all, and the others sleep
 * without an end.  A taker that sees a pass of the leader last too long wakes
 * them: the leader then keeps the source that it hangs in, the sources change
 * threads accordingly, and another leads.  So what hangs holds up the others for
 * LONG_NS and a tick, once, and is alone until it has been quick for long again. */
#include "slow.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "nvmtop/clock.h"
#include "nvmtop/probe.h"
#include "nvmtop/thread.h"

#define STALE_NS     (500 * NS_PER_MS)
#define STALE_PASSES 8
#define STOP_NS      (300 * NS_PER_MS) /* of all that hang together */
#define TRIES        4
#define PERIOD_MAX   (3600 * NS_PER_S)
#define QUICK_NS     (NS_PER_MS / 5) /* such passes lead into the crew, */
#define LONG_NS      (5 * NS_PER_MS) /* and one such pass out of it */
#define TRIAL        32              /* quick passes in a row; twice as many after each that was long */
#define TRIAL_MOST   4096
#define EARLY        8 /* who is awake makes a pass by this part of its period early */

/* A thread; what is in it is under the crew's lock. */
struct worker {
	struct slow *owns;  /* NULL: it is to end */
	struct slow *reads; /* at the moment */
	int64_t begin_ns;
	pthread_t thread;
	_Atomic uint32_t done;
	atomic_int holders; /* the thread and who stops it: the last one frees */
};

struct slow {
	const struct slow_ops *ops;
	void *arg;
	size_t n;
	double share;
	char name[16];
	double cost_ns; /* of a pass, smoothed; of who makes the passes */

	/* Under the crew's lock. */
	struct worker *worker; /* NULL: there is no thread; changes only in the owner's calls */
	struct slow *next;
	bool alone, busy;
	unsigned streak, trial;
	int64_t due_ns;

	atomic_int_least64_t wish_ns, period_ns;
	atomic_uint_least64_t wanted;

	_Atomic uint32_t pass; /* 2 for each; odd while one is being stored */
	atomic_int_least64_t t_ns;
	_Atomic double v[SLOW_VALUES];

	atomic_bool started, asked; /* it has a thread; a taker is reading it */
	atomic_int holders;         /* the owner and who makes a pass: the last one frees */
};

static struct {
	pthread_mutex_t lock; /* never taken on a sampling path */
	struct slow *members; /* all that have a thread */
	struct worker *leader;
	_Atomic uint32_t turn;      /* changes when a thread has to look again */
	atomic_int_least64_t since; /* a pass of the leader began; 0: there is none */
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

static void let_go(struct slow *s)
{
	if (atomic_fetch_sub(&s->holders, 1) != 1)
		return;
	s->ops->close(s->arg);
	free(s);
}

static void worker_let_go(struct worker *w)
{
	if (atomic_fetch_sub(&w->holders, 1) == 1)
		free(w);
}

static void publish(struct slow *s, int64_t t_ns, const double *v)
{
	uint32_t pass = atomic_load_explicit(&s->pass, memory_order_relaxed);

	/* Release at each store keeps it behind the odd number. */
	atomic_store_explicit(&s->pass, pass + 1, memory_order_relaxed);
	for (size_t i = 0; i < s->n; i++)
		atomic_store_explicit(&s->v[i], v[i], memory_order_release);
	atomic_store_explicit(&s->t_ns, t_ns, memory_order_release);
	/* 0 stays "none yet" after a wrap. */
	atomic_store_explicit(&s->pass, pass + 2 ? pass + 2 : 2, memory_order_release);
}

static void pace(struct slow *s, int64_t took_ns)
{
	int64_t period = atomic_load_explicit(&s->wish_ns, memory_order_relaxed);

	/* One read that hung must not slow it down for long. */
	if (s->cost_ns > 0 && (double)took_ns > 4 * s->cost_ns)
		took_ns = (int64_t)(4 * s->cost_ns);
	s->cost_ns = s->cost_ns > 0 ? s->cost_ns + ((double)took_ns - s->cost_ns) / 8 : (double)took_ns;
	double least = fmin(s->cost_ns / s->share, (double)PERIOD_MAX);
	if ((double)period < least)
		period = (int64_t)least;
	atomic_store_explicit(&s->period_ns, period, memory_order_relaxed);
}

/* Returns when it ended. */
static int64_t slow_pass(struct slow *s, int64_t t_ns)
{
	double v[SLOW_VALUES];
	int64_t begin = clock_now_ns();

	for (size_t i = 0; i < s->n; i++)
		v[i] = NAN;
	s->ops->read(s->arg, t_ns, atomic_load_explicit(&s->wanted, memory_order_relaxed), v);
	int64_t end = clock_now_ns();
	/* The first may open and start things: what it takes tells nothing. */
	if (atomic_load_explicit(&s->pass, memory_order_relaxed))
		pace(s, end - begin);
	publish(s, t_ns, v);
	return end;
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

/* Into the crew: with the steps of one that is there already. */
static void join_crew(struct slow *s)
{
	s->alone = false;
	for (const struct slow *m = crew.members; m; m = m->next)
		if (m != s && !m->alone && slow_period_ns(m) == slow_period_ns(s) && m->due_ns > s->due_ns)
			s->due_ns = m->due_ns;
	look_again();
}

static void judge(struct worker *w, struct slow *s, int64_t took_ns)
{
	if (s->alone) {
		s->streak = took_ns < QUICK_NS ? s->streak + 1 : 0;
		if (s->streak >= s->trial && s->worker == w)
			join_crew(s);
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

/* Gives the lock away for the time of the pass. */
static void make_pass(struct worker *w, struct slow *s, int64_t now_ns)
{
	bool led = !s->alone;
	int64_t end, period;

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
	period = slow_period_ns(s);
	s->due_ns += period;
	if (s->due_ns < end)
		s->due_ns = end + period;
	judge(w, s, end - now_ns);
	if (s->worker != w && s->alone)
		look_again(); /* its own thread waited for the end of this */
	if (s->worker) {
		atomic_fetch_sub(&s->holders, 1);
		return;
	}
	pthread_mutex_unlock(&crew.lock); /* to close it may take long */
	let_go(s);
	pthread_mutex_lock(&crew.lock);
}

static void *worker_run(void *arg)
{
	struct worker *w = arg;

	pthread_mutex_lock(&crew.lock);
	if (w->owns)
		prctl(PR_SET_NAME, w->owns->name);
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

/* On the sampling path.  The clock is the taker's: who is woken looks at the time
 * itself. */
static void watch_leader(int64_t now_ns)
{
	int64_t since = atomic_load_explicit(&crew.since, memory_order_relaxed);

	if (since && now_ns - since > LONG_NS &&
	    atomic_compare_exchange_strong_explicit(&crew.since, &since, 0, memory_order_relaxed,
						    memory_order_relaxed))
		look_again();
}

struct slow *slow_new(const char *name, const struct slow_ops *ops, void *arg, size_t n, int64_t period_ns,
		      double share)
{
	struct slow *s = calloc(1, sizeof *s);

	if (!s) {
		ops->close(arg);
		errno = ENOMEM;
		return NULL;
	}
	s->ops = ops;
	s->arg = arg;
	s->n = n;
	s->share = share;
	strncpy(s->name, name, sizeof s->name - 1);
	atomic_init(&s->holders, 1);
	slow_set_period(s, period_ns);
	atomic_init(&s->period_ns, period_ns);
	return s;
}

void slow_start(struct slow *s)
{
	struct worker *w;

	if (!s || atomic_load(&s->started))
		return;
	w = calloc(1, sizeof *w);
	if (!w)
		return;
	w->owns = s;
	atomic_init(&w->holders, 2);
	s->alone = true;
	s->trial = TRIAL;
	s->due_ns = clock_now_ns();
	pthread_mutex_lock(&crew.lock);
	if (thread_start(&w->thread, worker_run, w) == 0) {
		s->worker = w;
		s->next = crew.members;
		crew.members = s;
		atomic_store(&s->started, true);
	}
	pthread_mutex_unlock(&crew.lock);
	if (!atomic_load(&s->started))
		free(w);
}

void slow_ask(struct slow *s, int64_t t_ns)
{
	/* Takers of several tiers may come at the same time. */
	if (atomic_load_explicit(&s->started, memory_order_relaxed) ||
	    atomic_exchange_explicit(&s->asked, true, memory_order_acquire))
		return;
	slow_pass(s, t_ns);
	atomic_store_explicit(&s->asked, false, memory_order_release);
}

void slow_want(struct slow *s, size_t i)
{
	atomic_fetch_or_explicit(&s->wanted, UINT64_C(1) << i, memory_order_relaxed);
}

void slow_set_period(struct slow *s, int64_t period_ns)
{
	atomic_store_explicit(&s->wish_ns, period_ns < PERIOD_MAX ? period_ns : PERIOD_MAX,
			      memory_order_relaxed);
}

int64_t slow_period_ns(const struct slow *s)
{
	return atomic_load_explicit(&s->period_ns, memory_order_relaxed);
}

static bool is_stale(const struct slow *s, int64_t now_ns)
{
	int64_t limit = STALE_PASSES * slow_period_ns(s);

	return now_ns - atomic_load_explicit(&s->t_ns, memory_order_relaxed) >
	       (limit > STALE_NS ? limit : STALE_NS);
}

bool slow_take(const struct slow *s, struct slow_seen *seen, int64_t now_ns, double *v)
{
	watch_leader(now_ns);
	for (int i = 0; i < TRIES; i++) {
		uint32_t pass = atomic_load_explicit(&s->pass, memory_order_acquire);
		if (pass & 1)
			continue;
		if (pass == seen->pass) {
			if (pass == 0 || seen->stale || !is_stale(s, now_ns))
				return false;
			seen->stale = true;
			for (size_t k = 0; k < s->n; k++)
				v[k] = NAN;
			return true;
		}
		/* Acquire at each load keeps it before the second look. */
		for (size_t k = 0; k < s->n; k++)
			v[k] = atomic_load_explicit(&s->v[k], memory_order_acquire);
		if (atomic_load_explicit(&s->pass, memory_order_relaxed) != pass)
			continue;
		seen->pass = pass;
		seen->stale = false;
		return true;
	}
	return false;
}

/* Nobody begins a pass of it any more.  Returns its thread, which is to end. */
static struct worker *leave_crew(struct slow *s)
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

unsigned probes_left_behind(void)
{
	return atomic_load(&left_behind);
}

void slow_stop(struct slow *s)
{
	struct worker *w;

	if (!s)
		return;
	if (!atomic_load(&s->started)) {
		let_go(s);
		return;
	}
	w = leave_crew(s);
	/* Who waited for one that hangs has given the others their time, too. */
	int64_t until = clock_now_ns() + (atomic_load(&left_behind) ? 0 : STOP_NS);

	while (!atomic_load_explicit(&w->done, memory_order_acquire) && clock_now_ns() < until)
		futex_wait(&w->done, 0, until);
	if (atomic_load_explicit(&w->done, memory_order_acquire)) {
		pthread_join(w->thread, NULL);
	} else {
		pthread_detach(w->thread);
		atomic_fetch_add(&left_behind, 1);
	}
	worker_let_go(w);
	let_go(s);
}
