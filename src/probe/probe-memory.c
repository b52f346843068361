/* Memory other than RAM in use: the compressed swap in RAM (zram), and the largest free contiguous
 * block, which is what an allocation for a camera or a display needs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/intl.h"
#include "util/num.h"
#include "probe/open.h"

#define READ_NS   NS_PER_S
#define DISKS     32
#define BUDDYINFO "/proc/buddyinfo"

struct zram {
	struct probe probe;
	const struct root *root;
	struct attr disk[DISKS];
	size_t n;
	uint16_t used_column, stored_column;
};

/* mm_stat: bytes stored, compressed, taken from RAM, ... */
static bool zram_disk(struct zram *z, struct attr *a, double *stored, double *used)
{
	char buf[256];
	int64_t v[3];

	if (!attr_is_open(a))
		return false;
	ssize_t n = attr_read(a, z->root, buf, sizeof buf);
	if (n <= 0)
		return false;
	const char *p = buf;
	for (int i = 0; i < 3; i++)
		if (!(p = num_i64(p, buf + n, &v[i])) || v[i] < 0)
			return false;
	*stored = (double)v[0] / 1024;
	*used = (double)v[2] / 1024;
	return true;
}

static void zram_read(struct probe *p, int64_t t_ns, double *row)
{
	struct zram *z = (struct zram *)p;
	double stored = 0, used = 0;
	bool all = true;

	(void)t_ns;
	for (size_t i = 0; i < z->n && all; i++) {
		double s, u;
		all = zram_disk(z, &z->disk[i], &s, &u);
		if (all) {
			stored += s;
			used += u;
		}
	}
	row[z->stored_column] = all ? stored : NAN;
	row[z->used_column] = all ? used : NAN;
}

static void zram_close(struct probe *p)
{
	struct zram *z = (struct zram *)p;

	for (size_t i = 0; i < z->n; i++)
		attr_close(&z->disk[i]);
	free(z);
}

static const struct probe_ops zram_ops = {zram_read, zram_close};

static void zram_find(struct zram *z)
{
	char **names, path[160];
	size_t n;
	double stored, used;
	long long size;

	if (root_list(z->root, "/sys/block", &names, &n) < 0)
		return;
	for (size_t i = 0; i < n && z->n < DISKS; i++) {
		struct attr *a = &z->disk[z->n];
		if (strncmp(names[i], "zram", 4) != 0)
			continue;
		/* A disk of size 0 is not set up. */
		snprintf(path, sizeof path, "/sys/block/%.60s/disksize", names[i]);
		if (root_read_i64(z->root, path, &size) == 0 && size == 0)
			continue;
		snprintf(path, sizeof path, "/sys/block/%.60s/mm_stat", names[i]);
		if (attr_open(a, z->root, path) < 0)
			continue;
		if (zram_disk(z, a, &stored, &used))
			z->n++;
		else
			attr_close(a);
	}
	free(names);
}

static int add_memory(struct probe_ctx *o, const char *name, const char *label, const char *source,
		      uint16_t *column, struct err *e)
{
	struct channel ch;

	channel_describe(o, &ch, name, false);
	ch.unit = UNIT_KB;
	ch.family = FAMILY_MEMORY;
	ch.lo = 0;
	ch.period_ns = READ_NS;
	snprintf(ch.label, sizeof ch.label, "%s", label);
	snprintf(ch.source, sizeof ch.source, "%s", source);
	return probe_ctx_column(o, &ch, column, e);
}

/* Without a zram disk nothing is missing. */
static int open_zram(struct probe_ctx *o, struct err *e)
{
	struct zram *z = probe_new(o, sizeof *z, &zram_ops, READ_NS, e);

	if (!z)
		return -1;
	z->root = o->root;
	zram_find(z);
	if (!z->n) {
		zram_close(&z->probe);
		return 0;
	}
	int added = add_memory(o, "zram.used", _("zram in RAM"), _("/sys/block/zram*/mm_stat, third number"),
			       &z->used_column, e);
	if (added == 0)
		added = add_memory(o, "zram.stored", _("zram content"),
				   _("/sys/block/zram*/mm_stat, first number"), &z->stored_column, e);
	return probe_ctx_finish(o, &z->probe, added, true, e);
}

const struct probe_kind probe_kind_zram = {"zram", 0, 0, " hint ", false, false, open_zram};

struct freeblock {
	struct file_probe file;
	double page_kb;
	uint16_t column;
};

/* The order of the last count above 0 in a line's rest, or -1; NULL-safe end. */
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
static double largest_kb(struct freeblock *f)
{
	char buf[4096];
	ssize_t n = attr_read(&f->file.attr, f->file.root, buf, sizeof buf);
	const char *end = buf + n;
	int highest = -1;
	bool any = false;

	if (n <= 0)
		return NAN;
	for (const char *p = buf; p < end;) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		if (!stop)
			stop = end;
		const char *zone = memmem(p, (size_t)(stop - p), "zone", 4);
		if (zone) {
			zone += 4;
			while (zone < stop && *zone == ' ')
				zone++;
			while (zone < stop && *zone != ' ')
				zone++;
			int order = line_order(zone, stop);
			any = true;
			if (order > highest)
				highest = order;
		}
		p = stop + 1;
	}
	if (!any || highest > 30)
		return NAN;
	return highest < 0 ? 0 : f->page_kb * (double)(INT64_C(1) << highest);
}

static void freeblock_read(struct probe *p, int64_t t_ns, double *row)
{
	struct freeblock *f = (struct freeblock *)p;

	(void)t_ns;
	row[f->column] = largest_kb(f);
}

static const struct probe_ops freeblock_ops = {freeblock_read, file_probe_close};

/* The kernel makes no blocks larger than some MiB, so that is the maximum. */
static int open_freeblock(struct probe_ctx *o, struct err *e)
{
	struct freeblock *f = probe_new(o, sizeof *f, &freeblock_ops, READ_NS, e);

	if (!f)
		return -1;
	f->file.root = o->root;
	f->page_kb = (double)sysconf(_SC_PAGESIZE) / 1024;
	if (attr_open(&f->file.attr, o->root, BUDDYINFO) < 0 || isnan(largest_kb(f))) {
		file_probe_close(&f->file.probe); /* a kernel without it, or a container that hides it */
		return 0;
	}
	int added = add_memory(o, "ram.largest_block", _("largest free block"), BUDDYINFO, &f->column, e);

	return probe_ctx_finish(o, &f->file.probe, added, true, e);
}

const struct probe_kind probe_kind_freeblock = {"freeblock", 0, 0, " hint ", false, false, open_freeblock};
