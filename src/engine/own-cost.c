/* Provides nvmtop's CPU time, late ticks and lost rows as channels: a monitor that hides its own load cannot
 * be trusted, nor can a trace that hides its gaps.
 *
 * The probe refers to nothing that is freed while an abandoned sampling thread may still read it: the sampler and the
 * probe set are abandoned with it. */
#include "engine/own-cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/intl.h"

enum own_value { OWN_CPU, OWN_LATE, OWN_LATE_READINGS, OWN_LOST, OWN_VALUES };

static void own_read(struct probe *p, int64_t t_ns, double *row)
{
	struct own *o = (struct own *)p;
	int64_t now_ns = clock_now_ns(), took_ns = now_ns - o->cpu_since_ns, used_ns;
	struct engine_stats n;
	double *own = row + p->column;

	(void)t_ns; /* a demo's begins in the past */
	if (took_ns >= NS_PER_S) {
		used_ns = clock_cpu_ns();
		if (o->cpu_since_ns)
			atomic_store(&o->cpu, 100.0 * (double)(used_ns - o->cpu_used_ns) / (double)took_ns);
		o->cpu_since_ns = now_ns;
		o->cpu_used_ns = used_ns;
	}
	own[OWN_CPU] = atomic_load(&o->cpu);
	own[OWN_LATE] = 0;
	own[OWN_LATE_READINGS] = (double)probe_set_late(o->probes);
	own[OWN_LOST] = (double)atomic_load(&o->lost);
	sampler_stats(o->sampler, &n);
	for (int t = 0; t < TIERS; t++) {
		own[OWN_LATE] += (double)n.late[t];
		own[OWN_LOST] += (double)n.lost[t];
	}
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
	o->probes = r;
	atomic_init(&o->cpu, (double)NAN);
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
