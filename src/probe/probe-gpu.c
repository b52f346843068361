/* Measures GPU utilisation from nvgpu.
 *
 * `counters` has two hardware cycle counters, "busy total": their increments give the utilisation of any
 * interval, and are read in microseconds. They have 31 bits, restart when the GPU was off, and read "0 0"
 * while it is. A step of the total that no clock could make is a restart and not a wrap; after a long
 * interval, where the step is ambiguous, the driver's count of the GPU's sleep time decides.
 *
 * `load` is used where the counters are missing or do not advance: the firmware's moving average of 17
 * samples of 16.7 ms. The driver waits 0.3 ms for it, so a reader thread reads it. That thread also waits for
 * a driver that is loaded later.
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

#include "model/missing.h"
#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "probe/async-reader.h"
#include "probe/open.h"

#define LOAD_NS          INT64_C(16700000)
#define GENTLE_NS        (600 * NS_PER_MS) /* the GPU goes to sleep after 500 ms */
#define RETRY_NS         (2 * NS_PER_S)
#define LONG_NS          (20 * NS_PER_MS)
#define BLIND_NS         (100 * NS_PER_MS)
#define CYCLES_NS        2.5 /* per ns: upper bound for the clock of any of these GPUs */
#define NVGPU_CANDIDATES 24

/* Where to search according to the board file; outlives the statement. */
struct nvgpu_where {
	struct nvgpu_candidate {
		bool devfreq; /* name is a device-tree node, else a directory */
		char name[128];
	} at[NVGPU_CANDIDATES];
	size_t n;
};

struct nvgpu {
	const struct root *root;
	struct attr attr;    /* counters or load */
	struct attr powered; /* gpu_powered_on or is_railgated, or closed */
	struct attr slept;   /* power/runtime_suspended_time, or closed */
	bool counters;       /* attr is the counters */
	double cycles_ns;    /* upper bound of this GPU's cycles per nanosecond */
	char dir[128];
};

/* Two counters of 31 bits, "busy total". */
#define NVGPU_MASK INT64_C(0x7fffffff)

static void nvgpu_where(struct nvgpu_where *w, const struct statement *s)
{
	w->n = 0;
	for (size_t i = 0; i < s->n_settings && w->n < NVGPU_CANDIDATES; i++) {
		const struct setting *t = &s->settings[i];
		struct nvgpu_candidate *c = &w->at[w->n];
		bool devfreq = !strcmp(t->key, "devfreq");
		if (!devfreq && strcmp(t->key, "dir") != 0)
			continue;
		c->devfreq = devfreq;
		if (text_join(c->name, sizeof c->name, t->value) < sizeof c->name)
			w->n++;
	}
}

static bool named(const struct nvgpu_where *w, const char *device)
{
	const char *dot = strchr(device, '.');

	for (size_t i = 0; dot && i < w->n; i++)
		if (w->at[i].devfreq && (!strcmp(dot + 1, w->at[i].name) || !strcmp(device, w->at[i].name)))
			return true;
	return false;
}

/* Returns true if one of them is a device of this machine, even without its driver. */
static bool nvgpu_expected(const struct nvgpu_where *w, const struct root *r)
{
	char **names;
	size_t n;
	bool found = false;

	if (root_list(r, "/sys/bus/platform/devices", &names, &n) < 0)
		return false;
	for (size_t i = 0; i < n && !found; i++)
		found = named(w, names[i]); /* "17000000.gpu" */
	free(names);
	return found;
}

static void nvgpu_init(struct nvgpu *g)
{
	memset(g, 0, sizeof *g);
	g->attr.fd = g->powered.fd = g->slept.fd = -1;
	g->cycles_ns = CYCLES_NS;
}

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

static bool nvgpu_load(struct nvgpu *g, double *percent)
{
	return attr_value(&g->attr, g->root, 0.1, CHANNEL_GPU_UTIL, percent); /* permille */
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
	if (nvgpu_open(g, r, dir, false) && (nvgpu_load(g, &percent) || errno == EAGAIN))
		return true;
	text_join(what, sizeof what, dir, "/load");
	reason_add(why, what, errno);
	nvgpu_close(g);
	return false;
}

/* Finds the first directory with counters that advance (unless they would wrap in interval_ns) or with a
 * load. Allocates; waits 2 ms if there are counters. Returns false with the reason. */
static bool nvgpu_find(struct nvgpu *g, const struct root *r, const struct nvgpu_where *w,
		       int64_t interval_ns, struct reason *why)
{
	char dir[192];

	for (size_t i = 0; i < w->n; i++)
		if (device_dir(r, w->at[i].devfreq ? "devfreq" : "dir", w->at[i].name, dir, why) &&
		    try_dir(g, r, dir, interval_ns, why))
			return true;
	return false;
}

/* The values of the reader thread. */
enum { LOAD, FOUND_COUNTERS, VALUES };

/* Used by the reader thread, which reads the load, and searches for the GPU until it is found. */
struct reader {
	struct root *root;
	struct nvgpu gpu;
	struct nvgpu_where where;
	int64_t interval_ns, retry_ns;
};

struct gpu {
	struct probe probe;
	struct nvgpu gpu; /* its counters; closed while the thread reads */
	bool primed;      /* busy, total, t_ns and slept contain a reading */
	int64_t busy, total, t_ns, slept;
	int64_t retry_ns;
	struct reader *reader; /* of the probe's reader; its dir is fixed once FOUND_COUNTERS is 1 */
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
	if (!nvgpu_load(&r->gpu, &v[LOAD]) && attr_gone(errno))
		nvgpu_close(&r->gpu);
}

static void reader_close(void *arg)
{
	struct reader *r = arg;

	nvgpu_close(&r->gpu);
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

/* Takes the reader's values. Returns true once it has found counters, which are then read directly. */
static bool take_slow(struct gpu *g, int64_t t_ns, double *row)
{
	double v[VALUES];

	if (!probe_take(&g->probe, t_ns, v))
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
			async_reader_set_period(p->readers[0], INT64_MAX); /* nothing left to do */
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

/* Moves what was found, or the search, to a reader thread. */
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
	g->probe.readers[0] = async_reader_new("nvmtop-gpu", &reader_ops, r, VALUES, LOAD_NS, 0.5);
	return g->probe.readers[0] ? 0 : -1;
}

/* Returns false if the GPU is missing, with the reason in ch. */
static bool find(struct probe_ctx *o, struct gpu *g, struct channel *ch, const struct nvgpu_where *where,
		 int64_t interval_ns)
{
	struct reason why = {.denied = false};
	const char *note = NULL;

	if (nvgpu_find(&g->gpu, o->root, where, interval_ns, &why)) {
		text_join(ch->source, sizeof ch->source, g->gpu.attr.path);
		ch->window_ns = g->gpu.counters ? interval_ns : 284 * NS_PER_MS;
		if (g->gpu.counters)
			return true;
		ch->period_ns = LOAD_NS;
		ch->window_ns = 17 * LOAD_NS;
		note = _("moving average of 284 ms");
	} else if (!why.denied && nvgpu_expected(where, o->root)) {
		text_join(ch->source, sizeof ch->source, where->at[0].name);
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
	return probe_ctx_finish(o, &g->probe, probe_ctx_add(o, &ch, e), found, e);
}

const struct probe_kind probe_kind_gpu = {
	"gpu", 0, 0, " dir devfreq label note hint ", false, false, open_gpu};
