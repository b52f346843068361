/* Turns what NVML knows of a device's power into readings with a time.
 *
 * The driver's samples are the best: the means of 20 ms, each with its own time. Its counter is the truth for
 * long times, and changes ten times a second; when it did is known to half a pass. A power without a time, the
 * last resort, is a reading when it changes.
 *
 * Stamps are of CLOCK_REALTIME, which may be set at any time: for a while samples with stamps of before and of
 * after come together. And a driver that is asked for what is newer than a stamp would be silent until the clock
 * has caught up, so it is asked for all that it keeps, and what is known is skipped. */
#include "probe/nvml-power.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "util/clock.h"

#define RENEWED_NS (100 * NS_PER_MS) /* how often the driver renews what has no time */
#define STEP_NS    NS_PER_MS         /* clocks that differ by so much more were set */
#define AHEAD_NS   (20 * NS_PER_MS)  /* a stamp may be that much in the future */
#define KEPT_NS    (3 * NS_PER_S)    /* the driver keeps samples for so long */
#define SAMPLE_NS  (20 * NS_PER_MS)
#define QUEUE      512 /* samples of 10 s */

struct queue {
	atomic_uint put, taken;
	struct nvml_reading at[QUEUE];
};

struct nvml_power {
	struct nvml *nvml;
	unsigned device;
	enum nvml_source source;
	struct queue power, counter;
	/* What follows belongs to the thread that reads. */
	struct nvml_sample *samples;
	int64_t wall_ns;             /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	int64_t was_ns, step_ns;     /* that before the clock was set, and when it was */
	int64_t stamp_ns;            /* of the newest sample */
	struct nvml_reading newest;  /* power */
	struct nvml_reading counted; /* the counter when it changed last */
	int64_t pass_ns;             /* when the previous pass was made; 0: this is the first */
};

enum nvml_source nvml_source(const struct nvml_device *d)
{
	return d->samples                   ? NVML_BY_SAMPLES
	       : !*d->missing[NVML_ENERGY]  ? NVML_BY_COUNTER
	       : !*d->missing[NVML_INSTANT] ? NVML_BY_INSTANT
	       : !*d->missing[NVML_POWER]   ? NVML_BY_AVERAGE
					    : NVML_NO_POWER;
}

int64_t nvml_window_ns(enum nvml_source s)
{
	return s == NVML_BY_COUNTER ? RENEWED_NS : s == NVML_BY_AVERAGE ? NS_PER_S : SAMPLE_NS;
}

struct nvml_power *nvml_power_new(struct nvml *n, unsigned device)
{
	const struct nvml_device *d = nvml_device(n, device);
	struct nvml_power *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->nvml = n;
	p->device = device;
	p->source = nvml_source(d);
	p->samples = calloc(d->samples + 1, sizeof *p->samples);
	p->counted.value = p->newest.value = NAN;
	if (p->samples)
		return p;
	free(p);
	return NULL;
}

void nvml_power_free(struct nvml_power *p)
{
	if (p)
		free(p->samples);
	free(p);
}

/* What nobody takes is not kept. */
static void put(struct queue *q, int64_t t_ns, double value)
{
	unsigned n = atomic_load_explicit(&q->put, memory_order_relaxed);

	if (n - atomic_load_explicit(&q->taken, memory_order_acquire) == QUEUE)
		return;
	q->at[n % QUEUE] = (struct nvml_reading) {t_ns, value};
	atomic_store_explicit(&q->put, n + 1, memory_order_release);
}

bool nvml_power_take(struct nvml_power *p, bool counter, struct nvml_reading *out)
{
	struct queue *q = counter ? &p->counter : &p->power;
	unsigned n = atomic_load_explicit(&q->taken, memory_order_relaxed);

	if (n == atomic_load_explicit(&q->put, memory_order_acquire))
		return false;
	*out = q->at[n % QUEUE];
	atomic_store_explicit(&q->taken, n + 1, memory_order_release);
	return true;
}

/* Converts a stamp: of the two differences of the clocks that are possible near a step, it is the one with which
 * the sample follows the newest one as samples do. Returns 0 if none fits. */
static int64_t time_of(const struct nvml_power *p, int64_t stamp_ns, int64_t now_ns)
{
	int64_t best = 0, expected = p->newest.t_ns + SAMPLE_NS;

	for (int i = 0; i < 2; i++) {
		int64_t t_ns = stamp_ns - (i ? p->was_ns : p->wall_ns);
		if (t_ns > p->newest.t_ns && t_ns <= now_ns + AHEAD_NS &&
		    (!best || llabs(t_ns - expected) < llabs(best - expected)))
			best = t_ns;
	}
	return best;
}

static void read_samples(struct nvml_power *p)
{
	unsigned n = nvml_samples(p->nvml, p->device, p->samples), i = n;
	struct clock_anchor now;

	clock_anchor(&now);
	int64_t wall_ns = now.real_ns - now.mono_ns;
	if (llabs(wall_ns - p->wall_ns) > STEP_NS) {
		p->was_ns = p->wall_ns;
		p->step_ns = now.mono_ns;
	} else if (now.mono_ns - p->step_ns > KEPT_NS) {
		p->was_ns = wall_ns;
	}
	p->wall_ns = wall_ns;
	if (!p->pass_ns) { /* what was before the start is not wanted */
		p->newest.t_ns = now.mono_ns;
		p->stamp_ns = n ? p->samples[n - 1].wall_ns : 0;
		return;
	}
	while (i && p->samples[i - 1].wall_ns != p->stamp_ns)
		i--;
	for (; i < n; i++) {
		int64_t t_ns = time_of(p, p->samples[i].wall_ns, now.mono_ns);
		p->stamp_ns = p->samples[i].wall_ns;
		if (!t_ns)
			continue;
		p->newest = (struct nvml_reading) {t_ns, p->samples[i].mw};
		put(&p->power, t_ns, p->newest.value);
	}
}

static void read_counter(struct nvml_power *p)
{
	double mj = nvml_read(p->nvml, p->device, NVML_ENERGY);
	/* It changed between the previous call and this one. */
	int64_t t_ns = p->pass_ns + (clock_now_ns() - p->pass_ns) / 2;
	struct nvml_reading *was = &p->counted;

	if (isnan(mj) || mj == was->value)
		return;
	if (p->pass_ns && !isnan(was->value)) {
		put(&p->counter, t_ns, mj / 1000);
		/* The first change tells when a window begins. */
		if (p->source == NVML_BY_COUNTER && was->t_ns && mj > was->value)
			put(&p->power, t_ns, (mj - was->value) * 1e9 / (double)(t_ns - was->t_ns));
		was->t_ns = t_ns;
	}
	was->value = mj;
}

static void read_power(struct nvml_power *p, enum nvml_quantity q)
{
	double mw = nvml_read(p->nvml, p->device, q);
	int64_t now = clock_now_ns();

	if (isnan(mw) || (mw == p->newest.value && now - p->newest.t_ns < RENEWED_NS))
		return;
	p->newest = (struct nvml_reading) {now, mw};
	put(&p->power, p->pass_ns ? p->pass_ns + (now - p->pass_ns) / 2 : now, mw);
}

void nvml_power_read(struct nvml_power *p)
{
	int64_t begun_ns = clock_now_ns();

	if (p->source == NVML_BY_SAMPLES)
		read_samples(p);
	if (!*nvml_device(p->nvml, p->device)->missing[NVML_ENERGY])
		read_counter(p);
	if (p->source == NVML_BY_INSTANT)
		read_power(p, NVML_INSTANT);
	else if (p->source == NVML_BY_AVERAGE)
		read_power(p, NVML_POWER);
	p->pass_ns = begun_ns;
}
