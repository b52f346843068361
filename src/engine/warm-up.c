/* A tier is warm with its first row. A CPU figure is a mean over a window and has no value before that
 * is full; but a kernel may never provide one, so warming up never takes longer than a second. */
#include "engine/warm-up.h"

#include <math.h>
#include <string.h>

#include "util/clock.h"

#define WARM_AFTER_NS NS_PER_S
#define CPU_EVERY_NS  NS_PER_S

void warm_up_begin(struct warm_up *w, const struct probe_set *probes, struct sampler *const *samplers,
		   int64_t now_ns)
{
	memset(w, 0, sizeof(*w));
	w->probes = probes;
	w->samplers = samplers;
	w->since_ns = now_ns;
	w->cpu_since_ns = now_ns;
	w->cpu_used_ns = clock_cpu_ns();
}

/* Has the newest row of its tier a CPU figure, or can there never be one? */
static bool cpu_is_warm(const struct warm_up *w)
{
	bool awaited = false;

	for (size_t i = 0; i < w->probes->n_channels; i++) {
		const struct channel *c = &w->probes->channels[i];
		struct ring *ring;
		size_t n;

		if ((c->kind != CHANNEL_CPU_UTIL && c->kind != CHANNEL_CORE_UTIL) || c->missing[0])
			continue;
		awaited = true;
		ring = sampler_ring(w->samplers[c->tier]);
		n = ring_count(ring);
		if (n && !isnan(ring_at(ring, n - 1)->values[c->column]))
			return true;
	}
	return !awaited;
}

bool warm_up_done(struct warm_up *w, int64_t now_ns)
{
	bool warm = true;

	for (int t = 0; t < TIERS; t++) {
		if (!w->samplers[t])
			continue;
		w->has_row[t] |= ring_count(sampler_ring(w->samplers[t])) > 0;
		warm &= w->has_row[t];
	}
	w->cpu_warm |= cpu_is_warm(w);
	return (warm && w->cpu_warm) || now_ns - w->since_ns >= WARM_AFTER_NS;
}

double warm_up_cpu(struct warm_up *w, int64_t now_ns)
{
	int64_t took = now_ns - w->cpu_since_ns, used, before = w->cpu_used_ns;

	if (took < CPU_EVERY_NS)
		return (double)NAN;
	used = clock_cpu_ns();
	w->cpu_since_ns = now_ns;
	w->cpu_used_ns = used;
	return 100.0 * (double)(used - before) / (double)took;
}
