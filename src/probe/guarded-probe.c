/* Keeps slow files from delaying the rows: there are many files, and it is unknown how long a driver takes
 * for each. The sampling thread, which makes the rows of all tiers, reads those of the fast tier itself,
 * because waking another thread costs more than the read. Those of the other tiers are read by the threads of
 * their buses, and the sampling thread copies what is new.
 *
 * When a read of the sampling thread hangs, that thread is left in it, and another one makes the rows. */
#include <math.h>
#include <stdlib.h>

#include "probe/probe.h"
#include "probe/reader-thread.h"
#include "util/clock.h"
#include "util/intl.h"

#define SHARE 0.5

/* The wrapped probe; lives as long as its reader. */
struct target {
	struct root *root; /* keeps the probe's root open */
	struct probe *probe;
	double row[]; /* of the tier, to the last column of the probe */
};

struct guarded {
	struct probe probe;
	struct target *target;
	bool here; /* the thread that makes rows reads it */
};

static _Thread_local bool left_me;

bool probes_left_me(void)
{
	return left_me;
}

static void target_read(void *arg, int64_t t_ns, double *v)
{
	struct target *t = arg;

	t->probe->ops->read(t->probe, t_ns, t->row);
	for (size_t i = 0; i < t->probe->width; i++)
		v[i] = t->row[t->probe->column + i];
}

static void target_close(void *arg)
{
	struct target *t = arg;

	t->probe->ops->close(t->probe);
	root_close(t->root);
	free(t);
}

static void guarded_read(struct probe *p, int64_t t_ns, double *row)
{
	struct guarded *g = (struct guarded *)p;
	struct probe *target = g->target->probe;
	struct async_reader *s = p->reader;
	double v[SLOW_VALUES], *from = v;

	if (g->here && async_reader_begin(s, t_ns)) {
		target->ops->read(target, t_ns, g->target->row);
		left_me = !async_reader_end(s, t_ns);
		if (left_me) {
			reader_bus_release(s->bus);
			return;
		}
		from = g->target->row + p->column;
		p->period_ns = target->period_ns;
	} else if (g->here) {
		for (size_t i = 0; i < p->width; i++)
			v[i] = NAN;
	} else if (!probe_take(p, t_ns, v)) {
		return;
	}
	for (size_t i = 0; i < p->width; i++)
		row[p->column + i] = from[i];
}

static const struct probe_ops guarded_ops = {guarded_read, probe_stop};

static struct target *target_new(struct probe_set *r, struct probe *p)
{
	size_t columns = (size_t)p->column + p->width;
	struct target *t = malloc(sizeof *t + columns * sizeof t->row[0]);

	if (!t)
		return NULL;
	for (size_t i = 0; i < columns; i++)
		t->row[i] = NAN;
	t->root = r->root ? root_hold(r->root) : NULL;
	t->probe = p;
	return t;
}

/* Returns a probe that wraps p and takes ownership of it, even on error; NULL if out of memory. */
static struct probe *guard(struct probe_set *r, struct probe *p, int64_t tick_ns)
{
	static const struct async_reader_ops target_ops = {target_read, target_close};
	int64_t period = p->period_ns > tick_ns ? p->period_ns : tick_ns;
	struct guarded *g = calloc(1, sizeof *g);
	struct target *t = g ? target_new(r, p) : NULL;

	if (!t) {
		p->ops->close(p);
		free(g);
		return NULL;
	}
	g->target = t;
	g->here = p->tier == TIER_FAST && !p->thread;
	g->probe = (struct probe) {.ops = &guarded_ops,
				   .tier = p->tier,
				   .column = p->column,
				   .width = p->width,
				   .tick_ns = tick_ns,
				   .period_ns = g->here ? p->period_ns : 0};
	g->probe.reader = async_reader_new(p->thread ? p->thread : "nvmtop-files", &target_ops, t, p->width, period,
					       SHARE);
	if (!g->probe.reader) {
		free(g);
		return NULL;
	}
	if (p->n_attrs && !g->here)
		async_reader_on_bus_of(g->probe.reader, p->attrs);
	return &g->probe;
}

int probe_set_guard(struct probe_set *r, const double hz[TIERS], struct err *e)
{
	struct async_reader **here = calloc(r->n_probes + 1, sizeof *here);
	size_t kept = 0, n = 0;
	bool failed = !here;

	for (size_t i = 0; i < r->n_probes; i++) {
		struct probe *p = r->probes[i];

		if (here && p->width && p->width <= SLOW_VALUES)
			p = guard(r, p, llround((double)NS_PER_S / hz[p->tier]));
		if (p)
			r->probes[kept++] = p;
		if (p && p->ops == &guarded_ops && ((struct guarded *)p)->here)
			here[n++] = p->reader;
	}
	failed |= kept < r->n_probes || (n && !reader_bus_new("nvmtop-sampler", here, n, true, NULL, 0));
	r->n_probes = kept;
	free(here);
	return failed ? err_set(e, ERR_FAILED, _("out of memory")) : 0;
}
