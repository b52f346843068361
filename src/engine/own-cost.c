/* A monitor that hides its own share of the load cannot be trusted, and neither can a trace that hides
 * its holes. So both are signals like any other.
 *
 * The collecting thread publishes the counts and the slow tier reads them from memory: an abandoned
 * sampler then refers to nothing that engine_free() frees. */
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
	uint16_t cpu, late, lost; /* columns */
	_Atomic double cpu_percent;
	atomic_uint_least64_t late_ticks, lost_rows;
};

static void own_read(struct probe *p, int64_t t_ns, double *row)
{
	struct own *o = (struct own *)p;

	(void)t_ns;
	row[o->cpu] = atomic_load_explicit(&o->cpu_percent, memory_order_relaxed);
	row[o->late] = (double)atomic_load_explicit(&o->late_ticks, memory_order_relaxed);
	row[o->lost] = (double)atomic_load_explicit(&o->lost_rows, memory_order_relaxed);
}

static void own_close(struct probe *p)
{
	free(p);
}

static const struct probe_ops own_ops = {own_read, own_close};

static int add(struct probe_set *r, struct channel *c, uint16_t *column)
{
	const struct channel *added = probe_set_add_channel(r, c);

	if (!added)
		return -1;
	*column = added->column;
	return 0;
}

static int add_channels(struct probe_set *r, struct own *o)
{
	struct channel cpu = {.name = "nvmtop.cpu",
			      .tier = TIER_SLOW,
			      .unit = UNIT_PERCENT,
			      .family = FAMILY_OTHER,
			      .lo = 0,
			      .hi = NAN,
			      .warn = NAN,
			      .crit = NAN,
			      .period_ns = NS_PER_S,
			      .source = "CLOCK_PROCESS_CPUTIME_ID"};
	struct channel late = cpu, lost = cpu;

	late.unit = lost.unit = UNIT_NONE;
	late.kind = lost.kind = CHANNEL_COUNTER;
	late.period_ns = lost.period_ns = 0;
	snprintf(late.name, sizeof(late.name), "nvmtop.late");
	snprintf(lost.name, sizeof(lost.name), "nvmtop.lost");
	snprintf(cpu.label, sizeof(cpu.label), "%s", _("nvmtop CPU"));
	snprintf(late.label, sizeof(late.label), "%s", _("late ticks"));
	snprintf(lost.label, sizeof(lost.label), "%s", _("lost rows"));
	snprintf(cpu.note, sizeof(cpu.note), "%s", _("of one core, mean of the last second"));
	snprintf(late.note, sizeof(late.note), "%s", _("of all tiers, since nvmtop began to sample"));
	snprintf(lost.note, sizeof(lost.note), "%s", _("of all tiers, since nvmtop began to sample"));
	late.source[0] = lost.source[0] = '\0';
	snprintf(late.source, sizeof(late.source), "%s", _("counted by nvmtop"));
	snprintf(lost.source, sizeof(lost.source), "%s", _("counted by nvmtop"));
	return add(r, &cpu, &o->cpu) || add(r, &late, &o->late) || add(r, &lost, &o->lost) ? -1 : 0;
}

int engine_own_channels(struct probe_set *r, struct err *e)
{
	struct own *o = calloc(1, sizeof(*o));

	if (!o)
		goto no_memory;
	o->probe.ops = &own_ops;
	o->probe.tier = TIER_SLOW;
	atomic_init(&o->cpu_percent, (double)NAN);
	atomic_init(&o->late_ticks, 0);
	atomic_init(&o->lost_rows, 0);
	if (add_channels(r, o)) {
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

void own_publish(struct own *o, double cpu_percent, uint64_t late, uint64_t lost)
{
	if (!isnan(cpu_percent))
		atomic_store_explicit(&o->cpu_percent, cpu_percent, memory_order_relaxed);
	atomic_store_explicit(&o->late_ticks, late, memory_order_relaxed);
	atomic_store_explicit(&o->lost_rows, lost, memory_order_relaxed);
}
