/* Keeps slow files from delaying the rows: there are many files, and it is unknown how long a driver takes
 * for each. The sampling thread, which makes the rows of all tiers, reads those of the fast tier itself,
 * because waking another thread costs more than the read. Those of the other tiers, and those that are known to
 * wait, are read by other threads, and the sampling thread copies what is new.
 *
 * When a read of the sampling thread hangs, that thread is left in it, and another one makes the rows. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "model/missing.h"
#include "probe/probe.h"
#include "probe/reader-thread.h"
#include "util/clock.h"
#include "util/intl.h"

#define SHARE 0.5
#define FILES "nvmtop-files" /* the thread of all that is on no known bus */

static _Thread_local bool left_me;

bool probes_left_me(void)
{
	return left_me;
}

static size_t column_of(const struct probe *p, size_t i)
{
	return p->columns ? p->columns[i] : p->column + i;
}

static bool is_read_here(const struct probe *p)
{
	return p->tier == TIER_FAST && !p->thread;
}

static void guarded_pass(void *arg, int64_t t_ns, double *v)
{
	struct probe *p = arg;

	p->ops->read(p, t_ns, p->own);
	for (size_t i = 0; i < p->width; i++)
		v[i] = p->own[column_of(p, i)];
}

static void guarded_close(void *arg)
{
	struct probe *p = arg;
	struct root *held = p->held;

	free(p->own);
	p->ops->close(p);
	root_close(held);
}

void probe_close(struct probe *p)
{
	if (p->own)
		async_reader_stop(p->reader); /* which closes it when no thread is in a read of it any more */
	else
		p->ops->close(p);
}

void probe_read(struct probe *p, int64_t t_ns, double *row)
{
	struct async_reader *s = p->reader;
	int64_t before = s ? s->taken_ns : 0;
	double v[SLOW_VALUES];

	if (!p->own) {
		p->ops->read(p, t_ns, row);
		return;
	}
	p->read_ns = 0;
	if (!is_read_here(p)) {
		bool fresh = probe_take(p, t_ns, v);
		for (size_t i = 0; !fresh && p->hung && !s->taken && i < p->width; i++)
			row[column_of(p, i)] = missing_value(MISSING_ERROR, ETIME);
		for (size_t i = 0; fresh && i < p->width; i++)
			row[column_of(p, i)] = v[i];
		if (p->timed && fresh && s->taken_ns != before)
			p->read_ns = s->taken_ns;
		return;
	}
	bool begun = async_reader_begin(s, t_ns);
	if (begun) {
		p->ops->read(p, t_ns, p->own);
		left_me = !async_reader_end(s, t_ns);
		if (left_me) {
			reader_bus_release(s->bus);
			return;
		}
	}
	for (size_t i = 0; i < p->width; i++)
		row[column_of(p, i)] = begun ? p->own[column_of(p, i)] : NAN;
}

/* Gives the probe a reader, which owns it from now on. Returns false if out of memory. */
static bool guard(struct probe_set *r, struct probe *p, int64_t tick_ns)
{
	static const struct async_reader_ops ops = {guarded_pass, guarded_close};
	int64_t period = p->period_ns > tick_ns ? p->period_ns : tick_ns;
	size_t columns = 0;

	for (size_t i = 0; i < p->width; i++)
		columns = column_of(p, i) >= columns ? column_of(p, i) + 1 : columns;
	double *own = malloc(columns * sizeof *own);
	if (own)
		p->reader = async_reader_new(p->thread ? p->thread : FILES, &ops, p, p->width, period, SHARE);
	if (!p->reader) {
		free(own);
		return false;
	}
	for (size_t i = 0; i < columns; i++)
		own[i] = NAN;
	p->own = own;
	p->held = r->root ? root_hold(r->root) : NULL;
	p->tick_ns = tick_ns;
	if (is_read_here(p))
		return true;
	p->period_ns = 0; /* what is new is taken at every tick */
	async_reader_on_bus(p->reader, FILES);
	for (size_t i = 0; i < p->n_attrs && p->waits; i++)
		async_reader_on_bus_of(p->reader, &p->attrs[i]);
	if (p->timed)
		async_reader_at_random(p->reader, tick_ns);
	return true;
}

int probe_set_guard(struct probe_set *r, const double hz[TIERS], struct err *e)
{
	struct async_reader **here = calloc(r->n_probes + 1, sizeof *here);
	bool good = here != NULL;
	size_t n = 0;

	for (size_t i = 0; i < r->n_probes && good; i++) {
		struct probe *p = r->probes[i];
		if (!p->width || p->width > SLOW_VALUES)
			continue;
		good = guard(r, p, llround((double)NS_PER_S / hz[p->tier]));
		if (good && is_read_here(p))
			here[n++] = p->reader;
	}
	good = good && (!n || reader_bus_new("nvmtop-sampler", here, n, true, NULL, 0));
	free(here);
	return good ? 0 : err_set(e, ERR_FAILED, _("out of memory"));
}
