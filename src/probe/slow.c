/* Values go through a sequence lock: the writer makes the number odd, stores,
 * and makes it even; a taker that saw it change looks again.  So a taker gets
 * values of one pass and never waits, and the writer never knows of takers. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "nvmtop/clock.h"

#define STALE_NS     (500 * NS_PER_MS)
#define STALE_PASSES 8
#define HANGS_NS     NS_PER_S
#define TRIES        4
#define PERIOD_MAX   (3600 * NS_PER_S)

void slow_let_go(struct slow *s)
{
	if (atomic_fetch_sub(&s->holders, 1) != 1)
		return;
	s->ops->close(s->arg);
	free(s);
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

int64_t slow_pass(struct slow *s, int64_t t_ns)
{
	double v[SLOW_VALUES];
	int64_t begin = clock_now_ns();

	atomic_store_explicit(&s->begun_ns, begin, memory_order_relaxed);
	for (size_t i = 0; i < s->n; i++)
		v[i] = NAN;
	s->ops->read(s->arg, t_ns, atomic_load_explicit(&s->wanted, memory_order_relaxed), v);
	int64_t end = clock_now_ns();
	atomic_store_explicit(&s->begun_ns, 0, memory_order_relaxed);
	/* The first may open and start things: what it takes tells nothing. */
	if (atomic_load_explicit(&s->pass, memory_order_relaxed))
		pace(s, end - begin);
	publish(s, t_ns, v);
	return end;
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
	if (s && !atomic_load(&s->started))
		crew_join(s);
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
	crew_watch(now_ns);
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

bool slow_hangs(const struct slow *s, int64_t now_ns)
{
	int64_t begun = atomic_load_explicit(&s->begun_ns, memory_order_relaxed);

	return begun && now_ns - begun > HANGS_NS;
}

void slow_stop(struct slow *s)
{
	if (!s)
		return;
	if (atomic_load(&s->started))
		crew_leave(s);
	slow_let_go(s);
}
