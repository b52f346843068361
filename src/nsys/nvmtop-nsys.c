/* The plugin of Nsight Systems: samples as a recorder does, and sends the samples as NVTX counters to the
 * tool's library that $NVTX_INJECTION64_PATH names. Layouts and numbers are those of nvToolsExtCounters.h of
 * NVTX 3, without NVIDIA's headers. See docs/nsys.md. */
#include <dlfcn.h>
#include <fnmatch.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "engine/collector.h"
#include "nsys/nvtx-client.h"
#include "util/descriptors.h"
#include "util/intl.h"
#include "util/num.h"

enum { CORE2 = 5, DOMAIN_CREATE = 12, COUNTERS = 4 };
enum { DOUBLE = 20, THIS_MACHINE = 17, MONOTONIC = 14, UNAVAILABLE = 2 };
enum { HAS_MIN = 4, HAS_MAX = 8, ABSOLUTE = 16 };

struct semantics {
	uint32_t size;
	uint16_t id, version;
	const void *next;
	uint64_t flags; /* semantics of time end here: the clock */
	const char *unit;
	uint64_t numerator, denominator;
	int64_t limit_type; /* 3: double */
	double min, max;
};
struct attributes {
	size_t size;
	uint64_t type;
	const char *name, *description;
	uint64_t scope;
	const void *semantics;
	uint64_t id; /* 0: the tool chooses */
};
struct batch {
	uint64_t id;
	const double *values;
	size_t values_size;
	uint64_t flags; /* 0: in the order of time */
	const int64_t *times;
	size_t times_size;
};
_Static_assert(sizeof(void *) != 8 || (sizeof(struct semantics) == 72 && sizeof(struct attributes) == 56),
	       "as in NVTX on a 64-bit machine");

/* What the tool fills in; a function that it lacks stays NULL. */
static struct {
	uint64_t (*add)(void *domain, const struct attributes *a);
	void *int64;
	void (*sample)(void *domain, uint64_t id, double value);
	void *group;
	void (*no_value)(void *domain, uint64_t id, uint8_t why);
	void (*submit)(void *domain, const struct batch *b);
	void *unused[57];
} nvtx;
static void *domain;

struct nsys_counter {
	uint64_t id;
	const struct channel *channel;
	double scale;
	bool missing; /* the tool was told */
};
static struct nsys_counter *counters; /* until channel is NULL */
static char **patterns;          /* of select=, until NULL */

static int nvtx_open(struct err *e)
{
	static uintptr_t segment[] = {0, sizeof nvtx / sizeof(void *), (uintptr_t)&nvtx};
	static struct {
		uint16_t version, size, id, compatible;
		size_t n;
		void *segments, *export, *info;
	} extension = {NVTX_VERSION, sizeof extension, COUNTERS, 0x0102, 1, segment, NULL, NULL};
	const char *path = getenv("NVTX_INJECTION64_PATH");
	int (*extend)(void *extension);
	void *(*create)(const char *name);

	if (!path || !*path)
		return err_set(e, ERR_USAGE,
			       _("Nsight Systems starts this program: nsys profile --enable=nvmtop PROGRAM"));
	void *library = dlopen(path, RTLD_LAZY); /* stays loaded */
	if (!library)
		return err_set(e, ERR_FAILED, _("cannot load NVTX_INJECTION64_PATH: %s"), dlerror());
	*(void **)&extend = dlsym(library, "InitializeInjectionNvtxExtension");
	bool begun = nvtx_begin(library);
	*(void **)&create = nvtx_function(CORE2, DOMAIN_CREATE);
	domain = begun && create ? create("nvmtop") : NULL;
	if (!begun || !extend || !extend(&extension) || !nvtx.add)
		return err_set(e, ERR_FAILED,
			       _("NVTX_INJECTION64_PATH takes no counters: update Nsight Systems"));
	return 0;
}

static struct nsys_counter counter_add(const struct channel *c)
{
	static const struct semantics time = {.size = 24, .id = 2, .version = 1, .flags = MONOTONIC};
	bool watts = c->unit == UNIT_MILLIWATT, mhz = c->unit == UNIT_HZ;
	double scale = watts ? 1e-3 : mhz ? 1e-6 : 1, lo = c->lo * scale, hi = c->hi * scale;
	const char *name = watts ? "W" : mhz ? "MHz" : unit_name(c->unit);
	uint64_t flags = ABSOLUTE | (isnan(lo) ? 0 : HAS_MIN) | (isnan(hi) ? 0 : HAS_MAX);
	struct semantics unit = {sizeof unit, 5, 2, &time, flags, name, 1, 1, 3, lo, hi};
	const char *about = c->missing[0] ? c->missing : c->source;
	struct attributes a = {sizeof a, DOUBLE, c->name, about, THIS_MACHINE, &unit, 0};

	return (struct nsys_counter) {nvtx.add(domain, &a), c, scale, false};
}

static bool is_selected(const struct channel *c)
{
	static const bool usual[CHANNEL_KINDS] = {
		[CHANNEL_GPU_UTIL] = true, [CHANNEL_EMC_UTIL] = true,    [CHANNEL_RAIL_POWER] = true,
		[CHANNEL_GPU_FREQ] = true, [CHANNEL_EMC_RATE] = true,    [CHANNEL_POWER_TOTAL] = true,
		[CHANNEL_CPU_FREQ] = true, [CHANNEL_TEMPERATURE] = true, [CHANNEL_HOTTEST] = true};

	for (char **p = patterns; *p; p++)
		if (fnmatch(*p, c->name, 0) == 0)
			return true;
	return !*patterns && usual[c->kind];
}

static int counters_begin(struct sink *s, const struct session *about, struct err *e)
{
	struct nsys_counter *c = counters = calloc(about->n_channels + 1, sizeof *counters);

	if (!c)
		return err_set(e, ERR_FAILED, "%s", _("out of memory"));
	for (size_t i = 0; i < about->n_channels; i++)
		if (is_selected(&about->channels[i]))
			*c++ = counter_add(&about->channels[i]);
	for (char **p = patterns; *p; p++) {
		for (c = counters; c->channel && fnmatch(*p, c->channel->name, 0) != 0; c++)
			;
		if (!c->channel)
			return err_set(e, ERR_USAGE, _("no signal is called \"%s\": nvmtop once lists them"),
				       *p);
	}
	return 0;
}

/* A sample without a value gets the time of the call, not of its row. It is sent only if the newest value
 * is missing: otherwise it would be drawn after newer values. */
static void send_column(struct nsys_counter *c, const struct rows *r)
{
	double values[COLLECT_BATCH], v = NAN;
	int64_t times[COLLECT_BATCH];
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		v = r->values[i * r->width + c->channel->column] * c->scale;
		values[n] = v;
		times[n] = r->t_ns[i];
		n += !isnan(v);
	}
	struct batch b = {c->id, values, n * sizeof *values, 0, times, n * sizeof *times};
	if (n > 0 && nvtx.submit)
		nvtx.submit(domain, &b);
	else if (!isnan(v) && nvtx.sample)
		nvtx.sample(domain, c->id, v);
	if (isnan(v) && !c->missing && nvtx.no_value)
		nvtx.no_value(domain, c->id, UNAVAILABLE);
	c->missing = isnan(v);
}

static void counters_rows(struct sink *s, const struct rows *r)
{
	for (struct nsys_counter *c = counters; c->channel; c++)
		if (c->channel->tier == r->tier)
			send_column(c, r);
}

static int counters_end(struct sink *s, struct err *e)
{
	return 0;
}

/* Moves the patterns to the front of argv. */
static int arguments(struct options *o, char **argv, struct err *e)
{
	static const double most[TIERS] = {1000, 100, 10};
	double hz = most[TIER_FAST];

	patterns = argv;
	for (char **a = argv + 1, **p = argv; *a || (*p = NULL); a++) {
		if (!strncmp(*a, "select=", 7))
			*p++ = *a + 7;
		else if (!strncmp(*a, "board=", 6))
			o->board = *a + 6;
		else if (!strncmp(*a, "sysroot=", 8))
			o->sysroot = *a + 8;
		else if (strncmp(*a, "hz=", 3) != 0 || !num_double(*a + 3, &hz) || hz < 0.1 ||
			 hz > most[TIER_FAST])
			return err_set(e, ERR_USAGE,
				       _("argument \"%s\": expected hz=RATE (0.1 to 1000), select=PATTERN, "
					 "board=NAME or sysroot=FOLDER"),
				       *a);
	}
	for (int i = 0; i < TIERS; i++)
		o->hz[i] = fmin(hz, most[i]);
	return 0;
}

static int run(const struct options *o, struct err *e)
{
	static const struct sink_ops ops = {.begin = counters_begin, .rows = counters_rows, .end = counters_end};
	struct sink sink = {.ops = &ops};
	struct pollfd signals = {.fd = signals_open(e), .events = POLLIN};
	struct probe_set *probes;
	struct board *board;
	struct root *root;
	int status = -1;

	/* Signals are blocked before the tool's library starts threads. */
	if (signals.fd < 0 || nvtx_open(e) < 0 || !(probes = open_probes(o, &root, &board, NULL, 0, e)))
		return -1;
	if (e->code != ERR_NONE)
		complain(e);
	board_free(board);
	struct engine *g = engine_for(o, probes, e);
	if (g) {
		/* Rows are delivered every 67 ms; to a tool that takes only the newest value, every 8 ms. */
		engine_unwatched(g, nvtx.submit ? 26 : 23);
		status = engine_begin(g, &sink, e) < 0 ? -1 : engine_start(g, e);
	}
	while (status == 0 && !signal_ends(signals_next(signals.fd, NULL)))
		poll(&signals, 1, -1);
	engine_free(g);
	root_close(root);
	free(counters);
	return status;
}

int main(int argc, char **argv)
{
	struct options o = {.mode = MODE_RECORD, .sysroot = "/"};
	struct err e = {.code = ERR_NONE};

	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");
#if ENABLE_NLS
	bindtextdomain(PACKAGE, LOCALEDIR);
#endif
	descriptors_raise();
	return arguments(&o, argv, &e) < 0 || run(&o, &e) < 0 ? complain(&e) : 0;
}
