/* Provides nvmtop's CPU time, late ticks and lost rows as channels: a monitor that hides its own load cannot
 * be trusted, nor can a trace that hides its gaps.
 *
 * The engine thread publishes the counts and the slow tier reads them from memory: an abandoned sampler
 * then refers to nothing that engine_free() frees. */
#include "engine/own-cost.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "util/clock.h"
#include "util/intl.h"

struct own {
	struct probe probe;
	_Atomic double values[OWN_VALUES];
};

static void own_read(struct probe *p, int64_t t_ns, double *row)
{
	struct own *o = (struct own *)p;

	(void)t_ns;
	for (int i = 0; i < OWN_VALUES; i++)
		row[p->column + i] = atomic_load_explicit(&o->values[i], memory_order_relaxed);
}

static const struct probe_ops own_ops = {own_read, probe_free};

int engine_own_channels(struct probe_set *r, struct err *e)
{
	static const struct channel own[OWN_VALUES] = {
		[OWN_CPU] = {.name = "nvmtop.cpu", .label = N_("nvmtop CPU"), .note = N_("of one core, mean of the last second"),
			     .source = "CLOCK_PROCESS_CPUTIME_ID", .unit = UNIT_PERCENT, .period_ns = NS_PER_S},
		[OWN_LATE] = {.name = "nvmtop.late", .label = N_("late ticks"),
			      .note = N_("of all tiers, since nvmtop began to sample"), .source = N_("counted by nvmtop"),
			      .kind = CHANNEL_COUNTER},
		[OWN_LATE_READINGS] = {.name = "nvmtop.late_readings", .label = N_("late readings"),
				       .note = N_("too late for their row, since nvmtop began to sample"),
				       .source = N_("counted by nvmtop"), .kind = CHANNEL_COUNTER},
		[OWN_LOST] = {.name = "nvmtop.lost", .label = N_("lost rows"),
			      .note = N_("of all tiers, since nvmtop began to sample"), .source = N_("counted by nvmtop"),
			      .kind = CHANNEL_COUNTER}};
	struct own *o = calloc(1, sizeof(*o));

	if (!o)
		return err_set(e, ERR_FAILED, _("out of memory"));
	o->probe.ops = &own_ops;
	o->probe.tier = TIER_SLOW;
	o->probe.column = (uint16_t)r->width[TIER_SLOW];
	atomic_init(&o->values[OWN_CPU], (double)NAN);
	for (int i = 0; i < OWN_VALUES; i++) {
		struct channel c = own[i];

		c.tier = TIER_SLOW;
		c.family = FAMILY_OTHER;
		c.hi = c.warn = c.crit = NAN;
		snprintf(c.label, sizeof(c.label), "%s", _(own[i].label));
		snprintf(c.note, sizeof(c.note), "%s", _(own[i].note));
		snprintf(c.source, sizeof(c.source), "%s", _(own[i].source));
		if (probe_set_add_channel(r, &c))
			continue;
		free(o);
		return err_set(e, ERR_FAILED, _("out of memory"));
	}
	return probe_set_add_probe(r, &o->probe) == 0 ? 0 : err_set(e, ERR_FAILED, _("out of memory"));
}

struct own *own_find(const struct probe_set *r)
{
	for (size_t i = r->n_probes; i-- > 0;)
		if (r->probes[i]->ops == &own_ops)
			return (struct own *)r->probes[i];
	return NULL;
}

void own_publish(struct own *o, const double values[OWN_VALUES])
{
	for (int i = 0; i < OWN_VALUES; i++)
		atomic_store_explicit(&o->values[i], values[i], memory_order_relaxed);
}
