/* Publishes the values of a pass through a sequence lock: the writer makes the number odd, stores, and makes
 * it even; a taker that saw it change reads again. So a taker gets the values of one pass and never waits,
 * and the writer does not depend on takers. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model/missing.h"
#include "probe/attr.h"
#include "probe/reader-thread.h"
#include "util/clock.h"

#define HANGS_NS   NS_PER_S
#define TRIES      4
#define PERIOD_MAX (3600 * NS_PER_S)

void async_reader_free(struct async_reader *s)
{
	s->ops->close(s->arg);
	free(s);
}

/* Returns the record of the pass that makes the number `pass`. */
static unsigned record_of(uint32_t pass)
{
	return pass >> 1 & 1;
}

static void publish(struct async_reader *s, int64_t t_ns, const double *v)
{
	uint32_t pass = atomic_load_explicit(&s->pass, memory_order_relaxed);
	unsigned r = record_of(pass + 2);

	/* Release orders each store after that of the odd number. */
	atomic_store_explicit(&s->pass, pass + 1, memory_order_relaxed);
	for (size_t i = 0; i < s->n; i++)
		atomic_store_explicit(&s->v[r * s->n + i], v[i], memory_order_release);
	atomic_store_explicit(&s->t_ns[r], t_ns, memory_order_release);
	atomic_store_explicit(&s->row_ns[r], s->for_ns, memory_order_release);
	/* 0 stays "none yet" after a wrap. */
	atomic_store_explicit(&s->pass, pass + 2 ? pass + 2 : 4, memory_order_release);
}

static void pace(struct async_reader *s, int64_t took_ns)
{
	int64_t period = atomic_load_explicit(&s->wish_ns, memory_order_relaxed);
	double cost = atomic_load_explicit(&s->cost_ns, memory_order_relaxed), took = (double)took_ns, least, most;

	uint32_t pass = atomic_load_explicit(&s->pass, memory_order_relaxed);

	least = fmin(took, fmin(s->took_ns[0], s->took_ns[1]));
	most = fmax(took, fmax(s->took_ns[0], s->took_ns[1]));
	s->took_ns[1] = s->took_ns[0];
	s->took_ns[0] = took;
	/* One read that hung must not slow the reader down for long, and the first may open and start things; but
	 * the third in a row that takes longer is how long one takes now. */
	if (pass > 2)
		cost = fmin(fmax(cost + (fmin(took, 4 * cost) - cost) / 8, least), most);
	else
		cost = pass ? fmin(cost, took) : took;
	atomic_store_explicit(&s->cost_ns, cost, memory_order_relaxed);
	if (!pass)
		return;
	least = fmin(cost / s->share, (double)PERIOD_MAX);
	if ((double)period < least)
		period = (int64_t)least;
	atomic_store_explicit(&s->period_ns, period, memory_order_relaxed);
}

bool async_reader_begin(struct async_reader *s, int64_t begin_ns)
{
	static _Thread_local pid_t tid;

	if (atomic_load_explicit(&s->begun_ns, memory_order_acquire))
		return false;
	if (!tid)
		tid = (pid_t)syscall(SYS_gettid);
	atomic_store_explicit(&s->tid, tid, memory_order_relaxed);
	atomic_store_explicit(&s->begun_ns, begin_ns, memory_order_release);
	return true;
}

bool async_reader_end(struct async_reader *s, int64_t begin_ns)
{
	int_least64_t mine = begin_ns;

	if (atomic_compare_exchange_strong(&s->begun_ns, &mine, 0))
		return true;
	atomic_store(&s->begun_ns, 0);
	return false;
}

bool async_reader_pass(struct async_reader *s, int64_t t_ns)
{
	int64_t begin = clock_now_ns();
	double v[SLOW_VALUES];

	if (!async_reader_begin(s, begin))
		return true;
	for (size_t i = 0; i < s->n; i++)
		v[i] = NAN;
	s->ops->read(s->arg, t_ns, v);
	if (!async_reader_end(s, begin)) /* its values are old, and another thread may read it by now */
		return false;
	pace(s, clock_now_ns() - begin);
	publish(s, t_ns, v);
	return true;
}

struct async_reader *async_reader_new(const char *name, const struct async_reader_ops *ops, void *arg,
				      size_t n, int64_t period_ns, double share)
{
	struct async_reader *s = calloc(1, sizeof *s + 2 * n * sizeof s->v[0]);

	if (!s)
		return NULL;
	s->ops = ops;
	s->arg = arg;
	s->n = n;
	s->share = share;
	strncpy(s->name, name, sizeof s->name - 1);
	async_reader_on_bus(s, name);
	async_reader_set_period(s, period_ns);
	atomic_init(&s->period_ns, period_ns);
	return s;
}

void async_reader_on_bus(struct async_reader *s, const char *name)
{
	snprintf(s->bus_name, sizeof s->bus_name, "%s", name);
}

void async_reader_on_bus_of(struct async_reader *s, const struct attr *a)
{
	char link[64], path[512];
	const char *at = NULL;
	unsigned bus;
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", a->fd);
	n = readlink(link, path, sizeof path - 1);
	path[n > 0 ? n : 0] = '\0';
	for (const char *p = path; (p = strstr(p, "/i2c-")); p++)
		at = p;
	if (at && sscanf(at, "/i2c-%u", &bus) == 1)
		snprintf(s->bus_name, sizeof s->bus_name, "nvmtop-i2c-%u", bus % 1000);
	else if (strstr(path, "/kernel/debug/bpmp/") || strstr(path, "/kernel/debug/clk/"))
		async_reader_on_bus(s, "nvmtop-firmware");
}

void async_reader_start(struct async_reader *s)
{
	if (!s->bus)
		reader_bus_new(s->bus_name, &s, 1, false, NULL, 0);
}

void async_reader_ask(struct async_reader *s, int64_t t_ns)
{
	if (!s->bus)
		async_reader_pass(s, t_ns);
}

void async_reader_set_period(struct async_reader *s, int64_t period_ns)
{
	atomic_store_explicit(&s->wish_ns, period_ns < PERIOD_MAX ? period_ns : PERIOD_MAX,
			      memory_order_relaxed);
}

void async_reader_at_random(struct async_reader *s, int64_t tick_ns)
{
	s->tick_ns = tick_ns;
}

int64_t async_reader_period_ns(const struct async_reader *s)
{
	return atomic_load_explicit(&s->period_ns, memory_order_relaxed);
}

uint64_t async_reader_late(const struct async_reader *s)
{
	return atomic_load_explicit(&s->late, memory_order_relaxed);
}

/* Gets the newest pass that the row at now_ns may take, if it is another one than *pass. */
static bool take_pass(const struct async_reader *s, int64_t now_ns, uint32_t *pass, int64_t *t_ns, double *v)
{
	for (int i = 0; i < TRIES; i++) {
		/* While one is being stored, that before it is whole. */
		uint32_t newest = atomic_load_explicit(&s->pass, memory_order_acquire) & ~UINT32_C(1),
			 p = newest;

		/* The newest may be made for the next row already. */
		if (p > 2 && atomic_load_explicit(&s->row_ns[record_of(p)], memory_order_acquire) > now_ns)
			p -= 2;
		if (p == *pass || newest == *pass)
			return false;
		/* Acquire at each load orders it before the second check. */
		for (size_t k = 0; k < s->n; k++)
			v[k] = atomic_load_explicit(&s->v[record_of(p) * s->n + k], memory_order_acquire);
		*t_ns = atomic_load_explicit(&s->t_ns[record_of(p)], memory_order_acquire);
		if (atomic_load_explicit(&s->pass, memory_order_relaxed) - p > 2) /* it was overwritten */
			continue;
		*pass = p;
		return true;
	}
	return false;
}

bool async_reader_take(struct async_reader *s, int64_t tick_ns, int64_t now_ns, double *v)
{
	int64_t period = async_reader_period_ns(s), t_ns;
	/* A pass may be made early once, and the next one not. */
	int64_t most = (period > tick_ns ? period : tick_ns) + async_reader_early(s) + 2 * LEAD_NS +
		       (int64_t)atomic_load_explicit(&s->cost_ns, memory_order_relaxed);
	bool slow = period > tick_ns, hangs = async_reader_hangs(s, now_ns) != 0;

	if (take_pass(s, now_ns, &s->taken, &t_ns, v) && now_ns - t_ns <= most + tick_ns) {
		s->taken_ns = t_ns;
		return true;
	}
	if (!s->taken)
		return false;
	if (slow && s->taken_ns && now_ns - s->taken_ns <= most && !s->tick_ns)
		return false;
	for (size_t k = 0; k < s->n; k++)
		v[k] = hangs ? missing_value(MISSING_ERROR, ETIME) : NAN;
	/* A chip that is read less often than there are rows is not late at each of them. */
	if (!slow || (now_ns - s->taken_ns > most && now_ns - s->late_ns >= period - tick_ns / 2)) {
		s->late_ns = now_ns;
		atomic_fetch_add_explicit(&s->late, 1, memory_order_relaxed);
	}
	if (!slow)
		s->taken_ns = 0;
	return true;
}

int64_t async_reader_hangs(const struct async_reader *s, int64_t now_ns)
{
	int64_t begun = atomic_load_explicit(&s->begun_ns, memory_order_relaxed), since = llabs(begun);
	bool rows = s->bus && s->bus->rows;

	return begun && s->n && ((begun < 0 && rows) || now_ns - since > HANGS_NS) ? since : 0;
}

void async_reader_stop(struct async_reader *s)
{
	struct reader_bus *b = s ? s->bus : NULL;

	if (b) {
		reader_bus_stop(b);
		reader_bus_release(b);
	} else if (s) {
		async_reader_free(s);
	}
}
