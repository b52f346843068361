/* Reads numbers from text files of the kernel that are the same on every machine: memory, load averages, and
 * the time in which tasks are stalled.
 *
 * Used memory is what is not available: on a Jetson this includes the GPU's buffers, and excludes what the
 * kernel would give back, most of which is cache. The largest free contiguous block is what an allocation for a camera or a display
 * needs; the kernel makes none larger than some MiB, so that is its maximum. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "probe/open.h"

#define MEMINFO_NS  (10 * NS_PER_MS)
#define PRESSURE_NS (NS_PER_S / 10)
#define LOAD_NS     (5 * NS_PER_S) /* how often the kernel updates them */
#define WINDOW      10             /* readings of a pressure: a second */
#define VALUES      3
#define DISKS       32
#define TEXT_MAX    4096

struct text;

/* A file, and the channels that are read from it. */
struct text_file {
	const char *path;
	const char *needs; /* reported as missing if there is no first value; NULL: it may come later */
	size_t size;       /* bytes that are read, from the beginning */
	int64_t read_ns;
	void (*parse)(struct text *t, const char *p, const char *end, double *v); /* v is all NaN at first */
	struct channel_form channels[VALUES];
};

struct text {
	struct probe probe;
	const struct text_file *file;
	int64_t t_ns;                                 /* of this read; 0: the file is being opened */
	size_t n;                                     /* number of files, whose values are added up */
	double whole;                                 /* total of which the values are part, or NaN */
	int readings;                                 /* of a pressure, so far */
	int64_t past_ns[WINDOW], stalled_us[WINDOW]; /* the oldest first */
};

/* Adds up the values of all files; NaN if one of them has none. */
static void take(struct text *t, double v[VALUES])
{
	char buf[TEXT_MAX];

	for (int k = 0; k < VALUES; k++)
		v[k] = 0;
	for (size_t i = 0; i < t->n; i++) {
		double one[VALUES] = {NAN, NAN, NAN};
		ssize_t n = attr_read(&t->probe.attrs[i], t->probe.root, buf, t->file->size);
		t->file->parse(t, buf, buf + (n > 0 ? n : 0), one);
		for (int k = 0; k < VALUES; k++)
			v[k] += one[k];
	}
}

static void text_read(struct probe *p, int64_t t_ns, double *row)
{
	struct text *t = (struct text *)p;
	double v[VALUES];

	t->t_ns = t_ns;
	take(t, v);
	for (int k = 0; k < VALUES && t->file->channels[k].name; k++)
		row[p->column + k] = v[k];
}

static const struct probe_ops text_ops = {text_read, probe_free};

static struct text *text_new(struct probe_ctx *o, const struct text_file *f, size_t files, struct err *e)
{
	struct text *t = probe_new(o, sizeof *t, files, &text_ops, f->read_ns, e);

	if (t)
		t->file = f;
	return t;
}

/* why is NULL if the file was found; first: its values, or NULL. */
static int add_channels(struct probe_ctx *o, struct text *t, const struct reason *why, const double *first,
			struct err *e)
{
	int added = 0;

	for (int k = 0; k < VALUES && t->file->channels[k].name && added == 0; k++) {
		struct channel ch;

		channel_form(o, &ch, &t->file->channels[k]);
		if (t->whole > 0)
			ch.hi = t->whole;
		if (why)
			reason_set(why, o, &ch);
		else if (first && t->file->needs && isnan(first[k]))
			reason_one(o, &ch, t->file->channels[k].source, ENOENT);
		added = probe_ctx_add(o, &ch, e);
	}
	return probe_ctx_finish(o, &t->probe, added, !why, e);
}

static int open_text(struct probe_ctx *o, const struct text_file *f, bool optional, struct err *e)
{
	struct text *t = text_new(o, f, 1, e);
	struct reason why = {.denied = false};
	double v[VALUES];

	if (!t)
		return -1;
	t->n = 1;
	bool found = attr_open(t->probe.attrs, o->root, f->path) == 0;
	if (!found)
		reason_add(&why, f->path, errno);
	if (found)
		take(t, v);
	if (found && f->needs && isnan(v[0])) {
		found = false;
		reason_add(&why, f->needs, ENOENT);
	}
	if (optional && !found) { /* this machine has none */
		probe_free(&t->probe);
		return 0;
	}
	if (found && t->whole <= 0) {
		found = false;
		reason_add_text(&why, "/proc/meminfo SwapTotal:", "0");
	}
	return add_channels(o, t, found ? NULL : &why, v, e);
}

/* Returns the number after "name:" at the start of a line. */
static double field(const char *text, const char *end, const char *name)
{
	size_t len = strlen(name);
	int64_t v;

	for (const char *p = text; p && p < end; p = memchr(p, '\n', (size_t)(end - p))) {
		p += *p == '\n';
		if ((size_t)(end - p) <= len || memcmp(p, name, len) != 0)
			continue;
		return num_i64(p + len, end, &v) && v >= 0 ? (double)v : NAN;
	}
	return NAN;
}

static void parse_part(struct text *t, double whole, double rest, double *v)
{
	if (!(rest <= whole)) /* also for NaN */
		return;
	t->whole = whole;
	v[0] = whole - rest;
	v[1] = rest;
}

static void parse_ram(struct text *t, const char *p, const char *end, double *v)
{
	double cached = field(p, end, "Cached:") + field(p, end, "Buffers:") + field(p, end, "SReclaimable:") -
			field(p, end, "Shmem:");

	parse_part(t, field(p, end, "MemTotal:"), field(p, end, "MemAvailable:"), v);
	if (cached >= 0)
		v[2] = cached;
}

static void parse_swap(struct text *t, const char *p, const char *end, double *v)
{
	parse_part(t, field(p, end, "SwapTotal:"), field(p, end, "SwapFree:"), v);
}

static void parse_nvmap(struct text *t, const char *p, const char *end, double *v)
{
	t->whole = NAN;
	v[0] = field(p, end, "NvMapMemUsed:");
}

static int open_ram(struct probe_ctx *o, struct err *e)
{
	static const struct text_file ram = {
		"/proc/meminfo", "/proc/meminfo MemAvailable:", TEXT_MAX, MEMINFO_NS, parse_ram,
		{{"ram.used", NULL, "/proc/meminfo MemTotal: - MemAvailable:", NULL, UNIT_KB, FAMILY_MEMORY,
		  NAN, MEMINFO_NS},
		 {"ram.available", NULL, "/proc/meminfo MemAvailable:", NULL, UNIT_KB, FAMILY_MEMORY, NAN,
		  MEMINFO_NS},
		 {"ram.cached", N_("Cache"), "/proc/meminfo Cached: + Buffers: + SReclaimable: - Shmem:", NULL,
		  UNIT_KB, FAMILY_MEMORY, NAN, MEMINFO_NS}}};

	return open_text(o, &ram, false, e);
}

const struct probe_kind probe_kind_ram = {"ram", 0, 0, " hint ", false, false, open_ram};

static int open_swap(struct probe_ctx *o, struct err *e)
{
	static const struct text_file swap = {
		"/proc/meminfo", "/proc/meminfo SwapFree:", TEXT_MAX, MEMINFO_NS, parse_swap,
		{{"swap.used", NULL, "/proc/meminfo SwapTotal: - SwapFree:", NULL, UNIT_KB, FAMILY_MEMORY,
		  NAN, MEMINFO_NS}}};

	return open_text(o, &swap, false, e);
}

const struct probe_kind probe_kind_swap = {"swap", 0, 0, " hint ", false, false, open_swap};

/* Memory of the GPU and the engines, where the driver counts it. */
static int open_nvmap(struct probe_ctx *o, struct err *e)
{
	static const struct text_file nvmap = {
		"/proc/meminfo", "/proc/meminfo NvMapMemUsed", TEXT_MAX, 0, parse_nvmap,
		{{"nvmap.used", N_("GPU memory"), "/proc/meminfo NvMapMemUsed", NULL, UNIT_KB,
		  FAMILY_MEMORY, NAN, 0}}};

	if (o->s->n_words && strcmp(o->s->words[0], "optional") != 0)
		return statement_error(o->s, e, _("only \"optional\" may follow \"nvmap\""));
	return open_text(o, &nvmap, o->s->n_words > 0, e);
}

const struct probe_kind probe_kind_nvmap = {"nvmap", 0, 1, " hint ", false, false, open_nvmap};

/* Returns the order of the last count above 0 in the rest of a line, or -1. */
static int line_order(const char *p, const char *end)
{
	int64_t count;
	int order = 0, highest = -1;

	while (p < end && (p = num_i64(p, end, &count))) {
		if (count > 0)
			highest = order;
		order++;
	}
	return highest;
}

/* "Node 0, zone   Normal    12     3 ...": blocks of 1, 2, 4 ... pages. */
static void parse_buddies(struct text *t, const char *p, const char *end, double *v)
{
	int highest = -1;
	bool any = false;

	t->whole = NAN;
	for (const char *stop; p < end; p = stop + 1) {
		stop = memchr(p, '\n', (size_t)(end - p));
		stop = stop ? stop : end;
		const char *zone = memmem(p, (size_t)(stop - p), "zone", 4);
		if (!zone)
			continue;
		zone += 4;
		while (zone < stop && *zone == ' ')
			zone++;
		while (zone < stop && *zone != ' ')
			zone++;
		int order = line_order(zone, stop);
		any = true;
		highest = order > highest ? order : highest;
	}
	if (any && highest <= 30)
		v[0] = highest < 0 ? 0
				   : (double)sysconf(_SC_PAGESIZE) / 1024 * (double)(INT64_C(1) << highest);
}

/* Some kernels do not have it, and containers hide it. */
static int open_freeblock(struct probe_ctx *o, struct err *e)
{
	static const struct text_file buddies = {
		"/proc/buddyinfo", "", TEXT_MAX, NS_PER_S, parse_buddies,
		{{"ram.largest_block", N_("largest free block"), "/proc/buddyinfo", NULL, UNIT_KB,
		  FAMILY_MEMORY, NAN, NS_PER_S}}};

	return open_text(o, &buddies, true, e);
}

const struct probe_kind probe_kind_freeblock = {"freeblock", 0, 0, " hint ", false, false, open_freeblock};

/* mm_stat: bytes stored, compressed, taken from RAM, ... */
static void parse_zram(struct text *t, const char *p, const char *end, double *v)
{
	int64_t bytes[3];

	t->whole = NAN;
	for (int i = 0; i < 3; i++)
		if (!(p = num_i64(p, end, &bytes[i])) || bytes[i] < 0)
			return;
	v[0] = (double)bytes[2] / 1024;
	v[1] = (double)bytes[0] / 1024;
}

/* A disk of size 0 is not set up. */
static void find_disks(struct text *t)
{
	char **names, path[160];
	size_t n;
	double v[VALUES];
	long long size;

	if (root_list(t->probe.root, "/sys/block", &names, &n) < 0)
		return;
	for (size_t i = 0; i < n && t->n < DISKS; i++) {
		struct attr *a = &t->probe.attrs[t->n];
		if (strncmp(names[i], "zram", 4) != 0)
			continue;
		if (file_number_of(t->probe.root, &size, "/sys/block/", names[i], "/disksize") == 0 &&
		    size == 0)
			continue;
		snprintf(path, sizeof path, "/sys/block/%.60s/mm_stat", names[i]);
		if (attr_open(a, t->probe.root, path) < 0)
			continue;
		t->n++;
		take(t, v);
		if (!isnan(v[0]))
			continue;
		attr_close(a);
		t->n--;
	}
	free(names);
}

/* Without a zram disk no channel is added, not even a missing one. */
static int open_zram(struct probe_ctx *o, struct err *e)
{
	static const struct text_file zram = {
		"", "", 256, NS_PER_S, parse_zram,
		{{"zram.used", N_("zram in RAM"), N_("/sys/block/zram*/mm_stat, third number"), NULL,
		  UNIT_KB, FAMILY_MEMORY, NAN, NS_PER_S},
		 {"zram.stored", N_("zram content"), N_("/sys/block/zram*/mm_stat, first number"), NULL,
		  UNIT_KB, FAMILY_MEMORY, NAN, NS_PER_S}}};
	struct text *t = text_new(o, &zram, DISKS, e);

	if (!t)
		return -1;
	find_disks(t);
	if (t->n)
		return add_channels(o, t, NULL, NULL, e);
	probe_free(&t->probe);
	return 0;
}

const struct probe_kind probe_kind_zram = {"zram", 0, 0, " hint ", false, false, open_zram};

/* "0.20 0.18 0.12 ...": whole, a point, hundredths, a blank. */
static void parse_load(struct text *t, const char *p, const char *end, double *v)
{
	int64_t whole, part;

	t->whole = NAN;
	for (int i = 0; i < 3; i++, p += 4) {
		if (!(p = num_i64(p, end, &whole)) || whole < 0 || end - p < 4 || p[0] != '.' ||
		    p[3] != ' ' || p[1] < '0' || p[1] > '9' || num_i64(p + 1, p + 3, &part) != p + 3)
			return;
		v[i] = (double)whole + (double)part / 100;
	}
}

/* The number of processes that run, or wait for a core or a disk. */
static int open_load(struct probe_ctx *o, struct err *e)
{
	static const struct text_file load = {
		"/proc/loadavg", NULL, 64, NS_PER_S, parse_load,
		{{"load.1", N_("Load"), "/proc/loadavg", N_("processes that run or wait, mean of 1 min"),
		  UNIT_NONE, FAMILY_CPU, NAN, LOAD_NS},
		 {"load.5", N_("Load 5 min"), "/proc/loadavg",
		  N_("processes that run or wait, mean of 5 min"), UNIT_NONE, FAMILY_CPU, NAN, LOAD_NS},
		 {"load.15", N_("Load 15 min"), "/proc/loadavg",
		  N_("processes that run or wait, mean of 15 min"), UNIT_NONE, FAMILY_CPU, NAN, LOAD_NS}}};

	return open_text(o, &load, false, e);
}

const struct probe_kind probe_kind_load = {"load", 0, 0, " hint ", false, false, open_load};

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345": the microseconds so far in which some task was
 * stalled. */
static void parse_pressure(struct text *t, const char *p, const char *end, double *v)
{
	static const char name[] = " total=";
	int n = t->readings;
	int64_t us;

	t->whole = NAN;
	t->readings = 0;
	p = memmem(p, (size_t)(end - p), name, sizeof name - 1);
	if (!t->t_ns || !p || !num_i64(p + sizeof name - 1, end, &us))
		return;
	if (n > 0 && us < t->stalled_us[n - 1])
		n = 0;
	if (n > 0)
		v[0] = fmin(1e5 * (double)(us - t->stalled_us[0]) / (double)(t->t_ns - t->past_ns[0]), 100);
	if (n == WINDOW) {
		n--;
		memmove(t->past_ns, t->past_ns + 1, sizeof t->past_ns - sizeof t->past_ns[0]);
		memmove(t->stalled_us, t->stalled_us + 1, sizeof t->stalled_us - sizeof t->stalled_us[0]);
	}
	t->past_ns[n] = t->t_ns;
	t->stalled_us[n] = us;
	t->readings = n + 1;
}

/* Kernels before 4.20, and those that were built without it, do not have it. */
static int open_pressure(struct probe_ctx *o, struct err *e)
{
	static const struct text_file files[] = {
		{"/proc/pressure/io", NULL, 128, PRESSURE_NS, parse_pressure,
		 {{"io.pressure", N_("I/O pressure"), "/proc/pressure/io total=",
		   N_("time in which some task is stalled by I/O; mean of 1 s"), UNIT_PERCENT, FAMILY_OTHER,
		   100, PRESSURE_NS}}},
		{"/proc/pressure/memory", NULL, 128, PRESSURE_NS, parse_pressure,
		 {{"memory.pressure", N_("Memory pressure"), "/proc/pressure/memory total=",
		   N_("time in which some task is stalled by lack of memory; mean of 1 s"), UNIT_PERCENT,
		   FAMILY_MEMORY, 100, PRESSURE_NS}}}};

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (open_text(o, &files[i], false, e) < 0)
			return -1;
	return 0;
}

const struct probe_kind probe_kind_pressure = {"pressure", 0, 0, " hint ", false, false, open_pressure};
