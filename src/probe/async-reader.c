/* Publishes the values of a pass through a sequence lock: the writer makes the number odd, stores, and makes
 * it even; a taker that saw it change reads again. So a taker gets the values of one pass and never waits,
 * and the writer does not depend on takers. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model/missing.h"
#include "probe/reader-thread.h"
#include "util/clock.h"

#define STALE_NS     (500 * NS_PER_MS)
#define STALE_PASSES 8
#define HANGS_NS     NS_PER_S
#define TRIES        4
#define PERIOD_MAX   (3600 * NS_PER_S)

void async_reader_release(struct async_reader *s)
{
	if (atomic_fetch_sub(&s->holders, 1) != 1)
		return;
	s->ops->close(s->arg);
	free(s);
}

/* Returns the record of the pass that makes the number `pass`. */
static unsigned record_of(uint32_t pass)
{
	return pass >> 1 & 1;
}

void async_reader_publish(struct async_reader *s, int64_t t_ns, const double *v)
{
	uint32_t pass = atomic_load_explicit(&s->pass, memory_order_relaxed);
	unsigned r = record_of(pass + 2);

	/* Release orders each store after that of the odd number. */
	atomic_store_explicit(&s->pass, pass + 1, memory_order_relaxed);
	for (size_t i = 0; i < s->n; i++)
		atomic_store_explicit(&s->v[r * s->n + i], v[i], memory_order_release);
	atomic_store_explicit(&s->t_ns[r], t_ns, memory_order_release);
	/* 0 stays "none yet" after a wrap. */
	atomic_store_explicit(&s->pass, pass + 2 ? pass + 2 : 4, memory_order_release);
}

static void pace(struct async_reader *s, int64_t took_ns)
{
	int64_t period = atomic_load_explicit(&s->wish_ns, memory_order_relaxed);
	double cost = atomic_load_explicit(&s->cost_ns, memory_order_relaxed), took = (double)took_ns, least;

	/* One read that hung must not slow the reader down for long. */
	cost = cost > 0 ? cost + (fmin(took, 4 * cost) - cost) / 8 : took;
	atomic_store_explicit(&s->cost_ns, cost, memory_order_relaxed);
	least = fmin(cost / s->share, (double)PERIOD_MAX);
	if ((double)period < least)
		period = (int64_t)least;
	atomic_store_explicit(&s->period_ns, period, memory_order_relaxed);
}

void async_reader_begin(struct async_reader *s, int64_t begin_ns)
{
	static _Thread_local pid_t tid;

	if (!tid)
		tid = (pid_t)syscall(SYS_gettid);
	atomic_store_explicit(&s->tid, tid, memory_order_relaxed);
	atomic_store_explicit(&s->begun_ns, begin_ns, memory_order_release);
}

bool async_reader_end(struct async_reader *s, int64_t begin_ns)
{
	int_least64_t mine = begin_ns;

	if (atomic_compare_exchange_strong(&s->begun_ns, &mine, 0))
		return true;
	atomic_store(&s->begun_ns, 0);
	return false;
}

int64_t async_reader_pass(struct async_reader *s, int64_t t_ns, int64_t begin_ns)
{
	double v[SLOW_VALUES];

	async_reader_begin(s, begin_ns);
	for (size_t i = 0; i < s->n; i++)
		v[i] = NAN;
	s->ops->read(s->arg, t_ns, atomic_load_explicit(&s->wanted, memory_order_relaxed), v);
	int64_t end = clock_now_ns();
	bool mine = async_reader_end(s, begin_ns);
	/* The first pass may open and start things: its duration is not typical. */
	if (atomic_load_explicit(&s->pass, memory_order_relaxed))
		pace(s, end - begin_ns);
	async_reader_publish(s, t_ns, v);
	return mine ? end : -end;
}

struct async_reader *async_reader_new(const char *name, const struct async_reader_ops *ops, void *arg,
				      size_t n, int64_t period_ns, double share)
{
	struct async_reader *s = calloc(1, sizeof *s + 2 * n * sizeof s->v[0]);

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
	async_reader_set_period(s, period_ns);
	atomic_init(&s->period_ns, period_ns);
	return s;
}

void async_reader_start(struct async_reader *s)
{
	if (!s->thread)
		reader_thread_start(&s, 1, NULL);
}

void async_reader_ask(struct async_reader *s, int64_t t_ns)
{
	/* Takers of several tiers may call this at the same time. */
	if (atomic_load_explicit(&s->started, memory_order_relaxed) ||
	    atomic_exchange_explicit(&s->asked, true, memory_order_acquire))
		return;
	async_reader_pass(s, t_ns, clock_now_ns());
	atomic_store_explicit(&s->asked, false, memory_order_release);
}

void async_reader_want(struct async_reader *s, size_t i)
{
	atomic_fetch_or_explicit(&s->wanted, UINT64_C(1) << i, memory_order_relaxed);
}

void async_reader_set_period(struct async_reader *s, int64_t period_ns)
{
	atomic_store_explicit(&s->wish_ns, period_ns < PERIOD_MAX ? period_ns : PERIOD_MAX,
			      memory_order_relaxed);
}

void async_reader_at_random(struct async_reader *s, int64_t tick_ns)
{
	s->moments.tick_ns = tick_ns;
}

int64_t async_reader_period_ns(const struct async_reader *s)
{
	return atomic_load_explicit(&s->period_ns, memory_order_relaxed);
}

/* Returns the newest pass, or the one before it if the newest began in the slot of the next row. */
static uint32_t pass_for(const struct async_reader *s, uint32_t pass, int64_t now_ns)
{
	int64_t lead = atomic_load_explicit(&s->lead_ns, memory_order_relaxed);

	if (pass <= 2 || !lead)
		return pass;
	return atomic_load_explicit(&s->t_ns[record_of(pass)], memory_order_acquire) < now_ns - lead
		       ? pass
		       : pass - 2;
}

static bool is_stale(const struct async_reader *s, uint32_t pass, int64_t now_ns)
{
	int64_t limit = STALE_PASSES * async_reader_period_ns(s);

	return now_ns - atomic_load_explicit(&s->t_ns[record_of(pass)], memory_order_relaxed) >
	       (limit > STALE_NS ? limit : STALE_NS);
}

bool async_reader_take(const struct async_reader *s, struct async_reader_seen *seen, int64_t now_ns,
		       double *v)
{
	for (int i = 0; i < TRIES; i++) {
		uint32_t newest = atomic_load_explicit(&s->pass, memory_order_acquire);
		uint32_t pass = pass_for(s, newest, now_ns);
		if (newest & 1)
			continue;
		if (pass == seen->pass || newest == seen->pass) {
			if (pass == 0 || seen->stale || !is_stale(s, newest, now_ns))
				return false;
			seen->stale = true;
			for (size_t k = 0; k < s->n; k++)
				v[k] = missing_value(MISSING_ERROR, ETIME);
			return true;
		}
		/* Acquire at each load orders it before the second check. */
		for (size_t k = 0; k < s->n; k++)
			v[k] = atomic_load_explicit(&s->v[record_of(pass) * s->n + k], memory_order_acquire);
		int64_t t_ns = atomic_load_explicit(&s->t_ns[record_of(pass)], memory_order_acquire);
		if (atomic_load_explicit(&s->pass, memory_order_relaxed) != newest)
			continue;
		seen->pass = pass;
		seen->t_ns = t_ns;
		seen->stale = false;
		return true;
	}
	return false;
}

int64_t async_reader_hangs(const struct async_reader *s, int64_t now_ns)
{
	int64_t begun = atomic_load_explicit(&s->begun_ns, memory_order_relaxed), since = llabs(begun);

	return begun && s->n && ((begun < 0 && s->urgent) || now_ns - since > HANGS_NS) ? since : 0;
}

void async_reader_stop(struct async_reader *s)
{
	if (!s)
		return;
	if (s->thread) {
		reader_thread_stop(s->thread);
		reader_thread_release(s->thread);
	}
	async_reader_release(s);
}
