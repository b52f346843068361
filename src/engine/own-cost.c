/* Provides nvmtop's CPU time, late ticks and lost rows as channels: a monitor that hides its own load cannot
 * be trusted, nor can a trace that hides its gaps.
 *
 * The collecting thread publishes the counts and the slow tier reads them from memory: an abandoned sampler
 * then refers to nothing that engine_free() frees. */
#include "engine/own-cost.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/clock.h"
#include "engine/engine.h"
#include "util/intl.h"

struct own {
	struct probe probe;
	_Atomic double cpu_percent;
	atomic_uint_least64_t late_ticks, late_readings, lost_rows;
};

static void own_read(struct probe *p, int64_t t_ns, double *row)
{
	struct own *o = (struct own *)p;

	(void)t_ns;
	row[p->column] = atomic_load_explicit(&o->cpu_percent, memory_order_relaxed);
	row[p->column + 1] = (double)atomic_load_explicit(&o->late_ticks, memory_order_relaxed);
	row[p->column + 2] = (double)atomic_load_explicit(&o->late_readings, memory_order_relaxed);
	row[p->column + 3] = (double)atomic_load_explicit(&o->lost_rows, memory_order_relaxed);
}

static const struct probe_ops own_ops = {own_read, probe_free};

static int own_add_channels(struct probe_set *r)
{
	static const struct channel own[] = {
		{.name = "nvmtop.cpu", .label = N_("nvmtop CPU"), .note = N_("of one core, mean of the last second"),
		 .source = "CLOCK_PROCESS_CPUTIME_ID", .unit = UNIT_PERCENT, .period_ns = NS_PER_S},
		{.name = "nvmtop.late", .label = N_("late ticks"), .note = N_("of all tiers, since nvmtop began to sample"),
		 .source = N_("counted by nvmtop"), .kind = CHANNEL_COUNTER},
		{.name = "nvmtop.late_readings", .label = N_("late readings"),
		 .note = N_("too late for their row, since nvmtop began to sample"), .source = N_("counted by nvmtop"),
		 .kind = CHANNEL_COUNTER},
		{.name = "nvmtop.lost", .label = N_("lost rows"), .note = N_("of all tiers, since nvmtop began to sample"),
		 .source = N_("counted by nvmtop"), .kind = CHANNEL_COUNTER}};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		struct channel c = own[i];

		c.tier = TIER_SLOW;
		c.family = FAMILY_OTHER;
		c.hi = c.warn = c.crit = NAN;
		snprintf(c.label, sizeof(c.label), "%s", _(own[i].label));
		snprintf(c.note, sizeof(c.note), "%s", _(own[i].note));
		snprintf(c.source, sizeof(c.source), "%s", _(own[i].source));
		if (!probe_set_add_channel(r, &c))
			return -1;
	}
	return 0;
}

int engine_own_channels(struct probe_set *r, struct err *e)
{
	struct own *o = calloc(1, sizeof(*o));

	if (!o)
		goto no_memory;
	o->probe.ops = &own_ops;
	o->probe.tier = TIER_SLOW;
	o->probe.column = (uint16_t)r->width[TIER_SLOW];
	atomic_init(&o->cpu_percent, (double)NAN);
	if (own_add_channels(r)) {
		free(o);
		goto no_memory;
	}
	if (probe_set_add_probe(r, &o->probe) == 0)
		return 0;
no_memory:
	return err_set(e, ERR_FAILED, _("out of memory"));
}

struct own *own_find(const struct probe_set *r)
{
	for (size_t i = r->n_probes; i-- > 0;)
		if (r->probes[i]->ops == &own_ops)
			return (struct own *)r->probes[i];
	return NULL;
}

void own_publish(struct own *o, double cpu_percent, uint64_t late, uint64_t late_readings, uint64_t lost)
{
	if (!isnan(cpu_percent))
		atomic_store_explicit(&o->cpu_percent, cpu_percent, memory_order_relaxed);
	atomic_store_explicit(&o->late_ticks, late, memory_order_relaxed);
	atomic_store_explicit(&o->late_readings, late_readings, memory_order_relaxed);
	atomic_store_explicit(&o->lost_rows, lost, memory_order_relaxed);
}
