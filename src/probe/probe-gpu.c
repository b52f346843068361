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
#include "probe/open.h"

#define LOAD_NS   INT64_C(16700000)
#define GENTLE_NS (600 * NS_PER_MS) /* the GPU goes to sleep after 500 ms */
#define LONG_NS   (20 * NS_PER_MS)
#define BLIND_NS  (100 * NS_PER_MS)
#define CYCLES_NS 2.5 /* per ns: upper bound for the clock of any of these GPUs */

/* Two counters of 31 bits, "busy total". */
#define COUNTER_MASK INT64_C(0x7fffffff)

/* Its files: counters or load; gpu_powered_on or is_railgated; power/runtime_suspended_time. Load needs the first only. */
enum { LOAD, POWERED, SLEPT, FILES };

struct gpu {
	struct probe probe;
	char dir[128];
	bool counters;
	double cycles_ns; /* upper bound of this GPU's cycles per nanosecond */
	bool primed;      /* the rest contains a reading of the counters */
	int64_t busy, total, t_ns, slept;
};

/* Opens the files in its directory. Returns false with errno. */
static bool open_files(struct gpu *g)
{
	struct attr *a = g->probe.attrs;
	char path[192];

	for (int i = 0; i < FILES; i++)
		attr_close(&a[i]);
	text_join(path, sizeof path, g->dir, g->counters ? "/counters" : "/load");
	if (attr_open(&a[LOAD], g->probe.root, path) < 0)
		return false;
	if (!g->counters)
		return true;
	text_join(path, sizeof path, g->dir, "/gpu_powered_on");
	if (attr_open(&a[POWERED], g->probe.root, path) < 0) {
		text_join(path, sizeof path, g->dir, "/is_railgated");
		attr_open(&a[POWERED], g->probe.root, path);
	}
	text_join(path, sizeof path, g->dir, "/power/runtime_suspended_time");
	attr_open(&a[SLEPT], g->probe.root, path);
	return true;
}

static bool read_counters(struct gpu *g, int64_t t_ns, int64_t *busy, int64_t *total)
{
	char buf[64];
	ssize_t n = attr_read(&g->probe.attrs[LOAD], g->probe.root, t_ns, buf, sizeof buf);
	const char *p;

	if (n < 0)
		return false;
	errno = EINVAL;
	p = num_i64(buf, buf + n, busy);
	return p && num_i64(p, buf + n, total) && *busy >= 0 && *total >= 0;
}

/* In percent; a missing value with its reason and errno if there is none. */
static double read_load(struct gpu *g, int64_t t_ns)
{
	return attr_number(&g->probe.attrs[LOAD], g->probe.root, t_ns, 0.1, CHANNEL_GPU_UTIL); /* permille */
}

/* Returns the highest of available_frequencies, in cycles per nanosecond. */
static double fastest(const struct gpu *g)
{
	char path[256], **names, text[1024];
	size_t n;
	int64_t hz, most = 0;

	text_join(path, sizeof path, g->dir, "/devfreq");
	if (root_list(g->probe.root, path, &names, &n) < 0)
		return CYCLES_NS;
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/devfreq/%.40s/available_frequencies", g->dir, names[i]);
		ssize_t len = root_read(g->probe.root, path, text, sizeof text);
		for (const char *p = text; len > 0 && (p = num_i64(p, text + len, &hz));)
			most = hz > most ? hz : most;
	}
	free(names);
	/* A little more, for clocks that the list rounds. */
	return most > 100000000 && most < 5000000000 ? (double)most * 1.02e-9 : CYCLES_NS;
}

/* Returns true if the counters advance, or if the GPU is off ("0 0") and this is unknown. */
static bool counters_move(struct gpu *g)
{
	int64_t busy, first, total;
	struct timespec wait = {.tv_nsec = 2 * NS_PER_MS};

	if (!read_counters(g, 0, &busy, &first))
		return false;
	if (busy == 0 && first == 0)
		return true;
	nanosleep(&wait, NULL);
	return read_counters(g, 0, &busy, &total) && total != first;
}

/* Finds the first directory with counters that advance (unless they would wrap between two readings) or with a
 * load. Allocates; waits 2 ms if there are counters. Returns false with the reason. */
static bool find(struct gpu *g, const struct probe_ctx *o, struct reason *why)
{
	double interval_ns = (double)(o->tick_ns > GENTLE_NS ? o->tick_ns : GENTLE_NS);
	char dir[192], what[200];

	for (size_t i = 0; i < o->s->n_settings; i++) {
		const struct setting *t = &o->s->settings[i];
		if (!device_dir(o->root, t->key, t->value, dir, why) ||
		    text_join(g->dir, sizeof g->dir, dir) >= sizeof g->dir)
			continue;
		g->cycles_ns = fastest(g);
		g->counters = true;
		if (interval_ns * g->cycles_ns < (double)COUNTER_MASK && open_files(g) && counters_move(g))
			return true;
		g->counters = false;
		if (open_files(g) && (!isnan(read_load(g, 0)) || errno == EAGAIN))
			return true;
		text_join(what, sizeof what, dir, "/load");
		reason_add(why, what, errno);
	}
	return false;
}

/* Returns the utilisation in percent since the previous reading of the counters, which this one replaces. */
static double gained(struct gpu *g, int64_t t_ns, int64_t busy, int64_t total)
{
	int64_t d_busy = (busy - g->busy) & COUNTER_MASK, d_total = (total - g->total) & COUNTER_MASK, slept = -1;
	double most = (double)(t_ns - g->t_ns) * g->cycles_ns, ms;
	bool off; /* in between, so that the counters restarted; in a short interval the step alone decides */

	if (t_ns - g->t_ns > LONG_NS &&
	    !isnan(ms = attr_number(&g->probe.attrs[SLEPT], g->probe.root, t_ns, 1, CHANNEL_OTHER)))
		slept = (int64_t)ms;
	if (slept >= 0 && g->slept >= 0)
		off = slept != g->slept;
	else
		off = total < g->total && t_ns - g->t_ns > BLIND_NS;
	/* The two are not read at the same instant: some more busy cycles are fine. */
	bool fits = g->primed && d_total > 0 && most < (double)COUNTER_MASK && (double)d_total <= most &&
		    d_busy <= d_total + d_total / 50 + 64 && !off;
	g->busy = busy;
	g->total = total;
	g->t_ns = t_ns;
	g->slept = slept;
	g->primed = true;
	return fits ? 100 * fmin((double)d_busy / (double)d_total, 1) : missing_value(MISSING_SECOND, 0);
}

static void gpu_read(struct probe *p, int64_t t_ns, double *row)
{
	struct gpu *g = (struct gpu *)p;
	int64_t busy = 0, total = 0;
	double v = NAN;

	if (!g->counters) {
		v = read_load(g, t_ns);
	} else if (!read_counters(g, t_ns, &busy, &total)) {
		g->primed = false;
		v = missing_value(MISSING_ERROR, (unsigned)errno);
	} else if (busy == 0 && total == 0) {
		g->primed = false;
		v = gate_read(&p->attrs[POWERED], p->root, t_ns) > 0 ? 0 : NAN; /* only if a file confirms it */
	} else {
		v = gained(g, t_ns, busy, total);
	}
	row[p->column] = channel_round(CHANNEL_GPU_UTIL, v);
}

static const struct probe_ops gpu_ops = {gpu_read, probe_free};

static void gpu_gentle(struct probe *p, struct probe_set *r)
{
	if (p->period_ns < GENTLE_NS)
		p->period_ns = GENTLE_NS;
	for (size_t i = 0; i < r->n_channels; i++) {
		struct channel *c = &r->channels[i];
		if (strcmp(c->name, "gpu.util") != 0)
			continue;
		c->period_ns = p->period_ns;
		text_join(c->note, sizeof c->note, c->note, c->note[0] ? "; " : "",
			  _("read rarely so that it can sleep"));
	}
}

static int open_gpu(struct probe_ctx *o, struct err *e)
{
	struct gpu *g = probe_new(o, sizeof *g, FILES, &gpu_ops, 0, e);
	struct reason why = {.denied = false};
	struct channel ch;

	if (!g)
		return -1;
	g->probe.gentle = gpu_gentle;
	channel_describe(o, &ch, "gpu.util", false);
	bool found = find(g, o, &why);
	channel_source(o, &ch, found ? g->probe.attrs[LOAD].path : NULL, &why);
	ch.window_ns = o->tick_ns;
	if (found && !g->counters) {
		g->probe.thread = "nvmtop-gpu";
		ch.period_ns = g->probe.period_ns = LOAD_NS;
		ch.window_ns = 17 * LOAD_NS;
		if (!ch.note[0])
			snprintf(ch.note, sizeof ch.note, "%s", _("moving average of 284 ms"));
	}
	return probe_ctx_finish(o, &g->probe, probe_ctx_add(o, &ch, e), found, e);
}

const struct probe_kind probe_kind_gpu = {"gpu", 0, 0, " dir devfreq label note hint ", false, false, open_gpu};
