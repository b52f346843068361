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
#include "model/missing.h"
#include "probe/open.h"

#define TICK_NS     (10 * NS_PER_MS)
#define PRESSURE_NS (NS_PER_S / 10)
#define LOAD_NS     (5 * NS_PER_S) /* how often the kernel updates them */
#define MINUTE_NS   (60 * NS_PER_S)
#define WINDOW      10             /* readings of a pressure: a second */
#define VALUES      3
#define DISKS       32
#define TEXT_MAX    4096

struct text;

/* A file, and the channels that are read from it. */
struct text_file {
	const char *kind, *path; /* path: of block devices "/sys/block/NAME*" and the file */
	bool optional;           /* without it the machine needs no channels */
	size_t size;             /* bytes that are read, from the beginning */
	int64_t read_ns;
	void (*parse)(struct text *t, const char *p, const char *end, double *v); /* v is all NaN at first */
	struct channel_form channels[VALUES]; /* but for hi */
};

struct text {
	struct probe probe;
	const struct text_file *file;
	int64_t t_ns;                                /* of this read; 0: the file is being opened */
	size_t n;                                    /* number of files, whose values are added up */
	double whole;                                /* total of which the values are part, or NaN */
	int readings;                                /* of a pressure, so far */
	int64_t past_ns[WINDOW], stalled_us[WINDOW]; /* the oldest first */
};

/* Adds up the values of all files; NaN if one of them has none, with its reason. */
static void take(struct text *t, double *v)
{
	const struct channel_form *channels = t->file->channels;
	char buf[TEXT_MAX];

	for (int k = 0; k < VALUES && channels[k].name; k++)
		v[k] = 0;
	t->whole = NAN;
	for (size_t i = 0; i < t->n; i++) {
		double one[VALUES] = {NAN, NAN, NAN};
		ssize_t n = attr_read(&t->probe.attrs[i], t->probe.root, t->t_ns, buf, t->file->size - 1);
		int error = errno;

		buf[n > 0 ? n : 0] = '\0';
		if (n >= 0)
			t->file->parse(t, buf, buf + n, one);
		for (int k = 0; k < VALUES && channels[k].name; k++) {
			if (isnan(one[k]) && missing_why(one[k]) == MISSING)
				one[k] = n < 0 ? missing_value(MISSING_ERROR, (unsigned)error)
					       : missing_said(MISSING_TEXT, buf, strcspn(buf, "\n"));
			v[k] += one[k];
		}
	}
}

static void text_read(struct probe *p, int64_t t_ns, double *row)
{
	struct text *t = (struct text *)p;

	t->t_ns = t_ns;
	take(t, row + p->column);
}

static const struct probe_ops text_ops = {text_read, probe_free};

/* Returns the number after "name:" at the start of a line, or NaN with the reason. */
static double field(const char *text, const char *end, const char *name)
{
	size_t len = strlen(name);
	int64_t v;

	for (const char *p = text; p && p < end; p = memchr(p, '\n', (size_t)(end - p))) {
		p += *p == '\n';
		if ((size_t)(end - p) <= len || memcmp(p, name, len) != 0)
			continue;
		if (num_i64(p + len, end, &v) && v >= 0)
			return (double)v;
		return missing_said(MISSING_TEXT, p, strcspn(p, "\n"));
	}
	return missing_said(MISSING_FIELD, name, len);
}

/* against: what is the case if the rest is more than the whole. */
static void parse_part(struct text *t, double whole, double rest, const char *against, double *v)
{
	if (rest <= whole)
		t->whole = whole;
	if (rest > whole)
		rest = missing_said(MISSING_AGAINST, against, strlen(against));
	v[0] = whole - rest;
	v[1] = isnan(whole) ? whole : rest;
}

static void parse_ram(struct text *t, const char *p, const char *end, double *v)
{
	static const char against[] = "Shmem > Cached + Buffers + SReclaimable";

	parse_part(t, field(p, end, "MemTotal:"), field(p, end, "MemAvailable:"), "MemAvailable > MemTotal", v);
	v[2] = field(p, end, "Cached:") + field(p, end, "Buffers:") + field(p, end, "SReclaimable:") -
	       field(p, end, "Shmem:");
	if (v[2] < 0)
		v[2] = missing_said(MISSING_AGAINST, against, sizeof against - 1);
}

static void parse_swap(struct text *t, const char *p, const char *end, double *v)
{
	parse_part(t, field(p, end, "SwapTotal:"), field(p, end, "SwapFree:"), "SwapFree > SwapTotal", v);
	v[1] = field(p, end, "SwapTotal:");
	v[2] = field(p, end, "SwapCached:");
}

static void parse_free(struct text *t, const char *p, const char *end, double *v)
{
	t->whole = field(p, end, "MemTotal:");
	v[0] = field(p, end, "MemFree:");
	v[1] = field(p, end, "Buffers:");
}

/* Memory of the GPU and the engines, where the driver counts it. */
static void parse_nvmap(struct text *t, const char *p, const char *end, double *v)
{
	(void)t;
	v[0] = field(p, end, "NvMapMemUsed:");
}

/* "Node 0, zone   Normal    12     3 ...": blocks of 1, 2, 4 ... pages. The largest, and how many are as large. */
static void parse_buddies(struct text *t, const char *p, const char *end, double *v)
{
	int highest = -1, zones = 0;
	const char *next;
	int64_t count, blocks = 0;

	(void)t;
	for (; (p = memmem(p, (size_t)(end - p), "zone", 4)); zones++) {
		p += 4;
		p += strspn(p, " ");
		p += strcspn(p, " \n");
		for (int order = 0; (next = num_i64(p, end, &count)); order++, p = next)
			if (count > 0 && order >= highest) {
				blocks = order > highest ? count : blocks + count;
				highest = order;
			}
	}
	if (!zones || highest > 30)
		return;
	v[0] = highest < 0 ? 0 : (double)sysconf(_SC_PAGESIZE) / 1024 * (double)(INT64_C(1) << highest);
	v[1] = (double)blocks;
}

/* mm_stat: bytes stored, compressed, taken from RAM, ... */
static void parse_zram(struct text *t, const char *p, const char *end, double *v)
{
	int64_t bytes[3];

	(void)t;
	for (int i = 0; i < 3; i++)
		if (!(p = num_i64(p, end, &bytes[i])) || bytes[i] < 0)
			return;
	v[0] = (double)bytes[2] / 1024;
	v[1] = (double)bytes[0] / 1024;
}

/* "0.20 0.18 0.12 ...": whole, a point, hundredths, a blank. */
static void parse_load(struct text *t, const char *p, const char *end, double *v)
{
	int64_t whole, part;

	(void)t;
	for (int i = 0; i < 3; i++, p += 4) {
		if (!(p = num_i64(p, end, &whole)) || whole < 0 || end - p < 4 || p[0] != '.' ||
		    p[3] != ' ' || p[1] < '0' || p[1] > '9' || num_i64(p + 1, p + 3, &part) != p + 3)
			return;
		v[i] = (double)whole + (double)part / 100;
	}
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345": the microseconds so far in which some task was
 * stalled. */
static void parse_pressure(struct text *t, const char *p, const char *end, double *v)
{
	static const char name[] = " total=";
	int n = t->readings;
	int64_t us;

	t->readings = 0;
	p = memmem(p, (size_t)(end - p), name, sizeof name - 1);
	if (!p || !num_i64(p + sizeof name - 1, end, &us))
		return;
	v[0] = missing_value(MISSING_SECOND, 0);
	if (!t->t_ns)
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

#define KB(source) source, NULL, UNIT_KB, FAMILY_MEMORY, 0
#define MEAN(of)   "/proc/loadavg", of, UNIT_NONE, FAMILY_CPU, 0, LOAD_NS

static const struct text_file files[] = {
	{"ram", "/proc/meminfo", false, TEXT_MAX, TICK_NS, parse_ram,
	 {{"ram.used", NULL, KB("/proc/meminfo MemTotal: - MemAvailable:"), TICK_NS, 0, 0},
	  {"ram.available", NULL, KB("/proc/meminfo MemAvailable:"), TICK_NS, 0, 0},
	  {"ram.cached", N_("Cache"), KB("/proc/meminfo Cached: + Buffers: + SReclaimable: - Shmem:"), TICK_NS, 0, 0}}},
	{"freeram", "/proc/meminfo", false, TEXT_MAX, TICK_NS, parse_free,
	 {{"ram.free", N_("RAM unused"), KB("/proc/meminfo MemFree:"), TICK_NS, 0, 0},
	  {"ram.buffers", N_("Buffers"), KB("/proc/meminfo Buffers:"), TICK_NS, 0, 0}}},
	{"swap", "/proc/meminfo", false, TEXT_MAX, TICK_NS, parse_swap,
	 {{"swap.used", NULL, KB("/proc/meminfo SwapTotal: - SwapFree:"), TICK_NS, 0, 0},
	  {"swap.total", N_("Swap, all"), KB("/proc/meminfo SwapTotal:"), TICK_NS, 0, 0},
	  {"swap.cached", N_("Swap in RAM, too"), KB("/proc/meminfo SwapCached:"), TICK_NS, 0, 0}}},
	{"nvmap", "/proc/meminfo", false, TEXT_MAX, 0, parse_nvmap,
	 {{"nvmap.used", N_("GPU memory"), KB("/proc/meminfo NvMapMemUsed"), 0, 0, 0}}},
	/* Some kernels do not have it, and containers hide it. */
	{"freeblock", "/proc/buddyinfo", true, TEXT_MAX, NS_PER_S, parse_buddies,
	 {{"ram.largest_block", N_("largest free block"), KB("/proc/buddyinfo"), NS_PER_S, 0, 0},
	  {"ram.largest_blocks", N_("number of those"), "/proc/buddyinfo", NULL, UNIT_NONE, FAMILY_MEMORY, 0, NS_PER_S, 0, 0}}},
	{"zram", "/sys/block/zram*/mm_stat", true, 256, NS_PER_S, parse_zram,
	 {{"zram.used", N_("zram in RAM"), KB(N_("/sys/block/zram*/mm_stat, third number")), NS_PER_S, 0, 0},
	  {"zram.stored", N_("zram content"), KB(N_("/sys/block/zram*/mm_stat, first number")), NS_PER_S, 0, 0}}},
	/* The number of processes that run, or wait for a core or a disk. */
	{"load", "/proc/loadavg", false, 64, NS_PER_S, parse_load,
	 {{"load.1", N_("Load"), MEAN(N_("processes that run or wait, mean of 1 min")), MINUTE_NS, 0},
	  {"load.5", N_("Load 5 min"), MEAN(N_("processes that run or wait, mean of 5 min")), 5 * MINUTE_NS, 0},
	  {"load.15", N_("Load 15 min"), MEAN(N_("processes that run or wait, mean of 15 min")), 15 * MINUTE_NS, 0}}},
	/* Kernels before 4.20, and those that were built without it, do not have it. */
	{"pressure", "/proc/pressure/io", false, 128, PRESSURE_NS, parse_pressure,
	 {{"io.pressure", N_("I/O pressure"), "/proc/pressure/io total=",
	   N_("time in which some task is stalled by I/O; mean of 1 s"), UNIT_PERCENT, FAMILY_OTHER, 0,
	   PRESSURE_NS, NS_PER_S, 0}}},
	{"pressure", "/proc/pressure/memory", false, 128, PRESSURE_NS, parse_pressure,
	 {{"memory.pressure", N_("Memory pressure"), "/proc/pressure/memory total=",
	   N_("time in which some task is stalled by lack of memory; mean of 1 s"), UNIT_PERCENT, FAMILY_MEMORY, 0,
	   PRESSURE_NS, NS_PER_S, 0}}},
};

/* Opens the file of each block device that matches; one of size 0 is not set up. */
static void open_disks(struct text *t, const char *path)
{
	const char *star = strchr(path, '*'), *name = strrchr(path, '/');
	char **names, folder[64], file[192];
	size_t n;
	double v[VALUES];
	long long size;

	text_join(folder, sizeof "/sys/block", path);
	if (root_list(t->probe.root, folder, &names, &n) < 0)
		return;
	for (size_t i = 0; i < n && t->n < DISKS; i++) {
		text_join(file, sizeof file, folder, "/", names[i]);
		if (strncmp(file, path, (size_t)(star - path)) != 0 ||
		    (file_number_of(t->probe.root, &size, file, "/disksize") == 0 && size == 0))
			continue;
		text_join(file, sizeof file, file, name);
		if (attr_open(&t->probe.attrs[t->n], t->probe.root, file) < 0)
			continue;
		t->n++;
		take(t, v);
		if (isnan(v[0]))
			attr_close(&t->probe.attrs[--t->n]);
	}
	free(names);
}

static int open_file(struct probe_ctx *o, const struct text_file *f, struct err *e)
{
	const bool disks = strchr(f->path, '*') != NULL;
	struct text *t = probe_new(o, sizeof *t, disks ? DISKS : 1, &text_ops, f->read_ns, e);
	struct reason why = {.denied = false};
	int added = 0;
	double v[VALUES];

	if (!t)
		return -1;
	t->file = f;
	if (disks)
		open_disks(t, f->path);
	else if (attr_open(t->probe.attrs, o->root, f->path) == 0)
		t->n = 1;
	else
		reason_add(&why, f->path, errno);
	take(t, v);
	bool found = t->n && missing_why(v[0]) != MISSING_FIELD;
	if ((f->optional || o->s->n_words) && (!found || isnan(v[0]))) { /* the machine has none */
		probe_free(&t->probe);
		return 0;
	}
	if (t->n && !found)
		reason_add(&why, f->channels[0].source, ENOENT);
	if (found && t->whole <= 0) { /* it may be added later */
		found = false;
		reason_add_text(&why, f->channels[0].source, "0");
	}
	for (int k = 0; k < VALUES && f->channels[k].name && added == 0; k++) {
		struct channel_form form = f->channels[k];
		struct channel ch;

		form.hi = t->whole > 0 ? t->whole : form.unit == UNIT_PERCENT ? 100 : (double)NAN;
		channel_form(o, &ch, &form);
		if (!found)
			reason_set(&why, o, &ch);
		else if (missing_why(v[k]) == MISSING_FIELD)
			reason_one(o, &ch, form.source, ENOENT);
		added = probe_ctx_add(o, &ch, e);
	}
	return probe_ctx_finish(o, &t->probe, added, found, e);
}

static int open_text(struct probe_ctx *o, struct err *e)
{
	if (o->s->n_words && strcmp(o->s->words[0], "optional") != 0)
		return statement_error(o->s, e, _("only \"optional\" may follow \"%s\""), o->s->probe);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (!strcmp(files[i].kind, o->s->probe) && open_file(o, &files[i], e) < 0)
			return -1;
	return 0;
}

#define TEXT_KIND(name, words) \
	const struct probe_kind probe_kind_##name = {#name, 0, words, " hint ", false, false, open_text}
TEXT_KIND(ram, 0);
TEXT_KIND(swap, 0);
TEXT_KIND(freeram, 0);
TEXT_KIND(nvmap, 1);
TEXT_KIND(freeblock, 0);
TEXT_KIND(zram, 0);
TEXT_KIND(load, 0);
TEXT_KIND(pressure, 0);
