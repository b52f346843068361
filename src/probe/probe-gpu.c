/* GPU utilisation from nvgpu.
 *
 * `counters` holds two hardware cycle counters, "busy total": their increments give the utilisation of
 * any interval, and are read in microseconds. They have 31 bits, restart when the GPU was off, and read
 * "0 0" while it is. A step of the total that no clock could make is a restart and not a wrap; after a
 * long interval, where the step is ambiguous, the driver's count of the GPU's sleep time decides.
 *
 * `load` is used where the counters are missing or stand still: the firmware's moving average of 17
 * samples of 16.7 ms, for which the driver waits 0.3 ms: a reader thread reads it. That thread also
 * waits for a driver that is loaded later. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/nvgpu.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "probe/async-reader.h"

#define LOAD_NS   INT64_C(16700000)
#define GENTLE_NS (600 * NS_PER_MS) /* the GPU goes to sleep after 500 ms */
#define RETRY_NS  (2 * NS_PER_S)
#define LONG_NS   (20 * NS_PER_MS)
#define BLIND_NS  (100 * NS_PER_MS)

/* What the thread makes. */
enum { LOAD, FOUND_COUNTERS, VALUES };

/* The reader's: it reads the load, and searches for the GPU while there is none. */
struct reader {
	struct root *root;
	struct nvgpu gpu;
	struct nvgpu_where where;
	int64_t interval_ns, retry_ns;
};

struct gpu {
	struct probe probe;
	struct nvgpu gpu; /* its counters; closed while the thread reads */
	bool primed;      /* busy, total, t_ns and slept hold a reading */
	int64_t busy, total, t_ns, slept;
	int64_t retry_ns;
	struct reader *reader;     /* the slow thread owns it; its dir is fixed once FOUND_COUNTERS is 1 */
	struct async_reader *slow; /* or NULL: counters from the beginning */
	struct async_reader_seen seen;
};

static void reader_read(void *arg, int64_t t_ns, uint64_t wanted, double *v)
{
	struct reader *r = arg;

	(void)wanted;
	if (!attr_is_open(&r->gpu.attr)) {
		struct reason why = {.denied = false};
		if (t_ns < r->retry_ns)
			return;
		r->retry_ns = t_ns + RETRY_NS;
		if (!nvgpu_find(&r->gpu, r->root, &r->where, r->interval_ns, &why))
			return;
	}
	if (r->gpu.counters) {
		v[FOUND_COUNTERS] = 1;
		return;
	}
	if (!nvgpu_load(&r->gpu, &v[LOAD])) {
		if (attr_gone(errno))
			nvgpu_close(&r->gpu);
		v[LOAD] = NAN;
	}
}

static void reader_close(void *arg)
{
	struct reader *r = arg;

	nvgpu_close(&r->gpu);
	root_close(r->root);
	free(r);
}

static const struct async_reader_ops reader_ops = {reader_read, reader_close};

/* Was the GPU off between the two readings, so that the counters restarted? */
static bool started_anew(const struct gpu *g, int64_t t_ns, int64_t total, int64_t slept)
{
	if (slept >= 0 && g->slept >= 0)
		return slept != g->slept;
	return total < g->total && t_ns - g->t_ns > BLIND_NS;
}

/* What the counters gained since the reading before, or NaN. */
static double gained(const struct gpu *g, int64_t t_ns, int64_t busy, int64_t total, int64_t slept)
{
	int64_t d_busy = (busy - g->busy) & NVGPU_MASK, d_total = (total - g->total) & NVGPU_MASK;
	double most = (double)(t_ns - g->t_ns) * g->gpu.cycles_ns;

	/* The two are not read at the same instant: some cycles more are fine. */
	if (!g->primed || d_total == 0 || most >= (double)NVGPU_MASK || (double)d_total > most ||
	    d_busy > d_total + d_total / 50 + 64 || started_anew(g, t_ns, total, slept))
		return NAN;
	return 100 * fmin((double)d_busy / (double)d_total, 1);
}

static double counters_value(struct gpu *g, int64_t t_ns)
{
	int64_t busy, total, slept;

	if (!nvgpu_counters(&g->gpu, &busy, &total)) {
		if (attr_gone(errno))
			nvgpu_close(&g->gpu);
		g->primed = false;
		return NAN;
	}
	if (busy == 0 && total == 0) {
		g->primed = false;
		return nvgpu_off(&g->gpu) ? 0 : NAN;
	}
	/* In a short interval the step alone decides. */
	slept = t_ns - g->t_ns > LONG_NS ? nvgpu_slept(&g->gpu) : -1;
	double percent = gained(g, t_ns, busy, total, slept);
	g->busy = busy;
	g->total = total;
	g->t_ns = t_ns;
	g->slept = slept;
	g->primed = true;
	return percent;
}

/* Takes the reader's values; true once it found counters, which are then used here. */
static bool take_slow(struct gpu *g, int64_t t_ns, double *row)
{
	double v[VALUES];

	async_reader_ask(g->slow, t_ns);
	if (!async_reader_take(g->slow, &g->seen, t_ns, v))
		return false;
	row[g->probe.column] = channel_round(CHANNEL_GPU_UTIL, v[LOAD]);
	if (!(v[FOUND_COUNTERS] > 0))
		return false;
	g->gpu.cycles_ns = g->reader->gpu.cycles_ns;
	return nvgpu_open(&g->gpu, g->probe.root, g->reader->gpu.dir, true);
}

static void gpu_read(struct probe *p, int64_t t_ns, double *row)
{
	struct gpu *g = (struct gpu *)p;

	if (!g->gpu.counters) {
		if (take_slow(g, t_ns, row))
			async_reader_set_period(g->slow, INT64_MAX); /* nothing left to do */
		else
			g->gpu.counters = false;
		return;
	}
	if (!attr_is_open(&g->gpu.attr)) {
		row[p->column] = NAN;
		if (t_ns < g->retry_ns)
			return;
		g->retry_ns = t_ns + NS_PER_S;
		if (!nvgpu_open(&g->gpu, p->root, g->gpu.dir, true))
			return;
	}
	row[p->column] = channel_round(CHANNEL_GPU_UTIL, counters_value(g, t_ns));
}

static void gpu_close(struct probe *p)
{
	struct gpu *g = (struct gpu *)p;

	async_reader_stop(g->slow);
	nvgpu_close(&g->gpu);
	probe_free(p);
}

static void gpu_gentle(struct probe *p, struct probe_set *r)
{
	struct gpu *g = (struct gpu *)p;

	if (p->period_ns < GENTLE_NS)
		p->period_ns = GENTLE_NS;
	if (g->slow)
		async_reader_set_period(g->slow, GENTLE_NS);
	for (size_t i = 0; i < r->n_channels; i++) {
		struct channel *c = &r->channels[i];
		if (strcmp(c->name, "gpu.util") != 0)
			continue;
		c->period_ns = p->period_ns;
		text_join(c->note, sizeof c->note, c->note, c->note[0] ? "; " : "",
			  _("read rarely so that it can sleep"));
	}
}

static const struct probe_ops gpu_ops = {gpu_read, gpu_close};

/* Hand over to the thread what was found, or the search. */
static int make_reader(struct gpu *g, struct root *root, const struct nvgpu_where *where, int64_t interval_ns)
{
	struct reader *r = calloc(1, sizeof *r);

	if (!r)
		return -1;
	nvgpu_init(&r->gpu);
	r->where = *where;
	r->interval_ns = interval_ns;
	r->root = root_hold(root);
	if (attr_is_open(&g->gpu.attr)) {
		r->gpu = g->gpu;
		r->gpu.root = r->root;
		nvgpu_init(&g->gpu);
	}
	g->reader = r;
	g->slow = async_reader_new("nvmtop-gpu", &reader_ops, r, VALUES, LOAD_NS, 0.5);
	return g->slow ? 0 : -1;
}

/* False: it is missing, with the reason in ch. */
static bool find(struct probe_ctx *o, struct gpu *g, struct channel *ch, const struct nvgpu_where *where,
		 int64_t interval_ns)
{
	struct reason why = {.denied = false};
	const char *note = NULL;

	if (nvgpu_find(&g->gpu, o->root, where, interval_ns, &why)) {
		text_join(ch->source, sizeof ch->source, g->gpu.attr.path, "", "");
		if (g->gpu.counters)
			return true;
		ch->period_ns = LOAD_NS;
		note = _("moving average of 284 ms");
	} else if (!why.denied && nvgpu_expected(where, o->root)) {
		text_join(ch->source, sizeof ch->source, where->at[0].name, "", "");
		note = _("its driver was not loaded when nvmtop started; retried every 2 s");
	} else {
		reason_set(&why, o, ch);
		return false;
	}
	if (!ch->note[0])
		snprintf(ch->note, sizeof ch->note, "%s", note);
	if (make_reader(g, o->probes->root, where, interval_ns) == 0)
		return true;
	reason_add(&why, "slow thread", ENOMEM);
	reason_set(&why, o, ch);
	return false;
}

static int open_gpu(struct probe_ctx *o, struct err *e)
{
	struct gpu *g = probe_new(o, sizeof *g, 0, &gpu_ops, 0, e);
	struct nvgpu_where where;
	struct channel ch;

	if (!g)
		return -1;
	nvgpu_init(&g->gpu);
	g->probe.width = 1; /* counters are read directly */
	g->probe.gentle = gpu_gentle;
	nvgpu_where(&where, o->s);
	channel_describe(o, &ch, "gpu.util", false);
	bool found = find(o, g, &ch, &where, o->tick_ns > GENTLE_NS ? o->tick_ns : GENTLE_NS);
	int added = probe_ctx_add(o, &ch, e);

	g->probe.readers[0] = g->slow;
	return probe_ctx_finish(o, &g->probe, added, found, e);
}

const struct probe_kind probe_kind_gpu = {
	"gpu", 0, 0, " dir devfreq label note hint ", false, false, open_gpu};
