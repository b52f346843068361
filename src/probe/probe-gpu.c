/* Measures GPU utilisation from nvgpu.
 *
 * `counters` has two hardware cycle counters, "busy total": their increments give the utilisation of any
 * interval, and are read in microseconds. They have 31 bits, restart when the GPU was off, and read "0 0"
 * while it is. A step of the total that no clock could make is a restart and not a wrap; after a long
 * interval, where the step is ambiguous, the driver's count of the GPU's sleep time decides.
 *
 * `load` is used where the counters are missing or do not advance: the firmware's moving average of 17
 * samples of 16.7 ms. The driver waits 0.3 ms for it, so a reader thread reads it.
 *
 * The directory is never read as a whole, and counters_reset never at all: reading it clears the counters for
 * every reader.
 *
 * Reading counters or load marks a GPU that is awake as in use, for half a second: reading more often than
 * twice a second keeps it awake. A sleeping GPU is not woken, and the other files here do neither. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "model/missing.h"
#include "probe/async-reader.h"
#include "probe/open.h"

#define LOAD_NS   INT64_C(16700000)
#define GENTLE_NS (600 * NS_PER_MS) /* the GPU goes to sleep after 500 ms */
#define LONG_NS   (20 * NS_PER_MS)
#define BLIND_NS  (100 * NS_PER_MS)
#define CYCLES_NS 2.5 /* per ns: upper bound for the clock of any of these GPUs */

/* Two counters of 31 bits, "busy total". */
#define NVGPU_MASK INT64_C(0x7fffffff)

struct nvgpu {
	const struct root *root;
	struct attr attr;    /* counters or load */
	struct attr powered; /* gpu_powered_on or is_railgated, or closed */
	struct attr slept;   /* power/runtime_suspended_time, or closed */
	bool counters;       /* attr is the counters */
	double cycles_ns;    /* upper bound of this GPU's cycles per nanosecond */
	char dir[128];
};

static void nvgpu_close(struct nvgpu *g)
{
	attr_close(&g->attr);
	attr_close(&g->powered);
	attr_close(&g->slept);
}

static bool nvgpu_counters(struct nvgpu *g, int64_t *busy, int64_t *total)
{
	char buf[64];
	ssize_t n = attr_read(&g->attr, g->root, buf, sizeof buf);
	const char *p;

	if (n < 0)
		return false;
	errno = EINVAL;
	p = num_i64(buf, buf + n, busy);
	return p && num_i64(p, buf + n, total) && *busy >= 0 && *total >= 0;
}

/* In percent; a missing value with its reason and errno if there is none. */
static bool load_value(struct attr *a, const struct root *r, double *percent)
{
	return attr_value(a, r, 0.1, CHANNEL_GPU_UTIL, percent); /* permille */
}

/* Returns how long the GPU has slept so far, in ms; -1 if unknown. */
static int64_t nvgpu_slept(struct nvgpu *g)
{
	double ms;

	if (!attr_is_open(&g->slept) || !attr_number(&g->slept, g->root, &ms))
		return -1;
	return (int64_t)ms;
}

static bool open_below(const struct nvgpu *g, struct attr *a, const char *file)
{
	char path[192];

	if (text_join(path, sizeof path, g->dir, "/", file) >= sizeof path) {
		errno = ENAMETOOLONG;
		return false;
	}
	return attr_open(a, g->root, path) == 0;
}

/* Opens the files of this directory, which was found before. Returns false with errno. */
static bool nvgpu_open(struct nvgpu *g, const struct root *r, const char *dir, bool counters)
{
	nvgpu_close(g);
	g->root = r;
	g->counters = counters;
	if (dir != g->dir)
		text_join(g->dir, sizeof g->dir, dir);
	if (!open_below(g, &g->attr, counters ? "counters" : "load"))
		return false;
	if (!open_below(g, &g->powered, "gpu_powered_on"))
		open_below(g, &g->powered, "is_railgated");
	open_below(g, &g->slept, "power/runtime_suspended_time");
	return true;
}

/* Returns the highest of available_frequencies, in cycles per nanosecond. */
static double fastest(const struct nvgpu *g)
{
	char path[256], **names, text[1024];
	size_t n;
	int64_t hz, most = 0;

	text_join(path, sizeof path, g->dir, "/devfreq");
	if (root_list(g->root, path, &names, &n) < 0)
		return CYCLES_NS;
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/devfreq/%.40s/available_frequencies", g->dir, names[i]);
		ssize_t len = root_read(g->root, path, text, sizeof text);
		for (const char *p = text; len > 0 && (p = num_i64(p, text + len, &hz));)
			most = hz > most ? hz : most;
	}
	free(names);
	/* A little more, for clocks that the list rounds. */
	return most > 100000000 && most < 5000000000 ? (double)most * 1.02e-9 : CYCLES_NS;
}

/* Returns true if the counters advance, or if the GPU is off ("0 0") and this is unknown. */
static bool counters_move(struct nvgpu *g)
{
	int64_t busy, first, total;
	struct timespec wait = {.tv_nsec = 2 * NS_PER_MS};

	if (!nvgpu_counters(g, &busy, &first))
		return false;
	if (busy == 0 && first == 0)
		return true;
	nanosleep(&wait, NULL);
	return nvgpu_counters(g, &busy, &total) && total != first;
}

static bool try_dir(struct nvgpu *g, const struct root *r, const char *dir, int64_t interval_ns,
		    struct reason *why)
{
	double percent;
	char what[192];

	if (nvgpu_open(g, r, dir, true)) {
		g->cycles_ns = fastest(g);
		if ((double)interval_ns * g->cycles_ns < (double)NVGPU_MASK && counters_move(g))
			return true;
	}
	if (nvgpu_open(g, r, dir, false) && (load_value(&g->attr, r, &percent) || errno == EAGAIN))
		return true;
	text_join(what, sizeof what, dir, "/load");
	reason_add(why, what, errno);
	nvgpu_close(g);
	return false;
}

/* Finds the first directory with counters that advance (unless they would wrap in interval_ns) or with a
 * load. Allocates; waits 2 ms if there are counters. Returns false with the reason. */
static bool nvgpu_find(struct nvgpu *g, const struct root *r, const struct statement *s, int64_t interval_ns,
		       struct reason *why)
{
	char dir[192];

	for (size_t i = 0; i < s->n_settings; i++)
		if (device_dir(r, s->settings[i].key, s->settings[i].value, dir, why) &&
		    try_dir(g, r, dir, interval_ns, why))
			return true;
	return false;
}

/* Used by the reader thread. */
struct reader {
	struct root *root;
	struct attr load;
};

struct gpu {
	struct probe probe;
	struct nvgpu gpu; /* its counters; closed while the thread reads the load */
	bool primed;      /* busy, total, t_ns and slept contain a reading */
	int64_t busy, total, t_ns, slept;
	int64_t retry_ns;
};

static void reader_read(void *arg, int64_t t_ns, uint64_t wanted, double *v)
{
	struct reader *r = arg;

	(void)wanted;
	if (!attr_reopen(&r->load, r->root, t_ns) || load_value(&r->load, r->root, v))
		return;
	if (attr_gone(errno))
		attr_close(&r->load);
}

static void reader_close(void *arg)
{
	struct reader *r = arg;

	attr_close(&r->load);
	root_close(r->root);
	free(r);
}

static const struct async_reader_ops reader_ops = {reader_read, reader_close};

/* Returns true if the GPU was off between the two readings, so that the counters restarted. */
static bool started_anew(const struct gpu *g, int64_t t_ns, int64_t total, int64_t slept)
{
	if (slept >= 0 && g->slept >= 0)
		return slept != g->slept;
	return total < g->total && t_ns - g->t_ns > BLIND_NS;
}

/* Returns the utilisation in percent since the previous reading, or NaN. */
static double gained(const struct gpu *g, int64_t t_ns, int64_t busy, int64_t total, int64_t slept)
{
	int64_t d_busy = (busy - g->busy) & NVGPU_MASK, d_total = (total - g->total) & NVGPU_MASK;
	double most = (double)(t_ns - g->t_ns) * g->gpu.cycles_ns;

	/* The two are not read at the same instant: some more busy cycles are fine. */
	if (!g->primed || d_total == 0 || most >= (double)NVGPU_MASK || (double)d_total > most ||
	    d_busy > d_total + d_total / 50 + 64 || started_anew(g, t_ns, total, slept))
		return missing_value(MISSING_SECOND, 0);
	return 100 * fmin((double)d_busy / (double)d_total, 1);
}

static double counters_value(struct gpu *g, int64_t t_ns)
{
	int64_t busy, total, slept;

	if (!nvgpu_counters(&g->gpu, &busy, &total)) {
		int error = errno;

		if (attr_gone(error))
			nvgpu_close(&g->gpu);
		g->primed = false;
		return missing_value(MISSING_ERROR, (unsigned)error);
	}
	if (busy == 0 && total == 0) {
		g->primed = false;
		return gate_read(&g->gpu.powered, g->gpu.root) > 0 ? 0 : NAN; /* only if a file confirms it */
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

static void gpu_read(struct probe *p, int64_t t_ns, double *row)
{
	struct gpu *g = (struct gpu *)p;
	double load;

	if (p->readers[0]) {
		if (probe_take(p, t_ns, &load))
			row[p->column] = channel_round(CHANNEL_GPU_UTIL, load);
		return;
	}
	row[p->column] = NAN;
	if (!attr_is_open(&g->gpu.attr)) {
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

	nvgpu_close(&g->gpu);
	probe_stop(p);
}

static void gpu_gentle(struct probe *p, struct probe_set *r)
{
	if (p->period_ns < GENTLE_NS)
		p->period_ns = GENTLE_NS;
	if (p->readers[0])
		async_reader_set_period(p->readers[0], GENTLE_NS);
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

/* Moves the load that was found to a reader thread. Returns false if out of memory. */
static bool make_reader(struct gpu *g, struct root *root)
{
	struct reader *r = calloc(1, sizeof *r);

	if (!r)
		return false;
	r->root = root_hold(root);
	r->load = g->gpu.attr;
	g->gpu.attr.fd = -1;
	g->gpu.attr.each = false;
	nvgpu_close(&g->gpu);
	g->probe.readers[0] = async_reader_new("nvmtop-gpu", &reader_ops, r, 1, LOAD_NS, 0.5);
	return g->probe.readers[0] != NULL;
}

static int open_gpu(struct probe_ctx *o, struct err *e)
{
	struct gpu *g = probe_new(o, sizeof *g, 0, &gpu_ops, 0, e);
	struct reason why = {.denied = false};
	struct channel ch;

	if (!g)
		return -1;
	g->gpu.attr.fd = g->gpu.powered.fd = g->gpu.slept.fd = -1;
	g->probe.width = 1; /* counters are read directly */
	g->probe.gentle = gpu_gentle;
	channel_describe(o, &ch, "gpu.util", false);
	bool found =
		nvgpu_find(&g->gpu, o->root, o->s, o->tick_ns > GENTLE_NS ? o->tick_ns : GENTLE_NS, &why);
	channel_source(o, &ch, found ? g->gpu.attr.path : NULL, &why);
	ch.window_ns = o->tick_ns;
	if (found && !g->gpu.counters) {
		ch.period_ns = LOAD_NS;
		ch.window_ns = 17 * LOAD_NS;
		if (!ch.note[0])
			snprintf(ch.note, sizeof ch.note, "%s", _("moving average of 284 ms"));
		if (!make_reader(g, o->probes->root)) {
			gpu_close(&g->probe);
			return statement_error(o->s, e, _("out of memory"));
		}
	}
	return probe_ctx_finish(o, &g->probe, probe_ctx_add(o, &ch, e), found, e);
}

const struct probe_kind probe_kind_gpu = {"gpu", 0,     0,       " dir devfreq label note hint ",
					  false, false, open_gpu};
