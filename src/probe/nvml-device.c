/* Reads a device in a thread of its own, and turns what NVML knows of its power into readings with a time.
 *
 * The driver's samples are the best: the means of 20 ms, each with its own time. Its counter is the truth for
 * long times, and changes ten times a second; when it did is known to half a pass. A power without a time, the
 * last resort, is a reading when it changes.
 *
 * Stamps are of CLOCK_REALTIME, which may be set at any time: for a while samples with stamps of before and of
 * after come together. And a driver that is asked for what is newer than a stamp would be silent until the clock
 * has caught up, so it is asked for all that it keeps, and what is known is skipped. */
#include "probe/nvml-device.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "util/clock.h"

#define PASS_NS     (50 * NS_PER_MS)
#define NO_TIMES_NS (20 * NS_PER_MS) /* a pass where power has no times: they are as exact as the passes */
#define SHARE       0.25             /* a call for the counter takes 4 ms */
#define STEP_NS     NS_PER_MS        /* clocks that differ by so much more were set */
#define AHEAD_NS    (20 * NS_PER_MS)  /* a stamp may be that much in the future */
#define KEPT_NS     (3 * NS_PER_S)   /* the driver keeps samples for so long */
#define QUEUE       512 /* samples of 10 s */

struct queue {
	atomic_uint put, taken;
	struct nvml_reading at[QUEUE];
};

struct nvml_reader {
	struct nvml *nvml;
	unsigned device, wanted;
	enum nvml_source source;
	struct queue power, counter;
	/* What follows belongs to the thread that reads. */
	int64_t wall_ns;             /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	int64_t was_ns, step_ns;     /* that before the clock was set, and when it was */
	int64_t stamp_ns;            /* of the newest sample */
	struct nvml_reading newest;  /* power */
	struct nvml_reading counted; /* the counter when it changed last */
	int64_t pass_ns;             /* when the previous pass was made; 0: this is the first */
	struct nvml_sample samples[];
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
	return s == NVML_BY_COUNTER ? NVML_NEW_NS : s == NVML_BY_AVERAGE ? NS_PER_S : NVML_SAMPLE_NS;
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

bool nvml_reader_take(struct nvml_reader *r, bool counter, struct nvml_reading *out)
{
	struct queue *q = counter ? &r->counter : &r->power;
	unsigned n = atomic_load_explicit(&q->taken, memory_order_relaxed);

	if (n == atomic_load_explicit(&q->put, memory_order_acquire))
		return false;
	*out = q->at[n % QUEUE];
	atomic_store_explicit(&q->taken, n + 1, memory_order_release);
	return true;
}

/* Converts a stamp: of the two differences of the clocks that are possible near a step, it is the one with which
 * the sample follows the newest one as samples do. Returns 0 if none fits. */
static int64_t time_of(const struct nvml_reader *r, int64_t stamp_ns, int64_t now_ns)
{
	int64_t best = 0, expected = r->newest.t_ns + NVML_SAMPLE_NS;

	for (int i = 0; i < 2; i++) {
		int64_t t_ns = stamp_ns - (i ? r->was_ns : r->wall_ns);
		if (t_ns > r->newest.t_ns && t_ns <= now_ns + AHEAD_NS &&
		    (!best || llabs(t_ns - expected) < llabs(best - expected)))
			best = t_ns;
	}
	return best;
}

static void read_samples(struct nvml_reader *r)
{
	unsigned n = nvml_samples(r->nvml, r->device, r->samples), i = n;
	struct clock_anchor now;

	clock_anchor(&now);
	int64_t wall_ns = now.real_ns - now.mono_ns;
	if (llabs(wall_ns - r->wall_ns) > STEP_NS) {
		r->was_ns = r->wall_ns;
		r->step_ns = now.mono_ns;
	} else if (now.mono_ns - r->step_ns > KEPT_NS) {
		r->was_ns = wall_ns;
	}
	r->wall_ns = wall_ns;
	if (!r->pass_ns) { /* what was before the start is not wanted */
		r->newest.t_ns = now.mono_ns;
		r->stamp_ns = n ? r->samples[n - 1].wall_ns : 0;
		return;
	}
	while (i && r->samples[i - 1].wall_ns != r->stamp_ns)
		i--;
	for (; i < n; i++) {
		int64_t t_ns = time_of(r, r->samples[i].wall_ns, now.mono_ns);
		r->stamp_ns = r->samples[i].wall_ns;
		if (!t_ns)
			continue;
		r->newest = (struct nvml_reading) {t_ns, r->samples[i].mw};
		put(&r->power, t_ns, r->newest.value);
	}
}

static void read_counter(struct nvml_reader *r)
{
	double mj = nvml_read(r->nvml, r->device, NVML_ENERGY);
	/* It changed between the previous call and this one. */
	int64_t t_ns = r->pass_ns + (clock_now_ns() - r->pass_ns) / 2;
	struct nvml_reading *was = &r->counted;

	if (isnan(mj) || mj == was->value)
		return;
	if (r->pass_ns && !isnan(was->value)) {
		put(&r->counter, t_ns, mj / 1000);
		/* The first change tells when a window begins. */
		if (r->source == NVML_BY_COUNTER && was->t_ns && mj > was->value)
			put(&r->power, t_ns, (mj - was->value) * 1e9 / (double)(t_ns - was->t_ns));
		was->t_ns = t_ns;
	}
	was->value = mj;
}

static void read_power(struct nvml_reader *r, enum nvml_quantity q)
{
	double mw = nvml_read(r->nvml, r->device, q);
	int64_t now = clock_now_ns();

	if (isnan(mw) || (mw == r->newest.value && now - r->newest.t_ns < NVML_NEW_NS))
		return;
	r->newest = (struct nvml_reading) {now, mw};
	put(&r->power, r->pass_ns ? r->pass_ns + (now - r->pass_ns) / 2 : now, mw);
}

static void device_read(void *arg, int64_t t_ns, double *v)
{
	struct nvml_reader *r = arg;

	(void)t_ns;
	for (int q = 0; q < NVML_VALUES; q++)
		if (r->wanted >> q & 1)
			v[q] = nvml_read(r->nvml, r->device, (enum nvml_quantity)q);
	if (!(r->wanted >> NVML_POWER & 1))
		return;
	int64_t begun_ns = clock_now_ns();
	if (r->source == NVML_BY_SAMPLES)
		read_samples(r);
	if (!*nvml_device(r->nvml, r->device)->missing[NVML_ENERGY])
		read_counter(r);
	if (r->source == NVML_BY_INSTANT || r->source == NVML_BY_AVERAGE)
		read_power(r, r->source == NVML_BY_INSTANT ? NVML_INSTANT : NVML_POWER);
	r->pass_ns = begun_ns;
}

static void device_close(void *arg)
{
	struct nvml_reader *r = arg;

	nvml_close(r->nvml);
	free(r);
}

struct async_reader *nvml_reader_new(struct nvml *n, unsigned device, unsigned wanted, struct nvml_reader **out)
{
	static const struct async_reader_ops ops = {device_read, device_close};
	const struct nvml_device *d = nvml_device(n, device);
	struct nvml_reader *r = *out = calloc(1, sizeof *r + d->samples * sizeof r->samples[0]);

	if (!r)
		return NULL;
	r->nvml = nvml_hold(n);
	r->device = device;
	r->wanted = wanted;
	r->source = nvml_source(d);
	r->counted.value = r->newest.value = NAN;
	int64_t period_ns = r->source == NVML_BY_SAMPLES ? PASS_NS : NO_TIMES_NS;
	struct async_reader *s = async_reader_new("nvmtop-nvml", &ops, r, NVML_VALUES, period_ns, SHARE);
	if (!s)
		device_close(r);
	return s;
}

struct nvml *nvml_reader_library(const struct nvml_reader *r)
{
	return r->nvml;
}
